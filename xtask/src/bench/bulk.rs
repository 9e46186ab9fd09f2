//! Rows into a server and out of it, many at once: dumps and their loads, LOAD DATA, INSERTs of many rows and their kin, all rows to a client.

use std::fmt::Write;
use std::path::Path;

use interop::{Client, Kind, Result, run_tool};

use super::BenchArguments;
use super::scans::{self, chosen};
use super::statements::{Statement, What, compare, start_loaded};
use super::works::Work;

const DATABASE: &str = "bulk";
/// Rows of one INSERT, and how many of them are sent.
const ROWS: u32 = 1_000;
const INSERTS: u32 = 200;
/// Rows of the file of LOAD DATA.
const FILE_ROWS: u32 = 300_000;

/// Makes the table that rows are put into.
const FRESH: &[&str] = &[
    "DROP TABLE IF EXISTS target",
    "CREATE TABLE target (id INT PRIMARY KEY, k INT NOT NULL, amount DECIMAL(10,2), day DATETIME, name VARCHAR(60), KEY (k))",
];

pub(crate) fn run(work: &Work, arguments: &BenchArguments) -> Result<()> {
    let contenders = start_loaded(DATABASE, arguments, |_, connection| {
        // Without a right to files, none of the peers takes one of a client unless this is set.
        connection.succeed("SET GLOBAL local_infile = 1")?;
        scans::load(connection)
    })?;
    println!(
        "{} | medians of {} rounds: ms (ms of the server's CPU) | how often ours goes into the better one's",
        work.name, arguments.rounds
    );
    // Both the peers' tools, inside their roots, and ours see the data folders.
    let folder = contenders[0].folder();
    let statements = chosen(statements(&folder)?, arguments);
    compare(&statements, DATABASE, arguments, &contenders)
}

fn statements(folder: &Path) -> Result<Vec<Statement>> {
    let rows = "SELECT id, name, pad FROM big";
    let rows_file = folder.join("rows.txt");
    write_rows(&rows_file)?;
    // REPLACE and ON DUPLICATE KEY UPDATE find every other row.
    const HALF_FULL: &[&str] =
        &[FRESH[0], FRESH[1], "INSERT INTO target SELECT id * 2, k, amount, day, name FROM big WHERE id < 100000"];
    Ok(vec![
        Statement::of("rows_text", What::Text(rows.to_owned())),
        Statement::of("rows_binary", What::Binary(rows.to_owned())),
        Statement::of("insert_1000", What::All(inserts("INSERT", ""))).after(FRESH),
        Statement::of("replace_1000", What::All(inserts("REPLACE", ""))).after(HALF_FULL),
        Statement::of(
            "on_duplicate_key",
            What::All(inserts("INSERT", " ON DUPLICATE KEY UPDATE k = k + 1, name = 'again'")),
        )
        .after(HALF_FULL),
        Statement::of("load_data", load_data(&rows_file)).after(FRESH),
        Statement::of("mysqldump", dump(&folder.join("dump"))),
        Statement::of("load_of_dump", load_of_dump(&folder.join("dump"))),
    ])
}

/// A row's values behind its key.
fn values(key: u32) -> String {
    let mixed = key.wrapping_mul(2_654_435_761);
    let (day, hour) = (1 + mixed % 28, mixed % 24);
    format!(
        "{},{}.{:02},'2024-03-{day:02} {hour:02}:11:12','name of the row {mixed:010}'",
        mixed % 1_000_000,
        mixed % 9_999,
        mixed % 100
    )
}

fn inserts(verb: &str, end: &str) -> Vec<String> {
    let insert = |at: u32| {
        let mut sql = format!("{verb} INTO target VALUES ");
        for key in at * ROWS..(at + 1) * ROWS {
            let comma = if key > at * ROWS { "," } else { "" };
            let _ = write!(sql, "{comma}({key},{})", values(key));
        }
        sql + end
    };
    (0..INSERTS).map(insert).collect()
}

fn write_rows(path: &Path) -> Result<()> {
    let lines: String = (0..FILE_ROWS).map(|key| format!("{key},{}\n", values(key))).collect();
    std::fs::write(path, lines).map_err(|error| format!("{}: {error}", path.display()))
}

fn load_data(path: &Path) -> What {
    let sql = format!(
        "LOAD DATA LOCAL INFILE '{}' INTO TABLE {DATABASE}.target FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY ''''",
        path.display()
    );
    What::Program(Box::new(move |port| tool("mysql", port, &["--local-infile=1", "-e", &sql])))
}

/// Each server's dump is a file of its own.
fn dump(path: &Path) -> What {
    let path = path.display().to_string();
    What::Program(Box::new(move |port| {
        let file = format!("--result-file={path}-{port}.sql");
        tool(
            "mysqldump",
            port,
            &["--single-transaction", "--set-gtid-purged=OFF", "--column-statistics=0", &file, DATABASE, "big"],
        )
    }))
}

/// Into another database of the same server.
fn load_of_dump(path: &Path) -> What {
    let path = path.display().to_string();
    What::Program(Box::new(move |port| {
        let again = format!("{DATABASE}_again");
        let client = Client::tcp(port);
        client.query(&format!("DROP DATABASE IF EXISTS {again}; CREATE DATABASE {again}"))?;
        let script = format!("SOURCE {path}-{port}.sql");
        tool("mysql", port, &["-e", &script, &again])
    }))
}

fn tool(program: &str, port: u16, arguments: &[&str]) -> Result<String> {
    let port = format!("-P{port}");
    run_tool(Kind::Mysql97, program, &[&["--no-defaults", "-h127.0.0.1", "-uroot", &port], arguments].concat())
}
