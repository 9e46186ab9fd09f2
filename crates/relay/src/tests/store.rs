//! The store on a simulated disk: crashes at each of its operations, torn tails, reading, purge.

use std::sync::Arc;
use std::time::Duration;

use binlog::BinlogError;
use binlog::event::MAGIC;
use io::sim::{Crashed, Faults, SimMachine};

use super::{Maker, raw};
use crate::error::RelayError;
use crate::store::{Next, PurgePolicy, Reader, Store, Writer};

type Result<T, E = RelayError> = std::result::Result<T, E>;

pub(super) const FILES: [&str; 3] = ["bin.000001", "bin.000002", "bin.000003"];
/// Transactions in each file.
const TRANSACTIONS: u64 = 6;

/// A whole log as its source has it: bytes of each file, with its events and the ends of its transactions.
pub(super) struct Log {
    pub(super) files: Vec<Vec<Vec<u8>>>,
}

impl Log {
    pub(super) fn new() -> Self {
        Log::with_size(50)
    }

    /// One whose transactions have other sizes has other bytes.
    pub(super) fn with_size(size: usize) -> Self {
        let mut maker = Maker::new();
        let mut files = Vec::new();
        for at in 0..FILES.len() {
            let mut events = maker.head();
            for n in 0..TRANSACTIONS {
                events.extend(maker.transaction(size + 900 * n as usize));
            }
            if let Some(following) = FILES.get(at + 1) {
                events.push(maker.rotate(following));
            }
            files.push(events);
        }
        Log { files }
    }

    pub(super) fn bytes(&self, file: usize) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        self.files[file].iter().for_each(|event| bytes.extend_from_slice(event));
        bytes
    }

    /// Appends all behind what the writer has, a few events for each sync; tells what is durable after each.
    pub(super) async fn copy(&self, writer: &mut Writer, mut durable: impl FnMut(&Store)) -> Result<()> {
        let (file, offset) = writer.position().unwrap_or((FILES[0].into(), MAGIC.len() as u64));
        let first = FILES.iter().position(|name| **name == *file).unwrap();
        let mut since = 0;
        for (at, events) in self.files.iter().enumerate().skip(first) {
            writer.start_file(FILES[at]).await?;
            let mut here = MAGIC.len() as u64;
            for event in events {
                let begin = here;
                here += event.len() as u64;
                if at == first && begin < offset {
                    continue;
                }
                writer.append(&raw(event))?;
                since += 1;
                if since % 4 == 0 {
                    writer.flush().await?;
                    durable(writer.store());
                }
            }
        }
        writer.flush().await?;
        durable(writer.store());
        Ok(())
    }
}

/// Everything that readers see.
async fn read_all(store: &Arc<Store>) -> Result<Vec<(String, Vec<u8>)>, BinlogError> {
    let Some(first) = store.files().into_iter().find(|file| file.size > 4) else { return Ok(Vec::new()) };
    let mut reader = Reader::open(store, first.number).await?;
    let begin = |reader: &Reader| {
        let mut bytes = MAGIC.to_vec();
        bytes.extend_from_slice(reader.format());
        (reader.name().to_string(), bytes)
    };
    let mut files = vec![begin(&reader)];
    loop {
        let is_file = match reader.next().await? {
            Next::End => return Ok(files),
            Next::File => true,
            Next::Event(event) => {
                files.last_mut().unwrap().1.extend_from_slice(event.bytes);
                false
            }
        };
        if is_file {
            files.push(begin(&reader));
        }
    }
}

fn check_prefix(log: &Log, found: &[(String, Vec<u8>)]) {
    for (at, (name, bytes)) in found.iter().enumerate() {
        assert_eq!(name, FILES[at]);
        let whole = log.bytes(at);
        assert!(whole.starts_with(bytes), "{name}: other bytes");
        assert!(at + 1 == found.len() || whole.len() == bytes.len(), "{name} is not whole");
    }
}

#[test]
fn a_copy_has_the_same_bytes_and_is_found_again() {
    let (machine, log) = (SimMachine::new(1), Log::new());
    let run = async {
        let mut writer = Store::open(machine.env()).await?;
        log.copy(&mut writer, |_| {}).await?;
        check_prefix(&log, &read_all(writer.store()).await?);
        assert_eq!(writer.store().executed().maria.to_string(), "0-7-18");
        drop(writer);
        let writer = Store::open(machine.env()).await?;
        assert_eq!(writer.store().executed().maria.to_string(), "0-7-18");
        assert_eq!(writer.store().version(), "11.8.0-MariaDB-log");
        assert_eq!(writer.position().unwrap().1, log.bytes(2).len() as u64);
        Ok::<_, RelayError>(())
    };
    machine.run(run).unwrap().unwrap();
    for (at, name) in FILES.iter().enumerate() {
        assert_eq!(machine.contents(name).unwrap(), log.bytes(at));
    }
}

/// Power fails after each operation of the disk in turn: what was announced is there, what is there are the source's bytes, and the
/// copy goes on to the same end.
#[test]
fn a_crash_at_each_operation_loses_nothing_announced() {
    let log = Log::new();
    let mut crashes = 0;
    for operation in 1.. {
        let machine = SimMachine::new(operation);
        machine.crash_after(operation);
        let announced = std::cell::RefCell::new((0, 0));
        let first = async {
            let mut writer = Store::open(machine.env()).await?;
            let note = |store: &Store| *announced.borrow_mut() = store.last().map(|l| (l.number, l.size)).unwrap();
            log.copy(&mut writer, note).await
        };
        let is_over = match machine.run(first) {
            Ok(result) => {
                result.unwrap();
                true
            }
            Err(Crashed) => false,
        };
        machine.crash();
        let again = async {
            let mut writer = Store::open(machine.env()).await?;
            let found = read_all(writer.store()).await?;
            check_prefix(&log, &found);
            let (number, size) = *announced.borrow();
            let last = writer.store().last().map_or((0, 0), |last| (last.number, last.size));
            assert!(last >= (number, size), "operation {operation}: {last:?}, announced {number} {size}");
            log.copy(&mut writer, |_| {}).await
        };
        machine.run(again).unwrap().unwrap();
        for (at, name) in FILES.iter().enumerate() {
            assert_eq!(machine.contents(name).unwrap(), log.bytes(at), "operation {operation}");
        }
        if is_over {
            break;
        }
        crashes += 1;
    }
    assert!(crashes > 30, "only {crashes}");
}

#[test]
fn a_torn_tail_is_cut_to_the_last_whole_transaction() {
    let (machine, log) = (SimMachine::new(3), Log::new());
    let fill = async {
        let mut writer = Store::open(machine.env()).await?;
        log.copy(&mut writer, |_| {}).await
    };
    machine.run(fill).unwrap().unwrap();
    let name = FILES[2];
    let whole = log.bytes(2).len() as u64;
    // The XID of the last transaction is damaged: all of the transaction goes.
    machine.flip_bit(name, (whole - 6) * 8);
    let again = async {
        let mut writer = Store::open(machine.env()).await?;
        let last: u64 = log.files[2].iter().rev().take(3).map(|event| event.len() as u64).sum();
        assert_eq!(writer.position().unwrap().1, whole - last);
        assert_eq!(writer.store().executed().maria.to_string(), "0-7-17");
        log.copy(&mut writer, |_| {}).await
    };
    machine.run(again).unwrap().unwrap();
    assert_eq!(machine.contents(name).unwrap(), log.bytes(2));
}

#[test]
fn readers_see_whole_transactions_only() {
    let (machine, log) = (SimMachine::new(4), Log::new());
    let run = async {
        let mut writer = Store::open(machine.env()).await?;
        writer.start_file(FILES[0]).await?;
        for event in &log.files[0][..4] {
            writer.append(&raw(event))?;
        }
        writer.flush().await?;
        let head: u64 = log.files[0][..2].iter().map(|event| event.len() as u64).sum();
        assert_eq!(writer.store().last().unwrap().size, 4 + head);
        writer.forget_partial().await?;
        assert_eq!(writer.position().unwrap().1, 4 + head);
        log.copy(&mut writer, |_| {}).await?;
        check_prefix(&log, &read_all(writer.store()).await?);
        Ok::<_, RelayError>(())
    };
    machine.run(run).unwrap().unwrap();
    assert_eq!(machine.contents(FILES[0]).unwrap(), log.bytes(0));
}

#[test]
fn what_does_not_belong_there_is_refused() {
    let (machine, log) = (SimMachine::new(5), Log::new());
    let run = async {
        let mut writer = Store::open(machine.env()).await?;
        writer.start_file(FILES[0]).await?;
        writer.append(&raw(&log.files[0][0]))?;
        let skipped = writer.append(&raw(&log.files[0][2]));
        assert!(matches!(skipped, Err(RelayError::Garbled(_))), "{skipped:?}");
        for name in ["../x", "relay.index", "", "a/b", "key.pem"] {
            assert!(matches!(writer.start_file(name).await, Err(RelayError::Unfit(_))), "{name}");
        }
        Ok::<_, RelayError>(())
    };
    machine.run(run).unwrap().unwrap();
}

#[test]
fn a_failed_sync_is_final() {
    let (machine, log) = (SimMachine::new(6), Log::new());
    let run = async {
        let mut writer = Store::open(machine.env()).await?;
        writer.start_file(FILES[0]).await?;
        log.files[0].iter().try_for_each(|event| writer.append(&raw(event)))?;
        machine.set_faults(Faults { sync_error: 1.0, ..Faults::default() });
        assert!(writer.flush().await.is_err());
        machine.set_faults(Faults::default());
        assert!(matches!(writer.flush().await, Err(BinlogError::Failed(_))));
        assert!(writer.store().failure().is_some());
        Ok::<_, RelayError>(())
    };
    machine.run(run).unwrap().unwrap();
}

#[test]
fn purge_spares_the_last_file_and_those_that_are_read() {
    let (machine, log) = (SimMachine::new(7), Log::new());
    let run = async {
        let mut writer = Store::open(machine.env()).await?;
        log.copy(&mut writer, |_| {}).await?;
        let store = writer.store().clone();
        let all = PurgePolicy { expire: None, space: Some(0) };
        let reader = Reader::open(&store, 1).await?;
        assert_eq!(store.purge(all).await?, [FILES[0].into()]);
        drop(reader);
        assert_eq!(store.purge(all).await?, [FILES[1].into()]);
        assert!(store.purge(all).await?.is_empty());
        drop((writer, store));
        let writer = Store::open(machine.env()).await?;
        assert_eq!(writer.store().files().len(), 1);
        assert_eq!(writer.store().executed().maria.to_string(), "0-7-18");
        Ok::<_, RelayError>(())
    };
    machine.run(run).unwrap().unwrap();
    assert!(!machine.files().contains(FILES[0]));
}

#[test]
fn purge_by_age_goes_by_when_a_file_was_closed() {
    let (machine, log) = (SimMachine::new(8), Log::new());
    let run = async {
        let mut writer = Store::open(machine.env()).await?;
        log.copy(&mut writer, |_| {}).await?;
        let now = machine.env().clock.now().0 / 1_000_000;
        // The second file was begun when the source's clock said so.
        let closed = 1_700_000_000 + TRANSACTIONS;
        let old = |age: u64| PurgePolicy { expire: Some(Duration::from_secs(age)), space: None };
        if now > closed {
            assert!(writer.store().purge(old(now - closed + 100)).await?.is_empty());
            assert_eq!(writer.store().purge(old(now - closed)).await?, [FILES[0].into()]);
        }
        Ok::<_, RelayError>(())
    };
    machine.run(run).unwrap().unwrap();
}

/// Else a reader at the end would ask again and again for what is not there.
#[test]
fn a_file_that_has_only_a_name_is_nothing_to_read() {
    let (machine, log) = (SimMachine::new(9), Log::new());
    let run = async {
        let mut writer = Store::open(machine.env()).await?;
        writer.start_file(FILES[0]).await?;
        log.files[0].iter().try_for_each(|event| writer.append(&raw(event)))?;
        writer.flush().await?;
        let store = writer.store().clone();
        let end = store.last().unwrap().size;
        writer.start_file(FILES[1]).await?;
        assert!(!store.has_more(0, end));
        writer.append(&raw(&log.files[1][0]))?;
        writer.flush().await?;
        assert!(store.has_more(0, end));
        Ok::<_, RelayError>(())
    };
    machine.run(run).unwrap().unwrap();
}
