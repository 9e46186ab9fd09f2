//! Clusters from one seed: a source, a follower, and a follower of the follower, on disks that crash and a network that
//! fails.
//!
//! ```text
//!  clients ──SQL──► a ──stream──► b ──stream──► c        one world: every byte of it from the seed
//!     └──── readers ────┴─────────────┴─────────────┘
//! ```
//!
//! Whole servers run, sessions and statements included, only without real sockets. Meanwhile the controller ([`run_cluster`])
//! cuts connections, holds machines apart, slows the network down, kills processes, lets the power fail in the middle of a
//! disk operation (recovery included), stops servers cleanly and starts them again.
//!
//! Or b and c are servers of their own, which execute the log of another ([`Executing`]).
//!
//! # What is checked
//! 1. All the time: a follower's log is a beginning of what its source has **durably**, byte for byte. So a source that
//!    loses what it had not synced never loses what a follower has.
//! 2. At the end, with everything healed: all logs are identical, and all rows and secondary indexes are what the log
//!    makes of nothing.
//! 3. Every transaction that a client was told of is in the log.
//! 4. Every snapshot that a reader took, on any server, is the state that the log has at that snapshot's position; positions
//!    seen on one server never go back, unless its copy of the log was damaged.
//! 5. Followers that compare themselves with their sources find no difference: one would stop the applier for good.
//! 6. With a disk that does wrong ([`damage`]): a server that ends names the file; whoever reads the log from its beginning gets
//!    an error that names the file and the offset; nobody reads what was not written, or sends it on; and with the bytes put back everything
//!    above holds.
//!    Or the bytes of a follower's data file stay wrong, and it has to repair itself from its source
//!    ([`ClusterScenario::repairs`]).
//! 7. A server that executes has all of its source's transactions, once; their rows are those of the source. If commits keep an order, the
//!    transactions are in its log in the order in which its source has them, so what its readers see are states that the source had.

mod check;
mod clients;
mod damage;
mod link;
mod node;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use io::sim::{SimMachine, SimWorld};

use check::{are_in_step, check_prefixes, describe};
use clients::{Ledgers, SharedTold};
use damage::Damages;
use node::NAMES;

pub(crate) use link::{Clients, Link};
pub(crate) use node::Node;

/// Virtual time after which nothing comes any more of what clients have sent before they lost their connections.
const LOST_TIME: Duration = Duration::from_secs(3);
/// Virtual time in which everybody has caught up once nothing fails any more.
const QUIET_TIME_MAX: Duration = Duration::from_secs(600);
const QUIET_STEP: Duration = Duration::from_millis(20);

/// What to simulate.
#[derive(Clone, Debug)]
pub struct ClusterScenario {
    /// Things that the controller does.
    pub steps: u32,
    /// Time between two of them, at most.
    pub pause_max: Duration,
    /// Clients that write.
    pub writers: u32,
    /// Clients that read everything, anywhere.
    pub readers: u32,
    /// Probability that a sync fails; its server then has to stop, and is started again.
    pub sync_error: f64,
    /// What a transaction may hold in memory, bytes; beyond it goes to files.
    pub transaction_memory_bytes: usize,
    /// One of the disks does something wrong without saying so, to a file whose name contains one of these.
    pub damage: &'static [&'static str],
    /// What is wrong in the data file of a follower stays so, until it has repaired itself.
    pub repairs: bool,
    /// Options of the tables: of the ledger, of the cells.
    pub table_options: [&'static str; 2],
    /// Clocks jump, by seconds to years.
    pub clocks_jump: bool,
    /// Nobody is told of a death: connections stay half open.
    pub silent_deaths: bool,
    /// Probability that a piece of what servers send to one another is repeated, swapped, lost or changed.
    pub garbling: f64,
    /// All but the first are servers of their own.
    pub executing: Option<Executing>,
}

/// Servers that execute another's log, instead of copying it.
#[derive(Clone, Copy, Debug)]
pub struct Executing {
    /// `replica_parallel_mode` is one of these.
    pub modes: &'static [&'static str],
    /// `replica_preserve_commit_order`
    pub is_ordered: bool,
}

impl Default for ClusterScenario {
    fn default() -> Self {
        ClusterScenario {
            steps: 40,
            pause_max: Duration::from_millis(12),
            writers: 3,
            readers: 3,
            sync_error: 0.0,
            transaction_memory_bytes: 16 << 20,
            damage: &[],
            repairs: false,
            table_options: [""; 2],
            clocks_jump: false,
            silent_deaths: false,
            garbling: 0.0,
            executing: None,
        }
    }
}

/// What a seed did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClusterReport {
    /// Transactions acknowledged.
    pub acknowledged: u64,
    /// Transactions in the log at the end.
    pub in_log: u64,
    /// Snapshots that readers took whole.
    pub seen: u64,
    /// Times that a follower compared itself with its source.
    pub compared: u64,
    /// Times that a server died.
    pub deaths: u64,
    /// Times that somebody found the damage that a disk had done.
    pub found: u64,
    /// Ranges of keys that servers have repaired.
    pub repaired: u64,
    /// Virtual time that it took.
    pub elapsed: Duration,
    /// CRC32 of all logs, byte for byte.
    pub logs: u32,
}

/// Runs one seed.
///
/// # Errors
/// What was not true, with the seed.
pub fn run_cluster(seed: u64, scenario: &ClusterScenario) -> Result<ClusterReport, String> {
    let mut cluster = Cluster::new(seed, NAMES.len(), scenario.clone());
    let ledgers = Ledgers { scenario: scenario.clone(), told: SharedTold::default() };
    let in_log = cluster.run(&ledgers)?;
    let told = ledgers.told.lock();
    Ok(ClusterReport {
        acknowledged: told.acknowledged.len() as u64,
        in_log,
        seen: told.seen.len() as u64,
        compared: cluster.nodes.iter().map(Node::comparisons).sum(),
        deaths: cluster.deaths,
        found: cluster.damages.found,
        repaired: cluster.nodes.iter().filter_map(Node::engine).map(|engine| engine.restored_ranges()).sum(),
        elapsed: cluster.world.elapsed(),
        logs: cluster.nodes.iter().fold(0, |sum, node| node.add_log(sum)),
    })
}

/// What clients do to a cluster, and what must be true of what they saw.
pub(crate) trait Workload {
    /// What its check tells besides.
    type Found;

    /// Starts its clients; there are so many servers, the first of which is the source.
    fn start(&self, clients: &Clients, servers: usize);

    /// When nothing fails any more, everybody is in step and the clients have stopped.
    async fn check(&self, nodes: &[Node], link: Link) -> Result<Self::Found, String>;
}

/// Servers, and what happens to them.
pub(crate) struct Cluster {
    world: SimWorld,
    scenario: ClusterScenario,
    nodes: Vec<Node>,
    clients: SimMachine,
    /// The node whose power is going to fail in some disk operation.
    armed: Option<usize>,
    damages: Damages,
    /// Followers whose logs were damaged: what they lost of them they ask for again.
    behind: Shared<BTreeSet<usize>>,
    pub(crate) deaths: u64,
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.world.end();
    }
}

impl Cluster {
    /// So many servers, to which things happen as in the scenario.
    pub(crate) fn new(seed: u64, servers: usize, scenario: ClusterScenario) -> Self {
        let world = SimWorld::new(seed);
        let mut nodes: Vec<Node> = Vec::new();
        for (number, name) in NAMES.into_iter().enumerate().take(servers) {
            // The second follower follows the first, or the source like the first.
            let source = number.checked_sub(1).map(|before| if world.below(3) == 0 { 0 } else { before });
            nodes.push(Node::new(&world, name, source, &scenario));
        }
        let clients = world.machine();
        world.set_silent_deaths(scenario.silent_deaths);
        let cluster = Cluster {
            world,
            scenario,
            nodes,
            clients,
            armed: None,
            damages: Damages::default(),
            behind: Shared::default(),
            deaths: 0,
        };
        cluster.set_garbling(cluster.scenario.garbling);
        cluster
    }

    /// Lets a workload's clients work while things happen, heals everything, waits, and checks; an error names the seed.
    pub(crate) fn run<W: Workload>(&mut self, workload: &W) -> Result<W::Found, String> {
        let seed = self.world.seed();
        self.run_through(workload).map_err(|error| format!("seed {seed}: {error}"))
    }

    fn run_through<W: Workload>(&mut self, workload: &W) -> Result<W::Found, String> {
        let world = self.world.clone();
        for node in 0..self.nodes.len() {
            self.start(node);
        }
        let clients = Clients::new(self.clients.env(), world.clone(), self.behind.clone());
        workload.start(&clients, self.nodes.len());
        let mut left = self.scenario.steps;
        while left > 0 {
            // The controller itself is lost with each crash, and goes on with the next step.
            let steps = async {
                while left > 0 {
                    left -= 1;
                    self.step().await?;
                }
                Ok::<(), String>(())
            };
            match world.run(steps) {
                Ok(done) => done?,
                Err(io::sim::Crashed) => self.armed_crashed()?,
            }
        }
        match world.run(self.damages.look(&self.nodes)) {
            Ok(looked) => looked?,
            Err(io::sim::Crashed) => self.armed_crashed()?,
        }
        self.heal()?;
        clients.stop();
        let quiet = async {
            self.wait_until_quiet(&clients).await?;
            if let Some(wrong) = clients.wrong() {
                return Err(wrong);
            }
            workload.check(&self.nodes, clients.link()).await
        };
        world.run(quiet).map_err(|_| "a crash that nobody asked for".to_owned())?
    }

    /// One thing that happens.
    async fn step(&mut self) -> Result<(), String> {
        let world = self.world.clone();
        let pause = Duration::from_micros(world.below(self.scenario.pause_max.as_micros() as u64));
        self.clients.env().clock.sleep(pause).await;
        self.deaths += self.bury()?;
        check_prefixes(&self.nodes)?;
        self.disturb();
        let node = world.below(self.nodes.len() as u64) as usize;
        let other = world.below(self.nodes.len() as u64) as usize;
        let is_up = self.nodes[node].is_up();
        match world.below(14) {
            0 => world.cut_connections(),
            1 if node != other => world.set_reachable(&self.nodes[node].machine, &self.nodes[other].machine, false),
            2 => self.reconnect(),
            3 => world.set_latency(Duration::from_micros(50 << (2 * world.below(6)))),
            4 | 5 if is_up => self.die(node)?,
            6 | 7 if is_up && self.armed.is_none() => {
                self.nodes[node].machine.crash_after(1 + world.below(80));
                self.armed = Some(node);
            }
            8 if is_up => self.nodes[node].ask_to_stop(),
            9.. if !is_up => self.start(node),
            _ => {}
        }
        Ok(())
    }

    /// What only some scenarios have.
    fn disturb(&mut self) {
        let world = self.world.clone();
        if self.scenario.clocks_jump && world.below(4) == 0 {
            let most = [10, 3600, 30 * 24 * 3600, 5 * 365 * 24 * 3600][world.below(4) as usize] * 1_000_000;
            let ahead = world.below(2 * most) as i64 - most as i64;
            self.nodes[world.below(self.nodes.len() as u64) as usize].machine.set_clock(ahead);
        }
        if !self.scenario.damage.is_empty() && world.below(8) == 0 {
            self.damages.begin(&self.nodes, &world, self.scenario.damage);
        }
    }

    fn set_garbling(&self, probability: f64) {
        for (number, a) in self.nodes.iter().enumerate() {
            self.nodes[..number].iter().for_each(|b| a.machine.set_garbling(&b.machine, probability));
        }
    }

    fn start(&mut self, node: usize) {
        if self.damages.before_start(node, &self.nodes[node]) {
            self.behind.lock().insert(node);
        }
        let source = self.nodes[node].source.map(|source| self.nodes[source].name);
        let says_so = self.world.below(2) == 0;
        self.nodes[node].start(source, says_so);
    }

    /// Takes servers that have ended out; how many of them had failed.
    fn bury(&mut self) -> Result<u64, String> {
        let mut failed = 0;
        for node in 0..self.nodes.len() {
            let Some(ended) = self.nodes[node].has_ended() else { continue };
            match ended {
                Ok(()) => {}
                Err(_) if self.scenario.sync_error > 0.0 => failed += 1,
                Err(why) if self.damages.explain(node, &self.nodes[node], &why) => failed += 1,
                Err(why) => return Err(format!("server {} ended: {why}", self.nodes[node].name)),
            }
            self.disarm(node);
            self.nodes[node].end(true);
        }
        Ok(failed)
    }

    /// Kills a process, or lets the power of its machine fail.
    fn die(&mut self, node: usize) -> Result<(), String> {
        self.disarm(node);
        self.deaths += 1;
        let only_the_process = self.world.below(3) == 0;
        self.nodes[node].end(only_the_process);
        check_prefixes(&self.nodes)
    }

    fn armed_crashed(&mut self) -> Result<(), String> {
        let Some(node) = self.armed.take() else { return Err("a crash that nobody asked for".to_owned()) };
        self.deaths += 1;
        self.nodes[node].end(false);
        check_prefixes(&self.nodes)
    }

    fn disarm(&mut self, node: usize) {
        if self.armed == Some(node) {
            self.armed = None;
        }
    }

    fn reconnect(&self) {
        for a in &self.nodes {
            for b in &self.nodes {
                self.world.set_reachable(&a.machine, &b.machine, true);
            }
        }
    }

    /// From here on nothing fails any more.
    fn heal(&mut self) -> Result<(), String> {
        self.deaths += self.bury()?;
        self.reconnect();
        self.world.set_latency(Duration::from_micros(500));
        self.world.set_silent_deaths(false);
        self.set_garbling(0.0);
        // Who has stopped following, as is right then, is not told to go on: it begins anew.
        let all_begin_anew = !self.scenario.damage.is_empty() || self.scenario.garbling > 0.0;
        for node in 0..self.nodes.len() {
            // What is to happen must not happen later: the process ends here instead.
            if all_begin_anew || self.armed == Some(node) || self.nodes[node].is_asked_to_stop() {
                self.nodes[node].end(true);
            }
            let repairs_itself = self.scenario.repairs && self.nodes[node].source.is_some();
            self.nodes[node].heal(!repairs_itself);
        }
        self.armed = None;
        self.damages.are_mended();
        Ok(())
    }

    /// Whether followers that are to repair themselves have. All of their pages are looked at, so that they know what there is.
    async fn are_repaired(&self) -> Result<bool, String> {
        let mut are_repaired = true;
        for node in self.nodes.iter().filter(|node| self.scenario.repairs && node.source.is_some()) {
            let Some(engine) = node.engine() else { return Ok(false) };
            if !engine.damage().is_empty() {
                are_repaired = false;
                continue;
            }
            for table in engine.catalog().all_tables() {
                for index_number in 0..table.def.indexes.len() {
                    let found = engine.find_damage(table, index_number).await.map_err(|error| error.to_string())?;
                    are_repaired &= found.is_none();
                }
            }
        }
        Ok(are_repaired)
    }

    /// What its administrator does now that nothing fails any more.
    fn see_to(&mut self, number: usize) {
        let node = &self.nodes[number];
        let repairs_itself = self.scenario.repairs && node.source.is_some();
        if repairs_itself && node.has_failed() {
            // Damage with which nothing starts, the catalog's for one, is not what it repairs. Where a checkpoint has
            // left out changes in the meantime, the bytes themselves do not help any more.
            match node.has_failed_without_damage() {
                true => self.nodes[number].rebuild(),
                false => self.nodes[number].heal(true),
            }
        } else {
            let is_lost = match repairs_itself && node.engine().is_some() {
                true => node.needed_what_is_damaged(),
                false => self.damages.has_cost_rows(number, node),
            };
            if is_lost {
                self.nodes[number].rebuild();
            }
        }
        if !self.nodes[number].is_up() {
            self.start(number);
        }
    }

    /// Waits until the clients have stopped and everybody is at the end of the source's log.
    async fn wait_until_quiet(&mut self, clients: &Clients) -> Result<(), String> {
        let begin = self.world.elapsed();
        let clock = self.clients.env().clock;
        // Since when all is quiet, with the log's end then.
        let mut quiet = None;
        loop {
            let is_quiet = clients.have_stopped() && are_in_step(&self.nodes) && self.are_repaired().await?;
            let end = self.nodes[0].engine().map(|engine| engine.log().durable_end()).filter(|_| is_quiet);
            if end.is_none() || quiet.is_none_or(|(_, before)| Some(before) != end) {
                quiet = end.map(|end| (self.world.elapsed(), end));
            }
            if quiet.is_some_and(|(since, _)| self.world.elapsed() - since > LOST_TIME) {
                break;
            }
            check_prefixes(&self.nodes)?;
            // A sync may have failed just before nothing failed any more.
            self.deaths += self.bury()?;
            for node in 0..self.nodes.len() {
                self.see_to(node);
            }
            if self.world.elapsed() - begin > QUIET_TIME_MAX {
                let clients = if clients.have_stopped() { "have stopped" } else { "still run" };
                let where_all_are = describe(&self.nodes);
                return Err(format!(
                    "not in step {QUIET_TIME_MAX:?} after the last fault; clients {clients}; {where_all_are}"
                ));
            }
            clock.sleep(QUIET_STEP).await;
        }
        check_prefixes(&self.nodes)
    }
}

/// Shared by tasks of one world, which has one thread.
type Shared<T> = Arc<parking_lot::Mutex<T>>;
