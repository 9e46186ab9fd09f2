//! Damaged pages are made good: a secondary index from the rows, the rows from an engine that has the same.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use base::{CommitNumber, ErrorClass, LogPosition};
use bytes::Bytes;
use futures_lite::future;
use io::BoxFuture;
use io::sim::SimMachine;
use parking_lot::Mutex;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use store::{Damage, Direction, RowSum};

use super::fixture::{self, begin, ddl, key, row};
use crate::error::Result;
use crate::{
    Engine, EngineError, Fetched, KeyRange, ReadMode, RestoredEntries, RowSource, SessionHandle, Table, TableMode,
};

const ROWS: i64 = 3000;
const PAGE_SIZE: usize = 16384;

/// Nobody has the rows.
struct Nobody;

impl RowSource for Nobody {
    fn rows<'a>(&'a self, _table: &'a Arc<Table>, _damage: &'a Damage) -> BoxFuture<'a, Result<Fetched>> {
        Box::pin(async { Err(EngineError::NotReady("nobody has them")) })
    }
}

/// Every state there was, as some other server would have it.
#[derive(Clone, Default)]
struct States(Arc<Mutex<BTreeMap<CommitNumber, BTreeMap<Bytes, Bytes>>>>);

/// Gives the rows of one of them.
struct Other<'a> {
    engine: &'a Arc<Engine>,
    states: &'a States,
    /// Between choosing a state and handing over its rows.
    delay: Duration,
}

impl RowSource for Other<'_> {
    fn rows<'a>(&'a self, table: &'a Arc<Table>, damage: &'a Damage) -> BoxFuture<'a, Result<Fetched>> {
        Box::pin(async move {
            let (as_of, _) = self.engine.visible();
            let state =
                self.states.0.lock().range(..=as_of).next_back().map(|(_, rows)| rows.clone()).unwrap_or_default();
            self.engine.env().clock.sleep(self.delay).await;
            let mut entries = RestoredEntries::default();
            let ranges = damage.restored();
            for (key, value) in state.into_iter().filter(|(key, _)| ranges.contains(key)) {
                entries.push(key, value)?;
            }
            Ok(Fetched { restore: entries.into_restore(table.indexes[0].id, damage, as_of), from: "elsewhere".into() })
        })
    }
}

fn table(engine: &Arc<Engine>) -> Arc<Table> {
    engine.catalog().table("test", "t").unwrap().clone()
}

/// Writes these rows without reading the old ones, as whoever applies a log does; what is there then is noted. A row that would come
/// where it cannot be seen whether there is one does not.
async fn write(engine: &Arc<Engine>, states: &States, rows: impl Iterator<Item = (i64, Option<i64>)>) {
    let table = table(engine);
    let mut transaction = begin(engine);
    transaction.lock_table(&table, TableMode::IntentExclusive).await.unwrap();
    let mut state = states.0.lock().last_key_value().map(|(_, rows)| rows.clone()).unwrap_or_default();
    for (id, k) in rows {
        let clustered = key(&table, id);
        let new = k.map(|k| row(&table, id, Some(k), Some(id)));
        let written = match (state.get(&clustered), &new) {
            (Some(old), Some(new)) => transaction.update(&table, old, new.clone()).await.map(drop),
            (Some(old), None) => transaction.delete(&table, old).await.map(drop),
            (None, Some(new)) => transaction.insert(&table, new.clone()).await,
            (None, None) => Ok(()),
        };
        match (written, new) {
            (Ok(()), Some(new)) => drop(state.insert(clustered, new)),
            (Ok(()), None) => drop(state.remove(&clustered)),
            (Err(error), _) => assert_eq!(error.class(), ErrorClass::Corrupt),
        }
    }
    if let Some(place) = transaction.commit().await.unwrap().place {
        states.0.lock().insert(place.commit_number, state);
    }
}

/// The table is exactly the newest state, by every index and every sum.
async fn is_whole(engine: &Arc<Engine>, states: &States) {
    let table = table(engine);
    let expected = states.0.lock().last_key_value().unwrap().1.clone();
    let mut transaction = begin(engine);
    assert_eq!(transaction.check(&table).await.unwrap(), [""; 0]);
    let mut scan = transaction.scan(&table, 0, KeyRange::all(), Direction::Forward, ReadMode::Consistent);
    let mut found = Vec::new();
    while transaction.next_batch(&mut scan, &mut found, 100).await.unwrap() {}
    let found_rows = found.iter().map(|entry| (&entry.key[..], &entry.value[..]));
    assert!(found_rows.eq(expected.iter().map(|(key, value)| (&key[..], &value[..]))), "{} rows", found.len());
    let mut sum = RowSum::default();
    expected.iter().for_each(|(key, value)| sum.add(RowSum::hash_of(key, value)));
    assert_eq!(transaction.sum(&table, &KeyRange::all()).await.unwrap(), sum);
    drop(transaction);
    engine.checkpoint().await.unwrap();
    assert!(engine.damaged_indexes().is_empty() && engine.damage().is_empty());
    let layers = engine.core().views.layers().clone();
    assert_eq!(layers.roots.entries(table.indexes[0].id), expected.len() as u64);
}

/// A leaf of an index, with nothing of it in memory.
fn flip_a_leaf(machine: &SimMachine, index: u64, which: usize) {
    let file = machine.contents("data.ctr").unwrap();
    let is_leaf = |page: &[u8]| page[32] == 1 && page[16..24] == index.to_le_bytes();
    let leaves: Vec<usize> = (2..file.len() / PAGE_SIZE).filter(|at| is_leaf(&file[at * PAGE_SIZE..])).collect();
    assert!(leaves.len() > 3, "{leaves:?}");
    machine.flip_bit("data.ctr", ((leaves[which % leaves.len()] * PAGE_SIZE + 1000) * 8) as u64);
}

/// A server with rows in its trees, whose data file then decays, and which is started again.
fn damaged(machine: &SimMachine, states: &States, index_number: usize, leaf: usize) -> Arc<Engine> {
    let index = machine.run(async {
        let engine = fixture::open(machine.env(), fixture::options()).await.unwrap();
        write(&engine, states, (1..=ROWS).map(|id| (id, Some(1)))).await;
        engine.checkpoint().await.unwrap();
        let index = table(&engine).indexes[index_number].id;
        engine.close().await.unwrap();
        index
    });
    flip_a_leaf(machine, index.unwrap().0, leaf);
    machine.run(fixture::open(machine.env(), fixture::options())).unwrap().unwrap()
}

async fn repair(engine: &Arc<Engine>, number: usize, source: &dyn RowSource) -> Option<crate::IndexRepair> {
    engine.repair_index(&table(engine), number, &SessionHandle::internal(), source).await.unwrap()
}

#[test]
fn a_whole_table_is_left_alone() {
    let machine = SimMachine::new(1);
    let done = machine.run(async {
        let engine = fixture::open(machine.env(), fixture::options()).await.unwrap();
        write(&engine, &States::default(), (1..=ROWS).map(|id| (id, Some(1)))).await;
        engine.checkpoint().await.unwrap();
        for number in 0..3 {
            assert!(repair(&engine, number, &Nobody).await.is_none());
        }
        assert_eq!(engine.restored_ranges(), 0);
    });
    done.unwrap();
}

/// With and without a merge that has set it aside, with changes in memory above, and with nothing going on.
#[test]
fn what_is_damaged_is_restored() {
    for number in [0, 1, 2] {
        for is_set_aside in [false, true] {
            let (machine, states) = (SimMachine::new(2), States::default());
            let engine = damaged(&machine, &states, number, 2);
            let done = machine.run(async {
                if is_set_aside {
                    write(&engine, &states, (1..=ROWS).step_by(3).map(|id| (id, Some(2)))).await;
                    write(&engine, &states, (1..=ROWS).step_by(50).map(|id| (id, None))).await;
                    engine.checkpoint().await.unwrap();
                    assert_eq!(engine.damaged_indexes().len(), 1);
                    write(&engine, &states, (1..=ROWS).step_by(70).map(|id| (id, Some(3)))).await;
                }
                let other = Other { engine: &engine, states: &states, delay: Duration::ZERO };
                let repaired = repair(&engine, number, &other).await.unwrap();
                assert_eq!(repaired.damage.ranges.len(), 1);
                assert_eq!(repaired.damage.is_set_aside, is_set_aside);
                assert_eq!(repaired.result.unwrap(), if number == 0 { "elsewhere" } else { "the table's rows" });
                assert_eq!(engine.restored_ranges(), 1);
                is_whole(&engine, &states).await;
                let rows = states.0.lock().last_key_value().unwrap().1.len();
                if number == 0 && !is_set_aside {
                    assert_eq!(engine.estimate_rows(&table(&engine)), rows as u64);
                }
                engine.close().await.unwrap();
                let engine = fixture::open(machine.env(), fixture::options()).await.unwrap();
                is_whole(&engine, &states).await;
                assert!(repair(&engine, number, &Nobody).await.is_none());
            });
            done.unwrap();
        }
    }
}

#[test]
fn rows_that_nobody_has_stay_damaged_and_are_named() {
    let (machine, states) = (SimMachine::new(3), States::default());
    let engine = damaged(&machine, &states, 0, 2);
    let done = machine.run(async {
        let repaired = repair(&engine, 0, &Nobody).await.unwrap();
        assert_eq!(repaired.result.unwrap_err().to_string(), "nobody has them");
        assert!(repaired.damage.errors[0].to_string().contains("data.ctr"));
        let damage: Vec<usize> = engine.damage().into_iter().map(|(_, number)| number).collect();
        assert_eq!(damage, [0]);
        // Nor can the others be made from rows that cannot be read.
        let found = engine.find_damage(&table(&engine), 0).await.unwrap();
        let entries = engine.entries_of_rows(&table(&engine), 1, &found, SessionHandle::internal()).await;
        assert_eq!(entries.unwrap_err().class(), ErrorClass::Corrupt);
    });
    done.unwrap();
}

/// What was fetched is of a state that the trees have left behind: a change in between would be nowhere.
#[test]
fn a_checkpoint_in_between_is_noticed() {
    let (machine, states) = (SimMachine::new(4), States::default());
    let engine = damaged(&machine, &states, 0, 2);
    let done = machine.run(async {
        let table = table(&engine);
        let damage = engine.find_damage(&table, 0).await.unwrap();
        let other = Other { engine: &engine, states: &states, delay: Duration::ZERO };
        let early = other.rows(&table, &damage).await.unwrap();
        write(&engine, &states, (1..=ROWS).map(|id| (id, Some(5)))).await;
        engine.checkpoint().await.unwrap();
        let refused = engine.restore(early.restore).await;
        assert!(matches!(refused, Err(EngineError::RestoreTooLate)), "{refused:?}");
        assert_eq!(refused.unwrap_err().class(), ErrorClass::Retry);
        assert!(repair(&engine, 0, &other).await.unwrap().result.is_ok());
        is_whole(&engine, &states).await;
    });
    done.unwrap();
}

/// A view that is open keeps what it had; the new trees are for those that come later.
#[test]
fn older_views_are_left_alone() {
    let (machine, states) = (SimMachine::new(5), States::default());
    let engine = damaged(&machine, &states, 0, 2);
    let done = machine.run(async {
        let table = table(&engine);
        let mut old = begin(&engine);
        old.take_snapshot();
        write(&engine, &states, (1..=ROWS).step_by(2).map(|id| (id, Some(4)))).await;
        let other = Other { engine: &engine, states: &states, delay: Duration::ZERO };
        assert!(repair(&engine, 0, &other).await.unwrap().result.is_ok());
        // Its rows are as they were, or cannot be read.
        for id in 1..=ROWS {
            match old.get(&table, &key(&table, id), ReadMode::Consistent).await {
                Ok(found) => assert_eq!(found.unwrap(), row(&table, id, Some(1), Some(id)), "{id}"),
                Err(error) => assert_eq!(error.class(), ErrorClass::Corrupt),
            }
        }
        drop(old);
        // It has noted what it met; whoever looks finds nothing.
        assert_eq!(engine.damage().len(), 1);
        assert!(repair(&engine, 0, &Nobody).await.is_none());
        is_whole(&engine, &states).await;
    });
    done.unwrap();
}

/// Writers and checkpoints go on meanwhile, and rows take their time to come.
#[test]
fn repairs_go_on_beside_commits_and_checkpoints() {
    for seed in 0..20 {
        let (machine, states) = (SimMachine::new(seed), States::default());
        let engine = damaged(&machine, &states, seed as usize % 3, seed as usize);
        let done = machine.run(async {
            let mut rng = StdRng::seed_from_u64(seed);
            let writer = async {
                for k in 10.. {
                    let from = rng.random_range(1..ROWS);
                    let gone = rng.random_bool(0.3);
                    write(&engine, &states, (from..from + 40).map(|id| (id, (!gone).then_some(k)))).await;
                    engine.env().clock.sleep(Duration::from_micros(rng.random_range(0..5000))).await;
                    if rng.random_bool(0.1) {
                        engine.checkpoint().await.unwrap();
                    }
                }
            };
            let repairs = async {
                let delay = Duration::from_micros(seed * 1000);
                let other = Other { engine: &engine, states: &states, delay };
                loop {
                    match repair(&engine, seed as usize % 3, &other).await {
                        None => return,
                        Some(repaired) => match repaired.result {
                            Ok(_) => return,
                            Err(error) => assert_eq!(error.class(), ErrorClass::Retry),
                        },
                    }
                }
            };
            future::or(writer, repairs).await;
            is_whole(&engine, &states).await;
        });
        done.unwrap();
    }
}

/// The power fails at any moment of a repair: afterwards there is the damage, or none, and the log's end either way.
#[test]
fn a_crash_leaves_the_damage_or_what_was_repaired() {
    let seen = [AtomicUsize::new(0), AtomicUsize::new(0)];
    fixture::with_seeds(60, |seed| {
        let (machine, states) = (SimMachine::new(seed), States::default());
        let number = seed as usize % 2;
        let engine = damaged(&machine, &states, number, 3);
        let until = Duration::from_micros(seed * 150);
        let begun = machine.run(async {
            write(&engine, &states, (1..=ROWS).step_by(9).map(|id| (id, Some(2)))).await;
            let other = Other { engine: &engine, states: &states, delay: Duration::ZERO };
            let work = async {
                repair(&engine, number, &other).await.unwrap().result.unwrap();
                std::future::pending().await
            };
            future::or(work, engine.env().clock.sleep(until)).await;
        });
        begun.unwrap();
        drop(engine);
        machine.crash();
        let done = machine.run(async {
            let engine = fixture::open(machine.env(), fixture::options()).await.unwrap();
            let other = Other { engine: &engine, states: &states, delay: Duration::ZERO };
            let repaired = repair(&engine, number, &other).await;
            let was_damaged = repaired.is_some();
            if let Some(repaired) = repaired {
                repaired.result.unwrap();
            }
            is_whole(&engine, &states).await;
            was_damaged
        });
        seen[usize::from(done.unwrap())].fetch_add(1, Ordering::SeqCst);
    });
    assert!(seen.iter().all(|times| times.load(Ordering::SeqCst) > 0), "not damaged, damaged: {seen:?}");
}

/// Of what was set aside before a restart the numbers of rows are wrong, until they are counted again.
#[test]
fn rows_are_counted_again() {
    let (machine, states) = (SimMachine::new(7), States::default());
    let engine = damaged(&machine, &states, 0, 2);
    let done = machine.run(async {
        write(&engine, &states, (1..=ROWS).filter(|id| id % 4 > 0).map(|id| (id, None))).await;
        engine.checkpoint().await.unwrap();
        engine.close().await.unwrap();
        let engine = fixture::open(machine.env(), fixture::options()).await.unwrap();
        let other = Other { engine: &engine, states: &states, delay: Duration::ZERO };
        assert!(engine.estimate_rows(&table(&engine)) > ROWS as u64 / 4);
        assert!(repair(&engine, 0, &other).await.unwrap().result.is_ok());
        assert_eq!(engine.estimate_rows(&table(&engine)), ROWS as u64 / 4);
        is_whole(&engine, &states).await;
    });
    done.unwrap();
}

/// A table that goes meanwhile takes its damage with it.
#[test]
fn a_table_that_is_dropped_needs_no_repair() {
    let (machine, states) = (SimMachine::new(8), States::default());
    let engine = damaged(&machine, &states, 0, 2);
    let done = machine.run(async {
        let table = table(&engine);
        let damage = engine.find_damage(&table, 0).await.unwrap();
        let other = Other { engine: &engine, states: &states, delay: Duration::ZERO };
        let rows = other.rows(&table, &damage).await.unwrap();
        ddl(&engine, "drop t").await.unwrap();
        let _ = engine.restore(rows.restore).await;
        engine.checkpoint().await.unwrap();
        assert!(engine.damage().is_empty());
        let index = table.indexes[0].id;
        assert!(engine.store().roots().indexes().all(|other| other != index), "its tree is gone");
        assert!(engine.visible().1 > LogPosition::default());
    });
    done.unwrap();
}
