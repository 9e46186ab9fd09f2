//! Tables that are made when they are read: `information_schema`, `performance_schema`, what SHOW prints.
//!
//! Whoever has such tables implements [`VirtualTables`]; binder and executor treat what they give as tables without an
//! index. A table's rows are made at once when a statement opens it, and then live in memory up to the statement's budget.

use std::fmt::Debug;
use std::sync::Arc;

use base::SqlError;
use io::BoxFuture;
use types::{ColumnDef, Value};

use crate::exec::ExecContext;

/// A database of virtual tables, as the binder asks for it.
pub trait VirtualTables: Send + Sync {
    /// The table of that name (`schema` and `name` as the statement has them), or `None`.
    fn table(&self, schema: &str, name: &str) -> Option<Arc<dyn VirtualTable>>;

    /// Whether a database of that name is virtual: a table that is not in it is then an unknown one.
    fn is_virtual(&self, schema: &str) -> bool;
}

/// One virtual table.
pub trait VirtualTable: Debug + Send + Sync {
    /// Its database.
    fn schema(&self) -> &str;

    /// Its name.
    fn name(&self) -> &str;

    /// Its columns.
    fn columns(&self) -> &[ColumnDef];

    /// All its rows now, with a value per column.
    fn rows<'a>(&'a self, context: &'a mut ExecContext<'_>) -> BoxFuture<'a, Result<Vec<Vec<Value>>, SqlError>>;
}

/// For contexts without virtual tables.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoVirtualTables;

impl VirtualTables for NoVirtualTables {
    fn table(&self, _schema: &str, _name: &str) -> Option<Arc<dyn VirtualTable>> {
        None
    }

    fn is_virtual(&self, _schema: &str) -> bool {
        false
    }
}

/// A table without columns and rows.
#[derive(Debug)]
pub(crate) struct Nowhere;

impl VirtualTable for Nowhere {
    fn schema(&self) -> &str {
        ""
    }

    fn name(&self) -> &str {
        ""
    }

    fn columns(&self) -> &[ColumnDef] {
        &[]
    }

    fn rows<'a>(&'a self, _context: &'a mut ExecContext<'_>) -> BoxFuture<'a, Result<Vec<Vec<Value>>, SqlError>> {
        Box::pin(std::future::ready(Ok(Vec::new())))
    }
}
