//! What a log says, apart from how it is written: transactions, for programs.
//!
//! A transaction is what can be asked of it. [`Transaction`] and the traits of its parts are nothing but accessors, and each answers
//! with what there is, or with `None`. On the side where transactions are made a *generator* implements them, and its consumer asks
//! for just what it wants: of what nobody asks for nothing is decoded, inflated or copied. On the side where transactions are applied
//! the same methods are *providers*: a form of transactions hands over by them what it has, and whoever applies ([`Apply`]) says what
//! it cannot do without ([`EventError::Missing`]).
//!
//! | generator, provider | | applies |
//! |---|---|---|
//! | [`log::LogTransaction`]: events of a log of MySQL, MariaDB or commuter, as bytes | → | [`log::LogApply`]: writes such events |
//! | [`form::Transaction`]: the standard form, `proto/commuter.proto` | → | [`form::FormApply`]: fills that form |
//! | | | [`json::JsonApply`]: a line of JSON for each change |
//! | | | [`sql::SqlApply`]: statements that a client can run |
//!
//! Any on the left goes with any on the right. [`Selected`] leaves out what a filter does not want; [`log::Collector`] makes
//! transactions of a sequence of events.
//!
//! # Invariants
//! - A transaction that came from a log and went through the standard form is, written again, the same bytes, but for what was
//!   compressed: of that the contents are the same.
//! - Whatever bytes a generator is given, the answer is a value or an error.
//!
//! *Designs not taken.* Providers that are pushed (an object with a method per piece of information, and a last one that executes):
//! every form would have to hold what it was told until it is complete, and each pair of forms would need the code between the two.
//! One struct with everything optional: everything would be decoded.

mod charset;
mod columns;
mod error;
mod event;
pub mod form;
pub mod json;
mod json_text;
pub mod log;
mod select;
pub mod sql;
mod value;

pub use columns::{ColumnInfo, Described, Lookup, NoLookup, TableInfo};

pub use error::EventError;
pub use event::*;
pub use json_text::json_text;
pub use select::{Completed, Selected};

pub use value::Value;

#[cfg(test)]
mod tests;
