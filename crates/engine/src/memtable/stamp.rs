//! [`Stamp`]: the one word by which all versions of a transaction come to have their commit number at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use base::CommitNumber;

const PENDING: u64 = 0;
const ABORTED: u64 = u64::MAX;

/// Shared by all versions of one transaction. Set once.
#[derive(Debug, Default)]
pub(crate) struct Stamp(AtomicU64);

/// What is known of a version's place in the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StampState {
    /// Its transaction has no commit number yet. Seen by nobody but those who hold its row's lock.
    Pending,
    /// Its transaction failed before it had a place; the version is about to be removed.
    Aborted,
    /// Visible to read views at this number or above.
    Committed(CommitNumber),
}

impl Stamp {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Stamp::default())
    }

    /// `prepare_ordered`: the transaction has its number.
    pub(crate) fn commit(&self, number: CommitNumber) {
        debug_assert!(number.0 != PENDING && number.0 != ABORTED);
        let before = self.0.swap(number.0, Ordering::Release);
        debug_assert_eq!(before, PENDING, "a stamp is set once");
    }

    /// The transaction will have no number.
    pub(crate) fn abort(&self) {
        self.0.store(ABORTED, Ordering::Release);
    }

    pub(crate) fn state(&self) -> StampState {
        match self.0.load(Ordering::Acquire) {
            PENDING => StampState::Pending,
            ABORTED => StampState::Aborted,
            number => StampState::Committed(CommitNumber(number)),
        }
    }
}

/// A version's number, or where it will be found.
#[derive(Clone, Debug)]
pub(crate) enum VersionStamp {
    /// Known: installed from the log, or looked up since.
    Known(CommitNumber),
    /// In the transaction's stamp.
    Shared(Arc<Stamp>),
}

impl VersionStamp {
    pub(crate) fn state(&self) -> StampState {
        match self {
            VersionStamp::Known(number) => StampState::Committed(*number),
            VersionStamp::Shared(stamp) => stamp.state(),
        }
    }
}
