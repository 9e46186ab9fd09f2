//! What each session runs at the moment, for EXPLAIN FOR CONNECTION.
//!
//! A session has a slot of its own, which others find by its connection. Beginning a statement and ending it cost the slot's lock, which
//! hardly ever has another owner, and a reference to the plan.

use std::collections::HashMap;
use std::sync::Arc;

use base::ConnectionId;
use parking_lot::Mutex;

use crate::plan::Plan;

type Slot = Arc<Mutex<Option<Arc<Plan>>>>;

/// The slots of all sessions.
#[derive(Debug, Default)]
pub struct RunningPlans(Mutex<HashMap<ConnectionId, Slot>>);

impl RunningPlans {
    /// The plan that a session runs at the moment, if it runs one.
    pub(crate) fn of(&self, session: ConnectionId) -> Option<Arc<Plan>> {
        let slot = self.0.lock().get(&session).cloned();
        slot.and_then(|slot| slot.lock().clone())
    }
}

/// One session's slot, which is gone when the session is.
pub(super) struct OwnPlan {
    all: Arc<RunningPlans>,
    session: ConnectionId,
    slot: Slot,
}

impl OwnPlan {
    pub(super) fn new(all: Arc<RunningPlans>, session: ConnectionId) -> Self {
        let slot = Slot::default();
        all.0.lock().insert(session, slot.clone());
        OwnPlan { all, session, slot }
    }

    /// The session runs this plan until the result is dropped.
    pub(super) fn run(&self, plan: &Arc<Plan>) -> Running {
        *self.slot.lock() = Some(plan.clone());
        Running(self.slot.clone())
    }
}

impl Drop for OwnPlan {
    fn drop(&mut self) {
        let mut all = self.all.0.lock();
        // Sessions of the server itself may share a number.
        if all.get(&self.session).is_some_and(|slot| Arc::ptr_eq(slot, &self.slot)) {
            all.remove(&self.session);
        }
    }
}

/// A statement that runs.
pub(super) struct Running(Slot);

impl Drop for Running {
    fn drop(&mut self) {
        *self.0.lock() = None;
    }
}
