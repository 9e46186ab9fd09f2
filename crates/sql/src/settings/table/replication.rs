//! Identity of the server, GTIDs, following another server.

use super::*;

const MODE: Kind = Kind::Enum(&["OFF", "OFF_PERMISSIVE", "ON_PERMISSIVE", "ON"]);

const TYPE_CONVERSIONS: &[&str] = &["ALL_LOSSY", "ALL_NON_LOSSY", "ALL_SIGNED", "ALL_UNSIGNED"];

pub(super) const ALL: &[Setting] = &[
    fixed("enforce_gtid_consistency", Kind::Enum(&["OFF", "ON", "WARN"]), "ON").only(&["ON"]).doc("Always ON."),
    session("default_master_connection", TEXT, "").doc(
        "The channel that statements mean which name none, as in MariaDB: CHANGE MASTER, START, STOP, RESET and SHOW SLAVE, CHANGE REPLICATION FILTER, SET \
         GLOBAL replicate_…. Empty for all of them, as in MySQL.",
    ),
    fixed("gtid_executed", TEXT, "").no_option().doc("All transactions that were ever committed here."),
    session("gtid_next", TEXT, "AUTOMATIC").doc(
        "The identifier of the next transaction: UUID:NUMBER or UUID:TAG:NUMBER, of which what is executed already is left out; or of \
         all from now on: AUTOMATIC or AUTOMATIC:TAG.",
    ),
    fixed("gtid_mode", MODE, "ON").only(&["ON"]).doc("Whether transactions have identifiers. Always ON."),
    session("gtid_seq_no", U64, "0").doc(
        "Set by mariadb-binlog's output: the number of the next transaction's GTID, with session values of gtid_domain_id and server_id. \
         0 for what gtid_next says.",
    ),
    both("gtid_owned", TEXT, "").read_only().no_option().doc(
        "GTIDs that were chosen (gtid_next, a replica) for transactions that have not ended: the session's, or all, with the numbers of their connections.",
    ),
    global("gtid_purged", TEXT, "").no_option().doc(
        "Transactions of gtid_executed that are in no log file, or not any more. '+…' adds to it: what a dump that is loaded \
         says that it holds.",
    ),
    global("gtid_slave_pos", TEXT, "").no_option().doc(
        "The last transaction of each domain of MariaDB sources that is executed here. Set to what a dump that is loaded says that it holds.",
    ),
    both("gtid_domain_id", U32, "0").doc(
        "MariaDB's domain of the next transactions. In any but 0 they have GTIDs as a MariaDB makes them, which MySQL's replicas take for \
         another server's; in 0 they have this server's UUID.",
    ),
    session("immediate_server_version", U32, "999999").understood().doc("Set by mysqlbinlog's output."),
    fixed("offline_mode", BOOL, "OFF").only(&["OFF"]).doc("Whether only administrators may connect. Always OFF."),
    session("original_commit_timestamp", U64, "36028797018963968").doc(
        "When the next transaction was committed first, in microseconds since 1970; the default for now. Set by mysqlbinlog's output.",
    ),
    session("original_server_version", U32, "999999")
        .doc("The version of the server where the next transaction was committed first. Set by mysqlbinlog's output."),
    both("pseudo_replica_mode", BOOL, "OFF").alias(&["pseudo_slave_mode"]).no_option().doc(
        "Whether the session executes a log that mysqlbinlog prints: what its statements depend on and is not supported here is an \
         error (1235), and a CREATE TABLE whose rows follow in the same transaction leaves it open.",
    ),
    session("pseudo_thread_id", U32, "0").understood().doc("Set by mysqlbinlog's output."),
    session("rbr_exec_mode", Kind::Enum(&["STRICT", "IDEMPOTENT"]), "STRICT").doc("replica_exec_mode for BINLOG."),
    global("read_only", BOOL, "OFF").doc("Whether accounts without CONNECTION_ADMIN may change data (1290)."),
    fixed("relay_log_basename", TEXT, "").understood().no_option().doc("There is no relay log."),
    fixed("relay_log", TEXT, "")
        .understood()
        .doc("A follower's own log is the copy of its source's; there is no relay log."),
    global("replica_exec_mode", Kind::Enum(&["STRICT", "IDEMPOTENT"]), "STRICT").alias(&["slave_exec_mode"]).doc(
        "Rows of another server's log: STRICT, a row that is not there (1032) or has another's key (1062) is an error. IDEMPOTENT, \
         the first is left out, and a new row takes the other's place.",
    ),
    global("replica_row_differences", Kind::Enum(&["IGNORE", "WARN", "ERROR"]), "WARN").doc(
        "A row that another server's log changes or deletes, and that is not here as it was there: IGNORE does as the log says; WARN does, \
         and tells of it (Replica_row_differences, Replica_last_row_difference in SHOW GLOBAL STATUS, the server's messages); ERROR is \
         as if the row were not there (1032). Compared are the columns that the log has.",
    ),
    global("replica_preserve_commit_order", BOOL, "ON").alias(&["slave_preserve_commit_order"]).doc(
        "Whether transactions of another server's log commit in its order. OFF: as soon as they are executed, with gaps in gtid_executed \
         meanwhile; not for a MariaDB, nor without GTIDs. A copy of our own log is always in order. Counts from the next START REPLICA.",
    ),
    global(
        "replica_parallel_mode",
        Kind::Enum(&[
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
        "AUTO",
    )
    .alias(&["slave_parallel_mode"])
    .doc(
        "Which transactions of another server's log may be executed side by side; docs/parallel-apply.md explains them. AUTO is WRITESET, \
         or what replica_parallel_type says. A copy of our own log is always installed, without dependencies. Counts from the next \
         START REPLICA.",
    ),
    global("replica_parallel_type", Kind::Enum(&["AUTO", "DATABASE", "LOGICAL_CLOCK"]), "AUTO")
        .alias(&["slave_parallel_type"])
        .doc("What replica_parallel_mode=AUTO is: SCHEMA for DATABASE, LOGICAL_CLOCK for LOGICAL_CLOCK."),
    global("replica_domain_parallel_workers", uint(0, 16383), "0").alias(&["slave_domain_parallel_threads"]).doc(
        "How many transactions of one domain of a MariaDB's log may be under way at once, so that it does not take all workers (0: no limit). \
         A MySQL's log is one domain. Counts from the next START REPLICA.",
    ),
    global("replica_pending_jobs_size_max", uint(1024, 1 << 62), "134217728")
        .alias(&["slave_pending_jobs_size_max"])
        .doc("Bytes of events of transactions that are executed side by side, or wait to be, per channel."),
    global("replica_checkpoint_group", Kind::UInt { min: 32, max: 524_280, block: 8 }, "512")
        .alias(&["slave_checkpoint_group"])
        .doc(
            "How many transactions that are executed side by side, or wait to be, there may be behind the first that is not executed (or eight per worker, \
             if that is more): so far an unordered replica gets ahead of one that waits. Counts from the next START REPLICA.",
        ),
    global("replica_checkpoint_period", uint(1, u32::MAX as u64), "300")
        .alias(&["slave_checkpoint_period"])
        .understood()
        .doc("Milliseconds. What is executed is known from this server's own log, with every transaction."),
    global("slave_parallel_max_queued", uint(0, i32::MAX as u64), "131072")
        .understood()
        .doc("Transactions wait for all workers together: replica_pending_jobs_size_max."),
    fixed("replica_skip_errors", Kind::Enum(&["OFF"]), "OFF")
        .alias(&["slave_skip_errors"])
        .understood()
        .only(&["OFF"]).doc("No error is passed over: a replica that has one stops."),
    global("replica_transaction_retries", uint(0, u32::MAX as u64), "10").alias(&["slave_transaction_retries"]).doc(
        "How often a transaction of another server's log is tried again after a deadlock or a timeout (1213, 1205), before the replica stops.",
    ),
    global("replica_parallel_workers", uint(0, 1024), "0")
        .alias(&["slave_parallel_workers", "slave_parallel_threads"])
        .doc(
            "Tasks that install transactions of our own log at once (0: one per core), or transactions of another server's log that may be in the \
             middle at once (0: eight per core). Counts from the next START REPLICA.",
        ),
    global("repair_damaged_pages", BOOL, "ON").doc(
        "Whether the server makes good by itself what of its data file cannot be read: a secondary index from the table's rows, and, on a \
         follower, rows from its source.",
    ),
    global("replica_checksum_interval", uint(0, 31_536_000), "60").doc(
        "Seconds between two comparisons of a follower with its source, at least: after a checkpoint it compares the sums of all \
         tables at one position of the log. Tables that differ are named in the server's log and in \
         Replica_checksum_differing_tables. 0: no comparisons.",
    ),
    global("replica_stop_on_checksum_difference", BOOL, "OFF")
        .doc("Whether a follower stops applying when it finds that a table is not what it is on its source."),
    global("replica_net_timeout", uint(1, 31_536_000), "60")
        .alias(&["slave_net_timeout"])
        .doc("Seconds without anything from the source, heartbeats included, after which a follower connects anew."),
    global("replica_compressed_protocol", BOOL, "OFF")
        .alias(&["slave_compressed_protocol"])
        .understood()
        .doc("The protocol is not compressed."),
    fixed("replica_allow_higher_version_source", BOOL, "ON").understood().doc("Asked for by newer replicas."),
    global("replica_type_conversions", Kind::Set(TYPE_CONVERSIONS), "").alias(&["slave_type_conversions"]).doc(
        "What values of another server's log may become in columns of other types: those that hold all of them (ALL_NON_LOSSY), \
         those that may not (ALL_LOSSY). Of ALL_SIGNED and ALL_UNSIGNED one says what integers are of which the log does not; \
         else they are as here. Wider CHAR, VARCHAR, TEXT and the like, and dates and times as of MySQL 5.5, need no setting.",
    ),
    global("rpl_semi_sync_replica_enabled", BOOL, "OFF").alias(&["rpl_semi_sync_slave_enabled"]).doc(
        "Whether this server, as a replica, acknowledges to a semi-synchronous source what is synced here. Counts from the next connection \
         to the source on.",
    ),
    global("rpl_semi_sync_source_enabled", BOOL, "OFF").alias(&["rpl_semi_sync_master_enabled"]).doc(
        "Whether commits become visible, and are answered, only when replicas have acknowledged that they have them on disk.",
    ),
    global("rpl_semi_sync_source_timeout", U32, "10000")
        .alias(&["rpl_semi_sync_master_timeout"])
        .doc("Milliseconds that a commit waits for replicas; then rpl_semi_sync_source_timeout_action says what is done."),
    global("rpl_semi_sync_source_timeout_action", Kind::Enum(&["ASYNC", "WAIT"]), "ASYNC").doc(
        "ASYNC: commits do not wait any more until replicas have caught up, as in MySQL and MariaDB. WAIT: they go on waiting, and the \
         server's log says so; nothing becomes visible that replicas do not have.",
    ),
    global("rpl_semi_sync_source_wait_for_replica_count", uint(1, 65_535), "1")
        .alias(&["rpl_semi_sync_master_wait_for_slave_count"])
        .doc("So many replicas have to acknowledge a commit."),
    global("rpl_semi_sync_source_wait_no_replica", BOOL, "ON")
        .alias(&["rpl_semi_sync_master_wait_no_slave"])
        .doc("Whether commits wait also while fewer replicas are connected than have to acknowledge."),
    fixed("rpl_semi_sync_source_wait_point", Kind::Enum(&["AFTER_SYNC"]), "AFTER_SYNC").only(&["AFTER_SYNC"])
        .alias(&["rpl_semi_sync_master_wait_point"])
        .doc("Where commits wait: behind the sync, before anybody sees them."),
    global("server_id", uint(0, u32::MAX as u64), "1")
        .read_only()
        .doc("This server's number in the replication topology; in every event."),
    fixed("server_uuid", TEXT, "").no_option().doc("This server's identity; made at first start, the first half of its GTIDs."),
    fixed("server_id_bits", uint(32, 32), "32").understood().doc("Bits of server_id that count."),
    fixed("source_verify_checksum", BOOL, "ON")
        .alias(&["master_verify_checksum"])
        .only(&["ON"]).doc("Whether checksums are verified when the log is read for a replica. Always ON."),
    global("replica_sql_verify_checksum", BOOL, "ON")
        .alias(&["slave_sql_verify_checksum"])
        .read_only()
        .only(&["ON"]).doc("Whether checksums are verified before an event is applied. Always ON."),
    global("replicate_do_db", TEXT, "").doc("Of a source whose log is executed (not copied) only these databases, between commas. As CHANGE REPLICATION FILTER."),
    global("replicate_ignore_db", TEXT, "").doc("Not these databases."),
    global("replicate_do_table", TEXT, "").doc("Only these tables: `database.table`, between commas."),
    global("replicate_ignore_table", TEXT, "").doc("Not these tables."),
    global("replicate_same_server_id", BOOL, "OFF").doc(
        "Whether transactions that were born under this server's server_id are executed when they come from a source by positions, or from a MariaDB: in a \
         ring of servers they come round. By MySQL's GTIDs what is executed is known. Counts from the next START REPLICA.",
    ),
    global("replicate_wild_do_table", TEXT, "").doc("Only tables of these patterns: `data%.t\\_%`, as of LIKE."),
    global("replicate_wild_ignore_table", TEXT, "").doc("Not tables of these patterns."),
    global("replicate_rewrite_db", TEXT, "").doc("The source's databases that have another name here: `theirs->ours`, between commas. Before all other rules."),
    global("sql_replica_skip_counter", U32, "0").alias(&["sql_slave_skip_counter"]).doc(
        "Events of a MySQL or MariaDB source to leave out from the next START REPLICA on; a transaction is left out as a whole, and counts as executed. \
         Goes down to 0 while that is done.",
    ),
    global("super_read_only", BOOL, "OFF").doc("Whether nobody may change data (1290). ON while following."),
    both("skip_parallel_replication", BOOL, "OFF")
        .doc("Whether replicas execute the session's transactions behind all before them (last_committed is the one before)."),
    fixed("skip_replica_start", BOOL, "OFF")
        .alias(&["skip_slave_start"])
        .doc("Whether replication waits for START REPLICA after a start of the server. OFF: it goes on, as it is configured."),
    both("skip_replication", BOOL, "OFF").understood().doc("Set by mariadb-binlog's output. Replicas get all changes."),
    session("sql_log_bin", BOOL, "ON").doc(
        "Whether replicas are sent the session's changes. OFF, they are in the log (which is all that there is to recover from), with no GTID, and \
         this server alone applies them. Needs SYSTEM_VARIABLES_ADMIN or SESSION_VARIABLES_ADMIN, and no transaction may be open.",
    ),
];
