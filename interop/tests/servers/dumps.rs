//! What `mysqldump` 9.7 and `mariadb-dump` write of our server can be loaded into it again and into MySQL 9.7, and shows the
//! state of one moment.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use interop::{Client, Kind, Peer, Server, ServerOptions, beside, run_tool};

/// Every type, values that have to be quoted, a table without a primary key, generated numbers, names that have to be quoted.
const SCHEMA: &str = r#"
CREATE DATABASE d;
USE d;
CREATE TABLE types (id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT, ti TINYINT(1) DEFAULT 1, si SMALLINT UNSIGNED, mi MEDIUMINT, i INT(5) ZEROFILL, d DECIMAL(20,5) DEFAULT -1.5, f FLOAT, db DOUBLE, b BIT(12) DEFAULT b'101', c CHAR(5) NOT NULL DEFAULT 'it''s', v VARCHAR(50) COLLATE utf8mb4_bin COMMENT 'a ''comment''', l VARCHAR(20) CHARACTER SET latin1, t TEXT, bi BINARY(4), vb VARBINARY(20), bl BLOB, e ENUM('a', 'b''c'), s SET('x', 'y'), da DATE, tm TIME(3), dt DATETIME(6) DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6), ts TIMESTAMP NULL DEFAULT NULL, y YEAR, h INT INVISIBLE, PRIMARY KEY (id), UNIQUE KEY v (v), KEY pre (t(10), si DESC), KEY unseen (e) INVISIBLE COMMENT 'k') AUTO_INCREMENT=7 COMMENT='all of them';
INSERT INTO types (ti, si, mi, i, d, f, db, b, c, v, l, t, bi, vb, bl, e, s, da, tm, dt, ts, y, h) VALUES
 (0, 65535, -8388608, 42, 12345.678, 1.25, 1e-100, b'111100001111', 'ab', 'quote '' " \\ \n \0 %', 'café', 'lines\nand\ttabs', 0x00ff, 0x27275c00, 0x000102fffe, 'b''c', 'x,y', '2024-02-29', '-12:34:56.789', '2024-02-29 01:02:03.456789', '2024-06-01 12:00:00', 2024, 5),
 (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'ü🙂', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
CREATE TABLE no_key (a INT, b VARCHAR(10));
INSERT INTO no_key VALUES (1, 'x'), (1, 'x'), (2, NULL);
CREATE TABLE `odd ``name` (`a b` INT PRIMARY KEY, `select` INT, KEY (`select`)) CHARSET=latin1;
INSERT INTO `odd ``name` VALUES (1, 2);
CREATE TABLE empty (a INT PRIMARY KEY);
"#;

/// All that a server has of the database, in a form that does not depend on the server.
fn contents(client: &Client) -> String {
    let queries = [
        "SELECT *, HEX(b), HEX(vb), HEX(bl), HEX(v), h FROM d.types ORDER BY id",
        "SELECT * FROM d.no_key ORDER BY a",
        "SELECT * FROM d.`odd ``name`",
        "SELECT * FROM d.empty",
        "SELECT TABLE_NAME, COLUMN_NAME, COLUMN_DEFAULT, IS_NULLABLE, COLUMN_TYPE, COLLATION_NAME, COLUMN_KEY, EXTRA, \
         COLUMN_COMMENT FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'd' ORDER BY TABLE_NAME, ORDINAL_POSITION",
        "SELECT TABLE_NAME, INDEX_NAME, NON_UNIQUE, SEQ_IN_INDEX, COLUMN_NAME, COLLATION, SUB_PART, IS_VISIBLE, INDEX_COMMENT \
         FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = 'd' ORDER BY 1, 2, 4",
        "SELECT TABLE_NAME, TABLE_COLLATION, TABLE_COMMENT FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'd' ORDER BY 1",
    ];
    let answers =
        queries.map(|sql| client.query(&format!("SET NAMES utf8mb4; SET time_zone = '+00:00'; {sql}")).unwrap());
    answers.join("\n")
}

/// Runs a tool with these arguments besides those that connect it.
type Dump = fn(u16, &[&str]);

fn mysqldump(port: u16, arguments: &[&str]) {
    let port = format!("-P{port}");
    let all = [&["--no-defaults", "-h127.0.0.1", "-uroot", &port], arguments].concat();
    run_tool(Kind::Mysql97, "mysqldump", &all).unwrap();
}

fn mariadb_dump(port: u16, arguments: &[&str]) {
    let port = format!("-P{port}");
    let output = Command::new("mariadb-dump")
        .args(["--no-defaults", "--skip-ssl", "-h127.0.0.1", "-uroot", &port])
        .args(arguments)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Dumps into a file, at a place that the tools see from inside their roots too.
fn dump(server: &Server, tool: Dump, arguments: &[&str]) -> PathBuf {
    let file = server.folder().join("dump.sql");
    tool(server.port(), &[&["--result-file", &file.display().to_string()], arguments].concat());
    file
}

#[test]
fn dumps_can_be_loaded_again() {
    let server = Server::start("dumps", ServerOptions::default()).unwrap();
    let again = Server::start("dumps-again", ServerOptions::default()).unwrap();
    let mysql = Peer::start(Kind::Mysql97, "dumps", Duration::ZERO, &[]).unwrap();
    server.client().query(SCHEMA).unwrap();
    let expected = contents(&server.client());
    assert!(expected.contains("café") && expected.contains("all of them"), "{expected}");
    let no_gtids = "--set-gtid-purged=OFF";
    let cases: [(Dump, &[&str]); 6] = [
        (mysqldump, &["--single-transaction", no_gtids, "--databases", "d"]),
        (
            mysqldump,
            &[
                "--single-transaction",
                "--source-data=2",
                "--routines",
                "--events",
                "--hex-blob",
                no_gtids,
                "--all-databases",
            ],
        ),
        (mysqldump, &["--lock-all-tables", "--complete-insert", no_gtids, "--databases", "d"]),
        (mariadb_dump, &["--single-transaction", "--hex-blob", "--databases", "d"]),
        (mariadb_dump, &["--single-transaction", "--master-data=2", "--databases", "d"]),
        (mariadb_dump, &["--single-transaction", "--hex-blob", "--all-databases"]),
    ];
    for (tool, arguments) in cases {
        let file = dump(&server, tool, arguments);
        for target in [again.client(), mysql.client()] {
            target.query("DROP DATABASE IF EXISTS d").unwrap();
            target.load(&file).unwrap();
            assert_eq!(contents(&target), expected, "{arguments:?}");
        }
    }
}

/// Two tables that always hold the same number, while somebody counts.
#[test]
fn a_snapshot_is_of_one_moment() {
    let server = Server::start("dumps-moment", ServerOptions::default()).unwrap();
    let root = server.client();
    root.query(
        "CREATE DATABASE d; CREATE TABLE d.a (id INT PRIMARY KEY, n INT); CREATE TABLE d.b (id INT PRIMARY KEY, n INT); \
         INSERT INTO d.a VALUES (1, 0); INSERT INTO d.b VALUES (1, 0)",
    )
    .unwrap();
    let cases: [(Dump, &[&str]); 4] = [
        (mysqldump, &["--single-transaction", "--source-data=2", "--databases", "d"]),
        (mysqldump, &["--single-transaction", "d"]),
        (mariadb_dump, &["--single-transaction", "--master-data=2", "--databases", "d"]),
        (mariadb_dump, &["--single-transaction", "d"]),
    ];
    let write = |is_over: &AtomicBool| {
        let both = "START TRANSACTION; UPDATE d.a SET n = n + 1; UPDATE d.b SET n = n + 1; COMMIT;";
        while !is_over.load(Ordering::Relaxed) {
            root.query(&both.repeat(50)).unwrap();
        }
    };
    beside(write, || {
        for (tool, arguments) in cases {
            let text = fs::read_to_string(dump(&server, tool, arguments)).unwrap();
            let values: Vec<&str> = text.lines().filter_map(|line| line.split("(1,").nth(1)).collect();
            assert_eq!(values.len(), 2, "{text}");
            assert_eq!(values[0], values[1], "{arguments:?}");
        }
    });
}
