//! Rows of a log: images that are found by their lengths, and taken apart when they are asked.

use std::cell::OnceCell;
use std::rc::Rc;

use binlog::event::{CompressedRows, PartialUpdateRows, RowsEvent};

use super::INFLATED_SIZE_MAX;
use super::table::LogTable;
use super::transaction::Counter;
use crate::error::EventError;
use crate::event::*;
use crate::value::Value;

/// Bytes of a table's number.
const TABLE_ID_SIZE: usize = 6;

/// An event of rows: plain, compressed, or with diffs of JSON documents.
pub(super) struct LogRows<'e> {
    event_type: EventType,
    body: &'e [u8],
    table: Option<Rc<LogTable<'e>>>,
    /// Compressed rows, inflated.
    inflated: OnceCell<Vec<u8>>,
    counter: &'e Counter,
}

impl<'e> LogRows<'e> {
    /// The number that all kinds begin with.
    pub(super) fn table_id_of(body: &[u8]) -> Option<u64> {
        let bytes: &[u8; TABLE_ID_SIZE] = body.first_chunk()?;
        Some(bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
    }

    pub(super) fn new(
        event_type: EventType,
        body: &'e [u8],
        table: Option<Rc<LogTable<'e>>>,
        counter: &'e Counter,
    ) -> Self {
        LogRows { event_type, body, table, inflated: OnceCell::new(), counter }
    }

    /// All but the rows of compressed ones.
    fn head(&self) -> Result<RowsEvent<'e>, EventError> {
        Ok(match self.event_type {
            EventType::PARTIAL_UPDATE_ROWS => PartialUpdateRows::decode(self.body)?.update,
            _ if self.is_compressed() => CompressedRows::decode(self.event_type, self.body)?.head,
            _ => RowsEvent::decode(self.event_type, self.body)?,
        })
    }

    /// With the rows.
    fn whole(&self) -> Result<RowsEvent<'_>, EventError> {
        if !self.is_compressed() {
            return self.head();
        }
        let compressed = CompressedRows::decode(self.event_type, self.body)?;
        if self.inflated.get().is_none() {
            self.counter.count(|counts| counts.inflated += 1);
            let _ = self.inflated.set(compressed.rows(INFLATED_SIZE_MAX)?);
        }
        let rows = self.inflated.get().map_or(&[][..], Vec::as_slice);
        Ok(compressed.with_rows(rows))
    }

    fn known_table(&self) -> Result<&Rc<LogTable<'e>>, EventError> {
        let unknown = || {
            let id = Self::table_id_of(self.body).unwrap_or_default();
            EventError::malformed(format!("rows of table {id} without a TABLE_MAP"))
        };
        self.table.as_ref().ok_or_else(unknown)
    }
}

impl Rows for LogRows<'_> {
    fn table_id(&self) -> Maybe<u64> {
        Ok(Self::table_id_of(self.body))
    }

    fn table(&self) -> Maybe<&dyn Table> {
        // MySQL ends a statement that changed nothing at last with rows of no table.
        Ok(self.table.as_deref().map(|table| table as &dyn Table))
    }

    fn layout(&self) -> Maybe<RowsLayout<'_>> {
        let RowsEvent { kind, version, flags, extra, column_count, present, present_after, .. } = self.head()?;
        let partial = self.event_type == EventType::PARTIAL_UPDATE_ROWS;
        Ok(Some(RowsLayout { kind, version, flags, extra, column_count, present, present_after, partial }))
    }

    fn is_compressed(&self) -> bool {
        CompressedRows::plain_type(self.event_type).is_some()
    }

    fn rows(&self, each: &mut EachRow<'_>) -> Result<(), EventError> {
        let event = self.whole()?;
        if event.rows.is_empty() {
            return Ok(());
        }
        self.counter.count(|counts| counts.row_events += 1);
        let table = self.known_table()?;
        let types = table.types()?;
        let image = |present, bytes| LogImage { table, present, bytes, diffs: &[], counter: self.counter };
        if self.event_type == EventType::PARTIAL_UPDATE_ROWS {
            for row in PartialUpdateRows::decode(self.body)?.rows(types) {
                let row = row?;
                let after = LogImage { diffs: row.diffs, ..image(event.present_after, row.after) };
                let before = Some(image(event.present, row.before));
                each(&LogRow { before, after: Some(after), partial: Some((row.options, row.diffs)) })?;
            }
            return Ok(());
        }
        for row in event.images(types) {
            let (before, after) = row?;
            let before = (event.kind != RowsKind::Write).then(|| image(event.present, before));
            let after = (event.kind != RowsKind::Delete).then(|| image(event.present_after, after));
            each(&LogRow { before, after, partial: None })?;
        }
        Ok(())
    }
}

struct LogRow<'r> {
    before: Option<LogImage<'r>>,
    after: Option<LogImage<'r>>,
    partial: Option<(u64, &'r [u8])>,
}

impl Row for LogRow<'_> {
    fn before(&self) -> Maybe<&dyn Image> {
        Ok(self.before.as_ref().map(|image| image as &dyn Image))
    }

    fn after(&self) -> Maybe<&dyn Image> {
        Ok(self.after.as_ref().map(|image| image as &dyn Image))
    }

    fn partial(&self) -> Maybe<(u64, &[u8])> {
        Ok(self.partial)
    }
}

/// NULL bitmap and values.
struct LogImage<'r> {
    table: &'r LogTable<'r>,
    present: &'r [u8],
    bytes: &'r [u8],
    /// Which JSON columns are diffs.
    diffs: &'r [u8],
    counter: &'r Counter,
}

/// The `n`-th bit of a bitmap that begins with the lowest bit of the first byte.
pub(crate) fn bit(bitmap: &[u8], n: usize) -> bool {
    bitmap.get(n / 8).is_some_and(|byte| byte >> (n % 8) & 1 == 1)
}

impl LogImage<'_> {
    fn present_count(&self, columns: usize) -> usize {
        (0..columns).filter(|&column| bit(self.present, column)).count()
    }
}

impl Image for LogImage<'_> {
    fn values(&self, each: &mut EachValue<'_>) -> Result<(), EventError> {
        let table = self.table.all()?;
        let mut at = self.present_count(table.columns.len()).div_ceil(8);
        let (mut slot, mut json) = (0, 0);
        for (number, column) in table.columns.iter().enumerate() {
            let is_json = column.type_code == binlog::event::column_type::JSON;
            let is_diff = is_json && bit(self.diffs, json);
            json += usize::from(is_json);
            if !bit(self.present, number) {
                continue;
            }
            let is_null = bit(self.bytes, slot);
            slot += 1;
            if is_null {
                each(number, None)?;
                continue;
            }
            let rest = self.bytes.get(at..).ok_or_else(|| EventError::malformed("row ends too early"))?;
            let (value, len) = Value::decode(column, rest)?;
            at += len;
            self.counter.count(|counts| counts.values += 1);
            let value = match value {
                Value::Json(bytes) if is_diff => Value::JsonDiffs(bytes),
                value => value,
            };
            each(number, Some(value))?;
        }
        Ok(())
    }

    fn null_padding(&self) -> u8 {
        // The types are there, or the image could not have been found.
        let columns = self.table.types().map_or(0, |types| types.columns.len());
        let used = self.present_count(columns);
        match (used % 8, self.bytes.get(used / 8)) {
            (1.., Some(last)) => !last & (0xff << (used % 8)),
            _ => 0,
        }
    }
}
