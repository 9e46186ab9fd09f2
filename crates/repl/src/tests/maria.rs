//! What MariaDB's replicas get.

use std::time::Duration;

use base::Tag;
use binlog::event::{ChecksumAlgorithm, MariaGtid, MariaGtidList};
use binlog::{EventType, FormatDescription, GtidSet, MariaGtidName, RawEvent};
use engine::commit::SemiSync;
use io::sim::SimMachine;
use session::Registry;
use session::dump::{DumpRequest, DumpService};
use types::Value;

use super::dump::{Kept, headers, request};
use super::*;
use crate::{DumpServer, MariaNames};

/// Transactions of rows, of which each says up to which one everything had been committed when it began. Some have tags, which are seen
/// nowhere.
async fn write_rows(writer: &mut LogWriter, began_after: &[u64]) {
    let first = writer.log().gtid_executed().count() + 1;
    for (number, &after) in (first..).zip(began_after) {
        let options = EncoderOptions { server_id: 1, ..EncoderOptions::default() };
        let mut encoder = TransactionEncoder::begin(options, QueryContext::default());
        encoder.rows_query(&format!("statement {number}"));
        let tag = if number % 3 == 0 { Tag::NONE } else { "blue".parse().unwrap() };
        let transaction = EncodedTransaction { gtid: GtidChoice::Automatic(tag), ..encoder.finish().unwrap() };
        place(writer, &transaction, number, after).await;
    }
    writer.flush(IoMode::Offload).await.unwrap();
}

/// As a MariaDB replica asks that has `state`.
fn replica(state: &str) -> DumpRequest {
    let mut request = request("", 4);
    request.variables.push(("mariadb_slave_capability".into(), Value::Int(4)));
    request.variables.push(("slave_connect_state".into(), Value::str(state)));
    request
}

/// Ten schema changes, then seven transactions of rows; `purged` of them count as executed elsewhere.
fn dump(request: DumpRequest, kept: &mut Kept, purged: &str) -> Result<(), SqlError> {
    let machine = SimMachine::new(1);
    machine
        .run(async {
            let (log, mut writer) = source_log(&machine.env()).await;
            write(&mut writer, 10).await;
            write_rows(&mut writer, &[10, 10, 11, 10, 14, 14, 16]).await;
            let purged: GtidSet = purged.parse().unwrap();
            if !purged.is_empty() {
                writer.add_purged(&purged).await.unwrap();
                write(&mut writer, 2).await;
            }
            let server = DumpServer::new(log, Registry::new(machine.env().clock), SemiSync::new(machine.env()));
            server.dump(request, kept).await
        })
        .unwrap()
}

fn raw(bytes: &[u8]) -> RawEvent<'_> {
    let event = RawEvent::first_of(bytes, ChecksumAlgorithm::Crc32).unwrap();
    event.verify().unwrap();
    event
}

fn gtids(kept: &Kept) -> Vec<MariaGtid> {
    let events = kept.events.iter().map(|bytes| raw(bytes));
    events
        .filter(|event| event.header.event_type == EventType::MARIA_GTID)
        .map(|event| MariaGtid::decode(event.body()).unwrap())
        .collect()
}

fn numbers(kept: &Kept) -> Vec<u64> {
    gtids(kept).iter().map(|gtid| gtid.seq_no).collect()
}

#[test]
fn from_the_first_transaction() {
    let mut kept = Kept::default();
    dump(replica(""), &mut kept, "").unwrap();
    let types: Vec<EventType> = headers(&kept).iter().map(|header| header.event_type).collect();
    let begin = [EventType::ROTATE, EventType::FORMAT_DESCRIPTION, EventType::MARIA_GTID_LIST];
    assert_eq!(types[..5], [&begin[..], &[EventType::MARIA_GTID, EventType::QUERY]].concat());
    let format = FormatDescription::decode(&raw(&kept.events[1])).unwrap();
    assert_eq!(format.post_header_lengths.len(), 171);
    assert_eq!(format.post_header_length(EventType::MARIA_GTID), 19);
    assert!(!format.is_maria(), "statements in it have MySQL's modes");
    assert_eq!(MariaGtidList::decode(raw(&kept.events[2]).body()).unwrap(), MariaGtidList::default());
    assert_eq!(numbers(&kept), (1..=17).collect::<Vec<_>>());
    // A transaction is GTID and XID; who wants no annotations gets none.
    let pairs = types.windows(2).filter(|pair| *pair == [EventType::MARIA_GTID, EventType::XID]);
    assert_eq!(pairs.count(), 7);
    let foreign = [EventType::PREVIOUS_GTIDS, EventType::ROWS_QUERY, EventType::MARIA_ANNOTATE_ROWS];
    let is_foreign = |event_type: &EventType| event_type.is_gtid() || foreign.contains(event_type);
    assert!(!types.iter().any(is_foreign), "{types:?}");
}

#[test]
fn flags_and_commit_ids_say_what_may_run_in_parallel() {
    let mut kept = Kept::default();
    dump(replica("0-1-9"), &mut kept, "").unwrap();
    let told: Vec<_> = gtids(&kept).iter().map(|gtid| (gtid.seq_no, gtid.flags, gtid.commit_id)).collect();
    // 11 to 14 depend on nothing between them; 13 began behind 11, so it does not belong to them. Others depend on the one before them.
    let [standalone, transaction, waited] = [1 | 8 | 32, 2 | 4 | 8, 16];
    assert_eq!(told[0], (10, standalone, None));
    let ids: Vec<_> = told[1..].iter().map(|&(number, flags, id)| (number, flags, id.unwrap())).collect();
    let expected =
        [(11, waited, 11), (12, 0, 11), (13, 0, 13), (14, 0, 13), (15, waited, 15), (16, 0, 15), (17, waited, 17)];
    assert_eq!(ids, expected.map(|(number, waits, id)| (number, transaction | waits, id)));
}

#[test]
fn positions_are_those_of_the_log() {
    let (mut mysql, mut maria) = (Kept::default(), Kept::default());
    dump(request("", 4), &mut mysql, "").unwrap();
    dump(replica(""), &mut maria, "").unwrap();
    let ends = |kept: &Kept, wanted: &[EventType]| -> Vec<u32> {
        let wanted = headers(kept).into_iter().filter(|header| wanted.contains(&header.event_type));
        wanted.map(|header| header.next_position).collect()
    };
    let everywhere = [EventType::XID, EventType::ROTATE];
    assert_eq!(ends(&mysql, &everywhere), ends(&maria, &everywhere));
    // It is longer than the log's, and without a position a MariaDB does not count it.
    assert!(ends(&maria, &[EventType::FORMAT_DESCRIPTION]).iter().all(|&end| end == 0));
    assert_eq!(ends(&mysql, &[EventType::PREVIOUS_GTIDS]), ends(&maria, &[EventType::MARIA_GTID_LIST]));
    // BEGIN is where the GTID ends.
    assert_eq!(ends(&mysql, &[EventType::QUERY])[10..], ends(&maria, &[EventType::MARIA_GTID])[10..]);
    assert_eq!(ends(&mysql, &[EventType::GTID])[..10], ends(&maria, &[EventType::MARIA_GTID])[..10]);
}

#[test]
fn goes_on_behind_what_the_replica_has() {
    for number in 1..=17 {
        let mut kept = Kept::default();
        dump(replica(&format!("7-3-99, 0-1-{number}")), &mut kept, "").unwrap();
        assert_eq!(numbers(&kept), (number + 1..=17).collect::<Vec<_>>());
        assert_eq!(headers(&kept)[1].next_position, 0, "the replica keeps its temporary tables");
    }
}

#[test]
fn by_position() {
    let mut whole = Kept::default();
    dump(request("", 4), &mut whole, "").unwrap();
    let middle = headers(&whole).iter().filter(|h| h.event_type == EventType::QUERY).nth(2).unwrap().next_position;
    let mut from_there = replica("");
    from_there.variables.retain(|(name, _)| name != "slave_connect_state");
    from_there.dump.file = "binlog.000001".into();
    from_there.dump.position = middle.into();
    // A tool that copies files is no replica.
    let mut tool = Kept::default();
    dump(from_there.clone(), &mut tool, "").unwrap();
    assert!(numbers(&tool).is_empty());
    from_there.replica = Some(Default::default());
    let mut kept = Kept::default();
    dump(from_there, &mut kept, "").unwrap();
    assert_eq!(numbers(&kept), (4..=17).collect::<Vec<_>>());
}

#[test]
fn annotations_for_who_wants_them() {
    let mut request = replica("0-1-16");
    request.dump.flags |= wire::replication::DUMP_HEARTBEAT_V2;
    let mut kept = Kept::default();
    dump(request, &mut kept, "").unwrap();
    let found: Vec<_> = kept
        .events
        .iter()
        .map(|bytes| raw(bytes))
        .filter(|e| e.header.event_type == EventType::MARIA_ANNOTATE_ROWS)
        .collect();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].body(), b"statement 17");
}

#[test]
fn what_was_executed_elsewhere_counts() {
    let mut kept = Kept::default();
    dump(replica("0-1-15"), &mut kept, "22222222-2222-2222-2222-222222222222:1-100").unwrap();
    assert_eq!(numbers(&kept), [16, 17, 118, 119]);
}

#[test]
fn another_history_is_refused() {
    for (state, words) in [
        ("0-1-18", "which is not in the master's binlog"),
        ("0-2-5", "which is not in the master's binlog"),
        ("0-1", "malformed GTID position"),
        ("x", "malformed GTID position"),
    ] {
        let error = dump(replica(state), &mut Kept::default(), "").unwrap_err();
        assert_eq!(error.code, 1236, "{error}");
        assert!(error.message.contains(words), "{state}: {error}");
    }
}

#[test]
fn a_position_has_a_name() {
    let machine = SimMachine::new(1);
    machine
        .run(async {
            let (log, mut writer) = source_log(&machine.env()).await;
            let name = async |at| MariaNames::at(&log, at).await.unwrap().position_text(1);
            assert_eq!(name(log.durable_end()).await, "");
            write(&mut writer, 40).await;
            let end = log.durable_end();
            assert!(end.file > 2);
            assert_eq!(name(end).await, "0-1-40");
            // At the beginning of a file it is the last one of the file before.
            for file in 2..=end.file {
                let at_begin = name(LogPosition::new(file, 4)).await;
                let behind_head = name(LogPosition::new(file, 200)).await;
                assert_eq!(at_begin, behind_head);
                assert!(at_begin.starts_with("0-1-"));
            }
        })
        .unwrap();
}

/// Transactions under these names; those that are none of MariaDB's are this server's.
async fn write_named(writer: &mut LogWriter, names: &[&str]) {
    let log = writer.log().clone();
    for name in names {
        let number = log.gtid_executed().count() + 1;
        let born = name.parse::<MariaGtidName>().ok();
        let options = EncoderOptions { server_id: born.map_or(1, |born| born.server_id), ..EncoderOptions::default() };
        let gtid = born.map_or(GtidChoice::default(), |born| GtidChoice::Chosen(born.gtid()));
        let transaction = TransactionEncoder::begin(options, QueryContext::default()).finish().unwrap();
        let transaction = EncodedTransaction { gtid, ..transaction };
        place(writer, &transaction, number, number - 1).await;
        writer.flush(IoMode::Offload).await.unwrap();
        // The next file is prepared meanwhile.
        log.env().clock.sleep(Duration::from_millis(10)).await;
    }
}

/// What a MariaDB's transactions and ours are called, over several files, and from where on somebody gets them who has those up to `state`.
fn named(names: &[&str], purged: &str, state: &str) -> Result<Vec<String>, SqlError> {
    let machine = SimMachine::new(1);
    let mut kept = Kept::default();
    let result = machine
        .run(async {
            let (log, mut writer) = source_log(&machine.env()).await;
            let purged: GtidSet = purged.parse().unwrap();
            if !purged.is_empty() {
                writer.add_purged(&purged).await.unwrap();
            }
            log.set_max_file_bytes(600);
            write_named(&mut writer, names).await;
            assert!(log.files().len() > 2 || names.len() < 6, "{:?}", log.files());
            let server = DumpServer::new(log, Registry::new(machine.env().clock), SemiSync::new(machine.env()));
            server.dump(replica(state), &mut kept).await
        })
        .unwrap();
    let gtids = kept.events.iter().map(|bytes| raw(bytes));
    let gtids = gtids
        .filter(|event| event.header.event_type == EventType::MARIA_GTID)
        .map(|event| MariaGtid::decode(event.body()).unwrap().name(event.header.server_id).to_string());
    result.map(|()| gtids.collect())
}

const BORN: [&str; 12] =
    ["5-7-11", "5-7-12", "6-8-1", "own", "5-7-13", "own", "6-8-2", "5-9-14", "own", "5-7-15", "own", "6-8-3"];
/// As MariaDB has them.
const THERE: [&str; 12] =
    ["5-7-11", "5-7-12", "6-8-1", "0-1-1", "5-7-13", "0-1-2", "6-8-2", "5-9-14", "0-1-3", "5-7-15", "0-1-4", "6-8-3"];

#[test]
fn who_was_born_on_a_mariadb_has_its_name_back() {
    assert_eq!(named(&BORN, "", "").unwrap(), THERE);
    // Wherever somebody is that has all before it.
    for have in 1..=THERE.len() {
        let last = |domain: &str| THERE[..have].iter().rev().find(|name| name.starts_with(domain)).copied();
        let state: Vec<&str> = ["0-", "5-", "6-"].into_iter().filter_map(last).collect();
        assert_eq!(named(&BORN, "", &state.join(",")).unwrap(), THERE[have..], "{state:?}");
    }
    // Each domain by itself: what one lacks is sent, and nothing twice.
    let sent = named(&BORN, "", "5-9-14,6-8-1,99-1-1").unwrap();
    assert_eq!(sent, ["0-1-1", "0-1-2", "6-8-2", "0-1-3", "5-7-15", "0-1-4", "6-8-3"]);
}

#[test]
fn one_domain_for_all() {
    // A source's domain 0 and what is written here: numbers ascend.
    let born = ["0-7-100", "own", "own", "0-7-103", "own", "own", "0-7-106", "own"];
    let there = ["0-7-100", "0-1-101", "0-1-102", "0-7-103", "0-1-106", "0-1-107", "0-7-106", "0-1-111"];
    assert_eq!(named(&born, "", "").unwrap(), there);
    for have in 1..=there.len() {
        assert_eq!(named(&born, "", there[have - 1]).unwrap(), there[have..], "{}", there[have - 1]);
    }
}

#[test]
fn what_is_not_in_the_log_is_refused() {
    for state in ["5-7-16", "5-3-12", "0-1-5", "0-2-2", "6-8-4"] {
        let error = named(&BORN, "", state).unwrap_err();
        assert!(error.message.contains("which is not in the master's binlog"), "{state}: {error}");
    }
    // Of a domain that the replica has nothing of, something was purged.
    let purged = "4d617269-6144-4200-0000-000500000007:1-10";
    let error = named(&BORN, purged, "0-1-1,6-8-1").unwrap_err();
    assert!(error.message.contains("have been purged"), "{error}");
    assert_eq!(named(&BORN, purged, "5-7-10").unwrap(), THERE);
}
