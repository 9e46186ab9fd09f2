//! One state of all trees, and reading it.
//!
//! `Roots` are the index of tree roots of one generation. They pin it: while they live, [`crate::space`] gives away no
//! page that they reach. So readers take no latch and no lock on a page, and whatever they hold stays as it was.

use std::ops::Bound;
use std::sync::Arc;

use base::IndexId;
use bytes::Bytes;

use crate::manifest::{Tree, Trees};
use crate::page::leaf::Value;
use crate::page::{BLOCK_SIZE, Expected, Page};
use crate::shared::Shared;
use crate::{Cursor, Direction, LeafRows, Result, cursor, overflow};

/// One state of all trees. While it lives its pages are not reused; cloning is cheap.
#[derive(Clone)]
pub struct Roots(Arc<Pinned>);

struct Pinned {
    shared: Arc<Shared>,
    generation: u64,
    trees: Arc<Trees>,
}

impl Drop for Pinned {
    fn drop(&mut self) {
        self.shared.space.lock().unpin(self.generation);
    }
}

impl Roots {
    /// Pins a generation. The caller sees to it that nothing of it was reused yet: it is the newest.
    pub(crate) fn pin(shared: Arc<Shared>, generation: u64, trees: Arc<Trees>) -> Roots {
        shared.space.lock().pin(generation);
        Roots(Arc::new(Pinned { shared, generation, trees }))
    }

    /// Grows with each merge.
    pub fn generation(&self) -> u64 {
        self.0.generation
    }

    /// Indexes that have entries, ascending.
    pub fn indexes(&self) -> impl Iterator<Item = IndexId> {
        self.0.trees.keys().copied()
    }

    /// Indexes of which something can never be read again: changes were left out, because the pages that they belong to are
    /// damaged.
    pub fn damaged(&self) -> impl Iterator<Item = IndexId> {
        self.0.trees.iter().filter(|(_, tree)| tree.is_damaged()).map(|(index, _)| *index)
    }

    /// Number of entries of an index; 0 if it has no tree.
    pub fn entries(&self, index: IndexId) -> u64 {
        self.tree(index).map_or(0, |tree| tree.rows)
    }

    /// Pages of an index: leaves, inner nodes, overflow pages.
    pub fn pages(&self, index: IndexId) -> (u64, u64, u64) {
        self.tree(index).map_or((0, 0, 0), |tree| (tree.leaf_pages, tree.inner_pages, tree.overflow_pages))
    }

    /// Bytes that an index takes in the file.
    pub fn bytes(&self, index: IndexId) -> u64 {
        self.tree(index).map_or(0, |tree| tree.blocks * BLOCK_SIZE as u64)
    }

    /// Sum of the hashes of an index's entries: equal contents have equal sums, however they came about.
    pub fn content_hash(&self, index: IndexId) -> u64 {
        self.tree(index).map_or(0, |tree| tree.hash)
    }

    /// The value of a key. Does not allocate and does not suspend while the pages are in the cache; the value is a
    /// slice that keeps its page in memory (a larger one is put together from its overflow pages).
    pub async fn get(&self, index: IndexId, key: &[u8]) -> Result<Option<Bytes>> {
        match self.entry_of(index, key).await? {
            Some((leaf, entry)) => overflow::resolve(&self.0.shared, index, leaf.value(entry)).await.map(Some),
            None => Ok(None),
        }
    }

    /// The same without waiting: if all that is needed is in the cache, and the value in its leaf; `None` says nothing of the key.
    pub fn get_cached(&self, index: IndexId, key: &[u8]) -> Option<Option<Bytes>> {
        let leaf = self.cached_leaf_of(index, key, |_, _| ())?;
        match leaf.search(0, key) {
            (entry, true) => match leaf.value(entry) {
                Value::Inline(value) => Some(Some(value)),
                Value::Overflow(_) => None,
            },
            _ => Some(None),
        }
    }

    /// A cursor over a range; reads nothing yet.
    pub fn cursor(&self, index: IndexId, lower: Bound<Bytes>, upper: Bound<Bytes>, direction: Direction) -> Cursor {
        Cursor::new(self.clone(), index, lower, upper, direction)
    }

    /// All rows of a range, if they are in one leaf and all that is needed is in the cache; `None` says nothing of the range.
    pub fn rows_of_cached_leaf(
        &self,
        index: IndexId,
        range: (Bound<&[u8]>, Bound<&[u8]>),
        direction: Direction,
    ) -> Option<LeafRows> {
        cursor::rows_of_cached_leaf(self, index, range, direction)
    }

    /// How many entries a range has. Exact, for the price of looking for its two ends: nodes know the rows below them.
    pub async fn estimate(&self, index: IndexId, lower: Bound<&[u8]>, upper: Bound<&[u8]>) -> Result<u64> {
        let (from, to) = self.ends(index, lower, upper).await?;
        let to = to.map_or_else(|| self.entries(index), |end| end.rows());
        Ok(to.saturating_sub(from.map_or(0, |end| end.rows())))
    }

    /// The leaf with a key, and its place there; `None` if no leaf has it.
    pub(crate) async fn entry_of(&self, index: IndexId, key: &[u8]) -> Result<Option<(Page, usize)>> {
        let Some(tree) = self.tree(index) else { return Ok(None) };
        let leaf = self.leaf_of(index, tree, key).await?;
        let (entry, is_there) = leaf.search(0, key);
        Ok(is_there.then_some((leaf, entry)))
    }

    /// As [`Roots::leaf_of`], without waiting: if all nodes on the way are in the cache. Shows each inner one, with the child that is taken.
    pub(crate) fn cached_leaf_of(
        &self,
        index: IndexId,
        key: &[u8],
        mut show: impl FnMut(&Page, usize),
    ) -> Option<Page> {
        let (tree, cache) = (self.tree(index)?, &self.0.shared.cache);
        let mut at = tree.root;
        for _ in 1..tree.height {
            let node = cache.get(at)?;
            let child = node.child_for(key);
            show(&node, child);
            at = node.child_at(child);
        }
        cache.get(at)
    }

    /// The leaf in which a key is, if it is anywhere.
    async fn leaf_of(&self, index: IndexId, tree: &Tree, key: &[u8]) -> Result<Page> {
        let mut at = tree.root;
        for level in (1..tree.height).rev() {
            let node = self.node(index, at, level).await?;
            at = node.child_at(node.child_for(key));
        }
        self.node(index, at, 0).await
    }

    pub(crate) async fn node(&self, index: IndexId, at: crate::page::PageRef, level: u8) -> Result<Page> {
        self.0.shared.page(&Expected::node(at, index, level)).await
    }

    pub(crate) fn tree(&self, index: IndexId) -> Option<&Tree> {
        self.0.trees.get(&index)
    }

    pub(crate) fn trees(&self) -> &Arc<Trees> {
        &self.0.trees
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.0.shared
    }
}

impl std::fmt::Debug for Roots {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "roots of generation {} with {} trees", self.0.generation, self.0.trees.len())
    }
}
