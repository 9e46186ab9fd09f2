//! What a source is, and what it is told before its log is asked for.

use binlog::event::ChecksumAlgorithm;
use binlog::{GtidSet, MariaGtidName};
use io::Env;
use serde::{Deserialize, Serialize};
use wire::replication::{BinlogDump, DUMP_HEARTBEAT_V2};

use crate::follower::SourceSettings;
use crate::follower::error::{ReceiveError, of_client};
use crate::follower::handshake::{Identity, SourceClient, SourceFacts, ask, exchange_uuids, meet, open, register};

/// `version_comment` of our own servers.
pub const OWN_COMMENT: &str = "commuter";
/// The same of a relay that has the log of one of them: it can be copied from there as from the server.
pub const OWN_RELAY_COMMENT: &str = "commuter relay of a commuter";
/// What MariaDB's replicas of today say that they understand: GTIDs.
const MARIA_CAPABILITY: u32 = 4;

/// Whose server a source is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SourceKind {
    /// One of ours: its log can be copied.
    Commuter,
    /// MySQL, or what speaks its dialect.
    Mysql,
    /// MariaDB.
    Maria,
}

/// Where a stream begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// Whatever is not in the set.
    Gtids(GtidSet),
    /// Behind the last transaction of each domain.
    MariaGtids(String),
    /// There. An empty name is the source's first file.
    Position { file: String, offset: u64 },
}

impl Start {
    /// Where to go on with GTIDs, from what is executed here.
    pub(super) fn by_gtids(kind: SourceKind, executed: GtidSet) -> Self {
        match kind {
            SourceKind::Maria => Start::MariaGtids(MariaGtidName::position_text(&executed)),
            SourceKind::Mysql | SourceKind::Commuter => Start::Gtids(executed),
        }
    }
}

/// Connects, and asks what the server is.
pub(super) async fn connect(env: &Env, settings: &SourceSettings) -> Result<(SourceClient, SourceKind), ReceiveError> {
    let name = format!("{settings:?}");
    let mut client = open(env, settings, "commuter-replica").await?;
    let comment = ask(&mut client, "SELECT @@version_comment").await.map_err(|error| of_client(&name, error))?;
    let kind = if matches!(comment.as_deref(), Some(OWN_COMMENT | OWN_RELAY_COMMENT)) {
        SourceKind::Commuter
    } else if client.server_version().to_ascii_lowercase().contains("mariadb") {
        SourceKind::Maria
    } else {
        SourceKind::Mysql
    };
    Ok((client, kind))
}

/// Introduces us, and asks for the log; how its events are protected.
pub(super) async fn begin(
    env: &Env,
    client: &mut SourceClient,
    kind: SourceKind,
    settings: &SourceSettings,
    identity: &Identity,
    start: &Start,
) -> Result<(SourceFacts, ChecksumAlgorithm), ReceiveError> {
    let name = format!("{settings:?}");
    let lost = |error| of_client(&name, error);
    let mut facts = meet(env, client, settings, identity, &lost).await?;
    let checksum = ask(client, "SELECT @source_binlog_checksum").await.map_err(lost)?.unwrap_or_default();
    let checksum =
        if checksum.eq_ignore_ascii_case("CRC32") { ChecksumAlgorithm::Crc32 } else { ChecksumAlgorithm::Off };
    match kind {
        SourceKind::Maria => introduce_to_maria(client, start).await.map_err(lost)?,
        SourceKind::Mysql | SourceKind::Commuter => {
            check_gtid_mode(client, start, &name).await?;
            exchange_uuids(client, identity, &mut facts, &lost).await?;
        }
    }
    register(client, identity, &lost).await?;
    let dump = dump_of(kind, identity.server_id, start)?;
    client.dump(&dump).await.map_err(lost)?;
    Ok((facts, checksum))
}

/// Which GTIDs of MySQL's form it has executed.
pub(super) async fn gtid_executed(
    client: &mut SourceClient,
    kind: SourceKind,
    settings: &SourceSettings,
) -> Result<GtidSet, ReceiveError> {
    if kind == SourceKind::Maria {
        return Ok(GtidSet::new());
    }
    let name = format!("{settings:?}");
    let text = ask(client, "SELECT @@GLOBAL.gtid_executed").await.map_err(|error| of_client(&name, error))?;
    let text = text.unwrap_or_default();
    text.parse().map_err(|_| ReceiveError::Unfit(format!("{name} says that its gtid_executed is '{text}'")))
}

/// Where to go on in a MariaDB's log that has come from here in part: nothing of that is executed again, so its domains are not in the position, and a
/// MariaDB would begin them at their beginnings, which it may not have any more.
pub(super) async fn past_our_own(
    client: &mut SourceClient,
    settings: &SourceSettings,
    own: u32,
    start: Start,
) -> Result<Start, ReceiveError> {
    let Start::MariaGtids(position) = start else { return Ok(start) };
    let state = ask(client, "SELECT @@GLOBAL.gtid_binlog_state").await;
    let state = state.map_err(|error| of_client(&format!("{settings:?}"), error))?.unwrap_or_default();
    Ok(Start::MariaGtids(with_own_domains(position, &state, own)))
}

/// A position, and the last transaction of each domain that it does not have and of which the source has what was born on this server alone.
fn with_own_domains(mut position: String, state: &str, own: u32) -> String {
    let names =
        |text: &str| -> Vec<MariaGtidName> { text.split(',').filter_map(|name| name.trim().parse().ok()).collect() };
    let (known, state) = (names(&position), names(state));
    for last in state.iter().filter(|last| last.server_id == own) {
        let is_of_domain = |other: &&MariaGtidName| other.domain_id == last.domain_id;
        if known.iter().any(|name| is_of_domain(&name)) || state.iter().filter(is_of_domain).count() > 1 {
            continue;
        }
        if !position.is_empty() {
            position.push(',');
        }
        position.push_str(&last.to_string());
    }
    position
}

async fn check_gtid_mode(client: &mut SourceClient, start: &Start, name: &str) -> Result<(), ReceiveError> {
    let mode = ask(client, "SELECT @@GLOBAL.GTID_MODE").await.map_err(|error| of_client(name, error))?;
    let mode = mode.unwrap_or_default();
    if matches!(start, Start::Gtids(_)) && mode != "ON" {
        return Err(ReceiveError::Unfit(format!(
            "The replication receiver thread cannot start in AUTO_POSITION mode: the source has GTID_MODE = {mode} instead \
             of ON. Use SOURCE_LOG_FILE and SOURCE_LOG_POS"
        )));
    }
    Ok(())
}

async fn introduce_to_maria(client: &mut SourceClient, start: &Start) -> Result<(), session::client::ClientError> {
    ask(client, &format!("SET @mariadb_slave_capability = {MARIA_CAPABILITY}")).await?;
    if let Start::MariaGtids(position) = start {
        ask(client, &format!("SET @slave_connect_state = '{position}'")).await?;
        // A position that the source does not know is an error, never a place near it.
        ask(client, "SET @slave_gtid_strict_mode = 1").await?;
        ask(client, "SET @slave_gtid_ignore_duplicates = 0").await?;
    }
    Ok(())
}

fn dump_of(kind: SourceKind, server_id: u32, start: &Start) -> Result<BinlogDump, ReceiveError> {
    let flags = if kind == SourceKind::Maria { 0 } else { DUMP_HEARTBEAT_V2 };
    let dump = BinlogDump { flags, server_id, position: 4, ..BinlogDump::default() };
    Ok(match start {
        Start::Gtids(executed) => {
            let mut gtid_set = Vec::new();
            executed.encode(&mut gtid_set);
            BinlogDump { gtid_set: Some(gtid_set), ..dump }
        }
        Start::MariaGtids(_) => dump,
        Start::Position { file, offset } if *offset > u64::from(u32::MAX) => {
            let why = format!("{file}:{offset} is past 4 GiB, which this protocol cannot ask for");
            return Err(ReceiveError::Unfit(why));
        }
        Start::Position { file, offset } => BinlogDump { file: file.clone(), position: *offset, ..dump },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn domains_of_our_own_begin_at_their_end() {
        let position = |known: &str, state: &str| with_own_domains(known.to_owned(), state, 7);
        assert_eq!(position("1-9-5", "0-7-30, 1-9-6"), "1-9-5,0-7-30");
        assert_eq!(position("", "0-7-30"), "0-7-30");
        assert_eq!(position("0-9-4", "0-7-30"), "0-9-4", "known");
        assert_eq!(position("", "0-7-30,0-8-2"), "", "others have written there too");
        assert_eq!(position("", "0-8-2"), "");
    }
}
