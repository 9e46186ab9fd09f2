//! Puts the peers and tools on this machine; does nothing where they are there already.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use crate::Result;
use crate::process::{run, workspace_root};

/// A server to compare with, to replicate from and to replicate to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// MySQL 9.7.
    Mysql97,
    /// MariaDB 11.8.
    Maria118,
}

impl Kind {
    /// The name in options, paths and reports.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Mysql97 => "mysql97",
            Kind::Maria118 => "maria118",
        }
    }

    fn packages(self) -> &'static [&'static str] {
        match self {
            Kind::Mysql97 => &["mysql-server-core", "mysql-client-core"],
            Kind::Maria118 => &["mariadb-server-core", "mariadb-server", "mariadb-client-core", "mariadb-client"],
        }
    }

    /// The folder with its whole system.
    pub fn root(self) -> PathBuf {
        peers_home().join(format!("{}-root", self.name()))
    }

    /// An error unless it is installed.
    pub(crate) fn check(self) -> Result<()> {
        if self.root().join(".ready").exists() {
            return mount_into(&self.root());
        }
        Err(format!("{} is not installed: run `cargo xtask install`", self.name()))
    }
}

/// Where peers, their data and the shim live: `COMMUTER_PEERS`, or `commuter-peers` in the user's cache folder.
pub fn peers_home() -> PathBuf {
    if let Some(home) = std::env::var_os("COMMUTER_PEERS") {
        return home.into();
    }
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = std::env::var_os("HOME").map_or_else(|| PathBuf::from("/"), PathBuf::from);
    cache.unwrap_or_else(|| home.join(".cache")).join("commuter-peers")
}

/// Data folders of all processes, on the disk and in memory; visible at the same paths inside the roots.
fn data_folders() -> [PathBuf; 2] {
    ["data", "memory"].map(|name| peers_home().join(name))
}

/// Data folders of this process: in memory with `COMMUTER_TEST_DATA=memory`, where tests do not wait for syncs of a disk. What others have left, which may tell why a test failed, is removed when it is an hour old.
pub(crate) fn peers_data() -> PathBuf {
    static PREPARED: Once = Once::new();
    let is_in_memory = std::env::var_os("COMMUTER_TEST_DATA").is_some_and(|kind| kind == "memory");
    let [disk, memory] = data_folders();
    let all = if is_in_memory { memory } else { disk };
    PREPARED.call_once(|| {
        if is_in_memory {
            Mounts::read().and_then(|mounts| mounts.add_memory()).unwrap_or_else(|error| panic!("{error}"));
        }
        remove_old(&all);
    });
    all.join(std::process::id().to_string())
}

/// A folder's name that no other server of this process has or had: tests that run side by side give the same.
pub(crate) fn unique_name(name: &str) -> String {
    static COUNT: AtomicU32 = AtomicU32::new(1);
    format!("{name}-{}", COUNT.fetch_add(1, Ordering::Relaxed))
}

fn remove_old(data: &Path) {
    for entry in fs::read_dir(data).into_iter().flatten().flatten() {
        let is_running = Path::new("/proc").join(entry.file_name()).exists();
        let changed = entry.metadata().and_then(|data| data.modified()).ok();
        let is_old = changed.is_some_and(|at| at.elapsed().is_ok_and(|age| age > Duration::from_secs(3600)));
        if !is_running && is_old {
            let _ = fs::remove_dir_all(entry.path()).or_else(|_| fs::remove_file(entry.path()));
        }
    }
}

/// The shim that makes syncs slower and counts them.
pub fn shim_path() -> PathBuf {
    peers_home().join("bin/slowsync.so")
}

/// The shim whose disk fails as a script says.
pub fn failing_path() -> PathBuf {
    peers_home().join("bin/failing.so")
}

/// The Python with PyMySQL, mysql-connector-python and python-mysql-replication.
pub fn python_path() -> PathBuf {
    peers_home().join("python/bin/python")
}

/// Where the JDBC drivers are.
pub(crate) fn java_folder() -> PathBuf {
    peers_home().join("java")
}

/// Where Debezium is.
pub(crate) fn debezium_folder() -> PathBuf {
    peers_home().join("debezium")
}

/// Installs both peers, sysbench, mydumper, the `mariadb` client, the Python clients and the JDBC drivers. About two minutes and 1.5 GB where
/// nothing is there yet.
///
/// # Errors
/// What the failing command printed.
pub fn install_everything() -> Result<()> {
    fs::create_dir_all(peers_home().join("bin")).map_err(|error| error.to_string())?;
    host_packages()?;
    for kind in [Kind::Mysql97, Kind::Maria118] {
        install_root(kind)?;
    }
    install_python()?;
    install_java()?;
    build_shims()
}

fn on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).exists())
}

fn host_packages() -> Result<()> {
    let wanted = [
        ("debootstrap", "debootstrap"),
        ("mariadb", "mariadb-client"),
        ("sysbench", "sysbench"),
        ("mydumper", "mydumper"),
        ("cc", "gcc"),
        ("python3", "python3"),
        ("javac", "default-jdk-headless"),
        ("mvn", "maven"),
    ];
    let mut missing: Vec<&str> =
        wanted.iter().filter(|(program, _)| !on_path(program)).map(|(_, name)| *name).collect();
    if missing.contains(&"gcc") {
        missing.push("libc6-dev");
    }
    if missing.is_empty() {
        return Ok(());
    }
    eprintln!("installing {}", missing.join(", "));
    run(Command::new("apt-get").args(["update", "-qq"]))?;
    apt_install(&mut Command::new("apt-get"), &missing)
}

fn apt_install(apt_get: &mut Command, packages: &[&str]) -> Result<()> {
    apt_get.env("DEBIAN_FRONTEND", "noninteractive");
    run(apt_get.args(["install", "-y", "-qq", "--no-install-recommends"]).args(packages)).map(drop)
}

fn install_root(kind: Kind) -> Result<()> {
    let root = kind.root();
    if !root.join(".ready").exists() {
        eprintln!("installing {} in a root of its own", kind.name());
        let _ = fs::remove_dir_all(&root);
        run(Command::new("debootstrap").args(["--variant=minbase", "sid"]).arg(&root))?;
        let setting = "Acquire::Check-Valid-Until \"false\";\n";
        fs::write(root.join("etc/apt/apt.conf.d/99stored-copy"), setting).map_err(|error| error.to_string())?;
        mount_into(&root)?;
        run(Command::new("chroot").arg(&root).args(["apt-get", "update", "-qq"]))?;
        apt_install(Command::new("chroot").arg(&root).arg("apt-get"), kind.packages())?;
        fs::write(root.join("etc/hosts"), "127.0.0.1 localhost\n").map_err(|error| error.to_string())?;
        fs::write(root.join(".ready"), "").map_err(|error| error.to_string())?;
    }
    mount_into(&root)
}

/// Makes `/proc`, `/dev` and the data folders visible in a root.
fn mount_into(root: &Path) -> Result<()> {
    let mounts = Mounts::read()?;
    mounts.add(&["-t", "proc"], Path::new("proc"), &root.join("proc"))?;
    mounts.add(&["--bind"], Path::new("/dev"), &root.join("dev"))?;
    mounts.add_memory()?;
    for data in data_folders() {
        fs::create_dir_all(&data).map_err(|error| error.to_string())?;
        mounts.add(&["--bind"], &data, &root.join(data.strip_prefix("/").unwrap_or(&data)))?;
    }
    Ok(())
}

/// What is mounted, while nothing else is: two at once would mount one over the other.
struct Mounts {
    text: String,
    /// Locked until it is closed.
    _lock: fs::File,
}

impl Mounts {
    fn read() -> Result<Mounts> {
        let lock = fs::File::create(peers_home().join(".mounting")).map_err(|error| error.to_string())?;
        lock.lock().map_err(|error| error.to_string())?;
        let text = fs::read_to_string("/proc/self/mounts").map_err(|error| error.to_string())?;
        Ok(Mounts { text, _lock: lock })
    }

    /// Mounts it, unless something is there.
    fn add(&self, arguments: &[&str], from: &Path, to: &Path) -> Result<()> {
        fs::create_dir_all(to).map_err(|error| error.to_string())?;
        if self.text.lines().any(|line| line.split(' ').nth(1) == to.to_str()) {
            return Ok(());
        }
        run(Command::new("mount").args(arguments).arg(from).arg(to)).map(drop)
    }

    /// The data folder in memory.
    fn add_memory(&self) -> Result<()> {
        let [_, memory] = data_folders();
        self.add(&["-t", "tmpfs"], Path::new("tmpfs"), &memory)
    }
}

fn install_python() -> Result<()> {
    let python = python_path();
    let works = Command::new(&python)
        .args(["-c", "import pymysql, mysql.connector, cryptography, pymysqlreplication"])
        .output();
    if works.is_ok_and(|output| output.status.success()) {
        return Ok(());
    }
    eprintln!("installing the Python clients");
    let folder = peers_home().join("python");
    let made = run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder));
    if made.is_err() {
        apt_install(&mut Command::new("apt-get"), &["python3-venv"])?;
        run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder))?;
    }
    let packages = ["pymysql", "cryptography", "mysql-connector-python", "mysql-replication"];
    run(Command::new(&python).args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).args(packages))
        .map(drop)
}

/// The version whose generator and texts of TPC-DS are used: others have other parameters.
const DUCKDB: &str = "1.1.3";

/// Makes tables and queries of TPC-DS in a folder, unless they are there: see `interop/python/tpcds.py`.
///
/// # Errors
/// What the failing command printed.
pub fn tpcds_into(folder: &Path, scale: f64) -> Result<()> {
    let (script, ready) = (workspace_root().join("interop/python/tpcds.py"), folder.join(".ready"));
    let text = fs::read_to_string(&script).map_err(|error| format!("{}: {error}", script.display()))?;
    if fs::read_to_string(&ready).is_ok_and(|made_by| made_by == text) {
        return Ok(());
    }
    let python = python_path();
    let check = format!("import duckdb; assert duckdb.__version__ == '{DUCKDB}'");
    if !Command::new(&python).args(["-c", &check]).output().is_ok_and(|output| output.status.success()) {
        let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
        run(Command::new(&python).args(pip).arg(format!("duckdb=={DUCKDB}")))?;
    }
    fs::create_dir_all(folder).map_err(|error| error.to_string())?;
    run(Command::new(&python).arg(&script).arg(folder).arg(scale.to_string()))?;
    fs::write(ready, text).map_err(|error| error.to_string())
}

/// Connector/J of MySQL and of MariaDB, and what reads logs.
fn install_java() -> Result<()> {
    let artifacts = [
        ("com.mysql:mysql-connector-j", "9.3.0"),
        ("org.mariadb.jdbc:mariadb-java-client", "3.5.3"),
        ("com.zendesk:mysql-binlog-connector-java", "0.30.1"),
    ];
    for (artifact, version) in artifacts {
        let name = artifact.rsplit(':').next().unwrap_or(artifact);
        if java_folder().join(format!("{name}-{version}.jar")).exists() {
            continue;
        }
        eprintln!("installing {name}");
        let mut maven = Command::new("mvn");
        maven.args(["-q", "-B", "dependency:copy"]).arg(format!("-Dartifact={artifact}:{version}"));
        run(maven.arg(format!("-DoutputDirectory={}", java_folder().display())))?;
    }
    install_debezium()
}

/// Debezium's connector for MySQL with all that it needs, in a folder of its own: it has versions of its own of the other libraries.
fn install_debezium() -> Result<()> {
    const VERSION: &str = "3.1.2.Final";
    let folder = debezium_folder();
    if folder.join(format!("debezium-connector-mysql-{VERSION}.jar")).exists() {
        return Ok(());
    }
    eprintln!("installing Debezium");
    let artifacts = ["debezium-embedded", "debezium-connector-mysql"].map(|artifact| {
        format!(
            "<dependency><groupId>io.debezium</groupId><artifactId>{artifact}</artifactId><version>{VERSION}</version></dependency>"
        )
    });
    let project = format!(
        "<project xmlns=\"http://maven.apache.org/POM/4.0.0\"><modelVersion>4.0.0</modelVersion><groupId>interop</groupId>\
         <artifactId>readers</artifactId><version>1</version><dependencies>{}</dependencies></project>",
        artifacts.concat()
    );
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let file = folder.join("pom.xml");
    fs::write(&file, project).map_err(|error| format!("{}: {error}", file.display()))?;
    let mut maven = Command::new("mvn");
    maven.args(["-q", "-B", "-DincludeScope=runtime", "dependency:copy-dependencies", "-f"]).arg(&file);
    run(maven.arg(format!("-DoutputDirectory={}", folder.display()))).map(drop)
}

/// Built against the host's C library, the oldest here, so that they load in the roots too.
fn build_shims() -> Result<()> {
    let age = |path: &Path| fs::metadata(path).and_then(|data| data.modified()).ok();
    for (source, shim) in [("slowsync.c", shim_path()), ("failing.c", failing_path())] {
        let source = workspace_root().join("interop").join(source);
        if age(&shim) <= age(&source) {
            let mut compiler = Command::new("cc");
            compiler.args(["-O2", "-shared", "-fPIC", "-o"]).arg(shim).arg(source).args(["-ldl", "-lpthread"]);
            run(&mut compiler)?;
        }
    }
    Ok(())
}
