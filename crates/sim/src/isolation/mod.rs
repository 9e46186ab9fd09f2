//! Isolation: clients append to lists and read them, and a checker says what that must not have been.
//!
//! ```text
//!  clients ──SQL──► servers (faults as in a cluster)        every element is appended once
//!     └── history: who appended and read what, when, with which end
//!            └─► facts ─► dependencies ─► cycles ─► anomalies by name
//! ```
//!
//! A list is a row, an append `CONCAT` to it, so that whoever reads a list sees the whole order of its changes; the idea is
//! Elle's (Kingsbury, Alvaro: *Elle: Inferring Isolation Anomalies from Experimental Observations*). What each level promises
//! is in [`check`].

mod anomaly;
mod check;
mod clients;
mod facts;
mod graph;
mod history;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use clients::Lists;

use crate::cluster::{Cluster, ClusterScenario};

pub use anomaly::Class;
pub use history::Level;

/// In some seeds a transaction has no more memory: its second or third write goes to a file.
const SMALL_MEMORY_BYTES: usize = 200;

/// What to simulate.
#[derive(Clone, Debug)]
pub struct IsolationScenario {
    /// The level of all transactions; `None` for one of all for each.
    pub level: Option<Level>,
    /// The source, and up to two followers.
    pub servers: usize,
    /// Faults.
    pub steps: u32,
    /// Clients of the source.
    pub writers: u32,
    /// Transactions of each client, at least.
    pub transactions: u32,
}

/// What a seed did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IsolationReport {
    /// Transactions that were acknowledged.
    pub committed: u64,
    /// Those of them on followers.
    pub on_followers: u64,
    /// Transactions that nobody knows of, and that have been committed.
    pub unknown: u64,
    /// Anomalies that the level allows, by how many seeds had them.
    pub seen: BTreeMap<Class, u64>,
    /// Times that a server died.
    pub deaths: u64,
}

impl IsolationReport {
    /// Adds up.
    pub fn add(&mut self, other: &IsolationReport) {
        self.committed += other.committed;
        self.on_followers += other.on_followers;
        self.unknown += other.unknown;
        self.deaths += other.deaths;
        for (class, count) in &other.seen {
            *self.seen.entry(*class).or_default() += count;
        }
    }
}

/// Runs one seed.
///
/// # Errors
/// What was not true, with the seed.
pub fn run_isolation(seed: u64, scenario: &IsolationScenario) -> Result<IsolationReport, String> {
    let mut servers = ClusterScenario { steps: scenario.steps, ..ClusterScenario::default() };
    if seed.is_multiple_of(4) {
        servers.transaction_memory_bytes = SMALL_MEMORY_BYTES;
    }
    let mut cluster = Cluster::new(seed, scenario.servers, servers);
    let report = cluster.run(&Lists::new(scenario.clone()))?;
    Ok(IsolationReport { deaths: cluster.deaths, ..report })
}
