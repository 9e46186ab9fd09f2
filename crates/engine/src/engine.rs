//! [`Engine`]: everything together, and its life from open to close.
//!
//! ```text
//!   open       the data file at its newest checkpoint, the log, the catalog          reads
//!   (apply)    installs and publishes the log behind the checkpoint                  reads
//!   start_commits                                                                    reads, writes
//!   close      no more commits, a last checkpoint, the log sealed                    -
//! ```

use std::collections::HashSet;
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use base::{CommitNumber, IndexId, LogPosition, Uuid};
use binlog::{BinaryLog, GtidSet, LogOptions, LogWriter, OpenAs, RecoveryReport};
use bytes::Bytes;
use io::{Env, LockGuard};
use parking_lot::Mutex;
use store::{Checkpoint, Direction, Roots, Store};

use crate::catalog::{AccountsVersion, Catalog, DdlPlanner, SYSTEM_INDEX, Table, load};
use crate::checkpoint::{Checkpoints, Meta, run};
use crate::commit::{Barrier, CommitSettings, Pipeline, Place, SemiSync};
use crate::core::{CommitHooks, CommitPipeline, Core, CoreParts};
use crate::error::{EngineError, Result};
use crate::large::remove_stale;
use crate::lock::{LockManager, LockOptions, LockWaits};
use crate::memtable::Memtable;
use crate::options::{EngineOptions, TxnOptions};
use crate::rebuild;
use crate::role::finish_reset;
use crate::tunables::Tunables;
use crate::txn::Transaction;
use crate::view::{Layers, Mark, Views};

/// The data file's name in the data directory.
pub(crate) const DATA_FILE: &str = "data.ctr";
/// Locked while an engine is open.
const LOCK_FILE: &str = "commuter.lock";
/// Who keeps the log files from which recovery would begin, as [`BinaryLog::purge_to`] names him.
pub const CHECKPOINT_PIN: &str = "the checkpoint";
/// Rows taken at once when the catalog is read.
const CATALOG_BATCH_ROWS: usize = 256;

/// The engine.
pub struct Engine {
    core: Arc<Core>,
    report: RecoveryReport,
    /// Where recovery has to begin.
    checkpoint_at_open: (CommitNumber, LogPosition),
    /// Until the engine is closed.
    datadir: Mutex<Option<Box<dyn LockGuard>>>,
}

impl Engine {
    /// Opens the data file at its newest checkpoint, and the log, in the data directory of `env`; creates both in an empty
    /// one. The state is that of the checkpoint: `apply::recover` brings it to the log's end, then [`Engine::start_commits`]
    /// lets sessions write (or a follower takes the log's writer).
    #[io::boxed]
    pub async fn open(env: Env, options: EngineOptions, planner: Arc<dyn DdlPlanner>) -> Result<Arc<Engine>> {
        let datadir = lock_datadir(&env).await?;
        remove_stale(&env).await?;
        rebuild::prepare(&env, &options.log, options.rebuild).await?;
        let store_options = store::Options { cache_bytes: options.page_cache_bytes as u64, direct: options.direct_io };
        let store = Store::open(&env, DATA_FILE, store_options).await?;
        let (checkpoint, meta) = read_meta(&env, &store).await?;
        let (checkpoint, meta) = finish_reset(&env, &options, &store, (checkpoint, meta)).await?;
        let server_uuid: Uuid =
            meta.server_uuid.parse().map_err(|error| EngineError::Corrupt(format!("meta data: {error}")))?;
        let mark = Mark {
            commit_number: checkpoint.commit_number,
            position: checkpoint.log_position,
            gtids: meta
                .gtid_executed
                .parse()
                .map_err(|error| EngineError::Corrupt(format!("meta data: gtid_executed: {error}")))?,
            positions: meta.source_positions.clone(),
            prepared: meta.prepared.read()?,
        };
        let log_options = LogOptions {
            server_id: options.server_id,
            server_uuid,
            server_version: options.server_version.clone(),
            max_binlog_size: options.max_binlog_bytes,
            sync_method: options.sync_method,
            ..options.log.clone()
        };
        let open_as = if options.follower { OpenAs::Follower } else { OpenAs::Source };
        let opened = BinaryLog::open(env.clone(), log_options, open_as, mark.position).await?;
        let catalog = read_catalog(&store.roots(), &meta).await?;
        let parts = CoreParts {
            server_uuid,
            views: first_views(&mark, store.roots()),
            locks: LockManager::new(env.clock.clone(), LockOptions::default()),
            checkpoints: Checkpoints::new(
                mark.clone(),
                opened.log.pin(CHECKPOINT_PIN, mark.needs_log_from()),
                meta.recovery_rate,
            ),
            env,
            options,
            store,
            log: opened.log,
            writer: opened.writer,
            catalog,
            planner,
            mark: mark.clone(),
        };
        let core = Arc::new(Core::new(parts));
        let told = Arc::downgrade(&core);
        core.log.when_failed(move |error| {
            if let Some(core) = told.upgrade() {
                core.fail(&error.to_string());
            }
        });
        // Before recovery, which may come to give the same ids again.
        if core.forget_orphans() {
            core.checkpoint().await?;
        }
        let task = run(Arc::downgrade(&core));
        core.env.spawner.spawn_thread("checkpoint", Box::pin(task));
        core.env.spawner.spawn_thread("statistics", Box::pin(crate::statistics::refresh(Arc::downgrade(&core))));
        Ok(Arc::new(Engine {
            core,
            report: opened.report,
            checkpoint_at_open: (mark.commit_number, mark.position),
            datadir: Mutex::new(Some(datadir)),
        }))
    }

    pub(crate) fn core(&self) -> &Arc<Core> {
        &self.core
    }

    /// Its settings.
    pub fn options(&self) -> &EngineOptions {
        &self.core.options
    }

    /// Settings that may change while it runs.
    pub fn tunables(&self) -> &Tunables {
        &self.core.tunables
    }

    /// Told by a recovery now and then how many bytes of log it still has before it.
    pub fn recovery_goes_on(&self, left: u64) {
        self.core.checkpoints.recovery_goes_on(left);
    }

    /// A recovery has applied so many bytes of log in that time: by this checkpoints keep the next one within
    /// [`EngineOptions::recovery_target`].
    pub fn recovered(&self, bytes: u64, time: Duration) {
        self.core.checkpoints.recovered(bytes, time);
    }

    /// How long recovery would take if the server were killed now, as far as the last one shows.
    pub fn recovery_estimate(&self) -> Duration {
        let checkpoints = &self.core.checkpoints;
        let bytes = self.core.log.bytes_between(checkpoints.durable().position, self.core.log.durable_end());
        Duration::from_secs_f64(bytes as f64 / checkpoints.recovery_rate() as f64) + checkpoints.definitions_time()
    }

    /// `innodb_deadlock_detect`
    pub fn set_deadlock_detect(&self, on: bool) {
        self.core.locks.set_deadlock_detect(on);
    }

    /// What opening the log found: a clean end, or a torn tail that was cut.
    pub fn recovery_report(&self) -> &RecoveryReport {
        &self.report
    }

    /// The checkpoint that was opened: the log has to be applied from here.
    pub fn checkpoint_at_open(&self) -> (CommitNumber, LogPosition) {
        self.checkpoint_at_open
    }

    /// The newest checkpoint on disk.
    pub fn durable_checkpoint(&self) -> (CommitNumber, LogPosition) {
        let mark = self.core.checkpoints.durable();
        (mark.commit_number, mark.position)
    }

    /// The number of the newest checkpoint on disk, when it is above this one; an error when there will be no more.
    #[io::boxed]
    pub async fn checkpoint_after(&self, number: CommitNumber) -> Result<CommitNumber> {
        self.core.checkpoints.after(number).await
    }

    /// `server_uuid`
    pub fn server_uuid(&self) -> Uuid {
        self.core.server_uuid
    }

    /// The log: listing, reading, purging, waiting for more.
    pub fn log(&self) -> &Arc<BinaryLog> {
        &self.core.log
    }

    /// The data file: sizes, counters, verification.
    pub fn store(&self) -> &Arc<Store> {
        &self.core.store
    }

    /// The machine.
    pub fn env(&self) -> &Env {
        &self.core.env
    }

    /// Locks that are held, and waited for.
    pub fn locks(&self) -> &Arc<LockManager> {
        &self.core.locks
    }

    /// A number for an order of commits ([`crate::Turn`]) that no other has.
    pub fn new_line(&self) -> u64 {
        self.core.locks.next_number()
    }

    /// What exists now.
    pub fn catalog(&self) -> Arc<Catalog> {
        self.core.catalog.load_full()
    }

    /// Whether accounts are still those of an earlier look at the catalog: that costs no more than a look.
    pub fn has_accounts(&self, version: &AccountsVersion) -> bool {
        self.core.catalog.load().has_accounts(version)
    }

    /// Begins a transaction; takes no lock and no read view yet.
    pub fn begin(self: &Arc<Self>, options: TxnOptions) -> Transaction {
        Transaction::new(self.clone(), options)
    }

    /// The newest transaction that everybody can see, and where it ends in the log.
    pub fn visible(&self) -> (CommitNumber, LogPosition) {
        self.core.views.visible_position()
    }

    /// Ready when everybody can see a transaction; an error if the engine stops before that.
    pub async fn wait_visible(&self, number: CommitNumber) -> Result<()> {
        self.core.wait_visible(number).await
    }

    /// The GTIDs of everything that has its place in the log (published, but for a moment), and of what is in no file of it.
    pub fn gtid_executed(&self) -> GtidSet {
        let mut gtids = self.core.ordered().gtids;
        gtids.union(&self.core.log.gtid_purged());
        gtids
    }

    /// About how many rows a table has.
    pub fn estimate_rows(&self, table: &Table) -> u64 {
        if table.is_temporary() {
            return u64::try_from(table.rows_in_memory()).unwrap_or(0);
        }
        self.core.rows_of(table)
    }

    /// Bytes that a table takes in the data file: its rows, and its other indexes. What is still in memory is not in it.
    pub fn table_bytes(&self, table: &Table) -> (u64, u64) {
        let layers = self.core.views.layers();
        let mut bytes = table.indexes.iter().map(|index| layers.roots.bytes(index.id));
        (bytes.next().unwrap_or_default(), bytes.sum())
    }

    /// What the pages of one index take.
    pub fn index_bytes(&self, index: base::IndexId) -> u64 {
        self.core.views.layers().roots.bytes(index)
    }

    /// Tables and indexes of which something is lost for good, because its pages are damaged.
    pub fn damaged_indexes(&self) -> Vec<(Arc<Table>, usize)> {
        let damaged: HashSet<IndexId> = self.core.views.layers().roots.damaged().collect();
        self.indexes_of(&damaged)
    }

    /// Bytes that the memtables take, and how many there are: one, and another while it is merged.
    pub fn memtable_bytes(&self) -> (usize, usize) {
        let layers = self.core.views.layers();
        (layers.memtables.iter().map(|memtable| memtable.bytes()).sum(), layers.memtables.len())
    }

    /// How many transactions did not stay in memory (`Binlog_cache_disk_use`).
    pub fn large_transactions(&self) -> u64 {
        self.core.large_transactions.load(Ordering::Relaxed)
    }

    /// How often, and how long, transactions have waited for each other's locks.
    pub fn lock_waits(&self) -> LockWaits {
        self.core.locks.waits()
    }

    /// Number of distinct states that somebody reads.
    pub fn read_views(&self) -> usize {
        self.core.views.count()
    }

    /// Why the engine has stopped, if it has.
    pub fn check_running(&self) -> Result<()> {
        self.core.check_running()
    }

    /// Begins to take commits of sessions (after recovery, or when a follower becomes a source).
    pub fn start_commits(&self, settings: CommitSettings) -> Result<()> {
        self.core.check_running()?;
        let writer = self.take_writer()?;
        let mark = self.core.ordered();
        let hooks = CommitHooks(Arc::downgrade(&self.core));
        let last = Place::at(mark.commit_number, mark.position);
        let pipeline = Pipeline::new(hooks, self.core.env.clone(), writer, last, settings, self.core.semi_sync.clone());
        self.core.env.spawner.spawn_thread("log", Box::pin(pipeline.clone().run()));
        self.core.commits.store(Some(Arc::new(pipeline)));
        self.core.is_follower.store(false, Ordering::SeqCst);
        Ok(())
    }

    /// Ends the commits of sessions; the writer is there to be taken again (by a follower).
    #[io::boxed]
    pub async fn stop_commits(&self) -> Result<()> {
        let Some(pipeline) = self.core.commits.load_full() else { return Ok(()) };
        let writer = pipeline.close().await;
        if writer.is_some() {
            *self.core.writer.lock() = writer;
        }
        // Not before: a checkpoint that finds no pipeline takes it that the log is synced.
        let ours = |current: &Arc<CommitPipeline>| Arc::ptr_eq(current, &pipeline);
        if self.core.commits.load().as_ref().is_some_and(ours) {
            self.core.commits.store(None);
        }
        Ok(())
    }

    /// The commit pipeline, for its settings and counters; none before [`Engine::start_commits`].
    pub fn commits(&self) -> Option<Arc<CommitPipeline>> {
        self.core.commits.load_full()
    }

    /// Whether commits wait for replicas; its settings outlive the pipeline.
    pub fn semi_sync(&self) -> &Arc<SemiSync> {
        &self.core.semi_sync
    }

    /// The log goes on in a new file (`FLUSH BINARY LOGS`), which is there when this returns; the old one has nothing behind its end.
    #[io::boxed]
    pub async fn rotate_log(&self) -> Result<()> {
        let pipeline = self.commits().ok_or(EngineError::ServerReadOnly)?;
        pipeline.barrier(Barrier::Rotate).await?;
        // The old file has ended; the head of the new one is in the group behind.
        pipeline.barrier(Barrier::Synced).await?;
        Ok(self.log().sealed().await?)
    }

    /// Takes the log's writer: for a follower, which puts its source's bytes into the log.
    pub fn take_writer(&self) -> Result<LogWriter> {
        self.core.writer.lock().take().ok_or(EngineError::NotReady("the log is being written by another"))
    }

    /// Gives the log's writer back.
    pub fn return_writer(&self, writer: LogWriter) {
        *self.core.writer.lock() = Some(writer);
    }

    /// Makes a checkpoint now; its commit number and log position.
    #[io::boxed]
    pub async fn checkpoint(&self) -> Result<(CommitNumber, LogPosition)> {
        let mark = self.core.checkpoint().await?;
        Ok((mark.commit_number, mark.position))
    }

    /// Ends the commits, makes a last checkpoint and closes the log. Transactions that are still open cannot commit any more. What is in the log and no
    /// replica has acknowledged is in no checkpoint: the next start reads it from the log.
    #[io::boxed]
    pub async fn close(&self) -> Result<()> {
        self.stop_commits().await?;
        let result = match self.core.check_running() {
            // A checkpoint is of what can be seen, and would wait for the rest.
            Ok(()) if self.core.ordered().commit_number > self.core.views.visible() => Ok(()),
            Ok(()) => self.core.checkpoint().await.map(drop),
            Err(error) => Err(error),
        };
        self.core.checkpoints.stop();
        let writer = self.core.writer.lock().take();
        if let Some(writer) = writer
            && result.is_ok()
        {
            writer.close(!self.is_follower()).await?;
        }
        self.datadir.lock().take();
        result
    }
}

impl Drop for Engine {
    /// The background task ends; an engine that was not closed is as after a crash.
    fn drop(&mut self) {
        self.core.checkpoints.stop();
    }
}

impl Core {
    /// About how many rows a table has that is no temporary one.
    pub(crate) fn rows_of(&self, table: &Table) -> u64 {
        let in_tree = self.views.layers().roots.entries(table.indexes[0].id);
        in_tree.saturating_add_signed(table.rows_in_memory())
    }

    /// Trees without a table were being built, or dropped, at the time of a crash; whether there are any.
    fn forget_orphans(&self) -> bool {
        let catalog = self.catalog.load();
        let known: HashSet<IndexId> =
            catalog.all_tables().flat_map(|table| table.indexes.iter().map(|index| index.id)).collect();
        let layers = self.views.layers();
        let orphans = layers.roots.indexes().filter(|index| *index != SYSTEM_INDEX && !known.contains(index));
        let orphans: Vec<IndexId> = orphans.collect();
        let any = !orphans.is_empty();
        self.checkpoints.drop_indexes(orphans);
        any
    }
}

async fn lock_datadir(env: &Env) -> Result<Box<dyn LockGuard>> {
    env.disk.lock(LOCK_FILE).await.map_err(|error| match error.kind() {
        std::io::ErrorKind::WouldBlock => EngineError::Io("the data directory is in use by another server".to_string()),
        _ => EngineError::Io(format!("{LOCK_FILE}: {error}")),
    })
}

/// The newest checkpoint; a new data file gets one, of the empty state, with the server's identity in it.
async fn read_meta(env: &Env, store: &Arc<Store>) -> Result<(Checkpoint, Meta)> {
    let checkpoint = store.checkpoint();
    if !checkpoint.meta.is_empty() {
        let meta = serde_json::from_slice(&checkpoint.meta)
            .map_err(|error| EngineError::Corrupt(format!("meta data: {error}")))?;
        return Ok((Checkpoint::clone(&checkpoint), meta));
    }
    let meta = Meta { server_uuid: new_uuid(env).to_string(), ..Meta::default() };
    let checkpoint = Checkpoint { meta: meta.to_bytes()?, ..Checkpoint::default() };
    store.commit_checkpoint(&store.roots(), checkpoint.clone()).await?;
    Ok((checkpoint, meta))
}

/// A random one, version 4.
fn new_uuid(env: &Env) -> Uuid {
    let mut bytes = [0; 16];
    env.random.fill(&mut bytes);
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    Uuid(bytes)
}

fn first_views(mark: &Mark, roots: Roots) -> Arc<Views> {
    let layers = Layers { memtables: vec![Memtable::new(mark.commit_number)], roots, roots_at: mark.commit_number };
    Views::new(mark.commit_number, mark.position, layers)
}

async fn read_catalog(roots: &Roots, meta: &Meta) -> Result<Catalog> {
    let mut cursor = roots.cursor(SYSTEM_INDEX, Bound::Unbounded, Bound::Unbounded, Direction::Forward);
    let mut rows: Vec<(Bytes, Bytes)> = Vec::new();
    let mut batch = Vec::new();
    while cursor.next_batch(&mut batch, CATALOG_BATCH_ROWS).await? {
        rows.extend(batch.drain(..).map(|entry| (entry.key, entry.value)));
    }
    load(rows, meta)
}
