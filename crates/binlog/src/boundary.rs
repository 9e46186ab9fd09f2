//! Where transactions end in a log of another server, in either dialect.
//!
//! Forgiving on purpose: a file of somebody else's may end in the middle of a group (its server died), and holds kinds of events
//! that are not known here. What is taken for the end of a transaction decides only where the log is cut after a crash and up to where
//! it is served while it is written; the bytes are the source's in any case.

use crate::error::DecodeError;
use crate::event::{EventType, MariaGtid, QueryEvent, RawEvent};

/// Follows the events of a file one by one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Boundary {
    /// Between transactions.
    #[default]
    Outside,
    /// Behind a GTID: one statement, or the `BEGIN` of more.
    Begun,
    /// Behind MariaDB's GTID of one statement that no event ends.
    Alone,
    /// Inside of a transaction that an event ends.
    Open,
}

impl Boundary {
    /// Takes the next event; says whether a transaction, or an event outside of any, ends with it.
    ///
    /// # Errors
    /// When an event that has to be looked into is none of its type.
    pub fn event(&mut self, event: &RawEvent<'_>) -> Result<bool, DecodeError> {
        *self = self.after(event)?;
        Ok(*self == Boundary::Outside)
    }

    fn after(self, event: &RawEvent<'_>) -> Result<Self, DecodeError> {
        use Boundary::*;
        Ok(match (event.header.event_type, self) {
            (EventType::MARIA_GTID, _) if MariaGtid::decode(event.body())?.is_standalone() => Alone,
            (EventType::MARIA_GTID, _) => Open,
            (event_type, _) if event_type.begins_transaction() => Begun,
            (event_type, _) if event_type.stands_between() => Outside,
            (EventType::XID | EventType::XA_PREPARE | EventType::TRANSACTION_PAYLOAD, _) => Outside,
            (EventType::QUERY, Alone) => Outside,
            (EventType::QUERY, Open) if !QueryEvent::decode(event.body())?.ends_transaction() => Open,
            (EventType::QUERY, Outside | Begun) if QueryEvent::decode(event.body())?.begins_transaction() => Open,
            (EventType::QUERY, _) => Outside,
            (EventType::MARIA_QUERY_COMPRESSED | EventType::EXECUTE_LOAD_QUERY, Alone | Begun) => Outside,
            (_, state) => state,
        })
    }
}
