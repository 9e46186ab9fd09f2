//! Signatures first; the bodies follow.
use crate::Result;
use bytes::Bytes;
/// Which way a cursor goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// Ascending keys.
    #[default]
    Forward,
    /// Descending keys.
    Backward,
}
/// A key and its value, slices of their page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The key.
    pub key: Bytes,
    /// The value.
    pub value: Bytes,
}
/// A place in a range of a tree; keeps its roots alive.
pub struct Cursor {}
impl Cursor {
    /// Adds up to `max` entries of one leaf to `out`; false when the range is at its end and nothing was added.
    /// A future dropped before its end has not moved the cursor.
    pub async fn next_batch(&mut self, _out: &mut Vec<Entry>, _max: usize) -> Result<bool> {
        unimplemented!()
    }
}
