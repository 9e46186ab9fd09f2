//! Runs queries: blocks, set operations, rows of VALUES.

use base::SqlError;
use io::BoxFuture;
use types::Value;

use crate::exec::apply::SubqueryRun;
use crate::exec::batch::RowBatch;
use crate::exec::context::ExecContext;
use crate::exec::measured::MeasuredRows;
use crate::exec::operator::{BoxedOperator, Operator, build};
use crate::exec::set_operation::set_rows;
use crate::expr::{Expr, ExprKind, SlotSet};
use crate::plan::node::{BlockPlan, QueryBody, QueryPlan};

/// The rows of a query.
pub(crate) enum QueryRows<'p> {
    Block(Box<BlockRows<'p>>),
    /// A set operation, or a query that is measured.
    Set(BoxedOperator<'p>),
    Values {
        rows: &'p [Vec<Expr>],
        at: usize,
    },
}

impl<'p> QueryRows<'p> {
    pub(crate) fn new(plan: &'p QueryPlan) -> Self {
        let rows = QueryRows::of_body(plan);
        match &plan.counters {
            Some(counters) => QueryRows::Set(Box::new(MeasuredRows::new(Box::new(rows), counters))),
            None => rows,
        }
    }

    fn of_body(plan: &'p QueryPlan) -> Self {
        match &plan.body {
            QueryBody::Block(block) => QueryRows::Block(Box::new(BlockRows::new(block))),
            QueryBody::Set(set) => QueryRows::Set(set_rows(set)),
            QueryBody::Values(rows) => QueryRows::Values { rows, at: 0 },
        }
    }

    /// Starts anew. `parent` is a row of the enclosing block.
    pub(crate) fn open(&mut self, parent: &[Value]) {
        match self {
            QueryRows::Block(block) => block.open(parent),
            QueryRows::Set(operator) => operator.open(parent),
            QueryRows::Values { at, .. } => *at = 0,
        }
    }

    /// Adds at most `want` rows of the result; `false` if there will be no more.
    pub(crate) fn next_batch<'a>(
        &'a mut self,
        context: &'a mut ExecContext<'_>,
        out: &'a mut RowBatch,
        want: usize,
    ) -> BoxFuture<'a, Result<bool, SqlError>> {
        match self {
            QueryRows::Block(block) => Box::pin(block.next_batch(context, out, want)),
            QueryRows::Set(operator) => operator.next_batch(context, out, want),
            QueryRows::Values { rows, at } => Box::pin(async move {
                for row in rows.iter().skip(*at).take(want) {
                    *at += 1;
                    let mut values = Vec::with_capacity(row.len());
                    for expr in row {
                        values.push(expr.eval(&[], &context.eval)?);
                    }
                    out.push_owned(&mut values);
                }
                Ok(*at < rows.len())
            }),
        }
    }
}

/// The rows of one block.
pub(crate) struct BlockRows<'p> {
    block: &'p BlockPlan,
    root: BoxedOperator<'p>,
    constants: Vec<SubqueryRun<'p>>,
    seed: Vec<Value>,
    is_open: bool,
    frames: RowBatch,
    /// The select list, if it is nothing but columns, each once: their values need not be copied.
    moves: Option<Vec<usize>>,
}

impl<'p> BlockRows<'p> {
    pub(crate) fn new(block: &'p BlockPlan) -> Self {
        BlockRows {
            block,
            root: build(block, &block.root),
            constants: block.constants.iter().map(|&number| SubqueryRun::new(&block.subqueries[number])).collect(),
            seed: Vec::new(),
            is_open: false,
            frames: RowBatch::new(block.width),
            moves: plain_columns(&block.output),
        }
    }

    pub(crate) fn open(&mut self, parent: &[Value]) {
        self.seed.clear();
        self.seed.resize(self.block.width, Value::Null);
        for &(there, here) in &self.block.outer {
            self.seed[here] = parent[there].clone();
        }
        self.is_open = false;
    }

    /// Runs the subqueries whose results are the same for all rows.
    async fn prepare(&mut self, context: &mut ExecContext<'_>) -> Result<(), SqlError> {
        for run in &mut self.constants {
            let value = run.value(&self.seed, context).await?;
            self.seed[run.slot()] = value;
        }
        self.root.open(&self.seed);
        self.is_open = true;
        Ok(())
    }

    /// Adds rows of the frame, before the select list.
    pub(crate) async fn next_frames(
        &mut self,
        context: &mut ExecContext<'_>,
        out: &mut RowBatch,
        want: usize,
    ) -> Result<bool, SqlError> {
        if !self.is_open {
            self.prepare(context).await?;
        }
        self.root.next_batch(context, out, want).await
    }

    pub(crate) async fn next_batch(
        &mut self,
        context: &mut ExecContext<'_>,
        out: &mut RowBatch,
        want: usize,
    ) -> Result<bool, SqlError> {
        if !self.is_open {
            self.prepare(context).await?;
        }
        self.frames.clear();
        let more = self.root.next_batch(context, &mut self.frames, want).await?;
        let mut values = Vec::with_capacity(self.block.output.len());
        if let Some(slots) = &self.moves {
            for number in 0..self.frames.len() {
                let frame = self.frames.row_mut(number);
                values.extend(slots.iter().map(|&slot| std::mem::take(&mut frame[slot])));
                out.push_owned(&mut values);
            }
            return Ok(more);
        }
        for frame in self.frames.iter() {
            for expr in &self.block.output {
                values.push(expr.eval(frame, &context.eval)?);
            }
            out.push_owned(&mut values);
        }
        Ok(more)
    }
}

/// The slots of expressions that are all different columns as they are stored.
fn plain_columns(output: &[Expr]) -> Option<Vec<usize>> {
    let mut slots = SlotSet::default();
    for expr in output {
        match expr.kind {
            ExprKind::Column { slot, utc: false } if slots.insert(slot) => {}
            _ => return None,
        }
    }
    Some(slots.into_vec())
}

impl Operator for QueryRows<'_> {
    fn open(&mut self, seed: &[Value]) {
        QueryRows::open(self, seed);
    }

    fn next_batch<'a>(
        &'a mut self,
        context: &'a mut ExecContext<'_>,
        out: &'a mut RowBatch,
        want: usize,
    ) -> BoxFuture<'a, Result<bool, SqlError>> {
        QueryRows::next_batch(self, context, out, want)
    }
}
