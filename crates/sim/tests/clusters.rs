//! Clusters. One seed: `COMMUTER_SIM_SEED=123 cargo test -p sim --test clusters`; more: `COMMUTER_SIM_SEEDS=10000`.

mod common;

use std::ops::Range;
use std::time::Duration;

use sim::{ClusterReport, ClusterScenario, Executing, run_cluster};

const SEEDS: u64 = 36;
/// These are longer.
const SEEDS_OF_COMPARISONS: u64 = 30;

/// Runs these seeds; what they did, added up.
fn run(seeds: Range<u64>, scenario: &ClusterScenario) -> ClusterReport {
    let mut all = ClusterReport::default();
    for seed in seeds.clone() {
        match run_cluster(seed, scenario) {
            Ok(report) => {
                all.acknowledged += report.acknowledged;
                all.seen += report.seen;
                all.compared += report.compared;
                all.deaths += report.deaths;
                all.found += report.found;
                all.repaired += report.repaired;
            }
            Err(error) => panic!("{error}\nrepeat with COMMUTER_SIM_SEED={seed} cargo test -p sim --test clusters"),
        }
    }
    let count = seeds.end - seeds.start;
    let ClusterReport { acknowledged, seen, compared, deaths, .. } = all;
    println!("{count} seeds: {acknowledged} acknowledged, {seen} snapshots, {compared} comparisons, {deaths} deaths");
    assert!(count == 1 || (acknowledged > count && seen > count), "the workload worked");
    all
}

#[test]
fn followers_have_what_their_source_has() {
    run(common::seeds(0, SEEDS), &ClusterScenario::default());
}

#[test]
fn with_failing_syncs() {
    run(common::seeds(1_000_000, SEEDS), &ClusterScenario { sync_error: 0.01, ..ClusterScenario::default() });
}

/// What a transaction writes goes to files, and the transaction becomes a file of the log; followers install it from there.
#[test]
fn large_transactions() {
    run(
        common::seeds(2_000_000, SEEDS),
        &ClusterScenario { transaction_memory_bytes: 500, ..ClusterScenario::default() },
    );
}

/// Faults that leave followers the time to compare themselves beside those who write; large transactions, which make checkpoints.
#[test]
fn followers_find_that_they_are_what_their_source_is() {
    let pause_max = Duration::from_millis(100);
    let small = ClusterScenario { transaction_memory_bytes: 500, readers: 1, ..ClusterScenario::default() };
    let scenario = ClusterScenario { steps: 15, pause_max, ..small };
    let seeds = common::seeds(3_000_000, SEEDS_OF_COMPARISONS);
    let is_one = seeds.end - seeds.start == 1;
    assert!(run(seeds, &scenario).compared > 0 || is_one, "nobody has looked");
}

/// A disk that flips bits, loses writes, or puts them elsewhere: in any file, on any server.
#[test]
fn a_disk_that_does_wrong_is_found() {
    const ALL: &[&str] = &["binlog.0", "binlog.0", "data.ctr", "data.ctr", "transaction", "tmp/", "binlog.index", ""];
    for (first, transaction_memory_bytes, damage) in [
        (4_000_000, 16 << 20, ALL),
        (4_300_000, 16 << 20, &["data.ctr"]),
        (4_500_000, 500, ALL),
        (4_700_000, 500, &["transaction", "data.ctr"]),
    ] {
        let scenario = ClusterScenario { damage, transaction_memory_bytes, ..ClusterScenario::default() };
        println!("{} found", run(common::seeds(first, SEEDS), &scenario).found);
    }
}

/// What stays wrong in a follower's data file it makes good by itself, with its source's rows.
#[test]
fn followers_repair_themselves() {
    let scenario = ClusterScenario { damage: &["data.ctr"], repairs: true, ..ClusterScenario::default() };
    let seeds = common::seeds(4_900_000, SEEDS);
    // The few seeds of a soak's turn may all do without.
    let are_many = seeds.end - seeds.start >= SEEDS;
    let report = run(seeds, &scenario);
    println!("{} found, {} ranges repaired", report.found, report.repaired);
    assert!(!are_many || report.repaired > 0, "no seed had anything to repair");
}

/// Pages of the data file are of any size, and what a disk does wrong to them is found before they are decompressed.
#[test]
fn compressed_tables() {
    let table_options = [" COMPRESSION='zstd'", " COMPRESSION='lz4'"];
    for (first, damage) in [(8_000_000, [].as_slice()), (8_500_000, &["data.ctr"])] {
        run(common::seeds(first, SEEDS), &ClusterScenario { table_options, damage, ..ClusterScenario::default() });
    }
}

/// Only the times that are told may be others.
#[test]
fn clocks_jump() {
    run(common::seeds(5_000_000, SEEDS), &ClusterScenario { clocks_jump: true, ..ClusterScenario::default() });
}

/// Who is gone is not said to be; who comes back meets what is left of its former connections.
#[test]
fn half_open_connections() {
    let scenario = ClusterScenario { silent_deaths: true, ..ClusterScenario::default() };
    run(common::seeds(6_000_000, SEEDS), &scenario);
}

/// What a box between two servers repeats, swaps, loses or changes is in no log.
#[test]
fn bytes_between_servers_are_garbled() {
    let scenario = ClusterScenario { garbling: 0.005, ..ClusterScenario::default() };
    run(common::seeds(7_000_000, SEEDS), &scenario);
}

const MODES: &[&str] =
    &["NONE", "SCHEMA", "DOMAIN", "MINIMAL", "CONSERVATIVE", "LOGICAL_CLOCK", "OPTIMISTIC", "AGGRESSIVE", "WRITESET"];

/// Whatever runs side by side: the same transactions, in the same order, with the same rows.
#[test]
fn logs_are_executed_in_parallel() {
    let executing = Some(Executing { modes: MODES, is_ordered: true });
    for (first, transaction_memory_bytes) in [(9_000_000, 16 << 20), (9_300_000, 500)] {
        let scenario = ClusterScenario { executing, transaction_memory_bytes, ..ClusterScenario::default() };
        run(common::seeds(first, SEEDS), &scenario);
    }
}

/// Many that write the same few rows, and transactions that begin before those that they depend on.
#[test]
fn logs_are_executed_too_early() {
    let executing = Some(Executing { modes: &["MINIMAL", "OPTIMISTIC", "AGGRESSIVE"], is_ordered: true });
    let scenario = ClusterScenario { executing, writers: 16, readers: 2, ..ClusterScenario::default() };
    run(common::seeds(9_900_000, SEEDS), &scenario);
}

/// The same with syncs that fail.
#[test]
fn logs_are_executed_in_parallel_with_failing_syncs() {
    let executing = Some(Executing { modes: MODES, is_ordered: true });
    let scenario = ClusterScenario { executing, sync_error: 0.01, ..ClusterScenario::default() };
    run(common::seeds(9_500_000, SEEDS), &scenario);
}

/// In the modes that know what depends on what: commits as they come, and at the end the same rows.
#[test]
fn logs_are_executed_out_of_order() {
    let executing = Some(Executing { modes: &["LOGICAL_CLOCK", "WRITESET"], is_ordered: false });
    let scenario = ClusterScenario { executing, ..ClusterScenario::default() };
    run(common::seeds(9_700_000, SEEDS), &scenario);
}

/// The same, where logs are executed: the kind of a source could not be kept, and its receiver stopped for good (1796716319007).
#[test]
fn seeds_that_found_something_where_logs_are_executed() {
    let executing = Some(Executing { modes: MODES, is_ordered: true });
    run_cluster(1_796_716_319_007, &ClusterScenario { executing, sync_error: 0.01, ..ClusterScenario::default() })
        .unwrap();
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
    for seed in common::seeds(500, SEEDS).take(20) {
        let scenario = ClusterScenario::default();
        assert_eq!(run_cluster(seed, &scenario), run_cluster(seed, &scenario));
    }
}
