//! Every connection of the server: who it is, what it does, how to end it.
//!
//! A connection is here from its first byte to its end. It writes its own entry twice per statement, under that
//! entry's own lock; SHOW PROCESSLIST, KILL and the timeouts read from outside.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use base::{Cancel, Cancelled, ConnectionId, SqlError, codes};
use engine::SessionHandle;
use io::Clock;
use parking_lot::{Mutex, RwLock};

/// The most bytes of a statement that are kept for SHOW FULL PROCESSLIST.
const INFO_BYTES_MAX: usize = 16 << 10;
/// An idle connection keeps no larger buffer for its next statement's text than this.
const INFO_BYTES_KEPT: usize = 256;

/// All connections.
pub struct Registry {
    clock: Arc<dyn Clock>,
    entries: RwLock<BTreeMap<u32, Arc<Entry>>>,
    last_id: AtomicU32,
    /// Connections that count against `max_connections`.
    clients: AtomicU32,
    clients_max_seen: AtomicU32,
    opened: AtomicU64,
    running: AtomicU32,
    questions: AtomicU64,
}

/// One connection.
pub struct Entry {
    /// `CONNECTION_ID()`.
    pub id: ConnectionId,
    /// What its transactions know of it, and how to end it.
    pub handle: Arc<SessionHandle>,
    /// Seconds that it may be idle; 0 for ever.
    idle_seconds_max: AtomicU64,
    /// It was ended because it was idle for too long.
    timed_out: AtomicBool,
    state: Mutex<EntryState>,
}

#[derive(Debug, Default)]
struct EntryState {
    user: String,
    host: String,
    database: Option<String>,
    command: &'static str,
    state: String,
    info: String,
    idle: bool,
    /// Counted in `running`.
    running: bool,
    since: Duration,
}

/// What SHOW PROCESSLIST shows of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// `CONNECTION_ID()`.
    pub id: ConnectionId,
    /// Account name.
    pub user: String,
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
}

impl Registry {
    /// No connections.
    pub fn new(clock: Arc<dyn Clock>) -> Arc<Self> {
        Arc::new(Registry {
            clock,
            entries: RwLock::default(),
            last_id: AtomicU32::new(0),
            clients: AtomicU32::new(0),
            clients_max_seen: AtomicU32::new(0),
            opened: AtomicU64::new(0),
            running: AtomicU32::new(0),
            questions: AtomicU64::new(0),
        })
    }

    /// A new connection, unless there are `max` already (1040).
    pub fn connect(self: &Arc<Self>, host: String, max: u32) -> Result<Registered, SqlError> {
        let count = self.clients.fetch_add(1, Ordering::Relaxed) + 1;
        if count > max {
            self.clients.fetch_sub(1, Ordering::Relaxed);
            return Err(SqlError::new(codes::CON_COUNT_ERROR, "Too many connections"));
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
            handle: Arc::new(SessionHandle { connection_id: id, cancel: Cancel::new() }),
            idle_seconds_max: AtomicU64::new(0),
            timed_out: AtomicBool::new(false),
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

    /// For SHOW PROCESSLIST, by id.
    pub fn show(&self) -> Vec<Shown> {
        let now = self.clock.monotonic();
        self.entries.read().values().map(|entry| entry.show(now)).collect()
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
            host: state.host.clone(),
            database: state.database.clone(),
            command: state.command,
            time: now.saturating_sub(state.since),
            state: state.state.clone(),
            info: (!state.idle && !state.info.is_empty()).then(|| state.info.clone()),
        }
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
        self.registry.clients.fetch_sub(1, Ordering::Relaxed);
        if self.entry.state.lock().running {
            self.registry.running.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Registered {
    /// The login succeeded.
    pub fn logged_in(&self, user: &str) {
        self.entry.state.lock().user = user.to_owned();
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
        assert_eq!(registry.connect("h".into(), 1).err().map(|e| e.code), Some(1040));
        drop(first);
        assert_eq!(registry.connect("h".into(), 1).unwrap().id, ConnectionId(2));
        assert_eq!((registry.connected(), registry.connected_max_seen(), registry.opened()), (0, 1, 2));
    }

    #[test]
    fn statements_are_shown_while_they_run() {
        let registry = Registry::new(Arc::new(TestClock::default()));
        let connection = registry.connect("h:1".into(), 9).unwrap();
        connection.logged_in("root");
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
