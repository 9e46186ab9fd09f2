//! [`Table`]: a definition with everything made from it once, and what outlives its definitions.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use base::{CommitNumber, IndexId, TableId};
use binlog::TableEncoder;
use bytes::Bytes;
use store::Compression;
use types::table::TableCodec;
use types::{ColumnType, TableDef, TypeError};

use crate::statistics::KnownStatistics;

/// One form of a table. ALTER makes a new one; statements hold the one they were planned with.
pub struct Table {
    /// Columns and indexes.
    pub def: Arc<TableDef>,
    /// Codecs of its rows and keys.
    pub codec: TableCodec,
    /// Its TABLE_MAP event.
    pub encoder: Arc<TableEncoder>,
    /// Per index, what the paths of writes and locks ask.
    pub(crate) indexes: Vec<IndexInfo>,
    /// How pages of its indexes are written.
    pub(crate) compression: Compression,
    /// What ALTER keeps.
    pub(crate) shared: Arc<TableShared>,
    /// Where its rows are if it is a temporary table.
    pub(crate) temporary: Option<crate::temporary::TemporaryRows>,
    /// Columns that are in any index, ascending: those whose changes concern more than the row.
    indexed_columns: Vec<usize>,
    /// Positions of the columns whose values move a counter.
    counted_columns: Vec<usize>,
    /// Commit number of the DDL that last built its rows or one of its indexes: older read views cannot use it (1412).
    pub(crate) since: AtomicU64,
}

/// What belongs to a table whatever its present form.
#[derive(Debug, Default)]
pub(crate) struct TableShared {
    /// Next number for AUTO_INCREMENT; 0 before the first.
    pub(crate) auto_increment: AutoIncrement,
    /// The same for a generated primary key beside an AUTO_INCREMENT column ([`TableDef::counted_pk`]).
    pub(crate) generated_keys: AutoIncrement,
    /// Rows inserted less rows deleted since the engine was opened, or the last checkpoint counted its tree.
    pub(crate) row_delta: AtomicI64,
    /// What planners know of it.
    pub(crate) statistics: KnownStatistics,
}

impl TableShared {
    /// The counters for another form of the table. A generated key that had the one counter may get the other.
    pub(crate) fn go_on_as(&self, old: &TableDef, new: &TableDef) {
        if old.generated_pk && new.generated_pk && old.counted_pk() != new.counted_pk() {
            let (from, to) = match new.counted_pk() {
                Some(_) => (&self.auto_increment, &self.generated_keys),
                None => (&self.generated_keys, &self.auto_increment),
            };
            to.seen(from.peek() - 1);
        }
    }
}

/// What is asked of an index on each write.
#[derive(Debug)]
pub(crate) struct IndexInfo {
    pub(crate) id: IndexId,
    pub(crate) unique: bool,
    /// Columns of the row of which its entries hold something (key or value), one bit each; columns above 127 are
    /// always "something".
    pub(crate) columns: ColumnSet,
}

/// A set of columns by position. The first 127 exactly; all the others share a bit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ColumnSet(u128);

impl ColumnSet {
    /// Every column.
    pub(crate) const ALL: ColumnSet = ColumnSet(u128::MAX);

    pub(crate) fn insert(&mut self, column: usize) {
        self.0 |= 1 << column.min(127);
    }

    pub(crate) fn intersects(self, other: ColumnSet) -> bool {
        self.0 & other.0 != 0
    }
}

/// The counter behind AUTO_INCREMENT. Never goes back but by TRUNCATE and ALTER TABLE.
#[derive(Debug, Default)]
pub struct AutoIncrement {
    next: AtomicU64,
}

impl From<u64> for AutoIncrement {
    /// A counter that gives this number next.
    fn from(next: u64) -> Self {
        AutoIncrement { next: AtomicU64::new(next) }
    }
}

impl AutoIncrement {
    /// The number that would be given next.
    pub fn peek(&self) -> u64 {
        self.next.load(Ordering::Relaxed).max(1)
    }

    /// Takes `count` numbers `increment` apart, the first being `offset` modulo `increment`
    /// (`auto_increment_increment` and `_offset`); gives the first. Saturates at the largest number.
    pub fn next(&self, count: u64, increment: u64, offset: u64) -> u64 {
        let increment = increment.max(1);
        let offset = if offset > increment { 0 } else { offset };
        let first_of = |next: u64| {
            let past = next.max(1).saturating_sub(offset).div_ceil(increment);
            offset.saturating_add(past.saturating_mul(increment)).max(1)
        };
        // Not the number behind the last one: it goes on in this series even where the next is asked for another, as in InnoDB.
        let after = |next: u64| first_of(next).saturating_add(count.saturating_mul(increment));
        let before = self.next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |next| Some(after(next)));
        first_of(before.unwrap_or_else(|unchanged| unchanged))
    }

    /// A row with this number exists: the next is larger.
    pub fn seen(&self, value: u64) {
        self.next.fetch_max(value.saturating_add(1), Ordering::Relaxed);
    }

    pub(crate) fn set(&self, next: u64) {
        self.next.store(next, Ordering::Relaxed);
    }
}

impl Table {
    /// A hash of a key of an index, as writesets have it.
    pub fn key_hash(&self, index_number: usize, key: &[u8]) -> u64 {
        crate::txn::key_hash(self.indexes[index_number].id, key)
    }

    pub(crate) fn new(def: Arc<TableDef>, since: CommitNumber, shared: Arc<TableShared>) -> Self {
        let codec = TableCodec::new(def.clone());
        let indexes = (0..def.indexes.len()).map(|number| index_info(&def, &codec, number)).collect();
        let counted_columns = def.auto_increment_column().into_iter().chain(def.counted_pk()).collect();
        let indexed: BTreeSet<usize> =
            (0..def.indexes.len()).flat_map(|number| columns_of(&def, &codec, number)).collect();
        let indexed_columns = indexed.into_iter().collect();
        let encoder = Arc::new(TableEncoder::new(&def));
        let since = AtomicU64::new(since.0);
        let compression = table_option(&def, "COMPRESSION").and_then(compression_named).unwrap_or_default();
        Table {
            def,
            codec,
            encoder,
            indexes,
            compression,
            shared,
            temporary: None,
            indexed_columns,
            counted_columns,
            since,
        }
    }

    /// Another form of the table, of the same rows and indexes.
    pub(crate) fn with_def(&self, def: TableDef) -> Self {
        let since = CommitNumber(self.since.load(Ordering::Relaxed));
        Table::new(Arc::new(def), since, self.shared.clone())
    }

    /// Its id.
    pub fn id(&self) -> TableId {
        self.def.id
    }

    /// Its AUTO_INCREMENT counter.
    pub fn auto_increment(&self) -> &AutoIncrement {
        &self.shared.auto_increment
    }

    /// The counter of a column's values. A generated primary key beside an AUTO_INCREMENT column has one of its own: what a client sees of that
    /// column's numbers does not depend on the key.
    pub fn counter(&self, column: usize) -> &AutoIncrement {
        match self.def.counted_pk() == Some(column) {
            true => &self.shared.generated_keys,
            false => &self.shared.auto_increment,
        }
    }

    /// `schema.name`
    pub fn full_name(&self) -> String {
        format!("{}.{}", self.def.schema, self.def.name)
    }

    /// Rows that came since the last checkpoint, less those that went.
    pub(crate) fn rows_in_memory(&self) -> i64 {
        self.shared.row_delta.load(Ordering::Relaxed)
    }

    /// Rows came (or went).
    pub(crate) fn count_rows(&self, delta: i64) {
        self.shared.row_delta.fetch_add(delta, Ordering::Relaxed);
    }

    /// A row with this AUTO_INCREMENT value came to be, here or on the source.
    pub(crate) fn saw_auto_increment(&self, row: &Bytes) -> Result<(), TypeError> {
        for &column in &self.counted_columns {
            self.counter(column).seen(self.counted(row, column)?);
        }
        Ok(())
    }

    /// The number that a row has in a counted column; 0 if it has none that counts.
    pub(crate) fn counted(&self, row: &Bytes, column: usize) -> Result<u64, TypeError> {
        Ok(self.codec.row.decode_column(row, column)?.counted().unwrap_or(0))
    }

    /// The columns of indexes in which two rows differ.
    pub(crate) fn changed_columns(&self, old: &[u8], new: &[u8]) -> Result<ColumnSet, TypeError> {
        let mut changed = ColumnSet::default();
        for &column in &self.indexed_columns {
            if self.codec.row.slice(old, column)? != self.codec.row.slice(new, column)? {
                changed.insert(column);
            }
        }
        Ok(changed)
    }
}

/// Columns of which the entries of an index hold something; of the clustered one, only those of its key.
fn columns_of(def: &TableDef, codec: &TableCodec, number: usize) -> Vec<usize> {
    let mut columns: Vec<usize> = def.primary().parts.iter().map(|part| part.column).collect();
    if number > 0 {
        columns.extend(def.indexes[number].parts.iter().map(|part| part.column));
        columns.extend(&codec.indexes[number].covered);
    }
    columns
}

fn index_info(def: &TableDef, codec: &TableCodec, number: usize) -> IndexInfo {
    let mut columns = ColumnSet::default();
    columns_of(def, codec, number).into_iter().for_each(|column| columns.insert(column));
    IndexInfo { id: def.indexes[number].id, unique: def.indexes[number].unique, columns }
}

/// What one of the other options of a table was set to, without quotes.
pub fn table_option<'a>(def: &'a TableDef, name: &str) -> Option<&'a str> {
    def.options.iter().find(|(known, _)| known == name).map(|(_, value)| value.trim_matches('\''))
}

/// What the option COMPRESSION='…' of a table means; none if nothing. MySQL's zlib is smaller and slower than its lz4, and so is
/// zstd, which takes its place.
pub fn compression_named(name: &str) -> Option<Compression> {
    let named = [
        ("none", Compression::None),
        ("lz4", Compression::Lz4),
        ("zlib", Compression::Zstd),
        ("zstd", Compression::Zstd),
    ];
    named.into_iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, compression)| compression)
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Table({} {})", self.def.id, self.full_name())
    }
}

/// Whether values of this type may be counted up.
pub fn may_auto_increment(ty: &ColumnType) -> bool {
    ty.integer().is_some() || matches!(ty, ColumnType::Float { .. } | ColumnType::Double { .. })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_given_once_and_follow_increment_and_offset() {
        let counter = AutoIncrement::default();
        assert_eq!(counter.peek(), 1);
        assert_eq!(counter.next(1, 1, 1), 1);
        assert_eq!(counter.next(3, 1, 1), 2);
        assert_eq!(counter.next(1, 1, 1), 5);
        counter.seen(100);
        assert_eq!(counter.next(1, 1, 1), 101);
        // 10 apart, 5 into each ten.
        assert_eq!(counter.next(2, 10, 5), 105);
        assert_eq!(counter.next(1, 10, 5), 125);
        assert_eq!(counter.peek(), 135);
        counter.seen(u64::MAX);
        assert_eq!(counter.next(1, 1, 1), u64::MAX);
    }
}
