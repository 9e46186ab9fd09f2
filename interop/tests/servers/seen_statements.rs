//! Statements whose text differs from that of earlier ones in the values of a key only: their answers are those of statements that nobody has seen
//! before, whatever has changed since.

use interop::{Answer, Connection, Server, ServerOptions};

/// Sends the text to a connection that has seen its form, and to a new one: both give the same, names and types of columns among it.
fn same(server: &Server, seen: &mut Connection, before: &[&str], sql: &str) -> String {
    let mut fresh = Connection::open(server.port(), "d").unwrap();
    for statement in before {
        fresh.succeed(statement).unwrap();
    }
    let (ours, theirs) = (described(seen, sql), described(&mut fresh, sql));
    assert_eq!(ours, theirs, "{sql}");
    ours
}

fn described(connection: &mut Connection, sql: &str) -> String {
    match connection.query(sql).unwrap() {
        Answer::Rows { columns, rows, warnings } => {
            let text =
                |value: &Option<Vec<u8>>| value.as_ref().map(|bytes| String::from_utf8_lossy(bytes).into_owned());
            let rows: Vec<Vec<Option<String>>> = rows.iter().map(|row| row.iter().map(text).collect()).collect();
            format!("{columns:?} {rows:?} {warnings}")
        }
        Answer::Failed(code, message) => format!("{code} {message}"),
        Answer::Done(_) => "OK".to_owned(),
    }
}

fn start(name: &str) -> (Server, Connection) {
    let server = Server::start(name, ServerOptions::default()).unwrap();
    let setup = "CREATE DATABASE d; CREATE DATABASE other; \
        CREATE TABLE d.t (id INT PRIMARY KEY, name VARCHAR(20) NOT NULL UNIQUE, big BIGINT UNSIGNED UNIQUE, v DECIMAL(5,2), bin VARBINARY(9) UNIQUE); \
        INSERT INTO d.t VALUES (1, 'one', 10, 1.5, 'a'), (2, 'Two', 20, NULL, 'b'), (3, '3', 30, 3, 'c'); \
        CREATE TABLE other.t (id VARCHAR(9) PRIMARY KEY, name INT NOT NULL, v INT); INSERT INTO other.t VALUES ('1', 7, 8), ('01', 9, 10)";
    server.client().query(setup).unwrap();
    let connection = Connection::open(server.port(), "d").unwrap();
    (server, connection)
}

#[test]
fn answers_are_those_of_new_statements() {
    let (server, mut seen) = start("seen-answers");
    let of_kind = [
        (
            "SELECT name, v, id + 1, 'x' FROM t WHERE id = {}",
            &["1", "2", "3", "4", "002", "-1", "1.5", "'1'", "'1x'", "NULL", "99999999999"][..],
        ),
        ("SELECT * FROM t WHERE id = {}", &["1", "2", "3", "4", "'2'", "TRUE", "0x31", "1e0", "id"]),
        (
            "SELECT id FROM t WHERE name = {}",
            &["'one'", "'ONE'", "'two'", "'Two '", "3", "'3'", "''", "'it''s'", "N'one'", "_latin1'one'", "'o' 'ne'"],
        ),
        (
            "SELECT id FROM t WHERE big = {} LIMIT 1",
            &["10", "20", "30", "'30'", "40", "123456789012345678", "18446744073709551615"],
        ),
        ("SELECT id FROM t WHERE id = 2 AND big = {}", &["10", "20", "'20'"]),
        ("SELECT id FROM t WHERE id = {} ORDER BY name LIMIT 0", &["1", "2", "2"]),
        ("SELECT id FROM t WHERE bin = {}", &["'a'", "'A'", "'b'", "'c'"]),
        ("SELECT (SELECT name FROM t WHERE id = {}) s", &["1", "2", "9"]),
        ("SELECT v AS `{}` FROM t WHERE id = 1", &["1", "2", "3"]),
        ("SELECT id FROM t WHERE id = {} FOR UPDATE", &["1", "2", "3"]),
        ("SELECT nothing FROM t WHERE id = {}", &["1", "2", "3"]),
        ("SELECT COUNT(*) FROM t WHERE id = {}", &["1", "2", "9"]),
        ("SELECT {}, name FROM t WHERE id = 1", &["1", "2", "'a'", "'bc'"]),
        ("SELECT DATE '2024-01-0{}' FROM t WHERE id = 1", &["1", "2", "3"]),
    ];
    for (form, values) in of_kind {
        for value in values.iter().chain(values.iter()) {
            same(&server, &mut seen, &[], &form.replace("{}", value));
        }
    }
}

#[test]
fn what_changes_between_them_counts() {
    let (server, mut seen) = start("seen-changes");
    let client = server.client();
    let ask = |seen: &mut Connection, before: &[&str], id: &str| {
        same(&server, seen, before, &format!("SELECT name, v FROM t WHERE id = {id}"))
    };
    let warm = |seen: &mut Connection, before: &[&str]| ["1", "2", "3"].map(|id| ask(seen, before, id));
    assert!(warm(&mut seen, &[])[1].contains("Two"));

    client.query("UPDATE d.t SET name = 'changed' WHERE id = 2").unwrap();
    assert!(ask(&mut seen, &[], "2").contains("changed"));
    client.query("ALTER TABLE d.t MODIFY v VARCHAR(30), ADD more INT FIRST").unwrap();
    warm(&mut seen, &[]);
    // The key becomes a text: more than one row may be equal to a number then.
    client.query("CREATE TABLE d.u (id VARCHAR(9) PRIMARY KEY, name INT NOT NULL, v INT); INSERT INTO d.u VALUES ('1', 7, 8), ('01', 9, 10); \
                  RENAME TABLE d.t TO d.before, d.u TO d.t").unwrap();
    assert!(ask(&mut seen, &[], "1").contains("[[Some(\"9\"), Some(\"10\")], [Some(\"7\"), Some(\"8\")]]"));
    client.query("RENAME TABLE d.t TO d.u, d.before TO d.t").unwrap();
    warm(&mut seen, &[]);

    // Another default database, a temporary table over the name, settings that say what a text means.
    seen.succeed("USE other").unwrap();
    assert!(ask(&mut seen, &["USE other"], "1").contains("\"10\""));
    seen.succeed("USE d").unwrap();
    warm(&mut seen, &[]);
    let temporary = "CREATE TEMPORARY TABLE t (id INT PRIMARY KEY, name INT, v INT)";
    seen.succeed(temporary).unwrap();
    assert!(ask(&mut seen, &[temporary], "1").ends_with("[] 0"));
    seen.succeed("DROP TEMPORARY TABLE t").unwrap();
    warm(&mut seen, &[]);
    let bytes = "SET SESSION sql_mode = 'NO_BACKSLASH_ESCAPES'";
    seen.succeed(bytes).unwrap();
    warm(&mut seen, &[bytes]);
    client.query("DROP TABLE d.t").unwrap();
    assert!(ask(&mut seen, &[], "1").starts_with("1146 "));
}

#[test]
fn rights_and_counters_are_those_of_statements() {
    let (server, mut root) = start("seen-rights");
    root.succeed("CREATE USER reader").unwrap();
    root.succeed("GRANT SELECT ON d.t TO reader").unwrap();
    let mut reader = Connection::open_as(server.port(), "reader", "d").unwrap();
    let ask = |reader: &mut Connection, id: u32| described(reader, &format!("SELECT name FROM t WHERE id = {id}"));
    let of_session =
        |reader: &mut Connection, name: &str| described(reader, &format!("SHOW SESSION STATUS LIKE '{name}'"));
    let selects = of_session(&mut reader, "Com_select");
    (0..5).for_each(|id| drop(ask(&mut reader, id)));
    assert!(selects.contains("\"0\"") && of_session(&mut reader, "Com_select").contains("\"5\""));
    assert!(of_session(&mut reader, "Com_stmt_execute").contains("\"0\""));
    root.succeed("REVOKE SELECT ON d.t FROM reader").unwrap();
    assert!(ask(&mut reader, 1).starts_with("1142 "));
    root.succeed("GRANT SELECT (id) ON d.t TO reader").unwrap();
    assert!(ask(&mut reader, 1).starts_with("1143 "));
    root.succeed("GRANT SELECT (name) ON d.t TO reader").unwrap();
    assert!(ask(&mut reader, 1).contains("one"));
    assert_eq!(server.client().status("Prepared_stmt_count").unwrap(), 0);
}
