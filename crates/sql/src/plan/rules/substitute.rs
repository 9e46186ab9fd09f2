//! Expressions in the place of columns.
//!
//! # Invariants
//! - What is written is bounded by the parser, in size and depth; what stands in the place of a column may be read often, and by what is read often itself. So
//!   only small expressions take the place of columns, and not too often ([`Room`]): `SELECT c + c AS c FROM (SELECT c + c AS c FROM (…` does not double with each
//!   level, and nothing becomes deeper than what is written by more than [`DEPTH_MAX`].

use std::collections::HashMap;
use std::sync::Arc;

use crate::bind::columns::ColumnId;
use crate::bind::tree::{Block, BoundBody, BoundQuery, BoundTable, FromTree, TableSource};
use crate::expr::{Expr, ExprKind};

/// What stands in the place of each column.
pub(super) type Meant = HashMap<ColumnId, Expr>;

/// So deep may be what takes the place of a column.
const DEPTH_MAX: usize = 16;

/// So many parts may expressions have that one rule puts in the place of a table's columns, all copies together.
const PARTS_MAX: usize = 4096;

/// What may still be put in the place of columns.
pub(super) struct Room(usize);

impl Default for Room {
    fn default() -> Self {
        Room(PARTS_MAX)
    }
}

impl Room {
    /// Takes the room of one copy; `false` if there is none for it. What is no larger than a column takes none.
    pub(super) fn takes(&mut self, expr: &Expr) -> bool {
        let is_one_part = matches!(expr.kind, ExprKind::Column { .. } | ExprKind::Literal(_) | ExprKind::Param(_));
        is_one_part || self.takes_parts(expr, DEPTH_MAX)
    }

    fn takes_parts(&mut self, expr: &Expr, depth: usize) -> bool {
        if depth == 0 || self.0 == 0 {
            return false;
        }
        self.0 -= 1;
        let mut fits = true;
        expr.for_each_child(&mut |child| fits = fits && self.takes_parts(child, depth - 1));
        fits
    }
}

/// Whether an expression is no deeper than what may take the place of a column: in it others may take theirs.
pub(super) fn is_flat(expr: &Expr) -> bool {
    is_within(expr, DEPTH_MAX)
}

fn is_within(expr: &Expr, depth: usize) -> bool {
    let mut fits = depth > 0;
    if fits {
        expr.for_each_child(&mut |child| fits = fits && is_within(child, depth - 1));
    }
    fits
}

/// Calls `visit` for every place in which an expression reads a column.
pub(super) fn for_each_read(expr: &Expr, visit: &mut dyn FnMut(ColumnId)) {
    match expr.kind {
        ExprKind::Column { slot, .. } => visit(slot),
        _ => expr.for_each_child(&mut |child| for_each_read(child, visit)),
    }
}

/// An expression that reads others in the place of columns. It keeps its type, which may be NULL where the other's may not.
pub(super) fn replaced(mut expr: Expr, meant: &Meant) -> Expr {
    replace(&mut expr, meant);
    expr
}

fn replace(expr: &mut Expr, meant: &Meant) {
    match &expr.kind {
        ExprKind::Column { slot, .. } => {
            if let Some(other) = meant.get(slot) {
                expr.kind = other.kind.clone();
            }
        }
        _ => expr.for_each_child_mut(&mut |child| replace(child, meant)),
    }
}

impl Block {
    /// Calls `visit` for every place in which a column is read, here and in all that stands in here.
    pub(super) fn for_each_read(&self, visit: &mut dyn FnMut(ColumnId)) {
        self.for_each_expr(&mut |expr| for_each_read(expr, visit));
        for query in self.subqueries.iter().flat_map(|subquery| &subquery.query) {
            for_each_read_in(query, visit);
        }
        for query in self.tables.iter().filter_map(BoundTable::derived) {
            for_each_read_in(query, visit);
        }
    }

    /// Puts expressions in the place of columns, here and in all that stands in here.
    pub(super) fn substitute(&mut self, meant: &Meant) {
        if meant.is_empty() {
            return;
        }
        self.for_each_expr_mut(&mut |expr| replace(expr, meant));
        for subquery in &mut self.subqueries {
            subquery.query.iter_mut().for_each(|query| substitute_in(query, meant));
        }
        // A LATERAL one may read what comes before it.
        for table in &mut self.tables {
            if let TableSource::Derived(query) = &mut table.source {
                substitute_in(query, meant);
            }
        }
    }

    /// Every expression over rows of the block.
    fn for_each_expr_mut(&mut self, visit: &mut dyn FnMut(&mut Expr)) {
        self.filter.iter_mut().chain(&mut self.having).chain(&mut self.select).for_each(&mut *visit);
        self.order.iter_mut().for_each(|item| visit(&mut item.expr));
        self.from.iter_mut().for_each(|from| from.for_each_condition_mut(visit));
        for table in &mut self.tables {
            if let TableSource::Json(table) = &mut table.source {
                visit(&mut table.document);
            }
        }
        if let Some(grouping) = &mut self.grouping {
            grouping.keys.iter_mut().for_each(&mut *visit);
            for aggregate in &mut grouping.aggregates {
                let call = Arc::make_mut(&mut aggregate.call);
                call.args.iter_mut().chain(call.order_by.iter_mut().map(|(expr, _)| expr)).for_each(&mut *visit);
            }
        }
        self.windows.iter_mut().for_each(|window| window.for_each_expr_mut(visit));
        self.computed.iter_mut().for_each(|(expr, _)| visit(expr));
        for subquery in &mut self.subqueries {
            subquery.kind.exprs_mut().iter_mut().chain(&mut subquery.guard).for_each(&mut *visit);
        }
    }
}

fn for_each_read_in(query: &BoundQuery, visit: &mut dyn FnMut(ColumnId)) {
    match &query.body {
        BoundBody::Block(block) => block.for_each_read(visit),
        BoundBody::Set(set) => set.branches.iter().for_each(|branch| for_each_read_in(branch, visit)),
        BoundBody::Values(rows) => rows.iter().flatten().for_each(|expr| for_each_read(expr, visit)),
    }
}

/// The same in a query that stands in a block, as far as it reads that block's columns.
fn substitute_in(query: &mut BoundQuery, meant: &Meant) {
    match &mut query.body {
        BoundBody::Block(block) => {
            if !block.outer.iter().any(|id| meant.contains_key(&id)) {
                return;
            }
            let read = std::mem::take(&mut block.outer);
            for id in read.iter() {
                match meant.get(&id) {
                    Some(expr) => expr.collect_slots(&mut block.outer),
                    None => _ = block.outer.insert(id),
                }
            }
            block.substitute(meant);
        }
        BoundBody::Set(set) => set.branches.iter_mut().for_each(|branch| substitute_in(branch, meant)),
        BoundBody::Values(rows) => rows.iter_mut().flatten().for_each(|expr| replace(expr, meant)),
    }
}

impl FromTree {
    pub(super) fn for_each_condition_mut(&mut self, visit: &mut dyn FnMut(&mut Expr)) {
        if let FromTree::Join { left, right, on, .. } = self {
            on.iter_mut().for_each(&mut *visit);
            left.for_each_condition_mut(visit);
            right.for_each_condition_mut(visit);
        }
    }

    /// Gives its tables other places.
    pub(super) fn renumber(&mut self, place: &dyn Fn(usize) -> usize) {
        match self {
            FromTree::Table(table) => *table = place(*table),
            FromTree::Join { left, right, .. } => {
                left.renumber(place);
                right.renumber(place);
            }
        }
    }
}
