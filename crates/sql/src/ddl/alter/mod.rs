//! ALTER TABLE, CREATE INDEX, DROP INDEX.
//!
//! All names that an action has for what is there already mean the table as it was before the statement; places of columns
//! (AFTER), new indexes and new foreign keys name what is there after it. So the actions are first collected in a working
//! copy ([`work`]), in which every column remembers which old column its values come from, and old indexes and foreign keys
//! hold their columns by position; then the copy becomes a definition ([`finish`]), and the two definitions are compared:
//! do rows change their form, does the clustered key, which indexes are new?

mod copying;
mod finish;
mod online;
mod work;

pub(super) use copying::Copying;

use std::sync::Arc;

use base::{SqlError, codes};
use bytes::Bytes;
use engine::CatalogChange;
use engine::catalog::AlterTable as AlterChange;
use types::TableDef;

use self::work::Work;
use super::{DdlContext, PlannedDdl, RowOrder, foreign_key, mapper, render, table_exists};
use crate::expr::WarningLevel;
use crate::parse::LogChanges;
use crate::parse::ast::{AlterAction, AlterTable};

pub(super) fn alter(alter: &AlterTable, context: &DdlContext<'_>) -> Result<PlannedDdl, SqlError> {
    let name = context.resolve(&alter.table)?;
    let table = match context.table(&name) {
        Err(error) if alter.if_exists && error.code == codes::NO_SUCH_TABLE.0 => {
            context.warnings.push_error(WarningLevel::Error, &error);
            return Ok(PlannedDdl::nothing());
        }
        table => table?,
    };
    if let Some(online) = &alter.online {
        online::check(online)?;
    }
    let mut work = Work::new(&table.def);
    work.collect(&alter.actions, context)?;
    // ENGINE, even if it is what the table has: the way to have a table written anew that works everywhere.
    let forced = alter.actions.iter().any(|action| match action {
        AlterAction::Force => true,
        AlterAction::Options(options) => options.engine.is_some(),
        _ => false,
    });
    let mut left_out = std::mem::take(&mut work.left_out);
    let (new_def, sources) = work.finish(context)?;
    let copying = Copying::of(alter, table, (&new_def, &sources), context);
    let keeps_online = copying.is_asked && copying.is_logged;
    left_out.extend(alter.online.iter().filter(|_| !keeps_online).flat_map(|online| &online.items));
    left_out.sort_unstable();
    let counter = mapper::counter(&table.def, &new_def, &sources, said_counter(alter));
    // Numbers that were used without a row are not known to replicas.
    let goes_on_at = match counter {
        None if !context.is_logged && mapper::numbered(&table.def, &new_def, &sources).is_some() => {
            Some(table.auto_increment().peek())
        }
        _ => None,
    };
    let counter = counter.or(goes_on_at);
    if (&new_def.schema, &new_def.name) != (&table.def.schema, &table.def.name)
        && match table.is_temporary() {
            true => context.catalog.temporary_table(&new_def.schema, &new_def.name).is_some(),
            false => context.catalog.base_table(&new_def.schema, &new_def.name).is_some(),
        }
    {
        return Err(table_exists(&new_def.name));
    }
    if !forced && counter.is_none() && new_def == *table.def {
        return Ok(PlannedDdl::nothing());
    }
    let renamed_columns = renamed(&table.def, &new_def, &sources);
    if table.is_temporary() && !new_def.foreign_keys.is_empty() {
        return Err(SqlError::new(codes::CANNOT_ADD_FOREIGN, "Cannot add foreign key constraint"));
    }
    foreign_key::check(&new_def, Some(&table.def), context)?;
    if !table.is_temporary() {
        foreign_key::check_children(&table.def, (&new_def, &sources), &renamed_columns, context)?;
        if (&new_def.schema, &new_def.name) != (&table.def.schema, &table.def.name) {
            foreign_key::check_waiting(&engine::TableName::new(&new_def.schema, &new_def.name), &new_def, context)?;
        }
    }
    let row_warnings = Arc::default();
    let row_mapper = mapper::row_mapper(table, &new_def, (&sources, &copying, counter), context, &row_warnings)?;
    let by_unique_key = mapper::unique_key(&table.def, &new_def, &sources);
    let row_order = by_unique_key.map(|_| row_order(alter, &table.def, &sources, context));
    let read_by = by_unique_key.filter(|_| row_order == Some(RowOrder::UniqueKey)).unwrap_or(0);
    let how = (row_mapper.is_some(), copying.is_done, &renamed_columns[..]);
    let checked_keys = foreign_key::checked(&table.def, &new_def, how, context)?;
    // Rows that are mapped are written anew, with all indexes.
    let rewritten = forced || new_def.primary().id != table.def.primary().id;
    let row_mapper = if rewritten {
        row_mapper.or_else(|| Some(Arc::new(|| Box::new(|row: &Bytes| Ok(row.clone())))))
    } else {
        row_mapper
    };
    if !context.is_logged {
        let is_copied = row_mapper.is_some();
        let is_built =
            is_copied || new_def.indexes.iter().any(|index| !table.def.indexes.iter().any(|old| old.id == index.id));
        let is_nothing = alter.actions.iter().all(|action| *action == AlterAction::Nothing);
        let renames_keys = foreign_key::any_renamed((&table.def, &new_def), &renamed_columns, context);
        let work = online::Work { copying: &copying, is_copied, is_built, is_nothing, renames_keys };
        online::check_kept(alter.online.as_ref(), &work)?;
        if copying.is_done && !table.is_temporary() {
            foreign_key::check_changed(&table.def, (&new_def, &sources), context)?;
        }
        if alter.online.as_ref().is_some_and(|online| online.wished) && is_built {
            let message = "ALTER ONLINE TABLE has no effect on this server: the table is locked until it is done";
            context.warnings.push(WarningLevel::Warning, codes::NOT_SUPPORTED_YET, message.to_owned());
        }
    }
    let (log_text, mut log_changes) = logged(alter, left_out, &table.def, (&new_def, &sources));
    if copying.is_logged && !copying.is_asked {
        log_changes.add_action("ALGORITHM=COPY");
    }
    if let Some(next) = goes_on_at {
        log_changes.add_action(&format!("AUTO_INCREMENT = {next}"));
    }
    let log_changes = LogChanges {
        row_order,
        is_as_in_mariadb: context.is_of_maria && differs_between_families(alter, &table.def, (&new_def, &sources)),
        ..log_changes
    };
    let is_copied = copying.is_done || copying.silences_null;
    let change =
        AlterChange { table: table.clone(), new_def, row_mapper, read_by, renamed_columns, checked_keys, counter };
    let change = CatalogChange::AlterTable(Box::new(change));
    Ok(PlannedDdl { log_text, log_changes, row_warnings, is_copied, ..PlannedDdl::new(change) })
}

/// `AUTO_INCREMENT = N`; the last one counts.
fn said_counter(alter: &AlterTable) -> Option<u64> {
    alter.actions.iter().rev().find_map(|action| match action {
        AlterAction::Options(options) => options.auto_increment,
        _ => None,
    })
}

/// In which order the statement numbers the rows of a table that has a generated primary key here: in that of this key if the statement's client had it,
/// too, as the log says of one of ours, or shows by dropping it.
fn row_order(alter: &AlterTable, old: &TableDef, sources: &[Option<usize>], context: &DdlContext<'_>) -> RowOrder {
    let goes = old.generated_pk && !sources.contains(&Some(0));
    let had_key = !context.is_logged || goes && drops_generated_column(alter);
    context.row_order.unwrap_or(if had_key { RowOrder::GeneratedKey } else { RowOrder::UniqueKey })
}

fn drops_generated_column(alter: &AlterTable) -> bool {
    alter.says(|action| matches!(action, AlterAction::DropColumn(name) if work::is_generated_key(name)))
}

/// Whether MariaDB and MySQL do different things: a character set or changed types beside CONVERT TO, NULL in columns that take none any more, and an
/// index that another in descending order replaces.
fn differs_between_families(alter: &AlterTable, old: &TableDef, (new, sources): (&TableDef, &[Option<usize>])) -> bool {
    let is_descending = |action: &AlterAction| match action {
        AlterAction::AddIndex(spec) => spec.parts.iter().any(|part| part.descending),
        _ => false,
    };
    let replaces = old.indexes.iter().any(|index| index.generated) && alter.actions.iter().any(is_descending);
    let converts = alter.actions.iter().any(|action| matches!(action, AlterAction::ConvertTo(..)));
    let declares = alter.says(|action| match action {
        AlterAction::Options(options) => options.charset.is_some() || options.collation.is_some(),
        _ => false,
    });
    let mut columns = new.columns.iter().zip(sources).filter_map(|(new, source)| Some((&old.columns[(*source)?], new)));
    replaces
        || converts && declares
        || columns.any(|(old, new)| converts && old.ty != new.ty || old.nullable && !new.nullable)
}

/// Old and new names of columns that have another.
fn renamed(old: &TableDef, new: &TableDef, sources: &[Option<usize>]) -> Vec<(String, String)> {
    let columns = new.columns.iter().zip(sources);
    let names =
        columns.filter_map(|(column, source)| Some((old.columns[(*source)?].name.clone(), column.name.clone())));
    names.filter(|(old, new)| old != new).collect()
}

/// What the log says in place of the statement as it was written, so that every server that executes it has the same columns in
/// the same order: a generated primary key is written out when it comes, when it goes and when
/// another column becomes the AUTO_INCREMENT column or is it no longer, and FIRST is the place behind one that stays.
fn logged(
    alter: &AlterTable,
    left_out: Vec<usize>,
    old: &TableDef,
    (new, sources): (&TableDef, &[Option<usize>]),
) -> (Option<String>, LogChanges) {
    let mut changes = LogChanges { left_out, ..LogChanges::default() };
    let comes = new.generated_pk && sources[0] != Some(0);
    let goes = old.generated_pk && !sources.contains(&Some(0));
    changes.behind_generated_key = new.generated_pk && !comes;
    let is_counted = |def: &TableDef| def.columns[0].auto_increment;
    if !comes && !goes {
        if new.generated_pk && is_counted(old) != is_counted(new) {
            changes.added_actions = render::modify_generated_column(new);
        }
        return (None, changes);
    }
    let mut actions = Vec::new();
    if goes {
        if !alter.says(|action| matches!(action, AlterAction::DropPrimaryKey)) {
            actions.push("DROP PRIMARY KEY".to_owned());
        }
        if !drops_generated_column(alter) {
            actions.push(render::drop_generated_column());
        }
    }
    if comes {
        actions.push(render::add_generated_column(new));
    }
    let actions = actions.join(", ");
    match alter.actions[..] {
        // It may be written as DROP INDEX.
        [ref action] if matches!(action.unconditional(), AlterAction::DropPrimaryKey) => {
            (Some(render::alter_table(old, &format!("DROP PRIMARY KEY, {actions}"))), LogChanges::default())
        }
        _ => {
            changes.added_actions = actions;
            (None, changes)
        }
    }
}
