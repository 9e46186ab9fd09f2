//! Whatever bytes come in, decoders answer; they do not panic, and they end.

use proptest::prelude::*;

use super::*;
use crate::dump::{DumpFormat, Dumper, info};
use crate::event::{
    ChecksumAlgorithm, Dialect, EventBody, EventHeader, EventType, Fragments, Heartbeat, MAGIC, MariaGtid,
    MariaGtidList, PayloadLimits, QueryEvent, Rotate, RowsEvent, StatusVar, TableMap, whole_event,
};

/// What a compressed block or the events of a payload may take here.
const INFLATED_SIZE_MAX: usize = 1 << 20;

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
    for server_version in ["9.7.4", "11.8.9-MariaDB"] {
        let format = FormatDescription::new(server_version, 0);
        let Ok(body) = EventBody::decode(event, &format) else { continue };
        // A measure of what was allocated: nothing that an event claims is larger than what it has.
        let shown = format!("{body:?}");
        assert!(shown.len() < 100 * event.bytes.len() + 4000, "{} bytes for {event:?}", shown.len());
        decode_inside(&body);
    }
}

/// What bodies keep as bytes.
fn decode_inside(body: &EventBody<'_>) {
    let map = TableMap::from_def(&table());
    match body {
        EventBody::Query(query) => drop(StatusVar::decode_all(query.status)),
        EventBody::ExecuteLoadQuery(load) => drop(StatusVar::decode_all(load.query.status)),
        EventBody::TableMap(event) => {
            for dialect in [Dialect::Mysql, Dialect::Maria] {
                let _ = TableMap::of(event, dialect);
            }
        }
        EventBody::Rows(rows) => rows_inside(rows, &map),
        EventBody::PartialUpdateRows(rows) => {
            for row in rows.rows(&map) {
                let _ = row.and_then(|row| row.json_diffs(&map, rows.update.present_after));
            }
        }
        EventBody::TransactionPayload(payload) => {
            let limits = PayloadLimits { event_size_max: INFLATED_SIZE_MAX as u32, window_log_max: 17 };
            let mut events = payload.events(limits).unwrap();
            // A large payload is not read to its end.
            (0..100).take_while(|_| matches!(events.next_event(), Ok(Some(_)))).for_each(drop);
        }
        EventBody::MariaCompressedQuery(query) => drop(query.sql(INFLATED_SIZE_MAX)),
        EventBody::MariaCompressedRows(rows) => {
            let _ = rows.rows(INFLATED_SIZE_MAX).map(|inflated| rows_inside(&rows.with_rows(&inflated), &map));
        }
        EventBody::MariaPartialRowData(data) => drop(Fragments::new(1 << 20).take(data)),
        _ => {}
    }
}

fn rows_inside(rows: &RowsEvent<'_>, map: &TableMap) {
    let _ = rows.extra_info();
    rows.images(map).for_each(drop);
}

/// A valid event of the sample log, or of a server's, with some bytes changed, and its checksum made right again.
fn changed_events() -> impl Strategy<Value = Vec<u8>> {
    let files = sample_files().into_iter().map(|(_, bytes)| bytes);
    let files = files.chain(super::servers::FILES.into_iter().map(super::servers::read));
    let mut events = Vec::new();
    for bytes in files {
        let iter = EventIter::new(&bytes[MAGIC.len()..], ChecksumAlgorithm::Crc32);
        events.extend(iter.map(|event| event.unwrap().bytes.to_vec()));
    }
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
        let mut dumpers = [Dumper::new(DumpFormat::Sql), Dumper::new(DumpFormat::Json)];
        for bytes in events {
            let event = RawEvent::first_of(&bytes, ChecksumAlgorithm::Crc32).unwrap();
            decode_all(&event);
            for dumper in &mut dumpers {
                let mut out = Vec::new();
                let _ = dumper.event(4, &event, &mut out);
                prop_assert!(out.len() < 1 << 20, "{} bytes of text for {} bytes", out.len(), bytes.len());
            }
        }
    }
}
