//! What a receiver asks and tells the source before the dump: what a MySQL replica does, in its order. In steps, since who copies a
//! log, who executes it and who relays it want different things of a source.

use std::sync::Arc;
use std::time::Duration;

use base::Uuid;
use futures_lite::future;
use io::Env;
use session::client::{Client, ClientError};
use session::tls::ClientStream;
use session::transport::StreamTransport;
use session::{Peer, tls};
use wire::client::{Credentials, ServerKey};
use wire::replication::RegisterReplica;

use super::error::{ReceiveError, of_client};
use super::settings::{SourceSettings, read};
use crate::source::COPIES_VARIABLE;

/// As a source shows its client.
pub(crate) const PROGRAM: &str = "commuter-receiver";
/// How long a message waits for what the source says of its log.
const LOG_END_PATIENCE: Duration = Duration::from_secs(5);

/// A connection to a source.
pub type SourceClient = Client;

/// Who we are.
#[derive(Clone, Debug)]
pub struct Identity {
    /// `server_id`
    pub server_id: u32,
    /// `server_uuid`
    pub server_uuid: Uuid,
    /// `report_host`; may be empty.
    pub report_host: String,
    /// `report_port`
    pub report_port: u16,
}

/// What the source said about itself.
#[derive(Clone, Debug, Default)]
pub struct SourceFacts {
    /// `server_id`
    pub server_id: u32,
    /// `server_uuid`; empty for a MariaDB.
    pub uuid: String,
    /// Seconds that our clock is ahead of its clock.
    pub clock_difference: i64,
}

/// Connects, and does all that comes before the dump; with `semi_sync` it offers to acknowledge.
pub(crate) async fn connect(
    env: &Env,
    settings: &SourceSettings,
    identity: &Identity,
    semi_sync: bool,
) -> Result<(SourceClient, SourceFacts), ReceiveError> {
    let mut client = open(env, settings, PROGRAM).await?;
    let name = format!("{settings:?}");
    let facts = introduce(env, &mut client, settings, identity, &|error| of_client(&name, error)).await?;
    if semi_sync {
        client.offer_semi_sync().await.map_err(|error| of_client(&name, error))?;
    }
    Ok((client, facts))
}

/// Connects, and no more; `program` is what the source shows of its client.
///
/// # Errors
/// [`ReceiveError::Connection`] when there is no connection, or the source does not let us in.
#[io::boxed]
pub async fn open(env: &Env, settings: &SourceSettings, program: &str) -> Result<SourceClient, ReceiveError> {
    let name = format!("{settings:?}");
    let lost = |error| of_client(&name, error);
    let mode = settings.tls_mode();
    let config = match mode {
        tls::Mode::Disabled => None,
        _ => Some(tls_config(env, settings).await.map_err(|why| lost(ClientError::Tls(std::io::Error::other(why))))?),
    };
    let server_key = server_key(env, settings).await.map_err(|why| ReceiveError::unprotected(&name, why))?;
    let stream =
        env.network.connect(&settings.address()).await.map_err(|error| ReceiveError::unreachable(&name, &error))?;
    let peer = Peer { host: settings.host.clone(), port: settings.port, ..Peer::default() };
    let credentials = Credentials {
        user: settings.user.clone(),
        password: settings.password.clone(),
        attributes: vec![("program_name".to_owned(), program.to_owned())],
        tls: mode.asks(),
        server_key,
        ..Credentials::default()
    };
    let transport = ClientStream::new(Box::new(StreamTransport::new(stream, peer)), config);
    Client::connect(Box::new(transport), &env.random, credentials).await.map_err(lost)
}

/// The files are read for each attempt: what is mended in them helps the next one.
async fn tls_config(env: &Env, settings: &SourceSettings) -> Result<Arc<tls::ClientConfig>, String> {
    let read = async |option: &str, path: &str| match path {
        "" => Ok(Vec::new()),
        path => read(env, path).await.map_err(|error| format!("{option} '{path}': {error}")),
    };
    let pem = tls::Pem {
        ca: read("SOURCE_SSL_CA", &settings.ssl_ca).await?,
        cert: read("SOURCE_SSL_CERT", &settings.ssl_cert).await?,
        key: read("SOURCE_SSL_KEY", &settings.ssl_key).await?,
    };
    tls::config(settings.tls_mode(), &pem)
}

/// A file that is named comes first, as in MySQL.
async fn server_key(env: &Env, settings: &SourceSettings) -> Result<ServerKey, String> {
    match settings.public_key_path.as_str() {
        "" if settings.get_public_key => Ok(ServerKey::Ask),
        "" => Ok(ServerKey::Unknown),
        path => {
            let key = read(env, path).await.map_err(|error| format!("SOURCE_PUBLIC_KEY_PATH '{path}': {error}"))?;
            Ok(ServerKey::Known(String::from_utf8_lossy(&key).into_owned()))
        }
    }
}

async fn introduce(
    env: &Env,
    client: &mut SourceClient,
    settings: &SourceSettings,
    identity: &Identity,
    lost: &(impl Fn(ClientError) -> ReceiveError + Sync),
) -> Result<SourceFacts, ReceiveError> {
    let mut facts = meet(env, client, settings, identity, lost).await?;
    let algorithm = ask(client, "SELECT @source_binlog_checksum").await.map_err(lost)?.unwrap_or_default();
    if !algorithm.eq_ignore_ascii_case("CRC32") {
        return Err(ReceiveError::Unfit(format!(
            "the source's log has checksum '{algorithm}'; a copy needs events with CRC32"
        )));
    }
    let gtid_mode = ask(client, "SELECT @@GLOBAL.GTID_MODE").await.map_err(lost)?.unwrap_or_default();
    if gtid_mode != "ON" {
        return Err(ReceiveError::Unfit(format!("the source has GTID_MODE = {gtid_mode}; only ON can be followed")));
    }
    exchange_uuids(client, identity, &mut facts, lost).await?;
    say_it_is_copied(client).await.map_err(lost)?;
    register(client, identity, lost).await?;
    Ok(facts)
}

/// What is asked of any source first: its clock, its number, how often it is to say that it is there; and it is told that we know
/// checksums.
///
/// # Errors
/// [`ReceiveError::Unfit`] when it has our server id; else what `lost` makes of the client's error.
#[io::boxed]
pub async fn meet(
    env: &Env,
    client: &mut SourceClient,
    settings: &SourceSettings,
    identity: &Identity,
    lost: &(impl Fn(ClientError) -> ReceiveError + Sync),
) -> Result<SourceFacts, ReceiveError> {
    let their_time = ask(client, "SELECT UNIX_TIMESTAMP()").await.map_err(lost)?;
    let our_time = (env.clock.now().0 / 1_000_000) as i64;
    let clock_difference = their_time.and_then(|text| text.parse().ok()).map_or(0, |theirs: i64| our_time - theirs);
    let server_id = ask(client, "SELECT @@GLOBAL.SERVER_ID").await.map_err(lost)?.unwrap_or_default();
    let server_id: u32 = server_id.parse().map_err(|_| ReceiveError::Unfit(format!("server id '{server_id}'")))?;
    if server_id == identity.server_id {
        return Err(ReceiveError::Unfit(format!(
            "source and replica have equal server ids ({server_id}); these ids must be different for replication to work"
        )));
    }
    let nanos = settings.heartbeat_period().as_nanos();
    let period = format!("SET @master_heartbeat_period = {nanos}, @source_heartbeat_period = {nanos}");
    ask(client, &period).await.map_err(lost)?;
    let checksum = "SET @master_binlog_checksum = @@global.binlog_checksum, \
                    @source_binlog_checksum = @@global.binlog_checksum";
    ask(client, checksum).await.map_err(lost)?;
    Ok(SourceFacts { server_id, clock_difference, ..SourceFacts::default() })
}

/// MySQL's servers, and ours, know each other by their UUIDs.
///
/// # Errors
/// [`ReceiveError::Unfit`] when it has our UUID; else what `lost` makes of the client's error.
#[io::boxed]
pub async fn exchange_uuids(
    client: &mut SourceClient,
    identity: &Identity,
    facts: &mut SourceFacts,
    lost: &(impl Fn(ClientError) -> ReceiveError + Sync),
) -> Result<(), ReceiveError> {
    facts.uuid = ask(client, "SELECT @@GLOBAL.SERVER_UUID").await.map_err(lost)?.unwrap_or_default();
    if facts.uuid.eq_ignore_ascii_case(&identity.server_uuid.to_string()) {
        return Err(ReceiveError::Unfit(format!(
            "source and replica have equal server UUIDs ({}); these must be different for replication to work",
            facts.uuid
        )));
    }
    let ours = identity.server_uuid;
    ask(client, &format!("SET @slave_uuid = '{ours}', @replica_uuid = '{ours}'")).await.map_err(lost)?;
    Ok(())
}

/// The source is to send its log as it is, with local transactions.
///
/// # Errors
/// When the source refuses the statement, or the connection is lost.
#[io::boxed]
pub async fn say_it_is_copied(client: &mut SourceClient) -> Result<(), ClientError> {
    ask(client, &format!("SET @{COPIES_VARIABLE} = 1")).await.map(drop)
}

/// Lets the source list us among its replicas.
///
/// # Errors
/// What `lost` makes of the client's error.
#[io::boxed]
pub async fn register(
    client: &mut SourceClient,
    identity: &Identity,
    lost: &(impl Fn(ClientError) -> ReceiveError + Sync),
) -> Result<(), ReceiveError> {
    let register = RegisterReplica {
        server_id: identity.server_id,
        host: identity.report_host.clone(),
        user: String::new(),
        port: identity.report_port,
    };
    client.register(&register).await.map_err(lost)
}

/// The first value of the answer to a statement; `None` if that is NULL, or there is none.
///
/// # Errors
/// When the source refuses the statement, or the connection is lost.
#[io::boxed]
pub async fn ask(client: &mut SourceClient, sql: &str) -> Result<Option<String>, ClientError> {
    Ok(client.query(sql).await?.first().map(str::to_owned))
}

/// Where the source's log ends, for a message that says that the logs differ: `binlog.000003:1234 (GTIDs …)`.
///
/// A MariaDB answers this under the lock of its log, which a commit holds while it waits behind one that waits for an
/// acknowledgement. Who is to acknowledge must not ask before its dump: both sides would wait for ever. So this is a connection of
/// its own, for which nothing waits longer than [`LOG_END_PATIENCE`].
#[io::boxed]
pub async fn log_end(env: &Env, settings: &SourceSettings, program: &str) -> String {
    let asked = async { log_status(&mut open(env, settings, program).await.ok()?).await };
    let patience = async {
        env.clock.sleep(LOG_END_PATIENCE).await;
        None
    };
    future::or(asked, patience).await.unwrap_or_else(|| "(it did not say)".to_owned())
}

/// `None` if the account may not know it, or the connection is lost.
async fn log_status(client: &mut SourceClient) -> Option<String> {
    // The second is what MariaDB and MySQL before 8.2 call it.
    for statement in ["SHOW BINARY LOG STATUS", "SHOW MASTER STATUS"] {
        let result = match client.query(statement).await {
            Ok(result) => result,
            Err(error) if error.refused().is_some() => continue,
            Err(_) => return None,
        };
        let row = result.rows.first()?;
        let field = |i: usize| row.get(i).cloned().flatten().unwrap_or_default();
        let gtids = if row.len() > 4 { format!(" (GTIDs {})", field(4)) } else { String::new() };
        return Some(format!("{}:{}{gtids}", field(0), field(1)));
    }
    None
}
