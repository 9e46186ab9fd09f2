//! Where a MariaDB replica says that it is (`Read_Master_Log_Pos`).
//!
//! A MariaDB adds up the lengths of what it gets, and goes forward where an event's header says that it ends further on. It asks from there
//! when it comes again by position, and stops at a heartbeat from before that place. So events in the place of others may be shorter, but
//! where they are longer it counts too far, until something shorter comes:
//!
//! | what | counts |
//! |---|---|
//! | ROTATE | nothing; the position is what it says |
//! | FORMAT_DESCRIPTION | nothing, as it is sent without a position |
//! | GTID_LIST | nothing but what its header says |
//! | a GTID in the place of MySQL's, and BEGIN | less |
//! | rows and table maps with JSON; a QUERY that gets a fraction of a second; XA COMMIT, whose GTID has the xid | more, or less |
//!
//! A ROTATE to the true position takes it back. It makes the replica begin a new relay log, so it is sent behind such a transaction, to those that
//! follow by position; for the others a heartbeat says what they have counted.

use binlog::EventType;
use binlog::event::EventHeader;

/// What the replica has counted to, in the file that the last ROTATE has named.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counted {
    pub(super) offset: u64,
}

impl Counted {
    /// Takes the next event that it gets; one with a header that cannot be read is not counted.
    pub(super) fn event(&mut self, bytes: &[u8]) {
        let Ok(header) = EventHeader::decode(bytes) else { return };
        let counted = match header.event_type {
            EventType::MARIA_GTID_LIST => self.offset,
            _ => self.offset + bytes.len() as u64,
        };
        // Positions in events are modulo 4 GiB, and a MariaDB compares them as they are.
        self.offset = counted.max(u64::from(header.next_position));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use binlog::event::{Frame, whole_event};

    fn event(event_type: EventType, start: u64, len: usize) -> Vec<u8> {
        whole_event(event_type, Frame { timestamp: 1, server_id: 1, flags: 0 }, start, &vec![0; len - 23])
    }

    #[test]
    fn it_goes_forward_by_positions_and_never_back() {
        let mut counted = Counted { offset: 4 };
        counted.event(&event(EventType::MARIA_GTID_LIST, 100, 57));
        assert_eq!(counted.offset, 157);
        // In the place of an event that ends at 240.
        counted.event(&event(EventType::MARIA_GTID, 198, 42));
        assert_eq!(counted.offset, 240);
        // And in that of one that ends at 300.
        counted.event(&event(EventType::QUERY, 236, 64));
        assert_eq!(counted.offset, 304);
    }
}
