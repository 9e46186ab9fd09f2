//! The data file.
mod cursor;
mod error;
mod merge;
mod roots;
mod store;

pub use cursor::{Cursor, Direction, Entry};
pub use error::{Result, StoreError};
pub use merge::{Change, Changes, Merge, MergeOptions, Pacer, SortedChanges};
pub use roots::Roots;
pub use store::{Checkpoint, Options, Statistics, Store, Verified};

/// The longest key, in bytes: three entries with such keys fit a page.
pub const MAX_KEY_SIZE: usize = 5120;
