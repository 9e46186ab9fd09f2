//! The binary log and the commit pipeline.

use super::*;

pub(super) const ALL: &[Setting] = &[
    global("binlog_cache_size", uint(4096, 512 << 20), "16777216")
        .doc("Bytes of a transaction's changes that stay in memory. Beyond it they go to temporary files, and the transaction becomes a log file of its own. (In MySQL such a transaction is copied into the log, so its default is 32 KiB.)"),
    fixed("binlog_checksum", Kind::Enum(&["NONE", "CRC32"]), "CRC32")
        .only(&["CRC32"]).doc("How events are protected. Always CRC32 here: the log is the only write-ahead log."),
    both("binlog_format", Kind::Enum(&["MIXED", "STATEMENT", "ROW"]), "ROW")
        .only(&["MIXED", "ROW"]).doc("How changes are logged: as rows, whatever it says. MIXED is taken, since it leaves the choice to the server; STATEMENT is refused, because a \
              program that asks for it relies on replicas executing its statements."),
    global("binlog_expire_logs_auto_purge", BOOL, "ON").doc("Whether files older than binlog_expire_logs_seconds are removed."),
    global("binlog_expire_logs_seconds", U32, "2592000")
        .alias(&["binlog_expire_seconds"])
        .doc("Age in seconds at which a log file may be removed; 0 keeps them. Files that a checkpoint or a connected replica needs stay."),
    global("binlog_group_commit_sync_delay", uint(0, 1_000_000), "0")
        .alias(&["binlog_commit_wait_usec"])
        .doc("Microseconds that a group waits for more transactions before its sync. 0 lets the measured sync time decide."),
    global("binlog_group_commit_sync_no_delay_count", uint(0, 100_000), "0")
        .alias(&["binlog_commit_wait_count"])
        .doc("Size at which a group does not wait any longer; 0 for no such size."),
    global("binlog_max_flush_queue_time", uint(0, 100_000), "0")
        .doc("Microseconds for which the log thread goes on taking transactions into a group before it writes."),
    global("binlog_order_commits", BOOL, "ON")
        .doc("Transactions become visible in log order, whatever is set. OFF lets the sessions of a group be told of their commits in any order."),
    fixed("binlog_row_event_max_size", Kind::UInt { min: 256, max: 1 << 30, block: 256 }, "8192")
        .doc("Size in bytes at which a rows event is closed and the next begun."),
    both("binlog_row_image", Kind::Enum(&["MINIMAL", "NOBLOB", "FULL"]), "FULL")
        .doc("Which columns a rows event has. FULL is what a follower installs without a read; MINIMAL is smaller and has to be executed."),
    fixed("binlog_row_metadata", Kind::Enum(&["MINIMAL", "FULL"]), "FULL")
        .only(&["FULL"]).doc("How much a table map event says about the table. Always FULL."),
    both("binlog_row_value_options", TEXT, "").understood().doc("Partial JSON updates: without effect, documents are logged whole."),
    both("binlog_rows_query_log_events", BOOL, "OFF")
        .alias(&["binlog_annotate_row_events"])
        .doc("Whether the statement's text goes before its rows, in a ROWS_QUERY event."),
    fixed("binlog_sync_method", Kind::Enum(&["FDATASYNC", "O_DSYNC"]), "FDATASYNC")
        .doc("How a group is made durable: a write and fdatasync, or one write to a file opened with O_DSYNC."),
    both("binlog_transaction_compression", BOOL, "OFF").read_only().understood().only(&["OFF"]).doc("Compressed transactions; always OFF here."),
    global("binlog_transaction_dependency_history_size", uint(1, 100_000_000), "1000000")
        .doc("Number of row hashes kept to find the newest transaction that wrote the same row (last_committed)."),
    global("binlog_transaction_dependency_tracking", Kind::Enum(&["COMMIT_ORDER", "WRITESET", "WRITESET_SESSION"]), "WRITESET").doc(
        "Where last_committed comes from. WRITESET: from who wrote the same rows last; WRITESET_SESSION: also from what the session has \
         committed before; COMMIT_ORDER: also from all that was visible when the transaction was committed.",
    ),
    global("expire_logs_days", Kind::Double { min: 0.0, max: 99.0 }, "30")
        .doc("MariaDB's: binlog_expire_logs_seconds in days, with a fraction. Whichever of the two was set last holds."),
    fixed("log_bin", BOOL, "ON").only(&["ON"]).doc("Whether there is a binary log. Always ON: there is no other log."),
    fixed("log_bin_basename", TEXT, "").no_option().doc("Where the log files are, without their numbers."),
    fixed("log_bin_index", TEXT, "").understood().doc("Where the list of log files is."),
    fixed("log_replica_updates", BOOL, "ON")
        .alias(&["log_slave_updates"])
        .doc(
            "Whether what a replica applies stays in its own log. The log is what it applies, so that it is always written there; where this is OFF, \
             files go within seconds once neither recovery nor a server that reads them needs them, as long as a replica runs.",
        ),
    global("max_binlog_cache_size", uint(4096, u64::MAX), "18446744073709547520")
        .doc("Most bytes of one transaction's changes (1197)."),
    global("temptable_max_ram", uint(2 << 20, u64::MAX), "1073741824")
        .doc("Most bytes of memory that the temporary tables of all sessions together may take (1114). They are never on disk."),
    global("max_binlog_size", Kind::UInt { min: 4096, max: 1 << 30, block: 4096 }, "1073741824")
        .doc("Size at which the log goes on in the next file. A transaction is never split."),
    global("binlog_space_limit", U64, "0")
        .alias(&["max_binlog_total_size"])
        .doc("Size of all log files together above which the oldest are removed; 0 for no limit."),
    global("sync_binlog", U32, "1")
        .doc("1 syncs each group before it is acknowledged, 0 leaves it to the operating system, N syncs every N-th group."),
];
