//! Gaps, and the inserts that they keep out.
//!
//! Per index there are three ordered maps:
//! - **segments**: cut points between keys; each cut says which owners have a gap lock from here to the next cut.
//!   So overlapping gaps of many owners need no interval tree, and asking about a key is one look-up;
//! - **pending**: the keys that open transactions inserted, which a scan cannot see in their private write sets (beside it, those of
//!   owners that have very many: [`super::packed_keys`]);
//! - **waiting**: inserts that wait for a gap to become free.
//!
//! ```text
//! keys      ....... 3 ....... 7 ....... 9 ...
//! gaps      T1: (3, 9]     T2: (7, end)
//! segments   {} |after 3: {T1} |after 7: {T1,T2} |after 9: {T2} ...
//! ```
//!
//! # Invariants
//! - Neighbouring segments have different sets of owners; a map without gaps is empty.
//! - No segment around a pending insert has an owner other than the insert's that came after it: whichever of the
//!   two comes second waits. Both are decided under the one lock of the index's shard.

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;
use std::sync::Arc;
use std::task::Waker;

use base::IndexId;
use bytes::Bytes;
use parking_lot::Mutex;

use super::mode::Modes;
use super::packed::ListId;
use super::packed_keys::KeyRun;
use super::waiter::{End, OwnerId, Waiter};

/// Number of shards; an index is in one of them.
const SHARDS: usize = 64;

/// A point between keys. The order of the variants' fields is the order of the points.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Cut {
    /// Just before (false) or just after (true) a key.
    At(Bytes, bool),
    /// After all keys.
    End,
}

impl Cut {
    pub(super) fn lower(bound: Bound<Bytes>) -> Self {
        match bound {
            Bound::Included(key) => Cut::At(key, false),
            Bound::Excluded(key) => Cut::At(key, true),
            Bound::Unbounded => Cut::At(Bytes::new(), false),
        }
    }

    pub(super) fn upper(bound: Bound<Bytes>) -> Self {
        match bound {
            Bound::Included(key) => Cut::At(key, true),
            Bound::Excluded(key) => Cut::At(key, false),
            Bound::Unbounded => Cut::End,
        }
    }

    fn key_from(&self) -> Bound<&[u8]> {
        match self {
            Cut::At(key, false) => Bound::Included(key),
            Cut::At(key, true) => Bound::Excluded(key),
            Cut::End => Bound::Unbounded,
        }
    }

    fn key_to(&self) -> Bound<&[u8]> {
        match self {
            Cut::At(key, false) => Bound::Excluded(key),
            Cut::At(key, true) => Bound::Included(key),
            Cut::End => Bound::Unbounded,
        }
    }
}

/// Sorted ids.
type Owners = Vec<OwnerId>;

/// Pending inserts of one list. A key may be here and in the map, or in two runs: it is pending all the same.
struct PackedInserts {
    list: ListId,
    owner: OwnerId,
    runs: Vec<Arc<KeyRun>>,
}

#[derive(Default)]
struct Ranges {
    segments: BTreeMap<Cut, Owners>,
    pending: BTreeMap<Bytes, OwnerId>,
    packed: Vec<PackedInserts>,
    /// The number makes the order of those that wait for the same key.
    waiting: BTreeMap<(Bytes, u64), Arc<Waiter>>,
    next_waiting: u64,
}

impl Ranges {
    fn around(&self, key: &Bytes) -> &[OwnerId] {
        let at = Cut::At(key.clone(), false);
        self.segments.range(..=at).next_back().map_or(&[], |(_, owners)| owners)
    }

    fn others_around(&self, key: &Bytes, owner: OwnerId) -> impl Iterator<Item = OwnerId> {
        self.around(key).iter().copied().filter(move |&other| other != owner)
    }

    /// Makes a cut where there is none, without changing who has what.
    fn cut(&mut self, at: &Cut) {
        if *at == Cut::End || self.segments.contains_key(at) {
            return;
        }
        let owners = self.segments.range(..at).next_back().map_or(Owners::new(), |(_, owners)| owners.clone());
        self.segments.insert(at.clone(), owners);
    }

    /// Takes a cut out that separates nothing.
    fn mend(&mut self, at: &Cut) {
        let Some(owners) = self.segments.get(at) else { return };
        let before = self.segments.range(..at).next_back().map_or(&[][..], |(_, owners)| owners);
        if before == owners {
            self.segments.remove(at);
        }
    }

    fn add(&mut self, from: &Cut, to: &Cut, owner: OwnerId) {
        if from >= to {
            return;
        }
        self.cut(from);
        self.cut(to);
        for (_, owners) in self.segments.range_mut(from..to) {
            if let Err(at) = owners.binary_search(&owner) {
                owners.insert(at, owner);
            }
        }
        self.mend(to);
        self.mend(from);
    }

    fn remove(&mut self, from: &Cut, to: &Cut, owner: OwnerId) {
        self.cut(from);
        self.cut(to);
        let mut cuts = Vec::new();
        for (cut, owners) in self.segments.range_mut(from..to) {
            if let Ok(at) = owners.binary_search(&owner) {
                owners.remove(at);
            }
            cuts.push(cut.clone());
        }
        cuts.push(to.clone());
        cuts.iter().for_each(|cut| self.mend(cut));
    }

    /// Lets inserts between two cuts try again if nothing keeps them out any more.
    fn admit(&mut self, from: &Cut, to: &Cut, woken: &mut Vec<Waker>) {
        if self.waiting.is_empty() {
            return;
        }
        let start = match from.key_from() {
            Bound::Included(key) | Bound::Excluded(key) => Bytes::copy_from_slice(key),
            Bound::Unbounded => return,
        };
        let inside = self.waiting.range((start, 0)..).take_while(|((key, _), _)| Cut::At(key.clone(), false) < *to);
        let free: Vec<_> = inside
            .filter(|((key, _), waiter)| self.others_around(key, waiter.owner).next().is_none())
            .map(|(place, _)| place.clone())
            .collect();
        for place in free {
            if let Some(waiter) = self.waiting.remove(&place)
                && let Ok(waker) = waiter.end(End::Granted)
            {
                woken.extend(waker);
            }
        }
    }

    /// The first key between two cuts whose insert is pending, by another than this owner.
    fn first_pending(&self, from: &Cut, to: &Cut, owner: OwnerId) -> Option<Bytes> {
        let (from, to) = (from.key_from(), to.key_to());
        let mut inside = self.pending.range::<[u8], _>((from, to));
        let first = inside.find(|(_, other)| **other != owner).map(|(key, _)| key.clone());
        let runs = self.packed.iter().filter(|packed| packed.owner != owner).flat_map(|packed| &packed.runs);
        runs.filter_map(|run| run.first_in(from, to)).chain(first).min()
    }

    fn is_unused(&self) -> bool {
        self.segments.is_empty() && self.pending.is_empty() && self.packed.is_empty() && self.waiting.is_empty()
    }
}

/// What came of an insert.
pub(super) enum Insertion {
    /// It is pending now; false if it was already, and is not packed.
    Pending(bool),
    /// A gap of another owner is around the key.
    KeptOut,
    /// As before, and the waiter waits for the gap, under this number.
    Queued(Arc<Waiter>, u64),
}

/// Gaps and pending inserts of all indexes.
pub(super) struct RangeTable {
    shards: Box<[Mutex<HashMap<IndexId, Ranges>>]>,
}

impl RangeTable {
    pub(super) fn new() -> Self {
        RangeTable { shards: (0..SHARDS).map(|_| Mutex::default()).collect() }
    }

    fn shard(&self, index: IndexId) -> &Mutex<HashMap<IndexId, Ranges>> {
        &self.shards[index.0 as usize % SHARDS]
    }

    /// Locks the gap up to the first pending insert of another owner, and returns that insert's key; `None` if the
    /// whole gap is locked. With `regardless`, locks all of it.
    pub(super) fn lock_gap(
        &self,
        index: IndexId,
        from: &Cut,
        to: &Cut,
        owner: OwnerId,
        regardless: bool,
    ) -> Option<Bytes> {
        if from >= to {
            return None;
        }
        let mut shard = self.shard(index).lock();
        let ranges = shard.entry(index).or_default();
        let first = if regardless { None } else { ranges.first_pending(from, to, owner) };
        match &first {
            Some(key) => ranges.add(from, &Cut::At(key.clone(), false), owner),
            None => ranges.add(from, to, owner),
        }
        first
    }

    /// Lets a gap go.
    pub(super) fn unlock_gap(&self, index: IndexId, from: &Cut, to: &Cut, owner: OwnerId) {
        let mut woken = Vec::new();
        {
            let mut shard = self.shard(index).lock();
            let Some(ranges) = shard.get_mut(&index) else { return };
            ranges.remove(from, to, owner);
            ranges.admit(from, to, &mut woken);
            if ranges.is_unused() {
                shard.remove(&index);
            }
        }
        woken.into_iter().for_each(Waker::wake);
    }

    /// Makes an insert pending, unless a gap keeps it out; then it waits if `work` is given.
    pub(super) fn insert(&self, index: IndexId, key: &Bytes, owner: OwnerId, work: Option<u64>) -> Insertion {
        let mut shard = self.shard(index).lock();
        let ranges = shard.entry(index).or_default();
        if ranges.segments.is_empty() || ranges.others_around(key, owner).next().is_none() {
            return Insertion::Pending(ranges.pending.insert(key.clone(), owner).is_none());
        }
        let Some(work) = work else { return Insertion::KeptOut };
        let waiter = Arc::new(Waiter::new(owner, Modes::NONE, false, work));
        let number = ranges.next_waiting;
        ranges.next_waiting += 1;
        ranges.waiting.insert((key.clone(), number), waiter.clone());
        Insertion::Queued(waiter, number)
    }

    /// The insert is not pending any more: its owner has committed (to the queue) or rolled back.
    pub(super) fn end_insert(&self, index: IndexId, key: &Bytes) {
        self.end_inserts(index, [key]);
    }

    /// The same for several keys of one index that are not packed, or have been packed just now.
    pub(super) fn end_inserts<'a>(&self, index: IndexId, keys: impl IntoIterator<Item = &'a Bytes>) {
        let mut shard = self.shard(index).lock();
        let Some(ranges) = shard.get_mut(&index) else { return };
        for key in keys {
            ranges.pending.remove(key);
        }
        if ranges.is_unused() {
            shard.remove(&index);
        }
    }

    /// The packed inserts of a list; nobody but the list's owner changes which they are.
    pub(super) fn packed_runs(&self, index: IndexId, list: ListId) -> Vec<Arc<KeyRun>> {
        let shard = self.shard(index).lock();
        let packed = shard.get(&index).and_then(|ranges| ranges.packed.iter().find(|packed| packed.list == list));
        packed.map_or_else(Vec::new, |packed| packed.runs.clone())
    }

    /// Replaces the packed inserts of a list; without runs it has none any more.
    pub(super) fn set_packed_runs(&self, index: IndexId, list: ListId, owner: OwnerId, runs: Vec<Arc<KeyRun>>) {
        let before: Vec<PackedInserts> = {
            let mut shard = self.shard(index).lock();
            let ranges = shard.entry(index).or_default();
            let before = ranges.packed.extract_if(.., |packed| packed.list == list).collect();
            if !runs.is_empty() {
                ranges.packed.push(PackedInserts { list, owner, runs });
            }
            if ranges.is_unused() {
                shard.remove(&index);
            }
            before
        };
        // Large pieces of memory, which nobody else waits for.
        drop(before);
    }

    /// Takes an insert that gave up out of those that wait.
    pub(super) fn leave_queue(&self, index: IndexId, key: &Bytes, number: u64) {
        let mut shard = self.shard(index).lock();
        let Some(ranges) = shard.get_mut(&index) else { return };
        ranges.waiting.remove(&(key.clone(), number));
        if ranges.is_unused() {
            shard.remove(&index);
        }
    }

    /// Adds to `found` the owners of gaps around the key.
    pub(super) fn blockers(&self, index: IndexId, key: &Bytes, owner: OwnerId, found: &mut Vec<OwnerId>) {
        if let Some(ranges) = self.shard(index).lock().get(&index) {
            found.extend(ranges.others_around(key, owner));
        }
    }

    /// Numbers of segments and pending inserts.
    pub(super) fn count(&self) -> (usize, usize) {
        let mut counts = (0, 0);
        for shard in &self.shards {
            for ranges in shard.lock().values() {
                counts.0 += ranges.segments.len();
                counts.1 += ranges.pending.len();
            }
        }
        counts
    }

    /// Number of packed inserts, and their memory.
    pub(super) fn count_packed(&self) -> (usize, usize) {
        let mut counts = (0, 0);
        for shard in &self.shards {
            let shard = shard.lock();
            for run in shard.values().flat_map(|ranges| &ranges.packed).flat_map(|packed| &packed.runs) {
                counts.0 += run.len();
                counts.1 += run.bytes();
            }
        }
        counts
    }
}
