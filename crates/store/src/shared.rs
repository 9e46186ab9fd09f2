//! What the store, its roots and its merges share.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use event_listener::Event;
use io::Env;
use parking_lot::Mutex;

use crate::Result;
use crate::cache::PageCache;
use crate::file::DataFile;
use crate::page::{Expected, PAGE_BLOCKS, Page};
use crate::space::{Run, Space};

/// The file grows by at least this many blocks more than needed (256 KiB), and at most [`EXTENT_BLOCKS_MAX`].
const EXTENT_BLOCKS_MIN: u64 = 64;
/// 64 MiB.
const EXTENT_BLOCKS_MAX: u64 = 16384;

/// What a file of so many blocks grows by, in whole pages.
fn extent(file_blocks: u64) -> u64 {
    let pages = file_blocks / 16 / u64::from(PAGE_BLOCKS);
    (pages * u64::from(PAGE_BLOCKS)).clamp(EXTENT_BLOCKS_MIN, EXTENT_BLOCKS_MAX)
}

/// The parts of an open file.
pub(crate) struct Shared {
    pub(crate) env: Env,
    pub(crate) file: DataFile,
    pub(crate) cache: PageCache,
    /// Taken alone, never with another lock, never across an await.
    pub(crate) space: Mutex<Space>,
    pub(crate) gate: Gate,
    /// The generation given last.
    generation: AtomicU64,
}

impl Shared {
    pub(crate) fn new(env: Env, file: DataFile, cache: PageCache, space: Space, generation: u64) -> Arc<Self> {
        Arc::new(Shared {
            env,
            file,
            cache,
            space: Mutex::new(space),
            gate: Gate::default(),
            generation: AtomicU64::new(generation),
        })
    }

    /// A page through the cache.
    pub(crate) async fn page(&self, expected: &Expected) -> Result<Page> {
        self.cache.page(&self.file, expected).await
    }

    /// A generation above all that were given.
    pub(crate) fn next_generation(&self) -> u64 {
        self.generation.fetch_add(1, Ordering::SeqCst) + 1
    }

    /// From `least` to `most` neighbouring blocks for the holder of the gate; grows the file when nothing is free.
    pub(crate) async fn allocate(&self, least: u64, most: u64) -> Result<Run> {
        for reclaim in [false, true] {
            if reclaim {
                self.reclaim();
            }
            let taken = self.space.lock().take(least, most);
            if let Some(run) = taken {
                return Ok(run);
            }
        }
        self.grow_and_take(most).await
    }

    /// Makes free what nobody needs any more; the cache forgets it.
    pub(crate) fn reclaim(&self) {
        let reclaimed = self.space.lock().reclaim();
        reclaimed.into_iter().for_each(|run| self.cache.forget(run));
    }

    /// Whole pages in at most so many runs, for the holder of the gate; noted in `allocation`.
    pub(crate) async fn allocate_in_runs(&self, pages: u64, most: usize, allocation: &Allocation) -> Result<Vec<Run>> {
        let found = self.space.lock().take_in_runs(pages, most);
        let runs = match found {
            Some(runs) => runs,
            None => vec![self.grow_and_take(pages * u64::from(PAGE_BLOCKS)).await?],
        };
        runs.iter().for_each(|&run| allocation.add(run));
        Ok(runs)
    }

    async fn grow_and_take(&self, len: u64) -> Result<Run> {
        let old = self.space.lock().file_blocks();
        let blocks = old + len + extent(old);
        self.file.set_blocks(blocks).await?;
        let mut space = self.space.lock();
        space.grown(blocks);
        Ok(space.take_exactly(len).expect("the file has just grown by more than that"))
    }

    /// Gives free blocks at the end of the file back to the file system, for the holder of the gate.
    pub(crate) async fn cut_tail(&self) -> Result<()> {
        let cut = {
            let mut space = self.space.lock();
            let blocks = space.file_blocks();
            // Only what is likely to stay free: the next merge would make the file grow again.
            space.cut_tail(blocks / 4, extent(blocks))
        };
        match cut {
            Some(blocks) => self.file.cut(&self.env, blocks).await,
            None => Ok(()),
        }
    }
}

/// One writer at a time: a merge or a checkpoint.
#[derive(Default)]
pub(crate) struct Gate {
    taken: AtomicBool,
    left: Event,
}

/// Passed the gate; leaves it when dropped.
pub(crate) struct Pass(Arc<Shared>);

impl Shared {
    /// Waits for the gate.
    pub(crate) async fn enter(self: &Arc<Self>) -> Pass {
        loop {
            let listener = self.gate.left.listen();
            if !self.gate.taken.swap(true, Ordering::SeqCst) {
                return Pass(self.clone());
            }
            listener.await;
        }
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        self.0.gate.taken.store(false, Ordering::SeqCst);
        self.0.gate.left.notify(1);
    }
}

/// Blocks that were allocated for something that is not finished, and the pass through the gate. The last owner's drop
/// makes them free again, unless they were kept, and leaves the gate. Each write under way is an owner: so no block
/// is given away while an old write may still reach it, and no checkpoint is written that knows nothing of them.
pub(crate) struct Allocation {
    shared: Arc<Shared>,
    runs: Mutex<Vec<Run>>,
    // Last, so that the blocks are free when the gate opens.
    _pass: Pass,
}

impl Allocation {
    pub(crate) fn new(pass: Pass) -> Arc<Self> {
        Arc::new(Allocation { shared: pass.0.clone(), runs: Mutex::default(), _pass: pass })
    }

    /// Adds blocks that were allocated.
    pub(crate) fn add(&self, run: Run) {
        crate::space::append(&mut self.runs.lock(), run);
    }

    /// Makes some of them free at once: nothing was written there.
    pub(crate) fn give_back(&self, run: Run) {
        if run.len == 0 {
            return;
        }
        let mut runs = self.runs.lock();
        let holds = |whole: &Run| whole.start <= run.start && run.end() <= whole.end();
        // It was added a moment ago.
        let at = runs.iter().rposition(holds).expect("only what was allocated is given back");
        let whole = runs[at];
        let parts = [Run::new(whole.start, run.start - whole.start), Run::new(run.end(), whole.end() - run.end())];
        runs.splice(at..=at, parts.into_iter().filter(|part| part.len > 0));
        drop(runs);
        self.shared.space.lock().release(run);
    }

    /// What was allocated is part of a state now.
    pub(crate) fn keep(&self) {
        self.runs.lock().clear();
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        let runs = std::mem::take(self.runs.get_mut());
        let mut space = self.shared.space.lock();
        runs.into_iter().for_each(|run| space.release(run));
    }
}
