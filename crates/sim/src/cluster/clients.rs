//! What clients do, over the protocol: writers on the source, readers everywhere.

use std::collections::{BTreeMap, BTreeSet};

use base::{LogPosition, codes};
use session::client::ClientError;

use super::check::check_all;
use super::link::{Clients, Link};
use super::node::Node;
use super::{ClusterScenario, Shared, Workload};
use crate::model::{History, State};

/// Cells there can be.
const CELLS_MAX: u64 = 12;
/// What clients know, outside of the machines that crash.
#[derive(Default)]
pub(super) struct Told {
    /// Transactions that were acknowledged.
    pub(super) acknowledged: Vec<u64>,
    /// Transactions whose XA PREPARE was acknowledged.
    pub(super) prepared: Vec<u64>,
    /// Transactions that may or may not be in the log.
    pub(super) attempted: BTreeMap<u64, ()>,
    /// Snapshots: which server, its position, what was in it.
    pub(super) seen: Vec<(usize, LogPosition, State)>,
    /// The newest position that was seen on each server.
    newest: BTreeMap<usize, LogPosition>,
    next: u64,
}

/// Shared by all clients.
pub(super) type SharedTold = Shared<Told>;

/// How a transaction ended, as far as its client knows.
enum Ended {
    Committed,
    RolledBack,
    /// The connection is of no use any more.
    Lost,
}

/// The workload: writers of a ledger and of cells, readers of both.
pub(super) struct Ledgers {
    pub(super) scenario: ClusterScenario,
    pub(super) told: SharedTold,
}

impl Workload for Ledgers {
    /// Number of transactions in the log.
    type Found = u64;

    fn start(&self, clients: &Clients, servers: usize) {
        for number in 0..self.scenario.writers + self.scenario.readers {
            let (link, told, table_options) = (clients.link(), self.told.clone(), self.scenario.table_options);
            let client = One { link, told, table_options };
            let is_writer = number < self.scenario.writers;
            clients.spawn(async move { if is_writer { client.write().await } else { client.look(servers).await } });
        }
    }

    async fn check(&self, nodes: &[Node], mut link: Link) -> Result<u64, String> {
        let history = check_all(nodes, &link.world, &self.told).await?;
        check_prepared(&mut link, &history).await?;
        Ok(history.states.len() as u64 - 1)
    }
}

/// What is prepared in the log is what the source knows of, and it can be ended.
async fn check_prepared(link: &mut Link, history: &History) -> Result<(), String> {
    while !link.connect(0).await {
        link.pause(1_000).await;
    }
    let known = names_of_prepared(link).await?;
    let in_log: BTreeSet<String> =
        history.prepared.keys().map(|xid| String::from_utf8_lossy(&xid.gtrid).into_owned()).collect();
    if known != in_log {
        return Err(format!("prepared are {in_log:?}, and the source knows of {known:?}"));
    }
    // What a client has sent before it was lost may be ending one just now.
    for _ in 0..1000 {
        let left = names_of_prepared(link).await?;
        if left.is_empty() {
            return Ok(());
        }
        for name in left {
            let sql = format!("XA ROLLBACK '{name}'");
            match link.query(&sql).await {
                Err(error) if error.refused().is_none() => return Err(format!("{sql}: {error}")),
                _ => {}
            }
        }
        link.pause(100_000).await;
    }
    Err(format!("{:?} cannot be ended", names_of_prepared(link).await?))
}

async fn names_of_prepared(link: &mut Link) -> Result<BTreeSet<String>, String> {
    let found = link.query("XA RECOVER").await.map_err(|error| format!("XA RECOVER: {error}"))?;
    Ok(found.rows.into_iter().map(|row| row.get(3).cloned().flatten().unwrap_or_default()).collect())
}

struct One {
    link: Link,
    told: SharedTold,
    table_options: [&'static str; 2],
}

impl One {
    /// A writer, until it is told to stop.
    async fn write(mut self) {
        while !self.link.is_to_stop() {
            if !self.link.connect(0).await {
                self.link.pause(20_000).await;
                continue;
            }
            let made = self.make_tables().await && self.end_prepared().await;
            while made && !self.link.is_to_stop() {
                self.link.pause(3_000).await;
                if self.link.world.below(25) == 0 {
                    self.change_schema().await;
                }
                let id = {
                    let mut told = self.told.lock();
                    told.next += 1;
                    let id = told.next;
                    told.attempted.insert(id, ());
                    id
                };
                let ended = match self.link.world.below(5) {
                    0 => self.write_in_two_phases(id).await,
                    _ => self.write_one(id).await,
                };
                match ended {
                    Ended::Committed => self.told.lock().acknowledged.push(id),
                    Ended::RolledBack => {}
                    Ended::Lost => break,
                }
            }
        }
    }

    async fn make_tables(&mut self) -> bool {
        let [ledger, cells] = self.table_options;
        let tag = ["", "", ":blue", ":red"][self.link.world.below(4) as usize];
        for sql in [
            "CREATE DATABASE IF NOT EXISTS sim",
            &format!(
                "CREATE TABLE IF NOT EXISTS sim.ledger (transaction BIGINT UNSIGNED NOT NULL PRIMARY KEY, \
                 note VARCHAR(400)){ledger}"
            ),
            &format!(
                "CREATE TABLE IF NOT EXISTS sim.cells (cell BIGINT UNSIGNED NOT NULL PRIMARY KEY, \
                 writer BIGINT UNSIGNED NOT NULL, unique_writer BIGINT UNSIGNED, KEY writer (writer), \
                 UNIQUE KEY unique_writer (unique_writer)){cells}"
            ),
            "SET innodb_lock_wait_timeout = 1",
            &format!("SET gtid_next = 'AUTOMATIC{tag}'"),
        ] {
            if self.link.query(sql).await.is_err() {
                self.link.pause(5_000).await;
                return false;
            }
        }
        true
    }

    /// Statements that may fail, because others have done the same.
    async fn change_schema(&mut self) {
        let number = self.link.world.below(3);
        let sql = match self.link.world.below(5) {
            0 => format!("CREATE TABLE sim.more_{number} (a INT PRIMARY KEY, b VARCHAR(10))"),
            1 => format!("DROP TABLE sim.more_{number}"),
            2 => format!("ALTER TABLE sim.cells ADD INDEX more_{number} (writer, cell)"),
            3 => format!("ALTER TABLE sim.cells DROP INDEX more_{number}"),
            _ => "FLUSH BINARY LOGS".to_owned(),
        };
        let _ = self.link.query(&sql).await;
    }

    /// Ends what others, or this one's last connection, have left prepared: most of it.
    async fn end_prepared(&mut self) -> bool {
        let Ok(found) = self.link.query("XA RECOVER").await else { return false };
        for row in found.rows {
            let id: u64 = row.get(3).and_then(|id| id.as_ref()?.parse().ok()).unwrap_or_default();
            let (how, commits) = match self.link.world.below(5) {
                0 => continue,
                1 | 2 => ("ROLLBACK", false),
                _ => ("COMMIT", true),
            };
            match self.link.query(&format!("XA {how} '{id}'")).await {
                Ok(_) if commits => self.told.lock().acknowledged.push(id),
                Ok(_) => {}
                // Somebody else has ended it.
                Err(error) if error.refused().is_some() => {}
                Err(_) => return false,
            }
        }
        true
    }

    /// As [`One::write_one`], by XA; now and then it is left prepared.
    async fn write_in_two_phases(&mut self, id: u64) -> Ended {
        let mut statements = vec![(format!("XA START '{id}'"), false)];
        statements.extend(self.changes(id));
        statements.push((format!("XA END '{id}'"), false));
        statements.push((format!("XA PREPARE '{id}'"), false));
        for (sql, may_be_duplicate) in &statements {
            let Err(error) = self.link.query(sql).await else { continue };
            match error.refused().map(|error| error.code) {
                Some(code) if *may_be_duplicate && code == codes::DUP_ENTRY.0 => {}
                _ => return Ended::Lost,
            }
        }
        self.told.lock().prepared.push(id);
        self.link.pause(5_000).await;
        let how = match self.link.world.below(6) {
            0 => return Ended::RolledBack,
            1 => "ROLLBACK",
            _ => "COMMIT",
        };
        match self.link.query(&format!("XA {how} '{id}'")).await {
            Ok(_) if how == "COMMIT" => Ended::Committed,
            Ok(_) => Ended::RolledBack,
            Err(_) => Ended::Lost,
        }
    }

    /// Statements of a transaction, and whether each may meet what is there already.
    fn changes(&self, id: u64) -> Vec<(String, bool)> {
        let note = self.link.world.below(400);
        let mut changes = vec![(format!("INSERT INTO sim.ledger VALUES ({id}, REPEAT('n', {note}))"), false)];
        for _ in 0..self.link.world.below(4) {
            changes.push((self.change_of_a_cell(id), true));
        }
        changes
    }

    async fn write_one(&mut self, id: u64) -> Ended {
        let mut statements = vec![("BEGIN".to_owned(), false)];
        statements.extend(self.changes(id));
        let end = if self.link.world.below(10) == 0 { "ROLLBACK" } else { "COMMIT" };
        statements.push((end.to_owned(), false));
        for (sql, may_be_duplicate) in &statements {
            let Err(error) = self.link.query(sql).await else { continue };
            match error.refused().map(|error| error.code) {
                Some(code) if *may_be_duplicate && code == codes::DUP_ENTRY.0 => {}
                // Whatever it was, and whether or not it was the commit: nothing is known of this transaction.
                Some(_) if self.link.query("ROLLBACK").await.is_ok() => return Ended::RolledBack,
                _ => return Ended::Lost,
            }
        }
        if end == "COMMIT" { Ended::Committed } else { Ended::RolledBack }
    }

    fn change_of_a_cell(&self, id: u64) -> String {
        let cell = self.link.world.below(CELLS_MAX);
        let unique = match self.link.world.below(3) {
            0 => "NULL".to_owned(),
            _ => self.link.world.below(CELLS_MAX * 2).to_string(),
        };
        match self.link.world.below(5) {
            0 => format!("DELETE FROM sim.cells WHERE cell = {cell}"),
            1 | 2 => format!("INSERT INTO sim.cells VALUES ({cell}, {id}, {unique})"),
            _ => format!("UPDATE sim.cells SET writer = {id}, unique_writer = {unique} WHERE cell = {cell}"),
        }
    }

    /// A reader, until it is told to stop.
    async fn look(mut self, servers: usize) {
        while !self.link.is_to_stop() {
            self.link.pause(10_000).await;
            let server = self.link.world.below(servers as u64) as usize;
            if !self.link.connect(server).await {
                continue;
            }
            while self.link.world.below(4) > 0 && self.look_once(server).await.is_ok() {}
        }
    }

    /// One snapshot, looked at twice.
    async fn look_once(&mut self, server: usize) -> Result<(), ClientError> {
        let before = self.told.lock().newest.get(&server).copied().unwrap_or_default();
        self.link.query("START TRANSACTION WITH CONSISTENT SNAPSHOT").await?;
        let status = self.link.query("SHOW STATUS LIKE 'Binlog_snapshot%'").await?;
        let value = |row: usize| status.rows.get(row).and_then(|row| row.get(1)).cloned().flatten().unwrap_or_default();
        let file = value(0).rsplit('.').next().and_then(|number| number.parse().ok()).unwrap_or_default();
        let position = LogPosition::new(file, value(1).parse().unwrap_or_default());
        if position < before && !self.link.may_go_back(server) {
            self.link
                .wrong(format!("server {server}: a snapshot at {position}, behind {before}, which was seen there"));
        }
        let first = self.state().await?;
        self.link.pause(if self.link.world.below(4) == 0 { 30_000 } else { 300 }).await;
        let second = self.state().await?;
        if first != second {
            self.link.wrong(format!("server {server}: the snapshot at {position} changed under its reader"));
        }
        self.link.query("COMMIT").await?;
        let mut told = self.told.lock();
        let newest = told.newest.entry(server).or_default();
        *newest = position.max(*newest);
        told.seen.push((server, position, first));
        Ok(())
    }

    async fn state(&mut self) -> Result<State, ClientError> {
        let mut state = State::default();
        let number = |text: &Option<String>| text.as_ref().and_then(|text| text.parse().ok());
        for row in self.link.query("SELECT transaction FROM sim.ledger").await?.rows {
            state.ledger.insert(number(&row[0]).unwrap_or_default(), ());
        }
        for row in self.link.query("SELECT cell, writer, unique_writer FROM sim.cells").await?.rows {
            let (cell, writer) = (number(&row[0]).unwrap_or_default(), number(&row[1]).unwrap_or_default());
            state.cells.insert(cell, (writer, number(&row[2])));
        }
        Ok(state)
    }
}
