//! Following a source: its log is copied into ours, byte for byte, and applied from there.
//!
//! ```text
//!   source ──stream──► receiver ──append, one sync per batch──► our log ──► apply::Applier ──► engine
//!                      (this module)                            (same files, same bytes)
//! ```
//! - **Receiver** ([`receiver`]): connects as a MySQL replica would ([`handshake`]), compares the last transaction that is
//!   here with the source's ([`copier`]), then appends what comes. Events that are there already when one is appended
//!   share its sync. When the connection is lost it tries again every `SOURCE_CONNECT_RETRY` seconds; when the source
//!   cannot be followed (its log is another, it has purged what is missing) it stops with an error that says why.
//! - **Comparer** ([`compare`]): beside the receiver, looks whether the rows here are the source's, when it is told to.
//! - **Repairer** ([`repair`]): makes good what of the data file cannot be read, with rows of the source ([`rows`]).
//! - **Applier**: crate `apply`. It follows the log's durable end and knows nothing of the connection.
//!
//! The engine must be a follower's (`Engine::become_follower`): its log takes no events of its own.
//!
//! # Invariants
//! - Nothing is appended before the last transaction here was seen to be the source's too.
//! - The log's writer is with the receiver while that runs, and back in the engine when it has stopped.

mod compare;
mod contents;
mod copier;
pub(crate) mod error;
pub mod handshake;
mod kept;
pub(crate) mod receiver;
mod repair;
mod rows;
mod settings;
pub(crate) mod status;
mod unapplied;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use apply::{Applier, ApplierStatus, ApplyOptions, StopAt};
use base::{LogPosition, SqlError, UnixMicros, codes};
use binlog::LogReceiver;
use engine::Engine;
use event_listener::Event;
use futures_lite::future;
use io::Env;
use parking_lot::Mutex;
use sql::parse::ast::{ChangeSource, StartReplica, StopReplica};
use sql::services::{ChannelWork, Lag, Parallelism, ReplicaStatusRow};

use self::unapplied::Unapplied;
use crate::must_stop::Halves;
use crate::received::ReceivedCounters;
use crate::replica::until::{Until, UntilInCopy};

pub use compare::{Comparer, Comparison};
pub use error::{ReceiveError, of_client};
pub use handshake::Identity;
pub use kept::KeptSource;
pub use receiver::{pause_before, short_time};
pub use repair::Repairer;
pub use rows::{CopyRows, SourceRows};
pub use settings::SourceSettings;
pub use status::{IoState, ReceiverStatus, Running};

/// What is applied, or committed, stands still for so long at most, for two servers to come to one state.
const HOLD_MAX: Duration = Duration::from_secs(1);
/// The default of `replica_net_timeout`.
const NET_TIMEOUT_SECONDS: u64 = 60;

#[derive(Default)]
struct State {
    receiver: ReceiverStatus,
    /// The receiver's task has the log's writer.
    is_running: bool,
    stop: bool,
    /// UNTIL of the applier's last start.
    until: Option<Until>,
}

/// A server's replication from its source.
pub struct Follower {
    engine: Arc<Engine>,
    /// Of the channel without a name.
    kept: Arc<KeptSource>,
    applier: Arc<Applier>,
    comparer: Comparer,
    repairer: Arc<Repairer>,
    identity: Identity,
    net_timeout_seconds: AtomicU64,
    semi_sync: AtomicBool,
    acknowledges: AtomicBool,
    received: Arc<ReceivedCounters>,
    unapplied: Arc<Unapplied>,
    state: Mutex<State>,
    changed: Event,
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.repairer.end();
    }
}

impl Follower {
    /// Reads what was kept of the source; starts nothing.
    #[io::boxed]
    pub async fn open(engine: Arc<Engine>, identity: Identity, apply: ApplyOptions) -> Result<Arc<Self>, SqlError> {
        let settings = SourceSettings::load(engine.env())
            .await
            .map_err(|error| SqlError::unknown(format!("Failed to initialize the source info structure: {error}")))?;
        let applier = Applier::new(engine.clone(), apply);
        let kept = Arc::new(KeptSource::new(engine.env().clone(), String::new(), settings));
        Ok(Arc::new(Follower {
            engine,
            kept,
            applier,
            comparer: Comparer::default(),
            repairer: Arc::default(),
            identity,
            net_timeout_seconds: AtomicU64::new(NET_TIMEOUT_SECONDS),
            semi_sync: AtomicBool::new(false),
            acknowledges: AtomicBool::new(false),
            received: Arc::default(),
            unapplied: Arc::default(),
            state: Mutex::default(),
            changed: Event::new(),
        }))
    }

    /// `replica_net_timeout`: without a word from the source for so long its connection is taken for lost. From the next word on; the
    /// source is asked to say something twice as often from the next connection on.
    pub fn set_net_timeout(&self, seconds: u64) {
        self.net_timeout_seconds.store(seconds, Ordering::Relaxed);
    }

    pub(crate) fn net_timeout(&self) -> Duration {
        Duration::from_secs(self.net_timeout_seconds.load(Ordering::Relaxed))
    }

    /// `rpl_semi_sync_replica_enabled`: whether we acknowledge to the source what we have synced. From the next connection on.
    pub fn set_semi_sync(&self, on: bool) {
        self.semi_sync.store(on, Ordering::Relaxed);
    }

    /// `Rpl_semi_sync_replica_status`: whether the source is one that asks for acknowledgements, and gets them.
    pub fn acknowledges(&self) -> bool {
        self.acknowledges.load(Ordering::Relaxed)
    }

    pub(crate) fn set_acknowledges(&self, on: bool) {
        self.acknowledges.store(on, Ordering::Relaxed);
    }

    pub(crate) fn semi_sync(&self) -> bool {
        self.semi_sync.load(Ordering::Relaxed)
    }

    /// `replica_parallel_workers`, from the next start of the applier on.
    pub fn set_workers(&self, workers: usize) {
        self.applier.set_workers(workers);
    }

    /// The source, if one was ever set.
    pub fn source(&self) -> Option<SourceSettings> {
        self.kept.get().filter(SourceSettings::has_source)
    }

    /// The source's settings, which an executing replica shares.
    pub fn kept(&self) -> &Arc<KeptSource> {
        &self.kept
    }

    /// `CHANGE REPLICATION SOURCE TO`
    #[io::boxed]
    pub async fn change_source(&self, change: &ChangeSource) -> Result<(), SqlError> {
        let following = self.source().is_some_and(|source| source.following);
        self.change(change, following).await
    }

    /// The same for a server that is started to follow (`--follow`): one step, so that a crash leaves no source behind that
    /// was set and is not followed.
    #[io::boxed]
    pub async fn change_and_follow(&self, change: &ChangeSource) -> Result<(), SqlError> {
        self.change(change, true).await
    }

    async fn change(&self, change: &ChangeSource, following: bool) -> Result<(), SqlError> {
        self.running().check_change(change, "")?;
        if self.engine.is_follower() {
            self.check_position(change)?;
        }
        let mut settings = self.settings();
        settings.change(change, &self.engine.source_position_names())?;
        settings.following = following;
        self.kept.keep(settings).await
    }

    /// `START REPLICA`, on an engine that is a follower.
    #[io::boxed]
    pub async fn start<'a>(self: &'a Arc<Self>, start: &'a StartReplica) -> Result<(), SqlError> {
        self.kept.check_start(start)?;
        if !self.engine.is_follower() {
            let message = "This server is a source: its log takes events of its own.";
            return Err(SqlError::new(codes::BAD_REPLICA, message));
        }
        let executed = self.engine.gtid_executed();
        let until = start.until.as_ref().map(|until| Until::new(until, &executed).map(Until::in_order)).transpose()?;
        self.set_following(true).await?;
        if start.receiver {
            self.start_receiver()?;
        }
        if start.applier {
            self.start_applier(until);
        }
        Ok(())
    }

    /// Up to some place: what is received behind it waits. Nothing if it runs.
    fn start_applier(&self, until: Option<Until>) {
        let log = self.engine.log();
        let stop_at = until.clone().map(|until| Box::new(UntilInCopy { until, log: log.clone() }) as Box<dyn StopAt>);
        if self.applier.start_until(stop_at, Duration::from_secs(self.settings().delay_seconds)) {
            self.state.lock().until = until;
        }
    }

    /// Keeps whether this server is to follow after its next start.
    #[io::boxed]
    pub async fn set_following(&self, following: bool) -> Result<(), SqlError> {
        let change = |settings: &mut SourceSettings| {
            settings.following = following;
            settings.executing &= !following;
        };
        self.kept.change(change).await
    }

    /// Applies what is in the log and not applied yet, and stops. No receiver may run.
    #[io::boxed]
    pub async fn apply_rest(&self) -> Result<(), SqlError> {
        self.check_stopped()?;
        Ok(self.applier.finish().await?)
    }

    /// `STOP REPLICA`; ready when what was to stop has stopped.
    #[io::boxed]
    pub async fn stop(&self, stop: &StopReplica) -> Result<(), SqlError> {
        if stop.receiver {
            self.stop_receiver().await;
        }
        if stop.applier {
            self.applier.stop().await;
        }
        Ok(())
    }

    /// `RESET REPLICA [ALL]`: there is no relay log to remove; with ALL the source is forgotten.
    #[io::boxed]
    pub async fn reset(&self, all: bool) -> Result<(), SqlError> {
        self.running().check_all("")?;
        if all {
            self.kept.forget().await?;
        }
        self.state.lock().receiver = ReceiverStatus::default();
        Ok(())
    }

    /// `SHOW REPLICA STATUS`: a line if this server was ever told to follow.
    pub fn status(&self) -> Vec<ReplicaStatusRow> {
        let Some(settings) = self.source() else { return Vec::new() };
        let receiver = self.receiver_status();
        let until = self.state.lock().until.clone();
        let applier = self.applier.status();
        let line = status::Line {
            settings: &settings,
            until: until.as_ref().map(Until::shown),
            receiver: &receiver,
            next_commit_time: self.next_commit_time(&applier),
            applier: &applier,
            log: self.engine.log(),
            executed: self.engine.gtid_executed().to_string(),
            now: self.env().clock.now(),
        };
        vec![line.row()]
    }

    /// How parallel its source was; what is copied is installed whatever that says.
    pub fn parallelism(&self) -> Parallelism {
        Parallelism { mode: "INSTALL", ..self.received.figures() }
    }

    /// What it does; `None` if it has no source.
    pub fn work(&self) -> Option<ChannelWork> {
        let settings = self.source()?;
        let receiver = self.receiver_status();
        Some(ChannelWork {
            lag: self.lag(&receiver),
            parallelism: self.parallelism(),
            heartbeats: receiver.heartbeats,
            last_heartbeat: receiver.last_heartbeat,
            heartbeat_period: settings.heartbeat_period_seconds,
            receiver_error: receiver.error.as_ref().map_or(UnixMicros(0), |(_, at)| *at),
            ..ChannelWork::default()
        })
    }

    /// When the next transaction that will be shown was committed. Of what was received before this server started it is not known: then
    /// it is when the last one was that was taken, which is earlier.
    fn next_commit_time(&self, applier: &ApplierStatus) -> UnixMicros {
        self.unapplied.oldest(applier.position).unwrap_or(applier.last_commit_time)
    }

    fn lag(&self, receiver: &ReceiverStatus) -> Lag {
        let (applier, log) = (self.applier.status(), self.engine.log());
        let bytes = log.bytes_between(applier.position, applier.log_end);
        let mut left = log.gtid_executed();
        left.subtract(&self.engine.gtid_executed());
        let now = self.env().clock.now();
        let since = |time: UnixMicros| {
            let then = time.0.saturating_add_signed(receiver.clock_difference * 1_000_000);
            (time.0 > 0).then(|| now.0.saturating_sub(then) as f64 / 1e6)
        };
        let seconds = match bytes {
            0 => (receiver.running == Running::Yes).then_some(0.0),
            _ => since(self.next_commit_time(&applier)),
        };
        Lag { transactions: Some(left.count()), bytes, seconds, ..Lag::default() }
    }

    /// How the receiver is doing.
    pub fn receiver_status(&self) -> ReceiverStatus {
        self.state.lock().receiver.clone()
    }

    /// What compares this server with its source.
    pub fn comparer(&self) -> &Comparer {
        &self.comparer
    }

    /// The other half.
    pub fn applier(&self) -> &Arc<Applier> {
        &self.applier
    }

    /// Stops both halves, before the engine is closed.
    #[io::boxed]
    pub async fn shut_down(&self) {
        self.repairer.stop().await;
        self.stop_receiver().await;
        self.applier.stop().await;
    }

    fn start_receiver(self: &Arc<Self>) -> Result<(), SqlError> {
        {
            let mut state = self.state.lock();
            if state.is_running {
                return Ok(());
            }
            let writer = self.engine.take_writer().map_err(SqlError::from)?;
            state.is_running = true;
            state.stop = false;
            state.receiver.error = None;
            state.receiver.running = Running::Connecting;
            state.receiver.position = writer.position();
            let this = self.clone();
            let task = async move { this.receive(LogReceiver::new(writer)).await };
            self.env().spawner.spawn("receiver", Box::pin(task));
        }
        Ok(())
    }

    async fn receive(&self, receiver: LogReceiver) {
        let compare = async { match compare::run(self).await {} };
        let (receiver, result) = future::or(receiver::run(self, receiver), compare).await;
        let result = match receiver.into_writer().await {
            Ok(writer) => {
                self.engine.return_writer(writer);
                result
            }
            Err(error) => result.and(Err(error.into())),
        };
        if let Err(error) = &result {
            tracing::error!("the receiver stops: {error}");
            self.set_io_error(error);
            // A log that cannot be written ends the server; everything else waits for an administrator.
            if let (Err(failed), Some(stop_server)) = (self.engine.log().check(), &self.engine.options().on_failure) {
                stop_server(&failed.to_string());
            }
        }
        let mut state = self.state.lock();
        state.is_running = false;
        state.receiver.running = Running::No;
        state.receiver.state = IoState::None;
        drop(state);
        self.changed.notify(usize::MAX);
    }

    async fn stop_receiver(&self) {
        self.state.lock().stop = true;
        self.changed.notify(usize::MAX);
        loop {
            let changed = self.changed.listen();
            if !self.state.lock().is_running {
                return;
            }
            changed.await;
        }
    }

    /// Whether the receiver runs.
    pub fn is_running(&self) -> bool {
        self.state.lock().is_running
    }

    fn running(&self) -> Halves {
        Halves { receiver: self.is_running(), applier: self.applier.status().is_running }
    }

    /// 1198 while the receiver runs.
    pub fn check_stopped(&self) -> Result<(), SqlError> {
        if !self.is_running() {
            return Ok(());
        }
        let message = "This operation cannot be performed with a running replica io thread; run STOP REPLICA IO_THREAD \
                       FOR CHANNEL '' first.";
        Err(SqlError::new(codes::REPLICA_MUST_STOP, message))
    }

    /// A copy goes on where it ends: another position would leave a hole or write over what is there.
    fn check_position(&self, change: &ChangeSource) -> Result<(), SqlError> {
        let log = self.engine.log();
        // A log without transactions is no copy of anything yet.
        let end = if log.gtid_executed().is_empty() { LogPosition::default() } else { log.durable_end() };
        let wants_other = match (&change.log_file, end.file) {
            (None, _) => change.log_position.is_some_and(|position| position != end.offset.max(4)),
            (Some(_), 0) => change.log_position.unwrap_or(4) != 4,
            (Some(file), _) => {
                let position = change.log_position.unwrap_or(4);
                self.engine.log().file_number(file) != Some(end.file) || position != end.offset
            }
        };
        if wants_other {
            return Err(SqlError::not_supported(
                "SOURCE_LOG_POS other than the end of this server's log, which is a copy",
            ));
        }
        Ok(())
    }

    pub(crate) fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    pub(crate) fn env(&self) -> &Env {
        self.engine.env()
    }

    pub(crate) fn identity(&self) -> &Identity {
        &self.identity
    }

    fn settings(&self) -> SourceSettings {
        self.kept.get_or_default()
    }

    /// `Err` when the receiver is to stop; never ready before.
    async fn stop_asked(&self) -> Result<(), ReceiveError> {
        loop {
            let changed = self.changed.listen();
            if self.state.lock().stop {
                return Err(ReceiveError::Stopped);
            }
            changed.await;
        }
    }

    fn set_io_state(&self, state: IoState, running: Running) {
        let mut guard = self.state.lock();
        guard.receiver.state = state;
        guard.receiver.running = running;
    }

    fn set_io_error(&self, error: &ReceiveError) {
        self.state.lock().receiver.error = Some((error.clone(), self.env().clock.now()));
    }

    fn connected(&self, facts: &handshake::SourceFacts) {
        self.state.lock().receiver.connected(facts);
    }

    fn received(&self, position: LogPosition) {
        self.state.lock().receiver.position = position;
    }

    fn heartbeat(&self) {
        let now = self.env().clock.now();
        let mut state = self.state.lock();
        state.receiver.heartbeats += 1;
        state.receiver.last_heartbeat = now;
    }
}
