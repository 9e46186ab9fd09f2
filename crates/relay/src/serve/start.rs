//! Where a dump begins.
//!
//! - **By file and position**: a file of the newest generation. A position behind what is published of the newest file is waited
//!   for: a replica that comes from the source may be ahead of the relay for a moment.
//! - **By MySQL's GTIDs**: the newest file of which the replica has all that was before it; what it has of the rest is left out.
//! - **By MariaDB's GTIDs**: the same, by what the file's list says of each domain. Here too who is ahead is waited for.

use std::sync::Arc;

use base::SqlError;
use binlog::event::MAGIC;
use binlog::{BinlogError, GtidSet, MariaGtidName};
use repl::source::{Wishes, fatal, text};
use session::dump::DumpRequest;

use super::stream::reading;
use crate::gtids::{Gtids, Name, parse_maria};
use crate::store::reader::{Reader, Step, head_of};
use crate::store::{FileId, FileInfo, Store};

/// What a replica has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Has {
    /// All before the position that it named.
    Position,
    /// These.
    Mysql(GtidSet),
    /// All up to these, a domain each.
    Maria(Vec<Had>),
}

/// All up to this, in its domain; it was not found in the log yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Had {
    pub(crate) name: MariaGtidName,
    /// The log did not go so far when the stream began: the replica has been at the source, which is ahead of the relay.
    pub(crate) is_ahead: bool,
}

/// A checked beginning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Start {
    pub(crate) file: FileId,
    pub(crate) offset: u64,
    pub(crate) has: Has,
}

/// Finds where the dump begins, or why it cannot.
pub(crate) async fn find(store: &Arc<Store>, request: &DumpRequest, wishes: &Wishes) -> Result<Start, SqlError> {
    let state = request.variable(&["slave_connect_state"]).filter(|_| wishes.is_maria).and_then(text);
    match (state, &request.dump.gtid_set) {
        (Some(state), _) => by_maria(store, &state).await,
        (None, Some(bytes)) => by_mysql(store, bytes).await,
        (None, None) => by_position(store, &request.dump.file, request.dump.position),
    }
}

fn unknown_file() -> SqlError {
    fatal("Could not find first log file name in binary log index file")
}

fn by_position(store: &Store, file: &str, position: u64) -> Result<Start, SqlError> {
    if position < MAGIC.len() as u64 {
        return Err(fatal("Client requested source to start replication from position < 4"));
    }
    let files = store.newest_files();
    let is_wanted = |info: &&FileInfo| file.is_empty() || info.name == file;
    let found = files.iter().find(is_wanted).ok_or_else(unknown_file)?;
    let is_newest = files.last().is_some_and(|newest| newest.id == found.id);
    if position > found.size && !is_newest {
        return Err(fatal(format!(
            "Client requested source to start replication from position > file size (position {position} of {}, whose size is {})",
            found.name, found.size
        )));
    }
    Ok(Start { file: found.id, offset: position, has: Has::Position })
}

async fn by_mysql(store: &Arc<Store>, bytes: &[u8]) -> Result<Start, SqlError> {
    let has = GtidSet::decode(bytes).map_err(|error| fatal(format!("Replica sent a malformed GTID set: {error}")))?;
    let source = store.generation().map(|generation| generation.source);
    if let Some(source) = source.filter(|source| !source.has_gtids()) {
        return Err(fatal(format!(
            "The replication sender thread cannot start in AUTO_POSITION mode: this relay's source has GTID_MODE = {}",
            source.variable("gtid_mode").unwrap_or("OFF")
        )));
    }
    let mut missing = None;
    for file in store.files().iter().rev() {
        let Some(head) = head_if_there(store, file).await? else { continue };
        let Gtids::Mysql(before) = head else { return Err(other_kind("MySQL")) };
        if before.is_subset_of(&has) {
            return Ok(Start { file: file.id, offset: MAGIC.len() as u64, has: Has::Mysql(has) });
        }
        missing = Some(before);
    }
    let mut missing = missing.ok_or_else(unknown_file)?;
    missing.subtract(&has);
    Err(fatal(format!(
        "Cannot replicate because the source purged required binary logs. Replicate the missing transactions from elsewhere, or \
         provision a new replica from backup. The relay does not have them: '{missing}'"
    )))
}

async fn by_maria(store: &Arc<Store>, state: &str) -> Result<Start, SqlError> {
    let bad = |error| fatal(format!("Replica sent a malformed GTID position: {error}"));
    let position = parse_maria(state).map_err(bad)?;
    let ours = match store.gtids() {
        Some(Gtids::Maria(ours)) => ours,
        Some(Gtids::Mysql(_)) => return Err(other_kind("MariaDB")),
        None => return Err(unknown_file()),
    };
    let mut has = Vec::new();
    for &name in &position {
        let is_ahead = ours.is_behind(&name);
        if !is_ahead && !ours.may_hold(&name) {
            return Err(not_in_the_log(&name));
        }
        has.push(Had { name, is_ahead });
    }
    for file in store.files().iter().rev() {
        let Some(head) = head_if_there(store, file).await? else { continue };
        let Gtids::Maria(before) = head else { return Err(other_kind("MariaDB")) };
        if before.is_before(&position) {
            return Ok(Start { file: file.id, offset: MAGIC.len() as u64, has: Has::Maria(has) });
        }
    }
    Err(fatal(format!(
        "Could not find the GTID position that the replica asks for ({state}) in any file of the relay: what it lacks was purged, or \
         was before the relay's first file"
    )))
}

/// The replica has what this log has not, and will not have.
pub(crate) fn not_in_the_log(name: &MariaGtidName) -> SqlError {
    fatal(format!("Error: connecting slave requested to start from GTID {name}, which is not in the relay's log"))
}

/// What the files before one hold; `None` if it was purged meanwhile.
async fn head_if_there(store: &Store, file: &FileInfo) -> Result<Option<Gtids>, SqlError> {
    match head_of(store, file).await {
        Ok(head) => Ok(Some(head.gtids)),
        Err(BinlogError::Io { kind: std::io::ErrorKind::NotFound, .. }) => Ok(None),
        Err(error) => Err(reading(error)),
    }
}

fn other_kind(wanted: &str) -> SqlError {
    fatal(format!("this relay's log is not a {wanted}'s, so it cannot be read by {wanted}'s GTIDs"))
}

/// `BINLOG_GTID_POS(file, position)`: MariaDB's name of a place; `None` (NULL) if it is none.
pub(crate) async fn maria_position_at(
    store: &Arc<Store>,
    file: &str,
    position: u64,
) -> Result<Option<String>, SqlError> {
    let _pin = store.pin(FileId::default());
    let Some(info) = store.newest_files().into_iter().find(|info| info.name == file) else { return Ok(None) };
    if position < MAGIC.len() as u64 || position > info.size {
        return Ok(None);
    }
    let mut reader = Reader::open(store, info.id, 0).await.map_err(reading)?;
    let mut gtids = reader.head().gtids.clone();
    if !matches!(gtids, Gtids::Maria(_)) {
        return Ok(None);
    }
    while reader.position() < position && reader.step().await.map_err(reading)? == Step::Event {
        let event = reader.event().map_err(reading)?;
        if let (true, Ok(Some(name))) = (reader.position() <= position, Name::of(&event)) {
            gtids.add(&name);
        }
    }
    Ok(Some(gtids.to_string()))
}
