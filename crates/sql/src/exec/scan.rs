//! Reads a table of the engine by one of its indexes.
//!
//! ```text
//!   ranges ──> entries of the index, a batch at a time
//!                 │  covering image: conditions on what the index holds
//!                 ▼
//!              row (the entry itself, or fetched by its clustered key) ──> slots ──> conditions on the row
//! ```
//!
//! Of a consistent read that goes on for long, conditions that can be said of images ([`crate::exec::image`]) are checked before anything is made
//! of a row.
//!
//! A locking read locks what it reads; a row that does not match is given back at once (the engine does so in READ COMMITTED
//! only). Batches begin small and grow, so that a LIMIT reads little more than it needs.

use std::sync::Arc;

use base::SqlError;
use bytes::Bytes;
use engine::{Direction, Isolation, KeyRange, LockStrength, ReadMode, Rows, Table};
use io::BoxFuture;
use types::Value;

use crate::bind::tree::RowLock;
use crate::exec::batch::{BATCH_ROWS, RowBatch};
use crate::exec::context::ExecContext;
use crate::exec::image::ImageOf;
use crate::exec::image::compile::Compiler;
use crate::exec::image::conditions::ImageCondition;
use crate::exec::operator::{Operator, passes};
use crate::exec::ranges::{Ranges, key_ranges};
use crate::expr::Expr;
use crate::plan::access::{Covered, IndexAccess};
use crate::plan::node::AccessNode;

/// Entries in the first batch of a scan.
const FIRST_BATCH: usize = 16;
/// A scan that has read so many rows compiles its conditions; where assertions are on one that has read any, so that tests with small tables meet it.
const COMPILED_AFTER: usize = if cfg!(debug_assertions) { 1 } else { 64 };

/// A scan of one index.
pub(crate) struct Scan<'p> {
    node: &'p AccessNode,
    access: &'p IndexAccess,
    covered: &'p Covered,
    table: &'p Arc<Table>,
    mode: ReadMode,
    seed: Vec<Value>,
    /// The seed is nothing but NULLs.
    is_blank: bool,
    /// Still to be read, the next one last; `None` before the first read.
    ranges: Option<Vec<KeyRange>>,
    /// Each range is one whole clustered key.
    points: bool,
    scan: Option<engine::Scan>,
    rows: Rows,
    /// Those of `rows` that are still wanted, and how many of them were taken.
    wanted: Vec<u32>,
    at: usize,
    batch_size: usize,
    /// Rows that were read since it was opened.
    read: usize,
    conditions: Conditions<'p>,
}

/// The conditions of a scan, as they are checked.
struct Conditions<'p> {
    is_compiled: bool,
    of: ImageOf,
    /// On what the index holds, or on the row if it is read.
    images: Vec<ImageCondition>,
    /// What those who read the rows want no more.
    bound: Option<ImageCondition>,
    /// What is not among those: on what the index holds, and on the row.
    index_filter: Vec<&'p Expr>,
    filter: Vec<&'p Expr>,
    scratch: Vec<u8>,
}

impl<'p> Conditions<'p> {
    fn new(node: &'p AccessNode, access: &IndexAccess, table: &Arc<Table>) -> Self {
        Conditions {
            is_compiled: false,
            of: ImageOf { table: table.clone(), index: access.index },
            images: Vec::new(),
            bound: None,
            index_filter: node.index_filter.iter().collect(),
            filter: node.filter.iter().collect(),
            scratch: Vec::new(),
        }
    }

    /// Goes back to expressions alone, for another seed.
    fn reset(&mut self, node: &'p AccessNode) {
        self.bound = None;
        if std::mem::take(&mut self.is_compiled) {
            self.images.clear();
            self.index_filter = node.index_filter.iter().collect();
            self.filter = node.filter.iter().collect();
        }
    }

    /// Says of images what can be said of them.
    fn compile(&mut self, node: &AccessNode, covered: &Covered, seed: &[Value], context: &ExecContext<'_>) {
        self.is_compiled = true;
        let places = if *covered == Covered::Row { &node.decode } else { &node.index_decode };
        let compiler = Compiler { of: &self.of, places, seed, eval: &context.eval };
        let images = &mut self.images;
        let mut take = |conditions: &mut Vec<&Expr>| {
            conditions.retain(|condition| match compiler.condition(condition, true) {
                Some(condition) => {
                    images.push(condition);
                    false
                }
                None => true,
            });
        };
        take(&mut self.index_filter);
        if *covered != Covered::Fetch {
            take(&mut self.filter);
        }
    }

    /// Puts the numbers of the rows for which what is said of images holds into `wanted`.
    fn select(&mut self, rows: &Rows, wanted: &mut Vec<u32>) -> Result<(), SqlError> {
        wanted.clear();
        let all = 0..rows.len() as u32;
        if self.images.is_empty() && self.bound.is_none() {
            wanted.extend(all);
            return Ok(());
        }
        for row in all {
            let conditions = self.bound.iter().chain(&self.images);
            if ImageCondition::all_hold(conditions, &self.of, rows.value(row as usize), &mut self.scratch)? {
                wanted.push(row);
            }
        }
        Ok(())
    }

    /// Leaves out images whose column at `place` is behind a value. Not if other conditions have something to say of each row.
    fn cut_off(&mut self, place: usize, value: &Value, descending: bool) {
        if self.is_compiled && self.index_filter.is_empty() && self.filter.is_empty() {
            self.bound = ImageCondition::up_to(&self.of, place, value, descending);
        }
    }
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
            is_blank: false,
            ranges: None,
            points: false,
            scan: None,
            rows: Rows::default(),
            wanted: Vec::new(),
            at: 0,
            batch_size: FIRST_BATCH,
            read: 0,
            conditions: Conditions::new(node, access, table),
        }
    }

    fn direction(&self) -> Direction {
        if self.access.descending { Direction::Backward } else { Direction::Forward }
    }

    /// Makes sure that there is a row that is wanted; `false` at the end of the last range.
    async fn fill(&mut self, context: &mut ExecContext<'_>, want: usize) -> Result<bool, SqlError> {
        while self.at == self.wanted.len() {
            self.wanted.clear();
            self.at = 0;
            context.check_cancelled().await?;
            let scan = match &mut self.scan {
                Some(scan) => scan,
                None => {
                    let Some(range) = self.ranges.as_mut().and_then(Vec::pop) else { return Ok(false) };
                    let (direction, index) = (self.direction(), self.access.index);
                    self.scan.insert(context.transaction.scan(self.table, index, range, direction, self.mode))
                }
            };
            let is_consistent = self.mode == ReadMode::Consistent;
            let max = if is_consistent { self.batch_size.min(BATCH_ROWS) } else { want.max(1) };
            self.batch_size = (self.batch_size * 4).min(BATCH_ROWS);
            if !context.transaction.next_rows(scan, &mut self.rows, max).await? {
                self.scan = None;
                continue;
            }
            if is_consistent && !self.conditions.is_compiled && self.read >= COMPILED_AFTER {
                self.conditions.compile(self.node, self.covered, &self.seed, context);
            }
            self.read += self.rows.len();
            self.conditions.select(&self.rows, &mut self.wanted)?;
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
            self.push_row(|| &key, &row, context, out)?;
        }
        Ok(self.ranges.as_ref().is_some_and(|ranges| !ranges.is_empty()))
    }

    /// Takes in the next row that is wanted, if the other conditions hold for it.
    async fn take(&mut self, context: &mut ExecContext<'_>, out: &mut RowBatch) -> Result<(), SqlError> {
        let row = self.wanted[self.at] as usize;
        self.at += 1;
        match self.covered {
            Covered::Row => self.push_row(|| self.rows.key(row), &self.rows.value_bytes(row), context, out),
            Covered::Covering => {
                self.push_covering(row, out)?;
                let conditions = &self.conditions;
                let frame = out.row(out.len() - 1);
                if !passes(&conditions.index_filter, frame, context)? || !passes(&conditions.filter, frame, context)? {
                    out.pop();
                    self.unlock(row, context)?;
                }
                Ok(())
            }
            Covered::Fetch => self.fetch(row, context, out).await,
        }
    }

    fn push_seed<'o>(&self, out: &'o mut RowBatch) -> &'o mut [Value] {
        if self.is_blank { out.push_nulls() } else { out.push(&self.seed) }
    }

    /// Adds a row of what the index holds.
    fn push_covering(&self, row: usize, out: &mut RowBatch) -> Result<(), SqlError> {
        let frame = self.push_seed(out);
        let layout = &self.table.codec.indexes[self.access.index].layout;
        let image = self.rows.value_bytes(row);
        Ok(layout.decode_to(&image, self.node.index_decode.iter().copied(), frame)?)
    }

    async fn fetch(&self, row: usize, context: &mut ExecContext<'_>, out: &mut RowBatch) -> Result<(), SqlError> {
        if !self.conditions.index_filter.is_empty() {
            self.push_covering(row, out)?;
            let wanted = passes(&self.conditions.index_filter, out.row(out.len() - 1), context)?;
            out.pop();
            if !wanted {
                return self.unlock(row, context);
            }
        }
        let key = self.table.codec.clustered_key_of(self.access.index, self.rows.key(row))?;
        let Some(row) = context.transaction.get(self.table, key, self.mode).await? else { return Ok(()) };
        self.push_row(|| key, &row, context, out)
    }

    /// Adds a row, if the conditions hold for it; its key is wanted to unlock it if they do not.
    fn push_row<'k>(
        &self,
        key: impl FnOnce() -> &'k [u8],
        image: &Bytes,
        context: &mut ExecContext<'_>,
        out: &mut RowBatch,
    ) -> Result<(), SqlError> {
        let row = self.push_seed(out);
        decode_row(self.table, image, self.node, row)?;
        let conditions = &self.conditions;
        // What the index holds was checked before the row was fetched.
        let index_filter = if *self.covered == Covered::Fetch { &[][..] } else { &conditions.index_filter };
        if !passes(index_filter, row, context)? || !passes(&conditions.filter, row, context)? {
            out.pop();
            if self.mode != ReadMode::Consistent {
                context.transaction.unlock_row(self.table, key());
            }
        }
        Ok(())
    }

    fn unlock(&self, row: usize, context: &mut ExecContext<'_>) -> Result<(), SqlError> {
        if self.mode != ReadMode::Consistent {
            let key = self.table.codec.clustered_key_of(self.access.index, self.rows.key(row))?;
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
        self.is_blank = seed.iter().all(Value::is_null);
        self.ranges = None;
        self.scan = None;
        self.rows.clear();
        self.wanted.clear();
        self.at = 0;
        self.batch_size = FIRST_BATCH;
        self.read = 0;
        self.conditions.reset(self.node);
    }

    fn cut_off(&mut self, slot: usize, value: &Value, descending: bool) {
        let places = match self.covered {
            Covered::Row => &self.node.decode,
            Covered::Covering => &self.node.index_decode,
            Covered::Fetch => return,
        };
        if let Some((place, _)) = places.iter().find(|(_, other)| *other == slot) {
            self.conditions.cut_off(*place, value, descending);
        }
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
                if self.at == self.wanted.len() && !self.fill(context, end - out.len()).await? {
                    return Ok(false);
                }
                self.take(context, out).await?;
            }
            Ok(true)
        })
    }
}
