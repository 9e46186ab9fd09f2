//! What the store, its roots and its merges share.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use event_listener::Event;
use io::Env;
use parking_lot::Mutex;

use crate::Result;
use crate::cache::PageCache;
use crate::file::DataFile;
use crate::page::{Expected, Page};
use crate::space::{Run, Space};

/// The file grows by at least this many pages more than needed (256 KiB), and at most [`EXTENT_PAGES_MAX`].
const EXTENT_PAGES_MIN: u64 = 16;
/// 64 MiB.
const EXTENT_PAGES_MAX: u64 = 4096;

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

    /// Up to `most` neighbouring pages for the holder of the gate; grows the file when nothing is free.
    pub(crate) async fn allocate(&self, most: u64) -> Result<Run> {
        for reclaim in [false, true] {
            if reclaim {
                self.reclaim();
            }
            let taken = self.space.lock().take(most);
            if let Some(run) = taken {
                return Ok(run);
            }
        }
        self.grow_and_take(most).await
    }

    /// Makes free what nobody needs any more; the cache forgets it.
    pub(crate) fn reclaim(&self) {
        let reclaimed = self.space.lock().reclaim();
        reclaimed.into_iter().flat_map(|run| run.start..run.end()).for_each(|page| self.cache.forget(page));
    }

    /// Pages in at most so many runs, for the holder of the gate; noted in `allocation`.
    pub(crate) async fn allocate_in_runs(&self, pages: u64, most: usize, allocation: &Allocation) -> Result<Vec<Run>> {
        let found = self.space.lock().take_in_runs(pages, most);
        let runs = match found {
            Some(runs) => runs,
            None => vec![self.grow_and_take(pages).await?],
        };
        runs.iter().for_each(|&run| allocation.add(run));
        Ok(runs)
    }

    async fn grow_and_take(&self, len: u64) -> Result<Run> {
        let old = self.space.lock().file_pages();
        let pages = old + len + (old / 16).clamp(EXTENT_PAGES_MIN, EXTENT_PAGES_MAX);
        self.file.set_pages(pages).await?;
        let mut space = self.space.lock();
        space.grown(pages);
        Ok(space.take_exactly(len).expect("the file has just grown by more than that"))
    }

    /// Gives free pages at the end of the file back to the file system, for the holder of the gate.
    pub(crate) async fn cut_tail(&self) -> Result<()> {
        let cut = {
            let mut space = self.space.lock();
            let pages = space.file_pages();
            // Only what is likely to stay free: the next merge would make the file grow again.
            space.cut_tail(pages / 4, (pages / 16).clamp(EXTENT_PAGES_MIN, EXTENT_PAGES_MAX))
        };
        match cut {
            Some(pages) => self.file.set_pages(pages).await,
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

/// Pages that were allocated for something that is not finished, and the pass through the gate. The last owner's drop
/// makes the pages free again, unless they were kept, and leaves the gate. Each write under way is an owner: so no page
/// is given away while an old write may still reach it, and no checkpoint is written that knows nothing of them.
pub(crate) struct Allocation {
    shared: Arc<Shared>,
    runs: Mutex<Vec<Run>>,
    // Last, so that the pages are free when the gate opens.
    _pass: Pass,
}

impl Allocation {
    pub(crate) fn new(pass: Pass) -> Arc<Self> {
        Arc::new(Allocation { shared: pass.0.clone(), runs: Mutex::default(), _pass: pass })
    }

    /// Adds pages that were allocated.
    pub(crate) fn add(&self, run: Run) {
        crate::space::append(&mut self.runs.lock(), run);
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
