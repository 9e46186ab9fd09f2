//! Queries: VALUES, and the LIMIT around any of them.

use base::{SqlError, codes};
use syntax::ast as sql;

use crate::bind::Binder;
use crate::bind::call::is_number_or_param;
use crate::bind::expr::{Clause, ExprScope};
use crate::bind::set_operation::conform;
use crate::bind::tree::{BoundBody, BoundQuery, Limit, RowLock};
use crate::expr::{Expr, ExprType, Kind};

/// What stands around a query's body.
#[derive(Default)]
pub(crate) struct Tail<'a> {
    pub(crate) order: &'a [sql::OrderItem],
    pub(crate) limit: Option<&'a sql::Limit>,
    pub(crate) lock: Option<&'a sql::Lock>,
    pub(crate) into: Option<&'a sql::Into>,
}

impl Tail<'_> {
    fn is_empty(&self) -> bool {
        self.order.is_empty() && self.limit.is_none() && self.lock.is_none() && self.into.is_none()
    }
}

impl<'a> Binder<'a> {
    /// Binds a query in the scopes that are open.
    pub(crate) fn bind_query(&mut self, query: &'a sql::Query) -> Result<BoundQuery, SqlError> {
        self.bind_query_in(query, None)
    }

    /// A query behind whose parentheses there may be a locking clause.
    fn bind_query_in(&mut self, query: &'a sql::Query, lock: Option<&'a sql::Lock>) -> Result<BoundQuery, SqlError> {
        let ctes = self.ctes.len();
        if let Some(with) = &query.with {
            self.add_ctes(with)?;
        }
        if lock.is_some() && !query.locks.is_empty() {
            return Err(locked_twice(query));
        }
        if query.locks.len() > 1 {
            return Err(SqlError::not_supported("more than one locking clause"));
        }
        let tail = Tail {
            order: &query.order_by,
            limit: query.limit.as_ref(),
            lock: query.locks.first().or(lock),
            into: query.into.as_ref(),
        };
        let bound = self.bind_body(&query.body, tail);
        self.ctes.truncate(ctes);
        bound
    }

    pub(super) fn bind_body(&mut self, body: &'a sql::Body, tail: Tail<'a>) -> Result<BoundQuery, SqlError> {
        match body {
            sql::Body::Select(select) => self.bind_select(select, tail),
            sql::Body::Query(query) => {
                let branch = self.bind_query_in(query, tail.lock)?;
                let tail = Tail { lock: None, ..tail };
                if tail.is_empty() { Ok(branch) } else { self.bind_alone(branch, tail) }
            }
            sql::Body::Set(first, branches) => self.bind_set(first, branches, tail),
            sql::Body::Values(rows) => {
                let query = self.bind_values(rows)?;
                if tail.is_empty() { Ok(query) } else { self.bind_alone(query, tail) }
            }
        }
    }

    pub(crate) fn bind_values(&mut self, values: &'a [Vec<sql::Expr>]) -> Result<BoundQuery, SqlError> {
        let mut rows: Vec<Vec<Expr>> = Vec::with_capacity(values.len());
        let mut types: Vec<ExprType> = Vec::new();
        for row in values {
            let row = self.bind_constants(row)?;
            if rows.is_empty() {
                if row.is_empty() {
                    let message = "Each row of a VALUES clause must have at least one column, unless when used as source in an \
                                   INSERT statement.";
                    return Err(SqlError::new(codes::EMPTY_ROW, message));
                }
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
        conform(&mut query, &types, &self.columns)?;
        Ok(query)
    }

    pub(crate) fn bind_limit(&mut self, limit: Option<&'a sql::Limit>) -> Result<Limit, SqlError> {
        let count = limit.map(|limit| &limit.count);
        let offset = limit.and_then(|limit| limit.offset.as_ref());
        let count = count.map(|expr| self.bind_row_count(expr)).transpose()?;
        let offset = offset.map(|expr| self.bind_row_count(expr)).transpose()?;
        Ok(Limit { count, offset })
    }

    pub(crate) fn bind_row_count(&mut self, expr: &'a sql::Expr) -> Result<Expr, SqlError> {
        let bound = self.bind_expr(expr, ExprScope::new(Clause::FieldList))?;
        self.describe_param(&bound, &ExprType::of_kind(Kind::UInt));
        if is_number_or_param(&bound) {
            Ok(bound)
        } else {
            Err(SqlError::new(codes::PARSE_ERROR, format!("LIMIT takes numbers and parameters, not '{expr}'")))
        }
    }

    pub(crate) fn bind_lock(&self, lock: &sql::Lock) -> Result<RowLock, SqlError> {
        let wait = match lock.wait {
            sql::LockWait::Default => engine::LockWait::Wait,
            sql::LockWait::NoWait => engine::LockWait::NoWait,
            sql::LockWait::SkipLocked => engine::LockWait::SkipLocked,
            sql::LockWait::Seconds(_) => return Err(SqlError::not_supported("WAIT in a locking clause")),
        };
        Ok(RowLock { exclusive: lock.exclusive, wait })
    }
}

/// 3569
fn locked_twice(query: &sql::Query) -> SqlError {
    let first = query.as_select().and_then(|select| select.from.first()).map(|table| match table {
        sql::TableRef::Table(factor) => factor.name.name.text.to_string(),
        other => other.to_string(),
    });
    let message = format!("Table {} appears in multiple locking clauses.", first.unwrap_or_default());
    SqlError::new(codes::DUPLICATE_TABLE_LOCK, message)
}

/// `ORDER BY 2`, `GROUP BY 2`: the number.
pub(crate) fn position(expr: &sql::Expr) -> Option<usize> {
    match &expr.kind {
        sql::ExprKind::Literal(sql::Literal::Number(digits)) => digits.parse().ok(),
        _ => None,
    }
}

/// 1136
pub(crate) fn wrong_value_count(row: usize) -> SqlError {
    let message = format!("Column count doesn't match value count at row {row}");
    SqlError::new(codes::WRONG_VALUE_COUNT_ON_ROW, message)
}
