//! Runs queries: blocks, unions, rows of VALUES.

use base::SqlError;
use io::BoxFuture;
use types::Value;

use crate::bind::tree::Limit;
use crate::exec::apply::SubqueryRun;
use crate::exec::batch::RowBatch;
use crate::exec::context::ExecContext;
use crate::exec::distinct::DistinctRows;
use crate::exec::filter::LimitRows;
use crate::exec::operator::{BoxedOperator, Operator, build};
use crate::exec::sort::SortRows;
use crate::expr::{Expr, ExprKind, SlotSet};
use crate::plan::node::{BlockPlan, QueryBody, QueryPlan, UnionPlan};

/// A sort that has to give all rows.
static NO_LIMIT: Limit = Limit { count: None, offset: None };

/// The rows of a query.
pub(crate) enum QueryRows<'p> {
    Block(Box<BlockRows<'p>>),
    Union(BoxedOperator<'p>),
    Values { rows: &'p [Vec<Expr>], at: usize },
}

impl<'p> QueryRows<'p> {
    pub(crate) fn new(plan: &'p QueryPlan) -> Self {
        match &plan.body {
            QueryBody::Block(block) => QueryRows::Block(Box::new(BlockRows::new(block))),
            QueryBody::Union(union) => QueryRows::Union(union_rows(union)),
            QueryBody::Values(rows) => QueryRows::Values { rows, at: 0 },
        }
    }

    /// Starts anew. `parent` is a row of the enclosing block.
    pub(crate) fn open(&mut self, parent: &[Value]) {
        match self {
            QueryRows::Block(block) => block.open(parent),
            QueryRows::Union(operator) => operator.open(parent),
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
            QueryRows::Union(operator) => operator.next_batch(context, out, want),
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

fn union_rows(plan: &UnionPlan) -> BoxedOperator<'_> {
    let width = plan.distinct_keys.len();
    let part = |from: usize, to: usize| -> BoxedOperator<'_> {
        let input = |query| -> BoxedOperator<'_> { Box::new(QueryRows::new(query)) };
        Box::new(Chain { inputs: plan.branches[from..to].iter().map(input).collect(), at: 0 })
    };
    let mut rows = match plan.distinct_until {
        None => part(0, plan.branches.len()),
        Some(last) => {
            let distinct = Box::new(DistinctRows::new(part(0, last + 1), &plan.distinct_keys, width));
            let rest = part(last + 1, plan.branches.len());
            Box::new(Chain { inputs: vec![distinct, rest], at: 0 })
        }
    };
    if !plan.order.is_empty() {
        let kept = if plan.count_found_rows { &NO_LIMIT } else { &plan.limit };
        rows = Box::new(SortRows::new(rows, &plan.order, kept, width));
    }
    if !plan.limit.is_none() {
        rows = Box::new(LimitRows::new(rows, &plan.limit, plan.count_found_rows));
    }
    rows
}

/// Inputs one after the other: the branches of a UNION.
struct Chain<'p> {
    inputs: Vec<BoxedOperator<'p>>,
    at: usize,
}

impl Operator for Chain<'_> {
    fn open(&mut self, seed: &[Value]) {
        for input in &mut self.inputs {
            input.open(seed);
        }
        self.at = 0;
    }

    fn next_batch<'a>(
        &'a mut self,
        context: &'a mut ExecContext<'_>,
        out: &'a mut RowBatch,
        want: usize,
    ) -> BoxFuture<'a, Result<bool, SqlError>> {
        Box::pin(async move {
            let Some(input) = self.inputs.get_mut(self.at) else { return Ok(false) };
            if !input.next_batch(context, out, want).await? {
                self.at += 1;
            }
            Ok(self.at < self.inputs.len())
        })
    }
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
