//! The row codec: a row is the full row image of the binary log's version 2 rows events.

use bytes::Bytes;

use crate::error::TypeError;
use crate::schema::{ColumnDef, TableDef};
use crate::value::Value;

/// How the columns of a table (or of a covering image) lie in a row image. Made once per table definition.
#[derive(Clone, Debug)]
pub struct RowLayout {
    columns: Vec<ColumnDef>,
}

impl RowLayout {
    /// The layout of a table's rows.
    pub fn new(table: &TableDef) -> Self {
        RowLayout::of_columns(table.columns.iter())
    }

    /// The layout of some columns in this order.
    pub fn of_columns<'a>(columns: impl IntoIterator<Item = &'a ColumnDef>) -> Self {
        RowLayout { columns: columns.into_iter().cloned().collect() }
    }

    /// How many columns.
    pub fn len(&self) -> usize {
        self.columns.len()
    }

    /// No columns?
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// Encodes a row. Values are of the column's own kind already (`sql::expr::convert_for_column` makes them so).
    pub fn encode(&self, values: &[Value]) -> Result<Bytes, TypeError> {
        let mut out = Vec::new();
        self.encode_into(values, &mut out)?;
        Ok(out.into())
    }

    /// Appends the row image to `out`.
    pub fn encode_into(&self, values: &[Value], out: &mut Vec<u8>) -> Result<(), TypeError> {
        let _ = (values, out);
        todo!()
    }

    /// Decodes all columns at the end of `out`. Strings are slices of `row`.
    pub fn decode(&self, row: &Bytes, out: &mut Vec<Value>) -> Result<(), TypeError> {
        let _ = (row, out);
        todo!()
    }

    /// Decodes one column.
    pub fn decode_column(&self, row: &Bytes, column: usize) -> Result<Value, TypeError> {
        let _ = (row, column);
        todo!()
    }

    /// Decodes the wanted columns (ascending positions) into the slots of the same number; others are left as they are.
    /// `out` has at least as many slots as the layout has columns.
    pub fn decode_columns(&self, row: &Bytes, wanted: &[usize], out: &mut [Value]) -> Result<(), TypeError> {
        let _ = (row, wanted, out);
        todo!()
    }

    /// The encoded bytes of one column with its length prefix if it has one; `None` is NULL.
    pub fn slice<'a>(&self, row: &'a [u8], column: usize) -> Result<Option<&'a [u8]>, TypeError> {
        let _ = (row, column);
        todo!()
    }

    /// A copy of `row` with some columns changed (ascending positions): the unchanged ones are copied as bytes.
    pub fn replace(&self, row: &[u8], changes: &[(usize, Value)]) -> Result<Bytes, TypeError> {
        let _ = (row, changes);
        todo!()
    }

    /// Checks that these bytes are a row of this layout and no more. For bytes from elsewhere.
    pub fn verify(&self, row: &[u8]) -> Result<(), TypeError> {
        let _ = row;
        todo!()
    }

    /// The length of the row image at the beginning of `bytes`.
    pub fn image_len(&self, bytes: &[u8]) -> Result<usize, TypeError> {
        let _ = bytes;
        todo!()
    }
}
