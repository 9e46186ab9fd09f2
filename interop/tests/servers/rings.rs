//! Two servers that are each other's source: each has what the other has written, and nothing goes round for ever.

use std::time::Duration;

use interop::{Kind, Peer, Server, ServerOptions, until};

/// What the ring is made of.
struct Ring {
    ours: Server,
    peer: Peer,
}

impl Ring {
    /// `ours_from` says where our server begins in its peer's log, `peer_from` the statement with which the peer begins in ours.
    fn new(kind: Kind, name: &str, arguments: &[&str], ours_from: &str, peer_from: &str) -> Ring {
        let ours = Server::start(name, ServerOptions::default()).unwrap();
        let peer = Peer::start(kind, name, Duration::ZERO, arguments).unwrap();
        if kind == Kind::Mysql97 {
            peer.client().query("RESET BINARY LOGS AND GTIDS").unwrap();
        }
        peer.client().query(&peer_from.replace("{port}", &ours.port().to_string())).unwrap();
        let change = format!(
            "CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={}, SOURCE_USER='root', {ours_from}, \
             GET_SOURCE_PUBLIC_KEY=1, SOURCE_CONNECT_RETRY=1, SOURCE_RETRY_COUNT=1000; START REPLICA",
            peer.port()
        );
        ours.client().query(&change).unwrap();
        Ring { ours, peer }
    }

    fn rows(&self) -> [i64; 2] {
        [&self.ours.client(), &self.peer.client()].map(|client| client.number("SELECT COUNT(*) FROM d.t").unwrap_or(-1))
    }

    /// Both write, and both have all of it in the end, each row once in each log.
    fn write(&self, from: i64) {
        let before = self.rows()[0].max(0);
        for id in from..from + 50 {
            self.ours.client().query(&format!("INSERT INTO d.t VALUES ({id}, 'ours')")).unwrap();
            self.peer.client().query(&format!("INSERT INTO d.t VALUES ({}, 'theirs')", id + 1000)).unwrap();
        }
        until("both have all", || self.rows() == [before + 100; 2]);
    }
}

/// What our log says of the rows, after a while in which more would have come.
fn events(ours: &Server) -> (String, i64) {
    std::thread::sleep(Duration::from_millis(500));
    let status = ours.client().query("SHOW BINARY LOG STATUS").unwrap();
    let transactions = ours.client().number("SELECT COUNT(*) FROM d.t").unwrap();
    (status, transactions)
}

fn goes_round_once(mut ring: Ring) {
    ring.ours.client().query("CREATE DATABASE d; CREATE TABLE d.t (id INT PRIMARY KEY, who VARCHAR(9))").unwrap();
    until("the table", || ring.peer.client().query("SELECT * FROM d.t").is_ok());
    ring.write(1);
    // Changes that could be made again without an error, and would be for ever.
    ring.ours.client().query("UPDATE d.t SET who = 'changed' WHERE id = 1").unwrap();
    ring.peer.client().query("UPDATE d.t SET who = 'changed' WHERE id = 1001").unwrap();
    ring.write(51);
    assert_eq!(events(&ring.ours), events(&ring.ours), "nothing goes round");

    ring.ours.kill();
    ring.ours.restart().unwrap();
    ring.write(101);
    ring.peer.kill();
    ring.peer.restart().unwrap();
    ring.write(151);
    assert_eq!(events(&ring.ours), events(&ring.ours), "nothing goes round");
    for column in ["Last_IO_Error", "Last_SQL_Error"] {
        assert_eq!(ring.ours.client().column("SHOW REPLICA STATUS", column).unwrap(), "");
    }
    let changed = "SELECT COUNT(*) FROM d.t WHERE who = 'changed'";
    assert_eq!((ring.ours.client().number(changed), ring.peer.client().number(changed)), (Ok(2), Ok(2)));
}

#[test]
fn with_a_mysql_by_gtids() {
    let theirs = "CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={port}, SOURCE_USER='root', SOURCE_AUTO_POSITION=1, \
                  GET_SOURCE_PUBLIC_KEY=1, SOURCE_CONNECT_RETRY=1, SOURCE_RETRY_COUNT=1000; START REPLICA";
    goes_round_once(Ring::new(Kind::Mysql97, "ring-mysql", &[], "SOURCE_AUTO_POSITION=1", theirs));
}

const MARIA: &str = "CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT={port}, MASTER_USER='root', MASTER_USE_GTID=slave_pos, \
                     MASTER_CONNECT_RETRY=1; START SLAVE";
const MARIA_ARGUMENTS: [&str; 2] = ["--gtid-domain-id=7", "--log-slave-updates"];

#[test]
fn with_a_maria_by_gtids() {
    goes_round_once(Ring::new(Kind::Maria118, "ring-maria", &MARIA_ARGUMENTS, "SOURCE_AUTO_POSITION=1", MARIA));
}

#[test]
fn with_a_maria_by_positions() {
    let from = "SOURCE_AUTO_POSITION=0, SOURCE_LOG_FILE='bin.000001', SOURCE_LOG_POS=4";
    goes_round_once(Ring::new(Kind::Maria118, "ring-maria-position", &MARIA_ARGUMENTS, from, MARIA));
}
