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
        let shown = self.grouped.map(|grouped| &grouped.shown);
        match column.as_column().is_some_and(|slot| shown.is_some_and(|shown| shown.contains(&slot))) {
            true => Ok(column),
            false => Err(unknown_column(&name.text(), self.clause.name())),
        }
    }
}
