//! Comparison of two values of any kinds, by MySQL's rules:
//!
//! | beside | are compared as |
//! |---|---|
//! | integers, decimals | exact numbers |
//! | text, text | text, by the collation that the types agree on; with a binary string as bytes |
//! | dates and times, text or numbers | dates and times, if the other side can be read as one |
//! | JSON | JSON, where the other side is a scalar of its type |
//! | anything else | doubles |
//!
//! As in MySQL a column of exact numbers, or a computed DECIMAL, beside a constant text is compared exactly, if the text is a number
//! ([`compare_sides`]);
//! numbers beside text are doubles otherwise, of which two different BIGINTs may be one.

use std::cmp::Ordering;

use base::{SqlError, codes};
use types::collation;
use types::temporal::parse::Allow;
use types::value::NOT_FIXED;
use types::{CollationId, DateTime, Decimal, Value, number};

use crate::expr::beside::EXACT_DOUBLES;
use crate::expr::coerce::{self, plain_text, printable};
use crate::expr::context::EvalContext;
use crate::expr::json;
use crate::expr::tree::{Constancy, Expr, ExprKind};
use crate::expr::types::Kind;

/// The order of two values; `None` if one is NULL (or no number).
#[inline]
pub(crate) fn compare(
    a: &Value,
    b: &Value,
    collation: CollationId,
    ctx: &EvalContext<'_>,
) -> Result<Option<Ordering>, SqlError> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => Ok(Some(a.cmp(b))),
        (Value::Null, _) | (_, Value::Null) => Ok(None),
        (Value::UInt(a), Value::UInt(b)) => Ok(Some(a.cmp(b))),
        (Value::Str(a), Value::Str(b)) => Ok(Some(collation::compare(collation, a, b))),
        (Value::Str(a) | Value::Bytes(a), Value::Str(b) | Value::Bytes(b)) => Ok(Some(texts(a, b, collation))),
        _ => compare_mixed(a, b, ctx),
    }
}

/// Text beside a binary string, of which one is a literal that takes on the other's collation, or else both are bytes.
fn texts(a: &[u8], b: &[u8], collation: CollationId) -> Ordering {
    let is_text = |bytes: &[u8]| std::str::from_utf8(bytes).is_ok();
    if collation == CollationId::BINARY || !is_text(a) || !is_text(b) {
        return a.cmp(b);
    }
    collation::compare(collation, a, b)
}

/// The order of the values of two expressions: a column's or a computed DECIMAL's number beside a constant text that is one is compared exactly.
#[inline]
pub(crate) fn compare_sides(
    (a, x): (&Expr, &Value),
    (b, y): (&Expr, &Value),
    collation: CollationId,
    ctx: &EvalContext<'_>,
) -> Result<Option<Ordering>, SqlError> {
    match (x, y) {
        (Value::Int(_) | Value::UInt(_) | Value::Decimal(_), Value::Str(text)) if is_column_beside(a, b) => {
            exact_or(x, y, exactly(x, text), collation, ctx)
        }
        (Value::Str(text), Value::Int(_) | Value::UInt(_) | Value::Decimal(_)) if is_column_beside(b, a) => {
            exact_or(x, y, exactly(y, text).map(Ordering::reverse), collation, ctx)
        }
        (Value::Int(_) | Value::UInt(_), Value::Double(n)) if n.abs() >= EXACT_DOUBLES && is_column_beside(a, b) => {
            exact_or(x, y, exactly_double(x, *n), collation, ctx)
        }
        (Value::Double(n), Value::Int(_) | Value::UInt(_)) if n.abs() >= EXACT_DOUBLES && is_column_beside(b, a) => {
            exact_or(x, y, exactly_double(y, *n).map(Ordering::reverse), collation, ctx)
        }
        _ => compare(x, y, collation, ctx),
    }
}

fn exact_or(
    x: &Value,
    y: &Value,
    exact: Option<Ordering>,
    collation: CollationId,
    ctx: &EvalContext<'_>,
) -> Result<Option<Ordering>, SqlError> {
    exact.map_or_else(|| compare(x, y, collation, ctx), |order| Ok(Some(order)))
}

/// Whether a column, or a DECIMAL that is computed from some, stands beside a constant.
fn is_column_beside(number: &Expr, value: &Expr) -> bool {
    let is_computed = || number.ty.kind == Kind::Decimal && number.constancy() > Constancy::Execution;
    (number.as_column().is_some() || is_computed()) && is_constant_beside(value)
}

/// Whether an expression keeps its value while the statement runs; a user variable is none, even if it does. A column's number beside such a
/// value is compared exactly.
pub(crate) fn is_constant_beside(value: &Expr) -> bool {
    !matches!(value.kind, ExprKind::UserVariable(_)) && value.constancy() <= Constancy::Execution
}

/// The order of an integer and a DOUBLE that several integers are equal to as DOUBLEs.
fn exactly_double(n: &Value, double: f64) -> Option<Ordering> {
    match n {
        Value::Int(n) => Some(i128::from(*n).cmp(&(double as i128))),
        Value::UInt(n) => Some(i128::from(*n).cmp(&(double as i128))),
        _ => None,
    }
}

/// Whether two integers have the same 64 bits, of which one may be a signed number and the other none. To FIELD, to CASE and to IN with
/// values of rows they are equal, as in MySQL.
pub(crate) fn have_same_bits(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Int(a), Value::UInt(b)) | (Value::UInt(b), Value::Int(a)) => *a as u64 == *b,
        _ => false,
    }
}

/// Whether IN compares integers by their bits: if it has several values and not all are constants.
pub(crate) fn is_by_bits(list: &[Expr]) -> bool {
    list.len() > 1 && !list.iter().all(|item| item.constancy() <= Constancy::Execution)
}

fn compare_mixed(a: &Value, b: &Value, ctx: &EvalContext<'_>) -> Result<Option<Ordering>, SqlError> {
    use Value::*;
    Ok(match (a, b) {
        (Json(_), _) | (_, Json(_)) => {
            let (a, b) = (json::atom(a)?, json::atom(b)?);
            Some(types::json::order::compare(&a, &b))
        }
        (Int(a), UInt(b)) => Some((*a as i128).cmp(&(*b as i128))),
        (UInt(a), Int(b)) => Some((*a as i128).cmp(&(*b as i128))),
        (Date(a), Date(b)) => Some(a.cmp(b)),
        (Time(a), Time(b)) => Some(a.cmp(b)),
        (DateTime(a), DateTime(b)) => Some(a.cmp(b)),
        (Date(_) | DateTime(_), _) | (_, Date(_) | DateTime(_)) => return compare_datetimes(a, b, ctx),
        (Time(a), other) => return compare_time(*a, other, ctx),
        (other, Time(b)) => return Ok(compare_time(*b, other, ctx)?.map(Ordering::reverse)),
        (Decimal(_), Int(_) | UInt(_) | Decimal(_)) | (Int(_) | UInt(_), Decimal(_)) => {
            let (a, b) = (coerce::to_decimal(a, ctx)?, coerce::to_decimal(b, ctx)?);
            a.zip(b).map(|(a, b)| a.cmp(&b))
        }
        _ => {
            let (a, b) = (coerce::to_f64(a, ctx)?, coerce::to_f64(b, ctx)?);
            a.zip(b).and_then(|(a, b)| a.partial_cmp(&b))
        }
    })
}

/// The order of an exact number and text that is one; `None` if it is none.
pub(crate) fn exactly(n: &Value, text: &[u8]) -> Option<Ordering> {
    if !matches!(n, Value::Int(_) | Value::UInt(_) | Value::Decimal(_)) {
        return None;
    }
    let text = text.trim_ascii();
    if let Value::Int(n) = n {
        let (parsed, len) = number::parse_integer(text);
        if len == text.len() && len > 0 {
            return Some((*n as i128).cmp(&parsed));
        }
    }
    let parsed = Decimal::parse(text).filter(|parsed| parsed.len == text.len() && !parsed.overflow)?;
    let n = match n {
        Value::Int(n) => Decimal::from(*n),
        Value::UInt(n) => Decimal::from(*n),
        Value::Decimal(n) => *n,
        _ => return None,
    };
    Some(n.cmp(&parsed.value))
}

fn compare_datetimes(a: &Value, b: &Value, ctx: &EvalContext<'_>) -> Result<Option<Ordering>, SqlError> {
    let (x, y) = (as_datetime(a, b, ctx)?, as_datetime(b, a, ctx)?);
    match (x, y) {
        (Some(x), Some(y)) => Ok(Some(x.cmp(&y))),
        _ => {
            let (x, y) = (coerce::to_f64(a, ctx)?, coerce::to_f64(b, ctx)?);
            Ok(x.zip(y).and_then(|(x, y)| x.partial_cmp(&y)))
        }
    }
}

/// A value beside a date: `None` if it is a number that is no date. Text that is none counts as the zero date (a constant was
/// refused when the comparison was made).
fn as_datetime(value: &Value, beside: &Value, ctx: &EvalContext<'_>) -> Result<Option<DateTime>, SqlError> {
    match value {
        Value::Str(text) | Value::Bytes(text) => match coerce::parse_datetime(value, Allow::ZEROS) {
            Some(parsed) => {
                if parsed.trailing {
                    ctx.truncated(temporal_name(beside), text)?;
                }
                Ok(coerce::in_session_zone(&parsed, ctx.session))
            }
            None => {
                let kind = temporal_name(beside).to_lowercase();
                let message = format!("Truncated incorrect {kind} value: '{}'", printable(text));
                ctx.complain(codes::TRUNCATED_WRONG_VALUE, message)?;
                Ok(Some(DateTime::ZERO))
            }
        },
        Value::Date(_) | Value::DateTime(_) | Value::Time(_) => coerce::to_datetime(value, Allow::ALL, ctx),
        number => Ok(coerce::parse_datetime(number, Allow::ZEROS).map(|parsed| parsed.value)),
    }
}

fn temporal_name(value: &Value) -> &'static str {
    if matches!(value, Value::Date(_)) { "DATE" } else { "DATETIME" }
}

fn compare_time(time: types::Time, other: &Value, ctx: &EvalContext<'_>) -> Result<Option<Ordering>, SqlError> {
    match coerce::parse_time(other) {
        Some(parsed) => Ok(Some(time.cmp(&parsed.value))),
        None if let Value::Str(text) | Value::Bytes(text) = other => {
            let shown = plain_text(&Value::Time(time), coerce::fsp_of(time.parts().4));
            Ok(Some(shown.as_ref().cmp(text.as_ref())))
        }
        None => {
            let (x, y) = (coerce::to_f64(&Value::Time(time), ctx)?, coerce::to_f64(other, ctx)?);
            Ok(x.zip(y).and_then(|(x, y)| x.partial_cmp(&y)))
        }
    }
}

/// 1525
pub(crate) fn wrong_value(kind: &str, value: &Value) -> SqlError {
    let text = printable(&plain_text(value, NOT_FIXED));
    SqlError::new(codes::WRONG_VALUE, format!("Incorrect {kind} value: '{text}'"))
}
