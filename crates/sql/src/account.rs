//! Accounts: who may connect, how they prove it, and what they may do.
//!
//! An account is a JSON value in the catalog under `user@host`; DDL writes it, the session reads it once at connect and
//! again when the catalog has changed. Patterns of hosts and databases use `%` and `_`, the most specific wins.

mod privilege;

use std::collections::BTreeMap;

use engine::Catalog;
use serde::{Deserialize, Serialize};

pub use privilege::{Level, Privilege, Privileges};

use crate::parse::ast::UserName;

/// One account.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    /// Empty for anybody.
    pub user: String,
    /// A pattern.
    pub host: String,
    /// How it proves itself.
    pub plugin: String,
    /// What the plugin compares with; empty for no password.
    pub authentication: String,
    /// ACCOUNT LOCK.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub locked: bool,
    /// On everything.
    #[serde(default)]
    pub global: Privileges,
    /// On databases, by pattern.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub databases: BTreeMap<String, Privileges>,
    /// On tables, by database and name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tables: BTreeMap<String, BTreeMap<String, Privileges>>,
}

impl Account {
    /// An account without privileges.
    pub fn new(name: &UserName, plugin: impl Into<String>, authentication: impl Into<String>) -> Self {
        Account {
            user: name.user.clone(),
            host: name.host.clone(),
            plugin: plugin.into(),
            authentication: authentication.into(),
            ..Account::default()
        }
    }

    /// The administrator: everything, with the right to grant it.
    pub fn root(name: &UserName, plugin: impl Into<String>, authentication: impl Into<String>) -> Self {
        Account { global: Privileges::ALL, ..Account::new(name, plugin, authentication) }
    }

    /// Its name.
    pub fn name(&self) -> UserName {
        UserName { user: self.user.clone(), host: self.host.clone() }
    }

    /// Its key in the catalog.
    pub fn key(&self) -> String {
        key(&self.user, &self.host)
    }

    /// Privileges on one database, the global ones included.
    pub fn on_database(&self, database: &str) -> Privileges {
        let matching = self.databases.iter().filter(|(pattern, _)| matches_pattern(pattern, database));
        // A name without wildcards is more specific than a pattern, a longer pattern than a shorter one.
        let best = matching.max_by_key(|(pattern, _)| (!pattern.contains(['%', '_']), pattern.len()));
        best.map_or(self.global, |(_, privileges)| self.global.with(*privileges))
    }

    /// Privileges on one table, those on its database included.
    pub fn on_table(&self, database: &str, table: &str) -> Privileges {
        let own = self.tables.get(database).and_then(|tables| tables.get(table)).copied().unwrap_or_default();
        self.on_database(database).with(own)
    }

    /// Whether it has any right in a database, so that it may be seen.
    pub fn sees_database(&self, database: &str) -> bool {
        !self.on_database(database).without(Privileges::of(Privilege::Usage)).is_empty()
            || self.tables.contains_key(database)
    }
}

/// The method that accepts nobody over the network.
pub const SOCKET_PLUGIN: &str = "auth_socket";

/// The catalog's key of an account.
pub fn key(user: &str, host: &str) -> String {
    format!("{user}@{host}")
}

/// The account of exactly this name.
pub fn find(catalog: &Catalog, name: &UserName) -> Option<Account> {
    from_json(catalog.account(&key(&name.user, &name.host))?)
}

/// The account of a session that logged in to it.
pub(crate) fn of_session(catalog: &Catalog, name: &UserName) -> Option<Account> {
    find(catalog, name)
        .or_else(|| owner_of_nothing(catalog).filter(|root| root.user == name.user && root.host == name.host))
}

/// The same by its key.
pub(crate) fn of_key(catalog: &Catalog, key: &str) -> Option<Account> {
    let kept = catalog.account(key).and_then(|json| from_json(json));
    kept.or_else(|| owner_of_nothing(catalog).filter(|root| root.key() == key))
}

/// Where there is no account at all (a follower before its source's accounts have come) the administrator is
/// `root@localhost`, whom the local socket lets in if he runs the server.
fn owner_of_nothing(catalog: &Catalog) -> Option<Account> {
    let name = UserName { user: "root".into(), host: "localhost".into() };
    catalog.accounts().next().is_none().then(|| Account::root(&name, SOCKET_PLUGIN, ""))
}

/// The account that a client from `host` (an address, or `localhost`) with this user name logs in to: the most specific
/// host first, a named user before the anonymous one.
pub fn for_login(catalog: &Catalog, user: &str, host: &str) -> Option<Account> {
    let accounts = catalog.accounts().filter_map(|(_, json)| from_json(json)).chain(owner_of_nothing(catalog));
    let matching = accounts
        .filter(|account| (account.user == user || account.user.is_empty()) && host_matches(&account.host, host));
    matching.max_by_key(|account| {
        let specific = match account.host.find(['%', '_']) {
            None => usize::MAX,
            Some(literal) => literal,
        };
        (specific, account.host.len(), !account.user.is_empty())
    })
}

/// All accounts, by name.
pub fn all(catalog: &Catalog) -> Vec<Account> {
    catalog.accounts().filter_map(|(_, json)| from_json(json)).collect()
}

fn from_json(json: &serde_json::Value) -> Option<Account> {
    // Only DDL writes accounts; one that cannot be read is as good as none, and says so.
    Account::deserialize(json)
        .inspect_err(|error| tracing::error!(%error, "an account in the catalog cannot be read"))
        .ok()
}

fn host_matches(pattern: &str, host: &str) -> bool {
    if let Some((network, mask)) = pattern.split_once('/') {
        return in_network(network, mask, host).unwrap_or(false);
    }
    matches_pattern(&pattern.to_ascii_lowercase(), &host.to_ascii_lowercase())
}

/// `198.51.100.0/255.255.255.0`, `198.51.100.0/24`
fn in_network(network: &str, mask: &str, host: &str) -> Option<bool> {
    let network: u32 = network.parse::<std::net::Ipv4Addr>().ok()?.into();
    let host: u32 = host.parse::<std::net::Ipv4Addr>().ok()?.into();
    let mask: u32 = match mask.parse::<u32>() {
        Ok(bits) if bits <= 32 => u32::MAX.checked_shl(32 - bits).unwrap_or(0),
        _ => mask.parse::<std::net::Ipv4Addr>().ok()?.into(),
    };
    Some(host & mask == network)
}

/// LIKE, for names: `%` any text, `_` one character, `\` in front takes a character for itself.
pub(crate) fn matches_pattern(pattern: &str, text: &str) -> bool {
    fn matches(pattern: &[char], text: &[char]) -> bool {
        match pattern {
            [] => text.is_empty(),
            ['%', rest @ ..] => (0..=text.len()).any(|skip| matches(rest, &text[skip..])),
            ['_', rest @ ..] => !text.is_empty() && matches(rest, &text[1..]),
            ['\\', c, rest @ ..] | [c, rest @ ..] => text.first() == Some(c) && matches(rest, &text[1..]),
        }
    }
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    matches(&pattern, &text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        assert!(matches_pattern("10.0.%", "10.0.1.2") && !matches_pattern("10.0.%", "10.1.1.2"));
        assert!(matches_pattern("my\\_db", "my_db") && !matches_pattern("my\\_db", "myxdb"));
        assert!(host_matches("10.1.2.0/255.255.255.0", "10.1.2.77") && !host_matches("10.1.2.0/24", "10.1.3.1"));
    }

    #[test]
    fn privileges_add_up() {
        let mut account = Account::new(&UserName { user: "a".into(), host: "%".into() }, "p", "");
        account.databases.insert("shop\\_%".into(), Privileges::of(Privilege::Select));
        account.tables.entry("other".into()).or_default().insert("t".into(), Privileges::of(Privilege::Insert));
        assert!(account.on_table("shop_1", "x").has(Privilege::Select));
        assert!(!account.on_table("shopx1", "x").has(Privilege::Select));
        assert!(
            account.on_table("other", "t").has(Privilege::Insert)
                && !account.on_table("other", "u").has(Privilege::Insert)
        );
        assert!(account.sees_database("other") && !account.sees_database("third"));
    }

    #[test]
    fn json_round_trip() {
        let account =
            Account::root(&UserName { user: "root".into(), host: "localhost".into() }, "caching_sha2_password", "$A$");
        let json = serde_json::to_value(&account).unwrap();
        assert_eq!(from_json(&json), Some(account));
    }
}
