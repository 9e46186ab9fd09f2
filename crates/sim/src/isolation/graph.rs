//! Dependencies as a directed graph, and the search for cycles in it.

use std::collections::{BTreeSet, VecDeque};

use super::history::{Element, Key};

/// Why one comes before another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// Appended before the other appended, to the same list.
    WriteWrite,
    /// Appended what the other read.
    WriteRead,
    /// Read a list without what the other appended next.
    ReadWrite,
    /// Ended before the other began.
    RealTime,
    /// A part of a transaction before another part of it.
    Within,
}

impl Kind {
    fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// Some kinds.
#[derive(Clone, Copy)]
pub(super) struct Kinds(u8);

impl Kinds {
    pub(super) fn of(kinds: &[Kind]) -> Self {
        Kinds(kinds.iter().fold(0, |bits, kind| bits | kind.bit()))
    }

    fn has(self, kind: Kind) -> bool {
        self.0 & kind.bit() != 0
    }
}

/// From node to node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Edge {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) kind: Kind,
    /// The list and the element that say so (not for real time).
    pub(super) key: Key,
    pub(super) element: Element,
}

/// See the module.
#[derive(Default)]
pub(super) struct Graph {
    /// The transaction that each node belongs to.
    pub(super) owners: Vec<usize>,
    edges: BTreeSet<Edge>,
    /// By node.
    out: Vec<Vec<Edge>>,
}

impl Graph {
    /// Adds a node; they are numbered from 0.
    pub(super) fn add_node(&mut self, owner: usize) {
        self.owners.push(owner);
        self.out.push(Vec::new());
    }

    pub(super) fn add(&mut self, edge: Edge) {
        if edge.from != edge.to && self.edges.insert(edge) {
            self.out[edge.from].push(edge);
        }
    }

    pub(super) fn edges(&self) -> impl Iterator<Item = &Edge> {
        self.edges.iter()
    }

    fn next(&self, node: usize, kinds: Kinds) -> impl Iterator<Item = &Edge> {
        self.out[node].iter().filter(move |edge| kinds.has(edge.kind))
    }

    /// The shortest way between two nodes.
    pub(super) fn path(&self, from: usize, to: usize, kinds: Kinds) -> Option<Vec<Edge>> {
        let mut came_by: Vec<Option<Edge>> = vec![None; self.owners.len()];
        let mut queue = VecDeque::from([from]);
        while let Some(node) = queue.pop_front() {
            for edge in self.next(node, kinds) {
                if edge.to != from && came_by[edge.to].is_none() {
                    came_by[edge.to] = Some(*edge);
                    queue.push_back(edge.to);
                }
            }
            if came_by[to].is_some() {
                break;
            }
        }
        let mut path = Vec::new();
        let mut at = to;
        while at != from || path.is_empty() {
            let edge = came_by[at]?;
            path.push(edge);
            at = edge.from;
        }
        path.reverse();
        Some(path)
    }

    /// For each node the number of its strongly connected component, and which components have cycles (Tarjan's algorithm,
    /// with a stack of its own instead of recursion).
    pub(super) fn components(&self, kinds: Kinds) -> Components {
        let count = self.owners.len();
        let mut state = Tarjan {
            number: vec![usize::MAX; count],
            low: vec![0; count],
            component: vec![usize::MAX; count],
            stack: Vec::new(),
            sizes: Vec::new(),
            next_number: 0,
        };
        for node in 0..count {
            if state.number[node] == usize::MAX {
                state.visit(self, node, kinds);
            }
        }
        Components { of: state.component, sizes: state.sizes }
    }

    /// A cycle of edges of these kinds, if there is one.
    pub(super) fn cycle(&self, kinds: Kinds) -> Option<Vec<Edge>> {
        let components = self.components(kinds);
        let inside = |edge: &&Edge| kinds.has(edge.kind) && components.share_a_cycle(edge.from, edge.to);
        let first = *self.edges.iter().find(inside)?;
        let mut cycle = vec![first];
        cycle.extend(self.path(first.to, first.from, kinds)?);
        Some(cycle)
    }
}

/// Strongly connected components.
pub(super) struct Components {
    of: Vec<usize>,
    sizes: Vec<usize>,
}

impl Components {
    pub(super) fn share_a_cycle(&self, a: usize, b: usize) -> bool {
        self.of[a] == self.of[b] && self.sizes[self.of[a]] > 1
    }
}

struct Tarjan {
    number: Vec<usize>,
    low: Vec<usize>,
    component: Vec<usize>,
    stack: Vec<usize>,
    sizes: Vec<usize>,
    next_number: usize,
}

impl Tarjan {
    fn enter(&mut self, node: usize) {
        self.number[node] = self.next_number;
        self.low[node] = self.next_number;
        self.next_number += 1;
        self.stack.push(node);
    }

    fn visit(&mut self, graph: &Graph, root: usize, kinds: Kinds) {
        self.enter(root);
        let mut calls = vec![(root, 0)];
        while let Some((node, at)) = calls.pop() {
            match graph.out[node].get(at) {
                Some(edge) => {
                    calls.push((node, at + 1));
                    let is_new = self.number[edge.to] == usize::MAX;
                    if kinds.has(edge.kind) && is_new {
                        self.enter(edge.to);
                        calls.push((edge.to, 0));
                    } else if kinds.has(edge.kind) && self.component[edge.to] == usize::MAX {
                        self.low[node] = self.low[node].min(self.number[edge.to]);
                    }
                }
                None => self.leave(node, calls.last().map(|(caller, _)| *caller)),
            }
        }
    }

    fn leave(&mut self, node: usize, caller: Option<usize>) {
        if let Some(caller) = caller {
            self.low[caller] = self.low[caller].min(self.low[node]);
        }
        if self.low[node] < self.number[node] {
            return;
        }
        let mut size = 0;
        while let Some(member) = self.stack.pop() {
            self.component[member] = self.sizes.len();
            size += 1;
            if member == node {
                break;
            }
        }
        self.sizes.push(size);
    }
}
