//! `performance_schema.replication_*` and `SOURCE_DELAY`, beside a real MySQL, and with one as the source.

use std::time::{Duration, Instant};

use interop::{Answer, Client, Connection, Kind, Peer, Server, ServerOptions, until};

fn follow(server: &Server, source: &Peer, more: &str) -> Client {
    let client = server.client();
    let change = format!(
        "CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={}, SOURCE_USER='root', SOURCE_AUTO_POSITION=1, \
         GET_SOURCE_PUBLIC_KEY=1 {more}; START REPLICA",
        source.port()
    );
    client.query(&change).unwrap();
    client
}

fn done(connection: &mut Connection, statement: &str) {
    let answer = connection.query(statement);
    assert!(matches!(answer, Ok(Answer::Done { .. })), "{statement}: {answer:?}");
}

fn executed(client: &Client, source: &Peer) {
    let gtids = interop::gtid_executed(&source.client()).unwrap();
    let waited = client.query(&format!("SELECT WAIT_FOR_EXECUTED_GTID_SET('{gtids}', 60)")).unwrap();
    assert_eq!(waited.trim(), "0");
}

/// A row of a table of `performance_schema`, with blanks between the columns.
fn rows(client: &Client, columns: &str, table: &str) -> Vec<String> {
    let found = client.query(&format!("SELECT {columns} FROM performance_schema.{table}")).unwrap();
    found.lines().map(|line| line.replace('\t', " ")).collect()
}

const TABLES: [&str; 6] = [
    "replication_connection_configuration",
    "replication_connection_status",
    "replication_applier_configuration",
    "replication_applier_status",
    "replication_applier_status_by_coordinator",
    "replication_applier_status_by_worker",
];

#[test]
fn tables_have_the_columns_of_mysql() {
    let peer = Peer::start(Kind::Mysql97, "replication-columns", Duration::ZERO, &[]).unwrap();
    let server = Server::start("replication-columns", ServerOptions::default()).unwrap();
    for table in TABLES {
        let columns = |client: &Client| {
            let query = format!(
                "SELECT column_name FROM information_schema.columns WHERE table_schema = 'performance_schema' \
                 AND table_name = '{table}' ORDER BY ordinal_position"
            );
            client.query(&query).unwrap().lines().map(str::to_owned).collect::<Vec<_>>()
        };
        let (theirs, ours) = (columns(&peer.client()), columns(&server.client()));
        assert!(!theirs.is_empty());
        assert_eq!(ours[..theirs.len()], theirs, "{table}");
    }
    assert_eq!(rows(&server.client(), "*", "replication_applier_status_by_worker"), Vec::<String>::new(), "no channel");
}

#[test]
fn workers_and_what_they_wait_for() {
    let source = Peer::start(Kind::Mysql97, "replication-workers", Duration::ZERO, &[]).unwrap();
    let server = Server::start("replication-workers", ServerOptions::default()).unwrap();
    let client = follow(&server, &source, "");
    source
        .client()
        .query("CREATE DATABASE d; CREATE TABLE d.t (a INT PRIMARY KEY, b INT); INSERT INTO d.t VALUES (1, 1), (2, 2)")
        .unwrap();
    executed(&client, &source);
    let mut blocker = Connection::open(server.port(), "d").unwrap();
    done(&mut blocker, "BEGIN");
    done(&mut blocker, "UPDATE t SET b = 7 WHERE a = 1");
    source
        .client()
        .query("UPDATE d.t SET b = 3 WHERE a = 1; UPDATE d.t SET b = 4 WHERE a = 2; UPDATE d.t SET b = 5 WHERE a = 1")
        .unwrap();
    let last = interop::gtid_executed(&source.client()).unwrap();
    let (uuid, numbers) = last.split_once(':').unwrap();
    let number: u64 = numbers.rsplit('-').next().unwrap().parse().unwrap();
    let gtid = |back: u64| format!("{uuid}:{}", number - back);
    let expected = [
        format!("1 {} EXECUTING NULL", gtid(2)),
        format!("2 {} WAITING FOR COMMIT ORDER NULL", gtid(1)),
        format!("3 {} WAITING FOR PREDECESSOR {}", gtid(0), gtid(2)),
    ];
    until("one waits for a row, one for its turn, one for the first", || {
        rows(&client, "queue_position, transaction, state, waits_for", "replication_applier_queue") == expected
    });
    let busy = |state: &str| {
        let condition = format!("replication_applier_status_by_worker WHERE worker_state = '{state}'");
        rows(&client, "applying_transaction", &condition)
    };
    assert_eq!(busy("Applying batch of row changes"), [gtid(2)]);
    assert_eq!(busy("Waiting for preceding transaction to commit"), [gtid(1)]);
    assert_eq!(rows(&client, "last_processed_transaction", "replication_applier_status_by_coordinator"), [gtid(0)]);
    assert_eq!(rows(&client, "last_queued_transaction", "replication_connection_status"), [gtid(0)]);
    done(&mut blocker, "ROLLBACK");
    executed(&client, &source);
    let condition = format!("replication_applier_status_by_worker WHERE last_applied_transaction = '{}'", gtid(1));
    assert_eq!(
        rows(&client, "table_schema, table_name, last_applied_transaction_retries_count", &condition),
        ["d t 0"]
    );
    assert_eq!(rows(&client, "*", "replication_applier_queue"), Vec::<String>::new());
    let status = "channel_name, service_state, remaining_delay, count_transactions_retries";
    assert_eq!(rows(&client, status, "replication_applier_status"), [" ON NULL 0"]);
}

#[test]
fn what_is_delayed_is_executed_later_and_not_before() {
    const DELAY: Duration = Duration::from_secs(3);
    let source = Peer::start(Kind::Mysql97, "replication-delay", Duration::ZERO, &[]).unwrap();
    let server = Server::start("replication-delay", ServerOptions::default()).unwrap();
    let client = follow(&server, &source, ", SOURCE_DELAY=3");
    source.client().query("CREATE DATABASE d; CREATE TABLE d.t (a INT PRIMARY KEY)").unwrap();
    executed(&client, &source);
    let before = Instant::now();
    source.client().query("INSERT INTO d.t VALUES (1)").unwrap();
    let doing = || client.column("SHOW REPLICA STATUS", "Replica_SQL_Running_State").unwrap();
    until("it is received", || doing() == "Waiting until SOURCE_DELAY seconds after source executed event");
    assert_eq!(client.column("SHOW REPLICA STATUS", "SQL_Delay").unwrap(), "3");
    let left: u64 = client.column("SHOW REPLICA STATUS", "SQL_Remaining_Delay").unwrap().parse().unwrap();
    assert!(left <= 3);
    until("it is executed", || client.query("SELECT a FROM d.t").unwrap().trim() == "1");
    assert!(before.elapsed() >= DELAY, "after {:?}", before.elapsed());
    // Who waits can be stopped, and asked for less.
    source.client().query("INSERT INTO d.t VALUES (2)").unwrap();
    until("it is received", || doing() != "Replica has read all relay log; waiting for more updates");
    client.query("STOP REPLICA; CHANGE REPLICATION SOURCE TO SOURCE_DELAY=0; START REPLICA").unwrap();
    executed(&client, &source);
    let error = client.query("STOP REPLICA; CHANGE REPLICATION SOURCE TO SOURCE_DELAY=2147483648").unwrap_err();
    assert!(error.contains("1729"), "{error}");
}
