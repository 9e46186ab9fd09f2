//! Definitions: from a parsed statement and a catalog to an [`engine::CatalogChange`], and back to SQL text.
//!
//! ```text
//!   session:  text ── parse ── plan ──> change + text for the log ──> engine ──> QUERY event
//!   replay:   QUERY event ── parse ── plan ──> the same change                (Planner)
//! ```
//!
//! # Invariants
//! - Planning is pure: the same statement, context and catalog give the same change. What depends on anything else (a
//!   password's salt, the session's own account) is put in the text before it is logged.
//! - The text that is logged gives, on the catalog before it, the change that was made.

mod absent;
mod account;
mod account_options;
mod alter;
mod column;
mod create;
mod database;
mod default;
pub(crate) mod foreign_key;
mod grant;
mod index;
mod mapper;
mod planner;
mod render;
mod render_user;
mod role;
mod table;

use std::sync::Arc;

use base::{SqlError, UnixMicros, codes};
use engine::{Catalog, CatalogChange, EngineError};
use jiff::tz::TimeZone;
use types::CollationId;
use types::charset::Charset;

use crate::account::ReusePolicy;
use crate::expr::{SqlMode, Warnings};
use crate::parse::LogChanges;
use crate::parse::ast::{Ddl, RowOrder, TableName, UserName};

use account::UserChanges;
pub(crate) use account::check_plugin;
pub(crate) use column::column_of_function;
pub(crate) use create::with_selected;
pub(crate) use default::{local_default, with_local_defaults};
pub(crate) use grant::{column_privileges, no_such_grantor, privileges};
pub use planner::Planner;
pub(crate) use render::{
    AS_IN_MARIADB, OF_FILES, PARTIAL_REVOKES, create_database, create_table, default_text_of, grants, quote_identifier,
    quote_string, row_order_said, says_as_in_mariadb, says_partial_revokes, shown_default, value_text,
};
pub(crate) use render_user::create_user;
pub(crate) use syntax::names::{check_database_name, check_length, check_name, check_table_name, no_database};
pub(crate) use table::check_distinct;

/// On what a definition depends besides its text.
#[derive(Clone, Copy)]
pub struct DdlContext<'a> {
    /// What exists.
    pub catalog: &'a Catalog,
    /// The default database.
    pub database: Option<&'a str>,
    /// Strictness, NO_ENGINE_SUBSTITUTION.
    pub sql_mode: SqlMode,
    /// Of `collation_connection`: the bytes that a text is for a column of bytes.
    pub character_set: Charset,
    /// `collation_server`: of new databases.
    pub collation_server: CollationId,
    /// `default_collation_for_utf8mb4`
    pub utf8mb4_collation: CollationId,
    /// When the statement began, in seconds since 1970: what CURRENT_TIMESTAMP puts into existing rows.
    pub timestamp: u32,
    /// Its fraction, in microseconds.
    pub microseconds: u32,
    /// `time_zone`, for the same.
    pub time_zone: &'a TimeZone,
    /// `sql_require_primary_key`
    pub require_primary_key: bool,
    /// `foreign_key_checks`; off where a log is applied.
    pub foreign_key_checks: bool,
    /// The definition is out of a log: it was accepted where it was made, and how it was done there says nothing here.
    pub is_logged: bool,
    /// It is from the log of a MariaDB.
    pub is_of_maria: bool,
    /// The order in which rows are numbered, where the log says it.
    pub row_order: Option<RowOrder>,
    /// `partial_revokes`, where the statement is made.
    pub partial_revokes: bool,
    /// `mandatory_roles`, where the statement is made.
    pub mandatory_roles: &'a [UserName],
    /// `password_history` and `password_reuse_interval`, where the statement is made.
    pub reuse_policy: ReusePolicy,
    /// `auto_increment_increment` and `auto_increment_offset`: the numbers that existing rows get.
    pub auto_increment: (u64, u64),
    /// Where notes and warnings go.
    pub warnings: &'a Warnings,
}

/// What a definition does.
pub struct PlannedDdl {
    /// To the catalog.
    pub change: CatalogChange,
    /// What the log shall say, if it is not the statement as it was written.
    pub log_text: Option<String>,
    /// Where the log says something else than what was written.
    pub log_changes: LogChanges,
    /// Rows in the OK packet (databases count).
    pub affected_rows: u64,
    /// A MySQL copies the table's rows for it.
    pub is_copied: bool,
    /// Has, when the change is made, what is to be said of its rows.
    pub row_warnings: Arc<Warnings>,
}

impl PlannedDdl {
    fn new(change: CatalogChange) -> Self {
        PlannedDdl {
            change,
            log_text: None,
            log_changes: LogChanges::default(),
            affected_rows: 0,
            is_copied: false,
            row_warnings: Arc::default(),
        }
    }

    /// `IF EXISTS` and its kin: nothing to do, but the log says it, as MySQL's does.
    fn nothing() -> Self {
        PlannedDdl::new(CatalogChange::Nothing)
    }
}

/// The error of a definition whose rows collide: where a MySQL copies them, the numbers of AUTO_INCREMENT have to do with it if the first key
/// begins with its column.
pub(crate) fn collision(error: EngineError, is_copied: bool) -> SqlError {
    if let EngineError::DuplicateKey(duplicate) = &error
        && is_copied
    {
        let (def, number) = (&duplicate.table.def, duplicate.index_number);
        let index = &def.indexes[number];
        if number == usize::from(def.generated_pk) && def.columns[index.parts[0].column].auto_increment {
            let message = format!(
                "ALTER TABLE causes auto_increment resequencing, resulting in duplicate entry '{}' for key '{}.{}'",
                duplicate.entry(),
                def.name,
                index.name
            );
            return SqlError::new(codes::DUP_ENTRY, message);
        }
    }
    error.into()
}

/// Plans any definition. Passwords have been hashed before ([`account::AuthSecret::Hash`](crate::parse::ast::AuthSecret)).
pub fn plan_ddl(ddl: &Ddl, context: &DdlContext<'_>) -> Result<PlannedDdl, SqlError> {
    match ddl {
        Ddl::CreateDatabase { name, if_not_exists, options } => {
            database::create(name, *if_not_exists, options, context)
        }
        Ddl::AlterDatabase { name, options } => database::alter(name.as_deref(), options, context),
        Ddl::DropDatabase { name, if_exists } => database::drop(name, *if_exists, context),
        Ddl::CreateTable(create) => create::create(create, context),
        Ddl::DropTables { tables, if_exists, .. } => table::drop(tables, *if_exists, context),
        Ddl::AlterTable(alter) => alter::alter(alter, context),
        Ddl::Truncate(table) => table::truncate(table, context),
        Ddl::RenameTables { pairs, if_exists } => table::rename(pairs, *if_exists, context),
        Ddl::CreateUser { users, if_not_exists: conditional, options, roles } => {
            account::create(&UserChanges { users, conditional: *conditional, options, roles }, context)
        }
        Ddl::AlterUser { users, if_exists: conditional, options } => {
            account::alter(&UserChanges { users, conditional: *conditional, options, roles: &[] }, context)
        }
        Ddl::DropUser { users, if_exists } => account::drop(users, *if_exists, context),
        Ddl::DropAbsent { kind, names, if_exists } => absent::drop(*kind, names, *if_exists, context),
        Ddl::RenameUser(pairs) => account::rename(pairs, context),
        Ddl::Grant(grant) => grant::grant(grant, context),
        Ddl::Revoke(grant) => grant::revoke(grant, context),
        Ddl::CreateRole { roles, if_not_exists } => role::create(roles, *if_not_exists, context),
        Ddl::DropRole { roles, if_exists } => role::drop(roles, *if_exists, context),
        Ddl::GrantRoles(grant) => role::grant(grant, context),
        Ddl::RevokeRoles(grant) => role::revoke(grant, context),
        Ddl::DefaultRoles { roles, users } => role::set_defaults(roles, users, context),
    }
}

/// Databases that are made by the server.
pub(crate) const SYSTEM_DATABASES: &[&str] = &["information_schema", "performance_schema", "mysql", "sys"];

pub(crate) fn is_system_database(name: &str) -> bool {
    SYSTEM_DATABASES.iter().any(|system| system.eq_ignore_ascii_case(name))
}

impl DdlContext<'_> {
    /// Database and name of a table, both checked.
    fn resolve(&self, table: &TableName) -> Result<engine::TableName, SqlError> {
        let schema = match (&table.schema, self.database) {
            (Some(schema), _) => schema.as_str(),
            (None, Some(database)) => database,
            (None, None) => return Err(no_database()),
        };
        if is_system_database(schema) {
            return Err(access_denied(schema));
        }
        if self.catalog.database(schema).is_none() {
            return Err(unknown_database(schema));
        }
        Ok(engine::TableName::new(schema, &table.name))
    }

    /// When the statement began.
    fn now(&self) -> UnixMicros {
        UnixMicros(u64::from(self.timestamp) * 1_000_000 + u64::from(self.microseconds))
    }

    /// The table of that name (1146).
    fn table(&self, name: &engine::TableName) -> Result<&std::sync::Arc<engine::Table>, SqlError> {
        self.catalog.table(&name.schema, &name.name).ok_or_else(|| no_such_table(&name.schema, &name.name))
    }
}

pub(crate) fn unknown_database(name: &str) -> SqlError {
    SqlError::new(codes::BAD_DB_ERROR, format!("Unknown database '{name}'"))
}

pub(crate) fn no_such_table(schema: &str, name: &str) -> SqlError {
    SqlError::new(codes::NO_SUCH_TABLE, format!("Table '{schema}.{name}' doesn't exist"))
}

/// 1044 for a database that is the server's own.
fn access_denied(database: &str) -> SqlError {
    SqlError::new(
        codes::DBACCESS_DENIED_ERROR,
        format!("Access to database '{database}' is denied: it is the server's own"),
    )
}

fn table_exists(name: &str) -> SqlError {
    SqlError::new(codes::TABLE_EXISTS_ERROR, format!("Table '{name}' already exists"))
}

fn check_column_name(name: &str) -> Result<(), SqlError> {
    check_name(name, || wrong_column_name(name))
}

/// 1166 for a name that a query has for a column, and no table can have.
fn check_selected_name(name: &str) -> Result<(), SqlError> {
    check_length(name).map_err(|_| wrong_column_name(name))?;
    check_column_name(name)
}

fn wrong_column_name(name: &str) -> SqlError {
    SqlError::new(codes::WRONG_COLUMN_NAME, format!("Incorrect column name '{name}'"))
}

/// A comment of at most `max` characters (1628, 1629, 1688).
fn check_comment(comment: &str, max: usize, of: &str, code: codes::Code) -> Result<(), SqlError> {
    if comment.chars().count() > max {
        return Err(SqlError::new(code, format!("Comment for {of} is too long (max = {max})")));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
