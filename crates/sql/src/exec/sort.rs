//! ORDER BY: in memory, or by merging sorted runs from temporary files.
//!
//! A row is kept with its key, bytes whose order is the wanted order ([`crate::expr::order`]). When the rows in memory
//! reach the budget they are sorted and written as a run; at the end the runs are merged. With a LIMIT that fits, only
//! that many rows are ever kept (twice as many between two cuts).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use base::SqlError;
use bytes::Bytes;
use io::BoxFuture;
use types::Value;

use crate::bind::tree::{Limit, OrderItem};
use crate::exec::batch::{BATCH_ROWS, RowBatch};
use crate::exec::context::ExecContext;
use crate::exec::filter::limit_numbers;
use crate::exec::operator::{BoxedOperator, Operator};
use crate::exec::spill::{ReadPosition, RowStore, memory_size};
use crate::expr::order;

/// Runs that are merged at once; each has a chunk in memory.
const MERGE_RUNS: usize = 32;

/// A LIMIT up to this many rows keeps only the first rows.
const TOP_ROWS: u64 = 10_000;

/// A row with its key, ordered by key and then by arrival.
type Keyed = (Vec<u8>, u64, Vec<Value>);

/// Sorts its input.
pub(crate) struct SortRows<'p> {
    input: BoxedOperator<'p>,
    keys: &'p [OrderItem],
    limit: &'p Limit,
    width: usize,
    state: State,
}

enum State {
    /// Nothing was read yet.
    Unsorted,
    /// All in memory, in reverse order: the next is the last.
    Memory(Vec<Keyed>),
    Merging(Merge),
}

impl<'p> SortRows<'p> {
    pub(crate) fn new(input: BoxedOperator<'p>, keys: &'p [OrderItem], limit: &'p Limit, width: usize) -> Self {
        SortRows { input, keys, limit, width, state: State::Unsorted }
    }

    async fn read_all(&mut self, context: &mut ExecContext<'_>) -> Result<State, SqlError> {
        let (skip, give) = limit_numbers(self.limit, context)?;
        let top = Some(skip.saturating_add(give)).filter(|&rows| rows <= TOP_ROWS).map(|rows| rows as usize);
        let mut rows: Vec<Keyed> = Vec::new();
        let (mut bytes, mut number) = (0, 0);
        let mut runs = Vec::new();
        let mut batch = RowBatch::new(self.width);
        loop {
            let more = self.input.next_batch(context, &mut batch, BATCH_ROWS).await?;
            for row in batch.iter() {
                let key = self.key(row, context)?;
                bytes += key.len() + memory_size(row) + size_of::<Keyed>();
                rows.push((key, number, row.to_vec()));
                number += 1;
            }
            batch.clear();
            context.check_cancelled()?;
            match top {
                Some(top) if rows.len() >= 2 * top.max(BATCH_ROWS) => {
                    keep_first(&mut rows, top);
                    bytes = rows.iter().map(|(key, _, row)| key.len() + memory_size(row)).sum();
                }
                _ => {}
            }
            if bytes > context.limits.sort_bytes && !rows.is_empty() {
                runs.push(write_run(&mut rows, self.width, context).await?);
                bytes = 0;
            }
            if !more {
                break;
            }
        }
        if runs.is_empty() {
            rows.sort_unstable_by(|a, b| (&b.0, b.1).cmp(&(&a.0, a.1)));
            return Ok(State::Memory(rows));
        }
        if !rows.is_empty() {
            runs.push(write_run(&mut rows, self.width, context).await?);
        }
        while runs.len() > MERGE_RUNS {
            let merged = merge_runs(runs.drain(..MERGE_RUNS).collect(), self.width, context).await?;
            runs.push(merged);
        }
        Ok(State::Merging(Merge::new(runs, self.width).await?))
    }

    fn key(&self, row: &[Value], context: &ExecContext<'_>) -> Result<Vec<u8>, SqlError> {
        let mut key = Vec::with_capacity(16 * self.keys.len());
        for item in self.keys {
            order::encode(&item.expr.ty, &item.expr.eval(row, &context.eval)?, item.descending, &mut key);
        }
        Ok(key)
    }
}

impl Operator for SortRows<'_> {
    fn open(&mut self, seed: &[Value]) {
        self.input.open(seed);
        self.state = State::Unsorted;
    }

    fn next_batch<'a>(
        &'a mut self,
        context: &'a mut ExecContext<'_>,
        out: &'a mut RowBatch,
        want: usize,
    ) -> BoxFuture<'a, Result<bool, SqlError>> {
        Box::pin(async move {
            if let State::Unsorted = self.state {
                self.state = self.read_all(context).await?;
            }
            match &mut self.state {
                State::Unsorted => Ok(false),
                State::Memory(rows) => {
                    for _ in 0..want {
                        let Some((_, _, mut row)) = rows.pop() else { return Ok(false) };
                        out.push_owned(&mut row);
                    }
                    Ok(true)
                }
                State::Merging(merge) => {
                    for _ in 0..want {
                        let Some((_, mut row)) = merge.next().await? else { return Ok(false) };
                        out.push_owned(&mut row);
                    }
                    Ok(true)
                }
            }
        })
    }
}

/// Drops all but the `top` smallest rows.
fn keep_first(rows: &mut Vec<Keyed>, top: usize) {
    if top < rows.len() {
        rows.select_nth_unstable_by(top, |a, b| (&a.0, a.1).cmp(&(&b.0, b.1)));
        rows.truncate(top);
    }
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
        context.check_cancelled()?;
    }
    merged.finish(context.env).await?;
    Ok(merged)
}

/// Several sorted runs as one.
struct Merge {
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
