//! Commits under way: the executor goes on with the next transaction while the log syncs those before it, many at once.

use std::collections::VecDeque;
use std::sync::Arc;

use base::{SqlError, UnixMicros};
use event_listener::Event;
use parking_lot::Mutex;
use sql::session::PendingCommit;

/// What is under way at most; the executor waits then.
const COMMITS_MAX: usize = 1024;

/// A transaction that has its place in our log.
pub(super) struct Executed {
    /// `None` if nothing is to be waited for.
    pub(super) pending: Option<PendingCommit>,
    /// Where it ended in the source's log.
    pub(super) file: Arc<str>,
    /// Behind its last event.
    pub(super) offset: u64,
    /// When it was committed at its source; 0 if nobody knows.
    pub(super) commit_time: UnixMicros,
}

#[derive(Default)]
struct State {
    queued: VecDeque<Executed>,
    is_busy: bool,
    is_closed: bool,
    failure: Option<SqlError>,
}

/// See the module.
#[derive(Default)]
pub(super) struct Commits {
    state: Mutex<State>,
    changed: Event,
}

impl Commits {
    /// Puts one behind the others; waits if there are too many. An error if one before it has failed.
    pub(super) async fn push(&self, executed: Executed) -> Result<(), SqlError> {
        loop {
            let changed = self.changed.listen();
            {
                let mut state = self.state.lock();
                if let Some(failure) = &state.failure {
                    return Err(failure.clone());
                }
                if state.queued.len() < COMMITS_MAX {
                    state.queued.push_back(executed);
                    drop(state);
                    self.changed.notify(usize::MAX);
                    return Ok(());
                }
            }
            changed.await;
        }
    }

    /// Waits for each of them, in order, and tells of it, until it is closed.
    pub(super) async fn run(&self, tell: impl Fn(&Executed)) {
        while let Some(mut executed) = self.next().await {
            let result = match executed.pending.take() {
                Some(pending) => pending.ended().await,
                None => Ok(()),
            };
            let mut state = self.state.lock();
            state.is_busy = false;
            match result {
                Ok(()) => tell(&executed),
                Err(error) => {
                    state.failure.get_or_insert(error);
                }
            }
            drop(state);
            self.changed.notify(usize::MAX);
        }
        self.changed.notify(usize::MAX);
    }

    async fn next(&self) -> Option<Executed> {
        loop {
            let changed = self.changed.listen();
            {
                let mut state = self.state.lock();
                if let Some(executed) = state.queued.pop_front() {
                    state.is_busy = true;
                    return Some(executed);
                }
                if state.is_closed {
                    return None;
                }
            }
            changed.await;
        }
    }

    /// Waits until all of them are durable.
    pub(super) async fn idle(&self) -> Result<(), SqlError> {
        loop {
            let changed = self.changed.listen();
            {
                let state = self.state.lock();
                if let Some(failure) = &state.failure {
                    return Err(failure.clone());
                }
                if state.queued.is_empty() && !state.is_busy {
                    return Ok(());
                }
            }
            changed.await;
        }
    }

    /// Whether none is under way.
    pub(super) fn is_idle(&self) -> bool {
        let state = self.state.lock();
        state.queued.is_empty() && !state.is_busy
    }

    /// [`Commits::run`] ends when what is under way has ended.
    pub(super) fn close(&self) {
        self.state.lock().is_closed = true;
        self.changed.notify(usize::MAX);
    }
}
