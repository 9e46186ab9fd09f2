//! What HAVING may name.

use base::SqlError;

use crate::bind::expr::{Clause, ExprScope};
use crate::bind::scope::{ColumnName, unknown_column};
use crate::expr::Expr;

impl ExprScope<'_> {
    /// A column of the block's tables; in HAVING one that is neither selected nor grouped by is not known (1054), outside of aggregates.
    pub(super) fn check_shown(&self, column: Expr, name: ColumnName<'_>) -> Result<Expr, SqlError> {
        if self.clause != Clause::Having || self.in_aggregate {
            return Ok(column);
        }
        let is_it = |expr: &Expr| expr.as_column() == column.as_column();
        let is_shown = self.keys.iter().any(is_it) || self.aliases.iter().any(|(_, expr)| is_it(expr));
        match is_shown {
            true => Ok(column),
            false => Err(unknown_column(&name.text(), self.clause.name())),
        }
    }
}
