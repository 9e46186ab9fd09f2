//! `SOURCE_DELAY`: what a source has committed is executed so many seconds later, by the clock of this server.
//!
//! # Invariants
//! - A transaction is late by the delay or more, never by less; what waits ends when the replica stops.
//! - Nothing waits but the beginning of a transaction: what comes behind it was committed with it.

use std::time::Duration;

use base::UnixMicros;
use binlog::event::EventType;
use binlog::{FormatDescription, GtidEvent, RawEvent};
use futures_lite::future;

use super::Run;

/// When what an event belongs to was committed at its source, by the source's clock; `None` if it is no part of a transaction.
pub(super) fn commit_time(bytes: &[u8], format: &FormatDescription) -> Option<UnixMicros> {
    let event = RawEvent::first_of(bytes, format.checksum).ok()?;
    let event_type = event.header.event_type;
    if event_type.is_gtid()
        && let Ok(gtid) = GtidEvent::decode(event_type, event.body())
        && gtid.immediate_commit_time.0 > 0
    {
        return Some(gtid.immediate_commit_time);
    }
    match event_type {
        event_type if event_type.stands_between() => None,
        EventType::HEARTBEAT | EventType::HEARTBEAT_V2 | EventType::MARIA_START_ENCRYPTION => None,
        _ => Some(UnixMicros(u64::from(event.header.timestamp) * 1_000_000)),
    }
}

impl Run {
    /// Ready when what was committed then is to be executed, or the replica stops.
    pub(super) async fn wait_until_due(&self, committed: UnixMicros) {
        let difference = self.replica.state.lock().clock_difference * 1_000_000;
        let due = UnixMicros(committed.0.saturating_add_signed(difference) + self.delay.as_micros() as u64);
        let clock = &self.env().clock;
        while let Some(left) = due.0.checked_sub(clock.now().0).filter(|left| *left > 0) {
            self.replica.change(|state| state.delayed_until = Some(due));
            let slept = async {
                clock.sleep(Duration::from_micros(left)).await;
                false
            };
            let closed = async {
                self.queue.closed().await;
                true
            };
            let is_closed = future::or(closed, slept).await;
            self.replica.change(|state| state.delayed_until = None);
            if is_closed {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use binlog::event::{ChecksumAlgorithm, EventHeader, HEADER_SIZE};

    use super::*;

    fn event(event_type: EventType, body: &[u8]) -> Vec<u8> {
        let event_length = (HEADER_SIZE + body.len()) as u32;
        let header = EventHeader { timestamp: 77, event_type, server_id: 1, event_length, next_position: 0, flags: 0 };
        let mut bytes = Vec::new();
        header.encode(&mut bytes);
        bytes.extend(body);
        bytes
    }

    #[test]
    fn a_gtid_says_it_to_the_microsecond() {
        let format = FormatDescription { checksum: ChecksumAlgorithm::Off, ..FormatDescription::new("", 0) };
        let time = |event_type, body: &[u8]| commit_time(&event(event_type, body), &format);
        let gtid = GtidEvent {
            gtid: None,
            local_to: None,
            may_have_statements: false,
            last_committed: 0,
            sequence_number: 1,
            immediate_commit_time: UnixMicros(77_123_456),
            original_commit_time: UnixMicros(7_000_000),
            transaction_length: 0,
            immediate_server_version: 90_704,
            original_server_version: 90_704,
            commit_group_ticket: None,
        };
        let mut body = Vec::new();
        gtid.encode_body(&mut body);
        assert_eq!(time(EventType::ANONYMOUS_GTID, &body), Some(UnixMicros(77_123_456)));
        assert_eq!(time(EventType::MARIA_GTID, &[]), Some(UnixMicros(77_000_000)));
        assert_eq!(time(EventType::QUERY, &[]), Some(UnixMicros(77_000_000)));
        assert_eq!(time(EventType::ROTATE, &[]), None);
        assert_eq!(time(EventType::FORMAT_DESCRIPTION, &[]), None);
    }
}
