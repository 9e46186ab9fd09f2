//! What clients do: transactions that write themselves into the ledger and overwrite a few cells, and readers that look at
//! everything at once.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use base::{CommitNumber, codes};
use bytes::Bytes;
use engine::{
    Direction, Engine, EngineError, Entry, Isolation, KeyRange, ReadMode, RowSum, SessionHandle, Table, Transaction,
    TxnOptions,
};
use io::sim::SimWorld;
use parking_lot::Mutex;
use types::Value;

use crate::model::State;
use crate::tables::{CELLS, LEDGER, find, numbers, row};

/// Cells there can be.
const CELLS_MAX: u64 = 12;
/// Bytes that memtables may have above their bound: of transactions that were let in together.
const MEMORY_SLACK: usize = 128 << 10;
/// Most rows that a scan takes at once.
const BATCH: usize = 7;

/// What clients know, outside of the machine that crashes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    /// Acknowledged transactions with the commit number that was told.
    pub(crate) acknowledged: BTreeMap<u64, u64>,
    /// Transactions that may or may not be in the log.
    pub(crate) attempted: BTreeMap<u64, ()>,
    /// What readers saw, at which commit number.
    pub(crate) seen: Vec<(u64, State)>,
    /// Highest number that any reader saw or client was told: the state never goes back behind it.
    pub(crate) newest: u64,
    /// Why somebody could not go on.
    pub(crate) stopped: Option<String>,
    next: u64,
}

/// Shared by the clients of one simulation.
pub(crate) type SharedKnown = Arc<Mutex<Known>>;

/// A client that writes until it is dropped or the engine stops.
pub(crate) async fn write(engine: Arc<Engine>, world: SimWorld, known: SharedKnown) {
    loop {
        engine.env().clock.sleep(Duration::from_micros(world.below(400))).await;
        let id = {
            let mut known = known.lock();
            known.next += 1;
            let id = known.next;
            known.attempted.insert(id, ());
            id
        };
        match write_one(&engine, &world, id).await {
            Ok(Some(number)) => {
                let mut known = known.lock();
                known.acknowledged.insert(id, number.0);
                known.newest = known.newest.max(number.0);
            }
            Ok(None) => {}
            Err(error) if is_to_be_tried_again(&error) => {}
            // The engine has stopped; the checks come after the restart.
            Err(error) => {
                known.lock().stopped.get_or_insert(error.to_string());
                return;
            }
        }
    }
}

fn is_to_be_tried_again(error: &EngineError) -> bool {
    // What it writes finds no room on the disk.
    if let EngineError::Sql(error) = error {
        return error.code == codes::ERROR_ON_WRITE.0;
    }
    matches!(
        error,
        EngineError::Deadlock | EngineError::LockWaitTimeout | EngineError::DuplicateKey { .. } | EngineError::Full(_)
    )
}

/// One transaction; its number if it was committed.
async fn write_one(engine: &Arc<Engine>, world: &SimWorld, id: u64) -> Result<Option<CommitNumber>, EngineError> {
    let mut options = TxnOptions::new(SessionHandle::internal());
    if world.below(3) == 0 {
        options.isolation = Isolation::ReadCommitted;
    }
    options.lock_wait_timeout = Duration::from_millis(50);
    let catalog = engine.catalog();
    let (ledger, cells) = (find(&catalog, LEDGER), find(&catalog, CELLS));
    let mut transaction = engine.begin(options);
    transaction.start_statement();
    let note: Bytes = vec![b'n'; world.below(400) as usize].into();
    transaction.insert(&ledger, row(&ledger.codec.row, &[Value::UInt(id), Value::Str(note)])).await?;
    for _ in 0..world.below(4) {
        let savepoint = transaction.savepoint();
        write_cell(&mut transaction, &cells, world, id).await?;
        if world.below(6) == 0 {
            transaction.rollback_to(savepoint);
        }
    }
    if world.below(10) == 0 {
        transaction.rollback();
        return Ok(None);
    }
    let commit = transaction.commit().await?;
    Ok(commit.place.map(|place| place.commit_number))
}

async fn write_cell(
    transaction: &mut Transaction,
    cells: &Arc<Table>,
    world: &SimWorld,
    id: u64,
) -> Result<(), EngineError> {
    let cell = world.below(CELLS_MAX);
    let unique = match world.below(3) {
        0 => Value::Null,
        _ => Value::UInt(world.below(CELLS_MAX * 2)),
    };
    transaction.start_statement();
    let new = row(&cells.codec.row, &[Value::UInt(cell), Value::UInt(id), unique]);
    let key = cells.codec.clustered_key(&new).expect("a row that was just made");
    let result = match transaction.get(cells, &key, ReadMode::FOR_UPDATE).await? {
        None => transaction.insert(cells, new).await,
        Some(old) if world.below(5) == 0 => transaction.delete(cells, &old).await,
        Some(old) => transaction.update(cells, &old, new).await.map(drop),
    };
    if let Err(EngineError::DuplicateKey { .. }) = result {
        transaction.rollback_statement();
        return Ok(());
    }
    result
}

/// A reader that looks until it is dropped or the engine stops.
pub(crate) async fn look(engine: Arc<Engine>, world: SimWorld, known: SharedKnown) {
    loop {
        engine.env().clock.sleep(Duration::from_micros(world.below(3_000))).await;
        let mut transaction = engine.begin(TxnOptions::new(SessionHandle::internal()));
        let (number, _) = transaction.take_snapshot();
        {
            let known = known.lock();
            assert!(
                number.0 >= known.newest,
                "seed {}: a read view at {number} behind {}, which was seen",
                world.seed(),
                known.newest
            );
        }
        check_memory(&engine, &world);
        // A long reader keeps its state while the others go on and checkpoints pass.
        let pause = if world.below(4) == 0 { 20_000 } else { 200 };
        let Ok(first) = state_of(&mut transaction, &world).await else { return };
        engine.env().clock.sleep(Duration::from_micros(world.below(pause))).await;
        let Ok(second) = state_of(&mut transaction, &world).await else { return };
        assert_eq!(first, second, "seed {}: a read view at {number} changed under its reader", world.seed());
        let mut known = known.lock();
        known.newest = known.newest.max(number.0);
        known.seen.push((number.0, first));
    }
}

/// What is in memory is bounded; each writer may have one transaction more than fits.
fn check_memory(engine: &Engine, world: &SimWorld) {
    let (bytes, bound) = (engine.memtable_bytes().0, engine.options().memtable_bytes);
    let seed = world.seed();
    assert!(bytes <= bound + MEMORY_SLACK, "seed {seed}: {bytes} bytes in memory, of {bound}");
}

/// All rows of a table, of which the trees have to know the sum.
async fn scan_with_sum(
    transaction: &mut Transaction,
    table: &Arc<Table>,
    world: &SimWorld,
) -> Result<Vec<Entry>, EngineError> {
    let rows = scan(transaction, table, 0, world).await?;
    let mut sum = RowSum::default();
    rows.iter().for_each(|entry| sum.add(RowSum::hash_of(&entry.key, &entry.value)));
    let seed = world.seed();
    assert_eq!(transaction.sum(table, &KeyRange::all()).await?, sum, "seed {seed}: the sum of {}", table.def.name);
    Ok(rows)
}

/// Everything as a transaction sees it; the secondary indexes must say the same as the rows.
pub(crate) async fn state_of(transaction: &mut Transaction, world: &SimWorld) -> Result<State, EngineError> {
    let catalog = transaction.engine().catalog();
    let (ledger, cells) = (find(&catalog, LEDGER), find(&catalog, CELLS));
    let mut state = State::default();
    for entry in scan_with_sum(transaction, &ledger, world).await? {
        let id = numbers(&ledger.codec.row, &entry.value)[0].expect("the key is not NULL");
        assert!(state.ledger.insert(id, ()).is_none(), "ledger row {id} twice");
    }
    for entry in scan_with_sum(transaction, &cells, world).await? {
        let values = numbers(&cells.codec.row, &entry.value);
        state.cells.insert(values[0].expect("a key"), (values[1].expect("not NULL"), values[2]));
    }
    for (index, column) in [(1, 1), (2, 2)] {
        let mut by_index = Vec::new();
        for entry in scan(transaction, &cells, index, world).await? {
            by_index.push(entry.key);
        }
        let mut by_rows: Vec<Bytes> = Vec::new();
        for (cell, (writer, unique)) in &state.cells {
            let unique = unique.map_or(Value::Null, Value::UInt);
            let image = row(&cells.codec.row, &[Value::UInt(*cell), Value::UInt(*writer), unique]);
            by_rows.push(cells.codec.secondary_entry(index, &image).expect("a row that was just made").0);
        }
        by_rows.sort();
        let by_index: Vec<Bytes> = by_index.iter().map(|key| Bytes::copy_from_slice(key)).collect();
        let seed = world.seed();
        assert_eq!(by_index, by_rows, "seed {seed}: index on column {column} and rows differ");
    }
    Ok(state)
}

async fn scan(
    transaction: &mut Transaction,
    table: &Arc<Table>,
    index: usize,
    world: &SimWorld,
) -> Result<Vec<Entry>, EngineError> {
    let direction = if world.below(2) == 0 { Direction::Forward } else { Direction::Backward };
    let mut scan = transaction.scan(table, index, KeyRange::all(), direction, ReadMode::Consistent);
    let mut entries = Vec::new();
    while transaction.next_batch(&mut scan, &mut entries, BATCH).await? {}
    if direction == Direction::Backward {
        entries.reverse();
    }
    Ok(entries)
}
