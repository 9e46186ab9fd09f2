//! Replication: serving the log to replicas, and following a source.
//!
//! | module | what it is |
//! |---|---|
//! | [`source`] | the dump thread: streams the log to replicas, ours and MySQL's and MariaDB's, and to their tools |
//! | [`follower`] | copies a source's log into ours, byte for byte, and lets `apply` install it |
//! | [`replica`] | executes the log of a MySQL or MariaDB in sessions of this server, into its own log |
//!
//! A follower's log *is* its source's log: same file names, same bytes. So it serves replicas of its own from it as the
//! source would, needs no relay log beside it, and a position means the same on all of them.
//!
//! # Invariants
//! - Only durable bytes are sent.
//! - A follower appends a source's events only behind bytes that it has seen to be the source's too ([`follower`]).
//! - What the receiver has announced as durable is synced, once per batch.

pub mod follower;
mod must_stop;
mod received;
pub mod replica;
pub mod source;

pub use follower::{CopyRows, Follower, KeptSource, SourceRows, SourceSettings};
pub use replica::{Channels, Replica, SourceKind};
pub use source::{DumpServer, MariaNames};

#[cfg(test)]
mod tests;
