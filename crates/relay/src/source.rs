//! The connection to the source: what a replica of its kind says before it asks for the log.

use std::sync::Arc;
use std::time::Duration;

use base::Uuid;
use io::Env;
use session::Peer;
use session::client::{Client, ClientError};
use session::tls::{ClientConfig, ClientStream};
use session::transport::StreamTransport;
use wire::client::Credentials;
use wire::replication::RegisterReplica;

use crate::error::RelayError;

/// A connection to the source.
pub(crate) type SourceClient = Client<ClientStream<StreamTransport>>;

/// Where the log comes from.
#[derive(Clone)]
pub struct Source {
    /// Name or address.
    pub host: String,
    /// TCP port.
    pub port: u16,
    /// Who we are there.
    pub credentials: Credentials,
    /// What TLS is begun with, if the credentials ask for it.
    pub tls: Option<Arc<ClientConfig>>,
}

impl Source {
    fn address(&self) -> String {
        let is_ipv6 = self.host.contains(':');
        if is_ipv6 { format!("[{}]:{}", self.host, self.port) } else { format!("{}:{}", self.host, self.port) }
    }

    /// `user@host:port`, for messages.
    pub fn name(&self) -> String {
        format!("{}@{}", self.credentials.user, self.address())
    }
}

/// What this relay is among servers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Identity {
    pub(crate) server_id: u32,
    pub(crate) server_uuid: Uuid,
    pub(crate) port: u16,
}

/// Whose rules a log follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Mysql,
    Maria,
}

impl Kind {
    /// Of a version.
    pub(crate) fn of(version: &str) -> Self {
        if version.to_ascii_lowercase().contains("mariadb") { Kind::Maria } else { Kind::Mysql }
    }
}

/// What the source said about itself.
#[derive(Clone, Debug)]
pub(crate) struct Facts {
    pub(crate) kind: Kind,
    pub(crate) server_id: u32,
    /// Empty for a MariaDB, which has none.
    pub(crate) uuid: String,
    /// `bin.000003:1234`, or why it did not say.
    pub(crate) end: String,
}

/// Connects, and says all that comes before the dump.
pub(crate) async fn connect(
    env: &Env,
    source: &Source,
    identity: Identity,
    heartbeat: Duration,
) -> Result<(SourceClient, Facts), RelayError> {
    let name = source.name();
    let stream = env.network.connect(&source.address()).await;
    let stream = stream.map_err(|error| RelayError::unreachable(&name, &error))?;
    let peer = Peer { host: source.host.clone(), port: source.port, ..Peer::default() };
    let transport = ClientStream::new(StreamTransport::new(stream, peer), source.tls.clone());
    let lost = |error: ClientError| RelayError::of_client(&name, &error);
    let mut client = Client::connect(transport, &env.random, source.credentials.clone()).await.map_err(lost)?;
    let facts = introduce(&mut client, identity, heartbeat, &lost).await?;
    Ok((client, facts))
}

async fn introduce(
    client: &mut SourceClient,
    identity: Identity,
    heartbeat: Duration,
    lost: &(impl Fn(ClientError) -> RelayError + Sync),
) -> Result<Facts, RelayError> {
    let kind = Kind::of(client.server_version());
    let server_id = ask(client, "SELECT @@GLOBAL.SERVER_ID").await.map_err(lost)?.unwrap_or_default();
    let server_id = server_id.parse().map_err(|_| RelayError::Unfit(format!("server id '{server_id}'")))?;
    if server_id == identity.server_id {
        let why = "source and relay have equal server ids; these must be different (--server-id)";
        return Err(RelayError::Unfit(format!("{why}: {server_id}")));
    }
    let nanos = heartbeat.as_nanos();
    let set = match kind {
        Kind::Mysql => format!(
            "SET @master_heartbeat_period = {nanos}, @source_heartbeat_period = {nanos}, \
             @master_binlog_checksum = @@global.binlog_checksum, @source_binlog_checksum = @@global.binlog_checksum, \
             @slave_uuid = '{0}', @replica_uuid = '{0}'",
            identity.server_uuid
        ),
        Kind::Maria => format!(
            "SET @master_heartbeat_period = {nanos}, @master_binlog_checksum = @@global.binlog_checksum, \
             @mariadb_slave_capability = 4"
        ),
    };
    ask(client, &set).await.map_err(lost)?;
    let uuid = match kind {
        Kind::Mysql => ask(client, "SELECT @@GLOBAL.SERVER_UUID").await.map_err(lost)?.unwrap_or_default(),
        Kind::Maria => String::new(),
    };
    if uuid.eq_ignore_ascii_case(&identity.server_uuid.to_string()) {
        return Err(RelayError::Unfit(format!("source and relay have equal server UUIDs ({uuid})")));
    }
    let end = log_end(client, kind).await.map_err(lost)?;
    let register = RegisterReplica { server_id: identity.server_id, port: identity.port, ..RegisterReplica::default() };
    client.register(&register).await.map_err(lost)?;
    Ok(Facts { kind, server_id, uuid, end })
}

/// The first value of the answer.
async fn ask(client: &mut SourceClient, sql: &str) -> Result<Option<String>, ClientError> {
    Ok(client.query(sql).await?.first().map(str::to_owned))
}

async fn log_end(client: &mut SourceClient, kind: Kind) -> Result<String, ClientError> {
    let sql = if kind == Kind::Maria { "SHOW MASTER STATUS" } else { "SHOW BINARY LOG STATUS" };
    match client.query(sql).await {
        Ok(result) => {
            let row = result.rows.first().cloned().unwrap_or_default();
            let field = |at: usize| row.get(at).cloned().flatten().unwrap_or_default();
            Ok(format!("{}:{}", field(0), field(1)))
        }
        Err(error) if error.refused().is_some() => Ok("(a place that it did not tell this account)".to_owned()),
        Err(error) => Err(error),
    }
}
