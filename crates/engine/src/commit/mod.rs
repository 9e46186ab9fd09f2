//! The commit pipeline.
//!
//! What it needs of the log's writer (exclusive, `&mut`, nothing here awaits but `prepare_next`):
//! - `place(&EncodedTransaction, gtid, commit number's clock: last_committed, sequence_number, commit_time) -> (start, end)`:
//!   appends GTID event and fixed-up events to the buffer of the group under construction, in memory only;
//! - `take_group() -> Group { file: inline handle and offload handle, offset, buf, end }`: owned, `'static`, so that two or
//!   three groups can be in flight while the next one is placed; `Group::write(mode)`, `Group::sync(mode)`; O_DSYNC by setting;
//! - `recycle(buf)`; `wants_rotation() -> bool` after a group; `rotate()`: ROTATE event into the group, next group goes to
//!   the prepared next segment; the old file is sealed when its last group is durable (`seal(file)` in the background);
//! - `durable(end)`: moves the durable end that readers see, called by the pipeline in order;
//! - `reserve(bytes)` on the shared half: zero-filled room ahead for all reservations, or an error with needed and free.

use std::sync::Arc;

use base::{CommitNumber, ErrorClass, Gtid, LogPosition, SqlError, UnixMicros, codes};

/// Where in the order of everything a transaction is. Final once given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Dense, in log order.
    pub commit_number: CommitNumber,
    /// Given by the client, or the server's next.
    pub gtid: Gtid,
    /// Where its GTID event begins.
    pub start: LogPosition,
    /// Where its last event ends.
    pub end: LogPosition,
    /// Of the logical clock of its log file: everything up to it must be committed before this may be applied.
    pub last_committed: u64,
    /// Of the logical clock of its log file; 1 is the first transaction of a file.
    pub sequence_number: u64,
    /// When it got its place.
    pub commit_time: UnixMicros,
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
    #[error("Disk full: the binary log needs {needed} bytes, {free} are left")]
    Full {
        /// What was asked for, in bytes.
        needed: u64,
        /// What there is, in bytes.
        free: u64,
    },
    /// Before it had a place: the server is shutting down.
    #[error("Server shutdown in progress")]
    Stopped,
    /// A write or sync of the log failed. Whether the transaction is in the log will be known after a restart.
    #[error("The binary log failed, the server has to be restarted: {0}")]
    LogFailed(Arc<str>),
}

impl CommitError {
    /// What a caller can do about it.
    pub fn class(&self) -> ErrorClass {
        match self {
            CommitError::Full { .. } => ErrorClass::Full,
            CommitError::Stopped => ErrorClass::Cancelled,
            CommitError::LogFailed(_) => ErrorClass::Io,
        }
    }
}

impl From<CommitError> for SqlError {
    fn from(error: CommitError) -> Self {
        let code = match error {
            CommitError::Full { .. } => codes::DISK_FULL,
            CommitError::Stopped => codes::SERVER_SHUTDOWN,
            CommitError::LogFailed(_) => codes::ERROR_ON_WRITE,
        };
        SqlError::new(code, error.to_string())
    }
}
