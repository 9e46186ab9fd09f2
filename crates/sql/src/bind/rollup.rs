//! WITH ROLLUP: each key has a column of its own, which is NULL in the totals over it. What reads the key reads that column.
//!
//! One expression may be several keys (`SELECT a, a AS c … GROUP BY a, c WITH ROLLUP`): a name of the select list that is a key
//! is that key, everything else reads the first key that it is equal to.

use std::sync::Arc;

use base::{SqlError, codes};
use syntax::ast as sql;

use crate::bind::Binder;
use crate::bind::columns::{ColumnId, ColumnSource, Columns};
use crate::bind::enclosing::misplaced;
use crate::bind::expr::{Clause, ExprScope};
use crate::bind::query::position;
use crate::bind::scope::ColumnName;
use crate::bind::select::{Item, no_key};
use crate::expr::window::kept;
use crate::expr::{Expr, ExprKind, ExprType, Kind, function};

/// GROUPING has one bit for each argument.
const GROUPING_MAX: usize = 64;

/// GROUP BY: the keys, as they were written, and whether it says WITH ROLLUP.
pub(super) type Rollup<'k> = (&'k [Expr], &'k [sql::Expr], bool);

impl<'a> Binder<'a> {
    /// GROUPING, of which keys is known when the select list is bound.
    pub(super) fn bind_grouping(&mut self, args: &'a [sql::Expr], scope: ExprScope<'_>) -> Result<Expr, SqlError> {
        if args.len() > GROUPING_MAX {
            let message =
                format!("Too many arguments for function GROUPING: {}; maximum allowed is {GROUPING_MAX}.", args.len());
            return Err(SqlError::new(codes::TOO_MANY_ARGUMENTS, message));
        }
        if scope.clause == Clause::GroupBy {
            return Err(no_key("GROUPING function"));
        }
        if !self.scope().has_group_by || !(scope.aggregates || scope.in_aggregate) {
            return Err(misplaced());
        }
        if args.iter().any(|arg| position(arg).is_some()) {
            return Err(SqlError::new(codes::WRONG_ARGUMENTS, "Incorrect arguments to GROUPING function"));
        }
        self.scope().calls_grouping = true;
        // Columns come before the names of the select list here, in ORDER BY too.
        let clause = if scope.clause == Clause::OrderBy { Clause::FieldList } else { scope.clause };
        let scope = ExprScope { clause, ..scope };
        let args = args.iter().map(|arg| self.bind_expr(arg, scope)).collect::<Result<Vec<_>, _>>()?;
        Ok(function::grouping_of(args))
    }

    /// Makes HAVING and ORDER BY read the columns of the keys, which are these if there is WITH ROLLUP.
    pub(super) fn read_groups<'e>(
        &mut self,
        exprs: impl Iterator<Item = &'e mut Expr>,
        keys: &[Expr],
        columns: Option<&[Expr]>,
    ) -> Result<(), SqlError> {
        for expr in exprs {
            self.resolve_grouping(expr, keys, columns)?;
            if let Some(columns) = columns {
                read_keys(expr, keys, columns);
            }
        }
        if self.scope().calls_grouping {
            self.resolve_grouping_elsewhere(keys, columns)?;
        }
        self.read_groups_in_windows(keys, columns)
    }

    /// GROUPING in what subqueries and aggregates read. A row of an aggregate's is grouped by all keys.
    fn resolve_grouping_elsewhere(&mut self, keys: &[Expr], columns: Option<&[Expr]>) -> Result<(), SqlError> {
        let mut subqueries = std::mem::take(&mut self.scope().subqueries);
        for subquery in &mut subqueries {
            for expr in subquery.kind.exprs_mut().iter_mut().chain(&mut subquery.guard) {
                self.resolve_grouping(expr, keys, columns)?;
            }
        }
        self.scope().subqueries = subqueries;
        let mut aggregates = std::mem::take(&mut self.scope().aggregates);
        for aggregate in &mut aggregates {
            let call = Arc::make_mut(&mut aggregate.call);
            for expr in call.args.iter_mut().chain(call.order_by.iter_mut().map(|(expr, _)| expr)) {
                self.resolve_grouping(expr, keys, None)?;
            }
        }
        self.scope().aggregates = aggregates;
        Ok(())
    }

    /// Finds the keys of each GROUPING in an expression (3602). Without WITH ROLLUP all rows are grouped by all keys.
    fn resolve_grouping(&mut self, expr: &mut Expr, keys: &[Expr], columns: Option<&[Expr]>) -> Result<(), SqlError> {
        if !self.scope().calls_grouping {
            return Ok(());
        }
        let Some(args) = function::is_grouping_of(expr) else {
            let mut result = Ok(());
            expr.for_each_child_mut(&mut |child| {
                if result.is_ok() {
                    result = self.resolve_grouping(child, keys, columns);
                }
            });
            return result;
        };
        let mut numbers = Vec::with_capacity(args.len());
        for (number, arg) in args.iter().enumerate() {
            let of_key = |columns: &[Expr]| columns.iter().position(|key| arg.as_column() == key.as_column());
            let key = keys.iter().position(|key| key == arg).or_else(|| columns.and_then(of_key));
            numbers.push(key.ok_or_else(|| no_grouped(number + 1))?);
        }
        let ty = ExprType::of_kind(Kind::Int).nullable(columns.is_some() || expr.ty.nullable);
        *expr = match columns {
            Some(_) => function::grouping(Expr::column(self.grouped_id(), ty), &numbers),
            None => Expr { ty, ..Expr::int(0) },
        };
        Ok(())
    }

    /// The column that says by how many keys a row is grouped.
    fn grouped_id(&mut self) -> ColumnId {
        if let Some(known) = self.scope().grouped {
            return known;
        }
        let id = self.add_column(ColumnSource::Key, ExprType::of_kind(Kind::Int));
        *self.scope().grouped.insert(id)
    }

    /// With ROLLUP gives the keys their columns, and makes the select list read them.
    pub(super) fn roll_up(
        &mut self,
        (keys, group_by, is_rollup): Rollup<'_>,
        items: &mut [Item],
    ) -> Result<Option<Vec<Expr>>, SqlError> {
        let columns = is_rollup.then_some(&[][..]);
        for item in &mut *items {
            self.resolve_grouping(&mut item.expr, keys, columns)?;
        }
        Ok(is_rollup.then(|| self.give_columns(keys, group_by, items)))
    }

    /// With windows the keys' values are kept in a table, as those of windows.
    fn give_columns(&mut self, keys: &[Expr], group_by: &[sql::Expr], items: &mut [Item]) -> Vec<Expr> {
        let named = self.named_items(group_by, items);
        let is_kept = !self.scope().windows.is_empty();
        let mut column = |key: &Expr| {
            let ty = key.ty.clone().nullable(true);
            let ty = if is_kept { kept(ty) } else { ty };
            let id = self.add_column(ColumnSource::Key, ty.clone());
            // A TIMESTAMP in it is in the session's time zone already.
            Expr { kind: ExprKind::Column { slot: id, utc: false }, ty }
        };
        let columns: Vec<Expr> = keys.iter().map(&mut column).collect();
        for (number, item) in items.iter_mut().enumerate() {
            match named.iter().position(|named| *named == Some(number)) {
                Some(key) => item.expr = columns[key].clone(),
                None => read_keys(&mut item.expr, keys, &columns),
            }
        }
        columns
    }

    /// The same in what windows are over and sort by.
    fn read_groups_in_windows(&mut self, keys: &[Expr], columns: Option<&[Expr]>) -> Result<(), SqlError> {
        let (mut windows, mut result) = (std::mem::take(&mut self.scope().windows), Ok(()));
        for window in &mut windows {
            window.for_each_expr_mut(&mut |expr| {
                if result.is_ok() {
                    result = self.resolve_grouping(expr, keys, columns);
                }
                if let Some(columns) = columns {
                    read_keys(expr, keys, columns);
                }
            });
        }
        self.scope().windows = windows;
        result
    }

    /// For each key, which of the select list's items it is by name or by number.
    fn named_items(&mut self, group_by: &[sql::Expr], items: &[Item]) -> Vec<Option<usize>> {
        let scope = self.scope();
        let named = |expr: &sql::Expr| match (position(expr), &expr.kind) {
            (Some(number), _) => number.checked_sub(1),
            (None, sql::ExprKind::Column(path)) if path.table.is_none() => {
                let name = path.name.as_str();
                let as_column = scope.find(ColumnName { schema: None, table: None, column: name }, "group statement");
                let is_named = |item: &Item| types::schema::same_name(&item.name, name);
                items.iter().position(is_named).filter(|_| matches!(as_column, Ok(None)))
            }
            _ => None,
        };
        group_by.iter().map(named).collect()
    }
}

/// Makes an expression over groups read the columns of the keys that are in it.
pub(super) fn read_keys(expr: &mut Expr, keys: &[Expr], columns: &[Expr]) {
    match keys.iter().position(|key| key == expr) {
        _ if function::is_grouping(expr) => {}
        Some(key) => *expr = columns[key].clone(),
        None => expr.for_each_child_mut(&mut |child| read_keys(child, keys, columns)),
    }
}

/// Whether it is a key, and nothing else.
pub(super) fn is_key(expr: &Expr, columns: &Columns) -> bool {
    expr.as_column().is_some_and(|id| columns.source(id) == ColumnSource::Key)
}

/// Whether GROUPING is called in it.
pub(super) fn has_grouping(expr: &Expr) -> bool {
    let mut found = function::is_grouping_of(expr).is_some();
    expr.for_each_child(&mut |child| found |= has_grouping(child));
    found
}

/// 3602
fn no_grouped(argument: usize) -> SqlError {
    let message = format!("Argument #{argument} of GROUPING function is not in GROUP BY");
    SqlError::new(codes::FIELD_IN_GROUPING_NOT_GROUP_BY, message)
}
