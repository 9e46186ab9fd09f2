//! Roles: accounts whose privileges other accounts may have as their own.
//!
//! Which roles an account was granted is kept with the account, as MySQL's `mysql.role_edges` has it. Which of them are active is the
//! session's: the privileges that count are the account's own and those of its active roles, and of the roles that those have
//! ([`with_roles`]).

use std::collections::BTreeMap;

use base::{SqlError, codes};
use engine::Catalog;
use serde::{Deserialize, Serialize};

use super::{Account, Privileges, find};
use crate::expr::SessionInfo;
use crate::parse::ast::{RoleChoice, UserName};
use crate::settings::Globals;

/// The name of a role, as the catalog has it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RoleName {
    /// Its user name.
    pub user: String,
    /// Its host.
    pub host: String,
}

/// A role that an account was granted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct GrantedRole {
    /// Which.
    #[serde(flatten)]
    pub role: RoleName,
    /// WITH ADMIN OPTION: the account may grant it on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub admin: bool,
}

impl From<&UserName> for RoleName {
    fn from(name: &UserName) -> Self {
        RoleName { user: name.user.clone(), host: name.host.clone() }
    }
}

impl RoleName {
    /// The same as the name of an account.
    pub fn account(&self) -> UserName {
        UserName { user: self.user.clone(), host: self.host.clone() }
    }
}

impl Account {
    /// Whether it was granted a role itself.
    pub fn was_granted(&self, role: &UserName) -> bool {
        self.granted(role).is_some()
    }

    /// Whether it may grant a role on.
    pub fn administers(&self, role: &UserName) -> bool {
        self.granted(role).is_some_and(|granted| granted.admin)
    }

    fn granted(&self, role: &UserName) -> Option<&GrantedRole> {
        self.roles.iter().find(|granted| granted.role.user == role.user && granted.role.host == role.host)
    }

    /// It gets a role; one that it could grant on it can still grant on.
    pub fn add_role(&mut self, role: &UserName, admin: bool) {
        let role = RoleName::from(role);
        match self.roles.iter_mut().find(|granted| granted.role == role) {
            Some(granted) => granted.admin |= admin,
            None => {
                self.roles.push(GrantedRole { role, admin });
                self.roles.sort();
            }
        }
    }

    /// It has a role no longer.
    pub fn remove_role(&mut self, role: &UserName) {
        let role = RoleName::from(role);
        self.roles.retain(|granted| granted.role != role);
        self.default_roles.retain(|default| *default != role);
    }

    /// Those that a login activates.
    pub fn set_default_roles<'n>(&mut self, roles: impl IntoIterator<Item = &'n UserName>) {
        self.default_roles = roles.into_iter().map(RoleName::from).collect();
        self.default_roles.sort();
        self.default_roles.dedup();
    }

    /// But for those on databases.
    fn take_privileges_of(&mut self, other: &Account) {
        self.join_restrictions(other.global, &other.restrictions);
        self.global = self.global.with(other.global);
        self.grantable = self.grantable.with(other.grantable);
        merge(&mut self.tables, &other.tables, |own, other| merge(own, other, add));
        merge(&mut self.columns, &other.columns, |own, other| merge(own, other, |own, other| merge(own, other, add)));
    }
}

fn add(own: &mut Privileges, other: &Privileges) {
    *own = own.with(*other);
}

fn merge<V: Clone + Default>(own: &mut BTreeMap<String, V>, other: &BTreeMap<String, V>, add: impl Fn(&mut V, &V)) {
    other.iter().for_each(|(name, value)| add(own.entry(name.clone()).or_default(), value));
}

/// Roles that are active in a session, by user and host.
pub(crate) type ActiveRoles = Vec<UserName>;

/// An account with what its active roles have besides. A role that it does not have (any more) gives nothing.
pub(crate) fn with_roles(catalog: &Catalog, own: Account, active: &[UserName], mandatory: &[UserName]) -> Account {
    let counts = |role: &&UserName| own.was_granted(role) || mandatory.contains(role);
    let roles = closure(catalog, active.iter().filter(counts));
    if roles.is_empty() {
        return own;
    }
    let mut account = Account { has_roles: true, ..own };
    roles.iter().for_each(|role| merge(&mut account.databases, &role.databases, add));
    account.lift_by_roles();
    for role in &roles {
        account.take_privileges_of(role);
        role.roles.iter().filter(|granted| granted.admin).for_each(|granted| {
            account.add_role(&granted.role.account(), true);
        });
    }
    account.lift_where_granted();
    account
}

/// The account of a session as its state has it.
pub(crate) fn effective(catalog: &Catalog, session: &SessionInfo, globals: &Globals) -> Account {
    if session.has_every_right {
        return Account { global: Privileges::ALL, ..Account::default() };
    }
    let own = super::of_key(catalog, &session.current_user).unwrap_or_default();
    let own = Account { literal_databases: globals.partial_revokes(), ..own };
    match &session.active_roles[..] {
        [] => own,
        active => with_roles(catalog, own, active, &mandatory(catalog, &globals.now().accounts.mandatory_roles)),
    }
}

/// Roles, and those that they have, and so on; each once.
pub(crate) fn closure<'n>(catalog: &Catalog, roles: impl IntoIterator<Item = &'n UserName>) -> Vec<Account> {
    let mut found: Vec<Account> = Vec::new();
    let mut next: Vec<UserName> = roles.into_iter().cloned().collect();
    while let Some(name) = next.pop() {
        if found.iter().any(|role| role.user == name.user && role.host == name.host) {
            continue;
        }
        let Some(role) = find(catalog, &name) else { continue };
        next.extend(role.roles.iter().map(|granted| granted.role.account()));
        found.push(role);
    }
    found
}

/// Every grant of a role: the role, who has it, and whether with ADMIN OPTION; in the order of `mysql.role_edges`.
pub(crate) fn edges(catalog: &Catalog) -> Vec<(UserName, UserName, bool)> {
    let accounts = super::all(catalog);
    let of = |account: &Account| {
        let to = account.name();
        account.roles.iter().map(move |granted| (granted.role.account(), to.clone(), granted.admin)).collect::<Vec<_>>()
    };
    let mut edges: Vec<_> = accounts.iter().flat_map(of).collect();
    let key = |name: &UserName| (name.host.clone(), name.user.clone());
    edges.sort_by_key(|(from, to, _)| (key(from), key(to)));
    edges
}

/// The roles that `mandatory_roles` names, as far as they are there.
pub(crate) fn mandatory(catalog: &Catalog, names: &str) -> Vec<UserName> {
    let names = list_of(names).unwrap_or_default();
    names.into_iter().filter(|name| find(catalog, name).is_some()).collect()
}

/// `` role, 'role'@`host` ``; `None` if it is no such list.
pub(crate) fn list_of(text: &str) -> Option<Vec<UserName>> {
    let mut names = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (user, behind) = part(rest)?;
        let (host, behind) = match behind.trim_start().strip_prefix('@') {
            Some(host) => part(host.trim_start()).unwrap_or((String::new(), host)),
            None => ("%".to_owned(), behind),
        };
        names.push(UserName { user, host: host.to_lowercase() });
        rest = behind.trim_start();
        match rest.strip_prefix(',') {
            // A comma at the end names nothing.
            Some(next) if next.trim().is_empty() => return None,
            Some(next) => rest = next.trim_start(),
            None if rest.is_empty() => {}
            None => return None,
        }
    }
    names.sort();
    names.dedup();
    Some(names)
}

/// A name, quoted or not, and what is behind it.
fn part(text: &str) -> Option<(String, &str)> {
    if let Some(quote) = text.chars().next().filter(|c| matches!(c, '\'' | '"' | '`')) {
        return text[1..].split_once(quote).map(|(name, rest)| (name.to_owned(), rest));
    }
    let end = text.find(['@', ',', ' ']).unwrap_or(text.len());
    (end > 0).then(|| (text[..end].to_owned(), &text[end..]))
}

/// The roles that a choice means for an account; 3530 for one that it does not have.
pub(crate) fn chosen(account: &Account, choice: &RoleChoice, mandatory: &[UserName]) -> Result<ActiveRoles, SqlError> {
    let granted = || account.roles.iter().map(|granted| granted.role.account()).chain(mandatory.iter().cloned());
    let mut roles: ActiveRoles = match choice {
        RoleChoice::None => Vec::new(),
        RoleChoice::Default => {
            let has = |role: &UserName| account.was_granted(role) || mandatory.contains(role);
            account.default_roles.iter().map(RoleName::account).filter(has).collect()
        }
        RoleChoice::All { except } => granted().filter(|role| !except.contains(role)).collect(),
        RoleChoice::These(names) => {
            if let Some(missing) = names.iter().find(|name| !granted().any(|role| role == **name)) {
                return Err(not_granted(missing, &account.name()));
            }
            names.clone()
        }
    };
    roles.sort();
    roles.dedup();
    Ok(roles)
}

/// 3530
pub(crate) fn not_granted(role: &UserName, user: &UserName) -> SqlError {
    let message = format!("{} is not granted to {}", role.quoted(), user.quoted());
    SqlError::new(codes::ROLE_NOT_GRANTED, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_roles() {
        let shown = |text| list_of(text).map(|names| names.iter().map(UserName::quoted).collect::<Vec<_>>().join(" "));
        assert_eq!(shown("b, `a`@`%`,'c'@LOCALHOST").as_deref(), Some("`a`@`%` `b`@`%` `c`@`localhost`"));
        assert_eq!(shown("").as_deref(), Some(""));
        for wrong in ["a,,b", "a,", ",a", "`a"] {
            assert_eq!(shown(wrong), None, "{wrong}");
        }
    }
}
