//! One session's wish to stop: KILL, shutdown, the client gone. Every wait takes it.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::Duration;

use event_listener::Event;

/// What a wait or a loop was told to give up for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cancelled {
    /// `KILL QUERY` or a statement timeout: the statement ends (1317), the connection stays.
    Statement,
    /// `KILL`, shutdown, or the client is gone: the connection ends.
    Connection,
}

/// What a session waits for, as lists of sessions show it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum WaitsFor {
    /// Nothing that is shown.
    #[default]
    Nothing,
    /// The lock of a table, which a definition or LOCK TABLES has, or wants before it.
    Table,
    /// The lock of everything.
    Global,
    /// GET_LOCK.
    User,
    /// The lock of a row or a gap.
    Row,
}

impl WaitsFor {
    /// The State of SHOW PROCESSLIST; empty where it is that of the statement's work.
    pub fn state(self) -> &'static str {
        match self {
            WaitsFor::Nothing | WaitsFor::Row => "",
            WaitsFor::Table => "Waiting for table metadata lock",
            WaitsFor::Global => "Waiting for global read lock",
            WaitsFor::User => "User lock",
        }
    }
}

/// As long as it lives, its session is shown to wait.
pub struct ShownWait<'a>(&'a Cancel);

impl Drop for ShownWait<'_> {
    fn drop(&mut self) {
        self.0.waits_for.store(WaitsFor::Nothing as u8, Ordering::Relaxed);
    }
}

/// Shared between a session and those who may cancel it.
#[derive(Debug, Default)]
pub struct Cancel {
    state: AtomicU8,
    /// See [`WaitsFor`].
    waits_for: AtomicU8,
    /// Since when, for rows, in microseconds of the monotonic clock.
    waits_since: AtomicU64,
    event: Event,
}

impl Cancel {
    /// Nothing cancelled.
    pub fn new() -> Self {
        Cancel::default()
    }

    /// Asks for an end. A cancelled connection stays cancelled.
    pub fn cancel(&self, what: Cancelled) {
        let level = match what {
            Cancelled::Statement => 1,
            Cancelled::Connection => 2,
        };
        self.state.fetch_max(level, Ordering::SeqCst);
        self.event.notify(usize::MAX);
    }

    /// The session waits, until the guard is dropped.
    pub fn show_wait(&self, waits_for: WaitsFor) -> ShownWait<'_> {
        self.waits_for.store(waits_for as u8, Ordering::Relaxed);
        ShownWait(self)
    }

    /// The session waits for a row since then, by the monotonic clock, until the guard is dropped.
    pub fn show_row_wait(&self, since: Duration) -> ShownWait<'_> {
        self.waits_since.store(since.as_micros() as u64, Ordering::Relaxed);
        self.show_wait(WaitsFor::Row)
    }

    /// Since when it waits for a row, by the monotonic clock.
    pub fn row_wait(&self) -> Option<Duration> {
        let since = Duration::from_micros(self.waits_since.load(Ordering::Relaxed));
        (self.waits_for() == WaitsFor::Row).then_some(since)
    }

    /// What the session waits for.
    pub fn waits_for(&self) -> WaitsFor {
        let number = self.waits_for.load(Ordering::Relaxed);
        let all = [WaitsFor::Table, WaitsFor::Global, WaitsFor::User, WaitsFor::Row];
        all.into_iter().find(|what| *what as u8 == number).unwrap_or_default()
    }

    /// Forgets a cancelled statement; called when the next one begins.
    pub fn next_statement(&self) {
        let _ = self.state.compare_exchange(1, 0, Ordering::SeqCst, Ordering::SeqCst);
    }

    /// What was asked for, if anything.
    pub fn check(&self) -> Result<(), Cancelled> {
        match self.state.load(Ordering::SeqCst) {
            0 => Ok(()),
            1 => Err(Cancelled::Statement),
            _ => Err(Cancelled::Connection),
        }
    }

    /// Ready when an end is asked for.
    pub async fn cancelled(&self) -> Cancelled {
        loop {
            let listener = self.event.listen();
            if let Err(cancelled) = self.check() {
                return cancelled;
            }
            listener.await;
        }
    }
}
