//! Servers compared by the sums in their trees: equal ones quickly, others down to the rows in which they differ.

use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use interop::{Kind, Peer, Server, ServerOptions, beside, commuter_binary};

/// `commuter checksum`: whether it finds the same, and what it prints.
fn checksum(arguments: &[&str]) -> (bool, String) {
    let output = Command::new(commuter_binary().unwrap()).arg("checksum").args(arguments).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.code().is_some_and(|code| code < 2), "{}", text(&output.stderr));
    (output.status.success(), text(&output.stderr) + &text(&output.stdout))
}

const SETUP: &str = "CREATE DATABASE d; CREATE TABLE d.t (a VARCHAR(10), id INT, n INT, x LONGTEXT, PRIMARY KEY (a, id)); \
     CREATE TABLE d.small (id INT AUTO_INCREMENT PRIMARY KEY, x INT); INSERT INTO d.small (x) VALUES (1), (2); \
     CREATE TABLE d.no_key (x INT); INSERT INTO d.no_key VALUES (5), (6)";

/// Rows enough for trees of some levels, and then for a memtable above them.
fn fill(server: &Server, rows: i32) {
    let client = server.client();
    for first in (0..rows).step_by(2000) {
        let values: Vec<String> = (first..first + 2000)
            .map(|n| format!("('k{}', {n}, {}, REPEAT('x', {}))", n % 7, n * 3, n % 200))
            .collect();
        client.query(&format!("INSERT INTO d.t VALUES {}", values.join(","))).unwrap();
    }
}

#[test]
fn what_was_damaged_is_named() {
    let source = Server::start("sums-source", ServerOptions::default()).unwrap();
    source.client().query(SETUP).unwrap();
    fill(&source, 60_000);
    let follower = source.start_follower("sums-follower").unwrap();
    source.client().query("SET binlog_row_image = 'MINIMAL'; UPDATE d.t SET n = n + 1 WHERE id % 100 = 0").unwrap();
    source.wait_until_in_step(&follower).unwrap();
    let (first, second) = (source.url(), follower.url());
    let (same, text) = checksum(&[&first, &second]);
    assert!(same && text.lines().count() == 3 && text.contains("60000 d.t"), "{text}");
    // Read row by row they are the same too.
    let (same, text) = checksum(&["--all-rows", &first, &second]);
    assert!(same, "{text}");

    // Now the follower goes its own way.
    let damage = "STOP REPLICA; SET GLOBAL super_read_only = OFF; UPDATE d.t SET n = -1 WHERE a = 'k3' AND id = 40001; \
                  DELETE FROM d.t WHERE a = 'k2' AND id = 9; INSERT INTO d.t VALUES ('it''s', 1, 2, NULL)";
    follower.client().query(damage).unwrap();
    let (same, text) = checksum(&[&first, &second]);
    assert!(!same, "{text}");
    for line in [
        "DIFFERS: d.t: 60000 rows, ",
        "\n  only on the second: `a`='it''s' AND `id`=1\n",
        "\n  only on the first: `a`='k2' AND `id`=9\n",
        "\n  different: `a`='k3' AND `id`=40001\n",
        "1 of the tables differ",
    ] {
        assert!(text.contains(line), "{line:?} is not in\n{text}");
    }
    assert_eq!(text.matches("\n  ").count(), 3, "{text}");
    let (same, json) = checksum(&["--format", "json", &first, &second]);
    let differing = json.lines().find(|line| line.contains(r#""table":"d.t""#)).unwrap();
    assert!(!same && differing.contains(r#""same":false"#) && differing.contains(r#""what":"only_first""#), "{json}");
    assert!(
        json.lines().any(|line| line.contains(r#""table":"d.small""#) && line.contains(r#""same":true"#)),
        "{json}"
    );
    // Not more than was asked for.
    let (same, text) = checksum(&["--rows", "2", &format!("{first}/d"), &format!("{second}/d")]);
    assert!(!same && text.matches("\n  ").count() == 3 && text.contains("\n  and others\n"), "{text}");
    // What is gone as a whole, and what is there as a whole.
    follower.client().query("DELETE FROM d.t; DROP TABLE d.small; CREATE TABLE d.new (id INT PRIMARY KEY)").unwrap();
    let (same, text) = checksum(&["--rows", "500", &first, &second]);
    assert!(!same && text.matches("\n  only on the first: ").count() == 500, "{text}");
    assert!(text.contains("d.small: only on the first") && text.contains("d.new: only on the second"), "{text}");
    assert!(text.ends_with("3 of the tables differ\n"), "{text}");
}

/// Beside writers both are read at one position of the log.
#[test]
fn writers_make_no_difference() {
    let source = Server::start("sums-busy", ServerOptions::default()).unwrap();
    source.client().query(SETUP).unwrap();
    let follower = source.start_follower("sums-busy-follower").unwrap();
    source.wait_until_in_step(&follower).unwrap();
    let write = |writer: u32, is_over: &AtomicBool| {
        let client = source.client();
        let statements =
            format!("INSERT INTO d.small (x) VALUES ({writer}); UPDATE d.small SET x = x + 1 WHERE id = 1;");
        while !is_over.load(Ordering::Relaxed) {
            client.query(&statements.repeat(20)).unwrap();
        }
    };
    let write_all = |is_over: &AtomicBool| {
        std::thread::scope(|scope| (0..3).for_each(|writer| drop(scope.spawn(move || write(writer, is_over)))));
    };
    beside(write_all, || {
        for _ in 0..5 {
            let (same, text) = checksum(&[&source.url(), &follower.url()]);
            assert!(same && !text.contains("may be new"), "{text}");
        }
    });
}

/// Two servers that know nothing of each other: what they generated for tables without a key is no difference, and definitions
/// that differ are compared by what they show.
#[test]
fn servers_that_are_not_related() {
    let servers = ["sums-one", "sums-other"].map(|name| Server::start(name, ServerOptions::default()).unwrap());
    for server in &servers {
        server.client().query(SETUP).unwrap();
    }
    let [first, second] = &servers;
    second
        .client()
        .query("DELETE FROM d.no_key; INSERT INTO d.no_key VALUES (6), (5); ALTER TABLE d.small ADD KEY (x)")
        .unwrap();
    let (same, text) = checksum(&[&first.url(), &second.url()]);
    assert!(same && text.contains("neither server replicates"), "{text}");
    second.client().query("INSERT INTO d.no_key VALUES (7); UPDATE d.small SET x = 3 WHERE id = 2").unwrap();
    let (same, text) = checksum(&[&first.url(), &second.url()]);
    assert!(!same && text.contains("DIFFERS: d.no_key: 2 rows") && text.contains("DIFFERS: d.small: 2 rows"), "{text}");
}

/// With a server of another kind every row is read.
#[test]
fn with_mysql() {
    let peer = Peer::start(Kind::Mysql97, "sums", Duration::ZERO, &[]).unwrap();
    peer.client().query("CREATE USER 'ada'@'%' IDENTIFIED BY 's3cret'; GRANT ALL ON *.* TO 'ada'@'%'").unwrap();
    let ours = Server::start("sums-mixed", ServerOptions::default()).unwrap();
    ours.client().query(SETUP).unwrap();
    peer.client().query(SETUP).unwrap();
    let (mine, theirs) = (format!("{}/d", ours.url()), format!("mysql://ada:s3cret@127.0.0.1:{}/d", peer.port()));
    assert_eq!(checksum(&[&mine]), checksum(&[&theirs]));
    for pair in [[&mine[..], &theirs], [&theirs, &mine]] {
        let (same, text) = checksum(&pair);
        assert!(same && text.contains("2 d.small"), "{text}");
    }
    ours.client().query("UPDATE d.small SET x = 7 WHERE id = 2").unwrap();
    let (same, text) = checksum(&[&mine, &theirs]);
    assert!(!same && text.contains("DIFFERS: d.small: 2 rows") && text.contains("\n  different: `id`=2\n"), "{text}");
    let rows = "DELETE FROM d.small WHERE id = 1; INSERT INTO d.small (id, x) VALUES (3, 3)";
    ours.client().query(rows).unwrap();
    let (same, text) = checksum(&["--rows", "2", &mine, &theirs]);
    let found = "\n  only on the second: `id`=1\n  different: `id`=2\n  and others\n";
    assert!(!same && text.contains(found), "{text}");
}
