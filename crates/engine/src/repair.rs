//! Damage of the data file: who has any, where it is, and how a tree is made whole again.
//!
//! ```text
//!   damage        indexes of which something could not be read, or was set aside       noted by whoever meets it
//!   find_damage   ranges of keys                                                       reads all of an index
//!   restore       entries of the ranges, as of a state ──► the next checkpoint         from wherever they are
//! ```
//! Where entries come from: of a secondary index from the rows ([`Engine::entries_of_rows`]), of the rows from another server that has
//! the same log (`repl`). What checkpoints do with them, and why that is right, is in [`crate::checkpoint`], `restore`.
//!
//! # Invariants
//! - Nothing of it is in a log, and no reader waits for it.
//! - Memory: the entries of one index, at most [`RESTORED_BYTES_MAX`].

use std::collections::HashSet;
use std::ops::Bound;
use std::sync::Arc;

use base::{CommitNumber, ErrorClass, IndexId};
use bytes::Bytes;
use event_listener::EventListener;
use io::BoxFuture;
use store::{Damage, KeySpan};

use crate::catalog::{SYSTEM_INDEX, Table};
use crate::checkpoint::{Entered, Outcome, Restore, Restores};
use crate::engine::Engine;
use crate::error::{EngineError, Result};
use crate::lock::TableMode;
use crate::options::{SessionHandle, TxnOptions};
use crate::txn::KeyRange;

/// Times that an index is looked through until nothing of it is found damaged: checkpoints may come in between, and more may decay.
const ATTEMPTS: usize = 5;
/// Bytes of keys and values that may wait for a checkpoint.
pub const RESTORED_BYTES_MAX: usize = 256 << 20;
/// What an entry takes beside its bytes.
const ENTRY_BYTES: usize = 64;

/// What belongs into damaged ranges, as it comes; sorted at the end.
#[derive(Debug, Default)]
pub struct RestoredEntries {
    entries: Vec<(Bytes, Bytes)>,
    bytes: usize,
}

impl RestoredEntries {
    /// One more.
    ///
    /// # Errors
    /// 1041 if there is no room for it.
    pub fn push(&mut self, key: Bytes, value: Bytes) -> Result<()> {
        self.bytes += key.len() + value.len() + ENTRY_BYTES;
        if self.bytes > RESTORED_BYTES_MAX {
            return Err(EngineError::Full(format!(
                "what is damaged holds more than {} MB, which is more than is restored at once",
                RESTORED_BYTES_MAX >> 20
            )));
        }
        self.entries.push((key, value));
        Ok(())
    }

    /// All of them, for a checkpoint.
    pub fn into_restore(mut self, index: IndexId, damage: &Damage, as_of: CommitNumber) -> Restore {
        self.entries.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        Restore { index, ranges: damage.restored(), entries: self.entries, as_of }
    }
}

/// Where the rows of a table are whole.
pub trait RowSource: Send + Sync {
    /// All rows in what is damaged of a table's clustered index, as of a state that is, or was, this server's.
    fn rows<'a>(&'a self, table: &'a Arc<Table>, damage: &'a Damage) -> BoxFuture<'a, Result<Fetched>>;
}

/// What a [`RowSource`] gives.
#[derive(Debug)]
pub struct Fetched {
    /// The rows.
    pub restore: Restore,
    /// Where they are from, for people.
    pub from: String,
}

/// What became of an index of which something could not be read.
#[derive(Debug)]
pub struct IndexRepair {
    /// What could not be read at first.
    pub damage: Damage,
    /// Where it was restored from, or why it could not be.
    pub result: Result<String>,
}

/// Leaves the list when it is dropped.
struct Waits<'a>(&'a Restores, Arc<Entered>);

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        self.0.leave(&self.1);
    }
}

impl Engine {
    /// Tables and indexes of which something could not be read since the start, or was set aside by a checkpoint, in the order of their
    /// tables. What was noted and is no damage after all goes with [`Engine::find_damage`].
    pub fn damage(&self) -> Vec<(Arc<Table>, usize)> {
        let core = self.core();
        let mut damaged: HashSet<IndexId> = core.store.noted_damage().into_iter().collect();
        damaged.extend(core.views.layers().roots.damaged());
        self.indexes_of(&damaged)
    }

    /// Ready when an index is added to [`Engine::damage`].
    pub fn listen_for_damage(&self) -> EventListener {
        self.core().store.listen_for_damage()
    }

    /// Tables and numbers of indexes.
    pub(crate) fn indexes_of(&self, ids: &HashSet<IndexId>) -> Vec<(Arc<Table>, usize)> {
        if ids.is_empty() {
            return Vec::new();
        }
        let catalog = self.catalog();
        let tables =
            catalog.all_tables().flat_map(|table| (0..table.indexes.len()).map(|number| (table.clone(), number)));
        tables.filter(|(table, number)| ids.contains(&table.indexes[*number].id)).collect()
    }

    /// Reads all of an index from the file, as of the newest checkpoint, and says what of it cannot be read.
    #[io::boxed]
    pub async fn find_damage(&self, table: &Table, index_number: usize) -> Result<Damage> {
        let index = table.indexes[index_number].id;
        let core = self.core();
        core.store.forget_damage(index);
        let roots = core.views.layers().roots.clone();
        Ok(roots.find_damage(index).await?)
    }

    /// Hands over all that is in the ranges of an index that cannot be read, for the next checkpoint, and asks for that at once. Ready when
    /// it is durable.
    ///
    /// # Errors
    /// Of class `Retry` if a checkpoint came in between, or if something else of the index cannot be read by now: it has to be
    /// looked for, and fetched, again.
    #[io::boxed]
    pub async fn restore(&self, restore: Restore) -> Result<()> {
        assert_ne!(restore.index, SYSTEM_INDEX, "nothing goes on without the catalog, so nothing restores it");
        let (core, index) = (self.core(), restore.index);
        let restores = &core.checkpoints.restores;
        let ranges = restore.ranges.ranges().len();
        let waits = Waits(restores, restores.enter(restore));
        loop {
            let changed = restores.listen();
            match waits.1.outcome() {
                Some(Outcome::Restored) => break,
                Some(Outcome::Passed) => return Err(EngineError::RestoreTooLate),
                Some(Outcome::NotAll) => return Err(EngineError::RestoreNotAll),
                None => core.check_running()?,
            }
            if core.checkpoints.is_stopped() {
                return Err(EngineError::NotReady("no more checkpoints are made"));
            }
            core.checkpoints.want();
            changed.await;
        }
        core.store.forget_damage(index);
        restores.count(ranges);
        Ok(())
    }

    /// What a secondary index has in its damaged ranges, from the rows: a transaction of its own that reads all of them.
    pub async fn entries_of_rows(
        self: &Arc<Self>,
        table: &Arc<Table>,
        index_number: usize,
        damage: &Damage,
        session: Arc<SessionHandle>,
    ) -> Result<Restore> {
        let mut transaction = self.begin(TxnOptions::new(session));
        transaction.lock_table(table, TableMode::IntentShared).await?;
        let (as_of, _) = transaction.take_snapshot();
        let ranges = damage.restored();
        let mut entries = RestoredEntries::default();
        let take = |row: &crate::Entry| {
            let (key, value) = table.codec.secondary_entry(index_number, &row.value)?;
            if ranges.contains(&key) { entries.push(key, value) } else { Ok(()) }
        };
        transaction.visit(table, 0, KeyRange::all(), take).await?;
        Ok(entries.into_restore(table.indexes[index_number].id, damage, as_of))
    }

    /// Looks through an index, and makes good what of it cannot be read: the entries of a secondary one from the rows, the rows from
    /// `source`. `None` if everything can be read.
    ///
    /// # Errors
    /// Those of looking; what is in the way of repairing is in the answer.
    pub async fn repair_index(
        self: &Arc<Self>,
        table: &Arc<Table>,
        index_number: usize,
        session: &Arc<SessionHandle>,
        source: &dyn RowSource,
    ) -> Result<Option<IndexRepair>> {
        let _turn = self.core().checkpoints.repairs.take().await;
        let mut damage = self.find_damage(table, index_number).await?;
        if damage.is_none() {
            return Ok(None);
        }
        let (first, mut result) = (damage.clone(), Err(EngineError::RestoreNotAll));
        for _ in 0..ATTEMPTS {
            result = self.restore_once(table, index_number, &damage, session, source).await;
            match &result {
                // Somebody has to have read it to say that it is whole.
                Ok(_) => {}
                Err(error) if error.class() == ErrorClass::Retry => {}
                Err(_) => break,
            }
            damage = self.find_damage(table, index_number).await?;
            if damage.is_none() {
                break;
            }
            result = result.and(Err(EngineError::RestoreNotAll));
        }
        if result.is_ok() && index_number == 0 && first.is_set_aside {
            self.recount(table).await?;
        }
        Ok(Some(IndexRepair { damage: first, result }))
    }

    async fn restore_once(
        self: &Arc<Self>,
        table: &Arc<Table>,
        index_number: usize,
        damage: &Damage,
        session: &Arc<SessionHandle>,
        source: &dyn RowSource,
    ) -> Result<String> {
        let fetched = match index_number {
            0 => source.rows(table, damage).await?,
            _ => {
                let restore = self.entries_of_rows(table, index_number, damage, session.clone()).await?;
                Fetched { restore, from: "the table's rows".to_string() }
            }
        };
        self.restore(fetched.restore).await?;
        Ok(fetched.from)
    }

    /// Ranges that were restored since the start.
    pub fn restored_ranges(&self) -> u64 {
        self.core().checkpoints.restores.ranges()
    }

    /// Counts a table's rows anew: changes that were left out of its trees were not counted again after a restart.
    async fn recount(self: &Arc<Self>, table: &Arc<Table>) -> Result<()> {
        let mut transaction = self.begin(TxnOptions::new(SessionHandle::internal()));
        transaction.lock_table(table, TableMode::IntentShared).await?;
        // What is being committed between the two is counted or not; it is an estimate.
        transaction.take_snapshot();
        let counted = self.estimate_rows(table);
        let rows = transaction.sum(table, &KeyRange::all()).await?.rows;
        table.count_rows(rows.cast_signed() - counted.cast_signed());
        Ok(())
    }
}

impl From<&KeySpan> for KeyRange {
    fn from(span: &KeySpan) -> Self {
        KeyRange {
            lower: Bound::Included(span.lower.clone()),
            upper: span.upper.clone().map_or(Bound::Unbounded, Bound::Excluded),
        }
    }
}
