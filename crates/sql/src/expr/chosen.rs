//! IF, CASE, NULLIF and ELT only choose: where a number or a truth value is wanted, it is that of what they have chosen, not that of its text. So
//! `ELT(1, e) + 0` is the place of an ENUM's member, and `IF(1, 0x31, 'a') + 0` is 49.

//!
//! IFNULL, COALESCE and their kin give a text of their own. The number with which it begins is read without a word of what is behind it.

use std::borrow::Cow;

use base::SqlError;
use types::temporal::parse::Allow;
use types::{ColumnType, Value};

use crate::expr::beside::literal_bits;
use crate::expr::coerce;
use crate::expr::context::EvalContext;
use crate::expr::eval;
use crate::expr::tree::{Expr, ExprKind};
use crate::expr::types::Kind;

impl Expr {
    /// Whether it gives the text of one of its parts.
    pub(crate) fn is_choice_of_text(&self) -> bool {
        let chooses = match &self.kind {
            ExprKind::Case { .. } => true,
            ExprKind::Call { function, .. } => matches!(function.name(), "if" | "nullif" | "elt"),
            _ => false,
        };
        chooses && self.ty.kind.is_string()
    }

    /// Whether it is a text that is read without a word where a number is wanted.
    pub(crate) fn is_read_silently(&self) -> bool {
        let is_long = matches!(self.ty.origin, Some(ColumnType::Text { .. } | ColumnType::Blob { .. }));
        let is_computed = match &self.kind {
            ExprKind::Call { function, .. } => {
                matches!(function.name(), "ifnull" | "coalesce" | "least" | "greatest" | "any_value")
            }
            _ => false,
        };
        self.ty.kind.is_string() && (is_long || is_computed)
    }

    /// The part that it chooses for a row, in its own form; `None` if there is none, so that it is NULL.
    pub(crate) fn chosen(&self, row: &[Value], ctx: &EvalContext<'_>) -> Result<Option<&Expr>, SqlError> {
        let part = match &self.kind {
            ExprKind::Case { operand, arms, otherwise } => {
                eval::arm_of_case(operand.as_deref(), arms, row, ctx)?.or(otherwise.as_deref())
            }
            ExprKind::Call { function, args } => match function.name() {
                "if" => Some(&args[if args[0].eval_truth(row, ctx)? == Some(true) { 1 } else { 2 }]),
                "nullif" => (args[0].eval_truth(row, ctx)? != Some(true)).then_some(&args[1]),
                _ => {
                    let place = crate::expr::coerce::to_i64(&*args[0].eval_ref(row, ctx)?, ctx)?;
                    place
                        .and_then(|place| usize::try_from(place).ok())
                        .filter(|&place| place > 0)
                        .and_then(|at| args.get(at))
                }
            },
            _ => None,
        };
        Ok(part.map(Expr::uncoerced))
    }

    /// Whether it is a DECIMAL that IF or CASE chooses. Where its digits are shown, they are those of what it has chosen: `IF(1, 0, 1.50)` is 0.
    pub(crate) fn is_choice_of_decimal(&self) -> bool {
        let chooses = match &self.kind {
            ExprKind::Case { .. } => true,
            ExprKind::Call { function, .. } => function.name() == "if",
            _ => false,
        };
        chooses && self.ty.kind == Kind::Decimal
    }

    /// The value with the digits that it shows, and the expression that has them.
    pub(crate) fn eval_shown<'a>(
        &'a self,
        row: &'a [Value],
        ctx: &EvalContext<'a>,
    ) -> Result<(Cow<'a, Value>, &'a Expr), SqlError> {
        if !self.is_choice_of_decimal() {
            return Ok((self.eval_ref(row, ctx)?, self));
        }
        match self.chosen(row, ctx)? {
            Some(part) => part.eval_shown(row, ctx),
            None => Ok((Cow::Owned(Value::Null), self)),
        }
    }

    /// What it was before it got the form of a result.
    fn uncoerced(&self) -> &Expr {
        match &self.kind {
            ExprKind::Call { function, args } if function.name() == "coerced" => &args[0],
            _ => self,
        }
    }

    /// The value that counts as a number, of a choice that of what it chooses.
    pub(crate) fn eval_own(&self, row: &[Value], ctx: &EvalContext<'_>) -> Result<(Value, &Expr), SqlError> {
        if self.is_choice_of_text() {
            return match self.chosen(row, ctx)? {
                Some(part) => part.eval_own(row, ctx),
                None => Ok((Value::Null, self)),
            };
        }
        match literal_bits(self) {
            Some(bits) => Ok((Value::UInt(bits), self)),
            None if self.is_extreme_date() => Ok((date_of_text(self.eval(row, ctx)?), self)),
            None => Ok((self.eval(row, ctx)?, self)),
        }
    }

    /// LEAST or GREATEST of dates and other values, whose text is a date's.
    fn is_extreme_date(&self) -> bool {
        let ExprKind::Call { function, args } = &self.kind else { return false };
        let is_date = |arg: &Expr| matches!(arg.ty.kind, Kind::Date | Kind::DateTime);
        matches!(function.name(), "least" | "greatest") && self.ty.kind.is_string() && args.iter().any(is_date)
    }
}

fn date_of_text(value: Value) -> Value {
    match coerce::parse_datetime(&value, Allow::ALL) {
        Some(parsed) if parsed.has_time => Value::DateTime(parsed.value),
        Some(parsed) => Value::Date(parsed.value.date),
        None => value,
    }
}
