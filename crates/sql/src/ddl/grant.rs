//! GRANT and REVOKE.

use std::collections::{BTreeMap, HashMap};

use base::{SqlError, codes};

use super::account::{Changes, current, planned};
use super::{DdlContext, PlannedDdl, no_database, no_such_table, role};
use crate::account::{Account, Level, Privilege, Privileges, chosen, find, same_name, with_roles};
use crate::expr::WarningLevel;
use crate::parse::LogChanges;
use crate::parse::ast::{Grant, GrantAs, GrantLevel, RoleChoice, UserName};

/// Privileges by column, with the columns as they were written.
type ByColumn = Vec<(String, Privileges)>;

/// What a GRANT or REVOKE names, with the names of its database and table.
struct Named<'a> {
    privileges: Privileges,
    columns: ByColumn,
    on: On<'a>,
}

enum On<'a> {
    Everything,
    Global,
    Database(&'a str),
    Table(&'a str, &'a str),
}

pub(super) fn grant(grant: &Grant, context: &DdlContext<'_>) -> Result<PlannedDdl, SqlError> {
    let named = Named::of(grant, context)?;
    let grantor = grant.grantor.as_ref().map(|grantor| find_grantor(grantor, &named, context)).transpose()?;
    let of_grantor = grantor.as_ref().map(|grantor| &grantor.account.restrictions);
    check_columns(&named, context)?;
    let mut changes = Changes::new();
    for name in &grant.users {
        let mut account = current(context.catalog, &changes, name).ok_or_else(|| {
            SqlError::new(codes::CANT_CREATE_USER_WITH_GRANT, "You are not allowed to create a user with GRANT")
        })?;
        match named.on {
            On::Everything | On::Global => {
                account.join_restrictions(named.privileges, of_grantor.unwrap_or(&BTreeMap::new()));
                account.lift_where_granted();
                grant_globally(&mut account, named.privileges);
            }
            On::Database(database) => {
                let lifted = account.lift(database, named.privileges);
                let held = account.databases.entry(database.to_string()).or_default();
                *held = held.with(named.privileges.without(lifted));
            }
            On::Table(schema, table) => {
                let held = account.tables.entry(schema.to_string()).or_default().entry(table.to_string()).or_default();
                *held = held.with(named.privileges);
                for (column, privileges) in &named.columns {
                    let held = column_entry(&mut account, schema, table, column);
                    *held = held.with(*privileges);
                }
            }
        }
        changes.insert(account.key(), Some(without_nothing(account)));
    }
    let log_text = grantor.filter(|_| !context.is_logged).map(|grantor| grantor.render(grant));
    planned(changes, log_text)
}

pub(super) fn revoke(revoke: &Grant, context: &DdlContext<'_>) -> Result<PlannedDdl, SqlError> {
    let named = Named::of(revoke, context)?;
    let (mut changes, mut is_partial) = (Changes::new(), false);
    for name in &revoke.users {
        let Some(mut account) = current(context.catalog, &changes, name) else {
            unknown_user(revoke, name, context)?;
            continue;
        };
        let restricted = account.restrictions.clone();
        if let Err(error) = take_away(&mut account, &named, revoke, context) {
            if !revoke.if_exists {
                return Err(error);
            }
            context.warnings.push(WarningLevel::Warning, codes::NONEXISTING_GRANT, error.message);
            continue;
        }
        is_partial |= matches!(named.on, On::Database(_)) && account.restrictions != restricted;
        changes.insert(account.key(), Some(without_nothing(account)));
    }
    let planned = planned(changes, None)?;
    Ok(PlannedDdl { log_changes: LogChanges { is_partial_revoke: is_partial, ..planned.log_changes }, ..planned })
}

/// WITH GRANT OPTION is each dynamic privilege's own, and another one of all that are not dynamic.
fn grant_globally(account: &mut Account, granted: Privileges) {
    let grant_option = Privileges::of(Privilege::GrantOption);
    let dynamic = granted.dynamic();
    let fixed = granted.without(dynamic);
    if granted.contains(Privilege::GrantOption) {
        account.grantable = account.grantable.with(dynamic);
    }
    let only_dynamic = fixed.without(grant_option).is_empty() && !dynamic.is_empty();
    account.global = account.global.with(if only_dynamic { dynamic } else { granted });
}

fn take_away(
    account: &mut Account,
    named: &Named<'_>,
    revoke: &Grant,
    context: &DdlContext<'_>,
) -> Result<(), SqlError> {
    match named.on {
        On::Everything => {
            account.restrictions.clear();
            account.global = Privileges::default();
            account.grantable = Privileges::default();
            account.databases.clear();
            account.tables.clear();
            account.columns.clear();
        }
        On::Global => {
            account.lift_everywhere(named.privileges);
            account.global = account.global.without(named.privileges);
            account.grantable = account.grantable.without(named.privileges);
        }
        On::Database(database) => {
            let is_all = revoke.privileges.iter().any(|item| item.name == "ALL");
            take_from_database(account, database, named.privileges, is_all, context)?;
        }
        On::Table(schema, table) => {
            let name = account.name();
            let missing = || no_such_grant(&name, Some(table));
            if !account.granted_tables().contains(&(schema, table)) {
                return Err(missing());
            }
            // What is taken away from the table is taken from its columns too.
            if let Some(columns) = account.columns.get_mut(schema).and_then(|tables| tables.get_mut(table)) {
                columns.values_mut().for_each(|held| *held = held.without(named.privileges));
            }
            if let Some(held) = account.tables.get_mut(schema).and_then(|tables| tables.get_mut(table)) {
                *held = held.without(named.privileges);
            }
            for (column, privileges) in &named.columns {
                let held = column_entry(account, schema, table, column);
                if held.common(*privileges).is_empty() {
                    return Err(missing());
                }
                *held = held.without(*privileges);
            }
        }
    }
    Ok(())
}

/// What was granted on the database goes; of the rest, with `partial_revokes`, that which the account has globally is restricted there.
/// What it has in neither way is an error then (1141), but for ALL.
fn take_from_database(
    account: &mut Account,
    database: &str,
    wanted: Privileges,
    is_all: bool,
    context: &DdlContext<'_>,
) -> Result<(), SqlError> {
    let granted = account.databases.get(database).copied();
    let own = granted.unwrap_or_default().common(wanted);
    // Without the setting where the statement was made, it would have failed or changed nothing, and would not be in the log.
    let is_partial = context.partial_revokes || context.is_logged && own.is_empty();
    let is_missing = match granted {
        None if !is_partial => true,
        Some(_) if !is_partial || is_all => false,
        _ => !wanted.without(own).without(account.global).is_empty(),
    };
    if is_missing {
        return Err(no_such_grant(&account.name(), None));
    }
    if let Some(held) = account.databases.get_mut(database) {
        *held = held.without(wanted);
    }
    if is_partial {
        account.restrict(database, wanted.without(own).without(Privileges::of(Privilege::GrantOption)));
    }
    Ok(())
}

impl<'a> Named<'a> {
    fn of(grant: &'a Grant, context: &DdlContext<'a>) -> Result<Self, SqlError> {
        let on = match &grant.on {
            GrantLevel::Everything => On::Everything,
            GrantLevel::Global => On::Global,
            GrantLevel::Database(database) => {
                On::Database(database.as_deref().or(context.database).ok_or_else(no_database)?)
            }
            GrantLevel::Table(table) => {
                On::Table(table.schema.as_deref().or(context.database).ok_or_else(no_database)?, &table.name)
            }
        };
        let level = match on {
            On::Everything | On::Global => Level::Global,
            On::Database(_) => Level::Database,
            On::Table(..) => Level::Table,
        };
        Ok(Named { privileges: privileges(grant, level)?, columns: column_privileges(grant)?, on })
    }
}

/// Whose privileges count in GRANT … AS: an account and its active roles.
struct Grantor {
    account: Account,
    roles: Vec<UserName>,
}

impl Grantor {
    /// The statement as the log has it, which says what the roles are.
    fn render(&self, grant: &Grant) -> String {
        let names: Vec<&str> = grant.privileges.iter().map(|item| item.name.as_str()).collect();
        let users: Vec<String> = grant.users.iter().map(UserName::to_string).collect();
        let option = if grant.grant_option { " WITH GRANT OPTION" } else { "" };
        let roles = if self.roles.is_empty() { "NONE".to_owned() } else { role::list(&self.roles) };
        let (names, users, name) = (names.join(", "), users.join(","), self.account.name());
        format!("GRANT {names} ON *.* TO {users}{option} AS {name} WITH ROLE {roles}")
    }
}

/// GRANT … AS: an account whose restrictions what it grants has too.
fn find_grantor(grantor: &GrantAs, named: &Named<'_>, context: &DdlContext<'_>) -> Result<Grantor, SqlError> {
    if !matches!(named.on, On::Global) {
        let message = "GRANT ... AS is currently supported only for global privileges.";
        return Err(SqlError::new(codes::UNSUPPORTED_USE_OF_GRANT_AS, message));
    }
    let found = || {
        let account = find(context.catalog, &grantor.user)?;
        let roles = match (&grantor.roles, context.is_logged) {
            // What a log says was checked where it was made.
            (Some(RoleChoice::These(roles)), true) => roles.clone(),
            (choice, _) => {
                chosen(&account, choice.as_ref().unwrap_or(&RoleChoice::Default), context.mandatory_roles).ok()?
            }
        };
        Some(Grantor { account: with_roles(context.catalog, account, &roles, &roles), roles })
    };
    match found() {
        Some(grantor) => Ok(grantor),
        None if context.is_logged => Ok(Grantor { account: Account::default(), roles: Vec::new() }),
        None => Err(no_such_grantor()),
    }
}

/// 3836
pub(crate) fn no_such_grantor() -> SqlError {
    let message = "Either some of the authorization IDs in the AS clause are invalid or the current user lacks privileges to execute the \
                   statement.";
    SqlError::new(codes::UNKNOWN_AUTHID_OR_ACCESS_DENIED_IN_GRANT_AS, message)
}

/// The table of a GRANT has to be there, or to be one that may be created; its columns have to be there.
fn check_columns(named: &Named<'_>, context: &DdlContext<'_>) -> Result<(), SqlError> {
    let On::Table(schema, name) = named.on else { return Ok(()) };
    let Some(table) = context.catalog.table(schema, name) else {
        // A privilege on a table that is not there can only be the one to create it.
        let may_create = named.privileges.contains(Privilege::Create) && named.columns.is_empty();
        let is_virtual = crate::information_schema::system_database(schema).is_some();
        return if may_create || is_virtual { Ok(()) } else { Err(no_such_table(schema, name)) };
    };
    for (column, _) in &named.columns {
        if table.def.column_index(column).is_none() {
            return Err(SqlError::new(codes::BAD_FIELD_ERROR, format!("Unknown column '{column}' in '{name}'")));
        }
    }
    Ok(())
}

fn column_entry<'a>(account: &'a mut Account, schema: &str, table: &str, column: &str) -> &'a mut Privileges {
    let tables = account.columns.entry(schema.to_string()).or_default();
    let columns: &mut BTreeMap<String, Privileges> = tables.entry(table.to_string()).or_default();
    let known = columns.keys().find(|known| same_name(known, column)).cloned();
    columns.entry(known.unwrap_or_else(|| column.to_string())).or_default()
}

fn without_nothing(mut account: Account) -> Account {
    account.databases.retain(|_, privileges| !privileges.is_empty());
    account.tables.values_mut().for_each(|tables| tables.retain(|_, privileges| !privileges.is_empty()));
    account.tables.retain(|_, tables| !tables.is_empty());
    for tables in account.columns.values_mut() {
        tables.values_mut().for_each(|columns| columns.retain(|_, privileges| !privileges.is_empty()));
        tables.retain(|_, columns| !columns.is_empty());
    }
    account.columns.retain(|_, tables| !tables.is_empty());
    account
}

/// The privileges that a GRANT names for the whole of its level.
pub(crate) fn privileges(grant: &Grant, level: Level) -> Result<Privileges, SqlError> {
    let mut privileges = Privileges::default();
    for item in &grant.privileges {
        if !item.columns.is_empty() {
            if level != Level::Table {
                return Err(illegal());
            }
            continue;
        }
        if item.name == "ALL" {
            privileges = privileges.with(Privileges::all_at(level));
            continue;
        }
        let privilege = match Privilege::by_name(&item.name) {
            Some(privilege) => privilege,
            // Only a global privilege could be one that this server does not know; a role has no place here.
            None if level != Level::Global => return Err(illegal_level(&item.name)),
            None => by_name(&item.name)?,
        };
        if privilege == Privilege::Usage {
            continue;
        }
        if privilege.level() < level || privilege.level() == level {
            privileges = privileges.with(Privileges::of(privilege));
            continue;
        }
        return Err(match level {
            _ if privilege.is_dynamic() => illegal_level(privilege.name()),
            Level::Database => SqlError::new(codes::WRONG_USAGE, "Incorrect usage of DB GRANT and GLOBAL PRIVILEGES"),
            _ => illegal(),
        });
    }
    if grant.grant_option {
        privileges = privileges.with(Privileges::of(Privilege::GrantOption));
    }
    Ok(privileges)
}

/// Those that it names on columns.
pub(crate) fn column_privileges(grant: &Grant) -> Result<ByColumn, SqlError> {
    let mut found: ByColumn = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for item in &grant.privileges {
        for column in &item.columns {
            let privilege = Privileges::of(by_name(&item.name)?);
            let place = *places.entry(column.to_lowercase()).or_insert(found.len());
            match found.get_mut(place) {
                Some((_, privileges)) => *privileges = privileges.with(privilege),
                None => found.push((column.clone(), privilege)),
            }
        }
    }
    Ok(found)
}

fn by_name(name: &str) -> Result<Privilege, SqlError> {
    Privilege::by_name(name).ok_or_else(|| SqlError::new(codes::SYNTAX_ERROR, format!("Unknown privilege '{name}'")))
}

/// 3619
fn illegal_level(name: &str) -> SqlError {
    SqlError::new(codes::ILLEGAL_PRIVILEGE_LEVEL, format!("Illegal privilege level specified for {name}"))
}

fn illegal() -> SqlError {
    let message = "Illegal GRANT/REVOKE command; please consult the manual to see which privileges can be used";
    SqlError::new(codes::ILLEGAL_GRANT_FOR_TABLE, message)
}

/// 1141 on a database, 1147 on a table.
fn no_such_grant(name: &UserName, table: Option<&str>) -> SqlError {
    let (user, host) = (&name.user, &name.host);
    match table {
        None => {
            let message = format!("There is no such grant defined for user '{user}' on host '{host}'");
            SqlError::new(codes::NONEXISTING_GRANT, message)
        }
        Some(table) => {
            let message =
                format!("There is no such grant defined for user '{user}' on host '{host}' on table '{table}'");
            SqlError::new(codes::NONEXISTING_TABLE_GRANT, message)
        }
    }
}

/// REVOKE from an account that is not there.
fn unknown_user(revoke: &Grant, name: &UserName, context: &DdlContext<'_>) -> Result<(), SqlError> {
    if revoke.ignore_unknown {
        let message = format!("Authorization ID {} does not exist.", name.user);
        context.warnings.push(WarningLevel::Warning, codes::USER_DOES_NOT_EXIST, message);
        return Ok(());
    }
    Err(match &revoke.on {
        GrantLevel::Everything => {
            let message = "Can't revoke all privileges for one or more of the requested users";
            SqlError::new(codes::REVOKE_GRANTS, message)
        }
        GrantLevel::Table(table) => no_such_grant(name, Some(&table.name)),
        _ => no_such_grant(name, None),
    })
}
