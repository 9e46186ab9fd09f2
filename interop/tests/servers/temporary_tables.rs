//! Temporary tables in the statement logs of real servers: each connection there has its own, under the same names.

use std::time::Duration;

use interop::{Answer, Client, Connection, Kind, Peer, Server, ServerOptions, until};

const CONNECTIONS: u64 = 4;

fn succeed(connection: &mut Connection, statements: &[String]) {
    for statement in statements {
        let answer = connection.query(statement).unwrap();
        assert!(!matches!(answer, Answer::Failed(..)), "{statement}: {answer:?}");
    }
}

/// Half of what a connection does: its table is there afterwards.
fn begin(connection: &mut Connection, number: u64) {
    succeed(
        connection,
        &[
            "CREATE TEMPORARY TABLE mine (id INT PRIMARY KEY AUTO_INCREMENT, who INT, what VARCHAR(20))".to_owned(),
            format!("INSERT INTO mine (who, what) VALUES ({number}, 'first'), ({number}, 'second')"),
            "UPDATE mine SET what = CONCAT(what, '!') WHERE id = 2".to_owned(),
            "INSERT INTO kept (who, what) SELECT who, what FROM mine ORDER BY id".to_owned(),
        ],
    );
}

/// The other half. Some connections drop their table, the others end with it.
fn go_on(mut connection: Connection, number: u64) {
    succeed(
        &mut connection,
        &[
            "BEGIN".to_owned(),
            format!("INSERT INTO mine (who, what) VALUES ({number}, 'third')"),
            "INSERT INTO kept (who, what) SELECT who, what FROM mine WHERE id = 3".to_owned(),
            "COMMIT".to_owned(),
        ],
    );
    if number.is_multiple_of(2) {
        succeed(&mut connection, &["DROP TEMPORARY TABLE mine".to_owned()]);
    }
}

fn follow(name: &str, source: &Peer) -> Server {
    let server = Server::start(name, ServerOptions::default()).unwrap();
    let by = if source.kind() == Kind::Mysql97 { "SOURCE_AUTO_POSITION=1," } else { "" };
    let change = format!(
        "CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={}, SOURCE_USER='root', {by} \
         GET_SOURCE_PUBLIC_KEY=1, SOURCE_CONNECT_RETRY=1; START REPLICA",
        source.port()
    );
    server.client().query(&change).unwrap();
    server
}

fn has(replica: &Client, rows: u64) {
    until(&format!("{rows} rows are there"), || {
        assert_eq!(replica.column("SHOW REPLICA STATUS", "Last_SQL_Error").unwrap(), "");
        replica.query("SELECT COUNT(*) FROM d.kept").is_ok_and(|found| found.trim() == rows.to_string())
    });
}

fn make(source: &Peer) -> Vec<Connection> {
    let kept = "CREATE DATABASE d; CREATE TABLE d.kept (id INT PRIMARY KEY AUTO_INCREMENT, who INT, what VARCHAR(20))";
    source.client().query(kept).unwrap();
    (0..CONNECTIONS).map(|_| Connection::open(source.port(), "d").unwrap()).collect()
}

/// Connections beside each other, and STOP and START while they have their tables.
fn of_each_connection(kind: Kind, name: &str, arguments: &[&str]) {
    let source = Peer::start(kind, name, Duration::ZERO, arguments).unwrap();
    let server = follow(name, &source);
    let replica = server.client();
    let mut connections = make(&source);
    for (connection, number) in connections.iter_mut().zip(0..) {
        begin(connection, number);
    }
    has(&replica, 2 * CONNECTIONS);
    let is_logged = replica.status("Replica_open_temp_tables").unwrap() > 0;
    replica.query("STOP REPLICA; START REPLICA").unwrap();
    for (connection, number) in connections.into_iter().zip(0..) {
        go_on(connection, number);
    }
    has(&replica, 3 * CONNECTIONS);
    let kept = "SELECT * FROM d.kept ORDER BY id";
    assert_eq!(replica.query(kept).unwrap(), source.client().query(kept).unwrap());
    until("their tables are gone", || replica.status("Replica_open_temp_tables").unwrap() == 0);
    assert_eq!(is_logged, arguments.contains(&"--binlog-format=STATEMENT"), "a table of a MIXED log is in its rows");
}

#[test]
fn mysql_by_statements() {
    of_each_connection(Kind::Mysql97, "temporary-statement", &["--binlog-format=STATEMENT"]);
}

#[test]
fn mysql_mixed() {
    of_each_connection(Kind::Mysql97, "temporary-mixed", &["--binlog-format=MIXED"]);
}

#[test]
fn maria_by_statements() {
    of_each_connection(Kind::Maria118, "temporary-statement", &["--binlog-format=STATEMENT"]);
}

/// The source dies: what its connections had is gone there and here, and the names are free.
#[test]
fn the_source_dies() {
    let arguments = ["--binlog-format=STATEMENT"];
    let mut source = Peer::start(Kind::Mysql97, "temporary-source-dies", Duration::ZERO, &arguments).unwrap();
    let server = follow("temporary-source-dies", &source);
    let replica = server.client();
    let mut connections = make(&source);
    begin(&mut connections[0], 0);
    has(&replica, 2);
    source.kill();
    source.restart().unwrap();
    until("its tables are gone", || replica.status("Replica_open_temp_tables").unwrap() == 0);
    let mut connection = Connection::open(source.port(), "d").unwrap();
    begin(&mut connection, 1);
    go_on(connection, 1);
    has(&replica, 5);
}

/// Temporary tables are in memory alone, so the statement that wants one after our death stops the replica, as it stops MySQL's.
#[test]
fn the_replica_dies() {
    let arguments = ["--binlog-format=STATEMENT"];
    let source = Peer::start(Kind::Mysql97, "temporary-replica-dies", Duration::ZERO, &arguments).unwrap();
    let mut server = follow("temporary-replica-dies", &source);
    let mut connections = make(&source);
    begin(&mut connections[0], 0);
    has(&server.client(), 2);
    server.kill();
    server.restart().unwrap();
    go_on(connections.remove(0), 0);
    let replica = server.client();
    until("the replica has stopped", || {
        replica.column("SHOW REPLICA STATUS", "Last_SQL_Errno").is_ok_and(|code| code == "1146")
    });
    assert_eq!(replica.query("SELECT COUNT(*) FROM d.kept").unwrap().trim(), "2");
}
