//! Which seeds a test runs.

/// So many seeds from `first` on, or as many as `COMMUTER_SIM_SEEDS` says, `COMMUTER_SIM_BASE` later; or the one of
/// `COMMUTER_SIM_SEED`.
pub(crate) fn seeds(first: u64, count: u64) -> std::ops::Range<u64> {
    let number = |name: &str| std::env::var(name).ok().and_then(|value| value.parse::<u64>().ok());
    match number("COMMUTER_SIM_SEED") {
        Some(seed) => seed..seed + 1,
        None => {
            let first = first + number("COMMUTER_SIM_BASE").unwrap_or(0);
            first..first + number("COMMUTER_SIM_SEEDS").unwrap_or(count)
        }
    }
}
