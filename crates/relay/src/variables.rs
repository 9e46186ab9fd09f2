//! What a relay says of itself: variables, and the lists of files and states.
//!
//! What a source of the files' kind would say of its log is said here; what such a source does not have is unknown here too.

use std::sync::Arc;

use crate::Relay;
use crate::connection::Session;
use crate::groups::{Executed, name_of};
use crate::source::Kind;
use crate::statements::Answer;
use crate::store::{Next, Reader, StoredFile};

/// The version that clients are told: that of the server that wrote the files, by which replicas judge what they will get.
pub(crate) fn version(relay: &Relay) -> String {
    let version = relay.store.version();
    if version.is_empty() { "8.4.0-commuter-relay".to_owned() } else { version }
}

/// A system variable; `None` if there is none of that name.
pub(crate) async fn value(relay: &Arc<Relay>, session: &Session, name: &str) -> Option<Option<String>> {
    match name {
        "gtid_purged" => Some(Some(purged(relay).await)),
        "pseudo_thread_id" => Some(Some(session.id.to_string())),
        _ => {
            let found = table(relay).into_iter().find(|(known, _)| *known == name)?.1;
            // In SELECT those of two states are numbers.
            Some(Some(match found.as_str() {
                "ON" if name != "gtid_mode" && name != "enforce_gtid_consistency" => "1".to_owned(),
                "OFF" if name != "gtid_mode" && name != "enforce_gtid_consistency" => "0".to_owned(),
                _ => found,
            }))
        }
    }
}

/// `SHOW VARIABLES`
pub(crate) fn list(relay: &Relay, takes: impl Fn(&str) -> bool) -> Answer {
    let all = table(relay).into_iter().filter(|(name, _)| takes(name));
    let rows = all.map(|(name, value)| vec![Some(name.to_owned()), Some(value)]).collect();
    Answer::Rows(names(&["Variable_name", "Value"]), rows)
}

fn names(of: &[&str]) -> Vec<String> {
    of.iter().map(|&name| name.to_owned()).collect()
}

/// All variables but those that have to be looked up in files, in the order of names.
fn table(relay: &Relay) -> Vec<(&'static str, String)> {
    let executed = relay.store.executed();
    let checksum = if relay.store.with_checksums() { "CRC32" } else { "NONE" };
    let mut all = vec![
        ("autocommit", "ON".to_owned()),
        ("binlog_checksum", checksum.to_owned()),
        ("binlog_format", "ROW".to_owned()),
        ("character_set_client", "utf8mb4".to_owned()),
        ("character_set_connection", "utf8mb4".to_owned()),
        ("character_set_results", "utf8mb4".to_owned()),
        ("character_set_server", "utf8mb4".to_owned()),
        ("collation_server", "utf8mb4_general_ci".to_owned()),
        ("log_bin", "ON".to_owned()),
        ("lower_case_table_names", "0".to_owned()),
        ("max_allowed_packet", (1u32 << 30).to_string()),
        ("port", relay.options.port.to_string()),
        ("read_only", "ON".to_owned()),
        ("server_id", relay.identity.server_id.to_string()),
        ("sql_mode", String::new()),
        ("system_time_zone", "UTC".to_owned()),
        ("time_zone", "SYSTEM".to_owned()),
        ("version", version(relay)),
        ("version_comment", "commuter relay".to_owned()),
    ];
    all.extend(match Kind::of(&relay.store.version()) {
        Kind::Mysql => vec![
            ("enforce_gtid_consistency", "ON".to_owned()),
            ("gtid_executed", executed.mysql.to_string()),
            ("gtid_mode", if executed.anonymous { "OFF" } else { "ON" }.to_owned()),
            ("rpl_semi_sync_master_enabled", "OFF".to_owned()),
            ("rpl_semi_sync_source_enabled", "OFF".to_owned()),
            ("server_uuid", relay.identity.server_uuid.to_string()),
        ],
        Kind::Maria => vec![
            ("gtid_binlog_pos", executed.maria.to_string()),
            ("gtid_current_pos", executed.maria.to_string()),
            ("gtid_domain_id", "0".to_owned()),
            ("rpl_semi_sync_master_enabled", "OFF".to_owned()),
        ],
    });
    all.sort_unstable();
    all
}

/// What was before the first file.
async fn purged(relay: &Arc<Relay>) -> String {
    let Some(first) = relay.store.files().into_iter().next() else { return String::new() };
    match before_file(relay, &first).await {
        Ok(Some(before)) => before.mysql.to_string(),
        _ => String::new(),
    }
}

/// What a file says was before it.
pub(crate) async fn before_file(
    relay: &Arc<Relay>,
    file: &StoredFile,
) -> Result<Option<Executed>, binlog::BinlogError> {
    /// It is among a file's first events.
    const LOOKED_AT: usize = 8;
    let mut reader = Reader::open(&relay.store, file.number).await?;
    for _ in 0..LOOKED_AT {
        let at = reader.position();
        let Next::Event(event) = reader.next().await? else { break };
        let decoded = Executed::before_file(&event);
        let decoded = decoded.map_err(|error| crate::error::corrupt(&file.name, at, error))?;
        if decoded.is_some() {
            return Ok(decoded);
        }
    }
    Ok(None)
}

/// `BINLOG_GTID_POS`: the state before a position; `None` if there is no such place.
pub(crate) async fn maria_position(relay: &Arc<Relay>, file: &str, position: u64) -> Option<String> {
    let file = relay.store.named(file)?;
    if position > file.size {
        return None;
    }
    let mut reader = Reader::open(&relay.store, file.number).await.ok()?;
    let mut state = Executed::default();
    while reader.number() == file.number && reader.position() < position {
        let Next::Event(event) = reader.next().await.ok()? else { break };
        if let Some(before) = Executed::before_file(&event).ok()? {
            state = before;
        }
        if let Some(name) = name_of(&event).ok()? {
            state.add(&name);
        }
    }
    Some(state.maria.to_string())
}

/// `SHOW BINARY LOGS`
pub(crate) fn binary_logs(relay: &Relay) -> Answer {
    let is_mysql = Kind::of(&relay.store.version()) == Kind::Mysql;
    let mut columns = names(&["Log_name", "File_size"]);
    if is_mysql {
        columns.push("Encrypted".to_owned());
    }
    let row = |file: StoredFile| {
        let mut row = vec![Some(file.name.to_string()), Some(file.size.to_string())];
        if is_mysql {
            row.push(Some("No".to_owned()));
        }
        row
    };
    Answer::Rows(columns, relay.store.files().into_iter().map(row).collect())
}

/// `SHOW BINARY LOG STATUS`
pub(crate) fn log_status(relay: &Relay) -> Answer {
    let mut columns = names(&["File", "Position", "Binlog_Do_DB", "Binlog_Ignore_DB"]);
    let executed = relay.store.executed();
    let is_mysql = Kind::of(&relay.store.version()) == Kind::Mysql;
    if is_mysql {
        columns.push("Executed_Gtid_Set".to_owned());
    }
    let row = |file: StoredFile| {
        let nothing = || Some(String::new());
        let mut row = vec![Some(file.name.to_string()), Some(file.size.to_string()), nothing(), nothing()];
        if is_mysql {
            row.push(Some(executed.mysql.to_string()));
        }
        row
    };
    Answer::Rows(columns, relay.store.last().map(row).into_iter().collect())
}

/// `SHOW REPLICA STATUS`
pub(crate) fn replica_status(relay: &Relay) -> Answer {
    let status = relay.status.get();
    let source = &relay.options.source;
    let (file, position) = relay.store.last().map(|last| (last.name.to_string(), last.size)).unwrap_or_default();
    let (code, error) = match &status.error {
        Some((error, _)) => (error.code(), error.to_string()),
        None => (0, String::new()),
    };
    let state = match status.running {
        crate::status::Running::Yes => "Waiting for source to send event",
        crate::status::Running::Connecting => "Connecting to source",
        crate::status::Running::No => "",
    };
    let executed = relay.store.executed();
    let fields = [
        ("Replica_IO_State", state.to_owned()),
        ("Source_Host", source.host.clone()),
        ("Source_User", source.credentials.user.clone()),
        ("Source_Port", source.port.to_string()),
        ("Source_Log_File", file),
        ("Read_Source_Log_Pos", position.to_string()),
        ("Replica_IO_Running", status.running.word().to_owned()),
        ("Replica_SQL_Running", "No".to_owned()),
        ("Last_IO_Errno", code.to_string()),
        ("Last_IO_Error", error),
        ("Source_Server_Id", status.source_id.to_string()),
        ("Source_UUID", status.source_uuid.clone()),
        ("Retrieved_Gtid_Set", executed.mysql.to_string()),
        ("Gtid_IO_Pos", executed.maria.to_string()),
    ];
    let (columns, row) = fields.into_iter().map(|(name, value)| (name.to_owned(), Some(value))).unzip();
    Answer::Rows(columns, vec![row])
}
