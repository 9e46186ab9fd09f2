//! `WHERE EXISTS (SELECT … WHERE inner.x = outer.y)` as a semijoin, `NOT EXISTS` as an antijoin: the subquery's tables are joined to those of the
//! block, by an index, by hash or by pairs, and its conditions are the join's ON.
//!
//! So are `IN` with columns of the block in its subquery, and `NOT IN` if neither side can be NULL. Only conjuncts of WHERE are looked at, elsewhere
//! FALSE and NULL are different things. A subquery that gives its rows as they are is taken, that reads columns of the block's tables: any other
//! is run once, or is a table by itself (`in_as_join`).

use std::collections::HashMap;

use base::SqlError;
use types::Value;

use crate::bind::columns::{ColumnId, Columns};
use crate::bind::tree::{Block, BoundBody, BoundQuery, FromTree, JoinKind, Limit, Subquery, SubqueryKind};
use crate::expr::{CompareOp, Expr, ExprKind, SlotSet, build};
use crate::plan::conditions::TABLES_MAX;
use crate::plan::rules::Rewrite;
use crate::plan::rules::merge_derived::{has_another_value_each_time, merge_all};

pub(super) fn apply(block: &mut Block, rewrite: &mut Rewrite<'_>) -> Result<(), SqlError> {
    join_all(block, rewrite.columns)
}

fn join_all(block: &mut Block, columns: &Columns) -> Result<(), SqlError> {
    if block.from.is_none() || block.tables.iter().any(|table| table.image.is_some()) {
        return Ok(());
    }
    let places = block.subquery_places();
    for condition in std::mem::take(&mut block.filter) {
        match joinable(block, &condition, (&places, columns)) {
            Some((number, kind)) => join(block, (number, kind), columns)?,
            None => block.filter.push(condition),
        }
    }
    Ok(())
}

/// The subquery that a condition consists of, and how it can be joined.
fn joinable(
    block: &Block,
    condition: &Expr,
    (places, columns): (&HashMap<ColumnId, usize>, &Columns),
) -> Option<(usize, JoinKind)> {
    let (asked, is_negated) = match &condition.kind {
        ExprKind::Not(inner) => (&**inner, true),
        _ => (condition, false),
    };
    let number = *places.get(&asked.as_column()?)?;
    let subquery = &block.subqueries[number];
    let query = subquery.query.as_ref().filter(|_| subquery.correlated && subquery.guard.is_none())?;
    let BoundBody::Block(inner) = &query.body else { return None };
    let kind = match (&subquery.kind, is_negated) {
        (SubqueryKind::Exists, false) | (SubqueryKind::Any { equality: true, .. }, false) => JoinKind::Semi,
        (SubqueryKind::Exists, true) => JoinKind::Anti,
        (SubqueryKind::All { left, equality: true, .. }, false) if has_no_nulls(left, query) => JoinKind::Anti,
        (SubqueryKind::Any { left, equality: true, .. }, true) if has_no_nulls(left, query) => JoinKind::Anti,
        _ => return None,
    };
    let reads_block = inner.outer.iter().any(|id| columns.place(id, &block.tables).is_some());
    let has_room = block.tables.len() + inner.tables.len() <= TABLES_MAX;
    (reads_block && has_room && gives_rows(inner, matches!(subquery.kind, SubqueryKind::Exists)))
        .then_some((number, kind))
}

fn has_no_nulls(left: &[Expr], query: &BoundQuery) -> bool {
    left.iter().all(|expr| !expr.ty.nullable) && query.types.iter().all(|ty| !ty.nullable)
}

/// Whether a block is nothing but tables and conditions; of one in EXISTS it does not matter how often a row comes, and what is selected.
fn gives_rows(inner: &Block, is_exists: bool) -> bool {
    let mut selected = SlotSet::default();
    inner.select.iter().for_each(|expr| expr.collect_slots(&mut selected));
    let reads_subquery = |subquery: &Subquery| selected.contains(subquery.id);
    !has_another_value_each_time(inner)
        && !inner.tables.is_empty()
        && inner.gives_rows_of_tables()
        && inner.having.is_empty()
        && (inner.limit.is_none() || is_exists && may_give_one(&inner.limit))
        && !inner.straight_join
        && !inner.hints.stays_subquery
        && !inner.count_found_rows
        && inner.tables.iter().all(|table| table.lock.is_none())
        && inner.subqueries.iter().all(|subquery| !matches!(subquery.kind, SubqueryKind::Call { .. }))
        && (is_exists || !inner.subqueries.iter().any(reads_subquery))
}

fn may_give_one(limit: &Limit) -> bool {
    let count = limit.count.as_ref().map(|count| &count.kind);
    limit.offset.is_none() && matches!(count, Some(ExprKind::Literal(Value::Int(1..) | Value::UInt(1..))))
}

fn join(block: &mut Block, (number, kind): (usize, JoinKind), columns: &Columns) -> Result<(), SqlError> {
    let subquery = &mut block.subqueries[number];
    let asked = std::mem::replace(&mut subquery.kind, SubqueryKind::Joined);
    subquery.correlated = false;
    let Some(BoundQuery { body: BoundBody::Block(inner), .. }) = subquery.query.take() else {
        return Err(SqlError::unknown("a semijoin without a SELECT"));
    };
    let mut inner = *inner;
    merge_all(&mut inner, columns);
    join_all(&mut inner, columns)?;
    let mut on = std::mem::take(&mut inner.filter);
    if let SubqueryKind::Any { left, .. } | SubqueryKind::All { left, .. } = asked {
        for (left, right) in left.into_iter().zip(inner.select) {
            on.push(build::compare(CompareOp::Eq, left, right)?);
        }
    }
    let before = block.tables.len();
    block.tables.append(&mut inner.tables);
    block.hints.orders.append(&mut inner.hints.orders);
    block.subqueries.append(&mut inner.subqueries);
    if let (Some(left), Some(mut right)) = (block.from.take(), inner.from) {
        right.renumber(&|table| before + table);
        block.from = Some(FromTree::Join { left: Box::new(left), right: Box::new(right), kind, on });
    }
    Ok(())
}
