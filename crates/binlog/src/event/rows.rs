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
use crate::cursor::{Cursor, put_lenenc};
use crate::error::DecodeError;

/// Flags of rows events.
pub mod rows_flags {
    /// Where they are in the body: behind the table's number.
    pub const OFFSET: usize = 6;
    /// Last rows event of its statement: the maps before it are forgotten.
    pub const STATEMENT_END: u16 = 1;
    /// `foreign_key_checks = 0`.
    pub const NO_FOREIGN_KEY_CHECKS: u16 = 2;
    /// `unique_checks = 0`.
    pub const NO_UNIQUE_CHECKS: u16 = 4;
    /// All columns are present.
    pub const COMPLETE_ROWS: u16 = 8;
    /// Foreign keys were checked above the engine, so what cascades did is in the log as rows (MySQL 9.7, always).
    pub const SQL_FOREIGN_KEYS: u16 = 16;
    /// `check_constraint_checks = 0` (MariaDB).
    pub const NO_CHECK_CONSTRAINTS: u16 = 128;
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
        self.event_type_of(RowsVersion::V2)
    }

    /// The type of the event.
    pub fn event_type_of(self, version: RowsVersion) -> EventType {
        match (self, version) {
            (RowsKind::Write, RowsVersion::V1) => EventType::WRITE_ROWS_V1,
            (RowsKind::Update, RowsVersion::V1) => EventType::UPDATE_ROWS_V1,
            (RowsKind::Delete, RowsVersion::V1) => EventType::DELETE_ROWS_V1,
            (RowsKind::Write, RowsVersion::V2) => EventType::WRITE_ROWS,
            (RowsKind::Update, RowsVersion::V2) => EventType::UPDATE_ROWS,
            (RowsKind::Delete, RowsVersion::V2) => EventType::DELETE_ROWS,
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

/// The version of a rows event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowsVersion {
    /// MySQL 5.1 to 8.1 on request, MariaDB always.
    V1,
    /// With extra data; MySQL from 5.6 on.
    V2,
}

/// A decoded rows event; the rows themselves stay bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowsEvent<'a> {
    /// What is done.
    pub kind: RowsKind,
    /// Of the event.
    pub version: RowsVersion,
    /// Of the TABLE_MAP before it.
    pub table_id: u64,
    /// [`rows_flags`].
    pub flags: u16,
    /// Extra data of version 2, without its length; see [`ExtraRowInfo`].
    pub extra: &'a [u8],
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
        let version = if event_type.0 >= EventType::WRITE_ROWS.0 { RowsVersion::V2 } else { RowsVersion::V1 };
        Self::decode_as(kind, version, body)
    }

    /// Reads a body that is laid out as a rows event of this kind and version.
    pub(super) fn decode_as(kind: RowsKind, version: RowsVersion, body: &'a [u8]) -> Result<Self, DecodeError> {
        let mut cursor = Cursor::new(body, "rows event");
        let table_id = cursor.uint(6)?;
        let flags = cursor.u16()?;
        let mut extra: &[u8] = &[];
        if version == RowsVersion::V2 {
            // The length counts itself.
            let len = usize::from(cursor.u16()?);
            extra = cursor.take(len.checked_sub(2).ok_or_else(|| DecodeError::new("rows event: bad extra data"))?)?;
        }
        let column_count = cursor.lenenc_len()?;
        let present = cursor.take(column_count.div_ceil(8))?;
        let present_after = if kind == RowsKind::Update { cursor.take(column_count.div_ceil(8))? } else { present };
        Ok(RowsEvent {
            kind,
            version,
            table_id,
            flags,
            extra,
            column_count,
            present,
            present_after,
            rows: cursor.rest(),
        })
    }

    /// The type of the event.
    pub fn event_type(&self) -> EventType {
        self.kind.event_type_of(self.version)
    }

    /// Appends the body. Extra data has at most 65,533 bytes; what is longer is cut.
    pub fn encode_body(&self, out: &mut Vec<u8>) {
        const EXTRA_MAX: usize = u16::MAX as usize - 2;
        out.extend_from_slice(&self.table_id.to_le_bytes()[..6]);
        out.extend_from_slice(&self.flags.to_le_bytes());
        if self.version == RowsVersion::V2 {
            let extra = &self.extra[..self.extra.len().min(EXTRA_MAX)];
            out.extend_from_slice(&(extra.len() as u16 + 2).to_le_bytes());
            out.extend_from_slice(extra);
        }
        put_lenenc(out, self.column_count as u64);
        out.extend_from_slice(self.present);
        if self.kind == RowsKind::Update {
            out.extend_from_slice(self.present_after);
        }
        out.extend_from_slice(self.rows);
    }

    /// The parts of the extra data.
    pub fn extra_info(&self) -> Result<Vec<ExtraRowInfo<'a>>, DecodeError> {
        ExtraRowInfo::decode_all(self.kind, self.extra)
    }

    /// Whether every image has every column: it is then a row of [`types::row`].
    pub fn is_full(&self) -> bool {
        let full = |bitmap: &[u8]| (0..self.column_count).all(|i| crate::cursor::bit(bitmap, i));
        full(self.present) && full(self.present_after)
    }

    /// Checks that the images are rows of a table, as far as its map tells: their lengths, and which values may be NULL.
    ///
    /// # Errors
    /// When one is not.
    pub fn check_images(&self, map: &TableMap) -> Result<(), DecodeError> {
        let (never_before, never_after) = (map.never_null(self.present), map.never_null(self.present_after));
        let has_any = |image: &[u8], never: &[u8]| image.iter().zip(never).any(|(nulls, never)| nulls & never != 0);
        for images in self.images(map) {
            let (before, after) = images?;
            if has_any(before, &never_before) || has_any(after, &never_after) {
                return Err(DecodeError::new("row: NULL in a column that has none"));
            }
        }
        Ok(())
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

/// A part of the extra data of a rows event of version 2.
///
/// ```text
/// | 0 u8 | length u8, counting itself and the format | format u8 | data … |   NDB
/// | 1 u8 | partition u16 | [UPDATE: partition before u16] |                  partitioned tables
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExtraRowInfo<'a> {
    /// Of NDB.
    Ndb {
        /// How the data is laid out.
        format: u8,
        /// At most 253 bytes.
        data: &'a [u8],
    },
    /// Where the rows are.
    Partition {
        /// Number of the partition.
        id: u16,
        /// UPDATE: where the rows were.
        source: Option<u16>,
    },
    /// A kind that is not known, and all behind it.
    Unknown(&'a [u8]),
}

impl<'a> ExtraRowInfo<'a> {
    const NDB: u8 = 0;
    const PARTITION: u8 = 1;
    /// The length and the format themselves.
    const NDB_HEAD_SIZE: u8 = 2;

    /// Reads all parts.
    pub fn decode_all(kind: RowsKind, extra: &'a [u8]) -> Result<Vec<Self>, DecodeError> {
        let mut cursor = Cursor::new(extra, "extra data of rows");
        let mut parts = Vec::new();
        while !cursor.is_empty() {
            let rest = cursor.rest();
            parts.push(match cursor.u8()? {
                Self::NDB => {
                    let (len, format) = (cursor.u8()?, cursor.u8()?);
                    let len = len.checked_sub(Self::NDB_HEAD_SIZE).ok_or_else(|| DecodeError::new("bad NDB data"))?;
                    ExtraRowInfo::Ndb { format, data: cursor.take(len.into())? }
                }
                Self::PARTITION => {
                    let id = cursor.u16()?;
                    let source = if kind == RowsKind::Update { Some(cursor.u16()?) } else { None };
                    ExtraRowInfo::Partition { id, source }
                }
                _ => {
                    cursor.take(rest.len() - 1)?;
                    ExtraRowInfo::Unknown(rest)
                }
            });
        }
        Ok(parts)
    }

    /// Appends the part; NDB data that is too long is cut.
    pub fn encode(&self, out: &mut Vec<u8>) {
        match self {
            ExtraRowInfo::Ndb { format, data } => {
                let data = &data[..data.len().min(usize::from(u8::MAX - Self::NDB_HEAD_SIZE))];
                out.extend_from_slice(&[Self::NDB, data.len() as u8 + Self::NDB_HEAD_SIZE, *format]);
                out.extend_from_slice(data);
            }
            ExtraRowInfo::Partition { id, source } => {
                out.push(Self::PARTITION);
                out.extend_from_slice(&id.to_le_bytes());
                source.iter().for_each(|source| out.extend_from_slice(&source.to_le_bytes()));
            }
            ExtraRowInfo::Unknown(bytes) => out.extend_from_slice(bytes),
        }
    }
}
