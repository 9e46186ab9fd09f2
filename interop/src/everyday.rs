//! What servers do every day, for tests in which one follows another, of whatever kind both are.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::{Client, Connection, Result, beside};

/// Everyday statements of all kinds that a log has; transactions that get a file of the log of their own among them.
pub const EVERYDAY: &str = r"
CREATE DATABASE d;
USE d;
CREATE TABLE parent (id INT PRIMARY KEY, n INT);
CREATE TABLE child (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES parent (id) ON DELETE CASCADE ON UPDATE CASCADE);
INSERT INTO parent VALUES (1,1), (2,2), (3,3);
INSERT INTO child VALUES (1,1), (2,1), (3,2);
DELETE FROM parent WHERE id = 1;
UPDATE parent SET id = 20 WHERE id = 2;
CREATE TABLE no_key (a INT, s VARCHAR(20));
INSERT INTO no_key VALUES (1,'a'), (1,'a'), (2,'b');
UPDATE no_key SET s = 'c' WHERE a = 2;
DELETE FROM no_key WHERE a = 1 LIMIT 1;
CREATE TABLE types (id INT PRIMARY KEY, t1 TINYINT, t2 SMALLINT UNSIGNED, t3 MEDIUMINT, t4 BIGINT UNSIGNED, f FLOAT, d DOUBLE,
  de DECIMAL(30,10), c CHAR(10), vc VARCHAR(300) CHARACTER SET latin1, vb VARBINARY(20), bi BINARY(5), tx TEXT, lt LONGTEXT,
  bl LONGBLOB, da DATE, ti TIME(6), dt DATETIME(6), ts TIMESTAMP(3) NULL, y YEAR, en ENUM('x','y','z'), se SET('p','q','r'), b BIT(10));
INSERT INTO types VALUES (1, -1, 65535, -8388608, 18446744073709551615, 1.5, 2.5e300, 12345678901234567890.0123456789, 'abc', 'äöü',
  x'00ff', x'0102', 'text', REPEAT('long', 10000), REPEAT('bl', 5000), '2024-02-29', '-838:59:59', '9999-12-31 23:59:59.999999',
  '2026-11-23 01:02:03.456', 2155, 'z', 'p,r', b'1010101010');
INSERT INTO types (id) VALUES (2);
UPDATE types SET vc = 'x', tx = NULL WHERE id = 1;
ALTER TABLE types ADD COLUMN z INT NOT NULL DEFAULT 5 FIRST, ADD KEY (t1);
CREATE TABLE selected AS SELECT id, z FROM types;
CREATE TABLE alike LIKE types;
RENAME TABLE alike TO renamed;
TRUNCATE TABLE renamed;
CREATE INDEX i ON parent (n);
BEGIN; INSERT INTO parent VALUES (100,1); SAVEPOINT s; INSERT INTO parent VALUES (101,1); ROLLBACK TO s; INSERT INTO parent VALUES (102,1); COMMIT;
FLUSH BINARY LOGS;
INSERT INTO parent SELECT id + 1000, n FROM parent;
INSERT INTO parent VALUES (3,1) ON DUPLICATE KEY UPDATE n = n + 1;
REPLACE INTO parent VALUES (1003,2);
CREATE TABLE gone (id INT PRIMARY KEY);
DROP TABLE gone;
CREATE TABLE big (id INT AUTO_INCREMENT PRIMARY KEY, s VARCHAR(1000));
INSERT INTO big (s) VALUES (REPEAT('b', 1000)), (REPEAT('i', 1000)), (REPEAT('g', 1000)), (REPEAT('!', 1000));
INSERT INTO big (s) SELECT a.s FROM big a, big b, big c, big d, big e
  ORDER BY a.id, b.id, c.id, d.id, e.id;
UPDATE big SET s = CONCAT('x', SUBSTR(s, 2)) WHERE id % 2 = 0;
CREATE TABLE counted (id INT AUTO_INCREMENT PRIMARY KEY, s VARCHAR(50));
INSERT INTO counted (s) VALUES ('one'), ('two');
";

/// What every table of the database holds, as a client prints it.
///
/// # Panics
/// When the server does not answer.
pub fn contents(client: &Client) -> String {
    let tables = "SELECT table_name FROM information_schema.tables WHERE table_schema = 'd' ORDER BY table_name";
    let names = client.query(tables).expect("the server tells its tables");
    let queries: Vec<String> =
        names.lines().map(|name| format!("SELECT '{name}'; SELECT * FROM d.{name} ORDER BY 1, 2;")).collect();
    client.query(&format!("SET NAMES utf8mb4; {}", queries.concat())).expect("tables that it tells can be read")
}

/// Whether a replica has what its source has.
///
/// # Panics
/// If not.
#[track_caller]
pub fn assert_same(source: &Client, replica: &Client) {
    let (ours, theirs) = (contents(source), contents(replica));
    for (ours, theirs) in ours.lines().zip(theirs.lines()) {
        assert_eq!(ours, theirs);
    }
    assert_eq!(ours.len(), theirs.len());
    assert!(ours.contains("counted"), "{ours}");
}

/// 100, or `COMMUTER_INTEROP_WRITES`.
pub fn writes_of_each() -> i64 {
    std::env::var("COMMUTER_INTEROP_WRITES").ok().and_then(|text| text.parse().ok()).unwrap_or(100)
}

/// Small concurrent transactions, by so many clients.
///
/// # Panics
/// When the server refuses one.
pub fn write_beside_each_other(port: u16, clients: i64) {
    let writes = writes_of_each();
    std::thread::scope(|scope| {
        for client in 0..clients {
            scope.spawn(move || {
                let mut connection = Connection::open(port, "d").expect("the server lets writers in");
                for n in 0..writes {
                    let sql = format!("INSERT INTO counted (s) VALUES ('{client} {n}')");
                    connection.succeed(&sql).expect("the server writes");
                }
            });
        }
    });
}

/// Runs `dump` while somebody writes, then gives what it gave.
///
/// # Panics
/// When the server or the tool fails.
pub fn dump_beside_writers(port: u16, dump: impl FnOnce() -> Result<String>) -> String {
    let write = |is_over: &AtomicBool| {
        let mut connection = Connection::open(port, "d").expect("the server lets writers in");
        let mut written = 0;
        while !is_over.load(Ordering::Relaxed) {
            connection.succeed("INSERT INTO counted (s) VALUES ('beside')").expect("the server writes");
            written += 1;
        }
        written
    };
    let (written, text) = beside(write, dump);
    let text = text.expect("the tool dumps");
    assert!(written > 0);
    text
}
