//! CREATE and DROP ROLE, GRANT and REVOKE of roles, default roles.
//!
//! The log has these statements with all names in full, so that they need no session. What MariaDB cannot execute (several roles in one
//! GRANT, roles with hosts, users as roles) it passes over.

use base::{SqlError, codes};

use super::account::{Changes, current, planned, refuse_or_note};
use super::{DdlContext, PlannedDdl, quote_identifier};
use crate::account::{Account, RoleName, all, chosen, closure, find, not_granted};
use crate::expr::WarningLevel;
use crate::parse::ast::{RoleChoice, RoleGrant, UserName};

pub(super) fn create(
    roles: &[UserName],
    if_not_exists: bool,
    context: &DdlContext<'_>,
) -> Result<PlannedDdl, SqlError> {
    if roles.iter().any(|role| role.user.is_empty()) {
        return Err(SqlError::new(codes::CANNOT_USER, "Operation CREATE ROLE failed for anonymous user"));
    }
    let (mut changes, mut failed) = (Changes::new(), Vec::new());
    for name in roles {
        if current(context.catalog, &changes, name).is_some() {
            failed.push(name);
            continue;
        }
        let mut role =
            Account { locked: true, is_role: true, ..Account::new(name, super::account::DEFAULT_PLUGIN, "") };
        role.password.changed = context.timestamp;
        changes.insert(role.key(), Some(role));
    }
    let what = (codes::USER_ALREADY_EXISTS, "already exists");
    refuse_or_note("CREATE ROLE", &failed, if_not_exists, what, context)?;
    let condition = if if_not_exists { " IF NOT EXISTS" } else { "" };
    planned(changes, Some(for_both(roles, format!("CREATE ROLE{condition} {}", list(roles)))))
}

pub(super) fn drop(roles: &[UserName], if_exists: bool, context: &DdlContext<'_>) -> Result<PlannedDdl, SqlError> {
    let mut changes = drop_accounts("DROP ROLE", roles, if_exists, context)?;
    let verb = if are_roles(&changes, context) { "DROP ROLE" } else { "DROP USER" };
    forget(&mut changes, context);
    planned(changes, Some(drop_text(verb, roles, if_exists)))
}

/// Whether all that go are roles to a MariaDB too.
pub(super) fn are_roles(changes: &Changes, context: &DdlContext<'_>) -> bool {
    let is_role = |key: &String| crate::account::of_key(context.catalog, key).is_some_and(|account| account.is_role);
    !changes.is_empty() && changes.keys().all(is_role)
}

/// To a MySQL the two verbs are the same.
pub(super) fn drop_text(verb: &str, names: &[UserName], if_exists: bool) -> String {
    let condition = if if_exists { " IF EXISTS" } else { "" };
    let text = format!("{verb}{condition} {}", list(names));
    if verb == "DROP ROLE" { for_both(names, text) } else { text }
}

/// The accounts that go; 3628 for a mandatory role.
pub(super) fn drop_accounts(
    operation: &str,
    names: &[UserName],
    if_exists: bool,
    context: &DdlContext<'_>,
) -> Result<Changes, SqlError> {
    let (mut changes, mut failed) = (Changes::new(), Vec::new());
    for name in names {
        if context.mandatory_roles.contains(name) {
            return Err(mandatory(name));
        }
        match current(context.catalog, &changes, name) {
            Some(account) => _ = changes.insert(account.key(), None),
            None => failed.push(name),
        }
    }
    refuse_or_note(operation, &failed, if_exists, (codes::USER_DOES_NOT_EXIST, "does not exist"), context)?;
    Ok(changes)
}

/// What goes is a role of others no longer.
pub(super) fn forget(changes: &mut Changes, context: &DdlContext<'_>) {
    let gone: Vec<String> =
        changes.iter().filter(|(_, account)| account.is_none()).map(|(key, _)| key.clone()).collect();
    let is_gone = |role: &RoleName| gone.contains(&crate::account::key(&role.user, &role.host));
    for account in all(context.catalog) {
        let is_changed = account.roles.iter().map(|granted| &granted.role).chain(&account.default_roles).any(&is_gone);
        if !is_changed || changes.contains_key(&account.key()) {
            continue;
        }
        let mut account = account;
        account.roles.retain(|granted| !is_gone(&granted.role));
        account.default_roles.retain(|role| !is_gone(role));
        changes.insert(account.key(), Some(account));
    }
}

/// 3532 for an account that others have as a role.
pub(super) fn check_renamed(name: &UserName, context: &DdlContext<'_>) -> Result<(), SqlError> {
    let has = |account: &Account| account.was_granted(name);
    if !context.mandatory_roles.contains(name) && !all(context.catalog).iter().any(has) {
        return Ok(());
    }
    Err(SqlError::new(codes::RENAME_ROLE, "Renaming of a role identifier is forbidden"))
}

pub(super) fn grant(grant: &RoleGrant, context: &DdlContext<'_>) -> Result<PlannedDdl, SqlError> {
    let users = names(&grant.users)?;
    let mut changes = Changes::new();
    for user in &users {
        let mut account = existing(&changes, user, context)?;
        if user.user.is_empty() {
            let message = "Cannot grant roles to an anonymous user.";
            return Err(SqlError::new(codes::CANNOT_GRANT_ROLES_TO_ANONYMOUS_USER, message));
        }
        for role in &grant.roles {
            existing(&changes, role, context)?;
            check_loop(user, role, context)?;
            account.add_role(role, grant.admin);
        }
        changes.insert(account.key(), Some(account));
    }
    let option = if grant.admin { " WITH ADMIN OPTION" } else { "" };
    let text = format!("GRANT {} TO {}{option}", list(&grant.roles), list(&users));
    planned(changes, Some(for_both_if_one(&grant.roles, text, context)))
}

pub(super) fn revoke(revoke: &RoleGrant, context: &DdlContext<'_>) -> Result<PlannedDdl, SqlError> {
    let mut roles = Vec::new();
    let (mut changes, mut had) = (Changes::new(), Vec::new());
    let mut users = Vec::new();
    for user in names(&revoke.users)? {
        match current(context.catalog, &changes, &user) {
            Some(_) => users.push(user),
            None if revoke.ignore_unknown => {
                let message = format!("Authorization ID {} does not exist.", user.user);
                context.warnings.push(WarningLevel::Warning, codes::USER_DOES_NOT_EXIST, message);
            }
            None => return Err(unknown(&user)),
        }
    }
    for role in revoke.roles.iter().filter(|_| !users.is_empty()) {
        let error = match find(context.catalog, role) {
            _ if context.mandatory_roles.contains(role) => mandatory(role),
            Some(_) => {
                roles.push(role.clone());
                continue;
            }
            None => unknown(role),
        };
        if !revoke.if_exists {
            return Err(error);
        }
        context.warnings.push_error(WarningLevel::Warning, &error);
    }
    for user in users {
        let mut account = existing(&changes, &user, context)?;
        let before = account.clone();
        for role in &roles {
            account.remove_role(role);
        }
        if account != before {
            changes.insert(account.key(), Some(account));
            had.push(user);
        }
    }
    let text = format!("REVOKE {} FROM {}", list(&roles), list(&had));
    planned(changes, Some(for_both_if_one(&roles, text, context)))
}

/// SET DEFAULT ROLE.
pub(super) fn set_defaults(
    choice: &RoleChoice,
    users: &[Option<UserName>],
    context: &DdlContext<'_>,
) -> Result<PlannedDdl, SqlError> {
    let users = names(users)?;
    let mut changes = Changes::new();
    let mut all_chosen: Vec<Vec<UserName>> = Vec::new();
    for user in &users {
        let account = current(context.catalog, &changes, user);
        let roles = match (choice, &account) {
            (RoleChoice::These(names), None) => return Err(not_granted(&names[0], user)),
            (RoleChoice::None, None) => continue,
            (_, None) => return Err(unknown(user)),
            // What a log says was checked where it was made, where other roles may be mandatory.
            (RoleChoice::These(names), Some(_)) if context.is_logged => names.clone(),
            (choice, Some(account)) => chosen(account, choice, context.mandatory_roles)?,
        };
        let Some(mut account) = account else { continue };
        account.set_default_roles(&roles);
        changes.insert(account.key(), Some(account));
        all_chosen.push(roles);
    }
    let all_alike = all_chosen.windows(2).all(|two| two[0] == two[1]);
    if !all_alike && !context.mandatory_roles.is_empty() {
        // The statement would mean something else where other roles are mandatory.
        return Err(SqlError::not_supported("SET DEFAULT ROLE ALL for several users while roles are mandatory"));
    }
    let roles = match all_chosen.first() {
        Some(roles) if all_alike && !roles.is_empty() => list(roles),
        Some(_) if !all_alike => "ALL".to_owned(),
        _ => "NONE".to_owned(),
    };
    let mut text = for_mysql(&format!("SET DEFAULT ROLE {roles} TO {}", list(&users)));
    // MariaDB's has one role and one user.
    let are_of_maria = all_alike && all_chosen.iter().flatten().all(|role| role.host == "%");
    if are_of_maria
        && text.starts_with("/*")
        && let ([user], true) = (&users[..], all_chosen.first().is_some_and(|roles| roles.len() < 2))
    {
        let role = all_chosen[0].first().map_or_else(|| "NONE".to_owned(), plain);
        text += &format!(" /*M!100200 SET DEFAULT ROLE {role} FOR {user} */");
    }
    planned(changes, Some(text))
}

/// The roles of CREATE USER … DEFAULT ROLE, which have to be there.
pub(super) fn give_defaults(
    account: &mut Account,
    roles: &[UserName],
    context: &DdlContext<'_>,
) -> Result<(), SqlError> {
    for role in roles {
        if find(context.catalog, role).is_none() {
            let message = format!("Authorization ID {} does not exist.", role.quoted());
            return Err(SqlError::new(codes::USER_DOES_NOT_EXIST, message));
        }
        account.add_role(role, false);
    }
    account.set_default_roles(roles);
    Ok(())
}

/// `` role, role ``
pub(super) fn list(names: &[UserName]) -> String {
    names.iter().map(plain).collect::<Vec<_>>().join(", ")
}

/// Without a host where it is `%`: MariaDB's roles have none.
fn plain(name: &UserName) -> String {
    match name.host.as_str() {
        "%" => quote_identifier(&name.user),
        host => format!("{}@{}", quote_identifier(&name.user), quote_identifier(host)),
    }
}

fn for_mysql(text: &str) -> String {
    // A comment ends at the first such place, whatever it is in.
    if text.contains("*/") { text.to_owned() } else { format!("/*!50700 {text} */") }
}

fn for_both(roles: &[UserName], text: String) -> String {
    if roles.iter().all(|role| role.host == "%") { text } else { for_mysql(&text) }
}

/// MariaDB grants one role at a time, and no users.
fn for_both_if_one(roles: &[UserName], text: String, context: &DdlContext<'_>) -> String {
    let is_one = matches!(roles, [role] if find(context.catalog, role).is_some_and(|account| account.is_role));
    if is_one { for_both(roles, text) } else { for_mysql(&text) }
}

fn names(users: &[Option<UserName>]) -> Result<Vec<UserName>, SqlError> {
    let name = |user: &Option<UserName>| {
        user.clone().ok_or_else(|| SqlError::unknown("CURRENT_USER in a definition out of a log"))
    };
    users.iter().map(name).collect()
}

fn existing(changes: &Changes, name: &UserName, context: &DdlContext<'_>) -> Result<Account, SqlError> {
    current(context.catalog, changes, name).ok_or_else(|| unknown(name))
}

/// 4027 for a role that has the user itself as a role. Every role has those that everybody has, so that these, and the roles that they have,
/// get no other ones.
fn check_loop(user: &UserName, role: &UserName, context: &DdlContext<'_>) -> Result<(), SqlError> {
    // Every role of a statement goes to every user of it: a loop of several new grants has one of a single new grant in it.
    let given = context.mandatory_roles.iter().chain([role]);
    if user != role && !closure(context.catalog, given).iter().any(|account| account.name() == *user) {
        return Ok(());
    }
    let (user, role) = (user.quoted(), role.quoted());
    let message = format!(
        "User account {user} is directly or indirectly granted to the role {role}. The GRANT would create a loop"
    );
    Err(SqlError::new(codes::ROLE_GRANTED_TO_ITSELF, message))
}

fn unknown(name: &UserName) -> SqlError {
    SqlError::new(codes::UNKNOWN_AUTHID, format!("Unknown authorization ID {}", name.quoted()))
}

fn mandatory(role: &UserName) -> SqlError {
    let message = format!(
        "The role {} is a mandatory role and can't be revoked or dropped. The restriction can be lifted by excluding the role identifier \
         from the global variable mandatory_roles.",
        role.quoted()
    );
    SqlError::new(codes::MANDATORY_ROLE, message)
}
