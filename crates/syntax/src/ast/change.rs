//! Statements that change rows.

use super::{ColumnPath, Expr, Name, OrderItem, Query, SelectItem, TablePath, TableRef, With};
use crate::literal_rows::LiteralRows;

/// `INSERT …`, `REPLACE …`
#[derive(Clone, Debug, PartialEq)]
pub struct Insert {
    /// REPLACE.
    pub replace: bool,
    /// When it is done, which means nothing here.
    pub priority: Option<Priority>,
    /// IGNORE.
    pub ignore: bool,
    /// The table.
    pub table: TablePath,
    /// PARTITION.
    pub partitions: Vec<Name>,
    /// The list of columns; `None` without one.
    pub columns: Option<Vec<ColumnPath>>,
    /// The rows.
    pub source: InsertSource,
    /// `AS new (a, b)`
    pub alias: Option<RowAlias>,
    /// ON DUPLICATE KEY UPDATE.
    pub on_duplicate: Option<Vec<Assignment>>,
    /// MariaDB's RETURNING.
    pub returning: Option<Vec<SelectItem>>,
}

/// Where an INSERT has its rows from.
#[derive(Clone, Debug, PartialEq)]
pub enum InsertSource {
    /// `VALUES (…), …`, and rows of literals that stand behind the first of them.
    Values(Vec<Vec<Expr>>, LiteralRows),
    /// `SET a = …`
    Set(Vec<Assignment>),
    /// A query.
    Query(Box<Query>),
}

/// When a statement is done. It means nothing where rows are locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Priority {
    /// LOW_PRIORITY.
    Low,
    /// HIGH_PRIORITY.
    High,
    /// DELAYED.
    Delayed,
}

/// The name of a new row, and of its columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowAlias {
    /// The row's.
    pub name: Name,
    /// The columns'; their own if there are none.
    pub columns: Vec<Name>,
}

/// `column = value`
#[derive(Clone, Debug, PartialEq)]
pub struct Assignment {
    /// The column.
    pub column: ColumnPath,
    /// Its new value.
    pub value: Expr,
}

/// `UPDATE …`
#[derive(Clone, Debug, PartialEq)]
pub struct Update {
    /// WITH.
    pub with: Option<With>,
    /// LOW_PRIORITY, which means nothing here.
    pub low_priority: bool,
    /// IGNORE.
    pub ignore: bool,
    /// The tables.
    pub tables: Vec<TableRef>,
    /// SET.
    pub assignments: Vec<Assignment>,
    /// WHERE.
    pub filter: Option<Expr>,
    /// ORDER BY.
    pub order_by: Vec<OrderItem>,
    /// LIMIT.
    pub limit: Option<Expr>,
}

/// `DELETE …`
#[derive(Clone, Debug, PartialEq)]
pub struct Delete {
    /// WITH.
    pub with: Option<With>,
    /// LOW_PRIORITY, which means nothing here.
    pub low_priority: bool,
    /// QUICK, which means nothing here.
    pub quick: bool,
    /// IGNORE.
    pub ignore: bool,
    /// Of several tables those whose rows go, by names or aliases; `None` in a statement of one table.
    pub targets: Option<Vec<TablePath>>,
    /// The tables.
    pub from: Vec<TableRef>,
    /// WHERE.
    pub filter: Option<Expr>,
    /// ORDER BY.
    pub order_by: Vec<OrderItem>,
    /// LIMIT.
    pub limit: Option<Expr>,
    /// MariaDB's RETURNING.
    pub returning: Option<Vec<SelectItem>>,
}
