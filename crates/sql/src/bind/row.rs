//! Comparisons, of single values and of rows.

use base::SqlError;
use syntax::ast as sql;

use crate::bind::Binder;
use crate::bind::expr::{ExprScope, wrong_operands};
use crate::bind::tree::SubqueryKind;
use crate::expr::{CompareOp, Expr, Kind, build};

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
                let (lefts, rights) = (self.bind_side(left, scope)?, self.bind_side(right, scope)?);
                build::compare_rows(op, lefts, rights)
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

    /// `value IN (list)`
    pub(super) fn bind_in_list(
        &mut self,
        expr: &'a sql::Expr,
        list: &'a [sql::Expr],
        scope: ExprScope<'_>,
    ) -> Result<Expr, SqlError> {
        if as_row(expr).is_some() || as_query(expr).is_some_and(has_columns) {
            return self.bind_in_rows(expr, list, scope);
        }
        let value = self.bind_expr(expr, scope)?;
        let list = list.iter().map(|item| self.bind_expr(item, scope)).collect::<Result<Vec<_>, _>>()?;
        list.iter().for_each(|item| self.describe_compared(&value, item));
        match <[Expr; 1]>::try_from(list) {
            Ok([item]) => {
                let item = self.folded_beside_time(item, &value);
                self.note_constant_beside(expr, &value, &item);
                match value.ty.kind.is_temporal() || matches!(value.ty.kind, Kind::Float | Kind::Double) {
                    true => build::compare(CompareOp::Eq, value, item),
                    false => build::in_list(value, vec![item]),
                }
            }
            Err(list) => {
                let list = self.listed(expr, &value, list);
                match list.is_empty() {
                    // Nothing equals a list of what is no date: false, or NULL.
                    true => build::compare(CompareOp::NotEq, value.clone(), value),
                    false => build::in_list(value, list),
                }
            }
        }
    }

    /// The same of a row, or of a query that gives one.
    fn bind_in_rows(
        &mut self,
        expr: &'a sql::Expr,
        list: &'a [sql::Expr],
        scope: ExprScope<'_>,
    ) -> Result<Expr, SqlError> {
        let mut any = Vec::with_capacity(list.len());
        match as_row(expr) {
            Some(left) => {
                for item in list {
                    let right = as_row(item).ok_or_else(|| wrong_operands(left.len()))?;
                    any.push(self.bind_row_comparison(CompareOp::Eq, left, right, scope)?);
                }
            }
            None => {
                let left = self.bind_side(expr, scope)?;
                for item in list {
                    any.push(build::compare_rows(CompareOp::Eq, left.clone(), self.bind_side(item, scope)?)?);
                }
            }
        }
        Ok(build::or(any))
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
    match &expr.inner().kind {
        sql::ExprKind::Row(items) => Some(items),
        _ => None,
    }
}

pub(super) fn as_query(expr: &sql::Expr) -> Option<&sql::Query> {
    match &expr.inner().kind {
        sql::ExprKind::Subquery(query) => Some(query),
        _ => None,
    }
}

/// Whether a query selects several columns, by what is written.
fn has_columns(query: &sql::Query) -> bool {
    query.as_select().is_some_and(|select| select.items.len() > 1)
}
