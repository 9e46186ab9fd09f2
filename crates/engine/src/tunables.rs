//! Settings that may change while the engine runs. Each is read where it is used, every time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use store::Pacer;

use crate::checkpoint::RECOVERED_BYTES_MIN;
use crate::options::EngineOptions;

/// More than this of one transaction is never kept in memory: its events are encoded together.
const TRANSACTION_MEMORY_MAX: usize = 512 << 20;

/// See the module; begins with what [`EngineOptions`] say.
#[derive(Debug)]
pub struct Tunables {
    memtable_bytes: AtomicUsize,
    checkpoint_log_bytes: AtomicU64,
    recovery_target_ms: AtomicU64,
    transaction_bytes_max: AtomicU64,
    transaction_memory_bytes: AtomicUsize,
    refreshes_statistics: AtomicBool,
    /// Of the merges of checkpoints.
    pub(crate) pacer: Arc<Pacer>,
}

impl Tunables {
    pub(crate) fn new(options: &EngineOptions) -> Self {
        Tunables {
            memtable_bytes: AtomicUsize::new(options.memtable_bytes),
            checkpoint_log_bytes: AtomicU64::new(options.checkpoint_log_bytes),
            recovery_target_ms: AtomicU64::new(options.recovery_target.as_millis() as u64),
            transaction_bytes_max: AtomicU64::new(options.transaction_bytes_max),
            transaction_memory_bytes: AtomicUsize::new(options.transaction_memory_bytes),
            refreshes_statistics: AtomicBool::new(true),
            pacer: Pacer::new(0),
        }
    }

    /// What versions may take of what memtables may: an eighth is for the holes that the allocator has where versions of one memtable go
    /// while those of the next come (`docs/benchmarks.md`, Larger than memory).
    pub(crate) fn memtable_bytes(&self) -> usize {
        let bytes = self.memtable_bytes.load(Ordering::Relaxed);
        bytes - bytes / 8
    }

    /// So much log since the last checkpoint is the most, at so many bytes a second of recovery, which takes so long for the definitions
    /// in it.
    pub(crate) fn checkpoint_log_bytes(&self, recovery_rate: u64, definitions: Duration) -> u64 {
        let most = self.checkpoint_log_bytes.load(Ordering::Relaxed);
        let target_ms = self.recovery_target_ms.load(Ordering::Relaxed);
        if target_ms == 0 {
            return most;
        }
        let bytes_in = |ms: u64| (recovery_rate / 1000).saturating_mul(ms);
        let least = bytes_in(target_ms).max(RECOVERED_BYTES_MIN);
        most.min(least.saturating_sub(bytes_in(definitions.as_millis() as u64)))
    }

    pub(crate) fn transaction_bytes_max(&self) -> u64 {
        self.transaction_bytes_max.load(Ordering::Relaxed)
    }

    /// [`EngineOptions::transaction_memory_bytes`]
    pub(crate) fn transaction_memory_bytes(&self) -> usize {
        self.transaction_memory_bytes.load(Ordering::Relaxed)
    }

    /// Whether statistics are collected again when tables have changed.
    pub(crate) fn refreshes_statistics(&self) -> bool {
        self.refreshes_statistics.load(Ordering::Relaxed)
    }

    /// `innodb_stats_auto_recalc`
    pub fn set_refreshes_statistics(&self, on: bool) {
        self.refreshes_statistics.store(on, Ordering::Relaxed);
    }

    /// [`EngineOptions::memtable_bytes`]
    pub fn set_memtable_bytes(&self, bytes: usize) {
        self.memtable_bytes.store(bytes, Ordering::Relaxed);
    }

    /// [`EngineOptions::checkpoint_log_bytes`]
    pub fn set_checkpoint_log_bytes(&self, bytes: u64) {
        self.checkpoint_log_bytes.store(bytes, Ordering::Relaxed);
    }

    /// [`EngineOptions::recovery_target`]
    pub fn set_recovery_target(&self, time: Duration) {
        self.recovery_target_ms.store(time.as_millis() as u64, Ordering::Relaxed);
    }

    /// [`EngineOptions::transaction_bytes_max`]
    pub fn set_transaction_bytes_max(&self, bytes: u64) {
        self.transaction_bytes_max.store(bytes, Ordering::Relaxed);
    }

    /// [`EngineOptions::transaction_memory_bytes`]
    pub fn set_transaction_memory_bytes(&self, bytes: usize) {
        self.transaction_memory_bytes.store(bytes.min(TRANSACTION_MEMORY_MAX), Ordering::Relaxed);
    }

    /// Bytes per second that the merge of a checkpoint writes at most; 0 for as fast as it goes. A rate of less than a page
    /// is a page's.
    pub fn set_checkpoint_write_rate(&self, bytes_per_second: u64) {
        self.pacer.set_rate(bytes_per_second.div_ceil(store::PAGE_SIZE as u64));
    }
}
