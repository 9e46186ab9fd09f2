//! Subqueries in expressions: each becomes a slot of the block that it stands in.

use base::SqlError;
use sqlparser::ast as sql;

use crate::bind::Binder;
use crate::bind::expr::{ExprScope, compare_op, wrong_operands};
use crate::bind::row::as_row;
use crate::bind::scope::Scope;
use crate::bind::tree::{BoundBody, BoundQuery, SubqueryKind};
use crate::expr::{CompareOp, Expr, ExprKind, ExprType, Kind, build};
use types::Value;

impl<'a> Binder<'a> {
    /// A query that sees no columns around it.
    pub(crate) fn bind_isolated(&mut self, query: &'a sql::Query) -> Result<BoundQuery, SqlError> {
        self.scopes.push(Scope { barrier: true, ..Scope::default() });
        let depth = self.scopes.len();
        let bound = self.bind_query(query);
        self.scopes.truncate(depth - 1);
        bound
    }

    /// A query in an expression of the innermost block, and whether it uses columns of that block (or beyond).
    pub(super) fn bind_inner(&mut self, query: &'a sql::Query) -> Result<(BoundQuery, bool), SqlError> {
        let depth = self.scopes.len();
        let bound = self.bind_query(query);
        self.scopes.truncate(depth);
        let bound = bound?;
        let correlated = has_outer(&bound);
        Ok((bound, correlated))
    }

    pub(crate) fn bind_scalar_subquery(&mut self, query: &'a sql::Query) -> Result<Expr, SqlError> {
        let (bound, correlated) = self.bind_inner(query)?;
        let [ty] = &bound.types[..] else { return Err(wrong_operands(1)) };
        let ty = ExprType { nullable: true, utc: false, ..ty.clone() }.passed_on();
        Ok(self.add_subquery(Some(bound), SubqueryKind::Scalar, ty, correlated))
    }

    pub(crate) fn bind_exists(&mut self, query: &'a sql::Query) -> Result<Expr, SqlError> {
        let (bound, correlated) = self.bind_inner(query)?;
        let ty = ExprType { nullable: false, length: 1, ..ExprType::of_kind(Kind::Int) };
        Ok(self.add_subquery(Some(bound), SubqueryKind::Exists, ty, correlated))
    }

    /// `left op ANY (query)` and `left op ALL (query)`; IN and NOT IN are `= ANY` and `<> ALL`.
    pub(crate) fn bind_quantified(
        &mut self,
        left: &'a sql::Expr,
        op: CompareOp,
        all: bool,
        query: &'a sql::Query,
        scope: ExprScope<'_>,
    ) -> Result<Expr, SqlError> {
        let parts = as_row(left).unwrap_or(std::slice::from_ref(left));
        let equality = op == if all { CompareOp::NotEq } else { CompareOp::Eq };
        if parts.len() > 1 && !equality {
            return Err(wrong_operands(1));
        }
        self.bind_beside_rows(parts, op, query, scope, |left, comparison| match all {
            true => SubqueryKind::All { left, comparison, equality },
            false => SubqueryKind::Any { left, comparison, equality },
        })
    }

    /// Values beside the rows of a query, of which `kind` makes what is asked of their comparison.
    pub(super) fn bind_beside_rows(
        &mut self,
        left: &'a [sql::Expr],
        op: CompareOp,
        query: &'a sql::Query,
        scope: ExprScope<'_>,
        kind: impl FnOnce(Vec<Expr>, Expr) -> SubqueryKind,
    ) -> Result<Expr, SqlError> {
        let left = left.iter().map(|part| self.bind_expr(part, scope)).collect::<Result<Vec<_>, _>>()?;
        self.scope().place = scope.place();
        let (mut bound, correlated) = self.bind_inner(query)?;
        if bound.types.len() != left.len() {
            return Err(wrong_operands(left.len()));
        }
        count_literals(&mut bound, &left);
        // The comparison is over a row of the left side's values and then the subquery's.
        let column = |slot: usize, ty: &ExprType| Expr::column(slot, ExprType { utc: false, ..ty.clone() });
        let count = left.len();
        let lefts: Vec<Expr> = left.iter().enumerate().map(|(at, expr)| column(at, &expr.ty)).collect();
        let rights: Vec<Expr> = bound.types.iter().enumerate().map(|(at, ty)| column(count + at, ty)).collect();
        let comparison = match (<[Expr; 1]>::try_from(lefts), <[Expr; 1]>::try_from(rights)) {
            (Ok([l]), Ok([r])) => build::compare(op, l, r)?,
            (Err(lefts), Err(rights)) => build::compare_rows(op, lefts, rights)?,
            _ => return Err(wrong_operands(count)),
        };
        let ty = ExprType { nullable: true, length: 1, ..ExprType::of_kind(Kind::Int) };
        Ok(self.add_subquery(Some(bound), kind(left, comparison), ty, correlated))
    }

    pub(crate) fn bind_any_all(
        &mut self,
        left: &'a sql::Expr,
        op: &'a sql::BinaryOperator,
        right: &'a sql::Expr,
        all: bool,
        scope: ExprScope<'_>,
    ) -> Result<Expr, SqlError> {
        let op = compare_op(op).ok_or_else(|| SqlError::not_supported(op))?;
        match right {
            sql::Expr::Subquery(query) => self.bind_quantified(left, op, all, query, scope),
            sql::Expr::Nested(inner) => self.bind_any_all_nested(left, op, inner, all, scope),
            other => Err(SqlError::not_supported(other)),
        }
    }

    fn bind_any_all_nested(
        &mut self,
        left: &'a sql::Expr,
        op: CompareOp,
        right: &'a sql::Expr,
        all: bool,
        scope: ExprScope<'_>,
    ) -> Result<Expr, SqlError> {
        match right {
            sql::Expr::Subquery(query) => self.bind_quantified(left, op, all, query, scope),
            other => Err(SqlError::not_supported(other)),
        }
    }
}

/// A bit or hexadecimal literal of a select list is a number beside one.
fn count_literals(query: &mut BoundQuery, left: &[Expr]) {
    let BoundBody::Block(block) = &mut query.body else { return };
    for ((left, selected), ty) in left.iter().zip(&mut block.select).zip(&mut query.types) {
        if left.ty.kind.is_numeric() && matches!(selected.kind, ExprKind::Literal(Value::Bytes(_))) {
            *selected = build::numeric_arg(std::mem::replace(selected, Expr::null()));
            *ty = selected.ty.clone();
        }
    }
}

/// Whether a query uses slots of the block around it.
fn has_outer(query: &BoundQuery) -> bool {
    match &query.body {
        BoundBody::Block(block) => !block.frame.outer_slots().is_empty(),
        BoundBody::Union(union) => union.branches.iter().any(has_outer),
        BoundBody::Values(_) => false,
    }
}
