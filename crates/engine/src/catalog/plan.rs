//! From one catalog and a change to the next catalog, and to what has to be built and dropped for it.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::{CommitNumber, IndexId, TableId};
use types::TableDef;

use super::{AlterTable, Catalog, CatalogChange, Database, RowMapper, Schema, Table, TableName, TableShared};
use crate::error::{EngineError, Result};

/// Trees that have to be filled from a table's rows before the new catalog can be seen.
pub(crate) struct Build {
    pub(crate) from: Arc<Table>,
    pub(crate) to: Arc<Table>,
    /// Positions in `to.indexes`.
    pub(crate) indexes: Vec<usize>,
    pub(crate) mapper: Option<RowMapper>,
}

/// What a change comes to.
pub(crate) struct Planned {
    pub(crate) catalog: Catalog,
    pub(crate) build: Option<Build>,
    /// Tables whose form is new: older read views cannot use them.
    pub(crate) renewed: Vec<Arc<Table>>,
    /// Indexes that nobody can use any more.
    pub(crate) dropped: Vec<IndexId>,
    /// Databases that are touched.
    pub(crate) schemas: Vec<String>,
    /// Of tables that are made or changed: the statement's time in the log.
    timestamp: u32,
}

/// Tables of the present catalog that a change needs for itself alone.
pub(crate) fn locked_tables(catalog: &Catalog, change: &CatalogChange) -> Vec<TableId> {
    let find = |name: &TableName| catalog.table(&name.schema, &name.name).map(|table| table.id());
    let mut ids: Vec<TableId> = match change {
        CatalogChange::DropDatabase(name) => catalog.tables(name).map(|table| table.id()).collect(),
        CatalogChange::DropTables(names) => names.iter().filter_map(find).collect(),
        CatalogChange::RenameTables(names) => names.iter().filter_map(|(from, _)| find(from)).collect(),
        CatalogChange::AlterTable(alter) => vec![alter.table.id()],
        CatalogChange::Truncate(name) => find(name).into_iter().collect(),
        CatalogChange::Nothing
        | CatalogChange::CreateDatabase(_)
        | CatalogChange::AlterDatabase(_)
        | CatalogChange::CreateTable(_)
        | CatalogChange::Accounts(_) => Vec::new(),
    };
    // One order for all, so that two DDL statements cannot wait for each other.
    ids.sort_unstable();
    ids.dedup();
    ids
}

/// Checks a change against a catalog and makes the next one. The timestamp, in seconds since 1970, is that of its event.
pub(crate) fn plan(catalog: &Catalog, change: CatalogChange, timestamp: u32) -> Result<Planned> {
    let mut next = catalog.clone();
    next.version += 1;
    let (renewed, dropped, schemas) = (Vec::new(), Vec::new(), Vec::new());
    let mut planned = Planned { catalog: next, build: None, renewed, dropped, schemas, timestamp };
    match change {
        CatalogChange::Nothing => {}
        CatalogChange::CreateDatabase(database) => planned.create_database(database)?,
        CatalogChange::AlterDatabase(database) => planned.alter_database(database)?,
        CatalogChange::DropDatabase(name) => planned.drop_database(&name)?,
        CatalogChange::CreateTable(mut def) => {
            def.create_time = timestamp;
            planned.create_table(*def)?;
        }
        CatalogChange::DropTables(names) => names.iter().try_for_each(|name| planned.drop_table(name))?,
        CatalogChange::RenameTables(names) => names.iter().try_for_each(|(from, to)| planned.rename(from, to))?,
        CatalogChange::AlterTable(alter) => planned.alter_table(*alter)?,
        CatalogChange::Truncate(name) => planned.truncate(&name)?,
        CatalogChange::Accounts(accounts) => planned.accounts(accounts),
    }
    planned.schemas.sort();
    planned.schemas.dedup();
    Ok(planned)
}

impl Planned {
    fn touch(&mut self, schema: &str) {
        self.schemas.push(schema.to_string());
    }

    fn create_database(&mut self, database: Database) -> Result<()> {
        self.touch(&database.name);
        let databases = &mut self.catalog.databases;
        if databases.contains_key(&database.name) {
            return Err(EngineError::DatabaseExists(database.name));
        }
        databases.insert(database.name.clone(), Arc::new(Schema { database, tables: BTreeMap::new() }));
        Ok(())
    }

    fn alter_database(&mut self, database: Database) -> Result<()> {
        self.touch(&database.name);
        let schema = self.catalog.schema_mut(&database.name)?;
        schema.database = database;
        Ok(())
    }

    fn drop_database(&mut self, name: &str) -> Result<()> {
        self.touch(name);
        let schema = self.catalog.databases.remove(name);
        let schema = schema.ok_or_else(|| EngineError::NoSuchDatabase(name.to_string()))?;
        for table in schema.tables.values() {
            self.catalog.by_id.remove(&table.id());
            self.dropped.extend(table.indexes.iter().map(|index| index.id));
        }
        Ok(())
    }

    fn create_table(&mut self, mut def: TableDef) -> Result<()> {
        self.touch(&def.schema);
        def.id = self.catalog.take_table_id();
        def.indexes.iter_mut().for_each(|index| index.id = self.catalog.take_index_id());
        let shared = Arc::new(TableShared::default());
        shared.auto_increment.set(def.auto_increment_start);
        self.add(def, shared).map(drop)
    }

    fn add(&mut self, def: TableDef, shared: Arc<TableShared>) -> Result<Arc<Table>> {
        let table = Arc::new(Table::new(Arc::new(def), CommitNumber(0), shared));
        self.catalog.add_table(table.clone())?;
        self.renewed.push(table.clone());
        Ok(table)
    }

    fn drop_table(&mut self, name: &TableName) -> Result<()> {
        self.touch(&name.schema);
        let table = self.catalog.remove_table(name)?;
        self.dropped.extend(table.indexes.iter().map(|index| index.id));
        Ok(())
    }

    fn rename(&mut self, from: &TableName, to: &TableName) -> Result<()> {
        self.touch(&from.schema);
        self.touch(&to.schema);
        let table = self.catalog.remove_table(from)?;
        let mut def = TableDef::clone(&table.def);
        def.schema.clone_from(&to.schema);
        def.name.clone_from(&to.name);
        let since = CommitNumber(table.since.load(std::sync::atomic::Ordering::Relaxed));
        self.catalog.add_table(Arc::new(Table::new(Arc::new(def), since, table.shared.clone())))
    }

    fn truncate(&mut self, name: &TableName) -> Result<()> {
        self.touch(&name.schema);
        let table = self.catalog.remove_table(name)?;
        self.dropped.extend(table.indexes.iter().map(|index| index.id));
        let mut def = TableDef::clone(&table.def);
        def.auto_increment_start = 1;
        self.create_table(def)
    }

    fn alter_table(&mut self, alter: AlterTable) -> Result<()> {
        let AlterTable { table: old, new_def: mut def, row_mapper: mapper } = alter;
        let name = TableName::new(&old.def.schema, &old.def.name);
        self.touch(&name.schema);
        self.touch(&def.schema);
        let now = self.catalog.table(&name.schema, &name.name);
        if !now.is_some_and(|now| Arc::ptr_eq(now, &old)) {
            return Err(EngineError::TableChanged(name.to_string()));
        }
        self.catalog.remove_table(&name)?;
        def.id = old.def.id;
        // As in MySQL, other names are no other table.
        let names = TableDef { schema: def.schema.clone(), name: def.name.clone(), ..TableDef::clone(&old.def) };
        if def != names {
            def.create_time = self.timestamp;
        }
        let mut built = Vec::new();
        for (number, index) in def.indexes.iter_mut().enumerate() {
            if mapper.is_some() || !old.indexes.iter().any(|other| other.id == index.id) {
                index.id = self.catalog.take_index_id();
                built.push(number);
            }
        }
        if built.first() == Some(&0) && mapper.is_none() {
            return Err(EngineError::Bug("ALTER TABLE changes the primary key without a row mapper".to_string()));
        }
        let stays = |id: IndexId| def.indexes.iter().any(|index| index.id == id);
        self.dropped.extend(old.indexes.iter().map(|index| index.id).filter(|&id| !stays(id)));
        if def.auto_increment_start > old.auto_increment().peek() {
            old.shared.auto_increment.seen(def.auto_increment_start - 1);
        }
        let shared = old.shared.clone();
        if built.is_empty() {
            let since = CommitNumber(old.since.load(std::sync::atomic::Ordering::Relaxed));
            return self.catalog.add_table(Arc::new(Table::new(Arc::new(def), since, shared)));
        }
        let new = self.add(def, shared)?;
        self.build = Some(Build { from: old, to: new, indexes: built, mapper });
        Ok(())
    }

    fn accounts(&mut self, accounts: Vec<(String, Option<serde_json::Value>)>) {
        for (name, account) in accounts {
            match account {
                Some(account) => drop(self.catalog.accounts.insert(name, Arc::new(account))),
                None => drop(self.catalog.accounts.remove(&name)),
            }
        }
    }
}

impl Catalog {
    fn schema_mut(&mut self, name: &str) -> Result<&mut Schema> {
        let schema = self.databases.get_mut(name).ok_or_else(|| EngineError::NoSuchDatabase(name.to_string()))?;
        Ok(Arc::make_mut(schema))
    }

    /// Adds a table under the names in its definition.
    pub(super) fn add_table(&mut self, table: Arc<Table>) -> Result<()> {
        let tables = &mut self.schema_mut(&table.def.schema)?.tables;
        if tables.contains_key(&table.def.name) {
            return Err(EngineError::TableExists(table.def.name.clone()));
        }
        tables.insert(table.def.name.clone(), table.clone());
        self.by_id.insert(table.id(), table);
        Ok(())
    }

    fn remove_table(&mut self, name: &TableName) -> Result<Arc<Table>> {
        let no_table = || EngineError::NoSuchTable(name.to_string());
        let tables = &mut self.schema_mut(&name.schema).map_err(|_| no_table())?.tables;
        let table = tables.remove(&name.name).ok_or_else(no_table)?;
        self.by_id.remove(&table.id());
        Ok(table)
    }

    fn take_table_id(&mut self) -> TableId {
        let id = self.next_table;
        self.next_table.0 += 1;
        id
    }

    fn take_index_id(&mut self) -> IndexId {
        let id = self.next_index;
        self.next_index.0 += 1;
        id
    }
}
