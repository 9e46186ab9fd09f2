//! Statements of other servers in our words.

use std::ops::Range;

use types::CollationId;

use super::timestamps::OldColumn;
use super::{ParsedStatement, timestamps};
use crate::statement::{Ddl, Statement, TableName};

/// Of the server and the session in which a definition was made: what its words mean there; by default, all means what it means here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Foreign {
    /// A MariaDB's JSON is another name of a LONGTEXT, a TEXT has a DEFAULT like other columns, and CURRENT_TIMESTAMP has as many digits as its
    /// column.
    pub is_maria: bool,
    /// `explicit_defaults_for_timestamp=0`: see [`timestamps`].
    pub implicit_timestamps: bool,
    /// What utf8mb3 means without a collation, where that is not what it means here.
    pub utf8mb3: Option<CollationId>,
}

/// The text of a statement as one for us; `None` if it is that already. `columns` gives those of a table that is altered, none if it is not there.
pub fn in_our_words(
    parsed: &ParsedStatement,
    foreign: Foreign,
    columns: &dyn Fn(&TableName) -> Vec<OldColumn>,
) -> Option<String> {
    let (text, notes) = (&*parsed.text, parsed.notes.as_deref()?);
    let mut edits = Vec::new();
    if foreign.is_maria {
        let as_text =
            |place: &Range<usize>| (place.clone(), "longtext CHARACTER SET utf8mb4 COLLATE utf8mb4_bin".into());
        edits.extend(notes.json_types.iter().map(as_text));
        let in_parentheses = |place: &Range<usize>| (place.clone(), format!("({})", &text[place.clone()]));
        edits.extend(notes.text_defaults.iter().map(in_parentheses));
        let with_digits =
            |(place, digits): &(Range<usize>, u64)| (place.clone(), format!("CURRENT_TIMESTAMP({digits})"));
        edits.extend(notes.other_digits.iter().map(with_digits));
    }
    if foreign.implicit_timestamps {
        let first = match &parsed.statement {
            Statement::Ddl(Ddl::AlterTable(alter)) => timestamps::first_of_altered(alter, columns(&alter.table)),
            _ => Some(0),
        };
        edits.extend(timestamps::unsaid(notes.timestamps.clone(), first));
    }
    if let Some(collation) = foreign.utf8mb3 {
        let said = |place: &Range<usize>| match place.is_empty() {
            true => format!(" COLLATE {}", collation.name()),
            false => format!("{} COLLATE {}", collation.charset().name(), collation.name()),
        };
        edits.extend(notes.utf8mb3.iter().map(|place| (place.clone(), said(place))));
    }
    edited(text, edits)
}

/// A text with other words at these places, which do not overlap; `None` if there are none. What the parser tried and took back is found
/// twice: the same edit counts once.
pub(super) fn edited(text: &str, mut edits: Vec<(Range<usize>, String)>) -> Option<String> {
    edits.sort_by_key(|(place, _)| place.start);
    edits.dedup();
    if edits.is_empty() {
        return None;
    }
    let (mut changed, mut end) = (String::with_capacity(text.len()), 0);
    for (place, instead) in &edits {
        changed.push_str(text.get(end..place.start).unwrap_or_default());
        changed.push_str(instead);
        end = place.end.max(end);
    }
    changed.push_str(text.get(end..).unwrap_or_default());
    Some(changed)
}
