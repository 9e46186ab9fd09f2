//! Which blocks can be used, and which have to wait for whom. What is said of a page here is said of each of its blocks.
//!
//! A page is part of every state from the generation that created it up to, not including, the generation that freed
//! it. So a freed page is *pending* with the interval `[created, freed)`, and can be used again as soon as no
//! generation that somebody still needs lies in it: none of the live [`Roots`](crate::Roots), and neither of the two
//! superblocks. A page that was created after an old read view and freed before the next one is reusable at once.
//!
//! ```text
//! generation       5     6     7     8     9
//! live                   R           S                R = an old read view, S = a superblock
//! page a           [created        freed)             waits for R
//! page b                       [cr.  freed)           reusable: neither R nor S lies in [7, 8)
//! ```
//!
//! The intervals are right because states form one chain: each merge starts from the newest roots.
//!
//! What is free is written with each checkpoint, as of that checkpoint. After a crash the pages of an unfinished
//! merge are therefore found where they were: among the free ones, or beyond the end of the file as it was.
//!
//! # Invariants
//! - Every block of the file is in exactly one place: reachable from the newest roots, part of the newest
//!   manifest, free, pending, or allocated by the merge under way.
//! - Memory is in proportion to the number of runs, not of blocks.

mod runs;

use std::collections::BTreeMap;

pub(crate) use runs::{Run, Runs, append};

use crate::page::PAGE_BLOCKS;

/// Blocks that were part of the generations from `.0` up to, not including, `.1`.
pub(crate) type Interval = (u64, u64);

/// Blocks of the superblocks, which are never free.
pub(crate) const FIRST_BLOCK: u64 = 2 * PAGE_BLOCKS as u64;

/// The state of every block that is not part of the newest trees.
#[derive(Debug, Default)]
pub(crate) struct Space {
    file_blocks: u64,
    free: Runs,
    pending: BTreeMap<Interval, Vec<Run>>,
    /// Live roots: generation and number of them.
    live: BTreeMap<u64, usize>,
    /// Generations of the superblocks that can be opened.
    superblocks: [Option<u64>; 2],
}

impl Space {
    /// The space of a file that was just opened: nothing but the superblocks needs anything.
    pub(crate) fn open(file_blocks: u64, superblocks: [Option<u64>; 2]) -> Self {
        Space { file_blocks, superblocks, ..Space::default() }
    }

    pub(crate) fn file_blocks(&self) -> u64 {
        self.file_blocks
    }

    pub(crate) fn free(&self) -> &Runs {
        &self.free
    }

    pub(crate) fn pending(&self) -> &BTreeMap<Interval, Vec<Run>> {
        &self.pending
    }

    /// Blocks that wait.
    pub(crate) fn pending_blocks(&self) -> u64 {
        self.pending.values().flatten().map(|run| run.len).sum()
    }

    /// Adds blocks that nobody can reach.
    pub(crate) fn release(&mut self, run: Run) {
        self.free.insert(run);
    }

    /// Adds blocks that the states of an interval can reach.
    pub(crate) fn retire(&mut self, interval: Interval, runs: impl IntoIterator<Item = Run>) {
        for run in runs {
            append(self.pending.entry(interval).or_default(), run);
        }
    }

    /// From `least` up to `most` neighbouring free blocks.
    pub(crate) fn take(&mut self, least: u64, most: u64) -> Option<Run> {
        self.free.take(least, most)
    }

    /// Whole pages that are neighbours, up to `most` of them.
    pub(crate) fn take_pages(&mut self, most: u64) -> Option<Run> {
        let whole = u64::from(PAGE_BLOCKS);
        let run = self.take(whole, most * whole)?;
        let taken = Run::new(run.start, run.len / whole * whole);
        self.release(Run::new(taken.end(), run.len - taken.len));
        Some(taken)
    }

    /// Exactly `len` neighbouring free blocks.
    pub(crate) fn take_exactly(&mut self, len: u64) -> Option<Run> {
        self.free.take_exactly(len)
    }

    /// So many whole pages, as neighbours if there are, else in at most `most` runs.
    pub(crate) fn take_in_runs(&mut self, pages: u64, most: usize) -> Option<Vec<Run>> {
        let whole = u64::from(PAGE_BLOCKS);
        if let Some(run) = self.take_exactly(pages * whole) {
            return Some(vec![run]);
        }
        let (mut runs, mut left) = (Vec::new(), pages);
        while left > 0 && runs.len() < most {
            let Some(run) = self.take_pages(left) else { break };
            left -= run.len / whole;
            runs.push(run);
        }
        if left == 0 {
            return Some(runs);
        }
        runs.into_iter().for_each(|run| self.release(run));
        None
    }

    /// The file has grown.
    pub(crate) fn grown(&mut self, file_blocks: u64) {
        assert!(file_blocks >= self.file_blocks);
        self.free.insert(Run::new(self.file_blocks, file_blocks - self.file_blocks));
        self.file_blocks = file_blocks;
    }

    /// Cuts free blocks off the end, all but `slack`, if there are `least`; says how long the file is then.
    pub(crate) fn cut_tail(&mut self, least: u64, slack: u64) -> Option<u64> {
        let cut = self.free.take_tail(self.file_blocks, least, slack)?;
        self.file_blocks = cut.start;
        Some(self.file_blocks)
    }

    /// New roots of a generation live.
    pub(crate) fn pin(&mut self, generation: u64) {
        *self.live.entry(generation).or_default() += 1;
    }

    /// Roots of a generation are gone.
    pub(crate) fn unpin(&mut self, generation: u64) {
        let count = self.live.get_mut(&generation).expect("only what was pinned is unpinned");
        *count -= 1;
        if *count == 0 {
            self.live.remove(&generation);
        }
    }

    /// A superblock was replaced.
    pub(crate) fn set_superblock(&mut self, slot: usize, generation: u64) {
        self.superblocks[slot] = Some(generation);
    }

    /// Makes free what nobody needs any more, and says what that is.
    pub(crate) fn reclaim(&mut self) -> Vec<Run> {
        let mut reclaimed = Vec::new();
        let (live, superblocks, free) = (&self.live, &self.superblocks, &mut self.free);
        self.pending.retain(|&(created, freed), runs| {
            let in_interval = |generation: &u64| (created..freed).contains(generation);
            let needed = live.range(created..freed.max(created)).next().is_some()
                || superblocks.iter().flatten().any(in_interval);
            if !needed {
                runs.iter().for_each(|&run| free.insert(run));
                reclaimed.append(runs);
            }
            needed
        });
        reclaimed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_waits_for_those_in_its_interval_only() {
        let mut space = Space::open(100, [Some(5), Some(8)]);
        space.pin(6);
        space.retire((4, 7), [Run::new(10, 1)]); // superblock 5 and roots 6
        space.retire((6, 8), [Run::new(20, 1)]); // roots 6
        space.retire((7, 8), [Run::new(30, 1)]); // nobody
        space.retire((8, 9), [Run::new(40, 1)]); // superblock 8
        space.retire((9, 9), [Run::new(50, 1)]); // nobody ever
        space.reclaim();
        assert_eq!(space.free().iter().collect::<Vec<_>>(), [Run::new(30, 1), Run::new(50, 1)]);
        space.unpin(6);
        space.reclaim();
        assert_eq!(space.free().blocks(), 3);
        space.set_superblock(0, 9);
        space.reclaim();
        assert_eq!((space.free().blocks(), space.pending_blocks()), (4, 1));
    }
}
