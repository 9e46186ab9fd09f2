//! Histories written by hand, one for each anomaly, and ones that are right.

use std::collections::BTreeSet;

use super::anomaly::Class;
use super::check::{Findings, check};
use super::history::{Element, Key, Level, Op, Outcome, Transaction};

/// A history in the making: each transaction begins when all before it have begun, and ends after all have, unless told.
#[derive(Default)]
struct Script(Vec<Transaction>);

impl Script {
    fn begin(&mut self, level: Level) -> &mut Transaction {
        let began = self.0.len() as u64;
        self.0.push(Transaction {
            server: 0,
            level,
            began,
            ended: 1000 + began,
            viewed: None,
            fresh: Some(began),
            outcome: Outcome::Committed,
            ops: Vec::new(),
        });
        self.0.last_mut().unwrap()
    }

    /// Looks at everything when all has ended.
    fn last_look(&mut self, lists: &[(Key, &[Element])]) {
        let last = self.begin(Level::Serializable).read(lists);
        (last.began, last.fresh, last.ended) = (5000, Some(5000), 5001);
    }

    fn check(&self) -> Findings {
        check(&self.0)
    }

    /// The classes that must not be.
    fn broken(&self) -> BTreeSet<Class> {
        self.check().broken.iter().map(|one| one.class).collect()
    }
}

impl Transaction {
    fn append(&mut self, key: Key, element: Element) -> &mut Self {
        self.ops.push(Op::Append { key, element, done: true });
        self
    }

    fn refused(&mut self, key: Key, element: Element) -> &mut Self {
        self.ops.push(Op::Append { key, element, done: false });
        self
    }

    fn read(&mut self, lists: &[(Key, &[Element])]) -> &mut Self {
        self.look(lists, false)
    }

    fn locking(&mut self, lists: &[(Key, &[Element])]) -> &mut Self {
        self.look(lists, true)
    }

    fn look(&mut self, lists: &[(Key, &[Element])], locking: bool) -> &mut Self {
        let lists = lists.iter().map(|(key, list)| (*key, list.to_vec())).collect();
        self.ops.push(Op::Read { locking, lists });
        self
    }

    fn op(&mut self, op: Op) -> &mut Self {
        self.ops.push(op);
        self
    }

    fn ends(&mut self, outcome: Outcome) -> &mut Self {
        self.outcome = outcome;
        self
    }

    /// From one moment to another, the source's state of its beginning being seen.
    fn between(&mut self, began: u64, ended: u64) -> &mut Self {
        (self.began, self.fresh, self.ended) = (began, Some(began), ended);
        self
    }

    /// On a follower, without waiting for anything.
    fn on(&mut self, server: usize) -> &mut Self {
        (self.server, self.fresh) = (server, None);
        self
    }
}

fn classes<const N: usize>(classes: [Class; N]) -> BTreeSet<Class> {
    classes.into_iter().collect()
}

#[test]
fn a_serial_history_is_right_at_each_level() {
    for level in Level::ALL {
        let mut script = Script::default();
        script.begin(level).read(&[(1, &[])]).append(1, 1).read(&[(1, &[1])]).between(1, 2);
        script.begin(level).read(&[(1, &[1])]).append(1, 2).append(2, 3).between(3, 4);
        script.begin(level).refused(2, 4).ends(Outcome::Aborted).between(5, 6);
        script.last_look(&[(1, &[1, 2]), (2, &[3])]);
        let findings = script.check();
        assert!(findings.broken.is_empty() && findings.seen.is_empty(), "{findings:?}");
    }
}

#[test]
fn dirty_write() {
    let mut script = Script::default();
    script.begin(Level::ReadUncommitted).append(1, 1).append(2, 2);
    script.begin(Level::ReadUncommitted).append(1, 3).append(2, 4);
    script.last_look(&[(1, &[1, 3]), (2, &[4, 2])]);
    assert_eq!(script.broken(), classes([Class::G0]));
}

#[test]
fn a_dirty_write_that_comes_between_two_of_one_transaction() {
    let mut script = Script::default();
    script.begin(Level::ReadCommitted).append(1, 1).append(1, 3);
    script.begin(Level::ReadCommitted).append(1, 2);
    script.last_look(&[(1, &[1, 2, 3])]);
    assert_eq!(script.broken(), classes([Class::G0]));
}

#[test]
fn aborted_reads() {
    for number in 0..3 {
        let mut script = Script::default();
        let one = script.begin(Level::ReadCommitted);
        match number {
            0 => one.append(1, 1).ends(Outcome::Aborted),
            1 => one.refused(1, 1),
            _ => one.op(Op::Savepoint).append(1, 1).op(Op::RollbackToSavepoint),
        };
        script.begin(Level::ReadCommitted).read(&[(1, &[1])]);
        assert_eq!(script.broken(), classes([Class::G1a]), "{number}");
    }
}

#[test]
fn what_aborted_transactions_saw_does_not_count() {
    let mut script = Script::default();
    script.begin(Level::ReadCommitted).append(1, 1).ends(Outcome::Unknown);
    script.begin(Level::ReadCommitted).locking(&[(1, &[1])]).ends(Outcome::Unknown);
    script.last_look(&[(1, &[])]);
    assert!(script.broken().is_empty());
}

#[test]
fn intermediate_read() {
    let mut script = Script::default();
    script.begin(Level::ReadCommitted).append(1, 1).append(1, 2);
    script.begin(Level::ReadCommitted).read(&[(1, &[1])]);
    script.last_look(&[(1, &[1, 2])]);
    assert!(script.broken().contains(&Class::G1b));
}

#[test]
fn circular_information_flow() {
    let mut script = Script::default();
    script.begin(Level::ReadCommitted).append(1, 1).read(&[(2, &[2])]);
    script.begin(Level::ReadCommitted).append(2, 2).read(&[(1, &[1])]);
    assert_eq!(script.broken(), classes([Class::G1c]));
}

/// Read skew: a view of the first list before, of the second after.
fn read_skew(level: Level, locking: bool) -> Script {
    let mut script = Script::default();
    script.begin(level).look(&[(1, &[])], locking).look(&[(2, &[2])], locking);
    script.begin(level).append(1, 1).append(2, 2);
    script.last_look(&[(1, &[1]), (2, &[2])]);
    script
}

#[test]
fn read_skew_is_read_committed() {
    let findings = read_skew(Level::ReadCommitted, false).check();
    assert!(findings.broken.is_empty(), "{findings:?}");
    assert_eq!(findings.seen, classes([Class::GSingle]));
    for level in [Level::RepeatableRead, Level::Serializable] {
        assert_eq!(read_skew(level, false).broken(), classes([Class::GSingle]), "{level:?}");
        assert_eq!(read_skew(level, true).broken(), classes([Class::GSingle]), "{level:?}, with locks");
    }
    // What is not there cannot be locked in READ COMMITTED.
    assert!(read_skew(Level::ReadCommitted, true).broken().is_empty());
}

#[test]
fn read_skew_in_one_statement_is_no_level() {
    let mut script = Script::default();
    script.begin(Level::ReadCommitted).read(&[(1, &[]), (2, &[2])]);
    script.begin(Level::ReadCommitted).append(1, 1).append(2, 2);
    script.last_look(&[(1, &[1]), (2, &[2])]);
    assert_eq!(script.broken(), classes([Class::GSingle]));
}

#[test]
fn fuzzy_read() {
    for (level, is_broken) in [(Level::ReadCommitted, false), (Level::RepeatableRead, true)] {
        let mut script = Script::default();
        script.begin(level).read(&[(1, &[])]).read(&[(1, &[1])]);
        script.begin(level).append(1, 1);
        assert_eq!(!script.broken().is_empty(), is_broken, "{level:?}");
    }
}

#[test]
fn a_row_that_was_locked_stays_as_it_is() {
    let mut script = Script::default();
    script.begin(Level::ReadCommitted).append(1, 1).between(0, 1);
    script.begin(Level::ReadCommitted).locking(&[(1, &[1])]).append(2, 3);
    script.begin(Level::ReadCommitted).append(1, 2).append(2, 4);
    script.last_look(&[(1, &[1, 2]), (2, &[4, 3])]);
    assert_eq!(script.broken(), classes([Class::GSingle]));
}

#[test]
fn lost_update() {
    for (level, is_broken) in [(Level::RepeatableRead, false), (Level::Serializable, true)] {
        let mut script = Script::default();
        script.begin(level).read(&[(1, &[])]).append(1, 1);
        script.begin(level).read(&[(1, &[])]).append(1, 2);
        script.last_look(&[(1, &[1, 2])]);
        let findings = script.check();
        assert_eq!(findings.seen, classes([Class::LostUpdate]));
        assert_eq!(!findings.broken.is_empty(), is_broken, "{level:?}");
    }
}

#[test]
fn write_skew() {
    for (level, is_broken) in [(Level::RepeatableRead, false), (Level::Serializable, true)] {
        let mut script = Script::default();
        script.begin(level).read(&[(2, &[])]).append(1, 1);
        script.begin(level).read(&[(1, &[])]).append(2, 2);
        script.last_look(&[(1, &[1]), (2, &[2])]);
        let findings = script.check();
        assert_eq!(findings.seen, classes([Class::G2Item]));
        assert_eq!(findings.broken.iter().any(|one| one.class == Class::G2Item), is_broken, "{level:?}");
    }
}

#[test]
fn write_skew_of_locking_reads_is_no_level() {
    let mut script = Script::default();
    script.begin(Level::RepeatableRead).locking(&[(2, &[])]).append(1, 1);
    script.begin(Level::RepeatableRead).locking(&[(1, &[])]).append(2, 2);
    script.last_look(&[(1, &[1]), (2, &[2])]);
    assert_eq!(script.broken(), classes([Class::G2Item]));
}

#[test]
fn a_stale_read_breaks_real_time() {
    for level in Level::ALL {
        let mut script = Script::default();
        script.begin(level).append(1, 1).between(1, 2);
        script.begin(level).read(&[(1, &[])]).between(3, 4);
        script.last_look(&[(1, &[1])]);
        assert_eq!(script.broken(), classes([Class::GSingle]), "{level:?}");
    }
}

#[test]
fn real_time_goes_through_others() {
    let mut script = Script::default();
    script.begin(Level::Serializable).append(1, 1).between(1, 2);
    script.begin(Level::Serializable).append(2, 2).between(3, 4);
    script.begin(Level::Serializable).read(&[(2, &[2])]).between(5, 6);
    script.begin(Level::Serializable).read(&[(1, &[])]).between(7, 8);
    script.last_look(&[(1, &[1]), (2, &[2])]);
    assert_eq!(script.broken(), classes([Class::GSingle]));
}

#[test]
fn an_acknowledged_append_that_is_gone() {
    let mut script = Script::default();
    script.begin(Level::ReadCommitted).append(1, 1);
    script.last_look(&[(1, &[])]);
    assert_eq!(script.broken(), classes([Class::Lost]));
}

#[test]
fn an_unknown_commit_may_be_there_or_not_and_counts_if_it_was_seen() {
    for seen in [&[][..], &[1]] {
        let mut script = Script::default();
        script.begin(Level::ReadCommitted).append(1, 1).ends(Outcome::Unknown);
        script.last_look(&[(1, seen)]);
        assert!(script.broken().is_empty());
    }
    let mut script = Script::default();
    script.begin(Level::Serializable).append(1, 1).read(&[(2, &[])]).ends(Outcome::Unknown);
    script.begin(Level::Serializable).append(2, 2).read(&[(1, &[])]);
    script.last_look(&[(1, &[1]), (2, &[2])]);
    assert_eq!(script.broken(), classes([Class::G2Item]));
}

#[test]
fn orders_garbage_duplicates() {
    let mut script = Script::default();
    script.begin(Level::ReadCommitted).append(1, 1);
    script.begin(Level::ReadCommitted).append(1, 2);
    script.begin(Level::ReadCommitted).read(&[(1, &[1])]);
    script.last_look(&[(1, &[2, 1])]);
    assert_eq!(script.broken(), classes([Class::IncompatibleOrder]));
    let mut script = Script::default();
    script.last_look(&[(1, &[1])]);
    assert_eq!(script.broken(), classes([Class::Garbage]));
    let mut script = Script::default();
    script.begin(Level::ReadCommitted).append(1, 1);
    script.last_look(&[(1, &[1, 1])]);
    assert_eq!(script.broken(), classes([Class::Duplicate]));
}

#[test]
fn a_transaction_sees_its_own_appends() {
    for own in [&[][..], &[2, 1], &[1, 2, 3]] {
        let mut script = Script::default();
        script.begin(Level::RepeatableRead).append(1, 1).append(1, 2).read(&[(1, own)]).append(1, 3);
        script.last_look(&[(1, &[1, 2, 3])]);
        assert!(script.broken().contains(&Class::Internal), "{own:?}");
    }
    // What others had appended comes with the own append, although the read view is older.
    let mut script = Script::default();
    script.begin(Level::RepeatableRead).read(&[(1, &[])]).append(1, 2).read(&[(1, &[1, 2])]);
    script.begin(Level::RepeatableRead).append(1, 1);
    assert!(script.broken().is_empty());
}

#[test]
fn what_was_taken_back_to_a_savepoint_is_not_seen_again() {
    for (seen, is_right) in [(&[1][..], true), (&[1, 2], false)] {
        let mut script = Script::default();
        let one = script.begin(Level::RepeatableRead).append(1, 1).op(Op::Savepoint).append(1, 2);
        one.read(&[(1, &[1, 2])]).op(Op::RollbackToSavepoint).read(&[(1, seen)]);
        script.last_look(&[(1, &[1])]);
        // The read between was right, and nobody else saw it.
        assert_eq!(script.broken().is_empty(), is_right, "{:?}", script.check());
    }
}

#[test]
fn followers_may_be_behind_and_never_of_no_prefix() {
    let writes = |script: &mut Script| {
        script.begin(Level::ReadCommitted).append(1, 1).between(1, 2);
        script.begin(Level::ReadCommitted).append(2, 2).between(3, 4);
    };
    let mut script = Script::default();
    writes(&mut script);
    script.begin(Level::Serializable).read(&[(1, &[])]).read(&[(2, &[])]).between(5, 6).on(1);
    script.last_look(&[(1, &[1]), (2, &[2])]);
    assert!(script.broken().is_empty());
    // It waited for the first.
    script.0[2].fresh = Some(3);
    assert_eq!(script.broken(), classes([Class::GSingle]));

    let mut script = Script::default();
    writes(&mut script);
    script.begin(Level::Serializable).locking(&[(1, &[]), (2, &[2])]).between(5, 6).on(1);
    script.last_look(&[(1, &[1]), (2, &[2])]);
    assert_eq!(script.broken(), classes([Class::GSingle]), "a later commit without an earlier one");

    let mut script = Script::default();
    writes(&mut script);
    script.begin(Level::ReadCommitted).read(&[(1, &[1])]).between(5, 6).on(1);
    script.begin(Level::ReadCommitted).read(&[(1, &[])]).between(7, 8).on(1);
    script.last_look(&[(1, &[1]), (2, &[2])]);
    assert_eq!(script.broken(), classes([Class::GSingle]), "it went back");
}

#[test]
fn a_follower_shows_nothing_before_its_source_has_it() {
    let mut script = Script::default();
    script.begin(Level::ReadCommitted).read(&[(1, &[1])]).between(1, 2).on(1);
    script.begin(Level::ReadCommitted).append(1, 1).between(3, 4);
    assert_eq!(script.broken(), classes([Class::G1c]));
}

#[test]
fn what_is_found_is_told_with_its_reasons() {
    let script = read_skew(Level::RepeatableRead, false);
    let text = script.check().broken[0].describe(&script.0);
    for part in [
        "GSingle",
        "T0 before T1: the first read list 1 without 1",
        "T1 before T0: the second read list 2 with 2",
        "REPEATABLE READ on server 0, Committed",
    ] {
        assert!(text.contains(part), "no '{part}' in\n{text}");
    }
}

#[test]
fn a_snapshot_is_of_when_it_was_asked_for() {
    let mut script = Script::default();
    script.begin(Level::RepeatableRead).read(&[(1, &[1])]).between(1, 6);
    script.begin(Level::ReadCommitted).append(1, 1).between(3, 4);
    assert!(script.broken().is_empty(), "the first read takes it");
    script.0[0].viewed = Some(2);
    assert_eq!(script.broken(), classes([Class::G1c]));
}
