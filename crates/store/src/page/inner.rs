//! Inner nodes: where the children are, and from which key on.
//!
//! ```text
//! cell    2  length of the key
//!         8  page number of the child, times four, and its blocks less one
//!         8  its generation
//!         8  rows below it
//!         8  sum of their hashes
//!            key: no row of this child or of those after it has a smaller one
//! ```
//!
//! The first child takes every smaller key too. Keys are cut to the shortest that tells a child from the rows before it.

use bytes::Bytes;

use super::{CAPACITY, Layout, Page, PageBuilder, PageRef, SLOT_SIZE, get_u16, get_u64};

/// Bytes of a cell before its key.
const PREFIX_SIZE: usize = 34;

pub(super) const LAYOUT: Layout = Layout { key_at: PREFIX_SIZE, first: 1 };

const _: () = assert!(3 * (PREFIX_SIZE + crate::MAX_KEY_SIZE + SLOT_SIZE) <= CAPACITY);

/// A child as its parent has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Child {
    /// No row of it is below.
    pub(crate) lower: Bytes,
    /// Where it is.
    pub(crate) at: PageRef,
    /// Rows below it.
    pub(crate) rows: u64,
    /// Sum of their hashes.
    pub(crate) hash: u64,
}

impl Child {
    /// Bytes that it takes in a node, with its slot.
    pub(crate) fn size(&self) -> usize {
        PREFIX_SIZE + self.lower.len() + SLOT_SIZE
    }

    /// Adds it behind those before it.
    pub(crate) fn push(&self, builder: &mut PageBuilder<'_>) {
        let cell = builder.cell(PREFIX_SIZE + self.lower.len());
        cell[..2].copy_from_slice(&(self.lower.len() as u16).to_le_bytes());
        cell[2..10].copy_from_slice(&self.at.place().to_le_bytes());
        cell[10..18].copy_from_slice(&self.at.generation.to_le_bytes());
        cell[18..26].copy_from_slice(&self.rows.to_le_bytes());
        cell[26..34].copy_from_slice(&self.hash.to_le_bytes());
        cell[PREFIX_SIZE..].copy_from_slice(&self.lower);
    }
}

pub(super) fn check(page: &Page) -> Result<(), String> {
    page.check_cells(LAYOUT, |cell| PREFIX_SIZE + usize::from(get_u16(cell, 0)) == cell.len())
}

/// Reading a page that is an inner node.
impl Page {
    /// The smallest key of a child.
    #[inline]
    pub(crate) fn child_key(&self, entry: usize) -> &[u8] {
        let start = self.slot(entry);
        &self[start + PREFIX_SIZE..start + PREFIX_SIZE + usize::from(get_u16(self, start))]
    }

    /// As [`Page::child_key`], keeping the page.
    pub(crate) fn child_key_bytes(&self, entry: usize) -> Bytes {
        let start = self.slot(entry) + PREFIX_SIZE;
        self.bytes().slice(start..start + usize::from(get_u16(self, start - PREFIX_SIZE)))
    }

    /// Where a child is.
    pub(crate) fn child_at(&self, entry: usize) -> PageRef {
        let start = self.slot(entry);
        PageRef::from_place(get_u64(self, start + 2), get_u64(self, start + 10))
    }

    /// Rows below a child.
    pub(crate) fn child_rows(&self, entry: usize) -> u64 {
        get_u64(self, self.slot(entry) + 18)
    }

    /// Sum of the hashes of the rows below a child.
    pub(crate) fn child_hash(&self, entry: usize) -> u64 {
        get_u64(self, self.slot(entry) + 26)
    }

    /// All of a child.
    pub(crate) fn child(&self, entry: usize) -> Child {
        let (rows, hash) = (self.child_rows(entry), self.child_hash(entry));
        Child { lower: self.child_key_bytes(entry), at: self.child_at(entry), rows, hash }
    }

    /// The child that a key belongs to.
    pub(crate) fn child_for(&self, key: &[u8]) -> usize {
        match self.search_entries(LAYOUT.first, LAYOUT.first, key, |entry| self.child_key(entry)) {
            Ok(child) => child,
            Err(next) => next - 1,
        }
    }
}
