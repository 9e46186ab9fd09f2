//! What all branches of an OR ask for alike: `(a = b AND c) OR (a = b AND d)` is `a = b AND (c OR d)`. So it may be a join's condition, or an index's.

use base::SqlError;

use crate::bind::tree::{Block, FromTree};
use crate::expr::{Constancy, Expr, ExprKind};
use crate::plan::rules::Rewrite;

/// So many conjuncts of a branch are looked for in the others, and in so many of theirs: all pairs of long ones would take the square.
const COMMON_MAX: usize = 64;
const PARTS_MAX: usize = 1024;

pub(super) fn apply(block: &mut Block, _: &mut Rewrite<'_>) -> Result<(), SqlError> {
    factor_conditions(&mut block.filter);
    block.from.iter_mut().for_each(factor_joins);
    Ok(())
}

/// Takes what the branches of ORs have in common out of them.
fn factor_conditions(conditions: &mut Vec<Expr>) {
    for condition in std::mem::take(conditions) {
        factor(condition, conditions);
    }
}

/// The same for the conditions of joins.
fn factor_joins(tree: &mut FromTree) {
    if let FromTree::Join { left, right, on, .. } = tree {
        factor_conditions(on);
        factor_joins(left);
        factor_joins(right);
    }
}

fn factor(condition: Expr, conditions: &mut Vec<Expr>) {
    let ExprKind::Or(branches) = &condition.kind else {
        conditions.push(condition);
        return;
    };
    let common = common_parts(branches);
    if common.is_empty() {
        conditions.push(condition);
        return;
    }
    let Expr { kind, ty, .. } = condition;
    let ExprKind::Or(branches) = kind else { return };
    let rests = branches.into_iter().map(|branch| {
        let ty = branch.ty.clone();
        let mut rest: Vec<Expr> = parts_of(branch).into_iter().filter(|part| !has(&common, part)).collect();
        match rest.len() {
            0 => None,
            1 => rest.pop(),
            _ => Some(Expr { kind: ExprKind::And(rest), ty }),
        }
    });
    // A branch of which nothing is left is always true.
    let rests: Option<Vec<Expr>> = rests.collect();
    conditions.extend(common);
    conditions.extend(rests.map(|rests| Expr { kind: ExprKind::Or(rests), ty }));
}

/// The conjuncts that all branches have.
fn common_parts(branches: &[Expr]) -> Vec<Expr> {
    let Some((first, others)) = branches.split_first() else { return Vec::new() };
    let parts = conjuncts(first).iter().take(COMMON_MAX);
    let mut common: Vec<&Expr> = parts.filter(|part| is_repeatable(part)).collect();
    for branch in others {
        let parts = conjuncts(branch);
        common.retain(|part| has(&parts[..parts.len().min(PARTS_MAX)], part));
        if common.is_empty() {
            break;
        }
    }
    common.into_iter().cloned().collect()
}

fn has(parts: &[Expr], wanted: &Expr) -> bool {
    parts.iter().any(|part| part == wanted || is_turned_round(part, wanted))
}

/// Whether one is `a = b` and the other `b = a`.
fn is_turned_round(one: &Expr, other: &Expr) -> bool {
    match (&one.kind, &other.kind) {
        (ExprKind::Compare { op, args, .. }, ExprKind::Compare { op: other_op, args: others, .. }) => {
            *op == other_op.mirrored() && args[0] == others[1] && args[1] == others[0]
        }
        _ => false,
    }
}

fn is_repeatable(expr: &Expr) -> bool {
    expr.constancy() != Constancy::Volatile
}

pub(super) fn conjuncts(expr: &Expr) -> &[Expr] {
    match &expr.kind {
        ExprKind::And(parts) => parts,
        _ => std::slice::from_ref(expr),
    }
}

fn parts_of(expr: Expr) -> Vec<Expr> {
    match expr.kind {
        ExprKind::And(parts) => parts,
        _ => vec![expr],
    }
}
