//! The statement fuzzer: statements of a grammar, as an ordinary account sends them, against a server whose statements are bounded in
//! memory and time. Nothing that they ask for may end the server, a connection without an answer, or its bounds.

use std::fs;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::grammar::{Grammar, Size, broken};
use crate::random_sql::Random;
use crate::{Answer, Connection, Result, Server, ServerOptions, peak_kib, resident_kib, workspace_root};

/// Clients that send statements at the same time.
const CLIENTS: u64 = 3;
/// What a connection may have, in bytes.
const CONNECTION_BYTES: u64 = 32 << 20;
/// What a server takes besides its connections, in KiB: its caches, and what its allocator keeps.
const SERVER_KIB: u64 = 400 << 10;
/// By so many KiB the server may have grown while it was fuzzed, all that was made being gone.
const GROWTH_KIB: u64 = 96 << 10;
/// For so long statements are sent before what was made goes.
const ROUND: Duration = Duration::from_secs(20);
/// Statements of a session.
const SESSION_STATEMENTS: usize = 40;
/// Of a statement that failed, so much is printed.
const SHOWN_BYTES: usize = 2000;

const SETTINGS: &[&str] = &[
    "connection_memory_limit=33554432",
    "max_statement_time=2",
    "max_execution_time=2000",
    "innodb_lock_wait_timeout=1",
    "lock_wait_timeout=1",
    "innodb_buffer_pool_size=32M",
    "memtable_size=16M",
    "temptable_max_ram=16M",
    "max_binlog_size=67108864",
    "sql_select_limit=1000",
];

/// What the statements find.
const SETUP: &[&str] = &[
    "DROP DATABASE IF EXISTS f",
    "CREATE DATABASE f",
    "CREATE TABLE f.t (a INT PRIMARY KEY, b INT, c VARCHAR(100), j JSON, KEY (b), KEY (c))",
    "CREATE TABLE f.u (a INT PRIMARY KEY AUTO_INCREMENT, b DECIMAL(20, 5), c TEXT, j DATETIME(3), FOREIGN KEY (a) REFERENCES f.t (a) ON DELETE CASCADE)",
    "INSERT INTO f.t VALUES (1, 2, 'x', '[1, {\"a\": 2}]'), (2, 2, 'ä', NULL), (3, NULL, '2024-01-31', '\"s\"'), (7, 100, '', '1.5')",
    "INSERT INTO f.u VALUES (1, 1.5, 'y', '2024-02-29 12:34:56.789'), (3, NULL, NULL, NULL)",
];

/// Sends statements for so long; the seed says which. What it did is printed.
///
/// # Errors
/// If the server ended, panicked, closed a connection without an answer, took more memory than its bounds, or kept what it took: with the
/// statement, which is also in a file, and the seed.
pub fn fuzz_statements(length: Duration, seed: u64) -> Result<()> {
    let server = Server::start("fuzz", ServerOptions::with_settings(SETTINGS))?;
    server.client().query("CREATE USER fuzz; GRANT ALL ON f.* TO fuzz")?;
    let (start, mut counts, mut round, mut kept) = (Instant::now(), Counts::default(), 0, None);
    while start.elapsed() < length {
        for sql in SETUP {
            server.client().query(sql)?;
        }
        let until = Instant::now() + ROUND.min(length.saturating_sub(start.elapsed()));
        let clients: Vec<Fuzzer> = (0..CLIENTS).map(|client| Fuzzer::new(seed + round * CLIENTS + client)).collect();
        let results = std::thread::scope(|scope| {
            let run = |mut client: Fuzzer| {
                let server = &server;
                scope.spawn(move || client.run(server, until).map(|()| client.counts))
            };
            let running: Vec<_> = clients.into_iter().map(run).collect();
            running
                .into_iter()
                .map(|thread| thread.join().map_err(|_| "a client panicked".to_owned())?)
                .collect::<Vec<_>>()
        });
        for result in results {
            counts.add(result.map_err(|error| format!("{error}\n\n{}", end_of_log(&server)))?);
        }
        // They are there without their clients, with their locks.
        Connection::open(server.port(), "")?.roll_back_prepared()?;
        server.client().query("DROP DATABASE f; FLUSH BINARY LOGS; PURGE BINARY LOGS BEFORE NOW()")?;
        let now = resident_kib(server.pid())?;
        round += 1;
        println!("{:.0?}: {counts}; {} MiB", start.elapsed(), now >> 10);
        // The first rounds fill the caches.
        let before = *kept.get_or_insert(if round < 3 { continue } else { now });
        if now > before + GROWTH_KIB {
            return Err(format!("seed {seed}: {now} KiB are resident, {before} were"));
        }
    }
    server.client().query("SELECT 1").map(drop)
}

/// What was sent, and what came of it.
#[derive(Debug, Default)]
struct Counts {
    statements: u64,
    answered: u64,
    bounded: u64,
}

impl Counts {
    fn add(&mut self, other: Counts) {
        self.statements += other.statements;
        self.answered += other.answered;
        self.bounded += other.bounded;
    }
}

impl std::fmt::Display for Counts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Counts { statements, answered, bounded } = self;
        write!(f, "{statements} statements, {answered} without an error, {bounded} ended by a bound")
    }
}

/// One client.
struct Fuzzer {
    seed: u64,
    random: Random,
    grammar: Grammar,
    counts: Counts,
}

impl Fuzzer {
    fn new(seed: u64) -> Self {
        Fuzzer { seed, random: Random::new(seed), grammar: Grammar::default(), counts: Counts::default() }
    }

    fn run(&mut self, server: &Server, until: Instant) -> Result<()> {
        while Instant::now() < until {
            let mut connection = Connection::open_as(server.port(), "fuzz", "f")
                .map_err(|error| format!("seed {}: the server accepts no login: {error}", self.seed))?;
            // What a session has come to (a distributed transaction, tables that are locked) refuses most of what follows.
            for _ in 0..SESSION_STATEMENTS {
                let statement = self.statement();
                self.counts.statements += 1;
                let is_over = Instant::now() >= until;
                if is_over || self.send(server, &mut connection, &statement)?.is_break() {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Most are small, so that many are right and of all kinds; each twentieth is as large as a power of two.
    fn statement(&mut self) -> Vec<u8> {
        let size = match self.random.below(20) {
            0 => {
                let power = self.random.below(15);
                Size { depth: 6 << power, width: 2 << self.random.below(15), bytes: 100 << power }
            }
            _ => Size { depth: 4 + self.random.below(8), width: 4, bytes: 600 },
        };
        let text = self.grammar.statement(&mut self.random, size);
        if self.random.chance(10) { broken(&text, &mut self.random) } else { text.into_bytes() }
    }

    /// Whether the connection is there afterwards.
    fn send(&mut self, server: &Server, connection: &mut Connection, statement: &[u8]) -> Result<ControlFlow<()>> {
        let went_on = match connection.query_bytes(statement) {
            Ok(Answer::Failed(1815, message)) => return Err(self.failed(&message, statement)),
            // The connection is closed with these.
            Ok(Answer::Failed(4081 | 4082, _)) => {
                self.counts.bounded += 1;
                ControlFlow::Break(())
            }
            Ok(Answer::Failed(1317 | 1436 | 1473 | 1969 | 3024 | 4169, _)) => {
                self.counts.bounded += 1;
                ControlFlow::Continue(())
            }
            // By KILL of this connection, which statements may do.
            Ok(Answer::Failed(1053 | 1927, _)) => ControlFlow::Break(()),
            Ok(Answer::Failed(..)) => ControlFlow::Continue(()),
            Ok(Answer::Rows { .. } | Answer::Done(_)) => {
                self.counts.answered += 1;
                ControlFlow::Continue(())
            }
            Err(error) => return Err(self.failed(&error, statement)),
        };
        let peak = peak_kib(server.pid()).map_err(|error| self.failed(&error, statement))?;
        if peak > SERVER_KIB + CLIENTS * (CONNECTION_BYTES >> 10) {
            return Err(self.failed(&format!("the server has {peak} KiB"), statement));
        }
        Ok(went_on)
    }

    fn failed(&self, why: &str, statement: &[u8]) -> String {
        let file = failing_file(self.seed);
        let kept = fs::create_dir_all(file.parent().unwrap_or(&file)).and_then(|()| fs::write(&file, statement));
        let place = kept.map_or_else(|error| error.to_string(), |()| file.display().to_string());
        let shown = String::from_utf8_lossy(&statement[..statement.len().min(SHOWN_BYTES)]);
        format!("seed {}: {why}\n{shown}\n(the whole statement: {place})", self.seed)
    }
}

fn failing_file(seed: u64) -> PathBuf {
    workspace_root().join(format!("target/fuzz/statement-{seed}.sql"))
}

fn end_of_log(server: &Server) -> String {
    let log = server.log();
    let lines: Vec<&str> = log.lines().collect();
    lines[lines.len().saturating_sub(30)..].join("\n")
}
