//! An outer join whose rows of NULLs cannot pass a condition is an inner one: it may be done in any order, and conditions on its inner side go
//! to the tables there.
//!
//! A join is asked with the conditions that all of its rows have to pass: WHERE, and ON of the inner joins around it; inside of an outer join's inner
//! side that join's ON.

use base::SqlError;

use crate::bind::columns::Columns;
use crate::bind::from::tables_of;
use crate::bind::tree::{Block, FromTree, JoinKind};
use crate::expr::Expr;
use crate::plan::conditions::{TableSet, rejects_null};
use crate::plan::rules::Rewrite;

pub(super) fn apply(block: &mut Block, rewrite: &mut Rewrite<'_>) -> Result<(), SqlError> {
    let Some(mut from) = block.from.take_if(|from| matches!(from, FromTree::Join { .. })) else { return Ok(()) };
    let filter: Vec<&Expr> = block.filter.iter().collect();
    turn(&mut from, &filter, block, rewrite.columns);
    let mut inner = TableSet::default();
    inner_sides(&from, &mut inner);
    for (number, table) in block.tables.iter_mut().enumerate() {
        table.outer_joined = inner.meets(TableSet::one(number));
    }
    block.from = Some(from);
    Ok(())
}

fn turn(tree: &mut FromTree, conditions: &[&Expr], block: &Block, columns: &Columns) {
    let FromTree::Join { left, right, kind, on } = tree else { return };
    if *kind == JoinKind::Left {
        let tables = set_of(right);
        if conditions.iter().any(|condition| rejects_null(condition, block, columns, tables)) {
            *kind = JoinKind::Inner;
        }
    }
    if matches!(kind, JoinKind::Left | JoinKind::Anti) {
        turn(left, conditions, block, columns);
        turn(right, &on.iter().collect::<Vec<_>>(), block, columns);
    } else {
        let all: Vec<&Expr> = conditions.iter().copied().chain(on.iter()).collect();
        turn(left, &all, block, columns);
        turn(right, &all, block, columns);
    }
}

/// The tables to whose rows an outer join adds one of NULLs.
fn inner_sides(tree: &FromTree, tables: &mut TableSet) {
    let FromTree::Join { left, right, kind, .. } = tree else { return };
    if *kind == JoinKind::Left {
        *tables = tables.with(set_of(right));
    }
    inner_sides(left, tables);
    inner_sides(right, tables);
}

fn set_of(tree: &FromTree) -> TableSet {
    TableSet::of(tables_of(tree))
}
