//! INSERT, REPLACE, UPDATE, DELETE: planned here, and run.
//!
//! The rows to change are found by the executor's operators (`found`), locked as they are read, each with its row image in a slot of
//! the frame. New images are made by [`crate::write`].
//!
//! # Invariants
//! - A failed row leaves nothing; with IGNORE the statement goes on after it, otherwise the session undoes the statement.

mod delete;
mod foreign;
mod found;
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
use crate::write::RowMaker;

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
