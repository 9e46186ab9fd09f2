//! Arithmetic: result types and evaluation.
//!
//! | operands | `+ - *` | `/` | `DIV` | `%` |
//! |---|---|---|---|---|
//! | integers | integer, unsigned if one is | DECIMAL | integer | integer, with the left's sign |
//! | with a DECIMAL | DECIMAL | DECIMAL | integer | DECIMAL |
//! | with a float or text | DOUBLE | DOUBLE | integer | DOUBLE |
//!
//! Dates and times are numbers here (`20240131`), DECIMAL if they have a fraction. What does not fit is 1690; a divisor of 0
//! gives NULL and 1365 as warning, or as error while a strict statement changes data. Parameters have no kind before they
//! have a value, so then the values decide.

use base::{SqlError, codes};
use types::decimal::Rounding;
use types::{Decimal, Value};

use crate::expr::ArithmeticOp;
use crate::expr::coerce;
use crate::expr::context::{EvalContext, SessionInfo};
use crate::expr::types::{ExprType, Kind};
use types::SqlMode;

/// As what numbers are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Domain {
    Integer,
    Decimal,
    Double,
}

fn domain_of_kind(ty: &ExprType) -> Option<Domain> {
    Some(match ty.kind {
        Kind::Any => return None,
        Kind::Null | Kind::Int | Kind::UInt => Domain::Integer,
        Kind::Decimal => Domain::Decimal,
        Kind::Date | Kind::Time | Kind::DateTime if ty.decimals == 0 => Domain::Integer,
        Kind::Date | Kind::Time | Kind::DateTime => Domain::Decimal,
        _ => Domain::Double,
    })
}

fn domain_of_value(value: &Value) -> Domain {
    match value {
        Value::Null | Value::Int(_) | Value::UInt(_) | Value::Date(_) => Domain::Integer,
        Value::Time(time) if time.parts().4 == 0 => Domain::Integer,
        Value::DateTime(datetime) if datetime.micros == 0 => Domain::Integer,
        Value::Decimal(_) | Value::Time(_) | Value::DateTime(_) => Domain::Decimal,
        _ => Domain::Double,
    }
}

/// The type of `left op right`.
pub(crate) fn infer(op: ArithmeticOp, left: &ExprType, right: &ExprType, session: &SessionInfo) -> ExprType {
    let may_be_zero = matches!(op, ArithmeticOp::Divide | ArithmeticOp::IntDivide | ArithmeticOp::Modulo);
    let nullable = left.nullable || right.nullable || may_be_zero;
    let (Some(a), Some(b)) = (domain_of_kind(left), domain_of_kind(right)) else {
        return ExprType { length: 23, nullable, ..ExprType::of_kind(Kind::Any) };
    };
    let unsigned = left.kind == Kind::UInt || right.kind == Kind::UInt;
    let integer = |unsigned: bool| ExprType::of_kind(if unsigned { Kind::UInt } else { Kind::Int });
    let domain = a.max(b);
    let ty = match (op, domain) {
        (ArithmeticOp::IntDivide, _) => ExprType { length: quotient_length(left, right), ..integer(unsigned) },
        (_, Domain::Double) => {
            let more = if op == ArithmeticOp::Divide { session.div_precision_increment } else { 0 };
            let decimals = left.decimals_of_double().max(right.decimals_of_double());
            ExprType::double(decimals.saturating_add(more))
        }
        (ArithmeticOp::Divide, _) => {
            let scale = (left.decimals + session.div_precision_increment).min(30);
            let precision = left.int_digits() + left.decimals as u32 + right.decimals as u32;
            ExprType::decimal(precision + session.div_precision_increment as u32, scale)
        }
        (ArithmeticOp::Modulo, Domain::Integer) => {
            ExprType { length: left.length.max(right.length), ..integer(left.kind == Kind::UInt) }
        }
        (ArithmeticOp::Subtract, Domain::Integer) if session.sql_mode.has(SqlMode::NO_UNSIGNED_SUBTRACTION) => {
            integer(false)
        }
        (_, Domain::Integer) => ExprType { length: integer_length(op, left, right, unsigned), ..integer(unsigned) },
        (_, Domain::Decimal) => decimal_type(op, left, right),
    };
    ty.nullable(nullable)
}

/// Digits, and a place for the sign.
fn integer_length(op: ArithmeticOp, left: &ExprType, right: &ExprType, unsigned: bool) -> u32 {
    let digits = match op {
        ArithmeticOp::Multiply => left.int_digits() + right.int_digits(),
        _ => left.int_digits().max(right.int_digits()) + 1,
    };
    digits + !unsigned as u32
}

/// Of DIV: each digit after the divisor's point may be one more of the quotient.
fn quotient_length(left: &ExprType, right: &ExprType) -> u32 {
    use Kind::{Decimal, Int, UInt};
    match (left.kind, right.kind) {
        (Int | UInt, Int | UInt) => left.length,
        (Int | UInt | Decimal, Int | UInt | Decimal) => (left.int_digits() + right.decimals as u32 + 1).min(21),
        _ => 21,
    }
}

fn decimal_type(op: ArithmeticOp, left: &ExprType, right: &ExprType) -> ExprType {
    let (a, b) = (left.decimals, right.decimals);
    match op {
        ArithmeticOp::Multiply => {
            let precision = left.int_digits() + right.int_digits() + a as u32 + b as u32;
            ExprType::decimal(precision, (a + b).min(30))
        }
        _ => ExprType::decimal(left.int_digits().max(right.int_digits()) + 1 + a.max(b) as u32, a.max(b)),
    }
}

/// `left op right`, where `ty` is what [`infer`] said.
#[inline]
pub(crate) fn eval(
    op: ArithmeticOp,
    left: &Value,
    right: &Value,
    ty: &ExprType,
    ctx: &EvalContext<'_>,
) -> Result<Value, SqlError> {
    if let (Value::Int(a), Value::Int(b), Kind::Int | Kind::Any) = (left, right, ty.kind) {
        let result = match op {
            ArithmeticOp::Add => a.checked_add(*b),
            ArithmeticOp::Subtract => a.checked_sub(*b),
            ArithmeticOp::Multiply => a.checked_mul(*b),
            _ => return eval_slow(op, left, right, ty, ctx),
        };
        return result.map(Value::Int).ok_or_else(|| out_of_range("BIGINT", op, left, right));
    }
    eval_slow(op, left, right, ty, ctx)
}

fn eval_slow(
    op: ArithmeticOp,
    left: &Value,
    right: &Value,
    ty: &ExprType,
    ctx: &EvalContext<'_>,
) -> Result<Value, SqlError> {
    if left.is_null() || right.is_null() {
        return Ok(Value::Null);
    }
    let values = || domain_of_value(left).max(domain_of_value(right));
    let domain = match (op, ty.kind) {
        (ArithmeticOp::Divide, Kind::Any) => values().max(Domain::Decimal),
        (_, Kind::Any) => values(),
        (ArithmeticOp::IntDivide, _) => values(),
        (_, Kind::Decimal) => Domain::Decimal,
        (_, Kind::Double) => Domain::Double,
        _ => values().min(Domain::Integer),
    };
    match domain {
        Domain::Integer => integers(op, left, right, ty, ctx),
        Domain::Decimal => decimals(op, left, right, ty, ctx),
        Domain::Double if op == ArithmeticOp::IntDivide => decimals(op, left, right, ty, ctx),
        Domain::Double => doubles(op, left, right, ctx),
    }
}

fn integers(
    op: ArithmeticOp,
    left: &Value,
    right: &Value,
    ty: &ExprType,
    ctx: &EvalContext<'_>,
) -> Result<Value, SqlError> {
    let (Some(a), Some(b)) = (coerce::to_i128(left, ctx)?, coerce::to_i128(right, ctx)?) else {
        return Ok(Value::Null);
    };
    let result = match op {
        ArithmeticOp::Add => a.checked_add(b),
        ArithmeticOp::Subtract => a.checked_sub(b),
        ArithmeticOp::Multiply => a.checked_mul(b),
        _ if b == 0 => return division_by_zero(ctx),
        ArithmeticOp::Modulo => a.checked_rem(b),
        ArithmeticOp::IntDivide | ArithmeticOp::Divide => a.checked_div(b),
    };
    let unsigned = match ty.kind {
        Kind::Any => matches!(left, Value::UInt(_)) || matches!(right, Value::UInt(_)),
        kind => kind == Kind::UInt,
    };
    integer(result, unsigned, |kind| out_of_range(kind, op, left, right))
}

/// The value of an integer; `overflow` says what is wrong if 64 bits do not hold it.
fn integer(n: Option<i128>, unsigned: bool, overflow: impl FnOnce(&str) -> SqlError) -> Result<Value, SqlError> {
    let (value, kind) = match unsigned {
        true => (n.and_then(|n| u64::try_from(n).ok()).map(Value::UInt), "BIGINT UNSIGNED"),
        false => (n.and_then(|n| i64::try_from(n).ok()).map(Value::Int), "BIGINT"),
    };
    value.ok_or_else(|| overflow(kind))
}

fn decimals(
    op: ArithmeticOp,
    left: &Value,
    right: &Value,
    ty: &ExprType,
    ctx: &EvalContext<'_>,
) -> Result<Value, SqlError> {
    let (Some(a), Some(b)) = (coerce::to_decimal(left, ctx)?, coerce::to_decimal(right, ctx)?) else {
        return Ok(Value::Null);
    };
    let overflow = || out_of_range("DECIMAL", op, left, right);
    let result = match op {
        ArithmeticOp::Add => a.add(&b),
        ArithmeticOp::Subtract => a.subtract(&b),
        ArithmeticOp::Multiply => a.multiply(&b),
        _ if b.is_zero() => return division_by_zero(ctx),
        ArithmeticOp::Modulo => a.remainder(&b),
        ArithmeticOp::Divide => {
            let scale = match ty.kind {
                Kind::Decimal => ty.decimals,
                _ => a.scale() + ctx.session.div_precision_increment,
            };
            match scale {
                // No digit behind the point is computed then by which it could be rounded.
                0 if b.scale() == 0 => a.divide_int(&b),
                _ => a.divide(&b, scale),
            }
        }
        ArithmeticOp::IntDivide => {
            let quotient = a.divide_int(&b).ok_or_else(overflow)?;
            let overflow = |kind: &str| out_of_range(kind, op, left, right);
            return integer(quotient.to_i128(), ty.kind == Kind::UInt, overflow);
        }
    };
    // A time brings six digits of a fraction, or none; its type may have another number of them.
    let result = match result {
        Some(n) if ty.kind == Kind::Decimal && n.scale() != ty.decimals => n.rounded(ty.decimals, Rounding::HalfUp),
        other => other,
    };
    match result {
        Some(n) => Ok(Value::Decimal(n)),
        None => Err(overflow()),
    }
}

fn doubles(op: ArithmeticOp, left: &Value, right: &Value, ctx: &EvalContext<'_>) -> Result<Value, SqlError> {
    let (Some(a), Some(b)) = (coerce::to_f64(left, ctx)?, coerce::to_f64(right, ctx)?) else {
        return Ok(Value::Null);
    };
    let result = match op {
        ArithmeticOp::Add => a + b,
        ArithmeticOp::Subtract => a - b,
        ArithmeticOp::Multiply => a * b,
        _ if b == 0.0 => return division_by_zero(ctx),
        ArithmeticOp::Modulo => a % b,
        ArithmeticOp::Divide | ArithmeticOp::IntDivide => a / b,
    };
    if result.is_finite() { Ok(Value::Double(result)) } else { Err(out_of_range("DOUBLE", op, left, right)) }
}

/// NULL, and what sql_mode wants to be said of it.
pub(crate) fn division_by_zero(ctx: &EvalContext<'_>) -> Result<Value, SqlError> {
    if ctx.session.sql_mode.has(SqlMode::ERROR_FOR_DIVISION_BY_ZERO) {
        let message = "Division by 0".to_string();
        if ctx.strict {
            return Err(SqlError::new(codes::DIVISION_BY_ZERO, message));
        }
        ctx.warn(codes::DIVISION_BY_ZERO, message);
    }
    Ok(Value::Null)
}

/// `-value`; that of a date or a time is a DOUBLE.
pub(crate) fn negate(value: &Value, ctx: &EvalContext<'_>) -> Result<Value, SqlError> {
    let overflow = || {
        let text = String::from_utf8_lossy(&coerce::plain_text(value, 0)).into_owned();
        SqlError::new(codes::DATA_OUT_OF_RANGE, format!("BIGINT value is out of range in '-({text})'"))
    };
    Ok(match value {
        Value::Null => Value::Null,
        Value::Int(n) => Value::Int(n.checked_neg().ok_or_else(overflow)?),
        Value::UInt(n) => Value::Int(i64::try_from(-(*n as i128)).map_err(|_| overflow())?),
        Value::Decimal(n) => Value::Decimal(n.negated()),
        Value::Float(n) => Value::Double(-f64::from(*n)),
        other => coerce::to_f64(other, ctx)?.map_or(Value::Null, |n| Value::Double(-n)),
    })
}

/// The type of `-arg`.
pub(crate) fn infer_negate(arg: &ExprType) -> ExprType {
    let ty = match domain_of_kind(arg) {
        None => ExprType::of_kind(Kind::Any),
        Some(_) if arg.kind.is_temporal() => ExprType::double(arg.decimals),
        Some(Domain::Integer) => {
            ExprType { length: arg.length + (arg.kind == Kind::UInt) as u32, ..ExprType::of_kind(Kind::Int) }
        }
        Some(Domain::Decimal) => ExprType::decimal(arg.int_digits() + arg.decimals as u32, arg.decimals),
        Some(Domain::Double) => ExprType::double(arg.decimals_of_double()),
    };
    ty.nullable(arg.nullable)
}

/// A number rounded to so many digits after (or, if negative, before) the point: ROUND and TRUNCATE.
pub(crate) fn round(value: &Value, places: i64, rounding: Rounding, ctx: &EvalContext<'_>) -> Result<Value, SqlError> {
    Ok(match value {
        Value::Null => Value::Null,
        Value::Int(n) => round_integer(*n as i128, places, rounding, false)?,
        Value::UInt(n) => round_integer(*n as i128, places, rounding, true)?,
        Value::Decimal(n) => Value::Decimal(round_decimal(n, places, rounding).unwrap_or(*n)),
        other => match coerce::to_f64(other, ctx)? {
            None => Value::Null,
            Some(n) => Value::Double(round_double(n, places, rounding)),
        },
    })
}

fn round_integer(n: i128, places: i64, rounding: Rounding, unsigned: bool) -> Result<Value, SqlError> {
    let rounded = match places {
        0.. => n,
        -20..0 => {
            let power = 10i128.pow(-places as u32);
            let rest = n % power;
            let up = rounding == Rounding::HalfUp && rest.abs() * 2 >= power;
            n - rest + if up { power * n.signum() } else { 0 }
        }
        _ => 0,
    };
    integer(Some(rounded), unsigned, |kind| {
        SqlError::new(codes::DATA_OUT_OF_RANGE, format!("{kind} value is out of range in 'round({n},{places})'"))
    })
}

fn round_decimal(n: &Decimal, places: i64, rounding: Rounding) -> Option<Decimal> {
    match places {
        0.. => n.rounded((places.min(30) as u8).min(n.scale()), rounding),
        -80..0 => n.rounded_before_point(-places as u8, rounding),
        _ => Some(Decimal::ZERO),
    }
}

/// Doubles are rounded half to even, as the C library does it.
fn round_double(n: f64, places: i64, rounding: Rounding) -> f64 {
    let cut = |n: f64| if rounding == Rounding::Truncate { n.trunc() } else { n.round_ties_even() };
    let power = 10f64.powi(places.unsigned_abs().min(400) as i32);
    let rounded = match places {
        0 => cut(n),
        1.. if !power.is_finite() || !(n * power).is_finite() => n,
        1.. => cut(n * power) / power,
        _ if !power.is_finite() => 0.0,
        _ => cut(n / power) * power,
    };
    if rounded.is_finite() { rounded } else { n }
}

fn out_of_range(kind: &str, op: ArithmeticOp, left: &Value, right: &Value) -> SqlError {
    let sign = op.sign();
    let text = |value| String::from_utf8_lossy(&coerce::plain_text(value, types::value::NOT_FIXED)).into_owned();
    let message = format!("{kind} value is out of range in '({} {sign} {})'", text(left), text(right));
    SqlError::new(codes::DATA_OUT_OF_RANGE, message)
}
