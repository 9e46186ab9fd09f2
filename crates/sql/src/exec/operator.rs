//! The operators' common face, and the tree of them that is made from a plan's nodes.
//!
//! Rows are pulled: an operator asks its input for a batch when it needs one. An operator is *opened* with a seed, the row
//! on top of which it fills its slots; the inner side of a join or a subquery is opened again and again with other seeds
//! and keeps what does not depend on them.
//!
//! A future is made per batch, not per row, and none of them waits while the data is in memory.

use std::borrow::Borrow;

use base::SqlError;
use io::BoxFuture;
use types::Value;

use crate::exec::aggregate::AggregateRows;
use crate::exec::apply::ApplySubqueries;
use crate::exec::batch::RowBatch;
use crate::exec::context::ExecContext;
use crate::exec::distinct::DistinctRows;
use crate::exec::filter::{EmptyRows, FilterRows, LimitRows, OneRow};
use crate::exec::hash_join::HashJoin;
use crate::exec::join::{BufferedJoin, NestedLoop};
use crate::exec::measured::MeasuredRows;
use crate::exec::scan::Scan;
use crate::exec::sort::SortRows;
use crate::exec::source::SourceRows;
use crate::exec::window::{ComputeRows, WindowRows};
use crate::expr::Expr;
use crate::plan::node::{AccessMethod, BlockPlan, JoinMethod, Node, PlannedSource};

/// Makes rows.
pub(crate) trait Operator: Send {
    /// Starts anew with this row. Nothing is read yet.
    fn open(&mut self, seed: &[Value]);

    /// The same with a row that nobody else needs: it is taken, and another of the same width is left.
    fn open_with(&mut self, seed: &mut Vec<Value>) {
        self.open(seed);
    }

    /// Adds at most `want` rows to `out`; `false` if there will be no more after these. (`true` with nothing added is
    /// possible: ask again.)
    fn next_batch<'a>(
        &'a mut self,
        context: &'a mut ExecContext<'_>,
        out: &'a mut RowBatch,
        want: usize,
    ) -> BoxFuture<'a, Result<bool, SqlError>>;

    /// Rows whose value in a slot comes behind this one, in that order, are wanted no more until it is opened again. They may be given all the
    /// same.
    fn cut_off(&mut self, _slot: usize, _value: &Value, _descending: bool) {}

    /// Until it is opened again, only rows are wanted whose value in a slot is equal to one of these, by the comparison of values of their own kind.
    /// Others may be given all the same. Said after it was opened, best before it is read.
    fn keep_only(&mut self, _slot: usize, _values: &mut dyn Iterator<Item = &Value>) {}
}

/// An operator that lives as long as its plan is borrowed.
pub(crate) type BoxedOperator<'p> = Box<dyn Operator + 'p>;

/// The operators for a node and those below it.
pub(crate) fn build<'p>(block: &'p BlockPlan, node: &'p Node) -> BoxedOperator<'p> {
    match node {
        Node::One => Box::new(OneRow::default()),
        Node::Nothing(_) => Box::new(EmptyRows),
        Node::Access(access) => match (&access.method, &block.tables[access.table].source) {
            (AccessMethod::Index(index, covered), PlannedSource::Base(table)) => {
                Box::new(Scan::new(access, index, covered, table))
            }
            (_, source) => Box::new(SourceRows::new(access, source, block.width)),
        },
        Node::Join(join) => {
            let (outer, inner) = (build(block, &join.outer), build(block, &join.inner));
            match &join.method {
                JoinMethod::NestedLoop => Box::new(NestedLoop::new(join, outer, inner, block.width)),
                JoinMethod::Buffered => Box::new(BufferedJoin::new(join, outer, inner, block.width)),
                JoinMethod::Hash(keys) => Box::new(HashJoin::new(join, keys, outer, inner, block.width)),
            }
        }
        Node::Filter { input, conditions } => Box::new(FilterRows::new(build(block, input), conditions)),
        Node::Apply { input, subqueries } => Box::new(ApplySubqueries::new(build(block, input), block, subqueries)),
        Node::Aggregate(aggregate) => Box::new(AggregateRows::new(aggregate, build(block, &aggregate.input), block)),
        Node::Compute { input, exprs } => Box::new(ComputeRows::new(build(block, input), exprs)),
        Node::Window(window) => Box::new(WindowRows::new(window, build(block, &window.input), block.width)),
        Node::Distinct { input, keys, together } => {
            Box::new(DistinctRows::new(build(block, input), (keys, *together), block.width))
        }
        Node::Sort { input, keys, limit } => Box::new(SortRows::new(build(block, input), keys, limit, block.width)),
        Node::Limit { input, limit } => Box::new(LimitRows::new(build(block, input), limit, block.count_found_rows)),
        Node::Measured(measured) => Box::new(MeasuredRows::new(build(block, &measured.node), &measured.counters)),
    }
}

/// Whether all conditions hold for a row; NULL does not.
pub(crate) fn passes(
    conditions: &[impl Borrow<Expr>],
    row: &[Value],
    context: &ExecContext<'_>,
) -> Result<bool, SqlError> {
    for condition in conditions {
        if condition.borrow().eval_truth(row, &context.eval)? != Some(true) {
            return Ok(false);
        }
    }
    Ok(true)
}
