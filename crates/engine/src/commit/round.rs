//! Groups on their way: formed from the queue, placed, written, synced, published. Whoever has the pen does this: the
//! log thread until the queue is empty, a session that is alone for one group.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};
use std::time::Duration;

use base::UnixMicros;
use binlog::{BinlogError, Group, LargePlace, PlaceStamp};
use futures_lite::future::{poll_fn, yield_now};
use io::{BoxFuture, IoMode};

use super::pipeline::{Barrier, Entry, PATIENCE, Pen, Shared};
use super::stats::CommitStats;
use super::ticket::Teller;
use super::tuner::Plan;
use super::{CommitEnv, CommitError, Place};

/// A group is closed when it has so many bytes: what is behind it can be gathered while it is written.
const GROUP_BYTES_MAX: usize = 16 << 20;

/// Somebody to be told when everything up to a place is published.
pub(super) type Member = (Teller, Place);

/// What was taken from the queue for a group.
struct Taken {
    members: Vec<Member>,
    commits: u64,
    /// The last transaction in the group, or before it.
    last: Place,
}

/// A group that is being written and synced.
struct InFlight {
    store: BoxFuture<'static, (Group, Result<(), BinlogError>)>,
    stored: Option<(Group, Result<(), BinlogError>)>,
    members: Vec<Member>,
    commits: u64,
    last: Place,
    is_synced: bool,
    ends_file: bool,
    was_overlapped: bool,
    start: Duration,
    /// When it was durable.
    end: Duration,
}

impl InFlight {
    fn poll(&mut self, context: &mut Context<'_>, now: impl FnOnce() -> Duration) -> bool {
        if self.stored.is_none()
            && let Poll::Ready(stored) = self.store.as_mut().poll(context)
        {
            self.stored = Some(stored);
            self.end = now();
            return true;
        }
        false
    }
}

/// What the next step waits for besides the groups in flight.
#[derive(Clone, Copy)]
enum Until {
    /// Nothing: no further group may be begun.
    Stored,
    /// Something in the queue.
    Queued,
    /// A time.
    Elapsed(Duration),
    /// A time, or somebody in the queue who does not wait for company.
    Company(Duration),
}

/// The pen in use.
pub(super) struct Round<'a, E: CommitEnv> {
    shared: &'a Arc<Shared<E>>,
    pen: Box<Pen>,
    in_flight: VecDeque<InFlight>,
}

impl<'a, E: CommitEnv> Round<'a, E> {
    pub(super) fn new(shared: &'a Arc<Shared<E>>, pen: Box<Pen>) -> Self {
        Round { shared, pen, in_flight: VecDeque::new() }
    }

    /// The log thread's way: group after group until nothing is queued or in flight.
    pub(super) async fn until_idle(mut self) -> Result<Box<Pen>, CommitError> {
        loop {
            self.publish_stored()?;
            let plan = self.plan();
            if !self.has_work() {
                if self.in_flight.is_empty() {
                    return Ok(self.pen);
                }
                let until = if self.has_room(&plan) { Until::Queued } else { Until::Stored };
                self.wait(until).await;
            } else if !self.has_room(&plan) {
                self.wait(Until::Stored).await;
            } else if let Some(rest) = self.time_to_next(&plan) {
                self.wait(Until::Elapsed(rest)).await;
            } else if let Some(rest) = self.patience() {
                self.wait_for_company(rest).await;
            } else {
                self.gather(&plan).await;
                let mode = if plan.depth == 1 { IoMode::Inline } else { IoMode::Offload };
                self.start_group(mode).await?;
                self.poll_once().await;
                self.shared.machine.step().await;
            }
        }
    }

    /// A lone session's way: one group of whatever is queued by now.
    pub(super) async fn once(mut self) -> Result<Box<Pen>, CommitError> {
        loop {
            self.start_group(IoMode::Inline).await?;
            let commits: u64 = self.in_flight.iter().map(|group| group.commits).sum();
            while !self.in_flight.is_empty() {
                self.wait(Until::Stored).await;
                self.publish_stored()?;
            }
            CommitStats::add(&self.shared.stats.inline_commits, commits);
            if self.pen.writer.group_size() == 0 {
                return Ok(self.pen);
            }
            // The group ended its file: the head of the next one is to be written too.
        }
    }

    fn now(&self) -> Duration {
        self.shared.machine.clock.monotonic()
    }

    /// Something is queued, or placed and not yet taken (the head of a new file).
    fn has_work(&self) -> bool {
        self.shared.queued() > 0 || self.pen.writer.group_size() > 0
    }

    fn committing(&self) -> usize {
        self.shared.queued() + self.in_flight.iter().map(|group| group.members.len()).sum::<usize>()
    }

    fn plan(&self) -> Plan {
        let settings = &self.shared.settings;
        let delay = settings.sync_delay();
        if delay > Duration::ZERO {
            let count = settings.sync_no_delay_count() as usize;
            let enough = if count == 0 { usize::MAX } else { count };
            return Plan { depth: 1, spacing: Duration::ZERO, gather: Some((enough, delay)) };
        }
        let plan = self.pen.tuner.plan(settings.overlap(), self.committing());
        // Without a sync of its own a group cannot be overtaken: the next sync covers it.
        if settings.sync_binlog() == 1 { plan } else { Plan { depth: 1, ..plan } }
    }

    /// Whether another group may be begun. Files become durable one by one, and what is not synced (the setting may just
    /// have been changed) is written before the sync of the next group begins.
    fn has_room(&self, plan: &Plan) -> bool {
        let is_open = self.in_flight.iter().all(|group| group.is_synced && !group.ends_file);
        self.in_flight.len() < plan.depth && is_open
    }

    fn time_to_next(&self, plan: &Plan) -> Option<Duration> {
        if self.in_flight.is_empty() || plan.spacing == Duration::ZERO {
            return None;
        }
        (self.pen.last_start + plan.spacing).checked_sub(self.now()).filter(|rest| *rest > Duration::ZERO)
    }

    /// Waits for company, if nothing is in flight and the plan says so.
    async fn gather(&mut self, plan: &Plan) {
        let Some((enough, time)) = plan.gather else { return };
        if !self.in_flight.is_empty() || self.shared.queued() >= enough {
            return;
        }
        CommitStats::add(&self.shared.stats.gathered, 1);
        let shared = self.shared;
        let mut timeout = pin!(self.shared.machine.clock.sleep(time));
        poll_fn(|context| {
            let enough = shared.signal.poll(context, || (shared.queued() >= enough).then_some(()));
            if enough.is_ready() { Poll::Ready(()) } else { timeout.as_mut().poll(context) }
        })
        .await;
    }

    /// Lets the groups in flight go on without waiting for them.
    async fn poll_once(&mut self) {
        poll_fn(|context| {
            self.poll_in_flight(context);
            Poll::Ready(())
        })
        .await;
    }

    /// Whether one of them became ready.
    fn poll_in_flight(&mut self, context: &mut Context<'_>) -> bool {
        let clock = &self.shared.machine.clock;
        self.in_flight.iter_mut().fold(false, |any, group| group.poll(context, || clock.monotonic()) | any)
    }

    async fn wait(&mut self, until: Until) {
        let mut timeout = match until {
            Until::Elapsed(time) | Until::Company(time) => Some(self.shared.machine.clock.sleep(time)),
            Until::Stored | Until::Queued => None,
        };
        poll_fn(|context| {
            if self.poll_in_flight(context) {
                return Poll::Ready(());
            }
            match (until, &mut timeout) {
                (Until::Elapsed(_), Some(timeout)) => timeout.as_mut().poll(context),
                (Until::Queued, _) => self.shared.signal.poll(context, || (self.shared.queued() > 0).then_some(())),
                (Until::Company(_), Some(timeout)) => {
                    match self.shared.signal.poll(context, || (!self.shared.is_patient()).then_some(())) {
                        Poll::Ready(()) => Poll::Ready(()),
                        Poll::Pending => timeout.as_mut().poll(context),
                    }
                }
                _ => Poll::Pending,
            }
        })
        .await;
    }

    /// How long what is queued waits for more; `None` if anybody is waited for.
    fn patience(&self) -> Option<Duration> {
        if self.pen.writer.group_size() > 0 || !self.shared.is_patient() {
            return None;
        }
        (self.pen.last_start + PATIENCE).checked_sub(self.now()).filter(|rest| *rest > Duration::ZERO)
    }

    /// Who comes meanwhile and waits for company too wakes nobody.
    async fn wait_for_company(&mut self, most: Duration) {
        self.shared.waits_for_company.store(true, Ordering::SeqCst);
        self.wait(Until::Company(most)).await;
        self.shared.waits_for_company.store(false, Ordering::SeqCst);
    }

    /// Forms a group of what is queued and begins to write it.
    async fn start_group(&mut self, mode: IoMode) -> Result<(), CommitError> {
        // Its background task may have failed.
        if let Err(error) = self.shared.log.check() {
            return Err(self.shared.fail(&error));
        }
        let mut must_sync = false;
        let Taken { members, commits, last } = match self.pen.large.take() {
            Some(member) => Taken { last: member.1, members: vec![member], commits: 1 },
            None => self.place_queued(&mut must_sync).await,
        };
        let Some(group) = self.pen.writer.take_group() else {
            return self.follow(members, must_sync).await;
        };
        let settings = &self.shared.settings;
        self.pen.groups_since_sync += 1;
        let each = settings.sync_binlog();
        let is_due = must_sync || group.ends_file() || (each > 0 && self.pen.groups_since_sync >= each);
        let is_synced = is_due || !self.shared.log.may_leave_unsynced();
        self.pen.leaves_unsynced |= !is_due;
        if is_synced {
            self.pen.groups_since_sync = 0;
        }
        let was_overlapped = !self.in_flight.is_empty();
        if was_overlapped {
            CommitStats::add(&self.shared.stats.overlapped, 1);
        }
        let start = self.now();
        self.pen.last_start = start;
        let ends_file = group.ends_file();
        // O_DSYNC does not cover what an earlier write left unsynced.
        let durable_write = is_synced && self.pen.unsynced.is_none();
        let store = Box::pin(store(group, is_synced, durable_write, mode));
        let (stored, end) = (None, start);
        let group =
            InFlight { store, stored, members, commits, last, is_synced, ends_file, was_overlapped, start, end };
        self.in_flight.push_back(group);
        Ok(())
    }

    /// Members that have nothing to write are told with those before them.
    async fn follow(&mut self, members: Vec<Member>, must_sync: bool) -> Result<(), CommitError> {
        if let Some(before) = self.in_flight.back_mut() {
            // Only what is synced is ever overlapped, so that is what they asked for.
            before.members.extend(members);
            return Ok(());
        }
        if must_sync && let Some(group) = self.pen.unsynced.take() {
            let start = self.now();
            if let Err(error) = group.sync(IoMode::Inline).await {
                let failure = self.shared.fail(&error);
                tell(members, &Err(failure.clone()));
                return Err(failure);
            }
            CommitStats::add(&self.shared.stats.syncs, 1);
            self.shared.stats.sync_micros.record(self.now().saturating_sub(start).as_micros() as u64);
            self.pen.groups_since_sync = 0;
            self.pen.writer.recycle(group);
        }
        self.shared.publish(0, self.pen.last, members);
        Ok(())
    }

    /// Takes what is queued, and gives each transaction its place. Nothing can fail from here on but the disk.
    async fn place_queued(&mut self, must_sync: &mut bool) -> Taken {
        let clock = &self.shared.machine.clock;
        let now = clock.now();
        let skim = self.shared.settings.max_flush_queue_time();
        let skim_end = clock.monotonic() + skim;
        let mut left = self.shared.queued();
        let mut members = Vec::with_capacity(left);
        let mut commits = 0;
        while self.pen.writer.group_size() < GROUP_BYTES_MAX {
            if left == 0 {
                if skim == Duration::ZERO || clock.monotonic() >= skim_end {
                    break;
                }
                left = 1;
            }
            left -= 1;
            let Some(entry) = self.shared.pop() else { break };
            match entry {
                entry @ Entry::Commit { .. } if entry.is_large() => {
                    let last = self.pen.last;
                    self.place_large(entry, now).await;
                    return Taken { members, commits, last };
                }
                Entry::Commit { transaction, reservation, mut payload, teller, .. } => {
                    self.place(&transaction, reservation, now);
                    self.shared.env.prepare_ordered(&mut payload, &self.pen.last);
                    members.push((teller, self.pen.last));
                    commits += 1;
                }
                Entry::Barrier { barrier: Barrier::Rotate, teller } => {
                    *must_sync = true;
                    match self.pen.writer.rotate().await {
                        Ok(()) => members.push((teller, self.pen.last)),
                        Err(error) => teller.tell(Err(error.into())),
                    }
                    break;
                }
                Entry::Barrier { barrier, teller } => {
                    *must_sync |= barrier == Barrier::Synced;
                    members.push((teller, self.pen.last));
                }
            }
        }
        Taken { members, commits, last: self.pen.last }
    }

    /// A large transaction is a group by itself: the group under construction ends its file, and is taken first. If the log
    /// cannot move on to a new file yet, the transaction goes to the end of the queue: it holds its locks until it has its
    /// place, so nobody behind it depends on it.
    async fn place_large(&mut self, entry: Entry<E::Payload>, now: UnixMicros) {
        let Entry::Commit { transaction, reservation, mut payload, teller, is_patient } = entry else { return };
        if let Err(error) = self.shared.log.wait_for_next().await {
            return teller.tell(Err(error.into()));
        }
        let commit_number = self.pen.last.commit_number.next();
        let commit_time = now.max(self.pen.last.commit_time);
        let stamp = PlaceStamp { commit_number, last_committed: self.pen.last.commit_number, commit_time };
        match self.pen.writer.place_large(&transaction, &stamp) {
            LargePlace::Placed(placed) => {
                self.pen.history.enter(commit_number, None, self.shared.settings.history_size());
                CommitStats::add(&self.shared.stats.large_barriers, 1);
                self.placed(&stamp, &placed);
                self.shared.env.prepare_ordered(&mut payload, &self.pen.last);
                self.pen.large = Some((teller, self.pen.last));
            }
            LargePlace::NotYet => {
                self.shared.push_unchecked(Entry::Commit { transaction, reservation, payload, teller, is_patient });
                yield_now().await;
            }
            LargePlace::NoRoom => {
                let reason = "too many GTIDs have come since the transaction began";
                teller.tell(Err(CommitError::Full(reason.into())));
            }
        }
    }

    fn place(&mut self, transaction: &binlog::EncodedTransaction, reservation: binlog::Reservation, now: UnixMicros) {
        let pen = &mut *self.pen;
        let commit_number = pen.last.commit_number.next();
        let writeset = (!transaction.depends_on_all).then_some(&transaction.writeset[..]);
        let entered = pen.history.enter(commit_number, writeset, self.shared.settings.history_size());
        let last_committed = entered.after.max(transaction.after.min(pen.last.commit_number));
        // Time in the log does not go back when the clock does.
        let commit_time = now.max(pen.last.commit_time);
        let stamp = PlaceStamp { commit_number, last_committed, commit_time };
        let placed = pen.writer.place(transaction, &stamp, reservation);
        self.placed(&stamp, &placed);
        if entered.begins_anew {
            let stats = &self.shared.stats;
            let why = match (transaction.depends_on_all, transaction.is_statement) {
                (true, true) => &stats.statement_barriers,
                (true, false) => &stats.large_barriers,
                (false, _) => &stats.history_barriers,
            };
            CommitStats::add(why, 1);
        }
    }

    /// The next transaction has its place.
    fn placed(&mut self, stamp: &PlaceStamp, placed: &binlog::Placed) {
        let pen = &mut *self.pen;
        if placed.start.file != pen.last.start.file {
            pen.intervals.begin_file();
        }
        self.shared.stats.intervals.add(pen.intervals.next(placed.last_committed, placed.sequence_number));
        pen.last = place_of(stamp, placed, &pen.last);
    }

    /// Publishes the groups that are stored, in log order; a later one waits for those before it.
    fn publish_stored(&mut self) -> Result<(), CommitError> {
        while self.in_flight.front().is_some_and(|group| group.stored.is_some()) {
            let active = self.committing();
            let Some(mut done) = self.in_flight.pop_front() else { break };
            match done.stored.take() {
                Some((group, Ok(()))) => self.publish(group, done, active),
                Some((_, Err(error))) => {
                    let failure = self.shared.fail(&error);
                    let lost = std::iter::once(done).chain(self.in_flight.drain(..));
                    lost.for_each(|group| tell(group.members, &Err(failure.clone())));
                    return Err(failure);
                }
                None => {}
            }
        }
        Ok(())
    }

    fn publish(&mut self, group: Group, done: InFlight, active: usize) {
        let shared = self.shared;
        self.count(&group, &done, active);
        shared.log.make_durable(&group);
        shared.publish(done.commits, done.last, done.members);
        if let Some(before) = self.pen.unsynced.take() {
            self.pen.writer.recycle(before);
        }
        if done.is_synced {
            self.pen.writer.recycle(group);
        } else {
            self.pen.unsynced = Some(group);
        }
        if self.pen.leaves_unsynced && done.is_synced && shared.settings.sync_binlog() == 1 && self.all_are_synced() {
            self.pen.leaves_unsynced = false;
            shared.log.syncs_everything();
        }
    }

    /// Whether the groups in flight are.
    fn all_are_synced(&self) -> bool {
        self.in_flight.iter().all(|group| group.is_synced)
    }

    fn count(&mut self, group: &Group, done: &InFlight, active: usize) {
        let stats = &self.shared.stats;
        CommitStats::add(&stats.writes, 1);
        CommitStats::add(&stats.bytes, group.size() as u64);
        if done.is_synced {
            let duration = done.end.saturating_sub(done.start);
            CommitStats::add(&stats.syncs, 1);
            stats.sync_micros.record(duration.as_micros() as u64);
            self.pen.tuner.synced(duration, done.was_overlapped, active);
        }
        if done.commits > 0 {
            CommitStats::add(&stats.commits, done.commits);
            CommitStats::add(&stats.groups, 1);
            stats.group_size.record(done.commits);
        }
        let settings = &self.shared.settings;
        let is_alone = done.commits == 1 && self.pen.tuner.is_short() && settings.inline_commits();
        let is_alone = is_alone && settings.sync_delay() == Duration::ZERO;
        self.shared.may_be_alone.store(is_alone, Ordering::Relaxed);
    }
}

fn place_of(stamp: &PlaceStamp, placed: &binlog::Placed, before: &Place) -> Place {
    Place {
        commit_number: stamp.commit_number,
        gtid: placed.gtid,
        start: placed.start,
        end: placed.end,
        sent_end: if placed.gtid.is_some() { placed.end } else { before.sent_end },
        last_committed: placed.last_committed,
        sequence_number: placed.sequence_number,
        commit_time: stamp.commit_time,
    }
}

async fn store(mut group: Group, sync: bool, durable_write: bool, mode: IoMode) -> (Group, Result<(), BinlogError>) {
    let mut result = group.write(mode, durable_write).await;
    if sync && result.is_ok() {
        result = group.sync(mode).await;
    }
    (group, result)
}

pub(super) fn tell(members: Vec<Member>, outcome: &Result<Place, CommitError>) {
    members.into_iter().for_each(|(teller, _)| teller.tell(outcome.clone()));
}
