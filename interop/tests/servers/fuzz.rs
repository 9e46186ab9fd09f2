//! A minute of the statement fuzzer; `cargo xtask fuzz statements` goes on for as long as wanted.

use std::time::Duration;

use interop::fuzz_statements;

#[test]
fn statements_of_all_kinds_and_sizes_end_nothing_but_themselves() {
    let seconds = std::env::var("COMMUTER_FUZZ_SECONDS").ok().and_then(|seconds| seconds.parse().ok()).unwrap_or(45);
    let seed = std::env::var("COMMUTER_FUZZ_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    fuzz_statements(Duration::from_secs(seconds), seed).unwrap();
}
