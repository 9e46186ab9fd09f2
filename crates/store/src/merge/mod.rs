//! Signatures first; the bodies follow.
use crate::{Result, Roots};
use base::IndexId;
use bytes::Bytes;
use std::future::Future;
use std::sync::Arc;
/// A key's new value, or its removal (of a key that need not be there).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The key.
    pub key: Bytes,
    /// The value; `None` removes the key.
    pub value: Option<Bytes>,
}
/// A stream of changes in strictly ascending order of their keys.
pub trait Changes: Send {
    /// Adds some changes (tens to hundreds) to `batch`; none at the end.
    fn next_batch(&mut self, batch: &mut Vec<Change>) -> impl Future<Output = Result<()>> + Send;
}
/// Changes from a sorted iterator.
pub struct SortedChanges<I>(pub I);
impl<I: Iterator<Item = Change> + Send> Changes for SortedChanges<I> {
    async fn next_batch(&mut self, batch: &mut Vec<Change>) -> Result<()> {
        batch.extend(self.0.by_ref().take(256));
        Ok(())
    }
}
/// Slows a merge down to a rate that can be changed at any time; shared by whoever steers it.
#[derive(Debug, Default)]
pub struct Pacer {}
impl Pacer {
    /// Pages per second; 0 is as fast as it goes (other tasks still get their turn).
    pub fn new(_pages_per_second: u64) -> Arc<Pacer> {
        Arc::new(Pacer {})
    }
    /// Changes the rate.
    pub fn set_rate(&self, _pages_per_second: u64) {}
}
/// How to merge.
#[derive(Clone, Default)]
pub struct MergeOptions {
    /// How fast.
    pub pacer: Option<Arc<Pacer>>,
}
/// A merge under way. Dropped before [`Merge::finish`] it leaves nothing behind.
pub struct Merge {}
impl Merge {
    /// Applies changes to the tree of an index; makes it if it is missing. Once per index and merge.
    pub async fn apply<C: Changes>(&mut self, _index: IndexId, _changes: C) -> Result<()> {
        unimplemented!()
    }
    /// Drops the tree of an index, if there is one.
    pub async fn drop_tree(&mut self, _index: IndexId) -> Result<()> {
        unimplemented!()
    }
    /// Ends the merge when its pages are written (not synced): the new roots are the newest from now on.
    pub async fn finish(self) -> Result<Roots> {
        unimplemented!()
    }
}
