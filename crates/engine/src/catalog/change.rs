//! [`CatalogChange`]: what a DDL statement does, free of SQL.

use std::fmt;
use std::sync::Arc;

use base::SqlError;
use binlog::QueryContext;
use bytes::Bytes;
use types::{ForeignKeyDef, TableDef};

use super::{Catalog, Database, Table};

/// Begins to make rows of a table's new form: once for each time that all rows are read, in the order of [`AlterTable::read_by`].
pub type RowMapper = Arc<dyn Fn() -> RowMap + Send + Sync>;

/// Makes a row of a table's new form from the next one of its old form.
pub type RowMap = Box<dyn FnMut(&Bytes) -> Result<Bytes, SqlError> + Send>;

/// Database and table.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TableName {
    /// Database.
    pub schema: String,
    /// Table.
    pub name: String,
}

impl TableName {
    /// From both parts.
    pub fn new(schema: impl Into<String>, name: impl Into<String>) -> Self {
        TableName { schema: schema.into(), name: name.into() }
    }
}

impl fmt::Display for TableName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.schema, self.name)
    }
}

/// ALTER TABLE, CREATE INDEX and DROP INDEX.
#[derive(Clone)]
pub struct AlterTable {
    /// The table as it was planned with; refused with [`crate::EngineError::TableChanged`] if it is another by now.
    pub table: Arc<Table>,
    /// What it shall be, name and schema included (ALTER TABLE … RENAME). Indexes that stay keep their ids; new ones have
    /// id 0.
    pub new_def: TableDef,
    /// Given if rows change their form: then every index is built anew.
    pub row_mapper: Option<RowMapper>,
    /// The position, in the old definition, of the index in whose order rows are read.
    pub read_by: usize,
    /// Columns with new names, old name first: foreign keys that refer to them follow.
    pub renamed_columns: Vec<(String, String)>,
    /// Foreign keys of `new_def` that all rows have to obey.
    pub checked_keys: Vec<NewForeignKey>,
    /// `AUTO_INCREMENT = N`: the counter goes on there, or behind the largest number of the rows, even if it was further.
    pub counter: Option<u64>,
}

/// A foreign key that comes to a table with rows.
#[derive(Clone)]
pub struct NewForeignKey {
    /// The foreign key, with columns of the table's new form.
    pub key: ForeignKeyDef,
    /// Its parent.
    pub parent: Arc<Table>,
    /// The parent's unique index over the columns that it refers to.
    pub parent_index: usize,
    /// What to say of a row without a parent.
    pub refusal: SqlError,
}

/// What a DDL statement does. Names are checked against the catalog when it is executed; `IF EXISTS` and its kin have been
/// settled by the planner.
#[derive(Clone)]
pub enum CatalogChange {
    /// Nothing, but it goes into the log (`CREATE TABLE IF NOT EXISTS` of one that exists).
    Nothing,
    /// CREATE DATABASE
    CreateDatabase(Database),
    /// ALTER DATABASE
    AlterDatabase(Database),
    /// DROP DATABASE, with all its tables.
    DropDatabase(String),
    /// CREATE TABLE. Ids are 0 and are given here.
    CreateTable(Box<TableDef>),
    /// DROP TABLE
    DropTables(Vec<TableName>),
    /// RENAME TABLE, one after the other.
    RenameTables(Vec<(TableName, TableName)>),
    /// ALTER TABLE, CREATE INDEX, DROP INDEX
    AlterTable(Box<AlterTable>),
    /// ANALYZE TABLE: nothing in the catalog. A server that applies the log collects statistics of its own.
    Analyze(Vec<TableName>),
    /// ANALYZE TABLE … UPDATE HISTOGRAM and DROP HISTOGRAM: those of columns by name, `None` drops.
    Histograms(TableName, Vec<(String, Option<Arc<str>>)>),
    /// TRUNCATE TABLE
    Truncate(TableName),
    /// CREATE, ALTER, DROP USER, GRANT, REVOKE, SET PASSWORD: accounts by name (`user@host`), `None` drops.
    Accounts(Vec<(String, Option<serde_json::Value>)>),
}

/// The text of a DDL statement with all of its session on which its meaning depends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DdlText {
    /// The statement.
    pub sql: String,
    /// Default database, sql_mode, character sets, time: what goes into the status variables of its QUERY event.
    pub context: QueryContext,
}

/// Understands DDL text; `sql` implements it and `server` hands it down. Used when a log is applied (recovery, followers):
/// the same text on the same catalog has to give the same change.
pub trait DdlPlanner: Send + Sync {
    /// What the statement does to this catalog.
    fn plan(&self, text: &DdlText, catalog: &Catalog) -> Result<CatalogChange, SqlError>;
}
