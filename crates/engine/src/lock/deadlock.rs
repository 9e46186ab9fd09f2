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
//! Commits that have to keep an order are edges too: who has done all and waits for its turn ([`TurnWait`]) waits for whoever comes before it
//! in that order and waits itself. Those that do not wait will come to their end, or to a wait, and are looked at then. In a cycle with
//! such an edge, or with two of one order, the last in the order is the victim, whatever it has done: it cannot commit before the others.
//!
//! Lock order: the graph, then a shard of a lock table, then a waiter.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use base::IndexId;
use bytes::Bytes;
use parking_lot::Mutex;

use super::manager::{LockManager, Space};
use super::table::LockId;
use super::turn::Turn;
use super::waiter::{End, OwnerId, Waiter};

/// What an owner waits for.
#[derive(Clone)]
pub(super) enum WaitsFor {
    Lock(Space, LockId),
    Gap(IndexId, Bytes),
    /// Those before it in the order of commits.
    Turn(Turn),
}

impl WaitsFor {
    pub(super) fn is_row(&self) -> bool {
        matches!(self, WaitsFor::Lock(Space::Records, _) | WaitsFor::Gap(..))
    }

    fn is_table(&self) -> bool {
        matches!(self, WaitsFor::Lock(Space::Tables, _))
    }
}

struct Edge {
    waits_for: WaitsFor,
    waiter: Arc<Waiter>,
    /// Its place in an order of commits.
    turn: Option<Turn>,
}

impl Edge {
    fn waits_for_turn(&self) -> bool {
        matches!(self.waits_for, WaitsFor::Turn(_))
    }

    /// DDL, LOCK TABLES, GET_LOCK.
    fn wants_whole_table(&self) -> bool {
        self.waits_for.is_table() && !self.waiter.mode.is_weak()
    }
}

#[derive(Default)]
struct Waits {
    edges: HashMap<OwnerId, Edge>,
    /// Those that wait for a lock and have a place in an order: by order, then by place.
    lines: HashMap<u64, BTreeMap<u64, OwnerId>>,
}

/// Everybody who waits.
#[derive(Default)]
pub(super) struct WaitGraph {
    waits: Mutex<Waits>,
}

impl WaitGraph {
    /// Enters a wait, and ends waits as long as there is a cycle through it.
    pub(super) fn begin(&self, waits_for: WaitsFor, waiter: &Arc<Waiter>, turn: Option<Turn>, manager: &LockManager) {
        let mut woken = Vec::new();
        {
            let mut waits = self.waits.lock();
            let behind = waits.behind(&waits_for, waiter);
            waits.enter(Edge { waits_for, waiter: waiter.clone(), turn });
            for start in std::iter::once(waiter).chain(&behind) {
                waits.end_cycles(start, manager, &mut woken);
            }
        }
        woken.into_iter().for_each(std::task::Waker::wake);
    }

    /// Takes a wait out that has ended.
    pub(super) fn end(&self, owner: OwnerId) {
        self.waits.lock().leave(owner);
    }

    /// Number of waits for such things.
    pub(super) fn count(&self, of: impl Fn(&WaitsFor) -> bool) -> usize {
        self.waits.lock().edges.values().filter(|edge| of(&edge.waits_for)).count()
    }
}

impl Waits {
    /// Those who may be behind a newcomer in the queue of a table.
    fn behind(&self, waits_for: &WaitsFor, newcomer: &Waiter) -> Vec<Arc<Waiter>> {
        let WaitsFor::Lock(Space::Tables, table) = waits_for else { return Vec::new() };
        if newcomer.mode.is_weak() {
            return Vec::new();
        }
        let is_same = |edge: &&Edge| matches!(&edge.waits_for, WaitsFor::Lock(Space::Tables, id) if id == table);
        self.edges.values().filter(is_same).map(|edge| edge.waiter.clone()).collect()
    }

    /// Ends waits as long as there is a cycle through this one.
    fn end_cycles(&self, start: &Waiter, manager: &LockManager, woken: &mut Vec<std::task::Waker>) {
        while (manager.detects_deadlocks() || !self.lines.is_empty()) && start.is_waiting() {
            let Some(cycle) = find_cycle(self, start, manager) else { return };
            let Some(victim) = victim_of(&cycle, manager) else { return };
            if let Ok(waker) = victim.end(End::Deadlock) {
                woken.extend(waker);
            }
        }
    }

    fn enter(&mut self, edge: Edge) {
        let owner = edge.waiter.owner;
        if let Some(turn) = edge.turn.filter(|_| !edge.waits_for_turn()) {
            self.lines.entry(turn.line).or_default().insert(turn.number, owner);
        }
        self.edges.insert(owner, edge);
    }

    fn leave(&mut self, owner: OwnerId) {
        let Some(edge) = self.edges.remove(&owner) else { return };
        if let Some(turn) = edge.turn.filter(|_| !edge.waits_for_turn())
            && let Some(line) = self.lines.get_mut(&turn.line)
        {
            line.remove(&turn.number);
            if line.is_empty() {
                self.lines.remove(&turn.line);
            }
        }
    }
}

/// Who has to give up; nobody if only an order of commits would be a reason to look, and none is in the cycle.
fn victim_of<'a>(cycle: &[&'a Edge], manager: &LockManager) -> Option<&'a Arc<Waiter>> {
    let placed = cycle.iter().filter(|edge| edge.turn.is_some());
    if cycle.iter().any(|edge| edge.waits_for_turn()) || placed.clone().count() > 1 {
        return placed.max_by_key(|edge| edge.turn.map(|turn| turn.number)).map(|last| &last.waiter);
    }
    if !manager.detects_deadlocks() {
        return None;
    }
    // Who wants rows rather than who wants a table or a name to itself. Then, among tables and names, the one that closed the cycle, as in
    // MySQL (what the others hold stays locked); else the least work is lost, and among equals the youngest goes.
    let only_tables = cycle.iter().all(|edge| edge.waits_for.is_table());
    let closing = cycle.first().map(|edge| edge.waiter.owner);
    let price = |edge: &&Edge| {
        let Edge { waiter, .. } = edge;
        let lost = if only_tables { u64::from(Some(waiter.owner) != closing) } else { waiter.work };
        (edge.wants_whole_table(), lost, std::cmp::Reverse(waiter.owner))
    };
    cycle.iter().copied().min_by_key(price).map(|edge| &edge.waiter)
}

/// The waits of one cycle through `start`, which is the first of them, if there is one: a depth-first search.
fn find_cycle<'a>(waits: &'a Waits, start: &Waiter, manager: &LockManager) -> Option<Vec<&'a Edge>> {
    let mut visited = HashSet::new();
    let mut path: Vec<&Edge> = Vec::new();
    // Owners still to look at, each with the length of the path that leads to it.
    let mut open = vec![(start.owner, 0)];
    let mut found = Vec::new();
    while let Some((owner, depth)) = open.pop() {
        path.truncate(depth);
        if owner == start.owner && depth > 0 {
            return Some(path);
        }
        let Some(edge) = waits.edges.get(&owner) else { continue };
        if !edge.waiter.is_waiting() || !visited.insert(owner) {
            continue;
        }
        path.push(edge);
        match &edge.waits_for {
            WaitsFor::Lock(space, id) => manager.locks(*space).blockers(*id, &edge.waiter, &mut found),
            WaitsFor::Gap(index, key) => manager.ranges.blockers(*index, key, owner, &mut found),
            WaitsFor::Turn(turn) => {
                let before = waits.lines.get(&turn.line).into_iter().flat_map(|line| line.range(..turn.number));
                found.extend(before.map(|(_, owner)| *owner));
            }
        }
        open.extend(found.drain(..).map(|blocker| (blocker, depth + 1)));
    }
    None
}
