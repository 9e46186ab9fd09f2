//! What administrators say.

use crate::ast as sql;

use super::TableName;

/// FOR CHANNEL, in lower case; empty for the channel that is always there. `None` where nothing is said: all of them, or the only one.
pub type ChannelName = Option<String>;

/// What an administrator says.
#[derive(Clone, Debug, PartialEq)]
pub enum Admin {
    /// CHANGE REPLICATION SOURCE TO.
    ChangeSource(Box<ChangeSource>),
    /// CHANGE REPLICATION FILTER.
    ReplicationFilter {
        /// Settings, and their values.
        rules: Vec<(String, String)>,
        /// FOR CHANNEL.
        channel: ChannelName,
    },
    /// START REPLICA.
    StartReplica(StartReplica),
    /// STOP REPLICA.
    StopReplica(StopReplica),
    /// RESET REPLICA [ALL].
    ResetReplica {
        /// ALL: forget the source as well.
        all: bool,
        /// FOR CHANNEL.
        channel: ChannelName,
    },
    /// RESET BINARY LOGS AND GTIDS, with the number of the first file.
    ResetBinaryLogs(Option<u64>),
    /// PURGE BINARY LOGS TO.
    PurgeTo(String),
    /// PURGE BINARY LOGS BEFORE.
    PurgeBefore(Box<sql::Expr>),
    /// FLUSH.
    Flush(Vec<FlushTarget>),
    /// KILL.
    Kill {
        /// KILL QUERY.
        query_only: bool,
        /// The connection's number.
        id: Box<sql::Expr>,
    },
    /// SHUTDOWN.
    Shutdown,
    /// ANALYZE, CHECK, OPTIMIZE or REPAIR TABLE.
    Tables {
        /// What to do.
        what: TableMaintenance,
        /// With these.
        tables: Vec<TableName>,
        /// LOCAL, NO_WRITE_TO_BINLOG.
        local: bool,
        /// FROM: the server that has the rows that REPAIR cannot read.
        from: Option<String>,
    },
    /// ANALYZE TABLE … UPDATE HISTOGRAM, DROP HISTOGRAM.
    Histogram(Histogram),
    /// CHECKSUM TABLE.
    Checksum {
        /// Of these.
        tables: Vec<TableName>,
        /// How.
        how: Checksum,
    },
}

/// ANALYZE TABLE … UPDATE HISTOGRAM, DROP HISTOGRAM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram {
    /// Of these; only one is allowed.
    pub tables: Vec<TableName>,
    /// LOCAL, NO_WRITE_TO_BINLOG.
    pub local: bool,
    /// Their names.
    pub columns: Vec<String>,
    /// What to do.
    pub change: HistogramChange,
}

/// What becomes of histograms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HistogramChange {
    /// UPDATE.
    Update {
        /// WITH n BUCKETS.
        buckets: Option<u64>,
        /// AUTO UPDATE.
        auto: bool,
    },
    /// USING DATA: what it is.
    Data(String),
    /// DROP.
    Drop,
}

/// What CHECKSUM TABLE gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Checksum {
    /// A number per table, from its tree.
    Whole,
    /// EXTENDED: the same number from every row.
    Extended,
    /// QUICK: a number that is kept with the table; there is none.
    Quick,
    /// RANGES: rows and sum of parts of each table.
    Ranges {
        /// FROM … TO.
        range: EncodedRange,
        /// Where it is cut.
        cuts: Cuts,
    },
    /// ROWS: each row's key and hash.
    Rows(EncodedRange),
    /// IMAGES: each row's key and its bytes.
    Images(EncodedRange),
}

/// Keys as they are in the clustered index, encoded: from one on, and before another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EncodedRange {
    /// FROM.
    pub from: Option<Vec<u8>>,
    /// TO; not itself in the range.
    pub to: Option<Vec<u8>>,
}

/// Where a range is cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cuts {
    /// AT: here (nowhere if empty).
    At(Vec<Vec<u8>>),
    /// SPLIT: where it suits the server.
    Split,
}

/// What is done to tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are MySQL's own")]
pub enum TableMaintenance {
    Analyze,
    Check,
    Optimize,
    Repair,
}

/// What FLUSH flushes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FlushTarget {
    /// LOGS: all of them; for us the binary log and the server's own.
    Logs,
    /// ERROR LOGS: the server's own.
    ErrorLogs,
    /// BINARY LOGS.
    BinaryLogs,
    /// STATUS.
    Status,
    /// PRIVILEGES, HOSTS, …: nothing is cached, so there is nothing to do. In MySQL's words.
    Nothing(&'static str),
    /// TABLES [t, …].
    Tables(Vec<TableName>),
    /// TABLES [t, …] WITH READ LOCK.
    TablesWithReadLock(Vec<TableName>),
    /// RELAY LOGS.
    RelayLogs,
}

/// Options of CHANGE REPLICATION SOURCE TO; `None` where nothing was said.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChangeSource {
    /// SOURCE_HOST.
    pub host: Option<String>,
    /// SOURCE_PORT.
    pub port: Option<u16>,
    /// SOURCE_USER.
    pub user: Option<String>,
    /// SOURCE_PASSWORD.
    pub password: Option<String>,
    /// SOURCE_LOG_FILE.
    pub log_file: Option<String>,
    /// SOURCE_LOG_POS.
    pub log_position: Option<u64>,
    /// SOURCE_AUTO_POSITION; MariaDB's MASTER_USE_GTID = slave_pos | current_pos is the same.
    pub auto_position: Option<bool>,
    /// SOURCE_CONNECT_RETRY, in seconds.
    pub connect_retry_seconds: Option<u64>,
    /// SOURCE_RETRY_COUNT.
    pub retry_count: Option<u64>,
    /// SOURCE_HEARTBEAT_PERIOD, in seconds.
    pub heartbeat_period_seconds: Option<f64>,
    /// SOURCE_DELAY, in seconds.
    pub delay_seconds: Option<u64>,
    /// SOURCE_SSL.
    pub ssl: Option<bool>,
    /// SOURCE_SSL_CA.
    pub ssl_ca: Option<String>,
    /// SOURCE_SSL_CERT.
    pub ssl_cert: Option<String>,
    /// SOURCE_SSL_KEY.
    pub ssl_key: Option<String>,
    /// SOURCE_SSL_VERIFY_SERVER_CERT.
    pub ssl_verify_server_cert: Option<bool>,
    /// GET_SOURCE_PUBLIC_KEY.
    pub get_public_key: Option<bool>,
    /// SOURCE_PUBLIC_KEY_PATH.
    pub public_key_path: Option<String>,
    /// IGNORE_SERVER_IDS.
    pub ignored_server_ids: Option<Vec<u32>>,
    /// MariaDB's DO_DOMAIN_IDS.
    pub do_domain_ids: Option<Vec<u32>>,
    /// MariaDB's IGNORE_DOMAIN_IDS.
    pub ignored_domain_ids: Option<Vec<u32>>,
    /// FOR CHANNEL.
    pub channel: ChannelName,
}

/// START REPLICA.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StartReplica {
    /// IO_THREAD was named (or nothing was, which means both).
    pub receiver: bool,
    /// SQL_THREAD was named (or nothing was).
    pub applier: bool,
    /// UNTIL.
    pub until: Option<ReplicaUntil>,
    /// USER.
    pub user: Option<String>,
    /// PASSWORD.
    pub password: Option<String>,
    /// FOR CHANNEL.
    pub channel: ChannelName,
    /// ALL: whatever `default_master_connection` says.
    pub all: bool,
}

/// STOP REPLICA.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StopReplica {
    /// IO_THREAD was named (or nothing was, which means both).
    pub receiver: bool,
    /// SQL_THREAD was named (or nothing was).
    pub applier: bool,
    /// FOR CHANNEL.
    pub channel: ChannelName,
    /// ALL: whatever `default_master_connection` says.
    pub all: bool,
}

/// UNTIL of START REPLICA.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReplicaUntil {
    /// SQL_BEFORE_GTIDS.
    BeforeGtids(String),
    /// SQL_AFTER_GTIDS.
    AfterGtids(String),
    /// SQL_AFTER_MTS_GAPS.
    AfterGaps,
    /// MASTER_GTID_POS, MariaDB's.
    MariaGtids(String),
    /// SOURCE_LOG_FILE, SOURCE_LOG_POS.
    Position {
        /// File.
        file: String,
        /// Offset.
        position: u64,
    },
}
