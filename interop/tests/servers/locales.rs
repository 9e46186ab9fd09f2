//! Names of months and days, and how numbers are written, in all languages: as a MySQL has them, for statements of its log too.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use interop::{Client, Kind, Node, Peer, Server, ServerOptions};

/// Behind the last number of both kinds of servers.
const NUMBERS: u32 = 130;

/// A line for each locale that there is: see `crates/sql/src/expr/locale.rs`.
fn names(client: &Client) -> String {
    let list = |format: &str, days: &[String]| {
        let of: Vec<String> = days.iter().map(|day| format!("DATE_FORMAT('{day}', '{format}')")).collect();
        format!("CONCAT_WS('|', {})", of.join(", "))
    };
    let months: Vec<String> = (1..=12).map(|month| format!("2024-{month:02}-15")).collect();
    // The first was a Monday.
    let days: Vec<String> = (1..=7).map(|day| format!("2024-01-{day:02}")).collect();
    let all = [list("%M", &months), list("%b", &months), list("%W", &days), list("%a", &days)].join(", ");
    let mut lines = String::new();
    for number in 0..NUMBERS {
        let number_sample = "FORMAT(1234567890123.5, 1, @@lc_time_names)";
        let query = format!("SET lc_time_names = {number}; SELECT {number}, @@lc_time_names, {all}, {number_sample}");
        match client.query(&query) {
            Ok(line) => writeln!(lines, "{}", line.trim_end_matches('\n')).unwrap(),
            Err(error) => assert!(error.contains("1649"), "{error}"),
        }
    }
    lines
}

#[test]
fn those_of_a_mysql() {
    let mysql = Peer::start(Kind::Mysql97, "locales", Duration::ZERO, &[]).unwrap();
    let theirs = names(&mysql.client());
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/sql/src/expr/locales.txt");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&file, &theirs).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap(), theirs);
    let ours = Server::start("locales", ServerOptions::default()).unwrap();
    assert_eq!(names(&ours.client()), theirs);
    let error = ours.client().query("SET lc_time_names = 'tlh'").unwrap_err();
    assert!(error.contains("1649") && error.contains("Unknown locale: 'tlh'"), "{error}");
}

#[test]
fn in_statements_of_a_log() {
    for kind in [Kind::Mysql97, Kind::Maria118] {
        let source = Peer::start(kind, "locales-log", Duration::ZERO, &["--binlog-format=STATEMENT"]).unwrap();
        let (source, replica) =
            (Node::Peer(source), Node::Ours(Server::start("locales-log", ServerOptions::default()).unwrap()));
        source
            .client()
            .query(
                "CREATE DATABASE d; CREATE TABLE d.t (id INT AUTO_INCREMENT PRIMARY KEY, m VARCHAR(40), d VARCHAR(40), n VARCHAR(40))",
            )
            .unwrap();
        replica.follow(source.port()).unwrap();
        for name in ["de_DE", "ru_RU", "ja_JP", "en_US", "ar_SA"] {
            source.client().query(&format!("SET lc_time_names = '{name}'; INSERT INTO d.t (m, d, n) VALUES (MONTHNAME('2024-03-01'), DATE_FORMAT('2024-05-04', '%W %a %b'), FORMAT(1234567.5, 2, '{name}'))")).unwrap();
        }
        source.wait_for_replica(&replica, Duration::from_secs(30)).unwrap();
        let rows = "SELECT * FROM d.t ORDER BY id";
        assert_eq!(replica.client().query(rows), source.client().query(rows), "{kind:?}");
    }
}
