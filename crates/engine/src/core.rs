//! [`Core`]: the state that everything in the engine shares, and what the commit pipeline does to it.

use std::sync::{Arc, OnceLock};

use arc_swap::{ArcSwap, ArcSwapOption};
use base::{CommitNumber, LogPosition, Uuid};
use binlog::{BinaryLog, GtidSet, LogWriter};
use event_listener::Event;
use io::Env;
use parking_lot::Mutex;
use store::Store;

use crate::catalog::{Catalog, DdlPlanner};
use crate::checkpoint::Checkpoints;
use crate::commit::{CommitEnv, CommitError, Pipeline, Place};
use crate::error::{EngineError, Result};
use crate::lock::LockManager;
use crate::memtable::Guard;
use crate::memtable::stamp::Stamp;
use crate::options::EngineOptions;
use crate::turn::Turn;
use crate::view::{Mark, Views};

/// See the module.
pub(crate) struct Core {
    pub(crate) env: Env,
    pub(crate) options: EngineOptions,
    pub(crate) server_uuid: Uuid,
    pub(crate) store: Arc<Store>,
    pub(crate) log: Arc<BinaryLog>,
    pub(crate) views: Arc<Views>,
    pub(crate) locks: Arc<LockManager>,
    pub(crate) catalog: ArcSwap<Catalog>,
    pub(crate) planner: Arc<dyn DdlPlanner>,
    /// The state after the last transaction that has its place (a session's) or is published (`apply`'s).
    pub(crate) order: Mutex<Mark>,
    /// DDL statements run one after the other.
    pub(crate) ddl: Turn,
    pub(crate) checkpoints: Checkpoints,
    /// The log's writer, while neither the pipeline nor a follower has it.
    pub(crate) writer: Mutex<Option<LogWriter>>,
    /// Takes commits of sessions; none before recovery is done, on a follower, and after the end.
    pub(crate) pipeline: ArcSwapOption<Pipeline<CommitHooks>>,
    failure: OnceLock<String>,
    stopping: Event,
}

/// What goes with a transaction through the commit queue.
pub(crate) struct Payload {
    /// Of all its versions.
    pub(crate) stamp: Arc<Stamp>,
    /// Given back as soon as the versions are numbered.
    pub(crate) guard: Option<Guard>,
}

/// The engine as the commit pipeline sees it.
pub(crate) struct CommitHooks(pub(crate) Arc<Core>);

impl CommitEnv for CommitHooks {
    type Payload = Payload;

    /// Numbers all versions of the transaction with one store. It is in the log's order from here on, and in no reader's
    /// sight before [`CommitEnv::commit_ordered`].
    fn prepare_ordered(&self, payload: &mut Payload, place: &Place) {
        {
            let mut order = self.0.order.lock();
            debug_assert_eq!(order.commit_number.next(), place.commit_number, "commit numbers are dense");
            if let Some(guard) = &payload.guard {
                guard.memtable().starts_after(&order);
            }
            order.commit_number = place.commit_number;
            order.position = place.end;
            order.gtids.add(place.gtid);
        }
        payload.stamp.commit(place.commit_number);
        payload.guard = None;
    }

    fn commit_ordered(&self, last: &Place) {
        self.0.views.publish(last.commit_number, last.end);
        self.0.checkpoints.log_is_at(last.end);
    }

    fn failed(&self, error: &CommitError) {
        self.0.fail(&error.to_string());
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
        Core {
            env: parts.env,
            options: parts.options,
            server_uuid: parts.server_uuid,
            store: parts.store,
            log: parts.log,
            views: parts.views,
            locks: parts.locks,
            catalog: ArcSwap::from_pointee(parts.catalog),
            planner: parts.planner,
            order: Mutex::new(parts.mark),
            ddl: Turn::default(),
            checkpoints: parts.checkpoints,
            writer: Mutex::new(Some(parts.writer)),
            pipeline: ArcSwapOption::empty(),
            failure: OnceLock::new(),
            stopping: Event::new(),
        }
    }

    /// Stops everything that writes, for good; the first reason counts.
    pub(crate) fn fail(&self, reason: &str) {
        if self.failure.set(reason.to_string()).is_err() {
            return;
        }
        tracing::error!("the engine stops: {reason}");
        self.stopping.notify(usize::MAX);
        self.checkpoints.stop();
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
        if self.pipeline.load().is_none() { Err(EngineError::ServerReadOnly) } else { Ok(()) }
    }

    /// The mark after everything that has its place.
    pub(crate) fn ordered(&self) -> Mark {
        self.order.lock().clone()
    }

    /// For transactions that somebody else has put into the log.
    pub(crate) fn advance(&self, number: CommitNumber, end: LogPosition, gtids: &GtidSet) {
        let mut order = self.order.lock();
        debug_assert!(number > order.commit_number, "publication follows the log");
        let layers = self.views.layers();
        if number > layers.active().after() {
            layers.active().starts_after(&order);
        }
        order.commit_number = number;
        order.position = end;
        order.gtids.union(gtids);
    }
}
