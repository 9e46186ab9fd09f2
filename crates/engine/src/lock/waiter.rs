//! One wait: who waits, for what, and how it ended.
//!
//! Its end is decided once, under its own small lock, by whoever comes first: the release that grants it, the
//! deadlock search that takes it as the victim, or the waiter itself (timeout, KILL, its future dropped).

use std::task::{Context, Poll, Waker};

use parking_lot::Mutex;

use super::mode::Modes;

/// Identifies an owner; never given again, so an edge of the wait-for graph cannot turn to somebody else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct OwnerId(pub(super) u64);

/// How a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The lock is the owner's; or, for an insert, the gap has become free.
    Granted,
    /// The owner was chosen as the victim.
    Deadlock,
    /// The waiter gave up.
    Abandoned,
}

/// An owner that waits.
pub(super) struct Waiter {
    pub(super) owner: OwnerId,
    pub(super) mode: Modes,
    /// The owner has the lock in a weaker mode: it goes before those who have nothing.
    pub(super) upgrade: bool,
    /// What is lost if it is the victim.
    pub(super) work: u64,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    end: Option<End>,
    waker: Option<Waker>,
}

impl Waiter {
    pub(super) fn new(owner: OwnerId, mode: Modes, upgrade: bool, work: u64) -> Self {
        Waiter { owner, mode, upgrade, work, state: Mutex::default() }
    }

    /// Ends the wait unless it has ended; the waker is then the caller's to call, outside of its locks.
    pub(super) fn end(&self, end: End) -> Result<Option<Waker>, End> {
        let mut state = self.state.lock();
        match state.end {
            Some(other) => Err(other),
            None => {
                state.end = Some(end);
                Ok(state.waker.take())
            }
        }
    }

    /// Whether it still waits.
    pub(super) fn is_waiting(&self) -> bool {
        self.state.lock().end.is_none()
    }

    /// Ready when the wait has ended.
    pub(super) fn poll(&self, context: &Context<'_>) -> Poll<End> {
        let mut state = self.state.lock();
        match state.end {
            Some(end) => Poll::Ready(end),
            None => {
                match &mut state.waker {
                    Some(waker) => waker.clone_from(context.waker()),
                    none => *none = Some(context.waker().clone()),
                }
                Poll::Pending
            }
        }
    }
}
