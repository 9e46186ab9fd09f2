//! `SHOW REPLICA STATUS`: what the receiver tells, in MySQL's columns; older names, which are MariaDB's, for `SHOW SLAVE STATUS`.

use base::UnixMicros;
use repl::follower::short_time;

use super::answer::Rows;
use crate::gtids::Kind;
use crate::relay::Relay;

/// `SHOW STATUS`: what there is to be known of semi-synchronous replication, by MySQL's names and MariaDB's.
pub(crate) fn counters(relay: &Relay) -> Vec<(String, String)> {
    let acks = relay.acks();
    let on = |on: bool| if on { "ON" } else { "OFF" }.to_owned();
    let mut all = Vec::new();
    for (source, replica) in [("source", "replica"), ("master", "slave")] {
        all.push((format!("Rpl_semi_sync_{replica}_status"), on(acks.acknowledges())));
        all.push((format!("Rpl_semi_sync_{source}_clients"), acks.clients().to_string()));
        all.push((format!("Rpl_semi_sync_{source}_status"), on(acks.wanted() > 0)));
    }
    all.sort();
    all
}

/// One line.
pub(crate) fn rows(relay: &Relay, old_names: bool) -> Rows {
    let name = |name: &str| match old_names {
        true => name.replace("Source_", "Master_").replace("Replica_", "Slave_"),
        false => name.to_owned(),
    };
    let line = line(relay);
    Rows {
        columns: line.iter().map(|(column, _)| name(column)).collect(),
        rows: vec![line.into_iter().map(|(_, value)| Some(value)).collect()],
    }
}

fn line(relay: &Relay) -> Vec<(&'static str, String)> {
    let status = relay.status().snapshot();
    let (settings, store) = (relay.settings(), relay.store());
    let (errno, error, at) = status.error.clone().unwrap_or((0, String::new(), UnixMicros(0)));
    let time = |at: UnixMicros| if at == UnixMicros(0) { String::new() } else { short_time(at) };
    let gtids = store.gtids().map(|gtids| gtids.to_string()).unwrap_or_default();
    let space: u64 = store.files().iter().map(|file| file.size).sum();
    let position = status.position.to_string();
    let mut line = vec![
        ("Replica_IO_State", status.state.to_owned()),
        ("Source_Host", settings.host.clone()),
        ("Source_User", settings.user.clone()),
        ("Source_Port", settings.port.to_string()),
        ("Connect_Retry", "1".to_owned()),
        ("Source_Log_File", status.file.clone()),
        ("Read_Source_Log_Pos", position.clone()),
        ("Relay_Log_File", status.file.clone()),
        ("Relay_Log_Pos", position),
        ("Replica_IO_Running", status.running.text().to_owned()),
        // Nothing is applied here.
        ("Replica_SQL_Running", "No".to_owned()),
        ("Relay_Log_Space", space.to_string()),
        ("Source_SSL_Allowed", if settings.ssl { "Yes" } else { "No" }.to_owned()),
        ("Last_IO_Errno", errno.to_string()),
        ("Last_IO_Error", error),
        ("Last_SQL_Errno", "0".to_owned()),
        ("Last_SQL_Error", String::new()),
        ("Source_Server_Id", status.source_server_id.to_string()),
        ("Source_UUID", status.source_uuid.clone()),
        ("Last_IO_Error_Timestamp", time(at)),
        ("Last_Heartbeat_Timestamp", time(status.last_heartbeat)),
        ("Heartbeats", status.heartbeats.to_string()),
        ("Clock_Difference", status.clock_difference.to_string()),
        ("Generation", store.generation().map_or(0, |generation| generation.number).to_string()),
        ("Retrieved_Gtid_Set", gtids.clone()),
    ];
    if store.kind() == Some(Kind::Maria) {
        line.push(("Gtid_IO_Pos", gtids));
    }
    line
}
