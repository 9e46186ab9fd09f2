//! [`Server`]: a database with listeners, from start to shutdown.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use session::Shared;
use sql::settings::{Globals, SettingId};
use tokio::net::TcpSocket;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::task::JoinHandle;

use crate::config::{Notes, ServeOptions};
use crate::core::{Core, configure};
use crate::error::{Context, ServerError};
use crate::listen::{self, SocketFile};
use crate::process::{self, prepare_process};
use crate::runtime::keep_served;
use crate::{logging, runtime, services, tls};

/// The socket's name in the data directory if no other was set.
const SOCKET_FILE: &str = "commuter.sock";
/// How long what is left on the runtime may take to end.
pub(crate) const LEFTOVERS_TIME: Duration = Duration::from_millis(5);
/// How often connections that were idle for too long, or are without their client, are looked for.
const IDLE_STEP: Duration = Duration::from_secs(1);

/// A running server.
pub struct Server {
    core: Core,
    /// Recovery is complete; before that there is nothing to close in order.
    recovered: bool,
    tasks: Vec<JoinHandle<()>>,
    addresses: Vec<SocketAddr>,
    socket: Option<SocketFile>,
    /// `pid_file`; it goes with the server.
    pid_file: Option<SocketFile>,
}

/// Runs a server until SIGTERM, SIGINT, SIGQUIT or SHUTDOWN: the whole life of a `serve` process.
pub fn serve(options: &ServeOptions) -> Result<(), ServerError> {
    let (globals, notes) = crate::config::read(options)?;
    let user = globals.now().start.user.clone();
    let is_other = process::become_user(&user)?;
    prepare_process();
    let result =
        serve_as(options, &globals, &notes).map_err(|error| if is_other { error.denied_to(&user) } else { error });
    // The caller gets the error; a reader of the log's file does not see that.
    if let Err(error) = &result
        && logging::is_to_file()
    {
        tracing::error!("{error}");
    }
    result
}

fn serve_as(options: &ServeOptions, globals: &Globals, notes: &Notes) -> Result<(), ServerError> {
    logging::start_logging_to(&globals.now().start.log_error, Path::new(&*globals.now().start.datadir))?;
    notes.log();
    let workers = globals.now().start.worker_threads;
    let runtime = runtime(workers).context(|| "cannot start the runtime".to_owned())?;
    keep_served(&runtime).context(|| "cannot start the runtime".to_owned())?;
    let result = runtime.block_on(async {
        let mut signals = Signals::new().context(|| "cannot handle signals".to_owned())?;
        let server = tokio::select! {
            server = Server::start(options) => server?,
            // Whatever it was at, a start can be broken off: the next one begins as after a crash.
            signal = signals.terminate() => {
                tracing::info!("{signal} before the server was ready; the next start begins anew");
                return Ok(());
            }
        };
        let hangup = signals.take_hangup();
        tokio::select! {
            signal = signals.terminate() => tracing::info!("{signal}: shutting down"),
            () = reopen_logs(hangup) => {}
            () = server.core.end.asked() => tracing::info!("shutting down"),
        }
        server.shutdown().await
    });
    // What is left on the runtime is connections that did not end in time.
    runtime.shutdown_timeout(LEFTOVERS_TIME);
    result
}

/// The signals that ask a process to end. Once there is one of these, a signal has no other effect: a second SIGTERM does
/// not break the shutdown off.
pub(crate) struct Signals {
    terminate: Signal,
    interrupt: Signal,
    quit: Signal,
    /// A terminal that goes away is no reason to stop.
    hangup: Option<Signal>,
}

/// Opens the file of the log anew for each SIGHUP, for ever.
async fn reopen_logs(hangup: Option<Signal>) {
    let Some(mut hangup) = hangup else { return std::future::pending().await };
    while hangup.recv().await.is_some() {
        logging::reopen();
        tracing::info!("SIGHUP: the log goes on");
    }
    std::future::pending().await
}

impl Signals {
    pub(crate) fn new() -> std::io::Result<Self> {
        Ok(Signals {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            quit: signal(SignalKind::quit())?,
            hangup: Some(signal(SignalKind::hangup())?),
        })
    }

    /// SIGHUP, for what is to be done then; it ends nothing.
    fn take_hangup(&mut self) -> Option<Signal> {
        self.hangup.take()
    }

    /// Ready when one of them has come; its name.
    pub(crate) async fn terminate(&mut self) -> &'static str {
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
            _ = self.quit.recv() => "SIGQUIT",
        }
    }
}

impl Server {
    /// Opens the database and listens; returns when it is recovered, or SHUTDOWN came before that.
    #[io::boxed]
    pub async fn start(options: &ServeOptions) -> Result<Self, ServerError> {
        let globals = crate::settings(options)?;
        let port = globals.now().start.port;
        let sockets = match globals.now().start.skip_networking {
            true => Vec::new(),
            false => listen::bind_tcp(&globals.now().start.bind_address.clone(), port).await?,
        };
        let core = Core::open_unrecovered(globals, options).await?;
        let mut server =
            Server { core, recovered: false, tasks: Vec::new(), addresses: Vec::new(), socket: None, pid_file: None };
        if let Err(error) = server.open_doors(sockets, options).await {
            // What is open is closed as it should be; that this went well is of no interest beside the error.
            if let Err(other) = server.shutdown().await {
                tracing::error!("{other}");
            }
            return Err(error);
        }
        let purge = services::purge_automatically(server.core.services.clone());
        server.tasks.push(tokio::spawn(purge));
        Ok(server)
    }

    async fn open_doors(
        &mut self,
        sockets: Vec<(String, TcpSocket)>,
        options: &ServeOptions,
    ) -> Result<(), ServerError> {
        let globals = self.core.shared.sql.globals.clone();
        if globals.now().start.recovery_read_only {
            self.listen(sockets).await?;
            tracing::info!("clients are let in to read on {:?}; recovery goes on", self.addresses);
            self.recovered = self.recover_beside_clients(options).await?;
            if !self.recovered {
                return Ok(());
            }
        } else {
            self.core.recover(options).await?;
            self.recovered = true;
            self.listen(sockets).await?;
        }
        options.on_recovered.iter().for_each(|tell| tell());
        let (version, socket) = (globals.now().start.version.clone(), globals.now().start.socket.clone());
        tracing::info!("{} is ready on {:?} and {}", version, self.addresses, socket);
        self.core.start_following(options).await
    }

    /// Whether it came to its end: SHUTDOWN does not wait for that.
    async fn recover_beside_clients(&self, options: &ServeOptions) -> Result<bool, ServerError> {
        tokio::select! {
            biased;
            recovered = self.core.recover(options) => recovered.map(|()| true),
            failure = self.core.ended() => match failure {
                Some(why) => Err(ServerError::Failed(why)),
                None => {
                    tracing::info!("the end of recovery is not waited for; the next start begins anew");
                    Ok(false)
                }
            },
        }
    }

    async fn listen(&mut self, sockets: Vec<(String, TcpSocket)>) -> Result<(), ServerError> {
        let shared = self.core.shared.clone();
        let registry = shared.registry.clone();
        self.tasks.push(tokio::spawn(async move {
            loop {
                tokio::time::sleep(IDLE_STEP).await;
                registry.end_idle();
                registry.end_abandoned();
            }
        }));
        let globals = &shared.sql.globals;
        let tls = tls::acceptor(&self.core.datadir, globals)?;
        for listener in listen::listen(sockets)? {
            let address = listener.local_addr().context(|| "cannot listen".to_owned())?;
            self.addresses.push(address);
            self.tasks.push(tokio::spawn(listen::serve_tcp(listener, shared.clone(), Some(tls.clone()))));
        }
        if let Some(address) = self.addresses.first() {
            configure(globals, SettingId::port, &address.port().to_string())?;
        }
        let path = self.socket_path();
        configure(globals, SettingId::socket, &path.display().to_string())?;
        let listener = listen::bind_unix(&path).await?;
        self.socket = Some(SocketFile(path.clone()));
        self.tasks.push(tokio::spawn(listen::serve_unix(listener, shared.clone())));
        let pid_file = globals.now().start.pid_file.to_string();
        if !pid_file.is_empty() {
            let path = self.core.datadir.file(&pid_file);
            let pid = std::process::id().to_string() + "\n";
            std::fs::write(&path, pid).context(|| format!("cannot write {}", path.display()))?;
            self.pid_file = Some(SocketFile(path));
        }
        Ok(())
    }

    fn socket_path(&self) -> PathBuf {
        let set = self.core.shared.sql.globals.now().start.socket.clone();
        let name = if set.is_empty() { SOCKET_FILE } else { &*set };
        self.core.datadir.file(name)
    }

    /// Where it listens.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// What sessions share.
    pub fn shared(&self) -> &Arc<Shared> {
        &self.core.shared
    }

    /// Ends all connections, makes a last checkpoint, closes.
    #[io::boxed]
    pub async fn shutdown(mut self) -> Result<(), ServerError> {
        self.tasks.iter().for_each(JoinHandle::abort);
        self.socket = None;
        self.core.drain().await;
        if self.recovered {
            self.core.close().await?;
        }
        tracing::info!("shut down");
        Ok(())
    }
}
