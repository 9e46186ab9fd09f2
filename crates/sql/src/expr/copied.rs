//! What the value of a column is to a column of another type, where it is something else than the value of an expression would be: MySQL copies it as the text
//! that it prints, as the number behind a member, or as its bits. INSERT … SELECT and UPDATE do so in one way ([`Copied::by_dml`]), ALTER TABLE, which
//! goes by texts more often, in another ([`Copied::by_alter`]).

use std::sync::Arc;

use types::column::{choice_number, is_no_member, no_member};
use types::decimal::Rounding;
use types::value::NOT_FIXED;
use types::{ColumnType, Decimal, Value};

use super::{ExprType, Kind, coerce};

/// How values are copied.
#[derive(Clone, Debug)]
pub(crate) enum Copied {
    /// The bytes of a text of this type in its character set.
    Bytes(ExprType),
    /// The number of the value of this ENUM or SET.
    Number(ColumnType),
    /// An ENUM's for an ENUM: the value that is no member of the one becomes that of the other.
    Member {
        /// Of the ENUM that is read.
        members: Arc<[String]>,
        /// What is no member of the one that is written.
        none: Value,
    },
    /// The text that it prints, with so many digits behind the point.
    Text(u8),
    /// The four digits of a YEAR.
    YearText,
    /// The bytes of a BIT with so many bits.
    Bits(u8),
    /// As many digits of a FLOAT or DOUBLE as have room.
    Short {
        /// How many characters the column has.
        room: usize,
    },
    /// Without what is behind the point.
    Whole,
    /// The nearest whole number.
    Rounded,
    /// 0 for a number below.
    NotBelowZero,
    /// A date, or a date and time, as the number that its digits are.
    Digits,
    /// The integer with which a text begins, without a word.
    Prefix,
    /// The same with what is behind the point.
    Decimal,
    /// The integer that a text is. It may be none, of which the one who copies speaks.
    Integer,
}

impl Copied {
    /// From an expression to a column in INSERT and UPDATE; `None` if nothing happens on the way. Most of it happens to columns alone, which an
    /// expression of an `origin` that is one is.
    pub(crate) fn by_dml(from: &ExprType, to: &ColumnType, is_column: bool) -> Option<Copied> {
        let is_choice = matches!(to, ColumnType::Enum { .. } | ColumnType::Set { .. });
        match from.kind {
            Kind::Time | Kind::DateTime if from.decimals > 0 && to.is_string() => {
                return Some(Copied::Text(from.decimals));
            }
            Kind::Float | Kind::Double if let Some(room) = room_of(to) => return Some(Copied::Short { room }),
            Kind::Date | Kind::Time | Kind::DateTime if is_choice => return Some(Copied::Text(from.decimals)),
            _ => {}
        }
        match (from.origin.as_ref().filter(|_| is_column), to) {
            (Some(ColumnType::Enum { members }), ColumnType::Enum { members: to }) => {
                Some(Copied::Member { members: members.clone(), none: no_member(to) })
            }
            (Some(own @ (ColumnType::Enum { .. } | ColumnType::Set { .. })), to) if to.has_numbers() => {
                Some(Copied::Number(own.clone()))
            }
            (Some(ColumnType::Bit { bits }), to) if is_long(to) => Some(Copied::Bits(*bits)),
            (Some(ColumnType::Year), to) if is_long(to) => Some(Copied::YearText),
            (Some(ColumnType::Decimal { .. }), ColumnType::Bit { .. }) => Some(Copied::NotBelowZero),
            (Some(ColumnType::Double { .. }), ColumnType::Year) => Some(Copied::Whole),
            (Some(ColumnType::Double { .. } | ColumnType::Decimal { .. }), _) if is_choice => Some(Copied::Whole),
            (Some(ColumnType::DateTime { .. } | ColumnType::Timestamp { .. }), ColumnType::Year) => {
                Some(Copied::Digits)
            }
            (Some(ColumnType::Json), ColumnType::Bit { .. }) => Some(Copied::Text(NOT_FIXED)),
            (Some(ColumnType::Json), _) if is_choice => Some(Copied::Text(NOT_FIXED)),
            _ if coerce::has_other_bytes(from) && (to.is_binary() || matches!(to, ColumnType::Bit { .. })) => {
                Some(Copied::Bytes(from.clone()))
            }
            _ => None,
        }
    }

    /// From a column to what ALTER TABLE makes of it. A TIMESTAMP is in the session's zone by then.
    pub(crate) fn by_alter(from: &ExprType, to: &ColumnType) -> Option<Copied> {
        use ColumnType::{
            Bit, Blob, Date, DateTime, Decimal, Double, Enum, Float, Json, Set, Text, Time, Timestamp, Year,
        };
        let by_text =
            matches!(to, Date | DateTime { .. } | Timestamp { .. } | Time { .. } | Json | Enum { .. } | Set { .. });
        match (from.origin.as_ref()?, to) {
            (Year, to) if to.is_string() => Some(Copied::YearText),
            (Date | DateTime { .. } | Timestamp { .. }, Year) => Some(Copied::Digits),
            (Float { .. } | Double { .. }, Year | Bit { .. }) => Some(Copied::Rounded),
            (Float { .. } | Double { .. }, to) if to.is_string() => None,
            (Year, Enum { .. } | Set { .. }) => Some(Copied::YearText),
            (Float { .. } | Double { .. }, Time { .. }) => None,
            (own, _) if own.is_numeric() && by_text => Some(Copied::Text(from.decimals)),
            (Text { .. } | Blob { .. }, Bit { .. }) => Some(Copied::Prefix),
            (Text { .. }, Decimal { .. }) => Some(Copied::Decimal),
            (own, Bit { .. }) if own.is_string() => Some(Copied::Integer),
            // A CAST of the document.
            (Json, Decimal { .. } | Bit { .. }) | (Decimal { .. }, Bit { .. }) => None,
            (Json, _) => Some(Copied::Text(NOT_FIXED)),
            _ => Copied::by_dml(from, to, true),
        }
    }

    /// The value as it is copied; [`Copied::Integer`] without a word.
    pub(crate) fn value(&self, value: Value) -> Value {
        match (self, value) {
            (_, Value::Null) => Value::Null,
            (Copied::Bytes(ty), value) => Value::Bytes(coerce::bytes(&value, ty)),
            (Copied::Number(ty), value) => choice_number(ty, &value).unwrap_or(value),
            (Copied::Text(decimals), value) => Value::Str(coerce::plain_text(&value, *decimals)),
            (Copied::YearText, Value::UInt(year)) => Value::from(format!("{year:04}")),
            (Copied::Bits(bits), Value::UInt(number)) => {
                let bytes = usize::from(*bits).div_ceil(8);
                Value::Bytes(bytes::Bytes::copy_from_slice(&number.to_be_bytes()[8 - bytes..]))
            }
            (Copied::Short { room }, Value::Float(number)) => short_text(number.into(), *room),
            (Copied::Short { room }, Value::Double(number)) => short_text(number, *room),
            (Copied::Whole, Value::Double(number)) => Value::Double(number.trunc()),
            (Copied::Rounded, Value::Double(number)) => Value::Double(number.round_ties_even()),
            (Copied::Rounded, Value::Float(number)) => Value::Float(number.round_ties_even()),
            (Copied::Whole, Value::Decimal(number)) => {
                Value::Decimal(number.rounded(0, Rounding::Truncate).unwrap_or(number))
            }
            (Copied::NotBelowZero, Value::Decimal(number)) if number.is_negative() => Value::Int(0),
            (Copied::Digits, Value::Date(date)) => Value::UInt(digits_of(date)),
            (Copied::Digits, Value::DateTime(time)) => Value::UInt(digits_of(time.date) * 1_000_000),
            (Copied::Prefix | Copied::Integer, Value::Str(text) | Value::Bytes(text)) => Value::Int(prefix(&text)),
            (Copied::Decimal, Value::Str(text) | Value::Bytes(text)) => {
                let parsed = Decimal::parse(text.trim_ascii_start());
                parsed.map_or(Value::Int(0), |parsed| Value::Decimal(parsed.value))
            }
            (_, value) => value,
        }
    }

    /// Whether a value becomes what is no member, as it stands in the row.
    pub(crate) fn no_member(&self, value: &Value) -> Option<Value> {
        match self {
            Copied::Member { members, none } if is_no_member(members, value) => Some(none.clone()),
            _ => None,
        }
    }
}

/// How many characters a column of short text has.
fn room_of(ty: &ColumnType) -> Option<usize> {
    match *ty {
        ColumnType::Char { chars: room }
        | ColumnType::VarChar { chars: room }
        | ColumnType::Binary { bytes: room }
        | ColumnType::VarBinary { bytes: room } => Some(room as usize),
        _ => None,
    }
}

/// A number with as many significant digits as there is room for, with an exponent if it has room in no other way.
fn short_text(number: f64, room: usize) -> Value {
    let text = |number: f64| coerce::plain_text(&Value::Double(number), NOT_FIXED);
    let whole = text(number);
    if whole.len() <= room {
        return Value::Str(whole);
    }
    for digits in (0..17).rev() {
        let scientific = format!("{number:.digits$e}");
        let rounded = scientific.parse().map(text).unwrap_or_default();
        if rounded.len() <= room {
            return Value::Str(rounded);
        }
        let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
        let mantissa =
            if mantissa.contains('.') { mantissa.trim_end_matches('0').trim_end_matches('.') } else { mantissa };
        if mantissa.len() + 1 + exponent.len() <= room {
            return Value::from(format!("{mantissa}e{exponent}"));
        }
    }
    Value::Str(whole)
}

/// TEXT, BLOB and their kin.
fn is_long(ty: &ColumnType) -> bool {
    matches!(ty, ColumnType::Text { .. } | ColumnType::Blob { .. })
}

/// YYYYMMDD
fn digits_of(date: types::Date) -> u64 {
    u64::from(date.year) * 10_000 + u64::from(date.month) * 100 + u64::from(date.day)
}

fn prefix(text: &[u8]) -> i64 {
    let (number, _) = types::number::parse_integer(text);
    number.clamp(i64::MIN.into(), i64::MAX.into()) as i64
}
