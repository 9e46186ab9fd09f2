//! What the options of CREATE USER and ALTER USER make of an account, and what a new password does.

use base::{SqlError, codes};
use types::json::{self, Json, Object};

use super::DdlContext;
use crate::account::{Account, SOCKET_PLUGIN, remember};
use crate::parse::ast::{Expire, KeepPassword, OrDefault, UserAttribute, UserName, UserOptions};

/// The options.
pub(super) fn apply(account: &mut Account, options: &UserOptions, context: &DdlContext<'_>) -> Result<(), SqlError> {
    if let Some(requires) = &options.requires {
        account.requires = requires.clone();
    }
    let limits = &mut account.limits;
    for (place, limit) in [
        (&mut limits.queries, options.queries),
        (&mut limits.updates, options.updates),
        (&mut limits.connections, options.connections),
        (&mut limits.at_once, options.at_once),
    ] {
        *place = limit.unwrap_or(*place);
    }
    account.locked = options.locked.unwrap_or(account.locked);
    let rules = &mut account.password;
    match options.expire {
        None => {}
        Some(Expire::Now) => rules.expired = true,
        Some(Expire::Never) => rules.lifetime = Some(0),
        Some(Expire::Default) => rules.lifetime = None,
        Some(Expire::Days(days)) => rules.lifetime = Some(days),
    }
    if options.expire.is_some() && rules.changed == 0 {
        // It is from a time when that was not kept.
        rules.changed = context.timestamp;
    }
    rules.history = options.history.map_or(rules.history, OrDefault::own);
    rules.reuse_days = options.reuse_days.map_or(rules.reuse_days, OrDefault::own);
    rules.require_current = options.require_current.map_or(rules.require_current, OrDefault::own);
    rules.attempts = options.attempts.unwrap_or(rules.attempts);
    rules.lock_days = options.lock_days.unwrap_or(rules.lock_days);
    if let Some(attribute) = &options.attribute {
        account.attribute = Some(with_attribute(account.attribute.as_deref(), attribute)?);
    }
    Ok(())
}

/// The attributes with what is said of them: members that are NULL go.
fn with_attribute(before: Option<&str>, change: &UserAttribute) -> Result<String, SqlError> {
    let patch = match change {
        UserAttribute::Comment(comment) => {
            let mut object = Object::default();
            object.set("comment", Json::String(comment.clone()));
            Json::Object(object)
        }
        UserAttribute::Attribute(text) => match json::parse(text) {
            Ok(object @ Json::Object(_)) => object,
            _ => {
                let message = "The user attribute must be a valid JSON object";
                return Err(SqlError::new(codes::INVALID_USER_ATTRIBUTE_JSON, message));
            }
        },
    };
    let before = before.and_then(|text| json::parse(text).ok()).unwrap_or_default();
    Ok(before.merge_patch(patch).to_text())
}

/// Another password, or another method; the password before it may stay beside it.
pub(super) fn change_password(
    account: &mut Account,
    (plugin, authentication): (String, String),
    keep: KeepPassword,
    name: &UserName,
) -> Result<(), SqlError> {
    if keep == KeepPassword::Retain {
        let refused = |code, why: &str| {
            let message = format!("Current password can not be retained for user {name} because {why}.");
            Err(SqlError::new(code, message))
        };
        if plugin != account.plugin {
            let code = codes::PASSWORD_CANNOT_BE_RETAINED_ON_PLUGIN_CHANGE;
            return refused(code, "authentication plugin is being changed");
        }
        if authentication.is_empty() {
            return refused(codes::CURRENT_PASSWORD_CANNOT_BE_RETAINED, "new password is empty");
        }
        if account.authentication.is_empty() {
            let message = format!("Empty password can not be retained as second password for user {name}.");
            return Err(SqlError::new(codes::SECOND_PASSWORD_CANNOT_BE_EMPTY, message));
        }
        account.second = std::mem::take(&mut account.authentication);
    } else if plugin != account.plugin || authentication.is_empty() {
        account.second.clear();
    }
    if plugin != account.plugin {
        account.past.clear();
    }
    (account.plugin, account.authentication) = (plugin, authentication);
    Ok(())
}

/// The account has a new password, which it may not get again for a while.
pub(super) fn remember_password(account: &mut Account, context: &DdlContext<'_>) {
    if account.authentication.is_empty() || account.plugin == SOCKET_PLUGIN {
        return;
    }
    let policy = context.reuse_policy.of(&account.password);
    let now = context.now().0;
    remember(&mut account.past, &account.authentication, policy, now);
}
