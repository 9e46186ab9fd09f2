//! The store and what fills it, in a simulated world: crashes at any moment, torn tails, sources with another history.

use std::sync::Arc;

use base::{ErrorClass, Gtid, Uuid};
use binlog::event::{
    ChecksumAlgorithm, EventHeader, FLAG_ARTIFICIAL, HEADER_SIZE, MAGIC, MariaGtid, MariaGtidList, Rotate, whole_event,
};
use binlog::{EventType, FormatDescription, GtidEvent, GtidSet};
use io::Env;
use io::sim::{Faults, SimMachine};
use repl::follower::ReceiveError;

use crate::gtids::Kind;
use crate::kept::Source;
use crate::receive::copier::Copier;
use crate::store::reader::{Reader, Step};
use crate::store::writer::Writer;
use crate::store::{Limits, Store};

const UUID: Uuid = Uuid([0x11; 16]);

/// A source's file, with where each of its events begins.
struct SourceFile {
    name: String,
    bytes: Vec<u8>,
    starts: Vec<usize>,
}

/// Makes the files that a source would.
struct SourceLog {
    kind: Kind,
    checksum: ChecksumAlgorithm,
    files: Vec<SourceFile>,
    transactions: u64,
    /// In each transaction, so that two histories differ.
    text: &'static str,
}

impl SourceLog {
    fn new(kind: Kind, checksum: ChecksumAlgorithm, text: &'static str) -> Self {
        let mut log = SourceLog { kind, checksum, files: Vec::new(), transactions: 0, text };
        log.begin_file();
        log
    }

    /// Some files with some transactions each.
    fn filled(kind: Kind, checksum: ChecksumAlgorithm, text: &'static str) -> Self {
        let mut log = SourceLog::new(kind, checksum, text);
        for file in 0..3 {
            (0..5 + file).for_each(|_| log.transaction());
            if file < 2 {
                log.rotate();
            }
        }
        log
    }

    fn event(&mut self, event_type: EventType, body: &[u8]) {
        let (kind, checksum) = (self.kind, self.checksum);
        let file = self.files.last_mut().unwrap();
        let with_checksum = checksum == ChecksumAlgorithm::Crc32 || event_type == EventType::FORMAT_DESCRIPTION;
        let length = HEADER_SIZE + body.len() + if with_checksum { 4 } else { 0 };
        // MariaDB's events inside of a group say no position.
        let is_inside = kind == Kind::Maria && event_type == EventType::QUERY;
        let next_position = if is_inside { 0 } else { (file.bytes.len() + length) as u32 };
        let header = EventHeader {
            timestamp: 1_767_225_600 + self.transactions as u32,
            event_type,
            server_id: 7,
            event_length: length as u32,
            next_position,
            flags: 0,
        };
        let mut event = Vec::new();
        header.encode(&mut event);
        event.extend_from_slice(body);
        if with_checksum {
            event.extend_from_slice(&crc(&event).to_le_bytes());
        }
        file.starts.push(file.bytes.len());
        file.bytes.extend_from_slice(&event);
    }

    fn begin_file(&mut self) {
        let name = format!("bin.{:06}", self.files.len() + 3);
        self.files.push(SourceFile { name, bytes: MAGIC.to_vec(), starts: Vec::new() });
        let version = if self.kind == Kind::Maria { "11.8.9-MariaDB-log" } else { "9.7.4" };
        let mut format = FormatDescription::new(version, 1);
        format.checksum = self.checksum;
        let mut body = Vec::new();
        format.encode_body(&mut body);
        self.event(EventType::FORMAT_DESCRIPTION, &body);
        body.clear();
        match self.kind {
            Kind::Mysql => {
                let mut before = GtidSet::new();
                if self.transactions > 0 {
                    before.add_range(UUID, 1, self.transactions);
                }
                before.encode(&mut body);
                self.event(EventType::PREVIOUS_GTIDS, &body);
            }
            Kind::Maria => {
                let gtids = if self.transactions > 0 { vec![(0, 7, self.transactions)] } else { Vec::new() };
                MariaGtidList { flags: 0, gtids }.encode_body(&mut body);
                self.event(EventType::MARIA_GTID_LIST, &body);
            }
        }
    }

    fn transaction(&mut self) {
        self.transactions += 1;
        let mut body = Vec::new();
        match self.kind {
            Kind::Mysql => {
                let gtid = GtidEvent {
                    gtid: Some(Gtid { uuid: UUID, gno: self.transactions }),
                    tag: String::new(),
                    may_have_statements: true,
                    last_committed: 0,
                    sequence_number: 1,
                    immediate_commit_time: Default::default(),
                    original_commit_time: Default::default(),
                    transaction_length: 0,
                    immediate_server_version: 90_704,
                    original_server_version: 90_704,
                    commit_group_ticket: None,
                };
                gtid.encode_body(&mut body);
                self.event(EventType::GTID, &body);
                self.event(EventType::QUERY, &query("BEGIN"));
            }
            Kind::Maria => {
                MariaGtid { seq_no: self.transactions, flags: 4, ..MariaGtid::default() }.encode_body(&mut body);
                self.event(EventType::MARIA_GTID, &body);
            }
        }
        let text = format!("{} {}", self.text, "x".repeat((self.transactions * 37 % 300) as usize));
        self.event(EventType::QUERY, &query(&text));
        self.event(EventType::XID, &self.transactions.to_le_bytes());
    }

    fn rotate(&mut self) {
        let mut body = Vec::new();
        let next = format!("bin.{:06}", self.files.len() + 4);
        Rotate { position: 4, file: next }.encode_body(&mut body);
        self.event(EventType::ROTATE, &body);
        self.begin_file();
    }

    /// What a dump thread sends from a position on.
    fn stream(&self, name: &str, position: usize) -> Vec<Vec<u8>> {
        let mut sent = Vec::new();
        let first = self.files.iter().position(|file| name.is_empty() || file.name == name).unwrap();
        for (n, file) in self.files[first..].iter().enumerate() {
            let from = if n == 0 { position } else { 4 };
            let rotate = Rotate { position: from as u64, file: file.name.clone() };
            sent.push(rotate.fake(7, self.checksum == ChecksumAlgorithm::Crc32));
            if from > 4 {
                let mut format = file.bytes[4..file.starts[1]].to_vec();
                format[13..17].fill(0);
                let end = format.len() - 4;
                let checksum = crc(&format[..end]);
                format[end..].copy_from_slice(&checksum.to_le_bytes());
                sent.push(format);
            }
            for (at, start) in file.starts.iter().enumerate().filter(|(_, start)| **start >= from) {
                let end = file.starts.get(at + 1).copied().unwrap_or(file.bytes.len());
                sent.push(file.bytes[*start..end].to_vec());
            }
        }
        sent
    }
}

fn query(sql: &str) -> Vec<u8> {
    // Thread, time, length of the schema, error, length of the status, schema's NUL.
    [&[0; 4 + 4 + 1 + 2 + 2 + 1], sql.as_bytes()].concat()
}

/// The checksum of an event's bytes, as the codec makes it.
fn crc(bytes: &[u8]) -> u32 {
    let header = EventHeader::decode(bytes).unwrap();
    let frame = binlog::event::Frame { timestamp: header.timestamp, server_id: header.server_id, flags: header.flags };
    // The event ends where it says, so it begins so much before.
    let offset = (1u64 << 32) + u64::from(header.next_position) - (bytes.len() as u64 + 4);
    let made = whole_event(header.event_type, frame, offset, &bytes[HEADER_SIZE..]);
    u32::from_le_bytes(*made.last_chunk().unwrap())
}

fn source(kind: Kind) -> Source {
    let version = if kind == Kind::Maria { "11.8.9-MariaDB" } else { "9.7.4" };
    let variables = vec![("gtid_mode".to_owned(), "ON".to_owned())];
    Source { kind, server_id: 7, uuid: UUID.to_string(), version: version.to_owned(), variables }
}

/// Goes on where the files end, as the receiver does; flushes after so many events.
async fn receive(env: &Env, log: &SourceLog, step: usize) -> Result<Arc<Store>, ReceiveError> {
    let store = Store::open(env.clone()).await.map_err(|error| ReceiveError::Unfit(error.to_string()))?;
    go_on(&store, log, step).await?;
    Ok(store)
}

async fn go_on(store: &Arc<Store>, log: &SourceLog, step: usize) -> Result<(), ReceiveError> {
    let failed = |error: std::io::Error| ReceiveError::Unfit(error.to_string());
    store.set_source(&source(log.kind), false).await.map_err(failed)?;
    let mut writer = Writer::new(store.clone());
    writer.go_back().await?;
    let (name, position) = match store.live() {
        Some(live) => (live.name, store.compare_from()),
        None => (String::new(), 4),
    };
    let mut copier = Copier::new(&mut writer, position).await?;
    for (n, event) in log.stream(&name, position as usize).iter().enumerate() {
        copier.event(event).await?;
        if n % step == step - 1 {
            copier.writer.flush().await?;
        }
    }
    copier.writer.flush().await?;
    Ok(())
}

fn assert_equal(machine: &SimMachine, store: &Store, log: &SourceLog, seed: u64) {
    let files = store.files();
    assert_eq!(files.len(), log.files.len(), "seed {seed}");
    for (file, theirs) in files.iter().zip(&log.files) {
        assert_eq!(file.name, theirs.name);
        assert!(machine.contents(&file.path()).unwrap() == theirs.bytes, "seed {seed}: {}", file.name);
        assert_eq!(file.size, theirs.bytes.len() as u64);
    }
    let gtids = store.gtids().unwrap().to_string();
    let all = if log.kind == Kind::Maria {
        format!("0-7-{}", log.transactions)
    } else {
        format!("{UUID}:1-{}", log.transactions)
    };
    assert_eq!(gtids, all, "seed {seed}");
}

const KINDS: [(Kind, ChecksumAlgorithm); 4] = [
    (Kind::Mysql, ChecksumAlgorithm::Crc32),
    (Kind::Mysql, ChecksumAlgorithm::Off),
    (Kind::Maria, ChecksumAlgorithm::Crc32),
    (Kind::Maria, ChecksumAlgorithm::Off),
];

#[test]
fn files_are_the_sources_to_the_byte() {
    for (kind, checksum) in KINDS {
        let machine = SimMachine::new(1);
        let log = SourceLog::filled(kind, checksum, "a");
        let store = machine.run(receive(&machine.env(), &log, 3)).unwrap().unwrap();
        assert_equal(&machine, &store, &log, 1);
    }
}

#[test]
fn a_crash_at_any_moment_loses_nothing_that_was_published() {
    for seed in 0..400 {
        let (kind, checksum) = KINDS[seed as usize % KINDS.len()];
        let machine = SimMachine::new(seed);
        let log = SourceLog::filled(kind, checksum, "a");
        let mut published = Vec::new();
        for _ in 0..3 {
            machine.crash_after(1 + machine.world().below(60));
            let store = machine.run(Store::open(machine.env()));
            if let Ok(Ok(store)) = store {
                let result = machine.run(go_on(&store, &log, 1 + seed as usize % 7));
                assert!(result.is_err() || result.unwrap().is_ok(), "seed {seed}");
                published = store.files();
            }
            machine.crash();
        }
        let store = machine.run(Store::open(machine.env())).unwrap().unwrap();
        for file in &published {
            let now = store.file(file.id).unwrap_or_else(|| panic!("seed {seed}: {} is gone", file.name));
            assert!(now.size >= file.size, "seed {seed}: {} had {} bytes, has {}", file.name, file.size, now.size);
        }
        machine.run(go_on(&store, &log, 5)).unwrap().unwrap();
        assert_equal(&machine, &store, &log, seed);
    }
}

#[test]
fn a_transaction_in_part_is_neither_shown_nor_kept() {
    for (kind, checksum) in KINDS {
        let machine = SimMachine::new(3);
        let log = SourceLog::filled(kind, checksum, "a");
        let mut part = SourceLog::filled(kind, checksum, "a");
        let last = part.files.last_mut().unwrap();
        let cut = *last.starts.last().unwrap();
        last.bytes.truncate(cut);
        last.starts.pop();
        let store = machine.run(receive(&machine.env(), &part, 1)).unwrap().unwrap();
        let live = store.live().unwrap();
        let published = live.size as usize;
        assert!(published < cut && machine.contents(&live.path()).unwrap().len() == cut);
        drop(store);
        machine.kill();
        let store = machine.run(Store::open(machine.env())).unwrap().unwrap();
        assert_eq!(machine.contents(&live.path()).unwrap().len(), published);
        machine.run(go_on(&store, &log, 4)).unwrap().unwrap();
        assert_equal(&machine, &store, &log, 3);
    }
}

#[test]
fn another_history_is_refused_and_not_mixed() {
    for (kind, checksum) in KINDS {
        let machine = SimMachine::new(4);
        let log = SourceLog::filled(kind, checksum, "a");
        drop(machine.run(receive(&machine.env(), &log, 3)).unwrap().unwrap());
        machine.kill();
        let mut other = SourceLog::filled(kind, checksum, "b");
        other.transaction();
        let error = machine.run(receive(&machine.env(), &other, 3)).unwrap().map(drop).unwrap_err();
        let ReceiveError::NotAPrefix { ours, difference, .. } = &error else { panic!("{error}") };
        assert!(ours.contains("bin.000005") && difference.contains("there Query"), "{error}");
        machine.kill();
        let store = machine.run(Store::open(machine.env())).unwrap().unwrap();
        assert_equal(&machine, &store, &log, 4);
    }
}

#[test]
fn a_group_that_a_dead_source_left_in_part_stays_in_its_file() {
    let machine = SimMachine::new(5);
    let mut log = SourceLog::new(Kind::Maria, ChecksumAlgorithm::Crc32, "a");
    log.transaction();
    log.transaction();
    // The source died behind the row, and began another file.
    let last = log.files.last_mut().unwrap();
    last.bytes.truncate(*last.starts.last().unwrap());
    last.starts.pop();
    log.begin_file();
    log.transaction();
    let store = machine.run(receive(&machine.env(), &log, 2)).unwrap().unwrap();
    assert_equal(&machine, &store, &log, 5);
}

#[test]
fn after_a_failed_sync_nothing_is_received_and_what_was_published_is_read() {
    let machine = SimMachine::new(6);
    let mut log = SourceLog::filled(Kind::Mysql, ChecksumAlgorithm::Crc32, "a");
    let store = machine.run(receive(&machine.env(), &log, 3)).unwrap().unwrap();
    let before = store.live().unwrap();
    machine.set_faults(Faults { sync_error: 1.0, ..Faults::default() });
    log.transaction();
    let error = machine.run(go_on(&store, &log, 100)).unwrap().unwrap_err();
    assert!(matches!(&error, ReceiveError::Log(error) if error.class() == ErrorClass::Io), "{error}");
    machine.set_faults(Faults::default());
    assert!(machine.run(go_on(&store, &log, 100)).unwrap().is_err(), "a failed sync is final");
    assert_eq!(store.live().unwrap(), before);
    let read = machine.run(read_all(&store)).unwrap();
    assert_eq!(read, store.files().iter().map(|file| file.size - 4).sum::<u64>());
    drop(store);
    machine.crash();
    let store = machine.run(receive(&machine.env(), &log, 3)).unwrap().unwrap();
    assert_equal(&machine, &store, &log, 6);
}

/// How many bytes of events there are.
async fn read_all(store: &Arc<Store>) -> u64 {
    let first = store.files()[0].id;
    let mut reader = Reader::open(store, first, 0).await.unwrap();
    let mut bytes = 0;
    loop {
        match reader.step().await.unwrap() {
            Step::Event => bytes += reader.event().unwrap().bytes.len() as u64,
            Step::File => {}
            Step::End => return bytes,
        }
    }
}

#[test]
fn a_full_disk_is_waited_for() {
    let machine = SimMachine::new(7);
    let mut log = SourceLog::filled(Kind::Mysql, ChecksumAlgorithm::Crc32, "a");
    let store = machine.run(receive(&machine.env(), &log, 3)).unwrap().unwrap();
    machine.set_faults(Faults { capacity: Some(machine.used_bytes() + 512), ..Faults::default() });
    (0..100).for_each(|_| log.transaction());
    let error = machine.run(go_on(&store, &log, 1)).unwrap().unwrap_err();
    assert!(matches!(&error, ReceiveError::Log(error) if error.class() == ErrorClass::Full), "{error}");
    assert!(store.check().is_ok());
    machine.set_faults(Faults::default());
    machine.run(go_on(&store, &log, 3)).unwrap().unwrap();
    assert_equal(&machine, &store, &log, 7);
}

#[test]
fn purging_leaves_the_newest_file_and_what_is_read() {
    let machine = SimMachine::new(8);
    let log = SourceLog::filled(Kind::Mysql, ChecksumAlgorithm::Crc32, "a");
    let store = machine.run(receive(&machine.env(), &log, 3)).unwrap().unwrap();
    let all = Limits { bytes: Some(0), ..Limits::default() };
    let second = store.files()[1].id;
    let pin = store.pin(second);
    assert_eq!(machine.run(store.purge(&all)).unwrap().unwrap(), ["bin.000003"]);
    drop(pin);
    let old = Limits { age: Some(std::time::Duration::from_secs(1 << 30)), ..Limits::default() };
    assert!(machine.run(store.purge(&old)).unwrap().unwrap().is_empty());
    assert_eq!(machine.run(store.purge(&all)).unwrap().unwrap(), ["bin.000004"]);
    assert!(machine.run(store.purge(&all)).unwrap().unwrap().is_empty());
    drop(store);
    machine.kill();
    let store = machine.run(Store::open(machine.env())).unwrap().unwrap();
    assert_eq!(store.files().len(), 1);
    assert_eq!(store.gtids().unwrap().to_string(), format!("{UUID}:1-{}", log.transactions));
}

#[test]
fn a_missing_file_is_an_error() {
    let machine = SimMachine::new(9);
    let log = SourceLog::filled(Kind::Mysql, ChecksumAlgorithm::Crc32, "a");
    let store = machine.run(receive(&machine.env(), &log, 3)).unwrap().unwrap();
    let middle = store.files()[1].path();
    drop(store);
    machine.run(machine.env().disk.remove(&middle)).unwrap().unwrap();
    machine.kill();
    let error = machine.run(Store::open(machine.env())).unwrap().map(drop).unwrap_err();
    assert!(error.to_string().contains("missing"), "{error}");
}

#[test]
fn what_is_artificial_is_of_no_file() {
    let machine = SimMachine::new(10);
    let log = SourceLog::filled(Kind::Maria, ChecksumAlgorithm::Crc32, "a");
    let store = machine.run(receive(&machine.env(), &log, 3)).unwrap().unwrap();
    let fake = Rotate { position: 4, file: store.live().unwrap().name }.fake(7, true);
    assert!(u16::from_le_bytes([fake[17], fake[18]]) & FLAG_ARTIFICIAL != 0);
    let result = machine.run(async {
        let mut writer = Writer::new(store.clone());
        writer.go_back().await?;
        let position = store.compare_from();
        let mut copier = Copier::new(&mut writer, position).await?;
        copier.event(&fake).await.map(|received| (received, copier.writer.end()))
    });
    let (received, end) = result.unwrap().unwrap();
    assert_eq!((received, end), (crate::receive::copier::Received::Artificial, store.live().unwrap().size));
}
