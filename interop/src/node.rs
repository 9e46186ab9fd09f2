//! A server of any of the three kinds, where a test is the same for all of them.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::{Client, Kind, Peer, Result, Server, ServerOptions};

/// See the module.
pub enum Node {
    /// One of ours.
    Ours(Server),
    /// A MySQL or a MariaDB.
    Peer(Peer),
}

impl Node {
    /// Starts one on an empty folder, with an empty log; `None` for one of ours.
    ///
    /// # Errors
    /// When it does not come up.
    pub fn start(kind: Option<Kind>, name: &str) -> Result<Node> {
        let Some(kind) = kind else { return Server::start(name, ServerOptions::default()).map(Node::Ours) };
        let arguments: &[&str] = match kind {
            Kind::Mysql97 => &[],
            Kind::Maria118 => &["--log-slave-updates"],
        };
        let peer = Peer::start(kind, name, Duration::ZERO, arguments)?;
        let reset = if kind == Kind::Mysql97 { "RESET BINARY LOGS AND GTIDS" } else { "RESET MASTER" };
        peer.client().query(reset)?;
        Ok(Node::Peer(peer))
    }

    /// `None` for one of ours.
    pub fn kind(&self) -> Option<Kind> {
        match self {
            Node::Ours(_) => None,
            Node::Peer(peer) => Some(peer.kind()),
        }
    }

    /// A client's view of it, as root.
    pub fn client(&self) -> Client {
        match self {
            Node::Ours(server) => server.client(),
            Node::Peer(peer) => peer.client(),
        }
    }

    /// Its TCP port on 127.0.0.1.
    pub fn port(&self) -> u16 {
        match self {
            Node::Ours(server) => server.port(),
            Node::Peer(peer) => peer.port(),
        }
    }

    /// Where its log is.
    pub fn folder(&self) -> PathBuf {
        match self {
            Node::Ours(server) => server.folder().to_path_buf(),
            Node::Peer(peer) => peer.folder(),
        }
    }

    /// SIGKILL.
    pub fn kill(&mut self) {
        match self {
            Node::Ours(server) => server.kill(),
            Node::Peer(peer) => peer.kill(),
        }
    }

    /// Starts it again on its data.
    ///
    /// # Errors
    /// When it does not come up.
    pub fn restart(&mut self) -> Result<()> {
        match self {
            Node::Ours(server) => server.restart().map(drop),
            Node::Peer(peer) => peer.restart().map(drop),
        }
    }

    /// Follows whoever listens on a port, by GTIDs, from the first transaction on. It forgets what it has logged so far, which its own
    /// accounts are of one of ours.
    ///
    /// # Errors
    /// When it refuses.
    pub fn follow(&self, port: u16) -> Result<()> {
        let sql = match self.kind() {
            Some(Kind::Maria118) => format!(
                "CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT={port}, MASTER_USER='root', MASTER_USE_GTID=slave_pos, \
                 MASTER_CONNECT_RETRY=1, MASTER_SSL_VERIFY_SERVER_CERT=0; START SLAVE"
            ),
            _ => format!(
                "RESET BINARY LOGS AND GTIDS; CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={port}, SOURCE_USER='root', SOURCE_AUTO_POSITION=1, \
                 GET_SOURCE_PUBLIC_KEY=1, SOURCE_CONNECT_RETRY=1, SOURCE_RETRY_COUNT=100; START REPLICA"
            ),
        };
        self.client().query(&sql).map(drop)
    }

    /// What it says of its replication, for messages.
    pub fn replica_status(&self) -> String {
        let sql = if self.kind() == Some(Kind::Maria118) { "SHOW SLAVE STATUS\\G" } else { "SHOW REPLICA STATUS\\G" };
        self.client().query(sql).unwrap_or_else(|error| error)
    }

    /// The end of its log: file and position.
    ///
    /// # Errors
    /// When it does not answer.
    pub fn log_end(&self) -> Result<String> {
        let sql = if self.kind() == Some(Kind::Maria118) { "SHOW MASTER STATUS" } else { "SHOW BINARY LOG STATUS" };
        let text = self.client().query(sql)?;
        Ok(text.split('\t').take(2).collect::<Vec<_>>().join(":"))
    }

    /// Waits until a replica, over whoever is between, has a row that is written here now; an error of the replica's ends it.
    ///
    /// # Errors
    /// When it has not in time; with what it says of itself.
    pub fn wait_for_replica(&self, replica: &Node, patience: Duration) -> Result<()> {
        let client = self.client();
        if client.query("SHOW TABLES FROM d LIKE 'marks'")?.is_empty() {
            client.query("CREATE TABLE d.marks (id INT AUTO_INCREMENT PRIMARY KEY, n INT)")?;
        }
        client.query("INSERT INTO d.marks (n) VALUES (1)")?;
        let last = client.query("SELECT MAX(id) FROM d.marks")?;
        let start = Instant::now();
        while replica.client().query("SELECT MAX(id) FROM d.marks").as_ref() != Ok(&last) {
            let error = replica.sql_error();
            if start.elapsed() > patience || !error.is_empty() {
                return Err(format!("{error} after {:?}:\n{}", start.elapsed(), replica.replica_status()));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }

    /// What has stopped its applier; empty if nothing has.
    pub fn sql_error(&self) -> String {
        let sql = if self.kind() == Some(Kind::Maria118) { "SHOW SLAVE STATUS" } else { "SHOW REPLICA STATUS" };
        self.client().column(sql, "Last_SQL_Error").unwrap_or_default()
    }
}
