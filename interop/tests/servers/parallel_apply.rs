//! Logs of servers of all three kinds, executed many transactions at once, in every mode: the rows are the source's, and readers see whole transactions.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use interop::everyday::{EVERYDAY, assert_same, write_beside_each_other};
use interop::{Answer, Client, Connection, Kind, Node, Peer, Server, ServerOptions, beside, run_tool, until};

/// Clients that move money between a few accounts: most of their transactions want rows of others.
const CLIENTS: u64 = 6;
const TRANSFERS: u64 = 70;
const ACCOUNTS: u64 = 12;
const MONEY: u64 = 1000 * ACCOUNTS;
/// For a replica to have what its source has.
const PATIENCE: Duration = Duration::from_secs(240);

fn make_accounts(client: &Client) {
    let rows: Vec<String> = (1..=ACCOUNTS).map(|id| format!("({id}, 1000)")).collect();
    let rows = rows.join(", ");
    client
        .query(&format!(
            "CREATE TABLE d.accounts (id INT PRIMARY KEY, money INT NOT NULL); \
             CREATE TABLE d.moves (account INT NOT NULL, money INT, FOREIGN KEY (account) REFERENCES d.accounts (id)); \
             CREATE TABLE d.changing (id INT PRIMARY KEY AUTO_INCREMENT, n INT); \
             CREATE TABLE d.large (id INT PRIMARY KEY AUTO_INCREMENT, n INT, filling LONGTEXT); \
             CREATE TABLE d.slips (who INT, what VARCHAR(20)); INSERT INTO d.accounts VALUES {rows}"
        ))
        .unwrap();
}

/// Some may be victims of deadlocks; what they did not do is in no log.
fn transfer(port: u16, client: u64) {
    let mut connection = Connection::open(port, "d").unwrap();
    for turn in 0..TRANSFERS {
        let from = (client * 7 + turn * 5) % ACCOUNTS + 1;
        let to = (client * 3 + turn * 11 + 1) % ACCOUNTS + 1;
        let statements = [
            "BEGIN".to_owned(),
            format!("UPDATE accounts SET money = money - 3 WHERE id = {from}"),
            format!("UPDATE accounts SET money = money + 3 WHERE id = {to}"),
            format!("INSERT INTO moves VALUES ({from}, {turn})"),
            format!("INSERT INTO slips VALUES ({client}, 'slip {}')", turn % 5),
            format!("DELETE FROM slips WHERE who = {client} AND what = 'slip {}' LIMIT 1", (turn + 2) % 5),
            "COMMIT".to_owned(),
        ];
        for statement in &statements {
            if !matches!(connection.query(statement), Ok(Answer::Done { .. })) {
                connection.query("ROLLBACK").unwrap();
                break;
            }
        }
    }
}

/// A table that is defined again and again, while others are written.
fn define(port: u16) {
    let mut connection = Connection::open(port, "d").unwrap();
    for turn in 0..10 {
        let statements = [
            format!("ALTER TABLE changing ADD COLUMN c{turn} INT DEFAULT {turn}"),
            format!("INSERT INTO changing (n) VALUES ({turn}), ({})", turn + 1),
            format!("CREATE TABLE made_{turn} LIKE changing"),
            format!("INSERT INTO made_{turn} SELECT * FROM changing"),
            format!("RENAME TABLE made_{turn} TO kept_{turn}"),
            if turn % 4 == 3 { "TRUNCATE changing".to_owned() } else { format!("UPDATE changing SET n = n + {turn}") },
            format!("CREATE INDEX i{turn} ON changing (c{turn})"),
        ];
        for statement in &statements {
            let answer = connection.query(statement);
            assert!(matches!(answer, Ok(Answer::Done { .. })), "{statement}: {answer:?}");
        }
    }
}

/// Transactions of more than what stays in memory, which write what the others write too.
fn write_much(port: u16) {
    let mut connection = Connection::open(port, "d").unwrap();
    for turn in 0..3 {
        let row = format!("({turn}, REPEAT('{turn}', 300000))");
        let insert = format!("INSERT INTO large (n, filling) VALUES {}", vec![row; 20].join(", "));
        let take = format!("UPDATE accounts SET money = money - 1 WHERE id = {}", turn + 1);
        let give = format!("UPDATE accounts SET money = money + 1 WHERE id = {}", turn + 5);
        for statement in ["BEGIN", &insert, &take, &give, "COMMIT"] {
            if !matches!(connection.query(statement), Ok(Answer::Done { .. })) {
                connection.query("ROLLBACK").unwrap();
                break;
            }
        }
    }
}

/// A log with everything: conflicts, foreign keys, tables without a key, definitions and large transactions in the middle.
fn write_log(source: &Node) {
    source.client().query(EVERYDAY).unwrap();
    make_accounts(&source.client());
    let port = source.port();
    std::thread::scope(|scope| {
        for client in 0..CLIENTS {
            scope.spawn(move || transfer(port, client));
        }
        scope.spawn(move || write_beside_each_other(port, 4));
        scope.spawn(move || define(port));
        scope.spawn(move || write_much(port));
    });
    source.client().query("ALTER TABLE d.accounts ADD COLUMN note VARCHAR(10) DEFAULT 'new'").unwrap();
    std::thread::scope(|scope| {
        for client in 0..CLIENTS {
            scope.spawn(move || transfer(port, client));
        }
    });
    source.client().query("CREATE TABLE d.marks (id INT, n INT); INSERT INTO d.marks VALUES (1, 1)").unwrap();
}

/// A server without settings of its own behind a source; a log of ours is executed by a channel, where it is no copy.
fn replica(name: &str, source: &Node, settings: &[&str]) -> Server {
    let server = Server::start(name, ServerOptions::with_settings(settings)).unwrap();
    let (by, channel) = match source.kind() {
        Some(Kind::Maria118) => ("", ""),
        Some(Kind::Mysql97) => ("SOURCE_AUTO_POSITION=1,", ""),
        None => ("SOURCE_AUTO_POSITION=1,", "FOR CHANNEL 'c'"),
    };
    let change = format!(
        "CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={}, SOURCE_USER='root', {by} \
         GET_SOURCE_PUBLIC_KEY=1, SOURCE_CONNECT_RETRY=1 {channel}; START REPLICA",
        source.port()
    );
    server.client().query(&change).unwrap();
    server
}

/// Whoever looks sees all of the money, at any time.
fn look(port: u16, is_over: &AtomicBool) -> u64 {
    let mut connection = Connection::open(port, "").unwrap();
    let mut looks = 0;
    while !is_over.load(Ordering::Relaxed) {
        let Ok(Answer::Rows { rows, .. }) = connection.query("SELECT SUM(money) FROM d.accounts") else { continue };
        let Some(sum) = &rows[0][0] else { continue };
        assert_eq!(String::from_utf8_lossy(sum), MONEY.to_string());
        looks += 1;
        // The replica has the processors most of the time.
        std::thread::sleep(Duration::from_millis(5));
    }
    looks
}

/// Executes all of the log, with a STOP and a START in the middle.
fn executes(source: &Node, name: &str, settings: &[&str]) {
    let server = replica(name, source, settings);
    let client = server.client();
    let (looks, ()) = beside(
        |is_over| look(server.port(), is_over),
        || {
            std::thread::sleep(Duration::from_millis(60));
            client.query("STOP REPLICA; START REPLICA").unwrap();
            until(&format!("{settings:?}: the replica has what its source has"), || {
                let error = client.column("SHOW REPLICA STATUS", "Last_SQL_Error").unwrap();
                assert_eq!(error, "", "{settings:?}");
                client.query("SELECT COUNT(*) FROM d.marks").is_ok_and(|found| found.trim() == "1")
            });
        },
    );
    assert!(looks > 0, "nobody has looked");
    assert_same(&source.client(), &client);
    let is_parallel = !settings.contains(&"replica_parallel_mode=NONE");
    assert_eq!(client.status("Replica_parallel_transactions").unwrap() > 0, is_parallel, "{settings:?}");
}

const MODES: [&str; 9] =
    ["NONE", "SCHEMA", "DOMAIN", "MINIMAL", "CONSERVATIVE", "LOGICAL_CLOCK", "OPTIMISTIC", "AGGRESSIVE", "WRITESET"];

fn in_every_mode(kind: Option<Kind>, name: &str) {
    let source = match kind {
        Some(kind) => Node::Peer(Peer::start(kind, name, Duration::ZERO, &[]).unwrap()),
        None => Node::start(None, &format!("{name}-source")).unwrap(),
    };
    write_log(&source);
    for mode in MODES {
        executes(&source, name, &[&format!("replica_parallel_mode={mode}")]);
    }
    for workers in [1, 2, 256] {
        let workers = format!("replica_parallel_workers={workers}");
        executes(&source, name, &["replica_parallel_mode=OPTIMISTIC", &workers, "replica_row_differences=IGNORE"]);
    }
    // Nearly all transactions are in files then.
    executes(&source, name, &["replica_pending_jobs_size_max=1024"]);
    for mode in ["WRITESET", "LOGICAL_CLOCK"].into_iter().filter(|_| kind != Some(Kind::Maria118)) {
        executes(&source, name, &[&format!("replica_parallel_mode={mode}"), "replica_preserve_commit_order=OFF"]);
    }
}

#[test]
fn logs_of_mysql() {
    in_every_mode(Some(Kind::Mysql97), "parallel-mysql");
}

#[test]
fn logs_of_maria() {
    in_every_mode(Some(Kind::Maria118), "parallel-maria");
}

#[test]
fn logs_of_commuter() {
    in_every_mode(None, "parallel-ours");
}

/// Transactions that a replica may be behind before its source's clients wait for it: it is stopped and killed again and again.
const BEHIND: i64 = 1000;

/// Money goes to and fro until `is_over`, and tables are defined.
fn write_until(source: &Node, replica: u16, is_over: &AtomicBool) {
    let port = source.port();
    let moves = |port: u16| Client::tcp(port).number("SELECT COUNT(*) FROM d.moves");
    let is_far_behind = || matches!((moves(port), moves(replica)), (Ok(all), Ok(there)) if all - there > BEHIND);
    std::thread::scope(|scope| {
        for client in 0..CLIENTS {
            scope.spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    if is_far_behind() {
                        std::thread::sleep(Duration::from_millis(50));
                    } else {
                        transfer(port, client);
                    }
                }
            });
        }
        scope.spawn(move || define(port));
    });
}

/// What an administrator may do at any time: it ends, and nothing is lost.
fn disturb(server: &Server, turn: usize) {
    let client = server.client();
    match turn % 6 {
        0 => {
            let status = "SHOW BINARY LOG STATUS";
            let text = client
                .query(&format!("FLUSH TABLES WITH READ LOCK; {status}; DO SLEEP(0.02); {status}; UNLOCK TABLES"));
            let text = text.unwrap();
            let lines: Vec<&str> = text.lines().collect();
            assert_eq!(lines[..lines.len() / 2], lines[lines.len() / 2..], "nobody commits");
        }
        1 => drop(client.query("SHOW GLOBAL STATUS; SHOW REPLICA STATUS; SHOW PROCESSLIST").unwrap()),
        2 => {
            let tables = ["applier_queue", "applier_status_by_worker", "applier_barriers", "parallelism", "lag"];
            let look = |table: &&str| format!("SELECT * FROM performance_schema.replication_{table};");
            drop(client.query(&tables.iter().map(look).collect::<String>()).unwrap());
        }
        3 => drop(client.query("STOP REPLICA SQL_THREAD; START REPLICA SQL_THREAD").unwrap()),
        4 => {
            let port = server.port().to_string();
            // The others come and go.
            let dump = ["-h127.0.0.1", "-P", &port, "-uroot", "--single-transaction", "d", "accounts"];
            let text = run_tool(Kind::Mysql97, "mysqldump", &dump).unwrap();
            assert!(text.contains("Dump completed"), "{text}");
        }
        _ => drop(client.query("LOCK TABLES d.accounts WRITE; DO SLEEP(0.02); UNLOCK TABLES").unwrap()),
    }
}

fn change_mode(server: &Server, kind: Option<Kind>, turn: usize, mode: &str) {
    let is_ordered = turn % 4 < 2 || kind == Some(Kind::Maria118);
    // Out of order these two promise what is not so.
    let is_ordered = is_ordered || matches!(mode, "OPTIMISTIC" | "AGGRESSIVE");
    let change = format!(
        "STOP REPLICA; SET GLOBAL replica_parallel_mode = {mode}; SET GLOBAL replica_preserve_commit_order = {is_ordered}; START REPLICA"
    );
    server.client().query(&change).unwrap();
    std::thread::sleep(Duration::from_millis(20));
}

/// Any mode follows any other, with STOP and START between them, beside what administrators do, and with deaths.
fn changes_modes(kind: Option<Kind>, name: &str) {
    let source = Node::start(kind, &format!("{name}-source")).unwrap();
    source.client().query(EVERYDAY).unwrap();
    make_accounts(&source.client());
    let mut server = replica(name, &source, &[]);
    until("it has the accounts", || server.client().query("SELECT money FROM d.accounts").is_ok());
    let replica = server.port();
    let from_and_to = || {
        let mut turn = 0;
        for (at, from) in MODES.iter().enumerate() {
            change_mode(&server, kind, turn, from);
            for to in &MODES[at + 1..] {
                change_mode(&server, kind, turn, to);
                change_mode(&server, kind, turn, from);
                disturb(&server, turn);
                if turn % 12 == 11 {
                    server.kill();
                    server.restart().unwrap();
                }
                let error = server.client().column("SHOW REPLICA STATUS", "Last_SQL_Error").unwrap();
                assert_eq!(error, "", "from {from} to {to} and back");
                turn += 1;
            }
        }
    };
    beside(|is_over| write_until(&source, replica, is_over), from_and_to);
    let server = Node::Ours(server);
    source.wait_for_replica(&server, PATIENCE).unwrap();
    assert_same(&source.client(), &server.client());
}

#[test]
fn modes_change_on_a_log_of_mysql() {
    changes_modes(Some(Kind::Mysql97), "modes-mysql");
}

#[test]
fn modes_change_on_a_log_of_maria() {
    changes_modes(Some(Kind::Maria118), "modes-maria");
}

#[test]
fn modes_change_on_a_log_of_commuter() {
    changes_modes(None, "modes-ours");
}
