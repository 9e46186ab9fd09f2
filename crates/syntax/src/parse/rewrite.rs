//! Statements of other servers in our words, and what all that rewrite a statement's text have in common.

use std::ops::Range;

use crate::grammar::DEPTH_MAX;
use crate::versions::ReadComment;
use crate::{Parser, lexer};
use base::on_large_stack;
use types::CollationId;

use super::timestamps::OldColumn;
use super::tokens::Tokens;
use super::{ParseContext, statement, timestamps};
use crate::statement::{AlterTable, Ddl, Statement, TableName};

/// Of the server and the session in which a definition was made: what its words mean there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Foreign {
    /// A MariaDB's JSON is another name of a LONGTEXT, a TEXT has a DEFAULT like other columns, and CURRENT_TIMESTAMP has as many digits as its
    /// column.
    pub is_maria: bool,
    /// `explicit_defaults_for_timestamp=0`: see [`timestamps`].
    pub implicit_timestamps: bool,
    /// What utf8mb3 means without a collation, where that is not what it means here.
    pub utf8mb3: Option<CollationId>,
}

impl Foreign {
    /// All means what it means here.
    pub const NOTHING: Foreign = Foreign { is_maria: false, implicit_timestamps: false, utf8mb3: None };
}

/// A definition as one for us; `None` if that is the text itself. What cannot be parsed stays as it is. `columns` gives those of a table that is
/// altered, none if it is not there.
pub fn in_our_words(
    text: &str,
    context: &ParseContext,
    foreign: Foreign,
    columns: &dyn Fn(&TableName) -> Vec<OldColumn>,
) -> Option<String> {
    let Read { tokens, altered, .. } = read(text, context)?;
    let mut edits = Vec::new();
    if foreign.is_maria {
        let as_text = |place| (place, "longtext CHARACTER SET utf8mb4 COLLATE utf8mb4_bin".to_owned());
        edits.extend(tokens.json_types.into_iter().map(as_text));
        let in_parentheses = |place: Range<usize>| (place.clone(), format!("({})", &text[place]));
        edits.extend(tokens.text_defaults.into_iter().map(in_parentheses));
        let with_digits = |(place, digits)| (place, format!("CURRENT_TIMESTAMP({digits})"));
        edits.extend(tokens.other_digits.into_iter().map(with_digits));
    }
    if foreign.implicit_timestamps {
        let first = match altered {
            Some(alter) => timestamps::first_of_altered(&alter, columns(&alter.table)),
            None => Some(0),
        };
        edits.extend(timestamps::unsaid(tokens.timestamps, first));
    }
    if let Some(collation) = foreign.utf8mb3 {
        let said = |place: &Range<usize>| match place.is_empty() {
            true => format!(" COLLATE {}", collation.name()),
            false => format!("{} COLLATE {}", collation.charset().name(), collation.name()),
        };
        edits.extend(tokens.utf8mb3.into_iter().map(|place| (place.clone(), said(&place))));
    }
    edited(text, edits)
}

/// A statement that was parsed.
pub(super) struct Read<'a> {
    /// Its tokens, behind its end, with what was found out on the way.
    pub(super) tokens: Tokens<'a>,
    /// If it is ALTER TABLE.
    altered: Option<Box<AlterTable>>,
    /// Comments for versions that were read.
    pub(super) read_comments: Vec<ReadComment>,
    /// Where those are that were not.
    pub(super) unread_comments: Vec<Range<usize>>,
}

/// Reads a statement; `None` if it cannot be parsed.
pub(super) fn read<'a>(text: &'a str, context: &ParseContext) -> Option<Read<'a>> {
    let lexed = lexer::lex(text, context.sql_mode).ok()?;
    let (read_comments, unread_comments) = (lexed.read_comments, lexed.unread_comments);
    let mut tokens = Tokens::new(Parser::new(lexed.tokens, text, context.sql_mode), context.sql_mode);
    tokens.limit_depth(DEPTH_MAX);
    let mut altered = None;
    // Any other tree is dropped where it was made.
    let is_read = on_large_stack(|| match statement(&mut tokens) {
        Ok(Statement::Ddl(Ddl::AlterTable(alter))) => {
            altered = Some(alter);
            true
        }
        read => read.is_ok(),
    });
    if !is_read {
        return None;
    }
    Some(Read { tokens, altered, read_comments, unread_comments })
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A source's statement is read with a stack as others have it.
    #[test]
    fn long_chains_are_read() {
        let foreign = Foreign { is_maria: true, ..Foreign::NOTHING };
        for chain in [" OR a = 2".repeat(100_000), "+1".repeat(100_000), "+(1".repeat(900) + &")".repeat(900)] {
            let text = format!("UPDATE o SET b = 1 WHERE a = 1{chain}");
            assert_eq!(in_our_words(&text, &ParseContext::default(), foreign, &|_| Vec::new()), None);
        }
    }
}
