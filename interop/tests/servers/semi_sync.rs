//! Semi-synchronous replication in both roles, among our own servers and with real ones.

use std::time::{Duration, Instant};

use interop::everyday::{EVERYDAY, assert_same, contents, write_beside_each_other};
use interop::{Client, Connection, Kind, Peer, Server, ServerOptions, until};

/// Nobody ever goes on without.
const SOURCE: [&str; 2] = ["rpl_semi_sync_source_enabled=ON", "rpl_semi_sync_source_timeout_action=WAIT"];
const REPLICA: &str = "rpl_semi_sync_replica_enabled=ON";

fn start_source(name: &str, settings: &[&str]) -> Server {
    let server = Server::start(name, ServerOptions::with_settings([&SOURCE[..], settings].concat())).unwrap();
    // Until there is a replica nothing would become visible.
    server.client().query("SET GLOBAL rpl_semi_sync_source_enabled = OFF").unwrap();
    server.client().query(EVERYDAY).unwrap();
    server
}

/// From here on commits wait.
fn enable(source: &Server) {
    source.client().query("SET GLOBAL rpl_semi_sync_source_enabled = ON").unwrap();
    let client = source.client();
    until("a semi-synchronous replica", || client.status("Rpl_semi_sync_source_clients").unwrap() == 1);
}

fn count(client: &Client, condition: &str) -> i64 {
    client.number(&format!("SELECT COUNT(*) FROM d.counted WHERE {condition}")).unwrap()
}

/// Commits are acknowledged while the replica runs; wait, and are not visible, while `stop` keeps it from running; and go on after
/// `start`.
fn commits_wait_for_the_replica(source: &Server, stop: impl FnOnce(), start: impl FnOnce()) {
    write_beside_each_other(source.port(), 4);
    let client = source.client();
    assert!(client.status("Rpl_semi_sync_source_yes_tx").unwrap() >= 400);
    assert_eq!(client.status("Rpl_semi_sync_source_no_tx").unwrap(), 0);
    stop();
    until("the replica has gone", || client.status("Rpl_semi_sync_source_clients").unwrap() == 0);
    std::thread::scope(|scope| {
        let port = source.port();
        let waiting = scope.spawn(move || {
            let mut connection = Connection::open(port, "d").unwrap();
            connection.succeed("INSERT INTO counted (s) VALUES ('waits')").unwrap();
            Instant::now()
        });
        until("a commit that waits", || client.status("Rpl_semi_sync_source_wait_sessions").unwrap() == 1);
        std::thread::sleep(Duration::from_millis(200));
        assert_eq!(count(&client, "s = 'waits'"), 0, "it is visible and no replica has it");
        let before = Instant::now();
        start();
        assert!(waiting.join().unwrap() >= before);
    });
    assert_eq!(count(&client, "s = 'waits'"), 1);
}

#[test]
fn a_follower_of_ours() {
    let mut source = start_source("semi-sync-source", &[]);
    let mut options = ServerOptions::with_settings([REPLICA]);
    options.arguments.extend(["--follow".to_owned(), source.url()]);
    let follower = Server::start("semi-sync-follower", options).unwrap();
    source.wait_until_in_step(&follower).unwrap();
    enable(&source);
    assert_eq!(
        follower.client().query("SHOW STATUS LIKE 'Rpl_semi_sync_replica_status'").unwrap().trim(),
        "Rpl_semi_sync_replica_status\tON"
    );
    commits_wait_for_the_replica(
        &source,
        || drop(follower.client().query("STOP REPLICA").unwrap()),
        || drop(follower.client().query("START REPLICA").unwrap()),
    );

    // Whoever waits can be killed, and what it has written or defined is there once the follower has it.
    follower.client().query("STOP REPLICA").unwrap();
    let client = source.client();
    is_killed(&source, "INSERT INTO counted (s) VALUES ('killed')", 1);
    is_killed(&source, "CREATE TABLE killed (id INT PRIMARY KEY)", 2);
    follower.client().query("START REPLICA").unwrap();
    until("it is visible", || count(&client, "s = 'killed'") == 1);
    until("so is the table", || client.query("SELECT COUNT(*) FROM d.killed").is_ok());

    // Whatever a client was told of before the source died is on the follower.
    let told = std::thread::scope(|scope| {
        let port = source.port();
        let writer = scope.spawn(move || {
            let mut connection = Connection::open(port, "d").unwrap();
            let mut told = 0;
            while connection.succeed(&format!("INSERT INTO counted (s) VALUES ('told {told}')")).is_ok() {
                told += 1;
            }
            told
        });
        std::thread::sleep(Duration::from_millis(500));
        source.kill();
        writer.join().unwrap()
    });
    assert!(told > 0);
    let replica = follower.client();
    until("what was received is applied", || count(&replica, "s LIKE 'told %'") >= told);
    follower.client().query("STOP REPLICA; SET GLOBAL super_read_only = OFF, GLOBAL read_only = OFF").unwrap();
    assert!(count(&replica, "s LIKE 'told %'") >= told);
}

/// A statement that has `killed` in it waits for a replica, as the last one of so many, until it is killed.
fn is_killed(source: &Server, statement: &str, waiting: i64) {
    let client = source.client();
    std::thread::scope(|scope| {
        let port = source.port();
        let killed = scope.spawn(move || Connection::open(port, "d").unwrap().succeed(statement).unwrap_err());
        until("it waits", || client.status("Rpl_semi_sync_source_wait_sessions").unwrap() == waiting);
        let waits =
            "SELECT id FROM information_schema.processlist WHERE info LIKE '%killed%' AND id <> CONNECTION_ID()";
        client.query(&format!("KILL QUERY {}", client.query(waits).unwrap().trim())).unwrap();
        let error = killed.join().unwrap();
        assert!(error.contains("interrupted"), "{error}");
    });
}

#[test]
fn a_timeout_lets_commits_go_on() {
    let settings = ["rpl_semi_sync_source_timeout=300", "rpl_semi_sync_source_timeout_action=ASYNC"];
    let source = start_source("semi-sync-timeout", &settings);
    let client = source.client();
    client.query("SET GLOBAL rpl_semi_sync_master_enabled = ON").unwrap();
    client.query("INSERT INTO d.counted (s) VALUES ('alone')").unwrap();
    assert_eq!(client.status("Rpl_semi_sync_master_no_times").unwrap(), 1);
    assert_eq!(
        client.query("SHOW STATUS LIKE 'Rpl_semi_sync_source_status'").unwrap().trim(),
        "Rpl_semi_sync_source_status\tOFF"
    );
    let mut options = ServerOptions::with_settings([REPLICA]);
    options.arguments.extend(["--follow".to_owned(), source.url()]);
    let follower = Server::start("semi-sync-timeout-follower", options).unwrap();
    until("it is on again", || client.query("SHOW STATUS LIKE 'Rpl_semi_sync_source_status'").unwrap().contains("ON"));
    client.query("INSERT INTO d.counted (s) VALUES ('not alone')").unwrap();
    assert_eq!(client.status("Rpl_semi_sync_source_yes_tx").unwrap(), 1);
    source.wait_until_in_step(&follower).unwrap();
}

/// What waits keeps nothing from ending, and is there after the next start.
#[test]
fn a_server_ends_while_a_commit_waits() {
    let mut source = start_source("semi-sync-ends", &["rpl_semi_sync_source_wait_no_replica=ON"]);
    let (client, port) = (source.client(), source.port());
    client.query("SET GLOBAL rpl_semi_sync_source_enabled = ON").unwrap();
    let waiting = std::thread::spawn(move || {
        let mut connection = Connection::open(port, "d").unwrap();
        connection.succeed("INSERT INTO counted (s) VALUES ('waits')")
    });
    until("it waits", || client.status("Rpl_semi_sync_source_wait_sessions").unwrap() == 1);
    source.terminate();
    assert!(source.ends_within(Duration::from_secs(30)).unwrap());
    assert!(waiting.join().unwrap().is_err());
    source.set_options(ServerOptions::default());
    source.restart().unwrap();
    assert_eq!(count(&source.client(), "s = 'waits'"), 1);
}

#[test]
fn mysql_as_replica() {
    let source = start_source("semi-sync-mysql", &[]);
    let replica = Peer::start(Kind::Mysql97, "semi-sync", Duration::ZERO, &[]).unwrap();
    let change = format!(
        "RESET BINARY LOGS AND GTIDS; INSTALL PLUGIN rpl_semi_sync_replica SONAME 'semisync_replica.so'; \
         SET GLOBAL rpl_semi_sync_replica_enabled = ON; \
         CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={}, SOURCE_USER='root', \
         SOURCE_AUTO_POSITION=1, GET_SOURCE_PUBLIC_KEY=1, SOURCE_CONNECT_RETRY=1; START REPLICA",
        source.port()
    );
    replica.client().query(&format!("SET sql_log_bin = 0; {change}")).unwrap();
    enable(&source);
    commits_wait_for_the_replica(
        &source,
        || drop(replica.client().query("STOP REPLICA").unwrap()),
        || drop(replica.client().query("START REPLICA").unwrap()),
    );
    source.client().query("FLUSH BINARY LOGS; DELETE FROM d.counted WHERE id % 3 = 0").unwrap();
    // As many rows may be there before and after the last transactions.
    until("the replica has it", || contents(&source.client()) == contents(&replica.client()));
    assert_same(&source.client(), &replica.client());
}

#[test]
fn mariadb_as_replica() {
    let source = start_source("semi-sync-maria", &["version=11.8.0-commuter"]);
    let replica = Peer::start(Kind::Maria118, "semi-sync", Duration::ZERO, &[]).unwrap();
    let change = format!(
        "INSTALL SONAME 'auth_mysql_sha2'; SET GLOBAL rpl_semi_sync_slave_enabled = ON; \
         CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT={}, MASTER_USER='root', MASTER_USE_GTID=slave_pos, \
         MASTER_CONNECT_RETRY=1, MASTER_SSL_VERIFY_SERVER_CERT=0; START SLAVE",
        source.port()
    );
    replica.client().query(&change).unwrap();
    enable(&source);
    commits_wait_for_the_replica(
        &source,
        || drop(replica.client().query("STOP SLAVE").unwrap()),
        || drop(replica.client().query("START SLAVE").unwrap()),
    );
    // As many rows may be there before and after the last transactions.
    until("the replica has it", || contents(&source.client()) == contents(&replica.client()));
    assert_same(&source.client(), &replica.client());
}

/// A source that waits for ours: what it has told its clients is durable here.
fn as_replica_of(source: &mut Peer, name: &str, words: [&str; 2]) {
    let [status_word, variable] = words;
    let client = source.client();
    client.query(EVERYDAY).unwrap();
    let mut replica = Server::start(name, ServerOptions::with_settings([REPLICA])).unwrap();
    let change = format!(
        "CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={}, SOURCE_USER='root', \
         SOURCE_AUTO_POSITION=1, GET_SOURCE_PUBLIC_KEY=1, SOURCE_CONNECT_RETRY=1, SOURCE_RETRY_COUNT=100; START REPLICA",
        source.port()
    );
    replica.client().query(&change).unwrap();
    let yes = format!("Rpl_semi_sync_{status_word}_yes_tx");
    until("it is a semi-synchronous replica", || {
        client.status(&format!("Rpl_semi_sync_{status_word}_clients")).unwrap() == 1
    });
    until("it has caught up", || {
        client.query(&format!("SET GLOBAL {variable} = 2000; INSERT INTO d.counted (s) VALUES ('one more')")).unwrap();
        client.status(&yes).unwrap() > 0
    });
    client.query(&format!("SET GLOBAL {variable} = 60000")).unwrap();
    let (no, before) =
        (client.status(&format!("Rpl_semi_sync_{status_word}_no_tx")).unwrap(), client.status(&yes).unwrap());
    write_beside_each_other(source.port(), 4);
    // MySQL counts groups.
    assert!(client.status(&yes).unwrap() > before);
    assert_eq!(
        client.status(&format!("Rpl_semi_sync_{status_word}_no_tx")).unwrap(),
        no,
        "no commit went on without us"
    );
    replica.kill();
    replica.restart().unwrap();
    write_beside_each_other(source.port(), 2);
    source.kill();
    let there = replica.client();
    until("what was told is here", || {
        there.number("SELECT COUNT(*) FROM d.counted WHERE s LIKE '_ %' AND s NOT LIKE 'one%'").is_ok_and(|n| n == 600)
    });
}

#[test]
fn mysql_as_source() {
    let mut source = Peer::start(Kind::Mysql97, "semi-sync-source", Duration::ZERO, &[]).unwrap();
    let plugin = "SET sql_log_bin = 0; INSTALL PLUGIN rpl_semi_sync_source SONAME 'semisync_source.so'; \
                  SET GLOBAL rpl_semi_sync_source_enabled = ON, GLOBAL rpl_semi_sync_source_timeout = 1000";
    source.client().query(plugin).unwrap();
    as_replica_of(&mut source, "semi-sync-of-mysql", ["source", "rpl_semi_sync_source_timeout"]);
}

#[test]
fn mariadb_as_source() {
    let arguments = [
        "--rpl-semi-sync-master-enabled=ON",
        "--rpl-semi-sync-master-timeout=1000",
        "--rpl-semi-sync-master-wait-point=AFTER_SYNC",
    ];
    let mut source = Peer::start(Kind::Maria118, "semi-sync-source", Duration::ZERO, &arguments).unwrap();
    as_replica_of(&mut source, "semi-sync-of-maria", ["master", "rpl_semi_sync_master_timeout"]);
}

/// What changes nothing that a replica would have to have does not wait for one.
#[test]
fn new_files_wait_for_nobody() {
    let server = Server::start("semi-sync-alone", ServerOptions::with_settings(SOURCE)).unwrap();
    let started = Instant::now();
    let client = server.client();
    client.query("FLUSH BINARY LOGS; RESET BINARY LOGS AND GTIDS; FLUSH BINARY LOGS; FLUSH LOGS").unwrap();
    assert!(started.elapsed() < Duration::from_secs(30));
    assert!(client.query("SHOW BINARY LOG STATUS").unwrap().starts_with("binlog.000003"));
    assert_eq!(client.status("Rpl_semi_sync_source_wait_sessions").unwrap(), 0);
}
