//! Random histories against a map: several sessions at once, checkpoints in between, restarts; every snapshot that was read has to
//! be the state of its number.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use base::CommitNumber;
use io::sim::SimMachine;
use parking_lot::Mutex;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use types::Value;

use super::fixture::{self, begin, key, row, show};
use crate::error::Result;
use crate::{
    Direction, Engine, EngineError, EngineOptions, Isolation, KeyRange, ReadMode, Table, TableMode, Transaction,
};

/// Few keys, so that transactions meet.
const IDS: i64 = 12;
const UNIQUE_KEYS: i64 = 8;
const SESSIONS: usize = 4;
const TRANSACTIONS_PER_SESSION: usize = 25;
const LIVES: usize = 3;

/// Rows by id, as text.
type State = BTreeMap<i64, String>;

/// What was seen and done, to be checked when every number is known.
#[derive(Default)]
struct History {
    /// Writes of each transaction: id, and the row or nothing.
    commits: BTreeMap<CommitNumber, Vec<(i64, Option<String>)>>,
    /// Whole tables seen, by the number of the view.
    snapshots: Vec<(CommitNumber, State)>,
}

impl History {
    fn state_at(&self, number: CommitNumber) -> State {
        let mut state = State::new();
        for (id, row) in self.commits.range(..=number).flat_map(|(_, writes)| writes) {
            match row {
                Some(row) => state.insert(*id, row.clone()),
                None => state.remove(id),
            };
        }
        state
    }
}

impl History {
    /// Every view that was read was a state; the state at a number.
    fn check_snapshots(&self, number: CommitNumber) -> State {
        for (number, seen) in &self.snapshots {
            assert_eq!(*seen, self.state_at(*number), "a view at {number}");
        }
        self.state_at(number)
    }
}

struct Worker {
    engine: Arc<Engine>,
    table: Arc<Table>,
    rng: StdRng,
    history: Arc<Mutex<History>>,
}

impl Worker {
    async fn run(mut self) {
        for _ in 0..TRANSACTIONS_PER_SESSION {
            match self.transaction().await {
                Ok(()) | Err(EngineError::Deadlock | EngineError::LockWaitTimeout) => {}
                Err(error) => panic!("{error}"),
            }
            let pause = Duration::from_micros(self.rng.random_range(0..3000));
            self.engine.env().clock.sleep(pause).await;
        }
    }

    async fn transaction(&mut self) -> Result<()> {
        let mut transaction = begin(&self.engine);
        transaction.options_mut().lock_wait_timeout = Duration::from_millis(300);
        if self.rng.random_bool(0.3) {
            transaction.options_mut().isolation = Isolation::ReadCommitted;
        }
        transaction.lock_table(&self.table, TableMode::IntentExclusive).await?;
        let mut writes = Vec::new();
        if self.rng.random_bool(0.4) {
            self.read_all(&mut transaction).await?;
        }
        for _ in 0..self.rng.random_range(0..4) {
            self.statement(&mut transaction, &mut writes).await?;
        }
        if self.rng.random_bool(0.3) {
            self.check_own(&mut transaction).await?;
        }
        if self.rng.random_bool(0.1) {
            return Ok(());
        }
        if let Some(place) = transaction.commit().await?.place {
            self.history.lock().commits.insert(place.commit_number, writes);
        }
        Ok(())
    }

    /// Reads the whole table before anything was written, now or a while later, by one of the indexes.
    async fn read_all(&mut self, transaction: &mut Transaction) -> Result<()> {
        let (number, _) = transaction.take_snapshot();
        let pause = if self.rng.random_bool(0.2) { 1_000_000 } else { 2000 };
        self.engine.env().clock.sleep(Duration::from_micros(self.rng.random_range(0..pause))).await;
        let state = scan(transaction, &self.table, ReadMode::Consistent, self.rng.random_range(1..9)).await?;
        for id in 1..=IDS {
            let found = transaction.get(&self.table, &key(&self.table, id), ReadMode::Consistent).await?;
            assert_eq!(found.map(|row| show(&self.table, &row)).as_ref(), state.get(&id), "row {id} by its key");
        }
        for index_number in [1, 2] {
            check_index(transaction, &self.table, index_number, &state).await?;
        }
        self.history.lock().snapshots.push((number, state));
        Ok(())
    }

    /// With its own writes over the view, rows and indexes of a transaction say the same.
    async fn check_own(&mut self, transaction: &mut Transaction) -> Result<()> {
        transaction.take_snapshot();
        let state = scan(transaction, &self.table, ReadMode::Consistent, 5).await?;
        for index_number in [1, 2] {
            check_index(transaction, &self.table, index_number, &state).await?;
        }
        Ok(())
    }

    async fn statement(
        &mut self,
        transaction: &mut Transaction,
        writes: &mut Vec<(i64, Option<String>)>,
    ) -> Result<()> {
        transaction.start_statement();
        let savepoint = transaction.savepoint();
        let count = writes.len();
        let result = self.change(transaction, writes).await;
        match result {
            Err(EngineError::DuplicateKey(_)) => {
                transaction.rollback_statement();
                writes.truncate(count);
                return Ok(());
            }
            Err(error) => return Err(error),
            Ok(()) => {}
        }
        if self.rng.random_bool(0.1) {
            transaction.rollback_to(savepoint);
            writes.truncate(count);
        }
        Ok(())
    }

    async fn change(&mut self, transaction: &mut Transaction, writes: &mut Vec<(i64, Option<String>)>) -> Result<()> {
        let table = self.table.clone();
        let id = self.rng.random_range(1..=IDS);
        let mut k = Some(self.rng.random_range(0..5));
        let u = self.rng.random_bool(0.7).then(|| self.rng.random_range(0..UNIQUE_KEYS));
        let found = transaction.get(&table, &key(&table, id), ReadMode::FOR_UPDATE).await?;
        if let Some(old) = &found
            && self.rng.random_bool(0.3)
            && let Value::Int(as_before) = table.codec.row.decode_column(old, 1).unwrap()
        {
            // Now and then an index is left alone.
            k = Some(as_before);
        }
        let new = row(&table, id, k, u);
        match found {
            None => transaction.insert(&table, new.clone()).await?,
            Some(old) if self.rng.random_bool(0.3) => {
                transaction.delete(&table, &old).await?;
                writes.push((id, None));
                return Ok(());
            }
            Some(old) if self.rng.random_bool(0.2) => {
                let moved = row(&table, self.rng.random_range(1..=IDS), k, u);
                let moved_id = decode_id(&table, &moved);
                transaction.update(&table, &old, moved.clone()).await?;
                writes.push((id, None));
                writes.push((moved_id, Some(show(&table, &moved))));
                return Ok(());
            }
            Some(old) => drop(transaction.update(&table, &old, new.clone()).await?),
        }
        writes.push((id, Some(show(&table, &new))));
        Ok(())
    }
}

fn decode_id(table: &Table, row: &bytes::Bytes) -> i64 {
    match table.codec.row.decode_column(row, 0).unwrap() {
        Value::Int(id) => id,
        other => panic!("{other:?}"),
    }
}

async fn scan(transaction: &mut Transaction, table: &Arc<Table>, mode: ReadMode, batch: usize) -> Result<State> {
    let direction = if batch.is_multiple_of(2) { Direction::Forward } else { Direction::Backward };
    let mut scan = transaction.scan(table, 0, KeyRange::all(), direction, mode);
    let (mut state, mut entries) = (State::new(), Vec::new());
    while transaction.next_batch(&mut scan, &mut entries, batch).await? {
        for entry in entries.drain(..) {
            let before = state.insert(decode_id(table, &entry.value), show(table, &entry.value));
            assert_eq!(before, None, "a row was given twice");
        }
    }
    Ok(state)
}

/// A secondary index has exactly the entries of the rows.
async fn check_index(
    transaction: &mut Transaction,
    table: &Arc<Table>,
    index_number: usize,
    state: &State,
) -> Result<()> {
    let mut scan = transaction.scan(table, index_number, KeyRange::all(), Direction::Forward, ReadMode::Consistent);
    let (mut found, mut entries) = (Vec::new(), Vec::new());
    while transaction.next_batch(&mut scan, &mut entries, 3).await? {
        for entry in entries.drain(..) {
            let mut values = Vec::new();
            table.codec.indexes[index_number].layout.decode(&entry.value, &mut values)?;
            found.push(fixture::show_values(&values));
        }
    }
    let mut expected: Vec<String> = state
        .values()
        .map(|row| {
            let parts: Vec<&str> = row.split(':').collect();
            format!("{}:{}", parts[index_number], parts[0])
        })
        .collect();
    found.sort();
    expected.sort();
    assert_eq!(found, expected, "index {index_number}");
    Ok(())
}

async fn check(engine: &Arc<Engine>, history: &Mutex<History>) {
    let table = engine.catalog().table("test", "t").unwrap().clone();
    let mut transaction = begin(engine);
    let (number, _) = transaction.take_snapshot();
    let state = scan(&mut transaction, &table, ReadMode::Consistent, 5).await.unwrap();
    let expected = history.lock().check_snapshots(number);
    assert_eq!(state, expected, "at {number}");
    let state = scan(&mut transaction, &table, ReadMode::FOR_SHARE, 4).await.unwrap();
    assert_eq!(state, expected, "locking, at {number}");
    for index_number in [1, 2] {
        check_index(&mut transaction, &table, index_number, &state).await.unwrap();
    }
}

/// One life of the server.
async fn live(machine: &SimMachine, seed: u64, options: EngineOptions, history: &Arc<Mutex<History>>) {
    let engine = fixture::open(machine.env(), options).await.unwrap();
    check(&engine, history).await;
    fixture::compress(&engine, seed / 10 + seed).await.unwrap();
    let table = engine.catalog().table("test", "t").unwrap().clone();
    let left = Arc::new(Mutex::new(SESSIONS));
    for session in 0..SESSIONS as u64 {
        let worker = Worker {
            engine: engine.clone(),
            table: table.clone(),
            rng: StdRng::seed_from_u64(seed * 100 + session),
            history: history.clone(),
        };
        let left = left.clone();
        let task = async move {
            worker.run().await;
            *left.lock() -= 1;
        };
        engine.env().spawner.spawn("worker", Box::pin(task));
    }
    let mut rng = StdRng::seed_from_u64(seed);
    while *left.lock() > 0 {
        engine.env().clock.sleep(Duration::from_micros(rng.random_range(0..20_000))).await;
        if rng.random_bool(0.3) {
            engine.checkpoint().await.unwrap();
        }
    }
    check(&engine, history).await;
    let is_small = engine.options().transaction_memory_bytes < 1000;
    assert_eq!(engine.large_transactions() > 0, is_small, "what is too large is put away, and nothing else");
    if rng.random_bool(0.5) {
        engine.close().await.unwrap();
    }
}

fn history(seed: u64) {
    let machine = SimMachine::new(seed);
    let history = Arc::new(Mutex::new(History::default()));
    for life in 0..LIVES as u64 {
        let mut options = fixture::options();
        if seed % 2 == 1 {
            options.memtable_bytes = 8 << 10;
        }
        // Everything goes to files, what is larger than a row or two does, nothing does.
        options.transaction_memory_bytes = [0, 900, 16 << 20][seed as usize % 3];
        options.install_memory_bytes = options.transaction_memory_bytes;
        machine.run(live(&machine, seed * 10 + life, options, &history)).unwrap();
        // Everything was acknowledged, so even a power failure loses nothing.
        machine.crash();
    }
    let engine = machine.run(fixture::open(machine.env(), fixture::options())).unwrap().unwrap();
    machine.run(check(&engine, &history)).unwrap();
}

#[test]
fn every_view_is_a_state_of_the_log() {
    fixture::with_seeds(12, history);
}
