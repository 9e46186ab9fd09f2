//! The order of values: MySQL's precedence of their types, then the values; and bytes in that order, for sorting and grouping.
//!
//! ```text
//!   BLOB BIT OPAQUE > DATETIME > TIME > DATE > BOOLEAN > ARRAY > OBJECT > STRING > numbers > NULL
//! ```

use std::cmp::Ordering;

use super::Json;
use crate::decimal::Decimal;

/// The place of a value's type.
fn rank(json: &Json) -> u8 {
    match json {
        Json::Null => 1,
        Json::Int(_) | Json::UInt(_) | Json::Double(_) | Json::Decimal(_) => 2,
        Json::String(_) => 3,
        Json::Object(_) => 4,
        Json::Array(_) => 5,
        Json::Bool(_) => 6,
        Json::Date(_) => 7,
        Json::Time(_) => 8,
        Json::DateTime(_) | Json::Timestamp(_) => 9,
        Json::Opaque(..) => 10,
    }
}

/// The order of two values.
pub fn compare(a: &Json, b: &Json) -> Ordering {
    match (a, b) {
        (Json::Bool(a), Json::Bool(b)) => a.cmp(b),
        (Json::String(a), Json::String(b)) => a.as_bytes().cmp(b.as_bytes()),
        (Json::Date(a), Json::Date(b)) => a.cmp(b),
        (Json::Time(a), Json::Time(b)) => a.cmp(b),
        (Json::DateTime(a) | Json::Timestamp(a), Json::DateTime(b) | Json::Timestamp(b)) => a.cmp(b),
        (Json::Opaque(a, x), Json::Opaque(b, y)) => a.cmp(b).then_with(|| x.cmp(y)),
        (Json::Array(a), Json::Array(b)) => {
            let different = a.iter().zip(b).map(|(a, b)| compare(a, b)).find(|order| order.is_ne());
            different.unwrap_or_else(|| a.len().cmp(&b.len()))
        }
        (Json::Object(a), Json::Object(b)) => a.len().cmp(&b.len()).then_with(|| {
            let members = a.iter().zip(b.iter());
            let mut orders = members.map(|((a, x), (b, y))| a.as_bytes().cmp(b.as_bytes()).then_with(|| compare(x, y)));
            orders.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
        }),
        _ if rank(a) == 2 && rank(b) == 2 => compare_numbers(a, b),
        _ => rank(a).cmp(&rank(b)),
    }
}

fn compare_numbers(a: &Json, b: &Json) -> Ordering {
    match (a, b) {
        (Json::Double(a), Json::Double(b)) => a.partial_cmp(b).unwrap_or(Ordering::Equal),
        (Json::Double(a), b) => double_beside(*a, b),
        (a, Json::Double(b)) => double_beside(*b, a).reverse(),
        _ => exact(a).cmp(&exact(b)),
    }
}

fn exact(json: &Json) -> Decimal {
    match json {
        Json::Int(n) => Decimal::from(*n),
        Json::UInt(n) => Decimal::from(*n),
        Json::Decimal(n) => *n,
        _ => Decimal::ZERO,
    }
}

fn double_beside(n: f64, other: &Json) -> Ordering {
    let other = exact(other);
    match Decimal::from_f64(n) {
        Some(n) => n.cmp(&other),
        None => n.partial_cmp(&other.to_f64()).unwrap_or(Ordering::Equal),
    }
}

/// Appends bytes whose order is that of the values, arrays and objects by their lengths first; equal for equal values. No key is
/// the beginning of another's.
pub fn sort_key(json: &Json, out: &mut Vec<u8>) {
    out.push(rank(json));
    match json {
        Json::Null => {}
        Json::Bool(truth) => out.push(u8::from(*truth)),
        Json::Int(_) | Json::UInt(_) | Json::Double(_) | Json::Decimal(_) => put_number(json, out),
        Json::String(text) => put_bytes(text.as_bytes(), out),
        Json::Date(date) => out.extend_from_slice(&date.to_number().to_be_bytes()),
        Json::Time(time) => out.extend_from_slice(&(time.micros() ^ i64::MIN).to_be_bytes()),
        Json::DateTime(datetime) | Json::Timestamp(datetime) => {
            out.extend_from_slice(&datetime.to_number().to_be_bytes());
            out.extend_from_slice(&datetime.micros.to_be_bytes());
        }
        Json::Opaque(code, bytes) => {
            out.push(*code);
            put_bytes(bytes, out);
        }
        Json::Array(elements) => {
            out.extend_from_slice(&(elements.len() as u32).to_be_bytes());
            elements.iter().for_each(|element| sort_key(element, out));
        }
        Json::Object(object) => {
            out.extend_from_slice(&(object.len() as u32).to_be_bytes());
            for (key, value) in object.iter() {
                put_bytes(key.as_bytes(), out);
                sort_key(value, out);
            }
        }
    }
}

/// A zero is followed by a one, the end is two zeros.
fn put_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    for &byte in bytes {
        out.push(byte);
        if byte == 0 {
            out.push(1);
        }
    }
    out.extend_from_slice(&[0, 0]);
}

/// Sign, exponent of ten, and digits without zeros at the ends: the same for one number in whatever form.
fn put_number(json: &Json, out: &mut Vec<u8>) {
    let text = match json {
        Json::Double(n) => format!("{n:e}"),
        other => exact(other).to_string(),
    };
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let is_negative = mantissa.starts_with('-');
    let mantissa = mantissa.trim_start_matches('-');
    let point = mantissa.find('.').unwrap_or(mantissa.len()) as i32;
    let digits: Vec<u8> = mantissa.bytes().filter(u8::is_ascii_digit).collect();
    let leading = digits.iter().take_while(|&&digit| digit == b'0').count();
    if leading == digits.len() {
        out.push(1);
        return;
    }
    let kept = digits.iter().rposition(|&digit| digit != b'0').map_or(0, |last| last + 1);
    let exponent = exponent.parse::<i32>().unwrap_or(0) + point - leading as i32;
    out.push(if is_negative { 0 } else { 2 });
    let start = out.len();
    out.extend_from_slice(&((exponent + 0x4000) as u16).to_be_bytes());
    out.extend_from_slice(&digits[leading..kept]);
    out.push(0);
    if is_negative {
        out[start..].iter_mut().for_each(|byte| *byte ^= 0xff);
    }
}

impl Json {
    /// The nearest double of a number, 0 of anything else.
    pub fn number(&self) -> f64 {
        match self {
            Json::Int(n) => *n as f64,
            Json::UInt(n) => *n as f64,
            Json::Double(n) => *n,
            Json::Decimal(n) => n.to_f64(),
            _ => 0.0,
        }
    }
}
