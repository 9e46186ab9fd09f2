//! What the session's account may do.

use base::{SqlError, codes};

use super::Session;
use super::rows::privilege_of;
use crate::account::{Account, Level, Privilege, Privileges};
use crate::parse::ast::TableName;
use crate::plan::{TableUse, UsedColumns};

impl Session {
    /// Privileges on the tables of a plan: on all of them (1142) before those on their columns (1143).
    pub(super) fn check_table_uses(&mut self, uses: &[TableUse]) -> Result<(), SqlError> {
        if uses.is_empty() {
            return Ok(());
        }
        let (account, mut of_columns) = (self.account(), Vec::new());
        for used in uses.iter().filter(|used| !used.temporary) {
            let privilege = privilege_of(used);
            if account.global_on(&used.schema).has(privilege) && used.columns != UsedColumns::Locked {
                continue;
            }
            let held = account.on_table(&used.schema, &used.table);
            if used.columns == UsedColumns::Locked {
                let locks = [Privilege::Update, Privilege::Delete, Privilege::LockTables];
                let held = account.on_any_column(&used.schema, &used.table).with(held);
                if !locks.iter().any(|lock| held.has(*lock)) {
                    return Err(self.table_denied("SELECT with locking clause", &used.table));
                }
                continue;
            }
            if held.has(privilege) {
                continue;
            }
            let columns = match &used.columns {
                // What needs no more than some column of the table, and those that are named.
                UsedColumns::Named(columns) | UsedColumns::All(columns)
                    if account.on_any_column(&used.schema, &used.table).has(privilege) =>
                {
                    columns
                }
                // The statement may change the table by another privilege, and reads columns for that.
                UsedColumns::Read(columns) => columns,
                UsedColumns::Joined(columns)
                    if [privilege, Privilege::Select, Privilege::Update]
                        .iter()
                        .any(|any| account.on_any_column(&used.schema, &used.table).has(*any)) =>
                {
                    columns
                }
                _ => return Err(self.table_denied(privilege.name(), &used.table)),
            };
            of_columns.push((used, columns));
        }
        of_columns.into_iter().try_for_each(|(used, columns)| self.check_columns(used, columns, &account))
    }

    /// A privilege on columns of a table for whose whole the account does not have it.
    fn check_columns(&self, used: &TableUse, columns: &[usize], account: &Account) -> Result<(), SqlError> {
        let (privilege, catalog) = (privilege_of(used), self.catalog());
        let Some(table) = catalog.table(&used.schema, &used.table) else { return Ok(()) };
        let names: Vec<&str> =
            columns.iter().filter_map(|&column| table.def.columns.get(column)).map(|def| def.name.as_str()).collect();
        let granted = |column: &str| account.granted_on_column(&used.schema, &used.table, column);
        let Some(denied) = names.iter().position(|column| !granted(column).has(privilege)) else { return Ok(()) };
        // As in MySQL: an account with a privilege on some columns does not learn the names of the others from `*`.
        let is_known = |column: &&str| !granted(column).is_empty();
        if matches!(used.columns, UsedColumns::All(_)) && names[..denied].iter().any(is_known) {
            return Err(self.table_denied(privilege.name(), &used.table));
        }
        Err(self.column_denied(privilege.name(), names[denied], &used.table))
    }

    /// 1143
    fn column_denied(&self, privilege: &str, column: &str, table: &str) -> SqlError {
        let (user, host) = (&self.client.user, &self.client.host);
        let message =
            format!("{privilege} command denied to user '{user}'@'{host}' for column '{column}' in table '{table}'");
        SqlError::new(codes::COLUMNACCESS_DENIED_ERROR, message)
    }

    /// A privilege on a table that is named in a statement (1142).
    pub(crate) fn check_table(&mut self, privilege: Privilege, table: &TableName) -> Result<(), SqlError> {
        self.check_table_for(&[privilege], table)
    }

    /// Several privileges on a table that is named in a statement (1142, which names those that are missing).
    pub(crate) fn check_table_for(&mut self, all_of: &[Privilege], table: &TableName) -> Result<(), SqlError> {
        let schema = match table.schema.as_deref().or(self.database()) {
            Some(schema) => schema.to_string(),
            None => return Ok(()),
        };
        let held = self.account().on_table(&schema, &table.name);
        let missing: Vec<&str> =
            all_of.iter().filter(|privilege| !held.has(**privilege)).map(|privilege| privilege.name()).collect();
        if missing.is_empty() { Ok(()) } else { Err(self.table_denied(&missing.join(", "), &table.name)) }
    }

    /// Whether the account may enter a database; `information_schema` is everybody's.
    pub(crate) fn enters_database(&mut self, database: &str) -> bool {
        match crate::information_schema::system_database(database) {
            Some("information_schema") => true,
            system => self.account().enters_database(system.unwrap_or(database)),
        }
    }

    /// Whether the account may ask which tables a database has: it enters it, or something was granted on one of them.
    pub(crate) fn lists_tables(&mut self, database: &str) -> bool {
        self.enters_database(database) || self.account().tables.contains_key(database)
    }

    /// Whether any privilege lets the account know of a table.
    pub(crate) fn sees_table(&mut self, schema: &str, table: &str) -> bool {
        self.account().sees_table(schema, table)
    }

    /// What SHOW COLUMNS, SHOW INDEX and CHECK TABLE need (1142).
    pub(crate) fn check_any_on_table(&mut self, schema: &str, table: &str) -> Result<(), SqlError> {
        let is_temporary = self.catalog().temporary_table(schema, table).is_some();
        if is_temporary || self.account().may_describe(schema, table) {
            return Ok(());
        }
        Err(self.table_denied(Privilege::Select.name(), table))
    }

    /// Any privilege on the whole of a table, which SHOW CREATE TABLE needs (1142).
    pub(crate) fn check_may_show(&mut self, schema: &str, table: &str) -> Result<(), SqlError> {
        let is_temporary = self.catalog().temporary_table(schema, table).is_some();
        let held = self.account().on_table(schema, table).common(Privileges::all_at(Level::Table));
        if is_temporary || !held.is_empty() {
            return Ok(());
        }
        Err(self.table_denied("SHOW", table))
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

    pub(super) fn table_denied(&self, privilege: &str, table: &str) -> SqlError {
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
        // SUPER stands for those that it was divided into.
        if any_of.iter().any(|privilege| Privileges::of(Privilege::Super).has(*privilege)) && names[0] != "SUPER" {
            names.insert(0, "SUPER");
        }
        Err(global_denied(&names))
    }

    /// One of several global privileges that SUPER does not stand for here (1227).
    pub(crate) fn check_global_itself(&mut self, any_of: &[Privilege]) -> Result<(), SqlError> {
        let global = self.account().global;
        if any_of.iter().any(|privilege| global.contains(*privilege)) {
            return Ok(());
        }
        Err(global_denied(&any_of.iter().map(|privilege| privilege.name()).collect::<Vec<_>>()))
    }

    /// Whether the account may do what FLUSH does (1227).
    pub fn check_may_reload(&mut self) -> Result<(), SqlError> {
        self.check_global(&[Privilege::Reload])
    }

    /// Whether the account writes although `read_only` is ON.
    pub(crate) fn may_write_in_spite_of_read_only(&mut self) -> bool {
        self.account().global.has(Privilege::ConnectionAdmin)
    }

    /// 1290 while the server is read-only for this session; 1792 in a READ ONLY transaction.
    pub(crate) fn check_writable(&mut self) -> Result<(), SqlError> {
        self.check_read_only_transaction()?;
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

/// 1227
fn global_denied(names: &[&str]) -> SqlError {
    let names = match names {
        [names @ .., last] if !names.is_empty() => format!("{} or {last}", names.join(", ")),
        names => names.join(""),
    };
    let message = format!("Access denied; you need (at least one of) the {names} privilege(s) for this operation");
    SqlError::new(codes::SPECIFIC_ACCESS_DENIED_ERROR, message)
}
