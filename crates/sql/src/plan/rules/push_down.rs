//! Conditions on the columns of a subquery in FROM go into it, where they can use its indexes and leave rows out before they are grouped or kept.
//!
//! Into a block with groups a condition goes before the groups if it reads nothing but their keys, behind them otherwise. Into a UNION it goes in
//! every branch, and so into one of EXCEPT and INTERSECT. It stays outside of what has a LIMIT or totals of ROLLUP, of windows unless it reads nothing but what all of them partition by, and of
//! DISTINCT, groups and partitions where values that those take for equal may be different to it: texts by their collation.

use base::SqlError;

use crate::bind::columns::{ColumnId, ColumnSource, Columns, TableId};
use crate::bind::tree::{Block, BoundBody, BoundQuery, BoundTable, FromTree, JoinKind, SetKind};
use crate::expr::{Constancy, Expr, ExprKind, Kind, order};
use crate::plan::rules::Rewrite;
use crate::plan::rules::substitute::{Meant, Room, for_each_read, is_flat, replaced};

pub(super) fn apply(block: &mut Block, rewrite: &mut Rewrite<'_>) -> Result<(), SqlError> {
    let Block { tables, from: Some(from), filter, .. } = block else { return Ok(()) };
    let mut stay = Vec::with_capacity(filter.len());
    for condition in std::mem::take(filter) {
        // There may be millions of them.
        rewrite.context.check_cancelled()?;
        if !push(&condition, from, tables, rewrite.columns) {
            stay.push(condition);
        }
    }
    *filter = stay;
    push_of_joins(from, tables, rewrite.columns);
    Ok(())
}

/// Conditions of ON: those of an outer join into its inner side.
fn push_of_joins(tree: &mut FromTree, tables: &mut [BoundTable], columns: &Columns) {
    let FromTree::Join { left, right, kind, on } = tree else { return };
    on.retain(|condition| {
        let is_pushed = |side: &FromTree, tables: &mut [BoundTable]| push(condition, side, tables, columns);
        match kind {
            JoinKind::Left | JoinKind::Semi | JoinKind::Anti => !is_pushed(right, tables),
            JoinKind::Inner | JoinKind::Straight => !is_pushed(left, tables) && !is_pushed(right, tables),
        }
    });
    push_of_joins(left, tables, columns);
    push_of_joins(right, tables, columns);
}

/// Pushes a condition into the table of a part of FROM that it is about, unless an outer join in that part adds rows of NULLs to it. Whether it has
/// gone there whole.
fn push(condition: &Expr, part: &FromTree, tables: &mut [BoundTable], columns: &Columns) -> bool {
    match part {
        FromTree::Table(number) => {
            let table = tables[*number].id;
            let Some(query) = tables[*number].own_query() else { return false };
            if !is_about(condition, table, columns) || !takes(query, condition, columns) {
                return false;
            }
            push_into(query, condition, columns);
            true
        }
        FromTree::Join { left, right, kind, .. } => {
            push(condition, left, tables, columns) || kind.is_inner() && push(condition, right, tables, columns)
        }
    }
}

/// Whether a condition reads columns of one table and nothing else, and is not so deep that it would become too deep on its way.
fn is_about(condition: &Expr, table: TableId, columns: &Columns) -> bool {
    let ids = condition.slots();
    let is_of_it = |id| matches!(columns.source(id), ColumnSource::Column { table: of, .. } if of == table);
    is_flat(condition) && !ids.is_empty() && ids.iter().all(is_of_it) && condition.constancy() != Constancy::Volatile
}

/// Whether every branch of a query can have the condition in it.
fn takes(query: &BoundQuery, condition: &Expr, columns: &Columns) -> bool {
    match &query.body {
        BoundBody::Block(block) => {
            let rolls_up = block.grouping.as_ref().is_some_and(|grouping| grouping.rollup.is_some());
            let is_distinct = block.distinct && !tells_as_groups(condition);
            let is_computed = |id| {
                let reads_query = |id: usize| columns.source(id) == ColumnSource::Subquery;
                let Some(expr) = selected(block, id, columns) else { return false };
                expr.constancy() != Constancy::Volatile && !expr.slots().iter().any(reads_query)
            };
            let (mut room, mut fits) = (Room::default(), true);
            for_each_read(condition, &mut |id| {
                fits = fits && selected(block, id, columns).is_some_and(|expr| room.takes(expr));
            });
            fits && block.limit.is_none()
                && !rolls_up
                && !is_distinct
                && !block.count_found_rows
                && !block.tables.is_empty()
                && leaves_windows(block, condition, columns)
                && condition.slots().iter().all(is_computed)
        }
        BoundBody::Set(set) => {
            let is_distinct = set.kind.compares() && !tells_as_groups(condition);
            set.limit.is_none()
                && !matches!(set.kind, SetKind::Recursive(_))
                && !is_distinct
                && !set.count_found_rows
                && set.branches.iter().all(|branch| takes(branch, condition, columns))
        }
        BoundBody::Values(_) => false,
    }
}

/// Whether all rows of a partition of each window pass a condition, or none: it reads nothing but what all of them partition by.
fn leaves_windows(block: &Block, condition: &Expr, columns: &Columns) -> bool {
    let is_key = |id: ColumnId| {
        let expr = selected(block, id, columns);
        expr.is_some_and(|expr| block.windows.iter().all(|window| window.partition.contains(expr)))
    };
    block.windows.is_empty() || tells_as_groups(condition) && condition.slots().iter().all(is_key)
}

/// What a block gives as a column of the table that it is.
fn selected<'b>(block: &'b Block, id: ColumnId, columns: &Columns) -> Option<&'b Expr> {
    match columns.source(id) {
        ColumnSource::Column { column, .. } => block.select.get(column),
        _ => None,
    }
}

/// Whether a condition is the same for all values that groups and DISTINCT take for one.
fn tells_as_groups(condition: &Expr) -> bool {
    let has_one_form = |expr: &Expr| {
        use Kind::{Bytes, Date, DateTime, Decimal, Int, Time, UInt};
        matches!(expr.ty.kind, Int | UInt | Decimal | Date | DateTime | Time | Bytes)
    };
    match &condition.kind {
        ExprKind::Column { .. } => has_one_form(condition),
        ExprKind::Compare { args, .. } if args.iter().any(|arg| arg.as_column().is_some()) => {
            let by_own = |arg: &Expr| {
                let comparison = order::comparison(&args[0].ty, &args[1].ty);
                let by_text = comparison.is_some_and(|by| by.kind == Kind::Str && by.collation == arg.ty.collation);
                arg.ty.kind == Kind::Str && by_text || has_one_form(arg)
            };
            args.iter().all(|arg| if arg.as_column().is_some() { by_own(arg) } else { tells_as_groups(arg) })
        }
        _ => {
            let mut all = true;
            condition.for_each_child(&mut |child| all &= tells_as_groups(child));
            all
        }
    }
}

fn push_into(query: &mut BoundQuery, condition: &Expr, columns: &Columns) {
    match &mut query.body {
        BoundBody::Block(block) => {
            let read = condition.slots();
            let meant: Meant = read.iter().filter_map(|id| Some((id, selected(block, id, columns)?.clone()))).collect();
            let inner = replaced(condition.clone(), &meant);
            match &block.grouping {
                Some(grouping) => {
                    let is_key = |id: ColumnId| meant.get(&id).is_some_and(|expr| grouping.keys.contains(expr));
                    let is_before = tells_as_groups(condition) && read.iter().all(is_key);
                    let list = if is_before { &mut block.filter } else { &mut block.having };
                    list.push(inner);
                }
                None => block.filter.push(inner),
            }
        }
        BoundBody::Set(set) => {
            set.branches.iter_mut().for_each(|branch| push_into(branch, condition, columns));
        }
        BoundBody::Values(_) => {}
    }
}
