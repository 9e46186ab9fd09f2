//! What clients do: transactions that append to a few lists and read them in every way there is, written down as they go.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use base::codes;
use parking_lot::Mutex;
use session::client::ClientError;

use super::check::check;
use super::history::{Element, Key, Level, Moment, Op, Outcome, Transaction};
use super::{IsolationReport, IsolationScenario};
use crate::cluster::{Clients, Link, Node, Workload};

/// Lists there can be.
const LISTS: u64 = 6;
/// A list is of one of these, which has an index.
const PARTS: u64 = 2;
/// The source.
const SOURCE: usize = 0;

const TABLE: &str = "CREATE TABLE IF NOT EXISTS sim.lists (id BIGINT PRIMARY KEY, part BIGINT NOT NULL, list TEXT NOT NULL, \
                     KEY part (part))";

/// What all clients write into.
#[derive(Default)]
struct Record {
    history: Vec<Transaction>,
    moments: Moment,
    elements: Element,
}

impl Record {
    fn moment(&mut self) -> Moment {
        self.moments += 1;
        self.moments
    }
}

/// The workload.
pub(super) struct Lists {
    scenario: IsolationScenario,
    record: Arc<Mutex<Record>>,
}

impl Lists {
    pub(super) fn new(scenario: IsolationScenario) -> Self {
        Lists { scenario, record: Arc::default() }
    }

    fn client(&self, clients: &Clients) -> One {
        let scenario = &self.scenario;
        One {
            link: clients.link(),
            record: self.record.clone(),
            level: scenario.level,
            left: scenario.transactions,
            server: SOURCE,
        }
    }
}

impl Workload for Lists {
    type Found = IsolationReport;

    fn start(&self, clients: &Clients, servers: usize) {
        for _ in 0..self.scenario.writers {
            clients.spawn(self.client(clients).work());
        }
        for server in 1..servers {
            let client = One { server, ..self.client(clients) };
            clients.spawn(client.follow(clients.link()));
        }
    }

    async fn check(&self, nodes: &[Node], link: Link) -> Result<IsolationReport, String> {
        // The last look: everything on every server, which now has to be there.
        let mut last = One { link, record: self.record.clone(), level: None, left: 0, server: SOURCE };
        for server in 0..nodes.len() {
            last.server = server;
            if !last.link.connect(server).await {
                return Err(format!("server {server} cannot be reached at the end"));
            }
            let fresh = Some(last.record.lock().moment());
            let mut transaction = last.transaction(Level::RepeatableRead, fresh);
            let sql = "SELECT id, list FROM sim.lists";
            let read = match last.read(sql, (0..LISTS).collect(), false).await {
                Ok(read) => read,
                // Nobody has come as far as making the table.
                Err(_) if self.record.lock().elements == 0 => return Ok(IsolationReport::default()),
                Err(error) => return Err(format!("{sql}: {error}")),
            };
            transaction.ops.push(read);
            last.end(transaction, Outcome::Committed);
        }
        let history = &self.record.lock().history;
        let findings = check(history);
        if !findings.broken.is_empty() {
            let texts: Vec<String> = findings.broken.iter().map(|one| one.describe(history)).collect();
            return Err(texts.join("\n"));
        }
        let count = |is: &dyn Fn(&Transaction) -> bool| history.iter().filter(|one| is(one)).count() as u64;
        Ok(IsolationReport {
            committed: count(&|one| one.outcome == Outcome::Committed),
            on_followers: count(&|one| one.outcome == Outcome::Committed && one.server != SOURCE),
            unknown: count(&|one| one.outcome == Outcome::Unknown),
            seen: findings.seen.into_iter().map(|class| (class, 1)).collect(),
            deaths: 0,
        })
    }
}

/// What is to be done next in a transaction.
enum Action {
    Read { sql: String, keys: BTreeSet<Key>, locking: bool },
    Append { sql: String, key: Key, element: Element },
    Savepoint,
    RollbackToSavepoint,
}

/// How a statement ended.
enum Step {
    Done(Op),
    /// It was refused, and the transaction goes on.
    Refused(Option<Op>),
    /// The transaction is over.
    Over,
    /// And so is the connection.
    Lost,
}

/// One client, or one session of it.
struct One {
    link: Link,
    record: Arc<Mutex<Record>>,
    level: Option<Level>,
    left: u32,
    server: usize,
}

impl One {
    fn below(&self, bound: u64) -> u64 {
        self.link.world.below(bound)
    }

    fn is_to_go_on(&mut self) -> bool {
        self.left = self.left.saturating_sub(1);
        self.left > 0 || !self.link.is_to_stop()
    }

    /// A client of the source.
    async fn work(mut self) {
        while self.is_to_go_on() {
            if !self.link.connect(SOURCE).await || !self.prepare().await {
                self.link.pause(20_000).await;
                continue;
            }
            while self.is_to_go_on() {
                self.link.pause(2_000).await;
                let fresh = Some(self.record.lock().moment());
                if !self.run_one(fresh).await {
                    break;
                }
            }
        }
    }

    async fn prepare(&mut self) -> bool {
        for sql in ["CREATE DATABASE IF NOT EXISTS sim", TABLE, "SET innodb_lock_wait_timeout = 1"] {
            if self.link.query(sql).await.is_err() {
                return false;
            }
        }
        true
    }

    /// A client of a follower, which asks the source now and then what it has to see.
    async fn follow(mut self, mut source: Link) {
        while self.is_to_go_on() {
            self.link.pause(10_000).await;
            if !self.link.connect(self.server).await {
                continue;
            }
            while self.is_to_go_on() {
                self.link.pause(2_000).await;
                let waits = self.below(2) == 0 && (source.is_connected() || source.connect(SOURCE).await);
                let fresh = if waits { self.wait_for_the_source(&mut source).await } else { None };
                if !self.run_one(fresh).await {
                    break;
                }
            }
        }
    }

    /// Waits until the follower has what the source has executed by now; the moment of that.
    async fn wait_for_the_source(&mut self, source: &mut Link) -> Option<Moment> {
        let moment = self.record.lock().moment();
        let Ok(executed) = source.query("SELECT @@GLOBAL.gtid_executed").await else {
            source.disconnect();
            return None;
        };
        let wait = format!("SELECT WAIT_FOR_EXECUTED_GTID_SET('{}', 2)", executed.first().unwrap_or_default());
        let waited = self.link.query(&wait).await.ok()?;
        (waited.first() == Some("0")).then_some(moment)
    }

    fn transaction(&self, level: Level, fresh: Option<Moment>) -> Transaction {
        let began = self.record.lock().moment();
        let (server, outcome) = (self.server, Outcome::Aborted);
        Transaction { server, level, began, ended: began, fresh, viewed: None, outcome, ops: Vec::new() }
    }

    fn end(&self, mut transaction: Transaction, outcome: Outcome) {
        let mut record = self.record.lock();
        (transaction.ended, transaction.outcome) = (record.moment(), outcome);
        record.history.push(transaction);
    }

    /// One transaction; whether its connection can be used for another.
    async fn run_one(&mut self, fresh: Option<Moment>) -> bool {
        let level = self.level.unwrap_or(Level::ALL[self.below(4) as usize]);
        let mut transaction = self.transaction(level, fresh);
        if self.link.query(&format!("SET TRANSACTION ISOLATION LEVEL {}", level.sql())).await.is_err() {
            return false;
        }
        if self.below(8) == 0 {
            return self.run_alone(transaction).await;
        }
        let has_snapshot = self.below(6) == 0;
        let begin = if has_snapshot { "START TRANSACTION WITH CONSISTENT SNAPSHOT" } else { "BEGIN" };
        if self.link.query(begin).await.is_err() {
            return false;
        }
        if has_snapshot && level == Level::RepeatableRead {
            transaction.viewed = Some(self.record.lock().moment());
            self.link.pause(1_500).await;
        }
        let mut has_savepoint = false;
        for _ in 0..1 + self.below(4) {
            let action = self.choose(&mut has_savepoint);
            match self.act(action).await {
                Step::Done(op) => transaction.ops.push(op),
                Step::Refused(op) => {
                    transaction.ops.extend(op);
                    if self.below(2) == 0 {
                        break;
                    }
                }
                Step::Over => return self.give_up(transaction).await,
                Step::Lost => {
                    self.end(transaction, Outcome::Aborted);
                    return false;
                }
            }
            self.link.pause(1_500).await;
        }
        if self.below(10) == 0 {
            return self.give_up(transaction).await;
        }
        let committed = self.link.query("COMMIT").await.is_ok();
        self.end(transaction, if committed { Outcome::Committed } else { Outcome::Unknown });
        committed
    }

    async fn give_up(&mut self, transaction: Transaction) -> bool {
        let is_usable = self.link.query("ROLLBACK").await.is_ok();
        self.end(transaction, Outcome::Aborted);
        is_usable
    }

    /// A statement that is a transaction by itself.
    async fn run_alone(&mut self, mut transaction: Transaction) -> bool {
        let action = self.choose_read_or_append();
        let appended = match &action {
            Action::Append { key, element, .. } => Some(Op::Append { key: *key, element: *element, done: true }),
            _ => None,
        };
        let step = self.act(action).await;
        let is_usable = !matches!(step, Step::Lost);
        let outcome = match step {
            Step::Done(op) => {
                transaction.ops.push(op);
                Outcome::Committed
            }
            Step::Refused(op) => {
                transaction.ops.extend(op);
                Outcome::Aborted
            }
            // It may have been the commit that went wrong.
            Step::Over | Step::Lost => {
                transaction.ops.extend(appended);
                Outcome::Unknown
            }
        };
        self.end(transaction, outcome);
        is_usable
    }

    fn choose(&self, has_savepoint: &mut bool) -> Action {
        match self.below(10) {
            0 if *has_savepoint => Action::RollbackToSavepoint,
            0 | 1 if self.server == SOURCE => {
                *has_savepoint = true;
                Action::Savepoint
            }
            _ => self.choose_read_or_append(),
        }
    }

    fn choose_read_or_append(&self) -> Action {
        if self.server == SOURCE && self.below(2) == 0 { self.choose_append() } else { self.choose_read() }
    }

    fn choose_append(&self) -> Action {
        let (key, element) = (self.below(LISTS), {
            let mut record = self.record.lock();
            record.elements += 1;
            record.elements
        });
        let part = key % PARTS;
        let sql = match self.below(4) {
            0 => format!("UPDATE sim.lists SET list = CONCAT(list, ' {element}') WHERE id = {key}"),
            1 => format!("UPDATE sim.lists SET list = CONCAT(list, ' {element}') WHERE part = {part} AND id = {key}"),
            _ => format!(
                "INSERT INTO sim.lists VALUES ({key}, {part}, '{element}') \
                 ON DUPLICATE KEY UPDATE list = CONCAT(list, ' {element}')"
            ),
        };
        Action::Append { sql, key, element }
    }

    fn choose_read(&self) -> Action {
        let (a, b) = (self.below(LISTS), self.below(LISTS));
        let (low, high) = (a.min(b), a.max(b));
        let (condition, keys): (String, BTreeSet<Key>) = match self.below(5) {
            0 | 1 => (format!("WHERE id = {a}"), [a].into()),
            2 => (format!("WHERE id IN ({a}, {b})"), [a, b].into()),
            3 => (format!("WHERE id BETWEEN {low} AND {high} ORDER BY id DESC"), (low..=high).collect()),
            _ => {
                let part = a % PARTS;
                (format!("WHERE part = {part}"), (0..LISTS).filter(|key| key % PARTS == part).collect())
            }
        };
        let lock = ["", "", "", "", " FOR UPDATE", " FOR SHARE"][self.below(6) as usize];
        let sql = format!("SELECT id, list FROM sim.lists {condition}{lock}");
        Action::Read { sql, keys, locking: !lock.is_empty() }
    }

    async fn act(&mut self, action: Action) -> Step {
        let (result, refused) = match action {
            Action::Read { sql, keys, locking } => (self.read(&sql, keys, locking).await, None),
            Action::Append { sql, key, element } => {
                let append = |done| Op::Append { key, element, done };
                // An update of what is not there changes nothing.
                let result = self.link.query(&sql).await.map(|result| append(result.done.affected_rows > 0));
                (result, Some(append(false)))
            }
            Action::Savepoint => (self.link.query("SAVEPOINT a").await.map(|_| Op::Savepoint), None),
            Action::RollbackToSavepoint => {
                (self.link.query("ROLLBACK TO SAVEPOINT a").await.map(|_| Op::RollbackToSavepoint), None)
            }
        };
        match result {
            Ok(op) => Step::Done(op),
            Err(error) => match error.refused().map(|error| error.code) {
                Some(code) if code == codes::LOCK_WAIT_TIMEOUT.0 => Step::Refused(refused),
                Some(_) => Step::Over,
                None => Step::Lost,
            },
        }
    }

    async fn read(&mut self, sql: &str, keys: BTreeSet<Key>, locking: bool) -> Result<Op, ClientError> {
        let rows = self.link.query(sql).await?.rows;
        let mut lists: BTreeMap<Key, Vec<Element>> = keys.into_iter().map(|key| (key, Vec::new())).collect();
        for row in rows {
            let text = |column: usize| row.get(column).and_then(Option::as_deref).unwrap_or_default();
            let parsed: Option<Vec<Element>> = text(1).split(' ').map(|element| element.parse().ok()).collect();
            match (text(0).parse().ok().and_then(|key: Key| lists.get_mut(&key)), parsed) {
                (Some(list), Some(parsed)) if list.is_empty() => *list = parsed,
                _ => self.link.wrong(format!("{sql}: the row {row:?}")),
            }
        }
        Ok(Op::Read { locking, lists })
    }
}
