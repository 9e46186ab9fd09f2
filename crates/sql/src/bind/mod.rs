//! The binder: from the parser's tree to a [bound tree](tree), with every name resolved and every expression typed.
//!
//! | module | what it binds |
//! |---|---|
//! | `scope` | names: which table, which slot |
//! | [`frame`] | slots: the row shape of a block |
//! | `query` | queries: WITH, UNION, ORDER BY and LIMIT of both |
//! | `select` | one SELECT block |
//! | `from` | tables and joins |
//! | `expr`, `call`, `literal` | expressions |
//! | `subquery` | subqueries in expressions |
//! | `grouping` | GROUP BY, and what may stand beside it (ONLY_FULL_GROUP_BY) |

mod call;
pub(crate) mod expr;
pub(crate) mod frame;
pub(crate) mod from;
mod grouping;
mod literal;
mod name;
pub(crate) mod output;
pub(crate) mod query;
pub(crate) mod scope;
mod select;
mod subquery;
pub(crate) mod tree;
pub(crate) mod written;

use std::collections::HashSet;
use std::sync::Arc;

use base::{SqlError, codes};
use engine::{Table, TableMode};
use sqlparser::ast as sql;

use crate::bind::expr::{Clause, ExprScope};
use crate::bind::scope::{Scope, no_such_table};
use crate::ddl::check_length;
use crate::expr::Expr;
use crate::plan::{PlanContext, Privilege, TableUse};

/// A common table expression that is in scope.
struct Cte<'a> {
    name: String,
    columns: Vec<String>,
    query: &'a sql::Query,
    /// How many CTEs its own query may see.
    visible: usize,
}

/// Binds one statement.
pub(crate) struct Binder<'a> {
    pub(crate) context: &'a PlanContext<'a>,
    /// Blocks under way, the innermost last.
    pub(crate) scopes: Vec<Scope>,
    ctes: Vec<Cte<'a>>,
    blocks: u32,
    /// SELECT blocks that are around what is being bound, those of CTEs included.
    selects: usize,
    /// How often a CTE was put in the place of its name.
    expansions: usize,
    locks: Vec<(Arc<Table>, TableMode)>,
    uses: Vec<TableUse>,
    /// Temporary tables that have been named, with what they were called.
    temporary: Vec<(base::TableId, String)>,
    /// Types depend on those of parameters: the statement is planned for the values that it is given.
    pub(crate) types_params: bool,
}

impl<'a> Binder<'a> {
    /// For a statement.
    pub(crate) fn new(context: &'a PlanContext<'a>) -> Self {
        Binder {
            context,
            scopes: Vec::new(),
            ctes: Vec::new(),
            blocks: 0,
            selects: 0,
            expansions: 0,
            locks: Vec::new(),
            uses: Vec::new(),
            temporary: Vec::new(),
            types_params: false,
        }
    }

    /// Tables to lock, and what is done to which.
    pub(crate) fn into_uses(self) -> (Vec<(Arc<Table>, TableMode)>, Vec<TableUse>) {
        let mut seen = HashSet::new();
        let mut uses = self.uses;
        // CREATE TEMPORARY TABLE … SELECT may write one and read another one of the same name.
        let name = |found: &TableUse| (found.schema.clone(), found.table.clone(), found.temporary, found.privilege);
        uses.retain(|found| seen.insert(name(found)));
        // In the order of their ids, so that two statements do not wait for each other's tables.
        let mut locks = self.locks;
        locks.sort_by_key(|(table, mode)| (table.id(), *mode == TableMode::IntentShared));
        locks.dedup_by_key(|(table, _)| table.id());
        (locks, uses)
    }

    /// Records that the statement locks a table, whoever its user is: because of a foreign key.
    pub(crate) fn lock_table(&mut self, table: &Arc<Table>, mode: TableMode) {
        self.locks.push((table.clone(), mode));
    }

    /// Records that the statement uses a table.
    pub(crate) fn use_table(&mut self, table: &Arc<Table>, privilege: Privilege, mode: TableMode) {
        self.lock_table(table, mode);
        let (schema, name) = (table.def.schema.clone(), table.def.name.clone());
        self.uses.push(TableUse { schema, table: name, temporary: table.is_temporary(), privilege });
    }

    /// Records that the statement names a table. A temporary one may be named once (1137).
    pub(crate) fn name_table(&mut self, table: &Table, alias: &str) -> Result<(), SqlError> {
        if !table.is_temporary() {
            return Ok(());
        }
        if let Some((_, alias)) = self.temporary.iter().find(|(id, _)| *id == table.id()) {
            return Err(SqlError::new(codes::CANT_REOPEN_TABLE, format!("Can't reopen table: '{alias}'")));
        }
        self.temporary.push((table.id(), alias.to_string()));
        Ok(())
    }

    /// Whether the statement reads a table that it also writes.
    pub(crate) fn reads(&self, table: &Table) -> bool {
        let of_table = |found: &&TableUse| found.table == table.def.name && found.schema == table.def.schema;
        self.uses.iter().filter(of_table).any(|found| found.privilege == Privilege::Select)
    }

    /// The next `id` of EXPLAIN.
    pub(crate) fn next_block(&mut self) -> u32 {
        self.blocks += 1;
        self.blocks
    }

    /// The innermost block.
    pub(crate) fn scope(&mut self) -> &mut Scope {
        if self.scopes.is_empty() {
            self.scopes.push(Scope::default());
        }
        let last = self.scopes.len() - 1;
        &mut self.scopes[last]
    }

    /// Expressions without any table (DO, SET).
    pub(crate) fn bind_constants(&mut self, exprs: &'a [sql::Expr]) -> Result<Vec<Expr>, SqlError> {
        self.scopes.push(Scope::default());
        let scope = ExprScope::new(Clause::FieldList);
        let bound = exprs.iter().map(|expr| self.bind_expr(expr, scope)).collect::<Result<Vec<_>, _>>()?;
        let scope = self.scopes.pop().unwrap_or_default();
        if scope.subqueries.is_empty() {
            Ok(bound)
        } else {
            Err(SqlError::not_supported("subqueries in this statement"))
        }
    }

    /// A table of the engine, by the name in the statement.
    pub(crate) fn base_table(&self, schema: Option<&str>, name: &str) -> Result<Arc<Table>, SqlError> {
        let schema = self.schema_or_default(schema)?;
        match self.context.catalog.table(schema, name) {
            Some(table) => Ok(table.clone()),
            None if self.context.virtual_tables.table(schema, name).is_some() => Err(SqlError::new(
                codes::DBACCESS_DENIED_ERROR,
                format!("Access denied for user '{}' to database '{schema}'", self.context.session.user),
            )),
            None => self.engine_table(schema, name),
        }
    }

    /// A table of the engine: 1049 without its database, 1146 without itself, 1059 if neither could be.
    pub(crate) fn engine_table(&self, schema: &str, name: &str) -> Result<Arc<Table>, SqlError> {
        match self.context.catalog.table(schema, name) {
            Some(table) => Ok(table.clone()),
            None => {
                check_length(schema)?;
                check_length(name)?;
                match self.context.catalog.database(schema) {
                    None => Err(SqlError::new(codes::BAD_DB_ERROR, format!("Unknown database '{schema}'"))),
                    Some(_) => Err(no_such_table(schema, name)),
                }
            }
        }
    }

    /// The database of a name: its own, or the default one (1046).
    pub(crate) fn schema_or_default<'s>(&self, schema: Option<&'s str>) -> Result<&'s str, SqlError>
    where
        'a: 's,
    {
        schema.or(self.context.database).ok_or_else(|| SqlError::new(codes::NO_DB_ERROR, "No database selected"))
    }
}

/// Schema and name out of `schema.name` or `name`.
pub(crate) fn split_name(name: &sql::ObjectName) -> Result<(Option<&str>, &str), SqlError> {
    let mut parts = Vec::with_capacity(2);
    for part in &name.0 {
        let ident = part.as_ident().ok_or_else(|| SqlError::not_supported("this kind of name"))?;
        parts.push(ident.value.as_str());
    }
    match parts[..] {
        [name] => Ok((None, name)),
        [schema, name] => Ok((Some(schema), name)),
        _ => Err(SqlError::new(codes::WRONG_TABLE_NAME, format!("Incorrect table name '{name}'"))),
    }
}
