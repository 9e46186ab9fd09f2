//! Figures and their printing.

use std::fs;
use std::time::Duration;

use interop::{Result, SysbenchReport};

use super::works::{TABLE_SIZE, TABLES, Work};

/// One run of one server.
#[derive(Clone, Copy)]
pub(crate) struct Measured {
    rate: f64,
    p95_ms: f64,
    /// Microseconds of the server's CPU per transaction, user and system.
    cpu_us: f64,
}

impl Measured {
    pub(crate) fn new(report: &SysbenchReport, cpu: Duration, seconds: u32) -> Measured {
        let transactions = report.transactions * f64::from(seconds);
        let cpu_us = cpu.as_secs_f64() * 1e6 / transactions.max(1.0);
        Measured { rate: report.transactions, p95_ms: report.latency_p95_ms, cpu_us }
    }
}

/// User and system time of a process so far.
pub(crate) fn cpu_time(pid: u32) -> Result<Duration> {
    const TICKS_PER_SECOND: f64 = 100.0; // USER_HZ of every Linux on x86 and ARM
    let path = format!("/proc/{pid}/stat");
    let stat = fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
    // The name, in parentheses, may have spaces; utime and stime are the 12th and 13th field after it.
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<f64>().ok()).unwrap_or_default();
    Ok(Duration::from_secs_f64((ticks(11) + ticks(12)) / TICKS_PER_SECOND))
}

pub(crate) fn print_configuration(seconds: u32, rounds: usize, settings: &[String]) {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default().trim().to_owned();
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    println!("Linux {}, {cores} cores; medians of {rounds} rounds of {seconds} s", read("/proc/sys/kernel/osrelease"));
    println!(
        "{TABLES} tables of {TABLE_SIZE} rows, uniform; every server: one sync or more per commit, CRC32, row log"
    );
    if !settings.is_empty() {
        println!("our settings: {}", settings.join(", "));
    }
    println!(
        "work | server: transactions/s (p95 ms, server CPU us per transaction) | ratio to the better peer (asked)"
    );
}

pub(crate) fn print_row(work: &Work, names: &[&str], measured: &[Vec<Measured>]) {
    let medians: Vec<Measured> = measured.iter().map(|runs| median_run(runs)).collect();
    let mut line = work.name.to_owned();
    for (name, figures) in names.iter().zip(&medians) {
        line += &format!(" | {name}: {:.0} ({:.2} ms, {:.1} us)", figures.rate, figures.p95_ms, figures.cpu_us);
    }
    if let Some((ours, peers)) = medians.split_first()
        && !peers.is_empty()
    {
        let better = peers.iter().map(|figures| figures.rate).fold(0.0, f64::max);
        line += &format!(" | {:.2} ({})", ours.rate / better, work.asked);
    }
    println!("{line}");
    for (name, runs) in names.iter().zip(measured) {
        let rates: Vec<String> = runs.iter().map(|run| format!("{:.0}", run.rate)).collect();
        println!("    {name}: {}", rates.join(" "));
    }
}

fn median_run(runs: &[Measured]) -> Measured {
    let mut sorted = runs.to_vec();
    sorted.sort_by(|a, b| a.rate.total_cmp(&b.rate));
    sorted[sorted.len() / 2]
}

/// The one in the middle; not a number if there is none.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
