//! Temporary tables: what they take is bounded and given back, whatever becomes of a transaction.

use std::sync::Arc;

use base::codes;
use futures_lite::future::block_on;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::fixture::{self, begin, key, row};
use crate::{Engine, EngineError, ReadMode, Table, Transaction};

fn open() -> Arc<Engine> {
    let machine = fixture::machine(1);
    machine.run(fixture::open(machine.env(), fixture::options())).unwrap().unwrap()
}

fn table(engine: &Engine) -> Arc<Table> {
    engine.create_temporary_table(fixture::table_def("t"))
}

async fn get(transaction: &mut Transaction, table: &Arc<Table>, id: i64) -> Option<bytes::Bytes> {
    transaction.get(table, &key(table, id), ReadMode::FOR_UPDATE).await.unwrap()
}

fn is_full(error: &EngineError) -> bool {
    matches!(error, EngineError::Sql(error) if error.code == codes::RECORD_FILE_FULL.0)
}

#[test]
fn what_is_undone_or_dropped_is_given_back() {
    let engine = open();
    let memory = engine.temporary_memory().clone();
    let table = table(&engine);
    block_on(async {
        let mut transaction = begin(&engine);
        for id in 0..100 {
            transaction.insert(&table, row(&table, id, Some(id), Some(id))).await.unwrap();
        }
        let with_undo = memory.used();
        transaction.commit().await.unwrap();
        let committed = memory.used();
        assert!(0 < committed && committed < with_undo, "{committed} of {with_undo}");

        let mut transaction = begin(&engine);
        for id in 0..100 {
            let old = get(&mut transaction, &table, id).await.unwrap();
            match id % 3 {
                0 => transaction.delete(&table, &old).await.unwrap(),
                1 => drop(transaction.update(&table, &old, row(&table, id + 1000, None, None)).await.unwrap()),
                _ => drop(transaction.update(&table, &old, row(&table, id, Some(7), Some(id + 500))).await.unwrap()),
            }
        }
        transaction.insert(&table, row(&table, 200, None, None)).await.unwrap();
        transaction.rollback();
        assert_eq!(memory.used(), committed);

        let mut reader = begin(&engine);
        for id in 0..100 {
            assert_eq!(get(&mut reader, &table, id).await, Some(row(&table, id, Some(id), Some(id))));
        }
        assert_eq!(get(&mut reader, &table, 200).await, None);
    });
    drop(table);
    assert_eq!(memory.used(), 0);
}

#[test]
fn a_duplicate_changes_nothing() {
    let engine = open();
    let memory = engine.temporary_memory().clone();
    let table = table(&engine);
    block_on(async {
        let mut transaction = begin(&engine);
        transaction.insert(&table, row(&table, 1, None, Some(1))).await.unwrap();
        transaction.insert(&table, row(&table, 2, None, Some(2))).await.unwrap();
        let before = memory.used();
        for duplicate in [row(&table, 1, None, Some(3)), row(&table, 3, None, Some(2))] {
            let error = transaction.insert(&table, duplicate).await.unwrap_err();
            assert!(matches!(error, EngineError::DuplicateKey(_)), "{error}");
        }
        let old = get(&mut transaction, &table, 1).await.unwrap();
        let error = transaction.update(&table, &old, row(&table, 1, None, Some(2))).await.unwrap_err();
        assert!(matches!(error, EngineError::DuplicateKey(_)), "{error}");
        assert_eq!(memory.used(), before);
        assert_eq!(get(&mut transaction, &table, 1).await, Some(old));
    });
}

/// At the bound a write is refused whole, and undoing never is.
#[test]
fn full() {
    for seed in 0..20 {
        let engine = open();
        let memory = engine.temporary_memory().clone();
        let table = table(&engine);
        let mut rng = StdRng::seed_from_u64(seed);
        let max = rng.random_range(2_000..40_000);
        memory.set_max(max);
        block_on(async {
            let mut transaction = begin(&engine);
            for id in 0..10 {
                transaction.insert(&table, row(&table, id, Some(id), None)).await.unwrap_or_else(|error| {
                    assert!(is_full(&error), "seed {seed}: {error}");
                });
            }
            transaction.commit().await.unwrap();
            let committed = memory.used();
            let mut transaction = begin(&engine);
            let mut refused = 0;
            for _ in 0..1000 {
                let id = rng.random_range(0..200);
                let new = row(&table, id, Some(rng.random_range(0..9)), None);
                let before = memory.used();
                let result = match get(&mut transaction, &table, id).await {
                    None => transaction.insert(&table, new).await,
                    Some(old) if rng.random_bool(0.3) => transaction.delete(&table, &old).await,
                    Some(old) => transaction.update(&table, &old, new).await.map(drop),
                };
                if let Err(error) = result {
                    assert!(is_full(&error), "seed {seed}: {error}");
                    assert_eq!(memory.used(), before, "seed {seed}");
                    refused += 1;
                }
                assert!(memory.used() <= max, "seed {seed}");
            }
            assert!(refused > 0, "seed {seed}");
            // Lower than what is there: nothing more goes in, and all comes back.
            memory.set_max(0);
            transaction.rollback();
            assert_eq!(memory.used(), committed, "seed {seed}");
        });
        drop(table);
        assert_eq!(memory.used(), 0, "seed {seed}");
    }
}
