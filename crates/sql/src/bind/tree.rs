//! The bound tree: a statement whose names are resolved and whose expressions have types; nothing is decided yet about
//! how it is executed.
//!
//! ```text
//!   BoundQuery ── body ── Block       one SELECT: tables, join tree, conditions, grouping, select list, order
//!              │          Set         UNION, EXCEPT, INTERSECT: branches, each a query
//!              │          Values      rows of expressions
//!              └─ order, limit (of a set operation; a block has its own)
//! ```

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use base::SqlError;
use engine::{LockWait, Table};
use syntax::ast::{IndexHintKind, IndexHintScope};
use types::{ColumnDef, Value};

use crate::bind::columns::{ColumnId, TableId};
use crate::bind::hints::BlockHints;
use crate::bind::window::BoundWindow;
use crate::expr::{Aggregate, Expr, ExprKind, ExprType, SlotSet, function};
use crate::plan::json_table::JsonTable;
use crate::result::ResultColumn;
use crate::virtual_table::VirtualTable;

/// A query with its result's shape.
#[derive(Debug, Default)]
pub(crate) struct BoundQuery {
    pub(crate) body: BoundBody,
    /// Of the result, in order.
    pub(crate) columns: Vec<ResultColumn>,
    /// The expressions' types, in the same order.
    pub(crate) types: Vec<ExprType>,
    /// `SELECT … INTO @a, @b`: names without `@`.
    pub(crate) into: Vec<String>,
}

impl BoundQuery {
    /// Whether MySQL makes one query of it and of that in whose FROM it stands.
    pub(crate) fn may_be_merged(&self) -> bool {
        let BoundBody::Block(block) = &self.body else { return false };
        let reads_subquery = |expr: &Expr| {
            let slots = expr.slots();
            block.subqueries.iter().any(|subquery| subquery.correlated && slots.contains(subquery.id))
        };
        let is_plain = block.gives_rows_of_tables() && !block.distinct && !block.tables.is_empty();
        is_plain && block.limit.is_none() && !block.select.iter().any(|expr| expr.assigns() || reads_subquery(expr))
    }

    /// Whether it reads columns of enclosing blocks.
    pub(crate) fn has_outer(&self) -> bool {
        match &self.body {
            BoundBody::Block(block) => !block.outer.is_empty(),
            BoundBody::Set(set) => set.branches.iter().any(BoundQuery::has_outer),
            BoundBody::Values(_) => false,
        }
    }

    /// Adds the columns of enclosing blocks that it reads.
    pub(crate) fn collect_outer(&self, columns: &mut SlotSet) {
        match &self.body {
            BoundBody::Block(block) => block.outer.iter().for_each(|id| _ = columns.insert(id)),
            BoundBody::Set(set) => set.branches.iter().for_each(|branch| branch.collect_outer(columns)),
            BoundBody::Values(_) => {}
        }
    }

    /// Leaves nothing but one of the columns.
    pub(crate) fn select_only(&mut self, column: usize) -> Result<(), SqlError> {
        match &mut self.body {
            BoundBody::Block(block) if !block.distinct => {
                block.select = std::mem::take(&mut block.select).into_iter().skip(column).take(1).collect();
            }
            _ => return Err(SqlError::not_supported("several columns of a UNION or of DISTINCT as one row")),
        }
        self.columns = std::mem::take(&mut self.columns).into_iter().skip(column).take(1).collect();
        self.types = std::mem::take(&mut self.types).into_iter().skip(column).take(1).collect();
        Ok(())
    }

    /// Of a whole statement: its result comes from no temporary table, in which all values of a column would have the same digits.
    pub(crate) fn show_own_digits(&mut self) {
        let BoundBody::Block(block) = &mut self.body else { return };
        if !block.gives_rows_of_tables() || block.distinct {
            return;
        }
        for expr in &mut block.select {
            *expr = function::shown(std::mem::replace(expr, Expr::null()));
        }
    }
}

/// The forms of a query.
#[derive(Debug)]
pub(crate) enum BoundBody {
    /// SELECT
    Block(Box<Block>),
    /// UNION, EXCEPT, INTERSECT
    Set(Box<SetOperation>),
    /// VALUES ROW(…), ROW(…)
    Values(Vec<Vec<Expr>>),
}

impl Default for BoundBody {
    /// Without rows.
    fn default() -> Self {
        BoundBody::Values(Vec::new())
    }
}

/// One SELECT.
#[derive(Debug, Default)]
pub(crate) struct Block {
    /// From 1, in the order of the text: `id` of EXPLAIN.
    pub(crate) number: u32,
    pub(crate) tables: Vec<BoundTable>,
    /// `None` without FROM.
    pub(crate) from: Option<FromTree>,
    /// Columns of enclosing blocks that are read here, and in what stands in here.
    pub(crate) outer: SlotSet,
    /// Conjuncts of WHERE.
    pub(crate) filter: Vec<Expr>,
    pub(crate) grouping: Option<Grouping>,
    /// Conjuncts of HAVING.
    pub(crate) having: Vec<Expr>,
    /// Windows over what HAVING has left, with what is computed over them.
    pub(crate) windows: Vec<BoundWindow>,
    /// What windows read and is no column: computed once for each row, before the rows are sorted. The planner puts it here.
    pub(crate) computed: Vec<(Expr, ColumnId)>,
    pub(crate) select: Vec<Expr>,
    pub(crate) distinct: bool,
    pub(crate) order: Vec<OrderItem>,
    pub(crate) limit: Limit,
    pub(crate) subqueries: Vec<Subquery>,
    /// STRAIGHT_JOIN: tables are joined in the order of the text.
    pub(crate) straight_join: bool,
    pub(crate) hints: BlockHints,
    /// SQL_CALC_FOUND_ROWS
    pub(crate) count_found_rows: bool,
}

impl Block {
    /// Whether each of its rows is one of its tables' rows, and of nothing else.
    pub(crate) fn gives_rows_of_tables(&self) -> bool {
        self.grouping.is_none() && self.windows.is_empty()
    }

    /// The columns that are made for windows, and by them.
    pub(crate) fn made_by_windows(&self) -> impl Iterator<Item = ColumnId> + '_ {
        let results = self.windows.iter().flat_map(|window| &window.calls).map(|call| call.id);
        self.computed.iter().map(|(_, id)| *id).chain(results)
    }

    /// Where its subqueries are, by their results.
    pub(crate) fn subquery_places(&self) -> HashMap<ColumnId, usize> {
        self.subqueries.iter().enumerate().map(|(place, subquery)| (subquery.id, place)).collect()
    }

    /// Every expression over rows of the block.
    pub(crate) fn for_each_expr(&self, visit: &mut dyn FnMut(&Expr)) {
        self.filter.iter().chain(&self.having).chain(&self.select).for_each(&mut *visit);
        self.order.iter().for_each(|item| visit(&item.expr));
        self.from.iter().for_each(|from| from.for_each_condition(visit));
        self.tables.iter().filter_map(BoundTable::argument).for_each(&mut *visit);
        if let Some(grouping) = &self.grouping {
            grouping.keys.iter().for_each(&mut *visit);
            for aggregate in &grouping.aggregates {
                let order = aggregate.call.order_by.iter().map(|(expr, _)| expr);
                aggregate.call.args.iter().chain(order).for_each(&mut *visit);
            }
        }
        self.windows.iter().for_each(|window| window.for_each_expr(visit));
        self.computed.iter().for_each(|(expr, _)| visit(expr));
        self.subqueries.iter().flat_map(Subquery::exprs).for_each(visit);
    }
}

/// GROUP BY, or aggregates without it.
#[derive(Debug, Default)]
pub(crate) struct Grouping {
    pub(crate) keys: Vec<Expr>,
    /// WITH ROLLUP: the column of each key.
    pub(crate) rollup: Option<Vec<ColumnId>>,
    /// The column that says by how many of the keys a row is grouped, the first ones: GROUPING reads it.
    pub(crate) grouped: Option<ColumnId>,
    pub(crate) aggregates: Vec<BoundAggregate>,
}

/// One aggregate call.
#[derive(Debug)]
pub(crate) struct BoundAggregate {
    pub(crate) call: Arc<Aggregate>,
    /// Its result.
    pub(crate) id: ColumnId,
}

/// What is done with the rows of queries.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum SetKind {
    /// Branches `0..=n` are made distinct together; those after are only appended. `None` is UNION ALL all along.
    Union { distinct_until: Option<usize> },
    /// The first branch without the rows of the second, without those of the third, and so on. For each but the first: with ALL, a row of it takes
    /// away one that is equal, else all such rows, and what is left is made distinct.
    Except { all: Vec<bool> },
    /// The rows that all branches have, each once; with ALL, each as often as in the branch that has it the fewest times.
    Intersect { all: bool },
    /// The first branch, and then the others again and again, over the rows that the round before has given.
    Recursive(Arc<Recursion>),
}

/// How a recursive common table expression goes on.
#[derive(Debug, PartialEq)]
pub(crate) struct Recursion {
    /// What its steps read: see [`TableSource::Round`].
    pub(crate) rows: CteId,
    /// No row is given twice.
    pub(crate) is_distinct: bool,
    /// The columns into which a step's values are put.
    pub(crate) columns: Vec<ColumnDef>,
}

/// A common table expression of the statement, or the rows of a recursive one's last round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct CteId(pub(crate) u32);

/// In how many places a common table expression stands.
#[derive(Debug)]
pub(crate) struct CteUses {
    pub(crate) id: CteId,
    pub(crate) name: Arc<str>,
    pub(crate) count: AtomicUsize,
}

impl BoundTable {
    /// The query that it is, if it is one.
    pub(crate) fn derived(&self) -> Option<&BoundQuery> {
        match &self.source {
            TableSource::Derived(query) => Some(query),
            TableSource::Base(_) | TableSource::Virtual(_) | TableSource::Round(_) | TableSource::Json(_) => None,
        }
    }

    /// The expression over rows of its block that its rows are made of.
    pub(crate) fn argument(&self) -> Option<&Expr> {
        match &self.source {
            TableSource::Json(table) => Some(&table.document),
            _ => None,
        }
    }

    /// Adds the columns of its block, and of those around that, that its rows are made of.
    pub(crate) fn collect_read(&self, columns: &mut SlotSet) {
        self.derived().into_iter().for_each(|query| query.collect_outer(columns));
        self.argument().into_iter().for_each(|document| document.collect_slots(columns));
    }

    /// The query that it is, for rules that fit it to what this block reads: not one whose rows are made once for several places.
    pub(crate) fn own_query(&mut self) -> Option<&mut BoundQuery> {
        if self.made_once().is_some() {
            return None;
        }
        match &mut self.source {
            TableSource::Derived(query) => Some(query),
            _ => None,
        }
    }

    /// The common table expression that it is, if its rows are made once for several places.
    pub(crate) fn made_once(&self) -> Option<CteId> {
        let TableSource::Derived(query) = &self.source else { return None };
        let uses = self.cte.as_ref()?;
        (uses.count.load(Ordering::Relaxed) > 1 && !query.has_outer()).then_some(uses.id)
    }
}

impl SetKind {
    /// Whether rows are compared with each other.
    pub(crate) fn compares(&self) -> bool {
        *self != SetKind::Union { distinct_until: None }
    }

    /// Whether it is a recursive common table expression.
    pub(crate) fn is_recursive(&self) -> bool {
        matches!(self, SetKind::Recursive(_))
    }

    /// Its word.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            SetKind::Union { .. } | SetKind::Recursive(_) => "UNION",
            SetKind::Except { .. } => "EXCEPT",
            SetKind::Intersect { .. } => "INTERSECT",
        }
    }
}

/// UNION, EXCEPT or INTERSECT of queries; one alone with an ORDER BY or LIMIT of its own around it is a UNION, too.
#[derive(Debug)]
pub(crate) struct SetOperation {
    /// `id` of its result in EXPLAIN: behind those of its branches.
    pub(crate) number: u32,
    pub(crate) kind: SetKind,
    pub(crate) branches: Vec<BoundQuery>,
    /// The types by which rows are compared, one per column.
    pub(crate) distinct: Vec<ExprType>,
    pub(crate) order: Vec<OrderItem>,
    pub(crate) limit: Limit,
    /// SQL_CALC_FOUND_ROWS in its first branch
    pub(crate) count_found_rows: bool,
}

/// One item of ORDER BY.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OrderItem {
    pub(crate) expr: Expr,
    pub(crate) descending: bool,
}

/// LIMIT and OFFSET: numbers, or parameters.
#[derive(Clone, Debug, Default)]
pub(crate) struct Limit {
    pub(crate) count: Option<Expr>,
    pub(crate) offset: Option<Expr>,
}

impl Limit {
    /// Whether there is neither.
    pub(crate) fn is_none(&self) -> bool {
        self.count.is_none() && self.offset.is_none()
    }

    /// What is left of it for rows of which there is one at most.
    pub(crate) fn beyond_one_row(self) -> Self {
        let allows_one = |count: &Expr| matches!(count.kind, ExprKind::Literal(Value::Int(1..) | Value::UInt(1..)));
        match self.offset.is_none() && self.count.as_ref().is_some_and(allows_one) {
            true => Limit::default(),
            false => self,
        }
    }
}

/// How rows are locked by FOR UPDATE, FOR SHARE, and the reads of UPDATE and DELETE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RowLock {
    /// FOR UPDATE.
    pub(crate) exclusive: bool,
    /// What to do about a row that another has locked.
    pub(crate) wait: LockWait,
}

/// FROM, as a tree.
#[derive(Debug)]
pub(crate) enum FromTree {
    /// Position among the block's tables.
    Table(usize),
    /// A join; a RIGHT JOIN has been turned into a LEFT JOIN.
    Join { left: Box<FromTree>, right: Box<FromTree>, kind: JoinKind, on: Vec<Expr> },
}

impl FromTree {
    /// Every condition of ON.
    pub(crate) fn for_each_condition(&self, visit: &mut dyn FnMut(&Expr)) {
        if let FromTree::Join { left, right, on, .. } = self {
            on.iter().for_each(&mut *visit);
            left.for_each_condition(visit);
            right.for_each_condition(visit);
        }
    }
}

/// The kinds of joins that are left after binding; the last two are made by rules of subqueries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JoinKind {
    Inner,
    /// Inner, and the left side first.
    Straight,
    Left,
    /// Rows of the left side for which the right side has one that matches.
    Semi,
    /// Rows of the left side for which it has none.
    Anti,
}

impl JoinKind {
    /// Whether its ON is as good as WHERE.
    pub(crate) fn is_inner(self) -> bool {
        matches!(self, JoinKind::Inner | JoinKind::Straight)
    }
}

/// A table in FROM.
#[derive(Debug)]
pub(crate) struct BoundTable {
    pub(crate) id: TableId,
    pub(crate) source: TableSource,
    /// Its database; `None` for a derived table.
    pub(crate) schema: Option<Arc<str>>,
    /// The table's own name.
    pub(crate) name: Arc<str>,
    /// What it is called in the statement.
    pub(crate) alias: Arc<str>,
    pub(crate) columns: Vec<ColumnInfo>,
    /// It is on the inner side of an outer join, so its columns may be NULL.
    pub(crate) outer_joined: bool,
    pub(crate) hints: Vec<IndexHint>,
    /// NO_MERGE: it stays a table.
    pub(crate) no_merge: bool,
    pub(crate) lock: Option<RowLock>,
    /// Its row image, if the statement changes its rows.
    pub(crate) image: Option<ColumnId>,
    /// The common table expression that it is.
    pub(crate) cte: Option<Arc<CteUses>>,
}

/// Where a table's rows come from.
#[derive(Debug)]
pub(crate) enum TableSource {
    /// The engine.
    Base(Arc<Table>),
    /// information_schema and the like.
    Virtual(Arc<dyn VirtualTable>),
    /// A subquery in FROM, or a CTE.
    Derived(Box<BoundQuery>),
    /// What the last round of a recursive CTE has given.
    Round(CteId),
    /// JSON_TABLE.
    Json(Box<JsonTable>),
}

/// A column of a table in FROM.
#[derive(Clone, Debug)]
pub(crate) struct ColumnInfo {
    pub(crate) name: Arc<str>,
    pub(crate) ty: ExprType,
    /// Not part of `*`.
    pub(crate) invisible: bool,
}

/// USE, FORCE, IGNORE INDEX.
#[derive(Clone, Debug)]
pub(crate) struct IndexHint {
    pub(crate) kind: IndexHintKind,
    /// For what; `None` is everything.
    pub(crate) scope: Option<IndexHintScope>,
    /// Positions among the table's indexes.
    pub(crate) indexes: Vec<usize>,
}

/// A subquery in an expression. Its result is a column of the block that it stands in.
#[derive(Debug)]
pub(crate) struct Subquery {
    /// `None` for a function that waits.
    pub(crate) query: Option<BoundQuery>,
    pub(crate) kind: SubqueryKind,
    /// Its result.
    pub(crate) id: ColumnId,
    /// It uses columns of an enclosing block.
    pub(crate) correlated: bool,
    /// Nothing reads it before a row of the result is made: without rows it is not run (and cannot fail). The planner says so.
    pub(crate) late: bool,
    /// It stands in a branch: where this is not true it is not run, and its value is never read.
    pub(crate) guard: Option<Expr>,
    /// A call in WHERE, which is made for each row that gets there. The planner says so.
    pub(crate) per_row: bool,
}

impl Subquery {
    /// The expressions that it has over rows of the block that it stands in.
    fn exprs(&self) -> impl Iterator<Item = &Expr> {
        self.kind.exprs().iter().chain(&self.guard)
    }

    /// Adds the columns of the block that it stands in, and of those around that, that it reads.
    pub(crate) fn collect_read(&self, columns: &mut SlotSet) {
        self.exprs().for_each(|expr| expr.collect_slots(columns));
        self.query.iter().for_each(|query| query.collect_outer(columns));
    }

    /// Whether it is a call that waits, or gives one value that needs such a call.
    pub(crate) fn waits(&self) -> bool {
        match &self.kind {
            SubqueryKind::Call { .. } => true,
            SubqueryKind::Scalar | SubqueryKind::Exists => self.query.as_ref().is_some_and(BoundQuery::waits),
            SubqueryKind::Any { .. } | SubqueryKind::All { .. } | SubqueryKind::Row { .. } | SubqueryKind::Joined => {
                false
            }
        }
    }
}

impl BoundQuery {
    /// Whether there is a call that waits in it.
    fn waits(&self) -> bool {
        match &self.body {
            BoundBody::Block(block) => {
                let is_waiting = |table: &BoundTable| match &table.source {
                    TableSource::Derived(query) => query.waits(),
                    TableSource::Base(_) | TableSource::Virtual(_) | TableSource::Round(_) | TableSource::Json(_) => {
                        false
                    }
                };
                block.subqueries.iter().any(Subquery::waits) || block.tables.iter().any(is_waiting)
            }
            BoundBody::Set(set) => set.branches.iter().any(BoundQuery::waits),
            BoundBody::Values(_) => false,
        }
    }
}

impl SubqueryKind {
    /// Expressions over rows of the block that it stands in.
    pub(crate) fn exprs(&self) -> &[Expr] {
        match self {
            SubqueryKind::Any { left, .. } | SubqueryKind::All { left, .. } | SubqueryKind::Row { left, .. } => left,
            SubqueryKind::Call { args, .. } => args,
            SubqueryKind::Scalar | SubqueryKind::Exists | SubqueryKind::Joined => &[],
        }
    }

    /// The same, to be changed.
    pub(crate) fn exprs_mut(&mut self) -> &mut [Expr] {
        match self {
            SubqueryKind::Any { left, .. } | SubqueryKind::All { left, .. } | SubqueryKind::Row { left, .. } => left,
            SubqueryKind::Call { args, .. } => args,
            SubqueryKind::Scalar | SubqueryKind::Exists | SubqueryKind::Joined => &mut [],
        }
    }
}

/// What the result of a subquery means.
#[derive(Debug)]
pub(crate) enum SubqueryKind {
    /// The one value of the one row, NULL if there is none, 1242 if there are more.
    Scalar,
    /// Whether there is a row.
    Exists,
    /// `left op ANY (…)`; IN is `= ANY`. The comparison is over a row of the left side's values and then the subquery's.
    Any { left: Vec<Expr>, comparison: Expr, equality: bool },
    /// `left op ALL (…)`; NOT IN is `<> ALL`.
    All { left: Vec<Expr>, comparison: Expr, equality: bool },
    /// The comparison of a row with the one row that it gives, NULL if it gives none, 1242 if more. Over a row as that of `Any`.
    Row { left: Vec<Expr>, comparison: Expr },
    /// No subquery at all but a function that has to wait (SLEEP, GET_LOCK, …).
    Call { function: &'static str, args: Vec<Expr> },
    /// It has become one of the block's tables; no expression reads its result.
    Joined,
}
