//! Replication filters: what a replica of the source's own kind executes, one of ours does too, and nothing else.

use std::time::Duration;

use interop::{Kind, Node, Peer, Server, ServerOptions};

const PATIENCE: Duration = Duration::from_secs(30);

/// As MySQL says it, and as settings of a MariaDB.
const RULES: [(&str, [&str; 1]); 4] = [
    ("REPLICATE_DO_DB = (d)", ["--replicate-do-db=d"]),
    ("REPLICATE_IGNORE_DB = (e)", ["--replicate-ignore-db=e"]),
    ("REPLICATE_WILD_DO_TABLE = ('d.%')", ["--replicate-wild-do-table=d.%"]),
    ("REPLICATE_WILD_IGNORE_TABLE = ('e.%')", ["--replicate-wild-ignore-table=e.%"]),
];

/// Each in a session of its own: with a default database, with another one, with none.
const WRITTEN: [&str; 14] = [
    "CREATE DATABASE e; USE e; CREATE TABLE t (id INT PRIMARY KEY)",
    "USE d; CREATE TABLE t (id INT PRIMARY KEY); INSERT INTO t VALUES (1)",
    "USE e; CREATE TABLE d.by_e (id INT PRIMARY KEY)",
    "USE e; INSERT INTO d.t VALUES (2)",
    "CREATE TABLE d.by_none (id INT PRIMARY KEY)",
    "INSERT INTO d.t VALUES (3)",
    "USE d; ALTER TABLE t ADD COLUMN by_d INT",
    "CREATE TABLE d.left_over (id INT PRIMARY KEY)",
    "DROP TABLE d.left_over",
    "CREATE USER someone@localhost",
    "USE d; CREATE USER another@localhost",
    "CREATE DATABASE f; CREATE DATABASE d2; DROP DATABASE d2",
    "USE d; CREATE INDEX by_d ON t (by_d)",
    "USE e; RENAME TABLE d.by_e TO d.renamed_by_e",
];

/// What there is to see of them.
const SEEN: [&str; 4] = [
    "SELECT table_schema, table_name FROM information_schema.tables WHERE table_schema IN ('d', 'e', 'f') ORDER BY 1, 2",
    "SELECT schema_name FROM information_schema.schemata WHERE schema_name IN ('d', 'd2', 'e', 'f') ORDER BY 1",
    "SELECT id FROM d.t ORDER BY 1",
    "SELECT user FROM mysql.user WHERE user IN ('someone', 'another') ORDER BY 1",
];

/// Two replicas with one rule: one of the source's kind, one of ours.
fn pair(kind: Kind, rule: &str, arguments: &[&str]) -> [Node; 2] {
    let name = format!("filters-{}", rule.split(' ').next().unwrap_or_default());
    let theirs = Node::Peer(Peer::start(kind, &name, Duration::ZERO, arguments).unwrap());
    let ours = Node::Ours(Server::start(&format!("{name}-of-{kind:?}"), ServerOptions::default()).unwrap());
    let filtered: &[&Node] = if kind == Kind::Mysql97 { &[&theirs, &ours] } else { &[&ours] };
    for replica in filtered {
        replica.client().query(&format!("CHANGE REPLICATION FILTER {rule}")).unwrap();
    }
    [theirs, ours]
}

fn same_as(kind: Kind) {
    let source = Node::Peer(Peer::start(kind, "filters-source", Duration::ZERO, &["--binlog-format=ROW"]).unwrap());
    source.client().query("RESET BINARY LOGS AND GTIDS").or_else(|_| source.client().query("RESET MASTER")).unwrap();
    source.client().query("CREATE DATABASE d").unwrap();
    let pairs = RULES.map(|(rule, arguments)| {
        let arguments: &[&str] = if kind == Kind::Maria118 { &arguments } else { &[] };
        (rule, pair(kind, rule, arguments))
    });
    for replica in pairs.iter().flat_map(|(_, pair)| pair) {
        replica.follow(source.port()).unwrap();
    }
    for session in WRITTEN {
        source.client().query(session).unwrap();
    }
    // What shows that all came has a default database that is wanted.
    source.client().query("USE d; CREATE TABLE marks (id INT AUTO_INCREMENT PRIMARY KEY, n INT)").unwrap();
    for (rule, pair) in &pairs {
        for replica in pair {
            source.wait_for_replica(replica, PATIENCE).unwrap_or_else(|error| panic!("{rule}: {error}"));
        }
        let [theirs, ours] = pair;
        for query in SEEN {
            assert_eq!(ours.client().query(query), theirs.client().query(query), "{kind:?} {rule}: {query}");
        }
    }
}

#[test]
fn as_a_mysql_has_them() {
    same_as(Kind::Mysql97);
}

#[test]
fn as_a_mariadb_has_them() {
    same_as(Kind::Maria118);
}
