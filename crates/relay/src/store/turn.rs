//! A lock for whoever writes the index, held across waits.

use std::sync::atomic::{AtomicBool, Ordering};

use event_listener::Event;

/// One at a time.
#[derive(Default)]
pub(super) struct Turn {
    is_taken: AtomicBool,
    given_back: Event,
}

/// Gives the turn back when it is dropped.
pub(super) struct Taken<'a>(&'a Turn);

impl Turn {
    /// Waits for the turn.
    pub(super) async fn take(&self) -> Taken<'_> {
        loop {
            let given_back = self.given_back.listen();
            if !self.is_taken.swap(true, Ordering::SeqCst) {
                return Taken(self);
            }
            given_back.await;
        }
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        self.0.is_taken.store(false, Ordering::SeqCst);
        self.0.given_back.notify(usize::MAX);
    }
}
