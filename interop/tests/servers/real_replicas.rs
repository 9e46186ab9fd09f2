//! Real MySQL and MariaDB servers as replicas of ours, with their own statements.

use std::process::Command;
use std::time::Duration;

use interop::everyday::{EVERYDAY, assert_same, dump_beside_writers, write_beside_each_other};
use interop::{Kind, Peer, Result, Server, ServerOptions, gtid_executed, run_tool, until};

fn start_source(name: &str, settings: &[&str]) -> Server {
    let small_cache = "binlog_cache_size=65536";
    Server::start(name, ServerOptions::with_settings([&[small_cache], settings].concat())).unwrap()
}

/// Ready when a MySQL has all that the source has.
#[track_caller]
fn wait_for_mysql(source: &Server, replica: &Peer) {
    let executed = gtid_executed(&source.client()).unwrap();
    let client = replica.client();
    let waited = client.query(&format!("SELECT WAIT_FOR_EXECUTED_GTID_SET('{executed}', 60)")).unwrap();
    assert_eq!(waited.trim(), "0", "{}", client.query("SHOW REPLICA STATUS\\G").unwrap_or_default());
}

fn mysql_follows(source: &Server, replica: &Peer, from: &str) {
    let change = format!(
        "CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={}, SOURCE_USER='root', {from}, \
         GET_SOURCE_PUBLIC_KEY=1, SOURCE_CONNECT_RETRY=1, SOURCE_RETRY_COUNT=100; START REPLICA",
        source.port()
    );
    replica.client().query(&change).unwrap();
}

#[test]
fn mysql_by_gtids_from_the_first_transaction() {
    let mut source = start_source("real-mysql", &[]);
    source.client().query(EVERYDAY).unwrap();
    let mut replica = Peer::start(Kind::Mysql97, "real", Duration::ZERO, &["--replica-parallel-workers=4"]).unwrap();
    replica.client().query("RESET BINARY LOGS AND GTIDS").unwrap();
    mysql_follows(&source, &replica, "SOURCE_AUTO_POSITION=1");
    write_beside_each_other(source.port(), 8);
    wait_for_mysql(&source, &replica);
    assert_same(&source.client(), &replica.client());

    // Either of them dies, and nothing is lost or done twice.
    source.kill();
    source.restart().unwrap();
    write_beside_each_other(source.port(), 2);
    replica.kill();
    write_beside_each_other(source.port(), 2);
    source.client().query("FLUSH BINARY LOGS; DELETE FROM d.counted WHERE id % 3 = 0").unwrap();
    replica.restart().unwrap();
    wait_for_mysql(&source, &replica);
    assert_same(&source.client(), &replica.client());
    let status = |column| replica.client().column("SHOW REPLICA STATUS", column).unwrap();
    assert_eq!((status("Replica_IO_Running"), status("Replica_SQL_Running")), ("Yes".to_owned(), "Yes".to_owned()));
}

#[test]
fn mysql_by_position() {
    let source = start_source("real-mysql-position", &[]);
    source.client().query(EVERYDAY).unwrap();
    let replica = Peer::start(Kind::Mysql97, "real-position", Duration::ZERO, &[]).unwrap();
    let from = "SOURCE_AUTO_POSITION=0, SOURCE_LOG_FILE='binlog.000001', SOURCE_LOG_POS=4";
    mysql_follows(&source, &replica, from);
    write_beside_each_other(source.port(), 4);
    wait_for_mysql(&source, &replica);
    assert_same(&source.client(), &replica.client());
}

/// A MariaDB that knows the accounts of ours.
fn start_mariadb(name: &str) -> Peer {
    let arguments = ["--slave-parallel-threads=4", "--slave-parallel-mode=conservative", "--log-slave-updates"];
    let peer = Peer::start(Kind::Maria118, name, Duration::ZERO, &arguments).unwrap();
    // Our accounts have caching_sha2_password, which MariaDB's server learns by a plugin.
    peer.client().query("INSTALL SONAME 'auth_mysql_sha2'").unwrap();
    peer
}

fn mariadb_follows(source: &Server, replica: &Peer, from: &str) {
    let change = format!(
        "CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT={}, MASTER_USER='root', {from}, \
         MASTER_CONNECT_RETRY=1, MASTER_SSL_VERIFY_SERVER_CERT=0; START SLAVE",
        source.port()
    );
    replica.client().query(&change).unwrap();
}

/// Where the source is, by MariaDB's name.
fn maria_position(source: &Server) -> String {
    let client = source.client();
    let status = |column| client.column("SHOW BINARY LOG STATUS", column).unwrap();
    let (file, position) = (status("File"), status("Position"));
    client.query(&format!("SELECT BINLOG_GTID_POS('{file}', {position})")).unwrap().trim().to_owned()
}

/// Ready when a MariaDB has all that the source has.
#[track_caller]
fn wait_for_mariadb(source: &Server, replica: &Peer) {
    let position = maria_position(source);
    let client = replica.client();
    let waited = client.query(&format!("SELECT MASTER_GTID_WAIT('{position}', 60)")).unwrap();
    assert_eq!(waited.trim(), "0", "{position}: {}", client.query("SHOW SLAVE STATUS\\G").unwrap_or_default());
    assert_eq!(client.query("SELECT @@gtid_slave_pos").unwrap().trim(), position);
}

/// MariaDB takes the version that it is told for whether there can be GTIDs.
const VERSION_WITH_GTIDS: &str = "version=11.8.0-commuter";

#[test]
fn mariadb_by_gtids_from_one_source_to_another() {
    let mut source = start_source("real-maria", &[VERSION_WITH_GTIDS]);
    source.client().query(EVERYDAY).unwrap();
    let mut replica = start_mariadb("real");
    mariadb_follows(&source, &replica, "MASTER_USE_GTID=slave_pos");
    write_beside_each_other(source.port(), 8);
    wait_for_mariadb(&source, &replica);
    assert_same(&source.client(), &replica.client());
    assert_eq!(replica.client().column("SHOW SLAVE STATUS", "Using_Gtid").unwrap(), "Slave_Pos");
    // What ran beside each other at the source did here too.
    let number = |name: &str| replica.client().status(name).unwrap();
    let (groups, commits) = (number("Binlog_group_commits"), number("Binlog_commits"));
    assert!(groups < commits, "{groups} {commits}");

    source.kill();
    source.restart().unwrap();
    write_beside_each_other(source.port(), 2);
    replica.kill();
    source.client().query("FLUSH BINARY LOGS; DELETE FROM d.counted WHERE id % 3 = 0").unwrap();
    replica.restart().unwrap();
    wait_for_mariadb(&source, &replica);
    assert_same(&source.client(), &replica.client());

    // A follower has the same log, so the same names.
    let mut options = ServerOptions::with_settings([VERSION_WITH_GTIDS]);
    options.arguments.extend(["--follow".to_owned(), source.url()]);
    let follower = Server::start("real-maria-follower", options).unwrap();
    source.wait_until_in_step(&follower).unwrap();
    replica.client().query("STOP SLAVE").unwrap();
    mariadb_follows(&follower, &replica, "MASTER_USE_GTID=slave_pos");
    write_beside_each_other(source.port(), 2);
    wait_for_mariadb(&source, &replica);
    assert_same(&source.client(), &replica.client());

    // A history of its own is refused.
    replica.client().query("STOP SLAVE; SET GLOBAL gtid_slave_pos = '0-77-5'; START SLAVE").unwrap();
    until("the refusal", || {
        let error = replica.client().column("SHOW SLAVE STATUS", "Last_IO_Error").unwrap_or_default();
        error.contains("not in the master's binlog")
    });
}

#[test]
fn mariadb_by_position() {
    let source = start_source("real-maria-position", &[]);
    source.client().query(EVERYDAY).unwrap();
    let replica = start_mariadb("real-position");
    mariadb_follows(&source, &replica, "MASTER_LOG_FILE='binlog.000001', MASTER_LOG_POS=4, MASTER_USE_GTID=no");
    write_beside_each_other(source.port(), 4);
    wait_for_mariadb(&source, &replica);
    assert_same(&source.client(), &replica.client());
}

fn load(replica: &Peer, dump: &str) {
    let printed = replica.client().script("", dump).unwrap();
    assert!(!printed.contains("ERROR"), "{printed}");
}

#[test]
fn mysql_begins_with_a_dump() {
    let source = start_source("real-mysql-dump", &[]);
    source.client().query(EVERYDAY).unwrap();
    let port = format!("-P{}", source.port());
    let dump = dump_beside_writers(source.port(), || {
        let options = ["--no-defaults", "-h127.0.0.1", "-uroot", &port, "--get-server-public-key", "--source-data"];
        let what = ["--single-transaction", "--set-gtid-purged=ON", "--hex-blob", "--databases", "d"];
        run_tool(Kind::Mysql97, "mysqldump", &[&options[..], &what[..]].concat())
    });
    let replica = Peer::start(Kind::Mysql97, "real-dump", Duration::ZERO, &[]).unwrap();
    replica.client().query("RESET BINARY LOGS AND GTIDS").unwrap();
    load(&replica, &dump);
    mysql_follows(&source, &replica, "SOURCE_AUTO_POSITION=1");
    write_beside_each_other(source.port(), 2);
    wait_for_mysql(&source, &replica);
    assert_same(&source.client(), &replica.client());
}

/// mydumper's threads read one snapshot, and its metadata says which.
#[test]
fn mysql_begins_with_a_dump_by_many_threads() {
    let source = start_source("real-mydumper", &[]);
    source.client().query(EVERYDAY).unwrap();
    let replica = Peer::start(Kind::Mysql97, "real-mydumper", Duration::ZERO, &[]).unwrap();
    let folder = source.folder().with_extension("dump");
    let _ = std::fs::remove_dir_all(&folder);
    let (port, out) = (source.port().to_string(), folder.display().to_string());
    let metadata = dump_beside_writers(source.port(), || {
        let options = ["-h", "127.0.0.1", "-P", &port, "-u", "root", "-B", "d", "-o", &out, "--trx-consistency-only"];
        run_here("mydumper", &options)?;
        std::fs::read_to_string(folder.join("metadata")).map_err(|error| error.to_string())
    });
    let gtids = metadata.lines().find_map(|line| line.trim().strip_prefix("GTID:")).unwrap();
    replica.client().query("RESET BINARY LOGS AND GTIDS").unwrap();
    run_here("myloader", &["-h", "127.0.0.1", "-P", &replica.port().to_string(), "-u", "root", "-d", &out]).unwrap();
    replica.client().query(&format!("SET GLOBAL gtid_purged = '{gtids}'")).unwrap();
    mysql_follows(&source, &replica, "SOURCE_AUTO_POSITION=1");
    write_beside_each_other(source.port(), 2);
    wait_for_mysql(&source, &replica);
    assert_same(&source.client(), &replica.client());
    let _ = std::fs::remove_dir_all(&folder);
}

fn run_here(program: &str, arguments: &[&str]) -> Result<String> {
    let output = Command::new(program).args(arguments).output().map_err(|error| format!("{program}: {error}"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
}

#[test]
fn mariadb_begins_with_a_dump() {
    let source = start_source("real-maria-dump", &[VERSION_WITH_GTIDS]);
    source.client().query(EVERYDAY).unwrap();
    // SHOW CREATE TABLE is MySQL's, so MariaDB sees the generated column of a table that came by a dump.
    source.client().query("DROP TABLE d.no_key, d.selected").unwrap();
    let port = format!("-P{}", source.port());
    let dump = dump_beside_writers(source.port(), || {
        let options = ["--no-defaults", "--skip-ssl", "-h127.0.0.1", "-uroot", &port, "--single-transaction"];
        let what = ["--master-data", "--gtid", "--hex-blob", "--databases", "d"];
        run_here("mariadb-dump", &[&options[..], &what[..]].concat())
    });
    let replica = start_mariadb("real-dump");
    load(&replica, &dump);
    mariadb_follows(&source, &replica, "MASTER_USE_GTID=slave_pos");
    write_beside_each_other(source.port(), 2);
    wait_for_mariadb(&source, &replica);
    assert_same(&source.client(), &replica.client());
}

/// What a MariaDB gets at other lengths than the log has it: events in its dialect, in all places where they differ.
const AT_OTHER_LENGTHS: [&str; 9] = [
    "CREATE DATABASE hb; CREATE TABLE hb.t (id INT PRIMARY KEY, n INT, s VARCHAR(40))",
    "CREATE USER r1@'%'; GRANT SELECT ON hb.* TO r1@'%'",
    "INSERT INTO hb.t VALUES (1, 1, 'a'), (2, 2, 'b')",
    "SET SESSION binlog_row_image = 'MINIMAL'; UPDATE hb.t SET n = n + 1; SET SESSION binlog_row_image = 'FULL'",
    "XA START 'x'; INSERT INTO hb.t VALUES (3, 3, 'c'); XA END 'x'; XA PREPARE 'x'; XA COMMIT 'x'",
    "XA START 'a long name of a global transaction, as middleware makes them','and a branch of it that is long as well, as long as can be',7; \
     INSERT INTO hb.t VALUES (4, 4, 'd'); XA END 'a long name of a global transaction, as middleware makes them','and a branch of it that is long as well, as long as can be',7; \
     XA PREPARE 'a long name of a global transaction, as middleware makes them','and a branch of it that is long as well, as long as can be',7; \
     XA COMMIT 'a long name of a global transaction, as middleware makes them','and a branch of it that is long as well, as long as can be',7",
    // Texts that are longer than the documents, and shorter.
    "CREATE TABLE hb.j (id INT PRIMARY KEY, j JSON); INSERT INTO hb.j SELECT id, CONCAT('[', REPEAT('false, ', 500), 'true]') FROM hb.t",
    "UPDATE hb.j SET j = CONCAT('[', REPEAT('1e-7, ', 500), '1]')",
    "FLUSH BINARY LOGS",
];

/// An idle source's heartbeats fit to what a MariaDB has counted, which by position is where the source is, and where it goes on.
#[test]
fn mariadb_hears_of_the_place_that_it_has_counted() {
    let source = start_source("real-maria-heartbeats", &[VERSION_WITH_GTIDS]);
    let by_gtids = start_mariadb("real-heartbeats-gtids");
    let by_position = start_mariadb("real-heartbeats-position");
    mariadb_follows(&source, &by_gtids, "MASTER_USE_GTID=slave_pos, MASTER_HEARTBEAT_PERIOD=1");
    let from = "MASTER_LOG_FILE='binlog.000001', MASTER_LOG_POS=4, MASTER_USE_GTID=no, MASTER_HEARTBEAT_PERIOD=1";
    mariadb_follows(&source, &by_position, from);
    for statements in AT_OTHER_LENGTHS {
        source.client().query(statements).unwrap();
        wait_for_mariadb(&source, &by_gtids);
        wait_for_mariadb(&source, &by_position);
        for replica in [&by_gtids, &by_position] {
            let heard = || replica.client().status("Slave_received_heartbeats").unwrap();
            let before = heard();
            until("a heartbeat, or its end", || {
                heard() > before + 1
                    || replica.client().column("SHOW SLAVE STATUS", "Slave_IO_Running").unwrap() != "Yes"
            });
            let status = |column: &str| replica.client().column("SHOW SLAVE STATUS", column).unwrap();
            assert_eq!(status("Last_IO_Error"), "", "{statements}");
            assert_eq!(status("Slave_IO_Running"), "Yes", "{statements}");
        }
        let at = |column| source.client().column("SHOW BINARY LOG STATUS", column).unwrap();
        let counted = |column| by_position.client().column("SHOW SLAVE STATUS", column).unwrap();
        assert_eq!(counted("Master_Log_File"), at("File"), "{statements}");
        assert_eq!(counted("Read_Master_Log_Pos"), at("Position"), "{statements}");
        by_position.client().query("STOP SLAVE; START SLAVE").unwrap();
    }
    source.client().query("INSERT INTO hb.t VALUES (9, 9, 'z')").unwrap();
    wait_for_mariadb(&source, &by_position);
    let rows = "SELECT * FROM hb.t ORDER BY id; SELECT id, JSON_LENGTH(j) FROM hb.j ORDER BY id";
    for replica in [&by_gtids, &by_position] {
        wait_for_mariadb(&source, replica);
        assert_eq!(replica.client().query(rows).unwrap(), source.client().query(rows).unwrap());
    }
}
