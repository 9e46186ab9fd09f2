//! Settings that describe this server, and settings of other servers that clients ask for or old files name: understood, without effect.

use super::*;

/// Ways to say that the first factor of an account is what it asks for, and caching_sha2_password if it does not.
const DEFAULT_POLICIES: [&str; 6] = [
    "*,,",
    "*",
    "caching_sha2_password",
    "caching_sha2_password,,",
    "*:caching_sha2_password",
    "*:caching_sha2_password,,",
];

rows! {
    understood;

    authentication_policy = global(TEXT, "*,,").understood().only(&DEFAULT_POLICIES)
        .doc("See default_authentication_plugin.");
    back_log = fixed(uint(1, 65535), "151").understood()
        .doc("Connections that the operating system holds before they are accepted.");
    basedir = fixed(TEXT, "/usr/").understood().doc("Where the program is.");
    big_tables = both(BOOL, "OFF").understood().hint().doc("Intermediate results need no such hint.");
    binlog_encryption = global(BOOL, "OFF").read_only().only(&["OFF"]).understood().doc("The log is not encrypted.");
    binlog_error_action = global(Kind::Enum(&["IGNORE_ERROR", "ABORT_SERVER"]), "ABORT_SERVER").read_only().understood()
        .doc("A log that cannot be written ends the server.");
    binlog_gtid_simple_recovery = fixed(BOOL, "ON").understood()
        .doc("Each file says which transactions are before it.");
    binlog_row_value_options = both(TEXT, "").understood().restricted(Restricted::Session)
        .doc("Partial JSON updates: without effect, documents are logged whole.");
    binlog_transaction_compression = both(BOOL, "OFF")
        .read_only().understood().only(&["OFF"]).restricted(Restricted::Session)
        .doc("Compressed transactions; always OFF here.");
    bulk_insert_buffer_size = both(U64, "8388608").understood().restricted(Restricted::Session).hint().doc("MyISAM's.");
    character_set_filesystem = both(Kind::CharacterSet, "binary")
        .understood().restricted(Restricted::Session).not_for_statements()
        .doc("File names are bytes.");
    character_sets_dir = fixed(TEXT, "").understood().doc("Collations are built in.");
    check_constraint_checks = both(BOOL, "ON").understood().doc("There are no CHECK constraints.");
    concurrent_insert = global(Kind::Enum(&["NEVER", "AUTO", "ALWAYS"]), "AUTO").understood().doc("MyISAM's.");
    default_storage_engine = both(Kind::Enum(&["InnoDB", "MyISAM", "MEMORY", "CSV", "ARCHIVE", "Aria"]), "InnoDB")
        .alias(&["default_tmp_storage_engine", "storage_engine"]).understood()
        .doc("Tables that name no engine are InnoDB's, whatever it is: there is one engine.");
    delay_key_write = global(Kind::Enum(&["OFF", "ON", "ALL"]), "ON").understood().doc("MyISAM's.");
    end_markers_in_json = both(BOOL, "OFF").understood().hint().doc("EXPLAIN FORMAT=JSON has none.");
    event_scheduler = global(Kind::Enum(&["OFF", "ON", "DISABLED"]), "DISABLED")
        .read_only().understood().only(&["OFF", "DISABLED"])
        .doc("There are no events.");
    flush = global(BOOL, "OFF").understood().doc("MyISAM's.");
    general_log = global(BOOL, "OFF").read_only().understood().only(&["OFF"])
        .doc("Statements are not logged; ON in a configuration file is an error.");
    general_log_file = global(TEXT, "").understood().doc("Statements are not logged to a file.");
    global_connection_memory_tracking = fixed(BOOL, "ON").understood().restricted(Restricted::Session)
        .doc("Connections' memory is always counted; their sum is Global_connection_memory.");
    gtid_executed_compression_period = global(U32, "0").understood().doc("There is no table of executed GTIDs.");
    gtid_ignore_duplicates = global(BOOL, "OFF").understood()
        .doc("MariaDB's; a transaction that comes by two ways is executed once in any case.");
    have_compress = fixed(TEXT, "YES").understood().no_option().doc("COMPRESS() is there.");
    have_dynamic_loading = fixed(TEXT, "NO").understood().no_option().doc("There are no plugins to load.");
    have_geometry = fixed(TEXT, "NO").understood().no_option().doc("There are no spatial types.");
    have_profiling = fixed(TEXT, "NO").understood().no_option().doc("Statements are not profiled.");
    have_query_cache = fixed(TEXT, "NO").understood().no_option().doc("There is no query cache.");
    have_rtree_keys = fixed(TEXT, "NO").understood().no_option().doc("There are no spatial indexes.");
    have_ssl = fixed(TEXT, "YES").alias(&["have_openssl"]).understood().no_option().doc("Whether TLS is there.");
    have_symlink = fixed(TEXT, "DISABLED").understood().no_option().doc("Tables are not files.");
    immediate_server_version = session(U32, "999999").understood().restricted(Restricted::Origin).set_by_tools()
        .doc("Set by mysqlbinlog's output.");
    information_schema_stats_expiry = both(uint(0, 31536000), "86400").understood()
        .doc("Numbers of rows are estimated when they are asked for.");
    init_connect = global(TEXT, "").read_only().understood().only(&[""])
        .doc("Statements for each new connection; none.");
    init_file = fixed(TEXT, "").understood().only(&[""]).doc("Statements at start; none.");
    init_replica = global(TEXT, "").alias(&["init_slave"]).read_only().understood()
        .doc("Statements at START REPLICA; none.");
    innodb_adaptive_hash_index = global(BOOL, "OFF").read_only().understood().doc("InnoDB's; there is none.");
    innodb_autoinc_lock_mode = both(uint(0, 2), "2").read_only().understood()
        .doc("AUTO_INCREMENT never holds a lock for a statement.");
    innodb_buffer_pool_instances = fixed(uint(1, 64), "1").understood().doc("InnoDB's.");
    innodb_data_home_dir = fixed(TEXT, "").understood().doc("InnoDB's.");
    innodb_doublewrite = fixed(Kind::Enum(&["OFF", "ON", "DETECT_AND_RECOVER", "DETECT_ONLY"]), "OFF").understood()
        .doc("Pages are never changed in place, so they cannot be torn.");
    innodb_fast_shutdown = global(uint(0, 2), "1").understood().doc("InnoDB's.");
    innodb_file_per_table = fixed(BOOL, "OFF").understood().doc("There is one data file.");
    innodb_flush_log_at_trx_commit = global(uint(0, 2), "1").understood()
        .doc("Durability is sync_binlog's matter: there is one log.");
    innodb_flush_method = fixed(TEXT, "O_DIRECT").understood().doc("See binlog_sync_method.");
    innodb_force_recovery = fixed(uint(0, 6), "0").understood().only(&["0"])
        .doc("A damaged page is mended by the server (repair_damaged_pages), a damaged file is made anew from the log (`--rebuild`).");
    innodb_io_capacity = global(uint(100, u64::MAX), "10000").understood().doc("See checkpoint_write_rate.");
    innodb_io_capacity_max = global(uint(100, u64::MAX), "20000").understood().doc("See checkpoint_write_rate.");
    innodb_log_buffer_size = fixed(U64, "16777216").understood().doc("There is no redo log.");
    innodb_log_file_size = fixed(U64, "0").understood().doc("There is no redo log; see checkpoint_log_size.");
    innodb_max_dirty_pages_pct = global(Kind::Double { min: 0.0, max: 99.999 }, "90").understood()
        .doc("The page cache has no dirty pages.");
    innodb_open_files = fixed(U32, "4000").understood().doc("InnoDB's.");
    innodb_print_all_deadlocks = global(BOOL, "OFF").understood().doc("InnoDB's.");
    innodb_read_io_threads = fixed(uint(1, 64), "4").understood().doc("InnoDB's.");
    innodb_read_only = fixed(BOOL, "OFF").understood().only(&["OFF"])
        .doc("Files are always written; super_read_only keeps clients from changing data.");
    innodb_redo_log_capacity = global(U64, "0").understood().doc("There is no redo log; see checkpoint_log_size.");
    innodb_stats_on_metadata = global(BOOL, "OFF").understood().doc("InnoDB's.");
    innodb_stats_persistent = global(BOOL, "ON").understood().doc("InnoDB's.");
    innodb_strict_mode = both(BOOL, "ON").understood().restricted(Restricted::SessionNotSuper)
        .doc("Options that are not understood are always errors.");
    innodb_table_locks = both(BOOL, "ON").understood().doc("InnoDB's.");
    innodb_thread_concurrency = fixed(U32, "0").understood().doc("A session is a task.");
    innodb_version = fixed(TEXT, "8.4.0").understood().no_option().doc("Asked for by old tools.");
    innodb_write_io_threads = fixed(uint(1, 64), "4").understood().doc("InnoDB's.");
    key_buffer_size = global(U64, "8388608").understood().doc("MyISAM's.");
    large_pages = fixed(BOOL, "OFF").understood().doc("The allocator decides.");
    lc_messages = both(TEXT, "en_US").understood().doc("Messages are in English.");
    log_bin_trust_function_creators = global(BOOL, "OFF").understood().doc("There are no stored functions.");
    log_error_verbosity = global(uint(1, 3), "2").understood().doc("See the command line's RUST_LOG.");
    log_output = global(TEXT, "NONE").understood().doc("Statements are not logged.");
    log_queries_not_using_indexes = global(BOOL, "OFF").understood().doc("Statements are not logged.");
    long_query_time = both(Kind::Double { min: 0.0, max: 31536000.0 }, "10").understood()
        .doc("Statements are not logged.");
    low_priority_updates = both(BOOL, "OFF").understood().restricted(Restricted::SessionNotSuper).doc("MyISAM's.");
    lower_case_file_system = fixed(BOOL, "OFF").understood().no_option().doc("Whether the file system ignores case.");
    max_connect_errors = global(uint(1, u64::MAX), "100").understood()
        .doc("Hosts are not blocked for failed connections.");
    max_delayed_threads = both(uint(0, 16384), "20").understood().restricted(Restricted::SessionNotSuper)
        .doc("INSERT DELAYED is INSERT.");
    max_heap_table_size = both(U64, "16777216").understood().hint().doc("There are no MEMORY tables.");
    max_join_size = both(uint(1, u64::MAX), "18446744073709551615").understood().hint().doc("Joins are not limited.");
    max_length_for_sort_data = both(U32, "4096").understood().hint().doc("Sorting decides for itself.");
    max_seeks_for_key = both(U64, "18446744073709551615").understood().hint().doc("The planner decides for itself.");
    max_sort_length = both(uint(4, 8388608), "1024").understood().hint().doc("Values are compared whole.");
    max_sp_recursion_depth = both(uint(0, 255), "0").understood().doc("There are no stored procedures.");
    min_examined_row_limit = both(U64, "0").understood().restricted(Restricted::SessionNotSuper)
        .doc("Statements are not logged.");
    net_buffer_length = both(Kind::UInt { min: 1024, max: 1 << 20, block: 1024 }, "16384").understood().fixed_in_sessions()
        .doc("Packets are gathered as they are made.");
    net_retry_count = both(uint(1, u64::MAX), "10").understood().doc("Interrupted reads are always continued.");
    new = both(BOOL, "OFF").understood().doc("Means nothing.");
    old_alter_table = both(BOOL, "OFF").understood().doc("Means nothing.");
    open_files_limit = fixed(U32, "0").understood().doc("Tables are not files.");
    optimizer_prune_level = both(uint(0, 1), "1").understood().hint().doc("The planner decides for itself.");
    optimizer_search_depth = both(uint(0, 62), "62").understood().hint().doc("The planner decides for itself.");
    optimizer_switch = both(TEXT, "").understood().hint().doc("The planner has no switches.");
    performance_schema = fixed(BOOL, "OFF").understood()
        .doc("Always OFF: statements are not instrumented. The schema has the tables of replication, of status and of variables.");
    preload_buffer_size = both(U32, "32768").understood().restricted(Restricted::SessionNotSuper).doc("MyISAM's.");
    print_identified_with_as_hex = both(BOOL, "OFF").understood().hint().doc("Hashes are printed as text.");
    profiling = both(BOOL, "OFF").understood().not_for_statements().doc("Statements are not profiled.");
    proxy_user = session(TEXT, "").read_only().understood().doc("There are no proxies.");
    query_alloc_block_size = global(U32, "8192").understood().doc("Memory is taken as it is needed.");
    query_cache_size = both(U64, "0").read_only().understood().doc("There is no query cache.");
    query_cache_type = both(Kind::Enum(&["OFF", "ON", "DEMAND"]), "OFF").read_only().understood().not_for_statements()
        .doc("There is no query cache.");
    query_prealloc_size = both(U32, "8192").understood().doc("Memory is taken as it is needed.");
    range_alloc_block_size = both(U32, "4096").understood().hint().doc("Memory is taken as it is needed.");
    range_optimizer_max_mem_size = both(U64, "8388608").understood().hint().doc("The planner decides for itself.");
    read_binlog_speed_limit = global(U64, "0").read_only().understood()
        .doc("MariaDB's; a source's log is read as fast as it comes.");
    read_buffer_size = both(U64, "131072").understood().hint().doc("MyISAM's.");
    read_rnd_buffer_size = both(U64, "262144").understood().hint().doc("MyISAM's.");
    relay_log = fixed(TEXT, "").understood()
        .doc("A follower's own log is the copy of its source's; there is no relay log.");
    relay_log_basename = fixed(TEXT, "").understood().no_option().doc("There is no relay log.");
    relay_log_index = fixed(TEXT, "").understood().doc("There is no relay log.");
    relay_log_purge = global(BOOL, "ON").understood().doc("There is no relay log.");
    relay_log_recovery = fixed(BOOL, "OFF").understood().doc("There is no relay log.");
    relay_log_space_limit = fixed(U64, "0").understood().doc("There is no relay log.");
    replica_allow_higher_version_source = fixed(BOOL, "ON").understood().doc("Asked for by newer replicas.");
    replica_checkpoint_period = global(uint(1, u32::MAX as u64), "300").alias(&["slave_checkpoint_period"]).understood()
        .doc("Milliseconds. What is executed is known from this server's own log, with every transaction.");
    replica_compressed_protocol = global(BOOL, "OFF").alias(&["slave_compressed_protocol"]).understood()
        .doc("The protocol is not compressed.");
    replica_load_tmpdir = fixed(TEXT, "").alias(&["slave_load_tmpdir"]).understood()
        .doc("Files of LOAD DATA out of a source's log are in the data directory.");
    replica_max_allowed_packet = global(uint(1024, 1 << 30), "1073741824")
        .alias(&["slave_max_allowed_packet"]).understood()
        .doc("Events of a source may have 1 GiB.");
    replica_skip_errors = fixed(Kind::Enum(&["OFF"]), "OFF").alias(&["slave_skip_errors"]).understood().only(&["OFF"])
        .doc("No error is passed over: a replica that has one stops.");
    restrict_fk_on_non_standard_key = both(BOOL, "ON").understood()
        .doc("A foreign key has to refer to a whole unique key; OFF changes nothing of that, such keys are refused (6125).");
    resultset_metadata = session(Kind::Enum(&["NONE", "FULL"]), "FULL").read_only().understood()
        .doc("Results always have their columns' descriptions.");
    rpl_stop_replica_timeout = global(uint(2, 31_536_000), "31536000").alias(&["rpl_stop_slave_timeout"]).understood()
        .doc("STOP REPLICA ends when the threads have.");
    server_id_bits = fixed(uint(32, 32), "32").understood().doc("Bits of server_id that count.");
    show_create_table_skip_secondary_engine = both(BOOL, "OFF").understood().hint()
        .doc("There are no secondary engines.");
    show_create_table_verbosity = both(BOOL, "OFF").understood().doc("SHOW CREATE TABLE says all that there is.");
    skip_external_locking = fixed(BOOL, "ON").understood().doc("MyISAM's.");
    skip_replication = both(BOOL, "OFF").understood().not_for_statements()
        .doc("Set by mariadb-binlog's output. Replicas get all changes.");
    skip_show_database = fixed(BOOL, "OFF").understood().only(&["OFF"])
        .doc("Databases are shown to those who have rights in them.");
    slave_ddl_exec_mode = global(Kind::Enum(&["STRICT", "IDEMPOTENT"]), "STRICT").read_only().understood()
        .doc("MariaDB's; definitions are executed as they are.");
    slave_parallel_max_queued = global(uint(0, i32::MAX as u64), "131072").understood()
        .doc("Transactions wait for all workers together: replica_pending_jobs_size_max.");
    slave_run_triggers_for_rbr = global(Kind::Enum(&["NO", "YES", "LOGGING", "ENFORCE"]), "NO").read_only().understood()
        .doc("MariaDB's; there are no triggers.");
    slow_launch_time = global(U32, "2").understood().doc("There are no threads to launch.");
    slow_query_log = global(BOOL, "OFF").read_only().understood().only(&["OFF"])
        .doc("Statements are not logged; ON in a configuration file is an error.");
    slow_query_log_file = global(TEXT, "").understood().doc("Statements are not logged.");
    sql_big_selects = both(BOOL, "ON").understood().hint().doc("Joins are not limited.");
    sql_buffer_result = both(BOOL, "OFF").understood().hint().doc("Results are not buffered whole.");
    sql_quote_show_create = both(BOOL, "ON").understood().doc("SHOW CREATE always quotes names.");
    sql_warnings = both(BOOL, "OFF").understood().doc("A single-row INSERT's OK never has its warnings in words.");
    ssl_fips_mode = fixed(TEXT, "OFF").understood().only(&["OFF", "0"]).doc("TLS is rustls's.");
    stored_program_cache = global(U32, "256").understood().doc("There are no stored procedures.");
    sync_master_info = global(U32, "0").alias(&["sync_source_info"]).understood()
        .doc("The log says where a follower is.");
    sync_relay_log = global(U32, "0").understood().doc("There is no relay log.");
    table_definition_cache = fixed(U32, "0").understood().doc("The catalog is in memory.");
    table_open_cache = global(U32, "4000").alias(&["table_cache"]).understood().doc("The catalog is in memory.");
    terminology_use_previous = both(Kind::Enum(&["NONE", "BEFORE_8_0_26", "BEFORE_8_2_0"]), "NONE")
        .read_only().understood()
        .doc("Names are those of now.");
    thread_cache_size = fixed(U32, "0").understood().doc("A session is a task.");
    thread_handling = fixed(TEXT, "tasks").understood().doc("A session is a task.");
    thread_stack = fixed(U64, "0").understood().doc("A session is a task.");
    tmpdir = fixed(TEXT, "/tmp").understood().doc("There are no temporary files outside datadir.");
    transaction_prealloc_size = both(U32, "4096").understood().doc("Memory is taken as it is needed.");
    updatable_views_with_limit = both(BOOL, "ON").understood().hint().doc("There are no views.");
    windowing_use_high_precision = both(BOOL, "ON").understood().hint()
        .doc("Whether sums of doubles over frames are computed anew for each row. They are as precise as if it were on.");
}
