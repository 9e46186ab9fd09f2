//! Events as `mysqlbinlog -vv` prints them: SQL, and in comments what they are and their rows. Times are UTC.
//!
//! [`DumpFormat::Sql`] is all of it, which servers execute; [`DumpFormat::Text`] leaves out BINLOG, and is for people.

use std::io::Write as _;

use super::value::{Shown, quote, type_name};
use super::{
    DumpFormat, Dumper, INFLATED_SIZE_MAX, civil, gtid_text, maria_gtid_text, maria_list_text, others, replay,
};
use crate::cursor::bit;
use crate::error::DecodeError;
use crate::event::{
    AlterPhase, ColumnMeta, CompressedQuery, CompressedRows, EventBody, EventType, ExecuteLoadQuery, FLAG_IGNORABLE,
    FormatDescription, GtidEvent, Heartbeat, JsonDiff, MariaGtid, PartialUpdateRows, QueryEvent, RawEvent, Rotate,
    RowsEvent, RowsKind, RowsVersion, TableMap, XaPrepare, column_type, decode_binlog_checkpoint, decode_rows_query,
    decode_xid, rows_flags,
};
use crate::gtid_set::GtidSet;
use crate::maria_gtid::MariaGtidName;

pub(super) fn event(
    dumper: &mut Dumper,
    position: u64,
    event: &RawEvent<'_>,
    out: &mut Vec<u8>,
) -> Result<(), DecodeError> {
    head(position, event, out);
    let event_type = event.header.event_type;
    match event_type {
        EventType::FORMAT_DESCRIPTION => format_description(dumper, event, out)?,
        EventType::PREVIOUS_GTIDS => {
            let gtids = GtidSet::decode(event.body())?;
            let text = if gtids.is_empty() { "[empty]".to_owned() } else { gtids.to_string().replace(',', ",\n# ") };
            line(out, format_args!("Previous-GTIDs\n# {text}"));
        }
        event_type if event_type.is_gtid() => gtid(dumper, event, out)?,
        EventType::QUERY => query(dumper, event, &QueryEvent::decode(event.body())?, out)?,
        EventType::MARIA_QUERY_COMPRESSED => {
            let compressed = CompressedQuery::decode(event.body())?;
            let sql = compressed.sql(INFLATED_SIZE_MAX)?;
            query(dumper, event, &QueryEvent { sql: &sql, ..compressed.head }, out)?;
        }
        EventType::XID => {
            dumper.replay.is_open = false;
            line(out, format_args!("Xid = {}\nCOMMIT/*!*/;", decode_xid(event.body())?));
        }
        EventType::ROTATE => {
            let rotate = Rotate::decode(event.body())?;
            comment(out, format_args!("Rotate to {}  pos: {}", rotate.file, rotate.position));
        }
        EventType::STOP => line(out, format_args!("Stop")),
        EventType::HEARTBEAT | EventType::HEARTBEAT_V2 => {
            let heartbeat = Heartbeat::decode(event)?;
            comment(out, format_args!("Heartbeat {} {}", heartbeat.file, heartbeat.position));
        }
        EventType::ROWS_QUERY => statement(out, "Rows_query", decode_rows_query(event.body())?),
        EventType::TABLE_MAP => {
            let map = TableMap::decode(event.body())?;
            comment(out, format_args!("Table_map: `{}`.`{}` mapped to number {}", map.schema, map.table, map.table_id));
            let generated = u8::from(map.has_generated_primary_key());
            line(out, format_args!("# has_generated_invisible_primary_key={generated}"));
        }
        EventType::MARIA_ANNOTATE_ROWS => statement(out, "Annotate_rows:", event.body()),
        EventType::MARIA_BINLOG_CHECKPOINT => {
            comment(out, format_args!("Binlog checkpoint {}", decode_binlog_checkpoint(event.body())?));
        }
        EventType::MARIA_GTID => maria_gtid(dumper, event, out)?,
        EventType::MARIA_GTID_LIST => line(out, format_args!("Gtid list [{}]", maria_list_text(event.body())?)),
        EventType::PARTIAL_UPDATE_ROWS => {
            let partial = PartialUpdateRows::decode(event.body())?;
            partial_rows(dumper, &partial, out)?;
            if dumper.format == DumpFormat::Sql {
                dumper.replay.other_rows(event, &partial.update, dumper.file.checksum, out);
            }
        }
        _ if RowsKind::of(event_type).is_some() => {
            rows(dumper, event, &RowsEvent::decode(event_type, event.body())?, "", out)?
        }
        _ if CompressedRows::plain_type(event_type).is_some() => {
            let compressed = CompressedRows::decode(event_type, event.body())?;
            let inflated = compressed.rows(INFLATED_SIZE_MAX)?;
            rows(dumper, event, &compressed.with_rows(&inflated), "_compressed", out)?;
        }
        _ => other(dumper, event, out)?,
    }
    Ok(())
}

/// An event that is shown in a line, or of a kind of its own.
fn other(dumper: &mut Dumper, event: &RawEvent<'_>, out: &mut Vec<u8>) -> Result<(), DecodeError> {
    let body = EventBody::decode(event, &dumper.file)?;
    let text = others::describe(&body);
    let is_sql = dumper.format == DumpFormat::Sql;
    match body {
        EventBody::IntVar(_) => line(out, format_args!("Intvar\nSET {text}/*!*/;")),
        EventBody::UserVar(var) => others::set_user_variable(&var, out),
        EventBody::Rand(_) => line(out, format_args!("Rand\nSET @@{}/*!*/;", text.replace(',', ", @@"))),
        EventBody::XaPrepare(prepare) => xa_prepare(dumper, &prepare, out),
        EventBody::ExecuteLoadQuery(load) => load_data(dumper, event, &load, out)?,
        EventBody::BeginLoadQuery(ref block) | EventBody::AppendBlock(ref block) => {
            comment(out, format_args!("{}: {text}", body.event_type().name()));
            if is_sql {
                let is_first = matches!(body, EventBody::BeginLoadQuery(_));
                dumper.replay.block(block, is_first, dumper.sql.load_files.as_ref())?;
            }
        }
        EventBody::Incident(_) => {
            comment(out, format_args!("{}: {text}", body.event_type().name()));
            // An error, on purpose: what follows may be wrong.
            line(out, format_args!("INCIDENT/*!*/;"));
        }
        EventBody::Unknown(event_type, bytes) => {
            check_replayed(dumper, event, &body)?;
            line(out, format_args!("{}: {} bytes, not decoded", event_type.name(), bytes.len()));
        }
        body => {
            check_replayed(dumper, event, &body)?;
            comment(out, format_args!("{}: {text}", body.event_type().name()));
        }
    }
    Ok(())
}

/// Whether an event that is shown as a comment changes nothing.
fn check_replayed(dumper: &Dumper, event: &RawEvent<'_>, body: &EventBody<'_>) -> Result<(), DecodeError> {
    let changes_nothing = matches!(
        body,
        EventBody::Ignorable(_)
            | EventBody::DeleteFile(_)
            | EventBody::SlavePosition(_)
            | EventBody::TransactionContext(_)
            | EventBody::ViewChange(_)
            | EventBody::TransactionPayload(_)
            | EventBody::LargeTransactionHeader(_)
            | EventBody::MariaStartEncryption(_)
    );
    if dumper.format != DumpFormat::Sql || changes_nothing || event.header.flags & FLAG_IGNORABLE != 0 {
        return Ok(());
    }
    let name = body.event_type().name();
    Err(DecodeError::new(format!("an event of type {name} has no SQL; --base64-output=decode-rows shows it")))
}

fn xa_prepare(dumper: &mut Dumper, prepare: &XaPrepare, out: &mut Vec<u8>) {
    dumper.replay.is_open = false;
    let (verb, one_phase) = if prepare.one_phase { ("COMMIT", " ONE PHASE") } else { ("PREPARE", "") };
    line(out, format_args!("XA_prepare\nXA {verb} {}{one_phase}\n/*!*/;", prepare.xid));
}

fn load_data(
    dumper: &mut Dumper,
    event: &RawEvent<'_>,
    load: &ExecuteLoadQuery<'_>,
    out: &mut Vec<u8>,
) -> Result<(), DecodeError> {
    let QueryEvent { thread_id, exec_time, error_code, .. } = load.query;
    line(
        out,
        format_args!("Execute_load_query\tthread_id={thread_id}\texec_time={exec_time}\terror_code={error_code}"),
    );
    let is_maria = dumper.file.is_maria();
    dumper.session.before(event, &load.query, is_maria, out)?;
    if dumper.format == DumpFormat::Sql {
        dumper.replay.load(load, out)?;
    } else {
        out.extend_from_slice(load.query.sql);
    }
    line(out, format_args!("\n/*!*/;"));
    Ok(())
}

pub(super) fn line(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    let _ = writeln!(out, "{text}");
}

/// A line in which names of the log are: what is behind a line feed in one is no SQL.
fn comment(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    line(out, format_args!("{}", text.to_string().replace('\n', "\n# ")));
}

/// `# at 4` and what is in the header.
fn head(position: u64, event: &RawEvent<'_>, out: &mut Vec<u8>) {
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
    out.push(b'\t');
}

fn short_time(timestamp: u32) -> String {
    let [year, month, day, hour, minute, second] = civil(timestamp);
    format!("{:02}{month:02}{day:02} {hour:2}:{minute:02}:{second:02}", year % 100)
}

fn format_description(dumper: &mut Dumper, event: &RawEvent<'_>, out: &mut Vec<u8>) -> Result<(), DecodeError> {
    let format = FormatDescription::decode(event)?;
    let created = short_time(event.header.timestamp);
    let startup = if format.created != 0 { " at startup" } else { "" };
    comment(out, format_args!("Start: binlog v 4, server v {} created {created}{startup}", format.server_version));
    if event.header.flags & crate::event::FLAG_BINLOG_IN_USE != 0 {
        line(out, format_args!("# Warning: this binlog is either in use or was not closed properly."));
    }
    if format.created != 0 {
        dumper.replay.is_open = false;
        line(out, format_args!("ROLLBACK/*!*/;"));
    }
    if dumper.format == DumpFormat::Sql {
        replay::format_description(event, &format, out);
        if dumper.sql.skip_gtids {
            // A MySQL waits for one behind a FORMAT_DESCRIPTION.
            line(out, format_args!("/*!50700 SET @@SESSION.GTID_NEXT= 'AUTOMATIC'*//*!*/;"));
        }
    }
    Ok(())
}

fn gtid(dumper: &mut Dumper, event: &RawEvent<'_>, out: &mut Vec<u8>) -> Result<(), DecodeError> {
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
    dumper.replay.local(gtid.local_to.is_some(), out);
    if dumper.sql.skip_gtids {
        return Ok(());
    }
    line(out, format_args!("/*!80001 SET @@session.original_commit_timestamp={original}*//*!*/;"));
    line(out, format_args!("/*!80014 SET @@session.original_server_version={}*//*!*/;", gtid.original_server_version));
    line(
        out,
        format_args!("/*!80014 SET @@session.immediate_server_version={}*//*!*/;", gtid.immediate_server_version),
    );
    match gtid.gtid {
        Some(gtid) => dumper.replay.gtid(gtid, out),
        None if gtid.local_to.is_some() => {
            line(out, format_args!("/*!50700 SET @@SESSION.GTID_NEXT= 'AUTOMATIC'*//*!*/;"))
        }
        None => line(out, format_args!("/*!50700 SET @@SESSION.GTID_NEXT= '{}'*//*!*/;", gtid_text(&gtid))),
    }
    Ok(())
}

/// MariaDB's GTID, which begins a transaction unless a statement alone follows.
fn maria_gtid(dumper: &mut Dumper, event: &RawEvent<'_>, out: &mut Vec<u8>) -> Result<(), DecodeError> {
    let text = maria_gtid_text(event)?;
    let gtid = MariaGtid::decode(event.body())?;
    line(out, format_args!("{}", text.trim_start_matches("BEGIN ")));
    if !dumper.sql.skip_gtids {
        let (domain_id, server_id) = (gtid.domain_id, event.header.server_id);
        dumper.replay.gtid(MariaGtidName { domain_id, server_id, seq_no: gtid.seq_no }.gtid(), out);
    }
    match gtid.extra.alter {
        // The ALTER is printed where it is committed.
        Some(AlterPhase::Start | AlterPhase::Rollback(_)) => dumper.replay.skips_statement = true,
        Some(AlterPhase::Commit(_)) | None => {}
    }
    if gtid.is_standalone() {
        return Ok(());
    }
    dumper.replay.is_open = true;
    match &gtid.xid {
        Some(xid) => line(out, format_args!("XA START {xid}\n/*!*/;")),
        None => line(out, format_args!("START TRANSACTION\n/*!*/;")),
    }
    Ok(())
}

fn query(
    dumper: &mut Dumper,
    event: &RawEvent<'_>,
    query: &QueryEvent<'_>,
    out: &mut Vec<u8>,
) -> Result<(), DecodeError> {
    let QueryEvent { thread_id, exec_time, error_code, .. } = query;
    let xid = query.status().xid.map(|xid| format!("\tXid = {xid}")).unwrap_or_default();
    line(out, format_args!("Query\tthread_id={thread_id}\texec_time={exec_time}\terror_code={error_code}{xid}"));
    if std::mem::take(&mut dumper.replay.skips_statement) {
        commented(out, query.sql);
        return Ok(());
    }
    if query.begins_transaction() || query.ends_transaction() {
        dumper.replay.is_open = query.begins_transaction();
        dumper.session.timestamp(event, query, out);
    } else {
        let is_maria = dumper.file.is_maria();
        dumper.session.before(event, query, is_maria, out)?;
    }
    dumper.session.executed(query.sql);
    match query
        .sql
        .strip_suffix(START_TRANSACTION)
        .filter(|_| dumper.format == DumpFormat::Sql && !query.begins_transaction())
    {
        // A table whose rows follow (CREATE TABLE … SELECT): only MySQL can say that both are one transaction.
        Some(create) => {
            out.extend_from_slice(create);
            line(out, format_args!("/*!80021 START TRANSACTION*/\n/*!*/;\n/*M!100500 START TRANSACTION*//*!*/;"));
        }
        None => {
            out.extend_from_slice(query.sql);
            line(out, format_args!("\n/*!*/;"));
        }
    }
    Ok(())
}

/// At the end of a CREATE TABLE … SELECT, as MySQL logs it.
const START_TRANSACTION: &[u8] = b" START TRANSACTION";

/// A statement as comments.
fn statement(out: &mut Vec<u8>, name: &str, sql: &[u8]) {
    line(out, format_args!("{name}"));
    commented(out, sql);
}

fn commented(out: &mut Vec<u8>, sql: &[u8]) {
    for text in String::from_utf8_lossy(sql).lines() {
        line(out, format_args!("# {text}"));
    }
}

fn rows(
    dumper: &mut Dumper,
    event: &RawEvent<'_>,
    rows: &RowsEvent<'_>,
    form: &str,
    out: &mut Vec<u8>,
) -> Result<(), DecodeError> {
    let is_sql = dumper.format == DumpFormat::Sql;
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
    let shown = !is_sql || !dumper.sql.skip_rows;
    for row in rows.images(table).take_while(|_| shown) {
        let (before, after) = row?;
        comment(out, format_args!("### {verb} `{}`.`{}`", table.schema, table.table));
        if rows.kind != RowsKind::Write {
            line(out, format_args!("### WHERE"));
            image(table, rows.present, before, out)?;
        }
        if rows.kind != RowsKind::Delete {
            line(out, format_args!("### SET"));
            image(table, rows.present_after, after, out)?;
        }
    }
    if is_sql {
        dumper.replay.rows(event, rows, dumper.file.checksum, out);
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

/// As an UPDATE; of documents that are not in the log what makes them of those before.
fn partial_rows(dumper: &Dumper, rows: &PartialUpdateRows<'_>, out: &mut Vec<u8>) -> Result<(), DecodeError> {
    let update = &rows.update;
    let flags = flags_text(update.flags);
    line(out, format_args!("Update_rows_partial: table id {}{flags}", update.table_id));
    let table = dumper.table(update)?;
    for row in rows.rows(table) {
        let row = row?;
        comment(out, format_args!("### UPDATE `{}`.`{}`", table.schema, table.table));
        line(out, format_args!("### WHERE"));
        image(table, update.present, row.before, out)?;
        line(out, format_args!("### SET"));
        let diffs = row.json_diffs(table, update.present_after)?;
        for (column, value) in columns_of(table, update.present_after, row.after)? {
            match diffs.iter().find(|(of, _)| *of == column) {
                Some((_, diffs)) => put_value(table, column, &changed_document(column, diffs), false, out),
                None => put_value(table, column, &value.text(), value == Shown::Null, out),
            }
        }
    }
    Ok(())
}

fn image(table: &TableMap, present: &[u8], image: &[u8], out: &mut Vec<u8>) -> Result<(), DecodeError> {
    for (column, value) in columns_of(table, present, image)? {
        put_value(table, column, &value.text(), value == Shown::Null, out);
    }
    Ok(())
}

fn put_value(table: &TableMap, column: usize, value: &str, is_null: bool, out: &mut Vec<u8>) {
    let meta = &table.columns[column];
    let (name, shown_meta) = (type_name(meta), shown_meta(meta));
    let (nullable, is_null) = (u8::from(meta.nullable), u8::from(is_null));
    line(
        out,
        format_args!(
            "###   @{}={value} /* {name} meta={shown_meta} nullable={nullable} is_null={is_null} */",
            column + 1
        ),
    );
}

/// What the diffs of a document make of it, as `mysqlbinlog -v` prints it: calls around one another, each of the diffs in a row that
/// are of the same kind; `@2` if there are none.
fn changed_document(column: usize, diffs: &[JsonDiff<'_>]) -> String {
    const NEXT_LINE: &str = "\n###      ";
    let function = |diff: &JsonDiff<'_>| match diff {
        JsonDiff::Replace { .. } => "JSON_REPLACE",
        JsonDiff::Insert { .. } => "JSON_INSERT",
        JsonDiff::Remove { .. } => "JSON_REMOVE",
    };
    let calls: Vec<&[JsonDiff<'_>]> = diffs.chunk_by(|one, next| function(one) == function(next)).collect();
    let heads: Vec<String> = calls.iter().rev().map(|call| format!("{}(", function(&call[0]))).collect();
    let mut text = format!("{}@{}", heads.join(NEXT_LINE), column + 1);
    for (number, call) in calls.iter().enumerate() {
        for (place, diff) in call.iter().enumerate() {
            let is_first = (number, place) == (0, 0);
            text.push(',');
            text.push_str(if is_first { " " } else { NEXT_LINE });
            match *diff {
                JsonDiff::Replace { path, value } | JsonDiff::Insert { path, value } => {
                    text.push_str(&format!("{}, {}", quote(path), document_sql(value)));
                }
                JsonDiff::Remove { path } => text.push_str(&quote(path)),
            }
        }
        text.push(')');
    }
    text
}

/// A document as a value in a call: what is no array and no object as it is.
fn document_sql(value: &[u8]) -> String {
    use types::json::{Json, binary};
    match binary::decode(value) {
        Ok(json) if matches!(json, Json::Array(_) | Json::Object(_)) => {
            format!("CAST({} AS JSON)", quote(json.to_text().as_bytes()))
        }
        Ok(Json::String(text)) => quote(text.as_bytes()),
        Ok(json) => {
            let text = json.to_text();
            // Points in time and the like are strings in the text.
            match text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) {
                Some(inner) => quote(inner.as_bytes()),
                None => text,
            }
        }
        Err(_) => quote(value),
    }
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
