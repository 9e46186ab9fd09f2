//! Which earlier transaction a transaction depends on, by the rows that both wrote: MySQL's writeset history.
//!
//! The history maps hashes of written keys to the commit number that wrote them last. A transaction depends on the
//! newest of those that it finds, and on everything up to `start`, where the history begins: at the last transaction
//! of which not all keys are known (DDL), or where the history was full and began anew. Commit numbers do not end with
//! a file; the log makes them relative to its files, so no parallelism is lost at a rotation.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use base::CommitNumber;

/// Spreads the halves of hashes over the bits that a table looks at.
#[derive(Default)]
struct HalfHasher(u64);

impl Hasher for HalfHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _bytes: &[u8]) {
        unreachable!("halves of hashes are u32");
    }

    fn write_u32(&mut self, half: u32) {
        self.0 = u64::from(half).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
}

/// What becomes of a transaction in the history.
pub(super) struct Entered {
    /// The newest one that it depends on.
    pub(super) after: CommitNumber,
    /// All that come later depend on it.
    pub(super) begins_anew: bool,
}

/// See the module.
pub(super) struct WritesetHistory {
    /// By the lower half of the hash, the commits between `start` and the last writer. A million of them take 19 MB, whole ones would
    /// take 36. Two rows with the same half cost a dependency that is none: of a million rows one in four thousand.
    last_writer: HashMap<u32, u32, BuildHasherDefault<HalfHasher>>,
    start: CommitNumber,
}

impl WritesetHistory {
    /// Begins after `start`: what comes next depends on everything before.
    pub(super) fn new(start: CommitNumber) -> Self {
        WritesetHistory { last_writer: HashMap::default(), start }
    }

    /// Enters a transaction; `None` as writeset is "all before it".
    pub(super) fn enter(&mut self, number: CommitNumber, writeset: Option<&[u64]>, size_max: usize) -> Entered {
        let Some(writeset) = writeset else {
            self.restart(number);
            return Entered { after: CommitNumber(number.0 - 1), begins_anew: true };
        };
        let since = number.0 - self.start.0;
        let is_full = self.last_writer.len() + writeset.len() > size_max || since >= u64::from(u32::MAX);
        let since = u32::try_from(since).unwrap_or(u32::MAX);
        let mut last = 0;
        for &hash in writeset {
            let half = hash as u32;
            if let Some(writer) = self.last_writer.get_mut(&half) {
                // Twice in one writeset is not a dependency on itself.
                if *writer != since {
                    last = last.max(*writer);
                }
                *writer = since;
            } else if !is_full {
                self.last_writer.insert(half, since);
            }
        }
        let after = CommitNumber(self.start.0 + u64::from(last));
        if is_full {
            // As in MySQL: this one still profits, those after it depend on it.
            self.restart(number);
        }
        Entered { after, begins_anew: is_full }
    }

    fn restart(&mut self, number: CommitNumber) {
        self.last_writer.clear();
        self.start = number;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depends_on_the_last_writer_of_any_row() {
        let mut history = WritesetHistory::new(CommitNumber(10));
        let mut enter = |number, writeset: Option<&[u64]>| history.enter(CommitNumber(number), writeset, 6).after.0;
        assert_eq!(enter(11, Some(&[1, 2])), 10);
        assert_eq!(enter(12, Some(&[3])), 10);
        assert_eq!(enter(13, Some(&[2, 3, 3])), 12);
        assert_eq!(enter(14, Some(&[1])), 11);
        assert_eq!(enter(15, None), 14, "DDL depends on all");
        assert_eq!(enter(16, Some(&[9])), 15, "and all depend on it");
        assert_eq!(enter(17, Some(&[4, 5, 6, 7, 8, 9])), 16, "full: known rows still count");
        assert_eq!(enter(18, Some(&[8])), 17, "and it begins anew");
    }
}
