//! A small blocking client of the MySQL protocol, for the command line's own tools: one connection, statements as text.
//!
//! ```no_run
//! let server = "mysql://root:secret@127.0.0.1:3306".parse::<commuter::client::ServerUrl>()?;
//! let mut client = commuter::client::Client::connect(&server, None)?;
//! let result = client.query("SELECT 1")?;
//! assert_eq!(result.rows[0][0].as_deref(), Some(&b"1"[..]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use base::{SqlError, codes};
use binlog::GtidSet;
use binlog::event::{ChecksumAlgorithm, MAGIC};
use futures_lite::future::block_on;
use io::BoxFuture;
pub use server::url::{Protection, ServerUrl};
use session::tls::ClientStream;
use session::{Peer, Transport, tls};
use thiserror::Error;
use wire::client::{Credentials, ServerKey};
use wire::replication::{BinlogDump, DUMP_HEARTBEAT_V2, DUMP_NON_BLOCK};

const CONNECT_PATIENCE: Duration = Duration::from_secs(10);
const READ_BYTES: usize = 64 << 10;
/// The `server_id` of who follows a log to print it: a source ends an older stream of the same number.
const FOLLOWING_SERVER_ID: u32 = u32::MAX - 1;

/// Why a connection or a statement failed.
#[derive(Debug, Error)]
pub enum ClientError {
    /// The server said no.
    #[error("{0}")]
    Refused(SqlError),
    /// The connection broke or was never there.
    #[error("{address}: {error}")]
    Io {
        /// Whom we spoke to.
        address: String,
        /// What happened.
        error: std::io::Error,
    },
    /// The server said something that is not of the protocol.
    #[error("{0}")]
    Protocol(String),
}

impl ClientError {
    fn of(error: session::client::ClientError, address: &str) -> ClientError {
        match error {
            session::client::ClientError::Io(error) => ClientError::Io { address: address.to_owned(), error },
            session::client::ClientError::Wire(wire::WireError::Refused(refusal)) => ClientError::Refused(refusal),
            other => ClientError::Protocol(format!("{address}: {other}")),
        }
    }

    /// Whether trying again later may help: the connection is gone, or the server is about to be.
    pub fn may_pass(&self) -> bool {
        const GOING: [u16; 4] =
            [codes::SERVER_SHUTDOWN.0, codes::CON_COUNT_ERROR.0, codes::FORCING_CLOSE.0, codes::OUT_OF_RESOURCES.0];
        match self {
            ClientError::Io { .. } => true,
            ClientError::Refused(error) => GOING.contains(&error.code),
            ClientError::Protocol(_) => false,
        }
    }

    /// Whether the connection is gone, and with it the knowledge whether the last statement was done.
    pub fn is_connection_lost(&self) -> bool {
        matches!(self, ClientError::Io { .. })
    }
}

/// What a statement gave.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueryResult {
    /// Names of the columns; empty if the statement gives no rows.
    pub columns: Vec<String>,
    /// Values as text; `None` is NULL.
    pub rows: Vec<Vec<Option<Vec<u8>>>>,
    /// Rows changed.
    pub affected_rows: u64,
}

impl QueryResult {
    /// The value of a row as text; empty for NULL or what is not there.
    pub fn text(&self, row: usize, column: usize) -> String {
        let value = self.rows.get(row).and_then(|row| row.get(column)).and_then(Option::as_deref);
        String::from_utf8_lossy(value.unwrap_or_default()).into_owned()
    }
}

/// One connection.
pub struct Client {
    inner: session::client::Client,
    address: String,
}

impl Client {
    /// Connects and logs in. `patience` bounds each wait for an answer; `None` waits for ever.
    ///
    /// # Errors
    /// When there is no server, or it does not let us in.
    pub fn connect(server: &ServerUrl, patience: Option<Duration>) -> Result<Client, ClientError> {
        let address = server.address();
        let protection = &server.protection;
        let mode = protection.mode_or(tls::Mode::Preferred);
        let config = match mode {
            tls::Mode::Disabled => None,
            _ => Some(tls_config(mode, protection).map_err(ClientError::Protocol)?),
        };
        let stream = open(&address, patience).map_err(|error| ClientError::Io { address: address.clone(), error })?;
        let peer = Peer { host: server.host.clone(), port: server.port, ..Peer::default() };
        let credentials = Credentials {
            user: server.user.clone(),
            password: server.password.clone(),
            database: server.database.clone(),
            attributes: vec![("program_name".into(), "commuter".into())],
            tls: mode.asks(),
            server_key: server_key(protection).map_err(ClientError::Protocol)?,
            ..Credentials::default()
        };
        let random: Arc<dyn io::Random> = Arc::new(io::os::OsRandom);
        let stream = ClientStream::new(Box::new(BlockingStream { stream, peer }), config);
        let login = session::client::Client::connect(Box::new(stream), &random, credentials);
        match block_on(login) {
            Ok(inner) => Ok(Client { inner, address }),
            Err(error) => Err(ClientError::of(error, &address)),
        }
    }

    /// Runs one statement.
    ///
    /// # Errors
    /// What the server refused, or that the connection broke.
    pub fn query(&mut self, sql: &str) -> Result<QueryResult, ClientError> {
        let mut rows = Vec::new();
        let take = |row: &[Option<&[u8]>]| rows.push(row.iter().map(|value| value.map(<[u8]>::to_vec)).collect());
        let (columns, done) =
            block_on(self.inner.query_rows(sql, take)).map_err(|error| ClientError::of(error, &self.address))?;
        let columns = columns.into_iter().map(|column| column.name).collect();
        Ok(QueryResult { columns, rows, affected_rows: done.affected_rows })
    }

    /// Runs one statement, and gives each of its rows to `each`.
    ///
    /// # Errors
    /// What the server refused, or that the connection broke.
    pub fn query_each(&mut self, sql: &str, each: impl FnMut(&[Option<&[u8]>]) + Send) -> Result<(), ClientError> {
        block_on(self.inner.query_rows(sql, each)).map_err(|error| ClientError::of(error, &self.address))?;
        Ok(())
    }
}

/// A server's binary log, as it comes.
pub struct LogStream {
    client: Client,
    checksum: ChecksumAlgorithm,
}

/// Which part of a server's log is asked for, and how.
#[derive(Clone, Debug)]
pub struct LogRequest {
    /// Where it begins.
    pub start: LogStart,
    /// Wait for more at the log's end.
    pub follow: bool,
    /// Of who follows. A source ends an older stream of the same number.
    pub server_id: u32,
    /// The source says something at least so often.
    pub heartbeat: Option<Duration>,
}

/// Where a stream begins.
#[derive(Clone, Debug)]
pub enum LogStart {
    /// In a file, the first one if it is empty, at an offset, which has 32 bits in the protocol.
    Position(String, u64),
    /// Behind these transactions.
    Gtids(GtidSet),
    /// Behind MariaDB's position, such as `0-1-17,2-1-4`.
    MariaGtids(String),
}

impl Client {
    /// Whether it is a MariaDB's server, as its greeting says.
    pub fn is_maria(&self) -> bool {
        self.inner.server_version().to_ascii_lowercase().contains("mariadb")
    }

    /// Asks for the server's log from a position of a file on; the first file if `file` is empty. It ends at the log's end, or, to
    /// follow, waits there for more.
    ///
    /// # Errors
    /// What the server refused, or that the connection broke.
    pub fn stream_log(self, file: &str, position: u64, follow: bool) -> Result<LogStream, ClientError> {
        let start = LogStart::Position(file.to_owned(), position);
        // Without a number of its own it is nobody's replica, and the source does not wait for it.
        let server_id = if follow { FOLLOWING_SERVER_ID } else { 0 };
        self.request_log(&LogRequest { start, follow, server_id, heartbeat: None })
    }

    /// Asks for the server's log.
    ///
    /// # Errors
    /// What the server refused, or that the connection broke.
    pub fn request_log(mut self, request: &LogRequest) -> Result<LogStream, ClientError> {
        // MariaDB's sources send what a client says that it knows; for others it is a variable like any.
        let mut announce = "SET @mariadb_slave_capability = 4, @master_binlog_checksum = @@global.binlog_checksum, \
                            @source_binlog_checksum = @@global.binlog_checksum"
            .to_owned();
        if let Some(heartbeat) = request.heartbeat {
            let nanos = heartbeat.as_nanos();
            announce.push_str(&format!(", @master_heartbeat_period = {nanos}, @source_heartbeat_period = {nanos}"));
        }
        if let LogStart::MariaGtids(position) = &request.start {
            announce.push_str(&format!(", @slave_connect_state = '{}'", position.replace(['\'', '\\'], "")));
        }
        self.query(&announce)?;
        let checksum = match self.query("SELECT @master_binlog_checksum")?.text(0, 0).to_uppercase().as_str() {
            "CRC32" => ChecksumAlgorithm::Crc32,
            _ => ChecksumAlgorithm::Off,
        };
        let (file, position) = match &request.start {
            LogStart::Position(file, position) => (file.clone(), *position),
            LogStart::Gtids(_) | LogStart::MariaGtids(_) => (String::new(), MAGIC.len() as u64),
        };
        let gtid_set = match &request.start {
            LogStart::Gtids(set) => {
                let mut bytes = Vec::new();
                set.encode(&mut bytes);
                Some(bytes)
            }
            _ => None,
        };
        // To MariaDB's sources this bit says that the statements of rows are wanted.
        let flags = if request.follow { DUMP_HEARTBEAT_V2 } else { DUMP_HEARTBEAT_V2 | DUMP_NON_BLOCK };
        let dump = BinlogDump { flags, server_id: request.server_id, file, position, gtid_set };
        block_on(self.inner.dump(&dump)).map_err(|error| ClientError::of(error, &self.address))?;
        Ok(LogStream { client: self, checksum })
    }
}

impl LogStream {
    /// How events are protected before the log says it.
    pub fn checksum(&self) -> ChecksumAlgorithm {
        self.checksum
    }

    /// The next event; `None` at the log's end.
    ///
    /// # Errors
    /// What the server says is wrong, or that the connection broke.
    pub fn next_event(&mut self) -> Result<Option<&[u8]>, ClientError> {
        let address = &self.client.address;
        block_on(self.client.inner.next_event()).map_err(|error| ClientError::of(error, address))
    }

    /// Whether the next one is here already.
    pub fn has_event(&mut self) -> bool {
        self.client.inner.has_event()
    }
}

fn tls_config(mode: tls::Mode, protection: &Protection) -> Result<Arc<tls::ClientConfig>, String> {
    let pem = tls::Pem { ca: read(&protection.ca)?, cert: read(&protection.cert)?, key: read(&protection.key)? };
    tls::config(mode, &pem)
}

fn server_key(protection: &Protection) -> Result<ServerKey, String> {
    match String::from_utf8_lossy(&read(&protection.public_key_path)?) {
        key if !key.is_empty() => Ok(ServerKey::Known(key.into_owned())),
        _ if protection.get_public_key => Ok(ServerKey::Ask),
        _ => Ok(ServerKey::Unknown),
    }
}

/// A file; nothing if none is named.
fn read(path: &Path) -> Result<Vec<u8>, String> {
    if path.as_os_str().is_empty() {
        return Ok(Vec::new());
    }
    std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn open(address: &str, patience: Option<Duration>) -> std::io::Result<TcpStream> {
    let mut last = ErrorKind::NotFound.into();
    for socket in address.to_socket_addrs()? {
        match TcpStream::connect_timeout(&socket, CONNECT_PATIENCE) {
            Ok(stream) => {
                stream.set_nodelay(true)?;
                stream.set_read_timeout(patience)?;
                return Ok(stream);
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// A socket whose futures are ready when they are first polled: they block.
struct BlockingStream {
    stream: TcpStream,
    peer: Peer,
}

impl Transport for BlockingStream {
    fn read<'a>(&'a mut self, into: &'a mut Vec<u8>) -> BoxFuture<'a, std::io::Result<usize>> {
        Box::pin(async move {
            let old = into.len();
            into.resize(old + READ_BYTES, 0);
            let read = loop {
                match self.stream.read(&mut into[old..]) {
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    read => break read,
                }
            };
            into.truncate(old + read.as_ref().copied().unwrap_or(0));
            read
        })
    }

    fn write_all<'a>(&'a mut self, data: &'a [u8]) -> BoxFuture<'a, std::io::Result<()>> {
        Box::pin(async move { self.stream.write_all(data) })
    }

    fn peer(&self) -> &Peer {
        &self.peer
    }
}
