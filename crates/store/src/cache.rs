//! The page cache: a fixed number of checked, immutable pages in memory.
//!
//! Sharded by page number, the numbers of an aligned group of four blocks together. A hit takes a shard's lock shared, clones a
//! reference and allocates nothing; so readers of a page meet only in two atomic counters. A miss registers itself, and whoever
//! wants the same page meanwhile waits for the one read. What goes is chosen by CLOCK with a few bits of heat: a page comes in
//! cold, so that a scan passes through without pushing out what is asked for again and again; inner nodes come in warmer than
//! leaves.
//!
//! # Invariants
//! - A page is found only under its number *and* generation: a page number that was reused never shows its old page.
//! - Cached pages are clean; dropping one loses nothing. Someone who still reads a dropped page keeps its memory.
//! - A load that is given up (its future dropped, an error) wakes those who wait, and one of them loads.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use base::memory::{Uncounted, uncounted};
use event_listener::{Event, EventListener};
use parking_lot::RwLock;

use crate::Result;
use crate::file::DataFile;
use crate::page::{Expected, PAGE_BLOCKS, PAGE_SIZE, Page, PageKind, PageRef, memory};
use crate::space::Run;

/// Pages of a shard at least; more shards than that would make the choice of what goes too local.
const SHARD_PAGES_MIN: usize = 32;
const SHARDS_MAX: usize = 64;
/// Blocks whose pages are in one shard, so that forgetting a page that is not compressed takes one lock and not four.
const GROUP_BLOCKS: usize = 4;
const GROUP_MASK: u64 = GROUP_BLOCKS as u64 - 1;
/// Heat of a page that was asked for since the hand passed.
const HOT: u8 = 3;
/// Pages in one read at most.
const READ_PAGES_MAX: usize = 64;

/// Hashes a page number; they are dense, so a multiplication mixes enough.
#[derive(Default)]
struct PageHasher(u64);

impl Hasher for PageHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0 ^ number).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(26);
    }
}

type PageMap<T> = HashMap<u64, T, BuildHasherDefault<PageHasher>>;

struct Slot {
    generation: u64,
    page: Page,
    heat: AtomicU8,
    /// Where its number is in the ring.
    place: usize,
}

/// A read under way.
#[derive(Default)]
struct Loading {
    page: OnceLock<Page>,
    done: Event,
}

#[derive(Default)]
struct Table {
    slots: PageMap<Slot>,
    /// The keys of `slots`, in the order in which the hand goes round.
    ring: Vec<u64>,
    hand: usize,
    loading: PageMap<(u64, Arc<Loading>)>,
}

#[derive(Default)]
struct Shard {
    table: RwLock<Table>,
    hits: AtomicU64,
    misses: AtomicU64,
}

/// See the module.
pub(crate) struct PageCache {
    shards: Vec<Shard>,
    shard_pages: usize,
}

/// What a miss found.
enum Miss {
    /// It is there after all.
    Hit(Page),
    /// Someone reads it.
    Wait(Arc<Loading>, EventListener),
    /// Nobody does: the caller has to.
    Lead(Arc<Loading>),
}

impl PageCache {
    /// A cache of about `bytes`, at least one shard.
    pub(crate) fn new(bytes: u64) -> Self {
        let pages = usize::try_from(bytes / PAGE_SIZE as u64).unwrap_or(usize::MAX).max(SHARD_PAGES_MIN);
        let count = (pages / SHARD_PAGES_MIN).clamp(1, SHARDS_MAX);
        let count = if count.is_power_of_two() { count } else { count.next_power_of_two() / 2 };
        PageCache { shards: (0..count).map(|_| Shard::default()).collect(), shard_pages: pages / count }
    }

    /// Pages that it holds at most.
    pub(crate) fn capacity(&self) -> usize {
        self.shards.len() * self.shard_pages
    }

    /// Pages that it holds.
    pub(crate) fn len(&self) -> usize {
        self.shards.iter().map(|shard| shard.table.read().ring.len()).sum()
    }

    /// Hits and misses.
    pub(crate) fn counters(&self) -> (u64, u64) {
        let sum = |counter: fn(&Shard) -> &AtomicU64| {
            self.shards.iter().map(|shard| counter(shard).load(Ordering::Relaxed)).sum()
        };
        (sum(|shard| &shard.hits), sum(|shard| &shard.misses))
    }

    /// The page if it is in memory; counts as use.
    pub(crate) fn get(&self, at: PageRef) -> Option<Page> {
        let shard = self.shard(at.number.0);
        let table = shard.table.read();
        let slot = table.slots.get(&at.number.0).filter(|slot| slot.generation == at.generation)?;
        if slot.heat.load(Ordering::Relaxed) != HOT {
            slot.heat.store(HOT, Ordering::Relaxed);
        }
        shard.hits.fetch_add(1, Ordering::Relaxed);
        Some(slot.page.clone())
    }

    /// The page if it is in memory, without making it hotter.
    pub(crate) fn peek(&self, at: PageRef) -> Option<Page> {
        let table = self.shard(at.number.0).table.read();
        table.slots.get(&at.number.0).filter(|slot| slot.generation == at.generation).map(|slot| slot.page.clone())
    }

    /// The page, read from the file if it is not in memory.
    pub(crate) async fn page(&self, file: &DataFile, expected: &Expected) -> Result<Page> {
        match self.get(expected.at) {
            Some(page) => Ok(page),
            None => self.load(file, expected).await,
        }
    }

    /// Puts a page in, cold.
    pub(crate) fn insert(&self, at: PageRef, page: Page, kind: PageKind) {
        let heat = AtomicU8::new(if kind == PageKind::Inner { HOT } else { 1 });
        let slot = Slot { generation: at.generation, page, heat, place: 0 };
        let replaced = self.shard(at.number.0).table.write().insert(at.number.0, slot, self.shard_pages);
        drop(replaced); // after the lock: it may free memory
    }

    /// Drops what nobody can want any more: all pages that begin in some blocks.
    pub(crate) fn forget(&self, run: Run) {
        let mut start = run.start;
        while start < run.end() {
            let end = run.end().min((start | GROUP_MASK) + 1);
            let removed = {
                let mut table = self.shard(start).table.write();
                let mut removed = [const { None }; GROUP_BLOCKS];
                (start..end).zip(&mut removed).for_each(|(number, removed)| *removed = table.remove(number));
                removed
            };
            drop(removed); // after the lock: it frees memory
            start = end;
        }
    }

    /// Reads those that are neither here nor on their way, neighbours with one read. Errors are left to whoever
    /// needs the page.
    pub(crate) async fn prefetch(&self, file: &DataFile, wanted: Vec<Expected>) {
        // Pages are everybody's memory, and not of the connection that was the first to ask for them.
        Uncounted::new(self.read_wanted(file, wanted)).await;
    }

    async fn read_wanted(&self, file: &DataFile, mut wanted: Vec<Expected>) {
        wanted.sort_unstable_by_key(|expected| expected.at);
        let mut leads: Vec<(Expected, Lead<'_>)> = Vec::new();
        for expected in wanted {
            let next_to_last = leads.last().is_some_and(|(last, _)| last.at.is_before(expected.at));
            if !next_to_last || leads.len() >= READ_PAGES_MAX {
                self.read_run(file, &mut leads).await;
            }
            if let Miss::Lead(loading) = self.miss(expected.at) {
                leads.push((expected, Lead { cache: self, at: expected.at, loading }));
            }
        }
        self.read_run(file, &mut leads).await;
    }

    async fn read_run(&self, file: &DataFile, leads: &mut Vec<(Expected, Lead<'_>)>) {
        let Some((first, _)) = leads.first() else { return };
        let start = first.at.number.0;
        let blocks = leads.iter().map(|(expected, _)| u64::from(expected.at.blocks)).sum();
        let mut read = file.read(Run::new(start, blocks), Some(first.index)).await;
        for (expected, lead) in leads.drain(..) {
            let Ok(rest) = &mut read else { continue };
            let mut bytes = rest.split_to(expected.at.bytes());
            if expected.at.blocks == PAGE_BLOCKS {
                // Each page has memory of its own, or a single one that stays would keep the whole read. One that is
                // compressed is expanded to such memory anyway.
                bytes = memory::copy_of(&bytes);
            }
            if let Ok(page) = file.check(bytes, &expected) {
                lead.loaded(page, expected.kind);
            }
            if expected.at.blocks < PAGE_BLOCKS {
                // Expanding many takes its time.
                futures_lite::future::yield_now().await;
            }
        }
    }

    async fn load(&self, file: &DataFile, expected: &Expected) -> Result<Page> {
        loop {
            match self.miss(expected.at) {
                Miss::Hit(page) => return Ok(page),
                Miss::Wait(loading, listener) => {
                    listener.await;
                    if let Some(page) = loading.page.get() {
                        return Ok(page.clone());
                    }
                }
                Miss::Lead(loading) => {
                    let lead = Lead { cache: self, at: expected.at, loading };
                    let page = Uncounted::new(file.read_page(expected)).await?;
                    uncounted(|| lead.loaded(page.clone(), expected.kind));
                    return Ok(page);
                }
            }
        }
    }

    fn miss(&self, at: PageRef) -> Miss {
        let shard = self.shard(at.number.0);
        let mut table = shard.table.write();
        if let Some(slot) = table.slots.get(&at.number.0)
            && slot.generation == at.generation
        {
            return Miss::Hit(slot.page.clone());
        }
        if let Some((generation, loading)) = table.loading.get(&at.number.0)
            && *generation == at.generation
        {
            return Miss::Wait(loading.clone(), loading.done.listen());
        }
        let loading = Arc::<Loading>::default();
        table.loading.insert(at.number.0, (at.generation, loading.clone()));
        shard.misses.fetch_add(1, Ordering::Relaxed);
        Miss::Lead(loading)
    }

    fn shard(&self, number: u64) -> &Shard {
        let mixed = (number / GROUP_BLOCKS as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 58;
        &self.shards[mixed as usize & (self.shards.len() - 1)]
    }
}

impl Table {
    /// Puts a page in; gives what had to go for it.
    fn insert(&mut self, number: u64, slot: Slot, most: usize) -> Option<Slot> {
        if let Some(old) = self.slots.get_mut(&number) {
            return Some(std::mem::replace(old, Slot { place: old.place, ..slot }));
        }
        let (place, gone) = if self.ring.len() < most {
            self.ring.push(number);
            (self.ring.len() - 1, None)
        } else {
            let place = self.victim();
            let gone = std::mem::replace(&mut self.ring[place], number);
            (place, self.slots.remove(&gone))
        };
        self.slots.insert(number, Slot { place, ..slot });
        gone
    }

    /// Takes a page out.
    fn remove(&mut self, number: u64) -> Option<Slot> {
        let slot = self.slots.remove(&number)?;
        self.ring.swap_remove(slot.place);
        if let Some(moved) = self.ring.get(slot.place) {
            self.slots.get_mut(moved).expect("the ring has the keys of the slots").place = slot.place;
        }
        if self.hand >= self.ring.len() {
            self.hand = 0;
        }
        Some(slot)
    }

    /// Goes round until something is cold; at most [`HOT`] rounds.
    fn victim(&mut self) -> usize {
        loop {
            let at = self.hand;
            self.hand = (self.hand + 1) % self.ring.len();
            let slot = self.slots.get_mut(&self.ring[at]).expect("the ring has the keys of the slots");
            let heat = slot.heat.get_mut();
            if *heat == 0 {
                return at;
            }
            *heat -= 1;
        }
    }
}

/// The duty to load a page; dropping it wakes those who wait, with the page or without.
struct Lead<'a> {
    cache: &'a PageCache,
    at: PageRef,
    loading: Arc<Loading>,
}

impl Lead<'_> {
    fn loaded(self, page: Page, kind: PageKind) {
        let _ = self.loading.page.set(page.clone());
        self.cache.insert(self.at, page, kind);
    }
}

impl Drop for Lead<'_> {
    fn drop(&mut self) {
        let mut table = self.cache.shard(self.at.number.0).table.write();
        let number = self.at.number.0;
        if table.loading.get(&number).is_some_and(|(_, loading)| Arc::ptr_eq(loading, &self.loading)) {
            table.loading.remove(&number);
        }
        drop(table);
        self.loading.done.notify(usize::MAX);
    }
}
