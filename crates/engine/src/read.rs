//! Reading a state: one key, or a range in order, out of memtables and trees.
//!
//! ```text
//!   active   | k2: gone |          | k5: e'   |
//!   frozen   |          | k3: c    |          |
//!   trees    | k2: b    | k3: old  | k5: e    | k9: i
//!   read     |          | k3: c    | k5: e'   | k9: i
//! ```
//! Each key comes from the newest layer that has a version of it that the [`Selector`] accepts. Which layer is newer is a
//! matter of place, not of numbers; see the invariants of `memtable` and `view`.

use std::cmp::Ordering;
use std::collections::VecDeque;
use std::ops::Bound;
use std::sync::Arc;

use base::{CommitNumber, IndexId};
use bytes::Bytes;
use store::{Direction, LeafRows, Roots};

use crate::core::Core;
use crate::error::Result;
use crate::large::{LargeCursor, LargeWrites, compare};
use crate::memtable::chain::Chain;
use crate::memtable::stamp::{StampState, VersionStamp};
use crate::memtable::{IndexTree, Key, Memtable, Newest};
use crate::view::Layers;

/// Which version of a key.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Selector {
    /// The newest at or below a number.
    At(CommitNumber),
    /// The newest of all, published or not: for those who hold the row's lock.
    Newest,
}

/// A key with its version; `value` is `None` where the row was deleted.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) key: Key,
    pub(crate) value: Option<Bytes>,
    pub(crate) stamp: VersionStamp,
}

/// Where the newest version of a key is.
pub(crate) enum NewestOr {
    InMemory(Newest),
    Below(Roots),
}

/// What the trees hold was published long ago.
pub(crate) const IN_TREES: VersionStamp = VersionStamp::Known(CommitNumber(0));

impl Selector {
    pub(crate) fn select(self, chain: &Chain) -> Option<&crate::memtable::chain::Version> {
        match self {
            Selector::At(snapshot) => chain.visible(snapshot),
            Selector::Newest => chain.newest(),
        }
    }

    /// Those whose versions may be wanted, and what is known of their place now.
    fn select_large(self, large: &[Arc<LargeWrites>]) -> Vec<(Arc<LargeWrites>, StampState)> {
        let states = large.iter().map(|large| (large.clone(), large.stamp.state()));
        let is_wanted = |state: &StampState| match (self, state) {
            (_, StampState::Aborted) => false,
            (Selector::Newest, _) => true,
            (Selector::At(snapshot), StampState::Committed(number)) => *number <= snapshot,
            (Selector::At(_), StampState::Pending) => false,
        };
        states.filter(|(_, state)| is_wanted(state)).collect()
    }
}

impl Core {
    /// The newest version of a key, or the trees in which it is if it is in no memtable.
    pub(crate) async fn newest(&self, index: IndexId, key: &[u8]) -> Result<NewestOr> {
        let layers = {
            let layers = self.views.layers();
            if !layers.has_large() {
                return Ok(match layers.get_newest(index, key) {
                    Some(newest) => NewestOr::InMemory(newest),
                    None => NewestOr::Below(layers.roots.clone()),
                });
            }
            layers.clone()
        };
        Ok(match layers.find(index, key, Selector::Newest).await? {
            Some(newest) => NewestOr::InMemory(newest),
            None => NewestOr::Below(layers.roots.clone()),
        })
    }
}

impl Layers {
    /// The value of a key at a number.
    pub(crate) fn get_visible(&self, index: IndexId, key: &[u8], snapshot: CommitNumber) -> Option<Option<Bytes>> {
        self.memtables.iter().find_map(|m| m.with_tree(index, |tree| tree.get_visible(key, snapshot)).flatten())
    }

    /// The newest version of a key in memory.
    pub(crate) fn get_newest(&self, index: IndexId, key: &[u8]) -> Option<Newest> {
        self.memtables.iter().find_map(|m| m.with_tree(index, |tree| tree.get_newest(key)).flatten())
    }

    /// Whether some of what is in memory is in runs of large transactions.
    pub(crate) fn has_large(&self) -> bool {
        self.memtables.iter().any(|memtable| !memtable.large().is_empty())
    }

    /// The version of a key that is wanted, of those that are in no tree yet.
    pub(crate) async fn find(&self, index: IndexId, key: &[u8], selector: Selector) -> Result<Option<Newest>> {
        for memtable in &self.memtables {
            // Before the chain is looked at.
            let large = selector.select_large(&memtable.large());
            let mut best = memtable.with_tree(index, |tree| tree.find(key, selector)).flatten();
            for (large, state) in large {
                let is_newer = best.as_ref().is_none_or(|best| compare(state, best.stamp.state()).is_gt());
                if is_newer && let Some(value) = large.runs.get(index, key).await? {
                    best = Some(Newest { value, stamp: large.stamp.clone() });
                }
            }
            if best.is_some() {
                return Ok(best);
            }
        }
        Ok(None)
    }

    /// A number that changes with every install in an index, for as long as these are the layers of now. The frozen memtable
    /// counts too: who began to install before the freeze goes on in it.
    pub(crate) fn installs(&self, index: IndexId) -> u64 {
        let of = |m: &Arc<Memtable>| m.attached() + m.with_tree(index, IndexTree::installs).unwrap_or(0);
        self.memtables.iter().map(of).sum()
    }
}

/// How many keys of a memtable are taken at once: few at first, because most scans are short.
const CHUNK_KEYS_FIRST: usize = 16;
const CHUNK_KEYS_MAX: usize = 256;

/// A range of one index in one of its memtables.
struct MemorySource {
    /// Which memtable, the newest first.
    rank: usize,
    tree: Arc<IndexTree>,
    buffer: VecDeque<Found>,
    /// What is left of the range behind the buffer.
    rest: Option<(Bound<Bytes>, Bound<Bytes>)>,
    chunk_keys: usize,
}

impl MemorySource {
    /// Fills the buffer, unless the range is at its end. All keys of a chunk may be invisible: then the next one is taken.
    fn fill(&mut self, selector: Selector, backward: bool) {
        while self.buffer.is_empty()
            && let Some(rest) = self.rest.take()
        {
            self.fill_chunk(rest, selector, backward);
        }
    }

    fn fill_chunk(&mut self, (lower, upper): (Bound<Bytes>, Bound<Bytes>), selector: Selector, backward: bool) {
        let range = (lower.as_ref().map(|b| &b[..]), upper.as_ref().map(|b| &b[..]));
        let mut last = None;
        let mut left = self.chunk_keys;
        let buffer = &mut self.buffer;
        let ended = self.tree.walk(range, backward, |key, chain| {
            if let Some(version) = selector.select(chain) {
                let stamp = version.stamp.clone();
                buffer.push_back(Found { key: key.clone(), value: version.value.clone(), stamp });
            }
            left -= 1;
            if left == 0 {
                last = Some(Bytes::copy_from_slice(key));
            }
            left > 0
        });
        if !ended && let Some(last) = last {
            let after = Bound::Excluded(last);
            self.rest = Some(if backward { (lower, after) } else { (after, upper) });
            self.chunk_keys = (self.chunk_keys * 4).min(CHUNK_KEYS_MAX);
        }
    }
}

/// A range of one index in the runs of a large transaction.
struct LargeSource {
    rank: usize,
    cursor: LargeCursor,
    stamp: VersionStamp,
    /// As it was before any chain was looked at.
    state: StampState,
}

/// A range of one index in the tree below.
struct TreeSource {
    cursor: store::Cursor,
    /// Of the leaf, those that are still to come.
    rows: Option<LeafRows>,
    /// The value of the first of them, if it is in pages of its own.
    elsewhere: Option<Bytes>,
    ended: bool,
}

impl TreeSource {
    /// Whether there may be more to read before the first row is known.
    fn is_empty(&self) -> bool {
        match &self.rows {
            Some(rows) => rows.value(0).is_none() && self.elsewhere.is_none(),
            None => !self.ended,
        }
    }

    async fn fill(&mut self) -> Result<()> {
        if self.rows.is_none() {
            self.rows = self.cursor.next_rows().await?.filter(|rows| !rows.is_empty());
            self.ended = self.rows.is_none();
        }
        if let Some(rows) = &self.rows
            && rows.value(0).is_none()
        {
            self.elsewhere = Some(self.cursor.value(rows, 0).await?);
        }
        Ok(())
    }

    fn key(&self) -> Option<&[u8]> {
        self.rows.as_ref().map(|rows| rows.key(0))
    }

    /// The value of the first row.
    fn take_value(&mut self) -> Option<Bytes> {
        self.elsewhere.take().or_else(|| self.rows.as_ref()?.value_bytes(0))
    }

    /// Goes on behind the first row.
    fn advance(&mut self) {
        self.elsewhere = None;
        if let Some(rows) = &mut self.rows {
            rows.advance(1);
            if rows.is_empty() {
                self.rows = None;
            }
        }
    }
}

/// Goes through a range of one index, in order, with one version per key (deleted ones too).
pub(crate) struct Merged {
    layers: Arc<Layers>,
    selector: Selector,
    backward: bool,
    memory: Vec<MemorySource>,
    large: Vec<LargeSource>,
    tree: TreeSource,
}

impl Merged {
    pub(crate) fn new(
        layers: Arc<Layers>,
        index: IndexId,
        lower: Bound<Bytes>,
        upper: Bound<Bytes>,
        direction: Direction,
        selector: Selector,
    ) -> Self {
        let mut large = Vec::new();
        for (rank, memtable) in layers.memtables.iter().enumerate() {
            for (writes, state) in selector.select_large(&memtable.large()) {
                let backward = direction == Direction::Backward;
                let cursor = writes.runs.cursor(index, (lower.clone(), upper.clone()), backward);
                large.push(LargeSource { rank, cursor, stamp: writes.stamp.clone(), state });
            }
        }
        let source = |(rank, tree)| MemorySource {
            rank,
            tree,
            buffer: VecDeque::new(),
            rest: Some((lower.clone(), upper.clone())),
            chunk_keys: CHUNK_KEYS_FIRST,
        };
        let trees = layers.memtables.iter().enumerate().filter_map(|(rank, m)| Some((rank, m.tree(index)?)));
        let memory = trees.map(source).collect();
        let cursor = layers.roots.cursor(index, lower, upper, direction);
        let tree = TreeSource { cursor, rows: None, elsewhere: None, ended: false };
        Merged { layers, selector, backward: direction == Direction::Backward, memory, large, tree }
    }

    /// The same without what only the tree has.
    pub(crate) fn above_tree(mut self) -> Self {
        self.tree.ended = true;
        self
    }

    pub(crate) fn layers(&self) -> &Arc<Layers> {
        &self.layers
    }

    /// What is left of the tree's leaf, if no other layer has a key among its keys: all of it, in one piece.
    pub(crate) async fn next_leaf(&mut self) -> Result<Option<LeafRows>> {
        if self.tree.is_empty() {
            self.tree.fill().await?;
        }
        let Some(last) = self.tree.rows.as_ref().and_then(|rows| Some(rows.key(rows.len().checked_sub(1)?))) else {
            return Ok(None);
        };
        let last = Key::new(last);
        for source in &mut self.memory {
            source.fill(self.selector, self.backward);
        }
        let is_behind = |source: &MemorySource| match source.buffer.front() {
            Some(found) => self.is_before(&last, &found.key),
            None => true,
        };
        let is_alone = self.large.is_empty() && self.memory.iter().all(is_behind);
        Ok(self.tree.rows.take_if(|rows| is_alone && rows.are_inline()))
    }

    /// The next key. A future that is dropped has moved nothing.
    pub(crate) async fn next(&mut self) -> Result<Option<Found>> {
        if self.tree.is_empty() {
            self.tree.fill().await?;
        }
        if self.large.is_empty() {
            return Ok(self.next_in_memory());
        }
        for source in &mut self.large {
            if source.cursor.is_empty() {
                source.cursor.fill().await?;
            }
        }
        Ok(self.next_of_all())
    }

    /// The next key where runs are among the sources.
    fn next_of_all(&mut self) -> Option<Found> {
        for source in &mut self.memory {
            source.fill(self.selector, self.backward);
        }
        let chains = self.memory.iter().filter_map(|source| source.buffer.front()).map(|found| found.key.as_slice());
        let runs = self.large.iter().filter_map(|source| source.cursor.first()).map(Key::as_slice);
        let keys = chains.chain(runs).chain(self.tree.key());
        let key = Key::new(keys.reduce(|first, key| if self.is_before(key, first) { key } else { first })?);
        // By rank, and within a memtable by what is newer.
        let mut best: Option<(usize, Found)> = None;
        for source in &mut self.memory {
            let Some(found) = source.buffer.pop_front_if(|found| found.key == key) else { continue };
            if best.is_none() {
                best = Some((source.rank, found));
            }
        }
        for source in self.large.iter_mut().filter(|source| source.cursor.first() == Some(&key)) {
            let Some((key, value)) = source.cursor.pop() else { continue };
            let is_newer = best.as_ref().is_none_or(|(rank, best)| match source.rank.cmp(rank) {
                Ordering::Equal => compare(source.state, best.stamp.state()).is_gt(),
                other => other.is_lt(),
            });
            if is_newer {
                best = Some((source.rank, Found { key, value, stamp: source.stamp.clone() }));
            }
        }
        if self.tree.key() == Some(&key) {
            if best.is_none() {
                best = Some((usize::MAX, Found { key, value: self.tree.take_value(), stamp: IN_TREES }));
            }
            self.tree.advance();
        }
        best.map(|(_, found)| found)
    }

    fn next_in_memory(&mut self) -> Option<Found> {
        for source in &mut self.memory {
            source.fill(self.selector, self.backward);
        }
        let mut first: Option<(usize, &[u8])> = None;
        for (number, source) in self.memory.iter().enumerate() {
            let Some(found) = source.buffer.front() else { continue };
            if first.is_none_or(|(_, key)| self.is_before(&found.key, key)) {
                first = Some((number, &found.key));
            }
        }
        let tree_is_first = match (self.tree.key(), first) {
            (None, _) => false,
            (Some(_), None) => true,
            (Some(key), Some((_, other))) => self.is_before(key, other),
        };
        if tree_is_first {
            let key = Key::new(self.tree.key()?);
            let value = self.tree.take_value();
            self.tree.advance();
            return Some(Found { key, value, stamp: IN_TREES });
        }
        let (number, _) = first?;
        let found = self.memory[number].buffer.pop_front()?;
        for older in &mut self.memory[number + 1..] {
            if older.buffer.front().is_some_and(|other| other.key == found.key) {
                older.buffer.pop_front();
            }
        }
        if self.tree.key() == Some(&found.key) {
            self.tree.advance();
        }
        Some(found)
    }

    fn is_before(&self, key: &[u8], other: &[u8]) -> bool {
        if self.backward { key > other } else { key < other }
    }
}

/// Whether everybody can see a version already.
pub(crate) fn is_published(stamp: &VersionStamp, visible: CommitNumber) -> bool {
    matches!(stamp.state(), StampState::Committed(number) if number <= visible)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memtable::chain::Version;

    /// A load of millions of rows beside a scan that sees none of them: no stack is deep enough for a step each.
    #[test]
    fn a_scan_passes_by_millions_of_invisible_keys() {
        let tree = Arc::new(IndexTree::default());
        for number in 0..2_000_000u32 {
            let stamp = VersionStamp::Known(CommitNumber(if number == 1_999_999 { 1 } else { 7 }));
            tree.install(&number.to_be_bytes(), Version { stamp, value: None }, || CommitNumber(0));
        }
        let rest = Some((Bound::Unbounded, Bound::Unbounded));
        let mut source = MemorySource { rank: 0, tree, buffer: VecDeque::new(), rest, chunk_keys: CHUNK_KEYS_FIRST };
        source.fill(Selector::At(CommitNumber(3)), false);
        assert_eq!(source.buffer.len(), 1);
    }
}
