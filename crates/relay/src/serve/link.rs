//! Packets over a transport, with what may end a wait: the relay's end, a newer dump of the same replica, time.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use base::SqlError;
use event_listener::Event;
use futures_lite::future::{or, poll_once};
use io::{BoxFuture, Clock};
use session::Transport;
use types::charset::Charset;
use wire::flags::{capability, status};
use wire::{PacketReader, PacketWriter, WireError, replication, reply};

/// The longest packet of a client: GTID sets are what may make one long.
const PACKET_BYTES_MAX: usize = 64 << 20;
/// The longest packet before a client has logged in.
const LOGIN_BYTES_MAX: usize = 128 << 10;
/// What a connection keeps of its buffers.
const BUFFER_KEPT: usize = 4 << 10;
/// Within this time a client takes what it is sent, or is given up.
const WRITE_TIMEOUT: Duration = Duration::from_secs(60);
/// So much is given to the system at once.
const SEND_BYTES: usize = 256 << 10;

/// Why a connection ends.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Ended {
    /// It said good bye, or its stream has ended.
    #[error("the end")]
    Quit,
    /// The stream failed or ended.
    #[error("connection lost: {0}")]
    Io(#[from] std::io::Error),
    /// Its bytes were not understood.
    #[error(transparent)]
    Wire(#[from] WireError),
    /// From here: the relay ends, or the replica has another connection.
    #[error("ended by the relay")]
    Killed,
    /// It did not come to its point in time.
    #[error("timed out")]
    TimedOut,
}

/// Asks one connection to end.
#[derive(Debug, Default)]
pub(crate) struct Ending {
    is_asked: AtomicBool,
    changed: Event,
}

impl Ending {
    pub(crate) fn ask(&self) {
        self.is_asked.store(true, Ordering::SeqCst);
        self.changed.notify(usize::MAX);
    }

    /// Never ready with a value: an error once it is asked for.
    async fn asked<T>(&self) -> Result<T, Ended> {
        loop {
            let changed = self.changed.listen();
            if self.is_asked.load(Ordering::SeqCst) {
                return Err(Ended::Killed);
            }
            changed.await;
        }
    }
}

/// A client's stream as packets.
pub(crate) struct Link {
    pub(crate) transport: Box<dyn Transport>,
    pub(crate) reader: PacketReader,
    pub(crate) writer: PacketWriter,
    /// What both sides can do.
    pub(crate) capabilities: u32,
    clock: Arc<dyn Clock>,
    ending: Arc<Ending>,
}

impl Link {
    pub(crate) fn new(transport: Box<dyn Transport>, clock: Arc<dyn Clock>, ending: Arc<Ending>) -> Self {
        let reader = PacketReader::new(LOGIN_BYTES_MAX);
        Link { transport, reader, writer: PacketWriter::new(), capabilities: 0, clock, ending }
    }

    /// The client is known: it may send what commands need.
    pub(crate) fn logged_in(&mut self) {
        self.reader.set_limit(PACKET_BYTES_MAX);
    }

    /// The next packet, as a range of the reader's buffer; those before it are forgotten. At most so long is waited for it.
    pub(crate) async fn packet(&mut self, patience: Duration) -> Result<Range<usize>, Ended> {
        loop {
            if let Some(packet) = self.reader.next_packet()? {
                return Ok(packet);
            }
            self.reader.release(BUFFER_KEPT);
            let read = async { self.transport.read(self.reader.buffer()).await.map_err(Ended::Io) };
            let late = timeout(&*self.clock, patience);
            if or(read, or(self.ending.asked(), late)).await? == 0 {
                return Err(std::io::Error::from(std::io::ErrorKind::UnexpectedEof).into());
            }
        }
    }

    /// The first packet of the next command.
    pub(crate) async fn command(&mut self, patience: Duration) -> Result<Range<usize>, Ended> {
        self.reader.set_sequence(0);
        let packet = self.packet(patience).await?;
        self.writer.set_sequence(self.reader.sequence());
        Ok(packet)
    }

    /// Sends what was written.
    pub(crate) async fn send(&mut self) -> Result<(), Ended> {
        for piece in self.writer.bytes().chunks(SEND_BYTES) {
            let write = async { self.transport.write_all(piece).await.map_err(Ended::Io) };
            or(write, or(self.ending.asked(), timeout(&*self.clock, WRITE_TIMEOUT))).await?;
        }
        self.writer.sent(BUFFER_KEPT);
        Ok(())
    }

    /// Waits for `what`, or until the client says something: whether it was the first. `Err` if the client has gone or is to end meanwhile.
    pub(crate) async fn wait_for(&mut self, what: BoxFuture<'_, ()>) -> Result<bool, Ended> {
        let heard = async {
            match self.transport.read(self.reader.buffer()).await? {
                0 => Err(std::io::Error::from(std::io::ErrorKind::UnexpectedEof).into()),
                _ => Ok(false),
            }
        };
        let done = async {
            what.await;
            Ok(true)
        };
        or(done, or(heard, self.ending.asked())).await
    }

    /// What the client has said while it is sent a log; `None` if there is nothing whole. Does not wait.
    pub(crate) async fn said(&mut self) -> Result<Option<Range<usize>>, Ended> {
        self.reader.set_sequence(0);
        if !self.reader.has_packet()
            && poll_once(self.transport.read(self.reader.buffer())).await.transpose()? == Some(0)
        {
            return Err(std::io::Error::from(std::io::ErrorKind::UnexpectedEof).into());
        }
        let packet = self.reader.next_packet()?;
        if packet.is_none() {
            self.reader.release(BUFFER_KEPT);
        }
        Ok(packet)
    }

    /// Appends one event of a log.
    pub(crate) fn event(&mut self, bytes: &[u8]) {
        self.writer.packet(|out| {
            out.push(replication::EVENT);
            out.extend_from_slice(bytes);
        });
    }

    /// The same with the header of semi-synchronous replication: whether the event is to be acknowledged.
    pub(crate) fn semi_sync_event(&mut self, bytes: &[u8], asks: bool) {
        self.writer.packet(|out| {
            out.extend_from_slice(&[replication::EVENT, replication::SEMI_SYNC, asks.into()]);
            out.extend_from_slice(bytes);
        });
        if asks {
            // Both sides begin to count anew: 0 is the acknowledgement.
            self.writer.set_sequence(1);
        }
    }

    pub(crate) fn write_ok(&mut self) {
        let ok = reply::Ok { status: status::AUTOCOMMIT, ..reply::Ok::default() };
        reply::write_ok(&mut self.writer, self.capabilities, &ok);
    }

    pub(crate) fn write_err(&mut self, error: &SqlError) {
        reply::write_err(&mut self.writer, self.capabilities, error, Charset::Utf8Mb4);
    }

    /// Whether result sets end with an OK in place of an EOF.
    pub(crate) fn deprecates_eof(&self) -> bool {
        self.capabilities & capability::DEPRECATE_EOF != 0
    }
}

/// Never ready with a value: an error after some time.
async fn timeout<T>(clock: &dyn Clock, after: Duration) -> Result<T, Ended> {
    clock.sleep(after).await;
    Err(Ended::TimedOut)
}
