//! Packets over a transport, with what may end a wait: KILL, shutdown, timeouts.

use std::future::{Future, poll_fn};
use std::io::ErrorKind;
use std::ops::Range;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use base::{Cancelled, ConnectionId, SqlError, codes, memory};
use engine::SessionHandle;
use futures_lite::future::{or, poll_once};
use io::{BoxFuture, Clock};
use sql::Traffic;
use wire::compress::{Algorithm, Compression};
use wire::{PacketReader, PacketWriter, WireError};

use crate::transport::Transport;

/// Why a connection ends.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Ended {
    /// The client said good bye, or the connection became a stream that has ended.
    #[error("the end")]
    Quit,
    /// The client closed the stream between two commands.
    #[error("the client has gone")]
    Closed,
    /// The stream failed, or ended inside a packet.
    #[error("connection lost: {0}")]
    Io(#[from] std::io::Error),
    /// The client's bytes were not understood.
    #[error(transparent)]
    Wire(#[from] WireError),
    /// A packet is larger than the connection's memory may be.
    #[error(transparent)]
    Memory(SqlError),
    /// KILL or shutdown.
    #[error("killed")]
    Killed,
    /// The client took too long to read.
    #[error("the client did not read in time")]
    WriteTimeout,
    /// The client took too long to send the rest of a packet.
    #[error("the rest of a packet did not come in time")]
    ReadTimeout,
    /// KILL QUERY while a statement read from its client.
    #[error("the statement was killed")]
    Interrupted,
    /// A statement panicked; its session is not to be trusted any more.
    #[error("a statement failed by a bug")]
    Bug,
}

impl From<Ended> for SqlError {
    fn from(ended: Ended) -> Self {
        match ended {
            Ended::Interrupted => SqlError::new(codes::QUERY_INTERRUPTED, "Query execution was interrupted"),
            Ended::Memory(error) => error,
            _ => SqlError::new(
                codes::NET_ERROR_ON_WRITE,
                format!("Got an error writing communication packets ({ended})"),
            ),
        }
    }
}

/// So much is read at once, at the most.
const READ_BYTES: usize = 1 << 20;
/// A client that has stopped to send is one that reads.
const DISCARD_PAUSE: Duration = Duration::from_millis(100);
/// More is not read of a client that does not stop.
const DISCARDED_READS_MAX: u32 = 100_000;
/// A client that takes so much of a long answer in time is alive.
const SEND_BYTES: usize = 256 << 10;
/// What a connection keeps of its writer's buffer within one command.
const BUFFER_KEPT: usize = 16 << 10;
/// What it keeps of each buffer while it is idle: enough for most commands and their answers, little for thousands of
/// idle connections.
const BUFFER_KEPT_IDLE: usize = 1 << 10;

/// Counts what goes through a stream, at once for all sessions.
struct Meter {
    id: ConnectionId,
    /// What its own session has not counted yet.
    traffic: Traffic,
    shared: Arc<sql::Shared>,
}

impl Meter {
    fn count(&mut self, traffic: Traffic) {
        self.traffic.received += traffic.received;
        self.traffic.sent += traffic.sent;
        self.shared.counters.add_traffic(self.id, traffic);
    }
}

/// A client's stream as packets.
pub(crate) struct Link {
    pub(crate) transport: Box<dyn Transport>,
    pub(crate) reader: PacketReader,
    pub(crate) writer: PacketWriter,
    /// What both sides can do.
    pub(crate) capabilities: u32,
    /// Both sides compress what they send.
    compression: Option<Box<Compression>>,
    /// `net_write_timeout`
    pub(crate) write_timeout: Duration,
    /// `net_read_timeout`
    pub(crate) read_timeout: Duration,
    /// Something was sent in part: nothing that follows could be understood.
    is_broken: bool,
    /// A statement reads from the client: KILL QUERY ends the wait.
    is_read_by_statement: bool,
    meter: Meter,
    clock: Arc<dyn Clock>,
    handle: Arc<SessionHandle>,
    /// Waits for KILL while the connection is idle; kept from one wait to the next, because making one costs more
    /// than a look at it.
    killed: Option<Pin<Box<dyn Future<Output = Cancelled> + Send>>>,
}

impl Link {
    pub(crate) fn new(
        transport: Box<dyn Transport>,
        shared: Arc<sql::Shared>,
        handle: Arc<SessionHandle>,
        packet_limit: usize,
    ) -> Self {
        Link {
            transport,
            reader: PacketReader::new(packet_limit),
            writer: PacketWriter::new(),
            capabilities: 0,
            compression: None,
            write_timeout: Duration::from_secs(60),
            read_timeout: Duration::from_secs(30),
            is_broken: false,
            is_read_by_statement: false,
            clock: shared.env.clock.clone(),
            meter: Meter { id: handle.connection_id, traffic: Traffic::default(), shared },
            handle,
            killed: None,
        }
    }

    /// What was read and sent since the last time.
    pub(crate) fn take_traffic(&mut self) -> Traffic {
        std::mem::take(&mut self.meter.traffic)
    }

    /// Everything is compressed from here on, both ways.
    pub(crate) fn compress(&mut self, algorithm: Algorithm) {
        self.compression = Some(Box::new(Compression::new(algorithm)));
        self.reader.take_any_sequence();
    }

    /// The algorithm and its level, if it is compressed.
    pub(crate) fn compression(&self) -> Option<(&'static str, u32)> {
        let algorithm = self.compression.as_ref()?.algorithm();
        Some((algorithm.name(), algorithm.level()))
    }

    /// The next packet, as a range of the reader's buffer; those before it are forgotten.
    pub(crate) async fn packet(&mut self) -> Result<Range<usize>, Ended> {
        loop {
            if let Some(packet) = self.reader.next_packet()? {
                return Ok(packet);
            }
            self.reader.release(BUFFER_KEPT_IDLE);
            let between_packets = self.reader.is_empty();
            let read = if between_packets { self.read().await? } else { self.read_rest().await? };
            if read == 0 {
                let ended = std::io::Error::from(std::io::ErrorKind::UnexpectedEof);
                return Err(if between_packets { Ended::Closed } else { Ended::Io(ended) });
            }
        }
    }

    /// The first packet of the next command. A killed statement is forgotten: there is none.
    pub(crate) async fn command(&mut self) -> Result<Range<usize>, Ended> {
        self.reader.set_sequence(0);
        let packet = self.packet().await?;
        self.writer.set_sequence(self.reader.sequence());
        Ok(packet)
    }

    /// The next packet of something that the client sends for a statement. It has `net_read_timeout` for each part of it; KILL of the
    /// statement ends the wait unless it is to be `patient`.
    pub(crate) async fn packet_for_statement(&mut self, patient: bool) -> Result<Range<usize>, Ended> {
        loop {
            if let Some(packet) = self.reader.next_packet()? {
                return Ok(packet);
            }
            self.reader.release(BUFFER_KEPT);
            self.is_read_by_statement = !patient;
            let read = self.read_rest().await;
            self.is_read_by_statement = false;
            if read? == 0 {
                return Err(Ended::Io(std::io::ErrorKind::UnexpectedEof.into()));
            }
        }
    }

    /// Reads more of a packet that has begun.
    async fn read_rest(&mut self) -> Result<usize, Ended> {
        let (clock, timeout) = (self.clock.clone(), self.read_timeout);
        let mut read = pin!(self.read());
        if let Some(result) = poll_once(read.as_mut()).await {
            return result;
        }
        let timed_out = async {
            clock.sleep(timeout).await;
            Err(Ended::ReadTimeout)
        };
        or(read, timed_out).await
    }

    /// Reads what there is, or waits until there is something or the connection is killed.
    async fn read(&mut self) -> Result<usize, Ended> {
        let buffer = self.reader.buffer();
        if buffer.len() > READ_BYTES {
            memory::check_room(buffer, READ_BYTES).map_err(Ended::Memory)?;
        }
        let (transport, compression) = (&mut *self.transport, self.compression.as_deref_mut());
        let mut read = pin!(read_frames(transport, compression, self.reader.buffer(), &mut self.meter));
        let (handle, killed, ends) = (&self.handle, &mut self.killed, self.is_read_by_statement);
        poll_fn(|cx| {
            if let Poll::Ready(result) = read.as_mut().poll(cx) {
                return Poll::Ready(result.map_err(Ended::Io));
            }
            loop {
                let waiting = killed.get_or_insert_with(|| {
                    let handle = handle.clone();
                    Box::pin(async move { handle.cancel.cancelled().await })
                });
                match waiting.as_mut().poll(cx) {
                    Poll::Pending => return Poll::Pending,
                    Poll::Ready(Cancelled::Connection) => return Poll::Ready(Err(Ended::Killed)),
                    Poll::Ready(Cancelled::Statement) if ends => {
                        *killed = None;
                        return Poll::Ready(Err(Ended::Interrupted));
                    }
                    Poll::Ready(Cancelled::Statement) => {
                        handle.cancel.next_statement();
                        *killed = None;
                    }
                }
            }
        })
        .await
    }

    /// Sends what was written. The client has `net_write_timeout` for each piece of it.
    pub(crate) async fn send(&mut self) -> Result<(), Ended> {
        if self.writer.is_empty() {
            return Ok(());
        }
        if std::mem::replace(&mut self.is_broken, true) {
            return Err(std::io::Error::from(std::io::ErrorKind::BrokenPipe).into());
        }
        let mut packed = Vec::new();
        for piece in self.writer.bytes().chunks(SEND_BYTES) {
            let piece = match &mut self.compression {
                None => piece,
                Some(compression) => {
                    packed.clear();
                    compression.pack(piece, &mut packed);
                    &packed
                }
            };
            self.meter.count(Traffic { received: 0, sent: piece.len() as u64 });
            let mut write = pin!(self.transport.write_all(piece));
            // Nearly always the socket takes it all at once.
            match poll_once(write.as_mut()).await {
                Some(result) => result?,
                None => {
                    let timeout = self.clock.sleep(self.write_timeout);
                    or(async { write.await.map_err(Ended::Io) }, give_up(&self.handle, timeout)).await?;
                }
            }
        }
        self.is_broken = false;
        self.writer.sent(BUFFER_KEPT);
        Ok(())
    }

    /// Reads what the client is still sending, and forgets it, before its connection is closed: else its system could throw our
    /// last words away before it has read them.
    pub(crate) async fn discard(&mut self) {
        let clock = self.clock.clone();
        let mut reads_left = DISCARDED_READS_MAX;
        loop {
            drop(self.reader.take_unread());
            let pause = async {
                clock.sleep(DISCARD_PAUSE).await;
                Ok(0)
            };
            reads_left -= 1;
            if reads_left == 0 || matches!(or(self.read(), pause).await, Ok(0) | Err(_)) {
                return;
            }
        }
    }

    /// Takes the memory of a command's packet back.
    pub(crate) fn recycle(&mut self, buffer: Vec<u8>) {
        self.reader.recycle(buffer, BUFFER_KEPT_IDLE);
    }

    /// Gives most of the write buffer's memory back, before a wait that may be long.
    pub(crate) fn rest(&mut self) {
        self.writer.sent(BUFFER_KEPT_IDLE);
    }

    /// Waits for `what`, or until the client has sent something, which is kept: whether it was the first. `Err` if the client has
    /// gone or was killed meanwhile.
    pub(crate) async fn wait_for(&mut self, what: BoxFuture<'_, ()>) -> Result<bool, Ended> {
        let said = async {
            match self.read().await? {
                0 => Err(Ended::Closed),
                _ => Ok(false),
            }
        };
        let done = async {
            what.await;
            Ok(true)
        };
        or(done, said).await
    }

    /// The next packet of a client that says something by itself, each with sequence number 0, if it is here.
    pub(crate) async fn said_meanwhile(&mut self) -> Result<Option<Vec<u8>>, Ended> {
        self.reader.set_sequence(0);
        if !self.reader.has_packet() && poll_once(self.read()).await.transpose()? == Some(0) {
            return Err(Ended::Closed);
        }
        let packet = self.reader.next_packet()?.map(|packet| self.reader.buffer()[packet].to_vec());
        self.reader.release(BUFFER_KEPT_IDLE);
        Ok(packet)
    }
}

/// Reads what there is; of compressed frames until one has brought something. Nothing is lost when the future is dropped.
async fn read_frames(
    transport: &mut dyn Transport,
    compression: Option<&mut Compression>,
    into: &mut Vec<u8>,
    meter: &mut Meter,
) -> std::io::Result<usize> {
    let Some(compression) = compression else {
        let read = transport.read(into).await?;
        meter.count(Traffic { received: read as u64, sent: 0 });
        return Ok(read);
    };
    let before = into.len();
    loop {
        while into.len() == before {
            let is_whole =
                compression.unpack(into).map_err(|error| std::io::Error::new(ErrorKind::InvalidData, error))?;
            if !is_whole {
                break;
            }
        }
        if into.len() > before {
            return Ok(into.len() - before);
        }
        let read = transport.read(compression.buffer()).await?;
        meter.count(Traffic { received: read as u64, sent: 0 });
        if read == 0 {
            return Ok(0);
        }
    }
}

/// KILL of the connection, or the time is over. KILL of the statement must not cut a packet in two.
async fn give_up(handle: &SessionHandle, timeout: BoxFuture<'static, ()>) -> Result<(), Ended> {
    let killed = async {
        match handle.cancel.cancelled().await {
            Cancelled::Connection => Err(Ended::Killed),
            Cancelled::Statement => std::future::pending().await,
        }
    };
    let timed_out = async {
        timeout.await;
        Err(Ended::WriteTimeout)
    };
    or(killed, timed_out).await
}
