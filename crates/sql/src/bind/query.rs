//! Queries: WITH, UNION, VALUES, and the ORDER BY and LIMIT around them.

use base::{SqlError, codes};
use sqlparser::ast as sql;

use crate::bind::call::is_number_or_param;
use crate::bind::expr::{Clause, ExprScope};
use crate::bind::frame::{Frame, SlotSource};
use crate::bind::scope::{Scope, unknown_column};
use crate::bind::tree::{BoundBody, BoundQuery, Limit, OrderItem, RowLock, Union};
use crate::bind::{Binder, Cte};
use crate::expr::{CastType, Coercibility, Expr, ExprKind, ExprType, Kind, build};
use types::{ColumnType, Value};

/// What stands around a query's body.
#[derive(Default)]
pub(crate) struct Tail<'a> {
    pub(crate) order: &'a [sql::OrderByExpr],
    pub(crate) limit: Option<&'a sql::LimitClause>,
    pub(crate) lock: Option<&'a sql::LockClause>,
}

impl Tail<'_> {
    fn is_empty(&self) -> bool {
        self.order.is_empty() && self.limit.is_none() && self.lock.is_none()
    }
}

impl<'a> Binder<'a> {
    /// Binds a query in the scopes that are open.
    pub(crate) fn bind_query(&mut self, query: &'a sql::Query) -> Result<BoundQuery, SqlError> {
        let ctes = self.ctes.len();
        if let Some(with) = &query.with {
            self.add_ctes(with)?;
        }
        let order = match &query.order_by {
            None => &[][..],
            Some(sql::OrderBy { kind: sql::OrderByKind::Expressions(items), .. }) => items,
            Some(_) => return Err(SqlError::not_supported("ORDER BY ALL")),
        };
        if query.locks.len() > 1 {
            return Err(SqlError::not_supported("more than one locking clause"));
        }
        let tail = Tail { order, limit: query.limit_clause.as_ref(), lock: query.locks.first() };
        let bound = self.bind_body(&query.body, tail);
        self.ctes.truncate(ctes);
        bound
    }

    fn add_ctes(&mut self, with: &'a sql::With) -> Result<(), SqlError> {
        if with.recursive {
            return Err(SqlError::not_supported("WITH RECURSIVE"));
        }
        for cte in &with.cte_tables {
            let name = cte.alias.name.value.clone();
            let columns = cte.alias.columns.iter().map(|column| column.name.value.clone()).collect();
            let visible = self.ctes.len();
            self.ctes.push(Cte { name, columns, query: &cte.query, visible });
        }
        Ok(())
    }

    fn bind_body(&mut self, body: &'a sql::SetExpr, tail: Tail<'a>) -> Result<BoundQuery, SqlError> {
        match body {
            sql::SetExpr::Select(select) => self.bind_select(select, tail),
            sql::SetExpr::Query(query) if tail.is_empty() => self.bind_query(query),
            sql::SetExpr::Query(query) => {
                let branch = self.bind_query(query)?;
                self.bind_union(vec![branch], None, tail)
            }
            sql::SetExpr::SetOperation { .. } => {
                let (mut branches, mut distinct_until) = (Vec::new(), None);
                self.flatten_union(body, &mut branches, &mut distinct_until)?;
                self.bind_union(branches, distinct_until, tail)
            }
            sql::SetExpr::Values(values) => {
                let query = self.bind_values(values)?;
                if tail.is_empty() { Ok(query) } else { self.bind_union(vec![query], None, tail) }
            }
            other => Err(SqlError::not_supported(other)),
        }
    }

    /// The branches from left to right; a UNION DISTINCT makes all before it distinct too.
    fn flatten_union(
        &mut self,
        body: &'a sql::SetExpr,
        branches: &mut Vec<BoundQuery>,
        distinct_until: &mut Option<usize>,
    ) -> Result<(), SqlError> {
        // The tree leans to the left, and is as deep as there are branches.
        let (mut first, mut others) = (body, Vec::new());
        while let sql::SetExpr::SetOperation { left, op, set_quantifier, right } = first {
            if *op != sql::SetOperator::Union {
                return Err(SqlError::not_supported(op));
            }
            others.push((right, set_quantifier));
            first = left;
        }
        branches.push(self.bind_body(first, Tail::default())?);
        for (branch, set_quantifier) in others.into_iter().rev() {
            branches.push(self.bind_body(branch, Tail::default())?);
            match set_quantifier {
                sql::SetQuantifier::All => {}
                sql::SetQuantifier::None | sql::SetQuantifier::Distinct => *distinct_until = Some(branches.len() - 1),
                other => return Err(SqlError::not_supported(other)),
            }
        }
        Ok(())
    }

    fn bind_union(
        &mut self,
        mut branches: Vec<BoundQuery>,
        distinct_until: Option<usize>,
        tail: Tail<'a>,
    ) -> Result<BoundQuery, SqlError> {
        let mut types = branches[0].types.clone();
        for branch in &branches[1..] {
            if branch.types.len() != types.len() {
                let message = "The used SELECT statements have a different number of columns";
                return Err(SqlError::new(codes::WRONG_NUMBER_OF_COLUMNS_IN_SELECT, message));
            }
            types = types.iter().zip(&branch.types).map(|(a, b)| union_of_columns(a, b)).collect();
        }
        if branches.len() > 1 {
            check_collations(&branches, &types)?;
        }
        for branch in &mut branches {
            conform(branch, &types)?;
        }
        let mut frame = Frame::default();
        for (column, ty) in types.iter().enumerate() {
            frame.slot(SlotSource::Output { column }, || ty.clone());
        }
        let columns: Vec<_> = branches[0].columns.clone();
        let columns: Vec<_> = if branches.len() == 1 {
            columns
        } else {
            columns
                .iter()
                .zip(&types)
                .map(|(column, ty)| crate::bind::output::of_union(column.name.clone(), ty))
                .collect()
        };
        let order = self.bind_union_order(tail.order, &columns, &types)?;
        let limit = self.bind_limit(tail.limit)?;
        let count_found_rows = take_found_rows(&mut branches);
        let union = Union { branches, distinct_until, frame, order, limit, count_found_rows };
        Ok(BoundQuery { body: BoundBody::Union(Box::new(union)), columns, types, into: Vec::new() })
    }

    /// ORDER BY of a UNION names columns of the result.
    fn bind_union_order(
        &mut self,
        items: &'a [sql::OrderByExpr],
        columns: &[crate::result::ResultColumn],
        types: &[ExprType],
    ) -> Result<Vec<OrderItem>, SqlError> {
        let names: Vec<(String, Expr)> = columns
            .iter()
            .zip(types)
            .enumerate()
            .map(|(slot, (column, ty))| (column.name.to_string(), Expr::column(slot, ty.clone())))
            .collect();
        let mut order = Vec::with_capacity(items.len());
        for item in items {
            let expr = match position(&item.expr) {
                Some(number) => names
                    .get(number.wrapping_sub(1))
                    .map(|(_, expr)| expr.clone())
                    .ok_or_else(|| unknown_column(&number.to_string(), Clause::OrderBy.name()))?,
                None => {
                    self.scopes.push(Scope { barrier: true, ..Scope::default() });
                    let scope = ExprScope { aggregates: false, ..ExprScope::of_groups(Clause::OrderBy, &names) };
                    let bound = self.bind_expr(&item.expr, scope);
                    let left = self.scopes.pop().unwrap_or_default();
                    if !left.subqueries.is_empty() {
                        return Err(SqlError::not_supported("subqueries in the ORDER BY of a UNION"));
                    }
                    bound?
                }
            };
            order.push(OrderItem { expr, descending: is_descending(item)? });
        }
        Ok(order)
    }

    pub(crate) fn bind_values(&mut self, values: &'a sql::Values) -> Result<BoundQuery, SqlError> {
        let mut rows: Vec<Vec<Expr>> = Vec::with_capacity(values.rows.len());
        let mut types: Vec<ExprType> = Vec::new();
        for row in &values.rows {
            let exprs: &'a [sql::Expr] = row;
            let row = self.bind_constants(exprs)?;
            if rows.is_empty() {
                types = row.iter().map(|expr| expr.ty.clone()).collect();
            } else if row.len() != types.len() {
                return Err(wrong_value_count(rows.len() + 1));
            } else {
                types = types.iter().zip(&row).map(|(a, b)| a.union(&b.ty)).collect();
            }
            rows.push(row);
        }
        let columns = types
            .iter()
            .enumerate()
            .map(|(at, ty)| crate::bind::output::unnamed(format!("column_{at}").into(), ty))
            .collect();
        let mut query = BoundQuery { body: BoundBody::Values(rows), columns, types: types.clone(), into: Vec::new() };
        conform(&mut query, &types)?;
        Ok(query)
    }

    pub(crate) fn bind_limit(&mut self, limit: Option<&'a sql::LimitClause>) -> Result<Limit, SqlError> {
        let (count, offset) = match limit {
            None => (None, None),
            Some(sql::LimitClause::OffsetCommaLimit { offset, limit }) => (Some(limit), Some(offset)),
            Some(sql::LimitClause::LimitOffset { limit, offset, .. }) => {
                (limit.as_ref(), offset.as_ref().map(|offset| &offset.value))
            }
        };
        let count = count.map(|expr| self.bind_row_count(expr)).transpose()?;
        let offset = offset.map(|expr| self.bind_row_count(expr)).transpose()?;
        Ok(Limit { count, offset })
    }

    pub(crate) fn bind_row_count(&mut self, expr: &'a sql::Expr) -> Result<Expr, SqlError> {
        let bound = self.bind_expr(expr, ExprScope::new(Clause::FieldList))?;
        if is_number_or_param(&bound) {
            Ok(bound)
        } else {
            Err(SqlError::new(codes::PARSE_ERROR, format!("LIMIT takes numbers and parameters, not '{expr}'")))
        }
    }

    pub(crate) fn bind_lock(&self, lock: &sql::LockClause) -> RowLock {
        let wait = match lock.nonblock {
            None => engine::LockWait::Wait,
            Some(sql::NonBlock::Nowait) => engine::LockWait::NoWait,
            Some(sql::NonBlock::SkipLocked) => engine::LockWait::SkipLocked,
        };
        RowLock { exclusive: lock.lock_type == sql::LockType::Update, wait }
    }
}

/// SQL_CALC_FOUND_ROWS of the first branch is about the whole result.
fn take_found_rows(branches: &mut [BoundQuery]) -> bool {
    match &mut branches[0].body {
        BoundBody::Block(block) => std::mem::take(&mut block.count_found_rows),
        BoundBody::Union(union) => std::mem::take(&mut union.count_found_rows),
        BoundBody::Values(_) => false,
    }
}

/// The type of a UNION's column. Members of ENUM and SET are plain text in it, and in the order of text, but beside NULL.
fn union_of_columns(a: &ExprType, b: &ExprType) -> ExprType {
    let ty = a.union(b);
    let is_null = |ty: &ExprType| ty.kind == Kind::Null;
    match ty.origin {
        Some(ColumnType::Enum { .. } | ColumnType::Set { .. }) if !is_null(a) && !is_null(b) => {
            ExprType { origin: None, ..ty }
        }
        _ => ty,
    }
}

/// `ORDER BY 2`, `GROUP BY 2`: the number.
pub(crate) fn position(expr: &sql::Expr) -> Option<usize> {
    match expr {
        sql::Expr::Value(value) => match &value.value {
            sql::Value::Number(digits, _) => digits.parse().ok(),
            _ => None,
        },
        _ => None,
    }
}

pub(crate) fn is_descending(item: &sql::OrderByExpr) -> Result<bool, SqlError> {
    if item.options.nulls_first.is_some() {
        return Err(SqlError::not_supported("NULLS FIRST and NULLS LAST"));
    }
    match &item.options.sort {
        None | Some(sql::OrderBySort::Asc) => Ok(false),
        Some(sql::OrderBySort::Desc) => Ok(true),
        Some(sql::OrderBySort::Using(_)) => Err(SqlError::not_supported("ORDER BY … USING")),
    }
}

/// 1136
pub(crate) fn wrong_value_count(row: usize) -> SqlError {
    let message = format!("Column count doesn't match value count at row {row}");
    SqlError::new(codes::WRONG_VALUE_COUNT_ON_ROW, message)
}

/// 1267 or 1271 if columns of branches have collations that do not go together.
fn check_collations(branches: &[BoundQuery], types: &[ExprType]) -> Result<(), SqlError> {
    for (column, ty) in types.iter().enumerate() {
        let all: Vec<&ExprType> = branches.iter().map(|branch| &branch.types[column]).collect();
        build::agree(&all, "UNION", build::Mixed::Allowed)?;
        // A branch that has settled for none by itself may stand beside NULL.
        let texts = all.iter().filter(|ty| ty.kind.is_string()).count();
        if ty.kind == Kind::Str && ty.coercibility == Coercibility::None && texts > 1 {
            let message = "Illegal mix of collations for operation 'UNION'";
            return Err(SqlError::new(codes::CANT_AGGREGATE_NCOLLATIONS, message));
        }
    }
    Ok(())
}

/// Makes a branch's values those of the result's types.
fn conform(query: &mut BoundQuery, types: &[ExprType]) -> Result<(), SqlError> {
    match &mut query.body {
        BoundBody::Block(block) => conform_row(&mut block.select, types)?,
        BoundBody::Union(union) => union.branches.iter_mut().try_for_each(|branch| conform(branch, types))?,
        BoundBody::Values(rows) => rows.iter_mut().try_for_each(|row| conform_row(row, types))?,
    }
    query.types = types.to_vec();
    Ok(())
}

fn conform_row(row: &mut [Expr], types: &[ExprType]) -> Result<(), SqlError> {
    for (expr, ty) in row.iter_mut().zip(types) {
        if let Some(to) = needed_cast(&expr.ty, ty)
            && !matches!(expr.kind, ExprKind::Literal(Value::Null))
        {
            let plain = std::mem::replace(expr, Expr::null());
            *expr = build::cast(plain, to, ty.collation)?;
        }
    }
    Ok(())
}

/// The cast that makes values of one type those of another, if one is needed.
fn needed_cast(from: &ExprType, to: &ExprType) -> Option<CastType> {
    let same_scale = from.kind == to.kind && (from.kind != Kind::Decimal || from.decimals == to.decimals);
    if same_scale || from.kind == Kind::Null || from.kind == Kind::Any {
        return None;
    }
    Some(match to.kind {
        Kind::Null | Kind::Any => return None,
        Kind::Json => CastType::Json,
        Kind::Int => CastType::Signed,
        Kind::UInt => CastType::Unsigned,
        Kind::Float => CastType::Float,
        Kind::Double => CastType::Double,
        Kind::Decimal => CastType::Decimal { precision: to.length.clamp(1, 65) as u8, scale: to.decimals.min(30) },
        Kind::Str => CastType::Char { chars: None },
        Kind::Bytes => CastType::Binary { bytes: None },
        Kind::Date => CastType::Date,
        Kind::Time => CastType::Time { fsp: to.decimals.min(6) },
        Kind::DateTime => CastType::DateTime { fsp: to.decimals.min(6) },
    })
}
