//! `information_schema.INNODB_TRX` says of open transactions what it says at MySQL: who works or waits, since when, on how many tables, with how many
//! changes, in which mode.

use std::thread;
use std::time::{Duration, Instant};

use interop::{Answer, Connection, Kind, Node, Peer, Server, ServerOptions};

const PATIENCE: Duration = Duration::from_secs(30);
/// MySQL gives the same answer again to who asks within a tenth of a second.
const PAUSE: Duration = Duration::from_millis(200);

/// What is equal here and at MySQL: not how many locks there are.
const FIGURES: &str = "SELECT t.trx_state, t.trx_wait_started IS NULL, ABS(TIMESTAMPDIFF(SECOND, t.trx_started, NOW())) < 60, t.trx_query, \
     t.trx_tables_in_use, t.trx_rows_modified, t.trx_isolation_level, t.trx_unique_checks, t.trx_foreign_key_checks, t.trx_is_read_only, \
     t.trx_autocommit_non_locking, t.trx_id > 0, p.command \
     FROM information_schema.innodb_trx t JOIN information_schema.processlist p ON p.id = t.trx_mysql_thread_id \
     ORDER BY t.trx_mysql_thread_id";

fn done(connection: &mut Connection, sql: &str) {
    let answer = connection.query(sql).unwrap();
    assert!(!matches!(answer, Answer::Failed(..)), "{sql}: {answer:?}");
}

fn rows(answer: Answer) -> Vec<Vec<Option<String>>> {
    let Answer::Rows { rows, .. } = answer else { panic!("no rows: {answer:?}") };
    let text = |value: Option<Vec<u8>>| value.map(|value| String::from_utf8_lossy(&value).into_owned());
    rows.into_iter().map(|row| row.into_iter().map(text).collect()).collect()
}

/// Figures at each point of a story of three sessions.
fn story(node: &Node) -> Vec<Vec<Vec<Option<String>>>> {
    let mut monitor = Connection::open(node.port(), "").unwrap();
    done(&mut monitor, "CREATE DATABASE d");
    let mut sessions: Vec<Connection> = (0..3).map(|_| Connection::open(node.port(), "d").unwrap()).collect();
    let mut told = Vec::new();
    let mut look = |sessions: &mut [Connection], statements: &[(usize, &str)]| {
        statements.iter().for_each(|(session, sql)| done(&mut sessions[*session], sql));
        thread::sleep(PAUSE);
        rows(monitor.query(FIGURES).unwrap())
    };
    told.push(look(
        &mut sessions,
        &[(0, "CREATE TABLE t (id INT PRIMARY KEY, v INT)"), (0, "INSERT INTO t VALUES (1, 1), (2, 2), (3, 3)")],
    ));
    told.push(look(&mut sessions, &[(0, "START TRANSACTION"), (1, "BEGIN"), (1, "SELECT 1")]));
    told.push(look(
        &mut sessions,
        &[(0, "SELECT * FROM t WHERE id = 1 FOR SHARE"), (0, "UPDATE t SET v = 5 WHERE id < 3")],
    ));
    let settings = [
        (1, "COMMIT"),
        (1, "SET unique_checks = 0, foreign_key_checks = 0, transaction_isolation = 'READ-COMMITTED'"),
        (1, "BEGIN"),
        (1, "INSERT INTO t VALUES (7, 7)"),
        (2, "START TRANSACTION READ ONLY"),
        (2, "SELECT * FROM t WHERE id = 3 FOR SHARE"),
    ];
    told.push(look(&mut sessions, &settings));
    let mut waiting = sessions.remove(1);
    let waiter = thread::spawn(move || {
        done(&mut waiting, "UPDATE t SET v = 9 WHERE id = 2");
        waiting
    });
    let begin = Instant::now();
    let waits = |rows: &Vec<Vec<Option<String>>>| rows.iter().any(|row| row[0].as_deref() == Some("LOCK WAIT"));
    let at_wait = loop {
        thread::sleep(PAUSE);
        let rows = rows(Connection::open(node.port(), "").unwrap().query(FIGURES).unwrap());
        if waits(&rows) {
            break rows;
        }
        assert!(begin.elapsed() < PATIENCE, "nobody waits: {rows:?}");
    };
    done(&mut sessions[0], "ROLLBACK");
    told.push(at_wait);
    sessions.insert(1, waiter.join().unwrap());
    told.push(look(&mut sessions, &[(1, "COMMIT"), (2, "COMMIT")]));
    let prepared = [(0, "XA START 'x'"), (0, "INSERT INTO t VALUES (9, 9)"), (0, "XA END 'x'")];
    told.push(look(&mut sessions, &prepared));
    told.push(look(&mut sessions, &[(0, "XA ROLLBACK 'x'")]));
    told.push(look(&mut sessions, &[(2, "START TRANSACTION WITH CONSISTENT SNAPSHOT")]));
    told.push(look(&mut sessions, &[(2, "COMMIT")]));
    told
}

#[test]
fn as_at_a_mysql() {
    let peer = Node::Peer(Peer::start(Kind::Mysql97, "open-transactions", Duration::ZERO, &[]).unwrap());
    let ours = Node::Ours(Server::start("open-transactions", ServerOptions::default()).unwrap());
    let (theirs, ours) = (story(&peer), story(&ours));
    assert_eq!(theirs.iter().map(Vec::len).collect::<Vec<_>>(), [0, 0, 1, 3, 3, 0, 1, 0, 1, 0]);
    assert_eq!(ours, theirs);
}
