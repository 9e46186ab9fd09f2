//! A group of rows under way, and what its aggregates hold while they wait for its end.
//!
//! | aggregate | holds | beyond the budget |
//! |---|---|---|
//! | plain | its state | - |
//! | DISTINCT | the keys it has seen | rows with further keys go to files, split by key, and are taken in at the end |
//! | GROUP_CONCAT(… ORDER BY …) | rows | sorted runs in files |
//!
//! Rows are added without waiting; [`Group::bound`], called after a few rows each, writes what has become too much.

use base::SqlError;
use types::Value;

use crate::exec::batch::{BATCH_ROWS, RowBatch};
use crate::exec::context::ExecContext;
use crate::exec::keys::KeySet;
use crate::exec::overflow::Overflow;
use crate::exec::sort::Sorter;
use crate::exec::spill::{ReadPosition, RowStore};
use crate::expr::{Aggregate, AggregateState};
use crate::plan::node::AggregateNode;

/// A group under way: its first row, and its aggregates.
pub(crate) struct Group {
    pub(crate) row: Vec<Value>,
    running: Vec<Running>,
}

/// One aggregate of a group.
struct Running {
    state: AggregateState,
    seen: Option<Seen>,
    sorter: Option<Sorter>,
}

/// What DISTINCT has seen.
#[derive(Default)]
struct Seen {
    keys: KeySet,
    bytes: usize,
    /// Rows with keys that there was no room for, on their way to `overflow`.
    pending: Vec<(Vec<u8>, Vec<Value>)>,
    overflow: Overflow,
    /// Memory of the next key.
    scratch: Vec<u8>,
}

impl Group {
    pub(crate) fn new(node: &AggregateNode, row: &[Value]) -> Self {
        let running = node.aggregates.iter().map(|(aggregate, _)| Running::new(aggregate, row.len())).collect();
        Group { row: row.to_vec(), running }
    }

    pub(crate) fn add(
        &mut self,
        node: &AggregateNode,
        row: &[Value],
        context: &ExecContext<'_>,
    ) -> Result<(), SqlError> {
        for ((aggregate, _), running) in node.aggregates.iter().zip(&mut self.running) {
            running.add(aggregate, row, context)?;
        }
        Ok(())
    }

    /// Writes what takes more memory than it may.
    pub(crate) async fn bound(&mut self, context: &ExecContext<'_>) -> Result<(), SqlError> {
        for running in &mut self.running {
            running.bound(context).await?;
        }
        Ok(())
    }

    /// The group's row, with its aggregates.
    pub(crate) async fn finish(self, node: &AggregateNode, context: &ExecContext<'_>) -> Result<Vec<Value>, SqlError> {
        let mut row = self.row;
        for ((aggregate, slot), running) in node.aggregates.iter().zip(self.running) {
            row[*slot] = running.finish(aggregate, context).await?;
        }
        Ok(row)
    }
}

impl Running {
    fn new(aggregate: &Aggregate, width: usize) -> Self {
        Running {
            state: aggregate.start(),
            seen: aggregate.distinct.then(Seen::default),
            sorter: (!aggregate.order_by.is_empty()).then(|| Sorter::new(width)),
        }
    }

    fn add(&mut self, aggregate: &Aggregate, row: &[Value], context: &ExecContext<'_>) -> Result<(), SqlError> {
        if let Some(seen) = &mut self.seen {
            let mut key = std::mem::take(&mut seen.scratch);
            key.clear();
            let is_new = aggregate.key(row, &context.eval, &mut key)? && seen.is_new(&key, row, context);
            seen.scratch = key;
            if !is_new {
                return Ok(());
            }
        }
        match &mut self.sorter {
            // MySQL keeps them in a tree, into which the latest goes before its equals.
            Some(sorter) => sorter.push_before_equals(aggregate.sort_key(row, &context.eval)?, row.to_vec()),
            None => aggregate.add(&mut self.state, row, &context.eval)?,
        }
        Ok(())
    }

    async fn bound(&mut self, context: &ExecContext<'_>) -> Result<(), SqlError> {
        if let Some(seen) = &mut self.seen {
            for (key, row) in seen.pending.drain(..) {
                seen.overflow.push(0, &key, &row, context).await?;
            }
        }
        match &mut self.sorter {
            Some(sorter) => sorter.bound(context).await,
            None => Ok(()),
        }
    }

    async fn finish(mut self, aggregate: &Aggregate, context: &ExecContext<'_>) -> Result<Value, SqlError> {
        self.bound(context).await?;
        while let Some(partition) = self.seen.as_mut().and_then(Seen::next_partition) {
            let (mut position, mut batch) = (ReadPosition::default(), RowBatch::new(partition.width()));
            loop {
                context.check_cancelled().await?;
                partition.read(&mut position, &mut batch, BATCH_ROWS).await?;
                if batch.is_empty() {
                    break;
                }
                for row in batch.iter() {
                    self.add(aggregate, row, context)?;
                }
                batch.clear();
                self.bound(context).await?;
            }
        }
        if let Some(sorter) = self.sorter.take() {
            let mut sorted = sorter.finish(context).await?;
            while !aggregate.is_complete(&self.state)
                && let Some(row) = sorted.next().await?
            {
                aggregate.add(&mut self.state, &row, &context.eval)?;
            }
        }
        aggregate.finish(self.state)
    }
}

impl Seen {
    /// Whether a key comes for the first time; not if its row has to wait.
    fn is_new(&mut self, key: &[u8], row: &[Value], context: &ExecContext<'_>) -> bool {
        if self.bytes <= context.limits.table_bytes || !self.overflow.may_grow() {
            let bytes = key.len() + KeySet::KEY_BYTES;
            let new = self.keys.insert(key);
            self.bytes += if new { bytes } else { 0 };
            return new;
        }
        if !self.keys.contains(key) {
            self.pending.push((key.to_vec(), row.to_vec()));
        }
        false
    }

    /// Rows that waited, whose keys are in no other partition and among none of those seen so far.
    fn next_partition(&mut self) -> Option<RowStore> {
        let [partition] = self.overflow.next()?;
        self.keys.clear();
        self.bytes = 0;
        Some(partition)
    }
}
