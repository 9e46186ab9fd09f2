//! A statement takes no more memory than its connection may: it ends with MySQL's error, its connection with it, and the server and
//! everybody else go on. Only the program counts what is allocated, so it is a whole server that shows it.

use interop::{Answer, Connection, Server, ServerOptions, forget_peak, peak_kib, resident_kib, until};

const MIB: u64 = 1 << 20;
/// `connection_memory_limit`
const LIMIT: u64 = 32 * MIB;
/// By so much the process may grow beyond it: buffers of the allocator, and of what is under way.
const SLACK: u64 = 48 * MIB;

/// A server, and who is bound on it.
fn server(name: &str) -> Server {
    server_with_limit(name, LIMIT)
}

fn server_with_limit(name: &str, limit: u64) -> Server {
    server_with(name, limit, "tmp_table_size=1M")
}

fn server_with(name: &str, limit: u64, setting: &str) -> Server {
    let limit = format!("connection_memory_limit={limit}");
    let server = Server::start(name, ServerOptions::with_settings([limit.as_str(), setting])).unwrap();
    let setup = "CREATE DATABASE d; CREATE TABLE d.t (a INT PRIMARY KEY, b VARCHAR(300)); CREATE USER bound; \
                 GRANT ALL ON d.* TO bound";
    server.client().query(setup).unwrap();
    server
}

fn bound(server: &Server) -> Connection {
    Connection::open_as(server.port(), "bound", "d").unwrap()
}

/// Bytes that all connections have.
fn used(server: &Server) -> u64 {
    server.client().status("Global_connection_memory").unwrap() as u64
}

fn list(item: &str, times: usize) -> String {
    vec![item; times].join(",")
}

/// Statements that want more than they may have, each by other means.
fn greedy() -> Vec<String> {
    let long_concat = format!("SELECT LENGTH(CONCAT({}))", list("REPEAT('x', 15000000)", 4));
    vec![
        "SELECT LENGTH(REPEAT('x', 60000000))".into(),
        "SELECT LENGTH(SPACE(60000000)), 1".into(),
        "SELECT LENGTH(CAST('x' AS BINARY(60000000)))".into(),
        long_concat,
        "SELECT LENGTH(REPLACE(REPEAT('x', 10000000), 'x', 'yyy'))".into(),
        "SELECT LENGTH(REGEXP_REPLACE(REPEAT('x', 100000), 'x', REPEAT('y', 600)))".into(),
        "SELECT LENGTH(DATE_FORMAT(NOW(), REPEAT('%r', 5000000)))".into(),
        "SELECT LENGTH(TIME_FORMAT(NOW(), REPEAT('%r', 5000000)))".into(),
        "SELECT LENGTH(TO_BASE64(REPEAT('x', 30000000)))".into(),
        "SELECT JSON_LENGTH(CONCAT('[1', REPEAT(',1', 5000000), ']'))".into(),
        "SELECT JSON_VALID(CONCAT('[1', REPEAT(',1', 5000000), ']'))".into(),
        "SELECT LENGTH(JSON_ARRAYAGG(REPEAT('x', 1000000))) FROM information_schema.COLUMNS".into(),
        "SELECT @a := REPEAT('x', 10000000), @b := REPEAT('x', 10000000), @c := REPEAT('x', 10000000), @d := REPEAT('x', 10000000)".into(),
        format!("SELECT 1 IN ({})", list("1", 400_000)),
        format!("INSERT INTO t (a) VALUES {}", list("(1+1)", 200_000)),
        format!("SELECT {}", list("a + b", 100_000)),
    ]
}

#[test]
fn a_statement_that_wants_more_than_it_may_have_ends_alone() {
    let server = server("memory");
    let mut other = bound(&server);
    for sql in greedy() {
        let shown: String = sql.chars().take(90).collect();
        let mut one = bound(&server);
        let before = resident_kib(server.pid()).unwrap() * 1024;
        forget_peak(server.pid()).unwrap();
        match one.query(&sql).unwrap() {
            Answer::Failed(4082, message) => assert!(message.starts_with("Connection closed."), "{message}"),
            answer => panic!("{shown}: {answer:?}"),
        }
        let peak = peak_kib(server.pid()).unwrap() * 1024;
        // The text, and the packet that it came in, are the client's to choose.
        let allowed = before + LIMIT + SLACK + 2 * sql.len() as u64;
        assert!(peak <= allowed, "{shown}: {} MiB beyond {}", (peak - before) / MIB, before / MIB);
        assert!(one.query("SELECT 1").is_err(), "the connection goes on: {shown}");
        other.succeed("SELECT COUNT(*) FROM t").unwrap();
    }
    assert!(!server.log().contains("panic"), "{}", server.log());
}

#[test]
fn administrators_are_not_bound_and_others_may_not_change_their_bound() {
    let server = server("memory_roots");
    let mut root = Connection::open(server.port(), "d").unwrap();
    root.succeed("SELECT LENGTH(REPEAT('x', 60000000))").unwrap();
    let denied = bound(&server).query("SET SESSION connection_memory_limit = DEFAULT").unwrap();
    assert!(matches!(denied, Answer::Failed(1227, _)), "{denied:?}");
    // All of them together.
    root.succeed("SET GLOBAL global_connection_memory_limit = 16777216").unwrap();
    let over = bound(&server).query("SELECT LENGTH(REPEAT('x', 20000000))").unwrap();
    assert!(matches!(over, Answer::Failed(4081, _)), "{over:?}");
    root.succeed("SELECT LENGTH(REPEAT('x', 60000000))").unwrap();
}

/// Dumps have such statements: they take what their text takes, not what a tree of it would.
#[test]
fn an_insert_of_literals_takes_little_more_than_its_text() {
    // Some 30 MiB of this are what a transaction keeps of its rows.
    let server = server_with_limit("memory_literals", 64 * MIB);
    let mut one = bound(&server);
    let rows: Vec<String> = (0..300_000).map(|number| format!("({number}, 'row {number}')")).collect();
    one.succeed(&format!("INSERT INTO t VALUES {}", rows.join(","))).unwrap();
    let sum = server.client().query("SELECT COUNT(*), SUM(a), SUM(b = CONCAT('row ', a)) FROM d.t").unwrap();
    assert_eq!(sum, "300000\t44999850000\t300000\n");
}

/// What of a connection's statements becomes the engine's is not its own for ever.
#[test]
fn what_connections_write_and_read_does_not_add_up() {
    let server = server("memory_adds_up");
    let mut one = bound(&server);
    let numbers: Vec<String> = (0..1000).map(|number| format!("({number}, REPEAT('x', 250))")).collect();
    one.succeed(&format!("INSERT INTO t VALUES {}", numbers.join(","))).unwrap();
    let mut rows = 1000;
    while rows < 200_000 {
        one.succeed(&format!("INSERT INTO t SELECT a + {rows}, b FROM t")).unwrap();
        rows *= 2;
    }
    one.succeed("UPDATE t SET b = CONCAT('y', b)").unwrap();
    one.succeed("SELECT COUNT(DISTINCT b, a) FROM t").unwrap();
    one.succeed("ALTER TABLE t ADD INDEX (b)").unwrap();
    one.succeed("BEGIN").unwrap();
    for number in 0..2000 {
        one.succeed(&format!("UPDATE t SET b = REPEAT('z', 300) WHERE a = {number}")).unwrap();
    }
    one.succeed("COMMIT").unwrap();
    assert!(used(&server) < 2 * MIB, "{} bytes", used(&server));
    one.succeed("SET @kept = REPEAT('x', 5000000)").unwrap();
    assert!((5_000_000..8_000_000).contains(&used(&server)), "{} bytes", used(&server));
    drop(one);
    until("the end of a connection's memory", || used(&server) < MIB);
}

/// A packet that is larger than the connection may be is not read to its end.
#[test]
fn a_packet_is_no_larger_than_its_connection() {
    let server = server_with("memory_packet", LIMIT, "max_allowed_packet=1G");
    let mut one = bound(&server);
    forget_peak(server.pid()).unwrap();
    let before = resident_kib(server.pid()).unwrap() * 1024;
    let long = format!("SELECT 1 /* {} */", "x".repeat(200 << 20));
    if let Ok(answer) = one.query(&long) {
        assert!(matches!(answer, Answer::Failed(4082, _)), "{answer:?}");
    }
    let peak = peak_kib(server.pid()).unwrap() * 1024;
    assert!(peak <= before + LIMIT + SLACK, "{} MiB beyond {}", (peak - before) / MIB, before / MIB);
    bound(&server).succeed("SELECT 1").unwrap();
}

/// What a connection keeps from one statement to the next counts for the next.
#[test]
fn what_a_connection_keeps_adds_up() {
    let server = server_with_limit("memory_kept", 16 * MIB);
    let numbers: Vec<String> = (0..2000).map(|number| format!("({number}, '')")).collect();
    server.client().query(&format!("INSERT INTO d.t VALUES {}", numbers.join(","))).unwrap();
    let locks = |number| format!("SELECT COUNT(GET_LOCK(CONCAT('{number}_', a), 0)) FROM t");
    let variables = |number| {
        let list: Vec<String> = (0..2000).map(|at| format!("@v{number}_{at} = 1")).collect();
        format!("SET {}", list.join(","))
    };
    let kinds: [&dyn Fn(usize) -> String; 2] = [&locks, &variables];
    for kind in kinds {
        let mut one = bound(&server);
        let ended = (0..100).find_map(|number| match one.query(&kind(number)).unwrap() {
            Answer::Failed(code, _) => Some(code),
            _ => None,
        });
        assert_eq!(ended, Some(4082), "{}", kind(0));
        until("the end of a connection's memory", || used(&server) < MIB);
    }
}

/// Rows that describe tables are made table by table, and of the tables that are asked for.
#[test]
fn what_describes_many_tables_is_not_in_memory_at_once() {
    let server = server_with_limit("memory_described", 12 * MIB);
    let columns: Vec<String> = (0..1000).map(|number| format!("c{number} INT")).collect();
    for number in 0..40 {
        server.client().query(&format!("CREATE TABLE d.wide{number} ({})", columns.join(","))).unwrap();
    }
    let mut one = bound(&server);
    let mut ask = |sql: &str| one.succeed(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    ask("SELECT * FROM information_schema.COLUMNS");
    ask("SELECT COUNT(*) FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'd'");
    let of_one = "SELECT COUNT(*) FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'd' AND TABLE_NAME LIKE 'wide7'";
    assert_eq!(server.client().query(of_one).unwrap(), "1001\n");
}
