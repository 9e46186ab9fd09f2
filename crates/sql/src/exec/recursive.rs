//! Recursive common table expressions.
//!
//! ```text
//!   seed ──> rows of round 0 ──┐
//!      ┌───────────────────────┘
//!      └─> steps read the rows of the last round ──> rows of the next ──┐
//!               ^────────────── until one gives none ───────────────────┘
//! ```
//! Rows are given as they come, so a LIMIT above ends it. A step's values become the columns' as if they were inserted into a table.

use std::sync::Arc;

use base::{SqlError, codes, memory};
use io::BoxFuture;
use types::Value;

use crate::bind::tree::Recursion;
use crate::exec::batch::{BATCH_ROWS, RowBatch};
use crate::exec::context::ExecContext;
use crate::exec::distinct::group_key;
use crate::exec::keys::KeySet;
use crate::exec::operator::Operator;
use crate::exec::query::QueryRows;
use crate::exec::spill::RowStore;
use crate::expr::{EvalContext, Expr, Strictness, Warnings, convert_for_column};
use crate::plan::node::{BlockPlan, Node, PlannedSource, QueryBody, QueryPlan, SetPlan};

/// Bytes that a row that was given takes beside its key, if no row is given twice.
const KEY_BYTES: u64 = 48;

/// The rows of a recursive common table expression.
pub(crate) struct RecursiveRows<'p> {
    recursion: &'p Recursion,
    seed: QueryRows<'p>,
    steps: Vec<Step<'p>>,
    keys: &'p [Expr],
    parent: Vec<Value>,
    /// Which step is read; `None` is the seed.
    at: Option<usize>,
    round: u64,
    /// What this round has given so far.
    given: RowStore,
    seen: KeySet,
    /// Rows of a step so far, for messages.
    row_number: u64,
    /// What `at` says was read to its end.
    is_read: bool,
}

/// One of the queries that read the last round.
struct Step<'p> {
    plan: &'p QueryPlan,
    rows: QueryRows<'p>,
    /// Its operators keep nothing of a round.
    is_reusable: bool,
}

impl<'p> RecursiveRows<'p> {
    pub(crate) fn new(plan: &'p SetPlan, recursion: &'p Recursion) -> Self {
        let step = |plan| Step { plan, rows: QueryRows::new(plan), is_reusable: !keeps_round(plan) };
        RecursiveRows {
            recursion,
            seed: QueryRows::new(&plan.branches[0]),
            steps: plan.branches[1..].iter().map(step).collect(),
            keys: &plan.distinct_keys,
            parent: Vec::new(),
            at: None,
            round: 0,
            given: RowStore::new(plan.distinct_keys.len(), 0),
            seen: KeySet::default(),
            row_number: 0,
            is_read: false,
        }
    }

    /// Reads rows of the seed or a step; whether it has more.
    async fn read(
        &mut self,
        context: &mut ExecContext<'_>,
        batch: &mut RowBatch,
        want: usize,
    ) -> Result<bool, SqlError> {
        let Some(at) = self.at else { return self.seed.next_batch(context, batch, want).await };
        let mut raw = RowBatch::new(self.keys.len());
        let more = self.steps[at].rows.next_batch(context, &mut raw, want).await?;
        let strictness = Strictness::of(false, &context.eval);
        // MySQL says nothing of text that it cuts off here.
        let quiet = Warnings::default();
        let of_text = EvalContext { warnings: &quiet, ..context.eval };
        for number in 0..raw.len() {
            self.row_number += 1;
            for (value, column) in raw.row_mut(number).iter_mut().zip(&self.recursion.columns) {
                let (own, eval) =
                    (std::mem::take(value), if column.ty.has_charset() { &of_text } else { &context.eval });
                *value = convert_for_column(own, column, strictness, self.row_number, eval)?;
            }
            batch.push(raw.row(number));
        }
        Ok(more)
    }

    /// Whether a row comes for the first time, if that matters.
    fn is_new(&mut self, row: &[Value], context: &ExecContext<'_>) -> Result<bool, SqlError> {
        if !self.recursion.is_distinct {
            return Ok(true);
        }
        let mut key = Vec::with_capacity(32);
        group_key(self.keys, row, context, &mut key)?;
        memory::check_more(key.len() as u64 + KEY_BYTES)?;
        Ok(self.seen.insert(&key))
    }

    /// Goes on to the next step, or round; `false` if the last round has given no rows.
    fn go_on(&mut self, context: &mut ExecContext<'_>) -> Result<bool, SqlError> {
        let next = self.at.map_or(self.steps.len(), |at| at + 1);
        if next < self.steps.len() {
            self.begin_step(next);
            return Ok(true);
        }
        let budget = context.limits.table_bytes;
        let rows = std::mem::replace(&mut self.given, RowStore::new(self.keys.len(), budget));
        if rows.len() == 0 {
            context.ctes.0.remove(&self.recursion.rows);
            return Ok(false);
        }
        self.round += 1;
        if self.round > context.limits.rounds {
            return Err(too_many_rounds(self.round));
        }
        context.ctes.0.insert(self.recursion.rows, Arc::new(rows));
        self.begin_step(0);
        Ok(true)
    }

    fn begin_step(&mut self, number: usize) {
        self.at = Some(number);
        self.row_number = 0;
        let step = &mut self.steps[number];
        if !step.is_reusable {
            step.rows = QueryRows::new(step.plan);
        }
        step.rows.open(&self.parent);
    }
}

/// 3636
fn too_many_rounds(round: u64) -> SqlError {
    let message = format!(
        "Recursive query aborted after {round} iterations. Try increasing @@cte_max_recursion_depth to a larger value."
    );
    SqlError::new(codes::CTE_MAX_RECURSION_DEPTH, message)
}

/// Whether a join keeps rows of a round as those of its inner side, which it would take for the same in the next round.
fn keeps_round(plan: &QueryPlan) -> bool {
    match &plan.body {
        QueryBody::Block(block) => has_inner_round(&block.root, block, false),
        QueryBody::Set(_) | QueryBody::Values(_) => true,
    }
}

fn has_inner_round(node: &Node, block: &BlockPlan, is_inner: bool) -> bool {
    match node {
        Node::Access(access) => is_inner && matches!(block.tables[access.table].source, PlannedSource::Round(..)),
        Node::Join(join) => has_inner_round(&join.outer, block, is_inner) || has_inner_round(&join.inner, block, true),
        node => node.inputs().any(|input| has_inner_round(input, block, is_inner)),
    }
}

impl Operator for RecursiveRows<'_> {
    fn open(&mut self, seed: &[Value]) {
        self.parent = seed.to_vec();
        self.seed.open(seed);
        self.at = None;
        self.round = 0;
        self.given = RowStore::new(self.keys.len(), 0);
        self.seen.clear();
        self.is_read = false;
    }

    fn next_batch<'a>(
        &'a mut self,
        context: &'a mut ExecContext<'_>,
        out: &'a mut RowBatch,
        want: usize,
    ) -> BoxFuture<'a, Result<bool, SqlError>> {
        Box::pin(async move {
            context.check_cancelled().await?;
            if self.is_read && !self.go_on(context)? {
                return Ok(false);
            }
            let mut batch = RowBatch::new(self.keys.len());
            let more = self.read(context, &mut batch, want.min(BATCH_ROWS)).await?;
            for row in batch.iter() {
                if self.is_new(row, context)? {
                    self.given.push(context.env, row).await?;
                    out.push(row);
                }
            }
            self.is_read = !more;
            Ok(true)
        })
    }
}
