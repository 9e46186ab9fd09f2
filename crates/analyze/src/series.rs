//! What happened second by second, made coarser when it gets long.

use binlog::IntervalFigures;
use serde::Serialize;

/// Seconds (or multiples of them) that are kept apart.
const SLICES_MAX: usize = 1 << 17;

/// What was committed in a slice of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Slice {
    /// Transactions.
    pub transactions: u64,
    /// Rows.
    pub rows: u64,
    /// Bytes of log.
    pub bytes: u64,
    /// Transactions with an interval.
    pub intervals: u64,
    /// Sum of the modified interval lengths.
    pub interval_sum: u64,
    /// Sum of their squares.
    pub interval_squares: u64,
}

impl Slice {
    fn add(&mut self, other: &Slice) {
        self.transactions += other.transactions;
        self.rows += other.rows;
        self.bytes += other.bytes;
        self.intervals += other.intervals;
        self.interval_sum += other.interval_sum;
        self.interval_squares = self.interval_squares.saturating_add(other.interval_squares);
    }

    pub(crate) fn figures(&self) -> IntervalFigures {
        IntervalFigures { count: self.intervals, lengths: self.interval_sum }
    }

    /// Average modified interval length; `None` without intervals.
    pub fn amil(&self) -> Option<f64> {
        self.figures().average()
    }
}

/// Slices of equal width.
#[derive(Clone, Debug, Default)]
pub(crate) struct Series {
    /// Seconds.
    width: u64,
    /// Seconds since 1970, a multiple of the width.
    start: u64,
    slices: Vec<Slice>,
}

impl Series {
    /// Adds to the slice of a second.
    pub(crate) fn add(&mut self, second: u64, what: &Slice) {
        if self.slices.is_empty() {
            (self.width, self.start) = (1, second);
        }
        while self.is_too_far(second) {
            self.widen();
        }
        let second = second - second % self.width;
        if second < self.start {
            // Clocks go back.
            let more = ((self.start - second) / self.width) as usize;
            self.slices.splice(..0, std::iter::repeat_n(Slice::default(), more));
            self.start = second;
        }
        let at = ((second - self.start) / self.width) as usize;
        if at >= self.slices.len() {
            self.slices.resize(at + 1, Slice::default());
        }
        self.slices[at].add(what);
    }

    fn is_too_far(&self, second: u64) -> bool {
        let end = self.start + self.width * self.slices.len() as u64;
        second.max(end).saturating_sub(second.min(self.start)) / self.width > SLICES_MAX as u64
    }

    fn widen(&mut self) {
        let width = 2 * self.width;
        let start = self.start - self.start % width;
        let skew = ((self.start - start) / self.width) as usize;
        let mut slices = vec![Slice::default(); (self.slices.len() + skew).div_ceil(2)];
        for (at, slice) in self.slices.iter().enumerate() {
            slices[(at + skew) / 2].add(slice);
        }
        (self.width, self.start, self.slices) = (width, start, slices);
    }

    /// Width in seconds.
    pub(crate) fn width(&self) -> u64 {
        self.width
    }

    /// Slices in which something was committed: beginning in seconds since 1970, and what.
    pub(crate) fn filled(&self) -> impl Iterator<Item = (u64, &Slice)> {
        let slices = self.slices.iter().enumerate().filter(|(_, slice)| slice.transactions > 0);
        slices.map(|(at, slice)| (self.start + at as u64 * self.width, slice))
    }

    /// All of it in at most so many slices: beginning, width in seconds, slices.
    pub(crate) fn in_slices(&self, most: usize) -> (u64, u64, Vec<Slice>) {
        let each = self.slices.len().div_ceil(most).max(1);
        let slices = self.slices.chunks(each).map(|chunk| {
            let mut sum = Slice::default();
            chunk.iter().for_each(|slice| sum.add(slice));
            sum
        });
        (self.start, self.width * each as u64, slices.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_lost_when_it_gets_coarser() {
        let one = Slice { transactions: 1, intervals: 1, interval_sum: 3, ..Slice::default() };
        let mut series = Series::default();
        for second in [1_000_000, 1_000_001, 999_000, 1_000_000 + 10 * SLICES_MAX as u64, 5] {
            series.add(second, &one);
        }
        assert!(series.slices.len() <= SLICES_MAX + 1);
        assert_eq!(series.filled().map(|(_, slice)| slice.transactions).sum::<u64>(), 5);
        let (start, width, slices) = series.in_slices(60);
        assert!(slices.len() <= 60 && start <= 5 && width * 60 >= 10 * SLICES_MAX as u64);
        assert_eq!(slices.iter().map(|slice| slice.interval_sum).sum::<u64>(), 15);
    }
}
