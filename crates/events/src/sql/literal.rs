//! Identifiers and literals, for `OUR_SETTINGS`: UTF-8, backslashes escape, times are in UTC.

use binlog::event::{JsonDiff, column_type};

use crate::charset::text_of;
use crate::columns::Described;
use crate::error::EventError;
use crate::json_text::json_text;
use crate::value::Value;

/// The most that a compressed value may take.
const INFLATED_SIZE_MAX: usize = 1 << 30;

/// What a literal is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// A column takes it.
    Assigned,
    /// A column is compared with it.
    Compared,
}

/// In backquotes.
pub(super) fn put_identifier(out: &mut Vec<u8>, name: &str) {
    out.push(b'`');
    out.extend_from_slice(name.replace('`', "``").as_bytes());
    out.push(b'`');
}

pub(super) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]).map(|digit| char::from(DIGITS[usize::from(digit)])).collect()
}

pub(super) fn put_literal(
    out: &mut Vec<u8>,
    table: &Described,
    column: usize,
    value: Option<Value<'_>>,
    place: Place,
) -> Result<(), EventError> {
    let Some(value) = value else {
        out.extend_from_slice(b"NULL");
        return Ok(());
    };
    match table.signed(column, value) {
        Value::Int(number) => out.extend_from_slice(number.to_string().as_bytes()),
        // The value of what was no member.
        Value::UInt(0) if table.real_type(column) == column_type::ENUM => out.extend_from_slice(b"''"),
        Value::UInt(number) => out.extend_from_slice(number.to_string().as_bytes()),
        // With all of its digits as a double, because it is compared as one; stored it is itself again.
        Value::Float(number) => out.extend_from_slice(format!("{:?}", f64::from(number)).as_bytes()),
        Value::Double(number) => out.extend_from_slice(format!("{number:?}").as_bytes()),
        Value::Bytes(bytes) => put_bytes(out, table, column, bytes, place),
        Value::Compressed(stored) => put_bytes(out, table, column, &Value::inflate(stored, INFLATED_SIZE_MAX)?, place),
        Value::Json(binary) => {
            let is_compared = place == Place::Compared;
            out.extend_from_slice(if is_compared { b"CAST(" } else { b"" });
            put_quoted(out, &json_text(binary)?);
            out.extend_from_slice(if is_compared { b" AS JSON)" } else { b"" });
        }
        Value::JsonDiffs(bytes) => put_diffs(out, &table.name(column), bytes)?,
        Value::Decimal(decimal) => out.extend_from_slice(decimal.to_string().as_bytes()),
        other => {
            out.push(b'\'');
            out.extend_from_slice(other.text().unwrap_or_default().as_bytes());
            out.push(b'\'');
        }
    }
    Ok(())
}

/// Text in quotes where it is UTF-8 in the column too; anything else by its bytes, with the character set in front of it.
fn put_bytes(out: &mut Vec<u8>, table: &Described, column: usize, bytes: &[u8], place: Place) {
    if let Some(text) = table.address_text(column, bytes) {
        return put_quoted(out, &text);
    }
    let bytes = table.padded(column, bytes);
    let charset = table.charset(column);
    if bytes.is_empty() {
        return out.extend_from_slice(b"''");
    }
    let is_utf8 = matches!(charset, "utf8mb4" | "utf8mb3" | "utf8" | "ascii");
    if let Some(text) = is_utf8.then(|| text_of(charset, &bytes)).flatten() {
        return put_quoted(out, &text);
    }
    // A column takes bytes without a character set as they are; compared they would not be found by an index.
    if !is_utf8 && !matches!(charset, "" | "binary") && place == Place::Compared {
        out.extend_from_slice(format!("_{charset} ").as_bytes());
    }
    out.extend_from_slice(format!("x'{}'", hex(&bytes)).as_bytes());
}

fn put_quoted(out: &mut Vec<u8>, text: &str) {
    out.push(b'\'');
    for byte in text.bytes() {
        match byte {
            b'\'' => out.extend_from_slice(b"\\'"),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            0 => out.extend_from_slice(b"\\0"),
            0x1a => out.extend_from_slice(b"\\Z"),
            byte => out.push(byte),
        }
    }
    out.push(b'\'');
}

/// The functions that make of the column what it became.
fn put_diffs(out: &mut Vec<u8>, name: &str, bytes: &[u8]) -> Result<(), EventError> {
    let mut text = Vec::new();
    put_identifier(&mut text, name);
    for diff in JsonDiff::decode_all(bytes)? {
        let (function, path, value): (&[u8], _, _) = match diff {
            JsonDiff::Replace { path, value } => (b"JSON_REPLACE(", path, Some(value)),
            // At a place of an array what is there moves.
            JsonDiff::Insert { path, value } if path.ends_with(b"]") => (b"JSON_ARRAY_INSERT(", path, Some(value)),
            JsonDiff::Insert { path, value } => (b"JSON_INSERT(", path, Some(value)),
            JsonDiff::Remove { path } => (b"JSON_REMOVE(", path, None),
        };
        let mut call = function.to_vec();
        call.extend_from_slice(&text);
        call.push(b',');
        let path = std::str::from_utf8(path).map_err(|_| EventError::malformed("a JSON path"))?;
        put_quoted(&mut call, path);
        if let Some(value) = value {
            call.extend_from_slice(b",CAST(");
            put_quoted(&mut call, &json_text(value)?);
            call.extend_from_slice(b" AS JSON)");
        }
        call.push(b')');
        text = call;
    }
    out.extend_from_slice(&text);
    Ok(())
}
