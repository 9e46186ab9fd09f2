//! Store, engine, locks, checkpoints.

use super::*;

pub(super) const ALL: &[Setting] = &[
    global("checkpoint_log_size", uint(1 << 20, u64::MAX), "536870912")
        .doc("Bytes of log since the last checkpoint at which the next begins; see recovery_target_time, too."),
    global("checkpoint_write_rate", U64, "0").doc("Bytes per second that a checkpoint writes at most; 0 for as fast as it can."),
    fixed("datadir", TEXT, "").doc("Where the data is."),
    both("default_storage_engine", Kind::Enum(&["InnoDB", "MyISAM", "MEMORY", "CSV", "ARCHIVE", "Aria"]), "InnoDB")
        .alias(&["default_tmp_storage_engine", "storage_engine"])
        .understood()
        .doc("Tables that name no engine are InnoDB's, whatever it is: there is one engine."),
    global("innodb_buffer_pool_size", Kind::UInt { min: 5 << 20, max: 1 << 50, block: 1 << 20 }, "134217728")
        .alias(&["page_cache_size"])
        .read_only()
        .doc("Size of the page cache in bytes."),
    global("innodb_deadlock_detect", BOOL, "ON").doc("Whether deadlocks are found at once (1213) or by innodb_lock_wait_timeout."),
    global("innodb_flush_log_at_trx_commit", uint(0, 2), "1")
        .understood()
        .doc("Durability is sync_binlog's matter: there is one log."),
    fixed("innodb_io_method", Kind::Enum(&["AUTO", "IO_URING", "THREADS"]), "AUTO")
        .alias(&["io_method"])
        .doc("How pages are read and written: io_uring, or worker threads; AUTO takes what works."),
    both("innodb_lock_wait_timeout", uint(1, 1_073_741_824), "50").doc("Seconds that a statement waits for a row lock (1205)."),
    fixed("innodb_page_size", uint(16384, 16384), "16384").only(&["16384"]).doc("Size of a page of the data file in bytes."),
    fixed("innodb_rollback_on_timeout", BOOL, "OFF").only(&["OFF"]).doc("Whether 1205 rolls back the transaction instead of the statement. Always OFF."),
    both("lock_wait_timeout", uint(1, 31_536_000), "31536000").doc("Seconds that a statement waits for a table's metadata lock."),
    fixed("lower_case_table_names", uint(0, 0), "0").only(&["0"]).doc("Names of tables and databases are as written, and compared so."),
    fixed("lower_case_file_system", BOOL, "OFF").understood().no_option().doc("Whether the file system ignores case."),
    global("memtable_size", uint(1 << 20, 1 << 40), "268435456")
        .doc("Bytes of row versions in memory. At half of it they are merged into the trees, and as long as that takes commits are slowed down to its pace."),
    fixed("recovery_read_only", BOOL, "OFF").doc(
        "Whether clients are let in as soon as the newest checkpoint is open: they read the state that recovery has come to, and cannot write (1290) before it is complete.",
    ),
    global("recovery_target_time", uint(0, 86_400), "10").doc(
        "Seconds that recovery after a crash is to take at most: checkpoints begin early enough for it, by how fast the last recovery was. 0 leaves it to checkpoint_log_size.",
    ),
    both("unique_checks", BOOL, "ON").understood().doc("Unique keys are always checked."),
    both("foreign_key_checks", BOOL, "ON").doc(
        "Whether foreign keys are checked and cascades followed. OFF also lets children be made before their parents.",
    ),
    both("restrict_fk_on_non_standard_key", BOOL, "ON")
        .understood()
        .doc("A foreign key has to refer to a whole unique key; OFF changes nothing of that, such keys are refused (6125)."),
    both("sql_generate_invisible_primary_key", BOOL, "ON")
        .read_only()
        .only(&["ON"]).doc("Whether a table without a primary key gets an invisible one. Always ON."),
    both("show_gipk_in_create_table_and_information_schema", BOOL, "ON")
        .doc("Whether generated primary keys are shown by SHOW and in information_schema."),
    both("sql_require_primary_key", BOOL, "OFF").doc("Whether a table without a primary key is refused."),
];
