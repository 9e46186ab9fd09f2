//! What each mode of parallel replication would do with a log: a simulated replica.
//!
//! A transaction needs a worker for as long as it takes to execute; when it may begin is the mode's rule, and when it counts as done for
//! others is the server's: MySQL's and MariaDB's transactions hold their worker and their rows until they are synced, in their turn;
//! ours are let go when they have their place in the log.
//!
//! | mode | a transaction waits for |
//! |---|---|
//! | none | the one before it |
//! | schema | those before it in the same schemas |
//! | domain | those before it in the same domain |
//! | minimal | the one before it to be executed; commits share syncs |
//! | conservative | all before its group (commit id) to be executed |
//! | logical_clock | all up to its last_committed; in MySQL also for those before it to have begun, and at a new file for all |
//! | optimistic | nothing, or all before it if its source waited, or it is a schema change; once more if it meets a row of one before it |
//! | aggressive | the same without the source's hints |
//! | writeset | those that last changed the same rows |
//! | install | nothing: the log is a copy, and rows carry their place in it |
//!
//! # Invariants
//! - Transactions are handed over in the log's order, numbered from 0.
//! - What ended more than [`WINDOW`] transactions ago is taken for done long ago.

#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use binlog::event::maria_flags;

/// So many transactions are remembered with a limited number of workers; a power of two.
pub const WINDOW: usize = 1 << 14;
/// And with any number of workers.
const WINDOW_UNLIMITED: usize = 1 << 20;

/// Who schedules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Server {
    /// This project's.
    Commuter,
    /// MySQL 5.7 and later.
    Mysql,
    /// MariaDB 10 and later.
    Maria,
}

/// `replica_parallel_mode`, see the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the module has a table of them")]
pub enum Mode {
    None,
    Schema,
    Domain,
    Minimal,
    Conservative,
    LogicalClock,
    Optimistic,
    Aggressive,
    Writeset,
    Install,
}

impl Mode {
    /// As settings have it.
    pub fn name(self) -> &'static str {
        match self {
            Mode::None => "none",
            Mode::Schema => "schema",
            Mode::Domain => "domain",
            Mode::Minimal => "minimal",
            Mode::Conservative => "conservative",
            Mode::LogicalClock => "logical_clock",
            Mode::Optimistic => "optimistic",
            Mode::Aggressive => "aggressive",
            Mode::Writeset => "writeset",
            Mode::Install => "install",
        }
    }
}

/// A mode as a server has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rule {
    /// Whose.
    pub server: Server,
    /// Which.
    pub mode: Mode,
    /// Commits are in the log's order.
    pub ordered: bool,
}

/// What scheduling knows of a transaction. Numbers of others are theirs in the order of the log.
#[derive(Clone, Debug, Default)]
pub struct Step {
    /// How long it takes to execute, in nanoseconds.
    pub cost: u64,
    /// The first of a file.
    pub starts_file: bool,
    /// All up to this one have to be done, says its source; `None`: none of this file.
    pub upto: Option<u64>,
    /// Its schemas.
    pub schemas: Vec<u32>,
    /// MariaDB's domain.
    pub domain: u32,
    /// MariaDB's group.
    pub commit_id: Option<u64>,
    /// MariaDB's flags; of a source that has none all that allows most.
    pub hints: u8,
    /// Those that last changed the same rows, or the tables.
    pub after: Vec<u64>,
    /// A schema change: it waits for all before it, where nothing else says what it has to wait for.
    pub is_ddl: bool,
    /// What it changes is not known: the same, and all behind it wait.
    pub is_barrier: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Times {
    begun: u64,
    /// When those that depend on it may go on.
    done: u64,
    /// The latest `done` up to this one.
    all_done: u64,
}

/// A replica that has been given a log from its beginning.
pub struct Simulation {
    rule: Rule,
    /// When each worker is free; `None` for as many as are wanted.
    workers: Option<BinaryHeap<Reverse<u64>>>,
    sync: u64,
    times: Vec<Times>,
    count: u64,
    last: Times,
    executed: u64,
    all_executed: u64,
    durable: u64,
    /// In its turn.
    ready: u64,
    /// Of the sync that is gathering or under way.
    sync_begin: u64,
    sync_end: u64,
    /// All behind it wait for this.
    barrier: u64,
    group: Option<(u64, u64)>,
    by_schema: HashMap<u32, u64>,
    by_domain: HashMap<u32, u64>,
    rollbacks: u64,
}

impl Simulation {
    /// With so many workers, or any number of them. `sync` is how long a sync of the log takes, in nanoseconds.
    pub fn new(rule: Rule, workers: Option<usize>, sync: u64) -> Self {
        let window = if workers.is_some() { WINDOW } else { WINDOW_UNLIMITED };
        Simulation {
            rule,
            workers: workers.map(|count| (0..count).map(|_| Reverse(0)).collect()),
            sync,
            times: vec![Times::default(); window],
            count: 0,
            last: Times::default(),
            executed: 0,
            all_executed: 0,
            durable: 0,
            ready: 0,
            sync_begin: 0,
            sync_end: 0,
            barrier: 0,
            group: None,
            by_schema: HashMap::new(),
            by_domain: HashMap::new(),
            rollbacks: 0,
        }
    }

    /// Until when all of it is durable.
    pub fn end(&self) -> u64 {
        self.durable
    }

    /// Transactions that were executed once more because they met a row of one before them.
    pub fn rollbacks(&self) -> u64 {
        self.rollbacks
    }

    fn is_theirs(&self) -> bool {
        self.rule.server != Server::Commuter
    }

    fn times(&self, number: u64) -> Times {
        let age = self.count - number;
        if age == 0 || age > self.times.len() as u64 {
            Times::default()
        } else {
            self.times[number as usize % self.times.len()]
        }
    }

    /// Takes the next transaction; when it begins, and when it is done.
    pub fn step(&mut self, step: &Step) -> (u64, u64) {
        let mut begin = self.allowed(step).max(self.barrier);
        if let Some(workers) = &mut self.workers {
            let free = workers.pop().map_or(0, |Reverse(free)| free);
            begin = begin.max(free);
        }
        let mut executed = begin + step.cost;
        if matches!(self.rule.mode, Mode::Optimistic | Mode::Aggressive) {
            let met = step.after.iter().map(|&number| self.times(number).done).max().unwrap_or(0);
            if met > begin {
                self.rollbacks += 1;
                executed = executed.max(met) + step.cost;
            }
        }
        self.executed = executed;
        let (done, durable) = self.commit(executed);
        if let Some(workers) = &mut self.workers {
            workers.push(Reverse(if self.rule.server == Server::Commuter { executed } else { durable }));
        }
        self.note(step, Times { begun: begin, done, all_done: self.last.all_done.max(done) });
        (begin, done)
    }

    /// When the rule lets it begin.
    fn allowed(&mut self, step: &Step) -> u64 {
        let all_done = self.last.all_done;
        let needs_all = (step.is_ddl || step.is_barrier) && self.goes_by_rows();
        let by_mode = match self.rule.mode {
            Mode::None => {
                if self.is_theirs() {
                    self.durable
                } else {
                    self.executed
                }
            }
            Mode::Minimal => self.executed,
            Mode::Schema => {
                step.schemas.iter().filter_map(|schema| self.by_schema.get(schema)).copied().max().unwrap_or(0)
            }
            Mode::Domain => self.by_domain.get(&step.domain).copied().unwrap_or(0),
            Mode::Conservative => self.behind_group(step.commit_id),
            Mode::LogicalClock => self.behind_interval(step),
            Mode::Writeset => step.after.iter().map(|&number| self.times(number).done).max().unwrap_or(0),
            Mode::Optimistic
                if step.hints & maria_flags::ALLOW_PARALLEL == 0 || step.hints & maria_flags::WAITED != 0 =>
            {
                all_done
            }
            Mode::Optimistic | Mode::Aggressive if step.hints & maria_flags::DDL != 0 => all_done,
            Mode::Optimistic | Mode::Aggressive | Mode::Install => 0,
        };
        if needs_all { by_mode.max(all_done) } else { by_mode }
    }

    /// Whether the mode knows nothing of a transaction but its rows; the others know what its source says.
    fn goes_by_rows(&self) -> bool {
        matches!(self.rule.mode, Mode::Optimistic | Mode::Aggressive | Mode::Writeset)
    }

    fn behind_group(&mut self, commit_id: Option<u64>) -> u64 {
        match self.group {
            Some((id, begin)) if Some(id) == commit_id => begin,
            _ => {
                self.group = commit_id.map(|id| (id, self.all_executed));
                self.all_executed
            }
        }
    }

    fn behind_interval(&self, step: &Step) -> u64 {
        let source = step.upto.map_or(0, |upto| self.times(upto).all_done);
        match self.rule.server {
            Server::Commuter => source,
            _ if step.starts_file => self.last.all_done,
            _ => source.max(self.last.begun),
        }
    }

    /// When others may go on, and when it is durable: syncs are one after the other, each for all that are ready when it begins.
    fn commit(&mut self, executed: u64) -> (u64, u64) {
        if !self.rule.ordered {
            // It shares some sync with others that are ready just then.
            let durable = executed + self.sync;
            self.durable = self.durable.max(durable);
            return (if self.is_theirs() { durable } else { executed }, durable);
        }
        let ready = executed.max(self.ready);
        self.ready = ready;
        if ready > self.sync_begin || self.sync_end == 0 {
            self.sync_begin = ready.max(self.sync_end);
            self.sync_end = self.sync_begin + self.sync;
        }
        let durable = self.sync_end.max(ready);
        self.durable = self.durable.max(durable);
        (if self.is_theirs() { durable } else { ready }, durable)
    }

    fn note(&mut self, step: &Step, times: Times) {
        let slot = self.count as usize % self.times.len();
        self.times[slot] = times;
        self.count += 1;
        self.last = times;
        self.all_executed = self.all_executed.max(self.executed);
        if step.is_barrier && self.goes_by_rows() {
            self.barrier = times.all_done;
        }
        match self.rule.mode {
            Mode::Schema => step.schemas.iter().for_each(|schema| {
                let done = self.by_schema.entry(*schema).or_default();
                *done = times.done.max(*done);
            }),
            Mode::Domain => {
                self.by_domain.insert(step.domain, times.done);
            }
            _ => {}
        }
    }
}
