//! The operating system behind the traits of this crate: Linux files, tokio's network and timers, threads.
//!
//! Files opened with [`IoMode::Inline`](crate::IoMode) make their system call on the thread that polls; the others
//! hand it to worker threads or to io_uring ([`Offload`]), so that no task ever blocks a runtime thread on a disk.
//! Syncs always go through libc, where tools that wrap it (slower disks, fault injection) can see them.

mod completion;
mod disk;
mod network;
mod threads;
mod timer;
mod uring;

use std::cell::Cell;
use std::io::Result;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use base::UnixMicros;
use rand::TryRngCore;
use tokio::runtime::{Handle, RuntimeFlavor};

use self::disk::OsDisk;
use self::network::OsNetwork;
use self::threads::WorkerThreads;
use self::timer::{SHORT, ShortTimer};
use self::uring::Uring;
use crate::{BoxFuture, Clock, Env, Random, Removals, Spawner};

/// Who makes the system calls of files in [`IoMode::Offload`](crate::IoMode).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offload {
    /// This many worker threads.
    Threads(usize),
    /// io_uring with one thread that reaps; worker threads where the kernel or a container forbids it.
    Uring,
}

/// The machine itself, with files under `root`; tasks and timers run on `runtime`.
///
/// # Errors
/// When `root` is not there and cannot be made, or no thread can be started.
pub fn environment(root: PathBuf, offload: Offload, runtime: Handle) -> Result<Env> {
    std::fs::create_dir_all(&root)?;
    let (threads, uring) = match offload {
        Offload::Threads(count) => (count.max(1), None),
        Offload::Uring => (4, Uring::start().map_err(|error| tracing::warn!("no io_uring ({error}): threads")).ok()),
    };
    let threads = Arc::new(WorkerThreads::start(threads)?);
    Ok(Env {
        disk: Arc::new(OsDisk::new(root, threads, uring.map(Arc::new))),
        clock: Arc::new(OsClock { start: Instant::now(), runtime: runtime.clone(), short: ShortTimer::start()? }),
        spawner: Arc::new(OsSpawner { runtime: runtime.clone() }),
        network: Arc::new(OsNetwork { runtime }),
        random: Arc::new(OsRandom),
        removals: Removals::default(),
    })
}

/// Has the kernel give memory to this process in small pages only, whatever the allocator asks for. Where it cannot, nothing changes.
#[expect(unsafe_code, reason = "a system call that libc does not wrap safely")]
pub fn without_huge_pages() {
    // SAFETY: the call has no pointers, and changes only how later page faults are served.
    unsafe { libc::prctl(libc::PR_SET_THP_DISABLE, 1, 0, 0, 0) };
}

/// How many threads the machine runs at once.
pub fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The time; nothing for a machine whose clock is set to one before 1970.
pub fn since_1970() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

struct OsClock {
    start: Instant,
    runtime: Handle,
    short: ShortTimer,
}

impl Clock for OsClock {
    fn now(&self) -> UnixMicros {
        UnixMicros(since_1970().as_micros() as u64)
    }

    fn monotonic(&self) -> Duration {
        self.start.elapsed()
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        if duration <= SHORT {
            return Box::pin(self.short.sleep(duration));
        }
        // The timer registers with the runtime when it is made, which may be on a thread that is not its own.
        let _entered = self.runtime.enter();
        Box::pin(tokio::time::sleep(duration))
    }
}

/// Whether the caller runs in a runtime that has other threads for its tasks; it may run in one of another kind, or in none.
fn is_of_workers() -> bool {
    Handle::try_current().is_ok_and(|own| own.runtime_flavor() == RuntimeFlavor::MultiThread)
}

struct OsSpawner {
    runtime: Handle,
}

impl Spawner for OsSpawner {
    fn spawn(&self, _name: &str, task: BoxFuture<'static, ()>) {
        self.runtime.spawn(task);
    }

    fn spawn_thread(&self, name: &str, task: BoxFuture<'static, ()>) {
        let spawned =
            std::thread::Builder::new().name(name.to_owned()).spawn(move || futures_lite::future::block_on(task));
        if let Err(error) = spawned {
            // A server that cannot start its few own threads cannot keep any promise.
            panic!("cannot start thread {name}: {error}");
        }
    }

    fn step_aside(&self) {
        let now = Instant::now();
        let is_due = STEPPED_ASIDE.get().is_none_or(|last| now.duration_since(last) >= BETWEEN_STEPS);
        if !is_due || !is_of_workers() {
            return;
        }
        // The runtime gives what a worker has to another thread when it is about to block. The pause lets that thread begin; after it this
        // one is no worker any more, until the task waits for something. If none has begun it would get all back: a task tells that one has.
        let has_begun = Arc::new(AtomicBool::new(false));
        let begins = has_begun.clone();
        self.runtime.spawn(async move { begins.store(true, Ordering::Relaxed) });
        tokio::task::block_in_place(|| {
            for _ in 0..PAUSES_MAX {
                std::thread::sleep(PAUSE);
                if has_begun.load(Ordering::Relaxed) {
                    break;
                }
            }
        });
        STEPPED_ASIDE.set(Some(Instant::now()));
    }

    fn parallelism(&self) -> usize {
        processors()
    }
}

/// So long a thread computes before it steps aside again.
const BETWEEN_STEPS: Duration = Duration::from_millis(10);
/// Longer than a thread takes to begin on a machine that is not busy, and how many of them are waited.
const PAUSE: Duration = Duration::from_micros(100);
const PAUSES_MAX: u32 = 50;

thread_local! {
    static STEPPED_ASIDE: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// The operating system's random numbers.
#[derive(Clone, Copy, Debug)]
pub struct OsRandom;

impl Random for OsRandom {
    fn fill(&self, bytes: &mut [u8]) {
        rand::rngs::OsRng.try_fill_bytes(bytes).expect("Linux has had getrandom since 3.17, and it does not fail");
    }
}

#[cfg(test)]
mod tests;
