//! The binary log's files and events, as administrators see them.

use std::sync::Arc;
use std::time::Duration;

use base::{LogPosition, SqlError, UnixMicros, codes};
use binlog::{BinaryLog, BinlogError, GtidSet, MariaGtidName};
use engine::{CHECKPOINT_PIN, Engine};
use repl::MariaNames;
use sql::services::{BinaryLogFile, BinaryLogStatus, BinlogEventRow, BinlogEventsQuery, PurgeBinaryLogs};

use super::{Parts, ServerServices};
use crate::replication;

/// SHOW BINARY LOGS
pub(crate) fn files(log: &BinaryLog) -> Vec<BinaryLogFile> {
    log.files().into_iter().map(|file| BinaryLogFile { name: file.name, size: file.size }).collect()
}

/// SHOW BINARY LOG STATUS
pub(crate) fn status(engine: &Engine) -> BinaryLogStatus {
    let log = engine.log();
    let end = log.durable_end();
    BinaryLogStatus {
        file: log.file_name(end.file),
        position: end.offset,
        executed_gtid_set: log.gtid_executed().to_string(),
    }
}

/// BINLOG_GTID_POS
pub(crate) async fn maria_position(
    log: &Arc<BinaryLog>,
    file: &str,
    position: u64,
) -> Result<Option<String>, SqlError> {
    let number = log.file_number(file);
    let Some(found) = log.files().into_iter().find(|found| Some(found.number) == number && position <= found.size)
    else {
        return Ok(None);
    };
    let names = MariaNames::at(log, LogPosition::new(found.number, position)).await?;
    Ok(Some(names.position_text(log.options().server_id.0)))
}

/// PURGE BINARY LOGS
///
/// Gives who keeps files that were to go. A checkpoint is moved on for it, at most to the last transaction: its file stays, and
/// what other servers' logs are compared with.
pub(crate) async fn purge(engine: &Arc<Engine>, to: PurgeBinaryLogs) -> Result<Option<String>, SqlError> {
    let log = engine.log();
    let mut purged = purge_once(log, &to).await?;
    if purged.held_by.as_deref() == Some(CHECKPOINT_PIN) {
        // Recovery would begin in a file that is to go: a checkpoint now lets it begin later.
        engine.checkpoint().await?;
        purged = purge_once(log, &to).await?;
    }
    Ok(purged.held_by)
}

async fn purge_once(log: &BinaryLog, to: &PurgeBinaryLogs) -> Result<binlog::Purged, SqlError> {
    let purged = match to {
        PurgeBinaryLogs::To(name) => log.purge_to(name).await,
        PurgeBinaryLogs::Before(seconds) => {
            let micros = u64::try_from(*seconds).unwrap_or(0).saturating_mul(1_000_000);
            log.purge_before(UnixMicros(micros)).await
        }
    };
    purged.map_err(|error| match error {
        BinlogError::NoSuchFile(_) => {
            SqlError::new(codes::UNKNOWN_TARGET_BINLOG, "Target log not found in binlog index")
        }
        error => error.into(),
    })
}

/// How often files are looked at for automatic purges.
const PURGE_STEP: Duration = Duration::from_secs(10);

/// Removes files by age and total size, and what a replica without `log_replica_updates` has applied, for ever.
pub(crate) async fn purge_automatically(services: Arc<ServerServices>) {
    let Parts { engine, globals, .. } = &services.parts;
    let clock = engine.env().clock.clone();
    let start = (clock.now(), clock.monotonic());
    loop {
        clock.sleep(PURGE_STEP).await;
        let log = engine.log();
        let settings = globals.snapshot();
        let seconds = settings.purge.binlog_expire_logs_seconds;
        if seconds > 0 && settings.purge.binlog_expire_logs_auto_purge {
            // A clock that is set forward makes nothing older than the time that has passed since the start.
            let passed = clock.monotonic().saturating_sub(start.1).as_micros() as u64;
            let now = clock.now().0.min(start.0.0.saturating_add(passed));
            let before = now.saturating_sub(seconds * 1_000_000);
            report(log.purge_before(UnixMicros(before)).await);
        }
        let limit = settings.purge.binlog_space_limit;
        if limit > 0 {
            report(log.purge_to_size(limit).await);
        }
        if !settings.start.log_replica_updates && services.replicates() {
            let last = log.file_name(log.durable_end().file);
            report(log.purge_to(&last).await);
        }
    }
}

fn report(result: Result<binlog::Purged, BinlogError>) {
    if let Err(error) = result {
        tracing::warn!("cannot purge binary log files: {error}");
    }
}

/// SHOW BINLOG EVENTS
pub(crate) async fn events(log: &Arc<BinaryLog>, query: BinlogEventsQuery) -> Result<Vec<BinlogEventRow>, SqlError> {
    let failed = |error: &dyn std::fmt::Display| {
        SqlError::new(
            codes::ERROR_WHEN_EXECUTING_COMMAND,
            format!("Error when executing command SHOW BINLOG EVENTS: {error}"),
        )
    };
    let number = match &query.file {
        Some(name) => {
            let known = log.file_number(name).filter(|number| log.files().iter().any(|file| file.number == *number));
            known.ok_or_else(|| failed(&"Could not find target log"))?
        }
        None => log.files().first().map_or(0, |file| file.number),
    };
    let start = log.event_from(LogPosition::new(number, query.position.unwrap_or(0))).await;
    let Some(start) = start.map_err(|error| failed(&error))? else { return Ok(Vec::new()) };
    let mut reader = log.reader(start);
    let mut rows = Vec::new();
    let mut skip = query.offset;
    while query.limit.is_none_or(|limit| (rows.len() as u64) < limit) {
        let Some(event) = reader.next_event().await.map_err(|error| failed(&error))? else { break };
        if event.start.file != number {
            break;
        }
        if skip > 0 {
            skip -= 1;
            continue;
        }
        rows.push(BinlogEventRow {
            file: log.file_name(number),
            position: event.start.offset,
            event_type: event.header.event_type.name().to_owned(),
            server_id: event.header.server_id,
            end: event.end.offset,
            info: binlog::dump::info(&event.raw()).unwrap_or_else(|error| error.to_string()),
        });
    }
    Ok(rows)
}

/// How often GTIDs that are waited for are looked at.
const GTID_STEP: Duration = Duration::from_millis(2);

/// WAIT_FOR_EXECUTED_GTID_SET: whether all of `set` was there in time.
pub(crate) async fn wait_for_gtids(engine: &Engine, set: &str, timeout: Option<Duration>) -> Result<bool, SqlError> {
    let set: GtidSet = set.parse().map_err(|_| {
        SqlError::new(codes::MALFORMED_GTID_SET_SPECIFICATION, format!("Malformed GTID set specification '{set}'."))
    })?;
    wait_until(engine, timeout, |executed| set.is_subset_of(executed)).await
}

/// MASTER_GTID_WAIT: whether each domain came as far in time as a position of MariaDB's says (`0-1-17,2-1-4`).
pub(crate) async fn wait_for_position(
    engine: &Engine,
    position: &str,
    timeout: Option<Duration>,
) -> Result<bool, SqlError> {
    let names = replication::parse_position(position)?;
    let is_reached = |executed: &GtidSet| {
        let now = MariaNames::behind(executed);
        let is_there = |name: &MariaGtidName| now.number_of(name.domain_id).is_some_and(|number| number >= name.seq_no);
        names.iter().all(is_there)
    };
    wait_until(engine, timeout, is_reached).await
}

async fn wait_until(
    engine: &Engine,
    timeout: Option<Duration>,
    is_reached: impl Fn(&GtidSet) -> bool,
) -> Result<bool, SqlError> {
    let clock = &engine.env().clock;
    let start = clock.monotonic();
    loop {
        // On a source what counts is durable, on a follower it is applied.
        if is_reached(&engine.log().gtid_executed()) && is_reached(&engine.gtid_executed()) {
            return Ok(true);
        }
        if timeout.is_some_and(|timeout| clock.monotonic().saturating_sub(start) >= timeout) {
            return Ok(false);
        }
        engine.check_running()?;
        clock.sleep(GTID_STEP).await;
    }
}
