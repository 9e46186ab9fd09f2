//! The files: a folder with the source's log files, byte for byte, under the source's names.
//!
//! ```text
//! relay.index      the files' names, one a line, oldest first; replaced as a whole
//! bin.000007 …     as the source wrote them, without the in-use flag
//! relay.lock       held while a relay uses the folder
//! ```
//! One [`Writer`] appends what the receiver gets; any number of [`Reader`]s read up to the durable end and wait there. A file is made
//! and synced before the index names it, and leaves the index before it is removed.
//!
//! The in-use flag of a FORMAT_DESCRIPTION is never set here: the source clears it when it closes a file, so the bytes are those of
//! the closed file from the beginning. No checksum covers it.
//!
//! # Invariants
//! - Readers see synced bytes only, and of the last file only whole transactions. A file that another one follows is complete, and is
//!   seen to its end.
//! - What was synced is never written again. After a failed sync nothing is written at all.
//! - A crash leaves at most a tail of the last file that was not announced; opening cuts it.
//! - The last file is never purged, nor one that is read, nor one behind those.

mod file;
mod open;
mod purge;
mod reader;
mod turn;
mod writer;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use binlog::BinlogError;
use binlog::event::MAGIC;
use event_listener::Event;
use io::{Env, IoBuf, LockGuard, OpenOptions};
use parking_lot::Mutex;

pub(crate) use file::{FileReader, check_place};
pub(crate) use purge::PurgePolicy;
pub(crate) use reader::{Next, Reader};
pub(crate) use writer::Writer;

use crate::error::io_error;
use crate::groups::Executed;

const INDEX: &str = "relay.index";
const INDEX_NEW: &str = "relay.index.new";
const LOCK: &str = "relay.lock";

/// One file, as others see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoredFile {
    /// Counted from the first file that was there when the store was opened.
    pub(crate) number: u64,
    pub(crate) name: Arc<str>,
    /// Up to where it is durable, and can be read.
    pub(crate) size: u64,
    /// Seconds since 1970 when the source began it; 0 if nothing of it is here.
    pub(crate) begun: u32,
}

#[derive(Default)]
struct State {
    files: VecDeque<StoredFile>,
    executed: Executed,
    /// What the last file's FORMAT_DESCRIPTION says.
    version: String,
    with_checksums: bool,
    /// Readers, by the file they are in.
    pins: BTreeMap<u64, u64>,
    next_pin: u64,
    failed: Option<String>,
}

/// The files, for all who read them.
pub(crate) struct Store {
    env: Env,
    state: Mutex<State>,
    changed: Event,
    /// Held by whoever writes the index.
    index: turn::Turn,
    _lock: Box<dyn LockGuard>,
}

/// A source's file name that can be a file's name here.
pub(crate) fn check_name(name: &str) -> Result<(), String> {
    let is_ours = name.starts_with("relay.") || name.ends_with(".pem") || name.ends_with(".new");
    let is_plain = !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\n', '\0']);
    match is_plain && !is_ours && name.len() <= 255 {
        true => Ok(()),
        false => Err(format!("the source's log file '{name}' cannot be a file of that name here")),
    }
}

impl Store {
    /// All files, oldest first.
    pub(crate) fn files(&self) -> Vec<StoredFile> {
        self.state.lock().files.iter().cloned().collect()
    }

    /// The last file: its size is the end of the log.
    pub(crate) fn last(&self) -> Option<StoredFile> {
        self.state.lock().files.back().cloned()
    }

    /// A file by its name.
    pub(crate) fn named(&self, name: &str) -> Option<StoredFile> {
        self.state.lock().files.iter().find(|file| &*file.name == name).cloned()
    }

    /// All transactions up to the end of the log.
    pub(crate) fn executed(&self) -> Executed {
        self.state.lock().executed.clone()
    }

    /// The version of the server that wrote the last file; empty if there is none.
    pub(crate) fn version(&self) -> String {
        self.state.lock().version.clone()
    }

    /// Whether the last file has checksums; so it is taken if there is none.
    pub(crate) fn with_checksums(&self) -> bool {
        let state = self.state.lock();
        state.version.is_empty() || state.with_checksums
    }

    /// Why nothing is written any more, if so.
    pub(crate) fn failure(&self) -> Option<String> {
        self.state.lock().failed.clone()
    }

    fn fail(&self, error: &BinlogError) {
        self.state.lock().failed.get_or_insert_with(|| error.to_string());
        self.changed.notify(usize::MAX);
    }

    /// Ready when there is more behind a position, or another file.
    pub(crate) async fn wait_past(&self, number: u64, offset: u64) {
        loop {
            let changed = self.changed.listen();
            if self.has_more(number, offset) {
                return;
            }
            changed.await;
        }
    }

    /// Whether a [`Reader`] at that position finds something: more of the file, or the beginning of the next one. A file that has a name
    /// and nothing else yet is nothing to read.
    pub(crate) fn has_more(&self, number: u64, offset: u64) -> bool {
        let state = self.state.lock();
        let begun = MAGIC.len() as u64;
        state.files.iter().rev().take_while(|file| file.number >= number).any(|file| {
            (file.number == number && file.size > offset) || (file.number == number + 1 && file.size > begun)
        })
    }

    /// Replaces the index; durable when this returns.
    async fn write_index(&self, names: &[Arc<str>]) -> Result<(), BinlogError> {
        let text: String = names.iter().flat_map(|name| [name, "\n"]).collect();
        let write = async {
            let options = OpenOptions { create: true, write: true, ..OpenOptions::default() };
            let file = self.env.disk.open(INDEX_NEW, options).await?;
            file.set_len(0).await?;
            file.write_at(0, IoBuf::copy_of(text.as_bytes())).await?;
            file.sync().await?;
            self.env.disk.rename(INDEX_NEW, INDEX).await?;
            self.env.disk.sync_dir("").await
        };
        write.await.map_err(|error: std::io::Error| io_error("write", INDEX, &error))
    }
}
