//! What is found out while a statement is parsed and stands in no tree: where its text has words that other servers read otherwise.
//!
//! Who rewrites the text ([`super::in_our_words`], [`super::for_log`]) takes the places from here, so that a text is read once.

use std::ops::Range;

use super::both_dialects::Piece;
use super::timestamps::TimestampColumn;
use crate::versions::Comments;

/// Places in a statement's text. What the parser tried and took back may be here twice.
#[derive(Clone, Debug, Default)]
pub(super) struct Notes {
    /// Where columns' types are JSON.
    pub(super) json_types: Vec<Range<usize>>,
    /// Where definitions say utf8mb3, and no collation; behind NCHAR and its kin, which mean it, nothing.
    pub(super) utf8mb3: Vec<Range<usize>>,
    /// TIMESTAMP columns that are defined.
    pub(super) timestamps: Vec<TimestampColumn>,
    /// What one kind of server has for itself.
    pub(super) pieces: Vec<Piece>,
    /// Literals that are defaults of TEXT, BLOB or JSON columns.
    pub(super) text_defaults: Vec<Range<usize>>,
    /// Times with other digits than their columns have, and those.
    pub(super) other_digits: Vec<(Range<usize>, u64)>,
    /// Where columns are put FIRST.
    pub(super) firsts: Vec<Range<usize>>,
    /// The actions of an ALTER TABLE; the privileges of GRANT and REVOKE.
    pub(super) items: Vec<Range<usize>>,
    /// Names without quotes that are reserved words elsewhere.
    pub(super) unquoted: Vec<Range<usize>>,
    /// Comments for versions.
    pub(super) comments: Comments,
    /// Behind the last token.
    pub(super) end: usize,
}

impl Notes {
    /// Whether there is nothing to say.
    pub(super) fn is_empty(&self) -> bool {
        let Notes { json_types, utf8mb3, timestamps, pieces, text_defaults, other_digits, firsts, items, .. } = self;
        let Notes { unquoted, comments, end: _, .. } = self;
        let places = [json_types, utf8mb3, text_defaults, firsts, items, unquoted];
        places.iter().all(|places| places.is_empty())
            && timestamps.is_empty()
            && pieces.is_empty()
            && other_digits.is_empty()
            && comments.is_empty()
    }
}
