//! The queries of TPC-H, each on all servers in turn: its rows are compared, its time and the server's CPU are printed.
//!
//! It is no result of TPC-H, which has rules of its own: the data are made here by the specification's description, and nothing is refreshed.

mod data;
mod queries;

use interop::{Connection, Result};

use super::rows::RowLoader;
use super::statements::{Statement, compare, start_loaded};
use super::works::Work;
use super::{BenchArguments, Contender};
use data::{Generator, TABLES};
use queries::QUERIES;

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

/// Makes and fills the tables.
fn load(contender: &Contender, connection: &mut Connection, scale: f64) -> Result<()> {
    for (name, columns) in TABLES {
        connection.succeed(&format!("CREATE TABLE {name} ({columns})"))?;
    }
    let mut loader = RowLoader::new(connection)?;
    Generator::new(scale).rows(&mut |table, row| loader.add(table, row))?;
    loader.finish(contender)
}
