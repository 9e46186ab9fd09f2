//! What the server knows of its tables and its log does not say.

use std::collections::HashMap;

use analyze::{KnownTable, KnownTables};
use commuter::client::{Client, ClientError, ServerUrl};

const TABLES: &str = "SELECT TABLE_SCHEMA, TABLE_NAME FROM information_schema.TABLES WHERE TABLE_TYPE = 'BASE TABLE'";
const PRIMARY_KEYS: &str = "SELECT s.TABLE_SCHEMA, s.TABLE_NAME, c.ORDINAL_POSITION FROM information_schema.STATISTICS s \
    JOIN information_schema.COLUMNS c ON c.TABLE_SCHEMA = s.TABLE_SCHEMA AND c.TABLE_NAME = s.TABLE_NAME AND c.COLUMN_NAME = s.COLUMN_NAME \
    WHERE s.INDEX_NAME = 'PRIMARY'";
const FOREIGN_KEYS: &str = "SELECT TABLE_SCHEMA, TABLE_NAME, REFERENCED_TABLE_SCHEMA, REFERENCED_TABLE_NAME \
    FROM information_schema.KEY_COLUMN_USAGE WHERE REFERENCED_TABLE_NAME IS NOT NULL AND ORDINAL_POSITION = 1";

/// All base tables of a server, as they are now.
pub(super) fn tables(source: &ServerUrl) -> Result<KnownTables, ClientError> {
    let mut client = Client::connect(source, None)?;
    let mut known: KnownTables = HashMap::new();
    let tables = client.query(TABLES)?;
    for row in 0..tables.rows.len() {
        known.insert((tables.text(row, 0), tables.text(row, 1)), KnownTable::default());
    }
    let keys = client.query(PRIMARY_KEYS)?;
    for row in 0..keys.rows.len() {
        let table = known.get_mut(&(keys.text(row, 0), keys.text(row, 1)));
        if let (Some(table), Ok(position)) = (table, keys.text(row, 2).parse::<usize>()) {
            table.primary.push(position.saturating_sub(1));
        }
    }
    let references = client.query(FOREIGN_KEYS)?;
    for row in 0..references.rows.len() {
        let ends =
            [(references.text(row, 0), references.text(row, 1)), (references.text(row, 2), references.text(row, 3))];
        for end in ends {
            if let Some(table) = known.get_mut(&end) {
                table.foreign_keys += 1;
            }
        }
    }
    Ok(known)
}
