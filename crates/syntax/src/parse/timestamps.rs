//! TIMESTAMP columns as servers define them with `explicit_defaults_for_timestamp=0`, which is the default of MariaDB before 10.10 and of MySQL
//! before 8.0.
//!
//! ```text
//! a column that is not said to be NULL   is NOT NULL
//! the first one of the table             DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP, if neither is said of it
//! any other                              DEFAULT '0000-00-00 00:00:00', if no default is said
//! ```
//!
//! The first one is that before which no other TIMESTAMP stands, NULL or not; of a table that is altered, as it is in the end.

use std::ops::Range;

use types::schema::same_name;

use crate::statement::{AlterAction, AlterTable, ColumnPlace, ColumnSpec};

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

/// What has to be said of a statement's columns, and where; `first` is the number of the one that is the first of its table, if any is.
pub(super) fn unsaid(
    mut columns: Vec<TimestampColumn>,
    first: Option<usize>,
) -> impl Iterator<Item = (Range<usize>, String)> {
    // What was tried and taken back was found twice.
    columns.sort_by_key(|column| column.at);
    columns.dedup_by_key(|column| column.at);
    let said = columns.into_iter().enumerate();
    let said = said.map(move |(number, column)| (column.at..column.at, column.unsaid(first == Some(number))));
    said.filter(|(_, text)| !text.is_empty())
}

/// A column of a table that is altered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OldColumn {
    /// Its name.
    pub name: String,
    /// It is a TIMESTAMP.
    pub is_timestamp: bool,
}

/// A column of a table on its way to what it becomes.
struct Arranged {
    /// Its name before.
    old: Option<String>,
    name: String,
    is_timestamp: bool,
    /// Which of the statement's TIMESTAMP columns it is.
    number: Option<usize>,
}

/// The number of the TIMESTAMP column, of those that the statement defines, that is the first one of the table in the end.
pub(super) fn first_of_altered(alter: &AlterTable, old: Vec<OldColumn>) -> Option<usize> {
    /// No table has so many columns that one with more could be altered.
    const ACTIONS_MAX: usize = 16_384;
    if alter.actions.len() > ACTIONS_MAX {
        return None;
    }
    let unchanged =
        |OldColumn { name, is_timestamp }| Arranged { old: Some(name.clone()), name, is_timestamp, number: None };
    let mut columns: Vec<Arranged> = old.into_iter().map(unchanged).collect();
    let was = |column: &Arranged, name: &str| column.old.as_deref().is_some_and(|old| same_name(old, name));
    let actions = || alter.actions.iter().map(AlterAction::unconditional);
    for action in actions() {
        match action {
            AlterAction::DropColumn(name) => columns.retain(|column| !was(column, name)),
            AlterAction::RenameColumn(name, new) => {
                columns.iter_mut().filter(|column| was(column, name)).for_each(|column| column.name.clone_from(new));
            }
            _ => {}
        }
    }
    let mut numbers = 0..;
    for action in actions() {
        let (was_named, spec, place) = match action {
            AlterAction::AddColumn(spec, place) => (None, spec, place),
            AlterAction::ModifyColumn(spec, place) => (Some(&spec.name), spec, place),
            AlterAction::ChangeColumn(old, spec, place) => (Some(old), spec, place),
            _ => continue,
        };
        let is_timestamp = spec.ty.name == "timestamp";
        let number = if is_timestamp { numbers.next() } else { None };
        let column = Arranged { old: None, name: spec.name.clone(), is_timestamp, number };
        let stood = was_named.and_then(|name| columns.iter().position(|column| was(column, name)));
        stood.into_iter().for_each(|stood| drop(columns.remove(stood)));
        let to = match place {
            ColumnPlace::First => Some(0),
            ColumnPlace::After(name) => {
                columns.iter().position(|column| same_name(&column.name, name)).map(|before| before + 1)
            }
            ColumnPlace::Default => stood,
        };
        columns.insert(to.unwrap_or(columns.len()), column);
    }
    columns.iter().find(|column| column.is_timestamp)?.number
}

#[cfg(test)]
mod tests {
    use super::OldColumn;
    use crate::parse::{Foreign, ParseContext, in_our_words, parse_one};

    /// A table `(a INT, b TIMESTAMP, c INT)`, if the statement is about one.
    fn explicit(text: &str, is_altered: bool) -> Option<String> {
        let column = |name: &str| OldColumn { name: name.to_owned(), is_timestamp: name == "b" };
        let columns = || ["a", "b", "c"].map(column).to_vec();
        let foreign = Foreign { implicit_timestamps: true, ..Foreign::default() };
        let parsed = parse_one(text, &ParseContext::default()).unwrap();
        in_our_words(&parsed, foreign, &|_| if is_altered { columns() } else { Vec::new() })
    }

    #[test]
    fn the_first_one_of_the_table() {
        const NOW: &str = "NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP";
        const ZERO: &str = "NOT NULL DEFAULT '0000-00-00 00:00:00'";
        for (text, said) in [
            ("ADD d TIMESTAMP", vec![ZERO]),
            ("ADD d TIMESTAMP FIRST", vec![NOW]),
            ("ADD d TIMESTAMP AFTER a", vec![NOW]),
            ("ADD d TIMESTAMP, ADD e TIMESTAMP AFTER A", vec![ZERO, NOW]),
            ("ADD d TIMESTAMP FIRST, ADD e TIMESTAMP FIRST", vec![ZERO, NOW]),
            ("DROP b, ADD d TIMESTAMP", vec![NOW]),
            ("ADD d TIMESTAMP, DROP b", vec![NOW]),
            ("MODIFY b INT, ADD d TIMESTAMP", vec![NOW]),
            ("MODIFY b TIMESTAMP, ADD d TIMESTAMP", vec![NOW, ZERO]),
            ("CHANGE a b TIMESTAMP, CHANGE b a TIMESTAMP", vec![NOW, ZERO]),
            ("MODIFY c TIMESTAMP", vec![ZERO]),
            ("MODIFY c TIMESTAMP FIRST", vec![NOW]),
            ("RENAME COLUMN a TO z, ADD d TIMESTAMP AFTER z", vec![NOW]),
        ] {
            let text = format!("ALTER TABLE t {text}");
            let explicit = explicit(&text, true).unwrap();
            let found: Vec<&str> = explicit.match_indices("NOT NULL").map(|(at, _)| &explicit[at..]).collect();
            assert_eq!(found.len(), said.len(), "{explicit}");
            assert!(found.iter().zip(said).all(|(found, said)| found.starts_with(said)), "{explicit}");
        }
    }

    #[test]
    fn what_is_not_said() {
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
            assert_eq!(explicit(text, false).as_deref(), said, "{text}");
        }
    }
}
