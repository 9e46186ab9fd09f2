//! The values that a column has in the rows of a sample: read once for all plans that ask for them.

use std::collections::HashMap;
use std::sync::OnceLock;

use types::Value;

use crate::catalog::Table;
use crate::statistics::RowSample;

/// A column of a sample.
#[derive(Clone, Debug)]
pub struct SampledColumn {
    /// Its values, row by row.
    pub values: Vec<Value>,
    /// How many of them are not NULL.
    pub not_null: usize,
    /// How many different ones there are, without NULL.
    pub distinct: usize,
    /// How many of these are there once.
    pub once: usize,
}

/// Per column of the table.
pub(super) type SampledColumns = Vec<OnceLock<Option<SampledColumn>>>;

impl RowSample {
    /// A column of the rows; `None` if it cannot be read.
    pub fn column(&self, table: &Table, column: usize) -> Option<&SampledColumn> {
        self.columns.get(column)?.get_or_init(|| self.read(table, column)).as_ref()
    }

    fn read(&self, table: &Table, column: usize) -> Option<SampledColumn> {
        let (mut values, mut counts) = (Vec::with_capacity(self.rows.len()), HashMap::<&[u8], usize>::new());
        for image in &self.rows {
            let mut value = [Value::Null];
            table.codec.row.decode_to(image, [(column, 0)], &mut value).ok()?;
            values.extend(value);
            if let Some(bytes) = table.codec.row.slice(image, column).ok()? {
                *counts.entry(bytes).or_default() += 1;
            }
        }
        let once = counts.values().filter(|count| **count == 1).count();
        Some(SampledColumn { values, not_null: counts.values().sum(), distinct: counts.len(), once })
    }
}
