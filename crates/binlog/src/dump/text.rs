//! Events as `mysqlbinlog -vv` prints them. Times are UTC.

use std::fmt::Write as _;

use super::value::{Shown, quote, type_name};
use super::{Dumper, INFLATED_SIZE_MAX, civil, gtid_text, maria_gtid_text, maria_list_text, others};
use crate::cursor::bit;
use crate::error::DecodeError;
use crate::event::{
    ColumnMeta, CompressedQuery, CompressedRows, EventBody, EventType, FormatDescription, GtidEvent, Heartbeat,
    JsonDiff, PartialUpdateRows, QueryEvent, RawEvent, Rotate, RowsEvent, RowsKind, RowsVersion, StatusVar, TableMap,
    column_type, decode_binlog_checkpoint, decode_rows_query, decode_xid, rows_flags,
};
use crate::gtid_set::GtidSet;

pub(super) fn event(
    dumper: &mut Dumper,
    position: u64,
    event: &RawEvent<'_>,
    out: &mut String,
) -> Result<(), DecodeError> {
    head(position, event, out);
    let event_type = event.header.event_type;
    match event_type {
        EventType::FORMAT_DESCRIPTION => format_description(event, out)?,
        EventType::PREVIOUS_GTIDS => {
            let gtids = GtidSet::decode(event.body())?;
            let text = if gtids.is_empty() { "[empty]".to_owned() } else { gtids.to_string().replace(',', ",\n# ") };
            line(out, format_args!("Previous-GTIDs\n# {text}"));
        }
        EventType::GTID | EventType::ANONYMOUS_GTID | EventType::GTID_TAGGED => gtid(event, out)?,
        EventType::QUERY => query(dumper, event, &QueryEvent::decode(event.body())?, out)?,
        EventType::MARIA_QUERY_COMPRESSED => {
            let compressed = CompressedQuery::decode(event.body())?;
            let sql = compressed.sql(INFLATED_SIZE_MAX)?;
            query(dumper, event, &QueryEvent { sql: &sql, ..compressed.head }, out)?;
        }
        EventType::XID => line(out, format_args!("Xid = {}\nCOMMIT/*!*/;", decode_xid(event.body())?)),
        EventType::ROTATE => {
            let rotate = Rotate::decode(event.body())?;
            line(out, format_args!("Rotate to {}  pos: {}", rotate.file, rotate.position));
        }
        EventType::STOP => line(out, format_args!("Stop")),
        EventType::HEARTBEAT | EventType::HEARTBEAT_V2 => {
            let heartbeat = Heartbeat::decode(event)?;
            line(out, format_args!("Heartbeat {} {}", heartbeat.file, heartbeat.position));
        }
        EventType::ROWS_QUERY => statement(out, "Rows_query", decode_rows_query(event.body())?),
        EventType::TABLE_MAP => {
            let map = TableMap::decode(event.body())?;
            line(out, format_args!("Table_map: `{}`.`{}` mapped to number {}", map.schema, map.table, map.table_id));
            let generated = u8::from(map.has_generated_primary_key());
            line(out, format_args!("# has_generated_invisible_primary_key={generated}"));
        }
        EventType::MARIA_ANNOTATE_ROWS => statement(out, "Annotate_rows:", event.body()),
        EventType::MARIA_BINLOG_CHECKPOINT => {
            line(out, format_args!("Binlog checkpoint {}", decode_binlog_checkpoint(event.body())?));
        }
        EventType::MARIA_GTID => {
            let text = maria_gtid_text(event)?;
            line(out, format_args!("{}", text.trim_start_matches("BEGIN ")));
            if text.starts_with("BEGIN ") {
                line(out, format_args!("START TRANSACTION\n/*!*/;"));
            }
        }
        EventType::MARIA_GTID_LIST => line(out, format_args!("Gtid list [{}]", maria_list_text(event.body())?)),
        EventType::PARTIAL_UPDATE_ROWS => partial_rows(dumper, &PartialUpdateRows::decode(event.body())?, out)?,
        _ if RowsKind::of(event_type).is_some() => {
            rows(dumper, &RowsEvent::decode(event_type, event.body())?, "", out)?
        }
        _ if CompressedRows::plain_type(event_type).is_some() => {
            let compressed = CompressedRows::decode(event_type, event.body())?;
            let inflated = compressed.rows(INFLATED_SIZE_MAX)?;
            rows(dumper, &compressed.with_rows(&inflated), "_compressed", out)?;
        }
        _ => other(dumper, event, out)?,
    }
    Ok(())
}

/// An event that is shown in a line.
fn other(dumper: &Dumper, event: &RawEvent<'_>, out: &mut String) -> Result<(), DecodeError> {
    let body = EventBody::decode(event, &dumper.file)?;
    let text = others::describe(&body);
    match body {
        EventBody::IntVar(_) | EventBody::UserVar(_) => line(out, format_args!("SET {text}/*!*/;")),
        EventBody::Rand(_) => line(out, format_args!("SET @@{}/*!*/;", text.replace(',', ", @@"))),
        EventBody::ExecuteLoadQuery(load) => {
            let QueryEvent { thread_id, exec_time, error_code, .. } = load.query;
            line(
                out,
                format_args!(
                    "Execute_load_query\tthread_id={thread_id}\texec_time={exec_time}\terror_code={error_code}"
                ),
            );
            session(event, &load.query, out);
            line(out, format_args!("{text}\n/*!*/;"));
        }
        EventBody::Unknown(event_type, bytes) => {
            line(out, format_args!("{}: {} bytes, not decoded", event_type.name(), bytes.len()));
        }
        body => line(out, format_args!("{}: {text}", body.event_type().name())),
    }
    Ok(())
}

fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    let _ = writeln!(out, "{text}");
}

/// `# at 4` and what is in the header.
fn head(position: u64, event: &RawEvent<'_>, out: &mut String) {
    let header = &event.header;
    line(out, format_args!("# at {position}"));
    let _ = write!(
        out,
        "#{} server id {}  end_log_pos {} ",
        short_time(header.timestamp),
        header.server_id,
        header.next_position
    );
    if let Some(checksum) = event.checksum() {
        let _ = write!(out, "CRC32 {checksum:#010x} ");
    }
    out.push('\t');
}

fn short_time(timestamp: u32) -> String {
    let [year, month, day, hour, minute, second] = civil(timestamp);
    format!("{:02}{month:02}{day:02} {hour:2}:{minute:02}:{second:02}", year % 100)
}

fn format_description(event: &RawEvent<'_>, out: &mut String) -> Result<(), DecodeError> {
    let format = FormatDescription::decode(event)?;
    let created = short_time(event.header.timestamp);
    let startup = if format.created != 0 { " at startup" } else { "" };
    line(out, format_args!("Start: binlog v 4, server v {} created {created}{startup}", format.server_version));
    if event.header.flags & crate::event::FLAG_BINLOG_IN_USE != 0 {
        line(out, format_args!("# Warning: this binlog is either in use or was not closed properly."));
    }
    if format.created != 0 {
        line(out, format_args!("ROLLBACK/*!*/;"));
    }
    Ok(())
}

fn gtid(event: &RawEvent<'_>, out: &mut String) -> Result<(), DecodeError> {
    let gtid = GtidEvent::decode(event.header.event_type, event.body())?;
    let micros = |time: u64| {
        let [year, month, day, hour, minute, second] = civil((time / 1_000_000) as u32);
        format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{:06} UTC", time % 1_000_000)
    };
    let name = if gtid.gtid.is_some() { "GTID" } else { "Anonymous_GTID" };
    let (original, immediate) = (gtid.original_commit_time.0, gtid.immediate_commit_time.0);
    line(
        out,
        format_args!(
            "{name}\tlast_committed={}\tsequence_number={}\trbr_only={}\toriginal_committed_timestamp={original}\t\
         immediate_commit_timestamp={immediate}\ttransaction_length={}",
            gtid.last_committed,
            gtid.sequence_number,
            if gtid.may_have_statements { "no" } else { "yes" },
            gtid.transaction_length,
        ),
    );
    line(out, format_args!("# original_commit_timestamp={original} ({})", micros(original)));
    line(out, format_args!("# immediate_commit_timestamp={immediate} ({})", micros(immediate)));
    line(out, format_args!("/*!80001 SET @@session.original_commit_timestamp={original}*//*!*/;"));
    line(out, format_args!("/*!80014 SET @@session.original_server_version={}*//*!*/;", gtid.original_server_version));
    line(
        out,
        format_args!("/*!80014 SET @@session.immediate_server_version={}*//*!*/;", gtid.immediate_server_version),
    );
    line(out, format_args!("SET @@SESSION.GTID_NEXT= '{}'/*!*/;", gtid_text(&gtid)));
    Ok(())
}

fn query(
    dumper: &mut Dumper,
    event: &RawEvent<'_>,
    query: &QueryEvent<'_>,
    out: &mut String,
) -> Result<(), DecodeError> {
    let QueryEvent { thread_id, exec_time, error_code, .. } = query;
    let xid = query.status().xid.map(|xid| format!("\tXid = {xid}")).unwrap_or_default();
    line(out, format_args!("Query\tthread_id={thread_id}\texec_time={exec_time}\terror_code={error_code}{xid}"));
    let is_frame = query.begins_transaction() || query.ends_transaction();
    if !is_frame && query.schema != dumper.schema {
        dumper.schema = query.schema.to_vec();
        if !query.schema.is_empty() {
            line(out, format_args!("use `{}`/*!*/;", String::from_utf8_lossy(query.schema)));
        }
    }
    if is_frame {
        timestamp(event, query, out);
    } else {
        session(event, query, out);
    }
    line(out, format_args!("{}\n/*!*/;", String::from_utf8_lossy(query.sql)));
    Ok(())
}

fn timestamp(event: &RawEvent<'_>, query: &QueryEvent<'_>, out: &mut String) {
    let micros = query.status().microseconds.filter(|&micros| micros != 0).map(|micros| format!(".{micros:06}"));
    line(out, format_args!("SET TIMESTAMP={}{}/*!*/;", event.header.timestamp, micros.unwrap_or_default()));
}

/// The session's state for a statement; only what is said of it.
fn session(event: &RawEvent<'_>, query: &QueryEvent<'_>, out: &mut String) {
    timestamp(event, query, out);
    for var in StatusVar::decode_all(query.status) {
        let text = match var {
            StatusVar::Flags2(bits) => {
                // Two of the bits say that something is off.
                let [auto_is_null, not_autocommit, no_foreign_keys, relaxed_unique] =
                    [14, 19, 26, 27].map(|bit| bits >> bit & 1);
                format!(
                    "foreign_key_checks={}, @@session.sql_auto_is_null={auto_is_null}, @@session.unique_checks={}, \
                     @@session.autocommit={}",
                    1 - no_foreign_keys,
                    1 - relaxed_unique,
                    1 - not_autocommit
                )
            }
            StatusVar::SqlMode(mode) => format!("sql_mode={mode}"),
            StatusVar::AutoIncrement(increment, offset) => {
                format!("auto_increment_increment={increment}, @@session.auto_increment_offset={offset}")
            }
            StatusVar::Charsets([client, connection, server]) => format!(
                "character_set_client={client},@@session.collation_connection={connection},\
                 @@session.collation_server={server}"
            ),
            StatusVar::TimeZone(zone) => format!("time_zone='{}'", String::from_utf8_lossy(zone)),
            StatusVar::LcTimeNames(number) => format!("lc_time_names={number}"),
            StatusVar::CharsetDatabase(id) => format!("collation_database={id}"),
            StatusVar::ExplicitDefaultsForTimestamp(on) => format!("explicit_defaults_for_timestamp={}", u8::from(on)),
            StatusVar::DefaultCollationForUtf8mb4(id) => format!("default_collation_for_utf8mb4={id}"),
            StatusVar::RequirePrimaryKey(on) => format!("sql_require_primary_key={on}"),
            StatusVar::DefaultTableEncryption(on) => format!("default_table_encryption={on}"),
            StatusVar::EnableCascadeTriggers(on) => format!("enable_cascade_triggers={on}"),
            StatusVar::CharacterSetCollations(pairs) => {
                let pairs: Vec<String> = pairs.iter().map(|(charset, id)| format!("{charset}={id}")).collect();
                format!("character_set_collations='{}'", pairs.join(","))
            }
            // What is no setting: names for schedulers, parts of the time, numbers of transactions.
            _ => continue,
        };
        line(out, format_args!("SET @@session.{text}/*!*/;"));
    }
}

/// A statement as comments.
fn statement(out: &mut String, name: &str, sql: &[u8]) {
    line(out, format_args!("{name}"));
    for text in String::from_utf8_lossy(sql).lines() {
        line(out, format_args!("# {text}"));
    }
}

fn rows(dumper: &Dumper, rows: &RowsEvent<'_>, form: &str, out: &mut String) -> Result<(), DecodeError> {
    let (name, verb) = match rows.kind {
        RowsKind::Write => ("Write_rows", "INSERT INTO"),
        RowsKind::Update => ("Update_rows", "UPDATE"),
        RowsKind::Delete => ("Delete_rows", "DELETE FROM"),
    };
    let version = if rows.version == RowsVersion::V1 { "_v1" } else { "" };
    let flags = flags_text(rows.flags);
    line(out, format_args!("{name}{form}{version}: table id {}{flags}", rows.table_id));
    if !rows.extra.is_empty() {
        let parts: Vec<String> = rows.extra_info()?.iter().map(|part| format!("{part:?}")).collect();
        line(out, format_args!("# {}", parts.join(", ")));
    }
    let table = dumper.table(rows)?;
    for row in rows.images(table) {
        let (before, after) = row?;
        line(out, format_args!("### {verb} `{}`.`{}`", table.schema, table.table));
        if rows.kind != RowsKind::Write {
            line(out, format_args!("### WHERE"));
            image(table, rows.present, before, out)?;
        }
        if rows.kind != RowsKind::Delete {
            line(out, format_args!("### SET"));
            image(table, rows.present_after, after, out)?;
        }
    }
    Ok(())
}

/// Flags of a rows event by the names that the servers' tools have for them.
fn flags_text(flags: u16) -> String {
    let names = [
        (rows_flags::STATEMENT_END, "STMT_END_F"),
        (rows_flags::NO_FOREIGN_KEY_CHECKS, "NO_FOREIGN_KEY_CHECKS_F"),
        (rows_flags::NO_UNIQUE_CHECKS, "RELAXED_UNIQUE_CHECKS_F"),
        (rows_flags::COMPLETE_ROWS, "COMPLETE_ROWS_F"),
        (rows_flags::SQL_FOREIGN_KEYS, "USE_SQL_FOREIGN_KEY_F"),
        (rows_flags::NO_CHECK_CONSTRAINTS, "NO_CHECK_CONSTRAINT_CHECKS_F"),
    ];
    let set: Vec<&str> = names.iter().filter(|(flag, _)| flags & flag != 0).map(|&(_, name)| name).collect();
    if set.is_empty() { String::new() } else { format!(" flags: {}", set.join(" ")) }
}

/// As an UPDATE, and behind each row what its documents' diffs are.
fn partial_rows(dumper: &Dumper, rows: &PartialUpdateRows<'_>, out: &mut String) -> Result<(), DecodeError> {
    let update = &rows.update;
    let flags = flags_text(update.flags);
    line(out, format_args!("Update_rows_partial: table id {}{flags}", update.table_id));
    let table = dumper.table(update)?;
    for row in rows.rows(table) {
        let row = row?;
        line(out, format_args!("### UPDATE `{}`.`{}`\n### WHERE", table.schema, table.table));
        image(table, update.present, row.before, out)?;
        line(out, format_args!("### SET"));
        image(table, update.present_after, row.after, out)?;
        for (column, diffs) in row.json_diffs(table, update.present_after)? {
            for diff in diffs {
                let (function, path, value) = match diff {
                    JsonDiff::Replace { path, value } => ("JSON_REPLACE", path, Some(value)),
                    JsonDiff::Insert { path, value } => ("JSON_INSERT", path, Some(value)),
                    JsonDiff::Remove { path } => ("JSON_REMOVE", path, None),
                };
                let value = value.map(|value| format!(", {}", quote(value))).unwrap_or_default();
                line(out, format_args!("###   @{0}={function}(@{0}, {1}{value})", column + 1, quote(path)));
            }
        }
    }
    Ok(())
}

fn image(table: &TableMap, present: &[u8], image: &[u8], out: &mut String) -> Result<(), DecodeError> {
    for (column, value) in columns_of(table, present, image)? {
        let meta = &table.columns[column];
        line(
            out,
            format_args!(
                "###   @{}={} /* {} meta={} nullable={} is_null={} */",
                column + 1,
                value.text(),
                type_name(meta),
                shown_meta(meta),
                u8::from(meta.nullable),
                u8::from(value == Shown::Null)
            ),
        );
    }
    Ok(())
}

/// The present columns of an image with their values.
pub(super) fn columns_of(table: &TableMap, present: &[u8], image: &[u8]) -> Result<Vec<(usize, Shown)>, DecodeError> {
    let columns: Vec<usize> = (0..table.columns.len()).filter(|&i| bit(present, i)).collect();
    let mut at = columns.len().div_ceil(8);
    let mut values = Vec::with_capacity(columns.len());
    for (slot, column) in columns.into_iter().enumerate() {
        let value = if bit(image, slot) {
            Shown::Null
        } else {
            let (value, len) = Shown::decode(&table.columns[column], &image[at..])?;
            at += len;
            value
        };
        values.push((column, value));
    }
    Ok(values)
}

/// Two bytes of metadata are one number, as `mysqlbinlog` prints them: the highest first for these types.
fn shown_meta(column: &ColumnMeta) -> u16 {
    match column.type_code {
        column_type::STRING | column_type::NEWDECIMAL => column.meta.swap_bytes(),
        _ => column.meta,
    }
}
