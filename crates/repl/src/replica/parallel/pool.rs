//! Transactions under way: who may begin, who may commit, and how far all of it is.
//!
//! ```text
//!   coordinator ── add ──► not ready ──► ready ──► executing ──► parked ──► done
//!                            │ what it waits for    (a slot)        │  in its turn, by whoever has just committed
//!                            ▼                                      │  the one before it
//!                          rules                                    └── in the way of one before it: again
//! ```
//! A slot keeps its transaction until it is done. It gives its executor away while the transaction is parked; who commits goes on with the
//! transactions behind its own as long as they are parked, so that a turn is passed without waking anybody.
//!
//! # Invariants
//! - The first that is not done is in a slot, or there is a free slot for it: slots take the first that is ready, and a transaction is ready
//!   before the slot is free of the last one that it waited for.
//! - With an order of commits, what is done is a prefix.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Poll, Waker};

use base::Gtid;
use engine::OwnedGtid;
use event_listener::Event;
use parking_lot::Mutex;
use sql::services::{QueuedState, QueuedTransaction};
use sql::session::ReadStatement;

use super::super::executor::{ExecuteError, Executor};
use super::super::work::name_of;
use super::group::{Group, Head};
use super::rules::After;

/// So many transactions under way are a backlog.
const BACKLOG: usize = 64;

/// A transaction to be executed.
pub(crate) struct Job {
    pub(crate) turn: u64,
    pub(crate) group: Group,
    /// Its GTID, until an executor has it.
    pub(crate) owned: Mutex<Option<OwnedGtid>>,
    /// The tree of a definition, until an executor has it.
    pub(crate) definition: Mutex<Option<ReadStatement>>,
}

/// How a commit in turn has ended, with the executor that is given back.
pub(crate) struct Committed {
    pub(crate) executor: Box<Executor>,
    pub(crate) result: Result<(), ExecuteError>,
}

/// Where a parked transaction's slot finds its executor again.
#[derive(Default)]
pub(crate) struct Ended(Mutex<Told>);

#[derive(Default)]
struct Told {
    committed: Option<Committed>,
    /// The slot, while it waits.
    waker: Option<Waker>,
}

impl Ended {
    pub(crate) fn tell(&self, committed: Committed) {
        let waker = {
            let mut told = self.0.lock();
            told.committed = Some(committed);
            told.waker.take()
        };
        waker.into_iter().for_each(Waker::wake);
    }

    pub(crate) async fn wait(&self) -> Committed {
        std::future::poll_fn(|context| {
            let mut told = self.0.lock();
            match told.committed.take() {
                Some(committed) => Poll::Ready(committed),
                None => {
                    told.waker = Some(context.waker().clone());
                    Poll::Pending
                }
            }
        })
        .await
    }
}

struct Parked {
    executor: Box<Executor>,
    ended: Arc<Ended>,
}

/// Where a transaction ends in the source's log.
#[derive(Clone, Default)]
pub(crate) struct End {
    /// `None` for nowhere.
    pub(crate) file: Option<Arc<str>>,
    pub(crate) offset: u64,
}

/// A transaction that is not done, or is behind one that is not.
#[derive(Default)]
struct Entry {
    job: Option<Arc<Job>>,
    /// It outlives the job.
    gtid: Option<Gtid>,
    bytes: usize,
    /// Of its temporary file.
    spilled: u64,
    /// Where it ends in the source's log.
    end: End,
    /// How many things it still waits for.
    waits: usize,
    /// Who waits for it alone.
    followers: Vec<u64>,
    parked: Option<Parked>,
    /// Who has it.
    slot: Option<usize>,
    is_executed: bool,
    is_done: bool,
}

#[derive(Default)]
struct State {
    /// The turn of the first entry: all before it are done.
    first: u64,
    /// All before it are executed.
    executed: u64,
    entries: VecDeque<Entry>,
    ready: BinaryHeap<Reverse<u64>>,
    /// By the turn before which all have to be done, or executed.
    until_done: BTreeMap<u64, Vec<u64>>,
    until_executed: BTreeMap<u64, Vec<u64>>,
    idle_slots: Vec<(usize, Waker)>,
    /// Somebody commits in turn.
    is_committing: bool,
    bytes: usize,
    spilled: u64,
    /// Behind the last transaction before the first that is not done.
    place: End,
    is_closed: bool,
    failure: Option<ExecuteError>,
    /// Threads with slots.
    threads: usize,
}

/// What a pool takes at most.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// Transactions.
    pub(crate) count: usize,
    /// Bytes of their events; one is taken whatever it has.
    pub(crate) bytes: usize,
    /// The same in temporary files.
    pub(crate) spilled: u64,
}

impl Bounds {
    /// With fewer transactions, whoever waits for room goes on.
    fn low_water(&self) -> usize {
        self.count / 2
    }
}

/// What comes of an arrival.
pub(crate) enum Arrived {
    /// It is in its turn: the caller commits it, and what follows.
    InTurn(Box<Executor>),
    /// Whoever comes to it commits it.
    Parked(Arc<Ended>),
    /// It could be in the way of others: see [`Pool::arrive`].
    NotYet(Box<Executor>),
}

/// See the module.
pub(crate) struct Pool {
    state: Mutex<State>,
    /// Something is done.
    progress: Event,
    /// Half of the room is free again.
    room: Event,
    /// It was closed, or a thread has ended.
    closing: Event,
    bounds: Bounds,
    /// As of the last transaction that was done.
    has_backlog: AtomicBool,
}

impl Pool {
    /// Turns begin with 1.
    pub(crate) fn new(bounds: Bounds, threads: usize) -> Self {
        let state = State { first: 1, executed: 1, threads, ..State::default() };
        Pool {
            state: Mutex::new(state),
            progress: Event::new(),
            room: Event::new(),
            closing: Event::new(),
            bounds,
            has_backlog: AtomicBool::new(false),
        }
    }

    /// All before this turn are done.
    pub(crate) fn first(&self) -> u64 {
        self.state.lock().first
    }

    /// Where the last of those ended in the source's log.
    pub(crate) fn place(&self) -> End {
        self.state.lock().place.clone()
    }

    /// Waits for room for a transaction with events of so many bytes, and so many in a temporary file; the error that has stopped execution, if
    /// one has. Who finds no room waits until half of it is free: to be woken for each transaction costs more than executing it.
    pub(crate) async fn room(&self, bytes: usize, spilled: u64) -> Result<(), ExecuteError> {
        let bounds = self.bounds;
        let has_room = |state: &State, count: usize| {
            let has_disk = spilled == 0 || state.spilled == 0 || state.spilled + spilled <= bounds.spilled;
            let has_room = state.entries.len() < count && state.bytes + bytes <= bounds.bytes && has_disk;
            has_room || state.entries.is_empty() || state.is_closed
        };
        if self.holds(&|state| has_room(state, bounds.count))? {
            return Ok(());
        }
        self.until(&self.room, |state| has_room(state, bounds.low_water())).await
    }

    /// Waits until all that was added is done.
    pub(crate) async fn idle(&self) -> Result<(), ExecuteError> {
        self.until(&self.progress, |state| state.entries.is_empty() || state.is_closed).await
    }

    /// Waits until all before a turn are done.
    pub(crate) async fn in_turn(&self, turn: u64) -> Result<(), ExecuteError> {
        self.until(&self.progress, |state| state.first >= turn || state.is_closed).await
    }

    async fn until(&self, event: &Event, holds: impl Fn(&State) -> bool) -> Result<(), ExecuteError> {
        while !self.holds(&holds)? {
            let changed = event.listen();
            if self.holds(&holds)? {
                break;
            }
            changed.await;
        }
        Ok(())
    }

    /// The error that has stopped execution, if one has.
    fn holds(&self, holds: &impl Fn(&State) -> bool) -> Result<bool, ExecuteError> {
        let state = self.state.lock();
        match &state.failure {
            Some(failure) => Err(failure.clone()),
            None => Ok(holds(&state)),
        }
    }

    /// Ready when a transaction could not be executed.
    pub(crate) async fn failed(&self) -> ExecuteError {
        match self.until(&self.closing, |_| false).await {
            Err(failure) => failure,
            Ok(()) => std::future::pending().await,
        }
    }

    /// The same of the first that is not done, and the bytes of all, in memory and in files.
    pub(crate) fn first_and_bytes(&self) -> (Option<Head>, u64) {
        let state = self.state.lock();
        let first = state.entries.front().and_then(|entry| entry.job.as_ref()).map(|job| job.group.head);
        (first, state.bytes as u64 + state.spilled)
    }

    /// What is under way, in the source's order.
    pub(crate) fn shown(&self) -> Vec<QueuedTransaction> {
        let state = self.state.lock();
        let name = |entry: &Entry| name_of(entry.gtid);
        let turn_of = |turn: u64| state.entries.get((turn.checked_sub(state.first)?) as usize).map(name);
        // The last that somebody waits for.
        let mut after: HashMap<u64, u64> = HashMap::new();
        for (entry, turn) in state.entries.iter().zip(state.first..) {
            entry.followers.iter().for_each(|follower| *after.entry(*follower).or_default() = turn);
        }
        for (upto, waiting) in state.until_done.iter().chain(&state.until_executed) {
            for turn in waiting {
                let last = after.entry(*turn).or_default();
                *last = (*last).max(upto - 1);
            }
        }
        let shown = |(entry, turn): (&Entry, u64)| {
            let queued = match entry {
                Entry { is_done: true, .. } => QueuedState::Committed,
                Entry { is_executed: true, .. } => QueuedState::Executed,
                Entry { slot: Some(_), .. } => QueuedState::Executing,
                Entry { waits: 0, .. } => QueuedState::Ready,
                _ => QueuedState::WaitsForPredecessor,
            };
            QueuedTransaction {
                name: name(entry),
                state: queued,
                worker: entry.slot.map(|slot| slot as u64 + 1),
                after: after.get(&turn).filter(|_| entry.waits > 0).and_then(|last| turn_of(*last)),
                bytes: entry.bytes as u64 + entry.spilled,
            }
        };
        state.entries.iter().zip(state.first..).map(shown).collect()
    }

    /// Whether nothing is under way.
    pub(crate) fn is_idle(&self) -> bool {
        self.state.lock().entries.is_empty()
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.state.lock().is_closed
    }

    /// Adds the next transaction; turns ascend by one.
    pub(crate) fn add(&self, job: Job, after: &After) {
        let mut woken = None;
        {
            let mut state = self.state.lock();
            let turn = job.turn;
            debug_assert_eq!(turn, state.first + state.entries.len() as u64, "turns ascend by one");
            let group = &job.group;
            let end = End { file: Some(group.file.clone()), offset: group.end };
            let (bytes, spilled) = (group.bytes, group.spilled_bytes());
            let gtid = group.head.gtid;
            let entry = Entry { bytes, spilled, end, gtid, job: Some(Arc::new(job)), ..Entry::default() };
            (state.bytes, state.spilled) = (state.bytes + bytes, state.spilled + spilled);
            state.entries.push_back(entry);
            let waits = state.begin_waits(turn, after);
            state.entry(turn).waits = waits;
            if waits == 0 {
                state.ready.push(Reverse(turn));
                woken = state.idle_slots.pop();
            }
        }
        wake(woken);
    }

    /// The next transaction for a slot; `None` when there will be none.
    pub(crate) async fn next(&self, slot: usize) -> Option<Arc<Job>> {
        std::future::poll_fn(|context| {
            let mut state = self.state.lock();
            state.idle_slots.retain(|(other, _)| *other != slot);
            if state.is_closed {
                return Poll::Ready(None);
            }
            match state.ready.pop() {
                Some(Reverse(turn)) => {
                    let entry = state.entry(turn);
                    entry.slot = Some(slot);
                    Poll::Ready(entry.job.clone())
                }
                None => {
                    state.idle_slots.push((slot, context.waker().clone()));
                    Poll::Pending
                }
            }
        })
        .await
    }

    /// A transaction was executed. `is_sure`: it is in the graph of waits, or in nobody's way; if it is not and it is not in its turn, the executor
    /// comes back, to enter it there.
    pub(crate) fn arrive(&self, turn: u64, executor: Box<Executor>, is_sure: bool) -> Arrived {
        let mut woken = Vec::new();
        let arrived = {
            let mut state = self.state.lock();
            state.executed(turn, &mut woken);
            if state.first == turn && !state.is_committing {
                state.is_committing = true;
                Arrived::InTurn(executor)
            } else if is_sure {
                let ended = Arc::<Ended>::default();
                state.entry(turn).parked = Some(Parked { executor, ended: ended.clone() });
                Arrived::Parked(ended)
            } else {
                Arrived::NotYet(executor)
            }
        };
        woken.into_iter().for_each(Waker::wake);
        arrived
    }

    /// Takes a parked transaction back, unless it is being committed.
    pub(crate) fn take_back(&self, turn: u64) -> Option<Box<Executor>> {
        let mut state = self.state.lock();
        if turn < state.first {
            return None;
        }
        state.entry(turn).parked.take().map(|parked| parked.executor)
    }

    /// After a commit in turn: the one behind it, if it is parked. If not, whoever arrives commits next.
    pub(crate) fn next_parked(&self) -> Option<(u64, Box<Executor>, Arc<Ended>)> {
        let mut state = self.state.lock();
        let first = state.first;
        if state.is_closed {
            state.is_committing = false;
            return None;
        }
        match state.entries.front_mut().and_then(|entry| entry.parked.take()) {
            Some(Parked { executor, ended }) => Some((first, executor, ended)),
            None => {
                state.is_committing = false;
                None
            }
        }
    }

    /// A commit in turn has failed: its slot tries again.
    pub(crate) fn stop_committing(&self) {
        self.state.lock().is_committing = false;
    }

    /// Whether so many are under way that no commit need be quick.
    pub(crate) fn has_backlog(&self) -> bool {
        self.has_backlog.load(Ordering::Relaxed)
    }

    /// A transaction has its place in our log.
    pub(crate) fn done(&self, turn: u64) {
        let mut woken = Vec::new();
        let has_room = {
            let mut state = self.state.lock();
            state.executed(turn, &mut woken);
            state.done(turn, &mut woken);
            self.has_backlog.store(state.entries.len() >= BACKLOG, Ordering::Relaxed);
            state.entries.len() < self.bounds.low_water()
        };
        woken.into_iter().for_each(Waker::wake);
        self.progress.notify(usize::MAX);
        if has_room {
            self.room.notify(usize::MAX);
        }
    }

    /// A transaction cannot be executed.
    pub(crate) fn fail(&self, error: ExecuteError) {
        self.state.lock().failure.get_or_insert(error);
        self.close();
    }

    /// Nobody begins anything more.
    pub(crate) fn close(&self) {
        let woken = {
            let mut state = self.state.lock();
            state.is_closed = true;
            std::mem::take(&mut state.idle_slots)
        };
        woken.into_iter().for_each(|(_, waker)| waker.wake());
        [&self.progress, &self.room, &self.closing].into_iter().for_each(|event| {
            event.notify(usize::MAX);
        });
    }

    /// All slots of a thread have ended.
    pub(crate) fn thread_ended(&self) {
        self.state.lock().threads -= 1;
        self.closing.notify(usize::MAX);
    }

    /// Ready when there are no slots any more.
    pub(crate) async fn ended(&self) {
        loop {
            let changed = self.closing.listen();
            if self.state.lock().threads == 0 {
                return;
            }
            changed.await;
        }
    }

    /// Ready when it is closed.
    pub(crate) async fn closed(&self) {
        loop {
            let changed = self.closing.listen();
            if self.is_closed() {
                return;
            }
            changed.await;
        }
    }
}

fn wake(slot: Option<(usize, Waker)>) {
    if let Some((_, waker)) = slot {
        waker.wake();
    }
}

impl State {
    fn entry(&mut self, turn: u64) -> &mut Entry {
        &mut self.entries[(turn - self.first) as usize]
    }

    /// Enters what a transaction waits for; how much that is.
    fn begin_waits(&mut self, turn: u64, after: &After) -> usize {
        let mut waits = 0;
        for &before in &after.done {
            if before >= self.first && !self.entry(before).is_done {
                self.entry(before).followers.push(turn);
                waits += 1;
            }
        }
        if after.all_done > self.first {
            self.until_done.entry(after.all_done).or_default().push(turn);
            waits += 1;
        }
        if after.all_executed > self.executed {
            self.until_executed.entry(after.all_executed).or_default().push(turn);
            waits += 1;
        }
        waits
    }

    fn executed(&mut self, turn: u64, woken: &mut Vec<Waker>) {
        self.entry(turn).is_executed = true;
        self.advance_executed(woken);
    }

    fn advance_executed(&mut self, woken: &mut Vec<Waker>) {
        self.executed = self.executed.max(self.first);
        while self.entries.get((self.executed - self.first) as usize).is_some_and(|entry| entry.is_executed) {
            self.executed += 1;
        }
        while let Some(waiting) = self.until_executed.first_entry().filter(|entry| *entry.key() <= self.executed) {
            let turns = waiting.remove();
            self.waited_for(&turns, woken);
        }
    }

    fn done(&mut self, turn: u64, woken: &mut Vec<Waker>) {
        let entry = self.entry(turn);
        entry.is_done = true;
        entry.job = None;
        let followers = std::mem::take(&mut entry.followers);
        let (bytes, spilled) = (std::mem::take(&mut entry.bytes), std::mem::take(&mut entry.spilled));
        (self.bytes, self.spilled) = (self.bytes - bytes, self.spilled - spilled);
        self.waited_for(&followers, woken);
        while let Some(entry) = self.entries.pop_front_if(|entry| entry.is_done) {
            self.first += 1;
            self.place = entry.end;
        }
        while let Some(waiting) = self.until_done.first_entry().filter(|entry| *entry.key() <= self.first) {
            let turns = waiting.remove();
            self.waited_for(&turns, woken);
        }
        self.advance_executed(woken);
    }

    /// These wait for one thing less.
    fn waited_for(&mut self, turns: &[u64], woken: &mut Vec<Waker>) {
        for &turn in turns {
            let entry = self.entry(turn);
            entry.waits -= 1;
            if entry.waits == 0 {
                self.ready.push(Reverse(turn));
                woken.extend(self.idle_slots.pop().map(|(_, waker)| waker));
            }
        }
    }
}
