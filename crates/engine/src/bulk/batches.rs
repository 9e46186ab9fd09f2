//! [`Batches`]: what a memtable has of bulk writes, and making it less.
//!
//! # Model
//! ```text
//!   batches      | a1 c4 | b2 c5 | a3 c6 | …      as they came, each sorted
//!   compaction   | a3 b2 | c6 |                   of each key the newest version, in pieces of ascending keys
//! ```
//! Rows that are changed again and again take the memory of one version then, and a recovery needs fewer checkpoints, each of which
//! would rewrite most of the trees. Where keys hardly ever meet a compaction is given up after its first part, and not tried again.
//!
//! # Invariants
//! - A compaction replaces all batches that it has read, or nothing. It is given up if any of them was settled meanwhile.
//! - Nothing is lost sight of: a version is in its batch until the moment in which it is in a piece.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use base::{CommitNumber, IndexId};
use bytes::Bytes;

use super::{Batch, BulkCursor, Slot, Sorted, small};
use crate::core::Core;
use crate::error::Result;
use crate::memtable::Memtable;

/// Bytes of keys and values in a piece, unless one alone is longer.
const PIECE_BYTES: usize = 1 << 20;
/// A compaction that would leave more than this of its versions does not pay.
const LEFT_MAX: f64 = 0.85;
/// Versions after which that can be told.
const SAMPLE: u64 = 1 << 16;
/// Part of the bound that must have come since the last compaction.
const FRESH: f64 = 1.0 / 6.0;
/// Part of the bound from which on a compaction is due; before that there is no hurry.
const DUE: f64 = 0.625;
/// Part of the bound above which none is begun: what it reads and what it makes are in memory together.
const FULL: f64 = 0.7;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Batches {
    all: Vec<Arc<Batch>>,
    bytes: usize,
    /// Of these bytes, what the last compaction has left.
    compacted: usize,
    /// What it has left of what was new to it, over that.
    left: Option<f64>,
    /// So many are putting batches into the memtable's trees.
    settling: usize,
    is_compacting: bool,
    /// The last compaction did not pay.
    is_compact: bool,
}

impl Batches {
    pub(crate) fn push(&mut self, batch: Arc<Batch>) {
        self.bytes += batch.memory_bytes();
        self.all.push(batch);
    }

    pub(crate) fn all(&self) -> &[Arc<Batch>] {
        &self.all
    }

    /// Bytes of memory that they take, and will take when they are settled.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.bytes
    }

    /// What they, and so many bytes more, would take after a compaction, by what the last one has shown.
    pub(crate) fn bytes_with(&self, more: usize) -> usize {
        let fresh = (self.bytes - self.compacted + more) as f64;
        self.compacted + (fresh * self.left.unwrap_or(1.0)) as usize
    }

    /// Whether a compaction runs, or will soon be worth its while, where so many bytes are the bound.
    pub(crate) fn may_shrink(&self, bound: usize) -> bool {
        self.is_compacting || !self.is_compact && self.compacted as f64 <= (FULL - FRESH) * bound as f64
    }

    /// Whether it is time for a compaction.
    fn is_due(&self, bound: usize) -> bool {
        let (bytes, fresh) = (self.bytes as f64, (self.bytes - self.compacted) as f64);
        self.may_shrink(bound) && bytes >= DUE * bound as f64 && fresh >= FRESH * bound as f64
    }

    /// What is to be settled now. Nothing need be ended if that is nothing.
    pub(super) fn begin_settling(&mut self) -> Vec<Arc<Batch>> {
        self.settling += usize::from(!self.all.is_empty());
        self.all.clone()
    }

    /// These are in the memtable's trees. Two may settle the same ones at once.
    pub(super) fn end_settling(&mut self, batches: &[Arc<Batch>]) {
        self.settling -= 1;
        self.remove(batches);
    }

    fn begin_compaction(&mut self, bound: usize) -> Option<Vec<Arc<Batch>>> {
        if self.is_compacting || self.settling > 0 || !self.is_due(bound) {
            return None;
        }
        self.is_compacting = true;
        Some(self.all.clone())
    }

    fn end_compaction(&mut self, before: &[Arc<Batch>], after: Option<Vec<Batch>>) {
        self.is_compacting = false;
        let Some(after) = after else {
            self.is_compact = true;
            return;
        };
        if self.settling > 0 || !pointers(before).is_subset(&pointers(&self.all)) {
            return;
        }
        let bytes: usize = before.iter().map(|batch| batch.memory_bytes()).sum();
        let left: usize = after.iter().map(Batch::memory_bytes).sum();
        tracing::debug!(bytes, left, "compaction of what was installed in bulk");
        let fresh = bytes - self.compacted;
        self.remove(before);
        self.left = Some(left.saturating_sub(self.compacted) as f64 / fresh.max(1) as f64);
        self.compacted = left;
        after.into_iter().for_each(|piece| self.push(Arc::new(piece)));
    }

    fn remove(&mut self, batches: &[Arc<Batch>]) {
        let gone = pointers(batches);
        self.all.retain(|batch| !gone.contains(&Arc::as_ptr(batch)));
        self.bytes = self.all.iter().map(|batch| batch.memory_bytes()).sum();
        self.compacted = self.compacted.min(self.bytes);
    }
}

fn pointers(batches: &[Arc<Batch>]) -> HashSet<*const Batch> {
    batches.iter().map(Arc::as_ptr).collect()
}

impl Core {
    /// Makes what was installed in bulk less, if it is time for that and probably pays. Takes a while.
    pub(super) fn compact(&self, memtable: &Arc<Memtable>) -> Result<()> {
        if !Arc::ptr_eq(memtable, self.views.layers().active()) {
            // It is being merged.
            return Ok(());
        }
        let bound = self.bulk_bound();
        let Some(batches) = memtable.change_bulk(|bulk| bulk.begin_compaction(bound)) else { return Ok(()) };
        let pieces = compacted(&batches);
        let (result, pieces) = match pieces {
            Ok(pieces) => (Ok(()), pieces),
            Err(error) => (Err(error), None),
        };
        memtable.change_bulk(|bulk| bulk.end_compaction(&batches, pieces));
        self.checkpoints.room_changed();
        result
    }
}

/// Of each key the newest version, in pieces; `None` if that is nearly all of them.
fn compacted(batches: &[Arc<Batch>]) -> Result<Option<Vec<Batch>>> {
    let first = batches.iter().map(|batch| batch.first).min().unwrap_or_default();
    let last = batches.iter().map(|batch| batch.last).max().unwrap_or_default();
    let indexes: BTreeSet<IndexId> = batches.iter().flat_map(|batch| batch.indexes()).collect();
    let (mut pieces, mut piece) = (Vec::new(), Piece::default());
    let (mut passed, mut kept) = (0, 0u64);
    for index in indexes {
        let mut cursor = BulkCursor::new(batches, index);
        while let Some(pushed) = cursor.next_with(|key, value, number| piece.push(key, value, number.0 - first.0)) {
            pushed?;
            kept += 1;
            if piece.arena.len() >= PIECE_BYTES {
                pieces.push(piece.take(index, (first, last)));
                passed += cursor.take_passed();
                if passed >= SAMPLE && kept as f64 > passed as f64 * LEFT_MAX {
                    return Ok(None);
                }
            }
        }
        passed += cursor.take_passed();
        if !piece.slots.is_empty() {
            pieces.push(piece.take(index, (first, last)));
        }
    }
    Ok(Some(pieces))
}

/// Versions of one index, ascending. Its memory serves one piece after the other.
#[derive(Default)]
struct Piece {
    arena: Vec<u8>,
    slots: Vec<Slot>,
}

impl Piece {
    fn push(&mut self, key: &[u8], value: Option<&[u8]>, number: u64) -> Result<()> {
        let at = self.arena.len();
        self.arena.extend_from_slice(key);
        let value_at = value.map(|_| self.arena.len());
        self.arena.extend_from_slice(value.unwrap_or_default());
        self.slots.push(Slot::of(&self.arena, at, value_at, small(number)?)?);
        Ok(())
    }

    fn take(&mut self, index: IndexId, (first, last): (CommitNumber, CommitNumber)) -> Batch {
        let sorted = Sorted { first, slots: self.slots[..].into(), arena: Bytes::copy_from_slice(&self.arena) };
        self.arena.clear();
        self.slots.clear();
        Batch::of(first, last, vec![(index, Arc::new(sorted))])
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{batch_of, writes};
    use super::*;
    use proptest::prelude::*;

    fn contents(batches: &[Arc<Batch>]) -> Vec<(Bytes, Option<Bytes>, CommitNumber)> {
        let mut cursor = BulkCursor::new(batches, IndexId(7));
        let next = || cursor.next().map(|version| (version.key, version.value, version.number));
        std::iter::from_fn(next).collect()
    }

    proptest! {
        #[test]
        fn a_compaction_keeps_the_newest_versions(lists in prop::collection::vec(writes(), 1..6)) {
            let mut memtable = Batches::default();
            let mut first = 1;
            for list in &lists {
                let batch = batch_of(first, list);
                first = batch.last.0 + 1;
                memtable.push(Arc::new(batch));
            }
            let before = memtable.begin_compaction(0).unwrap();
            prop_assert!(memtable.begin_compaction(0).is_none(), "one at a time");
            // What comes meanwhile is not touched.
            memtable.push(Arc::new(batch_of(first, &[(0, b"meanwhile".to_vec(), None)])));
            let expected = contents(memtable.all());
            let pieces = compacted(&before).unwrap();
            memtable.end_compaction(&before, pieces);
            prop_assert_eq!(contents(memtable.all()), expected);
            prop_assert_eq!(memtable.all().len(), 2);
            let bytes: usize = memtable.all().iter().map(|batch| batch.memory_bytes()).sum();
            prop_assert_eq!(memtable.memory_bytes(), bytes);
        }
    }

    fn one() -> Batches {
        let mut batches = Batches::default();
        batches.push(Arc::new(batch_of(1, &[(0, vec![1], Some(1)), (1, vec![1], Some(2))])));
        batches
    }

    #[test]
    fn what_was_settled_meanwhile_does_not_come_back() {
        let mut batches = one();
        let compacting = batches.begin_compaction(0).unwrap();
        let pieces = compacted(&compacting).unwrap();
        let settling = batches.begin_settling();
        batches.end_settling(&settling);
        batches.end_compaction(&compacting, pieces);
        assert_eq!((batches.all().len(), batches.memory_bytes()), (0, 0));
    }

    #[test]
    fn what_is_being_settled_is_not_replaced() {
        let mut batches = one();
        let compacting = batches.begin_compaction(0).unwrap();
        let pieces = compacted(&compacting).unwrap();
        let settling = batches.begin_settling();
        batches.end_compaction(&compacting, pieces);
        assert!(batches.begin_compaction(0).is_none());
        batches.end_settling(&settling);
        assert!(batches.all().is_empty());
    }

    #[test]
    fn keys_that_do_not_meet_are_left_alone() {
        let list = |from: u32| {
            let write = |number: u32| (1, (from + number).to_be_bytes().to_vec(), Some(1));
            (0..40_000).map(write).collect::<Vec<_>>()
        };
        let long = |list: Vec<(u8, Vec<u8>, Option<u8>)>| {
            let lengthen = |(step, mut key, value): (u8, Vec<u8>, Option<u8>)| {
                key.resize(100, 0);
                (step, key, value)
            };
            list.into_iter().map(lengthen).collect::<Vec<_>>()
        };
        let batch = |first, list| Arc::new(batch_of(first, &long(list)));
        let apart = [batch(1, list(0)), batch(50_000, list(100_000))];
        assert!(compacted(&apart).unwrap().is_none());
        let together = [batch(1, list(0)), batch(50_000, list(0))];
        let pieces = compacted(&together).unwrap().unwrap();
        assert_eq!(pieces.iter().map(Batch::entries).sum::<usize>(), 40_000);
        assert!(pieces.len() > 3, "{}", pieces.len());
    }
}
