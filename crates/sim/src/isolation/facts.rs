//! From a history to facts: who appended what, in which order each list grew, who saw how much of it.
//!
//! What is wrong without any cycle is found here.

use std::collections::{BTreeMap, BTreeSet};

use super::anomaly::{Anomaly, Class};
use super::history::{Element, Key, Op, Outcome, Transaction};

/// A committed transaction saw the first `upto` elements of a list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Observation {
    pub(super) reader: usize,
    /// Number of the operation in its transaction.
    pub(super) statement: usize,
    pub(super) key: Key,
    pub(super) locking: bool,
    /// The reader had appended to the list itself: it sees it as it was then.
    pub(super) after_own: bool,
    pub(super) upto: usize,
}

/// See the module.
pub(super) struct Facts<'a> {
    pub(super) history: &'a [Transaction],
    /// Acknowledged, or seen by who is committed.
    pub(super) committed: Vec<bool>,
    /// How each list grew: its longest read.
    pub(super) orders: BTreeMap<Key, Vec<Element>>,
    pub(super) observations: Vec<Observation>,
    pub(super) anomalies: Vec<Anomaly>,
    writers: BTreeMap<(Key, Element), usize>,
    /// What each transaction has appended in the end, in its order.
    kept: Vec<BTreeMap<Key, Vec<Element>>>,
}

/// A read of one list within a transaction, with what the transaction itself had appended by then.
struct OneRead<'a> {
    statement: usize,
    key: Key,
    locking: bool,
    list: &'a [Element],
    own: Vec<Element>,
}

impl OneRead<'_> {
    /// What others had appended. (What was its own may yet be taken back, and be in no order.)
    fn others(&self) -> &[Element] {
        self.list.strip_suffix(self.own.as_slice()).unwrap_or(self.list)
    }
}

impl<'a> Facts<'a> {
    pub(super) fn of(history: &'a [Transaction]) -> Self {
        let mut facts = Facts {
            history,
            committed: history.iter().map(|one| one.outcome == Outcome::Committed).collect(),
            orders: BTreeMap::new(),
            observations: Vec::new(),
            anomalies: Vec::new(),
            writers: BTreeMap::new(),
            kept: Vec::new(),
        };
        let mut reads = Vec::new();
        for (number, transaction) in history.iter().enumerate() {
            reads.push(facts.follow(number, transaction));
        }
        facts.settle_unknown(&reads);
        facts.find_orders(&reads);
        for (reader, reads) in reads.iter().enumerate() {
            if facts.committed[reader] {
                reads.iter().for_each(|read| facts.observe(reader, read));
            }
        }
        facts.find_lost();
        facts
    }

    /// Who appended an element, if it is there to stay.
    pub(super) fn writer(&self, key: Key, element: Element) -> Option<usize> {
        let writer = *self.writers.get(&(key, element))?;
        let is_kept = self.kept[writer].get(&key).is_some_and(|list| list.contains(&element));
        (is_kept && self.committed[writer]).then_some(writer)
    }

    pub(super) fn has_appended(&self, transaction: usize, key: Key) -> bool {
        self.kept[transaction].contains_key(&key)
    }

    /// Goes through a transaction: its reads, each with what was its own by then.
    fn follow(&mut self, number: usize, transaction: &'a Transaction) -> Vec<OneRead<'a>> {
        let mut own: BTreeMap<Key, Vec<Element>> = BTreeMap::new();
        let mut mark = BTreeMap::new();
        let mut reads = Vec::new();
        for (statement, op) in transaction.ops.iter().enumerate() {
            match op {
                Op::Append { key, element, done } => {
                    self.writers.insert((*key, *element), number);
                    if *done {
                        own.entry(*key).or_default().push(*element);
                    }
                }
                Op::Savepoint => mark = own.clone(),
                Op::RollbackToSavepoint => own = mark.clone(),
                Op::Read { locking, lists } => reads.extend(lists.iter().map(|(key, list)| {
                    let own = own.get(key).cloned().unwrap_or_default();
                    OneRead { statement, key: *key, locking: *locking, list, own }
                })),
            }
        }
        self.kept.push(own);
        reads
    }

    /// A commit that nobody was told of has happened if who is committed has seen something of it.
    fn settle_unknown(&mut self, reads: &[Vec<OneRead<'_>>]) {
        loop {
            let before = self.committed.clone();
            for (_, reads) in reads.iter().enumerate().filter(|(reader, _)| before[*reader]) {
                for read in reads {
                    for element in read.list {
                        if let Some(writer) = self.writers.get(&(read.key, *element))
                            && self.history[*writer].outcome == Outcome::Unknown
                        {
                            self.committed[*writer] = true;
                        }
                    }
                }
            }
            if before == self.committed {
                return;
            }
        }
    }

    fn find_orders(&mut self, reads: &[Vec<OneRead<'_>>]) {
        for (reader, reads) in reads.iter().enumerate().filter(|(reader, _)| self.committed[*reader]) {
            for read in reads {
                let (key, list) = (read.key, read.others());
                let order = self.orders.entry(key).or_default();
                if list.len() > order.len() {
                    *order = list.to_vec();
                }
                if list.iter().collect::<BTreeSet<_>>().len() < list.len() {
                    let why = format!("list {key} has an element twice: {list:?}");
                    self.anomalies.push(Anomaly::new(Class::Duplicate, [reader], why));
                }
            }
        }
    }

    fn observe(&mut self, reader: usize, read: &OneRead<'_>) {
        let OneRead { statement, key, locking, list, ref own } = *read;
        let is_own = |element: &Element| self.writers.get(&(key, *element)) == Some(&reader);
        let others = read.others();
        if !list.ends_with(own) || others.iter().any(is_own) {
            let why = format!("list {key} was read as {list:?}, and this transaction itself had appended {own:?}");
            self.anomalies.push(Anomaly::new(Class::Internal, [reader], why));
            return;
        }
        if !self.orders[&key].starts_with(others) {
            let why = format!("list {key} was read as {others:?}, and grew as {:?}", self.orders[&key]);
            self.anomalies.push(Anomaly::new(Class::IncompatibleOrder, [reader], why));
            return;
        }
        for element in others {
            let (class, writer, which) = match self.writers.get(&(key, *element)) {
                None => (Class::Garbage, None, "which nobody appended"),
                Some(writer) if self.writer(key, *element).is_none() => {
                    (Class::G1a, Some(*writer), "which was taken back")
                }
                Some(_) => continue,
            };
            let why = format!("list {key} was read with {element}, {which}");
            self.anomalies.push(Anomaly::new(class, [reader].into_iter().chain(writer), why));
        }
        self.check_intermediate(reader, key, others);
        let after_own = !own.is_empty();
        let upto = others.len();
        self.observations.push(Observation { reader, statement, key, locking, after_own, upto });
    }

    /// The last element of others must be the last that its transaction appended.
    fn check_intermediate(&mut self, reader: usize, key: Key, others: &[Element]) {
        let Some(last) = others.last() else { return };
        let Some(writer) = self.writer(key, *last) else { return };
        if self.kept[writer][&key].last() != Some(last) {
            let why = format!("list {key} was read up to {last}, which is not its writer's last append");
            self.anomalies.push(Anomaly::new(Class::G1b, [reader, writer], why));
        }
    }

    /// What was acknowledged and is in no order, although somebody has read the list who had to see it.
    fn find_lost(&mut self) {
        let mut fresh: BTreeMap<Key, (u64, usize)> = BTreeMap::new();
        for one in &self.observations {
            let moment = self.history[one.reader].fresh.unwrap_or(0);
            let newest = fresh.entry(one.key).or_default();
            *newest = (*newest).max((moment, one.reader));
        }
        for (writer, transaction) in self.history.iter().enumerate() {
            if transaction.outcome != Outcome::Committed {
                continue;
            }
            for (key, list) in &self.kept[writer] {
                let order = self.orders.get(key).map_or(&[][..], Vec::as_slice);
                let Some((moment, reader)) = fresh.get(key) else { continue };
                if let Some(element) = list.iter().find(|element| !order.contains(element))
                    && transaction.ended < *moment
                {
                    let why = format!("{element} was appended to {key} and acknowledged, and is not there");
                    self.anomalies.push(Anomaly::new(Class::Lost, [writer, *reader], why));
                }
            }
        }
    }
}
