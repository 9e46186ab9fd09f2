//! Random statements give the same answers, changes, warnings and errors as MySQL 9.7.
//!
//! A few seeds run with the tests, and a few of window functions. `RANDOM_SQL_SEEDS=100..200` asks others, and `RANDOM_SQL_WILD=1` mixes kinds of values as
//! no program would (of its differences some are known: docs/DIFFERENCES.md); each difference is printed by its seed and the
//! smallest statement that was found to show it, after the CREATE TABLE and INSERT that it needs.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::time::Duration;

use super::random_declared::{is_declared, settled, settled_warning};
use interop::random_sql::{Query, Random, Sql, Tables, change, query, windows};
use interop::{Answer, Client, Connection, Kind, Peer, Server, ServerOptions};

/// Seeds on which nothing of what is known to differ comes up.
const SEEDS: [u64; 24] =
    [2, 12, 17, 21, 33, 41, 43, 48, 54, 58, 103, 104, 105, 108, 120, 127, 128, 141, 144, 149, 236, 256, 286, 291];
/// The same of window functions.
const WINDOW_SEEDS: [u64; 8] = [2, 4, 5, 6, 8, 10, 11, 14];
const STATEMENTS: usize = 60;
const SHRINK_ATTEMPTS: usize = 300;
/// More differences than this are not collected: they have few causes.
const DIFFERENCES_MAX: usize = 300;

const NOT_SUPPORTED: u16 = 1235;

/// How sql_mode is set for a seed.
const SQL_MODES: [&str; 3] = ["DEFAULT", "DEFAULT", "'ONLY_FULL_GROUP_BY'"];

struct Both {
    ours: Connection,
    theirs: Connection,
    /// Where AUTO_INCREMENT goes on.
    numbered: u64,
}

impl Both {
    fn open(ours: &Server, theirs: &Peer) -> Both {
        let open = |client: Client| {
            client.query("DROP DATABASE IF EXISTS r; CREATE DATABASE r").unwrap();
            let mut connection = Connection::open(client.port(), "r").unwrap();
            for sql in ["SET NAMES utf8mb4", "SET timestamp = 1709210096", "SET time_zone = '+00:00'"] {
                connection.query(sql).unwrap();
            }
            connection
        };
        Both { ours: open(ours.client()), theirs: open(theirs.client()), numbered: 0 }
    }

    fn ask(&mut self, sql: &str) -> (Full, Full) {
        (full(&mut self.ours, sql), full(&mut self.theirs, sql))
    }

    fn tell(&mut self, sql: &str) {
        let (ours, theirs) = self.ask(sql);
        assert!(!matches!(ours.answer, Answer::Failed(..)), "{sql}: {ours:?}");
        assert!(!matches!(theirs.answer, Answer::Failed(..)), "{sql}: {theirs:?}");
    }
}

/// An answer with its warnings.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Full {
    pub(crate) answer: Answer,
    /// Level and code, sorted.
    pub(crate) warnings: Vec<String>,
}

fn full(connection: &mut Connection, sql: &str) -> Full {
    let answer = connection.query(sql).unwrap_or_else(|error| panic!("{error}: {sql}"));
    let warned = match &answer {
        Answer::Rows { warnings, .. } => *warnings,
        Answer::Done(done) => done.warnings,
        Answer::Failed(..) => 0,
    };
    let mut warnings = Vec::new();
    if warned > 0
        && let Answer::Rows { rows, .. } = connection.query("SHOW WARNINGS").unwrap()
    {
        let text = |value: &Option<Vec<u8>>| String::from_utf8_lossy(value.as_deref().unwrap_or_default()).into_owned();
        warnings = rows.iter().map(|row| format!("{} {}", text(&row[0]), text(&row[1]))).collect();
        warnings.sort();
    }
    Full { answer, warnings }
}

/// How two answers differ; `None` if they agree.
fn difference(ours: &Full, theirs: &Full, ordered: bool, grouped: bool, exact_warnings: bool) -> Option<&'static str> {
    match (&ours.answer, &theirs.answer) {
        // What is not there says so; and what MySQL does not have (LIMIT in a subquery of IN) may be here.
        (Answer::Failed(NOT_SUPPORTED, _), _) | (_, Answer::Failed(NOT_SUPPORTED, _)) => return None,
        (Answer::Failed(a, _), Answer::Failed(b, _)) => return (settled(*a) != settled(*b)).then_some("error codes"),
        (Answer::Failed(..), _) => return Some("only ours fails"),
        (_, Answer::Failed(..)) => return Some("only theirs fails"),
        (Answer::Rows { rows: a, .. }, Answer::Rows { rows: b, .. }) => {
            if !same_rows(a, b, ordered, grouped) {
                return Some("rows");
            }
        }
        (Answer::Done(a), Answer::Done(b)) => {
            if a.affected_rows != b.affected_rows {
                return Some("affected rows");
            }
            if a.last_insert_id != b.last_insert_id {
                return Some("last insert id");
            }
        }
        _ => return Some("kinds of answer"),
    }
    let kinds = |full: &Full| full.warnings.iter().map(|warning| settled_warning(warning)).collect::<BTreeSet<_>>();
    (exact_warnings && kinds(ours) != kinds(theirs)).then_some("warnings")
}

type Row = Vec<Option<Vec<u8>>>;

fn same_rows(a: &[Row], b: &[Row], ordered: bool, grouped: bool) -> bool {
    if a.len() != b.len() {
        return false;
    }
    let form = |rows: &[Row]| {
        let mut rows: Vec<Row> =
            rows.iter().map(|row| row.iter().map(|value| plain(value, grouped)).collect()).collect();
        if !ordered {
            rows.sort();
        }
        rows
    };
    form(a) == form(b)
}

/// A value without what may differ: the last digits of floating numbers and, where values were grouped, case and accents.
fn plain(value: &Option<Vec<u8>>, grouped: bool) -> Option<Vec<u8>> {
    let bytes = value.as_ref()?;
    let Ok(text) = std::str::from_utf8(bytes) else { return value.clone() };
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    if (digits >= 14 || text.contains('e'))
        && (text.contains(['.', 'e']))
        && let Ok(number) = text.parse::<f64>()
    {
        return Some(format!("{number:.11e}").into_bytes());
    }
    if !grouped {
        return value.clone();
    }
    let folded = text.trim_end().to_lowercase().replace('é', "e").replace('ß', "ss");
    Some(folded.into_bytes())
}

fn show(full: &Full) -> String {
    let text = |value: &Option<Vec<u8>>| match value {
        None => "NULL".to_owned(),
        Some(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => format!("{text:?}"),
            Err(_) => format!("{bytes:02x?}"),
        },
    };
    let mut out = String::new();
    match &full.answer {
        Answer::Rows { rows, .. } => {
            for row in rows.iter().take(6) {
                let _ = write!(out, "({}) ", row.iter().map(text).collect::<Vec<_>>().join(", "));
            }
            let _ = write!(out, "{} rows", rows.len());
        }
        Answer::Done(done) => {
            let _ = write!(out, "{} rows affected, last id {}", done.affected_rows, done.last_insert_id);
        }
        Answer::Failed(code, message) => {
            let _ = write!(out, "ERROR {code} {message}");
        }
    }
    if !full.warnings.is_empty() {
        let _ = write!(out, " warnings {:?}", &full.warnings[..full.warnings.len().min(6)]);
    }
    out
}

/// Rows on which answers differ, only.
fn report(seed: u64, what: &str, sql: &str, ours: &Full, theirs: &Full) -> String {
    let (mut ours, mut theirs) = (ours.clone(), theirs.clone());
    if let (Answer::Rows { rows: a, .. }, Answer::Rows { rows: b, .. }) = (&mut ours.answer, &mut theirs.answer) {
        let (first, second) = (a.clone(), b.clone());
        a.retain(|row| !second.contains(row));
        b.retain(|row| !first.contains(row));
        only_differing_columns(a, b);
    }
    format!("seed {seed}, {what}: {sql}\n  ours:  {}\n  MySQL: {}", show(&ours), show(&theirs))
}

/// Of wide rows that differ in few columns, the key and those.
fn only_differing_columns(a: &mut [Row], b: &mut [Row]) {
    const WIDE: usize = 6;
    if a.len() != b.len() || a.first().is_none_or(|row| row.len() < WIDE) {
        return;
    }
    let differs = |at: usize| at == 0 || a.iter().zip(&*b).any(|(a, b)| a[at] != b[at]);
    let kept: Vec<usize> = (0..a[0].len()).filter(|&at| differs(at)).collect();
    for row in a.iter_mut().chain(b) {
        *row = kept.iter().map(|&at| row[at].clone()).collect();
    }
}

fn check_query(both: &mut Both, seed: u64, query: Query, found: &mut Vec<String>) {
    let Query { sql, ordered, grouped } = query;
    let mut differs = |sql: &str| {
        let (ours, theirs) = both.ask(sql);
        difference(&ours, &theirs, ordered, grouped, false).filter(|_| !is_declared(sql, &ours, &theirs))
    };
    let Some(kind) = differs(&sql.to_string()) else { return };
    let smallest = sql.shrink(SHRINK_ATTEMPTS, |sql| differs(sql) == Some(kind)).to_string();
    let (ours, theirs) = both.ask(&smallest);
    found.push(report(seed, kind, &smallest, &ours, &theirs));
}

/// Runs a change and compares what it says and what it did; ends with it in force if all agrees, else without it.
fn check_change(both: &mut Both, tables: &Tables, seed: u64, sql: Sql, found: &mut Vec<String>) {
    let mut differs = |sql: &str, end: &str| -> Option<(&'static str, Full, Full)> {
        if let Some((_, rest)) = sql.split_once(" INTO t") {
            // How many numbers a statement takes that it does not use is each server's own affair.
            both.numbered += 1000;
            both.tell(&format!("ALTER TABLE t{} AUTO_INCREMENT = {}", &rest[..1], both.numbered));
        }
        both.tell("START TRANSACTION");
        let (ours, theirs) = both.ask(sql);
        if let Some(kind) = difference(&ours, &theirs, true, false, true) {
            both.tell("ROLLBACK");
            return (!is_declared(sql, &ours, &theirs)).then_some((kind, ours, theirs));
        }
        if let Some((ours, theirs)) = contents_differ(both, tables) {
            both.tell("ROLLBACK");
            return Some(("contents", ours, theirs));
        }
        both.tell(end);
        None
    };
    let Some((kind, ours, theirs)) = differs(&sql.to_string(), "COMMIT") else { return };
    let mut last = (ours, theirs);
    let smallest = sql.shrink(SHRINK_ATTEMPTS, |sql| match differs(sql, "ROLLBACK") {
        Some((other, ours, theirs)) if other == kind => {
            last = (ours, theirs);
            true
        }
        _ => false,
    });
    found.push(report(seed, kind, &smallest.to_string(), &last.0, &last.1));
}

fn contents_differ(both: &mut Both, tables: &Tables) -> Option<(Full, Full)> {
    let mut all = tables.contents().map(|contents| both.ask(&contents));
    all.find(|(ours, theirs)| difference(ours, theirs, true, false, false).is_some())
}

fn run_seed(both: &mut Both, seed: u64, of_windows: bool, found: &mut Vec<String>) -> usize {
    let mut random = Random::new(seed);
    if std::env::var_os("RANDOM_SQL_WILD").is_some() {
        random = random.wild();
    }
    let mode = SQL_MODES[random.below(SQL_MODES.len())];
    let tables = Tables::new(&mut random);
    both.tell("SET sql_mode = DEFAULT");
    both.tell("DROP TABLE IF EXISTS t0, t1, t2");
    for sql in tables.setup() {
        let (ours, theirs) = both.ask(sql);
        if let Some(kind) = difference(&ours, &theirs, true, false, true) {
            found.push(report(seed, kind, sql, &ours, &theirs));
        }
    }
    if let Some((ours, theirs)) = contents_differ(both, &tables) {
        found.push(report(seed, "first contents", &tables.setup().join(";\n    "), &ours, &theirs));
        return 1;
    }
    both.tell(&format!("SET sql_mode = {mode}"));
    let before = found.len();
    for _ in 0..STATEMENTS {
        if found.len() >= DIFFERENCES_MAX {
            break;
        }
        match random.below(4) {
            _ if of_windows => check_query(both, seed, windows(&tables, &mut random), found),
            0 => check_change(both, &tables, seed, change(&tables, &mut random), found),
            _ => check_query(both, seed, query(&tables, &mut random), found),
        }
    }
    if found.len() > before {
        let setup = tables.setup().join(";\n    ");
        found.push(format!("  seed {seed} has sql_mode {mode} and\n    {setup}"));
    }
    STATEMENTS
}

fn seeds(usual: &[u64]) -> Vec<u64> {
    let Ok(text) = std::env::var("RANDOM_SQL_SEEDS") else { return usual.to_vec() };
    let (from, to) = text.split_once("..").expect("RANDOM_SQL_SEEDS=FROM..TO");
    (from.parse().unwrap()..to.parse().unwrap()).collect()
}

#[test]
fn same_answers_to_random_statements() {
    check_seeds("random", &SEEDS, false);
}

#[test]
fn same_answers_to_random_windows() {
    check_seeds("windows", &WINDOW_SEEDS, true);
}

fn check_seeds(name: &str, usual: &[u64], of_windows: bool) {
    let server = Server::start(name, ServerOptions::default()).unwrap();
    let peer = Peer::start(Kind::Mysql97, name, Duration::ZERO, &[]).unwrap();
    let mut both = Both::open(&server, &peer);
    let (mut found, mut compared) = (Vec::new(), 0);
    for seed in seeds(usual) {
        compared += run_seed(&mut both, seed, of_windows, &mut found);
    }
    assert!(found.is_empty(), "{} differences in {compared} statements:\n{}", found.len(), found.join("\n"));
    assert!(compared >= STATEMENTS, "statements ran");
}
