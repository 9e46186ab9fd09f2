//! Whole servers on loopback, with our own client.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use session::client::{Client, ClientError};
use session::transport::StreamTransport;
use session::{Peer, Registry};
use wire::client::Credentials;

use crate::{ServeOptions, Server, ServerError};

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

type TestClient = Client<StreamTransport>;

async fn connect(server: &Server, user: &str, password: &str) -> Result<TestClient, ClientError> {
    let env = &server.shared().sql.env;
    let address = server.addresses()[0].to_string();
    let stream = env.network.connect(&address).await.unwrap();
    let credentials = Credentials { user: user.into(), password: password.into(), ..Credentials::default() };
    Client::connect(StreamTransport::new(stream, Peer::default()), &env.random, credentials).await
}

fn code(result: Result<TestClient, ClientError>) -> u16 {
    match result {
        Ok(_) => 0,
        Err(error) => error.refused().map_or(u16::MAX, |error| error.code),
    }
}

fn test(body: impl AsyncFnOnce(TestDir)) {
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
        assert_eq!(code(connect(&server, "root", "").await), 1040);
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
            Err(ServerError::Engine(error)) => assert!(error.to_string().contains("in use"), "{error}"),
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
