//! The key codec: bytes whose order (`memcmp`) is the order of the rows in an index.
//!
//! ```text
//!   clustered    enc(primary key parts)
//!   secondary    enc(index parts)  enc(primary key parts)
//!
//!   a part       NOT NULL: the value's bytes      nullable: 00, or 01 and the value's bytes      DESC: all of it inverted
//! ```
//!
//! | column | bytes |
//! |---|---|
//! | integers, ENUM, SET | big-endian; signed ones with the first bit inverted |
//! | FLOAT, DOUBLE | big-endian IEEE; first bit inverted, or all of them for negative numbers; -0 as 0 |
//! | DECIMAL, DATETIME, TIMESTAMP, TIME, YEAR, BIT | as in the row image, which is ordered |
//! | DATE | the row image's bytes, big-endian |
//! | CHAR, VARCHAR, TEXT | [`crate::collation::weights`] |
//! | BINARY, VARBINARY, BLOB | the same, of the collation `binary` |
//!
//! Keys are made from row images directly. They can be split into their parts, but the strings in them cannot be read back:
//! that is what covering images are for. Prefix parts (`KEY (name(10))`) take the first characters only.
//!
//! # Invariants
//! - The order of keys is the order of the parts' values, NULL first, DESC parts the other way round.
//! - The bytes of a part are no prefix of another value's.

use bytes::Bytes;

use crate::charset::{Charset, prefix_bytes};
use crate::collation::{CollationId, prefix_weights, skip_weights, weights};
use crate::column::{Codec, read_le, trim_end};
use crate::error::TypeError;
use crate::row::RowLayout;
use crate::schema::{IndexDef, KeyPart, TableDef};
use crate::value::Value;

/// How the key of one index is made. Made once per table definition.
#[derive(Clone, Debug)]
pub struct KeyCodec {
    /// The index's own parts, then those of the primary key (of a secondary index).
    all: Vec<Part>,
    own: usize,
}

#[derive(Clone, Debug)]
struct Part {
    column: usize,
    codec: Codec,
    collation: CollationId,
    prefix_chars: Option<u32>,
    nullable: bool,
    /// ff for DESC.
    mask: u8,
}

const NULL: u8 = 0;
const NOT_NULL: u8 = 1;

impl KeyCodec {
    /// For `index` of `table`.
    pub fn new(table: &TableDef, index: &IndexDef) -> Self {
        let own = index.parts.len();
        let mut all: Vec<Part> = index.parts.iter().map(|part| Part::new(table, part)).collect();
        if index.id != table.primary().id {
            all.extend(table.primary().parts.iter().map(|part| Part::new(table, part)));
        }
        KeyCodec { all, own }
    }

    /// How many parts the index itself has.
    pub fn parts(&self) -> usize {
        self.own
    }

    /// Appends the key of a row (an image of the whole table's layout).
    pub fn encode_row(&self, layout: &RowLayout, row: &[u8], out: &mut Vec<u8>) -> Result<(), TypeError> {
        self.all.iter().try_for_each(|part| part.encode_stored(layout.slice(row, part.column)?, out))
    }

    /// Appends the key prefix for values of the first parts of the index; for a secondary index the values may go on with
    /// the parts of the primary key. Values are of the column's own kind.
    pub fn encode_prefix(&self, values: &[Value], out: &mut Vec<u8>) -> Result<(), TypeError> {
        if values.len() > self.all.len() {
            return Err(TypeError::WrongCount { expected: self.all.len(), found: values.len() });
        }
        let mut stored = Vec::new();
        self.all.iter().zip(values).try_for_each(|(part, value)| part.encode_value(value, &mut stored, out))
    }

    /// Appends the prefix of all keys whose first parts have `values` and whose next part is text (or bytes) that begins with
    /// `text`, for `LIKE 'text%'`. Only of a part that is not DESC and whose prefix, if it has one, is not shorter.
    pub fn encode_text_prefix(&self, values: &[Value], text: &[u8], out: &mut Vec<u8>) -> Result<(), TypeError> {
        self.encode_prefix(values, out)?;
        let Some(part) = self.all.get(values.len()) else {
            return Err(TypeError::WrongCount { expected: self.all.len(), found: values.len() + 1 });
        };
        if part.nullable {
            out.push(NOT_NULL);
        }
        let text = match part.prefix_chars {
            Some(chars) => first_chars(part.collation, text, chars),
            None => text,
        };
        prefix_weights(part.collation, text, out);
        Ok(())
    }

    /// How many bytes of `key` belong to the first `parts` parts. `prefix_len(key, self.parts())` splits a secondary key
    /// into the part on which uniqueness is and the clustered key.
    pub fn prefix_len(&self, key: &[u8], parts: usize) -> Result<usize, TypeError> {
        self.all[..parts].iter().try_fold(0, |at, part| part.skip(&key[at..]).map(|(len, _)| at + len))
    }

    /// Whether one of the first `parts` parts of the key is NULL (a unique index does not then hold it unique).
    pub fn has_null(&self, key: &[u8], parts: usize) -> Result<bool, TypeError> {
        let mut at = 0;
        for part in &self.all[..parts] {
            let (len, null) = part.skip(&key[at..])?;
            if null {
                return Ok(true);
            }
            at += len;
        }
        Ok(false)
    }
}

impl Part {
    fn new(table: &TableDef, part: &KeyPart) -> Part {
        let column = &table.columns[part.column];
        Part {
            column: part.column,
            codec: Codec::new(column),
            collation: if column.ty.has_charset() { column.collation } else { CollationId::BINARY },
            prefix_chars: part.prefix_chars,
            nullable: column.nullable,
            mask: if part.descending { 0xff } else { 0 },
        }
    }

    /// From the bytes in a row image.
    fn encode_stored(&self, stored: Option<&[u8]>, out: &mut Vec<u8>) -> Result<(), TypeError> {
        let start = out.len();
        match stored {
            None if self.nullable => out.push(NULL),
            None => return Err(TypeError::DamagedRow { column: self.column, what: "NULL in a NOT NULL column" }),
            Some(bytes) => {
                if self.nullable {
                    out.push(NOT_NULL);
                }
                self.encode_bytes(bytes, out);
            }
        }
        if self.mask != 0 {
            out[start..].iter_mut().for_each(|byte| *byte ^= 0xff);
        }
        Ok(())
    }

    fn encode_value(&self, value: &Value, stored: &mut Vec<u8>, out: &mut Vec<u8>) -> Result<(), TypeError> {
        if value.is_null() && self.nullable {
            return self.encode_stored(None, out);
        }
        stored.clear();
        let wrong = || TypeError::WrongValue {
            column: self.column,
            expected: format!("{:?}", self.codec),
            found: value.kind_name(),
        };
        // A value that only lies too far: longer text than the column has is still a bound for a range.
        let text = match (&self.codec, value) {
            (Codec::Str { .. }, Value::Str(text)) | (Codec::Bytes { .. }, Value::Bytes(text)) => Some(text),
            _ => None,
        };
        match text {
            Some(text) => self.encode_text(value, text, out),
            None => {
                self.codec.encode(value, stored).ok_or_else(wrong)?;
                return self.encode_stored(Some(stored), out);
            }
        }
        Ok(())
    }

    fn encode_text(&self, value: &Value, text: &[u8], out: &mut Vec<u8>) {
        let start = out.len();
        if self.nullable {
            out.push(NOT_NULL);
        }
        let text = match &self.codec {
            Codec::Str { trim: true, .. } => trim_end(text, b' '),
            Codec::Bytes { fixed: Some(_), .. } => trim_end(text, 0),
            _ => text,
        };
        debug_assert!(value.as_bytes().is_some());
        self.encode_content(text, out);
        if self.mask != 0 {
            out[start..].iter_mut().for_each(|byte| *byte ^= 0xff);
        }
    }

    fn encode_content(&self, text: &[u8], out: &mut Vec<u8>) {
        let text = match self.prefix_chars {
            Some(chars) => first_chars(self.collation, text, chars),
            None => text,
        };
        weights(self.collation, text, out);
    }

    fn encode_bytes(&self, stored: &[u8], out: &mut Vec<u8>) {
        match &self.codec {
            Codec::Int { width, unsigned } => {
                let sign = if *unsigned { 0 } else { 1u64 << (8 * *width as u32 - 1) };
                let number = read_le(stored) ^ sign;
                out.extend_from_slice(&number.to_be_bytes()[8 - *width as usize..]);
            }
            Codec::Date | Codec::Enum { .. } | Codec::Set { .. } => out.extend(stored.iter().rev()),
            Codec::Float => {
                let bits = u32::from_le_bytes([stored[0], stored[1], stored[2], stored[3]]);
                let bits = if bits << 1 == 0 { 0 } else { bits };
                let ordered = if bits >> 31 == 1 { !bits } else { bits | 1 << 31 };
                out.extend_from_slice(&ordered.to_be_bytes());
            }
            Codec::Double => {
                let bits = read_le(stored);
                let bits = if bits << 1 == 0 { 0 } else { bits };
                let ordered = if bits >> 63 == 1 { !bits } else { bits | 1 << 63 };
                out.extend_from_slice(&ordered.to_be_bytes());
            }
            Codec::Str { charset: charset @ Charset::Single(_), .. } => {
                self.encode_content(&charset.decode(self.codec.content(stored)), out);
            }
            Codec::Str { .. } | Codec::Bytes { .. } => self.encode_content(self.codec.content(stored), out),
            _ => out.extend_from_slice(stored),
        }
    }

    /// The length of this part at the beginning of `key`, and whether it is NULL.
    fn skip(&self, key: &[u8]) -> Result<(usize, bool), TypeError> {
        let mut at = 0;
        if self.nullable {
            let marker = key.first().ok_or(ENDS_EARLY)? ^ self.mask;
            if marker == NULL {
                return Ok((1, true));
            }
            at = 1;
        }
        let rest = &key[at..];
        let len = match self.codec.fixed_size() {
            Some(size) => (size <= rest.len()).then_some(size),
            None => skip_weights(self.collation, rest, self.mask).filter(|&len| len <= rest.len()),
        };
        Ok((at + len.ok_or(ENDS_EARLY)?, false))
    }
}

const ENDS_EARLY: TypeError = TypeError::DamagedKey("ends early");

/// The first characters (bytes, if binary) of a string.
fn first_chars(collation: CollationId, text: &[u8], chars: u32) -> &[u8] {
    match collation.charset() {
        Charset::Binary => &text[..text.len().min(chars as usize)],
        _ => &text[..prefix_bytes(text, chars as usize)],
    }
}

/// The smallest key that is greater than every key that begins with `prefix`; `None` if there is none.
pub fn successor(prefix: &[u8]) -> Option<Bytes> {
    let last = prefix.iter().rposition(|&byte| byte != 0xff)?;
    let mut next = prefix[..=last].to_vec();
    next[last] += 1;
    Some(next.into())
}

#[cfg(test)]
mod tests;
