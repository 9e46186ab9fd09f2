//! [`TableCodec`]: all codecs of one table, made once when its definition is loaded.

use std::sync::Arc;

use bytes::Bytes;

use crate::error::TypeError;
use crate::key::KeyCodec;
use crate::row::RowLayout;
use crate::schema::{IndexDef, TableDef};
use crate::scratch::exact;
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
        let row = RowLayout::new(&def);
        let indexes = def.indexes.iter().enumerate().map(|(number, index)| {
            let covered = if number == 0 { (0..def.columns.len()).collect() } else { covered(&def, index) };
            let layout = RowLayout::of_columns(covered.iter().map(|&column| &def.columns[column]));
            IndexCodec { key: KeyCodec::new(&def, index), covered, layout }
        });
        let indexes = indexes.collect();
        TableCodec { def, row, indexes }
    }

    /// The clustered key of a row.
    pub fn clustered_key(&self, row: &[u8]) -> Result<Bytes, TypeError> {
        exact(0, |out| self.indexes[0].key.encode_row(&self.row, row, out))
    }

    /// Key and value of the entry that index `index` (position in [`TableDef::indexes`], not 0) has for a row.
    pub fn secondary_entry(&self, index: usize, row: &[u8]) -> Result<(Bytes, Bytes), TypeError> {
        let codec = &self.indexes[index];
        let key = exact(0, |out| codec.key.encode_row(&self.row, row, out))?;
        Ok((key, codec.covering_image(&self.row, row)?))
    }

    /// The key prefix for values of the first parts of an index.
    pub fn prefix(&self, index: usize, values: &[Value]) -> Result<Bytes, TypeError> {
        exact(0, |out| self.indexes[index].key.encode_prefix(values, out))
    }

    /// The clustered key in a key of secondary index `index`.
    pub fn clustered_key_of<'a>(&self, index: usize, key: &'a [u8]) -> Result<&'a [u8], TypeError> {
        let codec = &self.indexes[index].key;
        Ok(&key[codec.prefix_len(key, codec.parts())?..])
    }
}

impl IndexCodec {
    /// The value of the index's entry for a row: the covered columns' bytes, copied.
    pub fn covering_image(&self, table: &RowLayout, row: &[u8]) -> Result<Bytes, TypeError> {
        exact(0, |out| self.covering_image_into(table, row, out))
    }

    /// The same at the end of `out`.
    pub fn covering_image_into(&self, table: &RowLayout, row: &[u8], out: &mut Vec<u8>) -> Result<(), TypeError> {
        let start = out.len();
        out.resize(start + self.covered.len().div_ceil(8), 0);
        for (number, &column) in self.covered.iter().enumerate() {
            match table.slice(row, column)? {
                Some(bytes) => out.extend_from_slice(bytes),
                None => out[start + number / 8] |= 1 << (number % 8),
            }
        }
        Ok(())
    }
}

fn covered(def: &TableDef, index: &IndexDef) -> Vec<usize> {
    let mut covered = Vec::new();
    for part in index.parts.iter().chain(&def.primary().parts) {
        if part.prefix_chars.is_none() && !covered.contains(&part.column) {
            covered.push(part.column);
        }
    }
    covered
}
