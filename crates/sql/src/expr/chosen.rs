//! IF, CASE, NULLIF and ELT only choose: where a number or a truth value is wanted, it is that of what they have chosen, not that of its text. So
//! `ELT(1, e) + 0` is the place of an ENUM's member, and `IF(1, 0x31, 'a') + 0` is 49.

//!
//! IFNULL, COALESCE and their kin give a text of their own. The number with which it begins is read without a word of what is behind it.

use base::SqlError;
use types::{ColumnType, Value};

use crate::expr::beside::literal_bits;
use crate::expr::context::EvalContext;
use crate::expr::eval;
use crate::expr::tree::{Expr, ExprKind};

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
            None => Ok((self.eval(row, ctx)?, self)),
        }
    }
}
