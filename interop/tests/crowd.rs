//! Crowds: many connections, some of which commit, while others are refused; many that want the same rows. No thread for each,
//! nobody is left out, and every transaction that was acknowledged is there. The benches `crowd_10000` and `waiters` are the long form.

use std::time::Duration;

use interop::{Client, Crowd, Raw, Server, ServerOptions, thread_count};

const CONNECTIONS: u64 = 1000;
const COMMITTING: u64 = 100;
const REFUSED: usize = 1000;
/// The runtime's, the log's, those of input and output and of timers, with room to spare.
const THREADS_MAX: u64 = 30;
/// ER_CON_COUNT_ERROR, behind the mark of an error packet.
const TOO_MANY: [u8; 3] = [0xff, 0x10, 0x04];

fn server(name: &str, max_connections: u64) -> Server {
    let server =
        Server::start(name, ServerOptions::with_settings([format!("max_connections={max_connections}")])).unwrap();
    let rows = (1..=COMMITTING).map(|id| format!("({id}, 0)")).collect::<Vec<_>>().join(",");
    let setup =
        format!("CREATE DATABASE d; CREATE TABLE d.t (id INT PRIMARY KEY, n INT); INSERT INTO d.t VALUES {rows}");
    server.client().query(&setup).unwrap();
    server
}

fn update(row: u64) -> String {
    format!("UPDATE t SET n = n + 1 WHERE id = {row}")
}

fn sum(client: &Client) -> u64 {
    client.number("SELECT SUM(n) FROM d.t").unwrap() as u64
}

#[test]
fn a_tenth_of_a_thousand_commit_while_others_are_refused() {
    let mut server = server("crowd", CONNECTIONS);
    // One more, in the place that is kept for an administrator.
    let idle: Vec<Raw> = (COMMITTING..=CONNECTIONS).map(|_| Raw::logged_in(server.port()).unwrap()).collect();
    let crowd = Crowd::start(server.port(), "d", COMMITTING, |number, _| vec![update(number + 1)]).unwrap();
    let before = crowd.elapsed();
    for _ in 0..REFUSED {
        let packet = Raw::open(server.port()).unwrap().packet().unwrap();
        assert_eq!(packet[..3], TOO_MANY);
    }
    let threads = thread_count(server.pid()).unwrap();
    assert!(threads <= THREADS_MAX, "{threads} threads for {CONNECTIONS} connections");
    let after = crowd.elapsed();
    let crowded = crowd.end().unwrap();
    let meanwhile = crowded.between(before, after).expect("somebody commits");
    assert!(meanwhile.slowest_member > 0.0, "somebody is left out: {meanwhile:?}");
    let commits: u64 = crowded.commits().iter().sum();
    drop(idle);
    server.kill();
    server.restart().unwrap();
    assert_eq!(sum(&server.client()), commits);
}

#[test]
fn many_that_want_the_same_rows() {
    let server = server("crowd-rows", 400);
    let client = server.client();
    let one_row = Crowd::start(server.port(), "d", 300, |_, _| vec![update(1)]).unwrap();
    std::thread::sleep(Duration::from_secs(2));
    let crowded = one_row.end().unwrap();
    let commits = crowded.commits();
    assert!(commits.iter().all(|&commits| commits > 0), "somebody is left out: {commits:?}");
    let acknowledged: u64 = commits.iter().sum();
    assert_eq!(sum(&client), acknowledged);
    let deadlocks = Crowd::start(server.port(), "d", 300, |_, random| {
        let first = random.below(10) as u64;
        let second = (first + 1 + random.below(9) as u64) % 10;
        vec!["BEGIN".to_owned(), update(first + 1), update(second + 1), "COMMIT".to_owned()]
    });
    let deadlocks = deadlocks.unwrap();
    std::thread::sleep(Duration::from_secs(2));
    let crowded = deadlocks.end().unwrap();
    let figures = crowded.between(Duration::ZERO, Duration::from_secs(60)).expect("somebody commits");
    assert!(figures.deadlocks > 0.0, "transactions that lock in any order come into each other's way");
    let commits: u64 = crowded.commits().iter().sum();
    assert_eq!(sum(&client), acknowledged + 2 * commits);
    assert_eq!(client.status("Locks_held").unwrap(), 0);
}
