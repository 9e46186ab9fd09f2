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
        match self.restrictions.get(database) {
            None => self.global,
            Some(restricted) => self.global.without(*restricted),
        }
    }

    /// The global privileges that it has on every database that a name or pattern of GRANT means.
    pub(super) fn global_on_pattern(&self, wanted: &str) -> Privileges {
        let meant = |name: &str| if self.literal_databases { name == wanted } else { matches_pattern(wanted, name) };
        let restricted = self.restrictions.iter().filter(|(name, _)| meant(name));
        restricted.fold(self.global, |held, (_, restricted)| held.without(*restricted))
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
        let lifted = self.restrictions.get(database).copied().unwrap_or_default().common(privileges);
        self.keep_restricted(|name, restricted| if name == database { restricted.without(lifted) } else { restricted });
        lifted
    }

    /// It has privileges nowhere, or everywhere: no database is an exception any more.
    pub fn lift_everywhere(&mut self, privileges: Privileges) {
        self.keep_restricted(|_, restricted| restricted.without(privileges));
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
    fn patterns_mean_what_they_match() {
        let mut own = account(SELECT.with(INSERT), &[("shop", SELECT)]);
        assert_eq!(own.global_on("shop"), INSERT);
        assert_eq!(own.global_on("sho_"), SELECT.with(INSERT));
        assert_eq!(own.global_on_pattern("sho_"), INSERT);
        own.literal_databases = true;
        assert_eq!(own.global_on_pattern("sho_"), SELECT.with(INSERT));
        assert_eq!(own.lift("shop", SELECT.with(INSERT)), SELECT);
        assert!(own.restrictions.is_empty());
    }
}
