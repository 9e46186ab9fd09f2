//! Semi-synchronous commits, lossless: what is durable here becomes visible when enough replicas have it too.
//!
//! The wait is between the sync and the publication (MySQL's `AFTER_SYNC`). The pipeline does not stand still meanwhile: a group that is durable is
//! *held*, with what publishes it, and the next one is written. Whoever brings the acknowledgement (the stream to a replica) publishes
//! all groups that it covers, in log order.
//!
//! ```text
//! log thread   write, sync G1 ─► hold G1   write, sync G2 ─► hold G2   …
//! replica                          has G1, G2 durable ─► acknowledges the end of G2
//! its stream                                              └► publish G1, publish G2
//! ```
//!
//! # Invariants
//! - Nothing is published before everything before it in the log is: while anything is held, whatever comes is held behind it.
//! - While semi-synchronous replication is in force nobody sees, here, what fewer than [`SemiSync::set_wait_count`] replicas have synced.
//! - It is not in force any longer only if it was switched off, if the wait has timed out under [`OnTimeout::GoOn`], or if there are too few replicas
//!   and it was said not to wait for them; it is again when replicas have all that was committed meanwhile.
//! - A shutdown publishes nothing that is held: sessions are told that nobody knows, as after a crash.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use base::LogPosition;
use event_listener::Event;
use futures_lite::future;
use io::Env;
use parking_lot::Mutex;

use super::CommitError;

/// What becomes of a commit that was not acknowledged in time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnTimeout {
    /// It goes on without: replication is asynchronous until replicas have caught up. As MySQL and MariaDB.
    #[default]
    GoOn,
    /// It goes on waiting.
    Wait,
}

/// What publishes a group, or tells its members why not.
type Publish = Box<dyn FnOnce(Result<(), CommitError>) + Send>;

struct Held {
    /// Where it ends in the log.
    end: LogPosition,
    transactions: u64,
    /// When it became durable, by the monotonic clock.
    since: Duration,
    publish: Publish,
}

#[derive(Clone, Copy, Debug)]
struct Settings {
    enabled: bool,
    timeout: Duration,
    on_timeout: OnTimeout,
    /// Replicas that have to acknowledge.
    count: usize,
    waits_for_replicas: bool,
}

struct State {
    settings: Settings,
    /// What each stream to a semi-synchronous replica has acknowledged.
    replicas: BTreeMap<u64, LogPosition>,
    /// What enough of them have.
    reached: LogPosition,
    held: VecDeque<Held>,
    /// The end of the last group that went by.
    last_end: LogPosition,
    timed_out: bool,
    /// The log takes no more commits.
    is_closed: bool,
    is_watched: bool,
}

impl State {
    /// Whether commits wait.
    fn is_in_force(&self) -> bool {
        let enough = self.settings.waits_for_replicas || self.replicas.len() >= self.settings.count;
        self.settings.enabled && !self.timed_out && enough
    }

    fn replicas_changed(&mut self) {
        let mut positions: Vec<LogPosition> = self.replicas.values().copied().collect();
        positions.sort_unstable_by(|a, b| b.cmp(a));
        if let Some(&enough) = positions.get(self.settings.count.saturating_sub(1)) {
            self.reached = self.reached.max(enough);
        }
        if self.timed_out && self.reached >= self.last_end {
            self.timed_out = false;
            tracing::info!("semi-synchronous replication is on again: replicas have all up to {}", self.reached);
        }
    }
}

/// Counters, as MySQL has them (`Rpl_semi_sync_source_…`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SemiSyncStatus {
    /// It is switched on.
    pub enabled: bool,
    /// Commits wait (`_status`).
    pub in_force: bool,
    /// Semi-synchronous replicas that are connected (`_clients`).
    pub clients: u64,
    /// Transactions that were published with acknowledgements (`_yes_tx`).
    pub acknowledged: u64,
    /// Transactions that were published without, while it is switched on (`_no_tx`).
    pub unacknowledged: u64,
    /// How often it went off (`_no_times`).
    pub timeouts: u64,
    /// Transactions that have waited (`_tx_waits`), and how long all together (`_tx_wait_time`).
    pub waits: u64,
    /// See `waits`.
    pub wait_time: Duration,
    /// Transactions that are held (`_wait_sessions`).
    pub waiting: u64,
    /// What enough replicas have.
    pub reached: LogPosition,
}

#[derive(Default)]
struct Counters {
    acknowledged: AtomicU64,
    unacknowledged: AtomicU64,
    timeouts: AtomicU64,
    waits: AtomicU64,
    wait_micros: AtomicU64,
}

/// See the module.
pub struct SemiSync {
    env: Env,
    state: Mutex<State>,
    /// It is switched on, or something is held: commits have to look. Else they need not.
    concerns_commits: AtomicBool,
    changed: Event,
    counters: Counters,
}

impl SemiSync {
    /// Switched off.
    pub fn new(env: Env) -> Arc<Self> {
        let settings = Settings {
            enabled: false,
            timeout: Duration::from_secs(10),
            on_timeout: OnTimeout::GoOn,
            count: 1,
            waits_for_replicas: true,
        };
        let state = State {
            settings,
            replicas: BTreeMap::new(),
            reached: LogPosition::default(),
            held: VecDeque::new(),
            last_end: LogPosition::default(),
            timed_out: false,
            is_closed: false,
            is_watched: false,
        };
        let (concerns_commits, changed) = (AtomicBool::new(false), Event::new());
        Arc::new(SemiSync { env, state: Mutex::new(state), concerns_commits, changed, counters: Counters::default() })
    }

    /// `rpl_semi_sync_source_enabled`. Switched off, everything that is held goes.
    pub fn set_enabled(&self, on: bool) {
        self.set(|settings| settings.enabled = on);
    }

    /// `rpl_semi_sync_source_timeout`
    pub fn set_timeout(&self, timeout: Duration) {
        self.set(|settings| settings.timeout = timeout);
    }

    /// `rpl_semi_sync_source_timeout_action`
    pub fn set_on_timeout(&self, on_timeout: OnTimeout) {
        self.set(|settings| settings.on_timeout = on_timeout);
    }

    /// `rpl_semi_sync_source_wait_for_replica_count`; at least 1.
    pub fn set_wait_count(&self, replicas: usize) {
        self.set(|settings| settings.count = replicas.max(1));
    }

    /// `rpl_semi_sync_source_wait_no_replica`: whether to wait also while fewer replicas are connected than have to acknowledge.
    pub fn set_waits_for_replicas(&self, on: bool) {
        self.set(|settings| settings.waits_for_replicas = on);
    }

    fn set(&self, change: impl FnOnce(&mut Settings)) {
        let mut state = self.state.lock();
        change(&mut state.settings);
        if !state.settings.enabled {
            state.timed_out = false;
        }
        state.replicas_changed();
        self.release(&mut state);
        drop(state);
        self.changed.notify(usize::MAX);
    }

    /// A stream to a replica begins that will acknowledge what it has.
    pub fn joined(&self, stream: u64) {
        let mut state = self.state.lock();
        state.replicas.insert(stream, LogPosition::default());
        state.replicas_changed();
    }

    /// The stream has ended. What it acknowledged counts.
    pub fn left(&self, stream: u64) {
        let mut state = self.state.lock();
        state.replicas.remove(&stream);
        self.release(&mut state);
    }

    /// A replica has synced everything up to here; publishes what is covered.
    pub fn acknowledged(&self, stream: u64, position: LogPosition) {
        let mut state = self.state.lock();
        match state.replicas.get_mut(&stream) {
            Some(known) if *known < position => *known = position,
            _ => return,
        }
        state.replicas_changed();
        self.release(&mut state);
    }

    /// Whether commits have to [`SemiSync::pass`]; a look that costs nothing.
    pub fn concerns_commits(&self) -> bool {
        self.concerns_commits.load(Ordering::Acquire)
    }

    /// A group is durable: publishes it now or later. Called in log order.
    pub(super) fn pass(self: &Arc<Self>, end: LogPosition, transactions: u64, publish: Publish) {
        let since = self.env.clock.monotonic();
        let mut state = self.state.lock();
        state.last_end = state.last_end.max(end);
        if state.is_in_force() && transactions > 0 && end > state.reached {
            self.counters.waits.fetch_add(transactions, Ordering::Relaxed);
        }
        state.held.push_back(Held { end, transactions, since, publish });
        self.release(&mut state);
        if state.is_closed {
            self.refuse_held(&mut state, &CommitError::Unacknowledged);
        }
        if !state.held.is_empty() && !std::mem::replace(&mut state.is_watched, true) {
            let this = self.clone();
            self.env.spawner.spawn("semi-sync", Box::pin(async move { this.watch().await }));
        }
    }

    /// Publishes, in order, what nobody has to acknowledge any more. Under the lock, so that two do not come in each other's way.
    fn release(&self, state: &mut State) {
        let in_force = state.is_in_force();
        let now = self.env.clock.monotonic();
        // No replica has to have what changes nothing: a barrier, the end of a file.
        let may_go = |held: &Held, reached| !in_force || held.transactions == 0 || held.end <= reached;
        while state.held.front().is_some_and(|held| may_go(held, state.reached)) {
            let Some(held) = state.held.pop_front() else { break };
            let is_acknowledged = held.end <= state.reached;
            let counter = if is_acknowledged { &self.counters.acknowledged } else { &self.counters.unacknowledged };
            if state.settings.enabled {
                counter.fetch_add(held.transactions, Ordering::Relaxed);
            }
            let waited = now.saturating_sub(held.since).as_micros() as u64;
            self.counters.wait_micros.fetch_add(waited * held.transactions, Ordering::Relaxed);
            (held.publish)(Ok(()));
        }
        self.concerns_commits.store(state.settings.enabled || !state.held.is_empty(), Ordering::Release);
    }

    /// Until nothing is held: looks whether that takes too long.
    async fn watch(self: Arc<Self>) {
        let mut warned_of = None;
        loop {
            let changed = self.changed.listen();
            let now = self.env.clock.monotonic();
            let wait = {
                let mut state = self.state.lock();
                let Some(first) = state.held.front() else {
                    state.is_watched = false;
                    return;
                };
                let (since, end) = (first.since, first.end);
                let rest = (since + state.settings.timeout).saturating_sub(now);
                if rest == Duration::ZERO {
                    self.timeout(&mut state, end, &mut warned_of);
                }
                if state.held.is_empty() {
                    continue;
                }
                if rest == Duration::ZERO { state.settings.timeout.max(Duration::from_secs(1)) } else { rest }
            };
            future::or(self.env.clock.sleep(wait), changed).await;
        }
    }

    fn timeout(&self, state: &mut State, end: LogPosition, warned_of: &mut Option<LogPosition>) {
        let (reached, seconds) = (state.reached, state.settings.timeout.as_secs_f64());
        match state.settings.on_timeout {
            OnTimeout::GoOn => {
                state.timed_out = true;
                self.counters.timeouts.fetch_add(1, Ordering::Relaxed);
                tracing::warn!(
                    "nobody has acknowledged {end} for {seconds} seconds (acknowledged: {reached}): semi-synchronous replication is off \
                     until replicas have caught up"
                );
                self.release(state);
            }
            OnTimeout::Wait if *warned_of != Some(end) => {
                *warned_of = Some(end);
                self.counters.timeouts.fetch_add(1, Ordering::Relaxed);
                tracing::warn!(
                    "nobody has acknowledged {end} for {seconds} seconds (acknowledged: {reached}): commits wait, as \
                     rpl_semi_sync_source_timeout_action = WAIT says"
                );
            }
            OnTimeout::Wait => {}
        }
    }

    /// The log takes commits again.
    pub(super) fn open(&self) {
        self.state.lock().is_closed = false;
    }

    /// The log begins anew: no position that was acknowledged means anything. Streams of the old one have ended, or will.
    pub(crate) fn forget_positions(&self) {
        let mut state = self.state.lock();
        state.replicas.clear();
        (state.reached, state.last_end) = Default::default();
    }

    /// The log takes no more commits, and what is held will not be published here.
    pub(super) fn close(&self) {
        let mut state = self.state.lock();
        state.is_closed = true;
        self.refuse_held(&mut state, &CommitError::Unacknowledged);
    }

    /// The log has failed.
    pub(super) fn refuse(&self, error: &CommitError) {
        self.refuse_held(&mut self.state.lock(), error);
    }

    fn refuse_held(&self, state: &mut State, error: &CommitError) {
        state.held.drain(..).for_each(|held| (held.publish)(Err(error.clone())));
        self.concerns_commits.store(state.settings.enabled, Ordering::Release);
    }

    /// Where it stands.
    pub fn status(&self) -> SemiSyncStatus {
        let state = self.state.lock();
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        SemiSyncStatus {
            enabled: state.settings.enabled,
            in_force: state.is_in_force(),
            clients: state.replicas.len() as u64,
            acknowledged: read(&self.counters.acknowledged),
            unacknowledged: read(&self.counters.unacknowledged),
            timeouts: read(&self.counters.timeouts),
            waits: read(&self.counters.waits),
            wait_time: Duration::from_micros(read(&self.counters.wait_micros)),
            waiting: state.held.iter().map(|held| held.transactions).sum(),
            reached: state.reached,
        }
    }
}
