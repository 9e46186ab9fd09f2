//! Tables whose pages are compressed: what is written after which statement, and that everything can be read whatever was said
//! since.

use std::sync::Arc;

use io::sim::SimMachine;

use super::fixture::{self, begin, ddl, key, machine, row};
use crate::error::Result;
use crate::{Engine, ReadMode, TableMode};

const ROWS: i64 = 4000;

/// Gives all rows another value, and makes a checkpoint.
async fn rewrite(engine: &Arc<Engine>, k: i64) -> Result<()> {
    let table = engine.catalog().table("test", "t").unwrap().clone();
    let mut transaction = begin(engine);
    transaction.lock_table(&table, TableMode::IntentExclusive).await?;
    for id in 1..=ROWS {
        let new = row(&table, id, Some(k), None);
        match transaction.get(&table, &key(&table, id), ReadMode::FOR_UPDATE).await? {
            Some(old) => drop(transaction.update(&table, &old, new).await?),
            None => transaction.insert(&table, new).await?,
        }
    }
    transaction.commit().await?;
    engine.checkpoint().await.map(drop)
}

/// Bytes of rows and of other indexes, after everything was looked at.
async fn bytes(engine: &Arc<Engine>) -> Result<(u64, u64)> {
    let roots = engine.store().roots();
    assert_eq!(engine.store().verify(&roots).await?.lost, 0);
    let table = engine.catalog().table("test", "t").unwrap().clone();
    assert_eq!(roots.entries(table.indexes[0].id), ROWS as u64);
    Ok(engine.table_bytes(&table))
}

/// The nodes above leaves, a third of so small a table, are not compressed.
fn is_small(bytes: (u64, u64), plain: (u64, u64)) -> bool {
    bytes.0 * 5 < plain.0 * 4 && bytes.1 * 5 < plain.1 * 4
}

async fn open(machine: &SimMachine) -> Result<Arc<Engine>> {
    fixture::open(machine.env(), fixture::options()).await
}

#[test]
fn what_is_written_after_the_statement_is_compressed_and_outlives_everything() {
    let machine = machine(1);
    let first = async {
        let engine = open(&machine).await?;
        rewrite(&engine, 1).await?;
        let plain = bytes(&engine).await?;
        for how in ["compress t lz4", "compress t zstd"] {
            let before = bytes(&engine).await?;
            ddl(&engine, how).await?;
            engine.checkpoint().await?;
            assert_eq!(bytes(&engine).await?, before, "the statement itself writes no page");
            rewrite(&engine, how.len() as i64).await?;
            let after = bytes(&engine).await?;
            assert!(is_small(after, plain), "{how}: {after:?}, it was {plain:?}");
        }
        let before = bytes(&engine).await?;
        ddl(&engine, "add index t").await?;
        engine.checkpoint().await?;
        let added = bytes(&engine).await?.1 - before.1;
        assert!(added * 5 < plain.1 / 2 * 4, "{added} bytes of a third index, two others took {}", plain.1);
        ddl(&engine, "drop index t").await?;
        ddl(&engine, "create other").await?;
        ddl(&engine, "rename t old").await?;
        ddl(&engine, "rename old t").await?;
        Ok(plain)
    };
    let first: Result<(u64, u64)> = machine.run(first).unwrap();
    let plain = first.unwrap();
    machine.crash();
    let second = async {
        let engine = open(&machine).await?;
        rewrite(&engine, 3).await?;
        let again = bytes(&engine).await?;
        assert!(is_small(again, plain), "after a restart {again:?}, it was {plain:?}");
        ddl(&engine, "truncate t").await?;
        rewrite(&engine, 4).await?;
        assert!(is_small(bytes(&engine).await?, plain), "the table that takes the place of a truncated one");
        ddl(&engine, "compress t none").await?;
        rewrite(&engine, 5).await?;
        assert_eq!(bytes(&engine).await?.0, plain.0);
        engine.close().await
    };
    machine.run(second).unwrap().unwrap();
}

/// The indexes of a table that is built anew are in no catalog while checkpoints write them.
#[test]
fn what_a_statement_builds_is_compressed_while_it_is_built() {
    let machine = machine(2);
    let built = async {
        let mut options = fixture::options();
        options.memtable_bytes = 100 << 10;
        let engine = fixture::open(machine.env(), options).await?;
        rewrite(&engine, 1).await?;
        let (plain, _) = bytes(&engine).await?;
        ddl(&engine, "compress t zstd").await?;
        let written = engine.store().statistics().bytes_written;
        ddl(&engine, "widen t").await?;
        assert!(engine.store().statistics().bytes_written > written, "checkpoints were made meanwhile");
        engine.checkpoint().await?;
        let (after, _) = bytes(&engine).await?;
        assert!(after * 4 < plain * 3, "{after} bytes, it was {plain}");
        engine.close().await
    };
    machine.run(built).unwrap().unwrap();
}
