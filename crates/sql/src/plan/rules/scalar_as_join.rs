//! `WHERE x > (SELECT AVG(y) FROM … WHERE k = outer)` as a join with groups: `JOIN (SELECT k, AVG(y) FROM … GROUP BY k) ON k = outer WHERE x > avg`.
//!
//! The subquery is made once for all values, where it would have read all of its rows for each of them. So it stays as it is where an index finds
//! the rows of one value.
//!
//! # Why the rows are the same
//! - It gives one row whatever it reads, and the groups have one for each value of `k`: no row of the block comes twice. What `=` takes for equal is
//!   one group (`in_as_join` says of which types that holds).
//! - A value of `outer` that is in no group, NULL among them, would give an aggregate of no rows. Of those that are taken (SUM, AVG, MIN, MAX) that is
//!   NULL, so is what is computed of it, and the condition is not true: the row goes either way. COUNT is not taken.
//! - Nothing else in the subquery reads columns of the block or of those around it, and nothing has another value each time. A sum or mean of DOUBLEs
//!   may depend on the order of the rows, and is not taken.

use base::SqlError;

use crate::bind::columns::{ColumnId, Columns};
use crate::bind::scope::empty_name;
use crate::bind::tree::{Block, BoundBody, BoundQuery, Grouping, Subquery, SubqueryKind, TableSource};
use crate::expr::{AggregateFunction, CompareOp, Constancy, Expr, ExprKind, Kind, SlotSet, build};
use crate::plan::conditions::TABLES_MAX;
use crate::plan::rules::Rewrite;
use crate::plan::rules::in_as_join::{columns_of, is_distinct_as_it_is, join_subquery};
use crate::plan::rules::merge_derived::has_another_value_each_time;
use crate::plan::rules::substitute::{Meant, for_each_read};
use crate::result::ResultColumn;

pub(super) fn apply(block: &mut Block, rewrite: &mut Rewrite<'_>) -> Result<(), SqlError> {
    if block.from.is_none() || block.tables.iter().any(|table| table.image.is_some()) {
        return Ok(());
    }
    for number in 0..block.subqueries.len() {
        if block.tables.len() < TABLES_MAX
            && let Some(pairs) = joinable(block, number, rewrite.columns)
        {
            join(block, number, pairs, rewrite.columns)?;
        }
    }
    Ok(())
}

/// An equality of the subquery's WHERE: its place there, what it reads of the block, and of the subquery's tables.
struct Pair {
    place: usize,
    outer: Expr,
    inner: Expr,
}

/// What joins the subquery to the block, if it can be a table.
fn joinable(block: &Block, number: usize, columns: &Columns) -> Option<Vec<Pair>> {
    let subquery = &block.subqueries[number];
    if !matches!(subquery.kind, SubqueryKind::Scalar) || !subquery.correlated || subquery.guard.is_some() {
        return None;
    }
    let BoundBody::Block(inner) = &subquery.query.as_ref()?.body else { return None };
    let is_needed = block.filter.iter().any(|condition| {
        matches!(&condition.kind, ExprKind::Compare { op, .. } if *op != CompareOp::NullSafeEq)
            && is_null_with(condition, &|id| id == subquery.id)
    });
    if !is_needed || !is_one_group(inner) {
        return None;
    }
    let pair = |(place, condition): (usize, &Expr)| {
        let ExprKind::Compare { op: CompareOp::Eq, args } = &condition.kind else { return None };
        let reads_block = |expr: &Expr| {
            let slots = expr.slots();
            !slots.is_empty() && slots.iter().all(|id| columns.place(id, &block.tables).is_some())
        };
        let is_own = |expr: &Expr| expr.as_column().is_some_and(|id| columns.place(id, &inner.tables).is_some());
        let (outer, own) = match () {
            () if reads_block(&args[0]) && is_own(&args[1]) => (&args[0], &args[1]),
            () if reads_block(&args[1]) && is_own(&args[0]) => (&args[1], &args[0]),
            () => return None,
        };
        let is_taken = outer.constancy() == Constancy::Row
            && is_distinct_as_it_is(&outer.ty, &own.ty)
            && !is_found_by_index(inner, own, columns);
        is_taken.then(|| Pair { place, outer: outer.clone(), inner: own.clone() })
    };
    let pairs: Vec<Pair> = inner.filter.iter().enumerate().filter_map(pair).collect();
    (!pairs.is_empty() && reads_nothing_else(inner, &pairs)).then_some(pairs)
}

/// Whether a block is one group of its tables' rows, whose value is NULL if there are none.
fn is_one_group(inner: &Block) -> bool {
    let Some(Grouping { keys, rollup: None, grouped: None, aggregates }) = &inner.grouping else { return false };
    let is_taken = |function: AggregateFunction, args: &[Expr]| match function {
        _ if args.iter().any(|arg| arg.constancy() == Constancy::Volatile) => false,
        AggregateFunction::Min | AggregateFunction::Max => true,
        AggregateFunction::Sum | AggregateFunction::Avg => {
            args.iter().all(|arg| matches!(arg.ty.kind, Kind::Int | Kind::UInt | Kind::Decimal))
        }
        _ => false,
    };
    let is_aggregate = |id: ColumnId| aggregates.iter().any(|aggregate| aggregate.id == id);
    keys.is_empty()
        && aggregates.iter().all(|aggregate| is_taken(aggregate.call.function, &aggregate.call.args))
        && inner.select.len() == 1
        && is_null_with(&inner.select[0], &is_aggregate)
        && inner.having.is_empty()
        && inner.windows.is_empty()
        && inner.limit.is_none()
        && inner.subqueries.is_empty()
        && !inner.hints.stays_subquery
        && !inner.count_found_rows
        && !inner.tables.is_empty()
        && inner.tables.iter().all(|table| table.lock.is_none())
        && !has_another_value_each_time(inner)
}

/// Whether an expression is NULL where those columns are.
fn is_null_with(expr: &Expr, is_null: &dyn Fn(ColumnId) -> bool) -> bool {
    match &expr.kind {
        ExprKind::Column { slot, .. } => is_null(*slot),
        ExprKind::Compare { args, .. } | ExprKind::Arithmetic { args, .. } => {
            args.iter().any(|arg| is_null_with(arg, is_null))
        }
        _ => false,
    }
}

/// Whether an index finds the rows with one value of a column.
fn is_found_by_index(inner: &Block, expr: &Expr, columns: &Columns) -> bool {
    let place = expr.as_column().and_then(|id| columns.place(id, &inner.tables));
    place.is_some_and(|(table, column)| match &inner.tables[table].source {
        TableSource::Base(base) => base.def.indexes.iter().any(|index| index.parts[0].column == column),
        _ => false,
    })
}

/// Whether the equalities are all that reads columns of enclosing blocks.
fn reads_nothing_else(inner: &Block, pairs: &[Pair]) -> bool {
    let (mut reads, mut of_pairs) = (0, 0);
    inner.for_each_read(&mut |id| reads += usize::from(inner.outer.contains(id)));
    for pair in pairs {
        for_each_read(&inner.filter[pair.place], &mut |id| {
            of_pairs += usize::from(inner.outer.contains(id));
        });
    }
    reads == of_pairs
}

fn join(block: &mut Block, number: usize, pairs: Vec<Pair>, numbers: &mut Columns) -> Result<(), SqlError> {
    let subquery = &mut block.subqueries[number];
    let result = subquery.id;
    let Some(mut query) = take(subquery) else { return Err(SqlError::unknown("a subquery that is no scalar one")) };
    let BoundBody::Block(inner) = &mut query.body else { return Err(SqlError::unknown("groups without a SELECT")) };
    let mut place = 0;
    inner.filter.retain(|_| {
        place += 1;
        pairs.iter().all(|pair| pair.place != place - 1)
    });
    inner.outer = SlotSet::default();
    inner.order.clear();
    for pair in &pairs {
        let place = pair.inner.as_column().and_then(|id| numbers.place(id, &inner.tables));
        let name = place.map_or_else(empty_name, |(table, column)| inner.tables[table].columns[column].name.clone());
        query.columns.push(ResultColumn { name, ..query.columns[0].clone() });
        query.types.push(pair.inner.ty.clone());
        inner.select.push(pair.inner.clone());
        inner.grouping.iter_mut().for_each(|grouping| grouping.keys.push(pair.inner.clone()));
    }
    let (columns, id) = (columns_of(&query), numbers.add_table());
    let mut column = |at: usize| {
        let ty = &columns[at].ty;
        Expr::column(numbers.of((id, at), 0, || ty.clone()), ty.clone())
    };
    let value = column(0);
    let mut on = Vec::with_capacity(pairs.len());
    for (at, pair) in pairs.into_iter().enumerate() {
        on.push(build::compare(CompareOp::Eq, pair.outer, column(at + 1))?);
    }
    block.substitute(&Meant::from([(result, value)]));
    join_subquery(block, (id, query, columns), on)
}

/// The subquery's query; it is none any more.
fn take(subquery: &mut Subquery) -> Option<BoundQuery> {
    subquery.kind = SubqueryKind::Joined;
    subquery.correlated = false;
    subquery.query.take()
}
