//! The key codec: bytes whose order (`memcmp`) is the order of the rows in an index.

use bytes::Bytes;

use crate::error::TypeError;
use crate::row::RowLayout;
use crate::schema::{IndexDef, TableDef};
use crate::value::Value;

/// How the key of one index is made. Made once per table definition.
///
/// * clustered: `enc(primary key parts)`
/// * secondary: `enc(index parts) ++ enc(primary key parts)`
#[derive(Clone, Debug)]
pub struct KeyCodec {
    parts: usize,
}

impl KeyCodec {
    /// For `index` of `table`.
    pub fn new(table: &TableDef, index: &IndexDef) -> Self {
        let _ = table;
        KeyCodec { parts: index.parts.len() }
    }

    /// How many parts the index itself has.
    pub fn parts(&self) -> usize {
        self.parts
    }

    /// Appends the key of a row (an image of the whole table's layout).
    pub fn encode_row(&self, layout: &RowLayout, row: &[u8], out: &mut Vec<u8>) -> Result<(), TypeError> {
        let _ = (layout, row, out);
        todo!()
    }

    /// Appends the key prefix for values of the first parts of the index; for a secondary index the values may go on with
    /// the parts of the primary key. Values are of the column's own kind.
    pub fn encode_prefix(&self, values: &[Value], out: &mut Vec<u8>) -> Result<(), TypeError> {
        let _ = (values, out);
        todo!()
    }

    /// How many bytes of `key` belong to the first `parts` parts. `prefix_len(key, self.parts())` splits a secondary key
    /// into the part on which uniqueness is and the clustered key.
    pub fn prefix_len(&self, key: &[u8], parts: usize) -> Result<usize, TypeError> {
        let _ = (key, parts);
        todo!()
    }

    /// Whether one of the first `parts` parts of the key is NULL (a unique index does not then hold it unique).
    pub fn has_null(&self, key: &[u8], parts: usize) -> Result<bool, TypeError> {
        let _ = (key, parts);
        todo!()
    }
}

/// The smallest key that is greater than every key that begins with `prefix`; `None` if there is none.
pub fn successor(prefix: &[u8]) -> Option<Bytes> {
    let last = prefix.iter().rposition(|&byte| byte != 0xff)?;
    let mut next = prefix[..=last].to_vec();
    next[last] += 1;
    Some(next.into())
}
