//! `WHERE x IN (SELECT y …)` as a join.
//!
//! A row passes if one row of the subquery is equal to it; so the subquery, made distinct, is a table that is joined
//! by `x = y`. The join order then decides whether its rows are looked up in the outer tables by index, or the other way
//! round by hash. Only conjuncts of WHERE become joins (elsewhere FALSE and NULL are different things), and only
//! subqueries that need nothing of the outer row.

use std::sync::Arc;

use base::SqlError;

use crate::bind::frame::SlotSource;
use crate::bind::scope::empty_name;
use crate::bind::tree::{
    Block, BoundBody, BoundQuery, BoundTable, ColumnInfo, FromTree, JoinKind, SubqueryKind, TableSource,
};
use crate::expr::{CompareOp, Expr, ExprType, build};
use crate::plan::conditions::TABLES_MAX;

/// What such a table is called; no statement can write it.
pub(crate) const JOINED_SUBQUERY: &str = "<subquery>";

/// Turns the IN conjuncts of a block's WHERE into joins.
pub(crate) fn join_subqueries(block: &mut Block) -> Result<(), SqlError> {
    let filter = std::mem::take(&mut block.filter);
    for condition in filter {
        match joinable(block, &condition) {
            Some(number) if block.tables.len() < TABLES_MAX => join(block, number)?,
            _ => block.filter.push(condition),
        }
    }
    Ok(())
}

/// The subquery that the condition consists of, if it can be a table.
fn joinable(block: &Block, condition: &Expr) -> Option<usize> {
    let SlotSource::Subquery { index } = block.frame.slots[condition.as_column()?].source else { return None };
    let subquery = &block.subqueries[index];
    let SubqueryKind::Any { equality: true, .. } = subquery.kind else { return None };
    let inner = match &subquery.query.as_ref()?.body {
        BoundBody::Block(inner) => inner,
        _ => return None,
    };
    let unlimited = inner.limit.count.is_none() && inner.limit.offset.is_none();
    (block.from.is_some() && !subquery.correlated && unlimited).then_some(index)
}

fn join(block: &mut Block, number: usize) -> Result<(), SqlError> {
    let subquery = &mut block.subqueries[number];
    let kind = std::mem::replace(&mut subquery.kind, SubqueryKind::Joined);
    let (SubqueryKind::Any { left, .. }, Some(mut query)) = (kind, subquery.query.take()) else {
        return Err(SqlError::unknown("a subquery that is no IN"));
    };
    make_distinct(&mut query);
    let columns = query.columns.iter().zip(&query.types);
    let columns: Vec<ColumnInfo> = columns
        .map(|(column, ty)| ColumnInfo {
            name: column.name.clone(),
            ty: ExprType { utc: false, ..ty.clone() },
            invisible: false,
        })
        .collect();
    let table = block.tables.len();
    let mut on = Vec::with_capacity(left.len());
    for (column, (left, info)) in left.into_iter().zip(&columns).enumerate() {
        let slot = block.frame.slot(SlotSource::Column { table, column }, || info.ty.clone());
        on.push(build::compare(CompareOp::Eq, left, Expr::column(slot, info.ty.clone()))?);
    }
    block.tables.push(BoundTable {
        source: TableSource::Derived(Box::new(query)),
        schema: None,
        name: empty_name(),
        alias: Arc::from(JOINED_SUBQUERY),
        columns,
        outer_joined: false,
        hints: Vec::new(),
        lock: None,
    });
    let left = block.from.take().ok_or_else(|| SqlError::unknown("a join without tables"))?;
    let right = Box::new(FromTree::Table(table));
    block.from = Some(FromTree::Join { left: Box::new(left), right, kind: JoinKind::Inner, on });
    Ok(())
}

fn make_distinct(query: &mut BoundQuery) {
    if let BoundBody::Block(inner) = &mut query.body {
        inner.distinct = true;
        inner.order.clear();
    }
}
