//! The session's account, read again when the catalog has changed.

use std::sync::Arc;

use super::Session;
use crate::account::{Account, of_session, with_roles};
use crate::settings::SettingValue;

/// The account as of one version of the catalog.
#[derive(Debug, Default)]
pub(super) struct AccountCache {
    version: Option<u64>,
    account: Arc<Account>,
    /// `mandatory_roles` then, if there are active roles.
    mandatory: Option<SettingValue>,
}

impl Session {
    /// The account that the session logged in to, with its privileges now; one without any if it was dropped.
    pub(crate) fn account(&mut self) -> Arc<Account> {
        if self.is_applier {
            if self.account.version.is_none() {
                let account = Account::root(&self.client.account, "", "");
                self.account = AccountCache { version: Some(0), account: Arc::new(account), mandatory: None };
            }
            return self.account.account.clone();
        }
        let catalog = self.catalog();
        let active = &self.info.active_roles;
        let mandatory = (!active.is_empty()).then(|| self.shared.globals.named("mandatory_roles"));
        if self.account.version != Some(catalog.version()) || self.account.mandatory != mandatory {
            let name = &self.client.account;
            let account = of_session(&catalog, name).unwrap_or_else(|| Account::new(name, "", ""));
            let names = mandatory.as_ref().map_or("", SettingValue::as_str);
            let account = with_roles(&catalog, account, active, &crate::account::mandatory(&catalog, names));
            self.account = AccountCache { version: Some(catalog.version()), account: Arc::new(account), mandatory };
        }
        self.account.account.clone()
    }
}
