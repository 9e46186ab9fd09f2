//! Files, clock, tasks and network behind traits: the operating system, and a simulation with faults.
//!
//! Every other crate reaches the machine through an [`Env`]; only this crate may use `std::fs`, `std::net`,
//! `std::thread` and the clock. So the same production code runs on a real disk and on [`sim`], which decides
//! from one seed what is lost, torn or reordered, and in which order tasks run.
//!
//! # Invariants
//! - A future of this crate that is dropped before it is ready leaves nothing half-owned: the operation either
//!   never starts or runs to its end without the caller.
//! - A write is durable only after a [`File::sync`] that began after it has returned `Ok`, or at once on a
//!   file opened with [`OpenOptions::dsync`]. A new, renamed or removed name is durable after [`Disk::sync_dir`].
//! - After a failed sync nothing may be assumed of the writes before it; callers stop, they never try again.

mod buffer;
pub mod os;
mod removal;
pub mod sim;
mod turn;
mod write_behind;

use std::future::Future;
use std::io::{ErrorKind, Result};
use std::ops::Range;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

/// Makes an `async fn` one that returns a [`BoxFuture`]. The compiler makes the code of an `async fn` anew in each crate that
/// awaits it, with all that it awaits itself; a box is a border at which it is made once, in its own crate. So what other crates
/// await for long has it (a statement, a checkpoint), and what they await for each row has not.
pub use async_recursion::async_recursion as boxed;
use base::UnixMicros;
pub use buffer::IoBuf;
pub use removal::Removals;
pub use turn::ThreadTurn;
pub use write_behind::WriteBehind;

/// A boxed future, for traits that must be objects.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// All that a part of the server needs of its machine.
#[derive(Clone)]
pub struct Env {
    /// Files.
    pub disk: Arc<dyn Disk>,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Tasks.
    pub spawner: Arc<dyn Spawner>,
    /// Connections.
    pub network: Arc<dyn Network>,
    /// Random bytes for identifiers and salts; from the seed in a simulation.
    pub random: Arc<dyn Random>,
    /// Who gives back a part of a large file now.
    pub removals: Removals,
}

impl Env {
    /// Between two steps of something that threads do side by side. Threads are interrupted there, and anywhere, by themselves; in
    /// the simulation, which takes what awaits nothing as one step, others have their turn now and then.
    pub async fn step(&self) {
        if let Some(interruption) = self.spawner.interruption() {
            interruption.await;
        }
    }
}

/// Where an operation of a [`File`] spends its time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IoMode {
    /// In the system call, on the thread that polls: for dedicated threads (the log thread, a lone committer).
    Inline,
    /// Elsewhere (worker threads or io_uring, by the environment's setting); the polling thread goes on.
    #[default]
    Offload,
}

/// How to open a file.
#[derive(Clone, Copy, Debug, Default)]
pub struct OpenOptions {
    /// Create it if it is missing.
    pub create: bool,
    /// Fail with `AlreadyExists` if it is there (with `create`).
    pub create_new: bool,
    /// Allow writes.
    pub write: bool,
    /// `O_DIRECT` where the file system has it: offsets, lengths and [`IoBuf`]s must be multiples of 4096.
    pub direct: bool,
    /// `O_DSYNC`: each write is durable when it returns.
    pub dsync: bool,
    /// Where the operations run.
    pub mode: IoMode,
}

/// A file system rooted at the data directory. Paths are relative to it, with `/` between parts; one that begins with `/` is
/// outside of it.
pub trait Disk: Send + Sync {
    /// Opens a file for reading, and for writing if asked.
    fn open<'a>(&'a self, path: &'a str, options: OpenOptions) -> BoxFuture<'a, Result<Arc<dyn File>>>;
    /// Names in a directory, sorted, without those of directories.
    fn list<'a>(&'a self, dir: &'a str) -> BoxFuture<'a, Result<Vec<String>>>;
    /// Whether a file or directory of this name is there.
    fn exists<'a>(&'a self, path: &'a str) -> BoxFuture<'a, Result<bool>>;
    /// Where a name leads to, through all links. One that leads nowhere is `NotFound`.
    fn resolve<'a>(&'a self, path: &'a str) -> BoxFuture<'a, Result<RealPath>> {
        Box::pin(async move {
            match self.exists(path).await? {
                true => Ok(RealPath { path: path.to_owned(), is_file: true }),
                false => Err(ErrorKind::NotFound.into()),
            }
        })
    }
    /// Creates a directory and those above it; no error if it is there.
    fn create_dir<'a>(&'a self, dir: &'a str) -> BoxFuture<'a, Result<()>>;
    /// Renames a file over whatever has the new name, atomically.
    fn rename<'a>(&'a self, from: &'a str, to: &'a str) -> BoxFuture<'a, Result<()>>;
    /// Removes a file.
    fn remove<'a>(&'a self, path: &'a str) -> BoxFuture<'a, Result<()>>;
    /// Makes creations, renames and removals in a directory durable.
    fn sync_dir<'a>(&'a self, dir: &'a str) -> BoxFuture<'a, Result<()>>;
    /// Takes the exclusive lock of a file (made if missing) until the guard is dropped; `WouldBlock` if another
    /// process, or another guard, holds it.
    fn lock<'a>(&'a self, path: &'a str) -> BoxFuture<'a, Result<Box<dyn LockGuard>>>;
    /// Bytes that can still be written to this file system.
    fn free_space<'a>(&'a self) -> BoxFuture<'a, Result<u64>>;
}

/// What a name leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RealPath {
    /// Its own name, from the file system's root.
    pub path: String,
    /// It is a regular file.
    pub is_file: bool,
}

/// Holds a lock taken by [`Disk::lock`].
pub trait LockGuard: Send + Sync {}

/// An open file. Operations at different offsets may run at once.
#[expect(clippy::len_without_is_empty, reason = "an empty file is nothing special here")]
pub trait File: Send + Sync {
    /// Fills the whole buffer from `offset`; `UnexpectedEof` if the file ends before.
    fn read_at<'a>(&'a self, offset: u64, buf: IoBuf) -> BoxFuture<'a, Result<IoBuf>>;
    /// Writes the whole buffer at `offset`, and gives it back for the next use.
    fn write_at<'a>(&'a self, offset: u64, buf: IoBuf) -> BoxFuture<'a, Result<IoBuf>>;
    /// `fdatasync`, through libc.
    fn sync<'a>(&'a self) -> BoxFuture<'a, Result<()>>;
    /// Length in bytes.
    fn len<'a>(&'a self) -> BoxFuture<'a, Result<u64>>;
    /// Cuts or extends (with a hole) the file.
    fn set_len<'a>(&'a self, len: u64) -> BoxFuture<'a, Result<()>>;
    /// Begins to move some bytes from the system's memory to the disk, and waits until some others are there. Makes nothing
    /// durable. An error may be the only one that tells of these bytes: nothing may be assumed of them then, as after a failed
    /// sync.
    fn write_back<'a>(&'a self, begin: Range<u64>, others: Range<u64>) -> BoxFuture<'a, Result<()>> {
        let _ = (begin, others);
        Box::pin(std::future::ready(Ok(())))
    }
}

/// Time, as far as anything depends on it.
pub trait Clock: Send + Sync {
    /// Wall clock, for time stamps in events and `NOW()`.
    fn now(&self) -> UnixMicros;
    /// Time since some fixed point; never goes back.
    fn monotonic(&self) -> Duration;
    /// Ready after `duration`.
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()>;
}

/// Runs tasks.
pub trait Spawner: Send + Sync {
    /// Runs a task among the others, on the runtime's threads. It must not block.
    fn spawn(&self, name: &str, task: BoxFuture<'static, ()>);
    /// Runs a task that may block (files in [`IoMode::Inline`], long computation) on a thread of its own.
    fn spawn_thread(&self, name: &str, task: BoxFuture<'static, ()>);
    /// Called by a task that computes for long without waiting: its thread leaves the other tasks to another one, if it has had them for some
    /// milliseconds.
    fn step_aside(&self) {}
    /// How many threads do useful work at once; the default for numbers of workers.
    fn parallelism(&self) -> usize;
    /// See [`Env::step`].
    fn interruption(&self) -> Option<BoxFuture<'static, ()>> {
        None
    }
}

/// Byte streams between servers and clients.
pub trait Network: Send + Sync {
    /// Connects to `host:port`.
    fn connect<'a>(&'a self, address: &'a str) -> BoxFuture<'a, Result<Box<dyn Stream>>>;
    /// Listens on `host:port`; port 0 takes a free one.
    fn listen<'a>(&'a self, address: &'a str) -> BoxFuture<'a, Result<Box<dyn Listener>>>;
}

/// Accepts connections.
pub trait Listener: Send + Sync {
    /// The next connection, and where it comes from.
    fn accept<'a>(&'a self) -> BoxFuture<'a, Result<(Box<dyn Stream>, String)>>;
    /// The address that it listens on, with the real port.
    fn address(&self) -> String;
}

/// One connection. Dropping it closes it.
pub trait Stream: Send {
    /// Reads what is there, at most `max` bytes, at the end of `into`; 0 is the end of the stream.
    fn read<'a>(&'a mut self, into: &'a mut Vec<u8>, max: usize) -> BoxFuture<'a, Result<usize>>;
    /// Writes all of it.
    fn write_all<'a>(&'a mut self, data: &'a [u8]) -> BoxFuture<'a, Result<()>>;
    /// Two halves that can be used at once.
    fn split(self: Box<Self>) -> (Box<dyn ReadHalf>, Box<dyn WriteHalf>);
}

/// The reading half of a [`Stream`].
pub trait ReadHalf: Send {
    /// As [`Stream::read`].
    fn read<'a>(&'a mut self, into: &'a mut Vec<u8>, max: usize) -> BoxFuture<'a, Result<usize>>;
}

/// The writing half of a [`Stream`].
pub trait WriteHalf: Send {
    /// As [`Stream::write_all`].
    fn write_all<'a>(&'a mut self, data: &'a [u8]) -> BoxFuture<'a, Result<()>>;
}

/// Random bytes.
pub trait Random: Send + Sync {
    /// Fills the slice.
    fn fill(&self, bytes: &mut [u8]);
}
