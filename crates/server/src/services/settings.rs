//! Settings that parts of the server keep for themselves: at start, and when SET GLOBAL changes them. Each part subscribes to one group, and says what
//! it does with every setting of it.

use base::memory::Total;
use binlog::MariaGtidName;
use engine::CommitSettings;
use engine::Engine;
use engine::commit::SemiSync;
use sql::settings::{CommitChange, EngineChange, EngineSettings, Globals, MemoryChange, SemiSyncChange, SettingValue};

/// The pipeline's settings at start.
pub(crate) fn commit_settings(globals: &Globals) -> CommitSettings {
    let settings = CommitSettings::default();
    globals.now().commit.changes().into_iter().for_each(|change| tell_pipeline(&settings, change));
    settings
}

pub(crate) fn tell_commits(engine: &Engine, change: CommitChange) {
    if let Some(pipeline) = engine.commits() {
        tell_pipeline(pipeline.settings(), change);
    }
}

fn tell_pipeline(settings: &CommitSettings, change: CommitChange) {
    match change {
        CommitChange::binlog_group_commit_sync_delay(delay) => settings.set_sync_delay(delay),
        CommitChange::binlog_group_commit_sync_no_delay_count(count) => settings.set_sync_no_delay_count(count),
        CommitChange::binlog_max_flush_queue_time(time) => settings.set_max_flush_queue_time(time),
        CommitChange::binlog_order_commits(on) => settings.set_order_commits(on),
        CommitChange::binlog_transaction_dependency_history_size(rows) => settings.set_history_size(rows),
        CommitChange::binlog_transaction_dependency_tracking(tracking) => settings.set_dependency_tracking(tracking),
        CommitChange::sync_binlog(groups) => settings.set_sync_binlog(groups),
    }
}

pub(crate) fn tell_engine(engine: &Engine, change: EngineChange) {
    let tunables = engine.tunables();
    match change {
        EngineChange::binlog_cache_size(bytes) => tunables.set_transaction_memory_bytes(bytes),
        EngineChange::checkpoint_log_size(bytes) => tunables.set_checkpoint_log_bytes(bytes),
        EngineChange::checkpoint_write_rate(bytes) => tunables.set_checkpoint_write_rate(bytes),
        EngineChange::innodb_deadlock_detect(on) => engine.set_deadlock_detect(on),
        EngineChange::innodb_stats_auto_recalc(on) => tunables.set_refreshes_statistics(on),
        EngineChange::max_binlog_cache_size(bytes) => tunables.set_transaction_bytes_max(bytes),
        EngineChange::max_binlog_size(bytes) => engine.log().set_max_file_bytes(bytes),
        EngineChange::memtable_size(bytes) => tunables.set_memtable_bytes(bytes),
        EngineChange::recovery_target_time(time) => tunables.set_recovery_target(time),
        EngineChange::temptable_max_ram(bytes) => engine.temporary_memory().set_max(bytes),
    }
}

pub(crate) fn tell_memory(total: &Total, change: MemoryChange) {
    match change {
        MemoryChange::global_connection_memory_limit(bytes) => total.set_limit(bytes),
        MemoryChange::connection_memory_chunk_size(bytes) => total.set_chunk(bytes),
    }
}

pub(crate) fn tell_semi_sync(semi_sync: &SemiSync, change: SemiSyncChange) {
    match change {
        SemiSyncChange::rpl_semi_sync_source_enabled(on) => semi_sync.set_enabled(on),
        SemiSyncChange::rpl_semi_sync_source_timeout(time) => semi_sync.set_timeout(time),
        SemiSyncChange::rpl_semi_sync_source_timeout_action(action) => semi_sync.set_on_timeout(action),
        SemiSyncChange::rpl_semi_sync_source_wait_for_replica_count(count) => semi_sync.set_wait_count(count),
        SemiSyncChange::rpl_semi_sync_source_wait_no_replica(on) => semi_sync.set_waits_for_replicas(on),
    }
}

/// Those that the engine is not opened with.
pub(crate) fn apply_at_start(engine: &Engine, globals: &Globals) {
    let globals = globals.now();
    let EngineSettings {
        checkpoint_write_rate,
        innodb_deadlock_detect,
        innodb_stats_auto_recalc,
        temptable_max_ram,
        // It was opened with these.
        binlog_cache_size: _,
        checkpoint_log_size: _,
        max_binlog_cache_size: _,
        max_binlog_size: _,
        memtable_size: _,
        recovery_target_time: _,
    } = globals.engine;
    tell_engine(engine, EngineChange::checkpoint_write_rate(checkpoint_write_rate));
    tell_engine(engine, EngineChange::innodb_deadlock_detect(innodb_deadlock_detect));
    tell_engine(engine, EngineChange::innodb_stats_auto_recalc(innodb_stats_auto_recalc));
    tell_engine(engine, EngineChange::temptable_max_ram(temptable_max_ram));
    for change in globals.semi_sync.changes() {
        match change {
            // See `start_semi_sync`.
            SemiSyncChange::rpl_semi_sync_source_enabled(_) => {}
            change => tell_semi_sync(engine.semi_sync(), change),
        }
    }
}

/// Commits wait for replicas from here on, if they are to. Not before replicas can connect: the first start commits accounts.
pub(crate) fn start_semi_sync(engine: &Engine, globals: &Globals) {
    engine.semi_sync().set_enabled(globals.now().semi_sync.rpl_semi_sync_source_enabled);
}

/// `gtid_owned`
pub(crate) fn owned(engine: &Engine) -> SettingValue {
    SettingValue::text(owned_text(engine))
}

/// `gtid_slave_pos`
pub(crate) fn maria_position(engine: &Engine) -> SettingValue {
    SettingValue::text(MariaGtidName::position_text(&engine.gtid_executed()))
}

/// As MySQL has it: each GTID with the connection behind a number sign.
fn owned_text(engine: &Engine) -> String {
    let all = engine.owned_gtids().into_iter();
    all.map(|(gtid, connection)| format!("{gtid}#{connection}")).collect::<Vec<_>>().join(", ")
}
