//! What clients other than our own get.

use std::collections::VecDeque;

use binlog::event::{ChecksumAlgorithm, EventHeader, FormatDescription, Heartbeat, Rotate};
use binlog::{EventType, GtidChoice, GtidEvent, GtidSet, RawEvent};
use engine::commit::SemiSync;
use io::BoxFuture;
use io::sim::SimMachine;
use session::Registry;
use session::dump::{DumpRequest, DumpService, EventStream};
use types::Value;
use wire::replication::{BinlogDump, DUMP_HEARTBEAT_V2, DUMP_NON_BLOCK, SemiSyncAck};

use super::*;
use crate::DumpServer;

/// Keeps what is sent; lets a number of waits pass, then the client is gone.
#[derive(Default)]
pub(super) struct Kept {
    pub(super) events: Vec<Vec<u8>>,
    pub(super) waits: usize,
    /// Which of the events ask to be acknowledged.
    pub(super) asked: Vec<usize>,
    /// What the client says.
    pub(super) says: VecDeque<Vec<u8>>,
}

impl EventStream for Kept {
    fn event(&mut self, pieces: &[&[u8]]) {
        self.events.push(pieces.concat());
    }

    fn semi_sync_event(&mut self, event: &[u8], asks: bool) {
        self.events.push(event.to_vec());
        self.asked.extend(asks.then(|| self.events.len() - 1));
    }

    fn said(&mut self) -> BoxFuture<'_, Result<Option<Vec<u8>>, SqlError>> {
        Box::pin(async { Ok(self.says.pop_front()) })
    }

    fn buffered(&self) -> usize {
        0
    }

    fn flush(&mut self) -> BoxFuture<'_, Result<(), SqlError>> {
        Box::pin(async { Ok(()) })
    }

    fn wait<'a>(&'a mut self, what: BoxFuture<'a, ()>) -> BoxFuture<'a, Result<bool, SqlError>> {
        Box::pin(async move {
            if self.waits == 0 {
                return Err(SqlError::unknown("the client has gone"));
            }
            self.waits -= 1;
            what.await;
            Ok(true)
        })
    }
}

pub(super) fn request(file: &str, position: u64) -> DumpRequest {
    DumpRequest {
        dump: BinlogDump { flags: DUMP_NON_BLOCK, server_id: 9, file: file.into(), position, gtid_set: None },
        variables: vec![("source_binlog_checksum".into(), Value::str("CRC32"))],
        ..DumpRequest::default()
    }
}

/// A source with forty transactions in several files.
fn dump(request: DumpRequest, kept: &mut Kept) -> (Result<(), SqlError>, Arc<BinaryLog>) {
    dump_with(request, kept, &GtidSet::new())
}

/// The same; these GTIDs count as executed there, and are in no file.
fn dump_with(request: DumpRequest, kept: &mut Kept, purged: &GtidSet) -> (Result<(), SqlError>, Arc<BinaryLog>) {
    let machine = SimMachine::new(1);
    let run = async {
        let (log, mut writer) = source_log(&machine.env()).await;
        write(&mut writer, 40).await;
        if !purged.is_empty() {
            writer.add_purged(purged).await.unwrap();
        }
        let server = DumpServer::new(log.clone(), Registry::new(machine.env().clock), SemiSync::new(machine.env()));
        (server.dump(request, kept).await, log)
    };
    machine.run(run).unwrap()
}

pub(super) fn headers(kept: &Kept) -> Vec<EventHeader> {
    kept.events.iter().map(|event| EventHeader::decode(event).unwrap()).collect()
}

fn gnos(kept: &Kept) -> Vec<u64> {
    let event = |bytes: &Vec<u8>| {
        let event = RawEvent::first_of(bytes, ChecksumAlgorithm::Crc32).unwrap();
        event.verify().unwrap();
        let event_type = event.header.event_type;
        event_type.is_gtid().then(|| GtidEvent::decode(event_type, event.body()).unwrap().gtid.unwrap().gno)
    };
    kept.events.iter().filter_map(event).collect()
}

#[test]
fn from_the_beginning_of_a_file() {
    let mut kept = Kept::default();
    let (result, log) = dump(request("", 4), &mut kept);
    result.unwrap();
    let types: Vec<EventType> = headers(&kept).iter().map(|header: &EventHeader| header.event_type).collect();
    let begin = [EventType::ROTATE, EventType::FORMAT_DESCRIPTION, EventType::PREVIOUS_GTIDS, EventType::GTID];
    assert_eq!(types[..4], begin);
    assert_eq!(gnos(&kept), (1..=40).collect::<Vec<_>>());
    let format = headers(&kept)[1];
    assert_eq!((format.flags, format.next_position), (0u16, 4 + format.event_length));
    // Each file is named before its first event, by an artificial event behind the real one.
    let rotates: Vec<_> = headers(&kept).into_iter().filter(|header| header.event_type == EventType::ROTATE).collect();
    assert_eq!(rotates.len(), 2 * log.files().len() - 1);
    assert_eq!(rotates.iter().filter(|header| header.next_position == 0).count(), log.files().len());
}

#[test]
fn from_the_middle_of_a_file() {
    let mut whole = Kept::default();
    dump(request("binlog.000001", 4), &mut whole).0.unwrap();
    let second =
        headers(&whole).iter().filter(|header| header.event_type == EventType::QUERY).nth(1).unwrap().next_position;
    let mut kept = Kept::default();
    dump(request("binlog.000001", second.into()), &mut kept).0.unwrap();
    assert_eq!(gnos(&kept)[0], 3);
    let rotate = RawEvent::first_of(&kept.events[0], ChecksumAlgorithm::Crc32).unwrap();
    assert_eq!(Rotate::decode(rotate.body()).unwrap().position, u64::from(second));
    let format = RawEvent::first_of(&kept.events[1], ChecksumAlgorithm::Crc32).unwrap();
    format.verify().unwrap();
    assert_eq!(format.header.next_position, 0);
    assert_eq!(FormatDescription::decode(&format).unwrap().created, 0);
}

#[test]
fn by_gtids() {
    let mut request = request("", 4);
    let mut set = GtidSet::new();
    set.add_range(Uuid([0x11; 16]), 1, 20);
    set.add_range(Uuid([0x11; 16]), 25, 26);
    let mut bytes = Vec::new();
    set.encode(&mut bytes);
    request.dump.gtid_set = Some(bytes);
    let mut kept = Kept::default();
    let (result, _) = dump(request.clone(), &mut kept);
    result.unwrap();
    assert_eq!(gnos(&kept), (21..=24).chain(27..=40).collect::<Vec<_>>());
    set.add_range(Uuid([0x11; 16]), 1, 99);
    let mut bytes = Vec::new();
    set.encode(&mut bytes);
    request.dump.gtid_set = Some(bytes);
    let error = dump(request, &mut kept).0.unwrap_err();
    assert_eq!(error.code, 1236);
    assert!(error.message.starts_with("Replica has more GTIDs than the source has"), "{error}");
}

/// GTIDs with tags are GTIDs like others. The flag by which a MySQL 8.3 says that it has left tags out of its set, to older sources, is
/// the one with which older libraries say that they send a set at all: they too get everything.
#[test]
fn by_gtids_with_tags() {
    let run = |set: String| {
        let mut bytes = Vec::new();
        set.parse::<GtidSet>().unwrap().encode(&mut bytes);
        let mut request = request("", 4);
        request.dump.flags |= 1 << 2;
        request.dump.gtid_set = Some(bytes);
        let (machine, mut kept) = (SimMachine::new(1), Kept::default());
        let dumped = machine.run(async {
            let (log, mut writer) = source_log(&machine.env()).await;
            write(&mut writer, 10).await;
            write_as(&mut writer, 10, GtidChoice::Automatic("blue".parse().unwrap())).await;
            write(&mut writer, 5).await;
            assert!(log.files().len() > 1);
            let server = DumpServer::new(log, Registry::new(machine.env().clock), SemiSync::new(machine.env()));
            server.dump(request, &mut kept).await
        });
        dumped.unwrap().map(|()| gnos(&kept))
    };
    let uuid = Uuid([0x11; 16]);
    assert_eq!(run(String::new()).unwrap(), (1..=10).chain(1..=10).chain(11..=15).collect::<Vec<_>>());
    let lacking = run(format!("{uuid}:1-7:blue:1-4:8,22222222-2222-2222-2222-222222222222:blue:1-99")).unwrap();
    assert_eq!(lacking, [8, 9, 10, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15]);
    assert_eq!(run(format!("{uuid}:1-15:blue:1-10")).unwrap(), [0; 0]);
    let error = run(format!("{uuid}:1-15:blue:1-11")).unwrap_err();
    assert!(error.message.starts_with("Replica has more GTIDs than the source has"), "{error}");
}

/// What is local to its server is sent to who copies the log, and to nobody else.
#[test]
fn local_transactions() {
    let run = |request: DumpRequest| {
        let (machine, mut kept) = (SimMachine::new(1), Kept::default());
        let dumped = machine.run(async {
            let (log, mut writer) = source_log(&machine.env()).await;
            write(&mut writer, 10).await;
            write_numbered(&mut writer, 11, 7, GtidChoice::Local).await;
            write_numbered(&mut writer, 18, 5, GtidChoice::default()).await;
            write_numbered(&mut writer, 23, 3, GtidChoice::Local).await;
            assert_eq!(log.gtid_executed().to_string(), "11111111-1111-1111-1111-111111111111:1-15");
            let server = DumpServer::new(log.clone(), Registry::new(machine.env().clock), SemiSync::new(machine.env()));
            server.dump(request, &mut kept).await.unwrap();
            let (end, executed) = (log.durable_end(), log.gtid_executed());
            drop((server, writer, log));
            assert_eq!(source_log(&machine.env()).await.0.gtid_executed(), executed, "it comes back as it was");
            end
        });
        (kept, dumped.unwrap())
    };
    let count = |kept: &Kept, wanted| headers(kept).iter().filter(|header| header.event_type == wanted).count();
    let plain = request("", 4);
    let mut with_gtids = plain.clone();
    with_gtids.dump.gtid_set = Some(vec![0; 8]);
    with_gtids.variables.push(("source_heartbeat_period".into(), Value::Int(1_000_000_000)));
    for request in [plain.clone(), with_gtids.clone()] {
        let (kept, end) = run(request.clone());
        assert_eq!(gnos(&kept), (1..=15).collect::<Vec<_>>());
        assert_eq!((count(&kept, EventType::ANONYMOUS_GTID), count(&kept, EventType::QUERY)), (0, 15));
        if request.dump.gtid_set.is_some() {
            let last = RawEvent::first_of(kept.events.last().unwrap(), ChecksumAlgorithm::Crc32).unwrap();
            assert_eq!(Heartbeat::decode(&last).unwrap().position, end.offset, "the replica knows where it is");
        }
    }
    with_gtids.variables.push(("commuter_copies".into(), Value::Int(1)));
    let (kept, _) = run(with_gtids);
    assert_eq!((count(&kept, EventType::ANONYMOUS_GTID), count(&kept, EventType::QUERY)), (10, 25));
    let mut maria = plain;
    maria.variables.push(("mariadb_slave_capability".into(), Value::Int(4)));
    maria.variables.push(("slave_connect_state".into(), Value::str("0-1-12")));
    let (kept, _) = run(maria);
    assert_eq!((count(&kept, EventType::MARIA_GTID), count(&kept, EventType::QUERY)), (3, 3));
}

/// MySQL's replicas know where they are by what they get.
#[test]
fn a_heartbeat_tells_of_what_is_left_out() {
    let mut request = request("", 4);
    request.variables.push(("source_heartbeat_period".into(), Value::Int(1_000_000_000)));
    let mut set = GtidSet::new();
    set.add_range(Uuid([0x11; 16]), 3, 4);
    set.add_range(Uuid([0x11; 16]), 40, 40);
    let mut bytes = Vec::new();
    set.encode(&mut bytes);
    request.dump.gtid_set = Some(bytes);
    let mut kept = Kept::default();
    let (result, log) = dump(request, &mut kept);
    result.unwrap();
    let mut at = 0;
    let mut beats = 0;
    for (header, event) in headers(&kept).into_iter().zip(&kept.events) {
        if header.event_type == EventType::HEARTBEAT {
            let event = RawEvent::first_of(event, ChecksumAlgorithm::Crc32).unwrap();
            at = Heartbeat::decode(&event).unwrap().position;
            beats += 1;
        } else if header.event_type == EventType::ROTATE && header.next_position == 0 {
            at = 4;
        } else {
            assert_eq!(u64::from(header.next_position - header.event_length), at, "{header:?}");
            at = header.next_position.into();
        }
    }
    assert_eq!((at, beats), (log.durable_end().offset, 2));
}

/// The last event of what is durable asks; acknowledgements of what was sent are taken, others end the stream.
#[test]
fn semi_synchronous_replicas() {
    let mut request = request("", 4);
    request.variables.push(("rpl_semi_sync_slave".into(), Value::Int(1)));
    let mut kept = Kept::default();
    let (result, log) = dump(request.clone(), &mut kept);
    result.unwrap();
    assert_eq!(kept.asked, [kept.events.len() - 1], "one for all that was durable");
    let end = log.durable_end();
    for (position, is_known) in [(end.offset, true), (end.offset + 1, false)] {
        let mut packet = Vec::new();
        SemiSyncAck { position, file: log.file_name(end.file) }.encode(&mut packet);
        let mut kept = Kept { says: [packet].into(), ..Kept::default() };
        let (result, _) = dump(request.clone(), &mut kept);
        assert_eq!(result.is_ok(), is_known, "{result:?}");
    }
    let mut kept = Kept { says: [vec![1]].into(), ..Kept::default() };
    assert_eq!(dump(request, &mut kept).0.unwrap_err().code, 1236);
}

/// What is in no file is needed from the replica, also if there are files from before it was added.
#[test]
fn purged_gtids_are_needed() {
    let purged: GtidSet = "22222222-2222-2222-2222-222222222222:1-9".parse().unwrap();
    let mut request = request("", 4);
    let mut dump_to = |has: &GtidSet, kept: &mut Kept| {
        let mut bytes = Vec::new();
        has.encode(&mut bytes);
        request.dump.gtid_set = Some(bytes);
        dump_with(request.clone(), kept, &purged).0
    };
    for has in ["", "22222222-2222-2222-2222-222222222222:1-8"] {
        let error = dump_to(&has.parse().unwrap(), &mut Kept::default()).unwrap_err();
        assert_eq!(error.code, 1236, "{error}");
        assert!(error.message.contains("purged required binary logs"), "{error}");
    }
    let mut kept = Kept::default();
    dump_to(&purged, &mut kept).unwrap();
    assert_eq!(gnos(&kept), (1..=40).collect::<Vec<_>>());
}

#[test]
fn refusals_are_1236() {
    let mut no_checksum = request("", 4);
    no_checksum.variables.clear();
    let cases = [
        (request("binlog.000099", 4), "Could not find first log file name"),
        (request("nonsense", 4), "Could not find first log file name"),
        (request("binlog.000001", 3), "position < 4"),
        (request("binlog.000001", 1 << 20), "position > file size"),
        (request("binlog.000001", 200), "inside of the event at "),
        (request("binlog.000001", 50), "inside of the event at 4"),
        (no_checksum, "can not handle replication events with the checksum"),
    ];
    for (request, words) in cases {
        let error = dump(request, &mut Kept::default()).0.unwrap_err();
        assert_eq!(error.code, 1236, "{error}");
        assert!(error.message.contains(words), "{error} should say '{words}'");
    }
}

#[test]
fn heartbeats_of_both_versions() {
    for (flags, is_maria, expected) in [
        (0, false, EventType::HEARTBEAT),
        (DUMP_HEARTBEAT_V2, false, EventType::HEARTBEAT_V2),
        (DUMP_HEARTBEAT_V2, true, EventType::HEARTBEAT),
    ] {
        let mut request = request("", 4);
        request.dump.flags = flags;
        request.variables.push(("source_heartbeat_period".into(), Value::Int(1_000_000_000)));
        if is_maria {
            request.variables.push(("mariadb_slave_capability".into(), Value::Int(4)));
        }
        let mut kept = Kept { waits: 2, ..Kept::default() };
        let (result, log) = dump(request, &mut kept);
        assert!(result.is_err(), "the client went");
        let beats: Vec<&Vec<u8>> = kept.events.iter().filter(|event| event[4] == expected.0).collect();
        assert_eq!(beats.len(), 2);
        let event = RawEvent::first_of(beats[0], ChecksumAlgorithm::Crc32).unwrap();
        event.verify().unwrap();
        let end = log.durable_end();
        let at = Heartbeat { file: log.file_name(end.file), position: end.offset };
        assert_eq!(Heartbeat::decode(&event), Ok(at));
    }
}

#[test]
fn without_checksums_before_the_format_is_known() {
    let mut request = request("", 4);
    request.variables = vec![("master_binlog_checksum".into(), Value::str("NONE"))];
    let mut kept = Kept::default();
    let (result, log) = dump(request, &mut kept);
    result.unwrap();
    let rotate = RawEvent::first_of(&kept.events[0], ChecksumAlgorithm::Off).unwrap();
    assert_eq!(Rotate::decode(rotate.body()).unwrap().file, "binlog.000001");
    assert_eq!(kept.events[0].len(), 19 + 8 + "binlog.000001".len());
    // From then on everything has one, also what is made up.
    for bytes in &kept.events[1..] {
        RawEvent::first_of(bytes, ChecksumAlgorithm::Crc32).unwrap().verify().unwrap();
    }
    let made_up = headers(&kept)[1..].iter().filter(|h| h.event_type == EventType::ROTATE && h.timestamp == 0).count();
    assert_eq!(made_up, log.files().len() - 1);
}
