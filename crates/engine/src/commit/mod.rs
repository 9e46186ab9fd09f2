//! The commit pipeline: one log, one write and one sync per group, order decided once.
//!
//! ```text
//! sessions      encode, hash, install pending versions (all in parallel) ─► enqueue ─► let row locks go ─► await Ticket
//!                                                                             │ order is fixed here
//! log thread    take the queue ─► place each (number, GTID, positions; prepare_ordered) ─► write ─► sync
//!                                                                                                     │
//!               durable end moves ─► commit_ordered(last): visible ─► wake each session, in log order ┘
//! ```
//! The queue is lock-free. Whoever has the **pen** (there is one: the log's writer, the last place, the history of
//! writesets) forms a group of what is queued, as long as the last one took; so the slower the syncs, the larger the groups.
//!
//! - **A lone session commits inline.** If it finds the queue empty, nobody with the pen, the last group was one transaction
//!   and syncs are short, it takes the pen and writes and syncs by itself, blocking its thread: a hand-over to the log
//!   thread and back costs 70 us of latency on an idle machine (1 client: 6.7k commits/s against 4.5k).
//! - **Who is not waited for waits for company** ([`Pipeline::enqueue_patiently`]): what a replica that is behind commits goes in groups of some
//!   hundred, as if syncs were slow: 53,000 transactions/s of a MariaDB's log where it was 43,000, on two cores.
//! - **Overlap and gathering** where syncs are slow: see [`tuner`]. Several groups may be in flight, they are published
//!   in log order; files become durable one by one.
//! - **Space is reserved before a place is taken** ([`Pipeline::reserve`]): a full disk is an error of one transaction,
//!   which is still whole, and never of the log.
//! - **A failed write or sync is final.** It is latched, everybody who waits and whoever comes later is told, nothing is
//!   tried again ([`CommitEnv::failed`]: the server stops). What became of the transactions in flight is known after
//!   a restart, from the log.
//!
//! # Invariants
//! 1. An acknowledged transaction is in the log, and synced if `sync_binlog` is 1.
//! 2. Log order = order of commit numbers = order of `prepare_ordered` = order of publication. It is decided where the
//!    queue is taken (`round.rs`), nowhere else.
//! 3. Nothing is published before everything before it in the log is.
//! 4. After a transaction has its place only the disk can fail.
//! 5. Every ticket gets an outcome: also if sessions vanish in the middle of their inline commit, the log fails, or the
//!    pipeline is closed.
//!
//! # Designs that were measured and not taken (2 cores, fast virtio disk; commits/s at 1 | 64 clients)
//! - **A leader among the sessions**, as in MySQL and MariaDB (log thread 4.5k | 80.7k; leader on tokio 4.5k | 65.2k,
//!   as threads that park 6.6k | 52.3k, p99 3.7 ms): the leader's own work waits behind that of its followers, and
//!   with tasks it blocks a thread that others need. What it gains at one client the inline commit gains too.
//! - **io_uring, write linked to fsync** (3.3k | 72.6k): fsync goes to a kernel worker, which costs a hand-over of its own.
//! - **One notification per group** for all sessions (4.4k | 75.8k), or a oneshot channel each (4.5k | 78.6k): a waker in
//!   the slot where the outcome goes is as simple and faster. One condition variable for all is worst: of 5,000 threads
//!   that it wakes each waits for the mutex (47 ms against 18 ms with one each).
//! - **Two or three syncs in flight always** (4.1k | 76.2k): costs 2-8 % on fast storage.

mod history;
mod pipeline;
mod round;
mod semi_sync;
mod settings;
mod signal;
mod stats;
#[cfg(test)]
mod tests;
mod ticket;
mod tuner;

use std::sync::Arc;

use base::{CommitNumber, ErrorClass, Gtid, LogPosition, SqlError, UnixMicros, codes};
use binlog::BinlogError;

pub use self::pipeline::{Barrier, Pipeline};
pub use self::semi_sync::{OnTimeout, SemiSync, SemiSyncStatus};
pub use self::settings::{CommitSettings, DependencyTracking, Overlap};
pub use self::stats::{CommitStats, Histogram, HistogramSnapshot};
pub use self::ticket::Ticket;

/// Where in the order of everything a transaction is. Final once given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Dense, in log order.
    pub commit_number: CommitNumber,
    /// Given by the client, or the server's next. None of a local transaction.
    pub gtid: Option<Gtid>,
    /// Where its GTID event begins.
    pub start: LogPosition,
    /// Where its last event ends.
    pub end: LogPosition,
    /// Where the newest transaction up to this one ends that replicas are sent, since the server has started: what they can acknowledge.
    pub sent_end: LogPosition,
    /// Of the logical clock of its log file: everything up to it must be committed before this may be applied.
    pub last_committed: u64,
    /// Of the logical clock of its log file; 1 is the first transaction of a file.
    pub sequence_number: u64,
    /// When it got its place.
    pub commit_time: UnixMicros,
}

impl Place {
    /// A place to go on after: the last transaction of a log that ends at `end`. Its other parts are not known.
    pub fn at(commit_number: CommitNumber, end: LogPosition) -> Self {
        Place {
            commit_number,
            gtid: None,
            start: end,
            end,
            sent_end: LogPosition::default(),
            last_committed: 0,
            sequence_number: 0,
            commit_time: UnixMicros(0),
        }
    }
}

/// What the pipeline knows of the engine.
pub trait CommitEnv: Send + Sync + 'static {
    /// What the engine needs back of one transaction when its place is known, such as the stamp of its versions.
    type Payload: Send + 'static;

    /// The transaction has its place, in log order, not yet written. Cannot fail, must be quick.
    fn prepare_ordered(&self, payload: &mut Self::Payload, place: &Place);

    /// All transactions up to and including `last` are as durable as they were asked to be: make them visible.
    /// Once per group, in log order, before any session of the group is told. Cannot fail, must be quick.
    fn commit_ordered(&self, last: &Place);

    /// The log has failed for good: nothing will be committed any more, the server has to stop. Called once.
    fn failed(&self, error: &CommitError);
}

/// Why a transaction was not committed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum CommitError {
    /// Before it had a place: there is no room for it in the log. Nothing has happened; the transaction is intact.
    #[error("{0}")]
    Full(Arc<str>),
    /// Before it had a place: the server is shutting down.
    #[error("Server shutdown in progress")]
    Stopped,
    /// A write or sync of the log failed. Whether the transaction is in the log will be known after a restart.
    #[error("The binary log failed, the server has to be restarted: {0}")]
    LogFailed(Arc<str>),
    /// It is in the log, synced, and the server ends before a replica has acknowledged it: it will be there after a restart.
    #[error(
        "Server shutdown in progress; the transaction is in the log and no replica has acknowledged it: it becomes visible \
         with the next start"
    )]
    Unacknowledged,
}

impl CommitError {
    /// What a caller can do about it.
    pub fn class(&self) -> ErrorClass {
        match self {
            CommitError::Full(_) => ErrorClass::Full,
            CommitError::Stopped | CommitError::Unacknowledged => ErrorClass::Cancelled,
            CommitError::LogFailed(_) => ErrorClass::Io,
        }
    }
}

impl From<BinlogError> for CommitError {
    fn from(error: BinlogError) -> Self {
        match error {
            // Also of the next file, which could not be prepared: the log itself has not failed.
            _ if error.class() == ErrorClass::Full => CommitError::Full(error.to_string().into()),
            BinlogError::Closed => CommitError::Stopped,
            _ => CommitError::LogFailed(error.to_string().into()),
        }
    }
}

impl From<CommitError> for SqlError {
    fn from(error: CommitError) -> Self {
        let code = match error {
            CommitError::Full(_) => codes::DISK_FULL,
            CommitError::Stopped | CommitError::Unacknowledged => codes::SERVER_SHUTDOWN,
            CommitError::LogFailed(_) => codes::ERROR_ON_WRITE,
        };
        SqlError::new(code, error.to_string())
    }
}
