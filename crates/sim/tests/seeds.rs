//! Thousands of seeds. One seed: `COMMUTER_SIM_SEED=123 cargo test -p sim`; more: `COMMUTER_SIM_SEEDS=100000`.

mod common;

use sim::{Scenario, run_seed};

const SEEDS: u64 = 350;

/// Seeds that found something, with what it was: a recovery that relied on bytes in the system's cache (1414), bytes of
/// a failed sync taken for durable (1000001), two syncs through one open file (1000002), a file's first bytes not
/// written again (1000447), a memtable full of what cannot be published yet (24). Since steps are interrupted, they take
/// other ways than then.
const FOUND: [u64; 5] = [24, 1414, 1_000_001, 1_000_002, 1_000_447];

fn run(first: u64, scenario: &Scenario) {
    let mut acknowledged = 0;
    let mut seen = 0;
    let seeds = common::seeds(first, SEEDS);
    for seed in seeds.clone() {
        match run_seed(seed, scenario) {
            Ok(report) => {
                acknowledged += report.acknowledged;
                seen += report.seen;
            }
            Err(error) => panic!("{error}\nrepeat with COMMUTER_SIM_SEED={seed} cargo test -p sim"),
        }
    }
    let count = seeds.end - seeds.start;
    println!("{count} seeds: {acknowledged} transactions acknowledged, {seen} states read");
    assert!(acknowledged > count, "the workload worked");
}

#[test]
fn crashes_lose_nothing_that_was_acknowledged() {
    run(0, &Scenario::default());
}

#[test]
fn failed_syncs_are_final() {
    run(1_000_000, &Scenario { sync_error: 0.02, ..Scenario::default() });
}

#[test]
fn a_full_disk_loses_nothing() {
    run(2_000_000, &Scenario { disk_fills: true, ..Scenario::default() });
}

/// What a transaction writes goes to files, and the transaction becomes a file of the log.
#[test]
fn large_transactions() {
    run(3_000_000, &Scenario { transaction_memory_bytes: 700, ..Scenario::default() });
    let half = Scenario { transaction_memory_bytes: 1200, ..Scenario::default() };
    run(3_500_000, &Scenario { sync_error: 0.02, ..half.clone() });
    run(3_600_000, &Scenario { disk_fills: true, ..half });
}

#[test]
fn seeds_that_found_something() {
    for seed in FOUND {
        let sync_error = if seed < 1_000_000 { 0.0 } else { 0.02 };
        run_seed(seed, &Scenario { sync_error, ..Scenario::default() }).unwrap();
    }
}
