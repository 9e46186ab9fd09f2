//! Which transactions wait for which, by mode.

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
fn rows_that_were_not_looked_at_are_executed_in_their_place() {
    let mut rules = Rules::new(Mode::Writeset, true, usize::MAX);
    after_rows(&mut rules, 1, &keys(&[10], &[]));
    let unseen = rules.next(2, &Facts::default(), 1);
    assert_eq!(unseen, After { all_executed: 2, ..After::default() });
    assert_eq!(after_rows(&mut rules, 3, &keys(&[30], &[])).all_executed, 3);
    assert_eq!(after_rows(&mut rules, 4, &keys(&[40], &[])).all_executed, 3);
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
