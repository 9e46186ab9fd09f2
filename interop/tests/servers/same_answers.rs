//! The scripts of `interop/sql` give the same answers, errors and warnings as MySQL 9.7: rows and what describes them, by
//! the text protocol and by the binary one.
//!
//! The peer is the expectation: nothing is written down that could grow stale. What differs on purpose is listed in
//! `interop/sql/differences.txt` with its reason.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use interop::{Answer, Column, Connection, Kind, Peer, Server, ServerOptions, workspace_root};
use wire::flags::{column_type, status};
use wire::reply;

use crate::declared::Declared;

fn scripts() -> Vec<PathBuf> {
    let folder = fs::read_dir(workspace_root().join("interop/sql")).unwrap();
    let mut scripts: Vec<_> = folder.map(|entry| entry.unwrap().path()).collect();
    scripts.retain(|path| path.extension().is_some_and(|extension| extension == "sql"));
    scripts.sort();
    scripts
}

fn statements(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with("--") && !line.is_empty());
    lines.map(|line| line.trim_end_matches(';').to_owned()).collect()
}

/// A connection to an empty database.
fn open(port: u16) -> Connection {
    let mut connection = Connection::open(port, "").unwrap();
    for sql in ["SET NAMES utf8mb4", "DROP DATABASE IF EXISTS d", "CREATE DATABASE d", "USE d"] {
        let answer = connection.query(sql).unwrap();
        assert!(matches!(answer, Answer::Done(_)), "{sql}: {answer:?}");
    }
    connection
}

/// All that one server says to a statement, as parts that are compared one by one.
fn parts(connection: &mut Connection, script: &str, sql: &str) -> Vec<(String, String)> {
    let answer = connection.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    let mut parts = Vec::new();
    let mut part = |name: &str, text: String| parts.push((name.to_owned(), text));
    match &answer {
        Answer::Failed(code, message) => part("error", format!("{code} {message}")),
        Answer::Done(done) => {
            let reply::Done { affected_rows, last_insert_id, status, warnings, info } = done;
            let status = status & (status::IN_TRANS | status::AUTOCOMMIT | status::IN_TRANS_READONLY);
            part(
                "done",
                format!("{affected_rows} rows, id {last_insert_id}, status {status}, {warnings} warnings, {info}"),
            );
        }
        Answer::Rows { columns, rows, warnings } => {
            describe(script, "", sql, columns, &mut part);
            part("rows", shown(rows));
            part("warnings", warnings.to_string());
        }
    }
    // SHOW WARNINGS cannot be prepared on MySQL, and prepared here it would forget what it shows.
    let of_before = ["SHOW WARNINGS", "SHOW ERRORS", "SHOW COUNT"].iter().any(|start| sql.starts_with(start));
    if let Answer::Rows { .. } = answer
        && !of_before
    {
        match connection.execute(sql).unwrap_or_else(|error| panic!("{sql}: {error}")) {
            (prepared, Answer::Rows { columns, rows, .. }) => {
                // What SHOW gives is described when it is executed.
                if !shows(sql) {
                    describe(script, "prepared ", sql, &prepared, &mut part);
                }
                describe(script, "binary ", sql, &columns, &mut part);
                // The bytes of dates and numbers are those of their types, so rows of other types differ.
                if !lists(sql) {
                    part("binary rows", shown(&rows));
                }
            }
            (_, other) => part("prepared", format!("{other:?}")),
        }
    }
    parts
}

/// Whether a statement lists what the server is made of. Of such lists only names and kinds of columns are compared: the rest
/// describes MySQL's dictionary, which they are views of.
fn lists(sql: &str) -> bool {
    shows(sql) || sql.contains("_schema.")
}

fn shows(sql: &str) -> bool {
    ["SHOW", "DESCRIBE", "DESC", "EXPLAIN"].contains(&sql.split(' ').next().unwrap_or_default())
}

fn describe(script: &str, prefix: &str, sql: &str, columns: &[Column], part: &mut impl FnMut(&str, String)) {
    let joined = |line: &dyn Fn(&Column) -> String| columns.iter().map(line).collect::<Vec<_>>().join("\n");
    if lists(sql) {
        part(&format!("{prefix}columns"), joined(&|column| format!("{} {}", column.name, kind(column.ty))));
        return;
    }
    // A result that went through a temporary table has no keys on MySQL, and what made it has no flags of an expression.
    part(
        &format!("{prefix}columns"),
        joined(&|column| {
            let Column { schema, table, name, collation, ty, .. } = column;
            format!("{name} of {schema}.{table}: type {ty} collation {collation}")
        }),
    );
    if ["columns", "strings", "ciphers", "documents", "digests"].contains(&script) {
        part(
            &format!("{prefix}details"),
            joined(&|column| {
                let Column { name, org_table, org_name, flags, decimals, .. } = column;
                format!("{name}: {org_name} of {org_table}, flags {flags}, decimals {decimals}")
            }),
        );
        part(&format!("{prefix}lengths"), joined(&|column| format!("{} {}", column.name, column.length)));
    }
}

fn kind(ty: u8) -> &'static str {
    match ty {
        column_type::DATE | column_type::TIME | column_type::DATETIME | column_type::TIMESTAMP => "time",
        column_type::TINY | column_type::SHORT | column_type::LONG | column_type::LONGLONG | column_type::INT24 => {
            "integer"
        }
        column_type::FLOAT | column_type::DOUBLE | column_type::NEWDECIMAL => "number",
        // A column that is always NULL is text too.
        _ => "text",
    }
}

fn shown(rows: &[Vec<Option<Vec<u8>>>]) -> String {
    let value = |value: &Option<Vec<u8>>| match value {
        None => "NULL".to_owned(),
        Some(bytes) => bytes.escape_ascii().to_string(),
    };
    rows.iter().map(|row| row.iter().map(value).collect::<Vec<_>>().join("\t")).collect::<Vec<_>>().join("\n")
}

/// The lines of two texts that differ.
fn differing_lines(ours: &str, theirs: &str) -> String {
    let mut text = String::new();
    let (a, b): (Vec<&str>, Vec<&str>) = (ours.lines().collect(), theirs.lines().collect());
    for at in 0..a.len().max(b.len()) {
        let (ours, theirs) = (a.get(at).unwrap_or(&"(nothing)"), b.get(at).unwrap_or(&"(nothing)"));
        if ours != theirs {
            let _ = write!(text, "\n  ours:  {ours}\n  MySQL: {theirs}");
        }
    }
    text
}

#[test]
fn same_answers_as_mysql() {
    let ours = Server::start("answers", ServerOptions::default()).unwrap();
    let peer = Peer::start(Kind::Mysql97, "answers", Duration::ZERO, &[]).unwrap();
    // As `script, part: statement`.
    let mut declared = Declared::of("sql");
    let mut compared = 0;
    for script in scripts() {
        let name = script.file_stem().unwrap().to_string_lossy().into_owned();
        let (mut a, mut b) = (open(ours.port()), open(peer.port()));
        for sql in statements(&script) {
            let (ours, theirs) = (parts(&mut a, &name, &sql), parts(&mut b, &name, &sql));
            for (at, (part, ours)) in ours.iter().enumerate() {
                compared += 1;
                let (other, theirs) = theirs.get(at).map_or(("", ""), |(part, text)| (part.as_str(), text.as_str()));
                let label = format!("{name}, {part}: {sql}");
                if (part.as_str(), ours.as_str()) == (other, theirs) {
                    continue;
                }
                declared.differs(&[&label, &format!("{name}, {part}")], || {
                    format!("{label}{}", differing_lines(ours, theirs))
                });
                if part != other {
                    break;
                }
            }
        }
    }
    assert!(compared > 1000, "the scripts ran");
    declared.check();
}
