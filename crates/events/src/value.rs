//! Values of row images: taken apart by the column's type, and put together again.
//!
//! A value is what is stored, exactly: a string is bytes in its column's character set, an ENUM the number of its member, a JSON
//! document MySQL's binary form of it. How it is shown is the business of whoever shows it.

use binlog::DecodeError;
use binlog::event::{ColumnMeta, column_type};
use types::temporal::{MICROS_PER_SECOND, binary};
use types::{Date, DateTime, Decimal, Time};

use crate::error::EventError;

/// MariaDB's compressed columns.
const BLOB_COMPRESSED: u8 = 140;
const VARCHAR_COMPRESSED: u8 = 141;

/// A value that is not NULL.
#[derive(Clone, Debug, PartialEq)]
pub enum Value<'v> {
    /// TINYINT to BIGINT that are signed, or of which the log does not say whether they are.
    Int(i64),
    /// TINYINT to BIGINT UNSIGNED, YEAR, BIT; the number of an ENUM's member (from 1; 0: the empty string of a value that was none);
    /// the bits of a SET's members, the first one lowest.
    UInt(u64),
    /// FLOAT.
    Float(f32),
    /// DOUBLE.
    Double(f64),
    /// DECIMAL, with all digits behind the point that the column has.
    Decimal(Decimal),
    /// DATE.
    Date(Date),
    /// TIME, and how many digits its fraction has.
    Time(Time, u8),
    /// DATETIME.
    DateTime(DateTime, u8),
    /// TIMESTAMP, in UTC; all zeros for the zero value.
    Timestamp(DateTime, u8),
    /// CHAR, VARCHAR, TEXT, BINARY, VARBINARY, BLOB, GEOMETRY, VECTOR: the bytes.
    Bytes(&'v [u8]),
    /// JSON, in MySQL's binary form.
    Json(&'v [u8]),
    /// Changes of a JSON document, see [`binlog::event::JsonDiff`].
    JsonDiffs(&'v [u8]),
    /// A COMPRESSED column of MariaDB's, as it is stored; see [`Value::inflate`].
    Compressed(&'v [u8]),
}

impl<'v> Value<'v> {
    /// Takes the value at the front of `bytes`; says how many bytes it takes there.
    ///
    /// # Errors
    /// If there is none of the column's type.
    pub fn decode(column: &ColumnMeta, bytes: &'v [u8]) -> Result<(Self, usize), DecodeError> {
        let len = column.value_len(bytes)?;
        let taken = &bytes[..len];
        let value = decode(column, taken)
            .ok_or_else(|| DecodeError(format!("value {taken:02x?} of a column of type {}", column.type_code)))?;
        Ok((value, len))
    }

    /// Appends the value as a row image has it; the inverse of [`Value::decode`].
    ///
    /// # Errors
    /// If the column cannot have such a value.
    pub fn encode(&self, column: &ColumnMeta, out: &mut Vec<u8>) -> Result<(), EventError> {
        encode(self, column, out)
            .ok_or_else(|| EventError::malformed(format!("value {self:?} for a column of type {}", column.type_code)))
    }

    /// Decimals, and points in time as MySQL writes them; `None` for all else.
    pub fn text(&self) -> Option<String> {
        let mut text = Vec::new();
        match self {
            Value::Decimal(decimal) => return Some(decimal.to_string()),
            Value::Date(date) => date.write_text(&mut text),
            Value::Time(time, fsp) => time.write_text(*fsp, &mut text),
            Value::DateTime(time, fsp) | Value::Timestamp(time, fsp) => time.write_text(*fsp, &mut text),
            _ => return None,
        }
        // Digits and what is between them.
        String::from_utf8(text).ok()
    }

    /// The contents of a [`Value::Compressed`].
    ///
    /// ```text
    /// | 8 << 4: zlib; 8: without zlib's own head; lower bits: bytes of the length | length, highest byte first | stream |
    /// | 0 | as it was |
    /// ```
    ///
    /// # Errors
    /// If they are not so, or have more than `size_max` bytes.
    pub fn inflate(stored: &[u8], size_max: usize) -> Result<Vec<u8>, EventError> {
        use std::io::Read as _;
        let bad = || EventError::malformed("a compressed column's value");
        let Some((&head, rest)) = stored.split_first() else { return Ok(Vec::new()) };
        if head == 0 {
            return Ok(rest.to_vec());
        }
        let (has_zlib_head, length_size) = (head & 8 == 0, usize::from(head & 7));
        if head >> 4 != 8 || length_size == 0 || length_size > 4 || rest.len() < length_size {
            return Err(bad());
        }
        let (length, stream) = rest.split_at(length_size);
        let size = length.iter().fold(0, |size, &byte| size << 8 | usize::from(byte));
        if size > size_max {
            return Err(EventError::TooLarge { what: "a compressed column's value", limit: size_max as u64 });
        }
        let mut inflated = Vec::new();
        // A byte more than it says would show that it is longer.
        let limit = size as u64 + 1;
        let read = if has_zlib_head {
            flate2::bufread::ZlibDecoder::new(stream).take(limit).read_to_end(&mut inflated)
        } else {
            flate2::bufread::DeflateDecoder::new(stream).take(limit).read_to_end(&mut inflated)
        };
        match read {
            Ok(read) if read == size => Ok(inflated),
            _ => Err(bad()),
        }
    }
}

fn integer<'v>(column: &ColumnMeta, bytes: &[u8]) -> Option<Value<'v>> {
    let mut all = [0; 8];
    all.get_mut(..bytes.len())?.copy_from_slice(bytes);
    let value = u64::from_le_bytes(all);
    if column.unsigned == Some(true) {
        return Some(Value::UInt(value));
    }
    let unused = 64 - 8 * bytes.len() as u32;
    Some(Value::Int((value << unused) as i64 >> unused))
}

fn little_endian(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte))
}

fn big_endian(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |value, &byte| value << 8 | u64::from(byte))
}

/// The value that these bytes, which are as many as it takes, are.
fn decode<'v>(column: &ColumnMeta, bytes: &'v [u8]) -> Option<Value<'v>> {
    use column_type::*;
    let fsp = column.meta as u8;
    Some(match column.type_code {
        TINY | SHORT | INT24 | LONG | LONGLONG => integer(column, bytes)?,
        YEAR => Value::UInt(match *bytes.first()? {
            0 => 0,
            year => 1900 + u64::from(year),
        }),
        FLOAT => Value::Float(f32::from_le_bytes(*bytes.first_chunk()?)),
        DOUBLE => Value::Double(f64::from_le_bytes(*bytes.first_chunk()?)),
        NEWDECIMAL => Value::Decimal(Decimal::read_binary(bytes, column.meta as u8, (column.meta >> 8) as u8)?),
        DATE | NEWDATE => Value::Date(binary::read_date(bytes)?),
        TIME2 => Value::Time(binary::read_time(bytes)?, fsp),
        DATETIME2 => Value::DateTime(binary::read_datetime(bytes)?, fsp),
        TIMESTAMP2 => Value::Timestamp(binary::read_timestamp(bytes)?, fsp),
        TIME => {
            let packed = little_endian(bytes);
            let signed = (packed << 40) as i64 >> 40;
            let (hours, rest) = (signed.unsigned_abs() / 10_000, signed.unsigned_abs() % 10_000);
            let (minutes, seconds) = (rest / 100, rest % 100);
            let time = Time::from_parts(signed < 0, hours as u32, minutes as u32, seconds as u32, 0);
            (minutes < 60 && seconds < 60).then_some(Value::Time(time, 0))?
        }
        DATETIME => Value::DateTime(old_datetime(little_endian(bytes))?, 0),
        TIMESTAMP => match little_endian(bytes) as i64 {
            0 => Value::Timestamp(DateTime::ZERO, 0),
            seconds => Value::Timestamp(types::temporal::calendar::from_unix_micros(seconds * MICROS_PER_SECOND)?, 0),
        },
        BIT => Value::UInt(big_endian(bytes)),
        ENUM | SET => Value::UInt(little_endian(bytes)),
        STRING if matches!(column.real_type().0, ENUM | SET) => Value::UInt(little_endian(bytes)),
        STRING => Value::Bytes(bytes.get(if column.real_type().1 > 255 { 2 } else { 1 }..)?),
        VARCHAR | VAR_STRING => Value::Bytes(bytes.get(if column.meta > 255 { 2 } else { 1 }..)?),
        VARCHAR_COMPRESSED => Value::Compressed(bytes.get(if column.meta > 255 { 2 } else { 1 }..)?),
        BLOB_COMPRESSED => Value::Compressed(bytes.get(usize::from(column.meta)..)?),
        JSON => Value::Json(bytes.get(usize::from(column.meta)..)?),
        NULL => Value::Bytes(&[]),
        _ => Value::Bytes(bytes.get(usize::from(column.meta)..)?),
    })
}

/// `YYYYMMDDhhmmss` as a number.
fn old_datetime(packed: u64) -> Option<DateTime> {
    let (date, time) = (packed / 1_000_000, packed % 1_000_000);
    let (year, month, day) = (date / 10_000, date / 100 % 100, date % 100);
    let (hour, minute, second) = (time / 10_000, time / 100 % 100, time % 100);
    let is_time = hour < 24 && minute < 60 && second < 60;
    let date = Date::new(u16::try_from(year).ok()?, month as u8, day as u8);
    (year <= 9999 && month <= 12 && day <= 31 && is_time)
        .then(|| DateTime::new(date, hour as u8, minute as u8, second as u8, 0))
}

fn encode(value: &Value<'_>, column: &ColumnMeta, out: &mut Vec<u8>) -> Option<()> {
    use column_type::*;
    let meta = column.meta;
    match (column.type_code, value) {
        (TINY | SHORT | INT24 | LONG | LONGLONG, Value::Int(_) | Value::UInt(_)) => {
            put_integer(value, integer_size(column.type_code), out)?;
        }
        (YEAR, Value::UInt(0)) => out.push(0),
        (YEAR, Value::UInt(year)) => out.push(u8::try_from(year.checked_sub(1900)?).ok()?),
        (FLOAT, Value::Float(number)) => out.extend_from_slice(&number.to_le_bytes()),
        (DOUBLE, Value::Double(number)) => out.extend_from_slice(&number.to_le_bytes()),
        (NEWDECIMAL, Value::Decimal(decimal)) => {
            let (precision, scale) = (meta as u8, (meta >> 8) as u8);
            if scale > precision || precision > types::decimal::MAX_PRECISION || decimal.scale() != scale {
                return None;
            }
            decimal.write_binary(precision, scale, out)?;
        }
        (DATE | NEWDATE, Value::Date(date)) => binary::write_date(*date, out),
        (TIME2, Value::Time(time, _)) if meta <= 6 => binary::write_time(*time, meta as u8, out),
        (DATETIME2, Value::DateTime(time, _)) if meta <= 6 => binary::write_datetime(*time, meta as u8, out),
        (TIMESTAMP2, Value::Timestamp(time, _)) if meta <= 6 => binary::write_timestamp(*time, meta as u8, out)?,
        (TIME | DATETIME | TIMESTAMP, _) => encode_without_fraction(value, column.type_code, out)?,
        (BIT, Value::UInt(bits)) => {
            let size = usize::from(meta >> 8) + usize::from(meta & 0xff != 0);
            out.extend_from_slice(bits.to_be_bytes().get(8usize.checked_sub(size)?..)?);
        }
        (ENUM | SET, Value::UInt(number)) => out.extend_from_slice(number.to_le_bytes().get(..usize::from(meta >> 8))?),
        (STRING, Value::UInt(number)) if matches!(column.real_type().0, ENUM | SET) => {
            out.extend_from_slice(number.to_le_bytes().get(..column.real_type().1)?);
        }
        (STRING, Value::Bytes(bytes)) => put_prefixed(bytes, if column.real_type().1 > 255 { 2 } else { 1 }, out)?,
        (VARCHAR | VAR_STRING, Value::Bytes(bytes)) | (VARCHAR_COMPRESSED, Value::Compressed(bytes)) => {
            put_prefixed(bytes, if meta > 255 { 2 } else { 1 }, out)?;
        }
        (NULL, Value::Bytes([])) => {}
        (JSON, Value::Json(bytes) | Value::JsonDiffs(bytes))
        | (BLOB_COMPRESSED, Value::Compressed(bytes))
        | (BLOB | TINY_BLOB | MEDIUM_BLOB | LONG_BLOB | GEOMETRY | VECTOR, Value::Bytes(bytes)) => {
            put_prefixed(bytes, usize::from(meta), out)?;
        }
        _ => return None,
    }
    Some(())
}

/// Times as they were before MySQL 5.6.
fn encode_without_fraction(value: &Value<'_>, type_code: u8, out: &mut Vec<u8>) -> Option<()> {
    use column_type::*;
    match (type_code, value) {
        (TIME, Value::Time(time, _)) => {
            let (negative, hours, minutes, seconds, _) = time.parts();
            let packed = i64::from(hours * 10_000 + minutes * 100 + seconds);
            out.extend_from_slice(&(if negative { -packed } else { packed }).to_le_bytes()[..3]);
        }
        (DATETIME, Value::DateTime(time, _)) => {
            let date = u64::from(time.date.year) * 10_000 + u64::from(time.date.month) * 100 + u64::from(time.date.day);
            let time = u64::from(time.hour) * 10_000 + u64::from(time.minute) * 100 + u64::from(time.second);
            out.extend_from_slice(&(date * 1_000_000 + time).to_le_bytes());
        }
        (TIMESTAMP, Value::Timestamp(time, _)) => {
            let is_zero = *time == DateTime::ZERO;
            let seconds = if is_zero { 0 } else { types::temporal::calendar::to_unix_seconds(*time) };
            out.extend_from_slice(&u32::try_from(seconds).ok()?.to_le_bytes());
        }
        _ => return None,
    }
    Some(())
}

fn integer_size(type_code: u8) -> usize {
    match type_code {
        column_type::TINY => 1,
        column_type::SHORT => 2,
        column_type::INT24 => 3,
        column_type::LONG => 4,
        _ => 8,
    }
}

fn put_integer(value: &Value<'_>, size: usize, out: &mut Vec<u8>) -> Option<()> {
    let unused = 64 - 8 * size as u32;
    let bits = match *value {
        Value::Int(number) if number << unused >> unused == number => number as u64,
        Value::UInt(number) if number << unused >> unused == number => number,
        _ => return None,
    };
    out.extend_from_slice(&bits.to_le_bytes()[..size]);
    Some(())
}

fn put_prefixed(bytes: &[u8], prefix: usize, out: &mut Vec<u8>) -> Option<()> {
    let len = (bytes.len() as u64).to_le_bytes();
    let (kept, beyond) = len.split_at_checked(prefix)?;
    if beyond.iter().any(|&byte| byte != 0) {
        return None;
    }
    out.extend_from_slice(kept);
    out.extend_from_slice(bytes);
    Some(())
}
