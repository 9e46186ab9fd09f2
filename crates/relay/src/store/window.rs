//! Reads a file event by event, a window of bytes at a time.

use std::sync::Arc;

use binlog::event::{ChecksumAlgorithm, HEADER_SIZE};
use binlog::{BinlogError, EventHeader, RawEvent};
use io::{File, IoBuf};

use super::{corrupt, head, io_error};

/// Bytes read at once, unless an event is longer. Each replica has a window of its own, over pages that all share.
const READ_SIZE: usize = 128 << 10;

/// A window of a file.
pub(crate) struct Window {
    file: Arc<dyn File>,
    path: String,
    bytes: IoBuf,
    /// Where in the file the window begins.
    at: u64,
}

impl Window {
    pub(crate) fn new(file: Arc<dyn File>, path: String) -> Self {
        Window { file, path, bytes: IoBuf::new(), at: 0 }
    }

    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// Reads the event at an offset, with its checksum; how long it is. `None` if it is not all before `limit`.
    ///
    /// # Errors
    /// When the file cannot be read, or there is no event there.
    pub(crate) async fn load(
        &mut self,
        offset: u64,
        limit: u64,
        checksum: ChecksumAlgorithm,
    ) -> Result<Option<u64>, BinlogError> {
        if !self.fill(offset, HEADER_SIZE, limit).await? {
            return Ok(None);
        }
        let header = EventHeader::decode(self.slice(offset, HEADER_SIZE));
        let length = header.map_err(|error| corrupt(&self.path, offset, error))?.event_length as usize;
        if !self.fill(offset, length, limit).await? {
            return Ok(None);
        }
        let event = self.event(offset, length as u64, checksum)?;
        head::verify(&event, checksum).map_err(|error| corrupt(&self.path, offset, error))?;
        Ok(Some(length as u64))
    }

    /// An event that was loaded.
    ///
    /// # Errors
    /// When it is too short for an event.
    pub(crate) fn event(
        &self,
        offset: u64,
        length: u64,
        checksum: ChecksumAlgorithm,
    ) -> Result<RawEvent<'_>, BinlogError> {
        let bytes = self.slice(offset, length as usize);
        RawEvent::first_of(bytes, checksum).map_err(|error| corrupt(&self.path, offset, error))
    }

    fn slice(&self, offset: u64, length: usize) -> &[u8] {
        let start = (offset - self.at) as usize;
        &self.bytes[start..start + length]
    }

    /// Whether so many bytes are there; then they are in the window.
    async fn fill(&mut self, offset: u64, length: usize, limit: u64) -> Result<bool, BinlogError> {
        if offset + length as u64 > limit {
            return Ok(false);
        }
        let end = self.at + self.bytes.len() as u64;
        if self.at <= offset && offset + length as u64 <= end {
            return Ok(true);
        }
        let room = usize::try_from(limit - offset).unwrap_or(usize::MAX);
        let wanted = READ_SIZE.max(length).min(room);
        let mut buf = std::mem::take(&mut self.bytes);
        if buf.len() > 2 * wanted.max(READ_SIZE) {
            // Memory that only a long event needed.
            buf = IoBuf::new();
        }
        buf.resize(wanted);
        let read = self.file.read_at(offset, buf).await;
        self.bytes = read.map_err(|error| io_error("read", &self.path, &error))?;
        self.at = offset;
        Ok(true)
    }
}
