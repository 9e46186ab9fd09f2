//! The session's transaction: when it begins, what ends it.
//!
//! ```text
//!               autocommit                                   BEGIN, or autocommit = 0
//!   statement ── begin ── run ── commit                      begin ── run ── run ── … ── COMMIT | ROLLBACK
//!                                                             (implicit COMMIT: DDL, BEGIN, LOCK TABLES, SET autocommit = 1)
//! ```

use std::sync::Arc;

use base::{SqlError, codes};
use engine::{Isolation, Savepoint, Transaction, TxnOptions};

use super::Session;
use super::counters::Counter;
use crate::parse::ast::{Completion, TransactionStatement};
use crate::result::Outcome;
use crate::settings::CompletionType;

/// The transaction of a session, if it has one, and what was said for the next.
#[derive(Default)]
pub(super) struct TransactionState {
    open: Option<Open>,
    pub(super) next: Next,
    /// What a rollback will not take back.
    pub(super) temporary: TemporaryChanges,
}

/// What SET TRANSACTION has said of the next transaction alone: of the one that is the next to use a table, or to be begun by BEGIN. It is forgotten when
/// a transaction ends, or would if there was one.
#[derive(Clone, Copy, Default)]
pub(super) struct Next {
    pub(super) isolation: Option<Isolation>,
    pub(super) read_only: Option<bool>,
}

/// Definitions of temporary tables since the last commit or rollback.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TemporaryChanges {
    pub(super) created: bool,
    pub(super) dropped: bool,
}

/// An open transaction.
pub(super) struct Open {
    pub(super) transaction: Transaction,
    /// It stays open after the statement.
    pub(super) explicit: bool,
    pub(super) read_only: bool,
    pub(super) isolation: Isolation,
    /// It was begun for a statement, and none has used a table: to clients it is not there.
    is_unused: bool,
    savepoints: Vec<(String, Savepoint)>,
}

impl TransactionState {
    pub(super) fn open(&self) -> Option<&Open> {
        self.open.as_ref()
    }

    pub(super) fn open_mut(&mut self) -> Option<&mut Open> {
        self.open.as_mut()
    }

    /// A statement is going to use tables in the transaction that is open.
    pub(super) fn note_use(&mut self) {
        if self.open.as_mut().is_some_and(|open| std::mem::take(&mut open.is_unused)) {
            self.next = Next::default();
        }
    }
}

impl Session {
    /// Begins a transaction for a statement, if there is none.
    pub(super) fn transaction_for_statement(&mut self) {
        let explicit = !self.settings.autocommit;
        if self.transaction.open.is_none() {
            let next = self.transaction.next;
            self.begin_transaction(explicit, None);
            self.transaction.next = next;
            self.transaction.open.iter_mut().for_each(|open| open.is_unused = true);
        }
    }

    /// The transaction for what is going to use it in any case.
    pub(super) fn transaction_to_use(&mut self) -> &mut Open {
        self.transaction_for_statement();
        self.transaction.note_use();
        match &mut self.transaction.open {
            Some(open) => open,
            None => unreachable!("a transaction was begun"),
        }
    }

    /// Begins a transaction that stays open, for rows of another server's log, if there is none.
    pub(super) fn transaction_for_replay(&mut self) {
        if self.transaction.open.is_none() {
            self.begin_transaction(true, Some(false));
        }
    }

    pub(super) fn begin_transaction(&mut self, explicit: bool, read_only: Option<bool>) {
        let settings = &self.settings;
        let next = std::mem::take(&mut self.transaction.next);
        let isolation = next.isolation.unwrap_or(settings.transaction_isolation);
        let read_only = read_only.or(next.read_only).unwrap_or(settings.transaction_read_only);
        self.begin_with(explicit, isolation, read_only);
    }

    fn begin_with(&mut self, explicit: bool, isolation: Isolation, read_only: bool) {
        let settings = &self.settings;
        let options = TxnOptions {
            isolation,
            read_only,
            lock_wait_timeout: settings.innodb_lock_wait_timeout,
            commit_wait_timeout: settings.lock_wait_timeout,
            row_image: settings.binlog_row_image,
            relaxed_unique_checks: !settings.unique_checks,
            context: self.log_context.clone(),
            gtid: self.gtid_choice(),
            origin: self.origin,
            under: self.locked.owner.clone(),
            turn: self.in_order.turn,
            is_serial: settings.skip_parallel_replication,
            is_autocommit: !explicit,
            statement_began: self.now,
            ..TxnOptions::new(self.handle.clone())
        };
        let transaction = self.shared.engine.begin(options);
        let (is_unused, savepoints) = (false, Vec::new());
        self.transaction.open = Some(Open { transaction, explicit, read_only, isolation, is_unused, savepoints });
    }

    /// What the session may have changed since the transaction began, and counts from the next statement on.
    pub(super) fn renew_options(&self, transaction: &mut Transaction, writes: bool) {
        let settings = &self.settings;
        let options = transaction.options_mut();
        options.lock_wait_timeout = settings.innodb_lock_wait_timeout;
        options.commit_wait_timeout = settings.lock_wait_timeout;
        options.relaxed_unique_checks = !settings.unique_checks;
        options.is_serial = settings.skip_parallel_replication;
        options.statement_began = self.now;
        if writes && !settings.foreign_key_checks {
            transaction.set_unchecked();
        }
    }

    /// Whether a transaction stays open between statements.
    pub fn in_transaction(&self) -> bool {
        self.transaction.open.as_ref().is_some_and(|open| open.explicit)
    }

    /// The transaction, taken out for as long as a statement runs in it.
    pub(super) fn take_transaction(&mut self) -> Option<Open> {
        self.transaction.open.take()
    }

    /// Puts it back, unless it is not needed.
    pub(super) fn put_transaction(&mut self, open: Open) {
        self.transaction.open = Some(open).filter(|open| !open.is_unused);
    }

    /// Takes the transaction out for a statement of an administrator that only reads.
    pub(super) fn begin_reading(&mut self) -> Result<Open, SqlError> {
        self.transaction_to_use();
        let Some(mut open) = self.take_transaction() else { return Err(engine::EngineError::RolledBack.into()) };
        open.transaction.start_statement();
        Ok(open)
    }

    /// Puts it back. What has only read and is at its end needs no commit.
    pub(super) fn end_reading(&mut self, open: Open) {
        if open.explicit && open.transaction.is_active() {
            self.put_transaction(open);
        }
    }

    /// Commits what is open. An error means that nothing of it was committed.
    pub(crate) async fn commit(&mut self) -> Result<(), SqlError> {
        self.transaction.temporary = TemporaryChanges::default();
        if self.transaction.open.is_none() {
            self.transaction.next = Next::default();
            self.snapshot_position = None;
            return Ok(());
        }
        let pending = self.enqueue_commit().await?;
        self.wait_for_commit(pending.ended()).await
    }

    /// Rolls back what is open.
    pub(crate) fn rollback(&mut self) {
        self.snapshot_position = None;
        self.transaction.temporary = TemporaryChanges::default();
        self.transaction.next = Next::default();
        if let Some(open) = self.transaction.open.take() {
            self.count(Counter::HandlerRollback);
            open.transaction.rollback();
            self.gtid_ended();
        }
    }

    pub(super) async fn transaction_statement(
        &mut self,
        statement: &TransactionStatement,
    ) -> Result<Outcome, SqlError> {
        match statement {
            TransactionStatement::Begin { consistent_snapshot, read_only } => {
                self.begin(*consistent_snapshot, *read_only).await?;
            }
            TransactionStatement::Commit(completion) => {
                let before = self.characteristics();
                self.transaction.temporary = TemporaryChanges::default();
                // COMMIT ends what gtid_next began, even if it is nothing.
                let pending = self.enqueue_commit().await?;
                self.wait_for_commit(pending.ended()).await?;
                self.complete(*completion, before)?;
            }
            TransactionStatement::Rollback(completion) => {
                let before = self.characteristics();
                self.warn_of_temporary();
                self.rollback();
                // It ends what gtid_next began, even if it is nothing.
                self.gtid_ended();
                self.complete(*completion, before)?;
            }
            TransactionStatement::Savepoint(name) => {
                if self.in_transaction() || !self.settings.autocommit {
                    let open = self.transaction_to_use();
                    open.savepoints.retain(|(known, _)| !same(known, name));
                    let savepoint = open.transaction.savepoint();
                    open.savepoints.push((name.clone(), savepoint));
                }
            }
            TransactionStatement::RollbackTo(name) => {
                let at = self.savepoint(name)?;
                if let Some(open) = self.transaction.open_mut() {
                    open.savepoints.truncate(at + 1);
                    let savepoint = open.savepoints[at].1;
                    open.transaction.rollback_to(savepoint);
                }
                self.warn_of_temporary();
            }
            TransactionStatement::ReleaseSavepoint(name) => {
                let at = self.savepoint(name)?;
                if let Some(open) = self.transaction.open_mut() {
                    open.savepoints.truncate(at);
                }
            }
        }
        Ok(Outcome::default())
    }

    async fn begin(&mut self, consistent_snapshot: bool, read_only: Option<bool>) -> Result<(), SqlError> {
        let next = self.transaction.next;
        self.commit().await?;
        self.transaction.next = next;
        self.unlock_named_tables();
        if read_only == Some(false) && !self.may_write_in_spite_of_read_only() {
            self.check_server_writable()?;
        }
        self.begin_transaction(true, read_only);
        if consistent_snapshot && let Some(open) = self.transaction.open_mut() {
            if open.isolation == Isolation::ReadCommitted || open.isolation == Isolation::ReadUncommitted {
                let message = "InnoDB: WITH CONSISTENT SNAPSHOT was ignored because this phrase can only be used with \
                               REPEATABLE READ isolation level.";
                self.warnings.push(crate::expr::WarningLevel::Warning, codes::UNKNOWN_ERROR, message);
                return Ok(());
            }
            let (_, position) = open.transaction.take_snapshot();
            self.snapshot_position = Some(position);
        }
        Ok(())
    }

    fn characteristics(&self) -> (Isolation, bool) {
        match &self.transaction.open {
            Some(open) => (open.isolation, open.read_only),
            None => (self.settings.transaction_isolation, self.settings.transaction_read_only),
        }
    }

    /// AND CHAIN, RELEASE, or what `completion_type` says.
    fn complete(&mut self, completion: Completion, (isolation, read_only): (Isolation, bool)) -> Result<(), SqlError> {
        let by_default = self.settings.completion_type;
        let chain = completion.chain.unwrap_or(by_default == CompletionType::Chain && completion.release != Some(true));
        let release =
            completion.release.unwrap_or(by_default == CompletionType::Release && completion.chain != Some(true));
        if chain {
            self.begin_with(true, isolation, read_only);
        }
        if release {
            self.handle.cancel.cancel(base::Cancelled::Connection);
        }
        Ok(())
    }

    fn savepoint(&self, name: &str) -> Result<usize, SqlError> {
        let savepoints = self.transaction.open().map(|open| open.savepoints.as_slice()).unwrap_or_default();
        let found = savepoints.iter().position(|(known, _)| same(known, name));
        found.ok_or_else(|| SqlError::new(codes::SP_DOES_NOT_EXIST, format!("SAVEPOINT {name} does not exist")))
    }
}

fn same(a: &str, b: &str) -> bool {
    types::schema::same_name(a, b)
}

/// The options of what is no transaction of the session's own: DDL.
impl Session {
    pub(super) fn ddl_options(&self) -> TxnOptions {
        let lock_wait_timeout = self.settings.lock_wait_timeout;
        let under = self.locked.owner.clone();
        let (gtid, origin) = (self.gtid_choice(), self.origin);
        let source_position = self.source_position.clone();
        TxnOptions {
            lock_wait_timeout,
            under,
            gtid,
            origin,
            source_position,
            turn: self.in_order.turn,
            ..TxnOptions::new(Arc::clone(&self.handle))
        }
    }
}
