//! What can go wrong between the forms of a value.

use base::{ErrorClass, SqlError, codes};

/// A value that does not fit its column, or bytes that are no row.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TypeError {
    /// The value is not one that the column's type can hold. `sql::expr::convert_for_column` makes those that are; this
    /// error is a bug of the caller.
    #[error("a value of type {found} was given to column {column} ({expected})")]
    WrongValue {
        /// Position of the column in its row.
        column: usize,
        /// The column's type.
        expected: String,
        /// The kind of the value.
        found: &'static str,
    },
    /// The row has another number of values than its layout has columns.
    #[error("a row of {found} values was given to a layout of {expected} columns")]
    WrongCount {
        /// Columns of the layout.
        expected: usize,
        /// Values given.
        found: usize,
    },
    /// A row image ends early, or is too long, or holds an impossible value.
    #[error("damaged row image: column {column}: {what}")]
    DamagedRow {
        /// The column that was being read.
        column: usize,
        /// What is wrong.
        what: &'static str,
    },
    /// Key bytes that no encoder made.
    #[error("damaged key: {0}")]
    DamagedKey(&'static str),
}

impl TypeError {
    /// What a caller can do about it.
    pub fn class(&self) -> ErrorClass {
        match self {
            TypeError::WrongValue { .. } | TypeError::WrongCount { .. } => ErrorClass::Bug,
            TypeError::DamagedRow { .. } | TypeError::DamagedKey(_) => ErrorClass::Corrupt,
        }
    }
}

impl From<TypeError> for SqlError {
    fn from(error: TypeError) -> Self {
        match error.class() {
            ErrorClass::Corrupt => SqlError::new(codes::CRASHED_ON_USAGE, error.to_string()),
            _ => SqlError::unknown(error),
        }
    }
}
