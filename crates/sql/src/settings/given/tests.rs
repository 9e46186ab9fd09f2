//! What files of MySQL and MariaDB mean here: what holds, what is an error, what is passed over.

use super::super::{ConfigEntry, ConfigFile};
use super::*;

/// What became of each setting of a file, and the values.
fn apply(text: &str) -> (Globals, Vec<Result<Applied, String>>) {
    let mut given = GivenSettings::default();
    let mut applied = Vec::new();
    for (_, entry) in ConfigFile::parse(text).entries {
        match entry.unwrap() {
            ConfigEntry::Setting(name, value) => {
                applied.push(given.apply(&name, &value).map_err(|error| error.to_string()));
            }
            other => panic!("{other:?}"),
        }
    }
    match given.finish() {
        Ok(globals) => (globals, applied),
        Err((globals, error)) => {
            applied.push(Err(error.to_string()));
            (globals, applied)
        }
    }
}

/// The values, if all is well.
fn globals(text: &str) -> Globals {
    let (globals, applied) = apply(text);
    let wrong: Vec<_> = applied.into_iter().filter_map(Result::err).collect();
    assert_eq!(wrong, [""; 0], "{text}");
    globals
}

/// What is wrong with one line.
fn error(text: &str) -> String {
    apply(text).1.into_iter().find_map(Result::err).unwrap_or_else(|| panic!("{text} is taken"))
}

#[test]
fn errors_say_what_can_be() {
    assert_eq!(error("server_idd = 1"), "unknown setting 'server_idd'; did you mean 'server_id'?");
    assert_eq!(error("port = many"), "Variable 'port' can't be set to the value of 'many'; values: 0 to 65535");
    let checksum = "binlog_checksum = NONE is not supported; leave it out, or set it to CRC32. How events are protected. Always CRC32 \
                    here: the log is the only write-ahead log.";
    assert_eq!(error("binlog_checksum = NONE"), checksum);
}

/// The only values of settings that have others elsewhere.
#[test]
fn what_set_global_refuses_is_refused() {
    for line in [
        "gtid_mode = OFF",
        "binlog-checksum = NONE",
        "default_table_encryption = ON",
        "enforce_gtid_consistency = WARN",
        "binlog_row_metadata = MINIMAL",
        "xa_detach_on_prepare = 0",
        "system_versioning_insert_history",
        "session_track_transaction_info = STATE",
        "sql_mode = STRICT_ALL_TABLES,PAD_CHAR_TO_FULL_LENGTH",
        "skip-sql-generate-invisible-primary-key",
        "replicate_do_table = nodot",
        "replica_skip_errors = 1062",
        "tls_version = TLSv1.1,TLSv1.2",
    ] {
        assert!(!error(line).is_empty(), "{line}");
    }
    globals(
        "gtid_mode = on\nbinlog_checksum = 1\ndefault_table_encryption = no\nskip-innodb-rollback-on-timeout\nslave_skip_errors = OFF",
    );
}

#[test]
fn what_would_be_kept_protected_or_executed_otherwise_is_refused() {
    for line in [
        "slow_query_log",
        "general_log = 1",
        "binlog-format = statement",
        "loose_slow_query_log = ON",
        "innodb_read_only = 1",
        "event_scheduler = ON",
        "init_file = /tmp/x.sql",
        "init-connect = 'SET autocommit=0'",
        "skip-show-database",
        "authentication_policy = mysql_native_password",
        "binlog_transaction_compression = ON",
        "binlog_encryption = ON",
        "innodb-encrypt-tables",
        "binlog-do-db = d",
        "skip-log-bin",
        "disable_log_bin",
        "lower_case_table_names = 1",
        "skip-name-resolve = OFF",
        "validate_password.policy = STRONG",
        "mysql_native_password = OFF",
    ] {
        assert!(error(line).contains("is not supported; leave it out"), "{line}");
    }
    let harmless = "slow_query_log = 0\nskip-general-log\nbinlog_format = MIXED\nevent_scheduler = OFF\ninit_connect =\nauthentication_policy = *,,\n\
                    lower_case_table_names = 0\nmysql_native_password = ON\nloose_validate_password.policy = 1\nskip-show-database=0";
    globals(harmless);
}

#[test]
fn what_the_server_finds_out_and_what_sessions_set_is_no_option() {
    for line in ["gtid_executed = x", "gtid_purged = x", "sql_log_bin = 0", "server_uuid = x", "timestamp = 1"] {
        assert!(error(line).contains("is no option"), "{line}");
    }
}

#[test]
fn what_is_only_understood_shows_what_is_in_force() {
    let (globals, applied) =
        apply("performance_schema = ON\ninnodb_io_capacity = 2000\nkey_buffer_size = 8388608\nquery_cache_size = x");
    assert_eq!(applied, [Applied::Ignored, Applied::Ignored, Applied::Taken, Applied::Ignored].map(Ok));
    assert!(!globals.get(SettingId::performance_schema).as_bool());
    assert_eq!(globals.get(SettingId::innodb_io_capacity).as_u64(), 10_000);
}

#[test]
fn prefixes_of_my_cnf() {
    let values =
        globals("skip-autocommit\nloose-no-such=1\nloose-port=5\nenable-sql-safe-updates\nSKIP_FOREIGN-KEY_CHECKS = 0");
    assert!(!values.get(SettingId::autocommit).as_bool() && values.get(SettingId::sql_safe_updates).as_bool());
    assert!(values.get(SettingId::foreign_key_checks).as_bool(), "as MySQL reads it: not skipped");
    assert_eq!(values.get(SettingId::port).as_u64(), 5);
}

/// As `mysqld` and `mariadbd` read them; `time_zone` is no option of theirs.
#[test]
fn options_with_another_name_than_their_variables() {
    for line in ["default-time-zone = '+02:00'", "default_time_zone = +02:00", "time_zone = +02:00"] {
        assert_eq!(globals(line).get(SettingId::time_zone).as_str(), "+02:00", "{line}");
    }
    assert_eq!(error("default-time-zone = Nowhere"), error("time_zone = Nowhere"));
    assert!(!globals("skip-character-set-client-handshake").get(SettingId::character_set_client_handshake).as_bool());
    assert_eq!(globals("tmp_table_size = 1P").get(SettingId::tmp_table_size).as_u64(), 1 << 50);
}

#[test]
fn modes_bring_others() {
    assert!(globals("sql_mode = TRADITIONAL").get(SettingId::sql_mode).as_str().starts_with("STRICT_TRANS_TABLES,"));
}

#[test]
fn rules_of_replication_add_up() {
    let values = globals("replicate-do-db = a\nreplicate_do_db = b\nreplicate-wild-do-table = c%.%");
    assert_eq!(values.get(SettingId::replicate_do_db).as_str(), "a,b");
    assert_eq!(values.get(SettingId::replicate_wild_do_table).as_str(), "c%.%");
}

/// As MariaDB 11.8 does: they are one value, and the one that is given last holds.
#[test]
fn expire_logs_days() {
    let values = globals("expire_logs_days = 10");
    assert_eq!(values.get(SettingId::binlog_expire_logs_seconds).as_u64(), 864_000);
    let values = globals("expire_logs_days = 10\nbinlog_expire_logs_seconds = 43200");
    assert_eq!(values.get(SettingId::expire_logs_days).as_f64(), 0.5);
}

/// MySQL 9.7 and MariaDB 11.8 do not start with what is refused here.
#[test]
fn a_collation_has_to_fit_its_character_set() {
    let both = |text: &str| {
        let values = globals(text);
        [SettingId::character_set_server, SettingId::collation_server].map(|id| values.get(id).as_str().to_owned())
    };
    assert_eq!(both("character_set_server = latin1"), ["latin1", "latin1_swedish_ci"]);
    assert_eq!(both("collation_server = utf8mb4_bin"), ["utf8mb4", "utf8mb4_bin"]);
    assert_eq!(both("collation_server = latin1_bin\ncharacter_set_server = latin1"), ["latin1", "latin1_bin"]);
    let wrong =
        "COLLATION 'latin1_bin' is not valid for CHARACTER SET 'utf8mb4' (collation_server, character_set_server)";
    for text in [
        "character_set_server = utf8mb4\ncollation_server = latin1_bin",
        "collation_server = latin1_bin\ncharacter_set_server = utf8mb4",
        "collation_server = latin1_bin",
    ] {
        assert_eq!(error(text), wrong, "{text}");
    }
}

#[test]
fn what_other_servers_know_is_no_mistake() {
    let text = "[mariadbd]\nuser = mysql\nmyisam-recover-options = BACKUP\n[mysqld-9.7]\nmysqlx-bind-address = 127.0.0.1\n\
                log-bin = /var/log/mysql/bin\nmax_connections = 1000000\nback_log = 70\nskip-symbolic-links\ninnodb_log_file_size = x\nlog-bin";
    let (globals, applied) = apply(text);
    let log =
        "log_bin = /var/log/mysql/bin: the binary log is ON, and its files are binlog.NNNNNN in the data directory";
    let connections = "max_connections = 1000000 is out of range: 100000 holds";
    let adjusted = |note: &str| Applied::Adjusted(note.into());
    let (taken, ignored) = (|| Applied::Taken, || Applied::Ignored);
    let expected =
        [taken(), ignored(), ignored(), adjusted(log), adjusted(connections), ignored(), ignored(), ignored(), taken()];
    assert_eq!(applied, expected.map(Ok));
    assert!(globals.get(SettingId::log_bin).as_bool());
    assert_eq!(globals.get(SettingId::max_connections).as_u64(), 100_000);
    assert_eq!(globals.get(SettingId::back_log).as_u64(), 151);
}

/// What Debian, Ubuntu, RPMs and the images of Docker give with a MySQL and a MariaDB, without its comments.
#[test]
fn files_that_come_with_the_servers() {
    for text in [
        "[mariadbd]\npid-file = /run/mysqld/mysqld.pid\nbasedir = /usr\nbind-address = 127.0.0.1\nexpire_logs_days = 10\ncharacter-set-server = utf8mb4\n\
         collation-server = utf8mb4_general_ci\n[server]\nplugin_load_add = provider_lz4\nprovider_lz4 = force_plus_permanent",
        "[mysqld]\nuser = mysql\npid-file = /var/run/mysqld/mysqld.pid\nsocket = /var/run/mysqld/mysqld.sock\nport = 3306\nbasedir = /usr\n\
         datadir = /var/lib/mysql\ntmpdir = /tmp\nlc-messages-dir = /usr/share/mysql\nskip-external-locking\nkey_buffer_size = 16M\n\
         max_allowed_packet = 16M\nthread_stack = 192K\nthread_cache_size = 8\nmyisam_recover_options = BACKUP\nquery_cache_limit = 1M\n\
         query_cache_size = 16M\nlog_error = /var/log/mysql/error.log\nmax_binlog_size = 100M\nmysqlx-bind-address = 127.0.0.1",
        "[mysqld]\nhost-cache-size = 0\nskip-name-resolve\ndatadir = /var/lib/mysql\nsocket = /var/run/mysqld/mysqld.sock\n\
         secure-file-priv = /var/lib/mysql-files\nuser = mysql\npid-file = /var/run/mysqld/mysqld.pid\nskip-host-cache\nsymbolic-links = 0",
        "[mysqld]\ndatadir = /var/lib/mysql\nsocket = /var/lib/mysql/mysql.sock\nlog-error = /var/log/mariadb/mariadb.log\n\
         pid-file = /run/mariadb/mariadb.pid\n[mariadb]\nhost-cache-size = 0\n[galera]\n",
    ] {
        globals(text);
    }
}
