//! Values of a log as the bytes of our columns.

use base::{SqlError, codes};
use binlog::event::ColumnMeta;
use engine::Table;
use types::decimal::Rounding;
use types::temporal::{binary, calendar};
use types::{ColumnDef, ColumnType, Date, DateTime, Decimal, Time, Value};

use super::form::{Form, Fraction, TypeConversions};
use super::text::TextConvert;

/// How values of one column of the log become ours.
#[derive(Clone, Copy, Debug)]
pub(super) enum Convert {
    /// Their bytes are ours.
    Copy,
    /// The same, of a form in which not all bytes are values.
    Possible(Form),
    Text(TextConvert),
    Int {
        /// Of the source's values.
        unsigned: bool,
        to_width: usize,
        to_unsigned: bool,
        clamp: bool,
    },
    /// FLOAT, DOUBLE, DECIMAL.
    Number {
        from: Form,
        clamp: bool,
    },
    Bit {
        bits: usize,
    },
    /// ENUM and SET: the number, of which the largest is given.
    Members {
        width: usize,
        to_width: usize,
        max: u64,
    },
    Temporal {
        from: Form,
    },
}

/// Why a value cannot be one of ours.
#[derive(Debug)]
pub(super) enum Refused {
    /// Not of the character set, from these bytes on.
    NoText(Vec<u8>),
    TooLong,
    OutOfRange,
    /// No member.
    NoMember,
    /// Bytes that are no value at all.
    Impossible,
}

impl Convert {
    /// From a form that may become the other.
    pub(super) fn new(source: &ColumnMeta, from: Form, to: Form, column: &ColumnDef, modes: TypeConversions) -> Self {
        match (from, to) {
            (Form::String(from), Form::String(to)) => {
                Convert::Text(TextConvert::new(source, from, to, column, modes.lossy))
            }
            (Form::Int(width), Form::Int(to_width)) => {
                let to_unsigned = column.ty.is_unsigned();
                let unsigned = source.unsigned.or(modes.unsigned).unwrap_or(to_unsigned);
                if (width, unsigned) == (to_width, to_unsigned) || width == to_width && source.unsigned.is_none() {
                    return Convert::Copy;
                }
                Convert::Int { unsigned, to_width, to_unsigned, clamp: modes.lossy }
            }
            (Form::Enum(width) | Form::Set(width), Form::Enum(to_width) | Form::Set(to_width)) => {
                let max = match &column.ty {
                    ColumnType::Enum { members } => members.len() as u64,
                    ColumnType::Set { members } => u64::MAX >> (64 - members.len().clamp(1, 64)),
                    _ => 0,
                };
                Convert::Members { width, to_width, max }
            }
            (Form::Bit(_), Form::Bit(bits)) if from != to => Convert::Bit { bits },
            (Form::Float | Form::Double | Form::Decimal(..), _) if from != to => {
                Convert::Number { from, clamp: modes.lossy }
            }
            (Form::Time(_) | Form::DateTime(_) | Form::Timestamp(_), _) if from != to => Convert::Temporal { from },
            (
                Form::Json | Form::Decimal(..) | Form::Date | Form::Time(_) | Form::DateTime(_) | Form::Timestamp(_),
                _,
            ) => Convert::Possible(from),
            _ => Convert::Copy,
        }
    }

    /// Whether rows may be taken as they are, if [`Convert::keeps`] says so of each value.
    pub(super) fn is_same_form(&self) -> bool {
        match self {
            Convert::Copy | Convert::Possible(_) => true,
            Convert::Text(text) => text.is_same_form(),
            Convert::Members { width, to_width, .. } => width == to_width,
            _ => false,
        }
    }

    /// Whether something of its values has to be looked at before they are taken as they are.
    pub(super) fn is_checked(&self) -> bool {
        !matches!(self, Convert::Copy)
    }

    /// Whether a value is one of ours, byte for byte.
    pub(super) fn keeps(&self, value: &[u8]) -> bool {
        match self {
            Convert::Copy => true,
            Convert::Possible(form) => is_possible(value, *form),
            Convert::Text(text) => text.keeps(value),
            Convert::Members { width, to_width, max } => width == to_width && little_endian(value) <= *max,
            _ => false,
        }
    }

    /// Appends a value of the log as one of ours.
    pub(super) fn append(&self, value: &[u8], table: &Table, column: usize, out: &mut Vec<u8>) -> Result<(), Refused> {
        let encode = |value: Value, out: &mut Vec<u8>| {
            table.codec.row.encode_column(column, &value, out).map_err(|_| Refused::OutOfRange)
        };
        match *self {
            Convert::Possible(form) if !is_possible(value, form) => return Err(Refused::Impossible),
            Convert::Copy | Convert::Possible(_) => out.extend_from_slice(value),
            Convert::Text(text) => return text.append(value, out),
            Convert::Int { unsigned, to_width, to_unsigned, clamp } => {
                let number = integer(value, unsigned);
                let (low, high) = range(to_width, to_unsigned);
                let kept = number.clamp(low, high);
                if kept != number && !clamp {
                    return Err(Refused::OutOfRange);
                }
                out.extend_from_slice(&(kept as u64).to_le_bytes()[..to_width]);
            }
            Convert::Number { from, clamp } => {
                let number = number_of(value, from).ok_or(Refused::Impossible)?;
                return encode(number.for_column(&table.def.columns[column].ty, clamp)?, out);
            }
            Convert::Bit { bits } => {
                let number = value.iter().fold(0u64, |number, &byte| number << 8 | u64::from(byte));
                // Too many bits become all bits, as in MySQL.
                let max = u64::MAX >> (64 - bits.clamp(1, 64));
                return encode(Value::UInt(number.min(max)), out);
            }
            Convert::Members { to_width, max, .. } => {
                let number = little_endian(value);
                if number > max {
                    return Err(Refused::NoMember);
                }
                out.extend_from_slice(&number.to_le_bytes()[..to_width]);
            }
            Convert::Temporal { from } => {
                let value = temporal(value, from, &table.def.columns[column].ty).ok_or(Refused::Impossible)?;
                return encode(value, out);
            }
        }
        Ok(())
    }
}

impl Refused {
    /// MySQL's error.
    pub(super) fn error(self, column: &ColumnDef, row: u64) -> SqlError {
        let at = format!("for column '{}' at row {row}", column.name);
        match self {
            Refused::NoText(bytes) => {
                const SHOWN: usize = 6;
                let shown: String = bytes.iter().take(SHOWN).map(|byte| format!("\\x{byte:02X}")).collect();
                let more = if bytes.len() > SHOWN { "..." } else { "" };
                let message = format!("Incorrect string value: '{shown}{more}' {at}");
                SqlError::new(codes::TRUNCATED_WRONG_VALUE_FOR_FIELD, message)
            }
            Refused::TooLong => SqlError::new(codes::DATA_TOO_LONG, format!("Data too long {at}")),
            Refused::OutOfRange => SqlError::new(codes::WARN_DATA_OUT_OF_RANGE, format!("Out of range value {at}")),
            Refused::NoMember => SqlError::new(codes::WARN_DATA_TRUNCATED, format!("Data truncated {at}")),
            Refused::Impossible => SqlError::new(
                codes::REPLICA_CORRUPT_EVENT,
                format!("Corrupted replication event was detected: value {at}"),
            ),
        }
    }
}

/// Bytes of the length in front of a document.
pub(super) const JSON_LENGTH_BYTES: usize = 4;

/// Whether bytes are a value of a form.
fn is_possible(bytes: &[u8], form: Form) -> bool {
    match form {
        Form::Decimal(precision, scale) => Decimal::read_binary(bytes, precision, scale).is_some(),
        Form::Date => binary::read_date(bytes).is_some(),
        Form::Time(_) => binary::read_time(bytes).is_some(),
        Form::DateTime(_) => binary::read_datetime(bytes).is_some(),
        Form::Timestamp(_) => binary::read_timestamp(bytes).is_some(),
        Form::Json => bytes.get(JSON_LENGTH_BYTES..).is_some_and(|json| types::json::binary::decode(json).is_ok()),
        _ => true,
    }
}

fn little_endian(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

fn integer(bytes: &[u8], unsigned: bool) -> i128 {
    let number = little_endian(bytes);
    let unused = 64 - 8 * bytes.len() as u32;
    if unsigned { i128::from(number) } else { i128::from((number << unused) as i64 >> unused) }
}

fn range(width: usize, unsigned: bool) -> (i128, i128) {
    let bits = 8 * width as u32;
    if unsigned { (0, (1 << bits) - 1) } else { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) }
}

/// A number that is no integer.
enum Number {
    Float(f64),
    Decimal(Decimal),
}

fn number_of(bytes: &[u8], from: Form) -> Option<Number> {
    Some(match from {
        Form::Float => Number::Float(f32::from_le_bytes(bytes.try_into().ok()?).into()),
        Form::Double => Number::Float(f64::from_le_bytes(bytes.try_into().ok()?)),
        Form::Decimal(precision, scale) => Number::Decimal(Decimal::read_binary(bytes, precision, scale)?),
        _ => return None,
    })
}

impl Number {
    /// As a value of a column, rounded; what is out of its range is an error, or the end of the range.
    fn for_column(self, ty: &ColumnType, clamp: bool) -> Result<Value, Refused> {
        let unless = |fits: bool| if fits || clamp { Ok(()) } else { Err(Refused::OutOfRange) };
        let zero_or_more = |number: f64, unsigned: bool| -> Result<f64, Refused> {
            unless(!unsigned || number >= 0.0)?;
            Ok(if unsigned { number.max(0.0) } else { number })
        };
        match *ty {
            ColumnType::Float { unsigned } => {
                let number = zero_or_more(self.to_f64(), unsigned)?;
                let max = f64::from(f32::MAX);
                unless(number.abs() <= max)?;
                Ok(Value::Float(number.clamp(-max, max) as f32))
            }
            ColumnType::Double { unsigned } => Ok(Value::Double(zero_or_more(self.to_f64(), unsigned)?)),
            ColumnType::Decimal { precision, scale, unsigned } => {
                let number = match self {
                    Number::Decimal(number) => number,
                    Number::Float(number) => Decimal::from_f64(number).ok_or(Refused::OutOfRange)?,
                };
                let is_negative = number.is_negative() && !number.is_zero();
                unless(!unsigned || !is_negative)?;
                let number = if unsigned && is_negative { Decimal::ZERO } else { number };
                match number.rounded(scale, Rounding::HalfUp).filter(|rounded| rounded.fits(precision, scale)) {
                    Some(rounded) => Ok(Value::Decimal(rounded)),
                    None => {
                        unless(false)?;
                        let max = Decimal::max_of(precision, scale);
                        Ok(Value::Decimal(if is_negative { max.negated() } else { max }))
                    }
                }
            }
            _ => Err(Refused::Impossible),
        }
    }

    fn to_f64(&self) -> f64 {
        match self {
            Number::Float(number) => *number,
            Number::Decimal(number) => number.to_f64(),
        }
    }
}

/// A time, or a date with a time, with as many digits of a second as the column has.
fn temporal(bytes: &[u8], from: Form, ty: &ColumnType) -> Option<Value> {
    Some(match (from, ty) {
        (Form::Time(fraction), ColumnType::Time { fsp }) => {
            let time = if fraction == Fraction::Old { old_time(bytes)? } else { binary::read_time(bytes)? };
            Value::Time(time.rounded(*fsp))
        }
        (Form::DateTime(fraction), ColumnType::DateTime { fsp }) => {
            let datetime = if fraction == Fraction::Old { old_datetime(bytes)? } else { binary::read_datetime(bytes)? };
            Value::DateTime(datetime.rounded(*fsp)?)
        }
        (Form::Timestamp(fraction), ColumnType::Timestamp { fsp }) => {
            let utc = if fraction == Fraction::Old { old_timestamp(bytes)? } else { binary::read_timestamp(bytes)? };
            // Zero is no point in time that could be rounded.
            Value::DateTime(if utc == DateTime::ZERO { utc } else { utc.rounded(*fsp)? })
        }
        _ => return None,
    })
}

/// HHMMSS as a signed number of three bytes.
fn old_time(bytes: &[u8]) -> Option<Time> {
    let packed = integer(bytes, false) as i64;
    let digits = packed.unsigned_abs();
    let (hours, minutes, seconds) = ((digits / 10_000) as u32, (digits / 100 % 100) as u32, (digits % 100) as u32);
    (hours <= 838 && minutes < 60 && seconds < 60).then(|| Time::from_parts(packed < 0, hours, minutes, seconds, 0))
}

/// YYYYMMDDHHMMSS as a number of eight bytes.
fn old_datetime(bytes: &[u8]) -> Option<DateTime> {
    let packed = little_endian(bytes);
    let (date, time) = (packed / 1_000_000, packed % 1_000_000);
    let (year, month, day) = (date / 10_000, date / 100 % 100, date % 100);
    let (hour, minute, second) = (time / 10_000, time / 100 % 100, time % 100);
    let is_possible = year <= 9999 && month <= 12 && day <= 31 && hour < 24 && minute < 60 && second < 60;
    let date = Date::new(year as u16, month as u8, day as u8);
    is_possible.then(|| DateTime::new(date, hour as u8, minute as u8, second as u8, 0))
}

/// Seconds since 1970, 0 for no time at all.
fn old_timestamp(bytes: &[u8]) -> Option<DateTime> {
    match little_endian(bytes) {
        0 => Some(DateTime::ZERO),
        seconds => calendar::from_unix_micros(seconds as i64 * types::temporal::MICROS_PER_SECOND),
    }
}
