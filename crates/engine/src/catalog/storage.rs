//! The catalog as rows of the system index: JSON under keys that begin with a kind.
//!
//! ```text
//!   c                    {"next_table": 1007, "next_index": 1019}
//!   d  name              {"name": "shop", "collation": 255}
//!   h  table id, u64 BE, name of a column     its histogram, whatever `sql` says of it
//!   t  table id, u64 BE  the definition of the table, names and indexes included
//!   u  user@host         whatever `sql` says of an account
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use base::{CommitNumber, IndexId, TableId};
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use types::{CollationId, TableDef};

use super::{Catalog, Database, Schema, Table, TableShared};
use crate::checkpoint::Meta;
use crate::error::{EngineError, Result};
use crate::memtable::Key;

/// The index whose entries are the catalog.
pub(crate) const SYSTEM_INDEX: IndexId = IndexId(1);

/// Lower ids are the system's own, of tables and of indexes.
pub(super) const FIRST_USER_ID: u64 = 1000;

#[derive(Serialize, Deserialize)]
struct CounterRow {
    next_table: u64,
    next_index: u64,
}

#[derive(Serialize, Deserialize)]
struct DatabaseRow {
    name: String,
    collation: u16,
}

/// What distinguishes a catalog from the one that it was made from, as changes of rows, by key.
pub(crate) fn row_changes(old: &Catalog, new: &Catalog) -> Result<Vec<(Key, Option<Bytes>)>> {
    let (old, mut new) = (rows(old, new, &new.changed)?, rows(new, old, &new.changed)?);
    for (key, value) in old {
        match new.get(&key) {
            Some(same) if *same == value => drop(new.remove(&key)),
            Some(_) => {}
            None => drop(new.insert(key, None)),
        }
    }
    Ok(new.into_iter().collect())
}

/// The rows of a catalog, of its tables those that are not in another one; without the accounts that it shares with that.
fn rows(catalog: &Catalog, other: &Catalog, changed: &BTreeSet<TableId>) -> Result<BTreeMap<Key, Option<Bytes>>> {
    let mut rows = BTreeMap::new();
    let counters = CounterRow { next_table: catalog.next_table.0, next_index: catalog.next_index.0 };
    rows.insert(key(b'c', b""), Some(json(&counters)?));
    for schema in catalog.databases.values() {
        let Database { name, collation } = &schema.database;
        let row = DatabaseRow { name: name.clone(), collation: collation.0 };
        rows.insert(key(b'd', name.as_bytes()), Some(json(&row)?));
    }
    for id in changed {
        if let Some(table) = catalog.by_id.get(id) {
            rows.insert(key(b't', &id.0.to_be_bytes()), Some(json(&*table.def)?));
        }
    }
    if !Arc::ptr_eq(&catalog.histograms, &other.histograms) {
        for ((table, column), histogram) in &*catalog.histograms {
            let rest = [&table.0.to_be_bytes()[..], column.as_bytes()].concat();
            rows.insert(key(b'h', &rest), Some(Bytes::copy_from_slice(histogram.as_bytes())));
        }
    }
    for (name, account) in &*catalog.accounts {
        let is_shared = other.accounts.get(name).is_some_and(|same| Arc::ptr_eq(same, account));
        if !is_shared {
            rows.insert(key(b'u', name.as_bytes()), Some(json(&**account)?));
        }
    }
    Ok(rows)
}

/// The catalog that these rows are; `meta` tells where each table's counters were.
pub(crate) fn load(rows: impl IntoIterator<Item = (Bytes, Bytes)>, meta: &Meta) -> Result<Catalog> {
    let mut catalog = Catalog::empty();
    for (key, value) in rows {
        match key.first() {
            Some(b'c') => {
                let row: CounterRow = parse(&value)?;
                catalog.next_table = TableId(row.next_table);
                catalog.next_index = IndexId(row.next_index);
            }
            Some(b'd') => {
                let row: DatabaseRow = parse(&value)?;
                let database = Database { name: row.name.clone(), collation: CollationId(row.collation) };
                catalog.databases.insert(row.name, Arc::new(Schema { database, tables: BTreeMap::new() }));
            }
            Some(b'h') => {
                let damaged = || EngineError::Corrupt(format!("catalog: impossible row {:02x?}", &key[..]));
                let (table, column) = key[1..].split_first_chunk::<8>().ok_or_else(damaged)?;
                let of = (TableId(u64::from_be_bytes(*table)), String::from_utf8_lossy(column).into_owned());
                Arc::make_mut(&mut catalog.histograms).insert(of, String::from_utf8_lossy(&value).into());
            }
            // Databases come before tables in the order of the keys.
            Some(b't') => {
                let def: TableDef = parse(&value)?;
                let shared = Arc::new(TableShared::default());
                let next = meta.auto_increment.get(&def.id.0).copied().unwrap_or(def.auto_increment_start);
                shared.auto_increment.set(next);
                shared.generated_keys.set(meta.generated_keys.get(&def.id.0).copied().unwrap_or(next));
                let table = Arc::new(Table::new(Arc::new(def), CommitNumber(0), shared));
                meta.statistics.get(&table.id().0).into_iter().for_each(|stored| stored.restore(&table));
                catalog.add_table(table)?;
            }
            Some(b'u') => {
                let name = String::from_utf8_lossy(&key[1..]).into_owned();
                Arc::make_mut(&mut catalog.accounts).insert(name, Arc::new(parse(&value)?));
            }
            _ => return Err(EngineError::Corrupt(format!("catalog: unknown row {:02x?}", &key[..]))),
        }
    }
    Ok(catalog)
}

fn key(kind: u8, rest: &[u8]) -> Key {
    let mut bytes = Vec::with_capacity(1 + rest.len());
    bytes.push(kind);
    bytes.extend_from_slice(rest);
    Key::new(&bytes)
}

fn json<T: Serialize>(row: &T) -> Result<Bytes> {
    let bytes = serde_json::to_vec(row).map_err(|error| EngineError::Bug(format!("catalog: {error}")))?;
    Ok(bytes.into())
}

fn parse<T: for<'de> Deserialize<'de>>(row: &[u8]) -> Result<T> {
    serde_json::from_slice(row).map_err(|error| EngineError::Corrupt(format!("catalog: {error}")))
}
