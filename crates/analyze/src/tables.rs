//! Tables that a log names, and what is known of their keys.

use std::collections::HashMap;
use std::sync::Arc;

use binlog::DecodeError;
use binlog::event::{Dialect, TableMap, TableMapEvent};
use xxhash_rust::xxh3::xxh3_64;

/// How rows of a table are told from one another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TableKey {
    /// Columns of the primary key, in the table's order.
    Primary(Vec<usize>),
    /// It has no primary key.
    None,
    /// The log does not say (`binlog_row_metadata=MINIMAL`, MariaDB's `NO_LOG`).
    Unknown,
}

/// What somebody else knows of a table: the server, whose log does not say it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownTable {
    /// Columns of its primary key, from 0; empty if it has none.
    pub primary: Vec<usize>,
    /// Foreign keys from it and to it.
    pub foreign_keys: u32,
}

/// By schema and name.
pub type KnownTables = HashMap<(String, String), KnownTable>;

/// A table, over all of its TABLE_MAPs.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    pub(crate) schema: String,
    pub(crate) name: String,
    pub(crate) key: TableKey,
    /// `None` if nobody knows.
    pub(crate) foreign_keys: Option<u32>,
    pub(crate) transactions: u64,
    pub(crate) rows: [u64; 3],
    pub(crate) bytes: u64,
}

/// A TABLE_MAP as rows events refer to it.
#[derive(Debug)]
pub(crate) struct Mapped {
    pub(crate) number: u32,
    pub(crate) map: TableMap,
    pub(crate) key: TableKey,
    /// What the hashes of its rows begin with.
    pub(crate) seed: u64,
    pub(crate) schema: u32,
    body: Vec<u8>,
}

/// All tables and schemas of a log.
#[derive(Default)]
pub(crate) struct Tables {
    known: KnownTables,
    pub(crate) all: Vec<Table>,
    numbers: HashMap<(String, String), u32>,
    schemas: HashMap<String, u32>,
    /// By number in the log; of one file.
    mapped: HashMap<u64, Arc<Mapped>>,
}

impl Tables {
    pub(crate) fn new(known: KnownTables) -> Self {
        Tables { known, ..Tables::default() }
    }

    /// Another file begins: its numbers are its own.
    pub(crate) fn next_file(&mut self) {
        self.mapped.clear();
    }

    pub(crate) fn schema(&mut self, name: &str) -> u32 {
        if let Some(&number) = self.schemas.get(name) {
            return number;
        }
        let number = self.schemas.len() as u32;
        self.schemas.insert(name.to_owned(), number);
        number
    }

    pub(crate) fn mapped(&self, id: u64) -> Option<Arc<Mapped>> {
        self.mapped.get(&id).cloned()
    }

    /// Takes a TABLE_MAP. Most are there already, byte for byte.
    pub(crate) fn take(&mut self, id: u64, body: &[u8], dialect: Dialect) -> Result<(), DecodeError> {
        if self.mapped.get(&id).is_some_and(|mapped| mapped.body == body) {
            return Ok(());
        }
        let map = TableMap::of(&TableMapEvent::decode(body)?, dialect)?;
        let name = (map.schema.clone(), map.table.clone());
        let known = self.known.get(&name).filter(|known| known.primary.iter().all(|&at| at < map.columns.len()));
        let key = match known {
            Some(known) if known.primary.is_empty() => TableKey::None,
            Some(known) => TableKey::Primary(sorted(known.primary.clone())),
            None if !map.primary_key.is_empty() => {
                TableKey::Primary(sorted(map.primary_key.iter().map(|&(column, _)| column).collect()))
            }
            None if map.columns.iter().any(|column| column.name.is_some()) => TableKey::None,
            None => TableKey::Unknown,
        };
        let (foreign_keys, seed) = (known.map(|known| known.foreign_keys), seed(&map.schema, &map.table));
        let (number, schema) = (self.number(&name, &key, foreign_keys), self.schema(&map.schema));
        self.mapped.insert(id, Arc::new(Mapped { number, map, key, seed, schema, body: body.to_vec() }));
        Ok(())
    }

    fn number(&mut self, name: &(String, String), key: &TableKey, foreign_keys: Option<u32>) -> u32 {
        if let Some(&number) = self.numbers.get(name) {
            self.all[number as usize].key = key.clone();
            return number;
        }
        let number = self.all.len() as u32;
        self.numbers.insert(name.clone(), number);
        let (schema, name) = name.clone();
        let key = key.clone();
        self.all.push(Table { schema, name, key, foreign_keys, transactions: 0, rows: [0; 3], bytes: 0 });
        number
    }
}

/// Images have their values in the table's order.
fn sorted(mut columns: Vec<usize>) -> Vec<usize> {
    columns.sort_unstable();
    columns
}

/// What stands for a table as a whole.
pub(crate) fn seed(schema: &str, table: &str) -> u64 {
    // Names have no zero byte.
    xxh3_64(format!("{schema}\0{table}").to_lowercase().as_bytes())
}
