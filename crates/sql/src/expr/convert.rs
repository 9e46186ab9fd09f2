//! Assignment: a value on its way into a column.

use base::SqlError;
use types::{ColumnDef, Value};

use crate::expr::context::EvalContext;

/// What becomes of a value that does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strictness {
    /// An error: strict sql_mode.
    Strict,
    /// The nearest value that fits, and a warning: no strict mode, or IGNORE.
    Lenient,
}

/// The value in the column's own form, ready for [`types::RowLayout::encode`]; `row_number` (from 1) is for messages.
///
/// TIMESTAMP columns get their value in UTC; text is checked against the column's character set and length; NULL for a
/// NOT NULL column is 1048 (or the type's zero where that is allowed).
pub fn convert_for_column(
    value: Value,
    column: &ColumnDef,
    strictness: Strictness,
    row_number: u64,
    ctx: &EvalContext<'_>,
) -> Result<Value, SqlError> {
    let _ = (value, column, strictness, row_number, ctx);
    todo!()
}

/// The zero of a column's type: what a NOT NULL column without DEFAULT gets outside strict mode.
pub fn implicit_default(column: &ColumnDef) -> Value {
    let _ = column;
    todo!()
}
