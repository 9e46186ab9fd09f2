//! When what is received and not applied yet was committed: how old the next transaction is, whether or not anything applies it.

use std::collections::VecDeque;

use base::{LogPosition, UnixMicros};
use parking_lot::Mutex;

/// So many transactions are remembered one by one.
const REMEMBERED_MAX: usize = 4096;

/// Where transactions begin in the log, and when they were committed, in the log's order.
#[derive(Debug, Default)]
pub(super) struct Unapplied(Mutex<VecDeque<(LogPosition, UnixMicros)>>);

impl Unapplied {
    /// A transaction was received.
    pub(super) fn push(&self, start: LogPosition, committed: UnixMicros) {
        let mut all = self.0.lock();
        // What was received in part comes again.
        while all.back().is_some_and(|(last, _)| *last >= start) {
            all.pop_back();
        }
        if all.len() >= REMEMBERED_MAX {
            halve(&mut all);
        }
        all.push_back((start, committed));
    }

    /// When the first one was committed that begins at or behind a position, up to which all are applied; `None` if it was not received
    /// by this process.
    pub(super) fn oldest(&self, applied: LogPosition) -> Option<UnixMicros> {
        let mut all = self.0.lock();
        while all.front().is_some_and(|(start, _)| *start < applied) {
            all.pop_front();
        }
        all.front().map(|(_, committed)| *committed)
    }
}

/// Makes one of two: the later place with the earlier time, so that nothing is taken for younger than it is.
fn halve(all: &mut VecDeque<(LogPosition, UnixMicros)>) {
    let pairs = all.make_contiguous().chunks(2).map(|pair| (pair[pair.len() - 1].0, pair[0].1));
    *all = pairs.collect();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_transaction_counts() {
        let unapplied = Unapplied::default();
        let at = |offset| LogPosition::new(1, offset);
        assert_eq!(unapplied.oldest(at(4)), None);
        for n in 1..=3 {
            unapplied.push(at(100 * n), UnixMicros(n));
        }
        assert_eq!(unapplied.oldest(at(50)), Some(UnixMicros(1)));
        assert_eq!(unapplied.oldest(at(200)), Some(UnixMicros(2)));
        // The third came in part, and again.
        unapplied.push(at(300), UnixMicros(4));
        assert_eq!(unapplied.oldest(at(201)), Some(UnixMicros(4)));
        assert_eq!(unapplied.oldest(at(400)), None);
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let unapplied = Unapplied::default();
        let count = 10 * REMEMBERED_MAX as u64;
        for n in 0..count {
            unapplied.push(LogPosition::new(1, 100 * n), UnixMicros(n));
        }
        assert!(unapplied.0.lock().len() <= REMEMBERED_MAX);
        for n in [0, 1, 1000, count / 2, count - 1] {
            let time = unapplied.oldest(LogPosition::new(1, 100 * n)).unwrap().0;
            assert!(time <= n && time + 2048 > n, "{n}: {time}");
        }
    }
}
