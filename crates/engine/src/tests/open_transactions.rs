//! As many transactions open at once as there can be connections, each of which has written.

use io::sim::SimMachine;

use super::fixture::{self, begin, count, key, row};
use crate::lock::LockStats;
use crate::{ReadMode, TableMode};

const OPEN: i64 = 100_000;

#[test]
fn a_hundred_thousand_that_have_each_written_a_row() {
    let machine = SimMachine::new(1);
    let run = async {
        let engine = fixture::open(machine.env(), fixture::options()).await.unwrap();
        let table = engine.catalog().table("test", "t").unwrap().clone();
        let mut open = Vec::new();
        for id in 1..=OPEN {
            let mut transaction = begin(&engine);
            transaction.lock_table(&table, TableMode::IntentExclusive).await.unwrap();
            transaction.insert(&table, row(&table, id, Some(id % 7), Some(id))).await.unwrap();
            open.push(transaction);
        }
        assert!(engine.locks().stats().records >= OPEN as usize);
        assert_eq!(count(&engine, &table, 0).await, 0);
        engine.checkpoint().await.unwrap();
        // Each sees its own row and nobody else's.
        for (id, transaction) in (1..).zip(&mut open).step_by(1000) {
            for (other, is_there) in [(id, true), (id % OPEN + 1, false)] {
                let found = transaction.get(&table, &key(&table, other), ReadMode::Consistent).await.unwrap();
                assert_eq!(found.is_some(), is_there, "{id} sees {other}");
            }
        }
        for (number, transaction) in open.into_iter().enumerate() {
            match number % 2 {
                0 => drop(transaction.commit().await.unwrap()),
                _ => transaction.rollback(),
            }
        }
        assert_eq!(count(&engine, &table, 0).await, OPEN as usize / 2);
        assert_eq!((engine.locks().stats(), engine.read_views()), (LockStats::default(), 0));
    };
    machine.run(run).unwrap();
}
