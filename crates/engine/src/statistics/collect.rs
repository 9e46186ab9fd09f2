//! Collecting: how many different values the first parts of each index have, and some rows.
//!
//! A small index is read whole, and what is counted is exact. Of a larger one some entries are drawn, each with the same chance, and for
//! each the engine counts the rows that share its first parts. With `c` such rows of `n`, `n / c` averaged over the drawn entries is the number
//! of different values: each value is drawn `c / n` of the time, and adds its own share `1 / c` each time. The estimate has no
//! bias, and none at all to be wrong by where all values have the same number of rows.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::{Arc, OnceLock};

use base::IndexId;
use bytes::Bytes;
use io::ThreadTurn;
use store::{Direction, Draw, Sampled};

use super::strata::{Drawn, draw};
use super::{IndexStatistics, PrefixStatistics, RowSample, TableStatistics};
use crate::catalog::Table;
use crate::core::Core;
use crate::error::Result;
use crate::memtable::Memtable;
use crate::read::{Merged, Selector};
use crate::view::Layers;

/// How much may be read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Effort {
    /// An index with at most so many entries is read whole.
    pub(super) whole_rows: u64,
    /// Of others so many entries are drawn.
    pub(super) entries: usize,
}

/// Rows of a sample, of which each may be so long; and so long may be all of them.
const ROWS_MAX: usize = 256;
const ROW_BYTES_MAX: usize = 8 << 10;
const SAMPLE_BYTES_MAX: usize = 64 << 10;
/// Entries between two looks at whether others want their turn.
const ENTRIES_AT_ONCE: usize = 256;

impl Core {
    /// Collects the statistics of a table as it is now. Takes no lock and no read view.
    pub(super) async fn collect(&self, table: &Table, effort: Effort) -> Result<TableStatistics> {
        let layers = self.views.layers().clone();
        // What cannot be drawn yet counts as what will change.
        let changes = table.changes().saturating_sub(undrawn_of(&layers, table.indexes[0].id));
        let mut indexes = BTreeMap::new();
        for number in 0..table.indexes.len() {
            let statistics = self.collect_index(table, number, &layers, effort).await?;
            indexes.insert(table.indexes[number].id, statistics);
        }
        let rows = self.rows_of(table);
        Ok(TableStatistics { rows, indexes, collected: self.env.clock.now(), changes, analyzed: false })
    }

    async fn collect_index(
        &self,
        table: &Table,
        number: usize,
        layers: &Arc<Layers>,
        effort: Effort,
    ) -> Result<IndexStatistics> {
        let index = table.indexes[number].id;
        let (leaf_pages, inner_pages, overflow_pages) = layers.roots.pages(index);
        let pages = leaf_pages + inner_pages + overflow_pages;
        let mut tally = Tally::new(table, number);
        let sampled = if entries_of(layers, index) <= effort.whole_rows {
            self.read_whole(layers, index, &mut tally).await?;
            None
        } else {
            let drawn = draw(layers.clone(), index, effort.entries, &mut Draw::new(index.0), Sampled::Keys).await?;
            tally.estimate(&drawn, &ThreadTurn::default(), self).await?;
            Some(drawn.entries.len() as u64)
        };
        Ok(IndexStatistics { prefixes: tally.finish(), sampled, leaf_pages: leaf_pages.max(1), pages: pages.max(1) })
    }

    async fn read_whole(&self, layers: &Arc<Layers>, index: IndexId, tally: &mut Tally<'_>) -> Result<()> {
        let all = (Bound::Unbounded, Bound::Unbounded);
        let mut entries = Merged::new(layers.clone(), index, all.0, all.1, Direction::Forward, Selector::Newest);
        let turn = ThreadTurn::default();
        let mut last: Option<crate::memtable::Key> = None;
        let mut read = 0;
        while let Some(found) = entries.next().await? {
            if found.value.is_some() {
                tally.count(last.as_deref(), &found.key)?;
                last = Some(found.key);
            }
            read += 1;
            if read % ENTRIES_AT_ONCE == 0 {
                turn.pass(&*self.env.clock).await;
            }
        }
        Ok(())
    }

    /// See [`crate::Engine::draw_rows`].
    pub(super) async fn draw_rows(&self, table: &Table, most: usize) -> Result<(Vec<Bytes>, u64)> {
        let (layers, index) = (self.views.layers().clone(), table.indexes[0].id);
        if entries_of(&layers, index) > most as u64 {
            let sampled = Sampled::Values(usize::MAX);
            let mut drawn = draw(layers, index, most, &mut Draw::new(index.0 ^ 2), sampled).await?;
            drawn.entries.sort_by(|a, b| a.key.cmp(&b.key));
            drawn.entries.dedup_by(|a, b| a.key == b.key);
            return Ok((drawn.entries.into_iter().map(|entry| entry.value).collect(), drawn.rows as u64));
        }
        let all = (Bound::Unbounded, Bound::Unbounded);
        let mut entries = Merged::new(layers, index, all.0, all.1, Direction::Forward, Selector::Newest);
        let (mut rows, turn) = (Vec::new(), ThreadTurn::default());
        while let Some(found) = entries.next().await? {
            rows.extend(found.value);
            turn.pass(&*self.env.clock).await;
        }
        let count = rows.len() as u64;
        Ok((rows, count))
    }

    /// Some rows of a table, each with the same chance; all of a small one.
    pub(super) async fn sample_rows(&self, table: &Table) -> Result<RowSample> {
        let (layers, index) = (self.views.layers().clone(), table.indexes[0].id);
        let changes = table.changes();
        let mut rows: Vec<Bytes> = if entries_of(&layers, index) <= ROWS_MAX as u64 {
            let all = (Bound::Unbounded, Bound::Unbounded);
            let mut found = Merged::new(layers, index, all.0, all.1, Direction::Forward, Selector::Newest);
            let mut rows = Vec::new();
            while let Some(found) = found.next().await? {
                rows.extend(found.value.filter(|row| row.len() <= ROW_BYTES_MAX));
            }
            rows
        } else {
            let sampled = Sampled::Values(ROW_BYTES_MAX);
            let drawn = draw(layers, index, ROWS_MAX, &mut Draw::new(!index.0), sampled).await?;
            drawn.entries.into_iter().map(|entry| entry.value).collect()
        };
        // What is left out is drawn too, so that no part of the keys is favoured.
        let mut draw = Draw::new(index.0 ^ 1);
        while rows.iter().map(Bytes::len).sum::<usize>() > SAMPLE_BYTES_MAX {
            rows.swap_remove(draw.below(rows.len() as u64) as usize);
        }
        // Slices would keep whole pages in memory.
        let rows = rows.iter().map(|row| Bytes::copy_from_slice(row)).collect();
        let columns = table.def.columns.iter().map(|_| OnceLock::new()).collect();
        Ok(RowSample { def: table.def.clone(), rows, of: self.rows_of(table), changes, columns })
    }
}

/// Entries in runs of large transactions.
fn undrawn_of(layers: &Layers, index: IndexId) -> u64 {
    let all = (Bound::Unbounded, Bound::Unbounded);
    let large = layers.memtables.iter().flat_map(|memtable| memtable.large().to_vec());
    large.map(|large| large.runs.estimate(index, all) as u64).sum()
}

/// At most so many entries an index has.
fn entries_of(layers: &Layers, index: IndexId) -> u64 {
    let in_memory = |memtable: &Arc<Memtable>| memtable.with_tree(index, |tree| tree.len()).unwrap_or(0) as u64;
    let in_chains: u64 = layers.memtables.iter().map(in_memory).sum();
    layers.roots.entries(index) + in_chains + undrawn_of(layers, index)
}

/// What was counted of one index.
struct Tally<'t> {
    codec: &'t types::KeyCodec,
    /// Per number of parts: different values, those without NULL, and rows with NULL.
    prefixes: Vec<(f64, f64, f64)>,
    rows: f64,
}

impl<'t> Tally<'t> {
    fn new(table: &'t Table, number: usize) -> Self {
        let def = &table.def.indexes[number];
        let codec = &table.codec.indexes[number].key;
        // A unique index tells rows apart with its own parts, but for NULL.
        let tail = if number == 0 || def.unique { 0 } else { table.def.primary().parts.len() };
        Tally { codec, prefixes: vec![(0.0, 0.0, 0.0); def.parts.len() + tail], rows: 0.0 }
    }

    /// One more entry of all, in the index's order.
    fn count(&mut self, last: Option<&[u8]>, key: &[u8]) -> Result<()> {
        self.rows += 1.0;
        for parts in 1..=self.prefixes.len() {
            let null = self.codec.has_null(key, parts)?;
            let length = self.codec.prefix_len(key, parts)?;
            let is_new = last.is_none_or(|last| last.get(..length) != Some(&key[..length]));
            let (distinct, not_null, nulls) = &mut self.prefixes[parts - 1];
            *distinct += f64::from(u8::from(is_new));
            *not_null += f64::from(u8::from(is_new && !null));
            *nulls += f64::from(u8::from(null));
        }
        Ok(())
    }

    /// All entries, estimated from some.
    async fn estimate(&mut self, drawn: &Drawn, turn: &ThreadTurn, core: &Core) -> Result<()> {
        self.rows = drawn.rows;
        let each = drawn.rows / drawn.entries.len().max(1) as f64;
        for entry in &drawn.entries {
            let mut sharing = f64::INFINITY;
            for parts in 1..=self.prefixes.len() {
                // An entry that is alone with fewer parts is alone with more.
                if sharing > 1.0 {
                    let length = self.codec.prefix_len(&entry.key, parts)?;
                    sharing = drawn.rows_with_prefix(&entry.key[..length]).await?;
                }
                let null = self.codec.has_null(&entry.key, parts)?;
                let (distinct, not_null, nulls) = &mut self.prefixes[parts - 1];
                *distinct += each / sharing;
                *not_null += if null { 0.0 } else { each / sharing };
                *nulls += if null { each } else { 0.0 };
            }
            turn.pass(&*core.env.clock).await;
        }
        Ok(())
    }

    fn finish(self) -> Vec<PrefixStatistics> {
        let rows = self.rows.max(1.0);
        let one = |(distinct, not_null, nulls): &(f64, f64, f64)| PrefixStatistics {
            distinct: distinct.min(self.rows),
            distinct_not_null: not_null.min(self.rows),
            null_share: (nulls / rows).min(1.0),
        };
        self.prefixes.iter().map(one).collect()
    }
}
