//! Which columns are equal in the rows that are there, so that nothing is compared that is known.

use std::collections::HashMap;

use crate::bind::columns::ColumnId;
use crate::expr::{CompareOp, Expr, ExprKind};
use crate::plan::conditions::Condition;
use crate::plan::rules::equal_constants::is_one_equality;

/// Classes of columns that conditions which hold have made equal.
#[derive(Debug, Default)]
pub(crate) struct EqualColumns {
    /// To another column of the class, if it is not the class's own.
    of: HashMap<ColumnId, ColumnId>,
}

impl EqualColumns {
    fn class(&self, id: ColumnId) -> ColumnId {
        let mut id = id;
        while let Some(next) = self.of.get(&id) {
            id = *next;
        }
        id
    }

    /// Adds the conditions, which are checked from here on, and gives those that have to be: without those that follow from others.
    pub(crate) fn needed(&mut self, conditions: Vec<Condition>) -> Vec<Condition> {
        let mut needed = Vec::with_capacity(conditions.len());
        for condition in conditions {
            if let Some((left, right)) = columns_of(&condition.expr) {
                let (left, right) = (self.class(left), self.class(right));
                if left == right {
                    continue;
                }
                self.of.insert(left, right);
            }
            needed.push(condition);
        }
        needed
    }
}

/// The columns that a condition makes equal.
fn columns_of(expr: &Expr) -> Option<(ColumnId, ColumnId)> {
    let ExprKind::Compare { op: CompareOp::Eq, args } = &expr.kind else { return None };
    let (left, right) = (args[0].as_column()?, args[1].as_column()?);
    // A column is not equal to itself where it is NULL.
    (left != right && is_one_equality(&args[0].ty, &args[1].ty)).then_some((left, right))
}
