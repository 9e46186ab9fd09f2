//! Subqueries: runs them for a row and puts their results into slots.
//!
//! A subquery is run when its result is first needed and kept for as long as the values that it takes from the enclosing
//! row stay the same: for ever if it takes none. One for `IN` without such values keeps its rows in a hash.

use std::time::Duration;

use base::{SqlError, codes};
use io::BoxFuture;
use types::Value;

use crate::bind::tree::SubqueryKind;
use crate::exec::batch::{BATCH_ROWS, RowBatch};
use crate::exec::context::ExecContext;
use crate::exec::keys::KeySet;
use crate::exec::operator::{BoxedOperator, Operator};
use crate::exec::query::QueryRows;
use crate::exec::spill::{ReadPosition, RowStore};
use crate::expr::order::Comparison;
use crate::expr::{EvalContext, Expr, Warnings, build};
use crate::plan::node::{BlockPlan, QueryBody, QueryPlan, SubqueryPlan};

/// Runs subqueries per row.
pub(crate) struct ApplySubqueries<'p> {
    input: BoxedOperator<'p>,
    runs: Vec<SubqueryRun<'p>>,
}

impl<'p> ApplySubqueries<'p> {
    pub(crate) fn new(input: BoxedOperator<'p>, block: &'p BlockPlan, subqueries: &[usize]) -> Self {
        let runs = subqueries.iter().map(|&number| SubqueryRun::new(&block.subqueries[number])).collect();
        ApplySubqueries { input, runs }
    }
}

impl Operator for ApplySubqueries<'_> {
    fn open(&mut self, seed: &[Value]) {
        self.input.open(seed);
    }

    fn next_batch<'a>(
        &'a mut self,
        context: &'a mut ExecContext<'_>,
        out: &'a mut RowBatch,
        want: usize,
    ) -> BoxFuture<'a, Result<bool, SqlError>> {
        Box::pin(async move {
            let before = out.len();
            let more = self.input.next_batch(context, out, want).await?;
            for number in before..out.len() {
                if number > before {
                    // A SLEEP that was cut short is over with its row, as in MySQL.
                    context.eval.check_cancelled()?;
                }
                for run in &mut self.runs {
                    let value = run.value(out.row(number), context).await?;
                    out.row_mut(number)[run.slot()] = value;
                }
            }
            Ok(more)
        })
    }

    fn keep_only(&mut self, slot: usize, values: &mut dyn Iterator<Item = &Value>) {
        self.input.keep_only(slot, values);
    }
}

/// A subquery with what is remembered of its last run.
pub(crate) struct SubqueryRun<'p> {
    plan: &'p SubqueryPlan,
    query: Option<QueryRows<'p>>,
    /// Slots of the enclosing row that it reads.
    outer: Vec<usize>,
    /// Their values at the last run.
    last_outer: Vec<Value>,
    kept: Kept,
}

enum Kept {
    Nothing,
    Value(Value),
    Row(Option<Vec<Value>>),
    Rows(Box<KeptRows>),
}

/// The rows of an uncorrelated `IN`, `ANY` or `ALL`.
struct KeptRows {
    rows: RowStore,
    /// Keys of the rows without NULL, if rows are compared by equality and fit into memory.
    keys: Option<KeySet>,
    /// There are rows with a NULL.
    nulls: bool,
}

impl<'p> SubqueryRun<'p> {
    pub(crate) fn new(plan: &'p SubqueryPlan) -> Self {
        let mut outer = Vec::new();
        if let Some(query) = &plan.query {
            outer_slots(query, &mut outer);
        }
        SubqueryRun { plan, query: None, outer, last_outer: Vec::new(), kept: Kept::Nothing }
    }

    /// Where the result goes.
    pub(crate) fn slot(&self) -> usize {
        self.plan.slot
    }

    /// The result for a row of the enclosing block.
    pub(crate) async fn value(&mut self, row: &[Value], context: &mut ExecContext<'_>) -> Result<Value, SqlError> {
        if let Some(guard) = &self.plan.guard {
            // What is wrong with it is said where the branch is chosen.
            let quiet = Warnings::default();
            let eval = EvalContext { warnings: &quiet, ..context.eval };
            if guard.eval_truth(row, &eval)? != Some(true) {
                return Ok(Value::Null);
            }
        }
        let unchanged = self.outer.iter().zip(&self.last_outer).all(|(&slot, last)| row[slot] == *last);
        if !unchanged || self.last_outer.len() != self.outer.len() {
            self.kept = Kept::Nothing;
            self.last_outer = self.outer.iter().map(|&slot| row[slot].clone()).collect();
        }
        match &self.plan.kind {
            SubqueryKind::Call { function, args } => call(function, args, row, context).await,
            SubqueryKind::Joined => Ok(Value::Null),
            SubqueryKind::Scalar | SubqueryKind::Exists => {
                if let Kept::Value(value) = &self.kept {
                    return Ok(value.clone());
                }
                let value = self.single(row, context).await?;
                self.kept = Kept::Value(value.clone());
                Ok(value)
            }
            SubqueryKind::Row { left, comparison } => self.beside_row(left, comparison, row, context).await,
            SubqueryKind::Any { left, comparison, .. } => {
                let found = self.quantified(left, comparison, Some(true), row, context).await?;
                Ok(found.map_or(Value::Null, Value::from))
            }
            SubqueryKind::All { left, comparison, .. } => {
                let found = self.quantified(left, comparison, Some(false), row, context).await?;
                Ok(found.map_or(Value::Null, |found| Value::from(!found)))
            }
        }
    }

    fn query(&mut self) -> Result<(&mut QueryRows<'p>, usize), SqlError> {
        let plan = self.plan.query.as_ref().ok_or_else(|| SqlError::unknown("a subquery without a query"))?;
        Ok((self.query.get_or_insert_with(|| QueryRows::new(plan)), plan.columns.len()))
    }

    /// The comparison of a row with the subquery's.
    async fn beside_row(
        &mut self,
        left: &[Expr],
        comparison: &Expr,
        row: &[Value],
        context: &mut ExecContext<'_>,
    ) -> Result<Value, SqlError> {
        if !matches!(self.kept, Kept::Row(_)) {
            let found = self.first(false, row, context).await?;
            self.kept = Kept::Row((!found.is_empty()).then(|| found.row(0).to_vec()));
        }
        let Kept::Row(Some(found)) = &self.kept else { return Ok(Value::Null) };
        let mut frame = left.iter().map(|expr| expr.eval(row, &context.eval)).collect::<Result<Vec<_>, _>>()?;
        frame.extend_from_slice(found);
        comparison.eval(&frame, &context.eval)
    }

    async fn single(&mut self, row: &[Value], context: &mut ExecContext<'_>) -> Result<Value, SqlError> {
        let exists = matches!(self.plan.kind, SubqueryKind::Exists);
        let batch = self.first(exists, row, context).await?;
        if exists {
            return Ok(Value::from(!batch.is_empty()));
        }
        Ok(if batch.is_empty() { Value::Null } else { batch.row(0)[0].clone() })
    }

    /// The first row; 1242 if there are more, unless it is asked only whether there is one.
    async fn first(
        &mut self,
        exists: bool,
        row: &[Value],
        context: &mut ExecContext<'_>,
    ) -> Result<RowBatch, SqlError> {
        let (query, width) = self.query()?;
        query.open(row);
        let mut batch = RowBatch::new(width);
        let want = if exists { 1 } else { 2 };
        loop {
            let missing = want - batch.len();
            if !query.next_batch(context, &mut batch, missing).await? || batch.len() >= want {
                break;
            }
        }
        match batch.len() {
            2.. => Err(SqlError::new(codes::SUBQUERY_NO_1_ROW, "Subquery returns more than 1 row")),
            _ => Ok(batch),
        }
    }

    /// Whether the comparison has the value `wanted` for some row of the subquery; `None` if it is NULL for some and
    /// `wanted` for none. (`x op ALL` is "no row for which it is false".)
    async fn quantified(
        &mut self,
        left: &'p [Expr],
        comparison: &'p Expr,
        wanted: Option<bool>,
        row: &[Value],
        context: &mut ExecContext<'_>,
    ) -> Result<Option<bool>, SqlError> {
        let mut pair = Vec::with_capacity(2 * left.len());
        for expr in left {
            pair.push(expr.eval(row, &context.eval)?);
        }
        if !matches!(self.kept, Kept::Rows(_)) {
            if !self.outer.is_empty() {
                return self.search_streaming(pair, comparison, wanted, row, context).await;
            }
            self.kept = Kept::Rows(Box::new(self.keep(row, context).await?));
        }
        let Kept::Rows(kept) = &self.kept else { return Ok(None) };
        if let (Some(keys), Some(comparisons)) = (&kept.keys, &self.plan.hashed) {
            if kept.rows.len() == 0 {
                return Ok(Some(false));
            }
            match encode(comparisons, &pair) {
                Some(key) if keys.contains(&key) => return Ok(Some(true)),
                Some(_) if !kept.nulls => return Ok(Some(false)),
                // Beside a NULL, of which only rows of several values may say more.
                _ if comparisons.len() == 1 => return Ok(None),
                _ => {}
            }
        }
        search_kept(kept, pair, comparison, wanted, context).await
    }

    async fn keep(&mut self, row: &[Value], context: &mut ExecContext<'_>) -> Result<KeptRows, SqlError> {
        let comparisons = self.plan.hashed.as_ref();
        let (query, width) = self.query()?;
        query.open(row);
        let mut rows = RowStore::new(width, context.limits.table_bytes);
        let mut keys = comparisons.map(|_| KeySet::default());
        let (mut bytes, mut nulls) = (0, false);
        let mut batch = RowBatch::new(width);
        loop {
            let more = query.next_batch(context, &mut batch, BATCH_ROWS).await?;
            for row in batch.iter() {
                rows.push(context.env, row).await?;
                if let (Some(set), Some(comparisons)) = (&mut keys, comparisons) {
                    match encode(comparisons, row) {
                        Some(key) => {
                            bytes += key.len() + KeySet::KEY_BYTES;
                            set.insert(&key);
                        }
                        None => nulls = true,
                    }
                }
            }
            batch.clear();
            context.check_cancelled().await?;
            if bytes > context.limits.table_bytes {
                keys = None;
            }
            if !more {
                return Ok(KeptRows { rows, keys, nulls });
            }
        }
    }

    /// Runs a correlated subquery and stops at the first row that decides.
    async fn search_streaming(
        &mut self,
        mut pair: Vec<Value>,
        comparison: &Expr,
        wanted: Option<bool>,
        row: &[Value],
        context: &mut ExecContext<'_>,
    ) -> Result<Option<bool>, SqlError> {
        let (query, width) = self.query()?;
        query.open(row);
        let mut batch = RowBatch::new(width);
        let mut result = Some(false);
        loop {
            let more = query.next_batch(context, &mut batch, BATCH_ROWS).await?;
            if compare_all(&batch, &mut pair, comparison, wanted, &mut result, context)? {
                return Ok(Some(true));
            }
            batch.clear();
            if !more {
                return Ok(result);
            }
        }
    }
}

async fn search_kept(
    kept: &KeptRows,
    mut pair: Vec<Value>,
    comparison: &Expr,
    wanted: Option<bool>,
    context: &ExecContext<'_>,
) -> Result<Option<bool>, SqlError> {
    let mut batch = RowBatch::new(pair.len());
    let mut position = ReadPosition::default();
    let mut result = Some(false);
    loop {
        kept.rows.read(&mut position, &mut batch, BATCH_ROWS).await?;
        if batch.is_empty() {
            return Ok(result);
        }
        if compare_all(&batch, &mut pair, comparison, wanted, &mut result, context)? {
            return Ok(Some(true));
        }
        batch.clear();
        context.check_cancelled().await?;
    }
}

/// Compares the left side with rows; `true` when one has decided, `result` becomes `None` when one was NULL.
fn compare_all(
    batch: &RowBatch,
    pair: &mut Vec<Value>,
    comparison: &Expr,
    wanted: Option<bool>,
    result: &mut Option<bool>,
    context: &ExecContext<'_>,
) -> Result<bool, SqlError> {
    let left = pair.len();
    for row in batch.iter() {
        pair.extend_from_slice(row);
        let truth = comparison.eval_truth(pair, &context.eval);
        pair.truncate(left);
        match truth? {
            None => *result = None,
            truth if truth == wanted => return Ok(true),
            _ => {}
        }
    }
    Ok(false)
}

fn encode(comparisons: &[Comparison], row: &[Value]) -> Option<Vec<u8>> {
    let mut key = Vec::with_capacity(16);
    comparisons.iter().zip(row).all(|(comparison, value)| comparison.encode(value, &mut key)).then_some(key)
}

/// The slots of the enclosing block that a query reads.
pub(crate) fn outer_slots(query: &QueryPlan, slots: &mut Vec<usize>) {
    match &query.body {
        QueryBody::Block(block) => {
            slots.extend(block.outer.iter().map(|&(there, _)| there));
            slots.sort_unstable();
            slots.dedup();
        }
        QueryBody::Set(set) => set.branches.iter().for_each(|branch| outer_slots(branch, slots)),
        QueryBody::Values(_) => {}
    }
}

/// A function that waits, or computes for so long that others have to have their turns meanwhile.
async fn call(
    function: &'static str,
    args: &[Expr],
    row: &[Value],
    context: &mut ExecContext<'_>,
) -> Result<Value, SqlError> {
    if let ("benchmark", [count, expr]) = (function, args) {
        return benchmark(count, expr, row, context).await;
    }
    let mut values = Vec::with_capacity(args.len());
    for arg in args {
        values.push(arg.eval(row, &context.eval)?);
    }
    if function != "sleep" {
        return context.unless_cancelled(context.waiting.call(function, values)).await;
    }
    let seconds = build::value_literal(values.pop().unwrap_or_default(), context.eval.session);
    let seconds = build::cast(seconds, crate::expr::CastType::Double, types::CollationId::BINARY)?;
    match seconds.eval(row, &context.eval)? {
        Value::Double(seconds) if seconds >= 0.0 => {
            let interrupted = context.sleep(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)).await?;
            Ok(Value::Int(interrupted.into()))
        }
        _ => Err(SqlError::new(codes::WRONG_ARGUMENTS, "Incorrect arguments to sleep")),
    }
}

/// Evaluates the expression so many times.
async fn benchmark(count: &Expr, expr: &Expr, row: &[Value], context: &ExecContext<'_>) -> Result<Value, SqlError> {
    let count = build::value_literal(count.eval(row, &context.eval)?, context.eval.session);
    let count = build::cast(count, crate::expr::CastType::Signed, types::CollationId::BINARY)?;
    let Value::Int(count @ 0..) = count.eval(row, &context.eval)? else { return Ok(Value::Null) };
    for _ in 0..count {
        context.check_cancelled().await?;
        expr.eval_ref(row, &context.eval)?;
    }
    Ok(Value::Int(0))
}
