//! Locks of transactions: on rows, on gaps between rows, on tables and names.
//!
//! # Model
//! A transaction has one [`LockOwner`]; through it, it asks for locks, and dropping it (or [`LockOwner::release_all`])
//! lets all of them go. Locks live apart from pages and rows: a **record lock** is on (index, key) whether the row
//! exists or not, a **gap lock** is on a range of keys of one index. So nothing is inherited or moved when a row comes
//! or goes, a page splits, or a checkpoint replaces a tree.
//!
//! | what | conflicts with, if another owner has it | waits |
//! |---|---|---|
//! | record S, X | record X; S and X | in the queue of that key, who has most to lose before the others |
//! | gap `(a, b)` | an insert pending inside the gap | for that insert's record lock |
//! | insert at `k` | a gap around `k`; then record X on `k` | until no other's gap is around `k`; then as record X |
//! | table/name IS, IX, S, X | the usual matrix | in the queue of that target, first come first served |
//!
//! Gap locks never conflict with each other. An insert counts as *pending* from its lock until its owner's release:
//! our write sets are private, so a scan cannot see another's uncommitted row, and has to learn of it here.
//!
//! # How a scan locks (next-key)
//! 1. Read the next key `k` after the last position `p`.
//! 2. [`LockOwner::gap`] on `(p, k)`, then [`LockOwner::record`] on `k` (the same row in InnoDB's next-key lock).
//! 3. If either says [`Acquired::waited`], or `k` is no longer the first key after `p`, start again at 1: what
//!    was locked stays locked, what came in between is found now.
//!
//! READ COMMITTED leaves gaps out and gives rows that did not match back with [`LockOwner::unlock_record`].
//!
//! # Very many locks
//! An owner that has collected [`LockOptions::pack_at`] record locks, or pending inserts, **packs** them (`packing`): what nobody else
//! has or wants keeps a fingerprint of eight bytes (`packed`), and keys of pending inserts what they differ by
//! (`packed_keys`). Nothing is escalated, and nobody sees a difference: who asks for a packed lock unpacks it. Small
//! transactions pay a comparison. What is contended, or unpacked, takes about 100 bytes, as locks of small transactions do.

mod deadlock;
mod manager;
mod mode;
mod owner;
mod packed;
mod packed_keys;
mod packing;
mod ranges;
mod table;
#[cfg(test)]
mod tests;
mod turn;
mod waiter;
mod weak;

use std::time::Duration;

use base::{Cancel, ErrorClass, SqlError, TableId, codes};

pub use self::manager::{LockManager, LockStats, LockWaits};
pub use self::owner::LockOwner;
pub use self::turn::{Turn, TurnWait};

/// How strong a record lock is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strength {
    /// `FOR SHARE`: others may share it.
    Shared,
    /// `FOR UPDATE` and every change.
    Exclusive,
}

/// Modes of locks on tables and names: the usual four.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableMode {
    /// Reads rows; conflicts with `Exclusive` only.
    IntentShared,
    /// Changes rows; conflicts with `Shared` and `Exclusive`.
    IntentExclusive,
    /// `LOCK TABLES … READ`, `FLUSH TABLES WITH READ LOCK`: nobody changes rows.
    Shared,
    /// DDL, `LOCK TABLES … WRITE`: nobody else uses it.
    Exclusive,
}

/// What a table-like lock is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target<'a> {
    /// A table that exists.
    Table(TableId),
    /// A name, whether something of that name exists or not: CREATE, RENAME, DROP.
    Name {
        /// Database.
        schema: &'a str,
        /// Table; empty for the database itself.
        name: &'a str,
    },
    /// All tables: `FLUSH TABLES WITH READ LOCK`; whoever writes has it `IntentExclusive`.
    Global,
    /// `GET_LOCK(name)`.
    User(&'a str),
}

/// What to do when a lock is not free.
#[derive(Clone, Copy)]
pub struct Wait<'a> {
    /// Wait, and how long.
    pub policy: WaitPolicy,
    /// Ends the wait with [`LockError::Cancelled`].
    pub cancel: &'a Cancel,
}

/// See [`Wait`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitPolicy {
    /// Wait this long at most (`innodb_lock_wait_timeout`), then [`LockError::Timeout`].
    For(Duration),
    /// `NOWAIT`: [`LockError::NotAvailable`] at once.
    NoWait,
    /// `SKIP LOCKED`: [`Acquired::Skipped`] at once.
    Skip,
}

/// How a lock came to be held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acquired {
    /// It was free.
    New,
    /// The owner had it already, perhaps weaker; giving it back would give up more than this request.
    Already,
    /// Others had it first: what was read before may have changed.
    AfterWait {
        /// The owner had nothing on it before.
        new: bool,
    },
    /// Others have it, and the policy is [`WaitPolicy::Skip`].
    Skipped,
}

impl Acquired {
    /// Whether others had it first.
    pub fn waited(self) -> bool {
        matches!(self, Acquired::AfterWait { .. })
    }

    /// Whether the owner had nothing on it before, so that giving it back takes away only what this request gave.
    pub fn is_new(self) -> bool {
        matches!(self, Acquired::New | Acquired::AfterWait { new: true })
    }
}

/// Why a lock was not given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LockError {
    /// 1205.
    #[error("Lock wait timeout exceeded; try restarting transaction")]
    Timeout,
    /// 1213: this owner was chosen as the victim; its transaction has to be rolled back.
    #[error("Deadlock found when trying to get lock; try restarting transaction")]
    Deadlock,
    /// 3572, `NOWAIT`.
    #[error("Statement aborted because lock(s) could not be acquired immediately and NOWAIT is set.")]
    NotAvailable,
    /// KILL, shutdown, or the client is gone.
    #[error("Query execution was interrupted")]
    Cancelled,
    /// 1206: the owner has as many locks as it may have.
    #[error("The total number of locks exceeds the lock table size")]
    TooMany,
}

impl LockError {
    /// What a caller can do about it.
    pub fn class(&self) -> ErrorClass {
        match self {
            LockError::Timeout | LockError::Deadlock | LockError::NotAvailable => ErrorClass::Retry,
            LockError::Cancelled => ErrorClass::Cancelled,
            LockError::TooMany => ErrorClass::Full,
        }
    }
}

impl From<LockError> for SqlError {
    fn from(error: LockError) -> Self {
        let code = match error {
            LockError::Timeout => codes::LOCK_WAIT_TIMEOUT,
            LockError::Deadlock => codes::LOCK_DEADLOCK,
            LockError::NotAvailable => codes::LOCK_NOWAIT,
            LockError::Cancelled => codes::QUERY_INTERRUPTED,
            LockError::TooMany => codes::LOCK_TABLE_FULL,
        };
        SqlError::new(code, error.to_string())
    }
}

/// Bounds of the lock manager.
#[derive(Clone, Copy, Debug)]
pub struct LockOptions {
    /// Locks on records that one owner may have; more is [`LockError::TooMany`]. Packed they take about 12 bytes each, and as
    /// pending inserts what their keys differ by.
    pub owner_locks_max: usize,
    /// An owner that has collected so many locks on records, or pending inserts, packs them.
    pub pack_at: usize,
}

impl Default for LockOptions {
    fn default() -> Self {
        LockOptions { owner_locks_max: 500_000_000, pack_at: 1 << 14 }
    }
}
