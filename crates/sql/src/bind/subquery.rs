//! Subqueries in expressions: each becomes a column of the block that it stands in.

use base::SqlError;
use syntax::ast as sql;

use crate::bind::Binder;
use crate::bind::columns::{ColumnSource, Columns};
use crate::bind::expr::{Clause, ExprScope, wrong_operands};
use crate::bind::row::{as_query, as_row};
use crate::bind::scope::Scope;
use crate::bind::tree::{BoundBody, BoundQuery, SubqueryKind};
use crate::expr::{CompareOp, Expr, ExprKind, ExprType, Kind, build, year_beside_column};
use types::Value;

impl<'a> Binder<'a> {
    /// A query in FROM, whose names may mean columns of so many of the outermost blocks.
    pub(crate) fn bind_in_from(&mut self, query: &'a sql::Query, sees: usize) -> Result<BoundQuery, SqlError> {
        self.scopes.push(Scope { sees: Some(sees), ..Scope::default() });
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
        let correlated = bound.has_outer();
        Ok((bound, correlated))
    }

    pub(crate) fn bind_scalar_subquery(&mut self, query: &'a sql::Query) -> Result<Expr, SqlError> {
        let (bound, correlated) = self.bind_inner(query)?;
        match bound.types.len() {
            1 => Ok(self.value_of_query(bound, correlated)),
            _ => Err(wrong_operands(1)),
        }
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
        let left_parts = self.bind_side(left, scope)?;
        let equality = op == if all { CompareOp::NotEq } else { CompareOp::Eq };
        if left_parts.len() > 1 && !equality {
            return Err(wrong_operands(1));
        }
        let (values, bound, correlated) = self.bind_beside(left_parts, query, scope)?;
        // Where the order of values is asked for, MySQL does so only if NULL is as good as FALSE.
        let is_replaced = matches!(op, CompareOp::Eq | CompareOp::NotEq) || scope.clause != Clause::FieldList;
        if let (true, [value], Some(right)) = (is_replaced, &values[..], lone_value(&bound)) {
            return self.compare_beside(left, value.clone(), op, right);
        }
        self.compare_with_rows(values, op, bound, correlated, |left, comparison| match all {
            true => SubqueryKind::All { left, comparison, equality },
            false => SubqueryKind::Any { left, comparison, equality },
        })
    }

    /// `written op value`, where the value is that of a subquery.
    fn compare_beside(
        &mut self,
        written: &'a sql::Expr,
        left: Expr,
        op: CompareOp,
        value: Expr,
    ) -> Result<Expr, SqlError> {
        self.describe_compared(&left, &value);
        let value = self.folded_beside_time(value, &left);
        self.note_constant_beside(written, &left, &value);
        build::compare(op, left, value)
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
        let (left, bound, correlated) = self.bind_beside(left, query, scope)?;
        self.compare_with_rows(left, op, bound, correlated, kind)
    }

    /// The values of one side of a comparison: of a row, of a query with several columns, or one alone.
    pub(super) fn bind_side(&mut self, side: &'a sql::Expr, scope: ExprScope<'_>) -> Result<Vec<Expr>, SqlError> {
        match (as_row(side), as_query(side)) {
            (Some(parts), _) => parts.iter().map(|part| self.bind_expr(part, scope)).collect(),
            (None, Some(query)) => self.bind_query_as_row(query, scope),
            (None, None) => Ok(vec![self.bind_expr(side, scope)?]),
        }
    }

    /// The row of a query that gives one at most: each value is that of a query of its own, which selects nothing else.
    fn bind_query_as_row(&mut self, query: &'a sql::Query, scope: ExprScope<'_>) -> Result<Vec<Expr>, SqlError> {
        let mut row = Vec::new();
        loop {
            self.scope().place = scope.place();
            let (mut bound, correlated) = self.bind_inner(query)?;
            let (count, at) = (bound.types.len(), row.len());
            if count > 1 {
                self.expand_cte()?;
                bound.select_only(at)?;
            }
            row.push(self.value_of_query(bound, correlated));
            if row.len() == count {
                return Ok(row);
            }
        }
    }

    /// What a query of one column gives.
    fn value_of_query(&mut self, bound: BoundQuery, correlated: bool) -> Expr {
        if let Some(value) = lone_value(&bound) {
            return value;
        }
        let ty = bound.types.first().cloned().unwrap_or_else(|| ExprType::of_kind(Kind::Null));
        let ty = ExprType { nullable: true, utc: false, ..ty }.passed_on();
        self.add_subquery(Some(bound), SubqueryKind::Scalar, ty, correlated)
    }

    /// Values, and a query of as many columns; and whether it uses columns of this block.
    fn bind_beside(
        &mut self,
        left: Vec<Expr>,
        query: &'a sql::Query,
        scope: ExprScope<'_>,
    ) -> Result<(Vec<Expr>, BoundQuery, bool), SqlError> {
        self.scope().place = scope.place();
        let (bound, correlated) = self.bind_inner(query)?;
        if bound.types.len() != left.len() {
            return Err(wrong_operands(left.len()));
        }
        Ok((left, bound, correlated))
    }

    fn compare_with_rows(
        &mut self,
        left: Vec<Expr>,
        op: CompareOp,
        mut bound: BoundQuery,
        correlated: bool,
        kind: impl FnOnce(Vec<Expr>, Expr) -> SubqueryKind,
    ) -> Result<Expr, SqlError> {
        count_literals(&mut bound, &left);
        let columns = &self.columns;
        let beside = |(at, value): (usize, Expr)| match is_column(&bound, at, columns) {
            true => year_beside_column(value, &bound.types[at]),
            false => value,
        };
        let left: Vec<Expr> = left.into_iter().enumerate().map(beside).collect();
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
}

/// Whether a query gives a column there as it is.
fn is_column(query: &BoundQuery, at: usize, columns: &Columns) -> bool {
    match &query.body {
        BoundBody::Block(block) => {
            let is_made = |id| matches!(columns.source(id), ColumnSource::Aggregate | ColumnSource::Window);
            let is_given = |id| !is_made(id) || block.outer.contains(id);
            block.select[at].as_column().is_some_and(is_given)
        }
        BoundBody::Set(set) => set.branches.iter().all(|branch| is_column(branch, at, columns)),
        BoundBody::Values(_) => false,
    }
}

/// What a query gives that is nothing but a value, which then stands in its place: `(SELECT 99)` is 99, and `(SELECT a)` of a column around it that
/// column, as in MySQL.
fn lone_value(query: &BoundQuery) -> Option<Expr> {
    let BoundBody::Block(block) = &query.body else { return None };
    let [value] = &block.select[..] else { return None };
    let gives_its_row = match (&block.limit.count, &block.limit.offset) {
        (None, None) => true,
        (Some(count), None) => matches!(count.kind, ExprKind::Literal(Value::Int(1..))),
        _ => false,
    };
    let has_conditions = !block.filter.is_empty() || !block.having.is_empty() || !block.gives_rows_of_tables();
    let is_alone = block.tables.is_empty() && block.subqueries.is_empty() && query.into.is_empty();
    if !is_alone || !gives_its_row || has_conditions {
        return None;
    }
    value.slots().iter().all(|id| block.outer.contains(id)).then(|| value.clone())
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
