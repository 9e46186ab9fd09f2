//! A server that files run on, one after the other.

use std::fs;
use std::time::Duration;

use interop::{Answer, Connection, Kind, Node, Peer, Result, Server, ServerOptions};

/// How long a statement may take.
const PATIENCE: Duration = Duration::from_secs(8);

/// See the module.
pub(crate) struct Target {
    node: Node,
    databases: Vec<String>,
    accounts: Vec<String>,
}

impl Target {
    /// Starts a server; `None` for one of ours. Nothing that it stores has to outlive the machine.
    pub(crate) fn start(kind: Option<Kind>) -> Result<Target> {
        let node = match kind {
            None => Node::Ours(Server::start(
                "suites",
                ServerOptions::with_settings([
                    "sync_binlog=0",
                    "innodb_lock_wait_timeout=2",
                    "lock_wait_timeout=2",
                    // SHOW CREATE TABLE and information_schema are the peers' without generated keys.
                    "show_gipk_in_create_table_and_information_schema=OFF",
                ]),
            )?),
            Some(kind) => {
                let mut arguments = vec![
                    "--sync-binlog=0",
                    "--innodb-flush-log-at-trx-commit=0",
                    "--innodb-flush-method=nosync",
                    "--innodb-buffer-pool-size=256M",
                    "--innodb-lock-wait-timeout=2",
                    "--lock-wait-timeout=2",
                    "--log-bin-trust-function-creators=ON",
                ];
                match kind {
                    Kind::Mysql97 => {
                        arguments.extend(["--gtid-mode=OFF", "--enforce-gtid-consistency=OFF", "--disable-log-bin"]);
                    }
                    Kind::Maria118 => arguments.push("--skip-log-bin"),
                }
                Node::Peer(Peer::start(kind, "suites", Duration::ZERO, &arguments)?)
            }
        };
        let mut target = Target { node, databases: Vec::new(), accounts: Vec::new() };
        target.databases = target.list("SHOW DATABASES")?;
        target.accounts = target.list(ACCOUNTS)?;
        Ok(target)
    }

    /// Another connection.
    pub(crate) fn open(&self, user: &str, password: &str, database: &str) -> Result<Connection> {
        let mut connection = Connection::open_for_scripts(self.node.port(), user, password, database)?;
        connection.set_patience(PATIENCE)?;
        Ok(connection)
    }

    /// Makes it what it was at its start, but for a new database `test`.
    pub(crate) fn clean(&mut self) -> Result<()> {
        if self.try_clean().is_ok() {
            return Ok(());
        }
        // What a file has left holds a lock: it goes with its server.
        self.node.kill();
        self.node.restart()?;
        self.try_clean()
    }

    fn try_clean(&mut self) -> Result<()> {
        let mut connection = self.open("root", "", "")?;
        for database in self.list("SHOW DATABASES")? {
            if !self.databases.contains(&database) {
                let drop = format!("DROP DATABASE `{}`", database.replace('`', "``"));
                if connection.succeed(&drop).is_err() {
                    // Files that statements have written there are in the way.
                    let _ = fs::remove_dir_all(self.node.folder().join(&database));
                    connection
                        .succeed(&format!("CREATE DATABASE IF NOT EXISTS {}", &drop["DROP DATABASE ".len()..]))?;
                    connection.succeed(&drop)?;
                }
            }
        }
        for account in self.list(ACCOUNTS)? {
            if !self.accounts.contains(&account) {
                // Roles are dropped as roles on MariaDB, whose accounts have hosts.
                connection.query(&format!("DROP USER {account}"))?;
                connection.query(&format!("DROP ROLE {}", account.split('@').next().unwrap_or_default()))?;
            }
        }
        connection.succeed("CREATE DATABASE test")?;
        Ok(())
    }

    /// Gives variables their defaults.
    pub(crate) fn reset_globals(&self, names: &[String]) {
        let Ok(mut connection) = self.open("root", "", "") else { return };
        for name in names {
            if connection.query(&format!("SET GLOBAL {name} = DEFAULT")).is_err() {
                return;
            }
        }
    }

    /// Starts the server again if it has ended; whether it had.
    pub(crate) fn revive(&mut self) -> bool {
        let has_ended = (0..3).all(|_| {
            std::thread::sleep(Duration::from_millis(100));
            self.open("root", "", "").is_err()
        });
        if has_ended {
            self.node.kill();
            if let Err(error) = self.node.restart() {
                eprintln!("{error}");
            }
        }
        has_ended
    }

    fn list(&self, sql: &str) -> Result<Vec<String>> {
        match self.open("root", "", "")?.succeed(sql)? {
            Answer::Rows { rows, .. } => {
                let text = |row: Vec<Option<Vec<u8>>>| row.into_iter().flatten().next();
                Ok(rows.into_iter().filter_map(text).map(|text| String::from_utf8_lossy(&text).into_owned()).collect())
            }
            other => Err(format!("{sql}: {other:?}")),
        }
    }
}

const ACCOUNTS: &str = "SELECT CONCAT(QUOTE(user), '@', QUOTE(host)) FROM mysql.user";
