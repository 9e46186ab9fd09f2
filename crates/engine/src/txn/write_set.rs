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
//! What does not fit in memory is put away ([`super::spill`]): then these records are those of a *window*, what was written
//! since, and `base` says what was written before it.
//!
//! # Invariants
//! - Undoing to a mark gives exactly the maps and changes that were there at the mark.
//! - An index's map is empty only if the transaction never wrote to it, or undid all of it, or has put it away.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use base::IndexId;
use binlog::TransactionEncoder;
use bytes::Bytes;
use xxhash_rust::xxh64::xxh64;

use super::spill::Spilled;
use crate::catalog::Table;
use crate::error::Result;
use crate::large::LargeCursor;
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

impl IndexWrites {
    /// What was written to a key. Rows often come in the order of their keys: behind all that were written there is nothing to look for.
    fn get(&self, key: &[u8]) -> Option<&Write> {
        let (last, _) = self.keys.last_key_value()?;
        if last.as_slice() < key { None } else { self.keys.get(key) }
    }
}

/// Where a scan is in what was put away.
#[derive(Default)]
pub(crate) struct OwnCursor(Option<(u64, LargeCursor)>);

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

impl Step {
    /// Adds it to a transaction's events. The text of a statement waits in `text` for its first row: one that changes
    /// nothing is not in the log.
    pub(super) fn encode(&self, encoder: &mut TransactionEncoder, text: &mut Option<Arc<str>>) -> binlog::Result<()> {
        if let Step::Query(query) = self {
            *text = Some(query.clone());
            return Ok(());
        }
        if let Some(text) = text.take() {
            encoder.rows_query(&text);
        }
        match self {
            Step::Query(_) => Ok(()),
            Step::Insert { table, row } => encoder.insert(&table.encoder, row),
            Step::Update { table, old, new } => encoder.update(&table.encoder, old, new),
            Step::Delete { table, row } => encoder.delete(&table.encoder, row),
        }
    }
}

/// What a key was before a write.
pub(super) struct Undo {
    pub(super) slot: usize,
    pub(super) key: Key,
    pub(super) before: Option<Write>,
}

/// See the module.
#[derive(Default)]
pub(crate) struct WriteSet {
    pub(super) indexes: Vec<IndexWrites>,
    pub(super) steps: Vec<Step>,
    pub(super) undo: Vec<Undo>,
    pub(super) bytes: usize,
    /// Where the window begins.
    pub(super) base: Savepoint,
    /// What was put away.
    pub(super) spilled: Option<Box<Spilled>>,
    /// To which one may go back, ascending; but for the present statement's beginning.
    pub(super) marks: Vec<Savepoint>,
    /// Where the row began that is being changed, if it may still be taken back.
    pub(super) row: Option<Savepoint>,
    /// Only its end is left.
    pub(super) is_broken: bool,
}

impl WriteSet {
    /// Nothing was written (a query text alone is nothing).
    pub(crate) fn is_empty(&self) -> bool {
        self.undo.is_empty() && self.base.undo_length == 0
    }

    /// Bytes of keys and values, and of the rows before that the log needs, about.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Those of the window.
    pub(crate) fn window_bytes(&self) -> usize {
        self.bytes.saturating_sub(self.base.bytes)
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
    pub(crate) async fn get(&self, index: IndexId, key: &[u8]) -> Result<Option<Write>> {
        if let Some(write) = self.find(index).and_then(|slot| self.indexes[slot].get(key)) {
            return Ok(Some(write.clone()));
        }
        match &self.spilled {
            None => Ok(None),
            Some(spilled) => spilled.runs.get(index, key).await,
        }
    }

    /// Whether it is among the writes that were not put away.
    pub(crate) fn has_in_window(&self, index: IndexId, key: &[u8]) -> bool {
        self.find(index).is_some_and(|slot| self.indexes[slot].keys.contains_key(key))
    }

    /// The first write in a range, from its lower or its upper end. `cursor` is for the next call, of what is then left of
    /// the range.
    pub(crate) async fn first(
        &self,
        cursor: &mut OwnCursor,
        index: IndexId,
        range: Range<'_>,
        backward: bool,
    ) -> Result<Option<(Key, Write)>> {
        if upside_down(range) {
            return Ok(None);
        }
        let in_window = self.first_in_window(index, range, backward).map(|(key, write)| (key.clone(), write.clone()));
        let Some(spilled) = self.spilled.as_ref().filter(|spilled| spilled.runs.touches(index)) else {
            return Ok(in_window);
        };
        if cursor.0.as_ref().is_none_or(|(epoch, _)| *epoch != spilled.epoch) {
            let owned = (range.0.map(Bytes::copy_from_slice), range.1.map(Bytes::copy_from_slice));
            cursor.0 = Some((spilled.epoch, spilled.runs.cursor(index, owned, backward)));
        }
        let Some((_, runs)) = &mut cursor.0 else { return Ok(in_window) };
        runs.fill().await?;
        while runs.first().is_some_and(|key| is_behind(range, key, backward)) {
            runs.pop();
            runs.fill().await?;
        }
        let in_runs = runs.first_entry();
        Ok(match (in_window, in_runs) {
            (window, None) => window,
            (Some(window), Some((key, _))) if window.0 == *key || (window.0 < *key) != backward => Some(window),
            (_, Some((key, write))) => Some((key.clone(), write.clone())),
        })
    }

    fn first_in_window(&self, index: IndexId, range: Range<'_>, backward: bool) -> Option<(&Key, &Write)> {
        let keys = &self.indexes[self.find(index)?].keys;
        if keys.is_empty() {
            return None;
        }
        let mut found = keys.range::<[u8], _>(range);
        if backward { found.next_back() } else { found.next() }
    }

    /// Whether anything was written to an index.
    pub(crate) fn touches(&self, index: IndexId) -> bool {
        self.find(index).is_some_and(|slot| !self.indexes[slot].keys.is_empty())
            || self.spilled.as_ref().is_some_and(|spilled| spilled.runs.touches(index))
    }

    pub(crate) fn savepoint(&self) -> Savepoint {
        let Savepoint { undo_length, op_count, .. } = self.base;
        Savepoint {
            undo_length: undo_length + self.undo.len(),
            op_count: op_count + self.steps.len(),
            bytes: self.bytes,
            temporary: 0,
        }
    }

    /// A savepoint that outlives the statement.
    pub(crate) fn mark(&mut self) -> Savepoint {
        let mark = self.savepoint();
        if self.marks.last() != Some(&mark) {
            self.marks.push(mark);
        }
        mark
    }

    /// Undoes everything since the mark.
    pub(crate) fn rollback_to(&mut self, mark: Savepoint) {
        self.marks.retain(|other| other <= &mark);
        if mark.undo_length < self.base.undo_length {
            return self.unspill_to(mark);
        }
        self.steps.truncate(mark.op_count.saturating_sub(self.base.op_count));
        self.bytes = self.bytes.min(mark.bytes);
        while self.undo.len() > mark.undo_length - self.base.undo_length {
            let Some(undo) = self.undo.pop() else { break };
            self.undo_one(undo);
        }
    }

    /// What the key was until then.
    pub(super) fn undo_one(&mut self, Undo { slot, key, before }: Undo) -> Option<Write> {
        let keys = &mut self.indexes[slot].keys;
        match before {
            Some(write) => keys.insert(key, write),
            None => keys.remove(key.as_slice()),
        }
    }
}

/// Whether a key was dealt with when this is what is left of a range.
fn is_behind((lower, upper): Range<'_>, key: &[u8], backward: bool) -> bool {
    match (if backward { upper } else { lower }, backward) {
        (Bound::Unbounded, _) => false,
        (Bound::Included(bound), false) => key < bound,
        (Bound::Excluded(bound), false) => key <= bound,
        (Bound::Included(bound), true) => key > bound,
        (Bound::Excluded(bound), true) => key >= bound,
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
