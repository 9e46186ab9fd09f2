//! What clients did and saw: the checker's only input.
//!
//! Every element is appended once in the whole history, so a list that was read says whose appends it contains, and in which
//! order they came.

use std::collections::BTreeMap;
use std::fmt;

/// Of a list.
pub(crate) type Key = u64;
/// A number that somebody appended.
pub(crate) type Element = u64;
/// A point in the order of what all clients did.
pub(crate) type Moment = u64;

/// A transaction's isolation level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Reads as READ COMMITTED; see `docs/DIFFERENCES.md`.
    ReadUncommitted,
    /// A read view for each statement.
    ReadCommitted,
    /// A read view for all plain reads; changes and locking reads see the newest.
    RepeatableRead,
    /// Every read locks.
    Serializable,
}

impl Level {
    /// All of them.
    pub const ALL: [Level; 4] =
        [Level::ReadUncommitted, Level::ReadCommitted, Level::RepeatableRead, Level::Serializable];

    /// As in SET TRANSACTION ISOLATION LEVEL.
    pub(crate) fn sql(self) -> &'static str {
        match self {
            Level::ReadUncommitted => "READ UNCOMMITTED",
            Level::ReadCommitted => "READ COMMITTED",
            Level::RepeatableRead => "REPEATABLE READ",
            Level::Serializable => "SERIALIZABLE",
        }
    }

    /// Whether plain reads of one transaction see one state.
    pub(super) fn keeps_its_view(self) -> bool {
        matches!(self, Level::RepeatableRead | Level::Serializable)
    }
}

/// One step of a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    /// `done` is false if the server refused it, and it must never be seen.
    Append { key: Key, element: Element, done: bool },
    /// One statement that read these lists, whole; one that is not there is empty.
    Read { locking: bool, lists: BTreeMap<Key, Vec<Element>> },
    /// A mark, instead of the one before.
    Savepoint,
    /// Takes back what was appended since the mark.
    RollbackToSavepoint,
}

/// How a transaction ended, as far as its client knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It was told so.
    Committed,
    /// It was told so, or never asked for a commit.
    Aborted,
    /// It asked for a commit and heard nothing.
    Unknown,
}

/// What one client did between BEGIN and COMMIT.
#[derive(Clone, Debug)]
pub(crate) struct Transaction {
    /// The source is server 0.
    pub(crate) server: usize,
    pub(crate) level: Level,
    pub(crate) began: Moment,
    pub(crate) ended: Moment,
    /// What was acknowledged before this moment must be seen: on the source since the beginning; on a follower only if its
    /// client has waited for GTIDs.
    pub(crate) fresh: Option<Moment>,
    /// It had a snapshot by then, at REPEATABLE READ: whoever begins later is not in it.
    pub(crate) viewed: Option<Moment>,
    pub(crate) outcome: Outcome,
    pub(crate) ops: Vec<Op>,
}

impl fmt::Display for Transaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Transaction { server, level, began, ended, outcome, ops, .. } = self;
        write!(f, "{} on server {server}, {outcome:?}, moments {began} to {ended}:", level.sql())?;
        for op in ops {
            match op {
                Op::Append { key, element, done: true } => write!(f, " append {element} to {key};")?,
                Op::Append { key, element, done: false } => write!(f, " append {element} to {key} (refused);")?,
                Op::Read { locking, lists } => {
                    let how = if *locking { "read with locks" } else { "read" };
                    write!(f, " {how}")?;
                    for (key, list) in lists {
                        write!(f, " {key}={list:?}")?;
                    }
                    write!(f, ";")?;
                }
                Op::Savepoint => write!(f, " savepoint;")?,
                Op::RollbackToSavepoint => write!(f, " rollback to savepoint;")?,
            }
        }
        Ok(())
    }
}
