//! Passwords as statements give them: in the clear until they are hashed here, checked against those that the account has and had.

use base::{SqlError, codes};

use super::Session;
use crate::account::{self, Account, PasswordRules, Privilege, ReusePolicy, SOCKET_PLUGIN};
use crate::parse::ast::{
    AuthSecret, AuthSpec, Ddl, Expire, KeepPassword, OrDefault, RoleGrant, SetItem, Statement, UserName, UserOptions,
    UserSpec,
};
use crate::result::{Outcome, ResultSink};

impl Session {
    /// USER() and passwords are put in their final form: names and hashes.
    pub(super) fn resolve_accounts(&mut self, mut ddl: Ddl) -> Result<Ddl, SqlError> {
        self.generated.clear();
        let own = self.client.account.clone();
        if let Ddl::GrantRoles(RoleGrant { users, .. })
        | Ddl::RevokeRoles(RoleGrant { users, .. })
        | Ddl::DefaultRoles { users, .. } = &mut ddl
        {
            if self.is_applier && users.contains(&None) {
                // Whose statement it was the log says, but not to us.
                return Err(SqlError::not_supported("CURRENT_USER in a statement about roles of another server's log"));
            }
            users.iter_mut().for_each(|user| _ = user.get_or_insert_with(|| own.clone()));
        }
        if let Ddl::Grant(grant) = &mut ddl {
            self.note_grantor(grant)?;
        }
        let is_there = matches!(ddl, Ddl::AlterUser { .. });
        let (Ddl::CreateUser { users, options, .. } | Ddl::AlterUser { users, options, .. }) = &mut ddl else {
            return Ok(ddl);
        };
        for spec in users {
            let name = spec.name.get_or_insert_with(|| own.clone()).clone();
            let known = account::find(&self.shared.engine.catalog(), &name);
            if !self.is_applier && is_there {
                self.check_replaced(spec, &name, known.as_ref())?;
                self.check_reused(spec, options, &name, known.as_ref())?;
            }
            self.choose_method(spec);
            self.make_random(spec, &name);
            self.resolve_secret(spec, known)?;
        }
        Ok(ddl)
    }

    /// RANDOM PASSWORD becomes one that is shown when it is the account's.
    fn make_random(&mut self, spec: &mut UserSpec, name: &UserName) {
        let Some(auth) = spec.auth.as_mut().filter(|auth| auth.secret == AuthSecret::Random) else { return };
        let length = self.settings.generated_random_password_length;
        let mut password = String::with_capacity(length);
        while password.len() < length {
            let mut bytes = [0; 64];
            self.shared.env.random.fill(&mut bytes);
            // A byte that stands for none of them is left out, so that each is as likely as any other.
            let signs = bytes.iter().filter_map(|byte| SIGNS.get(usize::from(byte & 0x7f)));
            password.extend(signs.take(length - password.len()).map(|sign| char::from(*sign)));
        }
        self.generated.push((name.clone(), password.clone()));
        auth.secret = AuthSecret::Password(password);
    }

    /// The passwords that a statement has made, if it has made any.
    pub(super) async fn show_generated(
        &mut self,
        outcome: Outcome,
        sink: &mut dyn ResultSink,
    ) -> Result<Outcome, SqlError> {
        let generated = std::mem::take(&mut self.generated);
        if generated.is_empty() {
            return Ok(outcome);
        }
        crate::show::generated_passwords(self, generated, sink).await
    }

    /// A password becomes its hash.
    fn resolve_secret(&self, spec: &mut UserSpec, known: Option<Account>) -> Result<(), SqlError> {
        let Some(auth) = &mut spec.auth else { return Ok(()) };
        let is_there = known.is_some();
        // What is let in by its socket alone has no place for a password; with one it becomes an account like others.
        let has_password = matches!(&auth.secret, AuthSecret::Password(password) if !password.is_empty());
        let known = known.map(|account| account.plugin).filter(|plugin| plugin != SOCKET_PLUGIN || !has_password);
        let default_plugin = || self.shared.globals.now().start.default_authentication_plugin.to_string();
        let plugin = auth.plugin.clone().or(known).unwrap_or_else(default_plugin);
        crate::ddl::check_plugin(&plugin)?;
        auth.plugin = Some(plugin.clone());
        match &auth.secret {
            AuthSecret::Password(password) if password.is_empty() => {
                auth.secret = if is_there { AuthSecret::Hash(String::new()) } else { AuthSecret::None };
            }
            AuthSecret::Password(password) => {
                auth.secret = AuthSecret::Hash(self.shared.services.password_hash(&plugin, password)?);
            }
            AuthSecret::Hash(hash) if !hash.is_empty() && !self.shared.services.valid_password_hash(&plugin, hash) => {
                let message = "The password hash doesn't have the expected format.";
                return Err(SqlError::new(codes::PASSWORD_FORMAT, message));
            }
            _ => {}
        }
        Ok(())
    }

    /// REPLACE has to be the password that there is (3891), and is said of oneself only (3893); an account may have to say it (3892).
    fn check_replaced(&mut self, spec: &UserSpec, name: &UserName, known: Option<&Account>) -> Result<(), SqlError> {
        let is_own = *name == self.client.account;
        if spec.replace.is_some() && !is_own && known.is_some() {
            let message = "Do not specify the current password while changing it for other users.";
            return Err(SqlError::new(codes::CURRENT_PASSWORD_NOT_REQUIRED, message));
        }
        let gives_password =
            spec.auth.as_ref().is_some_and(|auth| matches!(auth.secret, AuthSecret::Password(_) | AuthSecret::Random));
        let Some(account) = known.filter(|_| is_own && gives_password) else { return Ok(()) };
        if let Some(current) = &spec.replace {
            if self.shared.services.is_password(&account.plugin, &account.authentication, current) {
                return Ok(());
            }
            let message = "Incorrect current password. Specify the correct password which has to be replaced.";
            return Err(SqlError::new(codes::INCORRECT_CURRENT_PASSWORD, message));
        }
        let default = || self.shared.globals.now().accounts.password_require_current;
        let is_required = account.password.require_current.unwrap_or_else(default);
        if !is_required || self.check_accounts(Privilege::Update).is_ok() {
            return Ok(());
        }
        let message = "Current password needs to be specified in the REPLACE clause in order to change it.";
        Err(SqlError::new(codes::MISSING_CURRENT_PASSWORD, message))
    }

    /// 3638 for a password that the account had and may not have again.
    fn check_reused(
        &self,
        spec: &UserSpec,
        options: &UserOptions,
        name: &UserName,
        known: Option<&Account>,
    ) -> Result<(), SqlError> {
        let (Some(account), Some(auth)) = (known, &spec.auth) else { return Ok(()) };
        let AuthSecret::Password(password) = &auth.secret else { return Ok(()) };
        if password.is_empty() || auth.plugin.as_ref().is_some_and(|plugin| *plugin != account.plugin) {
            return Ok(());
        }
        let rules = PasswordRules {
            history: options.history.map_or(account.password.history, OrDefault::own),
            reuse_days: options.reuse_days.map_or(account.password.reuse_days, OrDefault::own),
            ..account.password
        };
        let now = self.now.0;
        let policy = self.reuse_policy().of(&rules);
        let is_same = |hash: &str| self.shared.services.is_password(&account.plugin, hash, password);
        if account::refused(&account.past, policy, now).any(|past| is_same(&past.hash)) {
            let message = format!(
                "Cannot use these credentials for '{}@{}' because they contradict the password history policy",
                name.user, name.host
            );
            return Err(SqlError::new(codes::CREDENTIALS_CONTRADICT_TO_HISTORY, message));
        }
        Ok(())
    }

    /// What the settings say of passwords that an account had.
    pub(super) fn reuse_policy(&self) -> ReusePolicy {
        let accounts = &self.shared.globals.now().accounts;
        ReusePolicy { history: accounts.password_history, days: accounts.password_reuse_interval }
    }

    /// SET PASSWORD: for others that is a change of the table of accounts, and as such asked for.
    pub(super) async fn set_password(&mut self, spec: &UserSpec) -> Result<(), SqlError> {
        if spec.name.as_ref().is_some_and(|user| *user != self.client.account) {
            self.check_database(Privilege::Update, "mysql")?;
        }
        if spec.name.as_ref().is_some_and(|user| account::find(&self.catalog(), user).is_none()) {
            let message = "Can't find any matching row in the user table";
            return Err(SqlError::new(codes::PASSWORD_NO_MATCH, message));
        }
        let mut spec = spec.clone();
        if let Some(AuthSpec { plugin, secret: secret @ AuthSecret::Password(_), .. }) = &mut spec.auth
            && let AuthSecret::Password(text) = secret
            && (self.is_applier || self.settings.pseudo_replica_mode)
        {
            // A log has what is stored: MariaDB and old MySQL write it so.
            *plugin = (!text.is_empty()).then(|| "mysql_native_password".to_owned());
            *secret = AuthSecret::Hash(std::mem::take(text));
        }
        let users = vec![spec];
        self.define(&Ddl::AlterUser { users, if_exists: false, options: Box::default() }, None).await?;
        Ok(())
    }

    /// The account's password has expired: nothing is done for it but to give it another one. Said by who has logged it in.
    pub fn set_password_expired(&mut self, expired: bool) {
        self.password_expired = expired;
    }

    /// Whether nothing is done but to give the account another password.
    pub fn password_expired(&self) -> bool {
        self.password_expired
    }

    /// 1820 for a statement that an account cannot run whose password has expired.
    pub(super) fn check_not_expired(&mut self, statement: &Statement) -> Result<(), SqlError> {
        let own = self.client.account.clone();
        let is_own = |spec: &UserSpec| spec.name.as_ref().is_none_or(|name| *name == own);
        match statement {
            Statement::Set(items)
                if items.iter().all(|item| matches!(item, SetItem::Password(spec) if is_own(spec))) =>
            {
                Ok(())
            }
            // As in MySQL: it may be about others besides.
            Statement::Ddl(Ddl::AlterUser { users, .. })
                if users.iter().any(|spec| spec.auth.is_some() && is_own(spec)) =>
            {
                Ok(())
            }
            Statement::Ddl(ddl @ Ddl::AlterUser { .. }) => {
                self.check_definition(ddl)?;
                Err(must_change_password())
            }
            _ => Err(must_change_password()),
        }
    }

    /// What a definition of accounts means for the session, and for what is counted in memory.
    pub(super) fn after_accounts(&mut self, ddl: &Ddl) {
        match ddl {
            Ddl::DropUser { users, .. } => self.forget_counts(users.iter(), true, true),
            Ddl::RenameUser(pairs) => self.forget_counts(pairs.iter().flat_map(|(from, to)| [from, to]), true, true),
            Ddl::AlterUser { users, options, .. } => {
                let unlocks =
                    options.attempts.is_some() || options.lock_days.is_some() || options.locked == Some(false);
                let names = users.iter().filter_map(|spec| spec.name.as_ref());
                self.forget_counts(names, options.has_limits(), unlocks);
                let own = users.iter().find(|spec| spec.name.as_ref() == Some(&self.client.account));
                match (own, options.expire) {
                    (None, _) => {}
                    (Some(_), Some(Expire::Now)) => self.password_expired = true,
                    (Some(spec), _) if spec.auth.is_some() => self.password_expired = false,
                    _ => {}
                }
            }
            _ => {}
        }
    }

    /// What is counted in memory of these accounts begins anew: statements and logins within the hour, logins that failed.
    fn forget_counts<'n>(&self, names: impl Iterator<Item = &'n UserName>, usage: bool, failures: bool) {
        for name in names {
            let key = account::key(&name.user, &name.host);
            if usage {
                self.shared.usage.forget(&key);
            }
            if failures {
                self.shared.failed_logins.forget(&key);
            }
        }
    }

    /// Whether users give nothing but a password, by the method that the account has, or do without the second one; and all of them are
    /// oneself.
    pub(super) fn is_only_own_password(&self, users: &[UserSpec], options: &UserOptions) -> bool {
        let is_password = |spec: &UserSpec| match &spec.auth {
            Some(auth) => auth.plugin.is_none() && matches!(auth.secret, AuthSecret::Password(_) | AuthSecret::Random),
            None => spec.keep == KeepPassword::Discard,
        };
        let is_own = |spec: &UserSpec| spec.name.as_ref().is_none_or(|name| *name == self.client.account);
        *options == UserOptions::default() && users.iter().all(|spec| is_own(spec) && is_password(spec))
    }

    /// A second password of one's own needs a privilege (1227).
    pub(super) fn check_second_password(&mut self, users: &[UserSpec]) -> Result<(), SqlError> {
        let has_second = users.iter().any(|spec| spec.keep != KeepPassword::No);
        if !has_second || self.check_accounts(Privilege::Update).is_ok() {
            return Ok(());
        }
        self.check_global_itself(&[Privilege::CreateUser, Privilege::ApplicationPasswordAdmin])
    }
}

/// What passwords are made of: nothing that has to be escaped in a literal of SQL or between quotes of a shell.
const SIGNS: &[u8] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789,.-;:_+*%&/(){}[]<>@#^=?~";

/// 1820
pub fn must_change_password() -> SqlError {
    let message = "You must reset your password using ALTER USER statement before executing this statement.";
    SqlError::new(codes::MUST_CHANGE_PASSWORD, message)
}
