//! Random scripts for a source and its replica: a few seeds of each pair. `cargo xtask soak --pairs` asks more, and makes what fails small.

use interop::pairs::PAIRS;

/// Of each pair, so that all of them together take less than a minute.
const SEEDS: u64 = 6;

fn seeds_of(name: &str) {
    let pair = PAIRS.iter().find(|pair| pair.name == name).unwrap();
    let outcome = pair.run(1..1 + SEEDS, false).unwrap();
    assert!(outcome.failures.is_empty(), "{}", outcome.failures.join("\n\n"));
    // Scripts that are refused would be equal, too.
    let (taken, refused) = outcome.statements;
    assert!(refused * 3 < taken, "{taken} statements done, refused by their codes: {:?}", outcome.refused);
}

#[test]
fn from_mysql_to_ours() {
    seeds_of("mysql-commuter");
}

#[test]
fn from_mariadb_to_ours() {
    seeds_of("mariadb-commuter");
}

#[test]
fn from_ours_to_mysql() {
    seeds_of("commuter-mysql");
}

#[test]
fn from_ours_to_mariadb() {
    seeds_of("commuter-mariadb");
}

#[test]
fn from_ours_to_a_copy() {
    seeds_of("commuter-commuter");
}

#[test]
fn beside_a_mysql() {
    seeds_of("mysql-beside-commuter");
}
