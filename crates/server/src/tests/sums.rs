//! CHECKSUM TABLE, and the sums of ranges.

use super::settings::started;
use super::*;

/// Columns of a result, as text.
async fn table(client: &mut TestClient, sql: &str) -> Vec<Vec<Option<String>>> {
    client.query(sql).await.unwrap().rows
}

/// The number of one table, which has to be the same from its tree and from its rows.
async fn checksum(client: &mut TestClient, name: &str) -> String {
    let quick = table(client, &format!("CHECKSUM TABLE {name}")).await;
    let extended = table(client, &format!("CHECKSUM TABLE {name} EXTENDED")).await;
    assert_eq!(quick, extended);
    quick[0][1].clone().unwrap()
}

async fn run(client: &mut TestClient, statements: &[&str]) {
    for statement in statements {
        client.query(statement).await.unwrap_or_else(|error| panic!("{statement}: {error}"));
    }
}

#[test]
fn a_checksum_is_of_what_the_session_sees() {
    test(async |dir| {
        let (server, mut client) = started(&dir).await;
        let mut other = connect(&server, "root", "").await.unwrap();
        let empty = checksum(&mut client, "d.t").await;
        run(&mut client, &["INSERT INTO d.t (x) VALUES ('a'), ('b'), (REPEAT('c', 50000))"]).await;
        let three = checksum(&mut client, "d.t").await;
        assert_ne!(empty, three);
        // Own writes that nobody else sees.
        run(&mut client, &["BEGIN", "UPDATE d.t SET x = 'B' WHERE id = 2", "DELETE FROM d.t WHERE id = 3"]).await;
        run(&mut client, &["INSERT INTO d.t (x) VALUES ('d')"]).await;
        let own = checksum(&mut client, "d.t").await;
        assert_eq!(checksum(&mut other, "d.t").await, three);
        // A snapshot stays, also when what it has not is in the trees.
        run(&mut other, &["START TRANSACTION WITH CONSISTENT SNAPSHOT"]).await;
        run(&mut client, &["COMMIT"]).await;
        assert_eq!(checksum(&mut client, "d.t").await, own);
        server.shared().sql.engine.checkpoint().await.unwrap();
        assert_eq!(checksum(&mut client, "d.t").await, own);
        assert_eq!(checksum(&mut other, "d.t").await, three);
        run(&mut other, &["COMMIT"]).await;
        assert_eq!(checksum(&mut other, "d.t").await, own);
        // Back to what it was, back to its number.
        run(&mut client, &["DELETE FROM d.t WHERE id > 3", "UPDATE d.t SET x = 'b' WHERE id = 2"]).await;
        run(&mut client, &["INSERT INTO d.t VALUES (3, REPEAT('c', 50000))"]).await;
        assert_eq!(checksum(&mut client, "d.t").await, three);
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(table(&mut client, "CHECKSUM TABLE d.t QUICK").await, [[text("d.t"), None]]);
        let rows = table(&mut client, "CHECKSUM TABLE d.nope, d.t RANGES").await;
        assert_eq!(rows[0], [text("d.nope"), None, None, None]);
        assert_eq!(rows[1], [text("d.t"), None, text("3"), text(&three)]);
        assert_eq!(table(&mut client, "SHOW WARNINGS").await[0][1], text("1146"));
        // Of a table that is another than the snapshot's nothing is known, but of the others.
        run(&mut other, &["CREATE TABLE d.n (a INT PRIMARY KEY)", "START TRANSACTION WITH CONSISTENT SNAPSHOT"]).await;
        run(&mut client, &["TRUNCATE d.n"]).await;
        let rows = table(&mut other, "CHECKSUM TABLE d.n, d.t RANGES").await;
        assert_eq!(rows[0], [text("d.n"), None, None, None]);
        assert_eq!(rows[1], [text("d.t"), None, text("3"), text(&three)]);
        assert_eq!(table(&mut other, "SHOW WARNINGS").await[0][1], text("1412"));
        server.shutdown().await.unwrap();
    });
}

/// A transaction that does not stay in memory: in its own eyes, and committed.
#[test]
fn checksums_of_a_large_transaction() {
    test(async |dir| {
        let (server, mut client) = started(&dir).await;
        run(&mut client, &["SET GLOBAL binlog_cache_size = 16384", "BEGIN"]).await;
        for _ in 0..10 {
            run(&mut client, &["INSERT INTO d.t (x) VALUES (REPEAT('x', 3000)), (REPEAT('y', 9000))"]).await;
        }
        run(&mut client, &["DELETE FROM d.t WHERE id % 3 = 0", "UPDATE d.t SET x = 'z' WHERE id % 5 = 0"]).await;
        let own = checksum(&mut client, "d.t").await;
        run(&mut client, &["COMMIT"]).await;
        assert_eq!(checksum(&mut client, "d.t").await, own);
        server.shared().sql.engine.checkpoint().await.unwrap();
        assert_eq!(checksum(&mut client, "d.t").await, own);
        server.shutdown().await.unwrap();
    });
}

/// Equal rows have equal bytes, whatever has become of the table and of them before.
#[test]
fn equal_tables_have_equal_checksums() {
    const DEFINITION: &str = "(id INT NOT NULL, n BIGINT UNSIGNED, s VARCHAR(100), v VARCHAR(300), d DECIMAL(12,3), \
         c CHAR(10), b BINARY(4), e ENUM('x','y','z'), m SET('p','q','r'), f FLOAT, g DOUBLE, t TIMESTAMP(3) NULL, \
         w DATETIME, h TIME(2), j BIT(9), l LONGBLOB, PRIMARY KEY (id, c)) DEFAULT CHARSET=utf8mb4";
    const ROWS: &str = "VALUES (1, 18446744073709551615, 'a', 'bc', 1.5, 'x', 'yz', 'y', 'p,r', 1.5, -2.25, \
         '2020-02-02 02:02:02.125', '2021-01-01 00:00:01', '-10:20:30.25', b'101', REPEAT('l', 9000)), \
         (2, NULL, NULL, '', -0.001, 'y', 'ab', NULL, '', 0, 1e100, NULL, NULL, NULL, NULL, ''), \
         (3, 7, 'ä ', NULL, 0, 'z', '', 'z', 'q', -1, 0, '2038-01-19 03:14:07', '9999-12-31 23:59:59', 0, b'1', NULL)";
    test(async |dir| {
        let (server, mut client) = started(&dir).await;
        run(&mut client, &[&format!("CREATE TABLE d.a {DEFINITION}"), &format!("INSERT INTO d.a {ROWS}")]).await;
        let expected = checksum(&mut client, "d.a").await;
        // Columns that came and went, types that were others, rows that came from text, from other tables, step by step.
        let narrow = "CREATE TABLE d.b (gone INT, id SMALLINT NOT NULL, n INT, s VARCHAR(20), v VARCHAR(255), d DECIMAL(5,1), \
             c CHAR(3), b BINARY(4), e ENUM('x','y'), m SET('p','q'), f DOUBLE, g FLOAT, w DATE, PRIMARY KEY (id))";
        let widen = "ALTER TABLE d.b DROP COLUMN gone, MODIFY id INT NOT NULL, MODIFY n BIGINT UNSIGNED, MODIFY v VARCHAR(300), \
             MODIFY d DECIMAL(12,3), MODIFY c CHAR(10), MODIFY f FLOAT, MODIFY g DOUBLE, ADD t TIMESTAMP(3) NULL AFTER g, \
             MODIFY w DATETIME, ADD h TIME(2), ADD j BIT(9), ADD l LONGBLOB, DROP PRIMARY KEY, ADD PRIMARY KEY (id, c)";
        run(
            &mut client,
            &[
                narrow,
                "INSERT INTO d.b VALUES (1, 1, 5, 'a', 'bc', 1.5, 'x', 'yz', 'y', 'p', 1.5, -2.25, '2021-01-01'), \
                 (1, 2, NULL, NULL, '', 0, 'y', 'ab', NULL, '', 0, 1, NULL)",
                "ALTER TABLE d.b MODIFY s VARCHAR(100), MODIFY e ENUM('x','y','z'), MODIFY m SET('p','q','r')",
                widen,
                "SET SESSION binlog_row_image = 'MINIMAL'",
                "UPDATE d.b SET n = '18446744073709551615', m = 'r,p', t = '2020-02-02 02:02:02.125', l = REPEAT('l', 9000), \
                 w = '20210101000001', h = '-10:20:30.25', j = 5 WHERE id = 1",
                "UPDATE d.b SET d = '-1e-3', g = 1e100, l = '' WHERE id = 2",
                "REPLACE INTO d.b SELECT * FROM d.a WHERE id = 3",
            ],
        )
        .await;
        let definition = async |client: &mut TestClient, name: &str| {
            let rows = table(client, &format!("SHOW CREATE TABLE d.{name}")).await;
            rows[0][1].clone().unwrap().split_once('(').unwrap().1.to_owned()
        };
        assert_eq!(definition(&mut client, "a").await, definition(&mut client, "b").await);
        assert_eq!(table(&mut client, "SELECT * FROM d.a").await, table(&mut client, "SELECT * FROM d.b").await);
        assert_eq!(checksum(&mut client, "d.b").await, expected);
        // The same rows from their text, and by ALTER into a new table.
        run(&mut client, &["CREATE TABLE d.c LIKE d.a", "INSERT INTO d.c SELECT * FROM d.b ORDER BY id DESC"]).await;
        assert_eq!(checksum(&mut client, "d.c").await, expected);
        run(&mut client, &["ALTER TABLE d.c ADD COLUMN o INT FIRST", "ALTER TABLE d.c DROP COLUMN o"]).await;
        assert_eq!(checksum(&mut client, "d.c").await, expected);
        server.shutdown().await.unwrap();
    });
}

#[test]
fn ranges_add_up_to_the_table() {
    test(async |dir| {
        let (server, mut client) = started(&dir).await;
        run(&mut client, &["CREATE TABLE d.n (a VARCHAR(20), b INT, c INT, PRIMARY KEY (a, b))"]).await;
        for first in (0..20_000).step_by(2_000) {
            let rows: Vec<String> = (first..first + 2_000).map(|n| format!("('key {}', {n}, 1)", n % 97)).collect();
            run(&mut client, &[&format!("INSERT INTO d.n VALUES {}", rows.join(","))]).await;
            if first == 10_000 {
                server.shared().sql.engine.checkpoint().await.unwrap();
            }
        }
        let number = |value: &Option<String>| value.as_ref().unwrap().parse::<u64>().unwrap();
        let add = |parts: &[Vec<Option<String>>]| {
            parts.iter().fold((0, 0u64), |sum, part| (sum.0 + number(&part[2]), sum.1.wrapping_add(number(&part[3]))))
        };
        let whole = table(&mut client, "CHECKSUM TABLE d.n RANGES").await;
        assert_eq!((whole.len(), number(&whole[0][2])), (1, 20_000));
        let parts = table(&mut client, "CHECKSUM TABLE d.n RANGES SPLIT").await;
        assert!(parts.len() > 10 && parts.len() < 1000, "{} parts", parts.len());
        assert_eq!(add(&parts), add(&whole));
        let key = |part: &[Option<String>]| part[1].clone().unwrap();
        let keys: Vec<String> = parts[1..].iter().map(|part| format!("x'{}'", key(part))).collect();
        let again = format!("CHECKSUM TABLE d.n RANGES AT ({})", keys.join(", "));
        assert_eq!(table(&mut client, &again).await, parts);
        let (from, to) = (key(&parts[3]), key(&parts[5]));
        let range = format!("FROM x'{from}' TO x'{to}'");
        let two = table(&mut client, &format!("CHECKSUM TABLE d.n RANGES {range}")).await;
        assert_eq!((two.len(), key(&two[0]), add(&two)), (1, from, add(&parts[3..5])));
        let rows = table(&mut client, &format!("CHECKSUM TABLE d.n ROWS {range}")).await;
        let sum = rows.iter().fold((0, 0u64), |sum, row| (sum.0 + 1, sum.1.wrapping_add(number(&row[3]))));
        assert_eq!(sum, add(&two));
        assert!(rows.is_sorted_by(|a, b| a[1] < b[1]));
        let found =
            table(&mut client, &format!("SELECT COUNT(*) FROM d.n WHERE {}", rows[0][2].as_ref().unwrap())).await;
        assert_eq!(found[0][0].as_deref(), Some("1"));
        // Who may not read a table learns nothing of it.
        run(&mut client, &["CREATE USER u", "GRANT INSERT ON d.n TO u"]).await;
        let mut user = connect(&server, "u", "").await.unwrap();
        assert_eq!(error_of(&mut user, "CHECKSUM TABLE d.n RANGES").await, 1142);
        server.shutdown().await.unwrap();
    });
}
