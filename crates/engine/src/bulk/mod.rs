//! Installing in bulk: what neighbouring transactions of the log write, sorted once, where nobody reads yet.
//!
//! # Model
//! ```text
//!   install, for readers     one version at a time, each at its place in a tree that does not fit into the processor's caches
//!   in bulk                  a [`Batch`]: all bytes in one piece, sorted per index; joins the memtable as it is
//!     compaction             keeps only the newest version of each key ([`Compaction`]), where that makes room
//!     checkpoint             merges all of them ([`BulkCursor`]) with what else the memtable has, into the trees
//!     settling               what is left at the end is put into the memtable's trees in ascending order
//! ```
//! A recovery that lets nobody in before its end takes two thirds of the time by this.
//!
//! # Invariants
//! - Nobody reads a memtable that has bulk writes: read views are opened, and rows are asked for, only after
//!   [`Engine::settle_bulk`].
//! - A batch holds consecutive numbers, of which no other install has any, until a compaction puts some together. So no boundary between two memtables, and no
//!   checkpoint, falls into it; therefore of each key only the newest version is kept.

mod batches;
mod build;
mod compaction;
mod cursor;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::{Range, RangeInclusive};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering as AtomicOrdering};

use base::{CommitNumber, IndexId, TableId};
use bytes::Bytes;

use crate::catalog::Table;
use crate::engine::Engine;
use crate::error::{EngineError, Result};
use crate::install::touched_indexes;
use crate::memtable::chain::{Chain, Version};
use crate::memtable::stamp::VersionStamp;
use crate::memtable::{Key, Memtable};

pub(crate) use batches::Batches;
pub(crate) use build::EntrySorter;
pub(crate) use cursor::{BulkCursor, BulkVersion};

/// In place of a value's length: the entry is removed.
const REMOVED: u32 = u32::MAX;

/// What an entry takes beside its bytes when it is settled.
const SETTLED_BYTES: usize = size_of::<Key>() + size_of::<Chain>();

/// One version of one key; its bytes are in the arena, key first.
#[derive(Clone, Copy)]
struct Slot {
    /// The first eight bytes of the key, which decide nearly every comparison.
    prefix: u64,
    at: u32,
    key_len: u32,
    value_len: u32,
    /// Its number, counted from the first of the batch.
    number: u32,
}

/// What a batch writes to one index: of each key the newest version, ascending.
pub(crate) struct Sorted {
    first: CommitNumber,
    slots: Box<[Slot]>,
    /// The length of all keys, if it is the same and the prefixes have all of their bytes.
    short_len: Option<u32>,
    /// Of the whole batch.
    arena: Bytes,
}

/// What the transactions of a batch write, on its way in. Its memory serves one batch after the other.
#[derive(Default)]
pub struct BulkWrites {
    first: CommitNumber,
    last: CommitNumber,
    /// Keys and values, in the log's order.
    arena: Vec<u8>,
    indexes: BTreeMap<IndexId, Vec<Slot>>,
    /// Rows that came, less those that went.
    rows: HashMap<TableId, (Arc<Table>, i64)>,
    old_key: Vec<u8>,
}

/// The same in a memtable.
pub(crate) struct Batch {
    pub(crate) first: CommitNumber,
    pub(crate) last: CommitNumber,
    bytes: usize,
    /// By index id, ascending.
    indexes: Vec<(IndexId, Arc<Sorted>)>,
}

impl Engine {
    /// Installs a batch, as [`Engine::install`] does its transactions one by one, and empties it. Nobody reads before
    /// [`Engine::settle_bulk`]. Afterwards [`Engine::compact_bulk`] is due.
    #[io::boxed]
    pub async fn install_bulk(&self, writes: &mut BulkWrites) -> Result<()> {
        if writes.is_empty() {
            return Ok(());
        }
        let core = self.core();
        let batch = writes.take_sorted();
        core.help_compacting()?;
        // Nothing goes ahead of its turn because it is the next to be published: a batch nearly always is. If memory is full of what
        // comes after it, it belongs to what is frozen next.
        core.wait_for_room_of_bulk(batch.first).await?;
        for (_, (table, count)) in writes.rows.drain() {
            table.count_rows(count);
            table.shared.statistics.changed(count.unsigned_abs());
        }
        let _installs = core.checkpoints.installs.read();
        let memtable = core.memtable_for(batch.first);
        debug_assert!(Arc::ptr_eq(&memtable, &core.memtable_for(batch.last)), "no boundary falls into a batch");
        core.checkpoints.installed_bulk(batch.memory_bytes());
        memtable.attach_bulk(Arc::new(batch));
        Ok(())
    }

    /// Makes what was installed in bulk less, if it is time for that and probably pays; who installs meanwhile helps. Takes a while, so
    /// what was installed should be known as such before.
    pub fn compact_bulk(&self) -> Result<()> {
        let core = self.core();
        core.begin_compacting();
        core.help_compacting()
    }

    /// Makes everything that was installed in bulk readable.
    pub fn settle_bulk(&self) {
        self.unsettled().into_iter().for_each(BulkPart::settle);
    }

    /// The same in parts, which may be done side by side.
    pub fn unsettled(&self) -> Vec<BulkPart> {
        let layers = self.core().views.layers().clone();
        layers.memtables.iter().flat_map(BulkPart::all_of).collect()
    }
}

/// What was installed in bulk in one index of a memtable.
pub struct BulkPart {
    index: IndexId,
    of: Arc<Settling>,
}

struct Settling {
    memtable: Arc<Memtable>,
    batches: Vec<Arc<Batch>>,
    /// Parts that are not settled.
    left: AtomicUsize,
}

impl BulkPart {
    fn all_of(memtable: &Arc<Memtable>) -> Vec<BulkPart> {
        let batches = memtable.change_bulk(Batches::begin_settling);
        let indexes: BTreeSet<IndexId> = batches.iter().flat_map(|batch| batch.indexes()).collect();
        let left = AtomicUsize::new(indexes.len());
        let of = Arc::new(Settling { memtable: memtable.clone(), batches, left });
        indexes.into_iter().map(|index| BulkPart { index, of: of.clone() }).collect()
    }

    /// Puts it into the memtable's tree.
    pub fn settle(self) {
        let Settling { memtable, batches, left } = &*self.of;
        let mut cursor = BulkCursor::new(batches, self.index);
        let mut versions = Vec::with_capacity(cursor.entries());
        while let Some(BulkVersion { key, value, number }) = cursor.next() {
            versions.push((Key::new(&key), Version { stamp: VersionStamp::Known(number), value }));
        }
        memtable.install_ascending(self.index, versions);
        // The last one. A merge that begins meanwhile finds each version at least once.
        if left.fetch_sub(1, AtomicOrdering::AcqRel) == 1 {
            memtable.change_bulk(|bulk| bulk.end_settling(batches));
        }
    }
}

impl BulkWrites {
    /// Begins a batch whose first transaction has this number. What was added before is forgotten.
    pub fn begin(&mut self, first: CommitNumber) {
        (self.first, self.last) = (first, first);
        self.arena.clear();
        self.indexes.values_mut().for_each(Vec::clear);
        self.rows.clear();
    }

    /// Adds a change of a row, by the transaction with this number. In the log's order.
    pub fn add(
        &mut self,
        number: CommitNumber,
        table: &Arc<Table>,
        before: Option<&[u8]>,
        after: Option<&Bytes>,
    ) -> Result<()> {
        debug_assert!(number >= self.last, "changes come in the log's order");
        self.last = number;
        let number = small(number.0 - self.first.0)?;
        let arena = &mut self.arena;
        for (position, key_may_differ) in touched_indexes(table, before, after.map(|row| &row[..]))? {
            let (layout, codec) = (&table.codec.row, &table.codec.indexes[position]);
            let slots = self.indexes.entry(table.indexes[position].id).or_default();
            let at = arena.len();
            let Some(after) = after else {
                codec.key.encode_row(layout, before.unwrap_or_default(), arena)?;
                slots.push(Slot::of(arena, at, None, number)?);
                continue;
            };
            codec.key.encode_row(layout, after, arena)?;
            let value_at = arena.len();
            match position {
                0 => arena.extend_from_slice(after),
                _ => codec.covering_image_into(layout, after, arena)?,
            }
            slots.push(Slot::of(arena, at, Some(value_at), number)?);
            if let (Some(before), true) = (before, key_may_differ) {
                self.old_key.clear();
                codec.key.encode_row(layout, before, &mut self.old_key)?;
                if self.old_key != arena[at..value_at] {
                    let at = arena.len();
                    arena.extend_from_slice(&self.old_key);
                    slots.push(Slot::of(arena, at, None, number)?);
                }
            }
        }
        self.note(table, before, after)
    }

    fn note(&mut self, table: &Arc<Table>, before: Option<&[u8]>, after: Option<&Bytes>) -> Result<()> {
        if let Some(after) = after {
            table.saw_auto_increment(after)?;
        }
        let delta = i64::from(after.is_some()) - i64::from(before.is_some());
        if delta != 0 {
            self.rows.entry(table.id()).or_insert_with(|| (table.clone(), 0)).1 += delta;
        }
        Ok(())
    }

    fn is_empty(&self) -> bool {
        self.arena.is_empty()
    }

    /// What was added, in memory of just its size.
    fn take_sorted(&mut self) -> Batch {
        let (first, last) = (self.first, self.last);
        let arena = Bytes::copy_from_slice(&self.arena);
        self.arena.clear();
        let mut indexes = Vec::new();
        for (index, slots) in self.indexes.iter_mut().filter(|(_, slots)| !slots.is_empty()) {
            let sorted = Sorted::new(first, slots, arena.clone());
            slots.clear();
            indexes.push((*index, Arc::new(sorted)));
        }
        Batch::of(first, last, indexes)
    }
}

impl Slot {
    /// Of the entry at the end of the arena; without a value it is removed.
    fn of(arena: &[u8], at: usize, value_at: Option<usize>, number: u32) -> Result<Slot> {
        let key_end = value_at.unwrap_or(arena.len());
        EngineError::check_key(&arena[at..key_end])?;
        let value_len = value_at.map_or(Ok(REMOVED), |at| small((arena.len() - at) as u64))?;
        let prefix = prefix_of(&arena[at..key_end]);
        let key_len = small((key_end - at) as u64)?;
        Ok(Slot { prefix, at: small(at as u64)?, key_len, value_len, number })
    }
}

impl Sorted {
    /// Of slots in any order.
    fn new(first: CommitNumber, slots: &mut Vec<Slot>, arena: Bytes) -> Sorted {
        let mut sorted = Sorted { first, slots: Box::default(), short_len: short_len(slots), arena };
        // What a transaction wrote later lies further behind.
        let newest_first = |a: &Slot, b: &Slot| b.number.cmp(&a.number).then(b.at.cmp(&a.at));
        slots.sort_unstable_by(|a, b| sorted.compare_keys(a, b).then_with(|| newest_first(a, b)));
        slots.dedup_by(|older, newest| sorted.compare_keys(older, newest) == Ordering::Equal);
        sorted.slots = slots[..].into();
        sorted
    }

    /// Of slots in order, of each key one.
    fn in_order(first: CommitNumber, slots: &[Slot], arena: Bytes) -> Sorted {
        Sorted { first, slots: slots.into(), short_len: short_len(slots), arena }
    }

    /// Where the keys are that begin so.
    fn within(&self, prefixes: &RangeInclusive<u64>) -> Range<usize> {
        let start = self.slots.partition_point(|slot| slot.prefix < *prefixes.start());
        start..self.slots.partition_point(|slot| slot.prefix <= *prefixes.end()).max(start)
    }

    fn compare_keys(&self, a: &Slot, b: &Slot) -> Ordering {
        let by_key = || if self.short_len.is_some() { Ordering::Equal } else { self.key(a).cmp(self.key(b)) };
        a.prefix.cmp(&b.prefix).then_with(by_key)
    }

    fn key(&self, slot: &Slot) -> &[u8] {
        &self.arena[slot.at as usize..][..slot.key_len as usize]
    }

    /// Key and value, if it has one.
    fn entry(&self, slot: &Slot) -> (&[u8], Option<&[u8]>) {
        let (key, rest) = self.arena[slot.at as usize..].split_at(slot.key_len as usize);
        (key, (slot.value_len != REMOVED).then(|| &rest[..slot.value_len as usize]))
    }

    fn version(&self, slot: &Slot) -> BulkVersion {
        let value_at = slot.at as usize + slot.key_len as usize;
        let value = || self.arena.slice(value_at..value_at + slot.value_len as usize);
        BulkVersion {
            key: self.arena.slice(slot.at as usize..value_at),
            value: (slot.value_len != REMOVED).then(value),
            number: self.number(slot),
        }
    }

    fn number(&self, slot: &Slot) -> CommitNumber {
        CommitNumber(self.first.0 + u64::from(slot.number))
    }
}

impl Batch {
    /// Of indexes that share one arena.
    fn of(first: CommitNumber, last: CommitNumber, indexes: Vec<(IndexId, Arc<Sorted>)>) -> Batch {
        let slots: usize = indexes.iter().map(|(_, writes)| writes.slots.len()).sum();
        let arena = indexes.first().map_or(0, |(_, writes)| writes.arena.len());
        Batch { first, last, bytes: arena + slots * (size_of::<Slot>() + SETTLED_BYTES), indexes }
    }

    /// Indexes that it has written to.
    pub(crate) fn indexes(&self) -> impl Iterator<Item = IndexId> {
        self.indexes.iter().map(|(index, _)| *index)
    }

    /// Whether it has something of an index.
    pub(crate) fn touches(&self, index: IndexId) -> bool {
        self.of_index(index).is_some()
    }

    fn of_index(&self, index: IndexId) -> Option<&Arc<Sorted>> {
        let at = self.indexes.binary_search_by_key(&index, |(id, _)| *id).ok()?;
        Some(&self.indexes[at].1)
    }

    /// Number of entries.
    pub(crate) fn entries(&self) -> usize {
        self.indexes.iter().map(|(_, writes)| writes.slots.len()).sum()
    }

    /// Whether its numbers are others than those of another one, or both are pieces of one compaction.
    fn is_apart_from(&self, other: &Batch) -> bool {
        self.last < other.first || other.last < self.first || (self.first, self.last) == (other.first, other.last)
    }

    /// Bytes of memory that it takes, and will take when it is settled.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.bytes
    }
}

impl std::fmt::Debug for Batch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Batch({}..={}, {} entries)", self.first, self.last, self.entries())
    }
}

/// Sizes and places in a batch, which is far smaller than 4 GiB.
fn small(size: u64) -> Result<u32> {
    u32::try_from(size).map_err(|_| EngineError::Bug("a batch of more than 4 GiB".to_owned()))
}

/// See [`Sorted::short_len`].
fn short_len(slots: &[Slot]) -> Option<u32> {
    let len = slots.first()?.key_len;
    (len as usize <= size_of::<u64>() && slots.iter().all(|slot| slot.key_len == len)).then_some(len)
}

/// Ordered as the keys are, but that keys of the same prefix may be in any order.
fn prefix_of(key: &[u8]) -> u64 {
    match key.first_chunk() {
        Some(first) => u64::from_be_bytes(*first),
        None => {
            let mut first = [0; 8];
            first[..key.len()].copy_from_slice(key);
            u64::from_be_bytes(first)
        }
    }
}
