//! Copying the log of a source: the follower subscribes to them.

use super::*;

subscribed_settings! {
    follower: FollowerSettings, FollowerChange;

    repair_damaged_pages: bool = global(BOOL, "ON")
        .doc("Whether the server makes good by itself what of its data file cannot be read: a secondary index from the table's rows, and, on a \
         follower, rows from its source.");
    replica_checksum_interval: Seconds = global(uint(0, 31_536_000), "60")
        .doc("Seconds between two comparisons of a follower with its source, at least: after a checkpoint it compares the sums of all \
         tables at one position of the log. Tables that differ are named in the server's log and in \
         Replica_checksum_differing_tables. 0: no comparisons.");
    replica_net_timeout: u64 = global(uint(1, 31_536_000), "60").alias(&["slave_net_timeout"])
        .doc("Seconds without anything from the source, heartbeats included, after which a follower connects anew.");
    replica_parallel_workers: usize = global(uint(0, 1024), "0")
        .alias(&["slave_parallel_workers", "slave_parallel_threads"])
        .doc("Tasks that install transactions of our own log at once (0: one per core), or transactions of another server's log that may be in the \
         middle at once (0: eight per core). Counts from the next START REPLICA.");
    replica_stop_on_checksum_difference: bool = global(BOOL, "OFF")
        .doc("Whether a follower stops applying when it finds that a table is not what it is on its source.");
    rpl_semi_sync_replica_enabled: bool = global(BOOL, "OFF").alias(&["rpl_semi_sync_slave_enabled"])
        .doc("Whether this server, as a replica, acknowledges to a semi-synchronous source what is synced here. Counts from the next connection \
         to the source on.");
}
