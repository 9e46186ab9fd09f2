//! Our own server as a process, from the release build.

use std::fmt::Display;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::install::{peers_data, unique_name};
use crate::process::{signal, wait_for_end, workspace_root};
use crate::{Client, Result, free_port, shim_path};

const START_PATIENCE: Duration = Duration::from_secs(120);

/// How to start a [`Server`].
#[derive(Clone, Debug, Default)]
pub struct ServerOptions {
    /// Added to each sync (the server then runs under the shim with a sync method that goes through libc).
    pub slow_sync: Duration,
    /// More arguments of `commuter serve`.
    pub arguments: Vec<String>,
    /// Environment variables.
    pub environment: Vec<(String, String)>,
    /// Another build of the server than [`commuter_binary`]'s.
    pub binary: Option<PathBuf>,
}

impl ServerOptions {
    /// With settings, each `NAME=VALUE`.
    pub fn with_settings<S: Display>(settings: impl IntoIterator<Item = S>) -> ServerOptions {
        let mut options = ServerOptions::default();
        options.add_settings(settings);
        options
    }

    /// Settings behind those that it has.
    pub fn add_settings<S: Display>(&mut self, settings: impl IntoIterator<Item = S>) {
        self.arguments.extend(settings.into_iter().flat_map(|setting| ["--set".to_owned(), setting.to_string()]));
    }
}

/// A running `commuter serve`; dropping it kills it, and removes its data unless a test has failed.
pub struct Server {
    folder: PathBuf,
    port: u16,
    options: ServerOptions,
    child: Child,
}

/// The binary that tests and benchmarks run: `COMMUTER_BIN`, or the release build of this workspace.
///
/// # Errors
/// When it is not built.
pub fn commuter_binary() -> Result<PathBuf> {
    let built = || workspace_root().join("target/release/commuter");
    let path = std::env::var_os("COMMUTER_BIN").map_or_else(built, PathBuf::from);
    if path.exists() {
        return Ok(path);
    }
    Err(format!("{} is not there: run `cargo build --release`", path.display()))
}

impl Server {
    /// Starts a server on an empty data folder, with an empty root password on loopback.
    ///
    /// # Errors
    /// When it does not come up; with its log.
    pub fn start(name: &str, options: ServerOptions) -> Result<Server> {
        let folder = peers_data().join(unique_name(&format!("commuter-{name}")));
        Server::start_in(folder, options)
    }

    /// The same in a folder of the caller's, and on what is in it.
    ///
    /// # Errors
    /// When it does not come up; with its log.
    pub fn start_in(folder: PathBuf, options: ServerOptions) -> Result<Server> {
        fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        let port = free_port();
        let child = spawn(&folder, port, &options)?;
        let mut server = Server { folder, port, options, child };
        server.wait_until_up()?;
        Ok(server)
    }

    /// Whether it runs another program than [`commuter_binary`]'s.
    pub fn is_of_another_build(&self) -> bool {
        self.options.binary.is_some()
    }

    /// How it is started the next time.
    pub fn set_options(&mut self, options: ServerOptions) {
        self.options = options;
    }

    /// Starts it again on its data; the time until it answers.
    ///
    /// # Errors
    /// When it does not come up.
    pub fn restart(&mut self) -> Result<Duration> {
        let start = Instant::now();
        self.child = spawn(&self.folder, self.port, &self.options)?;
        self.wait_until_up()?;
        Ok(start.elapsed())
    }

    /// Starts it again on its data, and does not wait until it answers.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn restart_without_waiting(&mut self) -> Result<()> {
        self.child = spawn(&self.folder, self.port, &self.options)?;
        Ok(())
    }

    /// SIGTERM, without waiting for the end.
    pub fn terminate(&self) {
        signal(&self.child, libc::SIGTERM);
    }

    /// SIGKILL.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// SIGTERM; how long the clean shutdown took.
    ///
    /// # Errors
    /// When it takes more than a minute or ends with a failure.
    pub fn stop(&mut self) -> Result<Duration> {
        let start = Instant::now();
        signal(&self.child, libc::SIGTERM);
        let status = wait_for_end(&mut self.child, Duration::from_secs(60))?;
        if status.success() { Ok(start.elapsed()) } else { Err(format!("{status}\n{}", self.log())) }
    }

    /// Whether the process has ended by itself, within that time.
    ///
    /// # Errors
    /// When it cannot be asked.
    pub fn ends_within(&mut self, patience: Duration) -> Result<bool> {
        let start = Instant::now();
        while start.elapsed() < patience {
            if self.child.try_wait().map_err(|error| error.to_string())?.is_some() {
                return Ok(true);
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(false)
    }

    /// A client's view of it, as root over TCP.
    pub fn client(&self) -> Client {
        Client::tcp(self.port)
    }

    /// Its TCP port on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Where the shim counts its syncs, if it runs under the shim.
    pub fn sync_counters(&self) -> PathBuf {
        sync_counters(&self.folder)
    }

    /// Its data folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// What it has logged.
    pub fn log(&self) -> String {
        fs::read_to_string(log_path(&self.folder)).unwrap_or_default()
    }

    fn wait_until_up(&mut self) -> Result<()> {
        let start = Instant::now();
        while start.elapsed() < START_PATIENCE {
            if self.client().query("SELECT 1").is_ok() {
                return Ok(());
            }
            if let Ok(Some(status)) = self.child.try_wait() {
                return Err(format!("the server ended with {status}:\n{}", self.log()));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Err(format!("the server does not answer:\n{}", self.log()))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
        if !std::thread::panicking() {
            let _ = fs::remove_dir_all(&self.folder);
            let _ = fs::remove_file(log_path(&self.folder));
        }
    }
}

fn log_path(folder: &Path) -> PathBuf {
    folder.with_extension("log")
}

fn sync_counters(folder: &Path) -> PathBuf {
    folder.with_extension("sync")
}

fn spawn(folder: &Path, port: u16, options: &ServerOptions) -> Result<Child> {
    let log = fs::OpenOptions::new().create(true).append(true).open(log_path(folder));
    let log = log.map_err(|error| error.to_string())?;
    let errors = log.try_clone().map_err(|error| error.to_string())?;
    let mut command = Command::new(options.binary.clone().map_or_else(commuter_binary, Ok)?);
    command.arg("serve").arg("--datadir").arg(folder).args(["--port", &port.to_string()]);
    command.arg("--socket").arg(folder.join("sock")).arg("--initialize-insecure");
    command.args(["--server-id", &port.to_string()]);
    command.args(&options.arguments).envs(options.environment.iter().cloned());
    if !options.slow_sync.is_zero() {
        command.env("LD_PRELOAD", shim_path());
        command.env("SLOWSYNC_US", options.slow_sync.as_micros().to_string());
        command.env("SLOWSYNC_STAT", sync_counters(folder));
    }
    command.process_group(0).stdin(Stdio::null()).stdout(log).stderr(errors);
    command.spawn().map_err(|error| format!("commuter: {error}"))
}
