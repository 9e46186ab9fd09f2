//! Checkpoints: from memory into the trees, as of one commit number.
//!
//! # Model
//! ```text
//!   freeze     a new active memtable; the old one takes nothing any more     active | frozen | trees @ B
//!   choose     when all of the old one's versions are numbered: the number C
//!              below the first of the new one, its log position, its GTIDs
//!   views      for each long view at S < C, in order: merge (B, S], keep      trees @ S
//!              the roots for the view
//!   merge      (B, C] into the trees                                          trees @ C, not yet durable
//!   commit     sync, superblock                                               trees @ C
//!   switch     readers of now, and views at or above C, read active | trees @ C
//! ```
//! Versions above C in the frozen memtable (of transactions that began to install before the freeze and came into the queue
//! behind one that began after it) are copied to the active memtable before the switch. Each is the last of its key there,
//! because whoever takes the row's lock next begins after the freeze: so no pruning takes what the merge needs.
//!
//! # Invariants
//! - A checkpoint at C holds exactly the versions at or below C, and its log position is where C ends: replaying the
//!   log from there is everything else.
//! - C is published, and its log is durable, before the superblock says so: nothing uncommitted is ever in a checkpoint.
//! - What is restored ([`restore`]) is of a state between that of the trees and the checkpoint's.
//! - One checkpoint at a time; one that failed for lack of space is tried again with the same frozen memtable.
//!
//! A failure of any other kind than a full disk stops the engine: what is on disk is then not known. While the disk is full,
//! sessions whose commits would have to wait for a checkpoint get an error (1021); it is tried again every now and then.

mod bulk;
mod merge;
mod restore;
mod room;
mod run;

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use base::{CommitNumber, IndexId, LogPosition};
use binlog::BinaryLog;
use bytes::Bytes;
use event_listener::Event;
use parking_lot::{Mutex, RwLock};
use serde::{Deserialize, Serialize};
use store::Compression;

use crate::error::{EngineError, Result};
use crate::memtable::Memtable;
use crate::prepared::KeptPrepared;
use crate::source_position::SourcePositions;
use crate::statistics::StoredStatistics;
use crate::turn::Turn;
use crate::view::Mark;

pub use restore::Restore;
pub(crate) use restore::{Entered, Outcome, Restores};
use room::Room;
pub(crate) use run::run;

/// Less log than this says nothing about how fast recovery is, and takes no time that matters.
pub(crate) const RECOVERED_BYTES_MIN: u64 = 16 << 20;
/// Bytes of log a second that recovery is expected to apply before one has shown it: a third of what two usual cores do.
const RECOVERY_RATE_ASSUMED: u64 = 64 << 20;

/// What recovery is expected to take for a definition, and for each table that there is beside.
const DEFINITION_MICROS: u64 = 300;
const DEFINITION_TABLE_NANOS: u64 = 100;

/// What a checkpoint holds beside the trees.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Meta {
    /// The server's own.
    pub(crate) server_uuid: String,
    /// GTIDs of everything in the checkpoint.
    pub(crate) gtid_executed: String,
    /// Positions in the logs of sources without GTIDs, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) source_positions: SourcePositions,
    /// Transactions whose second phase is not in the checkpoint.
    #[serde(default, skip_serializing_if = "KeptPrepared::is_empty")]
    pub(crate) prepared: KeptPrepared,
    /// Bytes of log a second that the last recovery applied, of those that had enough to do to tell.
    #[serde(default)]
    pub(crate) recovery_rate: Option<u64>,
    /// Next number by table id, for tables with AUTO_INCREMENT.
    pub(crate) auto_increment: BTreeMap<u64, u64>,
    /// The same for generated primary keys beside AUTO_INCREMENT. Folders of older builds have none: one counter was for both.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) generated_keys: BTreeMap<u64, u64>,
    /// Statistics by table id, as they were known at the time. Folders of older builds have none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) statistics: BTreeMap<u64, StoredStatistics>,
}

impl Meta {
    pub(crate) fn to_bytes(&self) -> Result<Bytes> {
        match serde_json::to_vec(self) {
            Ok(bytes) => Ok(bytes.into()),
            Err(error) => Err(EngineError::Bug(format!("meta data: {error}"))),
        }
    }
}

/// A memtable on its way into the trees.
#[derive(Clone)]
pub(super) struct Frozen {
    pub(super) memtable: Arc<Memtable>,
    pub(super) mark: Mark,
    /// The newest roots of the store hold everything up to here; more than the checkpoint on disk after a failed attempt.
    pub(super) merged: CommitNumber,
    /// Indexes that had no table any more at the freeze: their trees go, and newer memtables have nothing of them.
    pub(super) gone: Arc<HashSet<IndexId>>,
}

/// State and triggers.
pub(crate) struct Checkpoints {
    pub(crate) turn: Turn,
    pub(super) frozen: Mutex<Option<Frozen>>,
    /// Indexes that no catalog has any more; nothing is installed in them.
    pub(super) dropped: Mutex<HashSet<IndexId>>,
    /// The same, at the time of the last freeze.
    pub(super) gone: Mutex<Arc<HashSet<IndexId>>>,
    /// Indexes that are being built for a catalog that nobody sees yet, and how their pages are written.
    pub(crate) building: Mutex<Vec<(IndexId, Compression)>>,
    /// The newest checkpoint on disk.
    pub(crate) durable: Mutex<Mark>,
    /// Keeps the log that recovery would need.
    pub(crate) pin: binlog::Pin,
    /// Held shared while versions with known numbers are installed.
    pub(super) installs: RwLock<()>,
    pub(super) wanted: AtomicBool,
    pub(super) want: Event,
    /// Notified when there is a new checkpoint on disk.
    pub(super) made: Event,
    /// Of those who repair.
    pub(crate) repairs: Turn,
    /// What was damaged, and is to be made anew.
    pub(crate) restores: Restores,
    /// What may still come into memory.
    pub(super) room: Arc<Room>,
    pub(super) stopped: AtomicBool,
    /// Why the last attempt found no room on the disk.
    pub(super) disk_full: Mutex<Option<String>>,
    /// Bytes a second; 0 if no recovery has shown it.
    recovery_rate: AtomicU64,
    /// Bytes of log that a recovery still has before it; [`NO_RECOVERY`] beside one.
    recovery_left: AtomicU64,
    /// The same at first.
    recovery_first: AtomicU64,
    /// Bytes of memory of all that was installed in bulk.
    bulk_bytes: AtomicU64,
    definitions: Definitions,
}

/// What recovery takes for definitions, in microseconds: they are few bytes of log, and much work.
#[derive(Default)]
struct Definitions {
    /// All since the server started.
    made: AtomicU64,
    /// Those of them that the checkpoint holds which is being made.
    frozen: AtomicU64,
    /// Those that the newest one holds.
    kept: AtomicU64,
}

/// In place of bytes of log.
const NO_RECOVERY: u64 = u64::MAX;

impl Checkpoints {
    pub(crate) fn new(durable: Mark, pin: binlog::Pin, recovery_rate: Option<u64>) -> Self {
        Checkpoints {
            turn: Turn::default(),
            frozen: Mutex::new(None),
            dropped: Mutex::default(),
            gone: Mutex::default(),
            building: Mutex::default(),
            durable: Mutex::new(durable),
            pin,
            installs: RwLock::new(()),
            wanted: AtomicBool::new(false),
            want: Event::new(),
            made: Event::new(),
            repairs: Turn::default(),
            restores: Restores::default(),
            room: Arc::default(),
            stopped: AtomicBool::new(false),
            disk_full: Mutex::default(),
            recovery_rate: AtomicU64::new(recovery_rate.unwrap_or_default()),
            recovery_left: AtomicU64::new(NO_RECOVERY),
            recovery_first: AtomicU64::default(),
            bulk_bytes: AtomicU64::default(),
            definitions: Definitions::default(),
        }
    }

    /// Asks for a checkpoint soon.
    pub(crate) fn want(&self) {
        if !self.wanted.swap(true, Ordering::SeqCst) {
            self.want.notify(usize::MAX);
        }
    }

    /// A recovery has so many bytes of log before it.
    pub(crate) fn recovery_goes_on(&self, left: u64) {
        self.recovery_left.store(left, Ordering::Relaxed);
        self.recovery_first.fetch_max(left, Ordering::Relaxed);
    }

    /// Whether a recovery is so near its end that what is left fits into memory with what is there: then a checkpoint would only hold
    /// it up. (A row takes less in memory than in the log.)
    pub(super) fn rest_fits(&self, bytes: usize, size: usize) -> bool {
        let left = self.recovery_left.load(Ordering::Relaxed);
        left != NO_RECOVERY && left.saturating_add(bytes as u64) <= size as u64 / 4 * 3
    }

    /// A recovery has applied so much in that time.
    pub(crate) fn recovered(&self, bytes: u64, time: Duration) {
        self.recovery_left.store(NO_RECOVERY, Ordering::Relaxed);
        if bytes >= RECOVERED_BYTES_MIN {
            let rate = bytes as f64 / time.as_secs_f64().max(1e-3);
            self.recovery_rate.store((rate as u64).max(1), Ordering::Relaxed);
        }
    }

    /// Bytes of log a second that recovery applies, if one has shown it.
    pub(crate) fn shown_recovery_rate(&self) -> Option<u64> {
        Some(self.recovery_rate.load(Ordering::Relaxed)).filter(|rate| *rate > 0)
    }

    /// The same, or what is assumed.
    pub(crate) fn recovery_rate(&self) -> u64 {
        self.shown_recovery_rate().unwrap_or(RECOVERY_RATE_ASSUMED)
    }

    /// A definition was made beside so many tables.
    pub(crate) fn defined(&self, tables: usize) {
        let micros = DEFINITION_MICROS + tables as u64 * DEFINITION_TABLE_NANOS / 1000;
        self.definitions.made.fetch_add(micros, Ordering::Relaxed);
    }

    /// A checkpoint begins to be made.
    pub(super) fn freezes_definitions(&self) {
        self.definitions.frozen.store(self.definitions.made.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    /// It is on disk.
    pub(super) fn keeps_definitions(&self) {
        self.definitions.kept.store(self.definitions.frozen.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    /// What recovery would take for the definitions since the newest checkpoint.
    pub(crate) fn definitions_time(&self) -> Duration {
        let Definitions { made, kept, .. } = &self.definitions;
        Duration::from_micros(made.load(Ordering::Relaxed).saturating_sub(kept.load(Ordering::Relaxed)))
    }

    pub(super) fn is_in_recovery(&self) -> bool {
        self.recovery_left.load(Ordering::Relaxed) != NO_RECOVERY
    }

    /// The log has grown to here; with `bytes_max` since the last checkpoint it is time for one.
    pub(crate) fn log_is_at(&self, log: &BinaryLog, end: LogPosition, bytes_max: u64) {
        if self.is_in_recovery() {
            // The next crash would find it shorter, and this one's recovery would take longer.
            return;
        }
        let begin = self.durable.lock().position;
        if log.bytes_between(begin, end) >= bytes_max {
            self.want();
        }
    }

    /// The newest checkpoint on disk.
    pub(crate) fn durable(&self) -> Mark {
        self.durable.lock().clone()
    }

    /// Remembers indexes that are gone from the catalog.
    pub(crate) fn drop_indexes(&self, indexes: impl IntoIterator<Item = IndexId>) {
        self.dropped.lock().extend(indexes);
    }

    /// Whether one of these indexes still has a tree, or versions, from another life.
    pub(crate) fn has_remains(&self, indexes: &[IndexId]) -> bool {
        let dropped = self.dropped.lock();
        indexes.iter().any(|index| dropped.contains(index))
    }

    /// Ends the background task.
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::SeqCst);
        self.want.notify(usize::MAX);
        self.made.notify(usize::MAX);
        self.restores.wake();
        self.room.changed();
    }

    /// Whether there will be no more checkpoints.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::SeqCst)
    }

    /// The number of the newest checkpoint, when it is above this one; an error when there will be no more.
    pub(crate) async fn after(&self, number: CommitNumber) -> Result<CommitNumber> {
        loop {
            let made = self.made.listen();
            let newest = self.durable.lock().commit_number;
            if newest > number {
                return Ok(newest);
            }
            if self.stopped.load(Ordering::SeqCst) {
                return Err(EngineError::NotReady("no more checkpoints are made"));
            }
            made.await;
        }
    }
}
