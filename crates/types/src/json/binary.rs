//! MySQL's binary form: what a JSON column holds in row images.
//!
//! ```text
//! document   | type u8 | value |
//! object     | count | size | (key offset, key length u16)* | (type u8, value or its offset)* | keys | values |
//! array      | count | size | (type u8, value or its offset)* | values |
//! string     | length varint, seven bits a byte, lowest first | UTF-8 |
//! opaque     | MySQL's type u8 | length varint | bytes |
//! ```
//! Counts, sizes and offsets have two bytes in the small forms and four in the large ones; offsets count from the object or array
//! itself. Literals and numbers that have room in the place of an offset are there. A small container holds no large one.

use super::{DEPTH_MAX, Json, JsonError, Object};
use crate::binlog_meta::type_code;
use crate::decimal::{self, Decimal};
use crate::temporal::{Date, DateTime, MICROS_PER_SECOND, Time};

const SMALL_OBJECT: u8 = 0;
const LARGE_OBJECT: u8 = 1;
const SMALL_ARRAY: u8 = 2;
const LARGE_ARRAY: u8 = 3;
const LITERAL: u8 = 4;
const INT16: u8 = 5;
const UINT16: u8 = 6;
const INT32: u8 = 7;
const UINT32: u8 = 8;
const INT64: u8 = 9;
const UINT64: u8 = 10;
const DOUBLE: u8 = 11;
const STRING: u8 = 12;
const OPAQUE: u8 = 15;

/// A document decoded is at most so many values times its bytes; offsets that share what they point to could make more without end.
const GROWTH_MAX: usize = 8;

/// The bytes of a document.
///
/// # Errors
/// If it is too deep or too long, or has a key of more than 65535 bytes.
pub fn encode(json: &Json) -> Result<Vec<u8>, JsonError> {
    let mut out = vec![0];
    put_value(json, 0, false, 0, &mut out).map_err(|refused| match refused {
        // Without a small container around it, a large one takes what it can.
        Refused::NoRoom => JsonError::TooLong,
        Refused::Never(error) => error,
    })?;
    Ok(out)
}

/// Why a value was not written.
enum Refused {
    /// Offsets of two bytes do not reach.
    NoRoom,
    Never(JsonError),
}

fn put_value(json: &Json, type_at: usize, small_parent: bool, depth: usize, out: &mut Vec<u8>) -> Result<(), Refused> {
    let (small, large) = match json {
        Json::Array(_) => (SMALL_ARRAY, LARGE_ARRAY),
        Json::Object(_) => (SMALL_OBJECT, LARGE_OBJECT),
        scalar => {
            out[type_at] = put_scalar(scalar, out);
            return Ok(());
        }
    };
    if depth >= DEPTH_MAX {
        return Err(Refused::Never(JsonError::TooDeep));
    }
    let start = out.len();
    out[type_at] = small;
    match put_container(json, false, depth + 1, out) {
        Err(Refused::NoRoom) if !small_parent => {
            out.truncate(start);
            out[type_at] = large;
            put_container(json, true, depth + 1, out)
        }
        result => result,
    }
}

fn width(is_large: bool) -> usize {
    if is_large { 4 } else { 2 }
}

/// Writes a count, size or offset in its place.
fn put_number(n: usize, at: usize, is_large: bool, out: &mut [u8]) -> Result<(), Refused> {
    let max = if is_large { u32::MAX as usize } else { usize::from(u16::MAX) };
    if n > max {
        return Err(Refused::NoRoom);
    }
    out[at..at + width(is_large)].copy_from_slice(&(n as u32).to_le_bytes()[..width(is_large)]);
    Ok(())
}

fn put_container(json: &Json, is_large: bool, depth: usize, out: &mut Vec<u8>) -> Result<(), Refused> {
    let (start, width, count) = (out.len(), width(is_large), json.length());
    let keys_at = start + 2 * width;
    let values_at = keys_at + if let Json::Object(_) = json { count * (width + 2) } else { 0 };
    if !is_large && count > usize::from(u16::MAX) {
        return Err(Refused::NoRoom);
    }
    out.resize(values_at + count * (width + 1), 0);
    put_number(count, start, is_large, out)?;
    match json {
        Json::Object(object) => {
            for (number, (key, _)) in object.iter().enumerate() {
                let entry = keys_at + number * (width + 2);
                let length = u16::try_from(key.len()).map_err(|_| Refused::Never(JsonError::KeyTooLong))?;
                put_number(out.len() - start, entry, is_large, out)?;
                out[entry + width..entry + width + 2].copy_from_slice(&length.to_le_bytes());
                out.extend_from_slice(key.as_bytes());
            }
            for (number, (_, value)) in object.iter().enumerate() {
                put_entry(value, start, values_at + number * (width + 1), is_large, depth, out)?;
            }
        }
        Json::Array(elements) => {
            for (number, value) in elements.iter().enumerate() {
                put_entry(value, start, values_at + number * (width + 1), is_large, depth, out)?;
            }
        }
        _ => {}
    }
    put_number(out.len() - start, start + width, is_large, out)
}

/// One value: in its entry if there is room, otherwise at the end, with its offset in the entry.
fn put_entry(
    value: &Json,
    start: usize,
    entry: usize,
    is_large: bool,
    depth: usize,
    out: &mut Vec<u8>,
) -> Result<(), Refused> {
    if let Some((kind, inlined)) = inline(value, is_large) {
        out[entry] = kind;
        out[entry + 1..entry + 1 + width(is_large)].copy_from_slice(&inlined[..width(is_large)]);
        return Ok(());
    }
    put_number(out.len() - start, entry + 1, is_large, out)?;
    put_value(value, entry, !is_large, depth, out)
}

/// A value that has room in the place of an offset.
fn inline(value: &Json, is_large: bool) -> Option<(u8, [u8; 4])> {
    Some(match value {
        Json::Null => (LITERAL, [0; 4]),
        Json::Bool(truth) => (LITERAL, [if *truth { 1 } else { 2 }, 0, 0, 0]),
        Json::Int(n) => match (i16::try_from(*n), i32::try_from(*n)) {
            (Ok(n), _) => (INT16, i32::from(n).to_le_bytes()),
            (_, Ok(n)) if is_large => (INT32, n.to_le_bytes()),
            _ => return None,
        },
        Json::UInt(n) => match (u16::try_from(*n), u32::try_from(*n)) {
            (Ok(n), _) => (UINT16, u32::from(n).to_le_bytes()),
            (_, Ok(n)) if is_large => (UINT32, n.to_le_bytes()),
            _ => return None,
        },
        _ => return None,
    })
}

fn put_scalar(json: &Json, out: &mut Vec<u8>) -> u8 {
    let mut number = |kind: u8, bytes: &[u8]| {
        out.extend_from_slice(bytes);
        kind
    };
    match json {
        Json::Bool(truth) => number(LITERAL, &[if *truth { 1 } else { 2 }]),
        Json::Int(n) => match (i16::try_from(*n), i32::try_from(*n)) {
            (Ok(n), _) => number(INT16, &n.to_le_bytes()),
            (_, Ok(n)) => number(INT32, &n.to_le_bytes()),
            _ => number(INT64, &n.to_le_bytes()),
        },
        Json::UInt(n) => match (u16::try_from(*n), u32::try_from(*n)) {
            (Ok(n), _) => number(UINT16, &n.to_le_bytes()),
            (_, Ok(n)) => number(UINT32, &n.to_le_bytes()),
            _ => number(UINT64, &n.to_le_bytes()),
        },
        Json::Double(n) => number(DOUBLE, &n.to_le_bytes()),
        Json::String(text) => {
            put_varint(text.len(), out);
            out.extend_from_slice(text.as_bytes());
            STRING
        }
        Json::Decimal(n) => put_opaque(type_code::NEWDECIMAL, &decimal_bytes(n), out),
        Json::Date(date) => put_opaque(type_code::DATE, &pack_datetime(date.at_midnight()).to_le_bytes(), out),
        Json::Time(time) => put_opaque(type_code::TIME, &pack_time(*time).to_le_bytes(), out),
        Json::DateTime(datetime) => put_opaque(type_code::DATETIME, &pack_datetime(*datetime).to_le_bytes(), out),
        Json::Timestamp(datetime) => put_opaque(type_code::TIMESTAMP, &pack_datetime(*datetime).to_le_bytes(), out),
        Json::Opaque(code, bytes) => put_opaque(*code, bytes, out),
        // Containers do not come here.
        Json::Null | Json::Array(_) | Json::Object(_) => number(LITERAL, &[0]),
    }
}

fn put_opaque(code: u8, bytes: &[u8], out: &mut Vec<u8>) -> u8 {
    out.push(code);
    put_varint(bytes.len(), out);
    out.extend_from_slice(bytes);
    OPAQUE
}

fn put_varint(mut n: usize, out: &mut Vec<u8>) {
    while n > 0x7f {
        out.push(n as u8 | 0x80);
        n >>= 7;
    }
    out.push(n as u8);
}

/// Precision, scale and the digits. A zero in front of the point counts, as far as there is a digit more to be had.
fn decimal_bytes(n: &Decimal) -> Vec<u8> {
    let precision = (n.int_digits().max(1) + n.scale()).min(decimal::MAX_PRECISION);
    let mut bytes = vec![precision, n.scale()];
    let written = n.write_binary(precision, n.scale(), &mut bytes);
    debug_assert!(written.is_some(), "a decimal fits its own precision");
    bytes
}

/// `year * 13 + month` 17 bits, day 5, hour 5, minute 6, second 6, microseconds 24.
fn pack_datetime(value: DateTime) -> i64 {
    let date = i64::from(value.date.year) * 13 + i64::from(value.date.month);
    let day = date << 5 | i64::from(value.date.day);
    let clock = i64::from(value.hour) << 12 | i64::from(value.minute) << 6 | i64::from(value.second);
    (day << 17 | clock) << 24 | i64::from(value.micros)
}

fn pack_time(time: Time) -> i64 {
    let (is_negative, hours, minutes, seconds, micros) = time.parts();
    let clock = i64::from(hours) << 12 | i64::from(minutes) << 6 | i64::from(seconds);
    let packed = clock << 24 | i64::from(micros);
    if is_negative { -packed } else { packed }
}

fn unpack_datetime(packed: i64) -> Option<DateTime> {
    let packed = u64::try_from(packed).ok()?;
    let (whole, micros) = (packed >> 24, (packed & 0xff_ffff) as u32);
    let month = whole >> 22;
    let date = Date::new(u16::try_from(month / 13).ok()?, (month % 13) as u8, (whole >> 17 & 31) as u8);
    let (hour, minute, second) = ((whole >> 12 & 31) as u8, (whole >> 6 & 63) as u8, (whole & 63) as u8);
    let is_one = date.year <= 9999 && hour < 24 && minute < 60 && second < 60 && i64::from(micros) < MICROS_PER_SECOND;
    is_one.then(|| DateTime::new(date, hour, minute, second, micros))
}

fn unpack_time(packed: i64) -> Option<Time> {
    let magnitude = packed.unsigned_abs();
    let (whole, micros) = (magnitude >> 24, (magnitude & 0xff_ffff) as u32);
    let (hours, minutes, seconds) = ((whole >> 12 & 0x3ff) as u32, (whole >> 6 & 63) as u32, (whole & 63) as u32);
    let is_one = minutes < 60 && seconds < 60 && i64::from(micros) < MICROS_PER_SECOND;
    is_one.then(|| Time::from_parts(packed < 0, hours, minutes, seconds, micros))
}

/// The document of these bytes. None at all are `null`, as MySQL reads what an UPDATE IGNORE and the like left.
///
/// # Errors
/// If the bytes are none.
pub fn decode(bytes: &[u8]) -> Result<Json, JsonError> {
    let Some((&kind, rest)) = bytes.split_first() else { return Ok(Json::Null) };
    let mut reader = Reader { budget: bytes.len() * GROWTH_MAX + 64 };
    reader.value(kind, rest, 0).ok_or(JsonError::Damaged)
}

struct Reader {
    /// Bytes that the document may still take.
    budget: usize,
}

impl Reader {
    fn spend(&mut self, bytes: usize) -> Option<()> {
        self.budget = self.budget.checked_sub(bytes)?;
        Some(())
    }

    /// A value whose bytes begin at the front of `bytes`; `None` if it is none.
    fn value(&mut self, kind: u8, bytes: &[u8], depth: usize) -> Option<Json> {
        Some(match kind {
            SMALL_OBJECT | LARGE_OBJECT => self.container(bytes, kind == LARGE_OBJECT, true, depth)?,
            SMALL_ARRAY | LARGE_ARRAY => self.container(bytes, kind == LARGE_ARRAY, false, depth)?,
            LITERAL => match bytes.first()? {
                0 => Json::Null,
                1 => Json::Bool(true),
                2 => Json::Bool(false),
                _ => return None,
            },
            INT16 => Json::Int(i16::from_le_bytes(*bytes.first_chunk()?).into()),
            UINT16 => Json::UInt(u16::from_le_bytes(*bytes.first_chunk()?).into()),
            INT32 => Json::Int(i32::from_le_bytes(*bytes.first_chunk()?).into()),
            UINT32 => Json::UInt(u32::from_le_bytes(*bytes.first_chunk()?).into()),
            INT64 => Json::Int(i64::from_le_bytes(*bytes.first_chunk()?)),
            UINT64 => Json::UInt(u64::from_le_bytes(*bytes.first_chunk()?)),
            DOUBLE => Json::Double(Some(f64::from_le_bytes(*bytes.first_chunk()?)).filter(|n| n.is_finite())?),
            STRING => {
                let (length, rest) = varint(bytes)?;
                self.spend(length)?;
                Json::String(std::str::from_utf8(rest.get(..length)?).ok()?.to_owned())
            }
            OPAQUE => {
                let (&code, rest) = bytes.split_first()?;
                let (length, rest) = varint(rest)?;
                self.spend(length)?;
                opaque(code, rest.get(..length)?)?
            }
            _ => return None,
        })
    }

    fn container(&mut self, bytes: &[u8], is_large: bool, is_object: bool, depth: usize) -> Option<Json> {
        if depth >= DEPTH_MAX {
            return None;
        }
        let width = width(is_large);
        let number = |at: usize| -> Option<usize> {
            let bytes = bytes.get(at..at.checked_add(width)?)?;
            Some(bytes.iter().rev().fold(0, |value, &byte| value << 8 | usize::from(byte)))
        };
        let count = number(0)?;
        let keys_at = 2 * width;
        let values_at = keys_at + if is_object { count.checked_mul(width + 2)? } else { 0 };
        // Each entry takes room, so a count cannot claim what is not there.
        bytes.get(..values_at.checked_add(count.checked_mul(width + 1)?)?)?;
        self.spend(count)?;
        let mut members = Vec::with_capacity(if is_object { count } else { 0 });
        let mut elements = Vec::with_capacity(if is_object { 0 } else { count });
        for i in 0..count {
            let entry = values_at + i * (width + 1);
            let kind = *bytes.get(entry)?;
            let is_inline = matches!(kind, LITERAL..=UINT16) || is_large && matches!(kind, INT32 | UINT32);
            let at = if is_inline { entry + 1 } else { number(entry + 1)? };
            let value = self.value(kind, bytes.get(at..)?, depth + 1)?;
            if is_object {
                let entry = keys_at + i * (width + 2);
                let length = usize::from(u16::from_le_bytes(*bytes.get(entry + width..)?.first_chunk()?));
                self.spend(length)?;
                let key = bytes.get(number(entry)?..)?.get(..length)?;
                members.push((std::str::from_utf8(key).ok()?.to_owned(), value));
            } else {
                elements.push(value);
            }
        }
        Some(if is_object { Json::Object(Object::from_members(members)) } else { Json::Array(elements) })
    }
}

/// What is of a type that JSON does not have.
fn opaque(code: u8, bytes: &[u8]) -> Option<Json> {
    let packed = || Some(i64::from_le_bytes(*bytes.first_chunk()?));
    Some(match code {
        type_code::NEWDECIMAL => {
            let [precision, scale, digits @ ..] = bytes else { return None };
            if scale > precision || *precision > decimal::MAX_PRECISION || *scale > decimal::MAX_SCALE {
                return None;
            }
            (digits.len() == decimal::binary::size(*precision, *scale)).then_some(())?;
            Json::Decimal(Decimal::read_binary(digits, *precision, *scale)?)
        }
        type_code::DATE => Json::Date(unpack_datetime(packed()?)?.date),
        type_code::DATETIME => Json::DateTime(unpack_datetime(packed()?)?),
        type_code::TIMESTAMP => Json::Timestamp(unpack_datetime(packed()?)?),
        type_code::TIME => Json::Time(unpack_time(packed()?)?),
        _ => Json::Opaque(code, bytes.to_vec()),
    })
}

/// Seven bits a byte, the lowest first; the highest bit says that more follow.
fn varint(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let mut value = 0;
    for (i, &byte) in bytes.iter().enumerate().take(5) {
        value |= u64::from(byte & 0x7f) << (7 * i);
        if byte & 0x80 == 0 {
            return Some((usize::try_from(value).ok()?, &bytes[i + 1..]));
        }
    }
    None
}
