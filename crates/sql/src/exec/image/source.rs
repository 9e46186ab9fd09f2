//! From a scan under a grouping to its groups, by images alone.

use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use base::SqlError;
use bytes::Bytes;
use engine::{Direction, Isolation, KeyRange, Rows, Snapshot, Table};
use parking_lot::Mutex;
use types::Value;
use types::key::successor;

use crate::exec::context::ExecContext;
use crate::exec::image::ImageOf;
use crate::exec::image::compile::Compiler;
use crate::exec::image::grouping::{ImageGroup, ImageGrouping, ImageGroups};
use crate::exec::image::parts::{Cut, Next, PartWork, Parts, SHARED_FROM, places};
use crate::exec::ranges::key_ranges;
use crate::expr::{AggregateFunction, AggregateState, Expr};
use crate::plan::access::{Covered, IndexAccess, are_ranges};
use crate::plan::node::{AccessMethod, AccessNode, AggregateNode, BlockPlan, Node, PlannedSource};

/// A range is cut into so many parts for each task, so that all end at about the same time.
const PARTS_PER_TASK: usize = 8;

/// Groups of parts of a scan.
struct GroupWork {
    grouping: ImageGrouping,
    /// Bytes that the groups of all parts take, and may take.
    used: AtomicUsize,
    bytes: usize,
}

impl PartWork for GroupWork {
    type Given = ImageGroups;

    fn take_in(&self, rows: &mut Rows, groups: &mut ImageGroups) -> Result<bool, SqlError> {
        let before = groups.bytes();
        let is_done = self.grouping.add(rows, groups, self.bytes)?;
        let more = groups.bytes() - before;
        Ok(is_done && self.used.fetch_add(more, Ordering::Relaxed) + more <= self.bytes)
    }
}

/// A table that is read by an index which holds all that is needed, without locks.
pub(crate) struct ImageSource<'p> {
    node: &'p AccessNode,
    access: &'p IndexAccess,
    /// Columns that are needed: (position in the image, slot).
    places: &'p [(usize, usize)],
    table: &'p Arc<Table>,
}

impl<'p> ImageSource<'p> {
    /// The source of a grouping.
    pub(crate) fn of(block: &'p BlockPlan, aggregate: &'p AggregateNode) -> Option<Self> {
        let Node::Access(node) = &aggregate.input else { return None };
        let AccessMethod::Index(access, covered) = &node.method else { return None };
        let PlannedSource::Base(table) = &block.tables[node.table].source else { return None };
        let is_plain = node.lock.is_none() && node.row_image.is_none() && !access.is_unique_point();
        // Parts are read forward.
        let is_readable = aggregate.rollup.is_none() && (aggregate.ordered || !access.descending);
        let places = match covered {
            Covered::Row => &node.decode,
            Covered::Covering => &node.index_decode,
            Covered::Fetch => return None,
        };
        (is_plain && is_readable).then_some(ImageSource { node, access, places, table })
    }

    /// The rows of all groups; `None` if they have to be made of values.
    pub(crate) async fn groups(
        &self,
        node: &AggregateNode,
        seed: &[Value],
        context: &mut ExecContext<'_>,
    ) -> Result<Option<Vec<Vec<Value>>>, SqlError> {
        let of = self.image();
        let conditions = self.conditions();
        let compiler = Compiler { of: &of, places: self.places, seed, eval: &context.eval };
        let Some(grouping) = ImageGrouping::new(node, &conditions, &compiler) else { return Ok(None) };
        let column_of = |expr: &Expr| Some(of.column(compiler.place(expr)?));
        let is_counted = grouping.counts_rows() && are_ranges(&self.access.parts, &conditions, &column_of);
        let Some((snapshot, ranges)) = self.open(seed, context)? else { return Ok(None) };
        let states = if is_counted {
            Some(grouping.counted(self.count(&snapshot, &ranges, context).await?))
        } else if conditions.is_empty() && self.access.parts.is_empty() {
            self.extremes(&grouping, &snapshot).await?
        } else {
            None
        };
        if let Some(states) = states {
            // What is no aggregate is that of the first row (ANY_VALUE).
            let first = if self.places.is_empty() { None } else { self.first(&snapshot, &ranges).await? };
            return Ok(Some(vec![self.row(node, seed, first.as_ref(), states)?]));
        }
        let Some(groups) = self.group(grouping, snapshot, ranges, context).await? else { return Ok(None) };
        let mut list = Vec::with_capacity(groups.len().max(1));
        if groups.is_empty() && node.keys.is_empty() {
            let states = node.aggregates.iter().map(|(aggregate, _)| aggregate.start()).collect();
            list.push(self.row(node, seed, None, states)?);
        }
        for group in groups {
            let ImageGroup { first, states, .. } = group;
            list.push(self.row(node, seed, Some(&first), states)?);
        }
        Ok(Some(list))
    }

    /// Groups of rows that come in the order of their keys, one after the other; `None` if they have to be made of values.
    pub(crate) async fn ordered(
        &self,
        node: &AggregateNode,
        seed: &[Value],
        context: &mut ExecContext<'_>,
    ) -> Result<Option<OrderedGroups>, SqlError> {
        let of = self.image();
        let compiler = Compiler { of: &of, places: self.places, seed, eval: &context.eval };
        let grouping = ImageGrouping::new(node, &self.conditions(), &compiler);
        let Some(grouping) = grouping.filter(ImageGrouping::sums_fit) else { return Ok(None) };
        let Some((snapshot, ranges)) = self.open(seed, context)? else { return Ok(None) };
        let direction = if self.access.descending { Direction::Backward } else { Direction::Forward };
        let rows = self.node.estimate.rows;
        let is_shared = rows >= SHARED_FROM && grouping.is_divisible();
        let places = if is_shared { places(&snapshot, context.env) } else { Vec::new() };
        let how = Cut::in_order(rows, places.len(), direction);
        let (work, ranges) = (OrderedWork { grouping, open: Mutex::new(None) }, (self.access.index, ranges));
        let parts = Parts::new(work, snapshot, ranges, how, (places, context.env)).await?;
        Ok(Some(OrderedGroups { parts, last: None }))
    }

    fn image(&self) -> ImageOf {
        ImageOf { table: self.table.clone(), index: self.access.index }
    }

    fn conditions(&self) -> Vec<&'p Expr> {
        self.node.index_filter.iter().chain(&self.node.filter).collect()
    }

    /// What is to be read; `None` if it has to be read by the transaction.
    fn open(
        &self,
        seed: &[Value],
        context: &mut ExecContext<'_>,
    ) -> Result<Option<(Snapshot, Vec<KeyRange>)>, SqlError> {
        if context.transaction.options().isolation == Isolation::Serializable {
            return Ok(None);
        }
        let Some(snapshot) = context.transaction.snapshot_of(self.table)? else { return Ok(None) };
        Ok(Some((snapshot, key_ranges(self.access, self.table, seed, &context.eval)?.list)))
    }

    /// The groups of all rows, made in parts; `None` if values have to be made.
    async fn group(
        &self,
        grouping: ImageGrouping,
        snapshot: Snapshot,
        ranges: Vec<KeyRange>,
        context: &ExecContext<'_>,
    ) -> Result<Option<Vec<ImageGroup>>, SqlError> {
        let is_shared = self.node.estimate.rows >= SHARED_FROM && grouping.is_divisible();
        let places = if is_shared { places(&snapshot, context.env) } else { Vec::new() };
        let parts = if places.is_empty() { 1 } else { PARTS_PER_TASK * (places.len() + 1) };
        let how = Cut { parts, ahead: usize::MAX, direction: Direction::Forward };
        let bytes = context.limits.table_bytes;
        let work = GroupWork { grouping, used: AtomicUsize::new(0), bytes };
        let parts = Parts::new(work, snapshot, (self.access.index, ranges), how, (places, context.env)).await?;
        let mut groups = ImageGroups::default();
        loop {
            match parts.next(context).await? {
                Next::Part(part) if groups.list.is_empty() => groups = part,
                Next::Part(part) => {
                    if !parts.work().grouping.merge(&mut groups, part, bytes)? {
                        return Ok(None);
                    }
                }
                Next::End => return Ok(Some(groups.list)),
                Next::Impossible => return Ok(None),
            }
        }
    }

    /// Without looking at each row.
    async fn count(
        &self,
        snapshot: &Snapshot,
        ranges: &[KeyRange],
        context: &ExecContext<'_>,
    ) -> Result<u64, SqlError> {
        let mut rows = 0;
        for range in ranges {
            let count = async { Ok(snapshot.count(self.access.index, range).await?) };
            rows += context.unless_cancelled(count).await?;
        }
        Ok(rows)
    }

    /// MIN and MAX of all rows, from the ends of indexes that the columns begin; `None` if that does not answer all that is wanted.
    async fn extremes(
        &self,
        grouping: &ImageGrouping,
        snapshot: &Snapshot,
    ) -> Result<Option<Vec<AggregateState>>, SqlError> {
        let Some(wanted) = grouping.extremes() else { return Ok(None) };
        let mut states = grouping.counted(0);
        for ((aggregate, column), state) in wanted.into_iter().zip(&mut states) {
            let Some(index) = self.index_of(column) else { return Ok(None) };
            let of = ImageOf { table: self.table.clone(), index };
            let Some(place) = of.place_of(column) else { return Ok(None) };
            let descending = self.table.def.indexes[index].parts[0].descending;
            let is_last = (aggregate.function == AggregateFunction::Max) != descending;
            let direction = if is_last { Direction::Backward } else { Direction::Forward };
            let mut rows = Rows::default();
            if snapshot.scan(index, self.without_nulls(index)?, direction).next_rows(&mut rows, 1).await? {
                state.take_best(aggregate, of.layout().decode_column(&rows.value_bytes(0), place)?);
            }
        }
        Ok(Some(states))
    }

    /// An index whose first part is the whole of a column that has ranks, so that equal values are one.
    fn index_of(&self, column: usize) -> Option<usize> {
        let def = &self.table.def;
        let begins = |index: &types::IndexDef| {
            index.parts.first().is_some_and(|part| part.column == column && part.prefix_chars.is_none())
        };
        let mut indexes = def.indexes.iter().enumerate();
        let found = indexes.position(|(number, index)| (number == 0 || index.visible) && begins(index));
        found.filter(|_| self.table.codec.row.field(column).has_ranks())
    }

    /// The entries of an index whose first part is not NULL.
    fn without_nulls(&self, index: usize) -> Result<KeyRange, SqlError> {
        let part = &self.table.def.indexes[index].parts[0];
        if !self.table.def.columns[part.column].nullable {
            return Ok(KeyRange::all());
        }
        let nulls = self.table.codec.prefix(index, &[Value::Null])?;
        Ok(match part.descending {
            true => KeyRange { lower: Bound::Unbounded, upper: Bound::Excluded(nulls) },
            false => KeyRange {
                lower: successor(&nulls).map_or(Bound::Excluded(nulls), Bound::Included),
                upper: Bound::Unbounded,
            },
        })
    }

    /// The image of the first row.
    async fn first(&self, snapshot: &Snapshot, ranges: &[KeyRange]) -> Result<Option<Bytes>, SqlError> {
        let mut rows = Rows::default();
        for range in ranges {
            let mut scan = snapshot.scan(self.access.index, range.clone(), Direction::Forward);
            if scan.next_rows(&mut rows, 1).await? {
                return Ok(Some(rows.value_bytes(0)));
            }
        }
        Ok(None)
    }

    /// A group's row: its first one, with the aggregates.
    pub(crate) fn row(
        &self,
        node: &AggregateNode,
        seed: &[Value],
        first: Option<&Bytes>,
        states: Vec<AggregateState>,
    ) -> Result<Vec<Value>, SqlError> {
        let mut row = seed.to_vec();
        if let Some(image) = first {
            self.image().layout().decode_to(image, self.places.iter().copied(), &mut row)?;
        }
        for ((aggregate, slot), state) in node.aggregates.iter().zip(states) {
            row[*slot] = aggregate.finish(state)?;
        }
        Ok(row)
    }
}

/// Groups of parts of a scan in the order of their keys.
struct OrderedWork {
    grouping: ImageGrouping,
    /// The last group of the part before, if its sums depend on the order of the rows: the next part goes on with it. Then parts are read one after the
    /// other, without helpers.
    open: Mutex<Option<ImageGroup>>,
}

/// Those of a part.
#[derive(Default)]
struct OrderedPart {
    list: Vec<ImageGroup>,
    /// The last one, which may have more rows.
    current: Option<ImageGroup>,
    scratch: Vec<u8>,
}

impl PartWork for OrderedWork {
    type Given = OrderedPart;

    fn take_in(&self, rows: &mut Rows, part: &mut OrderedPart) -> Result<bool, SqlError> {
        if part.current.is_none() {
            part.current = self.open.lock().take();
        }
        let list = &mut part.list;
        self.grouping.add_ordered(rows, &mut part.current, &mut part.scratch, |group| list.push(group))
    }
}

/// Groups that are made in the order of their keys, of a scan in that order.
pub(crate) struct OrderedGroups {
    parts: Parts<OrderedWork>,
    /// The last one, which may have more rows.
    last: Option<ImageGroup>,
}

impl OrderedGroups {
    /// Adds groups that have ended to `out`; false if there will be no more.
    pub(crate) async fn next(
        &mut self,
        context: &ExecContext<'_>,
        out: &mut Vec<ImageGroup>,
    ) -> Result<bool, SqlError> {
        let OrderedPart { list, current, .. } = match self.parts.next(context).await? {
            Next::Part(part) => part,
            Next::End => {
                out.extend(self.last.take().or_else(|| self.parts.work().open.lock().take()));
                return Ok(false);
            }
            Next::Impossible => return Err(SqlError::unknown("a sum that does not fit")),
        };
        let OrderedWork { grouping, open } = self.parts.work();
        if !grouping.is_divisible() {
            out.extend(list);
            current.into_iter().for_each(|group| *open.lock() = Some(group));
            return Ok(true);
        }
        for group in list.into_iter().chain(current) {
            let ended = match &mut self.last {
                Some(last) => grouping.join_ordered(last, group)?.map(|next| std::mem::replace(last, next)),
                None => self.last.replace(group),
            };
            out.extend(ended);
        }
        Ok(true)
    }
}
