//! What an account has beside its password, its privileges and its roles: what its connection has to be like, how much it may use, and the
//! rules for its password.

use serde::{Deserialize, Serialize};

/// WITH MAX_…: how much an account may use; 0 is as much as it wants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// MAX_QUERIES_PER_HOUR.
    #[serde(default, skip_serializing_if = "is_default")]
    pub queries: u32,
    /// MAX_UPDATES_PER_HOUR.
    #[serde(default, skip_serializing_if = "is_default")]
    pub updates: u32,
    /// MAX_CONNECTIONS_PER_HOUR.
    #[serde(default, skip_serializing_if = "is_default")]
    pub connections: u32,
    /// MAX_USER_CONNECTIONS.
    #[serde(default, skip_serializing_if = "is_default")]
    pub at_once: u32,
}

impl Limits {
    /// Whether anything is counted within an hour.
    pub fn is_of_hours(&self) -> bool {
        self.queries > 0 || self.updates > 0 || self.connections > 0
    }
}

/// PASSWORD …, FAILED_LOGIN_ATTEMPTS and PASSWORD_LOCK_TIME: the rules for an account's password, and how old it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PasswordRules {
    /// PASSWORD EXPIRE: it has to be changed before anything else is done.
    #[serde(default, skip_serializing_if = "is_default")]
    pub expired: bool,
    /// When it was changed, in seconds since 1970; 0 if that is not known.
    #[serde(default, skip_serializing_if = "is_default")]
    pub changed: u32,
    /// PASSWORD EXPIRE INTERVAL, in days; 0 for NEVER, `None` for `default_password_lifetime`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub lifetime: Option<u16>,
    /// PASSWORD HISTORY; `None` for `password_history`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub history: Option<u16>,
    /// PASSWORD REUSE INTERVAL, in days; `None` for `password_reuse_interval`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub reuse_days: Option<u16>,
    /// PASSWORD REQUIRE CURRENT (OPTIONAL is `false`); `None` for `password_require_current`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub require_current: Option<bool>,
    /// FAILED_LOGIN_ATTEMPTS.
    #[serde(default, skip_serializing_if = "is_default")]
    pub attempts: u16,
    /// PASSWORD_LOCK_TIME, in days; [`UNBOUNDED`].
    #[serde(default, skip_serializing_if = "is_default")]
    pub lock_days: i16,
}

/// Seconds of a day.
pub(crate) const DAY: u64 = 86_400;

impl PasswordRules {
    /// Whether so many failed logins in a row block the account: both options are needed.
    pub fn blocks(&self) -> bool {
        self.attempts > 0 && self.lock_days != 0
    }

    /// Whether the password has expired, at a time in seconds since 1970.
    pub fn is_expired(&self, now: u64, default_lifetime: u16) -> bool {
        let lifetime = u64::from(self.lifetime.unwrap_or(default_lifetime));
        let is_old = lifetime > 0 && self.changed > 0 && u64::from(self.changed) + lifetime * DAY < now;
        self.expired || is_old
    }
}

/// What the server says of old passwords for accounts that say nothing themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReusePolicy {
    /// `password_history`
    pub history: u32,
    /// `password_reuse_interval`, in days
    pub days: u32,
}

impl ReusePolicy {
    /// What holds for an account with these rules.
    pub fn of(self, rules: &PasswordRules) -> ReusePolicy {
        ReusePolicy {
            history: rules.history.map_or(self.history, u32::from),
            days: rules.reuse_days.map_or(self.days, u32::from),
        }
    }

    /// Any password may be used again.
    pub fn is_none(self) -> bool {
        self == ReusePolicy::default()
    }

    /// Whether a password counts that has `newer` ones after it and was set at a time, in microseconds.
    fn counts(self, newer: usize, at: u64, now: u64) -> bool {
        (newer as u64) < u64::from(self.history) || now < at.saturating_add(u64::from(self.days) * DAY * 1_000_000)
    }
}

/// A password that an account has or had.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PastPassword {
    /// When it was set, in microseconds since 1970.
    pub at: u64,
    /// As it was stored.
    pub hash: String,
}

/// The passwords of a list (the newest last) that may not be used again.
pub(crate) fn refused(past: &[PastPassword], policy: ReusePolicy, now: u64) -> impl Iterator<Item = &PastPassword> {
    past.iter().rev().enumerate().filter(move |(newer, it)| policy.counts(*newer, it.at, now)).map(|(_, it)| it)
}

/// The list after a new password: without those that count no longer.
pub(crate) fn remember(past: &mut Vec<PastPassword>, hash: &str, policy: ReusePolicy, now: u64) {
    if policy.is_none() {
        return past.clear();
    }
    past.push(PastPassword { at: now, hash: hash.to_owned() });
    let last = past.len();
    let mut place = 0;
    past.retain(|it| {
        place += 1;
        policy.counts(last - place, it.at, now)
    });
}

pub(super) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_passwords() {
        let day = DAY * 1_000_000;
        let mut past = Vec::new();
        let policy = ReusePolicy { history: 2, days: 1 };
        for (at, hash) in [(0, "a"), (1, "b"), (2, "c"), (2 * day, "d")] {
            remember(&mut past, hash, policy, at);
        }
        let names = |past: &[PastPassword]| past.iter().map(|it| it.hash.clone()).collect::<String>();
        assert_eq!(names(&past), "cd");
        assert_eq!(refused(&past, ReusePolicy { history: 0, days: 1 }, 2 * day).count(), 1);
        assert_eq!(refused(&past, ReusePolicy { history: 5, days: 0 }, 2 * day).count(), 2);
        remember(&mut past, "e", ReusePolicy::default(), 2 * day);
        assert!(past.is_empty());
    }

    #[test]
    fn the_age_of_a_password() {
        let rules = PasswordRules { changed: 1000, lifetime: Some(1), ..PasswordRules::default() };
        assert!(!rules.is_expired(1000 + DAY, 0) && rules.is_expired(1001 + DAY, 0));
        let unknown = PasswordRules { changed: 0, ..rules };
        assert!(!unknown.is_expired(1 << 40, 3));
        let never = PasswordRules { lifetime: Some(0), ..rules };
        assert!(!never.is_expired(1 << 40, 3));
        let default = PasswordRules { lifetime: None, ..rules };
        assert!(default.is_expired(1001 + DAY, 1) && !default.is_expired(1 << 40, 0));
    }
}
