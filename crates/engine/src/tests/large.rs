//! Transactions that do not stay in memory: what they leave on the disk, what they cost others, what a full disk says.

use std::sync::Arc;

use base::{Cancelled, SqlError};
use binlog::{EventType, GtidChoice};
use bytes::Bytes;
use io::sim::{Faults, SimMachine};

use super::fixture::{self, begin, count, insert_one, key, row};
use crate::error::Result;
use crate::{Engine, EngineOptions, ReadMode, Table, TableMode, Transaction};

/// Enough for many parts.
const ROWS: i64 = 2000;

fn options() -> EngineOptions {
    EngineOptions {
        transaction_memory_bytes: 20 << 10,
        install_memory_bytes: 20 << 10,
        max_binlog_bytes: 1 << 20,
        ..fixture::options()
    }
}

async fn opened(machine: &SimMachine) -> (Arc<Engine>, Arc<Table>) {
    let engine = fixture::open(machine.env(), options()).await.unwrap();
    let table = engine.catalog().table("test", "t").unwrap().clone();
    (engine, table)
}

async fn fill(engine: &Arc<Engine>, table: &Arc<Table>, from: i64) -> Result<Transaction> {
    let mut transaction = begin(engine);
    transaction.lock_table(table, TableMode::IntentExclusive).await?;
    for id in from..from + ROWS {
        transaction.insert(table, row(table, id, Some(id % 7), Some(id))).await?;
    }
    Ok(transaction)
}

async fn check(engine: &Arc<Engine>, table: &Arc<Table>, rows: usize) {
    for index_number in 0..3 {
        assert_eq!(count(engine, table, index_number).await, rows, "index {index_number}");
    }
    let mut transaction = begin(engine);
    let last = (rows as i64).min(ROWS);
    let found = transaction.get(table, &key(table, last), ReadMode::Consistent).await.unwrap();
    assert_eq!(found, Some(row(table, last, Some(last % 7), Some(last))));
    assert_eq!(engine.estimate_rows(table), rows as u64);
}

/// Temporary files of transactions.
fn temporary(machine: &SimMachine) -> Vec<String> {
    machine.files().into_iter().filter(|name| name.contains("transaction")).collect()
}

async fn settle(engine: &Arc<Engine>) {
    engine.env().clock.sleep(std::time::Duration::from_secs(1)).await;
}

#[test]
fn it_is_a_file_of_the_log() {
    let machine = SimMachine::new(1);
    let run = async {
        let (engine, table) = opened(&machine).await;
        let before = engine.log().files().len();
        let place = fill(&engine, &table, 1).await.unwrap().commit().await.unwrap().place.unwrap();
        insert_one(&engine, ROWS + 1).await.unwrap();
        let files = engine.log().files();
        assert_eq!(files.len(), before + 2, "its own, and the one behind it");
        assert_eq!(place.start.file, files[files.len() - 2].number);
        assert_eq!((place.end.file, place.sequence_number, place.last_committed), (place.start.file, 1, 0));
        // Every event is whole, and where it says that it is.
        let mut reader = engine.log().reader(base::LogPosition::new(place.start.file, 0));
        let mut types = Vec::new();
        while let Some(event) = reader.next_event().await.unwrap().filter(|event| event.start.file == place.start.file)
        {
            types.push(event.header.event_type);
        }
        let head = [EventType::FORMAT_DESCRIPTION, EventType::PREVIOUS_GTIDS, EventType::IGNORABLE, EventType::GTID];
        assert_eq!(types[..4], head);
        assert_eq!(types[types.len() - 2..], [EventType::XID, EventType::ROTATE]);
        check(&engine, &table, ROWS as usize + 1).await;
        engine.checkpoint().await.unwrap();
        check(&engine, &table, ROWS as usize + 1).await;
        settle(&engine).await;
        assert_eq!(temporary(&machine), Vec::<String>::new(), "what is in the trees is nowhere else");
    };
    machine.run(run).unwrap();
}

/// However large it is, at the log's end it is not read to open the log. Its GTID may have a tag.
#[test]
fn opening_does_not_read_it() {
    for tag in ["", "blue"] {
        let machine = SimMachine::new(2);
        let run = async {
            let (engine, table) = opened(&machine).await;
            let mut transaction = fill(&engine, &table, 1).await.unwrap();
            transaction.options_mut().gtid = GtidChoice::Automatic(tag.parse().unwrap());
            let place = transaction.commit().await.unwrap().place.unwrap();
            assert_eq!(place.gtid.unwrap().tag.as_str(), tag);
            engine.checkpoint().await.unwrap();
            place.gtid.unwrap()
        };
        let gtid = machine.run(run).unwrap();
        machine.crash();
        let file = machine.files().into_iter().filter(|name| name.starts_with("binlog.0")).rev().nth(1).unwrap();
        // What is synced is not read, so that this is not seen.
        let middle = machine.contents(&file).unwrap().len() as u64 / 2;
        machine.flip_bit(&file, middle * 8);
        let run = async {
            let (engine, table) = opened(&machine).await;
            check(&engine, &table, ROWS as usize).await;
            assert!(engine.has_executed(gtid), "{gtid}");
            assert_eq!(engine.gtid_executed(), engine.log().gtid_executed());
        };
        machine.run(run).unwrap();
    }
}

#[test]
fn rolled_back_or_cut_off_it_leaves_nothing() {
    let machine = SimMachine::new(3);
    let run = async {
        let (engine, table) = opened(&machine).await;
        insert_one(&engine, 1).await.unwrap();
        let end = engine.log().durable_end();
        let mut transaction = fill(&engine, &table, 2).await.unwrap();
        assert!(!temporary(&machine).is_empty());
        transaction.start_statement();
        transaction.insert(&table, row(&table, 5000, None, None)).await.unwrap();
        transaction.rollback_statement();
        transaction.options().session.cancel.cancel(Cancelled::Connection);
        drop(transaction);
        settle(&engine).await;
        assert_eq!(temporary(&machine), Vec::<String>::new());
        assert_eq!(engine.log().durable_end(), end);
        check(&engine, &table, 1).await;
        // And now the server goes in the middle of it.
        std::mem::forget(fill(&engine, &table, 2).await.unwrap());
        assert!(!temporary(&machine).is_empty());
    };
    machine.run(run).unwrap();
    machine.kill();
    let run = async {
        let (engine, table) = opened(&machine).await;
        assert_eq!(temporary(&machine), Vec::<String>::new());
        check(&engine, &table, 1).await;
    };
    machine.run(run).unwrap();
}

/// The statement fails with 1026 and is undone, what was before it stays; when there is room again it goes on.
#[test]
fn a_full_disk_is_the_statements_error() {
    let machine = SimMachine::new(4);
    let run = async {
        let (engine, table) = opened(&machine).await;
        let mut transaction = fill(&engine, &table, 1).await.unwrap();
        let capacity = Some(machine.used_bytes() + (4 << 20) + (50 << 10));
        machine.set_faults(Faults { capacity, ..Faults::default() });
        transaction.start_statement();
        let mut id = ROWS;
        let error = loop {
            id += 1;
            match transaction.insert(&table, row(&table, id, Some(id % 7), Some(id))).await {
                Ok(()) => {}
                Err(error) => break SqlError::from(error),
            }
        };
        assert_eq!(error.code, 1026, "{error}");
        transaction.rollback_statement();
        insert_one(&engine, 9000).await.unwrap();
        machine.set_faults(Faults::default());
        for id in ROWS + 1..=2 * ROWS {
            transaction.insert(&table, row(&table, id, Some(id % 7), Some(id))).await.unwrap();
        }
        transaction.commit().await.unwrap();
        assert_eq!(count(&engine, &table, 0).await, 2 * ROWS as usize + 1);
        engine.checkpoint().await.unwrap();
    };
    machine.run(run).unwrap();
    machine.crash();
    let run = async {
        let (engine, table) = opened(&machine).await;
        assert_eq!(count(&engine, &table, 2).await, 2 * ROWS as usize + 1);
    };
    machine.run(run).unwrap();
}

/// While one commits, others do, and it is in the log between them; a reader that began before it does not see it.
#[test]
fn others_commit_beside_it() {
    for seed in 0..10 {
        let machine = SimMachine::new(seed);
        let run = async {
            let (engine, table) = opened(&machine).await;
            let large = fill(&engine, &table, 1).await.unwrap();
            let mut view = begin(&engine);
            view.take_snapshot();
            let done = Arc::new(std::sync::atomic::AtomicBool::new(false));
            let (told, other) = (done.clone(), engine.clone());
            let task = async move {
                large.commit().await.unwrap();
                told.store(true, std::sync::atomic::Ordering::SeqCst);
                drop(other);
            };
            engine.env().spawner.spawn("large", Box::pin(task));
            let mut id = ROWS;
            while !done.load(std::sync::atomic::Ordering::SeqCst) {
                id += 1;
                insert_one(&engine, id).await.unwrap();
            }
            check(&engine, &table, id as usize).await;
            let row: Option<Bytes> = view.get(&table, &key(&table, 1), ReadMode::Consistent).await.unwrap();
            assert_eq!(row, None, "it was not there when the view began");
            // Its rows can be changed, before and after they are in the trees.
            for round in 0..2 {
                let mut transaction = begin(&engine);
                transaction.lock_table(&table, TableMode::IntentExclusive).await.unwrap();
                let old = transaction.get(&table, &key(&table, 7), ReadMode::FOR_UPDATE).await.unwrap().unwrap();
                let new = fixture::row(&table, 7, Some(100 + round), Some(7));
                assert!(transaction.update(&table, &old, new.clone()).await.unwrap());
                transaction.commit().await.unwrap();
                let mut reader = begin(&engine);
                let found = reader.get(&table, &key(&table, 7), ReadMode::Consistent).await.unwrap();
                assert_eq!(found, Some(new));
                engine.checkpoint().await.unwrap();
            }
        };
        machine.run(run).unwrap();
    }
}

/// A piece of one, written over the same place of another: every event has its checksum and its position.
#[test]
fn a_piece_of_another_transaction_is_found() {
    let machine = SimMachine::new(6);
    let run = async {
        let (engine, table) = opened(&machine).await;
        let mut names = Vec::new();
        for from in [1, ROWS + 1] {
            let place = fill(&engine, &table, from).await.unwrap().commit().await.unwrap().place.unwrap();
            names.push(engine.log().file_name(place.start.file));
        }
        let contents: Vec<Vec<u8>> = names.iter().map(|name| machine.contents(name).unwrap()).collect();
        let starts = |bytes: &[u8]| {
            let (mut at, mut starts) = (4, Vec::new());
            while at < bytes.len() {
                starts.push(at);
                at += u32::from_le_bytes([bytes[at + 9], bytes[at + 10], bytes[at + 11], bytes[at + 12]]) as usize;
            }
            starts
        };
        let theirs = starts(&contents[0]);
        let both: Vec<usize> = starts(&contents[1]).into_iter().filter(|at| theirs.contains(at)).collect();
        let middle = both.len() / 2;
        let range = both[middle]..both[middle + 1];
        assert!(contents[0][range.clone()] != contents[1][range.clone()]);
        let how = io::OpenOptions { write: true, ..io::OpenOptions::default() };
        let file = engine.env().disk.open(&names[1], how).await.unwrap();
        file.write_at(range.start as u64, io::IoBuf::copy_of(&contents[0][range])).await.unwrap();
        for whole in [true, false] {
            let mut reader = engine.log().reader(base::LogPosition::default());
            let error = loop {
                let read = match whole {
                    true => reader.next_transaction().await.map(|read| read.is_some()),
                    false => reader.next_event().await.map(|read| read.is_some()),
                };
                match read {
                    Ok(true) => {}
                    Ok(false) => panic!("read to the end"),
                    Err(error) => break error,
                }
            };
            assert!(matches!(&error, binlog::BinlogError::Corrupt { file, .. } if *file == names[1]), "{error}");
        }
    };
    machine.run(run).unwrap();
}
