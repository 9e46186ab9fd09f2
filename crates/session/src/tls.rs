//! TLS as a client: over any [`Transport`], for followers and tools.
//!
//! The words are MySQL's (`--ssl-mode`): REQUIRED encrypts and looks at no certificate, VERIFY_CA wants one that the named
//! authority has signed, VERIFY_IDENTITY one that also names the host that was connected to.
//!
//! # Invariants
//! - What the server sent before the handshake is never taken for something that came through it.
//! - Nothing is lost when the future of a read is dropped: what has come is kept here, and nothing is sent while reading.

use std::io::{BufRead, Error, ErrorKind, Result, Write};
use std::str::FromStr;
use std::sync::Arc;

use io::BoxFuture;
pub use rustls::ClientConfig;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::time_provider::TimeProvider;
use rustls::{ClientConnection, DigitallySignedStruct, RootCertStore, SignatureScheme};

use crate::transport::{Peer, Transport};

/// `--ssl-mode`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// No TLS.
    #[default]
    Disabled,
    /// TLS if the server offers it.
    Preferred,
    /// TLS, with whatever certificate.
    Required,
    /// A certificate that was signed by an authority that is known here.
    VerifyCa,
    /// The same, and it is the host's.
    VerifyIdentity,
}

impl Mode {
    const NAMES: [(&'static str, Mode); 5] = [
        ("DISABLED", Mode::Disabled),
        ("PREFERRED", Mode::Preferred),
        ("REQUIRED", Mode::Required),
        ("VERIFY_CA", Mode::VerifyCa),
        ("VERIFY_IDENTITY", Mode::VerifyIdentity),
    ];

    /// Whether a client of this mode asks for TLS.
    pub fn asks(self) -> wire::client::Tls {
        match self {
            Mode::Disabled => wire::client::Tls::Never,
            Mode::Preferred => wire::client::Tls::IfOffered,
            Mode::Required | Mode::VerifyCa | Mode::VerifyIdentity => wire::client::Tls::Always,
        }
    }
}

impl FromStr for Mode {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let found = Mode::NAMES.iter().find(|(name, _)| name.eq_ignore_ascii_case(text));
        let names = || Mode::NAMES.map(|(name, _)| name).join(", ");
        found.map(|(_, mode)| *mode).ok_or_else(|| format!("'{text}' is none of {}", names()))
    }
}

/// The contents of the files that TLS needs, as PEM; empty if there is none.
#[derive(Clone, Default)]
pub struct Pem {
    /// Certificates of the authorities that are trusted.
    pub ca: Vec<u8>,
    /// The client's certificate.
    pub cert: Vec<u8>,
    /// Its key.
    pub key: Vec<u8>,
}

/// What a client begins TLS with; the error is for people.
pub fn config(mode: Mode, pem: &Pem) -> std::result::Result<Arc<ClientConfig>, String> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_details(provider.clone(), Arc::new(WallClock))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    let roots = roots(&pem.ca)?;
    if matches!(mode, Mode::VerifyCa | Mode::VerifyIdentity) && roots.is_empty() {
        return Err("CA certificate is required if ssl-mode is VERIFY_CA or VERIFY_IDENTITY".into());
    }
    let builder = match mode {
        Mode::VerifyIdentity => builder.with_root_certificates(roots),
        _ => {
            let roots = (mode == Mode::VerifyCa).then_some(roots);
            builder.dangerous().with_custom_certificate_verifier(Arc::new(AnyName { roots, provider }))
        }
    };
    let config = if pem.cert.is_empty() {
        builder.with_no_client_auth()
    } else {
        let certificates = certificates(&pem.cert).map_err(|why| format!("the client's certificate: {why}"))?;
        let key = PrivateKeyDer::from_pem_slice(&pem.key).map_err(|why| format!("the client's key: {why}"))?;
        builder.with_client_auth_cert(certificates, key).map_err(|why| format!("the client's certificate: {why}"))?
    };
    Ok(Arc::new(config))
}

/// The time for certificates and sessions. (The library's own panics where the machine's clock is set to a time before 1970.)
#[derive(Clone, Copy, Debug)]
pub struct WallClock;

impl TimeProvider for WallClock {
    fn current_time(&self) -> Option<UnixTime> {
        Some(UnixTime::since_unix_epoch(io::os::since_1970()))
    }
}

fn roots(pem: &[u8]) -> std::result::Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(pem).map_err(|why| format!("the authority's certificate: {why}"))? {
        roots.add(certificate).map_err(|why| format!("the authority's certificate: {why}"))?;
    }
    if roots.is_empty() && !pem.is_empty() {
        return Err("the authority's file has no certificate in it".into());
    }
    Ok(roots)
}

fn certificates(pem: &[u8]) -> std::result::Result<Vec<CertificateDer<'static>>, String> {
    CertificateDer::pem_slice_iter(pem).collect::<std::result::Result<_, _>>().map_err(|error| error.to_string())
}

/// Takes a certificate whatever host it names; without `roots`, whoever has signed it.
#[derive(Debug)]
struct AnyName {
    roots: Option<RootCertStore>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for AnyName {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        now: UnixTime,
    ) -> std::result::Result<ServerCertVerified, rustls::Error> {
        if let Some(roots) = &self.roots {
            let certificate = ParsedCertificate::try_from(end_entity)?;
            let algorithms = self.provider.signature_verification_algorithms.all;
            rustls::client::verify_server_cert_signed_by_trust_anchor(
                &certificate,
                roots,
                intermediates,
                now,
                algorithms,
            )?;
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, cert, signature, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, cert, signature, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// A stream that can go on under TLS, as the client.
pub struct ClientStream {
    inner: Box<dyn Transport>,
    peer: Peer,
    config: Option<Arc<ClientConfig>>,
    connection: Option<Box<ClientConnection>>,
    /// Bytes of the stream that TLS has not seen yet.
    incoming: Vec<u8>,
    outgoing: Vec<u8>,
}

impl ClientStream {
    /// Without `config` it stays as it is.
    pub fn new(inner: Box<dyn Transport>, config: Option<Arc<ClientConfig>>) -> Self {
        let peer = Peer { can_start_tls: config.is_some(), ..inner.peer().clone() };
        ClientStream { inner, peer, config, connection: None, incoming: Vec::new(), outgoing: Vec::new() }
    }

    /// Sends what TLS has to say.
    async fn send(&mut self) -> Result<()> {
        let Some(connection) = &mut self.connection else { return Ok(()) };
        while connection.wants_write() {
            connection.write_tls(&mut self.outgoing)?;
        }
        if !self.outgoing.is_empty() {
            self.inner.write_all(&self.outgoing).await?;
            self.outgoing.clear();
        }
        Ok(())
    }

    async fn handshake(&mut self) -> Result<()> {
        let mut nothing = Vec::new();
        while self.connection.as_ref().is_some_and(|connection| connection.is_handshaking()) {
            self.send().await?;
            if self.inner.read(&mut self.incoming).await? == 0 {
                return Err(Error::new(ErrorKind::UnexpectedEof, "the server ended the connection in the handshake"));
            }
            if let Err(error) = self.take_in(&mut nothing) {
                // The other side is told what was wrong, if it still listens.
                let _ = self.send().await;
                return Err(error);
            }
        }
        self.send().await
    }

    /// Gives TLS what has come, and the caller what is in it.
    fn take_in(&mut self, into: &mut Vec<u8>) -> Result<()> {
        let Some(connection) = &mut self.connection else { return Ok(()) };
        let mut raw = self.incoming.as_slice();
        while !raw.is_empty() {
            connection.read_tls(&mut raw)?;
            connection.process_new_packets().map_err(|error| Error::new(ErrorKind::InvalidData, error))?;
            take_plaintext(connection, into)?;
        }
        self.incoming.clear();
        Ok(())
    }
}

/// Appends what is readable; the number of bytes.
fn take_plaintext(connection: &mut ClientConnection, into: &mut Vec<u8>) -> Result<usize> {
    let before = into.len();
    let mut reader = connection.reader();
    loop {
        match reader.fill_buf() {
            Ok([]) => break,
            Ok(bytes) => {
                into.extend_from_slice(bytes);
                let count = bytes.len();
                reader.consume(count);
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => break,
            Err(error) => return Err(error),
        }
    }
    Ok(into.len() - before)
}

impl Transport for ClientStream {
    fn read<'a>(&'a mut self, into: &'a mut Vec<u8>) -> BoxFuture<'a, Result<usize>> {
        Box::pin(async move {
            if self.connection.is_none() {
                return self.inner.read(into).await;
            }
            let before = into.len();
            loop {
                self.take_in(into)?;
                if into.len() > before {
                    return Ok(into.len() - before);
                }
                if self.inner.read(&mut self.incoming).await? == 0 {
                    return Ok(0);
                }
            }
        })
    }

    fn write_all<'a>(&'a mut self, mut data: &'a [u8]) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            while let Some(connection) = &mut self.connection {
                if data.is_empty() {
                    return Ok(());
                }
                let taken = connection.writer().write(data)?;
                data = &data[taken..];
                self.send().await?;
            }
            self.inner.write_all(data).await
        })
    }

    fn start_tls(&mut self, unread: Vec<u8>) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move {
            if !unread.is_empty() {
                return Err(Error::new(ErrorKind::InvalidData, "the server spoke before the TLS handshake"));
            }
            let Some(config) = self.config.take() else {
                return Err(Error::new(ErrorKind::Unsupported, "no TLS on this stream"));
            };
            let name = ServerName::try_from(self.peer.host.clone())
                .map_err(|error| Error::new(ErrorKind::InvalidInput, format!("host '{}': {error}", self.peer.host)))?;
            let connection = ClientConnection::new(config, name).map_err(Error::other)?;
            self.connection = Some(Box::new(connection));
            self.handshake().await?;
            self.peer.protected = true;
            self.peer.can_start_tls = false;
            Ok(())
        })
    }

    fn peer(&self) -> &Peer {
        &self.peer
    }
}
