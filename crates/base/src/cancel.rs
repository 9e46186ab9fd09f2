//! One session's wish to stop: KILL, shutdown, the client gone. Every wait takes it.

use std::sync::atomic::{AtomicU8, Ordering};

use event_listener::Event;

/// What a wait or a loop was told to give up for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cancelled {
    /// `KILL QUERY` or a statement timeout: the statement ends (1317), the connection stays.
    Statement,
    /// `KILL`, shutdown, or the client is gone: the connection ends.
    Connection,
}

/// Shared between a session and those who may cancel it.
#[derive(Debug, Default)]
pub struct Cancel {
    state: AtomicU8,
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
