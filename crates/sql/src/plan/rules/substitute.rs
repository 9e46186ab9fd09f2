//! Expressions in the place of columns.

use std::collections::HashMap;
use std::sync::Arc;

use crate::bind::columns::ColumnId;
use crate::bind::tree::{Block, BoundBody, BoundQuery, FromTree};
use crate::expr::{Expr, ExprKind};

/// What stands in the place of each column.
pub(super) type Meant = HashMap<ColumnId, Expr>;

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
    /// Puts expressions in the place of columns, here and in all that stands in here.
    pub(super) fn substitute(&mut self, meant: &Meant) {
        if meant.is_empty() {
            return;
        }
        self.for_each_expr_mut(&mut |expr| replace(expr, meant));
        for subquery in &mut self.subqueries {
            subquery.query.iter_mut().for_each(|query| substitute_in(query, meant));
        }
    }

    /// Every expression over rows of the block.
    fn for_each_expr_mut(&mut self, visit: &mut dyn FnMut(&mut Expr)) {
        self.filter.iter_mut().chain(&mut self.having).chain(&mut self.select).for_each(&mut *visit);
        self.order.iter_mut().for_each(|item| visit(&mut item.expr));
        self.from.iter_mut().for_each(|from| from.for_each_condition_mut(visit));
        if let Some(grouping) = &mut self.grouping {
            grouping.keys.iter_mut().for_each(&mut *visit);
            for aggregate in &mut grouping.aggregates {
                let call = Arc::make_mut(&mut aggregate.call);
                call.args.iter_mut().chain(call.order_by.iter_mut().map(|(expr, _)| expr)).for_each(&mut *visit);
            }
        }
        for subquery in &mut self.subqueries {
            subquery.kind.exprs_mut().iter_mut().chain(&mut subquery.guard).for_each(&mut *visit);
        }
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
        BoundBody::Union(union) => union.branches.iter_mut().for_each(|branch| substitute_in(branch, meant)),
        BoundBody::Values(rows) => rows.iter_mut().flatten().for_each(|expr| replace(expr, meant)),
    }
}

impl FromTree {
    fn for_each_condition_mut(&mut self, visit: &mut dyn FnMut(&mut Expr)) {
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
