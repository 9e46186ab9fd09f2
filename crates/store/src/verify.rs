//! Reading everything and checking everything: every page's checksum and place, the order of keys, that keys lie within
//! what their parents say, counts and hashes from the rows up, and that every block of the file has one owner.

use base::{IndexId, PageNumber};
use bytes::Bytes;

use crate::manifest::Tree;
use crate::page::leaf::Overflow;
use crate::page::{Page, PageRef, row_hash};
use crate::space::{FIRST_BLOCK, Run};
use crate::{Result, Roots, Store, StoreError, overflow};

/// What [`Store::verify`] counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// Trees.
    pub trees: u64,
    /// Rows.
    pub rows: u64,
    /// Pages of trees.
    pub pages: u64,
    /// Blocks of the file that have no owner. For the newest roots 0, unless a tree with a damaged inner node was dropped; not counted
    /// for others.
    pub lost: u64,
}

/// Blocks that were met.
struct Met(Vec<u64>);

impl Met {
    fn new(blocks: u64) -> Self {
        Met(vec![0; blocks.div_ceil(64) as usize])
    }

    /// Notes a block; false if it was met before or is beyond the file.
    fn note(&mut self, block: u64) -> bool {
        let Some(word) = self.0.get_mut((block / 64) as usize) else { return false };
        let mask = 1 << (block % 64);
        let new = *word & mask == 0;
        *word |= mask;
        new
    }
}

/// A node that is still to be visited, and what its parent says of it.
struct Visit {
    at: PageRef,
    level: u8,
    lower: Bytes,
    upper: Option<Bytes>,
    rows: u64,
    hash: u64,
}

struct Verifier<'a> {
    roots: &'a Roots,
    met: Met,
    verified: Verified,
}

impl Store {
    /// Reads every page of the trees and checks everything that can be checked. Waits for a merge that is under way,
    /// and lets none begin meanwhile.
    ///
    /// # Errors
    /// The first thing that does not hold, as [`StoreError::Corrupt`].
    #[io::boxed]
    pub async fn verify(&self, roots: &Roots) -> Result<Verified> {
        let _pass = self.shared().enter().await;
        let file_blocks = self.shared().space.lock().file_blocks();
        let mut verifier = Verifier { roots, met: Met::new(file_blocks), verified: Verified::default() };
        for index in roots.indexes() {
            verifier.tree(index, roots.tree(index).expect("indexes have trees")).await?;
        }
        if roots.generation() == self.roots().generation() {
            let owned: Vec<Run> = {
                let space = self.shared().space.lock();
                space.free().iter().chain(space.pending().values().flatten().copied()).collect()
            };
            for run in owned.into_iter().chain(self.manifest_blocks()).chain([Run::new(0, FIRST_BLOCK)]) {
                verifier.note(None, run)?;
            }
            verifier.verified.lost = (0..file_blocks).filter(|&block| verifier.met.note(block)).count() as u64;
        }
        Ok(verifier.verified)
    }
}

impl Verifier<'_> {
    fn wrong(&self, index: Option<IndexId>, page: PageNumber, what: impl Into<String>) -> StoreError {
        self.roots.shared().file.corrupt(page, index, what.into())
    }

    fn note(&mut self, index: Option<IndexId>, run: Run) -> Result<()> {
        match (run.start..run.end()).find(|&block| !self.met.note(block)) {
            Some(block) => Err(self.wrong(index, PageNumber(block), "it has two owners, or is beyond the file")),
            None => Ok(()),
        }
    }

    async fn tree(&mut self, index: IndexId, tree: &Tree) -> Result<()> {
        let mut counts = Tree { leaf_pages: 0, inner_pages: 0, overflow_pages: 0, blocks: 0, ..*tree };
        let (at, level) = (tree.root, tree.height - 1);
        let mut visits = vec![Visit { at, level, lower: Bytes::new(), upper: None, rows: tree.rows, hash: tree.hash }];
        while let Some(visit) = visits.pop() {
            self.note(Some(index), visit.at.run())?;
            counts.blocks += visit.at.run().len;
            let page = self.roots.node(index, visit.at, visit.level).await?;
            let (rows, hash) = if visit.level == 0 {
                counts.leaf_pages += 1;
                self.leaf(index, &visit, &page, &mut counts).await?
            } else {
                counts.inner_pages += 1;
                self.inner(index, &visit, &page, &mut visits)?
            };
            let header = (page.rows(), page.hash());
            if (rows, hash) != header || header != (visit.rows, visit.hash) {
                return Err(self.wrong(Some(index), visit.at.number, "rows or hash are not what is below it"));
            }
        }
        if counts != *tree {
            let what = format!("the manifest says {tree:?}, there are {counts:?}");
            return Err(self.wrong(Some(index), tree.root.number, what));
        }
        self.verified.trees += 1;
        self.verified.rows += tree.rows;
        self.verified.pages += tree.leaf_pages + tree.inner_pages + tree.overflow_pages;
        Ok(())
    }

    async fn leaf(&mut self, index: IndexId, visit: &Visit, page: &Page, counts: &mut Tree) -> Result<(u64, u64)> {
        let at = visit.at.number;
        let mut hash = 0u64;
        for row in 0..page.count() {
            let key = page.key(row);
            let ascends = row == 0 || page.key(row - 1) < key;
            if !ascends || !in_bounds(visit, key) {
                return Err(self.wrong(Some(index), at, format!("row {row} is out of order")));
            }
            if let Some(value) = page.overflow(row) {
                self.overflow(index, at, key, &value).await?;
                counts.overflow_pages += value.pages();
                counts.blocks += value.blocks();
            }
            hash = hash.wrapping_add(page.row_hash(row));
        }
        Ok((page.count() as u64, hash))
    }

    async fn overflow(&mut self, index: IndexId, leaf: PageNumber, key: &[u8], value: &Overflow) -> Result<()> {
        for &run in &value.runs {
            self.note(Some(index), run)?;
        }
        let bytes = overflow::read(self.roots.shared(), index, value).await?;
        if row_hash(key, &bytes) == value.hash {
            Ok(())
        } else {
            Err(self.wrong(Some(index), leaf, "a value in overflow pages has another hash"))
        }
    }

    fn inner(&self, index: IndexId, visit: &Visit, page: &Page, visits: &mut Vec<Visit>) -> Result<(u64, u64)> {
        let (mut rows, mut hash) = (0, 0u64);
        for number in 0..page.count() {
            let child = page.child(number);
            let ascends = number == 0 || page.child_key(number - 1) < &child.lower[..];
            if !ascends || (number > 0 && !in_bounds(visit, &child.lower)) {
                return Err(self.wrong(Some(index), visit.at.number, format!("child {number} is out of order")));
            }
            rows += child.rows;
            hash = hash.wrapping_add(child.hash);
            let upper =
                if number + 1 < page.count() { Some(page.child_key_bytes(number + 1)) } else { visit.upper.clone() };
            let lower = if number == 0 { visit.lower.clone() } else { child.lower };
            visits.push(Visit {
                at: child.at,
                level: visit.level - 1,
                lower,
                upper,
                rows: child.rows,
                hash: child.hash,
            });
        }
        Ok((rows, hash))
    }
}

fn in_bounds(visit: &Visit, key: &[u8]) -> bool {
    *visit.lower <= *key && visit.upper.as_ref().is_none_or(|upper| key < &upper[..])
}
