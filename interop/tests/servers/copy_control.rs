//! Where a server that copies its source's log stops applying (START REPLICA UNTIL), and that nothing is left out of a copy: filters are
//! refused there, and make a server that is no copy yet execute the log.

use std::time::{Duration, Instant};

use interop::{Client, Server, ServerOptions, gtid_executed, until};

const SETUP: &str = "CREATE DATABASE d; USE d; CREATE TABLE t (id INT PRIMARY KEY, s LONGTEXT)";

fn status(replica: &Server, column: &str) -> String {
    replica.client().column("SHOW REPLICA STATUS", column).unwrap()
}

fn insert(source: &Client, ids: std::ops::RangeInclusive<i64>) {
    for id in ids {
        source.query(&format!("INSERT INTO d.t VALUES ({id}, REPEAT('x', 100))")).unwrap();
    }
}

fn rows(replica: &Server) -> String {
    replica.client().query("SELECT GROUP_CONCAT(id ORDER BY id) FROM d.t").unwrap().trim().to_owned()
}

/// Starts with a condition, and waits until that has stopped it.
#[track_caller]
fn run_until(replica: &Server, condition: &str) {
    replica.client().query(&format!("START REPLICA SQL_THREAD UNTIL {condition}")).unwrap();
    until("the applier stops", || status(replica, "Replica_SQL_Running") == "No");
    assert_eq!(status(replica, "Last_SQL_Error"), "", "{condition}");
}

#[test]
fn until_in_a_copy() {
    let source = Server::start("copy-until", ServerOptions::with_settings(["binlog_cache_size=65536"])).unwrap();
    let client = source.client();
    client.query(SETUP).unwrap();
    let mut copy = source.start_follower("copy-until-copy").unwrap();
    source.wait_until_in_step(&copy).unwrap();
    copy.client().query("STOP REPLICA SQL_THREAD").unwrap();
    assert_eq!(status(&copy, "Until_Condition"), "None");
    let executed = gtid_executed(&client).unwrap();
    let (uuid, last) = executed.rsplit_once([':', '-']).unwrap();
    let (uuid, last) = (uuid.split(':').next().unwrap(), last.parse::<i64>().unwrap());
    let gtid_of = |id: i64| format!("{uuid}:{}", last + id);
    insert(&client, 1..=5);
    // The sixth is a file of the log by itself, the seventh and eighth are in the one behind it.
    client.query("INSERT INTO d.t SELECT 6, REPEAT('y', 500000)").unwrap();
    insert(&client, 7..=7);
    let end = client.query("SHOW BINARY LOG STATUS").unwrap();
    let end: Vec<&str> = end.split('\t').take(2).collect();
    insert(&client, 8..=9);

    run_until(&copy, &format!("SQL_BEFORE_GTIDS = '{}'", gtid_of(3)));
    assert_eq!((rows(&copy).as_str(), status(&copy, "Until_Condition").as_str()), ("1,2", "SQL_BEFORE_GTIDS"));
    run_until(&copy, &format!("SQL_BEFORE_GTIDS = '{uuid}:1-100'"));
    assert_eq!(rows(&copy), "1,2", "some of them are executed");
    run_until(&copy, &format!("SQL_AFTER_GTIDS = '{}'", gtid_of(4)));
    assert_eq!(rows(&copy), "1,2,3,4");
    run_until(&copy, &format!("SQL_BEFORE_GTIDS = '{}'", gtid_of(6)));
    assert_eq!(rows(&copy), "1,2,3,4,5", "a large transaction is not begun");
    run_until(&copy, &format!("SOURCE_LOG_FILE = '{}', SOURCE_LOG_POS = {}", end[0], end[1]));
    assert_eq!(rows(&copy), "1,2,3,4,5,6,7");
    assert_eq!((status(&copy, "Until_Log_File").as_str(), status(&copy, "Until_Log_Pos").as_str()), (end[0], end[1]));
    let error = copy.client().query("START REPLICA UNTIL SQL_AFTER_GTIDS = 'x'").unwrap_err();
    assert!(error.contains("1772"), "{error}");

    // The log was copied all the time. A restart forgets the condition, as MySQL's does.
    until("the copy of the log", || status(&copy, "Retrieved_Gtid_Set").ends_with(&format!("-{}", last + 9)));
    copy.kill();
    copy.restart().unwrap();
    until("all rows", || rows(&copy) == "1,2,3,4,5,6,7,8,9");
    assert_eq!(status(&copy, "Until_Condition"), "None");
}

/// A server that is made a source applies what it has received, whatever UNTIL said.
#[test]
fn a_copy_that_was_to_stop_becomes_a_source_with_all_it_has() {
    let source = Server::start("copy-promoted", ServerOptions::default()).unwrap();
    source.client().query(SETUP).unwrap();
    let copy = source.start_follower("copy-promoted-copy").unwrap();
    source.wait_until_in_step(&copy).unwrap();
    let executed = gtid_executed(&source.client()).unwrap();
    let (uuid, last) = (executed.split(':').next().unwrap(), executed.rsplit(['-', ':']).next().unwrap());
    let last: i64 = last.parse().unwrap();
    let client = copy.client();
    client.query("STOP REPLICA").unwrap();
    // It runs, and is to stop where it is not yet.
    client.query(&format!("START REPLICA UNTIL SQL_AFTER_GTIDS = '{uuid}:1-{}'", last + 100)).unwrap();
    insert(&source.client(), 1..=3);
    until("the rows", || rows(&copy) == "1,2,3");
    assert_eq!(
        (status(&copy, "Replica_SQL_Running").as_str(), status(&copy, "Until_Condition").as_str()),
        ("Yes", "SQL_AFTER_GTIDS")
    );
    client.query("STOP REPLICA SQL_THREAD").unwrap();
    insert(&source.client(), 4..=6);
    until("they are received", || status(&copy, "Retrieved_Gtid_Set").ends_with(&format!("-{}", last + 6)));
    client.query("STOP REPLICA IO_THREAD").unwrap();
    client.query(&format!("START REPLICA SQL_THREAD UNTIL SQL_AFTER_GTIDS = '{uuid}:1-{}'", last + 5)).unwrap();
    client.query("SET GLOBAL super_read_only = OFF, GLOBAL read_only = OFF").unwrap();
    assert_eq!(rows(&copy), "1,2,3,4,5,6");
    client.query("INSERT INTO d.t VALUES (7, 'its own')").unwrap();
}

#[test]
fn nothing_is_left_out_of_a_copy() {
    let source = Server::start("copy-filters", ServerOptions::default()).unwrap();
    source
        .client()
        .query(&format!("{SETUP}; CREATE DATABASE other; USE other; CREATE TABLE t (id INT PRIMARY KEY)"))
        .unwrap();
    let mut copy = source.start_follower("copy-filters-copy").unwrap();
    source.wait_until_in_step(&copy).unwrap();
    let client = copy.client();
    client.query("STOP REPLICA").unwrap();
    for sql in ["CHANGE REPLICATION FILTER REPLICATE_DO_DB = (d)", "SET GLOBAL replicate_ignore_table = 'd.t'"] {
        let error = client.query(sql).unwrap_err();
        assert!(error.contains("1235") && error.contains("filters"), "{error}");
    }
    let error = client.query("SET GLOBAL sql_replica_skip_counter = 1").unwrap_err();
    assert!(error.contains("1235") && error.contains("sql_replica_skip_counter"), "{error}");
    client.query("CHANGE REPLICATION FILTER REPLICATE_DO_DB = (); START REPLICA").unwrap();

    // Filters that were in a configuration keep it from starting: it would have been thought that they count.
    copy.kill();
    let mut with_filter = ServerOptions::with_settings(["replicate_do_db=d"]);
    copy.set_options(with_filter.clone());
    let error = copy.restart().unwrap_err();
    assert!(error.contains("replication filters"), "{error}");
    with_filter.arguments.extend(["--follow".to_owned(), source.url()]);
    let error = Server::start("copy-filters-follow", with_filter.clone()).err().unwrap();
    assert!(error.contains("replication filters"), "{error}");
    copy.set_options(ServerOptions::default());
    copy.restart().unwrap();
    source.wait_until_in_step(&copy).unwrap();

    // A server that is no copy yet executes the log, and leaves out what it is told to.
    let mut filtered = Server::start("copy-filters-executes", ServerOptions::default()).unwrap();
    let change = format!(
        "RESET BINARY LOGS AND GTIDS; CHANGE REPLICATION FILTER REPLICATE_DO_DB = (d); CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', \
         SOURCE_PORT={}, SOURCE_USER='root', SOURCE_CONNECT_RETRY=1, SOURCE_RETRY_COUNT=100, GET_SOURCE_PUBLIC_KEY=1; START REPLICA",
        source.port()
    );
    filtered.client().query(&change).unwrap();
    insert(&source.client(), 1..=2);
    source.wait_until_in_step(&filtered).unwrap();
    assert_eq!((rows(&filtered).as_str(), status(&filtered, "Replicate_Do_DB").as_str()), ("1,2", "d"));
    assert_eq!(filtered.client().query("SHOW DATABASES LIKE 'other'").unwrap(), "");
    // It goes on with that when the filters are gone, and after a restart: its log is its own now.
    filtered.kill();
    filtered.restart().unwrap();
    filtered.client().query("STOP REPLICA; CHANGE REPLICATION FILTER REPLICATE_DO_DB = (); START REPLICA").unwrap();
    insert(&source.client(), 3..=3);
    source.wait_until_in_step(&filtered).unwrap();
    assert_eq!(rows(&filtered), "1,2,3");
    let own = filtered.client().query("SELECT @@super_read_only").unwrap();
    assert_eq!(own, "0\n", "a copy is read-only");
}

/// SOURCE_DELAY: all of the log is there, and shown later.
#[test]
fn a_copy_that_is_to_be_late() {
    const DELAY: Duration = Duration::from_secs(3);
    let source = Server::start("copy-late", ServerOptions::default()).unwrap();
    source.client().query(SETUP).unwrap();
    let copy = source.start_follower("copy-late-copy").unwrap();
    source.wait_until_in_step(&copy).unwrap();
    copy.client().query("STOP REPLICA; CHANGE REPLICATION SOURCE TO SOURCE_DELAY=3; START REPLICA").unwrap();
    until("it is connected", || status(&copy, "Replica_IO_Running") == "Yes");
    let before = Instant::now();
    insert(&source.client(), 1..=2);
    let executed = gtid_executed(&source.client()).unwrap();
    until("it is copied", || status(&copy, "Retrieved_Gtid_Set") == executed);
    until("it waits", || {
        status(&copy, "Replica_SQL_Running_State") == "Waiting until SOURCE_DELAY seconds after source executed event"
    });
    assert_eq!(status(&copy, "SQL_Delay"), "3");
    let left: u64 = status(&copy, "SQL_Remaining_Delay").parse().unwrap();
    assert!(left <= 3, "{left}");
    until("it is shown", || rows(&copy) == "1,2");
    assert!(before.elapsed() >= DELAY, "after {:?}", before.elapsed());
    assert_eq!(status(&copy, "SQL_Remaining_Delay"), "NULL");
    // Who becomes the source has all that it had received.
    copy.client().query("STOP REPLICA; CHANGE REPLICATION SOURCE TO SOURCE_DELAY=3600; START REPLICA").unwrap();
    insert(&source.client(), 3..=4);
    let executed = gtid_executed(&source.client()).unwrap();
    until("it is copied", || status(&copy, "Retrieved_Gtid_Set") == executed);
    assert_eq!(rows(&copy), "1,2");
    copy.client()
        .query("STOP REPLICA; SET GLOBAL super_read_only = OFF, GLOBAL read_only = OFF; INSERT INTO d.t VALUES (5, '')")
        .unwrap();
    assert_eq!(rows(&copy), "1,2,3,4,5");
}
