//! What exists: databases, tables, accounts; as immutable snapshots.
//!
//! # Model
//! A [`Catalog`] is a value. Every DDL makes a new one with a higher [`Catalog::version`] from the one before, and the
//! engine swaps the pointer when the DDL becomes visible. Whoever planned with an older one keeps it; before it touches rows
//! it locks the table ([`crate::Transaction::lock_table`]) and is told if the table has changed since.
//!
//! On disk the catalog is rows like any others, in the system index (`storage::SYSTEM_INDEX`): one per database, table
//! and account, and one for the counters from which ids come. They are installed under the commit number of the DDL, so a
//! checkpoint holds the catalog of exactly its log position, and a crash between two DDLs needs no more care than one
//! between two updates.
//!
//! # Foreign keys
//! A child's definition names its parent; [`Catalog::children_of`] is derived from that. Who plans a change of the parent's
//! rows has to know its children, so a parent becomes another [`Table`] (with the same definition) when a foreign key to it
//! comes or goes: plans made before no longer pass [`crate::Transaction::lock_table`].
//!
//! # Invariants
//! - Ids come from counters in the catalog itself and are never given twice, so that whoever applies the same log gives
//!   the same ids, and a tree or a memtable is never taken for another's.
//! - `Catalog` → rows → `Catalog` is the identity, but for what is not in it: auto-increment counters (in the
//!   checkpoint's meta data, then from the log) and statistics.

mod change;
mod names;
mod plan;
mod storage;
mod table;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Weak};

use base::{IndexId, TableId};
use types::CollationId;

pub use change::{AlterTable, CatalogChange, DdlPlanner, DdlText, NewForeignKey, RowMap, RowMapper, TableName};
pub(crate) use plan::{Altered, Build, KeyCheck, Planned, locked_tables, plan};
pub(crate) use storage::{SYSTEM_INDEX, load, row_changes};
pub use table::{AutoIncrement, Table, compression_named, may_auto_increment, table_option};
pub(crate) use table::{ColumnSet, TableShared};

/// A database.
#[derive(Clone, Debug, PartialEq)]
pub struct Database {
    /// Its name, with case.
    pub name: String,
    /// For its new tables.
    pub collation: CollationId,
}

/// What `sql` says of each account, by name.
type Accounts = BTreeMap<String, Arc<serde_json::Value>>;

/// What `sql` says of the values of columns, by table and name of the column.
type Histograms = BTreeMap<(TableId, String), Arc<str>>;

/// Which accounts a catalog had: catalogs between two changes of accounts have the same ones.
#[derive(Clone, Debug, Default)]
pub struct AccountsVersion(Weak<Accounts>);

/// Everything that exists at one commit number.
#[derive(Clone, Debug)]
pub struct Catalog {
    version: u64,
    databases: BTreeMap<String, Arc<Schema>>,
    by_id: HashMap<TableId, Arc<Table>>,
    /// Whose foreign keys refer to a table of that name, be it there or not.
    children: BTreeMap<TableName, BTreeSet<TableId>>,
    /// Shared by all catalogs between two changes of accounts.
    accounts: Arc<Accounts>,
    /// Shared by all catalogs between two changes of histograms.
    histograms: Arc<Histograms>,
    /// Of the session that this catalog is for: they hide others of their names, and are in no list.
    temporary: BTreeMap<TableName, Arc<Table>>,
    next_table: TableId,
    next_index: IndexId,
    /// Tables that came, went or are others than in the catalog before, so that nobody has to look through all of them.
    changed: BTreeSet<TableId>,
}

/// A database with its tables.
#[derive(Clone, Debug)]
struct Schema {
    database: Database,
    tables: BTreeMap<Arc<str>, Arc<Table>>,
}

impl Catalog {
    /// Of an empty server.
    pub(crate) fn empty() -> Self {
        Catalog {
            version: 0,
            databases: BTreeMap::new(),
            by_id: HashMap::new(),
            children: BTreeMap::new(),
            accounts: Arc::default(),
            histograms: Arc::default(),
            temporary: BTreeMap::new(),
            next_table: TableId(storage::FIRST_USER_ID),
            next_index: IndexId(storage::FIRST_USER_ID),
            changed: BTreeSet::new(),
        }
    }

    /// Higher with every change; plans made with the same version still hold.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// A database.
    pub fn database(&self, name: &str) -> Option<&Database> {
        self.databases.get(name).map(|schema| &schema.database)
    }

    /// All databases, by name.
    pub fn databases(&self) -> impl Iterator<Item = &Database> {
        self.databases.values().map(|schema| &schema.database)
    }

    /// The same with the temporary tables of a session, under a version that no other catalog has.
    pub fn with_temporary(&self, version: u64, temporary: BTreeMap<TableName, Arc<Table>>) -> Catalog {
        Catalog { version, temporary, ..self.clone() }
    }

    /// The same without the tables of that name, a temporary one or not.
    pub fn without_table(&self, schema: &str, name: &str) -> Catalog {
        let mut catalog = self.clone();
        catalog.temporary.remove(&TableName::new(schema, name));
        let database = catalog.databases.get_mut(schema).map(Arc::make_mut);
        if let Some(table) = database.and_then(|database| database.tables.remove(name)) {
            catalog.by_id.remove(&table.id());
            for children in catalog.children.values_mut() {
                children.remove(&table.id());
            }
        }
        catalog
    }

    /// A table, a temporary one before another of its name.
    pub fn table(&self, schema: &str, name: &str) -> Option<&Arc<Table>> {
        self.temporary_table(schema, name).or_else(|| self.base_table(schema, name))
    }

    /// A temporary table.
    pub fn temporary_table(&self, schema: &str, name: &str) -> Option<&Arc<Table>> {
        match self.temporary.is_empty() {
            true => None,
            false => self.temporary.get(&TableName::new(schema, name)),
        }
    }

    /// A table that is no temporary one.
    pub fn base_table(&self, schema: &str, name: &str) -> Option<&Arc<Table>> {
        self.databases.get(schema)?.tables.get(name)
    }

    /// A table by its id.
    pub fn table_by_id(&self, id: TableId) -> Option<&Arc<Table>> {
        self.by_id.get(&id)
    }

    /// The tables of a database, by name; none if there is no such database.
    pub fn tables(&self, schema: &str) -> impl Iterator<Item = &Arc<Table>> {
        self.databases.get(schema).into_iter().flat_map(|schema| schema.tables.values())
    }

    /// The databases whose name may be equal to this one in a collation that ignores case, and perhaps some whose name is not; in order.
    pub fn databases_alike(&self, name: &str) -> impl Iterator<Item = &Database> {
        names::alike(&self.databases, name).into_iter().map(|(_, schema)| &schema.database)
    }

    /// The same of the tables of a database.
    pub fn tables_alike(&self, schema: &str, name: &str) -> impl Iterator<Item = &Arc<Table>> {
        let schema = self.databases.get(schema).into_iter();
        schema.flat_map(|schema| names::alike(&schema.tables, name)).map(|(_, table)| table)
    }

    /// The tables with a foreign key to a table of that name, itself perhaps among them; in the order of their ids.
    pub fn children_of(&self, schema: &str, name: &str) -> impl Iterator<Item = &Arc<Table>> {
        let ids = self.children.get(&TableName::new(schema, name)).into_iter().flatten();
        ids.filter_map(|id| self.by_id.get(id))
    }

    /// An account (`user@host`), as `session` and `sql` wrote it.
    pub fn account(&self, name: &str) -> Option<&Arc<serde_json::Value>> {
        self.accounts.get(name)
    }

    /// Which accounts these are.
    pub fn accounts_version(&self) -> AccountsVersion {
        AccountsVersion(Arc::downgrade(&self.accounts))
    }

    /// Whether the accounts are still those of an earlier look.
    pub(crate) fn has_accounts(&self, version: &AccountsVersion) -> bool {
        // What a weak reference points to is not used again for anything else, so it is the same place or another one.
        std::ptr::eq(version.0.as_ptr(), Arc::as_ptr(&self.accounts))
    }

    /// All accounts, by name.
    pub fn accounts(&self) -> impl Iterator<Item = (&str, &Arc<serde_json::Value>)> {
        self.accounts.iter().map(|(name, account)| (name.as_str(), account))
    }

    /// The histogram of a column, as `sql` wrote it.
    pub fn histogram(&self, table: TableId, column: &str) -> Option<&Arc<str>> {
        if self.histograms.is_empty() {
            return None;
        }
        self.histograms.get(&(table, column.to_owned()))
    }

    /// The histograms of a table, by column.
    pub fn histograms(&self, table: TableId) -> impl Iterator<Item = (&str, &Arc<str>)> {
        let from = self.histograms.range((table, String::new())..);
        let own = from.take_while(move |((of, _), _)| *of == table);
        own.map(|((_, column), histogram)| (column.as_str(), histogram))
    }

    /// How many tables there are.
    pub(crate) fn table_count(&self) -> usize {
        self.by_id.len()
    }

    /// Ids of indexes from here on were never given.
    pub(crate) fn next_index(&self) -> IndexId {
        self.next_index
    }

    /// Every table, in the order of their ids: what is done with one after the other is done in the same order again.
    pub fn all_tables(&self) -> impl Iterator<Item = &Arc<Table>> {
        let mut tables: Vec<&Arc<Table>> = self.by_id.values().collect();
        tables.sort_unstable_by_key(|table| table.id());
        tables.into_iter()
    }
}
