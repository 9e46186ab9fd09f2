//! The binary log and replication.

use base::SqlError;
use binlog::MariaGtidName;
use types::{ColumnDef, ColumnType, Value};

use super::{Rows, opt};
use crate::account::Privilege;
use crate::parse::ast::{ChannelName, Limit};
use crate::services::{BinlogEventsQuery, ReplicaStatusRow};
use crate::session::Session;

const MONITOR: &[Privilege] = &[Privilege::Super, Privilege::ReplicationClient];

pub(super) fn binary_logs(session: &mut Session) -> Result<Rows, SqlError> {
    session.check_global(MONITOR)?;
    let mut rows = Rows::new("Log_name v255, File_size u, Encrypted v3");
    for file in session.shared().services.binary_logs() {
        rows.push(vec![Value::str(file.name), Value::UInt(file.size), Value::str("No")]);
    }
    Ok(rows)
}

pub(super) fn binary_log_status(session: &mut Session) -> Result<Rows, SqlError> {
    session.check_global(MONITOR)?;
    let mut rows = Rows::new("File v255, Position u, Binlog_Do_DB v255, Binlog_Ignore_DB v255, Executed_Gtid_Set t");
    let status = session.shared().services.binary_log_status();
    rows.push(vec![
        Value::str(status.file),
        Value::UInt(status.position),
        Value::str(""),
        Value::str(""),
        Value::str(status.executed_gtid_set),
    ]);
    Ok(rows)
}

pub(super) async fn events(
    session: &mut Session,
    file: Option<String>,
    position: Option<u64>,
    limit: Limit,
) -> Result<Rows, SqlError> {
    session.check_global(&[Privilege::ReplicationReplica])?;
    let query = BinlogEventsQuery { file, position, offset: limit.offset, limit: limit.count };
    let events = session.shared().services.binlog_events(query).await?;
    let mut rows = Rows::new("Log_name v20, Pos u, Event_type v20, Server_id n, End_log_pos u, Info v512");
    for event in events {
        rows.push(vec![
            Value::str(event.file),
            Value::UInt(event.position),
            Value::str(event.event_type),
            Value::UInt(u64::from(event.server_id)),
            Value::UInt(event.end),
            Value::str(event.info),
        ]);
    }
    Ok(rows)
}

pub(super) fn replicas(session: &mut Session) -> Result<Rows, SqlError> {
    session.check_global(&[Privilege::ReplicationReplica])?;
    let mut rows = Rows::new("Server_Id n, Host v20, Port n, Source_Id n, Replica_UUID v36");
    for replica in session.shared().services.replicas() {
        rows.push(vec![
            Value::UInt(u64::from(replica.server_id)),
            Value::str(replica.host),
            Value::UInt(u64::from(replica.port)),
            Value::UInt(u64::from(replica.source_id)),
            Value::str(replica.replica_uuid),
        ]);
    }
    Ok(rows)
}

/// With `of_connections` also MariaDB's columns.
pub(super) fn replica_status(
    session: &mut Session,
    old_names: bool,
    of_connections: bool,
    channel: &ChannelName,
) -> Result<Rows, SqlError> {
    session.check_global(MONITOR)?;
    let channel = if of_connections { None } else { session.channel(channel) };
    let mut channels = session.shared().services.replica_status(&channel)?;
    if of_connections {
        for ReplicaStatusRow(columns) in &mut channels {
            add_columns_of_maria(columns);
        }
    }
    let mut rows = Rows { columns: Vec::new(), rows: Vec::new() };
    for channel in channels {
        if rows.columns.is_empty() {
            let name = |name: &str| if old_names { old_name(name) } else { name.to_string() };
            rows.columns = channel.0.iter().map(|(title, _)| ColumnDef::new(name(title), status_type(title))).collect();
        }
        rows.rows.push(channel.0.into_iter().map(|(title, value)| status_value(title, value)).collect());
    }
    if rows.columns.is_empty() {
        // Never followed anybody: no row, but clients want columns.
        return Ok(Rows::new(if old_names {
            "Slave_IO_State v14, Master_Host v255"
        } else {
            "Replica_IO_State v14, Source_Host v255"
        }));
    }
    Ok(rows)
}

/// Columns of SHOW REPLICA STATUS that are integers, as in MySQL: those of four bytes, and those of eight.
const STATUS_INTEGERS: [&str; 11] = [
    "Source_Port",
    "Connect_Retry",
    "Last_Errno",
    "Skip_Counter",
    "Last_IO_Errno",
    "Last_SQL_Errno",
    "Source_Server_Id",
    "SQL_Delay",
    "SQL_Remaining_Delay",
    "Auto_Position",
    "Get_Source_public_key",
];
const STATUS_BIG_INTEGERS: [&str; 7] = [
    "Read_Source_Log_Pos",
    "Relay_Log_Pos",
    "Exec_Source_Log_Pos",
    "Relay_Log_Space",
    "Until_Log_Pos",
    "Seconds_Behind_Source",
    "Source_Retry_Count",
];

fn status_type(title: &str) -> ColumnType {
    match title {
        _ if STATUS_INTEGERS.contains(&title) => ColumnType::Int { unsigned: true },
        _ if STATUS_BIG_INTEGERS.contains(&title) => ColumnType::BigInt { unsigned: true },
        _ => ColumnType::VarChar { chars: 1024 },
    }
}

fn status_value(title: &str, value: Option<String>) -> Value {
    match value {
        Some(text) if !matches!(status_type(title), ColumnType::VarChar { .. }) => {
            text.parse().map_or(Value::Null, Value::UInt)
        }
        value => opt(value),
    }
}

/// What tools for MariaDB ask for: the connection's name, and its GTIDs by MariaDB's names.
fn add_columns_of_maria(columns: &mut Vec<(&'static str, Option<String>)>) {
    let value = |wanted: &str| columns.iter().find(|(title, _)| *title == wanted)?.1.clone();
    let position = |set: &str| Some(MariaGtidName::position_text(&value(set)?.parse().ok()?));
    let by_gtid = value("Auto_Position").as_deref() == Some("1");
    let added = [
        ("Using_Gtid", Some(if by_gtid { "Slave_Pos" } else { "No" }.to_owned())),
        ("Gtid_IO_Pos", position("Retrieved_Gtid_Set")),
        ("Gtid_Slave_Pos", position("Executed_Gtid_Set")),
    ];
    let name = value("Channel_Name");
    columns.insert(0, ("Connection_name", name));
    columns.extend(added);
}

/// `Seconds_Behind_Source` as SHOW SLAVE STATUS has it.
fn old_name(name: &str) -> String {
    name.replace("Source", "Master")
        .replace("Replica", "Slave")
        .replace("Get_Master_public_key", "Get_master_public_key")
}
