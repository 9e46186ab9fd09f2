//! Statements that wait or work for long, of every kind, ended in every way: nothing stays of them.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use interop::random_sql::Random;
use interop::{Client, Held, Raw, Server, ServerOptions, resident_kib};
use wire::flags::com;

const THREADS: u64 = 12;
const STATEMENTS: u32 = 25;
/// What the allocator keeps goes up and down by tens of megabytes between rounds; what leaks only goes up, in each of so many.
const ROUNDS_MAX: u64 = 8;

/// What waits for somebody else: rows, gaps, tables, all commits, a name, a time, a GTID; and what works for long.
const STATEMENTS_OF_ALL_KINDS: &[&str] = &[
    "SELECT * FROM d.t WHERE id = 1 FOR UPDATE",
    "SELECT * FROM d.t WHERE n = 1 FOR SHARE",
    "INSERT INTO d.t VALUES (5, 5, '')",
    "UPDATE d.t SET n = n + 1 WHERE id = 1",
    "DELETE FROM d.t WHERE n > 0",
    "ALTER TABLE d.t ADD c INT",
    "TRUNCATE d.t",
    "LOCK TABLES d.t WRITE",
    "INSERT INTO d.child VALUES (1, 1)",
    "SELECT GET_LOCK('held', 600)",
    "SELECT SLEEP(600)",
    "SELECT BENCHMARK(1 << 60, SHA2('x', 256))",
    "SELECT WAIT_FOR_EXECUTED_GTID_SET('11111111-1111-1111-1111-111111111111:1', 600)",
    "SELECT COUNT(*) FROM d.big a, d.big b, d.big c WHERE a.s < b.s AND b.s < c.s",
    "SELECT a.s, b.s FROM d.big a, d.big b ORDER BY CONCAT(b.s, a.s) DESC",
    "SELECT DISTINCT CONCAT(a.s, b.s) FROM d.big a, d.big b",
    "SELECT CONCAT(a.s, b.s) k, COUNT(*) FROM d.big a, d.big b GROUP BY k",
    "SELECT a.s FROM d.big a, d.big b",
    "INSERT INTO d.copy SELECT a.s FROM d.big a, d.big b",
    "CHECKSUM TABLE d.big, d.t",
];

const SETUP: &str = "CREATE DATABASE d; USE d; CREATE TABLE t (id INT PRIMARY KEY, n INT, s TEXT, KEY (n)); \
    INSERT INTO t VALUES (1, 1, ''), (10, 10, ''); CREATE TABLE copy (s TEXT); CREATE TABLE big (s VARCHAR(400)); \
    CREATE TABLE child (id INT PRIMARY KEY, tid INT, FOREIGN KEY (tid) REFERENCES t (id)); \
    INSERT INTO big VALUES (REPEAT('a', 300)), (REPEAT('b', 300)), (REPEAT('c', 300)), (REPEAT('d', 300));";

/// How a statement is ended.
#[derive(Clone, Copy, Debug)]
enum End {
    KillQuery,
    KillConnection,
    /// The client is gone.
    Vanish,
    /// By a limit of the session.
    Timeout,
}

fn command(raw: &mut Raw, sql: &str) -> Option<Vec<u8>> {
    raw.command(com::QUERY, sql.as_bytes());
    raw.packet()
}

/// Begins a statement, and ends it after a moment.
fn one(port: u16, killer: &Client, random: &mut Random) {
    let sql = STATEMENTS_OF_ALL_KINDS[random.below(STATEMENTS_OF_ALL_KINDS.len())];
    let end = [End::KillQuery, End::KillConnection, End::Vanish, End::Timeout][random.below(4)];
    let mut raw = Raw::logged_in(port).unwrap();
    // What is not known yet cannot be killed: a name for it.
    let name = format!("storm{}", random.below(1 << 40));
    let limits = "innodb_lock_wait_timeout = 1, lock_wait_timeout = 1, max_execution_time = 300";
    let limits =
        if matches!(end, End::Timeout) { limits } else { "innodb_lock_wait_timeout = 600, lock_wait_timeout = 600" };
    command(&mut raw, &format!("SET SESSION {limits}")).unwrap();
    // These would commit it.
    let commits = ["ALTER", "TRUNCATE", "LOCK"].iter().any(|word| sql.starts_with(word));
    if !commits && random.chance(50) {
        command(&mut raw, "BEGIN").unwrap();
        command(&mut raw, "INSERT INTO d.copy VALUES ('uncommitted')").unwrap();
    }
    raw.command(com::QUERY, format!("/* {name} */ {sql}").as_bytes());
    std::thread::sleep(Duration::from_millis(random.below(60) as u64));
    let kill = |what: &str| {
        let find = format!("SELECT ID FROM information_schema.PROCESSLIST WHERE INFO LIKE '/* {name} */%'");
        if let Some(id) = killer.query(&find).unwrap_or_default().lines().next() {
            // It may have ended just now.
            let _ = killer.query(&format!("{what} {id}"));
        }
    };
    match end {
        End::KillQuery => kill("KILL QUERY"),
        End::KillConnection => kill("KILL"),
        End::Vanish => {}
        End::Timeout => std::thread::sleep(Duration::from_millis(100)),
    }
    raw.vanish();
}

#[test]
fn nothing_stays_of_a_storm_of_cancelled_statements() {
    let settings = ["innodb_buffer_pool_size=16M", "memtable_size=8M", "tmp_table_size=1M", "sort_buffer_size=256K"];
    let server = Server::start("storm", ServerOptions::with_settings(settings)).unwrap();
    let client = server.client();
    client.query(&format!("{SETUP}{}", "INSERT INTO big SELECT CONCAT(s, 'x') FROM big;".repeat(6))).unwrap();
    let before = Held::by(&server).unwrap();
    let seed = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let mut memory = Vec::new();
    for round in 0..ROUNDS_MAX {
        // Somebody holds what the others wait for.
        let mut holder = Raw::logged_in(server.port()).unwrap();
        for sql in ["SELECT GET_LOCK('held', 1)", "BEGIN", "UPDATE d.t SET s = 'held' WHERE id >= 1"] {
            command(&mut holder, sql).unwrap();
        }
        let threads: Vec<_> = (0..THREADS)
            .map(|number| {
                let (port, killer) = (server.port(), server.client());
                let mut random = Random::new(seed + round * THREADS + number);
                std::thread::spawn(move || (0..STATEMENTS).for_each(|_| one(port, &killer, &mut random)))
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap_or_else(|_| panic!("seed {seed}")));
        holder.vanish();
        before.until_again(&server).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let files = std::fs::read_dir(server.folder().join("tmp")).map_or(0, Iterator::count);
        assert_eq!(files, 0, "seed {seed}: temporary files");
        let sane =
            client.query("SELECT COUNT(*), MIN(n) FROM d.t; SELECT COUNT(*) FROM d.copy WHERE s = 'uncommitted'");
        assert!(sane.unwrap().ends_with("\n0\n"), "seed {seed}");
        memory.push(resident_kib(server.pid()).unwrap());
        // Two rounds at least: the first one fills caches and arenas.
        if !memory.is_sorted() {
            return;
        }
    }
    panic!("seed {seed}: memory grows with every round: {memory:?} KiB");
}
