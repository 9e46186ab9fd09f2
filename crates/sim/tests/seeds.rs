//! Thousands of seeds. One seed: `COMMUTER_SIM_SEED=123 cargo test -p sim`; more: `COMMUTER_SIM_SEEDS=100000`.

use sim::{Scenario, run_seed};

const SEEDS: u64 = 1_000;

fn seeds(first: u64) -> Vec<u64> {
    let number = |name: &str| std::env::var(name).ok().and_then(|value| value.parse::<u64>().ok());
    match number("COMMUTER_SIM_SEED") {
        Some(seed) => vec![seed],
        None => (first..first + number("COMMUTER_SIM_SEEDS").unwrap_or(SEEDS)).collect(),
    }
}

fn run(first: u64, scenario: &Scenario) {
    let mut acknowledged = 0;
    let mut seen = 0;
    let seeds = seeds(first);
    for &seed in &seeds {
        match run_seed(seed, scenario) {
            Ok(report) => {
                acknowledged += report.acknowledged;
                seen += report.seen;
            }
            Err(error) => panic!("{error}\nrepeat with COMMUTER_SIM_SEED={seed} cargo test -p sim"),
        }
    }
    println!("{} seeds: {acknowledged} transactions acknowledged, {seen} states read", seeds.len());
    assert!(acknowledged > seeds.len() as u64, "the workload worked");
}

#[test]
fn crashes_lose_nothing_that_was_acknowledged() {
    run(0, &Scenario::default());
}

#[test]
fn failed_syncs_are_final() {
    run(1_000_000, &Scenario { sync_error: 0.02, ..Scenario::default() });
}
