//! Statistics as a checkpoint's meta data has them.

use base::{IndexId, UnixMicros};
use serde::{Deserialize, Serialize};

use super::{IndexStatistics, PrefixStatistics, TableStatistics};
use crate::catalog::Table;

/// Of a table.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct StoredStatistics {
    rows: u64,
    collected: u64,
    analyzed: bool,
    /// How many changes there have been since.
    changes: u64,
    indexes: Vec<StoredIndex>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct StoredIndex {
    id: u64,
    sampled: Option<u64>,
    leaf_pages: u64,
    pages: u64,
    /// Different values, those without NULL, and the part of the rows with NULL.
    prefixes: Vec<(f64, f64, f64)>,
}

impl StoredStatistics {
    /// What is known of a table.
    pub(crate) fn of(table: &Table) -> Option<Self> {
        let known = table.known_statistics()?;
        let indexes = known.indexes.iter().map(|(id, index)| StoredIndex {
            id: id.0,
            sampled: index.sampled,
            leaf_pages: index.leaf_pages,
            pages: index.pages,
            prefixes: index.prefixes.iter().map(|p| (p.distinct, p.distinct_not_null, p.null_share)).collect(),
        });
        Some(StoredStatistics {
            rows: known.rows,
            collected: known.collected.0,
            analyzed: known.analyzed,
            changes: table.changes().saturating_sub(known.changes),
            indexes: indexes.collect(),
        })
    }

    /// Makes them known of a table that was just loaded.
    pub(crate) fn restore(&self, table: &Table) {
        let prefix = |&(distinct, distinct_not_null, null_share): &(f64, f64, f64)| PrefixStatistics {
            distinct,
            distinct_not_null,
            null_share,
        };
        let index = |stored: &StoredIndex| {
            let prefixes = stored.prefixes.iter().map(prefix).collect();
            let StoredIndex { id, sampled, leaf_pages, pages, .. } = *stored;
            (IndexId(id), IndexStatistics { prefixes, sampled, leaf_pages, pages })
        };
        let known = &table.shared.statistics;
        known.changed(self.changes);
        known.set(TableStatistics {
            rows: self.rows,
            indexes: self.indexes.iter().map(index).collect(),
            collected: UnixMicros(self.collected),
            changes: 0,
            analyzed: self.analyzed,
        });
    }
}
