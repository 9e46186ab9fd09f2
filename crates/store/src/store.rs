//! Signatures first; the bodies follow.
use crate::{Merge, MergeOptions, Result, Roots};
use base::{CommitNumber, IndexId, LogPosition};
use bytes::Bytes;
use io::Env;
use std::sync::Arc;

/// How to open a store.
#[derive(Clone, Debug)]
pub struct Options {
    /// Size of the page cache, in bytes.
    pub cache_bytes: u64,
    /// Whether to bypass the operating system's cache.
    pub direct: bool,
}
impl Default for Options {
    fn default() -> Self {
        Options { cache_bytes: 128 << 20, direct: true }
    }
}
/// What the trees on disk are a state of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checkpoint {
    /// The last transaction in it.
    pub commit_number: CommitNumber,
    /// Where the log goes on after it.
    pub log_position: LogPosition,
    /// Whatever the engine wants to find again (small: kilobytes, rewritten with each checkpoint).
    pub meta: Bytes,
}
/// Counters and sizes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Pages of the file.
    pub file_pages: u64,
    /// Pages that can be used at once.
    pub free_pages: u64,
    /// Pages that wait for old roots or superblocks to go.
    pub pending_pages: u64,
    /// Pages that were found in the cache.
    pub cache_hits: u64,
    /// Pages that were read from the file for the cache.
    pub cache_misses: u64,
    /// Pages in the cache.
    pub cache_pages: u64,
    /// Pages that the cache holds at most.
    pub cache_capacity: u64,
    /// Pages read from the file by anyone.
    pub pages_read: u64,
    /// Pages written.
    pub pages_written: u64,
}
/// What [`Store::verify`] counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// Trees.
    pub trees: u64,
    /// Rows.
    pub rows: u64,
    /// Pages of trees.
    pub pages: u64,
}
/// An open data file.
pub struct Store {}
impl Store {
    /// Opens the data file, or creates an empty one.
    pub async fn open(_env: &Env, _path: &str, _options: Options) -> Result<Arc<Store>> {
        unimplemented!()
    }
    /// The newest checkpoint on disk.
    pub fn checkpoint(&self) -> Arc<Checkpoint> {
        unimplemented!()
    }
    /// The newest roots: of the newest finished merge, or of the checkpoint if there was none since.
    pub fn roots(&self) -> Roots {
        unimplemented!()
    }
    /// Begins a merge into the newest roots; waits until no other merge or checkpoint is under way.
    pub async fn merge(self: &Arc<Self>, _from: &Roots, _options: MergeOptions) -> Result<Merge> {
        unimplemented!()
    }
    /// Makes the newest roots durable as a checkpoint.
    pub async fn commit_checkpoint(&self, _roots: &Roots, _checkpoint: Checkpoint) -> Result<()> {
        unimplemented!()
    }
    /// Reads every page of the trees and checks everything that can be checked.
    pub async fn verify(&self, _roots: &Roots) -> Result<Verified> {
        unimplemented!()
    }
    /// Sizes and counters.
    pub fn statistics(&self) -> Statistics {
        unimplemented!()
    }
}
#[allow(dead_code)]
fn _unused(_: IndexId) {}
