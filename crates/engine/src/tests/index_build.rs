//! Indexes of more rows than may be sorted in memory at once.

use std::sync::Arc;

use io::sim::SimMachine;

use super::fixture::{self, begin, ddl, row};
use crate::error::EngineError;
use crate::options::EngineOptions;
use crate::{Engine, TableMode};

const ROWS: i64 = 8000;

/// 64 KiB of entries are sorted at once, a tenth of what there is.
fn options() -> EngineOptions {
    EngineOptions { memtable_bytes: 1 << 20, ..fixture::options() }
}

async fn with_rows(machine: &SimMachine, k: impl Fn(i64) -> i64) -> Arc<Engine> {
    let engine = fixture::open(machine.env(), options()).await.unwrap();
    let table = engine.catalog().table("test", "t").unwrap().clone();
    for first in (1..=ROWS).step_by(500) {
        let mut transaction = begin(&engine);
        transaction.lock_table(&table, TableMode::IntentExclusive).await.unwrap();
        for id in first..first + 500 {
            transaction.insert(&table, row(&table, id, Some(k(id)), Some(id))).await.unwrap();
        }
        transaction.commit().await.unwrap();
    }
    engine
}

/// What CHECK TABLE finds, and how many indexes the table has.
async fn checked(engine: &Arc<Engine>) -> (Vec<String>, usize) {
    let table = engine.catalog().table("test", "t").unwrap().clone();
    for number in 0..table.indexes.len() {
        assert_eq!(fixture::count(engine, &table, number).await, ROWS as usize);
    }
    (begin(engine).check(&table).await.unwrap(), table.indexes.len())
}

/// Rows of the table by its counters.
fn estimated(engine: &Engine) -> u64 {
    engine.estimate_rows(engine.catalog().table("test", "t").unwrap())
}

/// Its rows are in one tree before, and on the way to another one after.
#[test]
fn rows_are_counted_whichever_tree_they_are_in() {
    let machine = fixture::machine(2);
    let built = async {
        let engine = with_rows(&machine, scattered).await;
        engine.checkpoint().await.unwrap();
        assert_eq!(estimated(&engine), ROWS as u64);
        ddl(&engine, "widen t").await.unwrap();
        assert_eq!(estimated(&engine), ROWS as u64);
        engine.checkpoint().await.unwrap();
        assert_eq!(estimated(&engine), ROWS as u64);
        engine.close().await.unwrap();
    };
    machine.run(built).unwrap();
}

fn scattered(id: i64) -> i64 {
    id * 7919 % 1009
}

#[test]
fn entries_are_merged_from_sorted_runs() {
    let machine = fixture::machine(1);
    let built = async {
        let engine = with_rows(&machine, scattered).await;
        ddl(&engine, "add index t").await.unwrap();
        assert_eq!(checked(&engine).await, (vec![], 4));
        // A new table's worth: the rows by way of the memtable, three indexes by runs.
        ddl(&engine, "widen t").await.unwrap();
        assert_eq!(checked(&engine).await, (vec![], 4));
        assert_eq!(estimated(&engine), ROWS as u64);
        engine.close().await.unwrap();
        let engine = fixture::open(machine.env(), options()).await.unwrap();
        assert_eq!(checked(&engine).await, (vec![], 4));
        engine.close().await.unwrap();
    };
    machine.run(built).unwrap();
    assert!(!machine.files().iter().any(|name| name.starts_with("transaction.")), "{:?}", machine.files());
}

/// The two rows are in different runs.
#[test]
fn a_key_that_is_there_twice_is_found_and_leaves_nothing_behind() {
    let machine = fixture::machine(2);
    let tried = async {
        let engine = with_rows(&machine, |id| if id == ROWS { 1 } else { id }).await;
        let error = ddl(&engine, "add unique t").await.unwrap_err();
        assert!(matches!(error, EngineError::DuplicateKey(_)), "{error}");
        assert_eq!(checked(&engine).await, (vec![], 3));
        ddl(&engine, "add index t").await.unwrap();
        assert_eq!(checked(&engine).await, (vec![], 4));
    };
    machine.run(tried).unwrap();
}

#[test]
fn a_power_failure_while_it_is_built() {
    for operation in (1..600).step_by(23) {
        let machine = fixture::machine(operation);
        let engine = machine.run(with_rows(&machine, scattered)).unwrap();
        machine.crash_after(operation);
        let _ = machine.run(ddl(&engine, "add index t"));
        machine.crash();
        let after = async {
            let engine = fixture::open(machine.env(), options()).await.unwrap();
            let (problems, indexes) = checked(&engine).await;
            assert_eq!(problems, [""; 0], "operation {operation}");
            if indexes == 3 {
                ddl(&engine, "add index t").await.unwrap();
                assert_eq!(checked(&engine).await, (vec![], 4), "operation {operation}");
            }
        };
        machine.run(after).unwrap();
    }
}
