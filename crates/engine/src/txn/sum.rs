//! Sums of a table, or of a range of its keys: exact, as of the read view, for the price of what is in memory.
//!
//! ```text
//!   trees      rows and hashes of the whole range, from the nodes on the way to its two ends
//!   memtables  for each key that the view sees there:  - the tree's row   + the view's
//!   own writes for each:                               - the view's row   + the own one
//! ```
//! A row's image is a function of its values and of the table's definition, and its key of the row. So two servers whose tables
//! are defined alike and hold equal rows have equal sums, however the rows came about.

use std::sync::Arc;

use bytes::Bytes;
use io::ThreadTurn;
use store::RowSum;

use super::{Direction, Entry, KeyRange, OwnCursor, Transaction};
use crate::catalog::Table;
use crate::core::Core;
use crate::error::Result;
use crate::memtable::Key;
use crate::options::SessionHandle;
use crate::read::{Merged, Selector};
use crate::view::Layers;

/// After so many keys others may have their turn.
const KEYS_AT_ONCE: usize = 32;

/// So many of some keys, spread over all.
pub(super) fn at_most(most: usize, keys: Vec<Bytes>) -> Vec<Bytes> {
    let step = keys.len().div_ceil(most.max(1)).max(1);
    keys.into_iter().step_by(step).collect()
}

/// Counts keys, and gives way.
#[derive(Default)]
pub(super) struct Pace {
    keys: usize,
    turn: ThreadTurn,
}

impl Pace {
    /// To be called for each key; an error if the session's statement has to end.
    pub(super) async fn keep(&mut self, session: &SessionHandle, core: &Core) -> Result<()> {
        self.keys += 1;
        if self.keys.is_multiple_of(KEYS_AT_ONCE) {
            session.cancel.check()?;
            self.turn.pass(&*core.env.clock).await;
        }
        Ok(())
    }
}

impl Transaction {
    /// Rows of a range of the table's clustered keys, and the sum of their hashes ([`RowSum::hash_of`]), as a consistent read sees
    /// them.
    #[io::boxed]
    pub async fn sum(&mut self, table: &Arc<Table>, range: &KeyRange) -> Result<RowSum> {
        self.check_active()?;
        self.open_view(table)?;
        if range.is_empty() {
            return Ok(RowSum::default());
        }
        let (layers, selector) = {
            let view = self.view()?;
            (view.layers().clone(), Selector::At(view.snapshot()))
        };
        let mut pace = Pace::default();
        let mut sum = self.sum_of_view(table, range, &layers, selector, &mut pace).await?;
        self.count_own(table, range, (&layers, selector), &mut sum, &mut pace).await?;
        Ok(sum)
    }

    /// An error if a table is not what it was in the state that is read.
    #[io::boxed]
    pub async fn check_table(&mut self, table: &Arc<Table>) -> Result<()> {
        self.lock_table(table, crate::lock::TableMode::IntentShared).await?;
        self.open_view(table)
    }

    /// What everybody has committed.
    async fn sum_of_view(
        &self,
        table: &Table,
        range: &KeyRange,
        layers: &Arc<Layers>,
        selector: Selector,
        pace: &mut Pace,
    ) -> Result<RowSum> {
        let index = table.indexes[0].id;
        let (lower, upper) = range.as_slices();
        let mut sum = layers.roots.sum(index, lower, upper).await?;
        let (lower, upper) = (range.lower.clone(), range.upper.clone());
        let mut above = Merged::new(layers.clone(), index, lower, upper, Direction::Forward, selector).above_tree();
        while let Some(found) = above.next().await? {
            if let Some(hash) = layers.roots.row_hash(index, &found.key).await? {
                sum.remove(hash);
            }
            if let Some(value) = &found.value {
                sum.add(RowSum::hash_of(&found.key, value));
            }
            pace.keep(self.session(), self.core()).await?;
        }
        Ok(sum)
    }

    /// Puts this transaction's own writes in place of what the view has.
    async fn count_own(
        &self,
        table: &Table,
        range: &KeyRange,
        (layers, selector): (&Arc<Layers>, Selector),
        sum: &mut RowSum,
        pace: &mut Pace,
    ) -> Result<()> {
        let index = table.indexes[0].id;
        if !self.writes.touches(index) {
            return Ok(());
        }
        let mut own = OwnCursor::default();
        let mut position: Option<Key> = None;
        loop {
            let (lower, upper) = range.as_slices();
            let rest = (position.as_deref().map_or(lower, std::ops::Bound::Excluded), upper);
            let Some((key, write)) = self.writes.first(&mut own, index, rest, false).await? else { return Ok(()) };
            let in_memory = layers.find(index, &key, selector).await?;
            let before = match in_memory {
                Some(found) => found.value.map(|value| RowSum::hash_of(&key, &value)),
                None => layers.roots.row_hash(index, &key).await?,
            };
            if let Some(hash) = before {
                sum.remove(hash);
            }
            if let Some(value) = write {
                sum.add(RowSum::hash_of(&key, &value));
            }
            position = Some(key);
            pace.keep(self.session(), self.core()).await?;
        }
    }

    /// Keys strictly inside of a range at which it can be cut into parts to be summed, ascending, at most `most`: from the tree's
    /// inner nodes, or, where the range is one leaf of it and what is in memory, from its rows. None for a range of a row or none.
    #[io::boxed]
    pub async fn cuts(&mut self, table: &Arc<Table>, range: &KeyRange, most: usize) -> Result<Vec<Bytes>> {
        self.check_active()?;
        self.open_view(table)?;
        if range.is_empty() {
            return Ok(Vec::new());
        }
        let roots = self.view()?.layers().roots.clone();
        let (lower, upper) = range.as_slices();
        let mut keys = roots.separators(table.indexes[0].id, lower, upper).await?;
        drop(roots);
        if keys.is_empty() {
            keys = self.cuts_of_rows(table, range, most).await?;
        }
        Ok(at_most(most, keys))
    }

    /// Keys of some of a range's rows, without its first one.
    async fn cuts_of_rows(&mut self, table: &Arc<Table>, range: &KeyRange, most: usize) -> Result<Vec<Bytes>> {
        let rows = self.sum(table, range).await?.rows;
        let step = rows.div_ceil(most as u64 + 1).max(1);
        let (mut cuts, mut number) = (Vec::new(), 0);
        let cut = |entry: &Entry| {
            if number > 0 && number % step == 0 {
                cuts.push(Bytes::copy_from_slice(&entry.key));
            }
            number += 1;
            Ok(())
        };
        self.visit(table, 0, range.clone(), cut).await?;
        Ok(cuts)
    }
}
