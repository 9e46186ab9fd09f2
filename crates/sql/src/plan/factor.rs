//! What all branches of an OR ask for alike: `(a = b AND c) OR (a = b AND d)` is `a = b AND (c OR d)`. So it may be a join's condition, or an index's.

use crate::bind::tree::FromTree;
use crate::expr::{Constancy, Expr, ExprKind};

/// Takes what the branches of ORs have in common out of them.
pub(super) fn factor_conditions(conditions: &mut Vec<Expr>) {
    for condition in std::mem::take(conditions) {
        factor(condition, conditions);
    }
}

/// The same for the conditions of joins.
pub(super) fn factor_joins(tree: &mut FromTree) {
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
        let mut rest: Vec<Expr> = parts_of(branch).into_iter().filter(|part| !common.contains(part)).collect();
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
    let mut common: Vec<&Expr> = conjuncts(first).iter().filter(|part| is_repeatable(part)).collect();
    for branch in others {
        common.retain(|part| conjuncts(branch).contains(part));
        if common.is_empty() {
            break;
        }
    }
    common.into_iter().cloned().collect()
}

fn is_repeatable(expr: &Expr) -> bool {
    expr.constancy() != Constancy::Volatile
}

fn conjuncts(expr: &Expr) -> &[Expr] {
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
