//! Where something stands in a statement's text.

use std::fmt;
use std::ops::Range;

/// A piece of a statement's text, as byte offsets. Two trees are equal wherever they stand: spans do not count in comparisons.
#[derive(Clone, Copy, Default, Eq)]
pub struct Span {
    /// Of its first byte.
    pub start: u32,
    /// Behind its last byte.
    pub end: u32,
}

impl Span {
    /// From one offset up to another. A text has less than 4 GB: no packet is longer than 1 GB.
    pub(crate) fn new(start: usize, end: usize) -> Self {
        Span { start: start as u32, end: end as u32 }
    }

    /// From the beginning of this one to the end of another.
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start, end: other.end }
    }

    /// As a range of offsets.
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// What stands there; nothing if the text is another one.
    pub fn of(self, text: &str) -> &str {
        text.get(self.range()).unwrap_or_default()
    }
}

impl PartialEq for Span {
    fn eq(&self, _: &Span) -> bool {
        true
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.start, self.end)
    }
}
