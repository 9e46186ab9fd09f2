//! The session's temporary tables: made, changed and dropped without the log, and gone with the session.
//!
//! They are in a catalog of the session's own, in front of the server's tables; see [`engine::Catalog::with_temporary`].

use std::collections::BTreeMap;
use std::sync::Arc;

use base::{SqlError, codes};
use engine::{Catalog, CatalogChange, Engine, Table, TableName as FullName};
use parking_lot::Mutex;

use super::Session;
use super::definition::forced;
use super::transaction::TemporaryChanges;
use crate::account::Privilege;
use crate::ddl::{PlannedDdl, check_distinct, collision, plan_ddl};
use crate::expr::WarningLevel;
use crate::parse::ast::{CreateTable, Ddl, Statement, TableName};
use crate::result::Outcome;

/// Temporary tables by their names.
pub(super) type TablesByName = BTreeMap<FullName, Arc<Table>>;

/// A catalog of the server, and the same with temporary tables.
type Shown = (Arc<Catalog>, Arc<Catalog>);

/// The temporary tables of a session.
#[derive(Default)]
pub(super) struct TemporaryTables {
    tables: TablesByName,
    /// The catalog that was last asked for, until either changes.
    shown: Mutex<Option<Shown>>,
    /// What was made while `pseudo_thread_id` had these other values.
    aside: BTreeMap<u32, TablesByName>,
}

impl TemporaryTables {
    /// What exists, with these tables.
    pub(super) fn shown_in(&self, engine: &Engine) -> Arc<Catalog> {
        let catalog = engine.catalog();
        if self.tables.is_empty() {
            return catalog;
        }
        let mut shown = self.shown.lock();
        match &*shown {
            Some((of, with)) if Arc::ptr_eq(of, &catalog) => with.clone(),
            _ => {
                let version = engine.temporary_memory().next_number();
                let with = Arc::new(catalog.with_temporary(version, self.tables.clone()));
                *shown = Some((catalog, with.clone()));
                with
            }
        }
    }

    fn put(&mut self, table: Arc<Table>) {
        self.tables.insert(FullName::new(&table.def.schema, &table.def.name), table);
        *self.shown.lock() = None;
    }

    fn remove(&mut self, name: &FullName) -> bool {
        *self.shown.lock() = None;
        self.tables.remove(name).is_some()
    }

    /// Others instead of all that there are; gives those.
    pub(super) fn replace(&mut self, tables: TablesByName) -> TablesByName {
        if !self.tables.is_empty() || !tables.is_empty() {
            *self.shown.lock() = None;
        }
        std::mem::replace(&mut self.tables, tables)
    }

    /// `SET pseudo_thread_id`: mysqlbinlog's output says in front of a statement by which connection it was run, and each has tables of
    /// its own.
    pub(super) fn switch(&mut self, from: u32, to: u32) {
        if from == to {
            return;
        }
        let others = self.aside.remove(&to).unwrap_or_default();
        let tables = self.replace(others);
        if !tables.is_empty() {
            self.aside.insert(from, tables);
        }
    }
}

/// A name that no table has when a client's statement begins.
pub(crate) const HIDDEN: &str = "\0";

/// Whether a statement says itself that it is about temporary tables alone: it commits nothing implicitly.
pub(super) fn is_temporary(statement: &Statement) -> bool {
    match statement {
        Statement::Ddl(Ddl::CreateTable(create)) => create.temporary,
        Statement::Ddl(Ddl::DropTables { temporary, .. }) => *temporary,
        _ => false,
    }
}

impl Session {
    /// Runs a definition if it is one of temporary tables.
    pub(super) async fn define_temporary(&mut self, ddl: &Ddl) -> Result<Option<Outcome>, SqlError> {
        let result = self.define_temporary_now(ddl).await;
        if matches!(&result, Ok(None)) || self.in_transaction() {
            return result;
        }
        // A GTID that was chosen for it is used, whether or not it did anything.
        if result.is_ok() {
            self.commit_nothing().await?;
        }
        self.gtid_ended();
        self.source_position = None;
        result
    }

    async fn define_temporary_now(&mut self, ddl: &Ddl) -> Result<Option<Outcome>, SqlError> {
        match ddl {
            Ddl::CreateTable(create) if create.temporary => {
                self.create_temporary(create, ddl)?;
                self.note_temporary(|changes| changes.created = true);
            }
            Ddl::DropTables { tables, if_exists, temporary: true } => {
                if self.drop_temporary(tables, *if_exists)? > 0 {
                    self.note_temporary(|changes| changes.dropped = true);
                }
            }
            Ddl::DropTables { tables, if_exists, .. } if self.any_temporary(tables) => {
                return self.drop_both(tables, *if_exists).await.map(Some);
            }
            Ddl::Truncate(name) if self.temporary_named(name).is_some() => {
                self.check_xa_temporary()?;
                self.commit().await?;
                if let Some(table) = self.temporary_named(name) {
                    table.clear_temporary();
                }
            }
            Ddl::AlterTable(alter) if self.temporary_named(&alter.table).is_some() => {
                self.check_xa_temporary()?;
                self.commit().await?;
                let rows = self.alter_temporary(ddl).await?;
                let warnings = self.warnings.count();
                let info = format!("Records: {rows}  Duplicates: 0  Warnings: {warnings}");
                return Ok(Some(Outcome { affected_rows: rows, info, ..Outcome::default() }));
            }
            _ => return Ok(None),
        }
        Ok(Some(Outcome::default()))
    }

    fn temporary_name(&self, name: &TableName) -> Option<FullName> {
        let schema = name.schema.as_deref().or(self.database())?;
        Some(FullName::new(schema, &name.name))
    }

    pub(super) fn temporary_named(&self, name: &TableName) -> Option<Arc<Table>> {
        self.temporary.tables.get(&self.temporary_name(name)?).cloned()
    }

    /// What a rollback will have to warn of, if there will be one.
    pub(super) fn note_temporary(&mut self, note: impl FnOnce(&mut TemporaryChanges)) {
        self.changes.state();
        if self.in_transaction() || !self.settings.autocommit {
            note(&mut self.transaction.temporary);
        }
    }

    /// What a rollback says that leaves temporary tables as they are.
    pub(super) fn warn_of_temporary(&self) {
        let changes = self.transaction.temporary;
        if changes.created {
            let message = "The creation of some temporary tables could not be rolled back.";
            self.warnings.push(
                WarningLevel::Warning,
                codes::WARNING_NOT_COMPLETE_ROLLBACK_WITH_CREATED_TEMP_TABLE,
                message,
            );
        }
        if changes.dropped {
            let message = "Some temporary tables were dropped, but these operations could not be rolled back.";
            self.warnings.push(
                WarningLevel::Warning,
                codes::WARNING_NOT_COMPLETE_ROLLBACK_WITH_DROPPED_TEMP_TABLE,
                message,
            );
        }
    }

    /// The temporary table that was made last is of a CREATE TABLE … SELECT, which may read another one of its name: until it is filled it has a
    /// name that nothing else has.
    pub(super) fn hide_temporary(&mut self, name: &TableName) -> Result<Option<TableName>, SqlError> {
        let schema = self.schema_of(name)?;
        let Some(table) = self.temporary.tables.remove(&FullName::new(&schema, &name.name)) else { return Ok(None) };
        self.temporary.tables.insert(FullName::new(&schema, HIDDEN), table);
        *self.temporary.shown.lock() = None;
        Ok(Some(TableName { schema: Some(schema), name: HIDDEN.to_owned() }))
    }

    /// It is filled, and has its name, or it is gone.
    pub(super) fn unhide_temporary(&mut self, hidden: &TableName, is_filled: bool) {
        let schema = hidden.schema.as_deref().unwrap_or_default();
        let table = self.temporary.tables.remove(&FullName::new(schema, HIDDEN));
        *self.temporary.shown.lock() = None;
        if let Some(table) = table.filter(|_| is_filled) {
            self.temporary.put(table);
        }
    }

    pub(super) fn any_temporary(&self, names: &[TableName]) -> bool {
        names.iter().any(|name| self.temporary_named(name).is_some())
    }

    /// 1792 in a READ ONLY transaction.
    pub(super) fn check_read_only_transaction(&self) -> Result<(), SqlError> {
        match self.transaction.open() {
            Some(open) if open.read_only => Err(engine::EngineError::ReadOnlyTransaction.into()),
            _ => Ok(()),
        }
    }

    fn create_temporary(&mut self, create: &CreateTable, ddl: &Ddl) -> Result<(), SqlError> {
        self.check_read_only_transaction()?;
        self.check_xa_temporary()?;
        let schema = self.schema_of(&create.name)?;
        self.check_database(Privilege::CreateTemporaryTables, &schema)?;
        if let Some(like) = create.like.as_ref().filter(|like| self.temporary_named(like).is_none()) {
            self.check_table(Privilege::Select, like)?;
        }
        if let CatalogChange::CreateTable(def) = self.plan_temporary(ddl)?.change {
            let table = self.shared.engine.create_temporary_table(*def);
            self.temporary.put(table);
        }
        Ok(())
    }

    fn plan_temporary(&mut self, ddl: &Ddl) -> Result<PlannedDdl, SqlError> {
        let catalog = self.catalog();
        let warnings = std::mem::take(&mut self.warnings);
        let planned = plan_ddl(ddl, &self.ddl_context(&catalog, &warnings));
        self.warnings = warnings;
        planned
    }

    /// How many were there.
    fn drop_temporary(&mut self, names: &[TableName], if_exists: bool) -> Result<usize, SqlError> {
        self.check_read_only_transaction()?;
        check_distinct(names, self.database())?;
        let mut missing = Vec::new();
        let mut found = Vec::new();
        for name in names {
            let full = FullName::new(self.schema_of(name)?, &name.name);
            match self.temporary.tables.contains_key(&full) {
                true => found.push(full),
                false => missing.push(full.to_string()),
            }
        }
        if !missing.is_empty() && !if_exists {
            return Err(SqlError::new(codes::BAD_TABLE_ERROR, format!("Unknown table '{}'", missing.join(","))));
        }
        for name in missing {
            self.warnings.push(WarningLevel::Note, codes::BAD_TABLE_ERROR, format!("Unknown table '{name}'"));
        }
        for name in &found {
            self.temporary.remove(name);
        }
        Ok(found.len())
    }

    /// DROP TABLE: temporary tables first of all, and others where there is none of the name.
    async fn drop_both(&mut self, names: &[TableName], if_exists: bool) -> Result<Outcome, SqlError> {
        check_distinct(names, self.database())?;
        let (own, others): (Vec<_>, Vec<_>) =
            names.iter().cloned().partition(|name| self.temporary_named(name).is_some());
        match others.is_empty() {
            true => self.commit().await?,
            false => {
                let others = Ddl::DropTables { tables: others, if_exists, temporary: false };
                Box::pin(self.define(&others, None)).await?;
            }
        }
        self.drop_temporary(&own, if_exists)?;
        Ok(Outcome::default())
    }

    /// OPTIMIZE TABLE.
    pub(super) async fn rebuild_temporary(&mut self, table: &TableName) -> Result<(), SqlError> {
        self.alter_temporary(&forced(table)).await.map(drop)
    }

    /// How many rows were copied. Those of a transaction before are committed.
    async fn alter_temporary(&mut self, ddl: &Ddl) -> Result<u64, SqlError> {
        let planned = self.plan_temporary(ddl)?;
        let CatalogChange::AlterTable(change) = planned.change else { return Ok(0) };
        let engine = &self.shared.engine;
        let copied = engine.estimate_rows(&change.table);
        let table = change.table.clone();
        let altered = table.altered_temporary(engine, *change, &self.handle.cancel).await;
        self.warnings.append(&planned.row_warnings);
        let altered = altered.map_err(|error| collision(error, planned.is_copied))?;
        self.temporary.remove(&FullName::new(&table.def.schema, &table.def.name));
        self.temporary.put(altered);
        Ok(copied)
    }
}
