//! Where transactions of a source's log begin and end, and which of them there are: in MySQL's dialect and in MariaDB's.
//!
//! ```text
//! MySQL     GTID  QUERY 'BEGIN' … XID | QUERY 'COMMIT' | XA_PREPARE
//!           GTID  QUERY of a schema change
//!           GTID  TRANSACTION_PAYLOAD
//! MariaDB   GTID               … XID | QUERY 'COMMIT' | XA_PREPARE
//!           GTID, standalone  QUERY
//! ```
//! # Invariants
//! - A transaction counts once its last event was seen.
//! - An end that is not understood is made good by the next beginning: nothing is held back for ever.

use std::collections::BTreeMap;
use std::fmt;

use base::Gtid;
use binlog::event::{MariaGtid, MariaGtidList, QueryEvent};
use binlog::{DecodeError, EventType, GtidEvent, GtidSet, RawEvent};

/// A transaction's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Name {
    /// MySQL's: a GTID, and its tag or nothing.
    Mysql(Gtid, String),
    Maria(MariaName),
    /// It has none.
    Anonymous,
}

/// MariaDB's name of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MariaName {
    pub(crate) domain: u32,
    pub(crate) server: u32,
    pub(crate) number: u64,
}

impl fmt::Display for MariaName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}-{}", self.domain, self.server, self.number)
    }
}

/// The name in an event with which a transaction begins; `None` if it is another event.
pub(crate) fn name_of(event: &RawEvent<'_>) -> Result<Option<Name>, DecodeError> {
    let event_type = event.header.event_type;
    if !event_type.begins_transaction() {
        return Ok(None);
    }
    if event_type == EventType::MARIA_GTID {
        return Ok(Some(Name::Maria(maria_name(event)?.0)));
    }
    let decoded = GtidEvent::decode(event_type, event.body())?;
    Ok(Some(decoded.gtid.map_or(Name::Anonymous, |gtid| Name::Mysql(gtid, decoded.tag))))
}

fn maria_name(event: &RawEvent<'_>) -> Result<(MariaName, bool), DecodeError> {
    let gtid = MariaGtid::decode(event.body())?;
    let name = MariaName { domain: gtid.domain_id, server: event.header.server_id, number: gtid.seq_no };
    Ok((name, gtid.is_standalone()))
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    #[default]
    Between,
    /// Behind a name that does not say what follows.
    Named,
    /// Behind the name of a single statement.
    Alone,
    /// In a transaction that has an end of its own.
    Inside,
}

/// Follows the events of a log.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    place: Place,
    name: Option<Name>,
}

/// What an event is among transactions.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Step {
    /// A transaction begins with it.
    pub(crate) begins: bool,
    /// Behind it the log is between two transactions.
    pub(crate) settled: bool,
    /// The transaction that has ended, with this event or before it.
    pub(crate) ended: Option<Name>,
}

impl Groups {
    /// Takes the next event.
    pub(crate) fn event(&mut self, event: &RawEvent<'_>) -> Result<Step, DecodeError> {
        let event_type = event.header.event_type;
        if let Some(name) = name_of(event)? {
            let ended = self.name.replace(name);
            self.place = self.place_behind_name(event)?;
            return Ok(Step { begins: true, settled: false, ended });
        }
        let ends = match (self.place, event_type) {
            (_, EventType::ROTATE | EventType::STOP | EventType::FORMAT_DESCRIPTION) => true,
            (Place::Between, _) => true,
            (_, EventType::XID | EventType::XA_PREPARE | EventType::TRANSACTION_PAYLOAD) => true,
            (Place::Named, EventType::QUERY) => {
                let begins = begins_transaction(event)?;
                self.place = if begins { Place::Inside } else { Place::Between };
                !begins
            }
            (Place::Named | Place::Alone, EventType::INCIDENT) => true,
            (Place::Alone, EventType::QUERY | EventType::MARIA_QUERY_COMPRESSED | EventType::EXECUTE_LOAD_QUERY) => {
                true
            }
            (Place::Inside, EventType::QUERY) => QueryEvent::decode(event.body())?.ends_transaction(),
            _ => false,
        };
        if !ends {
            return Ok(Step::default());
        }
        self.place = Place::Between;
        Ok(Step { begins: false, settled: true, ended: self.name.take() })
    }

    fn place_behind_name(&self, event: &RawEvent<'_>) -> Result<Place, DecodeError> {
        if event.header.event_type != EventType::MARIA_GTID {
            return Ok(Place::Named);
        }
        Ok(if maria_name(event)?.1 { Place::Alone } else { Place::Inside })
    }
}

fn begins_transaction(event: &RawEvent<'_>) -> Result<bool, DecodeError> {
    let query = QueryEvent::decode(event.body())?;
    let is_xa = query.sql.get(..9).is_some_and(|head| head.eq_ignore_ascii_case(b"XA START "));
    Ok(is_xa || query.begins_transaction())
}

/// Which transactions a log has, in either dialect.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Executed {
    pub(crate) mysql: GtidSet,
    pub(crate) maria: MariaState,
    /// The last transaction had no name.
    pub(crate) anonymous: bool,
}

impl Executed {
    /// Adds one.
    pub(crate) fn add(&mut self, name: &Name) {
        self.anonymous = *name == Name::Anonymous;
        match name {
            Name::Mysql(gtid, tag) => self.mysql.add_tagged(*gtid, tag),
            Name::Maria(name) => self.maria.add(*name),
            Name::Anonymous => {}
        }
    }

    /// What a file says was before it, if the event is the one that does.
    pub(crate) fn before_file(event: &RawEvent<'_>) -> Result<Option<Self>, DecodeError> {
        match event.header.event_type {
            EventType::PREVIOUS_GTIDS => {
                Ok(Some(Executed { mysql: GtidSet::decode(event.body())?, ..Executed::default() }))
            }
            EventType::MARIA_GTID_LIST => {
                let mut maria = MariaState::default();
                for (domain, server, number) in MariaGtidList::decode(event.body())?.gtids {
                    maria.add(MariaName { domain, server, number });
                }
                Ok(Some(Executed { maria, ..Executed::default() }))
            }
            _ => Ok(None),
        }
    }
}

/// A place in a MariaDB's log: the last transaction of each domain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct MariaState {
    pub(crate) domains: BTreeMap<u32, MariaName>,
}

impl MariaState {
    pub(crate) fn add(&mut self, name: MariaName) {
        self.domains.insert(name.domain, name);
    }

    /// Reads `domain-server-number, …`; `None` if it is nothing of that kind.
    pub(crate) fn of_list(text: &str) -> Option<Self> {
        let mut state = MariaState::default();
        for gtid in text.split(',').map(str::trim).filter(|gtid| !gtid.is_empty()) {
            let mut parts = gtid.split('-');
            let (domain, server, number) = (parts.next()?, parts.next()?, parts.next()?);
            if parts.next().is_some() {
                return None;
            }
            let (domain, server) = (domain.parse().ok()?, server.parse().ok()?);
            state.add(MariaName { domain, server, number: number.parse().ok()? });
        }
        Some(state)
    }
}

impl fmt::Display for MariaState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, name) in self.domains.values().enumerate() {
            write!(f, "{}{name}", if at > 0 { "," } else { "" })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use binlog::event::{ChecksumAlgorithm, Frame, whole_event};

    use super::*;

    fn step(groups: &mut Groups, event_type: EventType, body: &[u8]) -> Step {
        let frame = Frame { timestamp: 1, server_id: 7, flags: 0 };
        let bytes = whole_event(event_type, frame, 4, body);
        groups.event(&RawEvent::first_of(&bytes, ChecksumAlgorithm::Crc32).unwrap()).unwrap()
    }

    fn query(sql: &str) -> Vec<u8> {
        let query =
            QueryEvent { thread_id: 1, exec_time: 0, error_code: 0, status: &[], schema: b"d", sql: sql.as_bytes() };
        let mut body = Vec::new();
        query.encode_body(&mut body);
        body
    }

    fn maria(number: u64, flags: u8) -> Vec<u8> {
        let mut body = Vec::new();
        MariaGtid { seq_no: number, flags, ..MariaGtid::default() }.encode_body(&mut body);
        body
    }

    #[test]
    fn mariadb_transactions_and_single_statements() {
        let mut groups = Groups::default();
        assert!(step(&mut groups, EventType::MARIA_GTID, &maria(1, 4)).begins);
        assert!(!step(&mut groups, EventType::QUERY, &query("INSERT INTO t VALUES (1)")).settled);
        assert!(!step(&mut groups, EventType::QUERY, &query("ROLLBACK TO s")).settled);
        let ended = step(&mut groups, EventType::XID, &[0; 8]);
        assert!(ended.settled && matches!(ended.ended, Some(Name::Maria(MariaName { number: 1, server: 7, .. }))));
        step(&mut groups, EventType::MARIA_GTID, &maria(2, 1));
        assert!(step(&mut groups, EventType::QUERY, &query("CREATE TABLE t (a INT)")).settled);
        assert!(step(&mut groups, EventType::MARIA_BINLOG_CHECKPOINT, &[0; 8]).settled);
    }

    #[test]
    fn an_end_that_is_missed_is_found_at_the_next_beginning() {
        let mut groups = Groups::default();
        step(&mut groups, EventType::MARIA_GTID, &maria(1, 4));
        let next = step(&mut groups, EventType::MARIA_GTID, &maria(2, 4));
        assert!(next.begins && matches!(next.ended, Some(Name::Maria(MariaName { number: 1, .. }))));
    }

    #[test]
    fn lists_of_mariadbs_names() {
        let state = MariaState::of_list("0-1-5, 3-2-7,").unwrap();
        assert_eq!(state.to_string(), "0-1-5,3-2-7");
        assert_eq!(MariaState::of_list("0-1"), None);
    }
}
