//! How far an executing replica is behind its source: in time, transactions and bytes.
//!
//! Time counts from the commit of the *oldest* transaction that was received and is not executed, not from that of the last which is: after an
//! idle hour the first transaction is not an hour behind. It goes on while nobody executes, and is 0 when there is nothing left and
//! the source is heard of. What two clocks differ by does not count.

use base::UnixMicros;
use binlog::event::ChecksumAlgorithm;
use sql::services::Lag;

use super::parallel::Head;
use super::{Replica, State};
use crate::follower::status::Running;

/// When a transaction was committed where it was born, and at the source, by their clocks; 0 if nobody knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct CommitTimes {
    original: UnixMicros,
    pub(super) immediate: UnixMicros,
}

impl CommitTimes {
    /// What the event says that begins a transaction; `None` of any other.
    pub(super) fn of(bytes: &[u8], checksum: ChecksumAlgorithm) -> Option<Self> {
        Head::of(bytes, checksum).map(CommitTimes::of_head)
    }

    pub(super) fn of_head(head: Head) -> Self {
        CommitTimes { original: head.original_commit, immediate: head.immediate_commit }
    }
}

impl State {
    /// The oldest transaction that was received and is not executed; `None` if there is none.
    pub(super) fn oldest(&self) -> Option<CommitTimes> {
        if self.is_idle() {
            return None;
        }
        let run = self.run.upgrade()?;
        let in_pool = run.pool.as_ref().and_then(|pool| pool.first_and_bytes().0);
        let queued = || run.queue.find(|event| CommitTimes::of(event, self.checksum));
        in_pool.map(CommitTimes::of_head).or(self.begun).or_else(queued).filter(|times| times.immediate.0 > 0)
    }

    /// Microseconds since a time of the source's clock.
    fn since(&self, then: UnixMicros, now: UnixMicros) -> u64 {
        let then = then.0.saturating_add_signed(self.clock_difference * 1_000_000);
        now.0.saturating_sub(then)
    }

    /// Microseconds since the oldest was committed; `None` if it is not known what there is.
    pub(super) fn behind(&self, now: UnixMicros) -> Option<u64> {
        match self.oldest() {
            Some(oldest) => Some(self.since(oldest.immediate, now)),
            None if self.io_running == Running::Yes => Some(0),
            None => None,
        }
    }
}

impl Replica {
    pub(super) fn lag(&self, now: UnixMicros) -> Lag {
        let state = self.state.lock();
        let oldest = state.oldest();
        let seconds = |micros: u64| micros as f64 / 1e6;
        let bytes = state.run.upgrade().map_or(0, |run| {
            let pooled = run.pool.as_ref().map_or(0, |pool| pool.first_and_bytes().1);
            run.queue.bytes() as u64 + pooled
        });
        // The first clock of a chain is not known: it is taken as it is.
        let origin =
            oldest.filter(|oldest| oldest.original.0 > 0).map(|oldest| now.0.saturating_sub(oldest.original.0));
        let behind = state.behind(now);
        let last = (state.last_commit_time.0 > 0).then(|| state.since(state.last_commit_time, state.last_executed_at));
        let mut left = state.retrieved.clone();
        left.subtract(&self.follower.engine().gtid_executed());
        Lag {
            transactions: (!state.retrieved.is_empty() || oldest.is_none()).then(|| left.count()),
            bytes,
            seconds: behind.map(seconds),
            origin_seconds: origin.or(behind.filter(|behind| *behind == 0)).map(seconds),
            last_seconds: last.map(seconds),
        }
    }
}

#[cfg(test)]
mod tests {
    use binlog::event::{EventHeader, EventType, HEADER_SIZE};

    use super::*;

    #[test]
    fn only_what_begins_a_transaction_has_times() {
        let event = |event_type| {
            let event_length = (HEADER_SIZE + 19) as u32;
            let header =
                EventHeader { timestamp: 77, event_type, server_id: 1, event_length, next_position: 0, flags: 0 };
            let mut bytes = Vec::new();
            header.encode(&mut bytes);
            bytes.extend([0; 19]);
            bytes
        };
        let of = |event_type| CommitTimes::of(&event(event_type), ChecksumAlgorithm::Off);
        let at = CommitTimes { immediate: UnixMicros(77_000_000), ..CommitTimes::default() };
        assert_eq!(of(EventType::MARIA_GTID), Some(at));
        assert_eq!(of(EventType::QUERY), None);
        assert_eq!(CommitTimes::of(&[0; 3], ChecksumAlgorithm::Off), None);
    }
}
