//! Roles are what they are on MySQL 9.7: the statements of `interop/roles/statements.txt`, as several accounts, give the same rows, errors
//! and warnings there and here.
//!
//! The peer is the expectation. What differs on purpose is listed in `interop/roles/differences.txt` with its reason.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::Duration;

use interop::{Answer, Connection, Kind, Node, Peer, Server, ServerOptions, workspace_root};

/// The lines of a file that say something, with their numbers.
fn lines(name: &str) -> Vec<(usize, String)> {
    let text = fs::read_to_string(workspace_root().join("interop/roles").join(name)).unwrap();
    let lines = text.lines().enumerate().filter(|(_, line)| !line.starts_with('#') && !line.is_empty());
    lines.map(|(at, line)| (at + 1, line.to_owned())).collect()
}

/// One of the servers, with a connection of each account.
struct Side {
    port: u16,
    connections: BTreeMap<String, Connection>,
}

impl Side {
    fn new(port: u16) -> Self {
        Side { port, connections: BTreeMap::new() }
    }

    /// What a line gives: `[user] statement`, `[user!] statement` on a new connection; root's without a user.
    fn run(&mut self, line: &str) -> String {
        let (user, sql) = match line.strip_prefix('[').and_then(|rest| rest.split_once("] ")) {
            Some((user, sql)) => (user, sql),
            None => ("root", line),
        };
        let (user, is_new) = user.strip_suffix('!').map_or((user, false), |user| (user, true));
        if is_new {
            self.connections.remove(user);
        }
        if !self.connections.contains_key(user) {
            match Connection::open_as(self.port, user, "") {
                Ok(connection) => drop(self.connections.insert(user.to_owned(), connection)),
                Err(error) => return error.split(" (").next().unwrap_or_default().to_owned(),
            }
        }
        let connection = self.connections.get_mut(user).unwrap();
        if sql == "RESET CONNECTION" {
            connection.reset().unwrap();
            return "reset".to_owned();
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

#[test]
fn roles_are_those_of_mysql() {
    let ours = Server::start("roles", ServerOptions::default()).unwrap();
    let peer = Peer::start(Kind::Mysql97, "roles", Duration::ZERO, &[]).unwrap();
    let (mut a, mut b) = (Side::new(ours.port()), Side::new(peer.port()));
    let known: Vec<String> = lines("differences.txt").into_iter().map(|(_, line)| line).collect();
    let (mut used, mut differences) = (BTreeSet::new(), Vec::new());
    for (number, line) in lines("statements.txt") {
        let (ours, theirs) = (a.run(&line), b.run(&line));
        if ours == theirs {
            continue;
        }
        match known.iter().find(|known| **known == line) {
            Some(known) => drop(used.insert(known.clone())),
            None => differences.push(format!("{number}: {line}\n  ours:  {ours}\n  MySQL: {theirs}")),
        }
    }
    let stale = known.iter().filter(|label| !used.contains(*label));
    differences.extend(stale.map(|label| format!("{label}\n  is listed as different and is not")));
    assert!(differences.is_empty(), "{} differ:\n{}", differences.len(), differences.join("\n"));
}

/// How long a replica may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// Roles as a MySQL makes them.
const OF_MYSQL: &str = "CREATE DATABASE d; CREATE ROLE a, b, 'c'@'localhost'; CREATE USER u, v, w; GRANT SELECT ON d.* TO a; \
                        GRANT a, b TO u, v WITH ADMIN OPTION; GRANT b TO a; GRANT 'c'@'localhost' TO w; GRANT v TO w; \
                        SET DEFAULT ROLE a, b TO u; SET DEFAULT ROLE ALL TO v, w; ALTER USER u DEFAULT ROLE b; REVOKE b FROM v, w; \
                        CREATE USER x DEFAULT ROLE a; CREATE ROLE gone, went; GRANT gone TO u; DROP ROLE gone; DROP USER went; \
                        RENAME USER x TO y";

/// What is there of them afterwards.
const SHOWN: &str = "SELECT * FROM mysql.role_edges ORDER BY 1, 2, 3, 4; SELECT * FROM mysql.default_roles ORDER BY 1, 2, 3, 4; SHOW GRANTS FOR u; \
                     SHOW GRANTS FOR w USING v; SHOW GRANTS FOR y USING a; SELECT user, host, account_locked FROM mysql.user WHERE LENGTH(user) < 5 \
                     AND user <> 'root' ORDER BY 1, 2";

fn follows(source: Option<Kind>, replica: Option<Kind>, sql: &str) -> (Node, Node) {
    let name = |kind: Option<Kind>| kind.map_or("ours", |kind| kind.name());
    let (source_name, replica_name) = (format!("roles-from-{}", name(source)), format!("roles-to-{}", name(replica)));
    let (source, replica) = (Node::start(source, &source_name).unwrap(), Node::start(replica, &replica_name).unwrap());
    if replica.kind() == Some(Kind::Maria118) {
        // Our accounts have caching_sha2_password, which MariaDB's server learns by a plugin.
        replica.client().query("INSTALL SONAME 'auth_mysql_sha2'; RESET MASTER").unwrap();
    }
    replica.follow(source.port()).unwrap();
    source.client().query(sql).unwrap();
    source.wait_for_replica(&replica, PATIENCE).unwrap();
    (source, replica)
}

#[test]
fn roles_go_to_a_mysql_and_come_from_one() {
    for (from, to) in [(None, Some(Kind::Mysql97)), (Some(Kind::Mysql97), None)] {
        let (source, replica) = follows(from, to, OF_MYSQL);
        let shown = |node: &Node| node.client().query(SHOWN).unwrap();
        assert_eq!(shown(&source), shown(&replica), "{from:?} to {to:?}");
    }
}

/// Roles as a MariaDB knows them, in words of each kind.
const OF_BOTH: &str = "CREATE DATABASE d; CREATE ROLE a, b, gone; CREATE USER u@localhost, v@localhost; GRANT SELECT ON d.* TO a; GRANT a TO u@localhost, \
                       v@localhost; GRANT b TO a; GRANT b TO v@localhost WITH ADMIN OPTION; GRANT gone TO v@localhost; REVOKE a FROM v@localhost; DROP ROLE gone";

/// MariaDB's grants of roles, but for those that CREATE ROLE gave to who made them.
const OF_MARIA: &str = "SELECT Role, User, Host, Admin_option FROM mysql.roles_mapping WHERE User NOT IN ('root', '') ORDER BY 1, 2, 3; SELECT User, default_role FROM mysql.user WHERE User = 'u'";

#[test]
fn roles_go_to_a_maria() {
    let sql = format!("{OF_BOTH}; SET DEFAULT ROLE a TO u@localhost; GRANT a, b TO v@localhost");
    let (_source, replica) = follows(None, Some(Kind::Maria118), &sql);
    let shown = replica.client().query(OF_MARIA).unwrap();
    assert_eq!(shown, "a\tu\tlocalhost\tN\nb\ta\t\tN\nb\tv\tlocalhost\tY\nu\ta\n");
}

#[test]
fn roles_come_from_a_maria() {
    let sql = format!(
        "{OF_BOTH}; SET DEFAULT ROLE b FOR v@localhost; SET DEFAULT ROLE NONE FOR v@localhost; SET DEFAULT ROLE a FOR u@localhost"
    );
    let (_source, replica) = follows(Some(Kind::Maria118), None, &sql);
    let shown = replica.client().query("SELECT * FROM mysql.role_edges; SELECT * FROM mysql.default_roles").unwrap();
    let edges = "%\ta\tlocalhost\tu\tN\n%\tb\t%\ta\tN\n%\tb\tlocalhost\tv\tY\n";
    assert_eq!(shown, format!("{edges}localhost\tu\t%\ta\n"));
}
