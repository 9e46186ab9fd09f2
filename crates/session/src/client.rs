//! A client of a MySQL-protocol server: for followers, and for tools that ask servers something.
//!
//! One command at a time; results either whole ([`Client::query`]) or row by row ([`Client::query_rows`]).

use std::ops::Range;
use std::sync::Arc;

use base::{ErrorClass, SqlError};
use io::Random;
use wire::client::{ClientLogin, Credentials, Step};
use wire::column::OwnedColumn;
use wire::replication::{self, BinlogDump, SemiSyncAck, StreamPacket, decode_semi_sync, decode_stream};
use wire::reply::{self, Done};
use wire::{PacketReader, PacketWriter, WireError, codec, command, frame, row};

use crate::key;
use crate::transport::Transport;

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The stream failed or ended.
    #[error("connection lost: {0}")]
    Io(#[from] std::io::Error),
    /// TLS could not be begun; the reason is often the server's certificate.
    #[error("SSL connection error: {0}")]
    Tls(std::io::Error),
    /// The server's bytes were not understood, or it refused ([`WireError::Refused`]).
    #[error(transparent)]
    Wire(#[from] WireError),
}

impl ClientError {
    /// What a caller can do.
    pub fn class(&self) -> ErrorClass {
        match self {
            ClientError::Io(_) | ClientError::Tls(_) => ErrorClass::Io,
            ClientError::Wire(error) => error.class(),
        }
    }

    /// The server's own error, if it is one: the connection can still be used.
    pub fn refused(&self) -> Option<&SqlError> {
        match self {
            ClientError::Wire(WireError::Refused(error)) => Some(error),
            _ => None,
        }
    }
}

/// The whole result of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryResult {
    /// Empty if there was no result set.
    pub columns: Vec<OwnedColumn>,
    /// Text of each value, `None` for NULL.
    pub rows: Vec<Vec<Option<String>>>,
    /// From OK, or from the end of the rows.
    pub done: Done,
}

impl QueryResult {
    /// The first column of the first row.
    pub fn first(&self) -> Option<&str> {
        self.rows.first()?.first()?.as_deref()
    }
}

/// A connection that is logged in.
pub struct Client {
    transport: Box<dyn Transport>,
    reader: PacketReader,
    writer: PacketWriter,
    capabilities: u32,
    server_version: String,
    semi_sync: SemiSync,
}

/// Whether the stream's events have the header of semi-synchronous replication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SemiSync {
    No,
    /// We have asked for it; the first packet shows it: an event that begins it has no time, so its first byte is 0.
    Asked,
    /// They have; and whether the last event is to be acknowledged.
    Yes {
        asks: bool,
    },
}

/// The longest packet of a login, and of an answer that is no row and no event: a server that is not what it should be takes no more memory.
const SMALL_BYTES_MAX: usize = 128 << 10;

/// What a client keeps of its buffers: room for a full read and a half-read packet.
const BUFFER_KEPT: usize = 512 << 10;

impl Client {
    /// Logs in over a fresh stream. If the credentials ask for TLS, it must be one that can start it ([`crate::tls`]).
    #[io::boxed]
    pub async fn connect(
        transport: Box<dyn Transport>,
        random: &Arc<dyn Random>,
        credentials: Credentials,
    ) -> Result<Self, ClientError> {
        let mut client = Client {
            transport,
            reader: PacketReader::new(SMALL_BYTES_MAX),
            writer: PacketWriter::new(),
            capabilities: 0,
            server_version: String::new(),
            semi_sync: SemiSync::No,
        };
        let protected = client.transport.peer().protected;
        let mut login = ClientLogin::new(credentials, protected);
        loop {
            let packet = client.read_small_packet().await?;
            client.writer.set_sequence(client.reader.sequence());
            let mut step = login.packet(&client.reader.buffer()[packet], &mut client.writer)?;
            if let Step::Encrypt { key, message } = &step {
                let encrypted = key::encrypt(random, key, message)
                    .map_err(|why| WireError::NotSupported(format!("the server's public key: {why}")))?;
                login.encrypted(&encrypted, &mut client.writer);
                step = Step::Continue;
            }
            client.send().await?;
            if step == Step::StartTls {
                client.start_tls(&mut login).await?;
            }
            if step == Step::Done {
                break;
            }
        }
        client.capabilities = login.capabilities();
        client.server_version = login.greeting().map(|g| g.server_version.clone()).unwrap_or_default();
        Ok(client)
    }

    async fn start_tls(&mut self, login: &mut ClientLogin) -> Result<(), ClientError> {
        let unread = self.reader.take_unread();
        self.transport.start_tls(unread).await.map_err(ClientError::Tls)?;
        login.tls_started(&mut self.writer);
        self.send().await
    }

    /// The server's version, from its greeting.
    pub fn server_version(&self) -> &str {
        &self.server_version
    }

    /// Executes one statement and reads its whole result.
    #[io::boxed]
    pub async fn query(&mut self, text: &str) -> Result<QueryResult, ClientError> {
        let mut rows = Vec::new();
        let (columns, done) = self
            .query_rows(text, |row| {
                rows.push(row.iter().map(|value| value.map(codec::text)).collect());
            })
            .await?;
        Ok(QueryResult { columns, rows, done })
    }

    /// Executes one statement and gives each row to `each`.
    pub async fn query_rows(
        &mut self,
        text: &str,
        mut each: impl FnMut(&[Option<&[u8]>]) + Send,
    ) -> Result<(Vec<OwnedColumn>, Done), ClientError> {
        self.command(|out| command::encode_query(out, text)).await?;
        let packet = self.read_small_packet().await?;
        let first = &self.reader.buffer()[packet];
        if matches!(first.first(), Some(&(reply::OK | reply::ERR))) {
            return Ok((Vec::new(), reply::read_done(first)?));
        }
        let count = codec::Reader::new(first).lenenc("number of columns")? as usize;
        let mut columns = Vec::new();
        for _ in 0..count {
            let packet = self.read_small_packet().await?;
            columns.push(OwnedColumn::decode(&self.reader.buffer()[packet])?);
        }
        if self.capabilities & wire::flags::capability::DEPRECATE_EOF == 0 {
            self.read_packet().await?;
        }
        loop {
            let packet = self.read_packet().await?;
            let packet = &self.reader.buffer()[packet];
            match packet.first() {
                Some(&reply::ERR) => return Err(WireError::Refused(reply::read_err(packet)?).into()),
                _ if reply::is_end_of_rows(packet) => return Ok((columns, reply::read_done(packet)?)),
                _ => each(&row::decode_text(packet, count)?),
            }
        }
    }

    /// Registers as a replica.
    #[io::boxed]
    pub async fn register(&mut self, register: &wire::replication::RegisterReplica) -> Result<(), ClientError> {
        self.command(|out| register.encode(out)).await?;
        let packet = self.read_small_packet().await?;
        reply::read_done(&self.reader.buffer()[packet])?;
        Ok(())
    }

    /// Asks for the log; [`Client::next_event`] then reads it.
    #[io::boxed]
    pub async fn dump(&mut self, dump: &BinlogDump) -> Result<(), ClientError> {
        self.command(|out| dump.encode(out)).await
    }

    /// The next event of the log; `None` where the server says that it has no more. Dropping the future loses nothing.
    pub async fn next_event(&mut self) -> Result<Option<&[u8]>, ClientError> {
        let packet = self.read_packet().await?;
        if let StreamPacket::Event(&[first, ..]) = decode_stream(&self.reader.buffer()[packet.clone()])?
            && self.semi_sync == SemiSync::Asked
        {
            let is_semi_sync = first == replication::SEMI_SYNC;
            self.semi_sync = if is_semi_sync { SemiSync::Yes { asks: false } } else { SemiSync::No };
        }
        let StreamPacket::Event(event) = decode_stream(&self.reader.buffer()[packet.clone()])? else {
            return Ok(None);
        };
        if let SemiSync::Yes { .. } = self.semi_sync {
            let asks = decode_semi_sync(event)?.0;
            self.semi_sync = SemiSync::Yes { asks };
            if asks {
                // Both sides begin to count anew: with the acknowledgement.
                self.reader.set_sequence(1);
            }
            return Ok(Some(decode_semi_sync(&self.reader.buffer()[packet][1..])?.1));
        }
        Ok(Some(&self.reader.buffer()[packet][1..]))
    }

    /// Tells the server that we acknowledge what it asks for, if it can ask. Before [`Client::dump`].
    ///
    /// # Errors
    /// As [`Client::query`].
    #[io::boxed]
    pub async fn offer_semi_sync(&mut self) -> Result<(), ClientError> {
        for variable in ["rpl_semi_sync_source_enabled", "rpl_semi_sync_master_enabled"] {
            match self.query(&format!("SELECT @@global.{variable}")).await {
                Ok(_) => {
                    self.query("SET @rpl_semi_sync_replica = 1, @rpl_semi_sync_slave = 1").await?;
                    self.semi_sync = SemiSync::Asked;
                    return Ok(());
                }
                Err(error) if error.refused().is_some() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Whether the stream is one that asks for acknowledgements.
    pub fn is_semi_sync(&self) -> bool {
        matches!(self.semi_sync, SemiSync::Yes { .. })
    }

    /// Whether the last event is to be acknowledged.
    pub fn asks_for_acknowledgement(&self) -> bool {
        self.semi_sync == SemiSync::Yes { asks: true }
    }

    /// Says that everything up to there is synced.
    ///
    /// # Errors
    /// When the connection is lost.
    #[io::boxed]
    pub async fn acknowledge(&mut self, ack: &SemiSyncAck) -> Result<(), ClientError> {
        self.writer.set_sequence(0);
        self.writer.packet(|out| ack.encode(out));
        self.transport.write_all(self.writer.bytes()).await?;
        self.writer.sent(BUFFER_KEPT);
        Ok(())
    }

    /// Whether a whole event is here already, so that [`Client::next_event`] need not wait.
    pub fn has_event(&mut self) -> bool {
        self.reader.has_packet()
    }

    /// Says good bye.
    #[io::boxed]
    pub async fn quit(mut self) -> Result<(), ClientError> {
        self.command(|out| out.push(wire::flags::com::QUIT)).await
    }

    /// Sends a command; its answers are read by [`Client::read_packet`].
    async fn command(&mut self, fill: impl FnOnce(&mut Vec<u8>) + Send) -> Result<(), ClientError> {
        self.writer.set_sequence(0);
        self.writer.packet(fill);
        self.send().await
    }

    async fn send(&mut self) -> Result<(), ClientError> {
        if !self.writer.is_empty() {
            self.transport.write_all(self.writer.bytes()).await?;
            self.writer.sent(BUFFER_KEPT);
            self.reader.set_sequence(self.writer.sequence());
        }
        Ok(())
    }

    /// The next packet, as a range of the reader's buffer; the ones before are forgotten.
    async fn read_packet(&mut self) -> Result<Range<usize>, ClientError> {
        self.reader.set_limit(frame::PACKET_BYTES_MAX);
        self.read_limited().await
    }

    /// The same for one that has no reason to be long.
    async fn read_small_packet(&mut self) -> Result<Range<usize>, ClientError> {
        self.reader.set_limit(SMALL_BYTES_MAX);
        self.read_limited().await
    }

    async fn read_limited(&mut self) -> Result<Range<usize>, ClientError> {
        loop {
            if let Some(packet) = self.reader.next_packet()? {
                return Ok(packet);
            }
            self.reader.release(BUFFER_KEPT);
            if self.transport.read(self.reader.buffer()).await? == 0 {
                return Err(std::io::Error::from(std::io::ErrorKind::UnexpectedEof).into());
            }
        }
    }
}
