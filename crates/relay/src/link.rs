//! A client's stream as packets, with what may end a wait.

use std::future::Future;
use std::io::{Error, ErrorKind};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use base::SqlError;
use futures_lite::future::or;
use io::Clock;
use session::Transport;
use wire::{PacketReader, PacketWriter, WireError, reply};

/// Why a connection ends.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Ended {
    #[error("the client has gone")]
    Closed,
    #[error("connection lost: {0}")]
    Io(#[from] Error),
    #[error(transparent)]
    Wire(#[from] WireError),
}

/// The longest packet of a client: a GTID set is the longest that one sends.
const PACKET_BYTES_MAX: usize = 16 << 20;
/// What a connection keeps of its buffers.
const KEPT_BYTES: usize = 256 << 10;
/// A client has so long for each piece that it is sent.
const SEND_TIMEOUT: Duration = Duration::from_secs(60);
const SEND_BYTES: usize = 256 << 10;

pub(crate) struct Link<T> {
    pub(crate) transport: T,
    pub(crate) reader: PacketReader,
    pub(crate) writer: PacketWriter,
    /// What both sides can do.
    pub(crate) capabilities: u32,
    clock: Arc<dyn Clock>,
}

impl<T: Transport> Link<T> {
    pub(crate) fn new(transport: T, clock: Arc<dyn Clock>) -> Self {
        let reader = PacketReader::new(PACKET_BYTES_MAX);
        Link { transport, reader, writer: PacketWriter::new(), capabilities: 0, clock }
    }

    /// The next packet, as a range of the reader's buffer, in so much time.
    pub(crate) async fn packet(&mut self, patience: Duration) -> Result<Range<usize>, Ended> {
        let clock = self.clock.clone();
        let read = async {
            loop {
                if let Some(packet) = self.reader.next_packet()? {
                    return Ok(packet);
                }
                self.reader.release(KEPT_BYTES);
                if self.transport.read(self.reader.buffer()).await? == 0 {
                    return Err(Ended::Closed);
                }
            }
        };
        let late = async {
            clock.sleep(patience).await;
            Err(Error::from(ErrorKind::TimedOut).into())
        };
        or(read, late).await
    }

    /// Sends what was written.
    pub(crate) async fn send(&mut self) -> Result<(), Ended> {
        for piece in self.writer.bytes().chunks(SEND_BYTES) {
            let clock = self.clock.clone();
            let late = async {
                clock.sleep(SEND_TIMEOUT).await;
                Err(Error::from(ErrorKind::TimedOut))
            };
            or(self.transport.write_all(piece), late).await?;
        }
        self.writer.sent(KEPT_BYTES);
        Ok(())
    }

    pub(crate) async fn refuse(&mut self, error: &SqlError) -> Result<(), Ended> {
        reply::write_err(&mut self.writer, self.capabilities, error);
        self.send().await
    }

    /// Waits for something; an error if the client goes meanwhile. What it sends is kept.
    pub(crate) async fn wait_for(&mut self, what: impl Future<Output = ()> + Send) -> Result<(), Ended> {
        let gone = async {
            loop {
                if self.transport.read(self.reader.buffer()).await? == 0 {
                    return Err(Ended::Closed);
                }
                if self.reader.buffer().len() > PACKET_BYTES_MAX {
                    return Err(WireError::Malformed("bytes of a client that was to listen").into());
                }
            }
        };
        let done = async {
            what.await;
            Ok(())
        };
        or(done, gone).await
    }
}
