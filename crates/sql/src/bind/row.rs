//! Comparisons, of single values and of rows.

use base::SqlError;
use sqlparser::ast as sql;

use crate::bind::Binder;
use crate::bind::expr::{ExprScope, wrong_operands};
use crate::bind::tree::SubqueryKind;
use crate::expr::{CompareOp, Expr, build};

impl<'a> Binder<'a> {
    /// `left op right`
    pub(super) fn bind_comparison(
        &mut self,
        op: CompareOp,
        left: &'a sql::Expr,
        right: &'a sql::Expr,
        scope: ExprScope<'_>,
    ) -> Result<Expr, SqlError> {
        match (as_row(left), as_row(right)) {
            (Some(left), Some(right)) => self.bind_row_comparison(op, left, right, scope),
            (Some(row), None) if let Some(query) = as_query(right) => self.bind_row_of_query(row, op, query, scope),
            (None, Some(row)) if let Some(query) = as_query(left) => {
                self.bind_row_of_query(row, op.mirrored(), query, scope)
            }
            (Some(row), None) => Err(wrong_operands(row.len())),
            (None, Some(_)) => Err(wrong_operands(1)),
            (None, None) if [left, right].into_iter().all(|side| as_query(side).is_some_and(has_columns)) => {
                Err(SqlError::not_supported("comparison of two subqueries with several columns each"))
            }
            (None, None) => {
                let (l, r) = (self.bind_expr(left, scope)?, self.bind_expr(right, scope)?);
                self.describe_compared(&l, &r);
                let l = self.folded_beside_time(l, &r);
                let r = self.folded_beside_time(r, &l);
                self.note_constant((left, right), &l, &r);
                build::compare(op, l, r)
            }
        }
    }

    pub(super) fn bind_row_comparison(
        &mut self,
        op: CompareOp,
        left: &'a [sql::Expr],
        right: &'a [sql::Expr],
        scope: ExprScope<'_>,
    ) -> Result<Expr, SqlError> {
        if left.len() != right.len() {
            return Err(wrong_operands(left.len()));
        }
        let is_row = |(left, right): (&sql::Expr, &sql::Expr)| as_row(left).is_some() || as_row(right).is_some();
        if left.iter().zip(right).any(is_row) {
            return self.bind_nested_rows(op, left, right, scope);
        }
        let mut bind =
            |exprs: &'a [sql::Expr]| exprs.iter().map(|e| self.bind_expr(e, scope)).collect::<Result<Vec<_>, _>>();
        let (lefts, rights) = (bind(left)?, bind(right)?);
        for ((l, r), written) in lefts.iter().zip(&rights).zip(left.iter().zip(right)) {
            self.note_constant(written, l, r);
        }
        build::compare_rows(op, lefts, rights)
    }

    /// Rows with rows in them: equal if all their parts are.
    fn bind_nested_rows(
        &mut self,
        op: CompareOp,
        left: &'a [sql::Expr],
        right: &'a [sql::Expr],
        scope: ExprScope<'_>,
    ) -> Result<Expr, SqlError> {
        let part = match op {
            CompareOp::Eq | CompareOp::NotEq => CompareOp::Eq,
            CompareOp::NullSafeEq => CompareOp::NullSafeEq,
            _ => return Err(SqlError::not_supported("the order of rows with rows in them")),
        };
        let parts = left.iter().zip(right).map(|(left, right)| self.bind_comparison(part, left, right, scope));
        let all = build::and(parts.collect::<Result<Vec<_>, _>>()?);
        Ok(if op == CompareOp::NotEq { build::not(all) } else { all })
    }

    /// `(a, b) op (SELECT …)`, whose rows are one at most.
    fn bind_row_of_query(
        &mut self,
        row: &'a [sql::Expr],
        op: CompareOp,
        query: &'a sql::Query,
        scope: ExprScope<'_>,
    ) -> Result<Expr, SqlError> {
        self.bind_beside_rows(row, op, query, scope, |left, comparison| SubqueryKind::Row { left, comparison })
    }
}

/// The parts of `(a, b)` and `ROW(a, b)`.
pub(crate) fn as_row(expr: &sql::Expr) -> Option<&[sql::Expr]> {
    match expr {
        sql::Expr::Tuple(items) => Some(items),
        sql::Expr::Nested(inner) => match &**inner {
            sql::Expr::Tuple(items) => Some(items),
            _ => None,
        },
        _ => None,
    }
}

fn as_query(expr: &sql::Expr) -> Option<&sql::Query> {
    match expr {
        sql::Expr::Subquery(query) => Some(query),
        sql::Expr::Nested(inner) => as_query(inner),
        _ => None,
    }
}

/// Whether a query selects several columns, by what is written.
fn has_columns(query: &sql::Query) -> bool {
    matches!(&*query.body, sql::SetExpr::Select(select) if select.projection.len() > 1)
}
