//! Sums of ranges against reading them: any history, under views of any age, with own writes, values out of line, checkpoints in
//! between and transactions that do not stay in memory.

use std::ops::Bound;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use io::sim::SimMachine;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use types::Value;

use super::fixture::{self, begin, key};
use crate::{Direction, Engine, EngineOptions, KeyRange, ReadMode, RowSum, Table, TableMode, Transaction};

const IDS: i64 = 400;
const STEPS: usize = 60;
const VIEWS_MAX: usize = 4;

type Rows = Vec<(Bytes, Bytes)>;

async fn all_rows(transaction: &mut Transaction, table: &Arc<Table>) -> Rows {
    let mut scan = transaction.scan(table, 0, KeyRange::all(), Direction::Forward, ReadMode::Consistent);
    let (mut rows, mut batch) = (Rows::new(), Vec::new());
    while transaction.next_batch(&mut scan, &mut batch, 100).await.unwrap() {
        rows.extend(batch.drain(..).map(|entry| (Bytes::copy_from_slice(&entry.key), entry.value)));
    }
    rows
}

fn sum_of<'a>(rows: impl IntoIterator<Item = &'a (Bytes, Bytes)>) -> RowSum {
    let mut sum = RowSum::default();
    rows.into_iter().for_each(|(key, value)| sum.add(RowSum::hash_of(key, value)));
    sum
}

fn contains(range: &KeyRange, key: &Bytes) -> bool {
    std::ops::RangeBounds::contains(&(range.lower.clone(), range.upper.clone()), key)
}

fn random_range(table: &Table, rng: &mut StdRng) -> KeyRange {
    let mut bound = || {
        let key = key(table, rng.random_range(-5..IDS + 5));
        match rng.random_range(0..4) {
            0 => Bound::Unbounded,
            1 => Bound::Excluded(key),
            _ => Bound::Included(key),
        }
    };
    KeyRange { lower: bound(), upper: bound() }
}

/// The sums of some ranges, and of the parts into which they can be cut.
async fn check(transaction: &mut Transaction, table: &Arc<Table>, rng: &mut StdRng) {
    let rows = all_rows(transaction, table).await;
    assert_eq!(transaction.sum(table, &KeyRange::all()).await.unwrap(), sum_of(&rows));
    for _ in 0..8 {
        let range = random_range(table, rng);
        let inside: Rows = rows.iter().filter(|(key, _)| contains(&range, key)).cloned().collect();
        assert_eq!(transaction.sum(table, &range).await.unwrap(), sum_of(&inside), "{range:?}");
        let most = rng.random_range(1..20);
        let cuts = transaction.cuts(table, &range, most).await.unwrap();
        assert!(cuts.len() <= most && cuts.is_sorted_by(|a, b| a < b));
        assert!(inside.len() < 2 || !cuts.is_empty(), "{} rows cannot be cut", inside.len());
        let mut lower = range.lower.clone();
        let mut parts = RowSum::default();
        for upper in cuts.into_iter().map(Bound::Excluded).chain([range.upper.clone()]) {
            let next = if let Bound::Excluded(cut) = &upper { Bound::Included(cut.clone()) } else { upper.clone() };
            let part = transaction.sum(table, &KeyRange { lower, upper }).await.unwrap();
            parts = RowSum { rows: parts.rows + part.rows, hash: parts.hash.wrapping_add(part.hash) };
            lower = next;
        }
        assert_eq!(parts, sum_of(&inside), "{range:?} in parts");
        check_snapshot(transaction, table, &range, inside, rng).await;
    }
}

/// The rows of a range, leaf by leaf or one by one, as the transaction reads them, and if it has no own writes as others may read for it.
async fn check_snapshot(
    transaction: &mut Transaction,
    table: &Arc<Table>,
    range: &KeyRange,
    mut expected: Rows,
    rng: &mut StdRng,
) {
    let direction = if rng.random_bool(0.5) { Direction::Forward } else { Direction::Backward };
    let max = rng.random_range(1..50);
    let count = expected.len();
    if direction == Direction::Backward {
        expected.reverse();
    }
    let (mut rows, mut found) = (crate::Rows::default(), Rows::new());
    let row =
        |rows: &crate::Rows, row| (Bytes::copy_from_slice(rows.key(row)), Bytes::copy_from_slice(rows.value(row)));
    let mut scan = transaction.scan(table, 0, range.clone(), direction, ReadMode::Consistent);
    while transaction.next_rows(&mut scan, &mut rows, max).await.unwrap() {
        found.extend((0..rows.len()).map(|at| row(&rows, at)));
    }
    assert_eq!(found, expected, "{range:?}, {direction:?}");
    let Some(snapshot) = transaction.snapshot_of(table).unwrap() else { return };
    assert_eq!(snapshot.count(0, range).await.unwrap(), count as u64, "{range:?}");
    let mut scan = snapshot.scan(0, range.clone(), direction);
    found.clear();
    while scan.next_rows(&mut rows, max).await.unwrap() {
        found.extend((0..rows.len()).map(|at| (row(&rows, at).0, rows.value_bytes(at))));
    }
    assert_eq!(found, expected, "{range:?}, {direction:?}, of a snapshot");
}

fn random_row(table: &Table, id: i64, rng: &mut StdRng) -> Bytes {
    let size = match rng.random_range(0..20) {
        0 => rng.random_range(4000..60_000),
        _ => rng.random_range(0..200),
    };
    let data: Vec<u8> = (0..size).map(|_| rng.random()).collect();
    let values = [Value::Int(id), Value::Int(rng.random_range(0..9)), Value::Bytes(data.into())];
    table.codec.row.encode(&values).unwrap()
}

/// A transaction of some rows; looked at before its end, which is a commit or not.
async fn change(engine: &Arc<Engine>, table: &Arc<Table>, rng: &mut StdRng) {
    let mut transaction = begin(engine);
    transaction.lock_table(table, TableMode::IntentExclusive).await.unwrap();
    let count = if rng.random_bool(0.2) { 150 } else { rng.random_range(1..20) };
    for _ in 0..count {
        let id = rng.random_range(1..=IDS);
        let new = random_row(table, id, rng);
        match transaction.get(table, &key(table, id), ReadMode::FOR_UPDATE).await.unwrap() {
            None => transaction.insert(table, new).await.unwrap(),
            Some(old) if rng.random_bool(0.4) => transaction.delete(table, &old).await.unwrap(),
            Some(old) => drop(transaction.update(table, &old, new).await.unwrap()),
        }
    }
    if rng.random_bool(0.3) {
        check(&mut transaction, table, rng).await;
    }
    if rng.random_bool(0.9) {
        transaction.commit().await.unwrap();
    }
}

async fn live(engine: Arc<Engine>, rng: &mut StdRng) {
    if engine.catalog().table("test", "blobs").is_none() {
        fixture::ddl(&engine, "create blobs").await.unwrap();
    }
    let table = engine.catalog().table("test", "blobs").unwrap().clone();
    let mut views: Vec<Transaction> = Vec::new();
    for _ in 0..STEPS {
        match rng.random_range(0..10) {
            0..5 => change(&engine, &table, rng).await,
            5 if views.len() < VIEWS_MAX => {
                let mut view = begin(&engine);
                view.take_snapshot();
                views.push(view);
            }
            6 if !views.is_empty() => drop(views.swap_remove(rng.random_range(0..views.len()))),
            7 => drop(engine.checkpoint().await.unwrap()),
            8 => {
                // One that goes on meanwhile.
                let other = engine.clone();
                let task = async move { drop(other.checkpoint().await) };
                engine.env().spawner.spawn("checkpoint", Box::pin(task));
                engine.env().clock.sleep(Duration::from_micros(rng.random_range(0..3000))).await;
            }
            _ if !views.is_empty() => {
                let view = rng.random_range(0..views.len());
                check(&mut views[view], &table, rng).await;
            }
            _ => check(&mut begin(&engine), &table, rng).await,
        }
    }
    for view in &mut views {
        check(view, &table, rng).await;
    }
}

fn history(seed: u64) {
    let machine = SimMachine::new(seed);
    let mut rng = StdRng::seed_from_u64(seed);
    for _ in 0..2 {
        let mut options = EngineOptions { max_binlog_bytes: 1 << 20, ..fixture::options() };
        options.transaction_memory_bytes = [16 << 20, 4 << 10, 0][seed as usize % 3];
        options.install_memory_bytes = options.transaction_memory_bytes;
        let run = async { live(fixture::open(machine.env(), options).await.unwrap(), &mut rng).await };
        machine.run(run).unwrap();
        machine.crash();
    }
}

#[test]
fn sums_are_those_of_the_rows() {
    fixture::with_seeds(9, history);
}
