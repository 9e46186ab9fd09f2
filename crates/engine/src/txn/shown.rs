//! What others see of a session's open transaction, as `information_schema.INNODB_TRX` tells it.
//!
//! The transaction writes its figures where its session has room for one, without a lock; a reader gets each figure as it was a moment ago, and not
//! all of them of one moment.
//!
//! # Invariants
//! - A session shows at most one transaction, the one that was the last to use a table that is not temporary.
//! - What is shown ends with its transaction, or when this is prepared (XA) and can go on without the session.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};

use base::UnixMicros;

use super::Transaction;
use crate::lock::LockOwner;
use crate::options::{Isolation, SessionHandle, TxnOptions};

/// Room for the figures of a session's open transaction.
#[derive(Debug, Default)]
pub struct ShownTransaction {
    /// 0 for none.
    number: AtomicU64,
    began: AtomicU64,
    isolation: AtomicU8,
    flags: AtomicU8,
    tables_locked: AtomicU64,
    rows_locked: AtomicU64,
    rows_modified: AtomicU64,
}

const READ_ONLY: u8 = 1;
const AUTOCOMMIT: u8 = 2;
const UNIQUE_CHECKS: u8 = 4;
const FOREIGN_KEY_CHECKS: u8 = 8;

/// An open transaction as others see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransactionFigures {
    /// Its number, which no other of this server has until a restart.
    pub number: u64,
    /// When the statement began that was the first to use a table.
    pub began: UnixMicros,
    /// What it sees of others.
    pub isolation: Isolation,
    /// It refuses writes.
    pub is_read_only: bool,
    /// It is one statement by itself.
    pub is_autocommit: bool,
    /// `unique_checks` and `foreign_key_checks`.
    pub checks: [bool; 2],
    /// Tables that it uses.
    pub tables_locked: u64,
    /// Locks on rows and gaps.
    pub rows_locked: u64,
    /// Rows that it has changed, also those whose change was undone.
    pub rows_modified: u64,
}

impl ShownTransaction {
    /// The session's open transaction, if it has used a table.
    pub fn figures(&self) -> Option<TransactionFigures> {
        let number = self.number.load(Relaxed);
        let isolations =
            [Isolation::ReadUncommitted, Isolation::ReadCommitted, Isolation::RepeatableRead, Isolation::Serializable];
        let isolation = self.isolation.load(Relaxed);
        let flags = self.flags.load(Relaxed);
        let has = |flag: u8| flags & flag != 0;
        (number != 0).then(|| TransactionFigures {
            number,
            began: UnixMicros(self.began.load(Relaxed)),
            isolation: isolations.into_iter().find(|known| *known as u8 == isolation).unwrap_or_default(),
            is_read_only: has(READ_ONLY),
            is_autocommit: has(AUTOCOMMIT),
            checks: [has(UNIQUE_CHECKS), has(FOREIGN_KEY_CHECKS)],
            tables_locked: self.tables_locked.load(Relaxed),
            rows_locked: self.rows_locked.load(Relaxed),
            rows_modified: self.rows_modified.load(Relaxed),
        })
    }

    fn begin(&self, number: u64, options: &TxnOptions) {
        let flags = [
            (READ_ONLY, options.read_only),
            (AUTOCOMMIT, options.is_autocommit),
            (UNIQUE_CHECKS, !options.relaxed_unique_checks),
            (FOREIGN_KEY_CHECKS, !options.unchecked),
        ];
        let flags = flags.into_iter().filter(|(_, is_set)| *is_set).fold(0, |all, (flag, _)| all | flag);
        self.began.store(options.statement_began.0, Relaxed);
        self.isolation.store(options.isolation as u8, Relaxed);
        self.flags.store(flags, Relaxed);
        self.number.store(number, Relaxed);
    }

    fn count(&self, locks: &LockOwner) {
        self.tables_locked.store(locks.table_count() as u64, Relaxed);
        self.rows_locked.store(locks.len() as u64, Relaxed);
        self.rows_modified.store(locks.work(), Relaxed);
    }
}

/// As long as it lives, its session shows this transaction.
pub(super) struct Shown {
    session: Arc<SessionHandle>,
    number: u64,
}

impl Drop for Shown {
    fn drop(&mut self) {
        // Another one may be shown by now.
        let _ = self.session.transaction.number.compare_exchange(self.number, 0, Relaxed, Relaxed);
    }
}

impl Transaction {
    /// Shows it, if it is not shown yet, with what it has locked and changed by now.
    pub(super) fn show(&mut self) {
        if self.shown.is_none() {
            let number = self.locks.number();
            self.options.session.transaction.begin(number, &self.options);
            self.shown = Some(Shown { session: self.options.session.clone(), number });
            self.show_counts();
        }
    }

    /// Shows what it has locked and changed by now, if it is shown.
    pub(super) fn show_counts(&self) {
        if let Some(shown) = &self.shown {
            shown.session.transaction.count(&self.locks);
        }
    }
}
