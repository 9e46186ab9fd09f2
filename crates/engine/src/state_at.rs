//! The state at a position of the log that is yet to come: for a follower that is to look at exactly what its source looks at.
//!
//! Whoever waits is entered with the position; a publication that goes beyond it stops there for a moment, and a read view is
//! opened. With nobody waiting that costs a publication one look at an empty list.
//!
//! # Invariants
//! - A view is of exactly the position that was asked for, or there is none.
//! - [`AwaitedStates`] is locked while something is published, so nobody begins to wait for what is just being passed.
//!
//! Lock order: [`AwaitedStates`], then [`Slot::reached`], then those of a publication.

use std::cmp::Ordering;
use std::sync::{Arc, Weak};

use base::LogPosition;
use event_listener::Event;
use parking_lot::Mutex;

use crate::core::Core;
use crate::engine::Engine;
use crate::install::PublishPoint;
use crate::options::TxnOptions;
use crate::txn::Transaction;
use crate::view::ReadView;

/// A state that is there, or will be; see [`Engine::state_at`].
pub struct StateAt {
    engine: Arc<Engine>,
    slot: Arc<Slot>,
}

#[derive(Default)]
struct Slot {
    reached: Mutex<Reached>,
    changed: Event,
}

#[derive(Default)]
enum Reached {
    #[default]
    NotYet,
    Here(ReadView),
    /// It was passed, and no transaction ends there.
    Never,
}

impl Slot {
    fn set(&self, reached: Reached) {
        *self.reached.lock() = reached;
        self.changed.notify(usize::MAX);
    }
}

/// Somebody who waits for a position.
pub(crate) struct Awaited {
    position: LogPosition,
    slot: Weak<Slot>,
}

/// All who wait.
pub(crate) type AwaitedStates = Mutex<Vec<Awaited>>;

impl Engine {
    /// The state after the transaction that ends at a position of the log, on a follower: the present one, or one that is still to
    /// be published. `None` if it has passed.
    pub fn state_at(self: &Arc<Self>, position: LogPosition) -> Option<StateAt> {
        let core = self.core();
        let slot = Arc::new(Slot::default());
        let mut awaited = core.awaited.lock();
        match core.views.visible_position().1.cmp(&position) {
            Ordering::Greater => return None,
            Ordering::Equal => slot.set(Reached::Here(core.views.open())),
            Ordering::Less => awaited.push(Awaited { position, slot: Arc::downgrade(&slot) }),
        }
        drop(awaited);
        Some(StateAt { engine: self.clone(), slot })
    }
}

impl StateAt {
    /// A transaction that reads it, when it has come; `None` if no transaction ends there.
    pub async fn transaction(self, options: TxnOptions) -> Option<Transaction> {
        loop {
            let changed = self.slot.changed.listen();
            match std::mem::take(&mut *self.slot.reached.lock()) {
                Reached::NotYet => {}
                Reached::Here(view) => return Some(self.engine.begin(options).with_view(view)),
                Reached::Never => return None,
            }
            changed.await;
        }
    }
}

impl Core {
    /// Publishes, and shows those who wait for a state on the way what they wait for.
    pub(crate) fn publish_in_steps(&self, points: &[PublishPoint]) {
        let mut awaited = self.awaited.lock();
        let mut rest = points;
        while let Some(due) = self.next_due(&awaited, rest) {
            let (now, later) = rest.split_at(rest.partition_point(|point| point.end <= due));
            self.publish_points(now);
            rest = later;
            let is_there = self.views.visible_position().1 == due;
            for state in awaited.extract_if(.., |state| state.position == due) {
                if let Some(slot) = state.slot.upgrade() {
                    slot.set(if is_there { Reached::Here(self.views.open()) } else { Reached::Never });
                }
            }
        }
        self.publish_points(rest);
    }

    /// The first awaited position that publishing these reaches or passes.
    fn next_due(&self, awaited: &[Awaited], points: &[PublishPoint]) -> Option<LogPosition> {
        let end = points.last()?.end;
        awaited.iter().map(|state| state.position).filter(|position| *position <= end).min()
    }
}
