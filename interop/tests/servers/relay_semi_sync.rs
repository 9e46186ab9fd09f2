//! A relay as the semi-synchronous replica of real sources, and in front of semi-synchronous replicas: what a client was told of is there.

use std::collections::HashSet;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use interop::{Connection, Kind, Node, Relay, commuter_binary, until};

const SETUP: &str = "CREATE DATABASE d; CREATE TABLE d.t (id INT AUTO_INCREMENT PRIMARY KEY, s VARCHAR(100))";
/// To the source what is synced here is acknowledged.
const ALONE: [&str; 1] = ["--rpl-semi-sync-replica-enabled"];
/// What a replica has as well.
const WITH_REPLICA: [&str; 2] = ["--rpl-semi-sync-replica-enabled", "--rpl-semi-sync-source-enabled"];
const WRITERS: usize = 8;

/// What both sides are told, by kind; nobody ever goes on without.
fn statements(kind: Option<Kind>) -> [&'static str; 2] {
    match kind {
        Some(Kind::Mysql97) => [
            "SET sql_log_bin = 0; INSTALL PLUGIN rpl_semi_sync_source SONAME 'semisync_source.so'; SET GLOBAL \
             rpl_semi_sync_source_timeout = 4294967295, GLOBAL rpl_semi_sync_source_wait_for_replica_count = 1, \
             GLOBAL rpl_semi_sync_source_enabled = ON",
            "SET sql_log_bin = 0; INSTALL PLUGIN rpl_semi_sync_replica SONAME 'semisync_replica.so'; SET GLOBAL \
             rpl_semi_sync_replica_enabled = ON",
        ],
        Some(Kind::Maria118) => [
            "SET GLOBAL rpl_semi_sync_master_timeout = 4294967295, GLOBAL rpl_semi_sync_master_wait_point = 'AFTER_SYNC', \
             GLOBAL rpl_semi_sync_master_enabled = ON",
            "SET GLOBAL rpl_semi_sync_slave_enabled = ON",
        ],
        None => [
            "SET GLOBAL rpl_semi_sync_source_timeout_action = 'WAIT', GLOBAL rpl_semi_sync_source_wait_for_replica_count = 1, \
             GLOBAL rpl_semi_sync_source_enabled = ON",
            "SET GLOBAL rpl_semi_sync_replica_enabled = ON",
        ],
    }
}

/// Of the source: how many acknowledge; how many transactions went on without.
fn counter(source: &Node, what: &str) -> i64 {
    let word = if source.kind() == Some(Kind::Maria118) { "master" } else { "source" };
    source.client().status(&format!("Rpl_semi_sync_{word}_{what}")).unwrap()
}

/// Commits wait until `then`. Each is a group of its own behind the one before: those hold the locks of the source's log meanwhile, so
/// that who comes to acknowledge gets no answer to what needs one of these.
fn commits_wait_for(source: &Node, what: &str, then: impl FnOnce()) {
    std::thread::scope(|scope| {
        let port = source.port();
        let waiting: Vec<_> = (0..4)
            .map(|_| {
                let one = scope.spawn(move || {
                    let mut connection = Connection::open(port, "d").unwrap();
                    connection.succeed("INSERT INTO t (s) VALUES ('waits')").unwrap();
                });
                std::thread::sleep(Duration::from_millis(200));
                one
            })
            .collect();
        assert!(waiting.iter().all(|one| !one.is_finished()), "some do not wait for {what}");
        then();
        waiting.into_iter().for_each(|one| one.join().unwrap());
    });
}

/// Texts of rows that clients were told of, until the server is gone: in the middle of many, however slow they are.
fn write_until_it_dies(source: &mut Node, relay: &mut Relay) -> Vec<String> {
    let count = &AtomicUsize::new(0);
    // All are there before the first writes: the server must not end while one of them still greets it.
    let connections: Vec<_> = (0..WRITERS).map(|_| Connection::open(source.port(), "d").unwrap()).collect();
    std::thread::scope(|scope| {
        let writers = connections.into_iter().enumerate();
        let writers: Vec<_> =
            writers.map(|(writer, connection)| scope.spawn(move || write(connection, writer, count))).collect();
        let begin = Instant::now();
        while count.load(Ordering::Relaxed) <= 8 * WRITERS && begin.elapsed() < Duration::from_secs(30) {
            std::thread::sleep(Duration::from_millis(20));
        }
        std::thread::scope(|both| {
            both.spawn(|| source.kill());
            both.spawn(|| relay.kill());
        });
        writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect()
    })
}

fn write(mut connection: Connection, writer: usize, count: &AtomicUsize) -> Vec<String> {
    let mut told = Vec::new();
    loop {
        let text = format!("told {writer} {}", told.len());
        if connection.succeed(&format!("INSERT INTO t (s) VALUES ('{text}')")).is_err() {
            return told;
        }
        told.push(text);
        count.fetch_add(1, Ordering::Relaxed);
    }
}

/// The texts in a relay's files.
fn texts_in(relay: &Relay) -> HashSet<String> {
    let mut files: Vec<_> = std::fs::read_dir(relay.files(1)).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    let output = Command::new(commuter_binary().unwrap()).args(["log", "dump"]).args(files).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.split('\'').filter(|text| text.starts_with("told ")).map(str::to_owned).collect()
}

fn what_was_told_is_there(name: &str, kind: Option<Kind>) {
    let (mut source, replica) = std::thread::scope(|scope| {
        let source = scope.spawn(|| Node::start(kind, &format!("{name}-source")).unwrap());
        let replica = Node::start(kind, &format!("{name}-replica")).unwrap();
        (source.join().unwrap(), replica)
    });
    let [of_source, of_replica] = statements(kind);
    source.client().query(&format!("{SETUP}; {of_source}")).unwrap();
    replica.client().query(of_replica).unwrap();
    let mut relay = Relay::start(name, source.port(), &ALONE).unwrap();
    until("the relay acknowledges", || counter(&source, "clients") == 1);
    assert_eq!(relay.client().query("SELECT @@rpl_semi_sync_replica_enabled").unwrap(), "1\n");

    // A replica that could acknowledge is not asked to.
    replica.follow(relay.port()).unwrap();
    source.wait_for_replica(&replica, Duration::from_secs(30)).unwrap();
    until("it says so", || {
        relay.client().query("SHOW STATUS LIKE 'Rpl_semi_sync_replica_status'").unwrap().contains("ON")
    });
    relay.kill();
    commits_wait_for(&source, "the relay", || relay.restart().unwrap());

    // Now it is.
    relay.restart_with(&WITH_REPLICA).unwrap();
    let clients = || relay.client().query("SHOW STATUS LIKE 'Rpl_semi_sync_source_clients'").unwrap();
    until("the replica is there", || clients().trim().ends_with("\t1"));
    source.wait_for_replica(&replica, Duration::from_secs(30)).unwrap();
    let thread = |verb: &str| {
        let noun = if kind == Some(Kind::Maria118) { "SLAVE" } else { "REPLICA" };
        drop(replica.client().query(&format!("{verb} {noun}")).unwrap());
    };
    thread("STOP");
    until("the replica has gone", || clients().trim().ends_with("\t0"));
    commits_wait_for(&source, "the replica", || thread("START"));
    source.wait_for_replica(&replica, Duration::from_secs(30)).unwrap();

    relay.restart_with(&ALONE).unwrap();
    // The source may still count the one that is gone.
    until("the relay acknowledges", || {
        relay.client().query("SHOW STATUS LIKE 'Rpl_semi_sync_replica_status'").unwrap().contains("ON")
    });
    let told = write_until_it_dies(&mut source, &mut relay);
    relay.restart().unwrap();
    let there = texts_in(&relay);
    let lost: Vec<&String> = told.iter().filter(|text| !there.contains(*text)).collect();
    println!("{name}: clients were told of {} transactions, {} are on the relay", told.len(), there.len());
    assert!(told.len() > WRITERS && lost.is_empty(), "of {} transactions these are lost: {lost:?}", told.len());
    let patience = Duration::from_secs(30);
    let arrived = || replica.client().number("SELECT COUNT(*) FROM d.t WHERE s LIKE 'told %'").unwrap_or(0) as usize;
    until("the replica has them, without the source", || arrived() >= told.len());
    // And the source, which may have one more for each of those who were told of nothing.
    source.restart().unwrap();
    source.wait_for_replica(&replica, patience).unwrap();
    relay.compare_files(1, &source.client(), &source.folder(), kind == Some(Kind::Maria118)).unwrap();
}

#[test]
fn of_a_mysql() {
    what_was_told_is_there("relay-semi-sync-mysql", Some(Kind::Mysql97));
}

#[test]
fn of_a_mariadb() {
    what_was_told_is_there("relay-semi-sync-maria", Some(Kind::Maria118));
}

#[test]
fn of_a_commuter() {
    what_was_told_is_there("relay-semi-sync-ours", None);
}
