//! `SET GLOBAL` has its effect while the server runs.

use super::*;

pub(super) async fn started(dir: &TestDir) -> (Server, TestClient) {
    let server = Server::start(&dir.options()).await.unwrap();
    let mut client = connect(&server, "root", "").await.unwrap();
    for statement in ["CREATE DATABASE d", "CREATE TABLE d.t (id INT AUTO_INCREMENT PRIMARY KEY, x LONGTEXT)"] {
        client.query(statement).await.unwrap();
    }
    (server, client)
}

pub(super) const INSERT: &str = "INSERT INTO d.t (x) VALUES (REPEAT('x', 10000))";

/// The first value of the last row.
pub(super) async fn last(client: &mut TestClient, query: &str) -> String {
    let rows = client.query(query).await.unwrap().rows;
    rows.last().unwrap()[0].clone().unwrap()
}

#[test]
fn max_binlog_size() {
    test(async |dir| {
        let (server, mut client) = started(&dir).await;
        client.query("SET GLOBAL max_binlog_size = 4096").await.unwrap();
        // A file is the last one's successor as soon as it is prepared, which is not waited for.
        while last(&mut client, "SHOW BINARY LOGS").await.as_str() < "binlog.000004" {
            client.query(INSERT).await.unwrap();
        }
        server.shutdown().await.unwrap();
    });
}

#[test]
fn what_is_given_at_the_start_counts() {
    test(async |dir| {
        let mut options = dir.options();
        options.set.push("temptable_max_ram=2M".to_owned());
        let server = Server::start(&options).await.unwrap();
        let mut client = connect(&server, "root", "").await.unwrap();
        client.query("CREATE DATABASE d").await.unwrap();
        client.query("CREATE TEMPORARY TABLE d.t (x LONGTEXT)").await.unwrap();
        assert_eq!(error_of(&mut client, "INSERT INTO d.t VALUES (REPEAT('x', 3000000))").await, 1114);
        server.shutdown().await.unwrap();
    });
}

#[test]
fn max_binlog_cache_size() {
    test(async |dir| {
        let (server, mut client) = started(&dir).await;
        client.query("SET GLOBAL max_binlog_cache_size = 16384").await.unwrap();
        client.query("BEGIN").await.unwrap();
        client.query(INSERT).await.unwrap();
        client.query(INSERT).await.unwrap();
        assert_eq!(error_of(&mut client, INSERT).await, 1197);
        client.query("ROLLBACK").await.unwrap();
        client.query("SET GLOBAL max_binlog_cache_size = 1048576").await.unwrap();
        client.query(&format!("{INSERT}, (REPEAT('y', 20000))")).await.unwrap();
        server.shutdown().await.unwrap();
    });
}

#[test]
fn binlog_cache_size() {
    test(async |dir| {
        let (server, mut client) = started(&dir).await;
        client.query("SET GLOBAL binlog_cache_size = 16384").await.unwrap();
        let files = last(&mut client, "SHOW BINARY LOGS").await;
        client.query("BEGIN").await.unwrap();
        for _ in 0..20 {
            client.query(INSERT).await.unwrap();
        }
        client.query("SAVEPOINT s").await.unwrap();
        client.query("UPDATE d.t SET x = CONCAT(id, x)").await.unwrap();
        assert_eq!(last(&mut client, "SELECT COUNT(*) FROM d.t WHERE x LIKE '%0xx%'").await, "2");
        client.query("ROLLBACK TO s").await.unwrap();
        client.query("DELETE FROM d.t WHERE id > 15").await.unwrap();
        assert_eq!(last(&mut client, "SELECT SUM(id) FROM d.t WHERE x LIKE 'xx%'").await, "120");
        assert!(std::fs::read_dir(&dir.0).unwrap().any(|entry| is_of_transaction(&entry.unwrap())));
        client.query("COMMIT").await.unwrap();
        assert_eq!(last(&mut client, "SELECT SUM(id) FROM d.t WHERE x LIKE 'xx%'").await, "120");
        assert_ne!(last(&mut client, "SHOW BINARY LOGS").await, files, "it is a file of the log");
        let row = client.query("SHOW GLOBAL STATUS LIKE 'Binlog_cache_disk_use'").await.unwrap().rows.remove(0);
        assert_eq!(row[1].as_deref(), Some("1"));
        server.shutdown().await.unwrap();
        let server = Server::start(&dir.options()).await.unwrap();
        let mut client = connect(&server, "root", "").await.unwrap();
        assert_eq!(last(&mut client, "SELECT SUM(id) FROM d.t WHERE x LIKE 'xx%'").await, "120");
        assert!(!std::fs::read_dir(&dir.0).unwrap().any(|entry| is_of_transaction(&entry.unwrap())));
        server.shutdown().await.unwrap();
    });
}

fn is_of_transaction(entry: &std::fs::DirEntry) -> bool {
    entry.file_name().to_string_lossy().contains("transaction")
}

#[test]
fn sizes_at_which_checkpoints_begin() {
    for setting in ["memtable_size", "checkpoint_log_size"] {
        test(async |dir| {
            let (server, mut client) = started(&dir).await;
            let checkpoint = "SHOW GLOBAL STATUS LIKE 'Checkpoint_commit_number'";
            let value = async |client: &mut TestClient| {
                let row = client.query(checkpoint).await.unwrap().rows.remove(0);
                row[1].clone()
            };
            let before = value(&mut client).await;
            client.query(&format!("SET GLOBAL {setting} = 1048576")).await.unwrap();
            for _ in 0..150 {
                client.query(INSERT).await.unwrap();
            }
            while value(&mut client).await == before {
                tokio::time::sleep(std::time::Duration::from_millis(1)).await;
            }
            server.shutdown().await.unwrap();
        });
    }
}

/// The codes are those of MySQL 9.7.
#[test]
fn gtid_purged() {
    // Sets are written in the order of their UUIDs: this one is before any that a server draws by chance.
    const A: &str = "00000000-2222-2222-2222-222222222222";
    const VALUES: &str = "SELECT REPLACE(@@gtid_executed, @@server_uuid, 'own'), @@gtid_purged";
    test(async |dir| {
        let (server, mut client) = started(&dir).await;
        for (value, code) in [
            (format!("'{A}:1-5'"), 0),
            (format!("'{A}:1-3'"), 3546),
            (format!("'+{A}:3-8'"), 3546),
            (format!("' + {A}:7-8'"), 0),
            (format!("'{A}:1-8'"), 0),
            ("CONCAT('+', @@server_uuid, ':1')".to_owned(), 3546),
            ("CONCAT('+', @@server_uuid, ':9223372036854775806')".to_owned(), 1775),
            ("'+'".to_owned(), 0),
            ("''".to_owned(), 3546),
            ("'abc'".to_owned(), 1231),
            ("DEFAULT".to_owned(), 1230),
            ("5".to_owned(), 1232),
        ] {
            assert_eq!(error_of(&mut client, &format!("SET GLOBAL gtid_purged = {value}")).await, code, "{value}");
        }
        let row = client.query(VALUES).await.unwrap().rows.remove(0);
        assert_eq!(row, [Some(format!("{A}:1-8,own:1-4")), Some(format!("{A}:1-8"))]);
        client.query("BEGIN").await.unwrap();
        assert_eq!(error_of(&mut client, &format!("SET GLOBAL gtid_purged = '+{A}:9'")).await, 1766);
        client.query("COMMIT").await.unwrap();
        client.query(INSERT).await.unwrap();
        server.shutdown().await.unwrap();
        let server = Server::start(&dir.options()).await.unwrap();
        let mut client = connect(&server, "root", "").await.unwrap();
        let row = client.query(VALUES).await.unwrap().rows.remove(0);
        assert_eq!(row, [Some(format!("{A}:1-8,own:1-5")), Some(format!("{A}:1-8"))]);
        server.shutdown().await.unwrap();
    });
}

#[test]
fn what_cannot_be_set_says_so() {
    test(async |dir| {
        let (server, mut client) = started(&dir).await;
        for name in ["offline_mode", "binlog_row_metadata", "source_verify_checksum"] {
            assert_eq!(error_of(&mut client, &format!("SET GLOBAL {name} = DEFAULT")).await, 1238, "{name}");
        }
        server.shutdown().await.unwrap();
    });
}

/// `@@` shows what is in force, whatever a file says.
#[test]
fn what_a_configuration_file_gives() {
    test(async |dir| {
        std::fs::create_dir_all(&dir.0).unwrap();
        let file = dir.0.join("my.cnf");
        let text = "[mysqld]\nexpire_logs_days = 10\ndefault-time-zone = '+02:00'\nperformance_schema = ON\ncharacter_set_server = latin1\n\
                    skip-character-set-client-handshake\nsql_mode = TRADITIONAL\n";
        std::fs::write(&file, text).unwrap();
        let server = Server::start(&ServeOptions { config: Some(file), ..dir.options() }).await.unwrap();
        let mut client = connect(&server, "root", "").await.unwrap();
        let query = "SELECT CONCAT_WS(' ', @@expire_logs_days, @@binlog_expire_logs_seconds, @@time_zone, @@performance_schema, @@collation_connection)";
        assert_eq!(last(&mut client, query).await, "10.000000 864000 +02:00 0 latin1_swedish_ci");
        assert_eq!(last(&mut client, "SELECT @@sql_mode LIKE '%STRICT_ALL_TABLES%'").await, "1");
        client.query("SET GLOBAL expire_logs_days = 0.5").await.unwrap();
        assert_eq!(last(&mut client, "SELECT @@binlog_expire_logs_seconds").await, "43200");
        assert_eq!(error_of(&mut client, "SET GLOBAL authentication_policy = 'mysql_native_password'").await, 1235);
        server.shutdown().await.unwrap();
    });
}
