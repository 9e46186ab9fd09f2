//! What transactions cost on this machine: a database of its own, in a folder that goes again, executes some.
//!
//! Updates of one row and of many, without a sync and with one. Two equations give the cost of a transaction and that of a row; the
//! difference that a sync makes is its cost. Each is the best of a few runs: what else the machine does only adds.

use std::time::{Duration, Instant};

use analyze::Options;
use commuter::{Connection, Database};
use server::ServeOptions;

use crate::cli::CommandError;

const ROWS: u64 = 2000;
const MANY: u64 = 20;
const RUNS: usize = 3;
const TRANSACTIONS: u64 = 2000;
const SYNCS: u64 = 200;

/// Measures.
pub(super) fn measure() -> Result<Options, CommandError> {
    let folder = std::env::temp_dir().join(format!("commuter-calibrate-{}", std::process::id()));
    let measured = measure_in(&folder);
    // What is left behind is in a folder for what is temporary.
    let _ = std::fs::remove_dir_all(&folder);
    measured
}

fn measure_in(folder: &std::path::Path) -> Result<Options, CommandError> {
    let options = ServeOptions { datadir: folder.to_owned(), ..ServeOptions::default() };
    let database = Database::open_with(&options)?;
    let mut connection = database.connect()?;
    for statement in
        ["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, n BIGINT NOT NULL, s CHAR(100) NOT NULL)"]
    {
        connection.query(statement)?;
    }
    let rows: Vec<String> = (0..ROWS).map(|id| format!("({id}, 0, 'x')")).collect();
    connection.query(&format!("INSERT INTO d.t VALUES {}", rows.join(", ")))?;
    connection.query("SET GLOBAL sync_binlog = 0")?;
    let one = best(|| updates(&mut connection, TRANSACTIONS, 1))?;
    let many = best(|| updates(&mut connection, TRANSACTIONS / MANY, MANY))?;
    connection.query("SET GLOBAL sync_binlog = 1")?;
    let synced = best(|| updates(&mut connection, SYNCS, 1))?;
    drop(connection);
    database.close()?;
    let micros = |time: Duration| time.as_secs_f64() * 1e6;
    let row_cost = ((micros(many) - micros(one)) / (MANY - 1) as f64).max(0.0);
    Ok(Options {
        transaction_cost: (micros(one) - row_cost).max(0.1),
        row_cost,
        sync_cost: (micros(synced) - micros(one)).max(0.0),
    })
}

fn best(mut run: impl FnMut() -> Result<Duration, CommandError>) -> Result<Duration, CommandError> {
    let mut best = Duration::MAX;
    for _ in 0..RUNS {
        best = best.min(run()?);
    }
    Ok(best)
}

/// The time of one of so many transactions with so many rows each.
fn updates(connection: &mut Connection, transactions: u64, rows: u64) -> Result<Duration, CommandError> {
    let begin = Instant::now();
    for number in 0..transactions {
        let first = number * 7919 % (ROWS - rows);
        connection.query(&format!("UPDATE d.t SET n = n + 1 WHERE id BETWEEN {first} AND {}", first + rows - 1))?;
    }
    Ok(begin.elapsed() / transactions as u32)
}
