//! What replication does at the moment, beyond a line of SHOW REPLICA STATUS: for `performance_schema.replication_*`.

use base::UnixMicros;
use binlog::IntervalFigures;

/// A channel's receiver and workers.
#[derive(Clone, Debug, Default)]
pub struct ChannelWork {
    /// Its name; empty for the one without.
    pub channel: String,
    /// Heartbeats since the connection was made.
    pub heartbeats: u64,
    /// When the last one came; 0 for never.
    pub last_heartbeat: UnixMicros,
    /// Seconds between two of them.
    pub heartbeat_period: f64,
    /// When the receiver's last error was; 0 if there is none.
    pub receiver_error: UnixMicros,
    /// The same of those who execute.
    pub applier_error: UnixMicros,
    /// The transaction of which the beginning was received and not the end.
    pub queueing: Option<TimedTransaction>,
    /// The newest one that was received whole.
    pub last_queued: Option<TimedTransaction>,
    /// The transaction that is being put together for workers.
    pub buffering: Option<TimedTransaction>,
    /// The newest one that was handed on.
    pub last_buffered: Option<TimedTransaction>,
    /// How often transactions were begun again.
    pub retries: u64,
    /// How far it is behind.
    pub lag: Lag,
    /// How parallel its source was, and it is.
    pub parallelism: Parallelism,
    /// Domains that touch the same rows.
    pub crossings: Vec<DomainCrossing>,
    /// Those that execute transactions side by side; none where they are executed one by one.
    pub workers: Vec<Worker>,
    /// Who executes them one by one.
    pub alone: Worker,
    /// Replication filters.
    pub filters: Vec<FilterRule>,
    /// Transactions that were received, and have no place in this log yet, in the source's order; those that execute side by side.
    pub queue: Vec<QueuedTransaction>,
}

/// A transaction and its times. 0 is a time that is not known.
#[derive(Clone, Debug, Default)]
pub struct TimedTransaction {
    /// Its GTID, or ANONYMOUS.
    pub name: String,
    /// When it was committed where it was born.
    pub original_commit: UnixMicros,
    /// When it was committed at the source.
    pub immediate_commit: UnixMicros,
    /// When the work began, and ended, here.
    pub start: UnixMicros,
    /// See `start`.
    pub end: UnixMicros,
}

/// How far a channel is behind its source. What is not known is `None`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lag {
    /// Received and not executed, or not shown; known where transactions have GTIDs.
    pub transactions: Option<u64>,
    /// Bytes of their events.
    pub bytes: u64,
    /// Seconds since the oldest of them was committed at the source; 0 if there are none and the source is heard of.
    pub seconds: Option<f64>,
    /// The same since it was committed where it was born.
    pub origin_seconds: Option<f64>,
    /// So many seconds after its commit at the source the last one was durable here.
    pub last_seconds: Option<f64>,
}

/// How parallel a channel's log was at its source, and is here; since the server started.
#[derive(Clone, Debug, Default)]
pub struct Parallelism {
    /// `replica_parallel_mode` as it is in force; empty before the first START REPLICA.
    pub mode: &'static str,
    /// Transactions that were received.
    pub received: u64,
    /// Their intervals, if the source is no MariaDB.
    pub intervals: IntervalFigures,
    /// Groups of commits, if it is one.
    pub commit_groups: u64,
    /// Transactions that were executed beside others.
    pub executed_beside_others: u64,
    /// How many of them were executed before it was their turn to commit.
    pub waited_for_order: u64,
    /// How often one was begun again because one before it waited for what it held.
    pub in_the_way: u64,
    /// How often one was begun again, in its turn, because of an error that might have been none then.
    pub too_early: u64,
    /// Why transactions were not begun beside those before them, and how many.
    pub barriers: Vec<(&'static str, u64)>,
}

impl Parallelism {
    /// Transactions in a group of commits; `None` without groups.
    pub fn commit_group_size(&self) -> Option<f64> {
        (self.commit_groups > 0).then(|| self.received as f64 / self.commit_groups as f64)
    }
}

/// Two domains of a MariaDB's log that touch the same rows though they were declared independent; where domains are executed side by side.
#[derive(Clone, Debug, Default)]
pub struct DomainCrossing {
    /// Of the later transaction.
    pub domain: u32,
    /// Of the one before it.
    pub other_domain: u32,
    /// The tables that the later one is about: `schema.table`, with commas between.
    pub tables: String,
    /// Transactions that were found so.
    pub count: u64,
    /// The last of them, and the one of which it touched a row.
    pub transaction: String,
    /// See `transaction`.
    pub other: String,
    /// When that was.
    pub last: UnixMicros,
}

/// Somebody who executes transactions.
#[derive(Clone, Debug, Default)]
pub struct Worker {
    /// It has not stopped.
    pub is_running: bool,
    /// What it did last.
    pub applied: Option<TimedTransaction>,
    /// How often that was begun again.
    pub applied_retries: Retries,
    /// What it does.
    pub applying: Option<TimedTransaction>,
    /// How often that was begun again.
    pub applying_retries: Retries,
    /// What is waited for, or done.
    pub state: WorkerState,
    /// Schema and name of the table whose rows it applied last.
    pub table: Option<(String, String)>,
    /// Row events that it has applied.
    pub row_events: u64,
}

/// How often a transaction was begun again, and why.
#[derive(Clone, Debug, Default)]
pub struct Retries {
    /// How often.
    pub count: u64,
    /// Number and text of the last error, and when that was.
    pub error: Option<(u16, String, UnixMicros)>,
}

/// A replication filter of one kind.
#[derive(Clone, Debug)]
pub struct FilterRule {
    /// The setting: `replicate_do_db`.
    pub name: &'static str,
    /// As MySQL shows it: `a,b`; `(a,b),(c,d)` of other names.
    pub rule: String,
    /// MySQL's word for how it was set.
    pub configured_by: &'static str,
    /// Since when.
    pub since: UnixMicros,
    /// How often it has matched since then.
    pub count: u64,
}

/// What a worker does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WorkerState {
    /// Waits for a transaction that may begin.
    #[default]
    Idle,
    /// Executes, or waits for a row.
    Executing,
    /// Has executed, and waits for those before it to commit.
    InOrder,
}

/// A transaction that was received.
#[derive(Clone, Debug)]
pub struct QueuedTransaction {
    /// Its GTID, or ANONYMOUS.
    pub name: String,
    /// Where it is on its way.
    pub state: QueuedState,
    /// Who executes it.
    pub worker: Option<u64>,
    /// The last one that it waits for, if it waits for one before it begins.
    pub after: Option<String>,
    /// Bytes of its events.
    pub bytes: u64,
}

/// Where a transaction is on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueuedState {
    /// Others have to be done, or executed, before it begins.
    WaitsForPredecessor,
    /// It waits for a worker.
    Ready,
    /// A worker has it.
    Executing,
    /// It waits for its turn to commit.
    Executed,
    /// Out of order, it has its place before those in front of it.
    Committed,
}

impl QueuedState {
    /// As it is shown.
    pub fn text(self) -> &'static str {
        match self {
            QueuedState::WaitsForPredecessor => "WAITING FOR PREDECESSOR",
            QueuedState::Ready => "WAITING FOR WORKER",
            QueuedState::Executing => "EXECUTING",
            QueuedState::Executed => "WAITING FOR COMMIT ORDER",
            QueuedState::Committed => "COMMITTED",
        }
    }
}
