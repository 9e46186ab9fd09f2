//! Advances an engine's state along its log: crash recovery, followers, and whatever else has a state and a log after it.
//!
//! # Model
//! ```text
//!             reader (skims headers)        workers, one thread each              gate
//!   log ──► 256 transactions, numbered ──► check CRC, decode, Engine::install ──► Engine::publish, in log order
//! ```
//! A transaction's number follows from its place in the log, and its row images are whole rows. So installing needs no
//! order, no locks and no reads: versions are kept by number, and any two transactions may be installed in any order. The
//! gate publishes the longest prefix of the log that is installed, so every snapshot is a prefix.
//!
//! - **In bulk**: a recovery that has no readers sorts what a batch writes and installs it as a whole ([`engine::BulkWrites`]);
//!   what is left in memory is put into the memtable at the end, or before a schema change.
//! - **Schema changes are a barrier**: everything before is published, then the change is installed and published, then
//!   the next batch begins with the new catalog. (Ordering a change only with the transactions on its own table would
//!   keep the others going meanwhile; schema changes are rare, and a barrier is easy to trust.)
//! - **Minimal images** (`binlog_row_image=MINIMAL`) do not say what the row was. Such a transaction waits until everything
//!   before it is published, reads the old rows and is completed from them: correct, and as slow as one worker.
//! - **Back-pressure**: a bounded number of batches is under way; a worker whose install waits for room in the memtable
//!   first publishes what it has done, because the checkpoint that makes the room waits for that.
//! - What is not a log of ours (statements, compressed or partial payloads, tables of another shape) is an error that names
//!   the position; it is never skipped.
//!
//! # Invariants
//! - A transaction is published after all those before it, once.
//! - When a transaction stops it that cannot be applied, everything before that is published (in bulk, before its batch), and nothing from
//!   it on. Who was faster does not matter.
//! - What [`Applier`] cannot apply does not keep [`recover_copy`] from ending with a state before it; only damage of the log itself does.
//! - [`recover`] returns with everything up to the log's durable end published.

mod bulk;
mod coordinator;
mod decode;
mod error;
mod follow;
mod gate;
mod minimal;
mod queue;
mod recover;
mod stats;
#[cfg(test)]
mod tests;
mod worker;
mod xa;

pub use error::ApplyError;
pub use follow::{Applier, ApplierStatus, StopAt};
pub use recover::{Recovered, recover, recover_copy};

/// How to apply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ApplyOptions {
    /// Threads that decode and install (`replica_parallel_workers`); 0 means as many as there are processors.
    pub workers: usize,
    /// Somebody reads while it is applied. Without readers it goes in bulk, which is twice as fast.
    pub readers: bool,
}
