//! What parallel execution has done, and what has kept it from being parallel.

use std::sync::atomic::{AtomicU64, Ordering};

use sql::services::Parallelism;

/// Why a transaction was not begun beside those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Barrier {
    /// It is not of rows alone: a statement, XA, LOAD DATA.
    Statement,
    /// It defines tables.
    Definition,
    /// It is too large to be begun again and again.
    Large,
    /// Its source says that it is not worth a try, or not allowed.
    Hint,
    /// Out of order, which rows it changes is not known.
    UnknownRows,
}

impl Barrier {
    const ALL: [(Barrier, &'static str); 5] = [
        (Barrier::Statement, "STATEMENT"),
        (Barrier::Definition, "DEFINITION"),
        (Barrier::Large, "LARGE TRANSACTION"),
        (Barrier::Hint, "SOURCE HINT"),
        (Barrier::UnknownRows, "UNKNOWN ROWS"),
    ];
}

/// Of transactions that were executed beside others, since the server started.
#[derive(Debug, Default)]
pub(crate) struct ParallelCounters {
    transactions: AtomicU64,
    waited_for_order: AtomicU64,
    in_the_way: AtomicU64,
    too_early: AtomicU64,
    barriers: [AtomicU64; Barrier::ALL.len()],
}

fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

impl ParallelCounters {
    /// One has its place.
    pub(crate) fn executed(&self) {
        count(&self.transactions);
    }

    /// One was executed, and waits for its turn.
    pub(crate) fn waits_for_order(&self) {
        count(&self.waited_for_order);
    }

    /// One begins again because one before it waited for what it held.
    pub(crate) fn in_the_way(&self) {
        count(&self.in_the_way);
    }

    /// One will begin again in its turn, because of an error that may be none then.
    pub(crate) fn too_early(&self) {
        count(&self.too_early);
    }

    /// One is not begun beside those before it.
    pub(crate) fn barrier(&self, why: Barrier) {
        count(&self.barriers[why as usize]);
    }

    /// Adds all of it to what is known of the source.
    pub(crate) fn figures(&self, source: Parallelism) -> Parallelism {
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Parallelism {
            executed_beside_others: of(&self.transactions),
            waited_for_order: of(&self.waited_for_order),
            in_the_way: of(&self.in_the_way),
            too_early: of(&self.too_early),
            barriers: Barrier::ALL.iter().map(|(why, text)| (*text, of(&self.barriers[*why as usize]))).collect(),
            ..source
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_counted_apart() {
        let counters = ParallelCounters::default();
        for (times, (why, _)) in (1..).zip(Barrier::ALL) {
            (0..times).for_each(|_| counters.barrier(why));
        }
        let shown = counters.figures(Parallelism::default()).barriers;
        let expected: Vec<_> = Barrier::ALL.iter().zip(1..).map(|((_, text), times)| (*text, times)).collect();
        assert_eq!(shown, expected);
    }
}
