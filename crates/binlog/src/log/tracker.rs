//! Where transactions begin and end in a sequence of events, in either dialect.

use crate::error::DecodeError;
use crate::event::{ChecksumAlgorithm, EventType, HEADER_SIZE, MariaGtid, QueryEvent, RawEvent};

/// Follows the events of a log one by one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TransactionTracker {
    /// Between transactions.
    #[default]
    Outside,
    /// Behind a GTID event: a statement alone, or the `BEGIN` of more.
    Begun,
    /// Between `BEGIN` and the event that ends the transaction.
    Open,
}

impl TransactionTracker {
    /// Takes the next event; says whether a transaction, or an event outside of any, ends with it.
    ///
    /// # Errors
    /// When the event cannot stand there: one of a transaction's inside outside of any, or the other way round.
    pub fn event(&mut self, event: &RawEvent<'_>) -> Result<bool, DecodeError> {
        let next = self.after(event)?;
        *self = next;
        Ok(next == TransactionTracker::Outside)
    }

    fn after(self, event: &RawEvent<'_>) -> Result<Self, DecodeError> {
        use TransactionTracker::*;
        let event_type = event.header.event_type;
        if self != Outside && (event_type.begins_transaction() || event_type.stands_between()) {
            return Err(DecodeError::new(format!("{event_type:?} inside of a transaction")));
        }
        if self == Outside && belongs_inside(event_type) {
            return Err(DecodeError::new(format!("{event_type:?} outside of a transaction")));
        }
        Ok(match (self, event_type) {
            (Outside, EventType::MARIA_GTID) if !MariaGtid::decode(event.body())?.is_standalone() => Open,
            (Outside, event_type) if event_type.begins_transaction() => Begun,
            (_, EventType::XID | EventType::XA_PREPARE | EventType::TRANSACTION_PAYLOAD) => Outside,
            (_, EventType::QUERY) => {
                let query = QueryEvent::decode(event.body())?;
                match self {
                    Outside | Begun if query.begins_transaction() => Open,
                    Open if !query.ends_transaction() => Open,
                    _ => Outside,
                }
            }
            // A server compresses no statement as short as those that begin and end transactions.
            (Begun, EventType::MARIA_QUERY_COMPRESSED) => Outside,
            (state, _) => state,
        })
    }
}

/// Checks what a GTID event says of its transaction's length: `bytes` are so many, and have to be one transaction and nothing else.
///
/// # Errors
/// When they are not; checksums are not looked at.
pub(super) fn check_said_length(bytes: &[u8], checksum: ChecksumAlgorithm) -> Result<(), DecodeError> {
    if ends_with_its_xid(bytes) {
        return Ok(());
    }
    let mut tracker = TransactionTracker::default();
    let mut rest = bytes;
    while !rest.is_empty() {
        let event =
            RawEvent::first_of(rest, checksum).map_err(|_| wrong_length(bytes.len() as u64, "inside of an event"))?;
        rest = &rest[event.bytes.len()..];
        if tracker.event(&event).map_err(|reason| wrong_length(bytes.len() as u64, &reason.0))? && !rest.is_empty() {
            return Err(wrong_length(bytes.len() as u64, "behind its last event"));
        }
    }
    match tracker {
        TransactionTracker::Outside => Ok(()),
        _ => Err(wrong_length(bytes.len() as u64, "before its last event")),
    }
}

/// Whether the bytes are events of which the last is the first XID, and only the first begins a transaction. That is nearly all there is, and
/// seen by types and lengths alone.
fn ends_with_its_xid(bytes: &[u8]) -> bool {
    let mut rest = bytes;
    let mut is_first = true;
    while let Some((header, _)) = rest.split_first_chunk::<HEADER_SIZE>() {
        let event_type = EventType(header[4]);
        let length = u32::from_le_bytes([header[9], header[10], header[11], header[12]]) as usize;
        if length < HEADER_SIZE || length > rest.len() {
            return false;
        }
        rest = &rest[length..];
        match event_type {
            EventType::XID => return rest.is_empty(),
            EventType::XA_PREPARE | EventType::TRANSACTION_PAYLOAD => return false,
            event_type if event_type.begins_transaction() != is_first || event_type.stands_between() => return false,
            _ => is_first = false,
        }
    }
    false
}

/// A GTID event says so many bytes, and the transaction does not end there.
pub(super) fn wrong_length(said: u64, where_it_ends: &str) -> DecodeError {
    DecodeError(format!("the GTID event gives its transaction {said} bytes, which end {where_it_ends}"))
}

/// Events that are always part of a transaction.
fn belongs_inside(event_type: EventType) -> bool {
    matches!(event_type, EventType::TABLE_MAP | EventType::XID | EventType::ROWS_QUERY)
        || crate::event::RowsKind::of(event_type).is_some()
}
