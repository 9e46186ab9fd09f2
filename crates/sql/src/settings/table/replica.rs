//! Executing another server's log: read at START REPLICA, or with each event.

use super::*;

const MODE: Kind = Kind::Enum(&["OFF", "OFF_PERMISSIVE", "ON_PERMISSIVE", "ON"]);

const TYPE_CONVERSIONS: &[&str] = &["ALL_LOSSY", "ALL_NON_LOSSY", "ALL_SIGNED", "ALL_UNSIGNED"];

settings! {
    replica: ReplicaSettings;

    enforce_gtid_consistency = fixed(Kind::Enum(&["OFF", "ON", "WARN"]), "ON").only(&["ON"]).doc("Always ON.");
    gtid_executed = fixed(TEXT, "").no_option().server_state(ServerState::GtidExecuted)
        .doc("All transactions that were ever committed here.");
    gtid_mode = fixed(MODE, "ON").only(&["ON"]).doc("Whether transactions have identifiers. Always ON.");
    offline_mode = fixed(BOOL, "OFF").only(&["OFF"]).doc("Whether only administrators may connect. Always OFF.");
    replica_checkpoint_group: usize = global(Kind::UInt { min: 32, max: 524_280, block: 8 }, "512")
        .alias(&["slave_checkpoint_group"])
        .doc("How many transactions that are executed side by side, or wait to be, there may be behind the first that is not executed (or eight per worker, \
         if that is more): so far an unordered replica gets ahead of one that waits. Counts from the next START REPLICA.");
    replica_domain_parallel_workers: usize = global(uint(0, 16383), "0").alias(&["slave_domain_parallel_threads"])
        .doc("How many transactions of one domain of a MariaDB's log may be under way at once, so that it does not take all workers (0: no limit). \
         A MySQL's log is one domain. Counts from the next START REPLICA.");
    replica_exec_mode: ExecMode = global(Kind::Enum(&["STRICT", "IDEMPOTENT"]), "STRICT").alias(&["slave_exec_mode"])
        .doc("Rows of another server's log: STRICT, a row that is not there (1032) or has another's key (1062) is an error. IDEMPOTENT, \
         the first is left out, and a new row takes the other's place.");
    replica_parallel_mode: Text = global(Kind::Enum(&[
            "AUTO",
            "INSTALL",
            "NONE",
            "SCHEMA",
            "DOMAIN",
            "MINIMAL",
            "CONSERVATIVE",
            "LOGICAL_CLOCK",
            "OPTIMISTIC",
            "AGGRESSIVE",
            "WRITESET",
        ]),
        "AUTO")
        .alias(&["slave_parallel_mode"])
        .doc("Which transactions of another server's log may be executed side by side; docs/parallel-apply.md explains them. AUTO is WRITESET, \
         or what replica_parallel_type says. A copy of our own log is always installed, without dependencies. Counts from the next \
         START REPLICA.");
    replica_parallel_type: Text = global(Kind::Enum(&["AUTO", "DATABASE", "LOGICAL_CLOCK"]), "AUTO")
        .alias(&["slave_parallel_type"])
        .doc("What replica_parallel_mode=AUTO is: SCHEMA for DATABASE, LOGICAL_CLOCK for LOGICAL_CLOCK.");
    replica_pending_jobs_size_max: usize = global(uint(1024, 1 << 62), "134217728")
        .alias(&["slave_pending_jobs_size_max"])
        .doc("Bytes of events of transactions that are executed side by side, or wait to be, per channel.");
    replica_preserve_commit_order: bool = global(BOOL, "ON").alias(&["slave_preserve_commit_order"])
        .doc("Whether transactions of another server's log commit in its order. OFF: as soon as they are executed, with gaps in gtid_executed \
         meanwhile; not for a MariaDB, nor without GTIDs. A copy of our own log is always in order. Counts from the next START REPLICA.");
    replica_row_differences: OnDifference = global(Kind::Enum(&["IGNORE", "WARN", "ERROR"]), "WARN")
        .doc("A row that another server's log changes or deletes, and that is not here as it was there: IGNORE does as the log says; WARN does, \
         and tells of it (Replica_row_differences, Replica_last_row_difference in SHOW GLOBAL STATUS, the server's messages); ERROR is \
         as if the row were not there (1032). Compared are the columns that the log has.");
    replica_sql_verify_checksum = global(BOOL, "ON").alias(&["slave_sql_verify_checksum"]).read_only().only(&["ON"])
        .doc("Whether checksums are verified before an event is applied. Always ON.");
    replica_transaction_retries: u32 = global(uint(0, u32::MAX as u64), "10").alias(&["slave_transaction_retries"])
        .doc("How often a transaction of another server's log is tried again after a deadlock or a timeout (1213, 1205), before the replica stops.");
    replica_type_conversions: TypeConversions = global(Kind::Set(TYPE_CONVERSIONS), "")
        .alias(&["slave_type_conversions"])
        .doc("What values of another server's log may become in columns of other types: those that hold all of them (ALL_NON_LOSSY), \
         those that may not (ALL_LOSSY). Of ALL_SIGNED and ALL_UNSIGNED one says what integers are of which the log does not; \
         else they are as here. Wider CHAR, VARCHAR, TEXT and the like, and dates and times as of MySQL 5.5, need no setting.");
    replicate_same_server_id: bool = global(BOOL, "OFF")
        .doc("Whether transactions that were born under this server's server_id are executed when they come from a source by positions, or from a MariaDB: in a \
         ring of servers they come round. By MySQL's GTIDs what is executed is known. Counts from the next START REPLICA.");
    rpl_semi_sync_source_wait_point = fixed(Kind::Enum(&["AFTER_SYNC"]), "AFTER_SYNC")
        .only(&["AFTER_SYNC"]).alias(&["rpl_semi_sync_master_wait_point"])
        .doc("Where commits wait: behind the sync, before anybody sees them.");
    source_verify_checksum = fixed(BOOL, "ON").alias(&["master_verify_checksum"]).only(&["ON"])
        .doc("Whether checksums are verified when the log is read for a replica. Always ON.");
}
