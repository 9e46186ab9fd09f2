//! Definitions that only one of MySQL and MariaDB understands, over a server of ours to the other one: done as far as it has the same.

use std::time::Duration;

use interop::{Connection, Kind, Node, Peer, Server, ServerOptions, until};

const PATIENCE: Duration = Duration::from_secs(30);

/// What a MariaDB writes.
const OF_MARIADB: &[&str] = &[
    "CREATE TABLE d.a (id INT PRIMARY KEY, n INT, s VARCHAR(9) COLLATE utf8mb4_uca1400_ai_ci, KEY k (n) IGNORED) ENGINE=Aria TRANSACTIONAL=1",
    "ALTER TABLE d.a ENGINE=InnoDB",
    "ALTER TABLE d.a ALTER INDEX k NOT IGNORED",
    "ALTER TABLE d.a ADD COLUMN IF NOT EXISTS n INT, ADD COLUMN IF NOT EXISTS m INT, DROP COLUMN IF EXISTS x",
    "ALTER TABLE d.a ADD COLUMN IF NOT EXISTS m INT",
    "ALTER TABLE IF EXISTS d.nowhere ADD COLUMN y INT",
    "ALTER TABLE IF EXISTS d.a ADD COLUMN y INT",
    "CREATE INDEX IF NOT EXISTS k ON d.a (m)",
    "CREATE INDEX IF NOT EXISTS l ON d.a (m)",
    "DROP INDEX IF EXISTS nowhere ON d.a",
    "ALTER TABLE d.a MODIFY COLUMN IF EXISTS z INT, CHANGE COLUMN IF EXISTS y w BIGINT, RENAME COLUMN IF EXISTS q TO r",
    "ALTER TABLE d.a DROP INDEX IF EXISTS nowhere, ADD INDEX IF NOT EXISTS l (n), ADD UNIQUE KEY IF NOT EXISTS u (n)",
    "CREATE TABLE d.b (id INT PRIMARY KEY, a INT, CONSTRAINT f FOREIGN KEY (a) REFERENCES d.a (id))",
    "ALTER TABLE d.b DROP FOREIGN KEY IF EXISTS g, ADD CONSTRAINT f FOREIGN KEY IF NOT EXISTS (a) REFERENCES d.a (id)",
    "ALTER TABLE d.b ALTER COLUMN IF EXISTS nowhere SET DEFAULT 3, ALTER COLUMN IF EXISTS a SET DEFAULT NULL",
    "CREATE TABLE d.c (id INT PRIMARY KEY) PAGE_COMPRESSED=1 PAGE_COMPRESSION_LEVEL=3",
    "ALTER TABLE d.b TRANSACTIONAL=0, ADD COLUMN t INT, PAGE_CHECKSUM=0",
    "ALTER TABLE d.b WAIT 5 ADD COLUMN v INT",
    "CREATE INDEX w ON d.b (v) WAIT 5",
    "DROP INDEX w ON d.b NOWAIT",
    "RENAME TABLE d.c WAIT 5 TO d.c2, d.c2 NOWAIT TO d.c",
    "TRUNCATE TABLE d.c WAIT 5",
    "SET STATEMENT lock_wait_timeout = 5 FOR ALTER TABLE d.b ADD COLUMN u INT",
    "CREATE DATABASE e COMMENT 'x'",
    "DROP SEQUENCE IF EXISTS d.s1, d.a",
    "DROP PACKAGE IF EXISTS d.p",
    "DROP VIEW IF EXISTS d.a, d.nowhere",
    "DROP PROCEDURE IF EXISTS d.p",
    "DROP TRIGGER IF EXISTS d.p",
    "DROP EVENT IF EXISTS d.p",
    "DROP FUNCTION IF EXISTS d.p",
    "CREATE USER u@localhost",
    "GRANT BINLOG MONITOR, REPLICATION SLAVE ADMIN, SELECT ON *.* TO u@localhost",
    "REVOKE BINLOG MONITOR ON *.* FROM u@localhost",
    "CREATE TABLE d.v (a INT PRIMARY KEY /*!100100 , b INT */ /*!110800 , c INT */ /*M! , e INT */ /*M!100100 , f INT */ /*!90000 , g INT */)",
    "ALTER TABLE d.v ADD /*!99999 x INT, ADD */ w INT COMMENT '/*!99999 */ /*M! */', ADD q FLOAT(7,3)",
    "CREATE TABLE d.words (id INT PRIMARY KEY, lag INT, lateral INT, KEY rank (lag), CONSTRAINT system FOREIGN KEY grouping (lag) REFERENCES d.b (id))",
    "ALTER TABLE d.words CHANGE lateral empty INT AFTER id, RENAME KEY rank TO first_value",
];

/// What a MySQL writes.
const OF_MYSQL: &[&str] = &[
    "CREATE TABLE d.a (id INT PRIMARY KEY, n INT INVISIBLE, m INT, KEY k (n) INVISIBLE, KEY l (m) VISIBLE)",
    "ALTER TABLE d.a ALTER INDEX k VISIBLE, ALTER INDEX l INVISIBLE",
    "ALTER TABLE d.a COMPRESSION='zlib'",
    "CREATE TABLE d.b (id INT PRIMARY KEY) AUTOEXTEND_SIZE=4M ENCRYPTION='N'",
    "CREATE INDEX i ON d.a (m) INVISIBLE",
    "ALTER TABLE d.b AUTOEXTEND_SIZE=8M, ADD COLUMN t INT",
    "CREATE DATABASE e DEFAULT ENCRYPTION='N'",
    "CREATE USER u@localhost",
    "GRANT XA_RECOVER_ADMIN, SELECT, BINLOG_ADMIN ON *.* TO u@localhost",
    "GRANT SYSTEM_VARIABLES_ADMIN, SESSION_VARIABLES_ADMIN ON *.* TO u@localhost",
    "REVOKE XA_RECOVER_ADMIN ON *.* FROM u@localhost",
    "CREATE TABLE d.v (a INT PRIMARY KEY /*!90000 , b INT */ , c INT, f FLOAT(7,3), g DOUBLE(10,2))",
    "ALTER TABLE d.v ADD /*M!100100 y INT, ADD */ z INT",
    "ALTER TABLE d.v ADD /*!99999 x INT, ADD */ w INT COMMENT '/*!99999 */ /*M! */'",
    "CREATE TABLE d.s (a INT, b INT, v INT, PRIMARY KEY (a, b), KEY ka (a), KEY kb (b))",
    "ALTER TABLE d.s RENAME COLUMN a TO b, RENAME COLUMN b TO a",
    "ALTER TABLE d.s CHANGE a b INT, CHANGE b v INT, CHANGE v a INT",
    "ALTER TABLE d.s RENAME INDEX ka TO kb, RENAME INDEX kb TO ka",
    "ALTER TABLE d.s ADD x INT AFTER thing, CHANGE v thing INT",
    "CREATE TABLE d.p (a INT PRIMARY KEY) /*!50100 TABLESPACE `innodb_file_per_table` */ ENGINE=InnoDB",
];

/// What a client of ours writes: with rows, because another place of a column is seen in them.
const OF_OURS: &[&str] = &[
    "CREATE TABLE d.collated (id INT PRIMARY KEY, c VARCHAR(9) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin, KEY k (c)); INSERT INTO d.collated VALUES (1, 'B'), (2, 'a'), (3, 'C')",
    "ALTER TABLE d.collated CHANGE c d VARCHAR(9) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci",
    "CREATE TABLE d.v (a INT PRIMARY KEY /*!90000 , b INT */ , c INT)",
    "CREATE TABLE d.x (a INT PRIMARY KEY /*M! , b INT */ /*!100100 , e INT */ /*!80000 , f INT */ /*M!100100 , g INT */, c INT)",
    "CREATE TABLE d.s (a INT, b INT, v INT, PRIMARY KEY (a, b), KEY ka (a), KEY kb (b))",
    "INSERT INTO d.v VALUES (1, 2); INSERT INTO d.x VALUES (1, 2, 3, 4); INSERT INTO d.s VALUES (1, 10, 7), (2, 20, 8)",
    "ALTER TABLE d.s RENAME COLUMN a TO b, RENAME COLUMN b TO a",
    "INSERT INTO d.s (a, b) VALUES (30, 3)",
    "ALTER TABLE d.s CHANGE a b INT, CHANGE b v INT, CHANGE v a INT",
    "ALTER TABLE d.s RENAME INDEX ka TO kb, RENAME INDEX kb TO ka",
    "UPDATE d.s SET a = 5 WHERE b = 10",
    "CREATE TABLE d.w (a BIGINT UNSIGNED NOT NULL)",
    "INSERT INTO d.w VALUES (1)",
    "ALTER TABLE d.w ADD COLUMN b BIGINT UNSIGNED NOT NULL FIRST",
    "INSERT INTO d.w (a, b) VALUES (2, 700); UPDATE d.w SET a = 5 WHERE a = 1",
    "ALTER TABLE d.w MODIFY a BIGINT UNSIGNED FIRST",
    "INSERT INTO d.w (a, b) VALUES (3, 800)",
    "CREATE TABLE d.n (a INT NOT NULL, i INT AUTO_INCREMENT, KEY (i))",
    "ALTER TABLE d.n ADD COLUMN f INT FIRST",
    "INSERT INTO d.n (a, f) VALUES (1, 2)",
    "ALTER TABLE d.n ADD PRIMARY KEY (a), ADD COLUMN g INT FIRST",
    "INSERT INTO d.n (a, f, g) VALUES (2, 3, 4)",
    "CREATE TABLE d.k (id INT PRIMARY KEY, v INT DEFAULT NULL, f FLOAT(7,3)); INSERT INTO d.k VALUES (1, 2, 3.14159)",
    "ALTER TABLE d.k DROP PRIMARY KEY, ADD PRIMARY KEY (v)",
    "CREATE TABLE d.o (id INT PRIMARY KEY, a TIMESTAMP NULL DEFAULT NOW() ON UPDATE NOW() COMMENT 'it''s', b DATETIME(3) DEFAULT NOW(3) ON UPDATE NOW(3) INVISIBLE, c TIMESTAMP NOT NULL DEFAULT NOW() ON UPDATE NOW())",
    "SET time_zone = '+05:00'; ALTER TABLE d.o ALTER a SET DEFAULT '2026-01-02 03:04:05', ALTER COLUMN c SET DEFAULT '2026-01-02'",
    "ALTER TABLE d.o ADD x INT, ALTER b SET DEFAULT '2026-01-02 03:04:05.678'",
    "CREATE TABLE d.par (id INT PRIMARY KEY, v INT)",
    "CREATE TABLE d.chi (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES d.par (id) ON DELETE CASCADE)",
    "INSERT INTO d.par VALUES (6, 6); INSERT INTO d.chi VALUES (1, 6); REPLACE INTO d.par VALUES (6, 60)",
    "CREATE TABLE d.lead (id INT PRIMARY KEY, lag INT, page_checksum INT, of INT, KEY rank (lag), CONSTRAINT system FOREIGN KEY grouping (lag) REFERENCES d.par (id))",
    "ALTER TABLE d.lead CHANGE page_checksum empty INT AFTER id, RENAME KEY rank TO first_value, ADD KEY row_number (of)",
    "INSERT INTO d.lead (id, of) VALUES (1, 2)",
];

const ROWS: [&str; 9] = ["v", "x", "s", "w", "n", "k", "par", "chi", "lead"];

const COLUMNS: &str = "SELECT table_name, column_name, ordinal_position, data_type, is_nullable, extra LIKE '%on update%' \
     FROM information_schema.columns WHERE table_schema = 'd' AND table_name <> 'marks' ORDER BY 1, 3";
const KEYS: &str = "SELECT table_name, index_name, seq_in_index, column_name, non_unique FROM information_schema.statistics \
     WHERE table_schema = 'd' AND table_name <> 'marks' ORDER BY 1, 2, 3";

fn same_everywhere(kind: Kind, other: Kind, definitions: &[&str]) {
    let source = Node::Peer(Peer::start(kind, "definitions", Duration::ZERO, &[]).unwrap());
    let options = ServerOptions::with_settings(["version=11.8.0-commuter"]);
    let mut middle = Node::Ours(Server::start(&format!("definitions-of-{kind:?}"), options).unwrap());
    let end = Node::Peer(Peer::start(other, "definitions-end", Duration::ZERO, &[]).unwrap());
    middle.follow(source.port()).unwrap();
    if other == Kind::Maria118 {
        end.client().query("INSTALL SONAME 'auth_mysql_sha2'").unwrap();
    }
    source.client().query("CREATE DATABASE d").unwrap();
    end.follow(middle.port()).unwrap();
    for definition in definitions {
        source.client().query(definition).unwrap();
        for replica in [&middle, &end] {
            source.wait_for_replica(replica, PATIENCE).unwrap_or_else(|error| panic!("{definition}: {error}"));
        }
        for query in [COLUMNS, KEYS] {
            let theirs = source.client().query(query).unwrap();
            for replica in [&middle, &end] {
                assert_eq!(replica.client().query(query).unwrap(), theirs, "{definition}");
            }
        }
    }
    // What the log says is what was done.
    let before = middle.client().query(&format!("{COLUMNS}; {KEYS}")).unwrap();
    middle.kill();
    middle.restart().unwrap();
    assert_eq!(middle.client().query(&format!("{COLUMNS}; {KEYS}")).unwrap(), before);
}

#[test]
fn a_mariadb_over_us_to_a_mysql() {
    same_everywhere(Kind::Maria118, Kind::Mysql97, OF_MARIADB);
}

#[test]
fn a_mysql_over_us_to_a_mariadb() {
    same_everywhere(Kind::Mysql97, Kind::Maria118, OF_MYSQL);
}

/// Every replica of ours has the columns, keys and rows that we have.
fn as_ours_at(kind: Kind) {
    let options = ServerOptions::with_settings(["version=11.8.0-commuter"]);
    let options = if kind == Kind::Maria118 { options } else { ServerOptions::default() };
    let source = Node::Ours(Server::start(&format!("definitions-to-{kind:?}"), options).unwrap());
    let replica = Node::Peer(Peer::start(kind, "definitions-of-ours", Duration::ZERO, &[]).unwrap());
    if kind == Kind::Maria118 {
        replica.client().query("INSTALL SONAME 'auth_mysql_sha2'").unwrap();
    }
    source.client().query("CREATE DATABASE d").unwrap();
    replica.follow(source.port()).unwrap();
    for statement in OF_OURS {
        source.client().query(statement).unwrap();
        source.wait_for_replica(&replica, PATIENCE).unwrap_or_else(|error| panic!("{statement}: {error}"));
        for query in [COLUMNS, KEYS] {
            let ours = source.client().query(query).unwrap();
            assert_eq!(replica.client().query(query).unwrap(), ours, "{statement}");
        }
    }
    // By an index: a MariaDB that does not sort it anew says 1712.
    let by_index = "SELECT d FROM d.collated FORCE INDEX (k) ORDER BY d";
    assert_eq!(replica.client().query(by_index).unwrap(), source.client().query(by_index).unwrap());
    for table in ROWS {
        let query = format!("SELECT * FROM d.{table} ORDER BY 1, 2");
        assert_eq!(replica.client().query(&query).unwrap(), source.client().query(&query).unwrap(), "{table}");
    }
    // A row that is not of the log has the same defaults.
    source.client().query("INSERT INTO d.o (id) VALUES (1)").unwrap();
    source.wait_for_replica(&replica, PATIENCE).unwrap();
    replica.client().query("INSERT INTO d.o (id) VALUES (2)").unwrap();
    assert_eq!(replica.client().query("SELECT COUNT(DISTINCT a, b, c), COUNT(*) FROM d.o").unwrap(), "1\t2\n");
}

#[test]
fn ours_at_a_mysql() {
    as_ours_at(Kind::Mysql97);
}

#[test]
fn ours_at_a_mariadb() {
    as_ours_at(Kind::Maria118);
}

/// OPTIMIZE is in a source's log: each transaction is once in ours, and a start reads it.
fn optimized_at_a(kind: Kind) {
    let source = Node::Peer(Peer::start(kind, "optimized", Duration::ZERO, &[]).unwrap());
    let mut replica = Node::Ours(Server::start(&format!("optimized-at-{kind:?}"), ServerOptions::default()).unwrap());
    replica.follow(source.port()).unwrap();
    let tables = "CREATE DATABASE d; CREATE TABLE d.a (id INT PRIMARY KEY); CREATE TABLE d.b (id INT PRIMARY KEY)";
    source.client().query(&format!("{tables}; INSERT INTO d.a VALUES (1)")).unwrap();
    source.client().query("OPTIMIZE TABLE d.a; OPTIMIZE TABLE d.a, d.nowhere; OPTIMIZE TABLE d.a, d.b").unwrap();
    source.client().query("INSERT INTO d.a VALUES (2)").unwrap();
    source.wait_for_replica(&replica, PATIENCE).unwrap();
    let chosen = "SET gtid_next = '11111111-2222-3333-4444-555555555555:1'";
    let after = "SET gtid_next = AUTOMATIC; SELECT * FROM d.a; SELECT GTID_SUBSET('11111111-2222-3333-4444-555555555555:1', @@gtid_executed)";
    let client = replica.client();
    assert_eq!(
        client.query(&format!("{chosen}; OPTIMIZE TABLE d.b; COMMIT; {after}")).unwrap().lines().last(),
        Some("1")
    );
    // It is executed already, and left out.
    client.query(&format!("{chosen}; OPTIMIZE TABLE d.b; {after}")).unwrap();
    replica.kill();
    replica.restart().unwrap();
    assert_eq!(replica.client().query("SELECT * FROM d.a").unwrap(), "1\n2\n");
}

#[test]
fn optimized_at_a_mysql() {
    optimized_at_a(Kind::Mysql97);
}

#[test]
fn optimized_at_a_maria() {
    optimized_at_a(Kind::Maria118);
}

/// The notes that conditions leave, and what they do without replication.
#[test]
fn conditions_as_a_mariadb_has_them() {
    let theirs = Peer::start(Kind::Maria118, "conditions", Duration::ZERO, &[]).unwrap();
    let ours = Server::start("conditions", ServerOptions::default()).unwrap();
    for client in [theirs.client(), ours.client()] {
        client.query("CREATE DATABASE d").unwrap();
    }
    // Of views it speaks in other words than MySQL.
    let is_condition = |text: &&&str| text.contains(" IF ") && !text.contains("VIEW");
    // Comments for a MariaDB's versions are its own business where nothing is replicated.
    for &definition in OF_MARIADB.iter().filter(|definition| !definition.contains("d.v")) {
        let run = |client: interop::Client| client.query(&format!("{definition}; SHOW WARNINGS"));
        let (said, expected) = (run(ours.client()).unwrap(), run(theirs.client()).unwrap());
        if is_condition(&&definition) {
            let codes = |text: &str| -> Vec<String> {
                text.lines().map(|line| line.split('\t').take(2).collect::<Vec<_>>().join(" ")).collect()
            };
            assert_eq!(codes(&said), codes(&expected), "{definition}:\n{said}{expected}");
        }
        until("both have it", || ours.client().query(COLUMNS) == theirs.client().query(COLUMNS));
    }
}

/// Who renames a table to the name of one that is locked waits: it may be about to go.
#[test]
fn a_locked_name_is_waited_for() {
    let theirs = Peer::start(Kind::Mysql97, "locked-name", Duration::ZERO, &[]).unwrap();
    let ours = Server::start("locked-name", ServerOptions::default()).unwrap();
    for (port, client) in [(theirs.port(), theirs.client()), (ours.port(), ours.client())] {
        client.query("CREATE DATABASE d").unwrap();
        for renames in ["RENAME TABLE a TO b", "ALTER TABLE a RENAME TO b", "ALTER TABLE a ADD COLUMN c INT, RENAME b"]
        {
            client.query("CREATE TABLE d.a (id INT PRIMARY KEY); CREATE TABLE d.b (id INT PRIMARY KEY)").unwrap();
            let mut holder = Connection::open(port, "d").unwrap();
            holder.succeed("LOCK TABLES b WRITE").unwrap();
            let waiter = std::thread::spawn(move || Connection::open(port, "d").unwrap().succeed(renames));
            let waiting = "SELECT COUNT(*) FROM information_schema.processlist WHERE info LIKE '%b' AND state LIKE 'Waiting for table metadata lock'";
            until(renames, || client.query(waiting).unwrap() == "1\n" || waiter.is_finished());
            holder.succeed("DROP TABLE b").unwrap();
            holder.succeed("UNLOCK TABLES").unwrap();
            waiter.join().unwrap().unwrap_or_else(|error| panic!("{renames}: {error}"));
            client.query("DROP TABLE d.b").unwrap();
        }
    }
}

/// CREATE OR REPLACE that fails: what was there is there still, and not in the log either.
#[test]
fn replacing_fails_and_keeps() {
    let theirs = Peer::start(Kind::Maria118, "replacing", Duration::ZERO, &[]).unwrap();
    let mut ours = Server::start("replacing", ServerOptions::default()).unwrap();
    for client in [theirs.client(), ours.client()] {
        client
            .query(
                "CREATE DATABASE d; CREATE TABLE d.t (id INT PRIMARY KEY, v INT, KEY i (v)); INSERT INTO d.t VALUES (1, 1), (2, 1)",
            )
            .unwrap();
        for refused in [
            "TABLE d.t SELECT * FROM d.t",
            "TABLE d.t SELECT (SELECT COUNT(*) FROM d.t) c",
            "TABLE d.t SELECT nosuch FROM d.t",
            "TABLE d.t SELECT 1 FROM d.nosuch",
            "TABLE d.t LIKE d.nosuch",
            "TABLE d.t LIKE d.t",
            "TABLE d.t (a INT) ENGINE=nosuch",
            "INDEX i ON d.t (nosuch)",
            "UNIQUE INDEX i ON d.t (v)",
        ] {
            client.query(&format!("CREATE OR REPLACE {refused}")).unwrap_err();
            assert_eq!(
                client.query("SELECT * FROM d.t FORCE INDEX (i) ORDER BY id").unwrap(),
                "1\t1\n2\t1\n",
                "{refused}"
            );
        }
        client.query("CREATE OR REPLACE UNIQUE INDEX i ON d.t (v, id)").unwrap();
        client.query("CREATE OR REPLACE INDEX j ON d.t (v) COMMENT 'new'").unwrap();
        client.query("CREATE OR REPLACE TABLE d.u SELECT 5 AS q").unwrap();
        client.query("CREATE OR REPLACE TABLE d.u SELECT 6 AS q").unwrap();
    }
    let (keys, rows) = (ours.client().query(KEYS).unwrap(), ours.client().query("SELECT * FROM d.u").unwrap());
    assert_eq!(rows, theirs.client().query("SELECT * FROM d.u").unwrap());
    ours.kill();
    ours.restart().unwrap();
    assert_eq!((ours.client().query(KEYS).unwrap(), ours.client().query("SELECT * FROM d.u").unwrap()), (keys, rows));
}

/// What the other columns of a table become where one takes no NULL any more, and what they were: a server copies the table for some of them.
const BESIDE_NULLS: &[(&str, &str)] = &[
    ("INT", "INT"),
    ("INT(5)", "INT(7) DEFAULT 3 COMMENT 'c'"),
    ("INT", "BIGINT"),
    ("FLOAT(5,2)", "FLOAT(6,2)"),
    ("DATETIME", "DATETIME(3)"),
    ("VARCHAR(5)", "VARCHAR(5) NOT NULL DEFAULT 'r'"),
    ("VARCHAR(5)", "VARCHAR(300)"),
    ("VARCHAR(5)", "VARCHAR(9) COLLATE utf8mb4_bin"),
    ("VARCHAR(5)", "VARCHAR(4)"),
    ("VARCHAR(5)", "TINYTEXT"),
    ("VARCHAR(5) CHARACTER SET latin1", "VARCHAR(5) CHARACTER SET utf8mb4"),
    ("VARCHAR(5) CHARACTER SET utf8mb3", "VARCHAR(5) CHARACTER SET utf8mb4"),
    ("CHAR(5)", "CHAR(5) COLLATE utf8mb4_bin"),
    ("CHAR(5)", "CHAR(6)"),
    ("TEXT", "TEXT COLLATE utf8mb4_bin"),
    ("TEXT", "MEDIUMTEXT"),
    ("VARBINARY(5)", "VARBINARY(9)"),
    ("BINARY(5)", "BINARY(9)"),
    ("ENUM('a','b')", "ENUM('a','b','c')"),
    ("ENUM('a','b')", "ENUM('b','a')"),
    ("ENUM('a','b')", "ENUM('a','b') COLLATE utf8mb4_bin"),
    ("BIT(3)", "BIT(4)"),
];

/// NULLs in columns that take none any more are, outside strict mode, what they are at the source, where MariaDB's depend on whether it copies the table.
fn nulls_as_at_a(kind: Kind) {
    let source = Node::Peer(Peer::start(kind, "nulls", Duration::ZERO, &[]).unwrap());
    let mut replica = Node::Ours(Server::start(&format!("nulls-of-{kind:?}"), ServerOptions::default()).unwrap());
    replica.follow(source.port()).unwrap();
    source.client().query("CREATE DATABASE d").unwrap();
    let mut tables = Vec::new();
    let mut altered = |columns: &str, alter: &str| {
        let table = format!("d.t{}", tables.len());
        let rows = format!("INSERT INTO {table} (p, c, v) VALUES (1, 1, 'a'), (2, NULL, NULL)");
        let definition =
            format!("CREATE TABLE {table} (p INT NOT NULL, c INT DEFAULT 26, v VARCHAR(5) DEFAULT 'q', {columns})");
        let alter =
            format!("ALTER TABLE {table} MODIFY v VARCHAR(9) NOT NULL DEFAULT 'z', MODIFY c INT NOT NULL, {alter}");
        let statements = format!("SET sql_mode = ''; {definition}; {rows}; {alter}");
        source.client().query(&statements).unwrap_or_else(|error| panic!("{statements}: {error}"));
        tables.push(table);
    };
    for key in ["PRIMARY KEY (p)", "PRIMARY KEY (p), KEY (e)"] {
        for (was, becomes) in BESIDE_NULLS {
            let key = if was.contains("TEXT") || becomes.contains("TEXT") {
                key.replace("(e)", "(e(3))")
            } else {
                key.into()
            };
            altered(&format!("e {was}, {key}"), &format!("MODIFY e {becomes}"));
        }
    }
    for alter in [
        "DROP PRIMARY KEY",
        "ADD f INT FIRST",
        "MODIFY p INT AUTO_INCREMENT",
        "ENGINE = InnoDB",
        "MODIFY p BIGINT NOT NULL, FORCE",
        "ALGORITHM = COPY",
        "COMMENT = 'x'",
    ] {
        altered("PRIMARY KEY (p)", alter);
    }
    altered(
        "e VARCHAR(5) NOT NULL DEFAULT 'e', PRIMARY KEY (e, p)",
        "MODIFY e VARCHAR(5) COLLATE utf8mb4_bin NOT NULL",
    );
    altered("a INT AUTO_INCREMENT, PRIMARY KEY (p), KEY (a)", "MODIFY a INT");
    altered("PRIMARY KEY (p)", "DROP PRIMARY KEY, ADD PRIMARY KEY (c)");
    source.wait_for_replica(&replica, PATIENCE).unwrap();
    let rows = |node: &Node| -> Vec<String> {
        tables
            .iter()
            .map(|table| node.client().query(&format!("SELECT p, c, v FROM {table} ORDER BY p")).unwrap())
            .collect()
    };
    let expected = rows(&source);
    assert_eq!(rows(&replica), expected);
    replica.kill();
    replica.restart().unwrap();
    assert_eq!(rows(&replica), expected, "out of its own log");
}

#[test]
fn nulls_as_at_a_mysql() {
    nulls_as_at_a(Kind::Mysql97);
}

#[test]
fn nulls_as_at_a_mariadb() {
    nulls_as_at_a(Kind::Maria118);
}
