//! Statements of several accounts, one a line, on two servers: their answers are to be the same. And statements about accounts in logs.
//!
//! `[user] statement` is of that account's connection, `[user!] statement` of a new one, root's without a user. `[user:password!]` logs in with
//! a password, `[user:password+!]` as a client that can change a password that has expired. RESET CONNECTION is the command.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use interop::{Answer, Connection, Credentials, Kind, Node, capability};

use crate::declared::{Declared, lines};

/// How long a replica may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// One of the servers, with a connection of each account.
pub(crate) struct Side {
    port: u16,
    socket: Option<PathBuf>,
    connections: BTreeMap<String, Connection>,
}

impl Side {
    /// Connections go over TCP, where passwords do not.
    pub(crate) fn new(port: u16) -> Self {
        Side { port, socket: None, connections: BTreeMap::new() }
    }

    /// Connections go over the local socket.
    pub(crate) fn over(socket: PathBuf) -> Self {
        Side { port: 0, socket: Some(socket), connections: BTreeMap::new() }
    }

    /// What a line gives.
    pub(crate) fn run(&mut self, line: &str) -> String {
        let (who, sql) = match line.strip_prefix('[').and_then(|rest| rest.split_once("] ")) {
            Some((who, sql)) => (who, sql),
            None => ("root", line),
        };
        let (who, is_new) = who.strip_suffix('!').map_or((who, false), |who| (who, true));
        let (user, password) = who.split_once(':').unwrap_or((who, ""));
        if is_new {
            self.connections.remove(user);
        }
        if !self.connections.contains_key(user) {
            match self.connect(user, password) {
                Ok(connection) => drop(self.connections.insert(user.to_owned(), connection)),
                Err(error) if self.socket.is_some() => return error,
                Err(error) => return error.split(" (").next().unwrap_or_default().to_owned(),
            }
        }
        let connection = self.connections.get_mut(user).unwrap();
        if sql == "RESET CONNECTION" {
            return connection.reset().err().unwrap_or_else(|| "reset".to_owned());
        }
        let answer = connection.query(sql).unwrap_or_else(|error| panic!("{line}: {error}"));
        let warnings = match &answer {
            Answer::Done(done) => done.warnings,
            _ => 0,
        };
        let mut text = shown(&answer);
        if warnings > 0 {
            text += &format!("\n{}", shown(&connection.query("SHOW WARNINGS").unwrap()));
        }
        text
    }

    fn connect(&self, user: &str, password: &str) -> interop::Result<Connection> {
        let Some(socket) = &self.socket else { return Connection::open_as(self.port, user, "") };
        let (password, capabilities) = match password.strip_suffix('+') {
            Some(password) => (password, capability::CAN_HANDLE_EXPIRED_PASSWORDS),
            None => (password, 0),
        };
        let credentials =
            Credentials { user: user.into(), password: password.into(), capabilities, ..Credentials::default() };
        Connection::open_socket(socket, credentials)
    }
}

fn shown(answer: &Answer) -> String {
    match answer {
        Answer::Failed(code, message) => format!("error {code} {message}"),
        Answer::Done(done) => format!("done, {} warnings", done.warnings),
        Answer::Rows { rows, .. } => {
            let value = |value: &Option<Vec<u8>>| match value {
                None => "NULL".to_owned(),
                Some(bytes) => bytes.escape_ascii().to_string(),
            };
            let rows: Vec<String> =
                rows.iter().map(|row| row.iter().map(value).collect::<Vec<_>>().join(" | ")).collect();
            format!("rows:\n{}", rows.join("\n"))
        }
    }
}

/// The statements of a folder have the same answers on both, but for those that its list of differences has; and those have others.
pub(crate) fn compare(folder: &str, ours: &mut Side, peer: &mut Side) {
    let mut declared = Declared::of(folder);
    for (number, line) in lines(&format!("{folder}/statements.txt")) {
        let (ours, theirs) = (ours.run(&line), peer.run(&line));
        if ours != theirs {
            declared.differs(&[&line], || format!("{number}: {line}\n  ours:  {ours}\n  MySQL: {theirs}"));
        }
    }
    declared.check();
}

/// A replica behind a source (ours, if no kind is said) that has these statements from it.
pub(crate) fn follows(test: &str, source: Option<Kind>, replica: Option<Kind>, sql: &str) -> (Node, Node) {
    let name = |kind: Option<Kind>| kind.map_or("ours", |kind| kind.name());
    let (from, to) = (format!("{test}-from-{}", name(source)), format!("{test}-to-{}", name(replica)));
    let (source, replica) = (Node::start(source, &from).unwrap(), Node::start(replica, &to).unwrap());
    if replica.kind() == Some(Kind::Maria118) {
        // Our accounts have caching_sha2_password, which MariaDB's server learns by a plugin.
        replica.client().query("INSTALL SONAME 'auth_mysql_sha2'; RESET MASTER").unwrap();
    }
    replica.follow(source.port()).unwrap();
    source.client().query(sql).unwrap();
    source.wait_for_replica(&replica, PATIENCE).unwrap();
    (source, replica)
}
