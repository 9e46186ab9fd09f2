//! Events on their way from the receiver to the executor: bounded in bytes, so that a source is read as fast as it is executed.
//!
//! The executor can say that what is queued is of no use any more (it has to go back to the beginning of a transaction): it begins a
//! new *generation*, and whoever puts in something of an older one is told.

use std::collections::VecDeque;

use binlog::event::ChecksumAlgorithm;
use event_listener::Event;
use parking_lot::Mutex;

/// What is queued at most, in bytes of events; what is put in at once may go beyond it.
const BYTES_MAX: usize = 16 << 20;
/// Who waits for room is woken when no more is queued.
const BYTES_LOW: usize = BYTES_MAX / 2;

/// What a receiver says.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Item {
    /// A connection begins, whose events are protected so until they say it themselves: what was begun and has no end will not be
    /// continued.
    Begin(ChecksumAlgorithm),
    /// An event, as it was received.
    Event(Vec<u8>),
}

/// Why nothing can be put in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// The executor has ended.
    Closed,
    /// The executor wants to go back.
    Stale,
}

#[derive(Default)]
struct State {
    items: VecDeque<Item>,
    bytes: usize,
    generation: u64,
    /// The executor works on an item that it has taken.
    is_busy: bool,
    is_closed: bool,
}

/// See the module.
#[derive(Default)]
pub(super) struct EventQueue {
    state: Mutex<State>,
    changed: Event,
    /// Another generation has begun.
    started_over: Event,
}

impl EventQueue {
    /// What is put in from now on must be of this generation.
    pub(super) fn generation(&self) -> u64 {
        self.state.lock().generation
    }

    /// Ready when a generation is over: whoever waits for its next event waits in vain.
    pub(super) async fn outdated(&self, generation: u64) -> Refused {
        loop {
            let started_over = self.started_over.listen();
            if self.generation() != generation {
                return Refused::Stale;
            }
            started_over.await;
        }
    }

    /// Puts something in; waits for room.
    pub(super) async fn push(&self, generation: u64, item: Item) -> Result<(), Refused> {
        let bytes = match &item {
            Item::Begin(_) => 0,
            Item::Event(event) => event.len(),
        };
        self.push_all(generation, &mut vec![item], bytes).await
    }

    /// Puts all of them in, which have so many bytes of events; waits for room. They are not taken if the future is dropped.
    pub(super) async fn push_all(&self, generation: u64, items: &mut Vec<Item>, bytes: usize) -> Result<(), Refused> {
        if items.is_empty() {
            return Ok(());
        }
        loop {
            let changed = self.changed.listen();
            {
                let mut state = self.state.lock();
                if state.is_closed {
                    return Err(Refused::Closed);
                }
                if state.generation != generation {
                    return Err(Refused::Stale);
                }
                if state.bytes < BYTES_MAX {
                    state.bytes += bytes;
                    state.items.extend(items.drain(..));
                    drop(state);
                    self.changed.notify(usize::MAX);
                    return Ok(());
                }
            }
            changed.await;
        }
    }

    /// Takes the next item, which ends the work on the one before; `None` when it is closed.
    pub(super) async fn pop(&self) -> Option<Item> {
        loop {
            if let Some(popped) = self.try_pop() {
                return popped;
            }
            let changed = self.changed.listen();
            if let Some(popped) = self.try_pop() {
                return popped;
            }
            changed.await;
        }
    }

    /// The same, without waiting: `None` if there is nothing yet.
    fn try_pop(&self) -> Option<Option<Item>> {
        let mut state = self.state.lock();
        let was_busy = std::mem::replace(&mut state.is_busy, false);
        let was_full = state.bytes >= BYTES_LOW;
        if state.is_closed {
            return Some(None);
        }
        let Some(item) = state.items.pop_front() else {
            drop(state);
            if was_busy {
                // Who waits for the work's end.
                self.changed.notify(usize::MAX);
            }
            return None;
        };
        if let Item::Event(bytes) = &item {
            state.bytes -= bytes.len();
        }
        state.is_busy = true;
        let tells = was_full && state.bytes < BYTES_LOW;
        drop(state);
        if tells {
            self.changed.notify(usize::MAX);
        }
        Some(Some(item))
    }

    /// Bytes of the events that are queued.
    pub(super) fn bytes(&self) -> usize {
        self.state.lock().bytes
    }

    /// What is found in the first event in which something is found.
    pub(super) fn find<T>(&self, find: impl FnMut(&[u8]) -> Option<T>) -> Option<T> {
        let state = self.state.lock();
        let events = state.items.iter().filter_map(|item| match item {
            Item::Event(event) => Some(event.as_slice()),
            Item::Begin(_) => None,
        });
        events.filter_map(find).next()
    }

    /// Whether nothing is queued.
    pub(super) fn is_empty(&self) -> bool {
        let state = self.state.lock();
        state.items.is_empty() && !state.is_busy
    }

    /// Waits until everything that was put in is worked off.
    pub(super) async fn idle(&self) -> Result<(), Refused> {
        loop {
            let changed = self.changed.listen();
            {
                let state = self.state.lock();
                if state.is_closed {
                    return Err(Refused::Closed);
                }
                if state.items.is_empty() && !state.is_busy {
                    return Ok(());
                }
            }
            changed.await;
        }
    }

    /// Whether nothing goes in or out any more.
    pub(super) fn is_closed(&self) -> bool {
        self.state.lock().is_closed
    }

    /// Ready when it is closed.
    pub(super) async fn closed(&self) {
        loop {
            let changed = self.changed.listen();
            if self.state.lock().is_closed {
                return;
            }
            changed.await;
        }
    }

    /// What is queued goes; the receiver is to begin again.
    pub(super) fn start_over(&self) {
        let mut state = self.state.lock();
        state.items.clear();
        state.bytes = 0;
        state.generation += 1;
        drop(state);
        self.changed.notify(usize::MAX);
        self.started_over.notify(usize::MAX);
    }

    /// Nothing goes in or out any more.
    pub(super) fn close(&self) {
        let mut state = self.state.lock();
        state.items.clear();
        state.bytes = 0;
        state.is_closed = true;
        drop(state);
        self.changed.notify(usize::MAX);
    }
}

#[cfg(test)]
mod tests {
    use futures_lite::future::{block_on, poll_once};

    use super::*;

    #[test]
    fn is_bounded_and_can_start_over() {
        let queue = EventQueue::default();
        let large = || Item::Event(vec![0; BYTES_MAX]);
        block_on(queue.push(0, large())).unwrap();
        assert_eq!(block_on(poll_once(queue.push(0, Item::Begin(ChecksumAlgorithm::Crc32)))), None, "no room");
        assert_eq!(block_on(queue.pop()), Some(large()));
        assert_eq!(block_on(poll_once(queue.idle())), None, "being worked on");
        block_on(queue.push(0, Item::Begin(ChecksumAlgorithm::Crc32))).unwrap();
        let mut outdated = Box::pin(queue.outdated(0));
        assert_eq!(block_on(poll_once(&mut outdated)), None);
        queue.start_over();
        assert_eq!(block_on(outdated), Refused::Stale);
        assert_eq!(block_on(queue.push(0, Item::Begin(ChecksumAlgorithm::Crc32))), Err(Refused::Stale));
        assert_eq!(block_on(poll_once(queue.pop())), None);
        assert!(queue.is_empty());
        block_on(queue.idle()).unwrap();
        block_on(queue.push(queue.generation(), Item::Begin(ChecksumAlgorithm::Crc32))).unwrap();
        queue.close();
        assert_eq!(block_on(queue.pop()), None);
        assert_eq!(block_on(queue.push(1, Item::Begin(ChecksumAlgorithm::Crc32))), Err(Refused::Closed));
    }
}
