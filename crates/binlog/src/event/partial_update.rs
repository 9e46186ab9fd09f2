//! PARTIAL_UPDATE_ROWS: updates that say of JSON documents only what changed.
//!
//! Laid out as an UPDATE_ROWS of version 2, but for the after image of each row:
//!
//! ```text
//! | options lenenc | [bit 0: bitmap over the table's JSON columns: a diff] | NULL bitmap | values … |
//! ```
//! The value of such a column is its length u32 and a list of diffs, to be applied in their order:
//!
//! ```text
//! | 0 replace, 1 insert, 2 remove: u8 | length lenenc, path | [not remove: length lenenc, binary JSON] |
//! ```

use super::rows::{RowsEvent, RowsKind, RowsVersion};
use super::table_map::{TableMap, column_type};
use crate::cursor::{Cursor, bit, put_lenenc};
use crate::error::DecodeError;

/// Bit of the options: some documents are diffs.
const PARTIAL_JSON: u64 = 1;
/// Bytes of the length in front of a document.
const JSON_LENGTH_SIZE: usize = 4;

/// A decoded PARTIAL_UPDATE_ROWS; the rows themselves stay bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartialUpdateRows<'a> {
    /// Everything but the form of the after images is an UPDATE's.
    pub update: RowsEvent<'a>,
}

impl<'a> PartialUpdateRows<'a> {
    /// Reads the body.
    pub fn decode(body: &'a [u8]) -> Result<Self, DecodeError> {
        Ok(PartialUpdateRows { update: RowsEvent::decode_as(RowsKind::Update, RowsVersion::V2, body)? })
    }

    /// Appends the body.
    pub fn encode_body(&self, out: &mut Vec<u8>) {
        self.update.encode_body(out);
    }

    /// The rows.
    pub fn rows<'m>(&self, map: &'m TableMap) -> PartialRows<'a, 'm> {
        PartialRows { update: self.update, map }
    }
}

/// What stands in front of an after image: the bitmap of the JSON columns that are diffs (empty without one), and its length.
pub fn partial_image_head<'a>(map: &TableMap, bytes: &'a [u8]) -> Result<(&'a [u8], usize), DecodeError> {
    let mut cursor = Cursor::new(bytes, "after image");
    let options = cursor.lenenc()?;
    let json_columns = map.columns.iter().filter(|column| column.type_code == column_type::JSON).count();
    let diffs = if options & PARTIAL_JSON != 0 { cursor.take(json_columns.div_ceil(8))? } else { &[] };
    Ok((diffs, bytes.len() - cursor.rest().len()))
}

/// Before and after of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartialRow<'a> {
    /// As in an UPDATE.
    pub before: &'a [u8],
    /// As in an UPDATE, but that the documents in `diffs` are lists of diffs.
    pub after: &'a [u8],
    /// Options of the after image; bit 0: there is a bitmap.
    pub options: u64,
    /// Which of the table's JSON columns, counted from 0, are diffs; empty without a bitmap.
    pub diffs: &'a [u8],
}

impl<'a> PartialRow<'a> {
    /// The columns whose values are diffs, with them: of all columns that `present_after` has and that are not NULL.
    pub fn json_diffs(
        &self,
        map: &TableMap,
        present_after: &[u8],
    ) -> Result<Vec<(usize, Vec<JsonDiff<'a>>)>, DecodeError> {
        let mut found = Vec::new();
        let (mut slot, mut json) = (0, 0);
        let present_count = (0..map.columns.len()).filter(|&i| bit(present_after, i)).count();
        let mut at = present_count.div_ceil(8);
        for (i, column) in map.columns.iter().enumerate() {
            let is_json = column.type_code == column_type::JSON;
            if bit(present_after, i) {
                if !bit(self.after, slot) {
                    let rest = self.after.get(at..).ok_or_else(|| DecodeError::short("row"))?;
                    let len = column.value_len(rest)?;
                    if is_json && bit(self.diffs, json) {
                        let value = rest.get(JSON_LENGTH_SIZE..len).ok_or_else(|| DecodeError::short("JSON diffs"))?;
                        found.push((i, JsonDiff::decode_all(value)?));
                    }
                    at += len;
                }
                slot += 1;
            }
            json += usize::from(is_json);
        }
        Ok(found)
    }

    /// Appends the row as it is in the event.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.before);
        put_lenenc(out, self.options);
        out.extend_from_slice(self.diffs);
        out.extend_from_slice(self.after);
    }
}

/// Iterator over the rows of an event.
#[derive(Clone, Debug)]
pub struct PartialRows<'a, 'm> {
    update: RowsEvent<'a>,
    map: &'m TableMap,
}

impl<'a> PartialRows<'a, '_> {
    fn row(&mut self) -> Result<PartialRow<'a>, DecodeError> {
        let (event, map) = (&mut self.update, self.map);
        if event.column_count != map.columns.len() {
            let (rows, map) = (event.column_count, map.columns.len());
            return Err(DecodeError::new(format!("rows event of {rows} columns for a table of {map}")));
        }
        let (before, rest) = event.rows.split_at(map.image_len(event.present, event.rows)?);
        let mut cursor = Cursor::new(rest, "after image");
        let options = cursor.lenenc()?;
        let json_columns = map.columns.iter().filter(|column| column.type_code == column_type::JSON).count();
        let diffs = if options & PARTIAL_JSON != 0 { cursor.take(json_columns.div_ceil(8))? } else { &[] };
        let after = cursor.take(map.image_len(event.present_after, cursor.rest())?)?;
        // The options take a byte at least, so this ends.
        event.rows = cursor.rest();
        Ok(PartialRow { before, after, options, diffs })
    }
}

impl<'a> Iterator for PartialRows<'a, '_> {
    type Item = Result<PartialRow<'a>, DecodeError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.update.rows.is_empty() {
            return None;
        }
        let row = self.row();
        if row.is_err() {
            self.update.rows = &[];
        }
        Some(row)
    }
}

/// One change of a JSON document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonDiff<'a> {
    /// What is at the path becomes this.
    Replace {
        /// A JSON path such as `$.a[1]`.
        path: &'a [u8],
        /// In MySQL's binary form.
        value: &'a [u8],
    },
    /// There is something new at the path; what is behind it in an array moves.
    Insert {
        /// A JSON path.
        path: &'a [u8],
        /// In MySQL's binary form.
        value: &'a [u8],
    },
    /// What is at the path goes.
    Remove {
        /// A JSON path.
        path: &'a [u8],
    },
}

impl<'a> JsonDiff<'a> {
    /// Reads a column's diffs, without the length in front of them.
    pub fn decode_all(bytes: &'a [u8]) -> Result<Vec<Self>, DecodeError> {
        let mut cursor = Cursor::new(bytes, "JSON diffs");
        let mut diffs = Vec::new();
        while !cursor.is_empty() {
            let operation = cursor.u8()?;
            let path = take_lenenc_bytes(&mut cursor)?;
            diffs.push(match operation {
                0 => JsonDiff::Replace { path, value: take_lenenc_bytes(&mut cursor)? },
                1 => JsonDiff::Insert { path, value: take_lenenc_bytes(&mut cursor)? },
                2 => JsonDiff::Remove { path },
                other => return Err(DecodeError::new(format!("JSON diffs: unknown operation {other}"))),
            });
        }
        Ok(diffs)
    }

    /// Appends the diff.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let (operation, path, value) = match *self {
            JsonDiff::Replace { path, value } => (0, path, Some(value)),
            JsonDiff::Insert { path, value } => (1, path, Some(value)),
            JsonDiff::Remove { path } => (2, path, None),
        };
        out.push(operation);
        for bytes in std::iter::once(path).chain(value) {
            put_lenenc(out, bytes.len() as u64);
            out.extend_from_slice(bytes);
        }
    }
}

fn take_lenenc_bytes<'a>(cursor: &mut Cursor<'a>) -> Result<&'a [u8], DecodeError> {
    let len = cursor.lenenc_len()?;
    cursor.take(len)
}
