//! Statistics: how many rows a table has, how many different values the first parts of its indexes, and some of its rows.
//!
//! # Model
//! They are of a server, and of no state of the log: two servers with equal rows may know different ones, and nothing but plans depends on them.
//! They belong to a table whatever its definition, by the ids of its indexes, so they follow a renamed table and go with a dropped one. ANALYZE and
//! the refresher ([`refresh`]) collect them with some effort; of a table that was never analysed the first who asks collects
//! them with very little. Checkpoints take along what is known, in their meta data; after a crash what was collected since the last one is
//! collected again when they are asked for.
//!
//! A *row sample* is what conditions can be tried on that no index answers. It is in memory only, and only of tables of which it was
//! asked for.
//!
//! Each change of a row counts ([`Table::changes`]). When changes come to a part of the table, what is known is outdated: so what collecting
//! costs is bounded by what is written.
//!
//! # Invariants
//! - Collecting takes no lock that a commit waits for but a memtable's, for a few hundred keys at once.
//! - The same state gives the same statistics: what is drawn is drawn by numbers that are made from the ids of indexes.

mod collect;
mod refresh;
mod sampled;
mod stored;
mod strata;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use arc_swap::ArcSwapOption;
use base::{IndexId, UnixMicros};
use bytes::Bytes;
use types::TableDef;

use crate::catalog::Table;
use crate::engine::Engine;
use crate::error::Result;
use collect::Effort;
pub(crate) use refresh::refresh;
pub use sampled::SampledColumn;
use sampled::SampledColumns;
pub(crate) use stored::StoredStatistics;

/// What a planner pays who finds none.
const QUICK_WHOLE_ROWS: u64 = 1000;
const QUICK_ENTRIES: usize = 32;
/// The same for all indexes of a table together.
const QUICK_ENTRIES_OF_TABLE: usize = 192;
const QUICK_ENTRIES_MIN: usize = 8;

/// What ANALYZE pays.
const ANALYZE_WHOLE_ROWS: u64 = 50_000;
/// Entries that it draws for each page that MySQL would read.
const ENTRIES_PER_PAGE: usize = 50;
/// Entries that it draws at most.
const ANALYZE_ENTRIES_MAX: usize = 50_000;
/// `innodb_stats_persistent_sample_pages`
const SAMPLE_PAGES: u64 = 20;

/// Statistics are outdated when this part of the rows was changed,
const CHANGED_PART: u64 = 10;
/// and at least so many.
const CHANGES_MIN: u64 = 256;

/// Statistics of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct TableStatistics {
    /// Rows, at that time.
    pub rows: u64,
    /// By index.
    pub indexes: BTreeMap<IndexId, IndexStatistics>,
    /// When.
    pub collected: UnixMicros,
    /// [`Table::changes`] at that time.
    changes: u64,
    /// By ANALYZE or the refresher.
    pub analyzed: bool,
}

/// Statistics of an index.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexStatistics {
    /// Of its first part, its first two, and so on; of an index that is not unique the parts of the primary key follow.
    pub prefixes: Vec<PrefixStatistics>,
    /// How many entries were drawn; `None` if all were counted.
    pub sampled: Option<u64>,
    /// Pages of its leaves, at least 1.
    pub leaf_pages: u64,
    /// All of its pages, at least 1.
    pub pages: u64,
}

/// Statistics of the first parts of an index.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PrefixStatistics {
    /// Different values, NULL being one.
    pub distinct: f64,
    /// Different values without a NULL.
    pub distinct_not_null: f64,
    /// The part of the rows that has a NULL in one of the parts.
    pub null_share: f64,
}

/// Some rows of a table, each with the same chance.
#[derive(Clone, Debug)]
pub struct RowSample {
    /// The definition by whose layout they are.
    pub def: Arc<TableDef>,
    /// Row images.
    pub rows: Vec<Bytes>,
    /// How many rows the table had.
    pub of: u64,
    changes: u64,
    columns: SampledColumns,
}

/// What is known of a table, whatever its definition.
#[derive(Debug, Default)]
pub(crate) struct KnownStatistics {
    statistics: ArcSwapOption<TableStatistics>,
    sample: ArcSwapOption<RowSample>,
    changes: AtomicU64,
    /// The log says that they are to be collected.
    is_wanted: AtomicBool,
}

impl KnownStatistics {
    /// So many rows came, went, or became others.
    pub(crate) fn changed(&self, rows: u64) {
        self.changes.fetch_add(rows, Ordering::Relaxed);
    }

    fn set(&self, statistics: TableStatistics) -> Arc<TableStatistics> {
        let statistics = Arc::new(statistics);
        self.statistics.store(Some(statistics.clone()));
        statistics
    }
}

impl Table {
    /// Changes of rows since the engine was opened.
    pub fn changes(&self) -> u64 {
        self.shared.statistics.changes.load(Ordering::Relaxed)
    }

    /// What is known of it now, however old. Collects nothing.
    pub fn known_statistics(&self) -> Option<Arc<TableStatistics>> {
        let known = self.shared.statistics.statistics.load_full()?;
        let covers = self.indexes.iter().all(|index| known.indexes.contains_key(&index.id));
        covers.then_some(known)
    }

    /// Has the refresher collect its statistics at its next look.
    pub(crate) fn want_statistics(&self) {
        self.shared.statistics.is_wanted.store(true, Ordering::Relaxed);
    }
}

/// Whether a table has become so much larger or smaller, or has changed so much, that it is another one.
fn is_other(then: u64, now: u64, changes: u64, part: u64) -> bool {
    let (small, large) = (then.min(now), then.max(now));
    large > 2 * small || changes >= (then / part).max(CHANGES_MIN)
}

impl Engine {
    /// The statistics of a table, collected with little effort if there are none, or only of what was another table by now.
    /// `None` of a temporary one.
    pub async fn statistics(&self, table: &Table) -> Result<Option<Arc<TableStatistics>>> {
        if table.is_temporary() {
            return Ok(None);
        }
        if let Some(known) = table.known_statistics() {
            // What was analysed is refreshed with the same effort, if it is only somewhat older.
            let part = if known.analyzed { 1 } else { CHANGED_PART };
            let changes = table.changes().saturating_sub(known.changes);
            if !is_other(known.rows, self.estimate_rows(table), changes, part) {
                return Ok(Some(known));
            }
        }
        let entries = (QUICK_ENTRIES_OF_TABLE / table.indexes.len()).clamp(QUICK_ENTRIES_MIN, QUICK_ENTRIES);
        let collected = self.core().collect(table, Effort { whole_rows: QUICK_WHOLE_ROWS, entries }).await?;
        Ok(Some(table.shared.statistics.set(collected)))
    }

    /// Some rows of a table, not much older than its rows of now. `None` of a temporary one.
    pub async fn row_sample(&self, table: &Table) -> Result<Option<Arc<RowSample>>> {
        if table.is_temporary() {
            return Ok(None);
        }
        if let Some(known) = table.shared.statistics.sample.load_full() {
            let fits = Arc::ptr_eq(&known.def, &table.def) || known.def.columns == table.def.columns;
            let changes = table.changes().saturating_sub(known.changes);
            if fits && !is_other(known.of, self.estimate_rows(table), changes, CHANGED_PART) {
                return Ok(Some(known));
            }
        }
        let sample = Arc::new(self.core().sample_rows(table).await?);
        table.shared.statistics.sample.store(Some(sample.clone()));
        Ok(Some(sample))
    }

    /// Rows of a table, each drawn with the same chance and none twice; all rows, if it has no more than `most`. How many there were to draw from
    /// comes with them.
    #[io::boxed]
    pub async fn draw_rows(&self, table: &Table, most: usize) -> Result<(Vec<Bytes>, u64)> {
        self.core().draw_rows(table, most).await
    }

    /// Collects the statistics of a table with the effort of ANALYZE.
    #[io::boxed]
    pub async fn analyze(&self, table: &Table) -> Result<()> {
        if !table.is_temporary() {
            if self.core().views.layers().has_large() {
                // Runs of large transactions are on their way into the trees.
                self.core().checkpoint().await?;
            }
            self.core().analyze(table).await?;
        }
        Ok(())
    }
}

impl crate::core::Core {
    async fn analyze(&self, table: &Table) -> Result<()> {
        let pages = crate::catalog::table_option(&table.def, "STATS_SAMPLE_PAGES").and_then(|pages| pages.parse().ok());
        let pages: u64 = pages.unwrap_or(SAMPLE_PAGES);
        let entries = (pages as usize).saturating_mul(ENTRIES_PER_PAGE).min(ANALYZE_ENTRIES_MAX);
        let mut collected = self.collect(table, Effort { whole_rows: ANALYZE_WHOLE_ROWS, entries }).await?;
        collected.analyzed = true;
        table.shared.statistics.set(collected);
        table.shared.statistics.sample.store(None);
        Ok(())
    }
}
