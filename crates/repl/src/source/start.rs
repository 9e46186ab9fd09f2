//! Where a dump begins.

use std::sync::Arc;

use base::{LogPosition, SqlError};
use binlog::event::MAGIC;
use binlog::{BinaryLog, GtidSet};
use session::dump::DumpRequest;

use super::maria_names::{self, Had};
use super::{Wishes, fatal, text};

/// A checked beginning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Start {
    pub(super) at: LogPosition,
    /// Transactions that the replica has, if it follows by GTIDs.
    pub(super) has: Option<GtidSet>,
    /// What it has, if it follows by MariaDB's GTIDs.
    pub(super) had: Option<Had>,
}

/// Finds where the dump begins, or why it cannot.
pub(super) fn find(log: &Arc<BinaryLog>, request: &DumpRequest, wishes: &Wishes) -> Result<Start, SqlError> {
    if let Some(state) = request.variable(&["slave_connect_state"]).filter(|_| wishes.is_maria).and_then(text) {
        let (at, had) = maria_names::find(log, &maria_names::parse(&state)?)?;
        return Ok(Start { at, has: None, had: Some(had) });
    }
    match &request.dump.gtid_set {
        Some(bytes) => by_gtids(log, bytes),
        None => by_position(log, &request.dump.file, request.dump.position),
    }
}

fn by_position(log: &Arc<BinaryLog>, file: &str, position: u64) -> Result<Start, SqlError> {
    if position < MAGIC.len() as u64 {
        return Err(fatal("Client requested source to start replication from position < 4"));
    }
    let files = log.files();
    let unknown = || fatal("Could not find first log file name in binary log index file");
    let found = if file.is_empty() {
        files.first().ok_or_else(unknown)?
    } else {
        let number = log.file_number(file).ok_or_else(unknown)?;
        files.iter().find(|found| found.number == number).ok_or_else(unknown)?
    };
    if position > found.size {
        return Err(fatal(format!(
            "Client requested source to start replication from position > file size (position {position} of {}, \
             whose size is {})",
            found.name, found.size
        )));
    }
    Ok(Start { at: LogPosition::new(found.number, position), has: None, had: None })
}

fn by_gtids(log: &Arc<BinaryLog>, bytes: &[u8]) -> Result<Start, SqlError> {
    let has = GtidSet::decode(bytes).map_err(|error| fatal(format!("Replica sent a malformed GTID set: {error}")))?;
    let ours = log.options().server_uuid;
    let executed = log.gtid_executed();
    if has.lasts_of(ours).any(|last| last.gno > executed.last_of(ours, last.tag)) {
        return Err(fatal(
            "Replica has more GTIDs than the source has, using the source's SERVER_UUID. This may indicate that the \
             end of the binary log was truncated or that the last binary log file was lost, e.g., after a power or disk \
             failure when sync_binlog != 1. The source may or may not have rolled back transactions that were already \
             replicated to the replica.",
        ));
    }
    let mut missing = log.gtid_purged();
    missing.subtract(&has);
    let at = log.file_without(&has).filter(|_| missing.is_empty());
    let at = at.ok_or_else(|| {
        fatal(format!(
            "Cannot replicate because the source purged required binary logs. Replicate the missing transactions from \
             elsewhere, or provision a new replica from backup. Consider increasing the source's binary log expiration \
             period. The missing transactions are '{missing}'"
        ))
    })?;
    Ok(Start { at, has: Some(has), had: None })
}
