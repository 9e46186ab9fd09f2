//! The binary log: its events, its files, GTID sets.
//!
//! The log is commuter's only write-ahead log, and it is a binary log, version 4, as MySQL 8.4 and later write it: their
//! tools read it, their replicas copy it. Three layers, each usable without those below it in this list:
//!
//! | layer | what it is |
//! |---|---|
//! | [`log`] | files: written in place into space that is filled ahead, recovered, read, purged |
//! | [`dump`] | events as text, as `mysqlbinlog -vv` prints them, and as JSON |
//! | [`encoder`] | the session's side: a transaction's events, complete but for their place |
//! | [`event`] | the bytes of each kind of event that a MySQL or MariaDB writes, to read and to write |
//! | [`SourcePosition`] | where a replica is in a source's log that has no GTIDs |
//! | [`gtid_set`], [`MariaGtidName`] | sets of GTIDs; MariaDB's GTIDs among them |
//! | [`Boundary`] | where transactions end in a log of any server |
//! | [`ModifiedIntervals`] | how parallel a log's source was |
//!
//! Knows no table's contents: rows are images that `types` or a TABLE_MAP can take apart.
//!
//! # Invariants
//! - Whatever bytes a decoder is given it answers with a value or an error: it does not panic, and it allocates no more
//!   than a small multiple of what it was given.
//! - Every event that is written has a right position and a right checksum.

mod boundary;
mod charset;
mod cursor;
pub mod dump;

pub mod encoder;
mod error;
pub mod event;
pub mod gtid_set;
mod intervals;
pub mod log;
mod maria_gtid;
mod source_position;
mod sql_mode;
mod stream_place;

pub use boundary::Boundary;
pub use charset::charset_of_collation;
pub use encoder::{EncodedTransaction, EncoderOptions, GtidChoice, Origin, RowImage, TableEncoder, TransactionEncoder};
pub use error::{BinlogError, DecodeError, Result};
pub use event::{EventHeader, EventIter, EventType, FormatDescription, GtidEvent, QueryContext, RawEvent};
pub use gtid_set::{GNO_MAX, GtidSet, OWN_GNO_MAX};
pub use intervals::{IntervalCounters, IntervalFigures, ModifiedIntervals};
pub use log::tracker::TransactionTracker;
pub use log::{
    BinaryLog, Group, IN_FLIGHT_MAX, LargeEvents, LargeHead, LargePlace, LogBatch, LogEvent, LogFile, LogOptions,
    LogReader, LogReceiver, LogSlice, LogTransaction, LogWriter, Next, OpenAs, Opened, Pin, PlaceStamp, Placed, Purged,
    RecoveryReport, Reservation, SyncMethod,
};
pub use maria_gtid::MariaGtidName;
pub use source_position::SourcePosition;
pub use sql_mode::{maria_sql_mode, mysql_sql_mode};
pub use stream_place::{StreamEvent, StreamPlace};

#[cfg(test)]
mod tests;
