//! The rows that UPDATE and DELETE change: a block finds them, planned and run like that of a SELECT.
//!
//! What is different is that its tables are locked, those that are changed exclusively, and that these have a column for the image of the row.
//!
//! # Invariants
//! - A statement does not meet its own changes: where a changed row could come up again in the scan that found it, all rows are found before the first
//!   of them is handed over.

use std::sync::Arc;

use base::{SqlError, codes};
use engine::{LockWait, Table, TableMode};
use types::Value;

use crate::bind::Binder;
use crate::bind::columns::ColumnSource;
use crate::bind::scope::Scope;
use crate::bind::tree::{Block, FromTree, Limit, OrderItem, RowLock, TableSource};
use crate::exec::ExecContext;
use crate::exec::batch::{BATCH_ROWS, RowBatch};
use crate::exec::fast::point_of;
use crate::exec::query::BlockRows;
use crate::exec::spill::{ReadPosition, RowStore};
use crate::expr::{Expr, ExprType, Kind};
use crate::plan::access::IndexAccess;
use crate::plan::node::{AccessMethod, BlockPlan, Node};
use crate::plan::rules::in_as_join::JOINED_SUBQUERY;
use crate::plan::{Privilege, UsedColumns};

/// Marks the tables that are changed: exclusive locks, and a column for each row image. Others are read with shared locks.
pub(super) fn lock_targets(
    binder: &mut Binder<'_>,
    targets: &[usize],
    privilege: Privilege,
) -> Result<Vec<(Arc<Table>, usize)>, SqlError> {
    let level = binder.scopes.len() - 1;
    for (number, table) in binder.scopes[level].tables.iter_mut().enumerate() {
        let exclusive = targets.contains(&number);
        table.lock = Some(RowLock { exclusive, wait: LockWait::Wait });
    }
    let mut images = Vec::with_capacity(targets.len());
    for &table in targets {
        let bound = &binder.scopes[level].tables[table];
        let TableSource::Base(base) = &bound.source else {
            let message = format!("The target table {} of the DELETE is not updatable", bound.alias);
            return Err(SqlError::new(codes::NON_UPDATABLE_TABLE, message));
        };
        let base = base.clone();
        let known = bound.image;
        let new = || binder.add_column(ColumnSource::RowImage, ExprType::of_kind(Kind::Bytes));
        let image = known.unwrap_or_else(new);
        binder.scopes[level].tables[table].image = Some(image);
        images.push((base, image));
    }
    for (base, _) in &images {
        binder.lock_table(base, TableMode::IntentExclusive);
        if privilege == Privilege::Delete {
            binder.use_columns(base, privilege, UsedColumns::Whole);
        }
    }
    Ok(images)
}

/// The block that finds the rows to change.
pub(super) fn changing_block(
    number: u32,
    scope: Scope,
    from: Option<FromTree>,
    filter: Vec<Expr>,
    order: Vec<OrderItem>,
    limit: Limit,
) -> Block {
    Block {
        number,
        tables: scope.tables,
        from,
        outer: scope.outer,
        filter,
        order,
        limit,
        subqueries: scope.subqueries,
        hints: scope.hints,
        straight_join: scope.straight_join,
        ..Block::default()
    }
}

/// The access that finds the rows of a single-table change, below sorts and filters.
fn access_of(node: &Node) -> Option<&IndexAccess> {
    match node {
        Node::Access(access) => match &access.method {
            AccessMethod::Index(index, _) => Some(index),
            AccessMethod::All { .. } => None,
        },
        Node::Filter { input, .. } | Node::Apply { input, .. } | Node::Limit { input, .. } => access_of(input),
        // A guard before the only table.
        Node::Join(join) if join.inner_slots.is_empty() => access_of(&join.inner),
        _ => None,
    }
}

/// Whether the rows can be changed while they are being found: they come from one index, and none of the changed columns
/// moves a row in it. (A sort has read everything before it gives its first row.)
pub(super) fn may_stream(block: &BlockPlan, table: &Table, changed: impl Fn(usize) -> bool) -> bool {
    if block.tables.len() != 1 || !block.subqueries.is_empty() {
        return false;
    }
    let Some(access) = access_of(&block.root) else { return matches!(block.root, Node::Sort { .. }) };
    let parts = table.def.indexes[access.index].parts.iter().chain(&table.def.primary().parts);
    !parts.into_iter().any(|part| changed(part.column))
}

/// Whether a row of a target may come up more than once: each of several tables multiplies the rows of the others.
pub(super) fn may_repeat(block: &BlockPlan) -> bool {
    block.tables.iter().filter(|table| *table.alias != *JOINED_SUBQUERY).count() > 1
}

/// The rows that a statement changes, some hundreds at a time.
pub(super) struct RowsToChange<'p> {
    block: &'p BlockPlan,
    /// Rows are handed over while others are still being found.
    streams: bool,
    source: Source<'p>,
    /// Frames of the block.
    pub(super) batch: RowBatch,
}

/// Where the next rows come from.
enum Source<'p> {
    /// Nothing has been looked for.
    New,
    Scan(BlockRows<'p>),
    Kept(RowStore, ReadPosition),
    /// There are no more.
    End,
}

impl<'p> RowsToChange<'p> {
    pub(super) fn of(block: &'p BlockPlan, streams: bool) -> Self {
        RowsToChange { block, streams, source: Source::New, batch: RowBatch::new(block.width) }
    }

    /// Fetches the next rows into `batch`; `false` at the end.
    pub(super) async fn next(&mut self, context: &mut ExecContext<'_>) -> Result<bool, SqlError> {
        self.batch.clear();
        match self.source {
            Source::New => self.begin(context).await?,
            Source::End => {}
            Source::Scan(_) | Source::Kept(..) => context.check_cancelled().await?,
        }
        if let Source::Kept(rows, position) = &mut self.source {
            rows.read(position, &mut self.batch, BATCH_ROWS).await?;
        }
        while let Source::Scan(rows) = &mut self.source
            && self.batch.is_empty()
        {
            if !rows.next_frames(context, &mut self.batch, BATCH_ROWS).await? {
                self.source = Source::End;
            }
        }
        Ok(!self.batch.is_empty())
    }

    /// Looks for the only row of a primary key, or makes ready what finds several.
    async fn begin(&mut self, context: &mut ExecContext<'_>) -> Result<(), SqlError> {
        if let Some(point) = point_of(self.block) {
            let mut frame = vec![Value::Null; self.block.width];
            if let Some(is_there) = point.read(&mut frame, context).await? {
                self.source = Source::End;
                if is_there {
                    self.batch = RowBatch::of_row(frame);
                }
                return Ok(());
            }
        }
        let mut rows = BlockRows::new(self.block);
        rows.open(&[]);
        self.source = match self.streams {
            true => Source::Scan(rows),
            false => Source::Kept(all_of(rows, self.block.width, context).await?, ReadPosition::default()),
        };
        Ok(())
    }
}

/// Finds all rows before the first is changed.
async fn all_of(mut rows: BlockRows<'_>, width: usize, context: &mut ExecContext<'_>) -> Result<RowStore, SqlError> {
    let mut kept = RowStore::new(width, context.limits.table_bytes);
    let mut batch = RowBatch::new(width);
    loop {
        let more = rows.next_frames(context, &mut batch, BATCH_ROWS).await?;
        for row in batch.iter() {
            kept.push(context.env, row).await?;
        }
        batch.clear();
        context.check_cancelled().await?;
        if !more {
            return Ok(kept);
        }
    }
}
