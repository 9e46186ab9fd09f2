//! The stream under a connection, as little of it as a connection needs.

use std::io::{Error, ErrorKind, Result};
use std::sync::Arc;

use io::BoxFuture;
use sql::account::Requirement;

/// A client's byte stream. One implementation per environment: sockets in `server`, [`StreamTransport`] elsewhere. It is an object,
/// so that what serves a connection is compiled once, here, and not for each kind of stream.
pub trait Transport: Send {
    /// Waits for bytes and appends them; 0 is the end of the stream. While it waits it needs no buffer. Nothing is
    /// lost when the future is dropped.
    fn read<'a>(&'a mut self, into: &'a mut Vec<u8>) -> BoxFuture<'a, Result<usize>>;

    /// Writes all of it.
    fn write_all<'a>(&'a mut self, data: &'a [u8]) -> BoxFuture<'a, Result<()>>;

    /// Goes on under TLS, on the side that this stream is for; `unread` is what has come of it already.
    fn start_tls(&mut self, unread: Vec<u8>) -> BoxFuture<'_, Result<()>> {
        let _ = unread;
        Box::pin(std::future::ready(Err(Error::new(ErrorKind::Unsupported, "no TLS on this stream"))))
    }

    /// Who is on the other side.
    fn peer(&self) -> &Peer;

    /// How those who do not read the stream can tell whether the other side is still there, if they can.
    fn presence(&self) -> Option<Arc<dyn Presence>> {
        None
    }
}

/// Tells whether the other side of a stream has gone.
pub trait Presence: Send + Sync {
    /// The stream has ended, and nothing that was sent before that waits to be read.
    fn is_gone(&self) -> bool;
}

/// The other side of a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Peer {
    /// IP address; `localhost` for a local socket.
    pub host: String,
    /// TCP port; 0 for a local socket.
    pub port: u16,
    /// The user of a local socket's other end is the one who runs this server, or root.
    pub is_owner: bool,
    /// Nobody can listen: a local socket, or TLS.
    pub protected: bool,
    /// TLS can be started.
    pub can_start_tls: bool,
    /// How TLS protects the stream, if it does.
    pub tls: Option<sql::session::TlsFacts>,
    /// The certificate that it has shown, which an authority of ours has signed.
    pub certificate: Option<Certificate>,
}

/// Whose a certificate is, as OpenSSL prints names on one line (`/C=DE/CN=ada`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    /// Whose it is.
    pub subject: String,
    /// Who has signed it.
    pub issuer: String,
}

impl Peer {
    /// Whether the connection is what an account requires.
    pub fn satisfies(&self, requires: &Requirement) -> bool {
        let certificate = self.certificate.as_ref();
        match requires {
            Requirement::None => true,
            Requirement::Ssl => self.tls.is_some(),
            Requirement::X509 => certificate.is_some(),
            Requirement::Specified { cipher, issuer, subject } => {
                let is = |wanted: &Option<String>, found: Option<&str>| {
                    wanted.as_deref().is_none_or(|wanted| Some(wanted) == found)
                };
                // As in MySQL: a cipher alone needs a certificate, too.
                certificate.is_some()
                    && is(cipher, self.tls.map(|tls| tls.cipher))
                    && is(issuer, certificate.map(|certificate| &*certificate.issuer))
                    && is(subject, certificate.map(|certificate| &*certificate.subject))
            }
        }
    }

    /// As SHOW PROCESSLIST has it.
    pub fn address(&self) -> String {
        if self.port == 0 { self.host.clone() } else { format!("{}:{}", self.host, self.port) }
    }
}

/// A [`Transport`] over a stream of [`io`]: for clients of other servers, and for simulations.
pub struct StreamTransport {
    stream: Box<dyn io::Stream>,
    peer: Peer,
}

/// Bytes asked for at once: a follower that catches up makes each read durable with one sync.
const READ_BYTES: usize = 256 << 10;

impl StreamTransport {
    /// Takes the stream over.
    pub fn new(stream: Box<dyn io::Stream>, peer: Peer) -> Self {
        StreamTransport { stream, peer }
    }
}

impl Transport for StreamTransport {
    fn read<'a>(&'a mut self, into: &'a mut Vec<u8>) -> BoxFuture<'a, Result<usize>> {
        self.stream.read(into, READ_BYTES)
    }

    fn write_all<'a>(&'a mut self, data: &'a [u8]) -> BoxFuture<'a, Result<()>> {
        self.stream.write_all(data)
    }

    fn peer(&self) -> &Peer {
        &self.peer
    }
}
