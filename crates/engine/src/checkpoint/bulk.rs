//! Room for what is installed in bulk, where nobody reads yet.
//!
//! The page cache has hardly anything to hold then (merges pass it by), so most of its memory is lent to the memtables; and nobody is
//! slowed down before the bound, because nobody notices who waits. A checkpoint rewrites most of the trees that it
//! touches, and recovery waits for it: it is begun only when a compaction ([`crate::bulk::Batches`]) does not make room, and what is left
//! of the log does not fit into memory.

use std::sync::atomic::Ordering;

use base::{Cancel, CommitNumber};

use super::room::Room;
use super::{Checkpoints, NO_RECOVERY, RECOVERED_BYTES_MIN};
use crate::core::Core;
use crate::error::Result;
use crate::memtable::Memtable;

impl Checkpoints {
    /// So many bytes more of memory were installed in bulk.
    pub(crate) fn installed_bulk(&self, bytes: usize) {
        self.bulk_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Whoever waits for room looks again.
    pub(crate) fn room_changed(&self) {
        self.room.changed();
    }

    /// Bytes of memory that the rest of a recovery will take, by what it took so far.
    fn rest_of_bulk(&self) -> usize {
        let (left, first) = (self.recovery_left.load(Ordering::Relaxed), self.recovery_first.load(Ordering::Relaxed));
        let done = first.saturating_sub(left);
        match left {
            NO_RECOVERY => usize::MAX,
            // In the log a row takes more.
            _ if done < RECOVERED_BYTES_MIN => left as usize,
            _ => (self.bulk_bytes.load(Ordering::Relaxed) as f64 / done as f64 * left as f64) as usize,
        }
    }
}

impl Core {
    /// What all memtables together may have.
    fn bulk_size(&self) -> usize {
        self.tunables.memtable_bytes() + self.options.page_cache_bytes / 8 * 5
    }

    /// What the active memtable may have.
    pub(crate) fn bulk_bound(&self) -> usize {
        Room::most_of_active(self.bulk_size(), self.views.layers().frozen_bytes())
    }

    /// Ready when a batch with this first number may be installed.
    pub(crate) async fn wait_for_room_of_bulk(&self, number: CommitNumber) -> Result<()> {
        self.wait_until(|| self.has_room_of_bulk(number), false, &Cancel::new()).await
    }

    fn has_room_of_bulk(&self, number: CommitNumber) -> bool {
        let active = self.views.layers().active().clone();
        if number <= active.after() {
            return true;
        }
        let bound = self.bulk_bound();
        let bytes = active.bytes();
        let may_shrink = || bytes < bound && active.with_bulk(|bulk| bulk.may_shrink(bound));
        if bytes >= bound / 2 && !self.rest_fits_with(&active, bound) && !may_shrink() {
            self.checkpoints.want();
        }
        bytes < bound
    }

    /// Whether the rest of the recovery fits beside what is there, and afterwards into a memtable of the usual size.
    fn rest_fits_with(&self, active: &Memtable, bound: usize) -> bool {
        let rest = self.checkpoints.rest_of_bulk();
        let compacted = active.with_bulk(|bulk| bulk.bytes_with(rest.min(bound)));
        active.bytes().saturating_add(rest) <= bound && compacted <= self.tunables.memtable_bytes()
    }
}
