//! Reads of one key.

use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use base::{CommitNumber, IndexId};
use bytes::Bytes;

use super::{KeyRange, LockStrength, LockWait, ReadMode, Transaction};
use crate::catalog::Table;
use crate::error::{EngineError, Result};
use crate::lock::Acquired;
use crate::memtable::Key;
use crate::memtable::stamp::{StampState, VersionStamp};
use crate::read::{NewestOr, Selector, is_published};
use crate::view::ReadView;

/// Keys of the memtables that an estimate looks at.
const ESTIMATE_SAMPLE_KEYS: usize = 64;

/// Entries of a temporary table that an estimate counts.
const TEMPORARY_ESTIMATE_MAX: usize = 1000;

impl Transaction {
    /// The row with this clustered key. Locking reads in REPEATABLE READ lock the gap if there is none; SKIP LOCKED finds
    /// none where another has the lock.
    pub async fn get(&mut self, table: &Arc<Table>, key: &[u8], mode: ReadMode) -> Result<Option<Bytes>> {
        self.check_active()?;
        if let Some(rows) = &table.temporary {
            return Ok(rows.get(key));
        }
        match self.mode_here(mode) {
            ReadMode::Consistent => self.get_consistent(table, key).await,
            ReadMode::Locking { strength, wait } => self.get_locking(table, key, strength, wait).await,
        }
    }

    /// A row that a consistent read sees, if it can be had at once: its leaf is in memory, and this transaction has not written to the table. `None` says
    /// nothing of the row: [`Transaction::get`] does.
    pub fn get_at_once(&mut self, table: &Arc<Table>, key: &[u8]) -> Result<Option<Option<Bytes>>> {
        let index = table.indexes[0].id;
        if table.is_temporary() || self.writes.touches(index) {
            return Ok(None);
        }
        self.check_active()?;
        self.open_view(table)?;
        let view = self.view()?;
        let layers = view.layers();
        if layers.has_large() {
            return Ok(None);
        }
        let in_memory = layers.get_visible(index, key, view.snapshot());
        Ok(in_memory.or_else(|| layers.roots.get_cached(index, key)))
    }

    /// How a read is made here. A follower's applier takes no locks and installs in any order, so that on a follower the newest
    /// versions are no state of the log: what is to be read with locks is read from the view instead.
    pub(super) fn mode_here(&mut self, mode: ReadMode) -> ReadMode {
        if mode == ReadMode::Consistent || !self.engine.is_follower() {
            return mode;
        }
        self.lacks_locks = true;
        ReadMode::Consistent
    }

    async fn get_consistent(&mut self, table: &Arc<Table>, key: &[u8]) -> Result<Option<Bytes>> {
        self.open_view(table)?;
        let index = table.indexes[0].id;
        if let Some(write) = self.writes.get(index, key).await? {
            return Ok(write);
        }
        let (layers, snapshot) = {
            let view = self.view()?;
            let layers = view.layers();
            let snapshot = view.snapshot();
            if !layers.has_large() {
                if let Some(value) = layers.get_visible(index, key, snapshot) {
                    return Ok(value);
                }
                let roots = layers.roots.clone();
                drop(layers);
                return Ok(roots.get(index, key).await?);
            }
            (layers.clone(), snapshot)
        };
        match layers.find(index, key, Selector::At(snapshot)).await? {
            Some(found) => Ok(found.value),
            None => Ok(layers.roots.get(index, key).await?),
        }
    }

    async fn get_locking(
        &mut self,
        table: &Arc<Table>,
        key: &[u8],
        strength: LockStrength,
        wait: LockWait,
    ) -> Result<Option<Bytes>> {
        let index = table.indexes[0].id;
        self.fresh_locks.clear();
        let acquired = self.lock_record(index, key, strength, wait).await?;
        if acquired == Acquired::Skipped {
            return Ok(None);
        }
        let found = self.newest(index, key).await?;
        let is_fresh = acquired.is_new();
        match &found {
            Some(_) if is_fresh => self.fresh_locks.push((index, Key::new(key))),
            Some(_) => {}
            None => self.lock_absence(index, key, is_fresh, strength, wait).await?,
        }
        Ok(found)
    }

    /// A key is not there, and is to stay so: of its record lock, which would keep others from locking the same absence,
    /// only the gap is kept; in READ COMMITTED nothing is.
    async fn lock_absence(
        &mut self,
        index: IndexId,
        key: &[u8],
        is_fresh: bool,
        strength: LockStrength,
        wait: LockWait,
    ) -> Result<()> {
        if self.locks_gaps() {
            self.lock_gap(index, (Bound::Included(key), Bound::Included(key)), strength, wait).await?;
        }
        if is_fresh {
            self.locks.unlock_record(index, key);
        }
        Ok(())
    }

    /// The newest version of a key whose lock this transaction holds.
    pub(super) async fn newest(&mut self, index: IndexId, key: &[u8]) -> Result<Option<Bytes>> {
        if let Some(write) = self.writes.get(index, key).await? {
            return Ok(write);
        }
        match self.core().newest(index, key).await? {
            NewestOr::InMemory(newest) => {
                self.note_read(&newest.stamp);
                Ok(newest.value)
            }
            NewestOr::Below(roots) => Ok(roots.get(index, key).await?),
        }
    }

    /// Remembers that a version was read that not everybody can see yet: the commit waits for it.
    pub(super) fn note_read(&mut self, stamp: &VersionStamp) {
        if is_published(stamp, self.core().views.visible()) {
            return;
        }
        match stamp.state() {
            StampState::Committed(number) => self.read_upto = self.read_upto.max(number),
            StampState::Pending | StampState::Aborted => self.read_pending = true,
        }
    }

    /// Gives back the lock of a row that the last locking read found and the statement does not want; does something in
    /// READ COMMITTED only, and never to rows that were locked before or that this transaction has changed.
    pub fn unlock_row(&mut self, table: &Arc<Table>, key: &[u8]) {
        let index = table.indexes[0].id;
        if table.is_temporary() || self.locks_gaps() || self.writes.has_in_window(index, key) {
            return;
        }
        let held = self.fresh_locks.iter().position(|(other, row)| *other == index && row.as_slice() == key);
        if let Some(at) = held {
            self.fresh_locks.swap_remove(at);
            self.locks.unlock_record(index, key);
        }
    }

    /// About how many entries a range of an index has, for the planner.
    pub async fn estimate(&self, table: &Arc<Table>, index_number: usize, range: &KeyRange) -> Result<u64> {
        self.engine.estimate_range(table, index_number, range).await
    }

    /// Opens the read view, if there is none, and checks that it can see the table in its present form.
    pub(super) fn open_view(&mut self, table: &Table) -> Result<()> {
        let views = &self.engine.core().views;
        let view = self.view.get_or_insert_with(|| Arc::new(views.open()));
        if view.snapshot() < CommitNumber(table.since.load(Ordering::Relaxed)) {
            return Err(EngineError::TableDefChanged);
        }
        Ok(())
    }

    pub(super) fn view(&self) -> Result<&Arc<ReadView>> {
        self.view.as_ref().ok_or_else(|| EngineError::Bug("a read without a view".to_string()))
    }
}

impl crate::engine::Engine {
    /// About how many entries a range of an index has, for the planner.
    pub async fn estimate_range(&self, table: &Table, index_number: usize, range: &KeyRange) -> Result<u64> {
        if let Some(rows) = &table.temporary {
            return Ok(rows.count(index_number, range.as_slices(), TEMPORARY_ESTIMATE_MAX));
        }
        let index = table.indexes[index_number].id;
        let layers = self.core().views.layers().clone();
        let bounds = range.as_slices();
        let in_trees = layers.roots.estimate(index, bounds.0, bounds.1).await?;
        let count = |m: &Arc<crate::memtable::Memtable>| {
            m.with_tree(index, |tree| {
                let sampled = tree.count(bounds, ESTIMATE_SAMPLE_KEYS);
                if sampled == ESTIMATE_SAMPLE_KEYS { tree.len().max(sampled) } else { sampled }
            })
        };
        let in_memory = layers.memtables.iter().filter_map(count).max().unwrap_or(0);
        let large = layers.memtables.iter().flat_map(|memtable| memtable.large().to_vec());
        let in_runs = large.map(|large| large.runs.estimate(index, bounds)).max().unwrap_or(0);
        Ok(in_trees.max(in_memory.max(in_runs) as u64))
    }
}
