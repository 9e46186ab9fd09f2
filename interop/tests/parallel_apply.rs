//! Logs of real servers, executed many transactions at once, in every mode: the rows are the source's, and readers see whole transactions.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use interop::everyday::{EVERYDAY, assert_same, write_beside_each_other};
use interop::{Answer, Client, Connection, Kind, Peer, Server, ServerOptions, until};

/// Clients that move money between a few accounts: most of their transactions want rows of others.
const CLIENTS: u64 = 6;
const TRANSFERS: u64 = 120;
const ACCOUNTS: u64 = 12;
const MONEY: u64 = 1000 * ACCOUNTS;

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
fn write_log(source: &Peer) {
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

fn replica(name: &str, source: &Peer, settings: &[&str]) -> Server {
    let set = |setting: &&str| ["--set".to_owned(), (*setting).to_owned()];
    let arguments = settings.iter().flat_map(set).collect();
    let server = Server::start(name, ServerOptions { arguments, ..ServerOptions::default() }).unwrap();
    let by = if source.kind() == Kind::Mysql97 { "SOURCE_AUTO_POSITION=1," } else { "" };
    let change = format!(
        "CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={}, SOURCE_USER='root', {by} \
         GET_SOURCE_PUBLIC_KEY=1, SOURCE_CONNECT_RETRY=1; START REPLICA",
        source.port()
    );
    server.client().query(&change).unwrap();
    server
}

/// Whoever looks sees all of the money, at any time.
fn look(port: u16, is_done: &AtomicBool) -> u64 {
    let mut connection = Connection::open(port, "").unwrap();
    let mut looks = 0;
    while !is_done.load(Ordering::Relaxed) {
        let Ok(Answer::Rows { rows, .. }) = connection.query("SELECT SUM(money) FROM d.accounts") else { continue };
        let Some(sum) = &rows[0][0] else { continue };
        assert_eq!(String::from_utf8_lossy(sum), MONEY.to_string());
        looks += 1;
    }
    looks
}

/// Executes all of the log, with a STOP and a START in the middle.
fn executes(source: &Peer, name: &str, settings: &[&str]) {
    let server = replica(name, source, settings);
    let client = server.client();
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let looks = scope.spawn(|| look(server.port(), &is_done));
        std::thread::sleep(Duration::from_millis(60));
        client.query("STOP REPLICA; START REPLICA").unwrap();
        until(&format!("{settings:?}: the replica has what its source has"), || {
            let error = client.column("SHOW REPLICA STATUS", "Last_SQL_Error").unwrap();
            assert_eq!(error, "", "{settings:?}");
            client.query("SELECT COUNT(*) FROM d.marks").is_ok_and(|found| found.trim() == "1")
        });
        is_done.store(true, Ordering::Relaxed);
        assert!(looks.join().unwrap() > 0, "nobody has looked");
    });
    assert_same(&source.client(), &client);
    let is_parallel = !settings.contains(&"replica_parallel_mode=NONE");
    assert_eq!(client.status("Replica_parallel_transactions").unwrap() > 0, is_parallel, "{settings:?}");
}

const MODES: [&str; 9] =
    ["NONE", "SCHEMA", "DOMAIN", "MINIMAL", "CONSERVATIVE", "LOGICAL_CLOCK", "OPTIMISTIC", "AGGRESSIVE", "WRITESET"];

fn in_every_mode(kind: Kind, name: &str) {
    let source = Peer::start(kind, name, Duration::ZERO, &[]).unwrap();
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
    for mode in ["WRITESET", "LOGICAL_CLOCK"].into_iter().filter(|_| kind == Kind::Mysql97) {
        executes(&source, name, &[&format!("replica_parallel_mode={mode}"), "replica_preserve_commit_order=OFF"]);
    }
}

#[test]
fn logs_of_mysql() {
    in_every_mode(Kind::Mysql97, "parallel-mysql");
}

#[test]
fn logs_of_maria() {
    in_every_mode(Kind::Maria118, "parallel-maria");
}
