//! The files: a source's log, byte for byte, under the source's names.
//!
//! ```text
//! relay.json            who the relay is, and whose log each generation is
//! log.1/bin.000007      the first generation's files …
//! log.1/bin.000008
//! log.2/binlog.000003   … and those of the server that was switched to
//! ```
//! | module | what |
//! |---|---|
//! | `head` | what a file says of itself in its first two events |
//! | `open` | what is there after a start or a crash; cuts the newest file back |
//! | [`writer`] | appends, syncs in batches, publishes |
//! | [`reader`], `window` | read events up to what is published |
//! | `blocks` | what was read or received last, shared by all readers |
//! | `purge` | removes files from the front |
//!
//! A file is *published* up to some size: those bytes are synced. Of the newest file that is the end of a transaction; when the
//! source has gone on to another file it is all of it. There is no index: names end in numbers that ascend by one.
//!
//! # Invariants
//! - A file's published size never goes back while the process runs, and after a crash all of it is there.
//! - A file becomes part of the log with its first two events, synced, its name too; before that it is nobody's.
//! - Bytes behind a published size are overwritten or cut before anything is published again.

pub(crate) mod blocks;
pub(crate) mod head;
mod open;
mod purge;
pub mod reader;
mod window;
pub mod writer;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use binlog::BinlogError;
use event_listener::Event;
use io::{Env, LockGuard};
use parking_lot::Mutex;

use self::blocks::Blocks;
use crate::gtids::{Gtids, Kind, Name};
use crate::kept::{Generation, Kept, Source};

pub use open::{LOCK_FILE, OpenError};
pub use purge::Limits;

/// A file of the log; they ascend.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileId {
    /// Of which source.
    pub generation: u32,
    /// The number at the end of its name.
    pub number: u64,
}

/// A published file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileInfo {
    /// Which one.
    pub id: FileId,
    /// As the source calls it.
    pub name: String,
    /// How much of it is published, in bytes.
    pub size: u64,
    /// Seconds since 1970 when the source began it.
    pub began: u32,
}

impl FileInfo {
    /// Where it is, in the relay's folder.
    pub fn path(&self) -> String {
        path(self.id, &self.name)
    }
}

pub(crate) fn path(id: FileId, name: &str) -> String {
    format!("{}/{name}", crate::kept::folder(id.generation))
}

/// What changes of the log with one batch.
#[derive(Clone, Debug)]
pub(crate) enum Note {
    /// A file begins with this.
    Head(Gtids),
    /// A transaction.
    Transaction(Name),
}

struct State {
    kept: Kept,
    files: VecDeque<FileInfo>,
    /// What the log holds up to its published end.
    gtids: Option<Gtids>,
    /// Where the source can be asked for the newest file again so that something is left to compare.
    compare_from: u64,
    pins: BTreeMap<u64, FileId>,
    last_pin: u64,
    failed: Option<String>,
}

/// All files of a relay.
pub struct Store {
    env: Env,
    state: Mutex<State>,
    changed: Event,
    blocks: Arc<Blocks>,
    _lock: Box<dyn LockGuard>,
}

/// Keeps a file and those behind it from being purged.
pub struct Pin {
    store: Arc<Store>,
    number: u64,
}

impl Pin {
    /// From here on this file is needed, and those behind it.
    pub fn set(&self, file: FileId) {
        self.store.state.lock().pins.insert(self.number, file);
    }
}

impl Drop for Pin {
    fn drop(&mut self) {
        self.store.state.lock().pins.remove(&self.number);
    }
}

impl Store {
    /// The machine.
    pub fn env(&self) -> &Env {
        &self.env
    }

    /// What is remembered beside the files.
    pub fn kept(&self) -> Kept {
        self.state.lock().kept.clone()
    }

    /// The newest generation; `None` before the first connection to a source.
    pub fn generation(&self) -> Option<Generation> {
        self.state.lock().kept.generations.last().cloned()
    }

    /// A generation, by its number.
    pub fn generation_of(&self, number: u32) -> Option<Generation> {
        self.state.lock().kept.generations.iter().find(|generation| generation.number == number).cloned()
    }

    /// All published files, oldest first.
    pub fn files(&self) -> Vec<FileInfo> {
        self.state.lock().files.iter().cloned().collect()
    }

    /// The oldest published file.
    pub fn first(&self) -> Option<FileInfo> {
        self.state.lock().files.front().cloned()
    }

    /// The files of the newest generation, oldest first: those whose names a replica may say.
    pub fn newest_files(&self) -> Vec<FileInfo> {
        let state = self.state.lock();
        let newest = state.kept.generations.last().map_or(0, |generation| generation.number);
        state.files.iter().filter(|file| file.id.generation == newest).cloned().collect()
    }

    /// A file, if it is there.
    pub fn file(&self, id: FileId) -> Option<FileInfo> {
        self.state.lock().files.iter().find(|file| file.id == id).cloned()
    }

    /// The first file behind a place, whatever is purged of what was there.
    pub fn file_after(&self, id: FileId) -> Option<FileInfo> {
        self.state.lock().files.iter().find(|file| file.id > id).cloned()
    }

    /// The newest file of the newest generation, if it has any.
    pub fn live(&self) -> Option<FileInfo> {
        let state = self.state.lock();
        let newest = state.kept.generations.last()?.number;
        state.files.back().filter(|file| file.id.generation == newest).cloned()
    }

    /// What the log holds up to its published end, with all that was before its first file; `None` before anything was received.
    pub fn gtids(&self) -> Option<Gtids> {
        self.state.lock().gtids.clone()
    }

    /// Where the source can be asked to begin so that something of the newest file is compared: before its last transaction.
    pub(crate) fn compare_from(&self) -> u64 {
        self.state.lock().compare_from
    }

    /// The kind of the log, once it is known.
    pub fn kind(&self) -> Option<Kind> {
        self.generation().map(|generation| generation.source.kind)
    }

    /// Keeps this file, and those behind it, until the pin is dropped.
    pub fn pin(self: &Arc<Self>, file: FileId) -> Pin {
        let mut state = self.state.lock();
        state.last_pin += 1;
        let number = state.last_pin;
        state.pins.insert(number, file);
        Pin { store: self.clone(), number }
    }

    /// An error once a sync has failed: nothing may be received any more.
    ///
    /// # Errors
    /// [`BinlogError::Failed`]
    pub fn check(&self) -> Result<(), BinlogError> {
        self.state.lock().failed.clone().map_or(Ok(()), |why| Err(BinlogError::Failed(why)))
    }

    pub(crate) fn fail(&self, error: &BinlogError) {
        self.state.lock().failed.get_or_insert_with(|| error.to_string());
    }

    /// Begins a generation for another source, or remembers what the same one says now.
    ///
    /// # Errors
    /// When it cannot be kept; then nothing has changed.
    #[io::boxed]
    pub async fn set_source(&self, source: &Source, is_another: bool) -> std::io::Result<()> {
        let mut kept = self.kept();
        let before = self.gtids().filter(|gtids| gtids.kind() == source.kind);
        match kept.generations.last_mut() {
            Some(newest) if !is_another && newest.source == *source => return Ok(()),
            Some(newest) if !is_another => newest.source = source.clone(),
            newest => {
                let number = newest.map_or(0, |newest| newest.number) + 1;
                let before = before.map(|gtids| gtids.whole()).unwrap_or_default();
                kept.generations.push(Generation { number, source: source.clone(), before });
            }
        }
        let newest = kept.generations.last().map(Generation::folder).unwrap_or_default();
        self.env.disk.create_dir(&newest).await?;
        self.env.disk.sync_dir("").await?;
        kept.store(&self.env).await?;
        self.state.lock().kept = kept;
        Ok(())
    }

    /// Publishes a file up to `size`, and what the new bytes hold.
    pub(crate) fn publish(&self, file: FileInfo, notes: &mut Vec<Note>, compare_from: u64) {
        let mut state = self.state.lock();
        state.compare_from = compare_from;
        match state.files.back_mut() {
            Some(newest) if newest.id == file.id => newest.size = file.size,
            _ => state.files.push_back(file),
        }
        for note in notes.drain(..) {
            match (note, &mut state.gtids) {
                (Note::Head(gtids), known) => *known = Some(gtids),
                (Note::Transaction(name), Some(gtids)) => gtids.add(&name),
                // A file is published with its head, so there is one before any transaction.
                (Note::Transaction(_), None) => {}
            }
        }
        drop(state);
        self.changed.notify(usize::MAX);
    }

    /// Ready when there is more than `offset` of a file, or a file behind it.
    pub async fn wait_past(&self, id: FileId, offset: u64) {
        loop {
            let changed = self.changed.listen();
            let has_more = |files: &VecDeque<FileInfo>| match files.back() {
                Some(newest) if newest.id == id => newest.size > offset,
                newest => newest.is_some_and(|newest| newest.id > id),
            };
            if has_more(&self.state.lock().files) {
                return;
            }
            changed.await;
        }
    }
}

/// The number at the end of a log file's name, and what is in front of it.
pub(crate) fn split_name(name: &str) -> Option<(&str, u64)> {
    let (base, digits) = name.rsplit_once('.')?;
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    // Names come from the source; one with a path in it would be a file elsewhere.
    let is_plain = !base.is_empty() && !name.contains('/');
    if is_number && is_plain { Some((base, digits.parse().ok()?)) } else { None }
}

pub(crate) fn io_error(operation: &'static str, file: &str, error: &std::io::Error) -> BinlogError {
    BinlogError::Io { operation, file: file.to_owned(), kind: error.kind(), message: error.to_string() }
}

pub(crate) fn corrupt(file: &str, offset: u64, reason: impl ToString) -> BinlogError {
    BinlogError::Corrupt { file: file.to_owned(), offset, reason: reason.to_string() }
}
