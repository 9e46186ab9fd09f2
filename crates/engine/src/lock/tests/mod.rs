//! Locks as scripts, against a model, under many threads, and given up in the middle.

mod contention;
mod model;
mod packed;
mod scripts;
mod threads;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use base::{Cancel, UnixMicros};
use bytes::Bytes;
use io::{BoxFuture, Clock};
use parking_lot::Mutex;

use super::*;

/// A clock that goes when a test says so.
#[derive(Default)]
pub(super) struct HandClock(Arc<Mutex<(Duration, Vec<Waker>)>>);

impl HandClock {
    pub(super) fn advance(&self, by: Duration) {
        let wakers = {
            let mut state = self.0.lock();
            state.0 += by;
            std::mem::take(&mut state.1)
        };
        wakers.into_iter().for_each(Waker::wake);
    }
}

impl Clock for HandClock {
    fn now(&self) -> UnixMicros {
        UnixMicros(self.0.lock().0.as_micros() as u64)
    }

    fn monotonic(&self) -> Duration {
        self.0.lock().0
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        let state = self.0.clone();
        let at = self.monotonic() + duration;
        Box::pin(std::future::poll_fn(move |context| {
            let mut state = state.lock();
            if state.0 >= at {
                return Poll::Ready(());
            }
            state.1.push(context.waker().clone());
            Poll::Pending
        }))
    }
}

/// What an owner is asked to do.
#[derive(Clone, Debug)]
pub(super) enum Request {
    Record(Bytes, Strength),
    Gap(std::ops::Bound<Bytes>, std::ops::Bound<Bytes>),
    Insert(Bytes),
    Table(String, TableMode),
}

pub(super) const INDEX: base::IndexId = base::IndexId(7);

type Asked = (LockOwner, Result<Acquired, LockError>);

/// An owner that either is free to do something or waits.
pub(super) enum Actor {
    Free(LockOwner),
    Waiting(Pin<Box<dyn Future<Output = Asked> + Send>>),
    /// In the middle of a change of state.
    Moving,
}

impl Actor {
    pub(super) fn owner(&mut self) -> Option<&mut LockOwner> {
        match self {
            Actor::Free(owner) => Some(owner),
            _ => None,
        }
    }

    /// Begins a request; `Some` if it ended at once.
    pub(super) fn ask(
        &mut self,
        request: Request,
        policy: WaitPolicy,
        cancel: &Arc<Cancel>,
    ) -> Option<Result<Acquired, LockError>> {
        let Actor::Free(owner) = std::mem::replace(self, Actor::Moving) else { panic!("it waits") };
        *self = Actor::Waiting(Box::pin(ask(owner, request, policy, cancel.clone())));
        self.poll()
    }

    /// `Some` if the wait is over.
    pub(super) fn poll(&mut self) -> Option<Result<Acquired, LockError>> {
        let Actor::Waiting(future) = self else { return None };
        let Poll::Ready((owner, result)) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) else {
            return None;
        };
        *self = Actor::Free(owner);
        Some(result)
    }
}

async fn ask(mut owner: LockOwner, request: Request, policy: WaitPolicy, cancel: Arc<Cancel>) -> Asked {
    let wait = Wait { policy, cancel: &cancel };
    let result = match request {
        Request::Record(key, strength) => owner.record(INDEX, &key, strength, wait).await,
        Request::Gap(lower, upper) => owner.gap(INDEX, (lower, upper), Strength::Exclusive, wait).await,
        Request::Insert(key) => owner.insert(INDEX, &key, wait).await,
        Request::Table(name, mode) => owner.table(Target::Name { schema: "db", name: &name }, mode, wait).await,
    };
    (owner, result)
}

/// No lock, gap, wait or note is left.
pub(super) fn assert_empty(manager: &LockManager) {
    assert_eq!(manager.stats(), LockStats::default());
}
