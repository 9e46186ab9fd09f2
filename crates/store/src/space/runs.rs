//! Free blocks as runs of neighbours, found by place and by size.

use std::collections::{BTreeMap, BTreeSet};

/// Neighbouring blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Run {
    /// Number of the first block.
    pub(crate) start: u64,
    /// How many.
    pub(crate) len: u64,
}

impl Run {
    pub(crate) fn new(start: u64, len: u64) -> Self {
        Run { start, len }
    }

    /// The block after the last one.
    pub(crate) fn end(self) -> u64 {
        self.start + self.len
    }
}

/// Adds blocks to a list of runs; one that continues the last run makes it longer.
pub(crate) fn append(runs: &mut Vec<Run>, run: Run) {
    match runs.last_mut() {
        Some(last) if last.end() == run.start => last.len += run.len,
        _ => runs.push(run),
    }
}

/// A set of blocks, as runs that never touch each other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Runs {
    by_start: BTreeMap<u64, u64>,
    /// (class of the length, start).
    by_size: BTreeSet<(u32, u64)>,
    blocks: u64,
}

impl Runs {
    /// Number of blocks.
    pub(crate) fn blocks(&self) -> u64 {
        self.blocks
    }

    /// The runs, by place.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = Run> {
        self.by_start.iter().map(|(&start, &len)| Run { start, len })
    }

    /// Adds blocks that are not in it.
    ///
    /// # Panics
    /// If one of them is: a block freed twice would be given to two owners.
    pub(crate) fn insert(&mut self, run: Run) {
        if run.len == 0 {
            return;
        }
        self.blocks += run.len;
        let mut whole = run;
        if let Some((&start, &len)) = self.by_start.range(..=run.start).next_back() {
            assert!(start + len <= run.start, "block {} is freed twice", run.start);
            if start + len == run.start {
                self.take_out(Run { start, len });
                whole = Run { start, len: len + run.len };
            }
        }
        if let Some((&start, &len)) = self.by_start.range(run.start..).next() {
            assert!(run.end() <= start, "block {start} is freed twice");
            if start == run.end() {
                self.take_out(Run { start, len });
                whole.len += len;
            }
        }
        self.put_in(whole);
    }

    /// Takes up to `most` neighbouring blocks, at least `least` of them (up to 4): of the long runs the one nearest to the
    /// file's beginning, so that its end can become free. If there are none, of the longest; but once those are short too,
    /// who can do with less than a whole page takes what fits, and leaves the others to pages that cannot.
    pub(crate) fn take(&mut self, least: u64, most: u64) -> Option<Run> {
        debug_assert!(least <= EXACT_MAX && least <= most);
        let nearest = |class: u32| self.by_size.range((class, 0)..(class + 1, 0)).next().map(|&(_, start)| start);
        let long = (class_of(most)..=CLASS_MAX).filter_map(nearest).min();
        let start = long.or_else(|| {
            let &(largest, _) = self.by_size.last()?;
            let class = if largest < class_of(SHORT) && least < EXACT_MAX {
                self.by_size.range((class_of(least), 0)..).next()?.0
            } else {
                largest
            };
            Some(class).filter(|&class| class >= class_of(least)).and_then(nearest)
        })?;
        Some(self.take_at(start, most))
    }

    /// Takes exactly `len` neighbouring blocks, if there are so many.
    pub(crate) fn take_exactly(&mut self, len: u64) -> Option<Run> {
        let fits = |&&(_, start): &&(u32, u64)| self.by_start[&start] >= len;
        let start = self.by_size.range((class_of(len), 0)..).find(fits).map(|&(_, start)| start)?;
        Some(self.take_at(start, len))
    }

    /// Takes the run that ends the file but for `slack` blocks, if it has at least so many and more than that.
    pub(crate) fn take_tail(&mut self, file_blocks: u64, least: u64, slack: u64) -> Option<Run> {
        let (&start, &len) = self.by_start.iter().next_back()?;
        if start + len != file_blocks || len < least || len <= slack {
            return None;
        }
        self.take_out(Run { start, len });
        self.put_in(Run { start, len: slack });
        self.blocks -= len - slack;
        Some(Run { start: start + slack, len: len - slack })
    }

    fn take_at(&mut self, start: u64, most: u64) -> Run {
        let len = self.by_start[&start];
        let taken = len.min(most);
        self.take_out(Run { start, len });
        self.put_in(Run { start: start + taken, len: len - taken });
        self.blocks -= taken;
        Run { start, len: taken }
    }

    fn put_in(&mut self, run: Run) {
        if run.len > 0 {
            self.by_start.insert(run.start, run.len);
            self.by_size.insert((class_of(run.len), run.start));
        }
    }

    fn take_out(&mut self, run: Run) {
        self.by_start.remove(&run.start);
        self.by_size.remove(&(class_of(run.len), run.start));
    }
}

/// Lengths up to this have classes of their own, so that all runs of the class of one, and above, are as long.
const EXACT_MAX: u64 = 4;
/// Runs shorter than this are short (64 KiB).
const SHORT: u64 = 16;
const CLASS_MAX: u32 = u64::BITS;

/// The class of a length: 0 for 1, 1 for 2, 2 for 3, 3 for 4 to 7, and one more for twice as much.
fn class_of(len: u64) -> u32 {
    if len < EXACT_MAX { len.max(1) as u32 - 1 } else { len.ilog2() + 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_join_and_long_runs_go_first() {
        let mut runs = Runs::default();
        for start in [10, 30, 12, 11] {
            runs.insert(Run::new(start, 1));
        }
        runs.insert(Run::new(100, 40));
        assert_eq!(runs.iter().collect::<Vec<_>>(), [Run::new(10, 3), Run::new(30, 1), Run::new(100, 40)]);
        assert_eq!(runs.take(4, 32), Some(Run::new(100, 32)));
        assert_eq!(runs.take(4, 32), Some(Run::new(132, 8)));
        assert_eq!(runs.take(4, 32), None);
        assert_eq!(runs.take_exactly(4), None);
        assert_eq!(runs.take_exactly(3), Some(Run::new(10, 3)));
        assert_eq!(runs.take_tail(31, 2, 0), None);
        assert_eq!(runs.take_tail(31, 1, 0), Some(Run::new(30, 1)));
        assert_eq!((runs.take(1, 1), runs.blocks()), (None, 0));
    }

    #[test]
    fn short_runs_go_to_who_fits_in() {
        let mut runs = Runs::default();
        for (start, len) in [(10, 7), (20, 2), (30, 1), (40, 3), (50, 5)] {
            runs.insert(Run::new(start, len));
        }
        assert_eq!(runs.take(2, 256), Some(Run::new(20, 2)));
        assert_eq!(runs.take(2, 256), Some(Run::new(40, 3)));
        assert_eq!(runs.take(1, 256), Some(Run::new(30, 1)));
        assert_eq!(runs.take(3, 256), Some(Run::new(10, 7)));
        runs.insert(Run::new(60, 1));
        assert_eq!(runs.take(4, 256), Some(Run::new(50, 5)));
        assert_eq!((runs.take(2, 256), runs.take(1, 256)), (None, Some(Run::new(60, 1))));
    }

    #[test]
    #[should_panic(expected = "freed twice")]
    fn a_page_is_not_freed_twice() {
        let mut runs = Runs::default();
        runs.insert(Run::new(5, 10));
        runs.insert(Run::new(14, 1));
    }
}
