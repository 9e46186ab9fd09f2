//! Queries: WITH, the branches of a UNION, VALUES, and the LIMIT around them.

use base::{SqlError, codes};
use sqlparser::ast as sql;

use crate::bind::call::is_number_or_param;
use crate::bind::expr::{Clause, ExprScope};
use crate::bind::tree::{BoundBody, BoundQuery, Limit, RowLock};
use crate::bind::union::conform;
use crate::bind::{Binder, Cte};
use crate::expr::{Expr, ExprType, Kind};

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
        self.bind_query_in(query, None)
    }

    /// A query behind whose parentheses there may be a locking clause.
    fn bind_query_in(
        &mut self,
        query: &'a sql::Query,
        lock: Option<&'a sql::LockClause>,
    ) -> Result<BoundQuery, SqlError> {
        let ctes = self.ctes.len();
        if let Some(with) = &query.with {
            self.add_ctes(with)?;
        }
        let order = match &query.order_by {
            None => &[][..],
            Some(sql::OrderBy { kind: sql::OrderByKind::Expressions(items), .. }) => items,
            Some(_) => return Err(SqlError::not_supported("ORDER BY ALL")),
        };
        if lock.is_some() && !query.locks.is_empty() {
            return Err(locked_twice(query));
        }
        if query.locks.len() > 1 {
            return Err(SqlError::not_supported("more than one locking clause"));
        }
        let tail = Tail { order, limit: query.limit_clause.as_ref(), lock: query.locks.first().or(lock) };
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
            sql::SetExpr::Query(query) => {
                let branch = self.bind_query_in(query, tail.lock)?;
                let tail = Tail { lock: None, ..tail };
                if tail.is_empty() { Ok(branch) } else { self.bind_union(vec![branch], None, tail) }
            }
            sql::SetExpr::SetOperation { .. } => {
                let (mut branches, mut distinct_until) = (Vec::new(), None);
                self.flatten_union(body, tail.lock, &mut branches, &mut distinct_until)?;
                self.bind_union(branches, distinct_until, Tail { lock: None, ..tail })
            }
            sql::SetExpr::Values(values) => {
                let query = self.bind_values(values)?;
                if tail.is_empty() { Ok(query) } else { self.bind_union(vec![query], None, tail) }
            }
            other => Err(SqlError::not_supported(other)),
        }
    }

    /// The branches from left to right; a UNION DISTINCT makes all before it distinct too. A locking clause at the end is the last one's.
    fn flatten_union(
        &mut self,
        body: &'a sql::SetExpr,
        lock: Option<&'a sql::LockClause>,
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
        for (at, (branch, set_quantifier)) in others.into_iter().enumerate().rev() {
            let lock = lock.filter(|_| at == 0);
            branches.push(self.bind_body(branch, Tail { lock, ..Tail::default() })?);
            match set_quantifier {
                sql::SetQuantifier::All => {}
                sql::SetQuantifier::None | sql::SetQuantifier::Distinct => *distinct_until = Some(branches.len() - 1),
                other => return Err(SqlError::not_supported(other)),
            }
        }
        Ok(())
    }

    pub(crate) fn bind_values(&mut self, values: &'a sql::Values) -> Result<BoundQuery, SqlError> {
        let mut rows: Vec<Vec<Expr>> = Vec::with_capacity(values.rows.len());
        let mut types: Vec<ExprType> = Vec::new();
        for row in &values.rows {
            let exprs: &'a [sql::Expr] = row;
            let row = self.bind_constants(exprs)?;
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
        self.describe_param(&bound, &ExprType::of_kind(Kind::UInt));
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

/// 3569
fn locked_twice(query: &sql::Query) -> SqlError {
    let first = match &*query.body {
        sql::SetExpr::Select(select) => select.from.first().map(|table| table.relation.to_string()),
        _ => None,
    };
    let message = format!("Table {} appears in multiple locking clauses.", first.unwrap_or_default());
    SqlError::new(codes::DUPLICATE_TABLE_LOCK, message)
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
