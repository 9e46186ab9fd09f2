//! The scripts of `interop/sql` give the same answers, errors and warnings as MySQL 9.7.
//!
//! The peer is the expectation: nothing is written down that could grow stale. A line on which we differ on purpose
//! is listed in `interop/sql/differences.txt` with its reason.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::Duration;

use interop::{Client, Kind, Peer, Server, ServerOptions, workspace_root};

/// Lines of output that are allowed to differ, as `script: statement`.
fn known_differences() -> Vec<String> {
    let text = fs::read_to_string(workspace_root().join("interop/sql/differences.txt")).unwrap();
    text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).map(str::to_owned).collect()
}

fn statements(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().filter(|line| !line.starts_with("--") && !line.is_empty()).map(str::to_owned).collect()
}

/// Answers of one server, one text per statement.
fn answers(client: &Client, script: &Path) -> Vec<String> {
    client.query("DROP DATABASE IF EXISTS d; CREATE DATABASE d").unwrap();
    let statements = statements(script);
    let marked: Vec<String> = statements.iter().map(|sql| format!("{sql}\nSELECT 'end of answer' AS ``;\n")).collect();
    let output = client.script("d", &marked.concat()).unwrap();
    let parts: Vec<String> = output.split("end of answer\n").map(strip_line_numbers).collect();
    assert_eq!(parts.len(), statements.len() + 1, "{}: one answer per statement:\n{output}", script.display());
    parts
}

/// `ERROR 1054 (42S22) at line 7: …` without the number of the line, and without the statement that the client repeats
/// before an error that came before any column.
fn strip_line_numbers(answer: &str) -> String {
    let rule = "--------------\n";
    let answer = match answer.strip_prefix(rule).and_then(|rest| rest.split_once(rule)) {
        Some((_, rest)) => rest.trim_start(),
        None => answer,
    };
    let line = |line: &str| match (line.find(" at line "), line.starts_with("ERROR")) {
        (Some(at), true) => match line[at..].find(": ") {
            Some(end) => format!("{}{}", &line[..at], &line[at + end..]),
            None => line.to_owned(),
        },
        _ => line.to_owned(),
    };
    answer.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn same_answers_as_mysql() {
    let ours = Server::start("answers", ServerOptions::default()).unwrap();
    let peer = Peer::start(Kind::Mysql97, "answers", Duration::ZERO, &[]).unwrap();
    let known = known_differences();
    let mut differences = Vec::new();
    let mut used = BTreeSet::new();
    let mut compared = 0;
    let mut scripts: Vec<_> = fs::read_dir(workspace_root().join("interop/sql"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "sql"))
        .collect();
    scripts.sort();
    for script in scripts {
        let name = script.file_stem().unwrap().to_string_lossy().into_owned();
        let (a, b) = (answers(&ours.client(), &script), answers(&peer.client(), &script));
        for ((sql, ours), theirs) in statements(&script).iter().zip(&a).zip(&b) {
            compared += 1;
            let label = format!("{name}: {sql}");
            if ours == theirs {
                continue;
            }
            if known.contains(&label) {
                used.insert(label);
            } else {
                differences.push(format!("{label}\n  ours:  {ours}\n  MySQL: {theirs}"));
            }
        }
    }
    let stale = known.iter().filter(|label| !used.contains(*label));
    differences.extend(stale.map(|label| format!("{label}\n  is listed as different and is not")));
    assert!(compared > 300, "the scripts ran");
    assert!(differences.is_empty(), "{} of {compared} differ:\n{}", differences.len(), differences.join("\n"));
}
