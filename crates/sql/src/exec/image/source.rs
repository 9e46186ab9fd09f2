//! From a scan under a grouping to its groups, by images alone.

use std::ops::Bound;
use std::sync::Arc;

use base::SqlError;
use bytes::Bytes;
use engine::{Direction, Isolation, KeyRange, Rows, Snapshot, SnapshotScan, Table};
use types::Value;
use types::key::successor;

use crate::exec::batch::BATCH_ROWS;
use crate::exec::context::ExecContext;
use crate::exec::image::ImageOf;
use crate::exec::image::compile::Compiler;
use crate::exec::image::grouping::{ImageGroup, ImageGrouping};
use crate::exec::image::parts::group_parts;
use crate::exec::ranges::key_ranges;
use crate::expr::{AggregateFunction, AggregateState, Expr};
use crate::plan::access::{Covered, IndexAccess, are_ranges};
use crate::plan::node::{AccessMethod, AccessNode, AggregateNode, BlockPlan, Node, PlannedSource};

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
        let (rows, index) = (self.node.estimate.rows, self.access.index);
        let Some(groups) = group_parts(Arc::new(grouping), snapshot, (index, ranges), rows, context).await? else {
            return Ok(None);
        };
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
    pub(crate) fn ordered(
        &self,
        node: &AggregateNode,
        seed: &[Value],
        context: &mut ExecContext<'_>,
    ) -> Result<Option<OrderedGroups>, SqlError> {
        let of = self.image();
        let compiler = Compiler { of: &of, places: self.places, seed, eval: &context.eval };
        let grouping = ImageGrouping::new(node, &self.conditions(), &compiler);
        let Some(grouping) = grouping.filter(ImageGrouping::sums_fit) else { return Ok(None) };
        let Some((snapshot, mut ranges)) = self.open(seed, context)? else { return Ok(None) };
        let direction = if self.access.descending { Direction::Backward } else { Direction::Forward };
        if direction == Direction::Forward {
            ranges.reverse();
        }
        let index = self.access.index;
        let (scan, rows, current, scratch) = (None, Rows::default(), None, Vec::new());
        Ok(Some(OrderedGroups { grouping, snapshot, index, direction, ranges, scan, rows, current, scratch }))
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

/// Groups that are made in the order of their keys, of a scan in that order.
pub(crate) struct OrderedGroups {
    grouping: ImageGrouping,
    snapshot: Snapshot,
    index: usize,
    direction: Direction,
    /// Still to be read, the next one last.
    ranges: Vec<KeyRange>,
    scan: Option<SnapshotScan>,
    rows: Rows,
    /// The last one, which may have more rows.
    current: Option<ImageGroup>,
    scratch: Vec<u8>,
}

impl OrderedGroups {
    /// Adds groups that have ended to `out`; false if there will be no more.
    pub(crate) async fn next(&mut self, out: &mut Vec<ImageGroup>) -> Result<bool, SqlError> {
        let scan = match &mut self.scan {
            Some(scan) => scan,
            None => match self.ranges.pop() {
                Some(range) => self.scan.insert(self.snapshot.scan(self.index, range, self.direction)),
                None => {
                    out.extend(self.current.take());
                    return Ok(false);
                }
            },
        };
        if !scan.next_rows(&mut self.rows, BATCH_ROWS).await? {
            self.scan = None;
            return Ok(true);
        }
        let give = |group| out.push(group);
        match self.grouping.add_ordered(&self.rows, &mut self.current, &mut self.scratch, give)? {
            true => Ok(true),
            false => Err(SqlError::unknown("a sum that does not fit")),
        }
    }
}
