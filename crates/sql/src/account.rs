//! Accounts: who may connect, how they prove it, and what they may do.
//!
//! An account is a JSON value in the catalog under `user@host`; DDL writes it, the session reads it once at connect and
//! again when the catalog has changed. Patterns of hosts and databases use `%` and `_`, the most specific wins.

mod failed;
mod graph;
mod options;
mod privilege;
mod restrictions;
mod roles;
mod usage;

use std::collections::{BTreeMap, BTreeSet};

use engine::Catalog;
use serde::{Deserialize, Serialize};

pub use failed::{FailedLogins, Tried};
pub(crate) use graph::{NO_GRAPH, roles_graph};
use options::is_default;
pub use options::{Limits, PasswordRules, PastPassword, ReusePolicy};
pub(crate) use options::{refused, remember};
pub use privilege::{Level, Privilege, Privileges};
pub(crate) use roles::{ActiveRoles, chosen, closure, edges, effective, list_of, mandatory, not_granted, with_roles};
pub use roles::{GrantedRole, RoleName};
pub use syntax::statement::{Requirement, UNBOUNDED};
pub(crate) use usage::Usage;
pub use usage::{AllUsage, exceeded};

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
    /// Dynamic privileges that it may grant: each of them has a grant option of its own.
    #[serde(default, skip_serializing_if = "Privileges::is_none")]
    pub grantable: Privileges,
    /// Which version of this structure it was written by; 0 is that without dynamic privileges for accounts themselves.
    #[serde(default)]
    pub revision: u8,
    /// Those of the global ones that it does not have on some databases, by name: partial revokes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub restrictions: BTreeMap<String, Privileges>,
    /// On databases, by pattern.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub databases: BTreeMap<String, Privileges>,
    /// On tables, by database and name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tables: BTreeMap<String, BTreeMap<String, Privileges>>,
    /// On columns, by database, table and name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub columns: BTreeMap<String, BTreeMap<String, BTreeMap<String, Privileges>>>,
    /// Made by CREATE ROLE: without a password that would do, locked, and MariaDB knows it by that statement too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_role: bool,
    /// The accounts that it was granted as roles, by user and host.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub roles: Vec<GrantedRole>,
    /// Those that a login activates, by user and host.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub default_roles: Vec<RoleName>,
    /// What the connection of a login has to be like.
    #[serde(default, skip_serializing_if = "is_default")]
    pub requires: Requirement,
    /// How much it may use.
    #[serde(default, skip_serializing_if = "is_default")]
    pub limits: Limits,
    /// Rules for its password.
    #[serde(default, skip_serializing_if = "is_default")]
    pub password: PasswordRules,
    /// RETAIN CURRENT PASSWORD: what the plugin compares with as well; empty for none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub second: String,
    /// COMMENT and ATTRIBUTE: a JSON object as text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attribute: Option<String>,
    /// Passwords that it may not use again, the newest last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub past: Vec<PastPassword>,
    /// It has the privileges of active roles too: then MySQL looks for databases by name before it looks for patterns.
    #[serde(skip)]
    pub(crate) has_roles: bool,
    /// `partial_revokes` is ON: names of databases in grants stand for themselves.
    #[serde(skip)]
    pub(crate) literal_databases: bool,
}

/// The revision of accounts that are written now.
const REVISION: u8 = 1;

impl Account {
    /// An account without privileges.
    pub fn new(name: &UserName, plugin: impl Into<String>, authentication: impl Into<String>) -> Self {
        Account {
            user: name.user.clone(),
            host: name.host.clone(),
            plugin: plugin.into(),
            authentication: authentication.into(),
            revision: REVISION,
            ..Account::default()
        }
    }

    /// As MySQL does when it is upgraded: who had SUPER is a system user, and who could steer replication could apply transactions.
    fn upgraded(mut self) -> Self {
        if self.revision == 0 {
            for (held, added) in [
                (Privilege::Super, Privilege::SystemUser),
                (Privilege::Super, Privilege::ApplicationPasswordAdmin),
                (Privilege::Super, Privilege::RoleAdmin),
                (Privilege::ReplicationAdmin, Privilege::ReplicationApplier),
                (Privilege::CreateUser, Privilege::CreateRole),
                (Privilege::CreateUser, Privilege::DropRole),
            ] {
                if self.global.contains(held) {
                    self.global = self.global.with(Privileges::of(added));
                }
            }
            if self.global.contains(Privilege::GrantOption) {
                self.grantable = self.global.dynamic();
            }
            self.revision = REVISION;
        }
        self
    }

    /// The administrator: everything, with the right to grant it.
    pub fn root(name: &UserName, plugin: impl Into<String>, authentication: impl Into<String>) -> Self {
        let grantable = Privileges::ALL.dynamic();
        Account { global: Privileges::ALL, grantable, ..Account::new(name, plugin, authentication) }
    }

    /// Whether its password was made to expire, which that of a role is until it gets one.
    pub fn is_made_to_expire(&self) -> bool {
        self.password.expired || self.is_role && self.authentication.is_empty()
    }

    /// Whether its password has expired, at a time in seconds since 1970.
    pub fn is_expired(&self, now: u64, default_lifetime: u16) -> bool {
        self.is_made_to_expire() || self.plugin != SOCKET_PLUGIN && self.password.is_expired(now, default_lifetime)
    }

    /// What it can be logged in to with: its password, and the one that it has kept.
    pub fn secrets(&self) -> impl Iterator<Item = &str> {
        let second = Some(self.second.as_str()).filter(|second| !second.is_empty());
        std::iter::once(self.authentication.as_str()).chain(second)
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
        let granted = self.granted_on_database(database);
        self.global_on(database).with(self.unrestricted(granted, self.restricted_on(database)))
    }

    /// What was granted on one database.
    fn granted_on_database(&self, database: &str) -> Privileges {
        if self.literal_databases {
            return self.databases.get(database).copied().unwrap_or_default();
        }
        if self.has_roles {
            let first = self.databases.iter().find(|(pattern, _)| matches_pattern(pattern, database));
            let found = self.databases.get(database).or_else(|| first.map(|(_, privileges)| privileges));
            return found.copied().unwrap_or_default();
        }
        self.granted_on(|pattern| matches_pattern(pattern, database))
    }

    /// Privileges on all databases that a pattern of GRANT means, the global ones included.
    pub fn on_pattern(&self, wanted: &str) -> Privileges {
        let literal = self.literal_databases;
        let granted = self.granted_on(|pattern| if literal { pattern == wanted } else { covers(pattern, wanted) });
        let restricted = self.restricted_on_pattern(wanted);
        self.global.without(restricted).with(self.unrestricted(granted, restricted))
    }

    /// What was granted on the most specific one of the databases' patterns that match.
    fn granted_on(&self, matches: impl Fn(&str) -> bool) -> Privileges {
        let matching = self.databases.iter().filter(|(pattern, _)| matches(pattern));
        let best = matching.max_by_key(|(pattern, _)| (first_wildcard(pattern), pattern.len()));
        best.map(|(_, privileges)| *privileges).unwrap_or_default()
    }

    /// Privileges on one table, those on its database included.
    pub fn on_table(&self, database: &str, table: &str) -> Privileges {
        let own = self.tables.get(database).and_then(|tables| tables.get(table)).copied().unwrap_or_default();
        self.on_database(database).with(own)
    }

    /// Privileges on the columns of one table that were granted on columns, by column.
    pub fn columns_of(&self, database: &str, table: &str) -> Option<&BTreeMap<String, Privileges>> {
        self.columns.get(database)?.get(table)
    }

    /// Privileges on one column, those on its table included.
    pub fn on_column(&self, database: &str, table: &str, column: &str) -> Privileges {
        self.on_table(database, table).with(self.granted_on_column(database, table, column))
    }

    /// What was granted on one column itself.
    pub fn granted_on_column(&self, database: &str, table: &str, column: &str) -> Privileges {
        let columns = self.columns_of(database, table);
        let own = columns.and_then(|columns| columns.iter().find(|(name, _)| same_name(name, column)));
        own.map(|(_, privileges)| *privileges).unwrap_or_default()
    }

    /// Privileges on a table or on any of its columns.
    pub fn on_any_column(&self, database: &str, table: &str) -> Privileges {
        let columns = self.columns_of(database, table).into_iter().flatten();
        columns.fold(self.on_table(database, table), |held, (_, privileges)| held.with(*privileges))
    }

    /// Whether SHOW DATABASES lists a database to it: it may see all of them, or has any right in this one, were it only that to grant.
    pub fn sees_database(&self, database: &str) -> bool {
        let matches =
            |name: &str| if self.literal_databases { name == database } else { matches_pattern(name, database) };
        let restricted = self.restricted_on(database);
        let of_database =
            |(name, held): (&String, &Privileges)| matches(name) && !self.unrestricted(*held, restricted).is_empty();
        self.global.contains(Privilege::ShowDatabases)
            || self.global_on(database).is_of_databases()
            || self.databases.iter().any(of_database)
            || self.tables.contains_key(database)
            || self.columns.contains_key(database)
    }

    /// Whether it may make a database the default one and ask for what is in it: it has a right in it, other than that to grant.
    pub fn enters_database(&self, database: &str) -> bool {
        let of_tables = |tables: &BTreeMap<String, Privileges>| tables.values().any(|held| held.is_of_databases());
        self.on_database(database).is_of_databases()
            || self.tables.get(database).is_some_and(of_tables)
            || self.columns.contains_key(database)
    }

    /// What was granted on columns: database, table, column, privileges.
    pub fn all_columns(&self) -> impl Iterator<Item = (&String, &String, &String, Privileges)> {
        self.columns.iter().flat_map(|(database, tables)| {
            tables.iter().flat_map(move |(table, columns)| {
                columns.iter().map(move |(column, privileges)| (database, table, column, *privileges))
            })
        })
    }

    /// The tables on which, or on whose columns, anything was granted: database and name.
    pub fn granted_tables(&self) -> BTreeSet<(&str, &str)> {
        let own = self.tables.iter().flat_map(|(database, tables)| tables.keys().map(move |table| (database, table)));
        let of_columns =
            self.columns.iter().flat_map(|(database, tables)| tables.keys().map(move |table| (database, table)));
        own.chain(of_columns).map(|(database, table)| (database.as_str(), table.as_str())).collect()
    }

    /// Whether SHOW COLUMNS, SHOW INDEX and CHECK TABLE are its own to ask: SELECT by its database, or anything that was granted on the
    /// table itself or on its columns, were it only the right to grant it.
    pub fn may_describe(&self, database: &str, table: &str) -> bool {
        self.on_database(database).has(Privilege::Select) || self.granted_tables().contains(&(database, table))
    }

    /// Whether any right lets it know of a table.
    pub fn sees_table(&self, database: &str, table: &str) -> bool {
        let granted = self.tables.get(database).and_then(|tables| tables.get(table));
        granted.is_some_and(|granted| granted.has(Privilege::GrantOption))
            || !self.on_any_column(database, table).common(Privileges::all_at(Level::Table)).is_empty()
    }
}

/// Names of columns are the same in any case.
pub(crate) fn same_name(one: &str, other: &str) -> bool {
    one == other || one.to_lowercase() == other.to_lowercase()
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
        .map(Account::upgraded)
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

/// Where the first wildcard of a pattern is: of two patterns that match, the one whose wildcards begin later is the more specific.
fn first_wildcard(pattern: &str) -> usize {
    let mut chars = pattern.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => drop(chars.next()),
            '%' | '_' => return at,
            _ => {}
        }
    }
    usize::MAX
}

/// Whether a pattern matches everything that another one matches. It never says so wrongly; of patterns with several `%` it may say no
/// although it would be so.
fn covers(pattern: &str, other: &str) -> bool {
    matches_pieces(&pieces(pattern), &pieces(other))
}

/// In one pass over the pattern, so that no pattern takes long: which beginnings of the text it can have matched so far.
fn matches_pieces(pattern: &[Piece], text: &[Piece]) -> bool {
    let mut reached = vec![false; text.len() + 1];
    reached[0] = true;
    for piece in pattern {
        if *piece == Piece::Many {
            let first = reached.iter().position(|reached| *reached).unwrap_or(text.len() + 1);
            reached.iter_mut().skip(first).for_each(|reached| *reached = true);
            continue;
        }
        for at in (0..text.len()).rev() {
            let fits = *piece == text[at] || *piece == Piece::One && text[at] != Piece::Many;
            reached[at + 1] = reached[at] && fits;
        }
        reached[0] = false;
    }
    reached[text.len()]
}

/// A piece of a pattern.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Piece {
    Many,
    One,
    Char(char),
}

fn pieces(pattern: &str) -> Vec<Piece> {
    let (mut pieces, mut chars) = (Vec::new(), pattern.chars());
    while let Some(c) = chars.next() {
        pieces.push(match c {
            '%' => Piece::Many,
            '_' => Piece::One,
            '\\' => Piece::Char(chars.next().unwrap_or('\\')),
            c => Piece::Char(c),
        });
    }
    pieces
}

/// LIKE, for names: `%` any text, `_` one character, `\` in front takes a character for itself.
pub(crate) fn matches_pattern(pattern: &str, text: &str) -> bool {
    let text: Vec<Piece> = text.chars().map(Piece::Char).collect();
    matches_pieces(&pieces(pattern), &text)
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
    fn patterns_that_cover_others() {
        for (pattern, covered) in
            [("a_b", "a_b"), ("a_b", "a\\_b"), ("a_b", "axb"), ("a%", "ab%"), ("%", "%"), ("%", "x_%")]
        {
            assert!(covers(pattern, covered), "{pattern} {covered}");
        }
        for (pattern, other) in
            [("a_b", "a%b"), ("a_b", "a__b"), ("a\\_b", "a_b"), ("axb", "a_b"), ("a%", "%"), ("_", "%")]
        {
            assert!(!covers(pattern, other), "{pattern} {other}");
        }
        assert!(first_wildcard("a\\_b") > first_wildcard("abc_") && first_wildcard("abc_") > first_wildcard("ab%"));
    }

    #[test]
    fn accounts_of_earlier_versions() {
        let json = serde_json::json!({"user": "u", "host": "%", "plugin": "p", "authentication": "", "global": "SUPER,GRANT OPTION"});
        let account = from_json(&json).unwrap();
        assert!(account.global.contains(Privilege::SystemUser) && account.grantable.contains(Privilege::SystemUser));
        let json =
            serde_json::json!({"user": "u", "host": "%", "plugin": "p", "authentication": "", "global": "CREATE USER"});
        assert!(!from_json(&json).unwrap().global.contains(Privilege::SystemUser));
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
