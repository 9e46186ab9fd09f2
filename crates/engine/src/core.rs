//! [`Core`]: the state that everything in the engine shares, and what the commit pipeline does to it.

use std::collections::VecDeque;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use arc_swap::{ArcSwap, ArcSwapOption};
use base::{Cancel, CommitNumber, LogPosition, Uuid};
use binlog::event::Xid;
use binlog::{BinaryLog, LogWriter, SourcePosition};
use futures_lite::future;
use io::Env;
use parking_lot::Mutex;
use store::Store;

use crate::catalog::{Catalog, DdlPlanner};
use crate::checkpoint::Checkpoints;
use crate::commit::{CommitEnv, CommitError, Pipeline, Place, SemiSync};
use crate::ddl::DdlEffect;
use crate::engine::Engine;
use crate::error::{EngineError, Result};
use crate::gate::{CommitGate, Passage, Passing};
use crate::gtid_owners::GtidOwners;
use crate::lock::{LockManager, LockOwner};
use crate::memtable::Guard;
use crate::memtable::stamp::{Stamp, StampState};
use crate::options::{EngineOptions, SessionHandle};
use crate::prepared::{Unpublished, XaStep};
use crate::source_position::named_position;
use crate::state_at::AwaitedStates;
use crate::tunables::Tunables;
use crate::turn::Turn;
use crate::view::{Mark, Views};

/// See the module.
pub(crate) struct Core {
    pub(crate) env: Env,
    pub(crate) options: EngineOptions,
    pub(crate) tunables: Tunables,
    pub(crate) temporary: Arc<crate::temporary::TemporaryMemory>,
    pub(crate) server_uuid: Uuid,
    pub(crate) store: Arc<Store>,
    pub(crate) log: Arc<BinaryLog>,
    pub(crate) views: Arc<Views>,
    pub(crate) locks: Arc<LockManager>,
    pub(crate) catalog: ArcSwap<Catalog>,
    pub(crate) planner: Arc<dyn DdlPlanner>,
    /// The state after the last transaction that has its place (a session's) or is published (`apply`'s).
    pub(crate) order: Mutex<Mark>,
    /// Positions in sources' logs, of transactions that are installed and not published.
    pub(crate) positions: Unpublished<SourcePosition>,
    /// The same of first and second phases.
    pub(crate) xa_steps: Unpublished<XaStep>,
    /// DDL statements run one after the other.
    pub(crate) ddl: Arc<Turn>,
    /// Of DDL statements that have their place and are not visible yet, in log order.
    pub(crate) effects: Mutex<VecDeque<(CommitNumber, DdlEffect)>>,
    pub(crate) checkpoints: Checkpoints,
    pub(crate) gate: Arc<CommitGate>,
    /// Who commits a GTID of their choice.
    pub(crate) gtid_owners: GtidOwners,
    /// The log is not this server's to write; see [`crate::role`].
    pub(crate) is_follower: AtomicBool,
    /// The log's writer, while neither the pipeline nor a follower has it.
    pub(crate) writer: Mutex<Option<LogWriter>>,
    /// Takes commits of sessions; none before recovery is done, on a follower, and after the end.
    pub(crate) commits: ArcSwapOption<CommitPipeline>,
    /// Holds commits until replicas have them, where that is asked for.
    pub(crate) semi_sync: Arc<SemiSync>,
    /// Transactions that did not stay in memory (`Binlog_cache_disk_use`).
    pub(crate) large_transactions: AtomicU64,
    /// Who waits for a state; see [`crate::state_at`].
    pub(crate) awaited: AwaitedStates,
    /// Tasks that read parts of a snapshot beside their statements'.
    pub(crate) readers: Arc<AtomicUsize>,
    failure: OnceLock<String>,
}

/// The pipeline of an engine.
pub type CommitPipeline = Pipeline<CommitHooks>;

/// What goes with a transaction through the commit queue. Dropped before it has its place, it takes its versions back: nobody
/// will ever see them.
pub struct Payload {
    /// Of all its versions.
    pub(crate) stamp: Arc<Stamp>,
    /// Given back as soon as the versions are numbered.
    pub(crate) guard: Option<Guard>,
    /// Of a DDL statement.
    pub(crate) ddl: Option<Box<DdlEffect>>,
    /// Of a large transaction: they go when its versions are numbered.
    pub(crate) locks: Option<LockOwner>,
    /// Where it ends in the log of its source.
    pub(crate) position: Option<SourcePosition>,
    /// It is a phase of a distributed transaction.
    pub(crate) xa: Option<XaPhase>,
    /// Whose next transaction depends on it.
    pub(crate) session: Option<Arc<SessionHandle>>,
}

/// Which phase a transaction of the log is.
#[derive(Clone, Debug)]
pub(crate) enum XaPhase {
    /// The first.
    Prepare(Xid),
    /// The second.
    End(Xid),
}

impl Payload {
    /// Of versions in a memtable that is guarded.
    pub(crate) fn new(guard: Guard, position: Option<SourcePosition>) -> Self {
        let mut payload = Payload::without_versions(position);
        payload.guard = Some(guard);
        payload
    }

    /// Of a transaction without versions.
    pub(crate) fn without_versions(position: Option<SourcePosition>) -> Self {
        Payload { stamp: Stamp::new(), guard: None, ddl: None, locks: None, position, xa: None, session: None }
    }
}

impl Drop for Payload {
    fn drop(&mut self) {
        if self.stamp.state() == StampState::Pending {
            self.stamp.abort();
            if let Some(guard) = &self.guard {
                guard.memtable().forget_aborted();
            }
        }
    }
}

/// The engine as the commit pipeline sees it. Weak, because the engine has the pipeline.
pub struct CommitHooks(pub(crate) Weak<Core>);

impl CommitHooks {
    /// Of an engine.
    pub(crate) fn of(engine: &Engine) -> Self {
        CommitHooks(Arc::downgrade(engine.core()))
    }
}

impl CommitEnv for CommitHooks {
    type Payload = Payload;

    /// Numbers all versions of the transaction with one store. It is in the log's order from here on, and in no reader's
    /// sight before [`CommitEnv::commit_ordered`].
    fn prepare_ordered(&self, payload: &mut Payload, place: &Place) {
        let Some(core) = self.0.upgrade() else { return };
        {
            let mut order = core.order.lock();
            debug_assert_eq!(order.commit_number.next(), place.commit_number, "commit numbers are dense");
            if let Some(guard) = &payload.guard {
                guard.memtable().starts_after(&order, place.commit_number);
            }
            order.commit_number = place.commit_number;
            order.position = place.end;
            if let Some(gtid) = place.gtid {
                order.gtids.add(gtid);
            }
            order.positions.extend(payload.position.take().map(named_position));
            match payload.xa.take() {
                Some(XaPhase::Prepare(xid)) => XaStep::Prepared(xid, place.start).apply(&mut order.prepared),
                Some(XaPhase::End(xid)) => XaStep::Ended(xid).apply(&mut order.prepared),
                None => {}
            }
        }
        payload.stamp.commit(place.commit_number);
        payload.guard = None;
        if let Some(session) = payload.session.take() {
            session.last_commit.store(place.commit_number.0, Ordering::Relaxed);
        }
        if let Some(locks) = payload.locks.take() {
            // There may be millions, and others wait for their place.
            core.env.spawner.spawn_thread("release-locks", Box::pin(async move { drop(locks) }));
        }
        if let Some(effect) = payload.ddl.take() {
            core.effects.lock().push_back((place.commit_number, *effect));
        }
    }

    fn commit_ordered(&self, last: &Place) {
        if let Some(core) = self.0.upgrade() {
            core.publish(last.commit_number, last.end);
        }
    }

    fn failed(&self, error: &CommitError) {
        if let Some(core) = self.0.upgrade() {
            core.fail(&error.to_string());
        }
    }
}

/// The fixed parts with which a [`Core`] begins.
pub(crate) struct CoreParts {
    pub(crate) env: Env,
    pub(crate) options: EngineOptions,
    pub(crate) server_uuid: Uuid,
    pub(crate) store: Arc<Store>,
    pub(crate) log: Arc<BinaryLog>,
    pub(crate) writer: LogWriter,
    pub(crate) views: Arc<Views>,
    pub(crate) locks: Arc<LockManager>,
    pub(crate) catalog: Catalog,
    pub(crate) planner: Arc<dyn DdlPlanner>,
    pub(crate) mark: Mark,
    pub(crate) checkpoints: Checkpoints,
}

impl Core {
    pub(crate) fn new(parts: CoreParts) -> Self {
        // A source is one until its own log is applied.
        let is_follower = AtomicBool::new(true);
        Core {
            semi_sync: SemiSync::new(parts.env.clone()),
            env: parts.env,
            tunables: Tunables::new(&parts.options),
            temporary: Arc::default(),
            options: parts.options,
            server_uuid: parts.server_uuid,
            store: parts.store,
            log: parts.log,
            views: parts.views,
            locks: parts.locks,
            catalog: ArcSwap::from_pointee(parts.catalog),
            planner: parts.planner,
            order: Mutex::new(parts.mark),
            ddl: Arc::default(),
            effects: Mutex::default(),
            checkpoints: parts.checkpoints,
            gate: Arc::default(),
            gtid_owners: GtidOwners::default(),
            positions: Unpublished::default(),
            xa_steps: Unpublished::default(),
            is_follower,
            writer: Mutex::new(Some(parts.writer)),
            commits: ArcSwapOption::empty(),
            large_transactions: AtomicU64::new(0),
            awaited: AwaitedStates::default(),
            readers: Arc::default(),
            failure: OnceLock::new(),
        }
    }

    /// Stops everything that writes, for good; the first reason counts.
    pub(crate) fn fail(&self, reason: &str) {
        if self.failure.set(reason.to_string()).is_err() {
            return;
        }
        tracing::error!("the engine stops: {reason}");
        self.checkpoints.stop();
        self.views.wake();
        if let Some(hook) = &self.options.on_failure {
            hook(reason);
        }
    }

    /// An error if the engine has stopped.
    pub(crate) fn check_running(&self) -> Result<()> {
        match self.failure.get() {
            None => Ok(()),
            Some(reason) => Err(EngineError::Stopped(reason.clone())),
        }
    }

    /// An error if no session can commit here now.
    pub(crate) fn check_commits(&self) -> Result<()> {
        self.check_running()?;
        if self.commits.load().is_none() { Err(EngineError::ServerReadOnly) } else { Ok(()) }
    }

    /// Waits for its turn through the gate; 1205 if that takes too long.
    pub(crate) async fn pass_gate(&self, passage: Passage, cancel: &Cancel, most: Duration) -> Result<Passing> {
        let mut pass = pin!(self.gate.pass(passage, cancel));
        // Nearly always it is open, and no timer is needed.
        if let Some(result) = future::poll_once(pass.as_mut()).await {
            return result.map_err(EngineError::Cancelled);
        }
        let too_long = async {
            self.env.clock.sleep(most).await;
            Err(EngineError::LockWaitTimeout)
        };
        future::or(async { pass.await.map_err(EngineError::Cancelled) }, too_long).await
    }

    /// The mark after everything that has its place.
    pub(crate) fn ordered(&self) -> Mark {
        self.order.lock().clone()
    }

    /// Lets everything up to a number be seen, and the catalogs that came with it.
    pub(crate) fn publish(&self, number: CommitNumber, end: LogPosition) {
        self.views.publish(number, end);
        let (rate, definitions) = (self.checkpoints.recovery_rate(), self.checkpoints.definitions_time());
        let bytes_max = self.tunables.checkpoint_log_bytes(rate, definitions);
        self.checkpoints.log_is_at(&self.log, end, bytes_max);
        loop {
            let mut effects = self.effects.lock();
            if effects.front().is_none_or(|(due, _)| *due > number) {
                return;
            }
            let effect = effects.pop_front();
            drop(effects);
            if let Some((number, effect)) = effect {
                effect.apply(self, number);
            }
        }
    }
}
