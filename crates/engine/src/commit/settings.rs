//! What can be set while the server runs.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::time::Duration;

/// How many syncs may be under way at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Overlap {
    /// By the measured sync time and the number of active sessions; see [`super`].
    #[default]
    Auto,
    /// Always up to this many, without gathering. 1 is never more than one.
    Fixed(u8),
}

/// What a transaction depends on besides those that wrote its rows (`binlog_transaction_dependency_tracking`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DependencyTracking {
    /// Nothing.
    #[default]
    Writeset,
    /// What its session has committed before.
    WritesetSession,
    /// All that was visible before it took its place.
    CommitOrder,
}

/// The settings of a pipeline; each may be changed at any time and counts from the next group on.
#[derive(Debug)]
pub struct CommitSettings {
    sync_binlog: AtomicU64,
    sync_delay_micros: AtomicU64,
    sync_no_delay_count: AtomicU64,
    max_flush_queue_micros: AtomicU64,
    order_commits: AtomicBool,
    history_size: AtomicU64,
    overlap: AtomicU64,
    inline_commits: AtomicBool,
    dependency_tracking: AtomicU8,
}

impl Default for CommitSettings {
    fn default() -> Self {
        CommitSettings {
            sync_binlog: AtomicU64::new(1),
            sync_delay_micros: AtomicU64::new(0),
            sync_no_delay_count: AtomicU64::new(0),
            max_flush_queue_micros: AtomicU64::new(0),
            order_commits: AtomicBool::new(true),
            history_size: AtomicU64::new(25_000),
            overlap: AtomicU64::new(0),
            inline_commits: AtomicBool::new(true),
            dependency_tracking: AtomicU8::new(0),
        }
    }
}

impl CommitSettings {
    /// `sync_binlog`: 1 syncs each group before it is acknowledged; N each N-th group; 0 leaves it to the system.
    pub fn sync_binlog(&self) -> u64 {
        self.sync_binlog.load(Ordering::Relaxed)
    }

    /// See [`CommitSettings::sync_binlog`].
    pub fn set_sync_binlog(&self, groups: u64) {
        self.sync_binlog.store(groups, Ordering::Relaxed);
    }

    /// `binlog_group_commit_sync_delay` (MariaDB's `binlog_commit_wait_usec`): waits so long for more transactions.
    pub fn sync_delay(&self) -> Duration {
        Duration::from_micros(self.sync_delay_micros.load(Ordering::Relaxed))
    }

    /// See [`CommitSettings::sync_delay`].
    pub fn set_sync_delay(&self, delay: Duration) {
        self.sync_delay_micros.store(delay.as_micros() as u64, Ordering::Relaxed);
    }

    /// `binlog_group_commit_sync_no_delay_count` (MariaDB's `binlog_commit_wait_count`): so many transactions end the
    /// delay; 0 is no number.
    pub fn sync_no_delay_count(&self) -> u64 {
        self.sync_no_delay_count.load(Ordering::Relaxed)
    }

    /// See [`CommitSettings::sync_no_delay_count`].
    pub fn set_sync_no_delay_count(&self, transactions: u64) {
        self.sync_no_delay_count.store(transactions, Ordering::Relaxed);
    }

    /// `binlog_max_flush_queue_time`: goes on so long with taking transactions that come while a group is formed. With 0
    /// a group is what was queued when it was begun.
    pub fn max_flush_queue_time(&self) -> Duration {
        Duration::from_micros(self.max_flush_queue_micros.load(Ordering::Relaxed))
    }

    /// See [`CommitSettings::max_flush_queue_time`].
    pub fn set_max_flush_queue_time(&self, time: Duration) {
        self.max_flush_queue_micros.store(time.as_micros() as u64, Ordering::Relaxed);
    }

    /// `binlog_order_commits`. Log order is visibility order whatever it says; off, sessions are woken by a task of
    /// their own, in no order, while the log thread goes on with the next group.
    pub fn order_commits(&self) -> bool {
        self.order_commits.load(Ordering::Relaxed)
    }

    /// See [`CommitSettings::order_commits`].
    pub fn set_order_commits(&self, on: bool) {
        self.order_commits.store(on, Ordering::Relaxed);
    }

    /// `binlog_transaction_dependency_history_size`: row hashes that are kept for `last_committed`.
    pub fn history_size(&self) -> usize {
        self.history_size.load(Ordering::Relaxed) as usize
    }

    /// See [`CommitSettings::history_size`].
    pub fn set_history_size(&self, rows: usize) {
        self.history_size.store(rows as u64, Ordering::Relaxed);
    }

    /// `binlog_transaction_dependency_tracking`
    pub fn dependency_tracking(&self) -> DependencyTracking {
        match self.dependency_tracking.load(Ordering::Relaxed) {
            1 => DependencyTracking::WritesetSession,
            2 => DependencyTracking::CommitOrder,
            _ => DependencyTracking::Writeset,
        }
    }

    /// See [`CommitSettings::dependency_tracking`].
    pub fn set_dependency_tracking(&self, tracking: DependencyTracking) {
        self.dependency_tracking.store(tracking as u8, Ordering::Relaxed);
    }

    /// Syncs under way at once.
    pub fn overlap(&self) -> Overlap {
        match self.overlap.load(Ordering::Relaxed) {
            0 => Overlap::Auto,
            n => Overlap::Fixed(n as u8),
        }
    }

    /// See [`CommitSettings::overlap`].
    pub fn set_overlap(&self, overlap: Overlap) {
        let n = match overlap {
            Overlap::Auto => 0,
            Overlap::Fixed(n) => u64::from(n.max(1)).min(binlog::IN_FLIGHT_MAX as u64),
        };
        self.overlap.store(n, Ordering::Relaxed);
    }

    /// Whether a session that is alone may write and sync by itself.
    pub fn inline_commits(&self) -> bool {
        self.inline_commits.load(Ordering::Relaxed)
    }

    /// See [`CommitSettings::inline_commits`].
    pub fn set_inline_commits(&self, on: bool) {
        self.inline_commits.store(on, Ordering::Relaxed);
    }
}
