//! The rows of the virtual tables about roles.

use types::Value;

use super::accounts::{set_of, visible_accounts};
use super::rows::{Rows, Source, catalog, text, yes_no};
use crate::account::{Account, Privilege, closure, edges};
use crate::parse::ast::UserName;

pub(super) const APPLICABLE: &str = "USER v97?, HOST v256?, GRANTEE v97?, GRANTEE_HOST v256?, ROLE_NAME v255?, ROLE_HOST v256?, \
                                     IS_GRANTABLE v3, IS_DEFAULT v3?, IS_MANDATORY v3";
pub(super) const ENABLED: &str = "ROLE_NAME v255?, ROLE_HOST v255?, IS_DEFAULT v3?, IS_MANDATORY v3";
pub(super) const TABLE_GRANTS: &str = "GRANTOR v97?, GRANTOR_HOST v256?, GRANTEE v32, GRANTEE_HOST v255, TABLE_CATALOG v3, TABLE_SCHEMA v64, \
                                       TABLE_NAME v64, PRIVILEGE_TYPE v300, IS_GRANTABLE v3";
pub(super) const COLUMN_GRANTS: &str = "GRANTOR v97?, GRANTOR_HOST v256?, GRANTEE v32, GRANTEE_HOST v255, TABLE_CATALOG v3, TABLE_SCHEMA v64, \
                                        TABLE_NAME v64, COLUMN_NAME v64, PRIVILEGE_TYPE v60, IS_GRANTABLE v3";
pub(super) const ROUTINE_GRANTS: &str = "GRANTOR v97?, GRANTOR_HOST v256?, GRANTEE v32, GRANTEE_HOST v255, SPECIFIC_CATALOG v3, \
                                         SPECIFIC_SCHEMA v64, SPECIFIC_NAME v64, ROUTINE_CATALOG v3, ROUTINE_SCHEMA v64, ROUTINE_NAME v64, \
                                         PRIVILEGE_TYPE v60, IS_GRANTABLE v3";
pub(super) const EDGES: &str = "FROM_HOST v255, FROM_USER v32, TO_HOST v255, TO_USER v32, WITH_ADMIN_OPTION v1";
pub(super) const DEFAULTS: &str = "HOST v255, USER v32, DEFAULT_ROLE_HOST v255, DEFAULT_ROLE_USER v32";

/// The session's account itself: that of [`Source`] has what its active roles have.
fn own(source: &Source<'_>) -> Account {
    crate::account::find(&source.catalog, &source.account.name()).unwrap_or_default()
}

fn is_default(own: &Account, role: &UserName) -> bool {
    own.default_roles.iter().any(|default| default.user == role.user && default.host == role.host)
}

/// `APPLICABLE_ROLES`: the roles that the account has, by itself and by its roles.
pub(super) fn applicable(source: &Source<'_>) -> Rows {
    let (own, mandatory) = (own(source), source.mandatory_roles());
    let given = own.roles.iter().map(|granted| granted.role.account());
    let everybodys = mandatory.iter().filter(|role| !own.was_granted(role));
    let first: Vec<UserName> = given.chain(everybodys.clone().cloned()).collect();
    let mut found: Vec<(UserName, UserName, bool)> = everybodys.map(|role| (own.name(), role.clone(), false)).collect();
    for account in [own.clone()].iter().chain(&closure(&source.catalog, &first)) {
        let roles = account.roles.iter().map(|granted| (account.name(), granted.role.account(), granted.admin));
        found.extend(roles);
    }
    let row = |(grantee, role, admin): (UserName, UserName, bool)| {
        let names = [&own.user, &own.host, &grantee.user, &grantee.host, &role.user, &role.host];
        let mut row: Vec<Value> = names.map(|name| text(name.clone())).to_vec();
        row.extend([admin, is_default(&own, &role), mandatory.contains(&role)].map(yes_no));
        row
    };
    Ok(found.into_iter().map(row).collect())
}

/// `ADMINISTRABLE_ROLE_AUTHORIZATIONS`: those of them that it may grant.
pub(super) fn administrable(source: &Source<'_>) -> Rows {
    let grantable = |row: &Vec<Value>| row.get(GRANTABLE) == Some(&yes_no(true));
    Ok(applicable(source)?.into_iter().filter(grantable).collect())
}

/// The column IS_GRANTABLE of [`APPLICABLE`].
const GRANTABLE: usize = 6;

/// `ENABLED_ROLES`: the active ones.
pub(super) fn enabled(source: &Source<'_>) -> Rows {
    let (own, mandatory) = (own(source), source.mandatory_roles());
    let row = |role: &UserName| {
        let flags = [is_default(&own, role), mandatory.contains(role)].map(yes_no);
        [text(role.user.clone()), text(role.host.clone())].into_iter().chain(flags).collect()
    };
    Ok(source.active_roles.iter().map(row).collect())
}

/// The active roles, and those that they have.
fn enabled_accounts(source: &Source<'_>) -> Vec<Account> {
    closure(&source.catalog, &source.active_roles)
}

/// What GRANTOR and GRANTEE say: who granted is not kept.
fn head(role: &Account, database: &str, table: &str) -> Vec<Value> {
    let (user, host) = (text(role.user.clone()), text(role.host.clone()));
    vec![Value::str_static(""), Value::str_static(""), user, host, catalog(), text(database), text(table)]
}

/// `ROLE_TABLE_GRANTS`.
pub(super) fn table_grants(source: &Source<'_>) -> Rows {
    let mut rows = Vec::new();
    for role in enabled_accounts(source) {
        for (database, tables) in &role.tables {
            for (table, held) in tables {
                let mut row = head(&role, database, table);
                row.extend([text(set_of(*held)), yes_no(held.contains(Privilege::GrantOption))]);
                rows.push(row);
            }
        }
    }
    Ok(rows)
}

/// `ROLE_COLUMN_GRANTS`.
pub(super) fn column_grants(source: &Source<'_>) -> Rows {
    let mut rows = Vec::new();
    for role in enabled_accounts(source) {
        for (database, table, column, held) in role.all_columns() {
            let of_table = role.tables.get(database).and_then(|tables| tables.get(table)).copied().unwrap_or_default();
            let mut row = head(&role, database, table);
            let is_grantable = yes_no(of_table.contains(Privilege::GrantOption));
            row.extend([text(column.clone()), text(set_of(held)), is_grantable]);
            rows.push(row);
        }
    }
    Ok(rows)
}

/// `mysql.role_edges`.
pub(super) fn role_edges(source: &Source<'_>) -> Rows {
    let visible: Vec<UserName> = visible_accounts(source).iter().map(Account::name).collect();
    let row = |(role, user, admin): (UserName, UserName, bool)| {
        let admin = Value::str_static(if admin { "Y" } else { "N" });
        let names = [&role.host, &role.user, &user.host, &user.user].map(|name| text(name.clone()));
        names.into_iter().chain([admin]).collect()
    };
    let edges = edges(&source.catalog).into_iter().filter(|(_, user, _)| visible.contains(user));
    Ok(edges.map(row).collect())
}

/// `mysql.default_roles`.
pub(super) fn default_roles(source: &Source<'_>) -> Rows {
    let mut rows = Vec::new();
    for account in visible_accounts(source) {
        for role in &account.default_roles {
            let names = [&account.host, &account.user, &role.host, &role.user];
            rows.push(names.map(|name| text(name.clone())).to_vec());
        }
    }
    Ok(rows)
}
