//! A source, a relay and a replica, each killed and started again in the middle of a load of everything: in the end the rows are equal, the
//! relay's files are the source's to the byte, and nobody had to do anything.
//!
//! `COMMUTER_INTEROP_WRITES=5000` makes the load fifty times as long: 100,000 transactions.

use std::time::Duration;

use interop::everyday::{EVERYDAY, assert_same, writes_of_each};
use interop::mixed::Mixed;
use interop::{Kind, Node, Relay, Server, ServerOptions};

const CLIENTS: u64 = 20;

/// `None` is one of ours.
fn through_deaths(name: &str, of: Option<Kind>, to: Option<Kind>) {
    let (source, replica) = std::thread::scope(|scope| {
        let source = scope.spawn(|| Node::start(of, &format!("{name}-source")).unwrap());
        let replica = Node::start(to, &format!("{name}-replica")).unwrap();
        (source.join().unwrap(), replica)
    });
    let (mut source, mut replica) = (source, replica);
    source.client().query(EVERYDAY).unwrap();
    let mut relay = Relay::start(name, source.port(), &[]).unwrap();
    replica.follow(relay.port()).unwrap();
    let transactions = CLIENTS * writes_of_each() as u64;
    let patience = Duration::from_secs(60 + transactions / 50);
    Mixed::run(source.port(), CLIENTS, transactions, of != Some(Kind::Maria118), |load| {
        load.wait_for(12);
        relay.kill();
        relay.restart().unwrap();
        load.wait_for(25);
        let mut deaths = || {
            if to == Some(Kind::Maria118) {
                load.hold(|| source.wait_for_replica(&replica, patience).unwrap());
            }
            replica.kill();
            replica.restart().unwrap();
            load.wait_for(40);
            source.kill();
            source.restart().unwrap();
            load.wait_for(60);
            // All at once, and the one in the middle once more before both others are there.
            source.kill();
            relay.kill();
            replica.kill();
            relay.restart().unwrap();
            std::thread::scope(|scope| {
                scope.spawn(|| source.restart().unwrap());
                relay.kill();
                relay.restart().unwrap();
                replica.restart().unwrap();
            });
        };
        // A MariaDB that dies while it executes its source's definition of a table has it in its own log by a name of its own, or does it
        // twice, and needs somebody's help.
        match to {
            Some(Kind::Maria118) => load.without_definitions(deaths),
            _ => deaths(),
        }
    });
    source.wait_for_replica(&replica, patience).unwrap_or_else(|error| panic!("{error}\n{}", relay.log()));
    assert_same(&source.client(), &replica.client());
    assert_is_copy(&relay, &source);
}

/// All of the source's files.
#[track_caller]
fn assert_is_copy(relay: &Relay, source: &Node) {
    let end = source.log_end().unwrap();
    interop::until("the end of the log", || {
        relay.client().query("SHOW BINARY LOGS").is_ok_and(|files| files.contains(&listed(&end)))
    });
    relay.compare_files(1, &source.client(), &source.folder(), source.kind() == Some(Kind::Maria118)).unwrap();
    assert_eq!((relay.status("Generation").as_str(), relay.status("Last_IO_Error").as_str()), ("1", ""));
}

/// One of ours between a source and an end of two other kinds, with a relay in front of it; and behind it, where the end can read what it
/// has, another.
fn bridge(name: &str, of: Kind, to: Kind) {
    let is_to_mysql = to == Kind::Mysql97;
    let (mut source, mut end) = std::thread::scope(|scope| {
        let source = scope.spawn(|| Node::start(Some(of), &format!("{name}-source")).unwrap());
        let end = Node::start(Some(to), &format!("{name}-end")).unwrap();
        (source.join().unwrap(), end)
    });
    // A MariaDB takes a version for whether there can be GTIDs, and has to learn how accounts are here.
    let settings: &[&str] = if is_to_mysql { &[] } else { &["version=11.8.0-commuter"] };
    let options = ServerOptions::with_settings(settings);
    let mut middle = Node::Ours(Server::start(&format!("{name}-middle"), options).unwrap());
    source.client().query(EVERYDAY).unwrap();
    let mut first = Relay::start(&format!("{name}-first"), source.port(), &[]).unwrap();
    middle.follow(first.port()).unwrap();
    let mut second = is_to_mysql.then(|| Relay::start(&format!("{name}-second"), middle.port(), &[]).unwrap());
    if !is_to_mysql {
        end.client().query("INSTALL SONAME 'auth_mysql_sha2'").unwrap();
    }
    end.follow(second.as_ref().map_or(middle.port(), Relay::port)).unwrap();
    let transactions = CLIENTS * writes_of_each() as u64;
    let patience = Duration::from_secs(60 + transactions / 50);
    Mixed::run(source.port(), CLIENTS, transactions, of != Kind::Maria118, |load| {
        load.wait_for(15);
        middle.kill();
        first.kill();
        middle.restart().unwrap();
        first.restart().unwrap();
        load.wait_for(30);
        let mut deaths = || {
            if !is_to_mysql {
                load.hold(|| source.wait_for_replica(&end, patience).unwrap());
            }
            if let Some(relay) = &mut second {
                relay.kill();
                relay.restart().unwrap();
            }
            end.kill();
            middle.kill();
            middle.restart().unwrap();
            end.restart().unwrap();
            load.wait_for(60);
            source.kill();
            source.restart().unwrap();
        };
        if is_to_mysql { deaths() } else { load.without_definitions(deaths) }
    });
    source.wait_for_replica(&end, patience).unwrap_or_else(|error| panic!("{error}\n{}", middle.replica_status()));
    assert_same(&source.client(), &middle.client());
    assert_same(&source.client(), &end.client());
    assert_is_copy(&first, &source);
    second.iter().for_each(|relay| assert_is_copy(relay, &middle));
}

/// Of `file:position`, as SHOW BINARY LOGS has it.
fn listed(end: &str) -> String {
    end.replace(':', "\t")
}

#[test]
fn mysql_to_mysql() {
    through_deaths("between-mysql", Some(Kind::Mysql97), Some(Kind::Mysql97));
}

#[test]
fn mariadb_to_mariadb() {
    through_deaths("between-maria", Some(Kind::Maria118), Some(Kind::Maria118));
}

#[test]
fn commuter_to_commuter() {
    through_deaths("between-ours", None, None);
}

#[test]
fn mysql_to_commuter() {
    through_deaths("between-from-mysql", Some(Kind::Mysql97), None);
}

#[test]
fn mariadb_to_commuter() {
    through_deaths("between-from-maria", Some(Kind::Maria118), None);
}

#[test]
fn mariadb_to_mysql_over_a_bridge() {
    bridge("between-bridge-to-mysql", Kind::Maria118, Kind::Mysql97);
}

#[test]
fn mysql_to_mariadb_over_a_bridge() {
    bridge("between-bridge-to-maria", Kind::Mysql97, Kind::Maria118);
}
