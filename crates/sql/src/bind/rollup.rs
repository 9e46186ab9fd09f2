//! WITH ROLLUP: each key has a column of its own, which is NULL in the totals over it. What reads the key reads that column.
//!
//! One expression may be several keys (`SELECT a, a AS c … GROUP BY a, c WITH ROLLUP`): a name of the select list that is a key
//! is that key, everything else reads the first key that it is equal to.

use syntax::ast as sql;

use crate::bind::Binder;
use crate::bind::columns::{ColumnSource, Columns};
use crate::bind::query::position;
use crate::bind::scope::ColumnName;
use crate::bind::select::Item;
use crate::expr::window::kept;
use crate::expr::{Expr, ExprKind};

impl Binder<'_> {
    /// Gives the keys their columns, and makes the select list read them. With windows their values are kept in a table, as those of windows.
    pub(super) fn roll_up(&mut self, keys: &[Expr], group_by: &[sql::Expr], items: &mut [Item]) -> Vec<Expr> {
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
        Some(key) => *expr = columns[key].clone(),
        None => expr.for_each_child_mut(&mut |child| read_keys(child, keys, columns)),
    }
}

/// Whether it is a key, and nothing else.
pub(super) fn is_key(expr: &Expr, columns: &Columns) -> bool {
    expr.as_column().is_some_and(|id| columns.source(id) == ColumnSource::Key)
}
