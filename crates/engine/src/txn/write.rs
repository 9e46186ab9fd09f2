//! Changes of rows: locks, checks, and the private write set.
//!
//! Nothing is written before all of a row's checks have passed, so a refused row leaves only locks behind.

use std::sync::Arc;

use base::{SqlError, codes};
use bytes::Bytes;
use types::value::NOT_FIXED;
use types::{ColumnType, Value};

use super::{KeyRange, LockStrength, LockWait, OwnCursor, Step, Transaction};
use crate::catalog::Table;
use crate::error::{DuplicateKey, EngineError, Result};
use crate::memtable::Key;
use crate::read::{Merged, Selector, is_published};

/// A change of one entry of a secondary index.
struct EntryChange {
    index_number: usize,
    /// Key to remove.
    old: Option<Bytes>,
    /// Key and covering image to put.
    new: Option<(Bytes, Bytes)>,
}

impl Transaction {
    /// Inserts a row. [`EngineError::DuplicateKey`] names the row in the way; nothing was written then. For a duplicate
    /// primary key that row is locked; for one of another index its key is, and the row is still to be read with a lock.
    pub async fn insert(&mut self, table: &Arc<Table>, row: Bytes) -> Result<()> {
        if let Some(rows) = &table.temporary {
            self.check_active()?;
            return rows.write(table, None, Some(&row), &mut self.temporary);
        }
        self.make_writable().await?;
        let key = table.codec.clustered_key(&row)?;
        EngineError::check_key(&key)?;
        self.lock_insert(table.indexes[0].id, &key).await?;
        if self.newest(table.indexes[0].id, &key).await?.is_some() {
            return Err(duplicate(table, 0, &row, key));
        }
        let mut entries = Vec::with_capacity(table.indexes.len() - 1);
        for index_number in 1..table.indexes.len() {
            let entry = table.codec.secondary_entry(index_number, &row)?;
            self.lock_new_entry(table, index_number, &entry.0, &row, &key).await?;
            entries.push(EntryChange { index_number, old: None, new: Some(entry) });
        }
        self.write_entries(table, entries);
        self.writes.put(table, 0, &key, Some(row.clone()));
        table.saw_auto_increment(&row)?;
        self.writes.add_step(Step::Insert { table: table.clone(), row });
        self.locks.add_work(1);
        self.show_counts();
        Ok(())
    }

    /// Changes a row that a locking read of this transaction gave (`old`). False if both are the same: then nothing was
    /// written. [`EngineError::DuplicateKey`] as from [`Transaction::insert`].
    pub async fn update(&mut self, table: &Arc<Table>, old: &Bytes, new: Bytes) -> Result<bool> {
        if let Some(rows) = &table.temporary {
            self.check_active()?;
            if *old != new {
                rows.write(table, Some(old), Some(&new), &mut self.temporary)?;
            }
            return Ok(*old != new);
        }
        self.make_writable().await?;
        if *old == new {
            return Ok(false);
        }
        let changed = table.changed_columns(old, &new)?;
        let old_key = table.codec.clustered_key(old)?;
        let mut key = old_key.clone();
        if table.indexes[0].columns.intersects(changed) {
            key = table.codec.clustered_key(&new)?;
            EngineError::check_key(&key)?;
        }
        let moves = key != old_key;
        if moves {
            self.lock_insert(table.indexes[0].id, &key).await?;
            if self.newest(table.indexes[0].id, &key).await?.is_some() {
                return Err(duplicate(table, 0, &new, key));
            }
        }
        let mut entries = Vec::new();
        let is_news = self.view_lacks(table, &old_key).await?;
        for index_number in 1..table.indexes.len() {
            if table.indexes[index_number].columns.intersects(changed) {
                entries.extend(self.change_entry(table, index_number, old, &new, &old_key).await?);
            } else if is_news {
                let new = Some(table.codec.secondary_entry(index_number, &new)?);
                entries.push(EntryChange { index_number, old: None, new });
            }
        }
        self.write_entries(table, entries);
        if moves {
            self.writes.put(table, 0, &old_key, None);
        }
        self.writes.put(table, 0, &key, Some(new.clone()));
        table.saw_auto_increment(&new)?;
        self.writes.add_step(Step::Update { table: table.clone(), old: old.clone(), new });
        self.locks.add_work(1);
        self.show_counts();
        Ok(true)
    }

    /// Deletes a row that a locking read of this transaction gave (`old`).
    pub async fn delete(&mut self, table: &Arc<Table>, old: &Bytes) -> Result<()> {
        if let Some(rows) = &table.temporary {
            self.check_active()?;
            return rows.write(table, Some(old), None, &mut self.temporary);
        }
        self.make_writable().await?;
        let key = table.codec.clustered_key(old)?;
        let mut entries = Vec::with_capacity(table.indexes.len() - 1);
        for index_number in 1..table.indexes.len() {
            let (entry_key, _) = table.codec.secondary_entry(index_number, old)?;
            self.lock_old_entry(table, index_number, &entry_key).await?;
            entries.push(EntryChange { index_number, old: Some(entry_key), new: None });
        }
        self.write_entries(table, entries);
        self.writes.put(table, 0, &key, None);
        self.writes.add_step(Step::Delete { table: table.clone(), row: old.clone() });
        self.locks.add_work(1);
        self.show_counts();
        Ok(())
    }

    /// Checks that it may write, and puts away what it has written if that is more than it may hold in memory.
    async fn make_writable(&mut self) -> Result<()> {
        self.check_active()?;
        if self.options.read_only {
            return Err(EngineError::ReadOnlyTransaction);
        }
        if self.lacks_locks {
            // The follower has become a source in the middle of it: only from its beginning can it lock what it reads.
            self.abandon();
            return Err(EngineError::Deadlock);
        }
        let core = self.core();
        core.check_commits()?;
        let max = core.tunables.transaction_bytes_max();
        if self.writes.bytes() as u64 > max {
            let message = format!(
                "Multi-statement transaction required more than 'max_binlog_cache_size' bytes of storage ({max}); \
                 increase this mysqld variable and try again"
            );
            return Err(EngineError::Sql(SqlError::new(codes::TRANS_CACHE_FULL, message)));
        }
        if !self.options.stays_in_memory && self.writes.window_bytes() > core.tunables.transaction_memory_bytes() {
            self.spill().await?;
        }
        Ok(())
    }

    /// Whether the newest version of a row is not the one that the read view has, or may not have when it is opened, so that the
    /// view's entries of it in secondary indexes may be of another form: then all of them are written anew (see
    /// `Transaction::is_outdated`).
    async fn view_lacks(&self, table: &Table, key: &[u8]) -> Result<bool> {
        let visible = self.core().views.visible();
        let snapshot = match &self.view {
            Some(view) => view.snapshot(),
            None if self.read_pending || self.read_upto > visible => visible,
            // All that was read with locks is published, and in every view to come.
            None => return Ok(false),
        };
        let index = table.indexes[0].id;
        if self.writes.get(index, key).await?.is_some() {
            return Ok(false);
        }
        let layers = self.core().views.layers().clone();
        Ok(match layers.find(index, key, Selector::Newest).await? {
            Some(newest) => !is_published(&newest.stamp, snapshot),
            None => snapshot < layers.roots_at,
        })
    }

    /// Locks and checks what an update does to one secondary index; `None` if its entry stays as it is.
    async fn change_entry(
        &mut self,
        table: &Arc<Table>,
        index_number: usize,
        old: &Bytes,
        new: &Bytes,
        clustered_key: &[u8],
    ) -> Result<Option<EntryChange>> {
        let (old_key, old_value) = table.codec.secondary_entry(index_number, old)?;
        let entry = table.codec.secondary_entry(index_number, new)?;
        if entry.0 == old_key {
            let is_same = entry.1 == old_value;
            return Ok((!is_same).then_some(EntryChange { index_number, old: None, new: Some(entry) }));
        }
        self.lock_old_entry(table, index_number, &old_key).await?;
        self.lock_new_entry(table, index_number, &entry.0, new, clustered_key).await?;
        Ok(Some(EntryChange { index_number, old: Some(old_key), new: Some(entry) }))
    }

    /// Locks an entry that is about to come, and checks that its key is free if it is a unique one. `clustered_key` is that
    /// of the row (as it was before an update), which is no duplicate of itself.
    async fn lock_new_entry(
        &mut self,
        table: &Arc<Table>,
        index_number: usize,
        key: &Bytes,
        row: &Bytes,
        clustered_key: &[u8],
    ) -> Result<()> {
        EngineError::check_key(key)?;
        let index = table.indexes[index_number].id;
        let Some(unique) = table.unique_part(index_number, key)? else {
            self.lock_insert(index, key).await?;
            return Ok(());
        };
        let unique = key.slice(..unique.len());
        self.lock_insert(index, &unique).await?;
        let holder = self.first_with_prefix(table, index_number, unique, clustered_key).await?;
        match holder {
            Some(existing_key) => Err(duplicate(table, index_number, row, existing_key)),
            None => Ok(()),
        }
    }

    /// Locks the unique key of an entry that is about to go, so that nobody takes it before it is gone.
    async fn lock_old_entry(&mut self, table: &Arc<Table>, index_number: usize, key: &Bytes) -> Result<()> {
        if let Some(unique) = table.unique_part(index_number, key)? {
            let index = table.indexes[index_number].id;
            self.lock_record(index, unique, LockStrength::Exclusive, LockWait::Wait).await?;
        }
        Ok(())
    }

    /// The clustered key of the row that has a unique key, if it is another than `own`.
    async fn first_with_prefix(
        &mut self,
        table: &Arc<Table>,
        index_number: usize,
        prefix: Bytes,
        own: &[u8],
    ) -> Result<Option<Bytes>> {
        let index = table.indexes[index_number].id;
        let KeyRange { lower, upper } = KeyRange::prefix(prefix);
        let range = KeyRange { lower: lower.clone(), upper: upper.clone() };
        if self.writes.touches(index)
            && let Some(key) = self.first_own_entry(table, index_number, &range, own).await?
        {
            return Ok(Some(key));
        }
        let layers = self.core().views.layers().clone();
        let mut entries = Merged::new(layers, index, lower, upper, super::Direction::Forward, Selector::Newest);
        while let Some(found) = entries.next().await? {
            let clustered = table.codec.clustered_key_of(index_number, &found.key)?;
            if found.value.is_none() || clustered == own || self.writes.get(index, &found.key).await?.is_some() {
                continue;
            }
            let clustered = Bytes::copy_from_slice(clustered);
            self.note_read(&found.stamp);
            return Ok(Some(clustered));
        }
        Ok(None)
    }

    async fn first_own_entry(
        &self,
        table: &Arc<Table>,
        index_number: usize,
        range: &KeyRange,
        own: &[u8],
    ) -> Result<Option<Bytes>> {
        let index = table.indexes[index_number].id;
        let (first, upper) = range.as_slices();
        let mut lower = first.map(Key::new);
        let mut cursor = OwnCursor::default();
        loop {
            let rest = (lower.as_ref().map(Key::as_slice), upper);
            let Some((key, write)) = self.writes.first(&mut cursor, index, rest, false).await? else { break };
            let clustered = table.codec.clustered_key_of(index_number, &key)?;
            if write.is_some() && clustered != own {
                return Ok(Some(Bytes::copy_from_slice(clustered)));
            }
            lower = std::ops::Bound::Excluded(key);
        }
        Ok(None)
    }

    fn write_entries(&mut self, table: &Arc<Table>, entries: Vec<EntryChange>) {
        for EntryChange { index_number, old, new } in entries {
            if let Some(key) = old {
                self.writes.put(table, index_number, &key, None);
            }
            if let Some((key, value)) = new {
                self.writes.put(table, index_number, &key, Some(value));
            }
        }
    }
}

fn duplicate(table: &Arc<Table>, index_number: usize, row: &Bytes, existing_key: Bytes) -> EngineError {
    let row = row.clone();
    EngineError::DuplicateKey(Box::new(DuplicateKey { table: table.clone(), index_number, row, existing_key }))
}

impl Table {
    /// The part of an entry's key that no other row may have; `None` if the index is not unique or a part is NULL.
    pub(crate) fn unique_part<'a>(&self, index_number: usize, key: &'a [u8]) -> Result<Option<&'a [u8]>> {
        if !self.indexes[index_number].unique {
            return Ok(None);
        }
        let codec = &self.codec.indexes[index_number].key;
        if codec.has_null(key, codec.parts())? {
            return Ok(None);
        }
        Ok(Some(&key[..codec.prefix_len(key, codec.parts())?]))
    }

    /// A row's values in an index as MySQL's message about duplicates has them: `1-abc`.
    pub(crate) fn entry_text(&self, index_number: usize, row: &Bytes) -> String {
        let value = |part: &types::KeyPart| match self.codec.row.decode_column(row, part.column) {
            Ok(Value::Null) => "NULL".to_string(),
            Ok(value) => {
                let decimals = match self.def.columns[part.column].ty {
                    ColumnType::Time { fsp } | ColumnType::DateTime { fsp } | ColumnType::Timestamp { fsp } => fsp,
                    _ => NOT_FIXED,
                };
                let mut text = Vec::new();
                value.write_text(decimals, &mut text);
                String::from_utf8_lossy(&text).into_owned()
            }
            Err(_) => "?".to_string(),
        };
        let values: Vec<String> = self.def.indexes[index_number].parts.iter().map(value).collect();
        values.join("-")
    }
}
