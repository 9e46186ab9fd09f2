//! Semi-synchronous replication as a source: the engine subscribes to them.

use super::*;

subscribed_settings! {
    semi_sync: SemiSyncSettings, SemiSyncChange;

    rpl_semi_sync_source_enabled: bool = global(BOOL, "OFF").alias(&["rpl_semi_sync_master_enabled"])
        .doc("Whether commits become visible, and are answered, only when replicas have acknowledged that they have them on disk.");
    rpl_semi_sync_source_timeout: Millis = global(U32, "10000").alias(&["rpl_semi_sync_master_timeout"])
        .doc("Milliseconds that a commit waits for replicas; then rpl_semi_sync_source_timeout_action says what is done.");
    rpl_semi_sync_source_timeout_action: OnTimeout = global(Kind::Enum(&["ASYNC", "WAIT"]), "ASYNC")
        .doc("ASYNC: commits do not wait any more until replicas have caught up, as in MySQL and MariaDB. WAIT: they go on waiting, and the \
         server's log says so; nothing becomes visible that replicas do not have.");
    rpl_semi_sync_source_wait_for_replica_count: usize = global(uint(1, 65_535), "1")
        .alias(&["rpl_semi_sync_master_wait_for_slave_count"])
        .doc("So many replicas have to acknowledge a commit.");
    rpl_semi_sync_source_wait_no_replica: bool = global(BOOL, "ON").alias(&["rpl_semi_sync_master_wait_no_slave"])
        .doc("Whether commits wait also while fewer replicas are connected than have to acknowledge.");
}
