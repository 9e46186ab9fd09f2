//! What the session's account may do.

use base::{SqlError, codes};

use super::Session;
use super::rows::privilege_of;
use crate::account::Privilege;
use crate::parse::ast::TableName;
use crate::plan::TableUse;

impl Session {
    /// Privileges on the tables of a plan (1142).
    pub(super) fn check_table_uses(&mut self, uses: &[TableUse]) -> Result<(), SqlError> {
        if uses.is_empty() {
            return Ok(());
        }
        let account = self.account();
        for used in uses.iter().filter(|used| !used.temporary) {
            let privilege = privilege_of(used);
            if !account.global.has(privilege) && !account.on_table(&used.schema, &used.table).has(privilege) {
                return Err(self.table_denied(privilege.name(), &used.table));
            }
        }
        Ok(())
    }

    /// A privilege on a table that is named in a statement (1142).
    pub(crate) fn check_table(&mut self, privilege: Privilege, table: &TableName) -> Result<(), SqlError> {
        let schema = match table.schema.as_deref().or(self.database()) {
            Some(schema) => schema.to_string(),
            None => return Ok(()),
        };
        if self.account().on_table(&schema, &table.name).has(privilege) {
            return Ok(());
        }
        Err(self.table_denied(privilege.name(), &table.name))
    }

    /// Whether any privilege lets the account know of a table.
    pub(crate) fn sees_table(&mut self, schema: &str, table: &str) -> bool {
        !self.account().on_table(schema, table).list().is_empty()
    }

    /// A privilege on a database (1044).
    pub(crate) fn check_database(&mut self, privilege: Privilege, database: &str) -> Result<(), SqlError> {
        if self.account().on_database(database).has(privilege) {
            return Ok(());
        }
        Err(self.database_denied(database))
    }

    pub(crate) fn database_denied(&self, database: &str) -> SqlError {
        let who = &self.client.account;
        SqlError::new(codes::DBACCESS_DENIED_ERROR, format!("Access denied for user {who} to database '{database}'"))
    }

    fn table_denied(&self, privilege: &str, table: &str) -> SqlError {
        let (user, host) = (&self.client.user, &self.client.host);
        let message = format!("{privilege} command denied to user '{user}'@'{host}' for table '{table}'");
        SqlError::new(codes::TABLEACCESS_DENIED_ERROR, message)
    }

    /// One of several global privileges (1227).
    pub(crate) fn check_global(&mut self, any_of: &[Privilege]) -> Result<(), SqlError> {
        let global = self.account().global;
        if any_of.iter().any(|privilege| global.has(*privilege)) {
            return Ok(());
        }
        let mut names: Vec<&str> = any_of.iter().map(|privilege| privilege.name()).collect();
        if any_of.iter().any(|privilege| privilege.name().contains('_')) {
            names.insert(0, "SUPER");
        }
        let message = format!(
            "Access denied; you need (at least one of) the {} privilege(s) for this operation",
            names.join(" or ")
        );
        Err(SqlError::new(codes::SPECIFIC_ACCESS_DENIED_ERROR, message))
    }

    /// Whether the account writes although `read_only` is ON.
    pub(crate) fn may_write_in_spite_of_read_only(&mut self) -> bool {
        self.account().global.has(Privilege::ConnectionAdmin)
    }

    /// 1290 while the server is read-only for this session; 1792 in a READ ONLY transaction.
    pub(crate) fn check_writable(&mut self) -> Result<(), SqlError> {
        if self.transaction.open().is_some_and(|open| open.read_only) {
            return Err(engine::EngineError::ReadOnlyTransaction.into());
        }
        let globals = &self.shared.globals;
        if self.is_applier
            || !globals.read_only()
            || !globals.super_read_only() && self.may_write_in_spite_of_read_only()
        {
            return Ok(());
        }
        self.check_server_writable()
    }

    pub(crate) fn check_server_writable(&self) -> Result<(), SqlError> {
        let globals = &self.shared.globals;
        let option = match (globals.super_read_only(), globals.read_only()) {
            (true, _) => "--super-read-only",
            (false, true) => "--read-only",
            (false, false) => return Ok(()),
        };
        let message =
            format!("The MySQL server is running with the {option} option so it cannot execute this statement");
        Err(SqlError::new(codes::OPTION_PREVENTS_STATEMENT, message))
    }
}
