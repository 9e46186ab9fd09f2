//! The counters of SHOW GLOBAL STATUS.

use std::sync::atomic::{AtomicU64, Ordering};

use binlog::IntervalFigures;
use engine::Engine;
use engine::commit::CommitStats;
use repl::{Channels, Follower};
use session::Shared;
use sql::services::Parallelism;

use super::Parts;

type Lines = Vec<(String, String)>;

fn add(lines: &mut Lines, name: &str, value: impl ToString) {
    lines.push((name.to_owned(), value.to_string()));
}

/// All of them, sorted by name.
pub(super) fn lines(parts: &Parts, shared: Option<&Shared>) -> Lines {
    let Parts { engine, follower, channels, .. } = parts;
    let mut lines = Lines::new();
    if let Some(shared) = shared {
        connections(&mut lines, shared);
    }
    if let Some(pipeline) = engine.commits() {
        commits(&mut lines, pipeline.stats());
        add(&mut lines, "Binlog_cache_use", pipeline.stats().commits.load(Ordering::Relaxed));
    }
    add(&mut lines, "Binlog_cache_disk_use", engine.large_transactions());
    locks(&mut lines, engine);
    store(&mut lines, engine);
    memory(&mut lines, engine);
    comparisons(&mut lines, follower);
    let acknowledges = follower.acknowledges() || channels.all().iter().any(|replica| replica.acknowledges());
    semi_sync(&mut lines, engine, acknowledges);
    row_differences(&mut lines, channels);
    temporary_tables(&mut lines, channels);
    parallel(&mut lines, follower, channels);
    retries(&mut lines, channels);
    lines.sort();
    lines
}

fn connections(lines: &mut Lines, shared: &Shared) {
    let registry = &shared.registry;
    add(lines, "Aborted_clients", registry.aborted_clients());
    add(lines, "Aborted_connects", registry.aborted_connects());
    add(lines, "Connections", registry.opened());
    add(lines, "Global_connection_memory", registry.memory().used());
    add(lines, "Max_used_connections", registry.connected_max_seen());
    add(lines, "Prepared_stmt_count", shared.sql.prepared_count.get());
    add(lines, "Questions", registry.questions());
    add(lines, "Threads_connected", registry.connected());
    add(lines, "Threads_running", registry.running());
    add(lines, "Uptime", shared.uptime().as_secs());
}

fn commits(lines: &mut Lines, stats: &CommitStats) {
    let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    add(lines, "Binlog_bytes_written", read(&stats.bytes));
    add(lines, "Binlog_commits", read(&stats.commits));
    add(lines, "Binlog_gathered_groups", read(&stats.gathered));
    add(lines, "Binlog_group_commits", read(&stats.groups));
    add(lines, "Binlog_inline_commits", read(&stats.inline_commits));
    add(lines, "Binlog_overlapped_groups", read(&stats.overlapped));
    add(lines, "Binlog_syncs", read(&stats.syncs));
    add(lines, "Binlog_writes", read(&stats.writes));
    intervals(lines, "Binlog", stats.intervals.figures());
    add(lines, "Binlog_writeset_barriers_history", read(&stats.history_barriers));
    add(lines, "Binlog_writeset_barriers_large", read(&stats.large_barriers));
    add(lines, "Binlog_writeset_barriers_statement", read(&stats.statement_barriers));
    let sizes = stats.group_size.snapshot();
    add(lines, "Binlog_group_size_mean", format!("{:.2}", sizes.mean()));
    add(lines, "Binlog_group_size_p50", sizes.percentile(50.0));
    add(lines, "Binlog_group_size_p99", sizes.percentile(99.0));
    add(lines, "Binlog_group_size_max", sizes.max);
    let syncs = stats.sync_micros.snapshot();
    add(lines, "Binlog_sync_micros_mean", format!("{:.2}", syncs.mean()));
    add(lines, "Binlog_sync_micros_p50", syncs.percentile(50.0));
    add(lines, "Binlog_sync_micros_p99", syncs.percentile(99.0));
    add(lines, "Binlog_sync_micros_max", syncs.max);
}

fn locks(lines: &mut Lines, engine: &Engine) {
    let waits = engine.lock_waits();
    add(lines, "Innodb_deadlocks", waits.deadlocks);
    add(lines, "Innodb_row_lock_current_waits", waits.current);
    add(lines, "Innodb_row_lock_time", waits.time.as_millis());
    add(lines, "Innodb_row_lock_time_avg", waits.time.as_millis() / u128::from(waits.waits.max(1)));
    add(lines, "Innodb_row_lock_time_max", waits.time_max.as_millis());
    add(lines, "Innodb_row_lock_timeouts", waits.timeouts);
    add(lines, "Innodb_row_lock_waits", waits.waits);
    let held = engine.locks().stats();
    add(lines, "Locks_held", held.records + held.gap_segments + held.pending_inserts + held.tables);
}

fn store(lines: &mut Lines, engine: &Engine) {
    let statistics = engine.store().statistics();
    add(lines, "Innodb_buffer_pool_pages_data", statistics.cache_pages);
    add(lines, "Innodb_buffer_pool_pages_dirty", 0);
    add(lines, "Innodb_buffer_pool_pages_total", statistics.cache_capacity);
    add(lines, "Innodb_buffer_pool_read_requests", statistics.cache_hits + statistics.cache_misses);
    add(lines, "Innodb_buffer_pool_reads", statistics.cache_misses);
    add(lines, "Innodb_page_size", 16384);
    add(lines, "Innodb_pages_read", statistics.pages_read);
    add(lines, "Innodb_pages_written", statistics.pages_written);
    add(lines, "Innodb_data_read", statistics.bytes_read);
    add(lines, "Innodb_data_written", statistics.bytes_written);
    add(lines, "Store_damaged_indexes", engine.damaged_indexes().len());
    add(lines, "Store_repaired_ranges", engine.restored_ranges());
    add(lines, "Store_file_bytes", statistics.file_bytes);
    add(lines, "Store_free_bytes", statistics.free_bytes);
    add(lines, "Store_pending_bytes", statistics.pending_bytes);
}

fn comparisons(lines: &mut Lines, follower: &Follower) {
    let last = follower.comparer().last();
    add(lines, "Replica_checksum_comparisons", last.count);
    add(lines, "Replica_checksum_differences", last.differing.len());
    add(lines, "Replica_checksum_differing_tables", last.names());
    let position = if last.count == 0 { String::new() } else { last.position.to_string() };
    add(lines, "Replica_checksum_position", position);
}

/// Of all channels.
fn row_differences(lines: &mut Lines, channels: &Channels) {
    let of_channels: Vec<_> = channels.all().iter().map(|replica| replica.differences()).collect();
    let last = of_channels.iter().filter_map(|of_one| of_one.last.clone()).max_by_key(|(_, at)| *at);
    add(lines, "Replica_row_differences", of_channels.iter().map(|of_one| of_one.rows).sum::<u64>());
    add(lines, "Replica_last_row_difference", last.map(|(sentence, _)| sentence).unwrap_or_default());
}

/// Of all channels: how often a transaction was begun again.
fn retries(lines: &mut Lines, channels: &Channels) {
    let retries = channels.all().iter().map(|replica| replica.retried()).sum::<u64>();
    add(lines, "Slave_retried_transactions", retries);
}

/// Of all channels: how parallel what they received was, transactions that were executed beside others, and why others were not, or had to be
/// executed again. By channels it is in `performance_schema.replication_parallelism` and `replication_applier_barriers`.
fn parallel(lines: &mut Lines, follower: &Follower, channels: &Channels) {
    let executed = channels.all();
    let all: Vec<_> = executed.iter().map(|replica| replica.parallelism()).chain([follower.parallelism()]).collect();
    let mut received = IntervalFigures::default();
    all.iter().for_each(|one| received += one.intervals);
    intervals(lines, "Replica", received);
    let sum = |of: fn(&Parallelism) -> u64| all.iter().map(of).sum::<u64>();
    add(lines, "Replica_parallel_transactions", sum(|one| one.executed_beside_others));
    add(lines, "Replica_parallel_waited_for_order", sum(|one| one.waited_for_order));
    add(lines, "Replica_parallel_in_the_way", sum(|one| one.in_the_way));
    add(lines, "Replica_parallel_too_early", sum(|one| one.too_early));
    add(lines, "Replica_parallel_barriers", sum(|one| one.barriers.iter().map(|(_, count)| count).sum()));
}

/// Without intervals the average is 0.
fn intervals(lines: &mut Lines, whose: &str, figures: IntervalFigures) {
    let figure = |figure: Option<f64>| format!("{:.2}", figure.unwrap_or(0.0));
    add(lines, &format!("{whose}_intervals"), figures.count);
    add(lines, &format!("{whose}_interval_length_sum"), figures.lengths);
    add(lines, &format!("{whose}_interval_length_mean"), figure(figures.average()));
    add(lines, &format!("{whose}_pseudo_group_size"), figure(figures.pseudo_group_size()));
}

/// Of all channels, under MySQL's name and MariaDB's.
fn temporary_tables(lines: &mut Lines, channels: &Channels) {
    let open = channels.all().iter().map(|replica| replica.temporary_tables()).sum::<usize>();
    for name in ["Replica_open_temp_tables", "Slave_open_temp_tables"] {
        add(lines, name, open);
    }
}

fn semi_sync(lines: &mut Lines, engine: &Engine, acknowledges: bool) {
    let status = engine.semi_sync().status();
    let on_off = |on: bool| if on { "ON" } else { "OFF" }.to_owned();
    let wait_micros = status.wait_time.as_micros();
    let mut add_source = |name: &str, value: String| add(lines, &format!("Rpl_semi_sync_source_{name}"), value);
    add_source("clients", status.clients.to_string());
    add_source("no_times", status.timeouts.to_string());
    add_source("no_tx", status.unacknowledged.to_string());
    add_source("status", on_off(status.in_force));
    add_source("tx_avg_wait_time", (wait_micros / u128::from(status.waits.max(1))).to_string());
    add_source("tx_wait_time", wait_micros.to_string());
    add_source("tx_waits", status.waits.to_string());
    add_source("wait_sessions", status.waiting.to_string());
    add_source("yes_tx", status.acknowledged.to_string());
    add(lines, "Rpl_semi_sync_replica_status", on_off(acknowledges));
}

fn memory(lines: &mut Lines, engine: &Engine) {
    let (bytes, count) = engine.memtable_bytes();
    add(lines, "Memtable_bytes", bytes);
    add(lines, "Memtables", count);
    add(lines, "Read_views", engine.read_views());
    let (checkpoint, position) = engine.durable_checkpoint();
    add(lines, "Checkpoint_commit_number", checkpoint);
    add(lines, "Checkpoint_position", position);
    add(lines, "Recovery_time_estimate", format!("{:.3}", engine.recovery_estimate().as_secs_f64()));
    let (visible, position) = engine.visible();
    add(lines, "Visible_commit_number", visible);
    add(lines, "Visible_position", position);
}
