//! `sql_log_bin=0`: what a server does for itself alone is there after a crash, and in no replica of any kind.

use std::process::Command;
use std::time::Duration;

use interop::{Client, Kind, Peer, Relay, Server, ServerOptions, commuter_binary, gtid_executed, run_tool, until};

const SHARED: &str =
    "CREATE DATABASE d; CREATE TABLE d.t (id INT PRIMARY KEY, s TEXT); INSERT INTO d.t VALUES (1, 'one'), (2, 'two')";

/// Tables and rows that nobody else gets; one transaction is larger than its cache, and is a file of the log by itself.
fn local() -> String {
    let rows: Vec<String> = (2..=400).map(|id| format!("({id}, REPEAT('x', 300))")).collect();
    format!(
        "SET sql_log_bin = 0; CREATE DATABASE own; CREATE TABLE own.t (id INT PRIMARY KEY, s TEXT); INSERT INTO own.t VALUES (1, 'mine'); \
         ALTER TABLE own.t ADD COLUMN n INT; INSERT INTO own.t (id, s) VALUES {}; INSERT INTO d.t VALUES (100, 'mine'); \
         CREATE USER local_only; SET sql_log_bin = 1",
        rows.join(", ")
    )
}

const OWN: &str = "SELECT COUNT(*), SUM(LENGTH(s)), SUM(n IS NULL) FROM own.t";

fn start(name: &str, settings: &[&str]) -> Server {
    Server::start(name, ServerOptions::with_settings([&["binlog_cache_size=65536"], settings].concat())).unwrap()
}

fn rows(client: &Client) -> String {
    client.query("SELECT * FROM d.t ORDER BY id").unwrap()
}

fn has_own(client: &Client) -> bool {
    client.query("SHOW DATABASES LIKE 'own'").unwrap().contains("own")
}

#[test]
fn survives_a_crash_and_reaches_no_replica() {
    let mut source = start("local", &[]);
    source.client().query(SHARED).unwrap();
    let follower = source.start_follower("local-follower").unwrap();
    let relay = Relay::start("local", source.port(), &[]).unwrap();
    let mysql = Peer::start(Kind::Mysql97, "local", Duration::ZERO, &[]).unwrap();
    let behind_relay = Peer::start(Kind::Mysql97, "local-behind", Duration::ZERO, &[]).unwrap();
    for (peer, port) in [(&mysql, source.port()), (&behind_relay, relay.port())] {
        let change = format!(
            "RESET BINARY LOGS AND GTIDS; CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={port}, SOURCE_USER='root', \
             SOURCE_AUTO_POSITION=1, SOURCE_CONNECT_RETRY=1, SOURCE_RETRY_COUNT=100, GET_SOURCE_PUBLIC_KEY=1; START REPLICA"
        );
        peer.client().query(&change).unwrap();
    }
    let before = gtid_executed(&source.client()).unwrap();
    source.client().query(&local()).unwrap();
    assert_eq!(gtid_executed(&source.client()).unwrap(), before);
    source.client().query("INSERT INTO d.t VALUES (3, 'three')").unwrap();
    let own = source.client().query(OWN).unwrap();
    assert!(own.starts_with("400\t"), "{own}");

    // After a crash, and after the next.
    for _ in 0..2 {
        source.kill();
        source.restart().unwrap();
        assert_eq!(source.client().query(OWN).unwrap(), own);
        assert_eq!(
            source.client().query("SELECT user FROM mysql.user WHERE user = 'local_only'").unwrap(),
            "local_only\n"
        );
    }
    source.client().query("INSERT INTO d.t VALUES (4, 'four')").unwrap();
    let executed = gtid_executed(&source.client()).unwrap();
    source.wait_until_in_step(&follower).unwrap();
    for client in [mysql.client(), behind_relay.client()] {
        let waited = client.query(&format!("SELECT WAIT_FOR_EXECUTED_GTID_SET('{executed}', 60)")).unwrap();
        assert_eq!(waited.trim(), "0", "{}", client.query("SHOW REPLICA STATUS\\G").unwrap_or_default());
    }
    for client in [follower.client(), mysql.client(), behind_relay.client()] {
        assert!(!has_own(&client));
        assert_eq!(rows(&client), "1\tone\n2\ttwo\n3\tthree\n4\tfour\n");
    }
    assert_eq!(rows(&source.client()), "1\tone\n2\ttwo\n3\tthree\n4\tfour\n100\tmine\n");
    becomes_the_source(source, follower, &own);
}

/// The follower takes over, with the old source's transactions in its log and not in its tables; and the old source follows, and keeps what
/// is its own.
fn becomes_the_source(mut source: Server, mut follower: Server, own: &str) {
    // The last thing in its log is nobody else's.
    source.client().query("SET sql_log_bin = 0; INSERT INTO d.t VALUES (101, 'mine')").unwrap();
    let end = source.client().query("SHOW BINARY LOG STATUS").unwrap();
    let position = |server: &Server| server.client().column("SHOW REPLICA STATUS", "Read_Source_Log_Pos").unwrap();
    until("the follower has it in its log", || end.split('\t').nth(1).unwrap() == position(&follower));
    follower.client().query("STOP REPLICA; RESET REPLICA ALL").unwrap();
    follower.client().query("SET GLOBAL read_only = OFF; INSERT INTO d.t VALUES (5, 'five')").unwrap();
    follower.kill();
    follower.restart().unwrap();
    assert!(!has_own(&follower.client()));
    assert_eq!(rows(&follower.client()), "1\tone\n2\ttwo\n3\tthree\n4\tfour\n5\tfive\n");
    let change = format!(
        "CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={}, SOURCE_USER='root', GET_SOURCE_PUBLIC_KEY=1; START REPLICA",
        follower.port()
    );
    source.client().query(&change).unwrap();
    follower.wait_until_in_step(&source).unwrap();
    source.kill();
    source.restart().unwrap();
    assert_eq!(source.client().query(OWN).unwrap(), own);
    assert_eq!(rows(&source.client()), "1\tone\n2\ttwo\n3\tthree\n4\tfour\n5\tfive\n100\tmine\n101\tmine\n");
}

/// MariaDB's numbers leave out what is local.
#[test]
fn a_mariadb_does_not_get_it_either() {
    let source = start("local-maria", &["version=11.8.0-commuter"]);
    source.client().query(SHARED).unwrap();
    let replica = Peer::start(Kind::Maria118, "local", Duration::ZERO, &[]).unwrap();
    let change = format!(
        "INSTALL SONAME 'auth_mysql_sha2'; CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT={}, MASTER_USER='root', \
         MASTER_USE_GTID=slave_pos, MASTER_SSL_VERIFY_SERVER_CERT=0; START SLAVE",
        source.port()
    );
    replica.client().query(&change).unwrap();
    source.client().query(&local()).unwrap();
    source.client().query("INSERT INTO d.t VALUES (3, 'three')").unwrap();
    let at = |client: &Client, column| client.column("SHOW BINARY LOG STATUS", column).unwrap();
    let (file, position) = (at(&source.client(), "File"), at(&source.client(), "Position"));
    let gtid = source.client().query(&format!("SELECT BINLOG_GTID_POS('{file}', {position})")).unwrap();
    let waited = replica.client().query(&format!("SELECT MASTER_GTID_WAIT('{}', 60)", gtid.trim())).unwrap();
    assert_eq!(waited.trim(), "0", "{gtid}: {}", replica.client().query("SHOW SLAVE STATUS\\G").unwrap_or_default());
    assert!(!has_own(&replica.client()));
    assert_eq!(rows(&replica.client()), "1\tone\n2\ttwo\n3\tthree\n");
}

/// A dump of all that a server has, as `mysqldump` writes it, is loaded without a GTID of the server that loads it.
#[test]
fn a_dump_with_gtids_is_loaded() {
    let source = start("local-dumped", &[]);
    source.client().query(SHARED).unwrap();
    let executed = gtid_executed(&source.client()).unwrap();
    let loaded = start("local-loaded", &[]);
    loaded.client().query("RESET BINARY LOGS AND GTIDS").unwrap();
    let file = loaded.folder().join("dump.sql").display().to_string();
    let port = format!("-P{}", source.port());
    let options = ["--no-defaults", "-h127.0.0.1", "-uroot", &port, "--get-server-public-key", "--set-gtid-purged=ON"];
    run_tool(Kind::Mysql97, "mysqldump", &[&options[..], &["--result-file", &file, "--databases", "d"]].concat())
        .unwrap();
    loaded.client().load(std::path::Path::new(&file)).unwrap();
    assert_eq!(rows(&loaded.client()), rows(&source.client()));
    assert_eq!(gtid_executed(&loaded.client()).unwrap(), executed);
    assert_eq!(loaded.client().query("SELECT @@GLOBAL.gtid_purged").unwrap().trim(), executed);
}

/// `commuter log dump` says what was local, and it is local where it is replayed.
#[test]
fn a_log_is_replayed() {
    let source = start("local-replayed", &[]);
    source
        .client()
        .query(&format!("RESET BINARY LOGS AND GTIDS; {SHARED}; {}; INSERT INTO d.t VALUES (3, 'three')", local()))
        .unwrap();
    let executed = gtid_executed(&source.client()).unwrap();
    source.client().query("FLUSH BINARY LOGS").unwrap();
    let again = start("local-again", &[]);
    // Both begin with the same first transactions of their own.
    again.client().query("RESET BINARY LOGS AND GTIDS").unwrap();
    let listed = source.client().query("SHOW BINARY LOGS").unwrap();
    let files = listed.lines().map(|line| source.folder().join(line.split('\t').next().unwrap()));
    let mut dump = Command::new(commuter_binary().unwrap());
    let dump = dump.args(["log", "dump"]).args(files).output().unwrap();
    assert!(dump.status.success(), "{}", String::from_utf8_lossy(&dump.stderr));
    let file = again.folder().join("log.sql");
    std::fs::write(&file, &dump.stdout).unwrap();
    again.client().load(&file).unwrap();
    assert_eq!(rows(&again.client()), rows(&source.client()));
    assert_eq!(again.client().query(OWN).unwrap(), source.client().query(OWN).unwrap());
    assert_eq!(gtid_executed(&again.client()).unwrap(), executed);
}
