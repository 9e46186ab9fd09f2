//! Source and follower, changed over while they run.

use std::time::Duration;

use super::*;

pub(super) async fn run(client: &mut TestClient, sql: &str) -> String {
    let result = client.query(sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
    result.first().unwrap_or_default().to_owned()
}

/// A column of SHOW REPLICA STATUS.
pub(super) async fn status(client: &mut TestClient, column: &str) -> String {
    let result = client.query("SHOW REPLICA STATUS").await.unwrap();
    let at = result.columns.iter().position(|found| found.name == column).unwrap();
    result.rows[0][at].clone().unwrap_or_default()
}

async fn wait_for_column(client: &mut TestClient, column: &str, value: &str) {
    while status(client, column).await != value {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

pub(super) async fn change_source(client: &mut TestClient, to: &Server, rest: &str) {
    let port = to.addresses()[0].port();
    let sql = format!(
        "CHANGE REPLICATION SOURCE TO SOURCE_HOST = '127.0.0.1', SOURCE_PORT = {port}, SOURCE_USER = 'root', \
         SOURCE_CONNECT_RETRY = 1, SOURCE_AUTO_POSITION = 1, GET_SOURCE_PUBLIC_KEY = 1 {rest}"
    );
    run(client, &sql).await;
}

/// Waits until one has all that the other has.
pub(super) async fn wait_for(client: &mut TestClient, other: &mut TestClient) {
    let set = run(other, "SELECT @@GLOBAL.gtid_executed").await;
    assert_eq!(run(client, &format!("SELECT WAIT_FOR_EXECUTED_GTID_SET('{set}', 20)")).await, "0");
}

pub(super) async fn with_table(client: &mut TestClient) {
    run(client, "CREATE DATABASE d").await;
    run(client, "CREATE TABLE d.t (a INT PRIMARY KEY)").await;
    run(client, "INSERT INTO d.t VALUES (1), (2), (3)").await;
}

pub(super) fn numbered(dir: &TestDir, id: u32) -> ServeOptions {
    ServeOptions { server_id: Some(id), ..dir.options() }
}

#[test]
fn a_running_server_becomes_a_follower_and_then_the_source() {
    test(async |dir| {
        let (source, other_dir) = (Server::start(&numbered(&dir, 1)).await.unwrap(), TestDir::new());
        let follower = Server::start(&numbered(&other_dir, 2)).await.unwrap();
        let mut old = connect(&source, "root", "").await.unwrap();
        let mut new = connect(&follower, "root", "").await.unwrap();
        with_table(&mut old).await;
        assert_eq!(error_of(&mut new, "START REPLICA").await, 1200, "nothing was said of a source");
        change_source(&mut new, &source, "").await;
        // It has a log of its own, which is no beginning of the source's.
        run(&mut new, "START REPLICA").await;
        wait_for_column(&mut new, "Replica_IO_Running", "No").await;
        let error = status(&mut new, "Last_IO_Error").await;
        let ours = run(&mut new, "SELECT @@server_uuid").await;
        let theirs = run(&mut old, "SELECT @@server_uuid").await;
        assert!(error.contains("not a prefix") && error.contains(&ours) && error.contains(&theirs), "{error}");
        run(&mut new, "STOP SLAVE").await;
        run(&mut new, "RESET BINARY LOGS AND GTIDS").await;
        assert_eq!(run(&mut new, "SELECT @@GLOBAL.gtid_executed").await, "");
        run(&mut new, "START REPLICA IO_THREAD, SQL_THREAD").await;
        wait_for(&mut new, &mut old).await;
        assert_eq!(run(&mut new, "SELECT COUNT(*) FROM d.t").await, "3");
        assert_eq!(error_of(&mut new, "INSERT INTO d.t VALUES (4)").await, 1290);
        assert_eq!(error_of(&mut new, "SET GLOBAL super_read_only = OFF").await, 1198, "it still follows");
        // Applier and receiver, each alone.
        run(&mut new, "STOP REPLICA SQL_THREAD").await;
        run(&mut old, "INSERT INTO d.t VALUES (4)").await;
        assert_eq!(status(&mut new, "Replica_IO_Running").await, "Yes");
        assert_eq!(status(&mut new, "Replica_SQL_Running").await, "No");
        let set = run(&mut old, "SELECT @@GLOBAL.gtid_executed").await;
        wait_for_column(&mut new, "Retrieved_Gtid_Set", &set).await;
        assert_eq!(run(&mut new, "SELECT COUNT(*) FROM d.t").await, "3");
        // What was received is applied before it becomes the source.
        run(&mut new, "STOP REPLICA").await;
        run(&mut new, "SET GLOBAL super_read_only = OFF").await;
        run(&mut new, "SET GLOBAL read_only = OFF").await;
        assert_eq!(run(&mut new, "SELECT COUNT(*) FROM d.t").await, "4");
        run(&mut new, "INSERT INTO d.t VALUES (5)").await;
        let executed = run(&mut new, "SELECT @@GLOBAL.gtid_executed").await;
        assert!(executed.contains(&format!("{ours}:1")), "{executed}");
        // The old source follows the new one, and both outlive a restart as what they are.
        change_source(&mut old, &follower, "").await;
        run(&mut old, "START REPLICA").await;
        wait_for(&mut old, &mut new).await;
        assert_eq!(run(&mut old, "SELECT COUNT(*) FROM d.t").await, "5");
        assert_eq!(status(&mut old, "Last_IO_Error").await, "");
        follower.shutdown().await.unwrap();
        let mut options = numbered(&other_dir, 2);
        let port = status(&mut old, "Source_Port").await;
        options.port = Some(port.parse().unwrap());
        let follower = Server::start(&options).await.unwrap();
        let mut new = connect(&follower, "root", "").await.unwrap();
        run(&mut new, "INSERT INTO d.t VALUES (6)").await;
        source.shutdown().await.unwrap();
        let source = Server::start(&numbered(&dir, 1)).await.unwrap();
        let mut old = connect(&source, "root", "").await.unwrap();
        wait_for(&mut old, &mut new).await;
        assert_eq!(run(&mut old, "SELECT COUNT(*) FROM d.t").await, "6");
        source.shutdown().await.unwrap();
        follower.shutdown().await.unwrap();
    });
}

#[test]
fn data_that_no_log_tells_is_not_overwritten() {
    test(async |dir| {
        let (source, other_dir) = (Server::start(&numbered(&dir, 1)).await.unwrap(), TestDir::new());
        let other = Server::start(&numbered(&other_dir, 2)).await.unwrap();
        let mut client = connect(&other, "root", "").await.unwrap();
        with_table(&mut client).await;
        run(&mut client, "RESET MASTER TO 5").await;
        assert_eq!(run(&mut client, "SHOW BINARY LOGS").await, "binlog.000005");
        assert_eq!(error_of(&mut client, "RESET MASTER TO 0").await, 1210);
        change_source(&mut client, &source, "").await;
        assert_eq!(error_of(&mut client, "START REPLICA").await, 1200);
        run(&mut client, "INSERT INTO d.t VALUES (4)").await;
        assert_eq!(run(&mut client, "SELECT COUNT(*) FROM d.t").await, "4");
        run(&mut client, "RESET REPLICA ALL").await;
        assert!(client.query("SHOW REPLICA STATUS").await.unwrap().rows.is_empty());
        other.shutdown().await.unwrap();
        source.shutdown().await.unwrap();
    });
}

#[test]
fn a_global_read_lock_stops_commits_and_nothing_else() {
    test(async |dir| {
        let server = Server::start(&dir.options()).await.unwrap();
        let mut holder = connect(&server, "root", "").await.unwrap();
        let mut writer = connect(&server, "root", "").await.unwrap();
        with_table(&mut holder).await;
        // A transaction that is open does not keep the lock from being taken.
        run(&mut writer, "SET lock_wait_timeout = 1").await;
        run(&mut writer, "BEGIN").await;
        run(&mut writer, "INSERT INTO d.t VALUES (4)").await;
        run(&mut holder, "FLUSH TABLES WITH READ LOCK").await;
        let position = run(&mut holder, "SHOW MASTER STATUS").await;
        assert_eq!(error_of(&mut holder, "INSERT INTO d.t VALUES (5)").await, 1223);
        assert_eq!(error_of(&mut holder, "CREATE TABLE d.u (a INT)").await, 1223);
        assert_eq!(error_of(&mut holder, "STOP REPLICA").await, 1192);
        assert_eq!(error_of(&mut holder, "START REPLICA").await, 1200, "it would wait for nobody");
        assert_eq!(error_of(&mut writer, "COMMIT").await, 1205);
        assert_eq!(error_of(&mut writer, "CREATE TABLE d.u (a INT)").await, 1205);
        let mut second = connect(&server, "root", "").await.unwrap();
        let id = run(&mut second, "SELECT CONNECTION_ID()").await;
        let waiting = tokio::spawn(async move { error_of(&mut second, "INSERT INTO d.t VALUES (6)").await });
        while !run(&mut holder, "SHOW PROCESSLIST").await.is_empty()
            && server
                .shared()
                .registry
                .show()
                .iter()
                .all(|shown| shown.info.as_deref() != Some("INSERT INTO d.t VALUES (6)"))
        {}
        run(&mut holder, &format!("KILL QUERY {id}")).await;
        assert_eq!(waiting.await.unwrap(), 1317, "who waits for the lock can be killed");
        // The snapshot that a backup takes under it outlives it.
        run(&mut holder, "START TRANSACTION WITH CONSISTENT SNAPSHOT").await;
        assert_eq!(run(&mut holder, "SHOW MASTER STATUS").await, position);
        assert_eq!(error_of(&mut holder, "INSERT INTO d.t VALUES (5)").await, 1223, "START TRANSACTION keeps the lock");
        run(&mut holder, "UNLOCK TABLES").await;
        run(&mut writer, "INSERT INTO d.t VALUES (7)").await;
        assert_eq!(run(&mut writer, "SELECT COUNT(*) FROM d.t").await, "4");
        // It ends with its session.
        run(&mut holder, "FLUSH TABLES WITH READ LOCK").await;
        drop(holder);
        run(&mut writer, "INSERT INTO d.t VALUES (8)").await;
        server.shutdown().await.unwrap();
    });
}
