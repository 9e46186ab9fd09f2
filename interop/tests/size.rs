//! Data far larger than the memory that was configured: loaded, changed at random, read back by every index, recovered.

use interop::{Client, Server, ServerOptions, Sysbench};

const PAGE_CACHE_MB: u64 = 16;
const MEMTABLE_MB: u64 = 8;
/// Above the configured: two memtables beyond the first while a checkpoint runs, the program, buffers of the log and of
/// connections.
const BESIDE_MB: u64 = 3 * MEMTABLE_MB + 160;

/// Resident memory in MB: now, and at its highest.
fn memory_mb(server: &Server) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.pid())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.split_whitespace().next().unwrap().parse::<u64>().unwrap() / 1024
}

/// Rows and sums, once by each index; the answers must be one.
fn sums(client: &Client) -> String {
    let by = |index: &str| {
        let sql = format!("SELECT COUNT(*), SUM(k), SUM(id), MIN(k), MAX(k) FROM sbtest.sbtest1 FORCE INDEX ({index})");
        client.query(&sql).unwrap()
    };
    let (by_primary, by_secondary) = (by("PRIMARY"), by("k_1"));
    assert_eq!(by_primary, by_secondary);
    by_primary
}

#[test]
fn tables_larger_than_memory() {
    let settings = [format!("innodb_buffer_pool_size={PAGE_CACHE_MB}M"), format!("memtable_size={MEMTABLE_MB}M")];
    let arguments = settings.iter().flat_map(|setting| ["--set".to_owned(), setting.clone()]).collect();
    let mut server = Server::start("size", ServerOptions { arguments, ..ServerOptions::default() }).unwrap();
    let client = server.client();
    client.query("CREATE DATABASE sbtest").unwrap();
    let load = |script: &str, events: u32| Sysbench {
        script: script.to_owned(),
        port: server.port(),
        threads: 16,
        seconds: 0,
        tables: 1,
        table_size: 500_000,
        more: vec![format!("--events={events}"), "--rand-type=uniform".to_owned()],
    };
    load("oltp_write_only", 0).prepare().unwrap();
    let report = load("oltp_write_only", 15_000).run().unwrap();
    assert!(report.transactions > 0.0);
    load("oltp_delete", 20_000).run().unwrap();
    let before = sums(&client);
    let checksum = client.query("CHECKSUM TABLE sbtest.sbtest1").unwrap();
    let data = std::fs::metadata(server.folder().join("data.ctr")).unwrap().len() >> 20;
    assert!(data > 4 * (PAGE_CACHE_MB + MEMTABLE_MB), "{data} MB are not much more than memory");
    let memory = memory_mb(&server);
    assert!(memory < PAGE_CACHE_MB + MEMTABLE_MB + BESIDE_MB, "{memory} MB");
    println!("{data} MB of data, {memory} MB of memory at most");

    server.kill();
    server.restart().unwrap();
    assert_eq!(sums(&client), before);
    assert_eq!(client.query("CHECKSUM TABLE sbtest.sbtest1").unwrap(), checksum);
    let memory = memory_mb(&server);
    assert!(memory < PAGE_CACHE_MB + MEMTABLE_MB + BESIDE_MB, "{memory} MB after recovery");
    println!("{memory} MB after recovery and reading everything");
}
