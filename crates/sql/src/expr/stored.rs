//! What a value of a UNION is in a column of another type: MySQL writes it into a temporary table, as a statement writes it into a table.

use base::SqlError;
use types::decimal::Rounding;
use types::{DateTime, Decimal, Value};

use crate::expr::ArithmeticOp;
use crate::expr::cast;
use crate::expr::coerce;
use crate::expr::context::EvalContext;
use crate::expr::copied::Copied;
use crate::expr::tree::{Expr, ExprKind};
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
        let read = coerce::parse_datetime(&text, cast::allowed(ctx)).map(|parsed| parsed.value);
        return Ok(Value::DateTime(read.unwrap_or(DateTime::ZERO)));
    }
    if !to.kind.is_string() || value.is_null() {
        return coerce::to_type(value, &from.ty, to, ctx);
    }
    let text = match number_text(value, from, to, (row, ctx))? {
        Value::Str(text) => text,
        other => coerce::text(&other, &from.ty),
    };
    Ok(match (to.kind, from.ty.kind) {
        (Kind::Bytes, _) => Value::Bytes(text),
        (_, Kind::Bytes) => Value::Str(coerce::in_charset(text, &from.ty, to)?),
        _ => Value::Str(text),
    })
}

fn is_choice(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Case { .. } => true,
        ExprKind::Call { function, .. } => {
            matches!(function.name(), "if" | "ifnull" | "coalesce" | "nullif" | "least" | "greatest")
        }
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
        Value::Decimal(n) if is_call_of(from, &["unix_timestamp"]) => {
            // The digits of a moment are all there, or none.
            let digits = if n.rounded(0, Rounding::Truncate) == Some(n) { 0 } else { 6 };
            Value::Str(coerce::plain_text(&Value::Decimal(n.rounded(digits, Rounding::Truncate).unwrap_or(n)), digits))
        }
        Value::Decimal(n) if is_call_of(from, &["least", "greatest"]) => {
            Value::str(extreme(n, from, row, ctx)?.to_string())
        }
        // A BIT is a number, and numbers have no zeros in front.
        Value::Int(_) | Value::UInt(_) | Value::Decimal(_) => Value::Str(coerce::plain_text(&value, from.ty.decimals)),
        other => other,
    })
}

fn is_call_of(expr: &Expr, names: &[&str]) -> bool {
    matches!(&expr.kind, ExprKind::Call { function, .. } if names.contains(&function.name()))
}

/// What LEAST or GREATEST has found, with the digits that it has there.
fn extreme(found: Decimal, expr: &Expr, row: &[Value], ctx: &EvalContext<'_>) -> Result<Decimal, SqlError> {
    let ExprKind::Call { args, .. } = &expr.kind else { return Ok(found) };
    for arg in args {
        if let Some(own) = coerce::to_decimal(&*arg.eval_ref(row, ctx)?, ctx)?
            && own == found
        {
            return Ok(own);
        }
    }
    Ok(found)
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
