//! Libraries that programs read MySQL's log with read ours as they read MySQL's: python-mysql-replication,
//! mysql-binlog-connector-java, and Debezium's connector for MySQL.

use std::time::Duration;

use interop::everyday::EVERYDAY;
use interop::{Client, Kind, Peer, Server, ServerOptions, java, java_with_debezium, python};

/// As MySQL: a table without a key has an invisible one, and GTIDs are kept. Each file is read whole.
fn both(name: &str) -> (Peer, Server) {
    let peer = Peer::start(
        Kind::Mysql97,
        name,
        Duration::ZERO,
        &["--sql-generate-invisible-primary-key=ON", "--binlog-row-metadata=FULL"],
    )
    .unwrap();
    let ours = Server::start(name, ServerOptions::default()).unwrap();
    for client in [peer.client(), ours.client()] {
        client.query("RESET BINARY LOGS AND GTIDS").unwrap();
        client.query(&format!("SET time_zone = '+00:00'; SET NAMES utf8mb4; {EVERYDAY}")).unwrap();
        client.query("INSERT INTO d.types (z, id, c, bl) VALUES (7, 3, '', 'x'), (8, 4, 'ä', x'00')").unwrap();
    }
    (peer, ours)
}

fn first_file(client: &Client) -> String {
    client.column("SHOW BINARY LOGS", "Log_name").unwrap()
}

/// Everything executed but the last `left` transactions of the server's own.
fn executed_before(client: &Client, left: u64) -> (String, u64) {
    let uuid = client.query("SELECT @@server_uuid").unwrap().trim().to_owned();
    let executed = client.query("SELECT @@gtid_executed").unwrap();
    let last: u64 = executed.trim().rsplit(['-', ':']).next().unwrap().parse().unwrap();
    (format!("{uuid}:1-{}", last - left), last)
}

/// Lines of one kind.
fn of_kind(text: &str, is_of_kind: impl Fn(&str) -> bool) -> Vec<&str> {
    text.lines().filter(|line| is_of_kind(line)).collect()
}

/// Lines of one kind, in an order of their own: within a transaction MySQL logs the rows of a cascade before those that they follow from.
fn in_order(text: &str, is_of_kind: impl Fn(&str) -> bool) -> Vec<&str> {
    let mut lines = of_kind(text, is_of_kind);
    lines.sort_unstable();
    lines
}

#[track_caller]
fn assert_same_lines(ours: &[&str], theirs: &[&str]) {
    for (ours, theirs) in ours.iter().zip(theirs) {
        assert_eq!(ours, theirs);
    }
    assert_eq!(ours.len(), theirs.len());
}

const PYTHON: &str = include_str!("../../python/read_log.py");

#[test]
fn python_mysql_replication() {
    let (peer, ours) = both("read-by-python");
    let read = |client: &Client, how: &str, start: &str| {
        python(PYTHON, &[&client.port().to_string(), how, start]).unwrap_or_else(|error| panic!("{error}"))
    };
    let whole = |client: &Client| read(client, "file", &first_file(client));
    let (from_ours, from_theirs) = (whole(&ours.client()), whole(&peer.client()));
    let is_row = |line: &str| line.starts_with("{\"row\"");
    assert_same_lines(&in_order(&from_ours, is_row), &in_order(&from_theirs, is_row));
    assert!(
        from_ours.contains("\"vc\": \"äöü\"") || from_ours.contains("\\u00e4"),
        "column names and text: {from_ours}"
    );
    // By GTIDs: what was not read yet, once each.
    for client in [ours.client(), peer.client()] {
        let (before, last) = executed_before(&client, 3);
        let rest = read(&client, "gtids", &before);
        let gtids = of_kind(&rest, |line| line.starts_with("{\"gtid\""));
        assert_eq!(gtids.len(), 3, "{rest}");
        assert!(gtids[2].contains(&format!(":{last}\"")), "{rest}");
    }
}

#[test]
fn mysql_binlog_connector_java() {
    let (peer, ours) = both("read-by-java");
    let read = |client: &Client, how: &str, start: &str| {
        let end = |column| client.column("SHOW BINARY LOG STATUS", column).unwrap();
        let arguments = [&client.port().to_string(), how, start, &end("File"), &end("Position")];
        java("ReadLog", &arguments).unwrap_or_else(|error| panic!("{error}"))
    };
    let whole = |client: &Client| read(client, "file", &first_file(client));
    let (from_ours, from_theirs) = (whole(&ours.client()), whole(&peer.client()));
    let is_row = |line: &str| ["write ", "update ", "delete "].iter().any(|kind| line.starts_with(kind));
    assert_same_lines(&in_order(&from_ours, is_row), &in_order(&from_theirs, is_row));
    assert!(from_ours.contains("map d.types [z, id, t1,"), "column names: {from_ours}");
    for client in [ours.client(), peer.client()] {
        let (before, last) = executed_before(&client, 3);
        let rest = read(&client, "gtids", &before);
        let gtids = of_kind(&rest, |line| line.starts_with("gtid "));
        assert_eq!(gtids.len(), 3, "{rest}");
        assert!(gtids[2].ends_with(&format!(":{last}")) && rest.trim_end().ends_with("end"), "{rest}");
    }
}

/// While Debezium does not read.
const WHILE_IT_IS_AWAY: &str = "USE d; SET NAMES utf8mb4; SET time_zone='+00:00';
ALTER TABLE types ADD COLUMN later VARCHAR(10) DEFAULT 'ä', DROP COLUMN f;
INSERT INTO types (z, id, later) VALUES (1, 50, 'neu');
UPDATE types SET vc = 'größer', ti = '12:34:56.123456' WHERE id = 1;
DELETE FROM parent WHERE id > 1000;
CREATE TABLE fresh (a INT PRIMARY KEY, b ENUM('x','ö'));
INSERT INTO fresh VALUES (1, 'ö');
BEGIN; UPDATE counted SET s = CONCAT(s, '!'); DELETE FROM no_key; COMMIT;
RENAME TABLE fresh TO other;
INSERT INTO other VALUES (2, 'x');
TRUNCATE TABLE other;
CREATE TABLE selected_again AS SELECT id, s FROM counted;
DROP TABLE renamed;
INSERT INTO marks VALUES (2);";

/// A snapshot, and then the log from there, across statements that change tables.
#[test]
fn debezium() {
    let (peer, ours) = both("read-by-debezium");
    let folder = std::env::temp_dir().join(format!("commuter-debezium-{}", std::process::id()));
    let read = |client: &Client, name: &str, mark: &str| {
        let folder = folder.join(name);
        std::fs::create_dir_all(&folder).unwrap();
        let arguments = [&client.port().to_string(), &folder.display().to_string(), mark];
        java_with_debezium("Debezium", &arguments).unwrap_or_else(|error| panic!("{error}"))
    };
    let run = |client: Client, name: &str| {
        client.query("CREATE TABLE d.marks (id INT PRIMARY KEY); INSERT INTO d.marks VALUES (1)").unwrap();
        let snapshot = read(&client, name, "1");
        client.query(WHILE_IT_IS_AWAY).unwrap();
        (snapshot, read(&client, name, "2"))
    };
    let (snapshot, changes) = run(ours.client(), "ours");
    let theirs = run(peer.client(), "theirs");
    assert_same_lines(&of_kind(&snapshot, |_| true), &of_kind(&theirs.0, |_| true));
    assert!(
        snapshot.lines().all(|line| line.starts_with("r ")) && snapshot.lines().count() > 1000,
        "{}",
        snapshot.len()
    );
    assert_same_lines(&of_kind(&changes, |_| true), &of_kind(&theirs.1, |_| true));
    assert!(changes.contains("\"later\":\"neu\"") && changes.contains("größer"), "{changes}");
    let _ = std::fs::remove_dir_all(&folder);
}
