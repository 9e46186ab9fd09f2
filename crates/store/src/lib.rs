//! The data file: copy-on-write B+trees over immutable pages, one per index, as of a checkpoint.
//!
//! Knows bytes, generations and a position; no SQL, no transactions, no versions.
//!
//! ```text
//! Store ──── newest Roots ──── Tree of each index ──── pages      (roots, manifest, page)
//!   │              │                                     │
//!   │              └ get, Cursor, estimate, sum ─── PageCache      (roots, cursor, sum, cache)
//!   ├ Merge: sorted changes in, new Roots out                      (merge)
//!   ├ find_damage, Merge::restore: what cannot be read is made anew  (damage)
//!   ├ commit_checkpoint: manifest, sync, superblock, sync          (store, superblock)
//!   └ Space: which blocks can be used when                         (space)
//! ```
//!
//! A page has 16 KiB in memory. In the file it has one to four blocks of 4 KiB, fewer than four if the index is compressed
//! ([`Compression`], [`page::form`]). Everybody above the file and the writer of merges works with pages as they are in memory.
//!
//! Pages are never changed in place. A merge writes new ones beside the old ones and shares what did not change;
//! readers keep the roots that they began with, and the pages of those stay until the last reader is gone.
//! The bytes are described above the code that writes them ([`page`], [`superblock`], [`manifest`], [`overflow`]) and
//! together in `docs/FORMAT.md`.
//!
//! # Invariants
//! - After a crash at any instant the file opens as one of the checkpoints that were committed, never older than
//!   the last one whose commit returned; and no page of it was lost or leaked.
//! - A page that is reachable from live roots or from a valid superblock is not overwritten.
//! - Every page read from disk is checked: checksum, page number, length, index, generation, kind. What does not hold is an error that names
//!   file, offset, page and index.
//! - After a failed sync nothing is written any more.

mod cache;
mod cursor;
mod damage;
mod error;
mod file;
mod manifest;
mod merge;
mod open;
mod overflow;
mod page;
mod roots;
mod sample;
mod shared;
mod space;
mod store;
mod sum;
mod superblock;
#[cfg(test)]
mod tests;
mod verify;

pub use cursor::{Cursor, Direction, Entry, LeafRows};
pub use damage::{Damage, KeySpan, Restored};
pub use error::{Result, StoreError};
pub use merge::{Change, Changes, Merge, MergeOptions, Pacer, SortedChanges};
pub use page::form::Compression;
pub use page::{BLOCK_SIZE, PAGE_SIZE};
pub use roots::Roots;
pub use sample::{Draw, Sampled, mix};
pub use store::{Checkpoint, Options, Statistics, Store};
pub use sum::RowSum;
pub use verify::Verified;

/// The longest key, in bytes: three entries with such keys fit a page.
pub const MAX_KEY_SIZE: usize = 5120;
