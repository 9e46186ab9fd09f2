//! The engine: versioned rows over immutable trees, transactions, locks, the commit pipeline, checkpoints.
//!
//! `state = memtables over one immutable tree per index`, at every commit number for which somebody holds a read view.
//! Knows tables and rows (`types`), the log (`binlog`) and the data file (`store`); knows no SQL. `apply` brings an engine
//! to the end of a log, `sql` runs statements in its transactions.
//!
//! | module | what it is |
//! |---|---|
//! | `engine` | [`Engine`]: open, close, and the face to `apply` |
//! | `catalog` | what exists: [`Catalog`], [`Table`], [`CatalogChange`] |
//! | `memtable` | versions in memory, per index, by key |
//! | `large` | what a transaction has written beyond what it may hold in memory |
//! | `view` | who reads which state, and of what pieces it consists |
//! | `read` | one key, or a range, out of these pieces |
//! | `txn` | [`Transaction`]: reads, locks, private writes, commit |
//! | `core` | what all of it shares; what the pipeline does to it |
//! | `checkpoint` | from memory into the trees, as of one commit number |
//! | `ddl` | a new catalog, and the trees that it needs |
//! | `install` | rows of a log whose order is known: recovery, followers |
//! | `bulk` | the same for many transactions at once, where nobody reads yet |
//! | `source_position` | where the state is in the logs of sources without GTIDs |
//! | `role` | source or follower, and a log that begins anew |
//! | `statistics` | what planners know of tables: different values per index, samples |
//! | `state_at` | the state at a position of the log that is yet to come |
//! | `gtid_owners` | who is about to commit which GTID that was chosen |
//! | [`gate`] | what every commit passes, and what can be held shut |
//! | `storage_engine` | [`StorageEngine`]: what it takes to be a state along the log |
//! | [`lock`] | row, gap, table and name locks |
//! | [`commit`] | the pipeline that gives transactions their place in the log |

mod bulk;
pub mod catalog;
mod checkpoint;
pub mod commit;
mod core;
mod ddl;
mod engine;
mod error;
mod foreign_key;
pub mod gate;
mod gtid_owners;
mod install;
mod large;
pub mod lock;
mod memtable;
mod options;
mod prepared;
mod read;
mod rebuild;
mod repair;
mod role;
mod source_position;
mod state_at;
mod statistics;
mod storage_engine;
mod temporary;
#[cfg(test)]
mod tests;
mod tunables;
mod turn;
mod txn;
mod view;

pub use crate::core::{CommitHooks, CommitPipeline};
pub use crate::prepared::XaStep;
pub use bulk::{BulkPart, BulkWrites};
pub use catalog::{
    AccountsVersion, AlterTable, AutoIncrement, Catalog, CatalogChange, Database, DdlPlanner, DdlText, RowMap,
    RowMapper, Table, TableName,
};
pub use checkpoint::Restore;
pub use commit::{CommitSettings, Place};
pub use engine::{CHECKPOINT_PIN, Engine};
pub use error::{DuplicateKey, EngineError, Result};
pub use gtid_owners::{OwnedGtid, numbers_exhausted};
pub use install::{LargeInstall, PublishPoint, RowChange};
pub use lock::{LockOwner, LockWaits, TableMode, Turn, TurnWait};
pub use memtable::Key;
pub use options::{EngineOptions, FailureHook, Isolation, RowImage, SessionHandle, TxnOptions};
pub use repair::{Fetched, IndexRepair, RESTORED_BYTES_MAX, RestoredEntries, RowSource};
pub use state_at::StateAt;
pub use statistics::{IndexStatistics, PrefixStatistics, RowSample, SampledColumn, TableStatistics};
pub use storage_engine::StorageEngine;
pub use store::{Damage, KeySpan, RowSum};
pub use temporary::TemporaryMemory;
pub use tunables::Tunables;
pub use txn::{
    Commit, Direction, Entry, KeyRange, LockStrength, LockWait, Pending, ReadMode, ReaderPlace, Rows, Savepoint, Scan,
    ShownTransaction, Snapshot, SnapshotScan, Transaction, TransactionFigures,
};
