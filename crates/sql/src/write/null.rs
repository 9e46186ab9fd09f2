//! NULL for a column that takes none, and what a file has no field for.
//!
//! | who writes | a NULL for such a column | |
//! |---|---|---|
//! | INSERT, UPDATE | 1048; zero | an error for a single row whatever `sql_mode` says |
//! | LOAD DATA | the statement's time for a TIMESTAMP; 1263; zero | |
//! | ALTER TABLE | the statement's time for a TIMESTAMP; 1138, or 1265 where MySQL copies the table; zero | a MariaDB that copies nothing has the default that the column had |
//! | a cascade | 1451 | and as well a text that is too long |
//! | another server's log | the default, or zero | without a word |
//!
//! What is behind an error stands in the row where `sql_mode` is not strict; the error is a warning then. Zero is that of the type, and no member for an ENUM.

use base::{SqlError, codes};
use types::{ColumnDef, ColumnDefault, ColumnType, Value};

use super::{NewRow, RowMaker, Terms, default};
use crate::expr::zero::zero_for_null;
use crate::expr::{EvalContext, Strictness};

/// A NULL that ALTER TABLE finds.
#[derive(Clone, Copy)]
pub(crate) struct NullOfCopy<'a> {
    /// What the column was.
    pub(crate) was: &'a ColumnDef,
    /// MySQL copies the table.
    pub(crate) is_copied: bool,
    pub(crate) is_of_maria: bool,
}

impl RowMaker {
    /// An input that is NULL in a row which ALTER TABLE makes anew. For a TIMESTAMP it is the statement's time, unless the error of a table that is not copied
    /// comes first, which MariaDB does not have. For AUTO_INCREMENT it becomes a number.
    pub(crate) fn set_null_of_copy(
        &self,
        row: &mut NewRow,
        column: usize,
        of: NullOfCopy<'_>,
        terms: Terms,
        eval: &EvalContext<'_>,
    ) -> Result<(), SqlError> {
        let def = self.column(column);
        if self.stays_null(column) {
            row.put(column, Value::Null);
            return Ok(());
        }
        let is_strict = terms.strictness == Strictness::Strict;
        let is_refused = is_strict && !of.is_copied && !of.is_of_maria;
        if matches!(def.ty, ColumnType::Timestamp { .. }) && !is_refused {
            row.put(column, default::time_at(def, eval.now, &eval.session.time_zone));
            return Ok(());
        }
        if is_strict && !of.is_copied {
            return Err(SqlError::new(codes::INVALID_USE_OF_NULL, "Invalid use of NULL value"));
        }
        let message = format!("Data truncated for column '{}' at row {}", def.name, row.number);
        terms.complain(codes::WARN_DATA_TRUNCATED, message, eval)?;
        match &of.was.default {
            Some(ColumnDefault::Literal(value)) if of.is_of_maria && !of.is_copied && !value.is_null() => {
                self.set(row, column, value.clone(), terms, eval)
            }
            _ => {
                row.put(column, zero_for_null(def));
                Ok(())
            }
        }
    }

    /// Whether a NULL is what a column takes, or asks for its number.
    fn stays_null(&self, column: usize) -> bool {
        self.column(column).nullable || self.auto_increment == Some(column)
    }

    /// Whether a column takes the value of its parent's, whose text may be longer: the lengths of their columns may differ.
    pub(crate) fn takes_from_parent(&self, column: usize, value: &Value) -> bool {
        let def = self.column(column);
        match (value, &def.ty) {
            (Value::Null, _) => def.nullable,
            (Value::Str(text), ColumnType::Char { chars } | ColumnType::VarChar { chars }) => {
                text.len() <= *chars as usize || String::from_utf8_lossy(text).chars().count() <= *chars as usize
            }
            (Value::Str(bytes) | Value::Bytes(bytes), ty) => !ty.is_string() || bytes.len() <= def.max_bytes() as usize,
            _ => true,
        }
    }

    /// An input that is NULL in a file.
    pub(crate) fn set_null_of_file(
        &self,
        row: &mut NewRow,
        column: usize,
        terms: Terms,
        eval: &EvalContext<'_>,
    ) -> Result<(), SqlError> {
        let def = self.column(column);
        if self.stays_null(column) {
            row.put(column, Value::Null);
            return Ok(());
        }
        if let Some(time) = self.time_without_null(row, column, terms, eval)? {
            row.put(column, time);
            return Ok(());
        }
        let message = format!(
            "Column set to default value; NULL supplied to NOT NULL column '{}' at row {}",
            def.name, row.number
        );
        terms.complain(codes::WARN_NULL_TO_NOTNULL, message, eval)?;
        row.put(column, zero_for_null(def));
        Ok(())
    }

    /// A line of a file ends before the column's field. A field before may have been for the same column.
    pub(crate) fn set_missing_field(
        &self,
        row: &mut NewRow,
        column: usize,
        terms: Terms,
        eval: &EvalContext<'_>,
    ) -> Result<(), SqlError> {
        let has_value = row.is_given(column) && !row.value(column).is_null();
        let is_null = self.auto_increment == Some(column) || self.default(column).is_null() && !has_value;
        let value = match self.time_without_null(row, column, terms, eval)? {
            _ if is_null => Value::Null,
            Some(time) => time,
            None => zero_for_null(self.column(column)),
        };
        row.put(column, value);
        Ok(())
    }

    /// A line of fields with fixed lengths ends before the column's: it keeps its default, but is not NULL.
    pub(crate) fn keep_default(
        &self,
        row: &mut NewRow,
        column: usize,
        terms: Terms,
        eval: &EvalContext<'_>,
    ) -> Result<(), SqlError> {
        if let Some(time) = self.time_without_null(row, column, terms, eval)? {
            row.put(column, time);
        } else if self.default(column).is_null() {
            row.put(column, zero_for_null(self.column(column)));
        }
        Ok(())
    }

    /// A TIMESTAMP that may not be NULL is the time of the statement where the file has no value for it.
    fn time_without_null(
        &self,
        row: &NewRow,
        column: usize,
        terms: Terms,
        eval: &EvalContext<'_>,
    ) -> Result<Option<Value>, SqlError> {
        let def = self.column(column);
        if def.nullable || !matches!(def.ty, ColumnType::Timestamp { .. }) {
            return Ok(None);
        }
        default::statement_time(def, terms.strictness, row.number, eval).map(Some)
    }
}
