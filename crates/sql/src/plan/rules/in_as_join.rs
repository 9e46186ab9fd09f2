//! `WHERE x IN (SELECT y …)` as a join.
//!
//! A row passes if one row of the subquery is equal to it; so the subquery, made distinct, is a table that is joined
//! by `x = y`. The join order then decides whether its rows are looked up in the outer tables by index, or the other way
//! round by hash. Only conjuncts of WHERE become joins (elsewhere FALSE and NULL are different things), and only
//! subqueries that need nothing of the outer row.

use std::collections::HashMap;

use base::SqlError;
use types::CollationId;

use crate::bind::columns::{ColumnId, Columns, TableId};
use crate::bind::from::unnamed_table;
use crate::bind::tree::{
    Block, BoundBody, BoundQuery, BoundTable, ColumnInfo, FromTree, JoinKind, SubqueryKind, TableSource,
};
use crate::expr::{CastType, CompareOp, Expr, ExprType, Kind, build, order};
use crate::plan::conditions::TABLES_MAX;
use crate::plan::rules::Rewrite;
use crate::result::ResultColumn;

/// What such a table is called; no statement can write it.
pub(crate) const JOINED_SUBQUERY: &str = "<subquery>";

pub(super) fn apply(block: &mut Block, rewrite: &mut Rewrite<'_>) -> Result<(), SqlError> {
    let columns = &mut *rewrite.columns;
    let filter = std::mem::take(&mut block.filter);
    let places = block.subquery_places();
    for condition in filter {
        match joinable(block, &condition, &places) {
            Some(number) if block.tables.len() < TABLES_MAX => join(block, number, columns)?,
            _ => block.filter.push(condition),
        }
    }
    Ok(())
}

/// The subquery that the condition consists of, if it can be a table.
fn joinable(block: &Block, condition: &Expr, places: &HashMap<ColumnId, usize>) -> Option<usize> {
    let index = *places.get(&condition.as_column()?)?;
    let subquery = &block.subqueries[index];
    let SubqueryKind::Any { left, equality: true, .. } = &subquery.kind else { return None };
    let query = subquery.query.as_ref()?;
    let inner = match &query.body {
        BoundBody::Block(inner) if !inner.hints.stays_subquery => inner,
        _ => return None,
    };
    let usable = |(left, right): (&Expr, &ExprType)| match distinct_as(&left.ty, right) {
        Some(DistinctAs::Own) => true,
        // HAVING reads what the select list gives.
        Some(DistinctAs::Double) => inner.having.is_empty(),
        None => false,
    };
    let all = left.iter().zip(&query.types).all(usable);
    (block.from.is_some() && !subquery.correlated && inner.limit.is_none() && all).then_some(index)
}

/// Whether the values of the type `right` that are equal to one of `left` are those that are not distinct.
pub(super) fn is_distinct_as_it_is(left: &ExprType, right: &ExprType) -> bool {
    matches!(distinct_as(left, right), Some(DistinctAs::Own))
}

/// As what the values of a subquery are distinct if and only if no other value is equal to two of them.
enum DistinctAs {
    /// As they are.
    Own,
    Double,
}

/// How to make values of the type `right` distinct for `left = right`; `None` if there is no way.
fn distinct_as(left: &ExprType, right: &ExprType) -> Option<DistinctAs> {
    use Kind::{Bytes, Decimal, Double, Float, Int, Str, UInt};
    if order::is_member_list(right) {
        return None;
    }
    let Some(comparison) = order::comparison(left, right) else {
        let as_doubles = matches!(
            (left.kind, right.kind),
            (Int | UInt | Decimal | Float | Double, Str) | (Str, Int | UInt | Decimal | Float | Double)
        );
        return as_doubles.then_some(DistinctAs::Double);
    };
    let own = match comparison.kind {
        Double => return Some(if matches!(right.kind, Float | Double) { DistinctAs::Own } else { DistinctAs::Double }),
        Str => comparison.collation == right.collation,
        Bytes => right.kind == Bytes,
        _ => true,
    };
    own.then_some(DistinctAs::Own)
}

fn join(block: &mut Block, number: usize, numbers: &mut Columns) -> Result<(), SqlError> {
    let subquery = &mut block.subqueries[number];
    let kind = std::mem::replace(&mut subquery.kind, SubqueryKind::Joined);
    let (SubqueryKind::Any { left, .. }, Some(mut query)) = (kind, subquery.query.take()) else {
        return Err(SqlError::unknown("a subquery that is no IN"));
    };
    make_distinct(&mut query, &left)?;
    let (columns, id) = (columns_of(&query), numbers.add_table());
    let mut on = Vec::with_capacity(left.len());
    for (column, (left, info)) in left.into_iter().zip(&columns).enumerate() {
        let column = numbers.of((id, column), 0, || info.ty.clone());
        on.push(build::compare(CompareOp::Eq, left, Expr::column(column, info.ty.clone()))?);
    }
    join_subquery(block, (id, query, columns), on)
}

/// The columns of a subquery as those of a table.
pub(super) fn columns_of(query: &BoundQuery) -> Vec<ColumnInfo> {
    let column = |(column, ty): (&ResultColumn, &ExprType)| ColumnInfo {
        name: column.name.clone(),
        ty: ExprType { utc: false, ..ty.clone() },
        invisible: false,
    };
    query.columns.iter().zip(&query.types).map(column).collect()
}

/// Joins a subquery to a block as one more table.
pub(super) fn join_subquery(
    block: &mut Block,
    (id, query, columns): (TableId, BoundQuery, Vec<ColumnInfo>),
    on: Vec<Expr>,
) -> Result<(), SqlError> {
    let left = block.from.take().ok_or_else(|| SqlError::unknown("a join without tables"))?;
    let right = Box::new(FromTree::Table(block.tables.len()));
    let source = TableSource::Derived(Box::new(query));
    block.tables.push(BoundTable { id, source, ..unnamed_table("", JOINED_SUBQUERY, columns) });
    block.from = Some(FromTree::Join { left: Box::new(left), right, kind: JoinKind::Inner, on });
    Ok(())
}

/// Makes the subquery's rows distinct, as the comparison with `left` sees them.
fn make_distinct(query: &mut BoundQuery, left: &[Expr]) -> Result<(), SqlError> {
    let BoundBody::Block(inner) = &mut query.body else { return Ok(()) };
    for ((left, ty), value) in left.iter().zip(&mut query.types).zip(&mut inner.select) {
        if let Some(DistinctAs::Double) = distinct_as(&left.ty, ty) {
            *value = build::cast(value.clone(), CastType::Double, CollationId::BINARY)?;
            *ty = value.ty.clone();
        }
    }
    inner.distinct = true;
    inner.order.clear();
    Ok(())
}
