//! Temporary tables: tables of one session, in memory, that never meet the log.
//!
//! A temporary table is a [`Table`] with [`TemporaryRows`]. [`crate::Transaction`] reads and writes them where they are, without
//! locks, versions or read views: nobody else can reach them. What a transaction has changed it remembers in an
//! [`TemporaryUndo`], so that savepoints, statements and transactions are taken back as with other tables.
//!
//! # Invariants
//! - An entry of a secondary index is there exactly if its row is.
//! - No row is added beyond [`TemporaryMemory::set_max`] bytes of all temporary tables, of all sessions. What open transactions
//!   remember of changed rows is counted, and not refused. Undone or dropped, bytes are given back.
//! - Ids begin at [`FIRST_ID`], where no table of a catalog ever is.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use base::{CommitNumber, IndexId, SqlError, TableId, codes};
use bytes::Bytes;
use parking_lot::Mutex;
use types::TableDef;

use crate::catalog::{Table, TableShared};
use crate::engine::Engine;
use crate::error::{DuplicateKey, EngineError, Result};
use crate::memtable::Key;
use crate::txn::{Direction, Entry, KeyRange};

/// The ids of temporary tables and their indexes.
const FIRST_ID: u64 = 1 << 62;
/// What a tree needs for an entry besides key and value, about.
const ENTRY_BYTES: u64 = 64;
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

    fn take(&self, bytes: u64) -> bool {
        let max = self.max.load(Ordering::Relaxed);
        let taken = |used: u64| used.checked_add(bytes).filter(|sum| *sum <= max);
        self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, taken).is_ok()
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
            let Some(undo) = self.0.pop() else { break };
            if let Some(rows) = &undo.table.temporary {
                rows.undo(&undo);
            }
        }
    }
}

/// What it remembers counts as the memory of temporary tables, as the rows themselves do.
impl Drop for Undo {
    fn drop(&mut self) {
        if let Some(rows) = &self.table.temporary {
            rows.memory.give_back(self.cost());
        }
    }
}

impl Undo {
    fn cost(&self) -> u64 {
        cost(&self.key, self.before.as_deref().unwrap_or_default())
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

    fn remove(&self, trees: &mut Trees, entries: &[(Bytes, Bytes)]) {
        for (tree, (key, value)) in trees.indexes.iter_mut().zip(entries) {
            if tree.remove(key).is_some() {
                let bytes = cost(key, value);
                trees.bytes -= bytes;
                self.memory.give_back(bytes);
            }
        }
    }

    /// Takes memory for a row, or says that the table is full (1114).
    fn reserve(&self, table: &Table, trees: &mut Trees, entries: &[(Bytes, Bytes)]) -> Result<()> {
        let bytes = entries.iter().map(|(key, value)| cost(key, value)).sum();
        if !self.memory.take(bytes) {
            let message = format!("The table '{}' is full", table.def.name);
            return Err(EngineError::Sql(SqlError::new(codes::RECORD_FILE_FULL, message)));
        }
        trees.bytes += bytes;
        Ok(())
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
                let entry = table.entry_text(number, row);
                let duplicate = DuplicateKey { table: table.clone(), index_number: number, entry, existing_key };
                return Err(EngineError::DuplicateKey(Box::new(duplicate)));
            }
        }
        Ok(())
    }

    /// Puts `new` in the place of `old`; either may be none.
    pub(crate) fn write(
        &self,
        table: &Arc<Table>,
        old: Option<&Bytes>,
        new: Option<&Bytes>,
        undo: &mut TemporaryUndo,
    ) -> Result<()> {
        let mut trees = self.trees.lock();
        let old_entries = old.map(|row| entries(table, row)).transpose()?;
        let old_key = old_entries.as_ref().map(|entries| entries[0].0.clone());
        let new_entries = new.map(|row| entries(table, row)).transpose()?;
        if let (Some(entries), Some(row)) = (&new_entries, new) {
            self.check_unique(table, &trees, entries, row, old_key.as_deref())?;
            self.reserve(table, &mut trees, entries)?;
            table.saw_auto_increment(row)?;
        }
        let generation = trees.generation;
        let mut note = |key: Bytes, before: Option<Bytes>| {
            let undone = Undo { table: table.clone(), generation, key: Bytes::copy_from_slice(&key), before };
            self.memory.used.fetch_add(undone.cost(), Ordering::Relaxed);
            undo.0.push(undone);
        };
        if let (Some(entries), Some(key)) = (old_entries, old_key) {
            self.remove(&mut trees, &entries);
            table.count_rows(-1);
            note(key, old.map(|row| Bytes::copy_from_slice(row)));
        }
        if let Some(entries) = new_entries {
            note(entries[0].0.clone(), None);
            self.put(&mut trees, entries);
            table.count_rows(1);
        }
        Ok(())
    }

    fn undo(&self, undo: &Undo) {
        let mut trees = self.trees.lock();
        if trees.generation != undo.generation {
            return;
        }
        let table = &undo.table;
        // What was written could be decoded when it was written.
        if let Some(row) = trees.indexes[0].get(&undo.key).cloned()
            && let Ok(entries) = entries(table, &row)
        {
            self.remove(&mut trees, &entries);
            table.count_rows(-1);
        }
        if let Some(row) = &undo.before
            && let Ok(entries) = entries(table, row)
        {
            // It was there before: its memory is taken even if the bound is lower by now.
            let bytes = entries.iter().map(|(key, value)| cost(key, value)).sum::<u64>();
            self.memory.used.fetch_add(bytes, Ordering::Relaxed);
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
    }

    /// Another form of a temporary table (ALTER TABLE), with its rows, each mapped; the old one stays as it is.
    pub fn altered_temporary(
        self: &Arc<Self>,
        engine: &Engine,
        def: TableDef,
        mapper: Option<&crate::catalog::RowMapper>,
    ) -> Result<Arc<Table>> {
        let start = def.auto_increment_start;
        let to = engine.create_temporary_table(def);
        to.auto_increment().set(start.max(self.auto_increment().peek()));
        let (Some(old), Some(new)) = (&self.temporary, &to.temporary) else { return Ok(to) };
        let mut undo = TemporaryUndo::default();
        let rows: Vec<Bytes> = old.trees.lock().indexes[0].values().cloned().collect();
        for row in rows {
            let row = mapper.map_or(Ok(row.clone()), |map| map(&row))?;
            new.write(&to, None, Some(&row), &mut undo)?;
            undo.keep();
        }
        Ok(to)
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
