//! From one catalog and a change to the next catalog, and to what has to be built and dropped for it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use base::{CommitNumber, IndexId, TableId};
use types::{ForeignKeyDef, TableDef};

use super::{
    AlterTable, Catalog, CatalogChange, Database, NewForeignKey, RowMapper, Schema, Table, TableName, TableShared,
};
use crate::error::{EngineError, Result};

/// Trees that have to be filled from a table's rows before the new catalog can be seen.
pub(crate) struct Build {
    pub(crate) from: Arc<Table>,
    pub(crate) to: Arc<Table>,
    /// Positions in `to.indexes`.
    pub(crate) indexes: Vec<usize>,
    pub(crate) mapper: Option<RowMapper>,
    /// [`AlterTable::read_by`]
    pub(crate) read_by: usize,
}

/// A table before and after ALTER TABLE, the counters of which go on when that is done.
pub(crate) struct Altered {
    pub(crate) old: Arc<Table>,
    pub(crate) new: Arc<Table>,
    /// [`AlterTable::counter`]
    pub(crate) counter: Option<u64>,
}

/// Foreign keys that a table's rows, in their new form, have to obey.
pub(crate) struct KeyCheck {
    pub(crate) from: Arc<Table>,
    pub(crate) to: Arc<Table>,
    pub(crate) mapper: Option<RowMapper>,
    /// [`AlterTable::read_by`]
    pub(crate) read_by: usize,
    pub(crate) keys: Vec<NewForeignKey>,
}

/// What a change comes to.
pub(crate) struct Planned {
    pub(crate) catalog: Catalog,
    pub(crate) build: Option<Build>,
    pub(crate) key_check: Option<KeyCheck>,
    /// What ALTER TABLE changes.
    pub(crate) altered: Option<Altered>,
    /// Tables whose form is new: older read views cannot use them.
    pub(crate) renewed: Vec<Arc<Table>>,
    /// Indexes that nobody can use any more.
    pub(crate) dropped: Vec<IndexId>,
    /// Tables whose statistics are to be collected.
    pub(crate) analyzed: Vec<Arc<Table>>,
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
        CatalogChange::CreateTable(def) => parents(catalog, &def.foreign_keys).collect(),
        CatalogChange::AlterTable(alter) => {
            let old = &alter.table.def.foreign_keys;
            let added = alter.new_def.foreign_keys.iter().filter(|key| !old.contains(key));
            let checked = alter.checked_keys.iter().map(|checked| checked.parent.id());
            parents(catalog, added).chain(checked).chain([alter.table.id()]).collect()
        }
        CatalogChange::Truncate(name) => find(name).into_iter().collect(),
        CatalogChange::Nothing
        | CatalogChange::Analyze(_)
        | CatalogChange::Histograms(..)
        | CatalogChange::CreateDatabase(_)
        | CatalogChange::AlterDatabase(_)
        | CatalogChange::Accounts(_) => Vec::new(),
    };
    // One order for all, so that two DDL statements cannot wait for each other.
    ids.sort_unstable();
    ids.dedup();
    ids
}

/// The tables that foreign keys refer to, as far as they are there.
fn parents<'a>(
    catalog: &'a Catalog,
    keys: impl IntoIterator<Item = &'a ForeignKeyDef> + 'a,
) -> impl Iterator<Item = TableId> + 'a {
    keys.into_iter().filter_map(|key| catalog.table(&key.parent_schema, &key.parent_table)).map(|table| table.id())
}

/// Checks a change against a catalog and makes the next one. The timestamp, in seconds since 1970, is that of its event.
pub(crate) fn plan(catalog: &Catalog, change: CatalogChange, timestamp: u32) -> Result<Planned> {
    let mut next = catalog.clone();
    next.version += 1;
    next.changed.clear();
    let (renewed, dropped, schemas) = (Vec::new(), Vec::new(), Vec::new());
    let analyzed = Vec::new();
    let mut planned = Planned {
        catalog: next,
        build: None,
        key_check: None,
        altered: None,
        renewed,
        dropped,
        analyzed,
        schemas,
        timestamp,
    };
    match change {
        CatalogChange::Nothing => {}
        CatalogChange::Analyze(names) => planned.analyze(&names),
        CatalogChange::Histograms(table, histograms) => planned.histograms(&table, histograms)?,
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
    planned.catalog.renew_parents(catalog)?;
    planned.catalog.drop_histograms(catalog);
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
            self.catalog.changed.insert(table.id());
            self.catalog.by_id.remove(&table.id());
            self.catalog.forget_child(table);
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
        rename_generated(&mut def, &from.name);
        self.catalog.add_table(Arc::new(table.with_def(def)))?;
        self.catalog.change_children(from, |key| {
            key.parent_schema.clone_from(&to.schema);
            key.parent_table.clone_from(&to.name);
        })
    }

    fn histograms(&mut self, name: &TableName, histograms: Vec<(String, Option<Arc<str>>)>) -> Result<()> {
        self.touch(&name.schema);
        let table = self.catalog.base_table(&name.schema, &name.name);
        let id = table.ok_or_else(|| EngineError::NoSuchTable(name.to_string()))?.id();
        let known = Arc::make_mut(&mut self.catalog.histograms);
        for (column, histogram) in histograms {
            match histogram {
                Some(histogram) => drop(known.insert((id, column), histogram)),
                None => drop(known.remove(&(id, column))),
            }
        }
        Ok(())
    }

    fn analyze(&mut self, names: &[TableName]) {
        for name in names {
            self.touch(&name.schema);
            self.analyzed.extend(self.catalog.base_table(&name.schema, &name.name).cloned());
        }
    }

    fn truncate(&mut self, name: &TableName) -> Result<()> {
        self.touch(&name.schema);
        let table = self.catalog.remove_table(name)?;
        self.dropped.extend(table.indexes.iter().map(|index| index.id));
        let mut def = TableDef::clone(&table.def);
        def.auto_increment_start = 1;
        self.create_table(def)?;
        // They stay, as in MySQL.
        let kept: Vec<_> =
            self.catalog.histograms(table.id()).map(|(column, kept)| (column.to_owned(), Some(kept.clone()))).collect();
        if kept.is_empty() { Ok(()) } else { self.histograms(name, kept) }
    }

    fn alter_table(&mut self, alter: AlterTable) -> Result<()> {
        let AlterTable { table: old, new_def: mut def, row_mapper: mapper, checked_keys: keys, read_by, .. } = alter;
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
        rename_generated(&mut def, &name.name);
        self.rename_in_children(&name, &mut def, &alter.renamed_columns)?;
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
        let new = if built.is_empty() {
            let same_rows = Arc::new(old.with_def(def));
            self.catalog.add_table(same_rows.clone())?;
            same_rows
        } else {
            self.add(def, old.shared.clone())?
        };
        self.altered = Some(Altered { old: old.clone(), new: new.clone(), counter: alter.counter });
        if !keys.is_empty() {
            self.key_check =
                Some(KeyCheck { from: old.clone(), to: new.clone(), mapper: mapper.clone(), read_by, keys });
        }
        if !built.is_empty() {
            self.build = Some(Build { from: old, to: new, indexes: built, mapper, read_by });
        }
        Ok(())
    }

    /// The foreign keys to an altered table follow its new names. Those of its own that refer to itself have its new columns already.
    fn rename_in_children(&mut self, name: &TableName, def: &mut TableDef, columns: &[(String, String)]) -> Result<()> {
        let (schema, table) = (def.schema.clone(), def.name.clone());
        let follow = |key: &mut ForeignKeyDef| {
            key.parent_schema.clone_from(&schema);
            key.parent_table.clone_from(&table);
            key.rename_parent_columns(columns);
        };
        let own = def.foreign_keys.iter_mut().filter(|key| key.refers_to(&name.schema, &name.name));
        own.for_each(|key| (key.parent_schema, key.parent_table) = (schema.clone(), table.clone()));
        self.catalog.change_children(name, follow)
    }

    fn accounts(&mut self, accounts: Vec<(String, Option<serde_json::Value>)>) {
        let known = Arc::make_mut(&mut self.catalog.accounts);
        for (name, account) in accounts {
            match account {
                Some(account) => drop(known.insert(name, Arc::new(account))),
                None => drop(known.remove(&name)),
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
        if tables.contains_key(table.def.name.as_str()) {
            return Err(EngineError::TableExists(table.def.name.clone()));
        }
        tables.insert(table.def.name.as_str().into(), table.clone());
        self.changed.insert(table.id());
        for parent in parent_names(&table) {
            self.children.entry(parent).or_default().insert(table.id());
        }
        self.by_id.insert(table.id(), table);
        Ok(())
    }

    fn remove_table(&mut self, name: &TableName) -> Result<Arc<Table>> {
        let no_table = || EngineError::NoSuchTable(name.to_string());
        let tables = &mut self.schema_mut(&name.schema).map_err(|_| no_table())?.tables;
        let table = tables.remove(name.name.as_str()).ok_or_else(no_table)?;
        self.changed.insert(table.id());
        self.by_id.remove(&table.id());
        self.forget_child(&table);
        Ok(table)
    }

    fn forget_child(&mut self, table: &Table) {
        for parent in parent_names(table) {
            let Some(children) = self.children.get_mut(&parent) else { continue };
            children.remove(&table.id());
            if children.is_empty() {
                self.children.remove(&parent);
            }
        }
    }

    /// Changes the foreign keys of other tables that refer to a table of that name.
    fn change_children(&mut self, parent: &TableName, change: impl Fn(&mut ForeignKeyDef)) -> Result<()> {
        let children: Vec<Arc<Table>> = self.children_of(&parent.schema, &parent.name).cloned().collect();
        for child in children {
            let mut def = TableDef::clone(&child.def);
            def.foreign_keys.iter_mut().filter(|key| key.refers_to(&parent.schema, &parent.name)).for_each(&change);
            self.replace_table(child.with_def(def))?;
        }
        Ok(())
    }

    /// Another form of a table that is there under the same name.
    fn replace_table(&mut self, table: Table) -> Result<()> {
        self.remove_table(&TableName::new(&table.def.schema, &table.def.name))?;
        self.add_table(Arc::new(table))
    }

    /// Forgets the histograms of tables and columns that are there no more, or are others.
    fn drop_histograms(&mut self, before: &Catalog) {
        if self.histograms.is_empty() {
            return;
        }
        for id in self.changed.clone() {
            let old = before.by_id.get(&id);
            let is_same = |name: &str| match (old, self.by_id.get(&id)) {
                (_, None) => false,
                (None, Some(_)) => true,
                (Some(old), Some(new)) => {
                    let of = |table: &Table| table.def.columns.iter().find(|column| column.name == name).cloned();
                    let (old, new) = (of(old), of(new));
                    old.zip(new).is_some_and(|(old, new)| old.ty == new.ty && old.collation == new.collation)
                }
            };
            let gone: Vec<String> = self
                .histograms(id)
                .filter(|(column, _)| !is_same(column))
                .map(|(column, _)| column.to_owned())
                .collect();
            if !gone.is_empty() {
                let known = Arc::make_mut(&mut self.histograms);
                gone.into_iter().for_each(|column| drop(known.remove(&(id, column))));
            }
        }
    }

    /// The parents whose children are others than before become other tables: see the module's header.
    fn renew_parents(&mut self, before: &Catalog) -> Result<()> {
        let is_same = |id: &TableId, table: &Arc<Table>, other: &Catalog| {
            other.by_id.get(id).is_some_and(|same| Arc::ptr_eq(same, table))
        };
        let changed = |of: &Catalog, other: &Catalog| -> Vec<TableName> {
            let tables = self.changed.iter().filter_map(|id| of.by_id.get(id));
            tables.filter(|table| !is_same(&table.id(), table, other)).flat_map(|table| parent_names(table)).collect()
        };
        let names: BTreeSet<TableName> = changed(self, before).into_iter().chain(changed(before, self)).collect();
        for name in names {
            let parent = self.table(&name.schema, &name.name).filter(|table| is_same(&table.id(), table, before));
            if let Some(renewed) = parent.map(|table| table.with_def(TableDef::clone(&table.def))) {
                self.replace_table(renewed)?;
            }
        }
        Ok(())
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

/// The tables that a table's foreign keys refer to.
fn parent_names(table: &Table) -> BTreeSet<TableName> {
    table.def.foreign_keys.iter().map(|key| TableName::new(&key.parent_schema, &key.parent_table)).collect()
}

/// Foreign keys that were named after their table (`t_ibfk_1`) follow its name.
fn rename_generated(def: &mut TableDef, old_name: &str) {
    let TableDef { name, foreign_keys, .. } = def;
    for key in foreign_keys.iter_mut().filter(|_| name != old_name) {
        let number = key.name.strip_prefix(old_name).and_then(|rest| rest.strip_prefix("_ibfk_"));
        if let Some(number) = number.filter(|number| number.bytes().all(|byte| byte.is_ascii_digit())) {
            key.name = format!("{name}_ibfk_{number}");
        }
    }
}
