//! A real MySQL or MariaDB server, fully durable, on loopback.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::install::{peers_data, unique_name};
use crate::process::{run, signal, wait_for_end};
use crate::{Client, Kind, Result, free_port, shim_path};

const START_PATIENCE: Duration = Duration::from_secs(300);

/// A running peer; dropping it kills it, and removes its data unless a test has failed.
pub struct Peer {
    kind: Kind,
    name: String,
    port: u16,
    slow_sync: Duration,
    arguments: Vec<String>,
    child: Child,
}

impl Peer {
    /// Starts a peer on an empty data folder. `name` tells it from others of its kind that run at once;
    /// `slow_sync` is added to each of its syncs; `arguments` go to the server.
    ///
    /// # Errors
    /// When it is not installed or does not come up; with its error log.
    pub fn start(kind: Kind, name: &str, slow_sync: Duration, arguments: &[&str]) -> Result<Peer> {
        kind.check()?;
        let name = unique_name(&format!("{}-{name}", kind.name()));
        initialise(kind, &name)?;
        let arguments = arguments.iter().map(|&argument| argument.to_owned()).collect();
        let port = free_port();
        let child = spawn(kind, &name, port, slow_sync, &arguments)?;
        let mut peer = Peer { kind, name, port, slow_sync, arguments, child };
        peer.wait_until_up()?;
        Ok(peer)
    }

    /// The same with redo logs of 2 GB, so that nothing but the disk holds its commits up: for figures. Tests start many
    /// at once, and the space is taken at the start.
    ///
    /// # Errors
    /// When it is not installed or does not come up; with its error log.
    pub fn start_large(kind: Kind, name: &str, slow_sync: Duration, arguments: &[&str]) -> Result<Peer> {
        let redo = match kind {
            Kind::Mysql97 => "--innodb-redo-log-capacity=2G",
            Kind::Maria118 => "--innodb-log-file-size=2G",
        };
        Peer::start(kind, name, slow_sync, &[&[redo], arguments].concat())
    }

    /// Starts it again on its data, after [`Peer::kill`] or [`Peer::stop`]; the time until it answers.
    ///
    /// # Errors
    /// When it does not come up.
    pub fn restart(&mut self) -> Result<Duration> {
        let start = Instant::now();
        self.child = spawn(self.kind, &self.name, self.port, self.slow_sync, &self.arguments)?;
        self.wait_until_up()?;
        Ok(start.elapsed())
    }

    /// How it is started the next time.
    pub fn set_arguments(&mut self, slow_sync: Duration, arguments: Vec<String>) {
        (self.slow_sync, self.arguments) = (slow_sync, arguments);
    }

    /// SIGKILL.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// A clean shutdown.
    ///
    /// # Errors
    /// When it takes more than two minutes.
    pub fn stop(&mut self) -> Result<()> {
        signal(&self.child, libc::SIGTERM);
        wait_for_end(&mut self.child, Duration::from_secs(120)).map(drop)
    }

    /// A client's view of it, as root.
    pub fn client(&self) -> Client {
        Client::tcp(self.port)
    }

    /// Its TCP port on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Which server it is.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Its data folder.
    pub fn folder(&self) -> PathBuf {
        peers_data().join(&self.name)
    }

    fn wait_until_up(&mut self) -> Result<()> {
        let start = Instant::now();
        while start.elapsed() < START_PATIENCE {
            if self.client().query("SELECT 1").is_ok() {
                return Ok(());
            }
            if let Ok(Some(status)) = self.child.try_wait() {
                return Err(format!("{} ended with {status}:\n{}", self.name, self.error_log()));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Err(format!("{} does not answer:\n{}", self.name, self.error_log()))
    }

    fn error_log(&self) -> String {
        let log = fs::read_to_string(self.folder().join("error.log")).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(20)..].join("\n")
    }
}

/// Its data takes hundreds of megabytes, so it goes, unless somebody may want to see what a test did with it.
impl Drop for Peer {
    fn drop(&mut self) {
        self.kill();
        if !std::thread::panicking() {
            let _ = fs::remove_dir_all(self.folder());
            let _ = fs::remove_dir_all(temporary(&self.name));
        }
    }
}

/// Where it keeps temporary files: a folder of its own, because a server that starts removes every temporary
/// table that it finds there, also one that another server is using. Not in the data folder, which has to be empty
/// at first and whose folders are databases.
fn temporary(name: &str) -> PathBuf {
    peers_data().join(format!("{name}.tmp"))
}

/// A data folder as a new server has it, with an identity of its own.
fn initialise(kind: Kind, name: &str) -> Result<()> {
    let (folder, temporary) = (peers_data().join(name), temporary(name));
    for old in [&folder, &temporary] {
        let _ = fs::remove_dir_all(old);
    }
    fs::create_dir_all(&temporary).map_err(|error| error.to_string())?;
    run(Command::new("cp").arg("-a").arg(initialised(kind)?).arg(&folder))?;
    // It has MySQL's UUID of a server.
    let _ = fs::remove_file(folder.join("auto.cnf"));
    let setup = "SET sql_log_bin=0;\nCREATE USER IF NOT EXISTS root@'127.0.0.1';\n\
                 GRANT ALL ON *.* TO root@'127.0.0.1' WITH GRANT OPTION;\nCREATE DATABASE IF NOT EXISTS sbtest;\n";
    fs::write(folder.join("setup.sql"), setup).map_err(|error| error.to_string())
}

/// A data folder that a server of the kind has initialised, to be copied: MySQL takes three seconds for one. It stays with the packages
/// that have made it.
fn initialised(kind: Kind) -> Result<PathBuf> {
    let done = kind.root().join("initialised");
    let lock = fs::File::create(kind.root().join(".initialising")).map_err(|error| error.to_string())?;
    // Let go when it is closed.
    lock.lock().map_err(|error| error.to_string())?;
    if done.exists() {
        return Ok(done);
    }
    // In the root, where it is renamed in the end: other folders of data may be on other disks.
    let folder = kind.root().join("initialising");
    let _ = fs::remove_dir_all(&folder);
    let mut command = Command::new("chroot");
    command.arg(kind.root());
    let datadir = "--datadir=/initialising";
    match kind {
        Kind::Mysql97 => command.args(["mysqld", "--no-defaults", "--user=root", "--initialize-insecure"]).args([
            "--secure-file-priv=NULL",
            "--innodb-redo-log-capacity=64M",
            datadir,
        ]),
        Kind::Maria118 => {
            fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
            command.args(["mariadb-install-db", "--no-defaults", "--user=root", datadir]).args([
                "--innodb-log-file-size=32M",
                "--auth-root-authentication-method=normal",
                "--skip-test-db",
                "--force",
            ])
        }
    };
    run(&mut command)?;
    fs::rename(&folder, &done).map_err(|error| format!("{}: {error}", done.display()))?;
    Ok(done)
}

fn spawn(kind: Kind, name: &str, port: u16, slow_sync: Duration, arguments: &Vec<String>) -> Result<Child> {
    let folder = peers_data().join(name);
    let at = |file: &str| folder.join(file).display().to_string();
    // Inside the root the shim is not at its path; the data folder is, so a copy goes there.
    let shim = folder.join("slowsync.so");
    fs::copy(shim_path(), &shim).map_err(|error| format!("the shim: {error}; run `cargo xtask install`"))?;
    let (program, own): (&str, &[&str]) = match kind {
        Kind::Mysql97 => (
            "mysqld",
            &[
                "--innodb-redo-log-capacity=64M",
                "--gtid-mode=ON",
                "--enforce-gtid-consistency=ON",
                "--mysqlx=OFF",
                "--secure-file-priv=NULL",
            ],
        ),
        Kind::Maria118 => ("mariadbd", &["--innodb-log-file-size=32M", "--gtid-strict-mode=ON", "--binlog-format=ROW"]),
    };
    let mut command = Command::new("chroot");
    command
        .arg(kind.root())
        .arg("env")
        .arg(format!("LD_PRELOAD={}", shim.display()))
        .arg(format!("SLOWSYNC_US={}", slow_sync.as_micros()))
        .arg(format!("SLOWSYNC_STAT={}", at("sync.stat")))
        .args([program, "--no-defaults", "--user=root", "--bind-address=127.0.0.1", "--log-bin=bin"])
        .args(["--sync-binlog=1", "--binlog-row-image=FULL", "--innodb-flush-log-at-trx-commit=1"])
        .args(["--innodb-flush-method=O_DIRECT", "--innodb-buffer-pool-size=2G", "--max-connections=1000"])
        .arg("--skip-name-resolve")
        .arg(format!("--datadir={}", folder.display()))
        .arg(format!("--tmpdir={}", temporary(name).display()))
        .arg(format!("--socket={}", at("sock")))
        .arg(format!("--pid-file={}", at("pid")))
        .arg(format!("--log-error={}", at("error.log")))
        .arg(format!("--init-file={}", at("setup.sql")))
        .arg(format!("--port={port}"))
        .arg(format!("--server-id={port}"))
        .args(own)
        .args(arguments);
    // A group of its own, so that a Ctrl-C at the terminal reaches the test first.
    command.process_group(0).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().map_err(|error| format!("{name}: {error}"))
}
