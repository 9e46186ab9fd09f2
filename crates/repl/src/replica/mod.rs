//! Replica of a MySQL or a MariaDB: its log is executed in a session of this server, into this server's own log.
//!
//! ```text
//!   source ──stream──► receiver ──► queue ──► executor ──► session ──► commit queue ──► our log
//!                     (connects)             (a thread)                    └── commits: waits for their syncs
//! ```
//! A follower ([`crate::follower`]) is a copy of its source; this is a server of its own, which may have other sources of transactions
//! and tables that its source does not have. Transactions keep their GTIDs; MariaDB's are kept as [`binlog::MariaGtidName`] says. What
//! is executed is known from our own log alone: its set of GTIDs, or, without GTIDs, the source's position that each transaction
//! carries ([`binlog::SourcePosition`]). So nothing is lost or done twice, whenever this server is killed.
//!
//! There is no relay log: a source's events are here when they are executed. What is queued is bounded, so a source waits for a slow
//! replica at the connection.
//!
//! Transactions of rows are executed many at once ([`parallel`]); the executor above is then for everything else.
//!
//! There is one for each channel ([`Channels`]), with a source, a queue and an executor of its own. What they execute meets at the rows and
//! at the GTIDs: a transaction that comes by two ways is executed once.
//!
//! # Invariants
//! - A connection is asked for what is behind the last transaction that has its place in our log, and only when nothing is under way.
//! - An error of execution stops the replica at the beginning of the transaction that it names.

mod acks;
mod channels;
mod commits;
mod delay;
mod executor;
mod filters;
mod lag;
mod origins;
mod parallel;
mod queue;
mod receiver;
mod source;
mod status;
mod threads;
pub(crate) mod until;
mod work;

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use base::{Cancelled, SqlError, UnixMicros};
use binlog::GtidSet;
use binlog::event::ChecksumAlgorithm;
use engine::{Engine, SessionHandle};
use event_listener::Event;
use futures_lite::future;
use io::Env;
use parking_lot::Mutex;
use sql::parse::ast::ChangeSource;
use sql::services::{DomainCrossing, ReplicaStatusRow};
use sql::session::SourceTables;
use sql::settings::{Globals, SettingId, SettingValue};

use self::acks::Acks;
pub use self::channels::Channels;
use self::commits::{Commits, Executed};
pub use self::executor::ExecuteError;
use self::executor::Executor;
use self::filters::{ChannelFilters, RuleTimes};
use self::lag::CommitTimes;
use self::parallel::{Coordinator, Head, Parallel, ParallelCounters, Pool};
use self::queue::{EventQueue, Item};
pub use self::source::{OWN_COMMENT, OWN_RELAY_COMMENT, SourceKind};
use self::until::Until;
use self::work::{Passage, WorkerStatus};
use crate::follower::error::ReceiveError;
use crate::follower::status::{IoState, Running};
use crate::follower::{Follower, KeptSource, SourceSettings};
use crate::received::ReceivedCounters;

/// What the server does when a source turns out to be one of ours, whose log is to be copied.
pub type CopyHook = Arc<dyn Fn() + Send + Sync>;

/// A place in a source's log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) file: String,
    pub(crate) offset: u64,
}

impl Place {
    fn move_to(&mut self, file: &str, offset: u64) {
        if self.file != file {
            file.clone_into(&mut self.file);
        }
        self.offset = offset;
    }

    /// Whether it is farther on in the same log, whose files are named by ascending numbers.
    fn is_behind(&self, other: &Place) -> bool {
        let order = |place: &Place| (place.file.len(), place.file.clone(), place.offset);
        order(self) > order(other)
    }
}

#[derive(Default)]
struct State {
    /// Tasks that run: receiver, executor, commits.
    parts: usize,
    /// It is to execute, and has not failed: the SQL thread, which may have nobody to bring it anything.
    executes: bool,
    stop: bool,
    /// It was started since the server was.
    was_started: bool,
    kind: Option<SourceKind>,
    io_state: IoState,
    io_running: Running,
    io_error: Option<(ReceiveError, UnixMicros)>,
    source_server_id: u32,
    source_uuid: String,
    clock_difference: i64,
    /// Behind the last event that was received.
    received: Place,
    /// How the events that are received are protected.
    checksum: ChecksumAlgorithm,
    /// Transactions of which the beginning was received.
    retrieved: GtidSet,
    /// Those, one by one.
    queued: Passage,
    /// Those that are put together for workers, one by one.
    buffered: Passage,
    /// How many since the connection was made, and when the last came.
    heartbeats: (u64, UnixMicros),
    sql_error: Option<(ExecuteError, UnixMicros)>,
    /// The same of what was handed on to be executed, if no transaction is open there.
    handed_on: Place,
    /// Behind the last transaction that is durable here.
    executed: Place,
    /// When that was committed at its source, and was durable here.
    last_commit_time: UnixMicros,
    last_executed_at: UnixMicros,
    /// Of the transaction that has come out of the queue last.
    begun: Option<CommitTimes>,
    /// `replica_parallel_mode` as of the last START.
    mode: &'static str,
    /// UNTIL of the last START.
    until: Option<Until>,
    /// What the source has, if that has to be known for `until`.
    source_has: Option<GtidSet>,
    /// What is to be executed next is executed then (SOURCE_DELAY).
    delayed_until: Option<UnixMicros>,
    /// While it runs.
    run: Weak<Run>,
}

impl State {
    /// Up to where everything is executed: behind the last transaction, and behind what no transaction is part of, if nothing else is left.
    fn executed_to(&self) -> &Place {
        let is_all = self.executes && self.sql_error.is_none() && self.is_idle();
        if is_all && self.handed_on.is_behind(&self.executed) { &self.handed_on } else { &self.executed }
    }

    /// Nothing is left to do of what was received.
    fn is_idle(&self) -> bool {
        self.run.upgrade().is_none_or(|run| {
            run.queue.is_empty() && run.pool.as_ref().is_none_or(|pool| pool.is_idle()) && run.commits.is_idle()
        })
    }
}

/// An executing replica: one channel of a server.
pub struct Replica {
    source: Arc<KeptSource>,
    /// Has what is the same for all channels.
    follower: Arc<Follower>,
    globals: Arc<Globals>,
    filters: ChannelFilters,
    state: Mutex<State>,
    changed: Event,
    transactions: AtomicUsize,
    retries: AtomicU32,
    /// Since the server was started.
    all_retries: AtomicU64,
    /// Its source asks for acknowledgements, and gets them.
    acknowledges: AtomicBool,
    differences: Mutex<Differences>,
    /// Since the server was started.
    crossings: Mutex<Vec<DomainCrossing>>,
    /// They outlive STOP REPLICA.
    source_tables: Arc<SourceTables>,
    received: ReceivedCounters,
    parallel: ParallelCounters,
}

/// Rows that were not here as their source had them, since the server started.
#[derive(Clone, Debug, Default)]
pub struct Differences {
    /// How many.
    pub rows: u64,
    /// A sentence about the last transaction with such rows, and when it was executed.
    pub last: Option<(String, UnixMicros)>,
}

/// One start of the replica, from START to STOP.
struct Run {
    replica: Arc<Replica>,
    engine: Arc<Engine>,
    queue: EventQueue,
    commits: Arc<Commits>,
    acks: Acks,
    /// Somebody takes out of the queue what the receiver puts in.
    executes: bool,
    /// The executor's session.
    handle: Arc<SessionHandle>,
    /// What its executor does, where that executes one by one.
    alone: WorkerStatus,
    /// Those of the slots, and what they share.
    slot_handles: Vec<Arc<SessionHandle>>,
    pool: Option<Arc<Pool>>,
    /// Of each slot.
    workers: Vec<WorkerStatus>,
    /// `SOURCE_DELAY`
    delay: Duration,
    /// `replica_transaction_retries`
    retries_max: u32,
    /// `None` if its source's log is not to be copied, whatever it is.
    copy: Option<CopyHook>,
}

/// So long START REPLICA waits to see what the source is; the receiver sees it later otherwise.
const PROBE_TIME: Duration = Duration::from_secs(3);

/// Between two messages about rows that differ.
const DIFFERENCES_PAUSE: Duration = Duration::from_secs(1);

impl Replica {
    /// Not started yet. Of `globals` filters and the like are read at each start.
    fn new(
        source: Arc<KeptSource>,
        follower: Arc<Follower>,
        globals: Arc<Globals>,
        all_rules: &Arc<RuleTimes>,
    ) -> Arc<Self> {
        let filters = ChannelFilters::new(follower.env().clock.now(), all_rules.clone());
        Arc::new(Replica {
            source,
            follower,
            globals,
            filters,
            state: Mutex::default(),
            changed: Event::new(),
            transactions: AtomicUsize::new(0),
            retries: AtomicU32::new(0),
            all_retries: AtomicU64::new(0),
            acknowledges: AtomicBool::new(false),
            differences: Mutex::default(),
            crossings: Mutex::default(),
            source_tables: Arc::default(),
            received: ReceivedCounters::default(),
            parallel: ParallelCounters::default(),
        })
    }

    /// Where it replicates from.
    pub fn source(&self) -> &Arc<KeptSource> {
        &self.source
    }

    /// Whether its source is one that asks for acknowledgements, and gets them.
    pub fn acknowledges(&self) -> bool {
        self.acknowledges.load(Ordering::Relaxed)
    }

    /// Whether it runs, or one of its halves has not stopped yet.
    pub fn is_running(&self) -> bool {
        self.threads().is_any()
    }

    /// Whether SHOW REPLICA STATUS is to speak of it, and not of a follower.
    pub fn is_in_use(&self) -> bool {
        self.state.lock().was_started
    }

    /// Transactions executed since the server started.
    pub fn transactions(&self) -> usize {
        self.transactions.load(Ordering::Relaxed)
    }

    /// Connects once, if it is not known yet, to see what the source is; `None` if it cannot be reached.
    #[io::boxed]
    pub async fn kind_of_source(&self) -> Option<SourceKind> {
        let settings = self.source.get()?;
        if settings.kind.is_some() {
            return settings.kind;
        }
        let env = self.follower.env();
        let late = async {
            env.clock.sleep(PROBE_TIME).await;
            None
        };
        let connect = async { source::connect(env, &settings).await.ok() };
        let (client, kind) = future::or(connect, late).await?;
        if kind == SourceKind::Mysql
            && let Err(error) = self.source.keep_kind(kind).await
        {
            tracing::warn!("{}: {}", self.title(), error.message);
        }
        // The connection has said what it was made for.
        let _ = client.quit().await;
        Some(kind)
    }

    /// 3081 while it runs.
    pub fn check_stopped(&self) -> Result<(), SqlError> {
        self.threads().running().check_all(self.source.channel())
    }

    /// 3085 while it executes: a rule of what is left out changes.
    pub fn check_filter(&self) -> Result<(), SqlError> {
        self.threads().running().check_filter(self.source.channel())
    }

    /// 3021, 3085 or 3081 while what has to be stopped for it runs.
    pub(crate) fn check_change(&self, change: &ChangeSource) -> Result<(), SqlError> {
        self.threads().running().check_change(change, self.source.channel())
    }

    /// `RESET REPLICA`: what was received and said is forgotten.
    pub fn reset(&self) {
        let mut state = self.state.lock();
        if !state.executes && state.parts == 0 {
            *state = State::default();
            // All of the source's log comes again.
            self.source_tables.clear();
        }
    }

    /// `SHOW REPLICA STATUS`
    pub fn status(&self) -> Vec<ReplicaStatusRow> {
        let Some(settings) = self.source.get().filter(SourceSettings::has_source) else { return Vec::new() };
        let (engine, now) = (self.follower.engine(), self.follower.env().clock.now());
        vec![status::row(&settings, &self.state.lock(), engine, &self.globals, now)]
    }

    /// The receiver's error, if it has stopped with one or tries again.
    pub fn receive_error(&self) -> Option<ReceiveError> {
        self.state.lock().io_error.as_ref().map(|(error, _)| error.clone())
    }

    /// The error that has stopped the executor.
    pub fn execute_error(&self) -> Option<ExecuteError> {
        self.state.lock().sql_error.as_ref().map(|(error, _)| error.clone())
    }

    /// What [`sql::replay`] found different in rows that it changed.
    pub fn differences(&self) -> Differences {
        self.differences.lock().clone()
    }

    /// How many temporary tables the connections of its source have here.
    pub fn temporary_tables(&self) -> usize {
        self.source_tables.count()
    }

    fn tell_differences(&self, rows: u64, sentence: String, now: UnixMicros) {
        let mut differences = self.differences.lock();
        let told = differences.last.as_ref().map(|(_, at)| *at);
        differences.rows += rows;
        // A table that is another has as many as rows.
        if told.is_none_or(|told| now.0.saturating_sub(told.0) >= DIFFERENCES_PAUSE.as_micros() as u64) {
            tracing::warn!("{}: {sentence}; {} such rows so far", self.title(), differences.rows);
            differences.last = Some((format!("{}: {sentence}", self.title()), now));
        }
    }

    fn settings(&self) -> SourceSettings {
        self.source.get_or_default()
    }

    /// As the server's messages have it.
    fn title(&self) -> String {
        match self.source.channel() {
            "" => "the replica".to_owned(),
            channel => format!("the replica of channel '{channel}'"),
        }
    }

    /// `Err` when it is to stop; never ready before.
    async fn stop_asked(&self) -> ReceiveError {
        loop {
            let changed = self.changed.listen();
            if self.state.lock().stop {
                return ReceiveError::Stopped;
            }
            changed.await;
        }
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state.lock());
        self.changed.notify(usize::MAX);
    }
}

impl Run {
    fn env(&self) -> &Env {
        self.engine.env()
    }

    /// A part has ended.
    fn ended(&self) {
        self.replica.change(|state| {
            state.parts -= 1;
            state.executes &= state.parts > 0;
        });
    }

    /// The receiver's task.
    async fn receive(self: Arc<Self>) {
        let result = receiver::run(&self).await;
        self.queue.close();
        self.cancel_sessions();
        if let Err(error) = &result {
            tracing::error!("the receiver of {} stops: {error}", self.replica.title());
            let at = self.env().clock.now();
            self.replica.change(|state| state.io_error = Some((error.clone(), at)));
        }
        self.replica.change(|state| {
            state.io_running = Running::No;
            state.io_state = IoState::None;
        });
        self.ended();
    }

    /// Threads of those that execute beside others.
    fn slot_threads(&self) -> usize {
        self.slot_handles.len().min(self.env().spawner.parallelism())
    }

    /// They may be waiting for somebody's row.
    fn cancel_sessions(&self) {
        for handle in self.slot_handles.iter().chain([&self.handle]) {
            handle.cancel.cancel(Cancelled::Connection);
        }
    }

    /// The executor's thread.
    async fn execute(self: Arc<Self>, mut executor: Executor, parallel: Option<Parallel>) {
        let mut coordinator = match (&parallel, &self.pool) {
            (Some(parallel), Some(pool)) => Some(Coordinator::new(self.clone(), pool.clone(), parallel)),
            _ => None,
        };
        while !executor.is_at_the_end() {
            let result = match self.next_item().await {
                Ok(None) => break,
                Ok(Some(item)) => self.execute_item(item, &mut executor, coordinator.as_mut()).await,
                Err(error) => Err(error),
            };
            if let Some((rows, sentence)) = executor.found_differences() {
                self.replica.tell_differences(rows, sentence, self.env().clock.now());
            }
            if let Some(left) = executor.skipped_meanwhile() {
                self.show_skip_counter(left);
            }
            if let Err(error) = result
                && !self.may_go_on(&mut executor, &error)
            {
                break;
            }
            // Who only hands on keeps ahead of those who execute.
            if coordinator.is_none() {
                self.env().step().await;
            }
        }
        if executor.is_at_the_end() {
            tracing::info!("{} has come to where START REPLICA UNTIL said", self.replica.title());
        }
        self.queue.close();
        executor.abandon();
        if let Some(pool) = &self.pool {
            pool.close();
            self.cancel_sessions();
            pool.ended().await;
        }
        self.commits.close();
        self.ended();
    }

    /// What was received next; `None` at the end. An error of a transaction that is executed beside others comes here.
    async fn next_item(&self) -> Result<Option<Item>, ExecuteError> {
        let item = async { Ok(self.queue.pop().await) };
        match &self.pool {
            None => item.await,
            Some(pool) => future::or(item, async { Err(pool.failed().await) }).await,
        }
    }

    async fn execute_item(
        &self,
        item: Item,
        executor: &mut Executor,
        coordinator: Option<&mut Coordinator>,
    ) -> Result<(), ExecuteError> {
        let mut begun = None;
        if let Item::Event(bytes) = &item {
            begun = Head::of(bytes, executor.format().checksum);
            if let Some(head) = begun {
                self.replica.state.lock().begun = Some(CommitTimes::of_head(head));
            }
            if !self.delay.is_zero()
                && let Some(committed) = delay::commit_time(bytes, executor.format())
            {
                self.wait_until_due(committed).await;
            }
        }
        match (item, coordinator) {
            (Item::Begin(checksum), coordinator) => {
                let source_has = self.replica.state.lock().source_has.take();
                executor.begin(checksum, source_has.as_ref());
                coordinator.into_iter().for_each(|coordinator| coordinator.begin(checksum));
                Ok(())
            }
            (Item::Event(bytes), None) => self.execute_alone(&bytes, begun, executor).await,
            (Item::Event(bytes), Some(coordinator)) => coordinator.event(bytes, executor).await,
        }
    }

    /// `begun`: what the event says of the transaction that begins with it.
    async fn execute_alone(
        &self,
        bytes: &[u8],
        begun: Option<Head>,
        executor: &mut Executor,
    ) -> Result<(), ExecuteError> {
        // What a connection begins with is between transactions, and ends none that is to be begun again.
        let mut is_within = !executor.is_between();
        if let Some(head) = begun {
            self.alone.begins(head, self.env().clock.now());
            is_within = true;
        }
        executor.event(bytes).await?;
        if is_within && executor.is_between() {
            self.alone.ends(self.env().clock.now());
        }
        Ok(())
    }

    fn show_skip_counter(&self, left: u64) {
        self.replica.globals.set(SettingId::sql_replica_skip_counter, SettingValue::UInt(left));
    }

    /// Whether the transaction can be begun again.
    fn may_go_on(&self, executor: &mut Executor, error: &ExecuteError) -> bool {
        executor.abandon();
        if self.queue.is_closed() {
            // What was interrupted comes again.
            return false;
        }
        let retries = self.replica.retries.fetch_add(1, Ordering::Relaxed);
        self.replica.all_retries.fetch_add(1, Ordering::Relaxed);
        let has_slots = self.pool.as_ref().is_none_or(|pool| !pool.is_closed());
        if error.may_pass && retries < self.retries_max && has_slots {
            tracing::warn!("{}: {error}; attempt {} begins", self.replica.title(), retries + 2);
            self.alone.tries_again(error.code, &error.message, self.env().clock.now());
            self.queue.start_over();
            return true;
        }
        tracing::error!("{} stops: {error}", self.replica.title());
        let at = self.env().clock.now();
        self.replica.change(|state| state.sql_error = Some((error.clone(), at)));
        false
    }

    /// The task that waits for syncs.
    async fn commit(self: Arc<Self>) {
        self.commits.run(|executed| self.tell(executed)).await;
        self.ended();
    }

    fn tell(&self, executed: &Executed) {
        self.replica.transactions.fetch_add(1, Ordering::Relaxed);
        self.replica.retries.store(0, Ordering::Relaxed);
        if executed.file.is_empty() {
            // Out of order, and none before it is executed.
            return;
        }
        self.acks.durable(&executed.file, executed.offset);
        let now = self.env().clock.now();
        // Nobody waits for this.
        let mut state = self.replica.state.lock();
        state.executed.move_to(&executed.file, executed.offset);
        state.last_commit_time = executed.commit_time;
        state.last_executed_at = now;
    }
}
