//! A report for a terminal.

use std::fmt::Write as _;

use super::{Bar, ModeReport, Report, TableReport, TransactionReport};

const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Columns of a sparkline.
const COLUMNS: usize = 60;
/// Transactions, tables and rows of each list.
const SHOWN: usize = 5;

/// One character per value, as high as the value is.
fn sparkline(values: &[f64]) -> String {
    let highest = values.iter().copied().fold(0.0, f64::max);
    let block = |value: f64| match highest > 0.0 {
        true => BLOCKS[((value / highest * 7.0).round() as usize).min(7)],
        false => BLOCKS[0],
    };
    values.iter().map(|&value| block(value)).collect()
}

/// A number with its unit of bytes.
pub(super) fn bytes_text(bytes: u64) -> String {
    let mut value = bytes as f64;
    for unit in ["B", "KiB", "MiB", "GiB"] {
        if value < 1024.0 {
            return if unit == "B" { format!("{bytes} B") } else { format!("{value:.1} {unit}") };
        }
        value /= 1024.0;
    }
    format!("{value:.1} TiB")
}

/// The report as text.
pub fn text(report: &Report) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write_report(report, &mut out);
    out
}

fn write_report(report: &Report, out: &mut String) -> std::fmt::Result {
    let Report { transactions, seconds, .. } = report;
    let span = (*seconds).max(1) as f64;
    writeln!(out, "{} file(s) of {}", report.files.len(), report.server_version)?;
    if let Some(damage) = &report.damage {
        writeln!(out, "NOT READ TO THE END: {damage}")?;
    }
    let (Some(first), Some(last)) = (&report.first, &report.last) else {
        return writeln!(out, "No transaction.");
    };
    writeln!(out, "from {first} to {last} UTC ({seconds} s); ~ is rounded down to a power of two\n")?;
    writeln!(
        out,
        "transactions  {transactions} ({:.1}/s), {}; size ~ {}",
        *transactions as f64 / span,
        bytes_text(report.bytes),
        bars_text(&report.sizes, bytes_text),
    )?;
    writeln!(
        out,
        "  of them     {} with rows, {} with statements, {} schema changes and the like, {} empty",
        report.row_transactions, report.statement_transactions, report.ddl_transactions, report.empty_transactions
    )?;
    writeln!(
        out,
        "rows          {} inserted, {} updated, {} deleted; per transaction ~ {}",
        report.inserted,
        report.updated,
        report.deleted,
        bars_text(&report.row_counts, |rows| rows.to_string())
    )?;
    write_series(report, out)?;
    write_parallelism(report, out)?;
    write_transactions("biggest", &report.biggest, out)?;
    write_transactions("longest at the source", &report.longest, out)?;
    write_tables(report, out)?;
    write_modes(report, out)
}

/// Median, 99th percentile and maximum, each rounded down to a power of two.
fn bars_text(bars: &[Bar], shown: impl Fn(u64) -> String) -> String {
    let count: u64 = bars.iter().map(|bar| bar.count).sum();
    let at = |part: f64| {
        let mut left = (count as f64 * part).ceil() as u64;
        let found = bars.iter().find(|bar| {
            let is_it = left <= bar.count;
            left = left.saturating_sub(bar.count);
            is_it
        });
        found.map_or(0, |bar| bar.from)
    };
    format!("median {}, 99 % {}, highest {}", shown(at(0.5)), shown(at(0.99)), shown(at(1.0)))
}

fn write_series(report: &Report, out: &mut String) -> std::fmt::Result {
    let (_, width, slices) = &report.coarse;
    let each = slices.len().div_ceil(COLUMNS).max(1);
    let rates: Vec<f64> = slices
        .chunks(each)
        .map(|chunk| {
            chunk.iter().map(|slice| slice.transactions).sum::<u64>() as f64 / (*width as f64 * chunk.len() as f64)
        })
        .collect();
    let highest = rates.iter().copied().fold(0.0, f64::max);
    writeln!(out, "commits/s     {} highest {highest:.1} (over {} s)", sparkline(&rates), *width * each as u64)?;
    if report.amil.is_some() {
        let amils: Vec<f64> = slices
            .chunks(each)
            .map(|chunk| {
                let count: u64 = chunk.iter().map(|slice| slice.intervals).sum();
                let sum: u64 = chunk.iter().map(|slice| slice.interval_sum).sum();
                sum as f64 / count.max(1) as f64
            })
            .collect();
        let highest = amils.iter().copied().fold(0.0, f64::max);
        writeln!(out, "AMIL          {} highest {highest:.1}", sparkline(&amils))?;
    }
    Ok(())
}

fn write_parallelism(report: &Report, out: &mut String) -> std::fmt::Result {
    writeln!(out)?;
    if let (Some(amil), Some(size)) = (report.amil, report.pseudo_group_size) {
        let lengths = bars_text(&report.interval_lengths, |length| length.to_string());
        writeln!(
            out,
            "average modified interval length (AMIL) {amil:.2}, pseudo group size {size:.2}; lengths ~ {lengths}"
        )?;
    }
    if let Some(size) = report.group_size {
        let sizes = bars_text(&report.group_sizes, |size| size.to_string());
        writeln!(out, "average group of commits {size:.2}; sizes ~ {sizes}")?;
    }
    writeln!(
        out,
        "barriers: {} schema changes and the like, {} transactions with statements, {} starts of files",
        report.ddl_transactions, report.statement_transactions, report.file_starts
    )?;
    list("tables without a primary key", &report.tables_without_primary_key, out)?;
    if report.tables_with_unknown_key > 0 {
        let count = report.tables_with_unknown_key;
        writeln!(
            out,
            "tables of whose keys the log says nothing: {count} (binlog_row_metadata=FULL says it, or --source asks the server)"
        )?;
    }
    match &report.tables_with_foreign_keys {
        Some(tables) => list("tables with foreign keys", tables, out),
        None => writeln!(out, "foreign keys: unknown (--source asks the server)"),
    }
}

fn list(what: &str, names: &[String], out: &mut String) -> std::fmt::Result {
    if names.is_empty() {
        return writeln!(out, "{what}: none");
    }
    let shown: Vec<&str> = names.iter().take(SHOWN).map(String::as_str).collect();
    let more = if names.len() > SHOWN { ", …" } else { "" };
    writeln!(out, "{what}: {} ({}{more})", names.len(), shown.join(", "))
}

fn write_transactions(what: &str, transactions: &[TransactionReport], out: &mut String) -> std::fmt::Result {
    if transactions.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{what}")?;
    for transaction in transactions.iter().take(SHOWN) {
        let TransactionReport { name, file, offset, time, bytes, rows, seconds } = transaction;
        let bytes = bytes_text(*bytes);
        writeln!(out, "  {bytes:>10} {rows:>9} rows {seconds:>6} s  {time}  {file} {offset}  {name}")?;
    }
    Ok(())
}

fn write_tables(report: &Report, out: &mut String) -> std::fmt::Result {
    if report.tables.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nhottest tables                   transactions   inserted    updated    deleted")?;
    for table in report.tables.iter().take(SHOWN) {
        let TableReport { table: name, transactions, inserted, updated, deleted, .. } = table;
        writeln!(out, "  {name:<30} {transactions:>12} {inserted:>10} {updated:>10} {deleted:>10}")?;
    }
    if !report.hottest_rows.is_empty() {
        writeln!(out, "\nhottest rows                          changes")?;
    }
    for row in report.hottest_rows.iter().take(SHOWN) {
        let about = if row.error > 0 { format!(" (at least {})", row.changes - row.error) } else { String::new() };
        writeln!(out, "  {:<34} {:>8}{about}  key {}", row.table, row.changes, row.key)?;
    }
    Ok(())
}

fn write_modes(report: &Report, out: &mut String) -> std::fmt::Result {
    let [transaction, row, sync] = report.costs;
    writeln!(
        out,
        "\nwhat if: times as fast as one thread that syncs each commit ({:.1} s; {transaction} us per transaction, {row} per row, {sync} per sync)",
        report.seconds_serial
    )?;
    let workers = report.modes.first().map_or(&[][..], |mode| mode.outcomes.as_slice());
    write!(out, "  workers                    ")?;
    workers.iter().try_for_each(|outcome| write!(out, "{:>7}", outcome.workers))?;
    writeln!(out, "{:>8}  worth setting", "limit")?;
    for mode in &report.modes {
        let ModeReport { server, mode: name, outcomes, speed_up_max, workers_worth_setting, .. } = mode;
        write!(out, "  {:<27}", format!("{name} ({server})"))?;
        outcomes.iter().try_for_each(|outcome| write!(out, "{:>7}", speed_up_text(outcome.speed_up)))?;
        writeln!(out, "{:>8}  {workers_worth_setting}", speed_up_text(*speed_up_max))?;
    }
    writeln!(out, "  {MODEL}")
}

/// What the figures are worth, in a sentence.
pub(super) const MODEL: &str = "by the log's dependencies and the costs above; a real replica's syncs and groups of commits are its own: \
     beside measured ones figures beyond a few workers were off by a factor of 2 to 5, either way";

/// A speed-up without more digits than the model is good for.
pub(super) fn speed_up_text(speed_up: f64) -> String {
    if speed_up < 9.95 { format!("{speed_up:.1}") } else { format!("{speed_up:.0}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speed_ups() {
        assert_eq!([1.0, 3.72, 9.94, 9.96, 32.0].map(speed_up_text), ["1.0", "3.7", "9.9", "10", "32"]);
    }

    #[test]
    fn lines_of_blocks() {
        assert_eq!(sparkline(&[0.0, 3.5, 7.0]), "▁▅█");
        assert_eq!(sparkline(&[0.0, 0.0]), "▁▁");
        assert_eq!(bytes_text(1023), "1023 B");
        assert_eq!(bytes_text(3 << 20), "3.0 MiB");
    }
}
