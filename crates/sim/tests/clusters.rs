//! Clusters. One seed: `COMMUTER_SIM_SEED=123 cargo test -p sim --test clusters`; more: `COMMUTER_SIM_SEEDS=10000`.

mod common;

use sim::{ClusterScenario, run_cluster};

const SEEDS: u64 = 150;

fn run(first: u64, scenario: &ClusterScenario) {
    let (mut acknowledged, mut seen, mut compared, mut deaths) = (0, 0, 0, 0);
    let seeds = common::seeds(first, SEEDS);
    for seed in seeds.clone() {
        match run_cluster(seed, scenario) {
            Ok(report) => {
                acknowledged += report.acknowledged;
                seen += report.seen;
                compared += report.compared;
                deaths += report.deaths;
            }
            Err(error) => panic!("{error}\nrepeat with COMMUTER_SIM_SEED={seed} cargo test -p sim --test clusters"),
        }
    }
    let count = seeds.end - seeds.start;
    println!("{count} seeds: {acknowledged} acknowledged, {seen} snapshots, {compared} comparisons, {deaths} deaths");
    assert!(acknowledged > count && seen > count && (compared > 0 || count < SEEDS), "the workload worked");
}

#[test]
fn followers_have_what_their_source_has() {
    run(0, &ClusterScenario::default());
}

#[test]
fn with_failing_syncs() {
    run(1_000_000, &ClusterScenario { sync_error: 0.01, ..ClusterScenario::default() });
}

/// What a transaction writes goes to files, and the transaction becomes a file of the log; followers install it from there.
#[test]
fn large_transactions() {
    run(2_000_000, &ClusterScenario { transaction_memory_bytes: 500, ..ClusterScenario::default() });
}

/// Seeds that found something, with what it was: a first start that ended between its two statements left a root without
/// privileges (1000006), a receiver stopped for good when a file could not be prepared (1000157), the mark of a complete file
/// was in the system's cache only (1000569).
#[test]
fn seeds_that_found_something() {
    for seed in [1_000_006, 1_000_157, 1_000_569] {
        run_cluster(seed, &ClusterScenario { sync_error: 0.01, ..ClusterScenario::default() }).unwrap();
    }
}

#[test]
fn a_seed_repeats_exactly() {
    for seed in common::seeds(500, SEEDS).take(5) {
        let scenario = ClusterScenario::default();
        assert_eq!(run_cluster(seed, &scenario), run_cluster(seed, &scenario));
    }
}
