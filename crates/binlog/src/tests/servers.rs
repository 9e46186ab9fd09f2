//! Log files that real servers wrote (`interop/tests/servers/golden_logs.rs` makes them): every event is understood, and written
//! again it is the same.

use super::golden::check;
use super::*;
use crate::dump::{DumpFilter, DumpFormat, DumpOptions, Dumper, LoadFiles, SqlOptions, dump_file};
use crate::event::{
    ChecksumAlgorithm, CompressedBlock, Dialect, EventBody, EventHeader, EventType, ExtraRowInfo, FLAG_BINLOG_IN_USE,
    JsonDiff, MAGIC, MariaGtidExtra, PayloadCompression, PayloadLimits, QueryEvent, RowsEvent, StatusVar, TableMap,
    TableMapEvent, TransactionPayload, UserData,
};

/// Every file, but for the encrypted one.
pub(super) const FILES: [&str; 10] = [
    "mysql97-statements",
    "mysql97-rows",
    "mysql97-payload",
    "mysql97-gtids",
    "mysql97-gtids-4",
    "mysql97-gtids-5",
    "maria118-statements",
    "maria118-statements-2",
    "maria118-rows",
    "maria118-compressed",
];

/// Enough for every block in the files.
const BLOCK_SIZE_MAX: usize = 1 << 20;

pub(super) fn read(name: &str) -> Vec<u8> {
    std::fs::read(format!("{}/src/tests/golden/{name}.binlog", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// The events of a file, those in payloads behind the payload, with the format.
fn each_event(name: &str, mut visit: impl FnMut(&RawEvent<'_>, &EventBody<'_>)) {
    let bytes = read(name);
    let mut format = FormatDescription::new("", 0);
    let mut at = MAGIC.len();
    while at < bytes.len() {
        let event = RawEvent::first_of(&bytes[at..], ChecksumAlgorithm::Crc32).unwrap();
        event.verify().unwrap();
        if event.header.event_type == EventType::FORMAT_DESCRIPTION {
            format = FormatDescription::decode(&event).unwrap();
        }
        let body = EventBody::decode(&event, &format).unwrap_or_else(|error| panic!("{name} at {at}: {error}"));
        visit(&event, &body);
        if let EventBody::TransactionPayload(payload) = body {
            let mut events = payload.events(PayloadLimits::default()).unwrap();
            while let Some(event) = events.next_event().unwrap() {
                visit(&event, &EventBody::decode(&event, &format).unwrap());
            }
        }
        at += event.bytes.len();
    }
}

#[test]
fn written_again_every_event_is_the_same() {
    for name in FILES {
        each_event(name, |event, body| {
            assert_eq!(body.event_type(), event.header.event_type, "{name}: {body:?}");
            assert!(!matches!(body, EventBody::Unknown(..)), "{name}: {body:?}");
            let mut again = Vec::new();
            body.encode_body(&mut again);
            assert_eq!(again, event.body(), "{name}: {body:?}");
        });
    }
}

/// With header, position and checksum. Left out: events in payloads, which have none, and those of MariaDB inside of groups,
/// which do not say their position.
#[test]
fn whole_events_are_the_same() {
    for name in FILES {
        let mut at = MAGIC.len() as u64;
        each_event(name, |event, body| {
            let EventHeader { timestamp, server_id, flags, next_position, .. } = event.header;
            if event.checksum().is_none() {
                return;
            }
            if next_position != 0 {
                let frame = event::Frame { timestamp, server_id, flags: flags & !FLAG_BINLOG_IN_USE };
                assert_eq!(body.to_event(frame, at), event.bytes, "{name} at {at}: {body:?}");
            }
            at += event.bytes.len() as u64;
        });
    }
}

/// What lies inside of bodies, as bytes: status variables, tables, rows, diffs.
#[test]
fn written_again_the_inner_parts_are_the_same() {
    for name in FILES {
        let mut tables = std::collections::HashMap::new();
        each_event(name, |_, body| match body {
            EventBody::Query(query) => status_is_the_same(query),
            EventBody::ExecuteLoadQuery(load) => status_is_the_same(&load.query),
            EventBody::MariaCompressedQuery(query) => status_is_the_same(&query.head),
            EventBody::TableMap(map) => drop(tables.insert(map.table_id, table_of(name, map))),
            EventBody::Rows(rows) => rows_are_the_same(rows, &tables[&rows.table_id]),
            EventBody::MariaCompressedRows(compressed) => {
                let rows = compressed.rows(BLOCK_SIZE_MAX).unwrap();
                rows_are_the_same(&compressed.with_rows(&rows), &tables[&compressed.head.table_id]);
            }
            EventBody::PartialUpdateRows(rows) => {
                let mut again = Vec::new();
                rows.rows(&tables[&rows.update.table_id]).for_each(|row| row.unwrap().encode(&mut again));
                assert_eq!(again, rows.update.rows);
            }
            _ => {}
        });
    }
}

fn table_of(file: &str, map: &TableMapEvent<'_>) -> TableMap {
    let dialect = if file.starts_with("maria") { Dialect::Maria } else { Dialect::Mysql };
    TableMap::of(map, dialect).unwrap()
}

/// Which columns count among those with a character set is not the same: MySQL counts vectors, MariaDB geometries.
#[test]
fn character_sets_are_those_of_their_columns() {
    for (name, in_mysql) in [("mysql97-rows", true), ("maria118-rows", false)] {
        let mut found = 0;
        each_event(name, |_, body| {
            let EventBody::TableMap(event) = body else { return };
            if event.table != b"mixed" {
                return;
            }
            found += 1;
            let ids: Vec<Option<u32>> = table_of(name, event).columns.iter().map(|column| column.collation).collect();
            // Of MariaDB a vector is a VARBINARY, and JSON a text.
            let (geometry, json) = if in_mysql { (None, None) } else { (Some(63), Some(46)) };
            let [latin1, german, ascii, bin, binary] = [8, 31, 11, 46, 63].map(Some);
            let expected = [None, latin1, geometry, bin, binary, german, json, ascii, binary, bin];
            assert_eq!(ids, expected, "{name}");
        });
        assert_eq!(found, 2, "{name}");
    }
}

/// Geometry types, dimensions of vectors, invisible columns, prefixes of keys.
#[test]
fn all_metadata_is_told() {
    let mut tables = std::collections::BTreeMap::new();
    each_event("mysql97-rows", |_, body| {
        if let EventBody::TableMap(event) = body {
            let map = table_of("mysql97-rows", event);
            // The first one: later ones have minimal metadata.
            tables.entry(map.table.clone()).or_insert(map);
        }
    });
    let geometries: Vec<Option<u64>> = tables["others"].columns.iter().map(|column| column.geometry_type).collect();
    assert_eq!(geometries[3..8], [1, 0, 2, 6, 7].map(Some));
    let dimensions: Vec<Option<u64>> = tables["others"].columns.iter().map(|column| column.vector_dimensions).collect();
    assert_eq!(dimensions[7..], [None, Some(3), Some(2048)]);
    let hidden: Vec<&str> =
        tables["times"].columns.iter().filter(|c| c.invisible).filter_map(|c| c.name.as_deref()).collect();
    assert_eq!(hidden, ["hidden"]);
    assert_eq!(tables["texts"].primary_key, [(1, 20), (0, 0)]);
    let members: Vec<&[Vec<u8>]> = tables["texts"].columns[8..10].iter().map(|column| &column.members[..]).collect();
    assert_eq!(members, [["x", "y", "grün"].map(|member| member.as_bytes().to_vec()), ["p", "q", "r"].map(Into::into)]);
    assert!(tables["keyless"].has_generated_primary_key());
    // Written again by what was understood, they say the same.
    for map in tables.values() {
        let mut body = Vec::new();
        map.encode_body(&mut body);
        assert_eq!(TableMap::decode(&body).as_ref(), Ok(map));
    }
}

/// Servers write the catalog, code 6, behind `sql_mode`, code 1, and MariaDB `character_set_collations`, code 131, in front of the
/// character sets, code 4; otherwise codes ascend.
fn status_is_the_same(query: &QueryEvent<'_>) {
    let vars = StatusVar::decode_all(query.status);
    assert!(!vars.iter().any(|var| matches!(var, StatusVar::Unknown(_))), "{vars:?}");
    let mut as_read = Vec::new();
    vars.iter().for_each(|var| var.encode(&mut as_read));
    assert_eq!(as_read, query.status, "{vars:?}");
    let mut sorted = Vec::new();
    StatusVar::encode_all(&vars, &mut sorted);
    let codes: Vec<u8> = StatusVar::decode_all(&sorted).iter().map(StatusVar::code).collect();
    assert!(codes.is_sorted() && codes.len() == vars.len(), "{codes:?}");
    let others = vars.iter().map(StatusVar::code).filter(|&code| code != 6 && code != 131);
    assert!(others.is_sorted(), "{vars:?}");
}

fn rows_are_the_same(rows: &RowsEvent<'_>, table: &TableMap) {
    let mut again = Vec::new();
    for row in rows.images(table) {
        let (before, after) = row.unwrap();
        again.extend_from_slice(before);
        again.extend_from_slice(after);
    }
    assert_eq!(again, rows.rows);
    let mut extra = Vec::new();
    for part in rows.extra_info().unwrap() {
        assert!(!matches!(part, ExtraRowInfo::Unknown(_)), "{part:?}");
        part.encode(&mut extra);
    }
    assert_eq!(extra, rows.extra);
}

/// Which types of event there are in the files: a file that is made anew and lacks some would check less.
#[test]
fn the_files_have_every_type_that_can_be_had() {
    let mut found = std::collections::BTreeSet::new();
    for name in FILES {
        each_event(name, |event, _| {
            found.insert(event.header.event_type.0);
        });
    }
    let mysql = [2, 3, 4, 5, 9, 11, 13, 14, 15, 16, 17, 18, 19, 29, 30, 31, 32, 33, 34, 35, 38, 39, 40, 42];
    let maria = [23, 24, 25, 160, 161, 162, 163, 165, 166, 167, 168];
    let expected: std::collections::BTreeSet<u8> = mysql.into_iter().chain(maria).collect();
    assert_eq!(found, expected);
}

/// What the servers were made to say, in the middle of it all.
#[test]
fn some_things_that_they_say() {
    let (mut variables, mut extras, mut diffs, mut tags) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    each_event("mysql97-statements", |_, body| {
        if let EventBody::UserVar(var) = body {
            variables
                .push((String::from_utf8_lossy(var.name).into_owned(), format!("{:?}", var.value.map(|v| v.data))));
        }
    });
    let big = variables.iter().find(|(name, _)| name == "big").unwrap();
    assert_eq!(big.1, format!("{:?}", Some(UserData::Int(-1))), "unsigned, so its flags say");
    assert!(variables.contains(&("null".to_owned(), "None".to_owned())), "{variables:?}");
    each_event("maria118-statements", |_, body| {
        if let EventBody::MariaGtid(gtid) = body {
            extras.push(gtid.extra);
        }
    });
    for phase in ["Start", "Commit", "Rollback"] {
        let said = |extra: &MariaGtidExtra| format!("{:?}", extra.alter).contains(phase);
        assert!(extras.iter().any(said), "{phase}: {extras:?}");
    }
    assert!(extras.iter().any(|extra| extra.engines.is_some()) && extras.iter().all(|extra| extra.thread_id.is_some()));
    let mut map = None;
    each_event("mysql97-rows", |_, body| match body {
        EventBody::TableMap(event) => map = Some(table_of("mysql97-rows", event)),
        EventBody::PartialUpdateRows(rows) => {
            let map = map.as_ref().unwrap();
            for row in rows.rows(map) {
                for (column, list) in row.unwrap().json_diffs(map, rows.update.present_after).unwrap() {
                    let name = map.columns[column].name.clone().unwrap();
                    diffs.extend(list.iter().map(|diff| format!("{name} {}", diff_text(diff))));
                }
            }
        }
        _ => {}
    });
    // In the second statement MySQL found a diff for one of the two documents only.
    let first = ["doc replace $.c", "doc replace $.a[1]", "doc remove $.a[2]", "second replace $[0]"];
    assert_eq!(diffs[..4], first);
    assert_eq!(diffs[4..], ["doc insert $.new", "doc replace $.d"]);
    each_event("mysql97-gtids", |_, body| {
        if let EventBody::Gtid(gtid) = body {
            tags.push(gtid.gtid.unwrap().tag.as_str().to_owned());
        }
    });
    assert_eq!(tags, ["", "", "blue", "blue", "a_tag_that_is_as_long_as_it_can_", "green", "", ""]);
}

fn diff_text(diff: &JsonDiff<'_>) -> String {
    let (word, path) = match diff {
        JsonDiff::Replace { path, .. } => ("replace", path),
        JsonDiff::Insert { path, .. } => ("insert", path),
        JsonDiff::Remove { path } => ("remove", path),
    };
    format!("{word} {}", String::from_utf8_lossy(path))
}

/// What servers compress can be inflated, and what is compressed here too.
#[test]
fn compression_there_and_back() {
    each_event("maria118-compressed", |_, body| {
        let block = match body {
            EventBody::MariaCompressedQuery(query) => query.block,
            EventBody::MariaCompressedRows(rows) => rows.block,
            _ => return,
        };
        let plain = block.inflate(BLOCK_SIZE_MAX).unwrap();
        assert!(block.inflate(plain.len() - 1).is_err(), "the bound holds");
        let mut compressed = Vec::new();
        CompressedBlock::compress(&plain, &mut compressed).unwrap();
        assert_eq!(CompressedBlock::decode(&compressed).unwrap().inflate(BLOCK_SIZE_MAX), Ok(plain));
    });
    each_event("mysql97-payload", |_, body| {
        let EventBody::TransactionPayload(payload) = body else { return };
        let limits = PayloadLimits::default();
        let plain = events_in(payload, limits).unwrap();
        assert_eq!(Some(plain.len() as u64), payload.uncompressed_size);
        let compressed = TransactionPayload::compress(&plain, 3).unwrap();
        let again = TransactionPayload { payload: &compressed, ..*payload };
        assert_eq!(events_in(&again, limits), Ok(plain.clone()));
        let compression = PayloadCompression::None;
        let as_it_is = TransactionPayload { payload: &plain, compression, uncompressed_size: None };
        assert_eq!(events_in(&as_it_is, limits), Ok(plain.clone()));
        for wrong_size in [-1, 1] {
            let uncompressed_size = payload.uncompressed_size.and_then(|size| size.checked_add_signed(wrong_size));
            let wrong = TransactionPayload { uncompressed_size, ..again };
            assert!(events_in(&wrong, limits).is_err(), "{wrong_size}");
        }
        let cut = TransactionPayload { payload: &compressed[..compressed.len() - 5], ..again };
        assert!(events_in(&cut, limits).is_err());
        assert!(events_in(payload, PayloadLimits { event_size_max: 40, ..limits }).is_err(), "a large event");
        // What fits into the reader's buffer, of 8 KiB, needs no window.
        let small_window = events_in(payload, PayloadLimits { window_log_max: 10, ..limits });
        assert_eq!(small_window.is_err(), plain.len() > 8 << 10, "{} bytes", plain.len());
    });
}

fn events_in(payload: &TransactionPayload<'_>, limits: PayloadLimits) -> Result<Vec<u8>, DecodeError> {
    let mut plain = Vec::new();
    let mut events = payload.events(limits)?;
    while let Some(event) = events.next_event()? {
        plain.extend_from_slice(event.bytes);
    }
    Ok(plain)
}

/// Long BINLOGs by their first lines: what is in them, the tests of `replayable` check.
fn folded(text: &str) -> String {
    const SHOWN: usize = 8;
    let mut out = String::new();
    // How many lines of the BINLOG were seen.
    let mut seen = None;
    for line in text.lines() {
        seen = match seen {
            None if line == "BINLOG '" => Some(0),
            Some(lines) if !line.starts_with('\'') => Some(lines + 1),
            _ => None,
        };
        match seen {
            Some(lines) if lines > SHOWN + 1 => {}
            Some(lines) if lines > SHOWN => out.push_str("…\n"),
            _ => out.extend([line, "\n"]),
        }
    }
    out
}

/// As `commuter log dump` shows them.
#[test]
fn dumps() {
    for name in FILES {
        let bytes = read(name);
        let load_files = Some(LoadFiles { folder: "/folder".to_owned(), write: |_, _, _| Ok(()) });
        let sql = SqlOptions { load_files, ..SqlOptions::default() };
        let dumper = |format| Dumper::with_options(format, DumpFilter::default(), sql.clone());
        let mut dumpers = [dumper(DumpFormat::Sql), dumper(DumpFormat::Text), dumper(DumpFormat::Json)];
        let (mut text, mut readable, mut json) = (Vec::new(), Vec::new(), Vec::new());
        dumpers[0].begin(&mut text);
        let mut at = MAGIC.len();
        while at < bytes.len() {
            let event = RawEvent::first_of(&bytes[at..], ChecksumAlgorithm::Crc32).unwrap();
            for (dumper, out) in dumpers.iter_mut().zip([&mut text, &mut readable, &mut json]) {
                dumper.event(at as u64, &event, out).unwrap();
                let show = |text: &[u8]| {
                    out.extend_from_slice(text);
                    true
                };
                dumper.inner_events(at as u64, &event, show).unwrap();
            }
            at += event.bytes.len();
        }
        dumpers[0].end(&mut text);
        let [text, readable, json] = [text, readable, json].map(|text| String::from_utf8_lossy(&text).into_owned());
        assert!(!text.contains("not decoded"), "{name}");
        assert!(!readable.contains("BINLOG '") && readable.contains("end_log_pos"), "{name}");
        check(&format!("{name}.txt"), &folded(&text));
        json.lines().for_each(|line| drop(serde_json::from_str::<serde_json::Value>(line).unwrap()));
    }
}

/// MariaDB's START_ENCRYPTION, and the magic of MySQL's encrypted files: said so, in a dump and by whoever opens a log.
#[test]
fn encrypted_files_say_so() {
    let maria = read("maria118-encrypted");
    let mysql = [&crate::event::ENCRYPTED_MAGIC[..], &[1; 508]].concat();
    for (name, bytes) in [("maria", maria), ("mysql", mysql)] {
        let machine = SimMachine::new(1);
        let env = machine.env();
        let mut shown = Vec::new();
        let run = async {
            let writing = io::OpenOptions { create: true, write: true, ..Default::default() };
            let file = env.disk.open(name, writing).await.unwrap();
            file.write_at(0, io::IoBuf::copy_of(&bytes)).await.unwrap();
            let sink = |text: &[u8]| {
                shown.extend_from_slice(text);
                Ok(())
            };
            dump_file(&env, name, &DumpOptions::default(), sink).await
        };
        let error = machine.run(run).unwrap().unwrap_err();
        assert!(matches!(&error, BinlogError::Encrypted(file) if file == name), "{error}");
        assert_eq!(
            String::from_utf8_lossy(&shown).contains("Start_encryption: scheme: 1, key_version: 1"),
            name == "maria",
            "{shown:?}"
        );
    }
}
