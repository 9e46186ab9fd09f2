//! WRITE_ROWS, UPDATE_ROWS, DELETE_ROWS: row images.
//!
//! ```text
//! | table id u48 | flags u16 | [version 2: extra length u16, counting itself; extra data] | column count lenenc |
//! | present bitmap | [UPDATE: bitmap of the after images] | rows … |
//! ```
//! A row image is a null bitmap over the present columns, and the values of those that are not NULL. A row of an UPDATE
//! is two images: before and after.

use super::EventType;
use super::table_map::TableMap;
use crate::cursor::Cursor;
use crate::error::DecodeError;

/// Flags of rows events.
pub mod rows_flags {
    /// Last rows event of its statement: the maps before it are forgotten.
    pub const STATEMENT_END: u16 = 1;
    /// `foreign_key_checks = 0`.
    pub const NO_FOREIGN_KEY_CHECKS: u16 = 2;
    /// `unique_checks = 0`.
    pub const NO_UNIQUE_CHECKS: u16 = 4;
    /// All columns are present.
    pub const COMPLETE_ROWS: u16 = 8;
}

/// What is done with the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowsKind {
    /// After images.
    Write,
    /// Before and after images in turn.
    Update,
    /// Before images.
    Delete,
}

impl RowsKind {
    /// The type of the event, version 2.
    pub fn event_type(self) -> EventType {
        match self {
            RowsKind::Write => EventType::WRITE_ROWS,
            RowsKind::Update => EventType::UPDATE_ROWS,
            RowsKind::Delete => EventType::DELETE_ROWS,
        }
    }

    /// What a rows event (of version 1 or 2) does; `None` for other events, compressed and partial ones among them.
    pub fn of(event_type: EventType) -> Option<Self> {
        Some(match event_type {
            EventType::WRITE_ROWS | EventType::WRITE_ROWS_V1 => RowsKind::Write,
            EventType::UPDATE_ROWS | EventType::UPDATE_ROWS_V1 => RowsKind::Update,
            EventType::DELETE_ROWS | EventType::DELETE_ROWS_V1 => RowsKind::Delete,
            _ => return None,
        })
    }
}

/// A decoded rows event; the rows themselves stay bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowsEvent<'a> {
    /// What is done.
    pub kind: RowsKind,
    /// Of the TABLE_MAP before it.
    pub table_id: u64,
    /// [`rows_flags`].
    pub flags: u16,
    /// How many columns the table has.
    pub column_count: usize,
    /// Which columns the (before) images have.
    pub present: &'a [u8],
    /// Which columns the after images of an UPDATE have; equal to `present` for the others.
    pub present_after: &'a [u8],
    /// The images, one behind the other.
    pub rows: &'a [u8],
}

impl<'a> RowsEvent<'a> {
    /// Reads the body of a rows event of version 1 or 2.
    pub fn decode(event_type: EventType, body: &'a [u8]) -> Result<Self, DecodeError> {
        let kind = RowsKind::of(event_type)
            .ok_or_else(|| DecodeError::new(format!("{event_type:?} is not a rows event that is understood")))?;
        let mut cursor = Cursor::new(body, "rows event");
        let table_id = cursor.uint(6)?;
        let flags = cursor.u16()?;
        if event_type.0 >= EventType::WRITE_ROWS.0 {
            let extra = usize::from(cursor.u16()?);
            cursor.take(extra.checked_sub(2).ok_or_else(|| DecodeError::new("rows event: bad extra data"))?)?;
        }
        let column_count = cursor.lenenc_len()?;
        let present = cursor.take(column_count.div_ceil(8))?;
        let present_after = if kind == RowsKind::Update { cursor.take(column_count.div_ceil(8))? } else { present };
        Ok(RowsEvent { kind, table_id, flags, column_count, present, present_after, rows: cursor.rest() })
    }

    /// Whether every image has every column: it is then a row of [`types::row`].
    pub fn is_full(&self) -> bool {
        let full = |bitmap: &[u8]| (0..self.column_count).all(|i| crate::cursor::bit(bitmap, i));
        full(self.present) && full(self.present_after)
    }

    /// The rows: before image (empty for a WRITE) and after image (empty for a DELETE).
    pub fn images<'m>(&self, map: &'m TableMap) -> Images<'a, 'm> {
        Images { event: *self, map }
    }
}

/// Iterator over the rows of an event.
#[derive(Clone, Debug)]
pub struct Images<'a, 'm> {
    event: RowsEvent<'a>,
    map: &'m TableMap,
}

impl<'a> Images<'a, '_> {
    fn take(&mut self, present: &[u8]) -> Result<&'a [u8], DecodeError> {
        let len = self.map.image_len(present, self.event.rows)?;
        let (image, rest) = self.event.rows.split_at(len);
        self.event.rows = rest;
        Ok(image)
    }

    fn row(&mut self) -> Result<(&'a [u8], &'a [u8]), DecodeError> {
        if self.event.column_count != self.map.columns.len() {
            let (rows, map) = (self.event.column_count, self.map.columns.len());
            return Err(DecodeError::new(format!("rows event of {rows} columns for a table of {map}")));
        }
        let before_len = self.event.rows.len();
        let empty: &[u8] = &[];
        let row = match self.event.kind {
            RowsKind::Write => (empty, self.take(self.event.present)?),
            RowsKind::Delete => (self.take(self.event.present)?, empty),
            RowsKind::Update => (self.take(self.event.present)?, self.take(self.event.present_after)?),
        };
        // A table without columns would never end.
        if self.event.rows.len() == before_len { Err(DecodeError::new("rows event: empty rows")) } else { Ok(row) }
    }
}

impl<'a> Iterator for Images<'a, '_> {
    type Item = Result<(&'a [u8], &'a [u8]), DecodeError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.event.rows.is_empty() {
            return None;
        }
        let row = self.row();
        if row.is_err() {
            self.event.rows = &[];
        }
        Some(row)
    }
}
