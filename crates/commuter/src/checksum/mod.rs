//! `commuter checksum`: what is in the tables of a server, in one number per table; and whether two servers have the same.
//!
//! ```text
//!   one server, or others than ours     every row is read             (values)
//!   two of ours                         the sums in their trees,      (sums)
//!                                       as of one moment              (moment)
//! ```
//! Sums are compared where both servers define a table alike; where they do not, rows are read.

mod moment;
mod report;
mod sums;
mod values;

use std::collections::BTreeSet;
use std::fmt;
use std::process::ExitCode;

use commuter::client::{Client, ClientError};
use server::url::ServerUrl;

use crate::cli::{Checksum, CommandResult};
use report::{Compared, Report};

/// Databases that describe the server itself.
const SYSTEM_DATABASES: [&str; 4] = ["information_schema", "mysql", "performance_schema", "sys"];

/// What a table holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sum {
    rows: u64,
    hash: u64,
}

/// A table, by its database and name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Table {
    database: String,
    name: String,
}

impl Table {
    /// As it is written in a statement.
    fn quoted(&self) -> String {
        format!("{}.{}", quoted(&self.database), quoted(&self.name))
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.database, self.name)
    }
}

/// A session in UTC, so that definitions with times in them are the same text on both servers.
fn connect(server: &ServerUrl) -> Result<Client, ClientError> {
    let mut client = Client::connect(server, None)?;
    client.query("SET time_zone = '+00:00'")?;
    Ok(client)
}

pub(crate) fn run(arguments: &Checksum) -> CommandResult {
    let mut first = connect(&arguments.first)?;
    let mut report = Report::new(arguments.format);
    let Some(other) = &arguments.second else {
        first.query(moment::SNAPSHOT)?;
        for table in tables(&mut first, &arguments.first.database)? {
            report.one(&table, values::sum_of(&mut first, &table)?)?;
        }
        return Ok(ExitCode::SUCCESS);
    };
    let mut second = connect(other)?;
    let by_sums = !arguments.all_rows && sums::are_kept(&mut first)? && sums::are_kept(&mut second)?;
    if by_sums {
        moment::take(&mut first, &mut second, arguments.wait)?;
    } else {
        moment::take_loosely(&mut first, &mut second, arguments.wait)?;
    }
    let (ours, theirs) = (tables(&mut first, &arguments.first.database)?, tables(&mut second, &other.database)?);
    let mut known = if by_sums {
        let both: Vec<Table> = ours.intersection(&theirs).cloned().collect();
        sums::whole(&mut first, &mut second, &both)?
    } else {
        Default::default()
    };
    for table in ours.union(&theirs) {
        let compared = match (ours.contains(table), theirs.contains(table)) {
            (true, false) => Compared::OnlyFirst,
            (false, _) => Compared::OnlySecond,
            (true, true) => match known.remove(table) {
                Some(whole) => sums::compare(&mut first, &mut second, table, whole, arguments.rows)?,
                None => values::compare(&mut first, &mut second, table, arguments.rows)?,
            },
        };
        report.two(table, &compared)?;
    }
    report.end()
}

/// The tables of a server, or of one database of it.
fn tables(client: &mut Client, only: &str) -> Result<BTreeSet<Table>, ClientError> {
    let mut found = BTreeSet::new();
    let databases = if only.is_empty() { names(client, "SHOW DATABASES")? } else { vec![only.to_owned()] };
    for database in databases.iter().filter(|name| !SYSTEM_DATABASES.contains(&name.to_lowercase().as_str())) {
        let tables = format!("SHOW FULL TABLES FROM {} WHERE Table_type = 'BASE TABLE'", quoted(database));
        let names = names(client, &tables)?.into_iter();
        found.extend(names.map(|name| Table { database: database.clone(), name }));
    }
    Ok(found)
}

/// The first column of a result.
fn names(client: &mut Client, query: &str) -> Result<Vec<String>, ClientError> {
    let result = client.query(query)?;
    Ok((0..result.rows.len()).map(|row| result.text(row, 0)).collect())
}

fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}
