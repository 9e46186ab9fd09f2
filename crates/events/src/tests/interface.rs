//! What is not asked is not decoded, and what is needed and not there is named.

use std::borrow::Cow;

use binlog::EventType;
use binlog::dump::DumpFilter;
use binlog::event::{ChecksumAlgorithm, FormatDescription, rows_flags};

use super::round_trip::each_transaction;
use crate::form::{self, FormApply};
use crate::json::JsonApply;
use crate::log::{DecodeCounts, LogApply};
use crate::*;

/// Consumers of different curiosity, and what each costs.
#[test]
fn nothing_is_decoded_that_was_not_asked_for() {
    let mut with_rows = 0;
    for name in ["mysql97-rows", "mysql97-payload", "maria118-rows", "maria118-compressed"] {
        each_transaction(name, |transaction| {
            assert_eq!(transaction.counts(), DecodeCounts::default(), "made of bytes");
            let _ = transaction.position().unwrap();
            assert_eq!(transaction.counts(), DecodeCounts::default());
            // Who counts transactions by name.
            let _ = transaction.name().unwrap();
            assert_eq!(transaction.counts(), DecodeCounts { envelopes: 1, ..DecodeCounts::default() });
            // Who wants to know which tables change: no types, no names of columns, no rows.
            let before = transaction.counts();
            let mut tables = 0;
            transaction
                .changes(&mut |change| {
                    if let What::Table(table) = change.what {
                        tables += u32::from(table.name()?.is_some());
                    }
                    Ok(())
                })
                .unwrap();
            let after = transaction.counts();
            let payloads = u32::from(transaction.compressed().unwrap().is_some());
            let expected = DecodeCounts { table_names: tables, inflated: payloads, ..before };
            assert_eq!(after, expected, "{name}");
            // Who counts rows: their lengths need types, and nothing needs values or names.
            let mut rows = 0;
            transaction
                .changes(&mut |change| match change.what {
                    What::Rows(of) => of.rows(&mut |_| {
                        rows += 1;
                        Ok(())
                    }),
                    _ => Ok(()),
                })
                .unwrap();
            let counts = transaction.counts();
            assert_eq!((counts.values, counts.table_definitions), (0, 0), "{name}");
            with_rows += rows;
            if rows > 0 {
                assert!(counts.row_events > 0 && counts.table_shapes > 0);
                // Who wants one side of them.
                transaction
                    .changes(&mut |change| match change.what {
                        What::Rows(of) => of.rows(&mut |row| match row.after()? {
                            Some(image) => image.values(&mut |_, _| Ok(())),
                            None => Ok(()),
                        }),
                        _ => Ok(()),
                    })
                    .unwrap();
                let one_side = transaction.counts().values;
                form::Transaction::of(transaction).unwrap();
                assert!(transaction.counts().values >= 2 * one_side, "{name}: all of it is more");
            }
        });
    }
    assert!(with_rows > 50, "{with_rows}");
}

/// A filter that wants another table costs no values.
#[test]
fn rows_that_a_filter_does_not_want_are_not_decoded() {
    let filter = DumpFilter { tables: vec![("d".to_owned(), "nothing".to_owned())], ..DumpFilter::default() };
    let mut lines = String::new();
    each_transaction("mysql97-rows", |transaction| {
        let mut apply = JsonApply::new(NoLookup);
        let selected = Selected::of(transaction, &filter).unwrap().unwrap();
        apply.transaction(&selected).unwrap();
        lines.push_str(&apply.take());
        let counts = transaction.counts();
        assert_eq!((counts.values, counts.row_events, counts.table_shapes, counts.table_definitions), (0, 0, 0, 0));
    });
    assert!(lines.lines().all(|line| line.contains(r#""op":"statement""#)), "{lines}");
    let filter = DumpFilter { tables: vec![("d".to_owned(), "texts".to_owned())], ..DumpFilter::default() };
    let mut found = 0;
    each_transaction("mysql97-rows", |transaction| {
        let mut apply = JsonApply::new(NoLookup);
        apply.transaction(&Selected::of(transaction, &filter).unwrap().unwrap()).unwrap();
        for line in apply.take().lines().filter(|line| line.contains(r#""table":"#)) {
            assert!(line.contains(r#""table":"texts""#), "{line}");
            found += 1;
        }
    });
    assert!(found > 2, "{found}");
}

/// A transaction of one change, whatever that is.
struct One<'o>(What<'o>);

impl Transaction for One<'_> {
    fn changes(&self, each: &mut EachChange<'_>) -> Result<(), EventError> {
        each(&Change { head: Head::default(), what: self.0 })
    }
}

struct Nothing;

impl Statement for Nothing {}

impl Table for Nothing {}

impl Rows for Nothing {
    fn rows(&self, _: &mut EachRow<'_>) -> Result<(), EventError> {
        Ok(())
    }
}

struct OnlySql;

impl Statement for OnlySql {
    fn sql(&self) -> Maybe<Cow<'_, [u8]>> {
        Ok(Some(Cow::Borrowed(b"CREATE DATABASE d")))
    }
}

fn missing(apply: &mut dyn Apply, what: What<'_>) -> (&'static str, &'static str) {
    match apply.transaction(&One(what)) {
        Err(EventError::Missing { event, what }) => (event, what),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_is_essential_and_missing_is_named() {
    let format = FormatDescription { checksum: ChecksumAlgorithm::Crc32, ..FormatDescription::new("9.7.0", 0) };
    let mut log = LogApply::new(format, 4);
    let mut json = JsonApply::new(NoLookup);
    let mut sql = sql::SqlApply::new(NoLookup);
    for apply in [&mut log as &mut dyn Apply, &mut json, &mut sql] {
        assert_eq!(missing(apply, What::Statement(&Nothing)), ("statement", "its text"));
        assert_eq!(missing(apply, What::Rows(&Nothing)), ("rows", "their layout"));
        assert_eq!(missing(apply, What::Table(&Nothing)).0, "table");
        // What is not essential has a default.
        apply.transaction(&One(What::Statement(&OnlySql))).unwrap();
    }
    assert!(log.take().windows(17).any(|bytes| bytes == b"CREATE DATABASE d"));
    assert!(json.take().contains("CREATE DATABASE d"));
    // Nothing was written of what failed.
    assert_eq!(String::from_utf8(sql.take()).unwrap().matches("DELIMITER ;\n").count(), 1);
    assert_eq!(missing(&mut FormApply::default(), What::Rows(&Nothing)), ("rows", "their layout"));
    // A JSON document that is there as text only can be read, and not be written into a log.
    let mut forms = Vec::new();
    each_transaction("mysql97-rows", |transaction| forms.push(form::Transaction::of(transaction).unwrap()));
    let mut found = 0;
    for form in &mut forms {
        let values = form.changes.iter_mut().filter_map(|change| match &mut change.what {
            Some(form::Step::Rows(rows)) => Some(rows.rows.iter_mut()),
            _ => None,
        });
        let values = values.flatten().filter_map(|row| row.after.as_mut()).flat_map(|image| image.values.iter_mut());
        let documents = values.filter_map(|value| match &mut value.kind {
            Some(form::Kind::Json(json)) => Some(json),
            _ => None,
        });
        let cut = documents.map(|json| json.binary.clear()).count();
        if cut > 0 {
            found += 1;
            let format = FormatDescription::new("9.7.0", 0);
            let error = LogApply::new(format, 4).transaction(form).unwrap_err();
            assert!(matches!(error, EventError::Missing { event: "JSON document", .. }), "{error}");
        }
    }
    assert!(found > 0);
}

/// A GTID of one dialect in a log of the other.
#[test]
fn the_other_dialect_is_refused() {
    each_transaction("maria118-rows", |transaction| {
        let error = LogApply::new(FormatDescription::new("9.7.0", 0), 4).transaction(transaction).unwrap_err();
        assert!(matches!(error, EventError::Unsupported(_)), "{error}");
    });
}

/// Without the metadata as bytes a TABLE_MAP is made of what is known, and means the same.
#[test]
fn tables_are_written_from_what_is_known() {
    each_transaction("mysql97-rows", |transaction| {
        let mut form = form::Transaction::of(transaction).unwrap();
        for change in &mut form.changes {
            if let Some(form::Step::Table(table)) = &mut change.what {
                table.optional_metadata = None;
            }
        }
        let mut apply = LogApply::new(transaction.format().clone(), 4);
        apply.transaction(&form).unwrap();
        let bytes = apply.take();
        let maps = |bytes: &[u8]| -> Vec<TableMap> {
            let events = binlog::EventIter::new(bytes, ChecksumAlgorithm::Crc32).map(|event| event.unwrap());
            let maps = events.filter(|event| event.header.event_type == EventType::TABLE_MAP);
            maps.map(|event| TableMap::decode(event.body()).unwrap()).collect()
        };
        assert_eq!(maps(&bytes), maps(transaction.bytes()));
    });
}

/// As servers before GTIDs log them for tables without transactions.
#[test]
fn statements_outside_of_transactions_have_what_precedes_them() {
    let mut found = 0;
    each_transaction("mysql97-statements", |transaction| {
        let mut before = 0;
        let mut collector = crate::log::Collector::new(ChecksumAlgorithm::Crc32, 1 << 20);
        for event in binlog::EventIter::new(transaction.bytes(), ChecksumAlgorithm::Crc32) {
            let event = event.unwrap();
            let is_variable = event.header.event_type.precedes_statement();
            if event.header.event_type == EventType::QUERY {
                let query = binlog::event::QueryEvent::decode(event.body()).unwrap();
                if query.begins_transaction() || query.ends_transaction() {
                    continue;
                }
            } else if !is_variable && event.header.event_type != EventType::EXECUTE_LOAD_QUERY {
                continue;
            }
            before += usize::from(is_variable);
            match collector.event("log", 4, &event).unwrap() {
                crate::log::Collected::Transaction(statement) => {
                    assert!(!is_variable);
                    let mut changes = 0;
                    statement
                        .changes(&mut |_| {
                            changes += 1;
                            Ok(())
                        })
                        .unwrap();
                    assert_eq!(changes, std::mem::take(&mut before) + 1);
                    found += changes - 1;
                }
                collected => assert!(is_variable, "{collected:?}"),
            }
            assert_eq!(collector.is_inside(), is_variable);
        }
    });
    assert!(found > 5, "{found}");
}

/// Types that are not read are errors, and not left out.
#[test]
fn what_is_too_old_is_named() {
    let frame = binlog::event::Frame { timestamp: 0, server_id: 1, flags: 0 };
    for event_type in [EventType::LOAD, EventType::CREATE_FILE, EventType::EXEC_LOAD, EventType::PRE_GA_WRITE_ROWS] {
        let bytes = binlog::event::whole_event(event_type, frame, 4, &[0; 40]);
        let event = binlog::RawEvent::first_of(&bytes, ChecksumAlgorithm::Crc32).unwrap();
        let mut collector = crate::log::Collector::new(ChecksumAlgorithm::Crc32, 1 << 20);
        let error = collector.event("log", 4, &event).unwrap_err().to_string();
        assert!(error.contains(event_type.name()), "{error}");
    }
}

/// As MySQL 5.1 logs rows of tables without transactions, and a commit behind nothing.
#[test]
fn rows_without_begin_are_one_by_one() {
    let mut found = 0;
    each_transaction("mysql97-rows", |transaction| {
        let mut collector = crate::log::Collector::new(ChecksumAlgorithm::Crc32, 1 << 20);
        for event in binlog::EventIter::new(transaction.bytes(), ChecksumAlgorithm::Crc32) {
            let event = event.unwrap();
            let event_type = event.header.event_type;
            let is_wanted = matches!(event_type, EventType::TABLE_MAP | EventType::ROWS_QUERY | EventType::XID);
            if !event_type.has_rows() && !is_wanted {
                continue;
            }
            let flags = event.body()[rows_flags::OFFSET..][0];
            let ends = event_type.has_rows() && u16::from(flags) & rows_flags::STATEMENT_END != 0;
            match collector.event("log", 4, &event).unwrap() {
                crate::log::Collected::Transaction(statement) => {
                    assert!(ends && statement.name().unwrap().is_none());
                    statement.changes(&mut |_| Ok(())).unwrap();
                    found += 1;
                }
                collected => assert!(!ends, "{collected:?}"),
            }
            assert_eq!(collector.is_inside(), !ends && event_type != EventType::XID);
        }
    });
    assert!(found > 5, "{found}");
}
