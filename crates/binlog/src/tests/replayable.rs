//! A dump as SQL: every BINLOG of it can be executed alone, nothing of the log is missing, and transactions are whole.

use base::base64;

use super::servers::{FILES, read};
use crate::dump::{DumpFilter, DumpFormat, Dumper, LoadFiles, SqlOptions};
use crate::error::DecodeError;
use crate::event::{
    ChecksumAlgorithm, CompressedRows, EventIter, EventType, FormatDescription, Frame, MAGIC, PartialUpdateRows,
    PayloadLimits, RawEvent, RowsEvent, RowsKind, RowsVersion, TableMap, TransactionPayload, rows_flags, whole_event,
};

fn dump(bytes: &[u8], filter: DumpFilter) -> Result<String, DecodeError> {
    let load_files = Some(LoadFiles { folder: "/folder".to_owned(), write: |_, _, _| Ok(()) });
    let mut dumper = Dumper::with_options(DumpFormat::Sql, filter, SqlOptions { load_files, ..SqlOptions::default() });
    let mut out = Vec::new();
    dumper.begin(&mut out);
    let mut at = MAGIC.len();
    while at < bytes.len() {
        let event = RawEvent::first_of(&bytes[at..], ChecksumAlgorithm::Crc32)?;
        dumper.event(at as u64, &event, &mut out)?;
        dumper.inner_events(at as u64, &event, |text| {
            out.extend_from_slice(text);
            true
        })?;
        at += event.bytes.len();
    }
    dumper.end(&mut out);
    Ok(String::from_utf8_lossy(&out).into_owned())
}

/// The bytes of each BINLOG.
fn binlogs(text: &str) -> Vec<Vec<u8>> {
    let after = text.split("BINLOG '").skip(1);
    after.map(|rest| base64::decode_pieces(rest.split('\'').next().unwrap().as_bytes()).unwrap()).collect()
}

/// The rows of an event of any kind; none of others.
fn rows_of(event: &RawEvent<'_>) -> Vec<u8> {
    let event_type = event.header.event_type;
    if CompressedRows::plain_type(event_type).is_some() {
        return CompressedRows::decode(event_type, event.body()).unwrap().rows(1 << 24).unwrap();
    }
    if event_type == EventType::PARTIAL_UPDATE_ROWS {
        return PartialUpdateRows::decode(event.body()).unwrap().update.rows.to_vec();
    }
    match RowsKind::of(event_type) {
        Some(_) => RowsEvent::decode(event_type, event.body()).unwrap().rows.to_vec(),
        None => Vec::new(),
    }
}

/// All rows of a log, one event behind the other.
fn rows_of_log(bytes: &[u8]) -> Vec<u8> {
    let mut rows = Vec::new();
    for event in EventIter::new(&bytes[MAGIC.len()..], ChecksumAlgorithm::Crc32) {
        let event = event.unwrap();
        if event.header.event_type != EventType::TRANSACTION_PAYLOAD {
            rows.extend(rows_of(&event));
            continue;
        }
        let payload = TransactionPayload::decode(event.body()).unwrap();
        let mut events = payload.events(PayloadLimits::default()).unwrap();
        while let Some(inner) = events.next_event().unwrap() {
            rows.extend(rows_of(&inner));
        }
    }
    rows
}

/// Checks one BINLOG of rows; gives them.
fn check_binlog(bytes: &[u8]) -> Vec<u8> {
    let (mut maps, mut rows, mut ends) = (Vec::new(), Vec::new(), false);
    for event in EventIter::new(bytes, ChecksumAlgorithm::Crc32) {
        let event = event.unwrap();
        event.verify().unwrap();
        assert!(!ends, "events behind the end of the statement");
        let event_type = event.header.event_type;
        if event_type == EventType::TABLE_MAP {
            maps.push(TableMap::decode_name(event.body()).unwrap().table_id);
            continue;
        }
        let head = match event_type {
            EventType::PARTIAL_UPDATE_ROWS => PartialUpdateRows::decode(event.body()).unwrap().update,
            _ => RowsEvent::decode(event_type, event.body()).unwrap(),
        };
        assert!(maps.contains(&head.table_id) && head.version == RowsVersion::V2, "{head:?}");
        ends = head.flags & rows_flags::STATEMENT_END != 0;
        rows.extend(rows_of(&event));
    }
    assert!(ends, "a BINLOG without its statement's end");
    rows
}

/// Every transaction that is begun is ended, before the next one.
fn check_transactions(text: &str) {
    let mut is_open = false;
    for line in text.lines() {
        let begins = line == "BEGIN" || line == "START TRANSACTION" || line.starts_with("XA START");
        let ends = ["COMMIT", "ROLLBACK", "XA PREPARE", "XA COMMIT"].iter().any(|word| line.starts_with(word));
        assert!(!(begins && is_open), "{line}");
        is_open = begins || is_open && !ends;
    }
    assert!(!is_open);
}

#[test]
fn every_row_of_every_server() {
    for name in FILES {
        let bytes = read(name);
        let text = dump(&bytes, DumpFilter::default()).unwrap();
        let binlogs = binlogs(&text);
        let (format, rows) = binlogs.split_first().unwrap();
        let format = RawEvent::first_of(format, ChecksumAlgorithm::Crc32).unwrap();
        format.verify().unwrap();
        FormatDescription::decode(&format).unwrap();
        let printed: Vec<u8> = rows.iter().flat_map(|binlog| check_binlog(binlog)).collect();
        assert_eq!(printed, rows_of_log(&bytes), "{name}");
        check_transactions(&text);
    }
}

#[test]
fn filters_leave_whole_transactions_and_no_context() {
    for name in FILES {
        let filter = DumpFilter { databases: vec!["not there".to_owned()], ..DumpFilter::default() };
        let text = dump(&read(name), filter).unwrap();
        assert_eq!(binlogs(&text).len(), 1, "{name}: only the format");
        check_transactions(&text);
        let context = ["SET INSERT_ID", "SET LAST_INSERT_ID", "SET @@RAND", "SET @`", "use `"];
        let found = text.lines().find(|line| context.iter().any(|start| line.starts_with(start)));
        assert_eq!(found, None, "{name}");
    }
    // Of several tables of a statement one is wanted.
    let filter = DumpFilter { tables: vec![("d".to_owned(), "times".to_owned())], ..DumpFilter::default() };
    let text = dump(&read("mysql97-rows"), filter).unwrap();
    let binlogs = binlogs(&text);
    assert!(binlogs.len() > 1 && binlogs[1..].iter().all(|binlog| !check_binlog(binlog).is_empty()));
    check_transactions(&text);
}

/// A log of one transaction whose only statement has so many events, the last of which may be missing.
fn long_statement(events: usize, is_whole: bool) -> Vec<u8> {
    let golden = read("mysql97-gtids");
    let parts: Vec<RawEvent<'_>> =
        EventIter::new(&golden[MAGIC.len()..], ChecksumAlgorithm::Crc32).map(Result::unwrap).collect();
    let of_type = |wanted: EventType| parts.iter().find(|event| event.header.event_type == wanted).unwrap();
    let map = TableMap::decode_name(of_type(EventType::TABLE_MAP).body()).unwrap();
    let begin = parts.iter().find(|event| event.body().ends_with(b"BEGIN")).unwrap();
    let mut bytes = MAGIC.to_vec();
    for event in [of_type(EventType::FORMAT_DESCRIPTION), begin, of_type(EventType::TABLE_MAP)] {
        bytes.extend_from_slice(event.bytes);
    }
    let image: Vec<u8> = [0, 7, 0, 0, 0].repeat(100_000);
    for number in 1..=events {
        let flags = if number == events { rows_flags::STATEMENT_END } else { 0 };
        let rows = RowsEvent {
            kind: RowsKind::Write,
            version: RowsVersion::V2,
            table_id: map.table_id,
            flags,
            extra: &[],
            column_count: 1,
            present: &[1],
            present_after: &[1],
            rows: &image,
        };
        let mut body = Vec::new();
        rows.encode_body(&mut body);
        let frame = Frame { timestamp: 0, server_id: 1, flags: 0 };
        bytes.extend(whole_event(EventType::WRITE_ROWS, frame, bytes.len() as u64, &body));
    }
    if is_whole {
        bytes.extend_from_slice(of_type(EventType::XID).bytes);
    }
    bytes
}

#[test]
fn long_statements_are_cut_into_several() {
    let bytes = long_statement(20, true);
    let text = dump(&bytes, DumpFilter::default()).unwrap();
    let binlogs = binlogs(&text);
    assert!(binlogs.len() > 2 && binlogs.iter().all(|binlog| binlog.len() < 6 << 20));
    let rows: Vec<u8> = binlogs[1..].iter().flat_map(|binlog| check_binlog(binlog)).collect();
    assert!(rows == rows_of_log(&bytes));
    check_transactions(&text);
}

#[test]
fn a_log_that_ends_in_a_transaction() {
    let text = dump(&long_statement(3, false), DumpFilter::default()).unwrap();
    assert!(text.contains("\nROLLBACK /*"), "{}", &text[text.len() - 500..]);
    check_transactions(&text);
}
