//! Events out of one file, in order.

use std::sync::Arc;

use binlog::event::{ChecksumAlgorithm, EventHeader, HEADER_SIZE, MAGIC};
use binlog::{BinlogError, EventType, FormatDescription, RawEvent};
use io::{File, IoBuf};

use crate::error::{corrupt, io_error};

/// Read at once, unless an event is longer.
const READ_BYTES: usize = 128 << 10;
/// Kept of a buffer that a long event has made long.
const KEPT_BYTES: usize = 1 << 20;

/// A reader of one file. In memory is one piece of the file, or its longest event if that is longer.
pub(crate) struct FileReader {
    name: Arc<str>,
    file: Arc<dyn File>,
    /// Of the first byte in `buffer`.
    offset: u64,
    buffer: Vec<u8>,
    /// Behind the event that was given last.
    used: usize,
    checksum: ChecksumAlgorithm,
}

impl FileReader {
    /// From the first event on.
    pub(crate) fn new(name: Arc<str>, file: Arc<dyn File>) -> Self {
        let offset = MAGIC.len() as u64;
        FileReader { name, file, offset, buffer: Vec::new(), used: 0, checksum: ChecksumAlgorithm::Off }
    }

    /// Where the next event begins.
    pub(crate) fn position(&self) -> u64 {
        self.offset + self.used as u64
    }

    /// Goes on elsewhere. The FORMAT_DESCRIPTION must have been read before.
    pub(crate) fn seek(&mut self, offset: u64) {
        self.buffer.clear();
        self.used = 0;
        self.offset = offset;
    }

    /// How events behind the FORMAT_DESCRIPTION are protected.
    pub(crate) fn checksum(&self) -> ChecksumAlgorithm {
        self.checksum
    }

    /// The next event, if all of it is before `end`; `None` at `end`.
    ///
    /// # Errors
    /// An event that goes beyond `end`, or is not what its checksum and its place say.
    pub(crate) async fn next(&mut self, end: u64) -> Result<Option<RawEvent<'_>>, BinlogError> {
        let at = self.position();
        if at >= end {
            return Ok(None);
        }
        let torn = || corrupt(&self.name, at, "an event goes beyond the end");
        if end - at < HEADER_SIZE as u64 {
            return Err(torn());
        }
        self.fill(HEADER_SIZE, end).await?;
        let wrong = |error: binlog::DecodeError| corrupt(&self.name, at, error);
        let header = EventHeader::decode(&self.buffer[self.used..]).map_err(wrong)?;
        let len = header.event_length as usize;
        if end - at < len as u64 {
            return Err(corrupt(&self.name, at, "an event goes beyond the end"));
        }
        self.fill(len, end).await?;
        let start = self.used;
        self.used += len;
        let wrong = |error: binlog::DecodeError| corrupt(&self.name, at, error);
        let event = RawEvent::first_of(&self.buffer[start..], self.checksum).map_err(wrong)?;
        event.verify().map_err(wrong)?;
        check_place(&event, at).map_err(|reason| corrupt(&self.name, at, reason))?;
        if header.event_type == EventType::FORMAT_DESCRIPTION {
            self.checksum = FormatDescription::decode(&event).map_err(wrong)?.checksum;
        }
        Ok(Some(event))
    }

    /// Has `len` bytes of the next event in memory; they are before `end`.
    async fn fill(&mut self, len: usize, end: u64) -> Result<(), BinlogError> {
        if self.buffer.len() - self.used >= len {
            return Ok(());
        }
        self.buffer.drain(..self.used);
        self.offset += self.used as u64;
        self.used = 0;
        if len <= READ_BYTES {
            self.buffer.shrink_to(KEPT_BYTES);
        }
        while self.buffer.len() < len {
            let at = self.offset + self.buffer.len() as u64;
            let wanted = READ_BYTES.max(len - self.buffer.len()).min(KEPT_BYTES);
            let count = (end - at).min(wanted as u64) as usize;
            let read = self.file.read_at(at, IoBuf::zeroed(count)).await;
            self.buffer.extend_from_slice(&read.map_err(|error| io_error("read", &self.name, &error))?);
        }
        Ok(())
    }
}

/// An event says where it ends, modulo 4 GiB; MariaDB leaves that out inside of transactions.
pub(crate) fn check_place(event: &RawEvent<'_>, offset: u64) -> Result<(), String> {
    let end = offset + event.bytes.len() as u64;
    match event.header.next_position {
        said if said == end as u32 || said == 0 => Ok(()),
        said => Err(format!("{:?} event says that it ends at {said}, not {end}", event.header.event_type)),
    }
}
