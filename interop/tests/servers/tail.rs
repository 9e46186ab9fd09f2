//! `commuter tail` of a real MySQL, a real MariaDB and our own server: killed again and again under load, it loses nothing and
//! repeats nothing; its SQL makes equal rows on another server, and its JSON has each transaction once.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use interop::everyday::{EVERYDAY, contents};
use interop::{Client, Kind, Peer, Server, ServerOptions, commuter_binary, until};

/// What only real servers have, and both of them.
const PEERS_ONLY: &str = r#"
CREATE TABLE gen (id INT PRIMARY KEY, n INT, twice INT AS (n * 2) STORED, more INT AS (n + 1) VIRTUAL);
INSERT INTO gen (id, n) VALUES (1, 1), (2, NULL);
UPDATE gen SET n = 7 WHERE id = 1;
CREATE TABLE texts (id INT PRIMARY KEY, a VARCHAR(20) CHARACTER SET cp1251, b TEXT CHARACTER SET utf16, c CHAR(20) CHARACTER SET gbk, g GEOMETRY, j JSON,
  v VECTOR(3), bi BINARY(4) UNIQUE);
INSERT INTO texts VALUES (1, 'Привет', 'grün 😀', '汉字', ST_GeomFromText('POINT(3 4)'), '[1, {"a": "it\'s"}, null]', NULL, x'01020000'), (2, '', '', '', NULL, NULL, NULL, x'00');
UPDATE texts SET a = 'мир', j = '{"b": 1.5}' WHERE id = 1;
CREATE TABLE no_key_bytes (bi BINARY(4), f FLOAT, c CHAR(9) CHARACTER SET gbk);
INSERT INTO no_key_bytes VALUES (x'0100', 1.1, '汉'), (x'02', 0.3, '字'), (NULL, NULL, NULL);
UPDATE no_key_bytes SET f = 2.2 WHERE bi = x'02000000';
DELETE FROM no_key_bytes WHERE c = '汉';
DELETE FROM no_key_bytes WHERE c IS NULL;
XA START 'one'; INSERT INTO parent VALUES (5001, 1); XA END 'one'; XA PREPARE 'one'; XA COMMIT 'one';
XA START 'two'; INSERT INTO parent VALUES (5002, 1); XA END 'two'; XA PREPARE 'two'; XA ROLLBACK 'two';
CREATE PROCEDURE p(n INT) BEGIN DECLARE i INT DEFAULT 0; WHILE i < n DO INSERT INTO counted (s) VALUES (i); SET i = i + 1; END WHILE; END;
CALL p(3);
"#;

fn url(port: u16) -> String {
    format!("mysql://root@127.0.0.1:{port}")
}

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("commuter-tail-{}-{name}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// A tail into a file, with a state.
struct Tail {
    port: u16,
    format: &'static str,
    output: PathBuf,
    state: PathBuf,
}

impl Tail {
    fn new(port: u16, format: &'static str, folder: &Path) -> Tail {
        Tail { port, format, output: folder.join(format), state: folder.join(format!("{format}.state")) }
    }

    fn command(&self, more: &[&str]) -> Command {
        let mut command = Command::new(commuter_binary().unwrap());
        command.args(["tail", "--source", &url(self.port), "--format", self.format]).args(more);
        command.arg("--output").arg(&self.output).arg("--state").arg(&self.state);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::inherit());
        command
    }

    fn spawn(&self) -> Child {
        self.command(&["--from-start"]).spawn().unwrap()
    }

    /// Reads to the end of the log.
    fn finish(&self) -> Vec<u8> {
        let status = self.command(&["--from-start", "--stop-at-end"]).status().unwrap();
        assert!(status.success(), "{status}");
        fs::read(&self.output).unwrap()
    }
}

/// Runs tails, and kills them after times of all lengths, until `is_over`; says how often.
fn kill_again_and_again(tails: &[Tail], mut is_over: impl FnMut() -> bool) -> u32 {
    let mut kills = 0;
    let mut lengths = [40u64, 150, 90, 400, 60, 250].iter().cycle();
    while !is_over() {
        let mut children: Vec<Child> = tails.iter().map(Tail::spawn).collect();
        std::thread::sleep(Duration::from_millis(*lengths.next().unwrap()));
        for child in &mut children {
            child.kill().unwrap();
            child.wait().unwrap();
            kills += 1;
        }
    }
    kills
}

const MARKS: u32 = 300;

/// A transaction after the other; the time that it takes is spent between them.
fn write_marks(client: Client) {
    for first in (1..=MARKS).step_by(10) {
        let one = |n: u32| match n % 3 {
            0 => format!(
                "BEGIN; INSERT INTO d.marks VALUES ({n}, 'x'); UPDATE d.marks SET s = 'y' WHERE n = {n}; COMMIT;"
            ),
            1 => format!("INSERT INTO d.marks VALUES ({n}, REPEAT('long', 500));"),
            _ => format!("INSERT INTO d.marks VALUES ({n}, NULL);"),
        };
        let batch: String = (first..first + 10).map(one).collect();
        client.query(&batch).unwrap();
        std::thread::sleep(Duration::from_millis(100));
    }
}

fn field<'l>(line: &'l str, name: &str) -> &'l str {
    let rest = line.split(&format!("\"{name}\":")).nth(1).unwrap_or_else(|| panic!("no {name} in {line}"));
    rest.split([',', '}']).next().unwrap()
}

/// Each change once, each transaction whole, all in order.
fn check_json(json: &str) {
    let mut seen = BTreeSet::new();
    let (mut marks, mut was_last) = (Vec::new(), true);
    for line in json.lines() {
        assert!(line.starts_with('{') && line.ends_with('}'), "{line}");
        let (position, row) = (field(line, "position"), field(line, "row"));
        assert!(seen.insert((position.to_owned(), row.to_owned())), "a second time: {line}");
        assert_eq!(row == "1", was_last, "{line}");
        was_last = line.contains("\"last\":true");
        if line.contains("\"table\":\"marks\"") && line.contains("\"op\":\"insert\"") {
            marks.push(field(line, "n").trim_start_matches("{\"n\":").parse::<u32>().unwrap());
        }
    }
    assert!(was_last);
    assert_eq!(marks, (1..=MARKS).collect::<Vec<_>>());
}

/// The length of the first message, and what is behind it.
fn next_message(bytes: &[u8]) -> &[u8] {
    let mut length = 0usize;
    for (i, byte) in bytes.iter().enumerate() {
        length |= usize::from(byte & 0x7f) << (7 * i);
        if byte & 0x80 == 0 {
            return &bytes[i + 1 + length..];
        }
    }
    panic!("half a length");
}

/// Everything, with tails that are killed while it happens; `sql` is what another server gets.
fn everything(name: &str, source: &Client, more: &str, target: &Client) {
    let folder = folder(name);
    let tails = ["sql", "json", "protobuf"].map(|format| Tail::new(source.port(), format, &folder));
    source.query(&format!("{EVERYDAY}; CREATE TABLE marks (n INT PRIMARY KEY, s VARCHAR(2000));")).unwrap();
    if !more.is_empty() {
        // The client's delimiter would cut a procedure.
        let more = more.replacen("CREATE PROCEDURE", "DELIMITER ;;\nCREATE PROCEDURE", 1);
        let more = more.replacen("END;\nCALL", "END;;\nDELIMITER ;\nCALL", 1);
        let printed = source.script("d", &format!("SET NAMES utf8mb4;\n{more}")).unwrap();
        assert!(!printed.contains("ERROR"), "{printed}");
    }
    let writer = std::thread::spawn({
        let source = source.clone();
        move || write_marks(source)
    });
    let kills = kill_again_and_again(&tails, || writer.is_finished());
    writer.join().unwrap();
    assert!(kills > 20, "{kills}");
    let [sql, json, protobuf] = tails.map(|tail| tail.finish());
    check_json(&String::from_utf8(json).unwrap());
    let printed = target.script("", &String::from_utf8(sql).unwrap()).unwrap();
    assert!(!printed.contains("ERROR"), "{printed}");
    let (theirs, ours) = (contents(source), contents(target));
    let difference = theirs.lines().zip(ours.lines()).find(|(theirs, ours)| theirs != ours);
    assert!(theirs == ours, "{difference:?}");
    // Whole messages, one for each transaction.
    let (mut rest, mut messages) = (protobuf.as_slice(), 0);
    while !rest.is_empty() {
        rest = next_message(rest);
        messages += 1;
    }
    assert!(messages > MARKS, "{messages}");
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn of_a_mysql() {
    let full = ["--binlog-row-metadata=FULL"];
    let source = Peer::start(Kind::Mysql97, "tail", Duration::ZERO, &full).unwrap();
    let target = Peer::start(Kind::Mysql97, "tail-target", Duration::ZERO, &[]).unwrap();
    everything("mysql", &source.client(), PEERS_ONLY, &target.client());
}

#[test]
fn of_a_maria() {
    let full = ["--binlog-row-metadata=FULL"];
    let source = Peer::start(Kind::Maria118, "tail", Duration::ZERO, &full).unwrap();
    let target = Peer::start(Kind::Maria118, "tail-target", Duration::ZERO, &[]).unwrap();
    everything("maria", &source.client(), PEERS_ONLY, &target.client());
}

#[test]
fn of_our_own() {
    let source = Server::start("tail", ServerOptions::default()).unwrap();
    let target = Server::start("tail-target", ServerOptions::default()).unwrap();
    everything("own", &source.client(), "", &target.client());
}

/// A tail to the standard output, read while it runs.
struct Live {
    child: Child,
    path: PathBuf,
}

impl Live {
    fn start(folder: &Path, name: &str, port: u16, more: &[&str]) -> Live {
        let path = folder.join(name);
        let mut command = Command::new(commuter_binary().unwrap());
        command.args(["tail", "--source", &url(port)]).args(more);
        let child = command.stdin(Stdio::null()).stdout(fs::File::create(&path).unwrap()).spawn().unwrap();
        Live { child, path }
    }

    fn text(&self) -> String {
        String::from_utf8(fs::read(&self.path).unwrap()).unwrap()
    }

    /// Waits for a text.
    fn shows(&self, text: &str) {
        let start = Instant::now();
        while !self.text().contains(text) {
            assert!(start.elapsed() < Duration::from_secs(60), "no {text} in\n{}", self.text());
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Now is where it begins; names come from the server where the log has none; a source that goes away is asked again when it is back;
/// tables that are not wanted are left out; and any position or GTID is a place to begin.
fn live(name: &str, mut client: impl FnMut() -> Client, mut restart: impl FnMut()) {
    let folder = folder(name);
    let source = client();
    source.query("CREATE DATABASE d; CREATE TABLE d.t (id INT UNSIGNED PRIMARY KEY, s VARCHAR(20), b BINARY(4), e ENUM('x','y'))").unwrap();
    source.query("INSERT INTO d.t VALUES (1, 'before', NULL, NULL)").unwrap();
    let all = Live::start(&folder, "all", source.port(), &[]);
    let other = Live::start(&folder, "other", source.port(), &["--table", "d.other"]);
    // Both are there when they show something.
    let mut id = 2;
    until("the tail follows", || {
        source.query(&format!("INSERT INTO d.t VALUES ({id}, 'probe', NULL, NULL)")).unwrap();
        id += 1;
        std::thread::sleep(Duration::from_millis(100));
        all.text().contains("probe")
    });
    source.query("INSERT INTO d.t VALUES (4294967295, 'grün', x'0102', 'y')").unwrap();
    all.shows(r#""after":{"id":4294967295,"s":"grün","b":"AQIAAA==","e":"y"}"#);
    all.shows(r#""key":{"id":4294967295}"#);
    assert!(!all.text().contains("before"), "{}", all.text());
    restart();
    let source = client();
    source.query("INSERT INTO d.t VALUES (1000, 'after', NULL, NULL)").unwrap();
    all.shows(r#""after":{"id":1000,"s":"after""#);
    source
        .query("CREATE TABLE d.other (id INT PRIMARY KEY, t TEXT); INSERT INTO d.other VALUES (1, 'wanted')")
        .unwrap();
    other.shows("wanted");
    all.shows("wanted");
    assert!(!other.text().contains("probe") && !other.text().contains("grün"), "{}", other.text());
    let text = all.text();
    let line = |of: &str| text.lines().find(|line| line.contains(of)).unwrap_or_else(|| panic!("{of}"));
    let (position, gtid) =
        (field(line("grün"), "position").trim_matches('"'), field(line("grün"), "gtid").trim_matches('"'));
    // From a place on; MySQL's kind of set has to have what is before it.
    let set = match gtid.rsplit_once(':') {
        Some((uuid, number)) => format!("{uuid}:1-{number}"),
        None => gtid.to_owned(),
    };
    for from in [["--from-position", position], ["--from-gtid", &set]] {
        let mut command = Command::new(commuter_binary().unwrap());
        command.args(["tail", "--source", &url(source.port()), "--stop-at-end"]).args(from);
        let output = command.output().unwrap();
        let shown = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(shown.lines().next().unwrap().contains("after"), "{from:?}: {shown}");
        assert_eq!(shown.matches("\"t\":\"wanted\"").count(), 1, "{from:?}: {shown}");
    }
    drop((all, other));
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn live_of_a_mysql() {
    let peer = std::cell::RefCell::new(Peer::start(Kind::Mysql97, "tail-live", Duration::ZERO, &[]).unwrap());
    live(
        "live-mysql",
        || peer.borrow().client(),
        || {
            let mut peer = peer.borrow_mut();
            peer.stop().unwrap();
            peer.restart().unwrap();
        },
    );
}

#[test]
fn live_of_a_maria() {
    let peer = std::cell::RefCell::new(Peer::start(Kind::Maria118, "tail-live", Duration::ZERO, &[]).unwrap());
    live(
        "live-maria",
        || peer.borrow().client(),
        || {
            let mut peer = peer.borrow_mut();
            peer.kill();
            peer.restart().unwrap();
        },
    );
}

#[test]
fn live_of_our_own() {
    let server = std::cell::RefCell::new(Server::start("tail-live", ServerOptions::default()).unwrap());
    live(
        "live-own",
        || server.borrow().client(),
        || {
            let mut server = server.borrow_mut();
            server.kill();
            server.restart().unwrap();
        },
    );
}

/// The text of a statement of many rows stands once, whichever server has logged it: in each row it would take the square of their number.
#[test]
fn the_text_of_a_statement_comes_once() {
    const ROWS: usize = 5000;
    let ours = Server::start("tail-text", ServerOptions::default()).unwrap();
    let maria = Peer::start(Kind::Maria118, "tail-text", Duration::ZERO, &[]).unwrap();
    let values = (1..=ROWS).map(|id| format!("({id}, 'row')")).collect::<Vec<_>>().join(", ");
    for (port, annotate) in
        [(ours.port(), "binlog_rows_query_log_events"), (maria.port(), "binlog_annotate_row_events")]
    {
        let client = Client::tcp(port);
        let script = format!(
            "CREATE DATABASE d; CREATE TABLE d.t (id INT PRIMARY KEY, s VARCHAR(9)); SET {annotate} = 1; BEGIN; \
             INSERT INTO d.t VALUES {values}; DELETE FROM d.t WHERE id < 3; COMMIT"
        );
        client.script("", &script).unwrap();
        let folder = folder(&format!("text-{port}"));
        let written = String::from_utf8(Tail::new(port, "json", &folder).finish()).unwrap();
        let lines: Vec<&str> = written.lines().filter(|line| line.contains("\"table\":\"t\"")).collect();
        assert_eq!(lines.len(), ROWS + 2);
        let with_text: Vec<&str> = lines.iter().copied().filter(|line| line.contains("\"query\":")).collect();
        assert_eq!(with_text.iter().map(|line| field(line, "row")).collect::<Vec<_>>(), ["1", "5001"]);
        assert!(with_text[0].contains("(5000, 'row')\"") && with_text[1].contains("DELETE FROM d.t"));
        assert!(written.len() < values.len() + 400 * ROWS, "{} bytes", written.len());
        fs::remove_dir_all(folder).unwrap();
    }
}
