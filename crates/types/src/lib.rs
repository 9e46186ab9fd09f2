//! Values, columns and collations; the row codec and the order-preserving key codec.
//!
//! Three forms of the same data, and this crate holds every way between them:
//!
//! | form | who uses it | module |
//! |---|---|---|
//! | [`Value`] | expressions, results | [`value`], [`decimal`], [`temporal`] |
//! | row image: the bytes of the binary log's rows events | log, memtable, leaf of a tree | [`row`] |
//! | key: bytes whose order is the order of the values | memtable, tree, locks | [`key`] |
//!
//! A row image is made once, by the session that writes the row; afterwards it is only sliced. Strings are utf8mb4 as
//! [`Value`]s and in the column's own character set as row images ([`charset`]); they are ordered by their collation's
//! weights ([`collation`]), which are also what a key holds.
//!
//! Knows no SQL: conversions between types as MySQL does them in expressions and assignments are in `sql::expr`.

pub mod binlog_meta;
pub mod charset;
pub mod collation;
pub mod column;
mod column_type;
pub mod decimal;
mod error;
pub mod json;
pub mod key;
pub mod number;
pub mod row;
pub mod schema;
mod scratch;
mod sql_mode;
pub mod table;
pub mod temporal;
pub mod value;

pub use collation::CollationId;
pub use column_type::{BlobSize, ColumnType};
pub use decimal::Decimal;
pub use error::TypeError;
pub use json::Json;
pub use key::KeyCodec;
pub use row::RowLayout;
pub use schema::{ColumnDef, ColumnDefault, ForeignKeyDef, IndexDef, KeyPart, ReferentialAction, TableDef};
pub use sql_mode::SqlMode;
pub use table::TableCodec;
pub use temporal::{Date, DateTime, Time};
pub use value::Value;
