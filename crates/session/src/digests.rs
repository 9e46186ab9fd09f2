//! Passwords that were proved before, for the fast path of `caching_sha2_password`.

use std::collections::HashMap;

use parking_lot::Mutex;
use sql::account::Account;
use wire::auth;

/// `SHA256(SHA256(password))` of accounts whose password was proved by the full path, for the fast path.
#[derive(Default)]
pub struct DigestCache {
    digests: Mutex<HashMap<(String, String), Vec<Remembered>>>,
}

struct Remembered {
    /// The account's hash at that time.
    hash: String,
    digest: [u8; 32],
}

impl DigestCache {
    /// Those of the account's passwords that were proved before.
    pub(crate) fn get(&self, account: &Account) -> Vec<[u8; 32]> {
        let digests = self.digests.lock();
        let Some(remembered) = digests.get(&(account.user.clone(), account.host.clone())) else { return Vec::new() };
        let is_there = |it: &&Remembered| account.secrets().any(|secret| it.hash == secret);
        remembered.iter().filter(is_there).map(|it| it.digest).collect()
    }

    /// Bounded by the number of accounts: one entry for each password.
    pub(crate) fn remember(&self, account: &Account, hash: &str, password: &[u8]) {
        let mut digests = self.digests.lock();
        let remembered = digests.entry((account.user.clone(), account.host.clone())).or_default();
        remembered.retain(|it| it.hash != hash && account.secrets().any(|secret| it.hash == secret));
        remembered.push(Remembered { hash: hash.to_owned(), digest: auth::sha2_digest(password) });
    }

    /// `FLUSH PRIVILEGES`.
    pub fn clear(&self) {
        self.digests.lock().clear();
    }
}
