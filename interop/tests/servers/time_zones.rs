//! Times that a change of the clocks skips or repeats, and text that says its own zone: the same as in a MySQL.

use std::time::Duration;

use interop::{Client, Kind, Peer, Server, ServerOptions};

/// Two zones as MySQL's tables have them, of 2024: one skips an hour, the other one half an hour.
const ZONES: &str = "USE mysql; INSERT INTO time_zone VALUES (901, 'N'), (902, 'N');
    INSERT INTO time_zone_name VALUES ('America/New_York', 901), ('Australia/Lord_Howe', 902);
    INSERT INTO time_zone_transition_type VALUES (901, 0, -18000, 0, 'EST'), (901, 1, -14400, 1, 'EDT'),
        (902, 0, 37800, 0, '+1030'), (902, 1, 39600, 1, '+11');
    INSERT INTO time_zone_transition VALUES (901, 1699164000, 0), (901, 1710054000, 1), (901, 1730613600, 0),
        (902, 1696087800, 1), (902, 1712415600, 0), (902, 1728142200, 1)";

const STATEMENTS: &[&str] = &[
    "CREATE DATABASE d",
    "CREATE TABLE d.t (id INT PRIMARY KEY AUTO_INCREMENT, t TIMESTAMP(2) NULL)",
    "CREATE TABLE d.m (m DATETIME)",
    "INSERT INTO d.t (t) VALUES ('2024-03-10 02:30:00')",
    "INSERT INTO d.t (t) VALUES ('2024-03-10 01:59:59.999')",
    "INSERT IGNORE INTO d.t (t) VALUES ('2024-03-10 02:30:00.25')",
    "SET sql_mode = ''; INSERT INTO d.t (t) VALUES ('2024-03-10 02:00:00'), ('2024-11-03 01:30:00'), (20240310025959.5)",
    "INSERT INTO d.t (t) VALUES ('2024-03-10 07:30:00+00:00'), ('2024-03-10 02:30:00-05:00')",
    "SELECT *, UNIX_TIMESTAMP(t) FROM d.t ORDER BY id",
    "SELECT COUNT(*) FROM d.t WHERE t = '2024-03-10 02:30:00'",
    "UPDATE d.t SET t = '2024-03-10 02:30:00'",
    "CREATE TABLE d.refused (t TIMESTAMP DEFAULT '2024-03-10 02:30:00')",
    "INSERT INTO d.m VALUES ('2024-03-10 02:15:00'); INSERT INTO d.t (t) SELECT m FROM d.m",
    "ALTER TABLE d.m MODIFY m TIMESTAMP",
    "SET sql_mode = ''; ALTER TABLE d.m MODIFY m TIMESTAMP; SHOW WARNINGS; SELECT * FROM d.m",
    "SELECT UNIX_TIMESTAMP('2024-03-10 02:30:00'), UNIX_TIMESTAMP('2024-03-10 02:30:00.5'), UNIX_TIMESTAMP('2024-11-03 01:30:00')",
    "SELECT CONVERT_TZ('2024-03-10 02:30:00.25', 'America/New_York', '+00:00'), CONVERT_TZ('2024-11-03 01:30:00', 'America/New_York', '+00:00')",
    "SELECT CONVERT_TZ('2024-10-06 02:10:00', 'Australia/Lord_Howe', '+00:00'), CONVERT_TZ('2024-04-07 01:45:00', 'Australia/Lord_Howe', '+00:00')",
    "SELECT TIMESTAMP'2024-01-01 00:00:00+05:00', TIMESTAMP'2024-01-01 00:00:00.5-13:59', TIMESTAMP('2024-01-01 00:00:00+05:00')",
    "SELECT DATE('2024-01-01 00:00:00+05:00'), TIME('2024-01-01 00:00:00+05:00'), HOUR('2024-01-01 00:00:00+05:00')",
    "SELECT TIMESTAMP'2024-01-01 00:00:00+15:00'",
    "SELECT TIMESTAMP'2024-01-01 00:00:00-00:00'",
    "SELECT DATE'2024-01-01+05:00'",
];

/// Rows and warnings, or the error's number.
fn answer(client: &Client, statement: &str) -> String {
    let both = format!("SET time_zone = 'America/New_York'; {statement}; SHOW WARNINGS");
    client.query(&both).unwrap_or_else(|error| {
        let number = error.split("ERROR ").nth(1).and_then(|rest| rest.split(' ').next());
        number.unwrap_or(&error).to_owned()
    })
}

#[test]
fn times_that_are_skipped_or_have_a_zone() {
    let theirs = Peer::start(Kind::Mysql97, "zones", Duration::ZERO, &[]).unwrap();
    theirs.client().query(ZONES).unwrap();
    let ours = Server::start("zones", ServerOptions::default()).unwrap();
    for statement in STATEMENTS {
        assert_eq!(answer(&ours.client(), statement), answer(&theirs.client(), statement), "{statement}");
    }
}
