//! FAILED_LOGIN_ATTEMPTS and PASSWORD_LOCK_TIME: which accounts are blocked because too many logins in a row have failed. It is kept in
//! memory only, as in MySQL.
//!
//! Names without an account are counted as well, for the account that each of them is made to look like: otherwise the block would tell
//! that an account is there.

use std::collections::{HashMap, VecDeque};

use base::{SqlError, codes};
use parking_lot::Mutex;

use super::options::DAY;
use super::{Account, UNBOUNDED};

/// Names without an account that are remembered; of more than that the first are forgotten.
const DECOYS_MAX: usize = 10_000;

/// The failed logins of all accounts that count them.
#[derive(Debug, Default)]
pub struct FailedLogins(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    accounts: HashMap<String, Failures>,
    decoys: HashMap<String, Failures>,
    /// Names of `decoys`, the first ones first.
    order: VecDeque<String>,
}

#[derive(Clone, Copy, Debug)]
struct Failures {
    /// Those of the account when the first of these logins failed: with others it begins anew.
    attempts: u16,
    lock_days: i16,
    failed: u16,
    /// Since when it is blocked, in seconds.
    since: Option<u64>,
}

/// Who a login was for.
#[derive(Clone, Copy, Debug)]
pub struct Tried<'a> {
    /// The account, or what a name without one was made to look like.
    pub account: &'a Account,
    /// There is no such account.
    pub is_decoy: bool,
}

/// The longest name of an account, in bytes: longer ones are not remembered.
const NAME_BYTES_MAX: usize = 128;

impl Tried<'_> {
    fn is_counted(&self) -> bool {
        self.account.password.blocks() && self.account.user.len() <= NAME_BYTES_MAX
    }
}

impl FailedLogins {
    /// A login failed at a time in seconds.
    pub fn failed(&self, tried: Tried<'_>, now: u64) {
        let rules = &tried.account.password;
        if !tried.is_counted() {
            return;
        }
        let mut inner = self.0.lock();
        let failures = inner.of(tried, now);
        if failures.since.is_some() {
            return;
        }
        failures.failed += 1;
        if failures.failed >= rules.attempts {
            failures.since = Some(now);
        }
    }

    /// A login gave the right password, which counts unless the account is blocked.
    pub fn succeeded(&self, account: &Account) {
        if account.password.blocks() {
            let mut inner = self.0.lock();
            let key = account.key();
            if inner.accounts.get(&key).is_some_and(|failures| failures.since.is_none()) {
                inner.accounts.remove(&key);
            }
        }
    }

    /// 3955 for who tries to log in to an account that is blocked, with whatever password.
    ///
    /// # Errors
    /// 3955
    pub fn check(&self, tried: Tried<'_>, user: &str, host: &str, now: u64) -> Result<(), SqlError> {
        if !tried.is_counted() {
            return Ok(());
        }
        let Failures { attempts, lock_days, since: Some(since), .. } = *self.0.lock().of(tried, now) else {
            return Ok(());
        };
        let (days, left) = match lock_days {
            UNBOUNDED => ("unlimited".to_owned(), "unlimited".to_owned()),
            days => {
                let gone = now.saturating_sub(since) / DAY;
                (days.to_string(), (days as u64).saturating_sub(gone).to_string())
            }
        };
        let message = format!(
            "Access denied for user '{user}'@'{host}'. Account is blocked for {days} day(s) ({left} day(s) remaining) due to {attempts} \
             consecutive failed logins."
        );
        Err(SqlError::new(codes::USER_ACCESS_DENIED_FOR_USER_ACCOUNT_BLOCKED_BY_PASSWORD_LOCK, message))
    }

    /// The account is not blocked any more, and its failures count from one again.
    pub(crate) fn forget(&self, key: &str) {
        self.0.lock().accounts.remove(key);
    }

    /// FLUSH PRIVILEGES: the same for all.
    pub(crate) fn clear(&self) {
        *self.0.lock() = Inner::default();
    }
}

impl Inner {
    /// The failures of an account: none if its rules are others now, or the time of its block is over.
    fn of(&mut self, tried: Tried<'_>, now: u64) -> &mut Failures {
        let rules = &tried.account.password;
        let none = Failures { attempts: rules.attempts, lock_days: rules.lock_days, failed: 0, since: None };
        let failures = if tried.is_decoy {
            let name = tried.account.user.clone();
            if !self.decoys.contains_key(&name) {
                if self.order.len() >= DECOYS_MAX
                    && let Some(first) = self.order.pop_front()
                {
                    self.decoys.remove(&first);
                }
                self.order.push_back(name.clone());
            }
            self.decoys.entry(name).or_insert(none)
        } else {
            self.accounts.entry(tried.account.key()).or_insert(none)
        };
        let is_other = (failures.attempts, failures.lock_days) != (rules.attempts, rules.lock_days);
        let is_over = |since| rules.lock_days > 0 && now >= since + rules.lock_days as u64 * DAY;
        if is_other || failures.since.is_some_and(is_over) {
            *failures = none;
        }
        failures
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::PasswordRules;
    use crate::parse::ast::UserName;

    fn account(user: &str, attempts: u16, lock_days: i16) -> Account {
        let name = UserName { user: user.into(), host: "%".into() };
        let password = PasswordRules { attempts, lock_days, ..PasswordRules::default() };
        Account { password, ..Account::new(&name, "p", "h") }
    }

    #[test]
    fn a_block_ends_with_its_time_or_with_other_rules() {
        let (all, two) = (FailedLogins::default(), account("u", 2, 1));
        for is_decoy in [false, true] {
            let tried = Tried { account: &two, is_decoy };
            let is_free = |now| all.check(tried, "u", "h", now).is_ok();
            all.failed(tried, 10);
            assert!(is_free(10));
            all.failed(tried, 11);
            assert!(!is_free(11) && !is_free(10 + DAY) && is_free(11 + DAY));
            all.failed(tried, 12 + DAY);
            assert!(is_free(12 + DAY));
            all.failed(tried, 12 + DAY);
            assert!(!is_free(12 + DAY));
        }
        let three = account("u", 3, 1);
        assert!(all.check(Tried { account: &three, is_decoy: false }, "u", "h", 12 + DAY).is_ok());
    }

    #[test]
    fn a_right_password_begins_anew_unless_it_comes_too_late() {
        let (all, two) = (FailedLogins::default(), account("u", 2, UNBOUNDED));
        let tried = Tried { account: &two, is_decoy: false };
        all.failed(tried, 1);
        all.succeeded(&two);
        all.failed(tried, 2);
        assert!(all.check(tried, "u", "h", 2).is_ok());
        all.failed(tried, 3);
        all.succeeded(&two);
        let error = all.check(tried, "u", "h", 1 << 40).unwrap_err();
        assert!(
            error.message.contains("unlimited day(s) (unlimited day(s) remaining) due to 2 consecutive"),
            "{error}"
        );
        all.forget(&two.key());
        assert!(all.check(tried, "u", "h", 4).is_ok());
    }

    #[test]
    fn names_without_an_account_take_bounded_memory() {
        let all = FailedLogins::default();
        for number in 0..DECOYS_MAX + 10 {
            all.failed(Tried { account: &account(&number.to_string(), 1, 1), is_decoy: true }, 1);
        }
        assert_eq!(all.0.lock().decoys.len(), DECOYS_MAX);
    }
}
