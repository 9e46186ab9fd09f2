//! What a server knows of its tables, for logs that say too little.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use commuter::client::{Client, ClientError, ServerUrl};
use events::{ColumnInfo, EventError, Lookup, TableInfo};

/// So long an answer may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// Asks the source's information_schema, over a connection of its own, and remembers until a statement may have changed something.
#[derive(Default)]
pub(super) struct ServerLookup {
    server: Option<ServerUrl>,
    client: Option<Client>,
    known: HashMap<(String, String), Option<Arc<TableInfo>>>,
}

impl ServerLookup {
    /// Without a server nothing is known.
    pub(super) fn new(server: Option<ServerUrl>) -> Self {
        ServerLookup { server, ..ServerLookup::default() }
    }

    fn ask(&mut self, server: &ServerUrl, database: &str, table: &str) -> Result<Option<TableInfo>, ClientError> {
        let client = match &mut self.client {
            Some(client) => client,
            None => self.client.insert(Client::connect(server, Some(PATIENCE))?),
        };
        let of = format!("TABLE_SCHEMA = {} AND TABLE_NAME = {}", quoted(database), quoted(table));
        let columns = client.query(&format!(
            "SELECT COLUMN_NAME, DATA_TYPE, COLUMN_TYPE, CHARACTER_SET_NAME, EXTRA FROM information_schema.COLUMNS \
             WHERE {of} ORDER BY ORDINAL_POSITION"
        ))?;
        if columns.rows.is_empty() {
            return Ok(None);
        }
        let keys = client.query(&format!(
            "SELECT COLUMN_NAME, SUB_PART FROM information_schema.STATISTICS WHERE {of} AND INDEX_NAME = 'PRIMARY' \
             ORDER BY SEQ_IN_INDEX"
        ))?;
        let column = |row: usize| {
            let column_type = columns.text(row, 2);
            let data_type = columns.text(row, 1).to_lowercase();
            let is_list = matches!(data_type.as_str(), "enum" | "set");
            ColumnInfo {
                name: columns.text(row, 0),
                unsigned: column_type.to_lowercase().contains("unsigned"),
                charset: columns.text(row, 3),
                members: if is_list { members_of(&column_type) } else { Vec::new() },
                // Not "DEFAULT_GENERATED", which is a default that is an expression.
                generated: columns.text(row, 4).to_uppercase().contains(" GENERATED"),
                data_type,
            }
        };
        let columns: Vec<ColumnInfo> = (0..columns.rows.len()).map(column).collect();
        let place = |row: usize| columns.iter().position(|column| column.name == keys.text(row, 0));
        // A prefix of a column is not enough to find a row.
        let is_whole = (0..keys.rows.len()).all(|row| keys.text(row, 1).is_empty());
        let primary_key = if is_whole { (0..keys.rows.len()).filter_map(place).collect() } else { Vec::new() };
        Ok(Some(TableInfo { columns, primary_key }))
    }
}

impl Lookup for ServerLookup {
    fn table(&mut self, database: &str, table: &str) -> Result<Option<Arc<TableInfo>>, EventError> {
        let name = (database.to_owned(), table.to_owned());
        if let Some(known) = self.known.get(&name) {
            return Ok(known.clone());
        }
        let Some(server) = self.server.clone() else { return Ok(None) };
        // A connection that was idle for long may be gone.
        let asked = self.ask(&server, database, table).or_else(|error| {
            self.client = None;
            if error.is_connection_lost() { self.ask(&server, database, table) } else { Err(error) }
        });
        let info = match asked {
            Ok(info) => info.map(Arc::new),
            // The source is away, and the tail's own connection will notice: it begins again with this transaction.
            Err(error) if error.may_pass() => return Err(EventError::SourceLost(error.to_string())),
            Err(error) => {
                return Err(EventError::Unsupported(format!("the columns of {database}.{table}: {error}")));
            }
        };
        self.known.insert(name, info.clone());
        Ok(info)
    }

    fn changed(&mut self) {
        self.known.clear();
    }
}

/// As a string of SQL, whatever `sql_mode` says of backslashes.
fn quoted(text: &str) -> String {
    let hex: String = text.bytes().map(|byte| format!("{byte:02x}")).collect();
    format!("CONVERT(x'{hex}' USING utf8mb4)")
}

/// `enum('a','it''s')`
fn members_of(column_type: &str) -> Vec<String> {
    let inner = column_type.split_once('(').map_or("", |(_, rest)| rest).trim_end_matches(')');
    let (mut members, mut current) = (Vec::new(), None::<String>);
    let mut chars = inner.chars().peekable();
    while let Some(c) = chars.next() {
        match (&mut current, c) {
            (None, '\'') => current = Some(String::new()),
            (None, _) => {}
            (Some(member), '\'') if chars.peek() == Some(&'\'') => {
                chars.next();
                member.push('\'');
            }
            (Some(_), '\'') => members.extend(current.take()),
            (Some(member), c) => member.push(c),
        }
    }
    members
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members() {
        assert_eq!(members_of("enum('a','it''s','','b,c)')"), ["a", "it's", "", "b,c)"]);
        assert_eq!(members_of("int"), [""; 0]);
    }
}
