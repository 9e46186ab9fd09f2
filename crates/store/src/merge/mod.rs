//! A merge: sorted changes of some indexes make new trees beside the old ones, and these become the newest roots.
//!
//! ```text
//! Changes ── window ── walk of the old tree ── pending rows and children ── pages ── large writes, some at once
//!            (source)        (tree, ahead)              (pending)                      (writer)
//! ```
//!
//! Nothing of a merge can be seen before [`Merge::finish`]: readers have the old roots, and its pages are written where
//! nothing was. Dropping it at any point gives its pages back. Nothing is durable before
//! [`Store::commit_checkpoint`](crate::Store::commit_checkpoint).
//!
//! Merges form a chain, each on the newest roots; so a checkpoint can be made in steps, with private roots in between
//! for old read views, and begun again from wherever it stopped: applying the same changes again changes nothing.
//!
//! # Invariants
//! - One merge or checkpoint at a time (the gate in [`crate::shared`]).
//! - A damaged node does not end a merge: it stays where it is, without the changes that fall into it, and can never be read
//!   again, even if the disk should find its bytes. So every read that would need them is an error; until a merge is given all that
//!   belongs there ([`Merge::restore`]).
//! - Memory is bounded: the window of changes, three pages per level, the writes under way, and the leaves read ahead (all of
//!   these as they are in memory, not compressed); and the list of freed pages, as runs.

mod ahead;
mod count;
mod pacer;
mod pending;
mod source;
mod tree;
mod writer;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use base::IndexId;

pub use self::pacer::Pacer;
pub use self::source::{Change, Changes, SortedChanges};
pub(crate) use self::writer::{Flight, PageWriter};

use self::tree::TreeMerge;
use crate::damage::Restored;
use crate::manifest::{Tree, Trees};
use crate::page::PageRef;
use crate::page::form::Compression;
use crate::page::leaf::Overflow;
use crate::shared::{Pass, Shared};
use crate::space::{Run, append};
use crate::{Result, Roots, Store, StoreError};

/// How to merge.
#[derive(Clone, Default)]
pub struct MergeOptions {
    /// How fast; as fast as it goes if `None`.
    pub pacer: Option<Arc<Pacer>>,
    /// The index without which nothing else can be read: damage of its pages ends the merge.
    pub vital: Option<IndexId>,
}

/// A merge under way. Dropped before [`Merge::finish`] it leaves nothing behind.
pub struct Merge {
    store: Arc<Store>,
    /// Pinned until the end: its pages are read.
    base: Roots,
    writer: PageWriter,
    trees: Trees,
    freed: Freed,
    changed: BTreeSet<IndexId>,
    vital: Option<IndexId>,
    damaged: Vec<StoreError>,
    /// A step failed or was dropped in its middle.
    broken: bool,
}

/// What a step of a merge works with.
struct Parts<'a> {
    shared: &'a Arc<Shared>,
    writer: &'a mut PageWriter,
    freed: &'a mut Freed,
    /// Nodes that cannot be read; none if that is the end.
    damaged: Option<&'a mut Vec<StoreError>>,
}

/// Pages that the new trees do not have, by the generation that created them.
#[derive(Default)]
struct Freed(BTreeMap<u64, Vec<Run>>);

impl Freed {
    fn page(&mut self, at: PageRef) {
        self.run(at.generation, at.run());
    }

    fn value(&mut self, value: &Overflow) {
        value.runs.iter().for_each(|&run| self.run(value.generation, run));
    }

    fn run(&mut self, generation: u64, run: Run) {
        append(self.0.entry(generation).or_default(), run);
    }
}

impl Merge {
    pub(crate) fn new(store: Arc<Store>, base: Roots, options: MergeOptions, pass: Pass) -> Self {
        let shared = store.shared().clone();
        let generation = shared.next_generation();
        let MergeOptions { pacer, vital } = options;
        let writer = PageWriter::new(shared, generation, pacer, pass);
        let trees = Trees::clone(base.trees());
        let (freed, changed) = (Freed::default(), BTreeSet::new());
        Merge { store, base, writer, trees, freed, changed, vital, damaged: Vec::new(), broken: false }
    }

    /// Applies changes to the tree of an index; a missing tree is made, so this is also how an index is built from a
    /// sorted stream. The compression is for the pages that are written; others stay as they are.
    ///
    /// # Errors
    /// After any error, or when the future was dropped in its middle, this merge can only be dropped.
    #[io::boxed]
    pub async fn apply(&mut self, index: IndexId, compression: Compression, changes: &mut dyn Changes) -> Result<()> {
        self.restore(index, compression, changes, &Restored::default()).await
    }

    /// The same; in some ranges the changes are the whole content, so nodes there that cannot be read are made anew. If these ranges are
    /// all that cannot be read ([`crate::Damage::restored`]), the tree is whole afterwards. Pages that nobody knows any more, because
    /// what referred to them cannot be read, stay allocated for ever.
    ///
    /// # Errors
    /// As [`Merge::apply`].
    #[io::boxed]
    pub async fn restore(
        &mut self,
        index: IndexId,
        compression: Compression,
        changes: &mut dyn Changes,
        restored: &Restored,
    ) -> Result<()> {
        let old = self.begin(index).await?;
        self.writer.set_compression(compression);
        let damaged = Some(&mut self.damaged).filter(|_| self.vital != Some(index));
        let (shared, writer, freed) = (self.store.shared(), &mut self.writer, &mut self.freed);
        let parts = Parts { shared, writer, freed, damaged };
        let merged = TreeMerge::new(parts, index, old, changes, restored).run().await?;
        let tree = match merged.tree {
            Some(tree) if merged.is_uncounted => Some(self.counted(index, tree).await?),
            tree => tree,
        };
        match tree {
            Some(tree) => drop(self.trees.insert(index, tree)),
            None => drop(self.trees.remove(&index)),
        }
        self.broken = false;
        Ok(())
    }

    /// Nodes that could not be read, so far; what was to be done with their rows was left out.
    pub fn damaged(&self) -> &[StoreError] {
        &self.damaged
    }

    /// Drops the tree of an index, if there is one. Reads its inner nodes, and its leaves only if it has values in
    /// overflow pages. What is below a node that cannot be read stays allocated for ever.
    ///
    /// # Errors
    /// As [`Merge::apply`].
    #[io::boxed]
    pub async fn drop_tree(&mut self, index: IndexId) -> Result<()> {
        let Some(tree) = self.begin(index).await? else {
            self.broken = false;
            return Ok(());
        };
        let bottom = u8::from(tree.overflow_pages == 0);
        let mut nodes = vec![(tree.root, tree.height - 1)];
        while let Some((at, level)) = nodes.pop() {
            self.freed.page(at);
            if level < bottom {
                continue;
            }
            let node = match self.base.node(index, at, level).await {
                Err(error @ StoreError::Corrupt { .. }) => {
                    self.damaged.push(error);
                    continue;
                }
                read => read?,
            };
            if level > 0 {
                nodes.extend((0..node.count()).rev().map(|child| (node.child_at(child), level - 1)));
                self.writer.count(1).await;
                continue;
            }
            for overflow in (0..node.count()).filter_map(|row| node.overflow(row)) {
                self.freed.value(&overflow);
            }
        }
        self.trees.remove(&index);
        self.broken = false;
        Ok(())
    }

    /// Ends the merge when its pages are written (not synced): its roots are the newest from now on.
    ///
    /// # Errors
    /// A failed write; then nothing has changed.
    #[io::boxed]
    pub async fn finish(self) -> Result<Roots> {
        if self.broken {
            return Err(StoreError::BrokenMerge);
        }
        let generation = self.writer.generation();
        let gate = self.writer.finish().await?;
        let shared = self.store.shared();
        {
            let mut space = shared.space.lock();
            for (created, runs) in self.freed.0 {
                space.retire((created, generation), runs);
            }
        }
        let roots = Roots::pin(shared.clone(), generation, Arc::new(self.trees));
        self.store.set_newest(roots.clone());
        drop(gate);
        Ok(roots)
    }

    /// The tree of an index as of now; the merge is broken until the step has ended.
    async fn begin(&mut self, index: IndexId) -> Result<Option<Tree>> {
        if self.broken {
            return Err(StoreError::BrokenMerge);
        }
        self.store.shared().file.check_failed()?;
        self.broken = true;
        if !self.changed.insert(index) {
            // Pages of an earlier step of this merge are about to be read.
            self.writer.settle().await?;
        }
        Ok(self.trees.get(&index).copied())
    }
}
