//! The row codec: a row is the full row image of the binary log's version 2 rows events.
//!
//! ```text
//!   | null bitmap, (columns + 7) / 8 bytes | value | value | …        NULLs have no value
//!     bit i (lowest first) of byte i / 8: column i is NULL
//! ```
//!
//! The same bytes are in the event, in the memtable and in a leaf of the clustered tree, so a row is encoded once in its
//! life. [`crate::column`] has the values' bytes. A [`RowLayout`] knows where the columns lie that only fixed-size, NOT NULL
//! columns precede; to reach another one it steps over those between, by their lengths, without decoding them.
//!
//! # Invariants
//! - `decode(encode(values)) == values` for values in their columns' own form (CHAR without trailing spaces).
//! - Bytes that were not made here give an error, never a panic.

mod field;

use std::ops::Range;

use bytes::Bytes;

use crate::column::Codec;
use crate::error::TypeError;
use crate::schema::{ColumnDef, TableDef};
use crate::value::Value;

pub use field::Field;

/// How the columns of a table (or of a covering image) lie in a row image. Made once per table definition.
#[derive(Clone, Debug)]
pub struct RowLayout {
    columns: Vec<Column>,
    /// The first of these columns are fixed-size and NOT NULL, and so is the place of the one after them.
    known: usize,
    bitmap_len: usize,
    /// A guess at the size of a row, so that encoding allocates once.
    expected_size: usize,
}

#[derive(Clone, Debug)]
struct Column {
    codec: Codec,
    nullable: bool,
    fixed_size: Option<usize>,
    /// Where it begins; meaningful for columns up to and including `known`.
    offset: usize,
}

impl RowLayout {
    /// The layout of a table's rows.
    pub fn new(table: &TableDef) -> Self {
        RowLayout::of_columns(table.columns.iter())
    }

    /// The layout of some columns in this order.
    pub fn of_columns<'a>(columns: impl IntoIterator<Item = &'a ColumnDef>) -> Self {
        let new = |column: &ColumnDef| {
            let codec = Codec::new(column);
            Column { fixed_size: codec.fixed_size(), codec, nullable: column.nullable, offset: 0 }
        };
        let mut columns: Vec<Column> = columns.into_iter().map(new).collect();
        let bitmap_len = columns.len().div_ceil(8);
        let is_known = |column: &&Column| column.fixed_size.is_some() && !column.nullable;
        let known = columns.iter().take_while(is_known).count();
        let mut offset = bitmap_len;
        for column in columns.iter_mut().take(known + 1) {
            column.offset = offset;
            offset += column.fixed_size.unwrap_or(0);
        }
        let expected_size = bitmap_len + columns.iter().map(|column| column.fixed_size.unwrap_or(32)).sum::<usize>();
        RowLayout { columns, known, bitmap_len, expected_size }
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
        let mut out = Vec::with_capacity(self.expected_size + Value::bytes_of(values));
        self.encode_into(values, &mut out)?;
        Ok(exactly(out))
    }

    /// Appends the row image to `out`.
    pub fn encode_into(&self, values: &[Value], out: &mut Vec<u8>) -> Result<(), TypeError> {
        if values.len() != self.columns.len() {
            return Err(TypeError::WrongCount { expected: self.columns.len(), found: values.len() });
        }
        let start = out.len();
        out.resize(start + self.bitmap_len, 0);
        for (at, (column, value)) in self.columns.iter().zip(values).enumerate() {
            if value.is_null() && column.nullable {
                out[start + at / 8] |= 1 << (at % 8);
            } else {
                self.encode_value(at, value, out)?;
            }
        }
        Ok(())
    }

    /// Appends the bytes of one column's value, which is not NULL: a part of a row that is put together from others' bytes.
    pub fn encode_column(&self, column: usize, value: &Value, out: &mut Vec<u8>) -> Result<(), TypeError> {
        self.encode_value(column, value, out)
    }

    fn encode_value(&self, column: usize, value: &Value, out: &mut Vec<u8>) -> Result<(), TypeError> {
        let codec = &self.columns[column].codec;
        codec.encode(value, out).ok_or_else(|| TypeError::WrongValue {
            column,
            expected: format!("{codec:?}"),
            found: value.kind_name(),
        })
    }

    /// Decodes all columns at the end of `out`. Strings are slices of `row`.
    pub fn decode(&self, row: &Bytes, out: &mut Vec<Value>) -> Result<(), TypeError> {
        out.reserve(self.columns.len());
        let mut at = self.begin(row)?;
        for (number, column) in self.columns.iter().enumerate() {
            if is_null(row, number) {
                out.push(Value::Null);
                continue;
            }
            let end = self.end(row, number, at)?;
            out.push(column.codec.decode(row, at..end).ok_or(damaged(number, "impossible value"))?);
            at = end;
        }
        Ok(())
    }

    /// Decodes one column.
    pub fn decode_column(&self, row: &Bytes, column: usize) -> Result<Value, TypeError> {
        match self.locate(row, column)? {
            None => Ok(Value::Null),
            Some(place) => self.columns[column].codec.decode(row, place).ok_or(damaged(column, "impossible value")),
        }
    }

    /// Decodes the wanted columns (ascending positions) into the slots of the same number; others are left as they are.
    /// `out` has at least as many slots as the layout has columns.
    pub fn decode_columns(&self, row: &Bytes, wanted: &[usize], out: &mut [Value]) -> Result<(), TypeError> {
        self.decode_to(row, wanted.iter().map(|&column| (column, column)), out)
    }

    /// Decodes columns (ascending positions) into the slots that stand beside them.
    pub fn decode_to(
        &self,
        row: &Bytes,
        wanted: impl IntoIterator<Item = (usize, usize)>,
        out: &mut [Value],
    ) -> Result<(), TypeError> {
        let mut from = (0, self.begin(row)?);
        for (column, slot) in wanted {
            if column <= self.known {
                from = (column, self.columns[column].offset);
            }
            let place = self.walk(row, from, column)?;
            out[slot] = match &place {
                None => Value::Null,
                Some(place) => {
                    let value = self.columns[column].codec.decode(row, place.clone());
                    value.ok_or(damaged(column, "impossible value"))?
                }
            };
            if let Some(place) = place {
                from = (column, place.start);
            }
        }
        Ok(())
    }

    /// The encoded bytes of one column with its length prefix if it has one; `None` is NULL.
    pub fn slice<'a>(&self, row: &'a [u8], column: usize) -> Result<Option<&'a [u8]>, TypeError> {
        Ok(self.locate(row, column)?.map(|place| &row[place]))
    }

    /// A copy of `row` with some columns changed (ascending positions): the unchanged ones are copied as bytes.
    pub fn replace(&self, row: &[u8], changes: &[(usize, Value)]) -> Result<Bytes, TypeError> {
        let strings = changes.iter().filter_map(|(_, value)| value.as_bytes()).map(|bytes| bytes.len()).sum::<usize>();
        let mut out = Vec::with_capacity(row.len() + strings + 8 * changes.len());
        let mut at = self.begin(row)?;
        out.extend_from_slice(&row[..at]);
        let mut next = 0;
        for (column, value) in changes {
            let start = at;
            for number in next..*column {
                at = self.skip(row, number, at)?;
            }
            out.extend_from_slice(&row[start..at]);
            at = self.skip(row, *column, at)?;
            let (byte, bit) = (column / 8, 1 << (column % 8));
            if value.is_null() && self.columns[*column].nullable {
                out[byte] |= bit;
            } else {
                out[byte] &= !bit;
                self.encode_value(*column, value, &mut out)?;
            }
            next = column + 1;
        }
        let start = at;
        for number in next..self.columns.len() {
            at = self.skip(row, number, at)?;
        }
        out.extend_from_slice(&row[start..at]);
        Ok(exactly(out))
    }

    /// Checks that these bytes are a row of this layout and no more. For bytes from elsewhere.
    pub fn verify(&self, row: &[u8]) -> Result<(), TypeError> {
        match self.image_len(row)? == row.len() {
            true => Ok(()),
            false => Err(damaged(self.columns.len(), "bytes after the last column")),
        }
    }

    /// The length of the row image at the beginning of `bytes`.
    pub fn image_len(&self, bytes: &[u8]) -> Result<usize, TypeError> {
        let begin = self.begin(bytes)?;
        (0..self.columns.len()).try_fold(begin, |at, column| self.skip(bytes, column, at))
    }

    fn begin(&self, row: &[u8]) -> Result<usize, TypeError> {
        if row.len() < self.bitmap_len { Err(damaged(0, "no null bitmap")) } else { Ok(self.bitmap_len) }
    }

    fn locate(&self, row: &[u8], column: usize) -> Result<Option<Range<usize>>, TypeError> {
        let begin = self.begin(row)?;
        let from = match column.min(self.known) {
            0 => (0, begin),
            known => (known, self.columns[known.min(self.columns.len() - 1)].offset),
        };
        let from = if from.0 >= self.columns.len() { (column, self.columns[column].offset) } else { from };
        self.walk(row, from, column)
    }

    /// The place of a column, walking from one whose place is known.
    fn walk(
        &self,
        row: &[u8],
        (from, mut at): (usize, usize),
        column: usize,
    ) -> Result<Option<Range<usize>>, TypeError> {
        if is_null(row, column) {
            return Ok(None);
        }
        for number in from..column {
            at = self.skip(row, number, at)?;
        }
        Ok(Some(at..self.end(row, column, at)?))
    }

    fn skip(&self, row: &[u8], column: usize, at: usize) -> Result<usize, TypeError> {
        if is_null(row, column) { Ok(at) } else { self.end(row, column, at) }
    }

    #[inline]
    fn end(&self, row: &[u8], column: usize, at: usize) -> Result<usize, TypeError> {
        let size = match self.columns[column].fixed_size {
            Some(size) => at.checked_add(size).filter(|&end| end <= row.len()).map(|_| size),
            None => row.get(at..).and_then(|rest| self.columns[column].codec.size_at(rest)),
        };
        size.map(|size| at + size).ok_or(damaged(column, "ends early"))
    }
}

/// A row that is kept takes the memory of its bytes, and not the room that it might have needed. A long one is not copied for that.
fn exactly(row: Vec<u8>) -> Bytes {
    const LONG: usize = 64 << 10;
    if row.len() == row.capacity() || row.len() > LONG { row.into() } else { Bytes::copy_from_slice(&row) }
}

/// The caller has checked that the bitmap is there.
fn is_null(row: &[u8], column: usize) -> bool {
    row[column / 8] >> (column % 8) & 1 == 1
}

fn damaged(column: usize, what: &'static str) -> TypeError {
    TypeError::DamagedRow { column, what }
}

#[cfg(test)]
pub(crate) mod tests;
