//! Rows on their way between operators: a flat vector of values, some hundreds of rows at a time.
//!
//! All operators of one query block share one row shape, the *frame* (see [`crate::bind::frame`]): a row of a batch has a
//! value for every slot of the frame, NULL where no operator has filled it yet. So a join copies the outer row and
//! fills in the inner table's slots, and no expression has to be rewritten for the operator that evaluates it.

use base::SqlError;
use types::Value;

/// How many rows an operator hands over at a time, unless less is wanted.
pub(crate) const BATCH_ROWS: usize = 256;

/// A number of rows of the same width.
#[derive(Debug, Default)]
pub(crate) struct RowBatch {
    width: usize,
    values: Vec<Value>,
    rows: usize,
}

impl RowBatch {
    /// An empty batch of rows with `width` values.
    pub(crate) fn new(width: usize) -> Self {
        RowBatch { width, values: Vec::new(), rows: 0 }
    }

    /// Values per row.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Number of rows.
    pub(crate) fn len(&self) -> usize {
        self.rows
    }

    /// Whether there is no row.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Forgets all rows, keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.values.clear();
        self.rows = 0;
    }

    /// Row number `index`.
    pub(crate) fn row(&self, index: usize) -> &[Value] {
        debug_assert!(index < self.rows);
        &self.values[index * self.width..(index + 1) * self.width]
    }

    /// Row number `index`, to be changed.
    pub(crate) fn row_mut(&mut self, index: usize) -> &mut [Value] {
        debug_assert!(index < self.rows);
        &mut self.values[index * self.width..(index + 1) * self.width]
    }

    /// All rows in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[Value]> {
        (0..self.rows).map(|index| self.row(index))
    }

    /// Adds a copy of `row`, and gives it for changes.
    pub(crate) fn push(&mut self, row: &[Value]) -> &mut [Value] {
        debug_assert_eq!(row.len(), self.width);
        self.values.extend_from_slice(row);
        self.rows += 1;
        let last = self.rows - 1;
        self.row_mut(last)
    }

    /// Adds a row of NULLs, and gives it for changes.
    pub(crate) fn push_nulls(&mut self) -> &mut [Value] {
        self.values.resize_with(self.values.len() + self.width, Value::default);
        self.rows += 1;
        let last = self.rows - 1;
        self.row_mut(last)
    }

    /// Adds a row that is moved out of `row`.
    pub(crate) fn push_owned(&mut self, row: &mut Vec<Value>) {
        debug_assert_eq!(row.len(), self.width);
        self.values.append(row);
        self.rows += 1;
    }

    /// Removes the last row.
    pub(crate) fn pop(&mut self) {
        self.rows -= 1;
        self.values.truncate(self.rows * self.width);
    }

    /// Keeps only the first `rows` rows.
    pub(crate) fn truncate(&mut self, rows: usize) {
        if rows < self.rows {
            self.rows = rows;
            self.values.truncate(rows * self.width);
        }
    }

    /// Removes `rows` rows from number `from` on.
    pub(crate) fn remove_range(&mut self, from: usize, rows: usize) {
        self.values.drain(from * self.width..(from + rows) * self.width);
        self.rows -= rows;
    }

    /// Keeps, of the rows from number `from` on, those for which `keep` says so, in their order.
    pub(crate) fn retain_from(
        &mut self,
        from: usize,
        mut keep: impl FnMut(&[Value]) -> Result<bool, SqlError>,
    ) -> Result<(), SqlError> {
        let mut kept = from;
        for index in from..self.rows {
            if keep(self.row(index))? {
                if kept != index {
                    self.move_row(index, kept);
                }
                kept += 1;
            }
        }
        self.truncate(kept);
        Ok(())
    }

    fn move_row(&mut self, from: usize, to: usize) {
        let (head, tail) = self.values.split_at_mut(from * self.width);
        head[to * self.width..(to + 1) * self.width].swap_with_slice(&mut tail[..self.width]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(batch: &RowBatch) -> Vec<i64> {
        let number = |value: &Value| if let Value::Int(number) = value { *number } else { -1 };
        batch.iter().map(|row| number(&row[0])).collect()
    }

    #[test]
    fn retain_keeps_order() {
        let mut batch = RowBatch::new(2);
        for number in 0..6 {
            batch.push(&[Value::Int(number), Value::Null]);
        }
        batch.retain_from(0, |row| Ok(matches!(row[0], Value::Int(n) if n % 2 == 1))).unwrap();
        assert_eq!(numbers(&batch), [1, 3, 5]);
        batch.remove_range(0, 1);
        assert_eq!(numbers(&batch), [3, 5]);
        batch.pop();
        assert_eq!(numbers(&batch), [3]);
    }

    #[test]
    fn rows_without_values_are_counted() {
        let mut batch = RowBatch::new(0);
        batch.push(&[]);
        batch.push(&[]);
        assert_eq!(batch.len(), 2);
        batch.retain_from(0, |_| Ok(false)).unwrap();
        assert!(batch.is_empty());
    }
}
