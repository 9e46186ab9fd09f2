//! Applying sorted changes to one tree.
//!
//! The old tree is walked from left to right along the path of the changes; the new one grows beside it from the
//! leaves up, one list of pending entries per level ([`super::pending`]).
//!
//! ```text
//! old tree                                   new tree
//!           root                             level 2   [A' C' ...]   pending
//!         /  |   \                           level 1   [a b' c ]     pending
//!       A    B    C        changes: b, g     level 0   [rows of b]   pending
//!      abc  def  ghi
//! ```
//!
//! A node is *opened* if a change falls into it: it is retired, and its parts (rows, children) join the pending
//! entries of its level. Otherwise it is *shared*: its reference joins the pending entries one level up, after
//! everything pending below has been written. Where that would write a short node, the next node is opened after all,
//! so short nodes join their right neighbours; at the right end they join the left one. More than one page pending
//! is cut into pages of the same fill; rows that are appended at the right end fill their pages.
//!
//! A node that cannot be read because it is damaged is *set aside*: it is shared, short neighbours or not, and the changes that fall into
//! it are left out. If there are any its reference names another generation from then on, of which no page is: so what is missing is
//! never taken for the rows as they were, even if the disk finds them again.
//!
//! A node that cannot be read and lies in a *restored range* ([`Restored`]) is *replaced*: it goes, with whatever was below it, and the changes
//! that fall into it are all of its rows. Nodes that restored ranges meet are opened, changes or not, so that none is missed. What can be
//! read there is right, and stays where no change falls: a key that the changes do not name has not changed.
//!
//! # Invariants
//! - Pending entries of a level are less than three pages, however long the stream is; the depth of the old tree
//!   bounds the path.
//! - All pending entries below a level come before those that will be pushed to it.
//! - A tree from which something was left out says so until a merge has replaced everything that could not be read as of a state behind
//!   the last such merge, and has itself left out nothing.

use std::num::NonZeroU64;

use base::IndexId;
use bytes::Bytes;

use crate::damage::Restored;
use crate::manifest::Tree;
use crate::page::inner::Child;
use crate::page::leaf::{Overflow, Value, needs_overflow};
use crate::page::{CAPACITY, Expected, Page, PageKind, PageRef, row_hash};
use crate::{Result, StoreError, overflow};

use super::Parts;
use super::ahead::ReadAhead;
use super::pending::{Filled, PendingChildren, PendingRows, share};
use super::source::{Changes, Window};

/// An opened node of the old tree, or what holds its root.
pub(super) struct Frame {
    /// `None` above the root.
    node: Option<Page>,
    root: Option<Child>,
    /// Level of its children.
    child_level: u8,
    next: usize,
    count: usize,
    lower: Bytes,
    upper: Option<Bytes>,
}

impl Frame {
    fn above(tree: &Tree) -> Self {
        let root = Child { lower: Bytes::new(), at: tree.root, rows: tree.rows, hash: tree.hash };
        let child_level = tree.height - 1;
        Frame { node: None, root: Some(root), child_level, next: 0, count: 1, lower: Bytes::new(), upper: None }
    }

    fn of(node: Page, lower: Bytes, upper: Option<Bytes>) -> Self {
        let (child_level, count) = (node.level() - 1, node.count());
        Frame { node: Some(node), root: None, child_level, next: 0, count, lower, upper }
    }

    /// A child; the first one begins where the node does.
    fn child(&self, number: usize) -> Child {
        match (&self.node, &self.root) {
            (Some(node), _) if number > 0 => node.child(number),
            (Some(node), _) => Child { lower: self.lower.clone(), ..node.child(0) },
            (None, root) => root.clone().expect("a frame has a node or the root"),
        }
    }

    fn upper_of(&self, number: usize) -> Option<Bytes> {
        match &self.node {
            Some(node) if number + 1 < self.count => Some(node.child_key_bytes(number + 1)),
            _ => self.upper.clone(),
        }
    }

    /// Whether a key lies before the end of a child.
    fn reaches(&self, number: usize, key: &[u8]) -> bool {
        match &self.node {
            Some(node) if number + 1 < self.count => key < node.child_key(number + 1),
            _ => self.upper.as_ref().is_none_or(|upper| key < &upper[..]),
        }
    }

    /// The leaves from the next one on into which the changes fall, as far as those are known.
    pub(super) fn touched<'a>(
        &self,
        index: IndexId,
        changes: impl Iterator<Item = &'a super::Change>,
    ) -> Vec<Expected> {
        let Some(node) = self.node.as_ref().filter(|_| self.child_level == 0) else { return Vec::new() };
        let mut changes = changes.peekable();
        let mut touched = Vec::new();
        for child in self.next..self.count {
            if changes.peek().is_none() || touched.len() >= super::ahead::LEAVES_MAX {
                break;
            }
            if changes.peek().is_some_and(|change| self.reaches(child, &change.key)) {
                touched.push(Expected::node(node.child_at(child), index, 0));
            }
            while changes.peek().is_some_and(|change| self.reaches(child, &change.key)) {
                changes.next();
            }
        }
        touched
    }
}

/// One tree being merged.
pub(super) struct TreeMerge<'a> {
    parts: Parts<'a>,
    index: IndexId,
    window: Window<'a>,
    path: Vec<Frame>,
    ahead: ReadAhead,
    rows: PendingRows,
    /// Pending children of the nodes at level 1, 2, …
    children: Vec<PendingChildren>,
    /// Page counts of the new tree.
    counts: Tree,
    /// Rows came behind the last one of the old tree.
    appended: bool,
    /// Rows of the leaf under way that change; here for its memory.
    gone: Vec<usize>,
    /// What the changes are the whole content of.
    restored: &'a Restored,
    /// Nobody knows what was below something that was replaced, so the pages have to be counted.
    is_uncounted: bool,
}

/// What became of a tree.
pub(super) struct Merged {
    /// The new one, unless it is empty.
    pub(super) tree: Option<Tree>,
    /// Its numbers of pages are too high.
    pub(super) is_uncounted: bool,
}

impl<'a> TreeMerge<'a> {
    pub(super) fn new(
        parts: Parts<'a>,
        index: IndexId,
        old: Option<Tree>,
        changes: &'a mut dyn Changes,
        restored: &'a Restored,
    ) -> Self {
        TreeMerge {
            parts,
            index,
            window: Window::new(index, changes),
            path: old.iter().map(Frame::above).collect(),
            ahead: ReadAhead::default(),
            rows: PendingRows::default(),
            children: Vec::new(),
            counts: old.unwrap_or(Tree::EMPTY),
            appended: false,
            gone: Vec::new(),
            restored,
            is_uncounted: false,
        }
    }

    /// Merges everything.
    pub(super) async fn run(mut self) -> Result<Merged> {
        self.window.fill().await?;
        if self.path.is_empty() {
            self.appended = true;
            self.merge_rows(None, None).await?;
        }
        while let Some(frame) = self.path.last_mut() {
            if frame.next == frame.count {
                self.path.pop();
                continue;
            }
            let touched = self.window.first().is_some_and(|change| frame.reaches(frame.next, &change.key))
                || !self.restored.ranges().is_empty()
                    && self.restored.meets(&frame.child(frame.next).lower, frame.upper_of(frame.next).as_deref());
            let level = frame.child_level;
            if touched || self.is_short_up_to(level) {
                self.open().await?;
            } else {
                self.share_next(level).await?;
            }
        }
        self.finish().await
    }

    fn is_short_up_to(&self, level: u8) -> bool {
        self.rows.is_short() || self.children.iter().take(usize::from(level)).any(PendingChildren::is_short)
    }

    /// Opens the next child of the last frame.
    async fn open(&mut self) -> Result<()> {
        let frame = self.path.last_mut().expect("there is a frame with a child");
        let (child, level, upper) = (frame.child(frame.next), frame.child_level, frame.upper_of(frame.next));
        let shared = self.parts.shared;
        let read = match level {
            0 => self.ahead.leaf(shared, self.index, child.at, frame, self.window.known()).await,
            _ => shared.page(&Expected::node(child.at, self.index, level)).await.map(|page| (page, false)),
        };
        frame.next += 1;
        let (page, warm) = match read {
            Ok(read) => read,
            Err(error) => match self.read_again(error, child.at, level).await? {
                Ok(page) => (page, false),
                Err(_) if self.restored.covers(&child.lower, upper.as_deref()) => {
                    return self.replace(child, level, upper).await;
                }
                Err(damage) => {
                    self.parts.damaged.iter_mut().for_each(|damaged| damaged.push(damage.clone()));
                    return self.set_aside(child, level, upper).await;
                }
            },
        };
        if level == 0 {
            self.drop_page(child.at);
            self.counts.leaf_pages -= 1;
            self.rows.open(child.lower, warm);
            return self.merge_rows(Some(page), upper).await;
        }
        self.drop_page(child.at);
        self.counts.inner_pages -= 1;
        self.path.push(Frame::of(page, child.lower, upper));
        Ok(())
    }

    /// A node that something was wrong with, if it can be read by itself; what is wrong with it if it is damaged, and may be.
    async fn read_again(&mut self, error: StoreError, at: PageRef, level: u8) -> Result<Result<Page>> {
        let is_damage = matches!(error, StoreError::Corrupt { .. });
        if !is_damage || self.parts.damaged.is_none() {
            return Err(error);
        }
        // It may have been another one that was read with it, or something that passes.
        self.ahead.clear();
        match self.parts.shared.file.read_page(&Expected::node(at, self.index, level)).await {
            Err(error @ StoreError::Corrupt { .. }) => Ok(Err(error)),
            read => read.map(Ok),
        }
    }

    /// Puts the changes that fall into a child in its place. What it referred to is lost: pages below an inner node, and those of a
    /// leaf's large values.
    async fn replace(&mut self, child: Child, level: u8, upper: Option<Bytes>) -> Result<()> {
        self.drop_page(child.at);
        if level == 0 {
            self.counts.leaf_pages -= 1;
        } else {
            self.counts.inner_pages -= 1;
        }
        self.is_uncounted |= level > 0 || self.counts.overflow_pages > 0;
        self.rows.open(child.lower, false);
        self.merge_rows(None, upper).await
    }

    /// Leaves a child where it is, and out what was to be done in it.
    async fn set_aside(&mut self, mut child: Child, level: u8, upper: Option<Bytes>) -> Result<()> {
        self.write_up_to(level).await?;
        while self.window.first().is_some_and(|change| upper.as_ref().is_none_or(|upper| change.key < *upper)) {
            self.window.pop().await?;
            child.at.generation = self.parts.writer.generation();
            self.counts.damaged_in = NonZeroU64::new(self.parts.writer.generation());
        }
        self.push_child(level, child).await
    }

    /// Takes over the next child of the last frame as it is.
    async fn share_next(&mut self, level: u8) -> Result<()> {
        self.write_up_to(level).await?;
        let frame = self.path.last_mut().expect("there is a frame with a child");
        let child = frame.child(frame.next);
        frame.next += 1;
        self.push_child(level, child).await
    }

    /// Applies the changes below `upper` to the rows of a leaf.
    async fn merge_rows(&mut self, old: Option<Page>, upper: Option<Bytes>) -> Result<()> {
        let mut from = 0;
        let count = old.as_ref().map_or(0, Page::count);
        let mut gone = std::mem::take(&mut self.gone);
        gone.clear();
        while self.window.first().is_some_and(|change| upper.as_ref().is_none_or(|upper| change.key < *upper)) {
            let change = self.window.pop().await?.expect("there is a first one");
            if let Some(page) = &old {
                let (entry, found) = page.search_near(from, &change.key);
                self.rows.keep(page, from, entry);
                from = entry;
                if found {
                    gone.push(entry);
                    self.drop_value(page.overflow(entry));
                    from += 1;
                }
            }
            if let Some(value) = change.value {
                self.appended |= upper.is_none() && from == count;
                self.put(change.key, value).await?;
            }
            if self.rows.is_plenty() {
                self.write_leaf(CAPACITY).await?;
            }
        }
        if let Some(page) = &old {
            self.rows.keep(page, from, count);
            self.rows.add_hash(hash_without(page, &gone));
        }
        self.gone = gone;
        if self.rows.is_plenty() {
            self.write_leaf(CAPACITY).await?;
        }
        Ok(())
    }

    async fn put(&mut self, key: Bytes, value: Bytes) -> Result<()> {
        if !needs_overflow(&key, &value) {
            let hash = row_hash(&key, &value);
            self.rows.put(key, Value::Inline(value), hash);
            return Ok(());
        }
        let written = overflow::write(self.parts.writer, self.index, &key, &value).await?;
        self.counts.overflow_pages += written.pages();
        self.counts.blocks += written.blocks();
        let hash = written.hash;
        self.rows.put(key, Value::Overflow(written), hash);
        Ok(())
    }

    fn drop_page(&mut self, at: PageRef) {
        self.counts.blocks -= at.run().len;
        self.parts.freed.page(at);
    }

    fn drop_value(&mut self, value: Option<Overflow>) {
        if let Some(overflow) = value {
            self.counts.overflow_pages -= overflow.pages();
            self.counts.blocks -= overflow.blocks();
            self.parts.freed.value(&overflow);
        }
    }

    /// Writes everything pending of the levels up to this one.
    async fn write_up_to(&mut self, level: u8) -> Result<()> {
        for level in 0..=level {
            self.write_level(level, false).await?;
        }
        Ok(())
    }

    /// Writes everything pending of a level, in pages of the same fill or in full ones.
    async fn write_level(&mut self, level: u8, full: bool) -> Result<()> {
        loop {
            let size = match level {
                0 => self.rows.size(),
                _ => self.children.get(usize::from(level) - 1).map_or(0, PendingChildren::size),
            };
            if size == 0 {
                return Ok(());
            }
            let target = if full { CAPACITY } else { share(size) };
            match level {
                0 => self.write_leaf(target).await?,
                _ => self.write_inner(level, target).await?,
            }
        }
    }

    async fn write_leaf(&mut self, target: usize) -> Result<()> {
        let memory = self.parts.writer.begin(PageKind::Leaf).await?;
        let filled = self.rows.fill(memory, self.index, target);
        let leaf = self.write_node(filled).await?;
        self.counts.leaf_pages += 1;
        self.push_child(0, leaf).await
    }

    async fn write_inner(&mut self, level: u8, target: usize) -> Result<()> {
        let memory = self.parts.writer.begin(PageKind::Inner).await?;
        let filled = self.children[usize::from(level) - 1].fill(memory, self.index, level, target);
        let node = self.write_node(filled).await?;
        self.counts.inner_pages += 1;
        self.pending_above(level).push(node);
        Ok(())
    }

    /// Gives the node that was filled its place.
    async fn write_node(&mut self, filled: Filled) -> Result<Child> {
        let at = self.parts.writer.end(&filled.header, filled.warm).await?;
        self.counts.blocks += at.run().len;
        Ok(filled.child(at))
    }

    /// Adds a node of a level to what is pending above it, and writes there what has become plenty.
    async fn push_child(&mut self, level: u8, child: Child) -> Result<()> {
        self.pending_above(level).push(child);
        let mut level = level + 1;
        while self.children.get(usize::from(level) - 1).is_some_and(PendingChildren::is_plenty) {
            self.write_inner(level, CAPACITY).await?;
            level += 1;
        }
        Ok(())
    }

    fn pending_above(&mut self, level: u8) -> &mut PendingChildren {
        let number = usize::from(level);
        if self.children.len() <= number {
            self.children.resize_with(number + 1, PendingChildren::default);
        }
        &mut self.children[number]
    }

    /// The changes and the old tree are at their end: writes what is pending from the leaves up, until one node is left.
    async fn finish(mut self) -> Result<Merged> {
        let mut level = 0;
        loop {
            self.join_left(level).await?;
            self.write_level(level, self.appended).await?;
            let number = usize::from(level);
            let above = self.children.get(number..).unwrap_or_default();
            let higher_is_empty = above.iter().skip(1).all(|pending| pending.len() == 0);
            let nothing_written = above.iter().all(|pending| pending.emitted == 0);
            if nothing_written && higher_is_empty && above.first().map_or(0, PendingChildren::len) <= 1 {
                let root = self.children.get_mut(number).and_then(PendingChildren::pop);
                let tree = root.map(|root| self.tree(root, level + 1));
                return Ok(Merged { tree, is_uncounted: self.is_uncounted });
            }
            level += 1;
        }
    }

    fn tree(&self, root: Child, height: u8) -> Tree {
        // What this merge has set aside has its generation, which is above that of any roots there were.
        let stays = |set_aside: &NonZeroU64| self.restored.whole_as_of.is_none_or(|whole| set_aside.get() > whole);
        let damaged_in = self.counts.damaged_in.filter(stays);
        Tree { root: root.at, height, rows: root.rows, hash: root.hash, damaged_in, ..self.counts }
    }

    /// What is pending at the right end of a level is short: the node to its left is opened again, if it is an old one.
    async fn join_left(&mut self, level: u8) -> Result<()> {
        let number = usize::from(level);
        let short = if level == 0 { self.rows.is_short() } else { self.children[number - 1].is_short() };
        let generation = self.parts.writer.generation();
        let old =
            self.children.get(number).and_then(PendingChildren::last).filter(|left| left.at.generation != generation);
        if !short || old.is_none() {
            return Ok(());
        }
        let left = self.children[number].pop().expect("it was just looked at");
        let read = self.parts.shared.page(&Expected::node(left.at, self.index, level)).await;
        let page = match read {
            Err(StoreError::Corrupt { .. }) if self.parts.damaged.is_some() => {
                self.children[number].push(left);
                return Ok(());
            }
            read => read?,
        };
        self.drop_page(left.at);
        if level == 0 {
            self.counts.leaf_pages -= 1;
            self.rows.prepend(left.lower, page);
            return Ok(());
        }
        self.counts.inner_pages -= 1;
        let pending = &mut self.children[number - 1];
        for child in (0..page.count()).rev() {
            let child = page.child(child);
            pending.push_front(child);
        }
        pending.set_lower(left.lower);
        Ok(())
    }
}

/// The sum of the hashes of a leaf's rows without some, from whichever are fewer.
fn hash_without(page: &Page, gone: &[usize]) -> u64 {
    if gone.len() <= page.count() / 2 {
        return gone.iter().fold(page.hash(), |sum, &row| sum.wrapping_sub(page.row_hash(row)));
    }
    let mut gone = gone.iter().copied().peekable();
    let stays = |row: &usize| gone.next_if_eq(row).is_none();
    (0..page.count()).filter(stays).fold(0, |sum, row| sum.wrapping_add(page.row_hash(row)))
}
