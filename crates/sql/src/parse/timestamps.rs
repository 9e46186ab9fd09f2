//! TIMESTAMP columns as servers define them with `explicit_defaults_for_timestamp=0`, which is the default of MariaDB before 10.10 and of MySQL
//! before 8.0.
//!
//! ```text
//! a column that is not said to be NULL   is NOT NULL
//! the first one of a statement           DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP, if neither is said of it
//! any other                              DEFAULT '0000-00-00 00:00:00', if no default is said
//! ```

use std::ops::Range;

use super::ast::ColumnSpec;

/// A TIMESTAMP column that a definition names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TimestampColumn {
    /// Behind its type.
    at: usize,
    digits: u64,
    is_null: bool,
    is_not_null: bool,
    has_default: bool,
    has_on_update: bool,
}

impl TimestampColumn {
    pub(super) fn of(column: &ColumnSpec, at: usize) -> Option<Self> {
        (column.ty.name == "timestamp").then(|| TimestampColumn {
            at,
            digits: column.ty.length.unwrap_or(0),
            is_null: column.nullable == Some(true),
            is_not_null: column.nullable == Some(false),
            has_default: column.default.is_some(),
            has_on_update: column.on_update_now.is_some(),
        })
    }

    /// What has to be said of it.
    fn unsaid(&self, is_first: bool) -> String {
        if self.is_null {
            return String::new();
        }
        let not_null = if self.is_not_null { "" } else { " NOT NULL" };
        let now = if self.digits == 0 { String::new() } else { format!("({})", self.digits) };
        match (self.has_default, is_first && !self.has_on_update) {
            (true, _) => not_null.to_owned(),
            (false, true) => {
                format!("{not_null} DEFAULT CURRENT_TIMESTAMP{now} ON UPDATE CURRENT_TIMESTAMP{now}")
            }
            (false, false) => format!("{not_null} DEFAULT '0000-00-00 00:00:00'"),
        }
    }
}

/// What has to be said of a statement's columns, and where.
pub(super) fn unsaid(mut columns: Vec<TimestampColumn>) -> impl Iterator<Item = (Range<usize>, String)> {
    // What was tried and taken back was found twice.
    columns.sort_by_key(|column| column.at);
    columns.dedup_by_key(|column| column.at);
    let said =
        columns.into_iter().enumerate().map(|(number, column)| (column.at..column.at, column.unsaid(number == 0)));
    said.filter(|(_, text)| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use crate::parse::{Foreign, ParseContext, in_our_words};

    #[test]
    fn what_is_not_said() {
        let foreign = Foreign { implicit_timestamps: true, ..Foreign::NOTHING };
        let explicit = |text: &str| in_our_words(text, &ParseContext::default(), foreign);
        for (text, said) in [
            (
                "CREATE TABLE t (a TIMESTAMP, b TIMESTAMP(3), c TIMESTAMP NULL)",
                Some(
                    "CREATE TABLE t (a TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP, b TIMESTAMP(3) NOT NULL DEFAULT \
                     '0000-00-00 00:00:00', c TIMESTAMP NULL)",
                ),
            ),
            (
                "CREATE TABLE t (c TIMESTAMP NULL, a TIMESTAMP NOT NULL)",
                Some("CREATE TABLE t (c TIMESTAMP NULL, a TIMESTAMP DEFAULT '0000-00-00 00:00:00' NOT NULL)"),
            ),
            (
                "ALTER TABLE t ADD COLUMN a TIMESTAMP(6) AFTER b",
                Some(
                    "ALTER TABLE t ADD COLUMN a TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6) AFTER b",
                ),
            ),
            ("CREATE TABLE t (a TIMESTAMP DEFAULT NOW() NOT NULL, b DATETIME)", None),
            ("INSERT INTO t VALUES (TIMESTAMP '2020-01-01 00:00:00')", None),
        ] {
            assert_eq!(explicit(text).as_deref(), said, "{text}");
        }
    }
}
