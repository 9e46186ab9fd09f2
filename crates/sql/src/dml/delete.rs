//! DELETE, from one table or from several.

use std::collections::HashSet;
use std::sync::Arc;

use base::{SqlError, codes};
use bytes::Bytes;
use syntax::ast as sql;
use types::Value;

use crate::bind::expr::{Clause, ExprScope};
use crate::bind::from::find_target;
use crate::bind::scope::Scope;
use crate::bind::tree::Limit;
use crate::bind::{Binder, check_table_path};
use crate::dml::foreign::{delete_row, is_violation};
use crate::dml::found::{RowsToChange, changing_block, lock_targets, may_repeat, may_stream};
use crate::dml::{Target, cascades_meet};
use crate::exec::ExecContext;
use crate::expr::WarningLevel;
use crate::plan::node::BlockPlan;
use crate::plan::{PlanContext, Privilege, UsedColumns, block};
use crate::result::Outcome;

/// A planned DELETE.
#[derive(Debug)]
pub(crate) struct DeletePlan {
    pub(crate) block: BlockPlan,
    pub(crate) targets: Vec<Target>,
    pub(crate) ignore: bool,
    streams: bool,
    /// Rows may have changed since they were found.
    looks_again: bool,
}

/// Plans DELETE.
pub(crate) async fn plan_delete<'a>(
    context: &'a PlanContext<'a>,
    binder: &mut Binder<'a>,
    delete: &'a sql::Delete,
) -> Result<DeletePlan, SqlError> {
    if delete.returning.is_some() {
        return Err(SqlError::not_supported("RETURNING"));
    }
    if let Some(with) = &delete.with {
        binder.add_ctes(with)?;
    }
    let number = binder.next_block();
    binder.scopes.push(Scope::default());
    let since = binder.uses_count();
    binder.needs = Privilege::Delete;
    let from = binder.bind_from(&delete.from)?;
    binder.hint_changing_block(number);
    let of_from = since..binder.uses_count();
    binder.needs = Privilege::Select;
    let tables = target_tables(binder, delete)?;
    let filter = match &delete.filter {
        Some(condition) => binder.bind_condition(condition, ExprScope::new(Clause::Where))?,
        None => Vec::new(),
    };
    let order = binder.bind_order(&delete.order_by, ExprScope::new(Clause::OrderBy))?;
    let limit =
        Limit { count: delete.limit.as_ref().map(|limit| binder.bind_row_count(limit)).transpose()?, offset: None };
    let images = lock_targets(binder, &tables, Privilege::Delete)?;
    let scope = binder.scopes.pop().unwrap_or_default();
    if scope.tables.len() == 1 && delete.targets.is_none() {
        binder.note_changing_reads(&scope, of_from, UsedColumns::Read);
    } else {
        binder.note_reads(&scope, UsedColumns::Named);
    }
    let images = images.into_iter();
    let mut targets: Vec<Target> = images.map(|(table, image_slot)| Target::new(binder, table, image_slot)).collect();
    let block = changing_block(number, scope, from, filter, order, limit);
    let block = block::plan_block(context, &mut binder.columns, block).await?;
    targets.iter_mut().for_each(|target| target.image_slot = block.layout.slot(target.image_slot));
    let streams = targets.len() == 1 && may_stream(&block, &targets[0].table, |_| false);
    let looks_again = cascades_meet(targets.iter());
    Ok(DeletePlan { block, targets, ignore: delete.ignore, streams: streams && !looks_again, looks_again })
}

/// The tables from which rows are deleted.
fn target_tables(binder: &mut Binder<'_>, delete: &sql::Delete) -> Result<Vec<usize>, SqlError> {
    let mut targets = Vec::new();
    match &delete.targets {
        None => targets.push(0),
        Some(named) => {
            for path in named {
                check_table_path(path)?;
                let (schema, name) = path.parts();
                // Even the name of an alias is looked for in the default database.
                binder.schema_or_default(schema)?;
                targets.push(find_target(&binder.scope().tables, schema, name)?);
            }
        }
    }
    if binder.scope().tables.len() > 1 && (!delete.order_by.is_empty() || delete.limit.is_some()) {
        return Err(SqlError::new(codes::WRONG_USAGE, "Incorrect usage of DELETE and ORDER BY"));
    }
    Ok(targets)
}

impl DeletePlan {
    /// Runs it.
    pub(crate) async fn execute(&self, context: &mut ExecContext<'_>) -> Result<Outcome, SqlError> {
        let mut done: Vec<HashSet<Bytes>> = vec![HashSet::new(); self.targets.len()];
        let mut deleted = 0;
        let mut rows = RowsToChange::of(&self.block, self.streams);
        while rows.next(context).await? {
            for row in rows.batch.iter() {
                deleted += self.delete_row(row, &mut done, context).await?;
            }
        }
        Ok(Outcome { affected_rows: deleted, ..Outcome::default() })
    }

    async fn delete_row(
        &self,
        frame: &[Value],
        done: &mut [HashSet<Bytes>],
        context: &mut ExecContext<'_>,
    ) -> Result<u64, SqlError> {
        let mut deleted = 0;
        for (number, target) in self.targets.iter().enumerate() {
            let Value::Bytes(old) = &frame[target.image_slot] else { continue };
            // A table can be there under two names: a row of it goes once.
            let number = self.targets[..number]
                .iter()
                .position(|other| Arc::ptr_eq(&other.table, &target.table))
                .unwrap_or(number);
            if may_repeat(&self.block) && !done[number].insert(target.table.codec.clustered_key(old)?) {
                continue;
            }
            let mut old = old.clone();
            if self.looks_again {
                match target.now(&old, context).await? {
                    Some(now) => old = now,
                    None => continue,
                }
            }
            match delete_row(&target.table, target.foreign.as_ref(), &old, None, context).await {
                Ok(()) => deleted += 1,
                Err(error) if self.ignore && is_violation(&error) => {
                    context.eval.warnings.push_error(WarningLevel::Warning, &error);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(deleted)
    }
}
