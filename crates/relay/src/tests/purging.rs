//! Files that go while they are read, and while it is asked what has gone.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use binlog::EventType;
use binlog::event::ChecksumAlgorithm;
use futures_lite::future::zip;
use io::sim::SimMachine;
use parking_lot::Mutex;

use super::network::options;
use super::{SourceLog, go_on, mysql_gtids, receive};
use crate::Relay;
use crate::gtids::{Kind, Name};
use crate::store::reader::{Reader, Step};
use crate::store::{FileId, Limits, Store};

const FILES: usize = 25;

/// What is going on in a relay.
struct Scene {
    machine: SimMachine,
    relay: Arc<Relay>,
    kind: Kind,
    /// How many transactions are before each file, by its number.
    before: Mutex<Vec<(u64, u64)>>,
    is_over: AtomicBool,
    removed: AtomicU64,
}

impl Scene {
    fn store(&self) -> &Arc<Store> {
        self.relay.store()
    }

    async fn pause(&self, micros: u64) {
        let micros = 1 + self.machine.world().below(micros);
        self.store().env().clock.sleep(Duration::from_micros(micros)).await;
    }

    fn first(&self) -> FileId {
        self.store().first().unwrap().id
    }

    /// The source goes on, file by file.
    async fn write(&self) {
        let mut log = SourceLog::new(self.kind, ChecksumAlgorithm::Crc32, "a");
        self.before.lock().push((3, 0));
        for number in 0..FILES as u64 {
            (0..1 + self.machine.world().below(6)).for_each(|_| log.transaction());
            self.before.lock().push((4 + number, log.transactions));
            log.rotate();
            go_on(self.store(), &log, 3).await.unwrap();
            self.pause(3000).await;
        }
        log.transaction();
        go_on(self.store(), &log, 3).await.unwrap();
        // Those who read have as long as they want.
        self.pause(100_000).await;
        self.is_over.store(true, Ordering::SeqCst);
    }

    /// By size, or by age: so many seconds behind the newest file's beginning, and each transaction takes one.
    fn limits(&self, by_age: bool) -> Limits {
        let Some(newest) = self.store().live().filter(|_| by_age) else {
            return Limits { bytes: Some(if by_age { u64::MAX } else { 6000 }), age: None };
        };
        let since = (self.store().env().clock.now().0 / 1_000_000).saturating_sub(newest.began.into());
        Limits { age: Some(Duration::from_secs(since + 8)), bytes: None }
    }

    async fn purge(&self, by_age: bool) {
        while !self.is_over.load(Ordering::SeqCst) {
            let removed = self.store().purge(&self.limits(by_age)).await.unwrap();
            self.removed.fetch_add(removed.len() as u64, Ordering::SeqCst);
            self.pause(2000).await;
        }
    }

    /// What is said to be purged is what was before the file that was the first at some moment of the question.
    async fn ask(&self) {
        while !self.is_over.load(Ordering::SeqCst) {
            self.pause(300).await;
            let Some(first) = self.store().first() else { continue };
            let purged = self.relay.purged().await.unwrap().unwrap().to_string();
            let between = first.id.number..=self.first().number;
            let before = self.before.lock().clone();
            let is_it = |&(number, transactions): &(u64, u64)| {
                between.contains(&number) && purged == said(self.kind, transactions)
            };
            assert!(before.iter().any(is_it), "{purged}, the first file is one of {between:?}: {before:?}");
        }
    }

    /// From what is the first file when it comes to the end of all, with pauses; every transaction once. How many there were.
    async fn read(&self, pause: u64) -> u64 {
        while self.store().first().is_none() {
            self.pause(100).await;
        }
        let pin = self.store().pin(FileId::default());
        let first = self.first();
        pin.set(first);
        let start = self.before.lock().iter().find(|(number, _)| *number == first.number).unwrap().1;
        let mut reader = Reader::open(self.store(), first, 0).await.unwrap();
        let mut has = start;
        loop {
            self.pause(pause).await;
            match reader.step().await.unwrap() {
                Step::File => pin.set(reader.file().id),
                Step::Event => {
                    let event = reader.event().unwrap();
                    if event.header.event_type.begins_transaction() {
                        let number = match Name::of(&event).unwrap().unwrap() {
                            Name::Mysql(gtid) => gtid.gno,
                            Name::Maria(name) => name.seq_no,
                        };
                        assert_eq!(number, has + 1);
                        has = number;
                    }
                    assert_ne!(event.header.event_type, EventType::STOP);
                }
                Step::End if self.is_over.load(Ordering::SeqCst) => return has - start,
                Step::End => {}
            }
        }
    }
}

fn said(kind: Kind, transactions: u64) -> String {
    match (kind, transactions) {
        (Kind::Mysql, _) => mysql_gtids(transactions).to_string(),
        (Kind::Maria, 0) => String::new(),
        (Kind::Maria, _) => format!("0-7-{transactions}"),
    }
}

#[test]
fn slow_readers_keep_what_they_need_and_what_has_gone_is_known() {
    let (mut removed, mut read) = (0, 0);
    for seed in 0..40 {
        let (kind, by_age) = ([Kind::Mysql, Kind::Maria][seed as usize % 2], seed / 2 % 2 == 0);
        let machine = SimMachine::new(seed);
        let relay = machine.run(Relay::open(machine.env(), options("nowhere", "secret"))).unwrap().unwrap();
        let scene = Scene {
            relay,
            kind,
            before: Mutex::default(),
            is_over: AtomicBool::new(false),
            removed: AtomicU64::new(0),
            machine,
        };
        let scene = &scene;
        let readers = zip(scene.read(2000), zip(scene.read(500), scene.read(50)));
        let all = zip(zip(scene.write(), scene.purge(by_age)), zip(scene.ask(), readers));
        let (_, (_, (slow, _))) = scene.machine.run(all).unwrap();
        removed += scene.removed.load(Ordering::SeqCst);
        read += slow;
    }
    assert!(removed > 100 && read > 1000, "{removed} {read}");
}

/// Nothing was ever purged here, and the source's log did not begin with its first file.
#[test]
fn a_relay_that_begins_in_the_middle_says_what_was_before() {
    for kind in [Kind::Mysql, Kind::Maria] {
        let machine = SimMachine::new(1);
        let mut log = SourceLog::filled(kind, ChecksumAlgorithm::Crc32, "a");
        log.files.remove(0);
        let relay = machine.run(Relay::open(machine.env(), options("nowhere", "secret"))).unwrap().unwrap();
        assert_eq!(machine.run(relay.purged()).unwrap().unwrap(), None);
        machine.run(go_on(relay.store(), &log, 3)).unwrap().unwrap();
        let purged = machine.run(relay.purged()).unwrap().unwrap().unwrap();
        assert_eq!(purged.to_string(), said(kind, 5));
    }
}

#[test]
fn a_damaged_first_file_does_not_say_what_was_before_it() {
    let machine = SimMachine::new(2);
    let log = SourceLog::filled(Kind::Mysql, ChecksumAlgorithm::Crc32, "a");
    drop(machine.run(receive(&machine.env(), &log, 3)).unwrap().unwrap());
    machine.kill();
    machine.flip_bit("log.1/bin.000003", log.files[0].starts[1] as u64 * 8 + 100);
    let relay = machine.run(Relay::open(machine.env(), options("nowhere", "secret"))).unwrap().unwrap();
    assert!(machine.run(relay.purged()).unwrap().is_err());
    machine
        .run(relay.store().purge(&Limits { bytes: Some(relay.store().live().unwrap().size + 700), age: None }))
        .unwrap()
        .unwrap();
    let purged = machine.run(relay.purged()).unwrap().unwrap().unwrap();
    let first = relay.store().first().unwrap().name;
    assert!(first.as_str() > "bin.000003" && !purged.to_string().is_empty(), "{first}: {purged}");
}
