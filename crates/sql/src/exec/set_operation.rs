//! UNION, EXCEPT and INTERSECT.
//!
//! The branches of a UNION are read one after the other. EXCEPT and INTERSECT read all but their first branch, if that has
//! a row, and count how often each row is there; then the rows of the first are let through or not, in their order.
//!
//! | operation | a row of the first branch passes | and then |
//! |---|---|---|
//! | EXCEPT | if it was not counted | is counted, so that it passes once |
//! | EXCEPT ALL | if none of it is left | (otherwise) one less is left |
//! | INTERSECT | if some of it is left | none is left |
//! | INTERSECT ALL | if some of it is left | one less is left |
//!
//! Rows that are not among those that memory has room for go to partitions, both sides' of equal rows to the same one.

use base::SqlError;
use io::BoxFuture;
use types::Value;

use crate::bind::tree::{Limit, SetKind};
use crate::exec::batch::{BATCH_ROWS, RowBatch};
use crate::exec::context::ExecContext;
use crate::exec::distinct::{DistinctRows, group_key};
use crate::exec::filter::LimitRows;
use crate::exec::keys::KeyMap;
use crate::exec::measured::MeasuredRows;
use crate::exec::operator::{BoxedOperator, Operator};
use crate::exec::overflow::Overflow;
use crate::exec::query::QueryRows;
use crate::exec::recursive::RecursiveRows;
use crate::exec::sort::SortRows;
use crate::exec::spill::{ReadPosition, RowStore};
use crate::expr::Expr;
use crate::plan::node::{QueryPlan, SetPlan};

/// A sort that has to give all rows.
static NO_LIMIT: Limit = Limit { count: None, offset: None };

/// The sides of a comparison.
const FIRST: usize = 0;
const OTHERS: usize = 1;

/// The rows of an operation, in its order and within its limit.
pub(crate) fn set_rows(plan: &SetPlan) -> BoxedOperator<'_> {
    let width = plan.distinct_keys.len();
    let mut rows = match &plan.kind {
        SetKind::Union { distinct_until: None } => chain(&plan.branches),
        SetKind::Union { distinct_until: Some(last) } => {
            let (distinct, rest) = plan.branches.split_at(last + 1);
            let distinct = Box::new(DistinctRows::new(chain(distinct), (&plan.distinct_keys, false), width));
            Box::new(Chain { inputs: vec![distinct, chain(rest)], at: 0 })
        }
        SetKind::Except { all } => {
            let (first, mut others) = plan.branches.split_at(1);
            all.chunk_by(|a, b| a == b).fold(chain(first), |rows, run| {
                let (these, rest) = others.split_at(run.len());
                others = rest;
                Box::new(ComparedRows::new(rows, chain(these), Kept::Other { all: run[0] }, &plan.distinct_keys))
            })
        }
        SetKind::Recursive(recursion) => Box::new(RecursiveRows::new(plan, recursion)),
        SetKind::Intersect { all } => {
            let (first, others) = plan.branches.split_at(1);
            others.chunks(1).fold(chain(first), |rows, other| {
                Box::new(ComparedRows::new(rows, chain(other), Kept::Same { all: *all }, &plan.distinct_keys))
            })
        }
    };
    let counters = plan.counters.as_deref();
    rows = MeasuredRows::around(rows, counters.map(|counters| &*counters.rows));
    if !plan.order.is_empty() {
        let kept = if plan.count_found_rows { &NO_LIMIT } else { &plan.limit };
        rows = Box::new(SortRows::new(rows, &plan.order, kept, width));
        rows = MeasuredRows::around(rows, counters.map(|counters| &*counters.sorted));
    }
    if !plan.limit.is_none() {
        rows = Box::new(LimitRows::new(rows, &plan.limit, plan.count_found_rows));
        rows = MeasuredRows::around(rows, counters.map(|counters| &*counters.limited));
    }
    rows
}

fn chain(queries: &[QueryPlan]) -> BoxedOperator<'_> {
    let input = |query| -> BoxedOperator<'_> { Box::new(QueryRows::new(query)) };
    Box::new(Chain { inputs: queries.iter().map(input).collect(), at: 0 })
}

/// Inputs one after the other.
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

/// Which rows of the first branch are kept.
#[derive(Clone, Copy)]
enum Kept {
    /// EXCEPT: those that the others have not.
    Other { all: bool },
    /// INTERSECT: those that they have.
    Same { all: bool },
}

/// EXCEPT and INTERSECT.
struct ComparedRows<'p> {
    first: BoxedOperator<'p>,
    others: BoxedOperator<'p>,
    kept: Kept,
    keys: &'p [Expr],
    /// How often a row is in the others, less those of the first that it was held against.
    counts: KeyMap<u64>,
    bytes: usize,
    overflow: Overflow<2>,
    phase: Phase,
}

enum Phase {
    /// Nothing was read.
    Start,
    /// The first branch is read.
    Input,
    /// Rows of the first branch that were put off are.
    Partition(Box<RowStore>, ReadPosition),
    /// One of those was read to its end.
    Read,
    Done,
}

impl<'p> ComparedRows<'p> {
    fn new(first: BoxedOperator<'p>, others: BoxedOperator<'p>, kept: Kept, keys: &'p [Expr]) -> Self {
        let (counts, overflow) = (KeyMap::default(), Overflow::default());
        ComparedRows { first, others, kept, keys, counts, bytes: 0, overflow, phase: Phase::Start }
    }

    fn has_room(&self, context: &ExecContext<'_>) -> bool {
        self.bytes <= context.limits.table_bytes || !self.overflow.may_grow()
    }

    fn insert(&mut self, key: &[u8], count: u64) {
        self.bytes += key.len() + KeyMap::<u64>::bytes_beside_key();
        self.counts.insert(key, count);
    }

    /// Counts rows of the others.
    async fn count(&mut self, batch: &RowBatch, context: &ExecContext<'_>) -> Result<(), SqlError> {
        let mut key = Vec::with_capacity(32);
        for row in batch.iter() {
            key.clear();
            group_key(self.keys, row, context, &mut key)?;
            let has_room = self.has_room(context);
            match self.counts.get_mut(&key) {
                Some(count) => *count += 1,
                None if has_room => self.insert(&key, 1),
                None => self.overflow.push(OTHERS, &key, row, context).await?,
            }
        }
        Ok(())
    }

    /// Reads the first rows of the first branch, and then the others: not if there are none. What is to be read next.
    async fn begin(
        &mut self,
        context: &mut ExecContext<'_>,
        batch: &mut RowBatch,
        want: usize,
    ) -> Result<Phase, SqlError> {
        let mut more = true;
        while more && batch.is_empty() {
            more = self.first.next_batch(context, batch, want).await?;
        }
        if batch.is_empty() {
            return Ok(Phase::Done);
        }
        self.count_others(context).await?;
        Ok(if more { Phase::Input } else { Phase::Read })
    }

    async fn count_others(&mut self, context: &mut ExecContext<'_>) -> Result<(), SqlError> {
        let mut batch = RowBatch::new(self.keys.len());
        loop {
            let more = self.others.next_batch(context, &mut batch, BATCH_ROWS).await?;
            self.count(&batch, context).await?;
            batch.clear();
            context.check_cancelled().await?;
            if !more {
                return Ok(());
            }
        }
    }

    /// Begins with the next partition.
    async fn next_partition(&mut self, context: &ExecContext<'_>) -> Result<Phase, SqlError> {
        let Some([first, others]) = self.overflow.next() else { return Ok(Phase::Done) };
        self.counts.clear();
        self.bytes = 0;
        let (mut position, mut batch) = (ReadPosition::default(), RowBatch::new(self.keys.len()));
        loop {
            context.check_cancelled().await?;
            others.read(&mut position, &mut batch, BATCH_ROWS).await?;
            if batch.is_empty() {
                return Ok(Phase::Partition(Box::new(first), ReadPosition::default()));
            }
            self.count(&batch, context).await?;
            batch.clear();
        }
    }

    /// Reads rows of the first branch; `false` at the very end.
    async fn read(
        &mut self,
        context: &mut ExecContext<'_>,
        batch: &mut RowBatch,
        want: usize,
    ) -> Result<bool, SqlError> {
        loop {
            context.check_cancelled().await?;
            match &mut self.phase {
                Phase::Start => self.phase = self.begin(context, batch, want).await?,
                Phase::Input => {
                    if !self.first.next_batch(context, batch, want).await? {
                        self.phase = Phase::Read;
                    }
                }
                Phase::Partition(store, position) => {
                    store.read(position, batch, BATCH_ROWS).await?;
                    if batch.is_empty() {
                        self.phase = Phase::Read;
                    }
                }
                Phase::Read => self.phase = self.next_partition(context).await?,
                Phase::Done => return Ok(false),
            }
            if !batch.is_empty() {
                return Ok(true);
            }
        }
    }

    /// Whether a row of the first branch passes; `None` if there was no room to say so.
    fn passes(&mut self, key: &[u8], context: &ExecContext<'_>) -> Option<bool> {
        let has_room = self.has_room(context);
        let Some(left) = self.counts.get_mut(key) else {
            // Rows like it may be among those that were put off.
            if self.overflow.is_used() {
                return None;
            }
            return match self.kept {
                Kept::Other { all: false } if !has_room => None,
                Kept::Other { all: false } => {
                    self.insert(key, 1);
                    Some(true)
                }
                Kept::Other { all: true } => Some(true),
                Kept::Same { .. } => Some(false),
            };
        };
        let is_left = *left > 0;
        Some(match self.kept {
            Kept::Other { all: false } => false,
            Kept::Other { all: true } => {
                *left = left.saturating_sub(1);
                !is_left
            }
            Kept::Same { all } => {
                *left = if all { left.saturating_sub(1) } else { 0 };
                is_left
            }
        })
    }
}

impl Operator for ComparedRows<'_> {
    fn open(&mut self, seed: &[Value]) {
        self.first.open(seed);
        self.others.open(seed);
        self.counts.clear();
        self.bytes = 0;
        self.overflow = Overflow::default();
        self.phase = Phase::Start;
    }

    fn next_batch<'a>(
        &'a mut self,
        context: &'a mut ExecContext<'_>,
        out: &'a mut RowBatch,
        want: usize,
    ) -> BoxFuture<'a, Result<bool, SqlError>> {
        Box::pin(async move {
            let mut batch = RowBatch::new(self.keys.len());
            if !self.read(context, &mut batch, want).await? {
                return Ok(false);
            }
            let mut key = Vec::with_capacity(32);
            for row in batch.iter() {
                key.clear();
                group_key(self.keys, row, context, &mut key)?;
                match self.passes(&key, context) {
                    Some(true) => _ = out.push(row),
                    Some(false) => {}
                    None => self.overflow.push(FIRST, &key, row, context).await?,
                }
            }
            Ok(true)
        })
    }
}
