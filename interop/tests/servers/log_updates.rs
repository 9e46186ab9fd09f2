//! `log_replica_updates=OFF`: the log of what a replica has applied goes as soon as nobody needs it, and neither a crash nor a promotion does.

use std::time::Duration;

use interop::{Client, Kind, Node, Server, ServerOptions, gtid_executed, until};

const PATIENCE: Duration = Duration::from_secs(120);
/// So often the server looks for files to remove.
const PURGES_EVERY: Duration = Duration::from_secs(10);
const SETTINGS: [&str; 3] = ["log_replica_updates=OFF", "max_binlog_size=262144", "checkpoint_log_size=1048576"];

/// Some 4 MB of log.
fn write(server: &Client, first: i64) {
    let insert = |id: i64| format!("INSERT INTO d.t VALUES ({id}, REPEAT('x', 8000));");
    server.query(&(first..first + 500).map(insert).collect::<String>()).unwrap();
}

fn log_files(server: &Client) -> Vec<String> {
    let files = server.query("SHOW BINARY LOGS").unwrap();
    files.lines().map(|line| line.split('\t').next().unwrap().to_owned()).collect()
}

fn rows(server: &Client) -> String {
    server.query("SELECT COUNT(*), SUM(id), SUM(LENGTH(s)) FROM d.t").unwrap()
}

fn goes_with_what_is_applied(kind: Option<Kind>, name: &str) {
    let source = match kind {
        Some(_) => Node::start(kind, &format!("{name}-source")).unwrap(),
        // A copy has its source's files.
        None => {
            Node::Ours(Server::start(&format!("{name}-source"), ServerOptions::with_settings(&SETTINGS[1..])).unwrap())
        }
    };
    source.client().query("CREATE DATABASE d; CREATE TABLE d.t (id INT PRIMARY KEY, s TEXT)").unwrap();
    let mut replica = Node::Ours(Server::start(name, ServerOptions::with_settings(SETTINGS)).unwrap());
    assert_eq!(replica.client().query("SELECT @@log_replica_updates, @@log_slave_updates").unwrap(), "0\t0\n");
    replica.follow(source.port()).unwrap();
    write(&source.client(), 0);
    source.wait_for_replica(&replica, PATIENCE).unwrap();
    let first = log_files(&replica.client())[0].clone();
    until("what was applied goes", || !log_files(&replica.client()).contains(&first));
    // Recovery needs none of what is gone.
    replica.kill();
    replica.restart().unwrap();
    write(&source.client(), 500);
    source.wait_for_replica(&replica, PATIENCE).unwrap();
    let client = replica.client();
    assert_eq!(rows(&client), rows(&source.client()));
    // A server that is promoted keeps its log: others may want it.
    client.query("STOP REPLICA; RESET REPLICA ALL; SET GLOBAL super_read_only = OFF").unwrap();
    let before = log_files(&client);
    write(&client, 1000);
    std::thread::sleep(PURGES_EVERY + Duration::from_secs(2));
    let after = log_files(&client);
    assert!(after.starts_with(&before) && after.len() >= before.len() + 10, "{before:?} {after:?}");
    let (executed, all) = (gtid_executed(&client).unwrap(), rows(&client));
    replica.kill();
    replica.restart().unwrap();
    assert_eq!((gtid_executed(&replica.client()).unwrap(), rows(&replica.client())), (executed, all));
}

#[test]
fn a_copy() {
    goes_with_what_is_applied(None, "log-updates-copy");
}

#[test]
fn of_a_mysql() {
    goes_with_what_is_applied(Some(Kind::Mysql97), "log-updates-mysql");
}

#[test]
fn of_a_mariadb() {
    goes_with_what_is_applied(Some(Kind::Maria118), "log-updates-maria");
}

/// Who reads the log of such a server has all of it: what it has not read yet stays.
#[test]
fn a_copy_behind_a_copy() {
    let source = Server::start("log-updates-first", ServerOptions::with_settings(&SETTINGS[1..])).unwrap();
    source.client().query("CREATE DATABASE d; CREATE TABLE d.t (id INT PRIMARY KEY, s TEXT)").unwrap();
    let mut options = ServerOptions::with_settings(SETTINGS);
    options.arguments.extend(["--follow".to_owned(), source.url()]);
    let between = Server::start("log-updates-between", options).unwrap();
    let last = between.start_follower("log-updates-last").unwrap();
    let first = log_files(&between.client())[0].clone();
    for part in 0..4 {
        write(&source.client(), part * 500);
        source.wait_until_in_step(&last).unwrap();
    }
    until("what was applied goes", || !log_files(&between.client()).contains(&first));
    write(&source.client(), 2000);
    source.wait_until_in_step(&last).unwrap();
    assert_eq!(rows(&last.client()), rows(&source.client()));
    assert!(log_files(&last.client()).contains(&first), "its own log stays");
}
