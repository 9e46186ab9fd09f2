//! Source or follower, and a log that begins anew: changes of what the engine's log is, while it runs.
//!
//! A **source** gives its log's writer to the commit pipeline. A **follower**'s log is a copy of its source's: the writer is
//! there to be taken by a receiver, and sessions cannot commit. The state is the same thing in both, so changing over is
//! moving the writer, with no commit under way ([`crate::gate`]).
//!
//! # Removing the log
//! `RESET BINARY LOGS AND GTIDS` leaves the state and removes its log: everything is put into a checkpoint first, and
//! from the moment that the file `binlog.reset` is there, the log before it is gone. Whoever opens the engine and finds
//! that file finishes the removal, and the file's new name says from then on that the log does not tell everything ([`crate::rebuild`]).
//!
//! # GTIDs of elsewhere
//! `SET GLOBAL gtid_purged` says that the state holds transactions that this log never had. That is written into the log
//! alone ([`binlog::LogWriter::add_purged`]), so checkpoints need not know of it, and a copy of the log says the same.

use std::sync::atomic::Ordering;

use base::{Cancel, LogPosition, SqlError, codes};
use binlog::{BinaryLog, GtidSet, LogReceiver};
use io::{Env, OpenOptions};
use store::{Checkpoint, Store};

use crate::catalog::{Catalog, SYSTEM_INDEX};
use crate::checkpoint::Meta;
use crate::commit::{Barrier, CommitSettings};
use crate::engine::Engine;
use crate::error::{EngineError, Result};
use crate::gate::{CommitHold, Passage, Passing};
use crate::options::EngineOptions;
use crate::rebuild::PARTIAL_FILE;

/// While it is there, the files of the log do not count.
const RESET_FILE: &str = "binlog.reset";

impl Engine {
    /// Whether the log is not this server's to write: it is a copy of a source's, or its own and not recovered yet. Sessions cannot
    /// commit.
    pub fn is_follower(&self) -> bool {
        self.core().is_follower.load(Ordering::SeqCst)
    }

    /// Nothing is committed from now on, and everything that was is visible, until the hold is dropped. On a follower nothing
    /// becomes visible meanwhile.
    pub async fn hold_commits(&self, cancel: &Cancel) -> Result<CommitHold> {
        let hold = self.core().gate.hold(cancel).await.map_err(EngineError::Cancelled)?;
        // A commit whose session went away in the middle is not passing any more, but under way.
        if let Some(pipeline) = self.commits() {
            pipeline.barrier(Barrier::Published).await?;
        }
        Ok(hold)
    }

    /// For the applier: waits while commits are held; what it publishes goes with this.
    pub async fn pass_gate(&self) -> Result<Passing> {
        let cancel = Cancel::new();
        self.core().gate.pass(Passage::Transaction, &cancel).await.map_err(EngineError::Cancelled)
    }

    /// From source to follower: sessions' commits end, what this server has written behind its last transaction goes, and
    /// the writer is there for a receiver. After an error [`Engine::become_source`] makes it a source again. On a follower
    /// without a receiver only such a tail goes, from before it was one.
    #[io::boxed]
    pub async fn become_follower(&self) -> Result<()> {
        let _hold = self.hold_commits(&Cancel::new()).await?;
        if !self.is_follower() {
            self.stop_commits().await?;
            self.core().is_follower.store(true, Ordering::SeqCst);
        }
        let Ok(writer) = self.take_writer() else { return Ok(()) };
        let receiver = LogReceiver::new(writer).without_own_tail().await?;
        self.return_writer(receiver.into_writer().await?);
        Ok(())
    }

    /// From follower to source: the log goes on with a file, and then transactions, of this server's own. No receiver and no
    /// applier may run, and everything in the log must be applied.
    #[io::boxed]
    pub async fn become_source(&self, settings: CommitSettings) -> Result<()> {
        if !self.is_follower() {
            return Ok(());
        }
        let writer = LogReceiver::new(self.take_writer()?).into_source().await?;
        self.return_writer(writer);
        self.start_commits(settings)
    }

    /// `SET GLOBAL gtid_purged`: lets GTIDs count as executed here that are in no transaction of the log. `change` says which,
    /// given those that were executed and those of them that are in no file.
    pub async fn add_purged_gtids(
        &self,
        settings: CommitSettings,
        change: impl FnOnce(&GtidSet, &GtidSet) -> Result<GtidSet>,
    ) -> Result<()> {
        let _hold = self.hold_commits(&Cancel::new()).await?;
        if self.is_follower() {
            return Err(EngineError::ServerReadOnly);
        }
        let log = self.log();
        let added = change(&log.gtid_executed(), &log.gtid_purged())?;
        if added.is_empty() {
            return Ok(());
        }
        self.stop_commits().await?;
        let mut writer = self.take_writer()?;
        let result = writer.add_purged(&added).await;
        self.return_writer(writer);
        self.start_commits(settings)?;
        Ok(result?)
    }

    /// Forgets accounts: for a follower that begins with the first byte of its source's log, which makes them all. Refused
    /// if there is more than that here, because its own log does not tell it any more.
    #[io::boxed]
    pub async fn forget_accounts(&self) -> Result<()> {
        let core = self.core();
        let catalog = self.catalog();
        if let Some(database) = catalog.databases().next() {
            let message = format!(
                "This server's log is empty, and nothing else tells whether its data (database '{}') is what its source's log makes: \
                 begin with an empty data directory",
                database.name
            );
            return Err(EngineError::Sql(SqlError::new(codes::BAD_REPLICA, message)));
        }
        if catalog.accounts().next().is_none() {
            return forget_partial(&core.env).await;
        }
        core.checkpoint().await?;
        core.checkpoints.drop_indexes([SYSTEM_INDEX]);
        core.checkpoint().await?;
        core.catalog.store(std::sync::Arc::new(Catalog::empty()));
        forget_partial(&core.env).await
    }

    /// `RESET BINARY LOGS AND GTIDS`: the state stays, the log is empty and goes on with file number `first`.
    #[io::boxed]
    pub async fn reset_log(&self, first: u64, settings: CommitSettings) -> Result<()> {
        let core = self.core();
        let _hold = self.hold_commits(&Cancel::new()).await?;
        if !self.prepared_transactions().is_empty() {
            let message =
                "XAER_RMFAIL: The command cannot be executed when global transaction is in the  PREPARED state";
            return Err(EngineError::Sql(SqlError::new(codes::XAER_RMFAIL, message)));
        }
        let is_source = !self.is_follower();
        if is_source {
            self.stop_commits().await?;
        }
        let receiver = LogReceiver::new(self.take_writer()?);
        core.checkpoint().await?;
        let _turn = core.checkpoints.turn.take().await;
        mark_reset(&core.env).await?;
        let writer = receiver.remove_all().await?;
        let mark = {
            let mut order = core.order.lock();
            order.position = LogPosition::default();
            order.gtids = GtidSet::new();
            order.clone()
        };
        core.views.publish(mark.commit_number, mark.position);
        core.semi_sync.forget_positions();
        let checkpoint = Checkpoint {
            commit_number: mark.commit_number,
            log_position: mark.position,
            meta: core.meta(&mark).to_bytes()?,
        };
        core.store.commit_checkpoint(&core.store.roots(), checkpoint).await?;
        core.checkpoints.pin.set(mark.position);
        *core.checkpoints.durable.lock() = mark;
        unmark_reset(&core.env).await?;
        if !is_source {
            self.return_writer(writer);
            return Ok(());
        }
        self.return_writer(writer.begin(first).await?);
        self.start_commits(settings)
    }
}

async fn mark_reset(env: &Env) -> Result<()> {
    let failed = |error: std::io::Error| EngineError::Io(format!("{RESET_FILE}: {error}"));
    let options = OpenOptions { create: true, write: true, ..OpenOptions::default() };
    let file = env.disk.open(RESET_FILE, options).await.map_err(failed)?;
    file.sync().await.map_err(failed)?;
    env.disk.sync_dir("").await.map_err(failed)
}

/// From now on the log counts, and its beginning is not that of the data.
async fn unmark_reset(env: &Env) -> Result<()> {
    let failed = |error: std::io::Error| EngineError::Io(format!("{RESET_FILE}: {error}"));
    env.disk.rename(RESET_FILE, PARTIAL_FILE).await.map_err(failed)?;
    env.disk.sync_dir("").await.map_err(failed)
}

/// There is no data, and no log yet: from now on the log tells everything.
async fn forget_partial(env: &Env) -> Result<()> {
    let failed = |error: std::io::Error| EngineError::Io(format!("{PARTIAL_FILE}: {error}"));
    if env.disk.exists(PARTIAL_FILE).await.map_err(failed)? {
        env.disk.remove(PARTIAL_FILE).await.map_err(failed)?;
        env.disk.sync_dir("").await.map_err(failed)?;
    }
    Ok(())
}

/// Finishes a removal of the log that a crash has interrupted, before the log is opened.
pub(crate) async fn finish_reset(
    env: &Env,
    options: &EngineOptions,
    store: &Store,
    (mut checkpoint, mut meta): (Checkpoint, Meta),
) -> Result<(Checkpoint, Meta)> {
    let failed = |error: std::io::Error| EngineError::Io(format!("{RESET_FILE}: {error}"));
    if !env.disk.exists(RESET_FILE).await.map_err(failed)? {
        return Ok((checkpoint, meta));
    }
    tracing::info!("finishing an interrupted RESET BINARY LOGS AND GTIDS");
    BinaryLog::remove_files(env, &options.log).await?;
    meta.gtid_executed = String::new();
    checkpoint.log_position = LogPosition::default();
    checkpoint.meta = meta.to_bytes()?;
    store.commit_checkpoint(&store.roots(), checkpoint.clone()).await?;
    unmark_reset(env).await?;
    Ok((checkpoint, meta))
}
