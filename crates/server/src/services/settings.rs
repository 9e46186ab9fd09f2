//! Settings that parts of the server keep for themselves: at start, and when SET GLOBAL changes them.

use std::time::Duration;

use base::memory::Total;
use binlog::MariaGtidName;
use engine::CommitSettings;
use engine::Engine;
use engine::commit::{DependencyTracking, OnTimeout, SemiSync};
use sql::settings::{Globals, SettingValue};

/// Those of the commit pipeline.
const COMMIT_SETTINGS: [&str; 7] = [
    "binlog_group_commit_sync_delay",
    "binlog_group_commit_sync_no_delay_count",
    "binlog_max_flush_queue_time",
    "binlog_order_commits",
    "binlog_transaction_dependency_history_size",
    "binlog_transaction_dependency_tracking",
    "sync_binlog",
];

/// The pipeline's settings at start.
pub(crate) fn commit_settings(globals: &Globals) -> CommitSettings {
    let settings = CommitSettings::default();
    for name in COMMIT_SETTINGS {
        set_commit(&settings, name, &globals.named(name));
    }
    settings
}

/// Puts a changed setting to work. Those that are read where they are used need nothing.
pub(crate) fn apply(engine: &Engine, name: &str, value: &SettingValue) {
    let (tunables, number) = (engine.tunables(), value.as_u64());
    match name {
        "checkpoint_log_size" => tunables.set_checkpoint_log_bytes(number),
        "checkpoint_write_rate" => tunables.set_checkpoint_write_rate(number),
        "innodb_stats_auto_recalc" => engine.tunables().set_refreshes_statistics(value.as_bool()),
        "innodb_deadlock_detect" => engine.set_deadlock_detect(value.as_bool()),
        "binlog_cache_size" => tunables.set_transaction_memory_bytes(number as usize),
        "max_binlog_cache_size" => tunables.set_transaction_bytes_max(number),
        "max_binlog_size" => engine.log().set_max_file_bytes(number),
        "temptable_max_ram" => engine.temporary_memory().set_max(number),
        "memtable_size" => tunables.set_memtable_bytes(number as usize),
        "recovery_target_time" => tunables.set_recovery_target(Duration::from_secs(number)),
        _ => {}
    }
    set_semi_sync(engine.semi_sync(), name, value);
    if let Some(pipeline) = engine.commits() {
        set_commit(pipeline.settings(), name, value);
    }
}

fn set_commit(settings: &CommitSettings, name: &str, value: &SettingValue) {
    let number = value.as_u64();
    match name {
        "binlog_group_commit_sync_delay" => settings.set_sync_delay(Duration::from_micros(number)),
        "binlog_group_commit_sync_no_delay_count" => settings.set_sync_no_delay_count(number),
        "binlog_max_flush_queue_time" => settings.set_max_flush_queue_time(Duration::from_micros(number)),
        "binlog_order_commits" => settings.set_order_commits(value.as_bool()),
        "binlog_transaction_dependency_history_size" => settings.set_history_size(number as usize),
        "binlog_transaction_dependency_tracking" => settings.set_dependency_tracking(match value.as_str() {
            "COMMIT_ORDER" => DependencyTracking::CommitOrder,
            "WRITESET_SESSION" => DependencyTracking::WritesetSession,
            _ => DependencyTracking::Writeset,
        }),
        "sync_binlog" => settings.set_sync_binlog(number),
        _ => {}
    }
}

/// What bounds the memory of all connections together.
pub(crate) const MEMORY_SETTINGS: [&str; 2] = ["global_connection_memory_limit", "connection_memory_chunk_size"];

/// Puts one of [`MEMORY_SETTINGS`] to work, and takes no notice of others.
pub(crate) fn apply_memory(total: &Total, name: &str, value: &SettingValue) {
    match name {
        "global_connection_memory_limit" => total.set_limit(value.as_u64()),
        "connection_memory_chunk_size" => total.set_chunk(value.as_u64()),
        _ => {}
    }
}

fn set_semi_sync(semi_sync: &SemiSync, name: &str, value: &SettingValue) {
    let number = value.as_u64();
    match name {
        SEMI_SYNC => semi_sync.set_enabled(value.as_bool()),
        "rpl_semi_sync_source_timeout" => semi_sync.set_timeout(Duration::from_millis(number)),
        "rpl_semi_sync_source_timeout_action" => {
            semi_sync.set_on_timeout(if value.as_str() == "WAIT" { OnTimeout::Wait } else { OnTimeout::GoOn });
        }
        "rpl_semi_sync_source_wait_for_replica_count" => semi_sync.set_wait_count(number as usize),
        "rpl_semi_sync_source_wait_no_replica" => semi_sync.set_waits_for_replicas(value.as_bool()),
        _ => {}
    }
}

const SEMI_SYNC: &str = "rpl_semi_sync_source_enabled";

/// Those that the engine is not opened with.
pub(crate) fn apply_at_start(engine: &Engine, globals: &Globals) {
    for name in [
        "checkpoint_write_rate",
        "innodb_deadlock_detect",
        "rpl_semi_sync_source_timeout",
        "rpl_semi_sync_source_timeout_action",
        "rpl_semi_sync_source_wait_for_replica_count",
        "rpl_semi_sync_source_wait_no_replica",
    ] {
        apply(engine, name, &globals.named(name));
    }
}

/// Commits wait for replicas from here on, if they are to. Not before replicas can connect: the first start commits accounts.
pub(crate) fn start_semi_sync(engine: &Engine, globals: &Globals) {
    apply(engine, SEMI_SYNC, &globals.named(SEMI_SYNC));
}

/// Values that are asked of the engine.
pub(crate) fn computed(engine: &Engine, name: &str) -> Option<SettingValue> {
    match name {
        "gtid_executed" => Some(SettingValue::text(engine.gtid_executed().to_string())),
        "gtid_owned" => Some(SettingValue::text(owned(engine))),
        "gtid_slave_pos" => Some(SettingValue::text(MariaGtidName::position_text(&engine.gtid_executed()))),
        "gtid_purged" => Some(SettingValue::text(engine.log().gtid_purged().to_string())),
        _ => None,
    }
}

/// As MySQL has it: each GTID with the connection behind a number sign.
fn owned(engine: &Engine) -> String {
    let all = engine.owned_gtids().into_iter();
    all.map(|(gtid, connection)| format!("{gtid}#{connection}")).collect::<Vec<_>>().join(", ")
}
