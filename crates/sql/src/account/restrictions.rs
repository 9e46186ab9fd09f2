//! Partial revokes: privileges that an account has on everything, but not on some databases.
//!
//! What is restricted is always part of what the account has globally. Names of databases stand for themselves, without wildcards.

use std::collections::BTreeMap;

use super::{Account, Privileges, matches_pattern};

/// Privileges by database.
type Restrictions = BTreeMap<String, Privileges>;

impl Account {
    /// The global privileges that it has on one database.
    pub fn global_on(&self, database: &str) -> Privileges {
        self.global.without(self.restricted_on(database))
    }

    /// The global privileges that it does not have on one database.
    pub(super) fn restricted_on(&self, database: &str) -> Privileges {
        self.restrictions.get(database).copied().unwrap_or_default()
    }

    /// The global privileges that it does not have on some database that a name or pattern of GRANT means.
    pub(super) fn restricted_on_pattern(&self, wanted: &str) -> Privileges {
        let meant = |name: &str| if self.literal_databases { name == wanted } else { matches_pattern(wanted, name) };
        let restricted = self.restrictions.iter().filter(|(name, _)| meant(name));
        restricted.fold(Privileges::default(), |all, (_, restricted)| all.with(*restricted))
    }

    /// What counts of privileges that were granted on a database where others are restricted. A grant on the database ends a restriction of
    /// the same account, so that both come together by roles only, and only where [`Account::lift_where_granted`] does not end it.
    pub(super) fn unrestricted(&self, granted: Privileges, restricted: Privileges) -> Privileges {
        if self.has_roles { granted.without(restricted) } else { granted }
    }

    /// A database on which it does not have one of these privileges, without another account being restricted in the same there.
    pub(crate) fn restricted_beyond(&self, other: &Account, privileges: Privileges) -> Option<&str> {
        let is_more = |(name, restricted): &(&String, &Privileges)| {
            !restricted.common(privileges).without(other.restricted_on(name)).is_empty()
        };
        self.restrictions.iter().find(is_more).map(|(name, _)| name.as_str())
    }

    /// It keeps privileges everywhere but on a database: those of them that it has globally.
    pub fn restrict(&mut self, database: &str, privileges: Privileges) {
        let restricted = self.global.common(privileges);
        if !restricted.is_empty() {
            let before = self.restrictions.entry(database.to_string()).or_default();
            *before = before.with(restricted);
        }
    }

    /// It has privileges on a database again: which of them it did not have there.
    pub fn lift(&mut self, database: &str, privileges: Privileges) -> Privileges {
        let lifted = self.restricted_on(database).common(privileges);
        self.keep_restricted(|name, restricted| if name == database { restricted.without(lifted) } else { restricted });
        lifted
    }

    /// It has privileges nowhere, or everywhere: no database is an exception any more.
    pub fn lift_everywhere(&mut self, privileges: Privileges) {
        self.keep_restricted(|_, restricted| restricted.without(privileges));
    }

    /// What its roles have on a database ends what it is restricted in there itself, as a grant does.
    pub(super) fn lift_by_roles(&mut self) {
        let mut granted = std::mem::take(&mut self.databases);
        for (name, held) in granted.iter_mut().filter(|(name, _)| !may_be_pattern(name)) {
            *held = held.without(self.lift(name, *held));
        }
        granted.retain(|_, held| !held.is_empty());
        self.databases = granted;
    }

    /// It is not restricted where it has the same privilege by a grant on the database. As in MySQL, that is not so of what comes together
    /// by roles where the name of the database has a character that may be a wildcard.
    pub(crate) fn lift_where_granted(&mut self) {
        let (granted, has_roles) = (std::mem::take(&mut self.databases), self.has_roles);
        self.keep_restricted(|name, restricted| {
            let counts = !has_roles || !may_be_pattern(name);
            restricted.without(granted.get(name).copied().filter(|_| counts).unwrap_or_default())
        });
        self.databases = granted;
    }

    /// What becomes of its restrictions when it gets global privileges from a source that has restrictions itself: a privilege is
    /// restricted on a database if it is so wherever it comes from.
    pub(crate) fn join_restrictions(&mut self, granted: Privileges, of_source: &Restrictions) {
        let on = |restrictions: &Restrictions, name: &str| restrictions.get(name).copied().unwrap_or_default();
        let names: Vec<String> = self.restrictions.keys().chain(of_source.keys()).cloned().collect();
        let (held, before) = (self.global, std::mem::take(&mut self.restrictions));
        for name in names {
            let (own, other) = (on(&before, &name), on(of_source, &name).common(granted));
            let both = own.common(other).with(own.without(granted)).with(other.without(held));
            if !both.is_empty() {
                self.restrictions.insert(name, both);
            }
        }
    }

    fn keep_restricted(&mut self, keep: impl Fn(&str, Privileges) -> Privileges) {
        self.restrictions.iter_mut().for_each(|(name, restricted)| *restricted = keep(name, *restricted));
        self.restrictions.retain(|_, restricted| !restricted.is_empty());
    }
}

/// Whether the name of a database could be a pattern in a grant.
fn may_be_pattern(name: &str) -> bool {
    name.contains(['_', '%'])
}

#[cfg(test)]
mod tests {
    use super::super::Privilege;
    use super::*;

    const SELECT: Privileges = Privileges::of(Privilege::Select);
    const INSERT: Privileges = Privileges::of(Privilege::Insert);

    fn account(global: Privileges, restrictions: &[(&str, Privileges)]) -> Account {
        let restrictions = restrictions.iter().map(|(name, restricted)| ((*name).to_string(), *restricted)).collect();
        Account { global, restrictions, ..Account::default() }
    }

    #[test]
    fn a_privilege_is_restricted_if_it_is_so_wherever_it_comes_from() {
        let both = SELECT.with(INSERT);
        let mut own = account(both, &[("a", both), ("b", SELECT)]);
        let other = account(SELECT, &[("a", SELECT), ("c", SELECT)]);
        own.join_restrictions(other.global, &other.restrictions);
        assert_eq!(own.restrictions, account(both, &[("a", both)]).restrictions, "SELECT is restricted on a by both");
        let mut new = account(INSERT, &[]);
        new.join_restrictions(both, &account(both, &[("a", both)]).restrictions);
        assert_eq!(new.restrictions, account(both, &[("a", SELECT)]).restrictions, "INSERT it has without");
    }

    #[test]
    fn what_is_restricted_beside_a_role_does_not_count() {
        let mut own = account(SELECT, &[("shop", SELECT)]);
        own.databases.insert("shop".into(), SELECT.with(INSERT));
        assert_eq!(own.on_database("shop"), SELECT.with(INSERT));
        own.has_roles = true;
        assert_eq!((own.on_database("shop"), own.on_pattern("shop")), (INSERT, INSERT));
        own.databases.insert("shop".into(), SELECT);
        assert!(!own.sees_database("shop"));
    }

    #[test]
    fn a_role_lifts_a_restriction_unless_the_name_could_be_a_pattern() {
        let mut own = account(SELECT, &[("shop", SELECT), ("sho_", SELECT)]);
        own.has_roles = true;
        own.databases.extend([("shop".into(), SELECT.with(INSERT)), ("sho_".into(), SELECT.with(INSERT))]);
        own.lift_by_roles();
        assert_eq!((own.on_database("shop"), own.on_database("sho_")), (SELECT.with(INSERT), INSERT));
        assert_eq!(own.databases["shop"], INSERT);
    }

    #[test]
    fn restrictions_beyond_those_of_another_account() {
        let own = account(SELECT.with(INSERT), &[("a", SELECT), ("b", INSERT)]);
        let other = |restrictions: &[(&str, Privileges)]| account(SELECT.with(INSERT), restrictions);
        assert_eq!(own.restricted_beyond(&other(&[]), SELECT), Some("a"));
        assert_eq!(own.restricted_beyond(&other(&[("a", SELECT.with(INSERT))]), SELECT), None);
        assert_eq!(own.restricted_beyond(&other(&[("a", SELECT), ("b", SELECT)]), SELECT.with(INSERT)), Some("b"));
    }

    #[test]
    fn patterns_mean_what_they_match() {
        let mut own = account(SELECT.with(INSERT), &[("shop", SELECT)]);
        assert_eq!(own.global_on("shop"), INSERT);
        assert_eq!(own.global_on("sho_"), SELECT.with(INSERT));
        assert_eq!(own.restricted_on_pattern("sho_"), SELECT);
        own.literal_databases = true;
        assert_eq!(own.restricted_on_pattern("sho_"), Privileges::default());
        assert_eq!(own.lift("shop", SELECT.with(INSERT)), SELECT);
        assert!(own.restrictions.is_empty());
    }
}
