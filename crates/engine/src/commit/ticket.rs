//! What a session holds while its transaction is on its way.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use io::BoxFuture;
use parking_lot::Mutex;

use super::{CommitError, Place};

/// What is told of a commit that nobody finishes.
pub(super) const ABANDONED: &str = "a commit was abandoned in the middle";

enum State {
    Waiting(Option<Waker>),
    Done(Result<Place, CommitError>),
}

/// Where the outcome is put. One waker each: nobody is woken for another's sake.
pub(super) struct Slot(Mutex<State>);

impl Slot {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Slot(Mutex::new(State::Waiting(None))))
    }

    /// Tells the session. The first outcome counts.
    fn complete(&self, outcome: Result<Place, CommitError>) {
        let waker = {
            let mut state = self.0.lock();
            match &mut *state {
                State::Done(_) => return,
                State::Waiting(waker) => {
                    let waker = waker.take();
                    *state = State::Done(outcome);
                    waker
                }
            }
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn poll(&self, context: &Context<'_>) -> Poll<Result<Place, CommitError>> {
        match &mut *self.0.lock() {
            State::Done(outcome) => Poll::Ready(outcome.clone()),
            State::Waiting(Some(waker)) => {
                waker.clone_from(context.waker());
                Poll::Pending
            }
            State::Waiting(none) => {
                *none = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

/// The side that knows the outcome. Whoever drops it without telling (a panic with the pen in hand, a runtime that was
/// torn down) tells that nobody knows: no ticket waits for ever.
pub(super) struct Teller(Option<Arc<Slot>>);

impl Teller {
    pub(super) fn new(slot: &Arc<Slot>) -> Self {
        Teller(Some(slot.clone()))
    }

    pub(super) fn tell(mut self, outcome: Result<Place, CommitError>) {
        if let Some(slot) = self.0.take() {
            slot.complete(outcome);
        }
    }
}

impl Drop for Teller {
    fn drop(&mut self) {
        if let Some(slot) = self.0.take() {
            slot.complete(Err(CommitError::LogFailed(ABANDONED.into())));
        }
    }
}

/// The pipeline as a ticket sees it.
pub(super) trait Driver: Send + Sync {
    /// If nobody else is at it: a future that commits what is queued.
    fn commit_here(self: Arc<Self>) -> Option<BoxFuture<'static, ()>>;
    /// Leaves it to the log thread.
    fn leave_to_log_thread(&self);
    /// Gives the log thread a commit that was begun and not finished.
    fn hand_over(&self, unfinished: BoxFuture<'static, ()>);
}

/// What the session itself does for its commit.
enum Inline {
    No,
    /// It may: it found the queue empty.
    Maybe(Arc<dyn Driver>),
    /// It writes and syncs.
    Running(Arc<dyn Driver>, BoxFuture<'static, ()>),
}

/// A transaction's way through the pipeline: ready when it is durable and visible, or has failed.
///
/// Its order is fixed already. Dropping the ticket does not take the transaction back.
pub struct Ticket {
    slot: Arc<Slot>,
    inline: Inline,
}

impl Ticket {
    pub(super) fn new(slot: Arc<Slot>, inline: Option<Arc<dyn Driver>>) -> Self {
        Ticket { slot, inline: inline.map_or(Inline::No, Inline::Maybe) }
    }
}

impl Future for Ticket {
    type Output = Result<Place, CommitError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        this.inline = match std::mem::replace(&mut this.inline, Inline::No) {
            Inline::No => Inline::No,
            Inline::Maybe(driver) => match driver.clone().commit_here() {
                Some(commit) => Inline::Running(driver, commit),
                None => {
                    driver.leave_to_log_thread();
                    Inline::No
                }
            },
            running @ Inline::Running(..) => running,
        };
        if let Inline::Running(_, commit) = &mut this.inline
            && commit.as_mut().poll(context).is_ready()
        {
            this.inline = Inline::No;
        }
        // The outcome waits for the end of an inline commit: it has the pen to give back.
        match &this.inline {
            Inline::Running(..) => Poll::Pending,
            _ => this.slot.poll(context),
        }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        match std::mem::replace(&mut self.inline, Inline::No) {
            Inline::No => {}
            Inline::Maybe(driver) => driver.leave_to_log_thread(),
            Inline::Running(driver, commit) => driver.hand_over(commit),
        }
    }
}

impl std::fmt::Debug for Ticket {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Ticket")
    }
}
