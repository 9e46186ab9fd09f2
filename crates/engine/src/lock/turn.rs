//! Commits that keep an order: a transaction with a [`Turn`] commits after those with earlier ones, and may have done its work before they have.
//!
//! One that has done its work enters the graph of waits with [`LockOwner::wait_for_turn`]. If one before it waits for what it holds (by whatever
//! way), it is the victim of that deadlock, and does its work again later: so an order is kept without anybody who waits for ever.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use super::LockOwner;
use super::deadlock::WaitsFor;
use super::manager::LockManager;
use super::mode::Modes;
use super::waiter::{End, Waiter};

/// A place in an order of commits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Turn {
    /// Which order: a number that is this order's alone.
    pub line: u64,
    /// The place in it. Two owners never have the same one at once.
    pub number: u64,
}

/// A transaction that has done its work and waits for its turn. Ready when it has to give up: what it holds is in the way of one before it.
/// When its turn has come, or it was rolled back, this is dropped.
pub struct TurnWait {
    manager: Arc<LockManager>,
    waiter: Arc<Waiter>,
}

impl LockOwner {
    /// The order in which the owner has its place, from its next wait on.
    pub fn set_turn(&mut self, turn: Option<Turn>) {
        self.turn = turn;
    }

    /// The owner will take no more locks before its turn. `None` if it has no place in an order, or nothing that could be in anybody's way.
    pub fn wait_for_turn(&self) -> Option<TurnWait> {
        let turn = self.turn?;
        if self.holds_nothing() {
            return None;
        }
        let waiter = Arc::new(Waiter::new(self.id, Modes::NONE, false, self.price()));
        self.manager.graph.begin(WaitsFor::Turn(turn), &waiter, Some(turn), &self.manager);
        Some(TurnWait { manager: self.manager.clone(), waiter })
    }
}

impl Future for TurnWait {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        self.waiter.poll(context).map(|_: End| ())
    }
}

impl Drop for TurnWait {
    fn drop(&mut self) {
        let _ = self.waiter.end(End::Abandoned);
        self.manager.graph.end(self.waiter.owner);
    }
}
