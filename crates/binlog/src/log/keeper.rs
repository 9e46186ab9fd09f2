//! The background task beside the writer: space ahead, the next file, sealing, the index.
//!
//! One loop takes one job after the other, the most urgent first: room that a session waits for; the next file; room
//! ahead of the end; sealing; the index. All of its state is a plain struct behind a lock, and jobs are done without it.

use std::sync::Arc;
use std::time::Duration;

use event_listener::Event;
use futures_lite::FutureExt;
use parking_lot::Mutex;

use super::segment::Segment;
use super::space::SLACK;
use super::unsynced::Marker;
use super::writer::Group;
use super::{BinaryLog, folder};
use crate::error::{BinlogError, Result};

/// How long to wait before trying again what a full disk prevented, if nobody asks before.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);
/// A failure that goes on is said again after so long.
const SAID_AGAIN_AFTER: Duration = Duration::from_secs(10);
/// The file system keeps so many bytes to itself and others.
const FREE_SPACE_MARGIN: u64 = 4 << 20;
/// The least that a new file is filled with, and the step by which room is made when the disk is almost full.
const FILL_MIN: u64 = 64 << 10;

/// A file filled and waiting to be the next.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) segment: Arc<Segment>,
    pub(crate) filled: u64,
}

/// The segment that is written.
#[derive(Debug)]
pub(crate) struct Current {
    pub(crate) segment: Arc<Segment>,
    /// Zero-filled and synced up to here.
    pub(crate) filled: u64,
}

/// Jobs that failed are not tried again before something changes or time passes. Each by itself: on a full disk no file can
/// be prepared, and the index that a purge needs can be written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Paused {
    space: bool,
    next: bool,
    seals: bool,
    index: bool,
    marker: bool,
}

#[derive(Debug, Default)]
pub(crate) struct KeeperState {
    pub(crate) current: Option<Current>,
    pub(crate) next: Option<Prepared>,
    /// A reservation of so many bytes waits.
    wanted: u64,
    /// Why so many bytes more could not be had at the last attempt; cleared by the next wish.
    space_error: Option<(u64, BinlogError)>,
    /// Why the next file could not be prepared; cleared by the next wish, or success.
    next_error: Option<BinlogError>,
    to_seal: Vec<(Arc<Segment>, u64)>,
    /// Goes up with each change that the index must show, and what it shows.
    index_wanted: u64,
    index_written: u64,
    index_error: Option<BinlogError>,
    pub(crate) marker: Marker,
    seals_wanted: u64,
    seals_done: u64,
    paused: Paused,
    /// When what is paused is tried again, in the clock's monotonic time.
    retry_at: Duration,
    stopping: bool,
    stopped: bool,
}

impl KeeperState {
    /// Makes the prepared file the current one, in one step: the keeper must never prepare a file that is in use.
    pub(crate) fn move_on(&mut self) -> Option<(Arc<Segment>, u64)> {
        let Prepared { segment, filled } = self.next.take()?;
        self.current = Some(Current { segment: segment.clone(), filled });
        self.paused = Paused::default();
        Some((segment, filled))
    }

    /// The same, where the prepared file is to have another number; the file as it was prepared.
    pub(crate) fn move_on_as(&mut self, renumbered: Arc<Segment>) -> Option<(Arc<Segment>, u64)> {
        let before = self.move_on()?;
        if let Some(current) = &mut self.current {
            current.segment = renumbered;
        }
        Some(before)
    }

    fn job_failed(&mut self, job: &Job, error: BinlogError, now: Duration) {
        self.retry_at = now + RETRY_INTERVAL;
        match job {
            Job::Extend { least, .. } => {
                self.paused.space = true;
                self.space_error = Some((*least, error));
                self.wanted = 0;
            }
            Job::Prepare { .. } => {
                self.paused.next = true;
                self.next_error = Some(error);
            }
            Job::WriteIndex { .. } => {
                self.paused.index = true;
                self.index_error = Some(error);
            }
            Job::MakeMarker | Job::RemoveMarker => self.paused.marker = true,
            Job::Seal { segment, end } if !self.stopping => {
                self.paused.seals = true;
                self.to_seal.push((segment.clone(), *end));
            }
            // It is made good when the log is opened.
            Job::Seal { .. } | Job::Wait | Job::Stop => {}
        }
    }
}

#[derive(Debug)]
enum Job {
    /// By `bytes` if the disk has them, by `least` if it has only these.
    Extend {
        segment: Arc<Segment>,
        from: u64,
        bytes: u64,
        least: u64,
    },
    Prepare {
        number: u64,
    },
    Seal {
        segment: Arc<Segment>,
        end: u64,
    },
    WriteIndex {
        version: u64,
    },
    /// See [`super::unsynced`].
    MakeMarker,
    RemoveMarker,
    Wait,
    Stop,
}

/// Its shared half.
#[derive(Debug, Default)]
pub(crate) struct Keeper {
    pub(crate) state: Mutex<KeeperState>,
    /// There may be something to do.
    work: Event,
    /// Something was done, or failed.
    done: Event,
}

impl Keeper {
    pub(crate) fn wake_all(&self) {
        self.work.notify(usize::MAX);
        self.done.notify(usize::MAX);
    }

    /// There is something to do.
    pub(crate) fn wake(&self) {
        self.work.notify(usize::MAX);
    }

    pub(crate) fn index_changed(&self) {
        self.state.lock().index_wanted += 1;
        self.work.notify(usize::MAX);
    }

    /// Has the index written as the files are now, and waits for that. Only the keeper writes it.
    pub(crate) async fn write_index(&self, log: &BinaryLog) -> Result<()> {
        let version = {
            let mut state = self.state.lock();
            state.index_wanted += 1;
            state.index_error = None;
            state.paused.index = false;
            state.index_wanted
        };
        let is_done = |state: &KeeperState| match &state.index_error {
            _ if state.index_written >= version => Ok(true),
            Some(error) => Err(error.clone()),
            None if state.stopping => Err(BinlogError::Closed),
            None => Ok(false),
        };
        self.wait_until(log, is_done).await
    }

    /// Has a file sealed that the log has moved on from, and waits for that. Only the keeper seals: it may be filling
    /// the same file.
    pub(crate) async fn seal(&self, log: &BinaryLog, segment: Arc<Segment>, end: u64) -> Result<()> {
        let number = {
            let mut state = self.state.lock();
            state.to_seal.insert(0, (segment, end));
            state.seals_wanted += 1;
            state.seals_wanted
        };
        self.wait_until(log, |state| Ok(state.seals_done >= number)).await
    }

    /// Waits until all files that have ended are sealed, or until that has to be tried again.
    pub(crate) async fn sealed(&self, log: &BinaryLog) -> Result<()> {
        let number = self.state.lock().seals_wanted;
        self.wait_until(log, |state| Ok(state.seals_done >= number || state.paused.seals)).await
    }

    /// Waits until there is nothing to do: the next file is prepared, and what was to be sealed is.
    pub(crate) async fn settle(&self, log: &BinaryLog) -> Result<()> {
        let is_done = |state: &KeeperState| {
            if let Some((_, error)) = &state.space_error {
                return Err(error.clone());
            }
            Ok(state.seals_done >= state.seals_wanted && (state.current.is_none() || state.next.is_some()))
        };
        self.wait_until(log, is_done).await
    }

    /// Forgets the current file and the prepared one; the latter's number. The keeper must have settled.
    pub(crate) fn take_all(&self) -> Option<u64> {
        let mut state = self.state.lock();
        state.current = None;
        state.next.take().map(|next| next.segment.number)
    }

    async fn wait_until(&self, log: &BinaryLog, is_done: impl Fn(&KeeperState) -> Result<bool>) -> Result<()> {
        loop {
            let listener = self.done.listen();
            log.check()?;
            {
                let state = self.state.lock();
                if is_done(&state)? {
                    return Ok(());
                }
                if state.stopped {
                    return Err(BinlogError::Closed);
                }
            }
            self.work.notify(usize::MAX);
            listener.await;
        }
    }

    /// A group became durable: perhaps it is time to fill on; if it ended its file, that can be sealed.
    pub(crate) fn progressed(&self, group: &Group) {
        if let Some(segment) = group.to_seal() {
            let mut state = self.state.lock();
            state.to_seal.insert(0, (segment.clone(), group.end().offset));
            state.seals_wanted += 1;
        }
        self.work.notify(usize::MAX);
    }

    /// The writer moved on to a file.
    pub(crate) fn set_current(&self, segment: Arc<Segment>, filled: u64) {
        let mut state = self.state.lock();
        state.current = Some(Current { segment, filled });
        state.paused = Paused::default();
        drop(state);
        self.work.notify(usize::MAX);
    }

    /// Asks for room, and waits until some was made or could not be.
    pub(crate) async fn wait_for_space(&self, log: &BinaryLog, bytes: u64) -> Result<()> {
        let listener = self.done.listen();
        // After the listener: a failure that comes from here on wakes it.
        log.check()?;
        let space = &log.space;
        {
            let mut state = self.state.lock();
            if state.stopped || state.stopping {
                return Err(BinlogError::Closed);
            }
            if space.free() >= bytes as i64 {
                return Ok(());
            }
            state.wanted = state.wanted.max(bytes);
            state.space_error = None;
            state.paused.space = false;
        }
        self.work.notify(usize::MAX);
        listener.await;
        if space.free() >= bytes as i64 {
            return Ok(());
        }
        // What another wanted may have been too much where this is not.
        let missing = bytes as i64 - space.free();
        match &self.state.lock().space_error {
            Some((least, error)) if missing >= *least as i64 => Err(error.clone()),
            _ => Ok(()),
        }
    }

    /// Waits until the next file is ready.
    pub(crate) async fn wait_for_next(&self, log: &BinaryLog) -> Result<()> {
        {
            let mut state = self.state.lock();
            state.next_error = None;
            state.paused.next = false;
        }
        loop {
            let listener = self.done.listen();
            {
                let state = self.state.lock();
                if state.next.is_some() {
                    return Ok(());
                }
                if state.stopped || state.stopping {
                    return Err(BinlogError::Closed);
                }
                state.next_error.clone().map_or(Ok(()), Err)?;
            }
            log.check()?;
            self.work.notify(usize::MAX);
            listener.await;
        }
    }

    /// Ends the loop, after all that was to be sealed is sealed.
    pub(crate) async fn stop(&self) {
        self.state.lock().stopping = true;
        loop {
            let listener = self.done.listen();
            self.work.notify(usize::MAX);
            if self.state.lock().stopped {
                return;
            }
            listener.await;
        }
    }
}

/// Sees to it that nobody waits for a background task that is gone: a panic in it, a runtime that was torn down.
struct Watch<'a>(&'a BinaryLog);

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        let stopped = std::mem::replace(&mut self.0.keeper.state.lock().stopped, true);
        if !stopped {
            self.0.fail(&BinlogError::Failed("the log's background task has ended".to_owned()));
        }
        self.0.keeper.done.notify(usize::MAX);
    }
}

/// The loop.
pub(crate) async fn run(log: Arc<BinaryLog>) {
    let keeper = &log.keeper;
    let _watch = Watch(&log);
    let mut said_at = None;
    loop {
        let work = keeper.work.listen();
        let job = log.next_job();
        match job {
            Job::Wait => match log.time_to_retry() {
                Some(pause) => work.or(log.env.clock.sleep(pause)).await,
                None => work.await,
            },
            Job::Stop => break,
            job => {
                if let Err(error) = log.do_job(&job).await {
                    // On a full disk every commit tries it, and the log of the server may be on that disk.
                    let now = log.env.clock.monotonic();
                    if said_at.is_none_or(|at: Duration| now.saturating_sub(at) >= SAID_AGAIN_AFTER) {
                        tracing::warn!("binary log: {job:?} failed: {error}");
                        said_at = Some(now);
                    }
                    // What a seal was to sync may be lost now, and only a full disk gets better.
                    if matches!(job, Job::Seal { .. }) && error.class() != base::ErrorClass::Full {
                        log.fail(&error);
                    }
                    keeper.state.lock().job_failed(&job, error, log.env.clock.monotonic());
                }
                keeper.done.notify(usize::MAX);
            }
        }
    }
    keeper.state.lock().stopped = true;
    keeper.done.notify(usize::MAX);
}

impl BinaryLog {
    /// Takes the prepared file, waiting for it; `None` in a log without a file, where nobody prepares one.
    pub(super) async fn take_next(&self) -> Result<Option<(Arc<Segment>, u64)>> {
        if self.keeper.state.lock().current.is_none() {
            return Ok(None);
        }
        loop {
            self.keeper.wait_for_next(self).await?;
            if let Some(next) = self.keeper.state.lock().move_on() {
                return Ok(Some(next));
            }
        }
    }

    /// With how much a new file is filled.
    pub(super) fn first_fill(&self) -> u64 {
        self.chunk(0)
    }

    fn next_job(&self) -> Job {
        let mut state = self.keeper.state.lock();
        if self.failed.get().is_some() {
            return if state.stopping { Job::Stop } else { Job::Wait };
        }
        if state.stopping {
            return match state.to_seal.pop() {
                Some((segment, end)) => Job::Seal { segment, end },
                None => Job::Stop,
            };
        }
        if let Some(job) = self.space_job(&mut state) {
            return job;
        }
        if !state.paused.seals
            && let Some((segment, end)) = state.to_seal.pop()
        {
            return Job::Seal { segment, end };
        }
        if !state.paused.index && state.index_written < state.index_wanted {
            return Job::WriteIndex { version: state.index_wanted };
        }
        let Marker { wanted, made } = state.marker;
        if wanted != made && !state.paused.marker {
            // Not there for anybody from now on, before it goes.
            state.marker.made = false;
            return if wanted { Job::MakeMarker } else { Job::RemoveMarker };
        }
        Job::Wait
    }

    /// How long to wait before trying again what has failed; `None` if nothing has.
    fn time_to_retry(&self) -> Option<Duration> {
        let mut state = self.keeper.state.lock();
        if state.paused == Paused::default() || self.failed.get().is_some() {
            return None;
        }
        let rest = state.retry_at.saturating_sub(self.env.clock.monotonic());
        if rest == Duration::ZERO {
            state.paused = Paused::default();
        }
        Some(rest)
    }

    /// Room that is wanted, the next file, room ahead.
    fn space_job(&self, state: &mut KeeperState) -> Option<Job> {
        let current = state.current.as_ref()?;
        let free = self.space.free();
        let shortage = state.wanted as i64 - free;
        if state.wanted > 0 && shortage <= 0 {
            // Others gave room back: that is what is waited for, too.
            state.wanted = 0;
            self.keeper.done.notify(usize::MAX);
        }
        let extend = |least: u64| {
            let bytes = least.max(self.chunk(current.filled));
            Some(Job::Extend { segment: current.segment.clone(), from: current.filled, bytes, least })
        };
        if state.wanted > 0 && !state.paused.space {
            return extend(shortage as u64);
        }
        if state.next.is_none() && !state.paused.next {
            return Some(Job::Prepare { number: current.segment.number + 1 });
        }
        // Near its end the file needs no more than what is reserved: the log will go on in the next one.
        let is_low = free < (self.options.fill_ahead / 2) as i64 && current.filled < self.max_file_bytes();
        if is_low && !state.paused.space {
            return extend(FILL_MIN.min(self.options.fill_ahead));
        }
        None
    }

    /// By how much to fill a file on that is filled up to `filled`.
    fn chunk(&self, filled: u64) -> u64 {
        let left = (self.max_file_bytes() + SLACK).saturating_sub(filled);
        self.options.fill_ahead.min(left).max(FILL_MIN.min(self.options.fill_ahead)).max(1)
    }

    async fn do_job(&self, job: &Job) -> Result<()> {
        match job {
            Job::Extend { segment, from, bytes, least } => {
                let bytes = if self.check_disk(*bytes).await.is_ok() { *bytes } else { *least };
                self.check_disk(bytes).await?;
                segment.fill(*from, from + bytes).await?;
                let mut state = self.keeper.state.lock();
                // If the writer has moved on meanwhile, the room was made in vain.
                if let Some(current) = state.current.as_mut().filter(|current| Arc::ptr_eq(&current.segment, segment)) {
                    current.filled = from + bytes;
                    self.space.add(bytes);
                }
                Ok(())
            }
            Job::Prepare { number } => {
                let filled = self.chunk(0);
                self.check_disk(filled).await?;
                let segment = prepare(self, *number, filled).await?;
                let mut state = self.keeper.state.lock();
                state.next = Some(Prepared { segment, filled });
                state.next_error = None;
                Ok(())
            }
            Job::Seal { segment, end } => {
                segment.seal(*end).await?;
                self.keeper.state.lock().seals_done += 1;
                Ok(())
            }
            Job::WriteIndex { version } => {
                self.write_index().await?;
                self.keeper.state.lock().index_written = *version;
                Ok(())
            }
            Job::MakeMarker => {
                self.make_marker().await?;
                self.keeper.state.lock().marker.made = true;
                Ok(())
            }
            Job::RemoveMarker => self.remove_marker().await,
            Job::Wait | Job::Stop => Ok(()),
        }
    }

    /// A clear error before a write runs into the end of the disk.
    pub(super) async fn check_disk(&self, needed: u64) -> Result<()> {
        let free = self.env.disk.free_space().await.map_err(|error| BinlogError::io("statfs", ".", &error))?;
        if free >= needed + FREE_SPACE_MARGIN {
            return Ok(());
        }
        Err(BinlogError::Full(format!("{needed} bytes are needed, {free} are free on the disk")))
    }
}

/// Creates a file and fills it; its name is durable when this returns.
pub(crate) async fn prepare(log: &BinaryLog, number: u64, filled: u64) -> Result<Arc<Segment>> {
    let segment = Segment::open(&log.env, &log.options, number, true).await?;
    segment.cut(0).await?;
    if let Err(error) = segment.fill(0, filled).await {
        // The current file may need the room.
        let _ = segment.cut(0).await;
        return Err(error);
    }
    folder::sync(&log.env).await?;
    Ok(Arc::new(segment))
}
