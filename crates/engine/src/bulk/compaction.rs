//! [`Compaction`]: what was installed in bulk becomes less, by everybody who installs.
//!
//! # Model
//! ```text
//!   batches      | a1 c4 | b2 c5 | a3 c6 | …      as they came, each sorted
//!   parts        | a b | c |                      ranges of keys, which whoever has time takes one by one
//!   compaction   | a3 b2 | c6 |                   of each key the newest version, in pieces of ascending keys
//! ```
//! Rows that are changed again and again take the memory of one version then, and a recovery needs fewer checkpoints, each of which
//! would rewrite most of the trees. Where keys hardly ever meet a compaction is given up early, and not tried again.
//!
//! Whoever installs helps with the one that is under way before it waits for room, so no processor is idle and memory is short for
//! as little time as possible. A part is small enough for its list of places to stay in the processor's cache.
//!
//! # Invariants
//! - Keys that begin alike are in one part.
//! - The last part to be done ends the compaction, whoever does it.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use base::{CommitNumber, IndexId};
use bytes::Bytes;
use parking_lot::Mutex;

use super::{Batch, BulkCursor, Slot, Sorted, small};
use crate::core::Core;
use crate::error::{EngineError, Result};

/// Bytes of keys and values in a piece, unless one alone is longer.
const PIECE_BYTES: usize = 1 << 20;
/// A compaction that would leave more than this of its versions does not pay.
const LEFT_MAX: f64 = 0.85;
/// Versions after which that can be told.
const SAMPLE: u64 = 1 << 16;
/// Versions of a part, about.
const PART_VERSIONS: usize = 1 << 17;
/// Every so manieth version is looked at to find where parts end.
const PART_SAMPLE: usize = 64;

/// See the module.
pub(crate) struct Compaction {
    batches: Vec<Arc<Batch>>,
    parts: Vec<Part>,
    /// Parts that somebody has taken.
    taken: AtomicUsize,
    /// Versions looked at, and of those the ones that stay.
    passed: AtomicU64,
    kept: AtomicU64,
    done: Mutex<Done>,
}

/// Keys of one index that begin so.
struct Part {
    index: IndexId,
    prefixes: RangeInclusive<u64>,
}

#[derive(Default)]
struct Done {
    parts: usize,
    /// With the number of the part.
    pieces: Vec<(usize, Vec<Batch>)>,
    failure: Option<EngineError>,
}

/// What is left; `None` if that is nearly everything.
type Outcome = Result<Option<Vec<Batch>>>;

impl Core {
    /// Begins a compaction of the active memtable, if it is time for one.
    pub(super) fn begin_compacting(&self) {
        let (bound, visible) = (self.bulk_bound(), self.views.visible());
        // One that is frozen is being merged.
        self.views.layers().active().change_bulk(|bulk| bulk.begin_compaction(bound, visible));
    }

    /// Takes part in the compaction that is under way, as long as there is something that nobody else does.
    pub(super) fn help_compacting(&self) -> Result<()> {
        let memtable = self.views.layers().active().clone();
        let Some(compaction) = memtable.with_bulk(|bulk| bulk.compaction()) else { return Ok(()) };
        let Some(outcome) = compaction.work() else { return Ok(()) };
        let (result, pieces) = match outcome {
            Ok(pieces) => (Ok(()), pieces),
            Err(error) => (Err(error), None),
        };
        memtable.change_bulk(|bulk| bulk.end_compaction(pieces));
        self.checkpoints.room_changed();
        result
    }
}

impl Compaction {
    /// Of all that these batches have.
    pub(super) fn of(batches: Vec<Arc<Batch>>) -> Compaction {
        Compaction::in_parts(batches, PART_VERSIONS)
    }

    /// The same with about so many versions in a part.
    pub(super) fn in_parts(batches: Vec<Arc<Batch>>, versions: usize) -> Compaction {
        let indexes: BTreeSet<IndexId> = batches.iter().flat_map(|batch| batch.indexes()).collect();
        let parts = indexes.into_iter().flat_map(|index| parts_of(&batches, index, versions)).collect();
        let (taken, passed, kept, done) = Default::default();
        Compaction { batches, parts, taken, passed, kept, done }
    }

    /// What is replaced.
    pub(super) fn batches(&self) -> &[Arc<Batch>] {
        &self.batches
    }

    /// Does one part after the other until all are taken. What became of all, for whoever has done the last one.
    pub(super) fn work(&self) -> Option<Outcome> {
        let first = self.batches.iter().map(|batch| batch.first).min().unwrap_or_default();
        let last = self.batches.iter().map(|batch| batch.last).max().unwrap_or_default();
        let mut piece = Piece { numbers: (first, last), arena: Vec::new(), slots: Vec::new() };
        loop {
            let number = self.taken.fetch_add(1, Ordering::Relaxed);
            let part = self.parts.get(number)?;
            let pieces = if self.does_not_pay() { Ok(Vec::new()) } else { self.compact(part, &mut piece) };
            let mut done = self.done.lock();
            done.parts += 1;
            match pieces {
                Ok(pieces) => done.pieces.push((number, pieces)),
                Err(error) => done.failure = Some(error),
            }
            if done.parts == self.parts.len() {
                return Some(self.outcome(&mut done));
            }
        }
    }

    fn outcome(&self, done: &mut Done) -> Outcome {
        if let Some(failure) = done.failure.take() {
            return Err(failure);
        }
        if self.does_not_pay() {
            return Ok(None);
        }
        // In the keys' order, which is easier to sort again.
        done.pieces.sort_unstable_by_key(|(number, _)| *number);
        Ok(Some(done.pieces.drain(..).flat_map(|(_, pieces)| pieces).collect()))
    }

    fn does_not_pay(&self) -> bool {
        let (passed, kept) = (self.passed.load(Ordering::Relaxed), self.kept.load(Ordering::Relaxed));
        passed >= SAMPLE && kept as f64 > passed as f64 * LEFT_MAX
    }

    /// Of each key of a part the newest version; less than all if that does not pay.
    fn compact(&self, part: &Part, piece: &mut Piece) -> Result<Vec<Batch>> {
        let mut pieces = Vec::new();
        let mut cursor = BulkCursor::within(&self.batches, part.index, &part.prefixes);
        let mut kept = 0;
        while let Some(pushed) = cursor.next_with(|key, value, number| piece.push(key, value, number)) {
            pushed?;
            kept += 1;
            if piece.arena.len() >= PIECE_BYTES {
                pieces.push(piece.take(part.index));
                self.count(&mut cursor, &mut kept);
                if self.does_not_pay() {
                    return Ok(pieces);
                }
            }
        }
        self.count(&mut cursor, &mut kept);
        if !piece.slots.is_empty() {
            pieces.push(piece.take(part.index));
        }
        Ok(pieces)
    }

    fn count(&self, cursor: &mut BulkCursor, kept: &mut u64) {
        self.passed.fetch_add(cursor.take_passed(), Ordering::Relaxed);
        self.kept.fetch_add(std::mem::take(kept), Ordering::Relaxed);
    }
}

impl std::fmt::Debug for Compaction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Compaction({} batches in {} parts)", self.batches.len(), self.parts.len())
    }
}

/// Ranges of keys with about so many versions, all keys together.
fn parts_of(batches: &[Arc<Batch>], index: IndexId, versions: usize) -> Vec<Part> {
    let all = || batches.iter().filter_map(|batch| batch.of_index(index)).flat_map(|writes| &*writes.slots);
    let mut sample: Vec<u64> = all().step_by(PART_SAMPLE).map(|slot| slot.prefix).collect();
    sample.sort_unstable();
    let mut starts: Vec<u64> = sample.chunks((versions / PART_SAMPLE).max(1)).map(|chunk| chunk[0]).collect();
    starts.dedup();
    starts.first_mut().into_iter().for_each(|first| *first = 0);
    let ends = starts.iter().skip(1).map(|start| start - 1).chain([u64::MAX]);
    starts.iter().zip(ends).map(|(&start, end)| Part { index, prefixes: start..=end }).collect()
}

/// Versions of one index, ascending. Its memory serves one piece after the other.
struct Piece {
    /// The first and the last of all.
    numbers: (CommitNumber, CommitNumber),
    arena: Vec<u8>,
    slots: Vec<Slot>,
}

impl Piece {
    fn push(&mut self, key: &[u8], value: Option<&[u8]>, number: CommitNumber) -> Result<()> {
        let at = self.arena.len();
        self.arena.extend_from_slice(key);
        let value_at = value.map(|_| self.arena.len());
        self.arena.extend_from_slice(value.unwrap_or_default());
        self.slots.push(Slot::of(&self.arena, at, value_at, small(number.0 - self.numbers.0.0)?)?);
        Ok(())
    }

    fn take(&mut self, index: IndexId) -> Batch {
        let (first, last) = self.numbers;
        let sorted = Sorted::in_order(first, &self.slots, Bytes::copy_from_slice(&self.arena));
        self.arena.clear();
        self.slots.clear();
        Batch::of(first, last, vec![(index, Arc::new(sorted))])
    }
}
