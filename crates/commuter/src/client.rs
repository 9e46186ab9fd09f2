//! A small blocking client of the MySQL protocol, for the command line's own tools: one connection, statements as text.
//!
//! ```no_run
//! let server = "mysql://root:secret@127.0.0.1:3306".parse::<commuter::client::ServerUrl>()?;
//! let mut client = commuter::client::Client::connect(&server)?;
//! let result = client.query("SELECT 1")?;
//! assert_eq!(result.rows[0][0].as_deref(), Some(&b"1"[..]));
//! # Ok::<(), commuter::client::ClientError>(())
//! ```

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use base::SqlError;
use thiserror::Error;
use wire::client::{ClientLogin, Credentials, Step};
use wire::column::Column;
use wire::frame::PACKET_BYTES_MAX;
use wire::{PacketReader, PacketWriter, WireError, command, reply, row};

const CONNECT_PATIENCE: Duration = Duration::from_secs(10);
const READ_BYTES: usize = 64 << 10;
/// Buffers shrink to this between statements.
const KEPT_BYTES: usize = 64 << 10;

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
    /// Not of the form `mysql://USER:PASSWORD@HOST:PORT`.
    #[error("'{0}' is not of the form mysql://USER[:PASSWORD]@HOST[:PORT]")]
    Url(String),
}

impl ClientError {
    /// Whether the connection is gone, and with it the knowledge whether the last statement was done.
    pub fn is_connection_lost(&self) -> bool {
        matches!(self, ClientError::Io { .. })
    }
}

/// `mysql://USER:PASSWORD@HOST:PORT`; user `root`, no password and port 3306 if left out. `%XX` stands for a byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerUrl {
    /// Account name.
    pub user: String,
    /// Its password.
    pub password: String,
    /// Name or address.
    pub host: String,
    /// TCP port.
    pub port: u16,
}

impl ServerUrl {
    /// Root without a password on a loopback port.
    pub fn loopback(port: u16) -> Self {
        ServerUrl { user: "root".into(), password: String::new(), host: "127.0.0.1".into(), port }
    }

    /// `HOST:PORT`.
    pub fn address(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }
}

impl FromStr for ServerUrl {
    type Err = ClientError;

    fn from_str(text: &str) -> Result<Self, ClientError> {
        let bad = || ClientError::Url(text.to_owned());
        let rest = text.strip_prefix("mysql://").ok_or_else(bad)?.trim_end_matches('/');
        let (account, address) = rest.rsplit_once('@').unwrap_or(("root", rest));
        let (user, password) = account.split_once(':').unwrap_or((account, ""));
        let (host, port) = match address.rsplit_once(':') {
            Some((host, port)) => (host, port.parse().map_err(|_| bad())?),
            None => (address, 3306),
        };
        if host.is_empty() {
            return Err(bad());
        }
        let decode = |part: &str| percent_decoded(part).ok_or_else(bad);
        Ok(ServerUrl { user: decode(user)?, password: decode(password)?, host: host.to_owned(), port })
    }
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        if byte == b'%' {
            let digits = std::str::from_utf8(after.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &after[2..];
        } else {
            bytes.push(byte);
            rest = after;
        }
    }
    String::from_utf8(bytes).ok()
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
    stream: TcpStream,
    address: String,
    reader: PacketReader,
    writer: PacketWriter,
    capabilities: u32,
}

impl Client {
    /// Connects and logs in.
    ///
    /// # Errors
    /// When there is no server, or it does not let us in.
    pub fn connect(server: &ServerUrl) -> Result<Client, ClientError> {
        let address = server.address();
        let failed = |error| ClientError::Io { address: address.clone(), error };
        let stream = connect_to(&address).map_err(failed)?;
        stream.set_nodelay(true).map_err(failed)?;
        let mut client = Client {
            stream,
            address,
            reader: PacketReader::new(PACKET_BYTES_MAX),
            writer: PacketWriter::new(),
            capabilities: 0,
        };
        client.log_in(server)?;
        Ok(client)
    }

    /// Bounds each wait for the server.
    ///
    /// # Errors
    /// When the operating system refuses.
    pub fn set_patience(&mut self, patience: Duration) -> Result<(), ClientError> {
        self.stream.set_read_timeout(Some(patience)).map_err(|error| self.io_error(error))
    }

    fn log_in(&mut self, server: &ServerUrl) -> Result<(), ClientError> {
        let credentials = Credentials {
            user: server.user.clone(),
            password: server.password.clone(),
            attributes: vec![("program_name".into(), "commuter".into())],
            ..Credentials::default()
        };
        let mut login = ClientLogin::new(credentials, false, false);
        loop {
            let packet = self.packet()?;
            self.writer.set_sequence(self.reader.sequence());
            match login.packet(&packet, &mut self.writer).map_err(from_wire)? {
                Step::Done => break,
                Step::Continue => {}
                Step::Encrypt { key, message } => {
                    let random: Arc<dyn io::Random> = Arc::new(io::os::OsRandom);
                    let secret = session::key::encrypt(&random, &key, &message).map_err(ClientError::Protocol)?;
                    login.encrypted(&secret, &mut self.writer);
                }
                Step::StartTls => return Err(ClientError::Protocol("the server wants TLS".to_owned())),
            }
            self.send()?;
        }
        self.capabilities = login.capabilities();
        Ok(())
    }

    /// Runs one statement.
    ///
    /// # Errors
    /// What the server refused, or that the connection broke.
    pub fn query(&mut self, sql: &str) -> Result<QueryResult, ClientError> {
        self.reader.set_sequence(0);
        self.writer.set_sequence(0);
        self.writer.packet(|out| command::encode_query(out, sql));
        self.send()?;
        self.reader.set_sequence(1);
        let first = self.packet()?;
        if matches!(first.first(), Some(&(reply::OK | reply::ERR))) {
            let done = reply::read_done(&first).map_err(from_wire)?;
            return Ok(QueryResult { affected_rows: done.affected_rows, ..QueryResult::default() });
        }
        self.rows(&first)
    }

    fn rows(&mut self, header: &[u8]) -> Result<QueryResult, ClientError> {
        let count = wire::codec::Reader::new(header).lenenc("number of columns").map_err(from_wire)?;
        let mut result = QueryResult::default();
        for _ in 0..count {
            let column = Column::decode(&self.packet()?).map_err(from_wire)?;
            result.columns.push(column.name.clone());
        }
        if self.capabilities & wire::flags::capability::DEPRECATE_EOF == 0 {
            self.packet()?;
        }
        loop {
            let packet = self.packet()?;
            if packet.first() == Some(&reply::ERR) {
                return Err(ClientError::Refused(reply::read_err(&packet).map_err(from_wire)?));
            }
            if reply::is_end_of_rows(&packet) {
                return Ok(result);
            }
            let values = row::decode_text(&packet, result.columns.len()).map_err(from_wire)?;
            result.rows.push(values.into_iter().map(|value| value.map(<[u8]>::to_vec)).collect());
        }
    }

    fn packet(&mut self) -> Result<Vec<u8>, ClientError> {
        loop {
            if let Some(range) = self.reader.next_packet().map_err(from_wire)? {
                let packet = self.reader.buffer()[range].to_vec();
                self.reader.release(KEPT_BYTES);
                return Ok(packet);
            }
            let buffer = self.reader.buffer();
            let old = buffer.len();
            buffer.resize(old + READ_BYTES, 0);
            let read = self.stream.read(&mut buffer[old..]);
            buffer.truncate(old + read.as_ref().copied().unwrap_or(0));
            match read {
                Ok(0) => return Err(self.io_error(ErrorKind::UnexpectedEof.into())),
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(self.io_error(error)),
            }
        }
    }

    fn send(&mut self) -> Result<(), ClientError> {
        let sent = self.stream.write_all(self.writer.bytes());
        self.writer.sent(KEPT_BYTES);
        sent.map_err(|error| self.io_error(error))
    }

    fn io_error(&self, error: std::io::Error) -> ClientError {
        ClientError::Io { address: self.address.clone(), error }
    }
}

fn connect_to(address: &str) -> std::io::Result<TcpStream> {
    use std::net::ToSocketAddrs;
    let mut last = ErrorKind::NotFound.into();
    for socket in address.to_socket_addrs()? {
        match TcpStream::connect_timeout(&socket, CONNECT_PATIENCE) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn from_wire(error: WireError) -> ClientError {
    match error {
        WireError::Refused(refusal) => ClientError::Refused(refusal),
        other => ClientError::Protocol(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls() {
        let url: ServerUrl = "mysql://ada:p%40ss:word@db.example:3307".parse().unwrap();
        assert_eq!((url.user.as_str(), url.password.as_str()), ("ada", "p@ss:word"));
        assert_eq!(url.address(), "db.example:3307");
        assert_eq!("mysql://root@127.0.0.1:3306".parse::<ServerUrl>().unwrap(), ServerUrl::loopback(3306));
        assert_eq!("mysql://localhost".parse::<ServerUrl>().unwrap().port, 3306);
        for bad in ["http://x", "mysql://", "mysql://a@b:port", "mysql://a%4@b"] {
            assert!(bad.parse::<ServerUrl>().is_err(), "{bad}");
        }
    }
}
