//! What transactions of our log are called in MariaDB's terms: `domain-server-number`.
//!
//! ```text
//! in the log                                  for MariaDB
//! 4d617269-…-DDDDSSSSSSSS:N                   D-S-N: it was born on a MariaDB, and has its name back
//! any other                                   0-S-n: S is the server where it was born; n is how many such there are up to it, and the
//!                                             highest N of domain 0 before it
//! ```
//! So names are the same on each server that has this log, a source or its followers, whichever servers its transactions were born on,
//! and a replica may be moved from one of them to another, or from its MariaDB source to one of ours behind that.
//!
//! # Invariants
//! - A name is one transaction's for as long as there is the log: what was purged counts too.
//! - Numbers of what was not born on a MariaDB ascend, and each is higher than all of domain 0 before it.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::{Gtid, LogPosition, SqlError};
use binlog::event::MAGIC;
use binlog::{BinaryLog, BinlogError, EventType, GtidEvent, GtidSet, LogEvent, MariaGtidName};

use super::fatal;

/// MariaDB's default domain.
const DOMAIN: u32 = 0;

/// Names transactions in the order of the log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MariaNames {
    /// All transactions so far.
    count: u64,
    /// Those of them that were not born on a MariaDB.
    others: u64,
    /// Of those that were, the newest of each domain; in [`DOMAIN`] that with the highest number.
    born: BTreeMap<u32, MariaGtidName>,
    /// The newest of [`DOMAIN`]. A set of GTIDs says only which it is if all of the domain were born on a MariaDB.
    newest: Option<MariaGtidName>,
}

impl MariaNames {
    /// For what comes behind these.
    pub fn behind(set: &GtidSet) -> Self {
        let newest = MariaGtidName::position(set).into_iter();
        let born: BTreeMap<u32, MariaGtidName> = newest.map(|name| (name.domain_id, name)).collect();
        let is_born = |uuid| MariaGtidName::of(Gtid::new(uuid, 1)).is_some();
        let count_born: u64 =
            set.ranges().filter(|(uuid, ..)| is_born(*uuid)).map(|(_, first, last)| last - first + 1).sum();
        let count = set.count();
        let others = count - count_born;
        let newest = if others == 0 { born.get(&DOMAIN).copied() } else { None };
        MariaNames { count, others, born, newest }
    }

    /// The names up to a position of the log, which must be between two transactions. Reads the file up to there.
    ///
    /// # Errors
    /// When the log cannot be read.
    #[io::boxed]
    pub async fn at(log: &Arc<BinaryLog>, at: LogPosition) -> Result<Self, BinlogError> {
        let mut names = in_file(log, at).await?.unwrap_or_default();
        let mut file = at.file;
        // Nothing of the domain in this file: the newest is in an earlier one, if that is still there.
        while names.newest.is_none() && names.others > 0 {
            let Some(earlier) = log.files().into_iter().rev().find(|other| other.number < file) else { break };
            file = earlier.number;
            if let Some(before) = in_file(log, LogPosition::new(file, u64::MAX)).await? {
                names.follow(&before);
            }
        }
        Ok(names)
    }

    /// The next transaction's name.
    pub fn next(&mut self, gtid: Gtid, server_id: u32) -> MariaGtidName {
        self.count += 1;
        let name = match MariaGtidName::of(gtid) {
            Some(name) => {
                let highest = self.born.entry(name.domain_id).or_insert(name);
                if name.domain_id != DOMAIN || name.seq_no > highest.seq_no {
                    *highest = name;
                }
                name
            }
            None => {
                self.others += 1;
                self.other(server_id)
            }
        };
        if name.domain_id == DOMAIN {
            self.newest = Some(name);
        }
        name
    }

    /// How many transactions there were.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// The highest number of [`DOMAIN`] so far; 0 if it has none.
    fn number(&self) -> u64 {
        self.others + self.born.get(&DOMAIN).map_or(0, |name| name.seq_no)
    }

    /// The highest number of a domain so far.
    pub fn number_of(&self, domain_id: u32) -> Option<u64> {
        if domain_id == DOMAIN {
            return Some(self.number()).filter(|&number| number > 0);
        }
        self.born.get(&domain_id).map(|name| name.seq_no)
    }

    /// Domains that have a transaction.
    fn domains(&self) -> impl Iterator<Item = u32> + '_ {
        let of_others = (self.others > 0 && !self.born.contains_key(&DOMAIN)).then_some(DOMAIN);
        of_others.into_iter().chain(self.born.keys().copied())
    }

    /// The newest of each domain, by domain. Where nobody knows on which server that of [`DOMAIN`] was born, it is `own`.
    pub fn position(&self, own: u32) -> Vec<MariaGtidName> {
        let newest = self.newest.or_else(|| (self.others > 0).then(|| self.other(own)));
        let elsewhere = self.born.values().copied().filter(|name| name.domain_id != DOMAIN);
        newest.into_iter().chain(elsewhere).collect()
    }

    /// The same as `gtid_binlog_pos` has it: `0-1-17,5-2-30`; empty at the log's beginning.
    pub fn position_text(&self, own: u32) -> String {
        self.position(own).iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
    }

    /// The newest of those that were not born on a MariaDB, if it is the newest of its domain.
    fn other(&self, server_id: u32) -> MariaGtidName {
        MariaGtidName { domain_id: DOMAIN, server_id, seq_no: self.number() }
    }

    /// Learns from the file before which the newest transaction of [`DOMAIN`] was.
    pub(super) fn follow(&mut self, before: &MariaNames) {
        if let (None, Some(newest)) = (self.newest, before.newest) {
            let is_born = before.born.get(&DOMAIN) == Some(&newest);
            // What was executed elsewhere meanwhile counts.
            self.newest = Some(if is_born { newest } else { self.other(newest.server_id) });
        }
    }
}

/// What a replica says that it has: all up to one transaction of each domain.
pub(super) fn parse(text: &str) -> Result<Vec<MariaGtidName>, SqlError> {
    MariaGtidName::parse_list(text).map_err(|_| fatal(format!("Replica sent a malformed GTID position: '{text}'")))
}

/// The names up to a position as far as one file says it; `None` for an empty one.
async fn in_file(log: &Arc<BinaryLog>, at: LogPosition) -> Result<Option<MariaNames>, BinlogError> {
    let end = at.min(log.durable_end());
    let mut reader = log.reader(LogPosition::new(at.file, 0)).without_verification();
    let mut found: Option<MariaNames> = None;
    // What is before the file is known by its second event, wherever in it the position is.
    while found.is_none() || reader.position() < end {
        let Some(event) = reader.next_event().await? else { break };
        if event.start.file != at.file || (found.is_some() && event.end > end) {
            break;
        }
        match event.header.event_type {
            EventType::PREVIOUS_GTIDS => found = Some(MariaNames::behind(&GtidSet::decode(event.raw().body())?)),
            event_type if event_type.is_gtid() => {
                if let Some(gtid) = gtid_of(&event)? {
                    found.get_or_insert_default().next(gtid, event.header.server_id);
                }
            }
            _ => {}
        }
    }
    Ok(found)
}

/// `None` for a transaction that is this server's alone.
fn gtid_of(event: &LogEvent) -> Result<Option<Gtid>, BinlogError> {
    Ok(GtidEvent::decode(event.header.event_type, event.raw().body())?.gtid)
}

/// The transactions up to which a replica has all, a domain each, as far as they were not come to yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Had {
    domains: BTreeMap<u32, Last>,
}

/// The last transaction of a domain that a replica has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Last {
    name: MariaGtidName,
    /// On a MariaDB: whether a set holds it is known.
    is_born: bool,
}

impl Had {
    /// Whether there is nothing that the replica has and that is still to come.
    pub(super) fn is_empty(&self) -> bool {
        self.domains.is_empty()
    }

    /// At the beginning of a file: what is before it was come to.
    pub(super) fn begin_file(&mut self, previous: &GtidSet, names: &MariaNames) {
        self.domains.retain(|_, last| match last.is_born {
            true => !previous.contains(last.name.gtid()),
            false => names.number() != last.name.seq_no,
        });
    }

    /// Whether the replica has the next transaction of the log, which `gtid` and `name` stand for.
    pub(super) fn has(&mut self, gtid: Gtid, name: MariaGtidName) -> Result<bool, SqlError> {
        let Some(&last) = self.domains.get(&name.domain_id) else { return Ok(false) };
        let is_other = MariaGtidName::of(gtid).is_none();
        if last.name == name && last.is_born != is_other {
            self.domains.remove(&name.domain_id);
        } else if !last.is_born && is_other && name.seq_no >= last.name.seq_no {
            // Their numbers ascend, so the replica's is none of this log's.
            return Err(unknown_gtid(last.name));
        }
        Ok(true)
    }
}

/// Where a replica's transaction is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Behind the beginning of the file, or the last one of its domain before it.
    Behind,
    /// The last one of its domain before it, if it is one of this log.
    LastBefore,
    /// Farther back, or there is none.
    Before,
}

/// Where the stream to a replica that has everything up to `position` begins: a file's beginning; and what is to be left out.
pub(super) fn find(log: &BinaryLog, position: &[MariaGtidName]) -> Result<(LogPosition, Had), SqlError> {
    let executed = log.gtid_executed();
    let all = MariaNames::behind(&executed);
    let mut had = Had::default();
    for &name in position {
        let is_born = executed.contains(name.gtid());
        let may_be_other = name.domain_id == DOMAIN && all.others > 0 && name.seq_no <= all.number();
        if is_born || may_be_other {
            had.domains.insert(name.domain_id, Last { name, is_born });
        } else if all.number_of(name.domain_id).is_some() {
            return Err(unknown_gtid(name));
        }
        // Domains of which the log has nothing are those of the replica's other sources.
    }
    // What is in no file can only be there already.
    let lacks = MariaNames::behind(&log.gtid_purged()).domains().any(|domain| !had.domains.contains_key(&domain));
    let mut found = None;
    log.walk_back(|number, previous| match place_of(&had, previous) {
        Place::Behind => {
            found = Some(number);
            false
        }
        // Who says which transaction that was is in the file before it: whether it is the replica's is seen there.
        Place::LastBefore if found.is_none() => {
            found = Some(number);
            true
        }
        Place::LastBefore => false,
        Place::Before => true,
    });
    let Some(number) = found.filter(|_| !lacks) else {
        return Err(fatal(
            "Could not find GTID state requested by slave in any binlog files. Probably the slave state is too old and \
             required binlog files have been purged.",
        ));
    };
    Ok((LogPosition::new(number, MAGIC.len() as u64), had))
}

/// The farthest back of a replica's transactions, seen from a file that has `previous` before it. `LastBefore` only if one was not born on a
/// MariaDB: by the others' GTIDs the set says whether it has them.
fn place_of(had: &Had, previous: &GtidSet) -> Place {
    let names = MariaNames::behind(previous);
    let mut place = Place::Behind;
    for domain in names.domains() {
        let Some(&Last { name, is_born }) = had.domains.get(&domain) else { return Place::Before };
        if is_born {
            let is_last = names.born.get(&domain) == Some(&name) && (domain != DOMAIN || names.others == 0);
            if previous.contains(name.gtid()) && !is_last {
                return Place::Before;
            }
        } else if names.number() > name.seq_no {
            return Place::Before;
        } else if names.number() == name.seq_no {
            place = Place::LastBefore;
        }
    }
    place
}

fn unknown_gtid(gtid: MariaGtidName) -> SqlError {
    fatal(format!(
        "Error: connecting slave requested to start from GTID {gtid}, which is not in the master's binlog. Since the \
         master's binlog contains GTIDs with higher sequence numbers, it probably means that the slave has diverged due to \
         executing extra erroneous transactions"
    ))
}
