//! What a table is: columns, indexes, options. Stored in the catalog as JSON (serde), shared as `Arc<TableDef>`.

use std::fmt;

use base::{IndexId, TableId};
use serde::{Deserialize, Serialize};

use crate::collation::CollationId;
use crate::column_type::ColumnType;
use crate::value::Value;

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
    /// Of FLOAT(M,D) and DOUBLE(M,D): all digits, and those after the point.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub float_digits: Option<(u8, u8)>,
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
            float_digits: None,
        }
    }

    /// The type as SHOW CREATE TABLE prints it: `int(5) unsigned zerofill`.
    pub fn type_text(&self) -> String {
        let mut text = self.ty.to_string();
        let digits = self.float_digits.map(|(digits, decimals)| format!("({digits},{decimals})"));
        if let Some(digits) = digits.or_else(|| self.display_width.map(|width| format!("({width})"))) {
            let at = text.find(' ').unwrap_or(text.len());
            text.insert_str(at, &digits);
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
    /// It was made for a foreign key, and goes when another index can take its place.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub generated: bool,
}

impl IndexDef {
    /// Whether a generated index is not needed because of this one, which has its columns in front; in a MariaDB in any direction.
    pub fn covers(&self, generated: &IndexDef, is_of_maria: bool) -> bool {
        let columns: Vec<usize> = generated.parts.iter().map(|part| part.column).collect();
        let is_longer = self.parts.len() > columns.len();
        generated.generated
            && (!self.generated || is_longer)
            && self.begins_with(&columns)
            && (is_of_maria || !self.parts[..columns.len()].iter().any(|part| part.descending))
    }

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

    /// Whether an index of the table could be its primary key.
    pub fn is_candidate(&self, index: &IndexDef) -> bool {
        index.unique && index.parts.iter().all(|part| !self.columns[part.column].nullable)
    }

    /// The AUTO_INCREMENT column.
    pub fn auto_increment_column(&self) -> Option<usize> {
        self.columns.iter().position(|column| column.auto_increment)
    }

    /// The generated primary key of a table that has an AUTO_INCREMENT column besides, which is counted by itself.
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
