//! Events as JSON: one object per line.

use serde_json::{Map, Value, json};

use super::text::columns_of;
use super::{Dumper, INFLATED_SIZE_MAX, gtid_text, info};
use crate::error::DecodeError;
use crate::event::{
    CompressedQuery, CompressedRows, EventType, FormatDescription, GtidEvent, QueryEvent, RawEvent, Rotate, RowsEvent,
    RowsKind, TableMap, decode_rows_query, decode_xid, rows_flags,
};
use crate::gtid_set::GtidSet;

pub(super) fn event(
    dumper: &mut Dumper,
    position: u64,
    event: &RawEvent<'_>,
    out: &mut Vec<u8>,
) -> Result<(), DecodeError> {
    let header = &event.header;
    let mut object = json!({
        "position": position,
        "type": header.event_type.name(),
        "timestamp": header.timestamp,
        "server_id": header.server_id,
        "length": header.event_length,
        "end_log_pos": header.next_position,
        "flags": header.flags,
    });
    if let (Some(object), Value::Object(fields)) = (object.as_object_mut(), fields(dumper, event)?) {
        object.extend(fields);
    }
    out.extend_from_slice(object.to_string().as_bytes());
    out.push(b'\n');
    Ok(())
}

fn fields(dumper: &Dumper, event: &RawEvent<'_>) -> Result<Value, DecodeError> {
    let body = event.body();
    let lossy = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let event_type = event.header.event_type;
    Ok(match event_type {
        EventType::FORMAT_DESCRIPTION => {
            let format = FormatDescription::decode(event)?;
            json!({ "server_version": format.server_version, "created": format.created })
        }
        EventType::PREVIOUS_GTIDS => json!({ "gtids": GtidSet::decode(body)?.to_string() }),
        _ if event_type.is_gtid() => {
            let gtid = GtidEvent::decode(event_type, body)?;
            let mut fields = json!({
                "gtid": gtid_text(&gtid),
                "last_committed": gtid.last_committed,
                "sequence_number": gtid.sequence_number,
                "immediate_commit_timestamp": gtid.immediate_commit_time.0,
                "original_commit_timestamp": gtid.original_commit_time.0,
                "transaction_length": gtid.transaction_length,
            });
            if let Some(server) = gtid.local_to {
                fields["local_to"] = json!(server.to_string());
            }
            fields
        }
        EventType::QUERY => {
            let query = QueryEvent::decode(body)?;
            json!({ "thread_id": query.thread_id, "schema": lossy(query.schema), "sql": lossy(query.sql) })
        }
        EventType::XID => json!({ "xid": decode_xid(body)? }),
        EventType::ROTATE => {
            let rotate = Rotate::decode(body)?;
            json!({ "next_file": rotate.file, "next_position": rotate.position })
        }
        EventType::ROWS_QUERY => json!({ "sql": lossy(decode_rows_query(body)?) }),
        EventType::TABLE_MAP => {
            let map = TableMap::decode(body)?;
            json!({ "table_id": map.table_id, "schema": map.schema, "table": map.table })
        }
        EventType::MARIA_QUERY_COMPRESSED => {
            let query = CompressedQuery::decode(body)?;
            let sql = query.sql(INFLATED_SIZE_MAX)?;
            json!({ "thread_id": query.head.thread_id, "schema": lossy(query.head.schema), "sql": lossy(&sql) })
        }
        _ if RowsKind::of(event_type).is_some() => rows(dumper, &RowsEvent::decode(event_type, body)?)?,
        _ if CompressedRows::plain_type(event_type).is_some() => {
            let compressed = CompressedRows::decode(event_type, body)?;
            rows(dumper, &compressed.with_rows(&compressed.rows(INFLATED_SIZE_MAX)?))?
        }
        _ => json!({ "info": info(event)? }),
    })
}

fn rows(dumper: &Dumper, rows: &RowsEvent<'_>) -> Result<Value, DecodeError> {
    let table = dumper.table(rows)?;
    let mut list = Vec::new();
    for row in rows.images(table) {
        let (before, after) = row?;
        let mut object = Map::new();
        if rows.kind != RowsKind::Write {
            object.insert("before".to_owned(), image(table, rows.present, before)?);
        }
        if rows.kind != RowsKind::Delete {
            object.insert("after".to_owned(), image(table, rows.present_after, after)?);
        }
        list.push(Value::Object(object));
    }
    Ok(json!({
        "table_id": rows.table_id,
        "schema": table.schema,
        "table": table.table,
        "statement_end": rows.flags & rows_flags::STATEMENT_END != 0,
        "rows": list,
    }))
}

/// By name, if the log has full metadata.
fn image(table: &TableMap, present: &[u8], image: &[u8]) -> Result<Value, DecodeError> {
    let mut object = Map::new();
    for (column, value) in columns_of(table, present, image)? {
        let name = table.columns[column].name.clone().unwrap_or_else(|| format!("@{}", column + 1));
        object.insert(name, value.json());
    }
    Ok(Value::Object(object))
}
