//! Events that are shown in a line: what `SHOW BINLOG EVENTS` says of them, and the text of a dump behind their name.

use super::charset::{charset_name, collation_name, mysql_collation};
use super::text::line;
use super::value::{decimal_text, hex, quote};
use crate::event::{EventBody, FileBlock, PayloadCompression, UserData, UserValue, UserVar};

/// What the event says; empty for those that say nothing.
pub(super) fn describe(body: &EventBody<'_>) -> String {
    let lossy = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match body {
        EventBody::StartV3(start) => {
            format!("Server ver: {}, Binlog ver: {}", start.server_version, start.binlog_version)
        }
        EventBody::IntVar(var) => format!("{}={}", var.name(), var.value),
        EventBody::Rand(rand) => format!("rand_seed1={},rand_seed2={}", rand.seeds[0], rand.seeds[1]),
        EventBody::UserVar(var) => format!("@`{}`={}", lossy(var.name), user_value(var)),
        EventBody::BeginLoadQuery(FileBlock { file_id, block })
        | EventBody::AppendBlock(FileBlock { file_id, block }) => {
            format!(";file_id={file_id};block_len={}", block.len())
        }
        EventBody::ExecLoad(file_id) | EventBody::DeleteFile(file_id) => format!(";file_id={file_id}"),
        EventBody::ExecuteLoadQuery(load) => {
            format!("{} ;file_id={}", super::query_text(&load.query, None), load.file_id)
        }
        EventBody::OldLoad(load) => {
            format!(
                "LOAD DATA INFILE '{}' INTO TABLE `{}`.`{}`",
                lossy(load.file),
                lossy(load.schema),
                lossy(load.table)
            )
        }
        EventBody::SlavePosition(at) => {
            format!("host={},port={},log={},pos={}", lossy(at.host), at.port, lossy(at.log), at.position)
        }
        EventBody::Incident(incident) => {
            let name = if incident.incident == 1 { "LOST_EVENTS" } else { "?" };
            format!("#{} ({name}): {}", incident.incident, lossy(incident.message))
        }
        EventBody::Heartbeat(heartbeat, _) => format!("{} {}", heartbeat.file, heartbeat.position),
        EventBody::Ignorable(bytes) => format!("{} bytes", bytes.len()),
        EventBody::XaPrepare(prepare) => {
            let one_phase = if prepare.one_phase { " ONE PHASE" } else { "" };
            format!("XA {} {}{one_phase}", if prepare.one_phase { "COMMIT" } else { "PREPARE" }, prepare.xid)
        }
        EventBody::PartialUpdateRows(rows) => super::rows_text(&rows.update),
        EventBody::TransactionPayload(payload) => {
            let compression = match payload.compression {
                PayloadCompression::Zstd => "ZSTD",
                PayloadCompression::None => "NONE",
            };
            let size = payload.uncompressed_size.unwrap_or(payload.payload.len() as u64);
            format!("compression='{compression}', decompressed_size={size} bytes")
        }
        EventBody::TransactionContext(context) => format!(
            "server_uuid={} thread_id={} gtid_specified={} writes={} reads={}",
            lossy(context.server_uuid),
            context.thread_id,
            context.gtid_specified,
            context.write_set.len(),
            context.read_set.len()
        ),
        EventBody::ViewChange(view) => format!(
            "view_id={};seq_number={};entries={}",
            lossy(view.view_id),
            view.sequence_number,
            view.certification_info.len()
        ),
        EventBody::LargeTransactionHeader(header) => {
            format!("ends with {} at {}", header.end_type.name(), header.end_offset)
        }
        EventBody::MariaStartEncryption(start) => {
            format!("scheme: {}, key_version: {}, nonce: {}", start.scheme, start.key_version, hex(&start.nonce))
        }
        EventBody::MariaPartialRowData(data) => {
            format!("{} of {}, {} bytes", data.number, data.total, data.piece.len())
        }
        _ => String::new(),
    }
}

/// The SET of a variable, such that it has the value, type and collation that it had.
pub(super) fn set_user_variable(var: &UserVar<'_>, out: &mut Vec<u8>) {
    let name = String::from_utf8_lossy(var.name).replace('`', "``");
    line(out, format_args!("User_var"));
    let set = |out: &mut Vec<u8>, value: &str| line(out, format_args!("SET @`{name}`:={value}/*!*/;"));
    let Some(value) = &var.value else { return set(out, "NULL") };
    let text = match value.data {
        // With an exponent it is no DECIMAL.
        UserData::Real(number) => format!("{number:e}"),
        UserData::Int(number) if value.is_unsigned() => format!("CAST({} AS UNSIGNED)", number as u64),
        UserData::Int(number) => number.to_string(),
        UserData::Decimal { .. } => {
            let digits = user_value(var);
            // Without a point it would be an integer.
            if digits.contains('.') { digits } else { format!("{digits}.") }
        }
        UserData::String(bytes) | UserData::Row(bytes) => return set_text(&name, bytes, value.collation, out),
    };
    set(out, &text);
}

fn set_text(name: &str, bytes: &[u8], collation: u32, out: &mut Vec<u8>) {
    let id = u16::try_from(collation).unwrap_or(u16::MAX);
    let literal = |id: u16| {
        let (charset, collation) = (charset_name(id)?, collation_name(id)?);
        Some(format!("SET @`{name}`:=_{charset} X'{}' COLLATE `{collation}`", hex(bytes)))
    };
    match (literal(mysql_collation(id)), literal(id)) {
        (Some(mysql), _) if mysql_collation(id) == id => line(out, format_args!("{mysql}/*!*/;")),
        (Some(mysql), Some(maria)) => {
            line(out, format_args!("/*!50700 {mysql}*//*!*/;"));
            line(out, format_args!("/*M!100500 {maria}*//*!*/;"));
        }
        // By its number: a server that does not know it says so.
        _ => {
            line(
                out,
                format_args!("SET @commuter_collation:=@@collation_connection, collation_connection={collation}/*!*/;"),
            );
            line(out, format_args!("SET @`{name}`:=CAST(X'{}' AS CHAR)/*!*/;", hex(bytes)));
            line(out, format_args!("SET collation_connection=@commuter_collation/*!*/;"));
        }
    }
}

/// As it can be written into a SET.
fn user_value(var: &UserVar<'_>) -> String {
    let Some(value) = &var.value else { return "NULL".to_owned() };
    let UserValue { data, collation, .. } = value;
    match *data {
        UserData::Real(number) => number.to_string(),
        UserData::Int(number) if value.is_unsigned() => (number as u64).to_string(),
        UserData::Int(number) => number.to_string(),
        UserData::Decimal { precision, scale, bytes } => {
            decimal_text(bytes, precision, scale).unwrap_or_else(|_| format!("/* DECIMAL */ 0x{}", hex(bytes)))
        }
        UserData::String(bytes) | UserData::Row(bytes) => format!("{} /* collation {collation} */", quote(bytes)),
    }
}
