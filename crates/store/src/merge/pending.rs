//! What will become the next pages of a level: rows for leaves, children for inner nodes.
//!
//! Rows that stay are not copied one by one: a *run* names neighbouring rows of an old leaf, which go to the new leaf
//! with one copy. So a leaf in which one row of 64 changed is two copies and one row, about the price of copying the
//! leaf and patching it, and the result has no gaps.
//!
//! Hashes are not computed anew either: an old leaf's sum comes with it, rows that change are taken out of it and
//! put into it. Only where a leaf is cut are the rows of one side hashed.

use std::collections::VecDeque;

use base::IndexId;
use bytes::Bytes;

use crate::page::inner::Child;
use crate::page::leaf::{self, Value};
use crate::page::{CAPACITY, Header, Page, PageBuilder, PageKind, PageRef, SLOT_SIZE, separator};

/// A node smaller than this is joined with a neighbour.
const SHORT: usize = CAPACITY / 4;
/// With more than this waiting a full page can be written and two good ones are left.
const PLENTY: usize = CAPACITY * 2;

enum Piece {
    Run { page: Page, from: usize, to: usize },
    Row { key: Bytes, value: Value, hash: u64 },
}

impl Piece {
    fn first_key(&self) -> Bytes {
        match self {
            Piece::Run { page, from, .. } => page.key_bytes(*from),
            Piece::Row { key, .. } => key.clone(),
        }
    }
}

/// Bytes that neighbouring rows take, with their slots.
fn run_size(page: &Page, from: usize, to: usize) -> usize {
    page.cells(from, to).len() + (to - from) * SLOT_SIZE
}

/// How many pages of the same fill are left, and how full each is, for `size` bytes that are all to be written.
pub(super) fn share(size: usize) -> usize {
    size.div_ceil(size.div_ceil(CAPACITY).max(1))
}

/// Rows that wait for their leaf.
#[derive(Default)]
pub(super) struct PendingRows {
    pieces: VecDeque<Piece>,
    size: usize,
    hash: u64,
    /// No row is below, and no row of the leaf before is not.
    lower: Bytes,
    /// Some of it comes from a leaf that was in the cache.
    warm: bool,
}

/// A node that was filled, and has no place yet.
pub(super) struct Filled {
    pub(super) header: Header,
    /// As in [`Child`].
    pub(super) lower: Bytes,
    pub(super) warm: bool,
}

impl Filled {
    /// What its parent has of it.
    pub(super) fn child(self, at: PageRef) -> Child {
        Child { lower: self.lower, at, rows: self.header.rows, hash: self.header.hash }
    }
}

impl PendingRows {
    pub(super) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    pub(super) fn size(&self) -> usize {
        self.size
    }

    pub(super) fn is_short(&self) -> bool {
        !self.is_empty() && self.size < SHORT
    }

    pub(super) fn is_plenty(&self) -> bool {
        self.size > PLENTY
    }

    /// An old leaf begins; its rows come with [`PendingRows::keep`] and [`PendingRows::put`], and what is known of the
    /// hashes of those that stay with [`PendingRows::add_hash`] at its end.
    pub(super) fn open(&mut self, lower: Bytes, warm: bool) {
        if self.is_empty() {
            debug_assert_eq!(self.hash, 0);
            self.lower = lower;
            self.warm = false;
        }
        self.warm |= warm;
    }

    /// Rows of the leaf that was opened stay.
    pub(super) fn keep(&mut self, page: &Page, from: usize, to: usize) {
        if from < to {
            self.size += run_size(page, from, to);
            self.pieces.push_back(Piece::Run { page: page.clone(), from, to });
        }
    }

    /// The hashes of all rows that were kept of the leaf that was opened. Until then the sum is wrong; it is not used,
    /// because there is more than a page.
    pub(super) fn add_hash(&mut self, hash: u64) {
        self.hash = self.hash.wrapping_add(hash);
    }

    /// A row comes.
    pub(super) fn put(&mut self, key: Bytes, value: Value, hash: u64) {
        self.size += leaf::row_size(&key, &value);
        self.hash = self.hash.wrapping_add(hash);
        self.pieces.push_back(Piece::Row { key, value, hash });
    }

    /// The leaf to the left of everything is joined.
    pub(super) fn prepend(&mut self, lower: Bytes, page: Page) {
        self.size += run_size(&page, 0, page.count());
        self.hash = self.hash.wrapping_add(page.hash());
        self.lower = lower;
        self.pieces.push_front(Piece::Run { from: 0, to: page.count(), page });
    }

    /// Fills a page up to `target` bytes, or until the next row does not fit.
    pub(super) fn fill(&mut self, memory: &mut [u8], index: IndexId, target: usize) -> Filled {
        let whole = self.size <= target.min(CAPACITY);
        let mut builder = PageBuilder::leaf(memory);
        let (mut rows, mut hash, mut last) = (0, 0u64, Bytes::new());
        while builder.size() < target {
            let Some(piece) = self.pieces.front_mut() else { break };
            match piece {
                Piece::Row { key, value, .. } if leaf::row_size(key, value) > builder.room() => break,
                Piece::Row { key, value, hash: row } => {
                    leaf::push(&mut builder, key, value);
                    (rows, hash, last) = (rows + 1, hash.wrapping_add(*row), std::mem::take(key));
                    self.pieces.pop_front();
                }
                Piece::Run { page, from, to } => {
                    let end = end_of_run(page, *from, *to, builder.room(), target - builder.size());
                    if end == *from {
                        break;
                    }
                    builder.run(page, *from, end);
                    rows += (end - *from) as u64;
                    if !whole {
                        hash = (*from..end).fold(hash, |sum, row| sum.wrapping_add(page.row_hash(row)));
                        last = page.key_bytes(end - 1);
                    }
                    *from = end;
                    if *from == *to {
                        self.pieces.pop_front();
                    }
                }
            }
        }
        let hash = if whole { self.hash } else { hash };
        self.size -= builder.size();
        self.hash = self.hash.wrapping_sub(hash);
        let header = builder.finish(Header { rows, hash, ..Header::plain(index, PageKind::Leaf, 0) });
        let next = self.pieces.front().map(|piece| separator(&last, piece.first_key()));
        let lower = std::mem::replace(&mut self.lower, next.unwrap_or_default());
        Filled { header, lower, warm: self.warm }
    }
}

/// How far a run goes into a page with some room, of which `wanted` bytes are to be filled.
fn end_of_run(page: &Page, from: usize, to: usize, room: usize, wanted: usize) -> usize {
    if run_size(page, from, to) <= room.min(wanted) {
        return to;
    }
    let (mut low, mut high) = (from, to);
    // The first end at which the run reaches what is wanted, or the last at which it fits.
    while low < high {
        let middle = (low + high) / 2;
        if run_size(page, from, middle) < wanted { low = middle + 1 } else { high = middle }
    }
    while low > from && run_size(page, from, low) > room {
        low -= 1;
    }
    low
}

/// Children that wait for their node.
#[derive(Default)]
pub(super) struct PendingChildren {
    children: VecDeque<Child>,
    size: usize,
    /// Nodes that were filled.
    pub(super) emitted: u64,
}

impl PendingChildren {
    pub(super) fn len(&self) -> usize {
        self.children.len()
    }

    pub(super) fn size(&self) -> usize {
        self.size
    }

    pub(super) fn is_short(&self) -> bool {
        !self.children.is_empty() && self.size < SHORT
    }

    pub(super) fn is_plenty(&self) -> bool {
        self.size > PLENTY
    }

    pub(super) fn push(&mut self, child: Child) {
        self.size += child.size();
        self.children.push_back(child);
    }

    pub(super) fn push_front(&mut self, child: Child) {
        self.size += child.size();
        self.children.push_front(child);
    }

    /// The leftmost child begins here.
    pub(super) fn set_lower(&mut self, lower: Bytes) {
        if let Some(first) = self.children.front_mut() {
            self.size -= first.size();
            first.lower = lower;
            self.size += first.size();
        }
    }

    /// The rightmost child.
    pub(super) fn last(&self) -> Option<&Child> {
        self.children.back()
    }

    /// Takes the rightmost child out.
    pub(super) fn pop(&mut self) -> Option<Child> {
        let child = self.children.pop_back()?;
        self.size -= child.size();
        Some(child)
    }

    /// As [`PendingRows::fill`].
    pub(super) fn fill(&mut self, memory: &mut [u8], index: IndexId, level: u8, target: usize) -> Filled {
        let mut builder = PageBuilder::inner(memory);
        let (mut lower, mut rows, mut hash) = (Bytes::new(), 0, 0u64);
        while builder.size() < target {
            let Some(child) = self.children.front().filter(|child| child.size() <= builder.room()) else { break };
            child.push(&mut builder);
            if rows == 0 {
                lower = child.lower.clone();
            }
            rows += child.rows;
            hash = hash.wrapping_add(child.hash);
            self.children.pop_front();
        }
        self.size -= builder.size();
        self.emitted += 1;
        let header = Header { level, rows, hash, ..Header::plain(index, PageKind::Inner, 0) };
        // Whoever looks for a row comes by here.
        Filled { header: builder.finish(header), lower, warm: true }
    }
}
