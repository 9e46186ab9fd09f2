//! Statements that mean something else in a session with other settings, from real MySQL and MariaDB servers: done as there, or named as
//! what is not here. Never done otherwise.

use std::time::Duration;

use interop::{Kind, Node, Peer, Server, ServerOptions, until};

const SETUP: &str = "CREATE DATABASE d; CREATE TABLE d.seconds (id INT AUTO_INCREMENT PRIMARY KEY, t DATETIME, u TIME, v TIMESTAMP NULL); \
     CREATE TABLE d.t (id INT AUTO_INCREMENT PRIMARY KEY, a VARCHAR(20), b INT)";
const SECONDS: &str =
    "INSERT INTO seconds (t, u, v) VALUES ('2020-01-01 00:00:00.7', '10:00:00.999999', '2020-01-01 00:00:00.5')";

/// Fractions of seconds, types by mode; what of it the two kinds have.
const CARRIED: [(Option<Kind>, &str); 17] = [
    (None, SECONDS),
    (Some(Kind::Mysql97), "SET sql_mode='TIME_TRUNCATE_FRACTIONAL'"),
    (Some(Kind::Maria118), "SET sql_mode='TIME_ROUND_FRACTIONAL'"),
    (None, SECONDS),
    (
        None,
        "SET sql_mode=''; SET explicit_defaults_for_timestamp=0; CREATE TABLE e (id INT PRIMARY KEY, a TIMESTAMP, b TIMESTAMP, c TIMESTAMP NULL, \
         f TIMESTAMP(3) DEFAULT NOW(3)); CREATE TABLE g (id INT PRIMARY KEY, a TIMESTAMP NOT NULL ON UPDATE NOW(), b TIMESTAMP)",
    ),
    (None, "ALTER TABLE e ADD COLUMN h TIMESTAMP(2) AFTER id, ADD COLUMN i TIMESTAMP; INSERT INTO e (id) VALUES (1)"),
    (
        Some(Kind::Maria118),
        "INSERT INTO e (id, a, b, f) VALUES (2, NULL, NULL, NULL); UPDATE e SET b = NULL WHERE id = 1",
    ),
    (None, "SET explicit_defaults_for_timestamp=1"),
    (None, "SET sql_mode='REAL_AS_FLOAT'; CREATE TABLE r (id INT PRIMARY KEY, a REAL); INSERT INTO r VALUES (1, 0.1)"),
    (None, "SET sql_mode='HIGH_NOT_PRECEDENCE'; INSERT INTO t (b) VALUES (NOT 1 BETWEEN -5 AND 5), (NOT 2 = 2)"),
    (None, LATIN1),
    // What a character set is without a collation.
    (
        None,
        "SET NAMES utf8mb4; CREATE TABLE k1 (id INT PRIMARY KEY, a VARCHAR(9) CHARACTER SET utf8mb3, b VARCHAR(9) CHARACTER SET utf8mb4, \
            c VARCHAR(9) CHARACTER SET utf8 COLLATE utf8mb3_bin, d VARCHAR(9) CHARACTER SET 'utf8' NOT NULL UNIQUE, \
            e NCHAR(9), f NATIONAL VARCHAR(9) NOT NULL COLLATE utf8mb3_bin, g NCHAR)",
    ),
    (Some(Kind::Mysql97), "SET default_collation_for_utf8mb4 = utf8mb4_general_ci"),
    (Some(Kind::Maria118), "SET character_set_collations = 'utf8mb4=utf8mb4_general_ci,utf8mb3=utf8mb3_uca1400_as_ci'"),
    (
        None,
        "CREATE TABLE k2 (id INT PRIMARY KEY, a VARCHAR(9)) DEFAULT CHARSET=utf8mb4; CREATE TABLE k3 (id INT PRIMARY KEY, a VARCHAR(9)) CHARSET=utf8mb3; \
            CREATE TABLE k4 (id INT PRIMARY KEY, a VARCHAR(9)) COLLATE=utf8mb3_bin CHARSET=utf8mb3; \
            ALTER TABLE k2 ADD b VARCHAR(9) CHARACTER SET utf8mb4 COMMENT 'x', ADD c TEXT CHARACTER SET utf8mb3; ALTER TABLE k4 CONVERT TO CHARACTER SET utf8mb3",
    ),
    (
        Some(Kind::Maria118),
        "SET character_set_collations = ''; CREATE TABLE k5 (id INT PRIMARY KEY, a VARCHAR(9)) CHARSET=utf8mb4; \
            CREATE TABLE k6 (id INT PRIMARY KEY, a VARCHAR(9)) CHARSET=utf8mb3",
    ),
    // What holds for one statement.
    (
        Some(Kind::Maria118),
        "SET sql_mode = 'STRICT_TRANS_TABLES'; SET STATEMENT sql_mode = '' FOR INSERT INTO t (a, b) VALUES (1, 3000000000); \
            SET STATEMENT timestamp = 5, sql_mode = DEFAULT FOR INSERT INTO t (a) VALUES (UNIX_TIMESTAMP()) RETURNING id; \
            SET STATEMENT sql_mode = '', max_statement_time = 60 FOR CREATE TABLE w (id INT PRIMARY KEY, t DATETIME DEFAULT '0000-00-00'); \
            SET STATEMENT sql_mode = '' FOR ALTER TABLE w ADD u DATE DEFAULT '0000-00-00'",
    ),
];

/// Text is the bytes of its own character set; under latin1 each byte of these `é` is a character.
const LATIN1: &str = "CREATE TABLE c (id INT AUTO_INCREMENT PRIMARY KEY, l VARCHAR(20) CHARACTER SET latin1, \
     u VARCHAR(20) CHARACTER SET utf8mb4, b VARBINARY(40), n INT); \
     SET NAMES latin1; SET @v = 'é'; INSERT INTO c (l, u, b, n) VALUES ('é', 'é', 'é', LENGTH('é')), (@v, @v, @v, LENGTH(@v)), \
     (_binary'é', _utf8mb4'é', CONCAT('é', x'00'), ORD('é')); INSERT INTO c (l, u, b, n) SELECT l, l, l, 'é' = x'C3A9' FROM c; \
     SET NAMES binary; INSERT INTO c (l, u, b, n) VALUES ('é', 'é', 'é', LENGTH('é')); SET NAMES utf8mb4";
const LATIN1_ROWS: &str = "SELECT id, HEX(l), HEX(u), HEX(b), n FROM d.c ORDER BY id";

const ROWS: &str = "SELECT id, a, b FROM d.t ORDER BY id";

/// MariaDB writes functions in small letters and with parentheses, and texts in quotes.
const TIMESTAMPS: &str = "SELECT table_name, column_name, is_nullable, NULLIF(REPLACE(REPLACE(LOWER(column_default), '()', ''), '''', ''), 'null'), \
     TRIM(REPLACE(REPLACE(LOWER(extra), '()', ''), 'default_generated', '')) FROM information_schema.columns \
     WHERE table_schema = 'd' AND table_name IN ('e', 'g', 'w') ORDER BY table_name, ordinal_position";
const TYPE: &str = "SELECT data_type FROM information_schema.columns WHERE table_schema = 'd' AND table_name = 'r' AND column_name = 'a'";

/// Collations by the names that they have here.
const COLLATIONS: &str = "SELECT table_name, column_name, REPLACE(REPLACE(collation_name, 'utf8mb3', 'utf8mb4'), 'uca1400', '0900') \
     FROM information_schema.columns WHERE table_schema = 'd' AND table_name LIKE 'k%' ORDER BY 1, 2";

/// What is logged with its error, because what it had changed until then stays where tables have no transactions.
const FAILED: [&str; 4] = [
    "INSERT INTO m VALUES (1, 1), (2, 2), (1, 3), (4, 4)",
    "INSERT INTO m SELECT id + 10, n + 1 FROM m ORDER BY id",
    "UPDATE m SET n = 10 WHERE id < 3 ORDER BY id",
    "BEGIN; INSERT INTO m VALUES (20, 20), (20, 21), (22, 22)",
];

/// What stops a replica, and what its error names.
const REFUSED: [(Option<Kind>, &str, &str); 5] = [
    (
        None,
        "SET sql_auto_is_null=1; INSERT INTO t (a) VALUES ('x'); UPDATE t SET b = 1 WHERE id IS NULL",
        "sql_auto_is_null",
    ),
    (Some(Kind::Mysql97), "SET sql_mode='PAD_CHAR_TO_FULL_LENGTH'; INSERT INTO t (b) VALUES (1)", "PAD_CHAR"),
    (
        Some(Kind::Maria118),
        "SET sql_mode='EMPTY_STRING_IS_NULL'; INSERT INTO t (a) VALUES ('')",
        "EMPTY_STRING_IS_NULL",
    ),
    (Some(Kind::Maria118), "SET sql_mode='SIMULTANEOUS_ASSIGNMENT'; UPDATE t SET b = id", "SIMULTANEOUS_ASSIGNMENT"),
    (Some(Kind::Maria118), "SET sql_mode='ORACLE'; INSERT INTO t (a) VALUES (CONCAT('a', NULL))", "ORACLE"),
];

fn context(kind: Kind) {
    let source = Node::Peer(Peer::start(kind, "context", Duration::ZERO, &["--binlog-format=STATEMENT"]).unwrap());
    let replica = Node::Ours(Server::start("context", ServerOptions::default()).unwrap());
    let client = source.client();
    client.query(SETUP).unwrap();
    replica.follow(source.port()).unwrap();
    let patience = Duration::from_secs(30);
    let is_of = |only: &Option<Kind>| only.is_none_or(|only| only == kind);
    // In one session.
    let carried: Vec<&str> = CARRIED.iter().filter(|(only, _)| is_of(only)).map(|(_, sql)| *sql).collect();
    client.query(&format!("USE d; {}", carried.join("; "))).unwrap();
    source.wait_for_replica(&replica, patience).unwrap();
    for query in [
        ROWS,
        "SELECT * FROM d.seconds",
        "SELECT * FROM d.r",
        TYPE,
        TIMESTAMPS,
        "SELECT * FROM d.e",
        LATIN1_ROWS,
        COLLATIONS,
    ] {
        assert_eq!(replica.client().query(query), client.query(query), "{query}");
    }
    client.query("CREATE TABLE d.m (id INT PRIMARY KEY, n INT NOT NULL UNIQUE) ENGINE=MyISAM").unwrap();
    for sql in FAILED {
        client.query(&format!("USE d; {sql}")).unwrap_err();
        source.wait_for_replica(&replica, patience).unwrap();
        let rows = "SELECT * FROM d.m ORDER BY id";
        assert_eq!(replica.client().query(rows), client.query(rows), "{sql}");
    }
    for (_, sql, named) in REFUSED.iter().filter(|(only, ..)| is_of(only)) {
        client.query(&format!("USE d; {sql}")).unwrap();
        let error = || replica.sql_error();
        until(sql, || !error().is_empty());
        assert!(error().contains(named) && error().contains("support"), "{sql}: {}", error());
        replica.client().query("SET GLOBAL sql_replica_skip_counter = 1; START REPLICA").unwrap();
        source.wait_for_replica(&replica, patience).unwrap();
    }
}

#[test]
fn of_mysql() {
    context(Kind::Mysql97);
}

#[test]
fn of_maria() {
    context(Kind::Maria118);
}
