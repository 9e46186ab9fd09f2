//! Whether what is read belongs where it is.
//!
//! A write that the disk put into another file of the log, at the same offset, leaves events there whose checksums and positions
//! are right. What they cannot have is the right company:
//!
//! - the GTIDs before a file are known from opening the log, or from beginning the file; its PREVIOUS_GTIDS must be these;
//! - a transaction's GTID is not among those before its file, and is among those before the next one;
//! - the pieces in which a large transaction is written are smaller than it, so the head of its file has a sum over all of its
//!   events, in the IGNORABLE event that is there anyway:
//!
//! ```text
//! | "commuter" | sum u64 | zeros |      of each event from BEGIN on and before XID: xxh3 (offset u64, checksum u64), wrapping sum
//! ```

use base::Gtid;
use xxhash_rust::xxh3::xxh3_64;

use super::files::Files;
use crate::error::DecodeError;
use crate::event::{EventType, RawEvent};
use crate::gtid_set::GtidSet;

const SUM_TAG: [u8; 8] = *b"commuter";
/// What the body of an IGNORABLE event with a sum has at least.
pub(crate) const SUM_SIZE: usize = SUM_TAG.len() + 8;

/// The sum of some events, in any order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct EventSum(u64);

impl EventSum {
    /// Adds an event that begins at `offset` of its file.
    pub(crate) fn add(&mut self, offset: u64, event: &RawEvent<'_>) {
        let checksum = u64::from(event.checksum().unwrap_or(0));
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&offset.to_le_bytes());
        bytes[8..].copy_from_slice(&checksum.to_le_bytes());
        self.0 = self.0.wrapping_add(xxh3_64(&bytes));
    }

    /// Writes it into the body of an IGNORABLE event.
    pub(crate) fn encode(self, body: &mut [u8]) {
        body[..SUM_TAG.len()].copy_from_slice(&SUM_TAG);
        body[SUM_TAG.len()..SUM_SIZE].copy_from_slice(&self.0.to_le_bytes());
    }

    /// Reads it, if the event has one.
    pub(crate) fn decode(event: &RawEvent<'_>) -> Option<Self> {
        let rest = event.body().strip_prefix(&SUM_TAG)?;
        rest.first_chunk().map(|bytes| EventSum(u64::from_le_bytes(*bytes)))
    }
}

/// What a reader knows of the file that it reads.
#[derive(Debug, Default)]
pub(super) struct Belongs {
    /// GTIDs before the file.
    previous: GtidSet,
    /// Of the large transaction that the file is.
    expected: Option<EventSum>,
    /// Of its events so far, if all were read.
    sum: Option<EventSum>,
}

impl Belongs {
    pub(super) fn new(previous: GtidSet, expected: Option<EventSum>) -> Self {
        Belongs { previous, expected, sum: None }
    }

    /// Whether the file is one large transaction.
    pub(super) fn is_large(&self) -> bool {
        self.expected.is_some()
    }

    /// Checks the GTID of a transaction of this file.
    pub(super) fn check_gtid(&self, gtid: Gtid, file: u64, files: &Files) -> Result<(), DecodeError> {
        let next = files.by_number.get(&(file + 1));
        let is_other = if self.previous.contains(gtid) {
            "an earlier"
        } else if next.is_some_and(|next| !next.previous_gtids.contains(gtid)) {
            "another"
        } else {
            return Ok(());
        };
        Err(DecodeError::new(format!("the transaction {gtid} belongs to {is_other} file: a write went astray")))
    }

    /// Takes the next event of the file, which begins at `offset`.
    pub(super) fn event(&mut self, offset: u64, event: &RawEvent<'_>) -> Result<(), DecodeError> {
        let Some(expected) = self.expected else { return Ok(()) };
        match (event.header.event_type, &mut self.sum) {
            (event_type, sum) if event_type.is_gtid() => *sum = Some(EventSum::default()),
            (EventType::XID, sum) => {
                if sum.take().is_some_and(|sum| sum != expected) {
                    return Err(DecodeError::new("the events before it are not those of its transaction"));
                }
            }
            (_, Some(sum)) => sum.add(offset, event),
            (_, None) => {}
        }
        Ok(())
    }
}
