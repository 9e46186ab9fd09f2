//! Order and equality of values of one type: ORDER BY, GROUP BY, DISTINCT, UNION, joins by hash.
//!
//! ```text
//!   00                       NULL          DESC: all bytes inverted
//!   01 integer, 9 bytes      of a type that is integer       01 weights       text, by its collation
//!   01 double, 8 bytes       float                           01 bytes, 00     binary (00 escaped)
//!   01 decimal, 30 bytes     DECIMAL                         01 number        ENUM, SET: their place, their bits
//!   01 json::order            JSON
//!   01 date 4, time 8, datetime 8                            01 tag, value    a parameter's: by kind of value
//! ```

use std::cmp::Ordering;

use types::column::{enum_number, set_number};
use types::{CollationId, ColumnType, Decimal, Value, collation};

use crate::expr::types::{ExprType, Kind, aggregate_collations};

/// The order of two values of this type (NULL first): strings by their collation, ENUM and SET by their numbers.
pub fn compare(ty: &ExprType, a: &Value, b: &Value) -> Ordering {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => a.cmp(b),
        (Value::UInt(a), Value::UInt(b)) => a.cmp(b),
        (Value::Str(a), Value::Str(b)) if !is_member_list(ty) => collation::compare(ty.collation, a, b),
        (Value::Json(a), Value::Json(b)) if a == b => Ordering::Equal,
        (Value::Null, Value::Null) => Ordering::Equal,
        (Value::Null, _) => Ordering::Less,
        (_, Value::Null) => Ordering::Greater,
        _ => {
            let key = |value| {
                let mut key = Vec::with_capacity(40);
                encode(ty, value, false, &mut key);
                key
            };
            key(a).cmp(&key(b))
        }
    }
}

/// Whether it is an ENUM or SET, whose values are ordered and distinct by their numbers.
pub(crate) fn is_member_list(ty: &ExprType) -> bool {
    matches!(ty.origin, Some(ColumnType::Enum { .. } | ColumnType::Set { .. }))
}

/// Appends bytes whose order is the order of the values, and which are equal for equal values: a key for sorting, grouping
/// and hashing. With `descending` in the opposite order.
pub fn encode(ty: &ExprType, value: &Value, descending: bool, out: &mut Vec<u8>) {
    let start = out.len();
    if value.is_null() {
        out.push(0);
    } else {
        out.push(1);
        match (&ty.origin, value) {
            (Some(ColumnType::Enum { members }), Value::Str(text)) => {
                put_integer(enum_number(members, text).unwrap_or(0) as i128, out);
            }
            // Of an ENUM that has an empty member: see `no_member`.
            (Some(ColumnType::Enum { .. }), Value::Bytes(_)) => put_integer(0, out),
            (Some(ColumnType::Set { members }), Value::Str(text)) => {
                put_integer(set_number(members, text).unwrap_or(0) as i128, out);
            }
            _ if ty.kind == Kind::Any || ty.kind == Kind::Null => encode_tagged(value, ty.collation, out),
            _ => encode_as(ty.kind, ty.collation, value, out),
        }
    }
    if descending {
        out[start..].iter_mut().for_each(|byte| *byte ^= 0xff);
    }
}

/// Values whose type is unknown: first by the kind, then as their kind says.
fn encode_tagged(value: &Value, collation: CollationId, out: &mut Vec<u8>) {
    let (tag, kind) = match value {
        Value::Null | Value::Int(_) | Value::UInt(_) | Value::Decimal(_) => (0, Kind::Decimal),
        Value::Float(_) | Value::Double(_) => (1, Kind::Double),
        Value::Str(_) => (2, Kind::Str),
        Value::Bytes(_) => (3, Kind::Bytes),
        Value::Time(_) => (4, Kind::Time),
        Value::Date(_) | Value::DateTime(_) => (5, Kind::DateTime),
        Value::Json(_) => (6, Kind::Json),
    };
    out.push(tag);
    let collation = if collation == CollationId::BINARY { CollationId::DEFAULT } else { collation };
    encode_as(kind, collation, value, out);
}

fn encode_as(kind: Kind, collation: CollationId, value: &Value, out: &mut Vec<u8>) {
    match kind {
        Kind::Int | Kind::UInt => put_integer(integer_of(value), out),
        Kind::Float | Kind::Double => put_double(double_of(value), out),
        Kind::Decimal => decimal_of(value).write_ordered(out),
        Kind::Json => types::json::order::sort_key(&crate::expr::json::document_or_null(value), out),
        Kind::Bytes => collation::weights(CollationId::BINARY, &bytes_of(value), out),
        Kind::Str | Kind::Any | Kind::Null => collation::weights(collation, &bytes_of(value), out),
        Kind::Date => match value {
            Value::Date(date) => out.extend_from_slice(&(date.to_number() as u32).to_be_bytes()),
            Value::DateTime(datetime) => out.extend_from_slice(&(datetime.date.to_number() as u32).to_be_bytes()),
            _ => out.extend_from_slice(&[0; 4]),
        },
        Kind::Time => {
            let micros = if let Value::Time(time) = value { time.micros() } else { 0 };
            out.extend_from_slice(&(micros ^ i64::MIN).to_be_bytes());
        }
        Kind::DateTime => {
            let (number, micros) = match value {
                Value::DateTime(datetime) => (datetime.to_number(), datetime.micros),
                Value::Date(date) => (date.at_midnight().to_number(), 0),
                _ => (0, 0),
            };
            out.extend_from_slice(&number.to_be_bytes());
            out.extend_from_slice(&micros.to_be_bytes());
        }
    }
}

fn put_integer(n: i128, out: &mut Vec<u8>) {
    const OFFSET: i128 = 1 << 64;
    out.extend_from_slice(&(n + OFFSET).to_be_bytes()[7..]);
}

fn put_double(n: f64, out: &mut Vec<u8>) {
    let bits = if n == 0.0 { 0 } else { n.to_bits() };
    let ordered = if bits >> 63 == 1 { !bits } else { bits | 1 << 63 };
    out.extend_from_slice(&ordered.to_be_bytes());
}

fn integer_of(value: &Value) -> i128 {
    match value {
        Value::Int(n) => *n as i128,
        Value::UInt(n) => *n as i128,
        Value::Decimal(n) => n.to_i128().unwrap_or(0).clamp(i64::MIN as i128, u64::MAX as i128),
        other => (double_of(other) as i128).clamp(i64::MIN as i128, u64::MAX as i128),
    }
}

fn double_of(value: &Value) -> f64 {
    match value {
        Value::Int(n) => *n as f64,
        Value::UInt(n) => *n as f64,
        Value::Float(n) => *n as f64,
        Value::Double(n) => *n,
        Value::Decimal(n) => n.to_f64(),
        Value::Str(text) | Value::Bytes(text) => types::number::parse_f64(text).0,
        Value::Date(date) => date.to_number() as f64,
        Value::Time(time) => time.to_number() as f64,
        Value::DateTime(datetime) => datetime.to_number() as f64,
        Value::Json(_) => crate::expr::json::document_or_null(value).number(),
        Value::Null => 0.0,
    }
}

fn decimal_of(value: &Value) -> Decimal {
    match value {
        Value::Int(n) => Decimal::from(*n),
        Value::UInt(n) => Decimal::from(*n),
        Value::Decimal(n) => *n,
        other => crate::expr::coerce::decimal_of_f64(double_of(other)),
    }
}

fn bytes_of(value: &Value) -> bytes::Bytes {
    match value.as_bytes() {
        Some(bytes) => bytes.clone(),
        None => crate::expr::coerce::plain_text(value, types::value::NOT_FIXED),
    }
}

/// As what two expressions are compared by `=`; both sides of a hash join encode their values with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// As which kind.
    pub kind: Kind,
    /// Of strings.
    pub collation: CollationId,
}

/// As what values of these types are compared; `None` if only row by row evaluation can say (then no hash join).
pub fn comparison(left: &ExprType, right: &ExprType) -> Option<Comparison> {
    use Kind::*;
    let kind = match (left.kind, right.kind) {
        (Int | UInt, Int | UInt) => Int,
        (Int | UInt | Decimal, Int | UInt | Decimal) => Decimal,
        (Float | Double, Float | Double | Int | UInt | Decimal) | (Int | UInt | Decimal, Float | Double) => Double,
        (Str, Str) => Str,
        (Bytes, Bytes | Str) | (Str, Bytes) => Bytes,
        (Date, Date) => Date,
        (Date | DateTime, Date | DateTime) => DateTime,
        (Time, Time) => Time,
        _ => return None,
    };
    let collation = if kind == Str { aggregate_collations(left, right).0 } else { CollationId::BINARY };
    Some(Comparison { kind, collation })
}

impl Comparison {
    /// Appends bytes that are equal if and only if the values compare as equal. `false` (and nothing) for NULL.
    pub fn encode(&self, value: &Value, out: &mut Vec<u8>) -> bool {
        if value.is_null() {
            return false;
        }
        encode_as(self.kind, self.collation, value, out);
        true
    }
}
