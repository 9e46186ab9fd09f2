//! What it takes to compare two servers, and to sum one table, by the sums in the trees: whatever the size, milliseconds.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use interop::{Client, Result, Server, commuter_binary};

use super::large::{INSERT, PIECES_PER_GB, make_piece};
use super::works::Work;
use super::{BenchArguments, our_options};

/// Each figure is the best and the worst of so many.
const TIMES: usize = 5;
/// Rows that differ in the end.
const DIFFERING: &str = "UPDATE d.big SET s = 'another' WHERE id IN (7, 1000003, 5000001)";

pub(crate) fn run(work: &Work, gigabytes: u64, arguments: &BenchArguments) -> Result<()> {
    let mut first = Server::start("bench-checksum", our_options(arguments))?;
    let client = first.client();
    client.query("CREATE DATABASE d")?;
    make_piece(&client)?;
    for _ in 0..gigabytes {
        (0..PIECES_PER_GB).try_for_each(|_| client.script("d", INSERT).map(drop))?;
        // The log has the size of the table: the disk is for the data files.
        client.query("FLUSH BINARY LOGS; PURGE BINARY LOGS BEFORE NOW()")?;
    }
    first.stop()?;
    let folder = first.folder().with_file_name("commuter-bench-checksum-copy");
    copy(first.folder(), &folder)?;
    first.restart()?;
    let second = Server::start_in(folder, our_options(arguments))?;
    let client = first.client();
    let file = client.status("Store_file_bytes")? >> 20;
    println!("{} | {file} MB, {} rows", work.name, client.number("SELECT COUNT(*) FROM d.big")?);
    print_times("CHECKSUM TABLE (and the client's start)", || sum(&client).map(drop))?;
    print_times("commuter checksum A B, the same", || compare(&first, &second, true))?;
    second.client().query(DIFFERING)?;
    print_times("commuter checksum A B, three rows differ and are named", || compare(&first, &second, false))?;
    let start = Instant::now();
    let read = client.query("CHECKSUM TABLE d.big EXTENDED")?;
    println!("    read whole, for comparison: {:.1} s", start.elapsed().as_secs_f64());
    let kept = sum(&client)?;
    if read == kept { Ok(()) } else { Err(format!("the sum is {kept}, of all rows {read}")) }
}

fn sum(client: &Client) -> Result<String> {
    client.query("CHECKSUM TABLE d.big")
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    let _ = std::fs::remove_dir_all(to);
    let status = Command::new("cp").arg("-r").args([from, to]).status().map_err(|error| error.to_string())?;
    if status.success() { Ok(()) } else { Err(format!("{} could not be copied: {status}", from.display())) }
}

/// Times `commuter checksum`, whose answer has to be this one.
fn compare(first: &Server, second: &Server, same: bool) -> Result<()> {
    let mut command = Command::new(commuter_binary()?);
    let output = command.args(["checksum", &first.url(), &second.url()]).output().map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    let named = text.lines().filter(|line| line.trim_start().starts_with("different: ")).count();
    match (output.status.success(), named) {
        (true, 0) if same => Ok(()),
        (false, 3) if !same => Ok(()),
        _ => Err(format!("{text}{}", String::from_utf8_lossy(&output.stderr))),
    }
}

fn print_times(what: &str, mut act: impl FnMut() -> Result<()>) -> Result<()> {
    let mut times = Vec::new();
    for _ in 0..TIMES {
        let start = Instant::now();
        act()?;
        times.push(start.elapsed());
    }
    let first = times[0];
    times.sort_unstable();
    println!("    {what}: {first:.1?} the first time, {:.1?} to {:.1?} in {TIMES}", times[0], times[TIMES - 1]);
    Ok(())
}
