//! What can be wrong with a history, by Adya's names.

use std::fmt::Write as _;

use super::history::Transaction;

/// A kind of anomaly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// A list with an element that nobody appended.
    Garbage,
    /// A list with an element twice.
    Duplicate,
    /// Two reads of a list of which neither is the beginning of the other.
    IncompatibleOrder,
    /// A transaction that does not see what it has appended itself, or sees what it has taken back.
    Internal,
    /// An acknowledged append that is not there.
    Lost,
    /// Dirty write: a cycle of writes over writes.
    G0,
    /// Aborted read.
    G1a,
    /// Intermediate read.
    G1b,
    /// Circular information flow: a cycle of writes and reads of them.
    G1c,
    /// Two transactions read the same version of a list and both append to it.
    LostUpdate,
    /// Read skew: a cycle with one read of what another then overwrote.
    GSingle,
    /// Write skew: a cycle with several of those.
    G2Item,
}

impl Class {
    /// Whether a level of isolation has nothing to say about it: it must never be.
    pub fn is_never_allowed(self) -> bool {
        !matches!(self, Class::LostUpdate | Class::GSingle | Class::G2Item)
    }
}

/// One of them, found.
#[derive(Clone, Debug)]
pub(crate) struct Anomaly {
    pub(crate) class: Class,
    /// Numbers in the history.
    pub(crate) transactions: Vec<usize>,
    why: String,
}

impl Anomaly {
    pub(super) fn new(class: Class, transactions: impl IntoIterator<Item = usize>, why: String) -> Self {
        let mut all: Vec<usize> = transactions.into_iter().collect();
        all.sort_unstable();
        all.dedup();
        Anomaly { class, transactions: all, why }
    }

    /// For people: what it is, why, and the transactions.
    pub(crate) fn describe(&self, history: &[Transaction]) -> String {
        let mut text = format!("{:?}: {}", self.class, self.why);
        for number in &self.transactions {
            let _ = write!(text, "\n  T{number}: {}", history[*number]);
        }
        text
    }
}
