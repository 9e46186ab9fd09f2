//! GRANT and REVOKE.

use std::collections::BTreeMap;

use base::{SqlError, codes};

use super::account::{Changes, current, planned};
use super::{DdlContext, PlannedDdl, no_database, no_such_table};
use crate::account::{Account, Level, Privilege, Privileges, chosen, find, same_name};
use crate::expr::WarningLevel;
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
    if let Some(grantor) = &grant.grantor {
        check_grantor(grantor, &named, context)?;
    }
    check_columns(&named, context)?;
    let mut changes = Changes::new();
    for name in &grant.users {
        let mut account = current(context.catalog, &changes, name).ok_or_else(|| {
            SqlError::new(codes::CANT_CREATE_USER_WITH_GRANT, "You are not allowed to create a user with GRANT")
        })?;
        match named.on {
            On::Everything | On::Global => grant_globally(&mut account, named.privileges),
            On::Database(database) => {
                let held = account.databases.entry(database.to_string()).or_default();
                *held = held.with(named.privileges);
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
    planned(changes, None)
}

pub(super) fn revoke(revoke: &Grant, context: &DdlContext<'_>) -> Result<PlannedDdl, SqlError> {
    let named = Named::of(revoke, context)?;
    let mut changes = Changes::new();
    for name in &revoke.users {
        let Some(mut account) = current(context.catalog, &changes, name) else {
            unknown_user(revoke, name, context)?;
            continue;
        };
        if let Err(error) = take_away(&mut account, &named) {
            if !revoke.if_exists {
                return Err(error);
            }
            context.warnings.push(WarningLevel::Warning, codes::NONEXISTING_GRANT, error.message);
            continue;
        }
        changes.insert(account.key(), Some(without_nothing(account)));
    }
    planned(changes, None)
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

fn take_away(account: &mut Account, named: &Named<'_>) -> Result<(), SqlError> {
    match named.on {
        On::Everything => {
            account.global = Privileges::default();
            account.grantable = Privileges::default();
            account.databases.clear();
            account.tables.clear();
            account.columns.clear();
        }
        On::Global => {
            account.global = account.global.without(named.privileges);
            account.grantable = account.grantable.without(named.privileges);
        }
        On::Database(database) => {
            let name = account.name();
            let held = account.databases.get_mut(database).ok_or_else(|| no_such_grant(&name, None))?;
            *held = held.without(named.privileges);
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

/// GRANT … AS: an account that has what it grants. That is all that it is here: partial revokes, which it would pass on, there are none.
fn check_grantor(grantor: &GrantAs, named: &Named<'_>, context: &DdlContext<'_>) -> Result<(), SqlError> {
    if !matches!(named.on, On::Global) {
        let message = "GRANT ... AS is currently supported only for global privileges.";
        return Err(SqlError::new(codes::UNSUPPORTED_USE_OF_GRANT_AS, message));
    }
    let is_valid = || {
        let account = find(context.catalog, &grantor.user)?;
        let choice = grantor.roles.as_ref().unwrap_or(&RoleChoice::Default);
        chosen(&account, choice, context.mandatory_roles).ok()
    };
    // What a log says was checked where it was made.
    if context.is_logged || is_valid().is_some() {
        return Ok(());
    }
    let message = "Either some of the authorization IDs in the AS clause are invalid or the current user lacks privileges to execute the \
                   statement.";
    Err(SqlError::new(codes::UNKNOWN_AUTHID_OR_ACCESS_DENIED_IN_GRANT_AS, message))
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
    for item in &grant.privileges {
        for column in &item.columns {
            let privilege = Privileges::of(by_name(&item.name)?);
            match found.iter_mut().find(|(known, _)| same_name(known, column)) {
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
