//! Conditions without anything that changes become TRUE or FALSE now. One that fails or warns stays, to do so when it is run.

use base::SqlError;

use crate::bind::tree::Block;
use crate::expr::{Constancy, Expr, Warnings};
use crate::plan::planning_eval;
use crate::plan::rules::Rewrite;

pub(super) fn apply(block: &mut Block, rewrite: &mut Rewrite<'_>) -> Result<(), SqlError> {
    for condition in block.filter.iter_mut().filter(|condition| condition.constancy() == Constancy::Literal) {
        let warnings = Warnings::default();
        let eval = planning_eval(rewrite.context, &warnings);
        if let Ok(truth) = condition.eval_truth(&[], &eval)
            && warnings.count() == 0
        {
            *condition = Expr::int((truth == Some(true)).into());
        }
    }
    Ok(())
}
