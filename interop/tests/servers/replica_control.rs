//! Where a replica of a real server stops, and what it leaves out: START REPLICA UNTIL, sql_replica_skip_counter, filters.

use std::time::Duration;

use interop::{Answer, Client, Connection, Kind, Peer, Server, ServerOptions, gtid_executed, run_tool, until};

fn change(replica: &Server, source: &Peer, from: &str) {
    let change = format!(
        "CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={}, SOURCE_USER='root', {from} \
         GET_SOURCE_PUBLIC_KEY=1, SOURCE_CONNECT_RETRY=1, SOURCE_RETRY_COUNT=100",
        source.port()
    );
    replica.client().query(&change).unwrap();
}

fn status(replica: &Server, column: &str) -> String {
    replica.client().column("SHOW REPLICA STATUS", column).unwrap()
}

/// Starts with a condition, and waits until that has stopped it.
#[track_caller]
fn run_until(replica: &Server, condition: &str) {
    replica.client().query(&format!("START REPLICA UNTIL {condition}")).unwrap();
    until("the replica stops", || status(replica, "Replica_SQL_Running") == "No");
    assert_eq!(status(replica, "Last_SQL_Error"), "", "{condition}");
}

fn rows(replica: &Server) -> String {
    replica.client().query("SELECT GROUP_CONCAT(id ORDER BY id) FROM d.t").unwrap().trim().to_owned()
}

fn insert(source: &Client, ids: std::ops::RangeInclusive<i64>) {
    let statements: Vec<String> = ids.map(|id| format!("INSERT INTO d.t VALUES ({id}); ")).collect();
    source.query(&statements.concat()).unwrap();
}

const SETUP: &str = "CREATE DATABASE d; CREATE TABLE d.t (id INT PRIMARY KEY)";

/// As in MySQL, what is of one half needs it alone to be stopped. Here the applier runs, then the receiver.
fn only_what_is_stopped_changes(replica: &Server) {
    let run = |sql: &str| replica.client().query(sql).unwrap();
    let refused = |sql: &str, code: &str| {
        let error = replica.client().query(sql).unwrap_err();
        assert!(error.contains(code), "{sql}: {error}");
    };
    run("CHANGE REPLICATION SOURCE TO SOURCE_CONNECT_RETRY=2");
    refused("CHANGE REPLICATION SOURCE TO SOURCE_DELAY=2", "3085");
    refused("CHANGE REPLICATION SOURCE TO SOURCE_AUTO_POSITION=1", "3081");
    refused("CHANGE REPLICATION FILTER REPLICATE_DO_DB = (d)", "3085");
    run("STOP REPLICA SQL_THREAD");
    run("START REPLICA IO_THREAD");
    refused("CHANGE REPLICATION SOURCE TO SOURCE_CONNECT_RETRY=2", "3021");
    refused("CHANGE REPLICATION SOURCE TO SOURCE_AUTO_POSITION=1, SOURCE_DELAY=0", "3081");
    run("CHANGE REPLICATION SOURCE TO SOURCE_DELAY=0");
    run("CHANGE REPLICATION FILTER REPLICATE_DO_DB = ()");
    refused("RESET REPLICA", "3081");
}

/// Each half alone, as tools have it that copy a replica.
#[test]
fn one_thread_alone() {
    let mut source = Peer::start(Kind::Mysql97, "threads", Duration::ZERO, &[]).unwrap();
    source.client().query(SETUP).unwrap();
    insert(&source.client(), 1..=2);
    let mut replica = Server::start("threads", ServerOptions::default()).unwrap();
    change(&replica, &source, "SOURCE_AUTO_POSITION=1,");
    let run = |sql: &str| replica.client().query(sql).unwrap();
    let threads = || (status(&replica, "Replica_IO_Running"), status(&replica, "Replica_SQL_Running"));
    let are = |receiver: &str, executor: &str| threads() == (receiver.to_owned(), executor.to_owned());
    run("START REPLICA SQL_THREAD");
    assert!(are("No", "Yes"), "{:?}", threads());
    run("START REPLICA IO_THREAD");
    let tables = "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'd'";
    until("the rows", || run(tables) == "1\n" && rows(&replica) == "1,2");

    run("STOP REPLICA SQL_THREAD");
    until("it is connected", || are("Yes", "No"));
    insert(&source.client(), 3..=3);
    let retrieved = || status(&replica, "Retrieved_Gtid_Set");
    let executed = source.client().query("SELECT @@gtid_executed").unwrap();
    let last = format!("-{}", executed.trim().rsplit(['-', ':']).next().unwrap());
    until("it is received", || retrieved().contains(&last[1..]));
    assert_eq!(rows(&replica), "1,2");
    // A dump of the replica that says where its source is; it stops the thread, and starts both at its end.
    let port = replica.client().port().to_string();
    let arguments =
        ["--no-defaults", "-h127.0.0.1", "-uroot", "-P", &port, "--dump-replica=2", "--set-gtid-purged=OFF", "d"];
    let dump = run_tool(Kind::Mysql97, "mysqldump", &arguments).unwrap();
    assert!(dump.contains("CHANGE REPLICATION SOURCE TO SOURCE_LOG_FILE='bin.0000") && dump.contains("(2)"), "{dump}");
    until("the row", || rows(&replica) == "1,2,3");

    run("STOP SLAVE IO_THREAD");
    assert!(are("No", "Yes"), "{:?}", threads());
    insert(&source.client(), 4..=4);
    assert_eq!(status(&replica, "Read_Source_Log_Pos"), status(&replica, "Exec_Source_Log_Pos"));
    let not_executed = run(&format!("SELECT GTID_SUBTRACT('{}', @@gtid_executed)", retrieved()));
    assert_eq!((not_executed.as_str(), rows(&replica).as_str()), ("\n", "1,2,3"));
    only_what_is_stopped_changes(&replica);
    run("STOP REPLICA");
    // A connection that is lost and nobody to execute what is queued.
    run("START REPLICA IO_THREAD");
    until("it is connected", || are("Yes", "No"));
    insert(&source.client(), 5..=5);
    source.kill();
    source.restart().unwrap();
    insert(&source.client(), 6..=6);
    let executed = source.client().query("SELECT @@gtid_executed").unwrap();
    let last = executed.trim().rsplit(['-', ':']).next().unwrap().to_owned();
    until("it is connected again", || are("Yes", "No") && retrieved().ends_with(&last));
    assert_eq!(rows(&replica), "1,2,3");
    run("START REPLICA");
    until("all rows", || rows(&replica) == "1,2,3,4,5,6");
    assert_eq!(status(&replica, "Last_SQL_Error"), "");
    replica.kill();
    replica.restart().unwrap();
    insert(&source.client(), 7..=7);
    until("both run after a restart", || rows(&replica).ends_with(",7"));
}

#[test]
fn mysql_until() {
    let source = Peer::start(Kind::Mysql97, "until", Duration::ZERO, &[]).unwrap();
    let client = source.client();
    client.query(SETUP).unwrap();
    insert(&client, 1..=8);
    let uuid = client.query("SELECT @@server_uuid").unwrap().trim().to_owned();
    let last: i64 = client.query("SELECT SUBSTRING_INDEX(@@gtid_executed, '-', -1)").unwrap().trim().parse().unwrap();
    let gtid_of = |id: i64| format!("{uuid}:{}", last - 8 + id);
    let replica = Server::start("until", ServerOptions::default()).unwrap();
    change(&replica, &source, "SOURCE_AUTO_POSITION=1,");
    run_until(&replica, &format!("SQL_BEFORE_GTIDS = '{}'", gtid_of(3)));
    assert_eq!(rows(&replica), "1,2");
    assert_eq!(status(&replica, "Until_Condition"), "SQL_BEFORE_GTIDS");
    run_until(&replica, &format!("SQL_AFTER_GTIDS = '{}'", gtid_of(5)));
    assert_eq!(rows(&replica), "1,2,3,4,5");
    run_until(&replica, &format!("SQL_AFTER_GTIDS = '{}'", gtid_of(4)));
    assert_eq!(rows(&replica), "1,2,3,4,5", "it was there already");
    let error = replica.client().query("START REPLICA UNTIL SQL_AFTER_GTIDS = 'x'").unwrap_err();
    assert!(error.contains("1772"), "{error}");

    let position = |column| client.column("SHOW BINARY LOG STATUS", column).unwrap();
    let (file, offset) = (position("File"), position("Position"));
    client.query("FLUSH BINARY LOGS").unwrap();
    insert(&client, 9..=9);
    run_until(&replica, &format!("SOURCE_LOG_FILE = '{file}', SOURCE_LOG_POS = {offset}"));
    assert_eq!(rows(&replica), "1,2,3,4,5,6,7,8");
    replica.client().query("START REPLICA").unwrap();
    until("the rest comes", || rows(&replica).ends_with(",9"));
    assert_eq!(status(&replica, "Until_Condition"), "None");
}

/// Commits out of order leave gaps; they outlive a SIGKILL, and START REPLICA UNTIL SQL_AFTER_MTS_GAPS closes them.
#[test]
fn gaps_are_closed() {
    let source = Peer::start(Kind::Mysql97, "gaps", Duration::ZERO, &[]).unwrap();
    let settings = ["replica_parallel_mode=SCHEMA", "replica_preserve_commit_order=OFF", "skip_replica_start=ON"];
    let mut replica = Server::start("gaps", ServerOptions::with_settings(settings)).unwrap();
    change(&replica, &source, "SOURCE_AUTO_POSITION=1,");
    let client = source.client();
    client.query(&format!("{SETUP}; CREATE DATABASE e; CREATE TABLE e.t (id INT PRIMARY KEY)")).unwrap();
    replica.client().query("START REPLICA").unwrap();
    until("the tables", || replica.client().query("SELECT * FROM e.t").is_ok());
    // Somebody's lock holds up what is about d alone.
    let mut blocker = Connection::open(replica.port(), "d").unwrap();
    for sql in ["BEGIN", "INSERT INTO t VALUES (1)"] {
        assert!(matches!(blocker.query(sql), Ok(Answer::Done { .. })), "{sql}");
    }
    insert(&client, 1..=2);
    client.query("INSERT INTO e.t VALUES (1); INSERT INTO e.t VALUES (2)").unwrap();
    let others = || replica.client().query("SELECT COUNT(*) FROM e.t").unwrap().trim().to_owned();
    until("what is behind it", || others() == "2");
    replica.client().query("STOP REPLICA").unwrap();
    drop(blocker);
    replica.kill();
    replica.restart().unwrap();
    let until_then = gtid_executed(&client).unwrap();
    let uuid = until_then.split(':').next().unwrap().to_owned();
    // Of what the source has, that is.
    let executed = || {
        let all = gtid_executed(&replica.client()).unwrap();
        all.split(',').find(|set| set.trim().starts_with(&uuid)).unwrap().trim().to_owned()
    };
    let in_one_run = |set: &str| set.matches(':').count() == 1;
    assert!(!in_one_run(&executed()), "{}", executed());
    insert(&client, 3..=3);
    let others = || replica.client().query("SELECT COUNT(*) FROM e.t").unwrap().trim().to_owned();
    run_until(&replica, "SQL_AFTER_MTS_GAPS");
    assert_eq!((rows(&replica).as_str(), others().as_str(), executed()), ("1,2", "2", until_then));
    assert_eq!(status(&replica, "Until_Condition"), "SQL_AFTER_MTS_GAPS");
    // Where there are none it stops at once.
    run_until(&replica, "SQL_AFTER_MTS_GAPS");
    assert_eq!(rows(&replica), "1,2");
    replica.client().query("START REPLICA").unwrap();
    until("the rest comes", || rows(&replica) == "1,2,3");
    assert!(in_one_run(&executed()), "{}", executed());
}

#[test]
fn maria_until() {
    let source = Peer::start(Kind::Maria118, "until", Duration::ZERO, &[]).unwrap();
    let client = source.client();
    client.query(SETUP).unwrap();
    insert(&client, 1..=3);
    let position = client.query("SELECT @@gtid_binlog_pos").unwrap().trim().to_owned();
    insert(&client, 4..=6);
    let replica = Server::start("until-maria", ServerOptions::default()).unwrap();
    change(&replica, &source, "SOURCE_AUTO_POSITION=1,");
    run_until(&replica, &format!("MASTER_GTID_POS = '{position}'"));
    assert_eq!(rows(&replica), "1,2,3");
    assert_eq!(replica.client().query("SELECT @@gtid_slave_pos").unwrap().trim(), position);
    replica.client().query("START REPLICA").unwrap();
    until("the rest comes", || rows(&replica) == "1,2,3,4,5,6");
}

/// What is left out stays left out, whichever side is started again.
fn skip(kind: Kind, name: &str, arguments: &[&str], from: &str) {
    let source = Peer::start(kind, name, Duration::ZERO, arguments).unwrap();
    let client = source.client();
    client.query(SETUP).unwrap();
    insert(&client, 1..=2);
    let mut replica = Server::start(name, ServerOptions::default()).unwrap();
    change(&replica, &source, from);
    replica.client().query("START REPLICA").unwrap();
    until("the first rows", || replica.client().query("SELECT 1 FROM d.t").is_ok() && rows(&replica) == "1,2");
    let error = replica.client().query("SET GLOBAL sql_replica_skip_counter = 1").unwrap_err();
    assert!(error.contains("running"), "{error}");

    // A row, and a statement that we cannot do.
    replica.client().query("INSERT INTO d.t VALUES (3)").unwrap();
    insert(&client, 3..=3);
    until("the replica stops", || status(&replica, "Last_SQL_Errno") == "1062");
    replica.client().query("SET GLOBAL sql_slave_skip_counter = 1").unwrap();
    client.query("INSERT INTO d.t VALUES (4)").unwrap();
    replica.client().query("START REPLICA").unwrap();
    until("it goes on", || rows(&replica) == "1,2,3,4");
    assert_eq!(status(&replica, "Skip_Counter"), "0");
    client.query("CREATE VIEW d.v AS SELECT 1; INSERT INTO d.t VALUES (5), (6)").unwrap();
    until("the replica stops", || status(&replica, "Last_SQL_Errno") == "1235");
    replica.client().query("SET GLOBAL sql_replica_skip_counter = 1; START REPLICA").unwrap();
    until("it goes on", || rows(&replica) == "1,2,3,4,5,6");
    replica.kill();
    replica.restart().unwrap();
    insert(&client, 7..=7);
    until("nothing comes again", || rows(&replica) == "1,2,3,4,5,6,7");
    assert_eq!(status(&replica, "Last_SQL_Error"), "");
}

#[test]
fn mysql_by_position_skips() {
    let without = ["--gtid-mode=OFF", "--enforce-gtid-consistency=OFF"];
    skip(Kind::Mysql97, "skip-counter", &without, "SOURCE_LOG_FILE='bin.000001', SOURCE_LOG_POS=4,");
}

#[test]
fn maria_by_gtids_skips() {
    skip(Kind::Maria118, "skip-counter-maria", &[], "SOURCE_AUTO_POSITION=1,");
}

/// What is left out counts as executed; the rest is there, some of it under another name.
fn filters(kind: Kind, name: &str, arguments: &[&str]) {
    let source = Peer::start(kind, name, Duration::ZERO, arguments).unwrap();
    let client = source.client();
    let replica = Server::start(name, ServerOptions::default()).unwrap();
    replica
        .client()
        .query(
            "CHANGE REPLICATION FILTER REPLICATE_IGNORE_DB = (secret), REPLICATE_IGNORE_TABLE = (d.ignored), \
             REPLICATE_WILD_IGNORE_TABLE = ('d.tmp%'), REPLICATE_REWRITE_DB = ((old, new))",
        )
        .unwrap();
    replica.client().query("CREATE DATABASE new").unwrap();
    change(&replica, &source, "SOURCE_AUTO_POSITION=1,");
    client
        .query(
            "CREATE DATABASE d; CREATE DATABASE secret; USE secret; CREATE TABLE t (id INT PRIMARY KEY); INSERT INTO t VALUES (1); \
             USE d; CREATE TABLE t (id INT PRIMARY KEY); CREATE TABLE ignored (id INT PRIMARY KEY); CREATE TABLE tmp1 (id INT); \
             BEGIN; INSERT INTO t VALUES (1); INSERT INTO ignored VALUES (1); INSERT INTO tmp1 VALUES (1); COMMIT; \
             INSERT INTO ignored VALUES (2); DROP TABLE tmp1",
        )
        .unwrap();
    // Not CREATE DATABASE: a database is not given another name where it is named.
    client.query("SET sql_log_bin = 0; CREATE DATABASE old").unwrap();
    client
        .query("USE old; CREATE TABLE t (id INT PRIMARY KEY); INSERT INTO t VALUES (7); UPDATE t SET id = 8")
        .unwrap();
    client.query("USE d; INSERT INTO t VALUES (2)").unwrap();
    replica.client().query("START REPLICA").unwrap();
    until("the last row", || {
        assert_eq!(status(&replica, "Last_SQL_Error"), "");
        replica.client().query("SELECT 1 FROM d.t").is_ok() && rows(&replica) == "1,2"
    });
    let ours = replica.client();
    assert_eq!(ours.query("SELECT id FROM new.t").unwrap().trim(), "8");
    assert_eq!(ours.query("SHOW TABLES FROM d").unwrap().trim(), "t");
    assert_eq!(ours.query("SHOW DATABASES LIKE 'secret'").unwrap(), "");
    assert_eq!(status(&replica, "Replicate_Wild_Ignore_Table"), "d.tmp%");
    assert_eq!(status(&replica, "Replicate_Rewrite_DB"), "old->new");
    let error = ours.query("CHANGE REPLICATION FILTER REPLICATE_DO_DB = (d)").unwrap_err();
    assert!(error.contains("running"), "{error}");
    if kind == Kind::Mysql97 {
        let executed = client.query("SELECT @@gtid_executed").unwrap();
        let has = ours.query(&format!("SELECT GTID_SUBSET('{}', @@gtid_executed)", executed.trim())).unwrap();
        assert_eq!(has.trim(), "1", "what is left out is executed");
    }
}

#[test]
fn mysql_filtered() {
    filters(Kind::Mysql97, "filter", &[]);
}

#[test]
fn maria_filtered_by_statements() {
    filters(Kind::Maria118, "filter-maria", &["--binlog-format=STATEMENT"]);
}
