//! `commuter relay` as a process: its folder, its listeners, its life until SIGTERM. What it does is crate `relay`'s.

use std::io::IsTerminal;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use ::relay::{Limits, Relay, RelayOptions};
use repl::SourceSettings;
use tokio::net::TcpListener;

use crate::datadir::{self, DataDir};
use crate::error::{Context, ServerError};
use crate::process::prepare_process;
use crate::replication::source_of;
use crate::serve::{LEFTOVERS_TIME, Signals};
use crate::url::ServerUrl;
use crate::{listen, runtime, start_logging, tls};

/// Worker threads for files.
const IO_THREADS: usize = 4;
/// How long connections may take to end at shutdown.
const DRAIN_TIME: Duration = Duration::from_secs(1);
const DRAIN_STEP: Duration = Duration::from_millis(5);
/// How often a terminal is told how far the log is.
const PROGRESS_STEP: Duration = Duration::from_secs(1);

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
    /// Our number among servers; `None` for one that is made at the first start.
    pub server_id: Option<u32>,
    /// The account that replicas use.
    pub user: String,
    /// Its password; empty for none, from this machine only.
    pub password: String,
    /// Of an empty folder: the source's file to begin with, in place of its first.
    pub start_file: Option<String>,
    /// A file goes so long after the source has left it.
    pub expire_seconds: Option<u64>,
    /// The oldest files go while all have more bytes.
    pub space_limit: Option<u64>,
    /// More clients are not let in.
    pub max_connections: usize,
    /// A source that asks for acknowledgements gets them.
    pub acknowledges: bool,
    /// When so many replicas have given theirs; 0 if they are not asked.
    pub replicas_wanted: usize,
}

/// Runs a relay until SIGTERM or SIGINT: the whole life of the process.
///
/// # Errors
/// When the folder or the address cannot be had. What goes wrong with the source later is in `SHOW REPLICA STATUS`.
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
    let (relay, listeners) = open(arguments).await?;
    let tls = tls::own_acceptor(&DataDir::new(&arguments.datadir), "")?;
    for listener in listeners {
        let address = listener.local_addr().context(|| "cannot listen".to_owned())?;
        tracing::info!("a relay of {:?} is ready on {address}", arguments.source);
        let (relay, tls) = (relay.clone(), tls.clone());
        tokio::spawn(async move {
            let serve = |socket| drop(tokio::spawn(relay.clone().serve(Box::new(socket))));
            listen::accept_each(listener, Some(tls), serve).await;
        });
    }
    tokio::select! {
        signal = signals.terminate() => tracing::info!("{signal}: shutting down"),
        () = relay.run() => {}
        () = show_progress(&relay) => {}
    }
    drain(&relay).await;
    tracing::info!("shut down");
    Ok(())
}

/// Takes the addresses, then the folder; nobody is let in yet.
async fn open(arguments: &RelayArguments) -> Result<(Arc<Relay>, Vec<TcpListener>), ServerError> {
    let sockets = listen::bind_tcp(&arguments.bind, arguments.port).await?;
    let folder = std::path::absolute(&arguments.datadir).context(|| arguments.datadir.display().to_string())?;
    datadir::create_for_relay(&folder)?;
    let handle = tokio::runtime::Handle::current();
    let env = io::os::environment(folder.clone(), io::os::Offload::Threads(IO_THREADS), handle)
        .context(|| folder.display().to_string())?;
    let listeners = listen::listen(sockets)?;
    let no_address = || ServerError::Setting(format!("'{}' is no address to listen on (--bind)", arguments.bind));
    let port = listeners.first().ok_or_else(no_address)?.local_addr().context(|| "cannot listen".to_owned())?.port();
    let relay = Relay::open(env, options(arguments, port)?).await;
    let relay = relay.map_err(|error| ServerError::Relay { folder, error })?;
    Ok((relay, listeners))
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

fn options(arguments: &RelayArguments, report_port: u16) -> Result<RelayOptions, ServerError> {
    let mut source = SourceSettings::default();
    let change = source_of("--source", &arguments.source)?;
    source.change(&change, &[]).map_err(|error| ServerError::Setting(format!("--source: {}", error.message)))?;
    let age = arguments.expire_seconds.map(Duration::from_secs);
    Ok(RelayOptions {
        source,
        start_file: arguments.start_file.clone().unwrap_or_default(),
        server_id: arguments.server_id,
        user: arguments.user.clone(),
        password: arguments.password.clone(),
        limits: Limits { age, bytes: arguments.space_limit },
        connections_max: arguments.max_connections,
        acknowledges: arguments.acknowledges,
        replicas_wanted: arguments.replicas_wanted,
        report_host: String::new(),
        report_port,
    })
}

/// On a terminal a line that says how far the log is; never ready.
async fn show_progress(relay: &Relay) {
    let is_terminal = std::io::stderr().is_terminal();
    let mut shown = String::new();
    loop {
        tokio::time::sleep(PROGRESS_STEP).await;
        let status = relay.status().snapshot();
        let line = format!("{}:{}, {} connections", status.file, status.position, relay.connection_count());
        if is_terminal && line != shown {
            eprint!("\r\x1b[K{line}");
            shown = line;
        }
    }
}

async fn drain(relay: &Relay) {
    relay.end_connections();
    let start = tokio::time::Instant::now();
    while relay.connection_count() > 0 && start.elapsed() < DRAIN_TIME {
        tokio::time::sleep(DRAIN_STEP).await;
    }
}
