//! JSON_TABLE, bound: what of a document becomes which columns of which rows.
//!
//! ```text
//!   '$.a[*]' COLUMNS (x …, NESTED PATH '$.b[*]' COLUMNS (y …), NESTED PATH '$.c' COLUMNS (z …, NESTED PATH '$[*]' COLUMNS (u …)))
//!
//!   node 0: $.a[*], x ── node 1: $.b[*], y
//!                     └─ node 2: $.c, z ── node 3: $[*], u
//! ```
//!
//! # Invariants
//! - Node 0 is the table's own path; a node's number is higher than that of the node it is nested in.

use types::ColumnDef;
use types::Value;
use types::json::Path;

use crate::expr::Expr;

/// A call of JSON_TABLE.
#[derive(Clone, Debug)]
pub(crate) struct JsonTable {
    /// Over columns of the tables before it, and of blocks around it.
    pub(crate) document: Expr,
    pub(crate) nodes: Vec<JsonNode>,
    /// How many columns all nodes have.
    pub(crate) width: usize,
}

/// A path with its COLUMNS.
#[derive(Clone, Debug)]
pub(crate) struct JsonNode {
    pub(crate) path: Path,
    /// The columns, with their positions in the table.
    pub(crate) columns: Vec<(usize, JsonColumn)>,
    /// What is nested in it.
    pub(crate) children: Vec<usize>,
}

/// What a column has.
#[derive(Clone, Debug)]
pub(crate) enum JsonColumn {
    /// The number of the row among those of its node.
    Ordinality,
    /// Whether the path leads anywhere, in the column's type.
    Exists { path: Path, yes: Value, no: Value },
    /// What the path leads to.
    Value { def: Box<ColumnDef>, path: Path, on_empty: Otherwise, on_error: Otherwise },
}

/// What a column has if the document does not have it.
#[derive(Clone, Debug)]
pub(crate) enum Otherwise {
    Null,
    Error,
    /// DEFAULT, in the column's type.
    Default(Value),
}
