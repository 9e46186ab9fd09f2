//! UPDATE, of one table or of several.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use base::{SqlError, codes};
use bytes::Bytes;
use engine::Table;
use syntax::ast as sql;
use types::Value;

use crate::bind::Binder;
use crate::bind::expr::{Clause, ExprScope};
use crate::bind::scope::{ColumnName, Scope, unknown_column};
use crate::bind::tree::{Limit, TableSource};
use crate::dml::foreign::update_row;
use crate::dml::found::{RowsToChange, changing_block, lock_targets, may_repeat, may_stream};
use crate::dml::insert_plan::{bind_assigned, with_columns};
use crate::dml::safe::check_key_conflict;
use crate::dml::{Target, cascades_meet, leaves_row};
use crate::exec::ExecContext;
use crate::expr::WarningLevel;
use crate::plan::layout::Layout;
use crate::plan::node::{AccessMethod, BlockPlan, Node, PlannedSource, PlannedTable};
use crate::plan::{PlanContext, Privilege, UsedColumns, block};
use crate::result::Outcome;
use crate::write::{Assignment, Assignments, Changes, Kept, Terms};

/// A planned UPDATE.
#[derive(Debug)]
pub(crate) struct UpdatePlan {
    pub(crate) block: BlockPlan,
    pub(crate) targets: Vec<(Target, Assignments)>,
    pub(crate) ignore: bool,
    /// Rows are changed while others are still being found.
    streams: bool,
    /// Rows may have changed since they were found.
    looks_again: bool,
}

/// Plans UPDATE.
pub(crate) async fn plan_update<'a>(
    context: &'a PlanContext<'a>,
    binder: &mut Binder<'a>,
    update: &'a sql::Update,
) -> Result<UpdatePlan, SqlError> {
    let ignore = update.ignore;
    if let Some(with) = &update.with {
        binder.add_ctes(with)?;
    }
    let number = binder.next_block();
    binder.scopes.push(Scope::default());
    let since = binder.uses_count();
    binder.needs = Privilege::Update;
    let from = binder.bind_from(&update.tables)?;
    binder.hint_changing_block(number);
    let of_from = since..binder.uses_count();
    binder.needs = Privilege::Select;
    let mut by_table = bind_assignments(binder, &update.assignments)?;
    let filter = match &update.filter {
        Some(condition) => binder.bind_condition(condition, ExprScope::new(Clause::Where))?,
        None => Vec::new(),
    };
    let order = binder.bind_order(&update.order_by, ExprScope::new(Clause::OrderBy))?;
    let count = update.limit.as_ref().map(|limit| binder.bind_row_count(limit)).transpose()?;
    let limit = Limit { count, offset: None };
    let several = binder.scope().tables.len() > 1;
    if several && (!order.is_empty() || limit.count.is_some()) {
        let clause = if order.is_empty() { "LIMIT" } else { "ORDER BY" };
        return Err(SqlError::new(codes::WRONG_USAGE, format!("Incorrect usage of UPDATE and {clause}")));
    }
    // Each match is done in the order of FROM.
    by_table.sort_by_key(|(table, _)| *table);
    let tables: Vec<usize> = by_table.iter().map(|(table, _)| *table).collect();
    let images = lock_targets(binder, &tables, Privilege::Update)?;
    let scope = binder.scopes.pop().unwrap_or_default();
    let names: Vec<_> = tables.iter().map(|&table| scope.tables[table].alias.clone()).collect();
    let changed: Vec<_> = by_table.iter().map(|(_, list)| list).zip(images.iter().map(|(base, _)| base)).collect();
    note_uses(binder, &scope, of_from, &changed);
    let mut targets = Vec::with_capacity(by_table.len());
    for ((table, list), (base, image_slot)) in by_table.into_iter().zip(images) {
        let list = with_columns(list, &binder.columns, scope.tables[table].id, &base);
        targets.push((Target::new(binder, base, image_slot), Assignments::new(list)));
    }
    check_key_conflict(&targets, &names)?;
    let mut block = changing_block(number, scope, from, filter, order, limit);
    // The values are computed over the block's rows: their subqueries have to be run for each.
    block.select = targets.iter().flat_map(|(_, assignments)| assignments.exprs()).cloned().collect();
    let block = block::plan_block(context, &mut binder.columns, block).await?;
    lay(&mut targets, &block.layout);
    let streams = match &targets[..] {
        [(target, assignments)] => {
            may_stream(&block, &target.table, |column| assignments.touches(column, &target.maker))
        }
        _ => false,
    };
    let looks_again = cascades_meet(targets.iter().map(|(target, _)| target)) || meets_itself(&targets);
    // Only its new values count in what else is assigned, also from further matches of its row.
    let first = if may_repeat(&block) { first_read(&block, &targets) } else { Some(0) };
    for (number, (_, assignments)) in targets.iter_mut().enumerate() {
        if Some(number) != first {
            assignments.list.iter_mut().for_each(|assignment| assignment.slot = None);
        }
    }
    Ok(UpdatePlan { block, targets, ignore, streams: streams && !looks_again, looks_again })
}

/// What is assigned, by the tables of FROM.
fn bind_assignments<'a>(
    binder: &mut Binder<'a>,
    assignments: &'a [sql::Assignment],
) -> Result<Vec<(usize, Vec<Assignment>)>, SqlError> {
    let mut by_table: Vec<(usize, Vec<Assignment>)> = Vec::new();
    for assignment in assignments {
        let (table, assignment) = bind_assignment(binder, assignment)?;
        match by_table.iter_mut().find(|(known, _)| *known == table) {
            Some((_, list)) => list.push(assignment),
            None => by_table.push((table, vec![assignment])),
        }
    }
    Ok(by_table)
}

/// Makes targets and their assignments read and write rows of this layout.
fn lay(targets: &mut [(Target, Assignments)], layout: &Layout) {
    for (target, assignments) in targets {
        target.image_slot = layout.slot(target.image_slot);
        assignments.lay(layout);
    }
}

/// The target whose rows are read first and which is read once: MySQL changes a row of it when it comes to its first match, and those of other tables behind
/// all matches, with what they had been given then.
fn first_read(block: &BlockPlan, targets: &[(Target, Assignments)]) -> Option<usize> {
    let mut node = &block.root;
    let access = loop {
        match node {
            Node::Join(join) => node = if matches!(join.outer, Node::One) { &join.inner } else { &join.outer },
            Node::Filter { input, .. } | Node::Apply { input, .. } => node = input,
            Node::Access(access) => break access,
            _ => return None,
        }
    };
    let number = targets.iter().position(|(target, _)| Some(target.image_slot) == access.row_image)?;
    let (target, assignments) = &targets[number];
    let is_it = |planned: &PlannedTable| match &planned.source {
        PlannedSource::Base(table) => table.id() == target.table.id(),
        _ => false,
    };
    let is_read_once = block.tables.iter().filter(|planned| is_it(planned)).count() == 1;
    // Rows that would move in what they are read by are changed behind all matches.
    let def = &target.table.def;
    let read_by = match &access.method {
        AccessMethod::Index(access, _) => &def.indexes[access.index],
        AccessMethod::All { .. } => def.primary(),
    };
    let mut parts = def.primary().parts.iter().chain(&read_by.parts);
    let moves = parts.any(|part| assignments.touches(part.column, &target.maker));
    (is_read_once && !moves).then_some(number)
}

/// Records what is read and which columns are changed. A statement of several tables asks for what it reads first.
fn note_uses(
    binder: &mut Binder<'_>,
    scope: &Scope,
    of_from: Range<usize>,
    changed: &[(&Vec<Assignment>, &Arc<Table>)],
) {
    let several = scope.tables.len() > 1;
    if several {
        binder.note_changing_reads(scope, of_from.clone(), UsedColumns::Joined);
    }
    for (list, table) in changed {
        let columns = list.iter().map(|assignment| assignment.column).collect();
        let columns = if several { UsedColumns::Joined(columns) } else { UsedColumns::Named(columns) };
        binder.use_columns(table, Privilege::Update, columns);
    }
    if !several {
        binder.note_changing_reads(scope, of_from, UsedColumns::Read);
    }
}

/// Whether a table is changed under two names: what the one has changed the other finds changed.
fn meets_itself(targets: &[(Target, Assignments)]) -> bool {
    let mut seen = HashSet::new();
    !targets.iter().all(|(target, _)| seen.insert(target.table.id()))
}

/// `[table.]column = value`: the table's number and the assignment.
fn bind_assignment<'a>(
    binder: &mut Binder<'a>,
    assignment: &'a sql::Assignment,
) -> Result<(usize, Assignment), SqlError> {
    let name = ColumnName::of(&assignment.column);
    let found = binder.scope().find(name, "field list")?;
    let (table, column) = found.ok_or_else(|| unknown_column(&name.text(), "field list"))?;
    let TableSource::Base(base) = &binder.scope().tables[table].source else {
        let message = format!("The target table {} of the UPDATE is not updatable", binder.scope().tables[table].alias);
        return Err(SqlError::new(codes::NON_UPDATABLE_TABLE, message));
    };
    let base = base.clone();
    let value = bind_assigned(binder, &base, column, &assignment.value)?;
    Ok((table, Assignment { column, value, slot: None, kept: Kept::Nothing }))
}

/// What an UPDATE has done.
struct Progress {
    terms: Terms,
    matched: u64,
    changed: u64,
    /// Of the row that is being changed.
    changes: Changes,
    /// Clustered keys of the rows done, per target, if a row may come up more than once; of the first target with the values that were assigned.
    done: Vec<HashMap<Bytes, Vec<Value>>>,
}

impl UpdatePlan {
    /// Runs it.
    pub(crate) async fn execute(&self, context: &mut ExecContext<'_>) -> Result<Outcome, SqlError> {
        let mut progress = Progress {
            terms: Terms::of(self.ignore, context),
            matched: 0,
            changed: 0,
            changes: Changes::new(),
            done: vec![HashMap::new(); self.targets.len()],
        };
        let mut rows = RowsToChange::of(&self.block, self.streams);
        while rows.next(context).await? {
            for number in 0..rows.batch.len() {
                self.update_row(rows.batch.row_mut(number), &mut progress, context).await?;
            }
        }
        let warnings = context.eval.warnings.count();
        Ok(Outcome {
            affected_rows: if context.client_found_rows { progress.matched } else { progress.changed },
            info: format!("Rows matched: {}  Changed: {}  Warnings: {warnings}", progress.matched, progress.changed),
            ..Outcome::default()
        })
    }

    async fn update_row(
        &self,
        frame: &mut [Value],
        progress: &mut Progress,
        context: &mut ExecContext<'_>,
    ) -> Result<(), SqlError> {
        for (number, (target, assignments)) in self.targets.iter().enumerate() {
            let Value::Bytes(mut old) = frame[target.image_slot].clone() else { continue };
            if self.looks_again {
                match target.now(&old, context).await? {
                    Some(now) => old = now,
                    None => continue,
                }
            }
            let key = match may_repeat(&self.block) {
                true => Some(target.table.codec.clustered_key(&old)?),
                false => None,
            };
            if let Some(values) = key.as_ref().and_then(|key| progress.done[number].get(key)) {
                assignments.show(values, frame);
                continue;
            }
            progress.matched += 1;
            let row_number = progress.matched;
            let (row, changes) = ((&old, &mut *frame), &mut progress.changes);
            let new = assignments.apply(&target.maker, row, changes, row_number, progress.terms, &context.eval)?;
            if let Some(key) = key {
                progress.done[number].insert(key, assignments.shown(frame));
            }
            let Some(new) = new else { continue };
            match update_row(&target.table, target.foreign.as_ref(), &old, new, context).await {
                Ok(()) => progress.changed += 1,
                Err(error) if self.ignore && leaves_row(&error) => {
                    context.eval.warnings.push_error(WarningLevel::Warning, &error);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
