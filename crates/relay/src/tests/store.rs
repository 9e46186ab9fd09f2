//! The store and what fills it: crashes at any moment, torn tails, sources with another history.

use base::ErrorClass;
use binlog::event::{ChecksumAlgorithm, FLAG_ARTIFICIAL, Rotate};
use io::sim::{Faults, SimMachine};
use repl::follower::ReceiveError;

use super::{KINDS, SourceLog, assert_equal, go_on, mysql_gtids, read_all, receive};
use crate::gtids::Kind;
use crate::receive::copier::{Copier, Received};
use crate::store::writer::Writer;
use crate::store::{Limits, Store};

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
    assert_eq!(store.gtids().unwrap().to_string(), mysql_gtids(log.transactions).to_string());
}

/// It goes piece by piece under another name, and a start goes on with that.
#[test]
fn a_large_file_is_purged_at_once_and_goes_by_and_by() {
    let machine = SimMachine::new(8);
    let mut log = SourceLog { padding: 12 << 20, ..SourceLog::new(Kind::Mysql, ChecksumAlgorithm::Crc32, "a") };
    (0..4).for_each(|_| log.transaction());
    log.rotate();
    log.padding = 0;
    log.transaction();
    let store = machine.run(receive(&machine.env(), &log, 3)).unwrap().unwrap();
    let all = Limits { bytes: Some(0), ..Limits::default() };
    assert_eq!(machine.run(store.purge(&all)).unwrap().unwrap(), ["bin.000003"]);
    let left = || machine.files().into_iter().filter(|path| path.ends_with("000003")).collect::<Vec<_>>();
    assert!(matches!(&left()[..], [path] if path.ends_with("/purged-000003")), "{:?}", left());
    drop(store);
    machine.crash();
    let store = machine.run(Store::open(machine.env())).unwrap().unwrap();
    assert_eq!(store.files().len(), 1);
    machine.run(machine.env().clock.sleep(std::time::Duration::from_secs(1))).unwrap();
    assert_eq!(left(), [""; 0]);
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
    assert_eq!((received, end), (Received::Artificial, store.live().unwrap().size));
}

/// Without checksums nothing here tells what a crash has torn, so all is compared that may not have been synced.
#[test]
fn torn_bytes_without_a_checksum_are_seen_when_the_source_is_back() {
    for kind in [Kind::Mysql, Kind::Maria] {
        let machine = SimMachine::new(11);
        let log = SourceLog::filled(kind, ChecksumAlgorithm::Off, "a");
        let store = machine.run(receive(&machine.env(), &log, 100)).unwrap().unwrap();
        let newest = log.files.last().unwrap();
        // In the text of the first of several transactions.
        let (at, path) = (newest.starts[5] - 10, store.live().unwrap().path());
        drop(store);
        machine.kill();
        machine.flip_bit(&path, at as u64 * 8);
        let error = machine.run(receive(&machine.env(), &log, 3)).unwrap().map(drop).unwrap_err();
        assert!(matches!(error, ReceiveError::NotAPrefix { .. }), "{error}");
    }
}

#[test]
fn a_damaged_file_keeps_no_other_from_going_by_age() {
    let machine = SimMachine::new(12);
    let log = SourceLog::filled(Kind::Mysql, ChecksumAlgorithm::Crc32, "a");
    drop(machine.run(receive(&machine.env(), &log, 3)).unwrap().unwrap());
    machine.kill();
    machine.flip_bit("log.1/bin.000004", 4 * 8 + 100);
    let store = machine.run(Store::open(machine.env())).unwrap().unwrap();
    let (second, third) = (&store.files()[1], &store.files()[2]);
    assert!(second.began == 0 && third.began > 0);
    machine.set_clock(1_000 * 1_000_000);
    let since = machine.env().clock.now().0 / 1_000_000 - u64::from(third.began);
    let age = |seconds| Limits { age: Some(std::time::Duration::from_secs(seconds)), ..Limits::default() };
    assert!(machine.run(store.purge(&age(since + 100))).unwrap().unwrap().is_empty());
    assert_eq!(machine.run(store.purge(&age(since - 100))).unwrap().unwrap(), ["bin.000003", "bin.000004"]);
}

#[test]
fn names_that_lead_elsewhere_are_no_names() {
    let machine = SimMachine::new(13);
    let log = SourceLog::filled(Kind::Mysql, ChecksumAlgorithm::Crc32, "a");
    let store = machine.run(receive(&machine.env(), &log, 3)).unwrap().unwrap();
    for name in [
        "../x.000001",
        "",
        "bin",
        ".000001",
        "a/b.000006",
        "bin.-6",
        "bin.000005",
        "bin.000007",
        "bin.99999999999999999999",
    ] {
        let mut writer = Writer::new(store.clone());
        machine.run(writer.go_back()).unwrap().unwrap();
        let error = machine.run(writer.start_file(name)).unwrap().unwrap_err();
        assert!(matches!(error, binlog::BinlogError::Malformed(_)), "{name}: {error}");
    }
}
