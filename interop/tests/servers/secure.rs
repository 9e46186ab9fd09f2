//! Replication whose connection nobody can read or answer in the source's place: TLS, its certificates, the RSA key.

use std::process::Command;
use std::time::Duration;

use interop::{Client, Kind, Peer, Server, ServerOptions, commuter_binary, until};

const ACCOUNT: &str = "CREATE USER 'repl'@'%' IDENTIFIED BY 's3cret'; GRANT REPLICATION SLAVE ON *.* TO 'repl'@'%'";

/// A source with an account that has a password; `only_tls`: nobody else gets in over TCP.
fn source(name: &str, arguments: &[&str]) -> Server {
    let arguments = arguments.iter().map(|&argument| argument.to_owned()).collect();
    let server = Server::start(name, ServerOptions { arguments, ..ServerOptions::default() }).unwrap();
    let setup = "CREATE DATABASE d; CREATE TABLE d.t (id INT PRIMARY KEY); INSERT INTO d.t VALUES (1)";
    server.client().query(&format!("{ACCOUNT}; {setup}")).unwrap();
    server
}

/// From here on nobody gets in over TCP without TLS; root still does over the socket.
fn require_tls(server: &Server) -> Client {
    let socket = Client::socket(server.folder().join("sock"));
    socket.query("SET GLOBAL require_secure_transport = ON").unwrap();
    assert!(server.client().query("SELECT 1").unwrap_err().contains("3159"));
    socket
}

/// An empty server that is to follow, asked over its socket: the log that it copies has the accounts.
fn follower(name: &str, source: &Server, options: &str) -> (Server, Client) {
    let server = Server::start(name, ServerOptions::default()).unwrap();
    let socket = Client::socket(server.folder().join("sock"));
    let change = format!(
        "RESET BINARY LOGS AND GTIDS; CHANGE REPLICATION SOURCE TO SOURCE_HOST = '127.0.0.1', SOURCE_PORT = {}, \
         SOURCE_USER = 'repl', SOURCE_PASSWORD = 's3cret', SOURCE_CONNECT_RETRY = 1, {options}; START REPLICA",
        source.port()
    );
    socket.query(&change).unwrap();
    (server, socket)
}

fn status(client: &Client, column: &str) -> String {
    client.column("SHOW REPLICA STATUS", column).unwrap_or_default()
}

fn until_error(client: &Client, number: &str, text: &str) {
    until(text, || status(client, "Last_IO_Errno") == number && status(client, "Last_IO_Error").contains(text));
    assert_eq!(status(client, "Replica_IO_Running"), "Connecting", "it goes on trying");
}

fn until_in_step(source: &Client, follower: &Client) {
    let rows = |client: &Client| client.query("SELECT COUNT(*) FROM d.t").unwrap_or_default();
    until("the copy", || rows(source) == rows(follower));
    assert_eq!(status(follower, "Last_IO_Error"), "");
}

#[test]
fn a_follower_over_tls_and_a_certificate_that_is_not_trusted_until_it_is() {
    let source = source("tls-source", &[]);
    let root = require_tls(&source);
    // Without TLS the source refuses; with TLS the password goes through it, without any RSA key.
    let (server, client) = follower("tls-follower", &source, "SOURCE_SSL = 0");
    until_error(&client, "3159", "insecure transport");
    client.query("STOP REPLICA; CHANGE REPLICATION SOURCE TO SOURCE_SSL = 1; START REPLICA").unwrap();
    until_in_step(&root, &client);
    assert_eq!(status(&client, "Source_SSL_Allowed"), "Yes");

    // The follower's own authority has not signed the source's certificate. A relative path is in the data directory.
    client.query("STOP REPLICA; CHANGE MASTER TO MASTER_SSL_CA = 'ca.pem'; START SLAVE").unwrap();
    until_error(&client, "2026", "invalid peer certificate");
    assert_eq!(status(&client, "Source_SSL_CA_File"), "ca.pem");
    root.query("INSERT INTO d.t VALUES (2)").unwrap();
    // Mended, without a word to the server: the next attempt reads the file anew.
    std::fs::copy(source.folder().join("ca.pem"), server.folder().join("ca.pem")).unwrap();
    until_in_step(&root, &client);

    let verify = "STOP REPLICA; CHANGE REPLICATION SOURCE TO SOURCE_SSL_VERIFY_SERVER_CERT = 1; START REPLICA";
    client.query(verify).unwrap();
    root.query("INSERT INTO d.t VALUES (3)").unwrap();
    until_in_step(&root, &client);
    assert_eq!(status(&client, "Source_SSL_Verify_Server_Cert"), "Yes");
    // The certificate names 127.0.0.1 and localhost, no other.
    client.query("STOP REPLICA; CHANGE REPLICATION SOURCE TO SOURCE_SSL_CA = 'nosuch.pem'; START REPLICA").unwrap();
    until_error(&client, "2026", "nosuch.pem");
    client.query("STOP REPLICA; CHANGE REPLICATION SOURCE TO SOURCE_SSL_CA = ''; START REPLICA").unwrap();
    until_error(&client, "2026", "CA certificate is required");
}

#[test]
fn another_hosts_certificate_is_refused_where_identity_counts() {
    let source = source("tls-name-source", &["--bind", "0.0.0.0"]);
    let ca = source.folder().join("ca.pem").display().to_string();
    let options = format!("SOURCE_SSL = 1, SOURCE_SSL_CA = '{ca}', SOURCE_SSL_VERIFY_SERVER_CERT = 1");
    let (_server, client) = follower("tls-name-follower", &source, &options);
    until_in_step(&source.client(), &client);
    // All of 127/8 is this machine, and 127.0.0.9 is not in the certificate.
    let change = format!(
        "STOP REPLICA; CHANGE REPLICATION SOURCE TO SOURCE_HOST = '127.0.0.9', SOURCE_PORT = {}; START REPLICA",
        source.port()
    );
    client.query(&change).unwrap();
    until_error(&client, "2026", "not valid for name");
    let ca_only = "STOP REPLICA; CHANGE REPLICATION SOURCE TO SOURCE_SSL_VERIFY_SERVER_CERT = 0; START REPLICA";
    client.query(ca_only).unwrap();
    source.client().query("INSERT INTO d.t VALUES (2)").unwrap();
    until_in_step(&source.client(), &client);
}

#[test]
fn a_password_on_an_open_stream_needs_the_sources_key() {
    let source = source("key-source", &[]);
    let (_server, client) = follower("key-follower", &source, "GET_SOURCE_PUBLIC_KEY = 0");
    until_error(&client, "2061", "Authentication requires secure connection");
    assert_eq!(status(&client, "Get_Source_public_key"), "0");
    // A key that is somebody else's is of no use to the source.
    let own_key = "STOP REPLICA; CHANGE REPLICATION SOURCE TO SOURCE_PUBLIC_KEY_PATH = 'nosuch.pem'; START REPLICA";
    client.query(own_key).unwrap();
    until_error(&client, "2061", "nosuch.pem");
    // The source makes its key when it is first asked for one.
    client
        .query("STOP REPLICA; CHANGE REPLICATION SOURCE TO SOURCE_PUBLIC_KEY_PATH = '', GET_SOURCE_PUBLIC_KEY = 1")
        .unwrap();
    client.query("START REPLICA").unwrap();
    until_in_step(&source.client(), &client);
    assert_eq!(status(&client, "Get_Source_public_key"), "1");
    // FLUSH PRIVILEGES forgets the digest of the fast path, so that the password is asked for again.
    source.client().query("FLUSH PRIVILEGES; INSERT INTO d.t VALUES (2)").unwrap();
    let path = source.folder().join("public_key.pem").display().to_string();
    let known = format!(
        "STOP REPLICA; CHANGE MASTER TO MASTER_PUBLIC_KEY_PATH = '{path}', GET_MASTER_PUBLIC_KEY = 0; START REPLICA"
    );
    client.query(&known).unwrap();
    until_in_step(&source.client(), &client);
    assert_eq!(status(&client, "Source_public_key_path"), path);
}

#[test]
fn the_command_line_names_tls_as_mysqls_urls_do() {
    let source = source("tls-url-source", &[]);
    let root = require_tls(&source);
    let ca = source.folder().join("ca.pem").display().to_string();
    let url = format!("mysql://repl:s3cret@127.0.0.1:{}?ssl-mode=VERIFY_IDENTITY&ssl-ca={ca}", source.port());
    let arguments = vec!["--follow".to_owned(), url];
    // Its root is the source's, without a password; it lets in whom it lets in, over TCP.
    let server = Server::start("tls-url-follower", ServerOptions { arguments, ..ServerOptions::default() }).unwrap();
    let client = Client::socket(server.folder().join("sock"));
    until_in_step(&root, &client);
    assert_eq!(status(&client, "Source_SSL_CA_File"), ca);
    let refused = Command::new(commuter_binary().unwrap())
        .args(["serve", "--port", "0", "--follow", "mysql://h?ssl-mode=PREFERRED", "--datadir"])
        .arg(server.folder().with_extension("none"))
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && error.contains("does not fall back"), "{error}");
    let _ = std::fs::remove_dir_all(server.folder().with_extension("none"));
    // The tools, too.
    let checksum = |query: &str| {
        let url = format!("mysql://root@127.0.0.1:{}?{query}", source.port());
        Command::new(commuter_binary().unwrap()).args(["checksum", &url]).output().unwrap()
    };
    let encrypted = checksum("");
    assert!(encrypted.status.success(), "{}", String::from_utf8_lossy(&encrypted.stderr));
    let open = checksum("ssl-mode=DISABLED");
    let error = String::from_utf8_lossy(&open.stderr).into_owned();
    assert!(!open.status.success() && error.contains("insecure transport"), "{error}");
}

#[test]
fn our_tls_and_mysqls() {
    let peer = Peer::start(Kind::Mysql97, "tls", Duration::ZERO, &[]).unwrap();
    let account = "CREATE USER 'ada'@'%' IDENTIFIED BY 's3cret' REQUIRE SSL; GRANT ALL ON *.* TO 'ada'@'%'";
    peer.client().query(account).unwrap();
    let ca = peer.folder().join("ca.pem").display().to_string();
    let checksum = |query: &str| {
        let url = format!("mysql://ada:s3cret@127.0.0.1:{}/sbtest?{query}", peer.port());
        Command::new(commuter_binary().unwrap()).args(["checksum", &url]).output().unwrap()
    };
    for query in ["ssl-mode=REQUIRED".to_owned(), format!("ssl-ca={ca}")] {
        let output = checksum(&query);
        assert!(output.status.success(), "{query}: {}", String::from_utf8_lossy(&output.stderr));
    }
    let output = checksum("ssl-mode=DISABLED");
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && error.contains("1045"), "{error}");
}
