//! A server's life: first start, second start, clean end, SIGKILL, passwords.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use interop::{Client, Server, ServerOptions, commuter_binary, free_port, python};

#[test]
fn clean_restart_and_second_server() {
    let mut server = Server::start("life", ServerOptions::default()).unwrap();
    server
        .client()
        .query("CREATE DATABASE d; CREATE TABLE d.t (a INT PRIMARY KEY); INSERT INTO d.t VALUES (1), (2)")
        .unwrap();

    let second = Command::new(commuter_binary().unwrap())
        .args(["serve", "--port", "0", "--datadir"])
        .arg(server.folder())
        .output()
        .unwrap();
    assert!(!second.status.success(), "a second server on the same folder is refused");

    let took = server.stop().unwrap();
    assert!(took < Duration::from_secs(10), "a clean shutdown takes seconds: {took:?}");
    server.restart().unwrap();
    assert_eq!(server.client().query("SELECT SUM(a) FROM d.t").unwrap(), "3\n");

    server.client().query("INSERT INTO d.t VALUES (3)").unwrap();
    server.kill();
    server.restart().unwrap();
    assert_eq!(server.client().query("SELECT SUM(a) FROM d.t").unwrap(), "6\n");
}

#[test]
fn root_has_to_have_a_password_over_tcp() {
    let server = Server::start("life-password", ServerOptions::default()).unwrap();
    let client = server.client();
    client.query("ALTER USER 'root'@'localhost' IDENTIFIED BY 'pw'").unwrap();
    assert!(client.query("SELECT 1").unwrap_err().contains("1045"));
    // The socket knows who root is.
    let socket = Client::socket(server.folder().join("sock"));
    assert_eq!(socket.query("SELECT 1").unwrap(), "1\n");
}

/// Kills the process when the test ends, however it ends.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_first_start_without_a_word_is_for_the_socket() {
    let folder = std::env::temp_dir().join(format!("commuter-first-{}", std::process::id()));
    let port = free_port();
    let mut command = Command::new(commuter_binary().unwrap());
    command.args(["serve", "--port", &port.to_string(), "--datadir"]).arg(&folder);
    let server = Killed(command.stderr(Stdio::null()).spawn().unwrap());
    let socket = Client::socket(folder.join("commuter.sock"));
    let start = Instant::now();
    while let Err(error) = socket.query("SELECT 1") {
        assert!(start.elapsed() < Duration::from_secs(30), "{error}");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(Client::tcp(port).query("SELECT 1").unwrap_err().contains("1045"));
    socket.query("ALTER USER root@localhost IDENTIFIED BY ''").unwrap();
    assert!(Client::tcp(port).query("SELECT 1").unwrap_err().contains("1045"), "an empty password is none");
    socket.query("ALTER USER root@localhost IDENTIFIED BY 'pw'").unwrap();
    let login = "import pymysql, sys; \
                 pymysql.connect(host='127.0.0.1', port=int(sys.argv[1]), user='root', password='pw').ping()";
    python(login, &[&port.to_string()]).unwrap();
    assert_eq!(socket.query("SELECT 1").unwrap(), "1\n", "the socket still knows who root is");
    drop(server);
    let _ = std::fs::remove_dir_all(&folder);
}

#[test]
fn version_and_unknown_setting() {
    let output = Command::new(commuter_binary().unwrap()).arg("version").output().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("8.4.0-commuter-"));
    let folder = std::env::temp_dir().join(format!("commuter-life-{}", std::process::id()));
    let output = Command::new(commuter_binary().unwrap())
        .args(["serve", "--port", "0", "--set", "sync_binlgo=1", "--datadir"])
        .arg(&folder)
        .output()
        .unwrap();
    let _ = std::fs::remove_dir_all(&folder);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && errors.contains("sync_binlog"), "suggests the nearest: {errors}");
}
