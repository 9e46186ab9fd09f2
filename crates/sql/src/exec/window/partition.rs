//! The rows of a partition, and where a row stands among them.

use std::ops::Range;

use base::SqlError;
use types::Value;

use crate::exec::batch::{BATCH_ROWS, RowBatch};
use crate::exec::context::ExecContext;
use crate::exec::spill::{ReadPosition, RowStore};
use crate::expr::order;
use crate::expr::window::WindowFunction;
use crate::plan::node::WindowNode;

/// The rows of a partition.
pub(super) enum Rows<'r> {
    /// All of them.
    Kept(&'r RowStore),
    /// None but the one that is made.
    Running(&'r [Value]),
}

impl Rows<'_> {
    /// How many there are, as far as that is known.
    pub(super) fn count(&self) -> u64 {
        match self {
            Rows::Kept(store) => store.len(),
            Rows::Running(_) => u64::MAX,
        }
    }
}

/// Reads rows forward.
pub(super) struct Cursor {
    position: ReadPosition,
    batch: RowBatch,
    /// The number of the batch's first row.
    first: u64,
}

impl Cursor {
    pub(super) fn new(width: usize) -> Self {
        Cursor { position: ReadPosition::default(), batch: RowBatch::new(width), first: 0 }
    }

    /// A row by its number, which is none of an earlier batch.
    pub(super) async fn row<'c>(&'c mut self, rows: &'c Rows<'_>, number: u64) -> Result<&'c [Value], SqlError> {
        let store = match rows {
            Rows::Running(row) => return Ok(row),
            Rows::Kept(store) => store,
        };
        if let Some(row) = store.in_memory(number) {
            return Ok(row);
        }
        while number >= self.first + self.batch.len() as u64 {
            self.first += self.batch.len() as u64;
            self.batch.clear();
            store.read(&mut self.position, &mut self.batch, BATCH_ROWS).await?;
            if self.batch.is_empty() {
                return Err(SqlError::unknown("a row behind the end of its partition"));
            }
        }
        match number.checked_sub(self.first) {
            Some(at) => Ok(self.batch.row(at as usize)),
            None => Err(SqlError::unknown("a frame that goes back")),
        }
    }
}

/// Where a row stands.
pub(super) struct Place {
    /// From 0.
    pub(super) at: u64,
    /// It and the rows that the order takes for equal to it; of running rows the end is not known.
    pub(super) peers: Range<u64>,
    /// How many groups of peers there are up to it.
    pub(super) dense_rank: u64,
}

/// Finds out who is whose peer.
pub(super) struct Peers {
    cursor: Cursor,
    wanted: bool,
    range: Range<u64>,
    number: u64,
    key: Vec<u8>,
}

impl Peers {
    pub(super) fn new(node: &WindowNode, width: usize) -> Self {
        use WindowFunction::{CumeDist, DenseRank, PercentRank, Rank};
        let wants = |function: &WindowFunction, rows: bool| match function {
            Rank | DenseRank | PercentRank | CumeDist => true,
            _ => function.is_framed() && !rows,
        };
        let mut of_windows = node.windows.iter();
        let wanted = of_windows.any(|(frame, calls)| calls.iter().any(|call| wants(&call.call.function, frame.rows)));
        Peers { cursor: Cursor::new(width), wanted, range: 0..0, number: 0, key: Vec::new() }
    }

    /// The place of a row; rows are asked for one after the other.
    pub(super) async fn place(
        &mut self,
        node: &WindowNode,
        rows: &Rows<'_>,
        at: u64,
        context: &ExecContext<'_>,
    ) -> Result<Place, SqlError> {
        if node.order.is_empty() || !self.wanted {
            return Ok(Place { at, peers: 0..rows.count(), dense_rank: 1 });
        }
        match rows {
            Rows::Kept(_) if at == self.range.end => {
                self.key = key_of(node, self.cursor.row(rows, at).await?, context)?;
                let mut end = at + 1;
                while end < rows.count() && key_of(node, self.cursor.row(rows, end).await?, context)? == self.key {
                    end += 1;
                    if end.is_multiple_of(BATCH_ROWS as u64) {
                        context.check_cancelled().await?;
                    }
                }
                self.range = at..end;
                self.number += 1;
            }
            Rows::Kept(_) => {}
            Rows::Running(row) => {
                let key = key_of(node, row, context)?;
                if at == 0 || key != self.key {
                    self.key = key;
                    self.range = at..u64::MAX;
                    self.number += 1;
                }
            }
        }
        Ok(Place { at, peers: self.range.clone(), dense_rank: self.number })
    }
}

fn key_of(node: &WindowNode, row: &[Value], context: &ExecContext<'_>) -> Result<Vec<u8>, SqlError> {
    let mut key = Vec::with_capacity(16 * node.order.len());
    for item in &node.order {
        order::encode(&item.expr.ty, &*item.expr.eval_ref(row, &context.eval)?, false, &mut key);
    }
    Ok(key)
}
