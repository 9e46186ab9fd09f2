//! Read views: who still reads which state, and what of memory and disk a state consists of.
//!
//! # Model
//! [`Layers`] are a state in pieces: memtables, newest first, over one immutable tree per index. A reader at snapshot `S`
//! takes the newest version at or below `S` from the first layer that has one.
//!
//! ```text
//!   now:                       active | frozen (while it is merged) | trees at checkpoint C
//!   a view at S >= C:          shares the layers of now
//!   a view at S < C:           -      | -                           | trees of its own, at S
//! ```
//!
//! So a view that outlives a checkpoint pins pages of the data file, not memory. All views at the same number share a
//! [`ViewSlot`]; the checkpoint replaces the slot's layers under their feet, which between two reads of a view is no change.
//!
//! # Invariants
//! - The visible number, the layers and the list of slots change under one lock ([`Views::inner`]), so a new view's layers
//!   hold everything at or below its number, and its trees nothing above.
//! - [`Views::floor`] never goes beyond the number of a view that reads memtables or will be opened: what is below may be
//!   pruned.
//!
//! Lock order: nothing is locked while [`Views::inner`] is held.

use std::collections::VecDeque;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arc_swap::ArcSwap;
use base::{CommitNumber, LogPosition};
use binlog::GtidSet;
use event_listener::Event;
use parking_lot::Mutex;
use store::Roots;

use crate::memtable::Memtable;
use crate::prepared::PreparedTransactions;
use crate::source_position::SourcePositions;

/// A state: which transactions, where in the log, by which GTIDs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mark {
    /// The last transaction in it.
    pub(crate) commit_number: CommitNumber,
    /// Where the log goes on after it.
    pub(crate) position: LogPosition,
    /// `gtid_executed`
    pub(crate) gtids: GtidSet,
    /// Where transactions of it end in the logs of sources without GTIDs, by name.
    pub(crate) positions: SourcePositions,
    /// Those whose second phase is not in it.
    pub(crate) prepared: PreparedTransactions,
}

/// A state in pieces; see the module.
#[derive(Clone)]
pub(crate) struct Layers {
    /// Newest first. The first is the active one, but for views with trees of their own, which have none.
    pub(crate) memtables: Vec<Arc<Memtable>>,
    /// The trees below.
    pub(crate) roots: Roots,
    /// The state that the trees are.
    pub(crate) roots_at: CommitNumber,
}

impl Layers {
    /// The memtable that takes new versions.
    pub(crate) fn active(&self) -> &Arc<Memtable> {
        &self.memtables[0]
    }

    /// Bytes of the memtables that are being merged, if there are any.
    pub(crate) fn frozen_bytes(&self) -> Option<usize> {
        self.memtables[1..].iter().map(|memtable| memtable.bytes()).reduce(|all, bytes| all + bytes)
    }
}

/// All views at one number.
pub(crate) struct ViewSlot {
    snapshot: CommitNumber,
    position: LogPosition,
    layers: ArcSwap<Layers>,
    /// Under [`Views::inner`]'s lock.
    users: AtomicU64,
}

impl ViewSlot {
    pub(crate) fn snapshot(&self) -> CommitNumber {
        self.snapshot
    }

    pub(crate) fn set_layers(&self, layers: Arc<Layers>) {
        self.layers.store(layers);
    }
}

struct Inner {
    visible: CommitNumber,
    position: LogPosition,
    layers: Arc<Layers>,
    /// Ascending by number, each with users.
    slots: VecDeque<Arc<ViewSlot>>,
}

/// The registry.
pub(crate) struct Views {
    inner: Mutex<Inner>,
    /// Mirrors for those who need no view.
    visible: AtomicU64,
    layers: ArcSwap<Layers>,
    /// Notified when the visible number goes up and somebody waits for it.
    published: Event,
}

impl Views {
    pub(crate) fn new(visible: CommitNumber, position: LogPosition, layers: Layers) -> Arc<Self> {
        let layers = Arc::new(layers);
        Arc::new(Views {
            inner: Mutex::new(Inner { visible, position, layers: layers.clone(), slots: VecDeque::new() }),
            visible: AtomicU64::new(visible.0),
            layers: ArcSwap::new(layers),
            published: Event::new(),
        })
    }

    /// The newest number that everybody can see.
    pub(crate) fn visible(&self) -> CommitNumber {
        CommitNumber(self.visible.load(Ordering::Acquire))
    }

    /// The same, with its place in the log.
    pub(crate) fn visible_position(&self) -> (CommitNumber, LogPosition) {
        let inner = self.inner.lock();
        (inner.visible, inner.position)
    }

    /// The layers of now. For locking reads and installs; a snapshot needs a view.
    pub(crate) fn layers(&self) -> arc_swap::Guard<Arc<Layers>> {
        self.layers.load()
    }

    /// Lets everything up to a number be seen.
    pub(crate) fn publish(&self, visible: CommitNumber, position: LogPosition) {
        {
            let mut inner = self.inner.lock();
            debug_assert!(visible >= inner.visible, "visibility only moves forward");
            inner.visible = visible;
            inner.position = position;
            self.visible.store(visible.0, Ordering::Release);
        }
        self.published.notify(usize::MAX);
    }

    /// Ready after the next publication, or [`Views::wake`], or at once if `is_done` says so by then.
    pub(crate) async fn next_publication(&self, is_done: impl Fn() -> bool) {
        let listener = self.published.listen();
        if !is_done() {
            listener.await;
        }
    }

    /// Lets everybody who waits for a publication look again.
    pub(crate) fn wake(&self) {
        self.published.notify(usize::MAX);
    }

    /// Opens a view of now.
    pub(crate) fn open(self: &Arc<Self>) -> ReadView {
        let mut inner = self.inner.lock();
        let is_hidden = |memtable: &Arc<Memtable>| memtable.bulk().iter().all(|batch| batch.first > inner.visible);
        debug_assert!(inner.layers.memtables.iter().all(is_hidden), "settled before it is read");
        let shared = inner
            .slots
            .back()
            .filter(|slot| slot.snapshot == inner.visible && Arc::ptr_eq(&slot.layers.load(), &inner.layers));
        let slot = match shared {
            Some(slot) => slot.clone(),
            None => {
                let slot = Arc::new(ViewSlot {
                    snapshot: inner.visible,
                    position: inner.position,
                    layers: ArcSwap::new(inner.layers.clone()),
                    users: AtomicU64::new(0),
                });
                inner.slots.push_back(slot.clone());
                slot
            }
        };
        slot.users.fetch_add(1, Ordering::Relaxed);
        ReadView { slot, views: self.clone() }
    }

    fn release(&self, slot: &Arc<ViewSlot>) {
        let mut inner = self.inner.lock();
        if slot.users.fetch_sub(1, Ordering::Relaxed) > 1 {
            return;
        }
        let from = inner.slots.partition_point(|other| other.snapshot < slot.snapshot);
        let at = (from..inner.slots.len()).find(|&at| Arc::ptr_eq(&inner.slots[at], slot));
        let removed = at.and_then(|at| inner.slots.remove(at));
        drop(inner);
        // Freed outside the lock: it may be the last to hold a memtable.
        drop(removed);
    }

    /// The oldest state that anybody reads in memtables or may come to read there.
    pub(crate) fn floor(&self) -> CommitNumber {
        let inner = self.inner.lock();
        let in_memory = inner.slots.iter().find(|slot| !slot.layers.load().memtables.is_empty());
        in_memory.map_or(inner.visible, |slot| slot.snapshot)
    }

    /// Replaces the layers of now by what `change` makes of them; and those of every view from `also_from` on that reads
    /// memtables. What was before, so that it can be freed outside the lock.
    pub(crate) fn replace_layers(
        &self,
        also_from: Option<CommitNumber>,
        change: impl FnOnce(&Layers, CommitNumber) -> Layers,
    ) -> Arc<Layers> {
        let mut inner = self.inner.lock();
        let layers = Arc::new(change(&inner.layers, inner.visible));
        let before = std::mem::replace(&mut inner.layers, layers.clone());
        self.layers.store(layers.clone());
        if let Some(from) = also_from {
            for slot in inner.slots.iter().filter(|slot| slot.snapshot >= from) {
                if !slot.layers.load().memtables.is_empty() {
                    slot.layers.store(layers.clone());
                }
            }
        }
        drop(inner);
        before
    }

    /// Views at or after `from` and before `to` that still read memtables, oldest first.
    pub(crate) fn between(&self, from: CommitNumber, to: CommitNumber) -> Vec<Arc<ViewSlot>> {
        let inner = self.inner.lock();
        let meant = inner.slots.iter().filter(|slot| slot.snapshot >= from && slot.snapshot < to);
        meant.filter(|slot| !slot.layers.load().memtables.is_empty()).cloned().collect()
    }

    /// Number of distinct states that are being read.
    pub(crate) fn count(&self) -> usize {
        self.inner.lock().slots.len()
    }
}

/// A state that stays readable until this is dropped.
pub(crate) struct ReadView {
    slot: Arc<ViewSlot>,
    views: Arc<Views>,
}

impl ReadView {
    pub(crate) fn snapshot(&self) -> CommitNumber {
        self.slot.snapshot
    }

    pub(crate) fn position(&self) -> LogPosition {
        self.slot.position
    }

    /// Its pieces, for one read.
    pub(crate) fn layers(&self) -> impl Deref<Target = Arc<Layers>> + use<> {
        self.slot.layers.load()
    }
}

impl Drop for ReadView {
    fn drop(&mut self) {
        self.views.release(&self.slot);
    }
}
