//! Counting the pages of a tree, where something was replaced of which nobody knows what was below it.

use base::IndexId;

use crate::manifest::Tree;
use crate::page::Expected;
use crate::{Result, StoreError};

use super::Merge;

impl Merge {
    /// The tree with the numbers of its pages, read from its inner nodes, and from its leaves if it may have values in overflow pages.
    /// As it is if something of it still cannot be read: who makes that good counts again.
    pub(super) async fn counted(&mut self, index: IndexId, tree: Tree) -> Result<Tree> {
        // Pages of this merge are about to be read.
        self.writer.settle().await?;
        let shared = self.store.shared().clone();
        let bottom = u8::from(tree.overflow_pages == 0);
        let mut counted = Tree { leaf_pages: 0, inner_pages: 0, overflow_pages: 0, blocks: 0, ..tree };
        let mut nodes = vec![(tree.root, tree.height - 1)];
        while let Some((at, level)) = nodes.pop() {
            counted.blocks += at.run().len;
            *(if level == 0 { &mut counted.leaf_pages } else { &mut counted.inner_pages }) += 1;
            if level < bottom {
                continue;
            }
            let node = match shared.file.read_page(&Expected::node(at, index, level)).await {
                Err(StoreError::Corrupt { .. }) => return Ok(tree),
                read => read?,
            };
            self.writer.count(1).await;
            if level > 0 {
                nodes.extend((0..node.count()).map(|child| (node.child_at(child), level - 1)));
                continue;
            }
            for value in (0..node.count()).filter_map(|row| node.overflow(row)) {
                counted.overflow_pages += value.pages();
                counted.blocks += value.blocks();
            }
        }
        Ok(counted)
    }
}
