//! A value on its way into a YEAR column.

use base::SqlError;
use types::temporal::parse;
use types::{Decimal, Value, number};

use super::Assignment;
use crate::expr::coerce;

impl Assignment<'_> {
    pub(super) fn year(&self, value: &Value) -> Result<Value, SqlError> {
        let n = match value {
            Value::Str(text) | Value::Bytes(text) => {
                let len = number::parse_f64(text).1;
                let year = if len == 0 { Some(0) } else { year_of(value) };
                // What is out of range is said before what stands behind the number.
                if year.is_some() {
                    self.check_number("integer", text, len)?;
                }
                year
            }
            Value::Json(_) | Value::Time(_) => year_of_number(coerce::to_i128(value, self.ctx)?.unwrap_or(0), false),
            other => year_of(other),
        };
        if n.is_none() {
            self.out_of_range()?;
        }
        Ok(Value::UInt(n.unwrap_or(0)))
    }
}

/// The year that a value is in a YEAR column, if it is one: of one or two digits that of 1970 to 2069. Text and exact numbers are rounded, the fraction of
/// a DOUBLE is cut off. Zero is 2000 in a text that does not have four characters.
pub(crate) fn year_of(value: &Value) -> Option<u64> {
    let cut = |n: f64| (0.0..=2155.0).contains(&n).then_some(n as i128);
    let (n, zero_is_2000) = match value {
        Value::Str(text) | Value::Bytes(text) => {
            (Decimal::parse(text.trim_ascii_start())?.value.to_i128()?, text.len() != 4)
        }
        Value::Double(n) => (cut(*n)?, false),
        Value::Float(n) => (cut(f64::from(*n))?, false),
        Value::Date(date) => (date.year.into(), false),
        Value::DateTime(moment) => (moment.date.year.into(), false),
        Value::Decimal(n) if n.is_negative() => return None,
        Value::Decimal(n) => (n.to_i128()?, false),
        Value::Int(n) => ((*n).into(), false),
        Value::UInt(n) => ((*n).into(), false),
        _ => return None,
    };
    year_of_number(n, zero_is_2000)
}

fn year_of_number(n: i128, zero_is_2000: bool) -> Option<u64> {
    match n {
        0 if zero_is_2000 => Some(2000),
        0 => Some(0),
        1..=99 => Some(parse::full_year(n as u32) as u64),
        1901..=2155 => Some(n as u64),
        _ => None,
    }
}
