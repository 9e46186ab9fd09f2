//! [`IndexTree`]: the keys of one index with their versions, in order.
//!
//! A `BTreeMap` with short keys inside its nodes: cache misses are what an install costs, and a tree with wide nodes has
//! half of a skip list's. One lock per index; it is held for one key, or for one chunk of a scan.
//!
//! Such a map does not know how many keys are in a range, and cannot give its n-th one. So some keys are *marked* as they come, each with
//! the same chance, which is halved when there are too many marks: what the planner asks of a large tree is asked of its marks
//! ([`marks`](super::marks)).

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::Bound;
use std::sync::atomic::{AtomicU64, Ordering};

use base::CommitNumber;
use bytes::Bytes;
use parking_lot::{Mutex, RwLock};
use store::Draw;

use super::chain::{Chain, Version};
use super::key::Key;
use super::marks::Marks;
use super::stamp::{StampState, VersionStamp};
use crate::read::Selector;

/// What a key takes beside its bytes: nodes are two thirds full, and the allocator rounds them up by a tenth.
const KEY_OVERHEAD_BYTES: usize = (size_of::<Key>() + size_of::<Chain>()) * 5 / 3;
/// What a version takes beside its value, with what counts the value's readers.
const VERSION_OVERHEAD_BYTES: usize = size_of::<Version>() + 32;

/// A tree with more keys is not walked to draw some of them.
const WALKED_KEYS_MAX: usize = 4096;

/// A chain is pruned when it has grown to this, or twice this, or four times this …: a hot row under a long read view, of
/// which nothing can be pruned, is not looked through at each install.
const PRUNE_VERSIONS_MIN: usize = 4;

/// The newest version of a key, as the holder of its lock sees it.
#[derive(Clone, Debug)]
pub(crate) struct Newest {
    /// `None`: the row was deleted.
    pub(crate) value: Option<Bytes>,
    /// Its stamp, for those who must wait until it is published.
    pub(crate) stamp: VersionStamp,
}

/// Bounds of keys, borrowed.
pub(crate) type Range<'a> = (Bound<&'a [u8]>, Bound<&'a [u8]>);

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct IndexTree {
    keys: RwLock<BTreeMap<Key, Chain>>,
    /// Locked after `keys`, for a key in very many.
    marks: Mutex<Marks>,
    /// Counts installs: a scan that reads the same number before and after taking its locks has missed nothing.
    installs: AtomicU64,
}

impl IndexTree {
    /// Adds a version; the bytes by which the tree grew (or shrank, by pruning). `floor` is asked for only when the key has
    /// many versions.
    pub(crate) fn install(&self, key: &[u8], version: Version, floor: impl FnOnce() -> CommitNumber) -> isize {
        let value_bytes = version.value_bytes();
        let mut grown = (VERSION_OVERHEAD_BYTES + value_bytes) as isize;
        let mut keys = self.keys.write();
        let before = keys.len();
        match keys.entry(Key::new(key)) {
            Entry::Vacant(entry) => {
                if let Some(rank) = Marks::rank_of(before) {
                    self.marks.lock().add(entry.key(), rank);
                }
                grown += (KEY_OVERHEAD_BYTES + entry.key().heap_bytes()) as isize;
                entry.insert(Chain::One(version));
            }
            Entry::Occupied(mut entry) => {
                let chain = entry.get_mut();
                chain.install(version);
                let length = chain.versions().len();
                if length >= PRUNE_VERSIONS_MIN && length.is_power_of_two() {
                    let pruned = chain.prune(floor());
                    grown -= (pruned.versions * VERSION_OVERHEAD_BYTES + pruned.value_bytes) as isize;
                }
            }
        }
        self.installs.fetch_add(1, Ordering::Release);
        grown
    }

    /// Adds versions of ascending keys, of which nobody needs an older one; the bytes by which the tree grew. A tree that was empty is
    /// built from them as a whole, without a search per key.
    pub(crate) fn install_ascending(&self, versions: Vec<(Key, Version)>) -> isize {
        let mut keys = self.keys.write();
        if !keys.is_empty() {
            drop(keys);
            let install = |(key, version): (Key, Version)| {
                let VersionStamp::Known(number) = version.stamp else { return 0 };
                self.install(&key, version, || number)
            };
            return versions.into_iter().map(install).sum();
        }
        let bytes = |(key, version): &(Key, Version)| {
            let value_bytes = version.value_bytes();
            KEY_OVERHEAD_BYTES + key.heap_bytes() + VERSION_OVERHEAD_BYTES + value_bytes
        };
        let grown: usize = versions.iter().map(bytes).sum();
        {
            let mut marks = self.marks.lock();
            for (number, (key, _)) in versions.iter().enumerate() {
                Marks::rank_of(number).into_iter().for_each(|rank| marks.add(key, rank));
            }
        }
        *keys = versions.into_iter().map(|(key, version)| (key, Chain::One(version))).collect();
        self.installs.fetch_add(1, Ordering::Release);
        grown as isize
    }

    /// See [`Chain::visible`]; the inner `None` is a deleted row.
    pub(crate) fn get_visible(&self, key: &[u8], snapshot: CommitNumber) -> Option<Option<Bytes>> {
        self.keys.read().get(key)?.visible(snapshot).map(|version| version.value.clone())
    }

    /// See [`Chain::newest`].
    pub(crate) fn get_newest(&self, key: &[u8]) -> Option<Newest> {
        let keys = self.keys.read();
        let version = keys.get(key)?.newest()?;
        Some(Newest { value: version.value.clone(), stamp: version.stamp.clone() })
    }

    /// The version of a key that is wanted.
    pub(crate) fn find(&self, key: &[u8], selector: Selector) -> Option<Newest> {
        let keys = self.keys.read();
        let version = selector.select(keys.get(key)?)?;
        Some(Newest { value: version.value.clone(), stamp: version.stamp.clone() })
    }

    /// Number of installs so far.
    pub(crate) fn installs(&self) -> u64 {
        self.installs.load(Ordering::Acquire)
    }

    /// Number of keys.
    pub(crate) fn len(&self) -> usize {
        self.keys.read().len()
    }

    /// Whether a range has a key, of whatever version.
    pub(crate) fn has_any(&self, range: Range<'_>) -> bool {
        !is_empty(range) && self.keys.read().range::<[u8], _>(range).next().is_some()
    }

    /// Calls `visit` for the chains of a range in order until it says stop (false) or the range ends; true if it ended.
    pub(crate) fn walk(&self, range: Range<'_>, backward: bool, mut visit: impl FnMut(&Key, &Chain) -> bool) -> bool {
        if is_empty(range) {
            return true;
        }
        let keys = self.keys.read();
        let mut entries = keys.range::<[u8], _>(range);
        loop {
            let next = if backward { entries.next_back() } else { entries.next() };
            match next {
                None => return true,
                Some((key, chain)) if !visit(key, chain) => return false,
                Some(_) => {}
            }
        }
    }

    /// About how many keys with a value a range has. Up to `exact` keys are looked at; the others are estimated from the marks.
    pub(crate) fn count(&self, range: Range<'_>, exact: usize) -> usize {
        let (mut keys, mut rows) = (0, 0);
        let ended = self.walk(range, false, |_, chain| {
            keys += 1;
            rows += usize::from(chain.newest().is_some_and(|version| version.value.is_some()));
            keys < exact
        });
        if ended || is_empty(range) {
            return rows;
        }
        let all = self.marks.lock().count(range).clamp(keys, self.len());
        (all as f64 * rows as f64 / keys as f64) as usize
    }

    /// Some of the keys, at most `count`, each drawn with the same chance, ascending.
    pub(crate) fn some_keys(&self, count: usize, draw: &mut Draw) -> Vec<Key> {
        let keys = self.keys.read();
        if keys.len() > WALKED_KEYS_MAX {
            drop(keys);
            return self.marks.lock().some(count, draw);
        }
        let places = draw.ascending(count, keys.len() as u64);
        let mut found = Vec::with_capacity(places.len());
        let (mut rest, mut at) = (keys.keys(), 0);
        let mut key = rest.next();
        for place in places {
            while at < place {
                (key, at) = (rest.next(), at + 1);
            }
            found.extend(key.cloned());
        }
        found
    }

    /// Moves the versions above `upto` into `newer`, where they belong before what is there. Gives bytes moved.
    pub(crate) fn copy_later(&self, upto: CommitNumber, key: &Key, chain: &Chain, newer: &IndexTree) -> isize {
        let later = chain.versions().iter().filter_map(|version| match version.stamp.state() {
            StampState::Committed(number) if number > upto => {
                Some(Version { stamp: VersionStamp::Known(number), value: version.value.clone() })
            }
            _ => None,
        });
        later.map(|version| newer.install(key, version, || CommitNumber(0))).sum()
    }
}

/// `BTreeMap::range` panics on ranges that are upside down.
fn is_empty(range: Range<'_>) -> bool {
    match range {
        (Bound::Unbounded, _) | (_, Bound::Unbounded) => false,
        (Bound::Included(low), Bound::Included(high)) => low > high,
        (Bound::Included(low) | Bound::Excluded(low), Bound::Included(high) | Bound::Excluded(high)) => low >= high,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hot_row_under_an_old_view_is_seldom_looked_through() {
        let tree = IndexTree::default();
        let mut asked = 0;
        for number in 1..=10_000 {
            let version = Version { stamp: VersionStamp::Known(CommitNumber(number)), value: None };
            let floor = || {
                asked += 1;
                CommitNumber(0)
            };
            tree.install(b"k", version, floor);
        }
        assert!(asked <= 14, "{asked}");
        // The view is gone: one look, and it is short again.
        for number in 10_001..20_000 {
            let version = Version { stamp: VersionStamp::Known(CommitNumber(number)), value: None };
            tree.install(b"k", version, || CommitNumber(number - 1));
        }
        let mut longest = 0;
        tree.walk((Bound::Unbounded, Bound::Unbounded), false, |_, chain| {
            longest = chain.versions().len();
            true
        });
        assert!(longest <= 4, "{longest}");
    }
}
