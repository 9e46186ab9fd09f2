//! Disks that fail, as real files on a real kernel see it: writes and syncs that fail, short and wrong ones, pages that cannot
//! be read, a device that is full. What was acknowledged is there afterwards; what cannot be done says so; the rest goes on.

use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use interop::{Answer, Connection, Server, ServerOptions, failing_path, until};

const WRITERS: u64 = 4;
const TABLE: &str = "CREATE DATABASE d; CREATE TABLE d.t (id BIGINT PRIMARY KEY, n BIGINT, s TEXT, KEY (n)); \
    CREATE TABLE d.other (id INT PRIMARY KEY); INSERT INTO d.other VALUES (1), (2)";

fn options(environment: Vec<(String, String)>) -> ServerOptions {
    // What is found is to stay for the tests to see; those of repairs turn it on.
    let settings =
        ["innodb_buffer_pool_size=8M", "memtable_size=4M", "innodb_io_method=THREADS", "repair_damaged_pages=OFF"];
    ServerOptions { environment, ..ServerOptions::with_settings(settings) }
}

/// A server whose disk fails by a script.
struct Faulty {
    server: Server,
    script: PathBuf,
}

impl Faulty {
    fn start(name: &str) -> Faulty {
        let script = std::env::temp_dir().join(format!("commuter-{name}-{}.faults", std::process::id()));
        std::fs::write(&script, "").unwrap();
        let environment = vec![
            ("LD_PRELOAD".to_owned(), failing_path().display().to_string()),
            ("FAILING_SCRIPT".to_owned(), script.display().to_string()),
        ];
        let server = Server::start(name, options(environment)).unwrap();
        server.client().query(TABLE).unwrap();
        Faulty { server, script }
    }

    /// From now on.
    fn faults(&self, rules: &str) {
        let new = self.script.with_extension("new");
        std::fs::write(&new, format!("{rules}\n")).unwrap();
        std::fs::rename(new, &self.script).unwrap();
    }
}

impl Drop for Faulty {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.script);
    }
}

/// Inserts by several sessions, until they are to stop or the server goes.
struct Load {
    stop: Arc<AtomicBool>,
    writers: Vec<std::thread::JoinHandle<Written>>,
}

/// What one session knows of its rows, whose ids begin at `first`.
struct Written {
    first: u64,
    acknowledged: u64,
    /// Codes of statements that were refused.
    refused: Vec<u16>,
}

impl Load {
    fn start(port: u16, round: u64) -> Load {
        let stop = Arc::new(AtomicBool::new(false));
        let writers = (0..WRITERS).map(|number| {
            let (stop, first) = (stop.clone(), (round * WRITERS + number) * 1_000_000);
            std::thread::spawn(move || write(port, first, &stop))
        });
        Load { writers: writers.collect(), stop }
    }

    fn end(self) -> Vec<Written> {
        self.stop.store(true, Ordering::Relaxed);
        self.writers.into_iter().map(|writer| writer.join().unwrap()).collect()
    }
}

fn write(port: u16, first: u64, stop: &AtomicBool) -> Written {
    let mut written = Written { first, acknowledged: 0, refused: Vec::new() };
    let Ok(mut connection) = Connection::open(port, "d") else { return written };
    while !stop.load(Ordering::Relaxed) {
        let id = first + written.acknowledged;
        match connection.query(&format!("INSERT INTO t VALUES ({id}, {id} * 7 % 1000003, REPEAT('x', 2000))")) {
            Ok(Answer::Failed(code, _)) => {
                written.refused.push(code);
                std::thread::sleep(Duration::from_millis(20));
            }
            Ok(_) => written.acknowledged += 1,
            Err(_) => break,
        }
    }
    written
}

/// Whether all that was acknowledged is there, by each index, and at most one row more of each session: the one that it was
/// told nothing about.
fn check(server: &Server, written: &[Written], what: &str) {
    for Written { first, acknowledged, .. } in written {
        let range = format!("id BETWEEN {first} AND {first} + 999999");
        let count =
            server.client().query(&format!("SELECT COUNT(*), MAX(id) - {first} + 1 FROM d.t WHERE {range}")).unwrap();
        let counts: Vec<u64> = count.split_whitespace().map(|number| number.parse().unwrap_or(0)).collect();
        assert_eq!(counts[0], counts[1], "{what}: a hole");
        assert!(
            (*acknowledged..=acknowledged + 1).contains(&counts[0]),
            "{what}: {acknowledged} acknowledged, {count}"
        );
    }
    let by = |index: &str| {
        server.client().query(&format!("SELECT COUNT(*), SUM(n) FROM d.t FORCE INDEX ({index}) WHERE n >= 0"))
    };
    assert_eq!(by("PRIMARY").unwrap(), by("n").unwrap(), "{what}");
}

/// A write or a sync that fails where commits or checkpoints depend on it: nobody knows what is on disk, so the server ends, and
/// says why; the next start finds everything that was acknowledged.
#[test]
fn what_cannot_be_written_or_synced_ends_the_server() {
    let mut faulty = Faulty::start("faulty-stop");
    let cases =
        ["fdatasync binlog.0 200 1 5", "pwrite binlog.0 200 1 5", "fdatasync data.ctr 2 1 5", "pwrite data.ctr 50 1 5"];
    for (round, rules) in cases.iter().enumerate() {
        let load = Load::start(faulty.server.port(), round as u64);
        std::thread::sleep(Duration::from_millis(200));
        faulty.faults(rules);
        assert!(faulty.server.ends_within(Duration::from_secs(60)).unwrap(), "{rules}: it goes on");
        let written = load.end();
        assert!(written.iter().map(|writer| writer.acknowledged).sum::<u64>() > 0, "{rules}");
        let log = faulty.server.log();
        assert!(log.contains("os error 5") && !log.contains("panicked"), "{rules}: {log}");
        faulty.faults("");
        faulty.server.restart().unwrap();
        check(&faulty.server, &written, rules);
    }
}

/// A shutdown of a server that can write nothing any more ends, says why, and is no panic; the next start has what was acknowledged.
#[test]
fn a_shutdown_without_a_disk() {
    let mut faulty = Faulty::start("faulty-shutdown");
    let load = Load::start(faulty.server.port(), 0);
    let client = faulty.server.client();
    until("rows", || client.query("SELECT COUNT(*) > 200 FROM d.t").unwrap().trim() == "1");
    let written = load.end();
    let calls = ["pwrite", "fdatasync", "fsync", "ftruncate", "rename"];
    faulty.faults(&calls.map(|call| format!("{call} / 0 -1 5")).join("\n"));
    faulty.server.terminate();
    assert!(faulty.server.ends_within(Duration::from_secs(60)).unwrap(), "it goes on");
    let log = faulty.server.log();
    assert!(log.contains("os error 5") && !log.contains("panicked"), "{log}");
    faulty.faults("");
    faulty.server.restart().unwrap();
    check(&faulty.server, &written, "after the shutdown");
}

/// Short writes are gone on with; what cannot be prepared is tried again. Nobody notices.
#[test]
fn what_is_made_good_is_not_noticed() {
    let mut faulty = Faulty::start("faulty-good");
    let cases =
        ["pwrite data.ctr 0 -1 short", "pwrite binlog.0 0 -1 short", "open binlog.0 0 3 28", "open binlog.0 0 3 24"];
    for (round, rules) in cases.iter().enumerate() {
        faulty.faults(rules);
        let load = Load::start(faulty.server.port(), round as u64);
        let before = faulty.server.client().status("Checkpoint_commit_number").unwrap();
        until("a checkpoint", || faulty.server.client().status("Checkpoint_commit_number").unwrap() > before);
        faulty.server.client().query("FLUSH BINARY LOGS").unwrap();
        let written = load.end();
        assert!(written.iter().all(|writer| writer.refused.is_empty()), "{rules}");
        faulty.faults("");
        check(&faulty.server, &written, rules);
        faulty.server.kill();
        faulty.server.restart().unwrap();
        check(&faulty.server, &written, rules);
    }
}

/// A page that cannot be read, or is not what was written, is an error of the statement that needs it, and names the place; others
/// go on, and so does that one when the disk does.
#[test]
fn a_page_that_cannot_be_read() {
    let mut faulty = Faulty::start("faulty-read");
    let load = Load::start(faulty.server.port(), 0);
    until("data", || faulty.server.client().query("SELECT COUNT(*) > 12000 FROM d.t").unwrap().trim() == "1");
    let written = load.end();
    // Nothing is left to merge: a merge that reads would take the fault.
    faulty.server.stop().unwrap();
    faulty.server.restart().unwrap();
    let client = faulty.server.client();
    let whole = "SELECT COUNT(*), SUM(LENGTH(s)) FROM d.t";
    let before = client.query(whole).unwrap();
    // A single read that fails may be one ahead of the scan, which is made good by the scan's own.
    for (rules, says) in [("pread data.ctr 3 -1 5", "os error 5"), ("pread data.ctr 3 -1 flip", "checksum")] {
        faulty.faults(rules);
        let error = client.query(whole).unwrap_err();
        assert!(error.contains("data.ctr") && error.contains(says), "{rules}: {error}");
        faulty.faults("");
        assert_eq!(client.query("SELECT COUNT(*) FROM d.other").unwrap(), "2\n");
        assert_eq!(client.query(whole).unwrap(), before, "{rules}: it was a passing fault");
    }
    check(&faulty.server, &written, "after reading");
}

/// A bit that turned on its way to the disk is found when the page is read; it is never taken for data.
#[test]
fn a_page_that_was_written_wrong() {
    let mut faulty = Faulty::start("faulty-wrong");
    let load = Load::start(faulty.server.port(), 0);
    until("data", || faulty.server.client().query("SELECT COUNT(*) > 4000 FROM d.t").unwrap().trim() == "1");
    let written = load.end();
    faulty.server.stop().unwrap();
    faulty.faults("pwrite data.ctr 0 1 flip");
    faulty.server.restart().unwrap();
    faulty.server.client().query("UPDATE d.t SET n = n + 1 WHERE id % 5 = 0 LIMIT 400").unwrap();
    faulty.server.stop().unwrap();
    faulty.faults("");
    faulty.server.restart().unwrap();
    let client = faulty.server.client();
    // All of it, by each index, because either may have it.
    let found: Vec<String> = ["PRIMARY", "n"]
        .iter()
        .filter_map(|index| client.query(&format!("SELECT SUM(n) FROM d.t FORCE INDEX ({index}) WHERE n >= 0")).err())
        .collect();
    assert!(found.iter().any(|error| error.contains("data.ctr") && error.contains("checksum")), "{found:?}");
    assert_eq!(client.query("SELECT COUNT(*) FROM d.other").unwrap(), "2\n");
    let checked = client.query("CHECK TABLE d.other, d.t").unwrap();
    assert!(checked.contains("d.other\tcheck\tstatus\tOK\n"), "{checked}");
    assert!(checked.contains("checksum") && checked.ends_with("d.t\tcheck\terror\tCorrupt\n"), "{checked}");

    // Checkpoints go on without the rows that belong there, and the log still has all of them.
    client.query("INSERT INTO d.other VALUES (3)").unwrap();
    for n in 1..400 {
        let inserted = client.query(&format!("INSERT INTO d.t VALUES (-{n}, {n} * 10, 'x')"));
        assert!(inserted.as_ref().map_or_else(|error| error.contains("data.ctr"), |_| true), "{inserted:?}");
    }
    faulty.server.stop().unwrap();
    faulty.server.restart().unwrap();
    assert_eq!(faulty.server.client().query("SELECT COUNT(*) FROM d.other").unwrap(), "3\n");
    faulty.server.stop().unwrap();
    std::fs::remove_file(faulty.server.folder().join("data.ctr")).unwrap();
    faulty.server.restart().unwrap();
    check(&faulty.server, &written, "made anew from the log");
    assert_eq!(faulty.server.client().query("CHECK TABLE d.t").unwrap(), "d.t\tcheck\tstatus\tOK\n");
}

const PAGE_SIZE: usize = 16384;

/// Changes pages of an index in the data file of a server that is stopped: every third leaf.
fn decay(server: &Server, index: u64) {
    let path = server.folder().join("data.ctr");
    let mut file = std::fs::read(&path).unwrap();
    let is_leaf = |page: &[u8]| page[32] == 1 && page[16..24] == index.to_le_bytes();
    let leaves: Vec<usize> = (2..file.len() / PAGE_SIZE).filter(|at| is_leaf(&file[at * PAGE_SIZE..])).collect();
    assert!(leaves.len() > 10, "{leaves:?}");
    for page in leaves.into_iter().step_by(3) {
        file[page * PAGE_SIZE + 3000] ^= 0x10;
    }
    std::fs::write(&path, file).unwrap();
}

/// The indexes of d.t that have leaves in the data file, and how many: the rows are more than the keys.
fn indexes(server: &Server) -> Vec<u64> {
    let file = std::fs::read(server.folder().join("data.ctr")).unwrap();
    let mut leaves = std::collections::BTreeMap::<u64, usize>::new();
    for page in file.chunks_exact(PAGE_SIZE).skip(2).filter(|page| page[32] == 1) {
        *leaves.entry(u64::from_le_bytes(page[16..24].try_into().unwrap())).or_default() += 1;
    }
    let mut indexes: Vec<u64> = leaves.iter().filter(|(_, count)| **count > 10).map(|(index, _)| *index).collect();
    indexes.sort_by_key(|index| std::cmp::Reverse(leaves[index]));
    indexes
}

/// Pages of a follower's rows, of its keys, and of its source's keys decay while they are stopped: all is made good while they run, with
/// somebody who writes, by themselves and when they are told to.
#[test]
fn pages_that_decay_are_made_good() {
    let mut source = Server::start("faulty-repair", options(Vec::new())).unwrap();
    source.client().query(TABLE).unwrap();
    let mut follower = source.start_follower("faulty-repaired").unwrap();
    let load = Load::start(source.port(), 0);
    until("data", || source.client().query("SELECT COUNT(*) > 12000 FROM d.t").unwrap().trim() == "1");
    let written = load.end();
    source.wait_until_in_step(&follower).unwrap();
    follower.stop().unwrap();
    let [rows, keys] = indexes(&follower)[..] else { panic!("{:?}", indexes(&follower)) };
    decay(&follower, rows);
    decay(&follower, keys);
    follower.restart().unwrap();
    // Somebody has to meet it.
    let load = Load::start(source.port(), 1);
    for index in ["PRIMARY", "n"] {
        let _ = follower.client().query(&format!("SELECT SUM(LENGTH(s)) FROM d.t FORCE INDEX ({index}) WHERE n >= 0"));
    }
    let repaired = || follower.client().status("Store_repaired_ranges").unwrap();
    let is_whole = || follower.client().query("CHECK TABLE d.t").unwrap() == "d.t\tcheck\tstatus\tOK\n";
    until("the follower to repair itself", || repaired() > 0 && is_whole());
    assert!(follower.log().contains("is repaired"), "{}", follower.log());
    let more = load.end();
    source.wait_until_in_step(&follower).unwrap();
    let sum = |server: &Server| server.client().query("CHECKSUM TABLE d.t EXTENDED").unwrap();
    assert_eq!(sum(&source), sum(&follower));

    source.stop().unwrap();
    let [rows, keys] = indexes(&source)[..] else { panic!("{:?}", indexes(&source)) };
    decay(&source, rows);
    decay(&source, keys);
    source.restart().unwrap();
    let told = source.client().query("REPAIR TABLE d.t").unwrap();
    assert!(told.contains("Not restored") && told.ends_with("Operation failed\n"), "{told}");
    source.wait_until_in_step(&follower).unwrap();
    let from = format!("REPAIR TABLE d.t FROM 'mysql://root@127.0.0.1:{}'", follower.port());
    let told = source.client().query(&from).unwrap();
    assert!(told.contains("Restored from the copy") && told.ends_with("repair\tstatus\tOK\n"), "{told}");
    assert_eq!(sum(&source), sum(&follower));
    check(&source, &written, "repaired");
    check(&source, &more, "repaired");
    source.kill();
    source.restart().unwrap();
    check(&source, &more, "repaired, and killed");
}

/// A file system on a loop device.
struct Small(PathBuf);

impl Small {
    fn mount(megabytes: u64) -> Small {
        let folder = std::env::temp_dir().join(format!("commuter-loop-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("disk")).unwrap();
        let image = folder.join("image");
        std::fs::File::create(&image).unwrap().set_len(megabytes << 20).unwrap();
        let run = |command: &mut Command| {
            let output = command.output().unwrap();
            assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
        };
        run(Command::new("mkfs.ext4").args(["-q", "-m", "0"]).arg(&image));
        run(Command::new("mount").args(["-o", "loop"]).arg(&image).arg(folder.join("disk")));
        Small(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join("disk").join(name)
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0.join("disk")).output();
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The device fills up under load: commits are refused before they have a place, reads go on; with space again commits go on too,
/// and a kill while it is full loses nothing.
#[test]
fn a_device_that_is_full() {
    let small = Small::mount(128);
    let mut settings = options(Vec::new());
    settings.add_settings(["max_binlog_size=8M"]);
    let mut server = Server::start_in(small.0.join("disk"), settings).unwrap();
    std::fs::write(small.path("ballast"), vec![7; 32 << 20]).unwrap();
    server.client().query(TABLE).unwrap();
    let load = Load::start(server.port(), 0);
    let client = server.client();
    client.query("CREATE TABLE d.full (id INT AUTO_INCREMENT PRIMARY KEY)").unwrap();
    until("all sessions to be refused", || {
        let rows = || client.query("SELECT COUNT(*) FROM d.t").unwrap();
        let before = rows();
        std::thread::sleep(Duration::from_millis(500));
        before == rows() && client.query("INSERT INTO d.full VALUES ()").is_err_and(|error| error.contains("1021"))
    });
    assert_eq!(server.client().query("SELECT COUNT(*) FROM d.other").unwrap(), "2\n");
    server.kill();
    let written = load.end();
    let refused: Vec<u16> = written.iter().flat_map(|writer| writer.refused.clone()).collect();
    assert!(!refused.is_empty() && refused.iter().all(|code| *code == 1021), "{refused:?}");
    // A start has to begin a file of the log.
    assert!(server.restart().unwrap_err().contains("No space left on device"));
    std::fs::remove_file(small.path("ballast")).unwrap();
    server.restart().unwrap();
    check(&server, &written, "killed while the device was full");
    let load = Load::start(server.port(), 1);
    std::thread::sleep(Duration::from_secs(2));
    let more = load.end();
    assert!(more.iter().all(|writer| writer.acknowledged > 0), "commits go on");
    server.client().query("PURGE BINARY LOGS BEFORE NOW() + INTERVAL 1 DAY").unwrap();
    check(&server, &written, "afterwards");
    check(&server, &more, "afterwards");
    server.kill();
    server.restart().unwrap();
    check(&server, &more, "after a second kill");
}
