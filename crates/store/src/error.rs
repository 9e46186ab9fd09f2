//! What can go wrong in the data file, by class.

use std::io;
use std::sync::Arc;

use base::{ErrorClass, IndexId, PageNumber, SqlError, codes};

/// Result of the store.
pub type Result<T> = std::result::Result<T, StoreError>;

/// An error of the data file.
#[derive(Clone, Debug, thiserror::Error)]
pub enum StoreError {
    /// A page does not hold what its checksum, its own header or its parent say.
    #[error("{file}: page {page} at offset {offset} is corrupt ({index}): {what}", index = name_of(*index))]
    Corrupt {
        /// The data file.
        file: Arc<str>,
        /// Where the page begins, in bytes.
        offset: u64,
        /// The page.
        page: PageNumber,
        /// The index whose tree was read, if it was one.
        index: Option<IndexId>,
        /// What does not hold.
        what: String,
    },
    /// The file is no data file of this version: neither superblock can be used.
    #[error("{file}: {what}")]
    Unusable {
        /// The data file.
        file: Arc<str>,
        /// Why it cannot be used.
        what: String,
    },
    /// The operating system failed an operation.
    #[error("{file}: {operation} at offset {offset} failed: {source}")]
    Io {
        /// The data file.
        file: Arc<str>,
        /// What was tried.
        operation: &'static str,
        /// Where, in bytes.
        offset: u64,
        /// Why it failed.
        source: Arc<io::Error>,
    },
    /// A sync or a superblock failed earlier: nothing is written any more, because what is on disk is not known.
    #[error("{file}: not written any more since an earlier failure: {cause}")]
    Failed {
        /// The data file.
        file: Arc<str>,
        /// The failure.
        cause: Arc<str>,
    },
    /// A key is longer than [`crate::MAX_KEY_SIZE`].
    #[error("key of {size} bytes is too long for index {index}; the most is {max}", max = crate::MAX_KEY_SIZE)]
    KeyTooLong {
        /// The index.
        index: IndexId,
        /// Length of the key.
        size: usize,
    },
    /// Changes were not in strictly ascending order of their keys.
    #[error("changes of index {index} are not in ascending order")]
    Unsorted {
        /// The index.
        index: IndexId,
    },
    /// A merge or a checkpoint was asked of roots that are not the newest.
    #[error("generation {given} is not the newest, which is {newest}")]
    NotNewest {
        /// Generation of the roots that were given.
        given: u64,
        /// Generation of the newest.
        newest: u64,
    },
    /// An earlier step of this merge failed or was given up.
    #[error("the merge was broken off in an earlier step")]
    BrokenMerge,
    /// The source of the changes failed.
    #[error("the source of a merge failed: {0}")]
    Source(Arc<dyn std::error::Error + Send + Sync>),
}

impl StoreError {
    /// What a caller can do about it.
    pub fn class(&self) -> ErrorClass {
        match self {
            StoreError::Corrupt { .. } | StoreError::Unusable { .. } => ErrorClass::Corrupt,
            StoreError::Io { source, .. } if source.kind() == io::ErrorKind::StorageFull => ErrorClass::Full,
            StoreError::Io { .. } | StoreError::Failed { .. } | StoreError::Source(_) => ErrorClass::Io,
            StoreError::KeyTooLong { .. } => ErrorClass::User,
            StoreError::Unsorted { .. } | StoreError::NotNewest { .. } | StoreError::BrokenMerge => ErrorClass::Bug,
        }
    }
}

impl From<StoreError> for SqlError {
    fn from(error: StoreError) -> Self {
        let code = match (&error, error.class()) {
            (StoreError::KeyTooLong { .. }, _) => codes::TOO_LONG_KEY,
            (_, ErrorClass::Corrupt) => codes::CRASHED_ON_USAGE,
            (_, ErrorClass::Full) => codes::DISK_FULL,
            (StoreError::Io { operation: "read", .. }, _) => codes::ERROR_ON_READ,
            (_, ErrorClass::Io) => codes::ERROR_ON_WRITE,
            _ => codes::UNKNOWN_ERROR,
        };
        SqlError::new(code, error.to_string())
    }
}

fn name_of(index: Option<IndexId>) -> String {
    index.map_or_else(|| "no index".to_string(), |index| format!("index {index}"))
}
