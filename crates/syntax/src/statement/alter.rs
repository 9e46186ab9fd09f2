//! ALTER TABLE and its actions.

use super::{ColumnSpec, DefaultSpec, ForeignKeySpec, IndexKind, IndexSpec, TableKey, TableName, TableOptions};

/// ALTER TABLE.
#[derive(Clone, Debug, PartialEq)]
pub struct AlterTable {
    /// The table.
    pub table: TableName,
    /// IF EXISTS: of no effect if there is no such table.
    pub if_exists: bool,
    /// What to change, in order.
    pub actions: Vec<AlterAction>,
    /// It is CREATE INDEX or DROP INDEX, which need another privilege than ALTER TABLE.
    pub of_index: bool,
    /// ALGORITHM and LOCK, if they are said.
    pub online: Option<Online>,
}

/// How ALTER TABLE is to be done; in capitals as written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Online {
    /// ALGORITHM: DEFAULT, INSTANT, INPLACE, COPY, or MariaDB's NOCOPY.
    pub algorithm: Option<String>,
    /// LOCK: DEFAULT, NONE, SHARED, EXCLUSIVE.
    pub lock: Option<String>,
    /// MariaDB's ALTER ONLINE.
    pub wished: bool,
    /// Their places among what stands between the commas: the log does not have them.
    pub items: Vec<usize>,
}

impl From<TableKey> for AlterAction {
    fn from(key: TableKey) -> Self {
        match key {
            TableKey::Index(index) => AlterAction::AddIndex(index),
            TableKey::Foreign(key) => AlterAction::AddForeignKey(key),
        }
    }
}

/// One action of ALTER TABLE.
#[derive(Clone, Debug, PartialEq)]
pub enum AlterAction {
    /// ADD COLUMN.
    AddColumn(Box<ColumnSpec>, ColumnPlace),
    /// DROP COLUMN.
    DropColumn(String),
    /// MODIFY COLUMN.
    ModifyColumn(Box<ColumnSpec>, ColumnPlace),
    /// CHANGE COLUMN: the old name first.
    ChangeColumn(String, Box<ColumnSpec>, ColumnPlace),
    /// RENAME COLUMN … TO ….
    RenameColumn(String, String),
    /// ALTER COLUMN … SET DEFAULT / DROP DEFAULT.
    ColumnDefault {
        /// Its name.
        column: String,
        /// `None` for DROP DEFAULT.
        default: Option<DefaultSpec>,
        /// Its place in the statement, as that of [`AlterAction::If`].
        item: usize,
    },
    /// ALTER COLUMN … SET VISIBLE / INVISIBLE.
    ColumnVisible(String, bool),
    /// ADD INDEX, ADD PRIMARY KEY, ….
    AddIndex(IndexSpec),
    /// ADD FOREIGN KEY.
    AddForeignKey(ForeignKeySpec),
    /// DROP FOREIGN KEY.
    DropForeignKey(String),
    /// DROP CONSTRAINT: a foreign key, a unique or the primary key.
    DropConstraint(String),
    /// DROP INDEX.
    DropIndex(String),
    /// DROP PRIMARY KEY.
    DropPrimaryKey,
    /// RENAME INDEX … TO ….
    RenameIndex(String, String),
    /// ALTER INDEX … VISIBLE / INVISIBLE.
    IndexVisible(String, bool),
    /// RENAME [TO].
    Rename(TableName),
    /// ENGINE=…, AUTO_INCREMENT=…, ….
    Options(TableOptions),
    /// CONVERT TO CHARACTER SET … COLLATE ….
    ConvertTo(String, Option<String>),
    /// FORCE: everything is built anew.
    Force,
    /// ALGORITHM, LOCK and options that say nothing here.
    Nothing,
    /// ORDER BY: a warning says that rows are ordered by the primary key.
    OrderBy,
    /// DISABLE KEYS, ENABLE KEYS: a note says that there is no such option.
    SwitchKeys,
    /// WITH VALIDATION or WITHOUT VALIDATION, which says something of other actions.
    Validation,
    /// MariaDB's IF EXISTS and IF NOT EXISTS: what the action names has to be there, or must not be if it is added; else it is left out.
    If {
        /// What is done then.
        action: Box<AlterAction>,
        /// Its place among what stands between the commas.
        item: usize,
    },
}

impl AlterTable {
    /// Whether one of its actions is such, with a condition or without.
    pub fn says(&self, wanted: impl Fn(&AlterAction) -> bool) -> bool {
        self.actions.iter().any(|action| wanted(action.unconditional()))
    }
}

impl AlterAction {
    /// Whether it adds a primary or unique key.
    pub fn adds_unique(&self) -> bool {
        matches!(self.unconditional(), AlterAction::AddIndex(index) if index.kind != IndexKind::Plain)
    }

    /// Whether it changes nothing of the table.
    pub fn is_nothing(&self) -> bool {
        self.says_nothing() || *self == AlterAction::OrderBy
    }

    /// Whether it is nothing of which rows would be counted.
    pub fn says_nothing(&self) -> bool {
        matches!(self, AlterAction::Nothing | AlterAction::SwitchKeys)
    }

    /// The action itself, without its condition.
    pub fn unconditional(&self) -> &AlterAction {
        match self {
            AlterAction::If { action, .. } => action,
            action => action,
        }
    }
}

/// Where a column goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnPlace {
    /// Nothing was said: at the end, or where it was.
    Default,
    /// FIRST.
    First,
    /// AFTER.
    After(String),
}

/// The order in which an ALTER TABLE numbers the rows of a table that has both a generated primary key and a unique key without NULL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowOrder {
    /// A source that generates such keys, as MySQL may and this server does.
    GeneratedKey,
    /// A source that does not.
    UniqueKey,
}

impl RowOrder {
    /// What the log says of it behind the statement.
    pub fn mark(self) -> &'static str {
        match self {
            RowOrder::GeneratedKey => " /* by generated key */",
            RowOrder::UniqueKey => " /* by unique key */",
        }
    }
}
