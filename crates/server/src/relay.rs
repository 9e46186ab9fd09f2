//! A relay as a process: its folder, its listeners, its life until SIGTERM. What it does is crate `relay`'s.

use std::fs::DirBuilder;
use std::net::IpAddr;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use ::relay::{Relay, RelayOptions, Source};
use session::tls;
use wire::client::{Credentials, ServerKey};

use crate::config::{ServeOptions, settings};
use crate::datadir::DataDir;
use crate::error::{Context, ServerError};
use crate::serve::{LEFTOVERS_TIME, Signals, prepare_process};
use crate::url::{Protection, ServerUrl};
use crate::{listen, runtime, start_logging, tls as server_tls};

/// What a folder of a database has in it.
const SIGN_OF_A_DATABASE: &str = "data.ctr";
/// Worker threads for files.
const IO_THREADS: usize = 2;

/// What the command line says.
#[derive(Clone, Debug)]
pub struct RelayArguments {
    /// Whose log is kept.
    pub source: ServerUrl,
    /// Where.
    pub datadir: PathBuf,
    /// TCP port; 0 takes a free one.
    pub port: u16,
    /// Addresses, with commas between them.
    pub bind: String,
    /// Our number among servers; made of our UUID if there is none.
    pub server_id: Option<u32>,
    /// The account that replicas use.
    pub user: String,
    /// Its password; empty for none.
    pub password: String,
    /// The source's file that an empty folder begins with, in place of the first.
    pub start_file: Option<String>,
    /// A file goes so long after it was closed.
    pub expire_seconds: Option<u64>,
    /// The oldest files go while there are more bytes.
    pub space_limit: Option<u64>,
    /// More clients are not let in.
    pub max_connections: usize,
}

/// Runs a relay until SIGTERM or SIGINT.
pub fn relay(arguments: &RelayArguments) -> Result<(), ServerError> {
    start_logging();
    prepare_process();
    check_password(arguments)?;
    let runtime = runtime(0).context(|| "cannot start the runtime".to_owned())?;
    let result = runtime.block_on(run(arguments));
    runtime.shutdown_timeout(LEFTOVERS_TIME);
    result
}

async fn run(arguments: &RelayArguments) -> Result<(), ServerError> {
    let mut signals = Signals::new().context(|| "cannot handle signals".to_owned())?;
    let folder = std::path::absolute(&arguments.datadir).context(|| arguments.datadir.display().to_string())?;
    create(&folder)?;
    let sockets = listen::bind_tcp(&arguments.bind, arguments.port).await?;
    let port = match sockets.first() {
        Some((address, socket)) => socket.local_addr().context(|| address.clone())?.port(),
        None => return Err(ServerError::Setting(format!("'{}' is no address to listen on (--bind)", arguments.bind))),
    };
    let globals = settings(&ServeOptions { datadir: folder.clone(), ..ServeOptions::default() })?;
    let acceptor = server_tls::acceptor(&DataDir::new(&folder), &globals)?;
    let offload = io::os::Offload::Threads(IO_THREADS);
    let env = io::os::environment(folder.clone(), offload, tokio::runtime::Handle::current())
        .context(|| folder.display().to_string())?;
    let relay = Relay::open(env, options(arguments, port)?).await;
    let relay = relay.map_err(|error| ServerError::Relay { folder: folder.clone(), error })?;
    for listener in listen::listen(sockets)? {
        let (relay, acceptor) = (relay.clone(), acceptor.clone());
        tokio::spawn(async move {
            let start = |socket| drop(tokio::spawn(Arc::clone(&relay).serve(socket)));
            listen::accept_each(listener, Some(acceptor), start).await;
        });
    }
    tracing::info!("relay of {:?} is ready on {}:{port}", arguments.source, arguments.bind);
    let failure = tokio::select! {
        signal = signals.terminate() => {
            tracing::info!("{signal}: shutting down");
            relay.stop();
            None
        }
        failure = relay.ended() => failure,
    };
    match failure {
        Some(why) => Err(ServerError::Failed(why)),
        None => Ok(()),
    }
}

/// Who can connect can read everything that is in the log.
fn check_password(arguments: &RelayArguments) -> Result<(), ServerError> {
    let is_loopback = |address: &str| match address.trim() {
        "localhost" => true,
        address => address.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback()),
    };
    if !arguments.password.is_empty() || arguments.bind.split(',').all(is_loopback) {
        return Ok(());
    }
    let text = "without a password (--password-file, COMMUTER_RELAY_PASSWORD) a relay listens on loopback only";
    Err(ServerError::Setting(format!("{text}, not on '{}'", arguments.bind)))
}

/// Makes the folder, and refuses that of a database.
fn create(folder: &Path) -> Result<(), ServerError> {
    if folder.join(SIGN_OF_A_DATABASE).exists() {
        let text = format!("{} holds a database; a relay needs a folder of its own", folder.display());
        return Err(ServerError::NotOurs(text));
    }
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.context(|| format!("cannot make the folder {}", folder.display()))
}

fn options(arguments: &RelayArguments, port: u16) -> Result<RelayOptions, ServerError> {
    Ok(RelayOptions {
        source: source(&arguments.source)?,
        start_file: arguments.start_file.clone(),
        server_id: arguments.server_id,
        port,
        user: arguments.user.clone(),
        password: arguments.password.clone(),
        max_connections: arguments.max_connections,
        expire: arguments.expire_seconds.map(Duration::from_secs),
        space_limit: arguments.space_limit,
    })
}

fn source(url: &ServerUrl) -> Result<Source, ServerError> {
    let protection = &url.protection;
    let mode = protection.mode_or(tls::Mode::Preferred);
    let config = match mode {
        tls::Mode::Disabled => None,
        _ => {
            let (ca, cert, key) = (read(&protection.ca)?, read(&protection.cert)?, read(&protection.key)?);
            Some(tls::config(mode, &tls::Pem { ca, cert, key }).map_err(ServerError::Tls)?)
        }
    };
    let credentials = Credentials {
        user: url.user.clone(),
        password: url.password.clone(),
        attributes: vec![("program_name".to_owned(), "commuter-relay".to_owned())],
        tls: mode.asks(),
        server_key: server_key(protection)?,
        ..Credentials::default()
    };
    Ok(Source { host: url.host.clone(), port: url.port, credentials, tls: config })
}

fn server_key(protection: &Protection) -> Result<ServerKey, ServerError> {
    Ok(match String::from_utf8_lossy(&read(&protection.public_key_path)?) {
        key if !key.is_empty() => ServerKey::Known(key.into_owned()),
        _ if protection.get_public_key => ServerKey::Ask,
        _ => ServerKey::Unknown,
    })
}

/// A file; nothing if none is named.
fn read(path: &Path) -> Result<Vec<u8>, ServerError> {
    if path.as_os_str().is_empty() {
        return Ok(Vec::new());
    }
    std::fs::read(path).context(|| format!("cannot read {}", path.display()))
}
