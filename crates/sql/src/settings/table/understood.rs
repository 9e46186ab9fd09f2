//! Settings that describe this server, and settings of other servers that clients ask for or old files name.

use super::*;

pub(super) const ALL: &[Setting] = &[
    both("information_schema_stats_expiry", uint(0, 31536000), "86400")
        .understood()
        .doc("Numbers of rows are estimated when they are asked for."),
    both("print_identified_with_as_hex", BOOL, "OFF").understood().doc("Hashes are printed as text."),
    both("show_create_table_skip_secondary_engine", BOOL, "OFF").understood().doc("There are no secondary engines."),
    both("show_create_table_verbosity", BOOL, "OFF").understood().doc("SHOW CREATE TABLE says all that there is."),
    fixed("ssl_fips_mode", TEXT, "OFF").understood().only(&["OFF", "0"]).doc("TLS is rustls's."),
    fixed("basedir", TEXT, "/usr/").understood().doc("Where the program is."),
    both("bulk_insert_buffer_size", U64, "8388608").understood().doc("MyISAM's."),
    fixed("back_log", uint(1, 65535), "151")
        .understood()
        .doc("Connections that the operating system holds before they are accepted."),
    fixed("character_sets_dir", TEXT, "").understood().doc("Collations are built in."),
    global("concurrent_insert", Kind::Enum(&["NEVER", "AUTO", "ALWAYS"]), "AUTO").understood().doc("MyISAM's."),
    global("delay_key_write", Kind::Enum(&["OFF", "ON", "ALL"]), "ON").understood().doc("MyISAM's."),
    both("end_markers_in_json", BOOL, "OFF").understood().doc("EXPLAIN FORMAT=JSON has none."),
    global("event_scheduler", Kind::Enum(&["OFF", "ON", "DISABLED"]), "DISABLED")
        .read_only()
        .understood()
        .only(&["OFF", "DISABLED"]).doc("There are no events."),
    global("flush", BOOL, "OFF").understood().doc("MyISAM's."),
    global("general_log", BOOL, "OFF").read_only().understood().only(&["OFF"]).doc("Statements are not logged; ON in a configuration file is an error."),
    global("general_log_file", TEXT, "").understood().doc("Statements are not logged to a file."),
    fixed("have_compress", TEXT, "YES").understood().no_option().doc("COMPRESS() is there."),
    fixed("have_dynamic_loading", TEXT, "NO").understood().no_option().doc("There are no plugins to load."),
    fixed("have_geometry", TEXT, "NO").understood().no_option().doc("There are no spatial types."),
    fixed("have_profiling", TEXT, "NO").understood().no_option().doc("Statements are not profiled."),
    fixed("have_query_cache", TEXT, "NO").understood().no_option().doc("There is no query cache."),
    fixed("have_rtree_keys", TEXT, "NO").understood().no_option().doc("There are no spatial indexes."),
    fixed("have_symlink", TEXT, "DISABLED").understood().no_option().doc("Tables are not files."),
    global("innodb_stats_auto_recalc", BOOL, "ON")
        .doc("Statistics of a table are collected again when a tenth of it has changed; its STATS_AUTO_RECALC goes first."),
    fixed("hostname", TEXT, "localhost").no_option().doc("The machine's name."),
    global("init_connect", TEXT, "").read_only().understood().only(&[""]).doc("Statements for each new connection; none."),
    fixed("init_file", TEXT, "").understood().only(&[""]).doc("Statements at start; none."),
    global("innodb_adaptive_hash_index", BOOL, "OFF").read_only().understood().doc("InnoDB's; there is none."),
    both("innodb_autoinc_lock_mode", uint(0, 2), "2")
        .read_only()
        .understood()
        .doc("AUTO_INCREMENT never holds a lock for a statement."),
    fixed("innodb_buffer_pool_instances", uint(1, 64), "1").understood().doc("InnoDB's."),
    fixed("innodb_data_home_dir", TEXT, "").understood().doc("InnoDB's."),
    fixed("innodb_doublewrite", Kind::Enum(&["OFF", "ON", "DETECT_AND_RECOVER", "DETECT_ONLY"]), "OFF")
        .understood()
        .doc("Pages are never changed in place, so they cannot be torn."),
    global("innodb_fast_shutdown", uint(0, 2), "1").understood().doc("InnoDB's."),
    fixed("innodb_file_per_table", BOOL, "OFF").understood().doc("There is one data file."),
    fixed("innodb_flush_method", TEXT, "O_DIRECT").understood().doc("See binlog_sync_method."),
    fixed("innodb_force_recovery", uint(0, 6), "0").understood().only(&["0"]).doc("A damaged page is mended by the server (repair_damaged_pages), a damaged file is made anew from the log (`--rebuild`)."),
    global("innodb_io_capacity", uint(100, u64::MAX), "10000").understood().doc("See checkpoint_write_rate."),
    global("innodb_io_capacity_max", uint(100, u64::MAX), "20000").understood().doc("See checkpoint_write_rate."),
    fixed("innodb_log_buffer_size", U64, "16777216").understood().doc("There is no redo log."),
    fixed("innodb_log_file_size", U64, "0").understood().doc("There is no redo log; see checkpoint_log_size."),
    global("innodb_max_dirty_pages_pct", Kind::Double { min: 0.0, max: 99.999 }, "90")
        .understood()
        .doc("The page cache has no dirty pages."),
    fixed("innodb_open_files", U32, "4000").understood().doc("InnoDB's."),
    global("innodb_print_all_deadlocks", BOOL, "OFF").understood().doc("InnoDB's."),
    fixed("innodb_read_io_threads", uint(1, 64), "4").understood().doc("InnoDB's."),
    fixed("innodb_read_only", BOOL, "OFF").understood().only(&["OFF"]).doc("Files are always written; super_read_only keeps clients from changing data."),
    global("innodb_redo_log_capacity", U64, "0").understood().doc("There is no redo log; see checkpoint_log_size."),
    global("innodb_stats_on_metadata", BOOL, "OFF").understood().doc("InnoDB's."),
    global("innodb_stats_persistent", BOOL, "ON").understood().doc("InnoDB's."),
    both("innodb_strict_mode", BOOL, "ON").understood().doc("Options that are not understood are always errors."),
    both("innodb_table_locks", BOOL, "ON").understood().doc("InnoDB's."),
    fixed("innodb_thread_concurrency", U32, "0").understood().doc("A session is a task."),
    fixed("innodb_version", TEXT, "8.4.0").understood().no_option().doc("Asked for by old tools."),
    fixed("innodb_write_io_threads", uint(1, 64), "4").understood().doc("InnoDB's."),
    global("key_buffer_size", U64, "8388608").understood().doc("MyISAM's."),
    fixed("large_pages", BOOL, "OFF").understood().doc("The allocator decides."),
    fixed("license", TEXT, "MIT OR Apache-2.0").no_option().doc("The program's licence."),
    global("local_infile", BOOL, "OFF").doc("Whether clients may send files (LOAD DATA LOCAL)."),
    global("log_bin_trust_function_creators", BOOL, "OFF").understood().doc("There are no stored functions."),
    fixed("log_error", TEXT, "stderr").doc(
        "The file that messages go to, relative to datadir; `stderr` for the standard error output. SIGHUP and FLUSH LOGS open it anew.",
    ),
    global("log_error_verbosity", uint(1, 3), "2").understood().doc("See the command line's RUST_LOG."),
    global("log_output", TEXT, "NONE").understood().doc("Statements are not logged."),
    global("log_queries_not_using_indexes", BOOL, "OFF").understood().doc("Statements are not logged."),
    both("long_query_time", Kind::Double { min: 0.0, max: 31536000.0 }, "10")
        .understood()
        .doc("Statements are not logged."),
    both("low_priority_updates", BOOL, "OFF").understood().doc("MyISAM's."),
    both("max_delayed_threads", uint(0, 16384), "20").understood().doc("INSERT DELAYED is INSERT."),
    both("max_heap_table_size", U64, "16777216").understood().doc("There are no MEMORY tables."),
    both("max_length_for_sort_data", U32, "4096").understood().doc("Sorting decides for itself."),
    both("max_seeks_for_key", U64, "18446744073709551615").understood().doc("The planner decides for itself."),
    both("max_sp_recursion_depth", uint(0, 255), "0").understood().doc("There are no stored procedures."),
    both("min_examined_row_limit", U64, "0").understood().doc("Statements are not logged."),
    both("new", BOOL, "OFF").understood().doc("Means nothing."),
    both("old_alter_table", BOOL, "OFF").understood().doc("Means nothing."),
    fixed("open_files_limit", U32, "0").understood().doc("Tables are not files."),
    both("optimizer_prune_level", uint(0, 1), "1").understood().doc("The planner decides for itself."),
    both("optimizer_search_depth", uint(0, 62), "62").understood().doc("The planner decides for itself."),
    fixed("performance_schema", BOOL, "OFF").understood().doc("Always OFF: statements are not instrumented. The schema has the tables of replication, of status and of variables."),
    both("preload_buffer_size", U32, "32768").understood().doc("MyISAM's."),
    global("query_alloc_block_size", U32, "8192").understood().doc("Memory is taken as it is needed."),
    both("query_cache_size", U64, "0").read_only().understood().doc("There is no query cache."),
    both("query_cache_type", Kind::Enum(&["OFF", "ON", "DEMAND"]), "OFF")
        .read_only()
        .understood()
        .doc("There is no query cache."),
    both("query_prealloc_size", U32, "8192").understood().doc("Memory is taken as it is needed."),
    both("range_alloc_block_size", U32, "4096").understood().doc("Memory is taken as it is needed."),
    both("range_optimizer_max_mem_size", U64, "8388608").understood().doc("The planner decides for itself."),
    both("read_buffer_size", U64, "131072").understood().doc("MyISAM's."),
    both("read_rnd_buffer_size", U64, "262144").understood().doc("MyISAM's."),
    fixed("secure_file_priv", TEXT, "NULL").doc(
        "The folder of which LOAD DATA may read files of the server; empty for any, NULL for none. Accounts need the privilege FILE.",
    ),
    fixed("skip_external_locking", BOOL, "ON").understood().doc("MyISAM's."),
    fixed("skip_show_database", BOOL, "OFF").understood().only(&["OFF"]).doc("Databases are shown to those who have rights in them."),
    global("slow_launch_time", U32, "2").understood().doc("There are no threads to launch."),
    global("slow_query_log", BOOL, "OFF")
        .read_only()
        .understood()
        .only(&["OFF"]).doc("Statements are not logged; ON in a configuration file is an error."),
    global("slow_query_log_file", TEXT, "").understood().doc("Statements are not logged."),
    global("stored_program_cache", U32, "256").understood().doc("There are no stored procedures."),
    global("sync_master_info", U32, "0")
        .alias(&["sync_source_info"])
        .understood()
        .doc("The log says where a follower is."),
    fixed("relay_log_index", TEXT, "").understood().doc("There is no relay log."),
    global("relay_log_purge", BOOL, "ON").understood().doc("There is no relay log."),
    fixed("relay_log_recovery", BOOL, "OFF").understood().doc("There is no relay log."),
    fixed("relay_log_space_limit", U64, "0").understood().doc("There is no relay log."),
    fixed("replica_load_tmpdir", TEXT, "")
        .alias(&["slave_load_tmpdir"])
        .understood()
        .doc("Files of LOAD DATA out of a source's log are in the data directory."),
    global("replica_max_allowed_packet", uint(1024, 1 << 30), "1073741824")
        .alias(&["slave_max_allowed_packet"])
        .understood()
        .doc("Events of a source may have 1 GiB."),
    global("init_replica", TEXT, "").alias(&["init_slave"]).read_only().understood().doc("Statements at START REPLICA; none."),
    global("rpl_stop_replica_timeout", uint(2, 31_536_000), "31536000")
        .alias(&["rpl_stop_slave_timeout"])
        .understood()
        .doc("STOP REPLICA ends when the threads have."),
    fixed("binlog_gtid_simple_recovery", BOOL, "ON").understood().doc("Each file says which transactions are before it."),
    global("binlog_error_action", Kind::Enum(&["IGNORE_ERROR", "ABORT_SERVER"]), "ABORT_SERVER")
        .read_only()
        .understood()
        .doc("A log that cannot be written ends the server."),
    global("binlog_encryption", BOOL, "OFF").read_only().only(&["OFF"]).understood().doc("The log is not encrypted."),
    both("terminology_use_previous", Kind::Enum(&["NONE", "BEFORE_8_0_26", "BEFORE_8_2_0"]), "NONE")
        .read_only()
        .understood()
        .doc("Names are those of now."),
    global("gtid_executed_compression_period", U32, "0").understood().doc("There is no table of executed GTIDs."),
    global("gtid_ignore_duplicates", BOOL, "OFF")
        .understood()
        .doc("MariaDB's; a transaction that comes by two ways is executed once in any case."),
    global("slave_ddl_exec_mode", Kind::Enum(&["STRICT", "IDEMPOTENT"]), "STRICT")
        .read_only()
        .understood()
        .doc("MariaDB's; definitions are executed as they are."),
    global("slave_run_triggers_for_rbr", Kind::Enum(&["NO", "YES", "LOGGING", "ENFORCE"]), "NO")
        .read_only()
        .understood()
        .doc("MariaDB's; there are no triggers."),
    global("read_binlog_speed_limit", U64, "0").read_only().understood().doc("MariaDB's; a source's log is read as fast as it comes."),
    global("sync_relay_log", U32, "0").understood().doc("There is no relay log."),
    fixed("table_definition_cache", U32, "0").understood().doc("The catalog is in memory."),
    global("table_open_cache", U32, "4000").alias(&["table_cache"]).understood().doc("The catalog is in memory."),
    fixed("thread_cache_size", U32, "0").understood().doc("A session is a task."),
    fixed("thread_handling", TEXT, "tasks").understood().doc("A session is a task."),
    fixed("thread_stack", U64, "0").understood().doc("A session is a task."),
    fixed("tmpdir", TEXT, "/tmp").understood().doc("There are no temporary files outside datadir."),
    fixed("version", TEXT, "").doc(
        "The version that clients are told: MySQL's that is spoken, and this program's. May be another, as with MariaDB: its \
         replicas follow by GTIDs where it begins with 10 or more (`11.8.0-commuter`), and by position where it does not.",
    ),
    fixed("version_comment", TEXT, "commuter").doc("The program's name."),
    fixed("version_compile_machine", TEXT, "x86_64").no_option().doc("The machine that the program was built for."),
    fixed("version_compile_os", TEXT, "Linux").no_option().doc("The system that the program was built for."),
];
