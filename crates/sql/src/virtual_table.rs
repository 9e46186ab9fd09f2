//! Tables that are made when they are read: `information_schema`, `performance_schema`, what SHOW prints.
//!
//! Whoever has such tables implements [`VirtualTables`]; binder and executor treat what they give as tables without an
//! index. A table's rows are made when a statement opens it, and then live in memory up to the statement's budget. What describes
//! the tables of the catalog asks [`Wanted`] which of them the statement's conditions leave, and makes the rows of those alone.

use std::fmt::Debug;
use std::sync::{Arc, OnceLock};

use base::SqlError;
use io::BoxFuture;
use types::{ColumnDef, Value};

use crate::exec::ExecContext;
use crate::exec::spill::RowStore;
use crate::expr::{CompareOp, Constancy, EvalContext, Expr, ExprKind, Warnings};
use crate::plan::node::AccessNode;

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

    /// Adds its rows of now to `kept`, with a value per column. Those that the statement does not want may be missing, and so may the
    /// values of columns that it does not want.
    fn rows<'a>(
        &'a self,
        context: &'a mut ExecContext<'_>,
        wanted: &'a Wanted<'a>,
        kept: &'a mut RowStore,
    ) -> BoxFuture<'a, Result<(), SqlError>>;
}

/// What a statement wants of a virtual table whose rows describe the tables of the catalog.
pub struct Wanted<'p> {
    /// Those of its conditions that read no more than the names of the table and of its database.
    conditions: Vec<&'p Expr>,
    /// Slots of a database's name, and of a table's.
    databases: Vec<usize>,
    tables: Vec<usize>,
    /// Values per row of the frame.
    width: usize,
    /// By column, whether it is read.
    columns: Vec<bool>,
    /// What the conditions leave of each kind of names, when the values are known.
    names: OnceLock<[Option<Vec<String>>; 2]>,
}

/// How columns with the name of a database are called, and those with that of a table.
const DATABASE_COLUMNS: [&str; 4] = ["TABLE_SCHEMA", "CONSTRAINT_SCHEMA", "INDEX_SCHEMA", "database_name"];
const TABLE_COLUMNS: [&str; 2] = ["TABLE_NAME", "table_name"];

impl<'p> Wanted<'p> {
    /// What a node of a plan wants of the table that it reads; its frame has `width` values.
    pub(crate) fn new(node: &'p AccessNode, table: &dyn VirtualTable, width: usize) -> Self {
        let defs = table.columns();
        let slots_of = |names: &[&str]| -> Vec<usize> {
            let is_one = |column: usize| names.contains(&defs[column].name.as_str());
            node.decode.iter().filter(|(column, _)| is_one(*column)).map(|&(_, slot)| slot).collect()
        };
        let (databases, tables) = (slots_of(&DATABASE_COLUMNS), slots_of(&TABLE_COLUMNS));
        let is_of_names = |expr: &&Expr| {
            let known = |slot: usize| databases.contains(&slot) || tables.contains(&slot);
            expr.constancy() <= Constancy::Row && !expr.waits() && expr.slots().iter().all(known)
        };
        let conditions = node.filter.iter().filter(is_of_names).collect();
        let mut columns = vec![false; defs.len()];
        node.decode.iter().for_each(|&(column, _)| columns[column] = true);
        Wanted { conditions, databases, tables, width, columns, names: OnceLock::new() }
    }

    /// Whether it wants the rows of a table. What is not sure is wanted: each row meets the conditions again, which is where they warn.
    pub(crate) fn table(&self, database: &str, table: &str, eval: &EvalContext<'_>) -> bool {
        if self.conditions.is_empty() {
            return true;
        }
        let [databases, tables] = self.names(eval);
        if is_other_than(database, databases) || is_other_than(table, tables) {
            return false;
        }
        let mut row = vec![Value::Null; self.width];
        self.databases.iter().for_each(|&slot| row[slot] = Value::str(database));
        self.tables.iter().for_each(|&slot| row[slot] = Value::str(table));
        let discarded = Warnings::default();
        let eval = EvalContext { warnings: &discarded, ..*eval };
        self.conditions.iter().all(|condition| !matches!(condition.eval_truth(&row, &eval), Ok(Some(false) | None)))
    }

    /// Whether it may want rows of a database.
    pub(crate) fn database(&self, database: &str, eval: &EvalContext<'_>) -> bool {
        !is_other_than(database, &self.names(eval)[0])
    }

    /// The names of databases, and of tables, that the conditions leave; `None` if that is not plain to see.
    pub(crate) fn names(&self, eval: &EvalContext<'_>) -> &[Option<Vec<String>>; 2] {
        self.names.get_or_init(|| [&self.databases, &self.tables].map(|slots| self.names_in(slots, eval)))
    }

    /// The names that a condition compares one of these slots with, if there is such a condition and they are plain.
    fn names_in(&self, slots: &[usize], eval: &EvalContext<'_>) -> Option<Vec<String>> {
        let is_name = |expr: &Expr| expr.as_column().is_some_and(|slot| slots.contains(&slot));
        let discarded = Warnings::default();
        let eval = EvalContext { warnings: &discarded, ..*eval };
        let plain = |expr: &Expr| {
            let value = if expr.slots().is_empty() { expr.eval(&[], &eval).ok()? } else { return None };
            let Value::Str(text) = value else { return None };
            let is_plain = text.iter().all(|byte| byte.is_ascii_graphic());
            is_plain.then(|| String::from_utf8_lossy(&text).into_owned())
        };
        self.conditions.iter().find_map(|condition| match &condition.kind {
            ExprKind::Compare { op: CompareOp::Eq, args } => match (is_name(&args[0]), is_name(&args[1])) {
                (true, false) => Some(vec![plain(&args[1])?]),
                (false, true) => Some(vec![plain(&args[0])?]),
                _ => None,
            },
            ExprKind::In { value, list } if is_name(value) => list.iter().map(plain).collect(),
            _ => None,
        })
    }

    /// Whether it reads a column.
    pub(crate) fn column(&self, column: usize) -> bool {
        self.columns[column]
    }
}

/// Whether a name is none of these, whatever the collation: both are of ASCII without spaces, and differ in more than the case of letters.
fn is_other_than(name: &str, names: &Option<Vec<String>>) -> bool {
    let is_plain = name.bytes().all(|byte| byte.is_ascii_graphic());
    is_plain && names.as_ref().is_some_and(|names| names.iter().all(|other| !other.eq_ignore_ascii_case(name)))
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

    fn rows<'a>(
        &'a self,
        _context: &'a mut ExecContext<'_>,
        _wanted: &'a Wanted<'a>,
        _kept: &'a mut RowStore,
    ) -> BoxFuture<'a, Result<(), SqlError>> {
        Box::pin(std::future::ready(Ok(())))
    }
}
