//! Statements that would take hours, the machine's memory or the thread's stack: each has an answer, its error, or an end by KILL, and the others go on.

use interop::{Answer, Connection, until};

use super::hostile::server;

/// Calls that go on for hours: as many as there are threads leave room for others, who see them and kill them.
#[test]
fn long_calls_hold_nobody() {
    let server = server("hostile-calls", &["worker_threads=1", "regexp_time_limit=2147483647"]);
    let (client, port) = (server.client(), server.port());
    let calls = [
        "SELECT LOCATE(CONCAT(REPEAT('a', 500000), 'b'), REPEAT('a', 20000000))",
        "SELECT REPEAT('a', 3000000) LIKE CONCAT('%', REPEAT('a', 1000000), 'b')",
        "SELECT INSTR(REPEAT('ä', 5000000), CONCAT(REPEAT('ä', 200000), 'b'))",
        "SELECT LENGTH(REGEXP_REPLACE(REPEAT('a', 1000000), 'a*b|a', 'x'))",
        "SELECT JSON_CONTAINS(CONCAT('[', REPEAT('[1],', 300000), '[2]]'), CONCAT('[', REPEAT('[2],', 300000), '[2]]'))",
    ];
    let ask = |sql: &'static str| std::thread::spawn(move || Connection::open(port, "d").unwrap().succeed(sql));
    let waiting = calls.map(ask);
    let running =
        "SELECT id FROM information_schema.processlist WHERE info LIKE 'SELECT%REPEAT%' AND id <> CONNECTION_ID()";
    until("all run", || client.query(running).unwrap().lines().count() == calls.len());
    for id in client.query(running).unwrap().lines() {
        client.query(&format!("KILL QUERY {id}")).unwrap();
    }
    for waiting in waiting {
        assert!(waiting.join().unwrap().unwrap_err().contains("interrupted"));
    }
    let limited =
        "SET max_execution_time = 100; SELECT LOCATE(CONCAT(REPEAT('a', 500000), 'b'), REPEAT('a', 20000000))";
    assert!(client.query(limited).unwrap_err().contains("maximum statement execution time exceeded"));
}

/// The same of conditions that are short, or have short parts, over few rows.
#[test]
fn long_conditions_hold_nobody() {
    let server = server("hostile-conditions", &["worker_threads=1"]);
    let (client, port) = (server.client(), server.port());
    client.query("CREATE TABLE d.n (a INT PRIMARY KEY, b INT, c TEXT, KEY (b))").unwrap();
    let rows: Vec<_> = (0..2000).map(|n| format!("({n},{},REPEAT('x',200))", n % 10)).collect();
    client.query(&format!("INSERT INTO d.n VALUES {}", rows.join(","))).unwrap();
    let list = |times: usize, separator: &str, piece: &dyn Fn(usize) -> String| {
        (0..times).map(piece).collect::<Vec<_>>().join(separator)
    };
    let beside = "SELECT COUNT(*) FROM n x, n y, n z WHERE";
    let calls = [
        format!("{beside} x.c LIKE CONCAT('%z', y.c, z.c)"),
        format!("{beside} {}", list(600, " OR ", &|n| format!("CONCAT(x.c, y.a) LIKE '%z%y%{n}'"))),
        format!("{beside} x.b + y.b + z.b NOT IN ({})", list(20_000, ",", &|n| (n + 100).to_string())),
        format!("{beside} {}", list(5_000, " OR ", &|n| format!("x.a + y.a + z.b BETWEEN {} AND 9999999", n + 10_000))),
        format!("{beside} CASE x.b + y.b + z.b {} END", list(20_000, " ", &|n| format!("WHEN {} THEN 1", n + 100))),
    ];
    let waiting = calls.map(|sql| std::thread::spawn(move || Connection::open(port, "d").unwrap().succeed(&sql)));
    let running =
        "SELECT id FROM information_schema.processlist WHERE info LIKE 'SELECT COUNT%' AND id <> CONNECTION_ID()";
    until("all run", || client.query(running).unwrap().lines().count() == 5);
    for id in client.query(running).unwrap().lines() {
        client.query(&format!("KILL QUERY {id}")).unwrap();
    }
    for waiting in waiting {
        assert!(waiting.join().unwrap().unwrap_err().contains("interrupted"));
    }
}

/// Calls that would take hours, or the machine's memory: each has an answer at once, or its error.
#[test]
fn calls_that_explode_are_bounded() {
    let server = server("hostile-explosions", &["worker_threads=1"]);
    server.client().query("CREATE USER ord; GRANT SELECT ON d.* TO ord").unwrap();
    let ask = |sql: &str| Connection::open_as(server.port(), "ord", "d").unwrap().succeed(sql);
    let deep = r#"CONCAT(REPEAT('[', 90), '"x"', REPEAT(']', 90))"#;
    let steps = format!("SELECT JSON_SEARCH({deep}, 'all', 'x', NULL, CONCAT('$', REPEAT('**[*]', 40)))");
    ask(&steps).unwrap();
    ask(&format!("SELECT LENGTH(JSON_EXTRACT({deep}, CONCAT('$', REPEAT('**[*]', 40))))")).unwrap();
    let wide = r#"CONCAT('[', REPEAT('"1",', 100000), '1]')"#;
    ask(&format!("SELECT LENGTH(JSON_SEARCH({wide}, 'all', '1', NULL, '$[*]', '$[*]'))")).unwrap();
    let object = |from: u32| (from..from + 60_000).map(|n| format!(r#""k{n:06}": 1"#)).collect::<Vec<_>>().join(",");
    let both = format!("'{{{}}}', '{{{}}}'", object(0), object(100_000));
    ask(&format!("SELECT JSON_LENGTH(JSON_MERGE_PATCH({both})), JSON_LENGTH(JSON_MERGE_PRESERVE({both}))")).unwrap();
    let paths = "'$',".repeat(1000);
    let copies = ask(&format!("SELECT LENGTH(JSON_EXTRACT({wide}, {paths} '$'))"));
    assert!(copies.unwrap_err().contains("4082"));
    for (pattern, text, error) in [
        ("'(a{1,1000}){1,20}b'", "REPEAT('a', 1000000)", "3699"),
        ("REPEAT('[[:alpha:]]', 20000)", "'a'", "3698"),
        (r"REPEAT('\\p{L}', 20000)", "'a'", "3698"),
    ] {
        assert!(ask(&format!("SELECT REGEXP_LIKE({text}, {pattern})")).unwrap_err().contains(error), "{pattern}");
    }
}

/// One long value that is named many times: what goes over it counts, and what writes each of them out asks for room.
#[test]
fn long_values_named_many_times() {
    let server = server("hostile-values", &["worker_threads=1"]);
    server.client().query("CREATE USER ord; GRANT ALL ON d.* TO ord").unwrap();
    // Who exceeds the limit of memory is disconnected.
    let holder = || {
        let mut held = Connection::open_as(server.port(), "ord", "d").unwrap();
        held.succeed("SET @a = REPEAT('1', 20000000), @b = CONCAT(@a, '2')").unwrap();
        held
    };
    let columns: Vec<String> = (0..20).map(|n| format!("c{n} LONGTEXT")).collect();
    holder().succeed(&format!("CREATE TABLE wide ({})", columns.join(","))).unwrap();
    let list = |value: &str, times: usize| vec![value; times].join(",");
    for (statement, error) in [
        (format!("SELECT {}", list("@a", 20)), "1153"),
        (format!("INSERT INTO wide VALUES ({})", list("@a", 20)), "4082"),
        (format!("SELECT COUNT(DISTINCT {})", list("@a", 20)), "4082"),
        (format!("SELECT {0} UNION SELECT {0}", list("@a", 20)), "4082"),
    ] {
        assert!(holder().succeed(&statement).unwrap_err().contains(error), "{}", &statement[..40]);
    }
    let mut held = holder();
    held.succeed("SET max_execution_time = 300").unwrap();
    for many in [
        vec!["@a = @b"; 20_000].join(" OR "),
        format!("@a IN ({})", list("@b", 50_000)),
        format!("CASE @a {} END", "WHEN @b THEN 1 ".repeat(30_000)),
        format!("CONCAT({})", list("@a + 1 = 2", 10_000)),
        format!("CONCAT({})", list("CAST(@a AS DECIMAL(65, 30)) = 1", 10_000)),
        format!("CONCAT({})", list("@a + INTERVAL 1 DAY IS NULL", 10_000)),
        format!("{}CAST(@a AS BINARY) IS NULL", "~".repeat(1900)),
    ] {
        assert!(held.succeed(&format!("SELECT {many}")).unwrap_err().contains("3024"), "{}", &many[..30]);
    }
}

/// Lists that multiply in an index, and patterns of names that are longer than any name.
#[test]
fn lists_that_multiply() {
    let server = server("hostile-lists", &[]);
    let ask = |sql: &str| Connection::open(server.port(), "d").unwrap().succeed(sql);
    ask("CREATE TABLE ip (a INT, b INT, c INT, d INT, KEY (a, b, c, d))").unwrap();
    ask("INSERT INTO ip VALUES (1, 2, 3, 4), (1, 2, 3, 5000)").unwrap();
    let numbers = (0..3000).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
    let all = ["a", "b", "c", "d"].map(|column| format!("{column} IN ({numbers})")).join(" AND ");
    let found = server.client().query(&format!("SELECT COUNT(*) FROM d.ip WHERE {all}")).unwrap();
    assert_eq!(found, "1\n");
    for pattern in ["%a", "%", "%_", "\\\\%"] {
        for what in ["VARIABLES", "STATUS", "TABLES", "COLUMNS FROM t", "DATABASES"] {
            ask(&format!("SHOW {what} LIKE '{}'", pattern.repeat(1_000_000))).unwrap();
        }
    }
    let shown = |sql: &str| server.client().query(sql).unwrap();
    assert_eq!(shown(&format!("SHOW TABLES FROM d LIKE '{}ip'", "%".repeat(5000))), "ip\n");
}

/// Nesting that words do not show: names that are keywords, joins of joins, rows that are compared member by member.
#[test]
fn nesting_that_is_not_seen() {
    let server = server("hostile-nesting", &[]);
    let ask = |sql: &str| Connection::open(server.port(), "d").unwrap().succeed(sql);
    for levels in [100, 600, 1900] {
        let cases = |when: &str| {
            format!("{}1{}", format!("CASE WHEN {when} THEN ").repeat(levels), " ELSE 0 END".repeat(levels))
        };
        ask(&format!("SELECT {} FROM (SELECT 1 AS `end`) t", cases("t.end"))).unwrap();
        ask(&format!("DO {}", cases("1"))).unwrap();
        assert!(ask(&format!("DELETE FROM d.t WHERE {}", cases("t.end"))).unwrap_err().contains("1054"));
    }
    for joins in ["JOIN ", "JOIN on ", "JOIN x LEFT JOIN "].map(|join| join.repeat(3000)) {
        for statement in ["SELECT * FROM t ", "UPDATE t ", "DELETE t FROM t "] {
            assert!(ask(&format!("{statement}{joins} t SET s = 1")).unwrap_err().contains("1064"));
        }
    }
    let row = |last: &str| format!("({}{last})", "1,".repeat(20_000));
    ask(&format!("SELECT {} < {}, {} >= {}", row("1"), row("2"), row("NULL"), row("1"))).unwrap();
}

/// A packet of many statements that wait for nothing: others have their turns, and may end it.
#[test]
fn many_statements_hold_nobody() {
    const MANY: usize = 100_000;
    let server = server("hostile-many", &["worker_threads=1"]);
    let mut many = Connection::open_for_scripts(server.port(), "root", "", "d").unwrap();
    let Answer::Rows { rows, .. } = many.query("SELECT CONNECTION_ID()").unwrap() else { panic!("no id") };
    let id = String::from_utf8(rows[0][0].clone().unwrap()).unwrap();
    many.ask(&"DO 1;".repeat(MANY)).unwrap();
    let reader = std::thread::spawn(move || {
        std::iter::repeat_with(|| many.text_answer()).take_while(Result::is_ok).take(MANY).count()
    });
    server.client().query(&format!("KILL {id}")).unwrap();
    assert!(reader.join().unwrap() < MANY, "it was ended before its end");
}

/// KILL QUERY ends the whole packet, whichever of its statements it meets.
#[test]
fn many_statements_end_by_one_kill() {
    const MANY: usize = 300_000;
    let server = server("hostile-many-killed", &["worker_threads=1"]);
    let mut many = Connection::open_for_scripts(server.port(), "root", "", "d").unwrap();
    let Answer::Rows { rows, .. } = many.query("SELECT CONNECTION_ID()").unwrap() else { panic!("no id") };
    let id = String::from_utf8(rows[0][0].clone().unwrap()).unwrap();
    many.ask(&"DO 1;".repeat(MANY)).unwrap();
    let reader = std::thread::spawn(move || {
        let answers = std::iter::repeat_with(|| many.text_answer()).take(MANY);
        let good = answers.take_while(|answer| matches!(answer, Ok(Answer::Done(_)))).count();
        (good, many.query("SELECT 1").is_ok())
    });
    let client = server.client();
    let running = format!("SELECT info FROM information_schema.processlist WHERE id = {id}");
    until("it runs", || client.query(&running).unwrap().starts_with("DO"));
    client.query(&format!("KILL QUERY {id}")).unwrap();
    let (good, goes_on) = reader.join().unwrap();
    assert!(good < MANY && goes_on, "{good} statements were run");
}

/// Statements with very many names, aggregates or columns: each is planned, or refused, at once.
#[test]
fn long_statements_are_bound_in_time() {
    let server = server("hostile-long", &["worker_threads=1", "max_allowed_packet=64M"]);
    let ask = |sql: &str| Connection::open(server.port(), "d").unwrap().succeed(sql);
    let list = |count: usize, item: &dyn Fn(usize) -> String| (0..count).map(item).collect::<Vec<_>>().join(",");
    let names = |count: usize| list(count, &|at| format!("a{at}"));
    let aliases = list(30_000, &|at| format!("id+{at} a{at}"));
    let sums = list(40_000, &|at| format!("SUM(id+{at})"));
    for sql in [
        format!("SELECT LENGTH(CONCAT({sums})) FROM t"),
        format!("SELECT {aliases} FROM t HAVING CONCAT({}) LIMIT 0", names(30_000)),
        format!("SELECT {aliases} FROM t ORDER BY CONCAT({}) LIMIT 0", names(30_000)),
        format!("SELECT 1 FROM (SELECT {}) d", list(50_000, &|at| format!("1 a{at}"))),
        format!("WITH d ({}) AS (SELECT {}) SELECT 1 FROM d", names(50_000), list(50_000, &|_| "1".to_owned())),
    ] {
        ask(&sql).unwrap_or_else(|error| panic!("{}: {error}", &sql[..60]));
    }
    let keys = format!("CREATE TABLE c (a INT{})", ", FOREIGN KEY (a) REFERENCES t (id)".repeat(40_000));
    assert!(ask(&keys).unwrap_err().contains("1069"));
    let grant = format!("GRANT SELECT ({}) ON d.t TO root", names(100_000));
    assert!(ask(&grant).unwrap_err().contains("Unknown column 'a0'"));
    let unknown = ask(&format!("SELECT `{}`", "x".repeat(30 << 20))).unwrap_err();
    assert!(unknown.contains("1054") && unknown.len() < 4096);
}
