//! `INNODB_TRX`: the open transactions of clients.

use std::time::Duration;

use base::UnixMicros;
use engine::{Isolation, TransactionFigures};
use types::Value;

use super::rows::{Rows, Source, text};
use super::server::check_process;
use crate::services::Process;
use crate::show::opt;

/// Bytes of a lock on a row, about: how it is known to its transaction and to the lock table.
const LOCK_BYTES: u64 = 48;
/// Characters of the statement.
const QUERY_CHARS: usize = 1024;

pub(super) const INNODB_TRX: &str = "trx_id u, trx_state v13, trx_started s, trx_requested_lock_id v126?, trx_wait_started s?, trx_weight u, \
     trx_mysql_thread_id u, trx_query v1024?, trx_operation_state v64?, trx_tables_in_use u, trx_tables_locked u, trx_lock_structs u, \
     trx_lock_memory_bytes u, trx_rows_locked u, trx_rows_modified u, trx_concurrency_tickets u, trx_isolation_level v16, trx_unique_checks i, \
     trx_foreign_key_checks i, trx_last_foreign_key_error v256?, trx_adaptive_hash_latched i, trx_adaptive_hash_timeout u, trx_is_read_only i, \
     trx_autocommit_non_locking i, trx_schedule_weight u?";

/// Those that have used a table, whether their clients run a statement or not.
pub(super) fn innodb_trx(source: &Source<'_>) -> Rows {
    check_process(source)?;
    let processes = source.services().processlist().into_iter();
    Ok(processes.filter_map(|process| row(source, process)).collect())
}

fn row(source: &Source<'_>, process: Process) -> Option<Vec<Value>> {
    let figures = process.transaction?;
    let TransactionFigures { number, began, isolation, tables_locked, rows_locked, rows_modified, .. } = figures;
    let locks = tables_locked + rows_locked;
    let uint = Value::UInt;
    let flag = |is_set: bool| Value::Int(is_set.into());
    let waits =
        |since: Duration| source.local(UnixMicros(source.now_micros().0.saturating_sub(since.as_micros() as u64)));
    let query: Option<String> = process.info.map(|query| query.chars().take(QUERY_CHARS).collect());
    let is_non_locking = figures.is_autocommit && rows_locked == 0 && rows_modified == 0;
    Some(vec![
        uint(number),
        Value::str_static(if process.row_wait.is_some() { "LOCK WAIT" } else { "RUNNING" }),
        source.local(began),
        Value::Null,
        process.row_wait.map_or(Value::Null, waits),
        uint(locks + rows_modified),
        uint(process.id.0.into()),
        opt(query.clone()),
        Value::Null,
        uint(if query.is_some() { tables_locked } else { 0 }),
        uint(tables_locked),
        uint(locks),
        uint(locks * LOCK_BYTES),
        uint(rows_locked),
        uint(rows_modified),
        uint(0),
        text(level(isolation)),
        flag(figures.checks[0]),
        flag(figures.checks[1]),
        Value::Null,
        Value::Int(0),
        uint(0),
        flag(figures.is_read_only),
        flag(is_non_locking),
        Value::Null,
    ])
}

fn level(isolation: Isolation) -> &'static str {
    match isolation {
        Isolation::ReadUncommitted => "READ UNCOMMITTED",
        Isolation::ReadCommitted => "READ COMMITTED",
        Isolation::RepeatableRead => "REPEATABLE READ",
        Isolation::Serializable => "SERIALIZABLE",
    }
}
