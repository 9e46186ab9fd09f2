//! Whatever bytes come in, decoders answer; they do not panic, and they end.

use proptest::prelude::*;

use super::*;
use crate::dump::{DumpFormat, Dumper, info};
use crate::event::{
    ChecksumAlgorithm, EventHeader, EventType, Heartbeat, MariaGtid, MariaGtidList, QueryEvent, Rotate, RowsEvent,
    TableMap, whole_event,
};

/// Types that have a decoder, and some that have none.
fn event_types() -> impl Strategy<Value = EventType> {
    prop_oneof![(0u8..45).prop_map(EventType), (158u8..175).prop_map(EventType)]
}

fn decode_all(event: &RawEvent<'_>) {
    let (event_type, body) = (event.header.event_type, event.body());
    let _ = FormatDescription::decode(event);
    let _ = GtidEvent::decode(event_type, body);
    let _ = GtidEvent::decode(EventType::GTID_TAGGED, body);
    let _ = QueryEvent::decode(body).map(|query| query.status());
    let _ = TableMap::decode(body);
    let _ = TableMap::decode_name(body);
    let _ = RowsEvent::decode(event_type, body);
    let _ = Rotate::decode(body);
    let _ = Heartbeat::decode(event);
    let _ = MariaGtid::decode(body);
    let _ = MariaGtidList::decode(body);
    let _ = GtidSet::decode(body);
    let _ = info(event);
}

/// A valid event of the sample log with some bytes changed, and its checksum made right again.
fn changed_events() -> impl Strategy<Value = Vec<u8>> {
    let events: Vec<Vec<u8>> = sample_files()
        .iter()
        .flat_map(|(_, bytes)| {
            EventIter::new(&bytes[4..], ChecksumAlgorithm::Crc32).map(|event| event.unwrap().bytes.to_vec())
        })
        .collect();
    let changes = proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6);
    (prop::sample::select(events), changes).prop_map(|(mut event, changes)| {
        let body_len = event.len() - 19;
        for (at, byte) in changes {
            let at = 19 + at.index(body_len);
            event[at] = byte;
        }
        event
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn arbitrary_bodies(event_type in event_types(), body in proptest::collection::vec(any::<u8>(), 0..300)) {
        let frame = event::Frame { timestamp: 0, server_id: 1, flags: 0 };
        let bytes = whole_event(event_type, frame, 4, &body);
        let event = RawEvent::first_of(&bytes, ChecksumAlgorithm::Crc32).unwrap();
        decode_all(&event);
    }

    #[test]
    fn arbitrary_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = EventHeader::decode(&bytes);
        for event in EventIter::new(&bytes, ChecksumAlgorithm::Crc32) {
            let _ = event.map(|event| decode_all(&event));
        }
    }

    #[test]
    fn changed_events_are_shown_or_refused(events in proptest::collection::vec(changed_events(), 1..8)) {
        let mut dumpers = [Dumper::new(DumpFormat::Text), Dumper::new(DumpFormat::Json)];
        for bytes in events {
            let event = RawEvent::first_of(&bytes, ChecksumAlgorithm::Crc32).unwrap();
            decode_all(&event);
            for dumper in &mut dumpers {
                let mut out = String::new();
                let _ = dumper.event(4, &event, &mut out);
                prop_assert!(out.len() < 1 << 20, "{} bytes of text for {} bytes", out.len(), bytes.len());
            }
        }
    }
}
