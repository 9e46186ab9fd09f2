//! Interval lengths: what a log says of how much of it can be executed at once.
//!
//! A transaction may begin when all up to its `last_committed` are done, so that as many as its interval is long, `sequence_number` less
//! `last_committed`, can be under way together. An applier that begins transactions in their order begins none before one in front of it,
//! though: the *modified* interval begins at the highest `last_committed` of the file so far. The average of its lengths (AMIL), and the size
//! of groups of commits that would give the same average, are how Jean-François Gagné's tutorial on MySQL's parallel replication measures how
//! parallel a source was.

use std::sync::atomic::{AtomicU64, Ordering};

/// The modified lengths of a log's intervals, in its order.
#[derive(Clone, Copy, Debug, Default)]
pub struct ModifiedIntervals {
    last_committed_max: u64,
}

impl ModifiedIntervals {
    /// Numbers begin anew.
    pub fn begin_file(&mut self) {
        self.last_committed_max = 0;
    }

    /// The length of the next transaction's.
    pub fn next(&mut self, last_committed: u64, sequence_number: u64) -> u64 {
        self.last_committed_max = self.last_committed_max.max(last_committed);
        sequence_number.saturating_sub(self.last_committed_max)
    }
}

/// Counts intervals; any number of threads may.
#[derive(Debug, Default)]
pub struct IntervalCounters {
    count: AtomicU64,
    lengths: AtomicU64,
}

impl IntervalCounters {
    /// Counts one.
    pub fn add(&self, length: u64) {
        self.count.fetch_add(1, Ordering::Relaxed);
        self.lengths.fetch_add(length, Ordering::Relaxed);
    }

    /// All so far.
    pub fn figures(&self) -> IntervalFigures {
        IntervalFigures { count: self.count.load(Ordering::Relaxed), lengths: self.lengths.load(Ordering::Relaxed) }
    }
}

/// Intervals, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IntervalFigures {
    /// How many.
    pub count: u64,
    /// The sum of their modified lengths.
    pub lengths: u64,
}

impl IntervalFigures {
    /// The average modified interval length (AMIL); `None` without intervals.
    pub fn average(&self) -> Option<f64> {
        (self.count > 0).then(|| self.lengths as f64 / self.count as f64)
    }

    /// The size of groups of commits that would give that average: in a group of n the lengths are 1 to n.
    pub fn pseudo_group_size(&self) -> Option<f64> {
        self.average().map(|average| 2.0 * average - 1.0)
    }
}

impl std::ops::AddAssign for IntervalFigures {
    fn add_assign(&mut self, other: Self) {
        self.count += other.count;
        self.lengths += other.lengths;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Groups of four commits, of which each depends on the last of the group before it.
    #[test]
    fn groups_of_four() {
        let (mut intervals, counters) = (ModifiedIntervals::default(), IntervalCounters::default());
        assert_eq!(counters.figures().average(), None);
        for sequence_number in 1..=40 {
            counters.add(intervals.next((sequence_number - 1) / 4 * 4, sequence_number));
        }
        let figures = counters.figures();
        assert_eq!(figures, IntervalFigures { count: 40, lengths: 100 });
        assert_eq!((figures.average(), figures.pseudo_group_size()), (Some(2.5), Some(4.0)));
    }

    #[test]
    fn nothing_begins_before_what_is_in_front_of_it() {
        let mut intervals = ModifiedIntervals::default();
        let lengths = [(0, 1), (0, 2), (1, 3), (0, 4), (1, 5)].map(|(last, number)| intervals.next(last, number));
        assert_eq!(lengths, [1, 2, 2, 3, 4]);
        intervals.begin_file();
        assert_eq!(intervals.next(0, 1), 1);
    }
}
