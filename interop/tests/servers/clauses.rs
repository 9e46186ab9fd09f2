//! Nothing is taken and ignored: every clause and option of `interop/clauses/clauses.txt` does what it does on MySQL 9.7, as SHOW CREATE TABLE
//! and `information_schema` show it, with MySQL's warnings, or is an error that names it (1235), or the error that MySQL gives. What MySQL
//! does not know at all may be there as MariaDB has it.
//!
//! The peer is the expectation. What differs on purpose is listed in `interop/clauses/differences.txt` with its reason.

use std::time::Duration;

use interop::{Answer, Connection, Kind, Peer, Server, ServerOptions};

use crate::declared::{Declared, lines};

/// What shows what became of a table.
const SHOWN: &[&str] = &[
    "SHOW CREATE TABLE t",
    "SELECT ENGINE, TABLE_COLLATION, CREATE_OPTIONS, TABLE_COMMENT FROM information_schema.tables \
     WHERE table_schema = DATABASE() AND table_name = 't'",
    "SELECT INDEX_NAME, SEQ_IN_INDEX, COLUMN_NAME, COLLATION, SUB_PART, INDEX_TYPE, INDEX_COMMENT, IS_VISIBLE FROM information_schema.statistics \
     WHERE table_schema = DATABASE() AND table_name = 't' ORDER BY 1, 2",
];

/// Every statement that is tried, with the ones before it that it needs.
fn tried() -> Vec<(Vec<String>, String)> {
    let (mut templates, mut tried, mut is_new) = (Vec::new(), Vec::new(), true);
    for (_, line) in lines("clauses/clauses.txt") {
        if let Some(template) = line.strip_prefix("@ ") {
            if !is_new {
                templates.clear();
            }
            templates.push(template.to_owned());
            is_new = true;
            continue;
        }
        is_new = false;
        for template in &templates {
            let (before, last) = template.rsplit_once("; ").unwrap_or(("", template));
            let before = before.split("; ").filter(|sql| !sql.is_empty()).map(str::to_owned).collect();
            tried.push((before, last.replace("{}", &line)));
        }
    }
    tried
}

/// A connection to an empty database.
fn open(port: u16) -> Connection {
    let mut connection = Connection::open(port, "").unwrap();
    for sql in ["DROP DATABASE IF EXISTS d", "CREATE DATABASE d", "USE d", "CREATE TABLE c0 (a INT PRIMARY KEY)"] {
        connection.succeed(sql).unwrap();
    }
    connection
}

/// What a statement gives: rows, or the number of its error.
fn answer(connection: &mut Connection, sql: &str) -> Result<String, (u16, String)> {
    let text = |value: &Option<Vec<u8>>| match value {
        None => "NULL".to_owned(),
        Some(bytes) => String::from_utf8_lossy(bytes).into_owned(),
    };
    match connection.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}")) {
        Answer::Failed(code, message) => Err((code, message)),
        Answer::Done(_) => Ok(String::new()),
        Answer::Rows { rows, .. } => {
            let rows: Vec<String> =
                rows.iter().map(|row| row.iter().map(text).collect::<Vec<_>>().join("\t")).collect();
            Ok(rows.join("\n"))
        }
    }
}

/// The levels and numbers of the last statement's warnings, without those of syntax that MySQL is about to give up.
fn warnings(connection: &mut Connection) -> String {
    let Answer::Rows { rows, .. } = connection.query("SHOW WARNINGS").unwrap() else { return String::new() };
    let text = |value: &Option<Vec<u8>>| String::from_utf8_lossy(value.as_deref().unwrap_or_default()).into_owned();
    let warnings = rows.iter().map(|row| format!("{} {}", text(&row[0]), text(&row[1])));
    let kept = warnings.filter(|warning| !DEPRECATED.contains(&warning.as_str()));
    kept.collect::<Vec<_>>().join("\n")
}

/// The same with its warnings and with what became of the table.
fn outcome(connection: &mut Connection, before: &[String], sql: &str) -> Result<String, (u16, String)> {
    before.iter().for_each(|sql| drop(connection.succeed(sql).unwrap()));
    let answered = answer(connection, sql);
    let warned = warnings(connection);
    let is_of_t = !before.is_empty() || sql.starts_with("CREATE TABLE t ");
    let shown = || -> Result<String, (u16, String)> {
        let mut all = vec![answered?, warned];
        if is_of_t {
            for sql in SHOWN {
                all.push(answer(connection, sql)?);
            }
        }
        Ok(all.join("\n"))
    };
    let shown = shown();
    if is_of_t {
        // CREATE TABLE … START TRANSACTION wants its transaction to end.
        ["ROLLBACK", "DROP TABLE IF EXISTS t"].iter().for_each(|sql| drop(connection.succeed(sql).unwrap()));
    }
    shown
}

/// What MySQL says of syntax that it will give up: it works, and nothing is said of it here.
const DEPRECATED: [&str; 2] = ["Warning 1287", "Warning 1681"];

/// 1235: it is not there, and the error says what.
const NOT_SUPPORTED: u16 = 1235;
const SYNTAX: u16 = 1064;

#[test]
fn nothing_is_taken_and_ignored() {
    let server = Server::start("clauses", ServerOptions::default()).unwrap();
    let peer = Peer::start(Kind::Mysql97, "clauses", Duration::ZERO, &[]).unwrap();
    let other = Peer::start(Kind::Maria118, "clauses", Duration::ZERO, &[]).unwrap();
    let (mut ours, mut theirs, mut others) = (open(server.port()), open(peer.port()), open(other.port()));
    // Every table has a primary key here.
    theirs.succeed("SET sql_generate_invisible_primary_key = ON").unwrap();
    let mut declared = Declared::of("clauses");
    for (before, sql) in tried() {
        let label = before.iter().chain([&sql]).map(String::as_str).collect::<Vec<_>>().join("; ");
        let (ours, theirs) = (outcome(&mut ours, &before, &sql), outcome(&mut theirs, &before, &sql));
        let mut others = || {
            before.iter().for_each(|sql| drop(others.query(sql)));
            let answered = answer(&mut others, &sql);
            drop(others.query("DROP TABLE IF EXISTS t"));
            answered
        };
        let is_right = match (&ours, &theirs) {
            (Err((NOT_SUPPORTED, _)), _) => true,
            (Err((ours, _)), Err((theirs, _))) if ours == theirs => true,
            // What only MariaDB has.
            (Ok(_), Err((SYNTAX, _))) => others().is_ok(),
            (Err((ours, _)), Err((SYNTAX, _))) => others().is_err_and(|(theirs, _)| theirs == *ours),
            (ours, theirs) => ours == theirs,
        };
        if !is_right {
            declared.differs(&[&label], || format!("{label}\n  ours:  {ours:?}\n  MySQL: {theirs:?}"));
        }
    }
    declared.check();
}
