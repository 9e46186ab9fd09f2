//! What the session's account may define.

use base::{SqlError, codes};

use super::Session;
use crate::account::{self, Level, Privilege, Privileges};
use crate::ddl;
use crate::parse::ast::{
    AbsentKind, AlterAction, AlterTable, CreateTable, Ddl, ForeignKeySpec, Grant, GrantAs, GrantLevel, RoleChoice,
    TableKey, TableName, UserName,
};

impl Session {
    /// The privileges that a definition needs. `ddl` is as it was written.
    pub(super) fn check_definition(&mut self, ddl: &Ddl) -> Result<(), SqlError> {
        match ddl {
            Ddl::CreateDatabase { name, .. } => self.check_database(Privilege::Create, name),
            Ddl::AlterDatabase { name, .. } => {
                let name = name.clone().or_else(|| self.info.database.clone()).ok_or_else(ddl::no_database)?;
                self.check_database(Privilege::Alter, &name)
            }
            Ddl::DropDatabase { name, .. } => self.check_database(Privilege::Drop, name),
            Ddl::CreateTable(create) => {
                self.check_own_database(&create.name)?;
                self.check_table(Privilege::Create, &create.name)?;
                self.check_parents(&create.name, create.keys.iter().filter_map(TableKey::foreign))?;
                create.like.as_ref().map_or(Ok(()), |like| self.check_table(Privilege::Select, like))
            }
            Ddl::DropTables { tables, .. } => {
                tables.iter().try_for_each(|table| self.check_table(Privilege::Drop, table))
            }
            Ddl::DropAbsent { kind: AbsentKind::View | AbsentKind::Sequence, names, .. } => {
                names.iter().try_for_each(|view| self.check_table(Privilege::Drop, view))
            }
            // Nothing shows whether there could be one: there is none.
            Ddl::DropAbsent { .. } => Ok(()),
            Ddl::Truncate(table) => self.check_table(Privilege::Drop, table),
            Ddl::RenameTables { pairs, .. } => pairs.iter().try_for_each(|(from, to)| self.check_rename(from, to)),
            Ddl::AlterTable(alter) => self.check_alter(alter),
            Ddl::AlterUser { users, options, .. } if self.is_only_own_password(users, options) => {
                self.check_second_password(users)
            }
            Ddl::CreateUser { users, roles, .. } => {
                self.check_accounts(Privilege::Insert)?;
                self.check_administers(roles)?;
                self.check_system_users(roles.iter())?;
                self.check_system_users(users.iter().filter_map(|user| user.name.as_ref()))
            }
            Ddl::AlterUser { users, .. } => {
                self.check_accounts(Privilege::Update)?;
                self.check_system_users(users.iter().filter_map(|user| user.name.as_ref()))
            }
            Ddl::DropUser { users, .. } => {
                self.check_accounts(Privilege::Delete)?;
                self.check_system_users(users.iter())
            }
            Ddl::RenameUser(pairs) => {
                self.check_accounts(Privilege::Update)?;
                self.check_system_users(pairs.iter().flat_map(|(from, to)| [from, to]))
            }
            Ddl::Grant(grant) | Ddl::Revoke(grant) => {
                self.check_may_grant(grant)?;
                let grants = matches!(ddl, Ddl::Grant(_));
                if !grants {
                    self.check_may_revoke_everywhere(grant)?;
                }
                self.check_grant_to_mandatory(grant, grants)?;
                self.check_system_users(grant.users.iter())
            }
            Ddl::CreateRole { .. }
            | Ddl::DropRole { .. }
            | Ddl::GrantRoles(_)
            | Ddl::RevokeRoles(_)
            | Ddl::DefaultRoles { .. } => self.check_roles_defined(ddl),
        }
    }

    /// CREATE TABLE … SELECT: the table, before what it is filled from.
    pub(super) fn check_may_select_into(&mut self, create: &CreateTable) -> Result<(), SqlError> {
        if create.temporary {
            let schema = self.schema_of(&create.name)?;
            return self.check_database(Privilege::CreateTemporaryTables, &schema);
        }
        self.check_own_database(&create.name)?;
        self.check_table_for(&[Privilege::Insert, Privilege::Create], &create.name)
    }

    /// No table is made where the server's own are (1044).
    fn check_own_database(&self, table: &TableName) -> Result<(), SqlError> {
        match table.schema.as_deref().and_then(crate::information_schema::system_database) {
            Some(system) if system != "mysql" => Err(self.database_denied(system)),
            _ => Ok(()),
        }
    }

    /// CREATE USER, or the privilege to change the tables in which MySQL has accounts.
    pub(super) fn check_accounts(&mut self, of_tables: Privilege) -> Result<(), SqlError> {
        if self.account().on_database("mysql").has(of_tables) {
            return Ok(());
        }
        self.check_global(&[Privilege::CreateUser])
    }

    fn check_alter(&mut self, alter: &AlterTable) -> Result<(), SqlError> {
        let privilege = if alter.of_index { Privilege::Index } else { Privilege::Alter };
        self.check_table(privilege, &alter.table)?;
        let foreign_keys = alter.actions.iter().filter_map(|action| match action.unconditional() {
            AlterAction::AddForeignKey(key) => Some(key),
            _ => None,
        });
        self.check_parents(&alter.table, foreign_keys)?;
        // Of several names the last one counts.
        let rename = alter.actions.iter().rev().find_map(|action| match action {
            AlterAction::Rename(to) => Some(to),
            _ => None,
        });
        rename.map_or(Ok(()), |to| self.check_rename(&alter.table, to))
    }

    /// A foreign key tells which keys its parent has, and keeps the parent's rows: that needs REFERENCES on the parent.
    fn check_parents<'k>(
        &mut self,
        child: &TableName,
        mut keys: impl Iterator<Item = &'k ForeignKeySpec>,
    ) -> Result<(), SqlError> {
        keys.try_for_each(|key| {
            let schema = key.parent.schema.clone().or_else(|| child.schema.clone());
            let Some(schema) = schema.or_else(|| self.info.database.clone()) else { return Ok(()) };
            let parent = &key.parent.name;
            if self.account().on_table(&schema, parent).has(Privilege::References) {
                return Ok(());
            }
            Err(self.table_denied(Privilege::References.name(), &format!("{schema}.{parent}")))
        })
    }

    fn check_rename(&mut self, from: &TableName, to: &TableName) -> Result<(), SqlError> {
        self.check_table_for(&[Privilege::Drop, Privilege::Alter], from)?;
        self.check_table_for(&[Privilege::Insert, Privilege::Create], to)
    }

    /// Accounts with SYSTEM_USER are changed by accounts with SYSTEM_USER only: otherwise CREATE USER would be as good as everything.
    pub(super) fn check_system_users<'u>(&mut self, users: impl Iterator<Item = &'u UserName>) -> Result<(), SqlError> {
        if self.account().global.contains(Privilege::SystemUser) {
            return Ok(());
        }
        let catalog = self.shared.engine.catalog();
        let is_system_user =
            |user| account::find(&catalog, user).is_some_and(|it| it.global.contains(Privilege::SystemUser));
        if users.into_iter().any(is_system_user) { self.check_global(&[Privilege::SystemUser]) } else { Ok(()) }
    }

    /// Who grants needs GRANT OPTION and the privileges themselves, at that level.
    fn check_may_grant(&mut self, grant: &Grant) -> Result<(), SqlError> {
        let account = self.account();
        match &grant.on {
            GrantLevel::Everything => self.check_accounts(Privilege::Update),
            GrantLevel::Global => self.check_may_grant_globally(grant),
            GrantLevel::Database(database) => {
                let database = database.clone().or_else(|| self.info.database.clone()).ok_or_else(ddl::no_database)?;
                if crate::information_schema::system_database(&database) == Some("information_schema") {
                    // Each account sees there what it may see elsewhere.
                    let (user, host) = (&self.client.user, &self.client.host);
                    let message = format!("Access denied for user '{user}'@'{host}' to database 'information_schema'");
                    return Err(SqlError::new(codes::DBACCESS_DENIED_ERROR, message));
                }
                let wanted = ddl::privileges(grant, Level::Database)?;
                // A pattern gives all that it matches: its grantor has to have all of that.
                let held = account.on_pattern(&database);
                let may = held.has(Privilege::GrantOption) && wanted.without(held).is_empty();
                if may { Ok(()) } else { Err(self.database_denied(&database)) }
            }
            GrantLevel::Table(table) => {
                let schema =
                    table.schema.clone().or_else(|| self.info.database.clone()).ok_or_else(ddl::no_database)?;
                let held = account.on_table(&schema, &table.name);
                let wanted = ddl::privileges(grant, Level::Table)?;
                let mut missing = wanted.without(held);
                for (column, wanted) in ddl::column_privileges(grant)? {
                    missing = missing.with(wanted.without(account.on_column(&schema, &table.name, &column)));
                }
                if held.has(Privilege::GrantOption) && missing.is_empty() {
                    return Ok(());
                }
                let missing: Vec<&str> = missing.list().into_iter().map(Privilege::name).collect();
                let denied = match (missing.is_empty(), held.has(Privilege::GrantOption)) {
                    (true, _) => "GRANT".to_string(),
                    (false, true) => missing.join(", "),
                    (false, false) => format!("{}, GRANT", missing.join(", ")),
                };
                Err(self.table_denied(&denied, &table.name))
            }
        }
    }

    /// An account that does not have a privilege on some database does not take it from others there, but from those that do not have it
    /// there either, and from itself (3879).
    fn check_may_revoke_everywhere(&mut self, revoke: &Grant) -> Result<(), SqlError> {
        let wanted = match revoke.on {
            GrantLevel::Everything => Privileges::ALL,
            GrantLevel::Global => ddl::privileges(revoke, Level::Global)?,
            GrantLevel::Database(_) | GrantLevel::Table(_) => return Ok(()),
        };
        let (account, catalog) = (self.account(), self.shared.engine.catalog());
        let others = revoke.users.iter().filter(|user| **user != self.client.account);
        let beyond = others
            .filter_map(|user| account::find(&catalog, user))
            .find_map(|other| account.restricted_beyond(&other, wanted));
        let Some(database) = beyond else { return Ok(()) };
        let message = format!("Access denied for AuthId {} to database '{database}'.", account.name().quoted());
        Err(SqlError::new(codes::DB_ACCESS_DENIED, message))
    }

    /// What an account grants on everything has the restrictions that it has itself; the log says whose they are.
    pub(super) fn note_grantor(&mut self, grant: &mut Grant) -> Result<(), SqlError> {
        if self.is_applier || grant.on != GrantLevel::Global || self.account().restrictions.is_empty() {
            return Ok(());
        }
        match &grant.grantor {
            // As another one it would grant without its own restrictions.
            Some(grantor) if grantor.user != self.client.account => return Err(ddl::no_such_grantor()),
            Some(_) => {}
            None => {
                let roles = match self.info.active_roles.clone() {
                    roles if roles.is_empty() => RoleChoice::None,
                    roles => RoleChoice::These(roles),
                };
                grant.grantor = Some(GrantAs { user: self.client.account.clone(), roles: Some(roles) });
            }
        }
        Ok(())
    }

    /// 3896: what is restricted would not be so any more.
    pub(super) fn check_no_partial_revokes(&self) -> Result<(), SqlError> {
        if account::all(&self.catalog()).iter().all(|account| account.restrictions.is_empty()) {
            return Ok(());
        }
        let message = "At least one partial revoke exists on a database. The system variable '@@partial_revokes' must be set to ON.";
        Err(SqlError::new(codes::PARTIAL_REVOKES_EXIST, message))
    }

    fn check_may_grant_globally(&mut self, grant: &Grant) -> Result<(), SqlError> {
        let account = self.account();
        let wanted: Privileges = ddl::privileges(grant, Level::Global)?;
        let (dynamic, fixed) = (wanted.dynamic(), wanted.without(wanted.dynamic()));
        let only_dynamic = !dynamic.is_empty() && fixed.is_empty();
        let may = account.global.has(Privilege::GrantOption) && fixed.without(account.global).is_empty();
        if !only_dynamic && !may {
            let (user, host) = (&self.client.account.user, &self.client.account.host);
            let message = format!("Access denied for user '{user}'@'{host}' (using password: YES)");
            return Err(SqlError::new(codes::ACCESS_DENIED_ERROR, message));
        }
        if dynamic.without(account.grantable).is_empty() {
            return Ok(());
        }
        let message =
            "Access denied; you need (at least one of) the GRANT OPTION privilege(s) for this operation".to_string();
        Err(SqlError::new(codes::SPECIFIC_ACCESS_DENIED_ERROR, message))
    }
}
