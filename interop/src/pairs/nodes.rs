//! The two servers of a pair, and a third one that runs the same statements by itself.

use std::time::{Duration, Instant};

use super::Pair;
use super::tables::DATABASES;
use crate::{Answer, Connection, Kind, Node, Peer, Result, Server, ServerOptions};

const PATIENCE: Duration = Duration::from_secs(60);

/// See the module.
pub(super) struct Nodes {
    pair: Pair,
    source: Node,
    second: Node,
    marks: u64,
}

/// Servers of a pair need not outlive a power failure.
fn start(kind: Option<Kind>, name: &str) -> Result<Node> {
    match kind {
        None => {
            let settings = ["version=11.8.0-commuter", "sync_binlog=0", "innodb_flush_log_at_trx_commit=0"];
            Server::start(name, ServerOptions::with_settings(settings)).map(Node::Ours)
        }
        Some(kind) => {
            let more: &[&str] = match kind {
                Kind::Mysql97 => &[],
                Kind::Maria118 => &["--log-slave-updates"],
            };
            let quick = ["--sync-binlog=0", "--innodb-flush-log-at-trx-commit=0"];
            let peer = Peer::start(kind, name, Duration::ZERO, &[&quick[..], more].concat())?;
            if kind == Kind::Maria118 {
                peer.client().query("INSTALL SONAME 'auth_mysql_sha2'")?;
            }
            Ok(Node::Peer(peer))
        }
    }
}

/// Nothing is in a peer: no rows, no log, no source.
fn empty(node: &Node) -> Result<()> {
    let mut connection = Connection::open(node.port(), "")?;
    let reset: &[&str] = match node.kind() {
        Some(Kind::Maria118) => &["STOP SLAVE", "RESET SLAVE ALL", "RESET MASTER", "SET GLOBAL gtid_slave_pos = ''"],
        _ => &["STOP REPLICA", "RESET REPLICA ALL", "RESET BINARY LOGS AND GTIDS"],
    };
    connection.succeed(reset[0])?;
    connection.succeed(reset[1])?;
    connection.roll_back_prepared()?;
    // Tables of one database may refer to those of another.
    connection.succeed("SET foreign_key_checks = 0")?;
    for database in DATABASES.iter().chain(&["pm"]) {
        connection.succeed(&format!("DROP DATABASE IF EXISTS {database}"))?;
    }
    reset[2..].iter().try_for_each(|sql| connection.succeed(sql).map(drop))
}

impl Nodes {
    /// Starts both.
    pub(super) fn start(pair: Pair) -> Result<Nodes> {
        let source = start(pair.source, &format!("pairs-{}", pair.name))?;
        let second = Nodes::start_second(pair, &source)?;
        let mut nodes = Nodes { pair, source, second, marks: 0 };
        nodes.connect()?;
        Ok(nodes)
    }

    fn start_second(pair: Pair, source: &Node) -> Result<Node> {
        let name = format!("pairs-{}-second", pair.name);
        match source {
            Node::Ours(source) if pair.second.is_none() => source.start_follower(&name).map(Node::Ours),
            _ => start(pair.second, &name),
        }
    }

    fn connect(&mut self) -> Result<()> {
        for node in [&self.source, &self.second] {
            if node.kind().is_some() {
                empty(node)?;
            }
        }
        self.source.client().query("CREATE DATABASE pm; CREATE TABLE pm.marks (id BIGINT PRIMARY KEY)")?;
        if !self.pair.direct && (self.source.kind().is_some() || self.second.kind().is_some()) {
            self.second.follow(self.source.port())?;
        }
        Ok(())
    }

    /// Both as they were at first.
    pub(super) fn renew(&mut self) -> Result<()> {
        let is_copy = self.pair.source.is_none() && self.pair.second.is_none();
        if self.source.kind().is_none() {
            self.source = start(None, &format!("pairs-{}", self.pair.name))?;
        }
        if self.second.kind().is_none() || is_copy {
            self.second = Nodes::start_second(self.pair, &self.source)?;
        }
        self.connect()
    }

    /// A client of the source.
    pub(super) fn source(&self) -> Result<Connection> {
        Connection::open(self.source.port(), "")
    }

    /// A client of the other one.
    pub(super) fn second(&self) -> Result<Connection> {
        Connection::open(self.second.port(), "")
    }

    /// Waits until the replica has all that its source has.
    pub(super) fn catch_up(&mut self) -> Result<()> {
        self.marks += 1;
        self.source()?.succeed(&format!("REPLACE INTO pm.marks VALUES ({})", self.marks))?;
        let mut connection = self.second()?;
        let find = format!("SELECT COUNT(*) FROM pm.marks WHERE id = {}", self.marks);
        let is_maria = self.second.kind() == Some(Kind::Maria118);
        let status = if is_maria { "SHOW SLAVE STATUS" } else { "SHOW REPLICA STATUS" };
        let start = Instant::now();
        loop {
            if let Answer::Rows { rows, .. } = connection.query(&find)?
                && rows.first().is_some_and(|row| row[0].as_deref() == Some(b"1"))
            {
                return Ok(());
            }
            let Answer::Rows { columns, rows, .. } = connection.query(status)? else {
                return Err("no status".into());
            };
            let column = |name: &str| {
                let at = columns.iter().position(|column| column.name == name)?;
                Some(String::from_utf8_lossy(rows.first()?[at].as_deref()?).into_owned())
            };
            let error = column("Last_SQL_Error").unwrap_or_default();
            if !error.is_empty() {
                let error = worker_error(&mut connection).unwrap_or(error);
                return Err(format!("the replica stopped: {error}"));
            }
            if start.elapsed() > PATIENCE {
                let error = column("Last_IO_Error").unwrap_or_default();
                return Err(format!("the replica does not catch up: {error}\n{}", self.second.replica_status()));
            }
            std::thread::sleep(Duration::from_millis(4));
        }
    }
}

/// What stopped a worker of a MySQL, of which SHOW REPLICA STATUS only says that it did.
fn worker_error(connection: &mut Connection) -> Option<String> {
    let sql = "SELECT last_error_message FROM performance_schema.replication_applier_status_by_worker
        WHERE last_error_number <> 0";
    let Ok(Answer::Rows { rows, .. }) = connection.query(sql) else { return None };
    Some(String::from_utf8_lossy(rows.first()?[0].as_deref()?).into_owned())
}
