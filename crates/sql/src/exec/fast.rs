//! The short way for `SELECT … WHERE primary_key = …`: no operators, no batches.

use base::SqlError;
use engine::{Isolation, ReadMode, Table};
use types::Value;

use crate::exec::context::ExecContext;
use crate::exec::operator::passes;
use crate::exec::ranges::{self, point_key};
use crate::exec::scan::{decode_row, read_mode};
use crate::expr::json;
use crate::plan::access::{Covered, IndexAccess, Interval};
use crate::plan::node::{AccessMethod, AccessNode, BlockPlan, Node, PlannedSource, QueryBody, QueryPlan};
use crate::result::{Outcome, ResultSink};

/// A block that reads at most one row by its primary key.
pub(crate) struct Point<'p> {
    block: &'p BlockPlan,
    node: &'p AccessNode,
    access: &'p IndexAccess,
    table: &'p std::sync::Arc<Table>,
}

/// The query's point, if it is such a query.
pub(crate) fn point_select(plan: &QueryPlan) -> Option<Point<'_>> {
    match &plan.body {
        QueryBody::Block(block) if plan.into.is_empty() => point_of(block),
        _ => None,
    }
}

/// The block's point, if it has nothing else.
pub(crate) fn point_of(block: &BlockPlan) -> Option<Point<'_>> {
    let Node::Access(node) = &block.root else { return None };
    if !block.constants.is_empty() {
        return None;
    }
    let AccessMethod::Index(access, Covered::Row) = &node.method else { return None };
    let PlannedSource::Base(table) = &block.tables[node.table].source else { return None };
    is_one_point(access).then_some(Point { block, node, access, table })
}

/// Whether it is one clustered key, by equality of every part.
pub(crate) fn is_one_point(access: &IndexAccess) -> bool {
    access.index == 0
        && access.is_unique_point()
        && access.parts.iter().all(|part| matches!(part.intervals[..], [Interval::Point(_)]))
}

impl Point<'_> {
    /// Runs it; `None` if a value has no place among the keys (text beside a number): the operators have to look for it.
    pub(crate) async fn run(
        &self,
        plan: &QueryPlan,
        context: &mut ExecContext<'_>,
        sink: &mut dyn ResultSink,
    ) -> Result<Option<Outcome>, SqlError> {
        let mut row = vec![Value::Null; self.block.width];
        let Some(found) = self.read(&mut row, context).await? else { return Ok(None) };
        sink.columns(&plan.columns)?;
        if found {
            let mut values = Vec::with_capacity(self.block.output.len());
            for expr in &self.block.output {
                let value = expr.eval(&row, &context.eval)?;
                let is_long = json::is_beyond_packet(expr, &value, &context.eval)?;
                values.push(if is_long { Value::Null } else { value });
            }
            sink.row(&values)?;
        }
        context.found_rows = found.into();
        Ok(Some(Outcome { has_rows: true, affected_rows: found.into(), ..Outcome::default() }))
    }

    /// Reads the row into a frame: whether there is one that matches. `None` as in [`Point::run`].
    pub(crate) async fn read(
        &self,
        row: &mut [Value],
        context: &mut ExecContext<'_>,
    ) -> Result<Option<bool>, SqlError> {
        let key = match point_key(self.access, self.table, row, &context.eval)? {
            ranges::Point::Key(key) => key,
            ranges::Point::Nothing => return Ok(Some(false)),
            ranges::Point::Unplaced => return Ok(None),
        };
        let mode = match self.node.lock {
            None if context.transaction.options().isolation == Isolation::Serializable => ReadMode::FOR_SHARE,
            lock => read_mode(lock),
        };
        let Some(image) = context.transaction.get(self.table, &key, mode).await? else { return Ok(Some(false)) };
        decode_row(self.table, &image, self.node, row)?;
        let wanted = passes(&self.node.filter, row, context)?;
        if !wanted && mode != ReadMode::Consistent {
            context.transaction.unlock_row(self.table, &key);
        }
        Ok(Some(wanted))
    }
}
