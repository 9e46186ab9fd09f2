//! The session's account, read again when accounts have changed.

use std::sync::Arc;

use base::SqlError;
use engine::AccountsVersion;

use super::Session;
use crate::account::{Account, Usage, of_session, with_roles};
use crate::parse::ast::{Admin, SetItem, Statement};

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

impl Session {
    /// The account that the session logged in to, with its privileges now; one without any if it was dropped.
    pub(crate) fn account(&mut self) -> Arc<Account> {
        self.renew_account();
        self.account.account.clone()
    }

    /// Reads the account again if that is needed, which costs no more than a look if not.
    fn renew_account(&mut self) {
        if self.is_applier {
            if self.account.version.is_none() {
                let account = Arc::new(Account::root(&self.client.account, "", ""));
                self.account =
                    AccountCache { version: Some(AccountsVersion::default()), account, ..AccountCache::default() };
            }
            return;
        }
        let engine = &self.shared.engine;
        let active = &self.info.active_roles;
        let mandatory = (!active.is_empty()).then(|| self.shared.globals.now().accounts.mandatory_roles.clone());
        let is_known = self.account.version.as_ref().is_some_and(|version| engine.has_accounts(version));
        let partial_revokes = self.shared.globals.partial_revokes();
        if is_known && self.account.mandatory == mandatory && self.account.partial_revokes == partial_revokes {
            return;
        }
        let catalog = engine.catalog();
        let name = &self.client.account;
        let account = of_session(&catalog, name).unwrap_or_else(|| Account::new(name, "", ""));
        let account = Account { literal_databases: partial_revokes, ..account };
        let usage = self.shared.usage.of(&account);
        let names = mandatory.as_ref().map_or("", |names| &**names);
        let account = Arc::new(with_roles(&catalog, account, active, &crate::account::mandatory(&catalog, names)));
        let version = Some(catalog.accounts_version());
        self.account = AccountCache { version, account, mandatory, partial_revokes, usage };
    }

    /// Counts a statement for the account, if it may run only so many (1226).
    pub(super) fn count_for_account(&mut self, statement: &Statement) -> Result<(), SqlError> {
        if matches!(statement, Statement::Execute { .. }) {
            // What it executes counts.
            return Ok(());
        }
        self.renew_account();
        let AccountCache { usage: Some(usage), account, .. } = &self.account else { return Ok(()) };
        // The hour is that of the clock, not of SET TIMESTAMP.
        let now = self.shared.env.clock.now().0;
        usage.statement(&account.user, &account.limits, changes_data(statement), now)
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
