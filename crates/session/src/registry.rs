//! Every connection of the server: who it is, what it does, how to end it.
//!
//! A connection is here from its first byte to its end. It writes its own entry twice per statement, under that
//! entry's own lock; SHOW PROCESSLIST, KILL and the timeouts read from outside.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use base::memory::{Total, Usage};
use base::{Cancel, Cancelled, ConnectionId, SqlError, WaitsFor, codes};
use engine::{SessionHandle, TransactionFigures};
use io::Clock;
use parking_lot::{Mutex, RwLock};

use crate::transport::Presence;

/// The most bytes of a client's attributes that are kept, MySQL's default for `performance_schema_session_connect_attrs_size`.
const ATTRIBUTE_BYTES_MAX: usize = 512;
/// The most bytes of a statement that are kept for SHOW FULL PROCESSLIST.
const INFO_BYTES_MAX: usize = 16 << 10;
/// An idle connection keeps no larger buffer for its next statement's text than this.
const INFO_BYTES_KEPT: usize = 256;

/// A statement runs for so long before anybody looks whether its client is still there.
const LOOK_AFTER: Duration = Duration::from_secs(1);

/// All connections.
pub struct Registry {
    clock: Arc<dyn Clock>,
    entries: RwLock<BTreeMap<u32, Arc<Entry>>>,
    /// Connections of each account.
    accounts: Mutex<HashMap<String, u32>>,
    last_id: AtomicU32,
    /// What all of them take.
    memory: Arc<Total>,
    /// Connections that count against `max_connections`.
    clients: AtomicU32,
    clients_max_seen: AtomicU32,
    opened: AtomicU64,
    running: AtomicU32,
    questions: AtomicU64,
    aborted_connects: AtomicU64,
    aborted_clients: AtomicU64,
}

/// One connection.
pub struct Entry {
    /// `CONNECTION_ID()`.
    pub id: ConnectionId,
    /// What its transactions know of it, and how to end it.
    pub handle: Arc<SessionHandle>,
    /// What it takes.
    pub(crate) memory: Arc<Usage>,
    /// Seconds that it may be idle; 0 for ever.
    idle_seconds_max: AtomicU64,
    /// It was ended because it was idle for too long.
    timed_out: AtomicBool,
    /// There were as many as `max_connections` before it.
    is_extra: bool,
    /// It streams the log to a replica.
    is_stream: AtomicBool,
    presence: OnceLock<Arc<dyn Presence>>,
    attributes: Mutex<Attributes>,
    state: Mutex<EntryState>,
}

#[derive(Debug, Default)]
struct EntryState {
    user: String,
    host: String,
    database: Option<String>,
    /// The account that it is counted for in `accounts`.
    account: Option<String>,
    command: &'static str,
    state: String,
    info: String,
    idle: bool,
    /// Counted in `running`.
    running: bool,
    since: Duration,
}

/// Names and values, in the client's order.
pub type Attributes = Vec<(String, String)>;

/// What SHOW PROCESSLIST shows of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// `CONNECTION_ID()`.
    pub id: ConnectionId,
    /// Account name.
    pub user: String,
    /// The account that it logged in to, as `'user'@'host'`.
    pub account: Option<String>,
    /// Address.
    pub host: String,
    /// Default database.
    pub database: Option<String>,
    /// `Query`, `Sleep`, …
    pub command: &'static str,
    /// For so long.
    pub time: Duration,
    /// What it is doing.
    pub state: String,
    /// The statement; `None` when idle.
    pub info: Option<String>,
    /// Its open transaction.
    pub transaction: Option<TransactionFigures>,
    /// It has been waiting for a row for so long.
    pub row_wait: Option<Duration>,
}

impl Registry {
    /// No connections.
    pub fn new(clock: Arc<dyn Clock>) -> Arc<Self> {
        Arc::new(Registry {
            clock,
            entries: RwLock::default(),
            accounts: Mutex::default(),
            last_id: AtomicU32::new(0),
            memory: Arc::default(),
            clients: AtomicU32::new(0),
            clients_max_seen: AtomicU32::new(0),
            opened: AtomicU64::new(0),
            running: AtomicU32::new(0),
            questions: AtomicU64::new(0),
            aborted_connects: AtomicU64::new(0),
            aborted_clients: AtomicU64::new(0),
        })
    }

    /// A new connection, unless there are `max` already (1040). As in MySQL there is room for one more, who has to be an
    /// administrator ([`Entry::is_extra`]).
    pub fn connect(self: &Arc<Self>, host: String, max: u32) -> Result<Registered, SqlError> {
        let count = self.clients.fetch_add(1, Ordering::Relaxed) + 1;
        if count > max.saturating_add(1) {
            self.clients.fetch_sub(1, Ordering::Relaxed);
            self.aborted_connects.fetch_add(1, Ordering::Relaxed);
            return Err(too_many_connections());
        }
        self.clients_max_seen.fetch_max(count, Ordering::Relaxed);
        self.opened.fetch_add(1, Ordering::Relaxed);
        let id = ConnectionId(self.last_id.fetch_add(1, Ordering::Relaxed).wrapping_add(1));
        let state = EntryState {
            user: "unauthenticated user".into(),
            host,
            command: "Connect",
            since: self.clock.monotonic(),
            ..EntryState::default()
        };
        let entry = Arc::new(Entry {
            id,
            handle: Arc::new(SessionHandle { connection_id: id, cancel: Cancel::new(), ..SessionHandle::default() }),
            memory: Usage::new(self.memory.clone()),
            idle_seconds_max: AtomicU64::new(0),
            timed_out: AtomicBool::new(false),
            is_extra: count > max,
            is_stream: AtomicBool::new(false),
            presence: OnceLock::new(),
            attributes: Mutex::default(),
            state: Mutex::new(state),
        });
        self.entries.write().insert(id.0, entry.clone());
        Ok(Registered { registry: self.clone(), entry })
    }

    /// KILL; 1094 if there is no such connection.
    pub fn kill(&self, id: ConnectionId, what: Cancelled) -> Result<(), SqlError> {
        match self.entries.read().get(&id.0) {
            Some(entry) => {
                entry.handle.cancel.cancel(what);
                Ok(())
            }
            None => Err(SqlError::new(codes::NO_SUCH_THREAD, format!("Unknown thread id: {id}"))),
        }
    }

    /// Ends all of them (shutdown).
    pub fn kill_all(&self) {
        self.entries.read().values().for_each(|entry| entry.handle.cancel.cancel(Cancelled::Connection));
    }

    /// Ends all but those that stream the log to replicas.
    pub fn kill_clients(&self) {
        let entries = self.entries.read();
        let clients = entries.values().filter(|entry| !entry.is_stream());
        clients.for_each(|entry| entry.handle.cancel.cancel(Cancelled::Connection));
    }

    /// Number of connections that do not stream the log.
    pub fn clients(&self) -> usize {
        self.entries.read().values().filter(|entry| !entry.is_stream()).count()
    }

    /// Ends those whose client has gone while a statement of theirs runs or waits. To be called every second or so.
    pub fn end_abandoned(&self) {
        let now = self.clock.monotonic();
        for entry in self.entries.read().values() {
            let Some(presence) = entry.presence.get() else { continue };
            let is_long = {
                let state = entry.state.lock();
                state.running && now.saturating_sub(state.since) >= LOOK_AFTER
            };
            if is_long && presence.is_gone() {
                entry.handle.cancel.cancel(Cancelled::Connection);
            }
        }
    }

    /// Ends those that have been idle for longer than they may. To be called every second or so.
    pub fn end_idle(&self) {
        let now = self.clock.monotonic();
        for entry in self.entries.read().values() {
            let limit = entry.idle_seconds_max.load(Ordering::Relaxed);
            if limit == 0 {
                continue;
            }
            let state = entry.state.lock();
            if state.idle && now.saturating_sub(state.since) >= Duration::from_secs(limit) {
                entry.timed_out.store(true, Ordering::Relaxed);
                entry.handle.cancel.cancel(Cancelled::Connection);
            }
        }
    }

    /// What clients say of themselves, by id.
    pub fn attributes(&self) -> Vec<(ConnectionId, Attributes)> {
        let entries = self.entries.read();
        entries.values().map(|entry| (entry.id, entry.attributes.lock().clone())).collect()
    }

    /// For SHOW PROCESSLIST, by id.
    pub fn show(&self) -> Vec<Shown> {
        let now = self.clock.monotonic();
        self.entries.read().values().map(|entry| entry.show(now)).collect()
    }

    /// What all connections take, as far as the program's allocator counts it.
    pub fn memory(&self) -> &Arc<Total> {
        &self.memory
    }

    /// `Threads_connected`.
    pub fn connected(&self) -> u32 {
        self.clients.load(Ordering::Relaxed)
    }

    /// `Max_used_connections`.
    pub fn connected_max_seen(&self) -> u32 {
        self.clients_max_seen.load(Ordering::Relaxed)
    }

    /// `Connections`.
    pub fn opened(&self) -> u64 {
        self.opened.load(Ordering::Relaxed)
    }

    /// `Questions`.
    pub fn questions(&self) -> u64 {
        self.questions.load(Ordering::Relaxed)
    }

    /// `Aborted_connects`.
    pub fn aborted_connects(&self) -> u64 {
        self.aborted_connects.load(Ordering::Relaxed)
    }

    /// `Aborted_clients`.
    pub fn aborted_clients(&self) -> u64 {
        self.aborted_clients.load(Ordering::Relaxed)
    }

    /// `Threads_running`.
    pub fn running(&self) -> u32 {
        self.running.load(Ordering::Relaxed)
    }
}

impl Entry {
    fn show(&self, now: Duration) -> Shown {
        let state = self.state.lock();
        Shown {
            id: self.id,
            user: state.user.clone(),
            account: state.account.clone(),
            host: state.host.clone(),
            database: state.database.clone(),
            command: state.command,
            time: now.saturating_sub(state.since),
            state: match self.handle.cancel.waits_for() {
                WaitsFor::Nothing | WaitsFor::Row => state.state.clone(),
                waits_for => waits_for.state().to_owned(),
            },
            info: (!state.idle && !state.info.is_empty()).then(|| state.info.clone()),
            transaction: self.handle.transaction.figures(),
            row_wait: self.handle.cancel.row_wait().map(|since| now.saturating_sub(since)),
        }
    }

    fn is_stream(&self) -> bool {
        self.is_stream.load(Ordering::Relaxed)
    }

    /// It streams the log from here on.
    pub(crate) fn becomes_stream(&self) {
        self.is_stream.store(true, Ordering::Relaxed);
    }

    /// Whether there were as many as `max_connections` before it, so that only an administrator may stay.
    pub fn is_extra(&self) -> bool {
        self.is_extra
    }

    /// Whether it was ended because it was idle for too long.
    pub fn timed_out(&self) -> bool {
        self.timed_out.load(Ordering::Relaxed)
    }
}

/// A connection's own hold of its entry; dropping it takes the connection out.
pub struct Registered {
    registry: Arc<Registry>,
    entry: Arc<Entry>,
}

impl std::ops::Deref for Registered {
    type Target = Entry;

    fn deref(&self) -> &Entry {
        &self.entry
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        self.registry.entries.write().remove(&self.entry.id.0);
        let mut state = self.entry.state.lock();
        if let Some(account) = state.account.take() {
            self.registry.leave(&account);
        }
        self.registry.clients.fetch_sub(1, Ordering::Relaxed);
        if state.running {
            self.registry.running.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Registry {
    fn leave(&self, account: &str) {
        let mut accounts = self.accounts.lock();
        if let Some(count) = accounts.get_mut(account) {
            *count -= 1;
            if *count == 0 {
                accounts.remove(account);
            }
        }
    }
}

/// 1040
pub(crate) fn too_many_connections() -> SqlError {
    SqlError::new(codes::CON_COUNT_ERROR, "Too many connections")
}

impl Registered {
    /// How to tell whether the client is still there.
    pub(crate) fn watch(&self, presence: Arc<dyn Presence>) {
        let _ = self.entry.presence.set(presence);
    }

    /// The login succeeded: it is counted for the account, of which there may be `max` (0: as many as want; 1203).
    pub fn logged_in(&self, user: &str, account: String, max: u32) -> Result<(), SqlError> {
        let mut state = self.entry.state.lock();
        state.user = user.to_owned();
        if let Some(before) = state.account.take() {
            self.registry.leave(&before);
        }
        let mut accounts = self.registry.accounts.lock();
        let count = accounts.entry(account.clone()).or_default();
        if max > 0 && *count >= max {
            let text = format!("User {user} already has more than 'max_user_connections' active connections");
            return Err(SqlError::new(codes::TOO_MANY_USER_CONNECTIONS, text));
        }
        *count += 1;
        state.account = Some(account);
        Ok(())
    }

    /// What the client says of itself: as much of it as is kept.
    pub(crate) fn set_attributes(&self, mut attributes: Attributes) {
        let mut room = ATTRIBUTE_BYTES_MAX;
        let kept = attributes.iter().take_while(|(name, value)| {
            let left = room.checked_sub(name.len() + value.len());
            room = left.unwrap_or(0);
            left.is_some()
        });
        let kept = kept.count();
        attributes.truncate(kept);
        attributes.shrink_to_fit();
        *self.entry.attributes.lock() = attributes;
    }

    /// The login failed, or did not come.
    pub(crate) fn login_failed(&self) {
        self.registry.aborted_connects.fetch_add(1, Ordering::Relaxed);
    }

    /// The client has gone without a good bye, or had to.
    pub(crate) fn aborted(&self) {
        self.registry.aborted_clients.fetch_add(1, Ordering::Relaxed);
    }

    /// The default database is another one.
    pub fn set_database(&self, database: Option<&str>) {
        let mut state = self.entry.state.lock();
        if state.database.as_deref() != database {
            state.database = database.map(str::to_owned);
        }
    }

    /// How long it may be idle; zero for ever.
    pub fn set_idle_limit(&self, limit: Duration) {
        self.entry.idle_seconds_max.store(limit.as_secs(), Ordering::Relaxed);
    }

    /// A command begins.
    pub fn busy(&self, command: &'static str, info: &str) {
        self.registry.questions.fetch_add(1, Ordering::Relaxed);
        let mut state = self.entry.state.lock();
        if !std::mem::replace(&mut state.running, true) {
            self.registry.running.fetch_add(1, Ordering::Relaxed);
        }
        state.idle = false;
        state.command = command;
        state.info.clear();
        state.info.push_str(&info[..info.floor_char_boundary(INFO_BYTES_MAX)]);
        state.since = self.registry.clock.monotonic();
    }

    /// What the command is doing, for commands that last.
    pub fn set_state(&self, text: &str) {
        let mut state = self.entry.state.lock();
        state.state.clear();
        state.state.push_str(text);
    }

    /// The command has ended.
    pub fn idle(&self) {
        let mut state = self.entry.state.lock();
        if std::mem::take(&mut state.running) {
            self.registry.running.fetch_sub(1, Ordering::Relaxed);
        }
        state.idle = true;
        state.command = "Sleep";
        state.info.clear();
        state.info.shrink_to(INFO_BYTES_KEPT);
        state.state.clear();
        state.since = self.registry.clock.monotonic();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::UnixMicros;
    use io::BoxFuture;

    #[derive(Default)]
    struct TestClock(AtomicU64);

    impl Clock for TestClock {
        fn now(&self) -> UnixMicros {
            UnixMicros(0)
        }

        fn monotonic(&self) -> Duration {
            Duration::from_secs(self.0.load(Ordering::Relaxed))
        }

        fn sleep(&self, _: Duration) -> BoxFuture<'static, ()> {
            Box::pin(std::future::pending())
        }
    }

    #[test]
    fn the_bound_on_connections() {
        let registry = Registry::new(Arc::new(TestClock::default()));
        let first = registry.connect("h".into(), 1).unwrap();
        let second = registry.connect("h".into(), 1).unwrap();
        assert_eq!((first.is_extra(), second.is_extra()), (false, true));
        assert_eq!(registry.connect("h".into(), 1).err().map(|e| e.code), Some(1040));
        drop(first);
        assert_eq!(registry.connect("h".into(), 1).unwrap().id, ConnectionId(3));
        drop(second);
        assert_eq!((registry.connected(), registry.connected_max_seen(), registry.opened()), (0, 2, 3));
        assert_eq!(registry.aborted_connects(), 1);
    }

    #[test]
    fn the_bound_on_an_accounts_connections() {
        let registry = Registry::new(Arc::new(TestClock::default()));
        let [first, second] = [1, 2].map(|_| registry.connect("h".into(), 9).unwrap());
        first.logged_in("a", "a@%".into(), 1).unwrap();
        assert_eq!(second.logged_in("a", "a@%".into(), 1).map_err(|e| e.code), Err(1203));
        second.logged_in("b", "b@%".into(), 1).unwrap();
        // Another user on the same connection (COM_CHANGE_USER) makes room.
        first.logged_in("c", "c@%".into(), 1).unwrap();
        second.logged_in("a", "a@%".into(), 1).unwrap();
        drop((first, second));
        assert!(registry.accounts.lock().is_empty());
    }

    struct Gone(AtomicBool);

    impl Presence for Gone {
        fn is_gone(&self) -> bool {
            self.0.load(Ordering::Relaxed)
        }
    }

    #[test]
    fn a_statement_whose_client_has_gone_is_ended() {
        let (clock, gone) = (Arc::new(TestClock::default()), Arc::new(Gone(AtomicBool::new(false))));
        let registry = Registry::new(clock.clone());
        let connection = registry.connect("h".into(), 9).unwrap();
        connection.watch(gone.clone());
        connection.busy("Query", "SELECT 1");
        clock.0.store(5, Ordering::Relaxed);
        registry.end_abandoned();
        assert_eq!(connection.handle.cancel.check(), Ok(()));
        gone.0.store(true, Ordering::Relaxed);
        registry.end_abandoned();
        assert_eq!(connection.handle.cancel.check(), Err(Cancelled::Connection));
    }

    #[test]
    fn statements_are_shown_while_they_run() {
        let registry = Registry::new(Arc::new(TestClock::default()));
        let connection = registry.connect("h:1".into(), 9).unwrap();
        connection.logged_in("root", "root@%".into(), 0).unwrap();
        connection.busy("Query", "SELECT 1");
        let shown = registry.show();
        assert_eq!((shown[0].command, shown[0].info.as_deref()), ("Query", Some("SELECT 1")));
        connection.idle();
        let shown = registry.show();
        assert_eq!((shown[0].command, shown[0].info.as_deref()), ("Sleep", None));
    }

    #[test]
    fn kill_finds_its_connection() {
        let registry = Registry::new(Arc::new(TestClock::default()));
        let connection = registry.connect("h".into(), 9).unwrap();
        registry.kill(connection.id, Cancelled::Statement).unwrap();
        assert_eq!(connection.handle.cancel.check(), Err(Cancelled::Statement));
        assert_eq!(registry.kill(ConnectionId(99), Cancelled::Statement).map_err(|e| e.code), Err(1094));
    }

    #[test]
    fn idle_connections_end_after_their_time() {
        let clock = Arc::new(TestClock::default());
        let registry = Registry::new(clock.clone());
        let connection = registry.connect("h".into(), 9).unwrap();
        connection.set_idle_limit(Duration::from_secs(10));
        clock.0.store(50, Ordering::Relaxed);
        registry.end_idle();
        assert!(!connection.timed_out(), "not idle yet");
        connection.busy("Query", "");
        connection.idle();
        clock.0.store(59, Ordering::Relaxed);
        registry.end_idle();
        assert!(!connection.timed_out());
        clock.0.store(60, Ordering::Relaxed);
        registry.end_idle();
        assert!(connection.timed_out());
        assert_eq!(connection.handle.cancel.check(), Err(Cancelled::Connection));
    }
}
