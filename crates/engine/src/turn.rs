//! [`Turn`]: one after the other, across waits. For DDL and checkpoints; nothing on a hot path.

use std::sync::atomic::{AtomicBool, Ordering};

use event_listener::Event;

/// Held by one task at a time.
#[derive(Debug, Default)]
pub(crate) struct Turn {
    taken: AtomicBool,
    free: Event,
}

/// Gives the turn back when dropped.
#[derive(Debug)]
pub(crate) struct TurnGuard<'a>(&'a Turn);

impl Turn {
    /// Waits for the turn.
    pub(crate) async fn take(&self) -> TurnGuard<'_> {
        loop {
            let listener = self.free.listen();
            if !self.taken.swap(true, Ordering::SeqCst) {
                return TurnGuard(self);
            }
            listener.await;
        }
    }
}

impl Drop for TurnGuard<'_> {
    fn drop(&mut self) {
        self.0.taken.store(false, Ordering::SeqCst);
        self.0.free.notify(usize::MAX);
    }
}
