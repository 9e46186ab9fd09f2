//! Some keys of a tree, each kept with the same chance: a sample, where looking at all of them would take too long.
//!
//! Each key that joins has a *rank* that is made from how many came before it: half of the keys have at least rank 1, a quarter at least 2, and
//! so on. Keys of [`Marks::lowest`] and above are marks, so a mark stands for `2^lowest` keys; at [`MARKS_MAX`] the lowest rank goes.
//!
//! # Invariant
//! Whether a key is a mark does not depend on the key.

use std::collections::BTreeMap;

use store::{Draw, mix};

use super::key::Key;
use super::tree::Range;

/// A mark in 64 keys at first: the smallest trees that are asked for marks have as many as a sample takes.
const FIRST_RANK: u32 = 6;
/// Marks of one tree.
const MARKS_MAX: usize = 2048;

/// See the module.
#[derive(Debug)]
pub(super) struct Marks {
    keys: BTreeMap<Key, u32>,
    lowest: u32,
}

impl Default for Marks {
    fn default() -> Self {
        Marks { keys: BTreeMap::new(), lowest: FIRST_RANK }
    }
}

impl Marks {
    /// The rank of a key before which so many came, if it may be a mark.
    pub(super) fn rank_of(before: usize) -> Option<u32> {
        let rank = mix(before as u64).trailing_zeros();
        (rank >= FIRST_RANK).then_some(rank)
    }

    /// A key of that rank joins the tree.
    pub(super) fn add(&mut self, key: &Key, rank: u32) {
        if rank < self.lowest {
            return;
        }
        self.keys.insert(key.clone(), rank);
        if self.keys.len() > MARKS_MAX {
            self.lowest += 1;
            let lowest = self.lowest;
            self.keys.retain(|_, rank| *rank >= lowest);
        }
    }

    /// About how many keys of the tree are in a range.
    pub(super) fn count(&self, range: Range<'_>) -> usize {
        self.keys.range::<[u8], _>(range).count() << self.lowest
    }

    /// Some keys of the tree, at most `count`, ascending.
    pub(super) fn some(&self, count: usize, draw: &mut Draw) -> Vec<Key> {
        let mut left = self.keys.len();
        let mut wanted = count.min(left);
        let mut found = Vec::with_capacity(wanted);
        for key in self.keys.keys() {
            if wanted == 0 {
                break;
            }
            if draw.below(left as u64) < wanted as u64 {
                found.push(key.clone());
                wanted -= 1;
            }
            left -= 1;
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Bound;

    use super::*;

    #[test]
    fn marks_stand_for_all_keys_and_are_bounded() {
        let mut marks = Marks::default();
        const KEYS: usize = 1_000_000;
        for number in 0..KEYS {
            if let Some(rank) = Marks::rank_of(number) {
                marks.add(&Key::new(&(number as u32).to_be_bytes()), rank);
            }
        }
        assert!(marks.keys.len() <= MARKS_MAX && marks.keys.len() > MARKS_MAX / 4);
        let bound = (KEYS as u32 / 4).to_be_bytes();
        let quarter = marks.count((Bound::Unbounded, Bound::Excluded(&bound[..])));
        let off = quarter as f64 / (KEYS as f64 / 4.0);
        assert!((0.8..1.25).contains(&off), "{quarter}");
        let some = marks.some(100, &mut Draw::new(1));
        assert_eq!(some.len(), 100);
        let below = some.iter().filter(|key| key.as_slice() < &bound[..]).count();
        assert!((10..=40).contains(&below), "{below} of 100 in the first quarter");
    }
}
