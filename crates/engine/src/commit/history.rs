//! Which earlier transaction a transaction depends on, by the rows that both wrote: MySQL's writeset history.
//!
//! The history maps hashes of written keys to the commit number that wrote them last. A transaction depends on the
//! newest of those that it finds, and on everything up to `start`, where the history begins: at the last transaction
//! of which not all keys are known (DDL), or where the history was full and began anew. Commit numbers do not end with
//! a file; the log makes them relative to its files, so no parallelism is lost at a rotation.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use base::CommitNumber;

/// The hashes are hashes.
#[derive(Default)]
struct SameHasher(u64);

impl Hasher for SameHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _bytes: &[u8]) {
        unreachable!("writesets are u64");
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

/// See the module.
pub(super) struct WritesetHistory {
    last_writer: HashMap<u64, CommitNumber, BuildHasherDefault<SameHasher>>,
    start: CommitNumber,
}

impl WritesetHistory {
    /// Begins after `start`: what comes next depends on everything before.
    pub(super) fn new(start: CommitNumber) -> Self {
        WritesetHistory { last_writer: HashMap::default(), start }
    }

    /// Enters a transaction and says the newest one that it depends on; `None` as writeset is "all before it".
    pub(super) fn enter(&mut self, number: CommitNumber, writeset: Option<&[u64]>, size_max: usize) -> CommitNumber {
        let Some(writeset) = writeset else {
            self.restart(number);
            return CommitNumber(number.0 - 1);
        };
        let is_full = self.last_writer.len() + writeset.len() > size_max;
        let mut last = self.start;
        for &hash in writeset {
            if let Some(writer) = self.last_writer.get_mut(&hash) {
                // Twice in one writeset is not a dependency on itself.
                if *writer != number {
                    last = last.max(*writer);
                }
                *writer = number;
            } else if !is_full {
                self.last_writer.insert(hash, number);
            }
        }
        if is_full {
            // As in MySQL: this one still profits, those after it depend on it.
            self.restart(number);
        }
        last
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
        let mut enter = |number, writeset: Option<&[u64]>| history.enter(CommitNumber(number), writeset, 6).0;
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
