//! What a transaction has written beyond what it may hold in memory: sorted runs in a temporary file.
//!
//! # Model
//! ```text
//!   while it runs    window (memory) ──full──> run 3 | run 2 | run 1        own reads: the window, then the newest run first
//!   commit           the runs join the active memtable as they are, under the transaction's stamp    ([`LargeWrites`])
//!   reading          per key, the highest number of: the memtable's chain, the runs beside it
//!   checkpoint       chains and runs are merged into the trees; the files go
//! ```
//! A run holds one version of a key at most, or that it is gone. Nothing is rewritten at commit, and nothing has to be in
//! memory but each run's index of blocks and filters: about a hundredth of it.
//!
//! # Invariants
//! - Runs never change. An undone statement is undone by dropping runs: none reaches over a mark to which one may go back.
//! - A transaction with runs keeps its row locks until it has its number. So of one key, whatever is in a chain while the runs
//!   have none is older than they are, and what has none when they have theirs is newer.
//! - Files live as long as a run, or a state that reads it; what a crash has left is removed when the engine is opened. (What
//!   is committed is in the log.)

mod cursor;
mod file;
mod filter;
mod run;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::ops::Bound;
use std::sync::Arc;

use base::IndexId;
use bytes::Bytes;

use crate::error::Result;
use crate::memtable::stamp::{StampState, VersionStamp};
use crate::txn::Write;

pub(crate) use cursor::LargeCursor;
pub(crate) use file::{RunFile, cannot_write, remove_stale};
pub(crate) use run::{Run, RunWriter};

/// Two bounds, owned.
pub(crate) type OwnedRange = (Bound<Bytes>, Bound<Bytes>);

/// Runs of one transaction, the oldest first.
#[derive(Clone, Default)]
pub(crate) struct Runs(pub(crate) Vec<Arc<Run>>);

impl Runs {
    /// What they hold of a key, if anything.
    pub(crate) async fn get(&self, index: IndexId, key: &[u8]) -> Result<Option<Write>> {
        for run in self.0.iter().rev() {
            if let Some(write) = run.get(index, key).await? {
                return Ok(Some(write));
            }
        }
        Ok(None)
    }

    /// Whether one of them has something of an index.
    pub(crate) fn touches(&self, index: IndexId) -> bool {
        self.0.iter().any(|run| run.has(index))
    }

    /// About how many entries a range of an index has.
    pub(crate) fn estimate(&self, index: IndexId, range: (Bound<&[u8]>, Bound<&[u8]>)) -> usize {
        self.0.iter().map(|run| run.estimate(index, range)).sum()
    }

    /// A range of an index, in order.
    pub(crate) fn cursor(&self, index: IndexId, range: OwnedRange, backward: bool) -> LargeCursor {
        LargeCursor::new(self.0.iter().rev().filter_map(|run| run.cursor(index, range.clone(), backward)), backward)
    }
}

/// A transaction's runs, in a memtable.
pub(crate) struct LargeWrites {
    pub(crate) runs: Runs,
    /// Of all its versions.
    pub(crate) stamp: VersionStamp,
}

impl LargeWrites {
    /// Indexes that it has written to.
    pub(crate) fn indexes(&self) -> impl Iterator<Item = IndexId> {
        self.runs.0.iter().flat_map(|run| run.indexes())
    }

    /// Entries of all runs.
    pub(crate) fn entries(&self) -> usize {
        self.runs.0.iter().map(|run| run.entries()).sum()
    }

    /// Bytes of memory that it takes, about.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.runs.0.iter().map(|run| run.memory_bytes()).sum()
    }
}

impl std::fmt::Debug for LargeWrites {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "LargeWrites({} runs, {:?})", self.runs.0.len(), self.stamp)
    }
}

/// Which of two versions of a key in one memtable is newer: one of runs (of which `large` was known before the chain was looked
/// at), or one of a chain or of other runs. See the invariants.
pub(crate) fn compare(large: StampState, other: StampState) -> Ordering {
    match (large, other) {
        (StampState::Committed(a), StampState::Committed(b)) => a.cmp(&b),
        (StampState::Committed(_), StampState::Pending) => Ordering::Less,
        (StampState::Aborted, _) => Ordering::Less,
        (StampState::Pending, _) | (_, StampState::Aborted) => Ordering::Greater,
    }
}
