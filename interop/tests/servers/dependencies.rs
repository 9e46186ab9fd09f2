//! What a source's log says of who depends on whom, and what replicas make of it.

use std::time::Duration;

use interop::{Client, Connection, Kind, Node, Peer, Server, ServerOptions, Sysbench, run_tool, until};

const PATIENCE: Duration = Duration::from_secs(120);

/// `last_committed` and `sequence_number` of the last `count` transactions.
fn last_intervals(server: &Server, count: usize) -> Vec<(u64, u64)> {
    let file = server.client().column("SHOW BINARY LOG STATUS", "File").unwrap();
    // What is written to has room behind its end.
    server.client().query("FLUSH BINARY LOGS").unwrap();
    let text = run_tool(Kind::Mysql97, "mysqlbinlog", &[server.folder().join(file).to_str().unwrap()]).unwrap();
    let number = |line: &str, label: &str| -> u64 {
        let after = line.split(label).nth(1).unwrap();
        after.split_whitespace().next().unwrap().parse().unwrap()
    };
    let all = text.lines().filter(|line| line.contains("last_committed="));
    let mut all: Vec<_> = all.map(|line| (number(line, "last_committed="), number(line, "sequence_number="))).collect();
    all.split_off(all.len() - count)
}

/// The chain of a session begins anew with COM_RESET_CONNECTION, as a pool sends it for its next borrower.
#[test]
fn a_reset_ends_the_chain_of_a_session() {
    let settings = ["binlog_transaction_dependency_tracking=WRITESET_SESSION"];
    let server = Server::start("dependencies-session", ServerOptions::with_settings(settings)).unwrap();
    let mut connection = Connection::open(server.port(), "").unwrap();
    for sql in ["CREATE DATABASE d", "CREATE TABLE d.t (a INT PRIMARY KEY)", "INSERT INTO d.t VALUES (1)"] {
        connection.succeed(sql).unwrap();
    }
    connection.succeed("INSERT INTO d.t VALUES (2)").unwrap();
    connection.reset().unwrap();
    connection.succeed("INSERT INTO d.t VALUES (3)").unwrap();
    connection.succeed("INSERT INTO d.t VALUES (4)").unwrap();
    let [defined, first, second, third, fourth] = last_intervals(&server, 5)[..] else { unreachable!() };
    assert_eq!(first.0, defined.1, "behind the definition of its table");
    assert_eq!(second.0, first.1, "the session's last one");
    assert_eq!(third.0, defined.1, "the session is as new");
    assert_eq!(fourth.0, third.1);
}

/// An optimistic MariaDB is told which transactions are not worth a try: it rolls none back.
#[test]
fn an_optimistic_mariadb_tries_nothing_that_waits_for_the_one_before_it() {
    let source = Node::start(None, "dependencies-waited").unwrap();
    let arguments = ["--slave-parallel-threads=8", "--slave-parallel-mode=optimistic", "--log-slave-updates"];
    let peer = Peer::start(Kind::Maria118, "dependencies-waited", Duration::ZERO, &arguments).unwrap();
    let replica = Node::Peer(peer);
    // Our accounts have caching_sha2_password, which MariaDB's server learns by a plugin.
    replica.client().query("INSTALL SONAME 'auth_mysql_sha2'; RESET MASTER").unwrap();
    let client = source.client();
    client
        .query("CREATE DATABASE d; CREATE TABLE d.t (a INT PRIMARY KEY, n INT); INSERT INTO d.t VALUES (1, 0)")
        .unwrap();
    replica.follow(source.port()).unwrap();
    source.wait_for_replica(&replica, PATIENCE).unwrap();
    replica.client().query("STOP SLAVE SQL_THREAD").unwrap();
    client.query(&"UPDATE d.t SET n = n + 1 WHERE a = 1;".repeat(500)).unwrap();
    until("it has received what it was told", || {
        let relay_log = replica.client().column("SHOW SLAVE STATUS", "Relay_Log_File").unwrap();
        let file = replica.folder().join(relay_log);
        let text = run_tool(Kind::Maria118, "mariadb-binlog", &[file.to_str().unwrap()]).unwrap();
        text.matches(" waited").count() >= 499
    });
    replica.client().query("START SLAVE SQL_THREAD").unwrap();
    source.wait_for_replica(&replica, PATIENCE).unwrap();
    assert_eq!(replica.client().query("SELECT n FROM d.t").unwrap().trim(), "500");
    assert_eq!(replica.client().status("Slave_retried_transactions").unwrap(), 0);
}

fn sysbench(port: u16) -> Sysbench {
    Sysbench {
        script: "oltp_write_only".to_owned(),
        port,
        threads: 64,
        seconds: 4,
        tables: 2,
        table_size: 2000,
        more: vec!["--mysql-db=d".to_owned(), "--rand-type=uniform".to_owned()],
    }
}

fn assert_same_rows(one: &Client, other: &Client) {
    for table in ["sbtest1", "sbtest2"] {
        let rows = format!("SELECT * FROM d.{table} ORDER BY id");
        assert!(one.query(&rows).unwrap() == other.query(&rows).unwrap(), "{table}");
    }
}

fn number(client: &Client, column: &str) -> f64 {
    let text = client.query(&format!("SELECT {column} FROM performance_schema.replication_parallelism")).unwrap();
    text.trim().parse().unwrap_or_else(|_| panic!("{column} is {text}"))
}

/// 64 clients write to a source; behind it is a server of its kind that applies one transaction after the other, and one of ours is
/// behind each of both. What the clients did at once comes in a row from the second, and is found to be independent all the same.
fn beside_and_behind_a_serial_one(kind: Kind, name: &str) -> [Node; 2] {
    // As on a disk, wherever the folder is: commits come in groups.
    let slow_sync = Duration::from_micros(300);
    let source = Node::Peer(Peer::start(kind, &format!("{name}-source"), slow_sync, &[]).unwrap());
    let arguments: &[&str] = match kind {
        Kind::Mysql97 => &["--replica-parallel-workers=1"],
        Kind::Maria118 => &["--slave-parallel-threads=0", "--log-slave-updates"],
    };
    let serial = Node::Peer(Peer::start(kind, &format!("{name}-serial"), Duration::ZERO, arguments).unwrap());
    let replicas = ["beside", "behind"].map(|which| Node::start(None, &format!("{name}-{which}")).unwrap());
    source.client().query("CREATE DATABASE d").unwrap();
    sysbench(source.port()).prepare().unwrap();
    for (replica, port) in
        [&serial, &replicas[0], &replicas[1]].into_iter().zip([source.port(), source.port(), serial.port()])
    {
        replica.follow(port).unwrap();
    }
    sysbench(source.port()).run().unwrap();
    for replica in &replicas {
        source.wait_for_replica(replica, PATIENCE).unwrap();
        assert_same_rows(&source.client(), &replica.client());
        let beside = number(&replica.client(), "count_executed_beside_others / count_received");
        assert!(beside > 0.9, "{beside}");
    }
    replicas
}

#[test]
fn the_log_of_a_serial_mysql() {
    for replica in beside_and_behind_a_serial_one(Kind::Mysql97, "serial-mysql") {
        let replica = &replica.client();
        assert_eq!(number(replica, "count_intervals = count_received"), 1.0);
        let (average, group) =
            (number(replica, "average_modified_interval_length"), number(replica, "pseudo_group_size"));
        assert!(average > 1.0 && (group - (2.0 * average - 1.0)).abs() < 1e-6, "{average} {group}");
        assert_eq!(replica.status("Replica_intervals").unwrap() as f64, number(replica, "count_intervals"));
    }
}

#[test]
fn the_log_of_a_serial_maria() {
    let nodes = beside_and_behind_a_serial_one(Kind::Maria118, "serial-maria");
    let [beside, behind] = [&nodes[0], &nodes[1]].map(Node::client);
    let group = number(&beside, "commit_group_size");
    assert!(group > 1.2, "{group}");
    assert_eq!(number(&behind, "commit_group_size"), 1.0, "each commit is its own group there");
    assert_eq!(number(&behind, "count_intervals"), 0.0);
}
