//! Clients: the `mariadb` command line, the peers' own tools, sysbench, Python drivers.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::install::{debezium_folder, java_folder};
use crate::process::workspace_root;
use crate::process::{checked, run};
use crate::{Kind, Result, python_path};

/// The `mariadb` command-line client towards one server, as root.
#[derive(Clone, Debug)]
pub struct Client {
    arguments: Vec<String>,
    port: u16,
}

impl Client {
    /// Over TCP on loopback without a password.
    pub fn tcp(port: u16) -> Client {
        let arguments = ["--no-defaults", "--skip-ssl", "-h127.0.0.1", "-uroot", "-N", "-B"];
        let mut arguments: Vec<String> = arguments.map(str::to_owned).into();
        arguments.push(format!("-P{port}"));
        Client { arguments, port }
    }

    /// Over a unix socket.
    pub fn socket(path: PathBuf) -> Client {
        let mut arguments: Vec<String> = ["--no-defaults", "-uroot", "-N", "-B"].map(str::to_owned).into();
        arguments.push(format!("--socket={}", path.display()));
        Client { arguments, port: 0 }
    }

    /// Runs statements; rows as lines, columns apart by tabs.
    ///
    /// # Errors
    /// What the client printed.
    pub fn query(&self, sql: &str) -> Result<String> {
        run(Command::new("mariadb").args(&self.arguments).args(["-e", sql]))
    }

    /// A column of the first row, by name (`SHOW REPLICA STATUS`).
    ///
    /// # Errors
    /// What the client printed, or that there is no row or no such column.
    pub fn column(&self, sql: &str, name: &str) -> Result<String> {
        let text = run(Command::new("mariadb").args(&self.arguments).args(["--column-names", "-e", sql]))?;
        let mut lines = text.lines().map(|line| line.split('\t'));
        let (names, values) = (lines.next().into_iter().flatten(), lines.next().into_iter().flatten());
        let found = names.zip(values).find(|(column, _)| *column == name);
        found.map(|(_, value)| value.to_owned()).ok_or_else(|| format!("no {name} in\n{text}"))
    }

    /// Runs a script in a database, going on after errors; rows and errors in their order.
    ///
    /// # Errors
    /// When the client cannot be started or connect.
    pub fn script(&self, database: &str, sql: &str) -> Result<String> {
        // The client writes rows and errors to two streams; only a shell joins them in their order.
        let mut command = Command::new("sh");
        command.args(["-c", "exec mariadb \"$@\" 2>&1", "mariadb"]).args(&self.arguments);
        command.args(["--force", "--comments", "--unbuffered", database]);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{command:?}: {error}"))?;
        let mut input = child.stdin.take().ok_or("no input of the client")?;
        let sql = sql.to_owned();
        let writer = std::thread::spawn(move || input.write_all(sql.as_bytes()));
        let output = child.wait_with_output().map_err(|error| error.to_string())?;
        writer.join().map_err(|_| "the writer panicked")?.map_err(|error| error.to_string())?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Runs the statements of a file.
    ///
    /// # Errors
    /// What the client printed at the first statement that fails, or that there is no such file.
    pub fn load(&self, file: &Path) -> Result<String> {
        let input = File::open(file).map_err(|error| format!("{}: {error}", file.display()))?;
        let mut command = Command::new("mariadb");
        command.args(&self.arguments).stdin(input);
        let output = command.output().map_err(|error| error.to_string())?;
        checked(&command, &output)
    }

    /// Number of a single value, for counters.
    ///
    /// # Errors
    /// What the client printed, or that it is no number.
    pub fn number(&self, sql: &str) -> Result<i64> {
        let text = self.query(sql)?;
        text.trim().parse().map_err(|_| format!("{sql}: '{text}' is not a number"))
    }

    /// Value of a status counter.
    ///
    /// # Errors
    /// As [`Client::query`].
    pub fn status(&self, name: &str) -> Result<i64> {
        let line = self.query(&format!("SHOW GLOBAL STATUS LIKE '{name}'"))?;
        let value = line.split_whitespace().nth(1).unwrap_or_default();
        value.parse().map_err(|_| format!("status {name}: '{line}'"))
    }

    /// The TCP port.
    pub fn port(&self) -> u16 {
        self.port
    }
}

/// Runs a program of a peer's system (`mysql`, `mysqlbinlog`, `mariadb-binlog`); it sees the data folders.
///
/// # Errors
/// What it printed.
pub fn run_tool(kind: Kind, program: &str, arguments: &[&str]) -> Result<String> {
    kind.check()?;
    run(Command::new("chroot").arg(kind.root()).arg(program).args(arguments))
}

/// Runs a Python script with PyMySQL, mysql-connector-python and python-mysql-replication at hand.
///
/// # Errors
/// What it printed.
pub fn python(script: &str, arguments: &[&str]) -> Result<String> {
    run(Command::new(python_path()).arg("-c").arg(script).args(arguments))
}

/// Runs a program of `interop/java` with both JDBC drivers, and a library that reads logs, at hand.
///
/// # Errors
/// What it printed.
pub fn java(program: &str, arguments: &[&str]) -> Result<String> {
    java_with(&java_folder(), program, arguments)
}

/// The same with Debezium at hand.
///
/// # Errors
/// What it printed.
pub fn java_with_debezium(program: &str, arguments: &[&str]) -> Result<String> {
    java_with(&debezium_folder(), program, arguments)
}

fn java_with(libraries: &Path, program: &str, arguments: &[&str]) -> Result<String> {
    let source = workspace_root().join(format!("interop/java/{program}.java"));
    run(Command::new("java").arg("-cp").arg(libraries.join("*")).arg(source).args(arguments))
}

/// A run of real sysbench.
#[derive(Clone, Debug)]
pub struct Sysbench {
    /// Script, as `oltp_update_index`, or a path.
    pub script: String,
    /// TCP port of the server.
    pub port: u16,
    /// Concurrent clients.
    pub threads: u32,
    /// Length, in seconds.
    pub seconds: u32,
    /// Number of tables.
    pub tables: u32,
    /// Rows of each.
    pub table_size: u32,
    /// Anything else, as `--rand-type=uniform`.
    pub more: Vec<String>,
}

/// What sysbench reports at its end.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SysbenchReport {
    /// Transactions a second.
    pub transactions: f64,
    /// Queries a second.
    pub queries: f64,
    /// Errors that it ignored.
    pub errors: u64,
    /// Average and 95th percentile of a transaction, in milliseconds.
    pub latency_avg_ms: f64,
    /// See `latency_avg_ms`.
    pub latency_p95_ms: f64,
}

/// One second of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SysbenchSecond {
    /// Transactions.
    pub transactions: f64,
    /// 99th percentile of a transaction, in milliseconds.
    pub latency_p99_ms: f64,
}

impl SysbenchSecond {
    /// `[ 7s ] thds: 64 tps: 9513.91 qps: 9513.91 (r/w/o: …) lat (ms,99%): 12.75 err/s: 0.00 reconn/s: 0.00`
    fn parse(line: &str) -> Option<Self> {
        let after = |label: &str| line.split(label).nth(1)?.split_whitespace().next()?.parse().ok();
        Some(SysbenchSecond { transactions: after(" tps:")?, latency_p99_ms: after("lat (ms,99%):")? })
    }
}

impl Sysbench {
    fn command(&self, action: &str) -> Command {
        let mut command = Command::new("sysbench");
        command
            .args(["--db-driver=mysql", "--mysql-host=127.0.0.1", "--mysql-user=root", "--mysql-ssl=off"])
            .arg(format!("--mysql-port={}", self.port))
            .arg(format!("--threads={}", self.threads))
            .arg(format!("--time={}", self.seconds))
            .arg(format!("--tables={}", self.tables))
            .arg(format!("--table-size={}", self.table_size))
            .args(&self.more)
            .args([&self.script, action]);
        command
    }

    /// Creates and fills its tables.
    ///
    /// # Errors
    /// What it printed.
    pub fn prepare(&self) -> Result<()> {
        run(&mut self.command("prepare")).map(drop)
    }

    /// Drops its tables.
    ///
    /// # Errors
    /// What it printed.
    pub fn cleanup(&self) -> Result<()> {
        run(&mut self.command("cleanup")).map(drop)
    }

    /// Runs the load, and tells of each second while it runs.
    ///
    /// # Errors
    /// What it printed.
    pub fn run_by_seconds(&self, mut each: impl FnMut(SysbenchSecond)) -> Result<()> {
        let mut command = self.command("run");
        command.args(["--report-interval=1", "--percentile=99"]).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|error| format!("sysbench: {error}"))?;
        let output = child.stdout.take().ok_or("no output of sysbench")?;
        let mut text = String::new();
        for line in BufReader::new(output).lines() {
            let line = line.map_err(|error| error.to_string())?;
            text.push_str(&line);
            text.push('\n');
            if let Some(second) = SysbenchSecond::parse(&line) {
                each(second);
            }
        }
        let status = child.wait().map_err(|error| error.to_string())?;
        if status.success() { Ok(()) } else { Err(format!("sysbench: {status}\n{text}")) }
    }

    /// Runs the load.
    ///
    /// # Errors
    /// What it printed.
    pub fn run(&self) -> Result<SysbenchReport> {
        let text = run(&mut self.command("run"))?;
        let rate = |label: &str| {
            let line = text.lines().find(|line| line.trim_start().starts_with(label))?;
            line.split('(').nth(1)?.split(' ').next()?.parse::<f64>().ok()
        };
        let value = |label: &str| {
            let line = text.lines().find(|line| line.trim_start().starts_with(label))?;
            line.split(':').nth(1)?.split_whitespace().next()?.parse::<f64>().ok()
        };
        let (Some(transactions), Some(queries)) = (rate("transactions:"), rate("queries:")) else {
            return Err(format!("sysbench printed no result:\n{text}"));
        };
        Ok(SysbenchReport {
            transactions,
            queries,
            errors: value("ignored errors:").unwrap_or_default() as u64,
            latency_avg_ms: value("avg:").unwrap_or_default(),
            latency_p95_ms: value("95th percentile:").unwrap_or_default(),
        })
    }
}
