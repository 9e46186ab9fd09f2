//! Data larger than memory under random updates: how steady the rate is, and what a checkpoint costs those who commit meanwhile.
//!
//! Also what the server keeps to: its memory (configured, and 20 percent), and the size of its data file (twice the live pages).

use std::time::Instant;

use interop::{Client, Result, Server, Sysbench, SysbenchSecond};

use super::report::median;
use super::works::{Size, Work};
use super::{BenchArguments, load, our_options};

const CLIENTS: u32 = 64;
/// Its first seconds fill caches.
const WARM_UP_SECONDS: usize = 10;
/// Of so many seconds together the slowest are looked for.
const WINDOW_SECONDS: usize = 10;

/// One second of the load, and whether a checkpoint was being made in it.
struct Second {
    load: SysbenchSecond,
    in_checkpoint: bool,
}

pub(crate) fn run(work: &Work, size: &Size, arguments: &BenchArguments) -> Result<()> {
    let mut options = our_options(arguments);
    options.add_settings([
        format!("innodb_buffer_pool_size={}M", size.cache_mb),
        format!("memtable_size={}M", size.memtable_mb),
    ]);
    let mut server = Server::start("bench-steady", options)?;
    let client = server.client();
    client.query("CREATE DATABASE sbtest")?;
    let start = Instant::now();
    let sysbench = |seconds: u32| Sysbench {
        tables: 1,
        table_size: size.rows,
        more: vec!["--rand-type=uniform".to_owned()],
        ..load(server.port(), "oltp_update_non_index", CLIENTS, seconds)
    };
    sysbench(0).prepare()?;
    println!(
        "    {} rows loaded in {:.0} s; {}",
        size.rows,
        start.elapsed().as_secs_f64(),
        state(&client, server.pid())?
    );
    // The log of the load has the size of the table: the disk is for the data file.
    client.query("FLUSH BINARY LOGS; PURGE BINARY LOGS BEFORE NOW()")?;
    // Also because what is below a virtual disk answers slowly the first time.
    read_whole(&client, &sum_of(&client)?)?;
    interop::forget_peak(server.pid())?;
    let mut seconds = Vec::new();
    let mut checkpoint = client.status("Checkpoint_commit_number")?;
    sysbench(size.seconds).run_by_seconds(|load| {
        // A server that does not answer is seen by the load.
        let now = client.status("Checkpoint_commit_number").unwrap_or(checkpoint);
        let in_checkpoint = now != checkpoint || client.status("Memtables").is_ok_and(|count| count > 1);
        checkpoint = now;
        seconds.push(Second { load, in_checkpoint });
    })?;
    println!("    after the load: {}", state(&client, server.pid())?);
    tell(work, &seconds[WARM_UP_SECONDS.min(seconds.len())..]);
    let sum = sum_of(&client)?;
    server.kill();
    let took = server.restart()?;
    println!("    SIGKILL, answered after {:.1} s; {}", took.as_secs_f64(), state(&server.client(), server.pid())?);
    read_whole(&server.client(), &sum)
}

/// The sum of all rows, as the trees and the memtables have it.
fn sum_of(client: &Client) -> Result<String> {
    client.query("CHECKSUM TABLE sbtest.sbtest1")
}

/// Every row is read; the sum of what was read has to be this one.
fn read_whole(client: &Client, sum: &str) -> Result<()> {
    let start = Instant::now();
    let found = client.query("CHECKSUM TABLE sbtest.sbtest1 EXTENDED")?;
    println!("    read whole in {:.0} s", start.elapsed().as_secs_f64());
    if found == sum { Ok(()) } else { Err(format!("the rows' sum should be {sum}, what was read has {found}")) }
}

/// Memory at its highest, and the data file.
fn state(client: &Client, pid: u32) -> Result<String> {
    let peak = interop::peak_kib(pid)?;
    let bytes = |name: &str| client.status(name).map(|bytes| bytes >> 20);
    let (file, free) = (bytes("Store_file_bytes")?, bytes("Store_free_bytes")?);
    let pending = bytes("Store_pending_bytes")?;
    Ok(format!("{} MB of memory at most, file {file} MB, of it {free} free and {pending} pending", peak >> 10))
}

fn tell(work: &Work, seconds: &[Second]) {
    let rates: Vec<f64> = seconds.iter().map(|second| second.load.transactions).collect();
    let windows = rates.windows(WINDOW_SECONDS).map(|window| window.iter().sum::<f64>() / WINDOW_SECONDS as f64);
    let (worst_at, worst) = windows.enumerate().min_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((0, f64::NAN));
    let median_rate = median(rates.clone());
    let p99 = |in_checkpoint: bool| {
        let those = seconds.iter().filter(|second| second.in_checkpoint == in_checkpoint);
        let values: Vec<f64> = those.map(|second| second.load.latency_p99_ms).collect();
        (values.len(), median(values))
    };
    let ((during, p99_during), (outside, p99_outside)) = (p99(true), p99(false));
    println!(
        "{} | {median_rate:.0}/s median, worst {WINDOW_SECONDS} s (from second {}) {worst:.0}/s: {:.2} (0.5) | \
         p99 {p99_during:.1} ms in {during} s of checkpoints, {p99_outside:.1} ms in {outside} s outside: {:.2} (1.5)",
        work.name,
        WARM_UP_SECONDS + worst_at,
        worst / median_rate,
        p99_during / p99_outside,
    );
}
