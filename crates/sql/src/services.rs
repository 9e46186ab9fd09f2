//! What the server does for a session and the session cannot do itself: other sessions, replication, the log as files.
//!
//! Every method that waits gives a future; none holds a lock across it. Privileges are checked by the session before
//! it calls.

mod work;

use std::sync::Arc;
use std::time::Duration;

use base::{Cancelled, ConnectionId, SqlError};
use engine::RowSource;
use io::BoxFuture;

use crate::parse::ast::{ChangeSource, ChannelName, FlushTarget, StartReplica, StopReplica};
use crate::replay::ChannelRules;
use crate::settings::{Change, ServerState, SettingId, SettingValue};

pub use self::work::{
    ChannelWork, DomainCrossing, FilterRule, Lag, Parallelism, QueuedState, QueuedTransaction, Retries,
    TimedTransaction, Worker, WorkerState,
};

/// The server, as sessions see it.
pub trait Services: Send + Sync {
    /// Every connection and background task, for SHOW PROCESSLIST.
    fn processlist(&self) -> Vec<Process>;

    /// What the clients of all connections say of themselves: names and values, in their order.
    fn connect_attributes(&self) -> Vec<(ConnectionId, Vec<(String, String)>)> {
        Vec::new()
    }

    /// Ends a statement or a connection; `NO_SUCH_THREAD` if there is none with this id.
    fn kill(&self, id: ConnectionId, what: Cancelled) -> Result<(), SqlError>;

    /// The session's state for SHOW PROCESSLIST: its statement (empty when idle) and what it is doing.
    fn report(&self, id: ConnectionId, activity: Activity<'_>);

    /// Global status counters (`Threads_connected`, `Binlog_commits`, …), sorted by name. The session adds its own.
    fn status(&self) -> Vec<(String, String)>;

    /// Checks a new global value and puts it to work in the part that subscribes to it, before it is stored.
    /// `super_read_only = OFF` makes a follower a source, which may take a while.
    fn apply_setting(&self, id: SettingId, change: Change) -> BoxFuture<'_, Result<(), SqlError>>;

    /// The server's value of a setting that is not stored but asked of the server.
    fn server_state(&self, state: ServerState) -> SettingValue;

    /// The text that is stored in an account for a password, by the named plugin (`caching_sha2_password`,
    /// `mysql_native_password`).
    fn password_hash(&self, plugin: &str, password: &str) -> Result<String, SqlError>;

    /// Whether the text is one that [`password_hash`](Services::password_hash) could have made (`IDENTIFIED WITH … AS '…'`).
    fn valid_password_hash(&self, plugin: &str, hash: &str) -> bool;

    /// Whether a password is the one whose hash is stored.
    fn is_password(&self, plugin: &str, hash: &str, password: &str) -> bool;

    /// The files of the log, oldest first.
    fn binary_logs(&self) -> Vec<BinaryLogFile>;

    /// The log's end, and what it holds.
    fn binary_log_status(&self) -> BinaryLogStatus;

    /// Events for SHOW BINLOG EVENTS: of `file` (the first if `None`), from `position`, `offset` skipped, at most `limit`.
    fn binlog_events(&self, query: BinlogEventsQuery) -> BoxFuture<'_, Result<Vec<BinlogEventRow>, SqlError>>;

    /// Removes log files that nothing needs any more; who needs some that were to go, if anybody does. The session has resolved
    /// the time of `BEFORE`.
    fn purge_binary_logs(&self, to: PurgeBinaryLogs) -> BoxFuture<'_, Result<Option<String>, SqlError>>;

    /// Removes all log files and starts with an empty GTID set (RESET BINARY LOGS AND GTIDS).
    fn reset_binary_logs(&self, to: Option<u64>) -> BoxFuture<'_, Result<(), SqlError>>;

    /// FLUSH of what the session has no part in; for `BinaryLogs` it begins a new file.
    fn flush(&self, target: FlushTarget) -> BoxFuture<'_, Result<(), SqlError>>;

    /// Replicas that are connected and have registered.
    fn replicas(&self) -> Vec<ReplicaHost>;

    /// CHANGE REPLICATION SOURCE TO.
    fn change_source(&self, change: ChangeSource) -> BoxFuture<'_, Result<(), SqlError>>;

    /// CHANGE REPLICATION FILTER of one channel; the rules have been checked. 3074 if there is no such channel, 3085 while it executes.
    fn change_channel_filter(&self, channel: String, rules: ChannelRules) -> BoxFuture<'_, Result<(), SqlError>>;

    /// START REPLICA. `holds_commits`: the session has a global read lock, so what waits for others' commits is error 1192.
    fn start_replica(&self, start: StartReplica, holds_commits: bool) -> BoxFuture<'_, Result<(), SqlError>>;

    /// STOP REPLICA. How many temporary tables of connections of their sources the channels have that it names.
    fn stop_replica(&self, stop: StopReplica) -> BoxFuture<'_, Result<usize, SqlError>>;

    /// RESET REPLICA [ALL].
    fn reset_replica(&self, all: bool, channel: ChannelName) -> BoxFuture<'_, Result<(), SqlError>>;

    /// The rows of SHOW REPLICA STATUS, in its columns' order with their new names; no row if this server never followed. 3074 if there is
    /// no such channel.
    fn replica_status(&self, channel: &ChannelName) -> Result<Vec<ReplicaStatusRow>, SqlError>;

    /// What every channel does that has a source, in the order of [`replica_status`](Services::replica_status).
    fn replica_work(&self) -> Vec<ChannelWork>;

    /// Replication filters of all channels that have none of their own of a kind.
    fn replica_filters(&self) -> Vec<FilterRule>;

    /// Ready when everything in `set` has been applied here (`true`), or the time is over (`false`).
    fn wait_for_gtids(&self, set: &str, timeout: Option<Duration>) -> BoxFuture<'_, Result<bool, SqlError>>;

    /// Ready when everything up to a position of MariaDB's (`0-1-17,2-1-4`) has been applied here (`true`), or the time is over (`false`).
    /// 1941 for what is no position.
    fn wait_for_position(&self, position: &str, timeout: Option<Duration>) -> BoxFuture<'_, Result<bool, SqlError>>;

    /// The last transaction before a position of the binary log as MariaDB names it (`0-1-17`), empty if there is none; `None` if
    /// there is no such position. The position must be between two transactions.
    fn binlog_gtid_pos(&self, file: &str, position: u64) -> BoxFuture<'_, Result<Option<String>, SqlError>>;

    /// Who has the rows of tables of which something cannot be read: the server at a URL, or the source of a server that copies one.
    fn row_source(&self, from: Option<&str>) -> Result<Arc<dyn RowSource>, SqlError>;

    /// Begins a clean shutdown.
    fn shutdown(&self);

    /// Begins a checkpoint and waits for it (FLUSH TABLES … FOR EXPORT is not supported; FLUSH LOGS does not call this).
    fn checkpoint(&self) -> BoxFuture<'_, Result<(), SqlError>>;
}

/// What a session does just now.
#[derive(Clone, Copy, Debug)]
pub enum Activity<'a> {
    /// A statement begins, in this default database.
    Statement {
        /// Its text.
        text: &'a str,
        /// The default database.
        database: Option<&'a str>,
    },
    /// The statement has ended.
    Idle,
}

/// A line of SHOW PROCESSLIST.
#[derive(Clone, Debug, Default)]
pub struct Process {
    /// The connection's number.
    pub id: ConnectionId,
    /// Account name; `system user` for the server's own tasks.
    pub user: String,
    /// The account that it logged in to, as `'user'@'host'`; none before it has, and for the server's own tasks.
    pub account: Option<String>,
    /// Client's host and port.
    pub host: String,
    /// Default database.
    pub database: Option<String>,
    /// `Query`, `Sleep`, `Binlog Dump GTID`, …
    pub command: String,
    /// In this state for so many seconds.
    pub time_seconds: u64,
    /// What it waits for or works on.
    pub state: String,
    /// The statement.
    pub info: Option<String>,
    /// Its open transaction.
    pub transaction: Option<engine::TransactionFigures>,
    /// It has been waiting for a row for so long.
    pub row_wait: Option<Duration>,
}

/// A line of SHOW BINARY LOGS.
#[derive(Clone, Debug)]
pub struct BinaryLogFile {
    /// `binlog.000001`.
    pub name: String,
    /// Bytes up to its end (of the live file: its durable end).
    pub size: u64,
}

/// SHOW BINARY LOG STATUS.
#[derive(Clone, Debug)]
pub struct BinaryLogStatus {
    /// The live file.
    pub file: String,
    /// The end of the last transaction in it.
    pub position: u64,
    /// All that was ever executed here.
    pub executed_gtid_set: String,
}

/// What SHOW BINLOG EVENTS asks for.
#[derive(Clone, Debug, Default)]
pub struct BinlogEventsQuery {
    /// The first file if `None`.
    pub file: Option<String>,
    /// From this event on; must be the start of one.
    pub position: Option<u64>,
    /// Events to skip.
    pub offset: u64,
    /// At most so many.
    pub limit: Option<u64>,
}

/// A line of SHOW BINLOG EVENTS.
#[derive(Clone, Debug)]
pub struct BinlogEventRow {
    /// File name.
    pub file: String,
    /// Where the event begins.
    pub position: u64,
    /// `Gtid`, `Query`, `Table_map`, …
    pub event_type: String,
    /// Of the event's header.
    pub server_id: u32,
    /// Where the event ends.
    pub end: u64,
    /// What is in it.
    pub info: String,
}

/// What PURGE BINARY LOGS removes.
#[derive(Clone, Debug)]
pub enum PurgeBinaryLogs {
    /// All files before the named one.
    To(String),
    /// All files last written before this time, in seconds since 1970.
    Before(i64),
}

/// A line of SHOW REPLICAS.
#[derive(Clone, Debug)]
pub struct ReplicaHost {
    /// The replica's `server_id`.
    pub server_id: u32,
    /// As it reported.
    pub host: String,
    /// As it reported.
    pub port: u16,
    /// This server's id.
    pub source_id: u32,
    /// The replica's `server_uuid`.
    pub replica_uuid: String,
}

/// One channel's line of SHOW REPLICA STATUS: name and value of every column, in order.
#[derive(Clone, Debug, Default)]
pub struct ReplicaStatusRow(pub Vec<(&'static str, Option<String>)>);
