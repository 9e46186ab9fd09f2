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
        let mut executed = Some(executed);
        let mut push = |state: &mut State| {
            if let Some(failure) = &state.failure {
                return Some(Err(failure.clone()));
            }
            (state.queued.len() < COMMITS_MAX).then(|| {
                state.queued.extend(executed.take());
                Ok(())
            })
        };
        self.until(&mut push).await?;
        self.changed.notify(usize::MAX);
        Ok(())
    }

    /// Tries again whenever something has changed.
    async fn until<T>(&self, attempt: &mut impl FnMut(&mut State) -> Option<T>) -> T {
        loop {
            if let Some(found) = attempt(&mut self.state.lock()) {
                return found;
            }
            let changed = self.changed.listen();
            if let Some(found) = attempt(&mut self.state.lock()) {
                return found;
            }
            changed.await;
        }
    }

    /// Waits for each of them, in order, and tells of it, until it is closed.
    pub(super) async fn run(&self, tell: impl Fn(&Executed)) {
        while let Some(mut executed) = self.next().await {
            let result = match executed.pending.take() {
                Some(pending) => pending.ended().await.map(drop),
                None => Ok(()),
            };
            // Without the lock: whoever is told has locks of its own, under which it asks whether anything is under way.
            if result.is_ok() {
                tell(&executed);
            }
            {
                let mut state = self.state.lock();
                state.is_busy = false;
                if let Err(error) = result {
                    state.failure.get_or_insert(error);
                }
            }
            self.changed.notify(usize::MAX);
        }
        self.changed.notify(usize::MAX);
    }

    async fn next(&self) -> Option<Executed> {
        let mut next = |state: &mut State| {
            let executed = state.queued.pop_front();
            state.is_busy |= executed.is_some();
            (executed.is_some() || state.is_closed).then_some(executed)
        };
        self.until(&mut next).await
    }

    /// Waits until all of them are durable.
    pub(super) async fn idle(&self) -> Result<(), SqlError> {
        let mut is_idle = |state: &mut State| match &state.failure {
            Some(failure) => Some(Err(failure.clone())),
            None => (state.queued.is_empty() && !state.is_busy).then_some(Ok(())),
        };
        self.until(&mut is_idle).await
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

#[cfg(test)]
mod tests {
    use futures_lite::future;

    use super::*;

    /// SHOW REPLICA STATUS asks under a lock that whoever is told takes.
    #[test]
    fn whoever_is_told_may_ask_what_is_under_way() {
        let commits = Commits::default();
        let executed = Executed { pending: None, file: "f".into(), offset: 4, commit_time: UnixMicros(0) };
        future::block_on(commits.push(executed)).unwrap();
        commits.close();
        let told = Mutex::new(Vec::new());
        let tell = |executed: &Executed| {
            assert!(commits.state.try_lock().is_some_and(|state| state.is_busy));
            told.lock().push(executed.offset);
        };
        future::block_on(commits.run(tell));
        assert_eq!(*told.lock(), [4]);
        assert!(commits.is_idle());
    }
}
