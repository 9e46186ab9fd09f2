//! The same bytes through the `mysql_common` crate: another implementation, written from other sources.

use std::collections::HashMap;
use std::io::Read as _;

use mysql_common::binlog::BinlogFile;
use mysql_common::binlog::consts::BinlogVersion;
use mysql_common::binlog::events::{Event, EventData, OptionalMetaExtractor, RowsEventData, TableMapEvent};
use mysql_common::binlog::row::BinlogRow;
use mysql_common::binlog::value::BinlogValue;
use mysql_common::proto::MySerialize;

use super::*;
use crate::event::{Dialect, EventBody, PayloadLimits, TableMap, UserData};

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

/// Every event of a file of MySQL's with what the crate makes of it. It does not know MariaDB's.
fn both(name: &str, mut visit: impl FnMut(&RawEvent<'_>, &EventBody<'_>, &EventData<'_>)) {
    let bytes = super::servers::read(name);
    let format = FormatDescription::new("9.7.4", 0);
    let mut at = 4;
    for event in &oracle_events(&bytes) {
        let ours = RawEvent::first_of(&bytes[at..], event::ChecksumAlgorithm::Crc32).unwrap();
        let body = EventBody::decode(&ours, &format).unwrap();
        visit(&ours, &body, &event.read_data().unwrap().unwrap());
        at += ours.bytes.len();
    }
    assert_eq!(at, bytes.len());
}

fn mysql_files() -> impl Iterator<Item = &'static str> {
    super::servers::FILES.into_iter().filter(|name| name.starts_with("mysql"))
}

#[test]
fn a_servers_statements_say_the_same() {
    let mut compared = HashMap::new();
    for name in mysql_files() {
        both(name, |_, ours, theirs| {
            match (ours, theirs) {
                (EventBody::Query(ours), EventData::QueryEvent(theirs)) => {
                    assert_eq!((ours.thread_id, ours.exec_time), (theirs.thread_id(), theirs.execution_time()));
                    assert_eq!((ours.schema, ours.sql), (theirs.schema_raw(), theirs.query_raw()));
                    assert_eq!((ours.error_code, ours.status), (theirs.error_code(), theirs.status_vars_raw()));
                }
                (EventBody::IntVar(ours), EventData::IntvarEvent(theirs)) => {
                    assert_eq!((ours.kind, ours.value), (theirs.subtype() as u8, theirs.value()));
                }
                (EventBody::UserVar(ours), EventData::UserVarEvent(theirs)) => {
                    assert_eq!((ours.name, ours.value.is_none()), (theirs.name_raw(), theirs.is_null()));
                    let Some(value) = ours.value else { return };
                    assert_eq!((value.collation, value.flags.unwrap_or(0)), (theirs.charset(), theirs.flags_raw()));
                    match value.data {
                        UserData::String(bytes) | UserData::Row(bytes) => assert_eq!(bytes, theirs.value()),
                        UserData::Int(number) => assert_eq!(&number.to_le_bytes(), theirs.value()),
                        UserData::Real(number) => assert_eq!(&number.to_le_bytes(), theirs.value()),
                        UserData::Decimal { precision, scale, bytes } => {
                            assert_eq!([&[precision, scale], bytes].concat(), theirs.value());
                        }
                    }
                }
                (EventBody::BeginLoadQuery(ours), EventData::BeginLoadQueryEvent(theirs)) => {
                    assert_eq!((ours.file_id, ours.block), (theirs.file_id(), theirs.block_data()));
                }
                (EventBody::ExecuteLoadQuery(ours), EventData::ExecuteLoadQueryEvent(theirs)) => {
                    let name = (ours.file_id, ours.name_start, ours.name_end);
                    assert_eq!(name, (theirs.file_id(), theirs.start_pos(), theirs.end_pos()));
                    assert_eq!((ours.query.sql, ours.duplicates), (theirs.query_raw(), theirs.dup_handling() as u8));
                }
                (EventBody::RowsQuery(ours), EventData::RowsQueryEvent(theirs)) => {
                    assert_eq!(ours.sql, theirs.query_raw());
                }
                _ => return,
            }
            *compared.entry(ours.event_type().0).or_insert(0) += 1;
        });
    }
    let mut types: Vec<u8> = compared.into_keys().collect();
    types.sort();
    assert_eq!(types, [2, 5, 14, 17, 18, 29]);
}

#[test]
fn a_servers_heads_say_the_same() {
    for name in mysql_files() {
        both(name, |_, ours, theirs| {
            let (ours, theirs) = match (ours, theirs) {
                (EventBody::Gtid(ours), EventData::GtidEvent(theirs)) => (ours, theirs),
                (EventBody::Gtid(ours), EventData::AnonymousGtidEvent(theirs)) => (ours, &theirs.0),
                (EventBody::PreviousGtids(ours), EventData::PreviousGtidsEvent(theirs)) => {
                    let mut text = Vec::new();
                    for source in theirs.sids() {
                        let tag = source.tag().map(|tag| format!(":{tag}")).unwrap_or_default();
                        for interval in source.intervals() {
                            let last = interval.end() - 1;
                            text.push(format!("{}{tag}:{}-{last}", Uuid(source.uuid()), interval.start()));
                        }
                    }
                    return assert_eq!(Ok(ours.clone()), text.join(",").parse());
                }
                _ => return,
            };
            let gtid = ours.gtid.unwrap_or(base::Gtid::new(Uuid::default(), 0));
            assert_eq!((gtid.uuid.0, gtid.gno), (theirs.sid(), theirs.gno()));
            assert_eq!(gtid.tag.as_str(), theirs.tag().map(ToString::to_string).unwrap_or_default());
            assert_eq!(ours.last_committed as u64, theirs.last_committed());
            assert_eq!(ours.sequence_number as u64, theirs.sequence_number());
            assert_eq!(ours.transaction_length, theirs.tx_length());
            assert_eq!(ours.immediate_commit_time.0, theirs.immediate_commit_timestamp());
            assert_eq!(ours.original_commit_time.0, theirs.original_commit_timestamp());
            assert_eq!(ours.immediate_server_version, theirs.immediate_server_version());
            assert_eq!(ours.original_server_version, theirs.original_server_version());
        });
    }
}

#[test]
fn a_servers_tables_and_rows_say_the_same() {
    let mut tables = HashMap::new();
    let mut counts = [0, 0];
    both("mysql97-rows", |_, ours, theirs| match (ours, theirs) {
        (EventBody::TableMap(event), EventData::TableMapEvent(theirs)) => {
            let map = TableMap::of(event, Dialect::Mysql).unwrap();
            assert_eq!((event.schema, event.table), (theirs.database_name_raw(), theirs.table_name_raw()));
            let optional = OptionalMetaExtractor::new(theirs.iter_optional_meta()).unwrap();
            let unsigned: Vec<bool> = map.columns.iter().filter_map(|column| column.unsigned).collect();
            assert_eq!(unsigned, optional.iter_signedness().take(unsigned.len()).collect::<Vec<_>>());
            let names: Vec<String> = map.columns.iter().filter_map(|column| column.name.clone()).collect();
            let theirs_names: Vec<String> =
                optional.iter_column_name().map(|name| name.unwrap().name().into_owned()).collect();
            assert_eq!(names, theirs_names);
            let strings = map.columns.iter().filter(|column| !column.is_enum_or_set());
            let collations: Vec<u16> = strings.filter_map(|column| column.collation).map(|id| id as u16).collect();
            let theirs_ids: Vec<u16> = optional.iter_charset().take(collations.len()).map(|id| id.unwrap()).collect();
            assert_eq!(collations, theirs_ids);
            let key: Vec<u64> = map.primary_key.iter().map(|&(column, _)| column as u64).collect();
            let theirs_key: Vec<u64> = optional.iter_primary_key().map(|column| column.unwrap()).collect();
            assert_eq!(key, theirs_key);
            tables.insert(map.table_id, (map, theirs.clone().into_owned()));
        }
        (EventBody::Rows(ours), EventData::RowsEvent(theirs)) => {
            let (map, theirs_map) = &tables[&ours.table_id];
            let ours_count = ours.images(map).collect::<Result<Vec<_>, _>>().unwrap().len();
            assert_eq!(ours_count, theirs.rows(theirs_map).collect::<Result<Vec<_>, _>>().unwrap().len());
            counts[0] += ours_count;
        }
        (EventBody::PartialUpdateRows(ours), EventData::RowsEvent(theirs)) => {
            let (map, theirs_map) = &tables[&ours.update.table_id];
            let diffs: usize = ours
                .rows(map)
                .flat_map(|row| row.unwrap().json_diffs(map, ours.update.present_after).unwrap())
                .map(|(_, diffs)| diffs.len())
                .sum();
            let mut theirs_diffs = 0;
            for row in theirs.rows(theirs_map) {
                let after = row.unwrap().1.unwrap();
                for i in 0..after.len() {
                    if let Some(BinlogValue::JsonDiff(list)) = after.as_ref(i) {
                        theirs_diffs += list.len();
                    }
                }
            }
            assert_eq!(diffs, theirs_diffs);
            counts[1] += diffs;
        }
        _ => {}
    });
    assert!(counts[0] > 20 && counts[1] > 5, "{counts:?}");
}

#[test]
fn a_servers_payloads_have_the_same_events() {
    let mut count = 0;
    both("mysql97-payload", |_, ours, theirs| {
        let (EventBody::TransactionPayload(ours), EventData::TransactionPayloadEvent(theirs)) = (ours, theirs) else {
            return;
        };
        let mut plain = Vec::new();
        theirs.decompressed().unwrap().read_to_end(&mut plain).unwrap();
        let mut events = ours.events(PayloadLimits::default()).unwrap();
        let mut rest = &plain[..];
        while let Some(event) = events.next_event().unwrap() {
            rest = rest.strip_prefix(event.bytes).unwrap();
            count += 1;
        }
        assert!(rest.is_empty());
    });
    assert!(count > 10, "{count}");
}
