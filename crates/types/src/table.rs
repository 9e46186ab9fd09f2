//! [`TableCodec`]: all codecs of one table, made once when its definition is loaded.

use std::sync::Arc;

use bytes::Bytes;

use crate::error::TypeError;
use crate::key::KeyCodec;
use crate::row::RowLayout;
use crate::schema::TableDef;
use crate::value::Value;

/// Row layout, key codecs and covering layouts of a table.
#[derive(Clone, Debug)]
pub struct TableCodec {
    /// The table.
    pub def: Arc<TableDef>,
    /// Its rows.
    pub row: RowLayout,
    /// Per index, in the order of [`TableDef::indexes`].
    pub indexes: Vec<IndexCodec>,
}

/// Codecs of one index.
#[derive(Clone, Debug)]
pub struct IndexCodec {
    /// Of its keys.
    pub key: KeyCodec,
    /// Which columns of the table its entries hold, in the order of `layout`: the index's columns, then those of the
    /// primary key that are not among them; without columns of which the index has only a prefix. All columns for the
    /// clustered index.
    pub covered: Vec<usize>,
    /// Layout of the entries' values. The table's own for the clustered index.
    pub layout: RowLayout,
}

impl TableCodec {
    /// For a table.
    pub fn new(def: Arc<TableDef>) -> Self {
        let _ = def;
        todo!()
    }

    /// The clustered key of a row.
    pub fn clustered_key(&self, row: &[u8]) -> Result<Bytes, TypeError> {
        let _ = row;
        todo!()
    }

    /// Key and value of the entry that index `index` (position in [`TableDef::indexes`], not 0) has for a row.
    pub fn secondary_entry(&self, index: usize, row: &[u8]) -> Result<(Bytes, Bytes), TypeError> {
        let _ = (index, row);
        todo!()
    }

    /// The key prefix for values of the first parts of an index.
    pub fn prefix(&self, index: usize, values: &[Value]) -> Result<Bytes, TypeError> {
        let mut out = Vec::new();
        self.indexes[index].key.encode_prefix(values, &mut out)?;
        Ok(out.into())
    }

    /// The clustered key in a key of secondary index `index`.
    pub fn clustered_key_of<'a>(&self, index: usize, key: &'a [u8]) -> Result<&'a [u8], TypeError> {
        let codec = &self.indexes[index].key;
        Ok(&key[codec.prefix_len(key, codec.parts())?..])
    }
}
