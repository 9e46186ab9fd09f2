//! JSON columns in a stream for a MariaDB, where JSON is another name of LONGTEXT: documents become their text.

use std::collections::HashMap;

use base::SqlError;
use binlog::event::{ColumnMeta, RowsEvent, RowsKind, TableMap, column_type};
use binlog::{DecodeError, LogEvent};
use types::json::binary;

use super::fatal;
use super::maria::{Rendered, damaged, ending_at, frame};

/// Bytes of the length in front of a document, and of a LONGTEXT.
const LENGTH_BYTES: usize = 4;

/// The tables with JSON columns whose TABLE_MAPs were sent, by their numbers.
#[derive(Default)]
pub(super) struct JsonTables(HashMap<u64, TableMap>);

impl JsonTables {
    /// A TABLE_MAP; one with JSON columns has LONGTEXT instead.
    pub(super) fn table_map(&mut self, event: &LogEvent) -> Result<Rendered, SqlError> {
        let map = TableMap::decode(event.raw().body()).map_err(damaged)?;
        if !map.columns.iter().any(is_json) {
            self.0.remove(&map.table_id);
            return Ok(Rendered::AsIs);
        }
        let mut rendered = map.clone();
        for column in rendered.columns.iter_mut().filter(|column| is_json(column)) {
            column.type_code = column_type::BLOB;
            column.collation = Some(u32::from(types::CollationId::UTF8MB4_BIN.0));
        }
        self.0.insert(map.table_id, map);
        let mut body = Vec::new();
        rendered.encode_body(&mut body);
        let header = &event.header;
        Ok(Rendered::Instead(ending_at(header.event_type, frame(header, header.flags), event.end, &body)))
    }

    /// Rows; those of a table with JSON columns have texts.
    pub(super) fn rows(&self, event: &LogEvent) -> Result<Rendered, SqlError> {
        if self.0.is_empty() {
            return Ok(Rendered::AsIs);
        }
        let header = &event.header;
        let raw = event.raw();
        let rows = RowsEvent::decode(header.event_type, raw.body()).map_err(damaged)?;
        let Some(map) = self.0.get(&rows.table_id) else { return Ok(Rendered::AsIs) };
        let mut images = Vec::with_capacity(rows.rows.len() + rows.rows.len() / 4);
        for row in rows.images(map) {
            let (before, after) = row.map_err(damaged)?;
            if rows.kind != RowsKind::Write {
                put_image(map, rows.present, before, &mut images)?;
            }
            if rows.kind != RowsKind::Delete {
                put_image(map, rows.present_after, after, &mut images)?;
            }
        }
        let mut body = Vec::new();
        RowsEvent { rows: &images, ..rows }.encode_body(&mut body);
        Ok(Rendered::Instead(ending_at(header.event_type, frame(header, header.flags), event.end, &body)))
    }
}

fn is_json(column: &ColumnMeta) -> bool {
    column.type_code == column_type::JSON
}

fn bit(bitmap: &[u8], at: usize) -> bool {
    bitmap.get(at / 8).is_some_and(|byte| byte >> (at % 8) & 1 == 1)
}

/// Appends an image with the texts of its documents.
fn put_image(map: &TableMap, present: &[u8], image: &[u8], out: &mut Vec<u8>) -> Result<(), SqlError> {
    let short = || damaged(DecodeError("a row ends too early".to_owned()));
    let columns: Vec<&ColumnMeta> =
        map.columns.iter().enumerate().filter(|(at, _)| bit(present, *at)).map(|(_, column)| column).collect();
    let nulls = image.get(..columns.len().div_ceil(8)).ok_or_else(short)?;
    let mut at = nulls.len();
    out.extend_from_slice(nulls);
    for (number, column) in columns.into_iter().enumerate() {
        if bit(nulls, number) {
            continue;
        }
        let length = column.value_len(&image[at..]).map_err(damaged)?;
        let value = &image[at..at + length];
        at += length;
        if !is_json(column) {
            out.extend_from_slice(value);
            continue;
        }
        let document = binary::decode(value.get(LENGTH_BYTES..).ok_or_else(short)?);
        let text = document.map_err(|error| fatal(error.to_string()))?.to_text();
        out.extend_from_slice(&(text.len() as u32).to_le_bytes());
        out.extend_from_slice(text.as_bytes());
    }
    Ok(())
}
