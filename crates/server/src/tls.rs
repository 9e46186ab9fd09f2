//! The server's certificate: made at first start, with a little authority of its own, and read ever after.
//!
//! Files in the data directory as MySQL names them: `ca.pem` (to give to clients that check), `server-cert.pem` and
//! `server-key.pem`. The authority's key is forgotten once it has signed.

use std::path::PathBuf;
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, SupportedProtocolVersion};
use sql::settings::Globals;
use tokio_rustls::TlsAcceptor;

use crate::datadir::DataDir;
use crate::error::{Context, ServerError};

const CA_FILE: &str = "ca.pem";
const CERT_FILE: &str = "server-cert.pem";
const KEY_FILE: &str = "server-key.pem";

/// What TLS connections are accepted with, as the settings say.
pub(crate) fn acceptor(datadir: &DataDir, globals: &Globals) -> Result<TlsAcceptor, ServerError> {
    let start = &globals.now().start;
    let versions = versions(&start.tls_version)?;
    acceptor_of(datadir, &start.hostname, [&start.ssl_cert, &start.ssl_key, &start.ssl_ca], &versions)
}

/// `tls_version`
fn versions(names: &str) -> Result<Vec<&'static SupportedProtocolVersion>, ServerError> {
    let version = |name: &str| match name {
        "TLSv1.2" => Some(&rustls::version::TLS12),
        "TLSv1.3" => Some(&rustls::version::TLS13),
        _ => None,
    };
    let versions: Vec<_> = names.split(',').filter_map(version).collect();
    match versions.is_empty() {
        true => Err(ServerError::Tls("tls_version names no version; there are TLSv1.2 and TLSv1.3".into())),
        false => Ok(versions),
    }
}

/// The same with a certificate of our own, which asks for none of the client.
pub(crate) fn own_acceptor(datadir: &DataDir, hostname: &str) -> Result<TlsAcceptor, ServerError> {
    acceptor_of(datadir, hostname, [CERT_FILE, KEY_FILE, ""], rustls::DEFAULT_VERSIONS)
}

/// With a certificate, its key and the authority that clients' certificates are checked with (empty for none), files of the folder.
fn acceptor_of(
    datadir: &DataDir,
    hostname: &str,
    [cert_path, key_path, authority]: [&str; 3],
    versions: &[&'static SupportedProtocolVersion],
) -> Result<TlsAcceptor, ServerError> {
    let made_here = cert_path == CERT_FILE && key_path == KEY_FILE;
    if made_here && datadir.read(CERT_FILE)?.is_none() {
        make_certificate(datadir, hostname)?;
    }
    let certificates = certificates(&datadir.file(cert_path))?;
    let key_path = datadir.file(key_path);
    let key = PrivateKeyDer::from_pem_slice(&read(&key_path)?).map_err(|error| tls_error(&key_path, error))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_details(provider.clone(), Arc::new(session::tls::WallClock))
        .with_protocol_versions(versions)
        .map_err(|error| ServerError::Tls(error.to_string()))?;
    let builder = match authority {
        "" => builder.with_no_client_auth(),
        authority => {
            let mut roots = RootCertStore::empty();
            roots.add_parsable_certificates(self::certificates(&datadir.file(authority))?);
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider)
                .allow_unauthenticated()
                .build()
                .map_err(|error| ServerError::Tls(format!("{authority}: {error}")))?;
            builder.with_client_cert_verifier(verifier)
        }
    };
    let both = |error| ServerError::Tls(format!("{cert_path} and {}: {error}", key_path.display()));
    let config = builder.with_single_cert(certificates, key).map_err(both)?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

fn read(path: &PathBuf) -> Result<Vec<u8>, ServerError> {
    std::fs::read(path).context(|| format!("cannot read {}", path.display()))
}

fn certificates(path: &PathBuf) -> Result<Vec<CertificateDer<'static>>, ServerError> {
    let pem = read(path)?;
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&pem).collect();
    match found {
        Ok(found) if found.is_empty() => Err(tls_error(path, "there is no certificate in it")),
        Ok(found) => Ok(found),
        Err(error) => Err(tls_error(path, error)),
    }
}

fn tls_error(path: &std::path::Path, error: impl std::fmt::Display) -> ServerError {
    ServerError::Tls(format!("{}: {error}", path.display()))
}

fn make_certificate(datadir: &DataDir, hostname: &str) -> Result<(), ServerError> {
    let made = || -> Result<(String, String, String), rcgen::Error> {
        let mut ca_params = CertificateParams::new(Vec::new())?;
        ca_params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        ca_params.distinguished_name.push(DnType::CommonName, "commuter generated CA");
        let ca_key = KeyPair::generate()?;
        let ca = ca_params.self_signed(&ca_key)?.pem();
        let mut names = vec!["localhost".to_owned(), "127.0.0.1".to_owned(), "::1".to_owned()];
        if !hostname.is_empty() && hostname != "localhost" {
            names.push(hostname.to_owned());
        }
        let mut params = CertificateParams::new(names)?;
        params.distinguished_name.push(DnType::CommonName, "commuter generated server certificate");
        let key = KeyPair::generate()?;
        let certificate = params.signed_by(&key, &Issuer::new(ca_params, ca_key))?.pem();
        Ok((ca, certificate, key.serialize_pem()))
    };
    let (ca, certificate, key) = made().map_err(|error| ServerError::Tls(error.to_string()))?;
    datadir.write_private(CA_FILE, ca.as_bytes())?;
    datadir.write_private(KEY_FILE, key.as_bytes())?;
    // Last: if it is there, the others are too.
    datadir.write_private(CERT_FILE, certificate.as_bytes())?;
    tracing::info!("made a TLS certificate ({CERT_FILE}; clients can check it with {CA_FILE})");
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn versions() {
        let count = |names: &str| super::versions(names).map(|versions| versions.len());
        assert!(matches!(count("TLSv1.3"), Ok(1)) && matches!(count("TLSv1.2,TLSv1.3"), Ok(2)));
        assert!(count("").is_err(), "no client could connect");
    }
}
