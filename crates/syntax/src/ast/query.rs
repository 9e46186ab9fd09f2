//! Queries.

use std::sync::Arc;

use super::{Expr, Name, NamedWindow, TablePath, TableRef};
use crate::span::Span;

/// `[WITH …] body [ORDER BY …] [LIMIT …] [INTO …] [FOR UPDATE …]`. Its `Debug` is what is printed of it.
#[derive(Clone, PartialEq)]
pub struct Query {
    /// WITH.
    pub with: Option<With>,
    /// What gives the rows.
    pub body: Body,
    /// ORDER BY.
    pub order_by: Vec<OrderItem>,
    /// LIMIT.
    pub limit: Option<Limit>,
    /// INTO behind all that.
    pub into: Option<Into>,
    /// Locking clauses.
    pub locks: Vec<Lock>,
    /// Without parentheses around it.
    pub span: Span,
}

impl Query {
    /// One that is nothing but its body.
    pub fn of(body: Body) -> Self {
        Query {
            with: None,
            body,
            order_by: Vec::new(),
            limit: None,
            into: None,
            locks: Vec::new(),
            span: Span::default(),
        }
    }

    /// `SELECT exprs`
    pub fn of_exprs(exprs: Vec<Expr>) -> Self {
        let items = exprs.into_iter().map(|expr| SelectItem::Expr { expr, alias: None }).collect();
        Query::of(Body::Select(Box::new(Select { items, ..Select::default() })))
    }

    /// The SELECT that it is, if it is one alone.
    pub fn as_select(&self) -> Option<&Select> {
        match &self.body {
            Body::Select(select) => Some(select),
            _ => None,
        }
    }
}

/// What gives a query's rows.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// SELECT; `TABLE name` is `SELECT * FROM name`.
    Select(Box<Select>),
    /// `VALUES ROW(…), …`, and MariaDB's `VALUES (…), …`.
    Values(Vec<Vec<Expr>>),
    /// A query in parentheses.
    Query(Box<Query>),
    /// UNION, EXCEPT, INTERSECT: the first operand, and the others from left to right. INTERSECT binds more tightly than the others, so
    /// operators of one list are either INTERSECTs or none.
    Set(Box<Body>, Vec<SetBranch>),
}

/// `UNION ALL body`
#[derive(Clone, Debug, PartialEq)]
pub struct SetBranch {
    /// The operator.
    pub op: SetOp,
    /// ALL.
    pub all: bool,
    /// Its right operand.
    pub body: Body,
}

/// An operator between queries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetOp {
    /// UNION.
    Union,
    /// EXCEPT.
    Except,
    /// INTERSECT.
    Intersect,
}

/// `SELECT …`
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Select {
    /// Where it begins.
    pub start: Place,
    /// The words behind SELECT.
    pub options: SelectOptions,
    /// The select list.
    pub items: Vec<SelectItem>,
    /// INTO behind the select list.
    pub into: Option<Into>,
    /// FROM; empty without it, and of `FROM DUAL`.
    pub from: Vec<TableRef>,
    /// WHERE.
    pub filter: Option<Expr>,
    /// GROUP BY.
    pub group_by: Option<GroupBy>,
    /// HAVING.
    pub having: Option<Expr>,
    /// WINDOW.
    pub windows: Vec<NamedWindow>,
    /// QUALIFY.
    pub qualify: Option<Expr>,
}

/// The words behind SELECT.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SelectOptions {
    /// DISTINCT.
    pub distinct: bool,
    /// HIGH_PRIORITY.
    pub high_priority: bool,
    /// STRAIGHT_JOIN.
    pub straight_join: bool,
    /// SQL_SMALL_RESULT.
    pub small_result: bool,
    /// SQL_BIG_RESULT.
    pub big_result: bool,
    /// SQL_BUFFER_RESULT.
    pub buffer_result: bool,
    /// SQL_NO_CACHE.
    pub no_cache: bool,
    /// SQL_CALC_FOUND_ROWS.
    pub calc_found_rows: bool,
}

/// An item of a select list.
#[derive(Clone, Debug, PartialEq)]
pub enum SelectItem {
    /// `*`
    Star,
    /// `table.*`
    TableStar(TablePath),
    /// An expression, whose text is its name if it has no other.
    Expr {
        /// The expression.
        expr: Expr,
        /// Its name.
        alias: Option<Name>,
    },
}

/// `GROUP BY a, b [WITH ROLLUP]`, `GROUP BY ROLLUP (a, b)`
#[derive(Clone, Debug, PartialEq)]
pub struct GroupBy {
    /// The keys.
    pub keys: Vec<Expr>,
    /// With totals.
    pub rollup: bool,
}

/// An item of ORDER BY.
#[derive(Clone, Debug, PartialEq)]
pub struct OrderItem {
    /// By what.
    pub expr: Expr,
    /// DESC.
    pub descending: bool,
}

/// `LIMIT [offset,] count`
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    /// How many rows.
    pub count: Expr,
    /// How many are left out before.
    pub offset: Option<Expr>,
}

/// `INTO @a, @b`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Into {
    /// One for each column.
    pub targets: Vec<IntoTarget>,
    /// Of the word.
    pub span: Span,
}

/// Where a value goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IntoTarget {
    /// A user variable, without its `@`.
    Variable(Arc<str>),
    /// A variable of a stored program.
    Local(Name),
    /// A field of one that is a row (MariaDB).
    Field(Name, Name),
}

/// `FOR UPDATE …`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lock {
    /// UPDATE instead of SHARE.
    pub exclusive: bool,
    /// OF; all tables without it.
    pub of: Vec<TablePath>,
    /// How long it waits.
    pub wait: LockWait,
}

/// How long a locking clause waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockWait {
    /// As long as locks are waited for.
    Default,
    /// NOWAIT.
    NoWait,
    /// SKIP LOCKED.
    SkipLocked,
    /// MariaDB's WAIT: seconds.
    Seconds(u64),
}

/// WITH.
#[derive(Clone, Debug, PartialEq)]
pub struct With {
    /// RECURSIVE.
    pub recursive: bool,
    /// Common table expressions.
    pub ctes: Vec<Cte>,
}

/// `name [(columns)] AS (query)`
#[derive(Clone, Debug, PartialEq)]
pub struct Cte {
    /// Its name.
    pub name: Name,
    /// Names of its columns; the query's own if there are none.
    pub columns: Vec<Name>,
    /// The query.
    pub query: Query,
}

/// Where something stands in the text. Things that are alike are equal wherever they stand.
#[derive(Clone, Copy, Debug, Default)]
pub struct Place(pub usize);

impl PartialEq for Place {
    fn eq(&self, _: &Place) -> bool {
        true
    }
}
