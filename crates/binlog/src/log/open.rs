//! Opening the log: which files there are, where it ends, and what is behind that end.
//!
//! A crash may leave, in the files without a sealed end:
//! - nothing wrong: the events go on to the zeros that were filled ahead;
//! - a **torn tail**: an unsynced write that arrived partly, or in an order of the disk's own. With several syncs in
//!   flight even whole transactions may lie behind a hole. None of them was acknowledged. The log is cut at its last
//!   whole transaction, what is behind it is cut off and the cut synced before anything new is written, so that it can
//!   never come back;
//! - **damage**: bytes that had been durable and are not what they were. It shows itself by lying before the position
//!   that the caller knows to be durable, in a sealed file, before transactions that were written when it was durable
//!   ([`super::marks`]), before a file that a follower began when all before it was durable, or before valid ones that are farther
//!   away than anything unsynced can be. Nothing is cut then: opening
//!   fails, and names file and offset. (Damage of the last group before a crash looks like a torn tail, and is taken for one.)
//!
//! Files after the cut are removed: they began behind a hole. So is a prepared file that was never begun.
//!
//! What opening has read may be in the system's cache only: a process that was killed had not synced it, or its sync had
//! failed (after which Linux calls the pages clean). So before anyone sees it the end of the last file is written again
//! and synced; all of it behind the known durable position, if the file `NAME.failed` says that a sync had failed.

use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64};

use base::LogPosition;
use event_listener::Event;
use io::{Env, IoMode, OpenOptions};
use parking_lot::Mutex;

use super::files::{FileInfo, Files};
use super::halves::scan_halves;
use super::keeper::{self, Keeper};
use super::options::LogOptions;
use super::proofs::stale_bytes;
use super::scan::{Ending, FileHead, Scan, Window, read_head};
use super::segment::Segment;
use super::space::Space;
use super::writer::LogWriter;
use super::{BinaryLog, Durable, folder, index, large, purge, purged, server_id, unsynced};
use crate::error::{BinlogError, Result};
use crate::event::MAGIC;
use crate::gtid_set::GtidSet;

/// So much of the end of a log that was not closed is written again at least, in bytes; more than what is usually written
/// and not yet synced.
const REWRITTEN_TAIL: u64 = 16 << 20;

/// What will write to the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenAs {
    /// Transactions of this server: the last file is sealed, a new one is begun.
    Source,
    /// The bytes of a source's log: the last file goes on where it ends.
    Follower,
}

/// An opened log.
#[derive(Debug)]
pub struct Opened {
    /// The shared half.
    pub log: Arc<BinaryLog>,
    /// The exclusive half.
    pub writer: LogWriter,
    /// What opening found.
    pub report: RecoveryReport,
}

/// What opening found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecoveryReport {
    /// Where the log ends: everything up to here was found whole.
    pub end: LogPosition,
    /// The server had not been shut down cleanly.
    pub was_in_use: bool,
    /// Why the log was cut at `end`, if bytes were behind it.
    pub cut: Option<String>,
}

impl std::fmt::Debug for LogWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "LogWriter(at {})", self.position())
    }
}

impl BinaryLog {
    /// Opens the log, or creates it. `known_durable` is a position (the checkpoint's) up to which the log was durable
    /// for sure; the default position if none is known.
    #[io::boxed]
    pub async fn open(env: Env, options: LogOptions, open_as: OpenAs, known_durable: LogPosition) -> Result<Opened> {
        let unsynced = unsynced::read(&env, &options).await?;
        let known_durable = unsynced.unwrap_or_default().max(known_durable);
        remove_stale(&env, &large::prefix(&options)).await?;
        let mut survey = Survey::take(&env, &options).await?;
        survey.heeds_marks = unsynced.is_none() && open_as == OpenAs::Source;
        survey.is_copy = open_as == OpenAs::Follower;
        let writer_id = server_id::read(&env, &options).await?;
        survey.writer_id = writer_id.unwrap_or(options.server_id.0);
        if unsynced.is_some() {
            survey.window = u64::MAX;
        }
        let mut report = survey.find_end(known_durable).await?;
        let last = survey.files.by_number.last_key_value().map(|(&number, _)| number);
        report.end = last.map_or(LogPosition::default(), |number| LogPosition::new(number, survey.end));
        // Before anything is removed: what would be is evidence.
        if report.end < known_durable {
            let at = report.end;
            let reason = format!("the log ends at {at}, but was durable up to {known_durable}");
            return Err(BinlogError::corrupt(&index::file_name(&options.basename, at.file), at.offset, reason));
        }
        survey.remove_rest().await?;
        let Survey { files, executed, last_is_sealed, names_purged, .. } = survey;
        let log = Arc::new(BinaryLog {
            files: Mutex::new(files),
            durable: Mutex::new(Durable { end: report.end, executed }),
            durable_event: Event::new(),
            pins: Arc::default(),
            space: Space::default(),
            keeper: Keeper::default(),
            closed: AtomicBool::new(false),
            failed: OnceLock::new(),
            on_failure: OnceLock::new(),
            chosen_number: AtomicU64::new(0),
            chosen_tagged: Mutex::default(),
            max_file_bytes: AtomicU64::new(options.max_binlog_size),
            env,
            options,
        });
        let last = match last {
            Some(number) => {
                let segment = Segment::open(&log.env, &log.options, number, false).await?;
                log.make_last_durable(&segment, &report, known_durable).await?;
                Some(log.finish_last(segment, report.end.offset, last_is_sealed, open_as).await?)
            }
            None => None,
        };
        if writer_id != Some(log.options.server_id.0) {
            server_id::write(&log.env, &log.options).await?;
        }
        let writer = match open_as {
            OpenAs::Source => log.begin_source(None).await?,
            OpenAs::Follower => log.resume_follower(last, report.end.offset),
        };
        log.write_index().await?;
        if names_purged {
            remove_stale(&log.env, &purge::purged_prefix(&log.options)).await?;
        }
        if unsynced.is_some() {
            // All that is left is synced by now.
            log.remove_marker().await?;
        }
        log.env.spawner.spawn("binlog-keeper", Box::pin(keeper::run(log.clone())));
        Ok(Opened { log, writer, report })
    }

    /// Cuts the last file at its end; a source seals it.
    async fn finish_last(&self, segment: Segment, end: u64, is_sealed: bool, open_as: OpenAs) -> Result<Arc<Segment>> {
        match open_as {
            // Once more if it is sealed: a start that failed just then may have left the mark in the system's cache only, and
            // without it this file would be the log's last one after a power failure, whatever comes behind it.
            OpenAs::Source => segment.seal(end).await?,
            OpenAs::Follower if is_sealed => {
                // It is filled ahead again, and may go on.
                segment.set_in_use(true).await?;
                segment.sync_in_background().await?;
            }
            OpenAs::Follower => segment.cut(end).await?,
        }
        if open_as == OpenAs::Source {
            self.files.lock().end(LogPosition::new(segment.number, end));
        }
        Ok(Arc::new(segment))
    }

    /// Makes sure that what the last file shows is on the medium, before it is sealed; see the module.
    async fn make_last_durable(
        &self,
        last: &Segment,
        report: &RecoveryReport,
        known_durable: LogPosition,
    ) -> Result<()> {
        let marker = failure_marker(&self.options);
        let has_failed = folder::exists(&self.env, &marker).await?;
        if !has_failed && !report.was_in_use {
            // Its bytes were synced before it was sealed.
            return Ok(());
        }
        let known = if known_durable.file == last.number { known_durable.offset } else { 0 };
        let end = report.end.offset;
        let from = if has_failed { known } else { known.max(end.saturating_sub(REWRITTEN_TAIL)) };
        last.rewrite(from.min(end), end).await?;
        if has_failed {
            folder::remove(&self.env, &marker).await?;
        }
        Ok(())
    }

    /// Notes for the next start that a sync has failed. In the system's cache it outlives the process just as the bytes do
    /// that were not written, and a power failure takes both.
    pub(super) async fn mark_failed(env: Env, options: LogOptions) {
        let marker = failure_marker(&options);
        let how = OpenOptions { create: true, write: true, ..OpenOptions::default() };
        if let Err(error) = env.disk.open(&marker, how).await {
            tracing::error!("{marker} cannot be made: {error}");
        }
    }

    /// A source begins a file of its own at each start.
    pub(super) async fn begin_source(self: &Arc<Self>, next: Option<(Arc<Segment>, u64)>) -> Result<LogWriter> {
        let number = self.files.lock().by_number.last_key_value().map_or(1, |(&number, _)| number + 1);
        let (segment, filled) = match next {
            Some(prepared) => prepared,
            None => self.prepare_first(number).await?,
        };
        let mut writer = LogWriter::new(self.clone(), None, 0);
        writer.begin_file(segment);
        self.set_space(filled, writer.offset);
        writer.flush(IoMode::Offload).await?;
        Ok(writer)
    }

    /// Prepares a file without the keeper, which has no current one to begin from.
    pub(super) async fn prepare_first(&self, number: u64) -> Result<(Arc<Segment>, u64)> {
        let filled = self.first_fill();
        let segment = keeper::prepare(self, number, filled).await?;
        self.keeper.set_current(segment.clone(), filled);
        Ok((segment, filled))
    }

    pub(super) fn resume_follower(self: &Arc<Self>, last: Option<Arc<Segment>>, end: u64) -> LogWriter {
        if let Some(segment) = &last {
            self.keeper.set_current(segment.clone(), end);
            self.set_space(end, end);
        }
        LogWriter::new(self.clone(), last, end)
    }

    pub(super) async fn write_index(&self) -> Result<()> {
        let numbers = self.files.lock().numbers();
        index::write(&self.env, &self.options.basename, &numbers).await
    }
}

/// Removes what a crash has left of large transactions that have no place in the log, or of large files that were purged.
async fn remove_stale(env: &Env, prefix: &str) -> Result<()> {
    env.remove_stale("", prefix).await.map_err(|error| BinlogError::io("remove", prefix, &error))
}

/// What is on the disk.
pub(super) struct Survey<'a> {
    env: &'a Env,
    pub(super) options: &'a LogOptions,
    files: Files,
    /// Numbers on the disk from the first file of the log on.
    pub(super) numbers: Vec<u64>,
    /// How far behind a hole transactions may be that were written after it.
    pub(super) window: u64,
    /// What the log says of its groups holds here.
    pub(super) heeds_marks: bool,
    /// It is a follower's: what is of other servers was synced file by file.
    pub(super) is_copy: bool,
    /// The number of the server that wrote its end.
    pub(super) writer_id: u32,
    /// The index names files that are purged, which are known by what is left of them until there is another one.
    names_purged: bool,
    /// What the index names.
    listed: Vec<u64>,
    /// How many of them are part of the log; the rest is removed.
    kept: usize,
    /// End of the last file that is kept.
    end: u64,
    last_is_sealed: bool,
    /// The last file that is kept.
    before: Option<FileHead>,
    executed: GtidSet,
}

impl<'a> Survey<'a> {
    /// Lists the files, and removes what a purge left of them behind which one is gone.
    async fn take(env: &'a Env, options: &'a LogOptions) -> Result<Survey<'a>> {
        let mut numbers = folder::numbers(env, &options.basename).await?;
        let listed = index::read(env, &options.basename).await?.unwrap_or_default();
        let purged = purge::set_aside(env, options).await?;
        let mut names_purged = false;
        for number in &listed {
            if numbers.binary_search(number).is_ok() {
                continue;
            }
            if !purged.contains(number) {
                return Err(BinlogError::NoSuchFile(index::file_name(&options.basename, *number)));
            }
            names_purged = true;
        }
        if !names_purged {
            remove_stale(env, &purge::purged_prefix(options)).await?;
        }
        let mut first = listed.first().copied().unwrap_or(0);
        // A purge that was interrupted has left these; it may be asked for again.
        while first > 0 && numbers.binary_search(&(first - 1)).is_ok() {
            first -= 1;
        }
        for &number in numbers.iter().filter(|&&number| number < first) {
            let name = purge::remove_purged(env, options, number).await?;
            tracing::info!("removed {name}, which was purged");
        }
        numbers.retain(|&number| number >= first);
        let mut survey = Survey {
            env,
            options,
            files: Files { basename: options.basename.clone(), ..Files::default() },
            numbers,
            window: options.max_unsynced_window,
            heeds_marks: false,
            is_copy: false,
            writer_id: options.server_id.0,
            names_purged,
            listed: listed.clone(),
            kept: 0,
            end: 0,
            last_is_sealed: false,
            before: None,
            executed: GtidSet::new(),
        };
        survey.close_gap(&listed).await?;
        Ok(survey)
    }

    /// Behind a gap there can only be files that were prepared and never begun: the power failed when a large transaction was
    /// given its place in front of them. They go.
    async fn close_gap(&mut self, listed: &[u64]) -> Result<()> {
        let Some(at) = self.numbers.windows(2).position(|pair| pair[1] != pair[0] + 1) else { return Ok(()) };
        let missing = index::file_name(&self.options.basename, self.numbers[at] + 1);
        let behind = self.numbers.split_off(at + 1);
        for number in &behind {
            let is_begun = read_head(&mut self.window(*number).await?, self.options).await?.is_some();
            if is_begun || listed.binary_search(number).is_ok() {
                return Err(BinlogError::NoSuchFile(missing));
            }
        }
        folder::remove_last(self.env, &self.options.basename, &behind).await
    }

    pub(super) async fn window(&self, number: u64) -> Result<Window> {
        let name = index::file_name(&self.options.basename, number);
        let open = OpenOptions { mode: self.options.io_mode, ..OpenOptions::default() };
        let file = self.env.disk.open(&name, open).await.map_err(|error| BinlogError::io("open", &name, &error))?;
        let len = file.len().await.map_err(|error| BinlogError::io("stat", &name, &error))?;
        Ok(Window::new(file, &name, len))
    }

    /// Finds where the log ends: takes file after file until the first that does not lead on.
    async fn find_end(&mut self, known_durable: LogPosition) -> Result<RecoveryReport> {
        let mut report = RecoveryReport::default();
        for at in 0..self.numbers.len() {
            let number = self.numbers[at];
            let mut window = self.window(number).await?;
            let Some(head) = read_head(&mut window, self.options).await? else {
                let cut = LogPosition::new(number, MAGIC.len() as u64);
                self.check_cut(at, &mut window, cut, known_durable, "the file has no valid head").await?;
                let hole = cut.offset;
                self.check_marks(at, Some((&mut window, hole)), cut, "the file has no valid head").await?;
                self.check_copied(at, cut, "the file has no valid head").await?;
                break;
            };
            let is_followed = match self.numbers.get(at + 1) {
                Some(&next) => read_head(&mut self.window(next).await?, self.options).await?.is_some(),
                None => false,
            };
            if !head.in_use && is_followed {
                self.keep(number, head, window.len, true)?;
                continue;
            }
            let large = if head.in_use { None } else { large::read_large(&mut window, &head, self.options).await? };
            let found = match large {
                Some(found) => found,
                None => scan_halves(self.env, &mut window, self.options, &head).await?,
            };
            let is_in_use = head.in_use;
            self.executed = head.previous_gtids.clone();
            self.executed.union(&found.gtids);
            self.keep(number, head, found.end, !is_in_use)?;
            if !is_in_use {
                if let Some((offset, reason)) = found.broken {
                    return Err(BinlogError::corrupt(&window.name, offset, format!("{reason} (in a sealed file)")));
                }
                continue;
            }
            report.was_in_use = true;
            if is_followed && (self.leads_on(at, &found) || self.is_complete(at, &window, &found).await?) {
                self.seal_rotated(number, found.end).await?;
                continue;
            }
            report.cut = self.cut_at(at, &mut window, &found, known_durable).await?;
            break;
        }
        Ok(report)
    }

    fn keep(&mut self, number: u64, head: FileHead, end: u64, is_sealed: bool) -> Result<()> {
        self.check_order(number, &head)?;
        let previous_gtids = head.previous_gtids.clone();
        let empty_before = self.before.as_ref().filter(|before| !before.has_transactions);
        let added_gtids = purged::added(empty_before.map(|before| &before.previous_gtids), &previous_gtids);
        let info = FileInfo { end: Some(end), ..FileInfo::new(head.timestamp, previous_gtids, added_gtids) };
        self.files.insert(number, info);
        self.kept += 1;
        self.end = end;
        self.last_is_sealed = is_sealed;
        self.before = Some(head);
        Ok(())
    }

    /// Whether a file can be behind the one before: a head that was written into another file has a right checksum too.
    fn check_order(&self, number: u64, head: &FileHead) -> Result<()> {
        let name = |number| index::file_name(&self.options.basename, number);
        let astray = |number, reason: &str| {
            Err(BinlogError::corrupt(&name(number), MAGIC.len() as u64, format!("{reason}: a write went astray")))
        };
        if head.first_gtid.is_some_and(|gtid| head.previous_gtids.contains(gtid)) {
            return astray(number, "its first transaction is one of those before it");
        }
        let Some(before) = &self.before else { return Ok(()) };
        if !before.previous_gtids.is_subset_of(&head.previous_gtids) {
            // Which of the two is not what it was cannot be told, here and below.
            let reason = format!(
                "its PREVIOUS_GTIDS lack some of those of {}, or one of the two is another's",
                name(number - 1)
            );
            return astray(number, &reason);
        }
        if before.first_gtid.is_some_and(|gtid| !head.previous_gtids.contains(gtid)) {
            let reason = format!(
                "its first transaction is not one of those before {}, or one of the two is another's",
                name(number)
            );
            return astray(number - 1, &reason);
        }
        Ok(())
    }

    /// Whether a file that is marked as in use is complete all the same: nothing is behind its last transaction, and the next
    /// file is of exactly the transactions up to there. (Another bit of the mark is all that it takes, and no checksum has it.)
    async fn is_complete(&self, at: usize, window: &Window, found: &Scan) -> Result<bool> {
        if found.broken.is_some() || found.end < window.len {
            return Ok(false);
        }
        let next = read_head(&mut self.window(self.numbers[at + 1]).await?, self.options).await?;
        Ok(next.is_some_and(|next| next.previous_gtids == self.executed))
    }

    /// Whether a file ends with a ROTATE to the next one.
    fn leads_on(&self, at: usize, found: &Scan) -> bool {
        let (Ending::Rotate(name), Some(&next)) = (&found.ending, self.numbers.get(at + 1)) else { return false };
        index::file_number(&self.options.basename, name) == Some(next)
    }

    /// The server died before it had sealed a file behind which it went on.
    async fn seal_rotated(&mut self, number: u64, end: u64) -> Result<()> {
        let segment = Segment::open(self.env, self.options, number, false).await?;
        segment.seal(end).await
    }

    /// Decides that the log ends in this file; says why, if something is behind the end.
    async fn cut_at(
        &mut self,
        at: usize,
        window: &mut Window,
        found: &Scan,
        known_durable: LogPosition,
    ) -> Result<Option<String>> {
        let cut = LogPosition::new(self.numbers[at], found.end);
        let Some((offset, reason)) = &found.broken else {
            self.check_marks(at, None, cut, "the log does not go on from here").await?;
            self.check_copied(at, cut, "the log does not go on from here").await?;
            return Ok(None);
        };
        let stale = stale_bytes(window, found.end).await?;
        let text = format!("{reason} (at {offset})");
        self.check_cut(at, window, cut, known_durable, &text).await?;
        self.check_marks(at, Some((window, *offset)), cut, &text).await?;
        self.check_copied(at, cut, &text).await?;
        if stale == 0 {
            return Ok(None);
        }
        let text = format!(
            "{}: cut at {}, the end of the last whole transaction; behind it {reason} (at {offset}), and {stale} bytes \
             that were never acknowledged are discarded",
            window.name, found.end
        );
        tracing::warn!("{text}");
        Ok(Some(text))
    }

    /// Removes the files behind the end.
    async fn remove_rest(&self) -> Result<()> {
        if self.kept == self.numbers.len() {
            return Ok(());
        }
        // The index first: it must not name what is not there. What it does not name is found and removed again.
        index::write(self.env, &self.options.basename, &self.files.numbers()).await?;
        let last = self.kept.checked_sub(1).map_or(0, |at| self.numbers[at]);
        for &number in &self.numbers[self.kept..] {
            let mut window = self.window(number).await?;
            let bytes = stale_bytes(&mut window, 0).await?;
            if bytes > 0 {
                tracing::warn!(
                    "{} is removed with {bytes} bytes, to which nothing leads: a write that a crash has cut off, or damage; a follower \
                     fetches again what was in it",
                    window.name
                );
            } else if self.listed.contains(&number) {
                tracing::warn!(
                    "{} is removed: it was begun, and is empty or has zeros only. If transactions were in it they are lost here, behind {}; a \
                     follower fetches them again",
                    window.name,
                    LogPosition::new(last, self.end)
                );
            }
        }
        folder::remove_last(self.env, &self.options.basename, &self.numbers[self.kept..]).await
    }
}

fn failure_marker(options: &LogOptions) -> String {
    format!("{}.failed", options.basename)
}
