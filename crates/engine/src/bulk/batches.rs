//! [`Batches`]: what a memtable has of bulk writes, and when to make it less.
//!
//! # Invariants
//! - A compaction replaces all batches that it has read, or nothing. It is given up if any of them was settled meanwhile.
//! - Nothing is lost sight of: a version is in its batch until the moment in which it is in a piece.
//! - The numbers of two batches are apart, but for pieces of one compaction, which have no key in common. So only what is published is
//!   compacted: nothing can come later whose numbers lie between those of a piece.

use std::collections::HashSet;
use std::sync::Arc;

use base::CommitNumber;

use super::Batch;
use super::compaction::Compaction;

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
    /// The one under way.
    compaction: Option<Arc<Compaction>>,
    /// The last compaction did not pay.
    is_compact: bool,
}

impl Batches {
    pub(crate) fn push(&mut self, batch: Arc<Batch>) {
        debug_assert!(self.all.iter().all(|other| other.is_apart_from(&batch)), "{batch:?} among {:?}", self.all);
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
        self.compaction.is_some() || !self.is_compact && self.compacted as f64 <= (FULL - FRESH) * bound as f64
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

    /// The compaction that is under way.
    pub(super) fn compaction(&self) -> Option<Arc<Compaction>> {
        self.compaction.clone()
    }

    /// Begins one of what is published, if it is time for that.
    pub(super) fn begin_compaction(&mut self, bound: usize, visible: CommitNumber) {
        if self.compaction.is_some() || self.settling > 0 || !self.is_due(bound) {
            return;
        }
        let published: Vec<Arc<Batch>> = self.all.iter().filter(|batch| batch.last <= visible).cloned().collect();
        if !published.is_empty() {
            self.compaction = Some(Arc::new(Compaction::of(published)));
        }
    }

    /// The one under way has ended, with these pieces; without any if it does not pay.
    pub(super) fn end_compaction(&mut self, pieces: Option<Vec<Batch>>) {
        let Some(compaction) = self.compaction.take() else { return };
        let Some(pieces) = pieces else {
            self.is_compact = true;
            return;
        };
        let before = compaction.batches();
        if self.settling > 0 || !pointers(before).is_subset(&pointers(&self.all)) {
            return;
        }
        let bytes: usize = before.iter().map(|batch| batch.memory_bytes()).sum();
        let left: usize = pieces.iter().map(Batch::memory_bytes).sum();
        tracing::debug!(bytes, left, "compaction of what was installed in bulk");
        let fresh = bytes - self.compacted;
        self.remove(before);
        self.left = Some(left.saturating_sub(self.compacted) as f64 / fresh.max(1) as f64);
        self.compacted = left;
        pieces.into_iter().for_each(|piece| self.push(Arc::new(piece)));
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

#[cfg(test)]
mod tests {
    use super::super::BulkCursor;
    use super::super::tests::{batch_of, writes};
    use super::*;
    use base::IndexId;
    use bytes::Bytes;
    use proptest::prelude::*;

    const ALL: CommitNumber = CommitNumber(u64::MAX);

    fn contents(batches: &[Arc<Batch>]) -> Vec<(Bytes, Option<Bytes>, CommitNumber)> {
        let mut cursor = BulkCursor::new(batches, IndexId(7));
        let next = || cursor.next().map(|version| (version.key, version.value, version.number));
        std::iter::from_fn(next).collect()
    }

    impl Batches {
        fn begin(&mut self, visible: CommitNumber) -> Option<Arc<Compaction>> {
            assert!(self.compaction.is_none());
            self.begin_compaction(0, visible);
            self.compaction()
        }
    }

    fn compacted(batches: &[Arc<Batch>]) -> Option<Vec<Batch>> {
        Compaction::of(batches.to_vec()).work().expect("all parts were done here").unwrap()
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
            let compaction = memtable.begin(ALL).unwrap();
            memtable.begin_compaction(0, ALL);
            prop_assert!(Arc::ptr_eq(&compaction, &memtable.compaction().unwrap()), "one at a time");
            // What comes meanwhile is not touched.
            memtable.push(Arc::new(batch_of(first, &[(0, b"meanwhile".to_vec(), None)])));
            let expected = contents(memtable.all());
            let in_parts = Compaction::in_parts(compaction.batches().to_vec(), 1).work().unwrap().unwrap();
            let in_parts: Vec<_> = in_parts.into_iter().flatten().map(Arc::new).collect();
            prop_assert_eq!(contents(&in_parts), contents(compaction.batches()));
            let entries: usize = in_parts.iter().map(|piece| piece.entries()).sum();
            prop_assert_eq!(entries, contents(&in_parts).len(), "each key is in one part");
            let pieces = compaction.work().unwrap().unwrap();
            memtable.end_compaction(pieces);
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
        let pieces = batches.begin(ALL).unwrap().work().unwrap().unwrap();
        let settling = batches.begin_settling();
        batches.end_settling(&settling);
        batches.end_compaction(pieces);
        assert_eq!((batches.all().len(), batches.memory_bytes()), (0, 0));
    }

    #[test]
    fn what_is_being_settled_is_not_replaced() {
        let mut batches = one();
        let pieces = batches.begin(ALL).unwrap().work().unwrap().unwrap();
        let settling = batches.begin_settling();
        batches.end_compaction(pieces);
        assert!(batches.begin(ALL).is_none());
        batches.end_settling(&settling);
        assert!(batches.all().is_empty());
    }

    /// Of three batches the one in the middle comes last, after a compaction of what is there.
    #[test]
    fn what_comes_late_is_as_old_as_it_is() {
        let batch = |first, values: [u8; 2]| {
            Arc::new(batch_of(
                first,
                &[(0, vec![b'a'], Some(values[0])), (0, vec![b'b', first as u8], Some(values[1]))],
            ))
        };
        let mut batches = Batches::default();
        batches.push(batch(1, [1, 1]));
        batches.push(batch(5, [5, 5]));
        let compaction = batches.begin(CommitNumber(1)).unwrap();
        assert_eq!(compaction.batches().len(), 1, "5 is not published");
        let pieces = compaction.work().unwrap().unwrap();
        batches.push(batch(3, [3, 3]));
        batches.end_compaction(pieces);
        let (key, value, number) = contents(batches.all()).swap_remove(0);
        assert_eq!((&key[..], value.as_deref(), number), (&b"a"[..], Some(&[5][..]), CommitNumber(5)));
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
        assert!(compacted(&apart).is_none());
        let together = [batch(1, list(0)), batch(50_000, list(0))];
        let pieces = compacted(&together).unwrap();
        assert_eq!(pieces.iter().map(Batch::entries).sum::<usize>(), 40_000);
        assert!(pieces.len() > 3, "{}", pieces.len());
    }
}
