//! CREATE, ALTER, DROP and RENAME USER.

use std::collections::BTreeMap;

use base::{SqlError, codes};
use engine::{Catalog, CatalogChange};

use super::render_user::UserText;
use super::{DdlContext, PlannedDdl, account_options as options, role};
use crate::account::{Account, SOCKET_PLUGIN, find};
use crate::expr::WarningLevel;
use crate::parse::ast::{AuthSecret, AuthSpec, Expire, KeepPassword, UserName, UserOptions, UserSpec};

/// The plugin of accounts that name none.
pub(crate) const DEFAULT_PLUGIN: &str = "caching_sha2_password";
/// Plugins that a login knows.
const PLUGINS: &[&str] = &["caching_sha2_password", "mysql_native_password", "auth_socket", "unix_socket"];

/// Accounts as they become; `None` for those that go.
pub(super) type Changes = BTreeMap<String, Option<Account>>;

/// CREATE USER and ALTER USER: what they say of each account, and whether of all that is only what could be done.
pub(super) struct UserChanges<'a> {
    pub(super) users: &'a [UserSpec],
    /// IF NOT EXISTS, or IF EXISTS.
    pub(super) conditional: bool,
    pub(super) options: &'a UserOptions,
    /// DEFAULT ROLE of CREATE USER.
    pub(super) roles: &'a [UserName],
}

pub(super) fn create(create: &UserChanges<'_>, context: &DdlContext<'_>) -> Result<PlannedDdl, SqlError> {
    change_users(
        "CREATE USER",
        (codes::USER_ALREADY_EXISTS, "already exists"),
        create,
        context,
        |before, spec, name| {
            if before.is_some() {
                return Ok(None);
            }
            let (plugin, authentication) = stored(spec.auth.as_ref(), None)?;
            let mut account = Account::new(name, plugin, authentication);
            account.password.changed = context.timestamp;
            role::give_defaults(&mut account, create.roles, context)?;
            options::apply(&mut account, create.options, context)?;
            options::remember_password(&mut account, context);
            Ok(Some(account))
        },
    )
}

pub(super) fn alter(alter: &UserChanges<'_>, context: &DdlContext<'_>) -> Result<PlannedDdl, SqlError> {
    change_users("ALTER USER", (codes::USER_DOES_NOT_EXIST, "does not exist"), alter, context, |before, spec, name| {
        let Some(mut account) = before else { return Ok(None) };
        options::apply(&mut account, alter.options, context)?;
        if spec.auth.is_some() {
            let (plugin, authentication) = stored(spec.auth.as_ref(), Some(&account))?;
            options::change_password(&mut account, (plugin, authentication), spec.keep, name)?;
            account.password.changed = context.timestamp;
            // A method alone takes the password away without saying which one comes in its place.
            let is_method_alone = spec.auth.as_ref().is_some_and(|auth| auth.secret == AuthSecret::None);
            account.password.expired = alter.options.expire == Some(Expire::Now)
                || is_method_alone && account.plugin != SOCKET_PLUGIN && account.plugin != "unix_socket";
            options::remember_password(&mut account, context);
        }
        if spec.keep == KeepPassword::Discard {
            account.second.clear();
        }
        Ok(Some(account))
    })
}

/// Makes of each account what `change` says; those of which it makes nothing have failed.
fn change_users(
    operation: &str,
    (code, failure): (codes::Code, &str),
    wanted: &UserChanges<'_>,
    context: &DdlContext<'_>,
    change: impl Fn(Option<Account>, &UserSpec, &UserName) -> Result<Option<Account>, SqlError>,
) -> Result<PlannedDdl, SqlError> {
    let &UserChanges { users, conditional, options, roles } = wanted;
    let mut changes = Changes::new();
    let mut failed = Vec::new();
    for spec in users {
        let name = named(spec)?;
        match change(current(context.catalog, &changes, name), spec, name)? {
            Some(account) => _ = changes.insert(account.key(), Some(account)),
            None => failed.push(name),
        }
    }
    refuse_or_note(operation, &failed, conditional, (code, failure), context)?;
    let (reuse_policy, sql_mode) = (context.reuse_policy, context.sql_mode);
    let is_role = |name: &&UserName| find(context.catalog, name).is_some_and(|account| account.is_role);
    let are_roles: Vec<UserName> =
        users.iter().filter_map(|spec| spec.name.as_ref()).filter(is_role).cloned().collect();
    let are_roles = &are_roles[..];
    let text = UserText { verb: operation, users, conditional, roles, options, reuse_policy, sql_mode, are_roles };
    planned(changes, Some(text.render()))
}

pub(super) fn drop(users: &[UserName], if_exists: bool, context: &DdlContext<'_>) -> Result<PlannedDdl, SqlError> {
    let mut changes = role::drop_accounts("DROP USER", users, if_exists, context)?;
    // MariaDB drops its roles by DROP ROLE only.
    let text = role::are_roles(&changes, context).then(|| role::drop_text("DROP ROLE", users, if_exists));
    role::forget(&mut changes, context);
    planned(changes, text)
}

pub(super) fn rename(pairs: &[(UserName, UserName)], context: &DdlContext<'_>) -> Result<PlannedDdl, SqlError> {
    let mut changes = Changes::new();
    for (from, to) in pairs {
        let account = current(context.catalog, &changes, from);
        let (Some(account), false) = (account, exists(context.catalog, &changes, to)) else {
            return Err(cannot("RENAME USER", &[from.to_string()]));
        };
        role::check_renamed(from, context)?;
        changes.insert(account.key(), None);
        let renamed = Account { user: to.user.clone(), host: to.host.clone(), ..account };
        changes.insert(renamed.key(), Some(renamed));
    }
    planned(changes, None)
}

/// Plugin and stored secret of an account; what is not said stays as it was.
fn stored(auth: Option<&AuthSpec>, before: Option<&Account>) -> Result<(String, String), SqlError> {
    let plugin = match (auth.and_then(|auth| auth.plugin.as_deref()), before) {
        (Some(plugin), _) => plugin,
        (None, Some(account)) => account.plugin.as_str(),
        (None, None) => DEFAULT_PLUGIN,
    };
    check_plugin(plugin)?;
    let authentication = match auth.map(|auth| &auth.secret) {
        Some(AuthSecret::Hash(hash)) => hash.clone(),
        None | Some(AuthSecret::None) => String::new(),
        // A password in the clear never gets here: the session hashes it before it plans.
        Some(AuthSecret::Password(password)) if password.is_empty() => String::new(),
        Some(AuthSecret::Password(_) | AuthSecret::Random) => {
            return Err(SqlError::unknown("a password that was not hashed in a definition"));
        }
    };
    Ok((plugin.to_string(), authentication))
}

/// 1524 for a method that is not here.
pub(crate) fn check_plugin(plugin: &str) -> Result<(), SqlError> {
    match PLUGINS.contains(&plugin) {
        true => Ok(()),
        false => Err(SqlError::new(codes::PLUGIN_IS_NOT_LOADED, format!("Plugin '{plugin}' is not loaded"))),
    }
}

fn named(spec: &UserSpec) -> Result<&UserName, SqlError> {
    spec.name.as_ref().ok_or_else(|| SqlError::unknown("USER() in a definition out of a log"))
}

pub(super) fn current(catalog: &Catalog, changes: &Changes, name: &UserName) -> Option<Account> {
    match changes.get(&crate::account::key(&name.user, &name.host)) {
        Some(changed) => changed.clone(),
        None => find(catalog, name),
    }
}

fn exists(catalog: &Catalog, changes: &Changes, name: &UserName) -> bool {
    current(catalog, changes, name).is_some()
}

fn cannot(operation: &str, users: &[String]) -> SqlError {
    SqlError::new(codes::CANNOT_USER, format!("Operation {operation} failed for {}", users.join(",")))
}

pub(super) fn refuse_or_note(
    operation: &str,
    failed: &[&UserName],
    conditional: bool,
    (code, what): (codes::Code, &str),
    context: &DdlContext<'_>,
) -> Result<(), SqlError> {
    if failed.is_empty() {
        return Ok(());
    }
    if !conditional {
        let names: Vec<String> = failed.iter().map(|name| format!("{name} (User account {what})")).collect();
        return Err(cannot(operation, &names));
    }
    for name in failed {
        context.warnings.push(WarningLevel::Note, code, format!("Authorization ID {name} {what}."));
    }
    Ok(())
}

pub(super) fn planned(changes: Changes, log_text: Option<String>) -> Result<PlannedDdl, SqlError> {
    if changes.is_empty() {
        return Ok(PlannedDdl::nothing());
    }
    let mut accounts = Vec::with_capacity(changes.len());
    for (key, account) in changes {
        let json = match account {
            Some(account) => Some(serde_json::to_value(&account).map_err(SqlError::unknown)?),
            None => None,
        };
        accounts.push((key, json));
    }
    Ok(PlannedDdl { log_text, ..PlannedDdl::new(CatalogChange::Accounts(accounts)) })
}
