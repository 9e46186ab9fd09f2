//! One step of a merge: the versions of a frozen memtable between two numbers, into the newest trees.

use std::collections::HashSet;
use std::ops::Bound;
use std::sync::Arc;

use base::{CommitNumber, IndexId};
use bytes::Bytes;
use store::{Change, Changes, MergeOptions, Roots, Store};

use crate::error::Result;
use crate::memtable::{IndexTree, Key, Memtable};

/// Changes handed over at once.
const BATCH_CHANGES: usize = 256;
/// Keys looked at under one lock, at most.
const BATCH_KEYS: usize = 4096;

/// The newest version in `(after, upto]` of each key of one index.
struct FrozenChanges {
    tree: Arc<IndexTree>,
    after: CommitNumber,
    upto: CommitNumber,
    position: Option<Key>,
    ended: bool,
}

impl FrozenChanges {
    fn fill(&mut self, batch: &mut Vec<Change>) {
        let lower = self.position.take();
        let range = (lower.as_deref().map_or(Bound::Unbounded, Bound::Excluded), Bound::Unbounded);
        let (mut seen, mut found) = (0, 0);
        let mut last = None;
        self.ended = self.tree.walk(range, false, |key, chain| {
            if let Some(version) = chain.between(self.after, self.upto) {
                batch.push(Change { key: Bytes::copy_from_slice(key), value: version.value.clone() });
                found += 1;
            }
            seen += 1;
            let goes_on = found < BATCH_CHANGES && seen < BATCH_KEYS;
            if !goes_on {
                last = Some(key.clone());
            }
            goes_on
        });
        self.position = last;
    }
}

impl Changes for FrozenChanges {
    async fn next_batch(&mut self, batch: &mut Vec<Change>) -> store::Result<()> {
        while batch.is_empty() && !self.ended {
            self.fill(batch);
        }
        Ok(())
    }
}

/// Merges `(after, upto]` of a memtable into the newest roots; drops trees.
pub(super) async fn merge_step(
    store: &Arc<Store>,
    memtable: &Memtable,
    (after, upto): (CommitNumber, CommitNumber),
    gone: &HashSet<IndexId>,
    options: MergeOptions,
) -> Result<Roots> {
    let mut merge = store.merge(&store.roots(), options).await?;
    for index in gone {
        merge.drop_tree(*index).await?;
    }
    for index in memtable.indexes().into_iter().filter(|index| !gone.contains(index)) {
        let Some(tree) = memtable.tree(index) else { continue };
        merge.apply(index, FrozenChanges { tree, after, upto, position: None, ended: false }).await?;
    }
    Ok(merge.finish().await?)
}

/// Copies the versions above `upto` into a newer memtable.
pub(super) fn copy_leftovers(frozen: &Memtable, upto: CommitNumber, newer: &Memtable) {
    for index in frozen.indexes() {
        let Some(tree) = frozen.tree(index) else { continue };
        tree.walk((Bound::Unbounded, Bound::Unbounded), false, |key, chain| {
            frozen.copy_later(upto, index, key, chain, newer);
            true
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memtable::stamp::{Stamp, VersionStamp};

    fn install(memtable: &Memtable, number: u64, value: &'static str) {
        let stamp = VersionStamp::Known(CommitNumber(number));
        memtable.install(IndexId(1), b"k", Some(value.into()), stamp, || CommitNumber(0));
    }

    /// 11 began to install before the freeze, and came into the queue behind 10, which began after it: the checkpoint is
    /// at 9, and 11 has to be found in the active memtable when the frozen one is gone.
    #[test]
    fn leftovers_come_before_what_was_written_after_them() {
        let (frozen, active) = (Memtable::new(CommitNumber(0)), Memtable::new(CommitNumber(8)));
        let pending = Stamp::new();
        install(&frozen, 5, "five");
        install(&frozen, 11, "eleven");
        install(&active, 13, "thirteen");
        active.install(IndexId(1), b"k", None, VersionStamp::Shared(pending.clone()), || CommitNumber(0));
        copy_leftovers(&frozen, CommitNumber(9), &active);
        copy_leftovers(&frozen, CommitNumber(9), &active);
        let at = |number| {
            let value = active.with_tree(IndexId(1), |tree| tree.get_visible(b"k", CommitNumber(number)));
            value.flatten().flatten()
        };
        assert_eq!(at(10), None);
        assert_eq!(at(11).as_deref(), Some(&b"eleven"[..]));
        assert_eq!(at(13).as_deref(), Some(&b"thirteen"[..]));
        pending.commit(CommitNumber(14));
        assert_eq!(at(14), None);
    }
}
