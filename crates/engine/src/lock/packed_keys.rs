//! Sorted keys in little memory: the pending inserts of owners that have very many.
//!
//! A [`KeyRun`] is two large pieces of memory: the keys, each as what differs from the one before it, and where each block of
//! [`BLOCK_KEYS`] of them begins, which is with a whole key. Keys of one index are alike, and neighbours the more: ascending integers take
//! three bytes each, random ones of 16 bytes about as many.
//!
//! ```text
//!   block   | 0, 8, "00000040" | 7, 1, "1" | 7, 1, "2" | …     shared with the one before, own bytes, these
//! ```
//!
//! An owner has several runs per index ([`settle`]): a new one is merged with those before it as long as they are not much
//! larger, so each key is merged some few times, and memory is needed twice for two runs at most. Runs never change, so
//! they are merged outside of all locks.

use std::ops::Bound;
use std::sync::Arc;

use base::leb128;
use bytes::Bytes;

use super::packing::Pauses;

/// Keys in a block: a look-up goes through half of them.
const BLOCK_KEYS: usize = 32;
/// Runs are not merged to larger ones than this.
const RUN_BYTES_MAX: usize = 16 << 20;
/// Keys that are merged without a pause.
const KEYS_AT_ONCE: usize = 1024;

/// Keys in ascending order.
#[derive(Debug)]
pub(super) struct KeyRun {
    bytes: Box<[u8]>,
    /// Where blocks begin.
    blocks: Box<[u32]>,
    keys: usize,
}

impl KeyRun {
    /// From keys in ascending order; of equal ones one is kept.
    pub(super) fn new<'a>(keys: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut builder = Builder::default();
        keys.into_iter().for_each(|key| builder.push(key));
        builder.finish()
    }

    /// Number of keys.
    pub(super) fn len(&self) -> usize {
        self.keys
    }

    /// Memory of the keys.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.len() + size_of_val(&*self.blocks)
    }

    /// The first key in a range.
    pub(super) fn first_in(&self, from: Bound<&[u8]>, to: Bound<&[u8]>) -> Option<Bytes> {
        // The block before the first one that begins inside may end inside.
        let block = self.blocks.partition_point(|&at| !is_behind(self.entry(at as usize).1, from)).saturating_sub(1);
        let mut cursor = Cursor { run: self, at: *self.blocks.get(block)? as usize, key: Vec::new() };
        while let Some(key) = cursor.next() {
            if is_behind(key, from) {
                return is_before(key, to).then(|| Bytes::copy_from_slice(key));
            }
        }
        None
    }

    fn cursor(&self) -> Cursor<'_> {
        Cursor { run: self, at: 0, key: Vec::new() }
    }

    /// The entry at an offset: how much of the key before it is its beginning, its own bytes, where it ends.
    fn entry(&self, at: usize) -> (usize, &[u8], usize) {
        let (shared, at) = self.length(at);
        let (own, at) = self.length(at);
        (shared, &self.bytes[at..at + own], at + own)
    }

    fn length(&self, at: usize) -> (usize, usize) {
        let (length, size) = leb128::read(&self.bytes[at..]).expect("a builder has written it");
        (length as usize, at + size)
    }

    /// Whether all keys are before all of another's.
    fn ends_before(&self, other: &KeyRun) -> bool {
        let Some(&last) = self.blocks.last() else { return true };
        let mut cursor = Cursor { run: self, at: last as usize, key: Vec::new() };
        while cursor.next().is_some() {}
        other.cursor().next().is_none_or(|first| *cursor.key < *first)
    }

    /// The keys of a run and of one that is behind it altogether: blocks stay as they are.
    fn append(&self, behind: &KeyRun) -> KeyRun {
        let moved = behind.blocks.iter().map(|at| at + self.bytes.len() as u32);
        KeyRun {
            bytes: [&*self.bytes, &*behind.bytes].concat().into_boxed_slice(),
            blocks: self.blocks.iter().copied().chain(moved).collect(),
            keys: self.keys + behind.keys,
        }
    }

    /// The keys of both. (Ascending inserts make runs that need no look at their keys.)
    async fn merge(&self, other: &KeyRun, pauses: &mut Pauses) -> KeyRun {
        if self.ends_before(other) {
            return self.append(other);
        }
        let mut merged = Builder::default();
        merged.bytes.reserve_exact(self.bytes.len() + other.bytes.len());
        let (mut a, mut b) = (self.cursor(), other.cursor());
        let (mut in_a, mut in_b) = (a.next().is_some(), b.next().is_some());
        while in_a || in_b {
            if !in_b || in_a && a.key <= b.key {
                merged.push(&a.key);
                in_a = a.next().is_some();
            } else {
                merged.push(&b.key);
                in_b = b.next().is_some();
            }
            if merged.keys.is_multiple_of(KEYS_AT_ONCE) {
                pauses.after(KEYS_AT_ONCE).await;
            }
        }
        merged.finish()
    }
}

/// Adds a run to an owner's, and merges the last two as long as they are of one size. So there are few small ones.
pub(super) async fn settle(runs: &mut Vec<Arc<KeyRun>>, newest: KeyRun, pauses: &mut Pauses) {
    let mut last = newest;
    while let Some(before) = runs.last() {
        let (size, before_size) = (last.bytes(), before.bytes());
        if before_size > 2 * size || before_size + size > RUN_BYTES_MAX {
            break;
        }
        last = before.merge(&last, pauses).await;
        runs.pop();
    }
    runs.push(Arc::new(last));
}

fn is_behind(key: &[u8], from: Bound<&[u8]>) -> bool {
    match from {
        Bound::Included(from) => key >= from,
        Bound::Excluded(from) => key > from,
        Bound::Unbounded => true,
    }
}

fn is_before(key: &[u8], to: Bound<&[u8]>) -> bool {
    match to {
        Bound::Included(to) => key <= to,
        Bound::Excluded(to) => key < to,
        Bound::Unbounded => true,
    }
}

/// Goes through a run's keys; `key` is the one that it is at.
struct Cursor<'a> {
    run: &'a KeyRun,
    at: usize,
    key: Vec<u8>,
}

impl Cursor<'_> {
    fn next(&mut self) -> Option<&[u8]> {
        if self.at == self.run.bytes.len() {
            return None;
        }
        let (shared, own, end) = self.run.entry(self.at);
        self.key.truncate(shared);
        self.key.extend_from_slice(own);
        self.at = end;
        Some(&self.key)
    }
}

#[derive(Default)]
struct Builder {
    bytes: Vec<u8>,
    blocks: Vec<u32>,
    keys: usize,
    last: Vec<u8>,
}

impl Builder {
    fn push(&mut self, key: &[u8]) {
        if self.keys > 0 && self.last == key {
            return;
        }
        let shared = if self.keys.is_multiple_of(BLOCK_KEYS) {
            self.blocks.push(self.bytes.len() as u32);
            0
        } else {
            self.last.iter().zip(key).take_while(|(a, b)| a == b).count()
        };
        leb128::put(&mut self.bytes, shared as u64);
        leb128::put(&mut self.bytes, (key.len() - shared) as u64);
        self.bytes.extend_from_slice(&key[shared..]);
        self.last.clear();
        self.last.extend_from_slice(key);
        self.keys += 1;
    }

    fn finish(self) -> KeyRun {
        KeyRun { bytes: self.bytes.into_boxed_slice(), blocks: self.blocks.into_boxed_slice(), keys: self.keys }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use futures_lite::future::block_on;
    use proptest::prelude::*;

    use super::*;

    fn bound() -> impl Strategy<Value = Bound<Vec<u8>>> {
        prop_oneof![key().prop_map(Bound::Included), key().prop_map(Bound::Excluded), Just(Bound::Unbounded)]
    }

    /// Long and short ones, with beginnings in common.
    fn key() -> impl Strategy<Value = Vec<u8>> {
        prop_oneof![
            prop::collection::vec(0..3u8, 0..6),
            (0..500u64).prop_map(|number| number.to_be_bytes().to_vec()),
            (0..200usize, 0..3u8).prop_map(|(length, last)| [vec![7; length], vec![last]].concat()),
        ]
    }

    fn is_ordered(from: &Bound<Vec<u8>>, to: &Bound<Vec<u8>>) -> bool {
        match (from, to) {
            (Bound::Excluded(from), Bound::Excluded(to)) => from < to,
            (Bound::Included(from) | Bound::Excluded(from), Bound::Included(to) | Bound::Excluded(to)) => from <= to,
            _ => true,
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// Whatever is merged with whatever, the first key of a range is a sorted set's.
        #[test]
        fn agrees_with_a_set(
            batches in prop::collection::vec(prop::collection::btree_set(key(), 1..100), 1..8),
            ranges in prop::collection::vec((bound(), bound()), 50),
        ) {
            let mut runs = Vec::new();
            let mut paper = BTreeSet::new();
            for batch in &batches {
                let run = KeyRun::new(batch.iter().map(Vec::as_slice));
                prop_assert_eq!(run.len(), batch.len());
                block_on(settle(&mut runs, run, &mut Pauses::default()));
                paper.extend(batch.iter().cloned());
            }
            let all: BTreeSet<Vec<u8>> = runs.iter().flat_map(|run| all(run)).collect();
            prop_assert_eq!(&all, &paper);
            for (from, to) in ranges.iter().filter(|(from, to)| is_ordered(from, to)) {
                let bounds = (from.as_ref().map(Vec::as_slice), to.as_ref().map(Vec::as_slice));
                let first = runs.iter().filter_map(|run| run.first_in(bounds.0, bounds.1)).min();
                let expected = paper.range::<[u8], _>(bounds).next();
                prop_assert_eq!(first.as_deref(), expected.map(Vec::as_slice));
            }
        }
    }

    fn all(run: &KeyRun) -> Vec<Vec<u8>> {
        let mut cursor = run.cursor();
        let keys = std::iter::from_fn(|| cursor.next().map(<[u8]>::to_vec)).collect::<Vec<_>>();
        assert!(keys.is_sorted_by(|a, b| a < b));
        keys
    }

    /// Runs of one batch each: how many there are in the end, and bytes per key.
    fn pack(batches: usize, batch: impl Fn(u64) -> Vec<u8>) -> (usize, f64) {
        const KEYS: u64 = 16_384;
        let mut runs = Vec::new();
        for number in 0..batches as u64 {
            let mut keys: Vec<Vec<u8>> = (number * KEYS..(number + 1) * KEYS).map(&batch).collect();
            keys.sort_unstable();
            let run = KeyRun::new(keys.iter().map(Vec::as_slice));
            block_on(settle(&mut runs, run, &mut Pauses::default()));
        }
        let bytes: usize = runs.iter().map(|run| run.bytes()).sum();
        (runs.len(), bytes as f64 / (batches as u64 * KEYS) as f64)
    }

    #[test]
    fn keys_take_few_bytes_and_runs_are_few() {
        let ascending = pack(40, |number| number.to_be_bytes().to_vec());
        assert!(ascending.0 <= 6 && ascending.1 < 4.0, "{ascending:?}");
        let scattered = |number: u64| {
            let hash = xxhash_rust::xxh3::xxh3_128(&number.to_be_bytes());
            hash.to_be_bytes().to_vec()
        };
        let scattered = pack(40, scattered);
        assert!(scattered.0 <= 6 && scattered.1 < 17.0, "{scattered:?}");
    }
}
