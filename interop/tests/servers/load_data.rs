//! LOAD DATA: real clients that send files, files of the server, and statements of real sources that read files.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use interop::{Answer, Client, Connection, Kind, Peer, Server, ServerOptions, peak_kib, python, run_tool, until};

const PEOPLE: &str = "1,\"Ada, Countess\",1815-12-10\n2,Grace,\\N\n3,\"Ed\"\"sger\",1930-05-11\n";
const PEOPLE_ROWS: &str = "1\tAda, Countess\t1815-12-10\n2\tGrace\tNULL\n3\tEd\"sger\t1930-05-11\n";
const FORMAT: &str = "FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '\"'";
const TABLE: &str =
    "CREATE DATABASE IF NOT EXISTS d; CREATE TABLE d.people (id INT PRIMARY KEY, name VARCHAR(20), born DATE)";

fn start(name: &str) -> Server {
    let server = Server::start(name, ServerOptions::with_settings(["local_infile=ON"])).unwrap();
    server.client().query(TABLE).unwrap();
    server
}

fn file(server: &Server, name: &str, text: &str) -> PathBuf {
    let folder = server.folder().with_extension("files");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(name);
    // A pipe that an earlier run has left would wait for a reader.
    let _ = fs::remove_file(&path);
    fs::write(&path, text).unwrap();
    path
}

fn people(server: &Server) -> String {
    server.client().query("SELECT * FROM d.people ORDER BY id").unwrap()
}

#[test]
fn clients_send_files() {
    let server = start("load-clients");
    let path = file(&server, "people.csv", PEOPLE);
    let port = server.port().to_string();
    let sql = format!("LOAD DATA LOCAL INFILE '{}' INTO TABLE d.people {FORMAT}", path.display());
    let clients = [
        (Kind::Mysql97, "mysql", &["--local-infile=1", "-e", &sql][..]),
        (Kind::Maria118, "mariadb", &["--skip-ssl", "--local-infile=1", "-e", &sql]),
    ];
    let imports = [(Kind::Mysql97, "mysqlimport", None), (Kind::Maria118, "mariadb-import", Some("--skip-ssl"))];
    for (kind, program, arguments) in clients {
        server.client().query("TRUNCATE d.people").unwrap();
        let connect = ["--no-defaults", "-h127.0.0.1", "-P", &port, "-uroot"];
        run_tool(kind, program, &[&connect[..], arguments].concat()).unwrap();
        assert_eq!(people(&server), PEOPLE_ROWS, "{program}");
    }
    for (kind, program, ssl) in imports {
        server.client().query("TRUNCATE d.people").unwrap();
        let path = path.display().to_string();
        let mut arguments = vec!["--no-defaults", "-h127.0.0.1", "-P", &port, "-uroot"];
        arguments.extend(ssl);
        arguments.extend(["--local", "--fields-terminated-by=,", "--fields-optionally-enclosed-by=\"", "d", &path]);
        let output = run_tool(kind, program, &arguments).unwrap();
        assert!(output.contains("Records: 3  Deleted: 0  Skipped: 0  Warnings: 0"), "{program}: {output}");
        assert_eq!(people(&server), PEOPLE_ROWS, "{program}");
    }
    server.client().query("SET GLOBAL local_infile = OFF").unwrap();
    let off = ["--no-defaults", "-h127.0.0.1", "-P", &port, "-uroot", "--local-infile=1", "-e", &sql];
    let error = run_tool(Kind::Mysql97, "mysql", &off).unwrap_err();
    assert!(error.contains("ERROR 3948 (42000)"), "{error}");
}

/// A statement that fails in the middle of its file leaves nothing, and its connection goes on.
#[test]
fn errors_in_the_middle() {
    let server = start("load-errors");
    let many: String = (0..200_000).map(|n| format!("{n},name {n},2020-01-01\n")).collect();
    let path = file(&server, "many.csv", &many.replacen("\n1000,name 1000,", "\n1000,name 1000,not a date", 1));
    let script = r#"
import sys, pymysql
c = pymysql.connect(host="127.0.0.1", port=int(sys.argv[1]), user="root", local_infile=True, autocommit=True)
k = c.cursor()
try:
    k.execute("LOAD DATA LOCAL INFILE '%s' REPLACE INTO TABLE d.people FIELDS TERMINATED BY ','" % sys.argv[2]); raise SystemExit("no error")
except pymysql.err.MySQLError as e:
    assert e.args[0] == 1292, e
for number in range(3):
    k.execute("SELECT COUNT(*), 7 FROM d.people"); assert k.fetchone() == (0, 7)
try:
    k.execute("LOAD DATA LOCAL INFILE '/no/such/file' INTO TABLE d.people"); raise SystemExit("no error")
except pymysql.err.MySQLError as e:
    assert e.args[0] == 1017, e
k.execute("SELECT 8"); assert k.fetchone() == (8,)
k.execute("LOAD DATA LOCAL INFILE '%s' INTO TABLE d.people FIELDS TERMINATED BY ','" % sys.argv[2])
assert b"Records: 200000  Deleted: 0  Skipped: 0  Warnings: 1" in c._result.message, c._result.message
k.execute("SHOW WARNINGS"); assert k.fetchall()[0][:2] == ("Warning", 1265), k.fetchall()
without = pymysql.connect(host="127.0.0.1", port=int(sys.argv[1]), user="root").cursor()
try:
    without.execute("LOAD DATA LOCAL INFILE '%s' INTO TABLE d.people" % sys.argv[2]); raise SystemExit("no error")
except pymysql.err.MySQLError as e:
    assert e.args[0] == 3948, e
print("ok")
"#;
    let port = server.port().to_string();
    assert_eq!(python(script, &[&port, &path.display().to_string()]).unwrap(), "ok\n");
    assert_eq!(server.client().query("SELECT COUNT(*) FROM d.people").unwrap(), "200000\n");
}

/// A client that goes away, and KILL, while the file is on its way.
#[test]
fn ends_in_the_middle() {
    let server = start("load-ends");
    server.client().query("INSERT INTO d.people VALUES (1, 'here', NULL)").unwrap();
    let script = r#"
import os, sys, pymysql, threading, time
port, pipe = int(sys.argv[1]), sys.argv[2]
def connect(): return pymysql.connect(host="127.0.0.1", port=port, user="root", local_infile=True, autocommit=True)
def load(outcome):
    c = connect(); outcome.append(c.thread_id()); k = c.cursor()
    try:
        k.execute("LOAD DATA LOCAL INFILE '%s' REPLACE INTO TABLE d.people FIELDS TERMINATED BY ','" % pipe); outcome.append("no error")
    except Exception as e: # PyMySQL falls over its own closed connection when it is gone while it sends.
        outcome.append(e.args[0])
    try:
        k.execute("SELECT 5"); outcome.append(k.fetchone())
    except Exception:
        outcome.append("gone")
other = connect().cursor()
for what in ("QUERY", "CONNECTION"):
    os.mkfifo(pipe); outcome = []
    thread = threading.Thread(target=load, args=(outcome,)); thread.start()
    with open(pipe, "wb") as f:
        for n in range(2, 100000): f.write(b"%d,sent,2020-01-01\n" % n)
        f.flush(); time.sleep(0.5)
        other.execute("KILL %s %d" % (what, outcome[0])); time.sleep(0.5)
        try:
            f.write(b"0,more,2020-01-01\n" * 10)
        except BrokenPipeError:
            pass
    thread.join(); os.unlink(pipe)
    if what == "QUERY": assert outcome[1:] == [1317, (5,)], outcome
    else: assert outcome[2] == "gone", outcome
    other.execute("SELECT COUNT(*) FROM d.people"); assert other.fetchone() == (1,)
os.mkfifo(pipe)
child = os.fork()
if child == 0:
    load([]); os._exit(0)
with open(pipe, "wb") as f:
    for n in range(2, 100000): f.write(b"%d,sent,2020-01-01\n" % n)
    f.flush(); time.sleep(0.5); os.kill(child, 9); os.waitpid(child, 0)
other.execute("SET SESSION innodb_lock_wait_timeout = 20")
other.execute("INSERT INTO d.people VALUES (2, 'after', NULL)")
other.execute("SELECT COUNT(*) FROM d.people"); assert other.fetchone() == (2,)
print("ok")
"#;
    let pipe = file(&server, "pipe", "");
    fs::remove_file(&pipe).unwrap();
    let port = server.port().to_string();
    assert_eq!(python(script, &[&port, &pipe.display().to_string()]).unwrap(), "ok\n");
}

fn fails(connection: &mut Connection, sql: &str, code: u16) -> String {
    match connection.query(sql).unwrap() {
        Answer::Failed(failed, message) if failed == code => message,
        other => panic!("{sql}: {other:?}"),
    }
}

#[test]
fn files_of_the_server() {
    let folder = std::env::temp_dir().join(format!("commuter-load-{}", std::process::id()));
    fs::create_dir_all(folder.join("inner")).unwrap();
    fs::write(folder.join("inner/people.csv"), PEOPLE).unwrap();
    let outside = std::env::temp_dir().join(format!("commuter-load-outside-{}", std::process::id()));
    fs::write(&outside, PEOPLE).unwrap();
    let _ = std::os::unix::fs::symlink(&outside, folder.join("link"));
    let options = ServerOptions::with_settings([format!("secure_file_priv={}", folder.display())]);
    let server = Server::start("load-server", options).unwrap();
    server.client().query(TABLE).unwrap();
    let mut root = Connection::open(server.port(), "d").unwrap();
    let load = |path: &Path| format!("LOAD DATA INFILE '{}' INTO TABLE people {FORMAT}", path.display());
    root.succeed(&load(&folder.join("inner/people.csv"))).unwrap();
    assert_eq!(people(&server), PEOPLE_ROWS);
    fails(&mut root, &load(&folder.join("inner/people.csv")), 1062);
    fails(&mut root, &load(&outside), 1290);
    fails(&mut root, &load(&folder.join("link")), 1290);
    fails(&mut root, &load(&folder.join("../commuter-load-nosuch")), 1290);
    fails(&mut root, "LOAD DATA INFILE 'people.csv' INTO TABLE people", 1290);
    let message = fails(&mut root, &load(&folder.join("nosuch")), 13);
    assert!(message.ends_with("(OS errno 2 - No such file or directory)"), "{message}");
    fails(&mut root, &load(&folder.join("inner")), 1085);
    root.succeed("CREATE USER nofile@localhost; ").unwrap();
    root.succeed("GRANT ALL ON d.* TO nofile@localhost").unwrap();
    let script = "
import sys, pymysql
c = pymysql.connect(host='127.0.0.1', port=int(sys.argv[1]), user='nofile', database='d').cursor()
try:
    c.execute(sys.argv[2])
except pymysql.err.MySQLError as e:
    print(e.args[0])
";
    let sql = load(&folder.join("inner/people.csv"));
    assert_eq!(python(script, &[&server.port().to_string(), &sql]).unwrap(), "1045\n");
    load_file(&server, &folder, &outside);
    drop(server);
    let _ = fs::remove_dir_all(&folder);
    let _ = fs::remove_file(&outside);
}

/// LOAD_FILE reads the same files, and is NULL of all others.
fn load_file(server: &Server, folder: &Path, outside: &Path) {
    let read = |path: &Path| server.client().query(&format!("SELECT LOAD_FILE('{}')", path.display())).unwrap();
    let inside = folder.join("inner/people.csv");
    let length = |path: &Path| format!("SELECT LENGTH(LOAD_FILE('{}'))", path.display());
    assert_eq!(server.client().query(&length(&inside)).unwrap(), format!("{}\n", PEOPLE.len()));
    for path in [outside.to_owned(), folder.join("link"), folder.join("nosuch"), folder.join("inner")] {
        assert_eq!(read(&path), "NULL\n", "{}", path.display());
    }
    let script = "
import sys, pymysql
c = pymysql.connect(host='127.0.0.1', port=int(sys.argv[1]), user='nofile', database='d').cursor()
c.execute(sys.argv[2])
print(c.fetchall())
";
    let port = server.port().to_string();
    assert_eq!(python(script, &[&port, &length(&inside)]).unwrap(), "((None,),)\n");
    fs::write(&inside, vec![b'x'; 5000]).unwrap();
    let mut small = Connection::open(server.port(), "d").unwrap();
    small.succeed("SET GLOBAL max_allowed_packet = 4096").unwrap();
    let answer = Connection::open(server.port(), "d").unwrap().query(&length(&inside)).unwrap();
    assert!(matches!(answer, Answer::Rows { rows, warnings: 1, .. } if rows == [[None]]));
}

/// 100 MB in one statement: neither the file nor the transaction is in memory.
#[test]
fn a_large_file() {
    let settings = ["local_infile=ON", "binlog_cache_size=1M", "page_cache_size=32M", "memtable_size=32M"];
    let server = Server::start("load-large", ServerOptions::with_settings(settings)).unwrap();
    server.client().query("CREATE DATABASE d; CREATE TABLE d.t (id INT PRIMARY KEY, s VARCHAR(200))").unwrap();
    let path = file(&server, "large.txt", "");
    let mut out = std::io::BufWriter::new(fs::File::create(&path).unwrap());
    let filler = "x".repeat(190);
    const ROWS: usize = 500_000;
    for n in 0..ROWS {
        writeln!(out, "{n}\t{n}{filler}").unwrap();
    }
    out.into_inner().unwrap();
    assert!(fs::metadata(&path).unwrap().len() > 95 << 20);
    let before = peak_kib(server.pid()).unwrap();
    let port = server.port().to_string();
    let sql = format!("LOAD DATA LOCAL INFILE '{}' INTO TABLE d.t", path.display());
    let arguments = ["--no-defaults", "-h127.0.0.1", "-P", &port, "-uroot", "--local-infile=1", "-e", &sql];
    run_tool(Kind::Mysql97, "mysql", &arguments).unwrap();
    let grown = peak_kib(server.pid()).unwrap() - before;
    assert_eq!(server.client().query("SELECT COUNT(*), MAX(id) FROM d.t").unwrap(), "500000\t499999\n");
    assert!(grown < 96 << 10, "{grown} KiB more for a file of 100 MB");
    let _ = fs::remove_file(&path);
}

fn status(replica: &Server, column: &str) -> String {
    replica.client().column("SHOW REPLICA STATUS", column).unwrap()
}

#[track_caller]
fn catch_up(source: &Client, replica: &Server) {
    source.query("INSERT INTO d.marks (n) VALUES (1)").unwrap();
    let last = source.query("SELECT MAX(id) FROM d.marks").unwrap();
    until("the replica has what its source has", || {
        assert_eq!(status(replica, "Last_SQL_Error").trim().replace("NULL", ""), "");
        assert_eq!(status(replica, "Last_IO_Error").trim().replace("NULL", ""), "");
        replica.client().query("SELECT MAX(id) FROM d.marks").is_ok_and(|found| found == last)
    });
}

/// What a source loads is loaded here, by its statements; SIGKILL in the middle as well.
fn follow(kind: Kind, name: &str, arguments: &[&str], from: &str) {
    let source = Peer::start(kind, name, Duration::ZERO, arguments).unwrap();
    let mut replica = Server::start(name, ServerOptions::default()).unwrap();
    let client = source.client();
    client.query(TABLE).unwrap();
    client.query("CREATE TABLE d.marks (id INT AUTO_INCREMENT PRIMARY KEY, n INT); CREATE TABLE d.big (id INT PRIMARY KEY, s VARCHAR(100), n INT)").unwrap();
    client.query("SET GLOBAL local_infile = ON").unwrap();
    let change = format!(
        "CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={}, SOURCE_USER='root', {from} \
         GET_SOURCE_PUBLIC_KEY=1, SOURCE_CONNECT_RETRY=1, SOURCE_RETRY_COUNT=100; START REPLICA",
        source.port()
    );
    replica.client().query(&change).unwrap();
    let path = file(&replica, "people.csv", PEOPLE);
    let big: String = (0..300_000).map(|n| format!("{n}\tthe row with the number {n} \\\\ \\t\n")).collect();
    let big = file(&replica, "big.txt", &big);
    let (people, big) = (path.display().to_string(), big.display().to_string());
    let load = |sql: &str| {
        let (program, port) = (if kind == Kind::Mysql97 { "mysql" } else { "mariadb" }, source.port().to_string());
        let mut arguments = vec!["--no-defaults", "-h127.0.0.1", "-P", &port, "-uroot", "--local-infile=1", "-e", sql];
        if kind == Kind::Maria118 {
            arguments.insert(1, "--skip-ssl");
        }
        run_tool(kind, program, &arguments)
    };
    load(&format!("LOAD DATA LOCAL INFILE '{people}' INTO TABLE d.people {FORMAT}")).unwrap();
    load(&format!("USE d; LOAD DATA LOCAL INFILE '{people}' REPLACE INTO TABLE people {FORMAT} IGNORE 1 LINES (id, @n, born) SET name = CONCAT(@n, '!')")).unwrap();
    load(&format!("USE d; BEGIN; LOAD DATA LOCAL INFILE '{people}' IGNORE INTO TABLE people {FORMAT} (@i, name) SET id = @i + 1; UPDATE people SET born = '2000-01-01' WHERE id = 4; COMMIT")).unwrap();
    let bad = load(&format!("USE d; LOAD DATA LOCAL INFILE '{people}' REPLACE INTO TABLE people {FORMAT} (id, name)"));
    assert!(bad.is_err());
    catch_up(&client, &replica);
    let all = "SELECT * FROM d.people ORDER BY id";
    assert_eq!(replica.client().query(all).unwrap(), client.query(all).unwrap());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            load(&format!("LOAD DATA LOCAL INFILE '{big}' INTO TABLE d.big (id, s) SET n = id * 2")).unwrap()
        });
        std::thread::sleep(Duration::from_millis(1500));
        replica.kill();
        replica.restart().unwrap();
        std::thread::sleep(Duration::from_millis(1200));
        replica.kill();
        replica.restart().unwrap();
    });
    catch_up(&client, &replica);
    let sums = "SELECT COUNT(*), SUM(id), SUM(n), SUM(CRC32(s)) FROM d.big";
    assert_eq!(replica.client().query(sums).unwrap(), client.query(sums).unwrap());
    let left = fs::read_dir(replica.folder().join("tmp")).map_or(0, |files| files.count());
    assert_eq!(left, 0, "temporary files");
}

#[test]
fn statements_of_mysql() {
    follow(Kind::Mysql97, "load-mysql", &["--binlog-format=STATEMENT"], "SOURCE_AUTO_POSITION=1,");
}

#[test]
fn mixed_of_mysql_without_gtids() {
    let arguments = ["--binlog-format=MIXED", "--gtid-mode=OFF", "--enforce-gtid-consistency=OFF"];
    follow(Kind::Mysql97, "load-mixed", &arguments, "SOURCE_LOG_FILE='bin.000001', SOURCE_LOG_POS=4,");
}

#[test]
fn statements_of_mariadb() {
    follow(Kind::Maria118, "load-maria", &["--binlog-format=STATEMENT"], "");
}
