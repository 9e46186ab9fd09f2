//! The session's roles: which are active, and what roles need to be defined.

use base::{SqlError, codes};
use engine::Catalog;

use super::Session;
use super::account::AccountCache;
use crate::account::{self, Account, ActiveRoles, Privilege, chosen, closure, find, of_session};
use crate::ddl;
use crate::parse::ast::{Ddl, Grant, RoleChoice, UserName};
use crate::result::Outcome;

impl Session {
    /// SET ROLE.
    pub(super) fn set_role(&mut self, choice: &RoleChoice) -> Result<Outcome, SqlError> {
        let catalog = self.catalog();
        let own = self.own_account(&catalog);
        let roles = chosen(&own, choice, &self.mandatory_roles(&catalog))?;
        self.activate_roles(roles);
        Ok(Outcome::default())
    }

    /// The roles that a login activates: all, or the default ones and those that everybody has.
    pub(super) fn activate_roles_of_login(&mut self) {
        if self.is_applier {
            return;
        }
        let catalog = self.catalog();
        let (own, mandatory) = (self.own_account(&catalog), self.mandatory_roles(&catalog));
        let choice = match self.shared.globals.now().accounts.activate_all_roles_on_login {
            true => RoleChoice::All { except: Vec::new() },
            false => RoleChoice::Default,
        };
        let mut roles = chosen(&own, &choice, &mandatory).unwrap_or_default();
        roles.extend(mandatory);
        roles.sort();
        roles.dedup();
        self.activate_roles(roles);
    }

    fn activate_roles(&mut self, roles: ActiveRoles) {
        self.known_roles.set(&roles);
        self.info.active_roles = roles;
        self.account = AccountCache::default();
    }

    /// The account without what its roles give.
    pub(crate) fn own_account(&self, catalog: &Catalog) -> Account {
        let name = &self.client.account;
        of_session(catalog, name).unwrap_or_else(|| Account::new(name, "", ""))
    }

    /// `mandatory_roles`, as far as they are there.
    pub(crate) fn mandatory_roles(&self, catalog: &Catalog) -> Vec<UserName> {
        account::mandatory(catalog, &self.shared.globals.now().accounts.mandatory_roles)
    }

    /// The same for a definition: what another server did is not bound to it, and most definitions do not ask.
    pub(super) fn mandatory_roles_for(&self, ddl: &Ddl, catalog: &Catalog) -> Vec<UserName> {
        let asks = matches!(
            ddl,
            Ddl::DropUser { .. }
                | Ddl::RenameUser(_)
                | Ddl::DropRole { .. }
                | Ddl::GrantRoles(_)
                | Ddl::RevokeRoles(_)
                | Ddl::DefaultRoles { .. }
        );
        if asks && !self.is_applier { self.mandatory_roles(catalog) } else { Vec::new() }
    }

    /// The privileges that a definition of roles needs.
    pub(super) fn check_roles_defined(&mut self, ddl: &Ddl) -> Result<(), SqlError> {
        match ddl {
            Ddl::CreateRole { roles, .. } => {
                self.check_create_user_or(Privilege::CreateRole)?;
                self.check_system_users(roles.iter())
            }
            Ddl::DropRole { roles, .. } => {
                self.check_create_user_or(Privilege::DropRole)?;
                let catalog = self.catalog();
                let is_user = |role: &UserName| find(&catalog, role).is_some_and(|account| !account.locked);
                if roles.iter().any(is_user) {
                    // DROP ROLE by itself is for accounts that no client can log in to.
                    self.check_global(&[Privilege::CreateUser])?;
                }
                self.check_system_users(roles.iter())
            }
            Ddl::GrantRoles(grant) | Ddl::RevokeRoles(grant) => {
                self.check_administers(&grant.roles)?;
                let own = self.client.account.clone();
                let users: Vec<UserName> =
                    grant.users.iter().map(|user| user.clone().unwrap_or_else(|| own.clone())).collect();
                self.check_system_users(grant.roles.iter().chain(&users))
            }
            Ddl::DefaultRoles { users, .. } => {
                let own = self.client.account.clone();
                let others: Vec<&UserName> = users.iter().flatten().filter(|user| **user != own).collect();
                if others.is_empty() {
                    return Ok(());
                }
                self.check_accounts(Privilege::Update)?;
                self.check_system_users(others.into_iter())
            }
            _ => Ok(()),
        }
    }

    /// CREATE USER or a privilege of roles (1227).
    fn check_create_user_or(&mut self, of_roles: Privilege) -> Result<(), SqlError> {
        let held = self.account().global;
        if held.has(of_roles) || held.has(Privilege::CreateUser) {
            return Ok(());
        }
        Err(needs(&format!("CREATE USER, {}", of_roles.name())))
    }

    /// ROLE_ADMIN, or every one of the roles WITH ADMIN OPTION (1227).
    pub(super) fn check_administers(&mut self, roles: &[UserName]) -> Result<(), SqlError> {
        let account = self.account();
        let may_all = [Privilege::RoleAdmin, Privilege::Super].iter().any(|any| account.global.contains(*any));
        if may_all || roles.iter().all(|role| account.administers(role)) {
            return Ok(());
        }
        Err(needs("WITH ADMIN, ROLE_ADMIN, SUPER"))
    }

    /// What everybody has cannot be as strong as an account of the system (3897).
    pub(super) fn check_grant_to_mandatory(&self, grant: &Grant, gives: bool) -> Result<(), SqlError> {
        let wanted = ddl::privileges(grant, account::Level::Global).unwrap_or_default();
        if !gives || self.is_applier || !wanted.contains(Privilege::SystemUser) {
            return Ok(());
        }
        let mandatory = self.mandatory_roles(&self.catalog());
        let Some(role) = grant.users.iter().find(|user| mandatory.contains(user)) else { return Ok(()) };
        let message =
            format!("AuthId {} is set as mandatory_roles. Cannot grant the 'SYSTEM_USER' privilege.", role.quoted());
        Err(SqlError::new(codes::CANNOT_GRANT_SYSTEM_USER_TO_MANDATORY_ROLE, message))
    }

    /// `mandatory_roles`: a list of names, none of an account of the system or of one that has such an account as a role, set by who may
    /// grant roles.
    pub(super) fn check_mandatory_roles(&mut self, value: &str) -> Result<(), SqlError> {
        if !self.account().global.contains(Privilege::RoleAdmin) {
            let privileges = "SYSTEM_VARIABLES_ADMIN or SUPER privileges, as well as the ROLE_ADMIN";
            return Err(needs(privileges));
        }
        let Some(names) = account::list_of(value) else {
            let message = format!("Variable 'mandatory_roles' can't be set to the value of '{value}'");
            return Err(SqlError::new(codes::WRONG_VALUE_FOR_VAR, message));
        };
        let catalog = self.catalog();
        let is_of_system = |name: &&UserName| {
            closure(&catalog, [*name]).iter().any(|role| role.global.contains(Privilege::SystemUser))
        };
        let Some(name) = names.iter().find(is_of_system) else { return Ok(()) };
        let message = format!("Cannot set mandatory_roles: AuthId {} has 'SYSTEM_USER' privilege.", name.quoted());
        Err(SqlError::new(codes::AUTHID_WITH_SYSTEM_USER, message))
    }
}

/// 1227
fn needs(privileges: &str) -> SqlError {
    let message = format!("Access denied; you need (at least one of) the {privileges} privilege(s) for this operation");
    SqlError::new(codes::SPECIFIC_ACCESS_DENIED_ERROR, message)
}
