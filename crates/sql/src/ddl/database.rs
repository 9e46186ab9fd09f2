//! CREATE, ALTER and DROP DATABASE.

use base::{SqlError, codes};
use engine::{CatalogChange, Database};
use types::CollationId;

use super::{DdlContext, PlannedDdl, access_denied, check_database_name, foreign_key, is_system_database, no_database};
use crate::charsets;
use crate::expr::WarningLevel;
use crate::parse::ast::DatabaseOptions;

pub(super) fn create(
    name: &str,
    if_not_exists: bool,
    options: &DatabaseOptions,
    context: &DdlContext<'_>,
) -> Result<PlannedDdl, SqlError> {
    check_database_name(name)?;
    // `mysql` is like a database that somebody has made: a dump of all of them begins with it.
    let own = name.eq_ignore_ascii_case("mysql");
    if is_system_database(name) && !own {
        return Err(access_denied(name));
    }
    if own || context.catalog.database(name).is_some() {
        let message = format!("Can't create database '{name}'; database exists");
        if !if_not_exists {
            return Err(SqlError::new(codes::DB_CREATE_EXISTS, message));
        }
        context.warnings.push(WarningLevel::Note, codes::DB_CREATE_EXISTS, message);
        return Ok(PlannedDdl { affected_rows: 1, ..PlannedDdl::nothing() });
    }
    let collation = collation(options, context)?.unwrap_or(context.collation_server);
    let change = CatalogChange::CreateDatabase(Database { name: name.to_string(), collation });
    Ok(PlannedDdl { affected_rows: 1, ..PlannedDdl::new(change) })
}

pub(super) fn alter(
    name: Option<&str>,
    options: &DatabaseOptions,
    context: &DdlContext<'_>,
) -> Result<PlannedDdl, SqlError> {
    let name = name.or(context.database).ok_or_else(no_database)?;
    if is_system_database(name) {
        return Err(access_denied(name));
    }
    let collation = collation(options, context)?;
    let database = context
        .catalog
        .database(name)
        .ok_or_else(|| SqlError::new(codes::NO_SUCH_DB, format!("Database '{name}' doesn't exist")))?;
    let collation = collation.unwrap_or(database.collation);
    let change = CatalogChange::AlterDatabase(Database { name: name.to_string(), collation });
    Ok(PlannedDdl { affected_rows: 1, ..PlannedDdl::new(change) })
}

pub(super) fn drop(name: &str, if_exists: bool, context: &DdlContext<'_>) -> Result<PlannedDdl, SqlError> {
    if is_system_database(name) {
        return Err(access_denied(name));
    }
    if context.catalog.database(name).is_none() {
        let message = format!("Can't drop database '{name}'; database doesn't exist");
        if !if_exists {
            return Err(SqlError::new(codes::DB_DROP_EXISTS, message));
        }
        context.warnings.push(WarningLevel::Note, codes::DB_DROP_EXISTS, message);
        return Ok(PlannedDdl::nothing());
    }
    for table in context.catalog.tables(name) {
        foreign_key::check_drop(table, |child| child.def.schema == name, context)?;
    }
    let tables = context.catalog.tables(name).count() as u64;
    Ok(PlannedDdl { affected_rows: tables, ..PlannedDdl::new(CatalogChange::DropDatabase(name.to_string())) })
}

fn collation(options: &DatabaseOptions, context: &DdlContext<'_>) -> Result<Option<CollationId>, SqlError> {
    context.collation_of(options.charset.as_deref(), options.collation.as_deref())
}

impl DdlContext<'_> {
    /// CHARACTER SET and COLLATE of a definition; `None` if neither was given.
    pub(super) fn collation_of(
        &self,
        charset: Option<&str>,
        collation: Option<&str>,
    ) -> Result<Option<CollationId>, SqlError> {
        let resolved = charsets::resolve(charset, collation)?;
        // CHARACTER SET utf8mb4 alone means what the session says it means.
        let says_utf8mb4 = charset.is_some_and(|name| name.eq_ignore_ascii_case("utf8mb4")) && collation.is_none();
        Ok(if says_utf8mb4 { Some(self.utf8mb4_collation) } else { resolved })
    }
}
