//! The same bytes through the `mysql_common` crate: another implementation, written from other sources.

use mysql_common::binlog::BinlogFile;
use mysql_common::binlog::consts::BinlogVersion;
use mysql_common::binlog::events::{Event, EventData, OptionalMetaExtractor, RowsEventData, TableMapEvent};
use mysql_common::binlog::row::BinlogRow;
use mysql_common::binlog::value::BinlogValue;
use mysql_common::proto::MySerialize;

use super::*;

fn oracle_events(bytes: &[u8]) -> Vec<Event> {
    let mut file = BinlogFile::new(BinlogVersion::Version4, bytes).unwrap();
    file.by_ref().map(|event| event.unwrap()).collect()
}

fn sql_of(row: &BinlogRow) -> Vec<String> {
    let value = |i: usize| match row.as_ref(i) {
        Some(BinlogValue::Value(value)) => value.as_sql(true),
        other => format!("{other:?}"),
    };
    (0..row.len()).map(value).collect()
}

#[test]
fn every_event_has_the_same_frame_and_bytes() {
    for (name, bytes) in sample_files() {
        let events = oracle_events(&bytes);
        let mut at = 4;
        for event in &events {
            let ours = RawEvent::first_of(&bytes[at..], event::ChecksumAlgorithm::Crc32).unwrap();
            let theirs = event.header();
            assert_eq!(ours.header.event_type.0, theirs.event_type_raw());
            assert_eq!(ours.header.next_position, theirs.log_pos());
            assert_eq!(ours.checksum(), event.checksum().map(u32::from_le_bytes), "{name} at {at}");
            let data = event.read_data().unwrap().unwrap_or_else(|| panic!("{:?}", ours.header));
            // What it writes again from what it understood is what we wrote.
            let mut body = Vec::new();
            data.serialize(&mut body);
            // It leaves the meaningless length of a ROWS_QUERY at 0.
            let skips =
                [EventType::ROWS_QUERY, EventType::FORMAT_DESCRIPTION, EventType::PREVIOUS_GTIDS, EventType::STOP];
            if !skips.contains(&ours.header.event_type) {
                assert_eq!(body, ours.body(), "{name} at {at}: {:?}", ours.header.event_type);
            }
            at += ours.bytes.len();
        }
        assert_eq!(at, bytes.len());
    }
}

#[test]
fn heads_say_the_same() {
    let files = sample_files();
    let events = oracle_events(&files[0].1);
    let EventData::FormatDescriptionEvent(format) = events[0].read_data().unwrap().unwrap() else { panic!() };
    assert_eq!(format.server_version().trim_end_matches('\0'), "8.4.0-commuter-0.1.0");
    let EventData::GtidEvent(gtid) = events[2].read_data().unwrap().unwrap() else { panic!("{:?}", events[2]) };
    assert_eq!((gtid.sid(), gtid.gno()), (*b"0123456789abcdef", 1));
    assert_eq!((gtid.last_committed(), gtid.sequence_number()), (0, 1));
    let length = u64::from(events[2].header().event_size() + events[3].header().event_size());
    assert_eq!(gtid.tx_length(), length);
    assert_eq!(gtid.immediate_commit_timestamp(), 1_795_192_962_000_001);
}

fn table_map(bytes: &[u8]) -> (TableMapEvent<'static>, Vec<RowsEventData<'static>>) {
    let events = oracle_events(bytes);
    let (mut map, mut rows) = (None, Vec::new());
    for event in &events {
        match event.read_data().unwrap() {
            Some(EventData::TableMapEvent(event)) => map = Some(event.into_owned()),
            Some(EventData::RowsEvent(event)) => rows.push(event.into_owned()),
            _ => {}
        }
    }
    (map.unwrap(), rows)
}

#[test]
fn a_table_has_the_same_metadata() {
    let (map, _) = table_map(&sample_files()[0].1);
    assert_eq!((map.database_name(), map.table_name()), ("test".into(), "everything".into()));
    let optional = OptionalMetaExtractor::new(map.iter_optional_meta()).unwrap();
    let names: Vec<String> = optional.iter_column_name().map(|name| name.unwrap().name().into_owned()).collect();
    let expected: Vec<String> = table().columns.iter().map(|column| column.name.clone()).collect();
    assert_eq!(names, expected);
    let unsigned: Vec<bool> = optional.iter_signedness().collect();
    assert_eq!(unsigned, [true, false, true, false, false, false, false, false, true, true]);
    let charsets: Vec<u16> = optional.iter_charset().take(8).map(|id| id.unwrap()).collect();
    assert_eq!(charsets, [255, 8, 255, 255, 63, 63, 255, 63]);
    let enums: Vec<u16> = optional.iter_enum_and_set_charset().take(2).map(|id| id.unwrap()).collect();
    assert_eq!(enums, [255, 255]);
    let key: Vec<u64> = optional.iter_primary_key().map(|column| column.unwrap()).collect();
    assert_eq!(key, [0]);
}

#[test]
fn rows_have_the_same_values() {
    let (map, rows) = table_map(&sample_files()[0].1);
    let inserted: Vec<_> = rows[0].rows(&map).map(|row| row.unwrap()).collect();
    assert_eq!(inserted.len(), 2);
    let expected = [
        "1",
        "100",
        "65535",
        "8000000",
        "2000000000",
        "'-1234567890.1234'",
        "1.5",
        "-0.25",
        "'name'",
        // Latin-1, as it is in the log.
        "0x4DFC6C6C6572",
        "'code'",
        "'ein längerer Text'",
        "'\0\u{1}\u{2}\u{3}'",
        "0xFFFE",
        "'text with ''quotes''\nand lines'",
        "'\0blob'",
        "'2026-11-20'",
        "'-012:34:56.789000'",
        "'2026-11-20 15:22:42.123456'",
        "'1795188162'",
        "'2026'",
        "'\u{2}\u{1}'",
        "2",
        "'\u{5}'",
        "NULL",
    ];
    let found = sql_of(inserted[0].1.as_ref().unwrap());
    for (column, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert_eq!(found, expected, "column {}", table().columns[column].name);
    }
    let updated: Vec<_> = rows[1].rows(&map).map(|row| row.unwrap()).collect();
    let (before, after) = (updated[0].0.as_ref().unwrap(), updated[0].1.as_ref().unwrap());
    assert_eq!(sql_of(before)[8], "'name'");
    assert_eq!(sql_of(after)[8], "'changed'");
}

#[test]
fn minimal_images_have_the_key_and_the_change() {
    let (map, rows) = table_map(&sample_files()[1].1);
    let updated: Vec<_> = rows[1].rows(&map).map(|row| row.unwrap()).collect();
    let (before, after) = (updated[0].0.as_ref().unwrap(), updated[0].1.as_ref().unwrap());
    assert_eq!(sql_of(before), ["1"]);
    assert_eq!(sql_of(after), ["'changed'"]);
    let deleted: Vec<_> = rows[2].rows(&map).map(|row| row.unwrap()).collect();
    assert_eq!(sql_of(deleted[0].0.as_ref().unwrap()), ["2"]);
}
