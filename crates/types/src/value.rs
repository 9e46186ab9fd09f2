//! [`Value`]: one value in flight, as expressions and results see it.

use std::cmp::Ordering;

use bytes::Bytes;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::decimal::Decimal;
use crate::temporal::{Date, DateTime, Time};

/// One value.
///
/// What each column type decodes to: the integers to `Int` or `UInt` by their signedness; YEAR and BIT to `UInt`; ENUM and
/// SET to `Str` (their text; numbers and order come from [`crate::ColumnType`]); CHAR, VARCHAR and TEXT to `Str`; BINARY,
/// VARBINARY and BLOB to `Bytes`; JSON to `Json`; TIMESTAMP to `DateTime` in UTC. Row codecs take the same forms.
///
/// `PartialEq` is for tests and bookkeeping: it knows no collation and compares no two different variants.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Value {
    /// NULL
    #[default]
    Null,
    /// A signed integer.
    Int(i64),
    /// An unsigned integer.
    UInt(u64),
    /// FLOAT; kept apart from DOUBLE because it prints with fewer digits.
    Float(f32),
    /// DOUBLE
    Double(f64),
    /// DECIMAL
    Decimal(Decimal),
    /// Text, utf8mb4.
    Str(Bytes),
    /// A binary string.
    Bytes(Bytes),
    /// DATE
    Date(Date),
    /// TIME
    Time(Time),
    /// DATETIME, and TIMESTAMP in UTC.
    DateTime(DateTime),
    /// JSON, in MySQL's binary form ([`crate::json::binary`]).
    Json(Bytes),
}

impl Value {
    /// NULL?
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    /// The number that a value of an AUTO_INCREMENT column counts as; `None` below 0, and for what is no number.
    pub fn counted(&self) -> Option<u64> {
        match *self {
            Value::Int(number) => u64::try_from(number).ok(),
            Value::UInt(number) => Some(number),
            Value::Float(number) => (number >= 0.0).then_some(number as u64),
            Value::Double(number) => (number >= 0.0).then_some(number as u64),
            _ => None,
        }
    }

    /// Text that lives as long as the program.
    pub fn str_static(text: &'static str) -> Value {
        Value::Str(Bytes::from_static(text.as_bytes()))
    }

    /// Text.
    pub fn str(text: impl Into<String>) -> Value {
        Value::Str(Bytes::from(text.into().into_bytes()))
    }

    /// The name of the variant, for messages.
    pub fn kind_name(&self) -> &'static str {
        match self {
            Value::Null => "NULL",
            Value::Int(_) => "INT",
            Value::UInt(_) => "UNSIGNED INT",
            Value::Float(_) => "FLOAT",
            Value::Double(_) => "DOUBLE",
            Value::Decimal(_) => "DECIMAL",
            Value::Str(_) => "TEXT",
            Value::Bytes(_) => "BINARY",
            Value::Date(_) => "DATE",
            Value::Time(_) => "TIME",
            Value::DateTime(_) => "DATETIME",
            Value::Json(_) => "JSON",
        }
    }

    /// The bytes of a `Str` or `Bytes`.
    pub fn as_bytes(&self) -> Option<&Bytes> {
        match self {
            Value::Str(bytes) | Value::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// Bytes of all `Str` and `Bytes` of a row. They may share them with each other; in an image or a packet each has its own.
    pub fn bytes_of(row: &[Value]) -> usize {
        row.iter().filter_map(Value::as_bytes).map(Bytes::len).sum()
    }

    /// Appends the text that the text protocol sends (nothing for NULL). `decimals` is the number of digits after the
    /// point of the result column: needed for temporal values and for floats of a declared scale; [`NOT_FIXED`] if there
    /// is none.
    pub fn write_text(&self, decimals: u8, out: &mut Vec<u8>) {
        match self {
            Value::Null => {}
            Value::Int(n) => crate::number::write_i64(*n, out),
            Value::UInt(n) => crate::number::write_u64(*n, out),
            Value::Float(n) => crate::number::write_f32(*n, decimals, out),
            Value::Double(n) => crate::number::write_f64(*n, decimals, out),
            Value::Decimal(n) => n.write_text(out),
            Value::Str(bytes) | Value::Bytes(bytes) => out.extend_from_slice(bytes),
            Value::Date(date) => date.write_text(out),
            Value::Time(time) => time.write_text(decimals, out),
            Value::DateTime(datetime) => datetime.write_text(decimals, out),
            Value::Json(binary) => out.extend_from_slice(json_text(binary).as_bytes()),
        }
    }

    /// The order of two values of one column type and variant, strings by their bytes; `None` if the variants differ.
    /// NULL is before everything. Strings of a column are ordered by [`crate::collation::compare`].
    pub fn compare_same_kind(&self, other: &Value) -> Option<Ordering> {
        Some(match (self, other) {
            (Value::Null, Value::Null) => Ordering::Equal,
            (Value::Null, _) => Ordering::Less,
            (_, Value::Null) => Ordering::Greater,
            (Value::Int(a), Value::Int(b)) => a.cmp(b),
            (Value::UInt(a), Value::UInt(b)) => a.cmp(b),
            (Value::Float(a), Value::Float(b)) => a.partial_cmp(b)?,
            (Value::Double(a), Value::Double(b)) => a.partial_cmp(b)?,
            (Value::Decimal(a), Value::Decimal(b)) => a.cmp(b),
            (Value::Str(a), Value::Str(b)) | (Value::Bytes(a), Value::Bytes(b)) => a.cmp(b),
            (Value::Date(a), Value::Date(b)) => a.cmp(b),
            (Value::Time(a), Value::Time(b)) => a.cmp(b),
            (Value::DateTime(a), Value::DateTime(b)) => a.cmp(b),
            (Value::Json(a), Value::Json(b)) => {
                let json = |bytes| crate::json::binary::decode(bytes).ok();
                crate::json::order::compare(&json(a)?, &json(b)?)
            }
            _ => return None,
        })
    }
}

/// The text of a document; of bytes that are none, nothing (columns take only what is one).
fn json_text(binary: &[u8]) -> String {
    crate::json::binary::decode(binary).map(|json| json.to_text()).unwrap_or_default()
}

/// "No fixed number of decimals", as the protocol writes it.
pub const NOT_FIXED: u8 = 31;

impl From<i64> for Value {
    fn from(n: i64) -> Self {
        Value::Int(n)
    }
}

impl From<u64> for Value {
    fn from(n: u64) -> Self {
        Value::UInt(n)
    }
}

impl From<f64> for Value {
    fn from(n: f64) -> Self {
        Value::Double(n)
    }
}

impl From<bool> for Value {
    fn from(b: bool) -> Self {
        Value::Int(b.into())
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::Str(Bytes::copy_from_slice(text.as_bytes()))
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Value::str(text)
    }
}

/// The catalog's JSON form: everything but numbers as text, bytes in hexadecimal.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Stored {
    Null,
    Int(i64),
    UInt(u64),
    /// Bit patterns, so that nothing is lost.
    Float(u32),
    Double(u64),
    Decimal(String),
    Str(String),
    Bytes(String),
    Date(String),
    Time(String),
    DateTime(String),
    /// The binary form, in hexadecimal.
    Json(String),
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let text = |decimals| {
            let mut out = Vec::new();
            self.write_text(decimals, &mut out);
            String::from_utf8_lossy(&out).into_owned()
        };
        let stored = match self {
            Value::Null => Stored::Null,
            Value::Int(n) => Stored::Int(*n),
            Value::UInt(n) => Stored::UInt(*n),
            Value::Float(n) => Stored::Float(n.to_bits()),
            Value::Double(n) => Stored::Double(n.to_bits()),
            Value::Decimal(_) => Stored::Decimal(text(0)),
            Value::Str(_) => Stored::Str(text(0)),
            Value::Bytes(bytes) => Stored::Bytes(hex(bytes)),
            Value::Date(_) => Stored::Date(text(0)),
            Value::Time(_) => Stored::Time(text(6)),
            Value::DateTime(_) => Stored::DateTime(text(6)),
            Value::Json(binary) => Stored::Json(hex(binary)),
        };
        stored.serialize(to)
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        use serde::de::Error;
        let bad = |what: &str| D::Error::custom(format!("'{what}' is no stored value"));
        Ok(match Stored::deserialize(from)? {
            Stored::Null => Value::Null,
            Stored::Int(n) => Value::Int(n),
            Stored::UInt(n) => Value::UInt(n),
            Stored::Float(bits) => Value::Float(f32::from_bits(bits)),
            Stored::Double(bits) => Value::Double(f64::from_bits(bits)),
            Stored::Decimal(text) => Value::Decimal(text.parse().map_err(|_| bad(&text))?),
            Stored::Str(text) => Value::str(text),
            Stored::Bytes(text) => Value::Bytes(unhex(&text).ok_or_else(|| bad(&text))?.into()),
            Stored::Json(text) => Value::Json(unhex(&text).ok_or_else(|| bad(&text))?.into()),
            Stored::Date(text) => Value::Date(Date::from_canonical(&text).ok_or_else(|| bad(&text))?),
            Stored::Time(text) => Value::Time(Time::from_canonical(&text).ok_or_else(|| bad(&text))?),
            Stored::DateTime(text) => Value::DateTime(DateTime::from_canonical(&text).ok_or_else(|| bad(&text))?),
        })
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |b: u8| (b as char).to_digit(16);
    text.as_bytes().chunks(2).map(|pair| Some((digit(pair[0])? << 4 | digit(*pair.get(1)?)?) as u8)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_small() {
        assert_eq!(size_of::<Value>(), 40);
    }

    #[test]
    fn json_round_trip() {
        let values = [
            Value::Null,
            Value::Int(-5),
            Value::UInt(u64::MAX),
            Value::Float(0.1),
            Value::Double(f64::MIN_POSITIVE),
            Value::Decimal("-12.340".parse().unwrap()),
            Value::from("häß"),
            Value::Bytes(Bytes::from_static(&[0, 255, 16])),
            Value::Date(Date::new(2024, 0, 31)),
            Value::Time(Time::from_micros(-3_600_000_001)),
            Value::DateTime(DateTime::new(Date::new(0, 0, 0), 0, 0, 0, 0)),
        ];
        for value in values {
            let text = serde_json::to_string(&value).unwrap();
            assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value, "{text}");
        }
    }
}
