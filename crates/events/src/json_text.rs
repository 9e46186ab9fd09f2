//! MySQL's binary form of JSON documents, as the text that MySQL makes of it.
//!
//! ```text
//! document   | type u8 | value |
//! object     | count | size | (key offset, key length u16)* | (type u8, value or its offset)* | keys | values |
//! array      | count | size | (type u8, value or its offset)* | values |
//! string     | length varint, seven bits a byte, lowest first | UTF-8 |
//! opaque     | MySQL's type u8 | length varint | bytes |
//! ```
//! Counts, sizes and offsets have two bytes in the small forms and four in the large ones; offsets count from the object or array
//! itself. Literals and numbers that have room in the place of an offset are there.

use std::fmt::Write as _;

use binlog::event::column_type;
use types::temporal::MICROS_PER_SECOND;
use types::{Date, DateTime, Decimal, Time};

use crate::error::EventError;

/// As deep as MySQL lets a document be.
const DEPTH_MAX: usize = 100;
/// A document's text is at most so many times as long as its bytes: `null` of three bytes, doubles and escapes take less. Offsets that
/// share what they point to could make it longer without end.
const GROWTH_MAX: usize = 32;

/// The text of a document.
///
/// # Errors
/// If the bytes are none.
pub fn json_text(bytes: &[u8]) -> Result<String, EventError> {
    let mut out = String::new();
    // An UPDATE IGNORE and the like leave no bytes, which MySQL reads as null.
    let Some((&kind, rest)) = bytes.split_first() else { return Ok("null".to_owned()) };
    let mut writer = Writer { out: &mut out, size_max: bytes.len() * GROWTH_MAX + 64 };
    writer.value(kind, rest, 0).ok_or_else(|| EventError::malformed("a JSON document that is none"))?;
    Ok(out)
}

struct Writer<'o> {
    out: &'o mut String,
    size_max: usize,
}

impl Writer<'_> {
    /// A value whose bytes begin at the front of `bytes`; `None` if it is none.
    fn value(&mut self, kind: u8, bytes: &[u8], depth: usize) -> Option<()> {
        if depth > DEPTH_MAX || self.out.len() > self.size_max {
            return None;
        }
        match kind {
            0 | 1 => self.container(bytes, kind == 1, true, depth)?,
            2 | 3 => self.container(bytes, kind == 3, false, depth)?,
            4 => self.out.push_str(match bytes.first()? {
                0 => "null",
                1 => "true",
                2 => "false",
                _ => return None,
            }),
            5 => self.show(i16::from_le_bytes(*bytes.first_chunk()?)),
            6 => self.show(u16::from_le_bytes(*bytes.first_chunk()?)),
            7 => self.show(i32::from_le_bytes(*bytes.first_chunk()?)),
            8 => self.show(u32::from_le_bytes(*bytes.first_chunk()?)),
            9 => self.show(i64::from_le_bytes(*bytes.first_chunk()?)),
            10 => self.show(u64::from_le_bytes(*bytes.first_chunk()?)),
            11 => {
                let number = f64::from_le_bytes(*bytes.first_chunk()?);
                if !number.is_finite() {
                    return None;
                }
                // With a point or an exponent, so that it stays one.
                let _ = write!(self.out, "{number:?}");
            }
            12 => {
                let (len, rest) = varint(bytes)?;
                self.string(std::str::from_utf8(rest.get(..len)?).ok()?);
            }
            15 => {
                let (&kind, rest) = bytes.split_first()?;
                let (len, rest) = varint(rest)?;
                self.opaque(kind, rest.get(..len)?)?;
            }
            _ => return None,
        }
        Some(())
    }

    fn show(&mut self, number: impl std::fmt::Display) {
        let _ = write!(self.out, "{number}");
    }

    fn string(&mut self, text: &str) {
        put_json_string(self.out, text);
    }

    fn container(&mut self, bytes: &[u8], is_large: bool, is_object: bool, depth: usize) -> Option<()> {
        let width = if is_large { 4 } else { 2 };
        let number = |at: usize| -> Option<usize> {
            let bytes = bytes.get(at..at.checked_add(width)?)?;
            Some(bytes.iter().rev().fold(0, |value, &byte| value << 8 | usize::from(byte)))
        };
        let count = number(0)?;
        let keys_at = 2 * width;
        let values_at = keys_at + if is_object { count.checked_mul(width + 2)? } else { 0 };
        // Each entry takes room, so a count cannot claim what is not there.
        bytes.get(..values_at.checked_add(count.checked_mul(width + 1)?)?)?;
        self.out.push(if is_object { '{' } else { '[' });
        for i in 0..count {
            if i > 0 {
                self.out.push_str(", ");
            }
            if is_object {
                let entry = keys_at + i * (width + 2);
                let len: [u8; 2] = *bytes.get(entry + width..)?.first_chunk()?;
                let key = bytes.get(number(entry)?..)?.get(..usize::from(u16::from_le_bytes(len)))?;
                self.string(std::str::from_utf8(key).ok()?);
                self.out.push_str(": ");
            }
            let entry = values_at + i * (width + 1);
            let kind = *bytes.get(entry)?;
            let is_inline = matches!(kind, 4..=6) || is_large && matches!(kind, 7 | 8);
            let at = if is_inline { entry + 1 } else { number(entry + 1)? };
            self.value(kind, bytes.get(at..)?, depth + 1)?;
        }
        self.out.push(if is_object { '}' } else { ']' });
        Some(())
    }

    /// What is of a type that JSON does not have.
    fn opaque(&mut self, kind: u8, bytes: &[u8]) -> Option<()> {
        use column_type::*;
        let mut text = Vec::new();
        match kind {
            NEWDECIMAL => {
                let [precision, scale, digits @ ..] = bytes else { return None };
                if scale > precision || *precision > types::decimal::MAX_PRECISION {
                    return None;
                }
                let decimal = Decimal::read_binary(digits, *precision, *scale)?;
                let _ = write!(self.out, "{decimal}");
                return Some(());
            }
            DATE | DATETIME | TIMESTAMP => {
                let packed = i64::from_le_bytes(*bytes.first_chunk()?);
                let datetime = packed_datetime(packed)?;
                if kind == DATE { datetime.date.write_text(&mut text) } else { datetime.write_text(6, &mut text) }
            }
            TIME => packed_time(i64::from_le_bytes(*bytes.first_chunk()?))?.write_text(6, &mut text),
            _ => {
                let base64 = base64(bytes);
                let _ = write!(self.out, "\"base64:type{kind}:{base64}\"");
                return Some(());
            }
        }
        let text = String::from_utf8(text).ok()?;
        self.string(&text);
        Some(())
    }
}

/// `year * 13 + month` 17 bits, day 5, hour 5, minute 6, second 6, microseconds 24.
fn packed_datetime(packed: i64) -> Option<DateTime> {
    let packed = u64::try_from(packed).ok()?;
    let (whole, micros) = (packed >> 24, (packed & 0xff_ffff) as u32);
    let month = whole >> 22;
    let date = Date::new(u16::try_from(month / 13).ok()?, (month % 13) as u8, (whole >> 17 & 31) as u8);
    let (hour, minute, second) = ((whole >> 12 & 31) as u8, (whole >> 6 & 63) as u8, (whole & 63) as u8);
    let is_one = date.year <= 9999 && hour < 24 && minute < 60 && second < 60 && i64::from(micros) < MICROS_PER_SECOND;
    is_one.then(|| DateTime::new(date, hour, minute, second, micros))
}

fn packed_time(packed: i64) -> Option<Time> {
    let magnitude = packed.unsigned_abs();
    let (whole, micros) = (magnitude >> 24, (magnitude & 0xff_ffff) as u32);
    let (hours, minutes, seconds) = ((whole >> 12 & 0x3ff) as u32, (whole >> 6 & 63) as u32, (whole & 63) as u32);
    let is_one = minutes < 60 && seconds < 60 && i64::from(micros) < MICROS_PER_SECOND;
    is_one.then(|| Time::from_parts(packed < 0, hours, minutes, seconds, micros))
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

/// Appends a JSON string.
pub(crate) fn put_json_string(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\0'..='\x1f' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

/// RFC 4648, with padding.
pub(crate) fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let bits = group.iter().enumerate().fold(0u32, |bits, (i, &byte)| bits | u32::from(byte) << (16 - 8 * i));
        for place in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * place) & 63) as usize];
            out.push(if place <= group.len() { char::from(digit) } else { '=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_of_any_length() {
        let texts = ["", "f", "fo", "foo", "foob", "fooba", "foobar"].map(|text| base64(text.as_bytes()));
        assert_eq!(texts, ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"]);
    }

    /// `{"a": [1, true, "x"], "b": -1.5}` as MySQL 9.7 stores it.
    #[test]
    fn a_document() {
        let array = [&[3, 0, 15, 0, 5, 1, 0, 4, 1, 0, 12, 13, 0][..], b"\x01x"].concat();
        let double = (-1.5f64).to_le_bytes();
        let array_at = 4 + 2 * 4 + 2 * 3 + 2;
        let mut object = vec![2, 0, 0, 0, 18, 0, 1, 0, 19, 0, 1, 0, 2, array_at as u8, 0, 11];
        object.extend_from_slice(&[(array_at + array.len()) as u8, 0]);
        object.extend_from_slice(b"ab");
        object.extend_from_slice(&array);
        object.extend_from_slice(&double);
        let document = [&[0][..], &object].concat();
        assert_eq!(json_text(&document).unwrap(), r#"{"a": [1, true, "x"], "b": -1.5}"#);
        for cut in 1..document.len() {
            assert!(json_text(&document[..cut]).is_err(), "{cut}");
        }
        assert_eq!(json_text(&[]).unwrap(), "null");
    }

    /// An array whose values are all the array itself.
    #[test]
    fn what_points_to_itself_ends() {
        let mut bytes = vec![2, 60, 0, 0, 0];
        (0..60).for_each(|_| bytes.extend_from_slice(&[2, 0, 0]));
        assert!(json_text(&bytes).is_err());
    }
}
