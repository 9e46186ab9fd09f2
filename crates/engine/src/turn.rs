//! [`Turn`]: one after the other, across waits. For DDL and checkpoints; nothing on a hot path.

use std::sync::Arc;
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

/// The same, without a borrow.
#[derive(Debug)]
pub(crate) struct OwnedTurn(Arc<Turn>);

impl Turn {
    /// Waits for the turn.
    pub(crate) async fn take(&self) -> TurnGuard<'_> {
        self.wait().await;
        TurnGuard(self)
    }

    /// Waits for the turn.
    pub(crate) async fn take_owned(self: &Arc<Self>) -> OwnedTurn {
        self.wait().await;
        OwnedTurn(self.clone())
    }

    async fn wait(&self) {
        loop {
            let listener = self.free.listen();
            if !self.taken.swap(true, Ordering::SeqCst) {
                return;
            }
            listener.await;
        }
    }

    fn give_back(&self) {
        self.taken.store(false, Ordering::SeqCst);
        self.free.notify(usize::MAX);
    }
}

impl Drop for TurnGuard<'_> {
    fn drop(&mut self) {
        self.0.give_back();
    }
}

impl Drop for OwnedTurn {
    fn drop(&mut self) {
        self.0.give_back();
    }
}
