//! The session's account, read again when the catalog has changed.

use std::sync::Arc;

use super::Session;
use crate::account::{Account, of_session};

/// The account as of one version of the catalog.
#[derive(Debug, Default)]
pub(super) struct AccountCache {
    version: Option<u64>,
    account: Arc<Account>,
}

impl Session {
    /// The account that the session logged in to, with its privileges now; one without any if it was dropped.
    pub(crate) fn account(&mut self) -> Arc<Account> {
        if self.is_applier {
            if self.account.version.is_none() {
                let account = Account::root(&self.client.account, "", "");
                self.account = AccountCache { version: Some(0), account: Arc::new(account) };
            }
            return self.account.account.clone();
        }
        let catalog = self.catalog();
        if self.account.version != Some(catalog.version()) {
            let name = &self.client.account;
            let account = of_session(&catalog, name).unwrap_or_else(|| Account::new(name, "", ""));
            self.account = AccountCache { version: Some(catalog.version()), account: Arc::new(account) };
        }
        self.account.account.clone()
    }
}
