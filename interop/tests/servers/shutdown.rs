//! SIGTERM, whatever the server is at: it ends soon and in order, and nothing that was acknowledged is missing anywhere.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use interop::{Answer, Connection, Raw, Server, ServerOptions, until};
use wire::flags::com;

/// How long an orderly end may take here, with a debug build and others at work beside it.
const PATIENCE: Duration = Duration::from_secs(20);

/// A statement whose answer nobody waits for.
fn in_progress(server: &Server, before: &[&str], sql: &str) -> Raw {
    let mut raw = Raw::logged_in(server.port()).unwrap();
    for sql in before {
        raw.command(com::QUERY, sql.as_bytes());
        assert_eq!(raw.packet().map(|packet| packet[0]), Some(0), "{sql}");
    }
    raw.command(com::QUERY, sql.as_bytes());
    raw
}

/// What the log says of starts after the first `from` bytes of it.
fn recovered(server: &Server, from: usize) -> bool {
    server.log()[from..].contains("recovery: applied")
}

#[test]
fn with_clients_in_the_middle_of_everything_and_a_follower() {
    let mut source =
        Server::start("term-source", ServerOptions::with_settings(["innodb_lock_wait_timeout=600"])).unwrap();
    let setup = "CREATE DATABASE d; CREATE TABLE d.t (id INT AUTO_INCREMENT PRIMARY KEY, s VARCHAR(100));\
                 CREATE TABLE d.acks (id INT PRIMARY KEY); INSERT INTO d.t (s) VALUES ('a'), ('b'), ('c')";
    source.client().query(setup).unwrap();
    for _ in 0..9 {
        source.client().query("INSERT INTO d.t (s) SELECT s FROM d.t").unwrap();
    }
    let follower = source.start_follower("term-follower").unwrap();
    until("the follower", || follower.client().query("SELECT COUNT(*) FROM d.t").is_ok_and(|n| n == "1536\n"));
    // A transaction with locks, one that waits for them, one that reads for hours, one that sleeps.
    let clients = [
        in_progress(&source, &["BEGIN"], "UPDATE d.t SET s = 'lost'"),
        in_progress(&source, &[], "SELECT COUNT(*) FROM d.t a, d.t b, d.t c WHERE a.s < b.s AND b.s < c.s"),
        in_progress(&source, &[], "SELECT SLEEP(600)"),
        in_progress(&source, &["BEGIN"], "SELECT * FROM d.t ORDER BY id LIMIT 5"),
    ];
    let waiting = in_progress(&source, &[], "DELETE FROM d.t");
    until("the wait", || source.client().status("Innodb_row_lock_current_waits").unwrap() == 1);
    let acknowledged = AtomicU32::new(0);
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let (port, acknowledged) = (source.port(), &acknowledged);
            scope.spawn(move || {
                let mut connection = Connection::open(port, "d").unwrap();
                for n in 0.. {
                    let sql = format!("INSERT INTO acks VALUES ({})", writer * 1_000_000 + n);
                    match connection.query(&sql) {
                        Ok(Answer::Done(_)) => acknowledged.fetch_add(1, Ordering::SeqCst),
                        _ => break,
                    };
                }
            });
        }
        until("some work", || acknowledged.load(Ordering::SeqCst) > 100);
        // A second SIGTERM, and a third, change nothing.
        let begin = Instant::now();
        source.terminate();
        std::thread::sleep(Duration::from_millis(5));
        source.terminate();
        source.stop().unwrap();
        assert!(begin.elapsed() < PATIENCE, "it took {:?}", begin.elapsed());
    });
    drop((clients, waiting));
    // The source is gone, and all that it said is on the follower. What it had no time to say may be there too.
    let acknowledged = i64::from(acknowledged.into_inner());
    until("the follower", || follower.client().number("SELECT COUNT(*) FROM d.acks").unwrap() >= acknowledged);
    let there = follower.client().number("SELECT COUNT(*) FROM d.acks").unwrap();
    assert!(there <= acknowledged + 4, "{acknowledged} were acknowledged, {there} are there");
    // Everything is in the last checkpoint.
    let log = source.log().len();
    source.restart().unwrap();
    assert!(!recovered(&source, log), "{}", &source.log()[log..]);
    assert_eq!(source.client().number("SELECT COUNT(*) FROM d.acks").unwrap(), there);
    assert_eq!(source.client().query("SELECT COUNT(*) FROM d.t WHERE s = 'lost'").unwrap(), "0\n");
    source.client().query("INSERT INTO d.acks VALUES (-1)").unwrap();
    until("the follower", || follower.client().number("SELECT COUNT(*) FROM d.acks").unwrap() == there + 1);
}

/// Enough that to apply it takes a moment.
fn fill(server: &Server) -> i64 {
    let setup = "CREATE DATABASE d; CREATE TABLE d.t (id INT AUTO_INCREMENT PRIMARY KEY, s VARCHAR(500), KEY (s))";
    server.client().query(setup).unwrap();
    let rows: Vec<String> = (0..500).map(|n| format!("('{n} {}')", "x".repeat(200))).collect();
    server.client().query(&format!("INSERT INTO d.t (s) VALUES {}", rows.join(","))).unwrap();
    let mut connection = Connection::open(server.port(), "d").unwrap();
    for n in 0..120 {
        let sql = format!("INSERT INTO t (s) SELECT CONCAT(s, {n}) FROM t WHERE id <= 500");
        assert!(matches!(connection.query(&sql), Ok(Answer::Done(_))));
    }
    server.client().number("SELECT COUNT(*) FROM d.t").unwrap()
}

#[test]
fn while_it_recovers() {
    let mut server = Server::start(
        "term-recovery",
        ServerOptions::with_settings(["checkpoint_log_size=1G", "recovery_target_time=0"]),
    )
    .unwrap();
    let rows = fill(&server);
    server.kill();
    // At several moments of its start: before, in and after the recovery.
    let mut in_order = 0;
    for pause in [0, 20, 60, 150, 400, 1000] {
        server.restart_without_waiting().unwrap();
        std::thread::sleep(Duration::from_millis(pause));
        let begin = Instant::now();
        match server.stop() {
            Ok(_) => in_order += 1,
            // So early that the process has no say in it yet.
            Err(error) => assert!(error.contains("signal: 15"), "after {pause} ms: {error}"),
        }
        assert!(begin.elapsed() < PATIENCE, "after {pause} ms it took {:?}", begin.elapsed());
    }
    assert!(in_order >= 2, "the last ones come when it is at work");
    server.restart().unwrap();
    assert_eq!(server.client().number("SELECT COUNT(*) FROM d.t").unwrap(), rows);
    assert_eq!(server.client().number("SELECT COUNT(*) FROM d.t FORCE INDEX (s) WHERE s > ''").unwrap(), rows);
}

#[test]
fn while_it_catches_up() {
    let source = Server::start("term-ahead", ServerOptions::default()).unwrap();
    let rows = fill(&source);
    let mut follower = source.start_follower("term-behind").unwrap();
    for _ in 0..4 {
        let took = follower.stop().unwrap();
        assert!(took < PATIENCE, "it took {took:?}");
        // What was received and not applied yet is applied when it starts.
        follower.restart().unwrap();
    }
    until("the copy", || follower.client().number("SELECT COUNT(*) FROM d.t").is_ok_and(|n| n == rows));
}
