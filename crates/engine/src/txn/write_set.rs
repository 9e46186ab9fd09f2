//! [`WriteSet`]: what a transaction has written and nobody else sees yet.
//!
//! Three records of the same writes, each for one reader:
//!
//! | record | for whom |
//! |---|---|
//! | per index, key -> value or gone | the transaction's own reads; the install at commit |
//! | row changes in the order of execution | the binary log |
//! | what each key was before each write | savepoints, the rollback of a statement |
//!
//! # Invariants
//! - Undoing to a mark gives exactly the maps and changes that were there at the mark.
//! - An index's map is empty only if the transaction never wrote to it, or undid all of it.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use base::IndexId;
use bytes::Bytes;
use xxhash_rust::xxh64::xxh64;

use crate::catalog::Table;
use crate::memtable::{Key, Range};
use crate::txn::Savepoint;

/// What a key holds for this transaction: a value, or nothing (deleted).
pub(crate) type Write = Option<Bytes>;

/// The writes of one index.
pub(crate) struct IndexWrites {
    pub(crate) table: Arc<Table>,
    pub(crate) index_number: usize,
    pub(crate) index: IndexId,
    pub(crate) keys: BTreeMap<Key, Write>,
}

/// One step for the log.
pub(crate) enum Step {
    /// The statement whose rows follow.
    Query(Arc<str>),
    /// A row.
    Insert { table: Arc<Table>, row: Bytes },
    /// A row.
    Update { table: Arc<Table>, old: Bytes, new: Bytes },
    /// A row.
    Delete { table: Arc<Table>, row: Bytes },
}

struct Undo {
    slot: usize,
    key: Key,
    before: Option<Write>,
}

/// See the module.
#[derive(Default)]
pub(crate) struct WriteSet {
    indexes: Vec<IndexWrites>,
    steps: Vec<Step>,
    undo: Vec<Undo>,
    bytes: usize,
}

impl WriteSet {
    /// Nothing was written (a query text alone is nothing).
    pub(crate) fn is_empty(&self) -> bool {
        self.undo.is_empty()
    }

    /// Bytes of keys and values, and of the rows before that the log needs, about.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn indexes(&self) -> &[IndexWrites] {
        &self.indexes
    }

    pub(crate) fn steps(&self) -> &[Step] {
        &self.steps
    }

    pub(crate) fn add_step(&mut self, step: Step) {
        self.bytes += match &step {
            Step::Query(text) => text.len(),
            Step::Insert { .. } => 0,
            Step::Update { old: before, .. } | Step::Delete { row: before, .. } => before.len(),
        };
        self.steps.push(step);
    }

    /// Writes a key of an index.
    pub(crate) fn put(&mut self, table: &Arc<Table>, index_number: usize, key: &[u8], write: Write) {
        let slot = self.slot(table, index_number);
        let key = Key::new(key);
        self.bytes += key.len() + write.as_ref().map_or(0, Bytes::len) + 2 * size_of::<Undo>();
        let before = self.indexes[slot].keys.insert(key.clone(), write);
        self.undo.push(Undo { slot, key, before });
    }

    fn slot(&mut self, table: &Arc<Table>, index_number: usize) -> usize {
        let index = table.indexes[index_number].id;
        if let Some(slot) = self.find(index) {
            return slot;
        }
        self.indexes.push(IndexWrites { table: table.clone(), index_number, index, keys: BTreeMap::new() });
        self.indexes.len() - 1
    }

    fn find(&self, index: IndexId) -> Option<usize> {
        self.indexes.iter().position(|writes| writes.index == index)
    }

    /// What this transaction wrote to a key, if it did.
    pub(crate) fn get(&self, index: IndexId, key: &[u8]) -> Option<&Write> {
        if self.indexes.is_empty() {
            return None;
        }
        self.indexes[self.find(index)?].keys.get(key)
    }

    /// The first write in a range, from its lower or its upper end.
    pub(crate) fn first(&self, index: IndexId, range: Range<'_>, backward: bool) -> Option<(&Key, &Write)> {
        let keys = &self.indexes[self.find(index)?].keys;
        if keys.is_empty() || upside_down(range) {
            return None;
        }
        let mut found = keys.range::<[u8], _>(range);
        if backward { found.next_back() } else { found.next() }
    }

    /// Whether anything was written to an index.
    pub(crate) fn touches(&self, index: IndexId) -> bool {
        self.find(index).is_some_and(|slot| !self.indexes[slot].keys.is_empty())
    }

    pub(crate) fn savepoint(&self) -> Savepoint {
        Savepoint { undo_length: self.undo.len(), op_count: self.steps.len(), bytes: self.bytes }
    }

    /// Undoes everything since the mark.
    pub(crate) fn rollback_to(&mut self, mark: Savepoint) {
        self.steps.truncate(mark.op_count);
        self.bytes = self.bytes.min(mark.bytes);
        while self.undo.len() > mark.undo_length {
            let Some(Undo { slot, key, before }) = self.undo.pop() else { break };
            let keys = &mut self.indexes[slot].keys;
            match before {
                Some(write) => drop(keys.insert(key, write)),
                None => drop(keys.remove(key.as_slice())),
            }
        }
    }
}

fn upside_down(range: Range<'_>) -> bool {
    match range {
        (Bound::Unbounded, _) | (_, Bound::Unbounded) => false,
        (Bound::Included(low), Bound::Included(high)) => low > high,
        (Bound::Included(low) | Bound::Excluded(low), Bound::Included(high) | Bound::Excluded(high)) => low >= high,
    }
}

/// A unique key in a writeset.
pub(crate) fn key_hash(index: IndexId, key: &[u8]) -> u64 {
    xxh64(key, index.0)
}
