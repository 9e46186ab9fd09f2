//! Names of settings and options that MySQL and MariaDB know, so that a configuration file of theirs can be taken: what means nothing
//! here is told from what is a mistake.

use std::collections::HashSet;
use std::sync::OnceLock;

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

/// Whether MySQL or MariaDB know an option of that name, whatever its spelling.
pub(super) fn is_known(name: &str) -> bool {
    static KNOWN: OnceLock<HashSet<&'static str>> = OnceLock::new();
    let known = KNOWN.get_or_init(|| {
        let lines = NAMES.lines().filter(|line| !line.starts_with('#'));
        lines.flat_map(str::split_whitespace).collect()
    });
    let name = name.to_ascii_lowercase().replace('-', "_");
    let without = ["skip_", "disable_", "enable_", "maximum_"].iter().find_map(|prefix| name.strip_prefix(prefix));
    let is_known = |name: &str| known.contains(name) || OF_PLUGINS.iter().any(|prefix| name.starts_with(prefix));
    is_known(&name) || without.is_some_and(is_known)
}

#[cfg(test)]
mod tests {
    use super::is_known;

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
}
