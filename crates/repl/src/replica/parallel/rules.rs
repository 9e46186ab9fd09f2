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
        let Some(keys) = keys else { return };
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
mod tests {
    use super::*;

    /// Intervals of the log that the tutorial on parallel replication has for an example: last_committed and sequence_number.
    const INTERVALS: [(i64, i64); 18] = [
        (93123, 93124),
        (93123, 93125),
        (93123, 93126),
        (93124, 93127),
        (93124, 93128),
        (93124, 93129),
        (93124, 93130),
        (93130, 93131),
        (93131, 93132),
        (93131, 93133),
        (93132, 93134),
        (93133, 93135),
        (93134, 93136),
        (93134, 93137),
        (93134, 93138),
        (93138, 93139),
        (93138, 93140),
        (93140, 93141),
    ];

    #[test]
    fn intervals_wait_for_their_own_predecessors() {
        let mut rules = Rules::new(Mode::LogicalClock, true, usize::MAX);
        let waits = INTERVALS.iter().zip(1..).map(|(&(last_committed, sequence_number), turn)| {
            let head = Head { last_committed, sequence_number, file_number: 1, ..Head::default() };
            rules.next(turn, &Facts { head, ..Facts::default() }, 1).all_done
        });
        // Before which turn all have to be done; turn 1 is 93124.
        assert_eq!(waits.collect::<Vec<_>>(), [0, 0, 0, 2, 2, 2, 2, 8, 9, 9, 10, 11, 12, 12, 12, 16, 16, 18]);
    }

    #[test]
    fn a_new_file_is_a_barrier_only_where_commits_are_out_of_order() {
        for (is_ordered, expected) in [(true, 0), (false, 8)] {
            let mut rules = Rules::new(Mode::LogicalClock, is_ordered, usize::MAX);
            let head = |file_number, last_committed, sequence_number| Head {
                file_number,
                last_committed,
                sequence_number,
                ..Head::default()
            };
            for turn in 1..8 {
                rules.next(turn, &Facts { head: head(1, 0, turn as i64), ..Facts::default() }, 1);
            }
            let after = rules.next(8, &Facts { head: head(2, 0, 1), ..Facts::default() }, 1);
            assert_eq!(after.all_done, expected);
            let after = rules.next(9, &Facts { head: head(2, 1, 2), ..Facts::default() }, 1);
            assert_eq!(after.all_done, 9);
        }
    }

    fn keys(written: &[u64], read: &[u64]) -> RowKeys {
        RowKeys { written: written.to_vec(), read: read.to_vec(), is_vague: false }
    }

    fn after_rows(rules: &mut Rules, turn: u64, keys: &RowKeys) -> After {
        rules.next(turn, &Facts { keys: Some(keys), ..Facts::default() }, 1)
    }

    #[test]
    fn rows_wait_for_whoever_had_them() {
        let mut rules = Rules::new(Mode::Writeset, true, usize::MAX);
        assert_eq!(after_rows(&mut rules, 1, &keys(&[10], &[])), After::default());
        assert_eq!(after_rows(&mut rules, 2, &keys(&[20], &[])), After::default());
        assert_eq!(after_rows(&mut rules, 3, &keys(&[10, 20], &[])).done, [1, 2]);
        // Two children of one parent do not wait for one another; who changes the parent waits for both.
        assert_eq!(after_rows(&mut rules, 4, &keys(&[30], &[20])).done, [3]);
        assert_eq!(after_rows(&mut rules, 5, &keys(&[40], &[20])).done, [3]);
        assert_eq!(after_rows(&mut rules, 6, &keys(&[20], &[])), After { all_done: 6, ..After::default() });
    }

    #[test]
    fn what_is_not_known_is_waited_for_only_where_commits_are_out_of_order() {
        let vague = RowKeys { is_vague: true, ..keys(&[1], &[]) };
        let mut rules = Rules::new(Mode::Writeset, true, usize::MAX);
        after_rows(&mut rules, 1, &keys(&[10], &[]));
        assert_eq!(after_rows(&mut rules, 2, &vague), After::default());
        let mut rules = Rules::new(Mode::Writeset, false, usize::MAX);
        after_rows(&mut rules, 1, &keys(&[10], &[]));
        assert_eq!(after_rows(&mut rules, 2, &vague).all_done, 2);
        assert_eq!(after_rows(&mut rules, 3, &keys(&[30], &[])).all_done, 3);
    }

    #[test]
    fn a_definition_is_waited_for_by_what_is_about_its_tables() {
        let table = |name: &str| vec![("d".to_owned(), name.to_owned())];
        for (is_ordered, others) in [(true, 0), (false, 3)] {
            let mut rules = Rules::new(Mode::Aggressive, is_ordered, usize::MAX);
            assert!(!rules.wants_tables(1));
            let defined = Facts { tables: &table("t"), is_definition: true, ..Facts::default() };
            assert_eq!(rules.next(2, &defined, 1), After { all_done: 2, ..After::default() });
            assert!(rules.wants_tables(2) && rules.wants_tables(1));
            let other = rules.next(3, &Facts { tables: &table("u"), ..Facts::default() }, 1);
            assert_eq!(other, After { all_done: others, ..After::default() });
            let same = rules.next(4, &Facts { tables: &table("t"), ..Facts::default() }, 1);
            assert_eq!(same.done, if is_ordered { vec![2] } else { vec![] });
            assert!(!rules.wants_tables(3), "it has its place");
        }
    }

    #[test]
    fn a_large_transaction_waits_for_definitions_in_every_mode() {
        let table = [("d".to_owned(), "t".to_owned())];
        let head = |number| Head { sequence_number: number, file_number: 1, ..Head::default() };
        for mode in [Mode::LogicalClock, Mode::Conservative, Mode::Minimal, Mode::Writeset, Mode::Aggressive] {
            let mut rules = Rules::new(mode, true, usize::MAX);
            let defined = Facts { head: head(1), tables: &table, is_definition: true, ..Facts::default() };
            rules.next(2, &defined, 1);
            let large = Facts { head: head(2), is_large: true, ..Facts::default() };
            assert_eq!(rules.next(3, &large, 1).all_done, 3, "{mode:?}");
        }
    }

    #[test]
    fn marias_groups_and_hints() {
        let mut rules = Rules::new(Mode::Conservative, true, usize::MAX);
        let ids = [Some(1), Some(1), Some(2), Some(2), None, Some(3), Some(3)];
        let waits = ids.iter().zip(1..).map(|(&commit_id, turn)| {
            rules.next(turn, &Facts { head: Head { commit_id, ..Head::default() }, ..Facts::default() }, 1).all_executed
        });
        assert_eq!(waits.collect::<Vec<_>>(), [1, 1, 3, 3, 5, 6, 6]);
        let mut rules = Rules::new(Mode::Optimistic, true, usize::MAX);
        for (flags, expected) in [(Some(8), 0), (Some(0), 5), (Some(8 | 16), 5), (None, 0)] {
            let facts = Facts { head: Head { flags, ..Head::default() }, ..Facts::default() };
            assert_eq!(rules.next(5, &facts, 1).all_done, expected, "{flags:?}");
        }
    }

    #[test]
    fn domains_that_touch_the_same_rows() {
        let mut rules = Rules::new(Mode::Domain, false, usize::MAX);
        let mut next = |turn, domain, keys: &RowKeys| {
            let head = Head { domain, ..Head::default() };
            let after = rules.next(turn, &Facts { head, keys: Some(keys), ..Facts::default() }, 1).done;
            (after, rules.crossing().map(|crossing| crossing.other_domain))
        };
        assert_eq!(next(1, 0, &keys(&[10], &[])), (vec![], None));
        assert_eq!(next(2, 1, &keys(&[20], &[])), (vec![], None));
        assert_eq!(next(3, 0, &keys(&[10], &[])), (vec![1], None), "a row of its own domain");
        assert_eq!(next(4, 1, &keys(&[10], &[])), (vec![2, 3], Some(0)));
        // Two that refer to one row are in nobody's way, and whoever changes it afterwards waits for the last of them that is known.
        assert_eq!(next(5, 0, &keys(&[], &[30])), (vec![3], None));
        assert_eq!(next(6, 1, &keys(&[], &[30])), (vec![4], None));
        assert_eq!(next(7, 0, &keys(&[30], &[])), (vec![5, 6], Some(1)));
        assert_eq!(next(8, 1, &keys(&[40], &[30])), (vec![6, 7], Some(0)), "a child of a row of another domain");
    }

    #[test]
    fn schemas_and_domains() {
        let mut rules = Rules::new(Mode::Schema, true, usize::MAX);
        let mut after = |turn, schemas: &[&str]| {
            let schemas: Vec<String> = schemas.iter().map(|&schema| schema.to_owned()).collect();
            rules.next(turn, &Facts { schemas: &schemas, ..Facts::default() }, 1).done
        };
        assert!(after(1, &["a"]).is_empty());
        assert!(after(2, &["b"]).is_empty());
        assert_eq!(after(3, &["a", "b"]), [1, 2]);
        assert_eq!(after(4, &["a"]), [3]);
        let mut rules = Rules::new(Mode::Domain, false, usize::MAX);
        let waits = [0, 1, 0, 1].iter().zip(1..).map(|(&domain, turn)| {
            rules.next(turn, &Facts { head: Head { domain, ..Head::default() }, ..Facts::default() }, 1).done
        });
        assert_eq!(waits.collect::<Vec<_>>(), [vec![], vec![], vec![1], vec![2]]);
    }

    #[test]
    fn of_a_domain_only_so_many_are_under_way() {
        let mut rules = Rules::new(Mode::Aggressive, true, 2);
        let mut next = |turn, domain, first_undone| {
            let head = Head { domain, ..Head::default() };
            rules.next(turn, &Facts { head, ..Facts::default() }, first_undone).done
        };
        let waits: Vec<_> = [(1, 0), (2, 0), (3, 1), (4, 0), (5, 1)].map(|(turn, domain)| next(turn, domain, 1)).into();
        assert_eq!(waits, [vec![], vec![], vec![], vec![1], vec![]]);
        assert_eq!(next(6, 0, 4), Vec::<u64>::new(), "the second is done");
        assert_eq!(next(7, 0, 4), [4]);
    }

    #[test]
    fn barriers_say_why() {
        let mut rules = Rules::new(Mode::Optimistic, true, usize::MAX);
        let facts = [
            (Facts { is_definition: true, ..Facts::default() }, Some(Barrier::Definition)),
            (Facts { is_large: true, ..Facts::default() }, Some(Barrier::Large)),
            (Facts { head: Head { flags: Some(0), ..Head::default() }, ..Facts::default() }, Some(Barrier::Hint)),
            (Facts::default(), None),
        ];
        for (turn, (facts, expected)) in (1..).zip(facts) {
            rules.next(turn, &facts, 1);
            assert_eq!(rules.why(), expected, "turn {turn}");
        }
        let mut rules = Rules::new(Mode::Writeset, false, usize::MAX);
        rules.next(1, &Facts::default(), 1);
        assert_eq!(rules.why(), Some(Barrier::UnknownRows));
    }
}
