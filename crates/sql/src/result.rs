//! What a statement gives back: the shape of its rows, the rows through a [`ResultSink`], and an [`Outcome`].
//!
//! The words are the protocol's (field types, flags, lengths), because that is what clients see; the bytes are `wire`'s.

use std::sync::Arc;

use base::{SqlError, codes};
use bytes::Bytes;
use io::BoxFuture;
use types::Value;
use types::collation::CollationId;

/// Where the rows of a statement go.
///
/// A statement without rows calls nothing. One with rows calls [`columns`](ResultSink::columns) once, then
/// [`row`](ResultSink::row) for each; after an error nothing more.
pub trait ResultSink: Send {
    /// The shape of the rows that follow.
    fn columns(&mut self, columns: &[ResultColumn]) -> Result<(), SqlError>;

    /// One row, with a value per column. `TIMESTAMP`s are in the session's time zone.
    fn row(&mut self, row: &[Value]) -> Result<(), SqlError>;

    /// Whether enough is buffered that the producer should call [`flush`](ResultSink::flush) before the next row.
    fn needs_flush(&self) -> bool {
        false
    }

    /// Asks the client for a file of its own (LOAD DATA LOCAL), of which [`next_of_file`](ResultSink::next_of_file) then gives the
    /// bytes. The name is as in the statement.
    fn ask_for_file<'a>(&'a mut self, name: &'a str) -> BoxFuture<'a, Result<(), SqlError>> {
        let _ = name;
        Box::pin(std::future::ready(Err(SqlError::new(codes::CLIENT_LOCAL_FILES_DISABLED, LOCAL_FILES_DISABLED))))
    }

    /// Whether there is a client that may be asked for a file.
    fn has_files(&self) -> bool {
        false
    }

    /// The next bytes of the file that was asked for; none at its end.
    fn next_of_file(&mut self) -> BoxFuture<'_, Result<Bytes, SqlError>> {
        Box::pin(std::future::ready(Ok(Bytes::new())))
    }

    /// Sends what is buffered and waits until the client has taken enough of it.
    fn flush(&mut self) -> BoxFuture<'_, Result<(), SqlError>> {
        Box::pin(std::future::ready(Ok(())))
    }
}

/// What MySQL says of LOAD DATA LOCAL where one side does not want it.
pub(crate) const LOCAL_FILES_DISABLED: &str =
    "Loading local data is disabled; this must be enabled on both the client and server sides";

/// A sink that keeps everything, for statements run from inside and for tests.
#[derive(Clone, Debug, Default)]
pub struct Collected {
    /// Empty if the statement had no result set.
    pub columns: Vec<ResultColumn>,
    /// All rows.
    pub rows: Vec<Vec<Value>>,
}

impl ResultSink for Collected {
    fn columns(&mut self, columns: &[ResultColumn]) -> Result<(), SqlError> {
        self.columns = columns.to_vec();
        Ok(())
    }

    fn row(&mut self, row: &[Value]) -> Result<(), SqlError> {
        self.rows.push(row.to_vec());
        Ok(())
    }
}

/// A column of a result set, as the protocol describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct ResultColumn {
    /// The database of the table; empty for an expression.
    pub schema: Arc<str>,
    /// The table's alias.
    pub table: Arc<str>,
    /// The table's own name.
    pub org_table: Arc<str>,
    /// The column's alias, or the text of the expression.
    pub name: Arc<str>,
    /// The column's own name; empty for an expression.
    pub org_name: Arc<str>,
    /// The protocol's type.
    pub ty: FieldType,
    /// 63 (binary) for numbers and times.
    pub collation: CollationId,
    /// Display width: bytes for strings (characters times the connection's bytes per character), digits for numbers.
    pub length: u32,
    /// Digits after the point; [`ResultColumn::FLOATING`] where they are not fixed.
    pub decimals: u8,
    /// `NOT_NULL`, `UNSIGNED`, …
    pub flags: FieldFlags,
}

impl ResultColumn {
    /// `decimals` of a FLOAT or DOUBLE without fixed digits.
    pub const FLOATING: u8 = 31;

    /// A column that belongs to no table.
    pub fn new(name: impl Into<Arc<str>>, ty: FieldType, collation: CollationId, length: u32) -> Self {
        let empty: Arc<str> = Arc::from("");
        ResultColumn {
            schema: empty.clone(),
            table: empty.clone(),
            org_table: empty.clone(),
            name: name.into(),
            org_name: empty,
            ty,
            collation,
            length,
            decimals: 0,
            flags: FieldFlags::default(),
        }
    }
}

/// The types of the client/server protocol (`enum_field_types`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
#[allow(missing_docs, reason = "the names are the protocol's own")]
pub enum FieldType {
    Decimal = 0,
    Tiny = 1,
    Short = 2,
    Long = 3,
    Float = 4,
    Double = 5,
    Null = 6,
    Timestamp = 7,
    LongLong = 8,
    Int24 = 9,
    Date = 10,
    Time = 11,
    DateTime = 12,
    Year = 13,
    VarChar = 15,
    Bit = 16,
    Json = 245,
    NewDecimal = 246,
    Enum = 247,
    Set = 248,
    TinyBlob = 249,
    MediumBlob = 250,
    LongBlob = 251,
    Blob = 252,
    VarString = 253,
    String = 254,
}

/// The flags of a [`ResultColumn`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FieldFlags(pub u16);

#[allow(missing_docs, reason = "the names are the protocol's own")]
impl FieldFlags {
    pub const NOT_NULL: FieldFlags = FieldFlags(1);
    pub const PRI_KEY: FieldFlags = FieldFlags(2);
    pub const UNIQUE_KEY: FieldFlags = FieldFlags(4);
    pub const MULTIPLE_KEY: FieldFlags = FieldFlags(8);
    pub const BLOB: FieldFlags = FieldFlags(16);
    pub const UNSIGNED: FieldFlags = FieldFlags(32);
    pub const ZEROFILL: FieldFlags = FieldFlags(64);
    pub const BINARY: FieldFlags = FieldFlags(128);
    pub const ENUM: FieldFlags = FieldFlags(256);
    pub const AUTO_INCREMENT: FieldFlags = FieldFlags(512);
    pub const TIMESTAMP: FieldFlags = FieldFlags(1024);
    pub const SET: FieldFlags = FieldFlags(2048);
    pub const NO_DEFAULT_VALUE: FieldFlags = FieldFlags(4096);
    pub const ON_UPDATE_NOW: FieldFlags = FieldFlags(8192);
    pub const PART_KEY: FieldFlags = FieldFlags(16384);
    pub const NUM: FieldFlags = FieldFlags(32768);

    /// Both sets of flags.
    pub const fn with(self, other: FieldFlags) -> FieldFlags {
        FieldFlags(self.0 | other.0)
    }

    /// These without the others.
    pub const fn without(self, other: FieldFlags) -> FieldFlags {
        FieldFlags(self.0 & !other.0)
    }

    /// Whether all flags of `other` are set.
    pub const fn has(self, other: FieldFlags) -> bool {
        self.0 & other.0 == other.0
    }
}

/// What a statement did, for the OK packet (or the end of the result set).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Rows changed (found, where the client asked for that); for a query the number of rows sent.
    pub affected_rows: u64,
    /// The first value that AUTO_INCREMENT made; if it made none, the last that was given for its column; or 0.
    pub last_insert_id: u64,
    /// Whether AUTO_INCREMENT made `last_insert_id`, so that LAST_INSERT_ID() is it from now on.
    pub generated_id: bool,
    /// `Rows matched: 1  Changed: 1  Warnings: 0`, or empty.
    pub info: String,
    /// Number of warnings, as far as 16 bits go.
    pub warnings: u16,
    /// The session's state after the statement.
    pub status: StatusFlags,
    /// Whether the statement had a result set (even an empty one), so that no OK packet belongs to it.
    pub has_rows: bool,
}

/// The status flags of OK and EOF packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StatusFlags(pub u16);

#[allow(missing_docs, reason = "the names are the protocol's own")]
impl StatusFlags {
    pub const IN_TRANS: StatusFlags = StatusFlags(1);
    pub const AUTOCOMMIT: StatusFlags = StatusFlags(2);
    pub const MORE_RESULTS_EXISTS: StatusFlags = StatusFlags(8);
    pub const NO_GOOD_INDEX_USED: StatusFlags = StatusFlags(16);
    pub const NO_INDEX_USED: StatusFlags = StatusFlags(32);
    pub const DB_DROPPED: StatusFlags = StatusFlags(256);
    pub const NO_BACKSLASH_ESCAPES: StatusFlags = StatusFlags(512);
    pub const METADATA_CHANGED: StatusFlags = StatusFlags(1024);
    pub const IN_TRANS_READONLY: StatusFlags = StatusFlags(8192);
    pub const SESSION_STATE_CHANGED: StatusFlags = StatusFlags(16384);

    /// Both sets of flags.
    pub const fn with(self, other: StatusFlags) -> StatusFlags {
        StatusFlags(self.0 | other.0)
    }

    /// Whether all flags of `other` are set.
    pub const fn has(self, other: StatusFlags) -> bool {
        self.0 & other.0 == other.0
    }
}
