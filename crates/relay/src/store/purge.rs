//! Removing files from the front of the log.
//!
//! Oldest first, so that a crash in between leaves no hole. The newest file is never removed, nor any that a replica is reading or
//! has before it.

use std::time::Duration;

use binlog::BinlogError;

use super::{FileInfo, Store, io_error};
use crate::kept::folder;

/// Names of purged files that are too large to be removed at once, with the file's number behind it: none of the log's.
pub(super) const PURGED_PREFIX: &str = "purged-";

/// What is kept of the log; nothing is purged for a limit that is not set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// A file is removed when it was left by the source so long ago.
    pub age: Option<Duration>,
    /// The oldest files are removed while all together have more bytes.
    pub bytes: Option<u64>,
}

impl Store {
    /// Removes what is beyond the limits. Gives the names of what was removed.
    ///
    /// # Errors
    /// When a file cannot be removed; those before it are gone.
    #[io::boxed]
    pub async fn purge(&self, limits: &Limits) -> Result<Vec<String>, BinlogError> {
        let mut removed = Vec::new();
        while let Some(file) = self.next_to_purge(limits) {
            let path = file.path();
            let aside = format!("{}/{PURGED_PREFIX}{:06}", folder(file.id.generation), file.id.number);
            if let Err(error) = self.env.remove_aside(&path, aside).await {
                // It is still there, so the log still begins with it.
                self.state.lock().files.push_front(file);
                return Err(io_error("remove", &path, &error));
            }
            self.blocks.forget(file.id);
            let folder = folder(file.id.generation);
            self.env.disk.sync_dir(&folder).await.map_err(|error| io_error("sync folder of", &path, &error))?;
            removed.push(file.name);
        }
        if let (Some(first), Some(last)) = (removed.first(), removed.last()) {
            tracing::info!("purged {} files: {first} to {last}", removed.len());
        }
        Ok(removed)
    }

    /// Takes the oldest file out of the log if it is to go.
    fn next_to_purge(&self, limits: &Limits) -> Option<FileInfo> {
        let now = self.env.clock.now().0 / 1_000_000;
        let mut state = self.state.lock();
        let oldest = state.files.front().filter(|_| state.files.len() > 1)?;
        if state.pins.values().any(|&pinned| pinned <= oldest.id) {
            return None;
        }
        // It was written to until the next one began; of a damaged one that is not known, so whatever began later says it.
        let left = state.files.iter().skip(1).map(|file| u64::from(file.began)).find(|&began| began > 0);
        let is_old = limits.age.is_some_and(|age| left.is_some_and(|left| now.saturating_sub(left) > age.as_secs()));
        let total: u64 = state.files.iter().map(|file| file.size).sum();
        let is_too_much = limits.bytes.is_some_and(|bytes| total > bytes);
        if is_old || is_too_much { state.files.pop_front() } else { None }
    }
}
