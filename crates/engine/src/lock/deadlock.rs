//! The wait-for graph, searched when a wait begins.
//!
//! An owner waits for one thing at a time. Its edges are not stored: they are read from the lock that it waits for,
//! so that a queue of a thousand needs no thousand edges each. Who waits in the same queue further ahead waits for
//! the holders of the same lock and nothing else; so the search goes from a lock to its holders only, and a hot row
//! with a thousand waiters costs each newcomer one step.
//!
//! Searches are one at a time, each after its own wait was entered: of the waits that close a cycle together the
//! last one to search sees all. An owner that waits lets nothing go meanwhile, and owner ids are never given again,
//! so a cycle that was found edge by edge is real (or was ended by a KILL or timeout just now, then one victim too
//! many is chosen, which costs it a retry).
//!
//! Lock order: the graph, then a shard of a lock table, then a waiter.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use base::IndexId;
use bytes::Bytes;
use parking_lot::Mutex;

use super::manager::{LockManager, Space};
use super::table::LockId;
use super::waiter::{End, OwnerId, Waiter};

/// What an owner waits for.
#[derive(Clone)]
pub(super) enum WaitsFor {
    Lock(Space, LockId),
    Gap(IndexId, Bytes),
}

impl WaitsFor {
    pub(super) fn is_row(&self) -> bool {
        !matches!(self, WaitsFor::Lock(Space::Tables, _))
    }
}

struct Edge {
    waits_for: WaitsFor,
    waiter: Arc<Waiter>,
}

/// Everybody who waits.
#[derive(Default)]
pub(super) struct WaitGraph {
    waiting: Mutex<HashMap<OwnerId, Edge>>,
}

impl WaitGraph {
    /// Enters a wait, and ends waits as long as there is a cycle through it.
    pub(super) fn begin(&self, waits_for: WaitsFor, waiter: &Arc<Waiter>, manager: &LockManager) {
        let mut woken = Vec::new();
        {
            let mut waiting = self.waiting.lock();
            waiting.insert(waiter.owner, Edge { waits_for, waiter: waiter.clone() });
            while manager.detects_deadlocks() && waiter.is_waiting() {
                let Some(cycle) = find_cycle(&waiting, waiter, manager) else { break };
                // The least work is lost; among equals the youngest goes.
                let victim = cycle.iter().min_by_key(|member| (member.work, std::cmp::Reverse(member.owner)));
                if let Some(Ok(waker)) = victim.map(|victim| victim.end(End::Deadlock)) {
                    woken.extend(waker);
                }
            }
        }
        woken.into_iter().for_each(std::task::Waker::wake);
    }

    /// Takes a wait out that has ended.
    pub(super) fn end(&self, owner: OwnerId) {
        self.waiting.lock().remove(&owner);
    }

    /// Number of waits for such things.
    pub(super) fn count(&self, of: impl Fn(&WaitsFor) -> bool) -> usize {
        self.waiting.lock().values().filter(|edge| of(&edge.waits_for)).count()
    }
}

/// The waiters of one cycle through `start`, if there is one: a depth-first search.
fn find_cycle<'a>(
    waiting: &'a HashMap<OwnerId, Edge>,
    start: &Waiter,
    manager: &LockManager,
) -> Option<Vec<&'a Waiter>> {
    let mut visited = HashSet::new();
    let mut path: Vec<&Waiter> = Vec::new();
    // Owners still to look at, each with the length of the path that leads to it.
    let mut open = vec![(start.owner, 0)];
    let mut found = Vec::new();
    while let Some((owner, depth)) = open.pop() {
        path.truncate(depth);
        if owner == start.owner && depth > 0 {
            return Some(path);
        }
        let Some(edge) = waiting.get(&owner) else { continue };
        if !edge.waiter.is_waiting() || !visited.insert(owner) {
            continue;
        }
        path.push(&edge.waiter);
        match &edge.waits_for {
            WaitsFor::Lock(space, id) => manager.locks(*space).blockers(*id, &edge.waiter, &mut found),
            WaitsFor::Gap(index, key) => manager.ranges.blockers(*index, key, owner, &mut found),
        }
        open.extend(found.drain(..).map(|blocker| (blocker, depth + 1)));
    }
    None
}
