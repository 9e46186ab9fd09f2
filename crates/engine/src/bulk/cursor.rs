//! [`BulkCursor`]: the bulk writes of many batches to one index, merged.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::sync::Arc;

use base::{CommitNumber, IndexId};
use bytes::Bytes;

use super::{Batch, Slot, Sorted};

/// The newest version of a key.
pub(crate) struct BulkVersion {
    pub(crate) key: Bytes,
    /// `None`: the entry is removed.
    pub(crate) value: Option<Bytes>,
    pub(crate) number: CommitNumber,
}

/// The writes of a batch, and the next of its slots. The greatest has the smallest key, and of equal ones the newest version.
struct Head {
    writes: Arc<Sorted>,
    next: usize,
    prefix: u64,
}

/// Keys ascending, of each the newest version.
pub(crate) struct BulkCursor {
    heads: BinaryHeap<Head>,
    /// Versions passed, the older ones too.
    passed: u64,
}

impl BulkCursor {
    /// Over all that some batches have of an index.
    pub(crate) fn new(batches: &[Arc<Batch>], index: IndexId) -> Self {
        let writes = |batch: &Arc<Batch>| {
            let at = batch.indexes.binary_search_by_key(&index, |(id, _)| *id).ok()?;
            Some(batch.indexes[at].1.clone())
        };
        let heads = batches.iter().filter_map(writes).map(|writes| {
            let prefix = writes.slots[0].prefix;
            Head { writes, next: 0, prefix }
        });
        BulkCursor { heads: heads.collect(), passed: 0 }
    }

    /// Versions that are left, at most.
    pub(crate) fn entries(&self) -> usize {
        self.heads.iter().map(|head| head.writes.slots.len() - head.next).sum()
    }

    /// The next version, which stays.
    pub(crate) fn peek(&self) -> Option<BulkVersion> {
        self.heads.peek().map(|head| head.writes.version(head.slot()))
    }

    /// Takes the next version.
    pub(crate) fn next(&mut self) -> Option<BulkVersion> {
        let head = self.heads.peek()?;
        let (prefix, version) = (head.prefix, head.writes.version(head.slot()));
        self.advance();
        // The prefix is at hand; the key is somewhere in memory.
        while self.heads.peek().is_some_and(|head| head.prefix == prefix && head.key() == &version.key[..]) {
            self.advance();
        }
        Some(version)
    }

    /// How many versions were passed since the last call.
    pub(crate) fn take_passed(&mut self) -> u64 {
        std::mem::take(&mut self.passed)
    }

    fn advance(&mut self) {
        let Some(mut head) = self.heads.peek_mut() else { return };
        self.passed += 1;
        head.next += 1;
        match head.writes.slots.get(head.next).map(|slot| slot.prefix) {
            Some(prefix) => head.prefix = prefix,
            None => drop(PeekMut::pop(head)),
        }
    }
}

impl Head {
    fn slot(&self) -> &Slot {
        &self.writes.slots[self.next]
    }

    fn key(&self) -> &[u8] {
        self.writes.key(self.slot())
    }
}

impl Ord for Head {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_key = || other.key().cmp(self.key());
        let by_number = || self.writes.number(self.slot()).cmp(&other.writes.number(other.slot()));
        other.prefix.cmp(&self.prefix).then_with(by_key).then_with(by_number)
    }
}

impl PartialOrd for Head {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Head {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Head {}
