//! Wakes the one task that works the queue; costs those who need not wake it one load.

use std::sync::atomic::{AtomicBool, Ordering, fence};
use std::task::{Context, Poll, Waker};

use parking_lot::Mutex;

/// See the module.
#[derive(Default)]
pub(super) struct Signal {
    is_asleep: AtomicBool,
    waker: Mutex<Option<Waker>>,
}

impl Signal {
    /// Wakes the sleeper, if there is one.
    pub(super) fn wake(&self) {
        // What it is woken for (a queue entry) must be visible before the look at `is_asleep`: with the fence in
        // `poll`, either the sleeper sees the entry or this sees the sleeper.
        fence(Ordering::SeqCst);
        if self.is_asleep.load(Ordering::Relaxed) && self.is_asleep.swap(false, Ordering::SeqCst) {
            let waker = self.waker.lock().take();
            if let Some(waker) = waker {
                waker.wake();
            }
        }
    }

    /// Ready when `awaited` gives something; otherwise the next [`Signal::wake`] polls again.
    pub(super) fn poll<T>(&self, context: &Context<'_>, awaited: impl Fn() -> Option<T>) -> Poll<T> {
        if let Some(value) = awaited() {
            return Poll::Ready(value);
        }
        *self.waker.lock() = Some(context.waker().clone());
        self.is_asleep.store(true, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        match awaited() {
            Some(value) => {
                self.is_asleep.store(false, Ordering::SeqCst);
                Poll::Ready(value)
            }
            None => Poll::Pending,
        }
    }
}
