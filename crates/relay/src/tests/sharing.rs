//! What many readers cost: reads of the disk, counted where they are made.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use binlog::event::ChecksumAlgorithm;
use io::sim::{Faults, SimMachine};

use super::{SourceLog, go_on, read_all, receive};
use crate::gtids::Kind;
use crate::store::Store;
use crate::store::blocks::BLOCK_SIZE;
use crate::store::reader::{Reader, Step};

const READERS: u64 = 50;

/// Some files of some blocks each.
fn long_log(kind: Kind) -> SourceLog {
    let mut log = SourceLog { padding: 20_000, ..SourceLog::new(kind, ChecksumAlgorithm::Crc32, "a") };
    for _ in 0..2 {
        (0..30).for_each(|_| log.transaction());
        log.rotate();
    }
    (0..10).for_each(|_| log.transaction());
    log
}

/// All of the log, by so many at once; each sees the same number of bytes.
async fn read_by_many(store: &Arc<Store>) -> u64 {
    let (done, bytes) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    for n in 0..READERS {
        let (store, done, bytes) = (store.clone(), done.clone(), bytes.clone());
        let spawner = store.env().spawner.clone();
        let read = async move {
            store.env().clock.sleep(Duration::from_micros(50 * n)).await;
            let read = read_all(&store).await;
            assert!(bytes.swap(read, Ordering::SeqCst) == read || done.load(Ordering::SeqCst) == 0);
            done.fetch_add(1, Ordering::SeqCst);
        };
        spawner.spawn("reader", Box::pin(read));
    }
    while done.load(Ordering::SeqCst) < READERS {
        store.env().clock.sleep(Duration::from_millis(1)).await;
    }
    bytes.load(Ordering::SeqCst)
}

#[test]
fn fifty_readers_cost_one_read_of_each_block() {
    for kind in [Kind::Mysql, Kind::Maria] {
        let machine = SimMachine::new(1);
        let log = long_log(kind);
        drop(machine.run(receive(&machine.env(), &log, 7)).unwrap().unwrap());
        machine.kill();
        let store = machine.run(Store::open(machine.env())).unwrap().unwrap();
        let before = machine.disk_stats().reads;
        let bytes = machine.run(read_by_many(&store)).unwrap();
        let (all, blocks) = store
            .files()
            .iter()
            .fold((0, 0), |(all, blocks), file| (all + file.size - 4, blocks + file.size.div_ceil(BLOCK_SIZE)));
        assert_eq!(bytes, all);
        assert!(blocks > 10, "{blocks}");
        assert_eq!(machine.disk_stats().reads - before, blocks);
    }
}

#[test]
fn what_was_just_received_costs_no_read() {
    let machine = SimMachine::new(2);
    let mut log = long_log(Kind::Mysql);
    let store = machine.run(receive(&machine.env(), &log, 7)).unwrap().unwrap();
    let before = machine.disk_stats().reads;
    machine.run(read_by_many(&store)).unwrap();
    assert_eq!(machine.disk_stats().reads, before);
    (0..40).for_each(|_| log.transaction());
    machine.run(go_on(&store, &log, 3)).unwrap().unwrap();
    let before = machine.disk_stats().reads;
    let bytes = machine.run(read_by_many(&store)).unwrap();
    assert_eq!(machine.disk_stats().reads, before);
    assert_eq!(bytes, store.files().iter().map(|file| file.size - 4).sum::<u64>());
}

/// Bytes that were written and never published are nobody's: what comes in their place is read.
#[test]
fn what_was_cut_is_not_seen() {
    let machine = SimMachine::new(3);
    let log = SourceLog::filled(Kind::Mysql, ChecksumAlgorithm::Crc32, "a");
    let store = machine.run(receive(&machine.env(), &log, 3)).unwrap().unwrap();
    let live = store.live().unwrap();
    let mut reader = machine.run(Reader::open(&store, live.id, 0)).unwrap().unwrap();
    while machine.run(reader.step()).unwrap().unwrap() == Step::Event {}
    // A transaction that is never whole, and the one that is there in the end; the reader has the end in sight meanwhile.
    for text in ["b", "a"] {
        let mut more = SourceLog::filled(Kind::Mysql, ChecksumAlgorithm::Crc32, "a");
        more.text = text;
        more.transaction();
        if text == "b" {
            let last = more.files.last_mut().unwrap();
            last.bytes.truncate(last.starts.pop().unwrap());
        }
        machine.run(go_on(&store, &more, 1)).unwrap().unwrap();
        while machine.run(reader.step()).unwrap().unwrap() == Step::Event {
            let event = reader.event().unwrap();
            assert!(!event.bytes.windows(3).any(|bytes| bytes == b"\0b "), "{event:?}");
        }
    }
    assert_eq!(reader.position(), store.live().unwrap().size);
    assert!(reader.position() > live.size);
}

#[test]
fn a_read_that_fails_is_made_again_by_the_next() {
    let machine = SimMachine::new(4);
    let log = long_log(Kind::Maria);
    drop(machine.run(receive(&machine.env(), &log, 7)).unwrap().unwrap());
    machine.kill();
    let store = machine.run(Store::open(machine.env())).unwrap().unwrap();
    let first = store.files()[0].id;
    machine.set_faults(Faults { read_error: 1.0, ..Faults::default() });
    assert!(machine.run(Reader::open(&store, first, 0)).unwrap().is_err());
    machine.set_faults(Faults::default());
    let bytes = machine.run(read_all(&store)).unwrap();
    assert_eq!(bytes, store.files().iter().map(|file| file.size - 4).sum::<u64>());
}
