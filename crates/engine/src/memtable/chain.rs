//! [`Chain`]: the versions of one key, oldest first.
//!
//! ```text
//! key  ->  [ 7: row ] [ 9: gone ] [ 12: row ] [ pending: row ]
//! ```
//!
//! # Invariants
//! - Numbers ascend, each at most once; pending versions come after every number, in the order in which their row lock
//!   was held, which is the order in which they will be numbered.
//! - Number 0 is that of versions in an index that is still being built: no catalog has it, and every merge takes them.
//! - Pruning at floor `f` leaves the newest version at or below `f` and all above it: what any read view or merge at
//!   `f` or later can ask for.

use base::CommitNumber;
use bytes::Bytes;

use super::stamp::{StampState, VersionStamp};

/// Of versions in an index that is still being built: below every number of a commit, so that every merge takes them.
pub(crate) const BUILT: CommitNumber = CommitNumber(0);

/// Up to so many versions are looked through from the newest on.
const LINEAR_SEARCH_MAX: usize = 16;

/// What a key held from one commit number on: a value, or nothing.
#[derive(Clone, Debug)]
pub(crate) struct Version {
    pub(crate) stamp: VersionStamp,
    pub(crate) value: Option<Bytes>,
}

impl Version {
    /// What the value takes in memory: an allocator has four sizes between a power of two and the next, and steps of 16 up to 128.
    pub(crate) fn value_bytes(&self) -> usize {
        let len = self.value.as_ref().map_or(0, Bytes::len);
        let step = (len.next_power_of_two() / 8).max(16);
        len.next_multiple_of(step)
    }
}

/// All versions of a key. Never empty but in the moment before the key is removed.
#[derive(Clone, Debug)]
pub(crate) enum Chain {
    One(Version),
    Many(Vec<Version>),
}

/// What an install did, for the accounts of the memtable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pruned {
    pub(crate) versions: usize,
    pub(crate) value_bytes: usize,
}

impl Chain {
    pub(crate) fn versions(&self) -> &[Version] {
        match self {
            Chain::One(version) => std::slice::from_ref(version),
            Chain::Many(versions) => versions,
        }
    }

    /// The newest version that was not taken back: what the holder of the row's lock reads.
    pub(crate) fn newest(&self) -> Option<&Version> {
        self.versions().iter().rev().find(|version| version.stamp.state() != StampState::Aborted)
    }

    /// The newest version at or below a number: what a read view reads.
    pub(crate) fn visible(&self, snapshot: CommitNumber) -> Option<&Version> {
        let is_old = |version: &Version| matches!(version.stamp.state(), StampState::Committed(n) if n <= snapshot);
        let mut rest = self.versions();
        // Half by half where there are many: a number in the middle says on which side of it to look.
        while rest.len() > LINEAR_SEARCH_MAX {
            let (older, newer) = rest.split_at(rest.len() / 2);
            let first = newer.iter().position(|version| version.stamp.state() != StampState::Aborted);
            rest = match first {
                Some(at) if is_old(&newer[at]) => &newer[at..],
                _ => older,
            };
        }
        rest.iter().rev().find(|version| is_old(version))
    }

    /// The newest version in `(after, upto]`, or one of number 0: what a merge takes.
    pub(crate) fn between(&self, after: CommitNumber, upto: CommitNumber) -> Option<&Version> {
        let version = self.visible(upto)?;
        let is_wanted = |number| number > after || number == BUILT;
        matches!(version.stamp.state(), StampState::Committed(number) if is_wanted(number)).then_some(version)
    }

    /// Adds a version where it belongs. A number that is there already (a transaction that wrote the row twice) gets the
    /// new value.
    pub(crate) fn install(&mut self, version: Version) {
        let versions = self.as_vec();
        let VersionStamp::Known(number) = version.stamp else {
            versions.push(version);
            return;
        };
        let at = versions.partition_point(|other| match other.stamp.state() {
            StampState::Committed(other) => other < number,
            StampState::Pending | StampState::Aborted => false,
        });
        match versions.get_mut(at) {
            Some(other) if other.stamp.state() == StampState::Committed(number) => other.value = version.value,
            _ => versions.insert(at, version),
        }
    }

    /// Forgets what no read view at `floor` or later can see, and what was taken back.
    pub(crate) fn prune(&mut self, floor: CommitNumber) -> Pruned {
        let Chain::Many(versions) = self else { return Pruned::default() };
        versions.retain(|version| version.stamp.state() != StampState::Aborted);
        for version in versions.iter_mut() {
            if let StampState::Committed(number) = version.stamp.state() {
                version.stamp = VersionStamp::Known(number);
            }
        }
        let newest_needed = versions
            .iter()
            .rposition(|version| matches!(version.stamp.state(), StampState::Committed(number) if number <= floor));
        let Some(newest_needed) = newest_needed else { return Pruned::default() };
        let mut pruned = Pruned { versions: newest_needed, value_bytes: 0 };
        for version in versions.drain(..newest_needed) {
            pruned.value_bytes += version.value_bytes();
        }
        pruned
    }

    fn as_vec(&mut self) -> &mut Vec<Version> {
        if let Chain::One(version) = self {
            let only = Version { stamp: version.stamp.clone(), value: version.value.take() };
            let mut versions = Vec::with_capacity(2);
            versions.push(only);
            *self = Chain::Many(versions);
        }
        match self {
            Chain::Many(versions) => versions,
            Chain::One(_) => unreachable!("made a vector just now"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::memtable::stamp::Stamp;

    fn known(number: u64, value: &'static str) -> Version {
        Version { stamp: VersionStamp::Known(CommitNumber(number)), value: Some(Bytes::from_static(value.as_bytes())) }
    }

    fn pending(stamp: &Arc<Stamp>, value: &'static str) -> Version {
        Version { stamp: VersionStamp::Shared(stamp.clone()), value: Some(Bytes::from_static(value.as_bytes())) }
    }

    fn text(version: Option<&Version>) -> &str {
        version.map_or("-", |v| v.value.as_deref().map_or("gone", |v| std::str::from_utf8(v).unwrap()))
    }

    #[test]
    fn any_order_of_installs_gives_the_same_chain() {
        for order in [[3, 5, 9], [9, 5, 3], [5, 9, 3]] {
            let mut chain = Chain::One(known(order[0], "x"));
            chain.install(known(order[1], "x"));
            chain.install(known(order[2], "x"));
            let numbers: Vec<_> = chain.versions().iter().map(|v| v.stamp.state()).collect();
            assert_eq!(numbers, [3, 5, 9].map(|n| StampState::Committed(CommitNumber(n))));
        }
    }

    #[test]
    fn readers_see_their_number_and_the_lock_holder_the_newest() {
        let (first, second) = (Stamp::new(), Stamp::new());
        let mut chain = Chain::One(known(3, "a"));
        chain.install(pending(&first, "b"));
        chain.install(pending(&second, "c"));
        assert_eq!(text(chain.visible(CommitNumber(100))), "a");
        assert_eq!(text(chain.visible(CommitNumber(2))), "-");
        assert_eq!(text(chain.newest()), "c");
        first.commit(CommitNumber(8));
        assert_eq!(text(chain.visible(CommitNumber(100))), "b");
        assert_eq!(text(chain.between(CommitNumber(3), CommitNumber(8))), "b");
        assert_eq!(text(chain.between(CommitNumber(8), CommitNumber(9))), "-");
        second.abort();
        assert_eq!(text(chain.newest()), "b");
    }

    #[test]
    fn long_chains_give_the_same_as_short_ones() {
        let mut chain = Chain::One(known(2, "x"));
        for number in 2..200u64 {
            let stamp = Stamp::new();
            chain.install(pending(&stamp, "x"));
            match number % 5 {
                0 => stamp.abort(),
                _ => stamp.commit(CommitNumber(number * 2)),
            }
        }
        chain.install(pending(&Stamp::new(), "x"));
        let plain = |snapshot| {
            let numbers = chain.versions().iter().filter_map(|version| match version.stamp.state() {
                StampState::Committed(number) if number <= snapshot => Some(number),
                _ => None,
            });
            numbers.max()
        };
        for snapshot in (0..420).map(CommitNumber) {
            let found = chain.visible(snapshot).map(|version| match version.stamp.state() {
                StampState::Committed(number) => number,
                other => panic!("{other:?}"),
            });
            assert_eq!(found, plain(snapshot), "at {snapshot}");
        }
    }

    #[test]
    fn pruning_keeps_what_the_floor_sees() {
        let stamp = Stamp::new();
        let mut chain = Chain::One(known(1, "a"));
        for number in [4, 6, 9] {
            chain.install(known(number, "b"));
        }
        chain.install(pending(&stamp, "c"));
        assert_eq!(chain.prune(CommitNumber(7)), Pruned { versions: 2, value_bytes: 32 });
        let numbers: Vec<_> = chain.versions().iter().map(|v| v.stamp.state()).collect();
        assert_eq!(
            numbers,
            [StampState::Committed(CommitNumber(6)), StampState::Committed(CommitNumber(9)), StampState::Pending]
        );
    }
}
