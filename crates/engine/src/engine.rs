//! [`Engine`]: everything together, and its life from open to close.

use std::sync::Arc;

use base::{CommitNumber, Gtid, LogPosition};
use bytes::Bytes;
use io::Env;

use crate::catalog::{Catalog, CatalogChange, DdlPlanner, DdlText, Table};
use crate::error::{EngineError, Result};
use crate::options::{EngineOptions, SessionHandle, TxnOptions};
use crate::txn::{Commit, Transaction};

/// One change of one row, as the log tells it. Images are full row images.
#[derive(Clone, Debug)]
pub struct RowChange {
    /// The table.
    pub table: Arc<Table>,
    /// The row before; `None` for an insert.
    pub before: Option<Bytes>,
    /// The row after; `None` for a delete.
    pub after: Option<Bytes>,
}

/// A point of the log up to which everything is installed.
#[derive(Clone, Debug)]
pub struct PublishPoint {
    /// The last transaction.
    pub commit_number: CommitNumber,
    /// Where its last event ends.
    pub end: LogPosition,
    /// GTIDs of the transactions since the point before.
    pub gtids: Vec<Gtid>,
}

/// The engine.
pub struct Engine {
    options: EngineOptions,
}

const UNFINISHED: EngineError = EngineError::NotReady("the engine is not ready yet");

#[expect(clippy::unused_async, unused_variables, reason = "the bodies follow")]
impl Engine {
    /// Opens the data file at its newest checkpoint, and the log, in the data directory of `env`; creates both in an empty
    /// one. The state is that of the checkpoint: `apply::recover` brings it to the log's end, then [`Engine::start_commits`]
    /// lets sessions write (or a follower takes the log's writer).
    pub async fn open(env: Env, options: EngineOptions, planner: Arc<dyn DdlPlanner>) -> Result<Arc<Engine>> {
        Err(UNFINISHED)
    }

    /// Its settings.
    pub fn options(&self) -> &EngineOptions {
        &self.options
    }

    /// What exists now.
    pub fn catalog(&self) -> Arc<Catalog> {
        unreachable!("there is no engine yet")
    }

    /// Begins a transaction; takes no lock and no read view yet.
    pub fn begin(self: &Arc<Self>, options: TxnOptions) -> Transaction {
        unreachable!("there is no engine yet")
    }

    /// The newest transaction that everybody can see, and where it ends in the log.
    pub fn visible(&self) -> (CommitNumber, LogPosition) {
        (CommitNumber(0), LogPosition::default())
    }

    /// About how many rows a table has.
    pub fn estimate_rows(&self, table: &Table) -> u64 {
        0
    }

    /// Executes DDL: waits for the metadata locks, makes and fills new trees, logs the text, and lets the new catalog be
    /// seen. `change` was planned with a catalog whose tables may have changed since: then [`EngineError::TableChanged`], and the caller
    /// plans again.
    pub async fn execute_ddl(
        self: &Arc<Self>,
        change: CatalogChange,
        text: DdlText,
        options: &TxnOptions,
    ) -> Result<Commit> {
        Err(UNFINISHED)
    }

    /// Begins to take commits of sessions (after recovery, or when a follower becomes a source).
    pub async fn start_commits(self: &Arc<Self>) -> Result<()> {
        Err(UNFINISHED)
    }

    /// Makes a checkpoint now; its commit number and log position.
    pub async fn checkpoint(self: &Arc<Self>) -> Result<(CommitNumber, LogPosition)> {
        Err(UNFINISHED)
    }

    /// Ends the commits, makes a last checkpoint and closes the log. Transactions that are still open cannot commit any more.
    pub async fn close(self: &Arc<Self>) -> Result<()> {
        Err(UNFINISHED)
    }
}

/// What `apply` needs: rows under a known commit number in any order, then publication in log order.
#[expect(clippy::unused_async, unused_variables, reason = "the bodies follow")]
impl Engine {
    /// Installs a transaction of the log. Any number of tasks may install different transactions at once and in any order; nobody sees
    /// them before they are published. Reads nothing; waits for nothing but room in the memtable.
    pub async fn install(&self, commit_number: CommitNumber, changes: &[RowChange]) -> Result<()> {
        Err(UNFINISHED)
    }

    /// Installs a DDL statement of the log: everything before it must be published (of its own tables, at least).
    pub async fn install_ddl(self: &Arc<Self>, commit_number: CommitNumber, text: &DdlText) -> Result<()> {
        Err(UNFINISHED)
    }

    /// Everything up to this point is installed: lets it be seen. In log order.
    pub fn publish(&self, point: PublishPoint) {}
}

/// A session for what the engine does by itself.
#[expect(dead_code, reason = "the bodies follow")]
fn internal_session() -> Arc<SessionHandle> {
    SessionHandle::internal()
}
