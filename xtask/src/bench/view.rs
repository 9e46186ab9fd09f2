//! Short commits beside a read view that is old: their rate, memory, and the pages that are kept for it.

use std::time::Instant;

use interop::{Connection, Result, Server, Sysbench, resident_kib};

use super::report::median;
use super::works::Work;
use super::{BenchArguments, load, our_options};

const CLIENTS: u32 = 64;
const ROWS: u32 = 1_000_000;
/// The rate without the view needs no longer than that, before and after it.
const WITHOUT_SECONDS_MAX: u32 = 300;
/// Medians that are printed for each run, so that one sees it grow slower.
const PARTS: usize = 6;
const SUM: &str = "SELECT COUNT(*), SUM(k), BIT_XOR(CRC32(c)) FROM sbtest1";

pub(crate) fn run(work: &Work, seconds: u32, arguments: &BenchArguments) -> Result<()> {
    let server = Server::start("bench-view", our_options(arguments))?;
    server.client().query("CREATE DATABASE sbtest")?;
    let sysbench = |seconds: u32| Sysbench {
        tables: 1,
        table_size: ROWS,
        more: vec!["--rand-type=uniform".to_owned()],
        ..load(server.port(), "oltp_update_index", CLIENTS, seconds)
    };
    sysbench(0).prepare()?;
    let rate = |when: &str, seconds: u32| {
        let mut rates = Vec::new();
        sysbench(seconds).run_by_seconds(|second| rates.push(second.transactions))?;
        let worst = rates.iter().copied().fold(f64::MAX, f64::min);
        let median = median(rates.clone());
        println!(
            "    {when}: {median:.0}/s ({}), the worst second {worst:.0}/s; {}",
            by_parts(&rates),
            state(&server)?
        );
        Ok::<f64, String>(median)
    };
    let without_seconds = (seconds / 2).min(WITHOUT_SECONDS_MAX);
    let before = rate("without a view", without_seconds)?;
    let mut view = Connection::open(server.port(), "sbtest")?;
    view.succeed("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")?;
    view.succeed("START TRANSACTION WITH CONSISTENT SNAPSHOT")?;
    let seen = view.succeed(SUM)?;
    let beside = rate("beside the view", seconds)?;
    let start = Instant::now();
    if view.succeed(SUM)? != seen {
        return Err("the view has changed".to_owned());
    }
    println!("    read whole by the view in {:.1} s, as at its beginning", start.elapsed().as_secs_f64());
    view.succeed("COMMIT")?;
    let after = rate("when it is gone", without_seconds)?;
    let without = f64::midpoint(before, after);
    println!(
        "{} | {beside:.0}/s beside a view of {seconds} s, {without:.0}/s without: {:.2}",
        work.name,
        beside / without
    );
    Ok(())
}

/// The median of each part of a run.
fn by_parts(rates: &[f64]) -> String {
    let length = rates.len().div_ceil(PARTS).max(1);
    let parts: Vec<String> = rates.chunks(length).map(|part| format!("{:.0}", median(part.to_vec()))).collect();
    parts.join(", ")
}

fn state(server: &Server) -> Result<String> {
    let client = server.client();
    let bytes = |name: &str| client.status(name).map(|bytes| bytes >> 20);
    let (file, pending) = (bytes("Store_file_bytes")?, bytes("Store_pending_bytes")?);
    let memory = resident_kib(server.pid())? >> 10;
    Ok(format!("{memory} MB of memory, file {file} MB, of it {pending} pending"))
}
