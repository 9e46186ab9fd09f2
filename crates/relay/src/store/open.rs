//! What is there after a start or a crash.
//!
//! | found | done |
//! |---|---|
//! | a transaction in part, or bytes that are no event, at the end of the newest file | cut off, and synced: the source is asked for it again |
//! | the same, with more behind it than can have been unsynced | the same, and a warning: that is damage |
//! | the newest file without its first two events | removed: it was never published |
//! | a number is missing between two files | error: a log does not go on behind a hole |

use std::collections::{BTreeMap, VecDeque};
use std::io::ErrorKind;
use std::sync::Arc;

use base::ErrorClass;
use binlog::event::{ChecksumAlgorithm, MAGIC};
use binlog::{BinlogError, Boundary};
use event_listener::Event;
use io::{Env, OpenOptions};
use parking_lot::Mutex;

use super::head::{self, Head};
use super::purge::PURGED_PREFIX;
use super::window::Window;
use super::writer::{ASKABLE_MAX, BATCH_SIZE};
use super::{FileId, FileInfo, State, Store, corrupt, io_error, path, split_name};
use crate::gtids::{Gtids, Name};
use crate::kept::{Generation, Kept, folder};

/// Held while a relay runs, so that two do not write the same files.
pub const LOCK_FILE: &str = "relay.lock";

/// Why a folder cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process has it.
    #[error("another relay runs on this folder ({LOCK_FILE} is locked)")]
    Locked,
    /// What was kept beside the files.
    #[error("{0}")]
    Kept(std::io::Error),
    /// The files.
    #[error(transparent)]
    Log(#[from] BinlogError),
}

impl OpenError {
    /// What can be done about it.
    pub fn class(&self) -> ErrorClass {
        match self {
            OpenError::Locked => ErrorClass::User,
            OpenError::Kept(_) => ErrorClass::Io,
            OpenError::Log(error) => error.class(),
        }
    }
}

impl Store {
    /// Opens the folder that `env` is rooted at; an empty one is a relay that has received nothing.
    ///
    /// # Errors
    /// [`OpenError`]
    #[io::boxed]
    pub async fn open(env: Env) -> Result<Arc<Self>, OpenError> {
        let lock = env.disk.lock(LOCK_FILE).await.map_err(|error| match error.kind() {
            ErrorKind::WouldBlock => OpenError::Locked,
            _ => OpenError::Kept(error),
        })?;
        let kept = Kept::load(&env).await.map_err(OpenError::Kept)?;
        let mut files = VecDeque::new();
        for generation in &kept.generations {
            files.extend(list(&env, generation).await?);
        }
        let mut state = State {
            kept,
            files,
            gtids: None,
            compare_from: MAGIC.len() as u64,
            pins: BTreeMap::new(),
            last_pin: 0,
            failed: None,
        };
        while !cut_newest(&env, &mut state).await? {}
        let (state, changed) = (Mutex::new(state), Event::new());
        Ok(Arc::new(Store { env, state, changed, blocks: Arc::default(), _lock: lock }))
    }
}

/// A generation's files in their order.
async fn list(env: &Env, generation: &Generation) -> Result<Vec<FileInfo>, BinlogError> {
    let folder = generation.folder();
    let stale = env.remove_stale(&folder, PURGED_PREFIX).await;
    stale.map_err(|error| io_error("remove purged files of", &folder, &error))?;
    let names = env.disk.list(&folder).await.map_err(|error| io_error("list", &folder, &error))?;
    let numbered = |name: String| split_name(&name).map(|(_, number)| number).map(|number| (number, name));
    let mut found: Vec<(u64, String)> = names.into_iter().filter_map(numbered).collect();
    found.sort();
    if let Some(pair) = found.windows(2).find(|pair| pair[0].0 + 1 != pair[1].0) {
        let reason = format!("the next file is {}; what is between them is missing", pair[1].1);
        return Err(corrupt(&format!("{folder}/{}", pair[0].1), 0, reason));
    }
    let mut files = Vec::new();
    for (number, name) in found {
        let id = FileId { generation: generation.number, number };
        let path = path(id, &name);
        let opened = env.disk.open(&path, OpenOptions::default()).await;
        let file = opened.map_err(|error| io_error("open", &path, &error))?;
        let size = file.len().await.map_err(|error| io_error("stat", &path, &error))?;
        let began = match head::read(&mut Window::new(file, path), size).await {
            Ok(Some(head)) => head.began,
            // Of the newest this is looked at again; of others whoever reads them is told.
            Ok(None) | Err(BinlogError::Corrupt { .. }) => 0,
            Err(error) => return Err(error),
        };
        files.push(FileInfo { id, name, size, began });
    }
    Ok(files)
}

/// Cuts the newest file of the log back to the end of its last transaction, and learns what the log holds. False if that file was
/// removed because it was never begun, so that another one is the newest.
async fn cut_newest(env: &Env, state: &mut State) -> Result<bool, BinlogError> {
    let Some(newest) = state.files.back_mut() else {
        // All files are purged, or there were none; what was in them counts.
        let newest = state.kept.generations.last().filter(|newest| !newest.before.is_empty());
        state.gtids = newest.map(Generation::gtids_before).transpose()?;
        return Ok(true);
    };
    let is_newest_generation = state.kept.generations.last().is_some_and(|last| last.number == newest.id.generation);
    let path = newest.path();
    let options = OpenOptions { write: true, ..OpenOptions::default() };
    let file = env.disk.open(&path, options).await.map_err(|error| io_error("open", &path, &error))?;
    let mut window = Window::new(file.clone(), path.clone());
    let Some(head) = head_if_begun(&mut window, newest.size).await? else {
        tracing::info!("{path} was never begun; it is removed");
        drop((file, window));
        env.disk.remove(&path).await.map_err(|error| io_error("remove", &path, &error))?;
        let folder = folder(newest.id.generation);
        env.disk.sync_dir(&folder).await.map_err(|error| io_error("sync folder of", &path, &error))?;
        state.files.pop_back();
        return Ok(false);
    };
    let scanned = scan(&mut window, &head, newest.size).await?;
    // The last file of a source that is not followed any more ends where that left it.
    if scanned.end < newest.size && is_newest_generation {
        if newest.size - scanned.whole_events_end > BATCH_SIZE as u64 {
            let (at, cut) = (scanned.whole_events_end, newest.size - scanned.end);
            tracing::warn!("{path} is damaged at {at} ({}); {cut} bytes are cut off and asked for again", scanned.why);
        }
        file.set_len(scanned.end).await.map_err(|error| io_error("cut", &path, &error))?;
        file.sync().await.map_err(|error| io_error("sync", &path, &error))?;
    }
    newest.size = scanned.end;
    newest.began = head.began;
    state.gtids = Some(scanned.gtids);
    state.compare_from = scanned.compare_from;
    Ok(true)
}

async fn head_if_begun(window: &mut Window, size: u64) -> Result<Option<Head>, BinlogError> {
    match head::read(window, size).await {
        Err(BinlogError::Corrupt { reason, .. }) => {
            tracing::warn!("{} does not begin as a log does: {reason}", window.path());
            Ok(None)
        }
        head => head,
    }
}

struct Scanned {
    /// Behind the last whole transaction.
    end: u64,
    /// Behind the last event that is right.
    whole_events_end: u64,
    gtids: Gtids,
    compare_from: u64,
    /// Why it ends there.
    why: String,
}

/// Reads a file to its end, or to the first bytes that are no event.
async fn scan(window: &mut Window, head: &Head, size: u64) -> Result<Scanned, BinlogError> {
    let mut scanned = Scanned {
        end: head.end,
        whole_events_end: head.end,
        gtids: head.gtids.clone(),
        compare_from: MAGIC.len() as u64,
        why: "an event in part".to_owned(),
    };
    let (mut boundary, mut name, mut is_transaction) = (Boundary::default(), None, false);
    let mut begins = Begins::default();
    loop {
        let at = scanned.whole_events_end;
        let length = match window.load(at, size, head.checksum).await {
            Ok(Some(length)) => length,
            Ok(None) => break,
            Err(BinlogError::Corrupt { reason, .. }) => {
                scanned.why = reason;
                break;
            }
            Err(error) => return Err(error),
        };
        let damaged = |error| corrupt(window.path(), at, error);
        let event = window.event(at, length, head.checksum)?;
        if event.header.event_type.begins_transaction() {
            name = Name::of(&event).map_err(damaged)?;
            is_transaction = true;
        }
        scanned.whole_events_end = at + length;
        if boundary.event(&event).map_err(damaged)? {
            if std::mem::take(&mut is_transaction) && scanned.end <= ASKABLE_MAX {
                begins.add(scanned.end, length);
            }
            scanned.end = scanned.whole_events_end;
            name.take().into_iter().for_each(|name| scanned.gtids.add(&name));
        }
    }
    scanned.compare_from = begins.compare_from(head.checksum);
    Ok(scanned)
}

/// Where the last transactions begin: as many as a batch may have.
#[derive(Default)]
struct Begins {
    offsets: VecDeque<u64>,
    last_event: u64,
}

impl Begins {
    /// One that ends with an event of so many bytes.
    fn add(&mut self, offset: u64, event: u64) {
        self.last_event = event;
        self.offsets.push_back(offset);
        while self.offsets.get(1).is_some_and(|&second| self.is_synced(second)) {
            self.offsets.pop_front();
        }
    }

    /// Whether what is before it was synced, when the last of all was written.
    fn is_synced(&self, offset: u64) -> bool {
        let newest = self.offsets.back().copied().unwrap_or_default();
        offset + BATCH_SIZE as u64 + self.last_event <= newest
    }

    /// From where on to compare with the source. Checksums tell what a crash has torn; where there are none, all is compared that may
    /// not have been synced.
    fn compare_from(&self, checksum: ChecksumAlgorithm) -> u64 {
        let from = if checksum == ChecksumAlgorithm::Crc32 { self.offsets.back() } else { self.offsets.front() };
        from.copied().unwrap_or(MAGIC.len() as u64)
    }
}
