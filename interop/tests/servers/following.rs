//! Followers as whole servers: copies of the log, statements that control them, restarts, what they refuse.

use interop::{Client, Server, ServerOptions, until};

/// Every file of the log that is listed, up to where it ends.
fn log_bytes(server: &Server) -> Vec<(String, Vec<u8>)> {
    let listed = server.client().query("SHOW BINARY LOGS").unwrap();
    let files = listed.lines().map(|line| {
        let mut columns = line.split('\t');
        let (name, size) = (columns.next().unwrap(), columns.next().unwrap().parse::<usize>().unwrap());
        let mut bytes = std::fs::read(server.folder().join(name)).unwrap();
        bytes.truncate(size);
        // LOG_EVENT_BINLOG_IN_USE_F, in the flags of the first event: the live file of a server has it.
        bytes[4 + 17] &= !1;
        (name.to_owned(), bytes)
    });
    files.collect()
}

fn assert_same_log(source: &Server, follower: &Server) {
    for ((name, ours), (copy_name, theirs)) in log_bytes(source).into_iter().zip(log_bytes(follower)) {
        assert_eq!(name, copy_name);
        assert!(ours == theirs, "{name}: {} bytes, the copy {} bytes", ours.len(), theirs.len());
    }
}

/// A column of SHOW REPLICA STATUS.
fn status_column(client: &Client, column: &str) -> String {
    client.column("SHOW REPLICA STATUS", column).unwrap()
}

#[test]
fn a_chain_of_followers_holds_the_same_bytes() {
    let source = Server::start("chain-source", ServerOptions::default()).unwrap();
    let setup = "CREATE DATABASE d; CREATE TABLE d.t (id INT AUTO_INCREMENT PRIMARY KEY, s VARCHAR(200), KEY (s))";
    source.client().query(setup).unwrap();
    let middle = source.start_follower("chain-middle").unwrap();
    let mut last = middle.start_follower("chain-last").unwrap();
    let rows = "INSERT INTO d.t (s) VALUES ('one'), ('two'), ('three'); UPDATE d.t SET s = CONCAT(s, '!') WHERE id < 3;\
                FLUSH BINARY LOGS; DELETE FROM d.t WHERE id = 1; ALTER TABLE d.t ADD COLUMN n INT DEFAULT 7;\
                INSERT INTO d.t (s, n) VALUES ('four', 4)";
    source.client().query(rows).unwrap();
    source.wait_until_in_step(&middle).unwrap();
    source.wait_until_in_step(&last).unwrap();
    assert_same_log(&source, &middle);
    assert_same_log(&source, &last);
    assert_eq!(last.client().query("SELECT * FROM d.t").unwrap(), "2\ttwo!\t7\n3\tthree\t7\n4\tfour\t4\n");
    let (same, text) = last.has_rows_of(&source).unwrap();
    assert!(same && text.contains("d.t"), "{text}");

    // The middle is who the last one knows, and who serves it while its own source is asleep.
    let replicas = middle.client().query("SHOW REPLICAS").unwrap();
    assert!(replicas.contains(&last.port().to_string()), "{replicas}");
    last.kill();
    source.client().query("INSERT INTO d.t (s) SELECT CONCAT(s, n) FROM d.t").unwrap();
    source.wait_until_in_step(&middle).unwrap();
    last.restart().unwrap();
    source.wait_until_in_step(&last).unwrap();
    assert_same_log(&source, &last);
}

#[test]
fn statements_control_a_follower() {
    let mut source = Server::start("control-source", ServerOptions::default()).unwrap();
    let follower = source.start_follower("control-follower").unwrap();
    source
        .client()
        .query("CREATE DATABASE d; CREATE TABLE d.t (id INT PRIMARY KEY); INSERT INTO d.t VALUES (1)")
        .unwrap();
    source.wait_until_in_step(&follower).unwrap();
    let client = follower.client();
    assert_eq!(status_column(&client, "Replica_IO_Running"), "Yes");
    assert_eq!(status_column(&client, "Replica_SQL_Running"), "Yes");
    assert_eq!(status_column(&client, "Source_Port"), source.port().to_string());
    // A follower's data is its source's.
    let refused = client.query("INSERT INTO d.t VALUES (99)").unwrap_err();
    assert!(refused.contains("1290"), "{refused}");

    // Copied, not applied: the log goes on while the rows stand still.
    client.query("STOP REPLICA SQL_THREAD").unwrap();
    source.client().query("INSERT INTO d.t VALUES (2)").unwrap();
    let position = |server: &Server| server.client().query("SHOW BINARY LOG STATUS").unwrap();
    let end_of = |text: String| text.split('\t').take(2).map(str::to_owned).collect::<Vec<_>>();
    until("the copy", || status_column(&client, "Read_Source_Log_Pos") == end_of(position(&source))[1]);
    assert_eq!(client.query("SELECT MAX(id) FROM d.t").unwrap(), "1\n");
    client.query("START REPLICA SQL_THREAD").unwrap();
    source.wait_until_in_step(&follower).unwrap();
    // Applied, not copied.
    client.query("STOP SLAVE IO_THREAD").unwrap();
    source.client().query("INSERT INTO d.t VALUES (3)").unwrap();
    assert_eq!(status_column(&client, "Replica_IO_Running"), "No");
    assert_eq!(client.query("SELECT MAX(id) FROM d.t").unwrap(), "2\n");
    client.query("START SLAVE IO_THREAD").unwrap();
    source.wait_until_in_step(&follower).unwrap();

    // The source's end and return need no help.
    source.kill();
    until("the end of the connection", || status_column(&client, "Replica_IO_Running") == "Connecting");
    assert_eq!(client.query("SELECT COUNT(*) FROM d.t").unwrap(), "3\n");
    source.restart().unwrap();
    source.client().query("INSERT INTO d.t VALUES (4)").unwrap();
    source.wait_until_in_step(&follower).unwrap();
    assert_same_log(&source, &follower);
}

#[test]
fn a_log_that_is_no_prefix_is_refused_with_both_ends() {
    let first = Server::start("prefix-first", ServerOptions::default()).unwrap();
    let second = Server::start("prefix-second", ServerOptions::default()).unwrap();
    for (server, name) in [(&first, "a"), (&second, "b")] {
        server.client().query(&format!("CREATE DATABASE {name}; CREATE TABLE {name}.t (id INT PRIMARY KEY)")).unwrap();
    }
    let follower = first.start_follower("prefix-follower").unwrap();
    first.wait_until_in_step(&follower).unwrap();
    let client = follower.client();
    let change = format!("STOP REPLICA; CHANGE REPLICATION SOURCE TO SOURCE_PORT = {}; START REPLICA", second.port());
    client.query(&change).unwrap();
    until("the refusal", || status_column(&client, "Replica_IO_Running") == "No");
    let error = status_column(&client, "Last_IO_Error");
    assert!(error.contains("prefix") && error.matches("binlog.000001").count() >= 2, "{error}");
    assert_eq!(client.query("SHOW DATABASES LIKE 'a'").unwrap(), "a\n", "it has what it had");
    assert_eq!(client.query("SHOW DATABASES LIKE 'b'").unwrap(), "");
}

#[test]
fn purging_leaves_what_a_connected_replica_needs() {
    let source = Server::start("purge-source", ServerOptions::default()).unwrap();
    source.client().query("CREATE DATABASE d; CREATE TABLE d.t (id INT PRIMARY KEY)").unwrap();
    let follower = source.start_follower("purge-follower").unwrap();
    source.wait_until_in_step(&follower).unwrap();
    let files = |server: &Server| server.client().query("SHOW BINARY LOGS").unwrap().lines().count();
    for id in 0..4 {
        source.client().query(&format!("INSERT INTO d.t VALUES ({id}); FLUSH BINARY LOGS")).unwrap();
    }
    source.wait_until_in_step(&follower).unwrap();
    // Everything is in a checkpoint after a clean restart's; by then the replica is past it too.
    assert!(files(&source) >= 5);
    source.client().query("FLUSH TABLES; PURGE BINARY LOGS TO 'binlog.000004'").unwrap();
    source.client().query("INSERT INTO d.t VALUES (10)").unwrap();
    source.wait_until_in_step(&follower).unwrap();
    let (same, text) = follower.has_rows_of(&source).unwrap();
    assert!(same, "{text}");
}

/// The end of a file and the head of the next one are no transactions, and leave nothing to do.
#[test]
fn a_new_file_without_transactions_is_no_lag() {
    let source = Server::start("no-lag-source", ServerOptions::default()).unwrap();
    source.client().query("CREATE DATABASE d; CREATE TABLE d.t (id INT PRIMARY KEY)").unwrap();
    let follower = source.start_follower("no-lag-follower").unwrap();
    source.wait_until_in_step(&follower).unwrap();
    source.client().query("FLUSH BINARY LOGS").unwrap();
    let (from, to) = (source.client(), follower.client());
    let end = |column| from.column("SHOW BINARY LOG STATUS", column).unwrap();
    let (file, position) = (end("File"), end("Position"));
    until("the place behind the new file's head", || {
        status_column(&to, "Relay_Source_Log_File") == file && status_column(&to, "Exec_Source_Log_Pos") == position
    });
    std::thread::sleep(std::time::Duration::from_millis(1100));
    assert_eq!(status_column(&to, "Seconds_Behind_Source"), "0");
    let lag = "SELECT TRANSACTIONS, EVENT_BYTES, SECONDS FROM performance_schema.replication_lag";
    assert_eq!(to.query(lag).unwrap(), "0\t0\t0\n");
    to.query("STOP REPLICA").unwrap();
    assert_eq!(status_column(&to, "Exec_Source_Log_Pos"), position);
}

/// A last file that was emptied takes its transactions with it: the follower says so, and fetches them again.
#[test]
fn an_emptied_file_is_told_of() {
    let source = Server::start("emptied-source", ServerOptions::default()).unwrap();
    source.client().query("CREATE DATABASE d; CREATE TABLE d.t (id INT PRIMARY KEY); FLUSH BINARY LOGS").unwrap();
    source.client().query("INSERT INTO d.t VALUES (1)").unwrap();
    let mut follower = source.start_follower("emptied-follower").unwrap();
    source.wait_until_in_step(&follower).unwrap();
    let last = source.client().column("SHOW BINARY LOG STATUS", "File").unwrap();
    follower.kill();
    let file = std::fs::OpenOptions::new().write(true).open(follower.folder().join(&last)).unwrap();
    file.set_len(0).unwrap();
    drop(file);
    follower.restart().unwrap();
    let log = follower.log();
    assert!(
        log.lines().any(|line| line.contains("WARN") && line.contains(&last) && line.contains("is empty")),
        "{log}"
    );
    source.wait_until_in_step(&follower).unwrap();
    assert_eq!(follower.client().query("SELECT * FROM d.t").unwrap(), "1\n");
    assert_same_log(&source, &follower);
}
