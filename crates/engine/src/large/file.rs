//! The temporary file of a transaction's runs, one behind the other.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use base::{SqlError, codes};
use bytes::Bytes;
use io::{Env, File, IoBuf, OpenOptions, WriteBehind};
use parking_lot::Mutex;

use super::run::Block;

use crate::error::{EngineError, Result};

/// Names of the files, in the data directory.
const PREFIX: &str = "transaction.";
/// The file system keeps so many bytes to the log and others.
const FREE_SPACE_MARGIN: u64 = 4 << 20;

/// So many blocks that were read last stay in memory.
const CACHED_BLOCKS: usize = 64;

static NEXT_FILE: AtomicU64 = AtomicU64::new(1);

/// Removes what a crash has left.
pub(crate) async fn remove_stale(env: &Env) -> Result<()> {
    let removed = env.remove_stale("", PREFIX).await;
    removed.map_err(|error| EngineError::Io(format!("temporary files of transactions: {error}")))
}

/// A statement cannot put away what it has written (1026).
pub(crate) fn cannot_write(path: &str, reason: impl std::fmt::Display) -> EngineError {
    EngineError::Sql(SqlError::new(codes::ERROR_ON_WRITE, format!("Error writing file '{path}' ({reason})")))
}

/// A file that goes away with its owner.
pub(crate) struct RunFile {
    env: Env,
    pub(super) path: String,
    /// Of this process: its name, and part of each block's checksum.
    pub(super) number: u64,
    file: Arc<dyn File>,
    runs: AtomicU64,
    /// Each at the place that its key gives.
    blocks: Vec<CachedBlock>,
}

/// Number of the run, and the block's place in the file. (A place is used again when its run was dropped.)
pub(super) type BlockKey = (u64, u64);

/// A block that was read, perhaps.
type CachedBlock = Mutex<Option<(BlockKey, Arc<Block>)>>;

impl RunFile {
    /// A new one.
    pub(crate) async fn create(env: &Env) -> Result<Arc<Self>> {
        let number = NEXT_FILE.fetch_add(1, Ordering::Relaxed);
        let path = format!("{PREFIX}{number}");
        let options = OpenOptions { create: true, write: true, ..OpenOptions::default() };
        let file = env.disk.open(&path, options).await.map_err(|error| cannot_write(&path, error))?;
        let blocks = (0..CACHED_BLOCKS).map(|_| Mutex::new(None)).collect();
        Ok(Arc::new(RunFile { env: env.clone(), path, number, file, runs: AtomicU64::new(0), blocks }))
    }

    /// A number for a run.
    pub(super) fn next_run(&self) -> u64 {
        self.runs.fetch_add(1, Ordering::Relaxed)
    }

    fn slot(&self, key: BlockKey) -> &CachedBlock {
        &self.blocks[(key.0.wrapping_mul(31).wrapping_add(key.1 >> 15)) as usize % CACHED_BLOCKS]
    }

    pub(super) fn cached(&self, key: BlockKey) -> Option<Arc<Block>> {
        self.slot(key).lock().as_ref().filter(|(other, _)| *other == key).map(|(_, block)| block.clone())
    }

    pub(super) fn cache(&self, key: BlockKey, block: &Arc<Block>) {
        *self.slot(key).lock() = Some((key, block.clone()));
    }

    pub(super) async fn write(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        let failed = |error: std::io::Error| cannot_write(&self.path, error);
        let free = self.env.disk.free_space().await.map_err(failed)?;
        if free < bytes.len() as u64 + FREE_SPACE_MARGIN {
            return Err(cannot_write(&self.path, "OS errno 28 - No space left on device"));
        }
        self.file.write_at(offset, IoBuf::copy_of(bytes)).await.map_err(failed)?;
        Ok(())
    }

    /// Written up to here, by one writer.
    pub(super) async fn write_behind(&self, behind: &mut WriteBehind, end: u64) -> Result<()> {
        behind.grown(&*self.file, end).await.map_err(|error| cannot_write(&self.path, error))
    }

    pub(super) async fn read(&self, offset: u64, length: usize) -> Result<Bytes> {
        let read = self.file.read_at(offset, IoBuf::zeroed(length)).await;
        let bytes = read.map_err(|error| EngineError::Io(format!("Error reading file '{}': {error}", self.path)))?;
        Ok(Bytes::copy_from_slice(&bytes))
    }
}

impl Drop for RunFile {
    fn drop(&mut self) {
        self.env.remove_later(std::mem::take(&mut self.path));
    }
}
