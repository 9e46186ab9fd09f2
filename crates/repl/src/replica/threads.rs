//! `START REPLICA` and `STOP REPLICA`: which of the two halves run.
//!
//! | IO_THREAD | SQL_THREAD | |
//! |---|---|---|
//! | runs | runs | what is received is executed |
//! | runs | | the connection stands, and what fits into the queue is received |
//! | | runs | nothing is done: what was received and not executed is forgotten, and comes again |
//!
//! There is no relay log to bring one half up to where the other is, so a change ends what runs, and begins anew what is to run, at what is
//! executed. To a client that is the same: after STOP REPLICA IO_THREAD all that was received is executed.

use std::sync::Arc;
use std::time::Duration;

use base::SqlError;
use engine::SessionHandle;
use sql::parse::ast::{StartReplica, StopReplica};
use sql::replay::ReplicationFilter;
use sql::session::{Applier, Shared};

use super::acks::Acks;
use super::executor::Executor;
use super::origins::Origins;
use super::parallel::{Parallel, run_slots};
use super::queue::EventQueue;
use super::until::Until;
use super::work::WorkerStatus;
use super::{CopyHook, Replica, Run, State};
use crate::follower::SourceSettings;
use crate::follower::status::Running;
use crate::must_stop::Halves;

/// The halves of a replica.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Threads {
    receiver: bool,
    executor: bool,
}

impl Threads {
    pub(super) fn running(self) -> Halves {
        Halves { receiver: self.receiver, applier: self.executor }
    }

    pub(super) fn is_any(self) -> bool {
        self.receiver || self.executor
    }
}

impl Replica {
    /// What runs, or has not stopped yet.
    pub(super) fn threads(&self) -> Threads {
        let state = self.state.lock();
        Threads { receiver: state.parts > 0, executor: state.executes }
    }

    /// `START REPLICA`, on a server that is a source of its own; what runs already goes on. `copy` is called if the server turns out to be
    /// one of ours; without it, such a server's log is executed like any other's.
    ///
    /// # Errors
    /// 1772 for what UNTIL says, 1235 for UNTIL without anybody who receives.
    pub async fn start(
        self: &Arc<Self>,
        start: &StartReplica,
        shared: &Arc<Shared>,
        copy: Option<CopyHook>,
    ) -> Result<(), SqlError> {
        let before = self.threads();
        let threads =
            Threads { receiver: before.receiver || start.receiver, executor: before.executor || start.applier };
        if threads == before {
            return Ok(());
        }
        let until = start.until.as_ref().map(|until| Until::new(until, &shared.engine.gtid_executed())).transpose()?;
        // By positions everything is executed in order.
        let until = if self.settings().auto_position { until } else { until.map(Until::in_order) };
        if until.is_some() && !threads.receiver {
            return Err(SqlError::not_supported(
                "START REPLICA SQL_THREAD UNTIL without the IO_THREAD: there is no relay log",
            ));
        }
        let filter = self.filter()?;
        self.shut_down().await;
        self.launch(threads, filter, until, shared, copy);
        Ok(())
    }

    /// `STOP REPLICA`; ready when it has stopped. What is in the middle of a transaction is undone, and comes again.
    ///
    /// # Errors
    /// If a setting of filters is malformed, of what goes on.
    pub async fn stop(
        self: &Arc<Self>,
        stop: &StopReplica,
        shared: &Arc<Shared>,
        copy: Option<CopyHook>,
    ) -> Result<(), SqlError> {
        let before = self.threads();
        let left = Threads { receiver: before.receiver && !stop.receiver, executor: before.executor && !stop.applier };
        if left == before {
            return Ok(());
        }
        self.shut_down().await;
        if left.is_any() {
            self.launch(left, self.filter()?, None, shared, copy);
        }
        Ok(())
    }

    /// Both halves end.
    #[io::boxed]
    pub async fn shut_down(&self) {
        self.ask_to_stop();
        loop {
            let changed = self.changed.listen();
            {
                let mut state = self.state.lock();
                if state.parts == 0 {
                    state.executes = false;
                    return;
                }
            }
            changed.await;
        }
    }

    pub(super) fn ask_to_stop(&self) {
        self.state.lock().stop = true;
        self.changed.notify(usize::MAX);
    }

    /// Begins what is to run, where nothing runs.
    fn launch(
        self: &Arc<Self>,
        threads: Threads,
        filter: ReplicationFilter,
        until: Option<Until>,
        shared: &Arc<Shared>,
        copy: Option<CopyHook>,
    ) {
        let env = &shared.env;
        let settings = self.settings();
        let position_name = (!settings.auto_position).then(|| settings.position_name());
        let skip = self.globals.now().role.sql_replica_skip_counter;
        // What is to be left out, or where to stop, is counted one by one.
        let is_counted = until.is_some() || skip > 0;
        let processors = env.spawner.parallelism();
        let parallel = Parallel::of(&self.globals, &settings, processors)
            .filter(|_| threads.executor && threads.receiver && !is_counted);
        let slots = parallel.map_or(0, |parallel| parallel.slots);
        let slot_threads = slots.min(processors);
        let run = Arc::new(Run {
            replica: self.clone(),
            engine: shared.engine.clone(),
            queue: EventQueue::default(),
            commits: Arc::default(),
            acks: Acks::default(),
            executes: threads.executor,
            handle: SessionHandle::internal(),
            alone: WorkerStatus::default(),
            slot_handles: (0..slots).map(|_| SessionHandle::internal()).collect(),
            workers: (0..slots).map(|_| WorkerStatus::default()).collect(),
            pool: parallel.map(|parallel| parallel.pool(slot_threads)),
            delay: Duration::from_secs(settings.delay_seconds),
            retries_max: self.globals.now().replica.replica_transaction_retries,
            copy,
        });
        let mode = parallel.map_or(Parallel::NONE, |parallel| parallel.mode());
        if !self.begin(threads, &until, mode, &run) {
            return;
        }
        let spawner = &env.spawner;
        let (receiver, executor, commits) = (run.clone(), run.clone(), run.clone());
        spawner.spawn("replica-receiver", Box::pin(async move { receiver.receive().await }));
        if !threads.executor {
            return;
        }
        let left_out = (filter, self.origins(&settings));
        let new_executor = |handle: &Arc<SessionHandle>, until, skip| {
            let applier = Applier::new(shared.clone(), handle.clone(), self.source_tables.clone());
            Executor::new(applier, run.commits.clone(), position_name.clone(), left_out.clone(), until, skip)
        };
        if let (Some(parallel), Some(pool)) = (parallel, &run.pool) {
            let order = (shared.engine.new_line(), parallel.is_ordered);
            let new_slot = |slot: usize| {
                let executor = new_executor(&run.slot_handles[slot], None, 0);
                Box::new(executor.grouped().telling(run.workers[slot].progress()))
            };
            for thread in 0..slot_threads {
                let numbers = (thread..slots).step_by(slot_threads);
                let executors = numbers.map(|slot| (slot, new_slot(slot))).collect();
                let slots = run_slots(run.clone(), pool.clone(), order, executors);
                spawner.spawn_thread(&format!("replica-{thread}"), Box::pin(slots));
            }
        }
        let alone = new_executor(&run.handle, until, skip).telling(run.alone.progress());
        spawner.spawn_thread("replica", Box::pin(async move { executor.execute(alone, parallel).await }));
        spawner.spawn("replica-commits", Box::pin(async move { commits.commit().await }));
    }

    /// Whose events are left out by a channel with `settings`: our own, too, unless they are asked for.
    fn origins(&self, settings: &SourceSettings) -> Arc<Origins> {
        let own = self.follower.identity().server_id;
        let own = Some(own).filter(|_| !self.globals.now().replica.replicate_same_server_id);
        Arc::new(Origins::new(settings, own))
    }

    /// The state of a new run; whether it has tasks.
    fn begin(&self, threads: Threads, until: &Option<Until>, mode: &'static str, run: &Arc<Run>) -> bool {
        let mut state = self.state.lock();
        // Somebody else was faster.
        if state.parts > 0 {
            return false;
        }
        let mut retrieved = std::mem::take(&mut state.retrieved);
        let mut not_executed = retrieved.clone();
        not_executed.subtract(&run.engine.gtid_executed());
        retrieved.subtract(&not_executed);
        let executed = std::mem::take(&mut state.executed);
        *state = State {
            parts: match threads {
                Threads { receiver: false, .. } => 0,
                Threads { executor: false, .. } => 1,
                _ => 3 + run.slot_threads(),
            },
            executes: threads.executor,
            mode,
            until: until.clone(),
            was_started: true,
            io_running: if threads.receiver { Running::Connecting } else { Running::No },
            received: executed.clone(),
            executed,
            retrieved,
            run: Arc::downgrade(run),
            ..State::default()
        };
        threads.receiver
    }
}
