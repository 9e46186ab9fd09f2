//! The queries of TPC-DS, each on all servers in turn: its rows are compared, its time and the server's CPU are printed.
//!
//! Data and queries are DuckDB's (`interop/python/tpcds.py`), which has the specification's generator and the texts with their default
//! parameters. It is no result of TPC-DS, which has rules of its own.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::Path;

use interop::{Connection, Result, peers_home, tpcds_into};

use super::rows::RowLoader;
use super::statements::{Statement, compare, start_loaded};
use super::works::Work;
use super::{BenchArguments, Contender};

/// Queries of the specification.
const QUERIES: usize = 99;

pub(crate) fn run(work: &Work, arguments: &BenchArguments) -> Result<()> {
    let folder = peers_home().join(format!("tpcds-{}", arguments.scale));
    tpcds_into(&folder, arguments.scale)?;
    let contenders = start_loaded("tpcds", arguments, |contender, connection| load(contender, connection, &folder))?;
    println!(
        "{} | scale {}, medians of {} rounds: ms (ms of the server's CPU)",
        work.name, arguments.scale, arguments.rounds
    );
    let is_asked = |number: &usize| arguments.queries.is_empty() || arguments.queries.contains(number);
    let statement = |number: usize| {
        let query = read(&folder.join(format!("{number}.sql")))?;
        Ok(Statement::new(&format!("Q{number}"), &query))
    };
    let statements: Vec<Statement> = (1..=QUERIES).filter(is_asked).map(statement).collect::<Result<_>>()?;
    compare(&statements, "tpcds", arguments, &contenders)
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// Makes and fills the tables.
fn load(contender: &Contender, connection: &mut Connection, folder: &Path) -> Result<()> {
    let schema = read(&folder.join("schema.sql"))?;
    for definition in schema.lines() {
        connection.succeed(definition)?;
    }
    let mut loader = RowLoader::new(connection)?;
    for table in schema.lines().filter_map(|definition| definition.split(' ').nth(2)) {
        let path = folder.join(format!("{table}.rows"));
        let named = |error: std::io::Error| format!("{}: {error}", path.display());
        for row in BufReader::new(File::open(&path).map_err(named)?).lines() {
            loader.add(table, &row.map_err(named)?)?;
        }
    }
    loader.finish(contender)
}
