//! The demo's load: clients that move money between accounts and number what they do.

use std::collections::BTreeMap;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::{Result, client_error};
use crate::client::{Client, ClientError, ServerUrl};

/// Accounts, all of which begin with the same balance.
pub(crate) const ACCOUNTS: u64 = 10_000;
/// What each account begins with.
pub(crate) const FIRST_BALANCE: i64 = 1_000;
/// Longest wait for one answer, so that a hanging server fails the demo.
const PATIENCE: Duration = Duration::from_secs(60);
/// Longest time that clients try to reach a killed server again.
const RECONNECT_PATIENCE: Duration = Duration::from_secs(60);
/// Rows of one INSERT when the tables are filled.
const BATCH: u64 = 1_000;

/// Creates and fills the demo's tables.
pub(crate) fn create_tables(port: u16) -> Result<()> {
    let mut client = Client::connect(&ServerUrl::loopback(port), Some(PATIENCE)).map_err(client_error)?;
    let statements = [
        "CREATE DATABASE demo",
        "CREATE TABLE demo.accounts (id INT UNSIGNED PRIMARY KEY, owner VARCHAR(40) NOT NULL, balance BIGINT NOT NULL, \
         updated TIMESTAMP(6) NULL, KEY by_balance (balance))",
        "CREATE TABLE demo.ledger (client INT UNSIGNED, number BIGINT UNSIGNED, source INT UNSIGNED NOT NULL, \
         target INT UNSIGNED NOT NULL, amount BIGINT NOT NULL, note VARCHAR(100), PRIMARY KEY (client, number), \
         KEY by_source (source))",
    ];
    for statement in statements {
        client.query(statement).map_err(client_error)?;
    }
    for first in (0..ACCOUNTS).step_by(BATCH as usize) {
        let row = |id| format!("({id}, 'owner {id}', {FIRST_BALANCE}, NULL)");
        let rows: Vec<String> = (first..(first + BATCH).min(ACCOUNTS)).map(row).collect();
        client.query(&format!("INSERT INTO demo.accounts VALUES {}", rows.join(", "))).map_err(client_error)?;
    }
    Ok(())
}

/// What the clients know at the end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outcome {
    /// By client: number of its last acknowledged transfer.
    pub(crate) acknowledged: BTreeMap<u32, u64>,
    /// Transfers acknowledged.
    pub(crate) transfers: u64,
    /// Transactions that the server asked to be tried again (deadlocks).
    pub(crate) retried: u64,
    /// Connections lost, and made again.
    pub(crate) reconnects: u64,
}

/// Running clients.
pub(crate) struct Load {
    clients: Vec<JoinHandle<Result<Worker>>>,
}

impl Load {
    pub(crate) fn start(port: u16, clients: u32, end: Instant) -> Load {
        let start = |number| std::thread::spawn(move || Worker::new(number, port).run(end));
        Load { clients: (1..=clients).map(start).collect() }
    }

    /// Waits for all clients.
    pub(crate) fn finish(self) -> Result<Outcome> {
        let mut outcome = Outcome::default();
        for client in self.clients {
            let worker = client.join().map_err(|_| "a client of the load panicked".to_owned())??;
            outcome.acknowledged.insert(worker.number, worker.acknowledged);
            outcome.transfers += worker.transfers;
            outcome.retried += worker.retried;
            outcome.reconnects += worker.reconnects;
        }
        Ok(outcome)
    }
}

/// One client.
struct Worker {
    number: u32,
    port: u16,
    random: u64,
    acknowledged: u64,
    transfers: u64,
    retried: u64,
    reconnects: u64,
}

impl Worker {
    fn new(number: u32, port: u16) -> Worker {
        let random = u64::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        Worker { number, port, random, acknowledged: 0, transfers: 0, retried: 0, reconnects: 0 }
    }

    fn run(mut self, end: Instant) -> Result<Worker> {
        let mut client = self.connect()?;
        while Instant::now() < end {
            match self.one_transaction(&mut client) {
                Ok(()) => {}
                Err(error) if error.is_connection_lost() => {
                    self.reconnects += 1;
                    client = self.connect()?;
                    self.learn_what_was_done(&mut client)?;
                }
                Err(ClientError::Refused(refusal)) if matches!(refusal.code, 1205 | 1213) => {
                    self.retried += 1;
                    client.query("ROLLBACK").map_err(client_error)?;
                }
                Err(ClientError::Refused(refusal)) if refusal.code == 1053 => {
                    // Shutting down; the next statement finds the connection gone.
                }
                Err(error) => return Err(format!("client {}: {error}", self.number)),
            }
        }
        Ok(self)
    }

    fn connect(&self) -> Result<Client> {
        let start = Instant::now();
        loop {
            match Client::connect(&ServerUrl::loopback(self.port), Some(PATIENCE)) {
                Ok(client) => return Ok(client),
                Err(error) if start.elapsed() > RECONNECT_PATIENCE => return Err(client_error(error)),
                Err(_) => std::thread::sleep(Duration::from_millis(10)),
            }
        }
    }

    /// The connection broke in a transaction that may or may not have been committed: the ledger tells.
    fn learn_what_was_done(&mut self, client: &mut Client) -> Result<()> {
        let sql = format!("SELECT COALESCE(MAX(number), 0) FROM demo.ledger WHERE client = {}", self.number);
        let found = client.query(&sql).map_err(client_error)?.text(0, 0);
        let found: u64 = found.parse().map_err(|_| format!("{sql}: '{found}'"))?;
        if !(self.acknowledged..=self.acknowledged + 1).contains(&found) {
            return Err(format!("client {}: acknowledged {}, found {found}", self.number, self.acknowledged));
        }
        self.acknowledged = found;
        Ok(())
    }

    fn one_transaction(&mut self, client: &mut Client) -> std::result::Result<(), ClientError> {
        match self.below(10) {
            0 | 1 => self.look(client),
            2 => self.transfer(client, true),
            _ => self.transfer(client, false),
        }
    }

    /// A point read, a range with an aggregate, and an index range.
    fn look(&mut self, client: &mut Client) -> std::result::Result<(), ClientError> {
        let id = self.below(ACCOUNTS);
        client.query(&format!("SELECT owner, balance FROM demo.accounts WHERE id = {id}"))?;
        let high = id + 100;
        client.query(&format!("SELECT SUM(balance), COUNT(*) FROM demo.accounts WHERE id BETWEEN {id} AND {high}"))?;
        client.query("SELECT id, balance FROM demo.accounts WHERE balance > 1100 ORDER BY balance DESC LIMIT 5")?;
        Ok(())
    }

    fn transfer(&mut self, client: &mut Client, with_lock: bool) -> std::result::Result<(), ClientError> {
        let (source, target, amount) = (self.below(ACCOUNTS), self.below(ACCOUNTS), self.below(100) + 1);
        let number = self.acknowledged + 1;
        client.query("BEGIN")?;
        if with_lock {
            client.query(&format!("SELECT balance FROM demo.accounts WHERE id = {source} FOR UPDATE"))?;
        }
        for (id, change) in [(source, format!("- {amount}")), (target, format!("+ {amount}"))] {
            let sql = format!("UPDATE demo.accounts SET balance = balance {change}, updated = NOW(6) WHERE id = {id}");
            client.query(&sql)?;
        }
        let client_number = self.number;
        client.query(&format!(
            "INSERT INTO demo.ledger VALUES ({client_number}, {number}, {source}, {target}, {amount}, 'transfer {number}')"
        ))?;
        client.query("COMMIT")?;
        self.acknowledged = number;
        self.transfers += 1;
        Ok(())
    }

    /// A number below `bound`, by xorshift: the load needs variety, not quality.
    fn below(&mut self, bound: u64) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random % bound
    }
}
