//! When a transaction may begin: the modes of parallel replication.
//!
//! | mode | a transaction waits for |
//! |---|---|
//! | none | all before it |
//! | schema | those before it in the same schemas |
//! | domain | those before it in the same domain; and, though its source promised that there are none, those of others in its rows |
//! | minimal | those before it to be executed |
//! | conservative | all before its group (commit id) to be executed |
//! | logical_clock | all up to its last_committed |
//! | optimistic | nothing; or all before it, if its source waited for a lock there or forbids it |
//! | aggressive | nothing |
//! | writeset | those that last changed, or referred to, what it changes |
//!
//! Where commits keep the log's order a rule is about speed alone: whoever begins too early meets the row, or its absence, and begins again.
//! Where they do not, a rule is a promise, and what it does not know it waits for.
//!
//! # Invariants
//! - Transactions come in the log's order, by turns that ascend by one.

use std::collections::{HashMap, VecDeque};

use base::Gtid;
use binlog::event::maria_flags;
use sql::replay::RowKeys;

use super::counters::Barrier;
use super::group::Head;

/// `replica_parallel_mode`, of another server's log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    None,
    Schema,
    Domain,
    Minimal,
    Conservative,
    LogicalClock,
    Optimistic,
    Aggressive,
    Writeset,
}

impl Mode {
    /// By its settings; what is for copies of our own log is the best that there is for others.
    pub(crate) fn named(mode: &str, mysql_type: &str) -> Self {
        match mode {
            "AUTO" if mysql_type == "DATABASE" => Mode::Schema,
            "AUTO" if mysql_type == "LOGICAL_CLOCK" => Mode::LogicalClock,
            "NONE" => Mode::None,
            "SCHEMA" => Mode::Schema,
            "DOMAIN" => Mode::Domain,
            "MINIMAL" => Mode::Minimal,
            "CONSERVATIVE" => Mode::Conservative,
            "LOGICAL_CLOCK" => Mode::LogicalClock,
            "OPTIMISTIC" => Mode::Optimistic,
            "AGGRESSIVE" => Mode::Aggressive,
            _ => Mode::Writeset,
        }
    }

    /// As the setting has it.
    pub(crate) const fn text(self) -> &'static str {
        match self {
            Mode::None => "NONE",
            Mode::Schema => "SCHEMA",
            Mode::Domain => "DOMAIN",
            Mode::Minimal => "MINIMAL",
            Mode::Conservative => "CONSERVATIVE",
            Mode::LogicalClock => "LOGICAL_CLOCK",
            Mode::Optimistic => "OPTIMISTIC",
            Mode::Aggressive => "AGGRESSIVE",
            Mode::Writeset => "WRITESET",
        }
    }

    /// Whether it has to be known which schemas a transaction is about.
    pub(crate) fn wants_schemas(self) -> bool {
        self == Mode::Schema
    }

    /// Whether it has to be known which rows a transaction is about.
    pub(crate) fn wants_keys(self) -> bool {
        matches!(self, Mode::Writeset | Mode::Domain)
    }

    /// Whether the tables that a transaction is about are to be known, to name them.
    pub(crate) fn wants_tables(self) -> bool {
        self == Mode::Domain
    }
}

/// Schema and name.
pub(crate) type TableName = (String, String);

/// What is known of a transaction.
#[derive(Debug, Default)]
pub(crate) struct Facts<'a> {
    pub(crate) head: Head,
    pub(crate) schemas: &'a [String],
    /// The tables that it is about, or defines; only if they are asked for.
    pub(crate) tables: &'a [TableName],
    /// It is a definition of those.
    pub(crate) is_definition: bool,
    /// What it is about is not all known: it was too large to be looked through.
    pub(crate) is_large: bool,
    /// `None` if they are not known.
    pub(crate) keys: Option<&'a RowKeys>,
}

/// What a transaction waits for, in turns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct After {
    /// All before this one have their place in our log.
    pub(crate) all_done: u64,
    /// All before this one are executed.
    pub(crate) all_executed: u64,
    /// These have their place.
    pub(crate) done: Vec<u64>,
}

/// So many hashes are remembered; then those go whose transactions are done.
const HISTORY_MAX: usize = 1 << 17;

/// The last that changed a row, and the last that referred to it.
#[derive(Clone, Copy, Debug, Default)]
struct Touched {
    writer: Option<u64>,
    reader: Option<u64>,
}

/// The last transaction that changed a row, or referred to it, where domains are to be independent.
#[derive(Clone, Copy, Debug)]
struct Toucher {
    turn: u64,
    gtid: Option<Gtid>,
    domain: u32,
    wrote: bool,
}

/// Two domains that were declared independent, and are not: a transaction has touched a row of one of another domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Crossing {
    pub(crate) domain: u32,
    pub(crate) other_domain: u32,
    /// Of the transaction before it.
    pub(crate) other: Option<Gtid>,
}

/// A mode, and what it has to remember.
pub(crate) struct Rules {
    mode: Mode,
    /// Commits keep the log's order.
    is_ordered: bool,
    /// So many of one domain are under way at once.
    domain_workers: usize,
    /// The last of each domain, not more than that.
    windows: HashMap<u32, VecDeque<u64>>,
    /// What the last one's barrier was.
    why: Option<Barrier>,
    schemas: HashMap<String, u64>,
    domains: HashMap<u32, u64>,
    /// Rows, by who touched them last; in mode domain.
    touchers: HashMap<u64, Toucher>,
    crossing: Option<Crossing>,
    /// MariaDB's group: its id, and before which turn all have to be executed.
    group: Option<(u64, u64)>,
    /// The source's file, and of its transactions number and turn, as they came.
    file: (u64, u64),
    numbers: Vec<(i64, u64)>,
    rows: HashMap<u64, Touched>,
    /// All behind it wait for what was before it.
    barrier: u64,
    /// All behind it wait for the execution of what was before it, whose rows are not known.
    unseen: u64,
    /// Tables, by the last definition of them.
    definitions: HashMap<TableName, u64>,
}

impl Rules {
    /// Of one domain `domain_workers` transactions are under way at once.
    pub(crate) fn new(mode: Mode, is_ordered: bool, domain_workers: usize) -> Self {
        Rules {
            mode,
            is_ordered,
            domain_workers,
            windows: HashMap::new(),
            why: None,
            schemas: HashMap::new(),
            domains: HashMap::new(),
            touchers: HashMap::new(),
            crossing: None,
            group: None,
            file: (0, 0),
            numbers: Vec::new(),
            rows: HashMap::new(),
            barrier: 0,
            unseen: 0,
            definitions: HashMap::new(),
        }
    }

    /// Whether it has to be known which tables a transaction is about: some are being defined. All turns before `first_undone` have their place.
    pub(crate) fn wants_tables(&mut self, first_undone: u64) -> bool {
        self.definitions.retain(|_, turn| *turn >= first_undone);
        !self.definitions.is_empty()
    }

    pub(crate) fn mode(&self) -> Mode {
        self.mode
    }

    /// What the last transaction had to do with another domain, if it had.
    pub(crate) fn crossing(&mut self) -> Option<Crossing> {
        self.crossing.take()
    }

    /// Why the last transaction waits for all before it, if it does.
    pub(crate) fn why(&mut self) -> Option<Barrier> {
        self.why.take()
    }

    /// The next transaction. All turns before `first_undone` have their place.
    pub(crate) fn next(&mut self, turn: u64, facts: &Facts<'_>, first_undone: u64) -> After {
        let mut after = After { all_done: self.barrier, ..After::default() };
        let head = &facts.head;
        after.done.extend(self.behind_window(turn, head.domain));
        if facts.is_definition {
            self.defines(turn, facts, first_undone, &mut after);
            return after;
        }
        match facts.is_large {
            true => self.behind_much(turn, &mut after),
            false => after.done.extend(facts.tables.iter().filter_map(|table| self.definitions.get(table))),
        }
        match self.mode {
            Mode::Schema | Mode::Writeset if facts.is_large => {}
            Mode::None => after.all_done = turn,
            Mode::Minimal => after.all_executed = turn,
            Mode::Conservative => after.all_executed = self.behind_group(turn, head.commit_id),
            Mode::LogicalClock => after.all_done = after.all_done.max(self.behind_interval(turn, head, first_undone)),
            Mode::Schema => {
                let known = facts.schemas.iter().filter_map(|schema| self.schemas.insert(schema.clone(), turn));
                after.done.extend(known);
            }
            Mode::Domain => {
                after.done.extend(self.domains.insert(head.domain, turn));
                self.behind_other_domains(turn, facts, first_undone, &mut after);
            }
            Mode::Optimistic => {
                let is_hinted =
                    |flags: u8| flags & maria_flags::ALLOW_PARALLEL == 0 || flags & maria_flags::WAITED != 0;
                if head.flags.is_some_and(is_hinted) {
                    after.all_done = turn;
                    self.why = Some(Barrier::Hint);
                }
            }
            Mode::Aggressive => {}
            Mode::Writeset => self.behind_rows(turn, facts.keys, first_undone, &mut after),
        }
        after.done.retain(|&before| before >= first_undone.max(after.all_done));
        after.done.sort_unstable();
        after.done.dedup();
        after
    }

    /// As many before it as its domain may have under way.
    fn behind_window(&mut self, turn: u64, domain: u32) -> Option<u64> {
        if self.domain_workers == usize::MAX {
            return None;
        }
        let window = self.windows.entry(domain).or_default();
        window.push_back(turn);
        if window.len() > self.domain_workers { window.pop_front() } else { None }
    }

    /// A large transaction is not to be begun again and again: it waits until those before it want nothing more. Where that would not be enough, for
    /// their places.
    fn behind_much(&mut self, turn: u64, after: &mut After) {
        let defined = self.definitions.values().max().map_or(0, |last| last + 1);
        after.all_done = after.all_done.max(defined);
        match self.mode {
            Mode::Schema | Mode::Writeset if !self.is_ordered => (after.all_done, self.barrier) = (turn, turn + 1),
            Mode::Schema | Mode::Writeset | Mode::Optimistic | Mode::Aggressive => after.all_executed = turn,
            _ => return,
        }
        self.why = Some(Barrier::Large);
    }

    /// A definition is executed in its turn. What is about other tables goes on beside it; where commits are out of order, nothing does.
    fn defines(&mut self, turn: u64, facts: &Facts<'_>, first_undone: u64, after: &mut After) {
        after.all_done = turn;
        self.why = Some(Barrier::Definition);
        if !self.is_ordered {
            self.barrier = turn + 1;
        }
        self.definitions.extend(facts.tables.iter().map(|table| (table.clone(), turn)));
        let head = &facts.head;
        match self.mode {
            Mode::Schema => self.schemas.extend(facts.tables.iter().map(|(schema, _)| (schema.clone(), turn))),
            Mode::Domain => drop(self.domains.insert(head.domain, turn)),
            Mode::Conservative => drop(self.behind_group(turn, head.commit_id)),
            Mode::LogicalClock => drop(self.behind_interval(turn, head, first_undone)),
            _ => {}
        }
    }

    fn behind_group(&mut self, turn: u64, commit_id: Option<u64>) -> u64 {
        match self.group {
            Some((id, begin)) if Some(id) == commit_id => begin,
            _ => {
                self.group = commit_id.map(|id| (id, turn));
                turn
            }
        }
    }

    /// Behind all of the file up to `last_committed`.
    fn behind_interval(&mut self, turn: u64, head: &Head, first_undone: u64) -> u64 {
        if head.sequence_number <= 0 {
            return turn;
        }
        if self.file.0 != head.file_number {
            // Numbers begin anew: what depends on those of the file before does not say so.
            self.file = (head.file_number, turn);
            self.numbers.clear();
        }
        if self.numbers.len() >= HISTORY_MAX {
            self.numbers.retain(|(_, turn)| *turn >= first_undone);
        }
        let known = self.numbers.partition_point(|(number, _)| *number <= head.last_committed);
        let upto = known.checked_sub(1).map(|at| self.numbers[at].1 + 1);
        self.numbers.push((head.sequence_number, turn));
        upto.unwrap_or(if self.is_ordered { 0 } else { self.file.1 })
    }

    /// Domains are a promise of the source's users; what breaks it is found by the rows, waited for, and told.
    fn behind_other_domains(&mut self, turn: u64, facts: &Facts<'_>, first_undone: u64, after: &mut After) {
        if self.touchers.len() >= HISTORY_MAX {
            self.touchers.retain(|_, toucher| toucher.turn >= first_undone);
        }
        let Some(keys) = facts.keys else { return };
        let (domain, gtid) = (facts.head.domain, facts.head.gtid);
        let written = keys.written.iter().map(|hash| (hash, true));
        for (hash, wrote) in keys.read.iter().map(|hash| (hash, false)).chain(written) {
            let before = self.touchers.get(hash).copied();
            if let Some(before) = before.filter(|before| before.domain != domain && (wrote || before.wrote)) {
                after.done.push(before.turn);
                self.crossing = Some(Crossing { domain, other_domain: before.domain, other: before.gtid });
            }
            // Who only refers to a row does not make those forgotten who changed it.
            if wrote || before.is_none_or(|before| !before.wrote) {
                self.touchers.insert(*hash, Toucher { turn, gtid, domain, wrote });
            }
        }
    }

    fn behind_rows(&mut self, turn: u64, keys: Option<&RowKeys>, first_undone: u64, after: &mut After) {
        if self.rows.len() >= HISTORY_MAX {
            let is_undone = |turn: Option<u64>| turn.is_some_and(|turn| turn >= first_undone);
            self.rows.retain(|_, touched| is_undone(touched.writer) || is_undone(touched.reader));
        }
        let is_known = keys.is_some_and(|keys| !keys.is_vague);
        if !is_known && !self.is_ordered {
            (after.all_done, self.barrier) = (turn, turn + 1);
            self.why = Some(Barrier::UnknownRows);
            return;
        }
        after.all_executed = after.all_executed.max(self.unseen);
        let Some(keys) = keys else {
            // Its table is being defined, perhaps: it is executed in its place, as rows without keys have an order.
            after.all_executed = turn;
            self.unseen = turn + 1;
            return;
        };
        let mut all_done = 0;
        for hash in &keys.read {
            let touched = self.rows.entry(*hash).or_default();
            after.done.extend(touched.writer);
            touched.reader = Some(turn);
        }
        for hash in &keys.written {
            let touched = self.rows.entry(*hash).or_default();
            after.done.extend(touched.writer);
            // There may be readers before the last one that are not done.
            if let Some(reader) = touched.reader.filter(|reader| *reader < turn) {
                all_done = all_done.max(reader + 1);
            }
            *touched = Touched { writer: Some(turn), reader: None };
        }
        after.done.retain(|before| *before != turn);
        after.all_done = after.all_done.max(all_done);
    }
}

#[cfg(test)]
mod tests;
