//! Which order an index gives, and when that saves a sort.

use crate::bind::columns::{ColumnSource, Columns, TableId};
use crate::bind::tree::OrderItem;
use crate::expr::{AggregateFunction, Expr, ExprKind};
use crate::plan::access::{IndexAccess, Interval, PartRange};
use engine::Table;

/// Whether rows read by this access come in the wanted order: `Some(backwards)` if so.
pub(crate) fn gives_order(access: &IndexAccess, table: &Table, order: &[OrderItem], of: Of<'_>) -> Option<bool> {
    let def = &table.def;
    let index = &def.indexes[access.index];
    let tail = if access.index == 0 { &[][..] } else { &def.primary().parts[..] };
    let mut keys = index.parts.iter().chain(tail).peekable();
    let fixed = |column: usize| access.parts.iter().any(|part| part.column == column && is_one_value(part));
    let mut backwards: Option<bool> = None;
    for item in order {
        let column = of.column(&item.expr)?;
        if fixed(column) {
            continue;
        }
        // Parts that have one value do not matter; others have to be the wanted ones, in turn.
        while keys.next_if(|key| fixed(key.column)).is_some() {}
        // All parts are used up: a whole key (with the primary key behind it) names one row of the table, which has one value of the column.
        let Some(key) = keys.next() else { continue };
        // However many intervals and combinations of them there are: they are read in the order of the keys.
        if key.column != column || key.prefix_chars.is_some() {
            return None;
        }
        let turned = key.descending != item.descending;
        if backwards.is_some_and(|known| known != turned) {
            return None;
        }
        backwards = Some(turned);
    }
    Some(backwards.unwrap_or(false))
}

fn is_one_value(part: &PartRange) -> bool {
    part.exact && matches!(part.intervals[..], [Interval::Point(_) | Interval::Null | Interval::NullSafePoint(_)])
}

/// A table of the statement.
#[derive(Clone, Copy)]
pub(crate) struct Of<'c> {
    pub(crate) columns: &'c Columns,
    pub(crate) table: TableId,
}

impl Of<'_> {
    /// The column of the table that an expression is.
    pub(crate) fn column(self, expr: &Expr) -> Option<usize> {
        match self.columns.source(expr.as_column()?) {
            ColumnSource::Column { table, column } if table == self.table => Some(column),
            _ => None,
        }
    }
}

/// MIN or MAX of a column: the order in which the first row with a value is the answer.
pub(crate) fn extreme(aggregate: &crate::expr::Aggregate) -> Option<OrderItem> {
    let descending = match aggregate.function {
        AggregateFunction::Min => false,
        AggregateFunction::Max => true,
        _ => return None,
    };
    match &aggregate.args[..] {
        [arg] if matches!(arg.kind, ExprKind::Column { .. }) => Some(OrderItem { expr: arg.clone(), descending }),
        _ => None,
    }
}

/// GROUP BY keys in some order that the index gives, if it keeps the rows of a group together.
pub(crate) fn groups_together(access: &IndexAccess, table: &Table, keys: &[Expr], of: Of<'_>) -> bool {
    let fixed = |column: usize| access.parts.iter().any(|part| part.column == column && is_one_value(part));
    let mut wanted = Vec::with_capacity(keys.len());
    for key in keys {
        match of.column(key) {
            Some(column) if fixed(column) => {}
            Some(column) => wanted.push((column, key)),
            None => return false,
        }
    }
    let index = &table.def.indexes[access.index];
    let mut order = Vec::with_capacity(wanted.len());
    for part in index.parts.iter().filter(|part| !fixed(part.column)) {
        if wanted.is_empty() {
            break;
        }
        let Some(at) = wanted.iter().position(|(column, _)| *column == part.column) else { return false };
        let (_, key) = wanted.remove(at);
        order.push(OrderItem { expr: key.clone(), descending: part.descending });
    }
    wanted.is_empty() && gives_order(access, table, &order, of).is_some()
}
