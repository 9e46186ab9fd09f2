//! `performance_schema.replication_*`: what SHOW REPLICA STATUS has in one line, in tables, and who executes what.
//!
//! The tables have MySQL's columns; `replication_applier_barriers`, `replication_applier_crossings`, `replication_applier_queue`, `replication_lag`,
//! `replication_parallelism`, and the columns behind MySQL's in `replication_applier_status_by_worker`, are of this server alone. A time that is not known is the zero date.

use base::{SqlError, UnixMicros, codes};
use types::{DateTime, Value};

use super::rows::{Rows, Source, text};
use crate::account::Privilege;
use crate::expr::coerce::utc_micros_to_local;
use crate::services::{ChannelWork, FilterRule, ReplicaStatusRow, TimedTransaction, Worker, WorkerState};

/// Errors are shown so far.
const ERROR_CHARS: usize = 1024;

/// A channel: its line of SHOW REPLICA STATUS, and the rest.
struct Channel {
    line: ReplicaStatusRow,
    work: ChannelWork,
}

impl Channel {
    fn field(&self, name: &str) -> &str {
        let found = self.line.0.iter().find(|(title, _)| *title == name);
        found.and_then(|(_, value)| value.as_deref()).unwrap_or_default()
    }

    fn text(&self, name: &str) -> Value {
        text(self.field(name))
    }

    fn number(&self, name: &str) -> Value {
        Value::UInt(self.field(name).parse().unwrap_or_default())
    }

    fn yes_no(&self, name: &str) -> Value {
        Value::str_static(if self.field(name) == "Yes" { "YES" } else { "NO" })
    }

    fn name(&self) -> Value {
        text(self.work.channel.clone())
    }

    /// ON, OFF or CONNECTING.
    fn service(&self, name: &str) -> Value {
        Value::str_static(match self.field(name) {
            "Yes" => "ON",
            "No" => "OFF",
            _ => "CONNECTING",
        })
    }

    /// Number and message of the last error, and when it was.
    fn error(&self, number: &str, message: &str, at: UnixMicros, source: &Source<'_>) -> [Value; 3] {
        let shown: String = self.field(message).chars().take(ERROR_CHARS).collect();
        [self.number(number), text(shown), time(at, source)]
    }
}

/// 1142 for whoever may not ask how replication goes.
fn check_permitted(source: &Source<'_>) -> Result<(), SqlError> {
    let is_permitted = [Privilege::Super, Privilege::ReplicationClient].iter().any(|privilege| source.has(*privilege));
    let is_restricted =
        source.account.restrictions.get("performance_schema").is_some_and(|it| it.has(Privilege::Select));
    if !is_permitted || is_restricted {
        let message = "SELECT command denied: tables of replication need the REPLICATION CLIENT privilege";
        return Err(SqlError::new(codes::TABLEACCESS_DENIED_ERROR, message));
    }
    Ok(())
}

fn channels(source: &Source<'_>) -> Result<Vec<Channel>, SqlError> {
    check_permitted(source)?;
    let services = source.services();
    let (lines, work) = (services.replica_status(&None)?, services.replica_work());
    let line_of = |work: &ChannelWork| {
        let name = |line: &&ReplicaStatusRow| {
            line.0.iter().any(|(title, value)| *title == "Channel_Name" && value.as_deref() == Some(&work.channel))
        };
        lines.iter().find(name).cloned()
    };
    Ok(work.into_iter().filter_map(|work| Some(Channel { line: line_of(&work)?, work })).collect())
}

/// A row for each channel.
fn rows(source: &Source<'_>, row: impl Fn(&Channel) -> Vec<Value>) -> Rows {
    Ok(channels(source)?.iter().map(row).collect())
}

/// A TIMESTAMP(6) in the session's time zone.
fn time(at: UnixMicros, source: &Source<'_>) -> Value {
    let local = (at.0 > 0).then(|| utc_micros_to_local(at.0 as i64, source.time_zone())).flatten();
    Value::DateTime(local.unwrap_or(DateTime::ZERO))
}

/// Name, and times of commits; nothing of none.
fn named(transaction: Option<&TimedTransaction>, source: &Source<'_>) -> Vec<Value> {
    let none = TimedTransaction::default();
    let times = transaction.unwrap_or(&none);
    // As in MySQL, it is empty where there is none.
    vec![text(times.name.clone()), time(times.original_commit, source), time(times.immediate_commit, source)]
}

/// The last transaction that somebody is done with, with both times, and the next one, with one.
fn done_and_next(last: Option<&TimedTransaction>, next: Option<&TimedTransaction>, source: &Source<'_>) -> Vec<Value> {
    let none = TimedTransaction::default();
    let mut values = named(last, source);
    values.extend([time(last.unwrap_or(&none).start, source), time(last.unwrap_or(&none).end, source)]);
    values.extend(named(next, source));
    values.push(time(next.unwrap_or(&none).start, source));
    values
}

pub(super) const CONNECTION_CONFIGURATION: &str = "CHANNEL_NAME v64, HOST v255, PORT i, USER v32, NETWORK_INTERFACE v60, AUTO_POSITION v1, SSL_ALLOWED v7, SSL_CA_FILE v512, \
     SSL_CA_PATH v512, SSL_CERTIFICATE v512, SSL_CIPHER v512, SSL_KEY v512, SSL_VERIFY_SERVER_CERTIFICATE v3, SSL_CRL_FILE v255, \
     SSL_CRL_PATH v255, CONNECTION_RETRY_INTERVAL i, CONNECTION_RETRY_COUNT u, HEARTBEAT_INTERVAL d, TLS_VERSION v255, \
     PUBLIC_KEY_PATH v512, GET_PUBLIC_KEY v3, NETWORK_NAMESPACE v64, COMPRESSION_ALGORITHM v64, ZSTD_COMPRESSION_LEVEL i, \
     TLS_CIPHERSUITES t?, SOURCE_CONNECTION_AUTO_FAILOVER v1, GTID_ONLY v1";

pub(super) fn connection_configuration(source: &Source<'_>) -> Rows {
    rows(source, |channel| {
        let get_key = if channel.field("Get_Source_public_key") == "1" { "YES" } else { "NO" };
        let mut row = vec![channel.name(), channel.text("Source_Host"), channel.number("Source_Port")];
        row.extend([channel.text("Source_User"), text(""), channel.text("Auto_Position")]);
        row.extend([channel.yes_no("Source_SSL_Allowed"), channel.text("Source_SSL_CA_File")]);
        row.extend(
            ["Source_SSL_CA_Path", "Source_SSL_Cert", "Source_SSL_Cipher", "Source_SSL_Key"]
                .map(|name| channel.text(name)),
        );
        row.extend([channel.yes_no("Source_SSL_Verify_Server_Cert"), channel.text("Source_SSL_Crl")]);
        row.extend([channel.text("Source_SSL_Crlpath"), channel.number("Connect_Retry")]);
        row.extend([channel.number("Source_Retry_Count"), Value::Double(channel.work.heartbeat_period)]);
        row.extend([channel.text("Source_TLS_Version"), channel.text("Source_public_key_path")]);
        row.extend([text(get_key), text(""), text("uncompressed"), Value::Int(3), Value::Null, text("0"), text("0")]);
        row
    })
}

pub(super) const CONNECTION_STATUS: &str = "CHANNEL_NAME v64, GROUP_NAME v36, SOURCE_UUID v36, THREAD_ID u?, SERVICE_STATE v10, COUNT_RECEIVED_HEARTBEATS u, \
     LAST_HEARTBEAT_TIMESTAMP p, RECEIVED_TRANSACTION_SET t, LAST_ERROR_NUMBER i, LAST_ERROR_MESSAGE v1024, LAST_ERROR_TIMESTAMP p, \
     LAST_QUEUED_TRANSACTION v90?, LAST_QUEUED_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP p, \
     LAST_QUEUED_TRANSACTION_IMMEDIATE_COMMIT_TIMESTAMP p, LAST_QUEUED_TRANSACTION_START_QUEUE_TIMESTAMP p, \
     LAST_QUEUED_TRANSACTION_END_QUEUE_TIMESTAMP p, QUEUEING_TRANSACTION v90?, QUEUEING_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP p, \
     QUEUEING_TRANSACTION_IMMEDIATE_COMMIT_TIMESTAMP p, QUEUEING_TRANSACTION_START_QUEUE_TIMESTAMP p";

pub(super) fn connection_status(source: &Source<'_>) -> Rows {
    rows(source, |channel| {
        let work = &channel.work;
        let mut row = vec![channel.name(), text(""), channel.text("Source_UUID"), Value::Null];
        row.extend([channel.service("Replica_IO_Running"), Value::UInt(work.heartbeats)]);
        row.extend([time(work.last_heartbeat, source), channel.text("Retrieved_Gtid_Set")]);
        row.extend(channel.error("Last_IO_Errno", "Last_IO_Error", work.receiver_error, source));
        row.extend(done_and_next(work.last_queued.as_ref(), work.queueing.as_ref(), source));
        row
    })
}

pub(super) const APPLIER_CONFIGURATION: &str = "CHANNEL_NAME v64, DESIRED_DELAY i, PRIVILEGE_CHECKS_USER t?, REQUIRE_ROW_FORMAT v3, REQUIRE_TABLE_PRIMARY_KEY_CHECK v8, \
     ASSIGN_GTIDS_TO_ANONYMOUS_TRANSACTIONS_TYPE v5, ASSIGN_GTIDS_TO_ANONYMOUS_TRANSACTIONS_VALUE t?";

pub(super) fn applier_configuration(source: &Source<'_>) -> Rows {
    rows(source, |channel| {
        let mut row = vec![channel.name(), channel.number("SQL_Delay"), Value::Null];
        row.extend([text("NO"), text("STREAM"), text("OFF"), Value::Null]);
        row
    })
}

pub(super) const APPLIER_STATUS: &str =
    "CHANNEL_NAME v64, SERVICE_STATE v3, REMAINING_DELAY n?, COUNT_TRANSACTIONS_RETRIES u";

pub(super) fn applier_status(source: &Source<'_>) -> Rows {
    rows(source, |channel| {
        let left = channel.field("SQL_Remaining_Delay").parse().map_or(Value::Null, Value::UInt);
        vec![channel.name(), channel.service("Replica_SQL_Running"), left, Value::UInt(channel.work.retries)]
    })
}

pub(super) const APPLIER_FILTERS: &str =
    "CHANNEL_NAME v64, FILTER_NAME v64, FILTER_RULE t, CONFIGURED_BY v64, ACTIVE_SINCE p, COUNTER u";

pub(super) fn applier_filters(source: &Source<'_>) -> Rows {
    let mut rows = Vec::new();
    for channel in channels(source)? {
        for rule in &channel.work.filters {
            let mut row = vec![channel.name()];
            row.extend(rule_row(rule, source));
            row.push(Value::UInt(rule.count));
            rows.push(row);
        }
    }
    Ok(rows)
}

pub(super) const APPLIER_GLOBAL_FILTERS: &str = "FILTER_NAME v64, FILTER_RULE t, CONFIGURED_BY v64, ACTIVE_SINCE p";

pub(super) fn applier_global_filters(source: &Source<'_>) -> Rows {
    check_permitted(source)?;
    Ok(source.services().replica_filters().iter().map(|rule| rule_row(rule, source)).collect())
}

fn rule_row(rule: &FilterRule, source: &Source<'_>) -> Vec<Value> {
    let name = text(rule.name.to_ascii_uppercase());
    vec![name, text(rule.rule.clone()), Value::str_static(rule.configured_by), time(rule.since, source)]
}

pub(super) const APPLIER_STATUS_BY_COORDINATOR: &str = "CHANNEL_NAME v64, THREAD_ID u?, SERVICE_STATE v3, LAST_ERROR_NUMBER i, LAST_ERROR_MESSAGE v1024, LAST_ERROR_TIMESTAMP p, \
     LAST_PROCESSED_TRANSACTION v90?, LAST_PROCESSED_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP p, \
     LAST_PROCESSED_TRANSACTION_IMMEDIATE_COMMIT_TIMESTAMP p, LAST_PROCESSED_TRANSACTION_START_BUFFER_TIMESTAMP p, \
     LAST_PROCESSED_TRANSACTION_END_BUFFER_TIMESTAMP p, PROCESSING_TRANSACTION v90?, \
     PROCESSING_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP p, PROCESSING_TRANSACTION_IMMEDIATE_COMMIT_TIMESTAMP p, \
     PROCESSING_TRANSACTION_START_BUFFER_TIMESTAMP p";

/// As in MySQL a row for each channel that has a coordinator: one that hands transactions to workers.
pub(super) fn applier_status_by_coordinator(source: &Source<'_>) -> Rows {
    let channels = channels(source)?;
    let row = |channel: &Channel| {
        let mut row = vec![channel.name(), Value::Null, channel.service("Replica_SQL_Running")];
        row.extend(channel.error("Last_SQL_Errno", "Last_SQL_Error", channel.work.applier_error, source));
        row.extend(done_and_next(channel.work.last_buffered.as_ref(), channel.work.buffering.as_ref(), source));
        row
    };
    Ok(channels.iter().filter(|channel| !channel.work.workers.is_empty()).map(row).collect())
}

pub(super) const APPLIER_STATUS_BY_WORKER: &str = "CHANNEL_NAME v64, WORKER_ID u, THREAD_ID u?, SERVICE_STATE v3, LAST_ERROR_NUMBER i, LAST_ERROR_MESSAGE v1024, \
     LAST_ERROR_TIMESTAMP p, LAST_APPLIED_TRANSACTION v90?, LAST_APPLIED_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP p, \
     LAST_APPLIED_TRANSACTION_IMMEDIATE_COMMIT_TIMESTAMP p, LAST_APPLIED_TRANSACTION_START_APPLY_TIMESTAMP p, \
     LAST_APPLIED_TRANSACTION_END_APPLY_TIMESTAMP p, APPLYING_TRANSACTION v90?, APPLYING_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP p, \
     APPLYING_TRANSACTION_IMMEDIATE_COMMIT_TIMESTAMP p, APPLYING_TRANSACTION_START_APPLY_TIMESTAMP p, \
     LAST_APPLIED_TRANSACTION_RETRIES_COUNT u, LAST_APPLIED_TRANSACTION_LAST_TRANSIENT_ERROR_NUMBER i, \
     LAST_APPLIED_TRANSACTION_LAST_TRANSIENT_ERROR_MESSAGE v1024?, LAST_APPLIED_TRANSACTION_LAST_TRANSIENT_ERROR_TIMESTAMP p, \
     APPLYING_TRANSACTION_RETRIES_COUNT u, APPLYING_TRANSACTION_LAST_TRANSIENT_ERROR_NUMBER i, \
     APPLYING_TRANSACTION_LAST_TRANSIENT_ERROR_MESSAGE v1024?, APPLYING_TRANSACTION_LAST_TRANSIENT_ERROR_TIMESTAMP p, \
     WORKER_STATE v64, TABLE_SCHEMA v64?, TABLE_NAME v64?, COUNT_ROW_EVENTS u";

pub(super) fn applier_status_by_worker(source: &Source<'_>) -> Rows {
    let mut rows = Vec::new();
    for channel in channels(source)? {
        // One that executes everything itself is number 0.
        if channel.work.workers.is_empty() {
            let is_running = channel.field("Replica_SQL_Running") == "Yes";
            let alone = Worker { is_running, ..channel.work.alone.clone() };
            rows.push(worker_row(&channel, 0, &alone, source));
        }
        for (worker, number) in channel.work.workers.iter().zip(1..) {
            rows.push(worker_row(&channel, number, worker, source));
        }
    }
    Ok(rows)
}

fn worker_row(channel: &Channel, number: u64, worker: &Worker, source: &Source<'_>) -> Vec<Value> {
    let state = if worker.is_running { "ON" } else { "OFF" };
    let mut row = vec![channel.name(), Value::UInt(number), Value::Null, Value::str_static(state)];
    row.extend(match number {
        0 => channel.error("Last_SQL_Errno", "Last_SQL_Error", channel.work.applier_error, source),
        _ => [Value::UInt(0), text(""), time(UnixMicros(0), source)],
    });
    row.extend(done_and_next(worker.applied.as_ref(), worker.applying.as_ref(), source));
    for retries in [&worker.applied_retries, &worker.applying_retries] {
        let (code, message, at) = retries.error.clone().unwrap_or_default();
        let shown: String = message.chars().take(ERROR_CHARS).collect();
        row.extend([Value::UInt(retries.count), Value::Int(code.into()), text(shown), time(at, source)]);
    }
    let doing = match worker.state {
        _ if number == 0 => channel.field("Replica_SQL_Running_State"),
        _ if !worker.is_running => "",
        WorkerState::Idle => "Waiting for an event from Coordinator",
        WorkerState::Executing => "Applying batch of row changes",
        WorkerState::InOrder => "Waiting for preceding transaction to commit",
    };
    let (schema, table) =
        worker.table.clone().map_or((Value::Null, Value::Null), |(schema, table)| (text(schema), text(table)));
    row.extend([text(doing), schema, table, Value::UInt(worker.row_events)]);
    row
}

pub(super) const APPLIER_QUEUE: &str =
    "CHANNEL_NAME v64, QUEUE_POSITION u, TRANSACTION v90, STATE v32, WORKER_ID u?, WAITS_FOR v90?, EVENT_BYTES u";

pub(super) fn applier_queue(source: &Source<'_>) -> Rows {
    let mut rows = Vec::new();
    for channel in channels(source)? {
        for (queued, position) in channel.work.queue.iter().zip(1..) {
            let worker = queued.worker.map_or(Value::Null, Value::UInt);
            let after = queued.after.clone().map_or(Value::Null, text);
            let state = Value::str_static(queued.state.text());
            let bytes = Value::UInt(queued.bytes);
            rows.push(vec![
                channel.name(),
                Value::UInt(position),
                text(queued.name.clone()),
                state,
                worker,
                after,
                bytes,
            ]);
        }
    }
    Ok(rows)
}

pub(super) const APPLIER_CROSSINGS: &str = "CHANNEL_NAME v64, DOMAIN_ID u, OTHER_DOMAIN_ID u, TABLES t, COUNT_TRANSACTIONS u, LAST_TRANSACTION v90, \
     LAST_OTHER_TRANSACTION v90, LAST_SEEN p";

pub(super) fn applier_crossings(source: &Source<'_>) -> Rows {
    let mut rows = Vec::new();
    for channel in channels(source)? {
        for crossing in &channel.work.crossings {
            let mut row = vec![channel.name(), Value::UInt(crossing.domain.into())];
            row.extend([Value::UInt(crossing.other_domain.into()), text(crossing.tables.clone())]);
            row.extend([Value::UInt(crossing.count), text(crossing.transaction.clone())]);
            row.extend([text(crossing.other.clone()), time(crossing.last, source)]);
            rows.push(row);
        }
    }
    Ok(rows)
}

pub(super) const LAG: &str = "CHANNEL_NAME v64, TRANSACTIONS u?, EVENT_BYTES u, SECONDS d?, SECONDS_SINCE_ORIGIN d?, LAST_TRANSACTION_SECONDS d?";

pub(super) fn lag(source: &Source<'_>) -> Rows {
    rows(source, |channel| {
        let lag = &channel.work.lag;
        let seconds = |seconds: Option<f64>| seconds.map_or(Value::Null, Value::Double);
        vec![
            channel.name(),
            lag.transactions.map_or(Value::Null, Value::UInt),
            Value::UInt(lag.bytes),
            seconds(lag.seconds),
            seconds(lag.origin_seconds),
            seconds(lag.last_seconds),
        ]
    })
}

pub(super) const PARALLELISM: &str = "CHANNEL_NAME v64, PARALLEL_MODE v16, COUNT_RECEIVED u, COUNT_INTERVALS u, AVERAGE_MODIFIED_INTERVAL_LENGTH d?, \
     PSEUDO_GROUP_SIZE d?, COMMIT_GROUP_SIZE d?, COUNT_EXECUTED_BESIDE_OTHERS u, COUNT_WAITED_FOR_ORDER u, COUNT_IN_THE_WAY u, COUNT_TOO_EARLY u";

pub(super) fn parallelism(source: &Source<'_>) -> Rows {
    rows(source, |channel| {
        let of = &channel.work.parallelism;
        let figure = |figure: Option<f64>| figure.map_or(Value::Null, Value::Double);
        let mut row = vec![channel.name(), Value::str_static(of.mode)];
        row.extend([of.received, of.intervals.count].map(Value::UInt));
        row.extend([of.intervals.average(), of.intervals.pseudo_group_size(), of.commit_group_size()].map(figure));
        row.extend([of.executed_beside_others, of.waited_for_order, of.in_the_way, of.too_early].map(Value::UInt));
        row
    })
}

pub(super) const APPLIER_BARRIERS: &str = "CHANNEL_NAME v64, REASON v32, COUNT_TRANSACTIONS u";

pub(super) fn applier_barriers(source: &Source<'_>) -> Rows {
    let mut rows = Vec::new();
    for channel in channels(source)? {
        let of_channel = channel.work.parallelism.barriers.iter();
        rows.extend(of_channel.map(|(why, count)| vec![channel.name(), Value::str_static(why), Value::UInt(*count)]));
    }
    Ok(rows)
}
