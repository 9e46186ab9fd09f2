//! What checkpoints make anew: ranges of a tree that cannot be read, with all that belongs there.
//!
//! # Model
//! ```text
//!   trees @ C0            the ranges cannot be read
//!   entries @ Q           all that is in the ranges, from elsewhere          C0 <= Q <= B
//!   memtable (C0, B]      what changed since C0, in the ranges too
//!   trees @ B             of each key the memtable's version, or else the entry
//! ```
//! That is right because a key that the memtable does not have did not change in `(C0, B]`, so what it was at `Q` it is at `B`; and of a
//! key that the memtable has the newest version at or below `B` is what it is at `B`, whatever the entry says.
//!
//! # Invariants
//! - `C0 <= Q <= B`. With `Q < C0` a change in `(Q, C0]` would be in neither of the two: such entries are refused, and have to be
//!   fetched anew. With `B < Q` an older state would get rows of a newer one: they wait for a later step.
//! - Entries are given up only when a checkpoint that has them is durable. An attempt that failed, or was dropped, takes them again.

use std::iter::Peekable;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::vec;

use base::{CommitNumber, IndexId};
use bytes::Bytes;
use event_listener::{Event, EventListener};
use io::BoxFuture;
use parking_lot::Mutex;
use store::{Change, Changes, Restored};

/// What is in some ranges of an index.
#[derive(Clone, Debug)]
pub struct Restore {
    /// The index.
    pub index: IndexId,
    /// Where.
    pub ranges: Restored,
    /// Everything that is there, ascending.
    pub entries: Vec<(Bytes, Bytes)>,
    /// As of this transaction.
    pub as_of: CommitNumber,
}

/// How it went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It is in the trees of a checkpoint.
    Restored,
    /// A checkpoint came in between.
    Passed,
    /// Something could not be read that is not in the ranges.
    NotAll,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Waiting,
    /// In trees that are not durable yet.
    Merged(Outcome),
    Ended(Outcome),
}

/// One that waits.
pub(crate) struct Entered {
    pub(super) restore: Restore,
    state: Mutex<State>,
}

impl Entered {
    fn end(&self, outcome: Outcome) {
        *self.state.lock() = State::Ended(outcome);
    }

    /// It is in the newest trees.
    pub(super) fn merged(&self, outcome: Outcome) {
        *self.state.lock() = State::Merged(outcome);
    }

    /// How it went, when it has ended.
    pub(crate) fn outcome(&self) -> Option<Outcome> {
        if let State::Ended(outcome) = *self.state.lock() { Some(outcome) } else { None }
    }
}

/// All that wait.
#[derive(Default)]
pub(crate) struct Restores {
    entered: Mutex<Vec<Arc<Entered>>>,
    changed: Event,
    /// Ranges that were restored.
    ranges: AtomicU64,
}

impl Restores {
    /// One more, for the next checkpoint that can take it.
    pub(crate) fn enter(&self, restore: Restore) -> Arc<Entered> {
        debug_assert!(restore.entries.is_sorted_by(|(a, _), (b, _)| a < b));
        debug_assert!(restore.entries.iter().all(|(key, _)| restore.ranges.contains(key)));
        let entered = Arc::new(Entered { restore, state: Mutex::new(State::Waiting) });
        self.entered.lock().push(entered.clone());
        entered
    }

    /// So many ranges more were restored.
    pub(crate) fn count(&self, ranges: usize) {
        self.ranges.fetch_add(ranges as u64, Ordering::Relaxed);
    }

    /// Ranges that were restored.
    pub(crate) fn ranges(&self) -> u64 {
        self.ranges.load(Ordering::Relaxed)
    }

    /// Nobody waits for it any more.
    pub(crate) fn leave(&self, entered: &Arc<Entered>) {
        self.entered.lock().retain(|other| !Arc::ptr_eq(other, entered));
    }

    /// Ready when one of them has ended, or a checkpoint has.
    pub(crate) fn listen(&self) -> EventListener {
        self.changed.listen()
    }

    /// Whether a checkpoint has something to do here.
    pub(super) fn is_empty(&self) -> bool {
        self.entered.lock().is_empty()
    }

    /// Those that the step of a merge from one state to another takes; refuses those that come too late.
    pub(super) fn due(&self, after: CommitNumber, upto: CommitNumber) -> Vec<Arc<Entered>> {
        let mut due = Vec::new();
        for entered in self.entered.lock().iter() {
            if *entered.state.lock() != State::Waiting {
                continue;
            }
            let as_of = entered.restore.as_of;
            if as_of < after {
                entered.end(Outcome::Passed);
                self.wake();
            } else if as_of <= upto {
                due.push(entered.clone());
            }
        }
        due
    }

    /// A checkpoint is durable.
    pub(super) fn made(&self) {
        for entered in self.entered.lock().iter() {
            let mut state = entered.state.lock();
            if let State::Merged(outcome) = *state {
                *state = State::Ended(outcome);
            }
        }
        self.wake();
    }

    pub(super) fn wake(&self) {
        self.changed.notify(usize::MAX);
    }
}

/// The changes of a memtable, over entries that are restored.
pub(super) struct RestoredChanges<'c> {
    newer: &'c mut dyn Changes,
    /// The next of them; turned round, so that the next one is the last.
    buffer: Vec<Change>,
    has_ended: bool,
    entries: Peekable<vec::IntoIter<(Bytes, Bytes)>>,
}

impl<'c> RestoredChanges<'c> {
    pub(super) fn new(newer: &'c mut dyn Changes, entries: Vec<(Bytes, Bytes)>) -> Self {
        RestoredChanges { newer, buffer: Vec::new(), has_ended: false, entries: entries.into_iter().peekable() }
    }

    /// Takes entries that come before the next newer change; its own entry is left out.
    fn take_before(&mut self, next: Option<&Bytes>, batch: &mut Vec<Change>, most: usize) {
        while batch.len() < most
            && let Some((key, value)) = self.entries.next_if(|(key, _)| next.is_none_or(|next| key < next))
        {
            batch.push(Change { key, value: Some(value) });
        }
        self.entries.next_if(|(key, _)| Some(key) == next);
    }
}

/// Changes handed over at once, about.
const BATCH_CHANGES: usize = 256;

impl Changes for RestoredChanges<'_> {
    fn next_batch<'a>(&'a mut self, batch: &'a mut Vec<Change>) -> BoxFuture<'a, store::Result<()>> {
        Box::pin(async move {
            while batch.len() < BATCH_CHANGES {
                if self.buffer.is_empty() && !self.has_ended {
                    self.newer.next_batch(&mut self.buffer).await?;
                    self.has_ended = self.buffer.is_empty();
                    self.buffer.reverse();
                }
                let next = self.buffer.last().map(|change| change.key.clone());
                self.take_before(next.as_ref(), batch, BATCH_CHANGES);
                let is_next = self.entries.peek().is_none_or(|(key, _)| next.as_ref().is_some_and(|next| key > next));
                if !is_next {
                    continue;
                }
                match self.buffer.pop() {
                    Some(change) => batch.push(change),
                    None => return Ok(()),
                }
            }
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use futures_lite::future::block_on;

    use super::*;

    /// Hands over so many at once.
    struct InPieces(vec::IntoIter<Change>, usize);

    impl Changes for InPieces {
        fn next_batch<'a>(&'a mut self, batch: &'a mut Vec<Change>) -> BoxFuture<'a, store::Result<()>> {
            batch.extend(self.0.by_ref().take(self.1));
            Box::pin(std::future::ready(Ok(())))
        }
    }

    fn key(number: u32) -> Bytes {
        Bytes::copy_from_slice(&number.to_be_bytes())
    }

    #[test]
    fn newer_changes_win_and_all_come_in_order() {
        for (at_once, step) in [(1, 2), (7, 3), (300, 5), (1000, 1)] {
            let newer: Vec<Change> = (0..1000)
                .step_by(step)
                .map(|n| Change { key: key(n), value: (n % 2 == 0).then(|| "new".into()) })
                .collect();
            let entries: Vec<(Bytes, Bytes)> = (100..2000).step_by(2).map(|n| (key(n), "old".into())).collect();
            let mut expected: std::collections::BTreeMap<Bytes, Option<Bytes>> =
                entries.iter().map(|(key, value)| (key.clone(), Some(value.clone()))).collect();
            expected.extend(newer.iter().map(|change| (change.key.clone(), change.value.clone())));
            let mut newer = InPieces(newer.into_iter(), at_once);
            let mut changes = RestoredChanges::new(&mut newer, entries);
            let mut all = Vec::new();
            loop {
                let mut batch = Vec::new();
                block_on(changes.next_batch(&mut batch)).unwrap();
                if batch.is_empty() {
                    break;
                }
                all.extend(batch.into_iter().map(|change| (change.key, change.value)));
            }
            assert!(all.into_iter().eq(expected), "{at_once} {step}");
        }
    }

    #[test]
    fn a_step_takes_what_is_of_a_state_on_its_way() {
        let restores = Restores::default();
        let restore = |as_of| Restore {
            index: IndexId(1),
            ranges: Restored::default(),
            entries: Vec::new(),
            as_of: CommitNumber(as_of),
        };
        let [late, first, last, early] = [4, 5, 9, 10].map(|as_of| restores.enter(restore(as_of)));
        let due = restores.due(CommitNumber(5), CommitNumber(9));
        assert!(due.len() == 2 && Arc::ptr_eq(&due[0], &first) && Arc::ptr_eq(&due[1], &last));
        assert_eq!((late.outcome(), early.outcome()), (Some(Outcome::Passed), None));
        due.iter().for_each(|entered| entered.merged(Outcome::Restored));
        assert!(restores.due(CommitNumber(9), CommitNumber(9)).is_empty());
        assert_eq!(first.outcome(), None);
        restores.made();
        assert_eq!(first.outcome(), Some(Outcome::Restored));
        assert_eq!(early.outcome(), None);
    }
}
