//! Tables as a whole: when they were made, and work on them that takes long.

use super::settings::{INSERT, last, started};
use super::*;

/// The time of the statement in the log, so it is the same after a restart and on a follower.
#[test]
fn create_time() {
    const TIMES: &str =
        "SELECT TABLE_NAME, CREATE_TIME FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'd' ORDER BY 1";
    let times = async |client: &mut TestClient| {
        let rows = client.query(TIMES).await.unwrap().rows;
        rows.into_iter().flatten().flatten().collect::<Vec<_>>().join(" ")
    };
    test(async |dir| {
        let (server, mut client) = started(&dir).await;
        client.query("SET time_zone = '+00:00'").await.unwrap();
        let mut seconds = 1_000_000_000;
        let mut at = async |client: &mut TestClient, sql: &str| {
            client.query(&format!("SET timestamp = {seconds}")).await.unwrap();
            client.query(sql).await.unwrap();
            seconds += 1;
        };
        client.query("DROP TABLE d.t").await.unwrap();
        at(&mut client, "CREATE TABLE d.a (n INT)").await;
        at(&mut client, "CREATE TABLE d.b LIKE d.a").await;
        assert_eq!(times(&mut client).await, "a 2001-09-09 01:46:40 b 2001-09-09 01:46:41");
        at(&mut client, "ALTER TABLE d.a ADD m INT").await;
        at(&mut client, "CREATE INDEX m ON d.a (m)").await;
        assert_eq!(times(&mut client).await, "a 2001-09-09 01:46:43 b 2001-09-09 01:46:41");
        // As in MySQL, these are no other tables.
        at(&mut client, "RENAME TABLE d.a TO d.c").await;
        at(&mut client, "ALTER TABLE d.c RENAME d.a").await;
        at(&mut client, "TRUNCATE d.b").await;
        let expected = "a 2001-09-09 01:46:43 b 2001-09-09 01:46:41";
        assert_eq!(times(&mut client).await, expected);
        let status = client.query("SHOW TABLE STATUS FROM d LIKE 'a'").await.unwrap().rows.remove(0);
        assert_eq!(status[11].as_deref(), Some("2001-09-09 01:46:43"));
        client.query("SET time_zone = '+02:00'").await.unwrap();
        assert_eq!(times(&mut client).await, expected.replace("01:46", "03:46"));
        server.shutdown().await.unwrap();
        let server = Server::start(&dir.options()).await.unwrap();
        let mut client = connect(&server, "root", "").await.unwrap();
        client.query("SET time_zone = '+00:00'").await.unwrap();
        assert_eq!(times(&mut client).await, expected);
        server.shutdown().await.unwrap();
    });
}

/// Two statements that compute on two threads leave room for logins, commits and KILL.
#[test]
fn who_computes_shuts_nobody_out() {
    test(async |dir| {
        let (server, mut client) = started(&dir).await;
        let mut ids = Vec::new();
        let mut busy = Vec::new();
        for _ in 0..2 {
            let mut other = connect(&server, "root", "").await.unwrap();
            ids.push(last(&mut other, "SELECT CONNECTION_ID()").await);
            busy.push(tokio::spawn(async move { error_of(&mut other, "SELECT BENCHMARK(1 << 60, 1 + 1)").await }));
        }
        let running = "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE INFO LIKE 'SELECT BENCHMARK%'";
        while last(&mut client, running).await != "2" {}
        client.query(INSERT).await.unwrap();
        let mut third = connect(&server, "root", "").await.unwrap();
        for id in ids {
            third.query(&format!("KILL QUERY {id}")).await.unwrap();
        }
        for busy in busy {
            assert_eq!(busy.await.unwrap(), 1317);
        }
        client.query("SET max_execution_time = 20").await.unwrap();
        assert_eq!(error_of(&mut client, "SELECT BENCHMARK(1 << 60, 1 + 1)").await, 3024);
        let waits = "SELECT WAIT_FOR_EXECUTED_GTID_SET('11111111-1111-1111-1111-111111111111:1')";
        assert_eq!(error_of(&mut client, waits).await, 3024);
        client.query("SET max_execution_time = 0, max_statement_time = 0.02").await.unwrap();
        assert_eq!(error_of(&mut client, "SELECT BENCHMARK(1 << 60, 1 + 1)").await, 1969);
        client.query("SET max_statement_time = 0").await.unwrap();
        let hinted = "SELECT /*+ MAX_EXECUTION_TIME(20) */ BENCHMARK(1 << 60, 1 + 1)";
        assert_eq!(error_of(&mut client, hinted).await, 3024);
        server.shutdown().await.unwrap();
    });
}

/// The same for what reads or rebuilds a table as a whole, on one thread.
#[test]
fn work_on_whole_tables_lets_others_go_on() {
    crate::runtime(1).unwrap().block_on(async {
        let dir = TestDir::new();
        let (server, mut client) = started(&dir).await;
        client.query("CREATE TABLE d.n (id INT AUTO_INCREMENT PRIMARY KEY, x INT)").await.unwrap();
        client.query("INSERT INTO d.n (x) VALUES (1), (2), (3), (4)").await.unwrap();
        for _ in 0..15 {
            client.query("INSERT INTO d.n (x) SELECT x FROM d.n").await.unwrap();
        }
        let sums = format!("CHECKSUM TABLE d.n{} EXTENDED", ", d.n".repeat(50));
        for statement in [
            &sums,
            "ALTER TABLE d.n ADD y BIGINT",
            "ALTER TABLE d.n ADD KEY (x), ADD UNIQUE KEY (x, id), ADD KEY (id, x)",
        ] {
            let mut other = connect(&server, "root", "").await.unwrap();
            let sql = statement.to_owned();
            let work = tokio::spawn(async move { other.query(&sql).await.unwrap() });
            let mut answers = 0;
            while !work.is_finished() {
                client.query("DO 1").await.unwrap();
                answers += 1;
            }
            work.await.unwrap();
            // One was on its way when it began, one waited for its end.
            assert!(answers > 2, "{statement}: {answers} answers meanwhile");
        }
        server.shutdown().await.unwrap();
    });
}
