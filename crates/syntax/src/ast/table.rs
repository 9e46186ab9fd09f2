//! What FROM names.

use super::{Expr, JsonTable, Name, Query, TablePath};
use crate::span::Span;

/// A part of FROM.
#[derive(Clone, Debug, PartialEq)]
pub enum TableRef {
    /// A table, a view or a common table expression.
    Table(Box<TableFactor>),
    /// `(query) AS alias`
    Derived(Box<Derived>),
    /// `JSON_TABLE (…) AS alias`
    Json(Box<JsonTable>),
    /// `a JOIN b`
    Join(Box<Join>),
    /// `(a, b JOIN c)`: what its parentheses hold, which are joined with one another first.
    List(Vec<TableRef>),
}

/// `name [PARTITION (…)] [AS alias] [USE INDEX (…)]`
#[derive(Clone, Debug, PartialEq)]
pub struct TableFactor {
    /// The table.
    pub name: TablePath,
    /// PARTITION.
    pub partitions: Vec<Name>,
    /// Its other name.
    pub alias: Option<Name>,
    /// USE, FORCE and IGNORE INDEX.
    pub hints: Vec<IndexHint>,
}

/// `[LATERAL] (query) [AS] alias [(columns)]`
#[derive(Clone, Debug, PartialEq)]
pub struct Derived {
    /// LATERAL.
    pub lateral: bool,
    /// The query.
    pub query: Query,
    /// Its name, without which it is an error.
    pub alias: Option<Name>,
    /// Names of its columns; the query's own if there are none.
    pub columns: Vec<Name>,
}

/// `USE INDEX [FOR …] (…)`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexHint {
    /// USE, FORCE or IGNORE.
    pub kind: IndexHintKind,
    /// FOR.
    pub scope: Option<IndexHintScope>,
    /// The indexes, by names.
    pub indexes: Vec<Name>,
}

/// What a hint says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexHintKind {
    /// USE.
    Use,
    /// FORCE.
    Force,
    /// IGNORE.
    Ignore,
}

/// For what a hint says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexHintScope {
    /// FOR JOIN.
    Join,
    /// FOR ORDER BY.
    OrderBy,
    /// FOR GROUP BY.
    GroupBy,
}

/// `left JOIN right ON …`
#[derive(Clone, Debug, PartialEq)]
pub struct Join {
    /// The left side.
    pub left: TableRef,
    /// The right side.
    pub right: TableRef,
    /// How.
    pub kind: JoinKind,
    /// On what.
    pub condition: JoinCondition,
    /// Of the words between the sides.
    pub span: Span,
}

/// How tables are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JoinKind {
    /// JOIN, INNER JOIN, CROSS JOIN.
    Inner,
    /// STRAIGHT_JOIN.
    Straight,
    /// LEFT JOIN.
    Left,
    /// RIGHT JOIN.
    Right,
}

/// On what tables are joined.
#[derive(Clone, Debug, PartialEq)]
pub enum JoinCondition {
    /// Nothing.
    None,
    /// ON.
    On(Expr),
    /// USING.
    Using(Vec<Name>),
    /// NATURAL.
    Natural,
}
