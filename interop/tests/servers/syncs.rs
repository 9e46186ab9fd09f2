//! One sync per group of commits: counted by the server, and by the shim that sees its calls.

use std::time::Duration;

use interop::{Server, ServerOptions, Sysbench};

/// Calls of fsync and fdatasync so far: the first two counters of the shim's file.
fn calls(path: &std::path::Path) -> u64 {
    let bytes = std::fs::read(path).unwrap();
    let counter = |at: usize| u64::from_le_bytes(bytes[at * 8..at * 8 + 8].try_into().unwrap());
    counter(0) + counter(1)
}

#[test]
fn one_sync_per_group() {
    // As on a disk, wherever the folder is.
    let slow_sync = Duration::from_micros(300);
    let server = Server::start("syncs", ServerOptions { slow_sync, ..ServerOptions::default() }).unwrap();
    let counters = server.sync_counters();
    let client = server.client();
    client.query("CREATE DATABASE sbtest").unwrap();
    let load = |threads: u32, events: u32| Sysbench {
        script: "oltp_update_index".to_owned(),
        port: server.port(),
        threads,
        seconds: 0,
        tables: 1,
        table_size: 10_000,
        more: vec![format!("--events={events}")],
    };
    load(4, 0).prepare().unwrap();
    for (threads, events) in [(1, 500), (8, 4000), (64, 20_000)] {
        let read =
            || ["Binlog_commits", "Binlog_group_commits", "Binlog_syncs"].map(|name| client.status(name).unwrap());
        let (before, calls_before) = (read(), calls(&counters));
        load(threads, events).run().unwrap();
        let (after, calls_after) = (read(), calls(&counters));
        let [commits, groups, syncs] = [0, 1, 2].map(|at| (after[at] - before[at]) as u64);
        let calls = calls_after - calls_before;
        println!("{threads} clients: {commits} commits in {groups} groups, {syncs} syncs of the log, {calls} calls");
        assert_eq!(commits, u64::from(events));
        assert_eq!(syncs, groups);
        assert!(calls >= groups, "a group without its sync");
        // The others: making the next log file ready.
        assert!(calls <= groups + 10, "{calls} syncs for {groups} groups");
        assert!(threads < 64 || commits > 2 * groups, "64 clients share syncs");
    }
}
