//! What no expression reads of a subquery in FROM is not computed: NULL stands in its place, and an aggregate or a window function of which nothing is
//! read is not made.
//!
//! Columns keep their positions. What decides which rows there are stays: DISTINCT, the branches of a UNION that are made distinct. A subquery in an
//! expression that is gone is not run.

use base::SqlError;

use crate::bind::columns::{ColumnId, Columns, TableId};
use crate::bind::tree::{Block, BoundBody, BoundQuery, SubqueryKind};
use crate::expr::{Constancy, Expr, SlotSet};
use crate::plan::layout::{read_columns, used_columns};
use crate::plan::rules::Rewrite;

pub(super) fn apply(block: &mut Block, rewrite: &mut Rewrite<'_>) -> Result<(), SqlError> {
    prune_windows(block);
    prune_subqueries(block);
    if !block.tables.iter().any(|table| table.derived().is_some()) {
        return Ok(());
    }
    let used = used_columns(block);
    for table in &mut block.tables {
        let id = table.id;
        if let Some(query) = table.own_query() {
            prune(query, id, &used, rewrite.columns);
        }
    }
    Ok(())
}

/// A subquery may be read by another one alone. Calls that wait are made all the same.
fn prune_subqueries(block: &mut Block) {
    let is_call = |kind: &SubqueryKind| matches!(kind, SubqueryKind::Call { .. });
    while !block.subqueries.is_empty() {
        let (read, before) = (read_columns(block), block.subqueries.len());
        block.subqueries.retain(|subquery| read.contains(subquery.id) || is_call(&subquery.kind));
        if block.subqueries.len() == before {
            break;
        }
    }
}

fn prune(query: &mut BoundQuery, table: TableId, used: &SlotSet, columns: &Columns) {
    let is_read = |column: usize| columns.find(table, column).is_some_and(|id| used.contains(id));
    match &mut query.body {
        BoundBody::Block(block) if !block.distinct => {
            for (column, expr) in block.select.iter_mut().enumerate() {
                if !is_read(column) && expr.constancy() < Constancy::Volatile {
                    *expr = Expr::null();
                }
            }
            prune_windows(block);
            prune_aggregates(block);
        }
        BoundBody::Set(set) if !set.kind.compares() => {
            set.branches.iter_mut().for_each(|branch| prune(branch, table, used, columns));
        }
        _ => {}
    }
}

/// Windows neither add rows nor take any away.
fn prune_windows(block: &mut Block) {
    if block.windows.is_empty() {
        return;
    }
    let read = read_columns(block);
    for window in &mut block.windows {
        window.calls.retain(|call| read.contains(call.id) || call.call.args().iter().any(is_volatile));
    }
    block.windows.retain(|window| !window.calls.is_empty());
}

fn is_volatile(expr: &Expr) -> bool {
    expr.constancy() == Constancy::Volatile
}

/// Without keys one aggregate stays, which makes the block one of groups.
fn prune_aggregates(block: &mut Block) {
    let read = read_columns(block);
    let Some(grouping) = &mut block.grouping else { return };
    let first = if grouping.keys.is_empty() { grouping.aggregates.first().map(|aggregate| aggregate.id) } else { None };
    let is_needed = |id: ColumnId| read.contains(id);
    let none_is = !grouping.aggregates.iter().any(|aggregate| is_needed(aggregate.id));
    grouping.aggregates.retain(|aggregate| is_needed(aggregate.id) || none_is && Some(aggregate.id) == first);
}
