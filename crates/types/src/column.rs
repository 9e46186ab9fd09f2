//! The codec of one column's values in a row image: what the binary log's rows events hold.
//!
//! ```text
//!   integers      1, 2, 3, 4, 8 bytes, little-endian         NEWDECIMAL    decimal::binary
//!   FLOAT DOUBLE  4, 8 bytes, IEEE, little-endian             temporal      temporal::binary
//!   CHAR VARCHAR BINARY VARBINARY   length in 1 byte if no value can have more than 255 bytes, else 2; the bytes
//!   TEXT BLOB     length in 1 to 4 bytes; the bytes           BIT           big-endian, (bits + 7) / 8 bytes
//!   JSON          length in 4 bytes; the binary form (json::binary)
//!   ENUM SET      little-endian, 1, 2 and 1 to 4, 8 bytes
//! ```
//!
//! CHAR is written without its trailing spaces, BINARY without its trailing zero bytes (which come back when it is read).

use std::sync::Arc;

use bytes::Bytes;

use crate::charset::Charset;
use crate::column_type::ColumnType;
use crate::decimal::{self, Decimal};
use crate::schema::ColumnDef;
use crate::temporal::binary as time;
use crate::value::Value;

/// The length of a JSON column's value is as long as a LONGBLOB's.
const JSON_LENGTH_BYTES: usize = 4;

/// How one column's values lie in a row image.
#[derive(Clone, Debug)]
pub(crate) enum Codec {
    Int {
        width: u8,
        unsigned: bool,
    },
    Float,
    Double,
    Decimal {
        precision: u8,
        scale: u8,
    },
    /// Text; `trim` for CHAR.
    Str {
        length_bytes: u8,
        charset: Charset,
        max_bytes: u32,
        trim: bool,
    },
    /// A binary string; `fixed` is BINARY's length.
    Bytes {
        length_bytes: u8,
        max_bytes: u32,
        fixed: Option<u32>,
    },
    Date,
    Time {
        fsp: u8,
    },
    DateTime {
        fsp: u8,
    },
    Timestamp {
        fsp: u8,
    },
    Year,
    Bit {
        bits: u8,
    },
    Enum {
        members: Arc<[String]>,
        width: u8,
    },
    Set {
        members: Arc<[String]>,
        width: u8,
    },
    /// The binary form of a document, behind its length in 4 bytes.
    Json,
}

impl Codec {
    pub(crate) fn new(column: &ColumnDef) -> Codec {
        let max_bytes = column.max_bytes();
        let short = if max_bytes > 255 { 2 } else { 1 };
        let charset = column.collation.charset();
        let width = column.ty.pack_length().unwrap_or(0) as u8;
        match column.ty.clone() {
            ColumnType::Float { .. } => Codec::Float,
            ColumnType::Double { .. } => Codec::Double,
            ColumnType::Decimal { precision, scale, .. } => Codec::Decimal { precision, scale },
            ColumnType::Char { .. } => Codec::Str { length_bytes: short, charset, max_bytes, trim: true },
            ColumnType::VarChar { .. } => Codec::Str { length_bytes: short, charset, max_bytes, trim: false },
            ColumnType::Text { size } => {
                Codec::Str { length_bytes: size.length_bytes() as u8, charset, max_bytes, trim: false }
            }
            ColumnType::Binary { bytes } => Codec::Bytes { length_bytes: short, max_bytes, fixed: Some(bytes) },
            ColumnType::VarBinary { .. } => Codec::Bytes { length_bytes: short, max_bytes, fixed: None },
            ColumnType::Blob { size } => {
                Codec::Bytes { length_bytes: size.length_bytes() as u8, max_bytes, fixed: None }
            }
            ColumnType::Date => Codec::Date,
            ColumnType::Time { fsp } => Codec::Time { fsp },
            ColumnType::DateTime { fsp } => Codec::DateTime { fsp },
            ColumnType::Timestamp { fsp } => Codec::Timestamp { fsp },
            ColumnType::Year => Codec::Year,
            ColumnType::Bit { bits } => Codec::Bit { bits },
            ColumnType::Enum { members } => Codec::Enum { members, width },
            ColumnType::Set { members } => Codec::Set { members, width },
            ColumnType::Json => Codec::Json,
            integer => {
                let (width, unsigned) = integer.integer().unwrap_or((8, false));
                Codec::Int { width: width as u8, unsigned }
            }
        }
    }

    /// The size of every value, if they all have the same.
    pub(crate) fn fixed_size(&self) -> Option<usize> {
        Some(match self {
            Codec::Int { width, .. } => *width as usize,
            Codec::Float => 4,
            Codec::Double => 8,
            Codec::Decimal { precision, scale } => decimal::binary::size(*precision, *scale),
            Codec::Date => 3,
            Codec::Time { fsp } => 3 + time::fraction_bytes(*fsp),
            Codec::DateTime { fsp } => 5 + time::fraction_bytes(*fsp),
            Codec::Timestamp { fsp } => 4 + time::fraction_bytes(*fsp),
            Codec::Year => 1,
            Codec::Bit { bits } => bits.div_ceil(8) as usize,
            Codec::Enum { width, .. } | Codec::Set { width, .. } => *width as usize,
            Codec::Str { .. } | Codec::Bytes { .. } | Codec::Json => return None,
        })
    }

    /// The size of the value at the beginning of `bytes`, with its length prefix. `None` if it ends before.
    pub(crate) fn size_at(&self, bytes: &[u8]) -> Option<usize> {
        let size = match self {
            Codec::Str { length_bytes, .. } | Codec::Bytes { length_bytes, .. } => {
                let prefix = *length_bytes as usize;
                prefix + read_le(bytes.get(..prefix)?) as usize
            }
            Codec::Json => JSON_LENGTH_BYTES + read_le(bytes.get(..JSON_LENGTH_BYTES)?) as usize,
            other => other.fixed_size()?,
        };
        (size <= bytes.len()).then_some(size)
    }

    /// The content of a string's bytes: without the length prefix.
    pub(crate) fn content<'a>(&self, value: &'a [u8]) -> &'a [u8] {
        match self {
            Codec::Str { length_bytes, .. } | Codec::Bytes { length_bytes, .. } => &value[*length_bytes as usize..],
            Codec::Json => &value[JSON_LENGTH_BYTES..],
            _ => value,
        }
    }

    /// Appends a value. `None` if it is not one of this column's.
    pub(crate) fn encode(&self, value: &Value, out: &mut Vec<u8>) -> Option<()> {
        match (self, value) {
            (Codec::Int { width, unsigned: false }, Value::Int(n)) => push_signed(*n, *width, out),
            (Codec::Int { width, unsigned: true }, Value::UInt(n)) => push_unsigned(*n, *width, out),
            (Codec::Float, Value::Float(n)) => put(&n.to_le_bytes(), out),
            (Codec::Double, Value::Double(n)) => put(&n.to_le_bytes(), out),
            (Codec::Decimal { precision, scale }, Value::Decimal(n)) => n.write_binary(*precision, *scale, out),
            (Codec::Str { length_bytes, charset, max_bytes, trim }, Value::Str(text)) => {
                let text = if *trim { trim_end(text, b' ') } else { text };
                push_string(&charset.encode(text)?, *length_bytes, *max_bytes, out)
            }
            (Codec::Bytes { length_bytes, max_bytes, fixed }, Value::Bytes(bytes)) => {
                let content = if fixed.is_some() { trim_end(bytes, 0) } else { bytes };
                push_string(content, *length_bytes, *max_bytes, out)
            }
            (Codec::Date, Value::Date(date)) => {
                time::write_date(*date, out);
                Some(())
            }
            (Codec::Time { fsp }, Value::Time(span)) => {
                time::write_time(*span, *fsp, out);
                Some(())
            }
            (Codec::DateTime { fsp }, Value::DateTime(datetime)) => {
                time::write_datetime(*datetime, *fsp, out);
                Some(())
            }
            (Codec::Timestamp { fsp }, Value::DateTime(utc)) => time::write_timestamp(*utc, *fsp, out),
            (Codec::Year, Value::UInt(year)) => put(&[year_byte(*year)?], out),
            (Codec::Bit { bits }, Value::UInt(n)) => {
                (*bits == 64 || n >> bits == 0).then_some(())?;
                put(&n.to_be_bytes()[8 - bits.div_ceil(8) as usize..], out)
            }
            (Codec::Enum { members, width }, Value::Str(text)) => {
                push_unsigned(enum_number(members, text)?, *width, out)
            }
            (Codec::Enum { width, .. }, Value::Bytes(text)) if text.is_empty() => push_unsigned(0, *width, out),
            (Codec::Set { members, width }, Value::Str(text)) => push_unsigned(set_number(members, text)?, *width, out),
            (Codec::Json, Value::Json(binary)) => push_string(binary, JSON_LENGTH_BYTES as u8, u32::MAX, out),
            _ => None,
        }
    }

    /// The value of these bytes (with their length prefix), which are `value_at` in `row`. `None` if it is an impossible one.
    pub(crate) fn decode(&self, row: &Bytes, value: std::ops::Range<usize>) -> Option<Value> {
        let bytes = &row[value.clone()];
        Some(match self {
            Codec::Int { unsigned: false, .. } => Value::Int(read_signed(bytes)),
            Codec::Int { .. } => Value::UInt(read_le(bytes)),
            Codec::Float => Value::Float(f32::from_le_bytes(bytes.try_into().ok()?)),
            Codec::Double => Value::Double(f64::from_le_bytes(bytes.try_into().ok()?)),
            Codec::Decimal { precision, scale } => Value::Decimal(Decimal::read_binary(bytes, *precision, *scale)?),
            Codec::Str { length_bytes, charset, .. } => {
                let content = &bytes[*length_bytes as usize..];
                Value::Str(match charset {
                    Charset::Single(_) if !content.is_ascii() => charset.decode(content).into_owned().into(),
                    _ => row.slice(value.start + *length_bytes as usize..value.end),
                })
            }
            Codec::Bytes { length_bytes, fixed, .. } => {
                let content = row.slice(value.start + *length_bytes as usize..value.end);
                Value::Bytes(match fixed {
                    Some(length) if content.len() < *length as usize => {
                        let mut padded = content.to_vec();
                        padded.resize(*length as usize, 0);
                        padded.into()
                    }
                    _ => content,
                })
            }
            Codec::Date => Value::Date(time::read_date(bytes)?),
            Codec::Time { .. } => Value::Time(time::read_time(bytes)?),
            Codec::DateTime { .. } => Value::DateTime(time::read_datetime(bytes)?),
            Codec::Timestamp { .. } => Value::DateTime(time::read_timestamp(bytes)?),
            Codec::Year => Value::UInt(year_of(bytes)),
            Codec::Bit { .. } => Value::UInt(time::read_big_endian(bytes)),
            Codec::Enum { members, .. } => match read_le(bytes) {
                0 => no_member(members),
                n => Value::Str(Bytes::copy_from_slice(members.get(n as usize - 1)?.as_bytes())),
            },
            Codec::Set { members, .. } => Value::Str(set_text(members, read_le(bytes))?.into()),
            Codec::Json => Value::Json(row.slice(value.start + JSON_LENGTH_BYTES..value.end)),
        })
    }
}

fn put(bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
    out.extend_from_slice(bytes);
    Some(())
}

fn push_signed(n: i64, width: u8, out: &mut Vec<u8>) -> Option<()> {
    let unused = 64 - 8 * width as u32;
    (n << unused >> unused == n).then_some(())?;
    put(&n.to_le_bytes()[..width as usize], out)
}

fn push_unsigned(n: u64, width: u8, out: &mut Vec<u8>) -> Option<()> {
    let unused = 64 - 8 * width as u32;
    (n << unused >> unused == n).then_some(())?;
    put(&n.to_le_bytes()[..width as usize], out)
}

fn push_string(content: &[u8], length_bytes: u8, max_bytes: u32, out: &mut Vec<u8>) -> Option<()> {
    (content.len() <= max_bytes as usize).then_some(())?;
    out.extend_from_slice(&(content.len() as u32).to_le_bytes()[..length_bytes as usize]);
    put(content, out)
}

/// The year of a byte.
pub(crate) fn year_of(bytes: &[u8]) -> u64 {
    if bytes[0] == 0 { 0 } else { 1900 + u64::from(bytes[0]) }
}

fn year_byte(year: u64) -> Option<u8> {
    match year {
        0 => Some(0),
        1901..=2155 => Some((year - 1900) as u8),
        _ => None,
    }
}

/// A little-endian number of at most 8 bytes.
pub(crate) fn read_le(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |n, &byte| n << 8 | byte as u64)
}

/// The same with a sign, as long as `bytes`.
pub(crate) fn read_signed(bytes: &[u8]) -> i64 {
    let unused = 64 - 8 * bytes.len() as u32;
    (read_le(bytes) << unused) as i64 >> unused
}

pub(crate) fn trim_end(bytes: &[u8], pad: u8) -> &[u8] {
    let kept = bytes.iter().rposition(|&byte| byte != pad).map_or(0, |last| last + 1);
    &bytes[..kept]
}

/// The place of an ENUM's member, from 1; 0 for the error value `''` unless that is a member.
pub fn enum_number(members: &[String], text: &[u8]) -> Option<u64> {
    match members.iter().position(|member| member.as_bytes() == text) {
        Some(at) => Some(at as u64 + 1),
        None => text.is_empty().then_some(0),
    }
}

/// The number of an ENUM's value (the place of its member) or a SET's (its bits); NULL is NULL. `None` for a column of another type.
pub fn choice_number(ty: &ColumnType, value: &Value) -> Option<Value> {
    let number = match (ty, value) {
        (ColumnType::Enum { .. } | ColumnType::Set { .. }, Value::Null) => return Some(Value::Null),
        (ColumnType::Enum { members }, value) if is_no_member(members, value) => Some(0),
        (ColumnType::Enum { members }, Value::Str(text)) => enum_number(members, text),
        (ColumnType::Set { members }, Value::Str(text)) => set_number(members, text),
        _ => return None,
    };
    Some(Value::UInt(number.unwrap_or(0)))
}

/// The value of an ENUM that is no member of it: an empty text, or where that is a member an empty binary string, so that the two are not
/// taken for one another.
pub fn no_member(members: &[String]) -> Value {
    if members.iter().any(String::is_empty) { Value::Bytes(Bytes::new()) } else { Value::Str(Bytes::new()) }
}

/// Whether a value of an ENUM with these members is none of them.
pub fn is_no_member(members: &[String], value: &Value) -> bool {
    match value {
        Value::Bytes(text) => text.is_empty(),
        Value::Str(text) => text.is_empty() && !members.iter().any(String::is_empty),
        _ => false,
    }
}

/// The bits of a SET's text.
pub fn set_number(members: &[String], text: &[u8]) -> Option<u64> {
    if text.is_empty() {
        return Some(0);
    }
    let bit = |part: &[u8]| members.iter().position(|member| member.as_bytes() == part).map(|at| 1 << at);
    text.split(|&byte| byte == b',').try_fold(0, |bits, part| Some(bits | bit(part)?))
}

/// The text of a SET's bits; `None` if there is a bit without a member.
pub fn set_text(members: &[String], bits: u64) -> Option<String> {
    (members.len() >= 64 || bits >> members.len() == 0).then_some(())?;
    let chosen = members.iter().enumerate().filter(|(at, _)| bits >> at & 1 == 1);
    Some(chosen.map(|(_, member)| member.as_str()).collect::<Vec<_>>().join(","))
}
