//! A database inside of a program: opened, used, closed, crashed, opened again.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use commuter::{Database, ServeOptions, Value};

/// A data directory that goes with the test.
struct TestDir(PathBuf);

impl TestDir {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("commuter-embedded-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        TestDir(std::env::temp_dir().join(name))
    }
}

impl Drop for TestDir {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn open(folder: &Path) -> Database {
    let set = vec!["innodb_buffer_pool_size=8M".into(), "memtable_size=8M".into()];
    Database::open_with(&ServeOptions { datadir: folder.into(), set, ..ServeOptions::default() }).unwrap()
}

fn with_table(database: &Database) {
    for sql in ["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, s VARCHAR(20))"] {
        database.query(sql).unwrap();
    }
}

fn count(database: &Database) -> Value {
    database.query("SELECT COUNT(*) FROM d.t").unwrap().rows[0][0].clone()
}

#[test]
fn what_was_done_is_there_when_it_is_opened_again() {
    let dir = TestDir::new();
    let database = open(&dir.0);
    with_table(&database);
    let inserted = database.query("INSERT INTO d.t VALUES (1, 'one'), (2, NULL)").unwrap();
    assert_eq!((inserted.affected_rows, inserted.columns.len()), (2, 0));
    let rows = database.query("SELECT id, s FROM d.t ORDER BY id").unwrap();
    assert_eq!(rows.columns, ["id", "s"]);
    assert_eq!(rows.rows, [[Value::Int(1), Value::from("one")], [Value::Int(2), Value::Null]]);
    let error = database.query("INSERT INTO d.t VALUES (1, 'again')").unwrap_err();
    assert_eq!((error.code, &error.sqlstate), (1062, b"23000"));
    // Dropped, not closed: the same, without anybody to tell how it went.
    drop(database);
    let database = open(&dir.0);
    assert_eq!(count(&database), Value::Int(2));
    database.query("DELETE FROM d.t WHERE id = 2").unwrap();
    database.close().unwrap();
    assert_eq!(count(&open(&dir.0)), Value::Int(1));
}

#[test]
fn connections_have_transactions_of_their_own() {
    let dir = TestDir::new();
    let database = open(&dir.0);
    with_table(&database);
    let (mut one, mut other) = (database.connect().unwrap(), database.connect().unwrap());
    one.query("BEGIN").unwrap();
    one.query("INSERT INTO d.t VALUES (1, 'one')").unwrap();
    assert_eq!(other.query("SELECT COUNT(*) FROM d.t").unwrap().rows[0][0], Value::Int(0));
    other.query("SET innodb_lock_wait_timeout = 1").unwrap();
    assert_eq!(other.query("INSERT INTO d.t VALUES (1, 'other')").unwrap_err().code, 1205);
    // Dropped in the middle: rolled back, its locks let go.
    drop(one);
    other.query("INSERT INTO d.t VALUES (1, 'other')").unwrap();
    assert_eq!(count(&database), Value::Int(1));
    let shown = database.query("SHOW PROCESSLIST").unwrap();
    assert_eq!(shown.rows.len(), 2, "the database's own connection, and the one that is left");
    // One that outlives its database gets errors, not hangs.
    database.close().unwrap();
    assert!(other.query("INSERT INTO d.t VALUES (2, 'late')").is_err());
    drop(other);
    assert_eq!(count(&open(&dir.0)), Value::Int(1));
}

#[test]
fn threads_share_it() {
    let dir = TestDir::new();
    let database = open(&dir.0);
    with_table(&database);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let mut connection = database.connect().unwrap();
            scope.spawn(move || {
                for n in 0..50 {
                    connection.query(&format!("INSERT INTO d.t VALUES ({}, 'x')", thread * 100 + n)).unwrap();
                }
            });
        }
    });
    assert_eq!(count(&database), Value::Int(200));
}

#[test]
fn a_second_open_is_refused() {
    let dir = TestDir::new();
    let first = open(&dir.0);
    let error = Database::open(&dir.0).err().expect("it is in use").to_string();
    assert!(error.contains("in use"), "{error}");
    drop(first);
    drop(open(&dir.0));
    let error = Database::open("/dev/null/data").err().expect("no folder can be there").to_string();
    assert!(error.contains("/dev/null/data"), "{error}");
}

/// The variable that makes [`the_process_that_crashes`] do so; its value is the data directory.
const CRASH_IN: &str = "COMMUTER_TEST_CRASH_IN";

#[test]
#[ignore = "run by a_crash_loses_nothing_that_was_committed, in a process of its own"]
fn the_process_that_crashes() {
    let Some(folder) = std::env::var_os(CRASH_IN) else { return };
    let database = open(Path::new(&folder));
    with_table(&database);
    for n in 0..100 {
        database.query(&format!("INSERT INTO d.t VALUES ({n}, 'x')")).unwrap();
    }
    let mut open = database.connect().unwrap();
    open.query("BEGIN").unwrap();
    open.query("INSERT INTO d.t VALUES (1000, 'never committed')").unwrap();
    std::process::abort();
}

#[test]
fn a_crash_loses_nothing_that_was_committed() {
    let dir = TestDir::new();
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "the_process_that_crashes", "--ignored"])
        .env(CRASH_IN, &dir.0)
        .output()
        .unwrap();
    assert!(!status.status.success(), "it crashed: {}", String::from_utf8_lossy(&status.stdout));
    let database = open(&dir.0);
    assert_eq!(count(&database), Value::Int(100));
    database.query("INSERT INTO d.t VALUES (1000, 'now')").unwrap();
    database.close().unwrap();
}
