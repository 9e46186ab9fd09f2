//! Opening, checkpoints, and the newest roots.
//!
//! # A checkpoint, step by step
//! 1. The pages of merges since the last one are in the file, written but not synced.
//! 2. The manifest (trees, free pages, the engine's bytes) is written into free pages.
//! 3. Sync: everything that the new superblock will refer to is durable.
//! 4. The superblock is written over the older one, or over either if they are equal. 5. Sync: the checkpoint is there.
//! 6. The same superblock is written over the other one. 7. Sync: the pages of the checkpoint before can be used again.
//!
//! A crash in 1 to 3 leaves both superblocks, and the newer one's pages, untouched: what was written lies in pages that
//! were free as of both, so the manifest finds them free again. A crash in 4 or 5 leaves the new superblock whole, or
//! not valid, and then the other one is the newest; its pages were not touched either. A crash in 6 or 7 leaves
//! the new one whole in its first place. A failure of 3 to 7 is final: what is on disk is not known, so nothing is
//! written until the file is opened anew.
//!
//! Steps 6 and 7 are not needed to survive a crash. They make the superblocks copies of one another, so that one that
//! decays later is no loss (to go on with an older checkpoint would need a log that may have been purged), and they
//! let go of the older checkpoint's pages at once: a file in which every merge changes every leaf takes twice its live
//! data, not three times.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use base::{CommitNumber, IndexId, LogPosition};
use bytes::Bytes;
use io::{Env, IoBuf};
use parking_lot::Mutex;
use xxhash_rust::xxh3::xxh3_64;

use crate::cache::PageCache;
use crate::manifest;
use crate::merge::Flight;
use crate::open::{Opened, open};
use crate::page::{BLOCK_SIZE, CAPACITY, Header, PAGE_BLOCKS, PAGE_SIZE, PageKind, PageRef, fill_payload, seal};
use crate::shared::{Allocation, Shared};
use crate::space::{Interval, Run};
use crate::superblock::{Superblock, number_of};
use crate::{Merge, MergeOptions, Result, Roots, StoreError};

/// Each opening begins a new epoch of this many generations: pages that an unfinished merge left before a crash can
/// never be taken for those of a later one.
const EPOCH_GENERATIONS: u64 = 1 << 20;
/// How to open a store.
#[derive(Clone, Debug)]
pub struct Options {
    /// Size of the page cache, in bytes.
    pub cache_bytes: u64,
    /// Whether to bypass the operating system's cache (`O_DIRECT`).
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
    /// Bytes of the file.
    pub file_bytes: u64,
    /// Bytes that can be used at once.
    pub free_bytes: u64,
    /// Bytes that wait for old roots or superblocks to go.
    pub pending_bytes: u64,
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
    /// Bytes read from the file by anyone: fewer than those of the pages, where they are compressed.
    pub bytes_read: u64,
    /// Bytes written.
    pub bytes_written: u64,
}

/// An open data file.
pub struct Store {
    shared: Arc<Shared>,
    newest: Mutex<Roots>,
    durable: Mutex<Durable>,
}

/// What is on disk.
#[derive(Clone)]
struct Durable {
    checkpoint: Arc<Checkpoint>,
    superblock: Superblock,
    /// The slot of the newest superblock.
    slot: usize,
    /// Blocks of its manifest.
    manifest: Vec<Run>,
}

impl Store {
    /// Opens the data file, or creates an empty one.
    ///
    /// # Errors
    /// [`StoreError::Unusable`] if neither superblock is valid, [`StoreError::Corrupt`] if the manifest is not.
    #[io::boxed]
    pub async fn open(env: &Env, path: &str, options: Options) -> Result<Arc<Store>> {
        let Opened { file, space, trees, checkpoint, superblock, slot, manifest } = open(env, path, &options).await?;
        let epoch = (superblock.generation / EPOCH_GENERATIONS + 1) * EPOCH_GENERATIONS;
        let shared = Shared::new(env.clone(), file, PageCache::new(options.cache_bytes), space, epoch);
        let roots = Roots::pin(shared.clone(), superblock.generation, Arc::new(trees));
        let durable = Mutex::new(Durable { checkpoint: Arc::new(checkpoint), superblock, slot, manifest });
        Ok(Arc::new(Store { shared, newest: Mutex::new(roots), durable }))
    }

    /// The newest checkpoint on disk.
    pub fn checkpoint(&self) -> Arc<Checkpoint> {
        self.durable.lock().checkpoint.clone()
    }

    /// The newest roots: of the newest finished merge, or of the checkpoint if there was none since.
    pub fn roots(&self) -> Roots {
        self.newest.lock().clone()
    }

    /// Begins a merge into the newest roots; waits until no other merge or checkpoint is under way.
    ///
    /// # Errors
    /// [`StoreError::NotNewest`] if `from` is not the newest by then.
    #[io::boxed]
    pub async fn merge<'a>(self: &'a Arc<Self>, from: &'a Roots, options: MergeOptions) -> Result<Merge> {
        let pass = self.shared.enter().await;
        self.check_newest(from)?;
        self.shared.file.check_failed()?;
        self.shared.reclaim();
        Ok(Merge::new(self.clone(), from.clone(), options, pass))
    }

    /// Makes the newest roots durable as a checkpoint. Waits for a merge that is under way.
    ///
    /// # Errors
    /// [`StoreError::NotNewest`] if `roots` are not the newest. After a failed sync or superblock nothing is written
    /// any more; the disk being full leaves everything as it was.
    #[io::boxed]
    pub async fn commit_checkpoint(&self, roots: &Roots, checkpoint: Checkpoint) -> Result<()> {
        let allocation = Allocation::new(self.shared.enter().await);
        self.check_newest(roots)?;
        let Durable { superblock: old, slot: old_slot, manifest, .. } = self.durable.lock().clone();
        let generation = self.shared.next_generation();
        let retired = ((old.generation, generation), manifest);
        let (written, manifest) = self.write_manifest(roots, &checkpoint, generation, &retired, &allocation).await?;
        self.shared.file.sync().await?;
        self.write_superblock(&written, 1 - old_slot).await?;
        // From here on the checkpoint is there, and no await may come before memory says so too.
        allocation.keep();
        {
            let mut space = self.shared.space.lock();
            space.retire(retired.0, retired.1);
            space.set_superblock(1 - old_slot, generation);
        }
        *self.durable.lock() =
            Durable { checkpoint: Arc::new(checkpoint), superblock: written, slot: 1 - old_slot, manifest };
        self.write_superblock(&written, old_slot).await?;
        self.shared.space.lock().set_superblock(old_slot, generation);
        self.shared.reclaim();
        self.give_back_tail().await;
        Ok(())
    }

    /// Gives what a merge took that found no room in the end back to the file system.
    pub async fn give_back_unused(&self) {
        let _pass = self.shared.enter().await;
        self.give_back_tail().await;
    }

    async fn give_back_tail(&self) {
        if let Err(error) = self.shared.cut_tail().await {
            tracing::warn!(%error, "free pages at the end of the data file were not given back");
        }
    }

    /// Sizes and counters.
    pub fn statistics(&self) -> Statistics {
        let (cache_hits, cache_misses) = self.shared.cache.counters();
        let bytes = |blocks: u64| blocks * BLOCK_SIZE as u64;
        let counter = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let traffic = self.shared.file.traffic();
        let space = self.shared.space.lock();
        Statistics {
            file_bytes: bytes(space.file_blocks()),
            free_bytes: bytes(space.free().blocks()),
            pending_bytes: bytes(space.pending_blocks()),
            cache_hits,
            cache_misses,
            cache_pages: self.shared.cache.len() as u64,
            cache_capacity: self.shared.cache.capacity() as u64,
            pages_read: counter(&traffic.pages_read),
            pages_written: counter(&traffic.pages_written),
            bytes_read: bytes(counter(&traffic.blocks_read)),
            bytes_written: bytes(counter(&traffic.blocks_written)),
        }
    }

    /// Indexes of which something could not be read since the file was opened, by anybody, and that were not forgotten since.
    pub fn noted_damage(&self) -> Vec<IndexId> {
        self.shared.file.damaged()
    }

    /// Forgets what was noted of an index: before damage is looked for anew, or when it was made good.
    pub fn forget_damage(&self, index: IndexId) {
        self.shared.file.forget_damage(index);
    }

    /// Ready when something of an index cannot be read that was not noted yet.
    pub fn listen_for_damage(&self) -> event_listener::EventListener {
        self.shared.file.listen_for_damage()
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// Blocks of the newest manifest.
    pub(crate) fn manifest_blocks(&self) -> Vec<Run> {
        self.durable.lock().manifest.clone()
    }

    pub(crate) fn set_newest(&self, roots: Roots) {
        let old = std::mem::replace(&mut *self.newest.lock(), roots);
        drop(old); // after the lock: the last owner of roots takes the lock of the space
    }

    fn check_newest(&self, roots: &Roots) -> Result<()> {
        let (given, newest) = (roots.generation(), self.newest.lock().generation());
        if given == newest { Ok(()) } else { Err(StoreError::NotNewest { given, newest }) }
    }

    /// Writes a manifest into pages of its own; gives the superblock that refers to it, and the pages.
    async fn write_manifest(
        &self,
        roots: &Roots,
        checkpoint: &Checkpoint,
        generation: u64,
        retired: &(Interval, Vec<Run>),
        allocation: &Arc<Allocation>,
    ) -> Result<(Superblock, Vec<Run>)> {
        // The manifest lists what is free without its own pages, so taking pages changes it a little.
        let (mut runs, mut pages) = (Vec::new(), 0);
        let (bytes, file_blocks) = loop {
            let (bytes, file_blocks) = {
                let space = self.shared.space.lock();
                (manifest::encode(roots.trees(), &space, retired, &checkpoint.meta), space.file_blocks())
            };
            let missing = (bytes.len().div_ceil(CAPACITY) as u64).saturating_sub(pages);
            if missing == 0 {
                break (bytes, file_blocks);
            }
            let run = self.shared.allocate(PAGE_BLOCKS.into(), missing * u64::from(PAGE_BLOCKS)).await?;
            allocation.add(run);
            let whole = run.len / u64::from(PAGE_BLOCKS);
            let used = Run::new(run.start, whole * u64::from(PAGE_BLOCKS));
            allocation.give_back(Run::new(used.end(), run.len - used.len));
            runs.push(used);
            pages += whole;
        };
        let superblock = Superblock {
            generation,
            commit_number: checkpoint.commit_number,
            log_position: checkpoint.log_position,
            file_blocks,
            manifest_start: runs[0].start,
            manifest_pages: pages,
            manifest_size: bytes.len() as u64,
            manifest_hash: xxh3_64(&bytes),
        };
        let numbers: Vec<u64> =
            runs.iter().flat_map(|run| (run.start..run.end()).step_by(PAGE_BLOCKS.into())).collect();
        let mut payloads = bytes.chunks(CAPACITY);
        let mut flight = Flight::new(self.shared.clone(), allocation.clone());
        for (place, &number) in numbers.iter().enumerate() {
            let next = numbers.get(place + 1).copied().unwrap_or_default();
            let header = Header { next, ..Header::plain(IndexId(0), PageKind::Manifest, place as u64) };
            let mut buf = IoBuf::zeroed(PAGE_SIZE);
            let header = fill_payload(&mut buf, header, payloads.next().unwrap_or_default());
            seal(&mut buf, PageRef::plain(number, generation), &header);
            flight.write(number, 1, buf).await?;
        }
        flight.land().await?;
        Ok((superblock, runs))
    }

    async fn write_superblock(&self, superblock: &Superblock, slot: usize) -> Result<()> {
        let unsure = self.shared.file.unsure("a superblock was given up in its middle");
        let mut buf = IoBuf::zeroed(PAGE_SIZE);
        superblock.encode(slot as u64, &mut buf);
        let written = match self.shared.file.write(number_of(slot as u64), 1, buf).await {
            Ok(_) => self.shared.file.sync().await,
            Err(error) => Err(error),
        };
        unsure.settle(&written);
        written
    }
}
