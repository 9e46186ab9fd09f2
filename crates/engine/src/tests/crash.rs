//! Power failures at any disk operation: what was acknowledged is there, nothing is there by half, and what is there is a
//! prefix of the log.
//!
//! Each transaction takes the next number from row 0 (under its lock), and inserts a row that holds it. So after a crash the
//! numbers of the rows have to be 1 to n without a hole, n has to be what row 0 says, and every acknowledged row has to be there.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use futures_lite::future;
use io::sim::SimMachine;
use parking_lot::Mutex;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use types::Value;

use super::fixture::{self, begin, insert_one, key, row, with_seeds};
use crate::error::Result;
use crate::{Direction, Engine, KeyRange, ReadMode, Table, TableMode};

const SESSIONS: i64 = 3;
const CRASHES: usize = 4;

/// One transaction; the number that it took.
async fn take_number(engine: &Arc<Engine>, table: &Arc<Table>, id: i64) -> Result<i64> {
    let mut transaction = begin(engine);
    transaction.lock_table(table, TableMode::IntentExclusive).await?;
    let counter = key(table, 0);
    let old = transaction.get(table, &counter, ReadMode::FOR_UPDATE).await?;
    let number = match &old {
        Some(old) => column(table, old, 1) + 1,
        None => 1,
    };
    let new = row(table, 0, Some(number), None);
    match &old {
        Some(old) => drop(transaction.update(table, old, new).await?),
        None => transaction.insert(table, new).await?,
    }
    transaction.insert(table, row(table, id, Some(number), Some(number))).await?;
    transaction.commit().await?;
    Ok(number)
}

/// Reads with a lock, and writes nothing: whoever is told of a number has a right to it, as the one who took it.
async fn read_number(engine: &Arc<Engine>, table: &Arc<Table>) -> Result<Option<i64>> {
    let mut transaction = begin(engine);
    transaction.lock_table(table, TableMode::IntentShared).await?;
    let found = transaction.get(table, &key(table, 0), ReadMode::FOR_SHARE).await?;
    transaction.commit().await?;
    Ok(found.map(|row| column(table, &row, 1)))
}

fn column(table: &Table, row: &bytes::Bytes, column: usize) -> i64 {
    match table.codec.row.decode_column(row, column).unwrap() {
        Value::Int(n) => n,
        other => panic!("{other:?}"),
    }
}

async fn rows(engine: &Arc<Engine>, table: &Arc<Table>, index_number: usize) -> Result<Vec<bytes::Bytes>> {
    let mut transaction = begin(engine);
    let mut scan = transaction.scan(table, index_number, KeyRange::all(), Direction::Forward, ReadMode::Consistent);
    let mut entries = Vec::new();
    while transaction.next_batch(&mut scan, &mut entries, 50).await? {}
    Ok(entries.into_iter().map(|entry| entry.value).collect())
}

async fn check(engine: &Arc<Engine>, acknowledged: &BTreeSet<i64>) -> Result<()> {
    let table = engine.catalog().table("test", "t").unwrap().clone();
    let rows_of = rows(engine, &table, 0).await?;
    let mut taken = 0;
    let mut numbers = BTreeSet::new();
    for row in &rows_of {
        match column(&table, row, 0) {
            0 => taken = column(&table, row, 1),
            _ => assert!(numbers.insert(column(&table, row, 1)), "a number was taken twice"),
        }
    }
    assert!(numbers.iter().copied().eq(1..=taken), "{taken} were taken, there are {numbers:?}");
    assert!(acknowledged.is_subset(&numbers), "lost: {:?}", acknowledged.difference(&numbers));
    let unique = rows(engine, &table, 2).await?;
    assert_eq!(unique.len(), rows_of.len(), "the unique index has an entry per row");
    Ok(())
}

/// Runs until the power fails; what was acknowledged is added.
async fn work(machine: &SimMachine, seed: u64, acknowledged: &Arc<Mutex<BTreeSet<i64>>>, next_id: &Arc<Mutex<i64>>) {
    let mut options = fixture::options();
    options.memtable_bytes = 6 << 10;
    options.transaction_memory_bytes = [16 << 20, 0, 900][seed as usize / 10 % 3];
    options.install_memory_bytes = options.transaction_memory_bytes;
    let engine = fixture::open(machine.env(), options).await.unwrap();
    fixture::compress(&engine, seed).await.unwrap();
    let table = engine.catalog().table("test", "t").unwrap().clone();
    let before = acknowledged.lock().clone();
    check(&engine, &before).await.unwrap();
    // Under sync_binlog=1: since which change of the setting.
    let strict = Arc::new(Mutex::new(Some(0)));
    for session in 0..SESSIONS {
        let (engine, table) = (engine.clone(), table.clone());
        let (acknowledged, next_id, strict) = (acknowledged.clone(), next_id.clone(), strict.clone());
        let mut rng = StdRng::seed_from_u64(seed * 100 + session.cast_unsigned());
        let task = async move {
            loop {
                let id = {
                    let mut next = next_id.lock();
                    *next += 1;
                    *next
                };
                // Now and then the client goes away, at any moment.
                let patience = if rng.random_bool(0.1) { rng.random_range(0..2000) } else { 1_000_000_000 };
                let gone = async {
                    engine.env().clock.sleep(Duration::from_micros(patience)).await;
                    None
                };
                let only_reads = rng.random_bool(0.3);
                let answer = async {
                    match only_reads {
                        true => read_number(&engine, &table).await.ok().flatten(),
                        false => take_number(&engine, &table, id).await.ok(),
                    }
                };
                // An answer takes its time to a client: one that tries a deadlock again at once would never let the other be woken.
                engine.env().clock.sleep(Duration::from_micros(rng.random_range(1..100))).await;
                let before = *strict.lock();
                if let Some(number) = future::or(answer, gone).await
                    && before.is_some()
                    && *strict.lock() == before
                {
                    acknowledged.lock().insert(number);
                }
            }
        };
        machine.env().spawner.spawn("session", Box::pin(task));
    }
    let (mut rng, mut change) = (StdRng::seed_from_u64(seed), 0);
    loop {
        machine.env().clock.sleep(Duration::from_micros(rng.random_range(0..30_000))).await;
        if let Some(pipeline) = engine.commits().filter(|_| seed % 2 == 1) {
            let groups = rng.random_range(0..3);
            change += 1;
            pipeline.settings().set_sync_binlog(groups);
            *strict.lock() = (groups == 1).then_some(change);
        }
        engine.checkpoint().await.unwrap();
    }
}

fn crashes(seed: u64) {
    let machine = SimMachine::new(seed);
    let acknowledged = Arc::new(Mutex::new(BTreeSet::new()));
    let next_id = Arc::new(Mutex::new(0));
    let mut rng = StdRng::seed_from_u64(seed);
    for crash in 0..CRASHES as u64 {
        machine.crash_after(rng.random_range(1..400));
        let ended = machine.run(work(&machine, seed * 10 + crash, &acknowledged, &next_id));
        assert!(ended.is_err(), "works until the power fails");
        machine.crash();
    }
    let acknowledged = acknowledged.lock().clone();
    let last = async {
        let engine = fixture::open(machine.env(), fixture::options()).await?;
        check(&engine, &acknowledged).await?;
        engine.checkpoint().await?;
        check(&engine, &acknowledged).await?;
        let roots = engine.store().roots();
        engine.store().verify(&roots).await?;
        engine.close().await
    };
    machine.run(last).unwrap().unwrap();
}

/// More rows than a build takes at once.
const DDL_ROWS: i64 = 700;

/// Every index has exactly the entries of the rows.
async fn check_indexes(engine: &Arc<Engine>) -> Result<()> {
    let table = engine.catalog().table("test", "t").unwrap().clone();
    let rows_of = rows(engine, &table, 0).await?;
    for (number, index) in table.def.indexes.iter().enumerate().skip(1) {
        let mut expected: Vec<_> =
            rows_of.iter().map(|row| table.codec.secondary_entry(number, row).unwrap().1).collect();
        let mut found = rows(engine, &table, number).await?;
        expected.sort();
        found.sort();
        assert!(found == expected, "{}: {} entries, {} rows", index.name, found.len(), rows_of.len());
    }
    Ok(())
}

/// DDL after DDL, beside a session that inserts, until the power fails.
async fn work_with_ddl(machine: &SimMachine, seed: u64) {
    let mut options = fixture::options();
    options.memtable_bytes = 40 << 10;
    options.transaction_memory_bytes = [16 << 20, 2 << 10][seed as usize / 10 % 2];
    options.install_memory_bytes = options.transaction_memory_bytes;
    let engine = fixture::open(machine.env(), options).await.unwrap();
    check_indexes(&engine).await.unwrap();
    let _ = fill(&engine).await;
    let mut rng = StdRng::seed_from_u64(seed);
    let words = [
        "add index t",
        "drop index t",
        "widen t",
        "add unique t",
        "truncate t",
        "compress t lz4",
        "compress t zstd",
        "compress t none",
    ];
    let inserter = {
        let (engine, mut rng) = (engine.clone(), StdRng::seed_from_u64(seed + 1));
        async move {
            loop {
                let _ = insert_one(&engine, rng.random_range(1000..100_000)).await;
                engine.env().clock.sleep(Duration::from_micros(rng.random_range(0..5000))).await;
            }
        }
    };
    machine.env().spawner.spawn("inserter", Box::pin(inserter));
    loop {
        let _ = fixture::ddl(&engine, words[rng.random_range(0..words.len())]).await;
        if rng.random_bool(0.2) {
            let _ = fill(&engine).await;
            let _ = engine.checkpoint().await;
        }
    }
}

async fn fill(engine: &Arc<Engine>) -> Result<()> {
    let table = engine.catalog().table("test", "t").unwrap().clone();
    let mut transaction = begin(engine);
    transaction.lock_table(&table, TableMode::IntentExclusive).await?;
    for id in 1..=DDL_ROWS {
        if transaction.get(&table, &key(&table, id), ReadMode::FOR_UPDATE).await?.is_none() {
            transaction.insert(&table, row(&table, id, Some(id % 500), None)).await?;
        }
    }
    transaction.commit().await?;
    Ok(())
}

fn ddl_crashes(seed: u64) {
    let machine = SimMachine::new(seed);
    let mut rng = StdRng::seed_from_u64(seed);
    for crash in 0..CRASHES as u64 {
        machine.crash_after(rng.random_range(1..600));
        let ended = machine.run(work_with_ddl(&machine, seed * 10 + crash));
        assert!(ended.is_err(), "works until the power fails");
        machine.crash();
    }
    let last = async {
        let engine = fixture::open(machine.env(), fixture::options()).await?;
        check_indexes(&engine).await?;
        engine.checkpoint().await?;
        check_indexes(&engine).await?;
        let roots = engine.store().roots();
        let tables: usize = engine.catalog().tables("test").map(|table| table.def.indexes.len()).sum();
        assert!(roots.indexes().count() <= tables + 1, "no tree is left over");
        engine.store().verify(&roots).await?;
        engine.close().await
    };
    machine.run(last).unwrap().unwrap();
}

#[test]
fn nothing_acknowledged_is_lost() {
    with_seeds(40, crashes);
}

#[test]
fn ddl_is_there_or_not() {
    with_seeds(15, ddl_crashes);
}

/// The setting was changed back, and nothing was committed since: a checkpoint syncs what the old setting has left.
#[test]
fn a_checkpoint_is_never_ahead_of_the_log() {
    for seed in 0..30 {
        let machine = SimMachine::new(seed);
        let run = async {
            let engine = fixture::open(machine.env(), fixture::options()).await.unwrap();
            let table = engine.catalog().table("test", "t").unwrap().clone();
            let pipeline = engine.commits().unwrap();
            pipeline.settings().set_sync_binlog(0);
            for id in 1..6 {
                take_number(&engine, &table, id).await.unwrap();
                machine.env().clock.sleep(Duration::from_millis(20)).await;
            }
            match seed % 3 {
                0 => pipeline.settings().set_sync_binlog(1),
                1 => {}
                // The server closes: the pipeline, and beside it a checkpoint.
                _ => {
                    let closing = engine.clone();
                    let close = async move { closing.stop_commits().await.unwrap() };
                    machine.env().spawner.spawn("close", Box::pin(close));
                    let pause = Duration::from_micros(machine.world().below(300));
                    machine.env().clock.sleep(pause).await;
                }
            }
            engine.checkpoint().await.unwrap();
        };
        machine.run(run).unwrap();
        machine.crash();
        let run = async {
            let opened = fixture::open(machine.env(), fixture::options()).await;
            let engine = opened.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
            check(&engine, &(1..6).collect()).await.unwrap();
        };
        machine.run(run).unwrap();
    }
}
