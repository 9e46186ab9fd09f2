//! `performance_schema.replication_*` and `SOURCE_DELAY`, beside a real MySQL, and with one as the source.

use std::time::{Duration, Instant};

use interop::{Answer, Client, Connection, Kind, Peer, Server, ServerOptions, run_tool, until};

fn follow(server: &Server, source: &Peer, more: &str) -> Client {
    let client = server.client();
    let change = format!(
        "CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={}, SOURCE_USER='root', SOURCE_AUTO_POSITION=1, \
         GET_SOURCE_PUBLIC_KEY=1 {more}; START REPLICA",
        source.port()
    );
    client.query(&change).unwrap();
    client
}

fn done(connection: &mut Connection, statement: &str) {
    let answer = connection.query(statement);
    assert!(matches!(answer, Ok(Answer::Done { .. })), "{statement}: {answer:?}");
}

fn executed(client: &Client, source: &Peer) {
    let gtids = interop::gtid_executed(&source.client()).unwrap();
    let waited = client.query(&format!("SELECT WAIT_FOR_EXECUTED_GTID_SET('{gtids}', 60)")).unwrap();
    assert_eq!(waited.trim(), "0");
}

/// A row of a table of `performance_schema`, with blanks between the columns.
fn rows(client: &Client, columns: &str, table: &str) -> Vec<String> {
    let found = client.query(&format!("SELECT {columns} FROM performance_schema.{table}")).unwrap();
    found.lines().map(|line| line.replace('\t', " ")).collect()
}

const TABLES: [&str; 12] = [
    "replication_connection_configuration",
    "replication_connection_status",
    "replication_applier_configuration",
    "replication_applier_status",
    "replication_applier_status_by_coordinator",
    "replication_applier_status_by_worker",
    "replication_applier_filters",
    "replication_applier_global_filters",
    // Nobody has any of these here.
    "replication_asynchronous_connection_failover",
    "replication_asynchronous_connection_failover_managed",
    "replication_group_members",
    "replication_group_member_stats",
];

/// Of other schemas, by which tools look at a server.
const OF_SERVERS: [(&str, &str); 10] = [
    ("performance_schema", "processlist"),
    ("performance_schema", "threads"),
    ("performance_schema", "setup_consumers"),
    ("performance_schema", "setup_instruments"),
    ("information_schema", "INNODB_CMP"),
    ("information_schema", "INNODB_CMPMEM"),
    ("information_schema", "INNODB_METRICS"),
    ("information_schema", "PROFILING"),
    ("information_schema", "COLUMN_STATISTICS"),
    ("mysql", "procs_priv"),
];

#[test]
fn tables_have_the_columns_of_mysql() {
    let peer = Peer::start(Kind::Mysql97, "replication-columns", Duration::ZERO, &[]).unwrap();
    let server = Server::start("replication-columns", ServerOptions::default()).unwrap();
    let tables = TABLES.iter().map(|table| ("performance_schema", *table));
    for (schema, table) in tables.chain(OF_SERVERS) {
        let columns = |client: &Client| {
            let query = format!(
                "SELECT column_name FROM information_schema.columns WHERE table_schema = '{schema}' \
                 AND table_name = '{table}' ORDER BY ordinal_position"
            );
            client.query(&query).unwrap().lines().map(str::to_owned).collect::<Vec<_>>()
        };
        let (theirs, ours) = (columns(&peer.client()), columns(&server.client()));
        assert!(!theirs.is_empty());
        assert_eq!(ours[..theirs.len()], theirs, "{table}");
    }
    assert_eq!(rows(&server.client(), "*", "replication_applier_status_by_worker"), Vec::<String>::new(), "no channel");
}

/// Of a source that has written all of its log.
fn last_gtid(source: &Peer) -> (String, u64) {
    let executed = interop::gtid_executed(&source.client()).unwrap();
    let (uuid, numbers) = executed.split_once(':').unwrap();
    (uuid.to_owned(), numbers.rsplit('-').next().unwrap().parse().unwrap())
}

#[test]
fn workers_and_what_they_wait_for() {
    let source = Peer::start(Kind::Mysql97, "replication-workers", Duration::ZERO, &[]).unwrap();
    let server = Server::start("replication-workers", ServerOptions::default()).unwrap();
    let client = follow(&server, &source, "");
    source
        .client()
        .query("CREATE DATABASE d; CREATE TABLE d.t (a INT PRIMARY KEY, b INT); INSERT INTO d.t VALUES (1, 1), (2, 2)")
        .unwrap();
    executed(&client, &source);
    let mut blocker = Connection::open(server.port(), "d").unwrap();
    done(&mut blocker, "BEGIN");
    done(&mut blocker, "UPDATE t SET b = 7 WHERE a = 1");
    source
        .client()
        .query("UPDATE d.t SET b = 3 WHERE a = 1; UPDATE d.t SET b = 4 WHERE a = 2; UPDATE d.t SET b = 5 WHERE a = 1")
        .unwrap();
    let (uuid, number) = last_gtid(&source);
    let gtid = |back: u64| format!("{uuid}:{}", number - back);
    let expected = [
        format!("1 {} EXECUTING NULL", gtid(2)),
        format!("2 {} WAITING FOR COMMIT ORDER NULL", gtid(1)),
        format!("3 {} WAITING FOR PREDECESSOR {}", gtid(0), gtid(2)),
    ];
    until("one waits for a row, one for its turn, one for the first", || {
        rows(&client, "queue_position, transaction, state, waits_for", "replication_applier_queue") == expected
    });
    let busy = |state: &str| {
        let condition = format!("replication_applier_status_by_worker WHERE worker_state = '{state}'");
        rows(&client, "applying_transaction", &condition)
    };
    assert_eq!(busy("Applying batch of row changes"), [gtid(2)]);
    assert_eq!(busy("Waiting for preceding transaction to commit"), [gtid(1)]);
    let processed = "last_processed_transaction, processing_transaction, \
         last_processed_transaction_end_buffer_timestamp >= last_processed_transaction_start_buffer_timestamp, \
         last_processed_transaction_start_buffer_timestamp > NOW() - INTERVAL 1 HOUR";
    let expected = [format!("{}  1 1", gtid(0))];
    assert_eq!(rows(&client, processed, "replication_applier_status_by_coordinator"), expected);
    let queued = "last_queued_transaction, queueing_transaction, \
         last_queued_transaction_end_queue_timestamp >= last_queued_transaction_start_queue_timestamp, \
         last_queued_transaction_start_queue_timestamp > NOW() - INTERVAL 1 HOUR";
    assert_eq!(rows(&client, queued, "replication_connection_status"), expected);
    done(&mut blocker, "ROLLBACK");
    executed(&client, &source);
    let condition = format!("replication_applier_status_by_worker WHERE last_applied_transaction = '{}'", gtid(1));
    assert_eq!(
        rows(&client, "table_schema, table_name, last_applied_transaction_retries_count", &condition),
        ["d t 0"]
    );
    assert_eq!(rows(&client, "*", "replication_applier_queue"), Vec::<String>::new());
    let parallelism = "channel_name, parallel_mode, count_received = count_intervals, count_waited_for_order > 0";
    assert_eq!(rows(&client, parallelism, "replication_parallelism"), [" WRITESET 1 1"]);
    let barriers = rows(&client, "reason, count_transactions", "replication_applier_barriers");
    assert_eq!(barriers, ["STATEMENT 1", "DEFINITION 1", "LARGE TRANSACTION 0", "SOURCE HINT 0", "UNKNOWN ROWS 0"]);
    let status = "channel_name, service_state, remaining_delay, count_transactions_retries";
    assert_eq!(rows(&client, status, "replication_applier_status"), [" ON NULL 0"]);
}

/// With workers, and without: who tries again says why.
#[test]
fn errors_after_which_it_is_tried_again() {
    for mode in ["NONE", "WRITESET"] {
        let source = Peer::start(Kind::Mysql97, "replication-retries", Duration::ZERO, &[]).unwrap();
        let setting = format!("replica_parallel_mode={mode}");
        let options = ServerOptions::with_settings([setting.as_str(), "innodb_lock_wait_timeout=1"]);
        let server = Server::start("replication-retries", options).unwrap();
        let client = follow(&server, &source, "");
        source
            .client()
            .query("CREATE DATABASE d; CREATE TABLE d.t (a INT PRIMARY KEY, b INT); INSERT INTO d.t VALUES (1, 1)")
            .unwrap();
        executed(&client, &source);
        let mut blocker = Connection::open(server.port(), "d").unwrap();
        done(&mut blocker, "BEGIN");
        done(&mut blocker, "UPDATE t SET b = 7 WHERE a = 1");
        source.client().query("UPDATE d.t SET b = 3 WHERE a = 1").unwrap();
        let (uuid, number) = last_gtid(&source);
        let last = format!("{uuid}:{number}");
        let of = |what: &str| {
            let columns = format!(
                "{what}_transaction, {what}_transaction_retries_count > 0, {what}_transaction_last_transient_error_number, \
                 {what}_transaction_last_transient_error_message LIKE '%Lock wait timeout exceeded%', \
                 {what}_transaction_last_transient_error_timestamp > NOW() - INTERVAL 1 HOUR"
            );
            rows(&client, &columns, "replication_applier_status_by_worker").join("\n")
        };
        until("it is tried again", || of("applying").contains(&format!("{last} 1 1205 1 1")));
        done(&mut blocker, "ROLLBACK");
        executed(&client, &source);
        until("it is applied", || of("last_applied").contains(&format!("{last} 1 1205 1 1")));
        let times = "last_applied_transaction_end_apply_timestamp >= last_applied_transaction_start_apply_timestamp, table_schema";
        let condition = format!("replication_applier_status_by_worker WHERE last_applied_transaction = '{last}'");
        assert_eq!(rows(&client, times, &condition), ["1 d"]);
    }
}

/// Which filters there are, where from, and whether they have matched: as a replica of MySQL's says it. (For how often see `RuleUses`; MySQL
/// does not count the default database of CREATE DATABASE, which it does not rename.)
#[test]
fn filters() {
    let source = Peer::start(Kind::Mysql97, "replication-filters-source", Duration::ZERO, &[]).unwrap();
    let theirs =
        Peer::start(Kind::Mysql97, "replication-filters", Duration::ZERO, &["--replicate-ignore-table=a.b"]).unwrap();
    let settings = ["replicate_ignore_table=a.b"];
    let ours = Server::start("replication-filters", ServerOptions::with_settings(settings)).unwrap();
    let clients = [ours.client(), theirs.client()];
    let same = |what: &str| {
        let shown = |client: &Client| {
            let when = "active_since > NOW() - INTERVAL 1 HOUR";
            let counted = "counter > 0 AND filter_name <> 'REPLICATE_REWRITE_DB'";
            let columns = format!("channel_name, filter_name, filter_rule, configured_by, {when}, {counted}");
            let mut all = rows(client, &columns, "replication_applier_filters");
            all.sort();
            let columns = format!("filter_name, filter_rule, configured_by, {when}");
            let mut of_all = rows(client, &columns, "replication_applier_global_filters");
            of_all.sort();
            (all, of_all)
        };
        let [ours, theirs] = clients.each_ref().map(shown);
        assert_eq!(ours, theirs, "{what}");
        theirs
    };
    let (of_channels, of_all) = same("the start");
    assert_eq!((of_channels.len(), of_all.len()), (0, 1));
    for statement in [
        "CHANGE REPLICATION FILTER REPLICATE_WILD_IGNORE_TABLE = ('d.t%', 'x.y'), REPLICATE_REWRITE_DB = ((e, d), (f, g))",
        "CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_USER='root', SOURCE_PORT={port}, \
         SOURCE_AUTO_POSITION=1, GET_SOURCE_PUBLIC_KEY=1 FOR CHANNEL 'c'",
        "CHANGE REPLICATION FILTER REPLICATE_DO_DB = (d, h), REPLICATE_IGNORE_TABLE = () FOR CHANNEL 'c'",
    ] {
        let statement = statement.replace("{port}", &source.port().to_string());
        clients.iter().for_each(|client| drop(client.query(&statement).unwrap()));
        same(&statement);
    }
    clients.iter().for_each(|client| drop(client.query("START REPLICA FOR CHANNEL 'c'").unwrap()));
    for statement in [
        "CREATE DATABASE d; CREATE DATABASE e; CREATE DATABASE x",
        "USE d; CREATE TABLE t1 (a INT PRIMARY KEY); CREATE TABLE u (a INT PRIMARY KEY); USE x; CREATE TABLE t (a INT PRIMARY KEY)",
        "INSERT INTO d.t1 VALUES (1); INSERT INTO d.u VALUES (1); INSERT INTO d.u VALUES (2); INSERT INTO x.t VALUES (1)",
    ] {
        source.client().query(statement).unwrap();
    }
    clients.iter().for_each(|client| executed(client, &source));
    let (of_channels, _) = same("counted");
    assert!(of_channels.iter().any(|line| line == "c REPLICATE_DO_DB d,h CHANGE_REPLICATION_FILTER_FOR_CHANNEL 1 1"));
}

#[test]
fn what_is_delayed_is_executed_later_and_not_before() {
    const DELAY: Duration = Duration::from_secs(3);
    let source = Peer::start(Kind::Mysql97, "replication-delay", Duration::ZERO, &[]).unwrap();
    let server = Server::start("replication-delay", ServerOptions::default()).unwrap();
    let client = follow(&server, &source, ", SOURCE_DELAY=3");
    source.client().query("CREATE DATABASE d; CREATE TABLE d.t (a INT PRIMARY KEY)").unwrap();
    executed(&client, &source);
    let before = Instant::now();
    source.client().query("INSERT INTO d.t VALUES (1)").unwrap();
    let doing = || client.column("SHOW REPLICA STATUS", "Replica_SQL_Running_State").unwrap();
    until("it is received", || doing() == "Waiting until SOURCE_DELAY seconds after source executed event");
    assert_eq!(client.column("SHOW REPLICA STATUS", "SQL_Delay").unwrap(), "3");
    let left: u64 = client.column("SHOW REPLICA STATUS", "SQL_Remaining_Delay").unwrap().parse().unwrap();
    assert!(left <= 3);
    until("it is executed", || client.query("SELECT a FROM d.t").unwrap().trim() == "1");
    assert!(before.elapsed() >= DELAY, "after {:?}", before.elapsed());
    // Who waits can be stopped, and asked for less.
    source.client().query("INSERT INTO d.t VALUES (2)").unwrap();
    until("it is received", || doing() != "Replica has read all relay log; waiting for more updates");
    client.query("STOP REPLICA; CHANGE REPLICATION SOURCE TO SOURCE_DELAY=0; START REPLICA").unwrap();
    executed(&client, &source);
    let error = client.query("STOP REPLICA; CHANGE REPLICATION SOURCE TO SOURCE_DELAY=2147483648").unwrap_err();
    assert!(error.contains("1729"), "{error}");
}

/// Domains are executed side by side because somebody said that they have nothing in common; what they have is found, and told.
#[test]
fn domains_that_are_not_independent() {
    let source = Peer::start(Kind::Maria118, "replication-domains", Duration::ZERO, &[]).unwrap();
    let settings = ["replica_parallel_mode=DOMAIN"];
    let server = Server::start("replication-domains", ServerOptions::with_settings(settings)).unwrap();
    let client = server.client();
    source
        .client()
        .query("CREATE DATABASE d; CREATE TABLE d.t (a INT PRIMARY KEY, b INT); CREATE TABLE d.u (a INT PRIMARY KEY); INSERT INTO d.t VALUES (1, 0), (2, 0)")
        .unwrap();
    for (domain, from) in [(1, 10), (2, 20)] {
        let ids: Vec<String> = (from..from + 5).map(|id| format!("INSERT INTO d.u VALUES ({id});")).collect();
        source.client().query(&format!("SET gtid_domain_id = {domain}; {}", ids.concat())).unwrap();
    }
    // Not a word of those that are independent, and each that is not.
    for round in 0..20 {
        let domain = 1 + round % 2;
        source
            .client()
            .query(&format!("SET gtid_domain_id = {domain}; UPDATE d.t SET b = {round} + 1 WHERE a = 1"))
            .unwrap();
    }
    let position = source.client().query("SELECT @@gtid_binlog_pos").unwrap();
    follow(&server, &source, "");
    until("all is executed", || {
        assert_eq!(client.column("SHOW REPLICA STATUS", "Last_SQL_Error").unwrap(), "");
        let sorted = |position: &str| {
            let mut gtids: Vec<String> = position.trim().split(',').map(str::to_owned).collect();
            gtids.sort();
            gtids
        };
        sorted(&client.query("SELECT @@gtid_slave_pos").unwrap()) == sorted(&position)
    });
    assert_eq!(client.query("SELECT b FROM d.t WHERE a = 1").unwrap().trim(), "20");
    let mut found =
        rows(&client, "domain_id, other_domain_id, tables, count_transactions", "replication_applier_crossings");
    found.sort();
    assert_eq!(found, ["1 0 d.t 1", "1 2 d.t 9", "2 1 d.t 10"]);
    let message = "domains 2 and 1 are not independent";
    assert!(server.log().contains(message), "{}", server.log());
}

/// How far a replica is behind: by the oldest transaction that is not executed, whoever waits, and nothing when the source is idle.
#[test]
fn lag() {
    const PAUSE: Duration = Duration::from_secs(3);
    let source = Peer::start(Kind::Mysql97, "replication-lag", Duration::ZERO, &[]).unwrap();
    let server = Server::start("replication-lag", ServerOptions::default()).unwrap();
    let client = follow(&server, &source, "");
    source.client().query("CREATE DATABASE d; CREATE TABLE d.t (a INT PRIMARY KEY)").unwrap();
    executed(&client, &source);
    let lag = |columns: &str| rows(&client, columns, "replication_lag").pop().unwrap();
    let behind = || client.column("SHOW REPLICA STATUS", "Seconds_Behind_Source").unwrap();
    until("nothing is left", || lag("transactions, event_bytes, seconds, seconds_since_origin") == "0 0 0 0");
    assert_eq!(behind(), "0");
    // After some idle time one is in somebody's way: it is not behind since the last one.
    std::thread::sleep(PAUSE);
    let mut blocker = Connection::open(server.port(), "d").unwrap();
    done(&mut blocker, "BEGIN");
    done(&mut blocker, "INSERT INTO t VALUES (1)");
    let before = Instant::now();
    source.client().query("INSERT INTO d.t VALUES (1); INSERT INTO d.t VALUES (2)").unwrap();
    until("both are received", || lag("transactions") == "2");
    let seconds: f64 = lag("seconds").parse().unwrap();
    assert!(seconds <= before.elapsed().as_secs_f64() + 1.0, "{seconds}");
    assert!(lag("event_bytes > 0, seconds_since_origin >= seconds") == "1 1", "{}", lag("*"));
    until("it is behind", || behind() != "0");
    // Nobody executes: it falls back further.
    client.query("STOP REPLICA SQL_THREAD").unwrap();
    assert_eq!(behind(), "NULL");
    until("both are received again", || lag("transactions, seconds > 1") == "2 1");
    done(&mut blocker, "ROLLBACK");
    client.query("START REPLICA SQL_THREAD").unwrap();
    executed(&client, &source);
    until("nothing is left", || lag("transactions, event_bytes, seconds") == "0 0 0");
    assert!(lag("last_transaction_seconds").parse::<f64>().unwrap() >= 1.0, "{}", lag("*"));
}

/// Names of columns of SHOW REPLICA STATUS, and the types that a client sees.
fn described(port: u16, statement: &str) -> Vec<(String, String)> {
    let port = port.to_string();
    let options = ["--no-defaults", "-h127.0.0.1", "-P", &port, "-uroot", "--get-server-public-key", "-t"];
    let text =
        run_tool(Kind::Mysql97, "mysql", &[&options[..], &["--column-type-info", "-e", statement]].concat()).unwrap();
    let value = |line: &str| line.split_once(':').unwrap().1.trim().to_owned();
    let of = |begin: &str| text.lines().filter(|line| line.starts_with(begin)).map(value).collect::<Vec<_>>();
    let names = of("Field").into_iter().map(|field| field.split('`').nth(1).unwrap().to_owned());
    // Texts are of other lengths.
    let kind = |(ty, flags): (String, String)| match ty.contains("LONG") {
        true => format!("{ty} {}", if flags.contains("UNSIGNED") { "UNSIGNED" } else { "" }),
        false => "text".to_owned(),
    };
    names.zip(of("Type").into_iter().zip(of("Flags")).map(kind)).collect()
}

#[test]
fn numbers_of_the_status_are_numbers() {
    let ours = Server::start("status-types", ServerOptions::default()).unwrap();
    let peer = Peer::start(Kind::Mysql97, "status-types", Duration::ZERO, &[]).unwrap();
    let change = "CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT=1, SOURCE_USER='nobody'";
    for client in [ours.client(), peer.client()] {
        client.query(change).unwrap();
    }
    for statement in ["SHOW REPLICA STATUS", "SHOW BINARY LOG STATUS", "SHOW BINARY LOGS", "SHOW BINLOG EVENTS LIMIT 1"]
    {
        assert_eq!(described(ours.port(), statement), described(peer.port(), statement), "{statement}");
    }
    // What goes wrong on the way to the source is no error of what applies.
    ours.client().query("START REPLICA").unwrap();
    let status = |column: &str| ours.client().column("SHOW REPLICA STATUS", column).unwrap();
    until("an error of the connection", || status("Last_IO_Errno") != "0");
    assert_eq!((status("Last_Errno"), status("Last_Error")), ("0".to_owned(), String::new()));
}

/// What a source by GTIDs leaves out of its file, because it is here, counts as read.
#[test]
fn a_replica_that_has_all_is_where_its_source_is() {
    let source = Peer::start(Kind::Mysql97, "read-position", Duration::ZERO, &[]).unwrap();
    let ours = Server::start("read-position", ServerOptions::default()).unwrap();
    source
        .client()
        .query("CREATE DATABASE d; CREATE TABLE d.t (id INT PRIMARY KEY); INSERT INTO d.t VALUES (1)")
        .unwrap();
    let client = follow(&ours, &source, "");
    executed(&client, &source);
    client.query("STOP REPLICA; START REPLICA").unwrap();
    let end = source.client().column("SHOW BINARY LOG STATUS", "Position").unwrap();
    for column in ["Read_Source_Log_Pos", "Exec_Source_Log_Pos"] {
        until(column, || client.column("SHOW REPLICA STATUS", column).unwrap() == end);
    }
}

/// What tools for replication ask a server for, by MySQL's names and MariaDB's.
const ASKED_FOR: [&str; 14] = [
    "relay_log_purge",
    "relay_log_recovery",
    "relay_log_space_limit",
    "replica_max_allowed_packet",
    "slave_max_allowed_packet",
    "init_replica",
    "init_slave",
    "rpl_stop_replica_timeout",
    "binlog_gtid_simple_recovery",
    "binlog_error_action",
    "binlog_encryption",
    "terminology_use_previous",
    "gtid_executed_compression_period",
    "report_host",
];

#[test]
fn what_tools_ask_for_has_the_values_of_mysql() {
    let ours = Server::start("asked-for", ServerOptions::default()).unwrap();
    let peer = Peer::start(Kind::Mysql97, "asked-for", Duration::ZERO, &[]).unwrap();
    let asked = ASKED_FOR.map(|name| format!("@@GLOBAL.{name}")).join(", ");
    for sql in [
        format!("SELECT {asked}"),
        "SHOW VARIABLES LIKE 'report_host'".to_owned(),
        "SELECT ENGINE, SUPPORT, TRANSACTIONS, XA, SAVEPOINTS FROM information_schema.ENGINES WHERE ENGINE = 'InnoDB'"
            .to_owned(),
    ] {
        assert_eq!(ours.client().query(&sql).unwrap(), peer.client().query(&sql).unwrap(), "{sql}");
    }
    assert_eq!(ours.client().query("SELECT @@report_port").unwrap(), format!("{}\n", ours.port()));
    let maria = "SELECT @@relay_log_index, @@slave_load_tmpdir, @@gtid_ignore_duplicates, @@slave_ddl_exec_mode, @@slave_run_triggers_for_rbr, @@read_binlog_speed_limit";
    ours.client().query(maria).unwrap();
}
