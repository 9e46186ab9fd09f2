//! The shared part: the queue, the pen, and who may take it.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use binlog::{BinaryLog, BinlogError, EncodedTransaction, LogWriter, ModifiedIntervals, Reservation};
use crossbeam::queue::SegQueue;
use event_listener::Event;
use futures_lite::future::poll_fn;
use io::{BoxFuture, Env};
use parking_lot::Mutex;

use super::history::WritesetHistory;
use super::round::{Member, Round, tell};
use super::semi_sync::SemiSync;
use super::settings::CommitSettings;
use super::signal::Signal;
use super::stats::CommitStats;
use super::ticket::{ABANDONED, Driver, Slot, Teller, Ticket};
use super::tuner::Tuner;
use super::{CommitEnv, CommitError, Place};

/// So long patient transactions wait for company, counted from the beginning of the last group.
pub(super) const PATIENCE: Duration = Duration::from_millis(2);
/// So many of them are company enough.
pub(super) const COMPANY: usize = 256;

/// What goes through the pipeline, in order.
pub(super) enum Entry<P> {
    /// A transaction.
    Commit { transaction: EncodedTransaction, reservation: Reservation, payload: P, teller: Teller, is_patient: bool },
    /// Something that has its place in the order and writes nothing.
    Barrier { barrier: Barrier, teller: Teller },
}

/// What a barrier does when its turn comes. Its ticket is ready, with the place of the last transaction before it, when
/// all that came before it is published.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Barrier {
    /// Nothing more: a reader of versions that were not published yet waits so.
    Published,
    /// Everything before it is synced, whatever `sync_binlog` is: a checkpoint must not be ahead of the log.
    Synced,
    /// The log goes on in a new file (`FLUSH BINARY LOGS`); also synced.
    Rotate,
}

/// What one needs in order to write; there is one, so there is one who writes.
pub(super) struct Pen {
    pub(super) writer: LogWriter,
    /// The last transaction that has its place.
    pub(super) last: Place,
    /// When the last group was begun.
    pub(super) last_start: Duration,
    pub(super) history: WritesetHistory,
    pub(super) intervals: ModifiedIntervals,
    pub(super) tuner: Tuner,
    /// The last group, if it was not synced.
    pub(super) unsynced: Option<binlog::Group>,
    pub(super) groups_since_sync: u64,
    /// Groups were left unsynced, or wished to be, since the log was told that all are synced.
    pub(super) leaves_unsynced: bool,
    /// A large transaction that has its place, in the group that comes next.
    pub(super) large: Option<(Teller, Place)>,
}

/// See [`Pipeline`].
pub(super) struct Shared<E: CommitEnv> {
    pub(super) env: E,
    pub(super) machine: Env,
    pub(super) log: Arc<BinaryLog>,
    queue: SegQueue<Entry<E::Payload>>,
    /// Patient entries of the queue, or on their way into it.
    patient: AtomicUsize,
    /// Who has the pen waits until [`Shared::is_patient`] says no, or some time.
    pub(super) waits_for_company: AtomicBool,
    pub(super) signal: Signal,
    /// `None` while somebody writes, or after the end.
    pen: Mutex<Option<Box<Pen>>>,
    pen_returned: Event,
    /// Commits that their sessions began and did not finish.
    orphans: Mutex<Vec<BoxFuture<'static, ()>>>,
    /// The last group was one transaction and the sync short: the next session may try by itself.
    pub(super) may_be_alone: AtomicBool,
    /// Nothing is accepted any more; set before the queue is emptied for the last time.
    is_closed: AtomicBool,
    failure: OnceLock<CommitError>,
    pub(super) settings: CommitSettings,
    pub(super) stats: CommitStats,
    pub(super) semi_sync: Arc<SemiSync>,
}

/// The commit pipeline of one log. A cheap handle.
pub struct Pipeline<E: CommitEnv> {
    shared: Arc<Shared<E>>,
}

impl<E: CommitEnv> Clone for Pipeline<E> {
    fn clone(&self) -> Self {
        Pipeline { shared: self.shared.clone() }
    }
}

impl<E: CommitEnv> Pipeline<E> {
    /// A pipeline that goes on after `last`, the last transaction in the log (for its number and end; see
    /// [`Place::at`]). Run [`Pipeline::run`] on a thread of its own.
    pub fn new(
        env: E,
        machine: Env,
        writer: LogWriter,
        last: Place,
        settings: CommitSettings,
        semi_sync: Arc<SemiSync>,
    ) -> Self {
        semi_sync.open();
        let log = writer.log().clone();
        let pen = Pen {
            writer,
            last,
            last_start: Duration::ZERO,
            history: WritesetHistory::new(last.commit_number),
            intervals: ModifiedIntervals::default(),
            tuner: Tuner::default(),
            unsynced: None,
            groups_since_sync: 0,
            leaves_unsynced: false,
            large: None,
        };
        let shared = Shared {
            env,
            machine,
            log,
            queue: SegQueue::new(),
            patient: AtomicUsize::new(0),
            waits_for_company: AtomicBool::new(false),
            signal: Signal::default(),
            pen: Mutex::new(Some(Box::new(pen))),
            pen_returned: Event::new(),
            orphans: Mutex::default(),
            may_be_alone: AtomicBool::new(false),
            is_closed: AtomicBool::new(false),
            failure: OnceLock::new(),
            settings,
            stats: CommitStats::default(),
            semi_sync,
        };
        Pipeline { shared: Arc::new(shared) }
    }

    /// Room in the log for a transaction of at most `bytes` ([`EncodedTransaction::max_size`]). Waits until it was made.
    ///
    /// # Errors
    /// When the disk is full or the log has stopped; the transaction is as it was.
    pub async fn reserve(&self, bytes: u64) -> Result<Reservation, CommitError> {
        self.shared.check()?;
        self.shared.log.reserve(bytes).await.map_err(CommitError::from)
    }

    /// Puts a transaction in the order of commits, which is fixed when this returns: its row locks may be let go then.
    /// Never waits. The ticket is ready when the transaction is as durable as asked for and visible.
    pub fn enqueue(&self, transaction: EncodedTransaction, reservation: Reservation, payload: E::Payload) -> Ticket {
        let slot = Slot::new();
        let is_alone = self.shared.queue.is_empty() && self.shared.may_be_alone.load(Ordering::Relaxed);
        let teller = Teller::new(&slot);
        self.shared.push(Entry::Commit { transaction, reservation, payload, teller, is_patient: false });
        if is_alone {
            return Ticket::new(slot, Some(self.shared.clone()));
        }
        self.shared.signal.wake();
        Ticket::new(slot, None)
    }

    /// The same for a transaction whose end nobody waits for: as long as there are only such, a group is begun [`PATIENCE`] behind the
    /// last one, or with [`COMPANY`] of them. Where many come one behind the other that is fewer groups, each of which costs as much as
    /// many transactions.
    pub fn enqueue_patiently(
        &self,
        transaction: EncodedTransaction,
        reservation: Reservation,
        payload: E::Payload,
    ) -> Ticket {
        let (slot, shared) = (Slot::new(), &self.shared);
        let teller = Teller::new(&slot);
        shared.push(Entry::Commit { transaction, reservation, payload, teller, is_patient: true });
        // It is in the queue before this is looked at, and who stops waiting looks at the queue behind that: one of the two sees the other.
        fence(Ordering::SeqCst);
        if !(shared.waits_for_company.load(Ordering::Relaxed) && shared.is_patient()) {
            shared.signal.wake();
        }
        Ticket::new(slot, None)
    }

    /// Puts something in the order of commits that is no transaction.
    pub fn barrier(&self, barrier: Barrier) -> Ticket {
        let slot = Slot::new();
        self.shared.push(Entry::Barrier { barrier, teller: Teller::new(&slot) });
        self.shared.signal.wake();
        Ticket::new(slot, None)
    }

    /// The log thread. Ends after [`Pipeline::close`], or when the log has failed.
    pub async fn run(self) {
        let shared = self.shared;
        loop {
            match poll_fn(|context| shared.signal.poll(context, || shared.next_duty())).await {
                Duty::Finish(orphans) => {
                    for orphan in orphans {
                        orphan.await;
                    }
                }
                Duty::Commit(pen) => shared.use_pen(Round::new(&shared, pen).until_idle()).await,
                Duty::End => return,
            }
        }
    }

    /// Ends the pipeline: commits what is queued, refuses what comes later, and gives the writer back to close the log.
    /// `None` if the log has failed or the pipeline was closed before.
    pub async fn close(&self) -> Option<LogWriter> {
        self.shared.is_closed.store(true, Ordering::SeqCst);
        self.shared.semi_sync.close();
        let _ = self.barrier_before_end().await;
        let pen = loop {
            let returned = self.shared.pen_returned.listen();
            if self.shared.failure.get().is_some() {
                break None;
            }
            if let Some(pen) = self.shared.pen.lock().take() {
                break Some(pen);
            }
            returned.await;
        };
        let pen = match pen {
            Some(pen) => self.sync_rest(pen).await,
            None => None,
        };
        // Whoever came between the last group and now is told by itself (`push`), or here.
        let _ = self.shared.failure.set(CommitError::Stopped);
        self.shared.pen_returned.notify(usize::MAX);
        self.shared.refuse_queued();
        self.shared.signal.wake();
        pen.map(|pen| pen.writer)
    }

    /// What came between the barrier and the end may have been left unsynced.
    async fn sync_rest(&self, mut pen: Box<Pen>) -> Option<Box<Pen>> {
        if let Some(group) = pen.unsynced.take()
            && let Err(error) = group.sync(io::IoMode::Offload).await
        {
            self.shared.fail(&error);
            return None;
        }
        Some(pen)
    }

    /// Ready when the pipeline was closed: everything in the log is synced. An error if it has failed instead.
    pub async fn ended(&self) -> Result<(), CommitError> {
        loop {
            let ended = self.shared.pen_returned.listen();
            match self.shared.failure.get() {
                Some(CommitError::Stopped) => return Ok(()),
                Some(error) => return Err(error.clone()),
                None => ended.await,
            }
        }
    }

    /// Waits until everything that was queued before is through.
    async fn barrier_before_end(&self) -> Result<Place, CommitError> {
        let slot = Slot::new();
        self.shared.push_unchecked(Entry::Barrier { barrier: Barrier::Synced, teller: Teller::new(&slot) });
        self.shared.signal.wake();
        Ticket::new(slot, None).await
    }

    /// The error that ended it, if one did.
    pub fn failure(&self) -> Option<CommitError> {
        self.shared.failure.get().cloned()
    }

    /// What can be set.
    pub fn settings(&self) -> &CommitSettings {
        &self.shared.settings
    }

    /// Counters.
    pub fn stats(&self) -> &CommitStats {
        &self.shared.stats
    }

    /// Holds commits until replicas have them.
    pub fn semi_sync(&self) -> &Arc<SemiSync> {
        &self.shared.semi_sync
    }

    /// The log that it writes.
    pub fn log(&self) -> &Arc<BinaryLog> {
        &self.shared.log
    }

    /// What it knows of the engine.
    pub fn env(&self) -> &E {
        &self.shared.env
    }
}

/// What the log thread is woken for.
enum Duty {
    /// Commits that sessions began.
    Finish(Vec<BoxFuture<'static, ()>>),
    /// The queue has something, and nobody else has the pen.
    Commit(Box<Pen>),
    End,
}

impl<E: CommitEnv> Shared<E> {
    fn check(&self) -> Result<(), CommitError> {
        if let Some(failure) = self.failure.get() {
            return Err(failure.clone());
        }
        if self.is_closed.load(Ordering::SeqCst) { Err(CommitError::Stopped) } else { Ok(()) }
    }

    /// Enters the queue. Who enters after the end sees that it is the end, and tells itself (and whom it finds): what
    /// ends the pipeline first says so and then empties the queue, so one of the two finds the entry.
    fn push(&self, entry: Entry<E::Payload>) {
        if let Err(error) = self.check() {
            return entry.refuse(&error);
        }
        self.push_unchecked(entry);
    }

    pub(super) fn push_unchecked(&self, entry: Entry<E::Payload>) {
        if entry.is_patient() {
            self.patient.fetch_add(1, Ordering::SeqCst);
        }
        self.queue.push(entry);
        fence(Ordering::SeqCst);
        if self.failure.get().is_some() {
            self.refuse_queued();
        }
    }

    /// What is next in the order of commits.
    pub(super) fn pop(&self) -> Option<Entry<E::Payload>> {
        let entry = self.queue.pop()?;
        if entry.is_patient() {
            self.patient.fetch_sub(1, Ordering::SeqCst);
        }
        Some(entry)
    }

    /// Entries that were not taken.
    pub(super) fn queued(&self) -> usize {
        self.queue.len()
    }

    /// Whether all that is queued may wait for more. One on its way in may make it say so too early: whoever is not patient wakes who waits.
    pub(super) fn is_patient(&self) -> bool {
        let queued = self.queue.len();
        queued < COMPANY && self.patient.load(Ordering::SeqCst) >= queued
    }

    fn refuse_queued(&self) {
        fence(Ordering::SeqCst);
        let error = self.failure.get().cloned().unwrap_or(CommitError::Stopped);
        while let Some(entry) = self.pop() {
            entry.refuse(&error);
        }
    }

    fn next_duty(&self) -> Option<Duty> {
        let orphans = std::mem::take(&mut *self.orphans.lock());
        if !orphans.is_empty() {
            return Some(Duty::Finish(orphans));
        }
        if self.failure.get().is_some() {
            return Some(Duty::End);
        }
        if self.queue.is_empty() {
            return None;
        }
        self.pen.lock().take().map(Duty::Commit)
    }

    /// Lets somebody write who then gives the pen back. If that never ends (a panic, a runtime torn down), the pen is lost and
    /// with it what is known of the log's end: the pipeline fails.
    async fn use_pen(&self, round: impl Future<Output = Result<Box<Pen>, CommitError>>) {
        struct Lost<'a, E: CommitEnv>(Option<&'a Shared<E>>);

        impl<E: CommitEnv> Drop for Lost<'_, E> {
            fn drop(&mut self) {
                if let Some(shared) = self.0.take() {
                    shared.fail(&BinlogError::Failed(ABANDONED.to_owned()));
                }
            }
        }

        let mut lost = Lost(Some(self));
        let result = round.await;
        lost.0 = None;
        if let Ok(pen) = result {
            self.return_pen(pen);
        }
    }

    /// Gives the pen back. What was queued meanwhile by somebody who found it taken is the log thread's.
    fn return_pen(&self, pen: Box<Pen>) {
        *self.pen.lock() = Some(pen);
        self.pen_returned.notify(usize::MAX);
        if !self.queue.is_empty() {
            self.signal.wake();
        }
    }

    /// The log has failed: nothing will be committed any more. Called by who has the pen, which is never given back.
    pub(super) fn fail(&self, error: &BinlogError) -> CommitError {
        self.log.fail(error);
        let failure = CommitError::LogFailed(error.to_string().into());
        if self.failure.set(failure.clone()).is_ok() {
            self.env.failed(&failure);
        }
        self.refuse_queued();
        self.semi_sync.refuse(&failure);
        self.pen_returned.notify(usize::MAX);
        self.signal.wake();
        failure
    }

    /// What is as durable as it was asked to be becomes visible: now, or when replicas have it too.
    pub(super) fn publish(self: &Arc<Self>, commits: u64, last: Place, members: Vec<Member>) {
        if !self.semi_sync.concerns_commits() {
            return self.show(commits, &last, members);
        }
        let shared = self.clone();
        let publish = move |outcome: Result<(), CommitError>| match outcome {
            Ok(()) => shared.show(commits, &last, members),
            Err(error) => tell(members, &Err(error)),
        };
        self.semi_sync.pass(last.sent_end, commits, Box::new(publish));
    }

    fn show(&self, commits: u64, last: &Place, members: Vec<Member>) {
        if commits > 0 {
            self.env.commit_ordered(last);
        }
        let in_order = self.settings.order_commits() || members.len() <= 1;
        let tell_all = move || members.into_iter().for_each(|(teller, place)| teller.tell(Ok(place)));
        if in_order {
            tell_all();
        } else {
            let machine = self.machine.clone();
            let tell_later = async move {
                machine.step().await;
                tell_all();
            };
            self.machine.spawner.spawn("commit-wake", Box::pin(tell_later));
        }
    }
}

impl<P> Entry<P> {
    pub(super) fn is_large(&self) -> bool {
        matches!(self, Entry::Commit { transaction, .. } if transaction.large.is_some())
    }

    fn is_patient(&self) -> bool {
        matches!(self, Entry::Commit { is_patient: true, .. })
    }

    fn refuse(self, error: &CommitError) {
        let (Entry::Commit { teller, .. } | Entry::Barrier { teller, .. }) = self;
        teller.tell(Err(error.clone()));
    }
}

impl<E: CommitEnv> Driver for Shared<E> {
    fn commit_here(self: Arc<Self>) -> Option<BoxFuture<'static, ()>> {
        if self.queue.is_empty() {
            return None; // the log thread was faster
        }
        let pen = self.pen.lock().take()?;
        Some(Box::pin(async move {
            self.use_pen(Round::new(&self, pen).once()).await;
        }))
    }

    fn leave_to_log_thread(&self) {
        self.signal.wake();
    }

    fn hand_over(&self, unfinished: BoxFuture<'static, ()>) {
        self.orphans.lock().push(unfinished);
        self.signal.wake();
    }
}
