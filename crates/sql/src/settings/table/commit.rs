//! The commit pipeline, which subscribes to them.

use super::*;

subscribed_settings! {
    commit: CommitPipelineSettings, CommitChange;

    binlog_checksum = fixed(Kind::Enum(&["NONE", "CRC32"]), "CRC32").only(&["CRC32"])
        .doc("How events are protected. Always CRC32 here: the log is the only write-ahead log.");
    binlog_format = both(Kind::Enum(&["MIXED", "STATEMENT", "ROW"]), "ROW")
        .only(&["MIXED", "ROW"]).restricted(Restricted::Session)
        .doc("How changes are logged: as rows, whatever it says. MIXED is taken, since it leaves the choice to the server; STATEMENT is refused, because a \
         program that asks for it relies on replicas executing its statements.");
    binlog_group_commit_sync_delay: Micros = global(uint(0, 1_000_000), "0").alias(&["binlog_commit_wait_usec"])
        .doc("Microseconds that a group waits for more transactions before its sync. 0 lets the measured sync time decide.");
    binlog_group_commit_sync_no_delay_count: u64 = global(uint(0, 100_000), "0").alias(&["binlog_commit_wait_count"])
        .doc("Size at which a group does not wait any longer; 0 for no such size.");
    binlog_max_flush_queue_time: Micros = global(uint(0, 100_000), "0")
        .doc("Microseconds for which the log thread goes on taking transactions into a group before it writes.");
    binlog_order_commits: bool = global(BOOL, "ON")
        .doc("Transactions become visible in log order, whatever is set. OFF lets the sessions of a group be told of their commits in any order.");
    binlog_row_metadata = fixed(Kind::Enum(&["MINIMAL", "FULL"]), "FULL").only(&["FULL"])
        .doc("How much a table map event says about the table. Always FULL.");
    binlog_transaction_dependency_history_size: usize = global(uint(1, 100_000_000), "1000000")
        .doc("Number of row hashes kept to find the newest transaction that wrote the same row (last_committed).");
    binlog_transaction_dependency_tracking: DependencyTracking = global(Kind::Enum(&["COMMIT_ORDER", "WRITESET", "WRITESET_SESSION"]), "WRITESET")
        .doc("Where last_committed comes from. WRITESET: from who wrote the same rows last; WRITESET_SESSION: also from what the session has \
         committed before; COMMIT_ORDER: also from all that was visible when the transaction was committed.");
    sync_binlog: u64 = global(U32, "1")
        .doc("1 syncs each group before it is acknowledged, 0 leaves it to the operating system, N syncs every N-th group.");
}
