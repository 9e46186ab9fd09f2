//! The checker: dependencies between the transactions of a history, the cycles in them, and which of those may be.
//!
//! Two graphs are made of the same facts:
//!
//! - **As Adya has it**, a node is a transaction. Cycles in it have names, and are counted: at REPEATABLE READ there must be no
//!   G0 and no G1c, and there has to be write skew in some seed, or this checker sees nothing.
//! - **As it is promised**, a node is a part of a transaction that happens at one place in the order of commits. Any cycle
//!   is a broken promise:
//!
//! | level | plain reads | changes, reads with locks |
//! |---|---|---|
//! | READ UNCOMMITTED, READ COMMITTED | a node for each statement | at the commit |
//! | REPEATABLE READ | one node before the commit | at the commit |
//! | SERIALIZABLE | at the commit | at the commit |
//! | on a follower | as above; SERIALIZABLE as REPEATABLE READ | as plain reads |
//!
//! So lost updates are possible at REPEATABLE READ (a snapshot before, a change after), and reads that are of no single snapshot
//! are not. In READ COMMITTED nothing is promised of reading with locks what is not there: no gap is locked.
//!
//! Real time is in the second graph: what was acknowledged before a transaction began comes before it, and a snapshot comes before
//! what began when it was taken. On a follower only if
//! its client has waited for that; but what was seen there once is seen by all who come later, and nothing is there before it
//! is in the source's log.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::anomaly::{Anomaly, Class};
use super::facts::{Facts, Observation};
use super::graph::{Edge, Graph, Kind, Kinds};
use super::history::{Element, Key, Level, Outcome, Transaction};

/// How many reads of a history in which anomalies are allowed are looked at for their names; enough to count each kind.
const NAMED_READS_MAX: usize = 48;

/// What was found in a history.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    /// What must not be.
    pub(crate) broken: Vec<Anomaly>,
    /// Kinds of cycles between whole transactions, allowed or not.
    pub(crate) seen: BTreeSet<Class>,
}

/// Checks a history.
pub(crate) fn check(history: &[Transaction]) -> Findings {
    let mut facts = Facts::of(history);
    let mut findings = Findings { broken: std::mem::take(&mut facts.anomalies), seen: BTreeSet::new() };
    let whole = Nodes::whole(&facts);
    let cycles = name_cycles(&whole.dependencies(&facts), &facts);
    findings.seen.extend(cycles.iter().map(|one| one.class));
    findings.broken.extend(cycles.into_iter().filter(|one| one.class.is_never_allowed()));
    let promised = Nodes::promised(&facts);
    let mut graph = promised.dependencies(&facts);
    promised.add_real_time(&facts, &mut graph);
    findings.broken.extend(broken_promise(&graph, &facts));
    findings
}

/// Which nodes there are, and where in them things happen.
struct Nodes {
    owners: Vec<usize>,
    /// The first node of each transaction, and its last, the commit.
    ends: Vec<(usize, usize)>,
    /// Nodes of statements that have their own: by transaction and number of the operation.
    statements: BTreeMap<(usize, usize), usize>,
    within: Vec<Edge>,
    whole: bool,
}

impl Nodes {
    fn whole(facts: &Facts<'_>) -> Self {
        let owners: Vec<usize> = (0..facts.history.len()).collect();
        let ends = owners.iter().map(|node| (*node, *node)).collect();
        Nodes { owners, ends, statements: BTreeMap::new(), within: Vec::new(), whole: true }
    }

    fn promised(facts: &Facts<'_>) -> Self {
        let mut nodes = Nodes {
            owners: Vec::new(),
            ends: Vec::new(),
            statements: BTreeMap::new(),
            within: Vec::new(),
            whole: false,
        };
        for (number, transaction) in facts.history.iter().enumerate() {
            nodes.divide(number, transaction);
        }
        nodes
    }

    fn divide(&mut self, number: usize, transaction: &Transaction) {
        let first = self.owners.len();
        self.owners.push(number);
        if !happens_at_once(transaction) {
            // REPEATABLE READ has one node for reads; in READ COMMITTED each statement has one, the first being the beginning.
            if !transaction.level.keeps_its_view() {
                for statement in 0..transaction.ops.len() {
                    self.statements.insert((number, statement), self.owners.len());
                    self.owners.push(number);
                }
            }
            self.owners.push(number);
        }
        let last = self.owners.len() - 1;
        let within = |from| Edge { from, to: from + 1, kind: Kind::Within, key: 0, element: 0 };
        self.within.extend((first..last).map(within));
        self.ends.push((first, last));
    }

    fn commit(&self, transaction: usize) -> usize {
        self.ends[transaction].1
    }

    /// Where a read happened; `None` if that is not promised.
    fn of_read(&self, facts: &Facts<'_>, read: &Observation) -> Option<usize> {
        let transaction = &facts.history[read.reader];
        let (view, commit) = self.ends[read.reader];
        let is_locked = read.locking && transaction.server == 0;
        if self.whole || read.after_own {
            return Some(commit);
        }
        if is_locked {
            let is_kept = transaction.level.keeps_its_view() || read.upto > 0;
            return is_kept.then_some(commit);
        }
        Some(self.statements.get(&(read.reader, read.statement)).copied().unwrap_or(view))
    }

    fn dependencies(&self, facts: &Facts<'_>) -> Graph {
        let mut graph = Graph::default();
        self.owners.iter().for_each(|owner| graph.add_node(*owner));
        self.within.iter().for_each(|edge| graph.add(*edge));
        for (key, order) in &facts.orders {
            for two in order.windows(2) {
                if let (Some(from), Some(to)) = (facts.writer(*key, two[0]), facts.writer(*key, two[1])) {
                    let (from, to) = (self.commit(from), self.commit(to));
                    graph.add(Edge { from, to, kind: Kind::WriteWrite, key: *key, element: two[1] });
                }
            }
        }
        for read in &facts.observations {
            let Some(node) = self.of_read(facts, read) else { continue };
            let order = &facts.orders[&read.key];
            let mut add = |at: Option<usize>, kind: Kind| {
                let Some(element) = at.and_then(|at| order.get(at)).copied() else { return };
                let Some(writer) = facts.writer(read.key, element).filter(|writer| *writer != read.reader) else {
                    return;
                };
                let (from, to) = match kind {
                    Kind::WriteRead => (self.commit(writer), node),
                    _ => (node, self.commit(writer)),
                };
                graph.add(Edge { from, to, kind, key: read.key, element });
            };
            add(read.upto.checked_sub(1), Kind::WriteRead);
            add(Some(read.upto), Kind::ReadWrite);
        }
        graph
    }

    fn add_real_time(&self, facts: &Facts<'_>, graph: &mut Graph) {
        let told = |number: &usize| facts.history[*number].outcome == Outcome::Committed;
        let committed: Vec<usize> = (0..facts.history.len()).filter(|number| facts.committed[*number]).collect();
        let mut real_time = |from, to| graph.add(Edge { from, to, kind: Kind::RealTime, key: 0, element: 0 });
        for &to in &committed {
            let later = &facts.history[to];
            if let Some(fresh) = later.fresh {
                // Who ended before another began that is before us as well comes before us by way of that other.
                let before = |number: &&usize| told(number) && facts.history[**number].ended < fresh;
                let source = committed.iter().filter(before).filter(|number| facts.history[**number].server == 0);
                let nearest = source.clone().map(|number| facts.history[*number].began).max().unwrap_or(0);
                for &from in source.filter(|number| facts.history[**number].ended >= nearest) {
                    real_time(self.commit(from), self.ends[to].0);
                }
            }
            if let Some(viewed) = later.viewed {
                let behind =
                    |number: &&usize| facts.history[**number].began > viewed && facts.history[**number].server == 0;
                let nearest = committed.iter().filter(behind).map(|number| facts.history[*number].ended).min();
                let first = |number: &&usize| Some(facts.history[**number].began) <= nearest;
                for &behind in committed.iter().filter(behind).filter(first) {
                    real_time(self.ends[to].0, self.commit(behind));
                }
            }
            for &from in committed.iter().filter(|number| told(number) && facts.history[**number].server != 0) {
                let earlier = &facts.history[from];
                match later.server {
                    _ if earlier.ended >= later.began => {}
                    server if server == earlier.server => real_time(self.commit(from), self.ends[to].0),
                    // What a follower has shown is in the source's log; what is committed now comes behind it.
                    0 => real_time(self.commit(from), self.commit(to)),
                    _ => {}
                }
            }
        }
    }
}

/// Whether all of a transaction is promised to happen at its commit.
fn happens_at_once(transaction: &Transaction) -> bool {
    transaction.server == 0 && transaction.level == Level::Serializable
}

/// The cycles between transactions, at least one of each kind that there is, by name.
fn name_cycles(graph: &Graph, facts: &Facts<'_>) -> Vec<Anomaly> {
    const WRITES: &[Kind] = &[Kind::WriteWrite];
    const INFORMATION: &[Kind] = &[Kind::WriteWrite, Kind::WriteRead];
    const ALL: &[Kind] = &[Kind::WriteWrite, Kind::WriteRead, Kind::ReadWrite];
    let (writes, information, all) = (Kinds::of(WRITES), Kinds::of(INFORMATION), Kinds::of(ALL));
    let mut named = Vec::new();
    if let Some(cycle) = graph.cycle(writes) {
        named.push(describe(Class::G0, &cycle, graph, facts));
    } else if let Some(cycle) = graph.cycle(information) {
        named.push(describe(Class::G1c, &cycle, graph, facts));
    }
    let components = graph.components(all);
    let in_cycle = |edge: &&Edge| edge.kind == Kind::ReadWrite && components.share_a_cycle(edge.from, edge.to);
    for read in graph.edges().filter(in_cycle).take(NAMED_READS_MAX) {
        let (class, rest) = match graph.path(read.to, read.from, information) {
            Some(rest) if facts.has_appended(graph.owners[read.from], read.key) => (Class::LostUpdate, Some(rest)),
            Some(rest) => (Class::GSingle, Some(rest)),
            None => (Class::G2Item, graph.path(read.to, read.from, all)),
        };
        if let Some(rest) = rest
            && named.iter().all(|one: &Anomaly| one.class != class)
        {
            let cycle: Vec<Edge> = [*read].into_iter().chain(rest).collect();
            named.push(describe(class, &cycle, graph, facts));
        }
    }
    named
}

/// A cycle between parts of transactions, which no level allows; the one that says most.
fn broken_promise(graph: &Graph, facts: &Facts<'_>) -> Option<Anomaly> {
    const ORDER: [Kind; 3] = [Kind::WriteWrite, Kind::RealTime, Kind::Within];
    const INFORMATION: [Kind; 4] = [Kind::WriteWrite, Kind::RealTime, Kind::Within, Kind::WriteRead];
    const ALL: [Kind; 5] = [Kind::WriteWrite, Kind::RealTime, Kind::Within, Kind::WriteRead, Kind::ReadWrite];
    for (kinds, class) in [(Kinds::of(&ORDER), Class::G0), (Kinds::of(&INFORMATION), Class::G1c)] {
        if let Some(cycle) = graph.cycle(kinds) {
            return Some(describe(class, &cycle, graph, facts));
        }
    }
    let cycle = graph.cycle(Kinds::of(&ALL))?;
    let reads = cycle.iter().filter(|edge| edge.kind == Kind::ReadWrite);
    let class = if reads.count() == 1 { Class::GSingle } else { Class::G2Item };
    Some(describe(class, &cycle, graph, facts))
}

fn describe(class: Class, cycle: &[Edge], graph: &Graph, facts: &Facts<'_>) -> Anomaly {
    let mut why = String::from("a cycle");
    for edge in cycle {
        let (from, to) = (graph.owners[edge.from], graph.owners[edge.to]);
        let _ = write!(why, "\n  T{from} before T{to}: {}", reason(edge, facts));
    }
    Anomaly::new(class, cycle.iter().map(|edge| graph.owners[edge.from]), why)
}

fn reason(edge: &Edge, facts: &Facts<'_>) -> String {
    let Edge { key, element, .. } = edge;
    match edge.kind {
        Kind::WriteWrite => {
            format!("the second appended {element} to list {key} behind {}", before(facts, *key, *element))
        }
        Kind::WriteRead => format!("the second read list {key} with {element}, which the first appended"),
        Kind::ReadWrite => format!("the first read list {key} without {element}, which the second appended next"),
        Kind::RealTime => "the first had ended before the second began, or waited for it".to_owned(),
        Kind::Within => "parts of one transaction".to_owned(),
    }
}

fn before(facts: &Facts<'_>, key: Key, element: Element) -> String {
    let order = &facts.orders[&key];
    let at = order.iter().position(|other| *other == element).unwrap_or(0);
    at.checked_sub(1).map_or_else(|| "nothing".to_owned(), |at| format!("{} of the first", order[at]))
}
