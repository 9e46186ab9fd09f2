//! ALTER TABLE, CREATE INDEX, DROP INDEX.
//!
//! All names that an action has for what is there already mean the table as it was before the statement; places of columns
//! (AFTER), new indexes and new foreign keys name what is there after it. So the actions are first collected in a working
//! copy ([`work`]), in which every column remembers which old column its values come from, and old indexes and foreign keys
//! hold their columns by position; then the copy becomes a definition ([`finish`]), and the two definitions are compared:
//! do rows change their form, does the clustered key, which indexes are new?

mod copying;
mod finish;
mod logged;
mod online;
mod work;

pub(super) use copying::Copying;

use std::sync::Arc;

use base::{SqlError, codes};
use bytes::Bytes;
use engine::catalog::{AlterTable as AlterChange, RowMapper};
use engine::{CatalogChange, Table};
use types::TableDef;

use self::work::Work;
use super::{DdlContext, PlannedDdl, RowOrder, create, foreign_key, mapper, table_exists};
use crate::expr::WarningLevel;
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
    if alter.says(|action| *action == AlterAction::SwitchKeys) {
        context.warnings.push_error(WarningLevel::Note, &create::has_no_option(&table.def));
    }
    let mut work = Work::new(&table.def);
    work.collect(&alter.actions, context)?;
    let left_out = std::mem::take(&mut work.left_out);
    let (new, sources) = work.finish(context)?;
    let renamed = renamed(&table.def, &new, &sources);
    let copying = Copying::of(alter, table, (&new, &sources), !renamed.is_empty(), context);
    Altered { alter, table, new, sources, copying, renamed, context }.plan(left_out)
}

/// Old and new names of columns that have another.
fn renamed(old: &TableDef, new: &TableDef, sources: &[Option<usize>]) -> Vec<(String, String)> {
    let columns = new.columns.iter().zip(sources);
    let names =
        columns.filter_map(|(column, source)| Some((old.columns[(*source)?].name.clone(), column.name.clone())));
    names.filter(|(old, new)| old != new).collect()
}

/// A table, and what an ALTER TABLE makes of it.
struct Altered<'a> {
    alter: &'a AlterTable,
    table: &'a Arc<Table>,
    new: TableDef,
    /// For each new column the old position of its values.
    sources: Vec<Option<usize>>,
    copying: Copying,
    /// Old and new names of columns that have another.
    renamed: Vec<(String, String)>,
    context: &'a DdlContext<'a>,
}

/// Where the AUTO_INCREMENT counter goes on.
struct Counter {
    /// Elsewhere than it is.
    set: Option<u64>,
    /// The same, if the log has to say where it is: replicas do not know numbers that were used without a row.
    logged: Option<u64>,
}

impl Altered<'_> {
    /// The change, and what the log says: `left_out` are places in the statement that it does not.
    fn plan(self, left_out: Vec<usize>) -> Result<PlannedDdl, SqlError> {
        let (old, context) = (&self.table.def, self.context);
        let counter = self.counter();
        self.check_name()?;
        if !self.is_forced() && counter.set.is_none() && self.new == **old {
            return Ok(PlannedDdl::nothing());
        }
        self.check_keys()?;
        let (new, row_warnings) = (&self.new, Arc::default());
        let how = (&self.sources[..], &self.copying, counter.set);
        let row_mapper = mapper::row_mapper(self.table, new, how, context, &row_warnings)?;
        let how = (row_mapper.is_some(), self.copying.is_done, &self.renamed[..]);
        let checked_keys = foreign_key::checked(old, new, how, context)?;
        let row_mapper = self.with_all_rows(row_mapper);
        if !context.is_logged {
            self.check_online(row_mapper.is_some())?;
        }
        let (row_order, read_by) = self.row_order();
        let (log_text, log_changes) = self.logged(left_out, counter.logged, row_order);
        let is_copied = self.copying.is_done || self.copying.silences_null;
        let change = CatalogChange::AlterTable(Box::new(AlterChange {
            table: self.table.clone(),
            new_def: self.new,
            row_mapper,
            read_by,
            renamed_columns: self.renamed,
            checked_keys,
            counter: counter.set,
        }));
        Ok(PlannedDdl { log_text, log_changes, row_warnings, is_copied, ..PlannedDdl::new(change) })
    }

    /// FORCE, or ENGINE, even if it is what the table has: the way to have a table written anew that works everywhere.
    fn is_forced(&self) -> bool {
        self.alter.actions.iter().any(|action| match action {
            AlterAction::Force => true,
            AlterAction::Options(options) => options.engine.is_some(),
            _ => false,
        })
    }

    fn counter(&self) -> Counter {
        let old = &self.table.def;
        // `AUTO_INCREMENT = N`; the last one counts.
        let said = self.alter.actions.iter().rev().find_map(|action| match action {
            AlterAction::Options(options) => options.auto_increment,
            _ => None,
        });
        let set = mapper::counter(old, &self.new, &self.sources, said);
        let numbers_rows = mapper::numbered(old, &self.new, &self.sources).is_some();
        let logged = match set {
            None if !self.context.is_logged && numbers_rows => Some(self.table.auto_increment().peek()),
            _ => None,
        };
        Counter { set: set.or(logged), logged }
    }

    fn has_other_name(&self) -> bool {
        (&self.new.schema, &self.new.name) != (&self.table.def.schema, &self.table.def.name)
    }

    /// 1050 if another table has the new name.
    fn check_name(&self) -> Result<(), SqlError> {
        let TableDef { schema, name, .. } = &self.new;
        let there = match self.table.is_temporary() {
            true => self.context.catalog.temporary_table(schema, name),
            false => self.context.catalog.base_table(schema, name),
        };
        match self.has_other_name() && there.is_some() {
            true => Err(table_exists(name)),
            false => Ok(()),
        }
    }

    /// Whether foreign keys, its own and those of others, go with what it becomes.
    fn check_keys(&self) -> Result<(), SqlError> {
        let (old, new, context) = (&self.table.def, &self.new, self.context);
        if self.table.is_temporary() && !new.foreign_keys.is_empty() {
            return Err(SqlError::new(codes::CANNOT_ADD_FOREIGN, "Cannot add foreign key constraint"));
        }
        foreign_key::check(new, Some(old), context)?;
        if self.table.is_temporary() {
            return Ok(());
        }
        foreign_key::check_children(old, (new, &self.sources), &self.renamed, context)?;
        match self.has_other_name() {
            true => foreign_key::check_waiting(&engine::TableName::new(&new.schema, &new.name), new, context),
            false => Ok(()),
        }
    }

    /// A mapper that leaves rows as they are, if there is none and they are to be written anew: then all indexes are.
    fn with_all_rows(&self, mapper: Option<RowMapper>) -> Option<RowMapper> {
        let rewrites = self.is_forced() || self.new.primary().id != self.table.def.primary().id;
        let as_it_is = || -> RowMapper { Arc::new(|| Box::new(|row: &Bytes| Ok(row.clone()))) };
        mapper.or_else(|| rewrites.then(as_it_is))
    }

    /// Whether it can be done as ALGORITHM and LOCK ask, and as MySQL would do it.
    fn check_online(&self, is_copied: bool) -> Result<(), SqlError> {
        let (old, new, online) = (&self.table.def, &self.new, self.alter.online.as_ref());
        let is_old = |index: &types::IndexDef| old.indexes.iter().any(|old| old.id == index.id);
        let is_built = is_copied || !new.indexes.iter().all(is_old);
        let is_nothing = self.alter.actions.iter().all(AlterAction::is_nothing);
        let renames_keys = foreign_key::any_renamed((old, new), &self.renamed, self.context);
        let work = online::Work { copying: &self.copying, is_copied, is_built, is_nothing, renames_keys };
        online::check_kept(online, &work)?;
        if self.copying.is_done && !self.table.is_temporary() {
            foreign_key::check_changed(old, (new, &self.sources), self.context)?;
        }
        if online.is_some_and(|online| online.wished) && is_built {
            let message = "ALTER ONLINE TABLE has no effect on this server: the table is locked until it is done";
            self.context.warnings.push(WarningLevel::Warning, codes::NOT_SUPPORTED_YET, message.to_owned());
        }
        Ok(())
    }

    /// In which order the statement numbers the rows of a table that has a generated primary key here, if it does, and the index to read them by: in that
    /// of this key if the statement's client had it, too, as the log says of one of ours, or shows by dropping it.
    fn row_order(&self) -> (Option<RowOrder>, usize) {
        let old = &self.table.def;
        let Some(by_unique_key) = mapper::unique_key(old, &self.new, &self.sources) else { return (None, 0) };
        let goes = old.generated_pk && !self.sources.contains(&Some(0));
        let had_key = !self.context.is_logged || goes && logged::drops_generated_column(self.alter);
        let order = if had_key { RowOrder::GeneratedKey } else { RowOrder::UniqueKey };
        match self.context.row_order.unwrap_or(order) {
            RowOrder::UniqueKey => (Some(RowOrder::UniqueKey), by_unique_key),
            order => (Some(order), 0),
        }
    }
}
