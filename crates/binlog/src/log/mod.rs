//! The log on disk: files of events, one after the other, that grow at one end and are purged at the other.
//!
//! ```text
//!  binlog.000007            binlog.000008            binlog.000009          binlog.000010
//!  | sealed ........... |   | sealed ........... |   | durable |in flight|0000   | 00000000
//!  ^ first file: purge                                         ^ durable end     ^ prepared ahead
//! ```
//! [`BinaryLog`] is shared: what is durable, which files there are, who still needs them. [`LogWriter`] is exclusive: it
//! gives transactions their places and hands out [`Group`]s to be written and synced, several at once if its owner
//! wants. [`LogReader`]s see durable bytes only. A background task, the keeper, fills space ahead, prepares the next file,
//! seals the last one and rewrites the index, so that neither a commit nor a rotation waits for any of it.
//!
//! # Invariants
//! - Bytes behind [`BinaryLog::durable_end`] are never shown to anyone; the end is always between two transactions.
//! - A file without the in-use flag is complete: nothing is behind its end, and it never changes again.
//! - A file whose successor holds anything is sealed, or ends with a ROTATE.
//! - After a failed write or sync nothing is written any more ([`BinlogError::Failed`]).
//!
//! Lock order: `files`, then `keeper`; `durable`, `pins` and `chosen_tagged` are taken alone.

mod batch;
mod belongs;
mod files;
mod folder;
mod halves;
mod index;
mod keeper;
mod large;
mod marks;
mod open;
mod options;
mod proofs;
mod purge;
mod purged;
mod reader;
mod receive;
mod scan;
mod segment;
mod server_id;
mod space;
mod tail;
pub(crate) mod tracker;
mod unsynced;
mod writer;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use base::{Gtid, LogPosition, Tag, Uuid};
use event_listener::Event;
use io::Env;
use parking_lot::Mutex;

use crate::error::{BinlogError, Result};
use crate::gtid_set::GtidSet;
use crate::maria_gtid::MariaGtidName;
pub use batch::{LogBatch, LogSlice};
use files::Files;
pub use files::{LogFile, Pin};
use keeper::Keeper;
pub use large::{LargeEvents, LargePlace};
pub use open::{OpenAs, Opened, RecoveryReport};
pub use options::{LogOptions, SyncMethod};
pub use purge::Purged;
pub use reader::{LargeHead, LogEvent, LogReader, LogTransaction, Next};
pub use receive::LogReceiver;
pub(crate) use scan::Window;
pub use segment::IN_FLIGHT_MAX;
pub use space::Reservation;
use space::Space;
pub use writer::{Group, LogWriter, PlaceStamp, Placed};

/// Of so many tags chosen numbers are kept in mind when nobody is about to commit one any more.
const CHOSEN_TAGS_KEPT: usize = 1024;

/// What is durable.
#[derive(Debug, Default)]
struct Durable {
    end: LogPosition,
    executed: GtidSet,
}

/// The log as everybody but its writer sees it.
pub struct BinaryLog {
    env: Env,
    options: LogOptions,
    /// `max_binlog_size`, which may change.
    max_file_bytes: AtomicU64,
    /// The highest number of this server's own GTIDs without a tag that somebody chose; see [`BinaryLog::choose_number`].
    chosen_number: AtomicU64,
    /// The same for tags, and for domains of MariaDB: for those under which somebody is about to commit one, and some others.
    chosen_tagged: Mutex<BTreeMap<(Uuid, Tag), u64>>,
    files: Mutex<Files>,
    durable: Mutex<Durable>,
    durable_event: Event,
    pins: Arc<Mutex<files::Pins>>,
    space: Space,
    keeper: Keeper,
    closed: AtomicBool,
    failed: OnceLock<BinlogError>,
    on_failure: OnceLock<FailureHook>,
}

/// Told once why the log has stopped.
type FailureHook = Box<dyn Fn(&BinlogError) + Send + Sync>;

impl std::fmt::Debug for BinaryLog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "BinaryLog({} to {})", self.options.basename, self.durable_end())
    }
}

impl BinaryLog {
    /// Settings that it was opened with.
    pub fn options(&self) -> &LogOptions {
        &self.options
    }

    /// Whether this server makes GTIDs under this UUID: its own, or in a domain of MariaDB.
    pub fn numbers_under(&self, uuid: Uuid) -> bool {
        let name = MariaGtidName::of(Gtid::new(uuid, 1));
        uuid == self.options.server_uuid || name.is_some_and(|name| name.server_id == self.options.server_id.0)
    }

    /// Somebody is about to commit a GTID of this server that they chose: transactions that get their GTID from here on get higher
    /// numbers; under a tag or in a domain at least as long as somebody is ([`BinaryLog::forget_numbers`]).
    pub fn choose_number(&self, gtid: Gtid) {
        if (gtid.uuid, gtid.tag) == (self.options.server_uuid, Tag::NONE) {
            self.chosen_number.fetch_max(gtid.gno, Ordering::SeqCst);
        } else {
            let mut tagged = self.chosen_tagged.lock();
            let number = tagged.entry((gtid.uuid, gtid.tag)).or_default();
            *number = gtid.gno.max(*number);
        }
    }

    /// Nobody is about to commit a GTID of this server under this tag, or in this domain, any more: they are as many as clients like, so
    /// not all are kept in mind.
    pub fn forget_numbers(&self, uuid: Uuid, tag: Tag) {
        let mut tagged = self.chosen_tagged.lock();
        if tagged.len() > CHOSEN_TAGS_KEPT {
            tagged.remove(&(uuid, tag));
        }
    }

    /// The highest number that was chosen, 0 for none.
    fn chosen_number(&self, uuid: Uuid, tag: Tag) -> u64 {
        if (uuid, tag) == (self.options.server_uuid, Tag::NONE) {
            return self.chosen_number.load(Ordering::SeqCst);
        }
        self.chosen_tagged.lock().get(&(uuid, tag)).copied().unwrap_or(0)
    }

    /// Size in bytes at which a file is the last one's predecessor: [`LogOptions::max_binlog_size`] or what was set since.
    pub fn max_file_bytes(&self) -> u64 {
        self.max_file_bytes.load(Ordering::Relaxed)
    }

    /// Changes it; the next group goes by it.
    pub fn set_max_file_bytes(&self, bytes: u64) {
        self.max_file_bytes.store(bytes, Ordering::Relaxed);
    }

    /// Where it lives.
    pub fn env(&self) -> &Env {
        &self.env
    }

    /// The end of what is durable: always between two transactions.
    pub fn durable_end(&self) -> LogPosition {
        self.durable.lock().end
    }

    /// Ready when the durable end is past `position`, with the end; an error when the log was closed or has failed.
    pub async fn wait_past(&self, position: LogPosition) -> Result<LogPosition> {
        loop {
            let listener = self.durable_event.listen();
            let end = self.durable_end();
            if end > position {
                return Ok(end);
            }
            self.check()?;
            listener.await;
        }
    }

    /// `gtid_executed`, as far as it is durable; purged ones included.
    pub fn gtid_executed(&self) -> GtidSet {
        self.durable.lock().executed.clone()
    }

    /// Whether a transaction is in the log or was before it was purged.
    pub fn has_executed(&self, gtid: Gtid) -> bool {
        self.durable.lock().executed.contains(gtid)
    }

    /// `gtid_purged`: what was in files that are gone, or was executed elsewhere ([`LogWriter::add_purged`]).
    pub fn gtid_purged(&self) -> GtidSet {
        self.files.lock().purged_gtids()
    }

    /// The files, oldest first; the size of the last one is its durable end.
    pub fn files(&self) -> Vec<LogFile> {
        let end = self.durable_end();
        self.files.lock().list(end)
    }

    /// Bytes of the log between two positions.
    pub fn bytes_between(&self, from: LogPosition, to: LogPosition) -> u64 {
        if from.file == to.file {
            return to.offset.saturating_sub(from.offset);
        }
        self.files.lock().bytes_between(from, to)
    }

    /// The newest file that begins before the first transaction that is not in `gtids`; `None` if transactions are
    /// missing that were purged.
    pub fn file_without(&self, gtids: &GtidSet) -> Option<LogPosition> {
        let durable_end = self.durable_end();
        let files = self.files.lock();
        let mut candidates = files.by_number.range(..=durable_end.file).rev();
        candidates
            .find(|(_, info)| info.previous_gtids.is_subset_of(gtids))
            .map(|(&number, _)| LogPosition::new(number, crate::event::MAGIC.len() as u64))
    }

    /// Shows `look` the files' numbers and the GTIDs before each, from the newest on, until it says that it has seen enough (`false`).
    pub fn walk_back(&self, mut look: impl FnMut(u64, &GtidSet) -> bool) {
        let durable_end = self.durable_end();
        let files = self.files.lock();
        let mut listed = files.by_number.range(..=durable_end.file).rev();
        listed.all(|(&number, info)| look(number, &info.previous_gtids));
    }

    /// The first event of the last transaction, or other event between transactions, in the last file; `None` in a log
    /// without a file.
    pub async fn last_start(self: &Arc<Self>) -> Result<Option<LogPosition>> {
        let end = self.durable_end();
        if end.file == 0 {
            return Ok(None);
        }
        let mut reader = self.reader(LogPosition::new(end.file, 0)).without_verification();
        let (mut tracker, mut last) = (tracker::TransactionTracker::default(), None);
        let mut is_between = true;
        while reader.position() < end {
            let Some(event) = reader.next_event().await? else { break };
            if is_between {
                last = Some(event.start);
            }
            is_between = tracker.event(&event.raw())?;
        }
        Ok(last)
    }

    /// Name of a file.
    pub fn file_name(&self, number: u64) -> String {
        index::file_name(&self.options.basename, number)
    }

    /// The number in a file's name (a path in front of it does not matter).
    pub fn file_number(&self, name: &str) -> Option<u64> {
        let name = name.rsplit('/').next().unwrap_or(name);
        index::file_number(&self.options.basename, name)
    }

    /// Keeps the files from `position` on from being purged until the pin is dropped.
    pub fn pin(&self, by: &str, position: LogPosition) -> Pin {
        Pin::new(self.pins.clone(), by, position)
    }

    /// Room for a transaction of at most `bytes`; waits until it was made. An error if the disk is full.
    pub async fn reserve(self: &Arc<Self>, bytes: u64) -> Result<Reservation> {
        while !self.space.try_reserve(bytes) {
            self.check()?;
            self.keeper.wait_for_space(self, bytes).await?;
        }
        Ok(Reservation::new(self.clone(), bytes))
    }

    /// Waits until the next file is prepared: a large transaction moves the log on.
    pub async fn wait_for_next(&self) -> Result<()> {
        self.keeper.wait_for_next(self).await
    }

    /// Waits until the files that have ended are as whoever reads files wants them: nothing behind their ends, and not in use.
    pub async fn sealed(&self) -> Result<()> {
        self.keeper.sealed(self).await
    }

    /// Whether bytes can still be written: the error that stopped the log, if one did.
    pub fn check(&self) -> Result<()> {
        if let Some(error) = self.failed.get() {
            return Err(error.clone());
        }
        if self.closed.load(Ordering::SeqCst) { Err(BinlogError::Closed) } else { Ok(()) }
    }

    /// Stops the log: after a failed write or sync nothing may be written any more.
    pub fn fail(&self, error: &BinlogError) {
        let first = self.failed.set(BinlogError::Failed(error.to_string())).is_ok();
        if first {
            tracing::error!("the binary log stops: {error}");
            self.tell_failure();
            let mark = Self::mark_failed(self.env.clone(), self.options.clone());
            self.env.spawner.spawn("binlog-failed", Box::pin(mark));
        }
        self.durable_event.notify(usize::MAX);
        self.keeper.wake_all();
    }

    /// Has somebody told if the log stops, whoever finds out: a commit, or the background task of an idle server.
    pub fn when_failed(&self, hook: impl Fn(&BinlogError) + Send + Sync + 'static) {
        if self.on_failure.set(Box::new(hook)).is_ok() {
            self.tell_failure();
        }
    }

    fn tell_failure(&self) {
        if let (Some(hook), Some(error)) = (self.on_failure.get(), self.failed.get()) {
            hook(error);
        }
    }

    /// Makes a group visible to readers. Groups are announced in log order, each after its sync.
    pub fn make_durable(&self, group: &Group) {
        self.enter_files(group);
        {
            let mut durable = self.durable.lock();
            assert!(group.end() >= durable.end, "groups become durable in log order");
            durable.end = group.end();
            durable.executed.union(group.gtids());
        }
        self.durable_event.notify(usize::MAX);
        self.keeper.progressed(group);
    }

    /// Records the file that a group begins, and the end of the one that it ends.
    fn enter_files(&self, group: &Group) {
        if group.new_file().is_none() && !group.ends_file() {
            return;
        }
        let mut files = self.files.lock();
        if let Some(info) = group.new_file() {
            files.insert(group.end().file, info.clone());
            self.keeper.index_changed();
        }
        if group.ends_file() {
            files.end(group.end());
        }
    }
}
