//! One step of a merge: the versions of a frozen memtable between two numbers, into the newest trees.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::ops::Bound;
use std::sync::Arc;

use base::{CommitNumber, IndexId};
use bytes::Bytes;
use io::BoxFuture;
use store::{Change, Changes, Compression, Merge, MergeOptions, Roots, Store, StoreError};

use super::restore::{Entered, Outcome, RestoredChanges};
use super::room::Room;
use crate::bulk::{Batch, BulkCursor, BulkVersion};
use crate::error::{EngineError, Result};
use crate::large::{LargeCursor, LargeWrites};
use crate::memtable::chain::{BUILT, Version};
use crate::memtable::stamp::StampState;
use crate::memtable::{IndexTree, Key, Memtable};

/// Changes handed over at once.
const BATCH_CHANGES: usize = 256;
/// The same in bytes, where they come from files.
const BATCH_BYTES: usize = 1 << 20;
/// Keys looked at under one lock, at most.
const BATCH_KEYS: usize = 4096;

/// The newest version in `(after, upto]` of each key of one index.
struct FrozenChanges {
    tree: Arc<IndexTree>,
    after: CommitNumber,
    upto: CommitNumber,
    position: Option<Key>,
    ended: bool,
    /// Is told how far it is.
    room: Arc<Room>,
}

impl FrozenChanges {
    /// Visits some of them, unless there are none any more.
    fn fill(&mut self, mut visit: impl FnMut(&Key, &Version)) {
        let lower = self.position.take();
        let range = (lower.as_deref().map_or(Bound::Unbounded, Bound::Excluded), Bound::Unbounded);
        let (mut seen, mut found) = (0, 0);
        let mut last = None;
        self.ended = self.tree.walk(range, false, |key, chain| {
            if let Some(version) = chain.between(self.after, self.upto) {
                visit(key, version);
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
        self.room.advance(seen as u64);
    }
}

impl Changes for FrozenChanges {
    fn next_batch<'a>(&'a mut self, batch: &'a mut Vec<Change>) -> BoxFuture<'a, store::Result<()>> {
        Box::pin(async move {
            while batch.is_empty() && !self.ended {
                self.fill(|key, version| batch.push(change(key, version.value.clone())));
            }
            Ok(())
        })
    }
}

fn change(key: &Key, value: Option<Bytes>) -> Change {
    Change { key: Bytes::copy_from_slice(key), value }
}

/// The same where everything was installed in bulk.
struct BulkChanges {
    cursor: BulkCursor,
    room: Arc<Room>,
}

impl Changes for BulkChanges {
    fn next_batch<'a>(&'a mut self, batch: &'a mut Vec<Change>) -> BoxFuture<'a, store::Result<()>> {
        Box::pin(async move {
            while batch.len() < BATCH_CHANGES
                && let Some(BulkVersion { key, value, .. }) = self.cursor.next()
            {
                batch.push(Change { key, value });
            }
            self.room.advance(self.cursor.take_passed());
            Ok(())
        })
    }
}

/// The same where versions are in chains, in runs of large transactions, and in what was installed in bulk.
struct MixedChanges {
    chains: Option<FrozenChanges>,
    /// The next ones of the chains, with their numbers.
    buffer: VecDeque<(Key, Option<Bytes>, CommitNumber)>,
    runs: Vec<(LargeCursor, CommitNumber)>,
    bulk: BulkCursor,
    /// Taken from runs since the room was told.
    from_runs: u64,
    room: Arc<Room>,
}

impl MixedChanges {
    async fn fill(&mut self) -> store::Result<()> {
        if let Some(chains) = &mut self.chains {
            while self.buffer.is_empty() && !chains.ended {
                chains.fill(|key, version| {
                    let StampState::Committed(number) = version.stamp.state() else { return };
                    self.buffer.push_back((key.clone(), version.value.clone(), number));
                });
            }
        }
        for (cursor, _) in self.runs.iter_mut().filter(|(cursor, _)| cursor.is_empty()) {
            cursor.fill().await.map_err(cannot_read)?;
        }
        Ok(())
    }

    /// The next key with its newest version.
    fn pop(&mut self) -> Option<Change> {
        let chain = self.buffer.front().map(|(key, ..)| key);
        let bulk = self.bulk.peek().map(|version| Key::new(&version.key));
        let in_runs = self.runs.iter().filter_map(|(cursor, _)| cursor.first());
        let key = in_runs.chain(chain).chain(bulk.as_ref()).min()?.clone();
        let mut newest: Option<(CommitNumber, Option<Bytes>)> = None;
        if let Some((_, value, number)) = self.buffer.pop_front_if(|(other, ..)| *other == key) {
            newest = Some((number, value));
        }
        for (cursor, number) in self.runs.iter_mut().filter(|(cursor, _)| cursor.first() == Some(&key)) {
            let write = cursor.pop().and_then(|(_, write)| write);
            self.from_runs += 1;
            if newest.as_ref().is_none_or(|(other, _)| other < number) {
                newest = Some((*number, write));
            }
        }
        if bulk.is_some_and(|bulk| bulk == key)
            && let Some(version) = self.bulk.next()
            && newest.as_ref().is_none_or(|(other, _)| *other < version.number)
        {
            newest = Some((version.number, version.value));
        }
        newest.map(|(_, value)| change(&key, value))
    }
}

impl Changes for MixedChanges {
    fn next_batch<'a>(&'a mut self, batch: &'a mut Vec<Change>) -> BoxFuture<'a, store::Result<()>> {
        Box::pin(async move {
            let mut bytes = 0;
            while batch.len() < BATCH_CHANGES && bytes < BATCH_BYTES {
                self.fill().await?;
                let Some(change) = self.pop() else { break };
                bytes += change.value.as_ref().map_or(0, Bytes::len);
                batch.push(change);
            }
            self.room.advance(std::mem::take(&mut self.from_runs) + self.bulk.take_passed());
            Ok(())
        })
    }
}

fn cannot_read(error: EngineError) -> StoreError {
    let source = Arc::new(std::io::Error::other(error.to_string()));
    StoreError::Io { file: "runs of a transaction".into(), operation: "read", offset: 0, source }
}

/// What a step does beside merging a memtable.
pub(super) struct Changed<'a> {
    /// Trees that go.
    pub(super) gone: &'a HashSet<IndexId>,
    /// Ranges that are made anew.
    pub(super) restores: &'a [Arc<Entered>],
}

/// Applies changes to an index, over what is restored of it.
async fn apply(
    merge: &mut Merge,
    index: IndexId,
    compression: Compression,
    changes: &mut dyn Changes,
    restores: &[Arc<Entered>],
) -> Result<()> {
    // Of two of one index, which nobody hands over, the second one would be refused.
    let Some(entered) = restores.iter().find(|entered| entered.restore.index == index) else {
        return Ok(merge.apply(index, compression, changes).await?);
    };
    let restore = &entered.restore;
    let mut changes = RestoredChanges::new(changes, restore.entries.clone());
    Ok(merge.restore(index, compression, &mut changes, &restore.ranges).await?)
}

/// Merges `(after, upto]` of a memtable into the newest roots, compressed as is said of indexes; drops trees, restores ranges.
pub(super) async fn merge_step(
    store: &Arc<Store>,
    memtable: &Memtable,
    (after, upto): (CommitNumber, CommitNumber),
    Changed { gone, restores }: Changed<'_>,
    compressions: &HashMap<IndexId, Compression>,
    room: &Arc<Room>,
    options: MergeOptions,
) -> Result<Roots> {
    for entered in restores {
        let as_of = entered.restore.as_of;
        assert!(
            after <= as_of && as_of <= upto,
            "what is restored is of a state between the trees' and the checkpoint's"
        );
    }
    let mut merge = store.merge(&store.roots(), options).await?;
    for index in gone {
        merge.drop_tree(*index).await?;
    }
    let large: Vec<(Arc<LargeWrites>, CommitNumber)> = large_between(memtable, after, upto);
    // Before the trees are looked at: what is being settled is in one of the two, or in both.
    let bulk = bulk_between(memtable, after, upto);
    let in_runs = large.iter().flat_map(|(large, _)| large.indexes());
    let in_bulk = bulk.iter().flat_map(|batch| batch.indexes());
    let restored = restores.iter().map(|entered| entered.restore.index);
    let indexes: BTreeSet<IndexId> =
        memtable.indexes().into_iter().chain(in_runs).chain(in_bulk).chain(restored).collect();
    for index in indexes.into_iter().filter(|index| !gone.contains(index)) {
        let room = room.clone();
        let own = large.iter().filter(|(large, _)| large.runs.touches(index));
        let range = (Bound::Unbounded, Bound::Unbounded);
        let runs: Vec<_> = own.map(|(large, n)| (large.runs.cursor(index, range.clone(), false), *n)).collect();
        let bulk: Vec<_> = bulk.iter().filter(|batch| batch.touches(index)).cloned().collect();
        let chains = memtable.tree(index).map(|tree| FrozenChanges {
            tree,
            after,
            upto,
            position: None,
            ended: false,
            room: room.clone(),
        });
        let cursor = BulkCursor::new(&bulk, index);
        let compression = compressions.get(&index).copied().unwrap_or_default();
        match chains {
            Some(mut chains) if runs.is_empty() && bulk.is_empty() => {
                apply(&mut merge, index, compression, &mut chains, restores).await?;
            }
            None if runs.is_empty() => {
                apply(&mut merge, index, compression, &mut BulkChanges { cursor, room }, restores).await?;
            }
            chains => {
                let buffer = VecDeque::new();
                let mut changes = MixedChanges { chains, buffer, runs, bulk: cursor, from_runs: 0, room };
                apply(&mut merge, index, compression, &mut changes, restores).await?;
            }
        }
    }
    for error in merge.damaged() {
        tracing::error!("checkpoint: {error}; it goes on without the changes of the rows there");
    }
    let set_aside: HashSet<IndexId> = merge.damaged().iter().filter_map(index_of).collect();
    let roots = merge.finish().await?;
    for entered in restores {
        let index = entered.restore.index;
        let is_whole = !set_aside.contains(&index) && !roots.damaged().any(|damaged| damaged == index);
        entered.merged(if is_whole { Outcome::Restored } else { Outcome::NotAll });
    }
    Ok(roots)
}

fn index_of(damage: &StoreError) -> Option<IndexId> {
    if let StoreError::Corrupt { index, .. } = damage { *index } else { None }
}

/// What was installed in bulk in `(after, upto]`.
fn bulk_between(memtable: &Memtable, after: CommitNumber, upto: CommitNumber) -> Vec<Arc<Batch>> {
    let mut batches = memtable.bulk();
    debug_assert!(
        batches.iter().all(|batch| batch.first > upto || batch.last <= upto),
        "no checkpoint falls into a batch"
    );
    batches.retain(|batch| batch.first > after && batch.last <= upto);
    batches
}

/// The large transactions in `(after, upto]`, and entries of number 0 that a statement has built.
fn large_between(
    memtable: &Memtable,
    after: CommitNumber,
    upto: CommitNumber,
) -> Vec<(Arc<LargeWrites>, CommitNumber)> {
    let numbered = |large: &Arc<LargeWrites>| match large.stamp.state() {
        StampState::Committed(number) if (number > after || number == BUILT) && number <= upto => {
            Some((large.clone(), number))
        }
        _ => None,
    };
    memtable.large().iter().filter_map(numbered).collect()
}

/// Copies the versions above `upto` into a newer memtable.
pub(super) fn copy_leftovers(frozen: &Memtable, upto: CommitNumber, newer: &Memtable) {
    for (large, number) in large_between(frozen, upto, CommitNumber(u64::MAX)) {
        // What was built is in the trees already.
        if number != BUILT {
            newer.attach_shared(&large);
        }
    }
    for batch in bulk_between(frozen, upto, CommitNumber(u64::MAX)) {
        newer.attach_bulk(batch);
    }
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
