//! GTIDs of a MariaDB source by way of a server of ours to a MariaDB replica: it has the source's own, whichever of the two it follows.

use std::time::Duration;

use interop::{Kind, Node, Peer, Server, ServerOptions};

const PATIENCE: Duration = Duration::from_secs(30);

const TABLES: &str = "CREATE DATABASE d; CREATE TABLE d.t (id INT AUTO_INCREMENT PRIMARY KEY, n INT); \
     SET gtid_domain_id = 4; CREATE DATABASE e; CREATE TABLE e.t (id INT AUTO_INCREMENT PRIMARY KEY, n INT)";

/// In both domains of the source, and in ours.
fn write(source: &Node, middle: &Node) {
    for n in 0..20 {
        source.client().query(&format!("INSERT INTO d.t (n) VALUES ({n})")).unwrap();
        source.client().query(&format!("SET gtid_domain_id = 4; INSERT INTO e.t (n) VALUES ({n})")).unwrap();
        middle.client().query(&format!("INSERT INTO own.t (n) VALUES ({n})")).unwrap();
    }
}

/// GTIDs as one of MariaDB's has them, by domain.
fn position(node: &Node, variable: &str) -> Vec<String> {
    let text = node.client().query(&format!("SELECT @@global.{variable}")).unwrap();
    let mut names: Vec<String> = text.trim().split(',').map(str::to_owned).collect();
    names.sort();
    names
}

fn turn_to(end: &Node, source: &Node) {
    let change =
        format!("STOP SLAVE; CHANGE MASTER TO MASTER_PORT={}, MASTER_USE_GTID=slave_pos; START SLAVE", source.port());
    end.client().query(&change).unwrap();
}

#[test]
fn a_replica_goes_from_one_to_the_other() {
    let arguments = ["--log-slave-updates", "--gtid-strict-mode=1", "--gtid-domain-id=3", "--slave-parallel-threads=4"];
    let start = |name| Node::Peer(Peer::start(Kind::Maria118, name, Duration::ZERO, &arguments).unwrap());
    let (source, mut end) = (start("names-source"), start("names-end"));
    source.client().query("RESET MASTER").unwrap();
    let options = ServerOptions::with_settings(["version=11.8.0-commuter"]);
    let mut middle = Node::Ours(Server::start("names-middle", options).unwrap());
    middle.follow(source.port()).unwrap();
    middle
        .client()
        .query("CREATE DATABASE own; CREATE TABLE own.t (id INT AUTO_INCREMENT PRIMARY KEY, n INT)")
        .unwrap();
    source.client().query(TABLES).unwrap();
    write(&source, &middle);
    source.wait_for_replica(&middle, PATIENCE).unwrap();
    end.client().query("INSTALL SONAME 'auth_mysql_sha2'; SET GLOBAL gtid_slave_pos = ''; RESET MASTER").unwrap();
    end.follow(middle.port()).unwrap();
    source.wait_for_replica(&end, PATIENCE).unwrap();
    let with_ours = position(&end, "gtid_slave_pos");
    let theirs = position(&source, "gtid_binlog_pos");
    assert!(theirs.len() == 2 && theirs.iter().all(|name| with_ours.contains(name)), "{theirs:?}, {with_ours:?}");
    assert_eq!((with_ours.len(), with_ours[0].starts_with("0-")), (3, true), "{with_ours:?}");

    // To the source itself, while ours goes on.
    turn_to(&end, &source);
    write(&source, &middle);
    source.wait_for_replica(&end, PATIENCE).unwrap();
    // And back: what it has of each domain it is not sent again.
    source.wait_for_replica(&middle, PATIENCE).unwrap();
    turn_to(&end, &middle);
    middle.kill();
    middle.restart().unwrap();
    write(&source, &middle);
    end.kill();
    end.restart().unwrap();
    middle.client().query("INSERT INTO own.t (n) VALUES (99)").unwrap();
    source.wait_for_replica(&end, PATIENCE).unwrap();
    interop::until("ours too", || {
        assert_eq!(end.sql_error(), "");
        end.client().number("SELECT n FROM own.t ORDER BY id DESC LIMIT 1") == Ok(99)
    });
    for table in ["d.t", "e.t"] {
        let rows = format!("SELECT * FROM {table} ORDER BY id");
        assert_eq!(end.client().query(&rows), source.client().query(&rows), "{table}");
    }
    let rows = "SELECT * FROM own.t ORDER BY id";
    assert_eq!(end.client().query(rows), middle.client().query(rows));
    assert_eq!(end.client().column("SHOW SLAVE STATUS", "Using_Gtid").unwrap(), "Slave_Pos");
}

/// Sessions and a server with a domain of their own, as a MariaDB has them: for a MariaDB's replica, and a MySQL's.
#[test]
fn domains_of_our_own() {
    let options = ServerOptions::with_settings(["version=11.8.0-commuter"]);
    let mut source = Node::Ours(Server::start("domains-source", options).unwrap());
    let maria = Node::Peer(Peer::start(Kind::Maria118, "domains-maria", Duration::ZERO, &[]).unwrap());
    let mysql = Node::Peer(Peer::start(Kind::Mysql97, "domains-mysql", Duration::ZERO, &[]).unwrap());
    let copy = Node::Ours(Server::start("domains-copy", ServerOptions::default()).unwrap());
    source.client().query(TABLES).unwrap();
    maria.client().query("INSTALL SONAME 'auth_mysql_sha2'; SET GLOBAL gtid_slave_pos = ''; RESET MASTER").unwrap();
    for replica in [&maria, &mysql, &copy] {
        replica.follow(source.port()).unwrap();
    }
    let write = |source: &Node, rounds: u32| {
        for n in 0..rounds {
            source.client().query(&format!("INSERT INTO d.t (n) VALUES ({n})")).unwrap();
            source.client().query(&format!("SET gtid_domain_id = 4; INSERT INTO e.t (n) VALUES ({n}), ({n})")).unwrap();
        }
    };
    write(&source, 20);
    source.client().query("SET GLOBAL gtid_domain_id = 7").unwrap();
    write(&source, 20);
    source.kill();
    source.restart().unwrap();
    write(&source, 20);
    let own = source.client().query("SELECT @@server_id").unwrap();
    for replica in [&maria, &mysql, &copy] {
        source.wait_for_replica(replica, PATIENCE).unwrap();
        for rows in ["SELECT * FROM d.t ORDER BY id", "SELECT * FROM e.t ORDER BY id"] {
            assert_eq!(replica.client().query(rows), source.client().query(rows), "{rows}");
        }
    }
    // Two definitions and 60 rows in domain 4; in 7 what was written before the server forgot that setting again.
    let position = position(&maria, "gtid_slave_pos").join(",");
    let wanted = [format!("4-{}-62", own.trim()), format!("7-{}-20", own.trim())];
    assert!(wanted.iter().all(|name| position.contains(name)) && position.starts_with("0-"), "{position}");
    let executed = "SELECT REPLACE(@@global.gtid_executed, '\n', '')";
    assert_eq!(mysql.client().query(executed), source.client().query(executed));
    let refused = source.client().query("BEGIN; SET gtid_domain_id = 3").unwrap_err();
    assert!(refused.to_string().contains("1694") || refused.to_string().contains("transaction"), "{refused}");
}
