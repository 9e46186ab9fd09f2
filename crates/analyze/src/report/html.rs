//! A report as one HTML page, with pictures in SVG and nothing to load.

use std::fmt::Write as _;

use super::text::{MODEL, bytes_text, speed_up_text};
use super::{Bar, ModeReport, Report, time_text};

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;max-width:1000px;margin:2em auto;padding:0 1em;color:#222;background:#fff}\
h1{font-size:1.5em}h2{font-size:1.15em;margin-top:2em;border-bottom:1px solid #ddd}\
table{border-collapse:collapse;margin:1em 0;font-variant-numeric:tabular-nums}th,td{padding:.2em .8em;text-align:right;border-bottom:1px solid #eee}\
th:first-child,td:first-child{text-align:left}.bad{color:#b00020;font-weight:bold}svg{display:block;margin:1em 0;max-width:100%;height:auto}\
text{font:12px system-ui,sans-serif;fill:#444}.axis{stroke:#999}.grid{stroke:#eee}.note{color:#666}";
const COLORS: [&str; 10] =
    ["#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#8c564b", "#e377c2", "#7f7f7f", "#bcbd22", "#17becf"];
const WIDTH: f64 = 960.0;
const LEFT: f64 = 70.0;

/// A line of a plot: its name and its points.
struct Line {
    name: String,
    points: Vec<(f64, f64)>,
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// The next number above with one digit, or 2.5 or so: where an axis ends.
fn round_up(value: f64) -> f64 {
    if value <= 0.0 {
        return 1.0;
    }
    let power = 10f64.powf(value.log10().floor());
    let digits = [1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0];
    power * digits.into_iter().find(|digit| digit * power >= value * 0.999_999).unwrap_or(10.0)
}

fn number(value: f64) -> String {
    if value >= 100.0 || value.fract() == 0.0 { format!("{value:.0}") } else { format!("{value:.2}") }
}

/// A plot of lines. `labels` are those of the x axis, by their place between 0 and 1, which points have too.
fn plot(title: &str, lines: &[Line], labels: &[(f64, String)], height: f64) -> String {
    let with_legend = lines.len() > 1;
    let right = if with_legend { 210.0 } else { 20.0 };
    let (width, bottom, top) = (WIDTH - LEFT - right, 30.0, 24.0);
    let plot_height = height - bottom - top;
    let highest = round_up(lines.iter().flat_map(|line| &line.points).map(|point| point.1).fold(0.0, f64::max));
    let x = |at: f64| LEFT + at * width;
    let y = |value: f64| top + plot_height * (1.0 - value / highest);
    let mut svg = format!(
        "<svg viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" role=\"img\"><title>{0}</title><text x=\"{LEFT}\" y=\"14\">{0}</text>",
        escape(title)
    );
    for part in 0..=4 {
        let value = highest * f64::from(part) / 4.0;
        let _ = write!(
            svg,
            "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{1:.1}\" y2=\"{1:.1}\"/><text x=\"{2:.1}\" y=\"{3:.1}\" text-anchor=\"end\">{4}</text>",
            x(1.0),
            y(value),
            LEFT - 6.0,
            y(value) + 4.0,
            number(value)
        );
    }
    for (at, label) in labels {
        let anchor = if *at <= 0.0 {
            "start"
        } else if *at >= 1.0 {
            "end"
        } else {
            "middle"
        };
        let _ = write!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{}</text>",
            x(*at),
            height - 10.0,
            escape(label)
        );
    }
    for (at, line) in lines.iter().enumerate() {
        let color = COLORS[at % COLORS.len()];
        let dashes = if at >= COLORS.len() { " stroke-dasharray=\"5 3\"" } else { "" };
        let points: Vec<String> =
            line.points.iter().map(|&(at, value)| format!("{:.1},{:.1}", x(at), y(value))).collect();
        let _ = write!(
            svg,
            "<polyline fill=\"none\" stroke=\"{color}\" stroke-width=\"2\"{dashes} points=\"{}\"/>",
            points.join(" ")
        );
        if with_legend {
            let (from, middle) = (x(1.0) + 12.0, top + 8.0 + 18.0 * at as f64);
            let _ = write!(
                svg,
                "<line x1=\"{from:.1}\" x2=\"{:.1}\" y1=\"{middle:.1}\" y2=\"{middle:.1}\" stroke=\"{color}\" stroke-width=\"3\"{dashes}/><text x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                from + 20.0,
                from + 26.0,
                middle + 4.0,
                escape(&line.name)
            );
        }
    }
    let _ = write!(
        svg,
        "<line class=\"axis\" x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{1:.1}\" y2=\"{1:.1}\"/></svg>",
        x(1.0),
        y(0.0)
    );
    svg
}

fn bar_plot(title: &str, bars: &[Bar], shown: impl Fn(u64) -> String) -> String {
    let bars = &bars[bars.iter().position(|bar| bar.count > 0).unwrap_or(0)..];
    let count: u64 = bars.iter().map(|bar| bar.count).sum();
    if count == 0 {
        return String::new();
    }
    let (height, top, bottom) = (190.0, 24.0, 30.0);
    let highest = bars.iter().map(|bar| bar.count).max().unwrap_or(1) as f64;
    let step = (WIDTH - LEFT) / bars.len() as f64;
    let mut svg = format!(
        "<svg viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" role=\"img\"><title>{0}</title><text x=\"{LEFT}\" y=\"14\">{0}</text>",
        escape(title)
    );
    for (at, bar) in bars.iter().enumerate() {
        let size = (height - top - bottom - 14.0) * bar.count as f64 / highest;
        let (from, base) = (LEFT + step * at as f64, height - bottom);
        let percent = 100.0 * bar.count as f64 / count as f64;
        let share = if bar.count == 0 { String::new() } else { format!("{percent:.1}%") };
        let _ = write!(
            svg,
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{size:.1}\" fill=\"#1f77b4\"/>\
             <text x=\"{middle:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{share}</text>\
             <text x=\"{middle:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            from + 2.0,
            base - size,
            step - 4.0,
            base - size - 4.0,
            height - 12.0,
            shown(bar.from),
            middle = from + step / 2.0,
        );
    }
    svg + "</svg>"
}

fn table(out: &mut String, head: &[&str], rows: impl Iterator<Item = Vec<String>>) {
    out.push_str("<table><tr>");
    head.iter().for_each(|cell| {
        let _ = write!(out, "<th>{}</th>", escape(cell));
    });
    out.push_str("</tr>");
    for row in rows {
        out.push_str("<tr>");
        row.iter().for_each(|cell| {
            let _ = write!(out, "<td>{}</td>", escape(cell));
        });
        out.push_str("</tr>");
    }
    out.push_str("</table>");
}

/// The report as a page.
pub fn html(report: &Report) -> String {
    let mut out = format!(
        "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Binary log analysis</title><style>{STYLE}</style></head><body>"
    );
    head(report, &mut out);
    modes(report, &mut out);
    series(report, &mut out);
    parallelism(report, &mut out);
    contents(report, &mut out);
    out.push_str("</body></html>\n");
    out
}

fn head(report: &Report, out: &mut String) {
    let _ = write!(out, "<h1>Binary log of {}</h1>", escape(&report.server_version));
    if let Some(damage) = &report.damage {
        let _ = write!(out, "<p class=\"bad\">Not read to the end: {}</p>", escape(damage));
    }
    let none = || "–".to_owned();
    let rows = [
        (
            "files",
            format!("{}: {}", report.files.len(), report.files.iter().take(8).cloned().collect::<Vec<_>>().join(", ")),
        ),
        ("from", report.first.clone().unwrap_or_else(none)),
        ("to (UTC)", report.last.clone().unwrap_or_else(none)),
        ("transactions", report.transactions.to_string()),
        ("bytes", bytes_text(report.bytes)),
        ("rows inserted, updated, deleted", format!("{}, {}, {}", report.inserted, report.updated, report.deleted)),
        (
            "transactions with rows, statements, schema changes, nothing",
            format!(
                "{}, {}, {}, {}",
                report.row_transactions,
                report.statement_transactions,
                report.ddl_transactions,
                report.empty_transactions
            ),
        ),
    ];
    table(out, &["", ""], rows.into_iter().map(|(name, value)| vec![name.to_owned(), value]));
}

fn mode_name(mode: &ModeReport) -> String {
    format!("{} ({})", mode.mode, mode.server)
}

fn modes(report: &Report, out: &mut String) {
    let [transaction, row, sync] = report.costs;
    let _ = write!(
        out,
        "<h2>What each mode of parallel replication would give</h2><p class=\"note\">Times as fast as one thread that syncs after each \
         transaction, which would take {:.1} s: {transaction} µs per transaction, {row} µs per row, {sync} µs per sync. A simulated \
         replica, see docs/analyze.md.</p>",
        report.seconds_serial
    );
    let Some(workers) = report.modes.first().map(|mode| &mode.outcomes) else { return };
    let last = workers.len().saturating_sub(1).max(1) as f64;
    let lines: Vec<Line> = report
        .modes
        .iter()
        .map(|mode| Line {
            name: mode_name(mode),
            points: mode.outcomes.iter().enumerate().map(|(at, o)| (at as f64 / last, o.speed_up)).collect(),
        })
        .collect();
    let labels: Vec<_> =
        workers.iter().enumerate().map(|(at, outcome)| (at as f64 / last, outcome.workers.to_string())).collect();
    out.push_str(&plot("Speed-up by number of workers", &lines, &labels, 340.0));
    let mut header = vec!["mode".to_owned()];
    header.extend(workers.iter().map(|outcome| outcome.workers.to_string()));
    header.extend(["limit".to_owned(), "worth setting".to_owned()]);
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let rows = report.modes.iter().map(|mode| {
        let mut row = vec![mode_name(mode)];
        row.extend(mode.outcomes.iter().map(|outcome| speed_up_text(outcome.speed_up)));
        row.extend([speed_up_text(mode.speed_up_max), mode.workers_worth_setting.to_string()]);
        row
    });
    table(out, &header, rows);
    let _ = write!(out, "<p>These figures are estimates {MODEL}.</p>");
}

fn series(report: &Report, out: &mut String) {
    let (start, width, slices) = &report.coarse;
    if slices.is_empty() {
        return;
    }
    out.push_str("<h2>Over time</h2>");
    let last = (slices.len() - 1).max(1) as f64;
    let end = start + width * slices.len() as u64;
    let labels = [(0.0, time_text(*start)), (1.0, time_text(end))];
    let points = |of: &dyn Fn(&crate::series::Slice) -> f64| -> Vec<(f64, f64)> {
        slices.iter().enumerate().map(|(at, slice)| (at as f64 / last, of(slice))).collect()
    };
    let line = |points| [Line { name: String::new(), points }];
    let seconds = *width as f64;
    let rates = points(&|slice| slice.transactions as f64 / seconds);
    out.push_str(&plot("Commits per second", &line(rates), &labels, 200.0));
    let bytes = points(&|slice| slice.bytes as f64 / seconds / 1024.0);
    out.push_str(&plot("KiB of log per second", &line(bytes), &labels, 200.0));
    if report.amil.is_some() {
        let amil = points(&|slice| slice.amil().unwrap_or(0.0));
        out.push_str(&plot("Average modified interval length", &line(amil), &labels, 200.0));
    }
}

fn parallelism(report: &Report, out: &mut String) {
    out.push_str("<h2>How parallel the source was</h2>");
    if let (Some(amil), Some(size)) = (report.amil, report.pseudo_group_size) {
        let _ = write!(out, "<p>Average modified interval length {amil:.2}, pseudo group size {size:.2}.</p>");
        out.push_str(&bar_plot("Modified interval lengths", &report.interval_lengths, |length| length.to_string()));
    }
    if let Some(size) = report.group_size {
        let _ = write!(out, "<p>Average group of commits {size:.2}.</p>");
        out.push_str(&bar_plot("Groups of commits", &report.group_sizes, |size| size.to_string()));
    }
    let unknown = || "unknown; --source asks the server".to_owned();
    let list = |names: &[String]| if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    let rows = [
        ("schema changes and the like", report.ddl_transactions.to_string()),
        ("transactions with statements", report.statement_transactions.to_string()),
        ("starts of files", report.file_starts.to_string()),
        ("tables without a primary key", list(&report.tables_without_primary_key)),
        ("tables of whose keys the log says nothing", report.tables_with_unknown_key.to_string()),
        ("tables with foreign keys", report.tables_with_foreign_keys.as_deref().map_or_else(unknown, list)),
    ];
    table(out, &["what holds it up", ""], rows.into_iter().map(|(name, value)| vec![name.to_owned(), value]));
}

fn contents(report: &Report, out: &mut String) {
    out.push_str("<h2>Transactions</h2>");
    out.push_str(&bar_plot("Bytes of transactions, from", &report.sizes, bytes_text));
    out.push_str(&bar_plot("Rows of transactions, from", &report.row_counts, |rows| rows.to_string()));
    for (title, transactions) in [("Biggest", &report.biggest), ("Longest at the source", &report.longest)] {
        if transactions.is_empty() {
            continue;
        }
        let _ = write!(out, "<h2>{title}</h2>");
        let rows = transactions.iter().map(|t| {
            let place = format!("{} {}", t.file, t.offset);
            vec![t.name.clone(), bytes_text(t.bytes), t.rows.to_string(), t.seconds.to_string(), t.time.clone(), place]
        });
        table(out, &["transaction", "bytes", "rows", "seconds", "committed (UTC)", "place"], rows);
    }
    out.push_str("<h2>Tables</h2>");
    let rows = report.tables.iter().map(|t| {
        let key = t.has_primary_key.map_or("unknown", |has| if has { "yes" } else { "NO" });
        let counts = [t.transactions, t.inserted, t.updated, t.deleted].map(|count| count.to_string());
        [vec![t.table.clone()], counts.to_vec(), vec![bytes_text(t.bytes), key.to_owned()]].concat()
    });
    table(out, &["table", "transactions", "inserted", "updated", "deleted", "bytes", "primary key"], rows);
    if !report.hottest_rows.is_empty() {
        out.push_str("<h2>Rows that change most</h2>");
        let rows = report.hottest_rows.iter().map(|row| {
            vec![row.table.clone(), row.key.clone(), row.changes.to_string(), (row.changes - row.error).to_string()]
        });
        table(out, &["table", "key", "changes", "at least"], rows);
    }
}
