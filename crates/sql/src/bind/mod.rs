//! The binder: from the parser's tree to a [bound tree](tree), with every name resolved and every expression typed.
//!
//! | module | what it binds |
//! |---|---|
//! | `scope` | names: which table, which column |
//! | [`columns`] | what expressions name: each column of the statement has a number |
//! | `query` | queries: VALUES, LIMIT |
//! | `cte` | WITH, and what stands for its names |
//! | `set_operation` | UNION, EXCEPT and INTERSECT |
//! | `select` | one SELECT block |
//! | `from` | tables and joins |
//! | `expr`, `call`, `literal` | expressions |
//! | `subquery` | subqueries in expressions |
//! | `grouping` | GROUP BY, and what may stand beside it (ONLY_FULL_GROUP_BY) |
//! | `window`, `window_spec` | window functions; OVER, WINDOW and frames |

pub(crate) mod alias;
mod call;
pub(crate) mod columns;
pub(crate) mod constant;
mod cte;
pub(crate) mod enclosing;
pub(crate) mod expr;
pub(crate) mod from;
mod grouping;
mod having;
pub(crate) mod hints;
mod json_table;
pub(crate) mod literal;
mod lookup;
mod name;
pub(crate) mod output;
pub(crate) mod param;
pub(crate) mod query;
mod rollup;
mod row;
pub(crate) mod scope;
mod select;
mod set_operation;
mod subquery;
pub(crate) mod tree;
pub(crate) mod window;
pub(crate) mod window_spec;
pub(crate) mod written;

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::Arc;

use base::{SqlError, codes, memory};
use engine::{Table, TableMode};
use syntax::ast as sql;

use crate::bind::columns::Columns;
use crate::bind::cte::Cte;
use crate::bind::expr::{Clause, ExprScope};
use crate::bind::scope::{Scope, no_such_table};
use crate::bind::tree::TableSource;
use crate::ddl::{check_database_name, check_length, check_table_name};
use crate::expr::{Expr, ExprType};
use crate::parse::hint::Hints;
use crate::plan::{PlanContext, Privilege, TableUse, UsedColumns};
use crate::session::HIDDEN;

/// Binds one statement.
pub(crate) struct Binder<'a> {
    pub(crate) context: &'a PlanContext<'a>,
    /// The statement's optimizer hints.
    pub(crate) hints: Hints,
    /// Blocks under way, the innermost last.
    pub(crate) scopes: Vec<Scope>,
    /// What their expressions name.
    pub(crate) columns: Columns,
    ctes: Vec<Cte<'a>>,
    /// How many numbers of CTEs are given out.
    cte_ids: u32,
    blocks: u32,
    /// SELECT blocks that are around what is being bound, those of CTEs included.
    selects: usize,
    /// How often a CTE was put in the place of its name.
    expansions: usize,
    locks: Vec<(Arc<Table>, TableMode)>,
    uses: Vec<TableUse>,
    /// Temporary tables that have been named, with what they were called.
    temporary: Vec<(base::TableId, String)>,
    /// What the statement does to the tables that it names.
    pub(crate) needs: Privilege,
    /// Types depend on those of parameters: the statement is planned for the values that it is given.
    pub(crate) types_params: bool,
    /// What the parameters are for, as far as that is known.
    pub(crate) params: BTreeMap<usize, ExprType>,
    /// Constants that are compared with columns of dates and times.
    pub(crate) constants: Vec<constant::ConstantBeside>,
    /// See [`Binder::aggregate_level`].
    aggregate_levels: HashMap<enclosing::Occurrence, Option<usize>>,
    /// Steps since it was last looked whether the statement has to end.
    steps: usize,
}

/// So many steps, some milliseconds of them, are taken without a look.
const UNWATCHED: usize = 4096;

impl<'a> Binder<'a> {
    /// For a statement.
    pub(crate) fn new(context: &'a PlanContext<'a>) -> Self {
        Binder {
            context,
            hints: Hints::of(context.text, context.session.sql_mode),
            scopes: Vec::new(),
            columns: Columns::default(),
            ctes: Vec::new(),
            cte_ids: 0,
            blocks: 0,
            selects: 0,
            expansions: 0,
            locks: Vec::new(),
            uses: Vec::new(),
            temporary: Vec::new(),
            needs: Privilege::Select,
            types_params: false,
            params: BTreeMap::new(),
            constants: Vec::new(),
            aggregate_levels: HashMap::new(),
            steps: 0,
        }
    }

    /// Counts expressions that are bound, names that are looked for, and whatever else a statement may have many of. The other sessions of the
    /// thread go on meanwhile.
    ///
    /// # Errors
    /// 1317, 3024, 1969, 4082 if the statement has to end.
    pub(crate) fn worked(&mut self, steps: usize) -> Result<(), SqlError> {
        self.steps += steps;
        if self.steps < UNWATCHED {
            return memory::check();
        }
        self.steps = 0;
        self.context.check_cancelled()?;
        if let Some(watch) = &self.context.watch {
            watch.spawner.step_aside();
        }
        Ok(())
    }

    /// Tables to lock, and what is done to which.
    pub(crate) fn into_uses(self) -> (Vec<(Arc<Table>, TableMode)>, Vec<TableUse>) {
        let uses = self.uses;
        // CREATE TEMPORARY TABLE … SELECT may write one and read another one of the same name.
        let name = |found: &TableUse| (found.schema.clone(), found.table.clone(), found.temporary, found.privilege);
        let mut merged: Vec<TableUse> = Vec::with_capacity(uses.len());
        for found in uses {
            let mut rest = Some(found.columns.clone());
            for same in merged.iter_mut().filter(|same| name(same) == name(&found)) {
                rest = rest.and_then(|columns| same.columns.merge(columns));
            }
            if rest.is_some() {
                merged.push(found);
            }
        }
        // What is only read of a table is asked for after that by which the table may be changed.
        merged.sort_by_key(|found| matches!(found.columns, UsedColumns::Read(_)));
        // In the order of their ids, so that two statements do not wait for each other's tables.
        let mut locks = self.locks;
        locks.sort_by_key(|(table, mode)| (table.id(), *mode == TableMode::IntentShared));
        locks.dedup_by_key(|(table, _)| table.id());
        (locks, merged)
    }

    /// Records that the statement locks a table, whoever its user is: because of a foreign key.
    pub(crate) fn lock_table(&mut self, table: &Arc<Table>, mode: TableMode) {
        self.locks.push((table.clone(), mode));
    }

    /// Records that the statement uses a table.
    pub(crate) fn use_table(&mut self, table: &Arc<Table>, privilege: Privilege, mode: TableMode) {
        self.lock_table(table, mode);
        self.use_columns(table, privilege, UsedColumns::Whole);
    }

    /// Records what the statement needs of the columns of a table.
    pub(crate) fn use_columns(&mut self, table: &Table, privilege: Privilege, columns: UsedColumns) {
        let (schema, name) = (table.def.schema.clone(), table.def.name.clone());
        self.uses.push(TableUse { schema, table: name, temporary: table.is_temporary(), privilege, columns });
    }

    /// Records that the statement names a table of the server that not everybody may read.
    pub(crate) fn use_system_table(&mut self, schema: &str, table: &str) {
        if let Some(system) = crate::information_schema::guarded_database(schema, table) {
            let (schema, table) = (system.to_owned(), table.to_owned());
            let columns = UsedColumns::Whole;
            self.uses.push(TableUse { schema, table, temporary: false, privilege: Privilege::Select, columns });
        }
    }

    /// Records the columns of tables that a block has read.
    pub(crate) fn note_reads(&mut self, scope: &Scope, how: impl Fn(Vec<usize>) -> UsedColumns) {
        for (number, table) in scope.tables.iter().enumerate() {
            let TableSource::Base(base) = &table.source else { continue };
            let columns = self.columns.of_table(table.id).map(|(column, _)| column).collect();
            let used = if scope.stars.contains(&number) { UsedColumns::All(columns) } else { how(columns) };
            self.use_columns(base, Privilege::Select, used);
        }
    }

    /// What UPDATE and DELETE read of their tables: those uses of tables count no more that their FROM has recorded. A table that a subquery
    /// names again is read there like any other.
    pub(crate) fn note_changing_reads(
        &mut self,
        scope: &Scope,
        of_from: Range<usize>,
        how: impl Fn(Vec<usize>) -> UsedColumns,
    ) {
        let own = |found: &TableUse| {
            scope.tables.iter().any(|table| match &table.source {
                TableSource::Base(base) => base.def.name == found.table && base.def.schema == found.schema,
                _ => false,
            })
        };
        let is_of_from = |found: &TableUse| {
            found.privilege == Privilege::Select && found.columns == UsedColumns::Named(Vec::new()) && own(found)
        };
        let mut places = 0..self.uses.len();
        self.uses.retain(|found| !(places.next().is_some_and(|place| of_from.contains(&place)) && is_of_from(found)));
        self.note_reads(scope, how);
    }

    /// How many uses are recorded.
    pub(crate) fn uses_count(&self) -> usize {
        self.uses.len()
    }

    /// Records that the statement names a table. A temporary one may be named once (1137).
    pub(crate) fn name_table(&mut self, table: &Table, alias: &str) -> Result<(), SqlError> {
        if !table.is_temporary() || self.context.session.reopens_temporary {
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
        if !scope.subqueries.is_empty() {
            return Err(SqlError::not_supported("subqueries in this statement"));
        }
        // There is no row that such columns are of.
        match scope.outer.is_empty() {
            true => Ok(bound),
            false => Err(SqlError::not_supported("columns of an outer query in VALUES")),
        }
    }

    /// A table of the engine, by the name in the statement.
    pub(crate) fn base_table(&mut self, schema: Option<&str>, name: &str) -> Result<Arc<Table>, SqlError> {
        let schema = self.schema_or_default(schema)?;
        self.needs = Privilege::Insert;
        match self.context.catalog.table(schema, name) {
            Some(table) => Ok(table.clone()),
            None if self.context.virtual_tables.table(schema, name).is_some() => Err(self.schema_denied(schema)),
            None => self.engine_table(schema, name),
        }
    }

    /// 1044 for a database of which all tables are computed.
    fn schema_denied(&self, schema: &str) -> SqlError {
        // Hosts have no `@`.
        let (user, host) = self.context.session.current_user.rsplit_once('@').unwrap_or_default();
        let message = format!("Access denied for user '{user}'@'{host}' to database '{schema}'");
        SqlError::new(codes::DBACCESS_DENIED_ERROR, message)
    }

    /// A table of the engine: 1049 without its database, 1146 without itself, 1059 if neither could be.
    pub(crate) fn engine_table(&mut self, schema: &str, name: &str) -> Result<Arc<Table>, SqlError> {
        let found = self.context.catalog.table(schema, name);
        if found.is_none() {
            // Whether there is a table is said to those who could use it.
            let (schema, table, privilege) = (schema.to_owned(), name.to_owned(), self.needs);
            let columns = UsedColumns::Named(Vec::new());
            self.uses.push(TableUse { schema, table, temporary: false, privilege, columns });
        }
        match found {
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

/// 1102, 1103 for the name of what can be no table, but for that of a temporary table that is being filled.
pub(crate) fn check_table_path(path: &sql::TablePath) -> Result<(), SqlError> {
    let (schema, name) = path.parts();
    if name != HIDDEN {
        check_table_name(name)?;
    }
    schema.map_or(Ok(()), check_database_name)
}
