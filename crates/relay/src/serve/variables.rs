//! Settings that replicas and tools ask for: the relay's own, then those of the source as it said them last.

use base::{SqlError, codes};
use repl::replica::{OWN_COMMENT, OWN_RELAY_COMMENT};

use super::stream::reading;
use crate::gtids::{Gtids, Kind};
use crate::relay::Relay;

/// Own settings that are as they are.
const CONSTANT: [(&str, &str); 17] = [
    ("autocommit", "ON"),
    ("character_set_client", "utf8mb4"),
    ("character_set_connection", "utf8mb4"),
    ("character_set_results", "utf8mb4"),
    ("collation_connection", "utf8mb4_general_ci"),
    ("interactive_timeout", "28800"),
    ("log_bin", "ON"),
    ("log_replica_updates", "ON"),
    ("log_slave_updates", "ON"),
    ("net_read_timeout", "30"),
    ("net_write_timeout", "60"),
    ("read_only", "ON"),
    ("skip_replication", "OFF"),
    ("super_read_only", "ON"),
    ("sync_binlog", "1"),
    ("transaction_isolation", "REPEATABLE-READ"),
    ("wait_timeout", "28800"),
];
/// Where ON is a word and not a number.
const WORDS: [&str; 2] = ["gtid_mode", "enforce_gtid_consistency"];

/// What `SELECT @@name` gives.
///
/// # Errors
/// 1193 if there is no such setting here; 1236 if the file that says it cannot be read.
pub(crate) async fn selected(relay: &Relay, name: &str) -> Result<String, SqlError> {
    if name == "gtid_purged" {
        relay.purged().await.map_err(reading)?;
    }
    let found = all(relay).await.into_iter().find(|(known, _)| known == name).map(|(_, value)| value);
    let unknown = || SqlError::new(codes::UNKNOWN_SYSTEM_VARIABLE, format!("Unknown system variable '{name}'"));
    let value = found.ok_or_else(unknown)?;
    Ok(match value.as_str() {
        _ if WORDS.contains(&name) => value,
        "ON" => "1".to_owned(),
        "OFF" => "0".to_owned(),
        _ => value,
    })
}

/// All settings, as `SHOW VARIABLES` lists them.
pub(crate) async fn all(relay: &Relay) -> Vec<(String, String)> {
    let identity = relay.identity();
    let wanted = relay.acks().wanted();
    let on = |on: bool| if on { "ON" } else { "OFF" }.to_owned();
    let mut all: Vec<(String, String)> = CONSTANT.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    let mut add = |name: &str, value: String| all.push((name.to_owned(), value));
    add("server_id", identity.server_id.to_string());
    add("server_uuid", identity.server_uuid.to_string());
    add("hostname", identity.report_host.clone());
    add("port", identity.report_port.to_string());
    add("version", relay.version());
    add("version_comment", version_comment(relay).to_owned());
    for name in ["rpl_semi_sync_replica_enabled", "rpl_semi_sync_slave_enabled"] {
        add(name, on(relay.offers_acknowledgements()));
    }
    for name in ["rpl_semi_sync_source_enabled", "rpl_semi_sync_master_enabled"] {
        add(name, on(wanted > 0));
    }
    add("rpl_semi_sync_source_wait_for_replica_count", wanted.max(1).to_string());
    // In this order: what is purged is always part of what is executed.
    let purged = relay.purged().await.ok().flatten();
    match relay.store().gtids() {
        Some(gtids @ Gtids::Mysql(_)) => {
            add("gtid_executed", gtids.to_string());
            purged.iter().for_each(|purged| add("gtid_purged", purged.to_string()));
        }
        Some(gtids @ Gtids::Maria(_)) => {
            for name in ["gtid_binlog_pos", "gtid_current_pos", "gtid_slave_pos"] {
                add(name, gtids.to_string());
            }
            add("gtid_binlog_state", gtids.whole());
        }
        None => {}
    }
    match relay.store().generation() {
        Some(generation) => add_of_source(&mut all, generation.source),
        // What a source has by default: its replicas may be here before it.
        None => all.extend(
            [("binlog_checksum", "CRC32"), ("gtid_mode", "ON")]
                .map(|(name, value)| (name.to_owned(), value.to_owned())),
        ),
    }
    all.sort();
    all
}

/// A commuter server copies the log of another one, also from a relay.
fn version_comment(relay: &Relay) -> &'static str {
    let source = relay.store().generation().map(|generation| generation.source);
    match source.as_ref().and_then(|source| source.variable("version_comment")) {
        Some(OWN_COMMENT | OWN_RELAY_COMMENT) => OWN_RELAY_COMMENT,
        _ => "commuter relay",
    }
}

fn add_of_source(all: &mut Vec<(String, String)>, source: crate::kept::Source) {
    let known: Vec<String> = all.iter().map(|(name, _)| name.clone()).collect();
    all.extend(source.variables.into_iter().filter(|(name, _)| !known.contains(name)));
    // A source that has no such setting is as one that has it off.
    if source.kind == Kind::Mysql && !all.iter().any(|(name, _)| name == "gtid_mode") {
        all.push(("gtid_mode".to_owned(), "OFF".to_owned()));
    }
}

/// `LIKE`, without regard to case: `%` is anything, `_` a character, `\` takes the next as it is.
pub(crate) fn matches_like(text: &str, pattern: &str) -> bool {
    fn matches(text: &[u8], pattern: &[u8]) -> bool {
        match (pattern, text) {
            ([], _) => text.is_empty(),
            ([b'%', rest @ ..], _) => (0..=text.len()).any(|skipped| matches(&text[skipped..], rest)),
            ([b'_', rest @ ..], [_, after @ ..]) => matches(after, rest),
            ([b'\\', wanted, rest @ ..] | [wanted, rest @ ..], [found, after @ ..]) => {
                wanted.eq_ignore_ascii_case(found) && matches(after, rest)
            }
            (_, []) => false,
        }
    }
    // Bounded, because each `%` may try all that follows.
    pattern.matches('%').count() <= 4 && matches(text.as_bytes(), pattern.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn like() {
        assert!(matches_like("server_id", "SERVER_ID") && matches_like("server_id", "server%"));
        assert!(matches_like("server_id", "%\\_id") && matches_like("serverxid", "server_id"));
        assert!(!matches_like("serverxid", "server\\_id") && !matches_like("server_id", "server"));
    }
}
