//! Our relay as a process.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::install::{peers_data, unique_name};
use crate::process::{signal, wait_for_end};
use crate::{Client, Result, commuter_binary, free_port};

const START_PATIENCE: Duration = Duration::from_secs(60);
/// Offset in a file of the byte with the flag that says that the file is live.
pub const IN_USE_AT: usize = 4 + 17;

/// A running `commuter relay`; dropping it kills it, and removes its files unless a test has failed.
pub struct Relay {
    folder: PathBuf,
    source_port: u16,
    port: u16,
    arguments: Vec<String>,
    child: Child,
}

impl Relay {
    /// Starts a relay of the server on that port, in an empty folder.
    ///
    /// # Errors
    /// When it does not come up; with its log.
    pub fn start(name: &str, source_port: u16, arguments: &[&str]) -> Result<Relay> {
        let folder = peers_data().join(unique_name(&format!("commuter-relay-{name}")));
        let port = free_port();
        let arguments = arguments.iter().map(|&argument| argument.to_owned()).collect();
        let child = spawn(&folder, source_port, port, &arguments)?;
        let mut relay = Relay { folder, source_port, port, arguments, child };
        relay.wait_until_up()?;
        Ok(relay)
    }

    /// SIGKILL.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// SIGSTOP: it stands still, with its connections open.
    pub fn pause(&self) {
        signal(&self.child, libc::SIGSTOP);
    }

    /// SIGCONT.
    pub fn go_on(&self) {
        signal(&self.child, libc::SIGCONT);
    }

    /// SIGTERM; waits for the end.
    ///
    /// # Errors
    /// When it ends with a failure, or not.
    pub fn stop(&mut self) -> Result<()> {
        signal(&self.child, libc::SIGTERM);
        let status = wait_for_end(&mut self.child, Duration::from_secs(30))?;
        if status.success() { Ok(()) } else { Err(format!("{status}\n{}", self.log())) }
    }

    /// Starts it again on its files, as a relay of the server on that port.
    ///
    /// # Errors
    /// When it does not come up.
    pub fn restart_for(&mut self, source_port: u16) -> Result<()> {
        self.source_port = source_port;
        self.restart()
    }

    /// Kills it, and starts it again with these arguments.
    ///
    /// # Errors
    /// When it does not come up.
    pub fn restart_with(&mut self, arguments: &[&str]) -> Result<()> {
        self.kill();
        self.arguments = arguments.iter().map(|&argument| argument.to_owned()).collect();
        self.restart()
    }

    /// Starts it again on its files.
    ///
    /// # Errors
    /// When it does not come up.
    pub fn restart(&mut self) -> Result<()> {
        self.child = spawn(&self.folder, self.source_port, self.port, &self.arguments)?;
        self.wait_until_up()
    }

    /// A client's view of it.
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

    /// Where the files of its sources are: the first one's, the second one's, …
    pub fn files(&self, generation: u32) -> PathBuf {
        self.folder.join(format!("log.{generation}"))
    }

    /// A column of `SHOW REPLICA STATUS`; empty while it does not answer.
    pub fn status(&self, column: &str) -> String {
        self.client().column("SHOW REPLICA STATUS", column).unwrap_or_default()
    }

    /// Whether all of its files of a generation are the source's to the byte: a server with its log in that folder. But for one flag: the
    /// live file has it at the source, and with `keeps_flag` (a MariaDB) each in which its server was killed, be it behind its last event.
    ///
    /// # Errors
    /// What differs, or that one of them does not answer.
    pub fn compare_files(&self, generation: u32, source: &Client, folder: &Path, keeps_flag: bool) -> Result<()> {
        let (theirs, ours) = (listed_files(source)?, listed_files(&self.client())?);
        if ours.is_empty() || !theirs.ends_with(&ours) {
            return Err(format!("the source has {theirs:?}, the relay {ours:?}"));
        }
        let read = |path: PathBuf| fs::read(&path).map_err(|error| format!("{}: {error}", path.display()));
        for (at, (name, size)) in ours.iter().enumerate() {
            let (copy, mut original) = (read(self.files(generation).join(name))?, read(folder.join(name))?);
            // What is behind the live file's end is nobody's yet.
            original.truncate(*size);
            if at + 1 == ours.len() || keeps_flag {
                original[IN_USE_AT] &= !1;
            }
            if copy != original {
                let differs = copy.iter().zip(&original).position(|(a, b)| a != b);
                let sizes = (copy.len(), original.len());
                return Err(format!("{name}: sizes here and there {sizes:?}, the first difference at {differs:?}"));
            }
        }
        Ok(())
    }

    /// What it has logged.
    pub fn log(&self) -> String {
        fs::read_to_string(self.folder.with_extension("log")).unwrap_or_default()
    }

    fn wait_until_up(&mut self) -> Result<()> {
        let start = Instant::now();
        while start.elapsed() < START_PATIENCE {
            if self.client().query("SELECT @@server_id").is_ok() {
                return Ok(());
            }
            if let Ok(Some(status)) = self.child.try_wait() {
                return Err(format!("the relay ended with {status}:\n{}", self.log()));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Err(format!("the relay does not answer:\n{}", self.log()))
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.kill();
        if !std::thread::panicking() {
            let _ = fs::remove_dir_all(&self.folder);
        }
    }
}

/// Names and sizes.
fn listed_files(client: &Client) -> Result<Vec<(String, usize)>> {
    let file = |line: &str| {
        let (name, rest) = line.split_once('\t')?;
        Some((name.to_owned(), rest.split('\t').next()?.parse().ok()?))
    };
    Ok(client.query("SHOW BINARY LOGS")?.lines().filter_map(file).collect())
}

fn spawn(folder: &Path, source_port: u16, port: u16, arguments: &Vec<String>) -> Result<Child> {
    let log = fs::OpenOptions::new().create(true).append(true).open(folder.with_extension("log"));
    let log = log.map_err(|error| error.to_string())?;
    let mut command = Command::new(commuter_binary()?);
    command.args(["relay", "--source", &format!("mysql://root@127.0.0.1:{source_port}"), "--datadir"]).arg(folder);
    command.args(["--port", &port.to_string(), "--server-id", &port.to_string()]).args(arguments);
    command.process_group(0).stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
    command.spawn().map_err(|error| format!("commuter relay: {error}"))
}
