//! What a value of a UNION is in a column of another type: MySQL writes it into a temporary table, as a statement writes it into a table.

use base::SqlError;
use types::temporal::parse::Allow;
use types::{DateTime, Value};

use crate::expr::coerce;
use crate::expr::context::EvalContext;
use crate::expr::copied::Copied;
use crate::expr::tree::{ArithmeticOp, Expr, ExprKind};
use crate::expr::types::{ExprType, Kind};

/// The value of `from` in a column of the type `to`.
pub(crate) fn stored(
    value: Value,
    from: &Expr,
    to: &ExprType,
    (row, ctx): (&[Value], &EvalContext<'_>),
) -> Result<Value, SqlError> {
    // A TIME that was chosen goes there as its text, which is read as a date.
    if let (Value::Time(_), Kind::DateTime, true) = (&value, to.kind, is_choice(from)) {
        let text = Value::Str(coerce::text_of(from, &value));
        let read = coerce::parse_datetime(&text, Allow::ZEROS).map(|parsed| parsed.value);
        return Ok(Value::DateTime(read.unwrap_or(DateTime::ZERO)));
    }
    if !to.kind.is_string() || value.is_null() {
        return coerce::to_type(value, &from.ty, to, ctx);
    }
    let text = match number_text(value, from, to, (row, ctx))? {
        Value::Str(text) => text,
        other => coerce::text(&other, &from.ty),
    };
    Ok(if to.kind == Kind::Bytes { Value::Bytes(text) } else { Value::Str(text) })
}

fn is_choice(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Case { .. } => true,
        ExprKind::Call { function, .. } => matches!(function.name(), "if" | "ifnull" | "coalesce" | "nullif"),
        _ => false,
    }
}

/// A number as text where that is another one than its type prints.
fn number_text(
    value: Value,
    from: &Expr,
    to: &ExprType,
    (row, ctx): (&[Value], &EvalContext<'_>),
) -> Result<Value, SqlError> {
    Ok(match value {
        // With as many digits as have room; a FLOAT has those of the DOUBLE that it is.
        Value::Float(_) | Value::Double(_) => Copied::Short { room: to.length as usize }.value(value),
        // A zero that is computed has no digits behind the point.
        Value::Decimal(n) if n.is_zero() && is_computed(from, row, ctx)? => Value::str_static("0"),
        // A BIT is a number, and numbers have no zeros in front.
        Value::Int(_) | Value::UInt(_) | Value::Decimal(_) => Value::Str(coerce::plain_text(&value, from.ty.decimals)),
        other => other,
    })
}

/// Whether an operator or ABS gives a zero. A quotient that is zero because it was rounded keeps its digits.
fn is_computed(expr: &Expr, row: &[Value], ctx: &EvalContext<'_>) -> Result<bool, SqlError> {
    match &expr.kind {
        ExprKind::Arithmetic { op: ArithmeticOp::Divide, args } => {
            Ok(coerce::truth(&*args[0].eval_ref(row, ctx)?, ctx)? == Some(false))
        }
        ExprKind::Arithmetic { .. } => Ok(true),
        ExprKind::Negate(arg) => is_computed(arg, row, ctx),
        ExprKind::Call { function, args } if function.name() == "abs" => is_computed(&args[0], row, ctx),
        _ => Ok(false),
    }
}
