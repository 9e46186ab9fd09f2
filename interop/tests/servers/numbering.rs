//! Rows that ALTER TABLE numbers have the same numbers at the source, at a replica of ours and at a replica of that, of all kinds of tables; so have rows that
//! are written after it. The time of the statement is the same in all of them, too.

use std::time::Duration;

use interop::{Kind, Node, Peer, Server, ServerOptions};

const PATIENCE: Duration = Duration::from_secs(30);

/// Each line is what one client does.
const STATEMENTS: &[&str] = &[
    "CREATE TABLE d.keyed (c VARCHAR(9) PRIMARY KEY); INSERT INTO d.keyed VALUES ('b'), ('a'), ('c')",
    "ALTER TABLE d.keyed ADD id INT AUTO_INCREMENT, ADD KEY (id), AUTO_INCREMENT=100; INSERT INTO d.keyed (c) VALUES ('x')",
    "ALTER TABLE d.keyed AUTO_INCREMENT=3; INSERT INTO d.keyed (c) VALUES ('y')",
    "ALTER TABLE d.keyed DROP id; INSERT INTO d.keyed (c) VALUES ('Z')",
    "SET auto_increment_increment=10, auto_increment_offset=5; ALTER TABLE d.keyed ADD id INT AUTO_INCREMENT, ADD KEY (id); INSERT INTO d.keyed (c) VALUES ('w')",
    "SET auto_increment_increment=10, auto_increment_offset=5; ALTER TABLE d.keyed ADD o INT AUTO_INCREMENT UNIQUE, DROP id, ALGORITHM=COPY; INSERT INTO d.keyed (c) VALUES ('u')",
    "ALTER TABLE d.keyed CHANGE o id INT AUTO_INCREMENT",
    "SET auto_increment_increment=3; CREATE TABLE d.kept (p INT PRIMARY KEY); INSERT INTO d.kept VALUES (1), (2)",
    "SET auto_increment_increment=10, auto_increment_offset=5; ALTER TABLE d.kept ADD o INT AUTO_INCREMENT UNIQUE, ALGORITHM=COPY; ALTER TABLE d.kept ADD q INT",
    "SET auto_increment_increment=3; ALTER TABLE d.keyed DROP id, ADD n INT AUTO_INCREMENT UNIQUE FIRST, AUTO_INCREMENT=50; INSERT INTO d.keyed (c) VALUES ('v')",
    // Without a primary key rows are in the order of a unique key.
    "CREATE TABLE d.unique_key (a INT NOT NULL, b VARCHAR(9) NOT NULL, e VARCHAR(9) NOT NULL, UNIQUE (e(3)), UNIQUE (b)); INSERT INTO d.unique_key VALUES (1, 'c', 'x'), (2, 'b', 'y'), (0, 'a', 'z')",
    "ALTER TABLE d.unique_key ADD id INT AUTO_INCREMENT PRIMARY KEY; INSERT INTO d.unique_key (a, b, e) VALUES (3, 'd', 'w')",
    // A unique key over the AUTO_INCREMENT column is no primary key.
    "CREATE TABLE d.counted (id INT AUTO_INCREMENT, c VARCHAR(9), UNIQUE k (id)); INSERT INTO d.counted VALUES (7, 'c'), (3, 'b'), (NULL, 'a')",
    "ALTER TABLE d.counted ADD KEY z (id), DROP INDEX k; INSERT INTO d.counted (c) VALUES ('d'); UPDATE d.counted SET c = 'B' WHERE id = 3",
    "CREATE TABLE d.serial (id SERIAL, c VARCHAR(9)); INSERT INTO d.serial VALUES (7, 'c'), (3, 'b'), (NULL, 'a')",
    "ALTER TABLE d.serial DROP id, ADD n INT AUTO_INCREMENT UNIQUE; ALTER TABLE d.serial DROP INDEX n, ADD PRIMARY KEY (n); DELETE FROM d.serial WHERE c = 'b'",
    // The primary key goes, and no other comes.
    "SET auto_increment_increment=10, auto_increment_offset=3; CREATE TABLE d.gone (id INT PRIMARY KEY, v INT); INSERT INTO d.gone VALUES (20, 1), (94, 2), (30, 3); ALTER TABLE d.gone DROP PRIMARY KEY; INSERT INTO d.gone VALUES (1, 4); UPDATE d.gone SET v = 30 WHERE id = 30",
    // A column that becomes the counted one; zeros are numbers, or ask for some.
    "CREATE TABLE d.zeros (id INT PRIMARY KEY, c INT, e ENUM('4', 'x')); INSERT INTO d.zeros VALUES (1, 0, 'x'), (2, 5, '4'), (3, NULL, NULL), (4, -2, 'x'), (5, 0, 'x')",
    "SET sql_mode = 'NO_AUTO_VALUE_ON_ZERO'; ALTER TABLE d.zeros MODIFY c INT AUTO_INCREMENT, ADD KEY (c); INSERT INTO d.zeros (id) VALUES (6)",
    "ALTER TABLE d.zeros MODIFY c BIGINT AUTO_INCREMENT; UPDATE d.zeros SET c = 20 WHERE id = 2",
    "ALTER TABLE d.zeros MODIFY c INT; UPDATE d.zeros SET c = NULL WHERE id = 3; ALTER TABLE d.zeros MODIFY c INT AUTO_INCREMENT",
    "SET sql_mode = ''; ALTER TABLE d.zeros MODIFY c INT, MODIFY e INT AUTO_INCREMENT, ADD KEY (e), AUTO_INCREMENT=40; INSERT INTO d.zeros (id) VALUES (7)",
    // The numbers of members and sets.
    "CREATE TABLE d.members (id INT PRIMARY KEY, e ENUM('7', 'x', '1'), s SET('4', '2')); INSERT INTO d.members VALUES (1, '7', '4'), (2, 'x', '4,2'), (3, '1', ''), (4, NULL, NULL)",
    "ALTER TABLE d.members MODIFY e INT, MODIFY s BIGINT UNSIGNED",
    // The time of the statement, with its fraction.
    "CREATE TABLE d.times (id INT PRIMARY KEY, a TIMESTAMP(6) NULL, b DATETIME(3), c TIMESTAMP NULL); INSERT INTO d.times (id) VALUES (1), (2)",
    "ALTER TABLE d.times ADD t TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6), ADD u DATETIME(4) DEFAULT CURRENT_TIMESTAMP(4)",
    "ALTER TABLE d.times MODIFY b TIMESTAMP(3) NOT NULL; ALTER TABLE d.times MODIFY c TIMESTAMP NOT NULL, ALGORITHM=COPY",
    "SET sql_mode = ''; ALTER TABLE d.times MODIFY a TIMESTAMP(6) NOT NULL",
    "CREATE TABLE d.ended (id INT PRIMARY KEY, u INT UNIQUE, n INT AUTO_INCREMENT, KEY (n)); INSERT INTO d.ended (id, u) VALUES (1, 1), (2, 2); INSERT INTO d.ended (id, u) VALUES (3, 1), (4, 2) ON DUPLICATE KEY UPDATE id = d.ended.id + 10",
];

/// Rows of a table without any unique key are in the order of their coming.
const WITHOUT_KEYS: &[&str] = &[
    "CREATE TABLE d.bare (c INT); INSERT INTO d.bare VALUES (7), (5), (0), (NULL)",
    "ALTER TABLE d.bare ADD id INT AUTO_INCREMENT, ADD KEY (id); INSERT INTO d.bare (c) VALUES (8)",
    "ALTER TABLE d.bare DROP id; INSERT INTO d.bare VALUES (11)",
    "ALTER TABLE d.bare MODIFY c INT AUTO_INCREMENT, ADD KEY (c); INSERT INTO d.bare VALUES (NULL)",
    "ALTER TABLE d.bare MODIFY c INT; INSERT INTO d.bare VALUES (NULL), (5)",
    "ALTER TABLE d.bare ADD id INT AUTO_INCREMENT PRIMARY KEY; UPDATE d.bare SET c = 1000 WHERE c IS NULL",
];

/// Beside a generated primary key no other column becomes the counted one.
const WITH_GENERATED_KEYS: &[&str] = &[
    "CREATE TABLE d.bare (c INT, id INT AUTO_INCREMENT, KEY (id)); INSERT INTO d.bare (c) VALUES (5), (3)",
    "ALTER TABLE d.bare MODIFY id INT; INSERT INTO d.bare (c) VALUES (4)",
    // Numbers were used of which no row tells.
    "INSERT INTO d.ended (id, u) VALUES (7, 7); DELETE FROM d.ended WHERE id = 7; ALTER TABLE d.ended MODIFY n INT, ADD m INT AUTO_INCREMENT, ADD KEY (m)",
];

/// What is compared. The last two are not at replicas of ours that are of another kind: where a source generates no primary keys, its rows are numbered in the
/// order of the unique key, and theirs in that of the generated key.
const ROWS: [&str; 11] = [
    "SELECT * FROM d.times ORDER BY id",
    "SELECT * FROM d.ended ORDER BY id",
    "SELECT * FROM d.gone ORDER BY id",
    "SELECT * FROM d.counted ORDER BY c",
    "SELECT * FROM d.kept ORDER BY p",
    "SELECT * FROM d.keyed ORDER BY c",
    "SELECT * FROM d.bare ORDER BY c, id",
    "SELECT * FROM d.zeros ORDER BY id",
    "SELECT * FROM d.members ORDER BY id",
    "SELECT * FROM d.serial ORDER BY c",
    "SELECT * FROM d.unique_key ORDER BY id",
];

fn rows(node: &Node) -> Vec<String> {
    ROWS.iter().map(|query| node.client().query(query).unwrap()).collect()
}

/// `source` → ours → a server of another kind.
fn same_numbers(source: &Node, kind: Kind) {
    let version = ["version=11.8.0-commuter"];
    let options = if kind == Kind::Maria118 { ServerOptions::with_settings(version) } else { ServerOptions::default() };
    let mut middle = Node::Ours(Server::start(&format!("numbering-before-{kind:?}"), options).unwrap());
    let end = Node::Peer(Peer::start(kind, "numbering-end", Duration::ZERO, &[]).unwrap());
    if kind == Kind::Maria118 {
        end.client().query("INSTALL SONAME 'auth_mysql_sha2'").unwrap();
    }
    middle.follow(source.port()).unwrap();
    end.follow(middle.port()).unwrap();
    source.client().query("CREATE DATABASE d").unwrap();
    let without_keys: &[&str] = match source {
        Node::Peer(_) => WITHOUT_KEYS,
        Node::Ours(_) => WITH_GENERATED_KEYS,
    };
    for statement in STATEMENTS.iter().chain(without_keys) {
        source.client().query(statement).unwrap_or_else(|error| panic!("{statement}: {error}"));
        for replica in [&middle, &end] {
            source.wait_for_replica(replica, PATIENCE).unwrap_or_else(|error| panic!("{statement}: {error}"));
        }
    }
    let expected = rows(source);
    assert_eq!(rows(&middle), expected);
    let compared = if matches!(source, Node::Ours(_)) { ROWS.len() } else { ROWS.len() - 2 };
    assert_eq!(rows(&end)[..compared], expected[..compared]);
    middle.kill();
    middle.restart().unwrap();
    assert_eq!(rows(&middle), expected, "out of its own log");
}

#[test]
fn a_mysqls_over_us_to_a_mariadb() {
    let source = Node::Peer(Peer::start(Kind::Mysql97, "numbering", Duration::ZERO, &[]).unwrap());
    same_numbers(&source, Kind::Maria118);
}

#[test]
fn a_mariadbs_over_us_to_a_mariadb() {
    let source = Node::Peer(Peer::start(Kind::Maria118, "numbering", Duration::ZERO, &[]).unwrap());
    same_numbers(&source, Kind::Maria118);
}

#[test]
fn ours_over_us_to_a_mysql() {
    let source = Node::Ours(Server::start("numbering", ServerOptions::default()).unwrap());
    same_numbers(&source, Kind::Mysql97);
}
