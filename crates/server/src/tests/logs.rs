//! Rotation and purges of the binary log, by statement.

use super::*;

async fn files(client: &mut TestClient) -> Vec<String> {
    let result = client.query("SHOW BINARY LOGS").await.unwrap();
    result.rows.iter().map(|row| row[0].clone().unwrap_or_default()).collect()
}

/// What warning 1867 says.
async fn kept_for(client: &mut TestClient) -> String {
    let warnings = client.query("SHOW WARNINGS").await.unwrap();
    assert_eq!(warnings.rows[0][1].as_deref(), Some("1867"));
    warnings.rows[0][2].clone().unwrap()
}

#[test]
fn a_new_file_is_there_when_flush_returns_and_purges_move_the_checkpoint() {
    test(async |dir| {
        let server = Server::start(&dir.options()).await.unwrap();
        let mut client = connect(&server, "root", "").await.unwrap();
        for sql in ["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)", "INSERT INTO d.t VALUES (1)"] {
            client.query(sql).await.unwrap();
        }
        for number in 2..6 {
            client.query("FLUSH BINARY LOGS").await.unwrap();
            assert_eq!(files(&mut client).await.len(), number);
        }
        client.query("INSERT INTO d.t VALUES (2)").await.unwrap();
        client.query("PURGE BINARY LOGS TO 'binlog.000004'").await.unwrap();
        assert!(client.query("SHOW WARNINGS").await.unwrap().rows.is_empty());
        assert_eq!(files(&mut client).await, ["binlog.000004", "binlog.000005"]);
        assert_eq!(error_of(&mut client, "PURGE BINARY LOGS TO 'binlog.000002'").await, 1373);

        let engine = &server.shared().sql.engine;
        let pin = engine.log().pin("the replica with server id 9", base::LogPosition::new(4, 4));
        client.query("PURGE BINARY LOGS TO 'binlog.000005'").await.unwrap();
        assert!(kept_for(&mut client).await.contains("server id 9"));
        assert_eq!(files(&mut client).await.len(), 2);
        drop(pin);
        client.query("PURGE BINARY LOGS TO 'binlog.000005'").await.unwrap();
        assert_eq!(files(&mut client).await, ["binlog.000005"]);
        // The last transaction stays: from it on another server's log is compared with this one.
        client.query("FLUSH BINARY LOGS").await.unwrap();
        client.query("PURGE BINARY LOGS TO 'binlog.000006'").await.unwrap();
        assert!(kept_for(&mut client).await.contains("checkpoint"));
        assert_eq!(files(&mut client).await, ["binlog.000005", "binlog.000006"]);
        server.shutdown().await.unwrap();

        let server = Server::start(&dir.options()).await.unwrap();
        let mut client = connect(&server, "root", "").await.unwrap();
        assert_eq!(client.query("SELECT COUNT(*) FROM d.t").await.unwrap().first(), Some("2"));
        server.shutdown().await.unwrap();
    });
}
