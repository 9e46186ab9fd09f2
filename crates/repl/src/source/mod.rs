//! Serving the log: `COM_BINLOG_DUMP`, `COM_BINLOG_DUMP_GTID`, `SHOW REPLICAS`.
//!
//! A stream is, for each file: an artificial ROTATE that names it; its FORMAT_DESCRIPTION (artificial too where the
//! stream begins behind it); then the file's events as they are, checksums included. At the end of the log it waits,
//! with a heartbeat now and then. With GTIDs it begins in the newest file that can hold what the replica lacks, and
//! leaves out what the replica has.
//!
//! A client in MariaDB's dialect is one that has set `@mariadb_slave_capability`. A replica among them (one that has registered, or
//! follows by GTIDs) gets the log in that dialect, see [`maria`]; tools that copy files get the files.
//!
//! A replica that has set `@rpl_semi_sync_replica` acknowledges what it has, see [`acks`].

mod acks;
mod maria;
mod maria_count;
mod maria_json;
mod maria_names;
mod replicas;
mod start;
mod stream;

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use base::{SqlError, codes};
use binlog::BinaryLog;
use engine::commit::SemiSync;
use event_listener::Event;
use futures_lite::future;
use io::BoxFuture;
use session::Registry;
use session::dump::{DumpRequest, DumpService, EventStream};
use sql::services::ReplicaHost;
use types::Value;
use wire::replication::{DUMP_HEARTBEAT_V2, DUMP_NON_BLOCK, RegisterReplica};

use acks::Acks;
pub use maria_names::MariaNames;
pub use replicas::Replicas;

/// From here on a MariaDB replica knows MariaDB's GTIDs.
const MARIA_CAPABILITY_GTID: u64 = 4;

/// The user variable in which a client that copies the log says so: it is sent local transactions (`sql_log_bin=0`) too.
pub const COPIES_VARIABLE: &str = "commuter_copies";

/// So long a stream that another one of the same replica has taken the place of may take to say so.
const SUPERSEDED_TIME: Duration = Duration::from_secs(5);

/// Serves replicas from one log.
pub struct DumpServer {
    log: Arc<BinaryLog>,
    registry: Arc<Registry>,
    replicas: Replicas,
    end: End,
    /// Told what replicas acknowledge.
    semi_sync: Arc<SemiSync>,
}

/// Whether the streams are to end.
#[derive(Default)]
pub(crate) struct End {
    is_asked: AtomicBool,
    changed: Event,
}

impl End {
    pub(crate) fn is_asked(&self) -> bool {
        self.is_asked.load(Ordering::SeqCst)
    }

    /// Ready once it is.
    pub(crate) async fn asked(&self) {
        loop {
            let listener = self.changed.listen();
            if self.is_asked() {
                return;
            }
            listener.await;
        }
    }
}

/// What a client said about how it wants the stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wishes {
    /// The stream ends at the log's end.
    pub non_blocking: bool,
    /// Heartbeats may be of version 2.
    pub heartbeat_v2: bool,
    /// `None` for no heartbeats.
    pub heartbeat_period: Option<Duration>,
    /// What it said about checksums.
    pub checksum: Checksum,
    /// It is a MariaDB, or a tool that speaks as one.
    pub is_maria: bool,
    /// It is to be sent MariaDB's events.
    pub(crate) in_maria_dialect: bool,
    /// MariaDB's replicas only: it wants the statements of row events.
    pub annotations: bool,
    /// `server_uuid` of a MySQL replica; empty for others.
    pub uuid: String,
    /// It acknowledges what it has.
    pub semi_sync: bool,
    /// It copies the log, local transactions and all.
    pub copies: bool,
}

/// What a client said about checksums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checksum {
    /// Nothing: it does not know that they exist.
    Unknown,
    /// `NONE`: it knows them, and wants none on what the dump thread makes up.
    None,
    /// It wants them.
    Crc32,
}

/// Why a stream is to end before its connection does.
#[derive(Clone, Copy)]
pub(crate) struct Ends<'a> {
    server: &'a End,
    replicas: &'a Replicas,
    connection: base::ConnectionId,
}

impl Ends<'_> {
    /// Whether it is to end when it has come to the log's end.
    pub(crate) fn is_asked(&self) -> bool {
        self.server.is_asked()
    }

    /// Ready once that is so, or [`Ends::check`] fails.
    pub(crate) async fn asked(&self) {
        future::or(self.server.asked(), self.replicas.superseded(self.connection)).await;
    }

    /// As in MySQL, of two replicas with one name the newer one is served, and the other is given the reason, which stops it.
    ///
    /// # Errors
    /// 1236 of the older one.
    pub(crate) fn check(&self) -> Result<(), SqlError> {
        match self.replicas.is_superseded(self.connection) {
            true => {
                Err(fatal("A replica with the same server_uuid/server_id as this replica has connected to the source"))
            }
            false => Ok(()),
        }
    }
}

impl DumpServer {
    /// For a log; `registry` knows the connections, of which older ones of a replica are ended; `semi_sync` waits for what replicas
    /// acknowledge.
    pub fn new(log: Arc<BinaryLog>, registry: Arc<Registry>, semi_sync: Arc<SemiSync>) -> Self {
        DumpServer { log, registry, replicas: Replicas::default(), end: End::default(), semi_sync }
    }

    /// From here on a stream ends when it has come to the log's end.
    pub fn end_when_sent(&self) {
        self.end.is_asked.store(true, Ordering::SeqCst);
        self.end.changed.notify(usize::MAX);
    }

    /// Older streams of a replica end by themselves when they can say why. Where nobody takes what is sent, they cannot.
    async fn end_at_last(&self, older: Vec<base::ConnectionId>) -> Infallible {
        if !older.is_empty() {
            self.log.env().clock.sleep(SUPERSEDED_TIME).await;
            for connection in self.replicas.dumping(older) {
                let _ = self.registry.kill(connection, base::Cancelled::Connection);
            }
        }
        future::pending().await
    }

    /// The lines of `SHOW REPLICAS`.
    pub fn replicas(&self) -> Vec<ReplicaHost> {
        self.replicas.list(self.log.options().server_id)
    }
}

impl DumpService for DumpServer {
    fn registered(&self, connection: base::ConnectionId, replica: Option<&RegisterReplica>) {
        match replica {
            Some(replica) => self.replicas.add(connection, replica),
            None => self.replicas.remove(connection),
        }
    }

    fn dump<'a>(
        &'a self,
        request: DumpRequest,
        stream: &'a mut dyn EventStream,
    ) -> BoxFuture<'a, Result<(), SqlError>> {
        Box::pin(async move {
            let wishes = Wishes::of(&request);
            let older = self.replicas.begin_dump(&request, &wishes.uuid);
            for connection in &older {
                tracing::info!("a new dump of the same replica ends connection {connection}");
            }
            let acks = wishes.semi_sync.then(|| Acks::new(&self.semi_sync, &self.log, request.connection));
            let ends = Ends { server: &self.end, replicas: &self.replicas, connection: request.connection };
            let run = stream::run(&self.log, &request, &wishes, ends, acks, stream);
            let result = future::or(run, async { match self.end_at_last(older).await {} }).await;
            self.replicas.remove(request.connection);
            if let Err(error) = &result {
                tracing::info!("dump of connection {} ends: {error}", request.connection);
            }
            result
        })
    }
}

impl Wishes {
    /// As the request's flags and the session's user variables say it.
    pub fn of(request: &DumpRequest) -> Self {
        let capability = request.variable(&["mariadb_slave_capability"]);
        let is_maria = capability.is_some();
        let knows_gtids = capability.and_then(number).is_some_and(|capability| capability >= MARIA_CAPABILITY_GTID);
        let is_replica = request.replica.is_some() || request.variable(&["slave_connect_state"]).is_some();
        let flags = request.dump.flags;
        let period = request.variable(&["source_heartbeat_period", "master_heartbeat_period"]).and_then(number);
        Wishes {
            non_blocking: flags & DUMP_NON_BLOCK != 0,
            // In MariaDB's dialect the same bit asks for annotations.
            heartbeat_v2: flags & DUMP_HEARTBEAT_V2 != 0 && !is_maria,
            heartbeat_period: period.filter(|&nanos| nanos > 0).map(Duration::from_nanos),
            checksum: Checksum::of(request.variable(&["source_binlog_checksum", "master_binlog_checksum"])),
            is_maria,
            in_maria_dialect: knows_gtids && is_replica,
            annotations: is_maria && flags & DUMP_HEARTBEAT_V2 != 0,
            copies: request.variable(&[COPIES_VARIABLE]).and_then(number).is_some_and(|on| on > 0),
            semi_sync: request
                .variable(&["rpl_semi_sync_replica", "rpl_semi_sync_slave"])
                .and_then(number)
                .is_some_and(|on| on > 0),
            uuid: request.variable(&["replica_uuid", "slave_uuid"]).and_then(text).unwrap_or_default(),
        }
    }
}

impl Checksum {
    /// Names, or numbers from 0.
    fn of(value: Option<&Value>) -> Self {
        match value.and_then(text) {
            None => Checksum::Unknown,
            Some(text) if text.eq_ignore_ascii_case("CRC32") || text == "1" => Checksum::Crc32,
            Some(_) => Checksum::None,
        }
    }
}

/// A user variable's value as text; `None` for NULL and what has no such text.
pub fn text(value: &Value) -> Option<String> {
    match value {
        Value::Int(n) => Some(n.to_string()),
        Value::UInt(n) => Some(n.to_string()),
        Value::Decimal(n) => Some(n.to_string()),
        Value::Str(bytes) | Value::Bytes(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
        _ => None,
    }
}

fn number(value: &Value) -> Option<u64> {
    match value {
        Value::Double(n) if *n >= 0.0 => Some(*n as u64),
        value => text(value)?.split('.').next()?.parse().ok(),
    }
}

/// 1236, with MySQL's words where it has some: what makes a replica's receiver stop and tell its administrator.
pub fn fatal(message: impl Into<String>) -> SqlError {
    SqlError::new(codes::SOURCE_FATAL_ERROR_READING_BINLOG, message)
}
