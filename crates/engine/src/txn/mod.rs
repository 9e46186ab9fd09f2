//! Transactions: what one session has read, locked and written, and has not yet committed.
//!
//! # Model
//! A [`Transaction`] owns its locks, its read view and its [`write_set`]; nobody else sees any of its writes before
//! [`Transaction::commit`], so rolling back is dropping. Reads are of two kinds. *Consistent* reads see a state (the
//! read view) with the transaction's own writes over it, and lock nothing. *Locking* reads, with which every change begins, lock
//! the row first and then see its newest version: even one that is only about to be synced, because who wrote it has its
//! place in the log before us.
//!
//! | | own writes | of others |
//! |---|---|---|
//! | consistent | yes | committed at or below the view's number |
//! | locking | yes | the newest that has its place in the commit queue |
//! | locking, on a follower | none | as consistent: nothing can be locked |
//!
//! # Locks
//! | for | record lock | besides |
//! |---|---|---|
//! | a row, to read or change | its clustered key | |
//! | a new row | its clustered key, as an insert | as an insert, each secondary entry; for a unique one the unique part of the key |
//! | a row that goes, or changes a unique key | | exclusively, the unique part of the old key |
//! | a key that is not there (REPEATABLE READ) | | the gap that is just this key |
//! | a range (REPEATABLE READ) | every row in it | the gap that is the range |
//!
//! # Invariants
//! - A row is written only under its exclusive lock, and a unique key comes or goes only under that key's exclusive lock.
//! - Locks are let go only when the versions are installed and the place in the queue is taken, or all is undone.
//! - A read view is opened at the first consistent read (or by [`Transaction::take_snapshot`]) and kept until the end; in
//!   READ COMMITTED until the next statement.

mod check;
mod commit;
mod mode;
mod prepare;
mod read;
mod scan;
mod shown;
mod snapshot;
mod spill;
mod sum;
mod write;
mod write_set;

use std::sync::Arc;

use base::{Cancelled, CommitNumber, IndexId, LogPosition};
use binlog::EncodedTransaction;
use bytes::Bytes;

use crate::catalog::Table;
use crate::commit::Place;
use crate::core::Core;
use crate::engine::Engine;
use crate::error::{EngineError, Result};
use crate::lock::{Acquired, LockError, LockOwner, TableMode, Target, TurnWait, Wait, WaitPolicy};
use crate::memtable::Key;
use crate::options::{Isolation, SessionHandle, TxnOptions};
use crate::temporary::TemporaryUndo;
use crate::view::ReadView;

pub use commit::Pending;
pub use mode::{Direction, Entry, KeyRange, LockStrength, LockWait, ReadMode};
pub use scan::{Rows, Scan};
pub use shown::{ShownTransaction, TransactionFigures};
pub use snapshot::{ReaderPlace, Snapshot, SnapshotScan};
pub(crate) use write_set::{OwnCursor, Step, Write, WriteSet, key_hash};

/// Two bounds of keys, borrowed.
type KeyBounds<'a> = (std::ops::Bound<&'a [u8]>, std::ops::Bound<&'a [u8]>);

/// A transaction. Dropping it rolls it back.
pub struct Transaction {
    engine: Arc<Engine>,
    options: TxnOptions,
    locks: LockOwner,
    view: Option<Arc<ReadView>>,
    writes: WriteSet,
    /// What it has changed in temporary tables.
    temporary: TemporaryUndo,
    /// Where the present statement began.
    statement: Savepoint,
    /// The newest version that a locking read saw before it was published.
    read_upto: CommitNumber,
    /// A locking read saw a version before it had its number.
    read_pending: bool,
    /// Record locks that the last locking read took and that READ COMMITTED may give back.
    fresh_locks: Vec<(IndexId, Key)>,
    /// What foreign keys of written rows refer to; see [`Transaction::refer_to`].
    referred: Vec<u64>,
    /// It has read on a follower what it wanted to lock; see [`Transaction::mode_here`].
    lacks_locks: bool,
    rolled_back: bool,
    /// Its first phase is done.
    prepared: Option<prepare::Prepared>,
    /// Its events, if they were made before its turn to commit.
    encoded: Option<Box<EncodedTransaction>>,
    /// It has used a table, and its session shows it.
    shown: Option<shown::Shown>,
}

/// A mark in a transaction's writes; see [`Transaction::savepoint`]. Locks taken after it stay when it is rolled back to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Savepoint {
    pub(crate) undo_length: usize,
    pub(crate) op_count: usize,
    pub(crate) bytes: usize,
    pub(crate) temporary: usize,
}

/// How a transaction ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Commit {
    /// Its place in the log; `None` if it wrote nothing.
    pub place: Option<Place>,
}

impl Transaction {
    pub(crate) fn new(engine: Arc<Engine>, options: TxnOptions) -> Self {
        let mut locks = match &options.under {
            Some(tables) => tables.child(),
            None => engine.core().locks.owner(),
        };
        locks.set_turn(options.turn);
        Transaction {
            engine,
            options,
            locks,
            view: None,
            writes: WriteSet::default(),
            temporary: TemporaryUndo::default(),
            statement: Savepoint::default(),
            read_upto: CommitNumber(0),
            read_pending: false,
            fresh_locks: Vec::new(),
            referred: Vec::new(),
            lacks_locks: false,
            rolled_back: false,
            prepared: None,
            encoded: None,
            shown: None,
        }
    }

    /// Reads the state of a view that is open already.
    pub(crate) fn with_view(mut self, view: ReadView) -> Self {
        self.view = Some(Arc::new(view));
        self
    }

    /// How it was begun.
    pub fn options(&self) -> &TxnOptions {
        &self.options
    }

    /// The same, to change what a session may change between statements (checks, timeouts).
    pub fn options_mut(&mut self) -> &mut TxnOptions {
        &mut self.options
    }

    /// The engine it runs in.
    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    /// Begins a statement: READ COMMITTED gets a new read view, and [`Transaction::rollback_statement`] goes back to here.
    pub fn start_statement(&mut self) {
        if matches!(self.options.isolation, Isolation::ReadCommitted | Isolation::ReadUncommitted) {
            self.view = None;
        }
        self.statement = Savepoint { temporary: self.temporary.len(), ..self.writes.savepoint() };
        self.writes.row = None;
    }

    /// Begins a row that may be taken back ([`Transaction::rollback_to`]) until the next one begins: cheaper than a savepoint, of
    /// which there may be many.
    pub fn begin_row(&mut self) -> Savepoint {
        let mark = self.writes.savepoint();
        self.writes.row = Some(mark);
        Savepoint { temporary: self.temporary.len(), ..mark }
    }

    /// Undoes what the statement has written (its locks stay). For every error but those that end the transaction.
    pub fn rollback_statement(&mut self) {
        self.rollback_writes(self.statement);
    }

    /// The text for the ROWS_QUERY event before the statement's rows (`binlog_rows_query_log_events`).
    pub fn set_query_text(&mut self, text: &str) {
        self.writes.add_step(Step::Query(text.into()));
    }

    /// A row that was written refers, or referred, to this unique key of another table by a foreign key: whoever changes the key
    /// and this transaction depend on each other as if both had written it.
    pub fn refer_to(&mut self, table: &Table, index_number: usize, key: &[u8]) {
        self.referred.push(table.key_hash(index_number, key));
    }

    /// Rows are written that a replica must not check by their foreign keys, nor cascade from: the session checks none, or
    /// has cascaded itself and all of that is in the log. The flags of the rows events say so.
    pub fn set_unchecked(&mut self) {
        self.options.unchecked = true;
    }

    /// Takes the read view now (`START TRANSACTION WITH CONSISTENT SNAPSHOT`); waits for nothing. The commit number and log
    /// position of which it is exactly the state.
    pub fn take_snapshot(&mut self) -> (CommitNumber, LogPosition) {
        let views = &self.engine.core().views;
        let view = self.view.get_or_insert_with(|| Arc::new(views.open()));
        let at = (view.snapshot(), view.position());
        self.show();
        at
    }

    /// Where the read view is, if there is one.
    pub fn snapshot(&self) -> Option<(CommitNumber, LogPosition)> {
        self.view.as_ref().map(|view| (view.snapshot(), view.position()))
    }

    /// Locks a table for the rest of the transaction before the first use of it in a statement: `IntentShared` to read,
    /// `IntentExclusive` to write (or lock rows), others for LOCK TABLES. Fails with [`EngineError::TableChanged`] if the
    /// table is no longer what the statement was planned with.
    pub async fn lock_table(&mut self, table: &Arc<Table>, mode: TableMode) -> Result<()> {
        self.check_active()?;
        if table.is_temporary() {
            return Ok(());
        }
        let id = table.id();
        let wait = wait_of(&self.options, LockWait::Wait);
        let result = self.locks.table(Target::Table(id), mode, wait).await;
        self.lock_result(result)?;
        match self.engine.core().catalog.load().table_by_id(id) {
            Some(now) if Arc::ptr_eq(now, table) => {
                self.show();
                Ok(())
            }
            _ => Err(EngineError::TableChanged(table.full_name())),
        }
    }

    /// A mark to which [`Transaction::rollback_to`] goes back.
    pub fn savepoint(&mut self) -> Savepoint {
        Savepoint { temporary: self.temporary.len(), ..self.writes.mark() }
    }

    fn rollback_writes(&mut self, savepoint: Savepoint) {
        self.temporary.rollback_to(savepoint.temporary);
        // What the log's writes remember of their marks does not know of temporary tables.
        self.writes.rollback_to(Savepoint { temporary: 0, ..savepoint });
    }

    /// Undoes what was written since the mark.
    pub fn rollback_to(&mut self, savepoint: Savepoint) {
        self.rollback_writes(savepoint);
        self.statement = self.statement.min(savepoint);
    }

    /// Whether it has written anything.
    pub fn has_writes(&self) -> bool {
        !self.writes.is_empty()
    }

    /// False once it was rolled back as a whole (deadlock): only dropping it is left.
    pub fn is_active(&self) -> bool {
        !self.rolled_back
    }

    /// It has done its work and waits for its turn to commit; `None` if it is in nobody's way.
    pub fn wait_for_turn(&self) -> Option<TurnWait> {
        self.locks.wait_for_turn()
    }

    /// Undoes everything and lets all locks go; as dropping it does.
    pub fn rollback(self) {}

    fn core(&self) -> &Arc<Core> {
        self.engine.core()
    }

    fn session(&self) -> &SessionHandle {
        &self.options.session
    }

    fn check_active(&self) -> Result<()> {
        if self.rolled_back || self.writes.is_broken { Err(EngineError::RolledBack) } else { Ok(()) }
    }

    /// Whether ranges are locked against inserts of others.
    fn locks_gaps(&self) -> bool {
        matches!(self.options.isolation, Isolation::RepeatableRead | Isolation::Serializable)
    }

    /// Undoes everything now, without being dropped.
    fn abandon(&mut self) {
        self.writes = WriteSet::default();
        self.temporary = TemporaryUndo::default();
        self.locks.release_all();
        self.view = None;
        self.shown = None;
        self.rolled_back = true;
    }

    /// A lock request's end, in this crate's errors. A victim of a deadlock is rolled back here.
    fn lock_result(&mut self, result: Result<Acquired, LockError>) -> Result<Acquired> {
        let error = match result {
            Ok(acquired) => {
                self.show_counts();
                return Ok(acquired);
            }
            Err(LockError::Timeout) => EngineError::LockWaitTimeout,
            Err(LockError::NotAvailable) => EngineError::LockNowait,
            Err(error @ LockError::TooMany) => EngineError::Sql(error.into()),
            Err(LockError::Cancelled) => {
                EngineError::Cancelled(self.session().cancel.check().err().unwrap_or(Cancelled::Statement))
            }
            Err(LockError::Deadlock) => {
                self.abandon();
                EngineError::Deadlock
            }
        };
        Err(error)
    }

    async fn lock_record(
        &mut self,
        index: IndexId,
        key: &[u8],
        strength: LockStrength,
        wait: LockWait,
    ) -> Result<Acquired> {
        let wait = wait_of(&self.options, wait);
        let result = self.locks.record(index, key, strength, wait).await;
        self.lock_result(result)
    }

    async fn lock_gap(
        &mut self,
        index: IndexId,
        (lower, upper): KeyBounds<'_>,
        strength: LockStrength,
        wait: LockWait,
    ) -> Result<Acquired> {
        let wait = wait_of(&self.options, wait);
        let range = (lower.map(Bytes::copy_from_slice), upper.map(Bytes::copy_from_slice));
        let result = self.locks.gap(index, range, strength, wait).await;
        self.lock_result(result)
    }

    async fn lock_insert(&mut self, index: IndexId, key: &Bytes) -> Result<Acquired> {
        let wait = wait_of(&self.options, LockWait::Wait);
        let result = self.locks.insert(index, key, wait).await;
        self.lock_result(result)
    }
}

fn wait_of(options: &TxnOptions, wait: LockWait) -> Wait<'_> {
    let policy = match wait {
        LockWait::Wait => WaitPolicy::For(options.lock_wait_timeout),
        LockWait::NoWait => WaitPolicy::NoWait,
        LockWait::SkipLocked => WaitPolicy::Skip,
    };
    Wait { policy, cancel: &options.session.cancel }
}
