//! Temporary tables: tables of one session, in memory, that never meet the log.
//!
//! A temporary table is a [`Table`] with [`TemporaryRows`]. [`crate::Transaction`] reads and writes them where they are, without
//! locks, versions or read views: nobody else can reach them. What a transaction has changed it remembers in an
//! [`TemporaryUndo`], so that savepoints, statements and transactions are taken back as with other tables.
//!
//! # Invariants
//! - An entry of a secondary index is there exactly if its row is.
//! - Nothing is added beyond [`TemporaryMemory::set_max`] bytes of all temporary tables, of all sessions. What open transactions
//!   remember of changed rows is among them, with all that undoing it would put back: so undoing never lacks memory.
//! - Undone, dropped or of no use any more, bytes are given back.
//! - Ids begin at [`FIRST_ID`], where no table of a catalog ever is.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use base::{Cancel, CommitNumber, IndexId, SqlError, TableId, codes};
use bytes::Bytes;
use io::ThreadTurn;
use parking_lot::Mutex;
use types::TableDef;

use crate::catalog::{AlterTable, Table, TableShared};
use crate::engine::Engine;
use crate::error::{DuplicateKey, EngineError, Result};
use crate::memtable::Key;
use crate::txn::{Direction, Entry, KeyRange};

/// The ids of temporary tables and their indexes.
const FIRST_ID: u64 = 1 << 62;
/// What a tree needs for an entry besides key and value, about.
const ENTRY_BYTES: u64 = 64;
/// What a transaction remembers of a write besides the key and what was there before, about.
const UNDO_BYTES: u64 = 96;
/// Rows that ALTER TABLE copies before it looks whether somebody wants it to end.
const COPIED_AT_ONCE: usize = 1024;
/// `temptable_max_ram` unless it is set.
const MAX_BYTES: u64 = 1 << 30;

/// The memory that all temporary tables share.
#[derive(Debug)]
pub struct TemporaryMemory {
    used: AtomicU64,
    max: AtomicU64,
    next_id: AtomicU64,
}

impl Default for TemporaryMemory {
    fn default() -> Self {
        TemporaryMemory { used: AtomicU64::new(0), max: AtomicU64::new(MAX_BYTES), next_id: AtomicU64::new(FIRST_ID) }
    }
}

impl TemporaryMemory {
    /// The most bytes that rows and indexes may take (`temptable_max_ram`).
    pub fn set_max(&self, bytes: u64) {
        self.max.store(bytes, Ordering::Relaxed);
    }

    /// Bytes that are taken now.
    pub fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    /// A number that was never given: for ids, and for versions of catalogs that show temporary tables.
    pub fn next_number(&self) -> u64 {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }

    /// Takes bytes for others that are of no use any more. Who needs no more than before is never refused, even if the bound is lower by
    /// now.
    fn exchange(&self, freed: u64, needed: u64) -> bool {
        let max = self.max.load(Ordering::Relaxed);
        let exchanged = |used: u64| {
            let after = used.saturating_sub(freed).checked_add(needed)?;
            (after <= max || needed <= freed).then_some(after)
        };
        self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, exchanged).is_ok()
    }

    fn give_back(&self, bytes: u64) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// The rows of a temporary table, and the entries of its secondary indexes.
#[derive(Debug)]
pub(crate) struct TemporaryRows {
    memory: Arc<TemporaryMemory>,
    trees: Mutex<Trees>,
}

#[derive(Debug, Default)]
struct Trees {
    /// By position of the index.
    indexes: Vec<BTreeMap<Bytes, Bytes>>,
    bytes: u64,
    /// Grows when all rows go at once: what was remembered of them before is void.
    generation: u64,
}

/// A write that can be taken back.
#[derive(Debug)]
pub(crate) struct Undo {
    table: Arc<Table>,
    generation: u64,
    key: Bytes,
    /// The row that was there before.
    before: Option<Bytes>,
    /// What is taken for it, and for the entries of `before`.
    bytes: u64,
}

/// What a transaction has changed in temporary tables, in order. Dropped, it takes all of that back.
#[derive(Debug, Default)]
pub(crate) struct TemporaryUndo(Vec<Undo>);

impl TemporaryUndo {
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The transaction is committed.
    pub(crate) fn keep(&mut self) {
        self.0.clear();
    }

    /// Takes back all but the first `length` writes.
    pub(crate) fn rollback_to(&mut self, length: usize) {
        while self.0.len() > length {
            let Some(mut undo) = self.0.pop() else { break };
            let table = undo.table.clone();
            if let Some(rows) = &table.temporary {
                rows.undo(&mut undo);
            }
        }
    }
}

/// What it remembers counts as the memory of temporary tables, as the rows themselves do.
impl Drop for Undo {
    fn drop(&mut self) {
        if let Some(rows) = &self.table.temporary {
            rows.memory.give_back(self.bytes);
        }
    }
}

impl Drop for TemporaryUndo {
    fn drop(&mut self) {
        self.rollback_to(0);
    }
}

impl Drop for TemporaryRows {
    fn drop(&mut self) {
        self.memory.give_back(self.trees.get_mut().bytes);
    }
}

fn cost(key: &[u8], value: &[u8]) -> u64 {
    (key.len() + value.len()) as u64 + ENTRY_BYTES
}

fn cost_of(entries: &[(Bytes, Bytes)]) -> u64 {
    entries.iter().map(|(key, value)| cost(key, value)).sum()
}

/// Ranges that no map can be asked for.
fn is_empty((lower, upper): (Bound<&[u8]>, Bound<&[u8]>)) -> bool {
    match (lower, upper) {
        (Bound::Unbounded, _) | (_, Bound::Unbounded) => false,
        (Bound::Excluded(low), Bound::Excluded(high)) => low >= high,
        (Bound::Included(low) | Bound::Excluded(low), Bound::Included(high) | Bound::Excluded(high)) => low > high,
    }
}

/// All entries of a row, by position of the index.
fn entries(table: &Table, row: &Bytes) -> Result<Vec<(Bytes, Bytes)>> {
    let mut entries = vec![(table.codec.clustered_key(row)?, row.clone())];
    for number in 1..table.indexes.len() {
        entries.push(table.codec.secondary_entry(number, row)?);
    }
    entries.iter().try_for_each(|(key, _)| EngineError::check_key(key))?;
    Ok(entries)
}

impl TemporaryRows {
    fn put(&self, trees: &mut Trees, entries: Vec<(Bytes, Bytes)>) {
        for (tree, (key, value)) in trees.indexes.iter_mut().zip(entries) {
            // Copies of their own: a slice would keep the statement's whole buffer.
            tree.insert(Bytes::copy_from_slice(&key), Bytes::copy_from_slice(&value));
        }
    }

    /// Takes entries away, and says what they had taken.
    fn remove(&self, trees: &mut Trees, entries: &[(Bytes, Bytes)]) -> u64 {
        let mut bytes = 0;
        for (tree, (key, value)) in trees.indexes.iter_mut().zip(entries) {
            if tree.remove(key).is_some() {
                bytes += cost(key, value);
            }
        }
        trees.bytes -= bytes;
        bytes
    }

    fn check_unique(
        &self,
        table: &Arc<Table>,
        trees: &Trees,
        entries: &[(Bytes, Bytes)],
        row: &Bytes,
        own: Option<&[u8]>,
    ) -> Result<()> {
        for (number, (key, _)) in entries.iter().enumerate() {
            let holder = if number == 0 {
                trees.indexes[0].contains_key(key).then(|| key.clone())
            } else {
                let Some(unique) = table.unique_part(number, key)? else { continue };
                let KeyRange { lower, upper } = KeyRange::prefix(Bytes::copy_from_slice(unique));
                let mut found = None;
                for entry in trees.indexes[number].range((lower, upper)).map(|(entry, _)| entry) {
                    let clustered = table.codec.clustered_key_of(number, entry)?;
                    if own != Some(clustered) {
                        found = Some(Bytes::copy_from_slice(clustered));
                        break;
                    }
                }
                found
            };
            if let Some(existing_key) = holder.filter(|holder| own != Some(&holder[..])) {
                let row = row.clone();
                let duplicate = DuplicateKey { table: table.clone(), index_number: number, row, existing_key };
                return Err(EngineError::DuplicateKey(Box::new(duplicate)));
            }
        }
        Ok(())
    }

    /// Puts `new` in the place of `old`; either may be none.
    ///
    /// # Errors
    /// 1062, and 1114 if there is no memory for it; nothing is changed then.
    pub(crate) fn write(
        &self,
        table: &Arc<Table>,
        old: Option<&Bytes>,
        new: Option<&Bytes>,
        undo: &mut TemporaryUndo,
    ) -> Result<()> {
        let mut trees = self.trees.lock();
        let generation = trees.generation;
        let note = |key: &Bytes, before: Option<Bytes>, bytes: u64| {
            let bytes = bytes + key.len() as u64 + UNDO_BYTES;
            Undo { table: table.clone(), generation, key: Bytes::copy_from_slice(key), before, bytes }
        };
        let old_entries = old.map(|row| entries(table, row)).transpose()?.unwrap_or_default();
        let new_entries = new.map(|row| entries(table, row)).transpose()?.unwrap_or_default();
        let (freed, added) = (cost_of(&old_entries), cost_of(&new_entries));
        let old_key = old_entries.first().map(|(key, _)| key);
        if let Some(row) = new {
            self.check_unique(table, &trees, &new_entries, row, old_key.map(|key| &key[..]))?;
            table.saw_auto_increment(row)?;
        }
        let before = old.map(|row| Bytes::copy_from_slice(row));
        let mut notes: Vec<Undo> = old_key.map(|key| note(key, before, freed)).into_iter().collect();
        notes.extend(new_entries.first().map(|(key, _)| note(key, None, 0)));
        let remembered = notes.iter().map(|note| note.bytes).sum::<u64>();
        if !self.memory.exchange(freed, added + remembered) {
            // They have taken nothing.
            notes.iter_mut().for_each(|note| note.bytes = 0);
            let message = format!("The table '{}' is full", table.def.name);
            return Err(EngineError::Sql(SqlError::new(codes::RECORD_FILE_FULL, message)));
        }
        undo.0.append(&mut notes);
        if old.is_some() {
            let removed = self.remove(&mut trees, &old_entries);
            debug_assert_eq!(removed, freed, "who changes a row has read it");
            table.count_rows(-1);
        }
        if new.is_some() {
            trees.bytes += added;
            self.put(&mut trees, new_entries);
            table.count_rows(1);
        }
        Ok(())
    }

    fn undo(&self, undo: &mut Undo) {
        let mut trees = self.trees.lock();
        if trees.generation != undo.generation {
            return;
        }
        let table = &undo.table;
        // What was written could be decoded when it was written.
        if let Some(row) = trees.indexes[0].get(&undo.key).cloned()
            && let Ok(entries) = entries(table, &row)
        {
            let removed = self.remove(&mut trees, &entries);
            self.memory.give_back(removed);
            table.count_rows(-1);
        }
        if let Some(row) = &undo.before
            && let Ok(entries) = entries(table, row)
        {
            // Its memory was kept for it.
            let bytes = cost_of(&entries);
            undo.bytes -= bytes;
            trees.bytes += bytes;
            self.put(&mut trees, entries);
            table.count_rows(1);
        }
    }

    pub(crate) fn get(&self, key: &[u8]) -> Option<Bytes> {
        self.trees.lock().indexes[0].get(key).cloned()
    }

    /// The next entries of a range.
    pub(crate) fn read(
        &self,
        index_number: usize,
        range: (Bound<&[u8]>, Bound<&[u8]>),
        direction: Direction,
        max: usize,
        out: &mut Vec<Entry>,
    ) {
        if is_empty(range) {
            return;
        }
        let trees = self.trees.lock();
        let found = trees.indexes[index_number].range::<[u8], _>(range);
        let entry = |(key, value): (&Bytes, &Bytes)| Entry { key: Key::new(key), value: value.clone() };
        match direction {
            Direction::Forward => out.extend(found.take(max).map(entry)),
            Direction::Backward => out.extend(found.rev().take(max).map(entry)),
        }
    }

    /// Entries in a range, counted up to a bound.
    pub(crate) fn count(&self, index_number: usize, range: (Bound<&[u8]>, Bound<&[u8]>), max: usize) -> u64 {
        match is_empty(range) {
            true => 0,
            false => self.trees.lock().indexes[index_number].range::<[u8], _>(range).take(max).count() as u64,
        }
    }
}

impl Table {
    /// Whether it is a temporary table.
    pub fn is_temporary(&self) -> bool {
        self.temporary.is_some()
    }

    /// TRUNCATE of a temporary table: all rows go, for good, and the AUTO_INCREMENT counter begins anew.
    pub fn clear_temporary(&self) {
        let Some(rows) = &self.temporary else { return };
        let mut trees = rows.trees.lock();
        rows.memory.give_back(trees.bytes);
        trees.bytes = 0;
        trees.generation += 1;
        trees.indexes.iter_mut().for_each(BTreeMap::clear);
        self.count_rows(-self.rows_in_memory());
        self.auto_increment().set(0);
        self.shared.generated_keys.set(0);
    }

    /// Another form of a temporary table (ALTER TABLE), with its rows, each mapped; the old one stays as it is.
    ///
    /// # Errors
    /// What a row cannot become, 1114 if there is no memory for a copy, and that the session is to end.
    pub async fn altered_temporary(
        self: &Arc<Self>,
        engine: &Engine,
        change: AlterTable,
        cancel: &Cancel,
    ) -> Result<Arc<Table>> {
        let read_by = change.read_by;
        let mut map = change.row_mapper.map(|mapper| mapper());
        let to = engine.create_temporary_table(change.new_def);
        to.auto_increment().set(change.counter.unwrap_or_else(|| self.auto_increment().peek()));
        to.shared.generated_keys.seen(self.shared.generated_keys.peek() - 1);
        to.shared.go_on_as(&self.def, &to.def);
        let (Some(old), Some(new)) = (&self.temporary, &to.temporary) else { return Ok(to) };
        let (env, turn) = (&engine.core().env, ThreadTurn::default());
        let (mut last, mut copied) = (Bound::Unbounded, Vec::new());
        loop {
            let range = (last.as_ref().map(|key: &Key| &key[..]), Bound::Unbounded);
            old.read(read_by, range, Direction::Forward, COPIED_AT_ONCE, &mut copied);
            let Some(end) = copied.last() else { return Ok(to) };
            last = Bound::Excluded(end.key.clone());
            let mut undo = TemporaryUndo::default();
            for entry in copied.drain(..) {
                let row = match read_by {
                    0 => entry.value,
                    number => old.get(self.codec.clustered_key_of(number, &entry.key)?).unwrap_or_default(),
                };
                let row = map.as_mut().map_or(Ok(row.clone()), |map| map(&row))?;
                new.write(&to, None, Some(&row), &mut undo)?;
                undo.keep();
            }
            cancel.check().map_err(EngineError::Cancelled)?;
            turn.pass(&*env.clock).await;
            env.step().await;
        }
    }
}

impl Engine {
    /// A new temporary table, of nobody yet. Its ids are given here.
    pub fn create_temporary_table(&self, mut def: TableDef) -> Arc<Table> {
        let memory = self.temporary_memory();
        def.id = TableId(memory.next_number());
        def.indexes.iter_mut().for_each(|index| index.id = IndexId(memory.next_number()));
        let shared = Arc::new(TableShared::default());
        shared.auto_increment.set(def.auto_increment_start);
        let indexes = vec![BTreeMap::new(); def.indexes.len()];
        let mut table = Table::new(Arc::new(def), CommitNumber(0), shared);
        let trees = Mutex::new(Trees { indexes, ..Trees::default() });
        table.temporary = Some(TemporaryRows { memory: memory.clone(), trees });
        Arc::new(table)
    }

    /// What temporary tables take.
    pub fn temporary_memory(&self) -> &Arc<TemporaryMemory> {
        &self.core().temporary
    }
}
