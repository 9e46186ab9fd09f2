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

pub(super) const ALL: &[Setting] = &[
    both("auto_increment_increment", uint(1, 65535), "1").doc("Step between values that AUTO_INCREMENT makes."),
    both("auto_increment_offset", uint(1, 65535), "1").doc("First value that AUTO_INCREMENT makes."),
    both("autocommit", BOOL, "ON").doc("Whether each statement is a transaction of its own."),
    both("big_tables", BOOL, "OFF").understood().doc("Intermediate results need no such hint."),
    both("block_encryption_mode", Kind::Enum(crate::expr::function::cipher::MODES), "aes-128-ecb")
        .doc("The cipher of AES_ENCRYPT() and AES_DECRYPT(): the length of its key, and how blocks are chained."),
    both("character_set_client", Kind::CharacterSet, "utf8mb4").doc("The character set of statements."),
    fixed("character_set_client_handshake", BOOL, "ON")
        .doc("Whether a connection begins with the character set that the client says; OFF: with that of the server (`skip-character-set-client-handshake`)."),
    both("character_set_collations", TEXT, "")
        .doc("MariaDB's, set by mariadb-binlog's output: `utf8mb4=…` sets default_collation_for_utf8mb4, `utf8mb3=…` is what definitions mean that say utf8mb3 and no collation."),
    both("character_set_connection", Kind::CharacterSet, "utf8mb4").doc("The character set of literals."),
    both("character_set_database", Kind::CharacterSet, "utf8mb4").no_option().doc("The character set of the default database."),
    both("character_set_filesystem", Kind::CharacterSet, "binary").understood().doc("File names are bytes."),
    both("character_set_results", Kind::CharacterSet, "utf8mb4").doc("The character set of results."),
    both("character_set_server", Kind::CharacterSet, "utf8mb4").doc("The character set of new databases."),
    fixed("character_set_system", Kind::CharacterSet, "utf8mb3").no_option().doc("The character set of names."),
    both("check_constraint_checks", BOOL, "ON").understood().doc("There are no CHECK constraints."),
    both("collation_connection", Kind::Collation, "utf8mb4_0900_ai_ci").doc("The collation of literals."),
    both("collation_database", Kind::Collation, "utf8mb4_0900_ai_ci").no_option().doc("The collation of the default database."),
    both("collation_server", Kind::Collation, "utf8mb4_0900_ai_ci").doc("The collation of new databases."),
    fixed("xa_detach_on_prepare", BOOL, "ON")
        .only(&["ON"]).doc("A session lets go of a transaction that it has prepared (XA). Always ON."),
    both("completion_type", Kind::Enum(&["NO_CHAIN", "CHAIN", "RELEASE"]), "NO_CHAIN")
        .doc("What follows COMMIT and ROLLBACK that say nothing."),
    both("cte_max_recursion_depth", U32, "1000").doc("Most rounds of a recursive common table expression."),
    both("default_collation_for_utf8mb4", Kind::Collation, "utf8mb4_0900_ai_ci")
        .doc("The collation that CHARACTER SET utf8mb4 alone means."),
    both("default_table_encryption", BOOL, "OFF").only(&["OFF"]).doc("Whether new tables are encrypted. Only OFF."),
    both("default_week_format", uint(0, 7), "0").doc("The mode of WEEK() without one."),
    both("div_precision_increment", uint(0, 30), "4").doc("Digits that a division adds."),
    session("error_count", U64, "0").read_only().doc("Number of errors of the last statement."),
    both("explain_format", Kind::Enum(&["TRADITIONAL", "TRADITIONAL_STRICT", "TREE", "JSON"]), "TREE")
        .doc("How EXPLAIN prints a plan that says no FORMAT; TRADITIONAL_STRICT is TRADITIONAL. EXPLAIN ANALYZE prints a tree in place of a table."),
    both("explain_json_format_version", uint(1, 2), "2")
        .doc("FORMAT=JSON of EXPLAIN: 2 is the tree as a document, 1 the table's lines by their query blocks."),
    both("explicit_defaults_for_timestamp", BOOL, "ON")
        .doc("Whether TIMESTAMP columns have only the defaults that were written. With OFF those that are not said to be NULL are NOT NULL, the first \
              one is the time by default, and NULL for one of them is the time."),
    both("group_concat_max_len", uint(4, u64::MAX), "1024").doc("Longest result of GROUP_CONCAT in bytes."),
    session("identity", U64, "0").doc("Another name for last_insert_id."),
    session("insert_id", U64, "0").doc("The value that the next AUTO_INCREMENT makes."),
    session("last_insert_id", U64, "0").doc("The value of LAST_INSERT_ID()."),
    both("join_buffer_size", uint(128, u64::MAX), "4194304")
        .doc("Bytes of rows that a join keeps in memory; more go to temporary files."),
    both("lc_messages", TEXT, "en_US").understood().doc("Messages are in English."),
    both("lc_time_names", Kind::Locale, "en_US")
        .doc("The language of the names of days and months: DAYNAME, MONTHNAME, DATE_FORMAT."),
    both("max_execution_time", U32, "0").doc("Milliseconds that a SELECT may take (3024); 0 for no limit."),
    both("max_error_count", uint(0, 65535), "1024").doc("Most warnings kept for SHOW WARNINGS."),
    both("max_join_size", uint(1, u64::MAX), "18446744073709551615").understood().doc("Joins are not limited."),
    both("max_sort_length", uint(4, 8388608), "1024").understood().doc("Values are compared whole."),
    global("regexp_stack_limit", uint(0, i32::MAX as u64), "8000000").doc(
        "Bytes that a compiled regular expression takes at most (3698); 0 for a gigabyte. There is no stack of states to go back to, which MySQL bounds with it.",
    ),
    global("regexp_time_limit", uint(0, i32::MAX as u64), "32").doc(
        "Seconds that all searches of one call of REGEXP_LIKE and its kin take at most (3699); 0 for any time. It is looked at between two searches, and one search takes time that grows with the text only. (MySQL counts steps.)",
    ),
    global("max_prepared_stmt_count", uint(0, 4194304), "16382")
        .doc("Most prepared statements of all sessions together."),
    both("max_statement_time", Kind::Double { min: 0.0, max: 31536000.0 }, "0")
        .doc("MariaDB's: seconds that a statement over rows may take (1969); 0 for no limit."),
    both("optimizer_switch", TEXT, "").understood().doc("The planner has no switches."),
    both("profiling", BOOL, "OFF").understood().doc("Statements are not profiled."),
    session("proxy_user", TEXT, "").read_only().understood().doc("There are no proxies."),
    session("rand_seed1", U32, "0").doc("Where RAND() goes on; reading it gives 0."),
    session("rand_seed2", U32, "0").doc("Where RAND() goes on; reading it gives 0."),
    session("resultset_metadata", Kind::Enum(&["NONE", "FULL"]), "FULL")
        .read_only()
        .understood()
        .doc("Results always have their columns' descriptions."),
    both("session_track_gtids", Kind::Enum(&["OFF", "OWN_GTID", "ALL_GTIDS"]), "OFF")
        .doc("What of GTIDs is sent with OK packets to clients that track the session's state: those that it commits, or all that are executed."),
    both("session_track_schema", BOOL, "ON").doc("Whether the default database is sent with OK packets when it is chosen."),
    both("session_track_state_change", BOOL, "OFF")
        .doc("Whether OK packets say that a statement changed something of the session: settings, variables, the default database, temporary tables, prepared statements."),
    both(
        "session_track_system_variables",
        TEXT,
        "time_zone,autocommit,character_set_client,character_set_results,character_set_connection",
    )
    .doc("Settings that are sent with OK packets when they are set, with commas between; `*` for all."),
    both("session_track_transaction_info", Kind::Enum(&["OFF", "STATE", "CHARACTERISTICS"]), "OFF")
        .only(&["OFF"]).doc("What of transactions is sent with OK packets. Only OFF."),
    both("sort_buffer_size", uint(32768, u64::MAX), "1048576")
        .doc("Bytes of rows that a sort keeps in memory; more go to temporary files."),
    both("sql_auto_is_null", BOOL, "OFF").understood().no_option().doc("IS NULL has no second meaning."),
    both("sql_big_selects", BOOL, "ON").understood().doc("Joins are not limited."),
    both("sql_buffer_result", BOOL, "OFF").understood().doc("Results are not buffered whole."),
    both("sql_if_exists", BOOL, "OFF").only(&["OFF"]).doc("Whether IF EXISTS is implied (MariaDB). Only OFF."),
    both("sql_mode", Kind::Set(SQL_MODES), SQL_MODE_DEFAULT).doc("How strict and how standard SQL is."),
    both("sql_notes", BOOL, "ON").doc("Whether notes count as warnings and are kept."),
    both("sql_quote_show_create", BOOL, "ON").understood().doc("SHOW CREATE always quotes names."),
    both("sql_safe_updates", BOOL, "OFF").doc("Whether UPDATE and DELETE need a key in WHERE, or a LIMIT."),
    both("sql_select_limit", U64, "18446744073709551615").doc("LIMIT of a SELECT that has none."),
    both("sql_warnings", BOOL, "OFF").understood().doc("A single-row INSERT's OK never has its warnings in words."),
    both("system_versioning_insert_history", BOOL, "OFF").only(&["OFF"]).doc("MariaDB's. Only OFF: there are no versioned tables."),
    fixed("system_time_zone", TEXT, "UTC").doc("The zone of the machine."),
    both("time_zone", Kind::TimeZone, "SYSTEM").doc("The zone of the session: SYSTEM, +02:00, or a name."),
    session("timestamp", Kind::Double { min: 0.0, max: 2147483647.0 }, "0")
        .doc("The time that NOW() gives; 0 for the real one."),
    both("tmp_table_size", uint(1024, u64::MAX), "16777216")
        .doc("Bytes of groups, distinct rows or a derived table in memory; more go to temporary files."),
    both("transaction_isolation", ISOLATION, "REPEATABLE-READ")
        .alias(&["tx_isolation"])
        .doc("The isolation of transactions. READ-UNCOMMITTED runs as READ-COMMITTED."),
    both("transaction_prealloc_size", U32, "4096").understood().doc("Memory is taken as it is needed."),
    both("transaction_read_only", BOOL, "OFF")
        .alias(&["tx_read_only"])
        .doc("Whether transactions are read-only if nothing is said."),
    both("updatable_views_with_limit", BOOL, "ON").understood().doc("There are no views."),
    session("warning_count", U64, "0").read_only().doc("Number of warnings of the last statement."),
    both("windowing_use_high_precision", BOOL, "ON").understood().doc("Whether sums of doubles over frames are computed anew for each row. They are as precise as if it were on."),
];
