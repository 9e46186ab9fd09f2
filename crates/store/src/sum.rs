//! What a range of a tree holds, in two numbers: its rows, and the sum of their hashes.
//!
//! Nodes know both of everything below them, so a range costs the way down to its two ends. The sum does not depend on how rows
//! lie in pages: two trees that give the same for a range hold the same rows there, and where they do not, [`Roots::separators`]
//! says where the range can be cut to ask again.

use std::ops::Bound;

use base::IndexId;
use bytes::Bytes;

use crate::page::{Page, row_hash};
use crate::{Result, Roots};

/// Rows, and the wrapping sum of their hashes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowSum {
    /// How many.
    pub rows: u64,
    /// Of key and value of each.
    pub hash: u64,
}

impl RowSum {
    /// With one more row, of this hash.
    pub fn add(&mut self, hash: u64) {
        self.rows = self.rows.wrapping_add(1);
        self.hash = self.hash.wrapping_add(hash);
    }

    /// Without a row of this hash, which is in it or still to come.
    pub fn remove(&mut self, hash: u64) {
        self.rows = self.rows.wrapping_sub(1);
        self.hash = self.hash.wrapping_sub(hash);
    }

    /// The hash of a row, as trees sum it.
    pub fn hash_of(key: &[u8], value: &[u8]) -> u64 {
        row_hash(key, value)
    }

    /// What is in this and not in `other`, which is a part of it.
    fn without(self, other: RowSum) -> RowSum {
        RowSum { rows: self.rows.wrapping_sub(other.rows), hash: self.hash.wrapping_sub(other.hash) }
    }
}

/// The way to a key, at its end.
pub(crate) struct Rank {
    /// Everything before its leaf.
    pub(crate) before: RowSum,
    /// Its leaf, and how many of that come before the place that was looked for.
    pub(crate) leaf: Option<(Page, usize)>,
}

impl Rank {
    /// Rows before the place.
    pub(crate) fn rows(&self) -> u64 {
        self.before.rows + self.leaf.as_ref().map_or(0, |(_, entries)| *entries as u64)
    }

    /// What is before the place.
    fn sum(&self) -> RowSum {
        let mut sum = self.before;
        if let Some((leaf, entries)) = &self.leaf {
            (0..*entries).for_each(|entry| sum.add(leaf.row_hash(entry)));
        }
        sum
    }
}

impl Roots {
    /// What a range of an index holds, exactly, for the price of looking for its two ends.
    pub async fn sum(&self, index: IndexId, lower: Bound<&[u8]>, upper: Bound<&[u8]>) -> Result<RowSum> {
        self.check_whole(index)?;
        let (from, to) = self.ends(index, lower, upper).await?;
        let all = || RowSum { rows: self.entries(index), hash: self.content_hash(index) };
        let (from, to) = (from.map_or_else(RowSum::default, |end| end.sum()), to.map_or_else(all, |end| end.sum()));
        // A range that is upside down has nothing.
        Ok(if to.rows > from.rows { to.without(from) } else { RowSum::default() })
    }

    /// How many rows a range of an index has: those of [`Roots::sum`], without a look at any of them.
    pub async fn count(&self, index: IndexId, lower: Bound<&[u8]>, upper: Bound<&[u8]>) -> Result<u64> {
        self.check_whole(index)?;
        self.estimate(index, lower, upper).await
    }

    /// An error if rows of an index were left out.
    fn check_whole(&self, index: IndexId) -> Result<()> {
        let Some(tree) = self.tree(index).filter(|tree| tree.is_damaged()) else { return Ok(()) };
        let what = "changes of its rows were left out, because pages that they belong to are damaged";
        Err(self.shared().file.corrupt(tree.root.number, Some(index), what.to_string()))
    }

    /// The hash of a key's row, if there is one. Reads no page of a value that is elsewhere.
    pub async fn row_hash(&self, index: IndexId, key: &[u8]) -> Result<Option<u64>> {
        Ok(self.entry_of(index, key).await?.map(|(leaf, entry)| leaf.row_hash(entry)))
    }

    /// Whether there is a row with a key.
    pub async fn contains(&self, index: IndexId, key: &[u8]) -> Result<bool> {
        Ok(self.entry_of(index, key).await?.is_some())
    }

    /// Keys strictly inside of a range at which it can be cut into parts of about the same size, ascending: those of the highest
    /// node that has any. None if the range is in one leaf.
    pub async fn separators(&self, index: IndexId, lower: Bound<&[u8]>, upper: Bound<&[u8]>) -> Result<Vec<Bytes>> {
        let Some(tree) = self.tree(index) else { return Ok(Vec::new()) };
        let mut at = tree.root;
        for level in (1..tree.height).rev() {
            let node = self.node(index, at, level).await?;
            let is_above = |key: &[u8]| match lower {
                Bound::Unbounded => true,
                Bound::Included(bound) | Bound::Excluded(bound) => key > bound,
            };
            let is_below = |key: &[u8]| match upper {
                Bound::Unbounded => true,
                Bound::Included(bound) | Bound::Excluded(bound) => key < bound,
            };
            let inside = (1..node.count()).filter(|&child| {
                let key = node.child_key(child);
                is_above(key) && is_below(key)
            });
            let keys: Vec<Bytes> = inside.map(|child| node.child_key_bytes(child)).collect();
            if !keys.is_empty() {
                return Ok(keys);
            }
            at = node.child_at(match lower {
                Bound::Unbounded => 0,
                Bound::Included(key) | Bound::Excluded(key) => node.child_for(key),
            });
        }
        Ok(Vec::new())
    }

    /// Where a range begins, and where it ends; `None` for an end of the index.
    pub(crate) async fn ends(
        &self,
        index: IndexId,
        lower: Bound<&[u8]>,
        upper: Bound<&[u8]>,
    ) -> Result<(Option<Rank>, Option<Rank>)> {
        let from = match lower {
            Bound::Unbounded => None,
            Bound::Included(key) => Some(self.rank(index, key, false).await?),
            Bound::Excluded(key) => Some(self.rank(index, key, true).await?),
        };
        let to = match upper {
            Bound::Unbounded => None,
            Bound::Included(key) => Some(self.rank(index, key, true).await?),
            Bound::Excluded(key) => Some(self.rank(index, key, false).await?),
        };
        Ok((from, to))
    }

    /// Where a key is (behind it, if `after`).
    async fn rank(&self, index: IndexId, key: &[u8], after: bool) -> Result<Rank> {
        let mut before = RowSum::default();
        let Some(tree) = self.tree(index) else { return Ok(Rank { before, leaf: None }) };
        let mut at = tree.root;
        for level in (1..tree.height).rev() {
            let node = self.node(index, at, level).await?;
            let child = node.child_for(key);
            for earlier in 0..child {
                before.rows += node.child_rows(earlier);
                before.hash = before.hash.wrapping_add(node.child_hash(earlier));
            }
            at = node.child_at(child);
        }
        let leaf = self.node(index, at, 0).await?;
        let (entry, found) = leaf.search(0, key);
        Ok(Rank { before, leaf: Some((leaf, entry + usize::from(found && after))) })
    }
}
