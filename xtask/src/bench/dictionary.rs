//! What drivers and tools ask of information_schema: one table among thousands, and all of them.

use interop::{Connection, Result};

use super::BenchArguments;
use super::scans::chosen;
use super::statements::{Statement, What, compare, start_loaded};
use super::works::Work;

const DATABASE: &str = "dictionary";
const TABLES: u32 = 5_000;
/// How often each statement about one table is sent.
const TIMES: usize = 50;

/// Name and statement about one table.
const ABOUT_ONE: &[(&str, &str)] = &[
    (
        "columns",
        "SELECT COLUMN_NAME, ORDINAL_POSITION, COLUMN_TYPE, IS_NULLABLE, EXTRA FROM information_schema.COLUMNS \
         WHERE TABLE_SCHEMA = 'dictionary' AND TABLE_NAME = 't2500' ORDER BY ORDINAL_POSITION",
    ),
    (
        "statistics",
        "SELECT INDEX_NAME, SEQ_IN_INDEX, COLUMN_NAME, NON_UNIQUE FROM information_schema.STATISTICS \
         WHERE TABLE_SCHEMA = 'dictionary' AND TABLE_NAME = 't2500' ORDER BY INDEX_NAME, SEQ_IN_INDEX",
    ),
    (
        "key_column_usage",
        "SELECT CONSTRAINT_NAME, COLUMN_NAME, REFERENCED_TABLE_NAME, REFERENCED_COLUMN_NAME \
         FROM information_schema.KEY_COLUMN_USAGE WHERE TABLE_SCHEMA = 'dictionary' AND TABLE_NAME = 't2500' \
         ORDER BY CONSTRAINT_NAME, ORDINAL_POSITION",
    ),
    (
        "tables",
        "SELECT TABLE_NAME, TABLE_TYPE, ENGINE, TABLE_COLLATION FROM information_schema.TABLES \
         WHERE TABLE_SCHEMA = 'dictionary' AND TABLE_NAME = 't2500'",
    ),
    (
        "constraints",
        "SELECT CONSTRAINT_NAME, DELETE_RULE FROM information_schema.REFERENTIAL_CONSTRAINTS \
         WHERE CONSTRAINT_SCHEMA = 'dictionary' AND TABLE_NAME = 't2500'",
    ),
    ("show_columns", "SHOW FULL COLUMNS FROM t2500"),
    ("show_create", "SHOW CREATE TABLE t2500"),
];

/// Name and statement about all of them.
const ABOUT_ALL: &[(&str, &str)] = &[
    (
        "all_tables",
        "SELECT TABLE_NAME, TABLE_TYPE FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'dictionary' ORDER BY 1",
    ),
    (
        "all_columns",
        "SELECT COUNT(*), SUM(ORDINAL_POSITION) FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'dictionary'",
    ),
];

pub(crate) fn run(work: &Work, arguments: &BenchArguments) -> Result<()> {
    let contenders = start_loaded(DATABASE, arguments, |_, connection| load(connection))?;
    println!(
        "{} | {TABLES} tables, medians of {} rounds: ms of {TIMES} statements about one table, or of one about all (ms of the server's CPU) | \
         how often ours goes into the better one's",
        work.name, arguments.rounds
    );
    let about_one = ABOUT_ONE.iter().map(|(name, sql)| Statement::of(name, What::All(vec![(*sql).to_owned(); TIMES])));
    let about_all = ABOUT_ALL.iter().map(|(name, sql)| Statement::new(name, sql));
    compare(&chosen(about_one.chain(about_all).collect(), arguments), DATABASE, arguments, &contenders)
}

fn load(connection: &mut Connection) -> Result<()> {
    for at in 0..TABLES {
        let parent = if at == 0 { 0 } else { at - 1 };
        connection.succeed(&format!(
            "CREATE TABLE t{at} (id INT PRIMARY KEY, parent INT, name VARCHAR(40) NOT NULL, day DATE, UNIQUE by_name (name, day), \
             CONSTRAINT c{at} FOREIGN KEY (parent) REFERENCES t{parent} (id))"
        ))?;
    }
    Ok(())
}
