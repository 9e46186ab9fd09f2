//! Conditions: errors, warnings and what else a statement may end with.

use crate::ast::{Expr, Name};
use std::sync::Arc;

/// What a condition is known by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// `SQLSTATE [VALUE] '…'`
    State(Box<str>),
    /// An error's number.
    Number(u64),
}

/// What a handler is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HandlerCondition {
    /// One condition.
    One(Condition),
    /// One that has a name.
    Named(Name),
    /// SQLWARNING.
    Warning,
    /// NOT FOUND.
    NotFound,
    /// SQLEXCEPTION.
    Exception,
}

/// `SIGNAL condition [SET items]`, `RESIGNAL [condition] [SET items]`
#[derive(Clone, Debug, PartialEq)]
pub struct Signal {
    /// What is signalled; the one that is being handled without it.
    pub condition: Option<Signalled>,
    /// SET.
    pub items: Vec<(ConditionItem, Expr)>,
}

/// What is signalled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Signalled {
    /// `SQLSTATE [VALUE] '…'`
    State(Box<str>),
    /// A condition that has a name.
    Named(Name),
}

/// `GET [CURRENT | STACKED] DIAGNOSTICS …`
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnostics {
    /// CURRENT, STACKED; `None` if nothing is said, which is CURRENT.
    pub stacked: Option<bool>,
    /// What is asked for.
    pub what: DiagnosticsInfo,
}

/// What GET DIAGNOSTICS asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum DiagnosticsInfo {
    /// Of the statement.
    Statement(Vec<(Target, StatementItem)>),
    /// Of the condition with that number.
    Condition(Expr, Vec<(Target, ConditionItem)>),
}

/// Where a value goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A user variable, without its `@`.
    User(Arc<str>),
    /// A variable of the program.
    Local(Name),
}

/// What is known of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatementItem {
    /// NUMBER: of conditions.
    Number,
    /// ROW_COUNT.
    RowCount,
}

/// What is known of a condition.
#[allow(missing_docs, reason = "their names say it")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ConditionItem {
    ClassOrigin,
    SubclassOrigin,
    ConstraintCatalog,
    ConstraintSchema,
    ConstraintName,
    CatalogName,
    SchemaName,
    TableName,
    ColumnName,
    CursorName,
    MessageText,
    MysqlErrno,
    RowNumber,
    ReturnedSqlstate,
}

impl ConditionItem {
    /// Those that there are. The last one can be asked for and not be set; ROW_NUMBER is MariaDB's.
    pub const ALL: [(&'static str, ConditionItem); 14] = [
        ("CLASS_ORIGIN", ConditionItem::ClassOrigin),
        ("SUBCLASS_ORIGIN", ConditionItem::SubclassOrigin),
        ("CONSTRAINT_CATALOG", ConditionItem::ConstraintCatalog),
        ("CONSTRAINT_SCHEMA", ConditionItem::ConstraintSchema),
        ("CONSTRAINT_NAME", ConditionItem::ConstraintName),
        ("CATALOG_NAME", ConditionItem::CatalogName),
        ("SCHEMA_NAME", ConditionItem::SchemaName),
        ("TABLE_NAME", ConditionItem::TableName),
        ("COLUMN_NAME", ConditionItem::ColumnName),
        ("CURSOR_NAME", ConditionItem::CursorName),
        ("MESSAGE_TEXT", ConditionItem::MessageText),
        ("MYSQL_ERRNO", ConditionItem::MysqlErrno),
        ("ROW_NUMBER", ConditionItem::RowNumber),
        ("RETURNED_SQLSTATE", ConditionItem::ReturnedSqlstate),
    ];

    /// As it is written.
    pub fn name(self) -> &'static str {
        Self::ALL[self as usize].0
    }
}
