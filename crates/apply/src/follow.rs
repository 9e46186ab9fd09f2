//! Following: applies a log as it grows, until told to stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use base::{CommitNumber, Gtid, LogPosition, UnixMicros};
use binlog::BinlogError;
use engine::Engine;
use event_listener::Event;
use futures_lite::future;
use parking_lot::Mutex;

use crate::ApplyOptions;
use crate::coordinator::Coordinator;
use crate::error::ApplyError;
use crate::stats::Stats;

/// Applies an engine's log as a receiver makes it longer (`START`/`STOP REPLICA SQL_THREAD`).
pub struct Applier {
    engine: Arc<Engine>,
    workers: AtomicUsize,
    stats: Arc<Stats>,
    state: Mutex<State>,
    stopping: AtomicBool,
    /// It stops at the end of the log.
    finishing: AtomicBool,
    changed: Event,
}

#[derive(Default)]
struct State {
    is_running: bool,
    error: Option<ApplyError>,
    /// Why it is to stop, if not because it was told to.
    reason: Option<ApplyError>,
    /// What is to be applied next is applied then.
    delayed_until: Option<UnixMicros>,
    /// The last transaction that was taken when there was no more, and up to where the log was read.
    read_to: Option<(CommitNumber, LogPosition)>,
}

/// Where an applier is to stop by itself (`START REPLICA UNTIL`), asked between two transactions.
pub trait StopAt: Send + Sync {
    /// Whether the transaction that is about to begin is not to be applied any more.
    fn stops_before(&self, gtid: Gtid) -> bool;

    /// A transaction is applied.
    fn applied(&mut self, gtid: Gtid);

    /// Whether this is the end.
    fn is_reached(&self, position: LogPosition) -> bool;
}

/// For `SHOW REPLICA STATUS`.
#[derive(Clone, Debug)]
pub struct ApplierStatus {
    /// It applies, or waits for more to apply.
    pub is_running: bool,
    /// Why it stopped, if not because it was told to.
    pub error: Option<ApplyError>,
    /// What is next is held back until then (SOURCE_DELAY).
    pub delayed_until: Option<UnixMicros>,
    /// The last transaction that can be seen.
    pub applied: CommitNumber,
    /// Where that ends in the log, or what is behind it and no transaction.
    pub position: LogPosition,
    /// Where the log ends.
    pub log_end: LogPosition,
    /// Transactions taken from the log since the server started.
    pub transactions: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Schema changes among them.
    pub schema_changes: u64,
    /// Transactions per second, over the last second or more.
    pub rate: f64,
    /// When the newest transaction that was taken was committed on its source; 0 before the first.
    pub last_commit_time: UnixMicros,
}

impl Applier {
    /// Not started yet.
    pub fn new(engine: Arc<Engine>, options: ApplyOptions) -> Arc<Self> {
        Arc::new(Applier {
            engine,
            workers: AtomicUsize::new(options.workers),
            stats: Arc::default(),
            state: Mutex::default(),
            stopping: AtomicBool::new(false),
            finishing: AtomicBool::new(false),
            changed: Event::new(),
        })
    }

    /// [`ApplyOptions::workers`] from the next start on.
    pub fn set_workers(&self, workers: usize) {
        self.workers.store(workers, Ordering::Relaxed);
    }

    /// Starts to apply after what can be seen; nothing if it runs. The engine must have been recovered.
    pub fn start(self: &Arc<Self>) {
        self.start_until(None, Duration::ZERO);
    }

    /// The same, up to some place, and no transaction sooner than `delay` after its commit at the source; false if it runs
    /// already, and goes on as it was.
    pub fn start_until(self: &Arc<Self>, until: Option<Box<dyn StopAt>>, delay: Duration) -> bool {
        {
            let mut state = self.state.lock();
            if state.is_running {
                return false;
            }
            *state = State { is_running: true, ..State::default() };
            self.stopping.store(false, Ordering::SeqCst);
            self.finishing.store(false, Ordering::SeqCst);
        }
        let this = self.clone();
        let task = async move {
            let options = ApplyOptions { workers: this.workers.load(Ordering::Relaxed), readers: true };
            let mut coordinator = Coordinator::start(&this.engine, this.engine.visible(), options, this.stats.clone());
            coordinator.stop_at(until);
            coordinator.delay(delay);
            let result = this.follow(coordinator).await;
            if let Err(error) = &result {
                tracing::error!("the applier stops: {error}");
            }
            let mut state = this.state.lock();
            *state = State { error: result.err().or(state.reason.take()), read_to: state.read_to, ..State::default() };
            drop(state);
            this.changed.notify(usize::MAX);
        };
        self.engine.env().spawner.spawn_thread("apply", Box::pin(task));
        true
    }

    /// Stops after the transactions that are under way; ready when it has.
    #[io::boxed]
    pub async fn stop(&self) {
        self.stopping.store(true, Ordering::SeqCst);
        self.stopped().await;
    }

    /// Applies everything that is in the log, which nobody makes longer meanwhile, and stops.
    ///
    /// # Errors
    /// Why it could not.
    pub async fn finish(self: &Arc<Self>) -> Result<(), ApplyError> {
        // It may be one that is to stop before the end.
        self.stop().await;
        self.start();
        self.finishing.store(true, Ordering::SeqCst);
        self.stopped().await;
        self.state.lock().error.clone().map_or(Ok(()), Err)
    }

    async fn stopped(&self) {
        self.changed.notify(usize::MAX);
        loop {
            let changed = self.changed.listen();
            if !self.state.lock().is_running {
                return;
            }
            changed.await;
        }
    }

    /// As [`Applier::stop`], because something is wrong, which [`ApplierStatus::error`] then says; waits for nothing.
    pub fn stop_with(&self, reason: ApplyError) {
        let mut state = self.state.lock();
        if state.is_running {
            state.reason = Some(reason);
            self.stopping.store(true, Ordering::SeqCst);
            self.changed.notify(usize::MAX);
        }
    }

    /// How it is doing.
    pub fn status(&self) -> ApplierStatus {
        let (is_running, error, delayed_until, read_to) = {
            let state = self.state.lock();
            (state.is_running, state.error.clone(), state.delayed_until, state.read_to)
        };
        let (applied, position) = self.applied_to(read_to);
        ApplierStatus {
            is_running,
            error,
            delayed_until,
            applied,
            position,
            log_end: self.engine.log().durable_end(),
            transactions: self.stats.transactions.load(Ordering::Relaxed),
            bytes: self.stats.bytes.load(Ordering::Relaxed),
            schema_changes: self.stats.schema_changes.load(Ordering::Relaxed),
            rate: self.stats.rate(self.engine.env().clock.monotonic()),
            last_commit_time: UnixMicros(self.stats.last_commit_time.load(Ordering::Relaxed)),
        }
    }

    /// The last transaction that can be seen, and its end; or, if it was the last one up to where the log was read, that place: behind the
    /// end of a file, and the head of the next one.
    fn applied_to(&self, read_to: Option<(CommitNumber, LogPosition)>) -> (CommitNumber, LogPosition) {
        let (applied, position) = self.engine.visible();
        let read = read_to.filter(|&(last, at)| last == applied && at <= self.engine.log().durable_end());
        (applied, read.map_or(position, |(_, at)| at.max(position)))
    }

    async fn follow(&self, mut coordinator: Coordinator) -> Result<(), ApplyError> {
        let result = self.follow_until_stopped(&mut coordinator).await;
        match coordinator.stop(result).await {
            // The server goes down.
            Err(ApplyError::Log(BinlogError::Closed)) => Ok(()),
            result => result,
        }
    }

    async fn follow_until_stopped(&self, coordinator: &mut Coordinator) -> Result<(), ApplyError> {
        loop {
            let stopped = self.changed.listen();
            if self.stopping.load(Ordering::SeqCst) {
                return coordinator.settle().await;
            }
            if coordinator.take_next().await? {
                continue;
            }
            if coordinator.has_reached_its_end() {
                tracing::info!("the applier has come to where START REPLICA UNTIL said");
                return coordinator.settle().await;
            }
            if self.finishing.load(Ordering::SeqCst) {
                return coordinator.settle().await;
            }
            // Everything there is, is under way; what comes meanwhile is the next batch.
            coordinator.dispatch().await?;
            self.state.lock().read_to = coordinator.read_to();
            let stopped = async {
                stopped.await;
                Ok(())
            };
            let more = self.something_to_take(coordinator);
            future::or(more, future::or(stopped, coordinator.wait_for_failure())).await?;
        }
    }

    /// Ready when the log has more, or when what was read of it is due.
    async fn something_to_take(&self, coordinator: &Coordinator) -> Result<(), ApplyError> {
        let Some(due) = coordinator.due() else {
            self.state.lock().delayed_until = None;
            return coordinator.wait_for_more().await;
        };
        self.state.lock().delayed_until = Some(due);
        let clock = &self.engine.env().clock;
        clock.sleep(Duration::from_micros(due.0.saturating_sub(clock.now().0))).await;
        Ok(())
    }
}
