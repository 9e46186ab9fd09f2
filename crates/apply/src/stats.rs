//! Counters of what was applied.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;

/// The rate is measured over at least this.
const RATE_WINDOW: Duration = Duration::from_secs(1);

/// Counts since it was made.
#[derive(Default)]
pub(crate) struct Stats {
    pub(crate) transactions: AtomicU64,
    pub(crate) bytes: AtomicU64,
    pub(crate) schema_changes: AtomicU64,
    /// `immediate_commit_time` of the newest transaction that was taken from the log, microseconds since 1970.
    pub(crate) last_commit_time: AtomicU64,
    rate: Mutex<Rate>,
}

#[derive(Clone, Copy, Default)]
struct Rate {
    since: Duration,
    transactions: u64,
    per_second: f64,
}

impl Stats {
    pub(crate) fn took(&self, bytes: u64, commit_time: u64) {
        self.transactions.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.last_commit_time.store(commit_time, Ordering::Relaxed);
    }

    /// The same of many, whose times nobody asks for.
    pub(crate) fn took_many(&self, transactions: u64, bytes: u64) {
        self.transactions.fetch_add(transactions, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Transactions per second, of the last whole window.
    pub(crate) fn rate(&self, now: Duration) -> f64 {
        let mut rate = self.rate.lock();
        let transactions = self.transactions.load(Ordering::Relaxed);
        let passed = now.saturating_sub(rate.since);
        if passed >= RATE_WINDOW {
            let per_second = (transactions - rate.transactions) as f64 / passed.as_secs_f64();
            *rate = Rate { since: now, transactions, per_second };
        }
        rate.per_second
    }
}
