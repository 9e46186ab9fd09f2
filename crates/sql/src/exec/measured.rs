//! EXPLAIN ANALYZE: what an operator has given, and in what time.
//!
//! A plan that is to be measured has a node around each of its nodes ([`crate::plan::explain`] puts it there), and its operators have an operator
//! around each of them. Other plans have neither, so counting costs them nothing.
//!
//! # Invariants
//! - Time is what passes inside of calls for rows, waits included, so that of an operator holds that of its inputs.
//! - A loop begins with the first call for rows behind an opening: what was opened and never read has not run.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use base::SqlError;
use io::BoxFuture;
use types::Value;

use crate::exec::batch::RowBatch;
use crate::exec::context::ExecContext;
use crate::exec::image::source::ImageSource;
use crate::exec::operator::{BoxedOperator, Operator};
use crate::plan::node::{AggregateNode, BlockPlan};

/// What all executions of a node have given so far. Several operators may be made of one node, one after the other.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    loops: AtomicU64,
    rows: AtomicU64,
    first_nanos: AtomicU64,
    all_nanos: AtomicU64,
}

/// What a node has done, on average over its loops.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Measured {
    /// How often it was run.
    pub(crate) loops: u64,
    /// Rows that it gave.
    pub(crate) rows: f64,
    /// Milliseconds until the first row was there, or the end.
    pub(crate) first_ms: f64,
    /// Milliseconds until the last one was.
    pub(crate) last_ms: f64,
}

impl Measured {
    /// Of what has made all rows before it gives the first.
    pub(crate) fn all_at_once(self) -> Measured {
        Measured { first_ms: self.last_ms, ..self }
    }

    /// Of what takes in the rows and gives none.
    pub(crate) fn without_rows(self) -> Measured {
        Measured { rows: 0.0, ..self.all_at_once() }
    }
}

impl Counters {
    /// Forgets what was counted: a prepared statement runs several times.
    pub(crate) fn reset(&self) {
        for counter in [&self.loops, &self.rows, &self.first_nanos, &self.all_nanos] {
            counter.store(0, Ordering::Relaxed);
        }
    }

    /// What there is to say; `None` if it never ran.
    pub(crate) fn measured(&self) -> Option<Measured> {
        let loops = self.loops.load(Ordering::Relaxed);
        if loops == 0 {
            return None;
        }
        let each = |counter: &AtomicU64| counter.load(Ordering::Relaxed) as f64 / loops as f64;
        let (first_ms, last_ms) = (each(&self.first_nanos) / 1e6, each(&self.all_nanos) / 1e6);
        Some(Measured { loops, rows: each(&self.rows), first_ms, last_ms })
    }

    fn add(&self, rows: usize, spent: Duration) {
        self.rows.fetch_add(rows as u64, Ordering::Relaxed);
        self.all_nanos.fetch_add(spent.as_nanos() as u64, Ordering::Relaxed);
    }
}

/// Whether a block is but the number of a table's rows, which trees know without reading them. (Other groupings of images are measured over values, so that
/// the rows below them can be counted.)
pub(crate) fn only_counts(block: &BlockPlan, aggregate: &AggregateNode) -> bool {
    aggregate.keys.is_empty()
        && aggregate.aggregates.iter().all(|(call, _)| call.counts_rows())
        && ImageSource::of(block, aggregate).is_some()
}

/// An operator around another one that counts what it gives.
pub(crate) struct MeasuredRows<'p> {
    input: BoxedOperator<'p>,
    counters: &'p Counters,
    loop_now: LoopNow,
}

/// How far the loop is.
enum LoopNow {
    NotRead,
    /// No row yet, for so long.
    NoRow(Duration),
    HasRows,
}

impl<'p> MeasuredRows<'p> {
    pub(crate) fn new(input: BoxedOperator<'p>, counters: &'p Counters) -> Self {
        MeasuredRows { input, counters, loop_now: LoopNow::NotRead }
    }

    /// Around an operator, if what it does is to be measured.
    pub(crate) fn around(input: BoxedOperator<'p>, counters: Option<&'p Counters>) -> BoxedOperator<'p> {
        match counters {
            Some(counters) => Box::new(MeasuredRows::new(input, counters)),
            None => input,
        }
    }

    fn note(&mut self, rows: usize, spent: Duration, is_over: bool) {
        self.counters.add(rows, spent);
        let before = match self.loop_now {
            LoopNow::HasRows => return,
            LoopNow::NoRow(before) => before,
            LoopNow::NotRead => {
                self.counters.loops.fetch_add(1, Ordering::Relaxed);
                Duration::ZERO
            }
        };
        let so_far = before + spent;
        self.loop_now = if rows > 0 || is_over {
            self.counters.first_nanos.fetch_add(so_far.as_nanos() as u64, Ordering::Relaxed);
            LoopNow::HasRows
        } else {
            LoopNow::NoRow(so_far)
        };
    }
}

impl Operator for MeasuredRows<'_> {
    fn open(&mut self, seed: &[Value]) {
        self.input.open(seed);
        self.loop_now = LoopNow::NotRead;
    }

    fn next_batch<'a>(
        &'a mut self,
        context: &'a mut ExecContext<'_>,
        out: &'a mut RowBatch,
        want: usize,
    ) -> BoxFuture<'a, Result<bool, SqlError>> {
        Box::pin(async move {
            let (before, begin) = (out.len(), context.env.clock.monotonic());
            let more = self.input.next_batch(context, out, want).await;
            let spent = context.env.clock.monotonic().saturating_sub(begin);
            self.note(out.len().saturating_sub(before), spent, !matches!(more, Ok(true)));
            more
        })
    }

    fn keep_only(&mut self, slot: usize, values: &mut dyn Iterator<Item = &Value>) {
        self.input.keep_only(slot, values);
    }
}
