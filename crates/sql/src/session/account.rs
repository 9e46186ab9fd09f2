//! The session's account, read again when accounts have changed.

use std::sync::Arc;

use base::SqlError;
use engine::AccountsVersion;
use io::Clock;

use super::Shared;
use crate::account::{Account, Usage, of_session, with_roles};
use crate::parse::ast::{Admin, SetItem, Statement, UserName};

/// The account as of one version of the accounts.
#[derive(Debug, Default)]
pub(super) struct AccountCache {
    version: Option<AccountsVersion>,
    account: Arc<Account>,
    /// `mandatory_roles` then, if there are active roles.
    mandatory: Option<Arc<str>>,
    /// `partial_revokes` then.
    partial_revokes: bool,
    /// Where its statements are counted, if it has limits.
    usage: Option<Arc<Usage>>,
}

impl AccountCache {
    /// That of who does what another server's log says: it may do everything.
    pub(super) fn of_applier(name: &UserName) -> Self {
        let account = Arc::new(Account::root(name, "", ""));
        AccountCache { version: Some(AccountsVersion::default()), account, ..AccountCache::default() }
    }

    /// As it was read last.
    pub(super) fn get(&self) -> Arc<Account> {
        self.account.clone()
    }

    /// Whether it was never read.
    pub(super) fn is_unknown(&self) -> bool {
        self.version.is_none()
    }

    /// Reads the account again if that is needed, which costs no more than a look if not. One that was dropped has no privileges.
    pub(super) fn renew(&mut self, shared: &Shared, name: &UserName, active: &[UserName]) {
        let engine = &shared.engine;
        let mandatory = (!active.is_empty()).then(|| shared.globals.now().accounts.mandatory_roles.clone());
        let is_known = self.version.as_ref().is_some_and(|version| engine.has_accounts(version));
        let partial_revokes = shared.globals.partial_revokes();
        if is_known && self.mandatory == mandatory && self.partial_revokes == partial_revokes {
            return;
        }
        let catalog = engine.catalog();
        let account = of_session(&catalog, name).unwrap_or_else(|| Account::new(name, "", ""));
        let account = Account { literal_databases: partial_revokes, ..account };
        let usage = shared.usage.of(&account);
        let names = mandatory.as_ref().map_or("", |names| &**names);
        let account = Arc::new(with_roles(&catalog, account, active, &crate::account::mandatory(&catalog, names)));
        let version = Some(catalog.accounts_version());
        *self = AccountCache { version, account, mandatory, partial_revokes, usage };
    }

    /// Counts a statement, if the account may run only so many (1226).
    pub(super) fn count(&self, statement: &Statement, clock: &dyn Clock) -> Result<(), SqlError> {
        let AccountCache { usage: Some(usage), account, .. } = self else { return Ok(()) };
        // The hour is that of the clock, not of SET TIMESTAMP.
        usage.statement(&account.user, &account.limits, changes_data(statement), clock.now().0)
    }
}

/// Whether a statement is counted as one that changes something.
fn changes_data(statement: &Statement) -> bool {
    match statement {
        Statement::Insert(_)
        | Statement::Update(_)
        | Statement::Delete(_)
        | Statement::Load(_)
        | Statement::Ddl(_)
        | Statement::CreateTableSelect(..) => true,
        Statement::Admin(Admin::Tables { .. } | Admin::Histogram(_)) => true,
        Statement::Set(items) => items.iter().any(|item| matches!(item, SetItem::Password(_))),
        _ => false,
    }
}
