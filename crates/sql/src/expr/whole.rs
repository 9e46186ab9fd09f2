//! Operands where an integer or an exact number is wanted.

use std::borrow::Cow;

use base::{SqlError, codes};
use types::column::choice_number;
use types::decimal::Rounding;
use types::value::NOT_FIXED;
use types::{Decimal, Value, number};

use crate::expr::coerce::plain_text;
use crate::expr::context::EvalContext;
use crate::expr::order::is_member_list;
use crate::expr::tree::{Expr, ExprKind};

impl Expr {
    /// Whether it is an operand as a number ([`own_number`](crate::expr::function::own_number)).
    pub(crate) fn is_own_number(&self) -> bool {
        matches!(&self.kind, ExprKind::Call { function, .. } if function.name() == "own number")
    }

    /// The operand where an integer is wanted: what it has chosen, and not the number that the text of that would be.
    pub(crate) fn eval_whole<'a>(
        &'a self,
        row: &'a [Value],
        ctx: &EvalContext<'a>,
    ) -> Result<Cow<'a, Value>, SqlError> {
        self.eval_as(row, ctx, |text| {
            let n = number::parse_integer(text).0.clamp(i64::MIN.into(), u64::MAX.into());
            Some(i64::try_from(n).map_or(Value::UInt(n as u64), Value::Int))
        })
    }

    /// The operand where an exact number is wanted. A text that begins with none is not read silently.
    pub(crate) fn eval_exact<'a>(
        &'a self,
        row: &'a [Value],
        ctx: &EvalContext<'a>,
    ) -> Result<Cow<'a, Value>, SqlError> {
        self.eval_as(row, ctx, |text| Decimal::parse(text.trim_ascii()).map(|parsed| Value::Decimal(parsed.value)))
    }

    fn eval_as<'a>(
        &'a self,
        row: &'a [Value],
        ctx: &EvalContext<'a>,
        read: fn(&[u8]) -> Option<Value>,
    ) -> Result<Cow<'a, Value>, SqlError> {
        let own = match &self.kind {
            ExprKind::Call { args, .. } if self.is_own_number() => &args[0],
            _ if self.is_choice_of_text() || self.is_read_silently() || is_member_list(&self.ty) => self,
            _ if self.is_choice_of_decimal() => return Ok(self.eval_shown(row, ctx)?.0),
            _ => return self.eval_ref(row, ctx),
        };
        let (value, part) = own.eval_own(row, ctx)?;
        if let Some(number) = part.ty.origin.as_ref().and_then(|origin| choice_number(origin, &value)) {
            return Ok(Cow::Owned(number));
        }
        Ok(Cow::Owned(match value.as_bytes() {
            Some(text) if part.is_read_silently() => read(text).unwrap_or(value),
            _ => value,
        }))
    }
}

/// Seconds of UNIX_TIMESTAMP, where an integer is wanted: their fraction is cut, not rounded.
pub(crate) fn without_fraction<'v>(expr: &Expr, value: Cow<'v, Value>) -> Cow<'v, Value> {
    match (&expr.kind, &*value) {
        (ExprKind::Call { function, .. }, Value::Decimal(seconds)) if function.name() == "unix_timestamp" => {
            seconds.rounded(0, Rounding::Truncate).map_or(value, |whole| Cow::Owned(Value::Decimal(whole)))
        }
        _ => value,
    }
}

/// A double beyond all integers, where an integer is wanted: a DOUBLE column's is worth 1292, a computed one is an error (1690). A FLOAT column's, a
/// constant's, and what a function only passes on, is the nearest integer without a word.
pub(crate) fn check_whole(expr: &Expr, value: &Value, ctx: &EvalContext<'_>) -> Result<(), SqlError> {
    let n = match value {
        Value::Double(n) => *n,
        Value::Float(n) => *n as f64,
        _ => return Ok(()),
    };
    const BEYOND_ALL: f64 = 9_223_372_036_854_775_808.0;
    if (-BEYOND_ALL..BEYOND_ALL).contains(&n) {
        return Ok(());
    }
    match &expr.kind {
        ExprKind::Column { .. } if expr.ty.origin.is_some() => match value {
            Value::Float(_) => Ok(()),
            _ => ctx.truncated("INTEGER", &plain_text(value, NOT_FIXED)),
        },
        ExprKind::Column { .. } | ExprKind::Arithmetic { .. } | ExprKind::Negate(_) | ExprKind::Cast { .. } => {
            Err(beyond_bigint(n))
        }
        ExprKind::Call { function, .. } if function.computes_number() => Err(beyond_bigint(n)),
        _ => Ok(()),
    }
}

/// 1690
fn beyond_bigint(n: f64) -> SqlError {
    SqlError::new(codes::DATA_OUT_OF_RANGE, format!("BIGINT value is out of range in '{n:e}'"))
}
