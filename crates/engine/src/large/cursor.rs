//! Through a range of an index in several runs at once.

use std::collections::BTreeMap;

use super::run::RunCursor;
use crate::error::Result;
use crate::memtable::Key;
use crate::txn::Write;

/// Gives each key once, with its newest write.
pub(crate) struct LargeCursor {
    /// The newest run first.
    sources: Vec<RunCursor>,
    /// The next key of each source, with its place in `sources` (counted from the end if it goes backward): of a key that is in
    /// several the newest comes first.
    heads: BTreeMap<(Key, usize), Write>,
    /// Sources that have no head and are not at their end, perhaps.
    empty: Vec<usize>,
    backward: bool,
}

impl LargeCursor {
    pub(super) fn new(sources: impl Iterator<Item = RunCursor>, backward: bool) -> Self {
        let sources: Vec<RunCursor> = sources.collect();
        let empty = (0..sources.len()).collect();
        LargeCursor { sources, heads: BTreeMap::new(), empty, backward }
    }

    /// Reads what is needed to know the next key. A future that is dropped has moved nothing.
    pub(crate) async fn fill(&mut self) -> Result<()> {
        while let Some(&source) = self.empty.last() {
            let next = self.sources[source].next().await?;
            self.empty.pop();
            if let Some((key, write)) = next {
                self.heads.insert((key, self.rank(source)), write);
            }
        }
        Ok(())
    }

    /// Whether [`LargeCursor::fill`] has something to do.
    pub(crate) fn is_empty(&self) -> bool {
        !self.empty.is_empty()
    }

    /// The next key; `None` at the end. Only after [`LargeCursor::fill`].
    pub(crate) fn first(&self) -> Option<&Key> {
        self.first_entry().map(|(key, _)| key)
    }

    /// The same with what it holds.
    pub(crate) fn first_entry(&self) -> Option<(&Key, &Write)> {
        let first = if self.backward { self.heads.last_key_value() } else { self.heads.first_key_value() };
        first.map(|((key, _), write)| (key, write))
    }

    /// Takes it.
    pub(crate) fn pop(&mut self) -> Option<(Key, Write)> {
        let (key, write) = self.pop_head()?;
        while self.first() == Some(&key) {
            self.pop_head();
        }
        Some((key, write))
    }

    fn pop_head(&mut self) -> Option<(Key, Write)> {
        let head = if self.backward { self.heads.pop_last() } else { self.heads.pop_first() };
        let ((key, rank), write) = head?;
        self.empty.push(self.rank(rank));
        Some((key, write))
    }

    /// From place to rank, and back.
    fn rank(&self, source: usize) -> usize {
        if self.backward { self.sources.len() - 1 - source } else { source }
    }
}
