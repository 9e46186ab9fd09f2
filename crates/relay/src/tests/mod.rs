//! Logs as sources would write them, and what a relay makes of them in a simulated world.

mod network;
mod purging;
mod semi_sync;
mod sharing;
mod store;

use std::sync::Arc;

use base::{Gtid, Tag, Uuid};
use binlog::event::{
    ChecksumAlgorithm, EventHeader, HEADER_SIZE, MAGIC, MariaGtid, MariaGtidList, Rotate, whole_event,
};
use binlog::{EventType, FormatDescription, GtidEvent, GtidSet};
use io::Env;
use io::sim::SimMachine;
use repl::follower::ReceiveError;

use crate::gtids::Kind;
use crate::kept::Source;
use crate::receive::copier::Copier;
use crate::store::Store;
use crate::store::reader::{Reader, Step};
use crate::store::writer::Writer;

const UUID: Uuid = Uuid([0x11; 16]);

/// The GTID of a MySQL's transaction: some have a tag.
fn mysql_gtid(number: u64) -> Gtid {
    let tag = if number % 5 < 2 { "blue".parse().unwrap() } else { Tag::NONE };
    Gtid { uuid: UUID, tag, gno: number }
}

/// The GTIDs of its transactions up to a number.
fn mysql_gtids(up_to: u64) -> GtidSet {
    let mut set = GtidSet::new();
    for number in 1..=up_to {
        set.add(mysql_gtid(number));
    }
    set
}

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
    /// Of the files' names, and the first one's number.
    base: &'static str,
    first: usize,
    /// Bytes in each transaction beside the text.
    padding: usize,
}

impl SourceLog {
    fn new(kind: Kind, checksum: ChecksumAlgorithm, text: &'static str) -> Self {
        let mut log =
            SourceLog { kind, checksum, files: Vec::new(), transactions: 0, text, base: "bin", first: 3, padding: 0 };
        log.begin_file();
        log
    }

    /// The same transactions, and more or fewer of them, in another server's files.
    fn elsewhere(kind: Kind, transactions_in_files: &[u64]) -> Self {
        let mut log = SourceLog { base: "other", first: 1, ..SourceLog::new(kind, ChecksumAlgorithm::Crc32, "a") };
        log.files.clear();
        for &count in transactions_in_files {
            match log.files.is_empty() {
                true => log.begin_file(),
                false => log.rotate(),
            }
            (0..count).for_each(|_| log.transaction());
        }
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
        let name = self.next_name();
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
                mysql_gtids(self.transactions).encode(&mut body);
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
                    gtid: Some(mysql_gtid(self.transactions)),
                    local_to: None,
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
                self.event(gtid.event_type(), &body);
                self.event(EventType::QUERY, &query("BEGIN"));
            }
            Kind::Maria => {
                MariaGtid { seq_no: self.transactions, flags: 4, ..MariaGtid::default() }.encode_body(&mut body);
                self.event(EventType::MARIA_GTID, &body);
            }
        }
        let text = format!("{} {}", self.text, "x".repeat((self.transactions * 37 % 300) as usize + self.padding));
        self.event(EventType::QUERY, &query(&text));
        self.event(EventType::XID, &self.transactions.to_le_bytes());
    }

    fn next_name(&self) -> String {
        format!("{}.{:06}", self.base, self.files.len() + self.first)
    }

    fn rotate(&mut self) {
        let mut body = Vec::new();
        Rotate { position: 4, file: self.next_name() }.encode_body(&mut body);
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

fn source(log: &SourceLog) -> Source {
    let version = if log.kind == Kind::Maria { "11.8.9-MariaDB" } else { "9.7.4" };
    let checksum = if log.checksum == ChecksumAlgorithm::Crc32 { "CRC32" } else { "NONE" };
    let variables = [("gtid_mode", "ON"), ("binlog_checksum", checksum)];
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    Source { kind: log.kind, server_id: 7, uuid: UUID.to_string(), version: version.to_owned(), variables }
}

/// Goes on where the files end, as the receiver does; flushes after so many events.
async fn receive(env: &Env, log: &SourceLog, step: usize) -> Result<Arc<Store>, ReceiveError> {
    let store = Store::open(env.clone()).await.map_err(|error| ReceiveError::Unfit(error.to_string()))?;
    go_on(&store, log, step).await?;
    Ok(store)
}

async fn go_on(store: &Arc<Store>, log: &SourceLog, step: usize) -> Result<(), ReceiveError> {
    let failed = |error: std::io::Error| ReceiveError::Unfit(error.to_string());
    store.set_source(&source(log), false).await.map_err(failed)?;
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
        mysql_gtids(log.transactions).to_string()
    };
    assert_eq!(gtids, all, "seed {seed}");
}

const KINDS: [(Kind, ChecksumAlgorithm); 4] = [
    (Kind::Mysql, ChecksumAlgorithm::Crc32),
    (Kind::Mysql, ChecksumAlgorithm::Off),
    (Kind::Maria, ChecksumAlgorithm::Crc32),
    (Kind::Maria, ChecksumAlgorithm::Off),
];

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
