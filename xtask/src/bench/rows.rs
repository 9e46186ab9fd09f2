//! Rows into tables: INSERTs of many rows, some of them in a transaction.

use std::collections::BTreeMap;

use interop::{Connection, Result};

use super::Contender;

/// Bytes of rows in one INSERT.
const INSERT_BYTES: usize = 256 << 10;
/// Statements of one transaction.
const INSERTS_AT_ONCE: usize = 16;

/// Puts rows into tables of one server.
pub(super) struct RowLoader<'c> {
    connection: &'c mut Connection,
    /// The INSERT that is not sent yet, by table.
    open: BTreeMap<String, String>,
    inserts: usize,
}

impl<'c> RowLoader<'c> {
    pub(super) fn new(connection: &'c mut Connection) -> Result<Self> {
        connection.succeed("BEGIN")?;
        Ok(RowLoader { connection, open: BTreeMap::new(), inserts: 0 })
    }

    /// Adds a row: its literals in parentheses.
    pub(super) fn add(&mut self, table: &str, row: &str) -> Result<()> {
        let statement = self.open.entry(table.to_owned()).or_default();
        match statement.is_empty() {
            true => *statement = format!("INSERT INTO {table} VALUES "),
            false => statement.push(','),
        }
        statement.push_str(row);
        if statement.len() > INSERT_BYTES {
            self.connection.succeed(&std::mem::take(statement))?;
            self.inserts += 1;
            if self.inserts.is_multiple_of(INSERTS_AT_ONCE) {
                self.connection.succeed("COMMIT")?;
                self.connection.succeed("BEGIN")?;
            }
        }
        Ok(())
    }

    /// Sends what is left. Peers collect statistics of these tables; ours has to do without, unless it is asked for.
    pub(super) fn finish(self, contender: &Contender) -> Result<()> {
        for statement in self.open.values().filter(|statement| !statement.is_empty()) {
            self.connection.succeed(statement)?;
        }
        self.connection.succeed("COMMIT")?;
        if matches!(contender, Contender::Peer(_)) {
            let names: Vec<&str> = self.open.keys().map(String::as_str).collect();
            self.connection.succeed(&format!("ANALYZE TABLE {}", names.join(", ")))?;
        }
        Ok(())
    }
}
