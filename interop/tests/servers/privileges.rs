//! What an account with exactly one privilege may do is what MySQL 9.7 lets it do: every statement of
//! `interop/privileges/statements.txt`, with every privilege at every level, error number by error number.
//!
//! The peer is the expectation. What differs on purpose is listed in `interop/privileges/differences.txt` with its reason.

use std::time::Duration;

use interop::{Answer, Connection, Kind, Peer, Server, ServerOptions};

use crate::declared::{Declared, lines};

/// Privileges on tables, and on all that is wider.
const OF_TABLES: &[&str] = &[
    "SELECT",
    "INSERT",
    "UPDATE",
    "DELETE",
    "CREATE",
    "DROP",
    "REFERENCES",
    "INDEX",
    "ALTER",
    "CREATE VIEW",
    "SHOW VIEW",
    "TRIGGER",
    "GRANT OPTION",
];
/// Privileges on databases, and on everything.
const OF_DATABASES: &[&str] =
    &["CREATE TEMPORARY TABLES", "LOCK TABLES", "EXECUTE", "CREATE ROUTINE", "ALTER ROUTINE", "EVENT"];
/// Privileges on everything only, without the dynamic ones.
const GLOBAL: &[&str] = &[
    "RELOAD",
    "PROCESS",
    "FILE",
    "SHOW DATABASES",
    "SUPER",
    "SHUTDOWN",
    "REPLICATION SLAVE",
    "REPLICATION CLIENT",
    "CREATE USER",
    "CREATE TABLESPACE",
    "CREATE ROLE",
    "DROP ROLE",
];
/// Privileges on columns.
const OF_COLUMNS: &[&str] = &["SELECT (a)", "INSERT (a)", "UPDATE (a)", "REFERENCES (a)"];

/// What the statements work on.
const STATE: &[&str] = &[
    "DROP DATABASE IF EXISTS pr",
    "DROP DATABASE IF EXISTS po",
    "DROP DATABASE IF EXISTS newdb",
    "CREATE DATABASE pr",
    "CREATE DATABASE po",
    "CREATE TABLE pr.t (a INT PRIMARY KEY, b INT, KEY k (b))",
    "CREATE TABLE pr.u (a INT PRIMARY KEY, b INT)",
    "CREATE TABLE po.t (a INT PRIMARY KEY, b INT)",
    "INSERT INTO pr.t VALUES (1, 1)",
    "INSERT INTO pr.u VALUES (1, 1)",
];
/// Who runs them, and whom they change.
const ACCOUNTS: &[&str] = &[
    "DROP USER IF EXISTS one@'%', two@'%', plain@'%', strong@'%', other@'%', r1, r2, r3",
    "CREATE USER one@'%', plain@'%', strong@'%'",
    "CREATE ROLE r2",
    "GRANT r2 TO plain@'%'",
    "GRANT SYSTEM_USER ON *.* TO strong@'%'",
];

/// Follows nothing.
const NO_REPLICA: &[&str] = &["STOP REPLICA", "CHANGE REPLICATION FILTER REPLICATE_DO_DB = ()", "RESET REPLICA ALL"];

/// What has to be done after a statement has succeeded.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Undo {
    /// Nothing.
    Nothing,
    /// The transaction in which it ran is rolled back.
    Rollback,
    /// Its connection ends, and with it what it has set, locked, made temporary or killed.
    Reconnect,
    /// The tables are made again.
    State,
    /// The accounts as well.
    Accounts,
    /// The replica is as it was: it follows no source.
    Replica,
}

impl Undo {
    fn of(sql: &str) -> Undo {
        let words: Vec<&str> = sql.split_whitespace().collect();
        match words[0] {
            "insert" | "replace" | "update" | "delete" => Undo::Rollback,
            "set" if words[1].starts_with("password") || words[1] == "default" => Undo::Accounts,
            "grant" | "revoke" => Undo::Accounts,
            "create" | "alter" | "drop" | "rename" if ["user", "role"].contains(&words[1]) => Undo::Accounts,
            "create" | "alter" | "drop" | "rename" | "truncate" | "execute" => Undo::State,
            "change" => Undo::Replica,
            "start" if words[1] == "replica" => Undo::Replica,
            "set" | "use" | "lock" | "flush" | "kill" | "xa" | "start" => Undo::Reconnect,
            _ => Undo::Nothing,
        }
    }
}

/// The dynamic privileges, as a server lists them.
fn dynamic(root: &mut Connection) -> Vec<String> {
    let Answer::Rows { rows, .. } = root.succeed("SHOW PRIVILEGES").unwrap() else { unreachable!() };
    let names = rows.into_iter().map(|row| String::from_utf8(row[0].clone().unwrap()).unwrap());
    names.filter(|name| name.contains('_')).collect()
}

/// Every GRANT of one privilege.
fn grants(dynamic: &[String]) -> Vec<String> {
    let on = |level: &'static str| move |privilege: &&str| format!("{privilege} ON {level}");
    let mut grants = vec!["USAGE ON *.*".to_owned()];
    grants.extend([OF_TABLES, OF_DATABASES, GLOBAL].concat().iter().map(on("*.*")));
    grants.extend(dynamic.iter().map(|privilege| format!("{privilege} ON *.*")));
    grants.extend([OF_TABLES, OF_DATABASES].concat().iter().map(on("pr.*")));
    grants.extend(OF_TABLES.iter().map(on("pr.t")));
    grants.extend(OF_COLUMNS.iter().map(on("pr.t")));
    grants
}

/// One of the servers.
struct Side {
    port: u16,
    root: Connection,
    one: Option<Connection>,
    /// Connections that are killed: of `plain` and of `strong`, who is a system user.
    victims: Option<[(Connection, String); 2]>,
}

impl Side {
    fn new(port: u16) -> Self {
        Side { port, root: Connection::open(port, "").unwrap(), one: None, victims: None }
    }

    /// As it was before a statement, and the account with its privilege.
    fn undo(&mut self, undo: Undo, grant: &str) {
        if undo == Undo::Rollback {
            self.one.as_mut().unwrap().succeed("ROLLBACK").unwrap();
        }
        if undo >= Undo::Reconnect {
            self.one = None;
            self.victims = None;
        }
        if undo == Undo::Replica {
            NO_REPLICA.iter().for_each(|sql| drop(self.root.succeed(sql).unwrap()));
            return;
        }
        if undo >= Undo::State {
            STATE.iter().for_each(|sql| drop(self.root.succeed(sql).unwrap()));
        }
        if undo == Undo::Accounts {
            ACCOUNTS.iter().for_each(|sql| drop(self.root.succeed(sql).unwrap()));
            self.root.succeed(&format!("GRANT {grant} TO one@'%'")).unwrap();
        }
    }

    /// The number of the statement's error, or 0; and how many rows it gave.
    fn run(&mut self, sql: &str, grant: &str) -> (u16, usize) {
        let port = self.port;
        let one = self.one.get_or_insert_with(|| Connection::open_as(port, "one", "").unwrap());
        let undo = Undo::of(sql);
        if undo == Undo::Rollback {
            one.succeed("BEGIN").unwrap();
        }
        let mut sql = sql.to_owned();
        if sql.contains("{plain}") || sql.contains("{strong}") {
            let victims = self.victims.get_or_insert_with(|| ["plain", "strong"].map(|user| victim(port, user)));
            sql = sql.replace("{plain}", &victims[0].1).replace("{strong}", &victims[1].1);
        }
        let (code, rows) = match one.query(&sql).unwrap_or_else(|error| panic!("{grant}: {sql}: {error}")) {
            Answer::Failed(code, _) => (code, 0),
            Answer::Rows { rows, .. } => (0, rows.len()),
            Answer::Done(_) => (0, 0),
        };
        if sql == "kill connection_id()" {
            self.undo(Undo::Reconnect, grant);
        } else if code == 0 || undo == Undo::Rollback {
            self.undo(undo, grant);
        }
        // Of what the server has, only that which the privilege lets see is the same on both servers.
        (code, if sql.contains("'p%'") || sql.contains("'pr'") { rows } else { 0 })
    }

    /// What it says to every statement with every privilege.
    fn answers(&mut self, grants: &[String], statements: &[String]) -> Vec<(u16, usize)> {
        let mut answers = Vec::new();
        for grant in grants {
            self.undo(Undo::Accounts, grant);
            answers.extend(statements.iter().map(|sql| self.run(sql, grant)));
        }
        answers
    }
}

/// A connection and its number.
fn victim(port: u16, user: &str) -> (Connection, String) {
    let mut connection = Connection::open_as(port, user, "").unwrap();
    let Answer::Rows { rows, .. } = connection.succeed("SELECT CONNECTION_ID()").unwrap() else { unreachable!() };
    let number = String::from_utf8(rows[0][0].clone().unwrap()).unwrap();
    (connection, number)
}

/// Nothing that is made here has to outlive the machine.
const NOT_DURABLE: &[&str] = &[
    "--sync-binlog=0",
    "--innodb-flush-log-at-trx-commit=0",
    "--innodb-flush-method=nosync",
    "--innodb-buffer-pool-size=128M",
];

#[test]
fn one_privilege_lets_do_what_it_does_on_mysql() {
    let server = Server::start("privileges", ServerOptions::default()).unwrap();
    let peer = Peer::start(Kind::Mysql97, "privileges", Duration::ZERO, NOT_DURABLE).unwrap();
    let (mut ours, mut theirs) = (Side::new(server.port()), Side::new(peer.port()));
    let grants = grants(&dynamic(&mut theirs.root));
    let statements: Vec<String> = lines("privileges/statements.txt").into_iter().map(|(_, line)| line).collect();
    let (ours, theirs) = std::thread::scope(|scope| {
        let theirs = scope.spawn(|| theirs.answers(&grants, &statements));
        (ours.answers(&grants, &statements), theirs.join().unwrap())
    });
    let mut declared = Declared::of("privileges");
    let asked = grants.iter().flat_map(|grant| statements.iter().map(move |sql| (grant, sql)));
    for ((grant, sql), (ours, theirs)) in asked.zip(ours.into_iter().zip(theirs)) {
        if ours != theirs {
            let (every, label) = (format!("*: {sql}"), format!("{grant}: {sql}"));
            declared.differs(&[&every, &label], || format!("{label}: ours {ours:?}, MySQL {theirs:?}"));
        }
    }
    declared.check();
}
