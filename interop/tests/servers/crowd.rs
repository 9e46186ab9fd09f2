//! Crowds: many connections, some of which commit, while others are refused; many that want the same rows. No thread for each,
//! nobody is left out, and every transaction that was acknowledged is there. The benches `crowd_10000` and `waiters` are the long form.

use std::time::Duration;

use interop::{
    Client, Crowd, Raw, Server, ServerOptions, be_refused, count_up, count_up_two, create_counters, thread_count,
};

const CONNECTIONS: u64 = 1000;
const COMMITTING: u64 = 100;
const REFUSED: u64 = 1000;
/// The runtime's, the log's, those of input and output and of timers, with room to spare.
const THREADS_MAX: u64 = 30;

/// With slow syncs most of those that commit wait, and leave the processors to others.
fn server(name: &str, max_connections: u64, slow_sync: Duration) -> Server {
    let settings = ServerOptions::with_settings([format!("max_connections={max_connections}")]);
    let server = Server::start(name, ServerOptions { slow_sync, ..settings }).unwrap();
    create_counters(&server.client(), COMMITTING).unwrap();
    server
}

fn sum(client: &Client) -> u64 {
    client.number("SELECT SUM(n) FROM d.t").unwrap() as u64
}

#[test]
fn a_tenth_of_a_thousand_commit_while_others_are_refused() {
    let mut server = server("crowd", CONNECTIONS, Duration::from_millis(20));
    // One more, in the place that is kept for an administrator.
    let idle: Vec<Raw> = (COMMITTING..=CONNECTIONS).map(|_| Raw::logged_in(server.port()).unwrap()).collect();
    let crowd = Crowd::start(server.port(), "d", COMMITTING, |number, _| vec![count_up(number + 1)]).unwrap();
    let before = crowd.elapsed();
    be_refused(server.port(), REFUSED).unwrap();
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
    let server = server("crowd-rows", 400, Duration::ZERO);
    let client = server.client();
    let one_row = Crowd::start(server.port(), "d", 300, |_, _| vec![count_up(1)]).unwrap();
    std::thread::sleep(Duration::from_secs(2));
    let crowded = one_row.end().unwrap();
    let commits = crowded.commits();
    assert!(commits.iter().all(|&commits| commits > 0), "somebody is left out: {commits:?}");
    let acknowledged: u64 = commits.iter().sum();
    assert_eq!(sum(&client), acknowledged);
    let deadlocks = Crowd::start(server.port(), "d", 300, |_, random| count_up_two(10, random));
    let deadlocks = deadlocks.unwrap();
    std::thread::sleep(Duration::from_secs(2));
    let crowded = deadlocks.end().unwrap();
    let figures = crowded.between(Duration::ZERO, Duration::from_secs(60)).expect("somebody commits");
    assert!(figures.deadlocks > 0.0, "transactions that lock in any order come into each other's way");
    let commits: u64 = crowded.commits().iter().sum();
    assert_eq!(sum(&client), acknowledged + 2 * commits);
    assert_eq!(client.status("Locks_held").unwrap(), 0);
}
