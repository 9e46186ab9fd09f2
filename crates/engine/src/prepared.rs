//! Prepared transactions (XA): the first phase of a distributed transaction is in the log, the second is not yet.
//!
//! ```text
//! log      … | GTID  XA START  rows  XA END  XA_PREPARE | … others … | GTID  XA COMMIT | …
//!              └ a commit number; no version has it                    └ the rows' versions have this one
//! ```
//! The first phase changes nothing that anybody can see: the rows in it wait for the second, which has a commit number of its own. Until then
//! the session that prepared, or whoever took over for it, holds the transaction with its locks ([`crate::Transaction::enqueue_prepare`]). What is kept
//! beside it is a name, and where in the log the rows are: enough to install them when the second phase is applied (recovery, a follower), and to
//! make the transaction again, with its locks, when a server begins to take commits.
//!
//! # Invariants
//! - The log is kept from the oldest first phase on that has no second one in the newest checkpoint.
//! - A state says which transactions are prepared in it, as it says which GTIDs are executed: checkpoints keep it.

use std::collections::BTreeMap;

use base::{CommitNumber, LogPosition};
use binlog::event::Xid;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use crate::engine::Engine;
use crate::error::{EngineError, Result};
use crate::view::Mark;

/// Where the first phases are, by name.
pub(crate) type PreparedTransactions = BTreeMap<Xid, LogPosition>;

/// What a transaction of the log does to the set of those that are prepared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum XaStep {
    /// It is the first phase of this one, and begins there.
    Prepared(Xid, LogPosition),
    /// It is the second, which commits it or rolls it back.
    Ended(Xid),
}

impl XaStep {
    pub(crate) fn apply(self, prepared: &mut PreparedTransactions) {
        match self {
            XaStep::Prepared(xid, start) => drop(prepared.insert(xid, start)),
            XaStep::Ended(xid) => drop(prepared.remove(&xid)),
        }
    }
}

impl Mark {
    /// From where on the log is needed by who begins with this state.
    pub(crate) fn needs_log_from(&self) -> LogPosition {
        self.prepared.values().copied().min().map_or(self.position, |oldest| oldest.min(self.position))
    }
}

/// In a checkpoint: names as statements have them, and where.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct KeptPrepared(BTreeMap<String, (u64, u64)>);

impl KeptPrepared {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn of(prepared: &PreparedTransactions) -> Self {
        KeptPrepared(prepared.iter().map(|(xid, at)| (xid.to_string(), (at.file, at.offset))).collect())
    }

    pub(crate) fn read(&self) -> Result<PreparedTransactions> {
        let read = |(xid, &(file, offset)): (&String, &(u64, u64))| match xid.parse() {
            Ok(xid) => Ok((xid, LogPosition::new(file, offset))),
            Err(error) => Err(EngineError::Corrupt(format!("meta data: a prepared transaction: {error}"))),
        };
        self.0.iter().map(read).collect()
    }
}

/// Of transactions that are installed and not published: what each does to something that the state has beside its rows.
#[derive(Debug)]
pub(crate) struct Unpublished<T>(Mutex<BTreeMap<CommitNumber, T>>);

impl<T> Default for Unpublished<T> {
    fn default() -> Self {
        Unpublished(Mutex::default())
    }
}

impl<T> Unpublished<T> {
    pub(crate) fn insert(&self, number: CommitNumber, what: T) {
        self.0.lock().insert(number, what);
    }

    /// What becomes visible with a number.
    pub(crate) fn take_up_to(&self, number: CommitNumber) -> BTreeMap<CommitNumber, T> {
        let mut waiting = self.0.lock();
        match waiting.first_key_value() {
            Some((first, _)) if *first <= number => {
                let later = waiting.split_off(&number.next());
                std::mem::replace(&mut *waiting, later)
            }
            _ => BTreeMap::new(),
        }
    }
}

impl Engine {
    /// For the applier: what a transaction that it installs does to the set of those that are prepared.
    pub fn install_xa(&self, number: CommitNumber, step: XaStep) {
        self.core().xa_steps.insert(number, step);
    }

    /// Which transactions are prepared, of all that have their place in the log, and where their first phases begin.
    pub fn prepared_transactions(&self) -> Vec<(Xid, LogPosition)> {
        let order = self.core().order.lock();
        order.prepared.iter().map(|(xid, start)| (xid.clone(), *start)).collect()
    }
}
