//! Statements that are nested deeply: each is answered, by rows or by MySQL's error, and the server goes on.

use super::settings::started;
use super::*;

/// A statement of so many pieces.
fn chain(head: &str, piece: &str, count: usize) -> String {
    format!("{head}{}", piece.repeat(count))
}

fn nested(head: &str, open: &str, close: &str, count: usize) -> String {
    format!("{head}{}1{}", open.repeat(count), close.repeat(count))
}

fn ctes(count: usize, reference: &str) -> String {
    let more =
        (1..count).map(|n| format!(", c{n} AS (SELECT 1 a FROM {})", reference.replace('c', &format!("c{}", n - 1))));
    format!("WITH c0 AS (SELECT 1 a){} SELECT COUNT(*) FROM c{}", more.collect::<String>(), count - 1)
}

#[test]
fn deep_statements_are_answered() {
    test(async |dir| {
        let (server, mut client) = started(&dir).await;
        client.query("CREATE TABLE d.u (a INT PRIMARY KEY, b INT)").await.unwrap();
        let done = [
            chain("SELECT 1", "+1", 1900),
            chain("SELECT COUNT(*) FROM d.u WHERE a = 0", " OR a = 1", 100_000),
            chain("SELECT COUNT(*) FROM d.u WHERE (a = 0 AND b = 1)", " OR (a = 1 AND b = 2)", 20_000),
            chain("SELECT COUNT(*) FROM d.u WHERE 1 = 1", " AND 1 = 1", 100_000),
            chain("SELECT 1", " XOR 1", 1900),
            chain("SELECT 1", " IS NULL", 900),
            chain("SELECT 1 FROM d.u WHERE a IN (0", ", 1", 20_000) + ")",
            chain("SELECT 1", " UNION ALL SELECT 1", 10_000),
            chain("SELECT 1", " UNION SELECT 1", 20_000),
            chain("SELECT 1", ", 1", 4000),
            nested("SELECT ", "(", ")", 1900),
            nested("SELECT ", "ABS(", ")", 900),
            nested("SELECT ", "NOT ", "", 1900),
            nested("SELECT ", "CASE WHEN 1 THEN ", " END", 500),
            nested("SELECT ", "(SELECT ", ")", 63),
            nested("SELECT ", "EXISTS (SELECT ", ")", 63),
            ctes(63, "c"),
            ctes(10, "c x, c y"),
            chain("UPDATE d.u SET b = 1 WHERE a = 0", " OR a = 1", 10_000),
            chain("SET @a = 1", " + 1", 1900),
            chain("DO 1", " + 1", 1900),
        ];
        for text in &done {
            client.query(text).await.unwrap_or_else(|error| panic!("{}: {error}", &text[..60]));
        }
        let refused = [
            (1436, chain("SELECT 1", "+1", 100_000)),
            (1436, chain("SELECT 'a'", " LIKE 'a'", 5000)),
            (1436, chain("DO 1", " BETWEEN 0 AND 1", 5000)),
            (1436, chain("SET @a = 1", " || @b := 1", 5000)),
            (1436, nested("SELECT ", "(", ")", 100_000)),
            (1436, nested("SELECT ", "CASE WHEN 1 THEN ", " END", 100_000)),
            (1473, nested("SELECT ", "(SELECT ", ")", 64)),
            (1473, nested("SELECT ", "(SELECT ", ")", 100_000)),
            (1473, ctes(64, "c")),
            (1473, ctes(1000, "c")),
            (4169, ctes(12, "c x, c y")),
            (4169, ctes(50, "c x, c y")),
            (1116, chain("SELECT 1 FROM d.u x", " JOIN d.u", 5000)),
            (1064, chain("SELECT 1", " OR 1", 100_000) + " OR"),
        ];
        for (code, text) in &refused {
            assert_eq!(error_of(&mut client, text).await, *code, "{}", &text[..60]);
        }
        server.shutdown().await.unwrap();
    });
}

/// Prepared, they are planned and dropped by others than who runs them.
#[test]
fn deep_prepared_statements() {
    test(async |dir| {
        let (server, mut client) = started(&dir).await;
        let text = chain("SELECT 1", " + 1", 1900);
        client.query(&format!("PREPARE p FROM '{text}'")).await.unwrap();
        for _ in 0..2 {
            assert_eq!(client.query("EXECUTE p").await.unwrap().first(), Some("1901"));
        }
        client.query("DEALLOCATE PREPARE p").await.unwrap();
        client.query(&format!("PREPARE p FROM '{text}'")).await.unwrap();
        drop(client);
        server.shutdown().await.unwrap();
    });
}
