//! Counts what transactions say, and makes steps of them for the simulations.

use binlog::ModifiedIntervals;

use crate::collect::Collector;
use crate::facts::{Kind, Transaction, TransactionName};
use crate::report::{Outcome, WhatIf};
use crate::schedule::{Mode, Rule, Server, Simulation, Step};
use crate::series::{Series, Slice};
use crate::steps::{Costs, Steps};
use crate::top::Highest;

/// Numbers of workers that are tried.
pub(crate) const WORKERS: [usize; 9] = [1, 2, 4, 8, 16, 32, 64, 128, 256];
/// Transactions that are named.
const TOP: usize = 10;
/// Transactions handed over to the simulations at once.
const BATCH: usize = 4096;

/// What a simulated replica is like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Microseconds of a transaction, whatever is in it.
    pub transaction_cost: f64,
    /// And of each of its rows.
    pub row_cost: f64,
    /// Microseconds of a sync of the replica's log.
    pub sync_cost: f64,
}

impl Default for Options {
    fn default() -> Self {
        Options { transaction_cost: 50.0, row_cost: 20.0, sync_cost: 0.0 }
    }
}

/// A transaction among the biggest or longest.
#[derive(Clone, Debug)]
pub(crate) struct Named {
    pub(crate) name: TransactionName,
    pub(crate) file: u32,
    pub(crate) offset: u64,
    pub(crate) timestamp: u32,
    pub(crate) bytes: u64,
    pub(crate) rows: u64,
    pub(crate) seconds: u32,
}

impl Named {
    fn of(transaction: &Transaction) -> Self {
        Named {
            name: transaction.name,
            file: transaction.file,
            offset: transaction.offset,
            timestamp: transaction.timestamp,
            bytes: transaction.bytes,
            rows: transaction.row_count(),
            seconds: transaction.seconds,
        }
    }
}

/// Counts by powers of two: 0, 1, 2 to 3, 4 to 7 …
#[derive(Clone, Debug, Default)]
pub(crate) struct Histogram {
    pub(crate) counts: Vec<u64>,
}

impl Histogram {
    fn add(&mut self, value: u64) {
        let at = (u64::BITS - value.leading_zeros()) as usize;
        if at >= self.counts.len() {
            self.counts.resize(at + 1, 0);
        }
        self.counts[at] += 1;
    }
}

/// What was counted.
pub(crate) struct Counts {
    pub(crate) transactions: u64,
    pub(crate) rows: [u64; 3],
    pub(crate) bytes: u64,
    pub(crate) by_kind: [u64; 4],
    pub(crate) unchangeable: u64,
    pub(crate) files: u64,
    pub(crate) first: Option<u32>,
    pub(crate) last: u32,
    pub(crate) sizes: Histogram,
    pub(crate) row_counts: Histogram,
    pub(crate) lengths: Histogram,
    pub(crate) groups: Histogram,
    pub(crate) group: Option<(u64, u64)>,
    pub(crate) series: Series,
    pub(crate) biggest: Highest<Named>,
    pub(crate) longest: Highest<Named>,
    pub(crate) has_intervals: bool,
    pub(crate) is_maria: bool,
    pub(crate) has_domains: bool,
    modified: ModifiedIntervals,
}

/// An analysis that goes on.
pub struct Analysis {
    /// Where transactions come from.
    pub collector: Collector,
    pub(crate) counts: Counts,
    options: Options,
    steps: Steps,
    batch: Vec<Step>,
}

impl Analysis {
    /// Begins.
    pub fn new(collector: Collector, options: Options) -> Self {
        let costs = Costs { transaction: nanos(options.transaction_cost).max(1), row: nanos(options.row_cost) };
        let (steps, batch) = (Steps::new(costs), Vec::with_capacity(BATCH));
        Analysis { collector, counts: Counts::new(), options, steps, batch }
    }

    /// The options that it goes by.
    pub fn options(&self) -> Options {
        self.options
    }

    /// Takes the next transaction. What it gives now and then is for [`Simulations::steps`].
    pub fn add(&mut self, transaction: &Transaction) -> Option<Vec<Step>> {
        self.counts.add(transaction);
        for &table in &transaction.tables {
            self.collector.tables.all[table as usize].transactions += 1;
        }
        self.batch.push(self.steps.next(transaction));
        (self.batch.len() == BATCH).then(|| self.last_steps())
    }

    /// What [`Analysis::add`] has kept back.
    pub fn last_steps(&mut self) -> Vec<Step> {
        std::mem::replace(&mut self.batch, Vec::with_capacity(BATCH))
    }
}

fn nanos(micros: f64) -> u64 {
    (micros * 1000.0) as u64
}

impl Counts {
    fn new() -> Self {
        Counts {
            transactions: 0,
            rows: [0; 3],
            bytes: 0,
            by_kind: [0; 4],
            unchangeable: 0,
            files: 0,
            first: None,
            last: 0,
            sizes: Histogram::default(),
            row_counts: Histogram::default(),
            lengths: Histogram::default(),
            groups: Histogram::default(),
            group: None,
            series: Series::default(),
            biggest: Highest::new(TOP),
            longest: Highest::new(TOP),
            has_intervals: false,
            is_maria: false,
            has_domains: false,
            modified: ModifiedIntervals::default(),
        }
    }

    fn add(&mut self, transaction: &Transaction) {
        let rows = transaction.row_count();
        self.transactions += 1;
        self.rows.iter_mut().zip(transaction.rows).for_each(|(sum, rows)| *sum += rows);
        self.bytes += transaction.bytes;
        self.by_kind[transaction.kind as usize] += 1;
        self.unchangeable += u64::from(transaction.changes_anything);
        self.files += u64::from(transaction.starts_file);
        self.first = Some(self.first.map_or(transaction.timestamp, |first| first.min(transaction.timestamp)));
        self.last = self.last.max(transaction.timestamp);
        self.sizes.add(transaction.bytes);
        self.row_counts.add(rows);
        self.biggest.add(transaction.bytes, || Named::of(transaction));
        self.longest.add(transaction.seconds.into(), || Named::of(transaction));
        let mut slice = Slice { transactions: 1, rows, bytes: transaction.bytes, ..Slice::default() };
        if transaction.starts_file {
            self.modified.begin_file();
        }
        if let Some(length) = self.interval(transaction) {
            (slice.intervals, slice.interval_sum, slice.interval_squares) = (1, length, length.saturating_mul(length));
            self.lengths.add(length);
        }
        self.series.add(transaction.timestamp.into(), &slice);
        self.note_group(transaction);
    }

    /// The modified interval length.
    fn interval(&mut self, transaction: &Transaction) -> Option<u64> {
        let (last_committed, sequence_number) = transaction.interval?;
        self.has_intervals = true;
        Some(self.modified.next(last_committed, sequence_number))
    }

    fn note_group(&mut self, transaction: &Transaction) {
        let Some(maria) = transaction.maria else { return };
        self.is_maria = true;
        self.has_domains |= maria.domain_id != 0;
        match (&mut self.group, maria.commit_id) {
            (Some((id, count)), Some(commit_id)) if *id == commit_id => *count += 1,
            (group, commit_id) => {
                if let Some((_, count)) = group.take() {
                    self.groups.add(count);
                }
                *group = commit_id.map(|id| (id, 1));
                if commit_id.is_none() {
                    self.groups.add(1);
                }
            }
        }
    }

    /// Transactions of a kind.
    pub(crate) fn of_kind(&self, kind: Kind) -> u64 {
        self.by_kind[kind as usize]
    }
}

const fn rule(server: Server, mode: Mode, ordered: bool) -> Rule {
    Rule { server, mode, ordered }
}

/// What is tried.
const RULES: [Rule; 13] = [
    rule(Server::Mysql, Mode::Schema, false),
    rule(Server::Mysql, Mode::LogicalClock, true),
    rule(Server::Maria, Mode::Domain, false),
    rule(Server::Maria, Mode::Conservative, true),
    rule(Server::Maria, Mode::Optimistic, true),
    rule(Server::Commuter, Mode::Schema, true),
    rule(Server::Commuter, Mode::Domain, true),
    rule(Server::Commuter, Mode::Minimal, true),
    rule(Server::Commuter, Mode::Conservative, true),
    rule(Server::Commuter, Mode::LogicalClock, true),
    rule(Server::Commuter, Mode::Aggressive, true),
    rule(Server::Commuter, Mode::Writeset, true),
    rule(Server::Commuter, Mode::Install, true),
];

/// A replica in every mode with every number of workers.
pub struct Simulations {
    tried: Vec<Tried>,
    /// One thread that syncs after each transaction.
    single: Simulation,
}

struct Tried {
    rule: Rule,
    limited: [Simulation; WORKERS.len()],
    unlimited: Simulation,
}

impl Simulations {
    /// Before the first transaction.
    pub fn new(options: &Options) -> Self {
        let sync = nanos(options.sync_cost);
        let tried = RULES.map(|rule| Tried {
            rule,
            limited: WORKERS.map(|workers| Simulation::new(rule, Some(workers), sync)),
            unlimited: Simulation::new(rule, None, sync),
        });
        let single = Simulation::new(rule(Server::Mysql, Mode::None, true), Some(1), sync);
        Simulations { tried: Vec::from(tried), single }
    }

    /// Takes the next transactions.
    pub fn steps(&mut self, steps: &[Step]) {
        let of_tried = self.tried.iter_mut().flat_map(|tried| tried.limited.iter_mut().chain([&mut tried.unlimited]));
        for simulation in of_tried.chain([&mut self.single]) {
            for step in steps {
                simulation.step(step);
            }
        }
    }

    pub(crate) fn what_if(&self) -> Vec<WhatIf> {
        let base = self.single.end().max(1);
        let speed_up = |simulation: &Simulation| base as f64 / simulation.end().max(1) as f64;
        let what_if = |tried: &Tried| WhatIf {
            rule: tried.rule,
            speed_up_max: speed_up(&tried.unlimited),
            outcomes: tried
                .limited
                .iter()
                .zip(WORKERS)
                .map(|(simulation, workers)| Outcome {
                    workers,
                    speed_up: speed_up(simulation),
                    rollbacks: simulation.rollbacks(),
                })
                .collect(),
            seconds_serial: base as f64 / 1e9,
        };
        self.tried.iter().map(what_if).collect()
    }
}
