//! GTIDs with tags, from a real MySQL through ours to real replicas, and what tools read of them.

use std::process::Command;
use std::time::Duration;

use interop::everyday::{EVERYDAY, assert_same, write_beside_each_other};
use interop::{Client, Kind, Peer, Server, ServerOptions, commuter_binary, gtid_executed, run_tool, until};

/// Writes under tags: schema changes and rows, numbers that are chosen, in several files, compressed ones too where that is there.
fn write_with_tags(client: &Client, round: u32) {
    let compressed = match client.query("SET binlog_transaction_compression=ON") {
        Ok(_) => "SET binlog_transaction_compression=ON;",
        Err(_) => "",
    };
    client
        .query(&format!(
            "CREATE DATABASE IF NOT EXISTS tags; SET gtid_next='AUTOMATIC:blue';\
             CREATE TABLE tags.t{round} (id INT PRIMARY KEY AUTO_INCREMENT, s MEDIUMTEXT);\
             INSERT INTO tags.t{round} (s) VALUES ('a'),('b'); FLUSH BINARY LOGS;\
             SET gtid_next='AUTOMATIC'; INSERT INTO tags.t{round} (s) VALUES ('no tag');\
             SET gtid_next='AUTOMATIC:A_Tag_That_Is_As_Long_As_It_Can_'; UPDATE tags.t{round} SET s = REPEAT('c', 300000) WHERE id < 3;\
             SET gtid_next='11111111-2222-3333-4444-555555555555:chosen:{}'; INSERT INTO tags.t{round} (s) VALUES ('chosen');\
             SET gtid_next='AUTOMATIC:blue'; FLUSH BINARY LOGS; {compressed}\
             BEGIN; DELETE FROM tags.t{round} WHERE id = 2; INSERT INTO tags.t{round} (s) VALUES ('d'); COMMIT",
            3 * round + 1
        ))
        .unwrap();
}

fn follow_by_gtids(replica: &Client, port: u16) {
    let change = format!(
        "CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={port}, SOURCE_USER='root', SOURCE_AUTO_POSITION=1, \
         GET_SOURCE_PUBLIC_KEY=1, SOURCE_CONNECT_RETRY=1, SOURCE_RETRY_COUNT=100; START REPLICA"
    );
    replica.query(&change).unwrap();
}

/// Ready when a server of either kind has all of a set.
#[track_caller]
fn wait_for(replica: &Client, executed: &str) {
    let waited = replica.query(&format!("SELECT WAIT_FOR_EXECUTED_GTID_SET('{executed}', 60)")).unwrap();
    assert_eq!(waited.trim(), "0", "{}", replica.query("SHOW REPLICA STATUS\\G").unwrap_or_default());
}

/// The tables of `write_with_tags` and everyday's; and what the two have executed, but for what the second has of its own.
#[track_caller]
fn assert_equal(source: &Client, replica: &Client) {
    assert_same(source, replica);
    let rows = "SELECT id, LENGTH(s), LEFT(s, 6) FROM tags.t";
    for round in 0..2 {
        assert_eq!(source.query(&format!("{rows}{round}")), replica.query(&format!("{rows}{round}")));
    }
    let executed = gtid_executed(source).unwrap();
    let own = replica.query("SELECT @@server_uuid").unwrap();
    let more = replica.query(&format!("SELECT GTID_SUBTRACT(@@gtid_executed, '{executed}')")).unwrap();
    let foreign: Vec<&str> =
        more.trim().split(',').filter(|part| !part.is_empty() && !part.contains(own.trim())).collect();
    assert_eq!(foreign, [""; 0], "{executed}");
    assert_eq!(replica.query(&format!("SELECT GTID_SUBSET('{executed}', @@gtid_executed)")).unwrap().trim(), "1");
}

/// Both print a set as the other does.
fn assert_same_text(one: &Client, other: &Client) {
    assert_eq!(gtid_executed(one).unwrap(), gtid_executed(other).unwrap());
}

#[test]
fn from_a_mysql_through_ours_to_a_mysql() {
    let source = Peer::start(Kind::Mysql97, "tags-source", Duration::ZERO, &[]).unwrap();
    source.client().query(EVERYDAY).unwrap();
    write_with_tags(&source.client(), 0);
    // Transactions that outgrow this are files of the log.
    let mut bridge = Server::start("tags-bridge", ServerOptions::with_settings(["binlog_cache_size=65536"])).unwrap();
    follow_by_gtids(&bridge.client(), source.port());
    let mut end = Peer::start(Kind::Mysql97, "tags-end", Duration::ZERO, &["--replica-parallel-workers=4"]).unwrap();
    end.client().query("RESET BINARY LOGS AND GTIDS").unwrap();
    follow_by_gtids(&end.client(), bridge.port());
    let follower = bridge.start_follower("tags-follower").unwrap();

    write_beside_each_other(source.port(), 2);
    bridge.kill();
    bridge.restart().unwrap();
    write_with_tags(&source.client(), 1);
    end.kill();
    end.restart().unwrap();
    let executed = gtid_executed(&source.client()).unwrap();
    assert!(executed.contains(":blue:1-6") && executed.contains(":chosen:1:4"), "{executed}");
    wait_for(&bridge.client(), &executed);
    assert_equal(&source.client(), &bridge.client());

    // What is written here under tags goes on to the end, as do large transactions.
    bridge
        .client()
        .query(
            "SET gtid_next='AUTOMATIC:here'; CREATE TABLE tags.here (id INT PRIMARY KEY AUTO_INCREMENT, s MEDIUMTEXT);\
             INSERT INTO tags.here (s) SELECT REPEAT('x', 1000) FROM d.counted LIMIT 300; FLUSH BINARY LOGS;\
             INSERT INTO tags.here (s) VALUES ('small'); SET gtid_next='AUTOMATIC:other'; INSERT INTO tags.here (s) VALUES ('other')",
        )
        .unwrap();
    let executed = gtid_executed(&bridge.client()).unwrap();
    assert!(executed.contains(":here:1-3:other:1"), "{executed}");
    wait_for(&end.client(), &executed);
    bridge.wait_until_in_step(&follower).unwrap();
    for replica in [end.client(), follower.client()] {
        assert_equal(&bridge.client(), &replica);
        assert_same_text(&bridge.client(), &replica);
        let here = "SELECT COUNT(*), SUM(LENGTH(s)) FROM tags.here";
        assert_eq!(bridge.client().query(here), replica.query(here));
    }

    // A replica that begins now asks by a set with tags.
    end.client().query("STOP REPLICA; START REPLICA").unwrap();
    bridge.client().query("SET gtid_next='AUTOMATIC:here'; INSERT INTO tags.here (s) VALUES ('more')").unwrap();
    let executed = gtid_executed(&bridge.client()).unwrap();
    wait_for(&end.client(), &executed);
    assert_same_text(&bridge.client(), &end.client());

    tools_read(&bridge);
}

/// `mysqlbinlog` and our own print the GTIDs with their tags.
fn tools_read(server: &Server) {
    let port = server.port().to_string();
    let connection = ["--no-defaults", "-R", "-h127.0.0.1", "-P", &port, "-uroot", "--verify-binlog-checksum"];
    let arguments = [&connection[..], &["--to-last-log", "binlog.000001"]].concat();
    let theirs = run_tool(Kind::Mysql97, "mysqlbinlog", &arguments).unwrap();
    let ours = Command::new(commuter_binary().unwrap())
        .args(["log", "dump", "--verify-checksum", "--source"])
        .arg(format!("mysql://root@127.0.0.1:{port}"))
        .output()
        .unwrap();
    let ours = String::from_utf8_lossy(&ours.stdout).into_owned();
    // From the first to the last, in their order.
    let gtids = |text: &str| -> Vec<String> {
        let lines = text.lines().filter(|line| line.contains("SESSION.GTID_NEXT= '") && line.contains(':'));
        lines.filter_map(|line| line.split('\'').nth(1)).map(str::to_owned).collect()
    };
    assert_eq!(gtids(&theirs), gtids(&ours));
    for wanted in [":here:1", ":blue:6", ":chosen:4", ":a_tag_that_is_as_long_as_it_can_:1", ":other:1"] {
        assert!(gtids(&theirs).iter().any(|gtid| gtid.ends_with(wanted)), "{wanted}");
    }
}

/// MariaDB has no tags: behind ours it sees places in our log, whatever the names are there.
#[test]
fn a_maria_behind_ours_does_not_see_them() {
    let source = Server::start("tags-to-maria", ServerOptions::with_settings(["version=11.8.0-commuter"])).unwrap();
    source.client().query(EVERYDAY).unwrap();
    let replica = Peer::start(Kind::Maria118, "tags", Duration::ZERO, &["--slave-parallel-threads=4"]).unwrap();
    replica.client().query("INSTALL SONAME 'auth_mysql_sha2'").unwrap();
    let change = format!(
        "CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT={}, MASTER_USER='root', MASTER_USE_GTID=slave_pos, \
         MASTER_CONNECT_RETRY=1, MASTER_SSL_VERIFY_SERVER_CERT=0; START SLAVE",
        source.port()
    );
    replica.client().query(&change).unwrap();
    write_with_tags(&source.client(), 0);
    replica.client().query("STOP SLAVE").unwrap();
    write_with_tags(&source.client(), 1);
    replica.client().query("START SLAVE").unwrap();
    let rows = "SELECT id, LENGTH(s), LEFT(s, 6) FROM tags.t1";
    until("the replica has the last transaction", || {
        let error = replica.client().column("SHOW SLAVE STATUS", "Last_SQL_Error").unwrap_or_default();
        assert_eq!(error, "");
        replica.client().query(rows).is_ok_and(|found| found == source.client().query(rows).unwrap())
    });
    assert_same(&source.client(), &replica.client());
    // As many as there are GTIDs, under tags and without.
    let client = source.client();
    let (file, position) = (
        client.column("SHOW BINARY LOG STATUS", "File").unwrap(),
        client.column("SHOW BINARY LOG STATUS", "Position").unwrap(),
    );
    let named = client.query(&format!("SELECT BINLOG_GTID_POS('{file}', {position})")).unwrap();
    assert_eq!(replica.client().query("SELECT @@gtid_slave_pos").unwrap(), named);
}
