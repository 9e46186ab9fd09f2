//! When files of the log are removed.

use super::*;

settings! {
    purge: PurgeSettings;

    binlog_expire_logs_auto_purge: bool = global(BOOL, "ON")
        .doc("Whether files older than binlog_expire_logs_seconds are removed.");
    binlog_expire_logs_seconds: u64 = global(U32, "2592000").alias(&["binlog_expire_seconds"])
        .doc("Age in seconds at which a log file may be removed; 0 keeps them. Files that a checkpoint or a connected replica needs stay.");
    binlog_space_limit: u64 = global(U64, "0").alias(&["max_binlog_total_size"])
        .doc("Size of all log files together above which the oldest are removed; 0 for no limit.");
    expire_logs_days: f64 = global(Kind::Double { min: 0.0, max: 99.0 }, "30")
        .doc("MariaDB's: binlog_expire_logs_seconds in days, with a fraction. Whichever of the two was set last holds.");
}
