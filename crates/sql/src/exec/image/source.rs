//! From a scan under a grouping to its groups, by images alone.

use std::sync::Arc;

use base::SqlError;
use engine::{Isolation, KeyRange, Snapshot, Table};
use types::Value;

use crate::exec::context::ExecContext;
use crate::exec::image::ImageOf;
use crate::exec::image::compile::Compiler;
use crate::exec::image::grouping::{ImageGroup, ImageGrouping};
use crate::exec::image::parts::group_parts;
use crate::exec::ranges::key_ranges;
use crate::expr::{AggregateState, CompareOp, Expr, ExprKind};
use crate::plan::access::{Covered, IndexAccess, Interval, PartRange};
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
    /// The source of a grouping whose rows need not come in any order.
    pub(crate) fn of(block: &'p BlockPlan, aggregate: &'p AggregateNode) -> Option<Self> {
        let Node::Access(node) = &aggregate.input else { return None };
        let AccessMethod::Index(access, covered) = &node.method else { return None };
        let PlannedSource::Base(table) = &block.tables[node.table].source else { return None };
        let is_plain =
            node.lock.is_none() && node.row_image.is_none() && !access.descending && !access.is_unique_point();
        let is_hashed = aggregate.rollup.is_none() && (aggregate.keys.is_empty() || !aggregate.ordered);
        let places = match covered {
            Covered::Row => &node.decode,
            Covered::Covering => &node.index_decode,
            Covered::Fetch => return None,
        };
        (is_plain && is_hashed).then_some(ImageSource { node, access, places, table })
    }

    /// The rows of all groups; `None` if they have to be made of values.
    pub(crate) async fn groups(
        &self,
        node: &AggregateNode,
        seed: &[Value],
        context: &mut ExecContext<'_>,
    ) -> Result<Option<Vec<Vec<Value>>>, SqlError> {
        if context.transaction.options().isolation == Isolation::Serializable {
            return Ok(None);
        }
        let of = ImageOf { table: self.table.clone(), index: self.access.index };
        let conditions: Vec<&Expr> = self.node.index_filter.iter().chain(&self.node.filter).collect();
        let compiler = Compiler { of: &of, places: self.places, seed, eval: &context.eval };
        let Some(grouping) = ImageGrouping::new(node, &conditions, &compiler) else { return Ok(None) };
        let Some(snapshot) = context.transaction.snapshot_of(self.table)? else { return Ok(None) };
        let ranges = key_ranges(self.access, self.table, seed, &context.eval)?.list;
        if grouping.counts_rows() && are_ranges(&self.access.parts, &conditions, &compiler) {
            let rows = self.count(&snapshot, &ranges, context).await?;
            return Ok(Some(vec![self.row(node, seed, None, grouping.counted(rows))?]));
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

    /// A group's row: its first one, with the aggregates.
    fn row(
        &self,
        node: &AggregateNode,
        seed: &[Value],
        first: Option<&bytes::Bytes>,
        states: Vec<AggregateState>,
    ) -> Result<Vec<Value>, SqlError> {
        let mut row = seed.to_vec();
        if let Some(image) = first {
            let of = ImageOf { table: self.table.clone(), index: self.access.index };
            of.layout().decode_to(image, self.places.iter().copied(), &mut row)?;
        }
        for ((aggregate, slot), state) in node.aggregates.iter().zip(states) {
            row[*slot] = aggregate.finish(state)?;
        }
        Ok(row)
    }
}

/// Whether the ranges of an access hold exactly the rows for which the conditions do: each part has a condition of its own, or two that bound
/// it from both sides, and there is no other.
fn are_ranges(parts: &[PartRange], conditions: &[&Expr], compiler: &Compiler<'_>) -> bool {
    let mut left = conditions.len();
    let is_exact = parts.iter().all(|part| {
        let of_part = |condition: &&&Expr| {
            let place = bounded(condition).and_then(|column| compiler.place(column));
            place.is_some_and(|place| compiler.of.column(place) == part.column)
        };
        let own: Vec<&&Expr> = conditions.iter().filter(of_part).collect();
        left = left.saturating_sub(own.len());
        part.exact
            && match own[..] {
                [_] => true,
                [one, other] => {
                    let is_between = matches!(part.intervals[..], [Interval::Span { lower: Some(_), upper: Some(_) }]);
                    is_between && is_lower(one).zip(is_lower(other)).is_some_and(|(one, other)| one != other)
                }
                _ => false,
            }
    });
    is_exact && left == 0
}

/// The column that a condition asks a range of.
fn bounded(condition: &Expr) -> Option<&Expr> {
    match &condition.kind {
        ExprKind::Compare { op: CompareOp::NotEq | CompareOp::NullSafeEq, .. } => None,
        ExprKind::Compare { args, .. } => args.iter().find(|arg| arg.as_column().is_some()),
        ExprKind::Between { args } => Some(&args[0]),
        ExprKind::In { value, .. } => Some(value),
        _ => None,
    }
}

/// Whether a comparison bounds its column from below; `None` if it is no bound of one side.
fn is_lower(condition: &Expr) -> Option<bool> {
    let ExprKind::Compare { op, args } = &condition.kind else { return None };
    let op = if args[0].as_column().is_some() { *op } else { op.mirrored() };
    match op {
        CompareOp::Greater | CompareOp::GreaterEq => Some(true),
        CompareOp::Less | CompareOp::LessEq => Some(false),
        _ => None,
    }
}
