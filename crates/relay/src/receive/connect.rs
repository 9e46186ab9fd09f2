//! What is asked and told before the dump, as a replica of the source's kind does it.

use io::Env;
use repl::SourceSettings;
use repl::follower::handshake::{self, SourceClient, ask};
use repl::follower::{Identity, ReceiveError, of_client};
use session::client::ClientError;
use wire::replication::BinlogDump;

use super::copier::first_rotate;
use crate::gtids::{Gtids, Kind};
use crate::kept::Source;

/// As a source shows its client.
pub(crate) const PROGRAM: &str = "commuter-relay";
/// What replicas and tools may ask for, and get as the source has it.
const VARIABLES: &str = "'binlog_checksum', 'binlog_format', 'binlog_row_image', 'binlog_row_metadata', \
                         'binlog_row_value_options', 'binlog_transaction_compression', 'character_set_server', \
                         'collation_server', 'enforce_gtid_consistency', 'gtid_domain_id', 'gtid_mode', 'gtid_strict_mode', \
                         'log_bin', 'lower_case_table_names', 'max_allowed_packet', 'sql_mode', \
                         'system_time_zone', 'time_zone', 'version_comment'";
/// Of a MariaDB we want its own GTIDs and all of its other events.
const MARIA_CAPABILITY: &str = "SET @mariadb_slave_capability = 4";

/// A connection on which the dump can be asked for.
pub(crate) struct Connected {
    pub(crate) client: SourceClient,
    pub(crate) source: Source,
    /// Seconds that our clock is ahead of the source's.
    pub(crate) clock_difference: i64,
}

/// Connects, and does all that comes before the dump; with `semi_sync` it offers to acknowledge.
pub(crate) async fn connect(
    env: &Env,
    settings: &SourceSettings,
    identity: &Identity,
    semi_sync: bool,
) -> Result<Connected, ReceiveError> {
    let mut client = handshake::open(env, settings, PROGRAM).await?;
    let name = format!("{settings:?}");
    let lost = |error| of_client(&name, error);
    let version = client.server_version().to_owned();
    let kind = Kind::of_version(&version);
    let variables = variables(&mut client).await.map_err(lost)?;
    let mut facts = handshake::meet(env, &mut client, settings, identity, &lost).await?;
    match kind {
        Kind::Mysql => {
            handshake::exchange_uuids(&mut client, identity, &mut facts, &lost).await?;
            handshake::say_it_is_copied(&mut client).await.map_err(lost)?;
        }
        Kind::Maria => drop(ask(&mut client, MARIA_CAPABILITY).await.map_err(lost)?),
    }
    if semi_sync {
        client.offer_semi_sync().await.map_err(lost)?;
    }
    handshake::register(&mut client, identity, &lost).await?;
    let source = Source { kind, server_id: facts.server_id, uuid: facts.uuid, version, variables };
    Ok(Connected { client, source, clock_difference: facts.clock_difference })
}

async fn variables(client: &mut SourceClient) -> Result<Vec<(String, String)>, ClientError> {
    let result = client.query(&format!("SHOW GLOBAL VARIABLES WHERE Variable_name IN ({VARIABLES})")).await?;
    let pair = |row: Vec<Option<String>>| {
        let mut row = row.into_iter();
        Some((row.next()??.to_ascii_lowercase(), row.next()?.unwrap_or_default()))
    };
    Ok(result.rows.into_iter().filter_map(pair).collect())
}

/// The file of another source in which what we lack begins: a dump by GTIDs begins with its name.
pub(crate) async fn first_file(
    env: &Env,
    settings: &SourceSettings,
    identity: &Identity,
    ours: &Gtids,
) -> Result<String, ReceiveError> {
    // Nothing is kept of this stream, so nothing of it is acknowledged.
    let mut client = connect(env, settings, identity, false).await?.client;
    let name = format!("{settings:?}");
    let lost = |error| of_client(&name, error);
    let mut dump =
        BinlogDump { flags: 0, server_id: identity.server_id, file: String::new(), position: 4, gtid_set: None };
    check_has_all(&mut client, &name, ours).await?;
    match ours {
        Gtids::Mysql(set) => {
            let mut bytes = Vec::new();
            set.encode(&mut bytes);
            dump.gtid_set = Some(bytes);
        }
        Gtids::Maria(_) => {
            ask(&mut client, &format!("SET @slave_connect_state = '{ours}'")).await.map_err(lost)?;
            ask(&mut client, "SET @slave_gtid_strict_mode = 1").await.map_err(lost)?;
        }
    }
    client.dump(&dump).await.map_err(lost)?;
    let event = client.next_event().await.map_err(lost)?;
    let event = event.ok_or_else(|| ReceiveError::lost(&name, "the source ended the stream".to_owned()))?;
    Ok(first_rotate(event)?)
}

/// A new source must have all that is here, or the log would go on behind transactions that it never had. It may be that it has not
/// yet what its own source has, so it is asked again.
async fn check_has_all(client: &mut SourceClient, name: &str, ours: &Gtids) -> Result<(), ReceiveError> {
    let question = match ours.kind() {
        Kind::Mysql => "SELECT @@GLOBAL.gtid_executed",
        Kind::Maria => "SELECT @@GLOBAL.gtid_binlog_state",
    };
    let theirs = ask(client, question).await.map_err(|error| of_client(name, error))?;
    let theirs = Gtids::parse(ours.kind(), &theirs.unwrap_or_default())?;
    match ours.lacking_in(&theirs).as_str() {
        "" => Ok(()),
        lacks => {
            Err(ReceiveError::lost(name, format!("the relay holds transactions that this server has not: {lacks}")))
        }
    }
}
