//! Counters, and histograms with logarithmic buckets.

use std::sync::atomic::{AtomicU64, Ordering};

use binlog::IntervalCounters;

/// Each power of two is divided into so many buckets: values are known to 1/8.
const STEPS: usize = 8;
const STEP_BITS: u32 = STEPS.ilog2();
const BUCKETS: usize = (64 - STEP_BITS as usize + 1) * STEPS;

/// Counts values by size; any number of threads may record.
pub struct Histogram {
    buckets: Box<[AtomicU64]>,
    sum: AtomicU64,
    max: AtomicU64,
}

impl Default for Histogram {
    fn default() -> Self {
        let buckets = (0..BUCKETS).map(|_| AtomicU64::new(0)).collect();
        Histogram { buckets, sum: AtomicU64::new(0), max: AtomicU64::new(0) }
    }
}

impl Histogram {
    /// Counts a value.
    pub fn record(&self, value: u64) {
        self.buckets[bucket(value)].fetch_add(1, Ordering::Relaxed);
        self.sum.fetch_add(value, Ordering::Relaxed);
        self.max.fetch_max(value, Ordering::Relaxed);
    }

    /// A copy to look at.
    pub fn snapshot(&self) -> HistogramSnapshot {
        let buckets: Vec<u64> = self.buckets.iter().map(|bucket| bucket.load(Ordering::Relaxed)).collect();
        HistogramSnapshot {
            count: buckets.iter().sum(),
            buckets,
            sum: self.sum.load(Ordering::Relaxed),
            max: self.max.load(Ordering::Relaxed),
        }
    }
}

impl std::fmt::Debug for Histogram {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let now = self.snapshot();
        write!(f, "Histogram({} values, median {}, max {})", now.count, now.percentile(50.0), now.max)
    }
}

/// The values below [`STEPS`] have buckets of their own; above, a power of two has [`STEPS`] of them.
fn bucket(value: u64) -> usize {
    if value < STEPS as u64 {
        return value as usize;
    }
    let exponent = value.ilog2() - STEP_BITS;
    (exponent as usize + 1) * STEPS + (value >> exponent) as usize - STEPS
}

/// The largest value of a bucket.
fn bucket_end(bucket: usize) -> u64 {
    if bucket < STEPS {
        return bucket as u64;
    }
    let exponent = (bucket / STEPS - 1) as u32;
    let first = ((bucket % STEPS + STEPS) as u64) << exponent;
    first + ((1u64 << exponent) - 1)
}

/// A histogram at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HistogramSnapshot {
    buckets: Vec<u64>,
    /// How many values.
    pub count: u64,
    /// All together.
    pub sum: u64,
    /// The largest.
    pub max: u64,
}

impl HistogramSnapshot {
    /// A value that so many percent do not exceed; 0 if there is none.
    pub fn percentile(&self, percent: f64) -> u64 {
        let rank = (self.count as f64 * percent / 100.0).ceil().max(1.0) as u64;
        let mut seen = 0;
        for (bucket, count) in self.buckets.iter().enumerate() {
            seen += count;
            if seen >= rank {
                return bucket_end(bucket).min(self.max);
            }
        }
        0
    }

    /// The mean; 0 if there is no value.
    pub fn mean(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.sum as f64 / self.count as f64 }
    }

    /// What came in since an earlier snapshot. The maximum is that of all.
    pub fn since(&self, earlier: &HistogramSnapshot) -> HistogramSnapshot {
        let old = |at: usize| earlier.buckets.get(at).copied().unwrap_or(0);
        HistogramSnapshot {
            buckets: self.buckets.iter().enumerate().map(|(at, count)| count - old(at)).collect(),
            count: self.count - earlier.count,
            sum: self.sum - earlier.sum,
            max: self.max,
        }
    }

    /// Largest value of each bucket that is not empty, and how many it holds.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> {
        self.buckets.iter().enumerate().filter(|(_, count)| **count > 0).map(|(at, count)| (bucket_end(at), *count))
    }
}

/// What a pipeline has done.
#[derive(Debug, Default)]
pub struct CommitStats {
    /// Transactions published (`Binlog_commits`).
    pub commits: AtomicU64,
    /// Groups with transactions (`Binlog_group_commits`).
    pub groups: AtomicU64,
    /// Writes of groups.
    pub writes: AtomicU64,
    /// Syncs of groups.
    pub syncs: AtomicU64,
    /// Bytes written (`Binlog_bytes_written`).
    pub bytes: AtomicU64,
    /// Transactions that their sessions wrote and synced by themselves.
    pub inline_commits: AtomicU64,
    /// Groups that were begun while others were in their sync.
    pub overlapped: AtomicU64,
    /// Groups that waited for more transactions.
    pub gathered: AtomicU64,
    /// Of `last_committed` and `sequence_number`.
    pub intervals: IntervalCounters,
    /// How often all that came later was made to depend on a transaction: a statement such as a definition.
    pub statement_barriers: AtomicU64,
    /// The same of one with more rows than are told apart.
    pub large_barriers: AtomicU64,
    /// The same because the history of rows was full (`binlog_transaction_dependency_history_size`).
    pub history_barriers: AtomicU64,
    /// Transactions per group.
    pub group_size: Histogram,
    /// Microseconds of write and sync together, of groups that were synced; of the sync alone where that came later.
    pub sync_micros: Histogram,
}

impl CommitStats {
    pub(super) fn add(counter: &AtomicU64, n: u64) {
        counter.fetch_add(n, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_cover_everything_to_an_eighth() {
        let mut last = None;
        for value in (0..5000).chain([1 << 20, (1 << 20) + 1, u64::MAX / 3, u64::MAX]) {
            let at = bucket(value);
            assert!(at < BUCKETS && bucket_end(at) >= value && bucket(bucket_end(at)) == at, "{value}");
            assert!(bucket_end(at) - value <= value / STEPS as u64, "{value}");
            assert!(last <= Some(at));
            last = Some(at);
        }
    }

    #[test]
    fn percentiles() {
        let histogram = Histogram::default();
        assert_eq!(histogram.snapshot().percentile(99.0), 0);
        (1..=100).for_each(|value| histogram.record(value));
        let all = histogram.snapshot();
        assert_eq!((all.count, all.max, all.mean()), (100, 100, 50.5));
        assert!((50..=55).contains(&all.percentile(50.0)), "{}", all.percentile(50.0));
        assert_eq!(all.percentile(100.0), 100);
        histogram.record(7);
        let later = histogram.snapshot().since(&all);
        assert_eq!((later.count, later.percentile(50.0)), (1, 7));
    }
}
