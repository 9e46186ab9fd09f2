//! MySQL's and MariaDB's own tools read our log: sealed files from disk, the live one from the server.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use interop::{Client, Kind, Peer, Server, ServerOptions, commuter_binary, run_tool};

const SETUP: &str = "CREATE DATABASE d; USE d;\
    CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, s VARCHAR(300), n DECIMAL(12,3), b BLOB, d DATETIME(3), e ENUM('a','b'), u BIGINT UNSIGNED, f DOUBLE, k TIMESTAMP NULL);\
    INSERT INTO t (s, n, b, d, e, u, f) VALUES ('grüße', 1.5, x'00ff', '2024-02-29 01:02:03.456', 'b', 18446744073709551615, 2.5), (REPEAT('x', 300), -99.125, NULL, NULL, NULL, 0, -1e100);\
    UPDATE t SET s = 'changed' WHERE id = 1; DELETE FROM t WHERE id = 2;\
    SET SESSION binlog_rows_query_log_events = 1; INSERT INTO t (s) VALUES ('with its text');\
    SET SESSION binlog_row_image = 'MINIMAL'; UPDATE t SET n = 7 WHERE id = 1; SET SESSION binlog_row_image = 'FULL';\
    ALTER TABLE t ADD COLUMN more INT DEFAULT 3; FLUSH BINARY LOGS; INSERT INTO t (s) VALUES ('in the live file')";

#[test]
fn sealed_files_and_the_live_one() {
    let server = Server::start("log-tools", ServerOptions::default()).unwrap();
    server.client().query(SETUP).unwrap();
    let listed = server.client().query("SHOW BINARY LOGS").unwrap();
    let files: Vec<&str> = listed.lines().filter_map(|line| line.split('\t').next()).collect();
    assert!(files.len() >= 2, "{listed}");
    let (live, sealed) = files.split_last().unwrap();
    wait_until_sealed(&server, &listed);
    for file in sealed {
        let path = server.folder().join(file).display().to_string();
        let arguments = ["--no-defaults", "-vv", "--verify-binlog-checksum", &path];
        let mysql = run_tool(Kind::Mysql97, "mysqlbinlog", &arguments).unwrap();
        let maria = run_tool(Kind::Maria118, "mariadb-binlog", &arguments).unwrap();
        for text in [&mysql, &maria] {
            assert!(text.contains("### UPDATE `d`.`t`"), "{text}");
            assert!(text.contains("###   @2='changed'"), "{text}");
        }
        assert!(mysql.contains("with its text"), "the text of the statement: {mysql}");
    }
    let text = from_server(&server, Kind::Mysql97, "mysqlbinlog", &[]);
    assert!(text.contains("in the live file"), "{text}");
    let ours = Command::new(commuter_binary().unwrap())
        .args(["log", "dump", "--verify-checksum"])
        .arg(server.folder().join(live))
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&ours.stdout).into_owned();
    assert!(ours.status.success() && text.contains("in the live file"), "{text}");
}

/// The log from its first file on, as a tool reads it from the server.
fn from_server(server: &Server, kind: Kind, tool: &str, more: &[&str]) -> String {
    let port = server.port().to_string();
    let connection = ["--no-defaults", "-R", "-h127.0.0.1", "-P", &port, "-uroot", "-vv", "--verify-binlog-checksum"];
    run_tool(kind, tool, &[&connection[..], more, &["--to-last-log", "binlog.000001"]].concat()).unwrap()
}

/// `--stop-never` is a replica that prints: what is committed later comes too, across files.
#[test]
fn the_live_log_without_end() {
    let server = Server::start("log-tools-live", ServerOptions::default()).unwrap();
    server.client().query("CREATE DATABASE d; CREATE TABLE d.t (s VARCHAR(100) PRIMARY KEY)").unwrap();
    let port = server.port().to_string();
    let mut reader = Command::new("chroot")
        .arg(Kind::Mysql97.root())
        // Its output as it comes, into a pipe it would be held back; and not for ever if something does not come.
        .args([
            "stdbuf",
            "-oL",
            "timeout",
            "30",
            "mysqlbinlog",
            "--no-defaults",
            "-R",
            "-h127.0.0.1",
            "-P",
            &port,
            "-uroot",
            "-vv",
        ])
        .args(["--verify-binlog-checksum", "--stop-never", "binlog.000001"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(reader.stdout.take().unwrap()).lines().map_while(Result::ok);
    for text in ["first", "second", "third"] {
        server.client().query(&format!("INSERT INTO d.t (s) VALUES ('{text}'); FLUSH BINARY LOGS")).unwrap();
        let wanted = format!("@1='{text}'");
        assert!(lines.any(|line| line.contains(&wanted)), "the stream ended before '{text}'");
    }
    reader.kill().unwrap();
    reader.wait().unwrap();
}

#[test]
fn mariadb_reads_from_a_server_whose_version_it_knows() {
    let options = ServerOptions::with_settings(["version=11.8.0-commuter"]);
    let server = Server::start("log-tools-maria", options).unwrap();
    server.client().query(SETUP).unwrap();
    let text = from_server(&server, Kind::Maria118, "mariadb-binlog", &["--skip-ssl"]);
    assert!(text.contains("in the live file"), "{text}");
}

fn log_dump(arguments: &[&str]) -> Vec<String> {
    let output = Command::new(commuter_binary().unwrap())
        .args(["log", "dump", "--format", "json"])
        .args(arguments)
        .output()
        .unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

/// Our dump of a server's log is our dump of its files, whoever the server is: by name, and all of it.
fn dump_from(client: &Client, folder: &std::path::Path) {
    let url = format!("mysql://root@127.0.0.1:{}", client.port());
    let listed = client.query("SHOW BINARY LOGS").unwrap();
    let names: Vec<&str> = listed.lines().filter_map(|line| line.split('\t').next()).collect();
    let files: Vec<String> = names.iter().map(|name| folder.join(name).display().to_string()).collect();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    // A file that is written to says so in its first event; MariaDB's dump thread says when the server was started there.
    let comparable = |lines: Vec<String>| -> Vec<String> {
        lines.into_iter().filter(|line| !line.contains(r#""type":"Format_desc""#)).collect()
    };
    let from_files = comparable(log_dump(&files));
    assert!(from_files.iter().any(|line| line.contains("in the live file")), "{from_files:?}");
    let by_name = comparable(log_dump(&[&["--source", &url, "--verify-checksum"], &names[..]].concat()));
    assert_eq!(by_name, from_files, "{url}");
    let all = comparable(log_dump(&["--source", &url]));
    assert_eq!(all, from_files, "{url}");
    // From a position of the first file on.
    let second = |lines: &[String]| -> String { lines.iter().find(|line| line.contains(r#""sql":"#)).unwrap().clone() };
    let position = second(&from_files).split(r#""position":"#).nth(1).unwrap().split(',').next().unwrap().to_owned();
    let part = comparable(log_dump(&["--source", &url, "--start-position", &position]));
    assert_eq!(part, comparable(log_dump(&[&["--start-position", &position], &files[..]].concat())), "{url}");
    assert!(part.len() < from_files.len() && part[0] == second(&from_files), "{part:?}");
    // Of a table, of a part of the files.
    let last = names[names.len() - 1];
    let rows = log_dump(&["--source", &url, "--table", "d.t", last]);
    assert!(rows.iter().any(|line| line.contains("in the live file")), "{rows:?}");
    let others = log_dump(&["--source", &url, "--table", "d.other", last]);
    assert!(!others.iter().any(|line| line.contains(r#""rows":"#)), "{others:?}");
}

#[test]
fn our_dump_reads_from_every_server() {
    let server = Server::start("log-dump", ServerOptions::default()).unwrap();
    server.client().query(SETUP).unwrap();
    dump_from(&server.client(), server.folder());
    for kind in [Kind::Mysql97, Kind::Maria118] {
        let peer = Peer::start(kind, "log-dump", Duration::ZERO, &[]).unwrap();
        let setup = match kind {
            Kind::Mysql97 => SETUP.to_owned(),
            Kind::Maria118 => SETUP.replace("SET SESSION binlog_rows_query_log_events = 1", "DO 0"),
        };
        peer.client().query(&setup).unwrap();
        dump_from(&peer.client(), &peer.folder());
    }
}

#[test]
fn our_dump_follows() {
    let server = Server::start("log-dump-follow", ServerOptions::default()).unwrap();
    server.client().query("CREATE DATABASE d; CREATE TABLE d.t (s VARCHAR(100) PRIMARY KEY)").unwrap();
    let mut reader = Command::new("timeout")
        .arg("30")
        .arg(commuter_binary().unwrap())
        .args(["log", "dump", "--source", &server.url(), "--follow"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(reader.stdout.take().unwrap()).lines().map_while(Result::ok);
    for text in ["first", "second", "third"] {
        server.client().query(&format!("INSERT INTO d.t (s) VALUES ('{text}'); FLUSH BINARY LOGS")).unwrap();
        let wanted = format!("@1='{text}'");
        assert!(lines.any(|line| line.contains(&wanted)), "the stream ended before '{text}'");
    }
    reader.kill().unwrap();
    reader.wait().unwrap();
}

/// Sealing happens beside the commits; a sealed file is as long as its log.
fn wait_until_sealed(server: &Server, listed: &str) {
    let start = Instant::now();
    for line in listed.lines().take(listed.lines().count() - 1) {
        let mut columns = line.split('\t');
        let path = server.folder().join(columns.next().unwrap());
        let size: u64 = columns.next().unwrap().parse().unwrap();
        while std::fs::metadata(&path).unwrap().len() != size {
            assert!(start.elapsed() < Duration::from_secs(20), "{} is not sealed", path.display());
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// A running server's files, as the shell lists them: the one that it has prepared has nothing in it yet. In front of others it would be damage.
#[test]
fn the_file_that_is_prepared_is_passed_over() {
    let server = Server::start("log-prepared", ServerOptions::default()).unwrap();
    server.client().query(SETUP).unwrap();
    let prepared = || {
        let names = std::fs::read_dir(server.folder()).unwrap().map(|entry| entry.unwrap().path());
        let mut files: Vec<_> = names.filter(|path| path.display().to_string().contains("binlog.0")).collect();
        files.sort();
        files
    };
    let listed = server.client().query("SHOW BINARY LOGS").unwrap().lines().count();
    interop::until("a file ahead of the log", || prepared().len() == listed + 1);
    let files = prepared();
    for command in [&["log", "dump"][..], &["log", "analyze"], &["tail"]] {
        let run = |files: &[std::path::PathBuf]| {
            Command::new(commuter_binary().unwrap()).args(command).args(files).stdin(Stdio::null()).output().unwrap()
        };
        let output = run(&files);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && said.contains("has nothing in it yet"), "{command:?}: {said}");
        let wrong_order: Vec<_> = files.iter().rev().cloned().collect();
        assert!(!run(&wrong_order).status.success(), "{command:?}");
    }
}
