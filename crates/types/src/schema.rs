//! What a table is: columns, indexes, options. Stored in the catalog as JSON (serde), shared as `Arc<TableDef>`.

use std::fmt;
use std::sync::Arc;

use base::{IndexId, TableId};
use serde::{Deserialize, Serialize};

use crate::collation::CollationId;
use crate::value::Value;

/// The four sizes of TEXT and BLOB; they differ in the bytes of their length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum BlobSize {
    /// 255 bytes.
    Tiny,
    /// 64 KiB - 1.
    Normal,
    /// 16 MiB - 1.
    Medium,
    /// 4 GiB - 1.
    Long,
}

impl BlobSize {
    /// How many bytes the length takes in a row image.
    pub fn length_bytes(self) -> usize {
        match self {
            BlobSize::Tiny => 1,
            BlobSize::Normal => 2,
            BlobSize::Medium => 3,
            BlobSize::Long => 4,
        }
    }

    /// The longest value, in bytes.
    pub fn max_bytes(self) -> u32 {
        u32::MAX >> (32 - 8 * self.length_bytes())
    }
}

/// A column's type. Its collation is beside it, in [`ColumnDef`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ColumnType {
    /// 1 byte.
    TinyInt {
        /// UNSIGNED
        unsigned: bool,
    },
    /// 2 bytes.
    SmallInt {
        /// UNSIGNED
        unsigned: bool,
    },
    /// 3 bytes.
    MediumInt {
        /// UNSIGNED
        unsigned: bool,
    },
    /// 4 bytes.
    Int {
        /// UNSIGNED
        unsigned: bool,
    },
    /// 8 bytes.
    BigInt {
        /// UNSIGNED
        unsigned: bool,
    },
    /// 4 bytes, IEEE 754.
    Float {
        /// UNSIGNED
        unsigned: bool,
    },
    /// 8 bytes, IEEE 754.
    Double {
        /// UNSIGNED
        unsigned: bool,
    },
    /// Exact decimal.
    Decimal {
        /// All digits, at most 65.
        precision: u8,
        /// Digits after the point, at most 30.
        scale: u8,
        /// UNSIGNED
        unsigned: bool,
    },
    /// Fixed length, without trailing spaces.
    Char {
        /// Length in characters, at most 255.
        chars: u32,
    },
    /// Variable length.
    VarChar {
        /// Longest length in characters.
        chars: u32,
    },
    /// Fixed length, padded with zero bytes.
    Binary {
        /// Length in bytes, at most 255.
        bytes: u32,
    },
    /// Variable length, bytes.
    VarBinary {
        /// Longest length in bytes.
        bytes: u32,
    },
    /// TINYTEXT, TEXT, MEDIUMTEXT, LONGTEXT.
    Text {
        /// Which of them.
        size: BlobSize,
    },
    /// TINYBLOB, BLOB, MEDIUMBLOB, LONGBLOB.
    Blob {
        /// Which of them.
        size: BlobSize,
    },
    /// A day.
    Date,
    /// A span of time, signed, up to 838 hours.
    Time {
        /// Digits of the fraction of a second, at most 6.
        fsp: u8,
    },
    /// Day and time without a zone.
    DateTime {
        /// Digits of the fraction of a second, at most 6.
        fsp: u8,
    },
    /// A point in time; in [`Value`]s and row images in UTC, shown in the session's zone.
    Timestamp {
        /// Digits of the fraction of a second, at most 6.
        fsp: u8,
    },
    /// 0000 and 1901 to 2155.
    Year,
    /// Bits, an unsigned number as [`Value`].
    Bit {
        /// At most 64.
        bits: u8,
    },
    /// One of the members; the member's text as [`Value`], ordered by its place in the list.
    Enum {
        /// Place 1 is the first; 0 is the error value `''`.
        members: Arc<[String]>,
    },
    /// Some of the members; their texts with commas between as [`Value`], ordered by the bits.
    Set {
        /// Bit 0 is the first.
        members: Arc<[String]>,
    },
    /// A document, in MySQL's binary form.
    Json,
}

impl ColumnType {
    /// Width and signedness of the five integer types.
    pub fn integer(&self) -> Option<(usize, bool)> {
        Some(match *self {
            ColumnType::TinyInt { unsigned } => (1, unsigned),
            ColumnType::SmallInt { unsigned } => (2, unsigned),
            ColumnType::MediumInt { unsigned } => (3, unsigned),
            ColumnType::Int { unsigned } => (4, unsigned),
            ColumnType::BigInt { unsigned } => (8, unsigned),
            _ => return None,
        })
    }

    /// CHAR, VARCHAR, TEXT, ENUM, SET: what has a character set.
    pub fn has_charset(&self) -> bool {
        use ColumnType::*;
        matches!(self, Char { .. } | VarChar { .. } | Text { .. } | Enum { .. } | Set { .. })
    }

    /// BINARY, VARBINARY, BLOB.
    pub fn is_binary(&self) -> bool {
        use ColumnType::*;
        matches!(self, Binary { .. } | VarBinary { .. } | Blob { .. })
    }

    /// CHAR, VARCHAR, TEXT and their binary kin.
    pub fn is_string(&self) -> bool {
        use ColumnType::*;
        matches!(self, Char { .. } | VarChar { .. } | Text { .. } | Binary { .. } | VarBinary { .. } | Blob { .. })
    }

    /// TEXT, BLOB and JSON: no index has the whole of it, and there is no literal DEFAULT.
    pub fn is_blob(&self) -> bool {
        matches!(self, ColumnType::Text { .. } | ColumnType::Blob { .. } | ColumnType::Json)
    }

    /// DATE, TIME, DATETIME, TIMESTAMP.
    pub fn is_temporal(&self) -> bool {
        use ColumnType::*;
        matches!(self, Date | Time { .. } | DateTime { .. } | Timestamp { .. })
    }

    /// Whether it is a number to arithmetic and may be UNSIGNED.
    pub fn is_numeric(&self) -> bool {
        use ColumnType::*;
        self.integer().is_some() || matches!(self, Float { .. } | Double { .. } | Decimal { .. })
    }

    /// UNSIGNED, or a type that has no sign.
    pub fn is_unsigned(&self) -> bool {
        match *self {
            ColumnType::Float { unsigned } | ColumnType::Double { unsigned } | ColumnType::Decimal { unsigned, .. } => {
                unsigned
            }
            ColumnType::Year | ColumnType::Bit { .. } => true,
            _ => self.integer().is_some_and(|(_, unsigned)| unsigned),
        }
    }

    /// How many bytes an ENUM's index or a SET's bits take in a row image.
    pub fn pack_length(&self) -> Option<usize> {
        match self {
            ColumnType::Enum { members } => Some(if members.len() < 256 { 1 } else { 2 }),
            ColumnType::Set { members } => Some(match members.len().div_ceil(8) {
                0 | 1 => 1,
                n @ 2..=4 => n,
                _ => 8,
            }),
            _ => None,
        }
    }
}

/// The type as SHOW CREATE TABLE prints it, without the character set.
impl fmt::Display for ColumnType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unsigned = |unsigned: bool| if unsigned { " unsigned" } else { "" };
        match self {
            ColumnType::TinyInt { unsigned: u } => write!(f, "tinyint{}", unsigned(*u)),
            ColumnType::SmallInt { unsigned: u } => write!(f, "smallint{}", unsigned(*u)),
            ColumnType::MediumInt { unsigned: u } => write!(f, "mediumint{}", unsigned(*u)),
            ColumnType::Int { unsigned: u } => write!(f, "int{}", unsigned(*u)),
            ColumnType::BigInt { unsigned: u } => write!(f, "bigint{}", unsigned(*u)),
            ColumnType::Float { unsigned: u } => write!(f, "float{}", unsigned(*u)),
            ColumnType::Double { unsigned: u } => write!(f, "double{}", unsigned(*u)),
            ColumnType::Decimal { precision, scale, unsigned: u } => {
                write!(f, "decimal({precision},{scale}){}", unsigned(*u))
            }
            ColumnType::Char { chars } => write!(f, "char({chars})"),
            ColumnType::VarChar { chars } => write!(f, "varchar({chars})"),
            ColumnType::Binary { bytes } => write!(f, "binary({bytes})"),
            ColumnType::VarBinary { bytes } => write!(f, "varbinary({bytes})"),
            ColumnType::Text { size } => write!(f, "{}text", blob_prefix(*size)),
            ColumnType::Blob { size } => write!(f, "{}blob", blob_prefix(*size)),
            ColumnType::Date => f.write_str("date"),
            ColumnType::Time { fsp } => write_with_fsp(f, "time", *fsp),
            ColumnType::DateTime { fsp } => write_with_fsp(f, "datetime", *fsp),
            ColumnType::Timestamp { fsp } => write_with_fsp(f, "timestamp", *fsp),
            ColumnType::Year => f.write_str("year"),
            ColumnType::Bit { bits } => write!(f, "bit({bits})"),
            ColumnType::Enum { members } => write_members(f, "enum", members),
            ColumnType::Set { members } => write_members(f, "set", members),
            ColumnType::Json => f.write_str("json"),
        }
    }
}

fn blob_prefix(size: BlobSize) -> &'static str {
    match size {
        BlobSize::Tiny => "tiny",
        BlobSize::Normal => "",
        BlobSize::Medium => "medium",
        BlobSize::Long => "long",
    }
}

fn write_with_fsp(f: &mut fmt::Formatter<'_>, name: &str, fsp: u8) -> fmt::Result {
    if fsp == 0 { f.write_str(name) } else { write!(f, "{name}({fsp})") }
}

fn write_members(f: &mut fmt::Formatter<'_>, name: &str, members: &[String]) -> fmt::Result {
    write!(f, "{name}(")?;
    for (i, member) in members.iter().enumerate() {
        if i > 0 {
            f.write_str(",")?;
        }
        write!(f, "'{}'", member.replace('\'', "''"))?;
    }
    f.write_str(")")
}

/// What a column holds when an INSERT does not name it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ColumnDefault {
    /// A value, already converted to the column's type.
    Literal(Value),
    /// `CURRENT_TIMESTAMP(fsp)`
    CurrentTimestamp {
        /// Digits of the fraction.
        fsp: u8,
    },
    /// `(expression)`, as SQL text without the outer parentheses.
    Expression(String),
}

/// A column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ColumnDef {
    /// As the user wrote it; compared without case.
    pub name: String,
    /// Its type.
    pub ty: ColumnType,
    /// Whether it may hold NULL.
    pub nullable: bool,
    /// `None` without a DEFAULT clause (a nullable column is then NULL); `DEFAULT NULL` is `Literal(Null)`.
    pub default: Option<ColumnDefault>,
    /// `ON UPDATE CURRENT_TIMESTAMP`, with the column's own fsp.
    pub on_update_now: bool,
    /// AUTO_INCREMENT
    pub auto_increment: bool,
    /// Not in `SELECT *`.
    pub invisible: bool,
    /// Of its strings; [`CollationId::BINARY`] for what has no character set.
    pub collation: CollationId,
    /// COMMENT
    pub comment: String,
    /// Digits that are shown of an integer: of ZEROFILL, and 1 of TINYINT(1), which clients take for a truth value.
    #[serde(default)]
    pub display_width: Option<u8>,
    /// Numbers are shown with zeros in front.
    #[serde(default)]
    pub zerofill: bool,
}

impl ColumnDef {
    /// A NULLable column without anything else, with the default collation if its type has one.
    pub fn new(name: impl Into<String>, ty: ColumnType) -> Self {
        let collation = if ty.has_charset() { CollationId::DEFAULT } else { CollationId::BINARY };
        ColumnDef {
            name: name.into(),
            ty,
            nullable: true,
            default: None,
            on_update_now: false,
            auto_increment: false,
            invisible: false,
            collation,
            comment: String::new(),
            display_width: None,
            zerofill: false,
        }
    }

    /// The type as SHOW CREATE TABLE prints it: `int(5) unsigned zerofill`.
    pub fn type_text(&self) -> String {
        let mut text = self.ty.to_string();
        if let Some(width) = self.display_width {
            let at = text.find(' ').unwrap_or(text.len());
            text.insert_str(at, &format!("({width})"));
        }
        if self.zerofill {
            text.push_str(" zerofill");
        }
        text
    }

    /// The same column, NOT NULL.
    pub fn not_null(mut self) -> Self {
        self.nullable = false;
        self
    }

    /// The longest value in bytes of the column's character set (for types with a length).
    pub fn max_bytes(&self) -> u32 {
        let width = self.collation.charset().max_bytes_per_char();
        match &self.ty {
            ColumnType::Char { chars } | ColumnType::VarChar { chars } => chars * width,
            ColumnType::Binary { bytes } | ColumnType::VarBinary { bytes } => *bytes,
            ColumnType::Text { size } | ColumnType::Blob { size } => size.max_bytes(),
            ColumnType::Json => u32::MAX,
            _ => 0,
        }
    }
}

/// One column of an index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyPart {
    /// Position in [`TableDef::columns`].
    pub column: usize,
    /// Only so many characters (bytes, for binary strings) of it: `KEY (name(10))`.
    pub prefix_chars: Option<u32>,
    /// DESC
    pub descending: bool,
}

impl KeyPart {
    /// A whole column, ascending.
    pub fn column(column: usize) -> Self {
        KeyPart { column, prefix_chars: None, descending: false }
    }
}

/// An index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexDef {
    /// For its whole life; given by the catalog.
    #[serde(with = "index_id")]
    pub id: IndexId,
    /// `PRIMARY` for the clustered one.
    pub name: String,
    /// Its columns, in order.
    pub parts: Vec<KeyPart>,
    /// No two rows with equal, non-NULL parts.
    pub unique: bool,
    /// COMMENT
    pub comment: String,
    /// Whether plans may use it.
    pub visible: bool,
}

impl IndexDef {
    /// Whether its first parts are these columns, whole and in this order.
    fn begins_with(&self, columns: &[usize]) -> bool {
        let parts = self.parts.get(..columns.len());
        parts.is_some_and(|parts| {
            parts.iter().zip(columns).all(|(part, &column)| part.column == column && part.prefix_chars.is_none())
        })
    }
}

/// What happens to the rows that refer to one which goes, or whose key changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReferentialAction {
    /// NO ACTION, and nothing said: the change is refused, at once as with RESTRICT.
    #[default]
    NoAction,
    /// RESTRICT: the change is refused.
    Restrict,
    /// CASCADE: they go as well, or change as well.
    Cascade,
    /// SET NULL: they refer to nothing.
    SetNull,
    /// SET DEFAULT: the change is refused, as InnoDB does.
    SetDefault,
}

impl ReferentialAction {
    /// Whether the change is refused while there are such rows.
    pub fn refuses(self) -> bool {
        !matches!(self, ReferentialAction::Cascade | ReferentialAction::SetNull)
    }
}

/// As information_schema shows it.
impl fmt::Display for ReferentialAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ReferentialAction::NoAction => "NO ACTION",
            ReferentialAction::Restrict => "RESTRICT",
            ReferentialAction::Cascade => "CASCADE",
            ReferentialAction::SetNull => "SET NULL",
            ReferentialAction::SetDefault => "SET DEFAULT",
        })
    }
}

/// A foreign key: the values of some columns, if none is NULL, are a key of another table's row (or of one of its own).
///
/// The parent is known by its names, because it may be missing: `foreign_key_checks = 0` makes children before parents.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForeignKeyDef {
    /// Of the constraint; unique in the child's database.
    pub name: String,
    /// Positions in [`TableDef::columns`].
    pub columns: Vec<usize>,
    /// The parent's database.
    pub parent_schema: String,
    /// The parent.
    pub parent_table: String,
    /// Names of its columns, as many as [`ForeignKeyDef::columns`].
    pub parent_columns: Vec<String>,
    /// ON DELETE
    pub on_delete: ReferentialAction,
    /// ON UPDATE
    pub on_update: ReferentialAction,
}

impl ForeignKeyDef {
    /// Whether it refers to that table.
    pub fn refers_to(&self, schema: &str, table: &str) -> bool {
        self.parent_schema == schema && self.parent_table == table
    }

    /// Follows new names of the parent's columns, old name first.
    pub fn rename_parent_columns(&mut self, renamed: &[(String, String)]) {
        for column in &mut self.parent_columns {
            if let Some((_, new)) = renamed.iter().find(|(old, _)| same_name(old, column)) {
                column.clone_from(new);
            }
        }
    }
}

/// A table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TableDef {
    /// For its whole life; given by the catalog.
    #[serde(with = "table_id")]
    pub id: TableId,
    /// Its database.
    pub schema: String,
    /// Its name.
    pub name: String,
    /// In order.
    pub columns: Vec<ColumnDef>,
    /// `[0]` is the clustered primary key, always there.
    pub indexes: Vec<IndexDef>,
    /// In the order of their making.
    #[serde(default)]
    pub foreign_keys: Vec<ForeignKeyDef>,
    /// For columns without one of their own.
    pub collation: CollationId,
    /// COMMENT
    pub comment: String,
    /// The primary key is the generated invisible column `my_row_id`.
    pub generated_pk: bool,
    /// What ENGINE= said; shown, and otherwise ignored.
    pub engine_name: String,
    /// `AUTO_INCREMENT = n` of CREATE or ALTER TABLE: the first number to give is at least this.
    pub auto_increment_start: u64,
    /// Seconds since 1970 of the statement that made it or changed it last; given by the catalog.
    #[serde(default)]
    pub create_time: u32,
    /// Other table options (ROW_FORMAT and the like), in order, as SHOW CREATE TABLE prints them.
    pub options: Vec<(String, String)>,
}

/// Name of the column that is made for a table without a primary key.
pub const GENERATED_PK_COLUMN: &str = "my_row_id";

impl TableDef {
    /// The clustered primary key.
    pub fn primary(&self) -> &IndexDef {
        &self.indexes[0]
    }

    /// The column of that name, without regard to case.
    pub fn column_index(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| same_name(&column.name, name))
    }

    /// The index of that name, without regard to case.
    pub fn index_number(&self, name: &str) -> Option<usize> {
        self.indexes.iter().position(|index| same_name(&index.name, name))
    }

    /// An index that begins with these columns, whole and in this order.
    pub fn index_over(&self, columns: &[usize]) -> Option<usize> {
        self.indexes.iter().position(|index| index.begins_with(columns))
    }

    /// A unique index over exactly these columns, whole and in this order.
    pub fn unique_over(&self, columns: &[usize]) -> Option<usize> {
        let exactly = |index: &IndexDef| index.parts.len() == columns.len() && index.begins_with(columns);
        self.indexes.iter().position(|index| index.unique && exactly(index))
    }

    /// The AUTO_INCREMENT column.
    pub fn auto_increment_column(&self) -> Option<usize> {
        self.columns.iter().position(|column| column.auto_increment)
    }

    /// The generated primary key of a table that has an AUTO_INCREMENT column besides: both are counted by one counter.
    pub fn counted_pk(&self) -> Option<usize> {
        (self.generated_pk && !self.columns[0].auto_increment).then_some(0)
    }
}

/// Names of columns and indexes are equal without regard to case.
pub fn same_name(a: &str, b: &str) -> bool {
    a.len() == b.len() && a.eq_ignore_ascii_case(b)
        || (!a.is_ascii() || !b.is_ascii()) && a.to_lowercase() == b.to_lowercase()
}

mod index_id {
    use super::IndexId;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(id: &IndexId, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u64(id.0)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<IndexId, D::Error> {
        u64::deserialize(from).map(IndexId)
    }
}

mod table_id {
    use super::TableId;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(id: &TableId, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u64(id.0)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<TableId, D::Error> {
        u64::deserialize(from).map(TableId)
    }
}
