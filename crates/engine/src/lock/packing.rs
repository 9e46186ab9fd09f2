//! How an owner of very many locks packs them, while it goes on asking for more.
//!
//! What it has collected is packed piece by piece, with pauses in which others of the same thread run. An owner that is dropped in a
//! pause has each lock in one of its lists still, or packed.

use futures_lite::future::yield_now;

use super::LockOwner;
use super::packed_keys::{KeyRun, settle};

/// Entries that are moved without a pause: about a millisecond.
const WORK_AT_ONCE: usize = 16_384;
/// Keys that are taken out of an index's pending ones while nobody else can look at them.
const KEYS_AT_ONCE: usize = 1024;

/// Lets others run after each piece of work.
#[derive(Default)]
pub(super) struct Pauses {
    done: usize,
}

impl Pauses {
    pub(super) async fn after(&mut self, work: usize) {
        self.done += work;
        if self.done >= WORK_AT_ONCE {
            self.done = 0;
            yield_now().await;
        }
    }
}

impl LockOwner {
    /// Packs the record locks that nobody else has or wants. Each is tried once: what is contended stays as it is.
    pub(super) async fn pack_records(&mut self) {
        let mut pauses = Pauses::default();
        self.records.sort_unstable_by_key(|id| id.shard());
        self.has_packed = true;
        while let Some(last) = self.records.last() {
            let shard = last.shard();
            let from = self.records.partition_point(|id| id.shard() < shard);
            let before = self.contended.len();
            let ids = &self.records[from..];
            let work = self.manager.records.pack(ids, self.id, self.list, &mut self.contended);
            self.packed += ids.len() - (self.contended.len() - before);
            self.records.truncate(from);
            pauses.after(work).await;
        }
    }

    /// Packs the keys of pending inserts.
    pub(super) async fn pack_inserts(&mut self) {
        let mut pauses = Pauses::default();
        self.inserts.sort_unstable();
        while let Some(&(index, _)) = self.inserts.last() {
            let ranges = &self.manager.ranges;
            let from = self.inserts.partition_point(|(other, _)| *other < index);
            let mut runs = ranges.packed_runs(index, self.list);
            let newest = KeyRun::new(self.inserts[from..].iter().map(|(_, key)| &**key));
            settle(&mut runs, newest, &mut pauses).await;
            if !self.packed_inserts.contains(&index) {
                self.packed_inserts.push(index);
            }
            // First there twice, then once: no scan misses them in between.
            ranges.set_packed_runs(index, self.list, self.id, runs);
            while self.inserts.len() > from {
                let piece = from.max(self.inserts.len().saturating_sub(KEYS_AT_ONCE));
                ranges.end_inserts(index, self.inserts[piece..].iter().map(|(_, key)| key));
                self.inserts.truncate(piece);
                pauses.after(KEYS_AT_ONCE).await;
            }
        }
    }
}
