//! What an analysis says, for people and for programs.

mod html;
mod text;

use binlog::IntervalFigures;
use serde::Serialize;

use crate::analysis::{Analysis, Counts, Histogram, Named, Simulations};
use crate::facts::Kind;
use crate::schedule::{Mode, Rule, Server};
use crate::series::Slice;
use crate::tables::{Table, TableKey};

pub use self::html::html;
pub use self::text::text;

/// Tables and rows that are named.
const NAMED: usize = 20;
/// A number of workers is worth setting if it gives this part of what the highest one gives.
const WORTH: f64 = 0.95;

/// What a number of workers gives.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Outcome {
    /// How many.
    pub workers: usize,
    /// How many times as fast as one thread that syncs after each transaction.
    pub speed_up: f64,
    /// Transactions that are executed once more.
    pub rollbacks: u64,
}

/// What a mode gives.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WhatIf {
    pub(crate) rule: Rule,
    pub(crate) outcomes: Vec<Outcome>,
    pub(crate) speed_up_max: f64,
    pub(crate) seconds_serial: f64,
}

/// A mode in a report.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ModeReport {
    /// `commuter`, `mysql`, `mariadb`.
    pub server: &'static str,
    /// As `replica_parallel_mode` has it.
    pub mode: &'static str,
    /// Commits are in the log's order.
    pub commit_order: bool,
    /// By number of workers.
    pub outcomes: Vec<Outcome>,
    /// What no number of workers can pass: the critical path.
    pub speed_up_max: f64,
    /// The smallest number that gives nearly what the highest one does.
    pub workers_worth_setting: usize,
}

/// A transaction by name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TransactionReport {
    /// GTID, or ANONYMOUS.
    pub name: String,
    /// File and offset of its first event.
    pub file: String,
    /// See `file`.
    pub offset: u64,
    /// When it was committed, in UTC.
    pub time: String,
    /// Bytes of log.
    pub bytes: u64,
    /// Rows.
    pub rows: u64,
    /// From its first statement to its commit.
    pub seconds: u32,
}

/// A table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TableReport {
    /// `schema.table`
    pub table: String,
    /// Transactions that changed rows.
    pub transactions: u64,
    /// Rows.
    pub inserted: u64,
    /// Rows.
    pub updated: u64,
    /// Rows.
    pub deleted: u64,
    /// Bytes of row images.
    pub bytes: u64,
    /// `None`: the log does not say.
    pub has_primary_key: Option<bool>,
    /// Foreign keys from it and to it; `None`: nobody was asked.
    pub foreign_keys: Option<u32>,
}

/// A row that is changed often.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RowReport {
    /// `schema.table`
    pub table: String,
    /// Values of the primary key.
    pub key: String,
    /// Changes; too many by `error` at most.
    pub changes: u64,
    /// See `changes`.
    pub error: u64,
}

/// A count of values from `from` to below twice of it; 0 is by itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Bar {
    /// The lowest.
    pub from: u64,
    /// How many.
    pub count: u64,
}

/// A slice of time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SliceReport {
    /// When it begins, in UTC.
    pub time: String,
    /// What was committed.
    #[serde(flatten)]
    pub slice: Slice,
    /// Average modified interval length.
    pub amil: Option<f64>,
}

/// All of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// Files that were read.
    pub files: Vec<String>,
    /// Why the log was not read any further, if it was not.
    pub damage: Option<String>,
    /// Version of the server that wrote the last file.
    pub server_version: String,
    /// First and last commit, in UTC.
    pub first: Option<String>,
    /// See `first`.
    pub last: Option<String>,
    /// Seconds between them.
    pub seconds: u64,
    /// Transactions.
    pub transactions: u64,
    /// Of them: rows only.
    pub row_transactions: u64,
    /// Of them: with statements, of which the log does not say which rows they change.
    pub statement_transactions: u64,
    /// Of them: changes of the schema and the like.
    pub ddl_transactions: u64,
    /// Of them: without any change.
    pub empty_transactions: u64,
    /// Rows.
    pub inserted: u64,
    /// Rows.
    pub updated: u64,
    /// Rows.
    pub deleted: u64,
    /// Bytes of transactions.
    pub bytes: u64,
    /// Starts of files, at each of which MySQL's applier waits for all before.
    pub file_starts: u64,
    /// Average modified interval length; `None` if the log has no intervals.
    pub amil: Option<f64>,
    /// 2 AMIL - 1.
    pub pseudo_group_size: Option<f64>,
    /// Average size of MariaDB's groups of commits.
    pub group_size: Option<f64>,
    /// Modified interval lengths.
    pub interval_lengths: Vec<Bar>,
    /// Sizes of MariaDB's groups.
    pub group_sizes: Vec<Bar>,
    /// Bytes of transactions.
    pub sizes: Vec<Bar>,
    /// Rows of transactions.
    pub row_counts: Vec<Bar>,
    /// The transactions with most bytes.
    pub biggest: Vec<TransactionReport>,
    /// The transactions that took longest at their source.
    pub longest: Vec<TransactionReport>,
    /// The tables with most changes.
    pub tables: Vec<TableReport>,
    /// Tables without a primary key.
    pub tables_without_primary_key: Vec<String>,
    /// Tables of whose keys the log says nothing.
    pub tables_with_unknown_key: u64,
    /// Tables with foreign keys; `None`: nobody was asked.
    pub tables_with_foreign_keys: Option<Vec<String>>,
    /// The rows with most changes, of tables whose primary key is known.
    pub hottest_rows: Vec<RowReport>,
    /// Microseconds that a replica is taken to need for a transaction, for a row, for a sync.
    pub costs: [f64; 3],
    /// What one thread would take that syncs after each transaction, in seconds.
    pub seconds_serial: f64,
    /// What each mode would give.
    pub modes: Vec<ModeReport>,
    /// Seconds of a slice.
    pub slice_seconds: u64,
    /// What was committed when.
    pub slices: Vec<SliceReport>,
    /// The same in at most 120 slices: first second, seconds of each.
    #[serde(skip)]
    pub(crate) coarse: (u64, u64, Vec<Slice>),
}

/// Seconds since 1970 in UTC.
pub(crate) fn time_text(seconds: u64) -> String {
    binlog::dump::time_text(u32::try_from(seconds).unwrap_or(u32::MAX))
}

fn bars(histogram: &Histogram) -> Vec<Bar> {
    let bars = histogram.counts.iter().enumerate();
    bars.map(|(at, &count)| Bar { from: if at == 0 { 0 } else { 1 << (at - 1) }, count }).collect()
}

fn transactions(named: &[(u64, Named)], files: &[String]) -> Vec<TransactionReport> {
    let report = |(_, named): &(u64, Named)| TransactionReport {
        name: named.name.to_string(),
        file: files.get(named.file as usize).cloned().unwrap_or_default(),
        offset: named.offset,
        time: time_text(named.timestamp.into()),
        bytes: named.bytes,
        rows: named.rows,
        seconds: named.seconds,
    };
    named.iter().map(report).collect()
}

fn name_of(table: &Table) -> String {
    format!("{}.{}", table.schema, table.name)
}

fn table(table: &Table) -> TableReport {
    let [inserted, updated, deleted] = table.rows;
    TableReport {
        table: name_of(table),
        transactions: table.transactions,
        inserted,
        updated,
        deleted,
        bytes: table.bytes,
        has_primary_key: match table.key {
            TableKey::Primary(_) => Some(true),
            TableKey::None => Some(false),
            TableKey::Unknown => None,
        },
        foreign_keys: table.foreign_keys,
    }
}

fn mode(what_if: &WhatIf) -> ModeReport {
    let best = what_if.outcomes.iter().map(|outcome| outcome.speed_up).fold(0.0, f64::max);
    let worth = what_if.outcomes.iter().find(|outcome| outcome.speed_up >= WORTH * best);
    ModeReport {
        server: match what_if.rule.server {
            Server::Commuter => "commuter",
            Server::Mysql => "mysql",
            Server::Maria => "mariadb",
        },
        mode: what_if.rule.mode.name(),
        commit_order: what_if.rule.ordered,
        outcomes: what_if.outcomes.clone(),
        speed_up_max: what_if.speed_up_max,
        workers_worth_setting: worth.map_or(1, |outcome| outcome.workers),
    }
}

/// Whether a mode says anything of such a log.
fn applies(rule: Rule, counts: &Counts) -> bool {
    match rule.mode {
        Mode::LogicalClock => counts.has_intervals,
        Mode::Conservative => counts.is_maria,
        Mode::Optimistic => counts.is_maria,
        Mode::Domain => counts.has_domains,
        _ => true,
    }
}

impl Report {
    /// Ends an analysis of these files.
    pub fn new(analysis: &Analysis, simulations: &Simulations, files: Vec<String>, damage: Option<String>) -> Self {
        let what_if = simulations.what_if();
        let options = analysis.options();
        let Analysis { collector, counts, .. } = analysis;
        let tables = &collector.tables.all;
        let slices: Vec<SliceReport> = counts.series.filled().map(slice).collect();
        let mut intervals = IntervalFigures::default();
        slices.iter().for_each(|report| intervals += report.slice.figures());
        let [inserted, updated, deleted] = counts.rows;
        let is_known = tables.iter().any(|table| table.foreign_keys.is_some());
        let with_foreign_keys = || tables.iter().filter(|table| table.foreign_keys > Some(0)).map(name_of).collect();
        Report {
            biggest: transactions(counts.biggest.entries(), &files),
            longest: transactions(counts.longest.entries(), &files),
            files,
            damage,
            server_version: collector.format().server_version.clone(),
            first: counts.first.map(|first| time_text(first.into())),
            last: counts.first.map(|_| time_text(counts.last.into())),
            seconds: counts.first.map_or(0, |first| u64::from(counts.last - first)),
            transactions: counts.transactions,
            row_transactions: counts.of_kind(Kind::Rows),
            statement_transactions: counts.of_kind(Kind::Statements),
            ddl_transactions: counts.of_kind(Kind::Ddl),
            empty_transactions: counts.of_kind(Kind::Empty),
            inserted,
            updated,
            deleted,
            bytes: counts.bytes,
            file_starts: counts.files,
            amil: intervals.average(),
            pseudo_group_size: intervals.pseudo_group_size(),
            group_size: group_size(counts),
            interval_lengths: bars(&counts.lengths),
            group_sizes: bars(&counts.groups),
            sizes: bars(&counts.sizes),
            row_counts: bars(&counts.row_counts),
            tables: top_tables(tables),
            tables_without_primary_key: tables.iter().filter(|t| t.key == TableKey::None).map(name_of).collect(),
            tables_with_unknown_key: tables.iter().filter(|t| t.key == TableKey::Unknown).count() as u64,
            tables_with_foreign_keys: is_known.then(with_foreign_keys),
            hottest_rows: hottest(analysis),
            costs: [options.transaction_cost, options.row_cost, options.sync_cost],
            seconds_serial: what_if.first().map_or(0.0, |what_if| what_if.seconds_serial),
            modes: what_if.iter().filter(|what_if| applies(what_if.rule, counts)).map(mode).collect(),
            slice_seconds: counts.series.width(),
            slices,
            coarse: counts.series.in_slices(120),
        }
    }
}

fn slice((second, slice): (u64, &Slice)) -> SliceReport {
    SliceReport { time: time_text(second), slice: *slice, amil: slice.amil() }
}

fn group_size(counts: &Counts) -> Option<f64> {
    let last = u64::from(counts.group.is_some());
    let groups = counts.groups.counts.iter().sum::<u64>() + last;
    (counts.is_maria && groups > 0).then(|| counts.transactions as f64 / groups as f64)
}

fn top_tables(tables: &[Table]) -> Vec<TableReport> {
    let mut reports: Vec<TableReport> = tables.iter().map(table).collect();
    reports.sort_by_key(|table| std::cmp::Reverse(table.inserted + table.updated + table.deleted));
    reports.truncate(NAMED);
    reports
}

fn hottest(analysis: &Analysis) -> Vec<RowReport> {
    let collector = &analysis.collector;
    let report = |row: &crate::top::Counted<crate::collect::HotRow>| RowReport {
        table: name_of(&collector.tables.all[row.what.mapped.number as usize]),
        key: row.what.text(),
        changes: row.count,
        error: row.error,
    };
    // What may be all error says nothing.
    let rows = collector.hot.highest(NAMED).into_iter().filter(|row| row.count > 1 && row.error * 2 < row.count);
    rows.map(report).collect()
}
