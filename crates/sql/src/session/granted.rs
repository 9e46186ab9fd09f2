//! What GRANT says of accounts themselves, in MariaDB and old MySQL: it makes those that are not there, gives passwords, and sets options.

use base::{SqlError, codes};

use super::Session;
use crate::account;
use crate::expr::WarningLevel;
use crate::parse::ast::{AuthSecret, AuthSpec, Ddl, Grant, KeepPassword, UserName, UserOptions, UserSpec};

impl Session {
    /// Makes and changes accounts before they are given privileges: in the log, that is a CREATE USER and an ALTER USER in front of the
    /// GRANT, each a transaction by itself. A GTID that was chosen, or a place in another log, is the GRANT's.
    pub(super) async fn define_granted(&mut self, grant: &Grant) -> Result<(), SqlError> {
        let definitions = self.granted_accounts(grant)?;
        if definitions.is_empty() {
            return Ok(());
        }
        self.check_definition(&Ddl::Grant(grant.clone()))?;
        let (gtid, position) = (self.put_gtid_aside(), self.source_position.take());
        let mut defined = Ok(());
        for definition in &definitions {
            if defined.is_ok() {
                defined = self.define(definition, None).await.map(drop);
            }
        }
        (self.next_gtid, self.source_position) = (gtid, position);
        defined
    }

    fn granted_accounts(&self, grant: &Grant) -> Result<Vec<Ddl>, SqlError> {
        let said = &grant.accounts;
        let spec_of = |name: &UserName| {
            let spec = said.users.iter().find(|spec| spec.name.as_ref() == Some(name)).cloned();
            spec.unwrap_or(UserSpec { name: Some(name.clone()), auth: None, replace: None, keep: KeepPassword::No })
        };
        let catalog = self.shared.engine.catalog();
        let (there, absent): (Vec<UserSpec>, Vec<UserSpec>) =
            grant.users.iter().map(spec_of).partition(|spec| match &spec.name {
                Some(name) => account::find(&catalog, name).is_some(),
                None => true,
            });
        // A source that has executed the statement has made an account, with a word about it or without.
        let users: Vec<UserSpec> = absent.into_iter().filter(|spec| self.is_applier || spec.auth.is_some()).collect();
        let is_public = |spec: &UserSpec| matches!(&spec.name, Some(name) if name.user.eq_ignore_ascii_case("PUBLIC") && name.host == "%");
        if users.iter().any(|spec| spec.auth.is_none() && is_public(spec)) {
            return Err(SqlError::not_supported("GRANT … TO PUBLIC"));
        }
        let options = Box::new(said.options.clone());
        let mut definitions = Vec::new();
        if !users.is_empty() {
            let roles = Vec::new();
            definitions.push(Ddl::CreateUser { users, if_not_exists: false, options: options.clone(), roles });
        }
        let is_changed = |spec: &UserSpec| spec.auth.is_some() || *options != UserOptions::default();
        let users: Vec<UserSpec> = there.into_iter().filter(is_changed).collect();
        if !users.is_empty() {
            definitions.push(Ddl::AlterUser { users, if_exists: false, options });
        }
        Ok(definitions)
    }

    /// Of the methods that MariaDB has with OR between them an account has one here: the first with a password, else the first that there
    /// is. The others are warned of.
    pub(super) fn choose_method(&self, spec: &mut UserSpec) {
        let Some(auth) = spec.auth.as_mut().filter(|auth| !auth.or.is_empty()) else { return };
        let mut methods = std::mem::take(&mut auth.or);
        methods.insert(0, std::mem::replace(auth, AuthSpec { plugin: None, secret: AuthSecret::None, or: Vec::new() }));
        let has_password = |method: &AuthSpec| match (&method.plugin, &method.secret) {
            (Some(plugin), AuthSecret::Hash(hash)) => {
                !hash.is_empty() && self.shared.services.valid_password_hash(plugin, hash)
            }
            (_, secret) => matches!(secret, AuthSecret::Password(_)),
        };
        // No login fits a hash that is not valid.
        let lets_in = |method: &AuthSpec| method.secret == AuthSecret::None;
        let chosen = methods.iter().position(has_password).or_else(|| methods.iter().position(lets_in)).unwrap_or(0);
        *auth = methods.swap_remove(chosen);
        for plugin in methods.iter().filter_map(|method| method.plugin.as_deref()) {
            let error = SqlError::not_supported(format!("IDENTIFIED … OR {plugin}: other methods of an account"));
            self.warnings.push(WarningLevel::Warning, codes::NOT_SUPPORTED_YET, error.message);
        }
    }
}
