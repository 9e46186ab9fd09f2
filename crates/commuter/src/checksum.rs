//! `commuter checksum`: what is in the tables of a server, in one number per table; and whether two servers have the same.
//!
//! The number is the sum of a hash of each row (its values as text), so it does not depend on the order in which a
//! server gives its rows.

use std::collections::{BTreeMap, BTreeSet};
use std::process::ExitCode;

use commuter::client::{Client, ClientError};
use xxhash_rust::xxh3::Xxh3;

use crate::cli::{Checksum, CommandResult};

/// Databases that describe the server itself.
const SYSTEM_DATABASES: [&str; 4] = ["information_schema", "mysql", "performance_schema", "sys"];

/// What a table holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sum {
    rows: u64,
    hash: u64,
}

/// The tables of a server by their names.
type Tables = BTreeMap<String, Sum>;

pub(crate) fn run(arguments: &Checksum) -> CommandResult {
    let mut first = Client::connect(&arguments.first, None)?;
    first.query("START TRANSACTION WITH CONSISTENT SNAPSHOT")?;
    let Some(other) = &arguments.second else {
        print(&sums(&mut first, &arguments.first.database)?);
        return Ok(ExitCode::SUCCESS);
    };
    let mut second = Client::connect(other, None)?;
    catch_up(&mut first, &mut second, arguments.wait)?;
    second.query("START TRANSACTION WITH CONSISTENT SNAPSHOT")?;
    let ours = sums(&mut first, &arguments.first.database)?;
    let theirs = sums(&mut second, &other.database)?;
    Ok(compare(&ours, &theirs))
}

/// Waits until the second server has what the first has, where both speak MySQL's GTIDs.
fn catch_up(first: &mut Client, second: &mut Client, seconds: u64) -> CommandResult {
    let Ok(executed) = first.query("SELECT @@GLOBAL.gtid_executed") else {
        return Ok(ExitCode::SUCCESS);
    };
    let set: String = executed.text(0, 0).split_whitespace().collect();
    match second.query(&format!("SELECT WAIT_FOR_EXECUTED_GTID_SET('{set}', {seconds})")) {
        Ok(result) if result.text(0, 0) == "1" => {
            Err(format!("the second server has not caught up within {seconds} seconds").into())
        }
        Err(error) if error.is_connection_lost() => Err(error.into()),
        // A server that does not know the function is compared as it is.
        _ => Ok(ExitCode::SUCCESS),
    }
}

fn sums(client: &mut Client, only: &str) -> Result<Tables, ClientError> {
    let mut sums = Tables::new();
    let databases = if only.is_empty() { names(client, "SHOW DATABASES")? } else { vec![only.to_owned()] };
    for database in databases.iter().filter(|name| !SYSTEM_DATABASES.contains(&name.to_lowercase().as_str())) {
        let tables = format!("SHOW FULL TABLES FROM {} WHERE Table_type = 'BASE TABLE'", quoted(database));
        for table in names(client, &tables)? {
            let sum = sum_of(client, &format!("{}.{}", quoted(database), quoted(&table)))?;
            sums.insert(format!("{database}.{table}"), sum);
        }
    }
    Ok(sums)
}

/// The first column of a result.
fn names(client: &mut Client, query: &str) -> Result<Vec<String>, ClientError> {
    let result = client.query(query)?;
    Ok((0..result.rows.len()).map(|row| result.text(row, 0)).collect())
}

fn sum_of(client: &mut Client, table: &str) -> Result<Sum, ClientError> {
    let mut sum = Sum { rows: 0, hash: 0 };
    client.query_each(&format!("SELECT * FROM {table}"), |row| {
        sum.rows += 1;
        sum.hash = sum.hash.wrapping_add(hash_of(row));
    })?;
    Ok(sum)
}

/// Each value behind its length, NULL as a length that no value has.
fn hash_of(row: &[Option<&[u8]>]) -> u64 {
    let mut hash = Xxh3::new();
    for value in row {
        match value {
            Some(bytes) => {
                hash.update(&(bytes.len() as u64).to_le_bytes());
                hash.update(bytes);
            }
            None => hash.update(&u64::MAX.to_le_bytes()),
        }
    }
    hash.digest()
}

fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

fn print(tables: &Tables) {
    for (name, sum) in tables {
        println!("{:016x} {:>12} {name}", sum.hash, sum.rows);
    }
}

fn compare(ours: &Tables, theirs: &Tables) -> ExitCode {
    let names: BTreeSet<&String> = ours.keys().chain(theirs.keys()).collect();
    let mut differ = 0;
    for name in names {
        match (ours.get(name), theirs.get(name)) {
            (Some(a), Some(b)) if a == b => println!("{:016x} {:>12} {name}", a.hash, a.rows),
            (Some(a), Some(b)) => {
                differ += 1;
                println!("DIFFERS: {name}: {} rows, {:016x}; {} rows, {:016x}", a.rows, a.hash, b.rows, b.hash);
            }
            (a, _) => {
                differ += 1;
                println!("DIFFERS: {name}: only on the {} server", if a.is_some() { "first" } else { "second" });
            }
        }
    }
    match differ {
        0 => ExitCode::SUCCESS,
        n => {
            println!("{n} of the tables differ");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_told_apart() {
        let rows: [&[Option<&[u8]>]; 5] = [
            &[Some(b"ab"), Some(b"c")],
            &[Some(b"a"), Some(b"bc")],
            &[None, Some(b"c")],
            &[Some(b""), Some(b"c")],
            &[],
        ];
        let hashes: BTreeSet<u64> = rows.into_iter().map(hash_of).collect();
        assert_eq!(hashes.len(), rows.len());
    }
}
