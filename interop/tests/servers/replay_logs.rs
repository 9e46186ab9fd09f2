//! Logs as SQL: what mysqlbinlog, mariadb-binlog and `commuter log dump` print of the logs of MySQL, MariaDB and ours is executed by those
//! servers that can take it, and they have the rows of the server whose log it was then.

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Duration;

use interop::everyday::{EVERYDAY, contents};
use interop::{Client, Kind, Peer, Server, ServerOptions, commuter_binary, run_tool};

/// Statements as text, with all that stands in front of them in a log.
const STATEMENTS: &str = r"
SET SESSION binlog_format = STATEMENT;
CREATE TABLE said (id INT AUTO_INCREMENT PRIMARY KEY, s VARCHAR(100), n DOUBLE, m DECIMAL(40,20), u BIGINT UNSIGNED, t DATETIME(6));
SET timestamp = 1700000000.25;
INSERT INTO said (s, t) VALUES ('now', NOW(6));
SET timestamp = DEFAULT;
SET @text = 'Grüße', @int = -5, @real = 1.5e20, @dec = -12345678901.0123456789, @big = 18446744073709551615, @bin = x'00ff10', @null = NULL;
INSERT INTO said (s, n) VALUES (@text, @int / 4), (HEX(@bin), @real / 7), (@null, NULL);
INSERT INTO said (m, u) VALUES (@dec, @big);
INSERT INTO said (n) VALUES (RAND());
INSERT INTO said (s) VALUES (CONCAT('last ', LAST_INSERT_ID()));
SET auto_increment_increment = 5, auto_increment_offset = 2;
INSERT INTO said (s) VALUES ('a'), ('b');
SET auto_increment_increment = 1, auto_increment_offset = 1;
SET NAMES latin1;
INSERT INTO said (s) VALUES ('größer');
SET NAMES utf8mb4;
SET sql_mode = 'ANSI_QUOTES,PIPES_AS_CONCAT';
INSERT INTO said (s) VALUES ('a' || 'b');
SET sql_mode = DEFAULT, time_zone = '+05:00';
INSERT INTO said (s) VALUES (FROM_UNIXTIME(1000));
INSERT INTO said (t) VALUES ('2026-11-23 01:02:03.9999999');
SET time_zone = '+00:00';
BEGIN;
INSERT INTO said (s) VALUES ('kept');
SAVEPOINT one;
INSERT INTO said (s) VALUES ('not kept');
ROLLBACK TO one;
UPDATE said SET n = id / 4 WHERE n IS NULL;
COMMIT;
DELETE FROM said WHERE s = 'b';
CREATE DATABASE other;
CREATE TABLE other.t (id INT PRIMARY KEY);
DROP DATABASE other;
INSERT INTO said (s) VALUES ('behind a database that is gone');
SET SESSION binlog_format = ROW;
";

/// A server in a part of both roles.
enum Any {
    Ours(Server),
    Peer(Peer),
}

impl Any {
    fn client(&self) -> Client {
        match self {
            Any::Ours(server) => server.client(),
            Any::Peer(peer) => peer.client(),
        }
    }

    /// Nothing of a log is here, and every GTID is new.
    fn empty(&self) {
        let reset = match self {
            Any::Peer(peer) if peer.kind() == Kind::Maria118 => "RESET MASTER",
            _ => "RESET BINARY LOGS AND GTIDS",
        };
        self.client().query(&format!("DROP DATABASE IF EXISTS d; {reset}")).unwrap();
    }

    fn name(&self) -> &'static str {
        match self {
            Any::Ours(_) => "commuter",
            Any::Peer(peer) => peer.kind().name(),
        }
    }

    /// What is in the log's files from now on is only what is said next.
    fn load(&self) {
        self.empty();
        let more = match self {
            Any::Ours(_) => String::new(),
            Any::Peer(peer) => {
                let compress = match peer.kind() {
                    Kind::Mysql97 => "SET SESSION binlog_transaction_compression = ON",
                    Kind::Maria118 => "SET GLOBAL log_bin_compress = ON, log_bin_compress_min_len = 10",
                };
                let plain = "SET GLOBAL log_bin_compress = OFF";
                let plain = if peer.kind() == Kind::Maria118 { plain } else { "DO 0" };
                format!("{STATEMENTS} {compress}; UPDATE big SET s = CONCAT('y', SUBSTR(s, 2)); {plain};")
            }
        };
        self.client().query(&format!("SET time_zone = '+00:00'; SET NAMES utf8mb4; {EVERYDAY} {more}")).unwrap();
        self.client().query("FLUSH BINARY LOGS").unwrap();
    }

    /// Its log's files, all but the live one.
    fn files(&self) -> Vec<String> {
        let folder = match self {
            Any::Ours(server) => server.folder().to_path_buf(),
            Any::Peer(peer) => peer.folder(),
        };
        let listed = self.client().query("SHOW BINARY LOGS").unwrap();
        let mut files: Vec<String> = listed
            .lines()
            .filter_map(|line| line.split('\t').next())
            .map(|name| folder.join(name).display().to_string())
            .collect();
        files.pop();
        files
    }
}

fn dump(arguments: &[&str], files: &[String]) -> Vec<u8> {
    let output =
        Command::new(commuter_binary().unwrap()).args(["log", "dump"]).args(arguments).args(files).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

fn tool(kind: Kind, arguments: &[&str], files: &[String]) -> Vec<u8> {
    let program = match kind {
        Kind::Mysql97 => "mysqlbinlog",
        Kind::Maria118 => "mariadb-binlog",
    };
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    run_tool(kind, program, &[&["--no-defaults"], arguments, &files[..]].concat()).unwrap().into_bytes()
}

/// Pipes a dump into the client of a kind of server; what it says of errors.
fn replay(client: Kind, to: &Any, text: &[u8]) -> String {
    let port = to.client().port().to_string();
    let (program, more): (&str, &[&str]) = match client {
        Kind::Mysql97 => ("mysql", &[]),
        Kind::Maria118 => ("mariadb", &["--skip-ssl"]),
    };
    let mut child = Command::new("chroot")
        .arg(client.root())
        .args([program, "--no-defaults", "--binary-mode", "-h127.0.0.1", "-uroot", "-P", &port])
        .args(more)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    std::thread::scope(|scope| {
        // It may end at an error and not read the rest.
        scope.spawn(move || drop(input.write_all(text)));
        let output = child.wait_with_output().unwrap();
        String::from_utf8_lossy(&output.stderr).into_owned()
    })
}

/// Executes a dump on an empty server, which has the same rows then.
#[track_caller]
fn same_after(what: &str, client: Kind, to: &Any, text: &[u8], rows: &str) {
    to.empty();
    let what = format!("{what} into {}", to.name());
    let errors = replay(client, to, text);
    assert_eq!(errors, "", "{what}");
    let found = contents(&to.client());
    for (found, row) in found.lines().zip(rows.lines()) {
        assert_eq!(found, row, "{what}");
    }
    assert_eq!(found.len(), rows.len(), "{what}");
}

fn peer(kind: Kind, name: &str) -> Any {
    Any::Peer(Peer::start(kind, name, Duration::ZERO, &["--innodb-buffer-pool-size=256M"]).unwrap())
}

/// The client that speaks to a server.
fn client_of(server: &Any) -> Kind {
    match server {
        Any::Peer(peer) => peer.kind(),
        Any::Ours(_) => Kind::Mysql97,
    }
}

#[test]
fn every_log_into_every_server() {
    let ours = Any::Ours(Server::start("replay", ServerOptions::default()).unwrap());
    let (mysql, maria) = (peer(Kind::Mysql97, "replay"), peer(Kind::Maria118, "replay"));
    // MariaDB's CREATE TABLE … SELECT is one GTID for table and rows, and two when a client executes it, whoever printed it.
    maria.client().query("SET GLOBAL gtid_strict_mode = OFF").unwrap();
    for source in [&mysql, &maria, &ours] {
        source.load();
        let rows = contents(&source.client());
        assert!(rows.contains("counted"), "{rows}");
        let files = source.files();
        // All texts first: a target may be the server whose log it is.
        let own = dump(&["--verify-checksum"], &files);
        let own_short = dump(&["--skip-gtids", "--skip-rows"], &files);
        // MySQL refuses the rows then (1778).
        let takes_gtids = if source.name() == "maria118" { vec![&ours, &maria] } else { vec![&ours, &mysql, &maria] };
        let mut texts = vec![(own, "log dump", takes_gtids)];
        texts.push((own_short, "log dump --skip-gtids --skip-rows", vec![&ours, &mysql, &maria]));
        if source.name() != "maria118" {
            texts.push((tool(Kind::Mysql97, &["-v"], &files), "mysqlbinlog", vec![&ours, &mysql]));
            texts.push((
                tool(Kind::Mysql97, &["--skip-gtids"], &files),
                "mysqlbinlog --skip-gtids",
                vec![&ours, &mysql],
            ));
        } else {
            texts.push((tool(Kind::Maria118, &["-v"], &files), "mariadb-binlog", vec![&ours, &maria]));
        }
        for (text, program, targets) in texts {
            for target in targets {
                let what = format!("{program} of {}", source.name());
                same_after(&what, client_of(target), target, &text, &rows);
            }
        }
    }
}

/// GTIDs are kept where the target knows them.
#[test]
fn gtids_of_both_kinds() {
    let ours = Any::Ours(Server::start("replay-gtids", ServerOptions::default()).unwrap());
    let maria = peer(Kind::Maria118, "replay-gtids");
    let sql = "SET gtid_domain_id = 7; CREATE DATABASE d; CREATE TABLE d.t (id INT PRIMARY KEY); INSERT INTO d.t VALUES (1), (2)";
    maria.empty();
    maria.client().query(&format!("{sql}; FLUSH BINARY LOGS")).unwrap();
    let position = maria.client().query("SELECT @@gtid_binlog_pos").unwrap();
    let files = maria.files();
    let text = dump(&[], &files);
    let theirs = tool(Kind::Maria118, &[], &files);
    maria.empty();
    assert_eq!(replay(Kind::Maria118, &maria, &text), "");
    assert_eq!(maria.client().query("SELECT @@gtid_binlog_pos").unwrap(), position);
    let mut executed = Vec::new();
    for (client, text) in [(Kind::Mysql97, &text), (Kind::Maria118, &text), (Kind::Maria118, &theirs)] {
        ours.empty();
        assert_eq!(replay(client, &ours, text), "");
        executed.push(ours.client().query("SELECT @@gtid_executed").unwrap());
        // Once more: everything is executed already, and is left out.
        assert_eq!(replay(client, &ours, text), "");
        assert_eq!(ours.client().query("SELECT COUNT(*) FROM d.t").unwrap(), "2\n");
    }
    assert!(
        executed.iter().all(|set| *set == executed[0] && set.starts_with("4d617269-6144-4200-0000-0007")),
        "{executed:?}"
    );
}

/// Of one table, and up to the middle of a transaction: what is printed is whole transactions.
#[test]
fn filtered_dumps() {
    let ours = Any::Ours(Server::start("replay-filtered", ServerOptions::default()).unwrap());
    let sql = "CREATE DATABASE d; CREATE TABLE d.a (id INT PRIMARY KEY); CREATE TABLE d.b (id INT PRIMARY KEY);\
               BEGIN; INSERT INTO d.a VALUES (1); INSERT INTO d.b VALUES (1); INSERT INTO d.a VALUES (2); COMMIT;\
               BEGIN; INSERT INTO d.b VALUES (2); COMMIT; INSERT INTO d.a VALUES (3); FLUSH BINARY LOGS";
    ours.empty();
    ours.client().query(sql).unwrap();
    let files = ours.files();
    let of_a = dump(&["--table", "d.a"], &files);
    let json = String::from_utf8(dump(&["--format", "json"], &files)).unwrap();
    let rows: Vec<&str> = json.lines().filter(|line| line.contains(r#""type":"Write_rows""#)).collect();
    let position = |line: &str| line.split(r#""position":"#).nth(1).unwrap().split(',').next().unwrap().to_owned();
    let first_half = dump(&["--stop-position", &position(rows[1])], &files);
    let executed = ours.client().query("SELECT @@gtid_executed").unwrap();
    ours.empty();
    assert_eq!(replay(Kind::Mysql97, &ours, &of_a), "");
    assert_eq!(ours.client().query("SELECT * FROM d.a; SELECT COUNT(*) FROM d.b").unwrap(), "1\n2\n3\n0\n");
    assert_eq!(ours.client().query("SELECT @@gtid_executed").unwrap(), executed);
    ours.empty();
    assert_eq!(replay(Kind::Mysql97, &ours, &first_half), "");
    assert_eq!(ours.client().query("SELECT COUNT(*) FROM d.a").unwrap(), "0\n");
}
