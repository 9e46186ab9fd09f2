//! Single statements, each on all servers in turn: its rows are compared, its time and the server's CPU are printed.

use std::fmt::Write;
use std::time::{Duration, Instant};

use interop::{Answer, Connection, Peer, Result, Server, ServerOptions};

use super::report::{cpu_time, median};
use super::{BenchArguments, Contender, our_options, settle};

/// A statement that takes longer is given up.
const PATIENCE: Duration = Duration::from_secs(300);

/// What is timed.
pub(super) struct Statement {
    name: String,
    what: What,
    /// Run before it, and not timed; they may fail.
    before: &'static [&'static str],
}

/// What is sent, or run, in the time that is measured.
pub(super) enum What {
    /// A statement, as text.
    Text(String),
    /// A statement, prepared and executed: its rows come in the binary protocol.
    Binary(String),
    /// Statements, one behind the other; the last one's rows are compared.
    All(Vec<String>),
    /// A client's program, told the port.
    Program(Box<dyn Fn(u16) -> Result<String>>),
}

impl What {
    fn run(&self, port: u16, connection: &mut Connection) -> std::result::Result<Vec<String>, String> {
        match self {
            What::Text(sql) => rows_of(connection.query(sql)),
            // Rows are packets here, and compared as such.
            What::Binary(sql) => rows_of(connection.execute(sql).map(|(_, answer)| answer)),
            What::All(statements) => {
                let mut rows = Ok(Vec::new());
                for sql in statements {
                    rows = Ok(rows_of(connection.query(sql))?);
                }
                rows
            }
            What::Program(run) => run(port).map(|_| Vec::new()),
        }
    }

    /// The statement that EXPLAIN can tell of.
    fn explained(&self) -> Option<&str> {
        match self {
            What::Text(sql) | What::Binary(sql) => Some(sql),
            What::All(_) | What::Program(_) => None,
        }
    }
}

impl Statement {
    pub(super) fn new(name: &str, sql: &str) -> Self {
        Statement::of(name, What::Text(sql.to_owned()))
    }

    pub(super) fn of(name: &str, what: What) -> Self {
        Statement { name: name.to_owned(), what, before: &[] }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The same behind other statements, which are not timed.
    pub(super) fn after(self, before: &'static [&'static str]) -> Self {
        Statement { before, ..self }
    }
}

/// All servers with a fresh `database`, which `load` fills over a connection to it.
pub(super) fn start_loaded(
    database: &str,
    arguments: &BenchArguments,
    load: impl Fn(&Contender, &mut Connection) -> Result<()>,
) -> Result<Vec<Contender>> {
    let contenders = start(&format!("bench-{database}"), arguments)?;
    for contender in &contenders {
        let began = Instant::now();
        interop::Client::tcp(contender.port())
            .query(&format!("DROP DATABASE IF EXISTS {database}; CREATE DATABASE {database}"))?;
        load(contender, &mut connect(contender, database)?)?;
        println!("    {}: loaded in {:.1} s", contender.name(), began.elapsed().as_secs_f64());
    }
    settle(&contenders)?;
    Ok(contenders)
}

fn connect(contender: &Contender, database: &str) -> Result<Connection> {
    let mut connection = Connection::open(contender.port(), database)?;
    connection.set_patience(PATIENCE)?;
    Ok(connection)
}

/// Our server, another build if there is one, and the peers.
fn start(name: &str, arguments: &BenchArguments) -> Result<Vec<Contender>> {
    let mut contenders = vec![Contender::Ours(Server::start(name, our_options(arguments))?)];
    if let Some(binary) = &arguments.beside {
        let options = ServerOptions { binary: Some(binary.clone()), ..our_options(arguments) };
        contenders.push(Contender::Ours(Server::start(&format!("{name}-other"), options)?));
    }
    for kind in arguments.kinds() {
        contenders.push(Contender::Peer(Peer::start_large(kind, name, Duration::ZERO, &[])?));
    }
    Ok(contenders)
}

/// Runs and prints all of them; sums and geometric means of the ratios to the better peer at the end.
pub(super) fn compare(
    statements: &[Statement],
    database: &str,
    arguments: &BenchArguments,
    contenders: &[Contender],
) -> Result<()> {
    let mut sums = vec![(0.0, 0.0); contenders.len()];
    let mut all_ratios = Vec::new();
    for statement in statements {
        let figures = measure(statement, database, arguments.rounds, contenders)?;
        print_statement(&statement.name, contenders, &figures);
        if let Some(sql) = statement.what.explained().filter(|_| arguments.explain) {
            println!("{}", plan(sql, database, &contenders[0])?);
        }
        for (sum, Figures { wall_ms, cpu_ms, .. }) in sums.iter_mut().zip(&figures) {
            *sum = (sum.0 + wall_ms, sum.1 + cpu_ms);
        }
        all_ratios.extend(ratios(&figures).map(|ratio| (statement.name.as_str(), ratio)));
    }
    for (contender, (wall_ms, cpu_ms)) in contenders.iter().zip(sums) {
        println!("    all of {}: {wall_ms:.0} ms ({cpu_ms:.0} ms)", contender.name());
    }
    print_ratios(&all_ratios);
    Ok(())
}

/// Means and median of the statements' ratios in time and CPU, and which of them are slow.
fn print_ratios(ratios: &[(&str, (f64, f64))]) {
    /// Below it a statement is named.
    const SLOW: f64 = 0.7;
    if ratios.is_empty() {
        return;
    }
    let mean = |of: fn(&(f64, f64)) -> f64| {
        (ratios.iter().map(|(_, ratio)| of(ratio).ln()).sum::<f64>() / ratios.len() as f64).exp()
    };
    let (wall, cpu) = (mean(|ratio| ratio.0), mean(|ratio| ratio.1));
    let median = median(ratios.iter().map(|(_, (wall, _))| *wall).collect());
    println!(
        "    beside the better one: geometric means {wall:.2} in time, {cpu:.2} in CPU; median {median:.2} in time"
    );
    let slow = ratios.iter().filter(|(_, (wall, _))| *wall < SLOW).map(|(name, _)| *name);
    println!("    below {SLOW}: {}", slow.collect::<Vec<_>>().join(", "));
}

/// What a statement took on one server.
struct Figures {
    wall_ms: f64,
    cpu_ms: f64,
    /// Its rows, or why there are none.
    rows: std::result::Result<Vec<String>, String>,
}

/// The statement on each server in turn, round after round.
fn measure(statement: &Statement, database: &str, rounds: usize, contenders: &[Contender]) -> Result<Vec<Figures>> {
    let mut walls = vec![Vec::new(); contenders.len()];
    let mut figures: Vec<Figures> =
        contenders.iter().map(|_| Figures { wall_ms: 0.0, cpu_ms: 0.0, rows: Ok(Vec::new()) }).collect();
    for _ in 0..rounds {
        for (at, contender) in contenders.iter().enumerate() {
            let mut connection = connect(contender, database)?;
            for before in statement.before {
                connection.query(before)?;
            }
            let (began, before) = (Instant::now(), cpu_time(contender.pid())?);
            let rows = statement.what.run(contender.port(), &mut connection);
            walls[at].push(began.elapsed().as_secs_f64() * 1e3);
            figures[at].cpu_ms += (cpu_time(contender.pid())? - before).as_secs_f64() * 1e3 / rounds as f64;
            figures[at].rows = rows;
        }
    }
    for (figures, walls) in figures.iter_mut().zip(walls) {
        figures.wall_ms = median(walls);
    }
    Ok(figures)
}

fn plan(query: &str, database: &str, contender: &Contender) -> Result<String> {
    let answer = Connection::open(contender.port(), database)?.query(&format!("EXPLAIN FORMAT=TREE {query}"));
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
        Answer::Done(_) => Ok(Vec::new()),
    }
}

fn print_statement(name: &str, contenders: &[Contender], figures: &[Figures]) {
    let mut line = format!("    {name:<18}");
    for (contender, figures) in contenders.iter().zip(figures) {
        let _ = write!(line, " | {}: {:8.1} ({:.0})", contender.name(), figures.wall_ms, figures.cpu_ms);
    }
    if let Some((wall, cpu)) = ratios(figures) {
        let _ = write!(line, " | {wall:.2} ({cpu:.2})");
    }
    if let [ours, ..] = figures {
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

/// How often our time, and our CPU, goes into that of the better peer.
fn ratios(figures: &[Figures]) -> Option<(f64, f64)> {
    let (ours, peers) = figures.split_first()?;
    let least =
        |of: fn(&Figures) -> f64| peers.iter().filter(|peer| peer.rows.is_ok()).map(of).fold(f64::INFINITY, f64::min);
    // A tick of the server's clock of CPU is 10 ms.
    let tick = 10.0 / 3.0;
    let (wall, cpu) = (least(|peer| peer.wall_ms), least(|peer| peer.cpu_ms));
    wall.is_finite().then(|| (wall / ours.wall_ms, cpu.max(tick) / ours.cpu_ms.max(tick)))
}
