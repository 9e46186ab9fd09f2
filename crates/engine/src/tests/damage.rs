//! A page that was damaged on the disk: the checkpoint that needs it goes on without what belongs to it, and so does everybody
//! else.

use std::sync::Arc;

use base::ErrorClass;
use io::sim::SimMachine;

use super::fixture::{self, begin, ddl, key, row};
use crate::error::Result;
use crate::{Engine, ReadMode, TableMode};

const ROWS: i64 = 3000;
const PAGE_SIZE: usize = 16384;

/// Writes all rows of a table.
async fn write(engine: &Arc<Engine>, name: &str, k: i64) {
    let table = engine.catalog().table("test", name).unwrap().clone();
    let mut transaction = begin(engine);
    transaction.lock_table(&table, TableMode::IntentExclusive).await.unwrap();
    for id in 1..=ROWS {
        transaction.insert(&table, row(&table, id, Some(k), Some(id))).await.unwrap();
    }
    transaction.commit().await.unwrap();
}

async fn count(engine: &Arc<Engine>, name: &str, index_number: usize) -> Result<usize> {
    let table = engine.catalog().table("test", name).unwrap().clone();
    fixture::try_count(engine, &table, index_number).await
}

/// Changes what can be read; how many rows could not be.
async fn update(engine: &Arc<Engine>, name: &str) -> i64 {
    let table = engine.catalog().table("test", name).unwrap().clone();
    let mut damaged = 0;
    for id in 1..=ROWS {
        let mut transaction = begin(engine);
        transaction.lock_table(&table, TableMode::IntentExclusive).await.unwrap();
        match transaction.get(&table, &key(&table, id), ReadMode::FOR_UPDATE).await {
            Ok(old) => {
                transaction.update(&table, &old.unwrap(), row(&table, id, Some(2), Some(id))).await.unwrap();
                transaction.commit().await.unwrap();
            }
            Err(error) => {
                assert_eq!(error.class(), ErrorClass::Corrupt);
                damaged += 1;
            }
        }
    }
    damaged
}

/// What CHECK TABLE finds.
async fn problems(engine: &Arc<Engine>, name: &str) -> Vec<String> {
    let table = engine.catalog().table("test", name).unwrap().clone();
    begin(engine).check(&table).await.unwrap()
}

/// A leaf of an index in the data file, of which nothing else is left in memory after a restart.
fn flip_a_leaf(machine: &SimMachine, index: u64) {
    let file = machine.contents("data.ctr").unwrap();
    let is_leaf = |page: &[u8]| page[32] == 1 && page[16..24] == index.to_le_bytes();
    let leaves: Vec<usize> = (2..file.len() / PAGE_SIZE).filter(|at| is_leaf(&file[at * PAGE_SIZE..])).collect();
    assert!(leaves.len() > 3, "{leaves:?}");
    machine.flip_bit("data.ctr", ((leaves[leaves.len() / 2] * PAGE_SIZE + 1000) * 8) as u64);
}

/// An index that has one entry too many, one too few, or another one than the rows say.
#[test]
fn entries_that_are_not_those_of_the_rows() {
    let machine = SimMachine::new(12);
    let done = machine.run(async {
        let engine = fixture::open(machine.env(), fixture::options()).await.unwrap();
        write(&engine, "t", 1).await;
        assert_eq!(problems(&engine, "t").await, [""; 0]);
        let table = engine.catalog().table("test", "t").unwrap().clone();
        let entry = |k| table.codec.secondary_entry(1, &row(&table, 7, Some(k), Some(7))).unwrap();
        let ((old, value), (new, _)) = (entry(1), entry(2));
        for (id, key, value, found) in [
            (3001, &old, None, "Index 'k' contains 3000 entries, should be 3001."),
            (3002, &new, Some(value.clone()), "Index 'k' contains entries that are not those of the rows."),
            (3003, &old, Some(value), "Index 'k' contains 3004 entries, should be 3003."),
        ] {
            let mut transaction = begin(&engine);
            transaction.lock_table(&table, TableMode::IntentExclusive).await.unwrap();
            transaction.insert(&table, row(&table, id, Some(1), None)).await.unwrap();
            transaction.put_unasked(&table, 1, key, value);
            transaction.commit().await.unwrap();
            assert_eq!(problems(&engine, "t").await, [found]);
        }
    });
    done.unwrap();
}

#[test]
fn a_damaged_page_costs_its_rows_and_nothing_else() {
    for index_number in [0, 1] {
        let machine = SimMachine::new(11);
        let index = machine.run(async {
            let engine = fixture::open(machine.env(), fixture::options()).await.unwrap();
            ddl(&engine, "create other").await.unwrap();
            write(&engine, "t", 1).await;
            write(&engine, "other", 1).await;
            engine.checkpoint().await.unwrap();
            let index = engine.catalog().table("test", "t").unwrap().def.indexes[index_number].id;
            engine.close().await.unwrap();
            index
        });
        flip_a_leaf(&machine, index.unwrap().0);
        let damaged = machine.run(async {
            let engine = fixture::open(machine.env(), fixture::options()).await.unwrap();
            assert_eq!(update(&engine, "other").await, 0);
            let damaged = update(&engine, "t").await;
            assert_eq!(damaged > 0, index_number == 0, "{damaged}");
            assert!(engine.damaged_indexes().is_empty());
            engine.checkpoint().await.unwrap();
            engine.close().await.unwrap();
        });
        damaged.unwrap();
        let done = machine.run(async {
            let engine = fixture::open(machine.env(), fixture::options()).await.unwrap();
            for number in [0, 1, 2] {
                assert_eq!(count(&engine, "other", number).await.unwrap(), ROWS as usize);
                let found = count(&engine, "t", number).await;
                match number == index_number {
                    true => assert_eq!(found.unwrap_err().class(), ErrorClass::Corrupt),
                    false => assert_eq!(found.unwrap(), ROWS as usize),
                }
            }
            let damaged: Vec<usize> = engine.damaged_indexes().into_iter().map(|(_, number)| number).collect();
            // Who changes a row has to read it first, but not the entries of secondary indexes.
            assert_eq!(damaged, [1][..index_number]);
            assert_eq!(problems(&engine, "other").await, [""; 0]);
            let found = problems(&engine, "t").await;
            assert!(found.len() == 1 && found[0].contains("data.ctr"), "{found:?}");
            // The rows are the clustered index; another one is made anew from them.
            let rebuilt = ddl(&engine, "widen t").await;
            if index_number == 0 {
                assert_eq!(rebuilt.unwrap_err().class(), ErrorClass::Corrupt);
                ddl(&engine, "truncate t").await.unwrap();
                write(&engine, "t", 5).await;
            }
            engine.checkpoint().await.unwrap();
            assert_eq!(count(&engine, "t", index_number).await.unwrap(), ROWS as usize);
            assert_eq!(problems(&engine, "t").await, [""; 0]);
            assert!(engine.damaged_indexes().is_empty());
        });
        done.unwrap();
    }
}
