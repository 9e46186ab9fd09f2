//! A subquery in FROM that gives rows of its tables as they are is merged into the block in which it stands: its tables take its place, its
//! conditions stand beside the others, and what read its columns reads the expressions behind them. So conditions reach the indexes, and nothing
//! is kept in between.
//!
//! Merged is what MySQL merges: no groups, windows, DISTINCT, HAVING or LIMIT, no assignment. Its ORDER BY counts where it is all that the block reads and
//! the block has no order of its own; otherwise it says nothing. What has another value each time it is computed stays, so that it is computed once a row;
//! so does what an outer join fills with NULLs, unless its columns are its tables' columns, and what is read for rows that are to be changed.

use base::SqlError;

use crate::bind::columns::{ColumnSource, Columns};
use crate::bind::tree::{Block, BoundBody, BoundQuery, BoundTable, FromTree, SubqueryKind, TableSource};
use crate::expr::{Constancy, Expr};
use crate::plan::conditions::TABLES_MAX;
use crate::plan::rules::Rewrite;
use crate::plan::rules::substitute::{Meant, Room};

pub(super) fn apply(block: &mut Block, rewrite: &mut Rewrite<'_>) -> Result<(), SqlError> {
    merge_all(block, rewrite.columns);
    Ok(())
}

pub(super) fn merge_all(block: &mut Block, columns: &Columns) {
    if block.tables.iter().any(|table| table.image.is_some()) {
        return;
    }
    let mut number = 0;
    while number < block.tables.len() {
        if let TableSource::Derived(query) = &mut block.tables[number].source
            && let BoundBody::Block(inner) = &mut query.body
        {
            merge_all(inner, columns);
        }
        match is_mergeable(block, number, columns) {
            true => merge(block, number, columns),
            false => number += 1,
        }
    }
}

fn is_mergeable(block: &Block, number: usize, columns: &Columns) -> bool {
    let table = &block.tables[number];
    let TableSource::Derived(query) = &table.source else { return false };
    let BoundBody::Block(inner) = &query.body else { return false };
    let is_plain = query.may_be_merged()
        && query.into.is_empty()
        && inner.having.is_empty()
        && !inner.straight_join
        && !inner.count_found_rows;
    is_plain
        && !table.no_merge
        && block.tables.len() + inner.tables.len() <= TABLES_MAX
        && !has_another_value_each_time(inner)
        && inner.subqueries.iter().all(|subquery| !matches!(subquery.kind, SubqueryKind::Call { .. }))
        && (!table.outer_joined || gives_own_columns(table, inner, columns))
        && has_room(block, table, inner, columns)
}

/// Whether what is read of a table is small enough to stand wherever it is read.
fn has_room(block: &Block, table: &BoundTable, inner: &Block, columns: &Columns) -> bool {
    let (mut room, mut fits) = (Room::default(), true);
    block.for_each_read(&mut |id| {
        if let ColumnSource::Column { table: of, column } = columns.source(id)
            && of == table.id
        {
            fits = fits && room.takes(&inner.select[column]);
        }
    });
    fits
}

pub(super) fn has_another_value_each_time(inner: &Block) -> bool {
    let is_volatile = |expr: &Expr| expr.constancy() == Constancy::Volatile;
    let mut found = inner.filter.iter().chain(&inner.select).any(is_volatile);
    inner.from.iter().for_each(|from| from.for_each_condition(&mut |condition| found |= is_volatile(condition)));
    found
}

/// Whether all that is read of a table are columns of the tables in it: those are NULL where the outer join finds no row.
fn gives_own_columns(table: &BoundTable, inner: &Block, columns: &Columns) -> bool {
    columns.of_table(table.id).all(|(column, _)| {
        let id = inner.select[column].as_column();
        id.is_some_and(|id| columns.place(id, &inner.tables).is_some())
    })
}

fn merge(block: &mut Block, number: usize, columns: &Columns) {
    let is_alone = block.tables.len() == 1;
    let table = block.tables.remove(number);
    let TableSource::Derived(query) = table.source else { return };
    let BoundQuery { body: BoundBody::Block(inner), .. } = *query else { return };
    let mut inner = *inner;
    let read = columns.of_table(table.id).map(|(column, id)| (id, inner.select[column].clone()));
    let meant: Meant = read.collect();
    // Its first table has its place, the others are behind all that are there.
    let end = block.tables.len();
    let place = |of_inner: usize| if of_inner == 0 { number } else { end + of_inner };
    let mut tables = std::mem::take(&mut inner.tables);
    tables.iter_mut().for_each(|inner| inner.outer_joined |= table.outer_joined);
    let mut tables = tables.into_iter();
    tables.next().into_iter().for_each(|first| block.tables.insert(number, first));
    block.tables.extend(tables);
    let mut filter = std::mem::take(&mut inner.filter);
    if let (Some(from), Some(mut own)) = (&mut block.from, inner.from.take()) {
        own.renumber(&place);
        put_in_place(from, number, &mut Some(own), &mut filter);
    }
    block.filter.append(&mut filter);
    block.subqueries.append(&mut inner.subqueries);
    block.hints.orders.append(&mut inner.hints.orders);
    block.substitute(&meant);
    if is_alone && block.order.is_empty() && block.grouping.is_none() && !block.distinct {
        block.order = std::mem::take(&mut inner.order);
    }
}

/// Puts the tables of a merged table in its place. On the inner side of an outer join its conditions are that join's. Whether it was found.
fn put_in_place(tree: &mut FromTree, number: usize, own: &mut Option<FromTree>, filter: &mut Vec<Expr>) -> bool {
    match tree {
        FromTree::Table(table) => {
            let found = *table == number;
            if found && let Some(own) = own.take() {
                *tree = own;
            }
            found
        }
        FromTree::Join { left, right, kind, on } => {
            if put_in_place(left, number, own, filter) {
                return true;
            }
            let found = put_in_place(right, number, own, filter);
            if found && !kind.is_inner() {
                on.append(filter);
            }
            found
        }
    }
}
