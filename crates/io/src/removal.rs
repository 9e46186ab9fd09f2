//! Removing and shortening large files so that nobody else's sync waits for it.
//!
//! A file system gives back the blocks of a removed file in one transaction of its journal, which the next sync of any file has to wait
//! for: 5 GB hold each sync up for a tenth of a second and more, for some seconds (ext4 that tells the disk what it does not need). So
//! large files are cut off piece by piece, with pauses, and only then removed; of all files together one piece at a time.
//!
//! # Invariants
//! - A name is free when the call returns that says so, although the bytes are still going.
//! - When there is little room on the disk, nothing is put off.

use std::io::{ErrorKind, Result};
use std::sync::Arc;
use std::time::Duration;

use crate::{Env, File, OpenOptions};

/// What is cut off at once, and the least size of a file that is not removed in one piece.
const PIECE: u64 = 32 << 20;
/// Between two pieces.
const PAUSE: Duration = Duration::from_millis(40);
/// Nothing is put off if fewer bytes are free.
const ROOM_MIN: u64 = 1 << 30;
/// Behind the names of stale files that are still to be removed.
const STALE_SUFFIX: &str = ".removed";

/// Large files of one [`Env`] that are being removed or shortened: they take turns.
#[derive(Clone, Debug, Default)]
pub struct Removals(Arc<tokio::sync::Mutex<()>>);

impl Env {
    /// Removes a temporary file whose owner is being dropped: by a task, because dropping cannot wait.
    pub fn remove_later(&self, path: String) {
        let env = self.clone();
        let remove = async move {
            if let Err(error) = env.remove_in_pieces(&path).await {
                tracing::warn!(%path, %error, "a temporary file could not be removed");
            }
        };
        self.spawner.spawn("remove temporary file", Box::pin(remove));
    }

    /// Removes a file. A large one is called `aside` from then on, until a task has removed it; after a crash there may be one of either
    /// name.
    pub async fn remove_aside(&self, path: &str, aside: String) -> Result<()> {
        let size = self.disk.open(path, OpenOptions::default()).await?.len().await?;
        if size <= PIECE || self.is_short_of_room().await? {
            return self.disk.remove(path).await;
        }
        if aside != path {
            self.disk.rename(path, &aside).await?;
        }
        self.remove_later(aside);
        Ok(())
    }

    /// Removes the temporary files of a directory whose names begin so: what a crash has left of them. Their names can be given again
    /// when this returns.
    pub async fn remove_stale(&self, dir: &str, prefix: &str) -> Result<()> {
        for name in self.disk.list(dir).await?.iter().filter(|name| name.starts_with(prefix)) {
            let path = if dir.is_empty() { name.clone() } else { format!("{dir}/{name}") };
            let aside = format!("{}{STALE_SUFFIX}", path.trim_end_matches(STALE_SUFFIX));
            match self.remove_aside(&path, aside).await {
                // Whoever was just closed is still at it.
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                result => result?,
            }
        }
        Ok(())
    }

    /// Gives back what a file has behind `len`, which is before its end.
    pub async fn shorten(&self, file: &dyn File, len: u64) -> Result<()> {
        let mut end = file.len().await?;
        while end.saturating_sub(len) > PIECE && !self.is_short_of_room().await? {
            let turn = self.removals.0.lock().await;
            end -= PIECE;
            file.set_len(end).await?;
            self.clock.sleep(PAUSE).await;
            drop(turn);
        }
        file.set_len(len).await
    }

    async fn remove_in_pieces(&self, path: &str) -> Result<()> {
        let write = OpenOptions { write: true, ..OpenOptions::default() };
        let file = self.disk.open(path, write).await?;
        if file.len().await? > PIECE {
            // A crash must not bring back the name that it had, of a part of it.
            self.disk.sync_dir(path.rsplit_once('/').map_or("", |(dir, _)| dir)).await?;
            self.shorten(&*file, PIECE).await?;
        }
        drop(file);
        self.disk.remove(path).await
    }

    async fn is_short_of_room(&self) -> Result<bool> {
        Ok(self.disk.free_space().await? < ROOM_MIN)
    }
}
