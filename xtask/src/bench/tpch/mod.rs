//! The queries of TPC-H, each on all servers in turn: its rows are compared, its time and the server's CPU are printed.
//!
//! It is no result of TPC-H, which has rules of its own: the data are made here by the specification's description, and nothing is refreshed.

mod data;
mod queries;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::{Duration, Instant};

use interop::{Answer, Connection, Peer, Result, Server, ServerOptions};

use super::report::{cpu_time, median};
use super::works::Work;
use super::{BenchArguments, Contender, our_options, settle};
use data::{Generator, TABLES};
use queries::QUERIES;

/// A statement that takes longer is given up.
const PATIENCE: Duration = Duration::from_secs(300);
/// Bytes of rows in one INSERT.
const INSERT_BYTES: usize = 256 << 10;
/// Statements of one transaction.
const INSERTS_AT_ONCE: usize = 16;

pub(crate) fn run(work: &Work, arguments: &BenchArguments) -> Result<()> {
    let contenders = start(arguments)?;
    for contender in &contenders {
        let began = Instant::now();
        load(contender, arguments.scale)?;
        println!("    {}: loaded in {:.1} s", contender.name(), began.elapsed().as_secs_f64());
    }
    settle(&contenders)?;
    println!(
        "{} | scale {}, medians of {} rounds: ms (ms of the server's CPU)",
        work.name, arguments.scale, arguments.rounds
    );
    let mut sums = vec![(0.0, 0.0); contenders.len()];
    let is_asked = |number: usize| arguments.queries.is_empty() || arguments.queries.contains(&(number + 1));
    for (number, query) in QUERIES.iter().enumerate().filter(|(number, _)| is_asked(*number)) {
        let figures = measure(query, arguments.rounds, &contenders)?;
        print_query(number + 1, &contenders, &figures);
        if arguments.explain {
            println!("{}", plan(query, &contenders[0])?);
        }
        for (sum, Figures { wall_ms, cpu_ms, .. }) in sums.iter_mut().zip(&figures) {
            *sum = (sum.0 + wall_ms, sum.1 + cpu_ms);
        }
    }
    for (contender, (wall_ms, cpu_ms)) in contenders.iter().zip(sums) {
        println!("    all of {}: {wall_ms:.0} ms ({cpu_ms:.0} ms)", contender.name());
    }
    Ok(())
}

fn start(arguments: &BenchArguments) -> Result<Vec<Contender>> {
    let mut contenders = vec![Contender::Ours(Server::start("bench-tpch", our_options(arguments))?)];
    if let Some(binary) = &arguments.beside {
        let options = ServerOptions { binary: Some(binary.clone()), ..our_options(arguments) };
        contenders.push(Contender::Ours(Server::start("bench-tpch-other", options)?));
    }
    for kind in arguments.kinds() {
        contenders.push(Contender::Peer(Peer::start_large(kind, "bench-tpch", Duration::ZERO, &[])?));
    }
    Ok(contenders)
}

/// Makes and fills the tables. Peers collect statistics; ours has to do without, unless it is asked for.
fn load(contender: &Contender, scale: f64) -> Result<()> {
    interop::Client::tcp(contender.port()).query("DROP DATABASE IF EXISTS tpch; CREATE DATABASE tpch")?;
    let mut connection = Connection::open(contender.port(), "tpch")?;
    connection.set_patience(PATIENCE)?;
    for (name, columns) in TABLES {
        connection.succeed(&format!("CREATE TABLE {name} ({columns})"))?;
    }
    let mut open: BTreeMap<&str, String> = BTreeMap::new();
    let mut inserts = 0;
    connection.succeed("BEGIN")?;
    Generator::new(scale).rows(&mut |table, row| {
        let statement = open.entry(table).or_default();
        let between = if statement.is_empty() { format!("INSERT INTO {table} VALUES ") } else { ",".to_owned() };
        statement.push_str(&between);
        statement.push_str(row);
        if statement.len() > INSERT_BYTES {
            connection.succeed(&std::mem::take(statement))?;
            inserts += 1;
            if inserts % INSERTS_AT_ONCE == 0 {
                connection.succeed("COMMIT")?;
                connection.succeed("BEGIN")?;
            }
        }
        Ok::<(), String>(())
    })?;
    for statement in open.values().filter(|statement| !statement.is_empty()) {
        connection.succeed(statement)?;
    }
    connection.succeed("COMMIT")?;
    if matches!(contender, Contender::Peer(_)) {
        let names: Vec<&str> = TABLES.iter().map(|(name, _)| *name).collect();
        connection.succeed(&format!("ANALYZE TABLE {}", names.join(", ")))?;
    }
    Ok(())
}

/// What a query took on one server.
struct Figures {
    wall_ms: f64,
    cpu_ms: f64,
    /// Its rows, or why there are none.
    rows: std::result::Result<Vec<String>, String>,
}

/// The query on each server in turn, round after round.
fn measure(query: &str, rounds: usize, contenders: &[Contender]) -> Result<Vec<Figures>> {
    let mut walls = vec![Vec::new(); contenders.len()];
    let mut figures: Vec<Figures> =
        contenders.iter().map(|_| Figures { wall_ms: 0.0, cpu_ms: 0.0, rows: Ok(Vec::new()) }).collect();
    for _ in 0..rounds {
        for (at, contender) in contenders.iter().enumerate() {
            let mut connection = Connection::open(contender.port(), "tpch")?;
            connection.set_patience(PATIENCE)?;
            let (began, before) = (Instant::now(), cpu_time(contender.pid())?);
            let answer = connection.query(query);
            walls[at].push(began.elapsed().as_secs_f64() * 1e3);
            figures[at].cpu_ms += (cpu_time(contender.pid())? - before).as_secs_f64() * 1e3 / rounds as f64;
            figures[at].rows = rows_of(answer);
        }
    }
    for (figures, walls) in figures.iter_mut().zip(walls) {
        figures.wall_ms = median(walls);
    }
    Ok(figures)
}

fn plan(query: &str, contender: &Contender) -> Result<String> {
    let answer = Connection::open(contender.port(), "tpch")?.query(&format!("EXPLAIN FORMAT=TREE {query}"));
    Ok(rows_of(answer)?.join("\n"))
}

fn rows_of(answer: Result<Answer>) -> std::result::Result<Vec<String>, String> {
    let text = |value: &Option<Vec<u8>>| {
        value.as_ref().map_or("NULL".to_owned(), |bytes| String::from_utf8_lossy(bytes).into_owned())
    };
    match answer? {
        Answer::Rows { rows, .. } => {
            Ok(rows.iter().map(|row| row.iter().map(text).collect::<Vec<_>>().join("|")).collect())
        }
        Answer::Failed(code, message) => Err(format!("{code} {message}")),
        Answer::Done(_) => Err("no rows".to_owned()),
    }
}

fn print_query(number: usize, contenders: &[Contender], figures: &[Figures]) {
    let mut line = format!("    Q{number:<2}");
    for (contender, figures) in contenders.iter().zip(figures) {
        let _ = write!(line, " | {}: {:8.1} ({:.0})", contender.name(), figures.wall_ms, figures.cpu_ms);
    }
    if let [ours, peers @ ..] = figures {
        let better =
            peers.iter().filter(|peer| peer.rows.is_ok()).map(|peer| peer.wall_ms).fold(f64::INFINITY, f64::min);
        if better.is_finite() {
            let _ = write!(line, " | {:.2} of the better one's time", ours.wall_ms / better);
        }
        let named = contenders.iter().zip(figures).skip(1);
        for (contender, other) in named.filter(|(_, other)| other.rows.is_ok() && other.rows != ours.rows) {
            let _ = write!(line, " | OTHER ROWS than {}", contender.name());
            if let (Ok(ours), Ok(theirs)) = (&ours.rows, &other.rows) {
                let first = ours.iter().zip(theirs).find(|(ours, theirs)| ours != theirs);
                let _ = write!(line, " ({} and {}, first {first:?})", ours.len(), theirs.len());
            }
        }
        match &ours.rows {
            Ok(rows) => drop(write!(line, " | {} rows", rows.len())),
            Err(error) => drop(write!(line, " | {error}")),
        }
    }
    println!("{line}");
}
