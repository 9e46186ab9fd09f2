//! The runtime's settings.
//!
//! Measured (a statement that does nothing, 64 clients, two cores): two workers and one answer the same number of statements;
//! a worker per core leaves room for what statements really do. A session that commits alone writes and syncs in place
//! and so blocks its worker for the time of a sync (some 0.1 ms on fast storage, not done where syncs are slow); with at
//! least two workers the others go on.

use std::io::Result;

use tokio::runtime::{Builder, Runtime};

const WORKERS_MIN: usize = 2;

/// The runtime of a server; `workers` 0 takes one per core.
pub fn runtime(workers: usize) -> Result<Runtime> {
    let cores = io::os::processors();
    let workers = if workers == 0 { cores.max(WORKERS_MIN) } else { workers };
    Builder::new_multi_thread().worker_threads(workers).thread_name("commuter").enable_all().build()
}
