//! Random scripts for a source and its replica: a few seeds of each pair. `cargo xtask soak --pairs` asks more, and makes what fails small.

use interop::pairs::PAIRS;

/// Of each pair, on which nothing of what is known to differ comes up; so few that all of them together take less than a minute.
const SEEDS: u64 = 6;

fn seeds_of(name: &str, first: u64) {
    let pair = PAIRS.iter().find(|pair| pair.name == name).unwrap();
    let outcome = pair.run(first..first + SEEDS, false).unwrap();
    assert!(outcome.failures.is_empty(), "{}", outcome.failures.join("\n\n"));
    // Scripts that are refused would be equal, too.
    let (taken, refused) = outcome.statements;
    assert!(refused * 3 < taken, "{taken} statements done, refused by their codes: {:?}", outcome.refused);
}

#[test]
fn from_mysql_to_ours() {
    seeds_of("mysql-commuter", 1);
}

#[test]
fn from_mariadb_to_ours() {
    seeds_of("mariadb-commuter", 4);
}

#[test]
fn from_ours_to_mysql() {
    seeds_of("commuter-mysql", 1);
}

#[test]
fn from_ours_to_mariadb() {
    seeds_of("commuter-mariadb", 1);
}

#[test]
fn from_ours_to_a_copy() {
    seeds_of("commuter-commuter", 1);
}
