//! MariaDB's events that are compressed one by one: QUERY_COMPRESSED and the compressed rows events.
//!
//! The head is that of the plain event; in place of the statement, or of the rows, stands a block:
//!
//! ```text
//! | 0x80, algorithm << 4 (0: zlib), length of length | length as it was, 1 to 4 bytes, highest first | zlib stream … |
//! ```

use std::io::{Read as _, Write as _};

use flate2::Compression;
use flate2::bufread::ZlibDecoder;
use flate2::write::ZlibEncoder;

use super::query::QueryEvent;
use super::rows::{RowsEvent, RowsKind, RowsVersion};
use super::{EventType, rows};
use crate::error::DecodeError;

/// Bit of the block's first byte that is always set.
const IS_COMPRESSED: u8 = 0x80;
const ALGORITHM_MASK: u8 = 0x70;
const LENGTH_MASK: u8 = 0x07;

/// A compressed block: what it was before is checked to have the size that it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompressedBlock<'a> {
    /// As it is in the event.
    pub bytes: &'a [u8],
    size: usize,
    stream_at: usize,
}

impl<'a> CompressedBlock<'a> {
    /// Reads the block's head.
    pub fn decode(bytes: &'a [u8]) -> Result<Self, DecodeError> {
        let head = *bytes.first().ok_or_else(|| DecodeError::short("compressed block"))?;
        if head & IS_COMPRESSED == 0 || head & ALGORITHM_MASK != 0 {
            return Err(DecodeError::new(format!("block that is compressed in an unknown way, {head:#04x}")));
        }
        let stream_at = 1 + usize::from(head & LENGTH_MASK);
        let length = bytes.get(1..stream_at).ok_or_else(|| DecodeError::short("compressed block"))?;
        if length.is_empty() || length.len() > 4 {
            return Err(DecodeError::new(format!("compressed block with a length of {} bytes", length.len())));
        }
        let size = length.iter().fold(0, |size, &byte| size << 8 | usize::from(byte));
        Ok(CompressedBlock { bytes, size, stream_at })
    }

    /// Its size before it was compressed, as it says.
    pub fn size(&self) -> usize {
        self.size
    }

    /// What it was before. More than `size_max` bytes are an error; memory is taken as bytes come out, not as the block says.
    pub fn inflate(&self, size_max: usize) -> Result<Vec<u8>, DecodeError> {
        if self.size > size_max {
            return Err(DecodeError::new(format!(
                "compressed block of {} bytes; at most {size_max} are taken",
                self.size
            )));
        }
        let mut inflated = Vec::new();
        // One byte more than it says would show that it is longer.
        let decoder = ZlibDecoder::new(&self.bytes[self.stream_at..]);
        decoder
            .take(self.size as u64 + 1)
            .read_to_end(&mut inflated)
            .map_err(|error| DecodeError::new(format!("compressed block: {error}")))?;
        if inflated.len() == self.size {
            Ok(inflated)
        } else {
            Err(DecodeError::new(format!("compressed block that says {} bytes and has others", self.size)))
        }
    }

    /// Appends a block of `plain`, which has at most 4 GiB.
    ///
    /// # Errors
    /// If it is longer.
    pub fn compress(plain: &[u8], out: &mut Vec<u8>) -> Result<(), DecodeError> {
        let size = u32::try_from(plain.len()).map_err(|_| DecodeError::new("block of more than 4 GiB"))?;
        let length_size = (4 - size.leading_zeros() as usize / 8).max(1);
        out.push(IS_COMPRESSED | length_size as u8);
        out.extend_from_slice(&size.to_be_bytes()[4 - length_size..]);
        let mut encoder = ZlibEncoder::new(out, Compression::default());
        let written = encoder.write_all(plain).and_then(|()| encoder.finish().map(drop));
        // Writing to memory does not fail.
        written.map_err(|error| DecodeError::new(format!("compressing: {error}")))
    }
}

/// QUERY_COMPRESSED.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompressedQuery<'a> {
    /// All but the statement, which is empty.
    pub head: QueryEvent<'a>,
    /// The statement.
    pub block: CompressedBlock<'a>,
}

impl<'a> CompressedQuery<'a> {
    /// Reads the body.
    pub fn decode(body: &'a [u8]) -> Result<Self, DecodeError> {
        let query = QueryEvent::decode(body)?;
        let block = CompressedBlock::decode(query.sql)?;
        Ok(CompressedQuery { head: QueryEvent { sql: &[], ..query }, block })
    }

    /// Appends the body.
    pub fn encode_body(&self, out: &mut Vec<u8>) {
        self.head.encode_body(out);
        out.extend_from_slice(self.block.bytes);
    }

    /// The statement.
    pub fn sql(&self, size_max: usize) -> Result<Vec<u8>, DecodeError> {
        self.block.inflate(size_max)
    }
}

/// A compressed rows event, of MariaDB's numbering: 166 to 168 of version 1, 169 to 171 of version 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompressedRows<'a> {
    /// All but the rows, which are empty.
    pub head: RowsEvent<'a>,
    /// The rows.
    pub block: CompressedBlock<'a>,
}

impl<'a> CompressedRows<'a> {
    /// The plain type behind a compressed one.
    pub fn plain_type(event_type: EventType) -> Option<EventType> {
        let kind = |offset: u8| [RowsKind::Write, RowsKind::Update, RowsKind::Delete][usize::from(offset % 3)];
        let first = EventType::MARIA_WRITE_ROWS_COMPRESSED_V1.0;
        match event_type.0.checked_sub(first)? {
            offset @ 0..=2 => Some(kind(offset).event_type_of(RowsVersion::V1)),
            offset @ 3..=5 => Some(kind(offset).event_type_of(RowsVersion::V2)),
            _ => None,
        }
    }

    /// Reads the body.
    pub fn decode(event_type: EventType, body: &'a [u8]) -> Result<Self, DecodeError> {
        let plain = Self::plain_type(event_type)
            .ok_or_else(|| DecodeError::new(format!("{event_type:?} is not a compressed rows event")))?;
        let rows = RowsEvent::decode(plain, body)?;
        let block = CompressedBlock::decode(rows.rows)?;
        Ok(CompressedRows { head: RowsEvent { rows: &[], ..rows }, block })
    }

    /// The type of the event.
    pub fn event_type(&self) -> EventType {
        let plain = self.head.event_type();
        let (first, offset) = match self.head.version {
            RowsVersion::V1 => (EventType::MARIA_WRITE_ROWS_COMPRESSED_V1, EventType::WRITE_ROWS_V1.0),
            RowsVersion::V2 => (EventType::MARIA_WRITE_ROWS_COMPRESSED, EventType::WRITE_ROWS.0),
        };
        EventType(first.0 + plain.0 - offset)
    }

    /// Appends the body.
    pub fn encode_body(&self, out: &mut Vec<u8>) {
        self.head.encode_body(out);
        out.extend_from_slice(self.block.bytes);
    }

    /// The rows; with them in place, [`CompressedRows::head`] is the plain event.
    pub fn rows(&self, size_max: usize) -> Result<Vec<u8>, DecodeError> {
        self.block.inflate(size_max)
    }

    /// The plain event with the rows that [`CompressedRows::rows`] gave.
    pub fn with_rows<'b>(&self, rows: &'b [u8]) -> rows::RowsEvent<'b>
    where
        'a: 'b,
    {
        RowsEvent { rows, ..self.head }
    }
}
