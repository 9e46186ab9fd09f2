//! Places in rows: until a block is planned its expressions name [columns](crate::bind::columns) of the statement. Here each column that is read
//! gets a slot in the block's frame, and expressions read slots from then on.
//!
//! ```text
//!   SELECT a.x FROM a WHERE a.y > (SELECT MAX(z) FROM c WHERE c.w = a.w)
//!
//!   columns of the statement   a.x 0   a.y 1   c.z 2   c.w 3   a.w 4   MAX 5   subquery 6
//!   slots of the outer block   a.x 0   a.y 1   a.w 2   subquery 3
//!   slots of the inner block   c.z 0   c.w 1   outer 2 (copied from slot 2 there)   MAX 3
//! ```
//!
//! # Invariants
//! - What no expression of a block reads, nor of those in it, has no slot there, and is not read from a table.
//! - A column of an enclosing block has a slot in every block between, so that each hands it on to the next.

use std::collections::HashMap;
use std::sync::Arc;

use base::SqlError;

use crate::bind::columns::{ColumnId, ColumnSource, Columns};
use crate::bind::scope::place_of;
use crate::bind::tree::{Block, BoundTable, Limit, Subquery};
use crate::expr::{Expr, SlotSet};
use crate::plan::access::{IndexAccess, Interval};
use crate::plan::node::{
    AccessMethod, AccessNode, AggregateNode, BlockPlan, JoinMethod, JoinNode, Node, QueryBody, QueryPlan, SlotSource,
    SubqueryPlan, WindowNode,
};

/// The slot of each column of a frame.
#[derive(Debug, Default)]
pub(crate) struct Layout {
    /// In the order of the slots, which is that of their numbers.
    columns: Vec<ColumnId>,
}

impl Layout {
    /// Of these columns, in the order of their numbers.
    pub(crate) fn of(columns: SlotSet) -> Self {
        let mut columns = columns.into_vec();
        columns.sort_unstable();
        Layout { columns }
    }

    /// Of what expressions without a block of their own read, and the subqueries in them.
    pub(crate) fn of_exprs<'e>(exprs: impl IntoIterator<Item = &'e Expr>, subqueries: &[Subquery]) -> Self {
        let mut used = SlotSet::default();
        exprs.into_iter().for_each(|expr| expr.collect_slots(&mut used));
        for subquery in subqueries {
            subquery.collect_read(&mut used);
            used.insert(subquery.id);
        }
        Layout::of(used)
    }

    /// Values per row.
    pub(crate) fn width(&self) -> usize {
        self.columns.len()
    }

    /// The slot of a column that is read.
    pub(crate) fn find(&self, id: ColumnId) -> Option<usize> {
        self.columns.binary_search(&id).ok()
    }

    /// The same of one that is known to be read; every row is too short for another.
    pub(crate) fn slot(&self, id: ColumnId) -> usize {
        self.find(id).unwrap_or(usize::MAX)
    }

    /// Makes an expression read slots.
    pub(crate) fn lay(&self, expr: &mut Expr) {
        expr.map_slots(&|id| self.slot(id));
    }

    /// The columns of a table that are read: (position in the table, slot), by position.
    pub(crate) fn of_table(&self, table: &BoundTable, columns: &Columns) -> Vec<(usize, usize)> {
        columns.of_table(table.id).filter_map(|(column, id)| Some((column, self.find(id)?))).collect()
    }

    /// A subquery that was planned, and what it takes from the rows of this layout.
    pub(crate) fn lay_subquery(&self, subquery: &mut SubqueryPlan) {
        subquery.slot = self.slot(subquery.slot);
        self.lay_all(subquery.kind.exprs_mut());
        subquery.guard.iter_mut().for_each(|guard| self.lay(guard));
        subquery.query.iter_mut().for_each(|query| self.lay_outer(query));
    }

    /// What a query in the block takes from its rows.
    pub(crate) fn lay_outer(&self, query: &mut QueryPlan) {
        match &mut query.body {
            QueryBody::Block(block) => {
                for (there, here) in &mut block.outer {
                    *there = self.slot(*there);
                    block.slots[*here] = SlotSource::Outer { slot: *there };
                }
            }
            QueryBody::Set(set) => set.branches.iter_mut().for_each(|branch| self.lay_outer(branch)),
            QueryBody::Values(_) => {}
        }
    }

    pub(crate) fn lay_all<'e>(&self, exprs: impl IntoIterator<Item = &'e mut Expr>) {
        exprs.into_iter().for_each(|expr| self.lay(expr));
    }

    fn lay_limit(&self, limit: &mut Limit) {
        self.lay_all(limit.count.iter_mut().chain(&mut limit.offset));
    }

    fn lay_node(&self, node: &mut Node) {
        match node {
            Node::One | Node::Nothing(_) => {}
            Node::Access(access) => self.lay_access(access),
            Node::Join(join) => self.lay_join(join),
            Node::Filter { input, conditions } => {
                self.lay_node(input);
                self.lay_all(conditions);
            }
            Node::Apply { input, .. } => self.lay_node(input),
            Node::Aggregate(aggregate) => self.lay_aggregate(aggregate),
            Node::Compute { input, exprs } => {
                self.lay_node(input);
                for (expr, slot) in exprs {
                    self.lay(expr);
                    *slot = self.slot(*slot);
                }
            }
            Node::Window(window) => self.lay_window(window),
            Node::Measured(measured) => self.lay_node(&mut measured.node),
            Node::Distinct { input, keys, .. } => {
                self.lay_node(input);
                self.lay_all(keys);
            }
            Node::Sort { input, keys, limit } => {
                self.lay_node(input);
                self.lay_all(keys.iter_mut().map(|item| &mut item.expr));
                self.lay_limit(limit);
            }
            Node::Limit { input, limit } => {
                self.lay_node(input);
                self.lay_limit(limit);
            }
        }
    }

    fn lay_access(&self, access: &mut AccessNode) {
        let AccessNode { method, decode, row_image, index_filter, index_decode, filter, .. } = access;
        if let AccessMethod::Index(access, _) = method {
            self.lay_ranges(access);
        }
        decode.iter_mut().chain(index_decode).for_each(|(_, slot)| *slot = self.slot(*slot));
        row_image.iter_mut().for_each(|slot| *slot = self.slot(*slot));
        self.lay_all(index_filter.iter_mut().chain(filter));
    }

    fn lay_ranges(&self, access: &mut IndexAccess) {
        for interval in access.parts.iter_mut().flat_map(|part| &mut part.intervals) {
            match interval {
                Interval::Point(expr) | Interval::NullSafePoint(expr) | Interval::Like { pattern: expr, .. } => {
                    self.lay(expr);
                }
                Interval::Null => {}
                Interval::Span { lower, upper } => {
                    self.lay_all(lower.iter_mut().chain(upper).map(|(expr, _)| expr));
                }
            }
        }
    }

    fn lay_join(&self, join: &mut JoinNode) {
        self.lay_node(&mut join.outer);
        self.lay_node(&mut join.inner);
        if let JoinMethod::Hash(keys) = &mut join.method {
            keys.iter_mut().for_each(|key| self.lay_all([&mut key.outer, &mut key.inner]));
        }
        self.lay_all(&mut join.conditions);
        join.inner_slots.iter_mut().for_each(|slot| *slot = self.slot(*slot));
    }

    fn lay_window(&self, window: &mut WindowNode) {
        let WindowNode { input, partition, order, windows } = window;
        self.lay_node(input);
        self.lay_all(partition.iter_mut().chain(order.iter_mut().map(|item| &mut item.expr)));
        for (frame, calls) in windows {
            self.lay_all(frame.exprs_mut());
            for call in calls {
                self.lay_all(call.call.args_mut());
                call.id = self.slot(call.id);
            }
        }
    }

    fn lay_aggregate(&self, aggregate: &mut AggregateNode) {
        let AggregateNode { input, keys, rollup, grouped, aggregates, .. } = aggregate;
        self.lay_node(input);
        self.lay_all(keys);
        rollup.iter_mut().flatten().chain(grouped).for_each(|slot| *slot = self.slot(*slot));
        for (call, slot) in aggregates {
            let call = Arc::make_mut(call);
            self.lay_all(call.args.iter_mut().chain(call.order_by.iter_mut().map(|(expr, _)| expr)));
            *slot = self.slot(*slot);
        }
    }
}

/// The columns that anything in a block reads, and those that are written for others to read.
pub(crate) fn used_columns(block: &Block) -> SlotSet {
    let mut used = read_columns(block);
    block.subqueries.iter().for_each(|subquery| _ = used.insert(subquery.id));
    if let Some(grouping) = &block.grouping {
        grouping.aggregates.iter().for_each(|aggregate| _ = used.insert(aggregate.id));
        grouping.rollup.iter().flatten().chain(&grouping.grouped).for_each(|key| _ = used.insert(*key));
    }
    block.made_by_windows().for_each(|id| _ = used.insert(id));
    block.tables.iter().filter_map(|table| table.image).for_each(|image| _ = used.insert(image));
    used
}

/// The columns that anything in a block reads.
pub(crate) fn read_columns(block: &Block) -> SlotSet {
    let mut columns = SlotSet::default();
    block.for_each_expr(&mut |expr| expr.collect_slots(&mut columns));
    block.subqueries.iter().flat_map(|subquery| &subquery.query).for_each(|query| query.collect_outer(&mut columns));
    block.tables.iter().for_each(|table| table.collect_read(&mut columns));
    columns
}

/// The columns of a table that are used: (position in the table, number), by position.
pub(crate) fn used_of(columns: &Columns, used: &SlotSet, table: &BoundTable) -> Vec<(usize, ColumnId)> {
    columns.of_table(table.id).filter(|(_, id)| used.contains(*id)).collect()
}

/// What its block knows of a frame, beside the plan.
pub(crate) struct Frame<'b> {
    pub(crate) columns: &'b Columns,
    /// The columns that have slots.
    pub(crate) used: SlotSet,
    /// Those of them that are of enclosing blocks.
    pub(crate) outer: &'b SlotSet,
    pub(crate) tables: &'b [BoundTable],
    /// The results of its subqueries, of aggregates, and the keys of ROLLUP, each in their order.
    pub(crate) subqueries: Vec<ColumnId>,
    pub(crate) aggregates: Vec<ColumnId>,
    pub(crate) keys: Vec<ColumnId>,
    /// What is made for windows, and by them.
    pub(crate) windows: Vec<ColumnId>,
}

impl Frame<'_> {
    /// What the block makes itself. There may be hundreds of thousands.
    fn made(&self) -> HashMap<ColumnId, SlotSource> {
        let subqueries = numbered(&self.subqueries, |index| SlotSource::Subquery { index });
        let aggregates = numbered(&self.aggregates, |index| SlotSource::Aggregate { index });
        let keys = numbered(&self.keys, |index| SlotSource::Key { index });
        let windows = numbered(&self.windows, |index| SlotSource::Window { index });
        let tables = self.tables.iter().enumerate();
        let images = tables.filter_map(|(table, bound)| Some((bound.image?, SlotSource::RowImage { table })));
        subqueries.chain(aggregates).chain(keys).chain(windows).chain(images).collect()
    }

    /// Gives the columns slots, and makes the plan read them.
    ///
    /// # Errors
    /// A column that no block has: an error of the planner.
    pub(crate) fn lay(self, plan: &mut BlockPlan) -> Result<(), SqlError> {
        let made = self.made();
        let layout = Layout::of(self.used);
        let source = |(here, id): (usize, &ColumnId)| {
            let of_block = match self.columns.source(*id) {
                ColumnSource::Column { table, column } => {
                    place_of(table, self.tables).map(|table| SlotSource::Column { table, column })
                }
                _ => made.get(id).copied(),
            };
            // Which slot it is there is known when the block around it has its layout.
            of_block.ok_or((*id, here))
        };
        let sources: Vec<_> = layout.columns.iter().enumerate().map(source).collect();
        if sources.iter().any(|source| source.is_err_and(|(id, _)| !self.outer.contains(id))) {
            return Err(SqlError::unknown("an expression reads what is in none of the blocks around it"));
        }
        plan.outer = sources.iter().filter_map(|source| source.err()).collect();
        plan.slots =
            sources.into_iter().map(|source| source.unwrap_or_else(|(id, _)| SlotSource::Outer { slot: id })).collect();
        plan.width = layout.width();
        layout.lay_node(&mut plan.root);
        layout.lay_all(&mut plan.output);
        plan.subqueries.iter_mut().for_each(|subquery| layout.lay_subquery(subquery));
        plan.layout = layout;
        Ok(())
    }
}

/// Columns with what they are, by their positions.
fn numbered(ids: &[ColumnId], source: impl Fn(usize) -> SlotSource) -> impl Iterator<Item = (ColumnId, SlotSource)> {
    ids.iter().enumerate().map(move |(index, id)| (*id, source(index)))
}
