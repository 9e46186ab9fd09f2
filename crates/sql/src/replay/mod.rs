//! Rows of another server's log, applied as statements of a session's transaction.
//!
//! The crate `apply` installs rows of our own lineage: same tables, same keys, no locks. Here the rows come from elsewhere
//! (MySQL, MariaDB, a commuter server of another lineage), and the table may be defined in another way than there. So they
//! are executed: with locks, constraints, foreign keys, and a log of our own.
//!
//! ```text
//!   TABLE_MAP ── mapping ──> MappedTable (once per table)
//!   rows event ── image ──> row of ours ── find ──> row that is there ── apply ──> engine, foreign keys
//!                   └─ convert: values of columns that are defined in another way
//! ```
//!
//! | module | what it does |
//! |---|---|
//! | [`mapping`] | which column of the log is which of ours, and what the others get |
//! | [`form`] | the forms that values have in a log; which may become which (1677) |
//! | [`convert`], [`text`] | a value of the log as the bytes of our column |
//! | [`image`] | images taken apart, and rows put together |
//! | [`keys`] | which rows an event is about |
//! | [`find`] | the rows that UPDATE and DELETE mean |
//! | [`apply`] | what is done with a row |
//! | [`filter`] | what is executed at all |
//!
//! # Invariants
//! - Columns are the same by their position, as in MySQL. A generated primary key that the source does not have is ours
//!   alone.
//! - Bytes of a log are never written into a row unchecked: a row that was written can be read.
//! - Nothing is looked up by name for a row, nor for an event whose table is known.

mod apply;
mod convert;
mod diffs;
mod filter;
mod find;
mod form;
mod image;
mod keys;
mod mapping;
#[cfg(test)]
mod tests;
mod text;

use std::collections::HashMap;
use std::sync::Arc;

use base::SqlError;
use binlog::event::TableMap;
use engine::Catalog;

pub use apply::RowDifferences;
pub(crate) use apply::{ApplyModes, apply_event};
pub use apply::{ExecMode, OnDifference};
pub use filter::{ChannelRules, FILTER_RULES, ReplicationFilter, RuleUses, channel_rule};
pub use form::TypeConversions;
pub use keys::RowKeys;
pub(crate) use keys::add_keys;
pub(crate) use mapping::MappedTable;

/// So many tables are remembered; a source that gives its tables new numbers again and again takes no more memory.
const TABLES_MAX: usize = 1024;

/// The tables of a source's log, as they are here.
#[derive(Debug, Default)]
pub(crate) struct ReplayTables {
    /// By the number in their TABLE_MAP.
    tables: HashMap<u64, Arc<MappedTable>>,
}

impl ReplayTables {
    /// What is known of a table, if it still holds.
    pub(crate) fn get(&self, map: &TableMap, catalog: &Catalog, modes: TypeConversions) -> Option<Arc<MappedTable>> {
        self.tables.get(&map.table_id).filter(|known| known.holds(map, catalog, modes)).cloned()
    }

    /// Remembers a table.
    pub(crate) fn put(&mut self, mapped: MappedTable) -> Arc<MappedTable> {
        if self.tables.len() >= TABLES_MAX {
            self.tables.clear();
        }
        let mapped = Arc::new(mapped);
        self.tables.insert(mapped.map.table_id, mapped.clone());
        mapped
    }
}

/// 1610: an event that cannot be one.
fn damaged_json(error: types::json::JsonError) -> SqlError {
    crate::expr::json::error(error)
}

fn corrupt(error: impl std::fmt::Display) -> SqlError {
    SqlError::new(base::codes::REPLICA_CORRUPT_EVENT, format!("Corrupted replication event was detected: {error}"))
}
