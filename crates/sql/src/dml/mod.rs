//! INSERT, REPLACE, UPDATE, DELETE: planned here, and run.
//!
//! The rows to change are found by the executor's operators, locked as they are read, each with its row image in a slot of
//! the frame. A change is a new image beside the old one: unchanged columns are copied as bytes.
//!
//! # Invariants
//! - A statement does not meet its own changes: where a changed row could come up again in the scan that found it, all rows
//!   are found before the first is changed.
//! - A failed row leaves nothing; with IGNORE the statement goes on after it, otherwise the session undoes the statement.

mod delete;
mod foreign;
mod insert;
mod insert_plan;
mod load;
mod load_plan;
mod safe;
mod update;
mod values;

pub(crate) use delete::{DeletePlan, plan_delete};
pub(crate) use foreign::{ForeignKeys, delete_row, is_violation, update_row};
pub(crate) use insert_plan::{InsertPlan, InsertSource, plan_insert};
pub(crate) use load_plan::{LoadPlan, plan_load};
pub(crate) use update::{UpdatePlan, plan_update};

use std::sync::Arc;

use base::{SqlError, codes};
use bytes::Bytes;
use engine::{ReadMode, Table};

use crate::bind::Binder;
use crate::exec::ExecContext;
use crate::exec::batch::RowBatch;
use crate::exec::spill::{ReadPosition, RowStore};
use crate::plan::access::IndexAccess;
use crate::plan::node::{AccessMethod, BlockPlan, Node};
use crate::plan::rules::in_as_join::JOINED_SUBQUERY;
use crate::write::RowMaker;

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
fn may_stream(block: &BlockPlan, table: &Table, changed: impl Fn(usize) -> bool) -> bool {
    if block.tables.len() != 1 || !block.subqueries.is_empty() {
        return false;
    }
    let Some(access) = access_of(&block.root) else { return matches!(block.root, Node::Sort { .. }) };
    let parts = table.def.indexes[access.index].parts.iter().chain(&table.def.primary().parts);
    !parts.into_iter().any(|part| changed(part.column))
}

/// Whether a row of a target may come up more than once: each of several tables multiplies the rows of the others.
fn may_repeat(block: &BlockPlan) -> bool {
    block.tables.iter().filter(|table| *table.alias != *JOINED_SUBQUERY).count() > 1
}

/// Frames that wait to be changed.
struct Found {
    rows: RowStore,
    position: ReadPosition,
    batch: RowBatch,
}

/// A table that a statement changes, with the slot of its row image.
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) table: Arc<Table>,
    /// Makes the rows that take the place of others.
    pub(crate) maker: RowMaker,
    pub(crate) image_slot: usize,
    pub(crate) foreign: Option<ForeignKeys>,
}

impl Target {
    fn new(binder: &mut Binder<'_>, table: Arc<Table>, image_slot: usize) -> Self {
        let foreign = ForeignKeys::planned(binder, &table, true);
        Target { maker: RowMaker::of_changes(&table), table, image_slot, foreign }
    }

    /// The row as it is now: a cascade of the statement may have changed it since it was found.
    async fn now(&self, found: &Bytes, context: &mut ExecContext<'_>) -> Result<Option<Bytes>, SqlError> {
        let key = self.table.codec.clustered_key(found)?;
        Ok(context.transaction.get(&self.table, &key, ReadMode::FOR_UPDATE).await?)
    }
}

/// Whether UPDATE IGNORE makes a warning of it and leaves the row as it was.
fn leaves_row(error: &SqlError) -> bool {
    error.code == codes::DUP_ENTRY.0 || foreign::is_violation(error)
}

/// Whether cascades of the changes of some targets may change rows that the statement changes itself.
fn cascades_meet<'t>(targets: impl Iterator<Item = &'t Target> + Clone) -> bool {
    let meets = |foreign: &ForeignKeys| targets.clone().any(|target| foreign.may_cascade_to(&target.table));
    targets.clone().filter_map(|target| target.foreign.as_ref()).any(meets)
}
