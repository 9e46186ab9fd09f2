//! Cursors of the protocol: what COM_STMT_EXECUTE and COM_STMT_FETCH answer, ours and MySQL's.

use std::time::Duration;

use interop::{Kind, Peer, Raw, Server, ServerOptions, python, resident_kib};
use wire::flags::{com, cursor, status};
use wire::reply;

const SETUP: &str = "CREATE DATABASE d; USE d; CREATE TABLE t (id INT PRIMARY KEY, s VARCHAR(50), n DECIMAL(10,2), at DATETIME(3));\
    INSERT INTO t VALUES (1, 'one', 1.5, '2024-02-29 01:02:03.004'), (2, 'zwölf', NULL, NULL), (3, '', -3, '2000-01-01'),\
    (4, NULL, 4, NULL), (5, 'five', 5.55, NULL)";

/// A client that speaks of statements and cursors, and writes down what it is told.
struct Cursors {
    raw: Raw,
    told: Vec<String>,
}

impl Cursors {
    fn new(port: u16) -> Self {
        let mut cursors = Cursors { raw: Raw::logged_in(port).unwrap(), told: Vec::new() };
        cursors.query("USE d");
        cursors
    }

    fn query(&mut self, sql: &str) {
        self.raw.command(com::QUERY, sql.as_bytes());
        let answer = self.raw.packet().unwrap();
        assert_eq!(answer[0], reply::OK, "{sql}: {:?}", reply::read_done(&answer));
    }

    /// The number of the statement.
    fn prepare(&mut self, sql: &str) -> u32 {
        self.raw.command(com::STMT_PREPARE, sql.as_bytes());
        let answer = self.raw.packet().unwrap();
        assert_eq!(answer[0], reply::OK, "{sql}: {:?}", reply::read_done(&answer));
        for _ in 0..answer[5] + answer[7] {
            self.raw.packet().unwrap();
        }
        u32::from_le_bytes(answer[1..5].try_into().unwrap())
    }

    /// An execution; `params` as the protocol has them.
    fn execute(&mut self, id: u32, flags: u8, params: &[u8]) {
        let body = [&id.to_le_bytes()[..], &[flags, 1, 0, 0, 0], params].concat();
        self.raw.command(com::STMT_EXECUTE, &body);
        let first = self.raw.packet().unwrap();
        match first[0] {
            reply::OK | reply::ERR => self.tell_end("execute", 0, &first),
            columns => {
                (0..columns).for_each(|_| drop(self.raw.packet().unwrap()));
                self.rows("execute");
            }
        }
    }

    fn fetch(&mut self, id: u32, count: u32) {
        self.raw.command(com::STMT_FETCH, &[id.to_le_bytes(), count.to_le_bytes()].concat());
        self.rows("fetch");
    }

    fn reset(&mut self, id: u32) {
        self.raw.command(com::STMT_RESET, &id.to_le_bytes());
        let answer = self.raw.packet().unwrap();
        self.tell_end("reset", 0, &answer);
    }

    fn close(&mut self, id: u32) {
        self.raw.command(com::STMT_CLOSE, &id.to_le_bytes());
    }

    /// Rows up to their end, or an error.
    fn rows(&mut self, what: &str) {
        for rows in 0.. {
            let packet = self.raw.packet().unwrap_or_else(|| panic!("no end after {:#?}", self.told));
            if packet[0] == reply::ERR || reply::is_end_of_rows(&packet) {
                return self.tell_end(what, rows, &packet);
            }
            self.told.push(format!("row {packet:02x?}"));
        }
    }

    fn tell_end(&mut self, what: &str, rows: usize, packet: &[u8]) {
        self.told.push(match reply::read_done(packet) {
            Ok(done) => {
                let flags = done.status & (status::CURSOR_EXISTS | status::LAST_ROW_SENT | status::IN_TRANS);
                format!("{what}: {rows} rows, status {flags:#x}, {} affected", done.affected_rows)
            }
            Err(error) => format!("{what}: {rows} rows, {error}"),
        });
    }
}

/// Everything that may be done with a cursor, and some that may not.
fn story(port: u16) -> Vec<String> {
    let mut client = Cursors::new(port);
    let all = client.prepare("SELECT * FROM t ORDER BY id");
    // Taken in pieces; the last one is only known when there is no more.
    client.execute(all, cursor::READ_ONLY, &[]);
    for count in [2, 2, 1, 1, 1] {
        client.fetch(all, count);
    }
    // In one piece; all at once; none.
    client.execute(all, cursor::READ_ONLY, &[]);
    client.fetch(all, 100);
    let plain = client.prepare("SELECT * FROM t ORDER BY id");
    client.execute(plain, 0, &[]);
    client.fetch(plain, 1);
    client.execute(all, cursor::READ_ONLY, &[]);
    client.fetch(all, 0);
    client.fetch(all, 1);
    // Executed anew while it is open; reset; closed.
    client.execute(all, cursor::READ_ONLY, &[]);
    client.fetch(all, 1);
    client.reset(all);
    client.fetch(all, 1);
    // With a parameter; two at a time; what is changed meanwhile does not show.
    let some = client.prepare("SELECT s, COUNT(*) FROM t WHERE id > ? GROUP BY s ORDER BY s");
    client.execute(some, cursor::READ_ONLY, &[0, 1, 8, 0, 2, 0, 0, 0, 0, 0, 0, 0]);
    client.execute(all, cursor::READ_ONLY, &[]);
    client.fetch(some, 1);
    client.fetch(all, 1);
    client.query("DELETE FROM t WHERE id = 3");
    client.fetch(some, 9);
    client.fetch(all, 9);
    client.query("INSERT INTO t (id, s) VALUES (3, 'again')");
    // Over the end of a transaction.
    client.query("BEGIN");
    client.execute(all, cursor::READ_ONLY, &[]);
    client.query("COMMIT");
    client.fetch(all, 2);
    client.query("BEGIN");
    client.execute(all, cursor::READ_ONLY, &[]);
    client.query("ROLLBACK");
    client.fetch(all, 2);
    client.close(all);
    client.fetch(all, 1);
    client.execute(all, 0, &[]);
    client.reset(all);
    // No rows, no result set, an error.
    let none = client.prepare("SELECT * FROM t WHERE id > 100");
    client.execute(none, cursor::READ_ONLY, &[]);
    client.fetch(none, 1);
    let update = client.prepare("UPDATE t SET n = n + 1 WHERE id < 4");
    client.execute(update, cursor::READ_ONLY, &[]);
    client.fetch(update, 1);
    let fails = client.prepare("SELECT (SELECT id FROM t) FROM t");
    client.execute(fails, cursor::READ_ONLY, &[]);
    client.fetch(fails, 1);
    let union = client.prepare("SELECT 1 AS a UNION SELECT 'x' ORDER BY a");
    client.execute(union, cursor::READ_ONLY, &[]);
    client.fetch(union, 1);
    client.fetch(union, 5);
    client.told
}

#[test]
fn the_same_as_mysqls() {
    let ours = Server::start("cursors", ServerOptions::default()).unwrap();
    let theirs = Peer::start(Kind::Mysql97, "cursors", Duration::ZERO, &[]).unwrap();
    ours.client().query(SETUP).unwrap();
    theirs.client().query(SETUP).unwrap();
    let (ours, theirs) = (story(ours.port()), story(theirs.port()));
    for (line, (our, their)) in ours.iter().zip(&theirs).enumerate() {
        let before = &ours[line.saturating_sub(5)..line];
        assert_eq!(our, their, "after {before:#?}");
    }
    assert_eq!(ours.len(), theirs.len());
}

#[test]
fn a_result_that_memory_does_not_hold() {
    let server = Server::start("cursors-large", ServerOptions::default()).unwrap();
    let setup = "CREATE DATABASE d; USE d; CREATE TABLE t (id INT PRIMARY KEY, s VARCHAR(8000)); SET GLOBAL tmp_table_size = 1048576";
    server.client().query(setup).unwrap();
    let rows: Vec<String> = (0..1000).map(|n| format!("({n}, REPEAT('x', 8000))")).collect();
    server.client().query(&format!("INSERT INTO d.t VALUES {}", rows.join(","))).unwrap();
    let before = resident_kib(server.pid()).unwrap();
    let mut client = Cursors::new(server.port());
    let all = client.prepare("SELECT a.s FROM t a, t b WHERE b.id < 20");
    client.execute(all, cursor::READ_ONLY, &[]);
    let grown = resident_kib(server.pid()).unwrap().saturating_sub(before);
    assert!(grown < 64 << 10, "160 MB of rows that wait take {grown} KiB");
    let files = || std::fs::read_dir(server.folder().join("tmp")).unwrap().count();
    assert!(files() >= 1);
    // Without a cursor, after one and before one. (MySQL 9.7 answers this with an OK in the place of the rows.)
    let one = client.prepare("SELECT id FROM t WHERE id < 3");
    for flags in [cursor::READ_ONLY, 0, cursor::READ_ONLY] {
        client.told.clear();
        client.execute(one, flags, &[]);
        let (rows, status) = if flags == 0 { (3, 0) } else { (0, status::CURSOR_EXISTS) };
        let told = format!("execute: {rows} rows, status {status:#x}, 0 affected");
        assert_eq!(client.told.last(), Some(&told));
    }
    let mut rows = 0;
    loop {
        client.told.clear();
        client.fetch(all, 777);
        rows += client.told.len() - 1;
        if !client.told.last().unwrap().contains("status 0x40") {
            break;
        }
    }
    assert_eq!(rows, 20_000);
    // The file goes with the cursor: at its end, and with a client that goes in the middle.
    let start = std::time::Instant::now();
    let gone = |what: &str| {
        while files() > 0 {
            assert!(start.elapsed() < Duration::from_secs(30), "{what}");
            std::thread::sleep(Duration::from_millis(10));
        }
    };
    gone("the end");
    client.execute(all, cursor::READ_ONLY, &[]);
    client.raw.vanish();
    gone("the client");
}

#[test]
fn long_data_and_connectors() {
    let server = Server::start("cursors-connector", ServerOptions::default()).unwrap();
    let script = r#"
import sys, mysql.connector
c = mysql.connector.connect(host="127.0.0.1", port=int(sys.argv[1]), user="root", use_pure=True)
k = c.cursor()
k.execute("CREATE DATABASE d"); c.database = "d"
k.execute("CREATE TABLE t (id INT PRIMARY KEY, b LONGBLOB, s LONGTEXT)")
p = c.cursor(prepared=True)
import io
# Streams are sent ahead, piece by piece (COM_STMT_SEND_LONG_DATA).
for n in range(10):
    p.execute("INSERT INTO t VALUES (%s, %s, %s)", (n, io.BytesIO(b"\x00\xff" * (100000 + n)), io.BytesIO("é".encode() * 70000)))
c.commit()
k.execute("SELECT id, LENGTH(b), CHAR_LENGTH(s), LEFT(HEX(b), 4) FROM t ORDER BY id")
rows = k.fetchall()
assert rows == [(n, 200000 + 2 * n, 70000, "00FF") for n in range(10)], rows
print("ok")
"#;
    assert_eq!(python(script, &[&server.port().to_string()]).unwrap(), "ok\n");
}

/// What parameters are for is said as MySQL says it: Connector/J asks before it sends a number beyond BIGINT.
#[test]
fn parameters_are_described_as_in_mysql() {
    let table = "CREATE DATABASE p; CREATE TABLE p.p (bu BIGINT UNSIGNED, i INT, v VARCHAR(10), x TEXT, d DATETIME(3), da DATE, t TIME, ts TIMESTAMP NULL, \
                 y YEAR, dc DECIMAL(10,2), f FLOAT, b BLOB, bi BINARY(5), j JSON, e ENUM('a','b'), s SET('a'), bt BIT(10))";
    let statements = [
        "INSERT INTO p VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        "UPDATE p SET bu = ?, i = ? WHERE bu = ? AND i > ? AND v = ? AND i IN (?, ?) AND d BETWEEN ? AND ? LIMIT ?",
        "SELECT ?, ? + 1, CONCAT(?), bu + ? FROM p WHERE ? = bu LIMIT ?, ?",
        "REPLACE INTO p SET bu = ?, y = ?",
        "INSERT INTO p (bu) VALUES (? + 1) ON DUPLICATE KEY UPDATE bu = ?",
        "DELETE FROM p WHERE bu = ?",
    ];
    let server = Server::start("parameters", ServerOptions::default()).unwrap();
    let mysql = Peer::start(Kind::Mysql97, "parameters", Duration::ZERO, &[]).unwrap();
    let of = |client: interop::Client, port: u16| {
        client.query(table).unwrap();
        let mut connection = interop::Connection::open(port, "p").unwrap();
        connection.succeed("SET NAMES utf8mb4").unwrap();
        statements.map(|sql| connection.parameters(sql).unwrap())
    };
    let (ours, theirs) = (of(server.client(), server.port()), of(mysql.client(), mysql.port()));
    for ((sql, ours), theirs) in statements.into_iter().zip(ours).zip(theirs) {
        assert_eq!(ours, theirs, "{sql}");
    }
}
