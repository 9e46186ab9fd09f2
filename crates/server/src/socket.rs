//! Clients' sockets as the session's transport: TCP, Unix, and TLS over TCP.

use std::io::{Error, ErrorKind, Result};
use std::os::fd::{AsRawFd, RawFd};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use io::BoxFuture;
use parking_lot::Mutex;
use session::{Peer, Presence, Transport};
use sql::session::TlsFacts;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::certificate;

/// A client's socket.
pub(crate) struct Socket {
    watched: Arc<Watched>,
    stream: Stream,
    peer: Peer,
    tls: Option<TlsAcceptor>,
}

/// The socket's descriptor, for those who look whether the client is still there; nothing once the socket is closed.
struct Watched(Mutex<Option<RawFd>>);

impl Presence for Watched {
    #[expect(unsafe_code, reason = "a peek at a socket that another task owns has no wrapper in std or tokio")]
    fn is_gone(&self) -> bool {
        let descriptor = self.0.lock();
        let Some(descriptor) = *descriptor else { return true };
        let mut byte = 0u8;
        // SAFETY: the buffer is one byte that lives across the call. The descriptor is open: its owner takes it out under the
        // lock that is held here, before it closes it.
        let read = unsafe { libc::recv(descriptor, (&raw mut byte).cast(), 1, libc::MSG_PEEK | libc::MSG_DONTWAIT) };
        match read {
            0 => true,
            1.. => false,
            _ => !matches!(Error::last_os_error().kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted),
        }
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        *self.watched.0.lock() = None;
    }
}

enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
    Tls(Box<TlsStream<Rewound>>),
    /// A TLS handshake failed.
    Broken,
}

/// With less room than this in the caller's buffer, more is made once there is something to read.
const ROOM_MIN: usize = 256;
const READ_BYTES_MIN: usize = 4 << 10;
const READ_BYTES_MAX: usize = 1 << 20;

impl Socket {
    pub(crate) fn tcp(stream: TcpStream, peer: Peer, tls: Option<TlsAcceptor>) -> Self {
        Socket { watched: watched(&stream), stream: Stream::Tcp(stream), peer, tls }
    }

    pub(crate) fn unix(stream: UnixStream, peer: Peer) -> Self {
        Socket { watched: watched(&stream), stream: Stream::Unix(stream), peer, tls: None }
    }
}

fn watched(stream: &impl AsRawFd) -> Arc<Watched> {
    Arc::new(Watched(Mutex::new(Some(stream.as_raw_fd()))))
}

/// Room for what comes next: as much again as is there, for long packets.
fn make_room(into: &mut Vec<u8>) {
    into.reserve(into.len().clamp(READ_BYTES_MIN, READ_BYTES_MAX));
}

fn lacks_room(into: &[u8], capacity: usize) -> bool {
    capacity - into.len() < ROOM_MIN
}

impl Transport for Socket {
    fn read<'a>(&'a mut self, into: &'a mut Vec<u8>) -> BoxFuture<'a, Result<usize>> {
        Box::pin(async move {
            let lacks_room = lacks_room(into, into.capacity());
            match &mut self.stream {
                Stream::Tcp(stream) => {
                    if lacks_room {
                        stream.readable().await?;
                        make_room(into);
                    }
                    stream.read_buf(into).await
                }
                Stream::Unix(stream) => {
                    if lacks_room {
                        stream.readable().await?;
                        make_room(into);
                    }
                    stream.read_buf(into).await
                }
                Stream::Tls(stream) => {
                    if lacks_room {
                        make_room(into);
                    }
                    stream.read_buf(into).await
                }
                Stream::Broken => Err(ErrorKind::NotConnected.into()),
            }
        })
    }

    fn write_all<'a>(&'a mut self, data: &'a [u8]) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            match &mut self.stream {
                Stream::Tcp(stream) => stream.write_all(data).await,
                Stream::Unix(stream) => stream.write_all(data).await,
                Stream::Tls(stream) => {
                    stream.write_all(data).await?;
                    stream.flush().await
                }
                Stream::Broken => Err(ErrorKind::NotConnected.into()),
            }
        })
    }

    fn start_tls(&mut self, unread: Vec<u8>) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move {
            let Some(tls) = self.tls.take() else {
                return Err(Error::new(ErrorKind::Unsupported, "no TLS on this socket"));
            };
            let Stream::Tcp(stream) = std::mem::replace(&mut self.stream, Stream::Broken) else {
                return Err(Error::new(ErrorKind::Unsupported, "TLS is for TCP"));
            };
            // A handshake that fails closes the socket.
            let descriptor = self.watched.0.lock().take();
            let stream = tls.accept(Rewound { unread, read: 0, stream }).await?;
            *self.watched.0.lock() = descriptor;
            let connection = stream.get_ref().1;
            self.peer.tls = Some(tls_facts(connection));
            // The first one is the client's own; the handshake has checked it.
            let certificate = connection.peer_certificates().and_then(|chain| chain.first());
            self.peer.certificate = certificate.and_then(|certificate| certificate::names(certificate));
            self.stream = Stream::Tls(Box::new(stream));
            self.peer.protected = true;
            self.peer.can_start_tls = false;
            Ok(())
        })
    }

    fn peer(&self) -> &Peer {
        &self.peer
    }

    fn presence(&self) -> Option<Arc<dyn Presence>> {
        Some(self.watched.clone())
    }
}

/// Version and cipher, as OpenSSL names them, which is how clients know them.
fn tls_facts(connection: &rustls::ServerConnection) -> TlsFacts {
    let version = match connection.protocol_version() {
        Some(rustls::ProtocolVersion::TLSv1_2) => "TLSv1.2",
        Some(rustls::ProtocolVersion::TLSv1_3) => "TLSv1.3",
        _ => "",
    };
    let cipher = connection.negotiated_cipher_suite().map(|suite| openssl_name(suite.suite())).unwrap_or_default();
    TlsFacts { version, cipher }
}

fn openssl_name(suite: rustls::CipherSuite) -> &'static str {
    use rustls::CipherSuite as Suite;
    match suite {
        Suite::TLS13_AES_128_GCM_SHA256 => "TLS_AES_128_GCM_SHA256",
        Suite::TLS13_AES_256_GCM_SHA384 => "TLS_AES_256_GCM_SHA384",
        Suite::TLS13_CHACHA20_POLY1305_SHA256 => "TLS_CHACHA20_POLY1305_SHA256",
        Suite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256 => "ECDHE-ECDSA-AES128-GCM-SHA256",
        Suite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384 => "ECDHE-ECDSA-AES256-GCM-SHA384",
        Suite::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256 => "ECDHE-ECDSA-CHACHA20-POLY1305",
        Suite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256 => "ECDHE-RSA-AES128-GCM-SHA256",
        Suite::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384 => "ECDHE-RSA-AES256-GCM-SHA384",
        Suite::TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256 => "ECDHE-RSA-CHACHA20-POLY1305",
        // All that rustls has are above.
        _ => "unknown",
    }
}

/// A TCP stream of which some was read already.
struct Rewound {
    unread: Vec<u8>,
    read: usize,
    stream: TcpStream,
}

impl AsyncRead for Rewound {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<Result<()>> {
        let rest = &self.unread[self.read..];
        if rest.is_empty() {
            return Pin::new(&mut self.stream).poll_read(cx, buf);
        }
        let n = rest.len().min(buf.remaining());
        buf.put_slice(&rest[..n]);
        self.read += n;
        if self.read == self.unread.len() {
            self.unread = Vec::new();
            self.read = 0;
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Rewound {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
