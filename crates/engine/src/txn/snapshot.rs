//! Snapshots: the state that a transaction reads, for several tasks at once.
//!
//! A [`Snapshot`] needs no transaction: it shares the read view and takes no lock, so that a scan can be cut into ranges which tasks read
//! side by side. It is of one table, and there is none while the transaction has written to that table itself.

use std::ops::{Bound, RangeBounds};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use store::Draw;

use super::scan::{Rows, Scan};
use super::sum::{Pace, at_most};
use super::{Direction, KeyRange, ReadMode, Transaction};
use crate::catalog::Table;
use crate::engine::Engine;
use crate::error::Result;
use crate::memtable::IndexTree;
use crate::options::SessionHandle;
use crate::read::{Merged, Selector};
use crate::view::ReadView;

/// Rows that a count takes at once where a leaf has to be mixed with what is in memory.
const COUNTED_AT_ONCE: usize = 256;
/// Of so many keys in memory one is a cut.
const KEYS_OF_CUT: usize = 1024;
/// Looking a key up in a tree takes as long as passing so many rows.
const LOOK_UP_COST: u64 = 16;

/// One table in one state.
#[derive(Clone)]
pub struct Snapshot {
    engine: Arc<Engine>,
    session: Arc<SessionHandle>,
    view: Arc<ReadView>,
    table: Arc<Table>,
}

/// The place of a task that reads beside a statement's own, until it is dropped.
pub struct ReaderPlace(Arc<AtomicUsize>);

impl Drop for ReaderPlace {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A scan of a snapshot under way.
pub struct SnapshotScan {
    view: Arc<ReadView>,
    scan: Scan,
}

impl Transaction {
    /// The state of a table that consistent reads see; none of a temporary table, nor where own writes would be over it.
    pub fn snapshot_of(&mut self, table: &Arc<Table>) -> Result<Option<Snapshot>> {
        self.check_active()?;
        let is_own = table.indexes.iter().any(|index| self.writes.touches(index.id));
        if is_own || table.is_temporary() {
            return Ok(None);
        }
        self.open_view(table)?;
        let (engine, session) = (self.engine.clone(), self.options.session.clone());
        Ok(Some(Snapshot { engine, session, view: self.view()?.clone(), table: table.clone() }))
    }
}

impl Snapshot {
    /// Begins a scan over a range of one index (position in `table.def.indexes`).
    pub fn scan(&self, index_number: usize, range: KeyRange, direction: Direction) -> SnapshotScan {
        let scan = Scan::new(&self.table, index_number, range, direction, ReadMode::Consistent);
        SnapshotScan { view: self.view.clone(), scan }
    }

    /// A place for another task that reads this state, if there are fewer than `most` of them, of all statements of the engine.
    pub fn reader(&self, most: usize) -> Option<ReaderPlace> {
        let readers = &self.engine.core().readers;
        let has_room = |count: usize| (count < most).then_some(count + 1);
        readers.fetch_update(Ordering::Relaxed, Ordering::Relaxed, has_room).ok()?;
        Some(ReaderPlace(readers.clone()))
    }

    /// Keys strictly inside of a range at which it can be cut into parts of about the same size, ascending, at most `most`: separators of the
    /// tree, and some of many keys in memory. None where the range is in one leaf, and little is in memory.
    pub async fn cuts(&self, index_number: usize, range: &KeyRange, most: usize) -> Result<Vec<Bytes>> {
        let layers = self.view.layers().clone();
        let (index, (lower, upper)) = (self.table.indexes[index_number].id, range.as_slices());
        let mut keys = layers.roots.separators(index, lower, upper).await?;
        let without_end = |end| if let Bound::Included(key) = end { Bound::Excluded(key) } else { end };
        let (in_tree, inside) = (keys.len(), (without_end(lower), without_end(upper)));
        for memtable in &layers.memtables {
            let some = |tree: &IndexTree| {
                let count = (tree.len() / KEYS_OF_CUT).min(most);
                if count > 0 { tree.some_keys(count, &mut Draw::new(index.0)) } else { Vec::new() }
            };
            let some = memtable.with_tree(index, some).unwrap_or_default();
            let some = some.iter().filter(|key| RangeBounds::<[u8]>::contains(&inside, key.as_slice()));
            keys.extend(some.map(|key| Bytes::copy_from_slice(key)));
        }
        if keys.len() > in_tree {
            keys.sort_unstable();
            keys.dedup();
        }
        Ok(at_most(most, keys))
    }

    /// How many entries a range of an index has, exactly: from the counts of the tree's nodes, corrected by what is in memory; or,
    /// where that is much, by reading it.
    pub async fn count(&self, index_number: usize, range: &KeyRange) -> Result<u64> {
        if range.is_empty() {
            return Ok(0);
        }
        let layers = self.view.layers().clone();
        let index = self.table.indexes[index_number].id;
        let (lower, upper) = range.as_slices();
        let in_tree = layers.roots.count(index, lower, upper).await?;
        let in_memory: usize = layers.memtables.iter().filter_map(|m| m.with_tree(index, |tree| tree.len())).sum();
        if layers.has_large() || in_memory as u64 * LOOK_UP_COST > in_tree {
            return self.count_rows(index_number, range).await;
        }
        let (mut rows, mut pace) = (in_tree, Pace::default());
        let bounds = (range.lower.clone(), range.upper.clone());
        let selector = Selector::At(self.view.snapshot());
        let mut above =
            Merged::new(layers.clone(), index, bounds.0, bounds.1, Direction::Forward, selector).above_tree();
        while let Some(found) = above.next().await? {
            let was_there = layers.roots.contains(index, &found.key).await?;
            rows = rows + u64::from(found.value.is_some()) - u64::from(was_there);
            pace.keep(&self.session, self.engine.core()).await?;
        }
        Ok(rows)
    }

    async fn count_rows(&self, index_number: usize, range: &KeyRange) -> Result<u64> {
        let mut scan = self.scan(index_number, range.clone(), Direction::Forward);
        let (mut rows, mut count, mut pace) = (Rows::default(), 0, Pace::default());
        while scan.next_rows(&mut rows, COUNTED_AT_ONCE).await? {
            count += rows.len() as u64;
            pace.keep(&self.session, self.engine.core()).await?;
        }
        Ok(count)
    }
}

impl SnapshotScan {
    /// Replaces `rows` by the next ones: those of a leaf in one piece, or at most `max`; false at the end of the range.
    pub async fn next_rows(&mut self, rows: &mut Rows, max: usize) -> Result<bool> {
        self.scan.next_of_view(&self.view, rows, max).await
    }
}
