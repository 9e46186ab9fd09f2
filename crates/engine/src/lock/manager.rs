//! What all owners share, and how a wait is waited.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::Poll;
use std::time::Duration;

use base::{Cancel, IndexId};
use bytes::Bytes;
use io::Clock;

use super::deadlock::{WaitGraph, WaitsFor};
use super::packed::ListId;
use super::ranges::RangeTable;
use super::table::{LockId, LockTable, Order};
use super::turn::Turn;
use super::waiter::{End, OwnerId, Waiter};
use super::weak::WeakLocks;
use super::{LockError, LockOptions, LockOwner, Wait, WaitPolicy};

/// Which of the two hashes of locks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Space {
    Records,
    Tables,
}

/// All locks of one engine.
pub struct LockManager {
    pub(super) options: LockOptions,
    /// Look for deadlocks when a wait begins (`innodb_deadlock_detect`); without, they end by timeout.
    deadlock_detect: AtomicBool,
    pub(super) records: LockTable,
    /// Apart from the records: `release_all` of a huge transaction does not slow statements down.
    pub(super) tables: LockTable,
    pub(super) weak: WeakLocks,
    pub(super) ranges: RangeTable,
    pub(super) graph: WaitGraph,
    clock: Arc<dyn Clock>,
    next_number: AtomicU64,
    counters: Counters,
}

#[derive(Default)]
struct Counters {
    waits: AtomicU64,
    deadlocks: AtomicU64,
    timeouts: AtomicU64,
    wait_micros: AtomicU64,
    wait_micros_max: AtomicU64,
}

/// What is held now. Found by looking at all of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LockStats {
    /// Record locks, pending inserts included.
    pub records: usize,
    /// Those of them that are packed.
    pub packed_records: usize,
    /// Pieces into which gap locks cut their indexes.
    pub gap_segments: usize,
    /// Inserts by open transactions.
    pub pending_inserts: usize,
    /// Those of them that are packed. (A key that was deleted and inserted again may be counted twice.)
    pub packed_inserts: usize,
    /// Memory of what is packed.
    pub packed_bytes: usize,
    /// Table and name locks.
    pub tables: usize,
    /// Owners that wait, for whatever.
    pub waiting: usize,
}

/// Who has waited for locks on rows and gaps, and how it ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LockWaits {
    /// Owners that wait now (`Innodb_row_lock_current_waits`).
    pub current: usize,
    /// Waits so far (`Innodb_row_lock_waits`).
    pub waits: u64,
    /// Victims so far (`Innodb_deadlocks`).
    pub deadlocks: u64,
    /// Waits that timed out so far.
    pub timeouts: u64,
    /// All waits together (`Innodb_row_lock_time`).
    pub time: Duration,
    /// The longest wait (`Innodb_row_lock_time_max`).
    pub time_max: Duration,
}

/// The kinds of waits: what has to be undone if one is given up.
pub(super) enum WaitKind<'a> {
    Lock { space: Space, id: LockId },
    Insert { index: IndexId, key: &'a Bytes, number: u64 },
}

impl WaitKind<'_> {
    fn is_for_row(&self) -> bool {
        !matches!(self, WaitKind::Lock { space: Space::Tables, .. })
    }
}

impl LockManager {
    /// No locks yet. The clock is for timeouts.
    pub fn new(clock: Arc<dyn Clock>, options: LockOptions) -> Arc<Self> {
        Arc::new(LockManager {
            deadlock_detect: AtomicBool::new(true),
            options,
            records: LockTable::new(Order::MostWork),
            tables: LockTable::new(Order::FirstCome),
            weak: WeakLocks::new(),
            ranges: RangeTable::new(),
            graph: WaitGraph::default(),
            clock,
            next_number: AtomicU64::new(1),
            counters: Counters::default(),
        })
    }

    /// `innodb_deadlock_detect`; waits that have begun go by what it was.
    pub fn set_deadlock_detect(&self, on: bool) {
        self.deadlock_detect.store(on, Ordering::Relaxed);
    }

    pub(super) fn detects_deadlocks(&self) -> bool {
        self.deadlock_detect.load(Ordering::Relaxed)
    }

    /// An owner without locks, under an id that no other has.
    pub fn owner(self: &Arc<Self>) -> LockOwner {
        let number = self.next_number();
        LockOwner::new(Arc::clone(self), OwnerId(number), ListId(number))
    }

    /// A number that no owner and no list of locks has.
    pub(crate) fn next_number(&self) -> u64 {
        self.next_number.fetch_add(1, Ordering::Relaxed)
    }

    pub(super) fn locks(&self, space: Space) -> &LockTable {
        match space {
            Space::Records => &self.records,
            Space::Tables => &self.tables,
        }
    }

    /// Counts what is held.
    pub fn stats(&self) -> LockStats {
        let (packed_records, record_bytes) = self.records.count_packed();
        let (packed_inserts, insert_bytes) = self.ranges.count_packed();
        let (gap_segments, pending) = self.ranges.count();
        LockStats {
            records: self.records.count() + packed_records,
            packed_records,
            gap_segments,
            pending_inserts: pending + packed_inserts,
            packed_inserts,
            packed_bytes: record_bytes + insert_bytes,
            tables: self.tables.count() + self.weak.count(),
            waiting: self.graph.count(|_| true),
        }
    }

    /// Counters of waits.
    pub fn waits(&self) -> LockWaits {
        let counter = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        LockWaits {
            current: self.graph.count(WaitsFor::is_row),
            waits: counter(&self.counters.waits),
            deadlocks: counter(&self.counters.deadlocks),
            timeouts: counter(&self.counters.timeouts),
            time: Duration::from_micros(counter(&self.counters.wait_micros)),
            time_max: Duration::from_micros(counter(&self.counters.wait_micros_max)),
        }
    }

    /// Waits until the lock is given, or the policy, a KILL or the deadlock search ends it.
    pub(super) async fn wait(
        &self,
        waiter: Arc<Waiter>,
        kind: WaitKind<'_>,
        turn: Option<Turn>,
        wait: Wait<'_>,
    ) -> Result<(), LockError> {
        let WaitPolicy::For(timeout) = wait.policy else { unreachable!("who does not wait is in no queue") };
        let start = self.clock.monotonic();
        let counters = kind.is_for_row().then_some(&self.counters);
        let mut waiting = Waiting { manager: self, waiter, kind, turn, over: false };
        if let Some(counters) = counters {
            counters.waits.fetch_add(1, Ordering::Relaxed);
        }
        waiting.enter_graph();
        let _shown = counters.map(|_| wait.cancel.show_row_wait(start));

        let reason = waiting.until_end_or(self.clock.sleep(timeout), wait.cancel).await;
        let result = match waiting.finish() {
            End::Granted => Ok(()),
            End::Deadlock => Err(LockError::Deadlock),
            End::Abandoned => Err(reason.unwrap_or(LockError::Cancelled)),
        };
        if let Some(counters) = counters {
            counters.note_end(self.clock.monotonic().saturating_sub(start), &result);
        }
        result
    }
}

impl Counters {
    fn note_end(&self, waited: Duration, result: &Result<(), LockError>) {
        let micros = waited.as_micros() as u64;
        self.wait_micros.fetch_add(micros, Ordering::Relaxed);
        self.wait_micros_max.fetch_max(micros, Ordering::Relaxed);
        let ended_by = match result {
            Err(LockError::Deadlock) => &self.deadlocks,
            Err(LockError::Timeout) => &self.timeouts,
            _ => return,
        };
        ended_by.fetch_add(1, Ordering::Relaxed);
    }
}

/// A wait under way. Dropped in the middle, it leaves the queue and gives back what was granted unseen.
struct Waiting<'a> {
    manager: &'a LockManager,
    waiter: Arc<Waiter>,
    kind: WaitKind<'a>,
    turn: Option<Turn>,
    over: bool,
}

impl Waiting<'_> {
    fn enter_graph(&self) {
        let waits_for = match &self.kind {
            WaitKind::Lock { space, id } => WaitsFor::Lock(*space, *id),
            WaitKind::Insert { index, key, .. } => WaitsFor::Gap(*index, (*key).clone()),
        };
        self.manager.graph.begin(waits_for, &self.waiter, self.turn, self.manager);
    }

    /// Why the waiter gives up; `None` if others ended the wait.
    async fn until_end_or(&self, timeout: impl Future<Output = ()>, cancel: &Cancel) -> Option<LockError> {
        let mut timeout = pin!(timeout);
        let mut cancelled = pin!(cancel.cancelled());
        poll_fn(|context| {
            if self.waiter.poll(context).is_ready() {
                Poll::Ready(None)
            } else if cancelled.as_mut().poll(context).is_ready() {
                Poll::Ready(Some(LockError::Cancelled))
            } else if timeout.as_mut().poll(context).is_ready() {
                Poll::Ready(Some(LockError::Timeout))
            } else {
                Poll::Pending
            }
        })
        .await
    }

    /// Leaves the queue and the graph; a grant that came just before a timeout counts.
    fn finish(&mut self) -> End {
        self.over = true;
        let end = match self.waiter.end(End::Abandoned) {
            Ok(_) => End::Abandoned,
            Err(end) => end,
        };
        self.manager.graph.end(self.waiter.owner);
        if end != End::Granted {
            match &self.kind {
                WaitKind::Lock { space, id } => self.manager.locks(*space).leave_queue(*id, &self.waiter),
                WaitKind::Insert { index, key, number } => self.manager.ranges.leave_queue(*index, key, *number),
            }
        }
        end
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if self.over || self.finish() != End::Granted {
            return;
        }
        if let WaitKind::Lock { space, id } = &self.kind
            && !self.waiter.upgrade
        {
            self.manager.locks(*space).release(*id, self.waiter.owner);
        }
    }
}
