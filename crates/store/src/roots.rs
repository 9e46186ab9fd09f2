//! Signatures first; the bodies follow.
use crate::{Cursor, Direction, Result};
use base::IndexId;
use bytes::Bytes;
use std::ops::Bound;
/// One state of all trees. While it lives its pages are not reused; cloning is cheap.
#[derive(Clone)]
pub struct Roots {}
impl Roots {
    /// Grows with each merge.
    pub fn generation(&self) -> u64 {
        unimplemented!()
    }
    /// Indexes that have a tree, ascending.
    pub fn indexes(&self) -> Vec<IndexId> {
        unimplemented!()
    }
    /// Number of entries of an index; 0 if it has no tree.
    pub fn entries(&self, _index: IndexId) -> u64 {
        unimplemented!()
    }
    /// Sum of the hashes of an index's entries: equal contents have equal sums.
    pub fn content_hash(&self, _index: IndexId) -> u64 {
        unimplemented!()
    }
    /// The value of a key. Does not allocate and does not suspend when the pages are in the cache; the value is a slice of its page.
    pub async fn get(&self, _index: IndexId, _key: &[u8]) -> Result<Option<Bytes>> {
        unimplemented!()
    }
    /// A cursor over a range; reads nothing yet.
    pub fn cursor(&self, _index: IndexId, _lower: Bound<Bytes>, _upper: Bound<Bytes>, _direction: Direction) -> Cursor {
        unimplemented!()
    }
    /// How many entries a range has, near enough to plan by.
    pub async fn estimate(&self, _index: IndexId, _lower: Bound<&[u8]>, _upper: Bound<&[u8]>) -> Result<u64> {
        unimplemented!()
    }
}
