//! The runtime's settings.
//!
//! Measured (a statement that does nothing, 64 clients, two cores): two workers and one answer the same number of statements;
//! a worker per core leaves room for what statements really do. A session that commits alone writes and syncs in place
//! and so blocks its worker for the time of a sync (some 0.1 ms on fast storage, not done where syncs are slow); with at
//! least two workers the others go on.
//!
//! # Invariants
//! - The sockets and timers of a server are served as long as one worker has nothing to do, however long a task of another one computes
//!   ([`keep_served`]). The runtime alone does not see to that: they are polled by the worker that went to wait last, and if it is woken by a task
//!   that does not end, it wakes no other worker to poll them.

use std::io::Result;
use std::time::Duration;

use tokio::runtime::{Builder, Handle, Runtime};

const WORKERS_MIN: usize = 2;
/// How long a task may keep sockets and timers from being served.
const UNSERVED: Duration = Duration::from_millis(50);

/// The runtime of a server; `workers` 0 takes one per core.
pub fn runtime(workers: usize) -> Result<Runtime> {
    let cores = io::os::processors();
    let workers = if workers == 0 { cores.max(WORKERS_MIN) } else { workers };
    Builder::new_multi_thread().worker_threads(workers).thread_name("commuter").enable_all().build()
}

/// Keeps sockets and timers served for the rest of the process's life: for runtimes whose tasks execute statements.
pub(crate) fn keep_served(runtime: &Runtime) -> Result<()> {
    let handle = runtime.handle().clone();
    let thread = std::thread::Builder::new().name("commuter-waker".to_owned());
    thread.spawn(move || wake_workers(&handle)).map(drop)
}

/// Wakes a worker that waits, for as long as another one is busy with one task: on its way back to waiting it looks at sockets and timers.
fn wake_workers(runtime: &Handle) {
    let metrics = runtime.metrics();
    // Odd for a worker that waits.
    let parks = || (0..metrics.num_workers()).map(|worker| metrics.worker_park_unpark_count(worker));
    let mut before: Vec<u64> = parks().collect();
    loop {
        std::thread::sleep(UNSERVED);
        let now: Vec<u64> = parks().collect();
        if before.iter().zip(&now).any(|(before, now)| before == now && now % 2 == 0) {
            drop(runtime.spawn(async {}));
        }
        before = now;
    }
}
