//! Words that every other crate uses: numbers as newtypes and in few bytes, MySQL's error codes, classes of errors.
//!
//! Knows nothing of files, time or tables. A number that means something has its own type here, so that a
//! commit number cannot be taken for an offset.

pub mod base64;
mod cancel;
mod error;
mod ids;
pub mod leb128;
pub mod memory;
mod stack;

pub use cancel::{Cancel, Cancelled, ShownWait, WaitsFor};
pub use error::{ErrorClass, SqlError, codes};
pub use ids::{
    CommitNumber, ConnectionId, Gtid, IndexId, LogPosition, PageNumber, ParseGtidError, ParseTagError, ServerId,
    TableId, Tag, Uuid,
};
pub use stack::{OnLargeStack, on_large_stack};

/// Milliseconds, microseconds and the like are always `std::time::Duration`; a point in time is microseconds
/// since 1970-01-01 UTC in this type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnixMicros(pub u64);
