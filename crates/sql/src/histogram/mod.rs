//! Histograms: how the values of a column are distributed.
//!
//! What ANALYZE TABLE … UPDATE HISTOGRAM makes is MySQL's: a singleton histogram with a bucket for each value if there are few, or else an
//! equi-height one, as the JSON that `information_schema.COLUMN_STATISTICS` shows. It is part of the catalog, so it is in the log as the
//! statement that says it in full (`USING DATA`), and a server that applies the log has the same.
//!
//! | module | what it does |
//! |---|---|
//! | `build` | from the values of a column |
//! | `text` | to JSON, and back |
//! | `check` | what is wrong with JSON that a client gives |
//! | `share` | which part of the rows meets a condition |

mod build;
mod check;
mod share;
mod text;

use types::{CollationId, ColumnDef, ColumnType, TableDef, Value};

pub(crate) use build::{Builder, Wanted};
pub(crate) use check::{Refused, check};
pub(crate) use share::share;

/// Buckets, if the statement does not say how many.
pub(crate) const BUCKETS_DEFAULT: u64 = 100;
/// At most so many.
pub(crate) const BUCKETS_MAX: u64 = 1024;
/// Characters of a text that are looked at.
pub(crate) const TEXT_CHARS: u32 = 42;

/// See the module.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Histogram {
    pub(crate) data_type: DataType,
    pub(crate) collation: CollationId,
    pub(crate) auto_update: bool,
    /// The part of the rows with NULL.
    pub(crate) null_values: f64,
    /// The part of the rows that was read.
    pub(crate) sampling_rate: f64,
    pub(crate) buckets_specified: u64,
    pub(crate) last_updated: String,
    /// One value per bucket.
    pub(crate) is_singleton: bool,
    /// Ascending.
    pub(crate) buckets: Vec<Bucket>,
}

/// Some values of a column.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Bucket {
    /// The smallest.
    pub(crate) lower: Value,
    /// The largest; the same in a singleton histogram.
    pub(crate) upper: Value,
    /// The part of all rows that has one of these values, or a smaller one.
    pub(crate) cumulative: f64,
    /// Different values; 1 in a singleton histogram.
    pub(crate) distinct: u64,
}

/// How values are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DataType {
    Int,
    UInt,
    Double,
    Decimal,
    String,
    Date,
    Time,
    DateTime,
    Enum,
    Set,
}

impl DataType {
    /// Of a column; `None` if it can have no histogram.
    pub(crate) fn of(ty: &ColumnType) -> Option<Self> {
        Some(match ty {
            ColumnType::Json => return None,
            ColumnType::Float { .. } | ColumnType::Double { .. } => DataType::Double,
            ColumnType::Decimal { .. } => DataType::Decimal,
            ColumnType::Date => DataType::Date,
            ColumnType::Time { .. } => DataType::Time,
            ColumnType::DateTime { .. } | ColumnType::Timestamp { .. } => DataType::DateTime,
            ColumnType::Enum { .. } => DataType::Enum,
            ColumnType::Set { .. } => DataType::Set,
            ColumnType::Year | ColumnType::Bit { .. } => DataType::Int,
            // Of the others all values are signed 64-bit numbers too.
            ColumnType::BigInt { unsigned: true } => DataType::UInt,
            other if other.integer().is_some() => DataType::Int,
            _ => DataType::String,
        })
    }

    fn name(self) -> &'static str {
        match self {
            DataType::Int => "int",
            DataType::UInt => "uint",
            DataType::Double => "double",
            DataType::Decimal => "decimal",
            DataType::String => "string",
            DataType::Date => "date",
            DataType::Time => "time",
            DataType::DateTime => "datetime",
            DataType::Enum => "enum",
            DataType::Set => "set",
        }
    }
}

/// What MySQL calls the collation of a column's values.
fn collation_of(column: &ColumnDef) -> CollationId {
    /// Numbers and times are as text latin1.
    const NUMERIC: CollationId = CollationId(8);
    match &column.ty {
        ty if ty.has_charset() => column.collation,
        ty if ty.is_binary() => CollationId::BINARY,
        ColumnType::Bit { .. } => CollationId::BINARY,
        _ => NUMERIC,
    }
}

/// Whether an index alone tells the column's values apart: then a histogram says nothing.
pub(crate) fn is_unique(def: &TableDef, column: usize) -> bool {
    let is_one = |index: &types::IndexDef| {
        index.unique
            && index.parts.len() == 1
            && index.parts[0].column == column
            && index.parts[0].prefix_chars.is_none()
    };
    def.indexes.iter().any(is_one)
}
