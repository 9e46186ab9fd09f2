//! Names of settings and options that MySQL and MariaDB know, so that a configuration file of theirs can be taken: what means nothing
//! here is told from what is a mistake.

use std::collections::HashSet;
use std::sync::OnceLock;

use super::given::{is_off, is_on};

/// As `mysqld --help --verbose` (9.7) and `mariadbd --help --verbose` (11.8) list them, without those of plugins that have to be loaded.
const NAMES: &str = include_str!("option_names.txt");

/// Prefixes of names of plugins and engines that may be loaded there.
const OF_PLUGINS: [&str; 22] = [
    "audit_",
    "auth_",
    "authentication_",
    "clone_",
    "component_",
    "connect_",
    "connection_control_",
    "cracklib_",
    "early_plugin_load",
    "feedback_",
    "file_key_management_",
    "group_replication_",
    "keyring_",
    "mroonga_",
    "mysqlx_",
    "provider_",
    "rocksdb_",
    "server_audit_",
    "simple_password_check_",
    "spider_",
    "validate_password",
    "wsrep_",
];

/// Options that change there what is kept, protected or executed: the value that is as it is here (ON and OFF in any of their spellings,
/// empty for none), and why there is no other.
const REFUSED: &[(&[&str], Option<&str>, &str)] = &[
    (
        &["binlog_do_db", "binlog_ignore_db"],
        None,
        "the log has all changes, because it is what recovery reads; a replica may leave out some (replicate_do_db, replicate_ignore_db)",
    ),
    (
        &[
            "aria_encrypt_tables",
            "binlog_encryption",
            "encrypt_binlog",
            "encrypt_tmp_disk_tables",
            "encrypt_tmp_files",
            "innodb_encrypt_log",
            "innodb_encrypt_tables",
            "innodb_encrypt_temporary_tables",
            "innodb_redo_log_encrypt",
            "innodb_undo_log_encrypt",
        ],
        Some("OFF"),
        "files are not encrypted",
    ),
    (&["log_bin_compress"], Some("OFF"), "the log is not compressed"),
    (&["init_replica", "init_slave"], Some(""), "there are no statements at the start of replication"),
    (
        &["skip_grant_tables"],
        Some("OFF"),
        "privileges always count; who runs the server is root over the socket, if root has no other way in",
    ),
    (&["safe_user_create"], Some("OFF"), "who may create users has the privilege CREATE USER"),
    (&["sysdate_is_now"], Some("OFF"), "SYSDATE() is the time at which it is called"),
    (&["chroot"], Some(""), "the server stays in the root directory it is started in"),
    (
        &["ssl_capath", "ssl_crl", "ssl_crlpath"],
        Some(""),
        "clients' certificates are checked with the file ssl_ca alone",
    ),
    (&["ssl_cipher", "tls_ciphersuites"], Some(""), "ciphers cannot be chosen; versions can (tls_version)"),
    (&["tls_certificates_enforced_validation"], Some("OFF"), "certificates are not validated at start"),
    (&["wsrep_on"], Some("OFF"), "there is no Galera cluster"),
    (&["group_replication_group_name"], Some(""), "there is no group replication"),
    (&["replicate_events_marked_for_skip"], Some("REPLICATE"), "replicas get all changes"),
    (&["mysql_native_password"], Some("ON"), "accounts may always have it"),
];

/// Prefixes of names of plugins that watch or refuse what clients do. An administrator who can do without them writes `loose_` before the name.
const GUARDS: [&str; 7] = [
    "audit_log_",
    "connection_control_",
    "cracklib_password_check",
    "password_reuse_check",
    "server_audit",
    "simple_password_check",
    "validate_password",
];

/// Whether MySQL or MariaDB know an option of that name, whatever its spelling, or with a prefix.
pub(super) fn is_known(name: &str) -> bool {
    let name = name.to_ascii_lowercase().replace('-', "_");
    let without = ["skip_", "disable_", "enable_", "maximum_"].iter().find_map(|prefix| name.strip_prefix(prefix));
    is_name(&name) || without.is_some_and(is_name)
}

/// Whether MySQL or MariaDB know an option of exactly that name.
pub(super) fn is_name(name: &str) -> bool {
    static KNOWN: OnceLock<HashSet<&'static str>> = OnceLock::new();
    let known = KNOWN.get_or_init(|| {
        let lines = NAMES.lines().filter(|line| !line.starts_with('#'));
        lines.flat_map(str::split_whitespace).collect()
    });
    known.contains(name) || OF_PLUGINS.iter().any(|prefix| name.starts_with(prefix))
}

/// Whether an option of theirs says what is so here anyway; if it does not and may not be passed over, why.
pub(super) fn check(name: &str, value: &str, is_loose: bool) -> Result<bool, String> {
    if !is_loose && GUARDS.iter().any(|prefix| name.starts_with(prefix)) {
        return Err(format!(
            "{name} = {value} is not supported; leave it out, or write loose_{name}: that plugin is not here"
        ));
    }
    let Some((_, in_force, why)) = REFUSED.iter().find(|(names, ..)| names.contains(&name)) else { return Ok(false) };
    let is_in_force = match *in_force {
        Some("ON") => is_on(value),
        Some("OFF") => is_off(value),
        Some(in_force) => value.trim().eq_ignore_ascii_case(in_force),
        None => false,
    };
    match is_in_force {
        true => Ok(true),
        false => Err(format!("{name} = {value} is not supported; leave it out: {why}")),
    }
}

#[cfg(test)]
mod tests {
    use super::{check, is_known};

    #[test]
    fn names_of_both_servers_in_any_spelling() {
        for known in [
            "user",
            "innodb_page_cleaners",
            "aria-pagecache-buffer-size",
            "MyISAM-Recover-Options",
            "mysqlx-bind-address",
        ] {
            assert!(is_known(known), "{known}");
        }
        assert!(is_known("skip-innodb-adaptive-hash-index") && is_known("skip-symbolic-links") && is_known("wsrep_on"));
        assert!(!is_known("innodb_bufer_pool_size") && !is_known("skip_nothing") && !is_known(""));
    }

    #[test]
    fn what_would_be_missed_is_refused() {
        for (name, value, is_refused) in [
            ("binlog_do_db", "d", true),
            ("innodb_encrypt_tables", "FORCE", true),
            ("innodb_encrypt_tables", "0", false),
            ("init_slave", "", false),
            ("mysql_native_password", "ON", false),
            ("mysql_native_password", "OFF", true),
            ("validate_password.policy", "STRONG", true),
            ("innodb_page_cleaners", "4", false),
        ] {
            assert_eq!(check(name, value, false).is_err(), is_refused, "{name} = {value}");
        }
        assert!(check("validate_password.policy", "STRONG", true).is_ok());
        assert!(check("binlog_do_db", "d", true).is_err());
    }
}
