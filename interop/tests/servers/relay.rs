//! `commuter relay` between real servers: a source, replicas of its own kind, tools; kills, a source that is away, another source, purge.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use interop::{Client, Connection, IN_USE_AT, Kind, Peer, Relay, beside, commuter_binary, run_tool, until};

const SETUP: &str = r"
CREATE DATABASE d; USE d;
CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, s VARCHAR(1000));
CREATE TABLE wide (id INT PRIMARY KEY, b LONGBLOB, d DECIMAL(20,5), t DATETIME(6), j TEXT);
INSERT INTO wide VALUES (1, REPEAT('b', 300000), 12345.67890, '2026-11-23 01:02:03.456789', 'text'), (2, NULL, NULL, NULL, NULL);
INSERT INTO t (s) VALUES (REPEAT('a', 900)), (REPEAT('b', 900)), (REPEAT('c', 900)), (REPEAT('d', 900));
INSERT INTO t (s) SELECT x.s FROM t x, t y, t z, t u;
BEGIN; INSERT INTO t (s) VALUES ('kept'); SAVEPOINT p; INSERT INTO t (s) VALUES ('undone'); ROLLBACK TO p; UPDATE t SET s = 'x' WHERE id < 3; COMMIT;
ALTER TABLE wide ADD COLUMN n INT DEFAULT 7;
FLUSH BINARY LOGS;
SET /*!80300 gtid_next = 'AUTOMATIC:blue', */ @tagged = 1;
DELETE FROM t WHERE id % 5 = 0;
CREATE TABLE gone (a INT); DROP TABLE gone;
FLUSH BINARY LOGS;
INSERT INTO t (s) VALUES ('tagged');
SET /*!80300 gtid_next = 'AUTOMATIC', */ @tagged = 0;
INSERT INTO t (s) VALUES ('in the third file');
";

/// What the two kinds call the same things.
struct Names {
    kind: Kind,
    by_gtids: &'static str,
    by_position: &'static str,
    /// Forgets all of a server's own log, and what it has executed.
    reset: &'static str,
    stop: &'static str,
    start: &'static str,
    /// Makes a replica a server that follows nobody.
    promote: &'static str,
    /// What a former source has is what it has as a replica.
    demote: &'static str,
    executed: &'static str,
    arguments: &'static [&'static str],
}

const MYSQL: Names = Names {
    kind: Kind::Mysql97,
    by_gtids: "SOURCE_AUTO_POSITION=1",
    by_position: "SOURCE_AUTO_POSITION=0, SOURCE_LOG_FILE='bin.000001', SOURCE_LOG_POS=4",
    reset: "RESET BINARY LOGS AND GTIDS",
    stop: "STOP REPLICA",
    start: "START REPLICA",
    promote: "STOP REPLICA; RESET REPLICA ALL; FLUSH BINARY LOGS",
    demote: "SELECT 1",
    executed: "SELECT @@GLOBAL.gtid_executed",
    arguments: &["--innodb-redo-log-capacity=128M"],
};

const MARIADB: Names = Names {
    kind: Kind::Maria118,
    by_gtids: "MASTER_USE_GTID=slave_pos",
    by_position: "MASTER_LOG_FILE='bin.000001', MASTER_LOG_POS=4, MASTER_USE_GTID=no",
    reset: "RESET MASTER",
    stop: "STOP SLAVE",
    start: "START SLAVE",
    promote: "STOP SLAVE; RESET SLAVE ALL; FLUSH BINARY LOGS",
    demote: "SET GLOBAL gtid_slave_pos = @@GLOBAL.gtid_binlog_pos",
    executed: "SELECT @@GLOBAL.gtid_binlog_pos",
    arguments: &["--log-slave-updates"],
};

impl Names {
    fn peer(&self, name: &str) -> Peer {
        Peer::start(self.kind, name, Duration::ZERO, self.arguments).unwrap()
    }

    /// Several, started side by side; all but the first have nothing, and an empty log.
    fn peers<const N: usize>(&self, names: [&str; N]) -> [Peer; N] {
        std::thread::scope(|scope| {
            let mut at = 0;
            let started = names.map(|name| {
                at += 1;
                let is_first = at == 1;
                scope.spawn(move || if is_first { self.peer(name) } else { self.fresh(name) })
            });
            started.map(|peer| peer.join().unwrap())
        })
    }

    /// One that has nothing and whose log is empty.
    fn fresh(&self, name: &str) -> Peer {
        let peer = self.peer(name);
        peer.client().query(self.reset).unwrap();
        peer
    }
}

/// All that a server's log holds; a MySQL breaks the line between servers.
fn executed(client: &Client, names: &Names) -> String {
    client.query(names.executed).unwrap().replace("\\n", "")
}

/// The end of a server's log: file and position.
fn end_of(client: &Client, kind: Kind) -> String {
    let sql = if kind == Kind::Mysql97 { "SHOW BINARY LOG STATUS" } else { "SHOW MASTER STATUS" };
    let text = client.query(sql).unwrap();
    text.split('\t').take(2).collect::<Vec<_>>().join(":")
}

#[track_caller]
fn wait_for_relay(source: &Peer, relay: &Relay) {
    let end = end_of(&source.client(), source.kind());
    let start = Instant::now();
    while end_of(&relay.client(), source.kind()) != end {
        let status = || relay.client().query("SHOW REPLICA STATUS\\G").unwrap_or_default();
        assert!(start.elapsed() < Duration::from_secs(30), "{end}: {}\n{}", status(), relay.log());
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn files(client: &Client) -> Vec<String> {
    let text = client.query("SHOW BINARY LOGS").unwrap();
    text.lines().filter_map(|line| line.split('\t').next()).map(str::to_owned).collect()
}

#[track_caller]
fn assert_same_files(source: &Peer, relay: &Relay, generation: u32) {
    let is_maria = source.kind() == Kind::Maria118;
    relay.compare_files(generation, &source.client(), &source.folder(), is_maria).unwrap();
}

fn follow(replica: &Peer, relay: &Relay, from: &str) {
    let port = relay.port();
    let sql = match replica.kind() {
        Kind::Mysql97 => format!(
            "CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={port}, SOURCE_USER='root', {from}, \
             GET_SOURCE_PUBLIC_KEY=1, SOURCE_CONNECT_RETRY=1, SOURCE_RETRY_COUNT=100; START REPLICA"
        ),
        Kind::Maria118 => format!(
            "CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT={port}, MASTER_USER='root', {from}, \
             MASTER_CONNECT_RETRY=1, MASTER_SSL_VERIFY_SERVER_CERT=0; START SLAVE"
        ),
    };
    replica.client().query(&sql).unwrap();
}

fn contents(peer: &Peer) -> String {
    let sql = "SELECT COUNT(*), SUM(id), SUM(CRC32(s)) FROM d.t; \
               SELECT COUNT(*), SUM(CRC32(b)), MAX(d), MAX(t), SUM(n) FROM d.wide";
    peer.client().query(sql).unwrap_or_default()
}

#[track_caller]
fn wait_for_contents(wanted: &str, replica: &Peer, relay: &Relay) {
    let start = Instant::now();
    assert!(!wanted.is_empty());
    while contents(replica) != wanted {
        let sql = if replica.kind() == Kind::Mysql97 { "SHOW REPLICA STATUS\\G" } else { "SHOW SLAVE STATUS\\G" };
        let status = || replica.client().query(sql).unwrap_or_default();
        assert!(start.elapsed() < Duration::from_secs(30), "{wanted}: {}\n{}", status(), relay.log());
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[track_caller]
fn wait_for_replica(source: &Peer, replica: &Peer, relay: &Relay) {
    wait_for_contents(&contents(source), replica, relay);
}

/// Writes to the source while `what` is done.
fn beside_a_writer(source: &Peer, what: impl FnOnce()) {
    let write = |is_over: &AtomicBool| {
        let mut connection = Connection::open(source.port(), "d").unwrap();
        let mut written = 0u64;
        while !is_over.load(Ordering::Relaxed) {
            connection.succeed(&format!("INSERT INTO t (s) VALUES (REPEAT('{}', 500))", written % 10)).unwrap();
            written += 1;
            if written.is_multiple_of(200) {
                connection.succeed("FLUSH BINARY LOGS").unwrap();
            }
        }
    };
    beside(write, what);
}

/// What a tool copies with `--raw` is what the relay has.
fn assert_tool_copies(relay: &Relay, kind: Kind, program: &str, more: &[&str]) {
    let folder = relay.files(1).with_extension("raw");
    fs::create_dir_all(&folder).unwrap();
    let (port, result) = (format!("-P{}", relay.port()), format!("--result-file={}/", folder.display()));
    let names = files(&relay.client());
    let mut arguments = vec!["--no-defaults", "-h127.0.0.1", "-uroot", &port, "-R", "--raw", &result];
    arguments.extend(more);
    arguments.extend(names.iter().map(String::as_str));
    run_tool(kind, program, &arguments).unwrap();
    for name in &names {
        let read = |folder: &Path| fs::read(folder.join(name)).unwrap();
        let (mut theirs, ours) = (read(&folder), read(&relay.files(1)));
        theirs[IN_USE_AT] &= !1;
        assert!(theirs == ours, "{name}: {} bytes, here {}", theirs.len(), ours.len());
    }
}

/// Replicas of both ways to follow, and a relay that dies.
fn kills(names: &Names, tool: impl Fn(&Relay)) {
    let kind = names.kind;
    let [source, by_gtids, by_position] = names.peers(["relayed-source", "relayed-gtids", "relayed-position"]);
    source.client().query(SETUP).unwrap();
    let mut relay = Relay::start(kind.name(), source.port(), &[]).unwrap();
    wait_for_relay(&source, &relay);
    assert_same_files(&source, &relay, 1);
    tool(&relay);
    let refused = relay.client().query("SELECT * FROM mysql.user").unwrap_err();
    assert!(refused.contains("1235") && refused.contains("mysql.user"), "{refused}");

    follow(&by_gtids, &relay, names.by_gtids);
    follow(&by_position, &relay, names.by_position);
    wait_for_replica(&source, &by_gtids, &relay);
    wait_for_replica(&source, &by_position, &relay);
    assert!(relay.client().query("SHOW REPLICAS").unwrap().contains(&by_gtids.port().to_string()));

    // The relay dies in the middle, more than once.
    beside_a_writer(&source, || {
        for pause in [300, 700, 150, 900] {
            std::thread::sleep(Duration::from_millis(pause));
            relay.kill();
            relay.restart().unwrap();
        }
        std::thread::sleep(Duration::from_millis(300));
    });
    wait_for_relay(&source, &relay);
    assert_same_files(&source, &relay, 1);
    wait_for_replica(&source, &by_gtids, &relay);
    wait_for_replica(&source, &by_position, &relay);
}

/// A source that is away, and dies.
fn absence(names: &Names) {
    let kind = names.kind;
    let [mut source, by_gtids] = names.peers(["absent-source", "absent-replica"]);
    source.client().query(SETUP).unwrap();
    let relay = Relay::start(&format!("absent-{}", kind.name()), source.port(), &[]).unwrap();
    follow(&by_gtids, &relay, names.by_gtids);
    wait_for_replica(&source, &by_gtids, &relay);

    // It is away while a replica that was behind goes on.
    by_gtids.client().query(names.stop).unwrap();
    source
        .client()
        .query("INSERT INTO d.t (s) VALUES ('before the end'); FLUSH BINARY LOGS; DELETE FROM d.t WHERE id % 7 = 0")
        .unwrap();
    wait_for_relay(&source, &relay);
    let wanted = contents(&source);
    source.stop().unwrap();
    by_gtids.client().query(names.start).unwrap();
    wait_for_contents(&wanted, &by_gtids, &relay);
    until("the loss", || relay.status("Replica_IO_Running") == "Connecting");
    source.restart().unwrap();
    source.client().query("INSERT INTO d.t (s) VALUES ('again')").unwrap();
    wait_for_relay(&source, &relay);
    assert_same_files(&source, &relay, 1);
    assert_eq!((relay.status("Replica_IO_Running").as_str(), relay.status("Last_IO_Error").as_str()), ("Yes", ""));
    wait_for_replica(&source, &by_gtids, &relay);

    // It dies, too.
    source.kill();
    source.restart().unwrap();
    source
        .client()
        .query("INSERT INTO d.t (s) VALUES ('after a crash'); FLUSH BINARY LOGS; INSERT INTO d.t (s) VALUES ('x')")
        .unwrap();
    wait_for_relay(&source, &relay);
    wait_for_replica(&source, &by_gtids, &relay);
    assert_same_files(&source, &relay, 1);
    assert_eq!(relay.status("Generation"), "1");
}

#[test]
fn mysql() {
    let tool = |relay: &Relay| assert_tool_copies(relay, Kind::Mysql97, "mysqlbinlog", &["--get-server-public-key"]);
    kills(&MYSQL, tool);
}

#[test]
fn mysql_whose_source_is_away() {
    absence(&MYSQL);
}

#[test]
fn mariadb() {
    let tool = |relay: &Relay| {
        assert_tool_copies(relay, Kind::Maria118, "mariadb-binlog", &["--skip-ssl"]);
        let end = end_of(&relay.client(), Kind::Maria118);
        let (file, position) = end.rsplit_once(':').unwrap();
        let executed = relay.client().query(&format!("SELECT BINLOG_GTID_POS('{file}', {position})")).unwrap();
        assert_eq!(executed, relay.client().query(MARIADB.executed).unwrap());
    };
    kills(&MARIADB, tool);
}

#[test]
fn mariadb_whose_source_is_away() {
    absence(&MARIADB);
}

/// The source is gone, a replica takes its place; its files and positions are others.
fn switch(names: &Names) {
    let kind = names.kind;
    let [source, promoted, stays] = names.peers(["switch-first", "switch-second", "switch-third"]);
    source.client().query(SETUP).unwrap();
    let mut relay = Relay::start(&format!("switch-{}", kind.name()), source.port(), &[]).unwrap();
    follow(&promoted, &relay, names.by_gtids);
    wait_for_replica(&source, &promoted, &relay);

    // A server that has none of it is not followed.
    relay.kill();
    relay.restart_for(stays.port()).unwrap();
    until("the refusal", || relay.status("Last_IO_Error").contains("this server has not"));
    assert_eq!(relay.status("Generation"), "1");
    relay.kill();
    relay.restart_for(source.port()).unwrap();

    follow(&stays, &relay, names.by_gtids);
    source.client().query("INSERT INTO d.t (s) VALUES ('the last of the first')").unwrap();
    wait_for_relay(&source, &relay);
    wait_for_replica(&source, &promoted, &relay);
    wait_for_replica(&source, &stays, &relay);

    promoted.client().query(names.promote).unwrap();
    promoted.client().query("INSERT INTO d.t (s) VALUES ('the first of the second')").unwrap();
    relay.kill();
    relay.restart_for(promoted.port()).unwrap();
    wait_for_relay(&promoted, &relay);
    assert_eq!(relay.status("Generation"), "2");
    assert_same_files(&promoted, &relay, 2);
    assert_eq!(executed(&relay.client(), names), executed(&promoted.client(), names));
    wait_for_replica(&promoted, &stays, &relay);

    // The former source becomes a replica; one from nothing goes through both generations.
    source.client().query(names.demote).unwrap();
    follow(&source, &relay, names.by_gtids);
    wait_for_replica(&promoted, &source, &relay);
    stays.client().query(&format!("{}; DROP DATABASE d", names.promote)).unwrap();
    stays.client().query(names.reset).unwrap();
    if kind == Kind::Maria118 {
        stays.client().query("SET GLOBAL gtid_slave_pos = ''").unwrap();
    }
    follow(&stays, &relay, names.by_gtids);
    promoted.client().query("INSERT INTO d.t (s) VALUES ('to all')").unwrap();
    wait_for_replica(&promoted, &stays, &relay);
    wait_for_replica(&promoted, &source, &relay);
    wait_for_relay(&promoted, &relay);
    assert_same_files(&promoted, &relay, 2);
}

#[test]
fn mysql_with_another_source() {
    switch(&MYSQL);
}

#[test]
fn mariadb_with_another_source() {
    switch(&MARIADB);
}

/// Bytes that a process has read with system calls, from the page cache or the disk; what comes from sockets is not among them.
fn bytes_read(pid: u32) -> u64 {
    let io = fs::read_to_string(format!("/proc/{pid}/io")).unwrap();
    io.lines().find_map(|line| line.strip_prefix("rchar: ")).unwrap().parse().unwrap()
}

fn bytes_of(folder: &Path) -> u64 {
    fs::read_dir(folder).unwrap().map(|file| file.unwrap().metadata().unwrap().len()).sum()
}

/// And then most of it is purged, but nothing that somebody reads.
#[test]
fn fifty_readers_cost_one_read_and_what_is_beyond_the_limit_goes() {
    let source = MYSQL.peer("relay-fifty");
    source
        .client()
        .query("CREATE DATABASE d; CREATE TABLE d.t (id INT AUTO_INCREMENT PRIMARY KEY, s LONGTEXT)")
        .unwrap();
    for _ in 0..10 {
        let sql = "INSERT INTO d.t (s) VALUES (REPEAT('x', 500000)), (REPEAT('y', 500000)), (REPEAT('z', 500000))";
        source.client().query(&format!("{sql}; FLUSH BINARY LOGS")).unwrap();
    }
    let mut relay = Relay::start("fifty", source.port(), &[]).unwrap();
    wait_for_relay(&source, &relay);
    // So that nothing is left of what was received.
    relay.stop().unwrap();
    relay.restart().unwrap();
    let (before, size) = (bytes_read(relay.pid()), bytes_of(&relay.files(1)));
    let url = format!("mysql://root@127.0.0.1:{}", relay.port());
    let start_reader = |_| -> Child {
        let mut command = Command::new(commuter_binary().unwrap());
        command.args(["log", "dump", "--verify-checksum", "--table", "d.none", "--source", &url]);
        command.stdout(Stdio::null()).stderr(Stdio::inherit()).spawn().unwrap()
    };
    let readers: Vec<Child> = (0..50).map(start_reader).collect();
    for mut reader in readers {
        assert!(reader.wait().unwrap().success());
    }
    let read = bytes_read(relay.pid()) - before;
    println!("50 readers of {size} bytes: {read} bytes read");
    assert!(size > 10_000_000 && read <= size * 3 / 2, "{read} of {size}");

    drop(relay);
    let relay = Relay::start("fifty", source.port(), &["--space-limit", "4M"]).unwrap();
    wait_for_relay(&source, &relay);
    until("the purge", || bytes_of(&relay.files(1)) <= 4 << 20);
    // It is read from the file that is the first then.
    let purged = || relay.client().query("SELECT @@GLOBAL.gtid_purged").unwrap();
    until("gtid_purged", || purged().contains(":1-"));
    let purged = purged();
    let (ours, theirs) = (files(&relay.client()), files(&source.client()));
    assert!(ours.len() < theirs.len() && theirs.ends_with(&ours), "{ours:?}, {theirs:?}");
    assert_same_files(&source, &relay, 1);
    // A replica that lacks what was purged is told so; one that has it goes on.
    let replica = MYSQL.fresh("relay-purged");
    follow(&replica, &relay, MYSQL.by_gtids);
    let error = || replica.client().column("SHOW REPLICA STATUS", "Last_IO_Error").unwrap_or_default();
    until("the refusal", || error().contains("purged required binary logs"));
    replica
        .client()
        .query(&format!("STOP REPLICA; RESET BINARY LOGS AND GTIDS; SET GLOBAL gtid_purged='{}'", purged.trim()))
        .unwrap();
    replica.client().query("SET SESSION sql_log_bin=0; CREATE DATABASE d; CREATE TABLE d.t (id INT AUTO_INCREMENT PRIMARY KEY, s LONGTEXT)").unwrap();
    replica.client().query("START REPLICA").unwrap();
    let newest = source.client().query("SELECT MAX(id) FROM d.t").unwrap();
    until("the newest row", || replica.client().query("SELECT MAX(id) FROM d.t").unwrap_or_default() == newest);
}

/// What a file of the source says was in the log before it.
fn before(source: &Client, file: &str) -> String {
    let events = source.query(&format!("SHOW BINLOG EVENTS IN '{file}' LIMIT 2")).unwrap();
    let last = events.lines().last().unwrap().rsplit('\t').next().unwrap().to_owned();
    last.replace("\\n", "")
}

/// Relays that purge, by size and by age, and behind each a replica that stands still for a while: it keeps what it needs, and no more; and
/// at any time it is known what has gone.
#[test]
fn a_slow_replica_keeps_what_it_needs() {
    let source = MYSQL.peer("relay-slow");
    let client = source.client();
    client.query("CREATE DATABASE d; CREATE TABLE d.t (id INT AUTO_INCREMENT PRIMARY KEY, s LONGTEXT)").unwrap();
    let relays = [("size", ["--space-limit", "4M"]), ("age", ["--expire-seconds", "2"])].map(|(name, limit)| {
        let relay = Relay::start(&format!("slow-{name}"), source.port(), &limit).unwrap();
        let behind = Relay::start(&format!("slow-{name}-behind"), relay.port(), &[]).unwrap();
        wait_for_relay(&source, &relay);
        wait_for_relay(&source, &behind);
        (relay, behind)
    });
    let purged = |relay: &Relay| relay.client().query("SELECT @@GLOBAL.gtid_purged").unwrap().trim().replace("\\n", "");
    relays.iter().for_each(|(_, behind)| behind.pause());
    for _ in 0..12 {
        client.query("INSERT INTO d.t (s) VALUES (REPEAT('x', 3000000)); FLUSH BINARY LOGS").unwrap();
        // Files go beside it.
        for (relay, _) in &relays {
            let (before_it, purged, after) = (files(&relay.client()), purged(relay), files(&relay.client()));
            let between = before_it.iter().take_while(|&file| after.first().is_none_or(|first| file <= first));
            let said: Vec<String> = between.map(|file| before(&client, file)).collect();
            assert!(said.contains(&purged), "{purged}, of {said:?}");
        }
    }
    std::thread::sleep(Duration::from_secs(3));
    for (relay, behind) in &relays {
        wait_for_relay(&source, relay);
        let (kept, size) = (files(&relay.client()), bytes_of(&relay.files(1)));
        assert!(size > 20_000_000, "{size}: {kept:?}");
        assert_eq!(purged(relay), before(&client, &kept[0]));
        behind.go_on();
    }
    client.query("INSERT INTO d.t (s) VALUES ('the last')").unwrap();
    for (relay, behind) in &relays {
        wait_for_relay(&source, behind);
        let is_small = || files(&relay.client()).len() <= 2 && bytes_of(&relay.files(1)) <= 4 << 20;
        until("the rest goes", is_small);
        assert_eq!(purged(relay), before(&client, &files(&relay.client())[0]));
        assert_same_files(&source, relay, 1);
        assert_same_files(&source, behind, 1);
        assert_eq!(files(&behind.client()), files(&client), "it has had everything");
    }
}
