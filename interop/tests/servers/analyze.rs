//! `commuter log analyze` of logs of MySQL, MariaDB and our own server: figures equal to those that others' tools print of the same
//! files, and a damaged file reported up to the damage.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use interop::{Kind, Peer, Server, ServerOptions, Sysbench, commuter_binary, run_tool};
use serde_json::Value;

fn load(port: u16, script: &str) -> Sysbench {
    Sysbench {
        script: script.to_owned(),
        port,
        threads: 16,
        seconds: 3,
        tables: 1,
        table_size: 10_000,
        more: Vec::new(),
    }
}

fn run(arguments: &[&str]) -> Output {
    Command::new(commuter_binary().unwrap()).args(["log", "analyze"]).args(arguments).output().unwrap()
}

fn json(arguments: &[&str]) -> Value {
    let output = run(&[&["--format", "json"], arguments].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn mode<'r>(report: &'r Value, server: &str, name: &str) -> &'r Value {
    let modes = report["modes"].as_array().unwrap();
    modes.iter().find(|mode| mode["server"] == server && mode["mode"] == name).unwrap()
}

fn speed_up(mode: &Value, workers: u64) -> f64 {
    let outcomes = mode["outcomes"].as_array().unwrap();
    outcomes.iter().find(|outcome| outcome["workers"] == workers).unwrap()["speed_up"].as_f64().unwrap()
}

/// The program of the parallel replication tutorial, on the same file: date, time, number of transactions, sum of their modified interval
/// lengths, sum of the squares, of each second but the last. Sorted by time on the way: it counts what comes late to the next second.
fn tutorial(file: &Path) -> Vec<String> {
    const PROGRAM: &str = r##"grep "^#" | grep -e last_committed |
        awk -F "[\t ]+|=" ' $11 == "last_committed" { if (length($2) == 7) {$2 = "0" $2;}
          if ($12 < max) {$12 = max;} else {max = $12;} print $1, $2, $14 - $12;} ' |
        sort -s -k 1,2 |
        awk -F " |:" ' {my_h = $2 ":" $3 ":" $4;}
          NR == 1 {d=$1; h=my_h; n=0; sum=0; sum2=0;}
          d != $1 || h < my_h {print d, h, n, sum, sum2; d=$1; h=my_h; n=0; sum=0; sum2=0;}
          {n++; sum += $5; sum2 += $5 * $5;}'"##;
    let text = run_tool(Kind::Mysql97, "mysqlbinlog", &[file.to_str().unwrap()]).unwrap();
    let scratch = scratch("tutorial");
    fs::write(scratch.join("in"), text).unwrap();
    let output = Command::new("sh").args(["-c", PROGRAM]).stdin(fs::File::open(scratch.join("in")).unwrap()).output();
    fs::remove_dir_all(scratch).unwrap();
    let output = output.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

fn scratch(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("commuter-analyze-{}-{name}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn intervals_of_a_mysql() {
    let peer = Peer::start(Kind::Mysql97, "analyze", Duration::ZERO, &["--binlog-row-metadata=FULL"]).unwrap();
    let bench = load(peer.port(), "oltp_write_only");
    bench.prepare().unwrap();
    bench.run().unwrap();
    peer.client()
        .query("CREATE TABLE sbtest.none (a INT); INSERT INTO sbtest.none VALUES (1); FLUSH BINARY LOGS")
        .unwrap();
    let file = peer.folder().join("bin.000001");
    let report = json(&[file.to_str().unwrap()]);
    let slices = report["slices"].as_array().unwrap();
    let ours: Vec<String> = slices
        .iter()
        .map(|slice| {
            let (date, time) = slice["time"].as_str().unwrap().split_once(' ').unwrap();
            let date = date.replace('-', "");
            format!(
                "#{} {time} {} {} {}",
                &date[2..],
                slice["intervals"],
                slice["interval_sum"],
                slice["interval_squares"]
            )
        })
        .collect();
    let theirs = tutorial(&file);
    assert!(theirs.len() >= 2, "{theirs:?}");
    assert_eq!(ours[..theirs.len()], theirs);
    assert_eq!(report["tables_without_primary_key"], serde_json::json!(["sbtest.none"]));
    let executed = peer.client().query("SELECT @@GLOBAL.gtid_executed").unwrap();
    let last: u64 = executed.trim().rsplit(['-', ':']).next().unwrap().parse().unwrap();
    assert_eq!(report["transactions"], last);
    // Four rows of a thousand, written by sixteen clients: hardly any depends on the last few.
    let writeset = mode(&report, "commuter", "writeset");
    assert!(speed_up(writeset, 8) > 4.0 && speed_up(writeset, 1) < 1.01, "{writeset}");
    assert!(writeset["speed_up_max"].as_f64().unwrap() >= speed_up(writeset, 256));
    assert_eq!(speed_up(mode(&report, "commuter", "schema"), 256), 1.0);
    the_same_from_the_server(&peer, &report);
    damaged(&file, &report);
}

fn the_same_from_the_server(peer: &Peer, report: &Value) {
    let url = format!("mysql://root@127.0.0.1:{}", peer.port());
    let html = scratch("html").join("report.html");
    let streamed = json(&["--source", &url, "--html", html.to_str().unwrap(), "bin.000001"]);
    for figure in
        ["transactions", "bytes", "inserted", "updated", "deleted", "amil", "slices", "biggest", "hottest_rows"]
    {
        assert_eq!(streamed[figure], report[figure], "{figure}");
    }
    assert_eq!(streamed["tables_with_foreign_keys"], serde_json::json!([]));
    let page = fs::read_to_string(&html).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"));
    // Nothing is loaded from anywhere.
    assert!(page.contains("<polyline") && !page.contains("http") && !page.contains("<script"), "{page}");
    fs::remove_dir_all(html.parent().unwrap()).unwrap();
}

/// All up to the damage is in the report, and the command fails.
fn damaged(file: &Path, whole: &Value) {
    let folder = scratch("damaged");
    let mut bytes = fs::read(file).unwrap();
    // What was loaded is in front of it, however few transactions came after that.
    let at = bytes.len() / 8 * 7;
    bytes[at..at + 64].fill(0xff);
    let damaged = folder.join("bin.000001");
    fs::write(&damaged, bytes).unwrap();
    let output = run(&["--format", "json", "--verify-checksum", damaged.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let (read, all) = (report["transactions"].as_u64().unwrap(), whole["transactions"].as_u64().unwrap());
    assert!(read > 10 && read < all, "{read} of {all}");
    let message = report["damage"].as_str().unwrap();
    assert!(message.contains("bin.000001") && String::from_utf8_lossy(&output.stderr).contains(message), "{message}");
    let text = run(&["--verify-checksum", damaged.to_str().unwrap()]);
    assert!(String::from_utf8_lossy(&text.stdout).contains("NOT READ TO THE END"));
    let missing = run(&[folder.join("none").to_str().unwrap()]);
    assert!(!missing.status.success() && missing.stdout.is_empty());
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn groups_of_a_maria() {
    let settings = ["--binlog-commit-wait-count=4", "--binlog-commit-wait-usec=2000", "--binlog-format=MIXED"];
    let peer = Peer::start(Kind::Maria118, "analyze", Duration::ZERO, &settings).unwrap();
    let bench = load(peer.port(), "oltp_write_only");
    bench.prepare().unwrap();
    bench.run().unwrap();
    peer.client()
        .query("SET gtid_domain_id=7; CREATE TABLE sbtest.u (a INT PRIMARY KEY); INSERT INTO sbtest.u VALUES (1); FLUSH BINARY LOGS")
        .unwrap();
    let file = peer.folder().join("bin.000001");
    let report = json(&[file.to_str().unwrap()]);
    let text = run_tool(Kind::Maria118, "mariadb-binlog", &[file.to_str().unwrap()]).unwrap();
    let gtids: Vec<&str> = text.lines().filter(|line| line.starts_with('#') && line.contains("\tGTID ")).collect();
    let commit_id = |line: &&str| line.split("cid=").nth(1).map(|rest| rest.split(' ').next().unwrap().to_owned());
    let ids: Vec<Option<String>> = gtids.iter().map(commit_id).collect();
    let groups = ids.iter().enumerate().filter(|(at, id)| id.is_none() || *at == 0 || **id != ids[at - 1]).count();
    assert_eq!(report["transactions"], gtids.len());
    let size = report["group_size"].as_f64().unwrap();
    assert!((size - gtids.len() as f64 / groups as f64).abs() < 1e-9, "{size}: {} in {groups}", gtids.len());
    assert!(size > 1.5, "{size}");
    assert_eq!(report["amil"], Value::Null);
    let [theirs, ours] = ["mariadb", "commuter"].map(|server| speed_up(mode(&report, server, "conservative"), 16));
    assert!(theirs > 1.1 && theirs <= ours + 1e-9, "{theirs}, {ours}");
    mode(&report, "mariadb", "domain");
}

#[test]
fn our_own() {
    let server = Server::start("analyze", ServerOptions::default()).unwrap();
    server.client().query("CREATE DATABASE sbtest").unwrap();
    let bench = load(server.port(), "oltp_update_index");
    bench.prepare().unwrap();
    bench.run().unwrap();
    let report = json(&["--source", &server.url(), "--calibrate"]);
    let executed = server.client().query("SELECT @@GLOBAL.gtid_executed").unwrap();
    let last: u64 = executed.trim().rsplit(['-', ':']).next().unwrap().parse().unwrap();
    assert_eq!(report["transactions"], last);
    assert_eq!(report["tables"][0]["has_primary_key"], true);
    assert!(!report["hottest_rows"].as_array().unwrap().is_empty());
    assert!(report["costs"][0].as_f64().unwrap() > 1.0 && report["amil"].as_f64().unwrap() > 1.0);
    assert!(speed_up(mode(&report, "commuter", "install"), 4) > 2.0, "{}", report["modes"]);
}
