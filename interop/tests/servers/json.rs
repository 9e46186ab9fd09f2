//! JSON columns between ours, MySQL 9.7 and MariaDB 11.8, in all directions, and through `mysqldump`.

use std::time::Duration;

use interop::{Client, Kind, Peer, Server, ServerOptions, gtid_executed, run_tool, until};

/// Documents of every type of value, small and large, and what changes in them.
const SCHEMA: &str = r#"CREATE DATABASE j; USE j;
CREATE TABLE t (id INT PRIMARY KEY, j JSON, n INT, k JSON NOT NULL);
CREATE TABLE no_key (a INT, j JSON);"#;

const ROWS: &str = r#"USE j;
INSERT INTO t VALUES
 (1, '{"a": 1, "b": [1, 2, {"c": "x"}], "long": "0123456789012345678901234567890123456789", "n": null}', 1, '[]'),
 (2, NULL, 2, 'null'),
 (3, '[true, false, -1, 70000, -70000, 5000000000, -5000000000, 18446744073709551615, 1.5, 1e300, 1e-7, "ü🙂 \\n \\""]', 3, '{}'),
 (4, '{"e": {"f": {"g": [[[]]]}}, "": 0, "key with spaces": 1}', 4, '"text"'),
 (5, '[1, 2, 3]', 5, '0');
INSERT INTO t SELECT 6, CONCAT('["', REPEAT('x', 70000), '", 70000, 70000, [70000]]'), 6, CONCAT('{"', REPEAT('k', 300), '": "', REPEAT('y', 200), '"}');
INSERT INTO t VALUES (7, CAST(1.50 AS JSON), 7, CAST(DATE'2024-02-29' AS JSON)), (8, CAST(TIME'-12:34:56.789' AS JSON), 8, CAST(TIMESTAMP'2024-02-29 01:02:03.5' AS JSON)), (9, JSON_ARRAY(1.25, x'00ff', TRUE), 9, JSON_OBJECT('d', -0.001));
INSERT INTO no_key VALUES (1, '{"a": 1}'), (1, '{"a": 1}'), (2, NULL), (3, '[1]'), (4, '["a long text that becomes shorter", "another text", 3]');"#;

const CHANGES: &str = r#"USE j;
UPDATE t SET j = JSON_SET(j, '$.a', 2, '$.b[2].c', 'y') WHERE id = 1;
UPDATE t SET j = JSON_SET(j, '$.added', JSON_ARRAY(1, 2)), n = 10 WHERE id = 1;
UPDATE t SET j = JSON_REMOVE(j, '$.n', '$.b[0]') WHERE id = 1;
UPDATE t SET j = JSON_REPLACE(j, '$.long', 'short') WHERE id = 1;
UPDATE t SET j = JSON_ARRAY_APPEND(j, '$', 4), k = JSON_SET(k, '$', 1) WHERE id = 5;
UPDATE t SET j = JSON_SET(j, '$[1]', 'changed', '$[3][0]', NULL) WHERE id = 6;
UPDATE t SET j = JSON_SET(j, '$.e.f', 'leaf'), k = JSON_SET(k, '$', 'other') WHERE id = 4;
UPDATE t SET j = '{"new": 1}' WHERE id = 2;
UPDATE t SET n = n + 1;
UPDATE no_key SET j = JSON_SET(j, '$.a', 5) WHERE a = 1 LIMIT 1;
UPDATE no_key SET j = JSON_REPLACE(j, '$[1]', 'short') WHERE a = 4;
UPDATE no_key SET a = 5 WHERE a = 4;
DELETE FROM t WHERE id = 3;
DELETE FROM no_key WHERE a = 3;"#;

fn start(name: &str) -> Server {
    Server::start(name, ServerOptions::default()).unwrap()
}

/// All rows, with the types of the documents' values.
fn contents(client: &Client) -> String {
    let rows = "SELECT id, CAST(j AS CHAR) j, JSON_TYPE(j) a, n, CAST(k AS CHAR) k, JSON_TYPE(k) b \
                FROM j.t ORDER BY id; SELECT a, CAST(j AS CHAR) j FROM j.no_key ORDER BY 1, 2";
    client.query(&format!("SET NAMES utf8mb4; {rows}")).unwrap()
}

/// The same as a server has it that keeps documents as text.
fn texts(client: &Client) -> String {
    let rows = "SELECT id, CAST(j AS CHAR) j, n, CAST(k AS CHAR) k FROM j.t ORDER BY id; \
                SELECT a, CAST(j AS CHAR) j FROM j.no_key ORDER BY 1, 2";
    client.query(&format!("SET NAMES utf8mb4; {rows}")).unwrap()
}

fn follow(replica: &Server, source: &Peer, from: &str) {
    let change = format!(
        "CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={}, SOURCE_USER='root', {from} \
         GET_SOURCE_PUBLIC_KEY=1, SOURCE_CONNECT_RETRY=1, SOURCE_RETRY_COUNT=100; START REPLICA",
        source.port()
    );
    replica.client().query(&change).unwrap();
}

/// Ready when a row that is written at the source now is there.
#[track_caller]
fn catch_up(source: &Client, replica: &Server) {
    source
        .query(
            "CREATE TABLE IF NOT EXISTS j.marks (id INT AUTO_INCREMENT PRIMARY KEY, n INT); INSERT INTO j.marks (n) VALUES (1)",
        )
        .unwrap();
    let last = source.query("SELECT MAX(id) FROM j.marks").unwrap();
    let client = replica.client();
    until("the replica has what its source has", || {
        let error = client.column("SHOW REPLICA STATUS", "Last_SQL_Error").unwrap();
        assert_eq!(error.trim(), "");
        client.query("SELECT MAX(id) FROM j.marks").is_ok_and(|found| found == last)
    });
}

fn mysql_to_ours(name: &str, settings: &str) {
    let source = Peer::start(Kind::Mysql97, name, Duration::ZERO, &[]).unwrap();
    let replica = start(name);
    let client = source.client();
    client.query(SCHEMA).unwrap();
    follow(&replica, &source, "SOURCE_AUTO_POSITION=1,");
    client.query(&format!("{settings} {ROWS}")).unwrap();
    client.query(&format!("{settings} {CHANGES}")).unwrap();
    catch_up(&client, &replica);
    assert_eq!(contents(&replica.client()), contents(&client));
    let created = |client: &Client| client.query("SHOW CREATE TABLE j.t").unwrap();
    assert_eq!(created(&replica.client()), created(&client));
}

#[test]
fn mysql_with_full_images() {
    mysql_to_ours("json-full", "");
}

#[test]
fn mysql_with_minimal_images() {
    mysql_to_ours("json-minimal", "SET binlog_row_image = minimal;");
}

#[test]
fn mysql_with_partial_updates() {
    // A document that is changed in its place keeps gaps there, which ours has not: rows without a key are found all the same.
    mysql_to_ours("json-partial", "SET binlog_row_value_options = PARTIAL_JSON, binlog_row_image = minimal;");
    mysql_to_ours("json-partial-full", "SET binlog_row_value_options = PARTIAL_JSON;");
}

/// Our rows are MySQL's, byte for byte: it applies them, and finds rows without a key by them.
#[test]
fn ours_to_mysql() {
    let source = start("json-source");
    let replica = Peer::start(Kind::Mysql97, "json-replica", Duration::ZERO, &[]).unwrap();
    replica.client().query("RESET BINARY LOGS AND GTIDS").unwrap();
    let client = source.client();
    client.query(SCHEMA).unwrap();
    let change = format!(
        "CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={}, SOURCE_USER='root', SOURCE_AUTO_POSITION=1, \
         GET_SOURCE_PUBLIC_KEY=1, SOURCE_CONNECT_RETRY=1, SOURCE_RETRY_COUNT=100; START REPLICA",
        source.port()
    );
    replica.client().query(&change).unwrap();
    client.query(ROWS).unwrap();
    client.query(CHANGES).unwrap();
    client
        .query(&format!(
            "SET binlog_row_image = minimal; {}",
            ROWS.replace("VALUES\n (1", "VALUES\n (101")
                .replace("(2, NULL, 2", "(102, NULL, 2")
                .replace("(4,", "(104,")
                .replace("(5,", "(105,")
                .replace("SELECT 6,", "SELECT 106,")
                .replace("(7, C", "(107, C")
                .replace("(8, C", "(108, C")
                .replace("(9, J", "(109, J")
        ))
        .unwrap();
    let executed = gtid_executed(&client).unwrap();
    let waited = replica.client().query(&format!("SELECT WAIT_FOR_EXECUTED_GTID_SET('{executed}', 60)")).unwrap();
    assert_eq!(waited.trim(), "0", "{}", replica.client().query("SHOW REPLICA STATUS\\G").unwrap_or_default());
    assert_eq!(contents(&replica.client()), contents(&client));
}

/// JSON is text there, and the rows of the stream are.
#[test]
fn ours_to_mariadb() {
    let settings = ["version=11.8.0-commuter"];
    let source = Server::start("json-to-maria", ServerOptions::with_settings(settings)).unwrap();
    let replica = Peer::start(Kind::Maria118, "json-to", Duration::ZERO, &["--log-slave-updates"]).unwrap();
    replica.client().query("INSTALL SONAME 'auth_mysql_sha2'").unwrap();
    let client = source.client();
    client.query(SCHEMA).unwrap();
    let change = format!(
        "CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT={}, MASTER_USER='root', MASTER_USE_GTID=slave_pos, \
         MASTER_CONNECT_RETRY=1, MASTER_SSL_VERIFY_SERVER_CERT=0; START SLAVE",
        source.port()
    );
    replica.client().query(&change).unwrap();
    client.query(ROWS).unwrap();
    client.query(CHANGES).unwrap();
    let status = |column| client.column("SHOW BINARY LOG STATUS", column).unwrap();
    let (file, position) = (status("File"), status("Position"));
    let position = client.query(&format!("SELECT BINLOG_GTID_POS('{file}', {position})")).unwrap().trim().to_owned();
    let waited = replica.client().query(&format!("SELECT MASTER_GTID_WAIT('{position}', 60)")).unwrap();
    assert_eq!(waited.trim(), "0", "{}", replica.client().query("SHOW SLAVE STATUS\\G").unwrap_or_default());
    assert_eq!(texts(&replica.client()), texts(&client));
    let created = replica.client().query("SHOW CREATE TABLE j.t").unwrap();
    assert!(created.contains("longtext"), "{created}");
}

/// What a MariaDB calls JSON is a LONGTEXT here too, also for those that follow us.
#[test]
fn mariadb_to_ours() {
    let source = Peer::start(Kind::Maria118, "json-from", Duration::ZERO, &[]).unwrap();
    let (replica, client) = (start("json-from-maria"), source.client());
    client.query("CREATE DATABASE j; CREATE TABLE j.t (id INT PRIMARY KEY, json JSON, k JSON NOT NULL)").unwrap();
    follow(&replica, &source, "");
    client
        .query("INSERT INTO j.t VALUES (1, '{\"b\":1,\"a\":2}', '[1]'), (2, NULL, '1'); UPDATE j.t SET k = '2' WHERE id = 2; ALTER TABLE j.t ADD COLUMN more JSON; UPDATE j.t SET more = '{}'")
        .unwrap();
    catch_up(&client, &replica);
    let rows = |client: &Client| client.query("SELECT * FROM j.t ORDER BY id").unwrap();
    assert_eq!(rows(&replica.client()), rows(&client));
    let created = replica.client().query("SHOW CREATE TABLE j.t").unwrap();
    assert!(created.contains("`more` longtext CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"), "{created}");
    // Its log says it too.
    let follower = replica.start_follower("json-from-maria-follower").unwrap();
    replica.wait_until_in_step(&follower).unwrap();
    assert_eq!(rows(&follower.client()), rows(&client));
}

#[test]
fn dumped_and_loaded() {
    let server = start("json-dump");
    let client = server.client();
    client.query(SCHEMA).unwrap();
    client.query(ROWS).unwrap();
    let before = contents(&client);
    let file = server.folder().join("dump.sql");
    let port = format!("-P{}", server.port());
    let result = format!("--result-file={}", file.display());
    let arguments =
        ["--no-defaults", "-h127.0.0.1", "-uroot", &port, "--set-gtid-purged=OFF", &result, "--databases", "j"];
    run_tool(Kind::Mysql97, "mysqldump", &arguments).unwrap();
    client.query("DROP DATABASE j").unwrap();
    client.load(&file).unwrap();
    // Text has no DECIMAL and no dates.
    let plain = |contents: &str| {
        contents.lines().filter(|line| !line.starts_with(['7', '8', '9'])).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(plain(&contents(&client)), plain(&before));
}
