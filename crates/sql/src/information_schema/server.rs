//! Tables about the server and its connections that tools ask for: what clients say of themselves, executed GTIDs, InnoDB's view of tables.

use base::{SqlError, codes};
use engine::Table;
use types::Value;

use super::rows::{Rows, Source, text};
use crate::account::Privilege;
use crate::show::stream_lines;
use crate::virtual_table::Wanted;

/// 1227 without PROCESS, as for all of InnoDB's tables.
pub(super) fn check_process(source: &Source<'_>) -> Result<(), SqlError> {
    if source.has(Privilege::Process) {
        return Ok(());
    }
    let message = "Access denied; you need (at least one of) the PROCESS privilege(s) for this operation";
    Err(SqlError::new(codes::SPECIFIC_ACCESS_DENIED_ERROR, message))
}

pub(super) const PROCESSES: &str =
    "ID u, USER v32?, HOST v261?, DB v64?, COMMAND v16?, TIME b?, STATE v64?, INFO t?, EXECUTION_ENGINE v9?";

/// `performance_schema.processlist`: as in `information_schema`, with an engine of which there is one.
pub(super) fn processes(source: &Source<'_>) -> Rows {
    let mut rows = super::rows::processlist(source)?;
    rows.iter_mut().for_each(|row| row.push(Value::str_static("PRIMARY")));
    Ok(rows)
}

pub(super) const THREADS: &str = "THREAD_ID u, NAME v128, TYPE v10, PROCESSLIST_ID u?, PROCESSLIST_USER v32?, PROCESSLIST_HOST v255?, \
     PROCESSLIST_DB v64?, PROCESSLIST_COMMAND v16?, PROCESSLIST_TIME b?, PROCESSLIST_STATE v64?, PROCESSLIST_INFO t?, PARENT_THREAD_ID u?, \
     ROLE v64?, INSTRUMENTED v3, HISTORY v3, CONNECTION_TYPE v16?, THREAD_OS_ID u?, RESOURCE_GROUP v64?, EXECUTION_ENGINE v9?, \
     CONTROLLED_MEMORY u, MAX_CONTROLLED_MEMORY u, TOTAL_MEMORY u, MAX_TOTAL_MEMORY u, TELEMETRY_ACTIVE v3";

/// Connections, which are no threads of the operating system; nothing is measured of them.
pub(super) fn threads(source: &Source<'_>) -> Rows {
    let row = |process: Vec<Value>| {
        let id = process.first().cloned().unwrap_or_default();
        let (name, no) = (Value::str_static("thread/sql/one_connection"), Value::str_static("NO"));
        let mut row = vec![id, name, Value::str_static("FOREGROUND")];
        row.extend(process);
        row.extend([Value::Null, Value::Null, no.clone(), no.clone(), Value::Null, Value::Null, Value::Null]);
        row.push(Value::str_static("PRIMARY"));
        row.extend(std::iter::repeat_n(Value::UInt(0), 4));
        row.push(no);
        row
    };
    Ok(super::rows::processlist(source)?.into_iter().map(row).collect())
}

pub(super) const INNODB_CMP: &str =
    "page_size i, compress_ops i, compress_ops_ok i, compress_time i, uncompress_ops i, uncompress_time i";

pub(super) const INNODB_CMPMEM: &str =
    "page_size i, buffer_pool_instance i, pages_used i, pages_free i, relocation_ops b, relocation_time i";

/// Pages of ROW_FORMAT=COMPRESSED: there are none, of any size.
pub(super) fn innodb_cmp(source: &Source<'_>) -> Rows {
    check_process(source)?;
    let row = |kibibytes: i64| {
        let mut row = vec![Value::Int(kibibytes << 10)];
        row.extend(std::iter::repeat_n(Value::Int(0), 5));
        row
    };
    Ok([1, 2, 4, 8, 16].map(row).to_vec())
}

pub(super) const PROFILING: &str = "QUERY_ID i, SEQ i, STATE v30, DURATION d, CPU_USER d?, CPU_SYSTEM d?, CONTEXT_VOLUNTARY i?, \
     CONTEXT_INVOLUNTARY i?, BLOCK_OPS_IN i?, BLOCK_OPS_OUT i?, MESSAGES_SENT i?, MESSAGES_RECEIVED i?, PAGE_FAULTS_MAJOR i?, \
     PAGE_FAULTS_MINOR i?, SWAPS i?, SOURCE_FUNCTION v30?, SOURCE_FILE v20?, SOURCE_LINE i?";

pub(super) const SETUP_INSTRUMENTS: &str =
    "NAME v128, ENABLED v3, TIMED v3?, PROPERTIES v100, FLAGS v10?, VOLATILITY i, DOCUMENTATION t?";

pub(super) const CONNECT_ATTRS: &str = "PROCESSLIST_ID u, ATTR_NAME v32, ATTR_VALUE v1024?, ORDINAL_POSITION i?";

/// Of all connections.
pub(super) fn session_connect_attrs(source: &Source<'_>) -> Rows {
    Ok(connect_attrs(source, |_| true))
}

/// Of the connections of the account's own user.
pub(super) fn session_account_connect_attrs(source: &Source<'_>) -> Rows {
    let own = source.services().processlist().into_iter().filter(|process| process.user == source.user());
    let own: Vec<u32> = own.map(|process| process.id.0).collect();
    Ok(connect_attrs(source, |id| own.contains(&id)))
}

fn connect_attrs(source: &Source<'_>, is_shown: impl Fn(u32) -> bool) -> Vec<Vec<Value>> {
    let mut rows = Vec::new();
    for (id, attributes) in source.services().connect_attributes() {
        if !is_shown(id.0) {
            continue;
        }
        for (place, (name, value)) in attributes.into_iter().enumerate() {
            rows.push(vec![Value::UInt(id.0.into()), text(name), text(value), Value::Int(place as i64)]);
        }
    }
    rows
}

/// The server's counters, with what the session's stream has of its own.
pub(super) fn session_status(source: &Source<'_>) -> Rows {
    let mut lines = source.services().status();
    lines.extend(stream_lines(source.stream()));
    lines.sort();
    Ok(lines.into_iter().map(|(name, value)| vec![text(name), text(value)]).collect())
}

pub(super) const GTID_EXECUTED: &str = "source_uuid v36, interval_start b, interval_end b, gtid_tag v32";

/// A row per interval.
pub(super) fn gtid_executed(source: &Source<'_>) -> Rows {
    let set = source.services().binary_log_status().executed_gtid_set;
    let mut rows = Vec::new();
    for of_server in set.split(',') {
        let mut parts = of_server.trim().split(':');
        let Some(uuid) = parts.next().filter(|uuid| !uuid.is_empty()) else { continue };
        let mut tag = "";
        for part in parts {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            match (first.parse(), last.parse()) {
                (Ok(first), Ok(last)) => {
                    rows.push(vec![text(uuid), Value::Int(first), Value::Int(last), text(tag)]);
                }
                _ => tag = part,
            }
        }
    }
    Ok(rows)
}

pub(super) const INNODB_TABLES: &str = "TABLE_ID u, NAME v655, FLAG i, N_COLS i, SPACE b, ROW_FORMAT v12?, ZIP_PAGE_SIZE u, SPACE_TYPE v10?, \
                                        INSTANT_COLS i, TOTAL_ROW_VERSIONS i";

/// Columns that InnoDB counts beside those of a table.
const HIDDEN_COLUMNS: usize = 3;
/// The formats of tables in InnoDB's flags: DYNAMIC, in a file of its own.
const TABLE_FLAG: i64 = 33;
const TABLESPACE_FLAG: u64 = 16417;

/// The tables that the account may see. Each counts as a tablespace of its own, though there is one data file.
pub(super) fn innodb_table(_: &Source<'_>, table: &Table, _: &Wanted<'_>) -> Vec<Vec<Value>> {
    vec![vec![
        Value::UInt(table.def.id.0),
        text(innodb_name(&table.def)),
        Value::Int(TABLE_FLAG),
        Value::Int((table.def.columns.len() + HIDDEN_COLUMNS) as i64),
        Value::Int(table.def.id.0 as i64),
        Value::str_static("Dynamic"),
        Value::UInt(0),
        Value::str_static("Single"),
        Value::Int(0),
        Value::Int(0),
    ]]
}

/// `database/table`
fn innodb_name(def: &types::TableDef) -> String {
    format!("{}/{}", def.schema, def.name)
}

pub(super) const INNODB_TABLESPACES: &str = "SPACE u, NAME v655, FLAG u, ROW_FORMAT v22?, PAGE_SIZE u, ZIP_PAGE_SIZE u, SPACE_TYPE v10?, \
     FS_BLOCK_SIZE u, FILE_SIZE u, ALLOCATED_SIZE u, AUTOEXTEND_SIZE u, SERVER_VERSION v10?, SPACE_VERSION u, ENCRYPTION v1?, STATE v10?";

/// There is one data file; a table's size is what its pages and those of its indexes take of it.
pub(super) fn innodb_tablespace(source: &Source<'_>, table: &Table, _: &Wanted<'_>) -> Vec<Vec<Value>> {
    let (data, indexes) = source.engine().table_bytes(table);
    vec![vec![
        Value::UInt(table.def.id.0),
        text(innodb_name(&table.def)),
        Value::UInt(TABLESPACE_FLAG),
        Value::str_static("Dynamic"),
        Value::UInt(PAGE_BYTES),
        Value::UInt(0),
        Value::str_static("Single"),
        Value::UInt(4096),
        Value::UInt(data + indexes),
        Value::UInt(data + indexes),
        Value::UInt(0),
        Value::str_static("8.4.0"),
        Value::UInt(1),
        Value::str_static("N"),
        Value::str_static("normal"),
    ]]
}

const PAGE_BYTES: u64 = 16 << 10;

pub(super) const INNODB_METRICS: &str = "NAME v193, SUBSYSTEM v193, COUNT b, MAX_COUNT b?, MIN_COUNT b?, AVG_COUNT d?, COUNT_RESET b, \
     MAX_COUNT_RESET b?, MIN_COUNT_RESET b?, AVG_COUNT_RESET d?, TIME_ENABLED s?, TIME_DISABLED s?, TIME_ELAPSED b?, TIME_RESET s?, STATUS v193, \
     TYPE v193, COMMENT v193";

/// InnoDB's name of a metric, what it is part of, and the status that it is here.
const METRICS: [(&str, &str, &str); 14] = [
    ("buffer_data_reads", "buffer", "Innodb_data_read"),
    ("buffer_data_written", "buffer", "Innodb_data_written"),
    ("buffer_pages_read", "buffer", "Innodb_pages_read"),
    ("buffer_pages_written", "buffer", "Innodb_pages_written"),
    ("buffer_pool_pages_data", "buffer", "Innodb_buffer_pool_pages_data"),
    ("buffer_pool_pages_dirty", "buffer", "Innodb_buffer_pool_pages_dirty"),
    ("buffer_pool_pages_total", "buffer", "Innodb_buffer_pool_pages_total"),
    ("buffer_pool_read_requests", "buffer", "Innodb_buffer_pool_read_requests"),
    ("buffer_pool_reads", "buffer", "Innodb_buffer_pool_reads"),
    ("lock_deadlocks", "lock", "Innodb_deadlocks"),
    ("lock_row_lock_current_waits", "lock", "Innodb_row_lock_current_waits"),
    ("lock_row_lock_time", "lock", "Innodb_row_lock_time"),
    ("lock_row_lock_waits", "lock", "Innodb_row_lock_waits"),
    ("lock_timeouts", "lock", "Innodb_row_lock_timeouts"),
];

/// The metrics that are counters of SHOW STATUS too. `trx_rseg_history_len`, for which tools watch, is how many read views are open: they are
/// what keeps old versions of rows.
pub(super) fn innodb_metrics(source: &Source<'_>) -> Rows {
    check_process(source)?;
    let status = source.services().status();
    let value = |name: &str| {
        let found = status.iter().find(|(known, _)| known == name);
        found.and_then(|(_, value)| value.parse().ok()).unwrap_or(0)
    };
    let mut rows: Vec<_> =
        METRICS.iter().map(|(name, part, status)| metric(name, part, value(status), status)).collect();
    rows.push(metric("trx_rseg_history_len", "transaction", value("Read_views"), "Read_views"));
    Ok(rows)
}

fn metric(name: &'static str, subsystem: &'static str, count: i64, status: &'static str) -> Vec<Value> {
    let mut row = vec![Value::str_static(name), Value::str_static(subsystem), Value::Int(count)];
    row.extend([Value::Null, Value::Null, Value::Null, Value::Int(count)]);
    row.extend(std::iter::repeat_n(Value::Null, 7));
    row.extend([Value::str_static("enabled"), Value::str_static("status_counter"), text(format!("See {status}"))]);
    row
}

pub(super) const TABLE_STATS: &str = "database_name w64, table_name w199, last_update s, n_rows u, clustered_index_size u, \
                                      sum_of_other_index_sizes u";

/// Sizes are in pages, and as of now.
pub(super) fn innodb_table_stats(source: &Source<'_>, table: &Table, _: &Wanted<'_>) -> Vec<Vec<Value>> {
    let (data, indexes) = source.engine().table_bytes(table);
    let known = table.known_statistics();
    vec![vec![
        text(table.def.schema.clone()),
        text(table.def.name.clone()),
        known.as_ref().map_or_else(|| source.now(), |known| source.local(known.collected)),
        Value::UInt(known.map_or_else(|| source.engine().estimate_rows(table), |known| known.rows)),
        Value::UInt(data.div_ceil(PAGE_BYTES).max(1)),
        Value::UInt(indexes.div_ceil(PAGE_BYTES)),
    ]]
}

pub(super) const INDEX_STATS: &str = "database_name w64, table_name w199, index_name w64, last_update s, stat_name w64, stat_value u, \
                                      sample_size u?, stat_description v1024";

/// Per index its different values by the number of parts, and its pages.
pub(super) fn innodb_index_stats(source: &Source<'_>, table: &Table, _: &Wanted<'_>) -> Vec<Vec<Value>> {
    let def = &table.def;
    let Some(known) = table.known_statistics() else { return Vec::new() };
    let mut rows = Vec::new();
    let mut indexes: Vec<_> = def.indexes.iter().collect();
    indexes.sort_by(|a, b| a.name.cmp(&b.name));
    for index in indexes {
        let Some(of_index) = known.indexes.get(&index.id) else { continue };
        let mut row = |stat: String, value: u64, sampled: Option<u64>, description: String| {
            rows.push(vec![
                text(def.schema.clone()),
                text(def.name.clone()),
                text(index.name.clone()),
                source.local(known.collected),
                text(stat),
                Value::UInt(value),
                sampled.map_or(Value::Null, Value::UInt),
                text(description),
            ]);
        };
        let parts = index.parts.iter().chain(&def.primary().parts);
        let names: Vec<&str> = parts.map(|part| &*def.columns[part.column].name).collect();
        // What was read whole are all its leaves; else an entry that was drawn is a leaf that was read.
        let sampled = of_index.sampled.unwrap_or(of_index.leaf_pages).min(of_index.leaf_pages);
        for (number, prefix) in of_index.prefixes.iter().enumerate() {
            // A column of the primary key that the index has already tells nothing more.
            if names[..number].contains(&names[number]) {
                continue;
            }
            let stat = format!("n_diff_pfx{:02}", number + 1);
            row(stat, prefix.distinct.round() as u64, Some(sampled), names[..=number].join(","));
        }
        row("n_leaf_pages".into(), of_index.leaf_pages, None, "Number of leaf pages in the index".into());
        row("size".into(), of_index.pages, None, "Number of pages in the index".into());
    }
    rows
}
