//! A load of all kinds of statements over all types, by clients that outlive their server.
//!
//! Each client has tables of its own, which it defines anew now and then, and all meet in one. What a statement was that a server's death
//! has cut off nobody knows; so none of them depends on those before it.

use std::sync::RwLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::{Answer, Connection};

/// So long a client waits for a server that has gone.
const PATIENCE: Duration = Duration::from_secs(300);
/// Statements of a client until they begin again.
const CYCLE: u64 = 100;
/// What two clients, or a statement that came before a death and was done, may make of a statement; it is not in the log then: no such
/// column or table, one that is there already, a deadlock.
const EXPECTED: [u16; 8] = [1050, 1051, 1060, 1061, 1091, 1146, 1205, 1213];
/// What statements begin with that define tables.
const DEFINITIONS: [&str; 5] = ["ALTER", "CREATE", "DROP", "RENAME", "TRUNCATE"];
/// A server that is going.
const GOING: [u16; 3] = [1053, 1080, 2013];

/// The tables of a client, by its number.
fn tables(client: u64) -> String {
    format!(
        "CREATE TABLE IF NOT EXISTS m{client} (id INT AUTO_INCREMENT PRIMARY KEY, t1 TINYINT, t2 SMALLINT UNSIGNED, t3 MEDIUMINT, i INT, \
         t4 BIGINT UNSIGNED, f FLOAT, d DOUBLE, de DECIMAL(30,10), c CHAR(10), vc VARCHAR(300) CHARACTER SET latin1, vb VARBINARY(20), \
         bi BINARY(5), tx TEXT, lt LONGTEXT, bl LONGBLOB, da DATE, ti TIME(6), dt DATETIME(6), ts TIMESTAMP(3) NULL, y YEAR, \
         en ENUM('x','y','z'), se SET('p','q','r'), b BIT(10), j JSON, KEY (i), UNIQUE KEY (vb, id)); \
         CREATE TABLE IF NOT EXISTS n{client} (a INT, s VARCHAR(20)); \
         CREATE TABLE IF NOT EXISTS scratch{client} (id INT AUTO_INCREMENT PRIMARY KEY, v INT);"
    )
}

const SHARED: &str = "CREATE TABLE shared (id INT PRIMARY KEY, n BIGINT NOT NULL, s VARCHAR(100), KEY (n)); \
                      CREATE TABLE owner (id INT PRIMARY KEY, n INT); \
                      CREATE TABLE owned (id INT AUTO_INCREMENT PRIMARY KEY, p INT, \
                      FOREIGN KEY (p) REFERENCES owner (id) ON DELETE CASCADE ON UPDATE CASCADE); \
                      INSERT INTO owner VALUES (1,0), (2,0), (3,0), (4,0), (5,0), (6,0), (7,0), (8,0), (9,0), (10,0);";

/// The transaction of a client with this number: its statements.
fn transaction(client: u64, n: u64) -> Vec<String> {
    let m = format!("m{client}");
    // A fifth of the transactions makes a row of it.
    let near = n / 5;
    let one = |sql: String| vec![sql];
    match n % CYCLE {
        7 => one(format!("ALTER TABLE {m} ADD COLUMN more INT NOT NULL DEFAULT 5 FIRST")),
        17 => one(format!("CREATE INDEX late ON {m} (t2, c)")),
        27 => one(format!("ALTER TABLE {m} DROP COLUMN more")),
        37 => one(format!("CREATE TABLE made{client} (id INT PRIMARY KEY, s VARCHAR(30))")),
        38 => one(format!("INSERT IGNORE INTO made{client} SELECT id, c FROM {m}")),
        47 => one(format!("DROP INDEX late ON {m}")),
        57 => one(format!("RENAME TABLE made{client} TO made{client}_2")),
        67 => one(format!("DROP TABLE IF EXISTS made{client}_2, made{client}")),
        77 => one(format!("TRUNCATE TABLE scratch{client}")),
        87 => one(format!(
            "INSERT INTO {m} (lt, bl) VALUES (REPEAT('long{n}', 5000), REPEAT(x'00ff{client:02x}', 20000))"
        )),
        97 => one(format!("DELETE FROM {m} WHERE id < {}", near.saturating_sub(60))),
        98 if client == 0 => one("FLUSH BINARY LOGS".to_owned()),
        rest => match rest % 10 {
            0 => one(format!(
                "UPDATE {m} SET de = de + 1, tx = NULL, b = b'1', j = '{{\"n\": {n}}}', ts = NULL WHERE id > {} AND id <= {near}",
                near.saturating_sub(4)
            )),
            1 => one(format!("DELETE FROM {m} WHERE id = {}", n / 6)),
            2 => one(format!(
                "INSERT INTO shared VALUES ({}, 1, 'first') ON DUPLICATE KEY UPDATE n = n + 1, s = '{client} {n}'",
                n % 7
            )),
            3 => vec![
                "BEGIN".to_owned(),
                full_row(&m, n),
                format!("INSERT INTO scratch{client} (v) VALUES ({n}), ({n})"),
                "SAVEPOINT s".to_owned(),
                format!("INSERT INTO scratch{client} (v) VALUES (0)"),
                "ROLLBACK TO s".to_owned(),
                format!("UPDATE shared SET n = n + {n} WHERE id = {}", n % 7),
                "COMMIT".to_owned(),
            ],
            4 => one(format!("INSERT INTO n{client} VALUES ({n}, 'a'), ({n}, 'a'), ({n}, NULL)")),
            5 => one(format!("DELETE FROM n{client} WHERE a < {} OR s IS NULL", n.saturating_sub(20))),
            6 => one(format!("REPLACE INTO owner VALUES ({}, {n})", 1 + n % 10)),
            8 => one(format!("INSERT INTO owned (p) SELECT id FROM owner WHERE id = {}", 1 + n % 10)),
            _ => one(full_row(&m, n)),
        },
    }
}

/// A row with values of every type.
fn full_row(table: &str, n: u64) -> String {
    let (day, letter) = (1 + n % 28, ['x', 'y', 'z'][n as usize % 3]);
    format!(
        "INSERT INTO {table} (t1, t2, t3, i, t4, f, d, de, c, vc, vb, bi, tx, lt, bl, da, ti, dt, ts, y, en, se, b, j) VALUES \
         ({}, {}, -{}, {n}, {}, {n}.5, {n}.25e100, {n}.0123456789, 'c{n}', 'äöü {n}', x'00{:04x}', x'0102', 'text {n} 🚲', \
         REPEAT('l', {}), REPEAT(x'00', {}), '2024-02-{day:02}', '-{}:59:59.000001', '9999-12-{day:02} 23:59:59.999999', \
         '2026-11-{day:02} 01:02:03.456', {}, '{letter}', 'p,r', b'{:010b}', '{{\"n\": {n}, \"s\": [\"a\", null, true, 1.5]}}')",
        n as i64 % 128,
        n % 65_536,
        n % 8_388_608,
        u64::MAX - n,
        n % 65_536,
        n % 700,
        n % 300,
        n % 838,
        1901 + n % 255,
        n % 1024,
    )
}

/// A load that is under way.
pub struct Mixed {
    port: u16,
    transactions: u64,
    truncates: bool,
    /// Who defines a table reads it.
    definitions: RwLock<()>,
    /// Who writes reads it.
    all: RwLock<()>,
    committed: AtomicU64,
    has_failed: AtomicBool,
}

impl Mixed {
    /// Makes the tables, then commits so many transactions, by so many clients side by side, while `beside` runs. Servers may die meanwhile
    /// and come back. A MariaDB that dies in TRUNCATE has done it and does not have it in its log: it has to be left out there.
    ///
    /// # Panics
    /// When a statement fails that should not.
    pub fn run(port: u16, clients: u64, transactions: u64, truncates: bool, beside: impl FnOnce(&Mixed)) {
        let mut first = Connection::open(port, "d").expect("the server lets clients in");
        let all: Vec<String> = (0..clients).map(tables).collect();
        for sql in format!("{SHARED}{}", all.concat()).split(';').filter(|sql| !sql.trim().is_empty()) {
            first.succeed(sql).expect("the server makes tables");
        }
        let load = Mixed {
            port,
            transactions,
            truncates,
            definitions: RwLock::default(),
            all: RwLock::default(),
            committed: AtomicU64::new(0),
            has_failed: AtomicBool::new(false),
        };
        std::thread::scope(|scope| {
            for client in 0..clients {
                let load = &load;
                scope.spawn(move || load.write(client));
            }
            beside(&load);
        });
    }

    /// Waits until so many of a hundred parts are committed.
    ///
    /// # Panics
    /// When a client has failed.
    pub fn wait_for(&self, percent: u64) {
        while self.committed.load(Ordering::SeqCst) * 100 < self.transactions * percent {
            assert!(!self.has_failed.load(Ordering::SeqCst), "a client has failed");
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Runs something while clients define no tables.
    pub fn without_definitions(&self, what: impl FnOnce()) {
        let _held = self.definitions.write();
        what();
    }

    /// Runs something while clients do nothing.
    pub fn hold(&self, what: impl FnOnce()) {
        let _held = self.all.write();
        what();
    }

    fn write(&self, client: u64) {
        let failing = Failing(self);
        let mut connection = self.connect();
        let mut n = 0;
        while self.committed.load(Ordering::SeqCst) < self.transactions {
            n += 1;
            let _turn = self.all.read();
            let mut statements = transaction(client, n);
            let defines = DEFINITIONS.iter().any(|verb| statements[0].starts_with(verb));
            let may_define = self.definitions.try_read();
            if defines && may_define.is_err() {
                continue;
            }
            if !self.truncates && statements[0].starts_with("TRUNCATE") {
                statements = vec![format!("DELETE FROM scratch{client}")];
            }
            match commit(&mut connection, &statements) {
                Some(true) => drop(self.committed.fetch_add(1, Ordering::SeqCst)),
                Some(false) => {}
                None => connection = self.connect(),
            }
        }
        std::mem::forget(failing);
    }

    fn connect(&self) -> Connection {
        let start = Instant::now();
        loop {
            if let Ok(connection) = Connection::open(self.port, "d") {
                return connection;
            }
            assert!(start.elapsed() < PATIENCE, "the server does not come back");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Tells the others when a client panics.
struct Failing<'a>(&'a Mixed);

impl Drop for Failing<'_> {
    fn drop(&mut self) {
        self.0.has_failed.store(true, Ordering::SeqCst);
    }
}

/// Whether it was committed; `None` if the server has gone.
fn commit(connection: &mut Connection, statements: &[String]) -> Option<bool> {
    for sql in statements {
        match connection.query(sql) {
            Ok(Answer::Failed(code, _)) if GOING.contains(&code) => return None,
            Ok(Answer::Failed(code, text)) => {
                assert!(EXPECTED.contains(&code), "{sql}: {code} {text}");
                connection.query("ROLLBACK").ok()?;
                return Some(false);
            }
            Ok(_) => {}
            Err(_) => return None,
        }
    }
    Some(true)
}
