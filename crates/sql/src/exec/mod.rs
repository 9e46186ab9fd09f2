//! The executor: runs a [`Plan`](crate::plan::Plan) in a transaction and gives its rows to a sink.
//!
//! A statement is a tree of [operators](operator) that pull batches of rows from one another; the root's rows go to the sink,
//! which says when it wants to be flushed, so that a slow client slows the scan down and not the memory up. What
//! has to keep rows (sorts, hashes, derived tables) has a budget of memory and goes on in [temporary files](spill).
//!
//! # Invariants
//! - Nothing is planned here: values of parameters and of outer rows only make key ranges of what the plan says.
//! - Every loop over rows asks, at least once per batch, whether the statement was cancelled.

mod aggregate;
pub(crate) mod apply;
pub(crate) mod batch;
pub(crate) mod budget;
mod context;
mod distinct;
pub(crate) mod fast;
pub(crate) mod filter;
mod group;
mod hash_join;
mod image;
mod join;
pub(crate) mod json_table;
mod keys;
pub(crate) mod measured;
pub(crate) mod operator;
mod overflow;
pub(crate) mod query;
pub(crate) mod ranges;
mod recursive;
pub(crate) mod scan;
mod set_operation;
mod sort;
mod source;
pub(crate) mod spill;
mod spill_codec;
mod window;

use base::{SqlError, codes};
use types::Value;

pub use context::{ExecContext, Limits, LoadFrom, MadeRows, NoWaitingFunctions, WaitingFunctions};
pub use spill::{TEMPORARY_DIRECTORY, remove_stale_files};

use crate::exec::batch::{BATCH_ROWS, RowBatch};
use crate::exec::query::QueryRows;
use crate::expr::{EvalContext, Expr, ExprType, Kind, json};
use crate::plan::node::{QueryBody, QueryPlan};
use crate::plan::{Plan, PlanKind};
use crate::result::{Outcome, ResultSink};

/// Runs a planned statement. The session has begun a statement in the transaction, and undoes it after an error.
///
/// [`engine::EngineError::TableChanged`] comes as an error with the code of [`codes::TABLE_DEF_CHANGED`]: nothing was done
/// yet, and the statement may be planned again.
pub async fn execute(
    plan: &Plan,
    context: &mut ExecContext<'_>,
    sink: &mut dyn ResultSink,
) -> Result<Outcome, SqlError> {
    for (table, mode) in &plan.locks {
        context.transaction.lock_table(table, *mode).await?;
    }
    plan.constants.iter().try_for_each(|constant| constant.check(&context.eval))?;
    match &plan.kind {
        PlanKind::Query(query) => {
            if context.select_limit.is_none()
                && let Some(point) = fast::point_select(query)
                && let Some(outcome) = point.run(query, context, sink).await?
            {
                return Ok(outcome);
            }
            run_query(query, context, sink).await
        }
        PlanKind::Insert(insert) => insert.execute(context).await,
        PlanKind::Update(update) => update.execute(context).await,
        PlanKind::Delete(delete) => delete.execute(context).await,
        PlanKind::Load(load) => Box::pin(load.execute(context, sink)).await,
        PlanKind::Do(query) => {
            let mut rows = QueryRows::new(query);
            rows.open(&[]);
            let mut batch = RowBatch::new(query.columns.len());
            while rows.next_batch(context, &mut batch, BATCH_ROWS).await? {
                batch.clear();
                context.check_cancelled().await?;
            }
            Ok(Outcome::default())
        }
        PlanKind::Explain(explain) => Box::pin(explain.execute(plan.columns(), context, sink)).await,
        PlanKind::Rows(rows) => {
            sink.columns(plan.columns())?;
            for row in rows {
                sink.row(row)?;
            }
            Ok(Outcome { has_rows: true, affected_rows: rows.len() as u64, ..Outcome::default() })
        }
    }
}

async fn run_query(
    plan: &QueryPlan,
    context: &mut ExecContext<'_>,
    sink: &mut dyn ResultSink,
) -> Result<Outcome, SqlError> {
    let mut rows = QueryRows::new(plan);
    rows.open(&[]);
    if !plan.into.is_empty() {
        return select_into(plan, rows, context).await;
    }
    // An error of the first rows comes before the columns, so that the client gets it in place of a result set.
    let mut batch = RowBatch::new(plan.columns.len());
    let limit = context.select_limit.unwrap_or(u64::MAX);
    let mut more = rows.next_batch(context, &mut batch, BATCH_ROWS).await?;
    sink.columns(&plan.columns)?;
    let documents = documents_of(plan);
    let mut count = 0;
    loop {
        forget_long(&documents, &mut batch, &context.eval)?;
        for row in batch.iter().take(usize::try_from(limit - count).unwrap_or(usize::MAX)) {
            sink.row(row)?;
            if sink.needs_flush() {
                sink.flush().await?;
            }
        }
        count = limit.min(count + batch.len() as u64);
        if !more || count == limit {
            break;
        }
        batch.clear();
        context.check_cancelled().await?;
        more = rows.next_batch(context, &mut batch, BATCH_ROWS).await?;
    }
    context.found_rows = context.found_rows.max(count);
    Ok(Outcome { has_rows: true, affected_rows: count, ..Outcome::default() })
}

/// The columns of a result that are documents which are made for it.
fn documents_of(plan: &QueryPlan) -> Vec<(usize, &Expr)> {
    let QueryBody::Block(block) = &plan.body else { return Vec::new() };
    block
        .output
        .iter()
        .enumerate()
        .filter(|(_, expr)| expr.ty.kind == Kind::Json && expr.as_column().is_none())
        .collect()
}

/// Documents whose text is longer than a packet are NULL.
fn forget_long(documents: &[(usize, &Expr)], batch: &mut RowBatch, eval: &EvalContext<'_>) -> Result<(), SqlError> {
    for (column, expr) in documents {
        for at in 0..batch.len() {
            if json::is_beyond_packet(expr, &batch.row(at)[*column], eval)? {
                batch.row_mut(at)[*column] = Value::Null;
            }
        }
    }
    Ok(())
}

/// SELECT … INTO @a, @b: no rows leave the variables as they are (1329); more than one is an error (1172) when the first one is in the variables.
async fn select_into(
    plan: &QueryPlan,
    mut rows: QueryRows<'_>,
    context: &mut ExecContext<'_>,
) -> Result<Outcome, SqlError> {
    let mut batch = RowBatch::new(plan.columns.len());
    while rows.next_batch(context, &mut batch, 2).await? && batch.len() < 2 {}
    if batch.is_empty() {
        context.eval.warn(codes::SP_FETCH_NO_DATA, "No data - zero rows fetched, selected, or processed");
        return Ok(Outcome::default());
    }
    let mut variables = context.eval.session.user_variables.lock();
    for ((name, value), ty) in plan.into.iter().zip(batch.row(0)).zip(&plan.types) {
        let variable = crate::expr::json::as_variable(value.clone(), variable_type(ty, value));
        variables.insert(name.to_lowercase(), variable);
    }
    if batch.len() > 1 {
        return Err(SqlError::new(codes::TOO_MANY_ROWS, "Result consisted of more than one row"));
    }
    context.found_rows = 1;
    Ok(Outcome { affected_rows: 1, ..Outcome::default() })
}

fn variable_type(ty: &ExprType, _value: &Value) -> ExprType {
    ExprType { origin: None, nullable: true, ..ty.clone() }
}

#[cfg(test)]
mod tests;
