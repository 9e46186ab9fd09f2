//! What accounts have used of what WITH MAX_… allows them within an hour. It is kept in memory only, as in MySQL.

use std::collections::HashMap;
use std::sync::Arc;

use base::{SqlError, codes};
use parking_lot::Mutex;

use super::{Account, Limits};

/// An hour in microseconds.
const HOUR: u64 = 3_600_000_000;

/// The counters of all accounts that have limits.
#[derive(Debug, Default)]
pub struct AllUsage {
    accounts: Mutex<HashMap<String, Arc<Usage>>>,
}

/// What one account has used.
#[derive(Debug, Default)]
pub(crate) struct Usage(Mutex<Counts>);

#[derive(Debug, Default)]
struct Counts {
    /// When the hour began, in microseconds.
    since: u64,
    queries: u32,
    updates: u32,
    connections: u32,
}

impl AllUsage {
    /// The counters of an account; `None` if it has no limits to count for.
    pub(crate) fn of(&self, account: &Account) -> Option<Arc<Usage>> {
        account.limits.is_of_hours().then(|| self.accounts.lock().entry(account.key()).or_default().clone())
    }

    /// A login (1226 if there were too many within the hour). `now` is in microseconds.
    ///
    /// # Errors
    /// 1226
    pub fn connect(&self, account: &Account, now: u64) -> Result<(), SqlError> {
        let Some(usage) = self.of(account) else { return Ok(()) };
        let mut counts = usage.at(now);
        let max = account.limits.connections;
        if max > 0 && counts.connections >= max {
            return Err(exceeded(&account.user, "max_connections_per_hour", max));
        }
        counts.connections += 1;
        Ok(())
    }

    /// FLUSH USER_RESOURCES: all may use as much again.
    pub(crate) fn clear(&self) {
        self.accounts.lock().values().for_each(|usage| *usage.0.lock() = Counts::default());
    }

    /// The account has other limits now, or is gone.
    pub(crate) fn forget(&self, key: &str) {
        if let Some(usage) = self.accounts.lock().get(key) {
            *usage.0.lock() = Counts::default();
        }
    }
}

impl Usage {
    fn at(&self, now: u64) -> parking_lot::MutexGuard<'_, Counts> {
        let mut counts = self.0.lock();
        if now.saturating_sub(counts.since) >= HOUR {
            *counts = Counts { since: now, ..Counts::default() };
        }
        counts
    }

    /// A statement (1226 if there were too many within the hour).
    pub(crate) fn statement(&self, user: &str, limits: &Limits, changes: bool, now: u64) -> Result<(), SqlError> {
        let mut counts = self.at(now);
        let Counts { queries, updates, .. } = &mut *counts;
        let max_updates = if changes { limits.updates } else { 0 };
        for (count, max, name) in [(queries, limits.queries, "max_questions"), (updates, max_updates, "max_updates")] {
            if max > 0 && *count >= max {
                return Err(exceeded(user, name, max));
            }
            *count += u32::from(max > 0);
        }
        Ok(())
    }
}

/// 1226
pub fn exceeded(user: &str, what: &str, max: u32) -> SqlError {
    let message = format!("User '{user}' has exceeded the '{what}' resource (current value: {max})");
    SqlError::new(codes::USER_LIMIT_REACHED, message)
}
