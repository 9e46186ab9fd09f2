//! EXPLAIN as it is executed: a text that is ready, or the statement is run first, its rows thrown away and what its operators did is said.
//!
//! What changes rows is not done: the rows that it would change are found. KILL QUERY and `max_execution_time` end the run but not the
//! statement: what was done until then is shown, with a warning, as in MySQL. Any other error is the statement's.

use std::sync::Arc;

use base::{Cancelled, SqlError, codes};
use types::Value;

use crate::dml::InsertSource;
use crate::exec::ExecContext;
use crate::exec::batch::{BATCH_ROWS, RowBatch};
use crate::exec::measured::Counters;
use crate::exec::query::{BlockRows, QueryRows};
use crate::expr::{ExprType, Kind, TimeLimit};
use crate::plan::PlanKind;
use crate::plan::explain::Printed;
use crate::plan::explain::measure::measure;
use crate::plan::node::{BlockPlan, QueryPlan};
use crate::result::{Outcome, ResultColumn, ResultSink};

/// EXPLAIN whose result is a text.
#[derive(Debug)]
pub(crate) struct ExplainPlan {
    /// The user variable that takes it.
    into: Option<String>,
    says: Says,
}

#[derive(Debug)]
enum Says {
    Ready(String),
    /// What the plan does when it is run, and the statement's text.
    Measured {
        kind: PlanKind,
        counted: Vec<Arc<Counters>>,
        printed: Printed,
        query: String,
    },
}

impl ExplainPlan {
    pub(super) fn ready(text: String, into: Option<String>) -> ExplainPlan {
        ExplainPlan { into, says: Says::Ready(text) }
    }

    pub(super) fn measuring(mut kind: PlanKind, printed: Printed, query: String, into: Option<String>) -> ExplainPlan {
        let counted = measure(&mut kind);
        ExplainPlan { into, says: Says::Measured { kind, counted, printed, query } }
    }

    /// Runs what is to be measured, and gives the text.
    pub(crate) async fn execute(
        &self,
        columns: &[ResultColumn],
        context: &mut ExecContext<'_>,
        sink: &mut dyn ResultSink,
    ) -> Result<Outcome, SqlError> {
        let text = match &self.says {
            Says::Ready(text) => text.clone(),
            Says::Measured { kind, counted, printed, query } => {
                counted.iter().for_each(|counters| counters.reset());
                if let Err(error) = run(kind, context).await {
                    show_interrupted(error, context)?;
                }
                printed.text(kind, Some(query))
            }
        };
        if let Some(name) = &self.into {
            let ty = ExprType { collation: context.eval.session.collation_connection, ..ExprType::of_kind(Kind::Str) };
            context.eval.session.user_variables.lock().insert(name.to_lowercase(), (Value::from(text), ty));
            return Ok(Outcome::default());
        }
        sink.columns(columns)?;
        sink.row(&[Value::from(text)])?;
        Ok(Outcome { has_rows: true, affected_rows: 1, ..Outcome::default() })
    }
}

/// A run that KILL QUERY or `max_execution_time` has ended is shown as far as it came.
fn show_interrupted(error: SqlError, context: &ExecContext<'_>) -> Result<(), SqlError> {
    let is_interrupted = [codes::QUERY_INTERRUPTED.0, codes::QUERY_TIMEOUT.0].contains(&error.code);
    let Some(watch) = context.eval.watch.filter(|_| is_interrupted) else { return Err(error) };
    let of_mariadb = |deadline: &crate::expr::Deadline| {
        deadline.limit == TimeLimit::Statement && watch.clock.monotonic() >= deadline.at
    };
    if watch.deadline.as_ref().is_some_and(of_mariadb) || watch.cancel.check() == Err(Cancelled::Connection) {
        return Err(error);
    }
    context.eval.warn(codes::QUERY_INTERRUPTED, "Query execution was interrupted");
    Ok(())
}

async fn run(kind: &PlanKind, context: &mut ExecContext<'_>) -> Result<(), SqlError> {
    match kind {
        PlanKind::Query(query) => run_query(query, context).await,
        PlanKind::Update(update) => run_block(&update.block, context).await,
        PlanKind::Delete(delete) => run_block(&delete.block, context).await,
        PlanKind::Insert(insert) => match &insert.source {
            InsertSource::Query { plan, .. } => run_query(plan, context).await,
            _ => Ok(()),
        },
        PlanKind::Load(_) | PlanKind::Rows(_) | PlanKind::Do(_) | PlanKind::Explain(_) => Ok(()),
    }
}

/// With the select list, whose subqueries and functions a statement runs as well.
async fn run_query(plan: &QueryPlan, context: &mut ExecContext<'_>) -> Result<(), SqlError> {
    let mut rows = QueryRows::new(plan);
    rows.open(&[]);
    let mut batch = RowBatch::new(plan.columns.len());
    let mut left = context.select_limit.unwrap_or(u64::MAX);
    loop {
        let want = usize::try_from(left).unwrap_or(BATCH_ROWS).min(BATCH_ROWS);
        let more = rows.next_batch(context, &mut batch, want).await?;
        left = left.saturating_sub(batch.len() as u64);
        batch.clear();
        context.check_cancelled().await?;
        if !more || left == 0 {
            return Ok(());
        }
    }
}

async fn run_block(block: &BlockPlan, context: &mut ExecContext<'_>) -> Result<(), SqlError> {
    let mut rows = BlockRows::new(block);
    rows.open(&[]);
    let mut batch = RowBatch::new(block.width);
    while rows.next_frames(context, &mut batch, BATCH_ROWS).await? {
        batch.clear();
        context.check_cancelled().await?;
    }
    Ok(())
}
