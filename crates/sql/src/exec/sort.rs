//! ORDER BY: in memory, or by merging sorted runs from temporary files.
//!
//! A row is kept with its key, bytes whose order is the wanted order ([`crate::expr::order`]). When the rows in memory
//! reach the budget they are sorted and written as a run; at the end the runs are merged. With a LIMIT that fits, only
//! that many rows are ever kept (twice as many between two cuts).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use base::{SqlError, memory};
use bytes::Bytes;
use io::BoxFuture;
use types::Value;

use crate::bind::tree::{Limit, OrderItem};
use crate::exec::batch::{BATCH_ROWS, RowBatch};
use crate::exec::budget::Budget;
use crate::exec::context::ExecContext;
use crate::exec::filter::limit_numbers;
use crate::exec::operator::{BoxedOperator, Operator};
use crate::exec::spill::{ReadPosition, RowStore, memory_size};
use crate::expr::{ExprKind, order};

/// Runs that are merged at once; each has a chunk in memory.
const MERGE_RUNS: usize = 32;

/// A LIMIT up to this many rows keeps only the first rows.
const TOP_ROWS: u64 = 10_000;

/// A row with its key, ordered by key and then by arrival.
pub(crate) type Keyed = (Vec<u8>, u64, Vec<Value>);

/// Sorts its input.
pub(crate) struct SortRows<'p> {
    input: BoxedOperator<'p>,
    keys: &'p [OrderItem],
    limit: &'p Limit,
    width: usize,
    /// `None`: nothing was read yet.
    sorted: Option<Sorted>,
}

impl<'p> SortRows<'p> {
    pub(crate) fn new(input: BoxedOperator<'p>, keys: &'p [OrderItem], limit: &'p Limit, width: usize) -> Self {
        SortRows { input, keys, limit, width, sorted: None }
    }

    async fn read_all(&mut self, context: &mut ExecContext<'_>) -> Result<Sorted, SqlError> {
        let (skip, give) = limit_numbers(self.limit, context)?;
        let top = Some(skip.saturating_add(give)).filter(|&rows| rows <= TOP_ROWS).map(|rows| rows as usize);
        let mut sorter = Sorter::new(self.width);
        let mut batch = RowBatch::new(self.width);
        let mut key = Vec::with_capacity(16 * self.keys.len());
        loop {
            let more = self.input.next_batch(context, &mut batch, BATCH_ROWS).await?;
            for row in batch.iter() {
                key.clear();
                self.key(row, context, &mut key)?;
                if sorter.may_keep(&key) {
                    sorter.push(key.clone(), row.to_vec());
                    sorter.bound(context).await?;
                }
            }
            batch.clear();
            context.check_cancelled().await?;
            if let Some(top) = top
                && sorter.keep_first(top)
            {
                self.cut_off(&sorter);
            }
            sorter.bound(context).await?;
            if !more {
                return sorter.finish(context).await;
            }
        }
    }

    /// Says to the input which rows are wanted no more.
    fn cut_off(&mut self, sorter: &Sorter) {
        if let (Some(OrderItem { expr, descending }), Some((_, last))) = (self.keys.first(), &sorter.last)
            && let ExprKind::Column { slot, utc: false } = expr.kind
        {
            self.input.cut_off(slot, &last[slot], *descending);
        }
    }

    fn key(&self, row: &[Value], context: &ExecContext<'_>, key: &mut Vec<u8>) -> Result<(), SqlError> {
        for item in self.keys {
            let value = item.expr.eval_ref(row, &context.eval)?;
            order::encode(&item.expr.ty, &value, item.descending, key);
            memory::check()?;
        }
        Ok(())
    }
}

impl Operator for SortRows<'_> {
    fn open(&mut self, seed: &[Value]) {
        self.input.open(seed);
        self.sorted = None;
    }

    fn next_batch<'a>(
        &'a mut self,
        context: &'a mut ExecContext<'_>,
        out: &'a mut RowBatch,
        want: usize,
    ) -> BoxFuture<'a, Result<bool, SqlError>> {
        Box::pin(async move {
            if self.sorted.is_none() {
                self.sorted = Some(self.read_all(context).await?);
            }
            let Some(sorted) = &mut self.sorted else { return Ok(false) };
            for _ in 0..want {
                let Some(mut row) = sorted.next().await? else { return Ok(false) };
                out.push_owned(&mut row);
            }
            Ok(true)
        })
    }
}

/// Rows that are being gathered to be sorted.
pub(crate) struct Sorter {
    width: usize,
    rows: Vec<Keyed>,
    bytes: usize,
    /// Of the next row.
    number: u64,
    budget: Option<Budget>,
    runs: Vec<RowStore>,
    /// The last of the first rows, if only those are wanted: none that comes later and is not before it.
    last: Option<(Vec<u8>, Vec<Value>)>,
}

impl Sorter {
    /// Of rows with `width` values.
    pub(crate) fn new(width: usize) -> Self {
        Sorter { width, rows: Vec::new(), bytes: 0, number: 0, budget: None, runs: Vec::new(), last: None }
    }

    pub(crate) fn push(&mut self, key: Vec<u8>, row: Vec<Value>) {
        self.bytes += keyed_size(&key, &row);
        self.rows.push((key, self.number, row));
        self.number += 1;
    }

    /// Adds a row that comes before all with an equal key that are there.
    pub(crate) fn push_before_equals(&mut self, mut key: Vec<u8>, row: Vec<Value>) {
        key.extend_from_slice(&(u64::MAX - self.number).to_be_bytes());
        self.push(key, row);
    }

    /// Whether a row that comes now may be among the first.
    fn may_keep(&self, key: &[u8]) -> bool {
        self.last.as_ref().is_none_or(|(last, _)| key < &last[..])
    }

    /// Drops all but the first `top` rows, now and then; whether it did.
    fn keep_first(&mut self, top: usize) -> bool {
        let is_time = self.rows.len() >= 2 * top.max(BATCH_ROWS);
        if is_time {
            self.last = keep_first(&mut self.rows, top);
            self.bytes = self.rows.iter().map(|(key, _, row)| keyed_size(key, row)).sum();
        }
        is_time
    }

    /// Writes a run if the rows take more memory than they may.
    pub(crate) async fn bound(&mut self, context: &ExecContext<'_>) -> Result<(), SqlError> {
        let limits = &context.limits;
        let budget = self.budget.get_or_insert_with(|| Budget::new(limits.sort_bytes, limits.spare_bytes));
        if budget.holds(self.bytes) { Ok(()) } else { self.write_run(context).await }
    }

    async fn write_run(&mut self, context: &ExecContext<'_>) -> Result<(), SqlError> {
        if !self.rows.is_empty() {
            self.runs.push(write_run(&mut self.rows, self.width, context).await?);
            self.bytes = 0;
        }
        Ok(())
    }

    /// All rows in order.
    pub(crate) async fn finish(mut self, context: &ExecContext<'_>) -> Result<Sorted, SqlError> {
        if self.runs.is_empty() {
            self.rows.sort_unstable_by(|a, b| (&b.0, b.1).cmp(&(&a.0, a.1)));
            return Ok(Sorted::Memory(self.rows));
        }
        self.write_run(context).await?;
        let mut runs = self.runs;
        while runs.len() > MERGE_RUNS {
            let merged = merge_runs(runs.drain(..MERGE_RUNS).collect(), self.width, context).await?;
            runs.push(merged);
        }
        Ok(Sorted::Merging(Merge::new(runs, self.width).await?))
    }
}

fn keyed_size(key: &[u8], row: &[Value]) -> usize {
    key.len() + memory_size(row) + size_of::<Keyed>()
}

/// Sorted rows, to be taken one by one.
pub(crate) enum Sorted {
    /// In reverse order: the next is the last.
    Memory(Vec<Keyed>),
    Merging(Merge),
}

impl Sorted {
    pub(crate) async fn next(&mut self) -> Result<Option<Vec<Value>>, SqlError> {
        Ok(match self {
            Sorted::Memory(rows) => rows.pop().map(|(_, _, row)| row),
            Sorted::Merging(merge) => merge.next().await?.map(|(_, row)| row),
        })
    }
}

/// Drops all but the `top` smallest rows, of which there are more; the largest that is kept, with its key.
fn keep_first(rows: &mut Vec<Keyed>, top: usize) -> Option<(Vec<u8>, Vec<Value>)> {
    let last = top.checked_sub(1);
    if let Some(last) = last {
        rows.select_nth_unstable_by(last, |a, b| (&a.0, a.1).cmp(&(&b.0, b.1)));
    }
    rows.truncate(top);
    last.map(|last| (rows[last].0.clone(), rows[last].2.clone()))
}

/// Sorts the rows and writes them: each with its key in front, as one more value.
async fn write_run(rows: &mut Vec<Keyed>, width: usize, context: &ExecContext<'_>) -> Result<RowStore, SqlError> {
    rows.sort_unstable_by(|a, b| (&a.0, a.1).cmp(&(&b.0, b.1)));
    let mut run = RowStore::new(width + 1, 0);
    let mut wide = Vec::with_capacity(width + 1);
    for (key, _, row) in rows.drain(..) {
        wide.clear();
        wide.push(Value::Bytes(Bytes::from(key)));
        wide.extend(row);
        run.push(context.env, &wide).await?;
    }
    run.finish(context.env).await?;
    Ok(run)
}

async fn merge_runs(runs: Vec<RowStore>, width: usize, context: &ExecContext<'_>) -> Result<RowStore, SqlError> {
    let mut merge = Merge::new(runs, width).await?;
    let mut merged = RowStore::new(width + 1, 0);
    while let Some((key, row)) = merge.next().await? {
        let mut wide = vec![Value::Bytes(key)];
        wide.extend(row);
        merged.push(context.env, &wide).await?;
        context.check_cancelled().await?;
    }
    merged.finish(context.env).await?;
    Ok(merged)
}

/// Several sorted runs as one.
pub(crate) struct Merge {
    runs: Vec<Run>,
    /// Smallest key first; equal keys in the order of the runs, which is that of arrival.
    heap: BinaryHeap<Reverse<(Bytes, usize)>>,
}

struct Run {
    rows: RowStore,
    position: ReadPosition,
    batch: RowBatch,
    at: usize,
}

impl Merge {
    async fn new(stores: Vec<RowStore>, width: usize) -> Result<Self, SqlError> {
        let mut merge = Merge { runs: Vec::new(), heap: BinaryHeap::new() };
        for rows in stores {
            let batch = RowBatch::new(width + 1);
            merge.runs.push(Run { rows, position: ReadPosition::default(), batch, at: 0 });
            let run = merge.runs.len() - 1;
            merge.queue(run).await?;
        }
        Ok(merge)
    }

    /// Puts the next row of a run into the heap.
    async fn queue(&mut self, number: usize) -> Result<(), SqlError> {
        let run = &mut self.runs[number];
        if run.at == run.batch.len() {
            run.batch.clear();
            run.at = 0;
            run.rows.read(&mut run.position, &mut run.batch, BATCH_ROWS).await?;
        }
        if run.at < run.batch.len()
            && let Value::Bytes(key) = &run.batch.row(run.at)[0]
        {
            self.heap.push(Reverse((key.clone(), number)));
        }
        Ok(())
    }

    async fn next(&mut self) -> Result<Option<(Bytes, Vec<Value>)>, SqlError> {
        let Some(Reverse((key, number))) = self.heap.pop() else { return Ok(None) };
        let run = &mut self.runs[number];
        let row = run.batch.row(run.at)[1..].to_vec();
        run.at += 1;
        self.queue(number).await?;
        Ok(Some((key, row)))
    }
}
