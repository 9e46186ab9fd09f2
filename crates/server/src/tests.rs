//! Whole servers on loopback, with our own client.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use session::client::{Client, ClientError};
use session::transport::StreamTransport;
use session::{Peer, Registry};
use wire::client::{Credentials, ServerKey};

use crate::{ServeOptions, Server, ServerError};

mod channels;
mod comparison;
mod deep;
mod files;
mod logs;
mod plans;
mod repair;
mod roles;
mod settings;
mod sums;
mod tables;

/// A data directory that goes with the test.
struct TestDir(PathBuf);

impl TestDir {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("commuter-test-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        TestDir(std::env::temp_dir().join(name))
    }

    fn options(&self) -> ServeOptions {
        ServeOptions {
            datadir: self.0.clone(),
            port: Some(0),
            initialize_insecure: true,
            set: vec!["innodb_buffer_pool_size=8M".into(), "memtable_size=8M".into()],
            ..ServeOptions::default()
        }
    }
}

impl Drop for TestDir {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

type TestClient = Client;

async fn connect(server: &Server, user: &str, password: &str) -> Result<TestClient, ClientError> {
    let env = &server.shared().sql.env;
    let address = server.addresses()[0].to_string();
    let stream = env.network.connect(&address).await.unwrap();
    let (user, password, server_key) = (user.into(), password.into(), ServerKey::Ask);
    let credentials = Credentials { user, password, server_key, ..Credentials::default() };
    Client::connect(Box::new(StreamTransport::new(stream, Peer::default())), &env.random, credentials).await
}

/// As root, as soon as a follower lets in: its accounts come with the log.
async fn connect_to_follower(follower: &Server) -> TestClient {
    loop {
        match connect(follower, "root", "").await {
            Ok(client) => return client,
            Err(error) => assert!(error.refused().is_some(), "{error}"),
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

fn code(result: Result<TestClient, ClientError>) -> u16 {
    match result {
        Ok(_) => 0,
        Err(error) => error.refused().map_or(u16::MAX, |error| error.code),
    }
}

/// The code that a statement is refused with; 0 if it is not.
async fn error_of(client: &mut TestClient, sql: &str) -> u16 {
    client.query(sql).await.err().and_then(|error| error.refused().map(|error| error.code)).unwrap_or_default()
}

/// Held by all tests, and by one that wants the processors for itself alone.
static PROCESSORS: RwLock<()> = RwLock::new(());

fn test(body: impl AsyncFnOnce(TestDir)) {
    let _shared = PROCESSORS.read().unwrap_or_else(PoisonError::into_inner);
    run(body);
}

/// For what is about who gets a processor: what other tests take of them would be part of the answer.
fn test_alone(body: impl AsyncFnOnce(TestDir)) {
    let _alone = PROCESSORS.write().unwrap_or_else(PoisonError::into_inner);
    run(body);
}

fn run(body: impl AsyncFnOnce(TestDir)) {
    crate::runtime(2).unwrap().block_on(body(TestDir::new()));
}

async fn settled(registry: &Registry, connected: u32) {
    while registry.connected() != connected {
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    }
}

#[test]
fn root_without_a_password() {
    test(async |dir| {
        let server = Server::start(&dir.options()).await.unwrap();
        let client = connect(&server, "root", "").await.unwrap();
        assert_eq!(client.server_version(), crate::VERSION);
        assert_eq!(code(connect(&server, "root", "wrong").await), 1045);
        assert_eq!(code(connect(&server, "nobody", "").await), 1045);
        client.quit().await.unwrap();
        settled(&server.shared().registry, 0).await;
        server.shutdown().await.unwrap();
    });
}

#[test]
fn root_with_a_password_by_every_path() {
    test(async |dir| {
        let options = ServeOptions { root_password: Some("se'cret".into()), ..dir.options() };
        let server = Server::start(&options).await.unwrap();
        assert_eq!(code(connect(&server, "root", "").await), 1045);
        assert_eq!(code(connect(&server, "root", "secret").await), 1045, "full path, under the RSA key");
        assert_eq!(code(connect(&server, "root", "se'cret").await), 0, "full path, under the RSA key");
        assert_eq!(code(connect(&server, "root", "se'cret").await), 0, "fast path");
        assert_eq!(code(connect(&server, "root", "secret").await), 1045);
        server.shutdown().await.unwrap();
    });
}

#[test]
fn without_a_word_nobody_gets_in_over_tcp() {
    test(async |dir| {
        let options = ServeOptions { initialize_insecure: false, ..dir.options() };
        let server = Server::start(&options).await.unwrap();
        assert_eq!(code(connect(&server, "root", "").await), 1045);
        server.shutdown().await.unwrap();
    });
}

#[test]
fn too_many_connections() {
    test(async |dir| {
        let mut options = dir.options();
        options.set.push("max_connections=1".into());
        let server = Server::start(&options).await.unwrap();
        let first = connect(&server, "root", "").await.unwrap();
        // One more is for an administrator, who can make room.
        let mut second = connect(&server, "root", "").await.unwrap();
        assert_eq!(code(connect(&server, "root", "").await), 1040);
        second.query("CREATE USER u").await.unwrap();
        second.quit().await.unwrap();
        settled(&server.shared().registry, 1).await;
        assert_eq!(code(connect(&server, "u", "").await), 1040);
        first.quit().await.unwrap();
        settled(&server.shared().registry, 0).await;
        assert_eq!(code(connect(&server, "root", "").await), 0);
        server.shutdown().await.unwrap();
    });
}

#[test]
fn a_second_server_is_refused() {
    test(async |dir| {
        let server = Server::start(&dir.options()).await.unwrap();
        match Server::start(&dir.options()).await {
            Err(error @ ServerError::Data { .. }) => assert!(error.to_string().contains("in use"), "{error}"),
            other => panic!("{:?}", other.err()),
        }
        server.shutdown().await.unwrap();
    });
}

#[test]
fn a_shutdown_ends_connections() {
    test(async |dir| {
        let server = Server::start(&dir.options()).await.unwrap();
        let mut client = connect(&server, "root", "").await.unwrap();
        server.shutdown().await.unwrap();
        assert!(client.query("SELECT 1").await.is_err());
    });
}

#[test]
fn statements_by_text() {
    test(async |dir| {
        let server = Server::start(&dir.options()).await.unwrap();
        let mut client = connect(&server, "root", "").await.unwrap();
        for sql in [
            "CREATE DATABASE d",
            "CREATE TABLE d.t (a INT PRIMARY KEY, b VARCHAR(20))",
            "INSERT INTO d.t VALUES (1, 'x'), (2, NULL)",
        ] {
            client.query(sql).await.unwrap();
        }
        let result = client.query("SELECT * FROM d.t ORDER BY a").await.unwrap();
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(result.rows, [[text("1"), text("x")], [text("2"), None]]);
        let error = client.query("INSERT INTO d.t VALUES (1, 'y')").await.unwrap_err();
        assert_eq!(error.refused().map(|error| error.code), Some(1062));
        assert_eq!(client.query("SELECT COUNT(*) FROM d.t").await.unwrap().first(), Some("2"));
        server.shutdown().await.unwrap();
    });
}

#[test]
fn a_large_result_is_streamed() {
    test(async |dir| {
        let server = Server::start(&dir.options()).await.unwrap();
        let mut client = connect(&server, "root", "").await.unwrap();
        client.query("CREATE DATABASE d").await.unwrap();
        client.query("CREATE TABLE d.t (a INT PRIMARY KEY, b VARCHAR(2000))").await.unwrap();
        for first in (0..2000).step_by(500) {
            let rows: Vec<String> = (first..first + 500).map(|n| format!("({n}, REPEAT('x', 2000))")).collect();
            client.query(&format!("INSERT INTO d.t VALUES {}", rows.join(","))).await.unwrap();
        }
        let (mut rows, mut bytes) = (0, 0);
        let count = |row: &[Option<&[u8]>]| {
            rows += 1;
            bytes += row[1].map_or(0, <[u8]>::len);
        };
        client.query_rows("SELECT * FROM d.t", count).await.unwrap();
        assert_eq!((rows, bytes), (2000, 4_000_000));
        server.shutdown().await.unwrap();
    });
}

#[test]
fn kill_ends_a_statement_and_a_connection() {
    test(async |dir| {
        let server = Server::start(&dir.options()).await.unwrap();
        let mut killer = connect(&server, "root", "").await.unwrap();
        let mut victim = connect(&server, "root", "").await.unwrap();
        let id: u64 = victim.query("SELECT CONNECTION_ID()").await.unwrap().first().unwrap().parse().unwrap();
        let sleep = tokio::spawn(async move {
            let result = victim.query("SELECT SLEEP(30)").await.unwrap();
            (victim, result)
        });
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        killer.query(&format!("KILL QUERY {id}")).await.unwrap();
        let (mut victim, result) = sleep.await.unwrap();
        assert_eq!(result.first(), Some("1"), "SLEEP says that it was interrupted");
        killer.query(&format!("KILL {id}")).await.unwrap();
        assert!(victim.query("SELECT 1").await.is_err());
        server.shutdown().await.unwrap();
    });
}

/// Statements that compute share the threads with everybody: more of them than there are threads shut nobody out.
#[test]
fn statements_that_never_wait_leave_room_for_others() {
    test_alone(async |dir| {
        let server = Server::start(&dir.options()).await.unwrap();
        let mut client = connect(&server, "root", "").await.unwrap();
        client.query("CREATE DATABASE d").await.unwrap();
        client.query("CREATE TABLE d.t (a INT PRIMARY KEY)").await.unwrap();
        let rows: Vec<String> = (0..2000).map(|n| format!("({n})")).collect();
        client.query(&format!("INSERT INTO d.t VALUES {}", rows.join(","))).await.unwrap();
        let long = [
            "SELECT COUNT(*) FROM d.t a, d.t b, d.t c WHERE a.a < b.a AND b.a < c.a",
            "SELECT a.a + b.a + c.a FROM d.t a, d.t b, d.t c ORDER BY 1 LIMIT 1",
            "SELECT SUM(a.a * b.a) FROM d.t a, d.t b, d.t c GROUP BY c.a % 7",
            "INSERT INTO d.t SELECT a.a + b.a + c.a + 5000 FROM d.t a, d.t b, d.t c WHERE a.a + b.a + c.a < 0",
        ];
        let mut running = Vec::new();
        for sql in long {
            let mut busy = connect(&server, "root", "").await.unwrap();
            let id = busy.query("SELECT CONNECTION_ID()").await.unwrap().first().unwrap().to_owned();
            running.push((id, tokio::spawn(async move { busy.query(sql).await.map(drop) })));
        }
        for _ in 0..5 {
            let mut other = connect(&server, "root", "").await.unwrap();
            assert_eq!(other.query("SELECT COUNT(*) FROM d.t").await.unwrap().first(), Some("2000"));
        }
        // Those were answered before the long ones had ended, which take hours.
        assert!(running.iter().all(|(_, running)| !running.is_finished()));
        for (id, running) in running {
            client.query(&format!("KILL QUERY {id}")).await.unwrap();
            let error = running.await.unwrap().unwrap_err();
            assert_eq!(error.refused().map(|error| error.code), Some(1317));
        }
        server.shutdown().await.unwrap();
    });
}

#[test]
fn what_was_committed_is_there_after_a_restart() {
    test(async |dir| {
        let server = Server::start(&dir.options()).await.unwrap();
        let mut client = connect(&server, "root", "").await.unwrap();
        client.query("CREATE DATABASE d").await.unwrap();
        client.query("CREATE TABLE d.t (a INT PRIMARY KEY)").await.unwrap();
        client.query("INSERT INTO d.t VALUES (1), (2), (3)").await.unwrap();
        server.shutdown().await.unwrap();
        let server = Server::start(&dir.options()).await.unwrap();
        let mut client = connect(&server, "root", "").await.unwrap();
        assert_eq!(client.query("SELECT COUNT(*) FROM d.t").await.unwrap().first(), Some("3"));
        server.shutdown().await.unwrap();
    });
}

#[test]
fn a_follower_has_what_its_source_has() {
    test(async |dir| {
        let source = Server::start(&dir.options()).await.unwrap();
        let follower_dir = TestDir::new();
        let mut options = follower_dir.options();
        options.follow = Some(crate::url::ServerUrl::loopback(source.addresses()[0].port()));
        options.server_id = Some(2);
        let follower = Server::start(&options).await.unwrap();
        let mut client = connect(&source, "root", "").await.unwrap();
        client.query("CREATE DATABASE d").await.unwrap();
        client.query("CREATE TABLE d.t (a INT PRIMARY KEY)").await.unwrap();
        client.query("INSERT INTO d.t VALUES (1), (2), (3)").await.unwrap();
        let set = client.query("SELECT @@GLOBAL.gtid_executed").await.unwrap();
        let mut reader = loop {
            // root comes with the source's log.
            match connect(&follower, "root", "").await {
                Ok(reader) => break reader,
                Err(_) => tokio::time::sleep(std::time::Duration::from_millis(5)).await,
            }
        };
        let wait = format!("SELECT WAIT_FOR_EXECUTED_GTID_SET('{}', 10)", set.first().unwrap());
        assert_eq!(reader.query(&wait).await.unwrap().first(), Some("0"));
        assert_eq!(reader.query("SELECT COUNT(*) FROM d.t").await.unwrap().first(), Some("3"));
        let error = reader.query("INSERT INTO d.t VALUES (4)").await.unwrap_err();
        assert_eq!(error.refused().map(|error| error.code), Some(1290));
        follower.shutdown().await.unwrap();
        source.shutdown().await.unwrap();
    });
}
