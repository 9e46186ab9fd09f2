//! Settings of an engine, of a transaction, and what a session lends to both.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use base::{Cancel, ConnectionId, ServerId, UnixMicros};
use binlog::{GtidChoice, LogOptions, Origin, QueryContext, SourcePosition, SyncMethod};

use crate::lock::{LockOwner, Turn};
use crate::txn::ShownTransaction;

/// Told once, with the reason, when the engine has stopped for good (a failed sync, a damaged page in a checkpoint).
pub type FailureHook = Arc<dyn Fn(&str) + Send + Sync>;

/// Settings of an engine.
#[derive(Clone)]
pub struct EngineOptions {
    /// In every event's header.
    pub server_id: ServerId,
    /// As written into the log's format description, such as `8.4.0-commuter-0.1.0`.
    pub server_version: String,
    /// Size of the page cache (`innodb_buffer_pool_size`).
    pub page_cache_bytes: usize,
    /// What all memtables may take; one is frozen, and a checkpoint begun, at half of it (`memtable_size`).
    pub memtable_bytes: usize,
    /// A checkpoint begins when so much log has been written since the last.
    pub checkpoint_log_bytes: u64,
    /// And when recovery would take this long, as far as is known; zero for any time (`recovery_target_time`).
    pub recovery_target: Duration,
    /// Rows of a transaction go into events of about this size (`binlog_row_event_max_size`).
    pub row_event_max_bytes: usize,
    /// The most that one transaction may write (`max_binlog_cache_size`).
    pub transaction_bytes_max: u64,
    /// So much of what a transaction has written is kept in memory (`binlog_cache_size`); beyond it goes to temporary files,
    /// and becomes a file of the log.
    pub transaction_memory_bytes: usize,
    /// A transaction of the log with more bytes is installed by itself, event by event; smaller ones side by side.
    pub install_memory_bytes: usize,
    /// The log file is closed and the next begun at about this size.
    pub max_binlog_bytes: u64,
    /// Whether files bypass the operating system's cache.
    pub direct_io: bool,
    /// The log is a copy of a source's: it is opened to be continued with its bytes.
    pub follower: bool,
    /// The data file is put aside, and made anew by recovering the whole log; an error if the log does not tell everything.
    pub rebuild: bool,
    /// How the log is made durable.
    pub sync_method: SyncMethod,
    /// The other settings of the log; those that have fields of their own here count.
    pub log: LogOptions,
    /// Who to tell when the engine stops.
    pub on_failure: Option<FailureHook>,
}

impl Default for EngineOptions {
    fn default() -> Self {
        EngineOptions {
            server_id: ServerId(1),
            server_version: concat!("8.4.0-commuter-", env!("CARGO_PKG_VERSION")).to_string(),
            page_cache_bytes: 128 << 20,
            memtable_bytes: 256 << 20,
            checkpoint_log_bytes: 1 << 30,
            recovery_target: Duration::from_secs(10),
            row_event_max_bytes: 8192,
            transaction_bytes_max: u64::MAX,
            transaction_memory_bytes: 16 << 20,
            install_memory_bytes: 16 << 20,
            max_binlog_bytes: 1 << 30,
            direct_io: true,
            follower: false,
            rebuild: false,
            sync_method: SyncMethod::default(),
            log: LogOptions::default(),
            on_failure: None,
        }
    }
}

/// The part of a session that its transactions need.
#[derive(Debug, Default)]
pub struct SessionHandle {
    /// `CONNECTION_ID()`; in QUERY events and in lists of locks.
    pub connection_id: ConnectionId,
    /// Ends waits.
    pub cancel: Cancel,
    /// What it has committed last, for [`crate::commit::DependencyTracking::WritesetSession`]; 0 for nothing, or nothing that counts.
    pub last_commit: AtomicU64,
    /// Its open transaction, for others to see.
    pub transaction: ShownTransaction,
}

impl SessionHandle {
    /// A session of its own, for work that no client asked for.
    pub fn internal() -> Arc<Self> {
        Arc::new(SessionHandle::default())
    }
}

/// What concurrent transactions may see of one another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Isolation {
    /// Read as READ COMMITTED: a version that may yet vanish is never shown.
    ReadUncommitted,
    /// Each statement has a read view of its own; no gap locks.
    ReadCommitted,
    /// One read view from the first read on; next-key locks.
    #[default]
    RepeatableRead,
    /// As REPEATABLE READ, where the session makes its plain reads FOR SHARE.
    Serializable,
}

/// What a rows event holds of a row that was there before (`binlog_row_image`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RowImage {
    /// All columns; what installing needs.
    #[default]
    Full,
    /// The key before, the changed columns after.
    Minimal,
}

/// How to begin a transaction.
#[derive(Clone)]
pub struct TxnOptions {
    /// Its session.
    pub session: Arc<SessionHandle>,
    /// What it sees of others.
    pub isolation: Isolation,
    /// Refuse writes (1792).
    pub read_only: bool,
    /// `innodb_lock_wait_timeout`
    pub lock_wait_timeout: Duration,
    /// `lock_wait_timeout`: how long a commit waits while another session holds commits (FLUSH TABLES WITH READ LOCK).
    pub commit_wait_timeout: Duration,
    /// `binlog_row_image`
    pub row_image: RowImage,
    /// What the `BEGIN` in the log says of the session; a `timestamp` of 0 is the time of the commit.
    pub context: QueryContext,
    /// See [`crate::Transaction::set_unchecked`].
    pub unchecked: bool,
    /// `unique_checks=0`, told to replicas in the flags of rows events.
    pub relaxed_unique_checks: bool,
    /// `gtid_next`. A transaction whose GTID was chosen is in the log even if it writes nothing.
    pub gtid: GtidChoice,
    /// Where it was born, if it comes from another server.
    pub origin: Option<Origin>,
    /// Where it ends in the log of the server that it comes from, if that is to be remembered.
    pub source_position: Option<SourcePosition>,
    /// It is kept in memory whatever it writes: what is known to have been small enough once.
    pub stays_in_memory: bool,
    /// The session's LOCK TABLES, which do not stand in its own way.
    pub under: Option<Arc<LockOwner>>,
    /// Its place in an order that commits keep, if it has one.
    pub turn: Option<Turn>,
    /// Replicas execute it behind all before it (`skip_parallel_replication`).
    pub is_serial: bool,
    /// It is one statement by itself; shown in lists of open transactions, as the next field is.
    pub is_autocommit: bool,
    /// When its present statement began.
    pub statement_began: UnixMicros,
    /// Nobody waits for its commit: it may wait for company in its group ([`crate::commit::Pipeline::enqueue_patiently`]).
    pub is_patient: bool,
}

impl TxnOptions {
    /// The defaults, for this session.
    pub fn new(session: Arc<SessionHandle>) -> Self {
        TxnOptions {
            session,
            isolation: Isolation::default(),
            read_only: false,
            lock_wait_timeout: Duration::from_secs(50),
            commit_wait_timeout: Duration::from_secs(31_536_000),
            row_image: RowImage::default(),
            context: QueryContext::default(),
            unchecked: false,
            relaxed_unique_checks: false,
            gtid: GtidChoice::default(),
            origin: None,
            source_position: None,
            stays_in_memory: false,
            under: None,
            turn: None,
            is_serial: false,
            is_autocommit: false,
            statement_began: UnixMicros::default(),
            is_patient: false,
        }
    }
}
