//! Server processes of the demo: this program again, as `commuter serve`.

use std::fs::File;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::{Result, START_PATIENCE, client_error};
use crate::client::{Client, ServerUrl};

/// Whom a server follows.
#[derive(Clone, Copy)]
pub(crate) struct Follow {
    pub(crate) port: u16,
}

/// A server; dropping it kills it.
pub(crate) struct ServerProcess {
    name: &'static str,
    folder: PathBuf,
    port: u16,
    server_id: u32,
    follow: Option<Follow>,
    child: Child,
}

impl ServerProcess {
    pub(crate) fn start(folder: &Path, name: &'static str, server_id: u32, follow: Option<Follow>) -> Result<Self> {
        let folder = folder.join(name);
        let port = free_port()?;
        let child = spawn(&folder, port, server_id, follow)?;
        let mut server = ServerProcess { name, folder, port, server_id, follow, child };
        server.wait_until_up()?;
        Ok(server)
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn connect(&self) -> Result<Client> {
        Client::connect(&ServerUrl::loopback(self.port), Some(START_PATIENCE)).map_err(client_error)
    }

    /// SIGKILL.
    pub(crate) fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Starts it again on its data; the time until it answered.
    pub(crate) fn restart(&mut self) -> Result<Duration> {
        let start = Instant::now();
        self.child = spawn(&self.folder, self.port, self.server_id, self.follow)?;
        self.wait_until_up()?;
        Ok(start.elapsed())
    }

    /// A clean shutdown by the statement.
    pub(crate) fn stop(&mut self) -> Result<()> {
        self.connect()?.query("SHUTDOWN").map_err(client_error)?;
        let start = Instant::now();
        while start.elapsed() < START_PATIENCE {
            match self.child.try_wait() {
                Ok(Some(status)) if status.success() => return Ok(()),
                Ok(Some(status)) => return Err(format!("the {} ended with {status}", self.name)),
                Ok(None) => std::thread::sleep(Duration::from_millis(10)),
                Err(error) => return Err(error.to_string()),
            }
        }
        Err(format!("the {} did not shut down within {START_PATIENCE:?}", self.name))
    }

    fn wait_until_up(&mut self) -> Result<()> {
        let start = Instant::now();
        while start.elapsed() < START_PATIENCE {
            if self.connect().and_then(|mut client| client.query("SELECT 1").map_err(client_error)).is_ok() {
                return Ok(());
            }
            if let Ok(Some(status)) = self.child.try_wait() {
                return Err(format!("the {} ended with {status}; see {}", self.name, messages(&self.folder).display()));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Err(format!("the {} does not answer; see {}", self.name, messages(&self.folder).display()))
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        self.kill();
    }
}

fn messages(folder: &Path) -> PathBuf {
    folder.with_extension("log")
}

fn free_port() -> Result<u16> {
    let listener = TcpListener::bind("127.0.0.1:0").map_err(|error| error.to_string())?;
    listener.local_addr().map(|address| address.port()).map_err(|error| error.to_string())
}

fn spawn(folder: &Path, port: u16, server_id: u32, follow: Option<Follow>) -> Result<Child> {
    let text = |error: std::io::Error| error.to_string();
    let log = File::options().create(true).append(true).open(messages(folder)).map_err(text)?;
    let mut command = Command::new(std::env::current_exe().map_err(text)?);
    command.arg("serve").arg("--datadir").arg(folder).args(["--port", &port.to_string()]);
    command.args(["--server-id", &server_id.to_string(), "--initialize-insecure"]);
    command.arg("--socket").arg(folder.with_extension("sock"));
    if let Some(follow) = follow {
        command.args(["--follow", &format!("mysql://root@127.0.0.1:{}", follow.port)]);
    }
    command.stdin(Stdio::null()).stdout(log.try_clone().map_err(text)?).stderr(log);
    command.spawn().map_err(|error| format!("{command:?}: {error}"))
}
