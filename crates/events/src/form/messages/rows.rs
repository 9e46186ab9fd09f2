//! Tables, their rows and values.

/// A table as rows see it.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Table {
    /// What its rows refer to, in this transaction.
    #[prost(uint64, tag = "1")]
    pub id: u64,
    /// As in a log; 4: the primary key was generated.
    #[prost(uint32, tag = "2")]
    pub flags: u32,
    /// Database.
    #[prost(string, tag = "3")]
    pub database: String,
    /// Name.
    #[prost(string, tag = "4")]
    pub name: String,
    /// In order.
    #[prost(message, repeated, tag = "5")]
    pub columns: Vec<Column>,
    /// Columns of the primary key, if the log says them.
    #[prost(message, repeated, tag = "6")]
    pub primary_key: Vec<KeyPart>,
    /// The optional metadata as in a log, for who writes one again. What it says is in the columns.
    #[prost(bytes = "vec", optional, tag = "7")]
    pub optional_metadata: Option<Vec<u8>>,
}

/// A column of a table. Of what is not set the log says nothing (`binlog_row_metadata`).
#[derive(Clone, PartialEq, prost::Message)]
pub struct Column {
    /// MySQL's number of the type as in a log: 1 TINYINT, 2 SMALLINT, 9 MEDIUMINT, 3 INT, 8 BIGINT, 4 FLOAT, 5 DOUBLE, 246 DECIMAL,
    /// 10 DATE, 19 TIME, 18 DATETIME, 17 TIMESTAMP, 13 YEAR, 16 BIT, 15 VARCHAR, 254 CHAR, ENUM or SET, 252 TEXT or BLOB, 245 JSON,
    /// 255 GEOMETRY, 242 VECTOR; 140 and 141 compressed columns of MariaDB's; 7, 11, 12 TIMESTAMP, TIME, DATETIME before MySQL 5.6.
    #[prost(uint32, tag = "1")]
    pub r#type: u32,
    /// Of the type as in a log, its first byte lowest. DECIMAL: digits, then digits behind the point; times: digits of the fraction; 254: the
    /// lower byte is 247 for ENUM, 248 for SET.
    #[prost(uint32, tag = "2")]
    pub metadata: u32,
    /// May be NULL.
    #[prost(bool, tag = "3")]
    pub nullable: bool,
    /// Of numeric types.
    #[prost(bool, optional, tag = "4")]
    pub unsigned: Option<bool>,
    /// Number of the collation of strings, ENUM and SET; 63: bytes.
    #[prost(uint32, optional, tag = "5")]
    pub collation: Option<u32>,
    /// Name.
    #[prost(string, optional, tag = "6")]
    pub name: Option<String>,
    /// Of ENUM and SET, in the column's character set.
    #[prost(bytes = "vec", repeated, tag = "7")]
    pub members: Vec<Vec<u8>>,
    /// Not in `SELECT *`.
    #[prost(bool, tag = "8")]
    pub invisible: bool,
    /// Of a GEOMETRY column which type exactly: 0 any, 1 point, 2 line string, 3 polygon, 4 to 6 several of these, 7 collection.
    #[prost(uint64, optional, tag = "9")]
    pub geometry_type: Option<u64>,
    /// The most numbers that a VECTOR has.
    #[prost(uint64, optional, tag = "10")]
    pub vector_dimensions: Option<u64>,
}

/// A column of a primary key.
#[derive(Clone, PartialEq, prost::Message)]
pub struct KeyPart {
    /// Its number in the table, from 0.
    #[prost(uint32, tag = "1")]
    pub column: u32,
    /// If only a prefix of it counts: how many characters.
    #[prost(uint32, tag = "2")]
    pub prefix: u32,
}

/// Rows of one table that were inserted, updated or deleted.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Rows {
    /// Of a table before it in the transaction.
    #[prost(uint64, tag = "1")]
    pub table_id: u64,
    /// What is done with them.
    #[prost(enumeration = "RowsKind", tag = "2")]
    pub kind: i32,
    /// Of the event in a log: 1 or 2.
    #[prost(uint32, tag = "3")]
    pub event_version: u32,
    /// As in a log: 1 end of the statement, 2 foreign_key_checks=0, 4 unique_checks=0, 8 all columns are there, 16 what cascades did follows
    /// as rows, 128 check_constraint_checks=0.
    #[prost(uint32, tag = "4")]
    pub flags: u32,
    /// Extra data as in a log: partitions.
    #[prost(bytes = "vec", tag = "5")]
    pub extra: Vec<u8>,
    /// How many columns the table has.
    #[prost(uint32, tag = "6")]
    pub column_count: u32,
    /// Bitmap of the columns that the images have, of an UPDATE those before.
    #[prost(bytes = "vec", tag = "7")]
    pub present: Vec<u8>,
    /// Bitmap of the columns that the images after an UPDATE have.
    #[prost(bytes = "vec", tag = "8")]
    pub present_after: Vec<u8>,
    /// Images after say of JSON documents only what changed.
    #[prost(bool, tag = "9")]
    pub partial: bool,
    /// Whether the log has the rows compressed by themselves.
    #[prost(bool, tag = "10")]
    pub compressed: bool,
    /// The rows.
    #[prost(message, repeated, tag = "11")]
    pub rows: Vec<Row>,
}

/// What is done with rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
pub enum RowsKind {
    /// They have images after.
    Insert = 0,
    /// They have both.
    Update = 1,
    /// They have images before.
    Delete = 2,
}

/// A row.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Row {
    /// As it was.
    #[prost(message, optional, tag = "1")]
    pub before: Option<Image>,
    /// As it is.
    #[prost(message, optional, tag = "2")]
    pub after: Option<Image>,
    /// With `partial`: options of the image after, as in a log.
    #[prost(uint64, optional, tag = "3")]
    pub partial_options: Option<u64>,
    /// With `partial`: bitmap over the table's JSON columns: those of which there are only changes.
    #[prost(bytes = "vec", tag = "4")]
    pub partial_columns: Vec<u8>,
}

/// Values of a row.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Image {
    /// One for each column that is present, in order.
    #[prost(message, repeated, tag = "1")]
    pub values: Vec<Value>,
    /// Unused bits of the NULL bitmap as in a log, inverted.
    #[prost(uint32, tag = "2")]
    pub null_padding: u32,
}

/// A value; NULL if none is set.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Value {
    /// By type.
    #[prost(oneof = "Kind", tags = "1, 2, 3, 4, 5, 6, 7, 8, 9")]
    pub kind: Option<Kind>,
}

/// By type.
#[derive(Clone, PartialEq, prost::Oneof)]
pub enum Kind {
    /// Integers that are signed, or of which the log does not say whether they are.
    #[prost(sint64, tag = "1")]
    Integer(i64),
    /// Integers that are unsigned; YEAR; BIT; ENUM: number of the member from 1; SET: bits, the first member lowest.
    #[prost(uint64, tag = "2")]
    Unsigned(u64),
    /// FLOAT.
    #[prost(float, tag = "3")]
    Float(f32),
    /// DOUBLE.
    #[prost(double, tag = "4")]
    Double(f64),
    /// DECIMAL with all its digits behind the point; DATE `2026-11-23`; TIME `-12:34:56.789`; DATETIME and TIMESTAMP
    /// `2026-11-23 12:34:56.789`, TIMESTAMP in UTC; with as many digits of the fraction as the column has.
    #[prost(string, tag = "5")]
    Text(String),
    /// Strings in their character set, BINARY and BLOB, GEOMETRY (SRID u32, then WKB), VECTOR (little-endian floats).
    #[prost(bytes = "vec", tag = "6")]
    Bytes(Vec<u8>),
    /// JSON of MySQL.
    #[prost(message, tag = "7")]
    Json(Json),
    /// What changed in a JSON document.
    #[prost(message, tag = "8")]
    JsonDiffs(JsonDiffs),
    /// A value of MariaDB's COMPRESSED columns, as it is stored.
    #[prost(bytes = "vec", tag = "9")]
    Compressed(Vec<u8>),
}

/// A JSON document.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Json {
    /// As MySQL prints it.
    #[prost(string, tag = "1")]
    pub text: String,
    /// As MySQL stores it; without it, it cannot be written into a log again.
    #[prost(bytes = "vec", tag = "2")]
    pub binary: Vec<u8>,
}

/// Changes of a JSON document.
#[derive(Clone, PartialEq, prost::Message)]
pub struct JsonDiffs {
    /// To be applied in this order.
    #[prost(message, repeated, tag = "1")]
    pub diffs: Vec<JsonDiff>,
}

/// A change of a JSON document.
#[derive(Clone, PartialEq, prost::Message)]
pub struct JsonDiff {
    /// What is done.
    #[prost(enumeration = "JsonOperation", tag = "1")]
    pub operation: i32,
    /// Where, such as `$.a[1]`.
    #[prost(bytes = "vec", tag = "2")]
    pub path: Vec<u8>,
    /// What is put there; none if it is removed.
    #[prost(message, optional, tag = "3")]
    pub value: Option<Json>,
}

/// What is done in a JSON document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
pub enum JsonOperation {
    /// What is at the path becomes the value.
    Replace = 0,
    /// The value is put at the path; what is behind it in an array moves.
    Insert = 1,
    /// What is at the path goes.
    Remove = 2,
}
