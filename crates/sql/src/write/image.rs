//! [`ImageMaker`]: rows that come as bytes, as those of another server's log do.
//!
//! Its inputs are the bytes of columns, in the table's order, so a row is written from its first column to its last and no value is decoded. What the log
//! does not have is the default, and NULL for a column that takes none the default or zero, of which no word is said; both are kept as bytes.

use std::sync::Arc;

use base::SqlError;
use engine::Table;
use types::Value;

use super::{DefaultValue, RowMaker};
use crate::bind::Binder;
use crate::exec::ExecContext;
use crate::expr::zero::implicit_default;
use crate::expr::{Strictness, convert_for_column};

/// How images of a table are made of the bytes of columns.
#[derive(Debug)]
pub(crate) struct ImageMaker {
    maker: RowMaker,
    /// Per column.
    fills: Vec<Fill>,
}

/// Bytes that a column gets.
#[derive(Debug)]
struct Fill {
    /// Of the zero of its type.
    zero: Vec<u8>,
    /// Of its default, if that is the same for all rows, and not NULL.
    default: Option<Vec<u8>>,
}

impl ImageMaker {
    /// For rows of a log.
    pub(crate) fn new(binder: &Binder<'_>, table: &Arc<Table>) -> Result<Self, SqlError> {
        let maker = RowMaker::without_complaints(binder, table)?;
        let encode = |number: usize, value: &Value| {
            let mut bytes = Vec::new();
            table.codec.row.encode_column(number, value, &mut bytes).map(|()| bytes)
        };
        let mut fills = Vec::with_capacity(table.def.columns.len());
        for (number, column) in table.def.columns.iter().enumerate() {
            let default = match maker.default(number) {
                DefaultValue::Stored(value) if !value.is_null() => Some(encode(number, value)?),
                _ => None,
            };
            fills.push(Fill { zero: encode(number, &implicit_default(column))?, default });
        }
        Ok(ImageMaker { maker, fills })
    }

    /// Begins a row in a buffer, whose content goes.
    pub(crate) fn begin<'o>(&self, out: &'o mut Vec<u8>) -> ImageWriter<'o> {
        ImageWriter::new(out, self.fills.len())
    }

    /// The next column, which is this one, gets NULL or what stands for it.
    pub(crate) fn null(&self, column: usize, row: &mut ImageWriter<'_>) {
        if self.maker.column(column).nullable {
            return row.null();
        }
        let Fill { zero, default } = &self.fills[column];
        row.bytes(default.as_ref().unwrap_or(zero));
    }

    /// It gets anything that is a value.
    pub(crate) fn zero(&self, column: usize, row: &mut ImageWriter<'_>) {
        row.bytes(&self.fills[column].zero);
    }

    /// It gets its default.
    pub(crate) fn default(
        &self,
        column: usize,
        row_number: u64,
        context: &ExecContext<'_>,
        row: &mut ImageWriter<'_>,
    ) -> Result<(), SqlError> {
        if let Some(bytes) = &self.fills[column].default {
            row.bytes(bytes);
            return Ok(());
        }
        let def = self.maker.column(column);
        let value = match self.maker.default(column) {
            DefaultValue::AutoIncrement => {
                let number = Value::UInt(self.maker.next_number(column, context.auto_increment));
                convert_for_column(number, def, Strictness::Strict, row_number, &context.eval)?
            }
            default => default.value(def, Strictness::Lenient, row_number, &context.eval)?,
        };
        if value.is_null() && def.nullable {
            row.null();
            return Ok(());
        }
        row.write(|out| Ok(self.maker.codec().row.encode_column(column, &value, out)?))
    }
}

/// A row of ours under way, column by column.
pub(crate) struct ImageWriter<'o> {
    out: &'o mut Vec<u8>,
    column: usize,
}

impl<'o> ImageWriter<'o> {
    /// Begins a row in a buffer, whose content goes.
    pub(crate) fn new(out: &'o mut Vec<u8>, columns: usize) -> Self {
        out.clear();
        out.resize(columns.div_ceil(8), 0);
        ImageWriter { out, column: 0 }
    }

    /// The next column is NULL.
    pub(crate) fn null(&mut self) {
        self.out[self.column / 8] |= 1 << (self.column % 8);
        self.column += 1;
    }

    /// The next column has these bytes.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
        self.column += 1;
    }

    /// The next column's bytes are appended by `write`.
    pub(crate) fn write<E>(&mut self, write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>) -> Result<(), E> {
        write(self.out)?;
        self.column += 1;
        Ok(())
    }
}
