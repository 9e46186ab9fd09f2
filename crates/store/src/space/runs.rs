//! Free pages as runs of neighbours, found by place and by size.

use std::collections::{BTreeMap, BTreeSet};

/// Neighbouring pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Run {
    /// Number of the first page.
    pub(crate) start: u64,
    /// How many.
    pub(crate) len: u64,
}

impl Run {
    pub(crate) fn new(start: u64, len: u64) -> Self {
        Run { start, len }
    }

    /// The page after the last one.
    pub(crate) fn end(self) -> u64 {
        self.start + self.len
    }
}

/// Adds pages to a list of runs; one that continues the last run makes it longer.
pub(crate) fn append(runs: &mut Vec<Run>, run: Run) {
    match runs.last_mut() {
        Some(last) if last.end() == run.start => last.len += run.len,
        _ => runs.push(run),
    }
}

/// A set of pages, as runs that never touch each other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Runs {
    by_start: BTreeMap<u64, u64>,
    /// (power of two of the length, start).
    by_size: BTreeSet<(u32, u64)>,
    pages: u64,
}

impl Runs {
    /// Number of pages.
    pub(crate) fn pages(&self) -> u64 {
        self.pages
    }

    /// The runs, by place.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = Run> {
        self.by_start.iter().map(|(&start, &len)| Run { start, len })
    }

    /// Adds pages that are not in it.
    ///
    /// # Panics
    /// If one of them is: a page freed twice would be given to two owners.
    pub(crate) fn insert(&mut self, run: Run) {
        if run.len == 0 {
            return;
        }
        self.pages += run.len;
        let mut whole = run;
        if let Some((&start, &len)) = self.by_start.range(..=run.start).next_back() {
            assert!(start + len <= run.start, "page {} is freed twice", run.start);
            if start + len == run.start {
                self.take_out(Run { start, len });
                whole = Run { start, len: len + run.len };
            }
        }
        if let Some((&start, &len)) = self.by_start.range(run.start..).next() {
            assert!(run.end() <= start, "page {start} is freed twice");
            if start == run.end() {
                self.take_out(Run { start, len });
                whole.len += len;
            }
        }
        self.put_in(whole);
    }

    /// Takes up to `most` neighbouring pages: of the long runs the one nearest to the file's beginning, so that its
    /// end can become free.
    pub(crate) fn take(&mut self, most: u64) -> Option<Run> {
        let wanted = class_of(most);
        let nearest = |class: u32| self.by_size.range((class, 0)..(class + 1, 0)).next().map(|&(_, start)| start);
        let long = (wanted..u64::BITS).filter_map(nearest).min();
        let start = long.or_else(|| self.by_size.iter().next_back().map(|&(class, _)| class).and_then(nearest))?;
        Some(self.take_at(start, most))
    }

    /// Takes exactly `len` neighbouring pages, if there are so many.
    pub(crate) fn take_exactly(&mut self, len: u64) -> Option<Run> {
        let fits = |&&(_, start): &&(u32, u64)| self.by_start[&start] >= len;
        let start = self.by_size.range((class_of(len), 0)..).find(fits).map(|&(_, start)| start)?;
        Some(self.take_at(start, len))
    }

    /// Takes the run that ends the file but for `slack` pages, if it has at least so many and more than that.
    pub(crate) fn take_tail(&mut self, file_pages: u64, least: u64, slack: u64) -> Option<Run> {
        let (&start, &len) = self.by_start.iter().next_back()?;
        if start + len != file_pages || len < least || len <= slack {
            return None;
        }
        self.take_out(Run { start, len });
        self.put_in(Run { start, len: slack });
        self.pages -= len - slack;
        Some(Run { start: start + slack, len: len - slack })
    }

    fn take_at(&mut self, start: u64, most: u64) -> Run {
        let len = self.by_start[&start];
        let taken = len.min(most);
        self.take_out(Run { start, len });
        self.put_in(Run { start: start + taken, len: len - taken });
        self.pages -= taken;
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

fn class_of(len: u64) -> u32 {
    len.max(1).ilog2()
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
        assert_eq!(runs.take(32), Some(Run::new(100, 32)));
        assert_eq!(runs.take(32), Some(Run::new(132, 8)));
        assert_eq!(runs.take_exactly(4), None);
        assert_eq!(runs.take_exactly(3), Some(Run::new(10, 3)));
        assert_eq!(runs.take_tail(31, 2, 0), None);
        assert_eq!(runs.take_tail(31, 1, 0), Some(Run::new(30, 1)));
        assert_eq!((runs.take(1), runs.pages()), (None, 0));
    }

    #[test]
    #[should_panic(expected = "freed twice")]
    fn a_page_is_not_freed_twice() {
        let mut runs = Runs::default();
        runs.insert(Run::new(5, 10));
        runs.insert(Run::new(14, 1));
    }
}
