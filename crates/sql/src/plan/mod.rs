//! From a statement's tree to a [`Plan`]: names bound, access paths and join order chosen.
//!
//! ```text
//!   ast ── bind ──> Block ── rules ──> Block ── analyse ──> candidates per table ── estimates of the engine ──> join order ──> nodes ── layout ──> Plan
//! ```
//!
//! A plan holds no values of parameters and no transaction: a prepared statement keeps it, and runs it any number of times,
//! until the catalog changes ([`Plan::is_current`]).
//!
//! | module | what it does |
//! |---|---|
//! | `rules` | rewrite a block before it is planned, one file each |
//! | `conditions` | takes conditions apart: which tables, which intervals of which columns |
//! | `access` | the access paths of one table, and what they cost |
//! | `statistics` | which part of the rows a condition leaves, how many values a column has |
//! | `equalities` | which columns are equal in the rows that are there |
//! | `nest` | FROM and WHERE as inner and outer joins |
//! | `join`, `join_order` | join methods and order |
//! | `block` | everything around the joins: grouping, order, subqueries |
//! | `windows` | window functions: what is sorted for them, and when |
//! | `layout` | places in rows, given last |
//! | `explain` | EXPLAIN in its three formats |

pub(crate) mod access;
pub(crate) mod block;
pub(crate) mod conditions;
mod equalities;
mod explain;
mod join;
mod join_order;
mod join_outer;
pub(crate) mod json_table;
pub(crate) mod layout;
mod nest;
pub(crate) mod node;
mod order;
#[cfg(test)]
mod print;
pub(crate) mod rules;
pub(crate) mod statistics;
mod windows;

use std::collections::BTreeMap;
use std::sync::Arc;

use base::SqlError;
use engine::{Catalog, Engine, Table, TableMode, Transaction};
use types::Value;

use crate::bind::{self, constant::ConstantBeside};
use crate::dml::{DeletePlan, InsertPlan, LoadPlan, UpdatePlan};
use crate::expr::{EvalContext, ExprType, Host, Kind, SessionInfo, Warnings, Watch};
use crate::parse::ast::Statement;
pub(crate) use crate::plan::explain::{ExplainPlan, explain_running, not_explainable};
use crate::plan::node::QueryPlan;
use crate::result::ResultColumn;
use crate::virtual_table::VirtualTables;

/// What planning needs to know.
#[derive(Clone, Copy)]
pub struct PlanContext<'a> {
    /// What exists.
    pub catalog: &'a Catalog,
    /// The default database.
    pub database: Option<&'a str>,
    /// sql_mode, collations, types of user variables.
    pub session: &'a SessionInfo,
    /// System variables.
    pub host: &'a dyn Host,
    /// information_schema and the like.
    pub virtual_tables: &'a dyn VirtualTables,
    /// For estimates of table sizes.
    pub engine: &'a Arc<Engine>,
    /// For estimates of ranges; without it (COM_STMT_PREPARE) the planner guesses.
    pub transaction: Option<&'a Transaction>,
    /// The statement's text, from which the names of unnamed result columns are cut.
    pub text: &'a str,
    /// Number of `?` in the statement.
    pub param_count: usize,
    /// Types of their values; empty while there are none (COM_STMT_PREPARE), or if they do not matter.
    pub param_types: &'a [ExprType],
    /// Where warnings of the planning go.
    pub warnings: &'a Warnings,
    /// Where the tables go that a statement used up to its error: an account that may not use them learns that first.
    pub uses_until_error: Option<&'a parking_lot::Mutex<Vec<TableUse>>>,
    /// Who may end the statement while it is planned, if anybody may.
    pub watch: Option<Watch<'a>>,
}

impl PlanContext<'_> {
    /// Asked by what may take long.
    ///
    /// # Errors
    /// 1317, 3024, 1969 if the statement has to end, 4082 if its connection has too much memory.
    pub(crate) fn check_cancelled(&self) -> Result<(), SqlError> {
        base::memory::check()?;
        self.watch.map_or(Ok(()), |watch| watch.check())
    }
}

/// A table that has become larger or smaller by this factor is planned for anew,
const SIZE_FACTOR: u64 = 8;
/// if it has more rows than this: for fewer any way is good.
const SMALL_TABLE: u64 = 64;

/// A statement that is ready to run.
#[derive(Debug)]
pub struct Plan {
    pub(crate) kind: PlanKind,
    /// What has to be a value of the columns that it is compared with.
    pub(crate) constants: Vec<ConstantBeside>,
    /// Tables to lock before the first use.
    pub(crate) locks: Vec<(Arc<Table>, TableMode)>,
    uses: Vec<TableUse>,
    columns: Vec<ResultColumn>,
    /// What the parameters are for, as far as that is known.
    pub(crate) params: BTreeMap<usize, ExprType>,
    catalog_version: u64,
    /// The types of the parameters with which it was planned, if it depends on them.
    param_types: Option<Vec<ExprType>>,
    /// About how many rows the locked tables had, in their order; empty if there was nothing to choose.
    sizes: Vec<u64>,
}

/// The kinds of statements.
#[derive(Debug)]
pub(crate) enum PlanKind {
    Query(QueryPlan),
    Insert(Box<InsertPlan>),
    Update(Box<UpdatePlan>),
    Delete(Box<DeletePlan>),
    Load(Box<LoadPlan>),
    /// EXPLAIN as a table: its rows are ready.
    Rows(Vec<Vec<Value>>),
    /// EXPLAIN as a text.
    Explain(Box<ExplainPlan>),
    Do(QueryPlan),
}

/// For values that are the same whenever the statement runs.
pub(crate) fn planning_eval<'a>(context: &PlanContext<'a>, warnings: &'a Warnings) -> EvalContext<'a> {
    EvalContext::new(context.session, context.host, context.host.clock_now(), warnings)
}

/// What a statement does to a table; for the check of privileges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names of the privileges")]
pub enum Privilege {
    Select,
    Insert,
    Update,
    Delete,
}

/// A table that a statement uses, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableUse {
    /// Its database.
    pub schema: String,
    /// Its name.
    pub table: String,
    /// It is a temporary one: the session's own, with every right.
    pub temporary: bool,
    /// What is needed of it.
    pub privilege: Privilege,
    /// On which of its columns.
    pub columns: UsedColumns,
}

/// The columns on which a use of a table needs its privilege, if the account has it on columns only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UsedColumns {
    /// A privilege on columns is not enough.
    Whole,
    /// These, and any at all of the table.
    Named(Vec<usize>),
    /// As `Named`, but the statement does not name them: `*`, or INSERT without a list.
    All(Vec<usize>),
    /// These, of a table on which the statement has another privilege: what an UPDATE or DELETE of one table reads.
    Read(Vec<usize>),
    /// As `Read`, of a table beside the one that an UPDATE changes.
    Joined(Vec<usize>),
    /// Rows are locked: another privilege that allows that is needed too.
    Locked,
}

impl UsedColumns {
    fn columns(&mut self) -> Option<&mut Vec<usize>> {
        match self {
            UsedColumns::Named(columns)
            | UsedColumns::All(columns)
            | UsedColumns::Read(columns)
            | UsedColumns::Joined(columns) => Some(columns),
            UsedColumns::Whole | UsedColumns::Locked => None,
        }
    }

    /// Both uses of one table, if they can be said as one.
    pub(crate) fn merge(&mut self, mut other: UsedColumns) -> Option<UsedColumns> {
        if std::mem::discriminant(self) != std::mem::discriminant(&other) {
            return Some(other);
        }
        if let (Some(columns), Some(more)) = (self.columns(), other.columns()) {
            columns.append(more);
            columns.sort_unstable();
            columns.dedup();
        }
        None
    }
}

impl Plan {
    /// The shape of its rows; empty if it gives none.
    pub fn columns(&self) -> &[ResultColumn] {
        &self.columns
    }

    /// Whether it still holds with this catalog, and no table has grown or shrunk so much since that another way may be
    /// better by far: statements are often prepared while tables are empty.
    pub fn is_current(&self, catalog: &Catalog, engine: &Engine) -> bool {
        // What EXPLAIN prints depends on settings and on all that plans are made of.
        if matches!(self.kind, PlanKind::Rows(_) | PlanKind::Explain(_)) {
            return false;
        }
        let size_changed = |(table, then): (&Arc<Table>, u64)| {
            let (now, then) = (engine.estimate_rows(table).max(SMALL_TABLE), then.max(SMALL_TABLE));
            now / SIZE_FACTOR > then || then / SIZE_FACTOR > now
        };
        let tables = self.locks.iter().map(|(table, _)| table);
        self.catalog_version == catalog.version() && !tables.zip(self.sizes.iter().copied()).any(size_changed)
    }

    /// Whether the types of its columns and expressions depend on those of its parameters.
    pub(crate) fn depends_on_params(&self) -> bool {
        self.param_types.is_some()
    }

    /// Whether it holds for parameters of these types. NULL fits everywhere.
    pub(crate) fn fits_params(&self, types: &[ExprType]) -> bool {
        let Some(planned) = &self.param_types else { return true };
        let fits = |(at, ty): (usize, &ExprType)| ty.kind == Kind::Any || planned.get(at) == Some(ty);
        types.iter().enumerate().all(fits)
    }

    /// The tables that it names, without virtual ones, each with what it does to them.
    pub fn uses(&self) -> &[TableUse] {
        &self.uses
    }

    /// Whether it changes rows.
    pub fn writes(&self) -> bool {
        matches!(self.kind, PlanKind::Insert(_) | PlanKind::Update(_) | PlanKind::Delete(_) | PlanKind::Load(_))
    }

    /// Whether IGNORE makes warnings of errors.
    pub(crate) fn ignores_errors(&self) -> bool {
        match &self.kind {
            PlanKind::Insert(insert) => insert.ignore,
            PlanKind::Update(update) => update.ignore,
            PlanKind::Delete(delete) => delete.ignore,
            PlanKind::Load(load) => load.insert.ignore,
            _ => false,
        }
    }

    /// `sql_safe_updates`: 1175 for an UPDATE or DELETE without a key and a limit.
    pub(crate) fn check_safe(&self) -> Result<(), SqlError> {
        match &self.kind {
            PlanKind::Update(update) => update.check_safe(),
            PlanKind::Delete(delete) => delete.check_safe(),
            _ => Ok(()),
        }
    }

    /// Whether it is an INSERT or REPLACE.
    pub(crate) fn inserts(&self) -> bool {
        matches!(&self.kind, PlanKind::Insert(_))
    }

    /// Whether it reads or writes any table of the engine: without, it needs no read view.
    pub fn uses_engine(&self) -> bool {
        !self.locks.is_empty()
    }
}

/// Plans a query, INSERT, UPDATE, DELETE, DO or EXPLAIN.
pub async fn plan_statement(context: &PlanContext<'_>, statement: &Statement) -> Result<Plan, SqlError> {
    let mut binder = bind::Binder::new(context);
    let kind = plan_kind(context, &mut binder, statement).await;
    match kind {
        Ok(Planned::Kind(kind)) => Ok(Plan::new(context, kind, binder)),
        Ok(Planned::Plan(plan)) => Ok(*plan),
        Err(error) => {
            if let Some(uses) = context.uses_until_error {
                let (_, mut found) = binder.into_uses();
                for used in found.iter_mut().filter(|used| used.privilege == Privilege::Select) {
                    match statement {
                        // What its columns are is not known any more: the privilege to change the table is enough.
                        Statement::Update(_) => used.columns = UsedColumns::Joined(Vec::new()),
                        Statement::Delete(_) => used.privilege = Privilege::Delete,
                        _ => {}
                    }
                }
                uses.lock().extend(found);
            }
            Err(error)
        }
    }
}

enum Planned {
    Kind(PlanKind),
    /// EXPLAIN's, which is one of its own.
    Plan(Box<Plan>),
}

async fn plan_kind<'a>(
    context: &'a PlanContext<'a>,
    binder: &mut bind::Binder<'a>,
    statement: &'a Statement,
) -> Result<Planned, SqlError> {
    let kind = match statement {
        Statement::Query(query) => {
            let mut bound = binder.bind_query(query)?;
            bound.show_own_digits();
            PlanKind::Query(block::plan_query(context, &mut binder.columns, bound).await?)
        }
        Statement::Insert(insert) => {
            PlanKind::Insert(Box::new(crate::dml::plan_insert(context, binder, insert).await?))
        }
        Statement::Update(update) => {
            PlanKind::Update(Box::new(crate::dml::plan_update(context, binder, update).await?))
        }
        Statement::Delete(delete) => {
            PlanKind::Delete(Box::new(crate::dml::plan_delete(context, binder, delete).await?))
        }
        Statement::Load(load) => PlanKind::Load(Box::new(crate::dml::plan_load(context, binder, load).await?)),
        Statement::Do(query) => {
            let bound = binder.bind_query(query)?;
            PlanKind::Do(block::plan_query(context, &mut binder.columns, bound).await?)
        }
        Statement::Explain(explain) => {
            let within = explain::within(context, explain)?;
            let plan = Box::pin(plan_statement(&within, &explain.statement)).await?;
            return Ok(Planned::Plan(Box::new(explain::explain(context, plan, explain)?)));
        }
        _ => return Err(SqlError::not_supported("this statement here")),
    };
    Ok(Planned::Kind(kind))
}

impl Plan {
    fn new(context: &PlanContext<'_>, kind: PlanKind, mut binder: bind::Binder<'_>) -> Self {
        let param_types = binder.types_params.then(|| context.param_types.to_vec());
        let constants = std::mem::take(&mut binder.constants);
        let params = std::mem::take(&mut binder.params);
        let (locks, uses) = binder.into_uses();
        let columns = match &kind {
            PlanKind::Query(query) if query.into.is_empty() => query.columns.clone(),
            _ => Vec::new(),
        };
        // INSERT … VALUES has but one way.
        let has_choice = locks.len() > 1 || !matches!(kind, PlanKind::Insert(_));
        let sizes = locks.iter().filter(|_| has_choice).map(|(table, _)| context.engine.estimate_rows(table)).collect();
        let catalog_version = context.catalog.version();
        Plan { kind, constants, locks, uses, columns, params, catalog_version, param_types, sizes }
    }
}
