//! A simulated world: machines with disks that crash, one network, one clock, one thread, everything from one seed.
//!
//! ```text
//! SimWorld ── executor (which ready task runs next, virtual time) ── rng(seed)
//!   ├─ SimMachine "source"   Env { disk, clock, spawner, network, random }
//!   └─ SimMachine "follower" Env { … }
//! ```
//!
//! A test makes a world, takes the [`Env`](crate::Env) of its machines, and calls [`SimWorld::run`] with what the
//! test does. Production code runs unchanged. The order of tasks, how long each operation takes, and what a crash
//! leaves on the disk come from the seed alone, so the same seed gives the same run, to the byte.
//!
//! # Fault model
//! - **Crash** ([`SimMachine::crash`], or in the middle of the n-th disk operation with
//!   [`SimMachine::crash_after`]): the machine's tasks vanish, its connections break, unsynced writes are lost,
//!   kept or torn by sectors of 512 bytes, each on its own; unsynced names roll back to some point of their order.
//! - **Failed operations** ([`Faults`]): writes, syncs and reads fail with a probability; after a failed sync the
//!   writes before it may never become durable although reads still show them, and each open file is told of a failed
//!   write-back once, as Linux does.
//! - **Full disk**: a capacity, beyond which writes fail with `StorageFull`.
//! - **Damage** ([`SimMachine::damage`]): flipped bits, lost writes, writes that land elsewhere, of any file.
//! - **Clock** ([`SimMachine::set_clock`]): the time of day jumps; time that is measured goes on.
//! - **Network**: latency ([`SimWorld::set_latency`]), connections that break ([`SimWorld::cut_connections`]), machines
//!   that cannot reach each other for a while ([`SimWorld::set_reachable`]), connections whose other end is gone without a word
//!   ([`SimWorld::set_silent_deaths`]), boxes on the way that repeat, swap, lose or change bytes ([`SimMachine::set_garbling`]).
//!
//! # Invariants
//! - What was synced before a crash is there after it, unless a test flipped it.
//! - Nothing in here reads the real clock or real randomness.

mod damage;
mod disk;
mod executor;
mod inode;
mod network;

use std::collections::BTreeSet;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use base::UnixMicros;
pub use damage::{Damage, Damaged};
use disk::SimDisk;
pub use disk::{DiskStats, Faults};
pub use executor::Crashed;
use executor::Executor;
use network::SimNetwork;

use crate::{BoxFuture, Clock, Env, Random, Removals, Spawner};

/// One of so many steps ([`Env::step`]) is followed by an interruption.
const INTERRUPTED_ONE_IN: u64 = 4;
/// The longest; as long as one or two disk operations.
const INTERRUPTION: Duration = Duration::from_micros(300);

/// All machines of one simulation.
#[derive(Clone)]
pub struct SimWorld {
    executor: Arc<Executor>,
    network: Arc<SimNetwork>,
    machines: Arc<AtomicU64>,
}

impl SimWorld {
    /// A world without machines, in which everything follows from `seed`.
    pub fn new(seed: u64) -> Self {
        let executor = Arc::new(Executor::new(seed));
        let network = Arc::new(SimNetwork::new(executor.clone()));
        SimWorld { executor, network, machines: Arc::new(AtomicU64::new(1)) }
    }

    /// A new machine with an empty disk.
    pub fn machine(&self) -> SimMachine {
        let id = self.machines.fetch_add(1, Ordering::Relaxed);
        SimMachine { world: self.clone(), disk: SimDisk::new(self.executor.clone(), id), id, clock: Arc::default() }
    }

    /// Runs the machines' tasks and `main` until `main` is done.
    ///
    /// # Errors
    /// [`Crashed`] when an operation armed by [`SimMachine::crash_after`] was reached; call
    /// [`SimMachine::crash`] then, and run what comes after.
    ///
    /// # Panics
    /// When nothing can go on and `main` is not done; the message has the seed.
    pub fn run<T>(&self, main: impl Future<Output = T>) -> Result<T, Crashed> {
        self.executor.run(main)
    }

    /// The seed that repeats this world.
    pub fn seed(&self) -> u64 {
        self.executor.seed()
    }

    /// A random number below `bound`, from the world's seed, for the test's own choices.
    pub fn below(&self, bound: u64) -> u64 {
        self.executor.below(bound)
    }

    /// Breaks every connection there is now.
    pub fn cut_connections(&self) {
        self.network.cut(|_| true);
    }

    /// Whether anything gets through between two machines, from now on. What is under way waits until it does; attempts to
    /// connect time out.
    pub fn set_reachable(&self, a: &SimMachine, b: &SimMachine, reachable: bool) {
        self.network.set_blocked([a.id, b.id], !reachable);
    }

    /// How long a message takes at most, from now on.
    pub fn set_latency(&self, latency: Duration) {
        self.network.set_latency(latency);
    }

    /// Whether, from now on, nobody is told when a machine or process ends: connections to it stay open, and nothing comes of them.
    pub fn set_silent_deaths(&self, silent: bool) {
        self.network.set_silent_deaths(silent);
    }

    /// Drops what still runs. A world that is not ended stays in memory: its tasks own it.
    pub fn end(&self) {
        self.executor.end();
    }

    /// Virtual time since the beginning.
    pub fn elapsed(&self) -> Duration {
        self.executor.now()
    }
}

/// One simulated machine.
#[derive(Clone)]
pub struct SimMachine {
    world: SimWorld,
    disk: Arc<SimDisk>,
    id: u64,
    /// What its time of day is ahead, microseconds.
    clock: Arc<AtomicI64>,
}

impl SimMachine {
    /// A world with this machine alone.
    pub fn new(seed: u64) -> Self {
        SimWorld::new(seed).machine()
    }

    /// The world that it belongs to.
    pub fn world(&self) -> &SimWorld {
        &self.world
    }

    /// What production code gets to run on this machine. Take it anew after a crash.
    pub fn env(&self) -> Env {
        let executor = self.world.executor.clone();
        Env {
            disk: self.disk.handle(),
            clock: Arc::new(SimClock { executor: executor.clone(), ahead: self.clock.clone() }),
            spawner: Arc::new(SimSpawner { executor: executor.clone(), machine: self.id }),
            network: self.world.network.handle(self.id),
            random: Arc::new(SimRandom(executor)),
            removals: Removals::default(),
        }
    }

    /// As [`SimWorld::run`].
    ///
    /// # Errors
    /// As [`SimWorld::run`].
    pub fn run<T>(&self, main: impl Future<Output = T>) -> Result<T, Crashed> {
        self.world.run(main)
    }

    /// The power fails and comes back: tasks and connections are gone, the disk is what survived.
    pub fn crash(&self) {
        self.world.network.leave(self.id);
        self.world.executor.kill(self.id);
        self.disk.crash();
    }

    /// Only the process ends (SIGKILL): tasks, connections and locks are gone, every finished write stays.
    pub fn kill(&self) {
        self.world.network.leave(self.id);
        self.world.executor.kill(self.id);
        self.disk.kill();
    }

    /// Makes the `operations`-th disk operation from now (1 is the next) the one in which the power fails:
    /// [`SimWorld::run`] returns [`Crashed`].
    pub fn crash_after(&self, operations: u64) {
        self.disk.crash_after(operations);
    }

    /// What goes wrong from now on.
    pub fn set_faults(&self, faults: Faults) {
        self.disk.set_faults(faults);
    }

    /// Inverts one bit of a file, in what reads show and on the medium.
    pub fn flip_bit(&self, path: &str, bit: u64) {
        self.disk.flip_bit(path, bit);
    }

    /// Does damage to a file whose path contains `only`: now, or to the next write.
    pub fn damage(&self, damage: Damage, only: &str) {
        self.disk.damage(damage, only);
    }

    /// The files that are not what they should be.
    pub fn damaged(&self) -> Vec<Damaged> {
        self.disk.damaged()
    }

    /// The files to which something wrong was ever done, by the names that they had then.
    pub fn wronged(&self) -> Vec<String> {
        self.disk.wronged()
    }

    /// Makes every file what it should be.
    pub fn mend(&self) {
        self.disk.mend();
    }

    /// Sets the time of day, by what it is ahead (or behind) of the time since the beginning.
    pub fn set_clock(&self, ahead_micros: i64) {
        self.clock.store(ahead_micros, Ordering::Relaxed);
    }

    /// With which probability a piece that goes between these machines is repeated, swapped with the one before, lost, or changed
    /// by a bit.
    pub fn set_garbling(&self, other: &SimMachine, probability: f64) {
        self.world.network.set_garbling([self.id, other.id], probability);
    }

    /// The bytes of a file as reads show them.
    pub fn contents(&self, path: &str) -> Option<Vec<u8>> {
        self.disk.contents(path)
    }

    /// The bytes of a file that a power failure now would leave for sure, without damage; `None` if not even its name.
    pub fn durable_contents(&self, path: &str) -> Option<Vec<u8>> {
        self.disk.durable_contents(path)
    }

    /// Names of all files.
    pub fn files(&self) -> BTreeSet<String> {
        self.disk.files()
    }

    /// Bytes that all files take.
    pub fn used_bytes(&self) -> u64 {
        self.disk.used_bytes()
    }

    /// Operations so far.
    pub fn disk_stats(&self) -> DiskStats {
        self.disk.stats()
    }
}

struct SimClock {
    executor: Arc<Executor>,
    ahead: Arc<AtomicI64>,
}

impl Clock for SimClock {
    fn now(&self) -> UnixMicros {
        // 2026-01-01, so that time stamps of a simulation look like time stamps.
        let now = 1_767_225_600_000_000 + self.executor.now().as_micros() as u64;
        UnixMicros(now.saturating_add_signed(self.ahead.load(Ordering::Relaxed)))
    }

    fn monotonic(&self) -> Duration {
        self.executor.now()
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        Box::pin(self.executor.sleep(duration))
    }
}

struct SimSpawner {
    executor: Arc<Executor>,
    machine: u64,
}

impl Spawner for SimSpawner {
    fn spawn(&self, _name: &str, task: BoxFuture<'static, ()>) {
        self.executor.spawn(self.machine, task);
    }

    fn spawn_thread(&self, _name: &str, task: BoxFuture<'static, ()>) {
        self.executor.spawn(self.machine, task);
    }

    fn parallelism(&self) -> usize {
        2
    }

    fn interruption(&self) -> Option<BoxFuture<'static, ()>> {
        if self.executor.below(INTERRUPTED_ONE_IN) > 0 {
            return None;
        }
        let executor = self.executor.clone();
        Some(Box::pin(async move { executor.sleep_random(INTERRUPTION).await }))
    }
}

struct SimRandom(Arc<Executor>);

impl Random for SimRandom {
    fn fill(&self, bytes: &mut [u8]) {
        for byte in bytes {
            *byte = self.0.below(256) as u8;
        }
    }
}

#[cfg(test)]
mod tests;
