//! What a log holds, in the GTIDs of its kind: MySQL's sets, MariaDB's newest number per domain and server.
//!
//! MariaDB's *position* is the newest GTID of each domain; its *state* is the newest of each domain and server, those of a domain
//! with its newest one last. Files begin with the state, replicas say their position.

use std::collections::BTreeMap;
use std::fmt;

use base::Gtid;
use binlog::event::{MariaGtid, MariaGtidList};
use binlog::{DecodeError, EventType, GtidEvent, GtidSet, MariaGtidName, RawEvent};
use serde::{Deserialize, Serialize};

/// Whose dialect a log is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// MySQL's, and commuter's.
    Mysql,
    /// MariaDB's.
    Maria,
}

impl Kind {
    /// Of a server, by its version.
    pub fn of_version(version: &str) -> Self {
        if version.to_ascii_lowercase().contains("mariadb") { Kind::Maria } else { Kind::Mysql }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if *self == Kind::Maria { "MariaDB" } else { "MySQL" })
    }
}

/// The name of one transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Name {
    /// MySQL's.
    Mysql(Gtid),
    /// MariaDB's.
    Maria(MariaGtidName),
}

impl Name {
    /// Of the event that a transaction begins with; `None` for other events, and where the transaction has no name.
    ///
    /// # Errors
    /// When the event's bytes are no such event.
    pub fn of(event: &RawEvent<'_>) -> Result<Option<Self>, DecodeError> {
        let event_type = event.header.event_type;
        match event_type {
            _ if event_type.is_gtid() => Ok(GtidEvent::decode(event_type, event.body())?.gtid.map(Name::Mysql)),
            EventType::MARIA_GTID => {
                Ok(Some(Name::Maria(MariaGtid::decode(event.body())?.name(event.header.server_id))))
            }
            _ => Ok(None),
        }
    }
}

/// MariaDB's state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MariaState {
    domains: BTreeMap<u32, Domain>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Domain {
    newest: (u32, u64),
    by_server: BTreeMap<u32, u64>,
}

impl MariaState {
    /// Adds a transaction, the newest of its domain.
    pub fn add(&mut self, name: MariaGtidName) {
        let domain = self.domains.entry(name.domain_id).or_default();
        domain.newest = (name.server_id, name.seq_no);
        domain.by_server.insert(name.server_id, name.seq_no);
    }

    /// The newest of each domain.
    pub fn position(&self) -> impl Iterator<Item = MariaGtidName> + '_ {
        let name = |(&domain, state): (&u32, &Domain)| {
            let (server_id, seq_no) = state.newest;
            MariaGtidName { domain_id: domain, server_id, seq_no }
        };
        self.domains.iter().map(name)
    }

    /// The newest of a domain.
    pub fn newest(&self, domain_id: u32) -> Option<MariaGtidName> {
        let (server_id, seq_no) = self.domains.get(&domain_id)?.newest;
        Some(MariaGtidName { domain_id, server_id, seq_no })
    }

    /// Whether a file that begins with this state has, or is followed by, all that somebody at `position` lacks.
    pub fn is_before(&self, position: &[MariaGtidName]) -> bool {
        self.domains.iter().all(|(&domain, state)| {
            let Some(have) = position.iter().find(|name| name.domain_id == domain) else { return false };
            let is_newest = state.newest == (have.server_id, have.seq_no);
            is_newest || state.by_server.get(&have.server_id).is_none_or(|&number| number < have.seq_no)
        })
    }

    /// Whether the transaction is farther on than all that the log has of its domain.
    pub fn is_behind(&self, name: &MariaGtidName) -> bool {
        let Some(domain) = self.domains.get(&name.domain_id) else { return true };
        domain.by_server.values().all(|&number| number < name.seq_no)
    }

    /// Whether the transaction can be one of this log: it holds one of its server in its domain with a number that is not lower. Domains
    /// of which the log has nothing are somebody else's.
    pub fn may_hold(&self, name: &MariaGtidName) -> bool {
        let Some(domain) = self.domains.get(&name.domain_id) else { return true };
        domain.by_server.get(&name.server_id).is_some_and(|&number| name.seq_no <= number)
    }

    fn of_list(list: &MariaGtidList) -> Self {
        let mut state = MariaState::default();
        list.gtids.iter().for_each(|&(domain_id, server_id, seq_no)| {
            state.add(MariaGtidName { domain_id, server_id, seq_no });
        });
        state
    }

    /// All of it, as `gtid_binlog_state` shows it.
    fn whole(&self) -> String {
        let mut names = Vec::new();
        for (&domain, state) in &self.domains {
            let mut all: Vec<_> = state.by_server.iter().collect();
            all.sort_by_key(|(server, _)| **server == state.newest.0);
            names.extend(
                all.into_iter()
                    .map(|(&server_id, &seq_no)| MariaGtidName { domain_id: domain, server_id, seq_no }.to_string()),
            );
        }
        names.join(",")
    }
}

/// `domain-server-number, …`
///
/// # Errors
/// When it is not that.
pub fn parse_maria(text: &str) -> Result<Vec<MariaGtidName>, DecodeError> {
    let gtids = text.split(',').map(str::trim).filter(|gtid| !gtid.is_empty());
    gtids.map(|gtid| gtid.parse().map_err(|_| DecodeError(format!("'{gtid}' is no GTID of MariaDB's")))).collect()
}

/// What a log holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Gtids {
    /// MySQL's.
    Mysql(GtidSet),
    /// MariaDB's.
    Maria(MariaState),
}

impl Gtids {
    /// Of the event behind a file's FORMAT_DESCRIPTION: what the files before hold. `None` if it is another event.
    ///
    /// # Errors
    /// When the event's bytes are no such event.
    pub fn of_head(event: &RawEvent<'_>) -> Result<Option<Self>, DecodeError> {
        match event.header.event_type {
            EventType::PREVIOUS_GTIDS => Ok(Some(Gtids::Mysql(GtidSet::decode(event.body())?))),
            EventType::MARIA_GTID_LIST => {
                Ok(Some(Gtids::Maria(MariaState::of_list(&MariaGtidList::decode(event.body())?))))
            }
            _ => Ok(None),
        }
    }

    /// Whose they are.
    pub fn kind(&self) -> Kind {
        if matches!(self, Gtids::Maria(_)) { Kind::Maria } else { Kind::Mysql }
    }

    /// Adds a transaction. One of the other kind is left out.
    pub fn add(&mut self, name: &Name) {
        match (self, name) {
            (Gtids::Mysql(set), Name::Mysql(gtid)) => drop(set.add(*gtid)),
            (Gtids::Maria(state), Name::Maria(name)) => state.add(*name),
            _ => {}
        }
    }

    /// What another log lacks of this one, as text; empty if it has all. Of MariaDB's what it lacks is known by domain.
    pub fn lacking_in(&self, other: &Gtids) -> String {
        match (self, other) {
            (Gtids::Mysql(ours), Gtids::Mysql(theirs)) => {
                let mut lacks = ours.clone();
                lacks.subtract(theirs);
                lacks.to_string()
            }
            (Gtids::Maria(ours), Gtids::Maria(theirs)) => {
                let has = |name: &MariaGtidName| theirs.newest(name.domain_id).is_some() && theirs.may_hold(name);
                let lacks: Vec<String> =
                    ours.position().filter(|name| !has(name)).map(|name| name.to_string()).collect();
                lacks.join(",")
            }
            _ => self.to_string(),
        }
    }

    /// As [`Gtids::parse`] reads it: all of it, where `Display` shows MariaDB's position.
    pub fn whole(&self) -> String {
        match self {
            Gtids::Mysql(set) => set.to_string(),
            Gtids::Maria(state) => state.whole(),
        }
    }

    /// Reads [`Gtids::whole`].
    ///
    /// # Errors
    /// When it is not that.
    pub fn parse(kind: Kind, text: &str) -> Result<Self, DecodeError> {
        match kind {
            Kind::Mysql => Ok(Gtids::Mysql(text.parse()?)),
            Kind::Maria => {
                let mut state = MariaState::default();
                parse_maria(text)?.into_iter().for_each(|name| state.add(name));
                Ok(Gtids::Maria(state))
            }
        }
    }
}

impl fmt::Display for Gtids {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Gtids::Mysql(set) => set.fmt(f),
            Gtids::Maria(state) => {
                let names: Vec<String> = state.position().map(|name| name.to_string()).collect();
                f.write_str(&names.join(","))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(text: &str) -> MariaState {
        match Gtids::parse(Kind::Maria, text) {
            Ok(Gtids::Maria(state)) => state,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_state_keeps_its_newest_last() {
        let gtids = Gtids::parse(Kind::Maria, "0-2-105,0-1-107,3-1-4").unwrap();
        assert_eq!((gtids.to_string().as_str(), gtids.whole().as_str()), ("0-1-107,3-1-4", "0-2-105,0-1-107,3-1-4"));
        assert_eq!(Gtids::parse(Kind::Maria, &gtids.whole()).unwrap(), gtids);
        for bad in ["0-1", "0-1-2-3", "x", "0-4294967296-1"] {
            assert!(parse_maria(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn what_another_log_lacks() {
        let lacks = |kind, ours: &str, theirs: &str| {
            Gtids::parse(kind, ours).unwrap().lacking_in(&Gtids::parse(kind, theirs).unwrap())
        };
        assert_eq!(lacks(Kind::Maria, "0-1-7,3-1-4", "0-2-9,3-1-3"), "0-1-7,3-1-4");
        assert_eq!(lacks(Kind::Maria, "0-1-7", "0-1-7,0-2-9,5-1-1"), "");
        assert_eq!(lacks(Kind::Maria, "0-1-7", ""), "0-1-7");
        let uuid = "3e11fa47-71ca-11e1-9e33-c80aa9429562";
        assert_eq!(lacks(Kind::Mysql, &format!("{uuid}:1-7"), &format!("{uuid}:1-5")), format!("{uuid}:6-7"));
        assert_eq!(lacks(Kind::Mysql, "", ""), "");
    }

    #[test]
    fn where_a_position_is_to_be_looked_for() {
        let list = state("0-1-100,0-2-105");
        let is_before = |text| list.is_before(&parse_maria(text).unwrap());
        assert!(is_before("0-2-105") && is_before("0-2-110") && is_before("0-1-101,7-1-1"));
        assert!(!is_before("0-1-100"), "what the other server did since is in an earlier file");
        assert!(!is_before("0-2-104") && !is_before("") && !is_before("1-2-105"));
        assert!(is_before("0-3-106"), "a server that was not heard of before");
        assert!(state("").is_before(&[]));
        let may_hold = |text| list.may_hold(&parse_maria(text).unwrap()[0]);
        assert!(may_hold("0-1-100") && may_hold("9-1-1"));
        assert!(!may_hold("0-2-106") && !may_hold("0-3-1"));
        let is_behind = |text| list.is_behind(&parse_maria(text).unwrap()[0]);
        assert!(is_behind("0-1-106") && is_behind("0-3-106") && is_behind("9-1-1"));
        assert!(!is_behind("0-1-101") && !is_behind("0-2-105"));
    }
}
