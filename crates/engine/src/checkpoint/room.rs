//! How much more may come into memory while a memtable is merged: back-pressure that grows with the backlog.
//!
//! All memtables together stay within `memtable_size`. One is frozen at half of that, and what the next one may hold then grows with the
//! progress of the merge:
//! ```text
//!  room of the active one = (size - frozen) * (1/4 + 3/4 * merged)
//! ```
//! So whoever writes faster than merges go is slowed down to their pace from early on, a little at a time. With a bound alone
//! writers would go on at full speed until it is reached and then stand still until the merge ends.

use std::sync::atomic::{AtomicU64, Ordering};

use event_listener::{Event, EventListener};

/// Part of the room that is there before anything is merged.
const AT_ONCE: f64 = 0.25;
/// Part of a checkpoint that is left when all is merged: it has to be synced.
const LAST_PART: f64 = 0.1;
/// Part of the size that the active memtable may have however large the frozen one is.
const LEAST: usize = 8;

/// Progress of the merge, and who waits for it.
#[derive(Debug, Default)]
pub(crate) struct Room {
    /// Keys of the frozen memtable, times the steps in which it is merged.
    total: AtomicU64,
    done: AtomicU64,
    changed: Event,
}

impl Room {
    /// A merge of so many keys begins.
    pub(super) fn begin(&self, keys: u64) {
        self.done.store(0, Ordering::Relaxed);
        self.total.store(keys, Ordering::Relaxed);
    }

    /// So many more are merged.
    pub(super) fn advance(&self, keys: u64) {
        self.done.fetch_add(keys, Ordering::Relaxed);
        self.changed();
    }

    /// A memtable was frozen, or went, or has become emptier: whoever waits looks again.
    pub(super) fn changed(&self) {
        self.changed.notify(usize::MAX);
    }

    pub(super) fn listen(&self) -> EventListener {
        self.changed.listen()
    }

    /// Bytes that the active memtable may have, of `size` for all of them, if one of `frozen` bytes is being merged.
    pub(super) fn of_active(&self, size: usize, frozen: Option<usize>) -> usize {
        let share = if frozen.is_some() { AT_ONCE + (1.0 - AT_ONCE) * self.progress() } else { 1.0 };
        (Room::most_of_active(size, frozen) as f64 * share) as usize
    }

    /// The same at the end of the merge.
    pub(super) fn most_of_active(size: usize, frozen: Option<usize>) -> usize {
        size.saturating_sub(frozen.unwrap_or(0)).max(size / LEAST)
    }

    fn progress(&self) -> f64 {
        let (done, total) = (self.done.load(Ordering::Relaxed) as f64, self.total.load(Ordering::Relaxed) as f64);
        // 0 of 0: it has not begun.
        if total > 0.0 { (done / total).min(1.0) * (1.0 - LAST_PART) } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::Room;

    #[test]
    fn room_grows_with_the_merge() {
        let room = Room::default();
        assert_eq!(room.of_active(1000, None), 1000);
        assert_eq!(room.of_active(1000, Some(500)), 125);
        room.begin(100);
        assert_eq!(room.of_active(1000, Some(500)), 125);
        room.advance(50);
        assert_eq!(room.of_active(1000, Some(500)), 293);
        room.advance(60);
        assert_eq!(room.of_active(1000, Some(500)), 462);
        assert_eq!(room.of_active(1000, Some(2000)), 115, "a little goes on");
        room.begin(0);
        assert_eq!(room.of_active(1000, Some(500)), 125);
    }
}
