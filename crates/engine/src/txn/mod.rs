//! Transactions: what one session has read, locked and written, and has not yet committed.

mod mode;

use std::sync::Arc;

use base::{CommitNumber, LogPosition};
use bytes::Bytes;

use crate::catalog::Table;
use crate::commit::Place;
use crate::engine::Engine;
use crate::error::{EngineError, Result};
use crate::lock::TableMode;
use crate::options::TxnOptions;

pub use mode::{Direction, Entry, KeyRange, LockStrength, LockWait, ReadMode};

/// A transaction. Dropping it rolls it back.
pub struct Transaction {
    engine: Arc<Engine>,
    options: TxnOptions,
}

/// A mark in a transaction's writes; see [`Transaction::savepoint`]. Locks taken after it stay when it is rolled back to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Savepoint {
    pub(crate) undo_length: usize,
    pub(crate) op_count: usize,
}

/// How a transaction ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Commit {
    /// Its place in the log; `None` if it wrote nothing.
    pub place: Option<Place>,
}

/// A scan under way; see [`Transaction::scan`].
pub struct Scan {}

const UNFINISHED: EngineError = EngineError::NotReady("transactions are not ready yet");

#[expect(clippy::unused_async, unused_variables, reason = "the bodies follow")]
impl Transaction {
    /// How it was begun.
    pub fn options(&self) -> &TxnOptions {
        &self.options
    }

    /// The engine it runs in.
    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    /// Begins a statement: READ COMMITTED gets a new read view, and [`Transaction::rollback_statement`] goes back to here.
    pub fn start_statement(&mut self) {}

    /// Undoes what the statement has written (its locks stay). For every error but those that end the transaction.
    pub fn rollback_statement(&mut self) {}

    /// The text for the ROWS_QUERY event before the statement's rows (`binlog_rows_query_log_events`).
    pub fn set_query_text(&mut self, text: &str) {}

    /// Takes the read view now (`START TRANSACTION WITH CONSISTENT SNAPSHOT`); waits for nothing. The commit number and log
    /// position of which it is exactly the state.
    pub fn take_snapshot(&mut self) -> (CommitNumber, LogPosition) {
        (CommitNumber(0), LogPosition::default())
    }

    /// Where the read view is, if there is one.
    pub fn snapshot(&self) -> Option<(CommitNumber, LogPosition)> {
        None
    }

    /// Locks a table for the rest of the transaction before the first use of it in a statement: `IntentShared` to read,
    /// `IntentExclusive` to write (or lock rows), others for LOCK TABLES. Fails with [`EngineError::TableChanged`] if the
    /// table is no longer what the statement was planned with; and with `NoSuchTable`.
    pub async fn lock_table(&mut self, table: &Arc<Table>, mode: TableMode) -> Result<()> {
        Err(UNFINISHED)
    }

    /// The row with this clustered key. Locking reads in REPEATABLE READ lock the gap if there is none.
    pub async fn get(&mut self, table: &Arc<Table>, key: &[u8], mode: ReadMode) -> Result<Option<Bytes>> {
        Err(UNFINISHED)
    }

    /// Begins a scan over a range of one index (position in `table.def.indexes`); reads and locks nothing yet. With a
    /// secondary index the entries' values are covering images, and locking reads lock the rows behind them too.
    pub fn scan(
        &mut self,
        table: &Arc<Table>,
        index_number: usize,
        range: KeyRange,
        direction: Direction,
        mode: ReadMode,
    ) -> Scan {
        Scan {}
    }

    /// Adds at least one and at most about `max` entries to `out`; false at the end of the range. Locking scans give (and lock) no more than
    /// `max`, so that a LIMIT locks what it needs.
    pub async fn next_batch(&mut self, scan: &mut Scan, out: &mut Vec<Entry>, max: usize) -> Result<bool> {
        Err(UNFINISHED)
    }

    /// Gives back the lock of a row that a locking read found and the statement does not want; does something in READ
    /// COMMITTED only, and never to rows that this transaction has changed.
    pub fn unlock_row(&mut self, table: &Arc<Table>, key: &[u8]) {}

    /// Inserts a row. [`EngineError::DuplicateKey`] names the row in the way, which is then locked; nothing was written.
    pub async fn insert(&mut self, table: &Arc<Table>, row: Bytes) -> Result<()> {
        Err(UNFINISHED)
    }

    /// Changes a row that a locking read of this transaction gave (`old`).
    pub async fn update(&mut self, table: &Arc<Table>, old: &Bytes, new: Bytes) -> Result<()> {
        Err(UNFINISHED)
    }

    /// Deletes a row that a locking read of this transaction gave (`old`).
    pub async fn delete(&mut self, table: &Arc<Table>, old: &Bytes) -> Result<()> {
        Err(UNFINISHED)
    }

    /// About how many entries a range of an index has, for the planner.
    pub async fn estimate(&self, table: &Arc<Table>, index_number: usize, range: &KeyRange) -> Result<u64> {
        Err(UNFINISHED)
    }

    /// A mark to which [`Transaction::rollback_to`] goes back.
    pub fn savepoint(&self) -> Savepoint {
        Savepoint { undo_length: 0, op_count: 0 }
    }

    /// Undoes what was written since the mark.
    pub fn rollback_to(&mut self, savepoint: Savepoint) {}

    /// Whether it has written anything.
    pub fn has_writes(&self) -> bool {
        false
    }

    /// False once it was rolled back as a whole (deadlock): only dropping it is left.
    pub fn is_active(&self) -> bool {
        true
    }

    /// Commits; ready when everybody can see it and it is as durable as `sync_binlog` asks. A future that is dropped before
    /// that may have committed or not.
    pub async fn commit(self) -> Result<Commit> {
        Err(UNFINISHED)
    }

    /// Undoes everything and lets all locks go; as dropping it does.
    pub fn rollback(self) {}
}
