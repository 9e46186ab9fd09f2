//! What never changes is computed now: conditions of WHERE without anything else become TRUE or FALSE, and parts of the conditions of WHERE and ON
//! become literals (`d BETWEEN CAST('1999-02-22' AS DATE) AND …`, `y = 1998 + 1`), so that no row computes them, and what asks for ranges or lists of
//! values sees values.
//!
//! One that fails or warns stays, to do so when it is run, or not if it is never reached. A literal has the type of the expression in whose place it
//! stands. Only numbers and moments are computed that way: a literal of bytes is a hexadecimal one, which is a number beside numbers, and texts stay
//! as they are written.

use base::SqlError;
use types::Value;

use crate::bind::tree::Block;
use crate::expr::{Constancy, EvalContext, Expr, ExprKind, Warnings};
use crate::plan::planning_eval;
use crate::plan::rules::Rewrite;

pub(super) fn apply(block: &mut Block, rewrite: &mut Rewrite<'_>) -> Result<(), SqlError> {
    for condition in &mut block.filter {
        if condition.constancy() == Constancy::Literal {
            let warnings = Warnings::default();
            let eval = planning_eval(rewrite.context, &warnings);
            if let Ok(truth) = condition.eval_truth(&[], &eval)
                && warnings.count() == 0
            {
                *condition = Expr::int((truth == Some(true)).into());
            }
        }
    }
    let warnings = Warnings::default();
    let eval = planning_eval(rewrite.context, &warnings);
    let mut fold = |condition: &mut Expr| _ = fold_parts(condition, &eval);
    block.filter.iter_mut().for_each(&mut fold);
    if let Some(from) = &mut block.from {
        from.for_each_condition_mut(&mut fold);
    }
    Ok(())
}

/// Puts literals in the place of parts without anything that changes; whether the whole is one.
fn fold_parts(expr: &mut Expr, eval: &EvalContext<'_>) -> bool {
    let mut of_literals = true;
    expr.for_each_child_mut(&mut |child| of_literals &= fold_parts(child, eval));
    if matches!(expr.kind, ExprKind::Literal(_)) {
        return true;
    }
    if !of_literals || expr.constancy() != Constancy::Literal || expr.waits() {
        return false;
    }
    let warnings = Warnings::default();
    match expr.eval(&[], &EvalContext { warnings: &warnings, ..*eval }) {
        Ok(value) if warnings.count() == 0 && is_number_or_moment(&value) => {
            expr.kind = ExprKind::Literal(value);
            true
        }
        _ => false,
    }
}

fn is_number_or_moment(value: &Value) -> bool {
    use Value::{Date, DateTime, Decimal, Double, Int, Time, UInt};
    matches!(value, Int(_) | UInt(_) | Decimal(_) | Double(_) | Date(_) | DateTime(_) | Time(_))
}
