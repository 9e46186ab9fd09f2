//! Where a stream begins, and what of it the replica has already.
//!
//! | asked by | begins | left out |
//! |---|---|---|
//! | file and position | there | nothing |
//! | MySQL's GTIDs | the newest file before which nothing was that the replica lacks | transactions that it has |
//! | MariaDB's GTIDs (`@slave_connect_state`) | the same | of each domain all up to the replica's last one |
//!
//! A replica that is ahead of the relay, because it came from the source, waits until the relay has come to where it is.

use std::sync::Arc;

use base::SqlError;
use binlog::event::MAGIC;
use binlog::{BinlogError, EventType, GtidSet, RawEvent};
use wire::replication::BinlogDump;

use crate::Relay;
use crate::connection::Session;
use crate::error::fatal;
use crate::groups::{Executed, MariaState, Name, name_of};
use crate::source::Kind;
use crate::store::StoredFile;
use crate::variables::before_file;

/// A checked beginning.
#[derive(Debug)]
pub(crate) struct Start {
    pub(crate) file: StoredFile,
    pub(crate) position: u64,
    pub(crate) has: Has,
}

/// What the replica has.
#[derive(Debug)]
pub(crate) enum Has {
    /// It follows by position: what it asks for is sent.
    Unknown,
    Mysql(GtidSet),
    /// Of each domain the transaction that is to come yet, and is the last one that the replica has.
    Maria(MariaState),
}

/// Finds where a stream begins, or why it cannot.
pub(crate) async fn find(relay: &Arc<Relay>, session: &Session, dump: &BinlogDump) -> Result<Start, SqlError> {
    if Kind::of(&relay.store.version()) == Kind::Maria
        && let Some(state) = session.variable(&["slave_connect_state"]).and_then(crate::dump::text)
    {
        let has = MariaState::of_list(&state);
        let has = has.ok_or_else(|| fatal(format!("Replica sent a malformed GTID position: '{state}'")))?;
        return by_maria(relay, has).await;
    }
    match &dump.gtid_set {
        Some(bytes) if dump.file.is_empty() || !is_empty_set(bytes) => by_gtids(relay, bytes).await,
        _ => by_position(relay, &dump.file, dump.position),
    }
}

/// Who names a file and has nothing asks for a position that does not fit into the other command.
fn is_empty_set(bytes: &[u8]) -> bool {
    bytes.iter().all(|&byte| byte == 0)
}

fn by_position(relay: &Relay, name: &str, position: u64) -> Result<Start, SqlError> {
    if position < MAGIC.len() as u64 {
        return Err(fatal("Client requested source to start replication from position < 4"));
    }
    let found = if name.is_empty() { relay.store.files().into_iter().next() } else { relay.store.named(name) };
    let file = found.ok_or_else(|| fatal("Could not find first log file name in binary log index file"))?;
    if position > file.size {
        return Err(fatal(format!(
            "Client requested source to start replication from position > file size (position {position} of {}, whose \
             size is {})",
            file.name, file.size
        )));
    }
    Ok(Start { file, position, has: Has::Unknown })
}

fn reading(error: BinlogError) -> SqlError {
    fatal(error.to_string())
}

async fn by_gtids(relay: &Arc<Relay>, bytes: &[u8]) -> Result<Start, SqlError> {
    let has = GtidSet::decode(bytes).map_err(|error| fatal(format!("Replica sent a malformed GTID set: {error}")))?;
    let mut missing = GtidSet::new();
    for file in relay.store.files().into_iter().rev() {
        let before = before_file(relay, &file).await.map_err(reading)?;
        let Some(Executed { mysql: before, .. }) = before else { continue };
        if before.is_subset_of(&has) {
            return Ok(Start { file, position: MAGIC.len() as u64, has: Has::Mysql(has) });
        }
        missing = before;
    }
    missing.subtract(&has);
    Err(fatal(format!(
        "Cannot replicate because the source purged required binary logs. Replicate the missing transactions from \
         elsewhere, or provision a new replica from backup. Consider increasing the source's binary log expiration period. \
         The missing transactions are '{missing}'"
    )))
}

async fn by_maria(relay: &Arc<Relay>, mut has: MariaState) -> Result<Start, SqlError> {
    for file in relay.store.files().into_iter().rev() {
        let before = before_file(relay, &file).await.map_err(reading)?;
        let Some(Executed { maria: before, .. }) = before else { continue };
        let known = |name: &crate::groups::MariaName| {
            has.domains.get(&name.domain).is_some_and(|ours| ours.number >= name.number)
        };
        if !before.domains.values().all(known) {
            continue;
        }
        for name in before.domains.values() {
            match has.domains.get(&name.domain) {
                // The file begins right behind it: there is nothing to leave out.
                Some(ours) if ours == name => drop(has.domains.remove(&name.domain)),
                Some(ours) if ours.number == name.number => return Err(unknown_gtid(&ours.to_string())),
                _ => {}
            }
        }
        return Ok(Start { file, position: MAGIC.len() as u64, has: Has::Maria(has) });
    }
    Err(fatal(
        "Could not find GTID state requested by slave in any binlog files. Probably the slave state is too old and \
         required binlog files have been purged.",
    ))
}

fn unknown_gtid(gtid: &str) -> SqlError {
    fatal(format!(
        "Error: connecting slave requested to start from GTID {gtid}, which is not in the master's binlog. Since the \
         master's binlog contains GTIDs with higher sequence numbers, it probably means that the slave has diverged due to \
         executing extra erroneous transactions"
    ))
}

/// Leaves out what a replica has.
pub(crate) struct Skipper {
    has: Has,
    /// Inside of a transaction that it has.
    skips: bool,
}

impl Skipper {
    pub(crate) fn new(has: Has) -> Self {
        Skipper { has, skips: false }
    }

    /// Whether the replica follows by GTIDs.
    pub(crate) fn by_gtids(&self) -> bool {
        !matches!(self.has, Has::Unknown)
    }

    /// Whether the next event is left out.
    pub(crate) fn skips(&mut self, event: &RawEvent<'_>) -> Result<bool, SqlError> {
        let event_type = event.header.event_type;
        let is_between = matches!(
            event_type,
            EventType::ROTATE | EventType::STOP | EventType::PREVIOUS_GTIDS | EventType::MARIA_GTID_LIST
        );
        if is_between {
            self.skips = false;
        }
        if !self.by_gtids() || !event_type.begins_transaction() {
            return Ok(self.skips);
        }
        let name = name_of(event).map_err(|error| fatal(format!("bogus data in log event; {error}")))?;
        self.skips = match (&mut self.has, name) {
            (Has::Mysql(has), Some(Name::Mysql(gtid, tag))) => has.contains_tagged(gtid, &tag),
            (Has::Maria(has), Some(Name::Maria(name))) => match has.domains.get(&name.domain) {
                Some(ours) if *ours == name => {
                    has.domains.remove(&name.domain);
                    true
                }
                Some(ours) if name.number >= ours.number => return Err(unknown_gtid(&ours.to_string())),
                Some(_) => true,
                None => false,
            },
            _ => false,
        };
        Ok(self.skips)
    }
}
