//! [`LogBatch`]: many transactions of rows at once, for who takes a log as fast as it can be read.
//!
//! One buffer, of which only the head of each transaction has been looked at. Buffers come back to their reader when the last
//! slice of them is gone, so that reading on neither asks for memory nor clears it.

use std::sync::Arc;

use base::LogPosition;
use bytes::Bytes;
use io::IoBuf;
use parking_lot::Mutex;

use super::reader::{LogReader, LogTransaction};
use super::tracker::check_said_length;
use crate::error::{DecodeError, Result};
use crate::event::{ChecksumAlgorithm, EventIter, GtidEvent, RawEvent};

/// Buffers that a reader keeps.
const SPARE_MAX: usize = 8;

/// Neighbouring transactions of one file.
#[derive(Clone, Debug)]
pub struct LogBatch {
    start: LogPosition,
    bytes: Bytes,
    checksum: ChecksumAlgorithm,
    /// Where each ends in `bytes`.
    ends: Vec<usize>,
}

impl LogBatch {
    /// How many.
    pub fn transactions(&self) -> usize {
        self.ends.len()
    }

    /// Where the first begins.
    pub fn start(&self) -> LogPosition {
        self.start
    }

    /// The memory of all of them.
    pub fn memory(&self) -> &Bytes {
        &self.bytes
    }

    /// Takes them apart. Checksums were checked of the heads only.
    pub fn iter(&self) -> impl Iterator<Item = LogSlice<'_>> {
        let at = |offset: usize| LogPosition { offset: self.start.offset + offset as u64, ..self.start };
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let slice = move |(start, &end): (usize, &usize)| LogSlice {
            start: at(start),
            end: at(end),
            bytes: &self.bytes[start..end],
            checksum: self.checksum,
        };
        starts.zip(&self.ends).map(slice)
    }

    /// One of them, by itself.
    pub fn transaction(&self, slice: &LogSlice<'_>) -> Result<LogTransaction, DecodeError> {
        let LogSlice { start, end, bytes, checksum } = *slice;
        let (gtid_event, bytes) = (Some(slice.head()?), self.bytes.slice_ref(bytes));
        Ok(LogTransaction { start, end, gtid_event, bytes, checksum })
    }
}

/// A transaction in a [`LogBatch`].
#[derive(Clone, Copy, Debug)]
pub struct LogSlice<'a> {
    /// Where its first event begins.
    pub start: LogPosition,
    /// Behind its last event.
    pub end: LogPosition,
    bytes: &'a [u8],
    checksum: ChecksumAlgorithm,
}

impl<'a> LogSlice<'a> {
    /// Its events in order, the GTID event first.
    pub fn events(&self) -> EventIter<'a> {
        EventIter::new(self.bytes, self.checksum).at(self.start.offset)
    }

    /// Its first event.
    pub fn head(&self) -> Result<GtidEvent, DecodeError> {
        let event = RawEvent::first_of(self.bytes, self.checksum)?;
        GtidEvent::decode(event.header.event_type, event.body())
    }
}

/// Buffers to be used again.
#[derive(Default)]
pub(super) struct Spare(Mutex<Vec<IoBuf>>);

impl Spare {
    /// A buffer of that length, with any bytes in it.
    pub(super) fn take(&self, len: usize) -> IoBuf {
        let mut buf = self.0.lock().pop().unwrap_or_default();
        buf.resize(len);
        buf
    }
}

/// Gives the memory of an [`IoBuf`] to `Bytes`, and takes it back.
pub(super) struct Lent {
    pub(super) buf: IoBuf,
    pub(super) spare: Arc<Spare>,
}

impl AsRef<[u8]> for Lent {
    fn as_ref(&self) -> &[u8] {
        &self.buf
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        let mut spare = self.spare.0.lock();
        if spare.len() < SPARE_MAX {
            spare.push(std::mem::take(&mut self.buf));
        }
    }
}

impl LogReader {
    /// As many of the next transactions as fit into `bytes`, but at least one, and only such as hold rows and nothing else in
    /// MySQL's dialect. `None` if what comes next is of another kind or larger, or a file by itself, or if this is the durable end:
    /// [`LogReader::next_up_to`] knows.
    pub async fn next_batch(&mut self, bytes: u64) -> Result<Option<LogBatch>> {
        let Some((_, limit)) = self.go_to_transaction().await? else { return Ok(None) };
        let mut ends = self.ends_of_rows(bytes)?;
        if ends.is_empty() {
            self.fill(bytes.min(limit - self.position().offset), limit).await?;
            ends = self.ends_of_rows(bytes)?;
        }
        let Some(&end) = ends.last() else { return Ok(None) };
        let checksum = self.checksum();
        let (start, bytes) = self.take(end as u64).await?;
        Ok(Some(LogBatch { start, bytes, checksum, ends }))
    }

    /// The ends of the transactions of rows with which the buffer begins, as far as they are all in its first bytes.
    fn ends_of_rows(&self, bytes: u64) -> Result<Vec<usize>> {
        let limit = self.buffered().len().min(bytes as usize);
        let (mut end, mut ends) = (0, Vec::new());
        loop {
            match self.rows_length(end, limit) {
                Ok(Some(length)) => {
                    end += length;
                    ends.push(end);
                }
                // An error is about the transaction at which the reader stands.
                Err(error) if ends.is_empty() => return Err(error),
                Ok(None) | Err(_) => return Ok(ends),
            }
        }
    }

    /// The length of the transaction of rows that begins at `at` in the buffer, if there is one that ends before `limit`.
    fn rows_length(&self, at: usize, limit: usize) -> Result<Option<usize>> {
        let place = LogPosition { offset: self.position().offset + at as u64, ..self.position() };
        let damaged = |reason: DecodeError| self.damaged_at(place, reason);
        if self.is_large() {
            return Ok(None);
        }
        let rest = &self.buffered()[at..limit];
        // The head of a transaction may be cut by the end of the buffer; what else is there, somebody else says.
        let Ok(head) = RawEvent::first_of(rest, self.checksum()) else { return Ok(None) };
        if !head.header.event_type.is_gtid() {
            return Ok(None);
        }
        head.verify().map_err(damaged)?;
        let head = GtidEvent::decode(head.header.event_type, head.body()).map_err(damaged)?;
        self.check_gtid(place, head.gtid)?;
        let length = head.transaction_length as usize;
        let is_rows = !head.may_have_statements && length > 0;
        if !is_rows || length > rest.len() {
            return Ok(None);
        }
        check_said_length(&rest[..length], self.checksum()).map_err(damaged)?;
        Ok(Some(length))
    }
}
