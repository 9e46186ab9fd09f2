//! Going through a range of a tree, leaf by leaf.
//!
//! A cursor keeps the inner nodes on the way to its leaf and goes on from there; there are no links between leaves,
//! which a copy-on-write tree cannot have. Where leaves are missing in the cache it reads ahead, twice as far each
//! time.

use std::cmp::Ordering;
use std::ops::{Bound, Range};

use base::IndexId;
use bytes::Bytes;

use crate::manifest::Tree;
use crate::page::leaf::Value;
use crate::page::{Expected, Page, PageRef};
use crate::{Result, Roots, overflow};

/// Leaves that are read ahead at most (512 KiB).
const AHEAD_MAX: usize = 32;

/// Which way a cursor goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// Ascending keys.
    #[default]
    Forward,
    /// Descending keys.
    Backward,
}

/// A key and its value, slices that keep their page in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The key.
    pub key: Bytes,
    /// The value.
    pub value: Bytes,
}

/// Some rows of one leaf, in the order of a cursor; they keep their page in memory.
#[derive(Clone)]
pub struct LeafRows {
    leaf: Page,
    /// Those of the leaf's entries that are left.
    entries: Range<usize>,
    direction: Direction,
}

impl LeafRows {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Position in the leaf of one of them, from 0.
    fn entry(&self, row: usize) -> usize {
        match self.direction {
            Direction::Forward => self.entries.start + row,
            Direction::Backward => self.entries.end - 1 - row,
        }
    }

    /// The key of one of them.
    #[inline]
    pub fn key(&self, row: usize) -> &[u8] {
        self.leaf.key(self.entry(row))
    }

    /// The value of one of them, unless it is in pages of its own.
    #[inline]
    pub fn value(&self, row: usize) -> Option<&[u8]> {
        self.leaf.inline_value(self.entry(row))
    }

    /// The same as a slice that keeps the page.
    #[inline]
    pub fn value_bytes(&self, row: usize) -> Option<Bytes> {
        match self.leaf.value(self.entry(row)) {
            Value::Inline(value) => Some(value),
            Value::Overflow(_) => None,
        }
    }

    /// Whether all values are in the leaf.
    pub fn are_inline(&self) -> bool {
        self.entries.clone().all(|entry| self.leaf.inline_value(entry).is_some())
    }

    /// Leaves the first `rows` of them out.
    pub fn advance(&mut self, rows: usize) {
        let rows = rows.min(self.len());
        match self.direction {
            Direction::Forward => self.entries.start += rows,
            Direction::Backward => self.entries.end -= rows,
        }
    }
}

/// All rows of a range, if they are in one leaf which, with the nodes above it, is in memory: as a [`Cursor`] gives them, without waiting and without
/// anything of its own. `None` says nothing of the range.
pub(crate) fn rows_of_cached_leaf(
    roots: &Roots,
    index: IndexId,
    (lower, upper): (Bound<&[u8]>, Bound<&[u8]>),
    direction: Direction,
) -> Option<LeafRows> {
    let (Bound::Included(key) | Bound::Excluded(key)) = lower else { return None };
    let mut ends_here = false;
    let leaf = roots.cached_leaf_of(index, key, |node, child| {
        if child + 1 < node.count() {
            ends_here = is_above(node.child_key(child + 1), upper);
        }
    })?;
    let entries = part_of(&leaf, lower, upper);
    let is_all = ends_here || entries.end < leaf.count();
    is_all.then_some(LeafRows { leaf, entries, direction })
}

/// A node on the way to the leaf, and which of its children was taken.
type Step = (Page, usize);

/// A place in a range of a tree; keeps its roots alive.
pub struct Cursor {
    roots: Roots,
    index: IndexId,
    lower: Bound<Bytes>,
    upper: Bound<Bytes>,
    direction: Direction,
    /// Inner nodes from the root down.
    path: Vec<Step>,
    /// What is still to come of the leaf.
    leaf: Option<LeafRows>,
    /// No leaf comes after this one.
    last: bool,
    /// Leaves to read ahead at the next miss.
    ahead: usize,
}

impl Cursor {
    pub(crate) fn new(
        roots: Roots,
        index: IndexId,
        lower: Bound<Bytes>,
        upper: Bound<Bytes>,
        direction: Direction,
    ) -> Self {
        let last = roots.tree(index).is_none();
        Cursor { roots, index, lower, upper, direction, path: Vec::new(), leaf: None, last, ahead: 1 }
    }

    /// Adds up to `max` entries of one leaf to `out`; false when the range is at its end and nothing was added.
    /// A future dropped before its end has not moved the cursor.
    pub async fn next_batch(&mut self, out: &mut Vec<Entry>, max: usize) -> Result<bool> {
        let Some(rows) = self.peek_rows().await? else { return Ok(false) };
        let count = rows.len().min(max.max(1));
        for row in 0..count {
            let value = self.value(&rows, row).await?;
            out.push(Entry { key: rows.leaf.key_bytes(rows.entry(row)), value });
        }
        if let Some(left) = &mut self.leaf {
            left.advance(count);
        }
        Ok(true)
    }

    /// All rows of the next leaf of the range that were not given yet; none at its end. A future dropped before its end has not
    /// moved the cursor.
    pub async fn next_rows(&mut self) -> Result<Option<LeafRows>> {
        let rows = self.peek_rows().await?;
        if let Some(left) = &mut self.leaf {
            left.advance(left.len());
        }
        Ok(rows)
    }

    async fn peek_rows(&mut self) -> Result<Option<LeafRows>> {
        loop {
            if let Some(rows) = self.leaf.as_ref().filter(|rows| !rows.is_empty()) {
                return Ok(Some(rows.clone()));
            }
            if self.last || !self.next_leaf().await? {
                self.last = true;
                return Ok(None);
            }
        }
    }

    /// The value of a row, wherever it is.
    pub async fn value(&self, rows: &LeafRows, row: usize) -> Result<Bytes> {
        overflow::resolve(self.roots.shared(), self.index, rows.leaf.value(rows.entry(row))).await
    }

    /// Goes to the first leaf of the range, or from one to the next; false if there is none.
    async fn next_leaf(&mut self) -> Result<bool> {
        let Some(&tree) = self.roots.tree(self.index) else { return Ok(false) };
        let (keep, mut below) = match &self.leaf {
            None => (0, self.descend(&tree, None).await?),
            Some(_) => {
                let Some((depth, child)) = self.turn() else { return Ok(false) };
                let node = self.path[depth].0.clone();
                (depth, self.descend(&tree, Some((depth, node, child))).await?)
            }
        };
        let (leaf, _) = below.pop().expect("a descent ends at a leaf");
        self.path.truncate(keep);
        self.path.append(&mut below);
        let entries = part_of(&leaf, as_slice(&self.lower), as_slice(&self.upper));
        self.leaf = Some(LeafRows { leaf, entries, direction: self.direction });
        Ok(true)
    }

    /// The deepest node on the path that has another child in the range, and that child.
    fn turn(&self) -> Option<(usize, usize)> {
        for (depth, (node, child)) in self.path.iter().enumerate().rev() {
            match self.direction {
                Direction::Forward if child + 1 < node.count() => {
                    let next = node.child_key(child + 1);
                    return (!is_above(next, as_slice(&self.upper))).then_some((depth, child + 1));
                }
                Direction::Backward if *child > 0 => {
                    // Every key of the child before is below this one's smallest.
                    let below_all = match &self.lower {
                        Bound::Included(key) | Bound::Excluded(key) => **key >= *node.child_key(*child),
                        Bound::Unbounded => false,
                    };
                    return (!below_all).then_some((depth, child - 1));
                }
                _ => {}
            }
        }
        None
    }

    /// Loads the nodes from the root, or from a child of a node at some depth, down to a leaf.
    async fn descend(&mut self, tree: &Tree, from: Option<(usize, Page, usize)>) -> Result<Vec<Step>> {
        let mut steps = Vec::new();
        let mut at = tree.root;
        let mut depth = 0;
        let turned = from.is_some();
        if let Some((above, node, child)) = from {
            at = self.step_into(&mut steps, node, child);
            depth = above + 1;
        }
        while depth < usize::from(tree.height) {
            let level = tree.height - 1 - depth as u8;
            if level == 0 {
                if let Some((parent, child)) = steps.last() {
                    self.read_ahead(parent, *child, at);
                }
                let leaf = self.roots.node(self.index, at, 0).await?;
                steps.push((leaf, 0));
                break;
            }
            let node = self.roots.node(self.index, at, level).await?;
            let child = self.child_of(&node, turned);
            at = self.step_into(&mut steps, node, child);
            depth += 1;
        }
        Ok(steps)
    }

    fn step_into(&self, steps: &mut Vec<Step>, node: Page, child: usize) -> PageRef {
        let at = node.child_at(child);
        steps.push((node, child));
        at
    }

    /// Where to go down: to the bound at first, later to the near end of a neighbour.
    fn child_of(&self, node: &Page, turned: bool) -> usize {
        let (bound, edge) = match self.direction {
            Direction::Forward => (&self.lower, 0),
            Direction::Backward => (&self.upper, node.count() - 1),
        };
        match bound {
            Bound::Included(key) | Bound::Excluded(key) if !turned => node.child_for(key),
            _ => edge,
        }
    }

    /// If the leaf is not in memory: starts reading those that come after it below the same node.
    fn read_ahead(&mut self, parent: &Page, child: usize, at: PageRef) {
        let shared = self.roots.shared();
        if shared.cache.peek(at).is_some() {
            return;
        }
        let most = self.ahead.min(shared.cache.capacity() / 8);
        self.ahead = (self.ahead * 2).min(AHEAD_MAX);
        let wanted = |child: usize| Expected::node(parent.child_at(child), self.index, 0);
        let ahead: Vec<Expected> = match self.direction {
            Direction::Forward => (child + 1..parent.count())
                .take(most - 1)
                .take_while(|&child| !is_above(parent.child_key(child), as_slice(&self.upper)))
                .map(wanted)
                .collect(),
            Direction::Backward => (0..child).rev().take(most - 1).map(wanted).collect(),
        };
        if ahead.is_empty() {
            return;
        }
        let (roots, task) = (self.roots.clone(), shared.clone());
        let read = async move {
            task.cache.prefetch(&task.file, ahead).await;
            drop(roots); // pinned until the pages are read
        };
        shared.env.spawner.spawn("store-read-ahead", Box::pin(read));
    }
}

fn as_slice(bound: &Bound<Bytes>) -> Bound<&[u8]> {
    bound.as_ref().map(|bytes| &bytes[..])
}

/// The entries of a leaf that are in a range.
fn part_of(leaf: &Page, lower: Bound<&[u8]>, upper: Bound<&[u8]>) -> Range<usize> {
    let behind = |(entry, found): (usize, bool)| entry + usize::from(found);
    let from = match lower {
        Bound::Unbounded => 0,
        Bound::Included(key) => leaf.search(0, key).0,
        Bound::Excluded(key) => behind(leaf.search(0, key)),
    };
    let to = match upper {
        Bound::Unbounded => leaf.count(),
        Bound::Excluded(key) => leaf.search_near(from, key).0,
        Bound::Included(key) => behind(leaf.search_near(from, key)),
    };
    from..to.max(from)
}

/// Whether no key from `key` on is in a range with this upper bound.
fn is_above(key: &[u8], upper: Bound<&[u8]>) -> bool {
    match upper {
        Bound::Unbounded => false,
        Bound::Included(upper) => key.cmp(upper) == Ordering::Greater,
        Bound::Excluded(upper) => key.cmp(upper) != Ordering::Less,
    }
}
