//! Plans that are kept, seen by the locks that they take.

use super::*;

/// Prepared while its table is empty, where reading all of it is as good as anything.
#[test]
fn a_prepared_statement_is_planned_anew_when_its_table_has_grown() {
    test(async |dir| {
        let server = Server::start(&dir.options()).await.unwrap();
        let mut client = connect(&server, "root", "").await.unwrap();
        for statement in [
            "CREATE DATABASE d",
            "USE d",
            "CREATE TABLE g (id INT AUTO_INCREMENT PRIMARY KEY, v INT, w INT, KEY (v))",
            "PREPARE grown FROM 'UPDATE g SET w = 2 WHERE v = ?'",
            "SET @v = 1",
            "EXECUTE grown USING @v",
            "INSERT INTO g (v) VALUES (1), (2), (3), (4), (5), (6), (7), (8)",
            "INSERT INTO g (v) SELECT a.v + b.v * 8 + c.v * 64 FROM g a, g b, g c",
            "BEGIN",
            "EXECUTE grown USING @v",
        ] {
            client.query(statement).await.unwrap();
        }
        let mut other = connect(&server, "root", "").await.unwrap();
        other.query("SELECT id FROM d.g WHERE v = 300 FOR UPDATE NOWAIT").await.unwrap();
        assert_eq!(error_of(&mut other, "SELECT id FROM d.g WHERE v = 1 FOR UPDATE NOWAIT").await, 3572);
        server.shutdown().await.unwrap();
    });
}

/// What another connection runs has a plan that can be seen, until it ends; what has none is an error, and who runs nothing none.
#[test]
fn the_plan_of_another_connection_is_shown() {
    test(async |dir| {
        let server = Server::start(&dir.options()).await.unwrap();
        let mut client = connect(&server, "root", "").await.unwrap();
        for statement in
            ["CREATE DATABASE d", "CREATE TABLE d.t (a INT PRIMARY KEY)", "INSERT INTO d.t VALUES (1), (2)"]
        {
            client.query(statement).await.unwrap();
        }
        let mut other = connect(&server, "root", "").await.unwrap();
        let id: u64 = other.query("SELECT CONNECTION_ID()").await.unwrap().first().unwrap().parse().unwrap();
        let explain = format!("EXPLAIN FOR CONNECTION {id}");
        assert_eq!(client.query(&explain).await.unwrap().first(), None, "it runs nothing");
        for (running, wanted) in [
            ("SELECT SLEEP(30), a FROM d.t WHERE a > 1", Ok("-> Filter: (t.a > 1)")),
            ("UPDATE d.t SET a = a + SLEEP(30)", Ok("-> Update t")),
            ("DO SLEEP(30)", Err(3012)),
            ("EXPLAIN ANALYZE SELECT SLEEP(30)", Err(3012)),
        ] {
            let sleep = tokio::spawn(async move {
                let _ = other.query(running).await;
                other
            });
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
            match wanted {
                Ok(line) => {
                    let shown = client.query(&explain).await.unwrap();
                    assert!(shown.first().unwrap().starts_with(line), "{running}: {shown:?}");
                    let table = client.query(&format!("SHOW EXPLAIN FOR {id}")).await.unwrap();
                    assert_eq!(table.first(), Some("1"), "a row of the table");
                }
                Err(code) => assert_eq!(error_of(&mut client, &explain).await, code, "{running}"),
            }
            client.query(&format!("KILL QUERY {id}")).await.unwrap();
            other = sleep.await.unwrap();
        }
        assert_eq!(client.query(&explain).await.unwrap().first(), None, "it runs nothing again");
        assert_eq!(error_of(&mut client, "EXPLAIN FOR CONNECTION CONNECTION_ID()").await, 1064);
        server.shutdown().await.unwrap();
    });
}

/// KILL QUERY ends what is measured, and what was counted until then is shown; KILL ends the connection.
#[test]
fn what_is_measured_is_shown_as_far_as_it_came() {
    test(async |dir| {
        let server = Server::start(&dir.options()).await.unwrap();
        let mut killer = connect(&server, "root", "").await.unwrap();
        for kill in ["KILL QUERY", "KILL"] {
            let mut victim = connect(&server, "root", "").await.unwrap();
            let id: u64 = victim.query("SELECT CONNECTION_ID()").await.unwrap().first().unwrap().parse().unwrap();
            let run = tokio::spawn(async move {
                let query = "EXPLAIN ANALYZE SELECT SUM(a.n * b.n) FROM (VALUES ROW(1), ROW(2)) AS c (m), \
                             (WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 1000) SELECT n FROM r) a, \
                             (WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 1000) SELECT n FROM r) b, \
                             (WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 1000) SELECT n FROM r) d";
                let shown = victim.query(query).await.map(|result| result.first().map(str::to_owned));
                (victim, shown)
            });
            tokio::time::sleep(std::time::Duration::from_millis(300)).await;
            killer.query(&format!("{kill} {id}")).await.unwrap();
            let (mut victim, shown) = run.await.unwrap();
            if kill == "KILL" {
                assert!(shown.is_err());
                continue;
            }
            let shown = shown.unwrap().unwrap();
            assert!(shown.contains("loops=1)") && shown.contains("rows=1000 "), "{shown}");
            assert_eq!(victim.query("SHOW COUNT(*) WARNINGS").await.unwrap().first(), Some("1"));
        }
        server.shutdown().await.unwrap();
    });
}
