//! A uniform sample of an index, out of its tree and the memtables above it.
//!
//! Two strata, each drawn from with the same chance for all of its keys:
//!
//! ```text
//!   tree       by places ([`store::Roots::sample`]); a row counts unless memory says that it is gone
//!   memtables  keys that were marked as they came; one counts if it has a row, and the tree has none there
//! ```
//! What counts of the keys that were drawn says what counts of all. So a row is in one stratum, and a row that was changed in memory is in the
//! tree's, with its value of now.
//!
//! Rows that are in runs of large transactions only are not drawn: a checkpoint that merges them is under way whenever there are any. ANALYZE waits
//! for it; else they count as changes that are still to come.

use std::ops::Bound;
use std::sync::Arc;

use base::IndexId;
use bytes::Bytes;
use store::{Draw, Entry, Sampled};

use crate::error::Result;
use crate::memtable::{Key, Range};
use crate::view::Layers;

/// Keys of a range in memory that are counted one by one.
const COUNTED_KEYS_MAX: usize = 256;

/// What was drawn, and what it says of all.
pub(super) struct Drawn {
    layers: Arc<Layers>,
    index: IndexId,
    /// Rows, in no order.
    pub(super) entries: Vec<Entry>,
    /// About how many rows the index has.
    pub(super) rows: f64,
    /// The part of the tree's rows that is still there.
    tree_share: f64,
    /// The part of the rows in memory that the tree does not have.
    memory_share: f64,
}

/// Draws about `count` rows of an index.
pub(super) async fn draw(
    layers: Arc<Layers>,
    index: IndexId,
    count: usize,
    draw: &mut Draw,
    sampled: Sampled,
) -> Result<Drawn> {
    let in_tree = layers.roots.entries(index);
    let in_memory: Vec<u64> = layers
        .memtables
        .iter()
        .map(|memtable| memtable.with_tree(index, |tree| tree.len()).unwrap_or(0) as u64)
        .collect();
    let all = in_tree + in_memory.iter().sum::<u64>();
    let part = |keys: u64| ((count as u64 * keys).div_ceil(all.max(1))) as usize;
    let mut entries = layers.roots.sample(index, part(in_tree), draw, sampled).await?;
    let drawn_of_tree = entries.len();
    entries.retain_mut(|entry| match layers.get_newest(index, &entry.key).map(|newest| newest.value) {
        None => true,
        Some(Some(value)) => {
            entry.value = if sampled == Sampled::Keys { Bytes::new() } else { value };
            true
        }
        Some(None) => false,
    });
    let tree_share = share(entries.len(), drawn_of_tree);
    let (mut drawn, mut alive, mut new) = (0, 0, 0);
    for (number, memtable) in layers.memtables.iter().enumerate() {
        let wanted = part(in_memory[number]);
        let keys = memtable.with_tree(index, |tree| tree.some_keys(wanted, draw)).unwrap_or_default();
        drawn += keys.len();
        for key in keys {
            let Some(value) = newest_here(&layers, number, index, &key) else { continue };
            alive += 1;
            if in_tree == 0 || layers.roots.row_hash(index, &key).await?.is_none() {
                new += 1;
                entries.push(Entry { key: Bytes::copy_from_slice(&key), value });
            }
        }
    }
    let memory_keys = in_memory.iter().sum::<u64>() as f64;
    let rows = in_tree as f64 * tree_share + memory_keys * share(new, drawn).min(1.0);
    Ok(Drawn { layers, index, entries, rows, tree_share, memory_share: share(new, alive) })
}

/// The row of a key, if this memtable is the newest that has it.
fn newest_here(layers: &Layers, number: usize, index: IndexId, key: &Key) -> Option<Bytes> {
    let is_newer = |memtable: &Arc<crate::memtable::Memtable>| {
        memtable.with_tree(index, |tree| tree.get_newest(key)).flatten().is_some()
    };
    if layers.memtables[..number].iter().any(is_newer) {
        return None;
    }
    layers.memtables[number].with_tree(index, |tree| tree.get_newest(key)).flatten()?.value
}

fn share(some: usize, all: usize) -> f64 {
    if all == 0 { 1.0 } else { some as f64 / all as f64 }
}

impl Drawn {
    /// About how many rows have keys that begin so; at least the one that was found.
    pub(super) async fn rows_with_prefix(&self, prefix: &[u8]) -> Result<f64> {
        let after = types::key::successor(prefix);
        let range: Range<'_> = (Bound::Included(prefix), after.as_deref().map_or(Bound::Unbounded, Bound::Excluded));
        let in_tree = self.layers.roots.estimate(self.index, range.0, range.1).await?;
        let count = |memtable: &Arc<crate::memtable::Memtable>| {
            memtable.with_tree(self.index, |tree| tree.count(range, COUNTED_KEYS_MAX))
        };
        let in_memory: usize = self.layers.memtables.iter().filter_map(count).sum();
        Ok((in_tree as f64 * self.tree_share + in_memory as f64 * self.memory_share).max(1.0))
    }
}
