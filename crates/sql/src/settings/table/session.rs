//! What a session has of its own: transactions, text and time, limits of statements.

use super::*;

pub(in crate::settings) const SQL_MODES: &[&str] = &[
    "REAL_AS_FLOAT",
    "PIPES_AS_CONCAT",
    "ANSI_QUOTES",
    "IGNORE_SPACE",
    "NOT_USED",
    "ONLY_FULL_GROUP_BY",
    "NO_UNSIGNED_SUBTRACTION",
    "NO_DIR_IN_CREATE",
    "NOT_USED_9",
    "NOT_USED_10",
    "NOT_USED_11",
    "NOT_USED_12",
    "NOT_USED_13",
    "NOT_USED_14",
    "NOT_USED_15",
    "NOT_USED_16",
    "NOT_USED_17",
    "NOT_USED_18",
    "ANSI",
    "NO_AUTO_VALUE_ON_ZERO",
    "NO_BACKSLASH_ESCAPES",
    "STRICT_TRANS_TABLES",
    "STRICT_ALL_TABLES",
    "NO_ZERO_IN_DATE",
    "NO_ZERO_DATE",
    "ALLOW_INVALID_DATES",
    "ERROR_FOR_DIVISION_BY_ZERO",
    "TRADITIONAL",
    "NOT_USED_29",
    "HIGH_NOT_PRECEDENCE",
    "NO_ENGINE_SUBSTITUTION",
    "PAD_CHAR_TO_FULL_LENGTH",
    "TIME_TRUNCATE_FRACTIONAL",
];

const SQL_MODE_DEFAULT: &str = "ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION";

const ISOLATION: Kind = Kind::Enum(&["READ-UNCOMMITTED", "READ-COMMITTED", "REPEATABLE-READ", "SERIALIZABLE"]);

settings! {
    session: SessionValues;

    auto_increment_increment: u64 = both(uint(1, 65535), "1").hint()
        .doc("Step between values that AUTO_INCREMENT makes.");
    auto_increment_offset: u64 = both(uint(1, 65535), "1").hint().doc("First value that AUTO_INCREMENT makes.");
    autocommit: bool = both(BOOL, "ON").not_for_statements().on_set(OnSet::Autocommit)
        .doc("Whether each statement is a transaction of its own.");
    binlog_row_image: RowImage = both(Kind::Enum(&["MINIMAL", "NOBLOB", "FULL"]), "FULL")
        .restricted(Restricted::Session)
        .doc("Which columns a rows event has. FULL is what a follower installs without a read; MINIMAL is smaller and has to be executed.");
    binlog_rows_query_log_events: bool = both(BOOL, "OFF")
        .alias(&["binlog_annotate_row_events"]).restricted(Restricted::Session)
        .doc("Whether the statement's text goes before its rows, in a ROWS_QUERY event.");
    block_encryption_mode: CipherMode = both(Kind::Enum(crate::expr::function::cipher::MODES), "aes-128-ecb")
        .doc("The cipher of AES_ENCRYPT() and AES_DECRYPT(): the length of its key, and how blocks are chained.");
    character_set_client: CharacterSet = both(Kind::CharacterSet, "utf8mb4").not_for_statements()
        .doc("The character set of statements.");
    character_set_collations: Utf8Mb3Collation = both(TEXT, "").on_set(OnSet::DefaultCollations)
        .doc("MariaDB's, set by mariadb-binlog's output: `utf8mb4=…` sets default_collation_for_utf8mb4, `utf8mb3=…` is what definitions mean that say utf8mb3 and no collation.");
    character_set_connection: CharacterSet = both(Kind::CharacterSet, "utf8mb4")
        .not_for_statements().on_set(OnSet::CharacterSetPair)
        .doc("The character set of literals.");
    character_set_database: CharacterSet = both(Kind::CharacterSet, "utf8mb4")
        .no_option().restricted(Restricted::Session).not_for_statements().on_set(OnSet::CharacterSetPair)
        .doc("The character set of the default database.");
    character_set_results: ResultCharacterSet = both(Kind::CharacterSet, "utf8mb4")
        .doc("The character set of results.");
    character_set_server: CharacterSet = both(Kind::CharacterSet, "utf8mb4").on_set(OnSet::CharacterSetPair)
        .doc("The character set of new databases.");
    collation_connection: CollationId = both(Kind::Collation, "utf8mb4_0900_ai_ci")
        .not_for_statements().on_set(OnSet::CharacterSetPair)
        .doc("The collation of literals.");
    collation_database: CollationId = both(Kind::Collation, "utf8mb4_0900_ai_ci")
        .no_option().not_for_statements().on_set(OnSet::CharacterSetPair)
        .doc("The collation of the default database.");
    collation_server: CollationId = both(Kind::Collation, "utf8mb4_0900_ai_ci").on_set(OnSet::CharacterSetPair)
        .doc("The collation of new databases.");
    completion_type: CompletionType = both(Kind::Enum(&["NO_CHAIN", "CHAIN", "RELEASE"]), "NO_CHAIN")
        .doc("What follows COMMIT and ROLLBACK that say nothing.");
    connection_memory_limit: u64 = both(uint(2 << 20, u64::MAX), "268435456").restricted(Restricted::Session)
        .doc("Bytes of memory that a connection may take beyond what goes to temporary files; its statement ends (4082), and the connection with it. \
         Accounts with CONNECTION_ADMIN have no such limit. (In MySQL no account has one by default.)");
    cte_max_recursion_depth: u64 = both(U32, "1000").hint().doc("Most rounds of a recursive common table expression.");
    default_collation_for_utf8mb4: CollationId = both(Kind::Collation, "utf8mb4_0900_ai_ci")
        .doc("The collation that CHARACTER SET utf8mb4 alone means.");
    default_master_connection: Text = session(TEXT, "")
        .doc("The channel that statements mean which name none, as in MariaDB: CHANGE MASTER, START, STOP, RESET and SHOW SLAVE, CHANGE REPLICATION FILTER, SET \
         GLOBAL replicate_…. Empty for all of them, as in MySQL.");
    default_table_encryption = both(BOOL, "OFF").only(&["OFF"]).doc("Whether new tables are encrypted. Only OFF.");
    default_week_format: u8 = both(uint(0, 7), "0").doc("The mode of WEEK() without one.");
    div_precision_increment: u8 = both(uint(0, 30), "4").hint().doc("Digits that a division adds.");
    error_count = session(U64, "0").read_only().session_state(SessionState::ErrorCount)
        .doc("Number of errors of the last statement.");
    explain_format: Text = both(Kind::Enum(&["TRADITIONAL", "TRADITIONAL_STRICT", "TREE", "JSON"]), "TREE")
        .doc("How EXPLAIN prints a plan that says no FORMAT; TRADITIONAL_STRICT is TRADITIONAL. EXPLAIN ANALYZE prints a tree in place of a table.");
    explain_json_format_version: u64 = both(uint(1, 2), "2")
        .doc("FORMAT=JSON of EXPLAIN: 2 is the tree as a document, 1 the table's lines by their query blocks.");
    explicit_defaults_for_timestamp: bool = both(BOOL, "ON")
        .doc("Whether TIMESTAMP columns have only the defaults that were written. With OFF those that are not said to be NULL are NOT NULL, the first \
         one is the time by default, and NULL for one of them is the time.");
    foreign_key_checks: bool = both(BOOL, "ON").hint()
        .doc("Whether foreign keys are checked and cascades followed. OFF also lets children be made before their parents.");
    generated_random_password_length: usize = both(uint(5, 255), "20")
        .doc("Signs of a password that RANDOM PASSWORD makes.");
    group_concat_max_len: u64 = both(uint(4, u64::MAX), "1024").hint().doc("Longest result of GROUP_CONCAT in bytes.");
    gtid_domain_id: u32 = both(U32, "0").restricted(Restricted::Origin).outside_transactions()
        .doc("MariaDB's domain of the next transactions. In any but 0 they have GTIDs as a MariaDB makes them, which MySQL's replicas take for \
         another server's; in 0 they have this server's UUID.");
    gtid_next = session(TEXT, "AUTOMATIC")
        .restricted(Restricted::Origin).not_for_statements().outside_transactions().on_set(OnSet::GtidNext)
        .doc("The identifier of the next transaction: UUID:NUMBER or UUID:TAG:NUMBER, of which what is executed already is left out; or of \
         all from now on: AUTOMATIC or AUTOMATIC:TAG.");
    gtid_owned = both(TEXT, "")
        .read_only().no_option().session_state(SessionState::OwnedGtid).server_state(ServerState::GtidOwned)
        .doc("GTIDs that were chosen (gtid_next, a replica) for transactions that have not ended: the session's, or all, with the numbers of their connections.");
    gtid_seq_no = session(U64, "0")
        .restricted(Restricted::Origin).not_for_statements().outside_transactions().on_set(OnSet::GtidSeqNo)
        .doc("Set by mariadb-binlog's output: the number of the next transaction's GTID, with session values of gtid_domain_id and server_id. \
         0 for what gtid_next says.");
    identity = session(U64, "0")
        .not_for_statements().on_set(OnSet::LastInsertId).session_state(SessionState::LastInsertId)
        .doc("Another name for last_insert_id.");
    innodb_lock_wait_timeout: Seconds = both(uint(1, 1_073_741_824), "50")
        .doc("Seconds that a statement waits for a row lock (1205).");
    insert_id: Number = session(U64, "0").hint().not_for_statements()
        .doc("The value that the next AUTO_INCREMENT makes.");
    interactive_timeout: Seconds = both(uint(1, 31_536_000), "28800").not_for_statements()
        .doc("As wait_timeout, for clients that say they are interactive.");
    join_buffer_size: usize = both(uint(128, u64::MAX), "4194304").hint()
        .doc("Bytes of rows that a join keeps in memory, beside up to 24 MiB of what no other statement uses; more go to temporary files.");
    last_insert_id = session(U64, "0")
        .not_for_statements().on_set(OnSet::LastInsertId).session_state(SessionState::LastInsertId)
        .doc("The value of LAST_INSERT_ID().");
    lc_time_names: Language = both(Kind::Locale, "en_US")
        .doc("The language of the names of days and months: DAYNAME, MONTHNAME, DATE_FORMAT.");
    lock_wait_timeout: Seconds = both(uint(1, 31_536_000), "31536000").hint()
        .doc("Seconds that a statement waits for a table's metadata lock.");
    max_allowed_packet: usize = both(Kind::UInt { min: 1024, max: 1 << 30, block: 1024 }, "67108864")
        .fixed_in_sessions()
        .doc("Largest packet in bytes.");
    max_error_count: usize = both(uint(0, 65535), "1024").restricted(Restricted::SessionNotSuper).hint()
        .doc("Most warnings kept for SHOW WARNINGS.");
    max_execution_time: MillisLimit = both(U32, "0").hint()
        .doc("Milliseconds that a SELECT may take (3024); 0 for no limit.");
    max_statement_time: SecondsLimit = both(Kind::Double { min: 0.0, max: 31536000.0 }, "0")
        .doc("MariaDB's: seconds that a statement over rows may take (1969); 0 for no limit.");
    max_user_connections: u32 = both(U32, "0").fixed_in_sessions().doc("Most clients of one account; 0 for no limit.");
    net_read_timeout: Seconds = both(uint(1, 31_536_000), "30")
        .doc("Seconds that the rest of a packet may take to come.");
    net_write_timeout: Seconds = both(uint(1, 31_536_000), "60")
        .doc("Seconds that a client may take to read what was sent.");
    original_commit_timestamp: u64 = session(U64, "36028797018963968")
        .restricted(Restricted::Origin).not_for_statements().on_set(OnSet::Origin)
        .doc("When the next transaction was committed first, in microseconds since 1970; the default for now. Set by mysqlbinlog's output.");
    original_server_version: u64 = session(U32, "999999")
        .restricted(Restricted::Origin).not_for_statements().on_set(OnSet::Origin)
        .doc("The version of the server where the next transaction was committed first. Set by mysqlbinlog's output.");
    pseudo_replica_mode: bool = both(BOOL, "OFF")
        .alias(&["pseudo_slave_mode"]).no_option().restricted(Restricted::Origin)
        .doc("Whether the session executes a log that mysqlbinlog prints: what its statements depend on and is not supported here is an \
         error (1235), and a CREATE TABLE whose rows follow in the same transaction leaves it open.");
    pseudo_thread_id = session(U32, "0")
        .understood().restricted(Restricted::Session).not_for_statements().set_by_tools().on_set(OnSet::ThreadId)
        .session_state(SessionState::ThreadId)
        .doc("Set by mysqlbinlog's output.");
    rand_seed1 = session(U32, "0").not_for_statements().on_set(OnSet::FirstSeed)
        .doc("Where RAND() goes on; reading it gives 0.");
    rand_seed2 = session(U32, "0").not_for_statements().on_set(OnSet::SecondSeed)
        .doc("Where RAND() goes on; reading it gives 0.");
    rbr_exec_mode: ExecMode = session(Kind::Enum(&["STRICT", "IDEMPOTENT"]), "STRICT")
        .doc("replica_exec_mode for BINLOG.");
    session_track_gtids: TrackGtids = both(Kind::Enum(&["OFF", "OWN_GTID", "ALL_GTIDS"]), "OFF")
        .doc("What of GTIDs is sent with OK packets to clients that track the session's state: those that it commits, or all that are executed.");
    session_track_schema: bool = both(BOOL, "ON")
        .doc("Whether the default database is sent with OK packets when it is chosen.");
    session_track_state_change: bool = both(BOOL, "OFF")
        .doc("Whether OK packets say that a statement changed something of the session: settings, variables, the default database, temporary tables, prepared statements.");
    session_track_system_variables: Text = both(TEXT,
        "time_zone,autocommit,character_set_client,character_set_results,character_set_connection")
        .doc("Settings that are sent with OK packets when they are set, with commas between; `*` for all.");
    session_track_transaction_info = both(Kind::Enum(&["OFF", "STATE", "CHARACTERISTICS"]), "OFF").only(&["OFF"])
        .doc("What of transactions is sent with OK packets. Only OFF.");
    show_gipk_in_create_table_and_information_schema: bool = both(BOOL, "ON")
        .doc("Whether generated primary keys are shown by SHOW and in information_schema.");
    skip_parallel_replication: bool = both(BOOL, "OFF")
        .doc("Whether replicas execute the session's transactions behind all before them (last_committed is the one before).");
    sort_buffer_size: usize = both(uint(32768, u64::MAX), "1048576").hint()
        .doc("Bytes of rows that a sort keeps in memory, beside up to 24 MiB of what no other statement uses; more go to temporary files.");
    sql_auto_is_null: bool = both(BOOL, "OFF").understood().no_option().hint().doc("IS NULL has no second meaning.");
    sql_if_exists = both(BOOL, "OFF").only(&["OFF"]).doc("Whether IF EXISTS is implied (MariaDB). Only OFF.");
    sql_log_bin: bool = session(BOOL, "ON")
        .restricted(Restricted::Session).not_for_statements().outside_transactions().on_set(OnSet::SqlLogBin)
        .doc("Whether replicas are sent the session's changes. OFF, they are in the log (which is all that there is to recover from), with no GTID, and \
         this server alone applies them. Needs SYSTEM_VARIABLES_ADMIN or SESSION_VARIABLES_ADMIN, and no transaction may be open.");
    sql_mode: SqlMode = both(Kind::Set(SQL_MODES), SQL_MODE_DEFAULT).hint().doc("How strict and how standard SQL is.");
    sql_notes: bool = both(BOOL, "ON").doc("Whether notes count as warnings and are kept.");
    sql_require_primary_key: bool = both(BOOL, "OFF").restricted(Restricted::Session).hint()
        .doc("Whether a table without a primary key is refused.");
    sql_safe_updates: bool = both(BOOL, "OFF").hint().doc("Whether UPDATE and DELETE need a key in WHERE, or a LIMIT.");
    sql_select_limit: u64 = both(U64, "18446744073709551615").hint().doc("LIMIT of a SELECT that has none.");
    system_versioning_insert_history = both(BOOL, "OFF").only(&["OFF"])
        .doc("MariaDB's. Only OFF: there are no versioned tables.");
    time_zone: Zone = both(Kind::TimeZone, "SYSTEM").hint().doc("The zone of the session: SYSTEM, +02:00, or a name.");
    timestamp: ClientTime = session(Kind::Double { min: 0.0, max: 2147483647.0 }, "0")
        .hint().session_state(SessionState::Now)
        .doc("The time that NOW() gives; 0 for the real one.");
    tmp_table_size: usize = both(uint(1024, u64::MAX), "16777216").hint()
        .doc("Bytes of groups, distinct rows or a derived table in memory; more go to temporary files.");
    transaction_isolation: Isolation = both(ISOLATION, "REPEATABLE-READ").alias(&["tx_isolation"])
        .doc("The isolation of transactions. READ-UNCOMMITTED runs as READ-COMMITTED.");
    transaction_read_only: bool = both(BOOL, "OFF").alias(&["tx_read_only"])
        .doc("Whether transactions are read-only if nothing is said.");
    unique_checks: bool = both(BOOL, "ON").understood().hint().set_by_tools().doc("Unique keys are always checked.");
    wait_timeout: Seconds = both(uint(1, 31_536_000), "28800").not_for_statements()
        .doc("Seconds after which an idle connection is closed.");
    warning_count = session(U64, "0").read_only().session_state(SessionState::WarningCount)
        .doc("Number of warnings of the last statement.");
}
