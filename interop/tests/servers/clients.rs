//! Real clients connect and work: `mariadb`, MySQL 9.7's `mysql`, PyMySQL, mysql-connector-python, the JDBC drivers of both.

use std::time::Duration;

use interop::{Answer, Client, Connection, Kind, Peer, Server, ServerOptions, java, python, run_tool};

fn server(name: &str) -> Server {
    Server::start(name, ServerOptions::default()).unwrap()
}

#[test]
fn mariadb_client_over_tcp_and_socket() {
    let server = server("client-mariadb");
    let tcp = server.client();
    tcp.query(
        "CREATE DATABASE d; CREATE TABLE d.t (a INT PRIMARY KEY, b VARCHAR(10)); INSERT INTO d.t VALUES (1, 'x')",
    )
    .unwrap();
    assert_eq!(tcp.query("SELECT * FROM d.t").unwrap(), "1\tx\n");
    let socket = Client::socket(server.folder().join("sock"));
    assert_eq!(socket.query("SELECT COUNT(*) FROM d.t").unwrap(), "1\n");
    let error = tcp.query("SELECT * FROM d.nosuch").unwrap_err();
    assert!(error.contains("ERROR 1146 (42S02)"), "{error}");
}

/// What tools send beside plain statements: a NUL behind the text (mariadb-slap), COM_REFRESH (mariadb-admin).
#[test]
fn what_tools_send_besides() {
    let server = server("client-tools");
    let mut connection = Connection::open(server.port(), "").unwrap();
    connection.succeed("SELECT 1\0").unwrap();
    connection.execute("SELECT 1\0").unwrap();
    let log = || server.client().query("SHOW BINARY LOGS").unwrap().lines().count();
    let before = log();
    let (port, options) = (server.port().to_string(), ["--no-defaults", "--skip-ssl", "-h127.0.0.1", "-uroot"]);
    run_tool(Kind::Maria118, "mariadb-admin", &[&options[..], &["-P", &port, "refresh"]].concat()).unwrap();
    assert_eq!(log(), before + 1, "the logs are flushed");
}

#[test]
fn mysql_client_with_password_over_tls_and_without() {
    let server = server("client-mysql");
    let port = server.port().to_string();
    let root = server.client();
    root.query("CREATE USER 'ada'@'%' IDENTIFIED BY 's3cret'; GRANT ALL ON *.* TO 'ada'@'%'").unwrap();
    // REQUIRED fails without TLS; DISABLED takes the password's way over RSA.
    for ssl in ["--ssl-mode=REQUIRED", "--ssl-mode=DISABLED"] {
        let arguments =
            ["--no-defaults", "-h127.0.0.1", "-P", &port, "-uada", "-ps3cret", ssl, "--get-server-public-key"];
        let sql = ["-N", "-B", "-e", "SELECT CURRENT_USER(), 1 + 1"];
        let output = run_tool(Kind::Mysql97, "mysql", &[&arguments[..], &sql[..]].concat()).unwrap();
        assert!(output.starts_with("ada@%\t2\n"), "{output}");
        let wrong = [&arguments[..5], &["-pwrong", ssl, "--get-server-public-key"], &sql[..]].concat();
        let error = run_tool(Kind::Mysql97, "mysql", &wrong).unwrap_err();
        assert!(error.contains("ERROR 1045 (28000)"), "{error}");
    }
}

#[test]
fn a_password_comes_under_a_key_that_mysql_made() {
    let peer = Peer::start(Kind::Mysql97, "client-key", Duration::ZERO, &[]).unwrap();
    let mut server = server("client-key");
    server.stop().unwrap();
    let private = std::fs::read(peer.folder().join("private_key.pem")).unwrap();
    assert_eq!(private.last(), Some(&0), "MySQL 9.7 writes a NUL behind it");
    std::fs::write(server.folder().join("private_key.pem"), private).unwrap();
    server.restart().unwrap();
    server.client().query("CREATE USER 'ada'@'%' IDENTIFIED BY 's3cret'").unwrap();
    let (port, public) = (server.port().to_string(), peer.folder().join("public_key.pem"));
    let public = format!("--server-public-key-path={}", public.display());
    let arguments = ["--no-defaults", "-h127.0.0.1", "-P", &port, "-uada", "-ps3cret", "--ssl-mode=DISABLED", &public];
    let output = run_tool(Kind::Mysql97, "mysql", &[&arguments[..], &["-N", "-B", "-e", "SELECT 1"]].concat()).unwrap();
    assert_eq!(output.trim(), "1");
}

/// `Bytes_received` and `Bytes_sent` of a session.
fn traffic(connection: &mut Connection) -> [u64; 2] {
    let Answer::Rows { rows, .. } = connection.succeed("SHOW SESSION STATUS LIKE 'Bytes\\_%'").unwrap() else {
        panic!("no rows")
    };
    assert_eq!(rows.len(), 2);
    [0, 1].map(|at| String::from_utf8_lossy(rows[at][1].as_deref().unwrap()).parse().unwrap())
}

/// What a statement and the SHOW STATUS behind it took.
fn traffic_of(connection: &mut Connection, sql: &str) -> [u64; 2] {
    let before = traffic(connection);
    connection.succeed(sql).unwrap();
    let after = traffic(connection);
    [after[0] - before[0], after[1] - before[1]]
}

#[test]
fn bytes_of_a_session_are_counted_as_by_mysql() {
    let (server, peer) =
        (server("client-bytes"), Peer::start(Kind::Mysql97, "client-bytes", Duration::ZERO, &[]).unwrap());
    let mut both = [server.port(), peer.port()].map(|port| Connection::open(port, "").unwrap());
    let of = |both: &mut [Connection; 2], sql: &str| both.each_mut().map(|one| traffic_of(one, sql));
    // SHOW STATUS's own columns have other sizes, each time the same.
    let [ours, theirs] = of(&mut both, "DO 1");
    let [ours_more, theirs_more] = of(&mut both, "SELECT REPEAT('x', 100000) AS x");
    assert_eq!(ours[0], theirs[0]);
    assert_eq!(ours_more[0], theirs_more[0]);
    let [ours_more, theirs_more] = [ours_more[1] - ours[1], theirs_more[1] - theirs[1]];
    assert!(ours_more > 100_000 && ours_more.abs_diff(theirs_more) < 10, "{ours_more} {theirs_more}");
    let client = server.client();
    let all = client.status("Bytes_sent").unwrap();
    both[0].succeed("SELECT REPEAT('x', 100000) AS x").unwrap();
    assert!(client.status("Bytes_sent").unwrap() >= all + 100_000);
}

#[test]
fn compressed_connections() {
    let server = server("client-compressed");
    let port = server.port().to_string();
    server.client().query("CREATE DATABASE d; CREATE TABLE d.t (a INT PRIMARY KEY, b LONGTEXT)").unwrap();
    let sql = "SHOW STATUS LIKE 'Compression%'; DELETE FROM d.t; INSERT INTO d.t VALUES (1, REPEAT('a long text ', 500000)); \
               INSERT INTO d.t SELECT a + 1, b FROM d.t; SELECT MD5(b), LENGTH(b) FROM d.t; SELECT b FROM d.t";
    let ways = [
        (
            Kind::Mysql97,
            "mysql",
            vec!["--compression-algorithms=zlib"],
            "ON\nCompression_algorithm\tzlib\nCompression_level\t6\n",
        ),
        (
            Kind::Mysql97,
            "mysql",
            vec!["--compression-algorithms=zstd", "--zstd-compression-level=9", "--ssl-mode=DISABLED"],
            "ON\nCompression_algorithm\tzstd\nCompression_level\t9\n",
        ),
        (
            Kind::Maria118,
            "mariadb",
            vec!["--compress", "--skip-ssl"],
            "ON\nCompression_algorithm\tzlib\nCompression_level\t6\n",
        ),
        (Kind::Mysql97, "mysql", vec![], "OFF\nCompression_algorithm\t\nCompression_level\t0\n"),
    ];
    for (kind, tool, way, status) in ways {
        let own = ["--no-defaults", "-h127.0.0.1", "-P", &port, "-uroot"];
        let output = run_tool(kind, tool, &[&own[..], &way[..], &["-N", "-B", "-e", sql]].concat()).unwrap();
        let start = format!("Compression\t{status}");
        assert!(output.starts_with(&start), "{way:?}: {}", output.chars().take(200).collect::<String>());
        let rows = format!("{0}\n{0}\n", "a long text ".repeat(500_000));
        assert!(output.ends_with(&rows), "{way:?}: the rows");
        assert_eq!(output.matches("\t6000000\n").count(), 2, "{way:?}");
    }
    server.client().query("SET GLOBAL protocol_compression_algorithms = 'zstd'").unwrap();
    let arguments =
        ["--no-defaults", "-h127.0.0.1", "-P", &port, "-uroot", "--compression-algorithms=zlib", "-e", "SELECT 1"];
    let error = run_tool(Kind::Mysql97, "mysql", &arguments).unwrap_err();
    assert!(error.contains("ERROR 2066") || error.contains("ERROR 3922"), "{error}");
}

#[test]
fn pymysql_text_protocol() {
    let server = server("client-pymysql");
    let script = r#"
import sys, pymysql, datetime, decimal
c = pymysql.connect(host="127.0.0.1", port=int(sys.argv[1]), user="root", autocommit=False)
k = c.cursor()
k.execute("CREATE DATABASE d"); k.execute("USE d")
k.execute("CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, s VARCHAR(50), d DECIMAL(10,2), t DATETIME(6), b BLOB, n INT NULL)")
now = datetime.datetime(2024, 2, 29, 1, 2, 3, 456789)
k.execute("INSERT INTO t (s, d, t, b) VALUES (%s, %s, %s, %s)", ("grüße 🙂", decimal.Decimal("12.34"), now, bytes(range(256))))
assert k.lastrowid == 1, k.lastrowid
k.executemany("INSERT INTO t (s) VALUES (%s)", [("row %d" % n,) for n in range(100)])
assert k.rowcount == 100, k.rowcount
c.commit()
k.execute("SELECT * FROM t WHERE id = 1")
assert k.fetchone() == (1, "grüße 🙂", decimal.Decimal("12.34"), now, bytes(range(256)), None)
k.execute("DELETE FROM t WHERE id > 50"); c.rollback()
k.execute("SELECT COUNT(*) FROM t"); assert k.fetchone() == (101,)
try:
    k.execute("INSERT INTO t (id) VALUES (1)"); raise SystemExit("no error")
except pymysql.err.IntegrityError as e:
    assert e.args[0] == 1062, e
c.ping(); c.select_db("d")
print("ok")
"#;
    assert_eq!(python(script, &[&server.port().to_string()]).unwrap(), "ok\n");
}

#[test]
fn mysql_connector_prepared_statements_and_multi_results() {
    let server = server("client-connector");
    let script = r#"
import sys, mysql.connector, decimal, datetime
c = mysql.connector.connect(host="127.0.0.1", port=int(sys.argv[1]), user="root", use_pure=True)
k = c.cursor()
k.execute("CREATE DATABASE d"); c.database = "d"
k.execute("CREATE TABLE t (id BIGINT PRIMARY KEY, f DOUBLE, s VARCHAR(30), d DATE, n DECIMAL(20,5), u TINYINT UNSIGNED)")
p = c.cursor(prepared=True)
for i in range(20):
    p.execute("INSERT INTO t VALUES (%s, %s, %s, %s, %s, %s)", (i, i / 4, "s%d" % i, datetime.date(2024, 1, 1 + i), "1.5", 200))
p.execute("SELECT * FROM t WHERE id > %s AND s LIKE %s ORDER BY id", (17, "s%"))
rows = p.fetchall()
assert [row[0] for row in rows] == [18, 19], rows
assert rows[0][1] == 4.5 and rows[0][5] == 200 and rows[0][3] == datetime.date(2024, 1, 19), rows
p.execute("SELECT %s, %s", (None, "x")); assert p.fetchall() == [(None, "x")]
c.commit(); c.reset_session()
p.close(); k.close()
c.cmd_change_user("root", "", "d")
c.close()
print("ok")
"#;
    assert_eq!(python(script, &[&server.port().to_string()]).unwrap(), "ok\n");
}

/// Statements of the client and of the server, batches, cursors, transactions, timeouts, DatabaseMetaData.
#[test]
fn jdbc_drivers() {
    let server = server("client-jdbc");
    let root = server.client();
    root.query("CREATE USER 'ada'@'%' IDENTIFIED BY 's3cret'; GRANT ALL ON *.* TO 'ada'@'%'").unwrap();
    let cases = [
        ("mysql", "sslMode=DISABLED&allowPublicKeyRetrieval=true"),
        ("mysql", "useServerPrepStmts=true&useCursorFetch=true&sslMode=REQUIRED"),
        ("mysql", "useServerPrepStmts=true&rewriteBatchedStatements=true&useLocalSessionState=true"),
        ("mysql", "rewriteBatchedStatements=true&useInformationSchema=false&useCompression=true"),
        ("mariadb", "allowPublicKeyRetrieval=true"),
        ("mariadb", "useServerPrepStmts=true&useBulkStmts=true&sslMode=trust"),
        ("mariadb", "rewriteBatchedStatements=true&allowMultiQueries=true&sslMode=trust"),
    ];
    for (driver, options) in cases {
        let url = format!("jdbc:{driver}://127.0.0.1:{}/?{options}", server.port());
        let output = java("Jdbc", &[&url, "ada", "s3cret"]).unwrap_or_else(|error| panic!("{url}: {error}"));
        assert!(output.ends_with("ok\n"), "{url}: {output}");
    }
}
