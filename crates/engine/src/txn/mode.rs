//! How a transaction reads: which versions, with which locks, over which keys.

use std::ops::Bound;

use bytes::Bytes;
use types::key::successor;

use crate::memtable::Key;

pub use store::Direction;

/// What a locking read does when a row is locked by another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LockWait {
    /// Waits, for `lock_wait_timeout` at most.
    #[default]
    Wait,
    /// Fails (3572).
    NoWait,
    /// Leaves the row out.
    SkipLocked,
}

/// How strong the row locks of a locking read are.
pub use crate::lock::Strength as LockStrength;

/// Which version of a row a read sees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReadMode {
    /// The newest version of the read view, or one of this transaction's own; takes no lock.
    #[default]
    Consistent,
    /// The newest version there is; it stays so until the transaction ends.
    Locking {
        /// `FOR SHARE` or `FOR UPDATE`.
        strength: LockStrength,
        /// If the row is taken.
        wait: LockWait,
    },
}

impl ReadMode {
    /// What UPDATE and DELETE read with, and `FOR UPDATE`.
    pub const FOR_UPDATE: ReadMode = ReadMode::Locking { strength: LockStrength::Exclusive, wait: LockWait::Wait };
    /// `FOR SHARE`, and every plain read in a SERIALIZABLE transaction.
    pub const FOR_SHARE: ReadMode = ReadMode::Locking { strength: LockStrength::Shared, wait: LockWait::Wait };
}

/// A range of keys of one index, as the key codec makes them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRange {
    /// From here.
    pub lower: Bound<Bytes>,
    /// To here.
    pub upper: Bound<Bytes>,
}

impl KeyRange {
    /// Every key.
    pub fn all() -> Self {
        KeyRange { lower: Bound::Unbounded, upper: Bound::Unbounded }
    }

    /// Every key that begins with `prefix`.
    pub fn prefix(prefix: impl Into<Bytes>) -> Self {
        let prefix = prefix.into();
        let upper = successor(&prefix).map_or(Bound::Unbounded, Bound::Excluded);
        KeyRange { lower: Bound::Included(prefix), upper }
    }

    /// Both bounds as slices.
    pub(crate) fn as_slices(&self) -> (Bound<&[u8]>, Bound<&[u8]>) {
        (self.lower.as_ref().map(|bytes| &bytes[..]), self.upper.as_ref().map(|bytes| &bytes[..]))
    }

    /// Whether no key can be in it.
    pub fn is_empty(&self) -> bool {
        match self.as_slices() {
            (Bound::Unbounded, _) | (_, Bound::Unbounded) => false,
            (Bound::Included(low), Bound::Included(high)) => low > high,
            (Bound::Included(low) | Bound::Excluded(low), Bound::Included(high) | Bound::Excluded(high)) => low >= high,
        }
    }
}

/// A row, or an entry of a secondary index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its key in the index that was read.
    pub key: Key,
    /// The row image, or the covering image for a secondary index.
    pub value: Bytes,
}
