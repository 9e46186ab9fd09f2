//! The most of something, in bounded memory.

use std::collections::HashMap;

/// Keeps those with the highest values.
#[derive(Clone, Debug)]
pub(crate) struct Highest<T> {
    max: usize,
    /// Falling.
    entries: Vec<(u64, T)>,
}

impl<T> Highest<T> {
    pub(crate) fn new(max: usize) -> Self {
        Highest { max, entries: Vec::new() }
    }

    pub(crate) fn add(&mut self, value: u64, entry: impl FnOnce() -> T) {
        if value == 0 || (self.entries.len() == self.max && self.entries.last().is_some_and(|last| last.0 >= value)) {
            return;
        }
        let at = self.entries.partition_point(|(other, _)| *other >= value);
        self.entries.insert(at, (value, entry()));
        self.entries.truncate(self.max);
    }

    pub(crate) fn entries(&self) -> &[(u64, T)] {
        &self.entries
    }
}

/// Counts what comes often, by the Space-Saving algorithm (Metwally, Agrawal, El Abbadi 2005): what comes more often than one in
/// `max` is in it, and a count is too high by at most its error.
#[derive(Clone, Debug)]
pub(crate) struct Frequent<T> {
    max: usize,
    /// No count of what was forgotten is above this.
    floor: u64,
    counts: HashMap<u64, Counted<T>>,
}

/// A count, how much of it may be others', and what is counted.
#[derive(Clone, Debug)]
pub(crate) struct Counted<T> {
    pub(crate) count: u64,
    pub(crate) error: u64,
    pub(crate) what: T,
}

impl<T> Frequent<T> {
    pub(crate) fn new(max: usize) -> Self {
        Frequent { max, floor: 0, counts: HashMap::with_capacity(2 * max) }
    }

    pub(crate) fn add(&mut self, key: u64, what: impl FnOnce() -> T) {
        if let Some(counted) = self.counts.get_mut(&key) {
            counted.count += 1;
            return;
        }
        if self.counts.len() == 2 * self.max {
            self.forget();
        }
        let error = self.floor;
        self.counts.insert(key, Counted { count: error + 1, error, what: what() });
    }

    /// The lower half goes, at once: looking for the lowest each time would cost a search per row.
    fn forget(&mut self) {
        // Equal counts are told by their keys, so that the same log gives the same rows.
        let mut counts: Vec<_> = self.counts.iter().map(|(&key, counted)| (counted.count, key)).collect();
        let middle = counts.len() / 2;
        let (_, &mut last, _) = counts.select_nth_unstable(middle);
        self.counts.retain(|&key, counted| (counted.count, key) > last);
        self.floor = last.0;
    }

    /// The `n` highest, falling.
    pub(crate) fn highest(&self, n: usize) -> Vec<&Counted<T>> {
        let mut all: Vec<_> = self.counts.iter().collect();
        all.sort_by_key(|(key, counted)| (std::cmp::Reverse(counted.count), **key));
        all.into_iter().take(n).map(|(_, counted)| counted).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_often_is_found() {
        let mut frequent = Frequent::new(10);
        for n in 0..10_000u64 {
            frequent.add(n + 1000, || n);
            if n % 5 == 0 {
                frequent.add(7, || 7);
            }
        }
        let top = frequent.highest(1)[0];
        assert_eq!(top.what, 7);
        assert!(top.count - top.error <= 2000 && 2000 <= top.count, "{top:?}");
        assert!(frequent.counts.len() <= 20);
    }

    #[test]
    fn the_highest_stay() {
        let mut highest = Highest::new(3);
        for value in [5, 1, 9, 0, 7, 9] {
            highest.add(value, || value);
        }
        assert_eq!(highest.entries().iter().map(|(value, _)| *value).collect::<Vec<_>>(), [9, 9, 7]);
    }
}
