//! The queries of TPC-H, each on all servers in turn: its rows are compared, its time and the server's CPU are printed.
//!
//! It is no result of TPC-H, which has rules of its own: the data are made here by the specification's description, and nothing is refreshed.

mod data;
mod queries;

use std::collections::BTreeMap;

use interop::{Connection, Result};

use super::statements::{Statement, compare, start_loaded};
use super::works::Work;
use super::{BenchArguments, Contender};
use data::{Generator, TABLES};
use queries::QUERIES;

/// Bytes of rows in one INSERT.
const INSERT_BYTES: usize = 256 << 10;
/// Statements of one transaction.
const INSERTS_AT_ONCE: usize = 16;

pub(crate) fn run(work: &Work, arguments: &BenchArguments) -> Result<()> {
    let contenders =
        start_loaded("tpch", arguments, |contender, connection| load(contender, connection, arguments.scale))?;
    println!(
        "{} | scale {}, medians of {} rounds: ms (ms of the server's CPU)",
        work.name, arguments.scale, arguments.rounds
    );
    let is_asked = |number: usize| arguments.queries.is_empty() || arguments.queries.contains(&number);
    let queries = QUERIES.iter().zip(1..).filter(|(_, number)| is_asked(*number));
    let statements: Vec<Statement> =
        queries.map(|(query, number)| Statement::new(&format!("Q{number}"), query)).collect();
    compare(&statements, "tpch", arguments, &contenders)
}

/// Makes and fills the tables. Peers collect statistics; ours has to do without, unless it is asked for.
fn load(contender: &Contender, connection: &mut Connection, scale: f64) -> Result<()> {
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
