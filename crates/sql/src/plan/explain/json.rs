//! FORMAT=JSON: the lines of the table format, grouped by query block.

use serde_json::{Map, Value as Json, json};

use crate::plan::PlanKind;
use crate::plan::explain::table::{TableRow, table_rows};

/// The whole statement.
pub(super) fn json_text(kind: &PlanKind) -> String {
    let mut blocks: Vec<(Option<u32>, String, Vec<TableRow>)> = Vec::new();
    for row in table_rows(kind) {
        match blocks.last_mut() {
            Some((id, _, rows)) if *id == row.id && row.id.is_some() => rows.push(row),
            _ => blocks.push((row.id, row.select_type.clone(), vec![row])),
        }
    }
    let mut blocks = blocks.iter().map(|(id, select_type, rows)| block_json(*id, select_type, rows));
    let mut first = blocks.next().unwrap_or_default();
    let others: Vec<Json> = blocks.map(|block| json!({ "query_block": block })).collect();
    if !others.is_empty() {
        first.insert("query_specifications".into(), others.into());
    }
    let whole = json!({ "query_block": first });
    serde_json::to_string_pretty(&whole).unwrap_or_default()
}

fn block_json(id: Option<u32>, select_type: &str, rows: &[TableRow]) -> Map<String, Json> {
    let mut block = Map::new();
    if let Some(id) = id {
        block.insert("select_id".into(), id.into());
    }
    block.insert("select_type".into(), select_type.into());
    for (flag, name) in [("Using filesort", "using_filesort"), ("Using temporary", "using_temporary_table")] {
        if rows.iter().any(|row| row.extra.iter().any(|extra| extra == flag)) {
            block.insert(name.into(), true.into());
        }
    }
    let tables: Vec<Json> = rows.iter().filter(|row| row.table.is_some()).map(table_json).collect();
    match <[Json; 1]>::try_from(tables) {
        Ok([table]) => {
            block.insert("table".into(), table);
        }
        Err(tables) if !tables.is_empty() => {
            let nested = tables.into_iter().map(|table| json!({ "table": table })).collect::<Vec<_>>();
            block.insert("nested_loop".into(), nested.into());
        }
        Err(_) => {
            let message = rows.first().and_then(|row| row.extra.first()).cloned().unwrap_or_default();
            block.insert("message".into(), message.into());
        }
    }
    block
}

fn table_json(row: &TableRow) -> Json {
    let mut table = Map::new();
    let mut put = |name: &str, value: Json| {
        if !value.is_null() {
            table.insert(name.into(), value);
        }
    };
    put("table_name", row.table.clone().into());
    put("access_type", row.access.into());
    if !row.possible_keys.is_empty() {
        put("possible_keys", row.possible_keys.clone().into());
    }
    put("key", row.key.clone().into());
    put("key_length", row.key_len.map(|length| length.to_string()).into());
    if !row.refs.is_empty() {
        put("ref", row.refs.clone().into());
    }
    put("rows_examined_per_scan", row.rows.into());
    put("filtered", row.filtered.map(|filtered| format!("{filtered:.2}")).into());
    if row.extra.iter().any(|extra| extra == "Using index") {
        put("using_index", true.into());
    }
    if let Some(buffer) = row.extra.iter().find(|extra| extra.starts_with("Using join buffer")) {
        put("using_join_buffer", buffer.trim_start_matches("Using join buffer (").trim_end_matches(')').into());
    }
    Json::Object(table)
}
