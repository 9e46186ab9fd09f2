//! Reads a table of the engine by one of its indexes.
//!
//! ```text
//!   ranges ──> entries of the index, a batch at a time
//!                 │  covering image: conditions on what the index holds
//!                 ▼
//!              row (the entry itself, or fetched by its clustered key) ──> slots ──> conditions on the row
//! ```
//!
//! A locking read locks what it reads; a row that does not match is given back at once (the engine does so in READ COMMITTED
//! only). Batches begin small and grow, so that a LIMIT reads little more than it needs.

use std::sync::Arc;

use base::SqlError;
use bytes::Bytes;
use engine::{Direction, Entry, Isolation, KeyRange, LockStrength, ReadMode, Table};
use io::BoxFuture;
use types::Value;

use crate::bind::tree::RowLock;
use crate::exec::batch::{BATCH_ROWS, RowBatch};
use crate::exec::context::ExecContext;
use crate::exec::operator::{Operator, passes};
use crate::exec::ranges::{Ranges, key_ranges};
use crate::plan::access::{Covered, IndexAccess};
use crate::plan::node::AccessNode;

/// Entries in the first batch of a scan.
const FIRST_BATCH: usize = 16;

/// A scan of one index.
pub(crate) struct Scan<'p> {
    node: &'p AccessNode,
    access: &'p IndexAccess,
    covered: &'p Covered,
    table: &'p Arc<Table>,
    mode: ReadMode,
    seed: Vec<Value>,
    /// Still to be read, the next one last; `None` before the first read.
    ranges: Option<Vec<KeyRange>>,
    /// Each range is one whole clustered key.
    points: bool,
    scan: Option<engine::Scan>,
    entries: Vec<Entry>,
    at: usize,
    batch_size: usize,
}

/// How the engine reads for a lock.
pub(crate) fn read_mode(lock: Option<RowLock>) -> ReadMode {
    match lock {
        None => ReadMode::Consistent,
        Some(RowLock { exclusive, wait }) => {
            let strength = if exclusive { LockStrength::Exclusive } else { LockStrength::Shared };
            ReadMode::Locking { strength, wait }
        }
    }
}

impl<'p> Scan<'p> {
    pub(crate) fn new(
        node: &'p AccessNode,
        access: &'p IndexAccess,
        covered: &'p Covered,
        table: &'p Arc<Table>,
    ) -> Self {
        Scan {
            node,
            access,
            covered,
            table,
            mode: read_mode(node.lock),
            seed: Vec::new(),
            ranges: None,
            points: false,
            scan: None,
            entries: Vec::new(),
            at: 0,
            batch_size: FIRST_BATCH,
        }
    }

    fn direction(&self) -> Direction {
        if self.access.descending { Direction::Backward } else { Direction::Forward }
    }

    /// Makes sure that there is an entry; `false` at the end of the last range.
    async fn fill(&mut self, context: &mut ExecContext<'_>, want: usize) -> Result<bool, SqlError> {
        while self.at == self.entries.len() {
            self.entries.clear();
            self.at = 0;
            context.check_cancelled().await?;
            let scan = match &mut self.scan {
                Some(scan) => scan,
                None => {
                    let Some(range) = self.ranges.as_mut().and_then(Vec::pop) else { return Ok(false) };
                    let direction = self.direction();
                    self.scan.insert(context.transaction.scan(
                        self.table,
                        self.access.index,
                        range,
                        direction,
                        self.mode,
                    ))
                }
            };
            let locking = self.mode != ReadMode::Consistent;
            let max = if locking { want.max(1) } else { self.batch_size.min(BATCH_ROWS) };
            self.batch_size = (self.batch_size * 4).min(BATCH_ROWS);
            if !context.transaction.next_batch(scan, &mut self.entries, max).await? {
                self.scan = None;
            }
        }
        Ok(true)
    }

    /// Makes the ranges, when the values are known.
    fn begin(&mut self, context: &ExecContext<'_>) -> Result<(), SqlError> {
        let Ranges { mut list, points } = key_ranges(self.access, self.table, &self.seed, &context.eval)?;
        if !self.access.descending {
            list.reverse();
        }
        self.ranges = Some(list);
        self.points = points && self.access.index == 0 && self.access.is_unique_point();
        if self.node.lock.is_none() && context.transaction.options().isolation == Isolation::Serializable {
            self.mode = ReadMode::FOR_SHARE;
        }
        Ok(())
    }

    /// One clustered key: no scan, a look-up.
    async fn point(&mut self, context: &mut ExecContext<'_>, out: &mut RowBatch) -> Result<bool, SqlError> {
        let Some(range) = self.ranges.as_mut().and_then(Vec::pop) else { return Ok(false) };
        let std::ops::Bound::Included(key) = range.lower else {
            return Err(SqlError::unknown("a point without a key"));
        };
        if let Some(row) = context.transaction.get(self.table, &key, self.mode).await? {
            self.push_row(&key, &row, context, out)?;
        }
        Ok(self.ranges.as_ref().is_some_and(|ranges| !ranges.is_empty()))
    }

    /// Takes in an entry; whether a row came of it.
    async fn take(&mut self, context: &mut ExecContext<'_>, out: &mut RowBatch) -> Result<(), SqlError> {
        self.at += 1;
        let entry = &self.entries[self.at - 1];
        match self.covered {
            Covered::Row => self.push_row(&entry.key, &entry.value, context, out),
            Covered::Covering => {
                let row = out.push(&self.seed);
                let layout = &self.table.codec.indexes[self.access.index].layout;
                layout.decode_to(&entry.value, self.node.index_decode.iter().copied(), row)?;
                if !passes(&self.node.index_filter, row, context)? || !passes(&self.node.filter, row, context)? {
                    out.pop();
                    self.unlock(entry, context)?;
                }
                Ok(())
            }
            Covered::Fetch => self.fetch(entry, context, out).await,
        }
    }

    async fn fetch(&self, entry: &Entry, context: &mut ExecContext<'_>, out: &mut RowBatch) -> Result<(), SqlError> {
        if !self.node.index_filter.is_empty() {
            let row = out.push(&self.seed);
            let layout = &self.table.codec.indexes[self.access.index].layout;
            layout.decode_to(&entry.value, self.node.index_decode.iter().copied(), row)?;
            let wanted = passes(&self.node.index_filter, row, context)?;
            out.pop();
            if !wanted {
                return self.unlock(entry, context);
            }
        }
        let key = self.table.codec.clustered_key_of(self.access.index, &entry.key)?;
        let Some(row) = context.transaction.get(self.table, key, self.mode).await? else { return Ok(()) };
        self.push_row(key, &row, context, out)
    }

    fn push_row(
        &self,
        key: &[u8],
        image: &Bytes,
        context: &mut ExecContext<'_>,
        out: &mut RowBatch,
    ) -> Result<(), SqlError> {
        let row = out.push(&self.seed);
        decode_row(self.table, image, self.node, row)?;
        if !passes(&self.node.index_filter, row, context)? || !passes(&self.node.filter, row, context)? {
            out.pop();
            if self.mode != ReadMode::Consistent {
                context.transaction.unlock_row(self.table, key);
            }
        }
        Ok(())
    }

    fn unlock(&self, entry: &Entry, context: &mut ExecContext<'_>) -> Result<(), SqlError> {
        if self.mode != ReadMode::Consistent {
            let key = self.table.codec.clustered_key_of(self.access.index, &entry.key)?;
            context.transaction.unlock_row(self.table, key);
        }
        Ok(())
    }
}

/// Fills the slots of a row's needed columns.
pub(crate) fn decode_row(table: &Table, image: &Bytes, node: &AccessNode, row: &mut [Value]) -> Result<(), SqlError> {
    table.codec.row.decode_to(image, node.decode.iter().copied(), row)?;
    if let Some(slot) = node.row_image {
        row[slot] = Value::Bytes(image.clone());
    }
    Ok(())
}

impl Operator for Scan<'_> {
    fn open(&mut self, seed: &[Value]) {
        self.seed.clear();
        self.seed.extend_from_slice(seed);
        self.ranges = None;
        self.scan = None;
        self.entries.clear();
        self.at = 0;
        self.batch_size = FIRST_BATCH;
    }

    fn next_batch<'a>(
        &'a mut self,
        context: &'a mut ExecContext<'_>,
        out: &'a mut RowBatch,
        want: usize,
    ) -> BoxFuture<'a, Result<bool, SqlError>> {
        Box::pin(async move {
            let end = out.len() + want;
            if self.ranges.is_none() {
                self.begin(context)?;
            }
            while out.len() < end {
                if self.points {
                    if !self.point(context, out).await? {
                        return Ok(false);
                    }
                    continue;
                }
                if self.at == self.entries.len() && !self.fill(context, end - out.len()).await? {
                    return Ok(false);
                }
                self.take(context, out).await?;
            }
            Ok(true)
        })
    }
}
