//! Where the changes of a merge come from, and a window over the next of them.

use std::collections::VecDeque;

use base::IndexId;
use bytes::Bytes;
use io::BoxFuture;

use crate::{MAX_KEY_SIZE, Result, StoreError};

/// The window is filled up when it has fewer changes than this. It is how far a merge reads ahead.
const LOOKAHEAD: usize = 256;
/// The same in bytes: values may be large.
const LOOKAHEAD_BYTES: usize = 4 << 20;

/// A key's new value, or its removal (of a key that need not be there).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The key.
    pub key: Bytes,
    /// The value; `None` removes the key.
    pub value: Option<Bytes>,
}

/// A stream of changes in strictly ascending order of their keys.
pub trait Changes: Send {
    /// Adds some changes (tens to hundreds) to `batch`; none at the end.
    fn next_batch<'a>(&'a mut self, batch: &'a mut Vec<Change>) -> BoxFuture<'a, Result<()>>;
}

/// Changes from a sorted iterator.
pub struct SortedChanges<I>(pub I);

impl<I: Iterator<Item = Change> + Send> Changes for SortedChanges<I> {
    fn next_batch<'a>(&'a mut self, batch: &'a mut Vec<Change>) -> BoxFuture<'a, Result<()>> {
        batch.extend(self.0.by_ref().take(LOOKAHEAD));
        Box::pin(std::future::ready(Ok(())))
    }
}

fn value_bytes(change: &Change) -> usize {
    change.value.as_ref().map_or(0, Bytes::len)
}

/// The next changes of a stream, checked.
pub(super) struct Window<'a> {
    index: IndexId,
    source: &'a mut dyn Changes,
    queue: VecDeque<Change>,
    /// Bytes of the values in the queue.
    bytes: usize,
    batch: Vec<Change>,
    /// The last key so far, once there is one.
    last: Bytes,
    begun: bool,
    ended: bool,
}

impl<'a> Window<'a> {
    pub(super) fn new(index: IndexId, source: &'a mut dyn Changes) -> Self {
        Window {
            index,
            source,
            queue: VecDeque::new(),
            bytes: 0,
            batch: Vec::new(),
            last: Bytes::new(),
            begun: false,
            ended: false,
        }
    }

    /// Fills it up, unless the stream has ended.
    pub(super) async fn fill(&mut self) -> Result<()> {
        while !self.ended && self.queue.len() < LOOKAHEAD && self.bytes < LOOKAHEAD_BYTES {
            self.source.next_batch(&mut self.batch).await?;
            self.ended = self.batch.is_empty();
            self.check_batch()?;
            if let Some(change) = self.batch.last() {
                (self.last, self.begun) = (change.key.clone(), true);
            }
            self.bytes += self.batch.iter().map(value_bytes).sum::<usize>();
            self.queue.extend(self.batch.drain(..));
        }
        Ok(())
    }

    fn check_batch(&self) -> Result<()> {
        let mut last = self.begun.then_some(&self.last);
        for Change { key, .. } in &self.batch {
            if key.len() > MAX_KEY_SIZE {
                return Err(StoreError::KeyTooLong { index: self.index, size: key.len() });
            }
            if last.is_some_and(|last| last >= key) {
                return Err(StoreError::Unsorted { index: self.index });
            }
            last = Some(key);
        }
        Ok(())
    }

    /// The next change. Only a window that was filled since the last [`Window::pop`] knows it.
    pub(super) fn first(&self) -> Option<&Change> {
        self.queue.front()
    }

    /// Takes the next change out, and fills the window when it is half empty.
    pub(super) async fn pop(&mut self) -> Result<Option<Change>> {
        let change = self.queue.pop_front();
        self.bytes -= change.as_ref().map_or(0, value_bytes);
        let is_half_empty = self.queue.len() < LOOKAHEAD / 2 && self.bytes < LOOKAHEAD_BYTES / 2;
        if is_half_empty && !self.ended {
            self.fill().await?;
        }
        Ok(change)
    }

    /// The changes after the next one, as far as they are known.
    pub(super) fn known(&self) -> impl Iterator<Item = &Change> {
        self.queue.iter()
    }
}
