//! The commit-order gate: installs come in any order, publications leave in the log's.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use base::CommitNumber;
use engine::gate::Passing;
use engine::{Engine, PublishPoint};
use event_listener::Event;
use parking_lot::Mutex;

use crate::error::{ApplyError, Result};

/// A batch as the gate sees it.
pub(crate) struct Progress {
    /// How many transactions.
    count: usize,
    /// One for each; known before the first is installed.
    points: OnceLock<Vec<PublishPoint>>,
    /// How many of them, from the first, are installed.
    installed: AtomicUsize,
    /// Until it is published, commits cannot be held.
    _passing: Passing,
}

impl Progress {
    pub(crate) fn new(count: usize, passing: Passing) -> Arc<Self> {
        Arc::new(Progress { count, points: OnceLock::new(), installed: AtomicUsize::new(0), _passing: passing })
    }

    /// What is to be published of it. Once.
    pub(crate) fn set_points(&self, points: Vec<PublishPoint>) {
        debug_assert_eq!(points.len(), self.count);
        let is_first = self.points.set(points).is_ok();
        debug_assert!(is_first, "a batch is taken by one worker");
    }

    /// The next transaction of the batch is installed.
    pub(crate) fn installed_one(&self) -> usize {
        self.installed_more(1)
    }

    /// So many more are; how many are now.
    pub(crate) fn installed_more(&self, count: usize) -> usize {
        self.installed.fetch_add(count, Ordering::Release) + count
    }
}

struct State {
    /// Batches that are not published as a whole, in log order.
    open: VecDeque<Arc<Progress>>,
    /// Of the first of them, how many transactions are.
    published: usize,
    last: CommitNumber,
}

/// See the module.
pub(crate) struct Gate {
    engine: Arc<Engine>,
    state: Mutex<State>,
    changed: Event,
    /// What could not be applied, and the number from which on nothing is; the first in the log's order.
    failure: Mutex<Option<(CommitNumber, ApplyError)>>,
    /// Parts of what was installed in bulk that are not readable yet.
    unsettled: AtomicUsize,
}

impl Gate {
    pub(crate) fn new(engine: Arc<Engine>, last: CommitNumber) -> Self {
        let state = State { open: VecDeque::new(), published: 0, last };
        Gate {
            engine,
            state: Mutex::new(state),
            changed: Event::new(),
            failure: Mutex::new(None),
            unsettled: AtomicUsize::new(0),
        }
    }

    /// Enters the next batch in log order, when fewer than `batches_max` are under way.
    pub(crate) async fn enter(&self, progress: Arc<Progress>, batches_max: usize) -> Result<()> {
        self.wait(ANY, |state| state.open.len() < batches_max).await?;
        self.state.lock().open.push_back(progress);
        Ok(())
    }

    /// Publishes what is installed and has nothing before it that is not.
    pub(crate) fn advance(&self) {
        self.advance_locked(&mut self.state.lock());
    }

    /// The same, unless somebody else is at it.
    pub(crate) fn try_advance(&self) {
        if let Some(mut state) = self.state.try_lock() {
            self.advance_locked(&mut state);
        }
    }

    fn advance_locked(&self, state: &mut State) {
        let mut moved = false;
        while let Some(first) = state.open.front().cloned() {
            let installed = first.installed.load(Ordering::Acquire);
            if installed > state.published
                && let Some(points) = first.points.get()
            {
                let points = &points[state.published..installed];
                self.engine.publish(points);
                state.last = points[points.len() - 1].commit_number;
                state.published = installed;
                moved = true;
            }
            if state.published < first.count {
                break;
            }
            state.open.pop_front();
            state.published = 0;
        }
        if moved {
            self.changed.notify(usize::MAX);
        }
    }

    /// Publishes a transaction that is no batch's: nothing is under way.
    pub(crate) fn publish_alone(&self, point: PublishPoint) {
        let mut state = self.state.lock();
        debug_assert!(state.open.is_empty(), "a barrier has nothing beside it");
        self.engine.publish(&[point]);
        state.last = point.commit_number;
    }

    /// Waits until everything that was entered is published.
    pub(crate) async fn wait_idle(&self) -> Result<()> {
        self.wait(ANY, |state| state.open.is_empty()).await
    }

    /// So many parts are being settled.
    pub(crate) fn settle(&self, parts: usize) {
        self.unsettled.fetch_add(parts, Ordering::AcqRel);
    }

    /// One of them is.
    pub(crate) fn settled_one(&self) {
        self.unsettled.fetch_sub(1, Ordering::AcqRel);
        self.changed.notify(usize::MAX);
    }

    /// Waits until all are.
    pub(crate) async fn wait_settled(&self) -> Result<()> {
        self.wait(ANY, |_| self.unsettled.load(Ordering::Acquire) == 0).await
    }

    /// Waits until a transaction is published; ready with an error when it never will be.
    pub(crate) async fn wait_published(&self, number: CommitNumber) -> Result<()> {
        self.wait(number, |state| state.last >= number).await
    }

    /// Ready with an error when something has failed.
    pub(crate) async fn wait_failure(&self) -> Result<()> {
        self.wait(ANY, |_| false).await
    }

    /// Waits, unless something at or before a number has failed.
    async fn wait(&self, number: CommitNumber, until: impl Fn(&State) -> bool) -> Result<()> {
        loop {
            let listener = self.changed.listen();
            self.check_up_to(number)?;
            if until(&self.state.lock()) {
                return Ok(());
            }
            listener.await;
        }
    }

    /// Nothing from a number on is published any more. What is before it still is, so that the state does not depend on who was faster; and
    /// of several failures the first in the log's order counts, which is the one that an applier meets again.
    pub(crate) fn fail(&self, from: CommitNumber, error: ApplyError) {
        let mut failure = self.failure.lock();
        if failure.as_ref().is_none_or(|(first, _)| from < *first) {
            *failure = Some((from, error.named(self.engine.log())));
        }
        drop(failure);
        self.changed.notify(usize::MAX);
    }

    /// The failure, if there is one.
    pub(crate) fn check(&self) -> Result<()> {
        self.check_up_to(ANY)
    }

    /// The failure, if it is at or before a number.
    pub(crate) fn check_up_to(&self, number: CommitNumber) -> Result<()> {
        let failure = self.failure.lock();
        failure.as_ref().filter(|(from, _)| *from <= number).map_or(Ok(()), |(_, error)| Err(error.clone()))
    }
}

/// Behind all numbers.
const ANY: CommitNumber = CommitNumber(u64::MAX);
