//! Window functions over rows that come by partitions, and in the window's order within each.
//!
//! ```text
//!   input ──> the rows of one partition, in memory or a file ──> row by row: where its peers are, where each frame is, each function's value
//! ```
//!
//! What looks at other rows than the one that is made (peers, the two ends of a frame, LAG) reads the partition with a [`Cursor`] of its own. Where
//! every function is complete with the row itself (ROW_NUMBER, a sum so far), nothing is kept: rows go through.
//!
//! # Invariants
//! - Cursors only go forward, since the ends of all frames do. So a partition that is in a file is read as often as there are cursors, whatever the
//!   frames are.
//! - Of a partition that is in a file, a cursor holds a batch of rows. What aggregates hold of their frames is in memory ([`crate::expr::Sliding`]).

mod calls;
mod frame;
mod partition;

use base::SqlError;
use io::BoxFuture;
use types::Value;

use crate::exec::batch::{BATCH_ROWS, RowBatch};
use crate::exec::context::ExecContext;
use crate::exec::distinct::group_key;
use crate::exec::operator::{BoxedOperator, Operator};
use crate::exec::spill::RowStore;
use crate::exec::window::calls::{Constants, Windows};
use crate::exec::window::partition::{Cursor, Peers, Rows};
use crate::expr::Expr;
use crate::plan::node::WindowNode;

/// Computes windows.
pub(crate) struct WindowRows<'p> {
    node: &'p WindowNode,
    input: BoxedOperator<'p>,
    width: usize,
    /// Numbers that are the same for all rows; looked at before the first.
    constants: Option<Constants>,
    batch: RowBatch,
    /// The next row of the batch.
    at: usize,
    more: bool,
    /// What the rows of the partition have in common.
    key: Vec<u8>,
    partition: Option<Partition>,
}

/// A partition under way.
struct Partition {
    /// `None` if its rows go through.
    store: Option<RowStore>,
    rows: Cursor,
    peers: Peers,
    windows: Windows,
    /// The next row.
    at: u64,
}

impl<'p> WindowRows<'p> {
    pub(crate) fn new(node: &'p WindowNode, input: BoxedOperator<'p>, width: usize) -> Self {
        WindowRows {
            node,
            input,
            width,
            constants: None,
            batch: RowBatch::new(width),
            at: 0,
            more: true,
            key: Vec::new(),
            partition: None,
        }
    }

    /// Makes sure that there is a row in the batch; `false` at the end.
    async fn read(&mut self, context: &mut ExecContext<'_>) -> Result<bool, SqlError> {
        while self.at == self.batch.len() {
            if !self.more {
                return Ok(false);
            }
            self.batch.clear();
            self.at = 0;
            context.check_cancelled().await?;
            self.more = self.input.next_batch(context, &mut self.batch, BATCH_ROWS).await?;
        }
        Ok(true)
    }

    fn begin(&mut self, store: Option<RowStore>) {
        let constants = self.constants.as_ref();
        let windows = Windows::new(self.node, constants.unwrap_or(&Constants::default()), self.width);
        let rows = Cursor::new(self.width);
        self.partition = Some(Partition { store, rows, peers: Peers::new(self.node, self.width), windows, at: 0 });
    }

    /// Keeps the rows of the next partition; `false` if there is none.
    async fn keep(&mut self, context: &mut ExecContext<'_>) -> Result<bool, SqlError> {
        if !self.read(context).await? {
            return Ok(false);
        }
        let mut store = RowStore::new(self.width, context.limits.table_bytes);
        self.key.clear();
        group_key(&self.node.partition, self.batch.row(self.at), context, &mut self.key)?;
        let mut key = Vec::new();
        while self.read(context).await? {
            let row = self.batch.row(self.at);
            key.clear();
            group_key(&self.node.partition, row, context, &mut key)?;
            if key != self.key {
                break;
            }
            store.push(context.env, row).await?;
            self.at += 1;
        }
        self.begin(Some(store));
        Ok(true)
    }

    /// Rows of partitions that are kept; `false` at the end.
    async fn give_kept(
        &mut self,
        context: &mut ExecContext<'_>,
        out: &mut RowBatch,
        want: usize,
    ) -> Result<bool, SqlError> {
        if self.partition.is_none() && !self.keep(context).await? {
            return Ok(false);
        }
        let Some(partition) = &mut self.partition else { return Ok(false) };
        let Partition { store: Some(store), rows, peers, windows, at } = partition else { return Ok(false) };
        let kept = Rows::Kept(store);
        let end = store.len().min(*at + want as u64);
        while *at < end {
            let row = out.push(rows.row(&kept, *at).await?);
            let place = peers.place(self.node, &kept, *at, context).await?;
            windows.compute(self.node, &kept, &place, (row, &*context)).await?;
            *at += 1;
        }
        if *at == store.len() {
            self.partition = None;
        }
        Ok(true)
    }

    /// Rows that go through; `false` at the end.
    async fn give_running(
        &mut self,
        context: &mut ExecContext<'_>,
        out: &mut RowBatch,
        want: usize,
    ) -> Result<bool, SqlError> {
        let mut key = Vec::new();
        for _ in 0..want {
            if !self.read(context).await? {
                return Ok(false);
            }
            key.clear();
            group_key(&self.node.partition, self.batch.row(self.at), context, &mut key)?;
            if self.partition.is_none() || key != self.key {
                std::mem::swap(&mut key, &mut self.key);
                self.begin(None);
            }
            let Some(Partition { peers, windows, at, .. }) = &mut self.partition else { return Ok(false) };
            let read = self.batch.row(self.at);
            let rows = Rows::Running(read);
            let place = peers.place(self.node, &rows, *at, context).await?;
            windows.compute(self.node, &rows, &place, (out.push(read), &*context)).await?;
            *at += 1;
            self.at += 1;
        }
        Ok(true)
    }
}

impl Operator for WindowRows<'_> {
    fn open(&mut self, seed: &[Value]) {
        self.input.open(seed);
        self.constants = None;
        self.batch.clear();
        self.at = 0;
        self.more = true;
        self.partition = None;
    }

    fn next_batch<'a>(
        &'a mut self,
        context: &'a mut ExecContext<'_>,
        out: &'a mut RowBatch,
        want: usize,
    ) -> BoxFuture<'a, Result<bool, SqlError>> {
        Box::pin(async move {
            context.check_cancelled().await?;
            if self.constants.is_none() {
                self.constants = Some(Constants::of(self.node, context)?);
            }
            match self.node.is_running() {
                true => self.give_running(context, out, want).await,
                false => self.give_kept(context, out, want).await,
            }
        })
    }
}

/// Computes expressions into slots.
pub(crate) struct ComputeRows<'p> {
    input: BoxedOperator<'p>,
    exprs: &'p [(Expr, usize)],
}

impl<'p> ComputeRows<'p> {
    pub(crate) fn new(input: BoxedOperator<'p>, exprs: &'p [(Expr, usize)]) -> Self {
        ComputeRows { input, exprs }
    }
}

impl Operator for ComputeRows<'_> {
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
            for at in before..out.len() {
                for (expr, slot) in self.exprs {
                    let value = expr.eval(out.row(at), &context.eval)?;
                    out.row_mut(at)[*slot] = value;
                }
            }
            Ok(more)
        })
    }
}
