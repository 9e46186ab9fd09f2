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
//! of a row; of one that goes on for longer, by several tasks. Where the rows are the outer side of a hash join, the keys of the other side are
//! such a condition ([`Operator::keep_only`]).
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
use crate::exec::image::parts::{SHARED_FROM, places};
use crate::exec::image::selected::SelectedRows;
use crate::exec::operator::{Operator, passes};
use crate::exec::ranges::{Ranges, key_ranges};
use crate::expr::Expr;
use crate::plan::access::{Covered, IndexAccess, is_point};
use crate::plan::node::AccessNode;

/// Entries in the first batch of a scan.
const FIRST_BATCH: usize = 16;
/// A scan that has read so many rows compiles its conditions; where assertions are on one that has read any, so that tests with small tables meet it.
const COMPILED_AFTER: usize = if cfg!(debug_assertions) { 1 } else { 64 };

/// A scan that has read so many rows has the rest read by several tasks, if it is long enough.
const SHARED_AFTER: usize = if cfg!(debug_assertions) { 20 } else { 2_000 };

/// After so many look-ups others on the thread may have their turn.
const FILLS_OF_TURN: u32 = 16;

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
    /// How often it has looked for rows.
    fills: u32,
    /// Each range is the rows with one value.
    looks_up: bool,
    /// Each range is one whole clustered key.
    points: bool,
    scan: Option<engine::Scan>,
    /// Instead, if several tasks read.
    selected: Option<Box<SelectedRows>>,
    rows: Rows,
    /// Those of `rows` that are still wanted, and how many of them were taken.
    wanted: Vec<u32>,
    at: usize,
    batch_size: usize,
    /// Rows that were read since it was opened.
    read: usize,
    /// Rows that were read before that.
    read_before: usize,
    /// It was found that there is no place for a helper.
    is_alone: bool,
    conditions: Conditions<'p>,
}

/// The conditions of a scan, as they are checked.
struct Conditions<'p> {
    is_compiled: bool,
    /// What was compiled says the same for every seed, and the rest was left: look-ups for one row after the other.
    is_for_all: bool,
    of: ImageOf,
    /// On what the index holds, or on the row if it is read.
    images: Vec<ImageCondition>,
    /// Keys that have a match in joins above.
    matches: Vec<ImageCondition>,
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
            is_for_all: false,
            of: ImageOf { table: table.clone(), index: access.index },
            images: Vec::new(),
            matches: Vec::new(),
            bound: None,
            index_filter: node.index_filter.iter().collect(),
            filter: node.filter.iter().collect(),
            scratch: Vec::new(),
        }
    }

    /// Goes back to expressions alone, for another seed.
    fn reset(&mut self, node: &'p AccessNode) {
        self.bound = None;
        self.matches.clear();
        if !self.is_for_all && std::mem::take(&mut self.is_compiled) {
            self.images.clear();
            self.index_filter = node.index_filter.iter().collect();
            self.filter = node.filter.iter().collect();
        }
    }

    /// Says of images what can be said of them; if `for_all`, only what is the same for every seed.
    fn compile(
        &mut self,
        node: &AccessNode,
        covered: &Covered,
        (seed, for_all): (&[Value], bool),
        context: &ExecContext<'_>,
    ) {
        self.is_compiled = true;
        self.is_for_all = for_all;
        let places = if *covered == Covered::Row { &node.decode } else { &node.index_decode };
        let compiler = Compiler { of: &self.of, places, seed, eval: &context.eval };
        let images = &mut self.images;
        let is_own = |slot: usize| node.decode.iter().any(|(_, own)| *own == slot);
        let mut take = |conditions: &mut Vec<&Expr>| {
            conditions.retain(|condition| {
                let may_be = !for_all || condition.slots().iter().all(is_own);
                let compiled = may_be.then(|| compiler.condition(condition, true)).flatten();
                let is_left = compiled.is_none();
                images.extend(compiled);
                is_left
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
        if !self.has_any() {
            wanted.extend(0..rows.len() as u32);
            return Ok(());
        }
        let conditions = self.bound.iter().chain(&self.matches).chain(&self.images);
        Ok(ImageCondition::select(conditions, &self.of, rows, &mut self.scratch, wanted)?)
    }

    /// Whether anything is asked of images.
    fn has_any(&self) -> bool {
        self.bound.is_some() || !self.matches.is_empty() || !self.images.is_empty()
    }

    /// All that is asked of images, to be asked elsewhere.
    fn take(&mut self) -> Vec<ImageCondition> {
        let first = self.bound.take().into_iter().chain(self.matches.drain(..));
        first.chain(self.images.drain(..)).collect()
    }

    /// That images whose column at `place` is behind a value are left out. Not if other conditions have something to say of each row.
    fn up_to(&self, place: usize, value: &Value, descending: bool) -> Option<ImageCondition> {
        let is_all = self.is_compiled && self.index_filter.is_empty() && self.filter.is_empty();
        is_all.then(|| ImageCondition::up_to(&self.of, place, value, descending))?
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
            fills: 0,
            looks_up: access.parts.iter().any(|part| part.intervals.iter().all(is_point)),
            points: false,
            scan: None,
            selected: None,
            rows: Rows::default(),
            wanted: Vec::new(),
            at: 0,
            batch_size: FIRST_BATCH,
            read: 0,
            read_before: 0,
            is_alone: false,
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
            self.fills = self.fills.wrapping_add(1);
            // A look-up takes little longer than asking the clock whose turn it is.
            if !self.looks_up || self.fills.is_multiple_of(FILLS_OF_TURN) {
                context.check_cancelled().await?;
            } else {
                context.eval.check_cancelled()?;
            }
            if self.may_share() && self.share(context).await? || self.selected.is_some() {
                let Some(selected) = &mut self.selected else { return Ok(false) };
                let Some(mut found) = selected.next(context).await? else { return Ok(false) };
                self.rows = std::mem::take(&mut found.rows);
                self.wanted.extend_from_slice(&found.wanted);
                continue;
            }
            let is_consistent = self.mode == ReadMode::Consistent;
            let scan = match &mut self.scan {
                Some(scan) => Some(scan),
                None => {
                    let Some(range) = self.ranges.as_mut().and_then(Vec::pop) else { return Ok(false) };
                    let (direction, index, transaction) =
                        (self.direction(), self.access.index, &mut context.transaction);
                    match self.looks_up
                        && is_consistent
                        && transaction.rows_at_once(self.table, index, &range, direction, &mut self.rows)?
                    {
                        true => None,
                        false => {
                            Some(self.scan.insert(transaction.scan(self.table, index, range, direction, self.mode)))
                        }
                    }
                }
            };
            if let Some(scan) = scan {
                let max = if is_consistent { self.batch_size.min(BATCH_ROWS) } else { want.max(1) };
                self.batch_size = (self.batch_size * 4).min(BATCH_ROWS);
                if !context.transaction.next_rows(scan, &mut self.rows, max).await? {
                    self.scan = None;
                    continue;
                }
            }
            if !is_consistent {
                self.conditions.matches.clear();
            } else if !self.conditions.is_compiled && self.read >= COMPILED_AFTER {
                self.conditions.compile(self.node, self.covered, (&self.seed, false), context);
            } else if !self.conditions.is_compiled && self.looks_up && self.read_before >= COMPILED_AFTER {
                self.conditions.compile(self.node, self.covered, (&self.seed, true), context);
            }
            self.read += self.rows.len();
            self.conditions.select(&self.rows, &mut self.wanted)?;
        }
        Ok(true)
    }

    /// Begins with the seed.
    fn start(&mut self) {
        self.is_blank = self.seed.iter().all(Value::is_null);
        self.ranges = None;
        self.scan = None;
        self.rows.clear();
        self.wanted.clear();
        self.at = 0;
        self.batch_size = FIRST_BATCH;
        self.read_before += std::mem::take(&mut self.read);
        self.is_alone = false;
        self.selected = None;
        self.conditions.reset(self.node);
    }

    /// Whether what is left may be worth the tasks.
    fn may_share(&self) -> bool {
        self.selected.is_none()
            && !self.is_alone
            && self.read >= SHARED_AFTER
            && self.node.estimate.rows - self.read as f64 >= SHARED_FROM
            && self.conditions.is_compiled
            && self.conditions.has_any()
    }

    /// Has what is left read by several tasks, if there is a place for a helper; whether it is.
    async fn share(&mut self, context: &mut ExecContext<'_>) -> Result<bool, SqlError> {
        self.is_alone = true;
        let Some(snapshot) = context.transaction.snapshot_of(self.table)? else { return Ok(false) };
        let places = places(&snapshot, context.env);
        if places.is_empty() {
            return Ok(false);
        }
        let mut ranges = self.ranges.take().unwrap_or_default();
        ranges.extend(self.scan.take().iter().map(engine::Scan::rest_range));
        if !self.access.descending {
            ranges.reverse();
        }
        let conditions = (self.conditions.of.clone(), self.conditions.take());
        let how = (self.node.estimate.rows - self.read as f64, self.direction());
        let selected = SelectedRows::new(conditions, (snapshot, ranges), how, (places, context.env)).await?;
        self.ranges = Some(Vec::new());
        self.selected = Some(Box::new(selected));
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
        if let Some(row) = self.row_of(&key, context).await? {
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
        let Some(row) = self.row_of(key, context).await? else { return Ok(()) };
        self.push_row(|| key, &row, context, out)
    }

    /// The row with a clustered key.
    async fn row_of(&self, key: &[u8], context: &mut ExecContext<'_>) -> Result<Option<Bytes>, SqlError> {
        if self.mode == ReadMode::Consistent
            && let Some(found) = context.transaction.get_at_once(self.table, key)?
        {
            return Ok(found);
        }
        Ok(context.transaction.get(self.table, key, self.mode).await?)
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
        self.start();
    }

    fn open_with(&mut self, seed: &mut Vec<Value>) {
        std::mem::swap(&mut self.seed, seed);
        self.start();
    }

    fn cut_off(&mut self, slot: usize, value: &Value, descending: bool) {
        let places = match self.covered {
            Covered::Row => &self.node.decode,
            Covered::Covering => &self.node.index_decode,
            Covered::Fetch => return,
        };
        let Some((place, _)) = places.iter().find(|(_, other)| *other == slot) else { return };
        let Some(condition) = self.conditions.up_to(*place, value, descending) else { return };
        match &self.selected {
            Some(selected) => selected.bound(condition),
            None => self.conditions.bound = Some(condition),
        }
    }

    fn keep_only(&mut self, slot: usize, values: &mut dyn Iterator<Item = &Value>) {
        let Some((column, _)) = self.node.decode.iter().find(|(_, other)| *other == slot) else { return };
        if self.node.lock.is_some() || self.access.is_unique_point() {
            return;
        }
        let Some(place) = self.conditions.of.place_of(*column) else { return };
        self.conditions.matches.extend(ImageCondition::among(&self.conditions.of, place, values));
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
