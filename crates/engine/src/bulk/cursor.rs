//! [`BulkCursor`]: the bulk writes of many batches to one index, in one order.
//!
//! Not merged through a heap: a list of places is sorted by the first bytes of their keys, which takes a fraction of the time, because
//! it neither looks at keys nor depends on what the comparison before has found. Where keys are short enough for these bytes to say
//! everything (integers), nothing but the list is looked at: what lies elsewhere is in no processor's cache.
//!
//! # Invariants
//! - Of two batches that have the same key, the one with the higher first number has the newer version: numbers of batches do not overlap,
//!   but for the pieces of one compaction, which share no keys.

use std::cmp::{Ordering, Reverse};
use std::ops::RangeInclusive;
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

/// Where a version is.
#[derive(Clone, Copy)]
struct Place {
    prefix: u64,
    /// In the list of writes.
    batch: u32,
    slot: u32,
}

/// Keys ascending, of each the newest version.
pub(crate) struct BulkCursor {
    /// The newest first.
    writes: Vec<Arc<Sorted>>,
    /// By key; of equal ones the newest version first.
    places: Vec<Place>,
    /// Keys whose first bytes are the same are the same.
    prefixes_decide: bool,
    next: usize,
    /// Versions passed, the older ones too, at the last call of [`BulkCursor::take_passed`].
    told: usize,
}

impl BulkCursor {
    /// Over all that some batches have of an index.
    pub(crate) fn new(batches: &[Arc<Batch>], index: IndexId) -> Self {
        BulkCursor::within(batches, index, &(0..=u64::MAX))
    }

    /// Over what they have of keys that begin so.
    pub(super) fn within(batches: &[Arc<Batch>], index: IndexId, prefixes: &RangeInclusive<u64>) -> Self {
        let mut writes: Vec<Arc<Sorted>> = batches.iter().filter_map(|batch| batch.of_index(index)).cloned().collect();
        writes.sort_by_key(|writes| Reverse(writes.first));
        let ranges: Vec<_> = writes.iter().map(|writes| writes.within(prefixes)).collect();
        let mut places = Vec::with_capacity(ranges.iter().map(ExactSizeIterator::len).sum());
        for (batch, (writes, range)) in (0..).zip(writes.iter().zip(ranges)) {
            places.extend(range.map(|slot| {
                let prefix = writes.slots[slot].prefix;
                Place { prefix, batch, slot: slot as u32 }
            }));
        }
        // It finds the batches, which are sorted, as what is in order already; and leaves those with the same bytes in their order.
        places.sort_by_key(|place| place.prefix);
        let key_len = writes.first().and_then(|writes| writes.short_len);
        let prefixes_decide = key_len.is_some() && writes.iter().all(|writes| writes.short_len == key_len);
        let mut cursor = BulkCursor { writes, places, prefixes_decide, next: 0, told: 0 };
        if !prefixes_decide {
            cursor.sort_what_begins_alike();
        }
        cursor
    }

    fn sort_what_begins_alike(&mut self) {
        let writes = &self.writes;
        for alike in self.places.chunk_by_mut(|a, b| a.prefix == b.prefix).filter(|alike| alike.len() > 1) {
            alike.sort_unstable_by(|a, b| compare(writes, a, b));
        }
    }

    /// Versions that are left, at most.
    pub(crate) fn entries(&self) -> usize {
        self.places.len() - self.next
    }

    /// The next version, which stays.
    pub(crate) fn peek(&self) -> Option<BulkVersion> {
        let (writes, slot) = self.at(self.next)?;
        Some(writes.version(slot))
    }

    /// Takes the next version.
    pub(crate) fn next(&mut self) -> Option<BulkVersion> {
        let version = self.peek();
        self.pass();
        version
    }

    /// Shows the next version's key, value and number, and passes it.
    pub(crate) fn next_with<R>(&mut self, visit: impl FnOnce(&[u8], Option<&[u8]>, CommitNumber) -> R) -> Option<R> {
        let (writes, slot) = self.at(self.next)?;
        let (key, value) = writes.entry(slot);
        let result = visit(key, value, writes.number(slot));
        self.pass();
        Some(result)
    }

    /// How many versions were passed since the last call.
    pub(crate) fn take_passed(&mut self) -> u64 {
        let passed = self.next - self.told;
        self.told = self.next;
        passed as u64
    }

    fn at(&self, number: usize) -> Option<(&Sorted, &Slot)> {
        let place = self.places.get(number)?;
        let writes = &self.writes[place.batch as usize];
        Some((writes, &writes.slots[place.slot as usize]))
    }

    /// Passes all versions of the next key.
    fn pass(&mut self) {
        let Some((first, slot)) = self.at(self.next) else { return };
        let prefix = slot.prefix;
        let is_same = |number: usize| {
            let alike = self.places.get(number).is_some_and(|place| place.prefix == prefix);
            let same = || self.at(number).is_some_and(|(other, at)| other.key(at) == first.key(slot));
            alike && (self.prefixes_decide || same())
        };
        let next = (self.next + 1..).find(|number| !is_same(*number));
        self.next = next.unwrap_or(self.places.len());
    }
}

fn compare(writes: &[Arc<Sorted>], a: &Place, b: &Place) -> Ordering {
    let key = |place: &Place| {
        let writes = &writes[place.batch as usize];
        writes.key(&writes.slots[place.slot as usize])
    };
    key(a).cmp(key(b)).then(a.batch.cmp(&b.batch))
}
