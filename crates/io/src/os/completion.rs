//! One result handed from the thread that has it to the task that waits for it.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use parking_lot::Mutex;

struct Slot<T> {
    value: Option<T>,
    waker: Option<Waker>,
}

/// The side that gives the result.
pub(crate) struct Completer<T>(Arc<Mutex<Slot<T>>>);

/// The side that waits. Dropping it drops the result when it comes.
pub(crate) struct Completion<T>(Arc<Mutex<Slot<T>>>);

pub(crate) fn completion<T>() -> (Completer<T>, Completion<T>) {
    let slot = Arc::new(Mutex::new(Slot { value: None, waker: None }));
    (Completer(slot.clone()), Completion(slot))
}

impl<T> Completer<T> {
    pub(crate) fn complete(self, value: T) {
        let waker = {
            let mut slot = self.0.lock();
            slot.value = Some(value);
            slot.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl<T> Future for Completion<T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let mut slot = self.0.lock();
        match slot.value.take() {
            Some(value) => Poll::Ready(value),
            None => {
                slot.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}
