//! Versions in memory: everything that was committed since the last checkpoint, and what is about to be.
//!
//! # Model
//! A [`Memtable`] has a tree per index, by key, and per key a chain of versions ([`chain`]). A session installs its
//! versions just before it joins the commit queue, with a stamp that is still empty ([`stamp`]); the log thread fills the
//! stamp in, and with that one store every version of the transaction has its number. `apply` installs versions whose number
//! is known, in any order.
//!
//! At a checkpoint the memtable is frozen: a new one takes the installs, the old one is merged into the trees and goes.
//!
//! ```text
//!            numbers up to the boundary      | above it
//!   frozen:  everything installed before     | leftovers: copied to the active one before this one goes
//!   active:  -                               | everything
//! ```
//!
//! # Invariants
//! - Of one key, every version in the active memtable is newer than every version in the frozen one, so the first
//!   memtable that has a visible version has the right one. (A session takes its [`Guard`] when it has all its row locks;
//!   `apply` is sent by number, see [`Memtable::after`].)
//! - A frozen memtable is merged only when nobody holds a [`Guard`] of it: all its versions are numbered, or gone.

pub(crate) mod chain;
mod key;
mod marks;
pub(crate) mod stamp;
mod tree;

use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicIsize, AtomicU64, AtomicUsize, Ordering, fence};

use arc_swap::ArcSwap;
use base::memory::uncounted;
use base::{CommitNumber, IndexId};
use bytes::Bytes;
use event_listener::Event;
use parking_lot::Mutex;

use crate::bulk::{Batch, Batches};
use crate::large::LargeWrites;
use crate::view::Mark;
use chain::{Chain, Version};
pub use key::Key;
use stamp::{StampState, VersionStamp};
pub(crate) use tree::{IndexTree, Newest, Range};

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Memtable {
    /// By index id, ascending; replaced as a whole when an index joins.
    trees: ArcSwap<Vec<(IndexId, Arc<IndexTree>)>>,
    /// Transactions whose versions are in runs.
    large: ArcSwap<Vec<Arc<LargeWrites>>>,
    /// What was installed in bulk, and is not readable yet.
    bulk: Mutex<Batches>,
    /// Counts `large`: a number that changes with each.
    attached: AtomicU64,
    bytes: AtomicIsize,
    /// Versions with a known number at or below this belong to an older memtable.
    after: AtomicU64,
    /// The highest known number that was installed.
    installed: AtomicU64,
    /// The number of the newest transaction of sessions.
    last: AtomicU64,
    /// The state just before the first transaction of this memtable was numbered.
    start: OnceLock<Mark>,
    guards: AtomicUsize,
    frozen: AtomicBool,
    idle: Event,
}

/// Keeps a memtable from being merged while its holder's versions have no number.
#[derive(Debug)]
pub(crate) struct Guard(Arc<Memtable>);

impl Memtable {
    /// For versions after this commit number.
    pub(crate) fn new(after: CommitNumber) -> Arc<Self> {
        Arc::new(Memtable { after: AtomicU64::new(after.0), ..Memtable::default() })
    }

    /// Versions with a known number at or below this belong to an older memtable.
    pub(crate) fn after(&self) -> CommitNumber {
        CommitNumber(self.after.load(Ordering::Acquire))
    }

    /// What was installed of the transactions behind one will not be published, unless it is installed again: it is not waited for, and not
    /// copied. Nobody installs meanwhile.
    pub(crate) fn forget_later(&self, last: CommitNumber) {
        self.after.fetch_min(last.0, Ordering::AcqRel);
        self.installed.fetch_min(last.0, Ordering::AcqRel);
    }

    /// Bytes that it takes, about.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed).max(0) as usize
    }

    /// The tree of an index, if anything was installed in it.
    pub(crate) fn tree(&self, index: IndexId) -> Option<Arc<IndexTree>> {
        let trees = self.trees.load();
        let at = trees.binary_search_by_key(&index, |(id, _)| *id).ok()?;
        Some(trees[at].1.clone())
    }

    /// Calls `f` with the tree of an index, without touching its reference count.
    pub(crate) fn with_tree<R>(&self, index: IndexId, f: impl FnOnce(&IndexTree) -> R) -> Option<R> {
        let trees = self.trees.load();
        let at = trees.binary_search_by_key(&index, |(id, _)| *id).ok()?;
        Some(f(&trees[at].1))
    }

    /// Indexes with a tree, ascending.
    pub(crate) fn indexes(&self) -> Vec<IndexId> {
        self.trees.load().iter().map(|(id, _)| *id).collect()
    }

    /// Keys with versions, in chains and in runs.
    pub(crate) fn keys(&self) -> u64 {
        let in_chains: usize = self.trees.load().iter().map(|(_, tree)| tree.len()).sum();
        let in_runs: usize = self.large.load().iter().map(|large| large.entries()).sum();
        let in_bulk: usize = self.with_bulk(|bulk| bulk.all().iter().map(|batch| batch.entries()).sum());
        (in_chains + in_runs + in_bulk) as u64
    }

    /// Adds a version; see [`IndexTree::install`].
    pub(crate) fn install(
        &self,
        index: IndexId,
        key: &[u8],
        value: Option<Bytes>,
        stamp: VersionStamp,
        floor: impl FnOnce() -> CommitNumber,
    ) {
        if let VersionStamp::Known(number) = stamp {
            self.installed.fetch_max(number.0, Ordering::AcqRel);
        }
        let version = Version { stamp, value };
        let trees = self.trees.load();
        // Versions have a bound of their own.
        let grown = uncounted(|| match trees.binary_search_by_key(&index, |(id, _)| *id) {
            Ok(at) => trees[at].1.install(key, version, floor),
            Err(_) => self.make_tree(index).install(key, version, floor),
        });
        self.bytes.fetch_add(grown, Ordering::Relaxed);
    }

    /// Copies the versions above `upto` of one key into a newer memtable.
    pub(crate) fn copy_later(&self, upto: CommitNumber, index: IndexId, key: &Key, chain: &Chain, newer: &Memtable) {
        let tree = newer.make_tree(index);
        if let Some(grown) = self.with_tree(index, |own| own.copy_later(upto, key, chain, &tree)) {
            newer.bytes.fetch_add(grown, Ordering::Relaxed);
        }
    }

    /// Adds versions of ascending keys, of which nobody needs an older one.
    pub(crate) fn install_ascending(&self, index: IndexId, versions: Vec<(Key, Version)>) {
        let grown = self.make_tree(index).install_ascending(versions);
        self.bytes.fetch_add(grown, Ordering::Relaxed);
    }

    /// Adds what was installed in bulk.
    pub(crate) fn attach_bulk(&self, batch: Arc<Batch>) {
        self.installed.fetch_max(batch.last.0, Ordering::AcqRel);
        self.change_bulk(|bulk| bulk.push(batch));
    }

    /// What was installed in bulk.
    pub(crate) fn bulk(&self) -> Vec<Arc<Batch>> {
        self.with_bulk(|bulk| bulk.all().to_vec())
    }

    /// Looks at what was installed in bulk.
    pub(crate) fn with_bulk<R>(&self, look: impl FnOnce(&Batches) -> R) -> R {
        look(&self.bulk.lock())
    }

    /// Does something with what was installed in bulk, and counts what it takes then.
    pub(crate) fn change_bulk<R>(&self, change: impl FnOnce(&mut Batches) -> R) -> R {
        let mut bulk = self.bulk.lock();
        let before = bulk.memory_bytes();
        let result = change(&mut bulk);
        let grown = bulk.memory_bytes().cast_signed() - before.cast_signed();
        self.bytes.fetch_add(grown, Ordering::Relaxed);
        result
    }

    /// Adds the runs of a large transaction.
    pub(crate) fn attach(&self, large: LargeWrites) {
        if let VersionStamp::Known(number) = large.stamp {
            self.installed.fetch_max(number.0, Ordering::AcqRel);
        }
        self.bytes.fetch_add(large.memory_bytes().max(1).cast_signed(), Ordering::Relaxed);
        self.attach_shared(&Arc::new(large));
        self.attached.fetch_add(1, Ordering::Release);
    }

    /// The same of one that is in an older memtable too.
    pub(crate) fn attach_shared(&self, large: &Arc<LargeWrites>) {
        self.large.rcu(|before| {
            let others = before.iter().filter(|other| !Arc::ptr_eq(other, large));
            others.cloned().chain([large.clone()]).collect::<Vec<_>>()
        });
    }

    /// The runs beside the chains.
    pub(crate) fn large(&self) -> arc_swap::Guard<Arc<Vec<Arc<LargeWrites>>>> {
        self.large.load()
    }

    /// How many were added.
    pub(crate) fn attached(&self) -> u64 {
        self.attached.load(Ordering::Acquire)
    }

    /// Lets go of runs that will never have a number.
    pub(crate) fn forget_aborted(&self) {
        if self.large.load().is_empty() {
            return;
        }
        self.large.rcu(|before| {
            let others = before.iter().filter(|large| large.stamp.state() != StampState::Aborted);
            others.cloned().collect::<Vec<_>>()
        });
    }

    fn make_tree(&self, index: IndexId) -> Arc<IndexTree> {
        let new = Arc::new(IndexTree::default());
        self.trees.rcu(|trees| match trees.binary_search_by_key(&index, |(id, _)| *id) {
            Ok(_) => Vec::clone(trees),
            Err(at) => {
                let mut trees = Vec::clone(trees);
                trees.insert(at, (index, new.clone()));
                trees
            }
        });
        self.tree(index).unwrap_or(new)
    }

    /// The highest known number that was installed.
    pub(crate) fn installed(&self) -> CommitNumber {
        CommitNumber(self.installed.load(Ordering::Acquire))
    }

    /// Told, in log order, of each transaction of this memtable before it gets its number; remembers what was before the first.
    pub(crate) fn starts_after(&self, mark: &Mark, number: CommitNumber) {
        if self.start.get().is_none() {
            let _ = self.start.set(mark.clone());
        }
        self.last.store(number.0, Ordering::Release);
    }

    /// The highest number of a transaction in it.
    pub(crate) fn last_number(&self) -> CommitNumber {
        CommitNumber(self.last.load(Ordering::Acquire).max(self.installed.load(Ordering::Acquire)))
    }

    /// The state just before its first transaction, if it has one.
    pub(crate) fn start(&self) -> Option<&Mark> {
        self.start.get()
    }

    /// Registers an installer; the caller looks again afterwards whether this memtable is still the active one.
    pub(crate) fn guard(self: &Arc<Self>) -> Guard {
        self.guards.fetch_add(1, Ordering::SeqCst);
        // Pairs with the fence of the freeze.
        fence(Ordering::SeqCst);
        Guard(self.clone())
    }

    /// No new guards come (the caller has replaced it): [`Memtable::idle`] can end.
    pub(crate) fn freeze(&self) {
        self.frozen.store(true, Ordering::SeqCst);
    }

    /// Ready when nobody holds a guard.
    pub(crate) async fn idle(&self) {
        loop {
            let listener = self.idle.listen();
            if self.guards.load(Ordering::SeqCst) == 0 {
                return;
            }
            listener.await;
        }
    }
}

impl Guard {
    pub(crate) fn memtable(&self) -> &Arc<Memtable> {
        &self.0
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let before = self.0.guards.fetch_sub(1, Ordering::SeqCst);
        if before == 1 && self.0.frozen.load(Ordering::SeqCst) {
            self.0.idle.notify(usize::MAX);
        }
    }
}
