//! Data far larger than the memory that was configured: loaded, changed at random, read back by every index, recovered.

use interop::{Client, Kind, Server, ServerOptions, Sysbench, peak_kib, run_tool};

const PAGE_CACHE_MB: u64 = 16;
const MEMTABLE_MB: u64 = 8;
/// Above the configured: two memtables beyond the first while a checkpoint runs, the program, buffers of the log and of
/// connections.
const BESIDE_MB: u64 = 3 * MEMTABLE_MB + 160;

/// Resident memory in MB at its highest.
fn memory_mb(server: &Server) -> u64 {
    peak_kib(server.pid()).unwrap() / 1024
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
    let mut server = Server::start("size", ServerOptions::with_settings(settings)).unwrap();
    let client = server.client();
    client.query("CREATE DATABASE sbtest").unwrap();
    let load = |script: &str, events: u32| Sysbench {
        script: script.to_owned(),
        port: server.port(),
        threads: 16,
        seconds: 0,
        tables: 1,
        table_size: 300_000,
        more: vec![format!("--events={events}"), "--rand-type=uniform".to_owned()],
    };
    load("oltp_write_only", 0).prepare().unwrap();
    let report = load("oltp_write_only", 10_000).run().unwrap();
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

/// Rows of the large transaction: 2 to the power of.
const DOUBLINGS: u32 = 15;
/// Bytes of each.
const ROW_BYTES: u64 = 12_000;

/// One transaction of several hundred MB in a server that may not use as much memory: its own reads, its commit, its log file,
/// a crash behind it.
#[test]
fn a_transaction_larger_than_memory() {
    let settings = [
        format!("innodb_buffer_pool_size={PAGE_CACHE_MB}M"),
        format!("memtable_size={MEMTABLE_MB}M"),
        "binlog_cache_size=1M".to_owned(),
    ];
    let mut server = Server::start("large", ServerOptions::with_settings(settings)).unwrap();
    let client = server.client();
    client
        .query("CREATE DATABASE d; CREATE TABLE d.t (id INT AUTO_INCREMENT PRIMARY KEY, n INT, s TEXT, KEY (n))")
        .unwrap();
    let doubling = "INSERT INTO d.t (n, s) SELECT n * 7 % 1000003 + 1, s FROM d.t;".repeat(DOUBLINGS as usize);
    let sums = "SELECT COUNT(*), SUM(LENGTH(s)) FROM d.t; SELECT SUM(n) FROM d.t FORCE INDEX (n) WHERE n > 0;";
    let begin = format!("BEGIN; INSERT INTO d.t (n, s) VALUES (1, REPEAT('x', {ROW_BYTES})); {doubling}");
    let rolled_back = client.query(&format!("{begin} ROLLBACK; SELECT COUNT(*) FROM d.t")).unwrap();
    assert_eq!(rolled_back.trim(), "0");
    let before = client.query(&format!("{begin} {sums} COMMIT")).unwrap();
    assert_eq!(client.query(sums).unwrap(), before);
    let rows = 1u64 << DOUBLINGS;
    assert!(before.starts_with(&format!("{rows}\t{}", rows * ROW_BYTES)), "{before}");
    while client.status("Memtables").unwrap() > 1 {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let memory = memory_mb(&server);
    assert!(memory < PAGE_CACHE_MB + MEMTABLE_MB + BESIDE_MB, "{memory} MB");
    println!("{} MB of rows, {memory} MB of memory at most", (rows * ROW_BYTES) >> 20);

    let listed = client.query("SHOW BINARY LOGS").unwrap();
    let sizes = listed.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    let large = sizes.max_by_key(|line| line[1].parse::<u64>().unwrap()).unwrap()[0];
    let path = server.folder().join(large).display().to_string();
    for (kind, tool) in [(Kind::Mysql97, "mysqlbinlog"), (Kind::Maria118, "mariadb-binlog")] {
        let arguments = ["--no-defaults", "--verify-binlog-checksum", "--base64-output=DECODE-ROWS", &path];
        let text = run_tool(kind, tool, &arguments).unwrap();
        assert!(text.contains("Write_rows") && text.contains("COMMIT"), "{}", &text[text.len().saturating_sub(2000)..]);
    }
    server.kill();
    server.restart().unwrap();
    assert_eq!(server.client().query(sums).unwrap(), before);
    let memory = memory_mb(&server);
    assert!(memory < PAGE_CACHE_MB + MEMTABLE_MB + BESIDE_MB, "after the recovery: {memory} MB");
}
