//! A binlog server: keeps the log of a MySQL or MariaDB source byte for byte, and serves it to replicas of the source's kind.
//!
//! ```text
//!   source ──stream──► receive ──append, one sync per batch──► store ──whole transactions, synced──► serve ──► replicas
//!                                                              (files as the source has them)
//! ```
//! There is no engine: nothing is applied, and nothing is known of a table.
//!
//! | module | what it is |
//! |---|---|
//! | [`store`] | the files: written, cut back after a crash, read, purged |
//! | [`receive`] | the connection to the source: asks, compares, appends |
//! | `serve` | a replica's connection: login, what replicas ask before a dump, the dump |
//! | `acks` | semi-synchronous replication, to the source and by replicas |
//! | [`gtids`] | what a log holds, in either kind's GTIDs |
//! | [`kept`] | what is remembered beside the files: who the source was |
//! | [`relay`] | all of it together, without listeners |
//!
//! # Generations
//! Files have the source's names and positions. Another server of the same topology has others, so when `--source` leads to one,
//! its files become a new *generation*, in a folder of their own. The log is one sequence of files through all generations. A
//! replica that follows by GTIDs goes on in the next generation behind what the one before held; a replica that names a file means
//! the newest generation.
//!
//! # Invariants
//! - Only durable bytes are served, and of the file that is being written only whole transactions.
//! - Nothing is appended before the last transaction here was seen to be the source's too ([`receive`]).
//! - Memory does not grow with the log: a name and some numbers for each file, what was read or received last once for all replicas
//!   (64 MiB), one batch, and for each replica what it is just sent.
//! - Replicas that are near one another cost one read of the disk, those at the log's end none (`store::blocks`).
//! - After a failed sync nothing is received any more; what was durable before is still served.

mod acks;
pub mod gtids;
pub mod kept;
pub mod receive;
pub mod relay;
mod serve;
pub mod store;

#[cfg(test)]
mod tests;

pub use gtids::{Gtids, Kind};
pub use relay::{Relay, RelayOptions};
pub use store::{Limits, OpenError};
