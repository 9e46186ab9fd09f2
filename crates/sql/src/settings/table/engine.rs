//! Store, memtables, checkpoints and recovery: what the engine is opened with, and subscribes to.

use super::*;

subscribed_settings! {
    engine: EngineSettings, EngineChange;

    binlog_cache_size: usize = global(uint(4096, 512 << 20), "16777216")
        .doc("Bytes of a transaction's changes that stay in memory. Beyond it they go to temporary files, and the transaction becomes a log file of its own. (In MySQL such a transaction is copied into the log, so its default is 32 KiB.)");
    checkpoint_log_size: u64 = global(uint(1 << 20, u64::MAX), "536870912")
        .doc("Bytes of log since the last checkpoint at which the next begins; see recovery_target_time, too.");
    checkpoint_write_rate: u64 = global(U64, "0")
        .doc("Bytes per second that a checkpoint writes at most; 0 for as fast as it can.");
    innodb_deadlock_detect: bool = global(BOOL, "ON")
        .doc("Whether deadlocks are found at once (1213) or by innodb_lock_wait_timeout.");
    innodb_page_size = fixed(uint(16384, 16384), "16384").only(&["16384"])
        .doc("Size of a page of the data file in bytes.");
    innodb_rollback_on_timeout = fixed(BOOL, "OFF").only(&["OFF"])
        .doc("Whether 1205 rolls back the transaction instead of the statement. Always OFF.");
    innodb_stats_auto_recalc: bool = global(BOOL, "ON")
        .doc("Statistics of a table are collected again when a tenth of it has changed; its STATS_AUTO_RECALC goes first.");
    lower_case_table_names = fixed(uint(0, 0), "0").only(&["0"])
        .doc("Names of tables and databases are as written, and compared so.");
    max_binlog_cache_size: u64 = global(uint(4096, u64::MAX), "18446744073709547520")
        .doc("Most bytes of one transaction's changes (1197).");
    max_binlog_size: u64 = global(Kind::UInt { min: 4096, max: 1 << 30, block: 4096 }, "1073741824")
        .doc("Size at which the log goes on in the next file. A transaction is never split.");
    memtable_size: usize = global(uint(1 << 20, 1 << 40), "268435456")
        .doc("Bytes of row versions in memory. At half of it they are merged into the trees, and as long as that takes commits are slowed down to its pace.");
    recovery_target_time: Seconds = global(uint(0, 86_400), "10")
        .doc("Seconds that recovery after a crash is to take at most: checkpoints begin early enough for it, by how fast the last recovery was. 0 leaves it to checkpoint_log_size.");
    sql_generate_invisible_primary_key = both(BOOL, "ON").read_only().only(&["ON"]).restricted(Restricted::Session)
        .doc("Whether a table without a primary key gets an invisible one. Always ON.");
    temptable_max_ram: u64 = global(uint(2 << 20, u64::MAX), "1073741824")
        .doc("Most bytes of memory that the temporary tables of all sessions together may take (1114). They are never on disk.");
}
