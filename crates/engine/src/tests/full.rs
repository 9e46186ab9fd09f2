//! The disk is full where a checkpoint writes: commits are refused before they have a place, reads go on, and all is well when
//! there is room again.

use std::time::Duration;

use io::sim::{Faults, SimMachine};

use types::Value;

use super::fixture::{self, begin, insert_one, key, row};
use crate::{Engine, EngineError, EngineOptions, ReadMode, TableMode};

fn options() -> EngineOptions {
    let log = binlog::LogOptions { fill_ahead: 8 << 20, ..Default::default() };
    EngineOptions { memtable_bytes: 64 << 10, max_binlog_bytes: 64 << 20, log, ..fixture::options() }
}

async fn read(engine: &std::sync::Arc<Engine>, id: i64) -> bool {
    let table = engine.catalog().table("test", "t").unwrap().clone();
    begin(engine).get(&table, &key(&table, id), ReadMode::Consistent).await.unwrap().is_some()
}

#[test]
fn a_full_disk_under_a_checkpoint_is_error_1021() {
    for seed in 0..10 {
        let machine = SimMachine::new(seed);
        let mut last = 0;
        let run = async {
            let engine = fixture::open(machine.env(), options()).await.unwrap();
            machine.env().clock.sleep(Duration::from_secs(1)).await;
            machine.set_faults(Faults { capacity: Some(machine.used_bytes()), ..Faults::default() });
            let error = loop {
                match insert_one(&engine, last + 1).await {
                    Ok(()) => last += 1,
                    Err(error) => break error,
                }
            };
            assert!(matches!(error, EngineError::Full(_)), "seed {seed}: {error}");
            assert_eq!(base::SqlError::from(error).code, 1021);
            assert!(read(&engine, last).await && !read(&engine, last + 1).await, "seed {seed}");
            machine.set_faults(Faults::default());
            machine.env().clock.sleep(Duration::from_secs(10)).await;
            for id in last + 1..last + 2000 {
                insert_one(&engine, id).await.unwrap();
            }
            last += 1999;
            assert!(engine.durable_checkpoint().0.0 > 100);
            engine.check_running().unwrap();
        };
        machine.run(run).unwrap();
        machine.crash();
        let run = async {
            let engine = fixture::open(machine.env(), options()).await.unwrap();
            assert!(read(&engine, 1).await && read(&engine, last).await, "seed {seed}");
            let roots = engine.store().roots();
            assert_eq!(engine.store().verify(&roots).await.unwrap().lost, 0);
        };
        machine.run(run).unwrap();
    }
}

#[test]
fn a_checkpoint_without_room_gives_back_what_it_took() {
    const ROWS: i64 = 400;
    let machine = SimMachine::new(7);
    let run = async {
        let options = EngineOptions { memtable_bytes: 64 << 20, ..options() };
        let engine = fixture::open(machine.env(), options).await.unwrap();
        fixture::ddl(&engine, "create blobs").await.unwrap();
        let table = engine.catalog().table("test", "blobs").unwrap().clone();
        let mut state = 1_u64;
        let mut byte = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 56) as u8
        };
        for id in 0..ROWS {
            let data = (0..16 << 10).map(|_| byte()).collect::<Vec<u8>>();
            let row = [Value::Int(id), Value::Int(id), Value::Bytes(data.into())];
            let mut transaction = begin(&engine);
            transaction.lock_table(&table, TableMode::IntentExclusive).await.unwrap();
            transaction.insert(&table, table.codec.row.encode(&row).unwrap()).await.unwrap();
            transaction.commit().await.unwrap();
        }
        let used = machine.used_bytes();
        let room = ROWS as u64 * (12 << 10);
        machine.set_faults(Faults { capacity: Some(used + room), ..Faults::default() });
        let error = engine.checkpoint().await.unwrap_err();
        assert!(matches!(error, EngineError::Full(_)), "{error}");
        assert!(machine.used_bytes() < used + room / 2, "{} of {room} bytes are taken", machine.used_bytes() - used);
        machine.set_faults(Faults::default());
        engine.checkpoint().await.unwrap();
        assert!(machine.used_bytes() > used + room, "the checkpoint did not need more than there was");
        let last = begin(&engine).get(&table, &key(&table, ROWS - 1), ReadMode::Consistent).await.unwrap();
        assert!(last.is_some());
    };
    machine.run(run).unwrap();
}

/// The bound of a transaction counts what it holds: rows before and after, and not what was rolled back.
#[test]
fn a_transaction_is_bounded_by_what_it_holds() {
    let machine = SimMachine::new(1);
    let run = async {
        let options = EngineOptions { transaction_bytes_max: 4 << 10, ..options() };
        let engine = fixture::open(machine.env(), options).await.unwrap();
        let table = engine.catalog().table("test", "t").unwrap().clone();
        let mut transaction = begin(&engine);
        transaction.lock_table(&table, TableMode::IntentExclusive).await.unwrap();
        for _ in 0..200 {
            transaction.start_statement();
            transaction.insert(&table, row(&table, 1, Some(1), None)).await.unwrap();
            transaction.rollback_statement();
        }
        let mut id = 0;
        let error = loop {
            id += 1;
            match transaction.insert(&table, row(&table, id, Some(1), None)).await {
                Ok(()) => {}
                Err(error) => break error,
            }
        };
        assert_eq!(base::SqlError::from(error).code, 1197);
        assert!(id > 5, "{id}");
    };
    machine.run(run).unwrap();
}

/// Purging by name, age or size never removes what recovery needs.
#[test]
fn a_purge_keeps_what_the_checkpoint_needs() {
    for seed in 0..10 {
        let machine = SimMachine::new(seed);
        let run = async {
            let engine = fixture::open(machine.env(), fixture::options()).await.unwrap();
            for id in 1..200 {
                insert_one(&engine, id).await.unwrap();
            }
            engine.rotate_log().await.unwrap();
            engine.checkpoint().await.unwrap();
            for id in 200..400 {
                insert_one(&engine, id).await.unwrap();
                if id % 50 == 0 {
                    engine.rotate_log().await.unwrap();
                }
            }
            let (log, needed) = (engine.log().clone(), engine.durable_checkpoint().1.file);
            let last = log.files().pop().unwrap().name;
            let purged = match seed % 3 {
                0 => log.purge_to(&last).await.unwrap(),
                1 => log.purge_before(base::UnixMicros(u64::MAX)).await.unwrap(),
                _ => log.purge_to_size(1).await.unwrap(),
            };
            assert_eq!(purged.held_by.as_deref(), Some(crate::CHECKPOINT_PIN), "seed {seed}");
            assert_eq!(log.files()[0].number, needed, "seed {seed}: all that is not needed is gone, and nothing else");
        };
        machine.run(run).unwrap();
        machine.crash();
        let run = async {
            let engine = fixture::open(machine.env(), fixture::options()).await.unwrap();
            for id in 1..400 {
                assert!(read(&engine, id).await, "seed {seed}: {id}");
            }
        };
        machine.run(run).unwrap();
    }
}
