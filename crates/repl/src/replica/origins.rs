//! What is left out of a source's log because of where it was born: `replicate_same_server_id`, IGNORE_SERVER_IDS, DO_DOMAIN_IDS and
//! IGNORE_DOMAIN_IDS.
//!
//! Servers may replicate in a ring. MySQL's GTIDs end it there: what comes round has been executed. By positions, and by MariaDB's GTIDs, which
//! have other names here, only the number of the server says that a transaction was born here. It must not be logged again, not even as one that does
//! nothing, or that would go round for ever.

use base::Gtid;

use crate::follower::SourceSettings;

/// What becomes of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Executed,
    /// Nothing is in our log.
    PassedOver,
    /// It does nothing, and counts as executed.
    WithoutEffect,
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Origins {
    /// Our own number, if what was born here is passed over.
    own: Option<u32>,
    servers: Vec<u32>,
    do_domains: Vec<u32>,
    ignored_domains: Vec<u32>,
}

impl Origins {
    pub(super) fn new(source: &SourceSettings, own: Option<u32>) -> Self {
        Origins {
            own,
            servers: source.ignored_server_ids.clone(),
            do_domains: source.do_domain_ids.clone(),
            ignored_domains: source.ignored_domain_ids.clone(),
        }
    }

    /// Of a transaction that was born on a server, with its GTID if it has one, and the domain of a MariaDB's.
    pub(super) fn fate(&self, server_id: u32, gtid: Option<Gtid>, domain: Option<u32>) -> Fate {
        let is_ignored = self.servers.contains(&server_id);
        match domain {
            None if gtid.is_some() && is_ignored => return Fate::WithoutEffect,
            None if gtid.is_some() => return Fate::Executed,
            _ if is_ignored || self.own == Some(server_id) => return Fate::PassedOver,
            _ => {}
        }
        let is_wanted = |domain| self.do_domains.is_empty() || self.do_domains.contains(&domain);
        match domain {
            Some(domain) if !is_wanted(domain) || self.ignored_domains.contains(&domain) => Fate::WithoutEffect,
            _ => Fate::Executed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_round_is_passed_over() {
        let gtid = Some("3e11fa47-71ca-11e1-9e33-c80aa9429562:5".parse().unwrap());
        let origins = Origins { own: Some(7), servers: vec![8], ..Origins::default() };
        assert_eq!(origins.fate(7, None, None), Fate::PassedOver, "by its position");
        assert_eq!(origins.fate(7, gtid, Some(0)), Fate::PassedOver, "a MariaDB's");
        assert_eq!(origins.fate(7, gtid, None), Fate::Executed, "a MySQL's, which is not executed");
        assert_eq!(origins.fate(8, None, None), Fate::PassedOver);
        assert_eq!(origins.fate(8, gtid, None), Fate::WithoutEffect);
        assert_eq!(origins.fate(9, gtid, Some(0)), Fate::Executed);
        let same = Origins { own: None, ..Origins::default() };
        assert_eq!(same.fate(7, None, None), Fate::Executed);
    }

    #[test]
    fn domains() {
        let gtid = Some("3e11fa47-71ca-11e1-9e33-c80aa9429562:5".parse().unwrap());
        let only = Origins { do_domains: vec![1, 2], ..Origins::default() };
        assert_eq!((only.fate(9, gtid, Some(2)), only.fate(9, gtid, Some(3))), (Fate::Executed, Fate::WithoutEffect));
        assert_eq!(only.fate(9, None, None), Fate::Executed, "a MySQL's has none");
        let but = Origins { ignored_domains: vec![1], ..Origins::default() };
        assert_eq!((but.fate(9, gtid, Some(1)), but.fate(9, gtid, Some(0))), (Fate::WithoutEffect, Fate::Executed));
    }
}
