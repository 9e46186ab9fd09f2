//! Transactions of a binary log, version 4, in either dialect: made of its events ([`Collector`]), asked ([`LogTransaction`]), written
//! again ([`LogApply`]).
//!
//! ```text
//!   events of a file or a stream ──> Collector ──> LogTransaction: bytes, and accessors that take apart what is asked for
//! ```
//! What belongs to the log and not to a transaction (FORMAT_DESCRIPTION, PREVIOUS_GTIDS, ROTATE, checkpoints) is no event here.

mod apply;
mod collect;
mod rows;
mod statement;
mod table;
mod transaction;

pub use apply::LogApply;
pub use collect::{Collected, Collector};
pub(crate) use rows::bit;
pub use transaction::{DecodeCounts, LogTransaction};

/// The most that a compressed statement, the rows of a compressed event, a compressed value or an event in fragments may take: the largest
/// packet of a server.
const INFLATED_SIZE_MAX: usize = 1 << 30;
