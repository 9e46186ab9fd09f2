//! Several sources at once: channels, and MariaDB's named connections.

use std::time::Duration;

use interop::everyday::{EVERYDAY, contents};
use interop::{Client, Kind, Peer, Server, ServerOptions, until};

fn started(name: &str) -> Server {
    Server::start(name, ServerOptions::default()).unwrap()
}

/// A channel that begins with all that its source has.
fn add(replica: &Server, channel: &str, port: u16, from: &str) {
    let change = format!(
        "CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={port}, SOURCE_USER='root', {from}, \
         GET_SOURCE_PUBLIC_KEY=1, SOURCE_CONNECT_RETRY=1, SOURCE_RETRY_COUNT=1000 FOR CHANNEL '{channel}'"
    );
    replica.client().query(&change).unwrap();
}

const BY_GTIDS: &str = "SOURCE_AUTO_POSITION=1";

fn status(replica: &Server, channel: &str, column: &str) -> String {
    replica.client().column(&format!("SHOW REPLICA STATUS FOR CHANNEL '{channel}'"), column).unwrap()
}

fn counts(replica: &Server, tables: &[&str]) -> Vec<i64> {
    let count =
        |table: &&str| replica.client().number(&format!("SELECT COUNT(*) FROM {table}.load_rows")).unwrap_or(-1);
    tables.iter().map(count).collect()
}

/// Rows of a database of this source, from `first` on.
fn write(source: &Client, database: &str, first: i64, count: i64) {
    let create = format!(
        "CREATE DATABASE IF NOT EXISTS {database}; CREATE TABLE IF NOT EXISTS {database}.load_rows (id INT PRIMARY KEY, n INT);"
    );
    let insert = |id: i64| format!("INSERT INTO {database}.load_rows VALUES ({id}, {id});");
    let inserts: String = (first..first + count).map(insert).collect();
    source.query(&(create + &inserts)).unwrap();
}

/// Three sources of three kinds, each with its own database; both ends of it are killed in between.
#[test]
fn sources_of_every_kind() {
    let (mut mysql, mut maria) = (
        Peer::start(Kind::Mysql97, "channels", Duration::ZERO, &[]).unwrap(),
        Peer::start(Kind::Maria118, "channels", Duration::ZERO, &[]).unwrap(),
    );
    let ours = started("channels-source");
    let mut replica = started("channels");
    add(&replica, "First", mysql.port(), BY_GTIDS);
    let change = format!(
        "CHANGE MASTER 'second' TO MASTER_HOST='127.0.0.1', MASTER_PORT={}, MASTER_USER='root', MASTER_USE_GTID=slave_pos, \
         MASTER_CONNECT_RETRY=1, MASTER_RETRY_COUNT=1000",
        maria.port()
    );
    replica.client().query(&change).unwrap();
    add(&replica, "third", ours.port(), BY_GTIDS);
    mysql.client().query(EVERYDAY).unwrap();
    let databases = ["of_mysql", "of_maria", "of_ours"];
    std::thread::scope(|scope| {
        for (client, database) in [mysql.client(), maria.client(), ours.client()].into_iter().zip(databases) {
            scope.spawn(move || write(&client, database, 0, 500));
        }
        replica.client().query("START REPLICA").unwrap();
        until("something of each", || counts(&replica, &databases).iter().all(|count| *count > 20));
        replica.kill();
        replica.restart().unwrap();
    });
    until("all rows", || counts(&replica, &databases) == [500, 500, 500]);
    until("the everyday load", || contents(&replica.client()) == contents(&mysql.client()));
    maria.kill();
    mysql.kill();
    write(&ours.client(), "of_ours", 500, 10);
    until("the one that is left", || counts(&replica, &databases) == [500, 500, 510]);
    maria.restart().unwrap();
    mysql.restart().unwrap();
    write(&mysql.client(), "of_mysql", 500, 10);
    write(&maria.client(), "of_maria", 500, 10);
    until("those that were away", || counts(&replica, &databases) == [510, 510, 510]);
    gtids_are_those_of_the_sources(&replica, &mysql, &maria, &ours);
    one_of_them_alone(&replica, &mysql, &maria);
}

fn gtids_are_those_of_the_sources(replica: &Server, mysql: &Peer, maria: &Peer, ours: &Server) {
    for source in [mysql.client(), ours.client()] {
        let executed = source.query("SELECT REPLACE(@@global.gtid_executed, '\n', '')").unwrap();
        let query = format!("SELECT GTID_SUBSET('{}', @@global.gtid_executed)", executed.trim());
        assert_eq!(replica.client().query(&query).unwrap(), "1\n", "{executed}");
    }
    let position = maria.client().query("SELECT @@gtid_binlog_pos").unwrap();
    assert_eq!(replica.client().query("SELECT @@gtid_slave_pos").unwrap(), position);
}

/// Statements about one channel leave the others alone, and say MySQL's errors.
fn one_of_them_alone(replica: &Server, mysql: &Peer, maria: &Peer) {
    let client = replica.client();
    let refused = |sql: &str, code: &str| {
        let error = client.query(sql).unwrap_err();
        assert!(error.contains(code), "{sql}: {error}");
    };
    assert_eq!(client.column("SHOW ALL SLAVES STATUS", "Connection_name").unwrap(), "first");
    let position = client.query("SELECT @@gtid_slave_pos").unwrap();
    assert_eq!(client.column("SHOW ALL SLAVES STATUS", "Gtid_Slave_Pos").unwrap(), position.trim());
    client.query("STOP SLAVE 'second'").unwrap();
    assert_eq!(status(replica, "SECOND", "Replica_IO_Running"), "No");
    assert_eq!(status(replica, "first", "Replica_IO_Running"), "Yes");
    write(&maria.client(), "of_maria", 600, 1);
    write(&mysql.client(), "of_mysql", 600, 1);
    until("the others go on", || counts(replica, &["of_mysql", "of_maria"]) == [511, 510]);
    refused("CHANGE REPLICATION SOURCE TO SOURCE_CONNECT_RETRY=5", "3079");
    refused("CHANGE REPLICATION SOURCE TO SOURCE_CONNECT_RETRY=5 FOR CHANNEL 'first'", "3021");
    refused("START REPLICA FOR CHANNEL 'none'", "3074");
    refused("SHOW REPLICA STATUS FOR CHANNEL 'none'", "3074");
    refused("RESET REPLICA ALL FOR CHANNEL 'first'", "3081");
    let long = "x".repeat(65);
    refused(&format!("CHANGE REPLICATION SOURCE TO SOURCE_HOST='h' FOR CHANNEL '{long}'"), "3076");
    client.query("STOP REPLICA; SET GLOBAL sql_replica_skip_counter = 1").unwrap();
    refused("START REPLICA", "3086");
    client.query("SET GLOBAL sql_replica_skip_counter = 0; RESET SLAVE 'second' ALL; START REPLICA").unwrap();
    refused("START SLAVE 'second'", "3074");
    write(&mysql.client(), "of_mysql", 700, 1);
    until("the rest goes on", || counts(replica, &["of_mysql", "of_maria"]) == [512, 510]);
}

/// A transaction that comes by two ways is executed once, and comes by either alone.
#[test]
fn one_source_by_two_ways() {
    let source = started("two-ways-source");
    write(&source.client(), "d", 0, 50);
    let mut between = source.start_follower("two-ways-between").unwrap();
    let mut replica = started("two-ways");
    replica.client().query("SET GLOBAL replica_row_differences = 'ERROR'").unwrap();
    add(&replica, "direct", source.port(), BY_GTIDS);
    add(&replica, "around", between.port(), BY_GTIDS);
    replica.client().query("START REPLICA").unwrap();
    write(&source.client(), "d", 50, 300);
    until("all rows", || counts(&replica, &["d"]) == [350]);
    replica.client().query("STOP REPLICA FOR CHANNEL 'direct'").unwrap();
    write(&source.client(), "d", 350, 20);
    until("around", || counts(&replica, &["d"]) == [370]);
    replica.client().query("START REPLICA FOR CHANNEL 'direct'").unwrap();
    between.kill();
    write(&source.client(), "d", 370, 20);
    until("direct", || counts(&replica, &["d"]) == [390]);
    replica.kill();
    replica.restart().unwrap();
    between.restart().unwrap();
    write(&source.client(), "d", 390, 10);
    until("all rows", || counts(&replica, &["d"]) == [400]);
    for channel in ["direct", "around"] {
        until("it runs", || status(&replica, channel, "Replica_IO_Running") == "Yes");
        assert_eq!(status(&replica, channel, "Last_SQL_Error"), "", "{channel}");
    }
}

/// Sources that change the same rows: what cannot be done stops that channel, the rest is told.
#[test]
fn sources_in_conflict() {
    let without = ["--gtid-mode=OFF", "--enforce-gtid-consistency=OFF"];
    let sources =
        ["conflict-a", "conflict-b"].map(|name| Peer::start(Kind::Mysql97, name, Duration::ZERO, &without).unwrap());
    let mut replica = started("conflict");
    replica.client().query("CREATE DATABASE d; CREATE TABLE d.load_rows (id INT PRIMARY KEY, n INT)").unwrap();
    replica.client().query("CHANGE REPLICATION FILTER REPLICATE_WILD_DO_TABLE = ('d.%')").unwrap();
    for (source, channel) in sources.iter().zip(["a", "b"]) {
        write(&source.client(), "d", 0, 0);
        let client = source.client();
        let [file, position] =
            ["File", "Position"].map(|column| client.column("SHOW BINARY LOG STATUS", column).unwrap());
        add(&replica, channel, source.port(), &format!("SOURCE_LOG_FILE='{file}', SOURCE_LOG_POS={position}"));
    }
    replica.client().query("START REPLICA").unwrap();
    write(&sources[0].client(), "d", 0, 10);
    write(&sources[1].client(), "d", 10, 10);
    until("rows of both", || counts(&replica, &["d"]) == [20]);
    replica.kill();
    replica.restart().unwrap();
    // The same new row in both.
    write(&sources[0].client(), "d", 100, 1);
    until("the first row", || counts(&replica, &["d"]) == [21]);
    sources[1].client().query("INSERT INTO d.load_rows VALUES (100, -1)").unwrap();
    until("the second one stops", || status(&replica, "b", "Last_SQL_Errno") == "1062");
    write(&sources[0].client(), "d", 20, 1);
    until("the first one goes on", || counts(&replica, &["d"]) == [22]);
    replica.client().query("SET GLOBAL sql_replica_skip_counter = 1; START REPLICA FOR CHANNEL 'b'").unwrap();
    // A row that the other has changed meanwhile.
    let client = replica.client();
    sources[0].client().query("UPDATE d.load_rows SET n = 7 WHERE id = 5").unwrap();
    until("the change", || client.number("SELECT n FROM d.load_rows WHERE id = 5").unwrap() == 7);
    sources[1].client().query("INSERT INTO d.load_rows VALUES (5, 5)").unwrap();
    until("the row is there", || status(&replica, "b", "Last_SQL_Errno") == "1062");
    client.query("SET GLOBAL sql_replica_skip_counter = 1; START REPLICA FOR CHANNEL 'b'").unwrap();
    assert_eq!(client.status("Replica_row_differences").unwrap(), 0);
    sources[1].client().query("UPDATE d.load_rows SET n = 8 WHERE id = 5").unwrap();
    until("it is told", || client.status("Replica_row_differences").unwrap() == 1);
    let told = client.query("SHOW GLOBAL STATUS LIKE 'Replica_last_row_difference'").unwrap();
    assert!(told.contains("channel 'b'") && told.contains("d.load_rows") && told.contains("column n"), "{told}");
    until("the last one counts", || client.number("SELECT n FROM d.load_rows WHERE id = 5").unwrap() == 8);
    client.query("SET GLOBAL replica_row_differences = ERROR").unwrap();
    sources[0].client().query("UPDATE d.load_rows SET n = 9 WHERE id = 5").unwrap();
    until("it stops", || status(&replica, "a", "Last_SQL_Errno") == "1032");
    assert_eq!(client.number("SELECT n FROM d.load_rows WHERE id = 5").unwrap(), 8);
}

/// Each channel has rules of its own in place of those of all; MariaDB's way to say which one is meant is the same. They outlive a restart.
#[test]
fn filters_of_one_channel() {
    let (mysql, maria) = (
        Peer::start(Kind::Mysql97, "channel-filters", Duration::ZERO, &[]).unwrap(),
        Peer::start(Kind::Maria118, "channel-filters", Duration::ZERO, &[]).unwrap(),
    );
    let mut replica = started("channel-filters");
    add(&replica, "first", mysql.port(), BY_GTIDS);
    add(&replica, "second", maria.port(), BY_GTIDS);
    let ours = replica.client();
    ours.query("CHANGE REPLICATION FILTER REPLICATE_DO_DB = (nothing), REPLICATE_IGNORE_TABLE = (shared.ignored)")
        .unwrap();
    ours.query("CHANGE REPLICATION FILTER REPLICATE_REWRITE_DB = ((shared, from_mysql)), REPLICATE_DO_DB = (from_mysql) FOR CHANNEL 'first'")
        .unwrap();
    let named = ours
        .query(
            "SET default_master_connection = 'Second'; SET GLOBAL replicate_do_db = 'shared'; SELECT @@default_master_connection",
        )
        .unwrap();
    assert_eq!(named.trim(), "Second");
    let error = ours.query("CHANGE REPLICATION FILTER REPLICATE_DO_DB = (d) FOR CHANNEL 'third'").unwrap_err();
    assert!(error.contains("3074"), "{error}");
    ours.query("CREATE DATABASE from_mysql; START REPLICA").unwrap();
    for source in [mysql.client(), maria.client()] {
        source
            .query("CREATE DATABASE unwanted; USE unwanted; CREATE TABLE load_rows (id INT PRIMARY KEY, n INT); INSERT INTO load_rows VALUES (1, 1)")
            .unwrap();
        source.query("CREATE DATABASE shared; USE shared; CREATE TABLE ignored (id INT PRIMARY KEY)").unwrap();
        source
            .query("USE shared; CREATE TABLE load_rows (id INT PRIMARY KEY); INSERT INTO load_rows VALUES (1)")
            .unwrap();
    }
    until("both", || counts(&replica, &["shared", "from_mysql"]) == [1, 1]);
    assert_eq!(ours.query("SHOW DATABASES LIKE 'unwanted'").unwrap(), "");
    assert_eq!(ours.query("SHOW TABLES FROM shared LIKE 'ignored'").unwrap(), "", "a rule of all");
    assert_eq!(
        ours.query("SHOW TABLES FROM from_mysql LIKE 'ignored'").unwrap().trim(),
        "ignored",
        "it has another name"
    );
    let error = ours.query("CHANGE REPLICATION FILTER REPLICATE_DO_DB = (d) FOR CHANNEL 'first'").unwrap_err();
    assert!(error.contains("3085"), "{error}");

    replica.kill();
    replica.restart().unwrap();
    let rules = |channel: &str| ["Replicate_Do_DB", "Replicate_Rewrite_DB"].map(|rule| status(&replica, channel, rule));
    assert_eq!(rules("first"), ["from_mysql", "shared->from_mysql"]);
    assert_eq!(rules("second"), ["shared", ""]);
    mysql.client().query("USE shared; INSERT INTO load_rows VALUES (2)").unwrap();
    maria.client().query("USE unwanted; INSERT INTO load_rows VALUES (2, 2)").unwrap();
    maria.client().query("USE shared; INSERT INTO load_rows VALUES (2), (3)").unwrap();
    until("both again", || counts(&replica, &["shared", "from_mysql"]) == [3, 2]);
    // STOP of the session's channel alone; without rules it has those of all.
    let client = replica.client();
    client.query("SET default_master_connection = 'second'; STOP SLAVE; RESET SLAVE ALL").unwrap();
    assert_eq!(status(&replica, "first", "Replica_SQL_Running"), "Yes");
    add(&replica, "second", maria.port(), BY_GTIDS);
    assert_eq!(status(&replica, "second", "Replicate_Do_DB"), "");
}
