//! XA between servers, and across crashes: what is prepared stays so, with its locks, on whoever takes commits.

use std::time::Duration;

use interop::{Client, Kind, Peer, Server, ServerOptions, gtid_executed};

const SCHEMA: &str = "CREATE DATABASE d; CREATE TABLE d.t (id INT PRIMARY KEY, n INT, UNIQUE KEY (n)); CREATE TABLE d.p (id INT PRIMARY KEY); \
                      CREATE TABLE d.c (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES d.p (id)); \
                      INSERT INTO d.t VALUES (1, 10), (2, 20), (3, 30), (4, 40); INSERT INTO d.p VALUES (1), (2)";

/// Two transactions stay prepared, others end in each way, and things happen in between.
const MIXED: [&str; 8] = [
    "XA START 'a', 'b', 9; INSERT INTO t VALUES (5, 50); UPDATE t SET n = 11 WHERE id = 1; DELETE FROM t WHERE id = 2; \
     INSERT INTO c VALUES (1, 1); XA END 'a', 'b', 9; XA PREPARE 'a', 'b', 9",
    "INSERT INTO t VALUES (6, 60)",
    "XA START 'gone'; DELETE FROM t WHERE id = 3; XA END 'gone'; XA PREPARE 'gone'",
    "XA START 'once'; INSERT INTO t VALUES (7, 70); XA END 'once'; XA COMMIT 'once' ONE PHASE",
    "XA START X'00ff27', X'0a'; INSERT INTO t VALUES (8, 80); XA END X'00ff27', X'0a'; XA PREPARE X'00ff27', X'0a'",
    "CREATE TABLE other (id INT PRIMARY KEY)",
    "XA ROLLBACK 'gone'",
    "UPDATE t SET n = 31 WHERE id = 3",
];

const MIDDLE: &str = "1\t10\n2\t20\n3\t31\n4\t40\n6\t60\n7\t70\n";
const END: &str = "1\t11\n3\t31\n4\t40\n5\t50\n6\t60\n7\t70\n";

fn start(name: &str) -> Server {
    Server::start(name, ServerOptions::with_settings(["binlog_cache_size=65536"])).unwrap()
}

fn rows(client: &Client) -> String {
    client.query("SELECT * FROM d.t ORDER BY id").unwrap()
}

/// Each from a session of its own: MariaDB's keeps what it has prepared.
fn mix(client: &Client) {
    for sql in MIXED {
        client.query(&format!("USE d; {sql}")).unwrap();
    }
}

/// Names of what is prepared, in hexadecimal.
fn prepared(client: &Client) -> Vec<String> {
    let mysql = client.query("XA RECOVER CONVERT XID");
    let text = mysql.unwrap_or_else(|_| client.query("XA RECOVER FORMAT = 'SQL'").unwrap());
    // MariaDB's has texts where it can: `'a','b',9`.
    let part = |part: &str| match part.strip_prefix('X') {
        Some(hex) => hex.trim_matches('\'').to_uppercase(),
        None => part.trim_matches('\'').bytes().map(|byte| format!("{byte:02X}")).collect(),
    };
    let name = |line: &str| {
        let name = line.rsplit('\t').next().unwrap_or_default();
        match name.strip_prefix("0x") {
            Some(hex) => hex.to_uppercase(),
            None => name.split(',').take(2).map(part).collect(),
        }
    };
    let mut found: Vec<String> = text.lines().map(name).collect();
    found.sort_unstable();
    found
}

fn both() -> Vec<String> {
    vec!["00FF270A".to_owned(), "6162".to_owned()]
}

/// Locks of rows, of unique keys, of a parent, of tables: all are there.
fn assert_locked(client: &Client) {
    let tries = [
        "UPDATE d.t SET n = 1 WHERE id = 1",
        "DELETE FROM d.t WHERE id = 2",
        "INSERT INTO d.t VALUES (5, 1)",
        "INSERT INTO d.t VALUES (99, 50)",
        "DELETE FROM d.p WHERE id = 1",
        "INSERT INTO d.t VALUES (8, 1)",
    ];
    for sql in tries {
        let error = client.query(&format!("SET innodb_lock_wait_timeout = 1; {sql}")).unwrap_err();
        assert!(error.contains("1205"), "{sql}: {error}");
    }
    let error = client.query("SET lock_wait_timeout = 1; ALTER TABLE d.t ADD COLUMN x INT").unwrap_err();
    assert!(error.contains("1205"), "{error}");
    client.query("UPDATE d.t SET n = 41 WHERE id = 4; UPDATE d.t SET n = 40 WHERE id = 4; DELETE FROM d.p WHERE id = 2; INSERT INTO d.p VALUES (2)").unwrap();
}

fn end(client: &Client) {
    client.query("XA COMMIT 'a', 'b', 9; XA ROLLBACK X'00ff27', X'0a'").unwrap();
    assert_eq!(rows(client), END);
    assert_eq!(prepared(client), [""; 0]);
}

#[test]
fn is_prepared_across_crashes_and_checkpoints() {
    let mut server = start("xa");
    server.client().query(SCHEMA).unwrap();
    mix(&server.client());
    for round in 0..4 {
        assert_eq!(prepared(&server.client()), both(), "round {round}");
        assert_eq!(rows(&server.client()), MIDDLE, "round {round}");
        assert_locked(&server.client());
        match round {
            // The checkpoint of a clean stop holds it, and the log that it is in stays.
            1 => {
                server.stop().unwrap();
            }
            2 => {
                server.client().query("FLUSH BINARY LOGS; INSERT INTO d.p VALUES (100); FLUSH BINARY LOGS").unwrap();
                let _ = server.client().query("PURGE BINARY LOGS BEFORE NOW()");
                server.kill();
            }
            _ => server.kill(),
        }
        server.restart().unwrap();
    }
    let refused = server.client().query("RESET BINARY LOGS AND GTIDS").unwrap_err();
    assert!(refused.contains("1399"), "{refused}");
    end(&server.client());
    for _ in 0..2 {
        server.kill();
        server.restart().unwrap();
        assert_eq!(rows(&server.client()), END);
        assert_eq!(prepared(&server.client()), [""; 0]);
    }
}

#[test]
fn a_follower_takes_over_what_is_prepared() {
    let source = start("xa-source");
    source.client().query(SCHEMA).unwrap();
    let mut follower = source.start_follower("xa-follower").unwrap();
    mix(&source.client());
    source.wait_until_in_step(&follower).unwrap();
    assert_eq!(rows(&follower.client()), MIDDLE);
    assert_eq!(prepared(&follower.client()), both());
    let refused = follower.client().query("XA COMMIT 'a', 'b', 9").unwrap_err();
    assert!(refused.contains("1290"), "{refused}");
    follower.kill();
    follower.restart().unwrap();
    source.wait_until_in_step(&follower).unwrap();
    // The source commits it while it is followed; the rest waits for the new source.
    source.client().query("XA COMMIT 'a', 'b', 9").unwrap();
    source.wait_until_in_step(&follower).unwrap();
    assert_eq!(rows(&follower.client()), END);
    assert_eq!(prepared(&follower.client()), both()[..1]);
    follower.client().query("STOP REPLICA; RESET REPLICA ALL; SET GLOBAL read_only = OFF").unwrap();
    let error = follower.client().query("SET innodb_lock_wait_timeout = 1; INSERT INTO d.t VALUES (8, 1)").unwrap_err();
    assert!(error.contains("1205"), "{error}");
    follower.client().query("XA COMMIT X'00ff27', X'0a'").unwrap();
    let with_eight = format!("{END}8\t80\n");
    assert_eq!(rows(&follower.client()), with_eight);
    follower.kill();
    follower.restart().unwrap();
    assert_eq!(rows(&follower.client()), with_eight);
    let follows = format!(
        "CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={}, SOURCE_USER='root', GET_SOURCE_PUBLIC_KEY=1; START REPLICA",
        follower.port()
    );
    source.client().query(&follows).unwrap();
    follower.wait_until_in_step(&source).unwrap();
    assert_eq!(rows(&source.client()), with_eight);
    assert_eq!(prepared(&source.client()), [""; 0]);
}

#[track_caller]
fn wait_for_gtids(executed: &str, replica: &Client) {
    let waited = replica.query(&format!("SELECT WAIT_FOR_EXECUTED_GTID_SET('{executed}', 60)")).unwrap();
    assert_eq!(waited.trim(), "0", "{}", replica.query("SHOW REPLICA STATUS\\G").unwrap_or_default());
}

fn executed(client: &Client) -> String {
    client.query("SELECT @@GLOBAL.gtid_executed").unwrap().trim().replace("\\n", "")
}

#[test]
fn of_a_mysql_and_to_another() {
    let source = Peer::start(Kind::Mysql97, "xa-source", Duration::ZERO, &[]).unwrap();
    source.client().query(&format!("RESET BINARY LOGS AND GTIDS; {SCHEMA}")).unwrap();
    let mut middle = start("xa-middle");
    let last = Peer::start(Kind::Mysql97, "xa-last", Duration::ZERO, &[]).unwrap();
    last.client().query("RESET BINARY LOGS AND GTIDS").unwrap();
    for (replica, port) in [(middle.client(), source.port()), (last.client(), middle.port())] {
        let change = format!(
            "CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={port}, SOURCE_USER='root', SOURCE_AUTO_POSITION=1, \
             SOURCE_CONNECT_RETRY=1, SOURCE_RETRY_COUNT=100, GET_SOURCE_PUBLIC_KEY=1; START REPLICA"
        );
        replica.query(&change).unwrap();
    }
    mix(&source.client());
    for replica in [middle.client(), last.client()] {
        wait_for_gtids(&executed(&source.client()), &replica);
        assert_eq!(rows(&replica), MIDDLE);
        assert_eq!(prepared(&replica), both());
    }
    middle.kill();
    middle.restart().unwrap();
    assert_eq!(prepared(&middle.client()), both());
    assert_eq!(rows(&middle.client()), MIDDLE);
    end(&source.client());
    for replica in [middle.client(), last.client()] {
        wait_for_gtids(&executed(&source.client()), &replica);
        assert_eq!(rows(&replica), END);
        assert_eq!(prepared(&replica), [""; 0]);
    }
    assert!(!gtid_executed(&middle.client()).unwrap().is_empty());
}

#[test]
fn of_a_maria_by_position_and_to_another() {
    let source = Peer::start(Kind::Maria118, "xa-source", Duration::ZERO, &[]).unwrap();
    source.client().query(SCHEMA).unwrap();
    let mut middle =
        Server::start("xa-middle-maria", ServerOptions::with_settings(["version=11.8.0-commuter"])).unwrap();
    let last = Peer::start(Kind::Maria118, "xa-last", Duration::ZERO, &[]).unwrap();
    last.client().query("INSTALL SONAME 'auth_mysql_sha2'").unwrap();
    let first_file = source.client().query("SHOW BINARY LOGS").unwrap().split('\t').next().unwrap().to_owned();
    let follow = format!(
        "CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={}, SOURCE_USER='root', SOURCE_CONNECT_RETRY=1, SOURCE_LOG_FILE='{first_file}', \
         SOURCE_LOG_POS=4, SOURCE_AUTO_POSITION=0; START REPLICA",
        source.port()
    );
    middle.client().query(&follow).unwrap();
    let follow = format!(
        "CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT={}, MASTER_USER='root', MASTER_USE_GTID=slave_pos, MASTER_CONNECT_RETRY=1, \
         MASTER_SSL_VERIFY_SERVER_CERT=0; START SLAVE",
        middle.port()
    );
    last.client().query(&follow).unwrap();
    mix(&source.client());
    let in_step = |middle: &Server, expected: &str, names: &[String]| {
        for replica in [middle.client(), last.client()] {
            let status = || {
                let ours = replica.query("SHOW REPLICA STATUS\\G").unwrap_or_default();
                format!("{} {} {ours}", rows(&replica), prepared(&replica).join(","))
            };
            let mut left = 600;
            while (replica.query("SELECT * FROM d.t ORDER BY id").unwrap_or_default() != expected
                || prepared(&replica) != names)
                && left > 0
            {
                std::thread::sleep(Duration::from_millis(100));
                left -= 1;
            }
            assert!(left > 0, "{}", status());
        }
    };
    in_step(&middle, MIDDLE, &both());
    middle.kill();
    middle.restart().unwrap();
    assert_eq!(prepared(&middle.client()), both());
    end(&source.client());
    in_step(&middle, END, &[]);
}
